#include "device/memory.hpp"

namespace shellac {

#if SHELLAC_CUDA

PetscErrorCode DeviceMalloc(size_t bytes, void **memory) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream)); // PETSc chooses the rank's GPU when it is first asked for
  PetscCallCUDA(cudaMalloc(memory, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DeviceFree(void *memory) {
  if (memory) (void)cudaFree(memory);
}

PetscErrorCode DeviceCopyFromHost(void *to, const void *from, size_t bytes) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceCopyToHost(void *to, const void *from, size_t bytes) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceZero(void *memory, size_t bytes) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCallCUDA(cudaMemsetAsync(memory, 0, bytes, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceWait() {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool DeviceRecords() {
  return recording_stream;
}

PetscErrorCode PinnedMalloc(size_t bytes, void **memory) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream)); // as above
  PetscCallCUDA(cudaMallocHost(memory, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PinnedFree(void *memory) {
  if (memory) (void)cudaFreeHost(memory);
}

#else

PetscErrorCode DeviceMalloc(size_t, void **) {
  return check_backend(PETSC_MEMTYPE_CUDA);
}

void DeviceFree(void *) {}

PetscErrorCode DeviceCopyFromHost(void *, const void *, size_t) {
  return check_backend(PETSC_MEMTYPE_CUDA);
}

PetscErrorCode DeviceCopyToHost(void *, const void *, size_t) {
  return check_backend(PETSC_MEMTYPE_CUDA);
}

PetscErrorCode DeviceZero(void *, size_t) {
  return check_backend(PETSC_MEMTYPE_CUDA);
}

PetscErrorCode DeviceWait() {
  return check_backend(PETSC_MEMTYPE_CUDA);
}

bool DeviceRecords() {
  return false;
}

PetscErrorCode PinnedMalloc(size_t, void **) {
  return check_backend(PETSC_MEMTYPE_CUDA);
}

void PinnedFree(void *) {}

#endif

PetscErrorCode check_backend(PetscMemType memory) {
  PetscFunctionBegin;
  PetscCheck(PetscMemTypeHost(memory) || (SHELLAC_CUDA && PetscMemTypeCUDA(memory)), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "the vectors live in memory that this build of Shellac cannot reach (memory type %d); use host%s vectors",
             (int)memory, SHELLAC_CUDA ? " or CUDA" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
