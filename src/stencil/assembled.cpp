// What needs a matrix' entries goes through an assembled copy: conversion, orderings, submatrices.

#include "stencil/mat.hpp"

#include <vector>

namespace shellac {

static PetscErrorCode take_null_spaces(Mat A, Mat B) {
  MatNullSpace null;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &null));
  PetscCall(MatSetNullSpace(B, null));
  PetscCall(MatGetTransposeNullSpace(A, &null));
  PetscCall(MatSetTransposeNullSpace(B, null));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilAssemble(Mat A, MatType type, Mat *B) {
  StencilMat           *context;
  RowReader             rows;
  PetscInt              m, n, M, N, bs, first, last;
  std::vector<PetscInt> counts[2]; // entries of a row in and off the diagonal block
  char                 *aij, *baij;
  PetscErrorCode        error = PETSC_SUCCESS;

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
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (auto &c : counts) c.assign(m, 0);
  PetscCall(rows.Begin(context, context->op.get()));
  PetscInt row = first;
  for_each_owned(context->grid, [&](const PetscInt p[3], PetscInt c) {
    for (PetscInt column : rows.Get(p, c).column) counts[column < first || column >= last][row - first]++;
    row++;
  });
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, m, n, M, N));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatSetBlockSize(*B, bs));
  PetscCall(MatSeqAIJSetPreallocation(*B, 0, counts[0].data()));
  PetscCall(MatMPIAIJSetPreallocation(*B, 0, counts[0].data(), 0, counts[1].data()));
  PetscCall(MatSetOption(*B, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  row = first;
  for_each_owned(context->grid, [&](const PetscInt p[3], PetscInt c) {
    const GlobalRow &r = rows.Get(p, c);
    if (!error)
      error = MatSetValues(*B, 1, &row, (PetscInt)r.column.size(), r.column.data(), r.value.data(), INSERT_VALUES);
    row++;
  });
  PetscCall(error);
  PetscCall(rows.End());
  PetscCall(assemble(*B));
  // ours alone: what the matrix' user may set is as in any other
  PetscCall(MatSetOption(*B, MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE));
  PetscCall(MatPropagateSymmetryOptions(A, *B));
  PetscCall(take_null_spaces(A, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilCopyEntries(Mat A, Mat B) {
  MatType type;
  Mat     made;

  PetscFunctionBegin;
  PetscCall(MatGetType(B, &type));
  PetscCall(MatStencilAssemble(A, type, &made));
  PetscCall(MatCopy(made, B, DIFFERENT_NONZERO_PATTERN)); // another structure copies values without looking at columns
  PetscCall(MatDestroy(&made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilGetAssembled(Mat A, Mat *aij) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  if (!context->aij) PetscCall(MatStencilAssemble(A, MATAIJ, &context->aij));
  PetscCall(MatPropagateSymmetryOptions(A, context->aij)); // which may be known since
  *aij = context->aij;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode convert(Mat A, MatType type, MatReuse reuse, Mat *B) {
  Mat made;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatStencilCopyEntries(A, *B));
    PetscCall(take_null_spaces(A, *B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatStencilAssemble(A, type, &made));
  if (reuse == MAT_INITIAL_MATRIX)
    *B = made;
  else
    PetscCall(MatHeaderReplace(A, &made));
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

// PCGAMG makes its interpolation a matrix of A's type, which must be an AIJ. (The other arguments differ from release to
// release.)
static PetscErrorCode create_graph(Mat A) {
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  SETERRQ(
      PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
      "MatCreateGraph(), as PCGAMG calls it, needs an assembled matrix, and this one is of type %s; give "
      "KSPSetOperators() a MatConvert(A, MATAIJ) as the matrix of the preconditioner, or, where DMCreateMatrix() made "
      "this one, use -dm_mat_type aij",
      type);
}

// Products with assembled matrices, PᵀAP of a Galerkin coarse operator among them. Called where PETSc finds none of its
// own for D's matrices.
static PetscErrorCode set_product(Mat D) {
  Mat   factor[3], aij[3] = {NULL, NULL, NULL};
  char *on_gpu = NULL;
  bool  any = false;

  PetscFunctionBegin;
  PetscCall(MatProductGetMats(D, &factor[0], &factor[1], &factor[2]));
  for (Mat M : factor) {
    MatType type;
    if (!M) continue;
    PetscCall(MatGetType(M, &type));
    if (!on_gpu) PetscCall(PetscStrstr(type, "cusparse", &on_gpu));
  }
  for (int f = 0; f < 3; f++) {
    PetscErrorCode (*ours)(Mat, PetscViewer) = NULL;
    if (factor[f]) PetscCall(PetscObjectQueryFunction((PetscObject)factor[f], "ShellacView_C", &ours));
    if (ours) PetscCall(MatStencilAssemble(factor[f], on_gpu ? MATAIJCUSPARSE : MATAIJ, &aij[f]));
    any = any || ours;
  }
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatProductReplaceMats(aij[0], aij[1], aij[2], D)); // keeps them
  for (Mat &M : aij) PetscCall(MatDestroy(&M));
  PetscCall(MatProductSetFromOptions(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode refuse_factor(Mat A) {
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  SETERRQ(
      PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
      "a Mat of type %s has no entries that factors could overwrite; use -pc_type lu or cholesky, or convert it first: "
      "MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij)",
      type);
}
static PetscErrorCode lu_factor(Mat A, IS, IS, const MatFactorInfo *) {
  return refuse_factor(A);
}
static PetscErrorCode cholesky_factor(Mat A, IS, const MatFactorInfo *) {
  return refuse_factor(A);
}

PetscErrorCode MatStencilSetAssembledOperations(Mat A) {
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", set_product));
  // an AIJ's orderings are of its inodes; this makes them orderings of rows
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatInodeAdjustForInodes_C",
                                       OnAssembled<MatInodeAdjustForInodes>::call));
  const auto create_graph_operation = (MatOperation)(MATOP_GET_VALUES_LOCAL + 1); // 3.18 has no name for it
  PetscCall(MatSetOperation(A, create_graph_operation, reinterpret_cast<OperationFn *>(create_graph)));
  PetscCall(set_operation(A, MATOP_GET_COLUMN_NORMS, OnAssembled<MatGetColumnReductions>::call));
  PetscCall(set_operation(A, MATOP_CONVERT, convert));
  PetscCall(set_operation(A, MATOP_LUFACTOR, lu_factor));
  PetscCall(set_operation(A, MATOP_CHOLESKYFACTOR, cholesky_factor));
  // On one rank a matrix without this operation is its own diagonal block; by its absence PCASM and PCGASM see, as with an
  // AIJ, that their subdomains can be strips of rows.
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &ranks));
  if (ranks > 1) PetscCall(set_operation(A, MATOP_GET_DIAGONAL_BLOCK, OnAssembled<MatGetDiagonalBlock>::call));
  PetscCall(set_operation(A, MATOP_CREATE_SUBMATRIX, OnAssembled<MatCreateSubMatrix>::call));
  PetscCall(set_operation(A, MATOP_CREATE_SUBMATRICES, OnAssembled<MatCreateSubMatrices>::call));
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
