#pragma once
// −∇·(k∇u) + σu with k at the points of a 3-D grid. A warp has some rows of 32 packs, as in star_planes(), and keeps the
// values of u and k that it needs in registers. Blocks with points at the ends of the domain test for them.

#include "capture/star_on_gpu.hpp"
#include "formulas/fluxes.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace kernel {

template <class T, int width> struct FluxBlock {
  static constexpr bool is_large = sizeof(T) > 8;
  static constexpr int  warps = 4, rows = is_large ? 1 : width > 1 ? 2 : 4, columns = 1, at_once = 4;
};

// The tests of a block: none; ends of the first axis; also for packs that are computed in part; also for ends of all axes.
enum class TestedEnds { none, first_axis, parts_of_packs, all };

template <Form form, int width, TestedEnds tested, class Face, class T>
__device__ __forceinline__ void walk_fluxes(const March &march, const Patch &patch, const Flux<T> &flux,
                                            const T *__restrict__ field, const T *b, T *y, PetscInt j, PetscInt k,
                                            int planes) {
  using Values = Pack<T, width>;
  using Block = FluxBlock<T, width>;
  constexpr int  rows = Block::rows;
  constexpr bool all = tested == TestedEnds::all, first_axis = tested != TestedEnds::none,
                 parts = all || tested == TestedEnds::parts_of_packs;
  const Box      &box = march.inner;
  const int       lane = threadIdx.x % 32;
  const PetscInt  nx = patch.size[0], ny = patch.size[1], nz = patch.size[2];
  const PetscInt  i = march.first + ((PetscInt)(blockIdx.x % march.blocks_x) * 32 + lane) * width;
  const ptrdiff_t row = nx, plane = row * ny, at = PetscMin(i, nx - width) + row * j + plane * k;
  const bool      whole = i >= box.lo[0] && i + width <= box.hi[0];
  const bool      reads_west = lane == 0 && i > 0, reads_east = lane == 31 && i + width < nx;
  const bool      at_lower = first_axis && i == flux.end[0][LOWER].at,
             at_upper = first_axis && i + width - 1 == flux.end[0][UPPER].at;
  const FluxEnd<T> &end_of_row = flux.end[0][at_lower ? LOWER : UPPER];
  const T          *u = field + at, *c = flux.k[0] + at;
  T                *to = y + at, behind[rows][width]; // the flux through the face behind
  Values            here[rows], k_here[rows];
  const auto        load = [](const T *from, bool inside) {
    Values values = {};
    if (inside) values = *reinterpret_cast<const Values *>(from);
    return values;
  };
  const auto inside = [&](int r) { return !all || j + r < ny; };

#pragma unroll
  for (int r = 0; r < rows; r++) {
    const bool   reads = inside(r) && (!all || k > 0);
    const Values under = load(u + r * row - plane, reads), k_under = load(c + r * row - plane, reads);
    here[r] = load(u + r * row, inside(r));
    k_here[r] = load(c + r * row, inside(r));
#pragma unroll
    for (int l = 0; l < width; l++)
      behind[r][l] = Face::of(k_under.lane[l], k_here[r].lane[l]) * (here[r].lane[l] - under.lane[l]);
  }
#pragma unroll 1
  for (int s = 0; s < planes; s++) {
    const bool      at_first = all && k + s == flux.end[2][LOWER].at, at_last = all && k + s == flux.end[2][UPPER].at;
    const ptrdiff_t ahead = at_last ? -plane : plane; // the face beyond the last plane needs the one before
    Values          over[rows], k_over[rows], add[rows];
    T               u_west[rows] = {}, k_west[rows] = {}, u_east[rows] = {}, k_east[rows] = {}, side[width];
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const bool reads = inside(r) && (!all || at_last || k + s + 1 < nz);
      over[r] = load(u + ahead + r * row, reads);
      k_over[r] = load(c + ahead + r * row, reads);
    }
    const bool   reads_south = inside(-1) && (!all || j > 0);
    const Values south = load(u - row, reads_south), k_south = load(c - row, reads_south);
    const Values north = load(u + rows * row, inside(rows)), k_north = load(c + rows * row, inside(rows));
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (form != Form::product) add[r] = load(b + (u - field) + r * row, inside(r));
      if (reads_west && inside(r)) u_west[r] = u[r * row - 1], k_west[r] = c[r * row - 1];
      if (reads_east && inside(r)) u_east[r] = u[r * row + width], k_east[r] = c[r * row + width];
    }
    const auto u_of = [&](int r, int l) {
      return r < 0 ? south.lane[l] : r < rows ? here[r % rows].lane[l] : north.lane[l];
    };
    const auto k_of = [&](int r, int l) {
      return r < 0 ? k_south.lane[l] : r < rows ? k_here[r % rows].lane[l] : k_north.lane[l];
    };
