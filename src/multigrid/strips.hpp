#pragma once
// One fused pass over a level of a grid of one or two dimensions: guess, smoothing steps, residual and restriction.
//
//   u_0 = guess + P e,  u_s = u_{s-1} + ω_s D^-1 (b - A u_{s-1}),  out = u_n,  b_coarse = R (b - A u_n)
//
// The array of every grid function is read or written once. A strip of columns is walked row by row: step s works s
// rows behind the row that is being read, so that only the last rows of each step are held, in registers (a warp, two
// columns a lane) or in the first cache (the host). Strips overlap by the columns that the steps use up.
// The same function walks both kinds of strip; per-point forms of the same formulas are in points.hpp, and tests compare
// the two.

#include <cstring>

#include "device/stream.hpp"
#include "multigrid/points.hpp"

#if defined(__CUDA_ARCH__)
#define SHELLAC_LANES _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__clang__)
#define SHELLAC_LANES _Pragma("GCC ivdep")
#else
#define SHELLAC_LANES
#endif
#if defined(__CUDA_ARCH__)
#define SHELLAC_STEPS _Pragma("unroll")
#else
#define SHELLAC_STEPS
#endif
#if SHELLAC_CUDA
#define SHELLAC_WALK __host__ __device__ __forceinline__
#else
#define SHELLAC_WALK inline __attribute__((always_inline))
#endif

namespace shellac {

// What a pass does.
template <bool given_, bool corrected_, bool restricts_, bool halves_x_, bool halves_y_, int steps_> struct PassKind {
  static constexpr bool given = given_;         // from a guess
  static constexpr bool corrected = corrected_; // to which a coarse correction is added
  static constexpr bool restricts = restricts_;
  static constexpr bool halves_x = halves_x_, halves_y = halves_y_;
  static constexpr int  steps = steps_;
  // A first step from zero takes no neighbours: its values are there at once.
  static constexpr bool starts = given || corrected;
  static constexpr int  last = starts ? steps : steps > 0 ? steps - 1 : 0; // rows between reading and the last step
  static constexpr int  ghost_rows = last + (restricts ? 2 : 0);
  // Columns that a strip loses at each side: even, so that kept columns stay in their lanes.
  static constexpr PetscInt ghost_columns = (last + (restricts ? 2 : 0) + (corrected ? 1 : 0) + 1) / 2 * 2;
};

// T: of the level's own arrays; B: of b; Out: of the result
template <class T, class B, class Out> struct Pass {
  LevelPart<T> level;
  Field<B>     b;
  Field<T>     guess, e;
  Out         *out;      // null: not wanted
  T           *b_coarse; // on the points of coarse_b
  Patch        coarse_b, coarse_e;
  double      *norms; // [strips]: sums of |b - A u_0|²; null: not wanted
};

// ---- the two kinds of strip: a row of values, and what is beside each

template <int columns_> struct HostStrip {
  static constexpr int n = columns_, columns = columns_, batch = 1;
  template <class T, int count = n> struct Row {
    static constexpr int  pad = 8;
    T                     all[pad + count + pad];
    SHELLAC_WALK T       &operator[](int l) { return all[pad + l]; }
    SHELLAC_WALK const T &operator[](int l) const { return all[pad + l]; }
  };
  template <class Row> SHELLAC_WALK auto before(const Row &row, int l) const { return row[l - 1]; }
  template <class Row> SHELLAC_WALK auto after(const Row &row, int l) const { return row[l + 1]; }
  SHELLAC_WALK PetscInt                  column(int l) const { return l; }
  // The last rows of a step, the newest first.
  template <class Row, int count> struct Window {
    Row                     rows[count] = {};
    int                     newest = 0;
    SHELLAC_WALK Row       &advance() { return rows[newest = newest + 1 == count ? 0 : newest + 1]; }
    SHELLAC_WALK const Row &operator[](int age) const {
      return rows[newest < age ? newest + count - age : newest - age];
    }
  };
};

#if SHELLAC_CUDA
template <class T> __device__ __forceinline__ T shuffled(T value, int from) {
  static_assert(sizeof(T) % 4 == 0, "values of 4 bytes or more");
  unsigned words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned &word : words) word = __shfl_sync(0xffffffffu, word, from);
  memcpy((void *)&value, words, sizeof(T));
  return value;
}

