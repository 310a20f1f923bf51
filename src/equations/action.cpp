// The Mat type equation: the Jacobian's action on a vector, without entries.

#include "equations/equation.hpp"
#include "equations/types.hpp"
#include "shellac.h"

namespace shellac {

// ---- on a grid -------------------------------------------------------------------------------------------------------

PetscErrorCode EquationOnGrid::CopyState(Vec u, Vec *state) {
  Equation &equation = *equation_;

  PetscFunctionBegin;
  if (!equation.action) {
    const void *compiled;
    PetscCall(CompileSource(grid_.comm, equation_action_source(equation.text, equation.shape),
                            {"the equation", equation.text.file, equation.text.lines}, equation.cache.c_str(),
                            &compiled));
    equation.action = static_cast<const equation::ActionFunctions *>(compiled);
  }
  PetscCall(CheckComplete());
  if (!*state) PetscCall(ghosts_ ? DMCreateLocalVector(da_, state) : VecDuplicate(u, state));
  if (ghosts_) {
    PetscCall(DMGlobalToLocalBegin(da_, u, INSERT_VALUES, *state));
    PetscCall(DMGlobalToLocalEnd(da_, u, INSERT_VALUES, *state));
  } else
    PetscCall(VecCopy(u, *state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Act(PetscReal time, Vec state, Vec v, Vec y) {
  enum { products, diagonals };
  const PetscScalar *direction = nullptr;
  PetscScalar       *out;
  WorkVector         local;
  Arrays             arrays;

  PetscFunctionBegin;
  place_.time = time;
  PetscCall(Update());
  PetscCall(NeedKernels(y, equation_->action_kernels));
  if (!equation_->action_kernels.kernels.present()) arrays = Arrays(PETSC_MEMTYPE_HOST);
  if (v && ghosts_) {
    PetscCall(local.Get(da_, true));
    PetscCall(DMGlobalToLocalBegin(da_, v, INSERT_VALUES, local));
    PetscCall(DMGlobalToLocalEnd(da_, v, INSERT_VALUES, local));
    v = local;
  }
  PetscCall(arrays.Read(state, &u_));
  if (v) PetscCall(arrays.Read(v, &direction));
  PetscCall(ReadFields(&arrays));
  PetscCall(arrays.Write(y, &out));
  PetscCall(SetPlace(arrays.memory()));
  place_.direction = compiled_array(direction);
  equation::Scalar *values = compiled_array(out);
  if (PetscMemTypeDevice(arrays.memory()))
    PetscCall(equation_->action_kernels.kernels.Vectors(v ? products : diagonals, place_, Tables(), regions_, values));
  else
    for (const equation::Region &region : regions_)
      (v ? equation_->action->product : equation_->action->diagonal)(&place_, &region, values);
  PetscCall(arrays.Restore());
  PetscCall(CheckArms());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the Mat -----------------------------------------------------------------------------------------------------------

// Where the derivative is taken.
struct ActionMat {
  Vec       state = NULL; // with ghost points, where there are several ranks; null before the first
  PetscReal time = 0;
};

static PetscErrorCode destroy_context(void *argument) {
  ActionMat *context = context_to_destroy<ActionMat>(argument);

  PetscFunctionBegin;
  PetscCall(VecDestroy(&context->state));
  delete context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_equation(Mat A, EquationOnGrid **equation) {
  DM da;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &da));
  PetscCheck(da, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "a Mat of type equation needs the DMDA of its equation; make it with DMCreateMatrix()");
  PetscCall(DMGetEquation(da, equation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y = J v, or the diagonal where v is null.
static PetscErrorCode act(Mat A, Vec v, Vec y) {
  ActionMat      *context;
  EquationOnGrid *equation;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCheck(context->state, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
             "the Mat of type equation has no state yet, at which it is the derivative; SNESComputeJacobian(), "
             "TSComputeRHSJacobian() or DMDACreateEquationMat() give it one");
  PetscCall(get_equation(A, &equation));
  PetscCall(equation->Act(context->time, context->state, v, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode get_diagonal(Mat A, Vec d) {
  return act(A, NULL, d);
}

static PetscErrorCode view(Mat A, PetscViewer viewer) {
  EquationOnGrid *equation;
  PetscBool       ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get_equation(A, &equation));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "the derivative of the %s of %s, applied by dual numbers; no entries are stored\n",
      equation->equation().text.has_rate ? "rate" : "residual", equation->equation().text.file.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_state(Mat A, PetscReal time, Vec u) {
  ActionMat      *context;
  EquationOnGrid *equation;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCall(get_equation(A, &equation));
  PetscCall(equation->CopyState(u, &context->state));
  context->time = time;
  PetscCall(set_operation(A, MATOP_VIEW, view));      // on several ranks DMCreateMatrix() has put another one there
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY)); // no shift and no scaling any more
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_up(Mat A) {
  DM        da;
  PetscInt  m;
  VecType   type;
  PetscBool is_da;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &da));
  PetscCheck(da, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "a Mat of type equation needs the DMDA of its equation; make it with DMCreateMatrix(), or call MatSetDM() "
             "before MatSetUp()");
  PetscCall(PetscObjectTypeCompare((PetscObject)da, DMDA, &is_da));
  PetscCheck(is_da, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "a Mat of type equation needs a DMDA with an equation; the DM is another");
  PetscCall(MatGetLocalSize(A, &m, NULL));
  if (m < 0) {
    Vec      u;
    PetscInt n;
    PetscCall(DMGetGlobalVector(da, &u));
    PetscCall(VecGetLocalSize(u, &n));
    PetscCall(DMRestoreGlobalVector(da, &u));
    PetscCall(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  }
  PetscLayout layouts[2];
  PetscCall(MatGetLayouts(A, &layouts[0], &layouts[1]));
  for (PetscLayout &layout : layouts) PetscCall(PetscLayoutSetUp(layout));
  PetscCall(DMGetVecType(da, &type));
  PetscCall(MatSetVecType(A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode duplicate(Mat A, MatDuplicateOption option, Mat *B) {
  DM       da;
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCheck(option != MAT_COPY_VALUES, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "a Mat of type equation has no values to copy; duplicate it with MAT_DO_NOT_COPY_VALUES");
  PetscCall(MatGetDM(A, &da));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*B, MATEQUATION));
  PetscCall(MatSetDM(*B, da));
  PetscCall(MatSetUp(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char method[] = "ShellacEquationSetState_C";

PetscErrorCode MatEquationTrySetState(Mat A, PetscReal time, Vec u, PetscBool *set) {
  PetscFunctionBegin;
  PetscCall(try_method(A, method, set, time, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_Equation(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSHELL));
  PetscCall(MatShellSetContext(A, new ActionMat));
  PetscCall(MatShellSetContextDestroy(A, destructor(destroy_context)));
  PetscCall(MatBindToCPU(A, PETSC_FALSE)); // a new Mat is bound until its type says that it can leave the host
  PetscCall(set_operation(A, MATOP_MULT, act));
  PetscCall(set_operation(A, MATOP_GET_DIAGONAL, get_diagonal));
  PetscCall(set_operation(A, MATOP_SETUP, set_up));
  PetscCall(set_operation(A, MATOP_DUPLICATE, duplicate));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, method, set_state));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATEQUATION));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
