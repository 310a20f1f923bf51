#pragma once
// Solves by conjugate gradients, as cg.cpp does them, and by BiCGStab, for the KSP types of type.cpp.

#include "krylov/ahead.hpp"
#include "krylov/internals.hpp"
#include "krylov/passes.hpp"
#include "krylov/star.hpp"
#include "stencil/mat.hpp"

namespace shellac {

struct FusedCG { // fusedbcgs has it, too
  bool         is_cg = true;
  KSPCGType    type = PetscDefined(USE_COMPLEX) ? KSP_CG_HERMITIAN : KSP_CG_SYMMETRIC;
  cg::Runner   runner;
  cg::Ahead    ahead;
  cg::Recorded iterations[2];   // of the last solve, by turns
  Vec          diagonal = NULL; // of the preconditioner; null before it is needed
  Vec          next_p = NULL;   // likewise
  Vec          guess = NULL;    // of fusedbcgs with a preconditioner from the right, likewise
  Peers        memory;          // r, p and w of a star on several GPUs, which read their neighbours'
  bool         asked_memory = false;
  Vec          in_memory[3] = {NULL, NULL, NULL};
  bool         sound = true; // the last solve has ended as it should: no GPU uses another one's memory

  PetscErrorCode Disconnect() {
    PetscFunctionBegin;
    for (Vec &v : in_memory) PetscCall(VecDestroy(&v));
    memory.Disconnect(sound);
    runner.Disconnect(sound);
    asked_memory = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// One solve: the vectors and what is known of them. Another method overrides what differs from conjugate gradients.
class Solve {
public:
  explicit Solve(KSP ksp) : ksp_(ksp), cg_(*static_cast<FusedCG *>(ksp->data)), run_(cg_.runner) {}
  PetscErrorCode Run();

protected:
  PetscErrorCode FindMemory();
  PetscErrorCode FindPreconditioner();
  PetscErrorCode FindStar();
  PetscErrorCode ShareVectors(bool may_share);
  virtual PetscErrorCode                Start(); // up to the first norm
  PetscErrorCode                        IterateByStar(int iterations);
  template <bool varies> PetscErrorCode IterateByStar(int iterations);
  PetscLogDouble                        flops_of_star() const { // an iteration's
    return (PetscLogDouble)(cg::DirectionOfStar<false>::flops + cg::Update::flops + 2 * 9) * (PetscLogDouble)n_;
  }
  virtual PetscErrorCode Iterate(); // without waiting
  PetscErrorCode Iterate(int iterations) {
    PetscFunctionBegin;
    for (int n = 0; n < iterations; n++) PetscCall(Iterate());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  virtual PetscErrorCode Precondition();
  PetscErrorCode IterateToNorm() {
    PetscFunctionBegin;
    PetscCall(Iterate());
    if (!is_diagonal_ && !norm_of_r()) PetscCall(Precondition());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode RecordIteration();
  PetscErrorCode LaunchIteration(bool *launched);
  PetscErrorCode ReadIterated(Arrays *arrays, const PetscScalar *of[cg::Recorded::arrays]);
  PetscErrorCode IterateAndTest();
  PetscErrorCode RunAhead();
  PetscErrorCode Queue(int iterations, bool as_graph, int turn);
  PetscErrorCode Test();      // what the user's functions say of the norm
  PetscErrorCode CheckStop(); // the reasons that no norm tells
  PetscErrorCode BreakDown(const char *why);
  bool           may_run_ahead() const;
  bool           hermitian() const { return cg_.type == KSP_CG_HERMITIAN; }
  bool           norm_of_r() const { return ksp_->normtype == KSP_NORM_UNPRECONDITIONED; }
  // Of a pass that has z, r or both.
  cg::Products products(bool has_z, bool has_r) const {
    return {hermitian(), !norm_of_r(), has_z, norm_of_r() ? has_r : has_z};
  }

  PetscErrorCode CheckMemory(const Arrays &arrays) const {
    PetscFunctionBegin;
    PetscCheck(PetscMemTypeHost(arrays.memory()) == PetscMemTypeHost(memory_), PetscObjectComm((PetscObject)ksp_),
               PETSC_ERR_ARG_WRONGSTATE,
               "vectors moved between host and GPU during the solve; call VecBindToCPU() before it");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Runs a pass that make(arrays) makes of the vectors' arrays.
  template <class Make> PetscErrorCode Pass(const Make &make) {
    Arrays arrays(PetscMemTypeHost(memory_) ? Arrays(PETSC_MEMTYPE_HOST) : Arrays());

    PetscFunctionBegin;
    PetscCall(make(&arrays, [&](const auto &pass) {
      PetscFunctionBegin;
      PetscCall(log_flops(memory_, (PetscLogDouble)pass.flops * (PetscLogDouble)n_));
      PetscCall(CheckMemory(arrays));
      PetscCall(run_.Run(n_, pass));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(arrays.Restore());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Read(Arrays *arrays, cg::Diagonal *D) {
    PetscFunctionBegin;
    *D = cg::Diagonal();
    D->all = factor_;
    if (varies_) PetscCall(arrays->Read(cg_.diagonal, &D->at));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Of a rank with so many values: r, p or w by their numbers.
  PetscScalar *vector_of(int rank, size_t values, int number) const {
    return reinterpret_cast<PetscScalar *>(cg_.memory.of(rank)) + (size_t)number * values;
  }

  KSP           ksp_;
  FusedCG      &cg_;
  cg::Runner   &run_;
  Mat           A_ = NULL;
  Vec           x_ = NULL, b_ = NULL, r_ = NULL, p_ = NULL, w_ = NULL;
  Vec           next_p_ = NULL;      // of an iteration by a star: where it goes
  size_t        n_ = 0, most_n_ = 0; // values of this rank, and the most of a rank
  PetscMPIInt   ranks_ = 1;
  PetscInt      counts_failed_ = 1; // iterations: the one that fails, as PETSc's method counts
  PetscMemType  memory_ = PETSC_MEMTYPE_HOST;
  bool          is_diagonal_ = false, varies_ = false; // the preconditioner; its diagonal
  bool          projects_ = false;                     // out of a null space
  bool          records_ = false;                      // FusedCG::iterations are this solve's
  PetscScalar   factor_ = 1;                           // of a diagonal that does not vary
  StencilMat   *ours_ = NULL;                          // the matrix, where it is ours and vectors are on GPUs
  bool          all_on_gpu_ = false;                   // the vectors of all ranks
  bool          is_star_ = false;
  cg::WholeStar star_ = {};
};

PetscErrorCode solve_by_bcgs(KSP ksp);

} // namespace shellac
