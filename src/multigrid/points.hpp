#pragma once
// What one point of a level computes, in 1 to 3 dimensions: the operator, a smoothing step, the residual and the
// transfers. Pure functors, for host and device. The host takes them where neither strips.hpp nor planes.hpp has a
// pass: the tests compare those with these.

#include <type_traits>

#include "grid/patch.hpp"
#include "multigrid/axis.hpp"
#include "multigrid/couplings.hpp"

namespace shellac {

template <class T> struct RealOf { using type = T; };
template <template <class> class Complex, class R> struct RealOf<Complex<R>> { using type = R; };
// The scalar of single precision.
template <class T> struct SingleOf { using type = float; };
template <template <class> class Complex, class R> struct SingleOf<Complex<R>> { using type = Complex<float>; };

template <class T> SHELLAC_HD double squared(T value) {
  if constexpr (std::is_floating_point<T>::value)
    return (double)value * (double)value;
  else
    return (double)value.real() * (double)value.real() + (double)value.imag() * (double)value.imag();
}

constexpr int max_smoothing_steps = 8;

// Weights of the steps: the inverse roots of the Chebyshev polynomial that is least on [low, high], eigenvalues of D^-1 A.
template <class R> void set_chebyshev_weights(PetscReal low, PetscReal high, int steps, R *omega) {
  for (int s = 0; s < steps; s++)
    omega[s] = (R)(1 / ((high + low) / 2 + (high - low) / 2 * PetscCosReal(PETSC_PI * (2 * s + 1) / (2 * steps))));
}

// Those of red-black half-steps in three dimensions, on the way down; symmetric: on the way up they come in the opposite
// order, as the colours do. By trials with all forms of ends, spacings and strengths of the axes; over-relaxation gains
// as much there as another step (I. Yavneh, On red-black SOR smoothing in multigrid, 1996).
template <class R> void set_red_black_weights(bool symmetric, int half_steps, R *omega) {
  const bool one = half_steps == 2;
  for (int s = 0; s < half_steps; s++) omega[s] = R(!symmetric ? (one ? 1.2 : 1.25) : one ? 1 : s % 2 ? 1.3 : 1.4);
  if (symmetric && !one) omega[0] = 1, omega[half_steps - 1] = R(0.8);
}

// One rank's part of a level.
template <class T> struct LevelPart {
  using R = typename RealOf<T>::type;
  Patch               patch;
  const AxisPoint<R> *axis[3]; // at the patch's first point
  T                   sigma;
  R                   omega[max_smoothing_steps]; // weights of the smoothing steps
  int                 steps;
  bool                red_black;    // each step changes one colour: points with an even sum of indices, or an odd one
  int                 first_colour; // 0: even; of the first step
  bool                coarsens[3];  // see Coarsening
  PetscInt            offset[3];
  bool                ties_ends[3];
  // Points of this rank from regular_lo to before regular_hi are like typical[parity], by the parity of their index on
  // the whole grid: most of a uniform grid, and none of a stretched one.
  PetscInt     regular_lo[3], regular_hi[3];
  AxisPoint<R> typical[3][2];
  bool         uniform;  // in two dimensions: all points are like these, with u = 0 beyond them; see is_alike()
  int          frame[2]; // uniform: so many points at both ends of each axis are fixed instead
  bool         alike[3]; // all of the axis' points have the rows of typical[0], and none is fixed
  // Coefficients that are no sum over the axes: see Couplings; null elsewhere.
  const T   *rows;        // [slots][points of grown]
  const T   *weights;     // of interpolation, see interpolate()
  const T   *restriction; // likewise; the same array, but where rows are not symmetric with any masses
  const T   *mass;        // null where it is one
  Box        grown;
  Neighbours neighbours;
  // For passes on a GPU, explained in gpu/variable_plan.hpp; null on levels that have none.
  const T    *weights_along_x;
  const char *has_shift;

  SHELLAC_HD bool regular(int a, PetscInt i) const { return i >= regular_lo[a] && i < regular_hi[a]; }
  SHELLAC_HD void get_prolong(int a, PetscInt i, R *lower, R *upper) const {
    if (regular(a, i)) {
      const bool odd = (patch.start[a] + i) & 1;
      *lower = odd ? typical[a][1].prolong[0] : typical[a][0].prolong[0];
      *upper = odd ? typical[a][1].prolong[1] : typical[a][0].prolong[1];
    } else
      *lower = axis[a][i].prolong[0], *upper = axis[a][i].prolong[1];
  }
  SHELLAC_HD void get_restriction(int a, PetscInt i, R *lower, R *upper) const {
    if (regular(a, i)) {
      const bool odd = (patch.start[a] + i) & 1;
      *lower = odd ? typical[a][1].restriction[0] : typical[a][0].restriction[0];
      *upper = odd ? typical[a][1].restriction[1] : typical[a][0].restriction[1];
    } else
      *lower = axis[a][i].restriction[0], *upper = axis[a][i].restriction[1];
  }

  SHELLAC_HD PetscInt below(int a, PetscInt i) const { // coarse index of the fine point i of this rank, on whole grids
    const PetscInt g = patch.start[a] + i - offset[a];
    return coarsens[a] ? (g - (g & 1)) / 2 : g;
  }
  // Whether it lies between two coarse points.
  SHELLAC_HD bool between(int a, PetscInt i) const { return coarsens[a] && ((patch.start[a] + i - offset[a]) & 1); }
  // below() of a point that may be beyond this rank's, going on around a periodic axis.
  SHELLAC_HD PetscInt periodic_below(int a, PetscInt i, PetscInt coarse_N) const {
    const PetscInt g = patch.start[a] + i, N = patch.N[a];
    if (!patch.periodic[a] || (g >= 0 && g < N)) return below(a, i);
    return g < 0 ? below(a, i + N) - coarse_N : below(a, i - N) + coarse_N;
  }
  // The fine point of this rank that is the coarse point J of the whole grid.
  SHELLAC_HD PetscInt coarse_point(int a, PetscInt J) const {
    return (coarsens[a] ? 2 * J + offset[a] : J) - patch.start[a];
  }
  // The weight, among those of a transfer, of the corner c of the coarse points around p.
  SHELLAC_HD T weight(const T *of, const PetscInt p[3], const PetscInt c[3]) const {
    const PetscInt corner = c[0] + (coarsens[0] ? 2 : 1) * (c[1] + (coarsens[1] ? 2 : 1) * c[2]);
    return of[(size_t)corner * (size_t)grown.points() + grown.index(p)];
  }
  // Whether a step changes points like p.
  SHELLAC_HD bool changes(int step, const PetscInt p[3]) const {
    if (!red_black) return true;
    PetscInt sum = first_colour + step;
    for (int a = 0; a < 3; a++) sum += patch.start[a] + p[a];
    return sum % 2 == 0;
  }
  // The scale of a step; zero where there is nothing to correct.
  SHELLAC_HD T scale(int step, const PetscInt p[3]) const {
    if (rows) return omega[step] * rows[INVERSE_DIAGONAL * (size_t)grown.points() + grown.index(p)];
    const R inside = axis[0][p[0]].in * axis[1][p[1]].in * axis[2][p[2]].in;
    return inside == 0 || !changes(step, p) ? T(0) : omega[step] / diagonal(p);
  }
  SHELLAC_HD T diagonal(const PetscInt p[3]) const {
    T sum = sigma;
    for (int a = 0; a < 3; a++) sum += axis[a][p[a]].lower + axis[a][p[a]].upper;
    return sum;
  }
};

template <class T> bool coarsens_all(const LevelPart<T> &level) {
  return level.coarsens[0] && level.coarsens[1] && level.coarsens[2];
}

// The longest run of points around the middle of an axis that are alike, kept ones and others.
template <class T, class Point>
void find_typical(int a, const std::vector<Point> &all, PetscInt start, LevelPart<T> *part) {
  const PetscInt N = (PetscInt)all.size() - 2 * axis_reach, middle = N / 2;
  const auto alike = [&](PetscInt i) { return !memcmp(&all[axis_reach + i], &part->typical[a][i & 1], sizeof(Point)); };
  PetscInt   lo = middle, hi = middle;
  if (N >= 8) {
    const Point &one = all[axis_reach + middle], &next = all[axis_reach + middle + 1];
    part->typical[a][middle & 1] = one;
    part->typical[a][(middle + 1) & 1] = next;
    if (one.lower == next.lower && one.upper == next.upper && one.in == next.in) { // kept or not, with equal rows
      while (lo > 0 && alike(lo - 1)) lo--;
      while (hi < N && alike(hi)) hi++;
    }
  }
  part->alike[a] = N >= 8;
  for (PetscInt i = 0; i < N && part->alike[a]; i++) {
    const Point &one = all[axis_reach + i], &typical = part->typical[a][0];
    part->alike[a] = one.lower == typical.lower && one.upper == typical.upper && one.in != 0;
  }
  part->regular_lo[a] = lo - start;
  part->regular_hi[a] = hi - start;
}

// Whether all points of a whole axis, which is coarsened, are like typical ones, but for `frame` fixed ones at both ends
// and for transfers to and from there or beyond.
template <class T, class Point>
bool is_alike(int a, int frame, const std::vector<Point> &all, const LevelPart<T> &part) {
  const PetscInt N = (PetscInt)all.size() - 2 * axis_reach;
  bool           alike = part.coarsens[a] && !part.patch.periodic[a] && part.regular_hi[a] > part.regular_lo[a];
  for (PetscInt i = frame; i < N - frame && alike; i++) {
    const Point &is = all[axis_reach + i], &should = part.typical[a][i & 1];
    alike = is.lower == should.lower && is.upper == should.upper && is.in == 1 && should.in == 1;
    for (int c = 0; c < 2; c++)
      alike = alike && (is.prolong[c] == should.prolong[c] || is.prolong[c] == 0) &&
              (is.restriction[c] == should.restriction[c] || is.restriction[c] == 0);
  }
  return alike;
}

// Rare, and long: kept out of the loops that call it.
#if SHELLAC_CUDA
#define SHELLAC_RARE __host__ __device__ __noinline__
#else
#define SHELLAC_RARE __attribute__((noinline))
#endif

// The value at p, which is beyond the patch, in its halo or on the other side; zero beyond the domain.
template <class T>
SHELLAC_RARE T value_beyond(const Patch &patch, const Field<T> &field, PetscInt i, PetscInt j, PetscInt k) {
  PetscInt p[3] = {i, j, k}, q[3];
  bool     inside = true;
  for (int a = 0; a < 3; a++) {
    q[a] = p[a];
    if (q[a] >= 0 && q[a] < patch.size[a]) continue;
    if (q[a] < -patch.width || q[a] >= patch.size[a] + patch.width) return 0;
    if (patch.periodic[a] && patch.size[a] == patch.N[a])
      q[a] = (q[a] % patch.N[a] + patch.N[a]) % patch.N[a];
    else
      inside = false;
  }
  return inside ? field.u[patch.index(q[0], q[1], q[2])] : field.value(patch, q, 0);
}

// The value at p, which may be beyond the patch by the width of its halo.
template <class T> SHELLAC_HD T value_at(const Patch &patch, const Field<T> &field, const PetscInt p[3]) {
  bool inside = true;
  for (int a = 0; a < 3; a++) inside = inside && p[a] >= 0 && p[a] < patch.size[a];
  return inside ? field.u[patch.index(p[0], p[1], p[2])] : value_beyond(patch, field, p[0], p[1], p[2]);
}

SHELLAC_HD bool is_alone(const Patch &patch) { // without neighbouring patches
  bool none = true;
  for (int a = 0; a < 3; a++) none = none && !patch.neighbour[a][LOWER] && !patch.neighbour[a][UPPER];
  return none;
}

// The index along an axis of a patch without neighbours; negative where there is no value.
SHELLAC_HD PetscInt periodic_index(const Patch &patch, int a, PetscInt p) {
  const PetscInt N = patch.size[a];
  if (p >= 0 && p < N) return p;
  if (!patch.periodic[a] || p < -patch.width || p >= N + patch.width) return -1;
  p %= N;
  return p < 0 ? p + N : p;
}

namespace point {

// (A u) at p from its row, where neighbours may be other ranks'
template <class T>
SHELLAC_RARE T row_product_beyond(const LevelPart<T> &level, const Field<T> &u, PetscInt i, PetscInt j, PetscInt k) {
  const PetscInt p[3] = {i, j, k};
  const size_t   points = (size_t)level.grown.points();
  const T       *row = level.rows + level.grown.index(p);
  const T        center = u.u[level.patch.index(i, j, k)];
  T              sum = row[SHIFT * points] * center;
  row += FIRST_COUPLING * points;
  level.neighbours.each([&](const PetscInt *d) {
    const PetscInt q[3] = {i + d[0], j + d[1], k + d[2]};
    sum += *row * (center - value_at(level.patch, u, q));
    row += points;
  });
  return sum;
}

// The same in few instructions where all neighbours are on the patch
template <class T> SHELLAC_HD T row_product(const LevelPart<T> &level, const Field<T> &u, const PetscInt p[3]) {
  const Patch &patch = level.patch;
  PetscInt64   step[3][3]; // down, none and up each axis; none where that leaves the domain: its coupling is zero
  bool         far = false;
  SHELLAC_UNROLL_ALL
  for (int a = 0; a < 3; a++) {
    const PetscInt   N = patch.size[a];
    const PetscInt64 stride = (PetscInt64)patch.stride(a);
    const bool       periodic = patch.periodic[a] && N == patch.N[a];
    const bool       first = p[a] == 0, last = p[a] == N - 1;
    step[a][0] = !first ? -stride : periodic ? (N - 1) * stride : 0;
    step[a][1] = 0;
    step[a][2] = !last ? stride : periodic ? (1 - N) * stride : 0;
    far = far || (first && patch.neighbour[a][LOWER]) || (last && patch.neighbour[a][UPPER]);
  }
  if (far) return row_product_beyond(level, u, p[0], p[1], p[2]);
  const bool  *present = level.neighbours.present;
  const T     *here = u.u + patch.index(p[0], p[1], p[2]);
  const size_t points = (size_t)level.grown.points();
  const T     *row = level.rows + level.grown.index(p);
  const T      center = *here;
  T            sum = row[SHIFT * points] * center;
  row += FIRST_COUPLING * points;
  if (level.neighbours.star) { // in the order of Neighbours::each()
    SHELLAC_UNROLL_ALL
    for (int a = 0; a < 3; a++) {
      if (!present[a]) continue;
      sum += row[0] * (center - here[step[a][0]]) + row[points] * (center - here[step[a][2]]);
      row += 2 * points;
    }
    return sum;
  }
  SHELLAC_UNROLL_ALL
  for (int z = 0; z < 3; z++) {
    if (z != 1 && !present[2]) continue;
    SHELLAC_UNROLL_ALL
    for (int y = 0; y < 3; y++) {
      if (y != 1 && !present[1]) continue;
      SHELLAC_UNROLL_ALL
      for (int x = 0; x < 3; x++) {
        if ((x != 1 && !present[0]) || (x == 1 && y == 1 && z == 1)) continue;
        sum += *row * (center - here[step[0][x] + step[1][y] + step[2][z]]);
        row += points;
      }
    }
  }
  return sum;
}

// (A u) at p
template <class T> SHELLAC_HD T product(const LevelPart<T> &level, const Field<T> &u, const PetscInt p[3]) {
  if (level.rows) return row_product(level, u, p);
  const Patch &patch = level.patch;
  const T      center = u.u[patch.index(p[0], p[1], p[2])];
  T            sum = level.sigma * center;
  for (int a = 0; a < 3; a++) {
    if (patch.N[a] == 1) continue; // its edges are in sigma
    PetscInt lower[3] = {p[0], p[1], p[2]}, upper[3] = {p[0], p[1], p[2]};
    lower[a]--;
    upper[a]++;
    sum += level.axis[a][p[a]].lower * (center - value_at(patch, u, lower)) +
           level.axis[a][p[a]].upper * (center - value_at(patch, u, upper));
  }
  return sum;
}

// A step of weighted Jacobi; from zero where the guess is null.
template <class T, class B, class Out> struct Smooth {
  using R = typename RealOf<T>::type;
  LevelPart<T> level;
  int          step;
  Field<T>     u;
  const B     *b;
  Out         *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = level.patch.index(i, j, k);
    const T        scale = level.scale(step, p), f = (T)b[at];
    out[at] = u.u ? u.u[at] + scale * (f - product(level, u, p)) : scale * f;
  }
};

template <class T, class B> struct Residual {
  LevelPart<T> level;
  Field<T>     u;
  const B     *b;
  T           *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = level.patch.index(i, j, k);
    out[at] = (T)b[at] - (u.u ? product(level, u, p) : T(0));
  }
};

