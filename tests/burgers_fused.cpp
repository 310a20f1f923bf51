// Burgers' equation: fused steps against steps one by one, and one rank's; events, time spans, changes of Δt.

#include "burgers/options.hpp"
#include "burgers_support.hpp"

using namespace tests;

#if !defined(PETSC_USE_COMPLEX)

TEST_CASE("fused steps are the steps one by one, and one rank's, bit for bit", "[burgers]") {
  const char *schemes[] = {"euler", "ssprk2", "ssprk3"};
  int         turn = 0;
  for (PetscInt N : {1, 2, 3, 5, 7, 13, 64, 509, 2053, 20011})
    for (const char *flux : {"lax_friedrichs", "rusanov", "godunov", "engquist_osher"})
      for (int r = 0; r < 4; r++)
        for (const char *boundary : boundaries) {
          turn++;
          if (!fits(N, radii[r]) || is_left_out(turn) || (N > 2000 && turn % 3) || (N > 5000 && turn % 4)) continue;
          const char       *scheme = schemes[turn % 3];
          const bool        periodic = !strcmp(boundary, "periodic");
          const PetscInt    steps = 37;
          const PetscReal   h = 2 * pi / N, dt = 0.2 * h / 1.9;
          const auto        initial = [&](PetscInt i) { return wavy(i, N); };
          const std::string equation = options_of(flux, reconstructions[r], boundary) +
                                       (turn % 5 == 0 ? "-burgers_viscosity " + std::to_string(0.3 * h) : "");
          const std::string text = equation + " -ts_type burgersfused -burgers_fused_scheme " + scheme;
          INFO(text << ", " << N << " cells");
          Run single(PETSC_COMM_SELF, N, periodic, text + " -burgers_fused_steps 1");
          single.start(initial);
          single.step(steps, dt);
          const Values expected = single.all();
          for (const char *block : {"1", "7", "64"}) {
            Run run(PETSC_COMM_WORLD, N, periodic, text + " -burgers_fused_steps " + block);
            run.start(initial);
            run.step(steps, dt);
            INFO("blocks of " << block);
            CHECK(everywhere(largest_difference(run.all(), expected) == 0));
            PetscInt  count;
            PetscReal time;
            OK(TSGetStepNumber(run.ts, &count));
            OK(TSGetTime(run.ts, &time));
            CHECK(count == steps);
            CHECK(std::fabs(time - steps * dt) <= 1e-12 * time);
          }
          if (!strcmp(scheme, "euler")) {
            Run run(PETSC_COMM_WORLD, N, periodic, equation + " -ts_type euler");
            run.start(initial);
            run.step(steps, dt);
            CHECK(everywhere(largest_difference(run.all(), expected) <= (makes_cuda_vectors(run.da) ? 1e-13 : 0)));
          }
        }
}

TEST_CASE("many fused steps of a long row are the steps one by one", "[burgers]") {
  const PetscInt  N = 9001; // several tiles in the middle
  const PetscReal h = 2 * pi / N;
  for (const char *flux : fluxes)
    for (const char *scheme : {"euler", "ssprk2", "ssprk3"})
      for (PetscReal nu : {0., 0.2 * h}) {
        if (nu > 0 && !strcmp(scheme, "ssprk2")) continue;
        Values state[2];
        for (int fused = 0; fused < 2; fused++) {
          Run run(PETSC_COMM_WORLD, N, true,
                  std::string("-burgers_flux ") + flux + " -burgers_viscosity " + std::to_string(nu) +
                      " -ts_type burgersfused -burgers_fused_scheme " + scheme + " -burgers_fused_steps " +
                      (fused ? "30" : "1"));
          run.start([&](PetscInt i) { return wavy(i, N); });
          run.step(23, 0.2 * h);
          state[fused] = run.all();
        }
        INFO(flux << ' ' << scheme << ", viscosity " << nu);
        CHECK(largest_difference(state[0], state[1]) == 0);
      }
}

