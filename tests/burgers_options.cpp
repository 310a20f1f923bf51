// Burgers' equation: options, setters, errors of settings and of wrong calls.

#include "burgers_support.hpp"

using namespace tests;

#if defined(PETSC_USE_COMPLEX)

TEST_CASE("Burgers' equation needs real scalars", "[burgers]") {
  Grid da;
  TS   ts;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, 16, 1, 1, NULL, &da));
  OK(DMSetUp(da));
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, da));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"complex", "real"}), [&] { return TSSetBurgers(ts); });
  OK(TSDestroy(&ts));
}

#else

TEST_CASE("settings of Burgers' equation that are not allowed", "[burgers]") {
  const PetscInt N = 16 * rank_count();
  const struct {
    const char              *options;
    PetscErrorCode           code;
    std::vector<std::string> words;
  } mistakes[] = {
      {"-burgers_flux upwind", PETSC_ERR_USER, {"upwind", "burgers_flux"}},
      {"-burgers_reconstruct weno7", PETSC_ERR_USER, {"weno7", "burgers_reconstruct"}},
      {"-burgers_bc wall", PETSC_ERR_USER, {"wall", "burgers_bc"}},
      {"-burgers_bc outflow", PETSC_ERR_ARG_INCOMP, {"outflow", "PERIODIC", "DM_BOUNDARY_NONE"}},
      {"-burgers_viscosity -1", PETSC_ERR_ARG_OUTOFRANGE, {"viscosity", "-1", "below 0"}},
      {"-burgers_lengths 0", PETSC_ERR_ARG_OUTOFRANGE, {"length x", "0", "positive"}},
      {"-burgers_lengths 1,2", PETSC_ERR_ARG_SIZ, {"2 side lengths", "1"}},
      {"-burgers_inflow 1", PETSC_ERR_ARG_SIZ, {"burgers_inflow", "1", "2"}},
      {"-burgers_check_interval -3", PETSC_ERR_ARG_OUTOFRANGE, {"burgers_check_interval", "-3"}},
      {"-burgers_fused_steps 0", PETSC_ERR_ARG_OUTOFRANGE, {"burgers_fused_steps", "0"}},
      {"-burgers_fused_scheme rk4", PETSC_ERR_USER, {"rk4", "burgers_fused_scheme"}},
      {"-burgers_speed -1", PETSC_ERR_ARG_OUTOFRANGE, {"burgers_speed", "-1"}},
      {"-burgers_flux central_doubled -burgers_reconstruct weno5",
       PETSC_ERR_ARG_INCOMP,
       {"central_doubled", "weno5", "constant"}},
      {"-burgers_flux central_doubled -burgers_viscosity 1",
       PETSC_ERR_ARG_INCOMP,
       {"central_doubled", "viscosity", "use central"}},
  };
  for (const auto &mistake : mistakes) {
    INFO(mistake.options);
    Grid    da;
    Stepper ts;
    OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, N, 1, 1, NULL, &da));
    OK(DMSetUp(da));
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetDM(ts, da));
    Options set(mistake.options);
    EXPECT_ERROR(mistake.code, (mistake.words), [&] { return TSSetBurgers(ts); });
  }
}

TEST_CASE("grids that Burgers' equation does not serve", "[burgers]") {
  const auto attempt = [](DM da, const std::string &text) {
    Stepper ts;
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetDM(ts, da));
    Options set(text);
    return TSSetBurgers(ts);
  };
  if (rank_count() <= 3) {
    Grid three;
    OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, 3, 1, 1, NULL, &three));
    OK(DMSetUp(three));
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"weno5", "3", "cells"}),
                 [&] { return attempt(three, "-burgers_reconstruct weno5"); });
  }
  Grid two, volume, plane;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, 32, 2, 1, NULL, &two));
  OK(DMSetUp(two));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"dof = 2", "dof = 1"}), [&] { return attempt(two, ""); });
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, 8, 8, PETSC_DECIDE,
                  PETSC_DECIDE, 1, 1, NULL, NULL, &plane));
  OK(DMSetUp(plane));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"dof = 1", "dof = 2"}), [&] { return attempt(plane, ""); });
  OK(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 8, 8, 8,
                  PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 3, 1, NULL, NULL, NULL, &volume));
  OK(DMSetUp(volume));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"3 dimensions"}), [&] { return attempt(volume, ""); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [] { return TSSetBurgers(NULL); });
  Stepper bare;
  OK(TSCreate(PETSC_COMM_WORLD, &bare));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"DMDA", "TSSetDM"}), [&] { return TSSetBurgers(bare); });
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"TSSetBurgers"}), [&] { return TSBurgersSetViscosity(bare, 1); });
}

