#pragma once
// The constructors of the KSP types, for register.cpp.

#include <petscksp.h>

namespace shellac {

PetscErrorCode KSPCreate_FusedCG(KSP ksp);
PetscErrorCode KSPCreate_FusedBCGS(KSP ksp);
PetscErrorCode KSPCreate_Stencil(KSP ksp);

} // namespace shellac