TEST_CASE("in 2-D, fused steps are those of the Runge-Kutta methods", "[burgers]") {
  const PetscInt  N[2] = {61, 37};
  const PetscReal h[2] = {2 * pi / N[0], 2 * pi / N[1]}, dt = 0.02;
  // u of a stage: a times the step's first one, and b times (u + dt du/dt); C.-W. Shu and S. Osher, 1988
  const struct {
    const char                                  *name, *reconstruction;
    std::vector<std::pair<PetscReal, PetscReal>> stages;
  } schemes[] = {{"euler", "constant", {{0, 1}}},
                 {"ssprk2", "minmod", {{0, 1}, {0.5, 0.5}}},
                 {"ssprk3", "weno5", {{0, 1}, {0.75, 0.25}, {1. / 3, 2. / 3}}}};
  for (const auto &scheme : schemes)
    for (const char *boundary : boundaries) {
      const std::string inflow = strcmp(boundary, "inflow") ? "" : " -burgers_inflow 0.3,-0.4,0.2,0.1";
      Run               run(PETSC_COMM_WORLD, N[0], !strcmp(boundary, "periodic"),
                            std::string("-burgers_flux godunov -ts_type burgersfused -burgers_fused_steps 4 -burgers_bc ") +
                                boundary + inflow + " -burgers_reconstruct " + scheme.reconstruction +
                                " -burgers_fused_scheme " + scheme.name,
                            N[1]);
      OK(VecDestroy(&run.u));
      run.u = random_vector(run.da, 3);
      Values expected = run.all();
      for (int step = 0; step < 6; step++) {
        const Values before = expected;
        for (const auto &[a, b] : scheme.stages) {
          const Values rate =
              textbook::rate_2d(expected, (int)N[0], (int)N[1], h, "godunov", scheme.reconstruction, boundary, 0);
          for (size_t i = 0; i < expected.size(); i++) expected[i] = a * before[i] + b * (expected[i] + dt * rate[i]);
        }
      }
      run.step(6, dt);
      INFO(scheme.name << ' ' << boundary);
      CHECK(largest_difference(run.all(), expected) <= 1e-11);
    }
}

TEST_CASE("on the host and on a GPU, the same", "[burgers]") {
  Run probe(PETSC_COMM_WORLD, 16, true, "");
  if (!makes_cuda_vectors(probe.da)) return;
  for (const char *flux : fluxes)
    for (int r = 0; r < 4; r++)
      for (const char *type : {"burgersfused", "rk -ts_adapt_type none"}) {
        const std::string text = options_of(flux, reconstructions[r], "outflow") + "-ts_type " + type;
        Run host(PETSC_COMM_WORLD, 3001, false, text, 0, VECSTANDARD), device(PETSC_COMM_WORLD, 3001, false, text);
        for (Run *run : {&host, &device}) {
          run->start([](PetscInt i) { return wavy(i, 3001); });
          run->step(50, 0.2 * 2 * pi / 3001 / 1.9);
        }
        INFO(text);
        // central differences make small differences grow
        CHECK(largest_difference(host.all(), device.all()) <= (strcmp(flux, "central") ? 1e-12 : 1e-9));
      }
}