struct WarpStrip {
  static constexpr int n = 2, columns = 64, batch = 4; // columns of a lane, and of all; rows
  int                  lane;
  template <class T, int count = n> struct Row {
    T                     all[count];
    SHELLAC_WALK T       &operator[](int l) { return all[l]; }
    SHELLAC_WALK const T &operator[](int l) const { return all[l]; }
  };
  template <class T, int count> __device__ __forceinline__ T before(const Row<T, count> &row, int l) const {
    return l > 0 ? row[l - 1] : shuffled(row[count - 1], lane - 1);
  }
  template <class T, int count> __device__ __forceinline__ T after(const Row<T, count> &row, int l) const {
    return l < count - 1 ? row[l + 1] : shuffled(row[0], lane + 1);
  }
  __device__ __forceinline__ PetscInt column(int l) const { return 2 * lane + l; }
  template <class Row, int count> struct Window {
    Row               rows[count] = {};
    SHELLAC_WALK Row &advance() {
#pragma unroll
      for (int r = count - 1; r > 0; r--) rows[r] = rows[r - 1];
      return rows[0];
    }
    SHELLAC_WALK const Row &operator[](int age) const {
      return rows[age];
    }
  };
};
#endif

// ---- rows of grid functions

// Values of the row j from column i on, as the level sees them: zero beyond the domain.
template <class Strip, class Row, class S>
SHELLAC_WALK void load(const Strip &strip, const Patch &patch, const Field<S> &field, PetscInt i, PetscInt j, int width,
                       Row &row) {
  const PetscInt first = i + strip.column(0) / Strip::n * width;
  using V = typename std::decay<decltype(row[0])>::type;
  const bool in_patch = j >= 0 && j < patch.size[1];
  if (in_patch && first >= 0 && first + width <= patch.size[0]) {
    const S *from = field.u + patch.index(first, j, 0);
    SHELLAC_LANES
    for (int l = 0; l < width; l++) row[l] = (V)from[l];
    return;
  }
  const auto beyond = [&](int l) {
    const PetscInt p[3] = {first + l, j, 0};
    row[l] = (V)(is_alone(patch) ? value_around(patch, field, p) : value_at(patch, field, p));
  };
#if defined(__CUDA_ARCH__)
  for (int l = 0; l < width; l++) beyond(l);
#else
  const int lo = in_patch ? (int)PetscMin(PetscMax(0, -first), (PetscInt)width) : width,
            hi = in_patch ? (int)PetscMax(PetscMin(patch.size[0] - first, (PetscInt)width), (PetscInt)lo) : width;
  for (int l = 0; l < lo; l++) beyond(l);
  for (int l = hi; l < width; l++) beyond(l);
  if (lo == hi) return;
  const S *from = field.u + patch.index(first + lo, j, 0) - lo;
  SHELLAC_LANES
  for (int l = lo; l < hi; l++) row[l] = (V)from[l];
#endif
}

// The same of a strip and a row that lie inside the patch.
template <class Strip, class Row, class S>
SHELLAC_WALK void load_inside(const Strip &strip, const Patch &patch, const Field<S> &field, PetscInt i, PetscInt j,
                              int width, Row &row) {
  using V = typename std::decay<decltype(row[0])>::type;
  const S *from = field.u + patch.index(i + strip.column(0) / Strip::n * width, j, 0);
  SHELLAC_LANES
  for (int l = 0; l < width; l++) row[l] = (V)from[l];
}

// The values of a row to `to`, from those columns on that lie in [i_lo, i_hi).
template <class Strip, class Row, class Out>
SHELLAC_WALK void store(const Strip &strip, const Row &row, PetscInt i0, PetscInt i_lo, PetscInt i_hi, Out *to) {
  constexpr int  n = Strip::n;
  const PetscInt base = i0 + strip.column(0);
#if defined(__CUDA_ARCH__)
  SHELLAC_LANES
  for (int l = 0; l < n; l++)
    if (base + l >= i_lo && base + l < i_hi) to[base + l] = (Out)row[l];
#else
  const int lo = (int)PetscMax(i_lo - base, 0), hi = (int)PetscMin(i_hi - base, n);
  SHELLAC_LANES
  for (int l = lo; l < hi; l++) to[base + l] = (Out)row[l];
#endif
}

