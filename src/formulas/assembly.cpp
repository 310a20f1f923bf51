// Assembly into an operator whose formula is fixed: values are compared, not stored.

#include "formulas/mat.hpp"

namespace shellac {

// A program assembles this operator: compare the values, store nothing.
static PetscErrorCode set_values(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                 const PetscScalar values[], InsertMode mode) {
  FormulaMat *context;
  RowReader   reader;
  PetscInt    first, last;
  MatType     type;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &context, false));
  PetscCall(MatGetType(A, &type));
  PetscCheck(mode == INSERT_VALUES, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "a Mat of type %s has a fixed formula: it only compares inserted entries, and cannot with ADD_VALUES; use "
             "-dm_mat_type stencil or aij",
             type);
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatFormulaTakeAwaited(context));
  context->zeroed = false;
  PetscCall(reader.Begin(context, context->op.get()));
  for (PetscInt r = 0; r < m; r++) {
    PetscReal largest = 0;
    PetscInt  p[3], c;
    if (rows[r] < 0) continue;
    PetscCheck(rows[r] >= first && rows[r] < last, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "row %" PetscInt_FMT " is set by a rank that does not own it; a Mat of type %s compares only owned rows",
               rows[r], type);
    (void)context->grid.find_row(rows[r], p, &c);
    for (int a = 0; a < 3; a++) p[a] -= context->grid.start[a];
    const GlobalRow &row = reader.Get(p, c);
    for (PetscScalar value : row.value) largest = PetscMax(largest, PetscAbsScalar(value));
    for (PetscInt k = 0; k < n; k++) {
      PetscScalar ours = 0;
      if (columns[k] < 0) continue;
      for (size_t e = 0; e < row.column.size(); e++)
        if (row.column[e] == columns[k]) ours = row.value[e];
      PetscCheck(PetscAbsScalar(ours - values[r * n + k]) <= 1e3 * PETSC_MACHINE_EPSILON * largest, PETSC_COMM_SELF,
                 PETSC_ERR_ARG_INCOMP,
                 "the program assembles %g at row %" PetscInt_FMT ", column %" PetscInt_FMT
                 ", where the operator %s has %g "
                 "(real parts); check its boundary form, lengths and shift, or use -dm_mat_type stencil or aij",
                 (double)PetscRealPart(values[r * n + k]), rows[r], columns[k], type, (double)PetscRealPart(ours));
    }
  }
  PetscCall(reader.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFormulaCheckZeroed(const FormulaMat &context, bool zeroed) {
  PetscFunctionBegin;
  PetscCheck(
      !zeroed, context.grid.comm, PETSC_ERR_ARG_WRONGSTATE,
      "MatZeroEntries() was not followed by the assembly of the same operator, whose formula is fixed; for a zero "
      "operator use MatScale(), for another one -dm_mat_type stencil or aij");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A program may zero the entries and assemble the same operator again; if it leaves them zero, it is another operator.
static PetscErrorCode zero_entries(Mat A) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &context));
  if (!context->awaited) context->zeroed = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode assembly_end(Mat A, MatAssemblyType type) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &context));
  PetscMPIInt any[] = {context->zeroed && type == MAT_FINAL_ASSEMBLY, !context->awaited};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_MAX, context->grid.comm));
  if (type == MAT_FINAL_ASSEMBLY) context->zeroed = false; // with an error, the operator is as it was
  if (any[1]) PetscCall(MatFormulaTakeAwaited(context));   // another rank has set values
  PetscCall(MatFormulaCheckZeroed(*context, any[0]));
  PetscCall(MatStencilRestoreView(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- what a formula cannot serve -----------------------------------------------------------------------------------

static PetscErrorCode load(Mat A, PetscViewer) {
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
          "MatLoad() gives each point a row of its own, and a Mat of type %s has one formula for all; load into "
          "-dm_mat_type stencil or aij",
          type);
}

PetscErrorCode MatFormulaSetAssemblyOperations(Mat A) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  context->load = load;
  PetscCall(set_operation(A, MATOP_SET_VALUES, set_values));
  PetscCall(set_operation(A, MATOP_ZERO_ENTRIES, zero_entries));
  PetscCall(set_operation(A, MATOP_ASSEMBLY_END, assembly_end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
