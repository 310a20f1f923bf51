#pragma once
// What one point computes with captured coefficients, and the loops over the points that need no halo.

#include <algorithm>
#include <utility>

#include "capture/arms.hpp"
#include "capture/coefficients.hpp"
#include "device/stream.hpp"
#include "stencil/operator.hpp"

namespace shellac {

namespace captured { // what one point computes, for for_each()

template <class T> struct Apply {
  CapturedRow<T> row;
  Field<T>       u;
  Form           form;
  const T       *b;
  T             *y;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k}, dof = row.patch.dof;
    const size_t   at = row.patch.index(i, j, k);
    const T       *rows = row.a.rows(row.patch, p, at);
    for (PetscInt r = 0; r < dof; r++) y[at * dof + r] = combine(form, b, at * dof + r, row(u, p, r, at, rows));
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
      T              d[most_values];
      for (PetscInt r = 0; r < size; r++) {
        const size_t to = at * dof + lo + r;
        d[r] = b[to] - shift * x[to] - row(field, p, lo + r, at, rows);
      }
      if (size == 1)
        d[0] /= entry(rows, at, lo, lo);
      else
        solve(rows, at, lo, size, d);
      for (PetscInt r = 0; r < size; r++) x[at * dof + lo + r] += omega * d[r];
    }
  }
  SHELLAC_HD T entry(const T *rows, size_t at, PetscInt r, PetscInt c) const {
    const int s = row.a.diagonal[r * row.patch.dof + c];
    return (s < 0 ? T(0) : row.a.value(rows, s, at)) + (r == c ? shift : T(0));
  }
  // d = D⁻¹ d for the block of the rows from lo on: Gauss, the largest pivot of a column first.
  SHELLAC_HD void solve(const T *rows, size_t at, PetscInt lo, PetscInt size, T *d) const {
    T D[most_values][most_values];
    for (PetscInt r = 0; r < size; r++)
      for (PetscInt c = 0; c < size; c++) D[r][c] = entry(rows, at, lo + r, lo + c);
    for (PetscInt k = 0; k < size; k++) {
      PetscInt pivot = k;
      for (PetscInt r = k + 1; r < size; r++)
        if (PetscAbsScalar(D[r][k]) > PetscAbsScalar(D[pivot][k])) pivot = r;
      for (PetscInt c = k; c < size; c++) {
        const T other = D[k][c];
        D[k][c] = D[pivot][c];
        D[pivot][c] = other;
      }
      const T other = d[k];
      d[k] = d[pivot];
      d[pivot] = other;
      for (PetscInt r = k + 1; r < size; r++) {
        const T factor = D[r][k] / D[k][k];
        for (PetscInt c = k + 1; c < size; c++) D[r][c] -= factor * D[k][c];
        d[r] -= factor * d[k];
      }
    }
    for (PetscInt r = size - 1; r >= 0; r--) {
      for (PetscInt c = r + 1; c < size; c++) d[r] -= D[r][c] * d[c];
      d[r] /= D[r][r];
    }
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
// in_arrays: so are the coefficients, one array for each arm. has_halo: what arms meet off the patch may be another rank's;
// otherwise it is beyond the domain.
template <class T, int dim, bool box, bool in_arrays, bool has_halo> struct ApplyWhole {
  using Whole = WholeStencil<dim, box>;
  CapturedRow<T> row;
  Field<T>       field;
  Form           form;
  const T       *b;
  T             *y;
  const T       *arrays[in_arrays ? Whole::count : 1];

  // slots: the arrays, as addresses on the host; read only for in_arrays.
  ApplyWhole(const Apply<T> &point, const T *const *slots)
      : row(point.row), field(point.u), form(point.form), b(point.b), y(point.y) {
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
      value[arm] = on_patch ? field.u[to] : has_halo ? field.value(patch, q, 0) : T(0);
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

// ---- several unknowns a point: they are taken apart, so that loops over points read values that are next to each other

constexpr int most_separate = 8; // unknowns that a compiled loop takes apart; 0: any number

// to[c stride + i] = u[i dof + c]
template <int dof, class T>
SHELLAC_WIDE void separate(int unknowns, const T *__restrict__ u, PetscInt stride, PetscInt points,
                           T *__restrict__ to) {
  const int count = dof ? dof : unknowns;
  for (PetscInt i = 0; i < points; i++)
    for (int c = 0; c < count; c++) to[c * stride + i] = u[i * count + c];
}
// y[i dof + r] = the product sums[r stride + i], or b less that; b may be y
template <int dof, class T>
SHELLAC_WIDE void join(int unknowns, Form form, const T *b, const T *sums, PetscInt stride, PetscInt points, T *y) {
  const int count = dof ? dof : unknowns;
  for (PetscInt i = 0; i < points; i++)
    for (int r = 0; r < count; r++) y[i * count + r] = combine(form, b, (size_t)(i * count + r), sums[r * stride + i]);
}
template <int most, class Function> void with_unknowns(PetscInt dof, const Function &f) { // f(constant)
  if (dof == most || most == 0)
    f(std::integral_constant<int, most>());
  else if constexpr (most > 0)
    with_unknowns<most == 2 ? 0 : most - 1>(dof, f);
}

// The unknowns of a chunk of points, and of those that the stencil meets around them, taken apart when they are asked for.
template <class T> class SeparateRows {
public:
  static constexpr PetscInt chunk = 128;

  SeparateRows(const CapturedRow<T> &row, const T *u)
      : patch_(row.patch), u_(u), dof_(row.patch.dof), stride_(chunk + 2 * row.a.reach[0]) {
    std::copy_n(row.a.reach, 3, reach_);
    const size_t rows = (size_t)(2 * reach_[1] + 1) * (size_t)(2 * reach_[2] + 1);
    there_.resize(rows);
    values_.resize(rows * (size_t)dof_ * (size_t)stride_);
  }
  void begin(const PetscInt p[3], PetscInt points) {
    std::copy_n(p, 3, p_);
    points_ = points;
    std::fill(there_.begin(), there_.end(), false);
  }
  const T *at(const Slot &slot) {
    const size_t row = (size_t)(slot.step[1] + reach_[1] + (2 * reach_[1] + 1) * (slot.step[2] + reach_[2]));
    T           *values = values_.data() + row * (size_t)(dof_ * stride_);
    if (!there_[row]) {
      const T *from = u_ + patch_.index(p_[0] - reach_[0], p_[1] + slot.step[1], p_[2] + slot.step[2]) * dof_;
      with_unknowns<most_separate>(
          dof_, [&](auto dof) { separate<dof.value>((int)dof_, from, stride_, points_ + 2 * reach_[0], values); });
      there_[row] = true;
    }
    return values + slot.c * stride_ + reach_[0] + slot.step[0];
  }

private:
  const Patch      &patch_;
  const T          *u_;
  PetscInt          dof_, stride_, reach_[3], p_[3] = {0, 0, 0}, points_ = 0;
  std::vector<char> there_;
  std::vector<T>    values_;
};

// A point whose stencil needs no halo: what its arms meet off the patch is beyond the domain.
template <class T>
void apply_captured_at_end(const CapturedRow<T> &row, const T *u, Form form, const T *b, const PetscInt p[3], T *y) {
  const Patch                   &patch = row.patch;
  const CapturedCoefficients<T> &a = row.a;
  const size_t                   at = patch.index(p[0], p[1], p[2]);
  const T                       *rows = a.rows(patch, p, at), *here = u + at * patch.dof;
  for (PetscInt r = 0; r < patch.dof; r++) {
    T sum = 0;
    for (int s = a.first[r]; s < a.first[r + 1]; s++) {
      const PetscInt *step = a.slot[s].step;
      bool            inside = true;
      for (int axis = 0; axis < 3; axis++)
        inside = inside && p[axis] + step[axis] >= 0 && p[axis] + step[axis] < patch.size[axis];
      if (inside) sum += a.value(rows, s, at) * here[a.offset[s]];
    }
    y[at * patch.dof + r] = combine(form, b, at * patch.dof + r, sum);
  }
}

// The points of a box that needs no halo.
template <class T>
void apply_captured_on_host(const CapturedRow<T> &row, const Field<T> &field, Form form, const T *b, const Box &box,
                            T *y) {
  const Patch                   &patch = row.patch;
  const CapturedCoefficients<T> &a = row.a;
  const PetscInt                 dof = patch.dof, reach = a.reach[0];
  constexpr PetscInt             longest = 256; // points whose sums stay in the first cache
  const PetscInt                 chunk = dof > 1 ? SeparateRows<T>::chunk : longest;
  const bool                     past = dof == 1 && beyond_cache((size_t)box.points() * sizeof(T));
  std::vector<const T *>         coefficient(a.count), u(a.count);
  std::vector<int>               slots(a.count);
  SeparateRows<T>                separate_rows(row, field.u);
  std::vector<T>                 sums((size_t)(dof > 1 ? dof * chunk : longest));
  T                              gathered[5][longest];
  PetscInt                       lo = PetscMax(box.lo[0], reach), hi = PetscMin(box.hi[0], patch.size[0] - reach);

  if (a.storage == Storage::constant) { // whole chunks are of one class
    lo = PetscMax(lo, a.depth[0] - patch.start[0]);
    hi = PetscMin(hi, patch.N[0] - a.depth[0] - patch.start[0]);
  }
  if (lo >= hi) lo = hi = box.hi[0];
  for (PetscInt k = box.lo[2]; k < box.hi[2]; k++) {
    for (PetscInt j = box.lo[1]; j < box.hi[1]; j++) {
      const auto point = [&](PetscInt i) {
        const PetscInt p[3] = {i, j, k};
        apply_captured_at_end(row, field.u, form, b, p, y);
      };
      for (PetscInt i = box.lo[0]; i < lo; i++) point(i);
      for (PetscInt from = lo, points; from < hi; from += points) {
        const PetscInt p[3] = {from, j, k};
        const size_t   at = patch.index(from, j, k);
        points = PetscMin(past ? ends_with_line(y + at, chunk) : chunk, hi - from);
        const T *rows = a.rows(patch, p, at);
        if (dof > 1) separate_rows.begin(p, points);
        for (PetscInt r = 0; r < dof; r++) {
          T  *sum = sums.data() + r * chunk;
          int n = 0;
          for (int s = a.first[r]; s < a.first[r + 1]; s++) {
            const Slot    &slot = a.slot[s];
            const PetscInt y_at = j + slot.step[1], z_at = k + slot.step[2];
            if (y_at < 0 || y_at >= patch.size[1] || z_at < 0 || z_at >= patch.size[2]) continue; // beyond the domain
            slots[n] = s;
            u[n] = dof > 1 ? separate_rows.at(slot) : field.u + at + a.offset[s];
            coefficient[n] = a.storage == Storage::arrays ? a.array[s] + at : rows + s;
            n++;
          }
          T *out = dof > 1 || past || form != Form::product ? sum : y + at; // b may be y
          if (a.storage == Storage::arrays) {
            if (past)
              for (int s = 0; s < n; s++) prefetch(coefficient[s], points);
            add_all_slots<false>(n, coefficient.data(), u.data(), points, false, out);
          } else if (a.storage == Storage::constant) {
            if (past && n > 0) prefetch(u[n - 1], points);
            add_all_slots<true>(n, coefficient.data(), u.data(), points, false, out);
          } else {
            const auto class_at = [&](PetscInt i) { return a.index8 ? a.index8[at + i] : a.index16[at + i]; };
            PetscInt   run = 1;
            while (run < points && class_at(run) == class_at(0)) run++;
            if (run == points) { // of one class
              for (int s = 0; s < n; s++) coefficient[s] = rows + slots[s];
              add_all_slots<true>(n, coefficient.data(), u.data(), points, false, out);
            } else
              for (int s = 0; s < n; s += 5) {
                const int some = PetscMin(5, n - s);
                for (PetscInt i = 0; i < points; i++) {
                  const T *of_class = a.of_class(class_at(i));
                  for (int g = 0; g < some; g++) gathered[g][i] = of_class[slots[s + g]];
                }
                const T *const from_gathered[5] = {gathered[0], gathered[1], gathered[2], gathered[3], gathered[4]};
                add_all_slots<false>(some, from_gathered, u.data() + s, points, s > 0, out);
              }
          }
          if (dof > 1) continue;
          if (form != Form::product)
            for (PetscInt i = 0; i < points; i++) sum[i] = combine(form, b + at, i, sum[i]);
          if (past)
            stream_copy(y + at, sum, points);
          else if (out == sum)
            std::copy(sum, sum + points, y + at);
        }
        if (dof > 1)
          with_unknowns<most_separate>(dof, [&](auto unknowns) {
            join<unknowns.value>((int)dof, form, b ? b + at * dof : nullptr, sums.data(), chunk, points, y + at * dof);
          });
      }
      for (PetscInt i = hi; i < box.hi[0]; i++) point(i);
    }
  }
  if (past) stream_fence();
}

} // namespace shellac
