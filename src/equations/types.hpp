#pragma once
// What register.cpp needs of this folder.

#include <petscmat.h>

namespace shellac {

PetscErrorCode MatCreate_Equation(Mat A);
PetscErrorCode MatEquationRegisterSolvers();

} // namespace shellac
