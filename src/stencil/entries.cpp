// What is read off the rows of an operator: single entries, whole rows, norms, extrema.

#include "stencil/mat.hpp"

namespace shellac {

static PetscErrorCode get_rows(StencilMat *context, StencilOperator *of, RowProperty property, Vec v) {
  std::unique_ptr<PreparedOperator> op;
  Arrays                            arrays;
  PetscScalar                      *pv = NULL;

  PetscFunctionBegin;
  PetscCall(arrays.Write(v, &pv));
  PetscCall(context->Prepare(of, &arrays, &op));
  PetscCall(op->rows(arrays.memory(), property, pv));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilGetRows(Mat A, RowProperty property, Vec v) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatStencilCheckLayouts(A, v, NULL, v));
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(get_rows(context, context->op.get(), property, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_diagonal(Mat A, Vec v) {
  return MatStencilGetRows(A, RowProperty::diagonal, v);
}

#if PETSC_VERSION_GE(3, 22, 0)
// On the host wherever the vector lives: PETSc's l1 Jacobi goes on to change the host's array without asking for its
// values.
static PetscErrorCode get_row_sum_abs(Mat A, Vec v) {
  StencilMat                       *context;
  std::unique_ptr<PreparedOperator> op;
  Arrays                            arrays;
  PetscScalar                      *sums;

  PetscFunctionBegin;
  PetscCall(MatStencilCheckLayouts(A, v, NULL, v));
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(context->Prepare(context->op.get(), &arrays, &op));
  PetscCall(VecGetArrayWrite(v, &sums));
  PetscCall(op->rows(PETSC_MEMTYPE_HOST, RowProperty::sum_abs, sums));
  PetscCall(VecRestoreArrayWrite(v, &sums));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode get_row_max_abs(Mat A, Vec v, PetscInt columns[]) {
  StencilMat *context;
  RowReader   rows;
  size_t      n = 0;

  PetscFunctionBegin;
  PetscCall(MatStencilGetRows(A, RowProperty::max_abs, v));
  if (!columns) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetStencil(A, &context));
  PetscCall(rows.Begin(context, context->op.get()));
  for_each_owned(context->grid, [&](const PetscInt p[3], PetscInt c) {
    const GlobalRow &row = rows.Get(p, c);
    size_t           best = 0;
    for (size_t e = 1; e < row.value.size(); e++)
      if (PetscAbsScalar(row.value[e]) > PetscAbsScalar(row.value[best])) best = e;
    columns[n++] = row.column[best];
  });
  PetscCall(rows.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The entry of each row whose measure is the largest; a zero that is not stored counts as an entry. Its column is the
// first of them.
template <class Measure>
static PetscErrorCode get_extreme_entries(Mat A, Vec v, PetscInt columns[], bool absolute, const Measure &measure) {
  StencilMat  *context;
  RowReader    rows;
  PetscScalar *values;
  PetscInt     N;
  size_t       n = 0;

  PetscFunctionBegin;
  PetscCall(MatStencilCheckLayouts(A, v, NULL, v));
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(rows.Begin(context, context->op.get()));
  PetscCall(VecGetArrayWrite(v, &values));
  for_each_owned(context->grid, [&](const PetscInt p[3], PetscInt c) {
    const GlobalRow &row = rows.Get(p, c);
    PetscInt         column = 0;
    PetscScalar      best = 0;
    if ((PetscInt)row.column.size() == N)
      best = row.value[0];
    else
      while (column < (PetscInt)row.column.size() && row.column[column] == column)
        column++; // the first that is not stored
    for (size_t e = 0; e < row.value.size(); e++)
      if (measure(row.value[e]) > measure(best)) best = row.value[e], column = row.column[e];
    values[n] = absolute ? PetscScalar(PetscAbsScalar(best)) : best;
    if (columns) columns[n] = column;
    n++;
  });
  PetscCall(VecRestoreArrayWrite(v, &values));
  PetscCall(rows.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_row_max(Mat A, Vec v, PetscInt columns[]) {
  return get_extreme_entries(A, v, columns, false, [](PetscScalar value) { return PetscRealPart(value); });
}
static PetscErrorCode get_row_min(Mat A, Vec v, PetscInt columns[]) {
  return get_extreme_entries(A, v, columns, false, [](PetscScalar value) { return -PetscRealPart(value); });
}
static PetscErrorCode get_row_min_abs(Mat A, Vec v, PetscInt columns[]) {
  return get_extreme_entries(A, v, columns, true, [](PetscScalar value) { return -PetscAbsScalar(value); });
}

PetscErrorCode MatStencilNorm(Mat A, NormType type, PetscReal *norm) {
  StencilMat      *context;
  StencilOperator *op;
  WorkVector       sums; // of the rows
  DM               dm;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  SHELLAC_CHECK_ALL(type == NORM_1 || type == NORM_INFINITY || type == NORM_FROBENIUS, context->grid.comm,
                    PETSC_ERR_SUP, "norms 1, frobenius and infinity are there; the 2-norm is not");
  PetscCall(MatStencilGetOperator(context, type == NORM_1, &op));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(sums.Get(dm));
  PetscCall(get_rows(context, op, type == NORM_FROBENIUS ? RowProperty::sum_squares : RowProperty::sum_abs, sums));
  PetscCall(VecNorm(sums, type == NORM_FROBENIUS ? NORM_1 : NORM_INFINITY, norm));
  if (type == NORM_FROBENIUS) *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- entries -------------------------------------------------------------------------------------------------------

PetscErrorCode RowReader::Begin(StencilMat *context, StencilOperator *op) {
  PetscFunctionBegin;
  context_ = context;
  PetscCall(context->Prepare(op, &arrays_, &op_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const GlobalRow &RowReader::Get(const PetscInt p[3], PetscInt c) {
  const Grid &grid = context_->grid;
  op_->row(p, c, &entries_);
  row_.column.clear();
  row_.value.clear();
  for (const Entry &entry : entries_) {
    PetscInt at[3];
    for (int a = 0; a < 3; a++) {
      at[a] = grid.start[a] + entry.point[a];
      if (at[a] < 0 || at[a] >= grid.N[a]) at[a] = (at[a] % grid.N[a] + grid.N[a]) % grid.N[a];
    }
    const PetscInt column = grid.global_row(at) + entry.c;
    size_t         place = row_.column.size();
    while (place > 0 && row_.column[place - 1] >= column) place--;
    if (place < row_.column.size() && row_.column[place] == column) { // a periodic axis of two points
      row_.value[place] += entry.value;
      continue;
    }
    row_.column.insert(row_.column.begin() + place, column);
    row_.value.insert(row_.value.begin() + place, entry.value);
  }
  return row_;
}

PetscErrorCode RowReader::End() {
  PetscFunctionBegin;
  op_.reset();
  PetscCall(arrays_.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_row(Mat A, PetscInt global, PetscInt *n, PetscInt **columns, PetscScalar **values) {
  StencilMat *context;
  RowReader   rows;
  PetscInt    p[3], c;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context, false));
  const Grid &grid = context->grid;
  (void)grid.find_row(global, p, &c);
  for (int a = 0; a < 3; a++) p[a] -= grid.start[a];
  PetscCall(rows.Begin(context, context->op.get()));
  const GlobalRow &row = rows.Get(p, c);
  const PetscInt   count = (PetscInt)row.column.size();
  if (n) *n = count;
  if (columns) {
    PetscCall(PetscMalloc1(count, columns));
    PetscCall(PetscArraycpy(*columns, row.column.data(), count));
  }
  if (values) {
    PetscCall(PetscMalloc1(count, values));
    PetscCall(PetscArraycpy(*values, row.value.data(), count));
  }
  PetscCall(rows.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode restore_row(Mat, PetscInt, PetscInt *, PetscInt **columns, PetscScalar **values) {
  PetscFunctionBegin;
  if (columns) PetscCall(PetscFree(*columns));
  if (values) PetscCall(PetscFree(*values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_values(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                 PetscScalar values[]) {
  StencilMat *context;
  RowReader   reader;
  PetscInt    first, last, p[3], c;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context, false));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt r = 0; r < m; r++)
    PetscCheck(rows[r] < 0 || (rows[r] >= first && rows[r] < last), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "row %" PetscInt_FMT " is asked for; a rank gets the rows that it owns, here %" PetscInt_FMT
               " to %" PetscInt_FMT " (MatGetOwnershipRange())",
               rows[r], first, last - 1);
  const Grid &grid = context->grid;
  PetscCall(reader.Begin(context, context->op.get()));
  for (PetscInt r = 0; r < m; r++) {
    if (rows[r] < 0) continue;
    (void)grid.find_row(rows[r], p, &c);
    for (int a = 0; a < 3; a++) p[a] -= grid.start[a];
    const GlobalRow &row = reader.Get(p, c);
    for (PetscInt k = 0; k < n; k++) {
      if (columns[k] < 0) continue;
      values[r * n + k] = 0;
      for (size_t e = 0; e < row.column.size(); e++)
        if (row.column[e] == columns[k]) values[r * n + k] = row.value[e];
    }
  }
  PetscCall(reader.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilSetEntryOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_GET_DIAGONAL, get_diagonal));
#if PETSC_VERSION_GE(3, 22, 0)
  PetscCall(set_operation(A, MATOP_GET_ROW_SUM_ABS, get_row_sum_abs));
#endif
  PetscCall(set_operation(A, MATOP_GET_ROW_MAX_ABS, get_row_max_abs));
  PetscCall(set_operation(A, MATOP_GET_ROW_MIN_ABS, get_row_min_abs));
  PetscCall(set_operation(A, MATOP_GET_ROW_MAX, get_row_max));
  PetscCall(set_operation(A, MATOP_GET_ROW_MIN, get_row_min));
  PetscCall(set_operation(A, MATOP_NORM, MatStencilNorm));
  PetscCall(set_operation(A, MATOP_GET_ROW, get_row));
  PetscCall(set_operation(A, MATOP_RESTORE_ROW, restore_row));
  PetscCall(set_operation(A, MATOP_GET_VALUES, get_values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
