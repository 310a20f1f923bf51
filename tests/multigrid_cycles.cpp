// Cycles of stencilmg: what they reduce, on any grid and any ranks.

#include "catch.hpp"

#include "gpu.hpp"
#include "multigrid.hpp"

using namespace tests;

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
  int number = 0;
  for (Problem p : grids())
    for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN}) {
      p.boundary = form;
      Grid da;
      if (!in_turn(number++ + p.N[0]) || !try_make_grid(p, &da)) continue;
      INFO(describe(p));
      Matrix A = make_operator(p, da);
      for (const char *fused : {"-test_pc_stencilmg_fused 1", "-test_pc_stencilmg_fused 0"}) {
        INFO(fused);
        Preconditioner pc = make_pc(A, std::string(fused) + small_last_level);
        CHECK(worst_reduction(A, pc, da, 6) <= 0.1);
      }
    }
}

TEST_CASE("a cycle reduces the residual tenfold around periodic axes and at mirrored ends", "[multigrid]") {
  int number = 0;
  for (const auto &N : {Point{64, 64, 1}, Point{65, 64, 1}, Point{33, 47, 1}, Point{12, 15, 11}})
    for (DMBoundaryType x : {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR})
      for (DMBoundaryType y : {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR, DM_BOUNDARY_NONE}) {
        Problem p = problem(N[2] > 1 ? 3 : 2, N[0], N[1], N[2]);
        p.ends[0] = x;
        p.ends[1] = y;
        if (N[2] > 1) p.ends[2] = DM_BOUNDARY_PERIODIC;
        Grid da;
        if (!in_turn(number++ + N[0]) || !try_make_grid(p, &da)) continue;
        INFO(describe(p));
        Matrix         A = make_operator(p, da);
        Preconditioner pc = make_pc(A, small_last_level);
        CHECK(worst_reduction(A, pc, da, 6) <= 0.1);
      }
}

