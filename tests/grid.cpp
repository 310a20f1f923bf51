// Where points are: spacings from coordinates, uneven distributions, what crosses the ranks.

#include "catch.hpp"
#include "support.hpp"

using namespace tests;

TEST_CASE("uniform coordinates give the spacing that the lengths give", "[grid]") {
  for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN})
    for (int dim = 1; dim <= 3; dim++) {
      Problem p = problem(dim, 9, dim > 1 ? 6 : 1, dim > 2 ? 5 : 1);
      p.boundary = form;
      p.sigma = 1;
      INFO(describe(p));
      Grid da = make_grid(p);
      // the nodes are where the form says, on a domain that starts at 2, 3, 4
      PetscReal ends[3][2] = {};
      for (int a = 0; a < dim; a++) {
        p.lengths[a] = PetscReal(0.5) * (a + 2);
        ends[a][0] = 2 + a + p.coordinate(a, 0);
        ends[a][1] = 2 + a + p.coordinate(a, p.N[a] - 1);
      }
      OK(DMDASetUniformCoordinates(da, ends[0][0], ends[0][1], ends[1][0], ends[1][1], ends[2][0], ends[2][1]));
      Matrix A, B = make_reference(p, da);
      OK(MatCreate(PETSC_COMM_WORLD, &A));
      OK(MatSetDM(A, da));
      OK(MatSetType(A, MATHELMHOLTZ));
      OK(MatLaplaceSetBoundary(A, form));
      OK(MatHelmholtzSetShift(A, 1));
      OK(MatSetUp(A));
      CHECK(difference(A, B) <= 100 * exact); // the spacing is a difference of coordinates

      // lengths that are given go before coordinates
      p.lengths[0] = 7;
      Matrix C = make_operator(p, da), D = make_reference(p, da);
      CHECK(difference(C, D) <= exact);
    }
}

TEST_CASE("coordinates of a periodic axis span its period", "[grid]") {
  Problem p = problem(2, 8, 6);
  p.ends[0] = p.ends[1] = DM_BOUNDARY_PERIODIC;
  p.lengths[0] = 3;
  Grid   da = make_grid(p);
  Matrix A, B = make_reference(p, da);
  OK(DMDASetUniformCoordinates(da, 0, 3, 0, 1, 0, 0)); // PETSc leaves out the last node of such an axis
  OK(MatCreateLaplace(da, &A));
  CHECK(difference(A, B) <= 100 * exact);
}

TEST_CASE("coordinates that are not uniform are an error", "[grid]") {
  Grid        da = make_grid(problem(2, 9, 6));
  Vec         coordinates;
  Matrix      A;
  PetscInt    start;
  PetscScalar last;
  OK(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 0));
  OK(DMGetCoordinates(da, &coordinates));
  OK(VecGetOwnershipRange(coordinates, &start, NULL));
  last = 0.1; // on one rank only
  if (rank_count() == 1 || start > 0) OK(VecSetValues(coordinates, 1, &start, &last, INSERT_VALUES));
  OK(VecAssemblyBegin(coordinates));
  OK(VecAssemblyEnd(coordinates));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"uniform", "DMDASetUniformCoordinates"}),
               [&] { return MatCreateLaplace(da, &A); });

  // stretched
  PetscScalar *x;
  PetscInt     n;
  OK(VecGetLocalSize(coordinates, &n));
  OK(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 0));
  OK(DMGetCoordinates(da, &coordinates));
  OK(VecGetArray(coordinates, &x));
  for (PetscInt i = 0; i < n; i++) x[i] *= x[i];
  OK(VecRestoreArray(coordinates, &x));
  Matrix B;
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"uniform"}), [&] { return MatCreateLaplace(da, &B); });

  // one NaN; all
  OK(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 0));
  OK(DMGetCoordinates(da, &coordinates));
  OK(VecGetOwnershipRange(coordinates, &start, NULL));
  if (start == 0) OK(VecSetValue(coordinates, start, NAN, INSERT_VALUES));
  OK(VecAssemblyBegin(coordinates));
  OK(VecAssemblyEnd(coordinates));
  Matrix C;
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"uniform"}), [&] { return MatCreateLaplace(da, &C); });
  OK(VecSet(coordinates, NAN));
  Matrix D;
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"uniform"}), [&] { return MatCreateLaplace(da, &D); });
}

