#pragma once
// Cycles as CUDA graphs.

#include "device/recording.hpp"
#include "multigrid/cycle.hpp"

#if SHELLAC_CUDA
namespace shellac {

class CycleGraphs {
public:
  struct Key { // of work that queues the same kernels with the same arguments
    const PetscScalar *b, *x;
    bool               from_x, full, begun, transposed;
    Cycle              visits = Cycle::automatic;
    bool               again = false, more = false; // see InRow

    bool is_like(const Key &other) const { // of any arrays
      return from_x == other.from_x && full == other.full && begun == other.begun && transposed == other.transposed &&
             visits == other.visits && again == other.again && more == other.more;
    }
  };

  // What run() queues, as one graph, recorded when these arrays come for the first time. *done: unless it cannot be
  // recorded.
  template <class Function> PetscErrorCode Run(const Key &key, const Function &run, bool *done) {
    cudaGraphExec_t exec = nullptr, before = nullptr;
    cudaStream_t    stream;

    PetscFunctionBegin;
    *done = false;
    for (const Graph &graph : graphs_)
      if (graph.key.b == key.b && graph.key.x == key.x && graph.key.is_like(key)) exec = graph.exec;
    if (!exec) {
      const auto take = [&](std::vector<Graph> *from, size_t n) {
        before = (*from)[n].exec;
        from->erase(from->begin() + (ptrdiff_t)n);
      };
      for (size_t n = 0; n < spare_.size() && !before; n++)
        if (spare_[n].key.is_like(key)) take(&spare_, n);
      if (!before && graphs_.size() == most) take(&graphs_, 0); // the oldest
      PetscCall(record_graph(&recorder_, before, run, &exec));
      if (!exec) PetscFunctionReturn(PETSC_SUCCESS);
      graphs_.push_back({key, exec});
    }
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaGraphLaunch(exec, stream));
    *done = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Kernels have other arguments now; recording is faster where there is a graph of the same kernels.
  void Outdate() {
    spare_.insert(spare_.end(), graphs_.begin(), graphs_.end());
    graphs_.clear();
  }
  void TakeFrom(CycleGraphs *other) {
    spare_.swap(other->graphs_);
    std::swap(recorder_, other->recorder_);
  }
  PetscErrorCode Destroy() {
    PetscFunctionBegin;
    Outdate();
    for (const Graph &graph : spare_) PetscCallCUDA(cudaGraphExecDestroy(graph.exec));
    spare_.clear();
    if (recorder_) PetscCallCUDA(cudaStreamDestroy(recorder_));
    recorder_ = nullptr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  struct Graph {
    Key             key;
    cudaGraphExec_t exec;
  };
  static constexpr size_t most = 64; // pairs of arrays
  std::vector<Graph>      graphs_, spare_;
  cudaStream_t            recorder_ = nullptr;
};

} // namespace shellac
#endif
