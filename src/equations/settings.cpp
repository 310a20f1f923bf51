// Parameters, fields, the time, and what else is asked of the equation of a DM.

#include "options/agreement.hpp"
#include "equations/equation.hpp"
#include "options/expression.hpp"
#include "shellac.h"

using namespace shellac;

// The number of the parameter or the field, `what`, of a name; *problem: the error, or empty.
template <class Things>
static size_t find_name(const std::string &file, const Things &things, const std::string &what, const char name[],
                        std::string *problem) {
  const std::string        given = name ? name : "";
  std::string              names;
  std::vector<std::string> all;
  for (const auto &thing : things) all.push_back(thing.name);
  for (size_t n = 0; n < all.size(); n++) {
    if (all[n] == given) return n;
    names += (n ? ", " : "") + all[n];
  }
  *problem = file + " has no " + what + " '" + given + "'; its " + what + "s are: " + (names.empty() ? "none" : names) +
             suggestion(given, all);
  return all.size();
}
size_t shellac::find_parameter(const Equation &equation, const char name[], std::string *problem) {
  return find_name(equation.text.file, equation.text.parameters, "parameter", name, problem);
}
size_t shellac::find_field(const Equation &equation, const char name[], std::string *problem) {
  return find_name(equation.text.file, equation.text.fields, "field", name, problem);
}

