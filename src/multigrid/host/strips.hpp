#pragma once
// The fused pass on the host. A strip of columns is walked row by row: step s works s rows behind the row that is being
// read, so that only the last rows of each step are held, in the first cache. Strips overlap by the columns that the
// steps use up. The kind of the pass is a value here: rows are long, so a branch for each row costs nothing, and one walk
// is compiled for each precision where GPUs take a kernel for each kind.

#include "multigrid/host/strip_rows.hpp"

namespace shellac {

constexpr int most_fused_steps = 3;

// A pass whose kind is known at run time.
template <class T> struct StripPass : EitherNumbers<T> {
  SeparableLevel<T> level;
  bool              given, corrected, restricts; // see PassKind
  int               steps, last, ghost, ghost_columns;
  Field<T>          guess, e;
  T                *b_coarse;
  Patch             coarse_b, coarse_e;
};

template <class Kind, class T, class B, class Out> StripPass<T> strip_pass(const SeparablePass<T, B, Out> &pass) {
  StripPass<T> strips = {};
  strips.level = pass.level;
  strips.given = Kind::given;
  strips.corrected = Kind::corrected;
  strips.restricts = Kind::restricts;
  strips.steps = Kind::steps;
  strips.last = Kind::last;
  strips.ghost = Kind::ghost;
  strips.ghost_columns = Kind::ghost_columns;
  strips.template right<B>() = pass.b;
  strips.set_out(pass.out);
  strips.guess = pass.guess;
  strips.e = pass.e;
  strips.b_coarse = pass.b_coarse;
  strips.coarse_b = pass.coarse_b;
  strips.coarse_e = pass.coarse_e;
  return strips;
}

template <class T> class StripWalk {
  using R = typename RealOf<T>::type;

public:
  explicit StripWalk(const StripPass<T> &pass);
  PetscInt count() const { return (patch_.size[0] + odd_ + written_ - 1) / written_; } // strips of the level
  // norm: of the strip, if it is wanted
  void walk(PetscInt strip, double *norm);

private:
  static constexpr int n = strip_columns;

  template <class V>
  void load(const Patch &patch, const Field<V> &field, PetscInt i, PetscInt j, int width, T *row) const;
  void begin(PetscInt strip);
  void load_coarse(PetscInt J);
  void start(PetscInt j);
  void smooth(int s, PetscInt q, double *norm);
  void restrict_residual(PetscInt q);
  void store_sum(PetscInt J);
  void invert_diagonal(const RowOperator<T> &op, R in, StripRow<T> *inverse) const {
    strip::invert_diagonal<T>(op, in_, in, *inverse);
  }
  RowOperator<T> op(const AxisPoint<R> &y) const { return {west_, east_, y.lower, y.upper, level_.sigma}; }
  bool           is_coarse(PetscInt j) const { return level_.below(1, j + 1) == level_.below(1, j); }

  const StripPass<T>      &pass_;
  const SeparableLevel<T> &level_;
  const Patch             &patch_;
  const bool               coarsened_x_, coarsened_y_, starts_;
  const int                half_;   // coarse columns
  const PetscInt written_, odd_;    // columns that a strip writes; coarse points shall lie at odd places of a strip
  PetscInt       i0_, i_lo_, i_hi_; // the strip's first column; those that it writes
  PetscInt       coarse_i0_;

  // of the columns
  StripRow<R> west_, east_, in_, prolong_[2], from_before_, from_here_, from_after_;
  StripRow<T> inverse_; // of the diagonal in regular rows
  // of the rows under way
  StripRows<T, 3>                    u_[most_fused_steps + 1]; // of each step
  StripRows<T, most_fused_steps + 2> b_;                       // the newest is of the row being read
  StripRows<T, 2>                    e_;                       // coarse rows, interpolated along x
  StripRow<T>                        coarse_;                  // that is read, or restricted along x
  StripRow<T>                        sum_;                     // of coarse rows
  bool                               summing_ = false;
};

template <class T>
StripWalk<T>::StripWalk(const StripPass<T> &pass)
    : pass_(pass), level_(pass.level), patch_(pass.level.patch), coarsened_x_(level_.coarsens[0]),
      coarsened_y_(level_.coarsens[1]), starts_(pass.given || pass.corrected), half_(coarsened_x_ ? n / 2 : n),
      written_(n - 2 * pass.ghost_columns), odd_(coarsened_x_ ? (patch_.start[0] + 1 - level_.offset[0]) & 1 : 0) {
  b_.count = pass.last + 2;
}

// Values of the row j from column i on, as the level sees them: zero beyond the domain.
template <class T>
template <class V>
void StripWalk<T>::load(const Patch &patch, const Field<V> &field, PetscInt i, PetscInt j, int width, T *row) const {
  const bool in_patch = j >= 0 && j < patch.size[1];
  const int  lo = in_patch ? (int)PetscMin(PetscMax(0, -i), (PetscInt)width) : width,
            hi = in_patch ? (int)PetscMax(PetscMin(patch.size[0] - i, (PetscInt)width), (PetscInt)lo) : width;
  for (int l = 0; l < lo; l++) row[l] = (T)value_near(patch, field, i + l, j);
  for (int l = hi; l < width; l++) row[l] = (T)value_near(patch, field, i + l, j);
  if (lo < hi) strip::convert(field.u + patch.index(i + lo, j, 0), hi - lo, row + lo);
}

template <class T> void StripWalk<T>::begin(PetscInt strip) {
  const auto column = [&](PetscInt i) -> const AxisPoint<R> & {
    return level_.axis[0][PetscMin(PetscMax(i, -axis_reach), patch_.size[0] + axis_reach - 1)];
  };
  i0_ = strip * written_ - pass_.ghost_columns - odd_;
  i_lo_ = PetscMax(0, i0_ + pass_.ghost_columns);
  i_hi_ = PetscMin(patch_.size[0], i0_ + n - pass_.ghost_columns);
  coarse_i0_ = coarsened_x_ ? (patch_.start[0] + i0_ + 1 - level_.offset[0]) / 2 : patch_.start[0] + i0_;
  summing_ = false;
  for (int l = 0; l < n; l++) {
    const AxisPoint<R> &x = column(i0_ + l);
    west_[l] = x.lower, east_[l] = x.upper, in_[l] = x.in;
    for (int c = 0; c < 2; c++) prolong_[c][l] = x.prolong[c];
  }
  for (int m = 0; m < half_; m++) {
    const PetscInt i = coarsened_x_ ? i0_ + 2 * m + 1 : i0_ + m;
    from_here_[m] = column(i).restriction[0];
    from_before_[m] = coarsened_x_ ? column(i - 1).restriction[1] : R(0);
    from_after_[m] = coarsened_x_ ? column(i + 1).restriction[0] : R(0);
  }
  invert_diagonal(op(level_.typical[1][0]), level_.typical[1][0].in, &inverse_);
}

// The coarse row J of the whole grid.
template <class T> void StripWalk<T>::load_coarse(PetscInt J) {
  const Patch &patch = pass_.coarse_e;
  load(patch, pass_.e, coarse_i0_ - patch.start[0], J - patch.start[1], half_, coarse_);
  strip::interpolate_x<T, R>(coarse_, prolong_[0], prolong_[1], coarsened_x_, e_.advance());
}

// u_0 at row j
template <class T> void StripWalk<T>::start(PetscInt j) {
  T *row = u_[0].advance();
  if (pass_.given)
    load(patch_, pass_.guess, i0_, j, n, row);
  else
    std::fill(row, row + n, T(0));
  if (!pass_.corrected) return;
  const AxisPoint<R> &y = level_.point(1, j);
  const bool          between = coarsened_y_ && !is_coarse(j);
  if (!coarsened_y_) load_coarse(level_.below(1, j));
  if (between) load_coarse(level_.below(1, j) + 1);
  strip::add_sum<T, R>(y.prolong[0], e_[between ? 1 : 0], between ? y.prolong[1] : R(0), e_[0], row);
}

// u_s at row q, which is s rows behind, or s - 1
template <class T> void StripWalk<T>::smooth(int s, PetscInt q, double *norm) {
  const bool           regular = level_.regular(1, q);
  const AxisPoint<R>  &y = regular ? level_.typical[1][0] : level_.axis[1][q];
  const RowOperator<T> row = op(y);
  const StripRow<T>   &f = b_[starts_ ? s : s - 1];
  StripRow<T>          own_inverse;
  T                   *result = u_[s].advance();
  if (!regular) invert_diagonal(row, y.in, &own_inverse);
  const T *inverse = regular ? inverse_ : own_inverse;
  if (!starts_ && s == 1) {
    strip::smooth_zero<T>(f, inverse, level_.omega[s - 1], result);
    return;
  }
  const StripRows<T, 3> &u = u_[s - 1];
  if (norm && s == 1 && q >= 0 && q < patch_.size[1])
    *norm += strip::sum_squares<T>(row, f, u[2], u[1], u[0], (int)(i_lo_ - i0_), (int)(i_hi_ - i0_));
  strip::smooth<T>(row, f, u[2], u[1], u[0], inverse, level_.omega[s - 1], result);
}

template <class T> void StripWalk<T>::store_sum(PetscInt J) {
  const Patch &patch = pass_.coarse_b;
  J -= patch.start[1];
  if (J < 0 || J >= patch.size[1]) return;
  T *to = pass_.b_coarse + patch.index(0, J, 0);
  for (int m = 0; m < half_; m++) {
    const PetscInt i = i0_ + (coarsened_x_ ? 2 * m + 1 : m), I = coarse_i0_ + m - patch.start[0];
    if (i >= i_lo_ && i < i_hi_ && I >= 0 && I < patch.size[0]) to[I] = sum_[m];
  }
}

// The residual at row q is added to the coarse rows that it belongs to; without steps it is b itself.
template <class T> void StripWalk<T>::restrict_residual(PetscInt q) {
  const StripRows<T, 3> &u = u_[pass_.steps];
  StripRow<T>            residual;
  const T               *r = b_[0];
  if (pass_.steps > 0) {
    strip::find_residual<T>(op(level_.axis[1][q]), b_[pass_.last + 1], u[2], u[1], u[0], residual);
    r = residual;
  }
  strip::restrict_x<T, R>(r, from_before_, from_here_, from_after_, coarsened_x_, coarse_);
  const R       *to = level_.point(1, q).restriction; // the coarse rows below and above
  const PetscInt J = level_.below(1, q), rows = patch_.size[1];
  if (!coarsened_y_) {
    strip::accumulate<T, R>(to[0], coarse_, true, sum_);
    if (q >= 0 && q < rows) store_sum(J);
  } else if (is_coarse(q)) {
    strip::accumulate<T, R>(to[0], coarse_, !summing_, sum_);
    summing_ = true;
  } else {
    if (summing_) {
      strip::accumulate<T, R>(to[0], coarse_, false, sum_);
      if (q - 1 >= 0 && q - 1 < rows) store_sum(J);
    }
    strip::accumulate<T, R>(to[1], coarse_, true, sum_);
    summing_ = true;
  }
}

template <class T> void StripWalk<T>::walk(PetscInt strip, double *norm) {
  const PetscInt rows = patch_.size[1], ghost = pass_.ghost,
                 first = -ghost - (coarsened_y_ ? (patch_.start[1] - ghost - level_.offset[1]) & 1 : 0);
  constexpr bool of_scalars = std::is_same<T, PetscScalar>::value;

  begin(strip);
  if (norm) *norm = 0;
  if (pass_.corrected && coarsened_y_) load_coarse(level_.below(1, first));
  for (PetscInt j = first; j < rows + ghost; j++) {
    if (of_scalars || pass_.b.u)
      load(patch_, pass_.b, i0_, j, n, b_.advance());
    else
      load(patch_, pass_.b_of_vectors, i0_, j, n, b_.advance());
    if (starts_) start(j);
    for (int s = 1; s <= pass_.steps; s++) smooth(s, starts_ ? j - s : j - s + 1, norm);
    const PetscInt done = j - pass_.last;
    if (pass_.steps > 0 && done >= 0 && done < rows) {
      const size_t at = patch_.index(i_lo_, done, 0);
      const T     *values = u_[pass_.steps][0] + (i_lo_ - i0_);
      if (of_scalars || pass_.out)
        strip::convert(values, (int)(i_hi_ - i_lo_), pass_.out + at);
      else
        strip::convert(values, (int)(i_hi_ - i_lo_), pass_.out_of_vectors + at);
    }
    const PetscInt q = pass_.steps > 0 ? done - 1 : j; // a row behind the last step
    if (pass_.restricts && q >= -1) restrict_residual(q);
  }
}

} // namespace shellac