// The coarse right-hand side: called on the points of the coarse patch.
template <class T> struct Restrict {
  LevelPart<T> level; // the fine one
  Patch        coarse;
  Field<T>     r;
  T           *out;

  SHELLAC_HD void operator()(PetscInt I, PetscInt J, PetscInt K) const {
    const PetscInt c[3] = {I, J, K};
    PetscInt       center[3], lo[3], hi[3], p[3];
    T              sum = 0;
    for (int a = 0; a < 3; a++) {
      center[a] = level.coarse_point(a, coarse.start[a] + c[a]);
      lo[a] = level.coarsens[a] ? center[a] - 1 : center[a];
      if (level.ties_ends[a] && coarse.start[a] + c[a] == 0)
        lo[a]--; // the last point, tied to the first, and the one before it
      hi[a] = level.coarsens[a] ? center[a] + 1 : center[a];
    }
    if (level.rows) {
      out[coarse.index(I, J, K)] = by_rows(c, center, lo, hi);
      return;
    }
    const auto weight = [&](int a) { // the point before the centre gives to the coarse point above it
      return level.axis[a][p[a]].restriction[p[a] < center[a] ? 1 : 0];
    };
    for (p[2] = lo[2]; p[2] <= hi[2]; p[2]++)
      for (p[1] = lo[1]; p[1] <= hi[1]; p[1]++) {
        const auto row = weight(1) * weight(2);
        for (p[0] = lo[0]; p[0] <= hi[0]; p[0]++) {
          const auto w = weight(0) * row;
          if (w != 0) sum += w * value_at(level.patch, r, p);
        }
      }
    out[coarse.index(I, J, K)] = sum;
  }
  // The transpose of interpolation, of the fine points from lo to hi.
  SHELLAC_HD T by_rows(const PetscInt I[3], const PetscInt center[3], const PetscInt lo[3],
                       const PetscInt hi[3]) const {
    const Patch &patch = level.patch;
    bool         inside = true;
    for (int a = 0; a < 3; a++) inside = inside && lo[a] >= 0 && hi[a] < patch.size[a] && hi[a] - lo[a] < 3;
    if (!inside) return by_rows_beyond(I[0], I[1], I[2], lo[0], lo[1], lo[2], hi[0], hi[1], hi[2]);
    const size_t     points = (size_t)level.grown.points(), at = level.grown.index(center);
    const PetscInt64 row = level.grown.size(0), layer = row * level.grown.size(1);
    const PetscInt64 line = (PetscInt64)patch.stride(1), plane = (PetscInt64)patch.stride(2);
    const T         *here = r.u + patch.index(center[0], center[1], center[2]);
    const bool      *coarsens = level.coarsens;
    const size_t     corner[3] = {points, points * (coarsens[0] ? 2 : 1),
                                  points * (coarsens[0] ? 2 : 1) * (coarsens[1] ? 2 : 1)};
    T                sum = 0;
    SHELLAC_UNROLL_ALL
    for (int z = -1; z <= 1; z++) {
      if (z && !coarsens[2]) continue;
      SHELLAC_UNROLL_ALL
      for (int y = -1; y <= 1; y++) {
        if (y && !coarsens[1]) continue;
        SHELLAC_UNROLL_ALL
        for (int x = -1; x <= 1; x++) {
          if (x && !coarsens[0]) continue;
          const size_t there = at + (x + y * row + z * layer);
          T w = level.restriction[there + (x < 0 ? corner[0] : 0) + (y < 0 ? corner[1] : 0) + (z < 0 ? corner[2] : 0)];
          if (level.mass) w *= level.mass[there];
          sum += w * here[x + y * line + z * plane];
        }
      }
    }
    return sum;
  }
  // The same where some are beyond the patch, or around an axis.
  SHELLAC_RARE T by_rows_beyond(PetscInt I0, PetscInt I1, PetscInt I2, PetscInt lo0, PetscInt lo1, PetscInt lo2,
                                PetscInt hi0, PetscInt hi1, PetscInt hi2) const {
    const PetscInt I[3] = {I0, I1, I2};
    PetscInt       p[3] = {lo0, lo1, lo2}, c[3];
    T              sum = 0;
    const auto     is_near = [&](int a) {
      c[a] = coarse.start[a] + I[a] - level.periodic_below(a, p[a], coarse.N[a]);
      return c[a] == 0 || (c[a] == 1 && level.coarsens[a]);
    };
    for (p[2] = lo2; p[2] <= hi2; p[2]++)
      for (p[1] = lo1; is_near(2) && p[1] <= hi1; p[1]++)
        for (p[0] = lo0; is_near(1) && p[0] <= hi0; p[0]++) {
          if (!is_near(0)) continue;
          T w = level.weight(level.restriction, p, c);
          if (w != T(0) && level.mass) w *= level.mass[level.grown.index(p)];
          if (w != T(0)) sum += w * value_at(level.patch, r, p);
        }
    return sum;
  }
};

