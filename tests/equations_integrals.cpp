// Integrals and means over the domain: against known ones, difference quotients, and solutions of nonlocal equations.

#include "catch.hpp"
#include "equations.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

static Grid grid_with(const std::string &text, PetscInt dim, PetscInt N, PetscInt dof = 1,
                      DMBoundaryType ends = DM_BOUNDARY_NONE) {
  Lattice l;
  Grid    da;
  l.dim = dim, l.dof = dof;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N + a : 1, l.ends[a] = a < dim ? ends : DM_BOUNDARY_NONE;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}

// Of 1, xy + x and x² over (0, 2) × (0, 1), and the mean of 1.
TEST_CASE("integrals are exact for constants and of second order", "[equations]") {
  if (!equations_work(true)) return;
  const std::string text = "unknowns(a, b, c, e)\nfield(k) = x*y\ndomain(0, 2, 0, 1)\ns(f) = integral(f + x)\n"
                           "residual(a) = integral(1)\nresidual(b) = s(k)\nresidual(c) = integral(x^2)\n"
                           "residual(e) = mean(1) + 0*(a + b + c + e)\n";
  for (const char *ends : {"dirichlet(sides)", "identity(sides)", "robin(sides, 1)\nneumann(left)",
                           "stretch(x, geometric, 3)\nstretch(y, tanh, 2)", "identity(left)\nstretch(x, tanh, 1)"}) {
    INFO(ends);
    const PetscReal exact[] = {2, 3, 8 / 3., 1};
    PetscReal       errors[2][4];
    for (int level = 0; level < 2; level++) {
      Grid   da = grid_with(text + ends, 2, level ? 24 : 12, 4);
      Vector u = random_vector(da, 1), f = make_vector(da);
      OK(compute_values(da, 0, u, f));
      const auto   values = natural_values(da, f);
      const size_t inside = values.size() / 8 * 4 + 4 * 3;
      for (size_t c = 0; c < 4; c++) errors[level][c] = PetscAbsScalar(values[inside + c] - exact[c]);
      CHECK(errors[level][0] + errors[level][3] < 1e-13);
    }
    for (size_t c = 1; c < 3; c++) CHECK(errors[1][c] < std::max(1e-13, 0.35 * errors[0][c]));
    for (size_t c = 1; c < 3; c++) CHECK(errors[1][c] < 0.05);
  }
}

// With I' = -I + 2 I, and what has no mean decays.
TEST_CASE("a rate with an integral is that of the ordinary equation", "[equations]") {
  if (!equations_work(true)) return;
  Grid    da = grid_with("domain(0, 2)\nneumann(sides)\ninitial = 1 + cos(pi*x)\nrate = -u + integral(u)", 1, 16);
  Options options("-dm_mat_type equation -ts_adapt_type none -ksp_type gmres -pc_type jacobi -ksp_rtol 1e-12 "
                  "-snes_rtol 1e-12");
  OK(DMSetMatType(da, MATEQUATION));
  for (const char *type : {TSRK, TSCN}) {
    Vector u = make_vector(da);
    OK(DMDAEquationComputeInitial(da, u));
    OK(TSSolve(stepper(da, type, 0.01, 0.5), u));
    const auto values = natural_values(da, u);
    for (size_t i = 0; i < values.size(); i++) {
      const PetscReal x = ((PetscReal)i + 0.5) / 8, exact = std::exp(0.5) + std::exp(-0.5) * std::cos(M_PI * x);
      CHECK(PetscAbsScalar(values[i] - exact) < (type == std::string(TSRK) ? 1e-7 : 1e-4));
    }
  }
}

TEST_CASE("a mean that is subtracted conserves the sum over the cells", "[equations]") {
  if (!equations_work(true)) return;
  const std::string row = "f = x*exp(u)\nrate = laplacian(u) + f - mean(f)\n";
  for (const char *ends : {"neumann(sides)", "neumann(sides)\nstretch(x, geometric, 3)", ""}) {
    INFO(ends);
    const bool  around = !ends[0];
    Grid        da = grid_with(row + ends, 2, 9, 1, around ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE);
    Vector      u = random_vector(da, 1), f = make_vector(da);
    PetscReal   x[9], size;
    PetscScalar sum = 0;
    OK(compute_values(da, 0, u, f));
    OK(VecNorm(f, NORM_1, &size));
    OK(DMDAEquationGetCoordinates(da, x, NULL, NULL));
    const auto values = natural_values(da, f);
    for (size_t i = 0; i < values.size(); i++) { // whose ends are 0 and 1
      const size_t    p = i % 9;
      const PetscReal cell = around ? 1 : (p < 8 ? (x[p] + x[p + 1]) / 2 : 1) - (p ? (x[p - 1] + x[p]) / 2 : 0);
      sum += values[i] * cell;
    }
    CHECK(PetscAbsScalar(sum) < 1e-13 * size);
  }
}

