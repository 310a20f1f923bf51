#pragma once
// Products of constant boxes of 27 points on a GPU in 3-D, in the way of star_on_gpu.hpp. Points at the ends of the domain
// are among them if their rows are the box without the arms beyond, with any diagonal.

#include "capture/planes_on_gpu.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace kernel {

template <class T> struct ConstantBox {
  T              c[3][3][3]; // [dz + 1][dy + 1][dx + 1]
  EndDiagonal<T> diagonal;
};

// at_once: blocks of a multiprocessor, as many as leave the compiler enough registers.
template <class T, Form form, int width> struct BoxBlock {
  static constexpr bool is_large = sizeof(T) > 8;
  static constexpr int  warps = 4, rows = 2, columns = is_large || width > 1 ? 1 : 2;
  static constexpr int  at_once = is_large ? 1 : form != Form::product || width == 1 ? 5 : 6;
};

// A thread's points: some rows, and in each of them packs that are 32 packs apart, its columns. at_ends: values beyond the
// patch are read as 0, and points outside the box are not written. walk_star() does not use this: it would take up to 5 %
// longer.
template <int columns, int width, bool at_ends, class T> struct Walk {
  using Values = Pack<T, width>;
  static constexpr int apart = 32 * width, last = columns - 1; // from column to column; the last one

  const Box &box;
  int        lane;
  PetscInt   nx, ny, i, j;           // the first point
  ptrdiff_t  row, plane, at;         // strides, and its place in the arrays
  bool       reads_west, reads_east; // points beside the warp's
  bool       whole[columns];         // all points of a pack are computed

  __device__ Walk(const March &march, const Patch &patch, PetscInt first_j, PetscInt k)
      : box(march.inner), lane(threadIdx.x % 32), nx(patch.size[0]), ny(patch.size[1]),
        i(march.first + (PetscInt)(blockIdx.x % march.blocks_x) * apart * columns + lane * width), j(first_j), row(nx),
        plane(row * ny), at((columns > 1 ? i : PetscMin(i, nx - width)) + row * j + plane * k),
        reads_west(lane == 0 && i > 0), reads_east(lane == 31 && i + last * apart + width < nx) {
#pragma unroll
    for (int c = 0; c < columns; c++) {
      const PetscInt first = i + c * apart;
      whole[c] = first >= box.lo[0] && first + width <= box.hi[0];
    }
  }
  __device__ bool has_row(int r) const {
    return !at_ends || (j + r >= 0 && j + r < ny);
  }
  __device__ Values load(const T *from, int c, bool exists) const {
    Values values = {};
    if (exists && (columns == 1 || i + c * apart < nx)) values = *reinterpret_cast<const Values *>(from + c * apart);
    return values;
  }
  // The values beside the warp's in a row; they stay what they are where there are none.
  __device__ void load_sides(const T *from, bool exists, T *west, T *east) const {
    if (reads_west && exists) *west = from[-1];
    if (reads_east && exists) *east = from[last * apart + width];
  }
  // The values before and after each pack of a row, 0 beyond the patch.
  __device__ void beside(const Values (&packs)[columns], T west_of_warp, T east_of_warp, T (&west)[columns],
                         T (&east)[columns]) const {
    T before[columns], after[columns];
#pragma unroll
    for (int c = 0; c < columns; c++) {
      before[c] = shuffled(packs[c].lane[width - 1], lane + 31);
      after[c] = shuffled(packs[c].lane[0], lane + 1);
    }
#pragma unroll
    for (int c = 0; c < columns; c++) {
      const bool before_end = columns > 1 || i + width < nx; // of the row; loads beyond it give 0, or the last pack
      west[c] = lane > 0 ? before[c] : c > 0 ? before[c > 0 ? c - 1 : 0] : west_of_warp;
      east[c] = lane < 31 && before_end ? after[c] : c < last ? after[c < last ? c + 1 : c] : east_of_warp;
    }
  }
  __device__ void store(T *to, int r, int c, const Values &values) const {
    store_pack<at_ends>(to + r * row + c * apart, values, whole[c], !at_ends || j + r < box.hi[1], i + c * apart, box);
  }
};

