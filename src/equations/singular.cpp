// Steady equations that constants solve without their source, as -laplacian(u) between neumann or periodic ends: the null spaces of
// their Jacobians, and residuals for which there is a solution.

#include "equations/equation.hpp"
#include "equations/random.hpp"

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

namespace {

struct AnyState {
  PetscScalar    *u;
  unsigned        seed;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { u[i] = any_scalar((size_t)i, seed); }
};

// One at an unknown of each point, or its cell's volume, where a grid's tables are given; zero at the others.
struct CellWeights {
  PetscScalar  *weights; // [points][n]
  PetscInt      n, unknown, start[3], size[3];
  const double *inverse_cells[3]; // of the points of an axis, null where it has none
  PetscReal     h[3];

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt     p[3] = {start[0] + i, start[1] + j, start[2] + k};
    const size_t       point = (size_t)i + (size_t)size[0] * ((size_t)j + (size_t)size[1] * (size_t)k);
    PetscScalar *const at = weights + point * (size_t)n;
    PetscReal          volume = 1; // of a cell whose spacings are the mean ones
    for (int a = 0; a < 3; a++)
      if (inverse_cells[a]) volume /= inverse_cells[a][p[a]] * h[a];
    for (PetscInt c = 0; c < n; c++) at[c] = c == unknown ? volume : 0;
  }
};

} // namespace

static PetscErrorCode set_any_state(Vec u, unsigned seed) {
  PetscInt     n;
  PetscMPIInt  rank;
  PetscScalar *array;
  Arrays       arrays;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)u), &rank));
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(arrays.Write(u, &array));
  PetscCall(for_each(arrays.memory(), line_of((size_t)n), AnyState{array, seed + 1000 * (unsigned)rank}));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::SetCells(size_t unknown, bool by_volume, Vec v) {
  CellWeights cells = {nullptr, (PetscInt)equation_->unknowns(), (PetscInt)unknown, {}, {}, {}, {}};
  Arrays      arrays;

  PetscFunctionBegin;
  PetscCall(arrays.Write(v, &cells.weights));
  PetscCall(SetTables(arrays.memory()));
  for (int a = 0; a < 3; a++) {
    const PetscInt points = grid_.N[a] + 2 * grid_.width;
    cells.start[a] = grid_.start[a], cells.size[a] = grid_.size[a], cells.h[a] = axes_[a].h();
    if (by_volume && a < grid_.dim && equation_->shape.stretched)
      cells.inverse_cells[a] = place_.stretched[a] + equation::inverse_cells * points + grid_.width;
  }
  PetscCall(for_each_of_box(arrays.memory(), {{0, 0, 0}, {grid_.size[0], grid_.size[1], grid_.size[2]}}, cells));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// To the last bit, as differences of equal numbers are zero: a term as 1e-8 * u must not be lost. At all points, because a term may
// stand at some alone, and at a state that is no special one.
PetscErrorCode EquationOnGrid::FindConstants(std::vector<size_t> *unknowns) {
  PetscReal  size;
  WorkVector state, constants, product;

  PetscFunctionBegin;
  PetscCall(state.Get(da_, ghosts_));
  PetscCall(constants.Get(da_));
  PetscCall(product.Get(da_));
  PetscCall(set_any_state(state, 1));
  for (size_t c = 0; c < equation_->unknowns(); c++) {
    PetscCall(SetCells(c, false, constants));
    PetscCall(Derive(place_.time, state, constants, product, equation_->kernels, 2, equation_->functions->product));
    PetscCall(VecNorm(product, NORM_1, &size));
    if (size == 0) unknowns->push_back(c);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of fluxes between cells, nothing is left in the sum. Also: how much of the sources does not cancel there.
PetscErrorCode EquationOnGrid::FindSums(std::vector<size_t> *rows) {
  const PetscReal time = place_.time, rounding = 1e-11;
  const PetscInt  checked = checked_;
  PetscScalar     sum;
  PetscReal       size;
  Vec             u, f, g, cells;

  PetscFunctionBegin;
  for (Vec *v : {&u, &f, &g, &cells}) PetscCall(DMGetGlobalVector(da_, v));
  checked_ = version_; // a root may have no value at these states
  PetscCall(set_any_state(u, 1));
  PetscCall(Evaluate(time, u, f));
  PetscCall(set_any_state(u, 2));
  PetscCall(Evaluate(time, u, g));
  PetscCall(VecAXPY(f, -1, g));
  PetscCall(VecSet(u, 0));
  PetscCall(Evaluate(time, u, g));
  checked_ = checked;
  imbalance_ = 0;
  for (size_t r = 0; r < equation_->unknowns(); r++) {
    PetscCall(SetCells(r, true, cells));
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
      PetscCall(SetCells(of[i], cells, basis[i]));
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
  if (!equation_->functions->product) PetscFunctionReturn(PETSC_SUCCESS);
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
  if (!equation_->functions->product) PetscFunctionReturn(PETSC_SUCCESS);
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
