// Boundary forms for each side, their data, and the stencils of fourth order: against rows written down by hand and exact
// solutions.

#include "boundaries.hpp"

#include "formulas/boundary.hpp"

using namespace tests;
using namespace tests::boundaries;

TEST_CASE("a point beyond a mirrored end is the point that rows have there", "[boundaries]") {
  for (PetscInt N = 2; N <= 5; N++) {
    shellac::Ends ends = {};
    ends.N = N, ends.mirror = true, ends.h = 1;
    for (PetscInt i = -9; i < N + 9; i++) {
      PetscInt  inside;
      PetscReal factor, given;
      INFO("the point " << i << " of " << N);
      ends.fold(i, &inside, &factor, &given);
      CHECK(ends.within(i) == inside);
    }
  }
}

TEST_CASE("a value beyond an end follows from linear functions exactly", "[boundaries]") {
  const PetscReal h = 0.25, slope = 3, offset = 2; // u = offset + slope x, with the point 0 at x = 0
  for (MatLaplaceBoundaryType form : all_forms)
    for (shellac::Side side : {shellac::LOWER, shellac::UPPER})
      for (PetscInt beyond : {1, 2}) {
        INFO(MatLaplaceBoundaryTypes[form] << (side ? ", upper, " : ", lower, ") << beyond << " beyond");
        shellac::Ends ends;
        ends.N = 5;
        ends.h = h;
        ends.form[side] = form;
        ends.robin[side] = form == MAT_LAPLACE_ROBIN ? alpha : 0;
        const auto      u = [&](PetscReal i) { return offset + slope * h * i; };
        const PetscReal sign = side ? 1 : -1, boundary = (side ? 4 : 0) + sign * Domain::distance(form);
        const PetscReal g = form == MAT_LAPLACE_NEUMANN ? sign * slope
                            : form == MAT_LAPLACE_ROBIN ? sign * slope + alpha * u(boundary)
                                                        : u(boundary);
        const PetscInt  at = side ? 4 + beyond : -beyond;
        PetscInt        inside;
        PetscReal       factor, given;
        ends.fold(at, &inside, &factor, &given);
        CHECK((inside >= 0 && inside < 5));
        CHECK(std::abs(factor * u((PetscReal)inside) + given * g - u((PetscReal)at)) < 1e-12);
        ends.fold(2, &inside, &factor, &given);
        CHECK((inside == 2 && factor == 1 && given == 0));
      }
}

TEST_CASE("rows with any pair of boundary forms are those of a textbook", "[boundaries]") {
  std::vector<Domain> domains;
  for (MatLaplaceBoundaryType lower : all_forms)
    for (MatLaplaceBoundaryType upper : all_forms) {
      Domain line;
      line.N[0] = 7;
      line.forms[0][0] = lower, line.forms[0][1] = upper;
      domains.push_back(line);
      Domain plane = line;
      plane.dim = 2;
      plane.N[1] = 6;
      plane.lengths[1] = 2;
      plane.forms[1][0] = upper, plane.forms[1][1] = MAT_LAPLACE_NEUMANN;
      domains.push_back(plane);
      Domain space = plane;
      space.dim = 3;
      space.N[2] = 5;
      if (lower == MAT_LAPLACE_NEUMANN) space.ends[2] = DM_BOUNDARY_PERIODIC;
      space.forms[2][0] = MAT_LAPLACE_ROBIN, space.forms[2][1] = lower;
      domains.push_back(space);
      Domain narrow = plane;
      narrow.N[0] = 2;
      domains.push_back(narrow);
    }
  int turn = 0;
  for (const Domain &d : domains) {
    INFO(describe(d));
    Grid   da;
    Matrix A, transposed;
    if (!in_turn(turn++) || !make(d, da, A)) continue;
    Matrix         B = assemble_by_hand(d, da);
    Vector         x = random_vector(da, 3), y = make_vector(da), z = make_vector(da), l = random_vector(da, 4);
    const PetscInt row = 2;
    PetscBool      ours, theirs;
    CHECK(difference(A, B) <= exact);
    OK(MatMult(A, x, y));
    OK(MatMult(B, x, z));
    CHECK(difference(y, z) <= exact);
    OK(MatMultTranspose(A, x, y));
    OK(MatMultTranspose(B, x, z));
    CHECK(difference(y, z) <= exact);
    OK(MatGetDiagonal(A, y));
    OK(MatGetDiagonal(B, z));
    CHECK(difference(y, z) <= exact);
    OK(MatIsSymmetric(A, 1e-12, &ours));
    OK(MatIsSymmetric(B, 1e-12, &theirs));
    CHECK(ours == everywhere(theirs)); // an MPIAIJ has not asked the other ranks
    OK(MatTranspose(A, MAT_INITIAL_MATRIX, &transposed));
    OK(MatTranspose(transposed, MAT_INPLACE_MATRIX, (Mat *)&transposed));
    CHECK(difference(transposed, B) <= exact);
    for (NormType type : {NORM_1, NORM_INFINITY, NORM_FROBENIUS}) {
      PetscReal norms[2];
      OK(MatNorm(A, type, &norms[0]));
      OK(MatNorm(B, type, &norms[1]));
      CHECK(difference(norms[0], norms[1]) <= 10 * exact);
    }
    // what gives single points rows of their own
    OK(MatDiagonalScale(A, l, x));
    OK(MatDiagonalScale(B, l, x));
    CHECK(difference(A, B) <= exact);
    OK(MatZeroRowsColumns(A, rank_count() > 1 ? 0 : 1, &row, 3, NULL, NULL));
    OK(MatZeroRowsColumns(B, rank_count() > 1 ? 0 : 1, &row, 3, NULL, NULL));
    OK(MatMultTranspose(A, x, y));
    OK(MatMultTranspose(B, x, z));
    CHECK(difference(y, z) <= exact);
    OK(MatGetDiagonal(A, y));
    OK(MatAXPY(A, 2, transposed, DIFFERENT_NONZERO_PATTERN));
    OK(MatAXPY(B, 2, assemble_by_hand(d, da), DIFFERENT_NONZERO_PATTERN));
    CHECK(difference(A, B) <= exact);
  }
}