// A plane adds to the sums of three: of the plane below, which are complete then, of its own and of the one above.
template <Form form, int width, bool at_ends, class T>
__device__ __forceinline__ void walk_box(const March &march, const Patch &patch, const ConstantBox<T> &box,
                                         const T *__restrict__ field, const T *b, T *y, PetscInt j, PetscInt k,
                                         int planes) {
  using Values = Pack<T, width>;
  using Block = BoxBlock<T, form, width>;
  constexpr int                          rows = Block::rows, columns = Block::columns;
  const Walk<columns, width, at_ends, T> walk(march, patch, j, k);
  const T                               *u = field + walk.at - walk.plane;
  T                                     *to = y + walk.at - 2 * walk.plane; // two planes behind what is read
  T                                      sum_below[rows][columns][width] = {}, sum_here[rows][columns][width] = {};

#pragma unroll 1
  for (int s = 0; s < planes + 2; s++) {
    const bool has_plane = !at_ends || (k + s > 0 && k + s <= patch.size[2]);
    Values     packs[rows + 2][columns], add[rows][columns] = {};
    T          window[rows + 2][columns][width + 2], west_of_warp[rows + 2] = {}, east_of_warp[rows + 2] = {};
#pragma unroll
    for (int r = 0; r < rows + 2; r++) {
      const bool exists = has_plane && walk.has_row(r - 1);
#pragma unroll
      for (int c = 0; c < columns; c++) packs[r][c] = walk.load(u + (r - 1) * walk.row, c, exists);
      walk.load_sides(u + (r - 1) * walk.row, exists, &west_of_warp[r], &east_of_warp[r]);
    }
    if (form != Form::product && s > 1)
#pragma unroll
      for (int r = 0; r < rows; r++)
#pragma unroll
        for (int c = 0; c < columns; c++) add[r][c] = walk.load(b + (to - y) + r * walk.row, c, walk.has_row(r));
#pragma unroll
    for (int r = 0; r < rows + 2; r++) {
      T west[columns], east[columns];
      walk.beside(packs[r], west_of_warp[r], east_of_warp[r], west, east);
#pragma unroll
      for (int c = 0; c < columns; c++) {
        window[r][c][0] = west[c], window[r][c][width + 1] = east[c];
#pragma unroll
        for (int l = 0; l < width; l++) window[r][c][l + 1] = packs[r][c].lane[l];
      }
    }
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int c = 0; c < columns; c++) {
        Values result;
#pragma unroll
        for (int l = 0; l < width; l++) {
          T below = sum_below[r][c][l], here = sum_here[r][c][l], above = 0, center = box.c[1][1][1];
          if (at_ends) {
            const PetscInt p[3] = {walk.i + c * walk.apart + l, j + r, k + s - 1};
            center += box.diagonal.at(p, patch.size);
          }
#pragma unroll
          for (int dy = 0; dy < 3; dy++) {
            const T *values = &window[r + dy][c][l];
#pragma unroll
            for (int dx = 0; dx < 3; dx++) {
              below += box.c[2][dy][dx] * values[dx];
              here += (dy == 1 && dx == 1 ? center : box.c[1][dy][dx]) * values[dx];
              above += box.c[0][dy][dx] * values[dx];
            }
          }
          result.lane[l] = combine(form, add[r][c].lane, l, below);
          sum_below[r][c][l] = here;
          sum_here[r][c][l] = above;
        }
        if (s > 1) walk.store(to, r, c, result);
      }
    u += walk.plane;
    to += walk.plane;
  }
}

template <Form form, int width, class T>
__global__ void __launch_bounds__(32 * BoxBlock<T, form, width>::warps, BoxBlock<T, form, width>::at_once)
    box_planes(March march, Patch patch, ConstantBox<T> box, const T *__restrict__ field, const T *b, T *y) {
  const BlockOfWalk<BoxBlock<T, form, width>, width> block(march, patch);
  // blocks that are not at_ends have no points at ends of the second and third axis
  const bool at_ends_of_rows = (block.i == 0 && box.diagonal.added[1][1][0] != T(0)) ||
                               (block.end_i >= patch.size[0] && box.diagonal.added[1][1][2] != T(0));
  if (block.at_ends || block.parts || at_ends_of_rows)
    walk_box<form, width, true>(march, patch, box, field, b, y, block.j, block.k, block.planes);
  else
    walk_box<form, width, false>(march, patch, box, field, b, y, block.j, block.k, block.planes);
  wait_for_kernel_before();
}

} // namespace kernel

// inner: points whose row is the box, with its diagonal at ends, without its arms that leave the domain.
template <class T, class Other>
PetscErrorCode launch_box_planes(const Patch &patch, const kernel::ConstantBox<T> &stencil, const Other &other,
                                 const T *u, Form form, const T *b, const Box &box, const Box &inner, T *y) {
  return launch_planes(patch, other, u, form, b, box, inner, y, 0, [&](auto form_of, auto width_of, bool in_chain) {
    constexpr Form f = decltype(form_of)::value;
    constexpr int  width = decltype(width_of)::value;
    using Block = kernel::BoxBlock<T, f, width>;
    return launch_walk<Block>(in_chain, kernel::box_planes<f, width, T>, short_march<Block, T, width>(inner, 16, 64),
                              patch, stencil, u, b, y);
  });
}

} // namespace shellac
#endif