PetscErrorCode DMDAEquationSetParameter(DM da, const char name[], PetscReal value) {
  EquationOnGrid *on_grid;
  std::string     problem;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  const MPI_Comm comm = PetscObjectComm((PetscObject)da);
  const size_t   p = find_parameter(on_grid->equation(), name, &problem);
  if (problem.empty() && PetscIsInfOrNanReal(value))
    problem = std::string("the parameter ") + name + " is " +
              (value != value ? "nan"
               : value > 0    ? "inf"
                              : "-inf") +
              "; it must be finite";
  SHELLAC_CHECK_ALL(problem.empty(), comm, PETSC_ERR_ARG_OUTOFRANGE, "%s", problem.c_str());
  PetscCall(CheckAgreement(comm, {{"the number of the parameter that is set", (PetscReal)p},
                                  {std::string("the parameter ") + name, value}}));
  Equation &equation = on_grid->equation();
  if (equation.known[p] && equation.parameters[p] == value) PetscFunctionReturn(PETSC_SUCCESS);
  const auto before = equation.parameters[p];
  const bool known = equation.known[p];
  equation.parameters[p] = value;
  equation.known[p] = true;
  equation.version++;
  const PetscErrorCode code = on_grid->Try(&equation.linear); // a term may vanish with it
  if (code) {
    equation.parameters[p] = before;
    equation.known[p] = known;
    equation.version++;
  }
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDAEquationGetParameter(DM da, const char name[], PetscReal *value) {
  EquationOnGrid *on_grid;
  std::string     problem;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  const size_t p = find_parameter(on_grid->equation(), name, &problem);
  PetscCheck(problem.empty(), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s", problem.c_str());
  PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the pointer to the value is null");
  *value = on_grid->equation().parameters[p];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDAEquationGetNames(DM da, const char *const **parameters, const char *const **fields) {
  EquationOnGrid *on_grid;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  if (parameters) *parameters = on_grid->equation().parameter_names.data();
  if (fields) *fields = on_grid->equation().field_names.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDAEquationSetField(DM da, const char name[], Vec values) {
  EquationOnGrid *on_grid;
  std::string     problem;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  const EquationText &text = on_grid->equation().text;
  const size_t        f = find_field(on_grid->equation(), name, &problem);
  const MPI_Comm      comm = on_grid->grid().comm;
  SHELLAC_CHECK_ALL(problem.empty(), comm, PETSC_ERR_ARG_OUTOFRANGE, "%s", problem.c_str());
  SHELLAC_CHECK_ALL(values, comm, PETSC_ERR_ARG_NULL, "the field %s is null; give a vector", name);
  PetscCall(CheckAgreement(comm, {{"the number of the field that is set", (PetscReal)f}}));
  PetscCheck(!text.has_exact || (int)f == text.solid(), comm, PETSC_ERR_ARG_WRONGSTATE,
             "%s has an exact solution, which needs fields by formula; remove one of the two", text.file.c_str());
  PetscCall(on_grid->SetField(f, values));
  on_grid->equation().version++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDAEquationSetTime(DM da, PetscReal time) {
  EquationOnGrid *on_grid;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  SHELLAC_CHECK_ALL(!PetscIsInfOrNanReal(time), PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_OUTOFRANGE,
                    "the time is %g; it must be finite", (double)time);
  PetscCall(CheckAgreement(PetscObjectComm((PetscObject)da), {{"the time", time}}));
  if (on_grid->equation().time != time) on_grid->equation().version++;
  on_grid->equation().time = time;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// *value = get(equation), of a DM's one.
template <class T, class Get> static PetscErrorCode get_of_equation(DM da, T *value, const Get &get) {
  EquationOnGrid *on_grid;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the pointer to the result is null");
  *value = (T)get(on_grid->equation());
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DMDAEquationGetTime(DM da, PetscReal *time) {
  return get_of_equation(da, time, [](const Equation &equation) { return equation.time; });
}
PetscErrorCode DMDAEquationGetLinear(DM da, PetscBool *linear) {
  return get_of_equation(da, linear, [](const Equation &equation) { return equation.linear; });
}
PetscErrorCode DMDAEquationIsRate(DM da, PetscBool *rate) {
  return get_of_equation(da, rate, [](const Equation &equation) { return equation.text.has_rate; });
}
PetscErrorCode DMDAEquationHasExact(DM da, PetscBool *exact) {
  return get_of_equation(da, exact, [](const Equation &equation) { return equation.text.has_exact; });
}

// Calls compute(equation) for a vector of the DM's grid.
template <class Compute> static PetscErrorCode compute_state(DM da, Vec u, const Compute &compute) {
  EquationOnGrid *on_grid;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  SHELLAC_CHECK_ALL(u, on_grid->grid().comm, PETSC_ERR_ARG_NULL,
                    "the vector is null; create it with DMCreateGlobalVector()");
  PetscCall(GridCheckVector(on_grid->grid(), u, "vector"));
  PetscCall(compute(*on_grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DMDAEquationComputeInitial(DM da, Vec u) {
  return compute_state(da, u, [=](EquationOnGrid &on) { return on.GetInitial(on.equation().time, u); });
}
PetscErrorCode DMDAEquationComputeExact(DM da, PetscReal time, Vec u) {
  return compute_state(da, u, [=](EquationOnGrid &on) { return on.GetExact(time, u); });
}

PetscErrorCode DMDACreateEquationMat(DM da, Mat *A) {
  EquationOnGrid *on_grid;
  WorkVector      zero;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  SHELLAC_CHECK_ALL(A, on_grid->grid().comm, PETSC_ERR_ARG_NULL, "the pointer to the matrix is null");
  PetscCall(EquationCheckLinear(*on_grid));
  PetscCall(zero.Get(da));
  PetscCall(VecSet(zero, 0));
  PetscCall(create_whole(A, [&](Mat *made) {
    PetscFunctionBegin;
    PetscCall(DMCreateMatrix(da, made));
    PetscCall(on_grid->Assemble(on_grid->equation().time, zero, *made));
    PetscCall(on_grid->AttachNullSpaces(zero, *made));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDAEquationGetSpacing(DM da, PetscReal first[], PetscReal h[]) {
  EquationOnGrid *on_grid;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  for (int a = 0; a < 3; a++) {
    if (first) first[a] = on_grid->origin()[a];
    if (h) h[a] = on_grid->spacing()[a];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDAEquationGetCoordinates(DM da, PetscReal x[], PetscReal y[], PetscReal z[]) {
  EquationOnGrid *on_grid;

  PetscFunctionBegin;
  PetscCall(DMGetEquation(da, &on_grid));
  PetscReal *const to[] = {x, y, z};
  for (int a = 0; a < 3; a++)
    for (PetscInt i = 0; to[a] && i < on_grid->grid().N[a]; i++) to[a][i] = on_grid->axis(a).at(i);
  PetscFunctionReturn(PETSC_SUCCESS);
}
