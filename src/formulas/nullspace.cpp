// The null spaces of formulas whose rows sum to zero.

#include "formulas/mat.hpp"

namespace shellac {

// The left null space of mirrored axes: end nodes stand for half a cell.
static PetscErrorCode make_left_null_vector(Mat A, const FormulaMat &context, Vec *w) {
  const Patch &patch = context.op->patch();
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, w));
  PetscCall(VecGetArrayWrite(*w, &values));
  for_each_owned(context.grid, [&](const PetscInt p[3], PetscInt) {
    PetscReal weight = 1;
    for (int a = 0; a < 3; a++)
      if (context.ends[a].mirror && (patch.at_domain_end(p, a, LOWER) || patch.at_domain_end(p, a, UPPER))) weight /= 2;
    values[patch.index(p[0], p[1], p[2])] = weight;
  });
  PetscCall(VecRestoreArrayWrite(*w, &values));
  PetscCall(VecNormalize(*w, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFormulaAttachNullSpace(Mat A, FormulaMat *context) {
  MatNullSpace present;
  bool         singular;

  PetscFunctionBegin;
  singular = context->constants_known && context->row_of_constant == (PetscScalar)0 && context->grid.dof == 1 &&
             context->is_complete();
  for (int a = 0; a < context->grid.dim; a++)
    for (int side = 0; side < 2; side++) singular = singular && context->ends[a].holds_constants((Side)side);
  PetscCall(MatGetNullSpace(A, &present));
  if (context->nullspace && (!singular || context->nullspace_transposed != context->is_transposed)) {
    if (present == context->nullspace) { // not one that the user has set since
      PetscCall(MatSetNullSpace(A, NULL));
      PetscCall(MatSetTransposeNullSpace(A, NULL));
      present = NULL;
    }
    context->nullspace = NULL;
  }
  if (singular && !present) {
    MatNullSpace constants, left = NULL;
    Vec          w;
    MPI_Comm     comm = PetscObjectComm((PetscObject)A);
    PetscCall(MatNullSpaceCreate(comm, PETSC_TRUE, 0, NULL, &constants));
    if (context->symmetric) {
      PetscCall(PetscObjectReference((PetscObject)constants));
      left = constants;
    } else if (context->formula->symmetric()) { // of other formulas it is not known
      PetscCall(make_left_null_vector(A, *context, &w));
      PetscCall(MatNullSpaceCreate(comm, PETSC_FALSE, 1, &w, &left));
      PetscCall(VecDestroy(&w));
    }
    context->nullspace_transposed = context->is_transposed;
    context->nullspace = context->is_transposed ? left : constants; // the matrix holds it
    PetscCall(MatSetNullSpace(A, context->nullspace));
    PetscCall(MatSetTransposeNullSpace(A, context->is_transposed ? constants : left));
    PetscCall(MatNullSpaceDestroy(&left));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
