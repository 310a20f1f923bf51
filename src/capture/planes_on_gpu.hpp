#pragma once
// Products on a GPU in 3-D: a warp has some rows of 32 packs of points, or of several times 32, and walks along the third
// axis. What it needs of the planes before is in registers; the values beside a point along the row are in the next lane.
// Points at the ends of the domain are among them: blocks that touch an end, and no others, test for it.
//
// What a product computes there is said by a class Rows, which has
//   Block<form, width>   warps of a block; rows of a warp; columns of a lane, which are 32 packs apart; at_once: blocks of a
//                        multiprocessor. With more than these the compiler had too few registers to begin all loads of a
//                        step first, which matters most
//   planes, most_planes(form)   of short_march()
//   shared()             bytes of shared memory; begin(): what the threads of a block do first
//   tests_ends(block, patch)    whether this block must test for ends of rows
//   walk(Walk, field, b, y)     the product; Walk::at_ends: some of what is read may be beyond the patch, and is 0 then, and
//                        some of what is computed outside the box

#include "capture/rows_on_gpu.hpp"
#include "device/warp.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace kernel {

// As many values next to each other as one load of 16 bytes brings, or one.
template <class T, int width> struct alignas(width * sizeof(T)) Pack { T lane[width]; };

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
  bool     at_ends; // may read or compute beyond ends of the second and third axis, or computes parts of packs

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
    at_ends = first_j == 0 || end_j > box.hi[1] || end_j >= patch.size[1] || k == 0 || k + planes == patch.size[2] ||
              (i < box.lo[0] && box.lo[0] % width != 0) || (end_i > box.hi[0] && box.hi[0] % width != 0);
  }
};

// A thread's points: some rows, and in each of them packs, its columns.
template <Form form_, class Block, int width_, bool at_ends_, class T> struct Walk {
  static constexpr Form form = form_;
  static constexpr bool at_ends = at_ends_;
  static constexpr int  width = width_, rows = Block::rows, columns = Block::columns;
  static constexpr int  apart = 32 * width, last = columns - 1; // from column to column; the last one
  using Values = Pack<T, width>;

  const Box &box;
  int        lane, planes;
  PetscInt   nx, ny, nz, i, j, k;    // the first point
  ptrdiff_t  row, plane, at;         // strides, and its place in the arrays
  bool       reads_west, reads_east; // points beside the warp's
  bool       whole[columns];         // all points of a pack are computed

  __device__ Walk(const March &march, const Patch &patch, const BlockOfWalk<Block, width> &block)
      : box(march.inner), lane(threadIdx.x % 32), planes(block.planes), nx(patch.size[0]), ny(patch.size[1]),
        nz(patch.size[2]), i(block.i + lane * width), j(block.j), k(block.k), row(nx), plane(row * ny),
        at((columns > 1 ? i : PetscMin(i, nx - width)) + row * j + plane * k), reads_west(lane == 0 && i > 0),
        reads_east(lane == 31 && i + last * apart + width < nx) {
#pragma unroll
    for (int c = 0; c < columns; c++) {
      const PetscInt first = i + c * apart;
      whole[c] = first >= box.lo[0] && first + width <= box.hi[0];
    }
  }
  // Whether the warp's packs have ends of rows of the patch.
  __device__ bool at_ends_of_rows() const {
    const PetscInt first = i - lane * width;
    return first == 0 || first + apart * columns >= nx;
  }
  // Whether the patch has the r-th row, and the s-th plane.
  __device__ bool has_row(int r) const {
    return !at_ends || (j + r >= 0 && j + r < ny);
  }
  __device__ bool has_plane(int s) const {
    return !at_ends || (k + s >= 0 && k + s < nz);
  }
  __device__ Values load(const T *from, int c, bool exists) const {
    Values values = {};
    if (exists && (columns == 1 || i + c * apart < nx)) values = *reinterpret_cast<const Values *>(from + c * apart);
    return values;
  }
  __device__ void load_rows(const T *from, bool exists, Values (&values)[rows][columns]) const {
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int c = 0; c < columns; c++) values[r][c] = load(from + r * row, c, exists && has_row(r));
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
  // Whole packs, or, at ends, those of their points that are in the box.
  __device__ void store(T *to, int r, int c, const Values &values) const {
    const bool is_computed = !at_ends || j + r < box.hi[1];
    to += r * row + c * apart;
    if (whole[c] && is_computed)
      *reinterpret_cast<Values *>(to) = values;
    else if (at_ends && width > 1 && is_computed)
#pragma unroll
      for (int l = 0; l < width; l++)
        if (i + c * apart + l >= box.lo[0] && i + c * apart + l < box.hi[0]) to[l] = values.lane[l];
  }
};

