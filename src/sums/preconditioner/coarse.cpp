// The coarse space: a sample of the points, whose equations are solved after those of the boxes.

#include "sums/preconditioner/schwarz.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "device/arrays.hpp"
#include "sums/regions.hpp"

namespace shellac {

namespace {

struct CoarseResidual { // of a coarse point that this rank has
  const PetscInt    *own;
  int                scalars;
  const PetscScalar *r, *z, *sums, *left, *diagonal; // left, diagonal: null for ones, zeros
  PetscScalar        scale, shift;
  PetscScalar       *residual;

  SHELLAC_HD void operator()(PetscInt n, PetscInt p, PetscInt) const {
    const PetscInt    c = own[2 * n] * scalars + p, i = own[2 * n + 1] * scalars + p;
    const PetscScalar product = scale * (left ? left[i] : (PetscScalar)1) * sums[c] +
                                (shift + (diagonal ? diagonal[i] : (PetscScalar)0)) * z[i];
    residual[c] = r[i] - product;
  }
};
struct AddSolution {
  const PetscInt    *own;
  int                scalars;
  const PetscScalar *solution;
  PetscScalar       *z;

  SHELLAC_HD void operator()(PetscInt n, PetscInt p, PetscInt) const {
    z[own[2 * n + 1] * scalars + p] += solution[own[2 * n] * scalars + p];
  }
};

// The sum over all ranks of an array that each has.
PetscErrorCode add_over_ranks(MPI_Comm comm, PetscMemType memory, size_t n, PetscScalar *values) {
  std::vector<PetscScalar> on_host;
  PetscMPIInt              ranks, count;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast((PetscInt)n, &count));
  PetscScalar *at = values;
  if (PetscMemTypeDevice(memory)) {
    on_host.resize(n);
    at = on_host.data();
    PetscCall(DeviceCopyToHost(at, values, n * sizeof(PetscScalar)));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, at, count, MPIU_SCALAR, MPIU_SUM, comm));
  if (at != values) PetscCall(DeviceCopyFromHost(values, at, n * sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The inverse of a matrix on the host, in its place.
PetscErrorCode invert(std::vector<PetscScalar> *matrix, PetscInt order, bool *singular) {
  std::vector<PetscBLASInt> pivots(order);
  std::vector<PetscScalar>  work(1);
  PetscBLASInt              n, room = -1, info = 0;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(order, &n));
  *singular = false;
  for (const PetscScalar &entry : *matrix) *singular = *singular || !(PetscAbsScalar(entry) < INFINITY);
  if (!n || *singular) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&n, &n, matrix->data(), &n, pivots.data(), &info));
  *singular = info != 0;
  if (*singular) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&n, matrix->data(), &n, pivots.data(), work.data(), &room, &info));
  room = PetscMax(n, (PetscBLASInt)PetscRealPart(work[0]));
  work.resize(room);
  PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&n, matrix->data(), &n, pivots.data(), work.data(), &room, &info));
  *singular = info != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode Schwarz::SetUpCoarse(const BoxTree &tree, PetscInt count) {
  KernelSumMat            *context;
  SumEntries               entries; // of the coarse points, on every rank
  DenseBatch               matrix;
  std::vector<PetscInt>    chosen;
  std::vector<PetscScalar> inverse;
  Mirror<PetscInt>         places;
  Mirror<BlockPoints>      block;
  const PetscInt          *place;
  const BlockPoints       *points;
  PetscSF                  sf;
  PetscInt                 first, last;
  bool                     singular = false;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A_, &context));
  if (count < 0) count = shape_of(*context).fast ? 0 : std::min<PetscInt>(1000, points_ / 50);
  // What is corrected at a point whose function is much larger at a close one would be an error there, which no box
  // corrects.
  const FunctionInfo &info = context->info();
  const auto          size = [&](double r) {
    const Complex<double> g = info.value(context->parameters, r * r);
    return std::hypot(g.re, g.im);
  };
  PetscCall(tree.SampleEvenly(
      count, [&](double nearest, double spacing) { return info.singular && size(nearest) > 10 * size(spacing); },
      &chosen));
  coarse_count_ = 0;
  if (chosen.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  std::sort(chosen.begin(), chosen.end());
  const PetscMemType memory = context->memory();
  const PetscInt     n = (PetscInt)chosen.size();
  PetscCall(PointSFCreate(comm_, *context->sources, chosen, &sf));
  PetscCall(entries.Create(A_, sf, memory));
  places.change().resize(n);
  std::iota(places.change().begin(), places.change().end(), (PetscInt)0);
  block.change().push_back({0, n});
  PetscCall(places.Get(memory, &place));
  PetscCall(block.Get(memory, &points));
  PetscCall(matrix.Create(memory, n * entries.scalars, 1));
  PetscCall(entries.Fill(place, points, &matrix));
  PetscCall(matrix.GetMatrices(&inverse));
  PetscCall(invert(&inverse, n * entries.scalars, &singular));
  PetscMPIInt none = singular; // on any rank: their processors may differ
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &none, 1, MPI_INT, MPI_MAX, comm_));
  if (none) {
    PetscCall(PetscSFDestroy(&sf));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  coarse_count_ = n;
  coarse_inverse_.change().swap(inverse);
  const PetscScalar *to_memory;
  PetscCall(coarse_inverse_.Get(memory, &to_memory)); // not in the first application
  coarse_.dim = 3;
  coarse_.n = coarse_.N = n;
  PetscReal *x;
  Points     targets;
  PetscCall(PointCloudGetPoints(context->targets, memory, &targets));
  PetscCall(coarse_.x.Make(memory, (size_t)3 * n, &x));
  for (int a = 0; a < 3; a++) PetscCall(ToRegion(sf, memory, 1, targets.x[a], x + (size_t)a * n));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(MatGetOwnershipRange(A_, &first, &last));
  coarse_own_.change().clear();
  for (PetscInt c = 0; c < n; c++)
    if (chosen[c] >= first / entries.scalars && chosen[c] < last / entries.scalars) {
      coarse_own_.change().push_back(c);
      coarse_own_.change().push_back(chosen[c] - first / entries.scalars);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// z += the solution of the coarse points' equations for r - A z.
PetscErrorCode Schwarz::ApplyCoarse(Vec r, Vec z) {
  KernelSumMat      *context;
  const PetscScalar *in, *inverse;
  Vec                weights = z;
  CoarseResidual     residual = {};
  AddSolution        add = {};

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A_, &context));
  const size_t n = (size_t)coarse_count_ * scalars_;
  if (context->right) {
    PetscCall(VecDuplicate(z, &weights));
    PetscCall(VecPointwiseMult(weights, z, context->right));
  }
  Arrays arrays;
  PetscCall(arrays.Read(r, &residual.r));
  PetscCall(arrays.ReadWrite(z, &add.z));
  if (context->left) PetscCall(arrays.Read(context->left, &residual.left));
  if (context->diagonal) PetscCall(arrays.Read(context->diagonal, &residual.diagonal));
  if (weights != z) PetscCall(arrays.Read(weights, &in));
  const PetscMemType memory = arrays.memory();
  if (weights == z) in = add.z; // where the vectors after z may have taken it
  PetscCall(coarse_sums_.Grow(n, memory));
  PetscCall(coarse_residual_.Grow(n, memory));
  PetscCall(coarse_solution_.Grow(n, memory));
  PetscScalar *sums = coarse_sums_.at(memory), *residuals = coarse_residual_.at(memory);
  Layout       layout = KernelSumLayout(*context, false, false, 1, in, 0, sums, 0);
  layout.narrow = false;
  layout.sum.memory = memory;
  PetscCall(PointCloudGetPoints(&coarse_, memory, &layout.sum.targets));
  PetscCall(PointCloudGetPoints(context->sources, memory, &layout.sum.sources));
  if (context->formula) PetscCall(context->formula->NeedKernels(comm_, memory, false));
  PetscCall(KernelSumPairs(layout));
  PetscCall(add_over_ranks(comm_, memory, n, sums));

  PetscCall(coarse_residual_.Zero(memory));
  const Box own = {{0, 0, 0}, {(PetscInt)(coarse_own_.size() / 2), scalars_, 1}};
  PetscCall(coarse_own_.Get(memory, &residual.own));
  residual.scalars = scalars_;
  residual.z = add.z;
  residual.sums = sums;
  residual.scale = context->scale;
  residual.shift = context->shift;
  residual.residual = residuals;
  PetscCall(for_each_of_box(memory, own, residual));
  PetscCall(add_over_ranks(comm_, memory, n, residuals));
  PetscCall(coarse_inverse_.Get(memory, &inverse));
  PetscCall(MultiplyBatch<PetscScalar>(memory, 'N', 'N', (PetscInt)n, 1, (PetscInt)n, 1,
                                       {const_cast<PetscScalar *>(inverse), n, n * n}, {residuals, n, n}, 0,
                                       {coarse_solution_.at(memory), n, n}, 1));
  add.own = residual.own;
  add.scalars = scalars_;
  add.solution = coarse_solution_.at(memory);
  PetscCall(for_each_of_box(memory, own, add));
  PetscCall(arrays.Restore());
  if (weights != z) PetscCall(VecDestroy(&weights));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
