#pragma once
// What a TS does around its steps for a rate: data of identity ends are imposed, states and rates are checked.

#include "equations/equation.hpp"

namespace shellac {

// From now on; once for each TS.
PetscErrorCode FollowSteps(TS ts, EquationOnGrid &equation);

// The rate f at a stage of an explicit step may not be finite: then an adaptive TS tries a smaller step. It is an error
// if very small steps do not help, or if the TS takes the step as it is. Collective.
PetscErrorCode RejectOrAccept(TS ts, EquationOnGrid &equation, PetscReal time, Vec u, Vec f);

// Of types of TS that cannot step a rate, and some of which then read a null pointer: an error at the first step with an
// equation. For each type that is chosen from now on.
PetscErrorCode TSRefuseUnfitTypes();

// Whether a SNES of a TS will ask for coarser grids, and an error for types of TS that have no steps there.
PetscErrorCode SNESCoarsens(SNES snes, bool *does);
PetscErrorCode TSCheckCoarseSteps(TS ts);

} // namespace shellac
