// The TS type burgersfused: many steps of one Δt between two steps of TS, several of them in one pass over memory.
//
// TS itself takes a forward Euler step, but only formally: the right-hand side notes the vector for the next state, and
// after the stage the result of the block's steps is written there. So the state at the start of a block remains until the
// block has succeeded. TS counts its own step; the other steps of the block are added to the step number and the time.
//
// If TS finds an event within a block, it rolls back to the start of the block and takes shorter steps. Such a step of TS is
// divided into parts that are no longer than the block's steps.

#include "burgers/burgers.hpp"
#include "burgers/options.hpp"
#include "burgers/types.hpp"

namespace shellac {

PetscErrorCode TSIsBurgersFused(TS ts, PetscBool *is) {
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSBURGERSFUSED, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Stages stages_of(TSBurgersScheme scheme) {
  if (scheme == TS_BURGERS_SSPRK2) return {2, {0, 0.5, 0}, {1, 0.5, 0}};
  if (scheme == TS_BURGERS_SSPRK3) return {3, {0, 0.75, PetscReal(1) / 3}, {1, 0.25, PetscReal(2) / 3}};
  return {1, {0, 0, 0}, {1, 0, 0}};
}

PetscErrorCode BurgersFusedBegin(TS ts, Burgers *burgers, Vec update) {
  PetscReal dt;

  PetscFunctionBegin;
  PetscCall(TSGetTimeStep(ts, &dt));
  PetscCheck(dt > 0, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "the time step is %g, and -ts_type burgersfused goes forward in time; use a " BURGERS_TIME_STEP " above 0",
             (double)dt);
  PetscCheck(
      burgers->fused.phase != FusedSteps::Phase::pending, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONGSTATE,
      "the last steps of -ts_type burgersfused were not taken, because TSSetPostStage() has replaced what takes them; "
      "use TSSetPostStep(), or call it before TSSetType()");
  burgers->fused.update = update;
  burgers->fused.phase = FusedSteps::Phase::pending;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// How many steps a pass over memory takes, and the halo that it needs.
static PetscErrorCode set_up_passes(Burgers *burgers, const Stages &stages) {
  const PetscInt reach = stages.count * burgers->operations->radius; // of a step

  PetscFunctionBegin;
  if (burgers->fused.work[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (Vec &v : burgers->fused.work) PetscCall(VecDuplicate(burgers->fused.update, &v));
  burgers->fused.pass = 0;
  if (burgers->grid.dim > 1) PetscFunctionReturn(PETSC_SUCCESS);
  burgers->fused.pass = most_fused_steps(stages.count, (int)burgers->operations->radius);
  if (burgers->grid.ranks[0] > 1)
    for (PetscMPIInt r = 0; r < burgers->grid.ranks[0]; r++) {
      const PetscInt cells = burgers->grid.first[0][r + 1] - burgers->grid.first[0][r];
      burgers->fused.pass = (int)PetscMin((PetscInt)burgers->fused.pass, cells / reach);
    }
  if (!burgers->fused.pass) PetscFunctionReturn(PETSC_SUCCESS);
  Patch patch = burgers->patch.patch;
  burgers->fused.halo_width = patch.width = burgers->fused.pass * reach;
  PetscCall(burgers->fused.halo.Create(burgers->links, patch, false, burgers->on_device, burgers->settings.halo_way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Advance { // a stage, value by value
  Stage            stage;
  const PetscReal *u, *rate;
  PetscReal       *to;

  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { to[i] = advance(stage, (size_t)i, u[i], rate[i]); }
};

// A step with a pass over memory for each stage; in 1-D with another one. work: as long; `to` may be neither of them.
static PetscErrorCode step_by_stages(Burgers *burgers, PetscMemType memory, const Stages &stages, PetscReal dt,
                                     const PetscScalar *from, PetscScalar *work, PetscScalar *to) {
  const PetscScalar *u = from;

  PetscFunctionBegin;
  for (int s = 0; s < stages.count; s++) {
    const Stage  stage = {s == 0, stages.a[s], stages.b[s], dt, (const PetscReal *)from};
    PetscScalar *next = (stages.count - s) % 2 ? to : work; // the last stage ends in `to`
    if (burgers->grid.dim == 1) {
      const size_t cells = (size_t)burgers->patch.patch.size[0];
      PetscCall(BurgersRates(burgers, memory, u, {}, NULL, work));
      next = to;
      PetscCall(for_each(memory, line_of(cells),
                         Advance{stage, (const PetscReal *)u, (const PetscReal *)work, (PetscReal *)next}));
    } else
      PetscCall(BurgersRates(burgers, memory, u, stage, NULL, next));
    u = next;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// to = the state n steps after `from`. work: two arrays besides.
static PetscErrorCode take_steps(Burgers *burgers, PetscMemType memory, const Stages &stages, PetscReal dt, PetscInt n,
                                 const PetscScalar *from, PetscScalar *to, PetscScalar *const work[2]) {
  const auto &operations = *burgers->operations;
  const auto &at = burgers->patch.at[0];

  PetscFunctionBegin;
  if (burgers->fused.pass && burgers->settings.fused_steps > 1 && !PetscMemTypeHost(memory) &&
      burgers->grid.ranks[0] == 1 && operations.can_be_resident(stages, burgers->grid.N[0])) {
    Field<PetscReal> field = {};
    field.u = (const PetscReal *)from;
    PetscCall(operations.resident(at, burgers_line(burgers->patch, field, 0), stages, dt, n, (PetscReal *)to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!burgers->fused.pass || burgers->settings.fused_steps == 1) {
    for (PetscInt step = 0; step < n; step++) {
      PetscScalar *const next = (n - step) % 2 ? to : work[0]; // the last step ends in `to`
      PetscCall(step_by_stages(burgers, memory, stages, dt, from, work[1], next));
      from = next;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt passes = (n + burgers->fused.pass - 1) / burgers->fused.pass; passes > 0; passes--) {
    const PetscInt     count = (n + passes - 1) / passes;
    PetscScalar *const next = passes % 2 ? to : work[0];
    PetscCall(burgers->fused.halo.Begin(from, memory));
    PetscCall(burgers->fused.halo.End());
    PetscCall(operations.steps(
        memory, at, burgers_line(burgers->patch, real_field(burgers->fused.halo.field()), burgers->fused.halo_width),
        stages, dt, (int)count, (PetscReal *)next));
    from = next;
    n -= count;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The next time, at most max_time, at which TS must end a step.
static PetscErrorCode next_target(TS ts, PetscReal time, PetscReal *target) {
  PetscInt         n;
  const PetscReal *times;

  PetscFunctionBegin;
  PetscCall(TSGetMaxTime(ts, target));
#if PETSC_VERSION_LT(3, 23, 0)
  PetscCall(TSGetTimeSpan(ts, &n, &times));
#else
  PetscCall(TSGetEvaluationTimes(ts, &n, &times));
#endif
  for (PetscInt i = 0; i < n; i++)
    if (times[i] > time) *target = PetscMin(*target, times[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Takes a block's steps one by one from the state u, up to the first error: keeps the state before it and raises the error.
// The block's checks have found an error, but it may belong to the step after the last. Then all steps are valid, and their
// result is in `result` again.
static PetscErrorCode find_failure(TS ts, Burgers *burgers, const Stages &stages, StepChecks checks, PetscInt n, Vec u,
                                   Vec result) {
  Vec      from = u, next = (n % 2) ? result : burgers->fused.work[0];
  Extremes good, extremes;

  PetscFunctionBegin;
  for (PetscInt step = 0; step < n; step++, checks.step++, checks.time += checks.dt) {
    Arrays             arrays;
    const PetscScalar *array = NULL;
    PetscScalar       *to = NULL, *rate = NULL;
    PetscCall(arrays.Read(from, &array));
    PetscCall(arrays.Write(next, &to));
    PetscCall(arrays.Write(burgers->fused.work[1], &rate));
    PetscCall(BurgersExtremes(burgers, arrays.memory(), array, &good));
    PetscCall(step_by_stages(burgers, arrays.memory(), stages, checks.dt, array, rate, to));
    PetscCall(BurgersExtremes(burgers, arrays.memory(), to, &extremes));
    PetscCall(arrays.Restore());
    good.rate = extremes.state;
    const PetscErrorCode code = BurgersCheck(ts, burgers, checks, good, from, next);
    if (code && from != u) PetscCall(VecCopy(from, u));
    if (code) PetscCall(TSSetStepNumber(ts, checks.step));
    if (code) PetscCall(TSSetTime(ts, checks.time));
    PetscCall(code);
    from = next;
    next = next == result ? burgers->fused.work[0] : result; // the last step ends in `result`
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The number and length of the steps of a block, and how TS counts them.
struct Plan {
  PetscInt  n = 1;
  PetscReal dt = 0;   // of a step
  PetscInt  last = 0; // number of TS' own step
  PetscReal time = 0; // at its start
};

static PetscErrorCode make_plan(TS ts, Burgers *burgers, Plan *plan) {
  FusedBlock &last = burgers->fused.last;
  PetscReal   dt, time, target;
  PetscInt    first, most;

  PetscFunctionBegin;
  PetscCall(TSGetTimeStep(ts, &dt));
  PetscCall(TSGetTime(ts, &time));
  PetscCall(TSGetStepNumber(ts, &first));
  PetscCall(TSGetMaxSteps(ts, &most));
#if PETSC_VERSION_GE(3, 26, 0)
  PetscInt run;
  PetscCall(TSGetRunSteps(ts, &run));
  if (burgers->solve.running && run < PETSC_INT_MAX - burgers->solve.first_step)
    most = PetscMin(most, burgers->solve.first_step + run);
#endif
  PetscCall(next_target(ts, time, &target));
  // a TS that starts anew with the same number and time goes back as well, but not during a solve
  const bool back =
      last.taken && time == last.start && first == last.last && (burgers->solve.running || last.last > last.first);
  const bool on = last.taken && time == last.end && first == last.last + 1;
  PetscReal  until = back || on ? last.until : PETSC_MIN_REAL;
  if (back) first = last.first;
  if (back) until = PetscMax(until, last.end);
  const PetscReal part = last.dt;
  plan->dt = dt;
  plan->time = time;
  if (time + dt <= until + 10 * PETSC_MACHINE_EPSILON * PetscAbsReal(until)) {
    plan->n = PetscMax(1, (PetscInt)PetscCeilReal(dt / part * (1 - 1e-12)));
    plan->dt = dt / plan->n;
  } else { // all steps that TS would take with the same Δt; near a time to hit it may choose another one after each step
    until = PETSC_MIN_REAL;
    while (plan->n < burgers->settings.fused_steps && first + plan->n < most && target - (plan->time + dt) >= 4 * dt)
      plan->time += dt, plan->n++;
  }
  plan->last = first + plan->n - 1;
  last = FusedBlock();
  last.first = first;
  last.last = plan->last;
  last.start = time;
  last.end = plan->time + dt; // as TS adds it
  last.dt = until == PETSC_MIN_REAL ? dt : part;
  last.until = until;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode pre_stage(TS ts, PetscReal) {
  Burgers  *burgers;
  PetscBool fused;

  PetscFunctionBegin;
  PetscCall(TSIsBurgersFused(ts, &fused));
  if (!fused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSFindBurgers(ts, &burgers));
  PetscCheck(burgers, PetscObjectComm((PetscObject)ts), PETSC_ERR_ORDER,
             "-ts_type burgersfused steps Burgers' equation only, which this TS does not have; call TSSetBurgers() "
             "before TSSolve()");
  burgers->fused.phase = FusedSteps::Phase::stage;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode post_stage(TS ts, PetscReal, PetscInt, Vec *) {
  Burgers           *burgers;
  Arrays             arrays;
  const PetscScalar *from = NULL;
  PetscScalar       *to = NULL, *work[2] = {NULL, NULL};
  PetscBool          fused, none, cfl;
  Plan               plan;
  StepChecks         checks;
  Vec                u;
  Extremes           extremes;

  PetscFunctionBegin;
  PetscCall(TSIsBurgersFused(ts, &fused));
  if (!fused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSFindBurgers(ts, &burgers));
  PetscCheck(
      burgers && burgers->fused.phase == FusedSteps::Phase::pending, PetscObjectComm((PetscObject)ts), PETSC_ERR_ORDER,
      "-ts_type burgersfused steps Burgers' equation only; call TSSetBurgers(), and no other right-hand side nor "
      "TSSetPreStage() after it");
  burgers->fused.phase = FusedSteps::Phase::idle;
  TSAdapt                adapt;
  TSAdaptType            adapt_type;
  TSExactFinalTimeOption final_time;
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(TSAdaptGetType(adapt, &adapt_type));
  PetscCall(BurgersGetAdapt(ts, burgers, &none, &cfl));
  PetscCheck(
      none || cfl, burgers->comm(), PETSC_ERR_SUP,
      "-ts_type burgersfused takes steps of one length, and has no error estimate for -ts_adapt_type %s; use none "
      "or cfl",
      adapt_type);
  PetscCall(TSGetExactFinalTime(ts, &final_time));
  PetscCheck(final_time != TS_EXACTFINALTIME_INTERPOLATE, burgers->comm(), PETSC_ERR_SUP,
             "-ts_type burgersfused cannot interpolate between states; use -ts_exact_final_time matchstep or stepover");
  const Stages stages = stages_of(burgers->settings.scheme());
  PetscCall(set_up_passes(burgers, stages));
  PetscCall(make_plan(ts, burgers, &plan));
  const FusedBlock block = burgers->fused.last;

  const PetscInt interval = burgers->settings.check_interval;
  const bool     due = interval > 0 && (block.first + interval - 1) / interval * interval < block.first + plan.n;
  checks.state = due || cfl;
  checks.length = due;
  checks.dt = plan.dt;
  checks.step = block.first;
  checks.time = block.start;
  PetscCall(TSGetSolution(ts, &u));
  PetscCall(GridCheckVector(burgers->grid, u, "state"));
  PetscCall(arrays.Read(u, &from));
  PetscCall(arrays.Write(burgers->fused.update, &to));
  for (int w = 0; w < 2; w++) PetscCall(arrays.Write(burgers->fused.work[w], &work[w]));
  PetscCall(BurgersSetWaveSpeed(burgers, arrays.memory(), from));
  if (checks.state) {
    PetscCall(BurgersExtremes(burgers, arrays.memory(), from, &extremes));
    const PetscErrorCode code = BurgersCheck(ts, burgers, checks, extremes, u, u);
    if (code) PetscCall(arrays.Restore());
    PetscCall(code);
  }
  PetscCall(PetscLogEventBegin(burgers_steps_event, 0, 0, 0, 0));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(take_steps(burgers, arrays.memory(), stages, plan.dt, plan.n, from, to, work));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(
      log_flops(arrays.memory(), 12.0 * plan.n * stages.count * (PetscLogDouble)burgers->patch.patch.all().points()));
  PetscCall(PetscLogEventEnd(burgers_steps_event, 0, 0, 0, 0));
  if (checks.state) PetscCall(BurgersExtremes(burgers, arrays.memory(), to, &extremes));
  PetscCall(arrays.Restore());
  if (checks.state) {
    unsigned long long state = extremes.state;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &state, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, burgers->comm()));
    if (!burgers_allows(*burgers, checks, state))
      PetscCall(find_failure(ts, burgers, stages, checks, plan.n, u, burgers->fused.update));
    if (cfl) PetscCall(TSSetCFLTimeLocal(ts, burgers_bound(*burgers, number_of(state))));
  }
  PetscCall(TSSetStepNumber(ts, plan.last));
  PetscCall(TSSetTime(ts, plan.time));
  burgers->fused.last.taken = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSCreate_BurgersFused(TS ts) {
  PetscFunctionBegin;
  PetscCall(TSSetType(ts, TSEULER));
  PetscCall(TSSetPreStage(ts, pre_stage));
  PetscCall(TSSetPostStage(ts, post_stage));
  PetscCall(PetscObjectChangeTypeName((PetscObject)ts, TSBURGERSFUSED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
