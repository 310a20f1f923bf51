// PCTELESCOPE: the multigrid on a part of the ranks, over a grid and a matrix that PETSc makes there.

#include "catch.hpp"
#include "support.hpp"

using namespace tests;

static PetscErrorCode compute_operator(KSP ksp, Mat, Mat P, void *context) {
  DM da;
  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  assemble(*static_cast<Problem *>(context), da, P);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode compute_right_hand_side(KSP, Vec b, void *) {
  return VecSet(b, 1);
}

TEST_CASE("stencilmg in a telescope", "[telescope]") {
  if (rank_count() % 2) return;
  for (const char *ends : {"", "-telescope_ksp_type cg -telescope_ksp_rtol 1e-10"}) {
    Problem p = problem(2, 33, 29);
    Options set("-ksp_type cg -ksp_rtol 1e-9 -pc_type telescope -pc_telescope_reduction_factor 2 "
                "-telescope_pc_type stencilmg -telescope_repart_dm_mat_type stencil " +
                std::string(ends));
    Grid    da = make_grid(p);
    Solver  ksp;
    Vector  expected = make_vector(da), b = make_vector(da);
    OK(DMSetMatType(da, MATSTENCILSHELL));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetDM(ksp, da));
    OK(KSPSetComputeOperators(ksp, compute_operator, &p));
    OK(KSPSetComputeRHS(ksp, compute_right_hand_side, NULL));
    OK(KSPSetFromOptions(ksp));
    OK(KSPSolve(ksp, NULL, NULL));

    Vec                x;
    PetscInt           iterations;
    KSPConvergedReason reason;
    OK(KSPGetSolution(ksp, &x));
    OK(KSPGetConvergedReason(ksp, &reason));
    OK(KSPGetIterationNumber(ksp, &iterations));
    CHECK(reason > 0);
    CHECK(iterations <= 8);
    Matrix reference = make_reference(p, da);
    OK(VecSet(b, 1));
    OK(MatMult(reference, x, expected));
    CHECK(difference(expected, b) <= 1e-8);
  }
}

// The grid that a telescope makes has a prefix: without the option above, the error must name it. (It is an error on the
// part of the ranks that solve, which ends the program by PETSc's default handler; here a DM has such a prefix at once.)
TEST_CASE("a grid with a prefix is named with it", "[telescope]") {
  Problem p = problem(2, 17, 15);
  Grid    da = make_grid(p);
  Matrix  aij = make_reference(p, da);
  Solver  ksp;
  PC      pc;
  OK(DMSetOptionsPrefix(da, "telescope_repart_"));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, aij, aij));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetDM(pc, da));
  OK(PCSetType(pc, PCSTENCILMG));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"-telescope_repart_dm_mat_type stencil"}), [&] { return KSPSetUp(ksp); });
}
