// The KSP type stencil: each solve takes the method that goes with the preconditioner, whose operations the KSP then has.

#include "device/pc_method.hpp"
#include "device/petsc.hpp"
#include "krylov/internals.hpp"
#include "krylov/types.hpp"
#include "shellac/krylov.h"

namespace shellac {

namespace {

constexpr const char *context_name = "Shellac_ksp_stencil";

struct Choice {
  SuitedMethod method;
  PetscErrorCode (*solve)(KSP) = nullptr; // of the method; null: none is chosen yet
  PetscErrorCode (*view)(KSP, PetscViewer) = nullptr;
};

// Of a preconditioner that is the inverse: x gets its product with the residual until the residual says that it is enough,
// or shrinks no more. That is at once, but for rounding.
PetscErrorCode solve_by_inverse(KSP ksp) {
  const Vec  b = ksp->vec_rhs, x = ksp->vec_sol, r = ksp->work[0], z = ksp->work[1];
  const bool tests = ksp->normtype != KSP_NORM_NONE;
  Mat        A;
  PetscReal  before = 0;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  for (ksp->its = 0;; ksp->its++, before = ksp->rnorm) {
    const bool zero = ksp->its == 0 && ksp->guess_zero;
    if (!tests && ksp->its > 0) ksp->reason = KSP_CONVERGED_ITS;
    if (ksp->reason) break;
    if (!zero) {
      PetscCall(KSP_MatMult(ksp, A, x, r));
      PetscCall(VecAYPX(r, -1, b));
    }
    if (tests) {
      PetscCall(VecNorm(zero ? b : r, NORM_2, &ksp->rnorm));
      PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
      PetscCall(KSPMonitor(ksp, ksp->its, ksp->rnorm));
      PetscCall((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &ksp->reason, ksp->cnvP));
      if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
      if (!ksp->reason && ksp->its > 1 && !(ksp->rnorm < before / 2)) {
        PetscCall(
            PetscInfo(ksp, "The residual shrinks no more: rounding, or b is not in the range of a singular matrix\n"));
        ksp->reason = KSP_DIVERGED_BREAKDOWN;
      }
      if (ksp->reason) break;
    }
    PetscCall(KSP_PCApply(ksp, zero ? b : r, zero ? x : z));
    if (!zero) PetscCall(VecAXPY(x, 1, z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The unpreconditioned norm, on the side on which the method has it.
PetscErrorCode set_norms(KSP ksp, PCSide side) {
  PetscFunctionBegin;
  PetscCall(PetscMemzero(ksp->normsupporttable, sizeof(ksp->normsupporttable)));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, side, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, side, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_method_from_options(KSP ksp) {
  PetscFunctionBegin;
  PetscObjectOptionsBegin((PetscObject)ksp);
  if (ksp->ops->setfromoptions) PetscCall((*ksp->ops->setfromoptions)(ksp, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_method(KSP ksp, SuitedMethod *method) {
  GetSuitedMethod *get = NULL;
  Mat              A, P;
  PetscBool        reused;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCall(PCGetReusePreconditioner(ksp->pc, &reused));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp->pc, suited_method_name, &get));
  if (!get)
    method->why = "the preconditioner is not of stencil, stencilfft and stencilmg, and tells nothing";
  else if (A != P || reused)
    method->why = "the preconditioner may be of another matrix";
  else
    PetscCall((*get)(ksp->pc, method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(KSP ksp);
PetscErrorCode view(KSP ksp, PetscViewer viewer);

// The KSP becomes one of the method, with another name.
PetscErrorCode become(KSP ksp, Choice *choice, const SuitedMethod &method) {
  const KSPNormType norm = ksp->normtype;
  PetscBool         right, inverse;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(method.type, KSPFGMRES, &right));
  PetscCall(PetscStrcmp(method.type, KSPRICHARDSON, &inverse));
  PetscCall(KSPSetType(ksp, method.type));
  PetscCall(PetscObjectChangeTypeName((PetscObject)ksp, KSPSTENCIL));
  ksp->pc_side = right ? PC_RIGHT : PC_LEFT;
  ksp->normtype = norm;
  PetscCall(set_norms(ksp, ksp->pc_side));
  if (ksp->setfromoptionscalled && !inverse) PetscCall(set_method_from_options(ksp));
  PetscCall((*ksp->ops->setup)(ksp));
  ksp->setupstage = KSP_SETUP_NEWRHS;
  choice->solve = inverse ? solve_by_inverse : ksp->ops->solve;
  choice->view = inverse ? NULL : ksp->ops->view;
  ksp->ops->solve = solve;
  ksp->ops->view = view;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// FGMRES has its norm from its space, not from x: where rounding errors or a singular matrix make that too small, it goes on
// from x as long as that helps.
PetscErrorCode check_norm(KSP ksp, const Choice *choice) {
  const PetscBool guess_zero = ksp->guess_zero;
  PetscReal       before = PETSC_MAX_REAL;
  Mat             A;
  Vec             r;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  for (PetscInt its = ksp->its; ksp->reason > 0 && its > 0 && ksp->normtype != KSP_NORM_NONE;
       ksp->its = its += ksp->its) {
    const PetscReal claimed = ksp->rnorm;
    PetscCall(VecDuplicate(ksp->vec_rhs, &r));
    PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, r));
    PetscCall(VecAYPX(r, -1, ksp->vec_rhs));
    PetscCall(VecNorm(r, NORM_2, &ksp->rnorm));
    PetscCall(VecDestroy(&r));
    if (ksp->rnorm <= 2 * claimed) break;
    ksp->reason = KSP_CONVERGED_ITERATING;
    PetscCall((*ksp->converged)(ksp, its, ksp->rnorm, &ksp->reason, ksp->cnvP));
    if (!ksp->reason && its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    if (!ksp->reason && (claimed == 0 || !(ksp->rnorm < before / 2))) ksp->reason = KSP_DIVERGED_BREAKDOWN;
    if (ksp->reason) break;
    before = ksp->rnorm;
    ksp->guess_zero = PETSC_FALSE;
    PetscCall((*choice->solve)(ksp));
    ksp->guess_zero = guess_zero;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(KSP ksp) {
  Choice      *choice;
  SuitedMethod method;
  PetscBool    same = PETSC_FALSE, has_no_x;

  PetscFunctionBegin;
  PetscCall(query_context((PetscObject)ksp, context_name, &choice));
  PetscCall(find_method(ksp, &method));
  if (choice->solve) PetscCall(PetscStrcmp(method.type, choice->method.type, &same));
  if (!same) PetscCall(become(ksp, choice, method));
  choice->method = method;
  PetscCall((*choice->solve)(ksp));
  PetscCall(PetscStrcmp(method.type, KSPFGMRES, &has_no_x));
  if (has_no_x) PetscCall(check_norm(ksp, choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) {
  Choice   *choice;
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(query_context((PetscObject)ksp, context_name, &choice));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii && choice->solve)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  method %s: %s\n", choice->method.type, choice->method.why.c_str()));
  else if (ascii)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  the first solve chooses the method\n"));
  if (choice->view) PetscCall((*choice->view)(ksp, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up(KSP) { // the preconditioner, which decides, is set up later
  return PETSC_SUCCESS;
}

} // namespace

PetscErrorCode KSPCreate_Stencil(KSP ksp) {
  Choice *choice;

  PetscFunctionBegin;
  PetscCall(query_context((PetscObject)ksp, context_name, &choice));
  if (!choice) PetscCall(compose_context((PetscObject)ksp, context_name, choice = new Choice));
  *choice = Choice();
  PetscCall(set_norms(ksp, PC_LEFT));
  ksp->ops->setup = set_up;
  ksp->ops->solve = solve;
  ksp->ops->view = view;
  ksp->ops->destroy = KSPDestroyDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
