// Steady equations that constants solve without their source, as -laplacian(u) between neumann or periodic ends: the
// null spaces of their Jacobians, and residuals for which there is a solution.

#include "equations/equation.hpp"
#include "equations/random.hpp"

namespace shellac {

bool EquationOnGrid::EndsHoldConstants() const {
  bool some = false;
  for (size_t c = 0; c < equation_->unknowns(); c++) {
    bool holds = true;
    for (int a = 0; a < grid_.dim; a++)
      for (int side = 0; side < 2; side++) holds = holds && ends_[c][a].holds_constants((Side)side);
    some = some || holds;
  }
  return some && !equation_->text.has_rate;
}

bool EquationOnGrid::CellsDiffer() const {
  bool differ = equation_->shape.stretched;
  for (int a = 0; a < grid_.dim; a++) differ = differ || ends_[0][a].mirror;
  return differ;
}

namespace {

// Numbers that differ from point to point, or from unknown to unknown alone.
struct AnyState {
  PetscScalar    *u;
  PetscInt        n; // unknowns
  unsigned        seed;
  double          size;
  bool            constant;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    u[i] = size * any_scalar(constant ? (size_t)(i % n) : (size_t)i, seed);
  }
};

// One at an unknown of each point, or its cell's volume; zero at the others, and in solid cells.
struct CellWeights {
  PetscScalar       *weights; // [points][n]
  const PetscScalar *solid;   // [points], not zero there; null: no cell is
  PetscInt           n, unknown, size[3];
  bool               by_volume;
  CellLengths        cells;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const size_t       point = (size_t)i + (size_t)size[0] * ((size_t)j + (size_t)size[1] * (size_t)k);
    PetscScalar *const at = weights + point * (size_t)n;
    const bool         zero = solid && solid[point] != PetscScalar(0);
    for (PetscInt c = 0; c < n; c++) at[c] = zero || c != unknown ? 0 : by_volume ? cells.volume(i, j, k) : 1;
  }
};

} // namespace

