// The preconditioner stencilmg: what a cycle reduces, on any grid and any ranks; and what users are told.

#include "catch.hpp"
#include <memory>

#include "support.hpp"

using namespace tests;

using Preconditioner = Owned<PC, PCDestroy>;

static Preconditioner make_pc(Mat A, const std::string &options = "") {
  Options        set(options);
  Preconditioner pc;
  OK(PCCreate(PetscObjectComm((PetscObject)A), &pc));
  OK(PCSetOptionsPrefix(pc, "test_"));
  OK(PCSetOperators(pc, A, A));
  OK(PCSetType(pc, PCSTENCILMG));
  OK(PCSetFromOptions(pc));
  OK(PCSetUp(pc));
  return pc;
}

static Vector apply(PC pc, Vec b) {
  Vector x;
  OK(VecDuplicate(b, &x));
  OK(PCApply(pc, b, x));
  return x;
}

// |x·By - y·Bx| for two random vectors, relative to |x| |By|.
static PetscReal asymmetry(PC pc, DM da) {
  Vector      x = random_vector(da, 1), y = random_vector(da, 2), Bx = apply(pc, x), By = apply(pc, y);
  PetscScalar xBy, yBx;
  PetscReal   size_x, size_y;
  OK(VecTDot(x, By, &xBy));
  OK(VecTDot(y, Bx, &yBx));
  OK(VecNorm(x, NORM_2, &size_x));
  OK(VecNorm(By, NORM_2, &size_y));
  return PetscAbsScalar(xBy - yBx) / (size_x * size_y);
}

// The largest factor by which a cycle reduced the residual, after the first; measured until rounding.
static PetscReal worst_reduction(Mat A, PC pc, DM da, int cycles) {
  Vector       b = make_vector(da), x = random_vector(da, 1), r = make_vector(da), z = make_vector(da);
  PetscReal    before, after, first, worst = 0;
  MatNullSpace nullspace;

  OK(MatGetNullSpace(A, &nullspace));
  OK(MatMult(A, x, b));
  OK(VecSet(x, 0));
  OK(VecNorm(b, NORM_2, &first));
  before = first;
  for (int n = 0; n < cycles && before > 1e-9 * first; n++) {
    OK(MatResidual(A, b, x, r));
    OK(PCApply(pc, r, z));
    OK(VecAXPY(x, 1, z));
    if (nullspace) OK(MatNullSpaceRemove(nullspace, x));
    OK(MatResidual(A, b, x, r));
    OK(VecNorm(r, NORM_2, &after));
    worst = PetscMax(worst, after / before);
    before = after;
  }
  return worst;
}

static std::vector<Problem> grids() {
  std::vector<Problem> all;
  for (const auto &N : {Point{65, 65, 1}, Point{2, 50, 1}, Point{50, 2, 1}, Point{64, 96, 1}, Point{101, 37, 1},
                        Point{1, 50, 1}, Point{200, 3, 1}, Point{300, 41, 1}})
    all.push_back(problem(2, N[0], N[1]));
  all.push_back(problem(1, 127));
  all.push_back(problem(1, 1000));
  all.push_back(problem(3, 17, 17, 17));
  all.push_back(problem(3, 14, 9, 25));
  return all;
}

TEST_CASE("a cycle reduces the residual tenfold, on grids of any size", "[multigrid]") {
  for (Problem p : grids())
    for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN}) {
      p.boundary = form;
      Grid da;
      if (!try_make_grid(p, &da)) continue;
      INFO(describe(p));
      Matrix A = make_operator(p, da);
      for (const char *fused : {"-test_pc_stencilmg_fused 1", "-test_pc_stencilmg_fused 0"}) {
        INFO(fused);
        Preconditioner pc = make_pc(A, fused);
        CHECK(worst_reduction(A, pc, da, 6) <= 0.1);
      }
    }
}

TEST_CASE("a cycle reduces the residual tenfold around periodic axes and at mirrored ends", "[multigrid]") {
  for (const auto &N : {Point{64, 64, 1}, Point{65, 64, 1}, Point{33, 47, 1}, Point{12, 15, 11}})
    for (DMBoundaryType x : {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR})
      for (DMBoundaryType y : {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR, DM_BOUNDARY_NONE}) {
        Problem p = problem(N[2] > 1 ? 3 : 2, N[0], N[1], N[2]);
        p.ends[0] = x;
        p.ends[1] = y;
        if (N[2] > 1) p.ends[2] = DM_BOUNDARY_PERIODIC;
        Grid da;
        if (!try_make_grid(p, &da)) continue;
        INFO(describe(p));
        Matrix         A = make_operator(p, da);
        Preconditioner pc = make_pc(A);
        CHECK(worst_reduction(A, pc, da, 6) <= 0.1);
      }
}

