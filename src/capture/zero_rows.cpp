// MatZeroRows() and MatZeroRowsColumns().

#include "capture/mat.hpp"
#include "capture/owners.hpp"

namespace shellac {

// Marks the rows, whichever rank names them, by 1 in a vector of zeros.
static PetscErrorCode mark_rows(Mat A, const CapturedMat &context, PetscInt n, const PetscInt rows[], Vec *marks) {
  std::vector<GlobalEntry> entries;
  PetscScalar             *mark;
  PetscInt                 first, last = -1; // the last row that any rank names

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    last = PetscMax(last, rows[i]);
    if (rows[i] >= 0) entries.push_back({rows[i], 0, 0, INSERT_VALUES});
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPIU_INT, MPI_MAX, context.grid.comm));
  PetscCheck(last < context.grid.offset.back(), context.grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "row %" PetscInt_FMT " is zeroed in a matrix of %" PetscInt_FMT " rows", last, context.grid.offset.back());
  PetscCall(SendToOwners(context.grid, &entries));
  PetscCall(MatCreateVecs(A, NULL, marks));
  PetscCall(VecBindToCPU(*marks, PETSC_TRUE));
  PetscCall(VecSet(*marks, 0));
  PetscCall(VecGetOwnershipRange(*marks, &first, NULL));
  PetscCall(VecGetArray(*marks, &mark));
  for (const GlobalEntry &entry : entries) mark[entry.row - first] = 1;
  PetscCall(VecRestoreArray(*marks, &mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode zero_marked_rows(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diagonal, bool columns,
                                       Vec x, Vec b) {
  CapturedMat       *context;
  Vec                marks, part;
  const PetscScalar *mark, *px = NULL;
  PetscScalar       *pb = NULL;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  PetscCall(mark_rows(A, *context, n, rows, &marks));
  if (columns && x && b) { // what the columns did with x goes to the right-hand side
    Vec product;
    PetscCall(VecDuplicate(x, &part));
    PetscCall(VecDuplicate(b, &product));
    PetscCall(VecPointwiseMult(part, x, marks));
    PetscCall(MatMult(A, part, product));
    PetscCall(VecAXPY(b, -1, product));
    PetscCall(VecDestroy(&product));
    PetscCall(VecDestroy(&part));
  }
  PetscCall(context->begin_change());
  const bool in_arrays = context->captured().in_arrays();
  PetscCall(MatCapturedOpen(context));
  const CapturedStencil &op = context->captured();
  const PetscInt         dof = context->grid.dof;
  for (PetscInt r = 0; r < dof; r++) PetscCall(context->captured().Need(op.slot(op.arms().center(), r, r)));
  PetscCall(VecGetArrayRead(marks, &mark));
  if (columns) {
    PetscCall(context->halo.Begin(mark, PETSC_MEMTYPE_HOST));
    PetscCall(context->halo.End());
  }
  if (x && b) {
    PetscCall(VecGetArrayRead(x, &px));
    PetscCall(VecGetArray(b, &pb));
  }
  const Field<PetscScalar> marked = columns ? context->halo.field() : Field<PetscScalar>{};
  PetscInt                 row = 0;
  for_each_owned(context->grid, [&](const PetscInt p[3], PetscInt r) {
    const bool   zeroed = mark[row] != (PetscScalar)0;
    const size_t at = op.patch().index(p[0], p[1], p[2]);
    for (int arm = 0; arm < op.arms().count() && (zeroed || columns); arm++) {
      const PetscInt *step = op.arms().step(arm), q[3] = {p[0] + step[0], p[1] + step[1], p[2] + step[2]};
      if (!op.in_domain(p, arm)) continue;
      for (PetscInt c = 0; c < dof; c++) {
        PetscScalar *values = context->values[op.slot(arm, r, c)];
        if (values && (zeroed || marked.value(op.patch(), q, c) != (PetscScalar)0)) values[at] = 0;
      }
    }
    if (zeroed) {
      context->values[op.slot(op.arms().center(), r, r)][at] = diagonal;
      if (pb) pb[row] = diagonal * px[row];
    }
    row++;
  });
  if (x && b) {
    PetscCall(VecRestoreArray(b, &pb));
    PetscCall(VecRestoreArrayRead(x, &px));
  }
  PetscCall(VecRestoreArrayRead(marks, &mark));
  PetscCall(VecDestroy(&marks));
  PetscCall(MatCapturedClose(context, in_arrays));
  if (!context->reference)
    PetscCall(context->altered(A, Alteration::rows, 1, 0));
  else { // zeroed by itself, so that the two can be compared
    if (columns)
      PetscCall(MatZeroRowsColumns(context->reference, n, rows, diagonal, NULL, NULL));
    else
      PetscCall(MatZeroRows(context->reference, n, rows, diagonal, NULL, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode zero_rows(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diagonal, Vec x, Vec b) {
  return zero_marked_rows(A, n, rows, diagonal, false, x, b);
}
static PetscErrorCode zero_rows_columns(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diagonal, Vec x, Vec b) {
  return zero_marked_rows(A, n, rows, diagonal, true, x, b);
}

PetscErrorCode MatCapturedSetZeroRowsOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_ZERO_ROWS, zero_rows));
  PetscCall(set_operation(A, MATOP_ZERO_ROWS_COLUMNS, zero_rows_columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
