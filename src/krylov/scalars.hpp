#pragma once
// The scalars of conjugate gradients, and what follows from the sums of its passes: on the host or, for the vectors of one
// rank, on the GPU, where no pass waits for the host.

#include "device/launch.hpp"

namespace shellac {
namespace cg {

// Of products of vectors (real and imaginary part) and of a norm's squares.
struct Sums {
  static constexpr int count = 3;
  double               of[count] = {0, 0, 0};

  SHELLAC_HD void add_product(PetscScalar a, PetscScalar b, bool hermitian) { // a b, or a times b's conjugate
    const PetscScalar product = a * (hermitian ? PetscConj(b) : b);
    of[0] += (double)PetscRealPart(product);
#if defined(PETSC_USE_COMPLEX)
    of[1] += (double)PetscImaginaryPart(product);
#endif
  }
  SHELLAC_HD void add_square(PetscScalar a) {
    of[2] += (double)PetscRealPart(a * PetscConj(a));
  }
  SHELLAC_HD PetscScalar product() const {
#if defined(PETSC_USE_COMPLEX)
    return PetscScalar((PetscReal)of[0], (PetscReal)of[1]);
#else
    return (PetscScalar)of[0];
#endif
  }
};

// After M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, 1952. With the names of
// PETSc's KSPCG: r = b - A x, z = B r for the preconditioner B.
struct Scalars {
  enum Stop { none, reached, limit, no_residual, indefinite_pc, indefinite_matrix, not_finite, breakdown, no_product };

  PetscScalar beta = 0;        // z·r
  PetscScalar beta_before = 0; // of the iteration before
  PetscScalar curvature = 0;   // p·Ap
  PetscScalar alpha = 0, ratio = 0, omega = 0;
  PetscReal   norm = 0;
  PetscInt    its = 0;
  Stop        stop = none; // passes do nothing then

  // given: by the host
  KSPNormType type = KSP_NORM_NONE;
  PetscInt    most = 0;
  PetscReal   reached_at = -1, diverged_at = PETSC_INFINITY; // norms at which the host is to decide; by the device

  SHELLAC_HD void take_curvature(const Sums &of_pass) {
    const PetscScalar before = curvature;
    curvature = of_pass.product();
    if (beta == PetscScalar(0))
      stop = no_residual;
    else if (its > 0 && !PetscDefined(USE_COMPLEX) && PetscRealPart(beta * beta_before) < 0)
      stop = indefinite_pc;
    else if (!is_finite(PetscAbsScalar(curvature)))
      stop = not_finite;
    else if (curvature == PetscScalar(0) || (its > 0 && PetscRealPart(curvature) * PetscRealPart(before) < 0))
      stop = indefinite_matrix;
    if (stop != none) return;
    alpha = beta / curvature;
    its++;
  }
  SHELLAC_HD void take_beta(const Sums &of_pass) {
    beta_before = beta;
    beta = of_pass.product();
    ratio = its > 0 ? beta / beta_before : PetscScalar(0);
  }
  SHELLAC_HD void take_norm(const Sums &of_pass) {
    norm = type == KSP_NORM_NONE      ? PetscReal(0)
           : type == KSP_NORM_NATURAL ? PetscSqrtReal(PetscAbsScalar(of_pass.product()))
                                      : (PetscReal)sqrt(of_pass.of[2]);
    if (!is_finite(norm))
      stop = not_finite;
    else if (norm <= reached_at || norm >= diverged_at)
      stop = reached;
    else if (its >= most)
      stop = limit;
  }
  SHELLAC_HD static bool is_finite(PetscReal value) { return value - value == 0; }
};

// With the norms of the last iterations.
struct Record {
  static constexpr int size = 64;

  Scalars   scalars;
  Sums      sums;               // of the last pass, where the host completes the scalars
  PetscReal norm_of[size] = {}; // of the iteration n: norm_of[n % size]
};

} // namespace cg
} // namespace shellac
