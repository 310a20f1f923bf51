// Derivatives of an equation by its parameters and fields.

#include <list>

#include "options/agreement.hpp"
#include "equations/equation.hpp"
#include "shellac.h"

namespace shellac {

// ---- on a grid -------------------------------------------------------------------------------------------------------

std::string problem_of_sensitivities(const EquationText &text) {
  if (scalars_are_complex)
    return "derivatives by parameters and fields need real numbers; this PETSc has complex ones. Use one with real "
           "scalars";
  if (text.has_exact)
    return text.file +
           " has an exact solution, whose source depends on the parameters in its own way; state the source in the "
           "text, and remove the exact solution";
  return "";
}

PetscErrorCode EquationOnGrid::BeginSensitivities(PetscReal time) {
  PetscFunctionBegin;
  PetscCall(CheckComplete());
  place_.time = time;
  PetscCall(Update());
  fold_changes_.change().assign(folds_.size(), {0, 0, 0});
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Along(PetscReal time, Vec state, const std::vector<Vec> &fields, Vec y) {
  PetscFunctionBegin;
  const PetscErrorCode error =
      Compute(time, state, NULL, y, equation_->sensitivity_kernels, 0, equation_->sensitivities->product, fields);
  place_.parameter = -1;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::ByParameter(PetscReal time, Vec u, size_t p, Vec y) {
  const size_t          n = equation_->unknowns(), w = (size_t)grid_.width;
  const std::string    &name = equation_->text.parameters[p].name;
  std::vector<double>   alpha(n * 6, 0.);
  std::list<WorkVector> work;
  std::vector<Vec>      fields(fields_.size(), NULL);
  WorkVector            local;
  PetscReal             size;
  PetscScalar          *array;

  PetscFunctionBegin;
  PetscCall(GetGhosts(&local, &u));
  PetscCall(BeginSensitivities(time));
  place_.parameter = (equation::Index)p;
  equation_->sensitivities->robin(&place_, alpha.data());
  for (size_t f = 0; f < fields.size(); f++) {
    if (field_set_[f] || !equation_->text.fields[f].formula) continue;
    work.emplace_back();
    PetscCall(work.back().Get(field_da_));
    fields[f] = work.back();
    PetscCall(VecGetArrayWrite(fields[f], &array));
    for (const equation::Region &region : regions_)
      equation_->sensitivities->field(&place_, &region, (int)f, compiled_array(array));
    PetscCall(VecRestoreArrayWrite(fields[f], &array));
    if (!ghosts_) continue;
    work.emplace_back();
    PetscCall(work.back().Get(field_da_, true));
    PetscCall(DMGlobalToLocal(field_da_, fields[f], INSERT_VALUES, work.back()));
    fields[f] = work.back();
  }
  place_.parameter = -1;
  auto &changes = fold_changes_.change();
  // a robin end's: those of (1 - αl/2) / (1 + αl/2) and l / (1 + αl/2), for a length l
  for (size_t i = 0; i < folds_.size(); i++) {
    const double          change = alpha[i / w];
    const equation::Fold &fold = folds_[i];
    if (change == 0) continue;
    SHELLAC_CHECK_LINE(fold.factor != 0 && grid_.N[i / w / 2 % 3] >= grid_.width, PETSC_ERR_SUP,
                       equation_->text.unknowns[i / w / 6].ends[i / w / 2 % 3][i / w % 2].line,
                       "alpha is 2 over a spacing, or the axis has fewer points than the stencil is wide: there is no "
                       "derivative by " +
                           name + "; change alpha or the number of points a little");
    changes[i].factor = -change * fold.given * (1 + fold.factor) / 2;
    changes[i].given = -change * fold.given * fold.given / 2;
  }
  place_.parameter = (equation::Index)p;
  PetscCall(Along(time, u, fields, y));
  PetscCall(add_sizes(y, &size));
  PetscCheck(size <= PETSC_MAX_REAL, grid_.comm, PETSC_ERR_FP,
             "%s: the derivative by the parameter %s is not finite, as that of u^p is where u is negative; change the "
             "formula, "
             "the parameter or the state",
             equation_->text.file.c_str(), name.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::ByField(PetscReal time, Vec state, size_t f, Vec v, Vec y) {
  std::vector<Vec> fields(fields_.size(), NULL);
  WorkVector       local;

  PetscFunctionBegin;
  PetscCall(BeginSensitivities(time));
  if (ghosts_) {
    PetscCall(local.Get(field_da_, true));
    PetscCall(DMGlobalToLocal(field_da_, v, INSERT_VALUES, local));
    v = local;
  }
  fields[f] = v;
  PetscCall(Along(time, state, fields, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What fields change by integrals is added to sums: the rows change by an integral, and that by the field, also where it is
// within another one.
PetscErrorCode EquationOnGrid::AddByIntegrals(const PetscScalar *v, PetscScalar *sums) {
  const size_t             n = integrals_.size() / 2, rows = equation_->unknowns(), points = owned();
  std::vector<PetscScalar> values(points * std::max(rows, 2 * n)), by_rows(n, 0.), by_others(n * n, 0.), all;
  std::vector<PetscReal>   cell(points);
  CellLengths              cells;
  const auto               compute = [&](equation::VectorFunction function) {
    for (const equation::Region &region : regions_) function(&place_, &region, compiled_array(values.data()));
  };

  PetscFunctionBegin;
  PetscCall(GetCells(PETSC_MEMTYPE_HOST, &cells));
  const PetscInt *size = grid_.size;
  for (size_t p = 0; p < points; p++)
    cell[p] = cells.volume((PetscInt)p % size[0], (PetscInt)p / size[0] % size[1], (PetscInt)p / size[0] / size[1]);
  for (size_t m = 0; m < n; m++) {
    integrals_[n + m] = 1; // the derivative by this one
    compute(equation_->sensitivities->product);
    for (size_t i = 0; i < points * rows; i++) by_rows[m] += v[i] * values[i];
    compute(equation_->sensitivities->integrands);
    for (size_t i = 0; i < points * n; i++) by_others[m * n + i % n] += cell[i / n] * values[i / n * 2 * n + n + i % n];
    integrals_[n + m] = 0;
  }
  for (auto *sum : {&by_rows, &by_others})
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum->data(), (PetscMPIInt)sum->size(), MPIU_SCALAR, MPIU_SUM, grid_.comm));
  all = by_rows;
  for (size_t pass = 1; pass < n; pass++) {
    const auto before = all;
    all = by_rows;
    for (size_t i = 0; i < n * n; i++) all[i / n] += by_others[i] * before[i % n];
  }
  for (size_t i = 0; i < points * n; i++) values[i] = all[i % n] * cell[i / n] / place_.row_scale;
  place_.direction = compiled_array(values.data());
  for (const equation::Region &region : regions_)
    equation_->sensitivities->transposed_integrands(&place_, &region, compiled_array(sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::ByFieldTransposed(PetscReal time, Vec state, size_t f, Vec v, Vec y) {
  LazyKernels       &lazy = equation_->sensitivity_kernels;
  Arrays             arrays;
  const PetscScalar *factors;
  PetscScalar       *sums;
  WorkVector         local;
  Vec                out = y;

  PetscFunctionBegin;
  PetscCall(BeginSensitivities(time));
  PetscCall(NeedKernels(y, lazy));
  if (!KernelsOf(lazy).present() || equation_->functions->integral_numbers) arrays = Arrays(PETSC_MEMTYPE_HOST);
  if (ghosts_) PetscCall(local.Get(field_da_, true));
  if (ghosts_) out = local;
  PetscCall(VecSet(out, 0));
  PetscCall(arrays.Read(state, &u_));
  PetscCall(arrays.Read(v, &factors));
  PetscCall(ReadFields(&arrays));
  PetscCall(arrays.ReadWrite(out, &sums));
  field_directions_.change().assign(fields_.size(), nullptr);
  PetscCall(SetPlace(arrays.memory(), lazy, factors));
  place_.field = (equation::Index)f;
  if (PetscMemTypeDevice(arrays.memory()))
    PetscCall(KernelsOf(lazy).Vectors(1, place_, Tables(), regions_, compiled_array(sums)));
  else
    for (const equation::Region &region : regions_)
      equation_->sensitivities->transposed(&place_, &region, compiled_array(sums));
  if (!integrals_.empty()) PetscCall(AddByIntegrals(factors, sums));
  place_.field = -1;
  PetscCall(arrays.Restore());
  PetscCall(CheckArms());
  if (!ghosts_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSet(y, 0));
  PetscCall(DMLocalToGlobal(field_da_, local, ADD_VALUES, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the derivative by a field, as a Mat ---------------------------------------------------------------------------

namespace {

struct FieldMat {
  DM          da = NULL;
  std::string field;
  Vec         state = NULL; // as EquationOnGrid::CopyState() has it; null before the first
  PetscReal   time = 0;
};

PetscErrorCode destroy_field_mat(void *argument) {
  FieldMat *of = context_to_destroy<FieldMat>(argument);

  PetscFunctionBegin;
  PetscCall(VecDestroy(&of->state));
  PetscCall(DMDestroy(&of->da));
  delete of;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <PetscErrorCode (EquationOnGrid::*product)(PetscReal, Vec, size_t, Vec, Vec)>
PetscErrorCode multiply(Mat P, Vec v, Vec y) {
  FieldMat       *of;
  EquationOnGrid *equation;
  std::string     problem;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(P, (void *)&of));
  PetscCheck(
      of->state, PetscObjectComm((PetscObject)P), PETSC_ERR_ORDER,
      "the derivative by the field %s has no state yet, at which it is taken; DMDAEquationComputeJacobianP() gives "
      "it one",
      of->field.c_str());
  PetscCall(DMGetEquation(of->da, &equation));
  // of an equation set later, perhaps
  const size_t f = find_field(equation->equation(), of->field.c_str(), &problem);
  if (problem.empty()) problem = problem_of_sensitivities(equation->equation().text);
  PetscCheck(problem.empty(), equation->grid().comm, PETSC_ERR_ARG_WRONGSTATE, "%s", problem.c_str());
  PetscCall(CompileFunctions(equation->grid().comm, equation->equation(), FunctionsOf::data));
  PetscCall((equation->*product)(of->time, of->state, f, v, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_state(Mat P, DM da, EquationOnGrid *equation, PetscReal time, Vec u) {
  const std::string problem = problem_of_sensitivities(equation->equation().text);
  FieldMat         *of;

  PetscFunctionBegin;
  PetscCheck(problem.empty(), equation->grid().comm, PETSC_ERR_SUP, "%s", problem.c_str());
  PetscCall(MatShellGetContext(P, (void *)&of));
  PetscCheck(of->da == da, equation->grid().comm, PETSC_ERR_ARG_INCOMP,
             "the Mat is of another DMDA; make one with DMDACreateEquationJacobianP()");
  PetscCall(equation->CopyState(u, &of->state));
  of->time = time;
  PetscCall(assemble(P)); // by which the shell drops factors
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An implicit TS calls it before it computes the derivative.
PetscErrorCode zero_entries(Mat P) {
  return MatScale(P, 0);
}

constexpr char method[] = "ShellacEquationSetStateOfField_C", composed[] = "ShellacEquationParameter";

PetscErrorCode create_field_mat(DM da, const EquationOnGrid &equation, const char name[], Mat *P) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)da);
  PetscInt       points = 1;
  VecType        type;

  PetscFunctionBegin;
  for (const PetscInt n : equation.grid().size) points *= n;
  PetscCall(MatCreateShell(comm, points * equation.grid().dof, points, PETSC_DETERMINE, PETSC_DETERMINE,
                           new FieldMat{da, name}, P));
  PetscCall(PetscObjectReference((PetscObject)da));
  PetscCall(MatShellSetContextDestroy(*P, destructor(destroy_field_mat)));
  PetscCall(DMGetVecType(da, &type));
  PetscCall(MatShellSetVecType(*P, type));
  PetscCall(set_operation(*P, MATOP_MULT, multiply<&EquationOnGrid::ByField>));
  PetscCall(set_operation(*P, MATOP_MULT_TRANSPOSE, multiply<&EquationOnGrid::ByFieldTransposed>));
  PetscCall(set_operation(*P, MATOP_ZERO_ENTRIES, zero_entries));
  PetscCall(PetscObjectComposeFunction((PetscObject)*P, method, set_state));
  PetscCall(MatSetUp(*P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace
} // namespace shellac

using namespace shellac;

PetscErrorCode DMDACreateEquationJacobianP(DM da, const char name[], Mat *P) {
  EquationOnGrid *on_grid;
  std::string     no_parameter, no_field;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  const MPI_Comm      comm = on_grid->grid().comm;
  const EquationText &text = on_grid->equation().text;
  find_field(on_grid->equation(), name, &no_field);
  if (name) find_parameter(on_grid->equation(), name, &no_parameter);
  const bool by_field = name && no_field.empty();
  SHELLAC_CHECK_ALL(P, comm, PETSC_ERR_ARG_NULL, "the pointer to the matrix is null");
  SHELLAC_CHECK_ALL(by_field || no_parameter.empty(), comm, PETSC_ERR_ARG_OUTOFRANGE, "%s; %s", no_parameter.c_str(),
                    no_field.c_str());
  SHELLAC_CHECK_ALL(!by_field || std::string(name) != "solid", comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "cells are solid or not: there is no derivative by the field solid; name another one");
  SHELLAC_CHECK_ALL(name || !text.parameters.empty(), comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%s has no parameters; name a field, or state parameter(name, value)", text.file.c_str());
  PetscCall(CheckAgreement(comm, "the name of the parameter or field", name ? name : "", "give all ranks the same"));
  const std::string problem = problem_of_sensitivities(text);
  PetscCheck(problem.empty(), comm, PETSC_ERR_SUP, "%s", problem.c_str());
  PetscCall(create_whole(P, [&](Mat *made) {
    PetscInt rows = on_grid->grid().dof;
    VecType  type;
    PetscFunctionBegin;
    if (by_field) {
      PetscCall(create_field_mat(da, *on_grid, name, made));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    for (const PetscInt n : on_grid->grid().size) rows *= n;
    PetscCall(DMGetVecType(da, &type));
    auto create = MatCreateDense;
#if defined(PETSC_HAVE_CUDA)
    if (std::string(type).find("cuda") != std::string::npos) create = MatCreateDenseCUDA;
#endif
    PetscCall(
        create(comm, rows, PETSC_DECIDE, PETSC_DETERMINE, name ? 1 : (PetscInt)text.parameters.size(), NULL, made));
    if (name) PetscCall(compose_context((PetscObject)*made, composed, new std::string(name)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDAEquationComputeJacobianP(DM da, PetscReal time, Vec u, Mat P) {
  EquationOnGrid *on_grid;
  std::string    *name, problem;
  PetscInt        rows, columns, owned;
  PetscBool       by_field = PETSC_FALSE, is_dense;
  Vec             column;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  Equation      &equation = on_grid->equation();
  const MPI_Comm comm = on_grid->grid().comm;
  SHELLAC_CHECK_ALL(u && P, comm, PETSC_ERR_ARG_NULL, "the state or the matrix is null; create them first");
  PetscCall(GridCheckVector(on_grid->grid(), u, "state"));
  problem = problem_of_sensitivities(equation.text);
  PetscCheck(problem.empty(), comm, PETSC_ERR_SUP, "%s", problem.c_str());
  PetscCall(CompileFunctions(comm, equation, FunctionsOf::data));
  PetscCall(try_method(P, method, &by_field, da, on_grid, time, u));
  if (by_field) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(query_context((PetscObject)P, composed, &name));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)P, &is_dense, MATSEQDENSE, MATMPIDENSE, MATSEQDENSECUDA,
                                      MATMPIDENSECUDA, ""));
  PetscCall(MatGetLocalSize(P, &rows, NULL));
  PetscCall(MatGetSize(P, NULL, &columns));
  PetscCall(VecGetLocalSize(u, &owned));
  const size_t all = equation.text.parameters.size(),
               first = name ? find_parameter(equation, name->c_str(), &problem) : 0;
  SHELLAC_CHECK_ALL(
      problem.empty() && is_dense && rows == owned && columns == (PetscInt)(name ? 1 : all), comm, PETSC_ERR_ARG_INCOMP,
      "the Mat is not one of the equation's derivatives by data: dense, with the rows of the DMDA and a column "
      "for each of its %zu parameters; make it with DMDACreateEquationJacobianP()",
      all);
  for (PetscInt c = 0; c < columns; c++) {
    PetscCall(MatDenseGetColumnVecWrite(P, c, &column));
    const PetscErrorCode error = on_grid->ByParameter(time, u, first + (size_t)c, column);
    PetscCall(MatDenseRestoreColumnVecWrite(P, c, &column));
    PetscCall(error);
  }
  PetscCall(assemble(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}
