#pragma once
// Short kernels in a chain: each begins while the previous one still runs, does the work that does not depend on it, and
// then waits for it ("programmatic dependent launch", compute capability 9.0 and later; otherwise one after another).

#include "device/launch.hpp"

namespace shellac {
#if SHELLAC_CUDA

inline int attribute_of_gpu(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  if (cudaGetDevice(&device) == cudaSuccess) (void)cudaDeviceGetAttribute(&value, attribute, device);
  return value;
}
inline int multiprocessors() {
  return PetscMax(attribute_of_gpu(cudaDevAttrMultiProcessorCount), 1);
}
inline size_t most_shared_memory() { // of a block [bytes]
  return (size_t)attribute_of_gpu(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

// Before this wait, a kernel that launch_in_chain() launched may read only data from set-up, or data that the previous
// kernel had waited for when it let this one begin. It may write only what no unfinished kernel reads.
__device__ __forceinline__ void wait_for_kernel_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
// If the next kernel reads, before its wait, data that this one has waited for, call __threadfence() first.
__device__ __forceinline__ void let_next_kernel_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Each block of such a kernel must wait for the previous kernel at some point. cluster: the number of blocks that run
// together.
template <class... Parameters, class... Arguments>
PetscErrorCode launch_clusters_in_chain(void (*kernel)(Parameters...), unsigned cluster, dim3 blocks, dim3 threads,
                                        size_t bytes, const Arguments &...arguments) {
  cudaLaunchConfig_t  config = {};
  cudaLaunchAttribute attributes_of[2] = {}, &early = attributes_of[0], &together = attributes_of[1];
  cudaFuncAttributes  attributes;
  static int          can = -1; // the code has been compiled with the waits
  cudaStream_t        stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (can < 0) {
    PetscCallCUDA(cudaFuncGetAttributes(&attributes, (const void *)kernel));
    can = attributes.ptxVersion >= 90;
  }
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  together.id = cudaLaunchAttributeClusterDimension;
  together.val.clusterDim.x = cluster, together.val.clusterDim.y = together.val.clusterDim.z = 1;
  config.attrs = attributes_of;
  config.numAttrs = cluster > 1 ? 2 : can ? 1 : 0; // where there are clusters, there are chains
  PetscCallCUDA(cudaLaunchKernelEx(&config, kernel, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class... Parameters, class... Arguments>
PetscErrorCode launch_grid_in_chain(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t bytes,
                                    const Arguments &...arguments) {
  return launch_clusters_in_chain(kernel, 1, blocks, threads, bytes, arguments...);
}
template <class... Parameters, class... Arguments>
PetscErrorCode launch_in_chain(void (*kernel)(Parameters...), PetscInt64 blocks, int threads, size_t bytes,
                               const Arguments &...arguments) {
  return launch_grid_in_chain(kernel, dim3((unsigned)blocks), dim3((unsigned)threads), bytes, arguments...);
}

namespace kernel {
template <class Function>
__global__ void for_box_in_chain(const __grid_constant__ Box box, const __grid_constant__ Function f) {
  wait_for_kernel_before();
  let_next_kernel_begin();
  call_at_thread(box, f);
}
} // namespace kernel
#endif

// As for_each_of_box(), in a chain on a GPU.
template <class Function> PetscErrorCode for_each_in_chain(PetscMemType memory, const Box &box, const Function &f) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  dim3 blocks, threads;
  if (PetscMemTypeDevice(memory) && box.points() > 0 && divide_box(box, &blocks, &threads)) {
    PetscCall(launch_grid_in_chain(kernel::for_box_in_chain<Function>, blocks, threads, 0, box, f));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(for_each_of_box(memory, box, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
