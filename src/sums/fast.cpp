// Chooses the fast method and its order by measured errors, compared with direct sums on a sample of the targets.

#include <cmath>

#include "device/arrays.hpp"
#include "device/launch.hpp"
#include "sums/fast_sum.hpp"
#include "sums/regions.hpp"

namespace shellac {

PetscErrorCode FastSumDestroy(FastSum **fast) {
  PetscFunctionBegin;
  if (*fast) PetscCall((*fast)->Destroy());
  delete *fast;
  *fast = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// Vectors of a test: one alone may have a small sum by chance, where a smooth function has few independent sums.
constexpr int trials = 3;

// A test of A, or of its transpose: random vectors c and their direct sums f in double precision at some targets.
struct Test {
  bool        transposed = false;
  int         vectors = trials;
  PointSample sample;
  PointCloud *sources = NULL; // all of them, or some: c has values at these
  Vec         c[trials] = {}, f[trials] = {}, y = NULL;

  Mirror<PetscReal> targets; // all ranks' samples: three arrays of coordinates
};

// A vector of values at so many of this rank's points.
PetscErrorCode create_vector(MPI_Comm comm, const KernelSumMat &context, PetscInt points, Vec *v) {
  PetscFunctionBegin;
  PetscCall(VecCreate(comm, v));
  PetscCall(VecSetSizes(*v, points * context.scalars_a_value(), PETSC_DETERMINE));
  PetscCall(VecSetType(*v, context.vec_type.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a test sums, into y. The targets are the caller's.
PetscErrorCode layout_of(const KernelSumMat &context, const Test &test, Vec c, Vec y, Arrays *arrays, Layout *layout) {
  const PetscScalar *in = NULL;
  PetscScalar       *out = NULL;

  PetscFunctionBegin;
  PetscCall(arrays->Read(c, &in));
  PetscCall(arrays->Write(y, &out));
  *layout = KernelSumLayout(context, test.transposed, test.transposed && context.interleaved(), 1, in, 0, out, 0);
  layout->sum.memory = arrays->memory();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Sums at the sample's targets by `fast`.
PetscErrorCode sum(MPI_Comm comm, const KernelSumMat &context, const Test &test, FastSum *fast, Vec c, Vec y) {
  Arrays arrays;
  Layout layout;

  PetscFunctionBegin;
  PetscCall(layout_of(context, test, c, y, &arrays, &layout));
  PetscCall(PointCloudGetPoints(test.sample.points, layout.sum.memory, &layout.sum.targets));
  PetscCall(fast->Apply(comm, test.transposed, layout));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same directly, in double precision. The targets are few: each rank sums its sources at all of them.
PetscErrorCode sum_directly(MPI_Comm comm, const KernelSumMat &context, Test *test, Vec c, Vec f) {
  const PointCloud &sample = *test->sample.points;
  const PetscInt    scalars = context.scalars_a_value();
  const PetscReal  *at;
  Arrays            arrays;
  Layout            layout;
  Vec               all;
  PetscScalar      *sums, *own;
  PetscMPIInt       count;

  PetscFunctionBegin;
  PetscCall(create_vector(PETSC_COMM_SELF, context, sample.N, &all));
  PetscCall(layout_of(context, *test, c, all, &arrays, &layout));
  layout.narrow = false;
  PairSum &s = layout.sum;
  if (s.formula) PetscCall(s.formula->NeedKernels(comm, s.memory, false));
  PetscCall(test->targets.Get(s.memory, &at));
  for (int a = 0; a < 3; a++) s.targets.x[a] = at + (size_t)a * (size_t)sample.N;
  s.targets.n = sample.N;
  PetscCall(PointCloudGetPoints(test->sources, s.memory, &s.sources));
  PetscCall(KernelSumPairs(layout));
  PetscCall(arrays.Restore());
  PetscCall(PetscMPIIntCast(sample.N * scalars, &count));
  PetscCall(VecGetArray(all, &sums));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, count, MPIU_SCALAR, MPIU_SUM, comm));
  PetscCall(VecGetArrayWrite(f, &own));
  std::copy_n(sums + sample.first * scalars, sample.n * scalars, own);
  PetscCall(VecRestoreArrayWrite(f, &own));
  PetscCall(VecRestoreArray(all, &sums));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A pseudorandom number from n (G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, 2014).
SHELLAC_INLINE uint64_t mixed(uint64_t n) {
  uint64_t z = (n + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Random values between -1 and 1 that depend only on their global numbers, not on the ranks.
struct SetRandom {
  PetscScalar *values;
  uint64_t     first;

  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    values[i] = (PetscReal)((double)(mixed(first + (uint64_t)i) >> 11) * 0x1p-52 - 1);
  }
};

PetscErrorCode set_random(Vec v, int trial) {
  Arrays       arrays;
  PetscScalar *values;
  PetscInt     first, n;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &first, NULL));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(arrays.Write(v, &values));
  PetscCall(
      for_each(arrays.memory(), line_of((size_t)n), SetRandom{values, ((uint64_t)trial << 48) + (uint64_t)first}));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// About so many of all ranks' points: one of each run, in no order that they have, a grid's say.
PetscErrorCode create_sample(MPI_Comm comm, const PointCloud &all, PetscMemType memory, PetscInt samples,
                             PointSample *sample) {
  const PetscInt run = std::max<PetscInt>(1, all.N / samples);

  PetscFunctionBegin;
  for (PetscInt from = 0; from < all.n; from += run) {
    const PetscInt most = PetscMin(run, all.n - from);
    sample->chosen.push_back(from + (PetscInt)(mixed((uint64_t)(all.first + from)) % (uint64_t)most));
  }
  PetscCall(PointCloudCreateChosen(comm, all, memory, sample->chosen, &sample->points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The error of a Fourier series is the same for all pairs at a given distance: its test uses only some of the sources.
PetscErrorCode create_test(MPI_Comm comm, const KernelSumMat &context, bool transposed, bool series, Test *test) {
  PointCloud *sources = transposed ? context.targets : context.sources;

  PetscFunctionBegin;
  test->transposed = transposed;
  test->vectors = context.info().singular ? 1 : trials;
  PetscCall(
      create_sample(comm, *(transposed ? context.sources : context.targets), context.memory(), 512, &test->sample));
  if (series) {
    PointSample some;
    PetscCall(create_sample(comm, *sources, context.memory(), 16384, &some));
    test->sources = some.points;
  } else {
    test->sources = sources;
    sources->references++;
  }
  PetscCall(PointCloudGather(comm, test->sample.points, &test->targets.change()));
  for (int t = 0; t < test->vectors; t++) {
    PetscCall(create_vector(comm, context, test->sources->n, &test->c[t]));
    PetscCall(create_vector(comm, context, test->sample.points->n, &test->f[t]));
    PetscCall(set_random(test->c[t], t));
    PetscCall(sum_directly(comm, context, test, test->c[t], test->f[t]));
  }
  PetscCall(VecDuplicate(test->f[0], &test->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy_test(Test *test) {
  PetscFunctionBegin;
  PetscCall(PointCloudDestroy(&test->sample.points));
  PetscCall(PointCloudDestroy(&test->sources));
  test->sample.chosen.clear();
  for (int t = 0; t < test->vectors; t++) {
    PetscCall(VecDestroy(&test->c[t]));
    PetscCall(VecDestroy(&test->f[t]));
  }
  PetscCall(VecDestroy(&test->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ‖y - f‖/‖f‖ over the sample, y of the fast method, in the mean over the vectors; infinite where it is not a number.
PetscErrorCode measure(MPI_Comm comm, const KernelSumMat &context, const Test &test, FastSum *fast, double *error) {
  PetscReal norm, sums[2] = {0, 0};

  PetscFunctionBegin;
  for (int t = 0; t < test.vectors; t++) {
    PetscCall(sum(comm, context, test, fast, test.c[t], test.y));
    PetscCall(VecAXPY(test.y, -1, test.f[t]));
    for (int which = 0; which < 2; which++) {
      PetscCall(VecNorm(which ? test.f[t] : test.y, NORM_2, &norm));
      sums[which] += norm * norm;
    }
  }
  *error = std::sqrt((double)(sums[1] > 0 ? sums[0] / sums[1] : sums[0]));
  if (!(*error < INFINITY)) *error = INFINITY;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What sums cost on a device, for each target, in pairs of a direct sum. Measured for Gaussians in 2-D and 3-D, and 1/r
// (`shellac_bench_sums`, with -host on the host).
struct Costs {
  double tree, cut;       // a tree; one of a function that has decayed at most of the sources
  double point, gaussian; // an interpolation point of a cluster, with any function, with a Gaussian
  double mode;            // of a Fourier series, there and back: on the host 0.4 to 1.6, by the width of its vectors

  static Costs of(PetscMemType memory) {
    return PetscMemTypeHost(memory) ? Costs{5e3, 1e3, 60, 60, 1} : Costs{4e4, 4e4, 60, 200, 0.7};
  }
  // Of a tree with so many interpolation points in a cluster, and so many of all sources within reach of a target.
  double of_tree(double points, bool of_gaussian, double within, double all) const {
    const double of_any = tree + (of_gaussian ? gaussian : point) * points;
    return within < all / 4 ? std::min(of_any, cut + 2 * within) : of_any;
  }
};

// About how many sources are nearer to a target than this.
double sources_within(double reach, double sources, const PetscReal lower[3], const PetscReal upper[3]) {
  for (int a = 0; a < 3; a++)
    if (upper[a] > lower[a]) sources *= std::min(1., 2 * reach / (double)(upper[a] - lower[a]));
  return sources;
}

// A fast method and what it computes with.
struct Choice {
  bool         series;
  TreeSettings tree; // its epsilon is the series', too
  double       error = INFINITY;
  int          tried = 0; // before this one, and this one
};

// The method of the tests of A and of its transpose, or of all points where there are none.
PetscErrorCode create(MPI_Comm comm, const KernelSumMat &context, const Choice &choice, const Test *const tests[2],
                      TreesOfPoints *trees, FastSum **fast) {
  const PointSample *samples[2] = {tests ? &tests[0]->sample : NULL, tests ? &tests[1]->sample : NULL};
  PointCloud *sources[2] = {tests ? tests[0]->sources : context.sources, tests ? tests[1]->sources : context.targets};

  PetscFunctionBegin;
  if (choice.series) {
    PetscCall(FourierSumCreate(comm, context, sources, choice.tree.epsilon, fast));
  } else {
    PetscCall(trees->Build(comm, context));
    PetscCall(TreeSumCreate(comm, context, trees, choice.tree, samples, fast));
  }
  (*fast)->error = choice.error;
  (*fast)->tried = choice.tried;
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
  // The first order is that of an a-priori estimate, with which the first measurement is mostly the last: each order
  // multiplies the error by about 0.26.
  const double rtol = context->rtol;
  const bool   singular = context->info().singular;
  const int    order = std::max(3, (int)std::lround(1 - 0.75 * std::log(rtol)));
  // The closest pairs of a singular function may be the largest terms, single precision may not know their distance, and
  // a sample of the targets mostly lacks them.
  const int     close = singular ? 1 : 2;
  const int     narrow = rtol >= 1e-6 ? close : rtol >= 1e-7 ? 1 : 0;
  Choice        now = {false, {order, narrow, std::min(1e-2, 0.2 * rtol)}}, best = now;
  TreeSettings &tree = now.tree;
  const double  all = (double)context->sources->N;
  double        modes = INFINITY, points = 2; // interpolation points of a cluster
  PetscCall(PetscStrcmp(context->info().name, "gaussian", &gaussian));
  PetscCall(PointCloudsGetBox(comm, context->targets, context->sources, lower, upper));
  for (int a = 0; a < 3; a++)
    if (upper[a] > lower[a]) points *= 0.5 * order;
  const Costs  costs = Costs::of(context->memory());
  const double reach = KernelReach(*context, tree.epsilon);
  const double tree_cost = costs.of_tree(points, gaussian, sources_within(reach, all, lower, upper), all);
  if (gaussian && context->limit_is_own()) modes = FourierSumModes(*context, lower, upper, tree.epsilon);
  const bool automatic = context->method == MAT_KERNELSUM_AUTO;
  now.series = costs.mode * modes < tree_cost;
  if (automatic && all < 2 * std::min(costs.mode * modes, tree_cost)) PetscFunctionReturn(PETSC_SUCCESS);

  // sums of equal points are their own transposes
  const int         tests = context->targets == context->sources ? 1 : 2;
  Test              test[2];
  TreesOfPoints     trees;
  const Test *const measured[2] = {&test[0], &test[tests - 1]};
  bool              series = !now.series; // of the tests that there are: none
  int               lower_order = order;  // of the attempt before
  for (int attempt = 0; attempt < 12; attempt++) {
    const double last = best.error;
    FastSum     *made;
    now.series = now.series && FourierSumModes(*context, lower, upper, tree.epsilon) < INFINITY;
    if (!now.series && automatic && all < 2 * tree_cost) break;
    for (int t = 0; t < tests && series != now.series; t++) {
      PetscCall(destroy_test(&test[t]));
      PetscCall(create_test(comm, *context, t == 1, now.series, &test[t]));
    }
    series = now.series;
    PetscCall(create(comm, *context, now, measured, &trees, &made));
    now.error = 0;
    now.tried = attempt + 1;
    for (int t = 0; t < tests; t++) {
      double of_test = INFINITY;
      PetscCall(measure(comm, *context, test[t], made, &of_test));
      now.error = std::max(now.error, of_test);
    }
    PetscCall(FastSumDestroy(&made));
    const double error = now.error;
    PetscCall(PetscInfo(A, "%s of order %d: error %g of the tolerance %g\n", now.series ? "Fourier series" : "trees",
                        tree.order, error, rtol));
    // With a margin, since it is that of a few vectors. A smooth function has few independent sums: those of one vector
    // may all be small by chance, and their relative error several times the mean. A series of more modes costs little.
    // A margin that rounding does not allow is a smaller one.
    const bool   stalled = attempt > 0 && error > 0.7 * last;
    const double limit = (stalled && singular ? 0.9 : now.series && !stalled ? 0.2 : 0.5) * rtol;
    if (last <= limit) break; // the cheaper one does as well
    best = now;
    if (error <= limit) break;
    if (tree.narrow && !now.series && (stalled || error == INFINITY)) {
      tree.narrow--; // single precision is what limits it
      tree.order = lower_order;
      continue;
    }
    if (error == INFINITY ||
        (!now.series && tree.order >= max_tree_order && (reach == INFINITY || tree.epsilon < 1e-100)))
      break;
    lower_order = tree.order;
    tree.order = std::min(
        max_tree_order, tree.order + (error < 100 * rtol ? std::max(1, (int)std::lround(std::log(error / rtol))) : 4));
    tree.epsilon = std::max(1e-300, tree.epsilon * std::min(0.1, 0.3 * rtol / error));
  }
  for (int t = 0; t < tests; t++) PetscCall(destroy_test(&test[t]));
  if (best.error <= rtol) {
    PetscCall(create(comm, *context, best, NULL, &trees, fast));
    PetscCall(trees.Destroy());
    if (automatic && !best.series) { // now the pairs are known
      double pairs[2] = {(*fast)->Terms(false) + 2 * points * (double)context->targets->n,
                         all * (double)context->targets->n};
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, pairs, 2, MPI_DOUBLE, MPI_SUM, comm));
      if (pairs[0] > pairs[1]) PetscCall(FastSumDestroy(fast));
      PetscCall(PetscInfo(A, "trees: %g pairs, direct sums: %g\n", pairs[0], pairs[1]));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(trees.Destroy());
  PetscCheck(automatic, comm, PETSC_ERR_NOT_CONVERGED,
             "the fast sum has an error of %g, more than -mat_kernelsum_rtol %g; ask for a larger one, or use "
             "-mat_kernelsum_type direct or auto%s",
             best.error, rtol,
             context->precision == MAT_KERNELSUM_DOUBLE ? "" : ", or -mat_kernelsum_precision double");
  PetscCall(PetscInfo(A, "no fast sum keeps the tolerance %g: sums are direct\n", rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