// b - A u on a row; by differences, whose rounding errors are those of smooth functions' second differences.
template <class Strip, class Row, class Reals, class T, class R>
SHELLAC_WALK void residual_row(const Strip &strip, const Row &f, const Row &south, const Row &center, const Row &north,
                               const Reals &west, const Reals &east, R lower, R upper, T sigma,
                               Row &__restrict__ result) {
  SHELLAC_LANES
  for (int l = 0; l < Strip::n; l++) {
    const T c = center[l];
    result[l] = (f[l] - sigma * c) +
                (west[l] * (strip.before(center, l) - c) + east[l] * (strip.after(center, l) - c)) +
                (lower * (south[l] - c) + upper * (north[l] - c));
  }
}
// u + omega D^-1 (b - A u); the inverse is zero where there is nothing to correct.
template <class Strip, class Row, class Reals, class T, class R>
SHELLAC_WALK void smooth_row(const Strip &strip, const Row &f, const Row &south, const Row &center, const Row &north,
                             const Reals &west, const Reals &east, R lower, R upper, T sigma, R omega,
                             const Row &inverse, Row &__restrict__ result) {
  SHELLAC_LANES
  for (int l = 0; l < Strip::n; l++) {
    const T c = center[l];
    result[l] = c + omega * inverse[l] *
                        ((f[l] - sigma * c) +
                         (west[l] * (strip.before(center, l) - c) + east[l] * (strip.after(center, l) - c)) +
                         (lower * (south[l] - c) + upper * (north[l] - c)));
  }
}

