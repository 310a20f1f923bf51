#include "formulas/mat.hpp"

#include <cmath>
#include <limits>

namespace shellac {

PetscErrorCode MatIsFormula(Mat A, bool *is) {
  PetscErrorCode (*setter)(Mat, MatLaplaceBoundaryType) = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatLaplaceSetBoundary_C", &setter));
  *is = setter != NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::Prepare(StencilOperator *which, Arrays *arrays,
                                   std::unique_ptr<PreparedOperator> *prepared) {
  PetscFunctionBegin;
  PetscCall(check_readable());
  PetscCall(CapturedMat::Prepare(which, arrays, prepared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::check_readable() const {
  PetscFunctionBegin;
  PetscCall(check_complete());
  PetscCall(MatFormulaCheckZeroed(*this, zeroed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::check_can_add(Mat A, Mat X) const {
  MatType type, other;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetType(X, &other));
  SETERRQ(grid.comm, PETSC_ERR_SUP,
          "a Mat of type %s cannot take up one of type %s: its rows have one formula; convert it first: MatConvert(Y, "
          "MATAIJ, MAT_INPLACE_MATRIX, &Y), or assemble it into -dm_mat_type stencil",
          type, other);
}

PetscErrorCode FormulaMat::check_copy(const CapturedMat &other) const {
  const auto &from = static_cast<const FormulaMat &>(other);
  bool        same = true;

  PetscFunctionBegin;
  for (int a = 0; a < grid.dim; a++)
    for (int side = 0; side < 2; side++)
      same = same && ends[a].form[side] == from.ends[a].form[side] && ends[a].robin[side] == from.ends[a].robin[side];
  PetscCheck(same, grid.comm, PETSC_ERR_ARG_INCOMP,
             "the two operators have different boundary forms; make the target with MatDuplicate()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::destroy() {
  PetscFunctionBegin;
  for (MatNullSpace &space : null_spaces) PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(CapturedMat::destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- set-up --------------------------------------------------------------------------------------------------------

static PetscErrorCode check_sides(const FormulaMat &context, PetscInt given, const char *what) {
  const int dim = context.grid.dim;

  PetscFunctionBegin;
  PetscCheck(given <= 1 || given == 2 * dim, context.grid.comm, PETSC_ERR_ARG_SIZ,
             "%" PetscInt_FMT
             " %s are given for a grid of %d dimension%s; give one for all sides, or %d: for the lower "
             "and the upper end of each axis",
             given, what, dim, dim > 1 ? "s" : "", 2 * dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The ends of each axis, with its spacing from the lengths or the coordinates.
static PetscErrorCode set_ends(FormulaMat *context, MatType type, DM dm) {
  const Grid &grid = context->grid;
  PetscReal   h[3];

  PetscFunctionBegin;
  PetscCall(check_sides(*context, context->forms_given, "boundary forms"));
  PetscCall(check_sides(*context, context->robin_given, "Robin coefficients"));
  bool any_robin = false;
  for (int a = 0; a < 3; a++) {
    Ends &ends = context->ends[a];
    ends.N = grid.N[a];
    ends.periodic = a >= grid.dim || grid.boundary[a] == DM_BOUNDARY_PERIODIC;
    ends.mirror = a < grid.dim && grid.boundary[a] == DM_BOUNDARY_MIRROR;
    for (int e = 0; e < 2; e++) {
      const bool is_robin = of_side(context->forms_given, context->forms, 2 * a + e) == MAT_LAPLACE_ROBIN;
      ends.form[e] = of_side(context->forms_given, context->forms, 2 * a + e);
      ends.robin[e] = is_robin ? of_side(context->robin_given, context->robin, 2 * a + e) : 0;
      any_robin = any_robin || (is_robin && !ends.periodic && !ends.mirror);
    }
  }
  PetscCheck(context->robin_given || !any_robin, grid.comm, PETSC_ERR_ARG_INCOMP,
             "a side has the boundary form robin, and no coefficient; set the α of ∂u/∂n + αu = g by "
             "MatLaplaceSetRobin() or the option that ends in _robin");
  PetscCheck(!context->robin_given || any_robin, grid.comm, PETSC_ERR_ARG_INCOMP,
             "a Robin coefficient is set, and no side has the boundary form robin");
  PetscCheck(!context->lengths_given || context->lengths_given == grid.dim, grid.comm, PETSC_ERR_ARG_SIZ,
             "%" PetscInt_FMT " side length%s given for a grid of %d dimension%s; give %d to -mat_%s_lengths or "
             "MatLaplaceSetLengths()",
             context->lengths_given, context->lengths_given > 1 ? "s are" : " is", grid.dim, grid.dim > 1 ? "s" : "",
             grid.dim, type);
  for (int a = 0; a < 3; a++) {
    const Ends &ends = context->ends[a];
    PetscCheck(!ends.mirror || grid.N[a] > 1, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
               "a mirrored axis needs 2 points or more; axis %c of the DMDA has %" PetscInt_FMT
               "; take more points, or DM_BOUNDARY_NONE",
               "xyz"[a], grid.N[a]);
    h[a] = context->lengths[a] / (ends.intervals() > 0 ? ends.intervals() : 1); // a point on both its ends
    context->origin[a] = ends.periodic || ends.mirror ? 0 : Ends::distance(ends.form[LOWER]) * h[a];
  }
  // a domain with lengths begins at 0; coordinates have no effect
  if (!context->lengths_given) PetscCall(GridGetSpacingFromCoordinates(grid, dm, h, context->origin));
  for (int a = 0; a < grid.dim; a++) {
    using Limits = std::numeric_limits<PetscReal>; // without a division by zero: -fp_trap
    PetscCheck(
        h[a] >= std::sqrt(Limits::min()) && h[a] <= std::sqrt(Limits::max()), grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
        "the spacing along axis %c is %g, of which 1/h² cannot be taken; check the DM's coordinates or set the side "
        "lengths (-mat_%s_lengths)",
        "xyz"[a], (double)h[a], type);
    for (PetscReal alpha : context->ends[a].robin)
      PetscCheck(1 + alpha * h[a] / 2 > 0, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                 "the Robin coefficient %g is too far below zero for the spacing %g along axis %c: 1 + αh/2 must be "
                 "positive; take more points",
                 (double)alpha, (double)h[a], "xyz"[a]);
  }
  for (int a = 0; a < 3; a++) context->ends[a].h = h[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

Point FormulaMat::any_point() const {
  Point p;
  p.dim = grid.dim;
  p.time = time;
  p.reach_ = grid.width;
  for (int a = 0; a < 3; a++) {
    const PetscInt beyond = a < grid.dim ? grid.width : 0;
    p.N[a] = grid.N[a];
    p.h[a] = ends[a].h;
    p.origin_[a] = origin[a];
    p.first_[a] = grid.start[a] - beyond;
    p.size_[a] = grid.size[a] + 2 * beyond;
  }
  return p;
}

// A rank's halo consists of its neighbours' own points.
static PetscErrorCode check_width(const Grid &grid, MatType type) {
  PetscFunctionBegin;
  for (int a = 0; a < grid.dim; a++) {
    PetscInt least = grid.N[a];
    for (PetscMPIInt r = 0; r < grid.ranks[a]; r++) least = PetscMin(least, grid.first[a][r + 1] - grid.first[a][r]);
    PetscCheck(least >= grid.width || (grid.ranks[a] == 1 && !grid.periodic(a)), grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
               "the formula of type %s reaches %" PetscInt_FMT " points, and a rank has only %" PetscInt_FMT
               " along axis %c; take more points, fewer ranks, or a DMDA with that stencil width",
               type, grid.width, least, "xyz"[a]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An identity row is not symmetric to the row of a neighbour inside. Neither is the row of a mirrored end, unless both rows
// are mirrored ends (N = 2). Robin's factor depends on the distance of a neighbour beyond the end, which may be different
// for two points.
static bool has_symmetric_rows(const Ends ends[3], int dim, PetscInt width) {
  bool symmetric = true;
  for (int a = 0; a < dim; a++) {
    const Ends &e = ends[a];
    for (int side = 0; side < 2; side++)
      if (width > 1 && !e.periodic && !e.mirror && e.form[side] == MAT_LAPLACE_ROBIN) symmetric = false;
    if (e.identity(0) && (e.N == 1 || (e.N == 2 && e.identity(1)))) return true; // all rows are the identity's
    if (e.identity(0) || e.identity(e.N - 1) || (e.mirror && e.N > 2)) symmetric = false;
  }
  return symmetric;
}

PetscErrorCode FormulaMat::fill(const Formula &of, PetscScalar identity, CapturedStencil *coefficients,
                                PetscReal *relative_sum) {
  DomainRows          rows = rows_of(of);
  PetscScalar *const *values;
  Refusal             refusal;
  bool                done = false;

  PetscFunctionBegin;
  if (!of.constant() && relative_sum) PetscCall(fill_beside_fields(coefficients, relative_sum, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(read_fields());
  if (is_of_program()) {
    const bool        must_be_symmetric = of.symmetric() && has_symmetric_rows(ends, grid.dim, grid.width);
    const std::string broken = rows.broken_promise(*arms, coefficients->patch(), must_be_symmetric);
    SHELLAC_CHECK_ALL(broken.empty(), grid.comm, PETSC_ERR_USER, "%s", broken.c_str());
  }
  const auto read = [&](const PetscInt i[3], const auto &put) {
    rows.get(*arms, i, identity,
             [&](int arm, PetscInt r, PetscInt c, PetscScalar value) { put(coefficients->slot(arm, r, c), value); });
  };
  if (of.constant())
    coefficients->SetByPlace(read);
  else {
    const Patch &patch = coefficients->patch();
    PetscCall(coefficients->Open(&values));
    PetscCall(coefficients->NeedAll());
    for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt at[3] = {patch.start[0] + i, patch.start[1] + j, patch.start[2] + k};
      read(at, [&](int slot, PetscScalar value) { values[slot][patch.index(i, j, k)] += value; });
    });
    PetscCall(coefficients->Close(compression, &refusal));
  }
  SHELLAC_CHECK_ALL(rows.problem().empty(), grid.comm, PETSC_ERR_USER, "%s", rows.problem().c_str());
  if (relative_sum) {
    *relative_sum = rows.relative_sum();
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, relative_sum, 1, MPIU_REAL, MPIU_MAX, grid.comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::set_up(Mat A) {
  DM        dm;
  MatType   type;
  PetscBool on_device;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  PetscCall(MatStencilSetUpLayout(A, this, &on_device));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(set_ends(this, type, dm));
  if (mask_formula) PetscCall(MatObstaclesMakeMask(A, *this, &mask));
  formula = make_formula();
  const Shape shape = formula->shape();
  PetscCheck(grid.dof == formula->dof(), grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "the operator acts on %s a point; the DMDA has dof = %" PetscInt_FMT
             "; make a DMDA with dof = %" PetscInt_FMT " (DMDACreateCompatibleDMDA())",
             formula->dof() == 1 ? "one unknown" : "several unknowns", grid.dof, formula->dof());
  PetscCheck(shape.width >= 0, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "the formula of type %s has a shape of width %" PetscInt_FMT "; it must be 0 or more", type, shape.width);
  grid.width = shape.width; // whatever the DMDA's stencil is
  grid.box = shape.box;
  PetscCall(check_width(grid, type));
  PetscCall(load_fields()); // as far around the points as the shape says
  formula = make_formula();
  symmetric = formula->symmetric() && has_symmetric_rows(ends, grid.dim, shape.width);
  // the last row differs from those inside where it is the identity's, however narrow the shape; of the transpose, rows also
  // differ where those that they take their entries from do
  PetscCall(make_operator(A, on_device, PetscMax(shape.width, 1) * (symmetric ? 1 : 2)));
  captured().set_explicit_zeros(false);
  const PetscErrorCode error = is_complete() ? fill(*formula, 1, &captured(), &relative_sum) : PETSC_SUCCESS;
  if (error) { // the Mat is as before its set-up
    op.reset();
    PetscCall(halo.Destroy());
  }
  PetscCall(error);
  PetscCall(take_coefficients(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::take_coefficients(Mat A) {
  PetscFunctionBegin;
  if (symmetric) { // others may be by chance, as with a velocity of zero: MatIsSymmetric() finds out
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE)); // but for changes of single rows, see altered()
  }
  PetscCall(changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool FormulaMat::stale() {
  for (const HeldField *field : fields())
    if (*field && (*field)->stale()) return true;
  return false;
}

// VecGetArray() is logically collective, but this is not enforced, and ranks without changed values may not call it. If each
// rank decided by its own object state, some would start the product while others exchange fields, and all would wait for
// ever. So ranks agree by a reduction, in each product of an operator with fields.
PetscErrorCode FormulaMat::refresh(Mat A, bool collective) {
  PetscMPIInt      stale = this->stale();
  bool             any = false;
  PetscObjectState state;

  PetscFunctionBegin;
  for (const HeldField *field : fields()) any = any || *field;
  PetscCheck(!stale || collective, PETSC_COMM_SELF, PETSC_ERR_ORDER,
             "a field of the operator has changed, and single rows cannot be filled anew; call MatAssemblyBegin() and "
             "MatAssemblyEnd() on all ranks before");
  if (!any || !collective) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &stale, 1, MPI_INT, MPI_MAX, grid.comm));
  if (!stale) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(change.none(), grid.comm, PETSC_ERR_ORDER,
             "a field of the operator has changed after the operator itself (MatScale(), MatZeroRows(), ...); set the "
             "field again, which fills all rows anew, and repeat those calls");
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(refill(A));
  refreshes++;
  PetscCall(announce(A)); // forgets whether the rows were symmetric
  PetscCall(PetscObjectStateSet((PetscObject)A, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::refill(Mat A) {
  const std::vector<HeldField *> held = fields();
  std::vector<HeldField>         before;

  PetscFunctionBegin;
  if (!op) PetscFunctionReturn(PETSC_SUCCESS);
  for (const HeldField *field : held) before.push_back(*field);
  PetscErrorCode error = load_fields();
  if (!error) error = replace_rows(A);
  for (size_t n = 0; error && n < held.size(); n++) *held[n] = before[n];
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::replace_rows(Mat A) {
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  std::unique_ptr<Formula> made = make_formula();
  const Shape              shape = made->shape();
  PetscCheck(shape.width == grid.width && shape.box == grid.box && made->dof() == grid.dof &&
                 made->symmetric() == formula->symmetric(),
             grid.comm, PETSC_ERR_ORDER,
             "the shape and the properties of a formula of type %s are fixed since MatSetUp(); set what they depend on "
             "before",
             type);
  if (!is_complete()) {
    formula = std::move(made);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::unique_ptr<CapturedStencil> fresh = captured().NewLike();
  PetscReal                        sum = 0;
  PetscCall(fill(*made, 1, fresh.get(), &sum));
  PetscCall(invalidate());
  awaited.reset();
  op = std::move(fresh);
  formula = std::move(made);
  relative_sum = sum;
  zeroed = false;
  change = {};
  symmetric = formula->symmetric() && has_symmetric_rows(ends, grid.dim, grid.width);
  if (is_transposed && symmetric) is_transposed = false;
  if (is_transposed) {
    std::unique_ptr<StencilOperator> other;
    PetscCall(make_transpose(&other));
    op = std::move(other);
  }
  PetscCall(take_coefficients(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the type ------------------------------------------------------------------------------------------------------

PetscErrorCode MatCreateFormulaShell(Mat A, MatType type, FormulaMat *context) {
  PetscFunctionBegin;
  PetscCall(MatCreateStencilShell(A, context));
  PetscCall(MatCapturedSetZeroRowsOperations(A));
  PetscCall(MatCapturedSetAlgebraOperations(A));
  PetscCall(MatCapturedSetDiagonalOperations(A));
  PetscCall(MatCapturedSetTransposeOperations(A));
  PetscCall(MatFormulaSetAssemblyOperations(A));
  PetscCall(MatFormulaSetSettingOperations(A));
  PetscCall(set_operation(A, MATOP_SOR, MatStencilRelax)); // over the whole grid, whatever the ranks
  PetscCall(MatSetStencilType(A, type, MatFormulaView));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateOfType(DM da, MatType type, const std::function<PetscErrorCode(Mat)> &set, Mat *A) {
  PetscFunctionBegin;
  PetscCheck(da, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the DMDA is null; create it first");
  SHELLAC_CHECK_ALL(A, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_NULL,
                    "the place for the new operator is null; give the address of a Mat");
  SHELLAC_CHECK_ALL(type, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_NULL,
                    "the type is null; give the name that the formula was registered with");
  PetscCall(ShellacInitializePackage());
  PetscCall(create_whole(A, [&](Mat *made) {
    PetscFunctionBegin;
    PetscCall(MatCreate(PetscObjectComm((PetscObject)da), made));
    PetscCall(MatSetDM(*made, da));
    PetscCall(MatSetType(*made, type));
    if (set) PetscCall(set(*made));
    PetscCall(set_from_options_of_type(*made));
    PetscCall(MatSetUp(*made));
    PetscCall(MatViewFromOptions(*made, NULL, "-mat_view")); // an assembled matrix is viewed by MatAssemblyEnd()
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