TEST_CASE("TSSetFromOptions() reads the options of Burgers' equation", "[burgers]") {
  const PetscInt N = 40 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "");
  run.start([&](PetscInt i) { return wavy(i, N); });
  OK(TSBurgersSetViscosity(run.ts, 3));
  {
    Options set("-burgers_viscosity 0.1 -burgers_flux central -burgers_reconstruct minmod -burgers_jacobian aij "
                "-burgers_check_interval 0 -ts_type beuler");
    OK(TSSetFromOptions(run.ts));
  }
  const Values expected = textbook::rate(run.all(), 2 * pi / N, "central", "minmod", "periodic", 0.1);
  PetscReal    size = 0;
  for (PetscReal value : expected) size = std::max(size, std::fabs(value));
  CHECK(largest_difference(run.rate(), expected) <= 1e-12 * size);
  Mat       J;
  PetscBool aij;
  OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
  OK(PetscObjectBaseTypeCompareAny((PetscObject)J, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  CHECK(aij);
  const std::string text = printed([&] { OK(TSBurgersView(run.ts, NULL)); });
  for (const char *word : {"central", "minmod", "periodic", "0.1", "checks: none"}) {
    INFO(text);
    CHECK(text.find(word) != std::string::npos);
  }
  for (const char *mistake : {"-burgers_inflow 1,0", "-burgers_speed 2"}) {
    Options set(mistake);
    INFO(mistake);
    EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({std::string(mistake, strchr(mistake, ' ')), "leave"}),
                 [&] { return TSSetFromOptions(run.ts); });
  }
  OK(TSSetFromOptions(run.ts));
}

TEST_CASE("several TS on one DMDA keep their own equations", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "");
  run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
  Vector  before = make_vector(run.da), after = make_vector(run.da);
  Stepper other;
  OK(TSSetTimeStep(run.ts, 1e-4)); // which the bound allows
  OK(TSComputeRHSFunction(run.ts, 0, run.u, before));
  OK(TSCreate(PETSC_COMM_WORLD, &other));
  OK(TSSetDM(other, run.da));
  OK(TSSetBurgers(other));
  OK(TSBurgersSetViscosity(other, 0.5));
  OK(TSComputeRHSFunction(run.ts, 0, run.u, after));
  CHECK(difference(after, before) == 0);
  OK(TSDestroy(&other));
  OK(TSComputeRHSFunction(run.ts, 0, run.u, after));
  CHECK(difference(after, before) == 0);
}

TEST_CASE("an option without effect under the type of the TS is an error, which changes nothing", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  const struct {
    const char              *options;
    std::vector<std::string> words;
  } mistakes[] = {
      {"-ts_type euler -burgers_fused_steps 8", {"-burgers_fused_steps", "euler", "use -ts_type burgersfused"}},
      {"-ts_type beuler -burgers_fused_scheme euler", {"-burgers_fused_scheme", "beuler", "leave"}},
      {"-ts_type euler -burgers_jacobian aij", {"-burgers_jacobian", "euler", "beuler", "leave"}},
      {"-ts_type burgersfused -burgers_jacobian shell", {"-burgers_jacobian", "burgersfused", "leave"}},
      {"-ts_type rk -burgers_jacobian shell_aij", {"-burgers_jacobian", "rk"}},
      {"-ts_type ssp -burgers_jacobian aij", {"-burgers_jacobian", "ssp"}},
  };
  for (const auto &mistake : mistakes) {
    Run run(PETSC_COMM_WORLD, N, true, mistake.options);
    run.start([&](PetscInt i) { return wavy(i, N); });
    Vector before = copy_of(run.u);
    INFO(mistake.options);
    EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, (mistake.words), [&] { return solve(run, 3, 1e-3); });
    CHECK(difference(run.u, before) == 0);
    OK(TSSetType(run.ts, strstr(mistake.options, "fused_s") ? TSBURGERSFUSED : TSBEULER)); // a type that they are for
    run.u = copy_of(before); // PETSc leaves the state of a solve that has ended with an error locked
    OK(solve(run, 2, 1e-3));
  }
}