template <class Strip, class Kind, class T, class B, class Out>
SHELLAC_WALK void walk(const Strip &strip, const Pass<T, B, Out> &pass, PetscInt i0, PetscInt i_lo, PetscInt i_hi,
                       PetscInt j0, PetscInt j1, double *norm) {
  using R = typename RealOf<T>::type;
  constexpr int n = Strip::n, steps = Kind::steps, last = Kind::last, half = Kind::halves_x ? n / 2 : n;
  constexpr int batch = Strip::batch;
  using Row = typename Strip::template Row<T>;
  using Reals = typename Strip::template Row<R>;
  using CoarseRow = typename Strip::template Row<T, half>;
  using CoarseReals = typename Strip::template Row<R, half>;
  const LevelPart<T> &level = pass.level;
  const Patch        &patch = level.patch;
  const PetscInt      clamp_lo = -axis_reach, clamp_hi = patch.size[0] + axis_reach - 1;
  const PetscInt coarse_i0 = Kind::halves_x ? (patch.start[0] + i0 + 1 - level.offset[0]) / 2 : patch.start[0] + i0;
  const auto     column = [&](PetscInt i) -> const AxisPoint<R>     &{
    return level.axis[0][PetscMin(PetscMax(i, clamp_lo), clamp_hi)];
  };

  // the columns' coefficients, and the inverse diagonal of regular rows
  Reals       west, east, in, prolong0, prolong1;
  CoarseReals from_before, from_kept, from_after;
  Row         inverse;
  const auto  find_inverse = [&](const AxisPoint<R> &y, Row &inv) {
    SHELLAC_LANES
    for (int l = 0; l < n; l++)
      inv[l] = in[l] * y.in == 0 ? T(0) : R(1) / (level.sigma + (west[l] + east[l] + (y.lower + y.upper)));
  };
  SHELLAC_LANES
  for (int l = 0; l < n; l++) {
    const AxisPoint<R> &x = column(i0 + strip.column(l));
    west[l] = x.lower, east[l] = x.upper, in[l] = x.in;
    if (Kind::corrected) prolong0[l] = x.prolong[0], prolong1[l] = x.prolong[1];
  }
  if (Kind::restricts) {
    SHELLAC_LANES
    for (int m = 0; m < half; m++) {
      const PetscInt i = i0 + strip.column(Kind::halves_x ? 2 * m + 1 : m);
      from_kept[m] = column(i).restriction[0];
      if (Kind::halves_x) from_before[m] = column(i - 1).restriction[1], from_after[m] = column(i + 1).restriction[0];
    }
  }
  find_inverse(level.typical[1][0], inverse);

  typename Strip::template Window<Row, 3>        u[steps + 1]; // of each step
  typename Strip::template Window<Row, last + 2> b;            // the newest is of the row being read
  typename Strip::template Window<Row, 2>        e;            // coarse rows, interpolated along x
  CoarseRow                                      next_e;       // read ahead
  CoarseRow                                      sum;          // the coarse row that is being summed
  bool                                           summing = false;
  // the first row of a batch is one that is kept
  const PetscInt before_j0 = j0 - Kind::ghost_rows, end = j1 + Kind::ghost_rows,
                 first = Kind::halves_y ? before_j0 - ((patch.start[1] + before_j0 - level.offset[1]) & 1) : before_j0;
  double squares = 0;

  const auto read_e = [&](bool simple, PetscInt J) { // coarse row of the whole grid
    if (simple)
      load_inside(strip, pass.coarse_e, pass.e, coarse_i0 - pass.coarse_e.start[0], J - pass.coarse_e.start[1], half,
                  next_e);
    else
      load(strip, pass.coarse_e, pass.e, coarse_i0 - pass.coarse_e.start[0], J - pass.coarse_e.start[1], half, next_e);
  };
  const auto interpolate_e = [&]() {
    Row &fine = e.advance();
    if (!Kind::halves_x) {
      SHELLAC_LANES
      for (int l = 0; l < n; l++) fine[l] = prolong0[l] * next_e[l < half ? l : 0];
      return;
    }
    SHELLAC_LANES
    for (int m = 0; m < n / 2; m++) {
      fine[2 * m + 1] = prolong0[2 * m + 1] * next_e[m];
      fine[2 * m] = prolong0[2 * m] * strip.before(next_e, m) + prolong1[2 * m] * next_e[m];
    }
  };
  if (Kind::corrected) {
    read_e(false, level.below(1, first));
    if (Kind::halves_y) {
      interpolate_e();
      read_e(false, level.below(1, first) + 1);
    }
  }

  // Batches of regular rows between others, in strips between others, need no questions: straight code, in which the
  // steps of one row overlap with those of the next.
  const bool inside =
      i0 >= 0 && i0 + Strip::columns <= patch.size[0] &&
      (!Kind::corrected || (coarse_i0 >= pass.coarse_e.start[0] &&
                            coarse_i0 + Strip::columns / n * half <= pass.coarse_e.start[0] + pass.coarse_e.size[0]));
  const auto is_simple = [&](PetscInt j) {
    bool simple = inside && j + 2 * batch <= PetscMin(patch.size[1], end) && j - last - 1 >= level.regular_lo[1] &&
                  j + batch <= level.regular_hi[1] && j - last - 2 >= j0 && j + batch - 1 < j1;
    if (Kind::restricts)
      simple = simple && level.below(1, j - last - 2) >= pass.coarse_b.start[1] &&
               level.below(1, j + batch) < pass.coarse_b.start[1] + pass.coarse_b.size[1];
    if (Kind::corrected)
      simple = simple && level.below(1, j) >= pass.coarse_e.start[1] &&
               level.below(1, j + batch) + 2 < pass.coarse_e.start[1] + pass.coarse_e.size[1];
    return simple;
  };
  const int kept_parity = level.offset[1] & 1; // of the indices of kept rows on the whole grid
  const R   regular_lower = level.typical[1][0].lower, regular_upper = level.typical[1][0].upper;
  bool      writes[n], writes_coarse[half];
  SHELLAC_LANES
  for (int l = 0; l < n; l++) writes[l] = i0 + strip.column(l) >= i_lo && i0 + strip.column(l) < i_hi;
  SHELLAC_LANES
  for (int m = 0; m < half; m++) {
    const PetscInt I =
        coarse_i0 + (Kind::halves_x ? strip.column(2 * m + 1) / 2 : strip.column(m)) - pass.coarse_b.start[0];
    writes_coarse[m] = writes[Kind::halves_x ? 2 * m + 1 : m] && I >= 0 && I < pass.coarse_b.size[0];
  }

  // rows of a batch, read while the one before is worked on
  Row        ahead_b[batch], ahead_u[batch];
  const auto read_batch = [&](PetscInt from) {
    SHELLAC_STEPS
    for (int r = 0; r < batch; r++) {
      if (from + r >= end) break;
      load(strip, patch, pass.b, i0, from + r, n, ahead_b[r]);
      if (Kind::given) load(strip, patch, pass.guess, i0, from + r, n, ahead_u[r]);
    }
  };

  // r: the row's place in its batch
  const auto work_on = [&](auto simple_of, int r, PetscInt j, const Row &new_b, const Row &new_u) {
    constexpr bool simple = decltype(simple_of)::value;
    const auto     is_kept = [&](int lag) { // the row j - lag
      return simple ? (r + lag) % 2 == 0 : level.below(1, j - lag + 1) == level.below(1, j - lag);
    };
    b.advance() = new_b;
    if (Kind::starts) { // u_0 at row j
      Row &row = u[0].advance();
      if (Kind::given) {
        row = new_u;
      } else {
        SHELLAC_LANES
        for (int l = 0; l < n; l++) row[l] = 0;
      }
      if (Kind::corrected) {
        R lower, upper;
        if (simple && Kind::halves_y) {
          const auto &y = level.typical[1][is_kept(0) ? kept_parity : 1 - kept_parity];
          lower = y.prolong[0], upper = y.prolong[1];
        } else
          level.get_prolong(1, j, &lower, &upper);
        if (!Kind::halves_y) {
          interpolate_e();
          read_e(simple, level.below(1, j) + 1);
          SHELLAC_LANES
          for (int l = 0; l < n; l++) row[l] += lower * e[0][l];
        } else if (is_kept(0)) {
          SHELLAC_LANES
          for (int l = 0; l < n; l++) row[l] += lower * e[0][l];
        } else {
          interpolate_e();
          read_e(simple, level.below(1, j) + 2);
          SHELLAC_LANES
          for (int l = 0; l < n; l++) row[l] += lower * e[1][l] + upper * e[0][l];
        }
      }
    }
    SHELLAC_STEPS
    for (int s = 1; s <= steps; s++) { // u_s, s rows behind
      const int      lag = Kind::starts ? s : s - 1;
      const PetscInt q = j - lag;
      const Row     &f = b[lag];
      Row           &result = u[s].advance();
      const auto     step = [&](R lower, R upper, const Row &inv) {
        if (!Kind::starts && s == 1) {
          SHELLAC_LANES
          for (int l = 0; l < n; l++) result[l] = level.omega[0] * inv[l] * f[l];
          return;
        }
        if (Kind::given && Kind::restricts && s == 1 && norm && (simple || (q >= j0 && q < j1))) {
          Row residual;
          residual_row(strip, f, u[0][2], u[0][1], u[0][0], west, east, lower, upper, level.sigma, residual);
          SHELLAC_LANES
          for (int l = 0; l < n; l++) squares += writes[l] ? squared(residual[l]) : 0;
        }
        smooth_row(strip, f, u[s - 1][2], u[s - 1][1], u[s - 1][0], west, east, lower, upper, level.sigma,
                       level.omega[s - 1], inv, result);
      };
      if (simple || level.regular(1, q)) {
        step(regular_lower, regular_upper, inverse);
      } else {
        const AxisPoint<R> &y = level.axis[1][q];
        Row                 own_inverse;
        find_inverse(y, own_inverse);
        step(y.lower, y.upper, own_inverse);
      }
    }
    if (steps > 0 && (simple || (pass.out && j - last >= j0 && j - last < j1)))
      store(strip, u[steps][0], i0, i_lo, i_hi, pass.out + patch.index(0, j - last, 0));
    if (!Kind::restricts) return;
    // the residual, a row behind the last step; without steps, b itself
    const PetscInt q = steps > 0 ? j - last - 1 : j;
    if (!simple && q < j0 - 1) return;
    Row residual;
    if (steps > 0) {
      const bool regular = simple || level.regular(1, q);
      const R    lower = regular ? regular_lower : level.axis[1][q].lower,
              upper = regular ? regular_upper : level.axis[1][q].upper;
      residual_row(strip, b[last + 1], u[steps][2], u[steps][1], u[steps][0], west, east, lower, upper, level.sigma,
                   residual);
    } else
      residual = b[0];
    CoarseRow along; // restricted along x
    SHELLAC_LANES
    for (int m = 0; m < half; m++)
      along[m] = Kind::halves_x
                     ? from_before[m] * strip.before(residual, 2 * m + 1) + from_kept[m] * residual[2 * m + 1] +
                           from_after[m] * strip.after(residual, 2 * m + 1)
                     : from_kept[m] * residual[m];
    const auto store_sum = [&](PetscInt J) {
      T *to = pass.b_coarse + pass.coarse_b.index(0, J - pass.coarse_b.start[1], 0);
      SHELLAC_LANES
      for (int m = 0; m < half; m++) {
        const PetscInt I =
            coarse_i0 + (Kind::halves_x ? strip.column(2 * m + 1) / 2 : strip.column(m)) - pass.coarse_b.start[0];
        if (writes_coarse[m]) to[I] = sum[m];
      }
    };
    R              to_lower, to_upper;
    const PetscInt J = level.below(1, q);
    const bool     kept = is_kept(steps > 0 ? last + 1 : 0);
    if (simple && Kind::halves_y) {
      const auto &y = level.typical[1][kept ? kept_parity : 1 - kept_parity];
      to_lower = y.restriction[0], to_upper = y.restriction[1];
    } else
      level.get_restriction(1, q, &to_lower, &to_upper);
    if (!Kind::halves_y) {
      SHELLAC_LANES
      for (int m = 0; m < half; m++) sum[m] = to_lower * along[m];
      if (simple || (q >= j0 && q < j1)) store_sum(J);
    } else if (kept) {
      SHELLAC_LANES
      for (int m = 0; m < half; m++) sum[m] = (simple || summing ? sum[m] : T(0)) + to_lower * along[m];
      summing = true;
    } else {
      if (simple || summing) {
        SHELLAC_LANES
        for (int m = 0; m < half; m++) sum[m] += to_lower * along[m];
        if (simple || (q - 1 >= j0 && q - 1 < j1 && J >= pass.coarse_b.start[1] &&
                       J < pass.coarse_b.start[1] + pass.coarse_b.size[1]))
          store_sum(J);
      }
      SHELLAC_LANES
      for (int m = 0; m < half; m++) sum[m] = to_upper * along[m];
      summing = true;
    }
  };

  read_batch(first);
  for (PetscInt j = first; j < end; j += batch) {
    if constexpr (batch == 1) {
      work_on(std::false_type(), 0, j, ahead_b[0], ahead_u[0]);
      read_batch(j + 1);
    } else {
      Row now_b[batch], now_u[batch];
      SHELLAC_STEPS
      for (int r = 0; r < batch; r++) now_b[r] = ahead_b[r], now_u[r] = ahead_u[r];
      if (is_simple(j)) {
        SHELLAC_STEPS
        for (int r = 0; r < batch; r++) {
          load_inside(strip, patch, pass.b, i0, j + batch + r, n, ahead_b[r]);
          if (Kind::given) load_inside(strip, patch, pass.guess, i0, j + batch + r, n, ahead_u[r]);
        }
        SHELLAC_STEPS
        for (int r = 0; r < batch; r++) work_on(std::true_type(), r, j + r, now_b[r], now_u[r]);
      } else {
        read_batch(j + batch);
        SHELLAC_STEPS
        for (int r = 0; r < batch; r++)
          if (j + r < end) work_on(std::false_type(), r, j + r, now_b[r], now_u[r]);
      }
    }
  }
  if (norm) *norm = squares;
}

