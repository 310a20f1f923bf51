#pragma once
// −∇·(k∇u) + σu with k at the points of a 3-D grid, by lines. Each face's flux along the third axis is computed once for
// both of its points.

#include "capture/lines_on_gpu.hpp"
#include "formulas/fluxes.hpp"

#if SHELLAC_CUDA
namespace shellac {

template <class Face, class T_> struct FluxLine {
  using T = T_;
  using Kept = T; // the flux through the face behind
  static constexpr int arrays = 2, threads = 480, per = 6;

  Flux<T>             flux;
  __device__ const T *array(const T *u, int n) const { return n == 0 ? u : flux.k[0]; }
  __device__ int      last(Side side) const { return (int)flux.end[0][side].at; }
  __device__ Kept     begin(const T (&before)[2], const T (&here)[2]) const {
        return Face::of(before[1], here[1]) * (here[0] - before[0]);
  }
  __device__ T operator()(const LinePoint<T, arrays> &point, int nx, Kept *behind) const {
    const T *u = point.at[0], *k = point.at[1];
    const T  value = point.here[0], its_k = point.here[1], k_west = k[-1], k_east = k[1];
    T        west = u[-1], east = u[1], west_face = Face::of(k_west, its_k), east_face = Face::of(its_k, k_east);
    // few warps come here, in each plane the same ones, and the others wait for them: so there is no division
    if (point.at_end[LOWER] || point.at_end[UPPER]) {
      if (point.at_end[LOWER]) {
        west = flux.end[0][LOWER].u(value, east);
        west_face = flux.end[0][LOWER].face(its_k, k_east, east_face);
      } else {
        east = flux.end[0][UPPER].u(value, west);
        east_face = flux.end[0][UPPER].face(its_k, k_west, west_face);
      }
    }
    const T from_west = west_face * (value - west), to_east = east_face * (east - value),
            from_south = Face::of(k[-nx], its_k) * (value - u[-nx]),
            to_north = Face::of(its_k, k[nx]) * (u[nx] - value),
            ahead = Face::of(its_k, point.next[1]) * (point.next[0] - value);
    const T Au = flux.sigma * value + flux.c[0] * (from_west - to_east) + flux.c[1] * (from_south - to_north) +
                 flux.c[2] * (*behind - ahead);
    *behind = ahead;
    return Au;
  }
};

} // namespace shellac
#endif
