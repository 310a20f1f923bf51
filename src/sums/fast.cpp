// Which fast method, and of what order: measured against direct sums on a sample of the targets.

#include "sums/fast_sum.hpp"

#include <cmath>

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

// ‖y - f‖/‖f‖ over the sample, for f its direct sums; y of all targets.
static PetscErrorCode compare(MPI_Comm comm, Vec y, Vec f, PetscInt stride, PetscInt per_target, double *error) {
  const PetscScalar *all, *some;
  PetscInt           n;
  double             sums[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(f, &n));
  PetscCall(VecGetArrayRead(y, &all));
  PetscCall(VecGetArrayRead(f, &some));
  for (PetscInt i = 0; i < n; i++) {
    const PetscScalar value = all[i / per_target * stride * per_target + i % per_target], d = value - some[i];
    sums[0] += (double)(PetscRealPart(d) * PetscRealPart(d) + PetscImaginaryPart(d) * PetscImaginaryPart(d));
    sums[1] += (double)(PetscRealPart(some[i]) * PetscRealPart(some[i]) +
                        PetscImaginaryPart(some[i]) * PetscImaginaryPart(some[i]));
  }
  PetscCall(VecRestoreArrayRead(f, &some));
  PetscCall(VecRestoreArrayRead(y, &all));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm));
  *error = sums[1] > 0 ? std::sqrt(sums[0] / sums[1]) : std::sqrt(sums[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumSetUpFast(Mat A) {
  KernelSumMat *context;
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);
  PetscReal     lower[3], upper[3];
  PetscRandom   random;
  Vec           c, y, x, f;
  Mat           sample;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCall(drop(context));
  if (context->method == MAT_KERNELSUM_DIRECT || context->gradient) PetscFunctionReturn(PETSC_SUCCESS);
  // pairs a target: of the tree, of all; of the series, whose modes cost a third of a pair, twice
  const double rtol = context->rtol, digits = -std::log10(rtol);
  int          order = std::max(3, (int)std::ceil(1.2 * digits));
  bool         narrow = context->precision != MAT_KERNELSUM_DOUBLE || rtol >= 1e-6;
  double       epsilon = 0.1 * rtol;
  const double tree = 4e4 + 200. * order * order * order, all = (double)context->sources->N;
  double       fourier = INFINITY;
  PetscBool    gaussian;
  PetscCall(PetscStrcmp(context->info().name, "gaussian", &gaussian));
  PetscCall(PointCloudsGetBox(comm, context->targets, context->sources, lower, upper));
  if (gaussian && context->limit_is_own()) fourier = 0.7 * FourierSumModes(*context, lower, upper, epsilon);
  if (context->method == MAT_KERNELSUM_AUTO && all < 2 * std::min(tree, fourier)) PetscFunctionReturn(PETSC_SUCCESS);
  const bool series = fourier < tree;

  const PetscInt stride = std::max<PetscInt>(1, context->targets->N / 512);
  PetscCall(create_sample(A, stride, &x, &sample));
  PetscCall(MatCreateVecs(A, &c, &y));
  PetscCall(MatCreateVecs(sample, NULL, &f));
  PetscCall(PetscRandomCreate(comm, &random));
  PetscCall(PetscRandomSetSeed(random, 7));
  PetscCall(PetscRandomSeed(random));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  PetscCall(VecSetRandom(c, random));
  PetscCall(MatMult(sample, c, f));
  double last = INFINITY;
  for (int attempt = 0; attempt < 8; attempt++) {
    double error = 0;
    PetscCall(drop(context));
    if (series)
      PetscCall(FourierSumCreate(comm, *context, epsilon, &context->fast));
    else
      PetscCall(TreeSumCreate(comm, *context, order, narrow, &context->fast));
    PetscCall(MatMult(A, c, y));
    PetscCall(compare(comm, y, f, stride, context->scalars_a_target(), &error));
    context->fast->error = error;
    PetscCall(PetscInfo(A, "%s of order %d: error %g of the tolerance %g\n", series ? "Fourier series" : "treecode",
                        order, error, rtol));
    if (error <= rtol) break;
    if (narrow && context->precision == MAT_KERNELSUM_DOUBLE && error > 0.3 * last)
      narrow = false; // single precision is what limits it
    else {
      order += 2;
      epsilon *= 0.01;
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
  for (Vec *v : {&c, &y, &x, &f}) PetscCall(VecDestroy(v));
  PetscCall(MatDestroy(&sample));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