// What a walk has of a grid function in registers: its points in a plane and in those below and over it, and the points
// beside them.
template <class Walk, class T> struct Around {
  static constexpr int rows = Walk::rows, columns = Walk::columns, width = Walk::width;
  using Values = typename Walk::Values;
  Values below[rows][columns], here[rows][columns], over[rows][columns], south[columns], north[columns];
  T      west[rows], east[rows]; // beside the warp's first and last pack

  Around() = default;
  __device__ Around(const Walk &walk, const T *from) {
    walk.load_rows(from - walk.plane, walk.has_plane(-1), below);
    walk.load_rows(from, true, here);
  }
  // The rest of the s-th plane, in which `from` is; ahead: from there to the next one.
  __device__ void load(const Walk &walk, const T *from, ptrdiff_t ahead, bool exists_ahead) {
    walk.load_rows(from + ahead, exists_ahead, over);
#pragma unroll
    for (int c = 0; c < columns; c++) {
      south[c] = walk.load(from - walk.row, c, walk.has_row(-1));
      north[c] = walk.load(from + rows * walk.row, c, walk.has_row(rows));
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {
      west[r] = east[r] = 0;
      walk.load_sides(from + r * walk.row, walk.has_row(r), &west[r], &east[r]);
    }
  }
  __device__ void go_on() {
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int c = 0; c < columns; c++) below[r][c] = here[r][c], here[r][c] = over[r][c];
  }
  // At a point of the row r, or of those before and after the warp's.
  __device__ T operator()(int r, int c, int l) const {
    return r < 0 ? south[c].lane[l] : r < rows ? here[r % rows][c].lane[l] : north[c].lane[l];
  }
};

template <class Rows, Form form, int width, class T>
__global__ void __launch_bounds__(32 * Rows::template Block<form, width>::warps,
                                  Rows::template Block<form, width>::at_once)
    planes(March march, Patch patch, const __grid_constant__ Rows rows, const T *__restrict__ field, const T *b, T *y) {
  using Block = typename Rows::template Block<form, width>;
  const BlockOfWalk<Block, width> block(march, patch);
  let_next_kernel_begin();
  rows.begin();
  if (block.at_ends || rows.tests_ends(block, patch))
    rows.walk(Walk<form, Block, width, true, T>(march, patch, block), field, b, y);
  else
    rows.walk(Walk<form, Block, width, false, T>(march, patch, block), field, b, y);
  wait_for_kernel_before();
}

// The first half of an exchange: the walk begins beside it.
template <class T> __global__ void send_halo(const __grid_constant__ HaloExchange halo, const T *u) {
  let_next_kernel_begin();
  (void)halo.send(u, halo.next(), blockIdx.x, gridDim.x);
}
// The second half, and the points that are not inner: where the walk leaves room. It begins early, as nothing that it reads
// is of kernels that may still run: the first of this exchange begins when all before have ended.
template <class Other>
__global__ void __launch_bounds__(256) other_points(const __grid_constant__ OtherPoints others, Other other) {
  if (others.halo.any()) others.halo.await(others.halo.flag_to_await(), others.halo.number);
  others.compute(other);
  wait_for_kernel_before();
}

} // namespace kernel

// Of most Rows.
struct RowsInPlanes {
  size_t                                 shared() const { return 0; }
  __device__ void                        begin() const {}
  template <class Block> __device__ bool tests_ends(const Block &, const Patch &) const { return false; }
};

