// Iterations on GPUs without the host between their passes. Where GPUs add up the sums of all ranks, with a preconditioner
// that is diagonal, iterations run ahead of the host, several as one kernel or CUDA graph; the host reads norms behind them.
// With cycles of stencilmg on one GPU, an iteration is a graph, which the next solve takes again.

#include "device/recording.hpp"
#include "krylov/solve.hpp"

namespace shellac {

// An iteration up to its norm as a CUDA graph, where the preconditioner says that it may be.
PetscErrorCode Solve::RecordIteration() {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  cg::Recorded::Key key;
  PetscErrorCode (*get_number)(PC, PetscInt64 *) = NULL;
  if (!run_.on_gpu() || is_diagonal_ || projects_ || ksp_->transpose_solve || ranks_ > 1 || !ours_ ||
      ours_->bound_to_host)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp_->pc, "ShellacCycles_C", &get_number));
  if (get_number) PetscCall((*get_number)(ksp_->pc, &key.cycles));
  if (!key.cycles) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)A_, &key.matrix));
  PetscCall(PetscObjectStateGet((PetscObject)A_, &key.state));
  key.norm = ksp_->normtype, key.type = cg_.type;
  for (cg::Recorded &recorded : cg_.iterations) {
    const Vec      p = p_, next = next_p_;
    Arrays         arrays;
    PetscLogDouble flops;
    PetscCall(ReadIterated(&arrays, key.of));
    PetscCall(arrays.Restore());
    if (!(recorded.key == key)) {
      const cudaGraphExec_t before = recorded.graph;
      recorded.graph = nullptr;
      PetscCall(PetscGetFlops(&flops));
      PetscCall(record_graph(
          &cg_.ahead.recorder, before, [&] { return IterateToNorm(); }, &recorded.graph));
      recorded.key = key;
      PetscCall(PetscGetFlops(&recorded.flops));
      recorded.flops -= flops;
      recorded.counted = true;
    }
    records_ = recorded.graph;
    if (!is_star_) break;
    p_ = next, next_p_ = p; // as that iteration leaves them
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The arrays of an iteration, which are written once more, as far as PETSc knows.
PetscErrorCode Solve::ReadIterated(Arrays *arrays, const PetscScalar *of[cg::Recorded::arrays]) {
  const Vec vectors[cg::Recorded::arrays] = {x_, r_, p_, w_, next_p_};

  PetscFunctionBegin;
  for (int n = 0; n < cg::Recorded::arrays; n++) {
    PetscScalar *array;
    if (n && vectors[n] == vectors[n - 1]) {
      of[n] = of[n - 1];
      continue;
    }
    PetscCall(arrays->ReadWrite(vectors[n], &array));
    of[n] = array;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve::LaunchIteration(bool *launched) {
  PetscFunctionBegin;
  *launched = false;
#if SHELLAC_CUDA
  Arrays             arrays;
  const PetscScalar *of[cg::Recorded::arrays];
  cudaStream_t       stream;
  if (!records_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ReadIterated(&arrays, of));
  for (cg::Recorded &recorded : cg_.iterations) {
    if (!recorded.graph || !std::equal(of, of + cg::Recorded::arrays, recorded.key.of)) continue;
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaGraphLaunch(recorded.graph, stream));
    if (!recorded.counted) PetscCall(PetscLogGpuFlops(recorded.flops));
    recorded.counted = false;
    *launched = true;
    if (is_star_) std::swap(p_, next_p_);
    break;
  }
  PetscCall(arrays.Restore());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Solve::may_run_ahead() const {
  bool may = run_.on_gpu() && is_diagonal_ && !ksp_->numbermonitors && ksp_->chknorm <= 0;
#if PETSC_VERSION_GE(3, 20, 0)
  may = may && ksp_->min_it <= 0;
#endif
  return may && (ksp_->converged == KSPConvergedDefault || ksp_->converged == KSPConvergedSkip);
}

#if SHELLAC_CUDA
// Some iterations, and a copy of the scalars after them.
PetscErrorCode Solve::Queue(int iterations, bool as_graph, int turn) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (as_graph) { // whose arrays are written once more, as far as PETSc knows
    Arrays             arrays;
    const PetscScalar *of[cg::Recorded::arrays];
    PetscCall(ReadIterated(&arrays, of));
    PetscCallCUDA(cudaGraphLaunch(cg_.ahead.graph, stream));
    PetscCall(arrays.Restore());
  } else if (is_star_)
    PetscCall(IterateByStar(iterations));
  else
    PetscCall(Iterate(iterations));
  PetscCallCUDA(
      cudaMemcpyAsync(cg_.ahead.seen[turn], run_.on_device(), sizeof(cg::Record), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaEventRecord(cg_.ahead.ready[turn], stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// While the host reads what some iterations have found, the next ones run.
PetscErrorCode Solve::RunAhead() {
  constexpr size_t most_points = 1 << 22; // of iterations that take less time than the host needs to queue them
  const int iterations = is_star_ ? 32 : most_n_ <= most_points ? 8 : 1; // on all ranks, whose products exchange halos
  cg::Ahead       &ahead = cg_.ahead;
  PetscLogDouble   flops_before, flops_after;
  // other Mats have streams of their own, and exchanges of halos are counted by the host
  bool may_record = iterations > 1 && ours_ && !ours_->bound_to_host && ranks_ == 1 && !is_star_, as_graph = false;

  PetscFunctionBegin;
  PetscCall(ahead.Prepare());
  PetscCall(Queue(iterations, false, 0));
  for (int turn = 0; !ksp_->reason; turn = 1 - turn) {
    if (may_record && !as_graph) {
      PetscCall(PetscGetFlops(&flops_before));
      const cudaGraphExec_t before = ahead.graph;
      ahead.graph = nullptr;
      PetscCall(record_graph(
          &ahead.recorder, before, [&] { return Iterate(iterations); }, &ahead.graph));
      PetscCall(PetscGetFlops(&flops_after));
      as_graph = ahead.graph;
      may_record = as_graph;
    } else if (as_graph)
      PetscCall(PetscLogGpuFlops(flops_after - flops_before));
    PetscCall(Queue(iterations, as_graph, 1 - turn));
    PetscCallCUDA(cudaEventSynchronize(ahead.ready[turn]));
    PetscCall(run_.CheckLate());
    const cg::Record  &record = *ahead.seen[turn];
    const cg::Scalars &seen = record.scalars;
    while (ksp_->its < seen.its && !ksp_->reason) {
      ksp_->its++;
      ksp_->rnorm = record.norm_of[ksp_->its % cg::Record::size];
      if (PetscIsInfOrNanReal(ksp_->rnorm)) break; // no test is asked of it
      PetscCall(Test());
    }
    if (ksp_->reason || seen.stop == cg::Scalars::none) continue;
    run_.scalars = seen;
    PetscCall(CheckStop());
    if (ksp_->reason) continue;
    SETERRQ(PetscObjectComm((PetscObject)ksp_), PETSC_ERR_ARG_WRONGSTATE,
            "the tolerances changed during the solve; change them before it");
  }
  if (is_star_) PetscCall(log_flops(memory_, flops_of_star() * ksp_->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode Solve::RunAhead() {
  return PETSC_SUCCESS;
}
#endif

} // namespace shellac
