// Burgers' equation: orders of convergence against exact solutions, in 1-D and 2-D.

#include "burgers_support.hpp"

using namespace tests;

#if !defined(PETSC_USE_COMPLEX)

static PetscReal sine_error(PetscInt N, PetscReal time, const std::string &text, PetscReal courant) {
  Run          run(PETSC_COMM_WORLD, N, true, text);
  const Values start = averages(N, 2 * pi, [](PetscReal x) { return std::sin(x); });
  run.start([&](PetscInt i) { return start[i]; });
  run.until(time, courant * 2 * pi / N);
  return mean_difference(run.all(), averages(N, 2 * pi, [&](PetscReal x) { return sine_at(x, time); }));
}

TEST_CASE("orders of convergence for smooth data", "[burgers]") {
  const struct {
    const char *text;
    double      order, courant;
    PetscInt    N;
  } cases[] = {
      {"-burgers_flux godunov -ts_type euler", 1, 0.5, 128},
      {"-burgers_flux rusanov -ts_type burgersfused", 1, 0.5, 128},
      {"-burgers_flux engquist_osher -ts_type burgersfused", 1, 0.5, 128},
      {"-burgers_flux lax_friedrichs -ts_type burgersfused", 1, 0.5, 128},
      {"-burgers_flux godunov -burgers_reconstruct minmod -ts_type ssp -ts_ssp_type rks2 -ts_ssp_nstages 2 "
       "-ts_ssp_num_stages 2",
       2, 0.4, 256},
      {"-burgers_flux godunov -burgers_reconstruct minmod -ts_type burgersfused -burgers_fused_scheme ssprk2", 2, 0.4,
       256},
      {"-burgers_flux rusanov -burgers_reconstruct vanleer -ts_type burgersfused -burgers_fused_scheme ssprk2", 2, 0.4,
       256},
      {"-burgers_flux godunov -burgers_reconstruct weno5 -ts_type rk -ts_rk_type 5dp -ts_adapt_type none", 5, 0.2, 128},
      {"-burgers_flux lax_friedrichs -burgers_reconstruct weno5 -ts_type rk -ts_rk_type 5dp -ts_adapt_type none", 5,
       0.2, 128},
  };
  for (const auto &c : cases) {
    const PetscReal coarse = sine_error(c.N, 0.5, c.text, c.courant),
                    fine = sine_error(2 * c.N, 0.5, c.text, c.courant);
    INFO(c.text << ": errors " << coarse << ", " << fine << ", order " << std::log2(coarse / fine));
    CHECK(std::log2(coarse / fine) > c.order - (c.order == 1 ? 0.1 : c.order == 2 ? 0.25 : 0.4));
  }
}

TEST_CASE("order 1 of the integral error with a shock", "[burgers]") {
  for (const char *text :
       {"-burgers_flux godunov -ts_type burgersfused", "-burgers_flux engquist_osher -ts_type burgersfused",
        "-burgers_flux rusanov -burgers_reconstruct minmod -ts_type burgersfused -burgers_fused_scheme ssprk2",
        "-burgers_flux godunov -burgers_reconstruct weno5 -ts_type burgersfused -burgers_fused_scheme ssprk3"}) {
    const PetscReal coarse = sine_error(200, 2, text, 0.4), fine = sine_error(400, 2, text, 0.4);
    INFO(text << ": errors " << coarse << ", " << fine);
    CHECK(std::log2(coarse / fine) > 0.8);
    CHECK(fine < 0.02);
  }
}

TEST_CASE("viscous: the solution of Cole and Hopf", "[burgers]") {
  const PetscReal nu = 0.2, time = 0.8;
  const auto      exact_at = [&](PetscReal x, PetscReal t) { // φ = 2 + e^{-νt} cos x, u = -2ν φ_x/φ
    const PetscReal decay = std::exp(-nu * t);
    return 2 * nu * decay * std::sin(x) / (2 + decay * std::cos(x));
  };
  for (const char *text : {"-burgers_reconstruct minmod -ts_type burgersfused -burgers_fused_scheme ssprk2",
                           "-burgers_reconstruct weno5 -ts_type rk -ts_rtol 1e-8 -ts_atol 1e-8",
                           "-burgers_flux central -ts_type cn -ksp_rtol 1e-10 -snes_rtol 1e-10"}) {
    PetscReal error[2];
    for (int level = 0; level < 2; level++) {
      const PetscInt N = 48 << level;
      Run            run(PETSC_COMM_WORLD, N, true, std::string(text) + " -burgers_viscosity 0.2");
      const Values   start = averages(N, 2 * pi, [&](PetscReal x) { return exact_at(x, 0); });
      run.start([&](PetscInt i) { return start[i]; });
      const PetscReal h = 2 * pi / N;
      run.until(time, strstr(text, "cn") ? 0.2 * h : 0.4 * h * h / nu);
      error[level] = mean_difference(run.all(), averages(N, 2 * pi, [&](PetscReal x) { return exact_at(x, time); }));
    }
    INFO(text << ": errors " << error[0] << ", " << error[1]);
    CHECK(std::log2(error[0] / error[1]) > 1.75);
    CHECK(error[1] < 1e-3);
  }
}

