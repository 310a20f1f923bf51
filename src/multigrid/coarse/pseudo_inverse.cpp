#include <cmath>

#include "device/petsc.hpp"
#include "multigrid/coarse/dense.hpp"

namespace shellac {

namespace {

PetscReal largest_column_sum(int n, const std::vector<PetscScalar> &A) {
  PetscReal largest = 0;
  for (int j = 0; j < n; j++) {
    PetscReal sum = 0;
    for (int i = 0; i < n; i++) sum += PetscAbsScalar(A[i + (size_t)j * n]);
    if (!(sum <= largest)) largest = sum; // a sum that is no number, too
  }
  return largest;
}

PetscErrorCode invert_by_singular_values(PetscBLASInt n, PetscReal zero, std::vector<PetscScalar> *A, bool *failed) {
  PetscBLASInt             size = 8 * n + 8, info;
  std::vector<PetscScalar> U((size_t)n * n), V((size_t)n * n), work(size);
  std::vector<PetscReal>   values(n);

  PetscFunctionBegin;
#if defined(PETSC_USE_COMPLEX)
  std::vector<PetscReal> rwork(5 * n);
  PetscCallBLAS("LAPACKgesvd", LAPACKgesvd_("A", "A", &n, &n, A->data(), &n, values.data(), U.data(), &n, V.data(), &n,
                                            work.data(), &size, rwork.data(), &info));
#else
  PetscCallBLAS("LAPACKgesvd", LAPACKgesvd_("A", "A", &n, &n, A->data(), &n, values.data(), U.data(), &n, V.data(), &n,
                                            work.data(), &size, &info));
#endif
  *failed = info != 0 || !(values[0] > 0);
  A->assign(A->size(), 0);
  for (PetscBLASInt m = 0; m < n && !*failed; m++) {
    const PetscReal value = values[m] <= zero * values[0] ? values[0] : values[m];
    for (PetscBLASInt j = 0; j < n; j++) {
      const PetscScalar u = PetscConj(U[j + (size_t)m * n]) / value;
      for (PetscBLASInt i = 0; i < n; i++) (*A)[i + (size_t)j * n] += PetscConj(V[m + (size_t)i * n]) * u;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Rows and columns scaled until each has a largest entry of about one: units of equations and unknowns say nothing of
// singularity (D. Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, 2001).
void equilibrate(size_t n, std::vector<PetscScalar> *A, std::vector<PetscReal> scale[2]) {
  for (int side = 0; side < 2; side++) scale[side].assign(n, 1);
  for (int pass = 0; pass < 8; pass++) {
    std::vector<PetscReal> by[2] = {std::vector<PetscReal>(n, 0), std::vector<PetscReal>(n, 0)};
    for (size_t j = 0; j < n; j++)
      for (size_t i = 0; i < n; i++) {
        const PetscReal size = PetscAbsScalar((*A)[i + j * n]);
        by[0][i] = PetscMax(by[0][i], size), by[1][j] = PetscMax(by[1][j], size);
      }
    bool done = true;
    for (int side = 0; side < 2; side++)
      for (size_t i = 0; i < n; i++) {
        PetscReal &of = by[side][i];
        done = done && (of == 0 || (of >= PetscReal(0.5) && of <= 2));
        of = of > 0 ? 1 / PetscSqrtReal(of) : 1;
        scale[side][i] *= of;
      }
    for (size_t j = 0; j < n; j++)
      for (size_t i = 0; i < n; i++) (*A)[i + j * n] *= by[0][i] * by[1][j];
    if (done) break;
  }
}

bool is_symmetric(size_t n, const std::vector<PetscScalar> &A) {
  bool is = true;
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < j; i++) is = is && PetscAbsScalar(A[i + j * n] - A[j + i * n]) <= rounding;
  return is;
}

} // namespace

PetscErrorCode pseudo_inverse(int size, PetscReal zero, std::vector<PetscScalar> *A, bool *failed) {
  PetscBLASInt              n = size, work_size = 64 * n, info = 1;
  std::vector<PetscScalar>  work(work_size);
  std::vector<PetscReal>    scale[2];
  std::vector<PetscBLASInt> pivots(n);

  PetscFunctionBegin;
  equilibrate((size_t)n, A, scale);
  const std::vector<PetscScalar> scaled = *A;
  const PetscReal                norm = largest_column_sum(n, scaled);
  if (!is_symmetric((size_t)n, scaled)) zero = PetscMax(zero, PetscReal(1e-12));
  *failed = !std::isfinite(norm);
  if (!*failed) PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&n, &n, A->data(), &n, pivots.data(), &info));
  if (!info)
    PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&n, A->data(), &n, pivots.data(), work.data(), &work_size, &info));
  if (!*failed && (info || !(norm * largest_column_sum(n, *A) < 1 / zero))) {
    *A = scaled;
    PetscCall(invert_by_singular_values(n, zero, A, failed));
  }
  if (*failed) A->assign(A->size(), 0); // whoever applies it all the same gets no correction
  for (PetscBLASInt j = 0; j < n; j++)
    for (PetscBLASInt i = 0; i < n; i++) (*A)[i + (size_t)j * n] *= scale[1][i] * scale[0][j];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
