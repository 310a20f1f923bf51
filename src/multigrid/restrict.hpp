#pragma once
// Restriction to one point of a coarse level.

#include "multigrid/level.hpp"

namespace shellac {
namespace point {

// The fine points that give something to a coarse one: from lo to hi.
struct FinePoints {
  PetscInt center[3], lo[3], hi[3];

  template <class T> SHELLAC_HD FinePoints(const LevelPart<T> &level, const Patch &coarse, const PetscInt I[3]) {
    for (int a = 0; a < 3; a++) {
      center[a] = level.coarse_point(a, coarse.start[a] + I[a]);
      lo[a] = level.coarsens[a] ? center[a] - 1 : center[a];
      if (level.ties_ends[a] && coarse.start[a] + I[a] == 0)
        lo[a]--; // the last point, tied to the first, and the one before it
      hi[a] = level.coarsens[a] ? center[a] + 1 : center[a];
    }
  }
};

template <class T>
SHELLAC_HD T restricted(const SeparableLevel<T> &level, const Patch &coarse, const Field<T> &r, const PetscInt I[3]) {
  const FinePoints from(level, coarse, I);
  PetscInt         p[3] = {};
  T                sum = 0;
  const auto       weight = [&](int a) { // the point before the centre gives to the coarse point above it
    return level.axis[a][p[a]].restriction[p[a] < from.center[a] ? 1 : 0];
  };
  for (p[2] = from.lo[2]; p[2] <= from.hi[2]; p[2]++)
    for (p[1] = from.lo[1]; p[1] <= from.hi[1]; p[1]++) {
      const auto row = weight(1) * weight(2);
      for (p[0] = from.lo[0]; p[0] <= from.hi[0]; p[0]++) {
        const auto w = weight(0) * row;
        if (w != 0) sum += w * value_at(level.patch, r, p);
      }
    }
  return sum;
}

// Where some points are beyond the patch, or around an axis.
template <class T>
SHELLAC_RARE T restricted_beyond(const VariableLevel<T> &level, const Patch &coarse, const Field<T> &r, PetscInt I0,
                                 PetscInt I1, PetscInt I2) {
  const PetscInt   I[3] = {I0, I1, I2};
  const FinePoints from(level, coarse, I);
  PetscInt         p[3] = {from.lo[0], from.lo[1], from.lo[2]}, c[3];
  T                sum = 0;
  const auto       is_near = [&](int a) {
    c[a] = coarse.start[a] + I[a] - level.periodic_below(a, p[a], coarse.N[a]);
    return c[a] == 0 || (c[a] == 1 && level.coarsens[a]);
  };
  for (p[2] = from.lo[2]; p[2] <= from.hi[2]; p[2]++)
    for (p[1] = from.lo[1]; is_near(2) && p[1] <= from.hi[1]; p[1]++)
      for (p[0] = from.lo[0]; is_near(1) && p[0] <= from.hi[0]; p[0]++) {
        if (!is_near(0)) continue;
        T w = level.weight(level.restriction, p, c);
        if (w != T(0) && level.mass) w *= level.mass[level.grown.index(p)];
        if (w != T(0)) sum += w * value_at(level.patch, r, p);
      }
  return sum;
}

// The transpose of interpolation.
template <class T>
SHELLAC_HD T restricted(const VariableLevel<T> &level, const Patch &coarse, const Field<T> &r, const PetscInt I[3]) {
  const FinePoints from(level, coarse, I);
  const Patch     &patch = level.patch;
  bool             inside = true;
  for (int a = 0; a < 3; a++)
    inside = inside && from.lo[a] >= 0 && from.hi[a] < patch.size[a] && from.hi[a] - from.lo[a] < 3;
  if (!inside) return restricted_beyond(level, coarse, r, I[0], I[1], I[2]);
  const size_t     points = (size_t)level.grown.points(), at = level.grown.index(from.center);
  const PetscInt64 row = level.grown.size(0), layer = row * level.grown.size(1);
  const PetscInt64 line = (PetscInt64)patch.stride(1), plane = (PetscInt64)patch.stride(2);
  const T         *here = r.u + patch.index(from.center[0], from.center[1], from.center[2]);
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

// The coarse right-hand side: called on the points of the coarse patch.
template <class Level> struct Restrict {
  using T = typename Level::Scalar;
  Level    level; // the fine one
  Patch    coarse;
  Field<T> r;
  T       *out;

  SHELLAC_HD void operator()(PetscInt I, PetscInt J, PetscInt K) const {
    const PetscInt c[3] = {I, J, K};
    out[coarse.index(I, J, K)] = restricted(level, coarse, r, c);
  }
};

} // namespace point
} // namespace shellac
