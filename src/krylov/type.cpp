// The KSP type fusedcg.

#include "krylov/solve.hpp"
#include "krylov/types.hpp"
#include "options/option.hpp"
#include "shellac/krylov.h"

namespace shellac {

namespace {

FusedCG *data_of(KSP ksp) {
  return static_cast<FusedCG *>(ksp->data);
}

PetscErrorCode set_up(KSP ksp) {
  PetscFunctionBegin;
  PetscCheck(!ksp->calc_sings && !ksp->calc_ritz, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "fusedcg does not compute singular values or eigenvalues; use -%sksp_type cg",
             ((PetscObject)ksp)->prefix ? ((PetscObject)ksp)->prefix : "");
  PetscCall(KSPSetWorkVecs(ksp, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(Solve(ksp).Run());
  data_of(ksp)->sound = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) {
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii && PetscDefined(USE_COMPLEX))
    PetscCall(PetscViewerASCIIPrintf(viewer, "  variant %s\n", KSPCGTypes[data_of(ksp)->type]));
  const cg::Runner &runner = data_of(ksp)->runner;
  if (ascii && (runner.meets() || runner.by_nccl()))
    PetscCall(PetscViewerASCIIPrintf(viewer, "  sums over the ranks by %s\n", runner.meets() ? "their GPUs" : "NCCL"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_type(KSP ksp, KSPCGType type) {
  PetscFunctionBegin;
  data_of(ksp)->type = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_from_options(KSP ksp, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP fusedcg options");
  if (PetscDefined(USE_COMPLEX))
    PetscCall(PetscOptionsEnum("-ksp_cg_type", "of complex matrices", "KSPCGSetType", KSPCGTypes,
                               (PetscEnum)data_of(ksp)->type, (PetscEnum *)&data_of(ksp)->type, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(KSP ksp) {
  FusedCG *data = data_of(ksp);

  PetscFunctionBegin;
  PetscCall(VecDestroy(&data->diagonal));
  PetscCall(VecDestroy(&data->next_p));
  PetscCall(data->Disconnect());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(reset(ksp));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetType_C", NULL));
  delete data_of(ksp);
  ksp->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode KSPCreate_FusedCG(KSP ksp) {
  PetscFunctionBegin;
  ksp->data = new FusedCG;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup = set_up;
  ksp->ops->solve = solve;
  ksp->ops->view = view;
  ksp->ops->setfromoptions = set_from_options;
  ksp->ops->reset = reset;
  ksp->ops->destroy = destroy;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetType_C", set_type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
