// Fluxes of texts by weno5: their order, jumps, Jacobians; and where they are not.

#include "catch.hpp"
#include "equations.hpp"

#include <cmath>

using namespace tests;

static Grid grid_of(const std::string &text, PetscInt dim, PetscInt N, DMBoundaryType ends, PetscInt dof = 1,
                    PetscInt width = 3) {
  Lattice l;
  Grid    da;
  l.dim = dim, l.dof = dof, l.width = width;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N : 1, l.ends[a] = a < dim ? ends : DM_BOUNDARY_NONE;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}

TEST_CASE("rates by weno5 are of fifth order", "[equations]") {
  if (!equations_work()) return;
  for (const std::string flux : {"-weno5_x(u^2/2, u, u)", "-hll_weno5_x(u^2/2, u - 1, u + 1, u)"}) {
    PetscReal error[2];
    for (int fine = 0; fine < 2; fine++) {
      Grid da = grid_of("s = 2 + sin(2*pi*x)\ninitial = s\nrate = " + flux + " + u*0", 1, fine ? 80 : 40,
                        DM_BOUNDARY_PERIODIC),
           by_hand = grid_of("initial = -2*pi*(2 + sin(2*pi*x))*cos(2*pi*x)\nrate = u", 1, fine ? 80 : 40,
                             DM_BOUNDARY_PERIODIC);
      Vector u = make_vector(da), f = make_vector(da), exact = make_vector(by_hand);
      OK(DMDAEquationComputeInitial(da, u));
      OK(DMDAEquationComputeInitial(by_hand, exact));
      OK(compute_values(da, 0, u, f));
      error[fine] = difference(f, exact);
    }
    INFO(flux << ": " << error[0] << ", " << error[1]);
    CHECK(error[0] < 4e-4);
    CHECK(error[1] < error[0] / 20);
  }
}

// A wave and a box go once around.
TEST_CASE("waves and jumps by weno5", "[equations]") {
  if (!equations_work()) return;
  PetscReal error[2];
  for (int fine = 0; fine < 2; fine++) {
    const PetscInt N = fine ? 64 : 32;
    Grid           da = grid_of("initial = sin(2*pi*x)\nrate = -weno5_x(u, 1, u)", 1, N, DM_BOUNDARY_PERIODIC);
    Vector         u = make_vector(da), exact = make_vector(da);
    Options        options("-ts_adapt_type none -ts_rk_type 4");
    OK(DMDAEquationComputeInitial(da, exact));
    OK(VecCopy(exact, u));
    OK(TSSolve(stepper(da, TSRK, 0.2 / (PetscReal)N, 1), u));
    error[fine] = difference(u, exact);
  }
  INFO(error[0] << ", " << error[1]);
  CHECK(error[0] < 1e-3);
  CHECK(error[1] < error[0] / 24);
  PetscReal mean[2];
  for (int weno = 0; weno < 2; weno++) {
    Grid      da = grid_of(std::string("initial = abs(x - 0.5) < 0.2 ? 1 : 0\nrate = -") + (weno ? "weno5" : "minmod") +
                               "_x(u, 1, u)",
                           1, 100, DM_BOUNDARY_PERIODIC);
    Vector    u = make_vector(da), exact = make_vector(da);
    PetscReal largest, least;
    OK(DMDAEquationComputeInitial(da, exact));
    OK(VecCopy(exact, u));
    OK(TSSolve(stepper(da, TSSSP, 0.005, 1), u));
    OK(VecMax(u, NULL, &largest));
    OK(VecMin(u, NULL, &least));
    CHECK(largest < 1.01);
    CHECK(least > -0.01);
    OK(VecAXPY(u, -1, exact));
    OK(VecNorm(u, NORM_1, &mean[weno]));
  }
  INFO(mean[0] << ", " << mean[1]);
  CHECK(mean[1] < 0.8 * mean[0]);
}

// The same axis after axis; factors of a thousand orders of magnitude; ends.
TEST_CASE("weno5 along each axis, of values of any size, and its Jacobian", "[equations]") {
  if (!equations_work()) return;
  const std::string row = "dirichlet(left) = 1\nneumann(sides)\nrate = -weno5_x(u^2, 2*u, u) - weno5_y(u, 1 + x, u)";
  CHECK(jacobian_difference(grid_of(row, 2, 12, DM_BOUNDARY_NONE)) < 1e-5);
  CHECK(
      jacobian_difference(grid_of("rate = -weno5_z(u^2, 2*u, u) - hll_weno5_y(u, u, 1, u)", 3, 9, DM_BOUNDARY_PERIODIC),
                          {MATEQUATION}) < 1e-5);
  for (const char *size : {"1e-60", "1", "1e30", "0"}) {
    INFO(size);
    Grid da = grid_of(std::string("neumann(sides)\ninitial = ") + size + "*exp(-20*x)\nrate = -weno5_x(u, 1, u)", 1, 12,
                      DM_BOUNDARY_NONE);
    Vector    u = make_vector(da), f = make_vector(da);
    PetscReal norm, of_u;
    OK(DMDAEquationComputeInitial(da, u));
    OK(compute_values(da, 0, u, f));
    OK(VecNorm(u, NORM_2, &of_u));
    OK(VecNorm(f, NORM_2, &norm));
    CHECK(std::isfinite(norm));
    CHECK(norm <= 30 * of_u);
    Matrix J = jacobian(da, u, MATAIJ);
    OK(MatNorm(J, NORM_FROBENIUS, &norm));
    CHECK(std::isfinite(norm));
  }
}

TEST_CASE("what weno5 cannot do", "[misuse]") {
  if (!equations_work()) return;
  Grid da = grid_of("rate = u", 1, 12, DM_BOUNDARY_NONE), narrow = grid_of("rate = u", 1, 12, DM_BOUNDARY_NONE, 1, 2);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"equation:2", "weno5_x needs points at even distances", "vanleer_x"}),
               [&] { return DMDASetEquation(da, "stretch(x, tanh, 2)\nrate = -weno5_x(u, 1, u)"); });
  EXPECT_ERROR(PETSC_ERR_USER, ({"equation:1", "weno5_x takes 3 arguments"}),
               [&] { return DMDASetEquation(da, "rate = -weno5_x(u, 1)"); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"equation:1", "stencil of width 2", "grid(1, star, 3)"}),
               [&] { return DMDASetEquation(narrow, "rate = -weno5_x(u, 1, u)"); });
}
