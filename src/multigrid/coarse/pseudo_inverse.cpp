#include "device/petsc.hpp"
#include "multigrid/coarse/dense.hpp"

namespace shellac {

namespace {

constexpr PetscReal singular = 1e-12; // a singular value of less than this, relative to the largest, is zero

PetscReal largest_column_sum(int n, const std::vector<PetscScalar> &A) {
  PetscReal largest = 0;
  for (int j = 0; j < n; j++) {
    PetscReal sum = 0;
    for (int i = 0; i < n; i++) sum += PetscAbsScalar(A[i + (size_t)j * n]);
    if (!(sum <= largest)) largest = sum; // a sum that is no number, too
  }
  return largest;
}

PetscErrorCode invert_by_singular_values(PetscBLASInt n, std::vector<PetscScalar> *A, bool *failed) {
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
    if (values[m] <= singular * values[0]) break;
    for (PetscBLASInt j = 0; j < n; j++) {
      const PetscScalar u = PetscConj(U[j + (size_t)m * n]) / values[m];
      for (PetscBLASInt i = 0; i < n; i++) (*A)[i + (size_t)j * n] += PetscConj(V[m + (size_t)i * n]) * u;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode pseudo_inverse(int size, std::vector<PetscScalar> *A, bool *failed) {
  PetscBLASInt              n = size, work_size = 64 * n, info;
  std::vector<PetscScalar>  work(work_size);
  std::vector<PetscReal>    scale(n, 0);
  std::vector<PetscBLASInt> pivots(n);

  PetscFunctionBegin;
  // rows of a length of one: units of equations say nothing of singularity
  for (PetscBLASInt j = 0; j < n; j++)
    for (PetscBLASInt i = 0; i < n; i++) scale[i] = PetscMax(scale[i], PetscAbsScalar((*A)[i + (size_t)j * n]));
  for (PetscReal &of_row : scale) of_row = of_row > 0 ? 1 / of_row : 1;
  for (PetscBLASInt j = 0; j < n; j++)
    for (PetscBLASInt i = 0; i < n; i++) (*A)[i + (size_t)j * n] *= scale[i];
  std::vector<PetscScalar> rows = *A;
  const PetscReal          norm = largest_column_sum(n, rows);
  *failed = !std::isfinite(norm);
  info = 1;
  if (!*failed) PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&n, &n, A->data(), &n, pivots.data(), &info));
  if (!info)
    PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&n, A->data(), &n, pivots.data(), work.data(), &work_size, &info));
  if (!*failed && (info || !(norm * largest_column_sum(n, *A) < 1 / singular))) {
    *A = rows;
    PetscCall(invert_by_singular_values(n, A, failed));
  }
  if (*failed) A->assign(A->size(), 0); // whoever applies it all the same gets no correction
  for (PetscBLASInt j = 0; j < n; j++)
    for (PetscBLASInt i = 0; i < n; i++) (*A)[i + (size_t)j * n] *= scale[j];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
