#pragma once
// Passes over a level of three dimensions on a GPU where the operator is a sum over the axes: a thread computes some
// points of a column along the third axis, and keeps what the next one needs. The level is one rank's, and no axis is
// periodic. Each does what the functor of the same name in the file of its verb does; pure functors, for host and
// device, so that tests compare the two.

#include "device/chain.hpp"
#include "multigrid/level.hpp"
#include "multigrid/step.hpp"

namespace shellac {
namespace column {

// Points of a column that a thread computes: many where there are threads enough, since neighbours are read once then.
constexpr PetscInt many = 8, few = 2;

// Whether a level has such passes.
inline bool fits(const Patch &patch) {
  bool ends = is_alone(patch) && patch.size[2] > 1;
  for (int a = 0; a < 3; a++) ends = ends && !patch.periodic[a];
  return ends;
}
// Of the threads that compute a patch's points.
inline Box threads(const Patch &patch, PetscInt points) {
  return {{0, 0, 0}, {patch.size[0], patch.size[1], (patch.size[2] + points - 1) / points}};
}
// Whether a GPU has so many points for each of its threads, of which multiprocessors have 2048.
inline bool fills_gpu(const Patch &patch, PetscInt points) {
#if SHELLAC_CUDA
  return threads(patch, points).points() >= (PetscInt64)multiprocessors() * 2048;
#else
  (void)patch, (void)points;
  return true;
#endif
}

enum class Does { smooth, smooth_zero, residual }; // from a guess; from the guess zero; b - A u

template <Does does, PetscInt points, class T> struct Step {
  using R = typename RealOf<T>::type;
  SeparableLevel<T> level;
  R                 omega;
  const T          *u;
  const T          *b;
  T                *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt part) const {
    const Patch        &patch = level.patch;
    const PetscInt      nz = patch.size[2], first = part * points, end = PetscMin(first + points, nz);
    const ptrdiff_t     row = patch.size[0], plane = row * patch.size[1];
    const AxisPoint<R>  x = level.axis[0][i], y = level.axis[1][j];
    const AxisPoint<R> *z = level.axis[2];
    const bool          has_west = i > 0, has_east = i + 1 < patch.size[0];
    const bool          has_south = j > 0, has_north = j + 1 < patch.size[1];
    const T             diagonal = level.sigma + (x.lower + x.upper + y.lower + y.upper);
    const R             inside = x.in * y.in;
    const size_t        at = patch.index(i, j, first);
    const T *__restrict__ f = b + at;
    T *__restrict__ to = out + at;
    if constexpr (does == Does::smooth_zero) {
      SHELLAC_UNROLL
      for (PetscInt k = first; k < end; k++, f += plane, to += plane)
        *to = inside * z[k].in == 0 ? T(0) : omega / (diagonal + (z[k].lower + z[k].upper)) * *f;
    } else {
      const T *__restrict__ here = u + at;
      T below = first > 0 ? here[-plane] : T(0), center = here[0];
      SHELLAC_UNROLL
      for (PetscInt k = first; k < end; k++, f += plane, to += plane, here += plane) {
        const T above = k + 1 < nz ? here[plane] : T(0);
        const T west = has_west ? here[-1] : T(0), east = has_east ? here[1] : T(0);
        const T south = has_south ? here[-row] : T(0), north = has_north ? here[row] : T(0);
        const T r = residual_of(*f, level.sigma, center, x.lower, west, x.upper, east, y.lower, south, y.upper, north,
                                z[k].lower, below, z[k].upper, above);
        if constexpr (does == Does::residual)
          *to = r;
        else
          *to = inside * z[k].in == 0 ? center : jacobi_step(center, omega / (diagonal + (z[k].lower + z[k].upper)), r);
        below = center;
        center = above;
      }
    }
  }
};

// The coarse right-hand side: on the columns of the coarse patch.
template <PetscInt points, class T> struct Restrict {
  using R = typename RealOf<T>::type;
  SeparableLevel<T> level; // the fine one
  Patch             coarse;
  const T          *r;
  T                *out;

  SHELLAC_HD void operator()(PetscInt I, PetscInt J, PetscInt part) const {
    const Patch   &patch = level.patch;
    const PetscInt first = part * points, end = PetscMin(first + points, coarse.size[2]);
    PetscInt       kept[3];
    R              wx[3], wy[3], wz[3];
    T              sum_above = 0; // of the plane after the kept one
    kept[0] = weights(0, I, wx);
    kept[1] = weights(1, J, wy);
    const auto of_plane = [&](PetscInt k) {
      const T *here = r + patch.index(kept[0], kept[1], k);
      T        sum = 0;
      SHELLAC_UNROLL_ALL
      for (int y = 0; y < 3; y++) SHELLAC_UNROLL_ALL
      for (int x = 0; x < 3; x++) {
        const R w = wx[x] * wy[y];
        if (w != 0) sum += w * here[(x - 1) + (y - 1) * (ptrdiff_t)patch.size[0]];
      }
      return sum;
    };
    for (PetscInt K = first; K < end; K++) {
      kept[2] = weights(2, K, wz);
      T sum = wz[1] * of_plane(kept[2]);
      if (wz[0] != 0) sum += wz[0] * (K > first ? sum_above : of_plane(kept[2] - 1));
      if (level.coarsens[2] && kept[2] + 1 < patch.size[2]) sum_above = of_plane(kept[2] + 1);
      if (wz[2] != 0) sum += wz[2] * sum_above;
      out[coarse.index(I, J, K)] = sum;
    }
  }

private:
  // Of the points before, at and after the fine one that is the coarse point J, which is returned.
  SHELLAC_HD PetscInt weights(int a, PetscInt J, R w[3]) const {
    const PetscInt kept = level.coarse_point(a, coarse.start[a] + J);
    for (int d = -1; d <= 1; d++) {
      const PetscInt p = kept + d;
      const bool     there = (d == 0 || level.coarsens[a]) && p >= 0 && p < level.patch.size[a];
      w[d + 1] = there ? level.axis[a][p].restriction[d < 0 ? 1 : 0] : R(0);
    }
    return kept;
  }
};

// out = u (null: zero) + the interpolation of e
template <PetscInt points, class T> struct Correct {
  using R = typename RealOf<T>::type;
  SeparableLevel<T> level;
  Patch             coarse;
  const T          *e, *u;
  T                *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt part) const {
    const Patch    &patch = level.patch;
    const PetscInt  first = part * points, end = PetscMin(first + points, patch.size[2]);
    const ptrdiff_t plane = (ptrdiff_t)patch.size[0] * patch.size[1];
    const size_t    at = patch.index(i, j, first);
    PetscInt        I[2], known = -2; // the coarse plane of `lower`
    R               wx[2], wy[2], wz[2];
    T               lower = 0, upper = 0;
    I[0] = weights(0, i, wx);
    I[1] = weights(1, j, wy);
    const auto of_plane = [&](PetscInt K) {
      T sum = 0;
      if (K < 0 || K >= coarse.size[2]) return sum;
      SHELLAC_UNROLL_ALL
      for (int y = 0; y < 2; y++) SHELLAC_UNROLL_ALL
      for (int x = 0; x < 2; x++) {
        const R w = wx[x] * wy[y];
        if (w != 0) sum += w * e[coarse.index(I[0] + x, I[1] + y, K)];
      }
      return sum;
    };
    constexpr PetscInt together = PetscMin(points, (PetscInt)4); // are read before the first is written
    for (PetscInt begin = first; begin < end; begin += together) {
      const size_t from = at + (size_t)((begin - first) * plane);
      T            values[together];
      SHELLAC_UNROLL_ALL
      for (PetscInt n = 0; n < together; n++) values[n] = u && begin + n < end ? u[from + (size_t)(n * plane)] : T(0);
      SHELLAC_UNROLL_ALL
      for (PetscInt n = 0; n < together; n++) {
        if (begin + n >= end) break;
        const PetscInt K = weights(2, begin + n, wz);
        if (K != known) {
          lower = level.coarsens[2] && known >= -1 ? upper : of_plane(K);
          upper = level.coarsens[2] ? of_plane(K + 1) : T(0);
          known = K;
        }
        out[from + (size_t)(n * plane)] = values[n] + (wz[0] * lower + wz[1] * upper);
      }
    }
  }

private:
  // Of the coarse points below and above the fine one; the first is returned.
  SHELLAC_HD PetscInt weights(int a, PetscInt i, R w[2]) const {
    const PetscInt J = level.below(a, i) - coarse.start[a];
    for (int c = 0; c < 2; c++) {
      const bool there = (c == 0 || level.coarsens[a]) && J + c >= 0 && J + c < coarse.size[a];
      w[c] = there ? level.axis[a][i].prolong[c] : R(0);
    }
    return J;
  }
};

} // namespace column
} // namespace shellac