TEST_CASE("products have the derivatives of integrals", "[equations]") {
  if (!equations_work(true)) return;
  const struct {
    const char *text;
    PetscInt    dim, dof;
  } cases[] = {{"residual = -(1 + integral(dx(u)^2))*laplacian(u) - 1", 1, 1},
               {"w = mean(u)\nvariance(v) = mean((v - mean(v))^2)\nidentity(left) = 1\n"
                "residual = u*w - laplacian(u^2 - w) + variance(u*x)*variance(u(1)) + d(1 + w^2, u)",
                2, 1},
               {"unknowns(u, v)\nneumann(sides)\nneumann(top, v) = v - v^2\nstretch(y, tanh, 2)\n"
                "rate(u) = laplacian(u)*integral(u*v) + t\nrate(v) = dx(u) - integral(dy(v)*x*t)^2",
                2, 2},
               {"field(k) = x + y\nresidual = u - laplacian(u) + mean(k*laplacian(u))*u^2", 3, 1}};
  for (const auto &c : cases) {
    INFO(c.text);
    CHECK(jacobian_difference(grid_with(c.text, c.dim, 6, c.dof), {MATEQUATION}) < 1e-6);
  }
}

// Kirchhoff's string, whose tension grows with its length.
TEST_CASE("a nonlocal equation is solved by products", "[equations]") {
  if (!equations_work(true)) return;
  for (const char *solver : {"-dm_mat_type equation", "-dm_mat_type stencil -pc_type stencilmg -snes_mf_operator"}) {
    INFO(solver);
    PetscReal errors[2];
    for (int level = 0; level < 2; level++) {
      Options options(std::string("-ksp_rtol 1e-10 -snes_rtol 1e-10 ") + solver);
      Lattice l;
      Grid    da;
      l.dim = 1, l.N[0] = level ? 31 : 15, l.N[1] = l.N[2] = 1;
      OK(make_grid(l, nullptr, &da));
      set_equation(da, "s = sin(pi*x)\nresidual = -(1 + integral(dx(u)^2))*laplacian(u) - (1 + pi^2/2)*pi^2*s");
      Vector   u;
      PetscInt its;
      OK(solve(da, &u, &its));
      const auto values = natural_values(da, u);
      errors[level] = 0;
      for (size_t i = 0; i < values.size(); i++)
        errors[level] =
            std::max(errors[level],
                     PetscAbsScalar(values[i] - std::sin(M_PI * (PetscReal)(i + 1) / (PetscReal)(values.size() + 1))));
    }
    CHECK(errors[1] < 0.3 * errors[0]);
    CHECK(errors[1] < 0.01);
  }
}

TEST_CASE("linear equations with integrals, their exact solutions and constants", "[equations]") {
  if (!equations_work(true)) return;
  Options options("-dm_mat_type equation -ksp_rtol 1e-13 -snes_rtol 1e-12 -snes_atol 1e-11 -pc_type none");
  for (const char *text : {"exact = x*(1 - x)\nresidual = -laplacian(u) + 3*integral(u) - mean(x*u)",
                           "neumann(sides)\nexact = cos(pi*x)\nresidual = -laplacian(u) + mean(u)*x - integral(x)"}) {
    INFO(text);
    Grid      da = grid_with(text, 1, 20);
    Vector    u, exact = make_vector(da);
    PetscBool linear;
    PetscInt  its;
    OK(DMSetMatType(da, MATEQUATION));
    OK(DMDAEquationGetLinear(da, &linear));
    CHECK(linear);
    OK(solve(da, &u, &its));
    OK(DMDAEquationComputeExact(da, 0, exact));
    PetscReal error;
    OK(VecAXPY(exact, -1, u));
    OK(VecNorm(exact, NORM_INFINITY, &error));
    CHECK(error < 0.01);
  }
  Grid   singular = grid_with("neumann(sides)\nf = exp(x)\nresidual = -laplacian(u) + f - mean(f)", 1, 20);
  Matrix A;
  OK(DMDACreateEquationMat(singular, &A)); // of another type: no unknown is in the mean
  MatNullSpace constants;
  OK(MatGetNullSpace(A, &constants));
  CHECK(constants);
  Vector   u;
  PetscInt its;
  OK(DMSetMatType(singular, MATAIJ));
  OK(solve(singular, &u, &its));
}

