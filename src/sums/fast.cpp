// Which fast method, and of what order: measured against direct sums on a sample of the targets.

#include <cmath>

#include "sums/fast_sum.hpp"

namespace shellac {

static PetscErrorCode drop(KernelSumMat *context) {
  PetscFunctionBegin;
  if (context->fast) PetscCall(context->fast->Destroy());
  delete context->fast;
  context->fast = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Direct sums in double precision at every `stride`-th target of this rank, of the vector c.
static PetscErrorCode create_sample(Mat A, PetscInt stride, Vec *x, Mat *S) {
  KernelSumMat *context;
  PetscScalar  *coordinates;
  PetscInt      n = 0;
  Vec           sources;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  const PointCloud &targets = *context->targets, &from = *context->sources;
  for (int side = 0; side < 2; side++) {
    const PointCloud &cloud = side ? from : targets;
    const PetscInt    step = side ? 1 : stride, count = (cloud.n + step - 1) / step;
    Vec              *v = side ? &sources : x;
    PetscCall(VecCreate(PetscObjectComm((PetscObject)A), v));
    PetscCall(VecSetBlockSize(*v, targets.dim));
    PetscCall(VecSetSizes(*v, count * targets.dim, PETSC_DETERMINE));
    PetscCall(VecSetType(*v, context->vec_type.c_str()));
    PetscCall(VecGetArrayWrite(*v, &coordinates));
    n = 0;
    for (PetscInt i = 0; i < cloud.n; i += step)
      for (int a = 0; a < targets.dim; a++) coordinates[n++] = cloud.x[(size_t)a * cloud.n + i];
    PetscCall(VecRestoreArrayWrite(*v, &coordinates));
  }
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), S));
  PetscCall(MatSetType(*S, MATKERNELSUM));
  PetscCall(MatKernelSumSetKernel(*S, context->info().name));
  PetscCall(MatKernelSumSetSigma(*S, (PetscReal)context->parameters.sigma));
  PetscCall(MatKernelSumSetWavenumber(*S, (PetscReal)context->parameters.wavenumber));
  PetscCall(MatKernelSumSetSelf(*S, context->self));
  PetscCall(MatKernelSumSetPoints(*S, *x, sources));
  PetscCall(MatSetUp(*S));
  PetscCall(VecDestroy(&sources));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Adds ‖y - f‖² and ‖f‖² over the sample to the sums of this rank, for f its direct sums; y of all targets.
static PetscErrorCode add_squares(Vec y, Vec f, PetscInt stride, PetscInt per_target, double sums[2]) {
  const PetscScalar *all, *some;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(f, &n));
  PetscCall(VecGetArrayRead(y, &all));
  PetscCall(VecGetArrayRead(f, &some));
  for (PetscInt i = 0; i < n; i++) {
    const PetscScalar d = all[i / per_target * stride * per_target + i % per_target] - some[i];
    sums[0] += (double)PetscRealPart(d * PetscConj(d));
    sums[1] += (double)PetscRealPart(some[i] * PetscConj(some[i]));
  }
  PetscCall(VecRestoreArrayRead(f, &some));
  PetscCall(VecRestoreArrayRead(y, &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumSetUpFast(Mat A) {
  KernelSumMat *context;
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);
  PetscReal     lower[3], upper[3];
  PetscRandom   random;
  constexpr int trials = 3; // vectors: one alone may have a small sum by chance
  Vec           c[trials], f[trials], y, x;
  Mat           sample;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCall(drop(context));
  if (context->method == MAT_KERNELSUM_DIRECT || context->gradient) PetscFunctionReturn(PETSC_SUCCESS);
  // pairs a target: of the tree, of all; of the series, whose modes cost a third of a pair, twice
  const double rtol = context->rtol;
  int          order = std::max(3, (int)std::lround(0.79 * -std::log(rtol))); // each multiplies the error by about 0.35
  int          narrow = rtol >= 1e-7 ? 1 : 0; // near pairs may be closer than single precision can tell
  double       epsilon = std::min(1e-2, 10 * rtol);
  const double tree = 4e4 + 200. * order * order * order, all = (double)context->sources->N;
  double       fourier = INFINITY;
  PetscBool    gaussian;
  PetscCall(PetscStrcmp(context->info().name, "gaussian", &gaussian));
  PetscCall(PointCloudsGetBox(comm, context->targets, context->sources, lower, upper));
  if (gaussian && context->limit_is_own()) fourier = 0.7 * FourierSumModes(*context, lower, upper, epsilon);
  if (context->method == MAT_KERNELSUM_AUTO && all < 2 * std::min(tree, fourier)) PetscFunctionReturn(PETSC_SUCCESS);
  bool series = fourier < tree;

  const PetscInt stride = std::max<PetscInt>(1, context->targets->N / 512);
  PetscCall(create_sample(A, stride, &x, &sample));
  PetscCall(MatCreateVecs(A, NULL, &y));
  PetscCall(PetscRandomCreate(comm, &random));
  PetscCall(PetscRandomSetSeed(random, 7));
  PetscCall(PetscRandomSeed(random));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  for (int t = 0; t < trials; t++) {
    PetscCall(MatCreateVecs(A, &c[t], NULL));
    PetscCall(MatCreateVecs(sample, NULL, &f[t]));
    PetscCall(VecSetRandom(c[t], random));
    PetscCall(MatMult(sample, c[t], f[t]));
  }
  double last = INFINITY;
  for (int attempt = 0; attempt < 12; attempt++) {
    double error = 0;
    PetscCall(drop(context));
    series = series && FourierSumModes(*context, lower, upper, epsilon) < INFINITY;
    if (series)
      PetscCall(FourierSumCreate(comm, *context, epsilon, &context->fast));
    else
      PetscCall(TreeSumCreate(comm, *context, order, narrow, &context->fast));
    double sums[2] = {0, 0};
    for (int t = 0; t < trials; t++) {
      PetscCall(MatMult(A, c[t], y));
      PetscCall(add_squares(y, f[t], stride, context->scalars_a_target(), sums));
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm));
    error = std::sqrt(sums[1] > 0 ? sums[0] / sums[1] : sums[0]);
    context->fast->error = error;
    PetscCall(PetscInfo(A, "%s of order %d: error %g of the tolerance %g\n", series ? "Fourier series" : "treecode",
                        order, error, rtol));
    // with a margin, since it is a sample's, unless single precision stands in its way
    if (error <= 0.5 * rtol || (error <= 0.9 * rtol && error > 0.7 * last)) break;
    if (narrow && !series && error > 0.7 * last)
      narrow--; // single precision is what limits it
    else {
      order += error < 100 * rtol ? std::max(1, (int)std::lround(std::log(error / rtol))) : 4;
      epsilon *= std::min(0.1, 0.3 * rtol / error);
    }
    last = error;
  }
  context->products = 0; // of the user
  PetscCheck(context->fast->error <= rtol, comm, PETSC_ERR_NOT_CONVERGED,
             "the fast sum has an error of %g, more than -mat_kernelsum_rtol %g; ask for a larger one, or use "
             "-mat_kernelsum_type direct%s",
             context->fast->error, rtol,
             context->precision == MAT_KERNELSUM_DOUBLE ? "" : " or -mat_kernelsum_precision double");
  PetscCall(PetscRandomDestroy(&random));
  for (int t = 0; t < trials; t++) {
    PetscCall(VecDestroy(&c[t]));
    PetscCall(VecDestroy(&f[t]));
  }
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&sample));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
