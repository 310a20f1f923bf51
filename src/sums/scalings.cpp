// MatScale(), MatShift(), MatDiagonalScale() and MatDiagonalSet(), which are stored and applied with the sum.

#include "sums/kernel_sum.hpp"

namespace shellac {

static PetscErrorCode scale(Mat A, PetscScalar a) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A, &context));
  context->scale *= a;
  context->shift *= a;
  if (context->diagonal) PetscCall(VecScale(context->diagonal, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check_square(Mat A, const char *what) {
  PetscInt    m, n;
  PetscMPIInt misfit;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  misfit = m != n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &misfit, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCheck(!misfit, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "%s needs a square matrix whose targets are distributed like its sources", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode shift(Mat A, PetscScalar a) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A, &context));
  PetscCall(check_square(A, "MatShift()"));
  context->shift += a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// present *= with, both made where they are null; `with` may be null for ones.
static PetscErrorCode multiply_into(Vec with, Vec *present) {
  PetscFunctionBegin;
  if (!with) PetscFunctionReturn(PETSC_SUCCESS);
  if (*present) {
    PetscCall(VecMatchKind(with, present));
    PetscCall(VecPointwiseMult(*present, *present, with));
  } else {
    PetscCall(VecDuplicate(with, present));
    PetscCall(VecCopy(with, *present));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumCheckLayout(Mat A, Vec v, bool of_columns) {
  KernelSumMat *context;
  PetscLayout   layout, layouts[2];
  PetscBool     same;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  if (!context->sized) PetscCall(MatSetUp(A));
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLayout(v, &layout));
  PetscCall(MatGetLayouts(A, &layouts[0], &layouts[1]));
  PetscCall(PetscLayoutCompare(layout, layouts[of_columns], &same));
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "a vector of %" PetscInt_FMT " values is given for the %" PetscInt_FMT
             " %s of the matrix, or it is distributed otherwise; make it with MatCreateVecs()",
             layout->N, layouts[of_columns]->N, of_columns ? "columns" : "rows");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode diagonal_scale(Mat A, Vec left, Vec right) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(MatKernelSumCheckLayout(A, left, false));
  PetscCall(MatKernelSumCheckLayout(A, right, true));
  PetscCall(MatGetKernelSum(A, &context));
  if (context->shift != (PetscScalar)0) { // what is on the diagonal is scaled too
    if (!context->diagonal) {
      PetscCall(MatCreateVecs(A, NULL, &context->diagonal));
      PetscCall(VecSet(context->diagonal, 0));
    }
    PetscCall(VecShift(context->diagonal, context->shift));
    context->shift = 0;
  }
  if (context->diagonal)
    for (Vec v : {left, right}) PetscCall(multiply_into(v, &context->diagonal));
  PetscCall(multiply_into(left, &context->left));
  PetscCall(multiply_into(right, &context->right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode diagonal_set(Mat A, Vec d, InsertMode mode) {
  KernelSumMat *context;
  Vec           added;

  PetscFunctionBegin;
  PetscCall(MatKernelSumCheckLayout(A, d, false));
  PetscCall(MatGetKernelSum(A, &context));
  PetscCall(check_square(A, "MatDiagonalSet()"));
  PetscCall(VecDuplicate(d, &added));
  if (mode == INSERT_VALUES) { // the difference to what is there
    PetscCall(MatGetDiagonal(A, added));
    PetscCall(VecAYPX(added, -1, d));
    context->diagonal_given = true;
  } else
    PetscCall(VecCopy(d, added));
  if (context->diagonal) {
    PetscCall(VecMatchKind(added, &context->diagonal));
    PetscCall(VecAXPY(context->diagonal, 1, added));
    PetscCall(VecDestroy(&added));
  } else
    context->diagonal = added;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumSetScalings(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_SCALE, scale));
  PetscCall(set_operation(A, MATOP_SHIFT, shift));
  PetscCall(set_operation(A, MATOP_DIAGONAL_SCALE, diagonal_scale));
  PetscCall(set_operation(A, MATOP_DIAGONAL_SET, diagonal_set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
