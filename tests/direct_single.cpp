// Methods with stencilfft in single precision.

#include "catch.hpp"
#include "separable.hpp"

using namespace tests;
using namespace tests::separable;

TEST_CASE("methods refine what stencilfft solves in single precision", "[direct_single]") {
  Case c;
  c.dim = 2;
  c.axis[0] = rows(0, 127, 1);
  c.axis[1] = rows(12, 90, 1);
  for (bool stretched : {false, true}) {
    Grid da;
    c.axis[1].stretched = stretched;
    c.sigma = 0.01;
    REQUIRE(try_make_grid(c.lattice(), &da));
    Matrix      A = captured(da, c.fill()), aij = assembled(da, c.fill());
    Vector      u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
    const char *single = "-test_pc_stencilfft_precision single -test_ksp_rtol 1e-11 ";
    OK(MatMult(aij, u, b));
    for (const char *how :
         {"-test_ksp_type stencil -test_pc_type stencilfft", "-test_ksp_type cg -test_pc_type stencil",
          "-test_ksp_type richardson -test_pc_type stencilfft"}) {
      PetscInt           its;
      KSPConvergedReason reason;
      Options            set(std::string(single) + how);
      INFO(how << (stretched ? ", stretched" : ""));
      OK(solve(A, b, x, &its, &reason));
      CHECK(reason > 0);
      CHECK((its > 1 && its <= 4)); // one application is not enough
      CHECK(relative_residual(aij, b, x) <= 1e-10);
    }
    const auto solves = [&](const char *how) {
      return [&A, &b, &x, how, single]() {
        Solver ksp = make_solver(A, std::string(single) + how);
        return KSPSolve(ksp, b, x);
      };
    };
    EXPECT_ERROR(PETSC_ERR_SUP, ({"-pc_stencilfft_precision single", "preonly", "_precision double", "_approximate"}),
                 solves("-test_ksp_type preonly -test_pc_type stencilfft"));
    EXPECT_ERROR(PETSC_ERR_SUP, ({"-pc_stencilfft_precision single", "stencil -ksp_norm_type none", "with a norm"}),
                 solves("-test_ksp_type stencil -test_pc_type stencilfft -test_ksp_norm_type none"));
    EXPECT_ERROR(PETSC_ERR_SUP, ({"-pc_stencilfft_precision single", "gmres", "fgmres"}),
                 solves("-test_ksp_type gmres -test_pc_type stencil"));
    CHECK(solves("-test_ksp_type preonly -test_pc_type stencilfft -test_pc_stencilfft_approximate")() == 0);
    CHECK(relative_residual(aij, b, x) <= 1e-3);
  }
}
