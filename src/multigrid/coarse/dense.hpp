#pragma once
// The exact solution of a small level by the inverse of its matrix.

#include <numeric>

#include <petscblaslapack.h>

#include "device/scalars.hpp"
#include "device/scratch.hpp"
#include "multigrid/couplings.hpp"

namespace shellac {

constexpr int most_dense = 1024; // points of a level that this can solve

// A, by columns, becomes its inverse or, where it is singular, its pseudo-inverse. Singular values of less than `zero` times
// the largest (1e-12 at least where A is not symmetric, for left null vectors are sums in rounding only) count as zero, and
// get the inverse of that one: a singular preconditioner would not show what a right-hand side has beyond the range of A.
// Symmetric matrices stay symmetric. *failed: there is no inverse, and A is zero.
PetscErrorCode pseudo_inverse(int n, PetscReal zero, std::vector<PetscScalar> *A, bool *failed);

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
  // The rows of all points of the level, on the host; they may have any null space.
  PetscErrorCode Create(const CouplingArrays &rows, const Patch &patch, bool *failed);
  // Of any matrix [n][n], by columns, likewise.
  PetscErrorCode Create(int n, std::vector<PetscScalar> A, bool *failed) {
    PetscFunctionBegin;
    n_ = n;
    PetscCall(pseudo_inverse(n, PetscReal(1e-12), &A, failed)); // coarse entries add up to zero in rounding only
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

template <class T> PetscErrorCode DenseSolve<T>::Create(const CouplingArrays &rows, const Patch &patch, bool *failed) {
  const size_t             n = (size_t)patch.all().points();
  std::vector<PetscScalar> A(n * n, 0);
  std::vector<bool>        in(n), held(n, false); // held: the row is more than differences
  std::vector<size_t>      group(n);              // of points that couplings join: towards one of them

  PetscFunctionBegin;
  n_ = (int)n;
  std::iota(group.begin(), group.end(), (size_t)0);
  const auto first = [&](size_t point) {
    while (group[point] != point) point = group[point] = group[group[point]];
    return point;
  };
  for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt    p[3] = {i, j, k};
    const size_t      row = patch.index(i, j, k), at = rows.grown.index(p);
    const PetscScalar shift = rows.slot(SHIFT)[at];
    PetscScalar      &diagonal = A[row + row * n];
    int               slot = FIRST_COUPLING;
    in[row] = rows.slot(INVERSE_DIAGONAL)[at] != (PetscScalar)0;
    held[row] = !in[row] || shift != (PetscScalar)0;
    diagonal += shift;
    rows.neighbours.each([&](const PetscInt *d) {
      const PetscScalar coupling = rows.slot(slot++)[at];
      PetscInt          q[3];
      bool              inside = true;
      if (coupling == (PetscScalar)0) return;
      for (int a = 0; a < 3; a++) {
        q[a] = p[a] + d[a];
        if (patch.periodic[a]) q[a] = (q[a] + patch.N[a]) % patch.N[a];
        inside = inside && q[a] >= 0 && q[a] < patch.N[a];
      }
      diagonal += coupling;
      held[row] = held[row] || !inside;
      if (!inside) return;
      const size_t there = patch.index(q[0], q[1], q[2]);
      A[row + there * n] -= coupling;
      group[first(PetscMax(row, there))] = first(PetscMin(row, there));
    });
    if (!in[row]) diagonal = 1;
  });
  // A group of differences alone has the constants as its null space. They are lifted, to eigenvalues of the others' size.
  std::vector<PetscReal> mean(n, 0), points(n, 0); // of groups
  for (size_t i = 0; i < n; i++) {
    const size_t g = group[i] = first(i);
    if (held[i]) held[g] = true;
    mean[g] += PetscAbsScalar(A[i + i * n]);
    points[g] += 1;
  }
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) {
      const size_t g = group[i];
      if (g == group[j] && !held[g]) A[i + j * n] += mean[g] / (points[g] * points[g]);
    }
  PetscCall(pseudo_inverse(n_, cancellation, &A, failed));
  std::vector<T> &inverse = inverse_.change();
  inverse.resize(A.size());
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) inverse[i + j * n] = in[i] && in[j] ? T(A[i + j * n]) : T(0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
