// The shell Mat of type kernelsum: its settings, its set-up, its products.

#include "sums/kernel_sum.hpp"

#include <cmath>
#include <petscdmswarm.h>

#include "device/arrays.hpp"
#include "sums/fast_sum.hpp"
#include "sums/types.hpp"

namespace shellac {

static PetscErrorCode get_context(Mat A, KernelSumMat **context) {
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetKernelSum(Mat A, KernelSumMat **context) {
  PetscFunctionBegin;
  PetscCall(get_context(A, context));
  if (!(*context)->ready) PetscCall(MatSetUp(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

// ---- settings --------------------------------------------------------------------------------------------------------

static PetscErrorCode check_not_ready(Mat A, const KernelSumMat &context, const char *what) {
  PetscFunctionBegin;
  PetscCheck(!context.ready, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
             "%s of a kernelsum cannot change after MatSetUp(); set it before, or make another Mat", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_points(Mat A, Vec targets, Vec sources) {
  KernelSumMat *context;
  PetscInt      dims[2];
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);
  PointCloud   *clouds[2] = {NULL, NULL};
  VecType       type;

  PetscFunctionBegin;
  PetscCall(get_context(A, &context));
  PetscCall(check_not_ready(A, *context, "the points"));
  PetscCheck(targets && sources, comm, PETSC_ERR_ARG_NULL, "the coordinates of targets or sources are null");
  for (int side = 0; side < 2; side++) {
    PetscCall(VecGetBlockSize(side ? sources : targets, &dims[side]));
    PetscCheck(dims[side] >= 1 && dims[side] <= 3, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "the coordinates of the %s have block size %" PetscInt_FMT
               ", which is the dimension; it must be 1, 2 or 3: see VecSetBlockSize()",
               side ? "sources" : "targets", dims[side]);
  }
  PetscCheck(dims[0] == dims[1], comm, PETSC_ERR_ARG_INCOMP,
             "the targets have %" PetscInt_FMT " coordinates each, the sources %" PetscInt_FMT
             "; both must be points of the same space",
             dims[0], dims[1]);
  for (int side = 0; side < 2; side++) {
    const Vec          v = side ? sources : targets;
    const PetscScalar *x;
    PetscInt           n;
    if (side == 1 && sources == targets) {
      clouds[1] = clouds[0];
      clouds[1]->references++;
      break;
    }
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(VecGetArrayRead(v, &x));
    const PetscErrorCode code =
        PointCloudCreate(comm, side ? "source" : "target", (int)dims[0], n / dims[0], x, &clouds[side]);
    PetscCall(VecRestoreArrayRead(v, &x));
    if (code && side) PetscCall(PointCloudDestroy(&clouds[0]));
    PetscCall(code);
  }
  PetscCall(PointCloudDestroy(&context->targets));
  PetscCall(PointCloudDestroy(&context->sources));
  context->targets = clouds[0];
  context->sources = clouds[1];
  PetscCall(VecGetType(targets, &type));
  context->vec_type = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_kernel(Mat A, const char *name) {
  KernelSumMat *context;
  std::string   names;
  PetscBool     same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(get_context(A, &context));
  PetscCall(check_not_ready(A, *context, "the kernel function"));
  for (size_t f = 0; f < kernel_functions().size(); f++) {
    PetscCall(PetscStrcmp(name, kernel_functions()[f].name, &same));
    if (same) {
      context->function = (int)f;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    names += std::string(f ? ", " : "") + kernel_functions()[f].name;
  }
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_UNKNOWN_TYPE,
          "the kernel function %s is unknown; use one of %s", name, names.c_str());
}

// Changes a setting of the context, at any time: the fast method of another one is another. Where that fails, all is
// as it was.
template <class T> static PetscErrorCode change(Mat A, KernelSumMat *context, T *setting, T value) {
  const T  before = *setting;
  FastSum *fast = NULL;

  PetscFunctionBegin;
  if (value == before) PetscFunctionReturn(PETSC_SUCCESS);
  *setting = value;
  if (!context->ready) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscErrorCode code = MatKernelSumCreateFast(A, &fast);
  if (code) *setting = before;
  PetscCall(code);
  PetscCall(FastSumDestroy(&context->fast));
  context->fast = fast;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_sigma(Mat A, PetscReal sigma) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(get_context(A, &context));
  PetscCheck(sigma > 0 && !PetscIsInfOrNanReal(sigma), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "sigma is %g; a length must be positive and finite (-mat_kernelsum_sigma)", (double)sigma);
  PetscCall(change(A, context, &context->parameters.sigma, (double)sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_wavenumber(Mat A, PetscReal k) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(get_context(A, &context));
  PetscCheck(k >= 0 && !PetscIsInfOrNanReal(k), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "the wavenumber is %g; it must be zero or positive, and finite (-mat_kernelsum_wavenumber)", (double)k);
  PetscCall(change(A, context, &context->parameters.wavenumber, (double)k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_precision(Mat A, MatKernelSumPrecision precision) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(get_context(A, &context));
  PetscCheck(precision >= MAT_KERNELSUM_DOUBLE && precision <= MAT_KERNELSUM_MIXED, PetscObjectComm((PetscObject)A),
             PETSC_ERR_ARG_OUTOFRANGE, "precision %d is unknown; use double, single or mixed", (int)precision);
  PetscCall(change(A, context, &context->precision, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_self(Mat A, MatKernelSumSelf self) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(get_context(A, &context));
  PetscCheck(self >= MAT_KERNELSUM_SELF_AUTO && self <= MAT_KERNELSUM_SELF_ERROR, PetscObjectComm((PetscObject)A),
             PETSC_ERR_ARG_OUTOFRANGE, "self %d is unknown; use automatic, zero, limit or error", (int)self);
  PetscCall(check_not_ready(A, *context, "the value g(x, x)"));
  context->self = self;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_method(Mat A, MatKernelSumMethod method, PetscReal rtol) {
  KernelSumMat *context;
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(get_context(A, &context));
  PetscCheck(method >= MAT_KERNELSUM_DIRECT && method <= MAT_KERNELSUM_AUTO, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "type %d is unknown; use direct, fast or auto", (int)method);
  if (rtol == (PetscReal)PETSC_DEFAULT) rtol = context->rtol;
  PetscCheck(rtol >= 1e-12 && rtol < 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "the tolerance is %g; it must be at least 1e-12 and less than 1 (-mat_kernelsum_rtol)", (double)rtol);
  PetscCall(check_not_ready(A, *context, "the type or its tolerance"));
  context->method = method;
  context->rtol = rtol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) {
  KernelSumMat             *context;
  std::vector<const char *> names;
  PetscReal                 value;
  PetscInt                  choice;
  PetscBool                 set, set_rtol;

  PetscFunctionBegin;
  PetscCall(get_context(A, &context));
  MatKernelSumPrecision precision = context->precision;
  MatKernelSumSelf      self = context->self;
  MatKernelSumMethod    method = context->method;
  for (const FunctionInfo &info : kernel_functions()) names.push_back(info.name);
  PetscOptionsHeadBegin(PetscOptionsObject, "Kernel sum options");
  choice = context->function;
  PetscCall(PetscOptionsEList("-mat_kernelsum_kernel", "The kernel function g(x, y)", "MatKernelSumSetKernel",
                              names.data(), (PetscInt)names.size(), names[choice], &choice, &set));
  if (set && choice != context->function) PetscCall(MatKernelSumSetKernel(A, names[choice]));
  value = (PetscReal)context->parameters.sigma;
  PetscCall(
      PetscOptionsReal("-mat_kernelsum_sigma", "Length of the function", "MatKernelSumSetSigma", value, &value, &set));
  if (set) PetscCall(MatKernelSumSetSigma(A, value));
  value = (PetscReal)context->parameters.wavenumber;
  PetscCall(PetscOptionsReal("-mat_kernelsum_wavenumber", "Wavenumber or decay of the function",
                             "MatKernelSumSetWavenumber", value, &value, &set));
  if (set) PetscCall(MatKernelSumSetWavenumber(A, value));
  PetscCall(PetscOptionsEnum("-mat_kernelsum_precision", "What pairs are computed in", "MatKernelSumSetPrecision",
                             MatKernelSumPrecisions, (PetscEnum)precision, (PetscEnum *)&precision, &set));
  if (set) PetscCall(MatKernelSumSetPrecision(A, precision));
  PetscCall(PetscOptionsEnum("-mat_kernelsum_self", "What g(x, x) is", "MatKernelSumSetSelf", MatKernelSumSelves,
                             (PetscEnum)self, (PetscEnum *)&self, &set));
  if (set && self != context->self) PetscCall(MatKernelSumSetSelf(A, self));
  value = context->rtol;
  PetscCall(PetscOptionsEnum("-mat_kernelsum_type", "All pairs, or a fast method with a tolerance",
                             "MatKernelSumSetMethod", MatKernelSumMethods, (PetscEnum)method, (PetscEnum *)&method,
                             &set));
  PetscCall(PetscOptionsReal("-mat_kernelsum_rtol", "Tolerance of the fast method", "MatKernelSumSetMethod", value,
                             &value, &set_rtol));
  if ((set && method != context->method) || (set_rtol && value != context->rtol))
    PetscCall(MatKernelSumSetMethod(A, method, value));
  PetscCall(PetscOptionsBool("-mat_kernelsum_monitor", "Print the progress of each product", NULL, context->monitor,
                             &context->monitor, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- set-up ----------------------------------------------------------------------------------------------------------

static PetscErrorCode set_up(Mat A) {
  KernelSumMat *context;
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);
  PetscReal     lower[3], upper[3];
  PetscInt      m, n;
  PetscMPIInt   misfit;

  PetscFunctionBegin;
  PetscCall(get_context(A, &context));
  if (context->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(context->targets, comm, PETSC_ERR_ARG_WRONGSTATE,
             "a Mat of type kernelsum needs its points; make it with MatCreateKernelSum(), or call "
             "MatKernelSumSetPoints() before MatSetUp()");
  const FunctionInfo &info = context->info();
  PetscCheck(context->self != MAT_KERNELSUM_SELF_LIMIT || !info.singular, comm, PETSC_ERR_ARG_INCOMP,
             "-mat_kernelsum_self limit: %s(x, x) has no finite limit; use zero or error", info.name);
  if (context->self == MAT_KERNELSUM_SELF_ERROR) {
    PetscInt  target, source;
    PetscReal at[3];
    PetscCall(PointCloudsFindCoincident(comm, context->targets, context->sources, &target, &source, at));
    PetscCheck(target < 0, comm, PETSC_ERR_ARG_WRONG,
               "target %" PetscInt_FMT " and source %" PetscInt_FMT
               " are the same point (%g, %g, %g); move one, or use -mat_kernelsum_self zero%s",
               target, source, (double)at[0], (double)at[1], (double)at[2], info.singular ? "" : " or limit");
  }
  const PetscInt rows = context->targets->n * context->scalars_a_target();
  const PetscInt columns = context->sources->n * context->scalars_a_value();
  PetscCall(MatGetLocalSize(A, &m, &n));
  misfit = (m >= 0 && m != rows) || (n >= 0 && n != columns);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &misfit, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(!misfit, comm, PETSC_ERR_ARG_SIZ,
             "the Mat is %" PetscInt_FMT " x %" PetscInt_FMT " on this rank, its points make it %" PetscInt_FMT
             " x %" PetscInt_FMT "; leave out MatSetSizes()",
             m, n, rows, columns);
  if (m < 0 || n < 0) PetscCall(MatSetSizes(A, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSizes(A, context->scalars_a_target(), context->scalars_a_value()));
  PetscCall(MatSetVecType(A, context->vec_type.c_str()));
  PetscCall(PointCloudsGetBox(comm, context->targets, context->sources, lower, upper));
  PetscReal extent = 0;
  for (int a = 0; a < 3; a++) {
    context->center[a] = lower[a] + (upper[a] - lower[a]) / 2;
    extent = PetscMax(extent, upper[a] - lower[a]);
  }
  context->parameters.extent = extent > 0 ? std::exp2(std::ilogb((double)extent)) : 1;
  PetscLayout layout[2];
  PetscCall(MatGetLayouts(A, &layout[0], &layout[1]));
  for (PetscLayout &l : layout) PetscCall(PetscLayoutSetUp(l));
  if (context->targets == context->sources && !context->gradient && !context->interleaved())
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatKernelSumCreateFast(A, &context->fast));
  context->ready = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- products --------------------------------------------------------------------------------------------------------

PetscErrorCode VecMatchKind(Vec like, Vec *v) {
  VecType   types[2];
  PetscBool bound[2], same = PETSC_FALSE;
  Vec       made;

  PetscFunctionBegin;
  if (*v) {
    PetscCall(VecGetType(like, &types[0]));
    PetscCall(VecGetType(*v, &types[1]));
    PetscCall(VecBoundToCPU(like, &bound[0]));
    PetscCall(VecBoundToCPU(*v, &bound[1]));
    PetscCall(PetscStrcmp(types[0], types[1], &same));
    if (same && bound[0] == bound[1]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(like, &made));
  if (*v) PetscCall(VecCopy(*v, made));
  PetscCall(VecDestroy(v));
  *v = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum class Side { plain, transposed, hermitian };

// y = A x, or b + A x where b is given (it may be y).
static PetscErrorCode apply(Mat A, Side side, Vec x, Vec b, Vec y) {
  KernelSumMat      *context;
  Arrays             arrays;
  const PetscScalar *px = NULL;
  PetscScalar       *py = NULL;
  MPI_Comm           comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCheck(x != y, comm, PETSC_ERR_ARG_IDN,
             "the operator cannot write its result over the vector that it acts on; give another vector");
  PetscCall(MatGetKernelSum(A, &context));
  const bool transposed = side != Side::plain;
  const bool complex = PetscDefined(USE_COMPLEX) && side == Side::hermitian;
  const bool conjugate = complex || (transposed && context->interleaved()); // a real matrix of complex values
  const Vec  before = transposed ? context->left : context->right;
  Vec       *after = transposed ? &context->right : &context->left;
  Vec        from = x, to = y;
  if (before) {
    PetscCall(VecMatchKind(x, &context->work[transposed]));
    from = context->work[transposed];
    PetscCall(VecCopy(before, from));
    if (complex) PetscCall(VecConjugate(from));
    PetscCall(VecPointwiseMult(from, from, x));
  }
  if (b) {
    PetscCall(VecMatchKind(y, &context->work[!transposed]));
    to = context->work[!transposed];
  }
  PetscCall(arrays.Read(from, &px));
  PetscCall(arrays.Write(to, &py));
  PetscCall(KernelSumApply(comm, context, transposed, conjugate, arrays.memory(), 1, px, 0, py, 0));
  PetscCall(arrays.Restore());
  const auto of = [&](PetscScalar a) { return complex ? PetscConj(a) : a; };
  if (context->scale != (PetscScalar)1) PetscCall(VecScale(to, of(context->scale)));
  if (*after) {
    PetscCall(VecMatchKind(to, after));
    if (complex) PetscCall(VecConjugate(to)); // conj(after) to = conj(after conj(to))
    PetscCall(VecPointwiseMult(to, to, *after));
    if (complex) PetscCall(VecConjugate(to));
  }
  if (context->shift != (PetscScalar)0) PetscCall(VecAXPY(to, of(context->shift), x));
  if (context->diagonal) {
    Vec &d = context->work[transposed];
    PetscCall(VecMatchKind(x, &d));
    PetscCall(VecCopy(context->diagonal, d));
    if (complex) PetscCall(VecConjugate(d));
    PetscCall(VecPointwiseMult(d, d, x));
    PetscCall(VecAXPY(to, 1, d));
  }
  if (b == y)
    PetscCall(VecAXPY(y, 1, to));
  else if (b)
    PetscCall(VecWAXPY(y, 1, to, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mult(Mat A, Vec x, Vec y) {
  return apply(A, Side::plain, x, NULL, y);
}
static PetscErrorCode mult_add(Mat A, Vec x, Vec b, Vec y) {
  return apply(A, Side::plain, x, b, y);
}
static PetscErrorCode mult_transpose(Mat A, Vec x, Vec y) {
  return apply(A, Side::transposed, x, NULL, y);
}
static PetscErrorCode mult_transpose_add(Mat A, Vec x, Vec b, Vec y) {
  return apply(A, Side::transposed, x, b, y);
}
static PetscErrorCode mult_hermitian(Mat A, Vec x, Vec y) {
  return apply(A, Side::hermitian, x, NULL, y);
}
static PetscErrorCode mult_hermitian_add(Mat A, Vec x, Vec b, Vec y) {
  return apply(A, Side::hermitian, x, b, y);
}

// ---- scalings --------------------------------------------------------------------------------------------------------

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

static PetscErrorCode diagonal_scale(Mat A, Vec left, Vec right) {
  KernelSumMat *context;

  PetscFunctionBegin;
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
  PetscCall(MatGetKernelSum(A, &context));
  PetscCall(check_square(A, "MatDiagonalSet()"));
  PetscCall(VecDuplicate(d, &added));
  if (mode == INSERT_VALUES) { // the difference to what is there
    PetscCall(MatGetDiagonal(A, added));
    PetscCall(VecAYPX(added, -1, d));
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

static PetscErrorCode copy_vector(Vec from, Vec *to) {
  PetscFunctionBegin;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(from, to));
  PetscCall(VecCopy(from, *to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A Mat over the same points with the same settings.
static PetscErrorCode create_like(Mat A, bool gradient, Mat *B) {
  KernelSumMat *from, *to;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A, &from));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetType(*B, MATKERNELSUM));
  PetscCall(get_context(*B, &to));
  to->function = from->function;
  to->parameters = from->parameters;
  to->precision = from->precision;
  to->self = from->self;
  to->method = gradient ? MAT_KERNELSUM_DIRECT : from->method;
  to->rtol = from->rtol;
  to->monitor = from->monitor;
  to->gradient = gradient;
  to->targets = from->targets;
  to->sources = from->sources;
  to->targets->references++;
  to->sources->references++;
  to->vec_type = from->vec_type;
  PetscCall(MatSetUp(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode duplicate(Mat A, MatDuplicateOption option, Mat *B) {
  KernelSumMat *from, *to;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A, &from));
  PetscCall(create_like(A, from->gradient, B));
  PetscCall(get_context(*B, &to));
  to->scale = from->scale;
  to->shift = from->shift;
  PetscCall(copy_vector(from->left, &to->left));
  PetscCall(copy_vector(from->right, &to->right));
  PetscCall(copy_vector(from->diagonal, &to->diagonal));
  if (option != MAT_COPY_VALUES) PetscCall(MatScale(*B, 0)); // as an AIJ's duplicate is zero
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create_gradient(Mat A, Mat *G) {
  return create_like(A, true, G);
}

// ---- view ------------------------------------------------------------------------------------------------------------

static PetscErrorCode view(Mat A, PetscViewer viewer) {
  KernelSumMat     *context;
  PetscBool         ascii;
  PetscLogDouble    sums[2];
  MPI_Comm          comm = PetscObjectComm((PetscObject)A);
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A, &context));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (!ascii || (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL)) { // the entries
    Mat dense;
    PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &dense));
    PetscCall(MatView(dense, viewer));
    PetscCall(MatDestroy(&dense));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const FunctionInfo &info = context->info();
  PetscLogDouble      bytes = 3. * sizeof(PetscReal) *
                         (context->targets->n + (context->sources == context->targets ? 0. : context->sources->n));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s of sums over particles, kernel %s: %s\n",
                                   context->gradient ? "gradients" : "values", info.name, info.formula));
  if (info.uses_sigma) PetscCall(PetscViewerASCIIPrintf(viewer, "sigma = %g\n", context->parameters.sigma));
  if (info.uses_wavenumber) PetscCall(PetscViewerASCIIPrintf(viewer, "k = %g\n", context->parameters.wavenumber));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "%" PetscInt_FMT " targets, %" PetscInt_FMT " sources in %d-D%s; precision %s; g(x, x): %s\n",
      context->targets->N, context->sources->N, context->targets->dim,
      context->interleaved() ? "; complex values as (re, im)" : "", MatKernelSumPrecisions[context->precision],
      context->limit_is_own() ? "its limit" : "zero"));
  if (context->fast)
    PetscCall(context->fast->View(viewer));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "direct sums of all pairs\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "computed where its vectors are; makes vectors of type %s\n",
                                   context->vec_type.c_str()));
  if (context->products) {
    PetscLogDouble seconds = context->seconds;
#if SHELLAC_CUDA
    if (seconds < 0) {
      float milliseconds;
      PetscCallCUDA(cudaEventSynchronize((cudaEvent_t)context->end_event));
      PetscCallCUDA(
          cudaEventElapsedTime(&milliseconds, (cudaEvent_t)context->begin_event, (cudaEvent_t)context->end_event));
      seconds = 1e-3 * milliseconds;
    }
#endif
    sums[0] = context->terms;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sums[0], 1, MPI_DOUBLE, MPI_SUM, comm));
    PetscCallMPI(MPI_Allreduce(&seconds, &sums[1], 1, MPI_DOUBLE, MPI_MAX, comm));
    const char *terms = context->fast ? "terms" : "pairs";
    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt64_FMT " product%s; the last: %.6g %s in %.4g s, %.4g %s/s\n",
                                     context->products, context->products == 1 ? "" : "s", sums[0], terms, sums[1],
                                     sums[1] > 0 ? sums[0] / sums[1] : 0., terms));
  }
  PetscLogDouble dense = (PetscLogDouble)context->targets->N * context->scalars_a_target() * context->sources->N *
                         context->scalars_a_value() * sizeof(PetscScalar);
  if (context->fast) bytes += context->fast->Bytes();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "bytes stored: %.0f; a dense matrix takes %.0f\n", bytes, dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the type --------------------------------------------------------------------------------------------------------

// What MATSHELL would do to a product of its own, which is not ours.
static PetscErrorCode refuse(Mat A, const char *operation) {
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
          "a Mat of type kernelsum has no %s; put it into a MATCOMPOSITE, or convert it to dense with MatConvert()",
          operation);
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

PetscErrorCode MatCreate_KernelSum(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSHELL));
  PetscCall(MatShellSetContext(A, new KernelSumMat));
  PetscCall(MatShellSetContextDestroy(A, destructor(destroy_context)));
  PetscCall(MatShellSetManageScalingShifts(A));
  PetscCall(MatBindToCPU(A, PETSC_FALSE)); // a new Mat is bound until its type says that it can leave the host
  PetscCall(set_operation(A, MATOP_SET_FROM_OPTIONS, set_from_options));
  PetscCall(set_operation(A, MATOP_SETUP, set_up));
  PetscCall(set_operation(A, MATOP_MULT, mult));
  PetscCall(set_operation(A, MATOP_MULT_ADD, mult_add));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE, mult_transpose));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE_ADD, mult_transpose_add));
  PetscCall(set_operation(A, MATOP_MULT_HERMITIAN_TRANSPOSE, mult_hermitian));
  PetscCall(set_operation(A, MATOP_MULT_HERMITIAN_TRANS_ADD, mult_hermitian_add));
  PetscCall(set_operation(A, MATOP_SCALE, scale));
  PetscCall(set_operation(A, MATOP_SHIFT, shift));
  PetscCall(set_operation(A, MATOP_DIAGONAL_SCALE, diagonal_scale));
  PetscCall(set_operation(A, MATOP_DIAGONAL_SET, diagonal_set));
  PetscCall(set_operation(A, MATOP_DUPLICATE, duplicate));
  PetscCall(set_operation(A, MATOP_VIEW, view));
  PetscCall(MatSetOperation(A, MATOP_AXPY, reinterpret_cast<OperationFn *>(axpy)));
  PetscCall(MatSetOperation(A, MATOP_COPY, reinterpret_cast<OperationFn *>(copy)));
  PetscCall(MatSetOperation(A, MATOP_ZERO_ROWS, reinterpret_cast<OperationFn *>(zero_rows)));
  PetscCall(MatSetOperation(A, MATOP_ZERO_ROWS_COLUMNS, reinterpret_cast<OperationFn *>(zero_rows)));
  PetscObject object = (PetscObject)A;
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetPoints_C", set_points));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetKernel_C", set_kernel));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetSigma_C", set_sigma));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetWavenumber_C", set_wavenumber));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetPrecision_C", set_precision));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetSelf_C", set_self));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetMethod_C", set_method));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumCreateGradient_C", create_gradient));
  PetscCall(PetscObjectChangeTypeName(object, MATKERNELSUM));
  PetscCall(MatKernelSumSetEntryOperations(A)); // products are found by the new name
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Coordinates of a DM's points as a vector of our own.
static PetscErrorCode get_coordinates(DM dm, Vec *coordinates) {
  PetscBool swarm;
  VecType   type;
  MPI_Comm  comm = PetscObjectComm((PetscObject)dm);

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMSWARM, &swarm));
  if (!swarm) {
    Vec given;
    PetscCall(DMGetCoordinates(dm, &given));
    PetscCheck(given, comm, PETSC_ERR_ARG_WRONGSTATE,
               "the DM has no coordinates; set them, for instance with DMDASetUniformCoordinates()");
    // the coordinates are on the host, the vectors where the DM's are
    PetscInt           n, block;
    const PetscScalar *from;
    PetscScalar       *to;
    PetscCall(VecGetLocalSize(given, &n));
    PetscCall(VecGetBlockSize(given, &block));
    PetscCall(DMGetVecType(dm, &type));
    PetscCall(VecCreate(comm, coordinates));
    PetscCall(VecSetSizes(*coordinates, n, PETSC_DETERMINE));
    PetscCall(VecSetBlockSize(*coordinates, block));
    PetscCall(VecSetType(*coordinates, type));
    PetscCall(VecGetArrayRead(given, &from));
    PetscCall(VecGetArrayWrite(*coordinates, &to));
    PetscCall(PetscArraycpy(to, from, n));
    PetscCall(VecRestoreArrayWrite(*coordinates, &to));
    PetscCall(VecRestoreArrayRead(given, &from));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt      n, block;
  PetscDataType data_type;
  void         *data;
  PetscScalar  *to;
  PetscCall(DMSwarmGetLocalSize(dm, &n));
  PetscCall(DMSwarmGetField(dm, DMSwarmPICField_coor, &block, &data_type, &data));
  PetscCheck(data_type == PETSC_REAL, comm, PETSC_ERR_ARG_WRONG, "the swarm's coordinates are not of type PETSC_REAL");
  PetscCall(DMGetVecType(dm, &type));
  PetscCall(VecCreate(comm, coordinates));
  PetscCall(VecSetSizes(*coordinates, n * block, PETSC_DETERMINE));
  PetscCall(VecSetBlockSize(*coordinates, block));
  PetscCall(VecSetType(*coordinates, type));
  PetscCall(VecGetArrayWrite(*coordinates, &to));
  for (PetscInt i = 0; i < n * block; i++) to[i] = ((const PetscReal *)data)[i];
  PetscCall(VecRestoreArrayWrite(*coordinates, &to));
  PetscCall(DMSwarmRestoreField(dm, DMSwarmPICField_coor, &block, &data_type, &data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

const char *const MatKernelSumPrecisions[] = {"double",         "single", "mixed", "MatKernelSumPrecision",
                                              "MAT_KERNELSUM_", NULL};
const char *const MatKernelSumSelves[] = {"automatic",           "zero", "limit", "error", "MatKernelSumSelf",
                                          "MAT_KERNELSUM_SELF_", NULL};
const char *const MatKernelSumMethods[] = {"direct", "fast", "auto", "MatKernelSumMethod", "MAT_KERNELSUM_", NULL};

PetscErrorCode MatCreateKernelSum(MPI_Comm comm, Vec targets, Vec sources, Mat *A) {
  PetscFunctionBegin;
  PetscCall(ShellacInitializePackage());
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetType(*A, MATKERNELSUM));
  PetscCall(MatKernelSumSetPoints(*A, targets, sources));
  PetscCall(shellac::set_from_options_of_type(*A));
  PetscCall(MatSetUp(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateKernelSumDM(DM targets, DM sources, Mat *A) {
  Vec x[2];

  PetscFunctionBegin;
  PetscCheck(targets && sources, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the DM of targets or sources is null");
  PetscCall(shellac::get_coordinates(targets, &x[0]));
  if (sources == targets)
    PetscCall(PetscObjectReference((PetscObject)(x[1] = x[0])));
  else
    PetscCall(shellac::get_coordinates(sources, &x[1]));
  PetscCall(MatCreateKernelSum(PetscObjectComm((PetscObject)targets), x[0], x[1], A));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumSetPoints(Mat A, Vec targets, Vec sources) {
  return shellac::try_method(A, "MatKernelSumSetPoints_C", NULL, targets, sources);
}
PetscErrorCode MatKernelSumSetKernel(Mat A, const char name[]) {
  return shellac::try_method(A, "MatKernelSumSetKernel_C", NULL, name);
}
PetscErrorCode MatKernelSumSetSigma(Mat A, PetscReal sigma) {
  return shellac::try_method(A, "MatKernelSumSetSigma_C", NULL, sigma);
}
PetscErrorCode MatKernelSumSetWavenumber(Mat A, PetscReal k) {
  return shellac::try_method(A, "MatKernelSumSetWavenumber_C", NULL, k);
}
PetscErrorCode MatKernelSumSetPrecision(Mat A, MatKernelSumPrecision precision) {
  return shellac::try_method(A, "MatKernelSumSetPrecision_C", NULL, precision);
}
PetscErrorCode MatKernelSumSetSelf(Mat A, MatKernelSumSelf self) {
  return shellac::try_method(A, "MatKernelSumSetSelf_C", NULL, self);
}
PetscErrorCode MatKernelSumSetMethod(Mat A, MatKernelSumMethod method, PetscReal rtol) {
  return shellac::try_method(A, "MatKernelSumSetMethod_C", NULL, method, rtol);
}
PetscErrorCode MatKernelSumCreateGradient(Mat A, Mat *G) {
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(shellac::try_method(A, "MatKernelSumCreateGradient_C", &found, G));
  PetscCheck(found, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "the matrix is not a kernelsum, and has no gradients");
  PetscFunctionReturn(PETSC_SUCCESS);
}
