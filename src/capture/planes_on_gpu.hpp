#pragma once
// Products on a GPU in 3-D, of stars and boxes of width 1: a warp has some rows of 32 packs of points, or of several times
// 32, and walks along the third axis. What it needs of the planes before is in registers; the values beside a point along
// the row are in the next lane.

#include "capture/rows_on_gpu.hpp"
#include "device/warp.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace kernel {

// As many values next to each other as one load of 16 bytes brings, or one.
template <class T, int width> struct alignas(width * sizeof(T)) Pack { T lane[width]; };

// Stores a pack whose first point is the i-th of its row: whole, or, at ends, those of its points that are in the box.
template <bool at_ends, class T, int width>
__device__ __forceinline__ void store_pack(T *to, const Pack<T, width> &values, bool whole, bool row_is_computed,
                                           PetscInt i, const Box &box) {
  if (whole && row_is_computed)
    *reinterpret_cast<Pack<T, width> *>(to) = values;
  else if (at_ends && width > 1 && row_is_computed)
#pragma unroll
    for (int l = 0; l < width; l++)
      if (i + l >= box.lo[0] && i + l < box.hi[0]) to[l] = values.lane[l];
}

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

// With walks of so many planes, which are short, so that memory is read in nearly the order that it has; or, on small grids,
// with walks of at most so many planes that the GPU has room for at once. Block: blocks of a multiprocessor, too.
template <class Block, class T, int width> kernel::March short_march(const Box &inner, int planes, int most_at_once) {
  constexpr int    least = 4;
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

} // namespace shellac
#endif
