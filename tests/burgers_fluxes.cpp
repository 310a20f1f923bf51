// Burgers' equation: du/dt against textbook formulas; conservation, variation, Riemann problems.

#include "burgers_support.hpp"

using namespace tests;

#if !defined(PETSC_USE_COMPLEX)

TEST_CASE("in 2-D, du/dt is that of the textbooks' formulas", "[burgers]") {
  int turn = 0;
  for (const auto &size :
       {std::array<PetscInt, 2>{14, 13}, std::array<PetscInt, 2>{2101, 12}, std::array<PetscInt, 2>{4, 300}})
    for (const char *flux : fluxes)
      for (int r = 0; r < 4; r++)
        for (const char *boundary : boundaries) {
          turn++;
          if (size[0] > 14 && turn % 3) continue;
          const bool large = size[0] >= 3 * 4 && size[1] >= 3 * 4; // each rank has a reach of cells
          if (rank_count() > 1 && !large) continue;
          if (is_left_out(turn)) continue;
          const PetscReal nu = turn % 2 ? 0 : 0.05, h[2] = {2 * pi / size[0], 2 * pi / size[1]};
          Run             run(PETSC_COMM_WORLD, size[0], !strcmp(boundary, "periodic"),
                              std::string("-burgers_flux ") + flux + " -burgers_reconstruct " + reconstructions[r] +
                                  " -burgers_bc " + boundary +
                                  (strcmp(boundary, "inflow") ? "" : " -burgers_inflow 0.3,-0.4,0.2,0.1") +
                                  (nu > 0 ? " -burgers_viscosity 0.05" : "") + " -burgers_check_interval " +
                                  (turn % 3 ? "0" : "1"),
                              size[1]);
          OK(VecDestroy(&run.u));
          run.u = random_vector(run.da, 5);
          OK(TSSetTimeStep(run.ts, 1e-6));
          const Values expected =
              textbook::rate_2d(run.all(), (int)size[0], (int)size[1], h, flux, reconstructions[r], boundary, nu);
          PetscReal most = 0;
          for (PetscReal value : expected) most = std::max(most, std::fabs(value));
          INFO(flux << ' ' << reconstructions[r] << ' ' << boundary << ", " << size[0] << " x " << size[1]);
          CHECK(largest_difference(run.rate(), expected) <= 1e-12 * (1 + most));
        }
}

TEST_CASE("du/dt is that of the textbooks' formulas", "[burgers]") {
  int turn = 0;
  for (PetscInt N : {5, 7, 16, 61, 1103, 2500})
    for (const char *flux : fluxes)
      for (int r = 0; r < 4; r++)
        for (const char *boundary : boundaries) {
          if (!fits(N, radii[r]) || is_left_out(turn++)) continue;
          const PetscReal nu = N % 2 ? 0 : 0.05;
          Run             run(PETSC_COMM_WORLD, N, !strcmp(boundary, "periodic"),
                              options_of(flux, reconstructions[r], boundary) + (nu > 0 ? "-burgers_viscosity 0.05" : "") +
                                  " -burgers_check_interval 0");
          run.start([&](PetscInt i) { return wavy(i, N); });
          const Values expected = textbook::rate(run.all(), 2 * pi / N, flux, reconstructions[r], boundary, nu);
          PetscReal    size = 0;
          for (PetscReal value : expected) size = std::max(size, std::fabs(value));
          INFO(flux << ' ' << reconstructions[r] << ' ' << boundary << ", " << N << " cells");
          CHECK(largest_difference(run.rate(), expected) <= 1e-12 * (1 + size));
        }
}

static Values doubled_by_a_loop(int steps) {
  const int       n = 2048;
  const PetscReal h = 2 * pi / n, dt = 0.1 * h;
  Values          u(n), f(n), out(n);
  for (int i = 0; i < n; i++) u[i] = std::sin(i * h);
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < n; i++) f[i] = u[i] * u[i] / 2;
    for (int i = 1; i < n - 1; i++) out[i] = -(f[i + 1] - f[i - 1]) / h;
    out[0] = out[n - 1] = 0;
    for (int i = 0; i < n; i++) {
      const volatile PetscReal product = dt * out[i]; // rounded
      u[i] = u[i] + product;
    }
  }
  return u;
}

TEST_CASE("the doubled central difference with frozen ends is its loop, to the last bit", "[burgers]") {
  const PetscReal   h = 2 * pi / 2048;
  const Values      expected = doubled_by_a_loop(1400);
  const std::string text = "-burgers_flux central_doubled -burgers_bc frozen -burgers_check_interval 0 ";
  for (const char *type : {"-ts_type euler", "-ts_type burgersfused", "-ts_type burgersfused -burgers_fused_steps 300",
                           "-ts_type burgersfused -burgers_fused_steps 1"}) {
    Run run(PETSC_COMM_WORLD, 2048, false, text + type);
    run.start([&](PetscInt i) { return std::sin(i * h); });
    run.step(1400, 0.1 * h);
    INFO(type);
    // a device's VecAYPX() may round otherwise, and these differences grow
    if (makes_cuda_vectors(run.da) && !strcmp(type, "-ts_type euler")) continue;
    CHECK(largest_difference(run.all(), expected) == 0);
  }
  CHECK(std::isfinite(total(expected)));
}

