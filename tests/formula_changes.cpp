// Operators of a formula after changes: new shifts, sums, null spaces, settings that come too late.

#include "boundaries.hpp"

using namespace tests;
using namespace tests::boundaries;

TEST_CASE("a new shift gives the operator that has it from the start, whatever came before", "[boundaries]") {
  for (MatLaplaceBoundaryType form : all_forms) {
    Domain d;
    Grid   da;
    Matrix A, B, blank;
    d.dim = 2;
    d.N[0] = 6, d.N[1] = 5;
    for (int side = 0; side < 2; side++) d.forms[0][side] = d.forms[1][side] = form;
    d.shape = MAT_LAPLACE_BOX;
    INFO(describe(d));
    REQUIRE(make(d, da, A));
    d.sigma = 0;
    REQUIRE(make(d, da, B));
    OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &blank));
    OK(MatTranspose(blank, MAT_INPLACE_MATRIX, (Mat *)&blank));
    for (Mat M : {(Mat)A, (Mat)blank})
      for (PetscReal sigma : {0.1, 0.7, 1e6, 0.}) OK(MatHelmholtzSetShift(M, sigma));
    Vector       x = random_vector(da, 1), y = make_vector(da), z = make_vector(da);
    MatNullSpace null;
    OK(MatMult(A, x, y));
    OK(MatMult(B, x, z));
    CHECK(difference(y, z) == 0);
    OK(MatGetNullSpace(A, &null));
    CHECK((null != NULL) == (form == MAT_LAPLACE_NEUMANN));
    // zero until it is assembled, then the transpose with the new shift
    PetscInt    first;
    PetscScalar entry;
    PetscReal   norm;
    OK(MatMult(blank, x, y));
    OK(VecNorm(y, NORM_INFINITY, &norm));
    CHECK(norm == 0);
    OK(MatGetOwnershipRange(blank, &first, NULL));
    OK(MatGetValues(B, 1, &first, 1, &first, &entry));
    OK(MatSetValues(blank, 1, &first, 1, &first, &entry, INSERT_VALUES));
    OK(MatAssemblyBegin(blank, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(blank, MAT_FINAL_ASSEMBLY));
    OK(MatMult(blank, x, y));
    OK(MatMultTranspose(B, x, z));
    CHECK(difference(y, z) <= exact);
    // between MatZeroEntries() and the assembly
    OK(MatZeroEntries(A));
    OK(MatHelmholtzSetShift(A, 3));
    EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"MatZeroEntries()"}), [&] { return MatMult(A, x, y); });
  }
}

TEST_CASE("a shift that is refused changes nothing", "[boundaries]") {
  Grid        da = make_grid(problem(1, 9));
  Matrix      A;
  PetscScalar sigma;
  Options     o("-mat_helmholtz_lengths 1.6e-153"); // 1/h² is large, and finite
  if (sizeof(PetscReal) != sizeof(double)) return;
  OK(MatCreateHelmholtz(da, 4, &A));
  Vector before = make_vector(da), after = make_vector(da);
  OK(MatGetDiagonal(A, before));
  EXPECT_ERROR(PETSC_ERR_USER, ({"coefficient"}), [&] { return MatHelmholtzSetShift(A, PETSC_MAX_REAL); });
  OK(MatHelmholtzGetShift(A, &sigma));
  CHECK(sigma == PetscScalar(4));
  OK(MatGetDiagonal(A, after));
  CHECK(difference(after, before) == 0);
  OK(MatHelmholtzSetShift(A, 5));
}

TEST_CASE("a shift is not set where single rows have changed", "[boundaries]") {
  Domain         d;
  Grid           da;
  Matrix         A, B;
  const PetscInt row = 0;
  d.N[0] = 6;
  REQUIRE(make(d, da, A));
  REQUIRE(make(d, da, B));
  OK(MatZeroRows(A, 1, &row, 1, NULL, NULL));
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"MatZeroRows()", "shift"}), [&] { return MatHelmholtzSetShift(A, 5); });
  PetscScalar sigma;
  OK(MatHelmholtzGetShift(A, &sigma));
  CHECK(sigma == d.sigma);
  // a copy of another operator is as that one is
  PetscBool set, symmetric;
  OK(MatCopy(B, A, DIFFERENT_NONZERO_PATTERN));
  OK(MatIsSymmetricKnown(A, &set, &symmetric));
  CHECK((set && symmetric));
  OK(MatHelmholtzSetShift(A, 5));
  OK(MatHelmholtzSetShift(B, 5));
  CHECK(difference(A, B) == 0);
}