#pragma unroll
    for (int l = 0; l < width; l++) {
      const T between = Face::of(k_of(0, l), k_of(1, l));
      side[l] = Face::of(k_south.lane[l], k_here[0].lane[l]) * (here[0].lane[l] - south.lane[l]);
      if (all && j == flux.end[1][LOWER].at)
        side[l] = -flux.end[1][LOWER].flux(u_of(0, l), u_of(1, l), k_of(0, l), k_of(1, l), between);
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const Values &v = here[r], &kv = k_here[r];
      const T       u_before = shuffled(v.lane[width - 1], lane - 1), k_before = shuffled(kv.lane[width - 1], lane - 1);
      const T       u_after = shuffled(v.lane[0], lane + 1), k_after = shuffled(kv.lane[0], lane + 1);
      const T       west = lane == 0 ? u_west[r] : u_before, k_of_west = lane == 0 ? k_west[r] : k_before;
      const T       east = lane == 31 ? u_east[r] : u_after, k_of_east = lane == 31 ? k_east[r] : k_after;
      T             along[width + 1]; // fluxes along the row
      Values        result;
      along[0] = Face::of(k_of_west, kv.lane[0]) * (v.lane[0] - west);
      along[width] = Face::of(kv.lane[width - 1], k_of_east) * (east - v.lane[width - 1]);
#pragma unroll
      for (int l = 1; l < width; l++) along[l] = Face::of(kv.lane[l - 1], kv.lane[l]) * (v.lane[l] - v.lane[l - 1]);
      if (first_axis) { // a pack at an end has the point before the last one, or lies beside it
        constexpr int l_after = width > 1 ? 1 : 0, l_before = width > 1 ? width - 2 : 0;
        const T last = at_lower ? v.lane[0] : v.lane[width - 1], k_last = at_lower ? kv.lane[0] : kv.lane[width - 1];
        const T before = at_lower ? (width > 1 ? v.lane[l_after] : east) : width > 1 ? v.lane[l_before] : west;
        const T k_of_before = at_lower    ? (width > 1 ? kv.lane[l_after] : k_of_east)
                              : width > 1 ? kv.lane[l_before]
                                          : k_of_west;
        const T outward = end_of_row.flux(last, before, k_last, k_of_before, Face::of(k_of_before, k_last));
        if (at_lower) along[0] = -outward;
        if (at_upper) along[width] = outward;
      }
#pragma unroll
      for (int l = 0; l < width; l++) {
        const T between = Face::of(kv.lane[l], k_over[r].lane[l]);
        T       to_north = Face::of(kv.lane[l], k_of(r + 1, l)) * (u_of(r + 1, l) - v.lane[l]);
        T       above = between * (over[r].lane[l] - v.lane[l]);
        if (all) {
          if (j + r == flux.end[1][UPPER].at)
            to_north = flux.end[1][UPPER].flux(v.lane[l], u_of(r - 1, l), kv.lane[l], k_of(r - 1, l),
                                               Face::of(k_of(r - 1, l), kv.lane[l]));
          if (at_first)
            behind[r][l] = -flux.end[2][LOWER].flux(v.lane[l], over[r].lane[l], kv.lane[l], k_over[r].lane[l], between);
          if (at_last)
            above = flux.end[2][UPPER].flux(v.lane[l], over[r].lane[l], kv.lane[l], k_over[r].lane[l], between);
        }
        const T Au = flux.sigma * v.lane[l] + flux.c[0] * (along[l] - along[l + 1]) + flux.c[1] * (side[l] - to_north) +
                     flux.c[2] * (behind[r][l] - above);
        result.lane[l] = combine(form, add[r].lane, l, Au);
        side[l] = to_north;
        behind[r][l] = above;
      }
      const bool computed = !all || j + r < box.hi[1];
      if (whole && computed)
        *reinterpret_cast<Values *>(to + r * row) = result;
      else if (parts && width > 1 && computed)
#pragma unroll
        for (int l = 0; l < width; l++)
          if (i + l >= box.lo[0] && i + l < box.hi[0]) to[r * row + l] = result.lane[l];
    }
#pragma unroll
    for (int r = 0; r < rows; r++) here[r] = over[r], k_here[r] = k_over[r];
    u += plane;
    c += plane;
    to += plane;
  }
}

template <Form form, int width, class Face, class T>
__global__ void __launch_bounds__(32 * FluxBlock<T, width>::warps, FluxBlock<T, width>::at_once)
    flux_rows(March march, Patch patch, const __grid_constant__ Flux<T> flux, const T *__restrict__ field, const T *b,
              T *y) {
  const BlockOfWalk<FluxBlock<T, width>, width> block(march, patch);
  const auto                                    walk = [&](auto tested) {
    walk_fluxes<form, width, decltype(tested)::value, Face>(march, patch, flux, field, b, y, block.j, block.k,
                                                            block.planes);
  };
  if (block.at_ends)
    walk(std::integral_constant<TestedEnds, TestedEnds::all>{});
  else if (width > 1 && block.parts)
    walk(std::integral_constant<TestedEnds, TestedEnds::parts_of_packs>{});
  else if (block.i == 0 || block.end_i >= patch.size[0])
    walk(std::integral_constant<TestedEnds, TestedEnds::first_axis>{});
  else
    walk(std::integral_constant<TestedEnds, TestedEnds::none>{});
  wait_for_kernel_before();
}

} // namespace kernel

template <class Face, class T, class Other>
PetscErrorCode launch_flux_rows(const Patch &patch, const Flux<T> &flux, const Other &other, const T *u, Form form,
                                const T *b, const Box &box, const Box &inner, T *y) {
  return launch_planes(patch, other, u, form, b, box, inner, y, (uintptr_t)flux.k[0],
                       [&](auto form_of, auto width_of, bool in_chain) {
                         constexpr Form f = decltype(form_of)::value;
                         constexpr int  width = decltype(width_of)::value;
                         using Block = kernel::FluxBlock<T, width>;
                         return launch_walk<Block>(in_chain, kernel::flux_rows<f, width, Face, T>,
                                                   short_march<Block, T, width>(inner, 5, 16), patch, flux, u, b, y);
                       });
}

} // namespace shellac
#endif
