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
    {
      auto first = stepper(da, type), second = stepper(da, type);
      OK(steps(first, u, x));
      OK(TSSetUp(second));
      first = Owned<TS, TSDestroy>(); // which leaves what the second one has set up
      OK(steps(second, v, y));
      CHECK(difference(y, expected) == 0);
    }
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

TEST_CASE("a second TS on a DMDA may take differences by colouring", "[equations]") {
  if (!equations_work()) return;
  Options options("-ts_adapt_type none -snes_rtol 1e-10 -ksp_rtol 1e-10 -pc_type jacobi -snes_fd_color");
  Lattice l;
  Grid    da;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, in_time);
  Vector u = random_vector(da, 1), x = make_vector(da), y = make_vector(da);
  auto   first = stepper(da, TSBEULER), second = stepper(da, TSBEULER);
  OK(steps(first, u, x));
  OK(steps(second, u, y));
  CHECK(difference(x, y) < 1e-9);
}

TEST_CASE("a TS works on a finer DMDA, and with multigrid", "[equations]") {
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
  for (const char *set : {"-pc_type mg -pc_mg_levels 2 -pc_mg_galerkin", "-pc_type mg -pc_mg_levels 3",
                          "-pc_type mg -pc_mg_levels 3 -mg_levels_pc_type jacobi -mg_coarse_ksp_type gmres "
                          "-mg_coarse_pc_type jacobi -dm_mat_type equation",
                          "-snes_type fas -snes_fas_levels 2 -fas_levels_snes_type ngs -fas_coarse_snes_type ngs "
                          "-fas_coarse_snes_max_it 20"}) {
    INFO(set);
    Options more(set);
    Grid    da;
    OK(make_grid(l, nullptr, &da)); // with these options
    set_equation(da, text);
    OK(steps(stepper(da, TSBEULER), v, y));
    CHECK(difference(y, expected) < 1e-6);
  }
}

// Where a coarser grid had rows of another scale, or another shift, its corrections would be too large or too small.
TEST_CASE("implicit steps take multigrid on the equation's own coarser grids", "[equations]") {
  if (!equations_work()) return;
  for (const char *type : {TSBEULER, TSCN, TSBDF})
    for (const char *mat_type : {MATAIJ, MATSTENCILSHELL}) {
      INFO(type << ", " << mat_type);
      PetscInt its[2];
      Vector   u[2];
      for (int galerkin = 0; galerkin < 2; galerkin++) {
        Options options(std::string("-ts_adapt_type none -ksp_rtol 1e-10 -snes_rtol 1e-9 -pc_type mg -pc_mg_levels 4 "
                                    "-mg_levels_pc_type jacobi") +
                        (galerkin ? " -pc_mg_galerkin" : ""));
        Lattice l;
        Grid    coarse, da;
        l.N[0] = l.N[1] = 17;
        OK(make_grid(l, nullptr, &coarse)); // the TS works on a finer one than the equation was given to
        set_equation(coarse, "domain(0, 3, 0, 1)\nidentity(sides) = sin(t + x)\nparameter(a, 1)\nfield(k) = 1 + x\n"
                             "rate = a * d(k, u) - u * u * u\ninitial = sin(x)");
        OK(DMRefine(coarse, PETSC_COMM_WORLD, &da));
        OK(DMSetMatType(da, mat_type));
        auto ts = stepper(da, type);
        u[galerkin] = make_vector(da);
        OK(DMDAEquationComputeInitial(da, u[galerkin]));
        OK(TSSolve(ts, u[galerkin]));
        OK(TSGetKSPIterations(ts, &its[galerkin]));
      }
      CHECK(difference(u[0], u[1]) < 1e-7);
      CHECK(its[0] <= its[1] + its[1] / 4);
    }
}

