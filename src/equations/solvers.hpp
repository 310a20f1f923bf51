#pragma once
// The callbacks of KSP, SNES and TS on a DMDA with an equation.

#include "equations/equation.hpp"

namespace shellac {

// Sets the functions of its equation on a DMDA. For a rate: a TS that was set up before no longer finds its own. Collective.
PetscErrorCode SetSolverFunctions(DM da, const EquationText &text);

} // namespace shellac