TEST_CASE("fused steps honour the final time, the last step, a time span and monitors", "[burgers]") {
  struct Log {
    std::vector<PetscInt> steps;
    Values                times;
  };
  const PetscInt  N = 64 * rank_count();
  const auto      initial = [&](PetscInt i) { return wavy(i, N); };
  const PetscReal dt = 0.3 * 2 * pi / N / 1.9, end = 50.37 * dt;
  const auto      monitor = [](TS, PetscInt step, PetscReal time, Vec, void *context) -> PetscErrorCode {
    ((Log *)context)->steps.push_back(step);
    ((Log *)context)->times.push_back(time);
    return PETSC_SUCCESS;
  };
  Log plain_log, fused_log, span_log;
  Run plain(PETSC_COMM_WORLD, N, true, "-ts_type euler"),
      fused(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 20");
  OK(TSMonitorSet(plain.ts, monitor, &plain_log, NULL));
  OK(TSMonitorSet(fused.ts, monitor, &fused_log, NULL));
  for (Run *run : {&plain, &fused}) {
    run->start(initial);
    run->until(end, dt);
  }
  CHECK(largest_difference(plain.all(), fused.all()) <= (makes_cuda_vectors(plain.da) ? 1e-13 : 0));
  CHECK(plain_log.steps.back() == fused_log.steps.back());
  CHECK(plain_log.times.back() == fused_log.times.back());
  CHECK(fused_log.times.back() == end);
  CHECK(fused_log.steps.size() < 12);
  CHECK(fused_log.steps[1] == 20);

  Run       span(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 20");
  PetscReal times[3] = {0, 11.5 * dt, 30.2 * dt};
  OK(TSSetTimeSpan(span.ts, 3, times));
  OK(TSMonitorSet(span.ts, monitor, &span_log, NULL));
  span.start(initial);
  span.until(times[2], dt);
  CHECK(std::count_if(span_log.times.begin(), span_log.times.end(),
                      [&](PetscReal t) { return std::fabs(t - times[1]) <= 1e-12; }) == 1);
  CHECK(std::fabs(span_log.times.back() - times[2]) <= 1e-12);
}

TEST_CASE("fused steps go on with any time step that is set anew", "[burgers]") {
  const PetscInt  N = 40 * rank_count();
  const PetscReal dt = 0.1 * 2 * pi / N / 1.9;
  Values          state[2];
  for (int fused = 0; fused < 2; fused++) {
    Run run(PETSC_COMM_WORLD, N, true, fused ? "-ts_type burgersfused -burgers_fused_steps 8" : "-ts_type euler");
    run.start([&](PetscInt i) { return wavy(i, N); });
    PetscReal time = 0;
    PetscInt  number = 0;
    // larger, smaller, a new start with a larger one at the same number, one step, and larger again
    const struct {
      PetscReal factor;
      PetscInt  steps;
      bool      anew;
    } parts[] = {{1, 11, true}, {3, 10, false}, {0.5, 9, false}, {2, 1, true}, {4, 1, true}, {5, 10, false}};
    for (const auto &part : parts) {
      if (part.anew) {
        time = 0, number = 0;
        OK(TSSetTime(run.ts, 0));
        OK(TSSetStepNumber(run.ts, 0));
      }
      OK(TSSetTimeStep(run.ts, part.factor * dt));
      OK(TSSetMaxTime(run.ts, 1e30));
      OK(TSSetMaxSteps(run.ts, number + part.steps));
      OK(TSSolve(run.ts, run.u));
      time += part.steps * part.factor * dt;
      number += part.steps;
      PetscReal at;
      PetscInt  count;
      OK(TSGetTime(run.ts, &at));
      OK(TSGetStepNumber(run.ts, &count));
      INFO((fused ? "fused, " : "one by one, ") << part.steps << " steps of " << part.factor << " dt");
      CHECK(std::fabs(at - time) <= 1e-12 * time);
      CHECK(count == number);
    }
    state[fused] = run.all();
  }
  Run probe(PETSC_COMM_WORLD, N, true, "");
  CHECK(largest_difference(state[0], state[1]) <= (makes_cuda_vectors(probe.da) ? 1e-13 : 0));
}

#if PETSC_VERSION_GE(3, 26, 0)
TEST_CASE("fused steps end with those of one solve", "[burgers]") {
  const PetscInt  N = 40 * rank_count();
  const PetscReal dt = 0.1 * 2 * pi / N;
  Run             run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 8");
  run.start([&](PetscInt i) { return wavy(i, N); });
  OK(TSSetTimeStep(run.ts, dt));
  OK(TSSetRunSteps(run.ts, 13));
  for (PetscInt solve = 1; solve <= 2; solve++) {
    PetscInt count;
    OK(TSSolve(run.ts, run.u));
    OK(TSGetStepNumber(run.ts, &count));
    CHECK(count == 13 * solve);
  }
}
#endif

#if PETSC_VERSION_GE(3, 22, 0)
TEST_CASE("fused steps go on from an event, and with another time step after it", "[burgers]") {
  const PetscInt  N = 64 * rank_count();
  const PetscReal dt = 0.1 * 2 * pi / N;
  for (PetscBool terminate : {PETSC_FALSE, PETSC_TRUE}) {
    Run              run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 50");
    PetscInt         direction = 0, count;
    static PetscReal target;
    PetscReal        time;
    target = 31.4 * dt;
    OK(TSSetEventHandler(
        run.ts, 1, &direction, &terminate,
        [](TS, PetscReal t, Vec, PetscReal values[], void *) -> PetscErrorCode {
          values[0] = t - target;
          return PETSC_SUCCESS;
        },
        NULL, NULL));
    run.start([&](PetscInt i) { return std::sin(2 * pi * (i + 0.5) / N); });
    run.step(100, dt);
    OK(TSGetTime(run.ts, &time));
    OK(TSGetStepNumber(run.ts, &count));
    INFO("terminates: " << terminate << ", time " << time / dt << " dt, " << count << " steps");
    if (terminate) {
      CHECK(std::fabs(time - target) <= 1e-4);
      // on with three times the time step: 20 steps of that
      OK(TSSetTimeStep(run.ts, 3 * dt));
      OK(TSSetMaxSteps(run.ts, count + 20));
      OK(TSSolve(run.ts, run.u));
      PetscReal end;
      OK(TSGetTime(run.ts, &end));
      CHECK(std::fabs(end - (time + 60 * dt)) <= 1e-10);
    } else {
      // the block of 50 up to the event and on from it in parts, of which a few are short, then steps of dt
      CHECK(count == 100);
      CHECK(time > 90 * dt);
      CHECK(time <= 100.001 * dt);
      // first order in time, whatever the parts: near the exact solution before the shock
      const Values expected = averages(N, 2 * pi, [&](PetscReal x) { return sine_at(x, time); });
      CHECK(mean_difference(run.all(), expected) < 0.15 / rank_count());
    }
  }
}
#endif

#if PETSC_VERSION_GE(3, 22, 0)
TEST_CASE("fused steps locate an event", "[burgers]") {
  const PetscInt N = 64 * rank_count();
  Run       run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 50 -burgers_check_interval 1");
  PetscInt  direction = 0;
  PetscBool terminate = PETSC_TRUE;
  const PetscReal  dt = 0.3 * 2 * pi / N;
  static PetscReal target;
  target = 31.4 * dt;
  OK(TSSetEventHandler(
      run.ts, 1, &direction, &terminate,
      [](TS, PetscReal time, Vec, PetscReal values[], void *) -> PetscErrorCode {
        values[0] = time - target;
        return PETSC_SUCCESS;
      },
      NULL, NULL));
  run.start([&](PetscInt i) { return std::sin(2 * pi * (i + 0.5) / N); });
  run.step(200, dt);
  PetscReal time;
  OK(TSGetTime(run.ts, &time));
  CHECK(std::fabs(time - target) <= 1e-4);
}
#endif

TEST_CASE("fused steps refuse error control, and other equations", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -ts_adapt_type basic");
  run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
  EXPECT_ERROR(PETSC_ERR_SUP, ({"burgersfused", "basic", "cfl"}), [&] { return solve(run, 10, 1e-3); });
}

TEST_CASE("fused steps go forward in time: another time step is refused, and nothing is changed", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  for (PetscReal dt : {-1e-3, 0.}) {
    Run run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 8");
    run.start([&](PetscInt i) { return wavy(i, N); });
    Vector before = copy_of(run.u);
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"burgersfused", "forward", BURGERS_TIME_STEP}),
                 [&] { return solve(run, 20, dt); });
    PetscReal time;
    PetscInt  step;
    OK(TSGetTime(run.ts, &time));
    OK(TSGetStepNumber(run.ts, &step));
    CHECK(time == 0);
    CHECK(step == 0);
    CHECK(difference(run.u, before) == 0);
    run.u = copy_of(before); // PETSc leaves the state of a solve that has ended with an error locked
    OK(solve(run, 20, 1e-3));
  }
}

TEST_CASE("the type burgersfused without Burgers' equation names TSSetBurgers()", "[burgers]") {
  Run     grid(PETSC_COMM_WORLD, 16 * rank_count(), true, "");
  Stepper ts;
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetType(ts, TSBURGERSFUSED));
  OK(VecSet(grid.u, 1));
  OK(TSSetTimeStep(ts, 1e-3));
  OK(TSSetMaxSteps(ts, 2));
  OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"burgersfused", "TSSetBurgers()"}), [&] { return TSSolve(ts, grid.u); });
}

#endif