TEST_CASE("stiff steps take full approximation with the smoothers of the page", "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  l.N[0] = l.N[1] = 17;
  const char *text = "identity(sides) = 0\nrate = laplacian(u) - u * u * u\ninitial = sin(pi * x) * sin(pi * y)";
  const auto  step = [&](const char *set, const char *type, Vector &u) {
    Options options(std::string("-ts_adapt_type none -snes_rtol 1e-9 -ts_dt 0.05 -ts_max_steps 2 ") + set);
    Grid    own;
    OK(make_grid(l, nullptr, &own));
    set_equation(own, text);
    auto ts = stepper(own, type);
    u = make_vector(own);
    OK(DMDAEquationComputeInitial(own, u));
    OK(TSSolve(ts, u));
  };
  for (const char *type : {TSBEULER, TSCN, TSBDF})
    for (const char *set : {"-fas_levels_snes_type ngs", "-fas_levels_snes_type newtonls -fas_levels_snes_max_it 1"}) {
      INFO(type << " " << set);
      Vector expected, u;
      step("-pc_type jacobi -ksp_rtol 1e-10", type, expected);
      step((std::string("-snes_type fas -snes_fas_levels 3 ") + set).c_str(), type, u);
      CHECK(difference(u, expected) < 1e-6);
    }
}

