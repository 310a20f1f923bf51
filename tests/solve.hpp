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

// options: beside those that are there, while it is made
inline Solver make_solver(Mat A, const std::string &options = "") {
  Options set(options);
  Solver  ksp;
  OK(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  OK(KSPSetOptionsPrefix(ksp, "test_"));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetFromOptions(ksp));
  return ksp;
}

// |b - A x| / |b|
inline PetscReal relative_residual(Mat A, Vec b, Vec x) {
  Vector    r;
  PetscReal size_b, size_r;
  OK(VecDuplicate(b, &r));
  OK(MatResidual(A, b, x, r));
  OK(VecNorm(b, NORM_2, &size_b));
  OK(VecNorm(r, NORM_2, &size_r));
  return size_r / size_b;
}

// |b - A x| relative to what rounding of A, x and b makes.
inline PetscReal backward_error(Mat A, Vec b, Vec x) {
  Vector    r = copy_of(b);
  PetscReal of_A, of_x, of_b, of_r;
  OK(MatMult(A, x, r));
  OK(VecAXPY(r, -1, b));
  OK(MatNorm(A, NORM_INFINITY, &of_A));
  OK(VecNorm(x, NORM_INFINITY, &of_x));
  OK(VecNorm(b, NORM_INFINITY, &of_b));
  OK(VecNorm(r, NORM_INFINITY, &of_r));
  return of_r == 0 ? 0 : of_r / (of_A * of_x + of_b);
}

} // namespace tests
