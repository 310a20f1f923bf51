// The KSP types fusedcg and fusedbcgs.

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
  const bool is_cg = data_of(ksp)->is_cg;

  PetscFunctionBegin;
  PetscCheck(!ksp->calc_sings && !ksp->calc_ritz, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "%s does not compute singular values or eigenvalues; use -%sksp_type %s",
             is_cg ? KSPFUSEDCG : KSPFUSEDBCGS, ((PetscObject)ksp)->prefix ? ((PetscObject)ksp)->prefix : "",
             is_cg ? KSPCG : KSPGMRES);
  PetscCall(KSPSetWorkVecs(ksp, is_cg ? 3 : 6));
  for (cg::Recorded &iteration : data_of(ksp)->iterations) iteration.key = {}; // of other vectors
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(data_of(ksp)->is_cg ? Solve(ksp).Run() : solve_by_bcgs(ksp));
  data_of(ksp)->sound = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// From the right, x becomes the solution at the end.
PetscErrorCode build_bcgs(KSP ksp, Vec given, Vec *solution) {
  const Vec v = given ? given : ksp->work[2];

  PetscFunctionBegin;
  if (ksp->pc_side == PC_LEFT) PetscFunctionReturn(KSPBuildSolutionDefault(ksp, given, solution));
  PetscCall(ksp->reason ? VecCopy(ksp->vec_sol, v) : KSP_PCApply(ksp, ksp->vec_sol, v));
  if (!ksp->reason && !ksp->guess_zero) PetscCall(VecAXPY(v, 1, data_of(ksp)->guess));
  *solution = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) {
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii && PetscDefined(USE_COMPLEX) && data_of(ksp)->is_cg)
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
  PetscCall(VecDestroy(&data->guess));
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

// What both types have.
PetscErrorCode create(KSP ksp, bool is_cg) {
  PetscFunctionBegin;
  ksp->data = new FusedCG;
  data_of(ksp)->is_cg = is_cg;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup = set_up;
  ksp->ops->solve = solve;
  ksp->ops->view = view;
  ksp->ops->reset = reset;
  ksp->ops->destroy = destroy;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode KSPCreate_FusedCG(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(create(ksp, true));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  ksp->ops->setfromoptions = set_from_options;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetType_C", set_type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPCreate_FusedBCGS(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(create(ksp, false));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  ksp->ops->buildsolution = build_bcgs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
