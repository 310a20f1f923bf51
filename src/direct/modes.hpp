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

// The eigenvalues of equal rows where all axes are periodic, in modes e^{iωx}: sums of entries, of steps s, times e^{iωs}.
struct PeriodicSymbol {
  using Complex = ComplexOf<PetscReal>;
  const Complex *roots[3]; // e^{iω} of this part's modes
  bool           transposed;
  Complex        entry[27]; // see RowOfBox

  SHELLAC_HD Complex root(int a, PetscInt k) const {
    const Complex w = roots[a][k];
    return transposed ? Complex{w.re, -w.im} : w;
  }
  // Of one mode of the axes y and z: the coefficients of e^{iωs} along x.
  SHELLAC_HD void along(const PetscInt p[3], Complex of[3]) const {
    const Complex y = root(1, p[1]), z = root(2, p[2]);
    for (int s = 0; s < 3; s++) {
      const auto    at = [&](int plane) { return sum(entry + s + 9 * plane, 3, y); };
      const Complex planes[3] = {at(0), at(1), at(2)};
      of[s] = sum(planes, 1, z);
    }
  }
  SHELLAC_HD Complex        value(const Complex of[3], PetscInt k) const { return sum(of, 1, root(0, k)); }
  static SHELLAC_HD Complex sum(const Complex *of, int stride, Complex w) {
    return of[0].times_conjugate(w).plus(of[stride]).plus(of[2 * stride].times(w));
  }
};

template <class R> struct DivideByPeriodicSymbol {
  PeriodicSymbol symbol;
  PetscReal      scale, zero;
  size_t         stride[2]; // of the axes y and z
  ComplexOf<R>  *values;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    ComplexOf<R>        *at = values + (size_t)p[0] + (size_t)p[1] * stride[0] + (size_t)p[2] * stride[1];
    ComplexOf<PetscReal> of[3];
    symbol.along(p, of);
    for (int i = 0; i < n; i++) {
      const ComplexOf<PetscReal> by = symbol.value(of, p[0] + i);
      const PetscReal            square = by.re * by.re + by.im * by.im;
      const PetscReal            factor = square <= zero * zero ? 0 : scale / square;
      at[i] = at[i].times_conjugate({(R)(by.re * factor), (R)(by.im * factor)});
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
