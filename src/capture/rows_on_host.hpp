#pragma once
// Captured rows of any form times a grid function on the host.

#include "capture/apply.hpp"

namespace shellac {

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
  static constexpr PetscInt chunk = 256;

  SeparateRows(const CapturedRow<T> &row, const Field<T> &field)
      : patch_(row.patch), field_(field), dof_(row.patch.dof), stride_(chunk + 2 * row.a.reach[0]) {
    std::copy_n(row.a.reach, 3, reach_);
    const size_t rows = (size_t)(2 * reach_[1] + 1) * (size_t)(2 * reach_[2] + 1);
    there_.resize(rows);
    values_.resize(rows * (size_t)dof_ * (size_t)stride_);
  }
  // past_ends: the points are of several lines, and what lies between these in memory is taken as it is.
  void begin(const PetscInt p[3], PetscInt points, bool past_ends) {
    std::copy_n(p, 3, p_);
    points_ = points;
    past_ends_ = past_ends;
    std::fill(there_.begin(), there_.end(), false);
  }
  // The values that a slot meets, or any where it leads past the end of a line; null where all are beyond the domain.
  const T *at(const Slot &slot) {
    const PetscInt q[3] = {p_[0] - reach_[0], p_[1] + slot.step[1], p_[2] + slot.step[2]};
    const size_t   row = (size_t)(slot.step[1] + reach_[1] + (2 * reach_[1] + 1) * (slot.step[2] + reach_[2]));
    T             *values = values_.data() + row * (size_t)(dof_ * stride_);
    if (!there_[row]) {
      const T *line = field_.line(patch_, q[1], q[2]);
      if (!line) return nullptr;
      const PetscInt count = points_ + 2 * reach_[0], begin = past_ends_ ? 0 : PetscMax(-q[0], 0),
                     end = past_ends_ ? count : PetscMin(patch_.size[0] - q[0], count);
      with_unknowns<most_separate>(dof_, [&](auto dof) {
        separate<dof.value>((int)dof_, line + (q[0] + begin) * dof_, stride_, end - begin, values + begin);
      });
      for (PetscInt c = 0; c < dof_; c++) {
        std::fill(values + c * stride_, values + c * stride_ + begin, T(0));
        std::fill(values + c * stride_ + end, values + c * stride_ + count, T(0));
      }
      there_[row] = true;
    }
    return values + slot.c * stride_ + reach_[0] + slot.step[0];
  }

private:
  const Patch      &patch_;
  const Field<T>   &field_;
  PetscInt          dof_, stride_, reach_[3], p_[3] = {0, 0, 0}, points_ = 0;
  bool              past_ends_ = false;
  std::vector<char> there_;
  std::vector<T>    values_;
};

