// Where the points of an equation's grid are: by the text, by options, or by the DM's coordinates.

#include "equations/equation.hpp"

namespace shellac {

// Spacings and coordinates: from the DM's coordinates, or the domain. A stretched axis without a domain ends where the
// coordinates of the first grid say.
PetscErrorCode EquationOnGrid::SetAxes() {
  GridAxis given[3];
  Vec      coordinates = NULL;
  bool     stretched = false;

  PetscFunctionBegin;
  place_.inverse_measure = 1;
  const bool first = !equation_->functions; // grid
  if (equation_->domain.empty()) PetscCall(DMGetCoordinates(da_, &coordinates));
  if (coordinates) PetscCall(GridGetAxesFromCoordinates(grid_, da_, given));
  PetscCall(coordinates_.Read(coordinates));
  for (int a = 0; a < 3; a++) {
    const Ends       &e = ends_[0][a];
    const Stretching &stretching = equation_->text.stretching[a];
    const bool        has_coordinates = given[a].x.size() > 1, by_formula = stretching.form != Stretching::uniform;
    PetscReal        *ends = equation_->ends[a];
    if (has_coordinates) axes_[a] = EquationAxis(e, given[a].x, given[a].uniform);
    for (int side = 0; side < 2 && has_coordinates && by_formula && first; side++) ends[side] = axes_[a].end(side);
    if (!has_coordinates || by_formula)
      axes_[a] = a < grid_.dim ? EquationAxis(e, ends[0], ends[1], stretching) : EquationAxis(e, 0, 1, Stretching());
    stretched = stretched || axes_[a].stretched();
    for (int side = 0; side < 2 && a < grid_.dim; side++) {
      const bool mirrors = e.mirror || e.form[side] == MAT_LAPLACE_NEUMANN || e.form[side] == MAT_LAPLACE_ROBIN;
      SHELLAC_CHECK_LINE(!equation_->text.fourth_order[a] || !(axes_[a].stretched() || (mirrors && !e.periodic)),
                         PETSC_ERR_SUP, equation_->text.fourth_order[a],
                         std::string("differences of fourth order need points at even distances along ") + "xyz"[a] +
                             " and ends that are periodic, dirichlet or identity; with " +
                             (axes_[a].stretched() ? "stretched points" : "neumann, robin and mirrored ends") +
                             " take those of second order, as laplacian(u)");
    }
    SHELLAC_CHECK_LINE(!equation_->text.weno[a] || !axes_[a].stretched(), PETSC_ERR_SUP, equation_->text.weno[a],
                       std::string("weno5_") + "xyz"[a] + " needs points at even distances; take vanleer_" + "xyz"[a]);
    place_.origin[a] = axes_[a].at(0);
    place_.h[a] = axes_[a].h();
    place_.inverse_h[a] = 1 / place_.h[a];
    for (int side = 0; side < 2; side++) place_.end[a][side] = axes_[a].end(side);
    place_.inverse_measure /= place_.end[a][UPPER] - place_.end[a][LOWER];
    for (size_t c = 0; c < equation_->unknowns(); c++) ends_[c][a].h = place_.h[a];
  }
  if (first) equation_->shape.stretched = stretched;
  PetscCheck(!stretched || equation_->shape.stretched, grid_.comm, PETSC_ERR_ARG_WRONGSTATE,
             "the coordinates of a coarser or finer grid are stretched, but those of the DMDA with the equation are "
             "uniform; set its coordinates before the equation");
  if (!equation_->shape.stretched) PetscFunctionReturn(PETSC_SUCCESS);
  std::vector<double> &tables = tables_.change();
  for (int a = 0; a < grid_.dim; a++) {
    const std::vector<double> axis = axes_[a].tables(grid_.width);
    tables.insert(tables.end(), axis.begin(), axis.end());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A program may have set the DM's coordinates since; to the same values, as for output, they are welcome.
PetscErrorCode EquationOnGrid::CheckAxes() {
  CoordinatesVersion now;
  GridAxis           given[3];
  Vec                coordinates = NULL;

  PetscFunctionBegin;
  if (equation_->domain.empty()) PetscCall(DMGetCoordinates(da_, &coordinates));
  PetscCall(now.Read(coordinates));
  if (!coordinates || now == coordinates_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GridGetAxesFromCoordinates(grid_, da_, given));
  for (int a = 0; a < grid_.dim; a++) {
    const PetscReal length = PetscAbsReal(axes_[a].end(UPPER) - axes_[a].end(LOWER));
    for (size_t i = 0; i < given[a].x.size(); i++)
      PetscCheck(PetscAbsReal(given[a].x[i] - axes_[a].at((PetscInt)i)) <= 1e-9 * length, grid_.comm,
                 PETSC_ERR_ARG_WRONGSTATE,
                 "the DMDA's coordinates have changed since DMDASetEquation(): point %" PetscInt_FMT
                 " along %c is at %g now, and at %g in the equation; set coordinates first, or state a domain",
                 (PetscInt)i, "xyz"[a], (double)given[a].x[i], (double)axes_[a].at((PetscInt)i));
  }
  coordinates_ = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::SetTables(PetscMemType memory) {
  const double *table;

  PetscFunctionBegin;
  PetscCall(tables_.Get(memory, &table));
  for (int a = 0; a < grid_.dim && table; a++) {
    place_.stretched[a] = table;
    table += equation::axis_tables * (grid_.N[a] + 2 * grid_.width);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::SetCoordinates() {
  Vec          coordinates;
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(DMDASetUniformCoordinates(da_, 0, 1, 0, 1, 0, 1));
  PetscCall(DMGetCoordinates(da_, &coordinates));
  PetscCall(VecGetArray(coordinates, &x));
  for (PetscInt k = 0; k < grid_.size[2]; k++)
    for (PetscInt j = 0; j < grid_.size[1]; j++)
      for (PetscInt i = 0; i < grid_.size[0]; i++) {
        const PetscInt p[3] = {i, j, k};
        for (int a = 0; a < grid_.dim; a++) *x++ = axes_[a].at(grid_.start[a] + p[a]);
      }
  x -= owned() * (size_t)grid_.dim;
  PetscCall(VecRestoreArray(coordinates, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