// Of an implicit step's own functions: twice the derivative in time, less the equation's rate.
static PetscErrorCode twice(TS, PetscReal, Vec, Vec rate, Vec f, void *) {
  PetscFunctionBeginUser;
  PetscCall(VecAXPBY(f, 2, 0, rate));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode twice_shift(TS, PetscReal, Vec, Vec, PetscReal shift, Mat, Mat A, void *) {
  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  PetscCall(MatShift(A, 2 * shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("implicit steps on coarser grids: types of TS, and an implicit function of the program", "[equations]") {
  if (!equations_work()) return;
  Options    options("-ts_adapt_type none -snes_rtol 1e-10 -ksp_rtol 1e-10");
  const auto step = [](const std::string &set, bool has_own, Vector &x) {
    Options more(set);
    Lattice l;
    Grid    da;
    l.N[0] = l.N[1] = 9;
    PetscFunctionBeginUser;
    PetscCall(make_grid(l, nullptr, &da));
    set_equation(da, std::string("identity(sides) = 0\n") + in_time);
    auto   ts = stepper(da, TSBEULER);
    Matrix A = matrix(da, MATAIJ);
    x = make_vector(da);
    if (has_own) PetscCall(TSSetIFunction(ts, NULL, twice, NULL));
    if (has_own) PetscCall(TSSetIJacobian(ts, A, A, twice_shift, NULL));
    PetscCall(TSSetMaxSteps(ts, 1));
    PetscCall(DMDAEquationComputeInitial(da, x));
    PetscCall(TSSolve(ts, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const std::string multigrid = " -pc_type mg -pc_mg_levels 2";
  for (const std::string type : {"beuler", "cn", "bdf", "arkimex -ts_arkimex_fully_implicit"}) {
    INFO(type);
    Vector x, expected;
    OK(step("-pc_type jacobi -ts_type " + type, false, expected));
    OK(step("-ts_type " + type + multigrid, false, x));
    CHECK(difference(x, expected) < 1e-9);
  }
  for (const std::string type : {"rosw", "eimex", "alpha", "pseudo", "arkimex"})
    for (const std::string &set : {multigrid, std::string(" -snes_type fas -snes_fas_levels 2")}) {
      if (set != multigrid && type != "alpha" && type != "pseudo") continue;
      INFO(type << set);
      Vector x;
      EXPECT_ERROR(PETSC_ERR_SUP, ({"-ts_type " + type, "-pc_mg_galerkin", "bdf"}),
                   [&] { return step("-ts_type " + type + set, false, x); });
    }
  Vector x, expected;
  OK(step("-pc_type jacobi", true, expected));
  OK(step(multigrid + " -pc_mg_galerkin", true, x));
  CHECK(difference(x, expected) < 1e-9);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"-pc_mg_galerkin"}), [&] { return step(multigrid, true, x); });
}

// A row's scale is sampled for multigrid alone.
TEST_CASE("a rate whose field depends on the time takes no more reductions", "[equations]") {
  if (!equations_work()) return;
  Options        options("-ts_adapt_type none");
  PetscLogDouble reductions[2];
  for (int varies = 0; varies < 2; varies++) {
    Lattice l;
    Grid    da;
    OK(make_grid(l, nullptr, &da));
    set_equation(da, std::string("identity(sides) = 0\nfield(k) = 1 + 0.1 * sin(x") + (varies ? " + t" : "") +
                         ")\nrate = 0.05 * k * laplacian(u)");
    auto   ts = stepper(da, TSRK);
    Vector u = random_vector(da, 1);
    OK(TSSetUp(ts));
    reductions[varies] = -petsc_allreduce_ct;
    OK(TSSolve(ts, u));
    reductions[varies] += petsc_allreduce_ct;
  }
  CHECK(reductions[1] == reductions[0]);
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
        PetscReal time;
        OK(DMDAEquationGetTime(da, &time));
        CHECK(time == (change == 3 ? 7 : 0));
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

TEST_CASE("values and slopes that are not finite are an error in each solve, with their line", "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  Grid    da, rate;
  OK(make_grid(l, nullptr, &da));
  OK(make_grid(l, nullptr, &rate));
  set_equation(da, "// a root\nresidual = sqrt(u) - laplacian(u) - 1");
  set_equation(rate, "// a root\nrate = sqrt(u) - 1");
  Owned<SNES, SNESDestroy> snes;
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, da));
  OK(SNESSetTolerances(snes, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 1, PETSC_DEFAULT));
  const auto solve_from = [&](PetscReal value) {
    Vector u = make_vector(da); // an error leaves it locked
    OK(VecSet(u, value));
    return SNESSolve(snes, NULL, u);
  };
  OK(solve_from(1));
  EXPECT_ERROR(PETSC_ERR_FP, ({"equation:2", "residual of u is nan", "u = -1"}), [&] { return solve_from(-1); });
  OK(solve_from(1));
  EXPECT_ERROR(PETSC_ERR_FP, ({"equation:2", "derivative of the residual of u is inf", "u = 0"}),
               [&] { return solve_from(0); });
  for (const char *type : {TSRK, TSBEULER}) {
    INFO(type);
    auto       ts = stepper(rate, type);
    const auto steps_from = [&](PetscReal value) {
      Vector u = make_vector(rate), v = make_vector(rate);
      OK(VecSet(u, value));
      return steps(ts, u, v);
    };
    OK(steps_from(4));
    EXPECT_ERROR(PETSC_ERR_FP, ({"equation:2", "rate of u is nan", "u = -1"}), [&] { return steps_from(-1); });
  }
}

TEST_CASE("transposes of Jacobians: products, biconjugate gradients and adjoints in time", "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  Grid    da;
  OK(make_grid(l, nullptr, &da));
  for (const char *type : {MATAIJ, MATSTENCILSHELL}) {
    INFO(type);
    OK(DMSetMatType(da, type));
    set_equation(da, "residual = -laplacian(u) + u(1, 0) * dx(u) + 3 * exp(u(0, -1))");
    Vector u = random_vector(da, 1), v = random_vector(da, 2), w = random_vector(da, 3), x = make_vector(da),
           y = make_vector(da);
    Matrix      J = jacobian(da, u, type);
    PetscScalar left, right;
    OK(MatMult(J, v, x));
    OK(MatMultTranspose(J, w, y));
    OK(VecDot(x, w, &left));
    OK(VecDot(v, y, &right));
    CHECK(PetscAbsScalar(left - right) < 1e-12 * PetscAbsScalar(left));
    Solver ksp;
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetType(ksp, KSPBICG));
    OK(KSPSetOperators(ksp, J, J));
    OK(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PC pc;
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, PCJACOBI));
    OK(KSPSolve(ksp, x, y));
    CHECK(difference(y, v) < 1e-9);
  }
  // the gradient of half the square of the last state, along a direction
  for (const char *type : {TSRK, TSCN})
    for (const char *mat_type : {MATAIJ, MATSTENCILSHELL}) {
      INFO(type << " " << mat_type);
      Options options(
          "-ts_adapt_type none -snes_rtol 1e-12 -ksp_rtol 1e-12 -pc_type jacobi -ts_trajectory_type memory");
      Grid grid;
      OK(make_grid(l, nullptr, &grid));
      OK(DMSetMatType(grid, mat_type));
      set_equation(grid, in_time);
      auto   ts = stepper(grid, type);
      Vector u = random_vector(grid, 1), v = random_vector(grid, 2), x = make_vector(grid), from = copy_of(u);
      Matrix J = matrix(grid, mat_type);
      OK(TSSetSaveTrajectory(ts));
      if (std::string(type) == TSRK) OK(TSSetRHSJacobian(ts, J, J, NULL, NULL)); // PETSc makes none for an explicit TS
      OK(steps(ts, u, x));
      Vector      gradient = copy_of(x);
      Vec         lambda = gradient;
      PetscScalar slope;
      OK(TSSetCostGradients(ts, 1, &lambda, NULL));
      OK(TSAdjointSolve(ts));
      OK(VecDot(v, gradient, &slope));
      PetscReal       half[2];
      const PetscReal step = 1e-5;
      for (int side = 0; side < 2; side++) {
        PetscReal norm;
        OK(VecWAXPY(from, side ? step : -step, v, u));
        OK(steps(stepper(grid, type), from, x));
        OK(VecNorm(x, NORM_2, &norm));
        half[side] = norm * norm / 2;
      }
      CHECK(PetscAbsReal(PetscRealPart(slope) * 2 * step / (half[1] - half[0]) - 1) < 1e-6);
    }
}

TEST_CASE("the state that identity sides give changes no later one: gradients and sensitivities", "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  for (const char *type : {TSRK, TSCN})
    for (const bool forward : {false, true}) {
      INFO(type << (forward ? ", forward" : ", backward"));
      Options options("-ts_adapt_type none -snes_rtol 1e-12 -ksp_rtol 1e-12 -pc_type jacobi -ts_trajectory_type memory "
                      "-ts_exact_final_time stepover");
      Grid    grid;
      OK(make_grid(l, nullptr, &grid));
      set_equation(grid, "rate = 0.05 * laplacian(u) - u * dx(u)\nidentity(left) = 0.5 + y\nidentity(top) = 1");
      auto   ts = stepper(grid, type);
      Vector u = random_vector(grid, 1), v = random_vector(grid, 2), w = random_vector(grid, 3), x = make_vector(grid),
             from = copy_of(u);
      Matrix      J = matrix(grid, MATAIJ), S;
      Vec         column;
      PetscScalar slope, value[2];
      PetscInt    owned;
      OK(VecGetLocalSize(u, &owned));
      OK(TSSetRHSJacobian(ts, J, J, NULL, NULL));
      if (forward) {
        OK(MatCreateDense(PETSC_COMM_WORLD, owned, PETSC_DECIDE, PETSC_DETERMINE, 1, NULL, &S));
        OK(MatDenseGetColumnVecWrite(S, 0, &column));
        OK(VecCopy(v, column));
        OK(MatDenseRestoreColumnVecWrite(S, 0, &column));
        OK(MatAssemblyBegin(S, MAT_FINAL_ASSEMBLY));
        OK(MatAssemblyEnd(S, MAT_FINAL_ASSEMBLY));
        OK(TSForwardSetSensitivities(ts, 1, S));
        OK(steps(ts, u, x));
        OK(MatDenseGetColumnVecRead(S, 0, &column));
        OK(VecTDot(column, w, &slope));
        OK(MatDenseRestoreColumnVecRead(S, 0, &column));
      } else {
        Vector gradient = copy_of(w);
        Vec    lambda = gradient;
        OK(TSSetSaveTrajectory(ts));
        OK(steps(ts, u, x));
        OK(TSSetCostGradients(ts, 1, &lambda, NULL));
        OK(TSAdjointSolve(ts));
        OK(VecTDot(v, gradient, &slope));
      }
      const PetscReal step = 1e-5;
      for (int side = 0; side < 2; side++) {
        OK(VecWAXPY(from, side ? step : -step, v, u));
        OK(steps(stepper(grid, type), from, x));
        OK(VecTDot(x, w, &value[side]));
      }
      CHECK(PetscAbsScalar(slope * 2. * step / (value[1] - value[0]) - 1.) < 1e-6);
    }
}
