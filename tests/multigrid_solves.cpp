// Solves with stencilmg: full multigrid, Richardson's method, single precision, changes after set-up, failures.

#include "catch.hpp"

#include "gpu.hpp"
#include "multigrid.hpp"

using namespace tests;

TEST_CASE("full multigrid solves to discretisation error at once", "[multigrid]") {
  PetscReal before = 0;
  for (PetscInt N : {63, 127, 255, 511}) {
    const Problem p = problem(2, N, N);
    Grid          da = make_grid(p);
    Matrix        A = make_operator(p, da);
    Vector        b = make_vector(da), u = make_vector(da);
    const auto    f = [&](const PetscInt q[3]) {
      return (PetscScalar)(PetscSinReal(PETSC_PI * p.coordinate(0, q[0])) *
                           PetscSinReal(2 * PETSC_PI * p.coordinate(1, q[1])));
    };
    set_values(da, u, f);
    set_values(da, b, [&](const PetscInt q[3]) { return 5 * PETSC_PI * PETSC_PI * f(q); });
    Preconditioner  pc = make_pc(A, std::string("-test_pc_stencilmg_type full") + small_last_level);
    const PetscReal error = difference(apply(pc, b), u);
    const PetscReal h = p.spacing(0),
                    discretisation = 17. / 60 * PETSC_PI * PETSC_PI * h * h; // (a^4 + b^4) / 12 (a² + b²)
    INFO("N = " << N << ", error " << error);
    CHECK(error <= 1.5 * discretisation);
    if (before > 0) CHECK(error <= before / 3.5); // second order
    before = error;
  }
}

TEST_CASE("Richardson's method inside the preconditioner is the same as outside", "[multigrid]") {
  for (const auto &N : {Point{200, 170, 1}, Point{20, 18, 16}, Point{901, 500, 1}}) {
    Problem p = problem(N[2] > 1 ? 3 : 2, N[0], N[1], N[2]);
    Grid    da = make_grid(p);
    Matrix  A = make_operator(p, da);
    Vector  b = random_vector(da, 5), inside = make_vector(da), outside = make_vector(da);
    for (const char *options :
         {"-test_ksp_rtol 1e-8", "-test_ksp_rtol 1e-3 -test_ksp_initial_guess_nonzero", "-test_ksp_max_it 2"}) {
      INFO(describe(p));
      INFO(options);
      Options            set(std::string(options) +
                             " -test_ksp_type richardson -test_pc_type stencilmg -test_ksp_norm_type unpreconditioned");
      PetscInt           its[2];
      KSPConvergedReason reasons[2];
      for (int way = 0; way < 2; way++) {
        Vec    x = way ? outside : inside;
        Solver ksp = make_solver(A);
        // a monitor, here one that says nothing, keeps PETSc from asking the preconditioner
        if (way)
          OK(KSPMonitorSet(
              ksp, [](KSP, PetscInt, PetscReal, void *) { return (PetscErrorCode)0; }, NULL, NULL));
        OK(VecSet(x, 0.25));
        OK(KSPSolve(ksp, b, x));
        OK(KSPGetIterationNumber(ksp, &its[way]));
        OK(KSPGetConvergedReason(ksp, &reasons[way]));
      }
      CHECK(its[0] == its[1]);
      CHECK(reasons[0] == reasons[1]);
      CHECK(difference(inside, outside) <= 1e-11);
    }
  }
}

TEST_CASE("Richardson's method takes a few cycles after full multigrid in three dimensions", "[multigrid]") {
  std::vector<Point> sizes = {{33, 31, 35}};
  if (!no_gpu(false)) sizes.push_back({105, 103, 101}); // large levels take other passes on a GPU
  for (const Point &N : sizes)
    for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_NEUMANN})
      for (int smooths : {2, 1, 3}) {
        Problem p = problem(3, N[0], N[1], N[2]);
        p.boundary = form;
        p.sigma = form == MAT_LAPLACE_NEUMANN ? 1 : 0;
        INFO(describe(p) << ", smoothing steps " << smooths);
        Grid       da = make_grid(p);
        Matrix     A = make_operator(p, da);
        Vector     b = random_vector(da, 5), x = make_vector(da);
        const auto count = std::to_string(smooths);
        Options    set("-test_ksp_type richardson -test_ksp_norm_type unpreconditioned -test_ksp_rtol 1e-8 "
                          "-test_pc_type stencilmg -test_pc_stencilmg_type full -test_pc_stencilmg_smooths " +
                       count);
        PetscInt   its;
        Solver     ksp = make_solver(A);
        OK(KSPSolve(ksp, b, x));
        OK(KSPGetIterationNumber(ksp, &its));
        CHECK(relative_residual(A, b, x) <= 1e-8);
        CHECK(its <= (smooths == 1 ? 8 : 6));
      }
}

