#pragma once
// Passes over a level of three dimensions on a GPU where the operator is a sum over the axes: a thread computes some
// points of a column along the third axis, and keeps what the next one needs. The level is one rank's, and the ends of a
// periodic axis are no coarse points both. Each does what the functor of the same name in the file of its verb does;
// pure functors, for host and device, so that tests compare the two.

#include "device/chain.hpp"
#include "multigrid/level.hpp"
#include "multigrid/step.hpp"

namespace shellac {
namespace column {

// Points of a column that a thread computes: many where there are threads enough, since neighbours are read once then.
constexpr PetscInt many = 8, few = 2;

// Whether a level has such passes.
inline bool fits(const Patch &patch) {
  return is_alone(patch) && patch.size[2] > 1;
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

// Where the neighbours of a point along an axis are. wraps: some axis is periodic. Otherwise the compiler knows the steps,
// without which a pass takes half as long again.
template <bool wraps> struct Beside {
  ptrdiff_t step[2];
  bool      there[2];

  SHELLAC_HD Beside(const Patch &patch, int a, PetscInt p) {
    const ptrdiff_t stride = (ptrdiff_t)patch.stride(a);
    SHELLAC_UNROLL_ALL
    for (int side = 0; side < 2; side++) {
      const PetscInt to = side == LOWER ? -1 : 1, q = wraps ? periodic_index(patch, a, p + to) : p + to;
      there[side] = q >= 0 && q < patch.size[a];
      step[side] = (wraps ? q - p : to) * stride;
    }
  }
  template <class T> SHELLAC_HD T value(const T *here, int side) const { return there[side] ? here[step[side]] : T(0); }
};

enum class Does { smooth, smooth_zero, residual }; // from a guess; from the guess zero; b - A u

template <Does does, PetscInt points, bool wraps, class T> struct Step {
  using R = typename RealOf<T>::type;
  SeparableLevel<T> level;
  R                 omega;
  const T          *u;
  const T          *b;
  T                *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt part) const {
    const Patch        &patch = level.patch;
    const PetscInt      nz = patch.size[2], first = part * points, end = PetscMin(first + points, nz);
    const ptrdiff_t     plane = (ptrdiff_t)patch.stride(2);
    const AxisPoint<R>  x = level.axis[0][i], y = level.axis[1][j];
    const AxisPoint<R> *z = level.axis[2];
    const Beside<wraps> beside_x(patch, 0, i), beside_y(patch, 1, j), first_z(patch, 2, first),
        last_z(patch, 2, end - 1);
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
      T below = first_z.value(here, LOWER), center = here[0];
      SHELLAC_UNROLL
      for (PetscInt k = first; k < end; k++, f += plane, to += plane, here += plane) {
        const T above = k + 1 < (wraps ? end : nz) ? here[plane] : wraps ? last_z.value(here, UPPER) : T(0);
        const T r = residual_of(*f, level.sigma, center, x.lower, beside_x.value(here, LOWER), x.upper,
                                beside_x.value(here, UPPER), y.lower, beside_y.value(here, LOWER), y.upper,
                                beside_y.value(here, UPPER), z[k].lower, below, z[k].upper, above);
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
    PetscInt       x[3], y[3], z[3]; // the points before, at and after the kept one
    R              wx[3], wy[3], wz[3];
    T              sum_above = 0; // of the plane after the kept one
    weights(0, I, x, wx);
    weights(1, J, y, wy);
    const auto of_plane = [&](PetscInt k) {
      T sum = 0;
      SHELLAC_UNROLL_ALL
      for (int n = 0; n < 3; n++) SHELLAC_UNROLL_ALL
      for (int m = 0; m < 3; m++) {
        const R w = wx[m] * wy[n];
        if (w != 0) sum += w * r[patch.index(x[m], y[n], k)];
      }
      return sum;
    };
    for (PetscInt K = first; K < end; K++) {
      weights(2, K, z, wz);
      T sum = wz[1] * of_plane(z[1]);
      if (wz[0] != 0) sum += wz[0] * (K > first ? sum_above : of_plane(z[0]));
      if (z[2] != z[1]) sum_above = of_plane(z[2]);
      if (wz[2] != 0) sum += wz[2] * sum_above;
      out[coarse.index(I, J, K)] = sum;
    }
  }

private:
  SHELLAC_HD void weights(int a, PetscInt J, PetscInt at[3], R w[3]) const {
    const PetscInt kept = level.coarse_point(a, coarse.start[a] + J);
    for (int d = -1; d <= 1; d++) {
      const PetscInt p = periodic_index(level.patch, a, kept + d);
      const bool     there = (d == 0 || level.coarsens[a]) && p >= 0;
      at[d + 1] = there ? p : kept;
      w[d + 1] = there ? level.axis[a][p].restriction[d < 0 ? 1 : 0] : R(0);
    }
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
    PetscInt        x[2], y[2], z[2], known = -2; // known: the coarse plane of `lower`
    R               wx[2], wy[2], wz[2];
    T               lower = 0, upper = 0;
    (void)weights(0, i, x, wx);
    (void)weights(1, j, y, wy);
    const auto of_plane = [&](int c) {
      T sum = 0;
      if (z[c] < 0) return sum;
      SHELLAC_UNROLL_ALL
      for (int n = 0; n < 2; n++) SHELLAC_UNROLL_ALL
      for (int m = 0; m < 2; m++) {
        const R w = wx[m] * wy[n];
        if (w != 0) sum += w * e[coarse.index(x[m], y[n], z[c])];
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
        const PetscInt K = weights(2, begin + n, z, wz);
        if (K != known) {
          lower = level.coarsens[2] && known >= -1 ? upper : of_plane(0);
          upper = of_plane(1);
          known = K;
        }
        out[from + (size_t)(n * plane)] = values[n] + (wz[0] * lower + wz[1] * upper);
      }
    }
  }

private:
  // The coarse points below and above the fine one, negative where there is none; the first, which may be beyond the ends.
  SHELLAC_HD PetscInt weights(int a, PetscInt i, PetscInt at[2], R w[2]) const {
    const PetscInt J = level.below(a, i) - coarse.start[a];
    for (int c = 0; c < 2; c++) {
      at[c] = c == 0 || level.coarsens[a] ? periodic_index(coarse, a, J + c) : -1;
      w[c] = at[c] >= 0 ? level.axis[a][i].prolong[c] : R(0);
    }
    return J;
  }
};

} // namespace column
} // namespace shellac
