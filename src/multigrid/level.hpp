#pragma once
// What functors and passes know of a level: one rank's part of it.

#include <cstring>

#include "device/scalars.hpp"
#include "grid/patch.hpp"
#include "multigrid/axis.hpp"
#include "multigrid/couplings.hpp"
#include "multigrid/smoothing_weights.hpp"
#include "multigrid/values.hpp"

namespace shellac {

// One rank's part of a level: what all levels have.
template <class T> struct LevelPart {
  using Scalar = T;
  using R = typename RealOf<T>::type;
  Patch    patch;
  R        omega[max_smoothing_steps]; // weights of the smoothing steps
  int      steps;
  bool     coarsens[3]; // see Coarsening
  PetscInt offset[3];
  bool     ties_ends[3];
  Box      counted; // points whose residuals a norm has: all, or of a window this rank's

  SHELLAC_HD bool counts(int a, PetscInt i) const { return i >= counted.lo[a] && i < counted.hi[a]; }

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
};

// A level whose operator is a sum over the axes: only they are stored, see axis.hpp.
template <class T> struct SeparableLevel : LevelPart<T> {
  using R = typename RealOf<T>::type;
  using LevelPart<T>::patch;
  using LevelPart<T>::omega;
  static constexpr bool variable = false;

  const AxisPoint<R> *axis[3]; // at the patch's first point
  T                   sigma;
  bool                red_black;    // each step changes one colour: points with an even sum of indices, or an odd one
  int                 first_colour; // 0: even; of the first step
  // Points of this rank from regular_lo to before regular_hi are like typical[parity], by the parity of their index on
  // the whole grid: most of a uniform grid, and none of a stretched one.
  PetscInt     regular_lo[3], regular_hi[3];
  AxisPoint<R> typical[3][2];
  bool         uniform;  // in two dimensions: all points are like these, with u = 0 beyond them; see is_alike()
  int          frame[2]; // uniform: so many points at both ends of each axis are fixed instead
  bool         alike[3]; // all of the axis' points have the rows of typical[0], and none is fixed

  SHELLAC_HD bool regular(int a, PetscInt i) const { return i >= regular_lo[a] && i < regular_hi[a]; }
  // The axis' data of a point, without reading them where it is regular.
  SHELLAC_HD const AxisPoint<R> &point(int a, PetscInt i) const {
    return regular(a, i) ? typical[a][(patch.start[a] + i) & 1] : axis[a][i];
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
    const R inside = axis[0][p[0]].in * axis[1][p[1]].in * axis[2][p[2]].in;
    return inside == 0 || !changes(step, p) ? T(0) : omega[step] / diagonal(p);
  }
  SHELLAC_HD T diagonal(const PetscInt p[3]) const {
    T sum = sigma;
    for (int a = 0; a < 3; a++) sum += axis[a][p[a]].lower + axis[a][p[a]].upper;
    return sum;
  }
};

// A level with coefficients at each point, see couplings.hpp.
template <class T> struct VariableLevel : LevelPart<T> {
  using LevelPart<T>::patch;
  using LevelPart<T>::omega;
  using LevelPart<T>::coarsens;
  static constexpr bool variable = true;

  const T   *rows;        // [slots][points of grown]
  const T   *weights;     // [corners][points of grown], of interpolation, see interpolate()
  const T   *restriction; // likewise; the same array, but where rows are not symmetric with any masses
  const T   *mass;        // [points of grown]; null where it is one
  Box        grown;
  Neighbours neighbours;
  int        steps_before; // of directed sweeps, on the way down
  // For passes on a GPU in 2-D, explained in gpu/variable_plan.hpp; null on levels that have none.
  const T *weights_along_x;

  SHELLAC_HD const T *row(int slot, const PetscInt p[3]) const {
    return rows + (size_t)slot * (size_t)grown.points() + grown.index(p);
  }
  // The weight, among those of a transfer, of the corner c of the coarse points around p.
  SHELLAC_HD T weight(const T *of, const PetscInt p[3], const PetscInt c[3]) const {
    const PetscInt corner = c[0] + (coarsens[0] ? 2 : 1) * (c[1] + (coarsens[1] ? 2 : 1) * c[2]);
    return of[(size_t)corner * (size_t)grown.points() + grown.index(p)];
  }
  // The scale of a step; zero where there is nothing to correct.
  SHELLAC_HD T scale(int step, const PetscInt p[3]) const { return omega[step] * *row(INVERSE_DIAGONAL, p); }
};

template <class T> bool coarsens_all(const LevelPart<T> &level) {
  return level.coarsens[0] && level.coarsens[1] && level.coarsens[2];
}

// The longest run of points around the middle of an axis that are alike, kept ones and others.
template <class T, class Point>
void find_typical(int a, const std::vector<Point> &all, PetscInt start, SeparableLevel<T> *part) {
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
bool is_alike(int a, int frame, const std::vector<Point> &all, const SeparableLevel<T> &part) {
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

} // namespace shellac