TEST_CASE("a conjugate operator has the conjugate settings, and new ones act on it", "[boundaries]") {
  const PetscScalar sigma = PetscReal(2) + random_value(1, 1), factor = PetscReal(2) + random_value(2, 1),
                    later = PetscReal(5) + random_value(3, 1);
  Domain d;
  Grid   da;
  Matrix A, B;
  d.dim = 2;
  d.N[0] = 6, d.N[1] = 5;
  d.forms[0][0] = MAT_LAPLACE_ROBIN;
  d.sigma = sigma;
  REQUIRE(make(d, da, A));
  OK(MatScale(A, factor));
  OK(MatConjugate(A));
  PetscScalar present;
  OK(MatHelmholtzGetShift(A, &present));
  CHECK(everywhere(present == PetscConj(sigma)));
  d.sigma = PetscConj(sigma);
  for (bool changed : {false, true}) {
    if (changed) OK(MatHelmholtzSetShift(A, d.sigma = later));
    REQUIRE(make(d, da, B));
    OK(MatScale(B, PetscConj(factor)));
    CHECK(difference(A, B) <= exact);
    Vector b = make_vector(da), c = make_vector(da);
    OK(MatLaplaceSetRightHandSide(A, source, data, &d, b));
    OK(MatLaplaceSetRightHandSide(B, source, data, &d, c));
    CHECK(difference(b, c) <= exact);
  }
}

TEST_CASE("operators whose single rows have changed may be symmetric", "[boundaries]") {
  Domain d;
  Grid   da;
  Matrix A, B;
  d.dim = 2;
  d.N[0] = 6, d.N[1] = 5;
  REQUIRE(make(d, da, A));
  const PetscInt row = 3;
  PetscBool      known, symmetric;
  OK(MatIsSymmetricKnown(A, &known, &symmetric));
  CHECK((known && symmetric));
  OK(MatZeroRowsColumns(A, rank_count() > 1 ? 0 : 1, &row, 1, NULL, NULL));
  OK(MatDuplicate(A, MAT_COPY_VALUES, &B));
  for (Mat M : {(Mat)A, (Mat)B}) {
    OK(MatIsSymmetricKnown(M, &known, &symmetric));
    CHECK(!known);
    OK(MatIsSymmetric(M, 0, &symmetric));
    CHECK(symmetric);
  }
  Vector x = make_vector(da), y = make_vector(da), z = make_vector(da); // with values that wait for an assembly
  OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
  OK(MatMult(B, random_vector(da, 1), x));
  PetscReal norm;
  OK(VecNorm(x, NORM_INFINITY, &norm));
  CHECK(norm == 0);
  OK(MatCopy(A, B, SAME_NONZERO_PATTERN));
  CHECK(difference(B, A) == 0);
  OK(MatDiagonalScale(A, random_vector(da, 2), NULL));
  OK(MatIsSymmetricKnown(A, &known, &symmetric));
  CHECK(!(known && symmetric));
  OK(MatIsSymmetric(A, 1e-12, &symmetric));
  CHECK(!symmetric);
  Grid    plane = make_grid(problem(2, 6, 5)); // advection is not symmetric but where nothing flows
  Options o("-mat_advection_diffusion_velocity 0,0");
  OK(MatCreate(PETSC_COMM_WORLD, &B));
  OK(MatSetDM(B, plane));
  OK(MatSetType(B, MATADVECTIONDIFFUSION));
  OK(MatSetFromOptions(B));
  OK(MatSetUp(B));
  OK(MatIsSymmetric(B, 0, &symmetric));
  CHECK(symmetric);
}

