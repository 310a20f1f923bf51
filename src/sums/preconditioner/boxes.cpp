// Set-up of the boxes: their points, and rows of the inverses of their matrices.

#include "sums/preconditioner/schwarz.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "device/sort.hpp"
#include "sums/regions.hpp"

namespace shellac {

Shape shape_of(const KernelSumMat &context) {
  const FunctionInfo &info = context.info();
  const auto          size = [&](double r) {
    const Complex<double> g = info.value(context.parameters, r * r);
    return std::hypot(g.re, g.im);
  };
  Shape shape;
  if (info.singular) return shape;
  const double at_zero = size(0), far = 4 * context.parameters.extent;
  const auto   is_near = [&](double r) { return size(r) > at_zero / 2 && size(r) < 2 * at_zero; };
  double       inside = 1e-8 * far, outside = inside;
  while (outside < far && is_near(outside)) inside = outside, outside *= 1.5;
  if (is_near(outside)) inside = outside = INFINITY; // wider than the points
  for (int step = 0; step < 10 && inside < outside; step++) {
    const double middle = (inside + outside) / 2;
    (is_near(middle) ? inside : outside) = middle;
  }
  shape.width = outside;
  shape.grows = size(std::min(outside, far)) > at_zero;
  shape.fast = outside < far && size(3.5 * outside) < 1e-3 * at_zero;
  return shape;
}

// The number of points around a box. The inverse of a Gaussian's matrix decays more slowly with the distance between
// points than that of slowly decaying kernels, and it decays over more points for wider kernels.
static PetscInt default_overlap(const Shape &shape, bool symmetric, int dim, double spacing) {
  struct Law {
    double points, power; // so many for the width σ = 1 spacing, times the power of wider ones
  };
  constexpr struct {
    Law    gaussian, multiquadric, raised; // the first of fast decay, the second of others
    double most;
  } laws[] = {{{64, 0.5}, {48, 0.5}, {96, 0}, 256},
              {{230, 1.25}, {240, 0.5}, {320, 0}, 1500},
              {{600, 1.75}, {384, 0.75}, {512, 0}, 2000}};
  const auto &of_dim = laws[dim - 1];
  const Law   law = shape.fast ? of_dim.gaussian : shape.grows && symmetric ? of_dim.raised : of_dim.multiquadric;
  const double sigma = shape.width / (shape.fast ? 1.1774 : 1.7321); // √(2 log 2), √3: where these have fallen to half
  return (PetscInt)std::min(of_dim.most, law.points * std::pow(std::max(1., sigma / spacing), law.power));
}

// For functions that are positive definite only for coefficients whose sum is zero: the constant that makes them
// positive definite, twice the largest value between two points, and the sign of the matrix.
static PetscErrorCode get_raising(MPI_Comm comm, const KernelSumMat &context, double *sign, double *level) {
  PetscReal lower[3], upper[3];
  double    r2 = 0;

  PetscFunctionBegin;
  PetscCall(PointCloudsGetBox(comm, context.targets, context.sources, lower, upper));
  for (int a = 0; a < 3; a++) r2 += (double)(upper[a] - lower[a]) * (double)(upper[a] - lower[a]);
  const double near = context.info().value(context.parameters, 0).re;
  const double far = context.info().value(context.parameters, r2).re;
  *sign = (near > far) == (PetscRealPart(context.scale) > 0) ? 1 : -1;
  *level = 2 * std::max(std::fabs(near), std::fabs(far));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// Appends the boxes' own points, which follow each other in the tree, to those around them.
struct ListPoints {
  const size_t   *starts; // of those around each box
  const PetscInt *around;
  const PetscInt *own; // where each box's own begin; one more
  PetscInt       *where;

  SHELLAC_HD void operator()(PetscInt t, PetscInt b, PetscInt) const {
    const size_t before = starts[b] + (size_t)(own[b] - own[0]), others = starts[b + 1] - starts[b];
    if ((size_t)t < others)
      where[before + (size_t)t] = around[starts[b] + (size_t)t];
    else if ((size_t)t < others + (size_t)(own[b + 1] - own[b]))
      where[before + (size_t)t] = own[b] - own[0] + (PetscInt)((size_t)t - others);
  }
};

// Of a matrix' columns of L⁻ᴴ or A⁻ᵀ: the rows that are stored, and their sums of |x|, or of |x|² in the columns of
// the box.
struct TakeRows {
  const Schwarz::Block *blocks;
  const PetscInt       *which; // block of each matrix
  Batch                 columns;
  PetscInt              n, k;
  PetscScalar          *inverse;

  SHELLAC_HD void operator()(PetscInt j, PetscInt i, PetscInt b) const {
    const Schwarz::Block &block = blocks[which[b]];
    if (j >= block.columns || i >= block.rows) return;
    inverse[block.values + (size_t)i * block.columns + j] =
        columns.values[(size_t)b * columns.stride + (size_t)(k - block.rows + i) * n + (n - block.columns + j)];
  }
};
struct SizeOfInverse {
  const Schwarz::Block *blocks;
  const PetscInt       *which;
  const PetscScalar    *inverse;
  bool                  symmetric; // largest diagonal entry of Gᴴ G; else the largest sum of |x| in a row
  double               *sums;      // most for each matrix
  PetscInt              most;

  SHELLAC_HD void operator()(PetscInt t, PetscInt b, PetscInt) const {
    const Schwarz::Block &block = blocks[which[b]];
    double                sum = 0;
    if (t < block.rows) {
      const PetscScalar *values = inverse + block.values;
      if (symmetric)
        for (PetscInt i = 0; i < block.rows; i++) {
          const double x = (double)PetscAbsScalar(values[(size_t)i * block.columns + block.columns - block.rows + t]);
          sum += x * x;
        }
      else
        for (PetscInt j = 0; j < block.columns; j++)
          sum += (double)PetscAbsScalar(values[(size_t)t * block.columns + j]);
    }
    sums[(size_t)b * most + t] = sum;
  }
};
struct LargestSum {
  const double *sums;
  PetscInt      most;
  double       *largest;

  SHELLAC_HD void operator()(PetscInt b, PetscInt, PetscInt) const {
    double result = 0;
    for (PetscInt t = 0; t < most; t++) {
      const double sum = sums[(size_t)b * most + t];
      if (!(sum <= result)) result = sum;
      if (result != result) break;
    }
    largest[b] = result - result == 0 ? result : INFINITY;
  }
};

struct KeyOfPlace {
  const PetscInt *where;
  uint64_t       *keys;
  PetscInt       *numbers;
  SHELLAC_HD void operator()(PetscInt t, PetscInt, PetscInt) const { keys[t] = (uint64_t)where[t], numbers[t] = t; }
};
struct FindFirst { // of each point's columns
  const PetscInt *where, *columns;
  PetscInt        n, points;
  PetscInt       *first;
  SHELLAC_HD void operator()(PetscInt t, PetscInt, PetscInt) const {
    const PetscInt before = t ? where[columns[t - 1]] : -1, here = t < n ? where[columns[t]] : points;
    for (PetscInt p = before + 1; p <= here; p++) first[p] = t;
  }
};

} // namespace

PetscErrorCode Schwarz::ListColumns(PetscMemType memory) {
  const PetscInt    n = (PetscInt)where_.size();
  Scratch<uint64_t> keys, work;
  Scratch<PetscInt> numbers;
  const PetscInt   *where;
  PetscInt         *columns, *first;

  PetscFunctionBegin;
  PetscCall(where_.Get(memory, &where));
  PetscCall(keys.Grow((size_t)n, memory));
  PetscCall(numbers.Grow((size_t)n, memory));
  PetscCall(for_each(memory, line_of((size_t)n), KeyOfPlace{where, keys.at(memory), numbers.at(memory)}));
  PetscCall(columns_.Make(memory, (size_t)n, &columns));
  PetscCall(SortByKeys(memory, (size_t)n, keys.at(memory), numbers.at(memory), columns, &work));
  PetscCall(first_.Make(memory, (size_t)held_ + 1, &first));
  PetscCall(for_each(memory, line_of((size_t)n + 1), FindFirst{where, columns, n, held_, first}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Memory for the matrices of a chunk; the data that belong to them take twice as much again. [bytes]
static PetscErrorCode get_room(PetscMemType memory, size_t *room) {
  PetscFunctionBegin;
  *room = 0; // one matrix
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    size_t unused, all;
    PetscCallCUDA(cudaMemGetInfo(&unused, &all));
    *room = std::min((size_t)2 << 30, unused / 8);
  }
#else
  (void)memory;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Chunk by chunk of blocks of about one size, within some memory.
PetscErrorCode Schwarz::Invert(PetscMemType memory, SumEntries *entries, double sign, double level, double worst[2]) {
  size_t                room;
  const bool            raised = level > 0;
  const Block          *block;
  const PetscInt       *where;
  PetscScalar          *inverse;
  DenseBatch            matrices;
  Mirror<PetscInt>      which;
  Mirror<BlockPoints>   points;
  Mirror<double>        facts; // of each matrix: norm, asymmetry, the inverse's size
  Scratch<double>       sums;
  std::vector<PetscInt> order(blocks_.size());

  PetscFunctionBegin;
  worst[0] = worst[1] = 0;
  const std::vector<Block> blocks = blocks_.host();
  const PetscInt           s = entries->scalars;
  std::iota(order.begin(), order.end(), (PetscInt)0);
  std::sort(order.begin(), order.end(), [&](PetscInt a, PetscInt b) {
    return blocks[a].columns != blocks[b].columns ? blocks[a].columns > blocks[b].columns : a < b;
  });
  PetscCall(blocks_.Get(memory, &block));
  PetscCall(where_.Get(memory, &where));
  size_t values = 0;
  for (const Block &b : blocks) values = std::max(values, b.values + (size_t)b.rows * b.columns);
  PetscCall(inverse_.Make(memory, values, &inverse));
  PetscCall(get_room(memory, &room));
  for (size_t from = 0, to; from < order.size() && worst[0] < INFINITY; from = to) {
    const PetscInt     aligned = PetscMemTypeHost(memory) ? 1 : 8; // cuBLAS is faster then
    const PetscInt     n = (blocks[order[from]].columns + aligned - 1) / aligned * aligned;
    PetscInt           k = 0;
    Batch              columns;
    const double      *fact;
    double            *device_facts;
    const PetscInt    *chosen;
    const BlockPoints *chosen_points;
    std::vector<int>   failed;
    which.change().clear();
    points.change().clear();
    const size_t most = std::min<size_t>(65535, room / DenseBatch::bytes_of(n) + 1);
    for (to = from; to < order.size() && to - from < most; to++) {
      const Block &b = blocks[order[to]];
      k = PetscMax(k, b.rows);
      which.change().push_back(order[to]);
      points.change().push_back({b.at, b.columns / s});
    }
    const PetscInt count = (PetscInt)(to - from);
    PetscCall(which.Get(memory, &chosen));
    PetscCall(points.Get(memory, &chosen_points));
    PetscCall(facts.Make(memory, 3 * (size_t)count, &device_facts));
    PetscCall(matrices.Create(memory, n, count));
    PetscCall(entries->Fill(where, chosen_points, &matrices));
    PetscCall(entries->Measure(chosen_points, &matrices, device_facts, device_facts + count));
    if (raised) PetscCall(entries->Raise(where, chosen_points, sign, level, &matrices));
    if (symmetric_)
      PetscCall(matrices.OfCholesky(k, &columns));
    else
      PetscCall(matrices.OfInverse(k, &columns));
    PetscCall(for_each_of_box(memory, {{0, 0, 0}, {n, k, count}}, TakeRows{block, chosen, columns, n, k, inverse}));
    PetscCall(sums.Grow((size_t)count * k, memory));
    PetscCall(for_each_of_box(memory, {{0, 0, 0}, {k, count, 1}},
                              SizeOfInverse{block, chosen, inverse, symmetric_, sums.at(memory), k}));
    PetscCall(for_each(memory, line_of((size_t)count), LargestSum{sums.at(memory), k, device_facts + 2 * count}));
    PetscCall(facts.Get(PETSC_MEMTYPE_HOST, &fact));
    PetscCall(matrices.GetFailed(&failed));
    for (PetscInt b = 0; b < count; b++) {
      const bool definite = fact[count + b] <= 1e-10 * fact[b] && !failed[b];
      worst[0] = std::max(worst[0], failed[b] ? INFINITY : fact[b] * fact[2 * count + b]);
      if (!(worst[0] < INFINITY)) worst[0] = INFINITY;
      if (symmetric_ && !definite) worst[0] = INFINITY, worst[1] = 1;
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_DOUBLE, MPI_MAX, comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Schwarz::SetUpBoxes(BoxTree *tree, const SchwarzSettings &settings, bool *all_definite) {
  KernelSumMat         *context;
  SumEntries            entries;
  PointsAround          around;
  Mirror<size_t>        starts;
  Mirror<PetscInt>      own;
  ListPoints            list;
  std::vector<PetscInt> overlaps, numbers; // of the boxes; of the points that this rank holds
  PetscInt              ends[2] = {-PETSC_MAX_INT, 0};

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A_, &context));
  const Shape        shape = shape_of(*context);
  const PetscMemType memory = context->memory();
  scalars_ = context->scalars_a_value();
  for (double spacing : tree->spacings) {
    overlaps.push_back(settings.overlap >= 0 ? settings.overlap
                                             : default_overlap(shape, symmetric_, context->sources->dim, spacing));
    ends[0] = PetscMax(ends[0], -overlaps.back());
    ends[1] = PetscMax(ends[1], overlaps.back());
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPIU_INT, MPI_MAX, comm_));
  overlap_[0] = -ends[0], overlap_[1] = ends[1];
  boxes_ = tree->all_boxes;
  PetscCall(tree->FindAround(overlaps, symmetric_, &around));
  numbers = tree->numbers;
  const PetscInt n = (PetscInt)numbers.size(), boxes = (PetscInt)tree->boxes.size();
  if (!symmetric_) PetscCall(PointSFCreate(comm_, *context->sources, numbers, &to_cores_));
  numbers.insert(numbers.end(), around.others.begin(), around.others.end());
  PetscCall(PointSFCreate(comm_, *context->sources, numbers, &to_near_));
  held_ = (PetscInt)numbers.size();

  std::vector<Block> &blocks = blocks_.change();
  size_t              values = 0;
  blocks.clear();
  own.change().clear();
  most_columns_ = most_rows_ = 0;
  for (PetscInt b = 0; b < boxes; b++) {
    const Cluster &box = tree->boxes[b];
    const PetscInt rows = (box.end - box.begin) * scalars_;
    const PetscInt columns = (PetscInt)(around.starts[b + 1] - around.starts[b]) * scalars_ + rows;
    own.change().push_back(box.begin);
    blocks.push_back({values, around.starts[b] + (size_t)(box.begin - tree->first()), rows, columns});
    values += (size_t)rows * columns;
    most_rows_ = PetscMax(most_rows_, rows);
    most_columns_ = PetscMax(most_columns_, columns);
  }
  const size_t side = (size_t)most_columns_ / scalars_;
  const bool   fits = std::max(side * side, around.starts.back() + (size_t)n) <= (size_t)PETSC_MAX_INT; // are numbered
  PetscInt     largest[] = {held_, (PetscInt)side, !fits || !fits_in(memory)};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 3, MPIU_INT, MPI_MAX, comm_));
  most_held_ = largest[0];
  PetscCheck(!largest[2], comm_, PETSC_ERR_SUP, too_large, largest[1]);
  own.change().push_back(tree->first() + n);
  starts.change() = around.starts;
  PetscCall(starts.Get(memory, &list.starts));
  PetscCall(own.Get(memory, &list.own));
  PetscCall(around.places.Get(memory, &list.around));
  PetscCall(where_.Make(memory, around.starts.back() + (size_t)n, &list.where));
  PetscCall(for_each_of_box(memory, {{0, 0, 0}, {most_columns_ / scalars_, boxes, 1}}, list));

  PetscCall(entries.Create(A_, to_near_, memory));
  double sign = 1, level = 0, worst[2]; // condition number; whether a matrix is not definite
  for (raised_ = false;; raised_ = true) {
    if (raised_) PetscCall(get_raising(comm_, *context, &sign, &level));
    PetscCall(Invert(memory, &entries, sign, level, worst));
    if (!worst[1] || raised_ || !shape.grows) break;
  }
  condition_ = (PetscReal)worst[0];
  *all_definite = !worst[1];
  if (!*all_definite && settings.variant == PC_KERNELSUM_AUTO) {
    PetscCall(PetscSFDestroy(&to_near_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(
      *all_definite, comm_, PETSC_ERR_MAT_CH_ZRPVT,
      "-pc_kernelsum_variant symmetric: the matrix of a box of %" PetscInt_FMT
      " points and those around it, kernel %s, is not symmetric and positive definite. CG needs one that is: use "
      "-ksp_type gmres with -pc_kernelsum_variant restricted. Where the kernel is too wide for its points, take "
      "a smaller -mat_kernelsum_sigma, or add a nugget with MatShift(); a singular kernel needs what a point "
      "does to itself on its diagonal",
      settings.box, context->info().name);
  PetscCheck(
      worst[0] < 1 / PETSC_MACHINE_EPSILON, comm_, PETSC_ERR_MAT_LU_ZRPVT,
      "-pc_type kernelsum: a box of %" PetscInt_FMT
      " points and those around it has a condition number of %.2g or more, and its coefficients have no correct "
      "digit. The points are too close for the width of the kernel %s, or two are at one place; take a smaller "
      "-mat_kernelsum_sigma where the kernel has one, leave out points, or add a nugget with MatShift(), such as "
      "1e-6 times the diagonal",
      settings.box, worst[0], context->info().name);
  if (symmetric_) PetscCall(ListColumns(memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Schwarz::SetUp(Mat A, const SchwarzSettings &settings) {
  KernelSumMat *context;
  BoxTree       tree;
  bool          definite = true;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)A)); // before Reset(), which may have the last one
  PetscCall(Reset());
  A_ = A;
  PetscCall(MatGetKernelSum(A, &context));
  PetscLayout layout;
  PetscCall(MatGetLayouts(A, &layout, NULL));
  PetscCall(PetscLayoutReference(layout, &layout_));
  comm_ = PetscObjectComm((PetscObject)A);
  symmetric_ = settings.variant == PC_KERNELSUM_SYMMETRIC ||
               (settings.variant == PC_KERNELSUM_AUTO && !context->info().complex && settings.coarse <= 0);
  PetscCheck(!symmetric_ || !context->info().complex, comm_, PETSC_ERR_SUP,
             "-pc_kernelsum_variant symmetric is for real kernels, and %s is complex; use -ksp_type gmres with "
             "-pc_kernelsum_variant restricted",
             context->info().name);
  PetscCheck(!symmetric_ || settings.coarse <= 0, comm_, PETSC_ERR_ARG_INCOMP,
             "-pc_kernelsum_coarse %" PetscInt_FMT
             " has no effect: the symmetric variant, that of CG and of -pc_kernelsum_variant symmetric, has no coarse "
             "space; leave the option out, or use -ksp_type gmres with -pc_kernelsum_variant restricted",
             settings.coarse);
  points_ = context->sources->N;
  PetscCall(tree.Build(comm_, context->memory(), *context->sources, settings.box));
  PetscCall(SetUpBoxes(&tree, settings, &definite));
  if (!definite) {
    symmetric_ = false; // restricted
    PetscCall(SetUpBoxes(&tree, settings, &definite));
  }
  if (!symmetric_) PetscCall(SetUpCoarse(tree, settings.coarse)); // coarse boxes are before the others
  if (!coarse_count_) PetscCall(MatDestroy(&A_)); // which applications without coarse points do not need
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
