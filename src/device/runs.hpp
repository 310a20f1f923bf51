#pragma once
// Loops over runs of points, which are contiguous along the first axis: long runs on the host, in loops that the compiler
// vectorises, and runs of one point on a GPU, one thread each. One source serves both:
//   template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const;   // n <= most points from p on

#include "device/launch.hpp"
#include "device/scratch.hpp"
#include "device/stream.hpp"

// Functions that are inlined into their caller, and so compiled for its instruction set: see SHELLAC_WIDE.
#if SHELLAC_CUDA
#define SHELLAC_RUN __host__ __device__ __forceinline__
#else
#define SHELLAC_RUN inline __attribute__((always_inline))
#endif

namespace shellac {

// Points of a run on the host: their values stay in the cache.
constexpr int most_run = 64;

template <class T> SHELLAC_RUN void fill_run(T *to, int n, T value) {
  for (int i = 0; i < n; i++) to[i] = value;
}

namespace runs {

template <class Function> struct OnePoint {
  Function        f;
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    f.template run<1>(p, 1);
  }
};

// sum: of sum_runs(), or none
template <class Function, class... Sum> SHELLAC_WIDE void on_host(const Box &box, const Function &f, Sum *...sum) {
  PetscInt p[3];
  for (p[2] = box.lo[2]; p[2] < box.hi[2]; p[2]++)
    for (p[1] = box.lo[1]; p[1] < box.hi[1]; p[1]++)
      for (p[0] = box.lo[0]; p[0] < box.hi[0]; p[0] += most_run)
        f.template run<most_run>(p, (int)PetscMin(box.hi[0] - p[0], most_run), sum...);
}

constexpr int blocks = 1584, threads = 128; // the same on any GPU, so that sums are; 12 for each of 132 multiprocessors

#if SHELLAC_CUDA
// The sum of a block's threads, in each of them.
template <class Sum> __device__ void add_over_block(Sum *mine) {
  __shared__ alignas(16) unsigned char memory[threads * sizeof(Sum)];
  Sum                                 *all = reinterpret_cast<Sum *>(memory);
  all[threadIdx.x] = *mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if ((int)threadIdx.x < half) all[threadIdx.x].add(all[threadIdx.x + half]);
    __syncthreads();
  }
  *mine = all[0];
}

template <class Sum, class Function>
__global__ __launch_bounds__(threads) void add(const __grid_constant__ Box box, const __grid_constant__ Function f,
                                               Sum *parts) {
  Sum              mine = {};
  const PetscInt64 points = box.points();
  for (PetscInt64 n = (PetscInt64)blockIdx.x * threads + threadIdx.x; n < points;
       n += (PetscInt64)gridDim.x * threads) {
    PetscInt p[3];
    box.point(n, p);
    f.template run<1>(p, 1, &mine);
  }
  add_over_block(&mine);
  if (threadIdx.x == 0) parts[blockIdx.x] = mine;
}

template <class Sum> __global__ __launch_bounds__(threads) void add_parts(int count, const Sum *parts, Sum *sum) {
  Sum mine = {};
  for (int n = threadIdx.x; n < count; n += threads) mine.add(parts[n]);
  add_over_block(&mine);
  if (threadIdx.x == 0) *sum = mine;
}
#endif

} // namespace runs

// Calls f.run(p, n) for all points of a box, each once; f must be free to run in any order.
template <class Function> PetscErrorCode for_each_run(PetscMemType memory, const Box &box, const Function &f) {
  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  if constexpr (any_kernels)
    if (PetscMemTypeDevice(memory)) PetscFunctionReturn(for_each_of_box(memory, box, runs::OnePoint<Function>{f}));
  runs::on_host(box, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The sum of what f.run(p, n, &sum) adds for all points of a box, in the same order each time. sum{} is zero, and sum.add()
// adds another sum. *sum is in `memory`, without synchronisation; work is room for partial sums.
template <class Sum, class Function>
PetscErrorCode sum_runs(PetscMemType memory, const Box &box, const Function &f, Scratch<Sum> *work, Sum *sum) {
  static_assert(has_kernels || !sizeof(Function), "a loop for GPUs: CMakeLists.txt must give this source to nvcc");
  PetscFunctionBegin;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const PetscInt64 wanted = (box.points() + runs::threads - 1) / runs::threads;
    const int        blocks = (int)PetscMax(PetscMin(wanted, (PetscInt64)runs::blocks), (PetscInt64)1);
    cudaStream_t     stream;
    PetscCall(current_stream(&stream));
    PetscCall(work->Grow(runs::blocks, memory));
    Sum *parts = work->at(memory);
    runs::add<<<blocks, runs::threads, 0, stream>>>(box, f, parts);
    PetscCallCUDA(cudaGetLastError());
    runs::add_parts<<<1, runs::threads, 0, stream>>>(blocks, parts, sum);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)work;
  *sum = Sum{};
  runs::on_host(box, f, sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
