#pragma once
// The matrices of a preconditioner, of any type.

#include "device/petsc.hpp"

namespace shellac {

// An error where the program has not set them. PCGetOperators() alone would make matrices without a type then.
inline PetscErrorCode get_matrices(PC pc, Mat *A, Mat *P) {
  PetscBool set_A, set_P;
  PCType    type;
  MatType   of_A = NULL, of_P = NULL;
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(PCGetType(pc, &type));
  PetscCall(PCGetOperatorsSet(pc, &set_A, &set_P));
  if (set_A && set_P) {
    PetscCall(PCGetOperators(pc, A, P));
    PetscCall(MatGetType(*A, &of_A));
    PetscCall(MatGetType(*P, &of_P));
  }
  PetscCheck(of_A && of_P, comm, PETSC_ERR_ARG_WRONGSTATE,
             "-pc_type %s has no matrix, or one without a type; call KSPSetOperators() or PCSetOperators() before the "
             "first solve and after KSPReset() or PCReset(), with a matrix that is set up",
             type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