TEST_CASE("a cycle reduces the residual tenfold for any shift and any side lengths", "[multigrid]") {
  for (PetscReal sigma : {0.5, 100., 1e5})
    for (PetscReal length : {1., 1.3, 2., 10., 1000.}) {
      Problem p = problem(2, 50, 61);
      p.sigma = sigma;
      p.lengths[1] = length;
#if defined(PETSC_USE_COMPLEX)
      p.sigma += PetscScalar(0, sigma);
#endif
      INFO(describe(p));
      Grid           da = make_grid(p);
      Matrix         A = make_operator(p, da);
      Preconditioner pc = make_pc(A);
      CHECK(worst_reduction(A, pc, da, 6) <= 0.11); // 0.6 of the strongest coupling: see hierarchy.hpp
    }
}

static KSPConvergedReason solve(Mat A, Vec b, Vec x, const std::string &options, PetscInt *iterations) {
  Options            set(options + " -test_pc_type stencilmg");
  Solver             ksp;
  KSPConvergedReason reason;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOptionsPrefix(ksp, "test_"));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  OK(KSPGetIterationNumber(ksp, iterations));
  return reason;
}

TEST_CASE("multigrid solves what the assembled matrix says", "[multigrid]") {
  for (Problem p : grids()) {
    p.sigma = 3;
    Grid da;
    if (!try_make_grid(p, &da)) continue;
    INFO(describe(p));
    Matrix A = make_operator(p, da), B = make_reference(p, da);
    Vector exact = random_vector(da, 2), b = make_vector(da), x = make_vector(da);
    OK(MatMult(B, exact, b));
    for (const char *options :
         {"-test_ksp_type cg", "-test_ksp_type richardson", "-test_ksp_type richardson -test_pc_stencilmg_type full",
          "-test_ksp_type cg -test_pc_stencilmg_cycle_type w", "-test_ksp_type fgmres -test_pc_stencilmg_cycle_type f",
          "-test_ksp_type cg -test_pc_stencilmg_multiplicative_cycles 2",
          "-test_ksp_type cg -test_pc_stencilmg_smooths 2", "-test_ksp_type cg -test_pc_stencilmg_smooths 1",
          "-test_ksp_type cg -test_pc_stencilmg_smooths 4", "-test_ksp_type cg -test_pc_stencilmg_levels 30"}) {
      INFO(options);
      PetscInt   iterations;
      const auto more = " -test_ksp_rtol 1e-12 -test_ksp_norm_type unpreconditioned";
      CHECK(solve(A, b, x, std::string(options) + more, &iterations) > 0);
      CHECK(iterations <= 25);
      CHECK(difference(x, exact) <= 1e-9);
    }
  }
}

TEST_CASE("V- and W-cycles are symmetric where the operator is", "[multigrid]") {
  for (Problem p : grids())
    for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_NEUMANN})
      for (const char *cycle : {"-test_pc_stencilmg_cycle_type v", "-test_pc_stencilmg_cycle_type w"}) {
        p.boundary = form;
        p.sigma = 1;
        Grid da;
        if (!try_make_grid(p, &da)) continue;
        INFO(describe(p));
        INFO(cycle);
        Matrix A = make_operator(p, da);
        CHECK(asymmetry(make_pc(A, cycle), da) <= 1e-13);
      }
}

TEST_CASE("fused passes compute what single steps do", "[multigrid]") {
  std::vector<Problem> problems = grids();
  for (DMBoundaryType x : {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR}) { // of several strips, and of one
    for (const auto &N : {Point{130, 62, 1}, Point{600, 90, 1}, Point{14, 700, 1}}) {
      problems.push_back(problem(2, N[0], N[1]));
      problems.back().ends[0] = x;
      problems.back().ends[1] = DM_BOUNDARY_PERIODIC;
    }
  }
  problems.push_back(problem(2, 999, 70));
  for (Problem &p : problems)
    for (const char *type : {"", " -test_pc_stencilmg_type full", " -test_pc_stencilmg_smooths 2",
                             " -test_pc_stencilmg_multiplicative_cycles 2", " -test_pc_stencilmg_cycle_type w"}) {
      p.sigma = 2;
      Grid da;
      if (!try_make_grid(p, &da)) continue;
      INFO(describe(p));
      INFO(type);
      Matrix         A = make_operator(p, da);
      Preconditioner fused = make_pc(A, std::string("-test_pc_stencilmg_fused 1") + type),
                     steps = make_pc(A, std::string("-test_pc_stencilmg_fused 0") + type);
      Vector b = random_vector(da, 3), x = apply(fused, b), y = apply(steps, b);
      // they round in different places, which a small eigenvalue, here sigma, magnifies where no end is fixed
      PetscReal norm;
      OK(MatNorm(A, NORM_INFINITY, &norm));
      const bool open = !p.is(0, DM_BOUNDARY_NONE) && !p.is(1, DM_BOUNDARY_NONE);
      CHECK(difference(x, y) <= (open ? exact * norm / PetscRealPart(p.sigma) : 20 * exact));
    }
}

