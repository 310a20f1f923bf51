#pragma once
// Hierarchy's cycles over all levels: from vectors to vectors, as one CUDA graph where that can be.

#include "multigrid/hierarchy.hpp"

namespace shellac {

template <class Part>
PetscErrorCode Hierarchy<Part>::Apply(PetscMemType memory, const S *b, S *x, bool from_x, bool full, PetscReal stop,
                                      PetscReal limit, PetscReal *norm) {
  Level &top = level(0);

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  PetscCall(Prepare(memory));
  memory_ = memory;
  b_ = b;
  x_ = x;
  begun_ = false;
  norm_ = norm ? norms_.at(memory) + norms_.size() - 1 : nullptr;
  const Patch own = part_patch(top);
  if (top.b.size()) { // the level has arrays of its own
    const auto in = [&](const S *from, T *to) {
      PetscFunctionBegin;
      if (!parts_) {
        PetscCall(over(own, point::CopyPart<S, T>{own, top.patch, from, to, false}));
      } else {
        T *part = top.b_part.at(memory);
        PetscCall(over(own, point::CopyPart<S, T>{own, own, from, part, false}));
        PetscCall(Gather(top, part, to));
      }
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    PetscCall(in(b, top.b.at(memory)));
    if (from_x) PetscCall(in(x, top.x.at(memory)));
  }
  if (norm) {
    PetscCall(stage(multigrid_down_event, [&]() { return Down(0, Guess::given); }));
    PetscCall(ReadNorm(norm));
    norm_ = nullptr;
    if (!(*norm > stop && *norm <= limit)) PetscFunctionReturn(PETSC_SUCCESS);
    begun_ = true;
  }
  bool done = false;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory) && options_.graph && !parts_) PetscCall(RunGraph(from_x, full, &done));
#endif
  if (!done) PetscCall(Run(from_x, full));
  if (top.b.size()) PetscCall(over(own, point::CopyPart<T, S>{own, top.patch, top.x.at(memory), x, true}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::Run(bool from_x, bool full) {
  PetscFunctionBegin;
  if (full)
    PetscCall(run_full(*this, 0, last(), options_.cycle));
  else
    PetscCall(run_cycle(*this, 0, last(), options_.cycle, from_x ? Guess::given : Guess::zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if SHELLAC_CUDA
// Makes a graph executable, which takes a fraction of the time if it is one of before whose kernels only get other parameters.
// before: goes or becomes *exec; null for none
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

// The same as one graph, recorded when these arrays come for the first time.
template <class Part> PetscErrorCode Hierarchy<Part>::RunGraph(bool from_x, bool full, bool *done) {
  cudaStream_t stream;

  PetscFunctionBegin;
  Graph wanted = {b_, x_, from_x, full, begun_, nullptr};
  for (const Graph &graph : graphs_)
    if (graph.b == b_ && graph.x == x_ && graph.from_x == from_x && graph.full == full && graph.begun == begun_)
      wanted.exec = graph.exec;
  if (!wanted.exec) {
    cudaGraph_t     graph = nullptr;
    cudaGraphExec_t before = nullptr;
    const auto      take = [&](std::vector<Graph> *from, size_t n) {
      before = (*from)[n].exec;
      from->erase(from->begin() + (ptrdiff_t)n);
    };
    *done = false;
    for (size_t n = 0; n < spare_graphs_.size() && !before; n++)
      if (spare_graphs_[n].from_x == from_x && spare_graphs_[n].full == full && spare_graphs_[n].begun == begun_)
        take(&spare_graphs_, n);
    if (!before && graphs_.size() == most_graphs) take(&graphs_, 0); // the oldest
    cudaError_t    error = cudaSuccess;
    PetscErrorCode code = PETSC_SUCCESS;
    if (!recorder_) error = cudaStreamCreateWithFlags(&recorder_, cudaStreamNonBlocking);
    if (!error) error = cudaStreamBeginCapture(recorder_, cudaStreamCaptureModeThreadLocal);
    if (!error) {
      const bool begun = begun_;
      PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL)); // an error of its own comes again in a plain run
      recording_stream = recorder_;
      recording_ = true;
      code = Run(from_x, full);
      recording_ = false;
      recording_stream = nullptr;
      PetscCall(PetscPopErrorHandler());
      error = cudaStreamEndCapture(recorder_, &graph);
      if (!error && !code) {
        error = make_executable(graph, before, &wanted.exec);
        before = nullptr;
      }
      if (graph) (void)cudaGraphDestroy(graph);
      begun_ = begun;
    }
    if (before) (void)cudaGraphExecDestroy(before);
    if (error || code) { // what cannot be recorded can be run
      PetscCall(PetscInfo(NULL, "No CUDA graph of a multigrid cycle: %s\n", cudaGetErrorString(error)));
      (void)cudaGetLastError();
      options_.graph = false;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    graphs_.push_back(wanted);
  }
  begun_ = false;
  PetscCall(current_stream(&stream));
  PetscCallCUDA(cudaGraphLaunch(wanted.exec, stream));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

template <class Part> PetscErrorCode Hierarchy<Part>::ReadNorm(PetscReal *norm) {
  double sum = 0;

  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory_)) {
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaMemcpyAsync(&sum, norm_, sizeof(sum), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
  } else
#endif
    sum = *norm_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid_.comm));
  *norm = PetscSqrtReal((PetscReal)sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::LevelNorms(std::vector<PetscReal> *norms) {
  PetscFunctionBegin;
  norms->clear();
  for (int l = 1; l <= last(); l++) {
    Level         &at = level(l);
    std::vector<T> values;
    double         sum = 0;
    PetscCall(at.b.GetHost(memory_, &values));
    for (const T &value : values) sum += squared(value);
    if (!at.whole) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid_.comm));
    norms->push_back(PetscSqrtReal((PetscReal)sum));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