TEST_CASE("red-black over-relaxation reduces the residual more than tenfold, and twentyfold in F-cycles",
          "[multigrid]") {
  int number = 0;
  for (const auto &N : {Point{17, 17, 17}, Point{33, 20, 26}, Point{14, 9, 25}, Point{40, 40, 3}})
    for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN})
      for (PetscReal length : {1., 1.6, 30.})
        for (PetscReal sigma : {0., 1e4}) {
          Problem p = problem(3, N[0], N[1], N[2]);
          p.boundary = form;
          p.lengths[1] = length;
          p.sigma = sigma;
          Grid da;
          if (!in_turn(number++) || !try_make_grid(p, &da)) continue;
          INFO(describe(p));
          Matrix         A = make_operator(p, da);
          Preconditioner symmetric =
                             make_pc(A, std::string("-test_pc_stencilmg_smoother red_black") + small_last_level),
                         fast = make_pc(A, std::string("-test_pc_stencilmg_cycle_type f") + small_last_level);
          CHECK(worst_reduction(A, symmetric, da, 6) <= 0.1);
          CHECK(worst_reduction(A, fast, da, 6) <= 0.05);
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

TEST_CASE("multigrid solves what the assembled matrix says", "[multigrid]") {
  int number = 0;
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
          "-test_ksp_type cg -test_pc_stencilmg_smooths 4", "-test_ksp_type cg -test_pc_stencilmg_smoother red_black",
          "-test_ksp_type cg -test_pc_stencilmg_levels 30"}) {
      if (!in_turn(number++)) continue;
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
  int number = 0;
  for (Problem p : grids())
    for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_NEUMANN})
      for (const char *cycle : {"-test_pc_stencilmg_cycle_type v", "-test_pc_stencilmg_cycle_type w",
                                "-test_pc_stencilmg_smoother red_black",
                                "-test_pc_stencilmg_smoother red_black -test_pc_stencilmg_smooths 1"}) {
        if (p.dim < 3 && strstr(cycle, "red_black")) continue;
        p.boundary = form;
        p.sigma = 1;
        Grid da;
        if (!in_turn(number++) || !try_make_grid(p, &da)) continue;
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
  int number = 0;
  for (Problem &p : problems)
    for (const char *type : {"", " -test_pc_stencilmg_type full", " -test_pc_stencilmg_smooths 2",
                             " -test_pc_stencilmg_smoother red_black", " -test_pc_stencilmg_multiplicative_cycles 2",
                             " -test_pc_stencilmg_cycle_type w"}) {
      p.sigma = 2;
      Grid da;
      if (!in_turn(number++) || !try_make_grid(p, &da)) continue;
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

// Their inner parts take other code on a GPU, on grids that need not be so large on the host.
TEST_CASE("fused passes compute what single steps do, on large grids", "[multigrid]") {
  const PetscInt large = no_gpu(false) ? 1 : 3;
  int            number = 0;
  for (const auto &N : {Point{340 * large + 1, 213 * large + 1, 1}, Point{256 * large, 267 * large, 1},
                        Point{511, 255, 1}, Point{513, 257, 1}})
    for (DMBoundaryType ends : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC}) {
      if (ends == DM_BOUNDARY_PERIODIC && N[0] % 2) continue; // which has no fused form
      Problem p = problem(2, N[0], N[1]);
      p.ends[0] = ends;
      p.lengths[1] = 0.7;
      p.sigma = 20;
      if (N[0] == 513) p.boundary = MAT_LAPLACE_IDENTITY;
      Grid   da = make_grid(p);
      Matrix A = make_operator(p, da);
      Vector b = random_vector(da, 3);
      for (const char *type : {" -test_pc_stencilmg_type full", " -test_pc_stencilmg_multiplicative_cycles 2",
                               " -test_pc_stencilmg_multiplicative_cycles 2 -test_pc_stencilmg_smooths 2",
                               " -test_pc_stencilmg_multiplicative_cycles 2 -test_pc_stencilmg_smooths 4"}) {
        if (!in_turn(number++ + N[0])) continue;
        INFO(describe(p));
        INFO(type);
        Preconditioner fused = make_pc(A, std::string("-test_pc_stencilmg_fused 1") + type),
                       steps = make_pc(A, std::string("-test_pc_stencilmg_fused 0") + type);
        CHECK(difference(apply(fused, b), apply(steps, b)) <= 100 * exact);
      }
    }
}

TEST_CASE("fused passes compute what single steps do, on large grids in three dimensions", "[multigrid]") {
  if (no_gpu(false)) return; // which alone has other passes there
  for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_NEUMANN}) {
    Problem p = problem(3, 105, 103, 101);
    p.boundary = form;
    p.sigma = 20;
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da);
    Vector b = random_vector(da, 3);
    for (const char *type : {" -test_pc_stencilmg_type full", " -test_pc_stencilmg_multiplicative_cycles 2",
                             " -test_pc_stencilmg_cycle_type f -test_pc_stencilmg_multiplicative_cycles 2",
                             " -test_pc_stencilmg_cycle_type f -test_pc_stencilmg_smooths 1"}) {
      INFO(describe(p));
      INFO(type);
      Preconditioner fused = make_pc(A, std::string("-test_pc_stencilmg_fused 1") + type),
                     steps = make_pc(A, std::string("-test_pc_stencilmg_fused 0") + type);
      CHECK(difference(apply(fused, b), apply(steps, b)) <= 100 * exact);
    }
  }
}

TEST_CASE("ranks do not change what a cycle computes", "[multigrid]") {
  if (rank_count() == 1) return;
  for (const auto &N : {Point{257, 200, 1}, Point{330, 129, 1}, Point{40, 36, 33}, Point{36, 34, 31}})
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
      // more half-steps than points of neighbours are known, where the grid is periodic
      const std::string options =
          (N[0] == 40 && around ? "-test_pc_stencilmg_smoother red_black -test_pc_stencilmg_smooths 4"
           : N[0] == 40         ? "-test_pc_stencilmg_multiplicative_cycles 2 -test_pc_stencilmg_smoother red_black"
                                : "-test_pc_stencilmg_multiplicative_cycles 2") +
          std::string(small_last_level);
      Preconditioner pc = make_pc(A, options), pc_alone = make_pc(B, options);
      Vector         b, b_alone;
      const auto     f = [&](const PetscInt q[3]) {
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
      INFO("off by " << off / size << " of the largest value");
      CHECK(everywhere(off <= 20 * exact * size));
    }
}