// A sum over the axes with weights of their own at each place of an axis.
static Fill stretched_fill(const Lattice &l, PetscReal (*edge)(PetscInt, PetscInt)) {
  return [l, edge](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    *block = 0;
    for (int a = 0; a < l.dim; a++) {
      const PetscReal lower = edge(p[a], l.N[a]), upper = edge(p[a] + 1, l.N[a]);
      if (arm[0] == 0 && arm[1] == 0 && arm[2] == 0) *block += lower + upper;
      if (arm[a] != 0) *block -= arm[a] < 0 ? lower : upper;
    }
  };
}

TEST_CASE("axes may be stretched, or alternate", "[multigrid]") {
  PetscReal (*const edges[])(PetscInt,
                             PetscInt) = {[](PetscInt i, PetscInt N) { return PetscExpReal(-(PetscReal)i / (2 * N)); },
                                          [](PetscInt i, PetscInt) { return PetscReal(i % 2 ? 3 : 1); }};
  for (const auto &edge : edges)
    for (const auto &N : {Point{70, 45, 1}, Point{41, 90, 1}}) {
      Lattice l;
      l.N[0] = N[0], l.N[1] = N[1];
      Grid   da;
      Matrix A;
      REQUIRE(try_make_grid(l, &da));
      INFO(describe(l));
      OK(DMSetMatType(da, MATSTENCILSHELL));
      OK(DMCreateMatrix(da, &A));
      set_rows(da, A, stretched_fill(l, edge), Way::stencil, INSERT_VALUES);
      assemble(A);
      Vector         b = random_vector(da, 3);
      Preconditioner fused = make_pc(A), steps = make_pc(A, "-test_pc_stencilmg_fused 0");
      const auto     text = printed([&]() { OK(PCView(fused, PETSC_VIEWER_STDOUT_WORLD)); });
      CHECK(text.find("variable") == std::string::npos);
      CHECK(difference(apply(fused, b), apply(steps, b)) <= 20 * exact);
      CHECK(worst_reduction(A, fused, da, 6) <= 0.15);
    }
}

TEST_CASE("an operator with several null vectors is a failed preconditioner", "[multigrid]") {
  Lattice l;
  l.N[0] = 32, l.N[1] = 20;
  Grid   da;
  Matrix A;
  REQUIRE(try_make_grid(l, &da));
  OK(DMSetMatType(da, MATSTENCILSHELL));
  OK(DMCreateMatrix(da, &A));
  set_rows(
      da, A,
      [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) { // along x alone, with free ends
        const int lower = p[0] > 0, upper = p[0] < l.N[0] - 1;
        *block = arm[1] ? 0 : arm[0] < 0 ? -lower : arm[0] > 0 ? -upper : lower + upper;
      },
      Way::stencil, INSERT_VALUES);
  assemble(A);
  Vector   b = random_vector(da, 11), x = make_vector(da);
  PetscInt iterations;
  CHECK(solve(A, b, x, "-test_ksp_type gmres", &iterations) == KSP_DIVERGED_PC_FAILED);
}

// Their inner parts take other code on a GPU.
TEST_CASE("fused passes compute what single steps do, on large grids", "[multigrid]") {
  for (const auto &N : {Point{1021, 640, 1}, Point{768, 801, 1}})
    for (DMBoundaryType ends : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC}) {
      if (ends == DM_BOUNDARY_PERIODIC && N[0] % 2) continue; // which has no fused form
      Problem p = problem(2, N[0], N[1]);
      p.ends[0] = ends;
      p.lengths[1] = 0.7;
      p.sigma = 20;
      Grid   da = make_grid(p);
      Matrix A = make_operator(p, da);
      Vector b = random_vector(da, 3);
      for (const char *type : {" -test_pc_stencilmg_type full", " -test_pc_stencilmg_multiplicative_cycles 2",
                               " -test_pc_stencilmg_multiplicative_cycles 2 -test_pc_stencilmg_smooths 2"}) {
        INFO(describe(p));
        INFO(type);
        Preconditioner fused = make_pc(A, std::string("-test_pc_stencilmg_fused 1") + type),
                       steps = make_pc(A, std::string("-test_pc_stencilmg_fused 0") + type);
        CHECK(difference(apply(fused, b), apply(steps, b)) <= 100 * exact);
      }
    }
}

