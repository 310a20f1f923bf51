#pragma once
// What the benchmarks share: the time of a call, and the copy that bounds it.

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <petscdevice.h>

#include "device/petsc.hpp"
#include "shellac.h"

static inline PetscErrorCode synchronize() {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) PetscCallCUDA(cudaDeviceSynchronize());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Seconds of one call of `work`: the median of batches, of the slowest rank.
static inline PetscErrorCode time_of(PetscReal seconds, const std::function<PetscErrorCode()> &work, PetscReal *median) {
  constexpr int          batches = 7;
  std::vector<PetscReal> times;
  PetscLogDouble         begin, end;
  PetscReal              once;
  PetscInt               repeats;

  PetscFunctionBegin;
  PetscCall(work());
  PetscCall(synchronize());
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&begin));
  for (int i = 0; i < 3; i++) PetscCall(work());
  PetscCall(synchronize());
  PetscCall(PetscTime(&end));
  once = (end - begin) / 3;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &once, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  repeats = (PetscInt)std::max(1.0, std::ceil(seconds / batches / once));
  for (int batch = 0; batch < batches; batch++) {
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&begin));
    for (PetscInt i = 0; i < repeats; i++) PetscCall(work());
    PetscCall(synchronize());
    PetscCall(PetscTime(&end));
    times.push_back((end - begin) / repeats);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, times.data(), batches, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  std::sort(times.begin(), times.end());
  *median = times[batches / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if SHELLAC_CUDA
// Sixteen bytes a thread and load: the fastest plain copy.
__global__ void copy_kernel(size_t n, const double2 *from, double2 *to) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}
#endif

// y = x by a kernel of our own on a GPU, by VecCopy() on the host.
static inline PetscErrorCode copy(Vec x, Vec y) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  const PetscScalar *from;
  PetscScalar       *to;
  PetscMemType       memory;
  PetscInt           n;
  cudaStream_t       stream;
  PetscCall(VecGetArrayReadAndMemType(x, &from, &memory));
  if (PetscMemTypeDevice(memory)) {
    PetscCall(VecGetArrayWriteAndMemType(y, &to, &memory));
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(shellac::current_stream(&stream));
    const size_t pairs = (size_t)n * sizeof(PetscScalar) / sizeof(double2);
    copy_kernel<<<(unsigned)((pairs + 255) / 256), 256, 0, stream>>>(pairs, (const double2 *)from, (double2 *)to);
    PetscCall(VecRestoreArrayWriteAndMemType(y, &to));
    PetscCall(VecRestoreArrayReadAndMemType(x, &from));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecRestoreArrayReadAndMemType(x, &from));
#endif
  PetscCall(VecCopy(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
