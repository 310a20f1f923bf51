// What is read off the rows of an operator: single entries, whole rows, norms, extrema.

#include "stencil/rows.hpp"

#include <algorithm>

namespace shellac {

static PetscErrorCode get_rows(StencilMat *context, StencilOperator *of, RowProperty property, Vec v, bool on_host) {
  std::unique_ptr<PreparedOperator> op;
  Arrays                            arrays = on_host ? Arrays(PETSC_MEMTYPE_HOST) : Arrays();
  PetscScalar                      *pv = NULL;

  PetscFunctionBegin;
  PetscCall(arrays.Write(v, &pv));
  PetscCall(context->Prepare(of, &arrays, &op));
  PetscCall(op->rows(arrays.memory(), property, pv));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilGetRows(Mat A, RowProperty property, Vec v, bool on_host) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatStencilCheckLayouts(A, v, NULL, v));
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(get_rows(context, context->op.get(), property, v, on_host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_diagonal(Mat A, Vec v) {
  return MatStencilGetRows(A, RowProperty::diagonal, v);
}

#if PETSC_VERSION_GE(3, 22, 0)
// On the host wherever v is: PETSc's l1 Jacobi goes on to change the host's array without asking for its values.
static PetscErrorCode get_row_sum_abs(Mat A, Vec v) {
  return MatStencilGetRows(A, RowProperty::sum_abs, v, true);
}
#endif

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
  PetscCall(
      get_rows(context, op, type == NORM_FROBENIUS ? RowProperty::sum_squares : RowProperty::sum_abs, sums, false));
  PetscCall(VecNorm(sums, type == NORM_FROBENIUS ? NORM_1 : NORM_INFINITY, norm));
  if (type == NORM_FROBENIUS) *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- entries -------------------------------------------------------------------------------------------------------

PetscErrorCode RowReader::Begin(StencilMat *context, StencilOperator *op, bool with_values) {
  PetscFunctionBegin;
  context_ = context;
  PetscCall(context->Prepare(op, &arrays_, &op_));
  length_ = (size_t)op_->arms() * (size_t)context->grid.dof;
  slots_ = length_ * (size_t)context->grid.dof;
  most_ = (PetscInt)PetscMax((size_t)1, PetscMin((size_t)64, 2048 / slots_)); // whose values stay in the first cache
  values_.resize((size_t)most_ * slots_);
  count_ = 0;
  with_values_ = with_values || !op_->stores_zeros();
  reach_ = 0;
  for (int arm = 0; arm < op_->arms(); arm++) reach_ = PetscMax(reach_, PetscAbs(op_->step(arm)[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void RowReader::Read(const PetscInt p[3], PetscInt points) {
  const Grid &grid = context_->grid;
  const int   arms = op_->arms();
  // values are read for points of several lines: for many arms they come from as many arrays
  const size_t point = context_->op->patch().index(p[0], p[1], p[2]);
  if (with_values_ && (point < first_ || point + (size_t)points > first_ + count_)) {
    first_ = point;
    count_ = PetscMin((size_t)most_, end_ - point);
    op_->values(p, (PetscInt)count_, values_.data());
  }
  at_ = with_values_ ? point - first_ : 0;
  ends_.clear();
  for (int arm = 0; arm < arms; arm++) {
    const PetscInt *step = op_->step(arm);
    PetscInt        at[3];
    bool            inside = true;
    for (int a = 0; a < 3; a++) {
      at[a] = grid.start[a] + p[a] + step[a];
      if (at[a] >= 0 && at[a] < grid.N[a]) continue;
      inside = inside && grid.periodic(a);
      at[a] = (at[a] % grid.N[a] + grid.N[a]) % grid.N[a];
    }
    if (inside) ends_.push_back({grid.global_row(at), arm});
  }
  const bool sorted = std::is_sorted(ends_.begin(), ends_.end());
  if (!sorted) std::sort(ends_.begin(), ends_.end());
  as_stored_ = sorted && (int)ends_.size() == arms && op_->stores_zeros();
  columns_.clear();
  for (const auto &end : ends_)
    for (PetscInt c = 0; c < grid.dof; c++) columns_.push_back(end.first + c);
}

GlobalRow RowReader::Select(PetscInt r, const PetscScalar *values) {
  const PetscInt dof = context_->grid.dof;
  row_values_.clear();
  if (op_->stores_zeros()) {
    for (const auto &end : ends_)
      row_values_.insert(row_values_.end(), values + end.second * dof, values + (end.second + 1) * dof);
    return {(PetscInt)columns_.size(), columns_.data(), row_values_.data()};
  }
  row_columns_.clear();
  for (size_t e = 0; e < columns_.size(); e++) {
    const PetscInt    c = (PetscInt)e % dof, *step = op_->step(ends_[e / (size_t)dof].second);
    const PetscScalar value = values[ends_[e / (size_t)dof].second * dof + c];
    if (value == (PetscScalar)0 && (c != r || step[0] || step[1] || step[2])) continue;
    row_columns_.push_back(columns_[e]);
    row_values_.push_back(value);
  }
  return {(PetscInt)row_columns_.size(), row_columns_.data(), row_values_.data()};
}

PetscErrorCode RowReader::End() {
  PetscFunctionBegin;
  op_.reset();
  PetscCall(arrays_.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Programs read row by row: where a row follows those that were read before, the next ones of its line are read with it.
static PetscErrorCode read_rows(StencilMat *context, PetscInt global) {
  constexpr size_t most = 8192; // entries
  const Grid      &grid = context->grid;
  const bool       follows = !context->row_blocks.empty() && context->row_blocks.back()->last == global;
  RowReader        rows;
  PetscInt         p[3], c, points = 1;

  PetscFunctionBegin;
  (void)grid.find_row(global, p, &c);
  for (int a = 0; a < 3; a++) p[a] -= grid.start[a];
  PetscCall(rows.Begin(context, context->op.get()));
  if (!context->rows_taken) context->row_blocks.resize(PetscMin(context->row_blocks.size(), (size_t)1));
  if (context->rows_taken || context->row_blocks.empty())
    context->row_blocks.push_back(std::make_unique<RowBlock>()); // others are in use
  RowBlock &block = *context->row_blocks.back();
  if (follows) points = PetscMin((PetscInt)(most / rows.slots()) + 1, grid.size[0] - p[0]);
  block.begin.assign(1, 0);
  block.column.resize((size_t)points * rows.slots());
  block.value.resize((size_t)points * rows.slots());
  block.first = block.last = global - c;
  rows.ForLine(p, points, [&](const GlobalRow &row) {
    std::copy_n(row.column, row.n, block.column.begin() + (ptrdiff_t)block.begin.back());
    std::copy_n(row.value, row.n, block.value.begin() + (ptrdiff_t)block.begin.back());
    block.begin.push_back(block.begin.back() + (size_t)row.n);
    block.last++;
  });
  PetscCall(rows.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_row(Mat A, PetscInt global, PetscInt *n, PetscInt **columns, PetscScalar **values) {
  StencilMat *context;
  RowBlock   *block;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context, false));
  block = context->row_blocks.empty() ? nullptr : context->row_blocks.back().get();
  if (!block || global < block->first || global >= block->last) {
    PetscCall(read_rows(context, global));
    block = context->row_blocks.back().get();
  }
  const size_t begin = block->begin[(size_t)(global - block->first)];
  if (n) *n = (PetscInt)(block->begin[(size_t)(global - block->first) + 1] - begin);
  if (columns) *columns = block->column.data() + begin;
  if (values) *values = block->value.data() + begin;
  context->rows_taken++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode restore_row(Mat A, PetscInt, PetscInt *, PetscInt **columns, PetscScalar **values) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  if (context->rows_taken > 0) context->rows_taken--;
  if (columns) *columns = NULL;
  if (values) *values = NULL;
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
    const GlobalRow row = reader.Get(p, c);
    for (PetscInt k = 0; k < n; k++) {
      if (columns[k] < 0) continue;
      const PetscInt e = (PetscInt)(std::lower_bound(row.column, row.column + row.n, columns[k]) - row.column);
      values[r * n + k] = e < row.n && row.column[e] == columns[k] ? row.value[e] : PetscScalar(0);
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
  PetscCall(set_operation(A, MATOP_NORM, MatStencilNorm));
  PetscCall(set_operation(A, MATOP_GET_ROW, get_row));
  PetscCall(set_operation(A, MATOP_RESTORE_ROW, restore_row));
  PetscCall(set_operation(A, MATOP_GET_VALUES, get_values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
