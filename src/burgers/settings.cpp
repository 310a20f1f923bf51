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

PetscErrorCode set_viscosity(MPI_Comm comm, PetscReal nu, BurgersSettings *settings) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(nu >= 0 && std::isfinite(nu), comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "the viscosity (-burgers_viscosity) is %g; it must be finite, and not below 0", (double)nu);
  settings->viscosity = nu;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_speed(MPI_Comm comm, PetscReal speed, BurgersSettings *settings) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(speed >= 0 && std::isfinite(speed), comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "-burgers_speed is %g; it must be finite, and not below 0", (double)speed);
  settings->speed = speed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_check_interval(MPI_Comm comm, PetscInt interval, BurgersSettings *settings) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(interval >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "-burgers_check_interval is %" PetscInt_FMT "; it must be 0 (never) or more", interval);
  settings->check_interval = interval;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_fused_steps(MPI_Comm comm, PetscInt steps, BurgersSettings *settings) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(steps >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "-burgers_fused_steps is %" PetscInt_FMT "; give 1 or more", steps);
  settings->fused_steps = steps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An error for a value outside an enumeration; like PETSc's, `names` end with the type, the prefix and NULL.
static PetscErrorCode check_enum(TS ts, const char *what, int value, const char *const names[]) {
  int  count = 0;
  char list[256] = "";

  PetscFunctionBegin;
  while (names[count]) count++;
  count -= 2;
  for (int k = 0; k < count; k++) {
    PetscCall(PetscStrlcat(list, k == 0 ? "" : k == count - 1 ? " or " : ", ", sizeof(list)));
    PetscCall(PetscStrlcat(list, names[k], sizeof(list)));
  }
  SHELLAC_CHECK_ALL(value >= 0 && value < count, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
                    "the %s %d is unknown; use %s", what, value, list);
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
      {"TSBurgersSetFused", {(PetscReal)s.fused_scheme, (PetscReal)s.fused_steps}}};
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
  PetscCall(agree(ts, settings));
  PetscCall(BurgersReset(burgers));
  burgers->settings = settings;
  // TS computes the Jacobian again where the state has changed, and knows of nothing else
  PetscCall(TSGetSolution(ts, &u));
  if (u) PetscCall(touch(u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same for a value of an enumeration with these names.
template <class Enum, class Set>
static PetscErrorCode change_enum(TS ts, const char *what, const char *const names[], Enum value, const Set &set) {
  PetscFunctionBegin;
  PetscCall(change(ts, [&](MPI_Comm, PetscInt, BurgersSettings *settings) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(check_enum(ts, what, (int)value, names));
    set(settings);
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

static_assert(sizeof(TSBurgersFluxes) / sizeof(TSBurgersFluxes[0]) == TS_BURGERS_CENTRAL_DOUBLED + 4,
              "a value of TSBurgersFlux for each line of SHELLAC_BURGERS_FLUXES");

PetscErrorCode TSBurgersSetFlux(TS ts, TSBurgersFlux flux) {
  PetscFunctionBegin;
  PetscCall(change_enum(ts, "flux", TSBurgersFluxes, flux, [=](BurgersSettings *settings) { settings->flux = flux; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetReconstruction(TS ts, TSBurgersReconstruction reconstruction) {
  PetscFunctionBegin;
  PetscCall(change_enum(ts, "reconstruction", TSBurgersReconstructions, reconstruction,
                        [=](BurgersSettings *settings) { settings->reconstruction = reconstruction; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetBoundary(TS ts, TSBurgersBoundary boundary) {
  PetscFunctionBegin;
  PetscCall(change_enum(ts, "boundary condition", TSBurgersBoundaries, boundary, [=](BurgersSettings *settings) {
    settings->boundary = boundary;
    settings->boundary_chosen = true;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetInflow(TS ts, PetscInt n, const PetscReal values[]) {
  PetscFunctionBegin;
  PetscCall(change(ts, [&](MPI_Comm comm, PetscInt dim, BurgersSettings *settings) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(set_inflow(comm, dim, n, values, settings));
    settings->inflow_set = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetViscosity(TS ts, PetscReal nu) {
  PetscFunctionBegin;
  PetscCall(change(
      ts, [&](MPI_Comm comm, PetscInt, BurgersSettings *settings) { return set_viscosity(comm, nu, settings); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetLengths(TS ts, PetscInt n, const PetscReal lengths[]) {
  PetscFunctionBegin;
  PetscCall(change(ts, [&](MPI_Comm comm, PetscInt dim, BurgersSettings *settings) {
    return set_lengths(comm, dim, n, lengths, settings);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetSpeed(TS ts, PetscReal speed) {
  PetscFunctionBegin;
  PetscCall(
      change(ts, [&](MPI_Comm comm, PetscInt, BurgersSettings *settings) { return set_speed(comm, speed, settings); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetCheckInterval(TS ts, PetscInt interval) {
  PetscFunctionBegin;
  PetscCall(change(ts, [&](MPI_Comm comm, PetscInt, BurgersSettings *settings) {
    return set_check_interval(comm, interval, settings);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetJacobianType(TS ts, TSBurgersJacobianType type) {
  Burgers *burgers;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCall(check_enum(ts, "type of the Jacobian", (int)type, TSBurgersJacobianTypes));
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)ts), "TSBurgersSetJacobianType()", 1, &type));
  PetscCall(BurgersSetUp(ts, burgers));
  if (type != burgers->settings.jacobian) burgers->has_matrices = false;
  burgers->settings.jacobian = type;
  PetscCall(BurgersSetMatrices(ts, burgers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetHaloType(TS ts, MatHaloType type) {
  PetscFunctionBegin;
  PetscCall(change_enum(ts, "halo type", MatHaloTypes, type,
                        [=](BurgersSettings *settings) { settings->halo_way = (HaloWay)type; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetFused(TS ts, TSBurgersScheme scheme, PetscInt steps) {
  PetscFunctionBegin;
  PetscCall(change(ts, [&](MPI_Comm comm, PetscInt, BurgersSettings *settings) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(check_enum(ts, "scheme", (int)scheme, TSBurgersSchemes));
    PetscCall(set_fused_steps(comm, steps, settings));
    settings->fused_scheme = scheme;
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
