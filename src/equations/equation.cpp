// An equation on a grid: set-up, fields.

#include "equations/equation.hpp"
#include "equations/files.hpp"

#include <algorithm>
#include <cmath>

namespace shellac {

std::string dimensions(int dim) {
  return std::to_string(dim) + (dim == 1 ? " dimension" : " dimensions");
}

PetscErrorCode EquationOnGrid::Create(DM da, std::shared_ptr<Equation> equation) {
  const EquationText &text = equation->text;

  PetscFunctionBegin;
  static PetscInt64 made = 0;
  id_ = ++made;
  equation_ = std::move(equation);
  da_ = stepper_->da = da;
  PetscCall(GridCreate(da, &grid_));
  const MPI_Comm comm = grid_.comm;
  PetscCheck(text.unknowns.size() <= 8, comm, PETSC_ERR_SUP, "%s has %d unknowns; 8 are possible", text.file.c_str(),
             (int)text.unknowns.size());
  std::string count = std::to_string(text.unknowns.size()) + (text.unknowns.size() == 1 ? " unknown" : " unknowns");
  if (text.unknowns.back().derivative_of >= 0) count += ", with " + text.unknowns.back().name + ", which rate2 adds";
  SHELLAC_CHECK_LINE((size_t)grid_.dof == text.unknowns.size(), PETSC_ERR_ARG_SIZ, text.unknowns.back().line,
                     "the text has " + count + ", but the DMDA has " + std::to_string(grid_.dof) +
                         " at a point; make the DMDA with dof " + std::to_string(text.unknowns.size()) +
                         ", or state the unknowns, as unknowns(u, v)");
  SHELLAC_CHECK_LINE(!text.dim || text.dim == grid_.dim, PETSC_ERR_ARG_SIZ, text.grid_line,
                     "the text is for a grid of " + dimensions(text.dim) + ", but the DMDA has " +
                         std::to_string(grid_.dim) + "; make another DMDA, or change the statement");
  for (const auto &use : text.axis_uses)
    SHELLAC_CHECK_LINE(use.axis < grid_.dim, PETSC_ERR_ARG_OUTOFRANGE, use.line,
                       "the grid has " + dimensions(grid_.dim) + "; " + use.word + " needs " +
                           std::to_string(use.axis + 1));
  const auto stencil = [](bool box, PetscInt width) {
    return std::string(box ? "box" : "star") + " stencil of width " + std::to_string(width);
  };
  const PetscInt width = PetscMax(text.width, 1);
  const bool     shape_serves = grid_.box || !text.box;
  SHELLAC_CHECK_LINE(grid_.width >= width && shape_serves, PETSC_ERR_ARG_OUTOFRANGE, text.grid_line,
                     "the text needs a " + stencil(text.box, width) + ", but the DMDA has a " +
                         stencil(grid_.box, grid_.width) + "; make the DMDA with " +
                         (shape_serves ? "" : "DMDA_STENCIL_BOX and ") + "stencil width " + std::to_string(width));
  for (int a = 0; a < grid_.dim; a++)
    PetscCheck(!text.periodic[a] || grid_.boundary[a] == DM_BOUNDARY_PERIODIC, comm, PETSC_ERR_ARG_WRONG,
               "%s is periodic along %c, but the DMDA is not; make it with DM_BOUNDARY_PERIODIC there",
               text.file.c_str(), "xyz"[a]);
  const int w = (int)grid_.width;
  for (PetscInt z = grid_.dim > 2 ? -w : 0; z <= (grid_.dim > 2 ? w : 0); z++)
    for (PetscInt y = grid_.dim > 1 ? -w : 0; y <= (grid_.dim > 1 ? w : 0); y++)
      for (PetscInt x = -w; x <= w; x++)
        if (grid_.box || (x != 0) + (y != 0) + (z != 0) <= 1) arms_.push_back({{x, y, z}});
  PetscInt    ghost[3], size[3];
  PetscMPIInt ranks;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  ghosts_ = ranks > 1;
  PetscCall(DMDAGetGhostCorners(da, &ghost[0], &ghost[1], &ghost[2], &size[0], &size[1], &size[2]));
  for (int a = 0; a < 3; a++) {
    place_.N[a] = grid_.N[a];
    place_.periodic[a] = a >= grid_.dim || grid_.boundary[a] == DM_BOUNDARY_PERIODIC;
    place_.read_start[a] = ghosts_ && a < grid_.dim ? ghost[a] : grid_.start[a];
    place_.read_size[a] = ghosts_ && a < grid_.dim ? size[a] : grid_.size[a];
    place_.write_start[a] = grid_.start[a];
    place_.write_size[a] = grid_.size[a];
    place_.h[a] = 1;
  }
  place_.row_scale = 1;
  place_.parameter = place_.field = -1;
  place_.gives = 0;
  place_.arm = own_arm_;
  place_.parameters = equation_->parameters.data();
  PetscCall(SetEnds());
  if (!equation_->functions && EndsHoldConstants()) {
    equation_->shape.holds_constants = true;
    equation_->kernels.names.push_back("products");
  }
  if (!equation_->functions && !text.fields.empty()) equation_->sensitivity_kernels.names.push_back("transposed");
  for (LazyKernels *of :
       {&equation_->kernels, &equation_->value_kernels, &equation_->action_kernels, &equation_->sensitivity_kernels})
    if (!equation_->functions && text.has_integrals) of->names.push_back("integrands");
  MakeRegions();
  const size_t fields = text.fields.size();
  field_set_.assign(fields, false);
  VecType type;
  PetscCall(DMGetVecType(da, &type));
  if (fields) PetscCall(DMDACreateCompatibleDMDA(da, 1, &field_da_));
  if (fields) PetscCall(DMSetVecType(field_da_, type));
  fields_.assign(fields, NULL), local_fields_.assign(fields, NULL), field_arrays_.assign(fields, nullptr);
  for (size_t f = 0; f < fields; f++) {
    PetscCall(DMCreateGlobalVector(field_da_, &fields_[f]));
    if (ghosts_)
      PetscCall(DMCreateLocalVector(field_da_, &local_fields_[f]));
    else
      PetscCall(PetscObjectReference((PetscObject)(local_fields_[f] = fields_[f])));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Destroy() {
  PetscFunctionBegin;
  if (stepper_->da == da_) stepper_->da = NULL;
  for (Vec &v : fields_) PetscCall(VecDestroy(&v));
  for (Vec &v : local_fields_) PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&field_da_));
  PetscCall(VecDestroy(&step_scale_));
  PetscCall(VecDestroy(&rates_));
  for (MatNullSpace &space : null_spaces_) PetscCall(MatNullSpaceDestroy(&space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A condition on `sides` may be without effect if it states no datum, or zero.
static bool is_given_value(const Expression &e) {
  double number;
  return e && !(read_decimal(e.text, &number) && number == 0);
}

bool EquationOnGrid::HasEnds() const {
  bool has = false;
  for (int a = 0; a < grid_.dim; a++)
    has = has || (grid_.boundary[a] != DM_BOUNDARY_PERIODIC && grid_.boundary[a] != DM_BOUNDARY_MIRROR);
  return has;
}

// The forms of the ends.
PetscErrorCode EquationOnGrid::SetEnds() {
  static const MatLaplaceBoundaryType forms[] = {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN,
                                                 MAT_LAPLACE_ROBIN};
  const EquationText                 &text = equation_->text;
  const size_t                        n = text.unknowns.size();

  PetscFunctionBegin;
  for (size_t c = 0; c < n; c++)
    for (int a = 0; a < 3; a++) {
      Ends &e = ends_[c][a];
      e.N = grid_.N[a];
      e.periodic = place_.periodic[a];
      e.mirror = a < grid_.dim && grid_.boundary[a] == DM_BOUNDARY_MIRROR;
      for (int side = 0; side < 2; side++) {
        const EquationText::End &stated = text.unknowns[c].ends[a][side];
        e.form[side] = forms[stated.form];
        SHELLAC_CHECK_LINE(a >= grid_.dim || !(e.periodic || e.mirror) || !stated.line ||
                               (!stated.by_name && (HasEnds() || !is_given_value(stated.value))),
                           PETSC_ERR_ARG_WRONG, stated.line,
                           std::string("the condition on ") + (stated.by_name ? side_names[a][side] : "sides") +
                               " has no effect, because the axis " + "xyz"[a] + " is " +
                               (e.mirror ? "mirrored at its ends" : "periodic") +
                               "; remove it, or make the DMDA with DM_BOUNDARY_NONE" +
                               (text.periodic[a] ? " and remove periodic(" + std::string(1, "xyz"[a]) + ")" : ""));
        SHELLAC_CHECK_LINE(
            Ends::distance(e.form[side]) == Ends::distance(ends_[0][a].form[side]), PETSC_ERR_SUP,
            PetscMax(text.unknowns[c].ends[a][side].line, text.unknowns[0].ends[a][side].line),
            "the unknowns have conditions that place the last points at different distances from the end "
            "(eliminated: a spacing, identity: none, neumann and robin: half a spacing); use conditions of "
            "one distance");
      }
      PetscCheck(
          e.intervals() > 0, grid_.comm, PETSC_ERR_ARG_SIZ,
          "the DMDA has one point along %c, but both ends of %s are on it, which leaves no spacing; give it two or "
          "more, or state another condition than identity",
          "xyz"[a], text.file.c_str());
    }
  PetscCall(SetAxes());
  if (!equation_->cell) equation_->cell = cell();
  if (!equation_->ranks) PetscCallMPI(MPI_Comm_size(grid_.comm, &equation_->ranks));
  columns_ = equation_->ranks == 1 && grid_.N[0] % 2 == 0 && has_columns(equation_->shape, text) ? 2 : 1;
  identity_.assign(n * 6, 0);
  for (size_t c = 0; c < n; c++)
    for (int a = 0; a < grid_.dim; a++)
      for (int side = 0; side < 2; side++)
        identity_[(c * 3 + a) * 2 + side] =
            ends_[c][a].identity(side ? grid_.N[a] - 1 : 0) && ends_[c][a].form[side] == MAT_LAPLACE_IDENTITY;
  place_.identity = identity_.data();
  PetscCall(SetGiven());
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool EquationOnGrid::IsGiven(size_t i) const {
  const size_t   n = equation_->unknowns();
  const PetscInt point = (PetscInt)(i / n), nx = grid_.size[0], ny = grid_.size[1],
                 p[3] = {grid_.start[0] + point % nx, grid_.start[1] + point / nx % ny,
                         grid_.start[2] + point / nx / ny};
  bool given = false;
  for (int a = 0; a < grid_.dim; a++)
    for (int side = 0; side < 2; side++)
      given = given || (identity_[(i % n * 3 + (size_t)a) * 2 + (size_t)side] && p[a] == (side ? grid_.N[a] - 1 : 0));
  return given;
}

bool EquationOnGrid::Gives(int axis, int side) const {
  bool gives = false;
  for (size_t c = 0; c < equation_->unknowns(); c++)
    gives = gives || identity_[(c * 3 + (size_t)axis) * 2 + (size_t)side];
  return gives && equation_->text.has_rate;
}

bool EquationOnGrid::Imposes() const {
  bool imposes = false;
  for (int a = 0; a < grid_.dim; a++) imposes = imposes || Gives(a, LOWER) || Gives(a, UPPER);
  return imposes;
}

// This rank's points on sides where a rate's unknowns are given, and whether their data depend on the time.
PetscErrorCode EquationOnGrid::SetGiven() {
  const EquationText &text = equation_->text;

  PetscFunctionBegin;
  given_of_time_ = text.has_exact;
  for (int a = 0; a < grid_.dim; a++)
    for (int side = 0; side < 2; side++) {
      const PetscInt   at = side ? grid_.N[a] - 1 : 0;
      equation::Region region = AllPoints();
      if (!Gives(a, side)) continue;
      for (const auto &unknown : text.unknowns)
        given_of_time_ = given_of_time_ || text.is_of_time(unknown.ends[a][side].value);
      region.start[a] = at, region.end[a] = at + 1;
      if (at >= grid_.start[a] && at < grid_.start[a] + grid_.size[a] && region.points())
        given_regions_.push_back(region);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::SetAtGiven(Vec v, PetscScalar value, bool given) const {
  const size_t n = equation_->unknowns();
  PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(VecGetArray(v, &array));
  for (size_t i = 0; i < owned() * n; i++)
    if (IsGiven(i) == given) array[i] = value;
  PetscCall(VecRestoreArray(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The points whose neighbours are all within the domain and in the arrays, and the other points. If a periodic axis is
// so short that a neighbour is the point itself, all points are among the others.
void EquationOnGrid::MakeRegions() {
  shellac::Box all, inside;
  for (int a = 0; a < 3; a++) {
    all.lo[a] = inside.lo[a] = grid_.start[a];
    all.hi[a] = inside.hi[a] = grid_.start[a] + grid_.size[a];
    if (place_.periodic[a] && (a >= grid_.dim || (ghosts_ && grid_.N[a] > grid_.width))) continue;
    // what is given on an end takes the place of values there
    const PetscInt lower = grid_.width + (Gives(a, LOWER) ? 1 : 0), upper = grid_.width + (Gives(a, UPPER) ? 1 : 0);
    inside.lo[a] = PetscMin(PetscMax(all.lo[a], lower), all.hi[a]);
    inside.hi[a] = PetscMax(PetscMin(all.hi[a], grid_.N[a] - upper), inside.lo[a]);
  }
  const auto add = [&](const shellac::Box &box, bool ends) {
    equation::Region region;
    for (int a = 0; a < 3; a++) region.start[a] = box.lo[a], region.end[a] = box.hi[a];
    region.ends = ends;
    if (box.points() > 0) regions_.push_back(region);
  };
  add(inside, false);
  const Boxes rest = difference(all, inside);
  for (int b = 0; b < rest.count; b++) add(rest.box[b], true);
}

equation::Region EquationOnGrid::AllPoints() const {
  equation::Region all = {};
  for (int a = 0; a < 3; a++) all.start[a] = grid_.start[a], all.end[a] = grid_.start[a] + grid_.size[a];
  all.ends = 1;
  return all;
}

PetscErrorCode EquationOnGrid::Update() {
  const size_t n = equation_->unknowns(), w = (size_t)grid_.width;

  PetscFunctionBegin;
  PetscCall(SetTables(PETSC_MEMTYPE_HOST));
  const bool at_another_time = equation_->text.fields_of_time && fields_time_ != place_.time;
  if (version_ == equation_->version && !at_another_time) PetscFunctionReturn(PETSC_SUCCESS);
  place_.parameters = equation_->parameters.data();
  std::vector<double> alpha(n * 6, 0.);
  equation_->functions->robin(&place_, alpha.data());
  folds_.resize(n * 6 * w);
  for (size_t c = 0; c < n; c++)
    for (int a = 0; a < grid_.dim; a++)
      for (int side = 0; side < 2; side++) {
        ends_[c][a].robin[side] = alpha[(c * 3 + a) * 2 + side];
        SHELLAC_CHECK_LINE(!PetscIsInfOrNanReal(ends_[c][a].robin[side]), PETSC_ERR_FP,
                           equation_->text.unknowns[c].ends[a][side].line,
                           "the alpha of robin(" + std::string(side_names[a][side]) + ") is not finite");
        for (size_t m = 1; m <= w && !place_.periodic[a]; m++) {
          PetscInt  inside;
          PetscReal factor, given;
          Ends      at = ends_[c][a];
          at.h = axes_[a].image_spacing(side, (PetscInt)m);
          at.fold(side ? grid_.N[a] - 1 + (PetscInt)m : -(PetscInt)m, &inside, &factor, &given);
          folds_[((c * 3 + a) * 2 + side) * w + m - 1] = {inside, (double)factor, (double)given};
        }
      }
  place_.folds = folds_.data();
  PetscCall(SetFieldsByFormula());
  given_scale_.assign(n, 1);
  place_.given_scale = given_scale_.data();
  if (!equation_->text.has_rate) PetscCall(SetGivenScale()); // of a rate GetStepScale() does
  version_ = equation_->version, fields_time_ = place_.time;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- fields --------------------------------------------------------------------------------------------------------

PetscErrorCode EquationOnGrid::SetFieldsByFormula() {
  PetscFunctionBegin;
  for (size_t f = 0; f < fields_.size(); f++) {
    if (!field_set_[f] && equation_->text.fields[f].formula) {
      const bool   is_solid = (int)f == equation_->text.solid();
      PetscScalar *array;
      PetscReal    size;
      for (size_t g = 0; g < f; g++) PetscCall(VecGetArrayRead(local_fields_[g], &field_arrays_[g]));
      place_.fields = reinterpret_cast<const equation::Scalar *const *>(field_arrays_.data());
      PetscCall(VecGetArrayWrite(fields_[f], &array));
      for (const equation::Region &region : regions_)
        equation_->functions->field(&place_, &region, (int)f, compiled_array(array));
      PetscCall(VecRestoreArrayWrite(fields_[f], &array));
      for (size_t g = 0; g < f; g++) PetscCall(VecRestoreArrayRead(local_fields_[g], &field_arrays_[g]));
      if (is_solid) PetscCall(VecNorm(fields_[f], NORM_1, &size));
      SHELLAC_CHECK_LINE(!is_solid || !PetscIsInfOrNanReal(size), PETSC_ERR_FP, equation_->text.fields[f].line,
                         "the formula of solid cells is not finite somewhere; state one that is a number everywhere");
    }
    if (!ghosts_) continue;
    PetscCall(DMGlobalToLocal(field_da_, fields_[f], INSERT_VALUES, local_fields_[f]));
  }
  if (equation_->text.solid() >= 0 && equation_->text.has_integrals) { // these are over the fluid
    WorkVector  cells;
    PetscScalar volume;
    PetscCall(cells.Get(da_));
    PetscCall(SetCells(0, true, cells));
    PetscCall(VecSum(cells, &volume));
    place_.inverse_measure = 1 / PetscRealPart(volume);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::ZeroInSolid(PetscScalar *values) const {
  const int          solid = equation_->text.solid();
  const size_t       n = equation_->unknowns();
  const PetscScalar *mask;

  PetscFunctionBegin;
  if (solid < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(fields_[(size_t)solid], &mask));
  for (size_t i = 0; i < owned() * n; i++)
    if (mask[i / n] != PetscScalar(0)) values[i] = 0;
  PetscCall(VecRestoreArrayRead(fields_[(size_t)solid], &mask));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::SetField(size_t f, Vec values) {
  PetscFunctionBegin;
  PetscCall(GridCheckVector(grid_, values, "field of the equation", 1));
  PetscReal norm; // not finite where a value is not
  PetscCall(VecNorm(values, NORM_1, &norm));
  SHELLAC_CHECK_LINE(!PetscIsInfOrNanReal(norm), PETSC_ERR_ARG_OUTOFRANGE, equation_->text.fields[f].line,
                     "the field " + equation_->text.fields[f].name + " has values that are not finite");
  PetscCall(VecCopy(values, fields_[f]));
  field_set_[f] = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::LoadField(size_t f, const std::string &file) {
  const std::string &name = equation_->text.fields[f].name;
  WorkVector         values;

  PetscFunctionBegin;
  PetscCall(values.Get(field_da_));
  PetscCall(load_vector(field_da_, "-equation_" + name, file, {name}, values));
  PetscCall(SetField(f, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::TakeFields(EquationOnGrid &from, bool finer) {
  Mat transfer = NULL;

  PetscFunctionBegin;
  for (size_t f = 0; f < fields_.size(); f++) {
    field_set_[f] = from.field_set_[f];
    if (!field_set_[f]) continue;
    if (!transfer && finer) PetscCall(DMCreateInjection(field_da_, from.field_da_, &transfer));
    if (!transfer) PetscCall(DMCreateInterpolation(from.field_da_, field_da_, &transfer, NULL));
    if (finer)
      PetscCall(MatRestrict(transfer, from.fields_[f], fields_[f]));
    else
      PetscCall(MatInterpolate(transfer, from.fields_[f], fields_[f]));
    version_ = 0;
  }
  PetscCall(MatDestroy(&transfer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::CheckComplete() {
  const EquationText &text = equation_->text;

  PetscFunctionBegin;
  PetscCall(CheckAxes());
  for (size_t p = 0; p < text.parameters.size(); p++)
    SHELLAC_CHECK_LINE(equation_->known[p], PETSC_ERR_ORDER, text.parameters[p].line,
                       "the parameter " + text.parameters[p].name + " has no value; give -equation_" +
                           text.parameters[p].name + " or call DMDAEquationSetParameter()");
  for (size_t f = 0; f < text.fields.size(); f++)
    SHELLAC_CHECK_LINE(field_set_[f] || text.fields[f].formula, PETSC_ERR_ORDER, text.fields[f].line,
                       "the field " + text.fields[f].name +
                           " has no values; call DMDAEquationSetField(), give -equation_" + text.fields[f].name +
                           " <file>, or state it, as field(" + text.fields[f].name + ") = 1 + x");
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
