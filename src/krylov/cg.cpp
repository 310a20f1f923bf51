// Conjugate gradients in few passes over the vectors.

#include "capture/captured.hpp"
#include "krylov/solve.hpp"

namespace shellac {

PetscErrorCode Solve::FindMemory() {
  Arrays             arrays;
  const PetscScalar *array;
  PetscInt           n;
  const MPI_Comm     comm = PetscObjectComm((PetscObject)ksp_);

  PetscFunctionBegin;
  x_ = ksp_->vec_sol, b_ = ksp_->vec_rhs, r_ = ksp_->work[0], p_ = ksp_->work[1], w_ = ksp_->work[2], next_p_ = w_;
  PetscCall(PCGetOperators(ksp_->pc, &A_, NULL));
  PetscCall(VecGetLocalSize(x_, &n));
  n_ = (size_t)n;
  for (Vec v : {b_, x_, r_, p_, w_}) PetscCall(arrays.Read(v, &array));
  memory_ = PetscMemTypeHost(arrays.memory()) ? PETSC_MEMTYPE_HOST : PETSC_MEMTYPE_DEVICE;
  PetscCall(arrays.Restore());
  PetscCallMPI(MPI_Comm_size(comm, &ranks_));
  PetscInt64 most[] = {PetscMemTypeHost(memory_), (PetscInt64)n, !cg_.sound};
  if (SHELLAC_CUDA && ranks_ > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 3, MPIU_INT64, MPI_MAX, comm));
  cg_.sound = false;                        // until this solve has ended as it should
  if (most[2]) PetscCall(cg_.Disconnect()); // a rank's solve ended in an error, after which GPUs count meetings apart
  all_on_gpu_ = !most[0];
  most_n_ = (size_t)most[1];
  if (all_on_gpu_) {
    void (*view)(void) = NULL;
    PetscCall(PetscObjectQueryFunction((PetscObject)A_, "ShellacView_C", &view));
    if (view) PetscCall(MatGetReadyStencil(A_, &ours_));
  }
  PetscCall(run_.Prepare(comm, memory_, all_on_gpu_, ours_ ? ours_->halo_way : HaloWay::automatic));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether z = B r is a product with a diagonal; a null space is projected otherwise.
PetscErrorCode Solve::FindPreconditioner() {
  PetscBool    none, jacobi;
  MatNullSpace space;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp_->pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp_->pc, PCJACOBI, &jacobi));
  PetscCall(ksp_->transpose_solve ? MatGetTransposeNullSpace(A_, &space) : MatGetNullSpace(A_, &space));
  projects_ = space;
  is_diagonal_ = (none || (jacobi && ksp_->pc_side == PC_LEFT)) && !space;
  varies_ = false;
  factor_ = 1;
  if (!is_diagonal_ || none) PetscFunctionReturn(PETSC_SUCCESS);
  if (!cg_.diagonal) PetscCall(VecDuplicate(r_, &cg_.diagonal));
  PetscCall(VecSet(w_, 1));
  PetscCall(KSP_PCApply(ksp_, w_, cg_.diagonal));
  varies_ = true;
  if (run_.on_gpu()) { // where a pass without that array is faster
    const PetscScalar *d;
    struct {
      PetscScalar factor;
      bool        is;
    } mine = {0, n_ > 0};
    run_.scalars = cg::Scalars();
    PetscCall(run_.Send());
    PetscCall(Pass([&](Arrays *arrays, const auto &run) {
      PetscFunctionBegin;
      PetscCall(arrays->Read(cg_.diagonal, &d));
      PetscCall(run(cg::Compare{d}));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(run_.Fetch());
    varies_ = run_.scalars.norm != 0; // within a rank
    if (varies_) PetscFunctionReturn(PETSC_SUCCESS);
    if (n_) PetscCall(DeviceCopyToHost(&mine.factor, d, sizeof(mine.factor)));
    std::vector<decltype(mine)> all((size_t)ranks_);
    PetscCallMPI(MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE,
                               PetscObjectComm((PetscObject)ksp_)));
    bool known = false;
    for (const auto &one : all) {
      varies_ = varies_ || (one.is && known && one.factor != factor_);
      if (one.is && !known) factor_ = one.factor, known = true;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve::Start() {
  const bool failed = ksp_->reason == KSP_DIVERGED_PC_FAILED; // perhaps on some ranks only; the first norm tells all

  PetscFunctionBegin;
  PetscCall(FindStar());
  if (!ksp_->guess_zero) PetscCall(KSP_MatMult(ksp_, A_, x_, w_));
  if (failed) PetscCall(VecSet(w_, PETSC_INFINITY));
  PetscCall(Pass([&](Arrays *arrays, const auto &run) {
    cg::Begin pass = {NULL, NULL, {}, NULL, products(is_diagonal_, true)};
    PetscFunctionBegin;
    PetscCall(arrays->Read(b_, &pass.b));
    if (!ksp_->guess_zero || failed) PetscCall(arrays->Read(w_, &pass.Ax));
    PetscCall(arrays->Write(r_, &pass.r));
    PetscCall(Read(arrays, &pass.D));
    PetscCall(run(pass));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (!is_diagonal_ && !norm_of_r()) PetscCall(Precondition());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve::Test() {
  PetscFunctionBegin;
  PetscCall(KSPLogResidualHistory(ksp_, ksp_->rnorm));
  PetscCall(KSPMonitor(ksp_, ksp_->its, ksp_->rnorm));
  PetscCall((*ksp_->converged)(ksp_, ksp_->its, ksp_->rnorm, &ksp_->reason, ksp_->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve::BreakDown(const char *why) {
  PetscFunctionBegin;
  PetscCheck(!ksp_->errorifnotconverged, PetscObjectComm((PetscObject)ksp_), PETSC_ERR_NOT_CONVERGED, "Breakdown: %s",
             why);
  PetscCall(PetscInfo(ksp_, "Breakdown: %s\n", why));
  ksp_->reason = KSP_DIVERGED_BREAKDOWN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve::CheckStop() {
  const cg::Scalars &s = run_.scalars;
  const MPI_Comm     comm = PetscObjectComm((PetscObject)ksp_);

  PetscFunctionBegin;
  switch (s.stop) {
  case cg::Scalars::not_finite:
    ksp_->its = PetscMax(s.its - 1 + counts_failed_, 0);
    KSPCheckNorm(ksp_, s.norm); // which notes it
    ksp_->its = s.its;
    KSPCheckDot(ksp_, s.beta);
    ksp_->its = s.its + counts_failed_;
    KSPCheckDot(ksp_, s.curvature);
    break;
  case cg::Scalars::no_residual:
    ksp_->its = s.its + 1;
    ksp_->reason = KSP_CONVERGED_ATOL;
    break;
  case cg::Scalars::indefinite_pc:
    ksp_->its = s.its + 1;
    ksp_->reason = KSP_DIVERGED_INDEFINITE_PC;
    PetscCheck(!ksp_->errorifnotconverged, comm, PETSC_ERR_NOT_CONVERGED,
               "Diverged due to an indefinite preconditioner");
    break;
  case cg::Scalars::indefinite_matrix:
    ksp_->its = s.its + 1;
    ksp_->reason = KSP_DIVERGED_INDEFINITE_MAT;
    PetscCheck(!ksp_->errorifnotconverged, comm, PETSC_ERR_NOT_CONVERGED, "Diverged due to an indefinite matrix");
    break;
  case cg::Scalars::limit:
    ksp_->reason = KSP_DIVERGED_ITS;
    break;
  case cg::Scalars::breakdown:
    PetscCall(BreakDown("a residual is orthogonal to the first one"));
    break;
  case cg::Scalars::no_product: { // perhaps of zero: x + alpha p is the solution
    PetscReal of_s;
    PetscCall(VecNorm(r_, NORM_2, &of_s));
    if (of_s != 0)
      PetscCall(BreakDown("the preconditioned matrix is singular"));
    else {
      PetscCall(VecAXPY(x_, s.alpha, p_));
      ksp_->its = s.its + 1;
      ksp_->rnorm = 0;
      PetscCall(KSPLogResidualHistory(ksp_, 0));
      PetscCall(KSPMonitor(ksp_, ksp_->its, 0));
      ksp_->reason = KSP_CONVERGED_RTOL;
    }
    break;
  }
  default:
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether iterations are of star.hpp.
PetscErrorCode Solve::FindStar() {
  StencilOperator                  *which;
  std::unique_ptr<PreparedOperator> prepared;
  Arrays                            arrays;
  const PetscScalar                *x;

  PetscFunctionBegin;
  if ((ranks_ > 1 && (!is_diagonal_ || !run_.meets())) || !run_.on_gpu() || !ours_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilGetOperator(ours_, ksp_->transpose_solve, &which));
  PetscCall(arrays.Read(x_, &x));
  PetscCall(ours_->Prepare(which, &arrays, &prepared));
  const PreparedCapture *capture = dynamic_cast<const PreparedCapture *>(prepared.get());
  int is = capture && n_ && which->patch().size[2] == 1 && capture->is_whole_star(&star_.star, &star_.at_ends);
  is = is && !ours_->bound_to_host && (ranks_ == 1 || !varies_);
  for (int a = 0; a < 3; a++) star_.size[a] = which->patch().size[a];
  PetscCall(arrays.Restore());
  if (ranks_ > 1)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &is, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)ksp_)));
  is_star_ = is;
  if (!is_star_) PetscFunctionReturn(PETSC_SUCCESS);
  const Grid &grid = ours_->grid;
  for (int a = 0; a < 2; a++)
    for (Side e : {LOWER, UPPER}) {
      cg::Neighbour &its = star_.beside[a][e];
      const int      step = e == LOWER ? -1 : 1;
      PetscInt       size[2] = {grid.size[0], grid.size[1]};
      its.rank = grid.neighbour(Direction{{a == 0 ? step : 0, a == 1 ? step : 0, 0}});
      if (its.rank < 0) continue;
      const auto place = (size_t)((grid.place[a] + step + grid.ranks[a]) % grid.ranks[a]);
      size[a] = grid.first[a][place + 1] - grid.first[a][place];
      const size_t across = a == 0 ? 1 : (size_t)size[0]; // to the next point away from the side
      its.step = a == 0 ? (size_t)size[0] : 1;
      its.first = e == LOWER ? across * (size_t)(size[a] - 1) : 0;
      its.points = (size_t)size[0] * (size_t)size[1];
    }
  if (ranks_ > 1) PetscCall(ShareVectors(ours_->halo_way == HaloWay::ipc));
  if (is_diagonal_) PetscFunctionReturn(PETSC_SUCCESS);
  if (!cg_.next_p) PetscCall(VecDuplicate(p_, &cg_.next_p)); // w has z
  next_p_ = cg_.next_p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// r, p and w, where the neighbours read them. No star where that cannot be.
PetscErrorCode Solve::ShareVectors(bool may_share) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  const MPI_Comm comm = PetscObjectComm((PetscObject)ksp_);
  if (!cg_.asked_memory) {
    PetscInt N;
    cg_.asked_memory = true;
    PetscCall(cg_.memory.Connect(comm, 3 * n_ * sizeof(PetscScalar), may_share));
    PetscCall(VecGetSize(x_, &N));
    for (int n = 0; n < 3 && cg_.memory.connected(); n++)
      PetscCall(
          VecCreateMPICUDAWithArray(comm, 1, (PetscInt)n_, N, vector_of(cg_.memory.rank(), n_, n), &cg_.in_memory[n]));
  }
  is_star_ = cg_.memory.connected();
  if (is_star_) r_ = cg_.in_memory[0], p_ = cg_.in_memory[1], w_ = next_p_ = cg_.in_memory[2];
#else
  (void)may_share;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The new p goes into another vector, and the two change places.
template <bool varies> PetscErrorCode Solve::IterateByStar(int iterations) {
  Arrays                      arrays;
  cg::IterationOfStar<varies> by_turns[2];
  PetscScalar                *x, *r, *p[2];
  const PetscScalar          *z;
  cg::Diagonal                D;

  PetscFunctionBegin;
  PetscCall(arrays.ReadWrite(r_, &r));
  z = r;
  if (!is_diagonal_) PetscCall(arrays.Read(w_, &z));
  PetscCall(arrays.ReadWrite(x_, &x));
  PetscCall(arrays.ReadWrite(p_, &p[0]));
  PetscCall(arrays.Write(next_p_, &p[1]));
  if (is_diagonal_) PetscCall(Read(&arrays, &D));
  PetscCall(CheckMemory(arrays));
  const int at[2] = {p_ == cg_.in_memory[1] ? 1 : 2, p_ == cg_.in_memory[1] ? 2 : 1};
  for (int n = 0; n < 2; n++) {
    const int old = n, now = 1 - n;
    auto     &direction = by_turns[n].direction;
    auto     &update = by_turns[n].update;
    direction = {{z, p[old]}, {}, D, p[now], hermitian()};
    update = {{p[now], NULL}, {}, {p[now], NULL, D, x, r, products(is_diagonal_, true)}};
    for (int a = 0; a < 2; a++)
      for (Side e : {LOWER, UPPER}) {
        const cg::Neighbour &its = star_.beside[a][e];
        direction.beside[a][e] = direction.inputs;
        update.beside[a][e] = update.inputs;
        if (ranks_ == 1 || its.rank < 0) continue; // this rank itself
        direction.beside[a][e] = {vector_of(its.rank, its.points, 0), vector_of(its.rank, its.points, at[old])};
        update.beside[a][e] = {vector_of(its.rank, its.points, at[now]), NULL};
      }
  }
  PetscCall(cg::run_star(&run_, star_, by_turns[0], by_turns[1], iterations));
  PetscCall(arrays.Restore());
  if (iterations % 2) std::swap(p_, next_p_);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve::IterateByStar(int iterations) {
  return varies_ ? IterateByStar<true>(iterations) : IterateByStar<false>(iterations);
}

// p, w = A p, x and r of an iteration; for a diagonal preconditioner all of it.
PetscErrorCode Solve::Iterate() {
  PetscFunctionBegin;
  if (is_star_) {
    PetscCall(IterateByStar(1));
    PetscCall(log_flops(memory_, flops_of_star()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Pass([&](Arrays *arrays, const auto &run) {
    cg::Direction pass = {};
    PetscFunctionBegin;
    PetscCall(arrays->Read(is_diagonal_ ? r_ : w_, &pass.r)); // w has z
    PetscCall(arrays->ReadWrite(p_, &pass.p));
    if (is_diagonal_) PetscCall(Read(arrays, &pass.D));
    PetscCall(run(pass));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(KSP_MatMult(ksp_, A_, p_, w_));
  PetscCall(Pass([&](Arrays *arrays, const auto &run) {
    cg::Curvature pass = {NULL, NULL, hermitian()};
    PetscFunctionBegin;
    PetscCall(arrays->Read(p_, &pass.p));
    PetscCall(arrays->Read(w_, &pass.w));
    PetscCall(run(pass));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(Pass([&](Arrays *arrays, const auto &run) {
    cg::Update pass = {NULL, NULL, {}, NULL, NULL, products(is_diagonal_, true)};
    PetscFunctionBegin;
    PetscCall(arrays->Read(p_, &pass.p));
    PetscCall(arrays->Read(w_, &pass.w));
    PetscCall(arrays->ReadWrite(x_, &pass.x));
    PetscCall(arrays->ReadWrite(r_, &pass.r));
    PetscCall(Read(arrays, &pass.D));
    PetscCall(run(pass));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// z = B r, z·r and what the norm is of, into w.
PetscErrorCode Solve::Precondition() {
  PetscFunctionBegin;
  PetscCall(KSP_PCApply(ksp_, r_, w_));
  PetscCall(Pass([&](Arrays *arrays, const auto &run) {
    cg::Inner pass = {NULL, NULL, products(true, false)};
    PetscFunctionBegin;
    PetscCall(arrays->Read(w_, &pass.z));
    PetscCall(arrays->Read(r_, &pass.r));
    PetscCall(run(pass));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The host waits for the iteration.
PetscErrorCode Solve::IterateAndTest() {
  cg::Scalars &s = run_.scalars;
  bool         launched;

  PetscFunctionBegin;
  PetscCall(LaunchIteration(&launched));
  if (!launched) PetscCall(IterateToNorm());
  PetscCall(run_.Fetch());
  if (ksp_->its < s.its && !PetscIsInfOrNanReal(s.norm)) {
    ksp_->its = s.its;
    ksp_->rnorm = s.norm;
    PetscCall(Test());
  }
  if (!ksp_->reason) PetscCall(CheckStop());
  if (!ksp_->reason && !is_diagonal_ && norm_of_r()) PetscCall(Precondition());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve::Run() {
  cg::Scalars &s = run_.scalars;

  PetscFunctionBegin;
  PetscCall(FindMemory());
  PetscCall(FindPreconditioner());
  ksp_->its = 0;
  s = cg::Scalars();
  s.type = ksp_->normtype;
  s.most = PETSC_MAX_INT;
  PetscCall(run_.Send());
  PetscCall(Start());
  PetscCall(run_.Fetch());
  PetscCall(CheckStop());
  if (s.stop != cg::Scalars::none) PetscFunctionReturn(PETSC_SUCCESS);
  ksp_->rnorm = s.norm;
  PetscCall(Test());
  if (ksp_->reason) PetscFunctionReturn(PETSC_SUCCESS);
  const bool ahead = may_run_ahead();
  s.most = PetscMax(ksp_->max_it, 1);
  if (ahead && ksp_->converged == KSPConvergedDefault && ksp_->normtype != KSP_NORM_NONE) {
    s.reached_at = ksp_->ttol;
    if (ksp_->divtol > 0) s.diverged_at = ksp_->divtol * ksp_->rnorm0;
  }
  PetscCall(run_.Send());
  if (!is_diagonal_ && norm_of_r()) PetscCall(Precondition());
  if (ahead) PetscCall(RunAhead());
  if (!ksp_->reason) PetscCall(RecordIteration());
  while (!ksp_->reason) PetscCall(IterateAndTest());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
