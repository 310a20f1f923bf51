// The coarse space: a sample of the points, whose equations are solved after those of the boxes.

#include "sums/preconditioner/schwarz.hpp"

namespace shellac {

PetscErrorCode Schwarz::SetUpCoarse(const BoxTree &tree, PetscInt count) {
  KernelSumMat            *context;
  SumEntries               entries; // of the coarse points, on every rank
  std::vector<PetscInt>    chosen;
  std::vector<PetscScalar> matrix;
  PetscInt                 first, last;
  bool                     singular;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A_, &context));
  if (count < 0) count = shape_of(*context).fast ? 0 : std::min<PetscInt>(1000, points_ / 50);
  PetscCall(tree.SampleEvenly(count, &chosen));
  std::sort(chosen.begin(), chosen.end());
  PetscCall(entries.Create(A_, chosen));
  entries.dense(chosen, &matrix);
  PetscCall(coarse_factors_.Factor(&matrix, &singular));
  coarse_count_ = singular ? 0 : (PetscInt)chosen.size();
  if (!coarse_count_) PetscFunctionReturn(PETSC_SUCCESS);
  coarse_.dim = 3;
  coarse_.n = coarse_.N = coarse_count_;
  coarse_.x = entries.targets.x;
  PetscCall(MatGetOwnershipRange(A_, &first, &last));
  for (PetscInt c = 0; c < coarse_count_; c++) {
    const PetscInt i = chosen[c] * entries.scalars;
    if (i >= first && i < last) {
      coarse_own_.push_back(c * entries.scalars);
      coarse_own_.push_back(i - first);
    }
  }
  residual_.resize((size_t)coarse_count_ * entries.scalars);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// z += the solution of the coarse points' equations for r - A z.
PetscErrorCode Schwarz::ApplyCoarse(Vec r, Vec z) {
  KernelSumMat            *context;
  const PetscScalar       *in, *left = NULL, *diagonal = NULL;
  PetscScalar             *out;
  std::vector<PetscScalar> sums(residual_.size(), 0);
  Vec                      weights = z;
  PetscMPIInt              count;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A_, &context));
  const int s = context->scalars_a_value();
  PetscCall(PetscMPIIntCast((PetscInt)residual_.size(), &count));
  if (context->right) {
    PetscCall(VecDuplicate(z, &weights));
    PetscCall(VecPointwiseMult(weights, z, context->right));
  }
  PetscCall(VecGetArrayRead(weights, &in));
  Layout layout = KernelSumLayout(*context, false, false, 1, in, 0, sums.data(), 0);
  layout.narrow = false;
  layout.sum.memory = PETSC_MEMTYPE_HOST;
  layout.sum.targets = coarse_.on_host();
  PetscCall(PointCloudGetPoints(context->sources, PETSC_MEMTYPE_HOST, &layout.sum.sources));
  PetscCall(KernelSumPairs(layout));
  PetscCall(VecRestoreArrayRead(weights, &in));
  if (weights != z) PetscCall(VecDestroy(&weights));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), count, MPIU_SCALAR, MPIU_SUM, comm_));

  std::fill(residual_.begin(), residual_.end(), (PetscScalar)0);
  if (context->left) PetscCall(VecGetArrayRead(context->left, &left));
  if (context->diagonal) PetscCall(VecGetArrayRead(context->diagonal, &diagonal));
  PetscCall(VecGetArrayRead(r, &in));
  PetscCall(VecGetArray(z, &out));
  for (size_t own = 0; own < coarse_own_.size(); own += 2)
    for (int p = 0; p < s; p++) {
      const PetscInt    c = coarse_own_[own] + p, i = coarse_own_[own + 1] + p;
      const PetscScalar product = context->scale * (left ? left[i] : (PetscScalar)1) * sums[c] +
                                  (context->shift + (diagonal ? diagonal[i] : (PetscScalar)0)) * out[i];
      residual_[c] = in[i] - product;
    }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, residual_.data(), count, MPIU_SCALAR, MPIU_SUM, comm_));
  PetscCall(coarse_factors_.Solve(false, 1, residual_.data()));
  for (size_t own = 0; own < coarse_own_.size(); own += 2)
    for (int p = 0; p < s; p++) out[coarse_own_[own + 1] + p] += residual_[coarse_own_[own] + p];
  PetscCall(VecRestoreArray(z, &out));
  PetscCall(VecRestoreArrayRead(r, &in));
  if (context->left) PetscCall(VecRestoreArrayRead(context->left, &left));
  if (context->diagonal) PetscCall(VecRestoreArrayRead(context->diagonal, &diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