static PetscErrorCode set_any_state(Vec u, size_t unknowns, unsigned seed, double size, bool constant) {
  PetscInt     n;
  PetscMPIInt  rank;
  PetscScalar *array;
  Arrays       arrays;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)u), &rank));
  if (!constant) seed += 1000 * (unsigned)rank;
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(arrays.Write(u, &array));
  PetscCall(for_each(arrays.memory(), line_of((size_t)n), AnyState{array, (PetscInt)unknowns, seed, size, constant}));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::SetCells(size_t unknown, bool by_volume, Vec v) {
  const int   solid = equation_->text.solid();
  CellWeights cells = {nullptr,
                       nullptr,
                       (PetscInt)equation_->unknowns(),
                       (PetscInt)unknown,
                       {grid_.size[0], grid_.size[1], grid_.size[2]},
                       by_volume,
                       {}};
  Arrays      arrays;

  PetscFunctionBegin;
  PetscCall(arrays.Write(v, &cells.weights));
  if (solid >= 0) PetscCall(arrays.Read(fields_[(size_t)solid], &cells.solid));
  PetscCall(GetCells(arrays.memory(), &cells.cells));
  PetscCall(for_each_of_box(arrays.memory(), {{0, 0, 0}, {grid_.size[0], grid_.size[1], grid_.size[2]}}, cells));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::SumRow(size_t row, Vec f, PetscScalar *sum, PetscReal *size) {
  WorkVector cells;

  PetscFunctionBegin;
  PetscCall(cells.Get(da_));
  PetscCall(SetCells(row, CellsDiffer(), cells));
  PetscCall(VecPointwiseMult(cells, cells, f));
  PetscCall(VecSum(cells, sum));
  PetscCall(VecNorm(cells, NORM_1, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::JacobianProduct(Vec u, Vec v, Vec y) {
  WorkVector local;

  PetscFunctionBegin;
  PetscCall(GetGhosts(&local, &u));
  PetscCall(Compute(place_.time, u, v, y, equation_->kernels, products_kernel, equation_->functions->product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Constants give zero to the last bit, as differences of equal numbers do: a term as 1e-8 * u must not be lost. At all
// points, because a term may stand at some alone.
// Of fluxes between cells, nothing but rounding errors is left in a row's sum. These are as large as the terms that
// differences are made of, beside which a term as u may be small; so constants are tried too, whose differences are
// zero. What is not finite at a state says nothing.
PetscErrorCode EquationOnGrid::KeepSingular(Vec u, std::vector<size_t> *unknowns, std::vector<size_t> *rows) {
  const PetscReal     rounding = 64 * PETSC_MACHINE_EPSILON;
  std::vector<size_t> kept;
  WorkVector          direction, product;
  PetscScalar         sum;
  PetscReal           size;

  PetscFunctionBegin;
  PetscCall(direction.Get(da_));
  PetscCall(product.Get(da_));
  for (const size_t c : *unknowns) {
    PetscCall(SetCells(c, false, direction));
    PetscCall(JacobianProduct(u, direction, product));
    PetscCall(VecNorm(product, NORM_1, &size));
    if (size == 0 || PetscIsInfOrNanReal(size)) kept.push_back(c);
  }
  unknowns->swap(kept);
  if (unknowns->empty()) rows->clear();
  for (int constant = 0; constant < 2 && !rows->empty(); constant++) {
    kept.clear();
    PetscCall(set_any_state(direction, equation_->unknowns(), 3, 1, constant));
    PetscCall(JacobianProduct(u, direction, product));
    for (const size_t r : *rows) {
      PetscCall(SumRow(r, product, &sum, &size));
      if (PetscAbsScalar(sum) <= rounding * size || PetscIsInfOrNanReal(size)) kept.push_back(r);
    }
    rows->swap(kept);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// If there are as many rows with known sums as unknowns, these sums span the null space of the transpose.
PetscErrorCode EquationOnGrid::MakeNullSpaces() {
  const auto make = [&](const std::vector<size_t> &of, bool by_volume, MatNullSpace *space) {
    std::vector<Vec> basis(of.size());

    PetscFunctionBegin;
    for (size_t i = 0; i < of.size(); i++) {
      PetscCall(DMCreateGlobalVector(da_, &basis[i]));
      PetscCall(SetCells(of[i], by_volume, basis[i]));
      PetscCall(VecNormalize(basis[i], NULL));
    }
    const bool all = !by_volume && equation_->unknowns() == 1 && equation_->text.solid() < 0;
    PetscCall(MatNullSpaceCreate(grid_.comm, all ? PETSC_TRUE : PETSC_FALSE, all ? 0 : (PetscInt)of.size(),
                                 basis.data(), space));
    for (Vec &v : basis) PetscCall(VecDestroy(&v));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  for (MatNullSpace &space : null_spaces_) PetscCall(MatNullSpaceDestroy(&space));
  if (null_unknowns_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(make(null_unknowns_, false, &null_spaces_[0]));
  if (null_rows_.size() == null_unknowns_.size()) PetscCall(make(null_rows_, CellsDiffer(), &null_spaces_[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The Jacobian of a linear equation is the same at all states. That of a nonlinear one is tested at states of both signs and
// several sizes, where terms such as max(u - 2, 0) do not vanish, and then at each u. A property that fails there is
// dropped until parameters change.
PetscErrorCode EquationOnGrid::UpdateNullSpaces(Vec u) {
  PetscFunctionBegin;
  place_.time = equation_->time;
  PetscCall(Update());
  const bool linear = equation_->linear, anew = null_version_ != version_;
  if (!anew && (linear || null_unknowns_.empty())) PetscFunctionReturn(PETSC_SUCCESS);
  std::vector<size_t> unknowns = null_unknowns_, rows = null_rows_;
  if (anew) {
    const double sizes[] = {1, -3, 0.1, -0.3, -10, 30, 1000, -3000};
    WorkVector   state;
    unknowns.clear(), rows.clear();
    for (size_t c = 0; c < equation_->unknowns(); c++) unknowns.push_back(c), rows.push_back(c);
    PetscCall(state.Get(da_));
    for (const double size : sizes) {
      PetscCall(set_any_state(state, equation_->unknowns(), 1, size, false));
      PetscCall(KeepSingular(state, &unknowns, &rows));
      if (linear || unknowns.empty()) break;
    }
  }
  if (!linear && !unknowns.empty()) PetscCall(KeepSingular(u, &unknowns, &rows));
  null_version_ = version_;
  if (!anew && unknowns == null_unknowns_ && rows == null_rows_) PetscFunctionReturn(PETSC_SUCCESS);
  null_unknowns_ = unknowns, null_rows_ = rows;
  PetscCall(MakeNullSpaces());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPShiftFactors(KSP ksp, Mat B) {
  PC                 pc;
  PCType             type;
  PetscOptions       options;
  const char        *prefix;
  MatFactorShiftType shift;
  PetscBool          given, is_factor, is_aij;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATSEQAIJ, &is_aij));
  if (!type && is_aij) PetscCall(PCSetType(pc, PCILU)); // PETSc's default, which it chooses later
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &is_factor, PCILU, PCICC, PCLU, PCCHOLESKY, ""));
  if (!is_factor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetOptions((PetscObject)pc, &options));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsHasName(options, prefix, "-pc_factor_shift_type", &given));
  PetscCall(PCFactorGetShiftType(pc, &shift));
  if (!given && shift == MAT_SHIFT_NONE) PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mark(void) {
  return PETSC_SUCCESS;
}

PetscErrorCode EquationOnGrid::AttachNullSpaces(Vec u, Mat A) {
  static const char marked[] = "ShellacEquationNullSpace_C";

  PetscFunctionBegin;
  if (!equation_->functions->product) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UpdateNullSpaces(u));
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

// The sources are what is left at u = 0. A consistent equation's sum is small beside them, by the error of differences;
// or it is a rounding error, of data as cos(pi / 2) or of the differences of u.
PetscErrorCode EquationOnGrid::CheckBalance(Vec u, Vec f) {
  const EquationText &text = equation_->text;
  const PetscInt      checked = checked_;
  WorkVector          zero, sources, terms;
  PetscReal           imbalance = 0, largest;

  PetscFunctionBegin;
  PetscCall(zero.Get(da_));
  PetscCall(sources.Get(da_));
  PetscCall(terms.Get(da_));
  PetscCall(VecNorm(u, NORM_INFINITY, &largest));
  PetscCall(set_any_state(zero, equation_->unknowns(), 3, 1, false));
  PetscCall(JacobianProduct(u, zero, terms));
  PetscCall(VecSet(zero, 0));
  checked_ = version_; // the equation may have no value there
  PetscCall(Evaluate(place_.time, zero, sources));
  checked_ = checked;
  for (const size_t r : null_rows_) {
    PetscScalar sum, of_sources, of_terms;
    PetscReal   size, source, term;
    PetscCall(SumRow(r, f, &sum, &size));
    PetscCall(SumRow(r, sources, &of_sources, &source));
    PetscCall(SumRow(r, terms, &of_terms, &term));
    const PetscReal rounding = PETSC_MACHINE_EPSILON * PetscMax(1, largest) * term;
    if (source > 0 && PetscAbsScalar(sum) > rounding) imbalance = PetscMax(imbalance, PetscAbsScalar(sum) / source);
  }
  SHELLAC_CHECK_LINE(!(imbalance >= 0.1), PETSC_ERR_ARG_OUTOFRANGE, text.unknowns[0].residual.line,
                     "there is no solution: what flows in must flow out, but " +
                         std::to_string((int)(100 * PetscMin(imbalance, 1) + 0.5)) +
                         " % of the sources are left in their sum over all cells, which does not depend on u; "
                         "subtract their mean, or state u on a side");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::MakeConsistent(Vec u, Vec f, bool first) {
  PetscFunctionBegin;
  if (!equation_->functions->product) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UpdateNullSpaces(u));
  if (!null_spaces_[1]) PetscFunctionReturn(PETSC_SUCCESS);
  if (first && !equation_->text.has_exact) PetscCall(CheckBalance(u, f));
  PetscCall(MatNullSpaceRemove(null_spaces_[1], f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
