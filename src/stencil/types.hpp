#pragma once
// The constructors of the types, for register.cpp.

#include <petscpc.h>

namespace shellac {

PetscErrorCode MatCreate_Laplace(Mat A);
PetscErrorCode MatCreate_Helmholtz(Mat A);
PetscErrorCode MatCreate_Diffusion(Mat A);
PetscErrorCode MatCreate_AdvectionDiffusion(Mat A);
PetscErrorCode MatCreate_Stencil(Mat A);
PetscErrorCode PCCreate_Assembled(PC pc);

} // namespace shellac
