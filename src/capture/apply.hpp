#pragma once
// What one point computes with captured coefficients, and the loops over the points that need no halo.

#include <algorithm>
#include <utility>

#include "capture/arms.hpp"
#include "capture/block_inverses.hpp"
#include "capture/coefficients.hpp"
#include "device/stream.hpp"
#include "stencil/operator.hpp"

namespace shellac {

namespace captured { // what one point computes, for for_each()

template <class T> struct Apply {
  CapturedRow<T> row;
  Field<T>       field;
  Form           form;
  const T       *b;
  T             *y;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k}, dof = row.patch.dof;
    const size_t   at = row.patch.index(i, j, k);
    const T       *rows = row.a.rows(row.patch, p, at);
    for (PetscInt r = 0; r < dof; r++) y[at * dof + r] = combine(form, b, at * dof + r, row(field, p, r, at, rows));
  }
};

template <class T> struct Property {
  CapturedRow<T> row;
  RowProperty    property;
  T             *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt                 p[3] = {i, j, k}, dof = row.patch.dof;
    const size_t                   at = row.patch.index(i, j, k);
    const CapturedCoefficients<T> &a = row.a;
    const T                       *rows = a.rows(row.patch, p, at);
    for (PetscInt r = 0; r < dof; r++) {
      PetscReal value = 0;
      if (property == RowProperty::diagonal) {
        const int s = a.diagonal[r * dof + r];
        out[at * dof + r] = s < 0 ? T(0) : a.value(rows, s, at);
        continue;
      }
      for (int s = a.first[r]; s < a.first[r + 1]; s++) {
        const PetscReal size = PetscAbsScalar(a.value(rows, s, at));
        const bool      entry = size != 0 || s == a.diagonal[r * dof + r]; // NaN is one
        value = property == RowProperty::sum_abs       ? value + size
                : property == RowProperty::sum_squares ? value + size * size
                : property == RowProperty::entries     ? value + entry
                                                       : PetscMax(value, size);
      }
      out[at * dof + r] = value;
    }
  }
};

constexpr PetscInt most_values = 5; // of a block that is solved as one, as AIJ's inodes are

// x += omega D⁻¹ (b - (A + shift) x) at a point, where D is the diagonal of A + shift, value by value; without a shift and
// with omega = 1, D are its blocks of up to most_values rows, block by block. x is the grid function of the field.
template <class T> struct Relax {
  CapturedRow<T> row;
  Field<T>       field;
  PetscReal      omega;
  T              shift;
  const T       *b;
  T             *x;

  SHELLAC_HD void at_point(const PetscInt p[3]) const {
    const PetscInt dof = row.patch.dof, most = omega == 1 && shift == T(0) ? most_values : 1;
    const PetscInt blocks = (dof + most - 1) / most;
    const size_t   at = row.patch.index(p[0], p[1], p[2]);
    const T       *rows = row.a.rows(row.patch, p, at);
    for (PetscInt n = 0; n < blocks; n++) {
      const PetscInt lo = n * most, size = PetscMin(most, dof - lo);
      T              d[most_values], inverse[most_values * most_values];
      for (PetscInt r = 0; r < size; r++) {
        const size_t to = at * dof + lo + r;
        d[r] = b[to] - shift * x[to] - row(field, p, lo + r, at, rows);
      }
      invert(rows, at, lo, size, inverse);
      for (PetscInt c = 0; c < size; c++)
        for (PetscInt r = 0; r < size; r++) x[at * dof + lo + r] += omega * inverse[c * size + r] * d[c];
    }
  }
  SHELLAC_HD T entry(const T *rows, size_t at, PetscInt r, PetscInt c) const {
    const int s = row.a.diagonal[r * row.patch.dof + c];
    return (s < 0 ? T(0) : row.a.value(rows, s, at)) + (r == c ? shift : T(0));
  }
  // The inverse of the block of the rows from lo on, by columns; infinite where there is none.
  SHELLAC_HD void invert(const T *rows, size_t at, PetscInt lo, PetscInt size, T *inverse) const {
    PetscInt pivots[most_values];
    if (size == 1) {
      inverse[0] = T(1) / entry(rows, at, lo, lo);
      return;
    }
    for (PetscInt c = 0; c < size; c++)
      for (PetscInt r = 0; r < size; r++) inverse[c * size + r] = entry(rows, at, lo + r, lo + c);
    if (!InvertBlocks<T>::invert(inverse, pivots, size))
      for (PetscInt e = 0; e < size * size; e++) inverse[e] = (PetscReal)INFINITY;
  }
};

