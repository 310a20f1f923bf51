#pragma once
// Products of constant stars on a GPU in 3-D: a warp has some rows of 32 packs, which are each other's neighbours in its
// registers. Points at the ends of the domain are among them: blocks that touch an end, and no others, test for it.

#include "capture/planes_on_gpu.hpp"

#if SHELLAC_CUDA
namespace shellac {

namespace kernel {

// at_once: blocks of a multiprocessor. With more the compiler had too few registers to begin all loads of a step first,
// which matters most.
template <class T, Form form, int width> struct StarBlock {
  static constexpr bool is_large = sizeof(T) > 8;
  static constexpr int  warps = 4, rows = is_large ? 1 : 2, columns = is_large || width > 1 ? 1 : 2;
  static constexpr int  at_once = is_large ? 4 : (width > 1 ? 6 : 5) + (form == Form::product);
};

// The rows j, j + 1, ... of planes k, k + 1, ... at_ends: some of what is read may be beyond the patch, and is 0 then; some
// of what is computed outside the box.
template <Form form, int width, bool at_ends, class T>
__device__ __forceinline__ void walk_star(const March &march, const Patch &patch, const ConstantStar<T> &star,
                                          const StarDiagonal<T> &more, const T *__restrict__ field, const T *b, T *y,
                                          PetscInt j, PetscInt k, int planes) {
  using Values = Pack<T, width>;
  using Block = StarBlock<T, form, width>;
  constexpr int   rows = Block::rows, columns = Block::columns, apart = 32 * width, last = columns - 1;
  const Box      &box = march.inner;
  const int       lane = threadIdx.x % 32;
  const PetscInt  nx = patch.size[0], ny = patch.size[1], nz = patch.size[2];
  const PetscInt  i = march.first + (PetscInt)(blockIdx.x % march.blocks_x) * apart * columns + lane * width;
  const ptrdiff_t row = nx, plane = row * ny, at = (columns > 1 ? i : PetscMin(i, nx - width)) + row * j + plane * k;
  const bool      reads_west = lane == 0 && i > 0, reads_east = lane == 31 && i + last * apart + width < nx;
  const T        *u = field + at;
  T              *to = y + at, center[columns][width];
  bool            whole[columns];
  Values          below[rows][columns], here[rows][columns];
  const auto      inside = [&](int r) { return !at_ends || j + r < ny; };
  const auto      load = [&](const T *from, int c, bool is_inside) {
    Values values = {};
    if (is_inside && (columns == 1 || i + c * apart < nx)) values = *reinterpret_cast<const Values *>(from + c * apart);
    return values;
  };

#pragma unroll
  for (int c = 0; c < columns; c++) {
    const PetscInt first = i + c * apart;
    whole[c] = first >= box.lo[0] && first + width <= box.hi[0];
#pragma unroll
    for (int l = 0; l < width; l++)
      center[c][l] = star.center + (first + l == 0 ? more.at_end[0][LOWER] : T(0)) +
                     (first + l == nx - 1 ? more.at_end[0][UPPER] : T(0));
#pragma unroll
    for (int r = 0; r < rows; r++) {
      below[r][c] = load(u + r * row - plane, c, inside(r) && (!at_ends || k > 0));
      here[r][c] = load(u + r * row, c, inside(r));
    }
  }
#pragma unroll 1
  for (int s = 0; s < planes; s++) {
    Values over[rows][columns], south[columns], north[columns], add[rows][columns];
    T      west_of_warp[rows] = {}, east_of_warp[rows] = {};
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int c = 0; c < columns; c++)
        over[r][c] = load(u + plane + r * row, c, inside(r) && (!at_ends || k + s + 1 < nz));
#pragma unroll
    for (int c = 0; c < columns; c++) {
      south[c] = load(u - row, c, inside(-1) && (!at_ends || j > 0));
      north[c] = load(u + rows * row, c, inside(rows));
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {
#pragma unroll
      for (int c = 0; c < columns; c++)
        if (form != Form::product) add[r][c] = load(b + (u - field) + r * row, c, inside(r));
      if (reads_west && inside(r)) west_of_warp[r] = u[r * row - 1];
      if (reads_east && inside(r)) east_of_warp[r] = u[r * row + last * apart + width];
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {
      T before[columns], after[columns], at_end = 0;
#pragma unroll
      for (int c = 0; c < columns; c++) {
        before[c] = shuffled(here[r][c].lane[width - 1], lane + 31);
        after[c] = shuffled(here[r][c].lane[0], lane + 1);
      }
      if (at_ends) {
        if (j + r == 0) at_end += more.at_end[1][LOWER];
        if (j + r == ny - 1) at_end += more.at_end[1][UPPER];
        if (k + s == 0) at_end += more.at_end[2][LOWER];
        if (k + s == nz - 1) at_end += more.at_end[2][UPPER];
      }
#pragma unroll
      for (int c = 0; c < columns; c++) {
        const bool before_end = columns > 1 || i + width < nx; // of the row; loads beyond it give 0, or the last pack
        const T    west = lane > 0 ? before[c] : c > 0 ? before[c > 0 ? c - 1 : 0] : west_of_warp[r];
        const T    east = lane < 31 && before_end ? after[c] : c < last ? after[c < last ? c + 1 : c] : east_of_warp[r];
        Values     result;
#pragma unroll
        for (int l = 0; l < width; l++) {
          const T         beside[3][2] = {{l > 0 ? here[r][c].lane[l > 0 ? l - 1 : 0] : west,
                                   l + 1 < width ? here[r][c].lane[(l + 1) % width] : east},
                                          {r > 0 ? here[r > 0 ? r - 1 : 0][c].lane[l] : south[c].lane[l],
                                   r + 1 < rows ? here[(r + 1) % rows][c].lane[l] : north[c].lane[l]},
                                          {below[r][c].lane[l], over[r][c].lane[l]}};
          ConstantStar<T> its = star;
          its.center = at_ends ? center[c][l] + at_end : center[c][l];
          result.lane[l] = combine(form, add[r][c].lane, l, its.template operator()<3>(here[r][c].lane[l], beside));
        }
        store_pack<at_ends>(to + r * row + c * apart, result, whole[c], !at_ends || j + r < box.hi[1], i + c * apart,
                            box);
      }
    }
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int c = 0; c < columns; c++) below[r][c] = here[r][c], here[r][c] = over[r][c];
    u += plane;
    to += plane;
  }
}

template <Form form, int width, class T>
__global__ void __launch_bounds__(32 * StarBlock<T, form, width>::warps, StarBlock<T, form, width>::at_once)
    star_planes(March march, Patch patch, ConstantStar<T> star, StarDiagonal<T> more, const T *__restrict__ field,
                const T *b, T *y) {
  const BlockOfWalk<StarBlock<T, form, width>, width> block(march, patch);
  if (block.at_ends || block.parts)
    walk_star<form, width, true>(march, patch, star, more, field, b, y, block.j, block.k, block.planes);
  else
    walk_star<form, width, false>(march, patch, star, more, field, b, y, block.j, block.k, block.planes);
  wait_for_kernel_before();
}

} // namespace kernel

// inner: points no arm of which leaves the patch, but those that `more` stands for.
template <class T, class Other>
PetscErrorCode launch_star_planes(const Patch &patch, const ConstantStar<T> &star, const StarDiagonal<T> &more,
                                  const Other &other, const T *u, Form form, const T *b, const Box &box,
                                  const Box &inner, T *y) {
  return launch_planes(patch, other, u, form, b, box, inner, y, 0, [&](auto form_of, auto width_of, bool in_chain) {
    constexpr Form f = decltype(form_of)::value;
    constexpr int  width = decltype(width_of)::value;
    using Block = kernel::StarBlock<T, f, width>;
    return launch_walk<Block>(in_chain, kernel::star_planes<f, width, T>,
                              short_march<Block, T, width>(inner, 5, f == Form::product ? 48 : 16), patch, star, more,
                              u, b, y);
  });
}

} // namespace shellac
#endif
