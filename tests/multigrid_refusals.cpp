// What stencilmg cannot do: one clear error, whose remedy works.

#include "catch.hpp"

#include "multigrid.hpp"

using namespace tests;

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
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"stencilmg", "aij", "laplace", "gamg", "-dm_mat_type stencil"}), set_up(aij, ""));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"-pc_stencilmg_smooths", "7"}), set_up(A, "-test_pc_stencilmg_smooths 7"));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"-pc_stencilmg_levels", "-1"}), set_up(A, "-test_pc_stencilmg_levels -1"));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"-pc_stencilmg_levels", "20000"}),
               set_up(large, "-test_pc_stencilmg_levels 1"));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"multiplicative_cycles", "0"}),
               set_up(A, "-test_pc_stencilmg_multiplicative_cycles 0"));
  EXPECT_ERROR(PETSC_ERR_USER, ({"cycle_type"}), set_up(A, "-test_pc_stencilmg_cycle_type x"));

  const auto on_grid = [&](const Lattice &l, const Fill &fill) {
    Grid grid;
    REQUIRE(try_make_grid(l, &grid));
    return captured(grid, fill);
  };
  Lattice star = lattice({40, 30, 1}), nine = star, wide = star, two_wide = star;
  nine.dof = 9;
  wide.width = 3;
  two_wide.width = 2;
  two_wide.dof = 2;
  Matrix of_nine = on_grid(nine, diffusion_fill(nine, Form::indexed)),
         of_two_wide = on_grid(two_wide, diffusion_fill(two_wide, Form::indexed)),
         of_wide = on_grid(wide, diffusion_fill(wide, Form::indexed)),
         of_signs = on_grid(star,
                            [](const PetscInt *, const PetscInt arm[3], PetscScalar *block) {
                              *block = arm[0] ? -1 : arm[1] ? 1 : 5;
                            }),
         of_zeros = on_grid(star, [](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
           *block = arm[0] || arm[1] ? -1 : p[0] == 7 && p[1] == 5 ? 0 : 4;
         });
  // the remedy is tried
  const auto refused = [&](Mat B, const char *why, const char *remedy) {
    PetscInt           iterations;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    Vector             x, b;
    INFO(why);
    EXPECT_ERROR(PETSC_ERR_SUP, ({"stencil", why, std::string("-pc_type ") + remedy}), set_up(B, ""));
    Options set(std::string("-test_pc_type ") + remedy + " -test_ksp_type gmres");
    OK(MatCreateVecs(B, &x, &b));
    OK(VecSet(b, 1));
    OK(solve(B, b, x, &iterations, &reason));
    CHECK(reason > 0);
  };
  refused(of_nine, "9", "bjacobi");
  refused(of_two_wide, "not neighbours", "bjacobi");
  refused(of_signs, "opposite signs", "bjacobi");
  refused(of_wide, "not neighbours", "bjacobi");
  refused(of_zeros, "zeros on its diagonal", "jacobi");
}

TEST_CASE("a matrix that fell back to AIJ is told apart from one of another type", "[multigrid]") {
  const Lattice star = lattice({30, 31, 1});
  Grid          da;
  Matrix        A;
  REQUIRE(try_make_grid(star, &da));
  OK(DMSetMatType(da, MATSTENCILSHELL));
  OK(DMCreateMatrix(da, &A));
  Options fallback("-mat_stencil_fallback aij");
  OK(MatSetFromOptions(A));
  PetscInt begin, end;
  OK(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) { // each row to the first too, as no stencil has it
    const PetscInt    columns[2] = {0, row};
    const PetscScalar values[2] = {-1, 4};
    OK(MatSetValues(A, 1, &row, 2, columns, values, ADD_VALUES));
  }
  assemble(A);
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"stencilmg", "aij", "-mat_stencil_fallback", "gamg"}), set_up_of(A, PCSTENCILMG));
}