TEST_CASE("ranks do not change what a cycle computes", "[multigrid]") {
  for (const auto &N : {Point{257, 200, 1}, Point{330, 129, 1}, Point{40, 36, 33}})
    for (bool around : {false, true}) {
      Problem p = problem(N[2] > 1 ? 3 : 2, N[0], N[1], N[2]);
      if (around) p.ends[0] = p.ends[1] = DM_BOUNDARY_PERIODIC;
      p.sigma = 1;
      Grid da, alone;
      if (!try_make_grid(p, &da)) continue;
      INFO(describe(p));
      const DMBoundaryType ends = around ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
      if (N[2] > 1)
        OK(DMDACreate3d(PETSC_COMM_SELF, ends, ends, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, N[0], N[1], N[2], 1, 1, 1, 1,
                        1, NULL, NULL, NULL, &alone));
      else
        OK(DMDACreate2d(PETSC_COMM_SELF, ends, ends, DMDA_STENCIL_STAR, N[0], N[1], 1, 1, 1, 1, NULL, NULL, &alone));
      OK(DMSetFromOptions(alone));
      OK(DMSetUp(alone));
      Matrix A = make_operator(p, da), B;
      OK(MatCreateHelmholtz(alone, p.sigma, &B));
      Preconditioner pc = make_pc(A, "-test_pc_stencilmg_multiplicative_cycles 2"),
                     pc_alone = make_pc(B, "-test_pc_stencilmg_multiplicative_cycles 2");
      Vector     b, b_alone;
      const auto f = [&](const PetscInt q[3]) {
        return random_value(q[0] + (size_t)N[0] * (q[1] + (size_t)N[1] * q[2]), 4);
      };
      b = make_vector(da);
      b_alone = make_vector(alone);
      set_values(da, b, f);
      set_values(alone, b_alone, f);
      const auto x = natural_values(da, apply(pc, b)), y = natural_values(alone, apply(pc_alone, b_alone));
      REQUIRE(everywhere(x.size() == y.size()));
      PetscReal off = 0, size = 0;
      for (size_t n = 0; n < x.size(); n++) {
        off = PetscMax(off, PetscAbsScalar(x[n] - y[n]));
        size = PetscMax(size, PetscAbsScalar(y[n]));
      }
      CHECK(everywhere(off <= 20 * exact * size));
    }
}

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
    Preconditioner  pc = make_pc(A, "-test_pc_stencilmg_type full");
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
        Solver ksp;
        Vec    x = way ? outside : inside;
        OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
        OK(KSPSetOptionsPrefix(ksp, "test_"));
        OK(KSPSetOperators(ksp, A, A));
        OK(KSPSetFromOptions(ksp));
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
      if (its[0] != 2) CHECK(reasons[0] == reasons[1]); // PETSc has no reason for preconditioners that end undecided
      CHECK(difference(inside, outside) <= 1e-11);
    }
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
  const std::string options = "-test_ksp_type richardson -test_ksp_norm_type unpreconditioned";
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

// ---- variable coefficients

// -div(a grad u) + sigma u, times h² along each axis, by the harmonic mean of a at neighbouring points.
enum class Medium { smooth, blocks, checkerboard, inclusion, crack, random };
static const struct {
  Medium      medium;
  const char *name;
  PetscInt    most; // steps of CG to 1e-11: more where points of high conductivity stand alone, which no grid resolves
} media[] = {
    {Medium::smooth, "smooth", 9},        {Medium::blocks, "blocks", 14}, {Medium::checkerboard, "checkerboard", 40},
    {Medium::inclusion, "inclusion", 14}, {Medium::crack, "crack", 14},   {Medium::random, "random", 100}};

static PetscReal conductivity(Medium medium, const Lattice &l, const PetscInt p[3]) {
  PetscReal x[3];
  PetscInt  cells[2] = {0, 0};
  for (int a = 0; a < 3; a++) {
    x[a] = l.N[a] > 1 ? (p[a] + PetscReal(0.5)) / l.N[a] : PetscReal(0.3);
    cells[0] += (PetscInt)(PetscReal(3.3) * x[a] + PetscReal(0.1) * (a + 1)); // aligned to no coarse grid
    cells[1] += (PetscInt)(PetscReal(5.3) * x[a]);
  }
  const PetscReal distance = PetscAbsReal(x[0] + PetscReal(0.3) * x[1] - PetscReal(0.6)) * l.N[0];
  switch (medium) {
  case Medium::smooth:
    return PetscExpReal(2 * PetscSinReal(2 * PETSC_PI * x[0]) * PetscSinReal(3 * x[1]) * PetscCosReal(2 * x[2]));
  case Medium::blocks:
    return cells[0] % 2 ? 1000 : 1;
  case Medium::checkerboard:
    return cells[1] % 2 ? 1000 : 1;
  case Medium::inclusion:
    return distance < 1 ? 1000 : 1;
  case Medium::crack:
    return distance < 1 ? PetscReal(1e-3) : 1;
  default:
    return PetscPowReal(10, 3 * PetscRealPart(random_value(l.natural(p), 79)));
  }
}