TEST_CASE("inflow values without a choice of the boundary condition are an error", "[burgers]") {
  const PetscReal values[2] = {1, 0};
  for (int way : {0, 1, 2}) {
    INFO(way);
    Run run(PETSC_COMM_WORLD, 40, false, way == 2 ? "-ts_type euler -burgers_bc outflow" : "-ts_type euler");
    run.start([](PetscInt) { return 0.5; });
    OK(TSBurgersSetInflow(run.ts, 2, values));
    if (way == 1) OK(TSBurgersSetBoundary(run.ts, TS_BURGERS_INFLOW));
    OK(TSSetTimeStep(run.ts, 1e-3));
    OK(TSSetMaxSteps(run.ts, 2));
    if (way == 0)
      EXPECT_ERROR(PETSC_ERR_ORDER, ({"TSBurgersSetInflow()", "outflow", "TSBurgersSetBoundary"}),
                   [&] { return TSSolve(run.ts, run.u); });
    else
      OK(TSSolve(run.ts, run.u)); // chosen, if only by the run's user
  }
}

TEST_CASE("types of TS that cannot step Burgers' equation are refused", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  for (const char *type : {"mimex", "discgrad", "alpha2", "basicsymplectic"}) {
    Run     run(PETSC_COMM_WORLD, N, true, "");
    Options set(std::string("-ts_type ") + type);
    INFO(type);
    EXPECT_ERROR(PETSC_ERR_SUP, ({type, "use an explicit type", "beuler"}), [&] { return TSSetFromOptions(run.ts); });
  }
  Run     run(PETSC_COMM_WORLD, N, true, "");
  Options set("-ts_type irk");
  EXPECT_ERROR(PETSC_ERR_SUP, ({"irk", "-burgers_jacobian aij"}), [&] { return TSSetFromOptions(run.ts); });
}

TEST_CASE("null pointers and values that enumerations lack", "[burgers]") {
  const PetscInt  N = 20 * rank_count();
  Run             run(PETSC_COMM_WORLD, N, true, "-ts_type euler");
  PetscReal       bound;
  const PetscReal good[2] = {1, 2}, bad[2] = {1, NAN};
  run.start([&](PetscInt i) { return wavy(i, N); });
  OK(TSSetTimeStep(run.ts, 1e-6)); // within the bound
  const Values before = run.rate();
  const struct {
    PetscErrorCode                  code;
    std::vector<std::string>        words;
    std::function<PetscErrorCode()> call;
  } mistakes[] = {
      {PETSC_ERR_ARG_NULL, {"inflow", "null", "2"}, [&] { return TSBurgersSetInflow(run.ts, 2, NULL); }},
      {PETSC_ERR_ARG_NULL, {"lengths", "null"}, [&] { return TSBurgersSetLengths(run.ts, 1, NULL); }},
      {PETSC_ERR_ARG_NULL, {"state", "null"}, [&] { return TSBurgersGetTimeStepBound(run.ts, NULL, &bound); }},
      {PETSC_ERR_ARG_NULL, {"bound", "null"}, [&] { return TSBurgersGetTimeStepBound(run.ts, run.u, NULL); }},
      {PETSC_ERR_ARG_NULL, {"TS is null"}, [&] { return TSBurgersSetViscosity(NULL, 1); }},
      {PETSC_ERR_ARG_NULL, {"TS is null"}, [&] { return TSBurgersView(NULL, NULL); }},
      {PETSC_ERR_ARG_SIZ, {"3", "give 2"}, [&] { return TSBurgersSetInflow(run.ts, 3, good); }},
      {PETSC_ERR_ARG_OUTOFRANGE, {"inflow value 1", "finite"}, [&] { return TSBurgersSetInflow(run.ts, 2, bad); }},
      {PETSC_ERR_ARG_OUTOFRANGE, {"viscosity", "-1"}, [&] { return TSBurgersSetViscosity(run.ts, -1); }},
      {PETSC_ERR_ARG_OUTOFRANGE, {"-burgers_speed", "-2"}, [&] { return TSBurgersSetSpeed(run.ts, -2); }},
      {PETSC_ERR_ARG_OUTOFRANGE, {"check_interval", "-1"}, [&] { return TSBurgersSetCheckInterval(run.ts, -1); }},
      {PETSC_ERR_ARG_OUTOFRANGE, {"fused_steps", "0"}, [&] { return TSBurgersSetFused(run.ts, TS_BURGERS_EULER, 0); }},
      {PETSC_ERR_ARG_OUTOFRANGE,
       {"scheme 9", "euler, ssprk2 or ssprk3"},
       [&] { return TSBurgersSetFused(run.ts, (TSBurgersScheme)9, 1); }},
      {PETSC_ERR_ARG_OUTOFRANGE,
       {"flux 17", "central, lax_friedrichs", "or central_doubled"},
       [&] { return TSBurgersSetFlux(run.ts, (TSBurgersFlux)17); }},
      {PETSC_ERR_ARG_OUTOFRANGE,
       {"reconstruction -1", "or weno5"},
       [&] { return TSBurgersSetReconstruction(run.ts, (TSBurgersReconstruction)-1); }},
      {PETSC_ERR_ARG_OUTOFRANGE,
       {"boundary condition 4", "or frozen"},
       [&] { return TSBurgersSetBoundary(run.ts, (TSBurgersBoundary)4); }},
      {PETSC_ERR_ARG_OUTOFRANGE,
       {"Jacobian 3", "or shell_aij"},
       [&] { return TSBurgersSetJacobianType(run.ts, (TSBurgersJacobianType)3); }},
  };
  for (const auto &mistake : mistakes) {
    INFO(mistake.words[0]);
    EXPECT_ERROR(mistake.code, (mistake.words), mistake.call);
    CHECK(largest_difference(run.rate(), before) == 0);
  }
}

