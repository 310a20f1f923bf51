#pragma once
// A KSP with the options that begin with -test_.

#include "support.hpp"

namespace tests {

// From x, where the options say so, and from zero otherwise.
inline PetscErrorCode solve(Mat A, Vec b, Vec x, PetscInt *iterations, KSPConvergedReason *reason) {
  Solver ksp;
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "test_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace tests
