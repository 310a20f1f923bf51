// Equations as text: solvers that are used again, on the same DMDA or on others of its hierarchy.

#include "catch.hpp"
#include "equations.hpp"
#include "misuse.hpp"

using namespace tests;

static const char in_time[] = "rate = 0.05 * laplacian(u) + u - u * u * u\ninitial = x * y";

// A TS on a grid, with steps of 0.01.
static Owned<TS, TSDestroy> stepper(DM da, const char *type) {
  Owned<TS, TSDestroy> ts;
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, da));
  OK(TSSetType(ts, type));
  OK(TSSetTimeStep(ts, 0.01));
  OK(TSSetMaxSteps(ts, 5));
  OK(TSSetFromOptions(ts));
  return ts;
}
// What it makes of a state in a few steps from the time 0.
static PetscErrorCode steps(TS ts, Vec from, Vec to) {
  PetscFunctionBeginUser;
  PetscCall(VecCopy(from, to));
  PetscCall(TSSetTime(ts, 0));
  PetscCall(TSSetStepNumber(ts, 0));
  PetscCall(TSSolve(ts, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("a second TS on a DMDA steps as on one of its own", "[equations]") {
  if (!equations_work()) return;
  Options options("-ts_adapt_type none -snes_rtol 1e-10 -ksp_rtol 1e-10 -pc_type jacobi");
  Lattice l;
  for (const char *type : {TSRK, TSBEULER, TSCN, TSBDF, TSROSW}) {
    INFO(type);
    Grid da, own;
    OK(make_grid(l, nullptr, &da));
    OK(make_grid(l, nullptr, &own));
    set_equation(da, in_time);
    set_equation(own, in_time);
    Vector u = random_vector(da, 1), v = random_vector(da, 2), x = make_vector(da), y = make_vector(da),
           expected = make_vector(own);
    OK(steps(stepper(own, type), v, expected));
    {
      auto first = stepper(da, type), second = stepper(da, type);
      OK(steps(first, u, x));
      OK(steps(second, v, y)); // while the first one is there
      CHECK(difference(y, expected) == 0);
      OK(steps(first, v, y)); // the first one again
      CHECK(difference(y, expected) == 0);
      set_equation(da, in_time);
      OK(steps(first, v, y));
      CHECK(difference(y, expected) == 0);
    }
    OK(steps(stepper(da, type), v, y));
    CHECK(difference(y, expected) == 0);
    auto third = stepper(da, type), fourth = stepper(da, type);
    OK(VecCopy(u, x));
    OK(TSSetSolution(third, x));
    OK(TSStep(third)); // and goes no further
    if (std::string(type) != TSRK)
      EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"another TS", "destroy that one", "a DMDA of its own"}),
                   [&] { return steps(fourth, v, y); });
    third = Owned<TS, TSDestroy>();
    auto fifth = stepper(da, type);
    OK(steps(fifth, v, y));
    CHECK(difference(y, expected) == 0);
  }
}

TEST_CASE("a TS works on a finer DMDA, and says what multigrid needs", "[equations]") {
  if (!equations_work()) return;
  Options options("-ts_adapt_type none -snes_rtol 1e-10 -ksp_rtol 1e-10");
  Lattice l;
  Grid    coarse, fine, own;
  l.N[0] = l.N[1] = 9;
  const std::string text = std::string("identity(sides) = 0\n") + in_time;
  OK(make_grid(l, nullptr, &coarse));
  set_equation(coarse, text);
  l.N[0] = l.N[1] = 17;
  OK(make_grid(l, nullptr, &own));
  set_equation(own, text);
  Vector u = make_vector(coarse), x = make_vector(coarse), v = make_vector(own), y = make_vector(own),
         expected = make_vector(own);
  OK(DMDAEquationComputeInitial(coarse, u));
  OK(DMDAEquationComputeInitial(own, v));
  auto of_coarse = stepper(coarse, TSBEULER); // stays
  OK(steps(of_coarse, u, x));
  OK(DMRefine(coarse, PETSC_COMM_WORLD, &fine));
  OK(steps(stepper(own, TSBEULER), v, expected));
  OK(steps(stepper(fine, TSBEULER), v, y));
  CHECK(difference(y, expected) < 1e-9);
  const struct {
    const char *options;
    bool        works;
  } cases[] = {{"-pc_type mg -pc_mg_levels 2 -pc_mg_galerkin", true},
               {"-pc_type mg -pc_mg_levels 2", false},
               {"-snes_type fas -snes_fas_levels 2", false},
               {"-snes_type fas -snes_fas_levels 2 -fas_levels_snes_type ngs -fas_coarse_snes_type ngs", true}};
  for (const auto &c : cases) {
    INFO(c.options);
    Options more(c.options);
    Grid    da; // an error leaves vectors of its own on it
    OK(make_grid(l, nullptr, &da));
    set_equation(da, text);
    auto ts = stepper(da, TSBEULER);
    if (c.works) {
      OK(steps(ts, v, y));
      CHECK(difference(y, expected) < 1e-6);
    } else
      EXPECT_ERROR(PETSC_ERR_SUP, ({"-pc_mg_galerkin", "ngs"}), [&] { return steps(ts, v, y); });
  }
}

TEST_CASE("a KSP follows a new parameter, a new field and a new time", "[equations]") {
  if (!equations_work()) return;
  static const char text[] =
      "parameter(sigma, 1)\nfield(k)\nidentity(sides) = 0\nresidual = -laplacian(u) + sigma * k * u - 1 - t";
  const char *const sets[] = {"-ksp_rtol 1e-10 -pc_type jacobi",
                              "-ksp_rtol 1e-10 -pc_type mg -pc_mg_levels 2 -mg_levels_pc_type jacobi"};
  for (const char *set : sets) {
    Options options(set);
    Lattice l;
    Grid    grid[2];
    Solver  again;
    l.N[0] = l.N[1] = 17;
    for (Grid &da : grid) {
      OK(make_grid(l, nullptr, &da));
      set_equation(da, text);
    }
    Vector k = make_vector(grid[0]), x = make_vector(grid[0]), y = make_vector(grid[0]);
    OK(VecSet(k, 1));
    INFO(set);
    PetscInt its[2];
    for (int change = 0; change < 4; change++) {
      if (change == 2) OK(VecSet(k, 3));
      for (Grid &da : grid) {
        OK(DMDAEquationSetField(da, "k", k));
        if (change == 1) OK(DMDAEquationSetParameter(da, "sigma", 500));
        if (change == 3) OK(DMDAEquationSetTime(da, 7));
      }
      Solver fresh;
      if (!again) {
        OK(KSPCreate(PETSC_COMM_WORLD, &again));
        OK(KSPSetDM(again, grid[0]));
        OK(KSPSetFromOptions(again));
      }
      OK(KSPCreate(PETSC_COMM_WORLD, &fresh));
      OK(KSPSetDM(fresh, grid[1]));
      OK(KSPSetFromOptions(fresh));
      OK(KSPSolve(again, NULL, x));
      OK(KSPSolve(fresh, NULL, y));
      OK(KSPGetIterationNumber(again, &its[0]));
      OK(KSPGetIterationNumber(fresh, &its[1]));
      INFO("change " << change);
      CHECK(its[0] == its[1]); // the preconditioner, too
      CHECK(difference(x, y) < 1e-12);
    }
  }
}
