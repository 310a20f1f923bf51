// Conditions on sides that depend on the unknown: against conditions of Robin, exact solutions and difference quotients.

#include "catch.hpp"
#include "equations.hpp"

#include <cmath>

using namespace tests;

static Grid grid_with(const std::string &text, PetscInt dim, PetscInt N, DMDAStencilType shape = DMDA_STENCIL_STAR,
                      PetscInt width = 1) {
  Lattice l;
  Grid    da;
  l.dim = dim, l.shape = shape, l.width = width;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N + a : 1;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}

TEST_CASE("a flux that is linear in the unknown is a condition of Robin", "[equations]") {
  if (!equations_work(true)) return;
  const struct {
    const char     *text;
    PetscInt        dim;
    DMDAStencilType shape;
    PetscInt        width;
  } cases[] = {{"residual = -laplacian(u) - 1", 1, DMDA_STENCIL_STAR, 1},
               {"residual = bilaplacian(u) - 1 + dxy(u)", 2, DMDA_STENCIL_BOX, 2},
               {"stretch(x, geometric, 3)\nresidual = -laplacian(u) - x", 3, DMDA_STENCIL_STAR, 1},
               {"identity(top) = 3\nrate = laplacian(u) + dxy(u)", 2, DMDA_STENCIL_BOX, 1}};
  for (const auto &c : cases) {
    INFO(c.text);
    const std::string head = "parameter(h, 1.5)\nwarm = 20 + x\n",
                      other = c.dim > 1 ? "\neliminated(bottom) = 2 + x\n" : "\n";
    Grid flux = grid_with(head + "loss(u) = -h*(u - warm)\nneumann(left) = loss(u)\nrobin(right, 0.5) = 4 - u" + other +
                              c.text,
                          c.dim, 7, c.shape, c.width),
         robin = grid_with(head + "robin(left, h) = h*warm\nrobin(right, 1.5) = 4" + other + c.text, c.dim, 7, c.shape,
                           c.width);
    Vector    u = random_vector(flux, 1), f = make_vector(flux), g = make_vector(flux);
    PetscBool linear;
    OK(DMDAEquationGetLinear(flux, &linear));
    CHECK(linear);
    OK(compute_values(flux, 0.3, u, f));
    OK(compute_values(robin, 0.3, u, g));
    CHECK(difference(f, g) < 1e-13);
    OK(MatMult(jacobian(robin, u, MATAIJ), u, g));
    for (const char *type : {MATAIJ, MATSTENCILSHELL, MATEQUATION}) {
      OK(MatMult(jacobian(flux, u, type), u, f));
      CHECK(difference(f, g) < 1e-13);
    }
  }
}

// Between a wall of temperature 1 and one that radiates, 1 - s x with s = 2 (1 - s)⁴ is also the solution of differences.
TEST_CASE("a wall that radiates", "[equations]") {
  if (!equations_work()) return;
  PetscReal s = 0.3;
  for (int step = 0; step < 20; step++) s -= (s - 2 * std::pow(1 - s, 4)) / (1 + 8 * std::pow(1 - s, 3));
  const char text[] = "parameter(sigma, 2)\nflux = -sigma*u^4\nneumann(sides)\ndirichlet(left) = 1\n"
                      "neumann(right) = flux\ninitial = 1\nresidual = -laplacian(u)";
  for (PetscInt dim = 1; dim <= 3; dim++)
    for (const char *solver :
         {"-dm_mat_type aij", "-dm_mat_type stencil -pc_type stencilmg", "-dm_mat_type equation"}) {
      INFO(dim << " " << solver);
      Options options(solver + std::string(" -ksp_rtol 1e-12 -snes_rtol 1e-12"));
      Lattice l;
      Grid    da;
      Vector  u;
      l.dim = dim;
      for (int a = 0; a < 3; a++) l.N[a] = a < dim ? 12 : 1;
      OK(make_grid(l, nullptr, &da));
      set_equation(da, text);
      PetscInt its;
      OK(solve(da, &u, &its));
      CHECK(its > 2);
      const PetscReal h = 1 / 12.5;
      const auto      values = natural_values(da, u);
      for (size_t i = 0; i < values.size(); i++)
        CHECK(PetscAbsScalar(values[i] - (1 - s * (PetscReal)(i % 12 + 1) * h)) < 1e-9);
    }
}

