#pragma once
// CUDA graphs of work that this library queues.

#include "device/petsc.hpp"

#if SHELLAC_CUDA
namespace shellac {

// Makes a graph executable, which takes a fraction of the time if it is one of before whose kernels only get other
// arguments. That one is destroyed if it is of no use.
inline cudaError_t make_executable(cudaGraph_t graph, cudaGraphExec_t before, cudaGraphExec_t *exec) {
#if CUDART_VERSION >= 12000
  cudaGraphExecUpdateResultInfo info;
  if (before && cudaGraphExecUpdate(before, graph, &info) == cudaSuccess) {
    *exec = before;
    return cudaSuccess;
  }
  (void)cudaGetLastError();
#endif
  if (before) (void)cudaGraphExecDestroy(before);
  return cudaGraphInstantiate(exec, graph, 0);
}

// Records what run() queues, which does not run. *exec: null where something cannot be recorded; nothing is an error then.
// recorder: a stream for recordings, made here. before: an executable graph to take, or null.
template <class Function>
PetscErrorCode record_graph(cudaStream_t *recorder, cudaGraphExec_t before, const Function &run,
                            cudaGraphExec_t *exec) {
  cudaGraph_t    graph = nullptr;
  cudaError_t    error = cudaSuccess;
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  *exec = nullptr;
  if (!*recorder) error = cudaStreamCreateWithFlags(recorder, cudaStreamNonBlocking);
  if (!error) error = cudaStreamBeginCapture(*recorder, cudaStreamCaptureModeThreadLocal);
  if (!error) {
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL)); // an error of its own comes again in a plain run
    recording_stream = *recorder;
    code = run();
    recording_stream = nullptr;
    PetscCall(PetscPopErrorHandler());
    error = cudaStreamEndCapture(*recorder, &graph);
    if (!error && !code) {
      error = make_executable(graph, before, exec);
      before = nullptr;
    }
    if (graph) (void)cudaGraphDestroy(graph);
  }
  if (before) (void)cudaGraphExecDestroy(before);
  if (error || code) {
    *exec = nullptr;
    PetscCall(
        PetscInfo(NULL, "No CUDA graph: %s\n", error ? cudaGetErrorString(error) : "an error of what it would do"));
    (void)cudaGetLastError();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
