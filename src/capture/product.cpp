// Products with assembled matrices, PᵀAP of a Galerkin coarse operator among them, go through the assembled copy.

#include "capture/mat.hpp"

namespace shellac {

// Called where PETSc finds no product of its own for D's matrices, of which A is a stencil.
static PetscErrorCode set_product(Mat D) {
  Mat       A, B, aij;
  MatType   type;
  PetscBool captured;
  char     *on_gpu;

  PetscFunctionBegin;
  PetscCall(MatProductGetMats(D, &A, &B, NULL));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTENCILSHELL, &captured));
  if (!captured) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetType(B, &type));
  PetscCall(PetscStrstr(type, "cusparse", &on_gpu));
  PetscCall(MatStencilAssemble(A, on_gpu ? MATAIJCUSPARSE : MATAIJ, &aij));
  PetscCall(MatProductReplaceMats(aij, NULL, NULL, D)); // keeps it
  PetscCall(MatDestroy(&aij));
  PetscCall(MatProductSetFromOptions(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetProductOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", set_product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
