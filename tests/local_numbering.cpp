// MatSetValuesStencil() and other calls in local numbers, on matrices that DMCreateMatrix() has not made.

#include "catch.hpp"
#include "support.hpp"

using namespace tests;

static Matrix made_by_hand(DM da, MatType type) {
  Matrix A;
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetType(A, type));
  OK(MatSetFromOptions(A));
  OK(MatSetUp(A));
  return A;
}

TEST_CASE("a captured matrix made by hand takes values in each way", "[numbering]") {
  Lattice l;
  l.N[0] = 9, l.N[1] = 8;
  for (PetscInt dof : {1, 2})
    for (DMBoundaryType ends : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC})
      for (Way way : ways) {
        l.dof = dof;
        l.ends[0] = ends;
        INFO(describe(l) << ", " << name_of(way));
        Twins t(l);
        OK(MatDestroy(&t.A));
        t.A = made_by_hand(t.da, captured_type);
        t.both([&](DM da, Mat M) {
          set_rows(da, M, random_fill(l, Form::arrays, 1), way, INSERT_VALUES);
          assemble(M);
        });
        CHECK(t.operator_problem() == "");
        PetscInt bs;
        OK(MatGetBlockSize(t.A, &bs));
        CHECK(bs == dof);

        const PetscInt rows[2] = {0, 3}; // local: the same points of both
        t.both([&](DM, Mat M) { OK(MatZeroRowsLocal(M, 2, rows, 5, NULL, NULL)); });
        CHECK(t.operator_problem() == "");
      }
}

TEST_CASE("operators made by hand take the values that they have, and no others", "[numbering]") {
  for (int dim = 1; dim <= 3; dim++)
    for (PetscScalar sigma : {PetscScalar(0), PetscScalar(2)}) {
      Problem p = problem(dim, 8, dim > 1 ? 7 : 1, dim > 2 ? 6 : 1);
      p.sigma = sigma;
      INFO(describe(p));
      Grid   da = make_grid(p);
      Matrix A = make_operator(p, da);
      assemble(p, da, A); // by MatSetValuesStencil()
      Matrix reference = make_reference(p, da);
      CHECK(difference(A, reference) <= exact);
      EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"boundary form", "aij"}), [&] {
        MatStencil  point = {};
        PetscScalar value = 999;
        PetscInt    corner[3];
        PetscFunctionBeginUser;
        PetscCall(DMDAGetCorners(da, &corner[0], &corner[1], &corner[2], NULL, NULL, NULL));
        point.i = corner[0], point.j = corner[1], point.k = corner[2];
        PetscCall(MatSetValuesStencil(A, 1, &point, 1, &point, &value, INSERT_VALUES));
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        PetscFunctionReturn(PETSC_SUCCESS);
      });
      assemble(A);
    }
}
