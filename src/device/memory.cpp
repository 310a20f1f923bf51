#include "device/memory.hpp"

#include <map>

#include "device/exports.hpp"

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

#if SHELLAC_CUDA
// Memory that is given back stays in this pool, up to a sixteenth of the GPU's: it is taken again without a wait.
// Null where there are no pools.
static cudaMemPool_t pool_of(int gpu) {
  static std::map<int, cudaMemPool_t> pools;
  const auto                          known = pools.find(gpu);
  cudaMemPool_t                       pool = nullptr;
  cudaMemPoolProps                    properties = {};
  cudaDeviceProp                      card;
  int                                 has = 0;

  if (known != pools.end()) return known->second;
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, gpu};
  if (!cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, gpu) && has &&
      !cudaGetDeviceProperties(&card, gpu) && !cudaMemPoolCreate(&pool, &properties)) {
    uint64_t kept = card.totalGlobalMem / 16;
    (void)cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
  }
  (void)cudaGetLastError();
  return pools[gpu] = pool;
}

// While a CUDA graph is recorded, the plain function ends the recording: the graph is not to have memory of its own.
static cudaError_t allocate(void **memory, size_t bytes, cudaStream_t stream) {
  int gpu = 0;

  if (const cudaError_t error = cudaGetDevice(&gpu)) return error;
  const cudaMemPool_t pool = recording_stream ? nullptr : pool_of(gpu);
  return pool ? cudaMallocFromPoolAsync(memory, bytes, pool, stream) : cudaMalloc(memory, bytes);
}
#endif

PetscErrorCode DeviceMalloc(size_t bytes, void **memory) {
  PetscFunctionBegin;
  CALL_CUDA(allocate(memory, PetscMax(bytes, 1), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceMallocForPeers(size_t bytes, void **memory) {
  PetscFunctionBegin;
  CALL_CUDA(cudaMalloc(memory, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What is given back is taken again: to pin memory takes as long as a small set-up.
static Exports pinned;

PetscErrorCode PinnedMalloc(size_t bytes, void **memory) {
  PetscFunctionBegin;
  PetscCall(pinned.Take(
      0, bytes,
      [](size_t size, void **made) {
        PetscFunctionBegin;
        CALL_CUDA(cudaMallocHost(made, size));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DeviceFree(void *memory) {
#if SHELLAC_CUDA
  cudaStream_t stream;
  if (!memory) return;
  if (PetscInitializeCalled && !PetscFinalizeCalled && !recording_stream && !current_stream(&stream)) {
    if (!cudaFreeAsync(memory, stream)) return;
    (void)cudaGetLastError(); // a GPU without pools does not know it
  }
  (void)cudaFree(memory);
#endif
}

void PinnedFree(void *memory) {
  pinned.Return(memory);
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