TEST_CASE("settings that fail leave those of before", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "-burgers_flux rusanov");
  run.start([&](PetscInt i) { return wavy(i, N); });
  OK(TSSetTimeStep(run.ts, 1e-6)); // within the bound
  const Values before = run.rate();
  for (const char *mistake :
       {"-burgers_flux central -burgers_bc outflow", "-burgers_flux central -burgers_viscosity -1",
        "-burgers_flux central -burgers_speed 2"}) {
    Options set(mistake);
    INFO(mistake);
    EXPECT_ERROR((PetscErrorCode)0, ({""}), [&] { return TSSetFromOptions(run.ts); });
    CHECK(largest_difference(run.rate(), before) == 0);
  }
  // a TS that TSSetBurgers() refused has no equation
  Stepper ts;
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, run.da));
  {
    Options set("-burgers_bc outflow");
    EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"outflow"}), [&] { return TSSetBurgers(ts); });
  }
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"TSSetBurgers()"}), [&] { return TSBurgersSetViscosity(ts, 1); });
  OK(TSSetBurgers(ts));
}

TEST_CASE("setters do what the options do", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  Run option(PETSC_COMM_WORLD, N, true, "-burgers_flux lax_friedrichs -burgers_speed 2.5 -burgers_check_interval 3");
  Run setter(PETSC_COMM_WORLD, N, true, "");
  OK(TSBurgersSetFlux(setter.ts, TS_BURGERS_LAX_FRIEDRICHS));
  OK(TSBurgersSetSpeed(setter.ts, 2.5));
  OK(TSBurgersSetCheckInterval(setter.ts, 3));
  for (Run *run : {&option, &setter}) {
    run->start([&](PetscInt i) { return wavy(i, N); });
    OK(TSSetTimeStep(run->ts, 1e-3));
  }
  CHECK(largest_difference(option.rate(), setter.rate()) == 0);
  const auto view = [](Run &run) { return printed([&] { OK(TSBurgersView(run.ts, NULL)); }); };
  CHECK(view(option) == view(setter));
  Mat       J, P;
  PetscBool aij;
  OK(TSBurgersSetJacobianType(setter.ts, TS_BURGERS_JACOBIAN_SHELL_AIJ));
  OK(TSGetRHSJacobian(setter.ts, &J, &P, NULL, NULL));
  OK(PetscObjectBaseTypeCompareAny((PetscObject)P, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  CHECK(aij);
  CHECK(J != P);
}

// Of a grid that says its length with its coordinates.
static Grid stretched_ring(PetscInt N, PetscReal length) {
  Grid da;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, N, 1, 1, NULL, &da));
  OK(DMSetFromOptions(da));
  OK(DMSetUp(da));
  OK(DMDASetUniformCoordinates(da, 0, length, 0, 0, 0, 0));
  return da;
}
static Stepper stepper_on(DM da) {
  Stepper ts;
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, da));
  OK(TSSetProblemType(ts, TS_NONLINEAR));
  OK(TSSetType(ts, TSEULER));
  OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  OK(TSSetBurgers(ts));
  return ts;
}
static PetscErrorCode two_steps(TS ts, Vec u, PetscReal dt) {
  PetscFunctionBeginUser;
  PetscCall(TSSetStepNumber(ts, 0));
  PetscCall(TSSetTime(ts, 0));
  PetscCall(TSSetTimeStep(ts, dt));
  PetscCall(TSSetMaxSteps(ts, 2));
  PetscCall(TSSolve(ts, u));
  PetscFunctionReturn((PetscErrorCode)0);
}

