// -mat_stencil_verify: an AIJ that is assembled as well, and compared at each assembly.

#include "capture/mat.hpp"

namespace shellac {

PetscErrorCode MatCapturedMakeReference(Mat A, CapturedMat *context) {
  PetscFunctionBegin;
  if (!context->verify) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&context->reference));
  context->reference_error = 0;
  PetscCall(MatStencilAssemble(A, MATAIJ, &context->reference));
  PetscCall(MatSetLocalToGlobalMapping(context->reference, context->local_map, context->local_map));
  // what is outside the stencil is for the captured matrix to tell
  PetscCall(MatSetOption(context->reference, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(context->reference, MAT_ROW_ORIENTED, context->row_oriented));
  PetscCall(MatSetOption(context->reference, MAT_IGNORE_OFF_PROC_ENTRIES, context->ignore_off_process));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A difference that the rounding of a sum in another order may have.
static PetscErrorCode compare(MPI_Comm comm, const char *what, Vec ours, Vec theirs, PetscReal tolerance,
                              PetscReal *off) {
  PetscReal size;

  PetscFunctionBegin;
  PetscCall(VecNorm(theirs, NORM_INFINITY, &size));
  PetscCall(VecAXPY(ours, -1, theirs));
  PetscCall(VecNorm(ours, NORM_INFINITY, off));
  if (size > 0) *off /= size;
  PetscCheck(*off <= tolerance, comm, PETSC_ERR_PLIB,
             "-mat_stencil_verify: the captured %s differs from the AIJ's by %g of its size, more than %g", what,
             (double)*off, (double)tolerance);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedVerify(Mat A, CapturedMat *context) {
  Vec       x, y, z;
  PetscReal off[3],
      tolerance = 100 * PETSC_MACHINE_EPSILON + 2 * context->compression.tolerance + context->reference_error;
  PetscRandom random;
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  Mat         B = context->reference;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(PetscRandomCreate(comm, &random));
  PetscCall(VecSetRandom(x, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatStencilApply(A, false, Form::product, x, NULL, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(compare(comm, "product", y, z, tolerance, &off[0]));
  PetscCall(MatStencilApply(A, true, Form::product, x, NULL, y));
  PetscCall(MatMultTranspose(B, x, z));
  PetscCall(compare(comm, "transposed product", y, z, tolerance, &off[1]));
  PetscCall(MatStencilGetRows(A, RowProperty::diagonal, y));
  PetscCall(MatGetDiagonal(B, z));
  PetscCall(compare(comm, "diagonal", y, z, tolerance, &off[2]));
  PetscCall(
      PetscPrintf(comm,
                  "-mat_stencil_verify: relative differences to the assembled AIJ: product %g, transposed product "
                  "%g, diagonal %g\n",
                  (double)off[0], (double)off[1], (double)off[2]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
