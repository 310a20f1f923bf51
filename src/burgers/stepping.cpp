// Callbacks of TS: the right-hand side, and a monitor that marks the beginning and the end of a solve.

#include "burgers/burgers.hpp"

namespace shellac {

// Whether an adapter accepts every step: PETSc shows this only in its view.
static PetscErrorCode accepts_every_step(TSAdapt adapt, PetscBool *every) {
  MPI_Comm    comm = PetscObjectComm((PetscObject)adapt);
  char       *text = NULL;
  size_t      size = 0;
  PetscViewer viewer;
  PetscMPIInt rank, always;
  FILE       *file = open_memstream(&text, &size);

  PetscFunctionBegin;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for the view of a TSAdapt");
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscViewerASCIIOpenWithFILE(comm, file, &viewer));
  PetscCall(TSAdaptView(adapt, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  fclose(file);
  always = rank == 0 && text && strstr(text, "always accepting"); // the first rank prints
  free(text);
  PetscCallMPI(MPI_Bcast(&always, 1, MPI_INT, 0, comm));
  *every = always ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersGetAdapt(TS ts, Burgers *burgers, PetscBool *none, PetscBool *cfl) {
  TSAdapt     adapt;
  TSAdaptType type;

  PetscFunctionBegin;
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(TSAdaptGetType(adapt, &type));
  PetscCall(PetscStrcmp(type, TSADAPTNONE, none));
  if (!type) *none = PETSC_TRUE;
  PetscCall(PetscStrcmp(type, TSADAPTCFL, cfl));
  if (*cfl && !burgers->always_accept) { // that adapter has no other way
    PetscCall(accepts_every_step(adapt, &burgers->accepted_before));
    PetscCall(TSAdaptSetAlwaysAccept(adapt, PETSC_TRUE));
    burgers->always_accept = true;
  } else if (!*cfl && burgers->always_accept) {
    PetscCall(TSAdaptSetAlwaysAccept(adapt, burgers->accepted_before));
    burgers->always_accept = false;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What to check when TS requests du/dt: for an explicit type the state of the request, for other types the state at the
// start of the step, because they also try states that they discard.
static PetscErrorCode get_checks(TS ts, Burgers *burgers, StepChecks *checks, PetscBool *is_explicit) {
  PetscBool ssp, none, cfl, rk;

  PetscFunctionBegin;
  *checks = StepChecks();
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ts, is_explicit, TSEULER, TSRK, TSSSP, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSSSP, &ssp));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSRK, &rk));
  PetscCall(BurgersGetAdapt(ts, burgers, &none, &cfl));
  PetscCheck(
      !rk || !cfl, PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP,
      "-ts_adapt_type cfl does not serve -ts_type rk, of which PETSc knows no Courant number; use -ts_type ssp or "
      "-ts_adapt_type basic");
  if (ssp) { // D. I. Ketcheson, 2008: the coefficients of methods with s stages
    TSSSPType scheme;
    PetscInt  stages;
    PetscBool rk2, rk3;
    PetscCall(TSSSPGetType(ts, &scheme));
    PetscCall(TSSSPGetNumStages(ts, &stages));
    PetscCall(PetscStrcmp(scheme, TSSSPRKS2, &rk2));
    PetscCall(PetscStrcmp(scheme, TSSSPRKS3, &rk3));
    checks->bounds = rk2 ? stages - 1 : rk3 ? stages - PetscSqrtReal((PetscReal)stages) : 6;
  }
  PetscCall(TSGetStepNumber(ts, &checks->step));
  PetscCall(TSGetTime(ts, &checks->time));
  PetscCall(TSGetTimeStep(ts, &checks->dt));
  const bool due = burgers->settings.check_interval > 0 && checks->step % burgers->settings.check_interval == 0;
  checks->state = due || cfl; // whose bound is that of the last step checked
  checks->length = due && *is_explicit && (none || cfl);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The state that a step of an implicit method starts from, once for each step.
static PetscErrorCode check_start(TS ts, Burgers *burgers, const StepChecks &checks) {
  Vec                start;
  Arrays             arrays;
  const PetscScalar *array = NULL;
  Extremes           extremes;

  PetscFunctionBegin;
  PetscCall(TSGetSolution(ts, &start));
  if (!checks.state || !start ||
      (burgers->solve.checked_step == checks.step && burgers->solve.checked_time == checks.time))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GridCheckVector(burgers->grid, start, "state"));
  PetscCall(arrays.Read(start, &array));
  PetscCall(BurgersExtremes(burgers, arrays.memory(), array, &extremes));
  PetscCall(arrays.Restore());
  PetscCall(BurgersCheck(ts, burgers, checks, extremes, start, NULL));
  burgers->solve.checked_step = checks.step;
  burgers->solve.checked_time = checks.time;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode rhs_function(TS ts, PetscReal, Vec u, Vec rate, void *) {
  Burgers           *burgers;
  Arrays             arrays;
  const PetscScalar *pu = NULL;
  PetscScalar       *pr = NULL;
  PetscBool          fused, is_explicit = PETSC_FALSE;
  StepChecks         checks;
  Extremes           extremes;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers)); // a DM that several TS share has one context for all of them
  const bool in_stage = burgers->fused.phase == FusedSteps::Phase::stage;
  if (in_stage) burgers->fused.phase = FusedSteps::Phase::idle;
  PetscCall(BurgersSetUp(ts, burgers));
  PetscCall(GridCheckVector(burgers->grid, u, "state"));
  if (!burgers->solve.running) PetscCall(BurgersCheckOptions(ts, burgers->settings, true));
  PetscCall(TSIsBurgersFused(ts, &fused));
  if (fused && in_stage) {
    PetscCall(BurgersFusedBegin(ts, burgers, rate));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!fused) PetscCall(get_checks(ts, burgers, &checks, &is_explicit));
  const bool check = is_explicit && checks.state;
  PetscCall(arrays.Read(u, &pu));
  PetscCall(arrays.Write(rate, &pr));
  PetscCall(BurgersSetWaveSpeed(burgers, arrays.memory(), pu));
  PetscCall(BurgersRates(burgers, arrays.memory(), pu, {}, check ? &extremes : NULL, pr));
  PetscCall(arrays.Restore());
  if (check) PetscCall(BurgersCheck(ts, burgers, checks, extremes, u, rate));
  if (!fused && !is_explicit) PetscCall(check_start(ts, burgers, checks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether -ts_view prints to the screen, so that earlier output remains visible.
static PetscErrorCode views_on_screen(TS ts, PetscBool *views) {
  PetscOptions options;
  const char  *prefix;
  char         value[256] = "";
  PetscBool    ascii;

  PetscFunctionBegin;
  PetscCall(TSGetOptionsPrefix(ts, &prefix));
  PetscCall(PetscObjectGetOptions((PetscObject)ts, &options));
  PetscCall(PetscOptionsGetString(options, prefix, "-ts_view", value, sizeof(value), views));
  PetscCall(PetscStrcmp(value, "ascii", &ascii));
  if (!ascii) PetscCall(PetscStrncmp(value, "ascii::", 7, &ascii));
  if (!ascii) PetscCall(PetscStrncmp(value, "::", 2, &ascii));
  *views = *views && (ascii || !value[0]) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether TSSolve() shows a step again, or an earlier one, because it has rolled back.
static PetscErrorCode has_rolled_back(TS ts, const Burgers *burgers, PetscInt step, PetscBool *rolled_back) {
  PetscFunctionBegin;
#if PETSC_VERSION_GE(3, 22, 0)
  (void)burgers, (void)step;
  PetscCall(TSGetStepRollBack(ts, rolled_back));
#else
  (void)ts;
  *rolled_back = step <= burgers->solve.shown_step && step > burgers->solve.first_step ? PETSC_TRUE : PETSC_FALSE;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc keeps what a step solves on the DM, for the TS that was set up on it first: another one would solve for the step
// of that TS, which may be gone.
static PetscErrorCode take_grid(TS ts) {
  PetscErrorCode (*function)(SNES, Vec, Vec, void *);
  PetscErrorCode (*jacobian)(SNES, Vec, Mat, Mat, void *);
  void *of;
  DM    dm;

  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMSNESGetFunction(dm, &function, &of));
  if (function == SNESTSFormFunction && of != ts) PetscCall(DMSNESSetFunction(dm, SNESTSFormFunction, ts));
  PetscCall(DMSNESGetJacobian(dm, &jacobian, &of));
  if (jacobian == SNESTSFormJacobian && of != ts) PetscCall(DMSNESSetJacobian(dm, SNESTSFormJacobian, ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode begin_solve(TS ts, Burgers *burgers, PetscInt step, Vec u) {
  Arrays             arrays;
  const PetscScalar *array = NULL;

  PetscFunctionBegin;
  burgers->solve.running = false; // the last solve may have ended with an error
  PetscCall(BurgersSetUp(ts, burgers));
  PetscCall(GridCheckVector(burgers->grid, u, "state"));
  PetscCall(BurgersCheckOptions(ts, burgers->settings, true));
  PetscCall(BurgersSetMatrices(ts, burgers)); // which TSReset() drops
  PetscCall(take_grid(ts));
  burgers->solve.wave_speed = burgers->speed_of_last = 0;
  burgers->solve.checked_step = -1;
  burgers->solve.first_step = step;
  burgers->fused.phase = FusedSteps::Phase::idle;
  burgers->fused.last = FusedBlock();
  PetscCall(arrays.Read(u, &array));
  PetscCall(BurgersSetWaveSpeed(burgers, arrays.memory(), array));
  PetscCall(arrays.Restore());
  burgers->solve.running = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The last state, from which no step starts.
static PetscErrorCode check_end(TS ts, Burgers *burgers, PetscInt step, PetscReal time, Vec u) {
  Arrays             arrays;
  const PetscScalar *array = NULL;
  Extremes           extremes;
  StepChecks         checks;

  PetscFunctionBegin;
  if (!burgers->solve.running || burgers->settings.check_interval == 0) PetscFunctionReturn(PETSC_SUCCESS);
  checks.step = step;
  checks.time = time;
  checks.kept = "the solve ended with it";
  PetscCall(arrays.Read(u, &array));
  PetscCall(BurgersExtremes(burgers, arrays.memory(), array, &extremes));
  PetscCall(arrays.Restore());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &extremes.state, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, burgers->comm()));
  if (extremes.state >= infinite_bits) PetscCall(BurgersCheck(ts, burgers, checks, extremes, u, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode end_solve(TS ts, Burgers *burgers) {
  PetscBool views;

  PetscFunctionBegin;
  if (burgers->solve.running) {
    PetscCall(views_on_screen(ts, &views));
    if (views) PetscCall(TSBurgersView(ts, PETSC_VIEWER_STDOUT_(burgers->comm())));
  }
  burgers->speed_of_last = burgers->solve.wave_speed;
  burgers->solve = BurgersSolve();
  burgers->fused.last = FusedBlock();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode watch(TS ts, PetscInt step, PetscReal time, Vec u, void *) {
  Burgers          *burgers;
  TSConvergedReason reason;
  PetscBool         back;

  PetscFunctionBegin;
  PetscCall(TSFindBurgers(ts, &burgers));
  if (!burgers) PetscFunctionReturn(PETSC_SUCCESS);
  BurgersSolve &solve = burgers->solve;
  PetscCall(TSGetConvergedReason(ts, &reason));
  if (reason != TS_CONVERGED_ITERATING) {
    PetscCall(check_end(ts, burgers, step, time, u));
    PetscCall(end_solve(ts, burgers));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool later = step > solve.shown_step || (step == solve.shown_step && time > solve.shown_time);
  PetscCall(has_rolled_back(ts, burgers, step, &back));
  if (!solve.running || !(later || back)) PetscCall(begin_solve(ts, burgers, step, u));
  solve.shown_step = back ? -1 : step; // after going back, any step is a later one
  solve.shown_time = time;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersSetCallbacks(TS ts) {
  PetscFunctionBegin;
  PetscCall(TSSetRHSFunction(ts, NULL, rhs_function, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersSetMonitor(TS ts) {
  PetscFunctionBegin;
  PetscCall(TSMonitorSet(ts, watch, NULL, NULL)); // which sets the same monitor once
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