// PETSc takes such a matrix' transpose for the matrix itself, and ICC for its preconditioner.
TEST_CASE("an AIJ made of a symmetric operator does not stay symmetric when its entries change", "[boundaries]") {
  const Problem  p = problem(2, 8, 7);
  Grid           da = make_grid(p);
  Matrix         A = make_operator(p, da), aij;
  const PetscInt row = 9;
  PetscBool      known, is;
  for (MatReuse reuse : {MAT_INITIAL_MATRIX, MAT_REUSE_MATRIX}) {
    OK(MatConvert(A, MATAIJ, reuse, &aij));
    OK(MatIsSymmetricKnown(aij, &known, &is));
    CHECK((known && is));
    if (rank_count() == 1) OK(MatSetValue(aij, row, row + 1, 5, INSERT_VALUES));
    OK(MatAssemblyBegin(aij, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(aij, MAT_FINAL_ASSEMBLY));
    OK(MatIsSymmetricKnown(aij, &known, &is));
    CHECK(!known);
  }
}

TEST_CASE("null spaces of sums are those of both operators", "[boundaries]") {
  Problem p = problem(2, 5, 4);
  p.ends[0] = p.ends[1] = DM_BOUNDARY_MIRROR;
  Grid         da;
  MatNullSpace null;
  if (try_make_grid(p, &da)) {
    Matrix A = make_operator(p, da), B;
    OK(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
    OK(MatGetNullSpace(B, &null));
    CHECK(null != NULL);
    OK(MatAXPY(B, 1, A, SAME_NONZERO_PATTERN));
    OK(MatGetNullSpace(B, &null));
    CHECK(null == NULL);
  }
  // a duplicate without values is zero
  Domain d;
  Grid   line;
  Matrix A, B;
  d.N[0] = 6;
  d.forms[0][0] = d.forms[0][1] = MAT_LAPLACE_NEUMANN;
  REQUIRE(make(d, line, A));
  OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
  OK(MatAXPY(A, -1, B, SAME_NONZERO_PATTERN));
  OK(MatGetNullSpace(A, &null));
  CHECK(null == NULL);
}

TEST_CASE("sources and data are asked for within periodic and mirrored axes", "[boundaries]") {
  Problem p = problem(2, 4, 4);
  for (DMBoundaryType ends : {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR}) {
    Grid   da;
    Matrix A;
    p.ends[0] = ends;
    if (!try_make_grid(p, &da)) continue;
    OK(MatCreate(PETSC_COMM_WORLD, &A));
    OK(MatSetDM(A, da));
    OK(MatSetType(A, MATLAPLACE));
    OK(MatLaplaceSetShape(A, MAT_LAPLACE_BOX));
    OK(MatSetUp(A));
    Vector                 b = make_vector(da);
    bool                   within = true;
    const MatLaplaceSource f = [](PetscInt, const PetscReal x[], PetscScalar *value, void *ctx) {
      if (x[0] < 0 || x[0] > 1) *static_cast<bool *>(ctx) = false;
      *value = 1;
      return (PetscErrorCode)PETSC_SUCCESS;
    };
    const MatLaplaceBoundaryData g = [](PetscInt, const PetscReal x[], PetscInt, PetscBool, PetscScalar *value,
                                        void *ctx) {
      if (x[0] < 0 || x[0] > 1) *static_cast<bool *>(ctx) = false;
      *value = 1;
      return (PetscErrorCode)PETSC_SUCCESS;
    };
    OK(MatLaplaceSetRightHandSide(A, f, g, &within, b));
    CHECK(everywhere(within));
  }
}

TEST_CASE("data are asked for on the boundary, also where sides meet", "[boundaries]") {
  for (MatLaplaceBoundaryType form : all_forms) {
    Domain d;
    Grid   da;
    Matrix A;
    d.dim = 3;
    d.shape = MAT_LAPLACE_BOX;
    for (int a = 0; a < 3; a++) d.N[a] = 4, d.forms[a][0] = form, d.forms[a][1] = MAT_LAPLACE_NEUMANN;
    REQUIRE(make(d, da, A));
    Vector                       b = make_vector(da);
    bool                         on_side = true;
    const MatLaplaceBoundaryData g = [](PetscInt, const PetscReal x[], PetscInt axis, PetscBool upper,
                                        PetscScalar *value, void *ctx) {
      bool &on = *static_cast<bool *>(ctx);
      on = on && std::abs(x[axis] - (upper ? 1 : 0)) < 1e-12;
      for (int a = 0; a < 3; a++) on = on && x[a] > -1e-12 && x[a] < 1 + 1e-12;
      *value = 1;
      return (PetscErrorCode)PETSC_SUCCESS;
    };
    OK(MatLaplaceAddBoundary(A, g, &on_side, b));
    CHECK(everywhere(on_side));
  }
}

TEST_CASE("data of the boundary are refused where they are no longer the operator's", "[boundaries]") {
  Grid                         da = make_grid(problem(1, 8));
  Matrix                       A, B, other;
  Vector                       b = make_vector(da), d = random_vector(da, 1);
  const MatLaplaceBoundaryData g = [](PetscInt, const PetscReal[], PetscInt, PetscBool, PetscScalar *value, void *) {
    return *value = 1, (PetscErrorCode)PETSC_SUCCESS;
  };
  for (Mat *M : {&A, &B, &other}) OK(MatCreateLaplace(da, M));
  OK(MatScale(A, 2));
  OK(MatShift(A, 1));
  OK(MatLaplaceAddBoundary(A, g, NULL, b));
  OK(MatDiagonalScale(A, d, NULL));
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"MatDiagonalScale()", "call this before"}),
               [&] { return MatLaplaceAddBoundary(A, g, NULL, b); });
  OK(MatAXPY(B, 1, other, SAME_NONZERO_PATTERN));
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"MatAXPY()", "call this before"}),
               [&] { return MatLaplaceAddBoundary(B, g, NULL, b); });
}

