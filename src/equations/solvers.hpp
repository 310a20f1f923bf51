#pragma once
// What KSP, SNES and TS call on a DMDA with an equation.

#include "equations/equation.hpp"

namespace shellac {

// Gives a DMDA the functions of its equation. Of a rate: a TS that is set up before finds them no more. Collective.
PetscErrorCode SetSolverFunctions(DM da, bool rate);

} // namespace shellac