TEST_CASE("the former names of the doubled central difference and of frozen ends still work, with a warning",
          "[burgers]") {
  const std::string quiet = "-burgers_check_interval 0 -ts_type burgersfused ";
  Values            state[2];
  const std::string text = printed([&] {
    for (int former = 0; former < 2; former++) {
      Run run(PETSC_COMM_WORLD, 64, false,
              quiet + (former ? "-burgers_flux seed -burgers_bc seed"
                              : "-burgers_flux central_doubled -burgers_bc frozen"));
      run.start([](PetscInt i) { return std::sin(2 * pi * i / 64); });
      run.step(20, 0.01);
      state[former] = run.all();
    }
  });
  CHECK(largest_difference(state[0], state[1]) == 0);
  INFO(text);
  for (const char *words : {"value seed of the option -burgers_flux is deprecated", "-burgers_flux central_doubled",
                            "value seed of the option -burgers_bc is deprecated", "-burgers_bc frozen"})
    CHECK(text.find(words) != std::string::npos);
}

TEST_CASE("du/dt of a TS that takes fused steps", "[burgers]") {
  const PetscInt N = 40 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_flux rusanov");
  for (int solved = 0; solved < 2; solved++) {
    run.start([&](PetscInt i) { return wavy(i, N); });
    const Values expected = textbook::rate(run.all(), 2 * pi / N, "rusanov", "constant", "periodic", 0);
    CHECK(largest_difference(run.rate(), expected) <= 1e-11);
    run.step(10, 0.1 * 2 * pi / N / 1.9);
  }
}

TEST_CASE("Riemann problems: the shock's speed and the rarefaction through u = 0", "[burgers]") {
  const struct { PetscReal left, right; } problems[] = {{1, 0}, {0.5, -1}, {-1, 1}, {-0.2, 0.9}, {0.3, 1}, {-1, -0.4}};
  const PetscInt  N = 400;
  const PetscReal length = 2 * pi, time = 1.5;
  for (const auto &problem : problems)
    for (const char *flux : {"lax_friedrichs", "rusanov", "godunov", "engquist_osher"})
      for (int r = 0; r < 4; r++) {
        const PetscReal l = problem.left, right = problem.right;
        const auto      solution = [&](PetscReal x) {
          const PetscReal s = (x - length / 2) / time;
          if (l > right) return s < (l + right) / 2 ? l : right;
          return s < l ? l : s > right ? right : s;
        };
        Run run(PETSC_COMM_WORLD, N, false,
                options_of(flux, reconstructions[r], "outflow") + "-ts_type burgersfused -burgers_fused_scheme " +
                    (r ? "ssprk3" : "euler"));
        run.start([&](PetscInt i) { return i < N / 2 ? l : right; });
        run.until(time, 0.4 * length / N);
        INFO(flux << ' ' << reconstructions[r] << ' ' << l << ' ' << right);
        CHECK(mean_difference(run.all(), averages(N, length, solution)) < (r ? 0.006 : 0.03));
      }
}

TEST_CASE("nothing is lost, and no variation is made", "[burgers]") {
  for (PetscInt N : {127, 512})
    for (const char *flux : {"lax_friedrichs", "rusanov", "godunov", "engquist_osher"})
      for (int r = 0; r < 4; r++)
        for (bool periodic : {true, false}) {
          Run run(PETSC_COMM_WORLD, N, periodic,
                  options_of(flux, reconstructions[r], periodic ? "periodic" : "outflow") +
                      "-ts_type burgersfused -burgers_fused_scheme ssprk2 -burgers_fused_steps 10");
          run.start([&](PetscInt i) { return wavy(i, N); });
          PetscReal       before = variation(run.all(), periodic);
          const PetscReal sum = total(run.all());
          INFO(flux << ' ' << reconstructions[r] << " periodic " << periodic);
          PetscReal bound;
          OK(TSBurgersGetTimeStepBound(run.ts, run.u, &bound));
          for (int block = 0; block < 12; block++) {
            run.step(10, bound);
            const Values u = run.all();
            if (periodic) CHECK(std::fabs(total(u) - sum) <= 1e-12 * N);
            if (r < 3) {
              CHECK(variation(u, periodic) <= before * (1 + 1e-13));
              before = variation(u, periodic);
            }
          }
        }
}

#endif
