#pragma once
// Products on a GPU in 3-D, of stars and boxes of width 1: a warp has one or two rows of 32 packs of points and walks along
// the third axis. What it needs of the planes before is in registers; the values beside a point along the row are in the
// next lane. Here with the same coefficients at each point.

#include "capture/rows_on_gpu.hpp"
#include "device/warp.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace kernel {

// As many values next to each other as one load of 16 bytes brings, or one.
template <class T, int width> struct alignas(width * sizeof(T)) Pack { T lane[width]; };

struct PairBlock {
  static constexpr int warps = 4, rows = 2, columns = 1; // of a block; of a warp; of a lane, 32 packs apart
};

struct March {
  Box      inner;
  PetscInt first;  // where the first thread along the first axis stands
  int      planes; // that a warp walks through
  unsigned blocks_x, blocks_y;
};

// The points of this thread's block and warp.
template <class Block, int width> struct BlockOfWalk {
  PetscInt i, end_i, j, k; // j: of the warp
  int      planes;
  bool     at_ends, parts; // may read or compute beyond ends of the second and third axis; computes parts of packs

  __device__ BlockOfWalk(const March &march, const Patch &patch) {
    constexpr int  rows = Block::warps * Block::rows;
    const Box     &box = march.inner;
    const unsigned above = blockIdx.x / march.blocks_x;
    const PetscInt first_j = box.lo[1] + (PetscInt)(above % march.blocks_y) * rows, end_j = first_j + rows;
    i = march.first + (PetscInt)(blockIdx.x % march.blocks_x) * 32 * width * Block::columns;
    end_i = i + 32 * width * Block::columns;
    j = first_j + (PetscInt)(threadIdx.x / 32) * Block::rows;
    k = box.lo[2] + (PetscInt)(above / march.blocks_y) * march.planes;
    planes = (int)PetscMin((PetscInt)march.planes, box.hi[2] - k);
    at_ends = first_j == 0 || end_j > box.hi[1] || end_j >= patch.size[1] || k == 0 || k + planes == patch.size[2];
    parts = (i < box.lo[0] && box.lo[0] % width != 0) || (end_i > box.hi[0] && box.hi[0] % width != 0);
  }
};

// Where a thread of a PairBlock stands. Those beyond the points read at the last ones, and write nothing.
template <class T, int width> struct Place {
  static constexpr int rows = PairBlock::rows;
  using Values = Pack<T, width>;

  PetscInt i, nx, lo, hi;
  int      planes, last; // its last row
  bool     in_row;
  size_t   at, row, plane; // the first point in the arrays, and the strides

  __device__ Place(const March &march, const Patch &patch) {
    const Box     &box = march.inner;
    const unsigned above = blockIdx.x / march.blocks_x;
    const int      lane = threadIdx.x % 32;
    const PetscInt j = box.lo[1] + (PetscInt)(above % march.blocks_y * PairBlock::warps + threadIdx.x / 32) * rows,
                   k = box.lo[2] + (PetscInt)(above / march.blocks_y) * march.planes;
    nx = patch.size[0], lo = box.lo[0], hi = box.hi[0];
    i = march.first + ((PetscInt)(blockIdx.x % march.blocks_x) * 32 + lane) * width;
    planes = (int)PetscMin((PetscInt)march.planes, box.hi[2] - k);
    last = (int)PetscMax(PetscMin((PetscInt)rows, box.hi[1] - j) - 1, (PetscInt)0);
    in_row = j < box.hi[1];
    row = nx, plane = row * patch.size[1];
    at = patch.index(PetscMin(i, nx - width), PetscMin(j, box.hi[1] - 1), k);
  }
  __device__ bool   no_west() const { return i <= 0; }
  __device__ bool   no_east() const { return i + width >= nx; }
  __device__ size_t offset(int r) const { return (size_t)(r < last ? r : last) * row; }
  // From the row before the warp's, 0, to the one after its last.
  __device__ const T *beside_rows(const T *u, int r) const {
    return u + (ptrdiff_t)((r < last + 2 ? r : last + 2) - 1) * (ptrdiff_t)row;
  }
  // The values before and after a pack at u; zero beyond the grid.
  __device__ void beside(const T *__restrict__ u, const Values &here, T *west, T *east) const {
    const int lane = threadIdx.x % 32;
    *west = shuffled(here.lane[width - 1], lane - 1);
    *east = shuffled(here.lane[0], lane + 1);
    if (lane == 0 && !no_west() && i < nx) *west = u[-1];
    if (lane == 31 && !no_east()) *east = u[width];
    if (no_west()) *west = 0;
    if (no_east()) *east = 0;
  }
  __device__ void store(T *to, int r, const Values &values) const {
    if (!in_row || r > last) return;
    if (i >= lo && i + width <= hi)
      *reinterpret_cast<Values *>(to + r * row) = values;
    else
#pragma unroll
      for (int l = 0; l < width; l++)
        if (i + l >= lo && i + l < hi) to[r * row + l] = values.lane[l];
  }
  static __device__ Values load(const T *__restrict__ from) {
    return *reinterpret_cast<const Values *>(from);
  }
};

