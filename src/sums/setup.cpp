// The set-up of a kernel sum: its sizes, and what is computed from its points.

#include <algorithm>
#include <cmath>
#include <vector>

#include "sums/fast_sum.hpp"
#include "sums/kernel_sum.hpp"

namespace shellac {

PetscErrorCode MatGetKernelSumSettings(Mat A, KernelSumMat **context) {
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetKernelSum(Mat A, KernelSumMat **context) {
  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, context));
  if (!(*context)->sized) PetscCall(MatSetUp(A));
  if (!(*context)->ready) PetscCall(MatKernelSumPrepare(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- sizes -----------------------------------------------------------------------------------------------------------

static PetscErrorCode any_rank(MPI_Comm comm, bool here, bool *anywhere) {
  PetscMPIInt flag = here;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_MAX, comm));
  *anywhere = flag != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first time, sizes that the user has set must be those of the points. Later, other points or another function may
// change the sizes, as long as no vector of the old ones is stored.
PetscErrorCode MatKernelSumSetSizes(Mat A) {
  KernelSumMat *context;
  PetscInt      m, n;
  bool          misfit;
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  const PetscInt rows = context->targets->n * context->scalars_a_target();
  const PetscInt columns = context->sources->n * context->scalars_a_value();
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(any_rank(comm, (m >= 0 && m != rows) || (n >= 0 && n != columns), &misfit));
  if (!context->sized) {
    PetscCheck(!misfit, comm, PETSC_ERR_ARG_SIZ,
               "the Mat is %" PetscInt_FMT " x %" PetscInt_FMT " on this rank, its points make it %" PetscInt_FMT
               " x %" PetscInt_FMT "; leave out MatSetSizes()",
               m, n, rows, columns);
    if (m < 0 || n < 0) PetscCall(MatSetSizes(A, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetBlockSizes(A, context->scalars_a_target(), context->scalars_a_value()));
  } else if (misfit) {
    PetscCheck(!context->left && !context->right && !context->diagonal, comm, PETSC_ERR_ARG_SIZ,
               "the kernelsum has been scaled by vectors, and cannot change its size; make another Mat");
    bool oblong;
    PetscCall(any_rank(comm, rows != columns, &oblong));
    PetscCheck(context->shift == (PetscScalar)0 || !oblong, comm, PETSC_ERR_ARG_SIZ,
               "the kernelsum has been shifted by MatShift(), and needs as many targets as sources on every rank; make "
               "another Mat");
    PetscLayout layouts[2];
    for (int side = 0; side < 2; side++) {
      PetscCall(PetscLayoutCreate(comm, &layouts[side]));
      PetscCall(PetscLayoutSetLocalSize(layouts[side], side ? columns : rows));
      PetscCall(
          PetscLayoutSetBlockSize(layouts[side], side ? context->scalars_a_value() : context->scalars_a_target()));
      PetscCall(PetscLayoutSetUp(layouts[side]));
    }
    PetscCall(MatSetLayouts(A, layouts[0], layouts[1]));
    for (PetscLayout &layout : layouts) PetscCall(PetscLayoutDestroy(&layout));
    for (Vec &work : context->work) PetscCall(VecDestroy(&work));
  }
  PetscLayout layouts[2];
  PetscCall(MatGetLayouts(A, &layouts[0], &layouts[1]));
  for (PetscLayout &layout : layouts) PetscCall(PetscLayoutSetUp(layout));
  PetscCall(MatSetVecType(A, context->vec_type.c_str()));
  context->sized = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- what is computed from the points ----------------------------------------------------------------------------------

static std::string names_of_functions(bool (*wanted)(const FunctionInfo &)) {
  std::string names;
  for (const FunctionInfo &info : kernel_functions())
    if (wanted(info)) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

// Errors for settings that do not go together.
static PetscErrorCode check_settings(Mat A, const KernelSumMat &context) {
  const FunctionInfo &info = context.info();
  MPI_Comm            comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCheck(context.self != MAT_KERNELSUM_SELF_LIMIT || !info.singular, comm, PETSC_ERR_ARG_INCOMP,
             "-mat_kernelsum_self limit: %s(x, x) has no finite limit; use zero or error", info.name);
  PetscCheck(context.has_wavenumber || !info.uses_wavenumber, comm, PETSC_ERR_ARG_WRONGSTATE,
             "the kernel %s, %s, needs its wavenumber k, which has no default; set -mat_kernelsum_wavenumber or call "
             "MatKernelSumSetWavenumber()%s",
             info.name, info.formula, context.formula ? "" : ". The kernel laplace is the one without k");
  PetscCheck(context.parameters.wavenumber > 0 || !info.uses_wavenumber || context.formula, comm,
             PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_kernelsum_wavenumber is 0, which makes the kernel %s, %s, that of laplace; set a positive k, or use "
             "the kernel laplace, which needs no k",
             info.name, info.formula);
  PetscCheck(!context.new_sigma || info.uses_sigma, comm, PETSC_ERR_ARG_INCOMP,
             "-mat_kernelsum_sigma %g has no effect: the kernel %s, %s, has no sigma; leave the option out, or choose "
             "another -mat_kernelsum_kernel: %s",
             context.parameters.sigma, info.name, info.formula,
             names_of_functions([](const FunctionInfo &f) { return f.uses_sigma; }).c_str());
  PetscCheck(
      !context.new_wavenumber || info.uses_wavenumber, comm, PETSC_ERR_ARG_INCOMP,
      "-mat_kernelsum_wavenumber %g has no effect: the kernel %s, %s, has no wavenumber; leave the option out, or "
      "choose another -mat_kernelsum_kernel: %s",
      context.parameters.wavenumber, info.name, info.formula,
      names_of_functions([](const FunctionInfo &f) { return f.uses_wavenumber; }).c_str());
  PetscCheck(
      !context.gradient || context.method != MAT_KERNELSUM_FAST, comm, PETSC_ERR_ARG_INCOMP,
      "-mat_kernelsum_type fast has no effect: sums of gradients are direct; use -mat_kernelsum_type auto, which "
      "takes a fast method where there is one, or give the matrix of gradients a prefix of its own");
  PetscCheck(!context.new_rtol || context.method != MAT_KERNELSUM_DIRECT, comm, PETSC_ERR_ARG_INCOMP,
             "-mat_kernelsum_rtol %g has no effect: direct sums are as accurate as their precision; leave the option "
             "out, or use -mat_kernelsum_type fast or auto",
             (double)context.rtol);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check_coincident(Mat A, const KernelSumMat &context) {
  PetscInt  target, source;
  PetscReal at[3];
  MPI_Comm  comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  if (context.self != MAT_KERNELSUM_SELF_ERROR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PointCloudsFindCoincident(comm, context.targets, context.sources, &target, &source, at));
  PetscCheck(target < 0, comm, PETSC_ERR_ARG_WRONG,
             "target %" PetscInt_FMT " and source %" PetscInt_FMT
             " are the same point (%g, %g, %g); move one, or use -mat_kernelsum_self zero%s",
             target, source, (double)at[0], (double)at[1], (double)at[2], context.info().singular ? "" : " or limit");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// About so many of all ranks' points on every rank, or of its own points on each: x[3 i + axis].
static PetscErrorCode gather_some(MPI_Comm comm, const PointCloud &cloud, PetscMemType memory, PetscInt wanted,
                                  bool own, std::vector<PetscReal> *x) {
  const PetscInt           step = std::max<PetscInt>(1, (own ? cloud.n : cloud.N) / wanted);
  std::vector<PetscInt>    chosen;
  std::vector<PetscReal>   mine;
  std::vector<PetscMPIInt> counts, starts;
  PointCloud              *some;
  Points                   points;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < cloud.n; i += step) chosen.push_back(i);
  PetscCall(PointCloudCreateChosen(comm, cloud, memory, chosen, &some));
  PetscCall(PointCloudGetPoints(some, PETSC_MEMTYPE_HOST, &points));
  for (size_t i = 0; i < chosen.size(); i++)
    for (int a = 0; a < 3; a++) mine.push_back(points.x[a][i]);
  PetscCall(PointCloudDestroy(&some));
  if (own) {
    *x = mine;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscMPIInt sum = 0;
  for (PetscInt n : cloud.counts) {
    starts.push_back(sum);
    counts.push_back((PetscMPIInt)(3 * ((n + step - 1) / step)));
    sum += counts.back();
  }
  x->resize((size_t)sum);
  PetscCallMPI(MPI_Allgatherv(mine.data(), (PetscMPIInt)mine.size(), MPIU_REAL, x->data(), counts.data(), starts.data(),
                              MPIU_REAL, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An error for a formula without a finite value at a distance between some targets and sources.
static PetscErrorCode check_finite(Mat A, const KernelSumMat &context) {
  std::vector<PetscReal> x, y;
  double                 least = INFINITY; // distance without a value
  MPI_Comm               comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  if (!context.formula) PetscFunctionReturn(PETSC_SUCCESS);
  const FormulaFunctions &functions = context.formula->functions();
  const bool              narrow = context.precision != MAT_KERNELSUM_DOUBLE;
  const double            unit = narrow ? free_unit<float>(context.parameters) : 1;
  PetscCall(gather_some(comm, *context.targets, context.memory(), 64, true, &x));
  PetscCall(gather_some(comm, *context.sources, context.memory(), 64, false, &y));
  for (size_t i = 0; i < x.size(); i += 3)
    for (size_t j = 0; j < y.size(); j += 3) {
      double r2 = 0;
      for (size_t a = 0; a < 3; a++) {
        const double step = ((double)x[i + a] - (double)y[j + a]) / unit;
        r2 += step * step;
      }
      if (!(r2 > 0) || (narrow && !((float)r2 > 0)) || unit * std::sqrt(r2) >= least) continue;
      if (!std::isfinite((narrow ? functions.value_in_single : functions.value)(context.parameters, r2).re))
        least = unit * std::sqrt(r2);
    }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, comm));
  PetscCheck(
      least == INFINITY, comm, PETSC_ERR_FP,
      "the formula %s has no finite value%s at r = %g, a distance between a target and a source; it may lack one "
      "only at r = 0: change the formula, its sigma or k%s",
      context.info().formula, narrow ? " in single precision" : "", least,
      narrow ? ", or use -mat_kernelsum_precision double" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumCheck(Mat A) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  PetscCall(check_settings(A, *context));
  context->new_sigma = context->new_wavenumber = context->new_rtol = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumSetSymmetry(Mat A) {
  KernelSumMat *context;
  PetscBool     symmetric = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  if (context->targets == context->sources && !context->gradient && !context->interleaved()) {
    if (context->left && context->right)
      PetscCall(VecEqual(context->left, context->right, &symmetric));
    else
      symmetric = context->left || context->right ? PETSC_FALSE : PETSC_TRUE;
  }
  // what a program has said of points that it knows to be equal stays
  if (symmetric || context->symmetric) PetscCall(MatSetOption(A, MAT_SYMMETRIC, symmetric));
  context->symmetric = symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumPrepare(Mat A) {
  KernelSumMat *context;
  PetscReal     lower[3], upper[3], extent = 0;
  FastSum      *fast = NULL;
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  PetscCall(check_settings(A, *context));
  PetscCall(check_coincident(A, *context));
  PetscCall(PointCloudsGetBox(comm, context->targets, context->sources, lower, upper));
  for (int a = 0; a < 3; a++) {
    context->center[a] = lower[a] + (upper[a] - lower[a]) / 2;
    extent = PetscMax(extent, upper[a] - lower[a]);
  }
  context->parameters.extent = extent > 0 ? std::exp2(std::ilogb((double)extent)) : 1;
  PetscCall(check_finite(A, *context));
  PetscCall(MatKernelSumCreateFast(A, &fast));
  PetscCall(FastSumDestroy(&context->fast));
  context->fast = fast;
  context->new_sigma = context->new_wavenumber = context->new_rtol = false;
  PetscCall(MatKernelSumSetSymmetry(A));
  context->ready = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumSetUp(Mat A) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  PetscCheck(context->targets, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "a Mat of type kernelsum needs its points; make it with MatCreateKernelSum(), or call "
             "MatKernelSumSetPoints() before MatSetUp()");
  if (!context->sized) PetscCall(MatKernelSumSetSizes(A));
  if (!context->lazy && !context->ready) PetscCall(MatKernelSumPrepare(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
