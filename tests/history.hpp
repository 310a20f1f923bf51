#pragma once
// What a solve of a KSP type does from iteration to iteration, beside PETSc's method.

#include "catch.hpp"

#include "solve.hpp"

namespace tests {

struct History {
  std::vector<PetscReal> norms;
  PetscInt               iterations = 0;
  KSPConvergedReason     reason = KSP_CONVERGED_ITERATING;
  PetscReal              last = 0; // norm, as the KSP tells it
  Vector                 x;
};

// From a vector that is not zero, where asked for.
inline History run(Mat A, Vec b, const std::string &options, bool from_x = false, bool transposed = false) {
  History          h;
  Solver           ksp = make_solver(A, options);
  const PetscReal *norms;
  PetscInt         n;
  OK(VecDuplicate(b, &h.x));
  OK(VecSet(h.x, 0.25));
  OK(KSPSetInitialGuessNonzero(ksp, from_x ? PETSC_TRUE : PETSC_FALSE));
  OK(KSPSetResidualHistory(ksp, NULL, 2000, PETSC_TRUE));
  OK(transposed ? KSPSolveTranspose(ksp, b, h.x) : KSPSolve(ksp, b, h.x));
  OK(KSPGetResidualNorm(ksp, &h.last));
  OK(KSPGetResidualHistory(ksp, &norms, &n));
  h.norms.assign(norms, norms + n);
  OK(KSPGetIterationNumber(ksp, &h.iterations));
  OK(KSPGetConvergedReason(ksp, &h.reason));
  return h;
}

// Rounding grows from one iteration to the next: so many of them are compared closely, and where it grows to what
// residuals are, not their number.
inline void check_alike(const History &ours, const History &theirs, PetscReal scale, PetscReal rounding = 1e-9) {
  REQUIRE(!theirs.norms.empty());
  CHECK((ours.reason > 0) == (theirs.reason > 0));
  CHECK(ours.norms.size() == (size_t)ours.iterations + 1);
  PetscReal excess = 0;
  for (size_t n = 0; n < std::min({ours.norms.size(), theirs.norms.size(), (size_t)7}); n++)
    excess =
        std::max(excess, PetscAbsReal(ours.norms[n] - theirs.norms[n]) -
                             (rounding * theirs.norms[n] + 1e-3 * rounding * theirs.norms[0])); // what rounding may do
  CHECK(excess <= 0);
  if (theirs.reason > 0) CHECK(difference(ours.x, theirs.x) <= scale);
}
inline void check_same(const History &ours, const History &theirs, PetscReal scale, PetscReal rounding = 1e-9) {
  check_alike(ours, theirs, scale, rounding);
  CHECK(std::abs((double)(ours.iterations - theirs.iterations)) <= 1 + 0.02 * (double)theirs.iterations);
}

} // namespace tests