// u plus what the coarse grid adds at p
template <class T>
SHELLAC_HD T correction(const LevelPart<T> &level, const Patch &coarse, const Field<T> &e, const PetscInt p[3]) {
  PetscInt J[3], c[3];
  T        sum = 0;
  for (int a = 0; a < 3; a++) J[a] = level.below(a, p[a]) - coarse.start[a];
  if (level.rows) {
    PetscInt last[3];
    bool     inside = true;
    for (int a = 0; a < 3; a++) {
      last[a] = level.between(a, p[a]) ? 1 : 0;
      inside = inside && J[a] >= 0 && J[a] + last[a] < coarse.size[a];
    }
    if (inside) {
      const size_t points = (size_t)level.grown.points(), at = level.grown.index(p);
      const T     *weight = level.weights + at, *values = e.u + coarse.index(J[0], J[1], J[2]);
      const size_t line = coarse.stride(1), plane = coarse.stride(2);
      for (int z = 0; z <= (level.coarsens[2] ? 1 : 0); z++)
        for (int y = 0; y <= (level.coarsens[1] ? 1 : 0); y++)
          for (int x = 0; x <= (level.coarsens[0] ? 1 : 0); x++, weight += points)
            if (x <= last[0] && y <= last[1] && z <= last[2]) sum += *weight * values[x + y * line + z * plane];
      return sum;
    }
    for (c[2] = 0; c[2] <= last[2]; c[2]++)
      for (c[1] = 0; c[1] <= last[1]; c[1]++)
        for (c[0] = 0; c[0] <= last[0]; c[0]++) {
          const PetscInt q[3] = {J[0] + c[0], J[1] + c[1], J[2] + c[2]};
          sum += level.weight(level.weights, p, c) * value_at(coarse, e, q);
        }
    return sum;
  }
  for (c[2] = 0; c[2] <= (level.coarsens[2] ? 1 : 0); c[2]++)
    for (c[1] = 0; c[1] <= (level.coarsens[1] ? 1 : 0); c[1]++)
      for (c[0] = 0; c[0] <= (level.coarsens[0] ? 1 : 0); c[0]++) {
        const PetscInt q[3] = {J[0] + c[0], J[1] + c[1], J[2] + c[2]};
        const auto     w =
            level.axis[0][p[0]].prolong[c[0]] * level.axis[1][p[1]].prolong[c[1]] * level.axis[2][p[2]].prolong[c[2]];
        if (w != 0) sum += w * value_at(coarse, e, q);
      }
  return sum;
}

template <class T> struct Correct {
  LevelPart<T> level;
  Patch        coarse;
  Field<T>     e;
  const T     *u; // null for zero
  T           *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = level.patch.index(i, j, k);
    out[at] = (u ? u[at] : T(0)) + correction(level, coarse, e, p);
  }
};

} // namespace point
} // namespace shellac