TEST_CASE("what is refused of integrals", "[misuse]") {
  if (!equations_work()) return;
  Grid   da = grid_with("residual = -laplacian(u) + integral(u) - 1", 1, 9);
  Vector u = make_vector(da), f = make_vector(da);
  for (const char *type : {MATAIJ, MATSTENCILSHELL})
    EXPECT_ERROR(PETSC_ERR_SUP, ({"equation:1", "at all points", "-dm_mat_type equation"}), [&] {
      OK(DMSetMatType(da, type));
      Matrix A;
      return DMDACreateEquationMat(da, &A);
    });
  Matrix J = jacobian(da, u, MATEQUATION);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"transpose"}), [&] { return MatMultTranspose(J, u, f); });
  const auto set = [&](const char *text) { return DMDASetEquation(da, text); };
  EXPECT_ERROR(PETSC_ERR_USER, ({"initial state cannot have integral"}),
               [&] { return set("initial = integral(x)\nresidual = u"); });
  EXPECT_ERROR(PETSC_ERR_USER, ({"datum cannot have mean"}),
               [&] { return set("neumann(left) = mean(u)\nresidual = u"); });
  EXPECT_ERROR(PETSC_ERR_USER, ({"mean takes 1 argument"}), [&] { return set("residual = u - mean(u, x)"); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"equation:1", "u(2)", "beyond"}),
               [&] { return set("residual = u - mean(u(2))"); });
}

// A source at a point, and the value of a linear function there, between the grid's points.
TEST_CASE("hats have the integral 1, and probe", "[equations]") {
  if (!equations_work(true)) return;
  const std::string text =
      "unknowns(a, b)\nhat(s, h) = max(0, 1 - abs(s)/h)/h\nneumann(sides)\n"
      "delta = hat(x - 0.3, hx)*hat(y - 0.55, hy)\nresidual(a) = a - (2 + x - 3*y) + integral(delta)\n"
      "residual(b) = b + integral(delta*a)\ninitial(a) = 2 + x - 3*y";
  Grid   da = grid_with(text, 2, 11, 2);
  Vector u = make_vector(da), f = make_vector(da);
  OK(DMDAEquationComputeInitial(da, u));
  OK(compute_values(da, 0, u, f));
  const auto values = natural_values(da, f);
  CHECK(PetscAbsScalar(values[0] - 1.) < 1e-13);
  CHECK(PetscAbsScalar(values[1] - (2 + 0.3 - 3 * 0.55)) < 1e-13);
}

// u'' = l - x between Neumann ends has a solution where l is 1/2.
TEST_CASE("one number for the whole domain, by a constraint", "[equations]") {
  if (!equations_work(true)) return;
  PetscReal errors[2];
  for (int level = 0; level < 2; level++) {
    Grid     da = grid_with("unknowns(u, l)\nneumann(sides, u)\nresidual(u) = -dxx(u) + l - x\n"
                                "residual(l) = l - mean(l) + mean(u)",
                            1, level ? 24 : 12, 2);
    Options  options("-dm_mat_type equation -ksp_type gmres -ksp_gmres_restart 100 -pc_type none -ksp_rtol 1e-12 "
                      "-snes_type ksponly");
    Vector   u;
    PetscInt its;
    OK(DMSetMatType(da, MATEQUATION));
    OK(solve(da, &u, &its));
    const auto values = natural_values(da, u);
    errors[level] = 0;
    for (size_t i = 0; i < values.size(); i += 2) {
      const PetscReal x = ((PetscReal)i + 1) / (PetscReal)values.size(), exact = x * x / 4 - x * x * x / 6 - 1 / 24.;
      errors[level] = std::max(errors[level], PetscAbsScalar(values[i] - exact));
      CHECK(PetscAbsScalar(values[i + 1] - 0.5) < 1e-9);
    }
  }
  INFO(errors[0] << ", " << errors[1]);
  CHECK(errors[0] < 1e-3);
  CHECK(errors[1] < 0.3 * errors[0]);
}
