#pragma once
// What iterations that run ahead of the host need, and those that are a graph. For cg.cpp alone: the classes depend on the
// compiler.

#include <algorithm>

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

// An iteration as one CUDA graph, and all that its kernels' arguments follow from.
struct Recorded {
  static constexpr int arrays = 5; // x, r, p, w, the next p
  struct Key {
    PetscInt64         cycles = 0; // the number of the preconditioner's set-up; 0: cannot be recorded
    PetscObjectId      matrix = 0;
    PetscObjectState   state = 0;
    KSPNormType        norm = KSP_NORM_NONE;
    KSPCGType          type = KSP_CG_HERMITIAN;
    const PetscScalar *of[arrays] = {};

    bool operator==(const Key &other) const {
      return cycles == other.cycles && matrix == other.matrix && state == other.state && norm == other.norm &&
             type == other.type && std::equal(of, of + arrays, other.of);
    }
  };
  Key            key;
  PetscLogDouble flops = 0;
  bool           counted = false; // those of the next launch, by recording
#if SHELLAC_CUDA
  cudaGraphExec_t graph = nullptr; // null: it cannot be recorded
  ~Recorded() {
    if (graph) (void)cudaGraphExecDestroy(graph);
  }
#endif
};

} // namespace cg
} // namespace shellac
