// Burgers' equation: what is checked in each step, and the errors of steps.

#include "burgers/options.hpp"
#include "burgers_support.hpp"

using namespace tests;

#if !defined(PETSC_USE_COMPLEX)

TEST_CASE("a time step beyond the bound is named", "[burgers]") {
  const PetscInt N = 50 * rank_count();
  for (const char *type :
       {"euler", "ssp -ts_ssp_type rks2 -ts_ssp_nstages 5", "rk -ts_adapt_type none", "burgersfused"}) {
    const PetscReal bounds = strstr(type, "rks2") ? 4 : 1; // stages less one
    Run             run(PETSC_COMM_WORLD, N, true, std::string("-ts_type ") + type);
    run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
    Vector    before = copy_of(run.u);
    PetscReal bound;
    OK(TSBurgersGetTimeStepBound(run.ts, run.u, &bound));
    INFO(type);
    // also of a type that takes several steps of forward Euler in one: the step as it is, not a part of it
    char given[32], most[32];
    std::snprintf(given, sizeof(given), "time step %g", (double)(1.1 * bound * bounds));
    std::snprintf(most, sizeof(most), BURGERS_TIME_STEP " %g", (double)(bound * bounds));
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"step 0", "bound", given, most, "-ts_adapt_type cfl"}),
                 [&] { return solve(run, 10, 1.1 * bound * bounds); });
    CHECK(difference(run.u, before) == 0);
    if (!strncmp(type, "burgers", 7) || !strncmp(type, "euler", 5)) { // all is well afterwards
      Run again(PETSC_COMM_WORLD, N, true, std::string("-ts_type ") + type);
      OK(VecCopy(before, again.u));
      OK(solve(again, 10, bound));
    }
  }
}

TEST_CASE("a state that is not finite is named, and the last good one is kept", "[burgers]") {
  const PetscInt N = 50 * rank_count(), bad = N - 7;
  for (const char *type : {"euler", "ssp", "rk -ts_adapt_type none", "burgersfused"}) {
    Run run(PETSC_COMM_WORLD, N, true, std::string("-ts_type ") + type);
    run.start([&](PetscInt i) { return i == bad ? NAN : 0.5; });
    INFO(type);
    EXPECT_ERROR(PETSC_ERR_FP, ({"state is not finite", "step 0", "cell " + std::to_string(bad)}),
                 [&] { return solve(run, 10, 0.1 * 2 * pi / N); });
  }
  for (const char *type : {"beuler", "bdf", "arkimex", "rosw"}) {
    Run run(PETSC_COMM_WORLD, N, true, std::string("-ts_type ") + type);
    run.start([&](PetscInt i) { return i == bad ? NAN : 0.5; });
    INFO(type);
    EXPECT_ERROR(PETSC_ERR_FP, ({"state is not finite", "step 0", "cell " + std::to_string(bad)}),
                 [&] { return solve(run, 10, 0.1 * 2 * pi / N); });
  }
}

TEST_CASE("a last state that is not finite is named, though no step starts from it", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  for (const char *type : {"euler", "burgersfused -burgers_fused_steps 3", "beuler", "arkimex"})
    for (bool checks : {true, false}) { // one run each: after an error, PETSc's vectors may stay locked
      Run run(PETSC_COMM_WORLD, N, true, std::string("-ts_adapt_type none -ts_type ") + type);
      run.start([&](PetscInt) { return 0.5; });
      OK(TSSetPostStep(run.ts, [](TS ts) -> PetscErrorCode {
        Vec      u;
        PetscInt step;
        PetscFunctionBeginUser;
        PetscCall(TSGetSolution(ts, &u));
        PetscCall(TSGetStepNumber(ts, &step));
        if (step == 3) PetscCall(VecSet(u, NAN));
        PetscFunctionReturn((PetscErrorCode)0);
      }));
      INFO(type);
      if (checks) {
        EXPECT_ERROR(PETSC_ERR_FP, ({"state is not finite", "step 3", "cell 0", "ended"}),
                     [&] { return solve(run, 3, 0.1 * 2 * pi / N); });
      } else {
        OK(TSBurgersSetCheckInterval(run.ts, 0));
        OK(solve(run, 3, 0.1 * 2 * pi / N));
      }
    }
}

