// Burgers' equation: the Jacobian and implicit methods.

#include "burgers_support.hpp"

using namespace tests;

#if !defined(PETSC_USE_COMPLEX)

TEST_CASE("the Jacobian is the derivative, as a product and assembled", "[burgers]") {
  int turn = 0;
  for (PetscInt M : {0, 7})
    for (const char *flux : fluxes)
      for (int r = 0; r < 4; r++)
        for (const char *boundary : boundaries) {
          const PetscInt N = M ? 12 * rank_count() : 41;
          if (M && rank_count() > 2 && r == 3) continue; // may be too few cells along one of the axes
          if (M && !fits(M, radii[r] * (rank_count() > 2 ? 2 : 1))) continue;
          if (!fits(N, radii[r]) || is_left_out(turn++)) continue;
          Run run(PETSC_COMM_WORLD, N, !strcmp(boundary, "periodic"),
                  std::string("-burgers_check_interval 0 -burgers_viscosity 0.1 -burgers_flux ") + flux +
                      (strcmp(flux, "lax_friedrichs") ? "" : " -burgers_speed 2") + " -burgers_reconstruct " +
                      reconstructions[r] + " -burgers_bc " + boundary,
                  M);
          INFO(flux << ' ' << reconstructions[r] << ' ' << boundary << (M ? ", 2-D" : ", 1-D"));
          OK(VecDestroy(&run.u));
          run.u = random_vector(run.da, 1); // no kink within the difference
          Vector v = random_vector(run.da, 2), plus = copy_of(run.u), minus = copy_of(run.u), up, down, y, z;
          OK(VecDuplicate(v, &up));
          OK(VecDuplicate(v, &down));
          OK(VecDuplicate(v, &y));
          OK(VecDuplicate(v, &z));
          const PetscReal eps = 1e-6;
          OK(VecAXPY(plus, eps, v));
          OK(VecAXPY(minus, -eps, v));
          OK(TSComputeRHSFunction(run.ts, 0, plus, up));
          OK(TSComputeRHSFunction(run.ts, 0, minus, down));
          OK(VecAXPY(up, -1, down));
          OK(VecScale(up, 1 / (2 * eps)));
          Mat J;
          OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
          OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
          OK(MatMult(J, v, y));
          CHECK(difference(y, up) < 2e-6);
          OK(MatScale(J, -1));
          OK(MatShift(J, 3));
          OK(MatMult(J, v, y));
          Matrix aij;
          OK(MatConvert(J, MATAIJ, MAT_INITIAL_MATRIX, &aij));
          Vector v_host, z_host;
          OK(MatCreateVecs(aij, &v_host, &z_host));
          OK(VecCopy(v, v_host));
          OK(MatMult(aij, v_host, z_host));
          OK(VecCopy(z_host, z));
          CHECK(difference(y, z) <= 100 * exact);
          OK(MatGetDiagonal(J, y));
          OK(MatGetDiagonal(aij, z_host));
          OK(VecCopy(z_host, z));
          CHECK(difference(y, z) <= 100 * exact);
        }
}

