#pragma once
// What is done in modes: the division by the operator's eigenvalues. For elimination see elimination.hpp.

#include "device/runs.hpp"
#include "direct/axis_modes.hpp"
#include "direct/lines.hpp"

namespace shellac {

// Along an axis, in one mode of the others: the operator is base + slope times the axis' one.
struct SymbolOfLine {
  PetscScalar base, slope;
};

// The operator's eigenvalues at the points of a part, where axes have modes; others add nothing.
struct Symbol {
  const PetscReal *values[3]; // of this part's modes
  PetscScalar      terms[8];  // of products of axes: see ProductsOfAxes. Of a sum over axes: the shift, and ones
  PetscReal        zero;      // an eigenvalue of this size is zero
  bool             is_sum;

  SHELLAC_HD SymbolOfLine along(int a, const PetscInt p[3]) const {
    const int       b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
    const PetscReal v = values[b][p[b]], w = values[c][p[c]];
    if (is_sum) return {v + w + terms[0], 1};
    const int x = 1 << a, y = 1 << b, z = 1 << c;
    return {terms[0] + terms[y] * v + (terms[z] + terms[y + z] * v) * w,
            terms[x] + terms[x + y] * v + (terms[x + z] + terms[7] * v) * w};
  }
};

// Values at modes of eigenvalue zero become zero: that is the projection along the null space onto the range.
template <class T> struct DivideBySymbol {
  Symbol    symbol;
  PetscReal scale;
  size_t    stride[2]; // of the axes y and z
  T        *values;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    T                 *at = values + (size_t)p[0] + (size_t)p[1] * stride[0] + (size_t)p[2] * stride[1];
    const SymbolOfLine line = symbol.along(0, p);
    for (int i = 0; i < n; i++) {
      const PetscScalar of = line.base + line.slope * symbol.values[0][p[0] + i];
      at[i] = (T)(PetscAbsScalar(of) <= symbol.zero ? (PetscScalar)0 : scale * (PetscScalar)at[i] / of);
    }
  }
};

// The modes of a grid that is periodic along all axes, which cuFFT has.
template <class R> struct DivideCoefficients {
  Symbol        symbol;
  PetscReal     scale;
  Box           box;
  ComplexOf<R> *z;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt    p[3] = {i, j, k};
    const SymbolOfLine line = symbol.along(0, p);
    const PetscScalar  of = line.base + line.slope * symbol.values[0][i];
    const PetscScalar by = PetscAbsScalar(of) <= symbol.zero ? (PetscScalar)0 : (PetscScalar)scale / of;
    ComplexOf<R>      &at = z[box.index(p)];
    at = at.times({(R)PetscRealPart(by), (R)PetscImaginaryPart(by)});
  }
};

} // namespace shellac
