// The setters of TSSetBurgers(). A change discards the set-up; the next use sets up again.

#include "burgers/burgers.hpp"
#include "options/agreement.hpp"

#include <cmath>

#define SHELLAC_NAME(flux) #flux,
const char *const TSBurgersFluxes[] = {SHELLAC_BURGERS_FLUXES(SHELLAC_NAME) "TSBurgersFlux", "TS_BURGERS_", NULL};
#undef SHELLAC_NAME
const char *const TSBurgersReconstructions[] = {"constant",    "minmod", "vanleer", "weno5", "TSBurgersReconstruction",
                                                "TS_BURGERS_", NULL};
const char *const TSBurgersBoundaries[] = {"periodic",          "outflow",     "inflow", "frozen",
                                           "TSBurgersBoundary", "TS_BURGERS_", NULL};
const char *const TSBurgersJacobianTypes[] = {
    "shell", "aij", "shell_aij", "TSBurgersJacobianType", "TS_BURGERS_JACOBIAN_", NULL};
const char *const TSBurgersSchemes[] = {"euler", "ssprk2", "ssprk3", "TSBurgersScheme", "TS_BURGERS_", NULL};

namespace shellac {

PetscErrorCode set_inflow(MPI_Comm comm, PetscInt dim, PetscInt n, const PetscReal values[],
                          BurgersSettings *settings) {
  PetscInt wrong = 0;

  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(values, comm, PETSC_ERR_ARG_NULL, "the inflow values are null; give an array of %" PetscInt_FMT,
                    2 * dim);
  SHELLAC_CHECK_ALL(n == 2 * dim, comm, PETSC_ERR_ARG_SIZ,
                    "-burgers_inflow has %" PetscInt_FMT " values; in %" PetscInt_FMT "-D give %" PetscInt_FMT ": %s",
                    n, dim, 2 * dim,
                    dim == 1 ? "u at the lower and the upper end" : "u at the lower and the upper ends, then v");
  while (wrong < n && std::isfinite(values[wrong])) wrong++;
  SHELLAC_CHECK_ALL(wrong == n, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "inflow value %" PetscInt_FMT " is %g; it must be finite", wrong, (double)values[wrong]);
  for (PetscInt i = 0; i < n; i++) settings->inflow[i / 2][i % 2] = values[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_lengths(MPI_Comm comm, PetscInt dim, PetscInt n, const PetscReal lengths[],
                           BurgersSettings *settings) {
  PetscInt wrong = 0;

  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(lengths, comm, PETSC_ERR_ARG_NULL, "the side lengths are null; give an array of %" PetscInt_FMT,
                    dim);
  SHELLAC_CHECK_ALL(n == dim, comm, PETSC_ERR_ARG_SIZ,
                    "%" PetscInt_FMT " side lengths for a domain in %" PetscInt_FMT "-D; give %" PetscInt_FMT, n, dim,
                    dim);
  while (wrong < n && lengths[wrong] > 0 && std::isfinite(lengths[wrong])) wrong++;
  SHELLAC_CHECK_ALL(wrong == n, comm, PETSC_ERR_ARG_OUTOFRANGE, "length %c is %g; it must be finite and positive",
                    "xyz"[wrong], (double)lengths[wrong]);
  for (PetscInt a = 0; a < n; a++) settings->lengths[a] = lengths[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersCheckValues(MPI_Comm comm, const BurgersSettings &s) {
  const struct {
    const char *option;
    double      value, least;
    const char *must_be;
  } numbers[] = {{"viscosity", s.viscosity, 0, "not below 0"},
                 {"speed", s.speed, 0, "not below 0"},
                 {"check_interval", (double)s.check_interval, 0, "0 (never) or more"},
                 {"fused_steps", (double)s.fused_steps, 1, "1 or more"}};
  const struct {
    const char        *what;
    int                value;
    const char *const *names; // like PETSc's: they end with the type, the prefix and NULL
  } enums[] = {{"flux", s.flux, TSBurgersFluxes},
               {"reconstruction", s.reconstruction, TSBurgersReconstructions},
               {"boundary condition", s.boundary, TSBurgersBoundaries},
               {"type of the Jacobian", s.jacobian, TSBurgersJacobianTypes},
               {"halo type", (int)s.halo_way, MatHaloTypes},
               {"scheme", s.fused_scheme, TSBurgersSchemes}};
  std::string problem;

  PetscFunctionBegin;
  for (const auto &n : numbers) {
    char text[96];
    snprintf(text, sizeof(text), "-burgers_%s is %g; it must be finite, and %s", n.option, n.value, n.must_be);
    if (!(n.value >= n.least) || !std::isfinite(n.value)) problem = text;
  }
  for (const auto &e : enums) {
    int         count = 0;
    std::string names;
    while (e.names[count + 2]) count++;
    for (int k = 0; k < count; k++) names += (k == 0 ? "" : k == count - 1 ? " or " : ", ") + std::string(e.names[k]);
    if (e.value < 0 || e.value >= count)
      problem = "the " + std::string(e.what) + " " + std::to_string(e.value) + " is unknown; use " + names;
  }
  SHELLAC_CHECK_ALL(problem.empty(), comm, PETSC_ERR_ARG_OUTOFRANGE, "%s", problem.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Makes PETSc believe that u has changed, without a copy from or to a GPU.
static PetscErrorCode touch(Vec u) {
  PetscScalar *array;
  PetscInt     locked;

  PetscFunctionBegin;
  PetscCall(VecLockGet(u, &locked));
  if (locked) PetscFunctionReturn(PETSC_SUCCESS); // in a monitor: TS changes it next
  PetscCall(VecGetArrayAndMemType(u, &array, NULL));
  PetscCall(VecRestoreArrayAndMemType(u, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An error on all ranks where their settings differ: they would compute other fluxes of the same face, or wait for one
// another.
static PetscErrorCode agree(TS ts, const BurgersSettings &s) {
  const std::pair<const char *, std::vector<PetscReal>> settings[] = {
      {"TSBurgersSetFlux", {(PetscReal)s.flux}},
      {"TSBurgersSetReconstruction", {(PetscReal)s.reconstruction}},
      {"TSBurgersSetBoundary", {(PetscReal)s.boundary}},
      {"TSBurgersSetInflow", {s.inflow[0][0], s.inflow[0][1], s.inflow[1][0], s.inflow[1][1]}},
      {"TSBurgersSetViscosity", {s.viscosity}},
      {"TSBurgersSetLengths", {s.lengths[0], s.lengths[1]}},
      {"TSBurgersSetSpeed", {s.speed}},
      {"TSBurgersSetCheckInterval", {(PetscReal)s.check_interval}},
      {"TSBurgersSetHaloType", {(PetscReal)s.halo_way}},
      {"TSBurgersSetFused", {(PetscReal)s.scheme(), (PetscReal)s.fused_steps}}};
  std::vector<Agreed> values;

  PetscFunctionBegin;
  for (const auto &setting : settings)
    for (const PetscReal value : setting.second)
      values.push_back({"the value of " + std::string(setting.first) + "()", value});
  PetscCall(CheckAgreement(PetscObjectComm((PetscObject)ts), values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Calls set(comm, dim, settings) with a copy of the settings, and takes it over.
template <class Set> static PetscErrorCode change(TS ts, const Set &set) {
  Burgers *burgers;
  DM       dm;
  PetscInt dim;
  Vec      u;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  BurgersSettings settings = burgers->settings;
  PetscCall(set(PetscObjectComm((PetscObject)ts), dim, &settings));
  PetscCall(BurgersCheckValues(PetscObjectComm((PetscObject)ts), settings));
  PetscCall(agree(ts, settings));
  PetscCall(BurgersReset(burgers));
  burgers->settings = settings;
  // TS computes the Jacobian again where the state has changed, and knows of nothing else
  PetscCall(TSGetSolution(ts, &u));
  if (u) PetscCall(touch(u));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Value> static PetscErrorCode change(TS ts, Value BurgersSettings::*setting, Value value) {
  return change(ts, [=](MPI_Comm, PetscInt, BurgersSettings *settings) {
    settings->*setting = value;
    return PETSC_SUCCESS;
  });
}

} // namespace shellac

using namespace shellac;

static_assert(sizeof(TSBurgersFluxes) / sizeof(TSBurgersFluxes[0]) == TS_BURGERS_CENTRAL_DOUBLED + 4,
              "a value of TSBurgersFlux for each line of SHELLAC_BURGERS_FLUXES");

PetscErrorCode TSBurgersSetFlux(TS ts, TSBurgersFlux flux) {
  return change(ts, &BurgersSettings::flux, flux);
}
PetscErrorCode TSBurgersSetReconstruction(TS ts, TSBurgersReconstruction reconstruction) {
  return change(ts, &BurgersSettings::reconstruction, reconstruction);
}
PetscErrorCode TSBurgersSetViscosity(TS ts, PetscReal nu) {
  return change(ts, &BurgersSettings::viscosity, nu);
}
PetscErrorCode TSBurgersSetSpeed(TS ts, PetscReal speed) {
  return change(ts, &BurgersSettings::speed, speed);
}
PetscErrorCode TSBurgersSetCheckInterval(TS ts, PetscInt interval) {
  return change(ts, &BurgersSettings::check_interval, interval);
}
PetscErrorCode TSBurgersSetHaloType(TS ts, MatHaloType type) {
  return change(ts, &BurgersSettings::halo_way, (HaloWay)type);
}

PetscErrorCode TSBurgersSetBoundary(TS ts, TSBurgersBoundary boundary) {
  return change(ts, [=](MPI_Comm, PetscInt, BurgersSettings *settings) {
    settings->boundary = boundary;
    settings->boundary_chosen = true;
    return PETSC_SUCCESS;
  });
}
PetscErrorCode TSBurgersSetInflow(TS ts, PetscInt n, const PetscReal values[]) {
  return change(ts, [=](MPI_Comm comm, PetscInt dim, BurgersSettings *settings) {
    settings->inflow_set = true;
    return set_inflow(comm, dim, n, values, settings);
  });
}
PetscErrorCode TSBurgersSetLengths(TS ts, PetscInt n, const PetscReal lengths[]) {
  return change(ts, [=](MPI_Comm comm, PetscInt dim, BurgersSettings *settings) {
    return set_lengths(comm, dim, n, lengths, settings);
  });
}
PetscErrorCode TSBurgersSetFused(TS ts, TSBurgersScheme scheme, PetscInt steps) {
  return change(ts, [=](MPI_Comm, PetscInt, BurgersSettings *settings) {
    settings->fused_scheme = scheme;
    settings->scheme_chosen = true;
    settings->fused_steps = steps;
    return PETSC_SUCCESS;
  });
}

PetscErrorCode TSBurgersSetJacobianType(TS ts, TSBurgersJacobianType type) {
  Burgers *burgers;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  BurgersSettings settings = burgers->settings;
  settings.jacobian = type;
  PetscCall(BurgersCheckValues(PetscObjectComm((PetscObject)ts), settings));
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)ts), "TSBurgersSetJacobianType()", 1, &type));
  PetscCall(BurgersSetUp(ts, burgers));
  if (type != burgers->settings.jacobian) burgers->has_matrices = false;
  burgers->settings.jacobian = type;
  PetscCall(BurgersSetMatrices(ts, burgers));
  PetscFunctionReturn(PETSC_SUCCESS);
}
