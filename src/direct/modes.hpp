#pragma once
// What is done in modes: the division by the operator's eigenvalues, or elimination along the axis that has none.

#include "device/runs.hpp"
#include "direct/fourier.hpp"

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
struct DivideBySymbol {
  Symbol       symbol;
  PetscReal    scale;
  size_t       stride[2]; // of the axes y and z
  PetscScalar *values;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    PetscScalar *at = values + (size_t)p[0] + (size_t)p[1] * stride[0] + (size_t)p[2] * stride[1];
    const SymbolOfLine line = symbol.along(0, p);
    for (int i = 0; i < n; i++) {
      const PetscScalar of = line.base + line.slope * symbol.values[0][p[0] + i];
      at[i] = PetscAbsScalar(of) <= symbol.zero ? (PetscScalar)0 : scale * at[i] / of;
    }
  }
};

// Solves a tridiagonal system for each point across the axis, without pivoting: the rows are diagonally dominant, or those
// of a definite matrix, up to weights. Where a system is singular, the solution and the range are projected along constants.
struct Elimination {
  Symbol           symbol;
  PetscReal        scale;
  size_t           stride[3];
  int              axis;
  PetscInt         N;                    // points of the axis
  const PetscReal *lower, *upper, *mass; // of its rows: k/m of both edges, and m [N]
  bool             free;                 // a system without shift is singular
  PetscReal        total;                // sum of the masses
  PetscScalar     *values, *work;        // work: [N][systems] on a GPU, [N][of a run] on the host
  size_t           systems[2];           // of the part; along the first axis across
};
// slopes: the operator is no sum over axes, and has a factor of its own for each system.
template <bool slopes> struct Eliminate : Elimination {
  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    PetscScalar shift[most], slope[most];
    PetscReal   singular[most];
    size_t      first = 0, along = stride[axis];
    bool        any = false;

    for (int a = 0; a < 3; a++) first += (size_t)p[a] * stride[a];
    PetscScalar *const x = values + first;
    PetscScalar       *c = work; // upper entries after elimination
    size_t             c_stride = (size_t)n;
    if (most == 1) {
      const int across = axis == 0 ? 1 : 0, other = axis == 2 ? 1 : 2;
      c += (size_t)p[across] + systems[0] * (size_t)p[other];
      c_stride = systems[1];
    }
    for (int i = 0; i < n; i++) {
      const PetscInt q[3] = {p[0] + i, p[1], p[2]};
      const SymbolOfLine line = symbol.along(axis, q);
      shift[i] = line.base, slope[i] = line.slope;
      const bool is = free && PetscAbsScalar(shift[i]) <= symbol.zero;
      singular[i] = is ? 1 : 0;
      any = any || is;
    }
    if (any) project<most>(x, along, singular, n);
    // On a GPU the loads of several rows are under way at once: none waits for the stores before it.
    constexpr int together = most == 1 ? 8 : 1;
    PetscScalar   before[most], c_before[most];
    for (int i = 0; i < n; i++) before[i] = c_before[i] = 0;
    for (PetscInt j0 = 0; j0 < N; j0 += together) {
      PetscScalar rows[together][most];
      PetscReal   l[together], u[together];
      const int   count = (int)PetscMin(N - j0, (PetscInt)together);
      SHELLAC_UNROLL_ALL
      for (int s = 0; s < together; s++) {
        if (s >= count) continue;
        l[s] = lower[j0 + s], u[s] = upper[j0 + s];
        for (int i = 0; i < n; i++) rows[s][i] = x[(size_t)(j0 + s) * along + (size_t)i];
      }
      SHELLAC_UNROLL_ALL
      for (int s = 0; s < together; s++) {
        if (s >= count) continue;
        PetscScalar    *row = x + (size_t)(j0 + s) * along, *cj = c + (size_t)(j0 + s) * c_stride;
        const PetscReal inner = j0 + s > 0 ? l[s] : 0, at_end = j0 + s == N - 1 ? l[s] : 0;
        for (int i = 0; i < n; i++) { // the last pivot of a singular system is rounding: it may be any other number
          const auto times = [&](PetscReal edge) {
            if constexpr (slopes)
              return slope[i] * edge;
            else
              return edge;
          };
          const PetscScalar pivot = times(l[s] + u[s] + singular[i] * at_end) + shift[i] - times(inner) * c_before[i];
          const PetscScalar inverse = (PetscScalar)1 / pivot;
          row[i] = before[i] = (scale * rows[s][i] + times(inner) * before[i]) * inverse;
          cj[i] = c_before[i] = times(u[s]) * inverse;
        }
      }
    }
    for (PetscInt j0 = N - 2; j0 >= 0; j0 -= together) {
      PetscScalar rows[together][most], upper_entries[together][most];
      const int   count = (int)PetscMin(j0 + 1, (PetscInt)together);
      SHELLAC_UNROLL_ALL
      for (int s = 0; s < together; s++)
        for (int i = 0; i < n && s < count; i++) {
          rows[s][i] = x[(size_t)(j0 - s) * along + (size_t)i];
          upper_entries[s][i] = c[(size_t)(j0 - s) * c_stride + (size_t)i];
        }
      SHELLAC_UNROLL_ALL
      for (int s = 0; s < together; s++)
        for (int i = 0; i < n && s < count; i++) {
          before[i] = rows[s][i] + upper_entries[s][i] * before[i];
          x[(size_t)(j0 - s) * along + (size_t)i] = before[i];
        }
    }
    if (any) project<most>(x, along, singular, n);
  }
  template <int most>
  SHELLAC_RUN void project(PetscScalar *x, size_t along, const PetscReal singular[most], int n) const {
    for (int i = 0; i < n; i++) {
      PetscScalar sum = 0;
      if (singular[i] == 0) continue;
      for (PetscInt j = 0; j < N; j++) sum += mass[j] * x[(size_t)j * along + (size_t)i];
      for (PetscInt j = 0; j < N; j++) x[(size_t)j * along + (size_t)i] -= sum / total;
    }
  }
};

// The modes of a grid that is periodic along all axes, which cuFFT has.
struct DivideCoefficients {
  Symbol    symbol;
  PetscReal scale;
  Box       box;
  Complex  *z;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt    p[3] = {i, j, k};
    const SymbolOfLine line = symbol.along(0, p);
    const PetscScalar  of = line.base + line.slope * symbol.values[0][i];
    const PetscScalar by = PetscAbsScalar(of) <= symbol.zero ? (PetscScalar)0 : (PetscScalar)scale / of;
    Complex          &at = z[box.index(p)];
    at = at.times({PetscRealPart(by), PetscImaginaryPart(by)});
  }
};

} // namespace shellac