// The points of one colour: each period-th along each axis or, for a star of width 1, those of even or odd index sums.
template <class T> struct RelaxColour {
  Relax<T> relax;
  PetscInt period, colour[3];
  bool     parity;

  // The first of them with the indices j and k; -1: there is none.
  PetscInt first(PetscInt j, PetscInt k) const {
    const PetscInt *start = relax.row.patch.start, i[3] = {0, start[1] + j, start[2] + k};
    if (parity) return (start[0] + i[1] + i[2] + colour[0]) & 1;
    for (int a = 1; a < 3; a++)
      if (i[a] % period != colour[a]) return -1;
    return (colour[0] + period - start[0] % period) % period;
  }
  Box box() const {
    Box box = relax.row.patch.all();
    for (int a = 0; a < (parity ? 1 : 3); a++) box.hi[a] = (box.hi[a] + period - 1) / period;
    return box;
  }
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const Patch &patch = relax.row.patch;
    PetscInt     p[3] = {i, j, k};
    if (parity)
      p[0] = 2 * i + ((patch.start[0] + patch.start[1] + j + patch.start[2] + k + colour[0]) & 1);
    else
      for (int a = 0; a < 3; a++) p[a] = period * p[a] + (colour[a] + period - patch.start[a] % period) % period;
    if (p[0] < patch.size[0] && p[1] < patch.size[1] && p[2] < patch.size[2]) relax.at_point(p);
  }
};

// A point of a whole star or box of width 1, one value a point. All loads are under way before the first value is used.
// in_arrays: so are the coefficients, one array for each arm.
template <class T, int dim, bool box, bool in_arrays> struct ApplyWhole {
  using Whole = WholeStencil<dim, box>;
  CapturedRow<T> row;
  Field<T>       field;
  Form           form;
  const T       *b;
  T             *y;
  const T       *arrays[in_arrays ? Whole::count : 1];

  // slots: the arrays, as addresses on the host; read only for in_arrays.
  ApplyWhole(const Apply<T> &point, const T *const *slots)
      : row(point.row), field(point.field), form(point.form), b(point.b), y(point.y) {
    if (in_arrays) std::copy(slots, slots + Whole::count, arrays);
  }
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const Patch   &patch = row.patch;
    const size_t   at = patch.index(i, j, k);
    const T       *rows = in_arrays ? nullptr : row.a.rows(patch, p, at);
    const T        add = form == Form::product ? T(0) : b[at];
    T              coefficient[Whole::count], value[Whole::count], sum = 0;
    SHELLAC_UNROLL_ALL
    for (int arm = 0; arm < Whole::count; arm++) {
      PetscInt  q[3] = {i, j, k};
      ptrdiff_t to = (ptrdiff_t)at;
      bool      on_patch = true;
      SHELLAC_UNROLL_ALL
      for (int a = 0; a < dim; a++) {
        const int step = Whole::step(arm, a);
        q[a] += step;
        to += step * (ptrdiff_t)patch.stride(a);
        if (step < 0) on_patch = on_patch && q[a] >= 0;
        if (step > 0) on_patch = on_patch && q[a] < patch.size[a];
      }
      if (in_arrays)
        coefficient[arm] = arrays[arm][at];
      else
        coefficient[arm] = rows[arm];
      value[arm] = on_patch ? field.u[to] : field.value(patch, q, 0);
    }
    SHELLAC_UNROLL_ALL
    for (int n = 0; n < Whole::count; n++) { // in ConstantStar's order, or in the slots'
      const int arm = box || in_arrays ? n : n % 2 ? dim - 1 - n / 2 : dim + n / 2;
      sum += coefficient[arm] * value[arm];
    }
    y[at] = combine(form, &add, 0, sum);
  }
};

