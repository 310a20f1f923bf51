// Set-up and application of the Schwarz method.

#include "sums/preconditioner/schwarz.hpp"

#include <algorithm>
#include <cmath>

namespace shellac {

PetscErrorCode Schwarz::Reset() {
  PetscFunctionBegin;
  PetscCall(VecScatterDestroy(&to_near_));
  PetscCall(VecScatterDestroy(&to_cores_));
  PetscCall(VecDestroy(&near_));
  PetscCall(VecDestroy(&cores_));
  PetscCall(MatDestroy(&A_));
  blocks_.clear(), inverse_.clear(), where_.clear();
  coarse_own_.clear();
  coarse_count_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A scatter between a vector like A's and a new one of this rank with the values of some points.
static PetscErrorCode create_scatter(Mat A, const std::vector<PetscInt> &points, int scalars, Vec *local,
                                     VecScatter *scatter) {
  IS  from;
  Vec like;

  PetscFunctionBegin;
  PetscCall(ISCreateBlock(PETSC_COMM_SELF, scalars, (PetscInt)points.size(), points.data(), PETSC_COPY_VALUES, &from));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, (PetscInt)points.size() * scalars, local));
  PetscCall(MatCreateVecs(A, NULL, &like));
  PetscCall(VecScatterCreate(like, from, *local, NULL, scatter));
  PetscCall(VecDestroy(&like));
  PetscCall(ISDestroy(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

// Points around a box. The inverse of a Gaussian's matrix decays with the distance between points more slowly than that of
// kernels that decay slowly themselves, and over more points the wider the kernel is.
static PetscInt default_overlap(const Shape &shape, bool symmetric, int dim, double spacing) {
  struct Law {
    double points, power; // so many for the width σ = 1 spacing, times the power of wider ones
  };
  constexpr struct {
    Law    gaussian, multiquadric, raised; // the first of fast decay, the second of others
    double most;
  } laws[] = {{{64, 0.5}, {48, 0.5}, {96, 0}, 256},
              {{230, 1.25}, {160, 0.5}, {320, 0}, 1500},
              {{600, 1.75}, {256, 0.75}, {512, 0}, 2000}};
  const auto &of_dim = laws[dim - 1];
  const Law   law = shape.fast ? of_dim.gaussian : shape.grows && symmetric ? of_dim.raised : of_dim.multiquadric;
  const double sigma = shape.width / (shape.fast ? 1.1774 : 1.7321); // √(2 log 2), √3: where these have fallen to half
  return (PetscInt)std::min(of_dim.most, law.points * std::pow(std::max(1., sigma / spacing), law.power));
}

// The constant that makes functions positive definite that are so for coefficients whose sum is zero, twice the largest
// value between two points, and the sign of the matrix beside it.
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

PetscErrorCode Schwarz::SetUpBoxes(const BoxTree &tree, const SchwarzSettings &settings, bool *all_definite) {
  KernelSumMat                      *context;
  SumEntries                         entries;
  std::vector<std::vector<PetscInt>> points; // of each of this rank's blocks
  std::vector<PetscInt>              near, cores;
  std::vector<PetscScalar>           matrix, rows, constant;
  double                             worst[2] = {0, 0}; // condition number; whether a matrix is not definite

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A_, &context));
  const Shape           shape = shape_of(*context);
  std::vector<PetscInt> overlaps; // of the boxes
  PetscInt              ends[2] = {-PETSC_MAX_INT, 0};
  for (const Cluster &box : tree.boxes) {
    double spacing = 0;
    if (settings.overlap < 0) PetscCall(tree.SpacingIn(box, &spacing));
    overlaps.push_back(settings.overlap >= 0 ? settings.overlap
                                             : default_overlap(shape, symmetric_, context->sources->dim, spacing));
    ends[0] = PetscMax(ends[0], -overlaps.back());
    ends[1] = PetscMax(ends[1], overlaps.back());
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPIU_INT, MPI_MAX, comm_));
  overlap_[0] = -ends[0], overlap_[1] = ends[1];
  boxes_ = tree.all_boxes;
  PetscCall(tree.FindAround(overlaps, symmetric_, &points));
  for (size_t b = 0; b < points.size(); b++) { // the box first, or last
    const std::vector<PetscInt> own = tree.points_of(tree.boxes[b]);
    points[b].insert(symmetric_ ? points[b].end() : points[b].begin(), own.begin(), own.end());
    cores.insert(cores.end(), own.begin(), own.end());
    near.insert(near.end(), points[b].begin(), points[b].end());
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  held_ = (PetscInt)near.size();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &held_, 1, MPIU_INT, MPI_MAX, comm_));
  PetscCall(entries.Create(A_, near));
  double sign = 1, level = 0;
  for (raised_ = false;; raised_ = true) {
    if (raised_) PetscCall(get_raising(comm_, *context, &sign, &level));
    blocks_.clear(), inverse_.clear();
    worst[0] = worst[1] = 0;
    for (size_t b = 0; b < points.size() && worst[0] < INFINITY; b++) {
      const auto        &all = points[b];
      const Cluster     &box = tree.boxes[b];
      const PetscBLASInt m = (PetscBLASInt)all.size() * entries.scalars;
      const PetscBLASInt k = (PetscBLASInt)(box.end - box.begin) * entries.scalars;
      double             condition = 0;
      bool               definite = true;
      entries.dense(all, &matrix);
      if (raised_) entries.constant(all, level, &constant);
      if (symmetric_)
        PetscCall(LastRowsOfCholesky(&matrix, sign, constant, k, &rows, &condition, &definite));
      else
        PetscCall(FirstRowsOfInverse(&matrix, k, &rows, &condition));
      worst[0] = std::max(worst[0], condition);
      worst[1] = std::max(worst[1], definite ? 0. : 1.);
      blocks_.push_back({k, m, inverse_.size(), 0});
      inverse_.insert(inverse_.end(), rows.begin(), rows.end());
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_DOUBLE, MPI_MAX, comm_));
    if (!worst[1] || raised_ || !shape.grows) break;
  }
  condition_ = (PetscReal)worst[0];
  *all_definite = !worst[1];
  if (!*all_definite && settings.variant == PC_KERNELSUM_AUTO) {
    blocks_.clear(), inverse_.clear();
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
  for (size_t b = 0; b < blocks_.size(); b++) {
    blocks_[b].at = where_.size();
    for (PetscInt point : points[b]) {
      const PetscInt place = (PetscInt)(std::lower_bound(near.begin(), near.end(), point) - near.begin());
      for (int s = 0; s < entries.scalars; s++) where_.push_back(place * entries.scalars + s);
    }
  }
  PetscCall(create_scatter(A_, near, entries.scalars, &near_, &to_near_));
  PetscCall(create_scatter(A_, symmetric_ ? near : cores, entries.scalars, &cores_, &to_cores_));
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
  PetscCall(tree.Build(comm_, *context->sources, settings.box));
  PetscCall(SetUpBoxes(tree, settings, &definite));
  if (!definite) {
    symmetric_ = false; // restricted
    PetscCall(SetUpBoxes(tree, settings, &definite));
  }
  if (!symmetric_) PetscCall(SetUpCoarse(tree, settings.coarse)); // coarse boxes are before the others
  if (!coarse_count_) PetscCall(MatDestroy(&A_)); // which applications without coarse points do not need
  PetscFunctionReturn(PETSC_SUCCESS);
}

