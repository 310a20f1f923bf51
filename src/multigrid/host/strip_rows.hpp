#pragma once
// The rows of a strip, and what a fused pass on the host does to them: loops over the columns, each compiled by itself for
// the widest vectors that the processor may have.

#include "device/stream.hpp"
#include "multigrid/pass.hpp"
#include "multigrid/step.hpp"

namespace shellac {

constexpr int strip_columns = 264;

// Values of the columns, and some beyond them that are read and do not count.
template <class T> struct StripRow {
  static constexpr int pad = 8;
  T                    all[pad + strip_columns + pad] = {};
                       operator T *() { return all + pad; }
                       operator const T *() const { return all + pad; }
};

// The last `count` rows of a step, the newest first.
template <class T, int most> struct StripRows {
  StripRow<T>        rows[most];
  int                count = most, newest = 0;
  StripRow<T>       &advance() { return rows[newest = newest + 1 == count ? 0 : newest + 1]; }
  const StripRow<T> &operator[](int age) const { return rows[newest < age ? newest + count - age : newest - age]; }
};

// What residuals of one row need besides values: k/m of the edges.
template <class T> struct RowOperator {
  using R = typename RealOf<T>::type;
  const R *west, *east; // of each column
  R        south, north;
  T        sigma;
};

namespace strip {

template <class T>
inline T residual_at(const RowOperator<T> &op, const T *f, const T *south, const T *center, const T *north, int l) {
  return residual_of(f[l], op.sigma, center[l], op.south, south[l], op.north, north[l], op.west[l], center[l - 1],
                     op.east[l], center[l + 1]);
}

template <class From, class To> SHELLAC_WIDE void convert(const From *from, int count, To *to) {
  SHELLAC_COLUMNS
  for (int l = 0; l < count; l++) to[l] = (To)from[l];
}

// 1/diagonal; zero at fixed points. in: of the columns and of the row
template <class T>
SHELLAC_WIDE void invert_diagonal(const RowOperator<T> &given, const typename RealOf<T>::type *in,
                                  typename RealOf<T>::type row_in, T *inverse) {
  using R = typename RealOf<T>::type;
  const RowOperator<T> op = given;
  SHELLAC_COLUMNS
  for (int l = 0; l < strip_columns; l++)
    inverse[l] = in[l] * row_in == 0 ? T(0) : R(1) / (op.sigma + (op.west[l] + op.east[l] + (op.south + op.north)));
}

// A step from zero, and one from u, whose rows are south, center and north.
template <class T>
SHELLAC_WIDE void smooth_zero(const T *f, const T *inverse, typename RealOf<T>::type omega, T *result) {
  SHELLAC_COLUMNS
  for (int l = 0; l < strip_columns; l++) result[l] = omega * inverse[l] * f[l];
}
template <class T>
SHELLAC_WIDE void smooth(const RowOperator<T> &given, const T *f, const T *south, const T *center, const T *north,
                         const T *inverse, typename RealOf<T>::type omega, T *result) {
  const RowOperator<T> op = given;
  SHELLAC_COLUMNS
  for (int l = 0; l < strip_columns; l++)
    result[l] = jacobi_step(center[l], omega * inverse[l], residual_at(op, f, south, center, north, l));
}

template <class T>
SHELLAC_WIDE void find_residual(const RowOperator<T> &given, const T *f, const T *south, const T *center,
                                const T *north, T *result) {
  const RowOperator<T> op = given;
  SHELLAC_COLUMNS
  for (int l = 0; l < strip_columns; l++) result[l] = residual_at(op, f, south, center, north, l);
}
template <class T>
SHELLAC_WIDE double sum_squares(const RowOperator<T> &given, const T *f, const T *south, const T *center,
                                const T *north, int begin, int end) {
  const RowOperator<T> op = given;
  double               sum = 0;
  for (int l = begin; l < end; l++) sum += squared(residual_at(op, f, south, center, north, l));
  return sum;
}

// Along x, from a coarse row: coarse points are the odd columns where the axis is coarsened, and every column otherwise.
template <class T, class R>
SHELLAC_WIDE void interpolate_x(const T *coarse, const R *lower, const R *upper, bool coarsened, T *fine) {
  if (!coarsened) {
    SHELLAC_COLUMNS
    for (int m = 0; m < strip_columns; m++) fine[m] = lower[m] * coarse[m];
    return;
  }
  SHELLAC_COLUMNS
  for (int m = 0; m < strip_columns / 2; m++) {
    fine[2 * m + 1] = lower[2 * m + 1] * coarse[m];
    fine[2 * m] = lower[2 * m] * coarse[m - 1] + upper[2 * m] * coarse[m];
  }
}
// Along y, from two rows that were interpolated along x.
template <class T, class R> SHELLAC_WIDE void add_sum(R a, const T *x, R b, const T *y, T *to) {
  SHELLAC_COLUMNS
  for (int l = 0; l < strip_columns; l++) to[l] += a * x[l] + b * y[l];
}

// Along x, to a coarse row; the weights of the columns before, at and after each coarse point.
template <class T, class R>
SHELLAC_WIDE void restrict_x(const T *fine, const R *before, const R *here, const R *after, bool coarsened, T *coarse) {
  if (!coarsened) {
    SHELLAC_COLUMNS
    for (int m = 0; m < strip_columns; m++) coarse[m] = here[m] * fine[m];
    return;
  }
  SHELLAC_COLUMNS
  for (int m = 0; m < strip_columns / 2; m++)
    coarse[m] = before[m] * fine[2 * m] + here[m] * fine[2 * m + 1] + after[m] * fine[2 * m + 2];
}
// Along y: sum = or += factor * row
template <class T, class R> SHELLAC_WIDE void accumulate(R factor, const T *row, bool from_zero, T *sum) {
  SHELLAC_COLUMNS
  for (int m = 0; m < strip_columns; m++) sum[m] = (from_zero ? T(0) : sum[m]) + factor * row[m];
}

} // namespace strip
} // namespace shellac
