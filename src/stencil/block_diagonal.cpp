#include "stencil/mat.hpp"

namespace shellac {

#if PETSC_VERSION_GE(3, 23, 0) && SHELLAC_CUDA

static PetscErrorCode invert_blocks_of_operator(Mat blocks, const PetscScalar **inverse) {
  Mat A;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)blocks, "operator", (PetscObject *)&A));
  PetscCall(MatInvertBlockDiagonal(A, inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PCPBJACOBI works on the GPU where the operator gives it its diagonal blocks as an AIJCUSPARSE, of which it only asks for
// the inverse blocks: this matrix has no entries, and answers with the operator's. Null where vectors are on the host:
// PCPBJACOBI then works there.
static PetscErrorCode get_block_diagonal(Mat A, Mat *blocks) {
  Vec          v;
  PetscBool    inverts, cuda, bound;
  PetscInt     n, size;
  VecType      type;
  OperationFn *invert = reinterpret_cast<OperationFn *>(invert_blocks_of_operator);

  PetscFunctionBegin;
  *blocks = NULL;
  PetscCall(MatHasOperation(A, MATOP_INVERT_BLOCK_DIAGONAL, &inverts));
  PetscCall(MatGetVecType(A, &type));
  PetscCall(PetscStrendswith(type, "cuda", &cuda));
  if (!inverts || !cuda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, &v, NULL));
  PetscCall(VecBoundToCPU(v, &bound));
  PetscCall(VecDestroy(&v));
  if (bound) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatGetBlockSize(A, &size));
  PetscCall(MatCreate(PETSC_COMM_SELF, blocks));
  PetscCall(MatSetSizes(*blocks, n, n, n, n));
  PetscCall(MatSetBlockSize(*blocks, size));
  PetscCall(MatSetType(*blocks, MATSEQAIJCUSPARSE));
  PetscCall(MatSeqAIJSetPreallocation(*blocks, 0, NULL));
  PetscCall(assemble(*blocks));
  PetscCall(PetscObjectCompose((PetscObject)*blocks, "operator", (PetscObject)A));
  PetscCall(MatSetOperation(*blocks, MATOP_INVERT_BLOCK_DIAGONAL, invert));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilSetBlockDiagonalOperation(Mat A) {
  return set_operation(A, MATOP_GET_BLOCK_DIAGONAL, get_block_diagonal);
}

#else

PetscErrorCode MatStencilSetBlockDiagonalOperation(Mat) {
  return PETSC_SUCCESS;
}

#endif

} // namespace shellac
