#pragma once
// The planes of a level that is walked plane by plane on the host, and the loops over their rows.

#include <vector>

#include "device/stream.hpp"
#include "multigrid/level.hpp"
#include "multigrid/step.hpp"

namespace shellac {

// So many values of a row, or a few more, are vectors of the widest processors. Loops over all of them have no rest,
// which takes longer than the vectors where rows are short.
template <class T> constexpr int vector_of = PetscMax(1, 64 / (int)sizeof(T));
template <class T> int           whole_vectors(PetscInt n) {
            return (int)((n + vector_of<T> - 1) / vector_of<T> * vector_of<T>);
}
// What whole_vectors() gives, so that the compiler knows it.
template <class T> inline int all_vectors(int n) {
  return n & -vector_of<T>;
}

// Rows of nx values with room beyond both ends, and a row before the first and after the last.
template <class T> class Plane {
public:
  void resize(PetscInt nx, PetscInt rows) {
    stride_ = pad + (size_t)whole_vectors<T>(nx) + pad;
    values_.assign(stride_ * (size_t)(rows + 2), T(0));
  }
  T       *row(PetscInt m) { return values_.data() + (size_t)(m + 1) * stride_ + pad; }
  const T *row(PetscInt m) const { return values_.data() + (size_t)(m + 1) * stride_ + pad; }
  void     clear() { std::fill(values_.begin(), values_.end(), T(0)); }

private:
  static constexpr int pad = 8;
  size_t               stride_ = 0;
  std::vector<T>       values_;
};

namespace row {

// Neighbours of a row's points: the rows before, at and after it in the planes before, at and after it.
template <class T> struct Neighbours {
  const T *row[3][3]; // [plane][row]
  const T *center() const { return row[1][1]; }
};

// Of a level that is a sum over the axes: k/m of the edges, by x, and of this row.
template <class T> struct AxesRow {
  using R = typename RealOf<T>::type;
  const R *west, *east;
  R        south, north, below, above;
  T        sigma;
};

// b - A u at a point
template <class T> inline T residual_at(const AxesRow<T> &op, const Neighbours<T> &u, const T *b, int i) {
  return residual_of(b[i], op.sigma, u.center()[i], op.south, u.row[1][0][i], op.north, u.row[1][2][i], op.west[i],
                     u.center()[i - 1], op.east[i], u.center()[i + 1], op.below, u.row[0][1][i], op.above,
                     u.row[2][1][i]);
}

template <class T> SHELLAC_WIDE void residual(const AxesRow<T> &of, const Neighbours<T> &u, const T *b, int n, T *r) {
  const AxesRow<T>    op = of;
  const Neighbours<T> local = u;
  const int           count = all_vectors<T>(n);
  SHELLAC_COLUMNS
  for (int i = 0; i < count; i++) r[i] = residual_at(op, local, b, i);
}
template <class T>
SHELLAC_WIDE void smooth(const AxesRow<T> &of, const Neighbours<T> &u, const T *b, const T *inverse,
                         typename RealOf<T>::type omega, int n, T *result) {
  const AxesRow<T>    op = of;
  const Neighbours<T> local = u;
  const int           count = all_vectors<T>(n);
  SHELLAC_COLUMNS
  for (int i = 0; i < count; i++)
    result[i] = jacobi_step(local.center()[i], omega * inverse[i], residual_at(op, local, b, i));
}
// 1/diagonal; zero at fixed points. in: by x, and of this row
template <class T>
SHELLAC_WIDE void invert_diagonal(const AxesRow<T> &of, const typename RealOf<T>::type *in,
                                  typename RealOf<T>::type row_in, int n, T *inverse) {
  using R = typename RealOf<T>::type;
  const R  rest = of.south + of.north + (of.below + of.above);
  const T  sigma = of.sigma;
  const R *west = of.west, *east = of.east;
  SHELLAC_COLUMNS
  for (int i = 0; i < n; i++) inverse[i] = in[i] * row_in == 0 ? T(0) : R(1) / (sigma + (west[i] + east[i] + rest));
}

// Of a level with variable coefficients: the residual at the points of a plane's rows, r = b - s u - Σ c (u - u_there), or a
// smoothing step, u + ω D^-1 r. Pointers but b are to the first row.
template <class T> struct CouplingsPlane {
  int                      rows, n;              // n: whole vectors
  ptrdiff_t                row_step, value_step; // from a row to the next one: of coefficients; of u and the result
  const T *const          *b;                    // each row's
  const T                 *s, *inverse, *u;
  typename RealOf<T>::type omega;
  const T                 *c[26], *there[26]; // of each neighbour the coupling with it, and values
  T                       *result;
};
template <int couplings, bool smooths, class T> SHELLAC_WIDEST void couple(const CouplingsPlane<T> &of) {
  const CouplingsPlane<T> plane = of;
  const int               count = all_vectors<T>(of.n);
  for (int m = 0; m < plane.rows; m++) {
    const T *const  b = plane.b[m];
    const ptrdiff_t at = m * plane.row_step, here = m * plane.value_step;
    SHELLAC_COLUMNS
    for (int i = 0; i < count; i++) {
      const T center = plane.u[here + i];
      T       r = residual_of(b[i], plane.s[at + i], center);
#pragma GCC unroll 26
      for (int a = 0; a < couplings; a++) r = add_fluxes(r, center, plane.c[a][at + i], plane.there[a][here + i]);
      plane.result[here + i] = smooths ? jacobi_step(center, plane.omega * plane.inverse[at + i], r) : r;
    }
  }
}
template <class T>
SHELLAC_WIDE void start(const T *inverse, typename RealOf<T>::type omega, const T *b, int n, T *result) {
  const int count = all_vectors<T>(n);
  SHELLAC_COLUMNS
  for (int i = 0; i < count; i++) result[i] = omega * inverse[i] * b[i];
}

template <class T, class Weight> SHELLAC_WIDE void add(Weight factor, const T *values, int n, T *sum) {
  SHELLAC_COLUMNS
  for (int i = 0; i < n; i++) sum[i] += factor * values[i];
}
template <class T> SHELLAC_WIDE void multiply(const T *factor, int n, T *values) {
  SHELLAC_COLUMNS
  for (int i = 0; i < n; i++) values[i] *= factor[i];
}

// Interpolation by weights of the columns, from a coarse row: of the coarse point at or before each, and of the next one.
// Coarse points are the odd columns where the axis is coarsened, and every column otherwise.
template <class T, class R>
SHELLAC_WIDE void add_interpolated(const T *coarse, const R *lower, const R *upper, bool coarsened, int columns,
                                   T *fine) {
  if (!coarsened) {
    SHELLAC_COLUMNS
    for (int m = 0; m < columns; m++) fine[m] += lower[m] * coarse[m];
    return;
  }
  SHELLAC_COLUMNS
  for (int m = 0; m < columns / 2; m++) {
    fine[2 * m] += lower[2 * m] * coarse[m - 1] + upper[2 * m] * coarse[m];
    fine[2 * m + 1] += lower[2 * m + 1] * coarse[m];
  }
}
// Its transpose.
template <class T, class R>
SHELLAC_WIDE void add_restricted(const T *fine, const R *lower, const R *upper, bool coarsened, int columns,
                                 T *coarse) {
  if (!coarsened) {
    SHELLAC_COLUMNS
    for (int m = 0; m < columns; m++) coarse[m] += lower[m] * fine[m];
    return;
  }
  SHELLAC_COLUMNS
  for (int m = 0; m < columns / 2; m++)
    coarse[m] += upper[2 * m] * fine[2 * m] + lower[2 * m + 1] * fine[2 * m + 1] + lower[2 * m + 2] * fine[2 * m + 2];
}

// The same by weights of the points, between one row and some of the other grid. On a coarsened axis a coarse row has a
// value for each column: that of the coarse point at or before it. So the next column has the value of the next coarse
// point, but where the column is a coarse point; there the upper weight is zero.
template <class T> struct WeightedRows {
  static constexpr int most = 9;
  int                  count = 0;
  const T             *values[most], *lower[most], *upper[most]; // upper: where the axis is coarsened

  void add(const T *of, const T *lower_weights, const T *upper_weights) {
    values[count] = of, lower[count] = lower_weights, upper[count++] = upper_weights;
  }
};

// In place, from a coarse row with room for the columns and one more.
template <class T> void spread(int columns, T *coarse) {
  for (int c = columns; c >= 0; c--) coarse[c] = coarse[(c + 1) / 2 - 1];
}
template <int rows, bool coarsened, class T>
SHELLAC_WIDE void interpolate(const WeightedRows<T> &from, int columns, T *fine) {
  const WeightedRows<T> of = from;
  SHELLAC_COLUMNS
  for (int c = 0; c < columns; c++) {
    T sum = fine[c];
#pragma GCC unroll 9
    for (int n = 0; n < rows; n++) {
      sum += of.lower[n][c] * of.values[n][c];
      if constexpr (coarsened) sum += of.upper[n][c] * of.values[n][c + 1];
    }
    fine[c] = sum;
  }
}
// Of each column what it gives to the coarse point at or before it, and to the next one.
template <int rows, bool coarsened, class T>
SHELLAC_WIDE void weigh(const WeightedRows<T> &from, int columns, T *lower, T *upper) {
  const WeightedRows<T> of = from;
  SHELLAC_COLUMNS
  for (int c = 0; c < columns; c++) {
    T to_lower = 0, to_upper = 0;
#pragma GCC unroll 9
    for (int n = 0; n < rows; n++) {
      to_lower += of.lower[n][c] * of.values[n][c];
      if constexpr (coarsened) to_upper += of.upper[n][c] * of.values[n][c];
    }
    lower[c] = to_lower;
    if constexpr (coarsened) upper[c] = to_upper;
  }
}
template <class T> SHELLAC_WIDE void collect(const T *lower, const T *upper, int points, T *coarse) {
  SHELLAC_COLUMNS
  for (int m = 0; m < points; m++) coarse[m] = upper[2 * m] + lower[2 * m + 1] + lower[2 * m + 2];
}

} // namespace row
} // namespace shellac
