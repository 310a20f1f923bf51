#pragma once
// The exact solution of a small level by the inverse of its matrix.

#include <cmath>

#include <petscblaslapack.h>

#include "device/scratch.hpp"
#include "multigrid/couplings.hpp"
#include "multigrid/scalars.hpp"

namespace shellac {

constexpr int most_dense = 1024; // points of a level that this can solve

// A, by columns, becomes its inverse or, where it is singular to rounding, its pseudo-inverse. *failed: there is none, and A is zero.
PetscErrorCode pseudo_inverse(int n, std::vector<PetscScalar> *A, bool *failed);

template <class T> struct DenseProduct {
  const T        *inverse; // [n][n], its columns one after the other
  const T        *b;
  T              *x;
  int             n;
  size_t          row, column; // steps from one to the next
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    T sum = 0;
    SHELLAC_UNROLL
    for (int j = 0; j < n; j++) sum += inverse[j * column + i * row] * b[j];
    x[i] = sum;
  }
};

template <class T> class DenseSolve {
public:
  // The rows of all points of the level, on the host. singular, of symmetric ones: constants are the null space; the solution is the
  // one without them. Others may have any null space. *failed: there is another zero eigenvalue.
  PetscErrorCode Create(const CouplingArrays &rows, const Patch &patch, bool symmetric, bool singular, bool *failed);
  // Of any matrix [n][n], by columns, that may have a null space.
  PetscErrorCode Create(int n, std::vector<PetscScalar> A, bool *failed) {
    PetscFunctionBegin;
    n_ = n;
    PetscCall(pseudo_inverse(n, &A, failed));
    inverse_.change().assign(A.begin(), A.end());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Prepare(PetscMemType memory) {
    const T *inverse;
    PetscFunctionBegin;
    PetscCall(inverse_.Get(memory, &inverse));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Apply(PetscMemType memory, const T *b, T *x, bool transposed) {
    const size_t    n = (size_t)n_;
    DenseProduct<T> product = {nullptr, b, x, n_, transposed ? n : 1, transposed ? 1 : n};
    PetscFunctionBegin;
    PetscCall(inverse_.Get(memory, &product.inverse));
    PetscCall(for_each(memory, line_of((size_t)n_), product));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void   TakeMemory(DenseSolve *from) { inverse_.take_memory(&from->inverse_); }
  size_t bytes() const { return inverse_.bytes(); }

private:
  int       n_ = 0;
  Mirror<T> inverse_;
};

template <class T>
PetscErrorCode DenseSolve<T>::Create(const CouplingArrays &rows, const Patch &patch, bool symmetric, bool singular,
                                     bool *failed) {
  PetscBLASInt             n, info, size;
  std::vector<PetscScalar> A;
  PetscReal                mean = 0, least = PETSC_MAX_REAL, largest = 0;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast((PetscInt)patch.all().points(), &n));
  n_ = (int)n;
  A.assign((size_t)n * n, 0);
  std::vector<bool> in(n);
  singular = singular && symmetric; // other null spaces than the constants are found by the pseudo-inverse
  for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   row = patch.index(i, j, k), at = rows.grown.index(p);
    PetscScalar   &diagonal = A[row + row * n];
    int            slot = FIRST_COUPLING;
    in[row] = rows.slot(INVERSE_DIAGONAL)[at] != (PetscScalar)0;
    if (!singular) diagonal += rows.slot(SHIFT)[at];
    rows.neighbours.each([&](const PetscInt *d) {
      const PetscScalar coupling = rows.slot(slot++)[at];
      PetscInt          q[3];
      bool              inside = true;
      for (int a = 0; a < 3; a++) {
        q[a] = p[a] + d[a];
        if (patch.periodic[a]) q[a] = (q[a] + patch.N[a]) % patch.N[a];
        inside = inside && q[a] >= 0 && q[a] < patch.N[a];
      }
      diagonal += coupling;
      if (inside) A[row + patch.index(q[0], q[1], q[2]) * n] -= coupling;
    });
    if (!in[row]) diagonal = 1;
    mean += PetscAbsScalar(diagonal) / n;
  });
  if (!symmetric) {
    PetscCall(pseudo_inverse(n_, &A, failed));
    inverse_.change().assign(A.begin(), A.end());
    for (PetscBLASInt j = 0; j < n; j++)
      for (PetscBLASInt i = 0; i < n; i++)
        if (!in[i] || !in[j]) inverse_.change()[i + (size_t)j * n] = T(0);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // with all constants lifted, and taken out of the inverse again
  if (singular)
    for (PetscScalar &entry : A) entry += mean / n;
  // rows and columns scaled to a diagonal of ones, so that pivots tell of singularity and not of weights
  std::vector<PetscReal> scale(n);
  for (PetscBLASInt i = 0; i < n; i++) {
    const PetscReal diagonal = PetscAbsScalar(A[i + (size_t)i * n]);
    scale[i] = diagonal > 0 && std::isfinite(diagonal) ? 1 / PetscSqrtReal(diagonal) : 1;
  }
  const auto scale_both = [&]() {
    for (PetscBLASInt j = 0; j < n; j++)
      for (PetscBLASInt i = 0; i < n; i++) A[i + (size_t)j * n] *= scale[i] * scale[j];
  };
  scale_both();
  std::vector<PetscBLASInt> pivots(n);
  size = 64 * n;
  std::vector<PetscScalar> work(size);
  PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&n, &n, A.data(), &n, pivots.data(), &info));
  for (PetscBLASInt i = 0; i < n; i++) {
    const PetscReal pivot = PetscAbsScalar(A[i + (size_t)i * n]);
    least = PetscMin(least, pivot);
    largest = PetscMax(largest, pivot);
  }
  *failed = info != 0 || !(least > 8 * PETSC_MACHINE_EPSILON * largest);
  if (!*failed) PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&n, A.data(), &n, pivots.data(), work.data(), &size, &info));
  scale_both();
  if (*failed) A.assign(A.size(), 0); // whoever applies it all the same gets no correction
  std::vector<T> &inverse = inverse_.change();
  inverse.resize(A.size());
  for (PetscBLASInt j = 0; j < n; j++)
    for (PetscBLASInt i = 0; i < n; i++) {
      const PetscScalar lifted = singular && !*failed ? 1 / (mean * n) : 0;
      inverse[i + (size_t)j * n] = in[i] && in[j] ? T(A[i + (size_t)j * n] - lifted) : T(0);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
