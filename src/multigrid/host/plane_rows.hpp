#pragma once
// The planes of a level that is walked plane by plane on the host, and the loops over their rows. Those that strips have
// too are in strip_rows.hpp.

#include <vector>

#include "multigrid/host/strip_rows.hpp"

namespace shellac {

// So many values of a row, or a few more, are vectors of the widest processors. Loops over all of them have no rest, which takes
// longer than the vectors where rows are short.
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

// Of a level with variable coefficients: the residual of a row, r = b - s u - Σ c (u - u_there), or a smoothing step,
// u + ω D^-1 r.
template <class T> struct CouplingsRow {
  const T                 *s, *b, *u, *inverse;
  typename RealOf<T>::type omega;
  const T                 *c[26], *there[26]; // of each neighbour the coupling with it, and values
};
template <int couplings, bool smooths, class T>
SHELLAC_WIDEST void couple(const CouplingsRow<T> &of, int n, T *result) {
  const CouplingsRow<T> row = of;
  const int             count = all_vectors<T>(n);
  SHELLAC_COLUMNS
  for (int i = 0; i < count; i++) {
    const T center = row.u[i];
    T       r = residual_of(row.b[i], row.s[i], center);
#pragma GCC unroll 26
    for (int a = 0; a < couplings; a++) r = add_fluxes(r, center, row.c[a][i], row.there[a][i]);
    result[i] = smooths ? jacobi_step(center, row.omega * row.inverse[i], r) : r;
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

// Interpolation by weights of each point, from a coarse row: of the coarse point at or before it, and of the next one.
// Coarse points are the odd columns where the axis is coarsened, and every column otherwise.
template <class T, class Weight>
SHELLAC_WIDE void add_interpolated(const T *coarse, const Weight *lower, const Weight *upper, bool coarsened,
                                   int columns, T *fine) {
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
template <class T, class Weight>
SHELLAC_WIDE void add_restricted(const T *fine, const Weight *lower, const Weight *upper, bool coarsened, int columns,
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

} // namespace row
} // namespace shellac