// Central differences make the state grow; the bound holds at first.
TEST_CASE("a block ends where its time step passes the bound, as one step after the other does", "[burgers]") {
  const PetscInt N = 50 * rank_count();
  PetscInt       count[2];
  Values         state[2];
  for (int fused = 0; fused < 2; fused++) {
    Run             run(PETSC_COMM_WORLD, N, true,
                        std::string("-burgers_flux central -ts_type ") +
                            (fused ? "burgersfused -burgers_fused_steps 100000" : "euler"));
    const PetscReal h = 2 * pi / N;
    run.start([&](PetscInt i) { return i == N / 2 ? 1e-3 : 0; });
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"step", "bound", BURGERS_TIME_STEP}),
                 [&] { return solve(run, 100000, 100 * h); });
    OK(TSGetStepNumber(run.ts, &count[fused]));
    state[fused] = run.all();
    // |u| has just passed h/dt, by less than twice
    PetscReal largest = 0;
    for (PetscReal value : state[fused]) largest = std::max(largest, std::fabs(value));
    CHECK(largest > 1. / 100);
    CHECK(largest < 2. / 100);
    PetscReal time;
    OK(TSGetTime(run.ts, &time));
    CHECK(std::fabs(time - count[fused] * 100 * h) <= 1e-9 * time);
  }
  Run probe(PETSC_COMM_WORLD, N, true, "");
  if (!makes_cuda_vectors(probe.da)) {
    CHECK(count[0] == count[1]);
    CHECK(largest_difference(state[0], state[1]) == 0);
  }
}

TEST_CASE("the first step of a block that is not finite is named, and the state before it is kept", "[burgers]") {
  const PetscInt N = 50 * rank_count();
  // without the check of Δt: it is left out between the multiples of the interval, and by the adapter
  Run run(PETSC_COMM_WORLD, N, true,
          "-burgers_flux central -ts_type burgersfused -burgers_fused_steps 100000 -burgers_check_interval 0 "
          "-ts_adapt_type cfl");
  run.start([&](PetscInt i) { return i == N / 2 ? 1e-3 : 0; });
  EXPECT_ERROR(PETSC_ERR_FP, ({"not finite", "step", "cell"}), [&] { return solve(run, 100000, 100 * 2 * pi / N); });
  PetscInt count;
  OK(TSGetStepNumber(run.ts, &count));
  CHECK(count > 10);
  CHECK(count < 99999);
  CHECK(std::isfinite(total(run.all())));
}

TEST_CASE("a state that is distributed in another way is an error on all ranks", "[burgers]") {
  const int ranks = rank_count();
  if (ranks == 1) return;
  int       rank;
  Vector    u;
  PetscReal bound;
  Run       run(PETSC_COMM_WORLD, 8 * ranks, true, "");
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  OK(VecCreateMPI(PETSC_COMM_WORLD, 8 + (rank == 0) - (rank == ranks - 1), PETSC_DETERMINE, &u));
  OK(VecSet(u, 1));
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"DMCreateGlobalVector()"}),
               [&] { return TSBurgersGetTimeStepBound(run.ts, u, &bound); });
}