TEST_CASE("boxes have the rows of Collatz, and of Spotz and Carey", "[boundaries]") {
  for (int dim : {2, 3}) {
    Domain d;
    Grid   da;
    Matrix A;
    d.dim = dim;
    d.shape = MAT_LAPLACE_BOX;
    d.sigma = 0;
    for (int a = 0; a < dim; a++) d.N[a] = 5, d.lengths[a] = 6; // h = 1
    if (dim == 2) d.lengths[1] = 3;                             // but 1/2 along y
    REQUIRE(make(d, da, A));
    Matrix   aij;
    PetscInt first, last, center = 0;
    AO       ao;
    OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
    OK(MatGetOwnershipRange(aij, &first, &last));
    OK(DMDAGetAO(da, &ao));
    center = dim == 2 ? 12 : 62; // the middle, in natural numbers
    OK(AOApplicationToPetsc(ao, 1, &center));
    bool right = true;
    if (center >= first && center < last) {
      PetscInt           n;
      const PetscInt    *columns;
      const PetscScalar *values;
      OK(MatGetRow(aij, center, &n, &columns, &values));
      right = n == (dim == 2 ? 9 : 27);
      for (PetscInt e = 0; e < n; e++) {
        PetscInt natural = columns[e], steps = 0;
        OK(AOPetscToApplication(ao, 1, &natural));
        const PetscInt x = PetscAbsInt(natural % 5 - 2), y = PetscAbsInt(natural / 5 % 5 - 2),
                       z = dim == 3 ? PetscAbsInt(natural / 25 - 2) : 0;
        steps = x + y + z;
        // 1/h² is 1 along x and 4 along y
        const PetscReal in_plane = steps == 0 ? 10 - 5. / 3 : steps == 2 ? -5. / 12 : x ? -1 + 5. / 6 : -4 + 5. / 6;
        const PetscReal in_space[] = {128. / 30, -14. / 30, -3. / 30, -1. / 30};
        right = right && PetscAbsScalar(values[e] - (dim == 2 ? in_plane : in_space[steps])) < 1e-13;
      }
      OK(MatRestoreRow(aij, center, &n, &columns, &values));
    }
    CHECK(everywhere(right));
  }
}