TEST_CASE("any type of TS steps it", "[burgers]") {
  const PetscInt  N = 60 * rank_count();
  const auto      initial = [&](PetscInt i) { return std::sin(2 * pi * (i + 0.5) / N); };
  const PetscReal h = 2 * pi / N;
  Run reference(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.05 -ts_type rk -ts_rtol 1e-9 -ts_atol 1e-9");
  reference.start(initial);
  reference.until(0.6, 0.05 * h);
  for (const char *type :
       {"euler -ts_adapt_type cfl", "ssp", "rk", "beuler", "cn", "bdf", "rosw", "arkimex -ts_arkimex_fully_implicit",
        "arkimex", "beuler -pc_type jacobi", "beuler -burgers_jacobian aij", "cn -burgers_jacobian shell_aij",
        "burgersfused -ts_adapt_type cfl -burgers_fused_steps 5"}) {
    Run run(PETSC_COMM_WORLD, N, true, std::string("-burgers_viscosity 0.05 -ts_type ") + type);
    run.start(initial);
    run.until(0.6, 0.1 * h);
    INFO(type);
    CHECK(mean_difference(run.all(), reference.all()) < 0.02);
  }
}

TEST_CASE("implicit steps beyond the explicit bound", "[burgers]") {
  const PetscInt N = 100 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.01 -ts_type beuler -snes_monitor_cancel");
  PetscReal      bound;
  run.start([&](PetscInt i) { return 0.5 + std::sin(2 * pi * (i + 0.5) / N); });
  OK(TSBurgersGetTimeStepBound(run.ts, run.u, &bound));
  const PetscReal sum = total(run.all());
  run.step(10, 4 * bound);
  CHECK(std::fabs(total(run.all()) - sum) < 1e-4 * N);
  CHECK(variation(run.all(), true) < 4);
}

TEST_CASE("the Jacobian outlives its TS", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  Matrix         kept;
  Vector         v, y, before;
  {
    Run run(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.1");
    Mat J;
    run.start([&](PetscInt i) { return wavy(i, N); });
    v = random_vector(run.da, 1);
    y = make_vector(run.da);
    before = make_vector(run.da);
    OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
    OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
    OK(MatMult(J, v, before));
    OK(PetscObjectReference((PetscObject)J));
    *&kept = J;
  }
  OK(MatMult(kept, v, y));
  CHECK(difference(y, before) == 0);
}

TEST_CASE("a duplicate and a copy of the Jacobian are matrices of their own", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.1 -burgers_reconstruct minmod");
  Vector         v = random_vector(run.da, 1), y = make_vector(run.da), before = make_vector(run.da);
  Matrix         twin, zero, aij;
  Mat            J;
  run.start([&](PetscInt i) { return wavy(i, N); });
  OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
  OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
  OK(MatScale(J, 2));
  OK(MatShift(J, 3));
  OK(MatMult(J, v, before));
  OK(MatDuplicate(J, MAT_COPY_VALUES, &twin));
  OK(MatDuplicate(J, MAT_DO_NOT_COPY_VALUES, &zero));
  OK(MatMult(twin, v, y));
  CHECK(difference(y, before) == 0);
  OK(MatMult(zero, v, y));
  PetscReal norm;
  OK(VecNorm(y, NORM_INFINITY, &norm));
  CHECK(norm == 0);
  OK(MatCopy(J, zero, SAME_NONZERO_PATTERN));
  OK(MatCopy(J, J, SAME_NONZERO_PATTERN));
  for (Mat other : {(Mat)twin, (Mat)zero}) { // each with a scale of its own
    OK(MatScale(other, -4));
    OK(MatMult(J, v, y));
    CHECK(difference(y, before) == 0);
    OK(MatMult(other, v, y));
    OK(VecScale(y, -0.25));
    CHECK(difference(y, before) <= 10 * exact);
  }
  OK(MatConvert(J, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  OK(MatCopy(twin, aij, SAME_NONZERO_PATTERN));
  Vector v_host, y_host;
  OK(MatCreateVecs(aij, &v_host, &y_host));
  OK(VecCopy(v, v_host));
  OK(MatMult(aij, v_host, y_host));
  OK(VecCopy(y_host, y));
  OK(VecScale(y, -0.25));
  CHECK(difference(y, before) <= 100 * exact);
  OK(VecScale(run.u, -2)); // and with a state of its own
  OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
  OK(MatScale(twin, -0.25));
  OK(MatMult(twin, v, y));
  CHECK(difference(y, before) <= 10 * exact);
  OK(MatMult(J, v, y));
  CHECK(difference(y, before) > 1e-3);
}

TEST_CASE("the Jacobian of another equation becomes that of the TS that computes it", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.1");
  Run            other(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.7");
  Vector         v = random_vector(run.da, 1), y = make_vector(run.da), expected = make_vector(run.da);
  Matrix         blank, entries;
  Mat            J, K;
  PetscReal      norm;
  for (Run *r : {&run, &other}) r->start([&](PetscInt i) { return wavy(i, N); });
  OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
  OK(TSGetRHSJacobian(other.ts, &K, NULL, NULL, NULL));
  OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
  OK(TSComputeRHSJacobian(other.ts, 0, other.u, K, K));
  OK(MatMult(J, v, expected));
  OK(MatCopy(K, J, SAME_NONZERO_PATTERN));
  OK(MatMult(J, v, y));
  CHECK(difference(y, expected) > 1e-3);
  for (PetscReal factor : {2., 0.5}) OK(VecScale(run.u, factor)); // TS computes it anew
  OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
  OK(MatMult(J, v, y));
  CHECK(difference(y, expected) == 0);
  OK(MatDuplicate(J, MAT_DO_NOT_COPY_VALUES, &blank));
  OK(MatShift(blank, 2));
  OK(MatConvert(blank, MATAIJ, MAT_INITIAL_MATRIX, &entries));
  OK(MatNorm(entries, NORM_INFINITY, &norm));
  CHECK(norm == 2);
}

TEST_CASE("a duplicate of the Jacobian outlives it and its TS", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  Matrix         twin;
  Vector         v, y, before;
  {
    Run run(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.1");
    Mat J;
    run.start([&](PetscInt i) { return wavy(i, N); });
    v = random_vector(run.da, 1);
    y = make_vector(run.da);
    before = make_vector(run.da);
    OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
    OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
    OK(MatMult(J, v, before));
    OK(MatDuplicate(J, MAT_COPY_VALUES, &twin));
  }
  OK(MatMult(twin, v, y));
  CHECK(difference(y, before) == 0);
}

TEST_CASE("the Jacobian multiplies vectors on the host, on all ranks or on one", "[burgers]") {
  for (PetscInt M : {0, 16}) {
    const PetscInt N = 30 * rank_count();
    Run            run(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.1 -burgers_reconstruct minmod", M);
    Vector         v = random_vector(run.da, 1), y = make_vector(run.da), expected = make_vector(run.da);
    Mat            J;
    run.start([&](PetscInt i) { return wavy(i, N); });
    OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
    OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
    OK(MatMult(J, v, expected));
    PetscMPIInt rank;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    for (int how = 0; how < 6; how++) { // v or y, on all ranks or on the first; then where they were
      const bool of_v = how % 2 == 0, here = how < 2 || (how < 4 && rank == 0);
      Vec        moved = of_v ? v : y;
      INFO(how << (M ? ", 2-D" : ", 1-D"));
      if (here) OK(VecBindToCPU(moved, PETSC_TRUE));
      OK(MatMult(J, v, y));
      if (here) OK(VecBindToCPU(moved, PETSC_FALSE));
      CHECK(difference(y, expected) <= 10 * exact);
    }
  }
}

TEST_CASE("the assembled Jacobian is of the DM's kind of AIJ", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  const bool     several = rank_count() > 1;
  const struct {
    const char *asked, *made;
  } kinds[] = {{"aijperm", several ? MATMPIAIJPERM : MATSEQAIJPERM},
               {"aij", NULL},   // of the vectors' kind
               {"baij", NULL}}; // in 2-D, as PETSc has none in 1-D
  for (const auto &kind : kinds) {
    Options     set(std::string("-dm_mat_type ") + kind.asked);
    Run         run(PETSC_COMM_WORLD, N, true, "-ts_type beuler -burgers_jacobian aij -burgers_viscosity 0.1", 16);
    Mat         P;
    MatType     type;
    VecType     vec_type;
    std::string expected = several ? "mpiaij" : "seqaij";
    OK(VecGetType(run.u, &vec_type));
    if (strstr(vec_type, "cuda")) expected += "cusparse";
    if (kind.made) expected = kind.made;
    run.start([&](PetscInt i) { return wavy(i, N); });
    OK(TSGetRHSJacobian(run.ts, NULL, &P, NULL, NULL));
    OK(MatGetType(P, &type));
    CHECK(type == expected);
    run.step(2, 0.01);
  }
}

TEST_CASE("what needs the entries of the Jacobian names the option that gives them", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  for (const char *pc : {"lu", "ilu", "sor", "mg", "asm", "stencilmg"}) {
    if (rank_count() > 1 && !strcmp(pc, "mg")) continue; // for its coarsest level the default there is redundant
    Run run(PETSC_COMM_WORLD, N, true, "-ts_type beuler");
    run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
    INFO(pc);
    Options set(std::string("-pc_type ") + pc);
    EXPECT_ERROR((PetscErrorCode)0, ({"Jacobian", "-burgers_jacobian shell_aij"}), [&] {
      PetscFunctionBeginUser;
      PetscCall(TSSetFromOptions(run.ts));
      PetscCall(solve(run, 2, 1e-2));
      PetscFunctionReturn((PetscErrorCode)0);
    });
  }
}

TEST_CASE("the Jacobian follows a change of settings", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  for (const char *type : {"shell", "aij"}) {
    const std::string text = std::string("-ts_type beuler -burgers_jacobian ") + type;
    Run               changed(PETSC_COMM_WORLD, N, true, text),
        fresh(PETSC_COMM_WORLD, N, true, text + " -burgers_viscosity 0.1 -burgers_reconstruct vanleer");
    Mat    J[2];
    Vector v = random_vector(changed.da, 3), y = make_vector(changed.da), expected = make_vector(changed.da);
    int    k = 0;
    for (Run *run : {&changed, &fresh}) {
      run->start([&](PetscInt i) { return wavy(i, N); });
      OK(TSSetSolution(run->ts, run->u));
      OK(TSGetRHSJacobian(run->ts, &J[k], NULL, NULL, NULL));
      OK(TSComputeRHSJacobian(run->ts, 0, run->u, J[k], J[k]));
      k++;
    }
    OK(MatMult(J[1], v, expected));
    OK(MatMult(J[0], v, y));
    INFO(type);
    CHECK(difference(y, expected) > 1e-3);
    OK(TSBurgersSetViscosity(changed.ts, 0.1));
    OK(TSBurgersSetReconstruction(changed.ts, TS_BURGERS_VANLEER));
    if (!strcmp(type, "shell")) { // also between two calls of TSComputeRHSJacobian()
      OK(MatMult(J[0], v, y));
      CHECK(difference(y, expected) == 0);
    }
    OK(TSComputeRHSJacobian(changed.ts, 0, changed.u, J[0], J[0]));
    OK(MatMult(J[0], v, y));
    CHECK(difference(y, expected) == 0);
  }
}

TEST_CASE("the Jacobian's matrices follow TSReset(), a longer reconstruction and explicit steps", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  for (const char *type : {"shell", "aij", "shell_aij"})
    for (const char *before : {"TSReset()", "nothing", "explicit steps"}) {
      INFO(type << " after " << before);
      const std::string text = std::string("-snes_rtol 1e-10 -pc_type none -burgers_jacobian ") + type + " -ts_type ";
      const bool        is_explicit = !strcmp(before, "explicit steps");
      Run               changed(PETSC_COMM_WORLD, N, true, text + (is_explicit ? "arkimex" : "beuler")),
          fresh(PETSC_COMM_WORLD, N, true, text + "beuler -burgers_reconstruct weno5");
      for (Run *run : {&changed, &fresh}) run->start([&](PetscInt i) { return wavy(i, N); });
      changed.step(1, 1e-3);
      changed.start([&](PetscInt i) { return wavy(i, N); });
      if (!strcmp(before, "TSReset()")) OK(TSReset(changed.ts));
      OK(TSBurgersSetReconstruction(changed.ts, TS_BURGERS_WENO5));
      OK(TSSetType(changed.ts, TSBEULER));
      for (Run *run : {&changed, &fresh}) run->step(2, 1e-3);
      CHECK(difference(changed.u, fresh.u) <= 1e-9);
      SNES    snes;
      Mat     J[2];
      MatType types[2];
      OK(TSGetSNES(changed.ts, &snes));
      OK(SNESGetJacobian(snes, &J[0], NULL, NULL, NULL));
      OK(TSGetRHSJacobian(fresh.ts, &J[1], NULL, NULL, NULL));
      for (int k = 0; k < 2; k++) OK(MatGetType(J[k], &types[k]));
      CHECK(std::string(types[0]) == types[1]);
    }
}

TEST_CASE("gradients of steps by TSAdjointSolve()", "[burgers]") {
  const PetscInt  N = 20 * rank_count();
  const PetscReal eps = 1e-6;
  for (const char *type : {"shell", "aij"})
    for (const char *scheme : {"engquist_osher", "lax_friedrichs -burgers_reconstruct weno5"}) {
      INFO(type << ' ' << scheme);
      Options           memory("-ts_trajectory_type memory");
      const std::string text = std::string("-ts_type cn -snes_rtol 1e-11 -ksp_rtol 1e-11 -pc_type none "
                                           "-burgers_viscosity 0.05 -burgers_jacobian ") +
                               type + " -burgers_flux " + scheme;
      Run         run(PETSC_COMM_WORLD, N, true, text);
      Vector      v = random_vector(run.da, 2), from = random_vector(run.da, 1);
      PetscReal   speed, norm, half[2];
      PetscScalar slope;
      OK(VecNorm(from, NORM_INFINITY, &speed));
      OK(VecCopy(from, run.u));
      OK(TSSetSaveTrajectory(run.ts));
      run.step(4, 0.05);
      Vector gradient = copy_of(run.u);
      Vec    lambda = gradient;
      OK(TSSetCostGradients(run.ts, 1, &lambda, NULL));
      OK(TSAdjointSolve(run.ts));
      OK(VecDot(v, gradient, &slope));
      for (int side = 0; side < 2; side++) {
        Run beside(PETSC_COMM_WORLD, N, true, text);
        if (scheme[0] == 'l') OK(TSBurgersSetSpeed(beside.ts, speed)); // counts as a constant
        OK(VecWAXPY(beside.u, side ? eps : -eps, v, from));
        beside.step(4, 0.05);
        OK(VecNorm(beside.u, NORM_2, &norm));
        half[side] = norm * norm / 2;
      }
      CHECK(PetscAbsReal(PetscRealPart(slope) * 2 * eps / (half[1] - half[0]) - 1) < 1e-5);
    }
}

TEST_CASE("several TS take implicit steps on one DMDA", "[burgers]") {
  const PetscInt    N = 30 * rank_count();
  const char *const text = "-ts_type beuler -snes_rtol 1e-10 -burgers_viscosity 0.1";
  Run               first(PETSC_COMM_WORLD, N, true, text), alone(PETSC_COMM_WORLD, N, true, text);
  Vector            u = make_vector(first.da);
  for (Run *run : {&first, &alone}) run->start([&](PetscInt i) { return wavy(i, N); });
  OK(VecCopy(first.u, u));
  first.step(1, 1e-3);
  alone.step(2, 2e-3);
  {
    Stepper         second;
    Options         set(text);
    const PetscReal length = 2 * pi;
    OK(TSCreate(PETSC_COMM_WORLD, &second));
    OK(TSSetDM(second, first.da));
    OK(TSSetProblemType(second, TS_NONLINEAR));
    OK(TSSetBurgers(second));
    OK(TSBurgersSetLengths(second, 1, &length));
    OK(TSSetFromOptions(second));
    OK(TSSetTimeStep(second, 2e-3));
    OK(TSSetMaxSteps(second, 2));
    OK(TSSetMaxTime(second, 1));
    OK(TSSetExactFinalTime(second, TS_EXACTFINALTIME_MATCHSTEP));
    OK(TSSolve(second, u));
    CHECK(difference(u, alone.u) <= 1e-9);
  }
  first.start([&](PetscInt i) { return wavy(i, N); });
  first.step(2, 2e-3);
  CHECK(difference(first.u, alone.u) <= 1e-9);
}

#endif