static Fill medium_fill(const Lattice &l, Medium medium, MatLaplaceBoundaryType boundary, PetscScalar sigma) {
  const auto ends = [=](const PetscInt p[3]) {
    bool is = false;
    for (int a = 0; a < l.dim; a++)
      is = is || (l.ends[a] == DM_BOUNDARY_NONE && l.N[a] > 2 && (p[a] == 0 || p[a] == l.N[a] - 1));
    return is;
  };
  const auto edge = [=](const PetscInt p[3], const PetscInt arm[3]) -> PetscReal {
    PetscInt q[3], length2 = 0;
    for (int a = 0; a < 3; a++) {
      q[a] = p[a] + arm[a];
      length2 += arm[a] * arm[a];
      const bool outside = q[a] < 0 || q[a] >= l.N[a];
      if (!outside) continue;
      if (l.ends[a] == DM_BOUNDARY_PERIODIC)
        q[a] = (q[a] + l.N[a]) % l.N[a];
      else if (l.ends[a] == DM_BOUNDARY_MIRROR)
        q[a] = p[a] - arm[a];
      else if (boundary == MAT_LAPLACE_NEUMANN)
        return 0;
      else
        q[a] = p[a];
    }
    const PetscReal one = conductivity(medium, l, p), other = conductivity(medium, l, q);
    return 2 * one * other / (one + other) / (PetscReal)length2;
  };
  const Points arms = l.arms();
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    const bool diagonal = !arm[0] && !arm[1] && !arm[2];
    if (boundary == MAT_LAPLACE_IDENTITY && ends(p)) {
      *block = diagonal ? 2 : 0;
      return;
    }
    *block = diagonal ? sigma : PetscScalar(-edge(p, arm));
    for (const Point &other : arms)
      if (diagonal && (other[0] || other[1] || other[2])) *block += edge(p, other.data());
  };
}

static Lattice lattice(const Point &N, const std::vector<DMBoundaryType> &ends = {},
                       DMDAStencilType shape = DMDA_STENCIL_STAR) {
  Lattice l;
  l.dim = N[2] > 1 ? 3 : N[1] > 1 ? 2 : 1;
  for (int a = 0; a < 3; a++) l.N[a] = N[(size_t)a];
  for (size_t a = 0; a < ends.size() && (int)a < l.dim; a++) l.ends[a] = ends[a];
  l.shape = shape;
  return l;
}

// Captured, and the same as AIJ; false where PETSc cannot distribute the grid.
static bool make_twins(const Lattice &l, const Fill &fill, std::unique_ptr<Twins> *twins) {
  Grid da;
  if (!try_make_grid(l, &da)) return false;
  *twins = std::make_unique<Twins>(l);
  (*twins)->both([&](DM dm, Mat M) { // points beyond a mirror are points inside, too
    set_rows(dm, M, fill, Way::stencil, ADD_VALUES);
    assemble(M);
  });
  return true;
}

static void remove_constants(Mat A) {
  MatNullSpace constants;
  OK(MatNullSpaceCreate(PetscObjectComm((PetscObject)A), PETSC_TRUE, 0, NULL, &constants));
  OK(MatSetNullSpace(A, constants));
  OK(MatNullSpaceDestroy(&constants));
}

static const std::vector<Point> sizes = {{65, 65, 1}, {64, 96, 1}, {101, 37, 1}, {200, 3, 1}, {1, 50, 1}, {31, 2, 1},
                                         {127, 1, 1}, {600, 1, 1}, {17, 17, 17}, {14, 9, 25}, {12, 1, 11}};

TEST_CASE("a cycle reduces the residual tenfold where coefficients vary smoothly", "[multigrid]") {
  for (const Point &N : sizes)
    for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN})
      for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX}) {
        const Lattice          l = lattice(N, {}, shape);
        std::unique_ptr<Twins> t;
        INFO(describe(l) << ", boundary form " << (int)form);
        if (!make_twins(l, medium_fill(l, Medium::smooth, form, 0), &t)) continue;
        if (form == MAT_LAPLACE_NEUMANN) remove_constants(t->A);
        Preconditioner pc = make_pc(t->A);
        CHECK(worst_reduction(t->A, pc, t->da, 6) <= 0.1);
      }
}

TEST_CASE("a cycle reduces variable coefficients' residual around periodic axes and at mirrored ends", "[multigrid]") {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC, mirror = DM_BOUNDARY_MIRROR;
  for (const Point &N : {Point{64, 64, 1}, Point{65, 64, 1}, Point{33, 47, 1}, Point{2, 40, 1}, Point{3, 40, 1},
                         Point{99, 1, 1}, Point{12, 15, 11}})
    for (DMBoundaryType x : {around, mirror})
      for (DMBoundaryType y : {around, mirror, none}) {
        const Lattice          l = lattice(N, {x, y, around});
        std::unique_ptr<Twins> t;
        INFO(describe(l));
        if (!make_twins(l, medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0), &t)) continue;
        if (x != none && y != none) remove_constants(t->A);
        Preconditioner pc = make_pc(t->A);
        CHECK(worst_reduction(t->A, pc, t->da, 6) <= 0.15);
      }
}