TEST_CASE("solutions are of second order with any pair of boundary forms and their data", "[boundaries]") {
  int turn = 0;
  for (MatLaplaceBoundaryType lower : all_forms)
    for (MatLaplaceBoundaryType upper : all_forms) {
      if (!in_turn(turn++)) continue;
      Domain coarse;
      coarse.forms[0][0] = lower, coarse.forms[0][1] = upper;
      coarse.N[0] = 20;
      Domain fine = coarse;
      fine.N[0] = 40;
      INFO(describe(coarse));
      CHECK(std::abs(order(coarse, fine) - 2) < 0.15);
      if (lower == upper || rank_count() == 3) continue;
      coarse.dim = fine.dim = 2;
      coarse.forms[1][0] = fine.forms[1][0] = upper;
      coarse.forms[1][1] = fine.forms[1][1] = MAT_LAPLACE_NEUMANN;
      coarse.N[0] = 8, coarse.N[1] = 7, fine.N[0] = 17, fine.N[1] = 15;
      INFO(describe(coarse));
      CHECK(order(coarse, fine) > 1.7);
    }
}

TEST_CASE("boxes are of second order with any pair of forms at a corner, whichever axis has which", "[boundaries]") {
  const auto others = {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_ROBIN};
  int        turn = 0;
  for (int dim : {2, 3})
    for (MatLaplaceBoundaryType x : all_forms)
      for (MatLaplaceBoundaryType y : all_forms)
        for (MatLaplaceBoundaryType z : others) {
          Domain coarse;
          if (dim == 2 && z != MAT_LAPLACE_ELIMINATED) continue;
          if (dim == 3 && x == y) continue;
          if (!in_turn(turn++)) continue;
          coarse.dim = dim;
          coarse.shape = MAT_LAPLACE_BOX;
          for (int a = 0; a < dim; a++) { // the upper side like the lower one of the next axis
            const MatLaplaceBoundaryType forms[] = {x, y, z};
            coarse.forms[a][0] = forms[a], coarse.forms[a][1] = forms[(a + 1) % dim];
            coarse.N[a] = dim == 2 ? 9 : 7;
          }
          Domain fine = coarse; // a third of each spacing
          for (int a = 0; a < dim; a++) {
            const PetscReal beyond = Domain::distance(coarse.forms[a][0]) + Domain::distance(coarse.forms[a][1]);
            fine.N[a] = 3 * coarse.N[a] - 2 + (PetscInt)(2 * beyond);
          }
          INFO(describe(coarse));
          CHECK(order(coarse, fine) > 1.7);
        }
}

TEST_CASE("constants are solutions with any forms at a corner", "[boundaries]") {
  const auto f = [](PetscInt, const PetscReal[], PetscScalar *value, void *ctx) -> PetscErrorCode {
    *value = static_cast<Domain *>(ctx)->sigma;
    return PETSC_SUCCESS;
  };
  const auto g = [](PetscInt, const PetscReal[], PetscInt axis, PetscBool upper, PetscScalar *value,
                    void *ctx) -> PetscErrorCode {
    const auto form = static_cast<Domain *>(ctx)->forms[axis][upper ? 1 : 0];
    *value = form == MAT_LAPLACE_NEUMANN ? 0 : form == MAT_LAPLACE_ROBIN ? alpha : 1;
    return PETSC_SUCCESS;
  };
  int turn = 0;
  for (int dim : {2, 3})
    for (MatLaplaceShapeType shape : {MAT_LAPLACE_STAR, MAT_LAPLACE_BOX})
      for (MatLaplaceBoundaryType x : all_forms)
        for (MatLaplaceBoundaryType y : all_forms)
          for (MatLaplaceBoundaryType z : all_forms) {
            Domain d;
            Grid   da;
            Matrix A;
            if ((dim == 2 && z != x) || !in_turn(turn++)) continue;
            d.dim = dim;
            d.shape = shape;
            for (int a = 0; a < dim; a++) {
              const MatLaplaceBoundaryType forms[] = {x, y, z};
              d.forms[a][0] = d.forms[a][1] = forms[a];
              d.N[a] = 5;
            }
            INFO(describe(d));
            if (!make(d, da, A)) continue;
            Vector    one = make_vector(da), b = make_vector(da), r = make_vector(da);
            PetscReal residual, largest;
            OK(VecSet(one, 1));
            OK(MatLaplaceSetRightHandSide(A, f, g, &d, b));
            OK(MatResidual(A, b, one, r));
            OK(VecNorm(r, NORM_INFINITY, &residual));
            OK(MatNorm(A, NORM_INFINITY, &largest));
            CHECK(residual <= 10 * exact * largest);
          }
}

