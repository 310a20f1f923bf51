// What needs a matrix' entries goes through an assembled copy: conversion, orderings, submatrices.

#include "stencil/rows.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace shellac {

PetscErrorCode MatStencilTakeProperties(Mat A, Mat B) {
  MatNullSpace null;

  PetscFunctionBegin;
  PetscCall(MatPropagateSymmetryOptions(A, B));
  PetscCall(MatGetNullSpace(A, &null));
  PetscCall(MatSetNullSpace(B, null));
  PetscCall(MatGetTransposeNullSpace(A, &null));
  PetscCall(MatSetTransposeNullSpace(B, null));
  PetscCall(MatGetNearNullSpace(A, &null));
  PetscCall(MatSetNearNullSpace(B, null));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An AIJ's diagonal block and, on several ranks, what is beside it: their arrays.
struct AijParts {
  int             count = 1;
  Mat             part[2] = {NULL, NULL};
  const PetscInt *beside = NULL; // global columns of the second part's; null before the first assembly
  const PetscInt *begin[2], *column[2];
  PetscScalar    *value[2];

  PetscErrorCode Find(Mat B) {
    PetscBool distributed;

    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)B, MATMPIAIJ, &distributed));
    part[0] = B;
    if (distributed) PetscCall(MatMPIAIJGetSeqAIJ(B, &part[0], &part[1], &beside));
    count = distributed ? 2 : 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Access(bool open) { // opens their arrays, or closes them
    PetscFunctionBegin;
    for (int p = 0; p < count; p++) {
      PetscInt  rows;
      PetscBool done;
      PetscCall((open ? MatGetRowIJ : MatRestoreRowIJ)(part[p], 0, PETSC_FALSE, PETSC_FALSE, &rows, &begin[p],
                                                       &column[p], &done));
      PetscCall((open ? MatSeqAIJGetArrayWrite : MatSeqAIJRestoreArrayWrite)(part[p], &value[p]));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Sets a part of a row, n entries at column(e) with value(e); zeros elsewhere. Returns whether there are places for all.
  template <class Column, class Value>
  bool Set(int p, size_t row, PetscInt n, const Column &column_of, const Value &value_of) const {
    PetscInt e = 0;
    for (PetscInt at = begin[p][row]; at < begin[p][row + 1]; at++) {
      const PetscInt there = p && beside ? beside[column[p][at]] : column[p][at];
      value[p][at] = e < n && column_of(e) == there ? value_of(e++) : PetscScalar(0);
    }
    return e == n;
  }
};

// The columns lo to hi of a row, which ascend, are those of the diagonal block.
static void find_diagonal_block(const GlobalRow &row, PetscInt first, PetscInt last, PetscInt *lo, PetscInt *hi) {
  for (*lo = 0; *lo < row.n && row.column[*lo] < first;) ++*lo;
  for (*hi = row.n; *hi > *lo && row.column[*hi - 1] >= last;) --*hi;
}

// Gives A's entries to B, an AIJ; *fits: its nonzero pattern has them all, on all ranks. Otherwise B's values are undefined.
static PetscErrorCode fill(Mat A, Mat B, bool *fits) {
  StencilMat *context;
  RowReader   rows;
  AijParts    to;
  PetscInt    first, last;
  size_t      row = 0;
  PetscMPIInt all = 1;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(to.Find(B));
  PetscCall(to.Access(true));
  PetscCall(rows.Begin(context, context->op.get()));
  rows.ForAll([&](const GlobalRow &r) {
    PetscInt lo, hi;
    find_diagonal_block(r, first, last, &lo, &hi);
    const auto beside = [&](PetscInt e) { return e < lo ? e : e + hi - lo; };
    if (!to.Set(
            0, row, hi - lo, [&](PetscInt e) { return r.column[lo + e] - first; },
            [&](PetscInt e) { return r.value[lo + e]; }))
      all = 0;
    if (to.count > 1 && !to.Set(
                            1, row, r.n - (hi - lo), [&](PetscInt e) { return r.column[beside(e)]; },
                            [&](PetscInt e) { return r.value[beside(e)]; }))
      all = 0;
    row++;
  });
  PetscCall(rows.End());
  PetscCall(to.Access(false));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, context->grid.comm));
  *fits = all;
  if (*fits) {
    PetscCall(MatSetOption(B, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    PetscCall(assemble(B));
    // ours alone: what the matrix' user may set is as in any other
    PetscCall(MatSetOption(B, MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilCreateOfSizes(Mat A, MatType type, Mat *B) {
  PetscInt m, n, M, N, bs;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, m, n, M, N));
  PetscCall(MatSetBlockSize(*B, bs));
  PetscCall(MatSetType(*B, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilAssemble(Mat A, MatType type, Mat *B) {
  StencilMat           *context;
  RowReader             rows;
  AijParts              to;
  PetscInt              first, last;
  std::vector<PetscInt> counts[2], columns[2]; // entries of a row in and off the diagonal block; their columns
  char                 *aij, *baij;
  bool                  fits;

  PetscFunctionBegin;
  PetscCall(PetscStrstr(type, "aij", &aij));
  PetscCall(PetscStrstr(type, "baij", &baij));
  if (!aij || baij) {
    Mat assembled;
    PetscCall(MatStencilGetAssembled(A, &assembled));
    PetscCall(MatConvert(assembled, type, MAT_INITIAL_MATRIX, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (auto &c : counts) c.reserve((size_t)(last - first));
  PetscCall(rows.Begin(context, context->op.get(), false));
  rows.ForAll([&](const GlobalRow &r) {
    PetscInt lo, hi;
    find_diagonal_block(r, first, last, &lo, &hi);
    counts[0].push_back(hi - lo);
    counts[1].push_back(r.n - (hi - lo));
    columns[0].resize(columns[0].size() + (size_t)(hi - lo));
    for (PetscInt e = lo; e < hi; e++) columns[0].end()[e - hi] = r.column[e] - first;
    columns[1].insert(columns[1].end(), r.column, r.column + lo);
    columns[1].insert(columns[1].end(), r.column + hi, r.column + r.n);
  });
  PetscCall(rows.End());
  PetscCall(MatStencilCreateOfSizes(A, type, B));
  PetscCall(MatSeqAIJSetPreallocation(*B, 0, counts[0].data()));
  PetscCall(MatMPIAIJSetPreallocation(*B, 0, counts[0].data(), 0, counts[1].data()));
  PetscCall(to.Find(*B));
  for (int p = 0; p < to.count; p++) {
    columns[p].push_back(0); // so that there is an address
    PetscCall(MatSeqAIJSetColumnIndices(to.part[p], columns[p].data()));
  }
  PetscCall(fill(A, *B, &fits));
  PetscCall(MatStencilTakeProperties(A, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilCopyEntries(Mat A, Mat B) {
  PetscInt  m, n, m_of_B, n_of_B;
  PetscBool aij, assembled, sell;
  bool      fits = false;
  MatType   type;
  Mat       made;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)B, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatAssembled(B, &assembled));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetLocalSize(B, &m_of_B, &n_of_B));
  PetscMPIInt alike = aij && assembled && m == m_of_B && n == n_of_B;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &alike, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  if (alike) PetscCall(fill(A, B, &fits));
  if (fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetType(B, &type));
  PetscCall(PetscStrendswith(type, MATSELL, &sell));
  if (sell) { // whose MatCopy() ends in an error or, on several ranks, in a crash
    PetscCall(MatStencilGetAssembled(A, &made));
    PetscCall(MatConvert(made, type, MAT_REUSE_MATRIX, &B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatStencilAssemble(A, type, &made));
  PetscCall(MatCopy(made, B, DIFFERENT_NONZERO_PATTERN)); // another structure copies values without looking at columns
  PetscCall(MatDestroy(&made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Tells PETSc that A's nonzero pattern is another, by the one public call that says so of any type.
static PetscErrorCode raise_nonzero_state(Mat A) {
  static const char set[] = "MatSetPreallocationCOO_C";
  PetscErrorCode (*present)(Mat, PetscCount, PetscInt[], PetscInt[]);
  PetscErrorCode (*const nothing)(Mat, PetscCount, PetscInt[], PetscInt[]) = [](Mat, PetscCount, PetscInt[],
                                                                                PetscInt[]) { return PETSC_SUCCESS; };

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, set, &present));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, set, nothing));
  PetscCall(MatSetPreallocationCOO(A, 0, NULL, NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, set, present));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilGetAssembled(Mat A, Mat *aij) {
  StencilMat *context;
  bool        fits = true;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  if (context->aij && context->aij_is_old) PetscCall(fill(A, context->aij, &fits));
  if (!fits) {
    PetscCall(MatDestroy(&context->aij));
    PetscCall(raise_nonzero_state(A));
  }
  if (!context->aij) PetscCall(MatStencilAssemble(A, MATAIJ, &context->aij));
  context->aij_is_old = false;
  PetscCall(MatStencilTakeProperties(A, context->aij));
  *aij = context->aij;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode convert(Mat A, MatType type, MatReuse reuse, Mat *B) {
  Mat made = reuse == MAT_REUSE_MATRIX ? *B : NULL;

  PetscFunctionBegin;
  if (made)
    PetscCall(MatStencilCopyEntries(A, made));
  else
    PetscCall(MatStencilAssemble(A, type, &made));
  PetscCall(MatStencilTakeProperties(A, made));
  // A property lasts until the user changes entries. On several ranks PETSc asks for it in the diagonal blocks, too.
  const bool always = strstr(type, "sbaij"); // which are symmetric
  const auto end = [&](PetscErrorCode (*is_known)(Mat, PetscBool *, PetscBool *), MatOption property,
                       MatOption eternal) {
    PetscBool known, is;
    PetscFunctionBegin;
    PetscCall(is_known(made, &known, &is));
    if (!known || always) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatSetOption(made, property, is));
    PetscCall(MatSetOption(made, eternal, PETSC_FALSE));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(end(MatIsSymmetricKnown, MAT_SYMMETRIC, MAT_SYMMETRY_ETERNAL));
  PetscCall(end(MatIsStructurallySymmetricKnown, MAT_STRUCTURALLY_SYMMETRIC, MAT_STRUCTURAL_SYMMETRY_ETERNAL));
  if (reuse == MAT_INPLACE_MATRIX)
    PetscCall(MatHeaderReplace(A, &made));
  else
    *B = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An operation on the assembled copy.
template <auto operation> struct OnAssembled;
template <class... Parameters, PetscErrorCode (*operation)(Mat, Parameters...)> struct OnAssembled<operation> {
  static PetscErrorCode call(Mat A, Parameters... parameters) {
    Mat aij;

    PetscFunctionBegin;
    PetscCall(MatStencilGetAssembled(A, &aij));
    PetscCall((*operation)(aij, parameters...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// PETSc takes ICC for the parts of a matrix that is known to be symmetric, and keeps it when MatZeroRows() has made the
// matrix another, where ICC's search for a shift may never end. Where it takes parts, PETSc therefore does not learn what a
// type knows by itself; what a user says of a matrix stays, as with an AIJ.
PetscErrorCode MatStencilKeepSymmetryFromParts(Mat A, Mat whole) {
  StencilMat *context;
  Mat         unknown;
  PetscBool   known, is;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(MatIsSPDKnown(A, &known, &is));
  if (!context->symmetric || (known && is)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &unknown));
  PetscCall(MatPropagateSymmetryOptions(unknown, whole)); // the one way to forget
  PetscCall(MatDestroy(&unknown));
  PetscFunctionReturn(PETSC_SUCCESS);
}
// The parts get what PETSc knows of A after this operation. Where a part is the whole of a distributed matrix, PETSc gives
// it new values without a new state, by which a preconditioner would know of them.
using CreateParts = PetscErrorCode(Mat, PetscInt, const IS[], const IS[], MatReuse, Mat *[]);
template <CreateParts create>
static PetscErrorCode create_parts(Mat A, PetscInt n, const IS rows[], const IS columns[], MatReuse reuse,
                                   Mat *parts[]) {
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(MatStencilKeepSymmetryFromParts(A, A));
  PetscCall(OnAssembled<create>::call(A, n, rows, columns, reuse, parts));
  for (PetscInt i = 0; i < n && reuse == MAT_REUSE_MATRIX; i++) {
    PetscCall(PetscObjectStateGet((PetscObject)(*parts)[i], &state));
    PetscCall(PetscObjectStateSet((PetscObject)(*parts)[i], state + 1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A submatrix tells preconditioners that need a grid why it has none.
static PetscErrorCode remedy_of_submatrix(Mat, const char **remedy) {
  *remedy = "it is a submatrix, as methods for bounds take of the rows that are free, and has no grid; use -snes_type "
            "vinewtonssls, which solves with the whole matrix, or another -pc_type";
  return PETSC_SUCCESS;
}
static PetscErrorCode create_submatrix(Mat A, IS rows, IS columns, MatReuse reuse, Mat *B) {
  PetscFunctionBegin;
  PetscCall(OnAssembled<MatCreateSubMatrix>::call(A, rows, columns, reuse, B));
  PetscCall(PetscObjectComposeFunction((PetscObject)*B, "ShellacMultigridRemedy_C", remedy_of_submatrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <PetscErrorCode (*get)(Mat, Vec, PetscInt[])>
static PetscErrorCode get_row_extreme(Mat A, Vec v, PetscInt columns[]) {
  PetscFunctionBegin;
  PetscCall(MatStencilCheckLayouts(A, v, NULL, v));
  PetscCall(OnAssembled<get>::call(A, v, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode get_row_max_abs(Mat A, Vec v, PetscInt columns[]) { // PCJACOBI asks for the values alone
  return columns ? get_row_extreme<MatGetRowMaxAbs>(A, v, columns) : MatStencilGetRows(A, RowProperty::max_abs, v);
}
static PetscErrorCode get_row_min_abs(Mat A, Vec v, PetscInt columns[]) {
  PetscFunctionBegin;
  PetscCall(get_row_extreme<MatGetRowMinAbs>(A, v, columns));
  PetscCall(VecAbs(v)); // which PETSc forgets where a row has no zeros
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PCGAMG makes its interpolation a matrix of A's type, which must be an AIJ. (The other arguments differ from release to
// release.)
static PetscErrorCode create_graph(Mat A) {
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  SETERRQ(
      PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
      "MatCreateGraph(), as PCGAMG calls it, needs an assembled matrix, and this one is of type %s; use "
      "-pc_type assembled -assembled_pc_type gamg, which gives it a copy, or, where DMCreateMatrix() made this one, "
      "-dm_mat_type aij",
      type);
}

template <class... Rest> static PetscErrorCode refuse_factor(Mat A, Rest...) {
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  SETERRQ(
      PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
      "a Mat of type %s has no entries that factors could overwrite; use -pc_type lu or cholesky, or convert it first: "
      "MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij)",
      type);
}

PetscErrorCode MatStencilSetAssembledOperations(Mat A) {
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", MatStencilSetProduct));
  // an AIJ's orderings are of its inodes; this makes them orderings of rows
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatInodeAdjustForInodes_C",
                                       OnAssembled<MatInodeAdjustForInodes>::call));
  const auto create_graph_operation = (MatOperation)(MATOP_GET_VALUES_LOCAL + 1); // 3.18 has no name for it
  PetscCall(MatSetOperation(A, create_graph_operation, reinterpret_cast<OperationFn *>(create_graph)));
  PetscCall(set_operation(A, MATOP_GET_COLUMN_NORMS, OnAssembled<MatGetColumnReductions>::call));
  PetscCall(set_operation(A, MATOP_GET_ROW_MAX_ABS, get_row_max_abs));
  PetscCall(set_operation(A, MATOP_GET_ROW_MIN_ABS, get_row_min_abs));
  PetscCall(set_operation(A, MATOP_GET_ROW_MAX, get_row_extreme<MatGetRowMax>));
  PetscCall(set_operation(A, MATOP_GET_ROW_MIN, get_row_extreme<MatGetRowMin>));
  PetscCall(set_operation(A, MATOP_CONVERT, convert));
  PetscCall(set_operation(A, MATOP_LUFACTOR, refuse_factor<IS, IS, const MatFactorInfo *>));
  PetscCall(set_operation(A, MATOP_CHOLESKYFACTOR, refuse_factor<IS, const MatFactorInfo *>));
  // On one rank a matrix without this operation is its own diagonal block; by its absence PCASM and PCGASM see, as with an
  // AIJ, that their subdomains can be strips of rows.
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &ranks));
  if (ranks > 1) PetscCall(set_operation(A, MATOP_GET_DIAGONAL_BLOCK, OnAssembled<MatGetDiagonalBlock>::call));
  PetscCall(set_operation(A, MATOP_CREATE_SUBMATRIX, create_submatrix));
  PetscCall(set_operation(A, MATOP_CREATE_SUBMATRICES, create_parts<MatCreateSubMatrices>));
  PetscCall(set_operation(A, MATOP_CREATE_SUB_MATRICES_MPI, create_parts<MatCreateSubMatricesMPI>));
  PetscCall(set_operation(A, MATOP_GET_MULTI_PROC_BLOCK, OnAssembled<MatGetMultiProcBlock>::call));
  PetscCall(set_operation(A, MATOP_INCREASE_OVERLAP, OnAssembled<MatIncreaseOverlap>::call));
  PetscCall(set_operation(A, MATOP_GET_ROW_IJ, OnAssembled<MatGetRowIJ>::call));
  PetscCall(set_operation(A, MATOP_RESTORE_ROW_IJ, OnAssembled<MatRestoreRowIJ>::call));
  PetscCall(set_operation(A, MATOP_GET_COLUMN_IJ, OnAssembled<MatGetColumnIJ>::call));
  PetscCall(set_operation(A, MATOP_RESTORE_COLUMN_IJ, OnAssembled<MatRestoreColumnIJ>::call));
  PetscCall(set_operation(A, MATOP_GET_SEQ_NONZERO_STRUCTUR, OnAssembled<MatGetSeqNonzeroStructure>::call));
  PetscCall(set_operation(A, MATOP_COLORING_PATCH, OnAssembled<MatColoringPatch>::call)); // of inodes
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
