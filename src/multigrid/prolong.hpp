#pragma once
// Prolongation to one point of a level, and the correction by it.

#include "multigrid/level.hpp"

namespace shellac {
namespace point {

// What the coarse grid adds at p
template <class T>
SHELLAC_HD T correction(const SeparableLevel<T> &level, const Patch &coarse, const Field<T> &e, const PetscInt p[3]) {
  PetscInt J[3], c[3];
  T        sum = 0;
  for (int a = 0; a < 3; a++) J[a] = level.below(a, p[a]) - coarse.start[a];
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

template <class T>
SHELLAC_HD T correction(const VariableLevel<T> &level, const Patch &coarse, const Field<T> &e, const PetscInt p[3]) {
  PetscInt J[3], last[3], c[3];
  T        sum = 0;
  bool     inside = true;
  for (int a = 0; a < 3; a++) {
    J[a] = level.below(a, p[a]) - coarse.start[a];
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

// u plus that
template <class Level> struct Correct {
  using T = typename Level::Scalar;
  Level    level;
  Patch    coarse;
  Field<T> e;
  const T *u; // null for zero
  T       *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = level.patch.index(i, j, k);
    out[at] = (u ? u[at] : T(0)) + correction(level, coarse, e, p);
  }
};

} // namespace point
} // namespace shellac