TEST_CASE("multigrid solves what the assembled matrix says where coefficients jump, in as many steps on any grid",
          "[multigrid]") {
  for (const auto &of : media)
    for (const Point &N :
         {Point{33, 33, 1}, Point{129, 129, 1}, Point{100, 61, 1}, Point{300, 1, 1}, Point{25, 22, 27}})
      for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_NEUMANN}) {
        const Lattice          l = lattice(N);
        std::unique_ptr<Twins> t;
        INFO(describe(l) << ", " << of.name << ", boundary form " << (int)form);
        if (!make_twins(l, medium_fill(l, of.medium, form, 0.01), &t)) continue;
        Vector   exact = random_vector(t->aij_da, 2), b = make_vector(t->aij_da), x = make_vector(t->da);
        PetscInt iterations;
        OK(MatMult(t->aij, exact, b));
        Vector right = make_vector(t->da);
        OK(VecCopy(b, right));
        CHECK(solve(t->A, right, x, "-test_ksp_type cg -test_ksp_rtol 1e-11 -test_ksp_norm_type unpreconditioned",
                    &iterations) > 0);
        CHECK(iterations <= of.most);
        Vector found = make_vector(t->aij_da), residual = make_vector(t->aij_da);
        OK(VecCopy(x, found));
        OK(MatResidual(t->aij, b, found, residual));
        PetscReal off, size;
        OK(VecNorm(residual, NORM_2, &off));
        OK(VecNorm(b, NORM_2, &size));
        CHECK(off <= 2e-11 * size);
      }
}

TEST_CASE("all cycles solve with variable coefficients", "[multigrid]") {
  for (const Point &N : {Point{70, 45, 1}, Point{13, 14, 15}})
    for (const char *options :
         {"-test_ksp_type cg -test_pc_stencilmg_cycle_type w", "-test_ksp_type fgmres -test_pc_stencilmg_cycle_type f",
          "-test_ksp_type richardson", "-test_ksp_type richardson -test_pc_stencilmg_type full",
          "-test_ksp_type cg -test_pc_stencilmg_multiplicative_cycles 2",
          "-test_ksp_type cg -test_pc_stencilmg_smooths 1", "-test_ksp_type cg -test_pc_stencilmg_smooths 4",
          "-test_ksp_type cg -test_pc_stencilmg_levels 2", "-test_ksp_type cg -test_pc_stencilmg_precision single"}) {
      const Lattice          l = lattice(N);
      std::unique_ptr<Twins> t;
      PetscInt               iterations;
      INFO(describe(l) << ", " << options);
#if defined(PETSC_USE_COMPLEX)
      const PetscScalar sigma(0.01, 0.02);
      if (std::string(options).find("cg") != std::string::npos) continue; // for Hermitian matrices
#else
      const PetscScalar sigma = 0.01;
#endif
      if (!make_twins(l, medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, sigma), &t)) continue;
      Vector exact = random_vector(t->da, 2), b = make_vector(t->da), x = make_vector(t->da);
      OK(MatMult(t->A, exact, b));
      CHECK(solve(t->A, b, x, std::string(options) + " -test_ksp_rtol 1e-11 -test_ksp_norm_type unpreconditioned",
                  &iterations) > 0);
      CHECK(iterations <= 20);
      CHECK(difference(x, exact) <= 1e-8);
    }
}

TEST_CASE("cycles are symmetric with variable coefficients", "[multigrid]") {
  for (const Point &N : sizes)
    for (const char *cycle : {"-test_pc_stencilmg_cycle_type v", "-test_pc_stencilmg_cycle_type w"}) {
      const Lattice          l = lattice(N);
      std::unique_ptr<Twins> t;
      INFO(describe(l) << ", " << cycle);
      if (!make_twins(l, medium_fill(l, Medium::blocks, MAT_LAPLACE_ELIMINATED, 0.1), &t)) continue;
      CHECK(asymmetry(make_pc(t->A, cycle), t->da) <= 1e-12);
    }
}

TEST_CASE("ranks do not change what a cycle computes with variable coefficients", "[multigrid]") {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC;
  for (const Point &N : {Point{257, 200, 1}, Point{201, 170, 1}, Point{40, 36, 33}, Point{90, 11, 1}})
    for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX})
      for (DMBoundaryType ends : {none, around})
        for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY}) {
          const Lattice          l = lattice(N, {ends, none, ends}, shape);
          std::unique_ptr<Twins> t;
          Grid                   alone;
          Matrix                 B;
          INFO(describe(l) << ", boundary form " << (int)form);
          const Fill fill = medium_fill(l, Medium::blocks, form, 0.1);
          if (!make_twins(l, fill, &t)) continue;
          if (l.dim == 3)
            OK(DMDACreate3d(PETSC_COMM_SELF, l.ends[0], l.ends[1], l.ends[2], shape, N[0], N[1], N[2], 1, 1, 1, 1, 1,
                            NULL, NULL, NULL, &alone));
          else
            OK(DMDACreate2d(PETSC_COMM_SELF, l.ends[0], l.ends[1], shape, N[0], N[1], 1, 1, 1, 1, NULL, NULL, &alone));
          OK(DMSetFromOptions(alone));
          OK(DMSetMatType(alone, MATSTENCILSHELL));
          OK(DMSetUp(alone));
          OK(DMCreateMatrix(alone, &B));
          set_rows(alone, B, fill, Way::stencil, ADD_VALUES);
          assemble(B);
          const char    *twice = "-test_pc_stencilmg_multiplicative_cycles 2";
          Preconditioner pc = make_pc(t->A, twice), pc_alone = make_pc(B, twice);
          Vector         b = make_vector(t->da), b_alone = make_vector(alone);
          const auto     f = [&](const PetscInt q[3]) { return random_value(l.natural(q), 4); };
          set_values(t->da, b, f);
          set_values(alone, b_alone, f);
          const auto x = natural_values(t->da, apply(pc, b)), y = natural_values(alone, apply(pc_alone, b_alone));
          REQUIRE(everywhere(x.size() == y.size()));
          PetscReal off = 0, size = 0;
          for (size_t n = 0; n < x.size(); n++) {
            off = PetscMax(off, PetscAbsScalar(x[n] - y[n]));
            size = PetscMax(size, PetscAbsScalar(y[n]));
          }
          CHECK(everywhere(off <= 1e-11 * size));
        }
}