TEST_CASE("in 2-D, data along one axis move as in 1-D", "[burgers]") {
  for (int axis = 0; axis < 2; axis++)
    for (int r = 0; r < 4; r++)
      for (const char *boundary : {"periodic", "outflow"}) {
        const PetscInt    N = 61, other = 12;
        const std::string text = std::string("-burgers_flux rusanov -burgers_reconstruct ") + reconstructions[r] +
                                 " -burgers_bc " + boundary +
                                 " -burgers_viscosity 0.01 -ts_type burgersfused "
                                 "-burgers_fused_scheme ssprk3";
        Run line(PETSC_COMM_SELF, N, !strcmp(boundary, "periodic"), text);
        Run plane(PETSC_COMM_WORLD, axis ? other : N, !strcmp(boundary, "periodic"), text, axis ? N : other);
        line.start([&](PetscInt i) { return wavy(i, N); });
        PetscScalar ***u;
        PetscInt       x, y, m, n;
        OK(VecSet(plane.u, 0));
        OK(DMDAGetCorners(plane.da, &x, &y, NULL, &m, &n, NULL));
        OK(DMDAVecGetArrayDOF(plane.da, plane.u, &u));
        for (PetscInt j = y; j < y + n; j++)
          for (PetscInt i = x; i < x + m; i++) u[j][i][axis] = wavy(axis ? j : i, N);
        OK(DMDAVecRestoreArrayDOF(plane.da, plane.u, &u));
        const PetscReal dt = 0.2 * 2 * pi / N / 2;
        line.step(20, dt);
        plane.step(20, dt);
        const Values   along = line.all(), all = plane.all();
        PetscReal      worst = 0;
        const PetscInt width = axis ? other : N;
        for (size_t k = 0; k < all.size(); k++) {
          const PetscInt  i = (PetscInt)(k / 2) % width, j = (PetscInt)(k / 2) / width;
          const PetscReal expected = (int)(k % 2) == axis ? along[axis ? j : i] : 0;
          worst = std::max(worst, std::fabs(all[k] - expected));
        }
        INFO(text << " axis " << axis);
        CHECK(worst <= 1e-13);
      }
}

TEST_CASE("in 2-D, the viscous solution of Cole and Hopf", "[burgers]") {
  const PetscReal nu = 0.2, time = 0.5;
  // φ = 4 + e^{-νt} (cos x + cos y) + e^{-2νt} cos x cos y, (u, v) = -2ν ∇φ/φ
  const auto exact_at = [&](PetscReal x, PetscReal y, PetscReal t, int c) {
    const PetscReal d = std::exp(-nu * t);
    if (c) std::swap(x, y);
    const PetscReal phi = 4 + d * (std::cos(x) + std::cos(y)) + d * d * std::cos(x) * std::cos(y);
    return 2 * nu * (d * std::sin(x) + d * d * std::sin(x) * std::cos(y)) / phi;
  };
  PetscReal error[2];
  for (int level = 0; level < 2; level++) {
    const PetscInt  N = 24 << level;
    const PetscReal h = 2 * pi / N;
    Run             run(PETSC_COMM_WORLD, N, true,
                        "-burgers_reconstruct minmod -burgers_viscosity 0.2 -ts_type rk -ts_rtol 1e-7 -ts_atol 1e-7", N);
    PetscScalar  ***u;
    PetscInt        x, y, m, n;
    OK(DMDAGetCorners(run.da, &x, &y, NULL, &m, &n, NULL));
    OK(DMDAVecGetArrayDOF(run.da, run.u, &u));
    for (PetscInt j = y; j < y + n; j++)
      for (PetscInt i = x; i < x + m; i++)
        for (int c = 0; c < 2; c++) u[j][i][c] = exact_at((i + 0.5) * h, (j + 0.5) * h, 0, c);
    OK(DMDAVecRestoreArrayDOF(run.da, run.u, &u));
    run.until(time, 0.1 * h * h / nu);
    const Values all = run.all();
    error[level] = 0;
    for (size_t k = 0; k < all.size(); k++) {
      const PetscInt i = (PetscInt)(k / 2) % N, j = (PetscInt)(k / 2) / N;
      error[level] += std::fabs(all[k] - exact_at((i + 0.5) * h, (j + 0.5) * h, time, (int)(k % 2))) / all.size();
    }
  }
  INFO("errors " << error[0] << ", " << error[1]);
  CHECK(std::log2(error[0] / error[1]) > 1.6);
  CHECK(error[1] < 1e-3);
}

#endif
