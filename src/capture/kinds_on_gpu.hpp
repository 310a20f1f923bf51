#pragma once
// Products of stars on a GPU in 3-D whose rows are of up to 256 kinds, in the way of star_on_gpu.hpp. Each block copies the
// kinds' coefficients to shared memory. Loads from the caches took most of the time: a point's kind often has its row in
// another sector than the kinds of the points beside.

#include "capture/planes_on_gpu.hpp"

#if SHELLAC_CUDA
namespace shellac {

// Where the kinds' coefficients are, and the kind of each point.
template <class T> struct Kinds {
  static constexpr int count = 7, stride = table_stride<T>(count); // coefficients of a kind

  const T *__restrict__ table;
  const unsigned char *__restrict__ index;
  int number;

  size_t bytes() const { return (size_t)number * count * sizeof(T); } // of shared memory: [count][number]
  // All threads of the block call it.
  __device__ void copy(T *shared) const {
    for (int n = (int)threadIdx.x; n < count * number; n += (int)blockDim.x) {
      const int arm = n / number, kind = n - arm * number;
      shared[n] = table[kind * stride + arm];
    }
    __syncthreads();
  }
};

namespace kernel {

template <class T> struct KindsBlock {
  static constexpr bool is_large = sizeof(T) > 8;
  static constexpr int  warps = 4, rows = is_large ? 2 : 4, columns = 1, at_once = 4;
};

// The rows j, j + 1, ... of planes k, k + 1, ... at_ends: as in walk_star().
template <Form form, bool at_ends, class T>
__device__ __forceinline__ void walk_kinds(const March &march, const Patch &patch, const Kinds<T> &kinds,
                                           const T *shared, const T *__restrict__ field, const T *b, T *y, PetscInt j,
                                           PetscInt k, int planes) {
  using Index = unsigned char;
  constexpr int   rows = KindsBlock<T>::rows, count = Kinds<T>::count;
  const Box      &box = march.inner;
  const int       lane = threadIdx.x % 32;
  const PetscInt  nx = patch.size[0], ny = patch.size[1], nz = patch.size[2];
  const PetscInt  i = march.first + (PetscInt)(blockIdx.x % march.blocks_x) * 32 + lane;
  const ptrdiff_t row = nx, plane = row * ny, at = PetscMin(i, nx - 1) + row * j + plane * k;
  const bool      reads_west = lane == 0 && i > 0, reads_east = lane == 31 && i + 1 < nx;
  const bool      computed = i >= box.lo[0] && i < box.hi[0];
  const T        *u = field + at;
  const Index    *kind_at = kinds.index + at;
  T              *to = y + at, below[rows], here[rows];
  Index           kind[rows];
  const auto      has_row = [&](int r) { return !at_ends || (j + r >= 0 && j + r < ny); };
  const auto      load = [](const T *from, bool exists) { return exists ? *from : T(0); };

#pragma unroll
  for (int r = 0; r < rows; r++) {
    below[r] = load(u + r * row - plane, has_row(r) && (!at_ends || k > 0));
    here[r] = load(u + r * row, has_row(r));
    kind[r] = has_row(r) ? kind_at[r * row] : Index(0);
  }
#pragma unroll 1
  for (int s = 0; s < planes; s++) {
    T     over[rows], add[rows] = {}, west_of_warp[rows] = {}, east_of_warp[rows] = {}, a[rows][count];
    Index kind_over[rows] = {};
#pragma unroll
    for (int r = 0; r < rows; r++) {
      over[r] = load(u + plane + r * row, has_row(r) && (!at_ends || k + s + 1 < nz));
      if (s + 1 < planes && has_row(r)) kind_over[r] = kind_at[plane + r * row];
#pragma unroll
      for (int arm = 0; arm < count; arm++) a[r][arm] = shared[arm * kinds.number + kind[r]];
    }
    const T south = load(u - row, has_row(-1)), north = load(u + rows * row, has_row(rows));
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (form != Form::product) add[r] = load(b + (u - field) + r * row, has_row(r));
      if (reads_west && has_row(r)) west_of_warp[r] = u[r * row - 1];
      if (reads_east && has_row(r)) east_of_warp[r] = u[r * row + 1];
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const T before = shuffled(here[r], lane + 31), after = shuffled(here[r], lane + 1);
      const T beside[3][2] = {{lane > 0 ? before : west_of_warp[r], lane < 31 && i + 1 < nx ? after : east_of_warp[r]},
                              {r > 0 ? here[r > 0 ? r - 1 : 0] : south, r + 1 < rows ? here[(r + 1) % rows] : north},
                              {below[r], over[r]}};
      const T Au = ConstantStar<T>::of_row(a[r], 3).template operator()<3>(here[r], beside);
      if (computed && (!at_ends || j + r < box.hi[1])) to[r * row] = combine(form, add, r, Au);
    }
#pragma unroll
    for (int r = 0; r < rows; r++) below[r] = here[r], here[r] = over[r], kind[r] = kind_over[r];
    u += plane, kind_at += plane, to += plane;
  }
}

template <Form form, class T>
__global__ void __launch_bounds__(32 * KindsBlock<T>::warps, KindsBlock<T>::at_once)
    kinds_planes(March march, Patch patch, Kinds<T> kinds, const T *__restrict__ field, const T *b, T *y) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T *const                                      shared = reinterpret_cast<T *>(bytes);
  const BlockOfWalk<KindsBlock<T>, 1>           block(march, patch);
  kinds.copy(shared);
  if (block.at_ends)
    walk_kinds<form, true>(march, patch, kinds, shared, field, b, y, block.j, block.k, block.planes);
  else
    walk_kinds<form, false>(march, patch, kinds, shared, field, b, y, block.j, block.k, block.planes);
}

} // namespace kernel

// y on the points of a box, whose arms meet no other patch.
template <class T>
PetscErrorCode launch_kinds(const Patch &patch, const Kinds<T> &kinds, const T *u, Form form, const T *b,
                            const Box &box, T *y) {
  using Block = kernel::KindsBlock<T>;
  const kernel::March march = short_march<Block, T, 1>(box, 16, 32);
  const PetscInt64    blocks = (PetscInt64)march.blocks_x * march.blocks_y * blocks_of(box.size(2), march.planes);
  cudaStream_t        stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  with_form(form, [&](auto known) {
    kernel::kinds_planes<decltype(known)::value, T>
        <<<(unsigned)blocks, 32 * Block::warps, kinds.bytes(), stream>>>(march, patch, kinds, u, b, y);
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