TEST_CASE("coefficients of classes and of arrays get the same cycles", "[multigrid]") {
  std::vector<Vector> results;
  for (const char *compress : {"-mat_stencil_compress automatic", "-mat_stencil_compress arrays"}) {
    Options       set(compress);
    const Lattice l = lattice({70, 45, 1});
    Grid          da;
    Matrix        A;
    REQUIRE(try_make_grid(l, &da));
    OK(DMSetMatType(da, MATSTENCILSHELL));
    OK(DMCreateMatrix(da, &A));
    set_rows(da, A, diffusion_fill(l, Form::indexed), Way::stencil, INSERT_VALUES);
    assemble(A);
    Preconditioner pc = make_pc(A);
    results.push_back(apply(pc, random_vector(da, 3)));
    const std::string text = printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
    for (const char *word : {"70 x 45", "variable coefficients", "solved by its inverse"})
      CHECK(text.find(word) != std::string::npos);
  }
  CHECK(difference(results[1], results[0]) <= exact);
}

TEST_CASE("captured coefficients that are a sum over the axes are served as one", "[multigrid]") {
  Grid   da;
  Matrix A;
  REQUIRE(try_make_grid(lattice({70, 45, 1}), &da));
  OK(DMSetMatType(da, MATSTENCILSHELL));
  OK(DMCreateMatrix(da, &A));
  assemble(problem(2, 70, 45), da, A);
  Preconditioner    pc = make_pc(A);
  const std::string text = printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
  CHECK(text.find("axes' modes") != std::string::npos);
  CHECK(text.find("variable coefficients") == std::string::npos);
}

// As programs assemble coefficients that multiply the whole equation of a point.
TEST_CASE("rows with weights of their own are served as the symmetric operator without them", "[multigrid]") {
  for (const Point &N : {Point{150, 131, 1}, Point{31, 20, 1}, Point{80, 1, 1}, Point{12, 13, 14}})
    for (DMBoundaryType x : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC})
      for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY}) {
        const Lattice l = lattice(N, {x});
        const Fill    inner = medium_fill(l, Medium::blocks, form, 0.1);
        const Fill    fill = [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
          inner(p, arm, block);
          *block *= PetscPowReal(10, PetscRealPart(random_value(l.natural(p), 80)));
        };
        std::unique_ptr<Twins> t;
        PetscInt               iterations;
        INFO(describe(l) << ", boundary form " << (int)form);
        if (!make_twins(l, fill, &t)) continue;
        Vector solution = random_vector(t->da, 2), b = make_vector(t->da), x = make_vector(t->da);
        OK(MatMult(t->A, solution, b));
        CHECK(solve(t->A, b, x, "-test_ksp_type fgmres -test_ksp_rtol 1e-11", &iterations) > 0);
        CHECK(iterations <= 14);
        CHECK(difference(x, solution) <= 1e-6);
      }
}

TEST_CASE("fixed points anywhere in the grid are solved exactly", "[multigrid]") {
  const Lattice l = lattice({60, 50, 1});
  const auto    fixed = [](const PetscInt p[3]) { return (p[0] - 20) * (p[0] - 20) + (p[1] - 30) * (p[1] - 30) < 40; };
  const Fill    inner = medium_fill(l, Medium::smooth, MAT_LAPLACE_NEUMANN, 0);
  const Fill    fill = [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    inner(p, arm, block);
    if (fixed(p)) *block = arm[0] || arm[1] ? 0 : 3;
  };
  std::unique_ptr<Twins> t;
  REQUIRE(make_twins(l, fill, &t));
  Preconditioner pc = make_pc(t->A);
  CHECK(worst_reduction(t->A, pc, t->da, 6) <= 0.2);
  Vector b = random_vector(t->da, 4), x = apply(pc, b), r = make_vector(t->da);
  OK(MatResidual(t->A, b, x, r));
  PetscReal    off = 0;
  PetscScalar *values;
  size_t       n = 0;
  OK(VecGetArray(r, &values));
  for_each_owned(t->da, [&](const PetscInt p[3]) {
    if (fixed(p)) off = PetscMax(off, PetscAbsScalar(values[n]));
    n++;
  });
  OK(VecRestoreArray(r, &values));
  CHECK(everywhere(off <= exact));
}

