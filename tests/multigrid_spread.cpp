// stencilmg on several ranks' GPUs, where a rank computes windows of large levels: the cycles that the host does.

#include "catch.hpp"

#include "gpu.hpp"
#include "multigrid.hpp"

using namespace tests;

#if defined(PETSC_HAVE_CUDA)

// A random vector's cycle, the same on any ranks.
static std::vector<PetscScalar> cycled(const Problem &p, const char *vectors, const std::string &options) {
  Grid da;
  REQUIRE(try_make_grid(p, &da));
  OK(DMSetVecType(da, vectors));
  Matrix         A = make_operator(p, da);
  Preconditioner pc = make_pc(A, options + small_last_level);
  Vector         b = make_vector(da), x;
  set_values(da, b, [&](const PetscInt i[3]) {
    return std::sin(1. + (PetscReal)(i[0] + 7 * i[1] * i[1] + 3 * i[2] * (i[0] + 1)));
  });
  x = apply(pc, b);
  Vector y = make_vector(da);
  OK(PCApplyTranspose(pc, x, y));
  auto       all = natural_values(da, x);
  const auto transposed = natural_values(da, y);
  all.insert(all.end(), transposed.begin(), transposed.end());
  return all;
}

TEST_CASE("windows of levels on several GPUs give the host's cycles", "[multigrid][device]") {
  const char *const windows = " -test_pc_stencilmg_whole_points 600";
  const char *const options[] = {"",
                                 "-test_pc_stencilmg_type full",
                                 "-test_pc_stencilmg_type full -test_pc_stencilmg_multiplicative_cycles 3",
                                 "-test_pc_stencilmg_cycle_type w -test_pc_stencilmg_smooths 1",
                                 "-test_pc_stencilmg_cycle_type f -test_pc_stencilmg_smooths 2",
                                 "-test_pc_stencilmg_smoother red_black",
                                 "-test_pc_stencilmg_smoother chebyshev -test_pc_stencilmg_type full",
                                 "-test_pc_stencilmg_precision single -test_pc_stencilmg_cycle_type w",
                                 "-test_pc_stencilmg_precision single -test_pc_stencilmg_multiplicative_cycles 2"};
  int               number = 0;
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Point &N : {Point{150, 161, 1}, Point{255, 255, 1}, Point{1000, 17, 1}, Point{62, 70, 81},
                         Point{63, 63, 63}, Point{12, 100, 96}, Point{9000, 1, 1}})
    for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN})
      for (DMBoundaryType ends : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC})
        for (const std::string option : options) {
          Problem p = problem(N[2] > 1 ? 3 : N[1] > 1 ? 2 : 1, N[0], N[1], N[2]);
          p.boundary = form;
          if (form == MAT_LAPLACE_NEUMANN) p.sigma = 0.5;
          for (int a = 0; a < p.dim; a++) p.ends[a] = ends;
          const bool single = option.find("single") != std::string::npos;
          if (single && p.dim == 1) continue; // rounding times the condition of so long a line
          if (number++ % 5 && !(N[0] == 150 && ends == DM_BOUNDARY_NONE)) continue;
          INFO(describe(p) << option);
          const auto on_gpus = cycled(p, VECCUDA, option + windows), on_host = cycled(p, VECSTANDARD, option);
          PetscReal  most = 0, largest = 0;
          for (size_t i = 0; i < on_host.size(); i++) {
            most = PetscMax(most, PetscAbsScalar(on_gpus[i] - on_host[i]));
            largest = PetscMax(largest, PetscAbsScalar(on_host[i]));
          }
          CHECK(most <= (single ? 1e-4 : 1e5 * exact) * largest);
        }
}

TEST_CASE("levels that each of several GPUs has wholly, and others, solve for the user's matrix",
          "[multigrid][device]") {
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Point &N : {Point{300, 211, 1}, Point{62, 70, 81}})
    for (const char *whole : {"0", "600", "20000", "10000000"}) {
      Problem p = problem(N[2] > 1 ? 3 : 2, N[0], N[1], N[2]);
      Grid    da;
      REQUIRE(try_make_grid(p, &da));
      OK(DMSetVecType(da, VECCUDA));
      Matrix A = make_operator(p, da);
      Vector b = random_vector(da, 1), x = make_vector(da);
      for (const char *solver : {"-test_ksp_type cg", "-test_ksp_type richardson -test_pc_stencilmg_type full"})
        for (int turn = 0; turn < 2; turn++) { // the second time with another matrix
          PetscInt iterations;
          INFO(describe(p) << solver << whole << ", turn " << turn);
          OK(MatScale(A, 2));
          CHECK(solve(A, b, x, std::string(solver) + " -test_ksp_rtol 1e-9 -test_pc_stencilmg_whole_points " + whole,
                      &iterations) > 0);
          CHECK(iterations <= 15);
          CHECK(relative_residual(A, b, x) <= 1e-7);
        }
    }
}

#endif