template <class T> struct ConstantBox {
  T c[3][3][3]; // [dz + 1][dy + 1][dx + 1]
};

// A plane adds to the sums of three: of the plane below, which are complete then, of its own and of the one above.
template <Form form, int width, class T>
__global__ void __launch_bounds__(32 * PairBlock::warps, sizeof(T) > 8           ? 1
                                                         : width > 1             ? 5
                                                         : form == Form::product ? 8
                                                                                 : 6)
    box_planes(March march, Patch patch, ConstantBox<T> box, const T *__restrict__ field, const T *b, T *y) {
  using Values = Pack<T, width>;
  constexpr int         rows = PairBlock::rows;
  const Place<T, width> place(march, patch);
  const T              *u = field + place.at - place.plane;
  T                    *to = y + place.at - 2 * place.plane; // two planes behind what is read next
  T                     sum_below[rows][width] = {}, sum_here[rows][width] = {};

#pragma unroll 1
  for (int s = 0; s < place.planes + 2; s++) {
    T window[rows + 2][width + 2];
#pragma unroll
    for (int r = 0; r < rows + 2; r++) {
      const Values here = place.load(place.beside_rows(u, r));
#pragma unroll
      for (int l = 0; l < width; l++) window[r][l + 1] = here.lane[l];
    }
#pragma unroll
    for (int r = 0; r < rows + 2; r++) {
      Values here;
#pragma unroll
      for (int l = 0; l < width; l++) here.lane[l] = window[r][l + 1];
      place.beside(place.beside_rows(u, r), here, &window[r][0], &window[r][width + 1]);
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {
      Values add = {}, result;
      if (form != Form::product && s > 1) add = place.load(b + (to - y) + place.offset(r));
#pragma unroll
      for (int l = 0; l < width; l++) {
        T below = sum_below[r][l], here = sum_here[r][l], above = 0;
#pragma unroll
        for (int dy = 0; dy < 3; dy++)
#pragma unroll
          for (int dx = 0; dx < 3; dx++) {
            const T value = window[r + dy][l + dx];
            below += box.c[2][dy][dx] * value;
            here += box.c[1][dy][dx] * value;
            above += box.c[0][dy][dx] * value;
          }
        result.lane[l] = combine(form, add.lane, l, below);
        sum_below[r][l] = here;
        sum_here[r][l] = above;
      }
      if (s > 1) place.store(to, r, result);
    }
    u += place.plane;
    to += place.plane;
  }
  wait_for_kernel_before();
}

} // namespace kernel

// Whether rows may be read by loads of 16 bytes; arrays: their addresses, combined.
template <class T> bool reads_packs(const Patch &patch, uintptr_t arrays) {
  constexpr int most = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  return arrays % (most * sizeof(T)) == 0 && patch.size[0] % most == 0;
}

