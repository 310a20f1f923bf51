// Checks of steps: finite values, the speed of the Lax-Friedrichs flux, the CFL bound of the time step.

#include "burgers/burgers.hpp"
#include "burgers/options.hpp"

#include <cmath>
#include <limits>

namespace shellac {

// A state may be faster by this than the first one: high orders overshoot, and much if steps are unstable. A speed that the
// user gives is taken as it is.
static constexpr PetscReal overshoot = 1.25;

PetscReal number_of(unsigned long long bits) {
  double x;
  memcpy(&x, &bits, sizeof(x));
  return (PetscReal)x;
}

PetscReal burgers_bound(const Burgers &burgers, PetscReal speed) {
  PetscReal rate = 0;
  if (burgers.settings.boundary == TS_BURGERS_INFLOW)
    for (int c = 0; c < burgers.grid.dim; c++)
      for (int e = 0; e < 2; e++) speed = PetscMax(speed, PetscAbsReal(burgers.settings.inflow[c][e]));
  if (burgers.is_lax_friedrichs())
    speed = PetscMax(speed, burgers.settings.speed > 0 ? burgers.settings.speed : burgers.solve.wave_speed);
  for (int a = 0; a < burgers.grid.dim; a++) {
    const PetscReal h = burgers.patch.at[a].h;
    rate += speed / (h * burgers.operations->cfl) + 2 * burgers.settings.viscosity / (h * h);
  }
  return rate > 0 ? 1 / rate : PETSC_MAX_REAL;
}

// During a solve the speed of its first state, so that the result does not depend on how steps are fused; after it likewise
// for its states, which TSAdjointSolve() visits; otherwise the largest speed of all states so far.
PetscErrorCode BurgersSetWaveSpeed(Burgers *burgers, PetscMemType memory, const PetscScalar *u) {
  Extremes extremes;

  PetscFunctionBegin;
  if (!burgers->is_lax_friedrichs() || burgers->settings.speed > 0 ||
      (burgers->solve.running && burgers->solve.wave_speed > 0))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BurgersExtremes(burgers, memory, u, &extremes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &extremes.state, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, burgers->comm()));
  if (extremes.state >= infinite_bits) PetscFunctionReturn(PETSC_SUCCESS); // the check names the place
  if (number_of(extremes.state) <= burgers->speed_of_last * overshoot)
    burgers->solve.wave_speed = burgers->speed_of_last;
  else {
    burgers->solve.wave_speed = PetscMax(burgers->solve.wave_speed, number_of(extremes.state));
    if (burgers->settings.boundary == TS_BURGERS_INFLOW)
      for (const auto &component : burgers->settings.inflow)
        for (PetscReal value : component)
          burgers->solve.wave_speed = PetscMax(burgers->solve.wave_speed, PetscAbsReal(value));
  }
  for (auto &at : burgers->patch.at) at.speed = burgers->solve.wave_speed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first value of v that is not finite, on all ranks: its place in the natural order, and the value.
static PetscErrorCode find_not_finite(const Burgers &burgers, Vec v, PetscInt64 *first, PetscInt cell[2],
                                      int *component) {
  const PetscScalar *array;
  const Grid        &grid = burgers.grid;

  PetscFunctionBegin;
  *first = std::numeric_limits<PetscInt64>::max();
  PetscCall(VecGetArrayRead(v, &array));
  const PetscInt64 dof = grid.dof;
  for (PetscInt j = 0; j < grid.size[1]; j++)
    for (PetscInt i = 0; i < grid.size[0]; i++)
      for (PetscInt c = 0; c < dof; c++) {
        const PetscInt64 natural = ((grid.start[1] + j) * (PetscInt64)grid.N[0] + grid.start[0] + i) * dof + c;
        if (!std::isfinite(PetscRealPart(array[((PetscInt64)j * grid.size[0] + i) * dof + c])))
          *first = PetscMin(*first, natural);
      }
  PetscCall(VecRestoreArrayRead(v, &array));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, first, 1, MPIU_INT64, MPI_MIN, grid.comm));
  *component = (int)(*first % dof);
  cell[0] = (PetscInt)(*first / dof % grid.N[0]);
  cell[1] = (PetscInt)(*first / dof / grid.N[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of the Lax-Friedrichs flux; zero where it has none.
static PetscReal allowed_speed(const Burgers &burgers) {
  if (!burgers.is_lax_friedrichs()) return 0;
  return burgers.settings.speed > 0 ? burgers.settings.speed : burgers.solve.wave_speed;
}
static bool is_slow_enough(const Burgers &burgers, PetscReal speed) {
  const PetscReal allowed = allowed_speed(burgers);
  return allowed == 0 || speed <= allowed * (burgers.settings.speed > 0 ? PetscReal(1.01) : overshoot);
}
static bool is_short_enough(const Burgers &burgers, const StepChecks &checks, PetscReal speed) {
  // the last step to a final time may be longer by a hundredth
  return !checks.length || checks.dt <= checks.bounds * burgers_bound(burgers, speed) * PetscReal(1.0101);
}

bool burgers_allows(const Burgers &burgers, const StepChecks &checks, unsigned long long state) {
  const PetscReal speed = number_of(state);
  return state < infinite_bits && is_slow_enough(burgers, speed) && is_short_enough(burgers, checks, speed);
}

// The error for values that are not finite.
static PetscErrorCode name_not_finite(const Burgers &burgers, const StepChecks &checks, bool in_state, Vec v) {
  PetscInt64 first;
  PetscInt   cell[2] = {0, 0};
  int        component = 0;
  char       place[64] = "";

  PetscFunctionBegin;
  PetscCall(find_not_finite(burgers, v, &first, cell, &component));
  if (burgers.grid.dim == 1)
    PetscCall(PetscSNPrintf(place, sizeof(place), "cell %" PetscInt_FMT, cell[0]));
  else
    PetscCall(PetscSNPrintf(place, sizeof(place), "%s at cell (%" PetscInt_FMT ", %" PetscInt_FMT ")",
                            component ? "v" : "u", cell[0], cell[1]));
  SETERRQ(burgers.comm(), PETSC_ERR_FP,
          "%s is not finite (NaN or infinity) in step %" PetscInt_FMT
          ", time %g, %s; %s; check the state, or use a smaller " BURGERS_TIME_STEP,
          in_state ? "the state" : "du/dt", checks.step, (double)checks.time, place, checks.kept);
}

PetscErrorCode BurgersCheck(TS ts, Burgers *burgers, const StepChecks &checks, const Extremes &here, Vec u, Vec rate) {
  unsigned long long bits[2] = {here.state, here.rate};
  MPI_Comm           comm = burgers->comm();

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bits, 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm));
  if (bits[1] >= infinite_bits || !burgers_allows(*burgers, checks, bits[0])) burgers->solve.running = false;
  if (bits[0] >= infinite_bits) PetscCall(name_not_finite(*burgers, checks, true, u));
  if (bits[1] >= infinite_bits) PetscCall(name_not_finite(*burgers, checks, false, rate));
  const PetscReal speed = number_of(bits[0]), bound = burgers_bound(*burgers, speed);
  PetscCheck(is_slow_enough(*burgers, speed), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "in step %" PetscInt_FMT ", time %g, the state has speed %g, beyond the %g that -burgers_flux "
             "lax_friedrichs has from %s; use -burgers_speed %g or more, or the flux rusanov",
             checks.step, (double)checks.time, (double)speed, (double)allowed_speed(*burgers),
             burgers->settings.speed > 0 ? "-burgers_speed" : "the first state", (double)speed);
  PetscCall(TSSetCFLTimeLocal(ts, bound));
  if (!is_short_enough(*burgers, checks, speed)) {
    const PetscReal most = checks.bounds * bound;
    TSType          type;
    PetscCall(TSGetType(ts, &type));
    SETERRQ(
        comm, PETSC_ERR_ARG_OUTOFRANGE,
        "step %" PetscInt_FMT ", time %g: the time step %g is beyond the bound %g of -ts_type %s (the fastest wave "
        "has speed %g, cells are %g wide, Courant number %g, viscosity %g, and the type may take %g steps of forward "
        "Euler in one); %s; use " BURGERS_TIME_STEP " %g or less, -ts_adapt_type cfl or an implicit -ts_type; "
        "-burgers_check_interval 0 lets it pass",
        checks.step, (double)checks.time, (double)checks.dt, (double)most, type, (double)speed,
        (double)burgers->patch.at[0].h, (double)burgers->operations->cfl, (double)burgers->settings.viscosity,
        (double)checks.bounds, checks.kept, (double)most);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