TEST_CASE("uneven distributions", "[grid]") {
  const int             ranks = rank_count();
  std::vector<PetscInt> widths(ranks);
  PetscInt              N = 0;
  for (int r = 0; r < ranks; r++) N += widths[r] = r == 1 ? 1 : 3 + 2 * r; // one rank is a point wide
  for (DMBoundaryType ends : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR})
    for (int axis = 0; axis < 2; axis++) {
      Problem p = problem(2, axis == 0 ? N : 5, axis == 0 ? 5 : N);
      p.ends[0] = p.ends[1] = ends;
      p.sigma = 1;
      INFO(describe(p) << ", axis " << axis);
      Grid da;
      OK(DMDACreate2d(PETSC_COMM_WORLD, p.ends[0], p.ends[1], DMDA_STENCIL_STAR, p.N[0], p.N[1], axis == 0 ? ranks : 1,
                      axis == 0 ? 1 : ranks, 1, ends == DM_BOUNDARY_MIRROR ? 0 : 1, axis == 0 ? widths.data() : NULL,
                      axis == 0 ? NULL : widths.data(), &da));
      OK(DMSetFromOptions(da));
      OK(DMSetUp(da));
      Matrix A = make_operator(p, da), B = make_reference(p, da);
      Vector x = random_vector(da, 1), y = make_vector(da), z = make_vector(da);
      OK(MatMult(A, x, y));
      OK(MatMult(B, x, z));
      CHECK(difference(y, z) <= exact);
      CHECK(difference(A, B) <= exact);
    }
}

TEST_CASE("wider stencils, boxes and ghosted ends of the DMDA make no difference", "[grid]") {
  Problem p = problem(2, 12, 11);
  p.sigma = 1;
  Grid   plain = make_grid(p);
  Matrix B = make_reference(p, plain);
  for (DMDAStencilType stencil : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX})
    for (DMBoundaryType ends : {DM_BOUNDARY_NONE, DM_BOUNDARY_GHOSTED})
      for (PetscInt width : {0, 1, 2}) {
        INFO("width " << width << ", stencil " << stencil << ", ends " << ends);
        Grid da;
        OK(DMDACreate2d(PETSC_COMM_WORLD, ends, ends, stencil, p.N[0], p.N[1], PETSC_DECIDE, PETSC_DECIDE, 1, width,
                        NULL, NULL, &da));
        OK(DMSetFromOptions(da));
        OK(DMSetUp(da));
        Matrix A = make_operator(p, da);
        CHECK(difference(A, B) <= exact);
        Vector x = random_vector(da, 1), y = make_vector(da), z = make_vector(da);
        OK(MatMult(A, x, y));
        OK(MatMult(B, x, z));
        CHECK(difference(y, z) <= exact);
      }
}

TEST_CASE("two operators of one grid do not disturb each other's halos", "[grid]") {
  Problem p = problem(2, 12, 11), q = p;
  q.sigma = 4;
  Grid   da = make_grid(p);
  Matrix A = make_operator(p, da), B = make_operator(q, da);
  Matrix A_reference = make_reference(p, da), B_reference = make_reference(q, da);
  Vector x = random_vector(da, 1), y = make_vector(da), z = make_vector(da);
  for (int repeat = 0; repeat < 5; repeat++) { // y = A B x
    Vector t = make_vector(da);
    OK(MatMult(B, x, t));
    OK(MatMult(A, t, y));
    OK(MatMult(B_reference, x, t));
    OK(MatMult(A_reference, t, z));
    CHECK(difference(y, z) <= 10 * exact);
    OK(VecCopy(y, x));
    OK(VecNormalize(x, NULL));
  }
}

TEST_CASE("sizes of axes beyond the dimension do not count", "[grid]") {
  for (int dim = 1; dim <= 2; dim++) {
    Problem p = problem(dim, 8, dim > 1 ? 7 : 1);
    INFO(describe(p));
    Grid da;
    OK(DMDACreate(PETSC_COMM_WORLD, &da));
    OK(DMSetDimension(da, dim)); // chosen at run time, say, by a program that always gives three sizes
    OK(DMDASetSizes(da, 8, 7, 6));
    OK(DMDASetBoundaryType(da, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_TWIST));
    OK(DMDASetDof(da, 1));
    OK(DMDASetStencilWidth(da, 1));
    OK(DMSetFromOptions(da));
    OK(DMSetUp(da));
    Matrix A = make_operator(p, da), B = make_reference(p, da);
    CHECK(difference(A, B) <= exact);
  }
}
