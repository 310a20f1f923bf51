// Which fast method, and of what order: measured against direct sums on a sample of the targets.

#include <cmath>

#include "device/arrays.hpp"
#include "sums/fast_sum.hpp"

namespace shellac {

PetscErrorCode FastSumDestroy(FastSum **fast) {
  PetscFunctionBegin;
  if (*fast) PetscCall((*fast)->Destroy());
  delete *fast;
  *fast = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

constexpr int trials = 3; // vectors: one alone may have a small sum by chance

// A test of A, or of its transpose: random vectors c and their direct sums f in double precision at some targets.
struct Test {
  bool                  transposed = false;
  std::vector<PetscInt> chosen;        // of this rank's targets
  PointCloud           *sample = NULL; // those
  Vec                   c[trials] = {}, f[trials] = {}, y = NULL;
};

// Sums by `fast` at all targets, or directly in double precision at those of a sample where it is null.
PetscErrorCode sum(MPI_Comm comm, const KernelSumMat &context, const Test &test, FastSum *fast, Vec c, Vec y) {
  Arrays             arrays;
  const PetscScalar *in = NULL;
  PetscScalar       *out = NULL;
  PointCloud        *sources = test.transposed ? context.targets : context.sources;
  PointCloud        *targets = test.transposed ? context.sources : context.targets;

  PetscFunctionBegin;
  PetscCall(arrays.Read(c, &in));
  PetscCall(arrays.Write(y, &out));
  Layout layout = KernelSumLayout(context, test.transposed, test.transposed && context.interleaved(), 1, in, 0, out, 0);
  layout.sum.memory = arrays.memory();
  PetscCall(PointCloudGetPoints(fast ? targets : test.sample, layout.sum.memory, &layout.sum.targets));
  if (fast)
    PetscCall(fast->Apply(comm, test.transposed, layout));
  else {
    layout.narrow = false;
    PetscCall(VisitInRing(comm, sources, layout,
                          [](const Layout &block, PetscMPIInt, int) { return KernelSumPairs(block); }));
  }
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A number that has nothing to do with i: the points of a sample follow no order that the targets have, a grid's say
// (G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, 2014).
PetscInt scattered(PetscInt i, PetscInt below) {
  uint64_t z = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (PetscInt)((z ^ (z >> 31)) % (uint64_t)below);
}

PetscErrorCode create_test(Mat A, const KernelSumMat &context, bool transposed, Test *test) {
  constexpr PetscInt       samples = 512;
  const PointCloud        &targets = *(transposed ? context.sources : context.targets);
  const PetscInt           run = std::max<PetscInt>(1, targets.N / samples);
  std::vector<PetscScalar> coordinates;
  MPI_Comm                 comm = PetscObjectComm((PetscObject)A);
  PetscRandom              random;

  PetscFunctionBegin;
  test->transposed = transposed;
  for (PetscInt from = 0; from < targets.n; from += run) { // one of each run
    const PetscInt i = from + scattered(targets.first + from, PetscMin(run, targets.n - from));
    test->chosen.push_back(i);
    for (int a = 0; a < 3; a++) coordinates.push_back(targets.x[(size_t)a * targets.n + i]);
  }
  const PetscInt n = (PetscInt)test->chosen.size();
  PetscCall(PointCloudCreate(comm, "sample", 3, n, coordinates.data(), &test->sample));
  PetscCall(PetscRandomCreate(comm, &random));
  PetscCall(PetscRandomSetSeed(random, 7));
  PetscCall(PetscRandomSeed(random));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  PetscCall(MatCreateVecs(A, transposed ? &test->y : NULL, transposed ? NULL : &test->y));
  for (int t = 0; t < trials; t++) {
    PetscCall(MatCreateVecs(A, transposed ? NULL : &test->c[t], transposed ? &test->c[t] : NULL));
    PetscCall(VecSetRandom(test->c[t], random));
    PetscCall(VecCreate(comm, &test->f[t]));
    PetscCall(VecSetSizes(test->f[t], n * context.scalars_a_value(), PETSC_DETERMINE));
    PetscCall(VecSetType(test->f[t], context.vec_type.c_str()));
    PetscCall(sum(comm, context, *test, NULL, test->c[t], test->f[t]));
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy_test(Test *test) {
  PetscFunctionBegin;
  PetscCall(PointCloudDestroy(&test->sample));
  for (int t = 0; t < trials; t++) {
    PetscCall(VecDestroy(&test->c[t]));
    PetscCall(VecDestroy(&test->f[t]));
  }
  PetscCall(VecDestroy(&test->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ‖y - f‖/‖f‖ over the sample and all vectors, y of the fast method; infinite where it is not a number.
PetscErrorCode measure(MPI_Comm comm, const KernelSumMat &context, const Test &test, FastSum *fast, double *error) {
  const PetscScalar *all, *some;
  const size_t       per_target = context.scalars_a_value();
  double             sums[2] = {0, 0};

  PetscFunctionBegin;
  for (int t = 0; t < trials; t++) {
    PetscCall(sum(comm, context, test, fast, test.c[t], test.y));
    PetscCall(VecGetArrayRead(test.y, &all));
    PetscCall(VecGetArrayRead(test.f[t], &some));
    for (size_t i = 0; i < test.chosen.size() * per_target; i++) {
      const PetscScalar d = all[test.chosen[i / per_target] * per_target + i % per_target] - some[i];
      sums[0] += (double)PetscRealPart(d * PetscConj(d));
      sums[1] += (double)PetscRealPart(some[i] * PetscConj(some[i]));
    }
    PetscCall(VecRestoreArrayRead(test.f[t], &some));
    PetscCall(VecRestoreArrayRead(test.y, &all));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm));
  *error = std::sqrt(sums[1] > 0 ? sums[0] / sums[1] : sums[0]);
  if (!(*error < INFINITY)) *error = INFINITY;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatKernelSumCreateFast(Mat A, FastSum **fast) {
  KernelSumMat *context;
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);
  PetscReal     lower[3], upper[3];
  PetscBool     gaussian;

  PetscFunctionBegin;
  *fast = NULL;
  PetscCall(MatShellGetContext(A, (void *)&context));
  if (context->method == MAT_KERNELSUM_DIRECT || context->gradient) PetscFunctionReturn(PETSC_SUCCESS);
  // pairs a target: of the tree, of all; of the series, whose modes cost a third of a pair, twice
  const double rtol = context->rtol;
  int          order = std::max(3, (int)std::lround(0.79 * -std::log(rtol))); // each multiplies the error by about 0.35
  int          narrow = rtol >= 1e-6 ? 2 : rtol >= 1e-7 ? 1 : 0;
  double       epsilon = std::min(1e-2, 0.2 * rtol);
  const double tree = 4e4 + 200. * order * order * order, all = (double)context->sources->N;
  double       fourier = INFINITY;
  PetscCall(PetscStrcmp(context->info().name, "gaussian", &gaussian));
  PetscCall(PointCloudsGetBox(comm, context->targets, context->sources, lower, upper));
  if (gaussian && context->limit_is_own()) fourier = 0.7 * FourierSumModes(*context, lower, upper, epsilon);
  if (context->method == MAT_KERNELSUM_AUTO && all < 2 * std::min(tree, fourier)) PetscFunctionReturn(PETSC_SUCCESS);
  bool series = fourier < tree;

  // sums of equal points are their own transposes
  const int tests = context->targets == context->sources ? 1 : 2;
  Test      test[2];
  for (int t = 0; t < tests; t++) PetscCall(create_test(A, *context, t == 1, &test[t]));
  double error = INFINITY;
  int    lower_order = order; // of the attempt before
  for (int attempt = 0; attempt < 12; attempt++) {
    const double last = error;
    FastSum     *made;
    series = series && FourierSumModes(*context, lower, upper, epsilon) < INFINITY;
    if (!series && context->method == MAT_KERNELSUM_AUTO && all < 2 * tree) break;
    if (series)
      PetscCall(FourierSumCreate(comm, *context, epsilon, &made));
    else
      PetscCall(TreeSumCreate(comm, *context, order, epsilon, narrow, &made));
    error = 0;
    for (int t = 0; t < tests; t++) {
      double of_test = INFINITY;
      PetscCall(measure(comm, *context, test[t], made, &of_test));
      error = std::max(error, of_test);
    }
    made->error = error;
    PetscCall(PetscInfo(A, "%s of order %d: error %g of the tolerance %g\n", series ? "Fourier series" : "treecode",
                        order, error, rtol));
    // With a margin, since it is that of a few vectors. A smooth function has few independent sums: those of one vector
    // may all be small by chance, and their relative error several times the mean. A series of more modes costs little.
    // A margin that rounding does not allow is a smaller one.
    const bool   stalled = attempt > 0 && error > 0.7 * last;
    const double limit = (stalled && context->info().singular ? 0.9 : series && !stalled ? 0.2 : 0.5) * rtol;
    if (last <= limit) { // the cheaper one does as well
      error = last;
      PetscCall(FastSumDestroy(&made));
      break;
    }
    PetscCall(FastSumDestroy(fast));
    *fast = made;
    if (error <= limit) break;
    if (narrow && !series && (stalled || error == INFINITY)) {
      narrow--; // single precision is what limits it
      order = lower_order;
      continue;
    }
    if (error == INFINITY || (!series && order >= max_tree_order && (!gaussian || epsilon < 1e-100))) break;
    lower_order = order;
    order = std::min(max_tree_order,
                     order + (error < 100 * rtol ? std::max(1, (int)std::lround(std::log(error / rtol))) : 4));
    epsilon = std::max(1e-300, epsilon * std::min(0.1, 0.3 * rtol / error));
  }
  for (int t = 0; t < tests; t++) PetscCall(destroy_test(&test[t]));
  if (error <= rtol) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FastSumDestroy(fast));
  PetscCheck(context->method == MAT_KERNELSUM_AUTO, comm, PETSC_ERR_NOT_CONVERGED,
             "the fast sum has an error of %g, more than -mat_kernelsum_rtol %g; ask for a larger one, or use "
             "-mat_kernelsum_type direct or auto%s",
             error, rtol, context->precision == MAT_KERNELSUM_DOUBLE ? "" : ", or -mat_kernelsum_precision double");
  PetscCall(PetscInfo(A, "no fast sum keeps the tolerance %g: sums are direct\n", rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
