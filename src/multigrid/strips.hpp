#pragma once
// The fused pass on the host. A strip of columns is walked row by row: step s works s rows behind the row that is being
// read, so that only the last rows of each step are held, in the first cache. Strips overlap by the columns that the
// steps use up.

#include "device/stream.hpp"
#include "multigrid/pass.hpp"

// Before a loop over the columns of a row, which do not depend on each other.
#if defined(__GNUC__) && !defined(__clang__)
#define SHELLAC_COLUMNS _Pragma("GCC ivdep")
#else
#define SHELLAC_COLUMNS
#endif
#define SHELLAC_INLINE inline __attribute__((always_inline))

namespace shellac {

constexpr int strip_columns = 264;

template <class T, int columns = strip_columns> struct StripRow {
  static constexpr int    pad = 8;
  T                       all[pad + columns + pad];
  SHELLAC_INLINE T       &operator[](int l) { return all[pad + l]; }
  SHELLAC_INLINE const T &operator[](int l) const { return all[pad + l]; }
};

// The last rows of a step, the newest first.
template <class Row, int count> struct StripRows {
  Row                       rows[count] = {};
  int                       newest = 0;
  SHELLAC_INLINE Row       &advance() { return rows[newest = newest + 1 == count ? 0 : newest + 1]; }
  SHELLAC_INLINE const Row &operator[](int age) const {
    return rows[newest < age ? newest + count - age : newest - age];
  }
};

// Values of the row j from column i on, as the level sees them: zero beyond the domain.
template <class Row, class S>
SHELLAC_INLINE void load(const Patch &patch, const Field<S> &field, PetscInt i, PetscInt j, int width, Row &row) {
  using V = typename std::decay<decltype(row[0])>::type;
  const bool in_patch = j >= 0 && j < patch.size[1];
  const int  lo = in_patch ? (int)PetscMin(PetscMax(0, -i), (PetscInt)width) : width,
            hi = in_patch ? (int)PetscMax(PetscMin(patch.size[0] - i, (PetscInt)width), (PetscInt)lo) : width;
  for (int l = 0; l < lo; l++) row[l] = (V)value_near(patch, field, i + l, j);
  for (int l = hi; l < width; l++) row[l] = (V)value_near(patch, field, i + l, j);
  if (lo == hi) return;
  const S *from = field.u + patch.index(i + lo, j, 0) - lo;
  SHELLAC_COLUMNS
  for (int l = lo; l < hi; l++) row[l] = (V)from[l];
}

// The strip from column i0 on; results are written in the columns [i_lo, i_hi).
template <class Kind, class T, class B, class Out>
SHELLAC_INLINE void walk(const Pass<T, B, Out> &pass, PetscInt i0, PetscInt i_lo, PetscInt i_hi, double *norm) {
  using R = typename RealOf<T>::type;
  constexpr int n = strip_columns, steps = Kind::steps, last = Kind::last, half = Kind::halves_x ? n / 2 : n;
  using Row = StripRow<T>;
  using Reals = StripRow<R>;
  using CoarseRow = StripRow<T, half>;
  using CoarseReals = StripRow<R, half>;
  const LevelPart<T> &level = pass.level;
  const Patch        &patch = level.patch;
  const PetscInt      rows = patch.size[1], end = rows + Kind::ghost,
                 first = Kind::halves_y ? -Kind::ghost - ((patch.start[1] - Kind::ghost - level.offset[1]) & 1)
                                        : -Kind::ghost;
  const PetscInt coarse_i0 = Kind::halves_x ? (patch.start[0] + i0 + 1 - level.offset[0]) / 2 : patch.start[0] + i0;
  const auto     column = [&](PetscInt i) -> const AxisPoint<R>     &{
    return level.axis[0][PetscMin(PetscMax(i, -axis_reach), patch.size[0] + axis_reach - 1)];
  };

  // the columns' coefficients, and the inverse diagonal of regular rows
  Reals       west, east, in, prolong0, prolong1;
  CoarseReals from_before, from_kept, from_after;
  Row         inverse;
  const auto  find_inverse = [&](const AxisPoint<R> &y, Row &inv) {
    SHELLAC_COLUMNS
    for (int l = 0; l < n; l++)
      inv[l] = in[l] * y.in == 0 ? T(0) : R(1) / (level.sigma + (west[l] + east[l] + (y.lower + y.upper)));
  };
  for (int l = 0; l < n; l++) {
    const AxisPoint<R> &x = column(i0 + l);
    west[l] = x.lower, east[l] = x.upper, in[l] = x.in;
    prolong0[l] = x.prolong[0], prolong1[l] = x.prolong[1];
  }
  for (int m = 0; m < half; m++) {
    const PetscInt i = Kind::halves_x ? i0 + 2 * m + 1 : i0 + m;
    from_kept[m] = column(i).restriction[0];
    from_before[m] = Kind::halves_x ? column(i - 1).restriction[1] : R(0);
    from_after[m] = Kind::halves_x ? column(i + 1).restriction[0] : R(0);
  }
  find_inverse(level.typical[1][0], inverse);

  StripRows<Row, 3>        u[steps + 1]; // of each step
  StripRows<Row, last + 2> b;            // the newest is of the row being read
  StripRows<Row, 2>        e;            // coarse rows, interpolated along x
  CoarseRow                coarse;       // that is read, or restricted along x
  CoarseRow                sum;          // that is being summed
  bool                     summing = false;
  double                   squares = 0;

  const auto add_e = [&](PetscInt J) { // coarse row of the whole grid
    Row &fine = e.advance();
    load(pass.coarse_e, pass.e, coarse_i0 - pass.coarse_e.start[0], J - pass.coarse_e.start[1], half, coarse);
    SHELLAC_COLUMNS
    for (int m = 0; m < half; m++) {
      if (Kind::halves_x) {
        fine[2 * m + 1] = prolong0[2 * m + 1] * coarse[m];
        fine[2 * m] = prolong0[2 * m] * coarse[m - 1] + prolong1[2 * m] * coarse[m];
      } else
        fine[m] = prolong0[m] * coarse[m];
    }
  };
  const auto residual = [&](const Row &f, const StripRows<Row, 3> &v, R lower, R upper, int l) {
    const Row &south = v[2], &center = v[1], &north = v[0];
    return residual_of(f[l], center[l], center[l - 1], center[l + 1], south[l], north[l], west[l], east[l], lower,
                       upper, level.sigma);
  };
  if (Kind::corrected && Kind::halves_y) add_e(level.below(1, first));

  for (PetscInt j = first; j < end; j++) {
    const auto is_kept = [&](PetscInt q) { return level.below(1, q + 1) == level.below(1, q); };
    load(patch, pass.b, i0, j, n, b.advance());
    if (Kind::starts) { // u_0 at row j
      Row &row = u[0].advance();
      if (Kind::given) {
        load(patch, pass.guess, i0, j, n, row);
      } else {
        SHELLAC_COLUMNS
        for (int l = 0; l < n; l++) row[l] = 0;
      }
      if (Kind::corrected) {
        R lower, upper;
        level.get_prolong(1, j, &lower, &upper);
        const bool between = Kind::halves_y && !is_kept(j);
        if (!Kind::halves_y) add_e(level.below(1, j));
        if (between) add_e(level.below(1, j) + 1);
        const Row &e_lower = e[between ? 1 : 0], &e_upper = e[0];
        if (!between) upper = 0;
        SHELLAC_COLUMNS
        for (int l = 0; l < n; l++) row[l] += lower * e_lower[l] + upper * e_upper[l];
      }
    }
    for (int s = 1; s <= steps; s++) { // u_s, s rows behind
      const int      lag = Kind::starts ? s : s - 1;
      const PetscInt q = j - lag;
      const Row     &f = b[lag];
      Row           &result = u[s].advance();
      const R        omega = level.omega[s - 1];
      const auto     step = [&](R lower, R upper, const Row &inv) {
        if (!Kind::starts && s == 1) {
          SHELLAC_COLUMNS
          for (int l = 0; l < n; l++) result[l] = omega * inv[l] * f[l];
          return;
        }
        const StripRows<Row, 3> &v = u[s - 1];
        if (Kind::given && Kind::restricts && s == 1 && norm && q >= 0 && q < rows)
          for (PetscInt i = i_lo; i < i_hi; i++) squares += squared(residual(f, v, lower, upper, (int)(i - i0)));
        const Row &center = v[1];
        SHELLAC_COLUMNS
        for (int l = 0; l < n; l++) result[l] = center[l] + omega * inv[l] * residual(f, v, lower, upper, l);
      };
      if (level.regular(1, q)) {
        step(level.typical[1][0].lower, level.typical[1][0].upper, inverse);
      } else {
        const AxisPoint<R> &y = level.axis[1][q];
        Row                 own_inverse;
        find_inverse(y, own_inverse);
        step(y.lower, y.upper, own_inverse);
      }
    }
    const PetscInt done = j - last;
    if (steps > 0 && done >= 0 && done < rows) {
      Out       *to = pass.out + patch.index(0, done, 0) + i_lo;
      const int  before = (int)(i_lo - i0), count = (int)(i_hi - i_lo);
      const Row &values = u[steps][0];
      SHELLAC_COLUMNS
      for (int l = 0; l < count; l++) to[l] = (Out)values[before + l];
    }
    if (!Kind::restricts) continue;
    // the residual, a row behind the last step; without steps, b itself
    const PetscInt q = steps > 0 ? done - 1 : j;
    if (q < -1) continue;
    Row r_of;
    if (steps > 0) {
      const AxisPoint<R> &y = level.axis[1][q];
      SHELLAC_COLUMNS
      for (int l = 0; l < n; l++) r_of[l] = residual(b[last + 1], u[steps], y.lower, y.upper, l);
    } else
      r_of = b[0];
    SHELLAC_COLUMNS
    for (int m = 0; m < half; m++)
      coarse[m] = Kind::halves_x
                      ? from_before[m] * r_of[2 * m] + from_kept[m] * r_of[2 * m + 1] + from_after[m] * r_of[2 * m + 2]
                      : from_kept[m] * r_of[m];
    const auto store_sum = [&](PetscInt J) {
      J -= pass.coarse_b.start[1];
      if (J < 0 || J >= pass.coarse_b.size[1]) return;
      T *to = pass.b_coarse + pass.coarse_b.index(0, J, 0);
      for (int m = 0; m < half; m++) {
        const PetscInt l = Kind::halves_x ? 2 * m + 1 : m, I = coarse_i0 + m - pass.coarse_b.start[0];
        if (i0 + l >= i_lo && i0 + l < i_hi && I >= 0 && I < pass.coarse_b.size[0]) to[I] = sum[m];
      }
    };
    R to_lower, to_upper;
    level.get_restriction(1, q, &to_lower, &to_upper);
    const PetscInt J = level.below(1, q);
    if (!Kind::halves_y) {
      SHELLAC_COLUMNS
      for (int m = 0; m < half; m++) sum[m] = to_lower * coarse[m];
      if (q >= 0 && q < rows) store_sum(J);
    } else if (is_kept(q)) {
      SHELLAC_COLUMNS
      for (int m = 0; m < half; m++) sum[m] = (summing ? sum[m] : T(0)) + to_lower * coarse[m];
      summing = true;
    } else {
      if (summing) {
        SHELLAC_COLUMNS
        for (int m = 0; m < half; m++) sum[m] += to_lower * coarse[m];
        if (q - 1 >= 0 && q - 1 < rows) store_sum(J);
      }
      SHELLAC_COLUMNS
      for (int m = 0; m < half; m++) sum[m] = to_upper * coarse[m];
      summing = true;
    }
  }
  if (norm) *norm = squares;
}

// Column of the strip's first value: those that are kept lie at odd places in it.
template <class Kind, class T> PetscInt strip_start(const LevelPart<T> &level, PetscInt strip) {
  const PetscInt odd = Kind::halves_x ? (level.patch.start[0] + 1 - level.offset[0]) & 1 : 0;
  return strip * (strip_columns - 2 * Kind::ghost_columns) - Kind::ghost_columns - odd;
}
template <class Kind, class T> PetscInt strip_count(const LevelPart<T> &level) {
  const PetscInt written = strip_columns - 2 * Kind::ghost_columns,
                 odd = -strip_start<Kind>(level, 0) - Kind::ghost_columns;
  return (level.patch.size[0] + odd + written - 1) / written;
}

// norm: of the strip, if it is wanted
template <class Kind, class T, class B, class Out>
SHELLAC_WIDE void walk_strip(const Pass<T, B, Out> *pass, PetscInt strip, double *norm) {
  const PetscInt i0 = strip_start<Kind>(pass->level, strip);
  walk<Kind>(*pass, i0, PetscMax(0, i0 + Kind::ghost_columns),
             PetscMin(pass->level.patch.size[0], i0 + strip_columns - Kind::ghost_columns), norm);
}

} // namespace shellac
