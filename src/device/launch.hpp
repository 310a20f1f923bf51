#pragma once
// Runs one functor over the points of index boxes, on the host or on PETSc's CUDA stream.

#include "device/memory.hpp"

#if SHELLAC_CUDA
#define SHELLAC_HD     __host__ __device__ __forceinline__
#define SHELLAC_UNROLL _Pragma("unroll 4") // before a loop whose loads should overlap
#else
#define SHELLAC_HD inline
#define SHELLAC_UNROLL
#endif

// Before a loop with a constant number of iterations.
#if defined(__CUDACC__)
#pragma nv_diag_suppress 1675 // "unrecognized GCC pragma", which the host's compiler knows
#endif
#if defined(__CUDA_ARCH__)
#define SHELLAC_UNROLL_ALL _Pragma("unroll")
#else
#define SHELLAC_UNROLL_ALL _Pragma("GCC unroll 16")
#endif

namespace shellac {

// Points (i, j, k) with lo <= (i, j, k) < hi, by indices local to the rank.
struct Box {
  PetscInt lo[3], hi[3];

  SHELLAC_HD PetscInt   size(int axis) const { return hi[axis] > lo[axis] ? hi[axis] - lo[axis] : 0; }
  SHELLAC_HD PetscInt64 points() const { return (PetscInt64)size(0) * size(1) * size(2); }
  // The number of a point in the box, along the first axis first; and the inverse.
  SHELLAC_HD size_t index(const PetscInt p[3]) const {
    return (size_t)(p[0] - lo[0]) +
           (size_t)size(0) * ((size_t)(p[1] - lo[1]) + (size_t)size(1) * (size_t)(p[2] - lo[2]));
  }
  SHELLAC_HD void point(PetscInt64 n, PetscInt p[3]) const {
    constexpr PetscInt64 most = 0x7fffffff;
    if (n <= most && (PetscInt64)size(0) <= most && (PetscInt64)size(1) <= most)
      divide((unsigned)n, (unsigned)size(0), (unsigned)size(1), p); // several times as fast on a GPU
    else
      divide(n, (PetscInt64)size(0), (PetscInt64)size(1), p);
  }
  bool contains(const PetscInt p[3]) const {
    bool inside = true;
    for (int a = 0; a < 3; a++) inside = inside && p[a] >= lo[a] && p[a] < hi[a];
    return inside;
  }

private:
  template <class Int> SHELLAC_HD void divide(Int n, Int size_0, Int size_1, PetscInt p[3]) const {
    const Int row = n / size_0;
    p[0] = lo[0] + (PetscInt)(n % size_0);
    p[1] = lo[1] + (PetscInt)(row % size_1);
    p[2] = lo[2] + (PetscInt)(row / size_1);
  }
};

// Disjoint boxes that one launch covers.
struct Boxes {
  Box box[6];
  int count = 0;