TEST_CASE("the interval of the checks", "[burgers]") {
  const PetscInt  N = 30 * rank_count();
  const PetscReal h = 2 * pi / N;
  const auto      sine = [&](PetscInt i) { return std::sin(2 * pi * i / N); };
  const auto      on = [](Run &run, PetscInt from, PetscInt to, PetscReal dt) -> PetscErrorCode {
    PetscFunctionBeginUser;
    PetscCall(TSSetStepNumber(run.ts, from));
    PetscCall(TSSetMaxSteps(run.ts, to));
    PetscCall(TSSetMaxTime(run.ts, 1e30));
    PetscCall(TSSetTimeStep(run.ts, dt));
    PetscCall(TSSolve(run.ts, run.u));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (const char *type : {"euler", "burgersfused -burgers_fused_steps 4"}) {
    INFO(type);
    Run run(PETSC_COMM_WORLD, N, true, std::string("-burgers_check_interval 7 -ts_type ") + type);
    run.start(sine);
    OK(on(run, 1, 7, 1.5 * h)); // steps 1 to 6: none is a multiple
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"bound"}), [&] { return on(run, 5, 9, 1.5 * h); });
    // the adapter has its bound, checks or none: 1/Σ(|u|/h), and TSAdapt's factor 0.9
    Run cfl(PETSC_COMM_WORLD, N, true, std::string("-burgers_check_interval 0 -ts_adapt_type cfl -ts_type ") + type);
    cfl.start(sine);
    OK(on(cfl, 0, 13, 0.01 * h));
    PetscReal dt, largest = 0;
    for (PetscReal value : cfl.all()) largest = std::max(largest, std::fabs(value));
    OK(TSGetTimeStep(cfl.ts, &dt));
    CHECK(dt * largest / h <= 0.9 * (1 + 1e-12));
    CHECK(dt * largest / h > 0.8);
  }
}

TEST_CASE("the speed of the Lax-Friedrichs flux is that of each solve's first state, or given", "[burgers]") {
  const PetscInt  N = 40 * rank_count();
  const PetscReal h = 2 * pi / N;
  for (const char *type : {"euler", "burgersfused -burgers_fused_steps 6", "beuler"}) {
    INFO(type);
    const std::string text = std::string("-burgers_flux lax_friedrichs -ts_type ") + type;
    for (PetscReal factor : {0.25, 4.}) { // slower, and faster than before
      const auto later = [&](PetscInt i) { return factor * wavy(i, N); };
      Run        reused(PETSC_COMM_WORLD, N, true, text), fresh(PETSC_COMM_WORLD, N, true, text);
      reused.start([&](PetscInt i) { return wavy(i, N); });
      reused.step(10, 0.1 * h);
      for (Run *run : {&reused, &fresh}) {
        run->start(later);
        run->step(10, 0.1 * h / factor);
      }
      CHECK(largest_difference(reused.all(), fresh.all()) == 0);
    }
    Run slow(PETSC_COMM_WORLD, N, true, text + " -burgers_speed 0.5");
    slow.start([&](PetscInt i) { return wavy(i, N); });
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"step 0", "speed", "0.5", "-burgers_speed", "rusanov"}),
                 [&] { return solve(slow, 10, 0.1 * h); });
  }
  // du/dt at the state u = c is linear; with the speed |c| the flux is upwind
  Run    run(PETSC_COMM_WORLD, N, true, "-burgers_flux lax_friedrichs");
  Mat    J;
  Vector v = make_vector(run.da), y = make_vector(run.da);
  run.start([](PetscInt) { return 0.5; });
  set_values(run.da, v, [](const PetscInt p[3]) { return random_value(p[0], 3); });
  OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
  OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J)); // before any du/dt
  OK(MatMult(J, v, y));
  const Values in = run.all_of(v), out = run.all_of(y);
  PetscReal    worst = 0;
  for (PetscInt i = 0; i < N; i++) worst = std::max(worst, std::fabs(out[i] + 0.5 / h * (in[i] - in[(i + N - 1) % N])));
  CHECK(worst <= 1e-12 / h);
}