TEST_CASE("the domain begins at the coordinates' or, with lengths, at the origin", "[boundaries]") {
  for (bool lengths : {false, true}) {
    Grid   da = make_grid(problem(1, 9));
    Matrix A;
    OK(DMDASetUniformCoordinates(da, 5, 9, 0, 0, 0, 0)); // h = 1/2
    Options o(lengths ? "-mat_laplace_lengths 20" : "-mat_laplace_boundary eliminated");
    OK(MatCreateLaplace(da, &A));
    PetscReal              range[2] = {100, -100};
    Vector                 b = make_vector(da);
    const MatLaplaceSource f = [](PetscInt, const PetscReal x[], PetscScalar *value, void *ctx) {
      PetscReal *seen = static_cast<PetscReal *>(ctx);
      seen[0] = PetscMin(seen[0], x[0]), seen[1] = PetscMax(seen[1], x[0]);
      *value = 0;
      return (PetscErrorCode)PETSC_SUCCESS;
    };
    const MatLaplaceBoundaryData g = [](PetscInt, const PetscReal x[], PetscInt, PetscBool, PetscScalar *value,
                                        void *) { return *value = x[0], (PetscErrorCode)PETSC_SUCCESS; };
    OK(MatLaplaceSetRightHandSide(A, f, g, range, b));
    const bool first = PetscAbsReal(range[0] - (lengths ? 2 : 5)) < 1e-12,
               last = PetscAbsReal(range[1] - (lengths ? 18 : 9)) < 1e-12;
    PetscScalar sum; // of the boundary's x, over h²
    OK(VecSum(b, &sum));
    CHECK(PetscAbsScalar(sum - (lengths ? PetscScalar(20. / 4) : PetscScalar((4.5 + 9.5) * 4))) < 1e-10);
    CHECK(!everywhere(!first));
    CHECK(!everywhere(!last));
  }
}

