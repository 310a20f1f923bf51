#pragma once
// The exact solution of a level whose points are a line, by elimination from one end to the other: the rows' couplings
// with the two neighbours alone. In O(N), where several smoothing steps would take longer.

#include <algorithm>
#include <limits>
#include <vector>

#include "device/launch.hpp"
#include "device/mirror.hpp"
#include "device/scalars.hpp"
#include "device/scratch.hpp"

namespace shellac {

// Rows of N points, (A u)_i = shift_i u_i + lower_i (u_i - u_{i-1}) + upper_i (u_i - u_{i+1}); around a periodic line
// the first and the last one couple each other, elsewhere nothing beyond them. Points that are not `in` couple nothing
// and stay zero.
struct LineRows {
  std::vector<PetscScalar> shift, lower, upper, mass; // mass: of rows that are symmetric with it; empty: ones
  std::vector<bool>        in;
  bool                     periodic = false;
  bool                     singular = false; // constants are the null space, and rows symmetric with the masses

  explicit LineRows(size_t n) : shift(n, 0), lower(n, 0), upper(n, 0), in(n, true) {}
  int n() const { return (int)shift.size(); }
};

// A = L U; run by one thread. With a border, the last point's value is found first, between two sweeps over the others.
template <class T> struct LineSweeps {
  int      n;               // points but the border's
  const T *m, *inverse, *g; // L's entries, negative, [n]; those of U: 1/diagonal, and -(entry)/diagonal
  const T *b;
  T       *x;
  bool     transposed;
  // of the border: solutions with the last point's column, and with its row; null for no border. pivot: zero: it stays zero
  const T *column, *row;
  T        to_last[2], from_last[2],
      inverse_pivot; // couplings of the last point with the one before it and the first; of these with it

  SHELLAC_HD void sweep(const T *of, T *to) const {
    T before = 0;
    if (transposed) {
      for (int i = 0; i < n; i++) to[i] = before = of[i] + (i ? g[i - 1] : T(0)) * before;
      before = 0;
      for (int i = n - 1; i >= 0; i--) to[i] = before = to[i] * inverse[i] + (i + 1 < n ? m[i + 1] : T(0)) * before;
      return;
    }
    for (int i = 0; i < n; i++) to[i] = before = of[i] + m[i] * before;
    before = 0;
    for (int i = n - 1; i >= 0; i--) to[i] = before = to[i] * inverse[i] + g[i] * before;
  }
  SHELLAC_HD void operator()(PetscInt, PetscInt, PetscInt) const {
    const T last = column ? b[n] : T(0);
    sweep(b, x);
    if (!column) return;
    const T *z = transposed ? row : column, *its = transposed ? from_last : to_last;
    const T  value = (last + its[0] * x[n - 1] + its[1] * x[0]) * inverse_pivot;
    x[n] = value;
    for (int i = 0; i < n; i++) x[i] += z[i] * value;
  }
};

// Takes out the mean with the masses as weights, or the transpose of that; puts `scale` times that of b in its place,
// if there is b: a singular preconditioner would not show what a right-hand side has beyond the operator's range.
template <class T> struct TakeMean {
  int             n;
  const T        *mass, *from, *b;
  T               scale;
  T              *to;
  bool            transposed;
  SHELLAC_HD void operator()(PetscInt, PetscInt, PetscInt) const {
    T sum = 0, all = 0;
    for (int i = 0; i < n; i++) {
      sum += (transposed ? T(1) : mass[i]) * (b ? from[i] - scale * b[i] : from[i]);
      all += mass[i];
    }
    for (int i = 0; i < n; i++) to[i] = from[i] - (transposed ? mass[i] : T(1)) * (sum / all);
  }
};

template <class T> class LineSolve {
public:
  // *serves: false: elimination without pivoting is not stable, or the matrix is singular in another way.
  void           Create(const LineRows &rows, bool *serves);
  PetscErrorCode Apply(PetscMemType memory, const T *b, T *x, bool transposed);
  PetscErrorCode Prepare(PetscMemType memory) {
    const T *values;
    PetscFunctionBegin;
    PetscCall(factors_.Get(memory, &values));
    if (singular_) PetscCall(projected_.Grow((size_t)N_, memory));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  size_t bytes() const { return factors_.bytes(); }
  int    flops() const { return (bordered_ ? 7 : 5) + (singular_ ? 8 : 0); } // of a point

private:
  LineSweeps<T> sweeps(const T *factors, const T *b, T *x, bool transposed) const {
    const size_t  N = (size_t)N_;
    const T      *column = bordered_ ? factors + 3 * N : nullptr, *row = bordered_ ? factors + 4 * N : nullptr;
    LineSweeps<T> of = {
        bordered_ ? N_ - 1 : N_, factors, factors + N, factors + 2 * N, b, x, transposed, column, row, {}, {},
        inverse_pivot_};
    std::copy_n(to_last_, 2, of.to_last);
    std::copy_n(from_last_, 2, of.from_last);
    return of;
  }

  int        N_ = 0;
  bool       bordered_ = false, singular_ = false;
  T          to_last_[2] = {}, from_last_[2] = {}, inverse_pivot_ = 0;
  T          of_mean_ = 0; // the inverse of an entry of the diagonal
  Mirror<T>  factors_;     // [N] each: m, inverse, g, column, row of LineSweeps, masses
  Scratch<T> projected_;
};

template <class T> void LineSolve<T>::Create(const LineRows &rows, bool *serves) {
  constexpr PetscReal least_pivot = 1e-13;
  const int           n = rows.periodic ? rows.n() - 1 : rows.n();
  const size_t        N = (size_t)rows.n();
  const bool          weighted = !rows.mass.empty();
  PetscScalar s = 0, p = 1; // a pivot, and what it has besides the coupling with the next point: no digits cancel
  bool        dominated = true;
  PetscReal   sign = 0;

  N_ = (int)N;
  bordered_ = rows.periodic;
  singular_ = rows.singular;
  std::vector<T> &factors = factors_.change();
  factors.assign((rows.singular ? 6 : bordered_ ? 5 : 3) * N, T(0));
  *serves = true;
  for (int i = 0; i < n; i++) {
    const PetscScalar up = i + 1 < n ? rows.upper[i] : 0;
    if (!rows.in[i]) { // neighbours have no coupling with it
      s = 0, p = 1;
      continue;
    }
    if (i > 0) factors[i] = (T)(rows.lower[i] / p);
    s = rows.shift[i] + (i > 0 ? rows.lower[i] * (s / p) : rows.periodic ? rows.lower[i] : (PetscScalar)0);
    if (rows.periodic && i + 1 == n) s += rows.upper[i];
    p = s + up;
    const bool      pinned = rows.singular && !rows.periodic && i + 1 == n;
    const PetscReal size =
        PetscAbsScalar(rows.lower[i]) + PetscAbsScalar(rows.upper[i]) + PetscAbsScalar(rows.shift[i]);
    if (!pinned && !(PetscAbsScalar(p) > least_pivot * size)) *serves = false;
    if (!*serves) return;
    factors[N + i] = pinned ? T(0) : (T)((PetscScalar)1 / p);
    factors[2 * N + i] = pinned ? T(0) : (T)(up / p);
  }
  for (size_t i = 0; i < N; i++)
    for (const PetscScalar value : {rows.lower[i], rows.upper[i], rows.shift[i]}) {
      if (sign == 0) sign = PetscRealPart(value) < 0 ? -1 : PetscRealPart(value) > 0 ? 1 : 0;
      dominated = dominated && sign * PetscRealPart(value) >= 0 && PetscImaginaryPart(value) == 0;
    }
  if (bordered_) {
    std::vector<T> side(N, T(0));
    to_last_[0] = (T)rows.lower[n], to_last_[1] = (T)rows.upper[n];
    from_last_[0] = (T)rows.upper[n - 1], from_last_[1] = (T)rows.lower[0];
    for (bool transposed : {false, true}) {
      LineSweeps<T> of = sweeps(factors.data(), nullptr, nullptr, transposed);
      const T      *ends = transposed ? to_last_ : from_last_;
      std::fill(side.begin(), side.end(), T(0));
      side[n - 1] += ends[0];
      side[0] += ends[1];
      of.sweep(side.data(), factors.data() + (transposed ? 4 : 3) * N);
    }
    const T          *z = factors.data() + 3 * N;
    const PetscScalar pivot = rows.shift[n] + rows.lower[n] * ((PetscScalar)1 - (PetscScalar)z[n - 1]) +
                              rows.upper[n] * ((PetscScalar)1 - (PetscScalar)z[0]);
    const PetscReal size =
        PetscAbsScalar(rows.lower[n]) + PetscAbsScalar(rows.upper[n]) + PetscAbsScalar(rows.shift[n]);
    if (!rows.singular && rows.in[n] && !(PetscAbsScalar(pivot) > least_pivot * size)) *serves = false;
    inverse_pivot_ = rows.singular || !rows.in[n] || !*serves ? T(0) : (T)((PetscScalar)1 / pivot);
  }
  if (rows.singular) {
    of_mean_ = (T)((PetscScalar)1 / (rows.lower[N / 2] + rows.upper[N / 2]));
    for (size_t i = 0; i < N; i++) factors[5 * N + i] = weighted ? (T)rows.mass[i] : T(1);
  }
  if (!*serves || dominated) return; // pivots of such rows are as good as any
  // a residual beside rounding tells
  std::vector<T> b(N), x(N);
  PetscReal      left = 0, size = 0;
  for (size_t i = 0; i < N; i++) b[i] = rows.in[i] ? T((PetscReal)((i * 2654435761u >> 7) % 1024) / 512 - 1) : T(0);
  sweeps(factors.data(), b.data(), x.data(), false)(0, 0, 0);
  for (size_t i = 0; i < N; i++) {
    if (!rows.in[i]) continue;
    const PetscScalar here = x[i], before = x[i ? i - 1 : N - 1], after = x[i + 1 < N ? i + 1 : 0];
    const PetscScalar terms[3] = {rows.shift[i] * here, rows.lower[i] * (here - before),
                                  rows.upper[i] * (here - after)};
    PetscScalar       r = b[i];
    for (const PetscScalar &term : terms) r -= term;
    left = PetscMax(left, PetscAbsScalar(r));
    size =
        PetscMax(size, (PetscAbsScalar(rows.shift[i]) + PetscAbsScalar(rows.lower[i]) + PetscAbsScalar(rows.upper[i])) *
                           (PetscAbsScalar(here) + PetscAbsScalar(before) + PetscAbsScalar(after)));
  }
  const PetscReal epsilon = std::numeric_limits<typename RealOf<T>::type>::epsilon();
  if (!rows.singular) *serves = left <= 1e4 * epsilon * (1 + size);
}

template <class T> PetscErrorCode LineSolve<T>::Apply(PetscMemType memory, const T *b, T *x, bool transposed) {
  const T   *factors;
  const auto run = [&](const auto &f) { return for_each(memory, line_of(1), f); };

  PetscFunctionBegin;
  PetscCall(factors_.Get(memory, &factors));
  if (singular_) {
    const T *mass = factors + 5 * (size_t)N_;
    T       *projected = projected_.at(memory);
    PetscCall(run(TakeMean<T>{N_, mass, b, nullptr, 0, projected, transposed}));
    PetscCall(run(sweeps(factors, projected, x, transposed)));
    PetscCall(run(TakeMean<T>{N_, mass, x, b, of_mean_, x, transposed}));
  } else
    PetscCall(run(sweeps(factors, b, x, transposed)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