TEST_CASE("boxes are of fourth order with their right-hand sides", "[boundaries]") {
  int turn = 0;
  for (int dim : {1, 2, 3})
    for (int kind = 0; kind < 3; kind++) { // eliminated, identity to eliminated, periodic along y
      Domain coarse, fine;
      coarse.dim = dim;
      coarse.shape = MAT_LAPLACE_BOX;
      if ((kind == 2 && dim < 2) || !in_turn(turn++)) continue;
      for (int a = 0; a < dim; a++) {
        if (kind > 0) coarse.forms[a][0] = MAT_LAPLACE_IDENTITY;
        coarse.N[a] = (dim == 3 ? 6 : 9) + (kind > 0);
      }
      if (kind == 2) coarse.ends[1] = DM_BOUNDARY_PERIODIC, coarse.N[1] = 12, coarse.lengths[1] = 2;
      fine = coarse;
      for (int a = 0; a < dim; a++) fine.N[a] = coarse.periodic(a) ? 2 * coarse.N[a] : 2 * coarse.N[a] + (kind == 0);
      INFO(describe(coarse));
      CHECK(order(coarse, fine) > 3.7);
    }
}

TEST_CASE("boundary data follow MatScale(), and are refused where there are none", "[boundaries]") {
  Domain d;
  Grid   da;
  Matrix A;
  d.N[0] = 9;
  d.forms[0][1] = MAT_LAPLACE_ROBIN;
  REQUIRE(make(d, da, A));
  Vector b = make_vector(da), c = make_vector(da);
  OK(MatLaplaceSetRightHandSide(A, source, data, &d, b));
  OK(MatScale(A, 3));
  OK(MatLaplaceSetRightHandSide(A, source, data, &d, c));
  OK(VecScale(b, 3));
  CHECK(difference(c, b) <= exact);
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"g", "null"}), [&] { return MatLaplaceAddBoundary(A, NULL, NULL, b); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"f", "null"}), [&] { return MatLaplaceSetRightHandSide(A, NULL, data, &d, b); });
  if (rank_count() > 1) // and no rank waits for the others
    EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"g", "null"}), [&] {
      PetscMPIInt rank;
      MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
      return MatLaplaceSetRightHandSide(A, source, rank ? data : NULL, &d, b);
    });
  EXPECT_ERROR(PETSC_ERR_USER, ({"returned an error"}), [&] { return MatLaplaceAddBoundary(A, no_data, NULL, b); });
  Matrix B = assemble_by_hand(d, da);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"laplace", "aij"}), [&] { return MatLaplaceAddBoundary(B, data, &d, b); });
}

TEST_CASE("stencilmg solves with boxes on cells of any ratio", "[boundaries]") {
  int turn = 0;
  for (int dim : {2, 3})
    for (PetscReal ratio : {1., 3., 10., 1000.})
      for (KSPType method : {KSPCG, KSPRICHARDSON}) {
        if (!in_turn(turn++)) continue;
        Domain             d;
        Grid               da;
        Matrix             A;
        Solver             ksp;
        PC                 pc;
        KSPConvergedReason reason;
        PetscInt           iterations;
        d.dim = dim;
        d.shape = MAT_LAPLACE_BOX;
        for (int a = 0; a < dim; a++) d.N[a] = dim == 2 ? 31 : 15;
        d.lengths[1] = 1 / ratio;
        d.forms[1][1] = MAT_LAPLACE_NEUMANN;
        INFO(describe(d) << ", ratio " << ratio << ", " << method);
        REQUIRE(make(d, da, A));
        OK(MatScale(A, 2));
        Vector b = random_vector(da, 3), x = make_vector(da), r = make_vector(da);
        OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
        OK(KSPSetOperators(ksp, A, A));
        OK(KSPSetType(ksp, method));
        OK(KSPGetPC(ksp, &pc));
        OK(PCSetType(pc, PCSTENCILMG));
        OK(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 40));
        OK(KSPSolve(ksp, b, x));
        OK(KSPGetConvergedReason(ksp, &reason));
        OK(KSPGetIterationNumber(ksp, &iterations));
        INFO(iterations << " iterations");
        CHECK(reason > 0);
        CHECK(iterations <= (method == std::string(KSPCG) ? 14 : 30));
        OK(MatMult(A, x, r));
        CHECK(difference(r, b) < 1e-6);
      }
}
