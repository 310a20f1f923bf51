// Algebraic unknowns beside those with rates: against equations without them, and a manufactured solution.

#include "catch.hpp"
#include "equations.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

static Grid grid_with(const std::string &text, PetscInt dim, PetscInt dof, PetscInt N = 9, PetscInt width = 1) {
  Lattice l;
  Grid    da;
  l.dim = dim, l.dof = dof, l.width = width, l.shape = DMDA_STENCIL_BOX;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N : 1;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}
// The unknown c, at all points.
static std::vector<PetscScalar> values_of(DM da, Vec u, size_t c, size_t dof) {
  std::vector<PetscScalar> all = natural_values(da, u), some;
  for (size_t i = c; i < all.size(); i += dof) some.push_back(all[i]);
  return some;
}

// Cahn and Hilliard's equation with the potential as an unknown, and as a formula: the same differences.
TEST_CASE("an algebraic unknown stands for its formula", "[equations]") {
  if (!equations_work(true)) return;
  const std::string head = "parameter(eps, 0.2)\nneumann(sides)\n", initial = "= 0.3*cos(pi*x) + 0.2*cos(2*pi*y)",
                    mu = "u^3 - u - eps^2*laplacian(u)";
  for (const char *type : {TSBEULER, TSBDF, TSROSW, TSARKIMEX})
    for (const char *mat : {MATAIJ, MATSTENCILSHELL, MATEQUATION}) {
      INFO(type << " " << mat);
      Options options(
          "-ts_adapt_type none -ksp_rtol 1e-12 -snes_rtol 1e-12 -snes_atol 1e-12 -ts_arkimex_fully_implicit "
          "-ksp_type gmres -ksp_gmres_restart 300 -pc_type jacobi -dm_mat_type " +
          std::string(mat));
      Grid one = grid_with(head + "initial " + initial + "\nmu = " + mu + "\nrate = laplacian(mu)", 2, 1, 7, 2),
           two = grid_with("unknowns(mu, u)\n" + head + "initial(u) " + initial + "\nrate(u) = laplacian(mu)\n" +
                               "residual(mu) = mu - (" + mu + ")",
                           2, 2, 7);
      Vector     u = steps(one, type, 0.01, 0.02), v = steps(two, type, 0.01, 0.02);
      const auto expected = natural_values(one, u), found = values_of(two, v, 1, 2);
      const bool same = type == std::string(TSBEULER) || type == std::string(TSBDF); // other types' stages differ
      for (size_t i = 0; i < expected.size(); i++) CHECK(PetscAbsScalar(found[i] - expected[i]) < (same ? 1e-8 : 1e-4));
    }
}

TEST_CASE("a manufactured solution with a potential", "[equations]") {
  if (!equations_work(true)) return;
  const char text[] = "unknowns(n, phi)\nexact(n) = exp(-t)*sin(pi*x)\nexact(phi) = x*(1 + t) + cos(x)\n"
                      "rate(n) = laplacian(n) + n*dx(phi)\nresidual(phi) = -laplacian(phi) + n^2";
  for (const char *mat : {MATAIJ, MATSTENCILSHELL, MATEQUATION}) {
    PetscReal errors[2];
    for (int level = 0; level < 2; level++) {
      Options options("-ksp_rtol 1e-12 -snes_rtol 1e-10 -ts_adapt_type none -pc_type jacobi -dm_mat_type " +
                      std::string(mat));
      Grid    da = grid_with(text, 1, 2, level ? 19 : 9);
      Vector  u = steps(da, TSBDF, 1e-3, 0.05), exact = make_vector(da);
      OK(DMDAEquationComputeExact(da, 0.05, exact));
      OK(VecAXPY(exact, -1, u));
      OK(VecNorm(exact, NORM_INFINITY, &errors[level]));
    }
    CHECK(errors[1] < 0.3 * errors[0]);
    CHECK(errors[1] < 1e-3);
  }
}

static const char text_of_solvers[] = "unknowns(u, p)\nneumann(sides)\ninitial(u) = 1 + cos(pi*x)\ninitial(p) = 1\n"
                                      "rate(u) = laplacian(u) - p\nresidual(p) = p - 3*u";

TEST_CASE("solvers of steps with algebraic unknowns", "[equations]") {
  if (!equations_work(true)) return;
  Grid       two = grid_with(text_of_solvers, 2, 2, 16), one = grid_with("neumann(sides)\ninitial = 1 + cos(pi*x)\n"
                                                                               "rate = laplacian(u) - 3*u",
                                                                         2, 1, 16);
  Options    options("-ts_adapt_type none -ksp_rtol 1e-11 -snes_rtol 1e-10 -ksp_type gmres");
  Vector     u = steps(one, TSBEULER, 0.01, 0.03);
  const auto expected = natural_values(one, u);
  Vector     start = make_vector(two);
  OK(DMDAEquationComputeInitial(two, start)); // the algebraic unknown is not 1
  const auto first = natural_values(two, start);
  for (size_t i = 0; i < first.size(); i += 2) CHECK(PetscAbsScalar(first[i + 1] - 3 * first[i]) < 1e-9);
  for (const char *pc : {"jacobi", "stencilmg"}) {
    Options of_pc(std::string("-pc_type ") + pc);
    OK(DMSetMatType(two, MATSTENCILSHELL));
    Vector     v = steps(two, TSBEULER, 0.01, 0.03);
    const auto found = values_of(two, v, 0, 2), p = values_of(two, v, 1, 2);
    for (size_t i = 0; i < expected.size(); i++) {
      CHECK(PetscAbsScalar(found[i] - expected[i]) < 1e-8);
      CHECK(PetscAbsScalar(p[i] - 3 * found[i]) < 1e-8);
    }
  }
}

TEST_CASE("what is refused of algebraic unknowns", "[misuse]") {
  if (!equations_work()) return;
  Grid       da = grid_with(text_of_solvers, 2, 2);
  Vector     u = make_vector(da);
  const auto set = [&](const char *text) { return DMDASetEquation(da, text); };
  EXPECT_ERROR(PETSC_ERR_USER, ({"a residual and a rate of u", "state"}),
               [&] { return set("unknowns(u, p)\nrate(u) = p\nresidual(u) = u\nresidual(p) = p"); });
  EXPECT_ERROR(PETSC_ERR_USER, ({"the rate of p is missing", "residual for an algebraic unknown"}),
               [&] { return set("unknowns(u, p)\nrate(u) = p"); });
  EXPECT_ERROR(PETSC_ERR_USER, ({"equation:2", "identity", "use dirichlet"}), [&] {
    return set("unknowns(u, p)\nidentity(left) = 1\nrate(u) = laplacian(u) - p\nresidual(p) = p - u");
  });
  for (const char *type : {TSEULER, TSRK, TSSSP}) {
    PetscErrorCode code = 0;
    const auto     solve = [&] {
      Owned<TS, TSDestroy> ts;
      PetscFunctionBeginUser;
      PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
      PetscCall(TSSetDM(ts, da));
      PetscCall(TSSetType(ts, type));
      PetscCall(TSSetTimeStep(ts, 0.01));
      PetscCall(TSSetMaxSteps(ts, 1));
      PetscCall(TSSolve(ts, u));
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    (void)code;
    EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"explicit"}), solve);
  }
}
