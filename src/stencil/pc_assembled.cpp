// The PC type assembled: gives a preconditioner that needs an AIJ the assembled copy of a matrix that has none.

#include "stencil/mat.hpp"
#include "stencil/types.hpp"

namespace shellac {

namespace {

struct AssembledPC {
  PC         inner = NULL; // on the copy
  MatVersion version;      // of the matrix that it was set up for
  bool       has_read_options = false;
};

constexpr const char *context_name = "ShellacAssembledPC";

PetscErrorCode get_context(PC pc, AssembledPC **context) { // a PCSHELL of another name tells none
  return query_context((PetscObject)pc, context_name, context);
}

PetscErrorCode destroy_context(void *argument) {
  AssembledPC *context = context_to_destroy<AssembledPC>(argument);

  PetscFunctionBegin;
  PetscCall(PCDestroy(&context->inner));
  delete context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up(PC pc) {
  AssembledPC   *context;
  Mat            A, P, aij;
  MatType        type;
  DM             dm;
  PCFailedReason reason;
  PetscObjectId  id;
  PetscErrorCode (*ours)(Mat, PetscViewer);

  PetscFunctionBegin;
  PetscCall(get_context(pc, &context));
  PetscCall(PCGetOperators(pc, &A, &P));
  PetscCall(PetscObjectQueryFunction((PetscObject)P, "ShellacView_C", &ours));
  PetscCall(MatGetType(P, &type));
  PetscCheck(ours, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type assembled is for Shellac's matrices on a DMDA, and this one is of type %s; give -pc_type the "
             "preconditioner itself",
             type);
  PetscCall(MatStencilGetAssembled(P, &aij));
  PetscCall(MatStencilKeepSymmetryFromParts(P, aij));
  PetscCall(PetscObjectGetId((PetscObject)P, &id));
  if (id != context->version.id) PetscCall(PCReset(context->inner)); // sizes may be others
  PetscCall(PCSetOperators(context->inner, aij, aij));
  if (!context->has_read_options) {
    const char *prefix;
    PetscCall(PCGetOptionsPrefix(pc, &prefix));
    PetscCall(PCSetOptionsPrefix(context->inner, prefix));
    PetscCall(PCAppendOptionsPrefix(context->inner, "assembled_"));
    PetscCall(PCGetDM(pc, &dm));
    if (dm) PetscCall(PCSetDM(context->inner, dm));
    PetscCall(PCSetFromOptions(context->inner));
    context->has_read_options = true;
  }
  PetscCall(PCSetUp(context->inner));
  PetscCall(PCGetFailedReason(context->inner, &reason));
  PetscCall(PCSetFailedReason(pc, reason));
  PetscCall(context->version.Read(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <PetscErrorCode (*apply_inner)(PC, Vec, Vec)> PetscErrorCode apply(PC pc, Vec x, Vec y) {
  AssembledPC *context;
  Mat          A, P;
  MatChange    change;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &context));
  PetscCall(PCGetOperators(pc, &A, &P));
  PetscCall(context->version.Compare(P, &change));
  if (change == MatChange::refreshed) PetscCall(set_up(pc)); // which PCSetUp() cannot know
  PetscCall((*apply_inner)(context->inner, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  AssembledPC *context;
  PetscBool    ascii;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &context));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PCView(context->inner, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(PC pc) { // or before it gets another type
  return PetscObjectCompose((PetscObject)pc, context_name, NULL);
}

} // namespace

PetscErrorCode PCCreate_Assembled(PC pc) {
  AssembledPC *context = new AssembledPC;

  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(compose_context((PetscObject)pc, context_name, context, destroy_context));
  PetscCall(PCShellSetDestroy(pc, destroy));
  PetscCall(PCCreate(PetscObjectComm((PetscObject)pc), &context->inner));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)context->inner, (PetscObject)pc, 1));
  PetscCall(PCShellSetName(pc, "a preconditioner of an assembled copy of the matrix (AIJ)"));
  PetscCall(PCShellSetSetUp(pc, set_up));
  PetscCall(PCShellSetApply(pc, apply<PCApply>));
  PetscCall(PCShellSetApplyTranspose(pc, apply<PCApplyTranspose>));
  PetscCall(PCShellSetView(pc, view));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCASSEMBLED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

PetscErrorCode PCAssembledGetPC(PC pc, PC *inner) {
  shellac::AssembledPC *context;

  PetscFunctionBegin;
  PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the preconditioner is null; create it first");
  PetscCall(shellac::get_context(pc, &context));
  SHELLAC_CHECK_ALL(context && inner, PetscObjectComm((PetscObject)pc),
                    context ? PETSC_ERR_ARG_NULL : PETSC_ERR_ARG_WRONG, "%s",
                    context ? "the place for the inner preconditioner is null; give the address of a PC"
                            : "the preconditioner is not of type assembled; call PCSetType(pc, PCASSEMBLED) first");
  *inner = context->inner;
  PetscFunctionReturn(PETSC_SUCCESS);
}