TEST_CASE("a preconditioner follows its variable coefficients", "[multigrid]") {
  const Lattice          l = lattice({60, 50, 1});
  std::unique_ptr<Twins> t;
  REQUIRE(make_twins(l, medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 1), &t));
  Preconditioner pc = make_pc(t->A);
  Vector         b = random_vector(t->da, 7);
  OK(MatZeroEntries(t->A));
  set_rows(t->da, t->A, medium_fill(l, Medium::blocks, MAT_LAPLACE_ELIMINATED, 1), Way::stencil, ADD_VALUES);
  assemble(t->A);
  OK(PCSetUp(pc));
  Preconditioner fresh = make_pc(t->A);
  CHECK(difference(apply(pc, b), apply(fresh, b)) == 0);
  Vector y = apply(fresh, b);
  OK(MatScale(t->A, -2));
  OK(PCSetUp(pc));
  Vector x = apply(pc, b);
  OK(VecScale(y, -0.5));
  CHECK(difference(x, y) <= 10 * exact);
}

TEST_CASE("multigrid refuses what it cannot do, and says what can", "[multigrid][errors]") {
  Problem    p = problem(2, 40, 30);
  Grid       da = make_grid(p);
  Matrix     A = make_operator(p, da), aij = make_reference(p, da);
  Problem    of_large = problem(2, 200, 100);
  Grid       large_grid = make_grid(of_large);
  Matrix     large = make_operator(of_large, large_grid);
  const auto set_up = [&](Mat B, const std::string &options) {
    return [=]() {
      Options        set(options);
      Preconditioner pc;
      PetscFunctionBeginUser;
      PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
      PetscCall(PCSetOptionsPrefix(pc, "test_"));
      PetscCall(PCSetOperators(pc, B, B));
      PetscCall(PCSetType(pc, PCSTENCILMG));
      PetscCall(PCSetFromOptions(pc));
      PetscCall(PCSetUp(pc));
      PetscFunctionReturn((PetscErrorCode)0);
    };
  };
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"stencilmg", "aij", "laplace", "gamg"}), set_up(aij, ""));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"-pc_stencilmg_smooths", "7"}), set_up(A, "-test_pc_stencilmg_smooths 7"));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"-pc_stencilmg_levels", "-1"}), set_up(A, "-test_pc_stencilmg_levels -1"));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"-pc_stencilmg_levels", "20000"}),
               set_up(large, "-test_pc_stencilmg_levels 1"));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"multiplicative_cycles", "0"}),
               set_up(A, "-test_pc_stencilmg_multiplicative_cycles 0"));
  EXPECT_ERROR(0, ({"cycle_type"}), set_up(A, "-test_pc_stencilmg_cycle_type x"));

  const auto captured = [&](const Lattice &l, const Fill &fill) {
    Grid   grid;
    Matrix B;
    REQUIRE(try_make_grid(l, &grid));
    OK(DMSetMatType(grid, MATSTENCILSHELL));
    OK(DMCreateMatrix(grid, &B));
    set_rows(grid, B, fill, Way::stencil, INSERT_VALUES);
    assemble(B);
    return B;
  };
  Lattice star = lattice({40, 30, 1}), two = star, wide = star;
  two.dof = 2;
  wide.width = 2;
  Matrix one_way = captured(star, random_fill(star, Form::arrays, 1)),
         of_two = captured(two, diffusion_fill(two, Form::indexed)),
         of_wide = captured(wide, diffusion_fill(wide, Form::indexed)),
         of_signs = captured(star, [](const PetscInt *, const PetscInt arm[3], PetscScalar *block) {
           *block = arm[0] ? -1 : arm[1] ? 1 : 5;
         });
  EXPECT_ERROR(PETSC_ERR_SUP, ({"stencil", "not symmetric", "-pc_type mg", "gamg"}), set_up(one_way, ""));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"stencil", "2 unknowns", "-pc_type mg", "gamg"}), set_up(of_two, ""));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"stencil", "opposite signs", "-pc_type mg", "gamg"}), set_up(of_signs, ""));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"stencil", "not neighbours", "-pc_type mg", "gamg"}), set_up(of_wide, ""));
}

TEST_CASE("multigrid shows what it does", "[multigrid]") {
  Problem           p = problem(2, 70, 90);
  Grid              da = make_grid(p);
  Matrix            A = make_operator(p, da);
  Vector            b = random_vector(da, 8);
  Preconditioner    pc = make_pc(A, "-test_pc_stencilmg_monitor -test_pc_stencilmg_multiplicative_cycles 2");
  const std::string text = printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
  for (const char *word : {"stencilmg", "70 x 90", "35 x 45", "V-cycle", "double", "solved by its axes' modes", "MB"})
    CHECK(text.find(word) != std::string::npos);
  const std::string monitored = printed([&]() { apply(pc, b); });
  for (const char *word : {"cycle 1", "cycle 2", "residual"}) CHECK(monitored.find(word) != std::string::npos);
}