  void add(const Box &b) {
    if (b.points() > 0) box[count++] = b;
  }
  SHELLAC_HD PetscInt64 points() const {
    PetscInt64 sum = 0;
    for (int b = 0; b < count; b++) sum += box[b].points();
    return sum;
  }
  // The n-th point of all boxes; false if there are fewer.
  SHELLAC_HD bool point(PetscInt64 n, PetscInt p[3]) const {
    for (int b = 0; b < count; b++) {
      const PetscInt64 size = box[b].points();
      if (n < size) {
        box[b].point(n, p);
        return true;
      }
      n -= size;
    }
    return false;
  }
};

// n places in a row; or m rows of them.
inline Boxes line_of(size_t n, size_t m = 1) {
  Boxes boxes;
  boxes.add({{0, 0, 0}, {(PetscInt)n, (PetscInt)m, 1}});
  return boxes;
}

// The points of a box that are not in another box inside it.
inline Boxes difference(Box rest, const Box &inside) {
  Boxes boxes;
  if (!inside.points()) {
    boxes.add(rest);
    return boxes;
  }
  for (int a = 2; a >= 0; a--) { // slabs across the slowest axis first: their rows are longest
    Box slab = rest;
    slab.hi[a] = inside.lo[a];
    boxes.add(slab);
    slab.hi[a] = rest.hi[a];
    slab.lo[a] = inside.hi[a];
    boxes.add(slab);
    rest.lo[a] = inside.lo[a];
    rest.hi[a] = inside.hi[a];
  }
  return boxes;
}

#if defined(SHELLAC_HAS_KERNELS) && !SHELLAC_CUDA
constexpr bool has_kernels = false; // though other sources of this library have
#else
constexpr bool has_kernels = true; // where any has
#endif
constexpr bool any_kernels = SHELLAC_CUDA || !has_kernels; // without them, what GPUs run is not compiled

#if SHELLAC_CUDA
namespace kernel {
template <class Function>
__global__ void for_each(const __grid_constant__ Boxes boxes, const __grid_constant__ Function f) {
  PetscInt p[3];
  if (boxes.point((PetscInt64)blockIdx.x * blockDim.x + threadIdx.x, p)) f(p[0], p[1], p[2]);
}
// f at this thread's point of a box, if it has one: see divide_box().
template <class Function> __device__ __forceinline__ void call_at_thread(const Box &box, const Function &f) {
  const PetscInt i = box.lo[0] + (PetscInt)(blockIdx.x * blockDim.x + threadIdx.x),
                 j = box.lo[1] + (PetscInt)(blockIdx.y * blockDim.y + threadIdx.y),
                 k = box.lo[2] + (PetscInt)blockIdx.z;
  if (i < box.hi[0] && j < box.hi[1]) f(i, j, k);
}
template <class Function> __global__ void for_box(const __grid_constant__ Box box, const __grid_constant__ Function f) {
  call_at_thread(box, f);
}
} // namespace kernel

// Blocks of threads for a box, where a grid of blocks may be so long.
inline bool divide_box(const Box &box, dim3 *blocks, dim3 *threads) {
  *threads = box.size(1) > 1 ? dim3(32, 8) : dim3(256, 1);
  const PetscInt rows = (box.size(1) + (PetscInt)threads->y - 1) / (PetscInt)threads->y;
  *blocks = dim3((unsigned)((box.size(0) + (PetscInt)threads->x - 1) / (PetscInt)threads->x), (unsigned)rows,
                 (unsigned)box.size(2));
  return rows <= 65535 && box.size(2) <= 65535;
}
#endif

// Calls f(i, j, k) on every point of a box, in order, on the host.
template <class Function> void for_each_on_host(const Box &box, const Function &f) {
  for (PetscInt k = box.lo[2]; k < box.hi[2]; k++)
    for (PetscInt j = box.lo[1]; j < box.hi[1]; j++)
      for (PetscInt i = box.lo[0]; i < box.hi[0]; i++) f(i, j, k);
}

// Calls f(i, j, k) on every point of the boxes; f must be free to run in any order.
template <class Function> PetscErrorCode for_each(PetscMemType memory, const Boxes &boxes, const Function &f) {
  static_assert(has_kernels || !sizeof(Function), "a loop for GPUs: CMakeLists.txt must give this source to nvcc");
  PetscFunctionBegin;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const PetscInt64 points = boxes.points(), threads = 256;
    cudaStream_t     stream;
    if (!points) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(current_stream(&stream));
    kernel::for_each<<<(unsigned)((points + threads - 1) / threads), (unsigned)threads, 0, stream>>>(boxes, f);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (int b = 0; b < boxes.count; b++) for_each_on_host(boxes.box[b], f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same for one box. On a GPU, threads find their point without divisions.
template <class Function> PetscErrorCode for_each_of_box(PetscMemType memory, const Box &box, const Function &f) {
  Boxes boxes;

  PetscFunctionBegin;
  boxes.add(box);
#if SHELLAC_CUDA
  dim3 blocks, threads;
  if (PetscMemTypeDevice(memory) && boxes.count && divide_box(box, &blocks, &threads)) {
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    kernel::for_box<<<blocks, threads, 0, stream>>>(box, f);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(for_each(memory, boxes, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
