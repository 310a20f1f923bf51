// The preconditioner stencil: each set-up takes stencilfft or stencilmg, whose operations the shell then has.

#include <shellac/direct.h>

#include "direct/stencilfft.hpp"
#include "direct/types.hpp"
#include "multigrid/stencilmg.hpp"

namespace shellac {

static PetscErrorCode set_up(PC pc) {
  std::string why;

  PetscFunctionBegin;
  PetscCall(try_stencilfft(pc, true, &why));
  if (why.empty()) {
    PetscCall(forget_stencilmg(pc));
    PetscCall(use_stencilfft(pc));
    PetscCall(PCShellSetApplyRichardson(pc, NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "ShellacCycles_C", NULL));
    PetscCall(PCShellSetName(pc, "stencilfft, an inverse by transforms, matrix-free"));
  } else {
    PetscCall(use_stencilmg(pc));
    why = "stencilmg, geometric multigrid, matrix-free; stencilfft is not taken: this matrix " + why;
    PetscCall(PCShellSetName(pc, why.c_str()));
  }
  PetscCall(PCShellSetSetUp(pc, set_up)); // it stays also where multigrid's ends in an error
  if (!why.empty()) PetscCall(set_up_stencilmg(pc));
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