// The points of a box, which needs no halo if there is one unknown a point. They are taken in runs that are long enough for
// the processor to read ahead: where coefficients differ from point to point, a run goes on from the end of one line to the
// next. Arms that leave the domain there have zero coefficients, and meet values at other points.
template <class T> class ApplyOnHost {
public:
  ApplyOnHost(const CapturedRow<T> &row, const Field<T> &field, Form form, const T *b, const Box &box, T *y)
      : row_(row), patch_(row.patch), a_(row.a), u_(field), b_(b), y_(y), form_(form), box_(box),
        past_(patch_.dof == 1 && beyond_cache((size_t)box.points() * sizeof(T))), coefficient_(a_.count),
        from_(a_.count), slots_(a_.count), separate_rows_(row, field), sums_((size_t)(patch_.dof * chunk)) {
    lo_ = PetscMax(box.lo[0], a_.reach[0]);
    hi_ = PetscMin(box.hi[0], patch_.size[0] - a_.reach[0]);
    if (a_.storage == Storage::constant) { // whole runs are of one class
      lo_ = PetscMax(lo_, a_.depth[0] - patch_.start[0]);
      hi_ = PetscMin(hi_, patch_.N[0] - a_.depth[0] - patch_.start[0]);
    }
    if (lo_ >= hi_) lo_ = hi_ = box.hi[0];
  }

  void apply() {
    const bool apart = patch_.dof > 1, alone = !shares(2);
    for (PetscInt k = box_.lo[2]; k < box_.hi[2]; k++)
      for (PetscInt j = box_.lo[1], lines; j < box_.hi[1]; j += lines) {
        const bool     whole = a_.storage != Storage::constant && !past_ && (apart || has_values_around(j, k));
        const PetscInt begin = whole ? box_.lo[0] : lo_, end = whole ? box_.hi[0] : hi_, nx = patch_.size[0];
        lines = 1;
        if (whole && inner(1, j) && (!apart || ((inner(2, k) || alone) && has_values_around(j, k))))
          while (lines * nx + end - begin <= chunk && j + lines < box_.hi[1] && inner(1, j + lines) &&
                 has_values_around(j + lines, k))
            lines++;
        points_at_end(box_.lo[0], begin, j, k);
        for (PetscInt from = begin, points; from < end; from += points) {
          const PetscInt p[3] = {from, j, k};
          const size_t   at = patch_.index(from, j, k);
          points = lines > 1 ? (lines - 1) * nx + end - begin
                             : PetscMin(past_ ? ends_with_line(y_ + at, chunk) : chunk, end - from);
          // b may be y, and points between lines may be others'
          const bool direct = patch_.dof == 1 && !past_ && form_ == Form::product && (lines == 1 || end - begin == nx);
          T *const   sums = direct ? y_ + at : sums_.data();
          add(p, at, points, lines > 1, sums);
          if (lines == 1)
            write(p, points, sums);
          else
            for (PetscInt line = 0; line < lines; line++) {
              const PetscInt q[3] = {begin, j + line, k};
              write(q, end - begin, sums + line * nx);
            }
        }
        points_at_end(end, box_.hi[0], j, k);
      }
    if (past_) stream_fence();
  }

private:
  static constexpr PetscInt chunk = SeparateRows<T>::chunk; // points whose sums stay in the first cache

  bool shares(int axis) const { return patch_.neighbour[axis][LOWER] || patch_.neighbour[axis][UPPER]; }
  bool inner(int axis, PetscInt i) const { return i >= a_.reach[axis] && i < patch_.size[axis] - a_.reach[axis]; }
  // Whether there are values of u before the line's first point, and behind its last one, wherever its arms lead.
  bool has_values_around(PetscInt j, PetscInt k) const {
    return (j > a_.reach[1] || k > a_.reach[2]) &&
           (j < patch_.size[1] - 1 - a_.reach[1] || k < patch_.size[2] - 1 - a_.reach[2]);
  }
  void points_at_end(PetscInt from, PetscInt to, PetscInt j, PetscInt k) {
    for (PetscInt i = from; i < to; i++) {
      const PetscInt p[3] = {i, j, k};
      const size_t   at = patch_.index(i, j, k) * patch_.dof;
      for (PetscInt r = 0; r < patch_.dof; r++) y_[at + r] = combine(form_, b_, at + r, at_point(p, r));
    }
  }

  T at_point(const PetscInt p[3], PetscInt r) const {
    const size_t at = patch_.index(p[0], p[1], p[2]);
    return row_(u_, p, r, at, a_.rows(patch_, p, at));
  }

  // Sums of the rows of points that are next to each other in memory, from p on. The lines that an arm leads to are in the
  // domain for all of them, or for none.
  void add(const PetscInt p[3], size_t at, PetscInt points, bool past_ends, T *sums) {
    const PetscInt dof = patch_.dof;
    const T       *rows = a_.rows(patch_, p, at);
    if (dof > 1) separate_rows_.begin(p, points, past_ends);
    for (PetscInt r = 0; r < dof; r++) {
      T  *sum = sums + r * chunk;
      int n = 0;
      for (int s = a_.first[r]; s < a_.first[r + 1]; s++) {
        const Slot    &slot = a_.slot[s];
        const PetscInt y_at = p[1] + slot.step[1], z_at = p[2] + slot.step[2];
        const T       *from = nullptr; // beyond the domain
        if (dof > 1)
          from = separate_rows_.at(slot);
        else if (y_at >= 0 && y_at < patch_.size[1] && z_at >= 0 && z_at < patch_.size[2])
          from = u_.u + at + a_.offset[s];
        if (!from) continue;
        slots_[n] = s;
        from_[n] = from;
        coefficient_[n] = a_.storage == Storage::arrays ? a_.array[s] + at : rows + s;
        n++;
      }
      if (a_.storage == Storage::arrays) {
        if (past_)
          for (int s = 0; s < n; s++) prefetch(coefficient_[s], points);
        add_all_slots<false>(n, coefficient_.data(), from_.data(), points, false, sum);
      } else if (a_.storage == Storage::constant) {
        if (past_ && n > 0) prefetch(from_[n - 1], points);
        add_all_slots<true>(n, coefficient_.data(), from_.data(), points, false, sum);
      } else
        add_classes(n, rows, at, points, sum);
    }
  }
  void add_classes(int n, const T *rows, size_t at, PetscInt points, T *sum) {
    const auto class_at = [&](PetscInt i) { return a_.index8 ? a_.index8[at + i] : a_.index16[at + i]; };
    PetscInt   run = 1;
    while (run < points && class_at(run) == class_at(0)) run++;
    if (run == points) { // of one class
      for (int s = 0; s < n; s++) coefficient_[s] = rows + slots_[s];
      add_all_slots<true>(n, coefficient_.data(), from_.data(), points, false, sum);
      return;
    }
    for (int s = 0; s < n; s += 5) {
      const int some = PetscMin(5, n - s);
      for (PetscInt i = 0; i < points; i++) {
        const T *of_class = a_.of_class(class_at(i));
        for (int g = 0; g < some; g++) gathered_[g][i] = of_class[slots_[s + g]];
      }
      const T *const from_gathered[5] = {gathered_[0], gathered_[1], gathered_[2], gathered_[3], gathered_[4]};
      add_all_slots<false>(some, from_gathered, from_.data() + s, points, s > 0, sum);
    }
    if (!n) std::fill_n(sum, points, T(0));
  }

  // Writes the results of points of a line.
  void write(const PetscInt p[3], PetscInt points, T *sums) {
    const PetscInt dof = patch_.dof;
    const size_t   at = patch_.index(p[0], p[1], p[2]);
    const bool     misses = dof > 1 && shares(0);         // what its ends' arms meet in the halo
    const auto repair = [&](PetscInt from, PetscInt to) { // also where a zero coefficient has met what is not finite
      for (PetscInt i = PetscMax(from, p[0]); i < PetscMin(to, p[0] + points); i++)
        for (PetscInt r = 0; r < dof; r++) {
          T             &sum = sums[r * chunk + i - p[0]];
          const PetscInt q[3] = {i, p[1], p[2]};
          if (misses || PetscIsInfOrNanScalar(sum)) sum = at_point(q, r);
        }
    };
    repair(p[0], lo_);
    repair(hi_, p[0] + points);
    if (dof > 1)
      with_unknowns<most_separate>(dof, [&](auto unknowns) {
        join<unknowns.value>((int)dof, form_, b_ ? b_ + at * dof : nullptr, sums, chunk, points, y_ + at * dof);
      });
    else {
      if (form_ != Form::product)
        for (PetscInt i = 0; i < points; i++) sums[i] = combine(form_, b_ + at, i, sums[i]);
      if (past_)
        stream_copy(y_ + at, sums, points);
      else if (sums != y_ + at)
        std::copy(sums, sums + points, y_ + at);
    }
  }

  const CapturedRow<T>          &row_;
  const Patch                   &patch_;
  const CapturedCoefficients<T> &a_;
  const Field<T>                &u_;
  const T                       *b_;
  T                             *y_; // may be b
  Form                           form_;
  Box                            box_;
  bool                           past_;    // results go past the caches
  PetscInt                       lo_, hi_; // no arm leaves the patch between them, along the first axis
  std::vector<const T *>         coefficient_, from_;
  std::vector<int>               slots_;
  SeparateRows<T>                separate_rows_;
  std::vector<T>                 sums_; // [dof][chunk]
  T                              gathered_[5][chunk];
};
template <class T>
void apply_captured_on_host(const CapturedRow<T> &row, const Field<T> &field, Form form, const T *b, const Box &box,
                            T *y) {
  ApplyOnHost<T>(row, field, form, b, box, y).apply();
}

} // namespace shellac