TEST_CASE("Burgers' equation follows the DM's coordinates", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  Grid           da = stretched_ring(N, 1);
  Stepper        ts = stepper_on(da);
  Vector         u = make_vector(da), v = make_vector(da);
  PetscReal      bound;
  const auto     start = [&](Vec w) { set_values(da, w, [](const PetscInt p[3]) { return p[0] % 7 ? 0.5 : 1; }); };
  start(u);
  OK(TSBurgersGetTimeStepBound(ts, u, &bound));
  CHECK(std::fabs(bound * N - 1) < 1e-12);
  OK(two_steps(ts, u, bound));
  OK(DMDASetUniformCoordinates(da, 0, 10, 0, 0, 0, 0));
  for (Vec w : {(Vec)u, (Vec)v}) { // as one that is new
    start(w);
    Stepper fresh = stepper_on(da);
    OK(two_steps(w == u ? ts : fresh, w, 10 * bound));
  }
  CHECK(difference(u, v) == 0);
  start(u);
  OK(DMDASetUniformCoordinates(da, 0, 20, 0, 0, 0, 0));
  OK(TSBurgersGetTimeStepBound(ts, u, &bound));
  CHECK(std::fabs(bound * N - 20) < 1e-10);
  OK(TSComputeRHSFunction(ts, 0, u, v));
  Vector half = make_vector(da);
  OK(DMDASetUniformCoordinates(da, 0, 40, 0, 0, 0, 0));
  OK(TSComputeRHSFunction(ts, 0, u, half));
  OK(VecScale(half, 2));
  CHECK(difference(half, v) <= 10 * exact);
  // one rank alone has touched them
  PetscMPIInt  rank;
  Vec          coordinates;
  PetscScalar *array;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  OK(DMGetCoordinates(da, &coordinates));
  if (rank == 0) {
    OK(VecGetArray(coordinates, &array));
    OK(VecRestoreArray(coordinates, &array));
  }
  OK(TSBurgersGetTimeStepBound(ts, u, &bound));
  CHECK(std::fabs(bound * N - 40) < 1e-10);
}

TEST_CASE("another DM is for TSSetBurgers()", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  Grid           da = stretched_ring(N, 1), other = stretched_ring(N, 10), larger = stretched_ring(2 * N, 10);
  Stepper        ts = stepper_on(da);
  Vector         u = make_vector(other), w = make_vector(larger);
  PetscReal      bound;
  OK(VecSet(u, 1));
  OK(TSSetDM(ts, other));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"another DM", "TSSetBurgers() again"}),
               [&] { return TSBurgersGetTimeStepBound(ts, u, &bound); });
  Vector locked = make_vector(other); // PETSc does not unlock the solution after an error
  OK(VecSet(locked, 1));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"another DM", "TSSetBurgers() again"}),
               [&] { return two_steps(ts, locked, 1e-3); });
  OK(TSBurgersSetViscosity(ts, 0)); // is no remedy
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"another DM"}), [&] { return TSBurgersGetTimeStepBound(ts, u, &bound); });
  OK(TSSetBurgers(ts));
  OK(TSBurgersGetTimeStepBound(ts, u, &bound));
  CHECK(std::fabs(bound * N - 10) < 1e-10);
  OK(two_steps(ts, u, bound));
  OK(TSReset(ts));
  OK(TSSetDM(ts, larger)); // has a Jacobian of its own
  OK(TSSetBurgers(ts));
  OK(TSSetType(ts, TSBEULER));
  OK(VecSet(w, 1));
  OK(two_steps(ts, w, 1e-3));
  OK(TSSetDM(ts, other));
  OK(TSSetBurgers(ts));
  Mat      J;
  PetscInt rows;
  OK(TSGetRHSJacobian(ts, &J, NULL, NULL, NULL));
  OK(MatGetSize(J, &rows, NULL));
  CHECK(rows == N);
}

#endif
