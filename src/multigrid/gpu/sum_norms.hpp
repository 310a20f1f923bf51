#pragma once
// Adds up what the blocks of a pass on a GPU have found of a norm.

#include "device/launch.hpp"

#if SHELLAC_CUDA
namespace shellac {

// The sum of n numbers in their order, by one block.
static __global__ void sum_up(const double *values, PetscInt64 n, double *sum) {
  __shared__ double part[1024];
  double            mine = 0;
  for (PetscInt64 i = threadIdx.x; i < n; i += 1024) mine += values[i];
  part[threadIdx.x] = mine;
  for (int step = 512; step > 0; step /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
  }
  if (threadIdx.x == 0) *sum = part[0];
}

static inline PetscErrorCode sum_norms(const double *values, PetscInt64 n, double *sum) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  sum_up<<<1, 1024, 0, stream>>>(values, n, sum);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
