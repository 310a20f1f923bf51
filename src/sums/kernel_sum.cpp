// The shell Mat of type kernelsum: its creation, its copies, its public functions.

#include "sums/kernel_sum.hpp"

#include "sums/fast_sum.hpp"
#include "sums/types.hpp"

namespace shellac {

static PetscErrorCode destroy_context(void *argument) {
  KernelSumMat *context = context_to_destroy<KernelSumMat>(argument);

  PetscFunctionBegin;
  PetscCall(FastSumDestroy(&context->fast));
  PetscCall(PointCloudDestroy(&context->targets));
  PetscCall(PointCloudDestroy(&context->sources));
  for (Vec *v : {&context->left, &context->right, &context->diagonal, &context->work[0], &context->work[1]})
    PetscCall(VecDestroy(v));
#if SHELLAC_CUDA
  for (void *event : {context->begin_event, context->end_event})
    if (event) PetscCallCUDA(cudaEventDestroy((cudaEvent_t)event));
#endif
  delete context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- copies ----------------------------------------------------------------------------------------------------------

static PetscErrorCode copy_vector(Vec from, Vec *to) {
  PetscFunctionBegin;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(from, to));
  PetscCall(VecCopy(from, *to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A Mat over the same points with the same settings, which is set up at its first use.
static PetscErrorCode create_like(Mat A, bool gradient, Mat *B) {
  KernelSumMat *from, *to;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &from));
  PetscCheck(from->targets, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "the kernelsum has no points yet; call MatKernelSumSetPoints() before");
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetType(*B, MATKERNELSUM));
  PetscCall(MatGetKernelSumSettings(*B, &to));
  to->settings() = from->settings();
  to->targets->references++;
  to->sources->references++;
  to->monitor = from->monitor;
  to->gradient = gradient;
  if (gradient && to->method == MAT_KERNELSUM_FAST) to->method = MAT_KERNELSUM_AUTO; // direct, and no error
  to->lazy = true;
  PetscCall(MatSetUp(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode duplicate(Mat A, MatDuplicateOption option, Mat *B) {
  KernelSumMat *from, *to;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &from));
  PetscCall(create_like(A, from->gradient, B));
  PetscCall(MatGetKernelSumSettings(*B, &to));
  to->scale = from->scale;
  to->shift = from->shift;
  to->diagonal_given = from->diagonal_given;
  PetscCall(copy_vector(from->left, &to->left));
  PetscCall(copy_vector(from->right, &to->right));
  PetscCall(copy_vector(from->diagonal, &to->diagonal));
  if (option != MAT_COPY_VALUES) PetscCall(MatScale(*B, 0)); // as an AIJ's duplicate is zero
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create_gradient(Mat A, Mat *G) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  PetscCheck(!context->gradient, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "the kernelsum is one of gradients already, and has no gradients itself");
  PetscCall(create_like(A, true, G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the type --------------------------------------------------------------------------------------------------------

PetscErrorCode MatKernelSumRefuse(MPI_Comm comm, const char *operation) {
  PetscFunctionBegin;
  SETERRQ(
      comm, PETSC_ERR_SUP,
      "a Mat of type kernelsum has no %s; convert it to dense with MatConvert(), or put it into a MATCOMPOSITE. Its "
      "preconditioner is -pc_type kernelsum",
      operation);
}
static PetscErrorCode refuse(Mat A, const char *operation) {
  return MatKernelSumRefuse(PetscObjectComm((PetscObject)A), operation);
}
static PetscErrorCode axpy(Mat Y, PetscScalar, Mat, MatStructure) {
  return refuse(Y, "MatAXPY()");
}
static PetscErrorCode copy(Mat A, Mat, MatStructure) {
  return refuse(A, "MatCopy()");
}
static PetscErrorCode zero_rows(Mat A, PetscInt, const PetscInt[], PetscScalar, Vec, Vec) {
  return refuse(A, "MatZeroRows()");
}
static PetscErrorCode zero_entries(Mat A) {
  return refuse(A, "MatZeroEntries()");
}
static PetscErrorCode set_values(Mat A, PetscInt, const PetscInt[], PetscInt, const PetscInt[], const PetscScalar[],
                                 InsertMode) {
  return refuse(A, "MatSetValues()");
}
static PetscErrorCode submatrix(Mat A, IS, IS, MatReuse, Mat *) {
  return refuse(A, "MatCreateSubMatrix()");
}
static PetscErrorCode submatrices(Mat A, PetscInt, const IS[], const IS[], MatReuse, Mat *[]) {
  return refuse(A, "submatrices (of asm and other preconditioners)");
}
static PetscErrorCode diagonal_block(Mat A, Mat *) {
  return refuse(A, "block of its diagonal (of bjacobi)");
}
static PetscErrorCode relax(Mat A, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec) {
  return refuse(A, "relaxation (sor)");
}
static PetscErrorCode lu_factor(Mat A, IS, IS, const MatFactorInfo *) {
  return refuse(A, "MatLUFactor()");
}
static PetscErrorCode cholesky_factor(Mat A, IS, const MatFactorInfo *) {
  return refuse(A, "MatCholeskyFactor()");
}
static PetscErrorCode get_factor(Mat A, MatFactorType, Mat *) {
  return refuse(A, "factorisation (lu, cholesky)");
}

// In a package of its own: for its default preconditioner, PETSc looks for factors of its own package.
PetscErrorCode MatKernelSumRegisterSolvers() {
  PetscFunctionBegin;
  for (MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    PetscCall(MatSolverTypeRegister("shellac", MATKERNELSUM, kind, get_factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_KernelSum(Mat A) {
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSHELL));
  PetscCall(MatShellSetContext(A, new KernelSumMat));
  PetscCall(MatShellSetContextDestroy(A, destructor(destroy_context)));
  PetscCall(MatShellSetManageScalingShifts(A));
  PetscCall(MatBindToCPU(A, PETSC_FALSE)); // a new Mat is bound until its type says that it can leave the host
  PetscCall(MatKernelSumSetSettings(A));
  PetscCall(MatKernelSumSetProducts(A));
  PetscCall(MatKernelSumSetScalings(A));
  PetscCall(MatKernelSumSetView(A));
  PetscCall(set_operation(A, MATOP_DUPLICATE, duplicate));
  PetscCall(MatSetOperation(A, MATOP_AXPY, reinterpret_cast<OperationFn *>(axpy)));
  PetscCall(MatSetOperation(A, MATOP_COPY, reinterpret_cast<OperationFn *>(copy)));
  PetscCall(MatSetOperation(A, MATOP_ZERO_ROWS, reinterpret_cast<OperationFn *>(zero_rows)));
  PetscCall(MatSetOperation(A, MATOP_ZERO_ROWS_COLUMNS, reinterpret_cast<OperationFn *>(zero_rows)));
  PetscCall(MatSetOperation(A, MATOP_ZERO_ENTRIES, reinterpret_cast<OperationFn *>(zero_entries)));
  PetscCall(MatSetOperation(A, MATOP_SET_VALUES, reinterpret_cast<OperationFn *>(set_values)));
  PetscCall(MatSetOperation(A, MATOP_LUFACTOR, reinterpret_cast<OperationFn *>(lu_factor)));
  PetscCall(MatSetOperation(A, MATOP_CHOLESKYFACTOR, reinterpret_cast<OperationFn *>(cholesky_factor)));
  PetscCall(MatSetOperation(A, MATOP_SOR, reinterpret_cast<OperationFn *>(relax)));
  PetscCall(MatSetOperation(A, MATOP_CREATE_SUBMATRIX, reinterpret_cast<OperationFn *>(submatrix)));
  PetscCall(MatSetOperation(A, MATOP_CREATE_SUBMATRICES, reinterpret_cast<OperationFn *>(submatrices)));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &ranks));
  if (ranks > 1) // on one rank, where there is no operation, PETSc takes the matrix itself
    PetscCall(MatSetOperation(A, MATOP_GET_DIAGONAL_BLOCK, reinterpret_cast<OperationFn *>(diagonal_block)));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatKernelSumCreateGradient_C", create_gradient));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATKERNELSUM));
  PetscCall(MatKernelSumSetEntryOperations(A)); // products are found by the new name
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

PetscErrorCode MatCreateKernelSum(MPI_Comm comm, Vec targets, Vec sources, Mat *A) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(A, comm, PETSC_ERR_ARG_NULL, "MatCreateKernelSum() needs the address of a Mat; it is null");
  PetscCall(ShellacInitializePackage());
  PetscCall(shellac::create_whole(A, [&](Mat *made) {
    shellac::KernelSumMat *context;

    PetscFunctionBegin;
    PetscCall(MatCreate(comm, made));
    PetscCall(MatSetType(*made, MATKERNELSUM));
    PetscCall(shellac::MatGetKernelSumSettings(*made, &context));
    context->lazy = true;
    PetscCall(MatKernelSumSetPoints(*made, targets, sources));
    PetscCall(shellac::set_from_options_of_type(*made));
    PetscCall(MatSetUp(*made));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateKernelSumDM(DM targets, DM sources, Mat *A) {
  Vec x[2];

  PetscFunctionBegin;
  PetscCheck(targets && sources, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the DM of targets or sources is null");
  PetscCheck(A, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "MatCreateKernelSumDM() needs the address of a Mat; it is null");
  PetscCall(shellac::DMGetPointCoordinates(targets, &x[0]));
  if (sources == targets)
    PetscCall(PetscObjectReference((PetscObject)(x[1] = x[0])));
  else
    PetscCall(shellac::DMGetPointCoordinates(sources, &x[1]));
  PetscCall(MatCreateKernelSum(PetscObjectComm((PetscObject)targets), x[0], x[1], A));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumCreateGradient(Mat A, Mat *G) {
  PetscBool found;

  PetscFunctionBegin;
  PetscCheck(G, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "MatKernelSumCreateGradient() needs the address of a Mat; it is null");
  PetscCall(shellac::try_method(A, "MatKernelSumCreateGradient_C", &found, G));
  PetscCheck(found, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "the matrix is not a kernelsum, and has no gradients");
  PetscFunctionReturn(PETSC_SUCCESS);
}