// The inner points of a colour of a star that is constant there; with the shift on its diagonal. factor: omega / diagonal.
// Points are numbered by pairs along the first axis, from an even one on.
template <class T, int dim> struct RelaxStar {
  Relax<T>        relax;
  int             colour;
  ConstantStar<T> star;
  T               factor;
  Box             inner;

  SHELLAC_HD void operator()(PetscInt pair, PetscInt j, PetscInt k) const {
    const Patch   &patch = relax.row.patch;
    const PetscInt i = 2 * pair + ((patch.start[0] + patch.start[1] + j + patch.start[2] + k + colour) & 1);
    if (i < inner.lo[0] || i >= inner.hi[0]) return;
    const size_t at = patch.index(i, j, k);
    T           *x = relax.x + at, beside[dim][2];
    SHELLAC_UNROLL_ALL
    for (int a = 0; a < dim; a++) {
      beside[a][LOWER] = x[-(ptrdiff_t)patch.stride(a)];
      beside[a][UPPER] = x[patch.stride(a)];
    }
    *x = star.template relax<dim>(*x, beside, relax.b[at], factor);
  }
};

// The points of a colour, of all that are given.
template <class T> struct RelaxParity {
  Relax<T> relax;
  int      colour;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const Patch   &patch = relax.row.patch;
    const PetscInt p[3] = {i, j, k};
    if (((patch.start[0] + i + patch.start[1] + j + patch.start[2] + k + colour) & 1) == 0) relax.at_point(p);
  }
};

} // namespace captured

// ---- host: along rows of points, slot by slot into a buffer that stays in the first cache

// sum[i] = 0 or, for `more`, sum[i] + Σ_n coefficient_n[i] u_n[i], or with one coefficient for all i. All terms stand in one
// expression, because only then does the compiler vectorise the loop. A lambda would not be inlined into the versions for
// other processors.
template <bool one_for_all, class T, size_t... n>
SHELLAC_WIDE void add_slots(std::index_sequence<n...>, const T *const *coefficient, const T *const *u, PetscInt points,
                            bool more, T *__restrict__ sum) {
  const T *const c[] = {coefficient[n]...}, *const from[] = {u[n]...};
  const T all[] = {*coefficient[n]...};
  for (PetscInt i = 0; i < points; i++) {
    T value = more ? sum[i] : T(0);
    ((value += (one_for_all ? all[n] : c[n][i]) * from[n][i]), ...);
    sum[i] = value;
  }
}

// The same for n <= most.
template <size_t most, bool one_for_all, class T, class... Arguments>
void add_few_slots(size_t n, const T *const *coefficient, Arguments... arguments) {
  if (n == most)
    add_slots<one_for_all>(std::make_index_sequence<most>(), coefficient, arguments...);
  else if constexpr (most > 1)
    add_few_slots<most - 1, one_for_all>(n, coefficient, arguments...);
}

template <bool one_for_all, class T>
void add_all_slots(int n, const T *const *coefficient, const T *const *u, PetscInt points, bool more, T *sum) {
  constexpr int most = one_for_all ? 9 : 5; // for which there are registers
  if (!n && !more) std::fill(sum, sum + points, T(0));
  for (int some; n > 0; n -= some, coefficient += some, u += some, more = true) {
    some = PetscMin(n, most);
    add_few_slots<most, one_for_all>(some, coefficient, u, points, more, sum);
  }
}

} // namespace shellac
