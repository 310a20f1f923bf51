// The null spaces of formulas whose rows sum to zero.

#include "formulas/mat.hpp"

namespace shellac {

// The left null space of mirrored axes: end nodes stand for half a cell.
static PetscErrorCode make_left_null_vector(Mat A, const FormulaMat &context, Vec *w) {
  PetscScalar *values;
  size_t       point = 0;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, w));
  PetscCall(VecGetArrayWrite(*w, &values));
  for_each_owned(context.grid, [&](const PetscInt i[3]) {
    PetscReal weight = 1;
    for (int a = 0; a < 3; a++) weight *= context.ends[a].cell(i[a]);
    values[point++] = weight;
  });
  PetscCall(VecRestoreArrayWrite(*w, &values));
  PetscCall(VecNormalize(*w, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Removes null spaces that Shellac attached and the program has not replaced.
static PetscErrorCode detach(Mat A, FormulaMat *context) {
  MatNullSpace present[2];

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &present[0]));
  PetscCall(MatGetTransposeNullSpace(A, &present[1]));
  for (int n = 0; n < 2; n++) {
    if (!context->null_spaces[n]) continue;
    if (present[n] == context->null_spaces[n])
      PetscCall(n ? MatSetTransposeNullSpace(A, NULL) : MatSetNullSpace(A, NULL));
    else
      context->null_spaces_are_theirs = true;
    PetscCall(MatNullSpaceDestroy(&context->null_spaces[n]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// They are attached when the operator becomes singular, not at each change, so a program's own null space remains.
PetscErrorCode MatFormulaAttachNullSpace(Mat A, FormulaMat *context) {
  using State = FormulaMat::NullState;
  MatNullSpace present, constants, left = NULL;
  Vec          w;
  MPI_Comm     comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  bool singular = context->knows_constants() && context->row_of_constant() == (PetscScalar)0 &&
                  context->grid.dof == 1 && context->is_complete();
  for (int a = 0; a < context->grid.dim; a++)
    for (int side = 0; side < 2; side++) singular = singular && context->ends[a].holds_constants((Side)side);
  // The left null space is unknown for sums with other matrices and for formulas that are not known to be symmetric.
  const bool  left_known = context->symmetric || (context->formula->symmetric() && !context->change.others);
  const State now = !singular ? State::none : !left_known ? State::right_alone : State::both, was = context->null_state;
  const bool  turned = context->null_spaces_transposed != context->is_transposed;
  context->null_state = now;
  context->null_spaces_transposed = context->is_transposed;
  if (was == now && !turned) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(detach(A, context));
  if (!singular) context->null_spaces_are_theirs = false;
  PetscCall(MatGetNullSpace(A, &present));
  if (!singular || context->null_spaces_are_theirs || present) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceCreate(comm, PETSC_TRUE, 0, NULL, &constants));
  if (context->symmetric) {
    PetscCall(PetscObjectReference((PetscObject)constants));
    left = constants;
  } else if (left_known) {
    PetscCall(make_left_null_vector(A, *context, &w));
    PetscCall(MatNullSpaceCreate(comm, PETSC_FALSE, 1, &w, &left));
    PetscCall(VecDestroy(&w));
  }
  context->null_spaces[0] = context->is_transposed ? left : constants;
  context->null_spaces[1] = context->is_transposed ? constants : left;
  PetscCall(MatSetNullSpace(A, context->null_spaces[0]));
  PetscCall(MatSetTransposeNullSpace(A, context->null_spaces[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
