#pragma once
// What register.cpp needs of this folder.

#include "device/petsc.hpp"

namespace shellac {

PetscErrorCode MatCreate_KernelSum(Mat A);
PetscErrorCode SumPairsFinalize(); // frees the work space of all sums

} // namespace shellac