// ---- all strips of a pass

// Column of the strip's first value: those that are kept lie at odd places in it.
template <class Kind, class T>
SHELLAC_HD PetscInt strip_start(const LevelPart<T> &level, PetscInt strip, PetscInt columns) {
  const PetscInt odd = Kind::halves_x ? (level.patch.start[0] + 1 - level.offset[0]) & 1 : 0;
  return strip * (columns - 2 * Kind::ghost_columns) - Kind::ghost_columns - odd;
}
template <class Kind, class T> PetscInt strip_count(const LevelPart<T> &level, PetscInt columns) {
  const PetscInt written = columns - 2 * Kind::ghost_columns,
                 odd = -strip_start<Kind>(level, 0, columns) - Kind::ghost_columns;
  return (level.patch.size[0] + odd + written - 1) / written;
}

constexpr int host_columns = 264;

template <class Kind, class T, class B, class Out>
SHELLAC_WIDE void walk_on_host(const Pass<T, B, Out> *pass, PetscInt strip, double *norm) {
  const PetscInt size = pass->level.patch.size[0], i0 = strip_start<Kind>(pass->level, strip, host_columns);
  const PetscInt lo = PetscMax(0, i0 + Kind::ghost_columns),
                 hi = PetscMin(size, i0 + host_columns - Kind::ghost_columns);
  walk<HostStrip<host_columns>, Kind>(HostStrip<host_columns>(), *pass, i0, lo, hi, 0, pass->level.patch.size[1], norm);
}