// How a walk of a kernel divides inner points. It goes through so many planes, which are few, so that memory is read in
// nearly the order that it has; or, on small grids, through at most so many that the GPU has room for all walks at once.
template <class Block, class T, int width> kernel::March short_march(const Box &inner, int planes, int most_planes) {
  constexpr int line = 128 / sizeof(T), least = 4;
  kernel::March march{inner, inner.lo[0] / line * line, planes, 0, 0};

  march.blocks_x = blocks_of(inner.hi[0] - march.first, 32 * width * Block::columns);
  march.blocks_y = blocks_of(inner.size(1), Block::warps * Block::rows);
  const PetscInt64 in_plane = (PetscInt64)march.blocks_x * march.blocks_y;
  const PetscInt64 chunks = (PetscInt64)Block::at_once * multiprocessors() / in_plane;
  if (chunks > 0 && inner.size(2) <= most_planes * chunks)
    march.planes = PetscMax((int)((inner.size(2) + chunks - 1) / chunks), least);
  return march;
}

// Whether rows may be read by loads of 16 bytes; arrays: their addresses, combined.
template <class T> bool reads_packs(const Patch &patch, uintptr_t arrays) {
  constexpr int most = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  return arrays % (most * sizeof(T)) == 0 && patch.size[0] % most == 0;
}

// y on the points of a box: by `other` at those that are not inner, and by a walk at the rest, by loads of 16 bytes where
// Rows have such and the rows of all arrays are aligned to them; others_read: the addresses of more arrays that are read
// so, combined.
template <class Rows, class T, class Other>
PetscErrorCode launch_planes(const Patch &patch, const Rows &rows, const Other &other, const T *u, Form form,
                             const T *b, const Box &box, const Box &inner, T *y, uintptr_t others_read = 0) {
  constexpr int     most = Rows::in_packs && sizeof(T) < 16 ? 16 / sizeof(T) : 1, threads = 256;
  const OtherPoints others(difference(box, inner), other.field.exchange, threads);
  const bool        exchanges = others.halo.any();
  cudaStream_t      stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (exchanges) {
    const unsigned blocks = PetscMax(blocks_of((PetscInt64)others.halo.values, threads), 1u);
    kernel::send_halo<<<PetscMin(blocks, others.blocks), threads, 0, stream>>>(others.halo, u); // not in a chain
    PetscCallCUDA(cudaGetLastError());
  }
  const auto launch = [&](auto form_of, auto width_of) -> PetscErrorCode {
    constexpr Form f = decltype(form_of)::value;
    constexpr int  width = decltype(width_of)::value;
    using Block = typename Rows::template Block<f, width>;
    const auto          walk = kernel::planes<Rows, f, width, T>;
    const kernel::March march = short_march<Block, T, width>(inner, Rows::planes, Rows::most_planes(f));
    const PetscInt64    blocks = (PetscInt64)march.blocks_x * march.blocks_y * blocks_of(inner.size(2), march.planes);

    if (exchanges) return launch_in_chain(walk, blocks, 32 * Block::warps, rows.shared(), march, patch, rows, u, b, y);
    walk<<<(unsigned)blocks, 32 * Block::warps, rows.shared(), stream>>>(march, patch, rows, u, b, y);
    return PETSC_SUCCESS;
  };
  if (inner.points())
    PetscCall(with_form(form, [&](auto known) -> PetscErrorCode {
      if (reads_packs<T>(patch, (uintptr_t)u | (uintptr_t)y | (uintptr_t)b | others_read))
        return launch(known, std::integral_constant<int, most>{});
      return launch(known, std::integral_constant<int, 1>{});
    }));
  PetscCallCUDA(cudaGetLastError());
  if (!others.blocks) PetscFunctionReturn(PETSC_SUCCESS);
  if (exchanges || inner.points())
    PetscCall(launch_in_chain(kernel::other_points<Other>, others.blocks, threads, 0, others, other));
  else
    kernel::other_points<<<others.blocks, threads, 0, stream>>>(others, other);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
