// Steady equations that constants solve without their source, as -laplacian(u) between neumann or periodic ends: the null spaces of
// their Jacobians, and residuals for which there is a solution.

#include "equations/equation.hpp"

namespace shellac {

bool EquationOnGrid::EndsHoldConstants() const {
  const auto gives = [&](const Ends &e, int side) {
    return !e.periodic && !e.mirror && e.form[side] != MAT_LAPLACE_NEUMANN;
  };
  bool some = false;
  for (size_t c = 0; c < equation_->unknowns(); c++) {
    bool holds = true;
    for (int a = 0; a < grid_.dim; a++) holds = holds && !gives(ends_[c][a], 0) && !gives(ends_[c][a], 1);
    some = some || holds;
  }
  return some && !equation_->text.has_rate;
}

// To the last bit, as differences of equal numbers are zero: a term as 1e-8 * u must not be lost. At all points, because a term may
// stand at some alone, and at a state that is no special one.
PetscErrorCode EquationOnGrid::FindConstants(std::vector<size_t> *unknowns) {
  const size_t             n = equation_->unknowns();
  std::vector<PetscInt>    none(n, 1); // of the derivatives is not zero
  std::vector<PetscScalar> slopes(owned() * n);
  equation::Region         all;

  PetscFunctionBegin;
  PetscCall(SetTables(PETSC_MEMTYPE_HOST));
  for (size_t f = 0; f < fields_.size(); f++) PetscCall(VecGetArrayRead(local_fields_[f], &field_arrays_[f]));
  for (int a = 0; a < 3; a++) all.start[a] = grid_.start[a], all.end[a] = grid_.start[a] + grid_.size[a];
  const auto            state = NumbersNear(all, (int)n, 1, 1);
  const equation::Place whole = place_;
  place_.fields = reinterpret_cast<const equation::Scalar *const *>(field_arrays_.data());
  place_.u = compiled_array(state.get());
  for (size_t c = 0; c < n; c++) {
    for (const equation::Region &region : regions_)
      equation_->functions->constants(&place_, &region, (int)c, compiled_array(slopes.data()));
    for (const PetscScalar slope : slopes)
      if (!(PetscAbsScalar(slope) == 0)) none[c] = 0;
  }
  place_ = whole;
  for (size_t f = 0; f < fields_.size(); f++) PetscCall(VecRestoreArrayRead(local_fields_[f], &field_arrays_[f]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, none.data(), (PetscMPIInt)n, MPIU_INT, MPI_MIN, grid_.comm));
  for (size_t c = 0; c < n; c++)
    if (none[c]) unknowns->push_back(c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::SetCells(size_t unknown, Vec volumes) const {
  const size_t n = equation_->unknowns();
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(VecSet(volumes, 0));
  PetscCall(VecGetArray(volumes, &values));
  for (size_t i = 0; i < owned(); i++) {
    const PetscInt point = (PetscInt)i, nx = grid_.size[0], ny = grid_.size[1],
                   p[3] = {grid_.start[0] + point % nx, grid_.start[1] + point / nx % ny,
                           grid_.start[2] + point / nx / ny};
    PetscReal volume = 1;
    for (int a = 0; a < grid_.dim && equation_->shape.stretched; a++)
      volume *= (axes_[a].at(p[a] + 1) - axes_[a].at(p[a] - 1)) / (2 * axes_[a].h());
    values[i * n + unknown] = volume;
  }
  PetscCall(VecRestoreArray(volumes, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of fluxes between cells, nothing is left in the sum. Also: how much of the sources does not cancel there.
PetscErrorCode EquationOnGrid::FindSums(std::vector<size_t> *rows) {
  const PetscReal time = place_.time, rounding = 1e-11;
  const PetscInt  checked = checked_;
  PetscScalar     sum;
  PetscReal       size;
  Vec             u, f, g, cells;
  PetscRandom     numbers;

  PetscFunctionBegin;
  for (Vec *v : {&u, &f, &g, &cells}) PetscCall(DMGetGlobalVector(da_, v));
  checked_ = version_; // a root may have no value at these states
  PetscCall(PetscRandomCreate(grid_.comm, &numbers));
  PetscCall(VecSetRandom(u, numbers));
  PetscCall(Evaluate(time, u, f));
  PetscCall(VecSetRandom(u, numbers));
  PetscCall(Evaluate(time, u, g));
  PetscCall(VecAXPY(f, -1, g));
  PetscCall(VecSet(u, 0));
  PetscCall(Evaluate(time, u, g));
  checked_ = checked;
  PetscCall(PetscRandomDestroy(&numbers));
  imbalance_ = 0;
  for (size_t r = 0; r < equation_->unknowns(); r++) {
    PetscCall(SetCells(r, cells));
    PetscCall(VecPointwiseMult(u, f, cells));
    PetscCall(VecSum(u, &sum));
    PetscCall(VecNorm(u, NORM_1, &size));
    if (!(PetscAbsScalar(sum) <= rounding * size)) continue;
    rows->push_back(r);
    PetscCall(VecPointwiseMult(u, g, cells));
    PetscCall(VecSum(u, &sum));
    PetscCall(VecNorm(u, NORM_1, &size));
    if (size > 0) imbalance_ = PetscMax(imbalance_, PetscAbsScalar(sum) / size);
  }
  for (Vec *v : {&cells, &g, &f, &u}) PetscCall(DMRestoreGlobalVector(da_, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where the rows whose sums are known are as many as the unknowns, these sums span the null space of the transpose.
PetscErrorCode EquationOnGrid::UpdateNullSpaces() {
  std::vector<size_t> unknowns, rows;

  PetscFunctionBegin;
  if (null_version_ == version_) PetscFunctionReturn(PETSC_SUCCESS);
  for (MatNullSpace &space : null_spaces_) PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(FindConstants(&unknowns));
  if (!unknowns.empty()) PetscCall(FindSums(&rows));
  const auto make = [&](const std::vector<size_t> &of, bool cells, MatNullSpace *space) {
    std::vector<Vec> basis(of.size());

    PetscFunctionBegin;
    for (size_t i = 0; i < of.size(); i++) {
      PetscCall(DMCreateGlobalVector(da_, &basis[i]));
      PetscCall(VecSet(basis[i], 0));
      PetscCall(cells ? SetCells(of[i], basis[i]) : VecStrideSet(basis[i], (PetscInt)of[i], 1));
      PetscCall(VecNormalize(basis[i], NULL));
    }
    const bool all = !cells && equation_->unknowns() == 1;
    PetscCall(MatNullSpaceCreate(grid_.comm, all ? PETSC_TRUE : PETSC_FALSE, all ? 0 : (PetscInt)of.size(),
                                 basis.data(), space));
    for (Vec &v : basis) PetscCall(VecDestroy(&v));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (!unknowns.empty()) PetscCall(make(unknowns, false, &null_spaces_[0]));
  if (!unknowns.empty() && rows.size() == unknowns.size())
    PetscCall(make(rows, equation_->shape.stretched, &null_spaces_[1]));
  null_version_ = version_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mark(void) {
  return PETSC_SUCCESS;
}

PetscErrorCode EquationOnGrid::AttachNullSpaces(Mat A) {
  static const char marked[] = "ShellacEquationNullSpace_C";

  PetscFunctionBegin;
  if (!equation_->functions->constants) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UpdateNullSpaces());
  for (int transpose = 0; transpose < 2; transpose++) {
    MatNullSpace present, space = null_spaces_[transpose];
    void (*ours)(void) = NULL;
    PetscCall(transpose ? MatGetTransposeNullSpace(A, &present) : MatGetNullSpace(A, &present));
    if (present) PetscCall(PetscObjectQueryFunction((PetscObject)present, marked, &ours));
    if (present == space || (present && !ours)) continue; // what the program has set stays
    if (space) PetscCall(PetscObjectComposeFunction((PetscObject)space, marked, mark));
    PetscCall(transpose ? MatSetTransposeNullSpace(A, space) : MatSetNullSpace(A, space));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::MakeConsistent(Vec f, bool first) {
  const EquationText &text = equation_->text;

  PetscFunctionBegin;
  if (!equation_->functions->constants) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UpdateNullSpaces());
  if (!null_spaces_[1]) PetscFunctionReturn(PETSC_SUCCESS);
  // a consistent equation's differences have a small one
  PetscCheck(
      !first || text.has_exact || imbalance_ < 0.1, grid_.comm, PETSC_ERR_ARG_OUTOFRANGE, "%s",
      text.error_at(text.unknowns[0].residual.line,
                    "there is no solution: what flows in must flow out, but " +
                        std::to_string((int)(100 * imbalance_ + 0.5)) +
                        " % of the sources are left in their sum over all cells, which does not depend on u; subtract "
                        "their mean, or state u on a side")
          .c_str());
  PetscCall(MatNullSpaceRemove(null_spaces_[1], f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