TEST_CASE("the Jacobian has the derivatives of conditions, also at corners and in rates", "[equations]") {
  if (!equations_work(true)) return;
  const char sides[] = "neumann(sides) = x - 0.01*u^4\nrobin(top, 2) = t + exp(-u)\n";
  for (const char *row :
       {"residual = -laplacian(u) + dxy(u) + u^2", "identity(bottom) = 1 + x\nrate = laplacian(u) + u*dxy(u)",
        "dirichlet(bottom) = 1 + x\nresidual = d(u^2, u) + dxy(u)"}) {
    INFO(row);
    CHECK(jacobian_difference(grid_with(std::string(sides) + row, 2, 6, DMDA_STENCIL_BOX)) < 1e-6);
  }
  CHECK(jacobian_difference(grid_with(std::string("neumann(sides) = -0.01*u^2\nresidual = u - laplacian(u)"), 3, 4)) <
        1e-6);
}

TEST_CASE("errors at conditions that depend on the unknown are of second order", "[equations]") {
  if (!equations_work()) return;
  PetscReal errors[2];
  for (int level = 0; level < 2; level++) {
    // u = exp(x) + y has ∂u/∂n = -1 below, which is y - u + exp(x) - 1, and exp(1) at the right, which is log(u)' ...
    Options  options("-ksp_rtol 1e-12 -snes_rtol 1e-12 -pc_type redundant"); // LU on each rank
    Grid     da = grid_with("exact = exp(x) + y\nneumann(bottom) = -u^2*exp(-2*x)\nneumann(right) = log(exp(u - y))\n"
                                "initial = 1 + x + y\nresidual = -laplacian(u) + u*u",
                            2, level ? 40 : 20);
    Vector   u, exact = make_vector(da);
    PetscInt its;
    OK(solve(da, &u, &its));
    OK(DMDAEquationComputeExact(da, 0, exact));
    OK(VecAXPY(exact, -1, u));
    OK(VecNorm(exact, NORM_INFINITY, &errors[level]));
  }
  CHECK(errors[1] < 0.3 * errors[0]);
  CHECK(errors[1] < 1e-3);
}

TEST_CASE("a condition without a solution is an error, with the point", "[misuse]") {
  if (!equations_work()) return;
  Grid   da = grid_with("neumann(right) = 100 + 100*u^2\nresidual = -laplacian(u) - 1", 1, 9);
  Vector u = make_vector(da);
  EXPECT_ERROR(PETSC_ERR_FP, ({"equation:2", "residual of u is nan", "the point (8, 0, 0)"}), [&] {
    Owned<SNES, SNESDestroy> snes;
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetDM(snes, da));
    return SNESSolve(snes, NULL, u);
  });
}

// An ordinary equation beside a partial one, with no condition: u = cos t and c = -sin t where u is even.
TEST_CASE("an unknown whose neighbours nothing reads needs no condition", "[equations]") {
  if (!equations_work(true)) return;
  const std::string head = "unknowns(u, c)\nneumann(left, u)\nrobin(right, 0, u)\nrobin(sides, 0, u)\ninitial(u) = 1\n"
                           "one = c\nsum(a, b) = a + b\n";
  for (const char *rates : {"rate(u) = laplacian(u) + sum(one, 0*x)\nrate(c) = 0 - u",
                            "rate(u) = sum(laplacian(u), c)\nrate(c) = -u*sum(1, 0*one)"}) {
    Options options("-ts_adapt_type none");
    Lattice l;
    Grid    da;
    l.dim = 2, l.dof = 2, l.N[2] = 1;
    OK(make_grid(l, nullptr, &da));
    set_equation(da, head + rates);
    Vector u = make_vector(da);
    OK(DMDAEquationComputeInitial(da, u));
    OK(TSSolve(stepper(da, TSRK, 1e-3, 0.5), u));
    const auto values = natural_values(da, u);
    for (size_t n = 0; n < values.size(); n += 2) {
      CHECK(PetscAbsScalar(values[n] - std::cos(0.5)) < 1e-8);
      CHECK(PetscAbsScalar(values[n + 1] + std::sin(0.5)) < 1e-8);
    }
    for (const char *reads : {"dx(c)", "laplacian(u*c)", "one(1)", "c(0, 1)"})
      EXPECT_ERROR(PETSC_ERR_SUP, ({"one distance"}), [&] {
        return DMDASetEquation(da, (head + "rate(u) = sum(one, " + reads + ")\nrate(c) = u").c_str());
      });
  }
}
