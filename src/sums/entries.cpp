// Operations on entries: the diagonal, norms, conversion to a dense matrix; and products with dense matrices.

#include <algorithm>
#include <cmath>

#include "sums/kernel_sum.hpp"

namespace shellac {

void KernelSumBlock(const KernelSumMat &context, const PetscReal x[3], PetscScalar *block) {
  const FunctionInfo &info = context.info();
  const int           dim = context.targets->dim, rows = context.gradient ? dim : 1;
  const double        r2 = (double)x[0] * x[0] + (double)x[1] * x[1] + (double)x[2] * x[2];
  Complex<double>     value = {0, 0};
  if (r2 > 0 || (context.limit_is_own() && !context.gradient))
    value = (context.gradient ? info.slope : info.value)(context.parameters, r2);
  for (int d = 0; d < rows; d++) {
    const PetscReal times = context.gradient ? x[d] : 1;
    if (context.interleaved()) {
      block[4 * d + 0] = block[4 * d + 3] = times * value.re;
      block[4 * d + 1] = -times * value.im;
      block[4 * d + 2] = times * value.im;
    } else
#if defined(PETSC_USE_COMPLEX)
      block[d] = PetscCMPLX(times * value.re, times * value.im);
#else
      block[d] = times * value.re;
#endif
  }
}

// The entries of the rows of a target with these sources, values[row * columns + column], without scalings.
static void fill_rows(const KernelSumMat &context, const PetscReal target[3], PetscInt N, const PetscReal *const y[3],
                      PetscScalar *values) {
  const int   rows = context.scalars_a_target(), columns = context.scalars_a_value();
  PetscScalar block[12];
  for (PetscInt j = 0; j < N; j++) {
    const PetscReal x[3] = {target[0] - y[0][j], target[1] - y[1][j], target[2] - y[2][j]};
    KernelSumBlock(context, x, block);
    for (int r = 0; r < rows; r++)
      for (int c = 0; c < columns; c++) values[((size_t)r * N + j) * columns + c] = block[(size_t)r * columns + c];
  }
}

// Calls f(local row, columns of the whole matrix, values) for every local row, without scalings.
template <class Function>
static PetscErrorCode for_each_row(MPI_Comm comm, const KernelSumMat &context, const Function &f) {
  const PointCloud      &targets = *context.targets, &sources = *context.sources;
  const int              rows = context.scalars_a_target(), columns = context.scalars_a_value();
  std::vector<PetscReal> y;
  Points                 points;

  PetscFunctionBegin;
  PetscCall(PointCloudGather(comm, &sources, &y));
  PetscCall(PointCloudGetPoints(&targets, PETSC_MEMTYPE_HOST, &points));
  std::vector<PetscScalar> values((size_t)rows * columns * sources.N);
  const PetscReal *const   of_sources[3] = {y.data(), y.data() + sources.N, y.data() + 2 * (size_t)sources.N};
  for (PetscInt i = 0; i < targets.n; i++) {
    const PetscReal target[3] = {points.x[0][i], points.x[1][i], points.x[2][i]};
    fill_rows(context, target, sources.N, of_sources, values.data());
    for (int r = 0; r < rows; r++) PetscCall(f(i * rows + r, &values[(size_t)r * sources.N * columns]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_diagonal(Mat A, Vec d) {
  KernelSumMat *context;
  PetscScalar  *values, block[12];
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatKernelSumCheckLayout(A, d, false));
  PetscCall(MatGetKernelSum(A, &context));
  const PointCloud &targets = *context->targets, &sources = *context->sources;
  PetscMPIInt       misfit = targets.n != sources.n || context->gradient;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &misfit, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(!misfit, comm, PETSC_ERR_SUP,
             "a diagonal needs as many targets as sources on every rank, and values, not gradients");
  Points points[2];
  PetscCall(PointCloudGetPoints(&targets, PETSC_MEMTYPE_HOST, &points[0]));
  PetscCall(PointCloudGetPoints(&sources, PETSC_MEMTYPE_HOST, &points[1]));
  PetscCall(VecGetArrayWrite(d, &values));
  for (PetscInt i = 0; i < targets.n; i++) {
    PetscReal x[3];
    for (int a = 0; a < 3; a++) x[a] = points[0].x[a][i] - points[1].x[a][i];
    KernelSumBlock(*context, x, block);
    for (int s = 0; s < context->scalars_a_value(); s++)
      values[i * context->scalars_a_value() + s] = context->scale * block[0];
  }
  PetscCall(VecRestoreArrayWrite(d, &values));
  for (Vec *v : {&context->left, &context->right, &context->diagonal})
    if (*v) PetscCall(VecMatchKind(d, v));
  if (context->left) PetscCall(VecPointwiseMult(d, d, context->left));
  if (context->right) PetscCall(VecPointwiseMult(d, d, context->right));
  if (context->shift != (PetscScalar)0) PetscCall(VecShift(d, context->shift));
  if (context->diagonal) PetscCall(VecAXPY(d, 1, context->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The entries of a row. A call of one rank alone: other ranks' points are not there.
static PetscErrorCode get_values_of_row(Mat A, PetscInt row, std::vector<PetscScalar> *values) {
  KernelSumMat *context;
  Points        x, y;
  PetscInt      M, N;
  PetscMPIInt   ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &ranks));
  if (ranks > 1) PetscCall(MatKernelSumRefuse(PETSC_COMM_SELF, "rows on one of several ranks"));
  PetscCall(MatGetKernelSum(A, &context));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(PointCloudGetPoints(context->targets, PETSC_MEMTYPE_HOST, &x));
  PetscCall(PointCloudGetPoints(context->sources, PETSC_MEMTYPE_HOST, &y));
  const PetscInt           rows = context->scalars_a_target(), i = row / rows;
  const PetscReal          target[3] = {x.x[0][i], x.x[1][i], x.x[2][i]};
  std::vector<PetscScalar> of_target((size_t)rows * N);
  fill_rows(*context, target, y.n, y.x, of_target.data());
  values->assign(of_target.begin() + (row % rows) * N, of_target.begin() + (row % rows + 1) * N);
  const PetscScalar *left = NULL, *right = NULL, *diagonal = NULL;
  if (context->left) PetscCall(VecGetArrayRead(context->left, &left));
  if (context->right) PetscCall(VecGetArrayRead(context->right, &right));
  if (context->diagonal) PetscCall(VecGetArrayRead(context->diagonal, &diagonal));
  for (PetscInt j = 0; j < N; j++) (*values)[j] *= context->scale * (left ? left[row] : 1) * (right ? right[j] : 1);
  if (row < N) (*values)[row] += context->shift + (diagonal ? diagonal[row] : 0);
  if (context->diagonal) PetscCall(VecRestoreArrayRead(context->diagonal, &diagonal));
  if (context->right) PetscCall(VecRestoreArrayRead(context->right, &right));
  if (context->left) PetscCall(VecRestoreArrayRead(context->left, &left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_row(Mat A, PetscInt row, PetscInt *n, PetscInt **columns, PetscScalar **entries) {
  std::vector<PetscScalar> values;

  PetscFunctionBegin;
  PetscCall(get_values_of_row(A, row, &values));
  *n = (PetscInt)values.size();
  if (columns) {
    PetscCall(PetscMalloc1(*n, columns));
    for (PetscInt j = 0; j < *n; j++) (*columns)[j] = j;
  }
  if (entries) {
    PetscCall(PetscMalloc1(*n, entries));
    std::copy(values.begin(), values.end(), *entries);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode restore_row(Mat, PetscInt, PetscInt *, PetscInt **columns, PetscScalar **entries) {
  PetscFunctionBegin;
  if (columns) PetscCall(PetscFree(*columns));
  if (entries) PetscCall(PetscFree(*entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_values(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                 PetscScalar entries[]) {
  std::vector<PetscScalar> values;
  PetscInt                 M, N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  for (PetscInt i = 0; i < m; i++) {
    if (rows[i] < 0) continue; // as all types ignore it
    PetscCheck(rows[i] < M, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "row %" PetscInt_FMT " was asked for; the matrix has %" PetscInt_FMT, rows[i], M);
    PetscCall(get_values_of_row(A, rows[i], &values));
    for (PetscInt j = 0; j < n; j++) {
      PetscCheck(columns[j] < N, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "column %" PetscInt_FMT " was asked for; the matrix has %" PetscInt_FMT, columns[j], N);
      if (columns[j] >= 0) entries[i * n + j] = values[columns[j]];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode convert_to_dense(Mat A, Mat *dense) {
  KernelSumMat *context;
  PetscScalar  *values;
  PetscInt      m, n, M, N, lda;
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A, &context));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatCreateDense(comm, m, n, M, N, NULL, dense));
  PetscCall(MatDenseGetLDA(*dense, &lda));
  PetscCall(MatDenseGetArrayWrite(*dense, &values));
  PetscCall(for_each_row(comm, *context, [&](PetscInt row, const PetscScalar *entries) {
    for (PetscInt j = 0; j < N; j++) values[(size_t)j * lda + row] = context->scale * entries[j];
    return (PetscErrorCode)PETSC_SUCCESS;
  }));
  PetscCall(MatDenseRestoreArrayWrite(*dense, &values));
  PetscCall(MatAssemblyBegin(*dense, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*dense, MAT_FINAL_ASSEMBLY));
  if (context->left || context->right) PetscCall(MatDiagonalScale(*dense, context->left, context->right));
  if (context->shift != (PetscScalar)0) PetscCall(MatShift(*dense, context->shift));
  if (context->diagonal) PetscCall(MatDiagonalSet(*dense, context->diagonal, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode convert(Mat A, MatType type, MatReuse reuse, Mat *B) {
  Mat       dense;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(convert_to_dense(A, &dense));
  PetscCall(PetscStrcmp(type, MATDENSE, &same));
  if (!same) PetscCall(MatConvert(dense, type, MAT_INPLACE_MATRIX, &dense));
  if (reuse == MAT_INITIAL_MATRIX)
    *B = dense;
  else if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(dense, *B, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&dense));
  } else
    PetscCall(MatHeaderReplace(A, &dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GatherValues(Vec v, PetscInt N, PetscScalar fallback, std::vector<PetscScalar> *values) {
  VecScatter         scatter;
  Vec                all;
  const PetscScalar *array;

  PetscFunctionBegin;
  values->assign(N, fallback);
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScatterCreateToAll(v, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &array));
  values->assign(array, array + N);
  PetscCall(VecRestoreArrayRead(all, &array));
  PetscCall(VecDestroy(&all));
  PetscCall(VecScatterDestroy(&scatter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Row by row: no matrix is stored.
static PetscErrorCode norm(Mat A, NormType type, PetscReal *result) {
  KernelSumMat            *context;
  PetscInt                 M, N, first;
  std::vector<PetscScalar> right;
  const PetscScalar       *left = NULL, *diagonal = NULL;
  PetscReal                largest_row = 0, squares = 0;
  MPI_Comm                 comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCheck(type == NORM_1 || type == NORM_INFINITY || type == NORM_FROBENIUS, comm, PETSC_ERR_SUP,
             "norm %s is not available; use NORM_1, NORM_INFINITY or NORM_FROBENIUS", NormTypes[type]);
  PetscCall(MatGetKernelSum(A, &context));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetOwnershipRange(A, &first, NULL));
  PetscCall(GatherValues(context->right, N, 1, &right));
  if (context->left) PetscCall(VecGetArrayRead(context->left, &left));
  if (context->diagonal) PetscCall(VecGetArrayRead(context->diagonal, &diagonal));
  std::vector<PetscReal> columns(N, 0);
  PetscCall(for_each_row(comm, *context, [&](PetscInt row, const PetscScalar *entries) {
    PetscReal sum = 0;
    for (PetscInt j = 0; j < N; j++) {
      PetscScalar entry = context->scale * entries[j] * right[j] * (left ? left[row] : 1);
      if (j == first + row) entry += context->shift + (diagonal ? diagonal[row] : 0);
      const PetscReal size = PetscAbsScalar(entry);
      sum += size;
      squares += size * size;
      columns[j] += size;
    }
    largest_row = PetscMax(largest_row, sum);
    return (PetscErrorCode)PETSC_SUCCESS;
  }));
  if (context->left) PetscCall(VecRestoreArrayRead(context->left, &left));
  if (context->diagonal) PetscCall(VecRestoreArrayRead(context->diagonal, &diagonal));
  if (type == NORM_1) {
    PetscMPIInt count;
    PetscCall(PetscMPIIntCast(N, &count));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, columns.data(), count, MPIU_REAL, MPIU_SUM, comm));
    *result = 0;
    for (PetscReal c : columns) *result = PetscMax(*result, c);
  } else if (type == NORM_INFINITY) {
    *result = largest_row;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, result, 1, MPIU_REAL, MPIU_MAX, comm));
  } else {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &squares, 1, MPIU_REAL, MPIU_SUM, comm));
    *result = PetscSqrtReal(squares);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- products with dense matrices ------------------------------------------------------------------------------------

#if PETSC_VERSION_LT(3, 20, 0) // dense matrices tell no memory type: they are used on the host
static PetscErrorCode get_read(Mat B, const PetscScalar **array, PetscMemType *memory) {
  *memory = PETSC_MEMTYPE_HOST;
  return MatDenseGetArrayRead(B, array);
}
static PetscErrorCode get_write(Mat B, PetscScalar **array, PetscMemType *memory) {
  *memory = PETSC_MEMTYPE_HOST;
  return MatDenseGetArrayWrite(B, array);
}
#define restore_read  MatDenseRestoreArrayRead
#define restore_write MatDenseRestoreArrayWrite
#else
#define get_read      MatDenseGetArrayReadAndMemType
#define get_write     MatDenseGetArrayWriteAndMemType
#define restore_read  MatDenseRestoreArrayReadAndMemType
#define restore_write MatDenseRestoreArrayWriteAndMemType
#endif

// PETSc compares the numbers of rows of the whole matrices alone, and nothing where a product is computed again.
static PetscErrorCode check_rows(Mat A, Mat dense, bool of_columns) {
  PetscLayout layouts[2], rows;
  PetscBool   same;

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(A, &layouts[0], &layouts[1]));
  PetscCall(MatGetLayouts(dense, &rows, NULL));
  PetscCall(PetscLayoutCompare(rows, layouts[of_columns], &same));
  PetscCheck(
      same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
      "a dense matrix of %" PetscInt_FMT " rows is given for the %" PetscInt_FMT
      " %s of the kernelsum, or they are distributed otherwise; make it with the local sizes of MatGetLocalSize()",
      rows->N, layouts[of_columns]->N, of_columns ? "columns" : "rows");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode multiply(Mat A, Mat B, Mat C, bool transposed) {
  KernelSumMat      *context;
  const PetscScalar *b;
  PetscScalar       *c;
  PetscInt           columns, columns_of_product, lda_b, lda_c;
  PetscMemType       memory, other;
  Mat                scaled = NULL;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A, &context));
  const Vec before = transposed ? context->left : context->right, after = transposed ? context->right : context->left;
  PetscCall(check_rows(A, B, !transposed));
  PetscCall(check_rows(A, C, transposed));
  PetscCall(MatGetSize(B, NULL, &columns));
  PetscCall(MatGetSize(C, NULL, &columns_of_product));
  PetscCheck(columns == columns_of_product, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "a dense matrix of %" PetscInt_FMT " columns is multiplied into one of %" PetscInt_FMT
             "; use MAT_INITIAL_MATRIX",
             columns, columns_of_product);
  if (before) {
    PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &scaled));
    PetscCall(MatDiagonalScale(scaled, before, NULL));
  }
  const Mat from = scaled ? scaled : B;
  PetscCall(MatDenseGetLDA(from, &lda_b));
  PetscCall(MatDenseGetLDA(C, &lda_c));
  PetscCall(get_read(from, &b, &memory));
  PetscCall(get_write(C, &c, &other));
  PetscCheck(PetscMemTypeHost(memory) == PetscMemTypeHost(other), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "one dense matrix is on the %s, the other on the %s; make both of one type",
             PetscMemTypeHost(memory) ? "host" : "GPU", PetscMemTypeHost(other) ? "host" : "GPU");
  // a real matrix' transpose is that of the interleaved complex function: the conjugate one's
  PetscCall(KernelSumApply(PetscObjectComm((PetscObject)A), context, transposed, transposed && context->interleaved(),
                           memory, columns, b, lda_b, c, lda_c));
  PetscCall(restore_write(C, &c));
  PetscCall(restore_read(from, &b));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  if (context->scale != (PetscScalar)1) PetscCall(MatScale(C, context->scale));
  if (after) PetscCall(MatDiagonalScale(C, after, NULL));
  if (context->shift != (PetscScalar)0) PetscCall(MatAXPY(C, context->shift, B, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&scaled));
  if (context->diagonal) {
    PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &scaled));
    PetscCall(MatDiagonalScale(scaled, context->diagonal, NULL));
    PetscCall(MatAXPY(C, 1, scaled, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&scaled));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode product(Mat A, Mat B, Mat C, void *) {
  return multiply(A, B, C, false);
}
static PetscErrorCode product_transposed(Mat A, Mat B, Mat C, void *) {
  return multiply(A, B, C, true);
}

PetscErrorCode MatKernelSumSetEntryOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_GET_DIAGONAL, get_diagonal));
  PetscCall(set_operation(A, MATOP_NORM, norm));
  PetscCall(MatSetOperation(A, MATOP_GET_ROW, reinterpret_cast<OperationFn *>(get_row)));
  PetscCall(MatSetOperation(A, MATOP_RESTORE_ROW, reinterpret_cast<OperationFn *>(restore_row)));
  PetscCall(MatSetOperation(A, MATOP_GET_VALUES, reinterpret_cast<OperationFn *>(get_values)));
  PetscCall(set_operation(A, MATOP_CONVERT, convert));
  for (MatType type : {
         MATDENSE,
#if defined(PETSC_HAVE_CUDA)
             MATDENSECUDA
#endif
       }) {
    PetscCall(MatShellSetMatProductOperation(A, MATPRODUCT_AB, NULL, product, NULL, type, type));
    PetscCall(MatShellSetMatProductOperation(A, MATPRODUCT_AtB, NULL, product_transposed, NULL, type, type));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