// z = Σ_b G_bᴴ G_b r
PetscErrorCode Schwarz::ApplySymmetric(Vec r, Vec z) {
  const PetscScalar       *in;
  PetscScalar             *out;
  const PetscScalar        one = 1, zero = 0;
  const PetscBLASInt       step = 1;
  std::vector<PetscScalar> y;

  PetscFunctionBegin;
  PetscCall(VecScatterBegin(to_near_, r, near_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(to_near_, r, near_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecSet(cores_, 0));
  PetscCall(VecGetArrayRead(near_, &in));
  PetscCall(VecGetArray(cores_, &out));
  for (const Block &block : blocks_) {
    const PetscScalar *values = inverse_.data() + block.values;
    y.resize(block.rows);
    input_.resize(block.columns);
    for (PetscBLASInt j = 0; j < block.columns; j++) input_[j] = in[where_[block.at + j]];
    PetscCallBLAS("BLASgemv", BLASgemv_("C", &block.columns, &block.rows, &one, values, &block.columns, input_.data(),
                                        &step, &zero, y.data(), &step));
    PetscCallBLAS("BLASgemv", BLASgemv_("N", &block.columns, &block.rows, &one, values, &block.columns, y.data(), &step,
                                        &zero, input_.data(), &step));
    for (PetscBLASInt j = 0; j < block.columns; j++) out[where_[block.at + j]] += input_[j];
  }
  PetscCall(PetscLogFlops(4. * (PetscLogDouble)inverse_.size()));
  PetscCall(VecRestoreArray(cores_, &out));
  PetscCall(VecRestoreArrayRead(near_, &in));
  PetscCall(VecSet(z, 0));
  PetscCall(VecScatterBegin(to_cores_, cores_, z, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(to_cores_, cores_, z, ADD_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Schwarz::Apply(Vec r, Vec z) {
  const PetscScalar *in;
  PetscScalar       *out;
  const PetscScalar  one = 1, zero = 0;
  const PetscBLASInt step = 1;

  PetscFunctionBegin;
  if (symmetric_) {
    PetscCall(ApplySymmetric(r, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecScatterBegin(to_near_, r, near_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(to_near_, r, near_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(near_, &in));
  PetscCall(VecGetArrayWrite(cores_, &out));
  PetscScalar *y = out;
  for (const Block &block : blocks_) {
    input_.resize(block.columns);
    for (PetscBLASInt j = 0; j < block.columns; j++) input_[j] = in[where_[block.at + j]];
    PetscCallBLAS("BLASgemv", BLASgemv_("T", &block.columns, &block.rows, &one, inverse_.data() + block.values,
                                        &block.columns, input_.data(), &step, &zero, y, &step));
    y += block.rows;
  }
  PetscCall(PetscLogFlops(2. * (PetscLogDouble)inverse_.size()));
  PetscCall(VecRestoreArrayWrite(cores_, &out));
  PetscCall(VecRestoreArrayRead(near_, &in));
  PetscCall(VecScatterBegin(to_cores_, cores_, z, INSERT_VALUES, SCATTER_REVERSE)); // every point is in one box
  PetscCall(VecScatterEnd(to_cores_, cores_, z, INSERT_VALUES, SCATTER_REVERSE));
  if (coarse_count_) PetscCall(ApplyCoarse(r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Schwarz::ApplyTranspose(Vec r, Vec z) {
  Vec conjugate = r;

  PetscFunctionBegin;
  PetscCheck(symmetric_, comm_, PETSC_ERR_SUP,
             "-pc_type kernelsum: the restricted variant has no transpose; use a method that needs none, as -ksp_type "
             "gmres, or, where the matrix is positive definite, -pc_kernelsum_variant symmetric");
  if (PetscDefined(USE_COMPLEX)) { // Hermitian: the transpose is the complex conjugate
    PetscCall(VecDuplicate(r, &conjugate));
    PetscCall(VecCopy(r, conjugate));
    PetscCall(VecConjugate(conjugate));
  }
  PetscCall(ApplySymmetric(conjugate, z));
  PetscCall(VecConjugate(z));
  if (conjugate != r) PetscCall(VecDestroy(&conjugate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Schwarz::View(PetscViewer viewer) const {
  PetscLogDouble bytes = sizeof(PetscScalar) * (PetscLogDouble)(inverse_.size() + coarse_factors_.values.size());

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm_));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "%s\n",
      raised_ ? "symmetric variant: a sparse Cholesky factor of the inverse, a constant added, for MINRES and GMRES"
      : symmetric_ ? "symmetric variant: a sparse Cholesky factor of the inverse, for CG and every other method"
                   : "restricted variant: restricted additive Schwarz, not symmetric, for GMRES and BiCGStab"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " boxes, each solved with the %" PetscInt_FMT, boxes_,
                                   overlap_[0]));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE)); // the line goes on
  if (overlap_[1] > overlap_[0]) PetscCall(PetscViewerASCIIPrintf(viewer, " to %" PetscInt_FMT, overlap_[1]));
  PetscCall(PetscViewerASCIIPrintf(viewer, " points around it%s; condition number of a box: %.2g or more\n",
                                   symmetric_ ? " among the boxes before" : "", (double)condition_));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "a rank has %" PetscInt_FMT " of the %" PetscInt_FMT " points in and around its boxes, at most\n", held_,
      points_));
  if (!symmetric_)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " coarse points%s\n", coarse_count_,
                                     coarse_count_ ? ", solved after the boxes" : ""));
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "computed on the host, with vectors of any type; bytes stored: %.0f\n", bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
