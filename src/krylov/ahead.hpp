#pragma once
// What iterations that run ahead of the host need. For cg.cpp alone: the class depends on the compiler.

#include "krylov/scalars.hpp"

namespace shellac {
namespace cg {

// Where the host reads what iterations that run ahead have found.
struct Ahead {
  Record *seen[2] = {nullptr, nullptr}; // by turns
#if SHELLAC_CUDA
  cudaEvent_t     ready[2] = {nullptr, nullptr};
  cudaStream_t    recorder = nullptr;
  cudaGraphExec_t graph = nullptr;
#endif

  PetscErrorCode Prepare() {
    PetscFunctionBegin;
    for (int turn = 0; turn < 2; turn++) {
      if (seen[turn]) continue;
      PetscCall(PinnedMalloc(sizeof(Record), (void **)&seen[turn]));
#if SHELLAC_CUDA
      PetscCallCUDA(cudaEventCreateWithFlags(&ready[turn], cudaEventDisableTiming));
#endif
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ~Ahead() {
    if (seen[0]) (void)DeviceWait();
    for (Record *record : seen) PinnedFree(record);
#if SHELLAC_CUDA
    for (cudaEvent_t event : ready)
      if (event) (void)cudaEventDestroy(event);
    if (graph) (void)cudaGraphExecDestroy(graph);
    if (recorder) (void)cudaStreamDestroy(recorder);
#endif
  }
};

} // namespace cg
} // namespace shellac
