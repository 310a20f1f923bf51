// The preconditioner stencil: each set-up takes stencilfft or stencilmg, whose operations the shell then has.

#include <shellac/direct.h>

#include "direct/stencilfft.hpp"
#include "direct/types.hpp"
#include "multigrid/stencilmg.hpp"

namespace shellac {

static PetscErrorCode set_up(PC pc) {
  StencilFFT *fft;
  StencilMG  *mg;
  std::string why;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &fft));
  PetscCall(get_context(pc, &mg));
  PetscCall(try_stencilfft(pc, true, &why));
  if (why.empty()) {
    PetscCall(forget_stencilmg(pc));
    PetscCall(use_stencilfft(pc));
    PetscCall(PCShellSetApplyRichardson(pc, NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "ShellacCycles_C", NULL));
    PetscCall(PCShellSetName(pc, "stencilfft, an inverse by transforms, matrix-free"));
  } else {
    PetscCall(use_stencilmg(pc));
    mg->read = std::move(fft->read);
    why = "stencilmg, geometric multigrid, matrix-free; stencilfft is not taken: this matrix " + why;
    PetscCall(PCShellSetName(pc, why.c_str()));
  }
  fft->stale = false;
  PetscCall(PCShellSetSetUp(pc, set_up)); // it stays also where multigrid's ends in an error
  if (!why.empty()) PetscCall(set_up_stencilmg(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Operations of a PC that has to choose anew, which PETSc does not set up as long as its matrix stays.
static PetscErrorCode choose_and_apply(PC pc, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(set_up(pc));
  PetscCall(PCApply(pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode choose_and_apply_transpose(PC pc, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(set_up(pc));
  PetscCall(PCApplyTranspose(pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode choose_before_solve(PC pc, KSP ksp, Vec b, Vec x) {
  StencilFFT *fft;

  PetscFunctionBegin;
  PetscCall(set_up(pc));
  PetscCall(get_context(pc, &fft));
  PetscCall(fft->solve ? prepare_stencilfft(pc, ksp, b, x) : prepare_stencilmg(pc, ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode choose_at_next_use(PC pc) {
  PetscFunctionBegin;
  PetscCall(PCShellSetApply(pc, choose_and_apply));
  PetscCall(PCShellSetApplyTranspose(pc, choose_and_apply_transpose));
  PetscCall(PCShellSetPreSolve(pc, choose_before_solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_Stencil(PC pc) {
  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(use_stencilfft(pc)); // the contexts and options of both
  PetscCall(use_stencilmg(pc));
  PetscCall(PCShellSetName(pc, "stencilfft or stencilmg, which a set-up decides"));
  PetscCall(PCShellSetSetUp(pc, set_up));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCSTENCIL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
