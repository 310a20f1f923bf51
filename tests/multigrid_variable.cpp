// Cycles of stencilmg with variable coefficients.

#include "catch.hpp"

#include "media.hpp"
#include "multigrid.hpp"

using namespace tests;

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
  int number = 0;
  for (const Point &N : sizes)
    for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN})
      for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX}) {
        if (!in_turn(number++)) continue;
        const Lattice          l = lattice(N, {}, shape);
        std::unique_ptr<Twins> t;
        INFO(describe(l) << ", boundary form " << (int)form);
        if (!make_twins(l, medium_fill(l, Medium::smooth, form, 0), &t)) continue;
        if (form == MAT_LAPLACE_NEUMANN) remove_constants(t->A);
        Preconditioner pc = make_pc(t->A);
        CHECK(worst_reduction(t->A, pc, t->da, 6) <= 0.1);
      }
}

// On a host: by planes, and point by point.
TEST_CASE("fused passes with variable coefficients compute what single steps do", "[multigrid]") {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC;
  const char *const    types[] = {"", " -test_pc_stencilmg_type full", " -test_pc_stencilmg_precision single"};
  int                  number = 0;
  for (const Point &N : {Point{65, 64, 1}, Point{101, 37, 1}, Point{1, 50, 1}, Point{127, 1, 1}, Point{17, 18, 17},
                         Point{14, 9, 25}, Point{12, 1, 11}})
    for (const auto &ends :
         {std::vector<DMBoundaryType>{none, none, none}, {none, around, none}, {around, none, around}})
      for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY}) {
        const char   *type = types[number % 3];
        const Lattice l = lattice(N, ends, number++ % 2 ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX);
        if (!in_turn(number / 4)) continue;
        std::unique_ptr<Twins> t;
        INFO(describe(l) << ", boundary form " << (int)form << type);
        if (!make_twins(l, medium_fill(l, Medium::blocks, form, 0.1), &t)) continue;
        Preconditioner fused = make_pc(t->A, std::string("-test_pc_stencilmg_fused 1") + type),
                       steps = make_pc(t->A, std::string("-test_pc_stencilmg_fused 0") + type);
        Vector b = random_vector(t->da, 3);
        CHECK(difference(apply(fused, b), apply(steps, b)) <= (strstr(type, "single") ? 1e-4 : 1e5 * exact));
      }
}

TEST_CASE("a cycle reduces variable coefficients' residual around periodic axes and at mirrored ends", "[multigrid]") {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC, mirror = DM_BOUNDARY_MIRROR;
  int                  number = 0;
  for (const Point &N : {Point{64, 64, 1}, Point{65, 64, 1}, Point{33, 47, 1}, Point{2, 40, 1}, Point{3, 40, 1},
                         Point{99, 1, 1}, Point{12, 15, 11}})
    for (DMBoundaryType x : {around, mirror})
      for (DMBoundaryType y : {around, mirror, none}) {
        if (!in_turn(number++ + N[0])) continue;
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
  int number = 0;
  for (const auto &of : media)
    for (const Point &N :
         {Point{33, 33, 1}, Point{129, 129, 1}, Point{100, 61, 1}, Point{300, 1, 1}, Point{25, 22, 27}})
      for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_NEUMANN}) {
        if (!in_turn(number++)) continue;
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
  int number = 0;
  for (const Point &N : {Point{70, 45, 1}, Point{13, 14, 15}})
    for (const char *options :
         {"-test_ksp_type cg -test_pc_stencilmg_cycle_type w", "-test_ksp_type fgmres -test_pc_stencilmg_cycle_type f",
          "-test_ksp_type richardson", "-test_ksp_type richardson -test_pc_stencilmg_type full",
          "-test_ksp_type cg -test_pc_stencilmg_multiplicative_cycles 2",
          "-test_ksp_type cg -test_pc_stencilmg_smooths 1", "-test_ksp_type cg -test_pc_stencilmg_smooths 4",
          "-test_ksp_type cg -test_pc_stencilmg_levels 2", "-test_ksp_type cg -test_pc_stencilmg_precision single"}) {
      if (!in_turn(number++ + N[0])) continue;
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
  const char *const    options[] = {"", " -test_pc_stencilmg_type full", " -test_pc_stencilmg_cycle_type w",
                                    " -test_pc_stencilmg_smooths 1"};
  int                  number = 0;
  if (rank_count() == 1) return;
  for (const Point &N : {Point{257, 200, 1}, Point{121, 90, 1}, Point{28, 26, 24}, Point{90, 11, 1}})
    for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX})
      for (DMBoundaryType ends : {none, around})
        for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY}) {
          const char *of_turn = options[number % 4];
          if (!in_turn(number++)) continue;
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
          INFO(of_turn);
          const std::string twice = std::string("-test_pc_stencilmg_multiplicative_cycles 2") + of_turn;
          Preconditioner    pc = make_pc(t->A, twice), pc_alone = make_pc(B, twice);
          Vector            b = make_vector(t->da), b_alone = make_vector(alone);
          const auto        f = [&](const PetscInt q[3]) { return random_value(l.natural(q), 4); };
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

// Rows of points that are coupled at alternate ends: weights go forth and back along them.
TEST_CASE("weights of the rows follow any path of couplings", "[multigrid]") {
  const Lattice l = lattice({40, 9, 1});
  const auto    fill = [=](PetscReal digits) {
    return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      const PetscInt row = PetscMin(p[1], p[1] + arm[1]), end = row % 2 ? 0 : l.N[0] - 1;
      const bool     diagonal = !arm[0] && !arm[1] && !arm[2], coupled = !arm[1] || p[0] == end;
      *block = diagonal ? 4.1 : coupled ? -1. : 0.;
      *block *= PetscPowReal(10, digits * PetscRealPart(random_value(l.natural(p), 80)));
    };
  };
  std::unique_ptr<Twins> plain, weighted;
  REQUIRE(make_twins(l, fill(0), &plain));
  REQUIRE(make_twins(l, fill(1), &weighted));
  Vector u = random_vector(plain->da, 2), b = make_vector(plain->da), weighted_b = make_vector(weighted->da);
  OK(MatMult(plain->A, u, b));
  OK(MatMult(weighted->A, u, weighted_b));
  Preconditioner pc = make_pc(plain->A), weighted_pc = make_pc(weighted->A);
  // not the same, because weights change how strongly an axis is coupled on average
  CHECK(difference(apply(weighted_pc, weighted_b), apply(pc, b)) <= 0.02);
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
