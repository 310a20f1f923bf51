#pragma once
// The constructors of the Mat types, for register.cpp.

#include <petscmat.h>

namespace shellac {

PetscErrorCode MatCreate_Laplace(Mat A);
PetscErrorCode MatCreate_Helmholtz(Mat A);
PetscErrorCode MatCreate_Diffusion(Mat A);
PetscErrorCode MatCreate_AdvectionDiffusion(Mat A);
PetscErrorCode MatCreate_Stencil(Mat A);

} // namespace shellac
