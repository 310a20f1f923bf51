#pragma once
// The tiled pair sum on a GPU: its launches.

#include <algorithm>

#include "device/chain.hpp"
#include "sums/pair_sum.hpp"

#if SHELLAC_CUDA
#include "sums/kernel_on_gpu.hpp"

namespace shellac {
namespace device {

template <class Function>
Arguments<Function> arguments_of(const PairSum &s, const Function &f, double scale, double factor, int first_column) {
  Arguments<Function> a{f, s.targets, s.sources, s.in, s.out};
  a.partial = NULL;
  a.scale = scale, a.factor = factor;
  for (int d = 0; d < 3; d++) a.center[d] = s.center[d];
  a.group = NULL, a.list = NULL, a.first = NULL;
  a.first_column = first_column, a.dim = s.dim, a.block = s.block;
  a.add = s.add, a.own_value_at_zero = s.own_value_at_zero;
  return a;
}
inline bool are_many(PetscInt targets) {
  return targets >= 32768;
}
// Whether there are enough targets to fill the GPU with many of them for each thread; with fewer targets, threads and
// blocks get fewer.
inline bool fills(const PairSum &s, int few) {
  return s.group ? s.group_size > 128 * few : s.sources.n >= 512 && are_many(s.targets.n);
}

// Whether half a block of 128 threads, two targets each, takes a group.
inline bool has_small_groups(const PairSum &s) {
  return s.group && s.group_size <= 128;
}

// Adds the parts of the sources, a warp for each sum, always in the same order. blockIdx.y: the column.
template <int unused>
__global__ void add_splits(PetscInt n, int splits, int parts, int stored, const double *partial, Values<PetscReal> out,
                           int first_column, double factor, bool add) {
  const PetscInt i = ((PetscInt)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int      lane = threadIdx.x % 32, c = blockIdx.y;
  if (i >= n) return;
  for (int p = 0; p < parts; p++) {
    double sum = 0;
    for (int s = lane; s < splits; s += 32) sum += partial[((size_t)s * stored + c * parts + p) * n + i];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    PetscReal *to = &out.data[out.at(i, first_column + c) + p];
    if (lane == 0) *to = (PetscReal)(add ? *to + factor * sum : factor * sum);
  }
}
// The same where there are targets enough for a thread each.
template <int unused>
__global__ void add_few_splits(PetscInt n, int splits, int parts, int stored, const double *partial,
                               Values<PetscReal> out, int first_column, double factor, bool add) {
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;
  const int      c = blockIdx.y;
  if (i >= n) return;
  for (int p = 0; p < parts; p++) {
    double sum = 0;
    for (int s = 0; s < splits; s++) sum += partial[((size_t)s * stored + c * parts + p) * n + i];
    PetscReal *to = &out.data[out.at(i, first_column + c) + p];
    *to = (PetscReal)(add ? *to + factor * sum : factor * sum);
  }
}

PetscErrorCode GetWorkspace(size_t bytes, double **work); // one for all, in the order of PETSc's stream

// A kernel of a pair sum. sums: that it computes for a target, each of so many parts; targets, threads: of a block;
// resident: blocks that the GPU holds at a time, 0 before they are counted.
struct SumKernel {
  const void *kernel;
  int         sums, parts, targets, threads;
  int        *resident;
};
inline PetscErrorCode count_resident(const void *kernel, int threads, int *resident) {
  int blocks;

  PetscFunctionBegin;
  if (*resident) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  *resident = std::max(1, multiprocessors() * blocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Function>
PetscErrorCode launch_kernel(const PairSum &s, Arguments<Function> a, const SumKernel &which) {
  const int    threads = which.threads, targets = which.targets, parts = which.parts;
  const int    columns = s.form == SumForm::gradient ? s.dim : which.sums;
  cudaStream_t stream;
  void        *arguments[] = {&a};

  PetscFunctionBegin;
  if (!s.targets.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(current_stream(&stream));
  if (s.group) {
    if (!s.groups) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(s.group_size <= targets, PETSC_COMM_SELF, PETSC_ERR_PLIB, "groups of targets are too large");
    a.group = s.group, a.list = s.list, a.first = s.first;
    PetscCallCUDA(
        cudaLaunchKernel(which.kernel, dim3((unsigned)s.groups), dim3((unsigned)threads), arguments, 0, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(count_resident(which.kernel, threads, which.resident));
  // The sources are split where the targets do not fill the GPU several times over, but not into parts so small that
  // adding them would cost more.
  const PetscInt64 blocks = (s.targets.n + targets - 1) / targets, resident = *which.resident;
  PetscInt64       splits = blocks >= 12 * resident ? 1 : (6 * resident + blocks - 1) / blocks;
  splits = std::max<PetscInt64>(1, std::min<PetscInt64>({splits, s.sources.n / (4 * threads), 65535}));
  const PetscInt64 tiles = (s.sources.n + threads - 1) / threads;
  a.sources_a_split = (PetscInt)((tiles + splits - 1) / splits * threads);
  splits = std::max<PetscInt64>(1, (s.sources.n + a.sources_a_split - 1) / std::max<PetscInt>(1, a.sources_a_split));
  if (splits > 1)
    PetscCall(GetWorkspace(sizeof(double) * (size_t)splits * which.sums * parts * (size_t)s.targets.n, &a.partial));
  PetscCallCUDA(cudaLaunchKernel(which.kernel, dim3((unsigned)blocks, (unsigned)splits), dim3((unsigned)threads),
                                 arguments, 0, stream));
  if (splits > 1) {
    const bool few = s.targets.n < 4096;
    const auto reduce = few ? add_splits<0> : add_few_splits<0>;
    const auto threads_of_all = (PetscInt64)s.targets.n * (few ? 32 : 1);
    reduce<<<dim3((unsigned)((threads_of_all + 255) / 256), (unsigned)columns), 256, 0, stream>>>(
        s.targets.n, (int)splits, parts, which.sums * parts, a.partial, a.out, a.first_column, a.factor, a.add);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Function, class T, SumForm form, int K, int R, int threads = 128>
PetscErrorCode launch(const PairSum &s, const Arguments<Function> &a) {
  using P = PairTerm<Function, T, form, K>;
  static int resident = 0;

  PetscFunctionBegin;
  PetscCall(launch_kernel(s, a,
                          {(const void *)sum_kernel<Function, T, form, K, R, threads>, P::out,
                           Scalar<typename P::V>::parts, threads * R, threads, &resident}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace device
} // namespace shellac
#endif
