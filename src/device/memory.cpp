#include "device/memory.hpp"

namespace shellac {

// Calls a function of CUDA, which may name PETSc's `stream`: PETSc chooses the rank's GPU when it is first asked for that.
#if SHELLAC_CUDA
#define CALL_CUDA(...)                                                                                                 \
  do {                                                                                                                 \
    cudaStream_t stream;                                                                                               \
    PetscCall(current_stream(&stream));                                                                                \
    PetscCallCUDA(__VA_ARGS__);                                                                                        \
  } while (0)
#else
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define CALL_CUDA(...) PetscCall(check_backend(PETSC_MEMTYPE_CUDA))
#endif

PetscErrorCode DeviceMalloc(size_t bytes, void **memory) {
  PetscFunctionBegin;
  CALL_CUDA(cudaMalloc(memory, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PinnedMalloc(size_t bytes, void **memory) {
  PetscFunctionBegin;
  CALL_CUDA(cudaMallocHost(memory, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DeviceFree(void *memory) {
#if SHELLAC_CUDA
  if (memory) (void)cudaFree(memory);
#endif
}

void PinnedFree(void *memory) {
#if SHELLAC_CUDA
  if (memory) (void)cudaFreeHost(memory);
#endif
}

PetscErrorCode DeviceCopyFromHost(void *to, const void *from, size_t bytes) {
  PetscFunctionBegin;
  CALL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceCopyToHost(void *to, const void *from, size_t bytes) {
  PetscFunctionBegin;
  CALL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
  PetscCall(DeviceWait());
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceZero(void *memory, size_t bytes) {
  PetscFunctionBegin;
  CALL_CUDA(cudaMemsetAsync(memory, 0, bytes, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceWait() {
  PetscFunctionBegin;
  CALL_CUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool DeviceRecords() {
#if SHELLAC_CUDA
  return recording_stream;
#else
  return false;
#endif
}

PetscErrorCode check_backend(PetscMemType memory) {
  PetscFunctionBegin;
  PetscCheck(PetscMemTypeHost(memory) || (SHELLAC_CUDA && PetscMemTypeCUDA(memory)), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "the vectors live in memory that this build of Shellac cannot reach (memory type %d); use host%s vectors",
             (int)memory, SHELLAC_CUDA ? " or CUDA" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