#if SHELLAC_CUDA
constexpr int warps_of_block = 4;

template <class Kind, class T, class B, class Out>
__global__ __launch_bounds__(32 * warps_of_block, 3) void walk_strips(const __grid_constant__ Pass<T, B, Out> pass,
                                                                      PetscInt strips, PetscInt rows) {
  constexpr PetscInt columns = 64;
  const PetscInt64   warp = (PetscInt64)blockIdx.x * warps_of_block + threadIdx.x / 32;
  const PetscInt     strip = (PetscInt)(warp % strips), j0 = (PetscInt)(warp / strips) * rows;
  const PetscInt     i0 = strip_start<Kind>(pass.level, strip, columns);
  const PetscInt     size[2] = {pass.level.patch.size[0], pass.level.patch.size[1]};
  double             norm;
  if (j0 >= size[1]) return;
  walk<WarpStrip, Kind>(WarpStrip{(int)threadIdx.x % 32}, pass, i0, PetscMax(0, i0 + Kind::ghost_columns),
                        PetscMin(size[0], i0 + columns - Kind::ghost_columns), j0, PetscMin(j0 + rows, size[1]),
                        Kind::starts && pass.norms ? &norm : nullptr);
  if (Kind::starts && pass.norms) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) norm += __shfl_xor_sync(0xffffffffu, norm, step);
    if (threadIdx.x % 32 == 0) pass.norms[warp] = norm;
  }
}

