// Assembly into an operator whose formula is fixed: values are compared, not stored.

#include "formulas/mat.hpp"
#include "stencil/rows.hpp"

namespace shellac {

// The first value that is wrong since the last assembly. All ranks get the error at the end of the assembly: MatSetValues()
// is not collective, and the others would wait there for ever.
template <class... Words>
static PetscErrorCode note_mistake(FormulaMat *context, PetscErrorCode code, const char *format, Words... words) {
  char text[512];

  PetscFunctionBegin;
  if (context->mistake_code) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text), format, words...));
  context->mistake = text;
  context->mistake_code = code;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The values of one row: rows of several unknowns a point are rows of their own.
static PetscErrorCode compare_row(FormulaMat *context, MatType type, PetscInt row, const GlobalRow &ours, PetscInt n,
                                  const PetscInt columns[], const PetscScalar values[], PetscInt stride) {
  PetscReal largest = 0;

  PetscFunctionBegin;
  for (PetscInt e = 0; e < ours.n; e++) largest = PetscMax(largest, PetscAbsScalar(ours.value[e]));
  for (PetscInt k = 0; k < n; k++) {
    PetscScalar own = 0;
    if (columns[k] < 0) continue;
    for (PetscInt e = 0; e < ours.n; e++)
      if (ours.column[e] == columns[k]) own = ours.value[e];
    const PetscScalar given = values ? values[k * stride] : 0;
    if (!(PetscAbsScalar(own - given) <= 1e3 * PETSC_MACHINE_EPSILON * largest))
      PetscCall(note_mistake(context, PETSC_ERR_ARG_INCOMP,
                             "the program assembles %g at row %" PetscInt_FMT ", column %" PetscInt_FMT
                             ", where the operator %s has %g (real parts); check its boundary form, lengths and shift, "
                             "or use -dm_mat_type stencil or aij",
                             (double)PetscRealPart(given), row, columns[k], type, (double)PetscRealPart(own)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A program assembles this operator: compare the values, store nothing.
static PetscErrorCode set_values(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                 const PetscScalar values[], InsertMode mode) {
  FormulaMat *context;
  RowReader   reader;
  PetscInt    first, last;
  MatType     type;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(MatGetType(A, &type));
  if (!context->op) PetscCall(MatSetUp(A));
  if (context->stale())
    PetscCall(
        note_mistake(context, PETSC_ERR_ORDER, "%s",
                     "a field of the operator has changed, and single values cannot be compared with rows that are "
                     "filled anew; call MatAssemblyBegin() and MatAssemblyEnd() before MatSetValues()"));
  if (mode != INSERT_VALUES)
    PetscCall(note_mistake(context, PETSC_ERR_SUP,
                           "a Mat of type %s has a fixed formula: it only compares inserted entries, and cannot with "
                           "ADD_VALUES; use -dm_mat_type stencil or aij",
                           type));
  if (context->mistake_code) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatFormulaTakeAwaited(context));
  context->zeroed = false;
  PetscCall(reader.Begin(context, context->op.get()));
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt row = rows[r];
    PetscInt       p[3], c;
    if (row < 0) continue;
    if (row < first || row >= last) {
      PetscCall(note_mistake(context, PETSC_ERR_SUP,
                             "row %" PetscInt_FMT
                             " is set by a rank that does not own it; a Mat of type %s compares only owned rows",
                             row, type));
      continue;
    }
    (void)context->grid.find_row(row, p, &c);
    for (int a = 0; a < 3; a++) p[a] -= context->grid.start[a];
    const PetscInt by_row = context->row_oriented ? n : 1, by_column = context->row_oriented ? 1 : m;
    PetscCall(
        compare_row(context, type, row, reader.Get(p, c), n, columns, values ? values + r * by_row : NULL, by_column));
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
  PetscCall(MatGetReadyStencil(A, &context));
  if (!context->awaited) context->zeroed = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode assembly_end(Mat A, MatAssemblyType type) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  if (context->announces) PetscFunctionReturn(MatStencilRestoreView(A, context));
  PetscMPIInt any[] = {context->zeroed && type == MAT_FINAL_ASSEMBLY, !context->awaited,
                       (PetscMPIInt)context->mistake_code};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, any, 3, MPI_INT, MPI_MAX, context->grid.comm));
  if (type == MAT_FINAL_ASSEMBLY) context->zeroed = false; // with an error, the operator is as it was
  if (any[1]) PetscCall(MatFormulaTakeAwaited(context));   // another rank has set values
  if (any[2]) {
    const std::string mistake = std::move(context->mistake);
    context->mistake.clear();
    context->mistake_code = PETSC_SUCCESS;
    SHELLAC_CHECK_ALL(mistake.empty(), context->grid.comm, (PetscErrorCode)any[2], "%s", mistake.c_str());
  }
  PetscCall(MatFormulaCheckZeroed(*context, any[0]));
  PetscCall(MatStencilRestoreView(A, context));
  PetscCall(context->follow_pattern(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- what a formula cannot serve -----------------------------------------------------------------------------------

static PetscErrorCode refuse(Mat A, const char *why) {
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "a Mat of type %s has one formula for all rows: %s", type,
          why);
}
static PetscErrorCode load(Mat A, PetscViewer) {
  return refuse(A, "MatLoad() gives each point a row of its own; load into -dm_mat_type stencil or aij");
}
static constexpr const char *no_coo =
    "it takes no lists of entries; with them use -dm_mat_type stencil or aij; or call "
    "MatSetValues(), whose values are compared with the operator";
static PetscErrorCode refuse_coo_list(Mat A, PetscCount, PetscInt[], PetscInt[]) {
  return refuse(A, no_coo);
}
static PetscErrorCode refuse_coo_values(Mat A, const PetscScalar[], InsertMode) {
  return refuse(A, no_coo);
}

PetscErrorCode MatFormulaSetAssemblyOperations(Mat A) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  context->load = load;
  PetscCall(set_operation(A, MATOP_SET_VALUES, set_values));
  PetscCall(set_operation(A, MATOP_ZERO_ENTRIES, zero_entries));
  PetscCall(set_operation(A, MATOP_ASSEMBLY_END, assembly_end));
  PetscCall(set_operation(A, MATOP_SET_OPTION, MatCapturedSetOption));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", refuse_coo_list));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOOLocal_C", refuse_coo_list));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", refuse_coo_values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
