#pragma once
// The constructor of the KSP type, for register.cpp.

#include <petscksp.h>

namespace shellac {

PetscErrorCode KSPCreate_FusedCG(KSP ksp);

} // namespace shellac