// The ghost points of a DM_BOUNDARY_GHOSTED axis have no coordinates.
TEST_CASE("the domain begins at the first coordinate for every boundary type", "[boundaries]") {
  const DMBoundaryType all[] = {DM_BOUNDARY_NONE, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR};
  for (int dim = 1; dim <= 3; dim++)
    for (PetscInt points : {1, 8})
      for (DMBoundaryType type : all)
        for (PetscReal begin : {PetscReal(3), PetscReal(-7)}) {
          Problem p = problem(dim, points, dim > 1 ? 6 : 1, dim > 2 ? 5 : 1);
          for (int a = 0; a < dim; a++) p.ends[a] = type;
          if (type == DM_BOUNDARY_MIRROR && points == 1) continue;
          INFO(describe(p) << " from " << begin);
          Grid   da;
          Matrix A;
          Vec    coordinates;
          if (!try_make_grid(p, &da)) continue;
          OK(DMDASetUniformCoordinates(da, begin, begin + 2, begin, begin + 3, begin, begin + 4));
          OK(DMGetCoordinates(da, &coordinates));
          OK(MatCreateLaplace(da, &A));
          // f is called once at each of the rank's points, in their order
          struct Points {
            const PetscScalar *next;
            bool               right = true;
          } at;
          OK(VecGetArrayRead(coordinates, &at.next));
          const PetscScalar     *first = at.next;
          const MatLaplaceSource f = [](PetscInt n, const PetscReal x[], PetscScalar *value, void *ctx) {
            Points *expected = static_cast<Points *>(ctx);
            for (PetscInt a = 0; a < n; a++) {
              const PetscReal right = PetscRealPart(*expected->next++); // PETSc gives NaN to a single point
              expected->right = expected->right &&
                                (PetscIsNanReal(right) ? !PetscIsNanReal(x[a]) : PetscAbsReal(x[a] - right) < 1e-12);
            }
            *value = 0;
            return (PetscErrorCode)PETSC_SUCCESS;
          };
          Vector b = make_vector(da);
          OK(MatLaplaceSetRightHandSide(A, f, NULL, &at, b));
          OK(VecRestoreArrayRead(coordinates, &first));
          CHECK(everywhere(at.right));
        }
}

TEST_CASE("boundary forms after MatSetUp() are compared side by side", "[boundaries]") {
  Domain d;
  Grid   da;
  Matrix A;
  d.dim = 2;
  d.N[0] = d.N[1] = 4;
  REQUIRE(make(d, da, A));
  MatLaplaceBoundaryType forms[4] = {};
  OK(MatLaplaceSetBoundary(A, MAT_LAPLACE_ELIMINATED));
  OK(MatLaplaceSetBoundaries(A, 4, forms));
  forms[3] = MAT_LAPLACE_NEUMANN;
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"is eliminated", "neumann comes too late"}),
               [&] { return MatLaplaceSetBoundaries(A, 4, forms); });
}

TEST_CASE("axes of one point have the forms of their ends", "[boundaries]") {
  for (MatLaplaceBoundaryType other : {MAT_LAPLACE_NEUMANN, MAT_LAPLACE_ROBIN}) { // the point is on the upper end
    if (rank_count() > 1) continue;
    Domain d;
    Grid   da;
    Matrix A;
    d.forms[0][0] = other, d.forms[0][1] = MAT_LAPLACE_IDENTITY;
    REQUIRE(make(d, da, A));
    Vector                       b = make_vector(da);
    PetscReal                    value;
    const MatLaplaceBoundaryData g = [](PetscInt, const PetscReal x[], PetscInt, PetscBool, PetscScalar *at, void *) {
      *at = x[0];
      return (PetscErrorCode)PETSC_SUCCESS;
    };
    OK(MatLaplaceAddBoundary(A, g, NULL, b));
    OK(VecNorm(b, NORM_1, &value));
    CHECK(std::abs(value - 1) < 1e-14);
  }
  Options options("-mat_laplace_boundary robin"); // a periodic one has no ends
  Problem p = problem(1, 1);
  p.ends[0] = DM_BOUNDARY_PERIODIC;
  Grid   da;
  Matrix A;
  if (!try_make_grid(p, &da)) return;
  OK(MatCreateLaplace(da, &A));
}