TEST_CASE("Richardson's method over another operator does all cycles from its first iteration on", "[multigrid]") {
  Problem p = problem(2, 50, 41);
  Grid    da = make_grid(p);
  Matrix  P = make_operator(p, da);
  p.sigma = 20;
  Matrix A = make_operator(p, da);
  Vector b = random_vector(da, 5), x = make_vector(da);
  for (const char *cycles :
       {"-test_pc_stencilmg_multiplicative_cycles 1", "-test_pc_stencilmg_multiplicative_cycles 3"}) {
    INFO(cycles);
    Preconditioner pc = make_pc(P, cycles);
    const Options  set(std::string(cycles) + " -test_ksp_type richardson -test_ksp_max_it 1 -test_ksp_norm_type none");
    Solver         ksp;
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOptionsPrefix(ksp, "test_"));
    OK(KSPSetOperators(ksp, A, P));
    PC inner;
    OK(KSPGetPC(ksp, &inner));
    OK(PCSetType(inner, PCSTENCILMG));
    OK(KSPSetFromOptions(ksp));
    OK(KSPSolve(ksp, b, x));
    CHECK(difference(x, apply(pc, b)) <= exact);
  }
}

TEST_CASE("single precision corrects as well as double", "[multigrid]") {
  for (const auto &N : {Point{200, 150, 1}, Point{24, 20, 18}, Point{10, 6, 1}}) {
    Problem p = problem(N[2] > 1 ? 3 : 2, N[0], N[1], N[2]);
    INFO(describe(p));
    Grid           da = make_grid(p);
    Matrix         A = make_operator(p, da);
    Preconditioner single = make_pc(A, "-test_pc_stencilmg_precision single");
    CHECK(worst_reduction(A, single, da, 6) <= 0.1);
    Preconditioner twice = make_pc(A, "-test_pc_stencilmg_precision single -test_pc_stencilmg_multiplicative_cycles 2");
    CHECK(worst_reduction(A, twice, da, 3) <= 0.01);
  }
}

TEST_CASE("matrices that a program assembles get the same cycles", "[multigrid]") {
  for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN})
    for (const char *compress : {"-mat_stencil_compress automatic", "-mat_stencil_compress arrays"}) {
      Options set(compress);
      Problem p = problem(2, 70, 45);
      p.boundary = form;
      p.sigma = 2;
      INFO(describe(p));
      INFO(compress);
      Grid   da = make_grid(p);
      Matrix A = make_operator(p, da), captured;
      OK(DMSetMatType(da, MATSTENCILSHELL));
      OK(DMCreateMatrix(da, &captured));
      assemble(p, da, captured);
      Preconditioner pc = make_pc(A), of_captured = make_pc(captured);
      Vector         b = random_vector(da, 6);
      CHECK(difference(apply(of_captured, b), apply(pc, b)) <= 1e-12);
    }
}

TEST_CASE("a preconditioner follows its operator", "[multigrid]") {
  Problem p = problem(2, 40, 30);
  p.sigma = 1;
  Grid           da = make_grid(p);
  Matrix         A = make_operator(p, da);
  Preconditioner pc = make_pc(A);
  Vector         b = random_vector(da, 7);
  OK(MatHelmholtzSetShift(A, 500));
  OK(PCSetUp(pc));
  p.sigma = 500;
  Matrix         B = make_operator(p, da);
  Preconditioner fresh = make_pc(B);
  CHECK(difference(apply(pc, b), apply(fresh, b)) <= exact);
  OK(MatScale(A, -2));
  OK(PCSetUp(pc));
  Vector x = apply(pc, b), y = apply(fresh, b);
  OK(VecScale(y, -0.5));
  CHECK(difference(x, y) <= exact);
  OK(PCSetType(pc, PCJACOBI)); // and another type, and back
  OK(PCSetUp(pc));
  OK(PCSetType(pc, PCSTENCILMG));
  OK(PCSetUp(pc));
  CHECK(difference(apply(pc, b), x) <= exact);
}

