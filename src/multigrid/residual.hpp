#pragma once
// The residual b - A u at one point of a level, in 1 to 3 dimensions. The functors of this file, smooth.hpp,
// restrict.hpp and prolong.hpp are for host and device; passes over several points compute the same, and tests compare
// the two.

#include "multigrid/level.hpp"
#include "multigrid/step.hpp"

namespace shellac {

namespace point {

// f - A u at p, where neighbours may be other ranks'
template <class T>
SHELLAC_RARE T residual_beyond(const VariableLevel<T> &level, const Field<T> &u, T f, PetscInt i, PetscInt j,
                               PetscInt k) {
  const PetscInt p[3] = {i, j, k};
  const size_t   points = (size_t)level.grown.points();
  const T       *coupling = level.row(FIRST_COUPLING, p);
  const T        center = u.u[level.patch.index(i, j, k)];
  T              r = residual_of(f, *level.row(SHIFT, p), center);
  level.neighbours.each([&](const PetscInt *d) {
    const PetscInt q[3] = {i + d[0], j + d[1], k + d[2]};
    r = add_fluxes(r, center, *coupling, value_at(level.patch, u, q));
    coupling += points;
  });
  return r;
}

// The same in few instructions where all neighbours are on the patch
template <class T> SHELLAC_HD T residual(const VariableLevel<T> &level, const Field<T> &u, T f, const PetscInt p[3]) {
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
  if (far) return residual_beyond(level, u, f, p[0], p[1], p[2]);
  const bool  *present = level.neighbours.present;
  const T     *here = u.u + patch.index(p[0], p[1], p[2]);
  const size_t points = (size_t)level.grown.points();
  const T     *coupling = level.row(FIRST_COUPLING, p);
  const T      center = *here;
  T            r = residual_of(f, *level.row(SHIFT, p), center);
  if (level.neighbours.star) { // in the order of Neighbours::each()
    SHELLAC_UNROLL_ALL
    for (int a = 0; a < 3; a++) {
      if (!present[a]) continue;
      r = add_fluxes(r, center, coupling[0], here[step[a][0]], coupling[points], here[step[a][2]]);
      coupling += 2 * points;
    }
    return r;
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
        r = add_fluxes(r, center, *coupling, here[step[0][x] + step[1][y] + step[2][z]]);
        coupling += points;
      }
    }
  }
  return r;
}

template <class T> SHELLAC_HD T residual(const SeparableLevel<T> &level, const Field<T> &u, T f, const PetscInt p[3]) {
  const Patch &patch = level.patch;
  const T      center = u.u[patch.index(p[0], p[1], p[2])];
  T            r = residual_of(f, level.sigma, center);
  for (int a = 0; a < 3; a++) {
    if (patch.N[a] == 1) continue; // its edges are in sigma
    PetscInt lower[3] = {p[0], p[1], p[2]}, upper[3] = {p[0], p[1], p[2]};
    lower[a]--;
    upper[a]++;
    r = add_fluxes(r, center, level.axis[a][p[a]].lower, value_at(patch, u, lower), level.axis[a][p[a]].upper,
                   value_at(patch, u, upper));
  }
  return r;
}

template <class Level> struct Residual {
  using T = typename Level::Scalar;
  Level    level;
  Field<T> u;
  const T *b;
  T       *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = level.patch.index(i, j, k);
    out[at] = residual(level, u, b[at], p);
  }
};

} // namespace point

} // namespace shellac
