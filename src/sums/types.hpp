#pragma once
// What register.cpp needs of this folder.

#include <petscpc.h>

#include "device/petsc.hpp"

namespace shellac {

PetscErrorCode MatCreate_KernelSum(Mat A);
PetscErrorCode PCCreate_KernelSum(PC pc);
PetscErrorCode MatKernelSumRegisterSolvers();
PetscErrorCode SumPairsFinalize(); // frees the work space of all sums

} // namespace shellac