// How a walk of a kernel divides inner points. T: of the values, Block: warps of a block, rows of a warp, columns of a lane.
template <class Block, class T, int width> kernel::March march_through(const Box &inner, int planes) {
  constexpr int line = 128 / sizeof(T);
  kernel::March march{inner, inner.lo[0] / line * line, planes, 0, 0};

  march.blocks_x = blocks_of(inner.hi[0] - march.first, 32 * width * Block::columns);
  march.blocks_y = blocks_of(inner.size(1), Block::warps * Block::rows);
  return march;
}

// With short walks, by which memory is read in nearly the order that it has; or, on small grids, with walks of at most so many
// planes that the GPU has room for at once. Block: blocks of a multiprocessor, too.
template <class Block, class T, int width> kernel::March short_march(const Box &inner, int most_at_once = 16) {
  constexpr int    planes = 5, least = 4;
  kernel::March    march = march_through<Block, T, width>(inner, planes);
  const PetscInt64 in_plane = (PetscInt64)march.blocks_x * march.blocks_y;
  const PetscInt64 chunks = (PetscInt64)Block::at_once * multiprocessors() / in_plane;

  if (chunks > 0 && inner.size(2) <= most_at_once * chunks)
    march.planes = PetscMax((int)((inner.size(2) + chunks - 1) / chunks), least);
  return march;
}

// Launches a walk, which in a chain begins while the kernel before it runs.
template <class Block, class... Parameters, class... Arguments>
PetscErrorCode launch_walk(bool in_chain, void (*walk)(kernel::March, Parameters...), const kernel::March &march,
                           const Arguments &...arguments) {
  constexpr int    threads = 32 * Block::warps;
  const PetscInt64 blocks = (PetscInt64)march.blocks_x * march.blocks_y * blocks_of(march.inner.size(2), march.planes);
  cudaStream_t     stream;

  PetscFunctionBegin;
  if (in_chain) {
    PetscCall(launch_in_chain(walk, blocks, threads, 0, march, arguments...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(current_stream(&stream));
  walk<<<(unsigned)blocks, threads, 0, stream>>>(march, arguments...);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y on the points of a box: by `other` at those that are not inner, and by walk(form, width, in_chain) at the rest, by loads
// of 16 bytes where the rows of all arrays are aligned to them; others_read: the addresses of more arrays that are read
// so, combined.
template <class T, class Other, class Walk>
PetscErrorCode launch_planes(const Patch &patch, const Other &other, const T *u, Form form, const T *b, const Box &box,
                             const Box &inner, T *y, uintptr_t others_read, const Walk &walk) {
  constexpr int most = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  const bool    wide = reads_packs<T>(patch, (uintptr_t)u | (uintptr_t)y | (uintptr_t)b | others_read);
  const Boxes   others = difference(box, inner);
  const bool    in_chain = others.points() > 0;

  PetscFunctionBegin;
  PetscCall(launch_other_points(others, other));
  if (!inner.points()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(with_form(form, [&](auto known) -> PetscErrorCode {
    return wide ? walk(known, std::integral_constant<int, most>{}, in_chain)
                : walk(known, std::integral_constant<int, 1>{}, in_chain);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, class Other>
PetscErrorCode launch_box_planes(const Patch &patch, const kernel::ConstantBox<T> &stencil, const Other &other,
                                 const T *u, Form form, const T *b, const Box &box, const Box &inner, T *y) {
  using Block = kernel::PairBlock;

  return launch_planes(patch, other, u, form, b, box, inner, y, 0, [&](auto form_of, auto width_of, bool in_chain) {
    constexpr Form f = decltype(form_of)::value;
    constexpr int  width = decltype(width_of)::value;
    return launch_walk<Block>(in_chain, kernel::box_planes<f, width, T>, march_through<Block, T, width>(inner, 16),
                              patch, stencil, u, b, y);
  });
}

} // namespace shellac
#endif
