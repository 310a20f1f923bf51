#pragma once
// The inverses of the diagonal blocks of captured rows.

#include <cmath>

#include "capture/coefficients.hpp"

namespace shellac {

// By Gauss and Jordan with row pivots, in place; column by column within a block, as PCPBJACOBI wants them. Singular blocks
// become infinite: the solver diverges, on all ranks.
template <class T> struct InvertBlocks {
  Patch                   patch;
  CapturedCoefficients<T> a;
  T                      *inverse; // [points][dof][dof]
  PetscInt               *pivots;  // [points][dof]

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k}, n = patch.dof;
    const size_t   at = patch.index(i, j, k);
    const T       *rows = a.rows(patch, p, at);
    T             *block = inverse + at * n * n;
    for (PetscInt c = 0; c < n; c++)
      for (PetscInt r = 0; r < n; r++) {
        const int s = a.diagonal[r * n + c];
        block[c * n + r] = s < 0 ? T(0) : a.value(rows, s, at);
      }
    if (!invert(block, pivots + at * n, n))
      for (PetscInt e = 0; e < n * n; e++) block[e] = (PetscReal)INFINITY; // PETSC_INFINITY is a finite number
  }
  SHELLAC_HD static bool invert(T *block, PetscInt *pivot, PetscInt n) {
    for (PetscInt s = 0; s < n; s++) {
      pivot[s] = s;
      for (PetscInt r = s + 1; r < n; r++)
        if (PetscAbsScalar(block[s * n + r]) > PetscAbsScalar(block[s * n + pivot[s]])) pivot[s] = r;
      const T divisor = block[s * n + pivot[s]];
      if (divisor == T(0)) return false;
      for (PetscInt c = 0; c < n; c++) {
        const T value = block[c * n + pivot[s]];
        block[c * n + pivot[s]] = block[c * n + s];
        block[c * n + s] = (c == s ? T(1) : value) / divisor;
      }
      for (PetscInt r = 0; r < n; r++) {
        if (r == s) continue;
        const T factor = block[s * n + r];
        block[s * n + r] = 0;
        for (PetscInt c = 0; c < n; c++) block[c * n + r] -= factor * block[c * n + s];
      }
    }
    for (PetscInt s = n; s-- > 0;) // the columns of the inverse have moved as the rows have
      for (PetscInt r = 0; r < n && pivot[s] != s; r++) {
        const T value = block[s * n + r];
        block[s * n + r] = block[pivot[s] * n + r];
        block[pivot[s] * n + r] = value;
      }
    return true;
  }
};

class CapturedStencil;
// Of a closed operator's rows, into an array in that memory.
PetscErrorCode invert_diagonal_blocks(CapturedStencil &op, PetscMemType memory, PetscScalar *inverse);

} // namespace shellac