// The sum of n numbers in their order, by one block.
static __global__ void sum_up(const double *values, PetscInt64 n, double *sum) {
  __shared__ double part[1024];
  double            mine = 0;
  for (PetscInt64 i = threadIdx.x; i < n; i += 1024) mine += values[i];
  part[threadIdx.x] = mine;
  for (int step = 512; step > 0; step /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
  }
  if (threadIdx.x == 0) *sum = part[0];
}
#endif

// Rows that a warp walks: few where the level is small, so that there are warps enough.
template <class Kind, class T> PetscInt rows_of_warp(const LevelPart<T> &level) {
  const PetscInt64 strips = strip_count<Kind>(level, 64), enough = 132 * 16;
  const PetscInt64 rows = strips * level.patch.size[1] / enough;
  return (PetscInt)PetscMin(PetscMax(rows, 8), 96);
}
template <class Kind, class T> PetscInt64 warp_count(const LevelPart<T> &level) {
  const PetscInt rows = rows_of_warp<Kind>(level);
  return (PetscInt64)strip_count<Kind>(level, 64) * ((level.patch.size[1] + rows - 1) / rows);
}

// norm: sum of |b - A u_0|² over the rank's points, in the pass' memory; null: not wanted
template <class Kind, class T, class B, class Out>
PetscErrorCode run_pass(PetscMemType memory, const Pass<T, B, Out> &pass, double *norm) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const PetscInt   rows = rows_of_warp<Kind>(pass.level);
    const PetscInt64 warps = warp_count<Kind>(pass.level);
    cudaStream_t     stream;
    PetscCall(current_stream(&stream));
    walk_strips<Kind><<<(unsigned)((warps + warps_of_block - 1) / warps_of_block), 32 * warps_of_block, 0, stream>>>(
        pass, strip_count<Kind>(pass.level, 64), rows);
    PetscCallCUDA(cudaGetLastError());
    if (norm) {
      sum_up<<<1, 1024, 0, stream>>>(pass.norms, warps, norm);
      PetscCallCUDA(cudaGetLastError());
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  const PetscInt strips = strip_count<Kind>(pass.level, host_columns);
  double         sum = 0, part = 0;
  for (PetscInt s = 0; s < strips; s++) {
    walk_on_host<Kind>(&pass, s, norm ? &part : nullptr);
    sum += part;
  }
  if (norm) *norm = sum;
  (void)memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
