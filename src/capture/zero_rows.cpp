// MatZeroRows() and MatZeroRowsColumns().

#include "capture/mat.hpp"
#include "capture/owners.hpp"

namespace shellac {

template <class T> struct MarkRows {
  const PetscInt *rows; // of this rank
  T              *marks;

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const { marks[rows[n]] = 1; }
};

// Marks the rows, whichever rank names them, by 1 in a vector of zeros.
static PetscErrorCode mark_rows(const CapturedMat &context, PetscInt n, const PetscInt rows[], Vec marks) {
  std::vector<GlobalEntry> entries;
  Mirror<PetscInt>         list;
  MarkRows<PetscScalar>    mark;
  Arrays                   arrays;
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
  PetscCall(VecGetOwnershipRange(marks, &first, NULL));
  for (const GlobalEntry &entry : entries) list.change().push_back(entry.row - first);
  PetscCall(VecZeroEntries(marks));
  PetscCall(arrays.ReadWrite(marks, &mark.marks));
  PetscCall(list.Get(arrays.memory(), &mark.rows));
  PetscCall(for_each(arrays.memory(), line_of(entries.size()), mark));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> struct KeepMarked {
  const T *marks;
  T       *x;

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const {
    if (marks[n] == T(0)) x[n] = 0; // whatever it has been: nobody needs to set it
  }
};

// What the marked columns did with x goes to the right-hand side.
static PetscErrorCode move_columns(Mat A, DM dm, Vec marks, Vec x, Vec b) {
  WorkVector              part, product;
  KeepMarked<PetscScalar> keep;
  Arrays                  arrays;
  PetscInt                n;

  PetscFunctionBegin;
  PetscCall(part.Get(dm));
  PetscCall(product.Get(dm));
  PetscCall(VecCopy(x, part)); // x and b may be of another type than the DM's
  PetscCall(VecGetLocalSize(part, &n));
  PetscCall(arrays.Read(marks, &keep.marks));
  PetscCall(arrays.ReadWrite(part, &keep.x));
  PetscCall(for_each(arrays.memory(), line_of((size_t)n), keep));
  PetscCall(arrays.Restore());
  PetscCall(MatMult(A, part, product));
  PetscCall(VecAXPY(b, -1, product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> struct ZeroRows {
  OpenCoefficients<T> a;
  bool                columns;
  Field<T>            marks; // with a halo for columns
  T                   diagonal;
  const T            *x; // [points][dof]; null without a right-hand side
  T                  *b;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k}, dof = a.patch.dof;
    const size_t   at = a.patch.index(i, j, k);
    for (int arm = 0; arm < a.arms; arm++) {
      PetscInt q[3];
      if (!a.follow(arm, p, q)) continue;
      for (PetscInt c = 0; c < dof; c++) {
        const bool column = columns && marks.value(a.patch, q, c) != T(0);
        for (PetscInt r = 0; r < dof; r++) {
          T *values = a.values[a.slot(arm, r, c)];
          if (values && (column || marks.u[at * dof + r] != T(0))) values[at] = 0;
        }
      }
    }
    for (PetscInt r = 0; r < dof; r++) {
      if (marks.u[at * dof + r] == T(0)) continue;
      a.values[a.slot(a.center, r, r)][at] = diagonal;
      if (b) b[at * dof + r] = diagonal * x[at * dof + r];
    }
  }
};

// As a distributed AIJ's: an assembly forgets it, unless the program has said that it is eternal.
static PetscErrorCode forget_symmetry(Mat A) {
  PetscBool captured, known, is;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTENCILSHELL, &captured)); // formulas know by themselves
  PetscCall(MatIsSymmetricKnown(A, &known, &is));
  if (captured && known && is) PetscCall(assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool columns>
static PetscErrorCode zero_rows(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diagonal, Vec x, Vec b) {
  CapturedMat          *context;
  ZeroRows<PetscScalar> zero = {};
  const PetscScalar    *marked;
  WorkVector            marks;
  DM                    dm;

  PetscFunctionBegin;
  if (x && b) PetscCall(MatStencilCheckLayouts(A, x, NULL, b));
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(marks.Get(dm));
  PetscCall(mark_rows(*context, n, rows, marks));
  if (columns && x && b) PetscCall(move_columns(A, dm, marks, x, b));
  PetscCall(context->begin_change());
  CapturedStencil &op = context->captured();
  const bool       in_arrays = op.in_arrays();
  PetscCall(MatCapturedOpenBeside(context, {marks, x, b}));
  Arrays arrays(op.memory());
  PetscCall(arrays.Read(marks, &marked));
  if (x && b) {
    PetscCall(arrays.Read(x, &zero.x));
    PetscCall(arrays.ReadWrite(b, &zero.b));
  }
  zero.marks.u = marked;
  if (columns) PetscCall(MatStencilExchange(context, marked, op.memory(), &zero.marks));
  for (PetscInt r = 0; r < context->grid.dof; r++) PetscCall(op.Need(op.slot(op.arms().center(), r, r)));
  PetscCall(op.GetOpen(&zero.a));
  zero.columns = columns;
  zero.diagonal = diagonal;
  PetscCall(op.ForAllPoints(zero));
  PetscCall(arrays.Restore());
  PetscCall(MatCapturedClose(context, in_arrays));
  if (!context->reference)
    PetscCall(context->altered(A, Alteration::rows, 1, 0));
  else { // zeroed by itself, so that the two can be compared
    if (columns)
      PetscCall(MatZeroRowsColumns(context->reference, n, rows, diagonal, NULL, NULL));
    else
      PetscCall(MatZeroRows(context->reference, n, rows, diagonal, NULL, NULL));
  }
  if (!columns) PetscCall(forget_symmetry(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetZeroRowsOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_ZERO_ROWS, zero_rows<false>));
  PetscCall(set_operation(A, MATOP_ZERO_ROWS_COLUMNS, zero_rows<true>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