TEST_CASE("error control works after the adapter cfl", "[burgers]") {
  const PetscInt N = 40 * rank_count();
  PetscInt       rejected[2];
  for (int after = 0; after < 2; after++) {
    Run run(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.05 -ts_type euler -ts_adapt_type cfl");
    run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
    if (after) run.step(3, 1e-3);
    TSAdapt adapt;
    OK(TSSetType(run.ts, TSRK));
    OK(TSGetAdapt(run.ts, &adapt));
    OK(TSAdaptSetType(adapt, TSADAPTBASIC));
    OK(TSSetTolerances(run.ts, 1e-9, NULL, 1e-9, NULL));
    run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
    run.step(5, 0.05);
    OK(TSGetStepRejections(run.ts, &rejected[after]));
  }
  CHECK(rejected[0] > 0);
  CHECK(rejected[1] == rejected[0]);
}

TEST_CASE("an adapter that accepted every step does so after the adapter cfl", "[burgers]") {
  for (PetscBool every : {PETSC_FALSE, PETSC_TRUE}) {
    Run run(PETSC_COMM_WORLD, 200, true, "-ts_type ssp -ts_ssp_type rks2");
    run.start([](PetscInt i) { return std::sin(2 * pi * (i + 0.5) / 200); });
    TSAdapt adapt;
    OK(TSGetAdapt(run.ts, &adapt));
    OK(TSAdaptSetAlwaysAccept(adapt, every));
    OK(TSAdaptSetType(adapt, TSADAPTCFL));
    run.step(2, 1e-3);
    OK(TSAdaptSetType(adapt, TSADAPTBASIC));
    OK(TSSetType(run.ts, TSRK));
    run.step(2, 1e-4);
    const std::string text = printed([&] { OK(TSAdaptView(adapt, PETSC_VIEWER_STDOUT_WORLD)); });
    CHECK((text.find("always accepting") != std::string::npos) == (every == PETSC_TRUE));
  }
}

TEST_CASE("steps that the methods cannot take are refused", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  const auto     sine = [&](PetscInt i) { return std::sin(2 * pi * i / N); };
  for (const char *type : {"rk", "burgersfused", "beuler"}) {
    Run    run(PETSC_COMM_WORLD, N, true, std::string("-ts_adapt_type none -ts_type ") + type);
    Vector larger;
    INFO(type);
    OK(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, N + 1, &larger));
    OK(VecSet(larger, 0));
    OK(TSSetTimeStep(run.ts, 1e-3));
    OK(TSSetMaxSteps(run.ts, 2));
    EXPECT_ERROR((PetscErrorCode)0, ({"values", "DMCreateGlobalVector"}), [&] { return TSSolve(run.ts, larger); });
  }
  Run cfl(PETSC_COMM_WORLD, N, true, "-ts_type rk -ts_adapt_type cfl");
  cfl.start(sine);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"cfl", "rk", "ssp"}), [&] { return solve(cfl, 10, 1e-3); });
  const std::pair<const char *, bool> types[] = {
      {"beuler", false}, {"bdf", false}, {"euler", true}, {"burgersfused", true}};
  for (const auto &[type, is_explicit] : types) { // which solves no system
    Run linear(PETSC_COMM_WORLD, N, true, std::string("-ts_type ") + type);
    INFO(type);
    linear.start(sine);
    OK(TSSetProblemType(linear.ts, TS_LINEAR));
    if (is_explicit)
      OK(solve(linear, 3, 1e-4));
    else
      EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"not linear", "TS_NONLINEAR"}), [&] { return solve(linear, 3, 1e-4); });
  }
  Run between(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused");
  between.start(sine);
  OK(TSSetExactFinalTime(between.ts, TS_EXACTFINALTIME_INTERPOLATE));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"interpolate", "matchstep"}), [&] {
    PetscFunctionBeginUser;
    PetscCall(TSSetTimeStep(between.ts, 1e-3));
    PetscCall(TSSetMaxSteps(between.ts, 10));
    PetscCall(TSSolve(between.ts, between.u));
    PetscFunctionReturn((PetscErrorCode)0);
  });
}

#endif