TEST_CASE("a small shift is not taken for none", "[multigrid]") {
  Problem p = problem(2, 256, 256);
  p.ends[0] = p.ends[1] = DM_BOUNDARY_PERIODIC;
  p.sigma = 5e-5;
  Grid     da = make_grid(p);
  Matrix   A = make_operator(p, da);
  Vector   b = make_vector(da), x = make_vector(da);
  PetscInt iterations;
  OK(VecSet(b, 1));
  CHECK(solve(A, b, x, "-test_ksp_type richardson -test_ksp_norm_type unpreconditioned", &iterations) > 0);
  CHECK(iterations <= 2);
  OK(VecShift(x, -1 / p.sigma));
  PetscReal off;
  OK(VecNorm(x, NORM_INFINITY, &off));
  CHECK(off <= 1e-4 / PetscRealPart(p.sigma));
}

TEST_CASE("options that change after set-up hold from then on", "[multigrid]") {
  const Problem  p = problem(2, 300, 200);
  Grid           da = make_grid(p);
  Matrix         A = make_operator(p, da);
  Vector         b = random_vector(da, 9);
  Preconditioner pc = make_pc(A, "-test_pc_stencilmg_smooths 2"), fresh = make_pc(A, "-test_pc_stencilmg_cycle_type w");
  apply(pc, b);
  {
    Options set("-test_pc_stencilmg_smooths 0 -test_pc_stencilmg_cycle_type w");
    OK(PCSetFromOptions(pc));
  }
  CHECK(difference(apply(pc, b), apply(fresh, b)) == 0);
}

TEST_CASE("Richardson's method gives the right reasons", "[multigrid]") {
  const Problem     p = problem(2, 100, 90);
  Grid              da = make_grid(p);
  Matrix            A = make_operator(p, da);
  Vector            b = make_vector(da), x = random_vector(da, 10);
  PetscInt          iterations;
  const std::string options =
      std::string("-test_ksp_type richardson -test_ksp_norm_type unpreconditioned") + small_last_level;
  OK(VecSet(b, 0));
  CHECK(solve(A, b, x, options + " -test_ksp_initial_guess_nonzero", &iterations) == KSP_CONVERGED_RTOL);
  CHECK(iterations > 0);
  OK(VecSet(b, 1e308));
  CHECK(solve(A, b, x, options, &iterations) < 0);
}

TEST_CASE("a singular last level is a failed preconditioner, not an error", "[multigrid]") {
  Problem p = problem(1, 4);
  p.ends[0] = DM_BOUNDARY_PERIODIC;
  p.sigma = -2 / (p.spacing(0) * p.spacing(0)); // an eigenvalue of -Δ, negated
  Grid da;
  if (!try_make_grid(p, &da)) return;
  Matrix   A = make_operator(p, da);
  Vector   b = random_vector(da, 11), x = make_vector(da);
  PetscInt iterations;
  CHECK(solve(A, b, x, "-test_ksp_type gmres", &iterations) == KSP_DIVERGED_PC_FAILED);
  Preconditioner pc = make_pc(A);
  PCFailedReason reason;
  OK(PCGetFailedReason(pc, &reason));
  CHECK(reason != PC_NOERROR);
  OK(MatHelmholtzSetShift(A, 1)); // and a good one after it
  OK(PCSetUp(pc));
  OK(PCGetFailedReason(pc, &reason));
  CHECK(reason == PC_NOERROR);
}

TEST_CASE("a zero matrix is a failed preconditioner for every method, and a good one after it is none", "[multigrid]") {
  for (const char *method :
       {"gmres", "cg", "minres", "richardson", "richardson -test_ksp_norm_type unpreconditioned"}) {
    INFO(method);
    Options set(std::string("-test_pc_type stencilmg -test_ksp_type ") + method);
    Lattice l = lattice({33, 33, 1});
    Grid    da;
    Matrix  A;
    Solver  ksp;
    REQUIRE(try_make_grid(l, &da));
    OK(DMSetMatType(da, MATSTENCILSHELL));
    OK(DMCreateMatrix(da, &A));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOptionsPrefix(ksp, "test_"));
    OK(KSPSetFromOptions(ksp));
    Vector b = random_vector(da, 12), x = make_vector(da);
    for (PetscReal scale : {1., 0., 2., 0., 1.}) {
      KSPConvergedReason reason;
      set_rows(
          da, A,
          [=](const PetscInt *, const PetscInt arm[3], PetscScalar *block) {
            *block = scale * (arm[0] || arm[1] ? -1 : 4);
          },
          Way::stencil, INSERT_VALUES);
      assemble(A);
      OK(KSPSetOperators(ksp, A, A)); // without it PETSc goes on with what has failed, PCLU's factors too
      OK(KSPSolve(ksp, b, x));
      OK(KSPGetConvergedReason(ksp, &reason));
      if (scale == 0)
        CHECK(reason == KSP_DIVERGED_PC_FAILED);
      else
        CHECK(reason > 0);
    }
  }
}
