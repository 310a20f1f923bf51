// Matrices as a vector space: scaling, shifts, diagonals, sums, copies; and the null spaces that come and go with them.

#include "catch.hpp"
#include "support.hpp"

using namespace tests;

static void check_same(Mat A, Mat B, DM da) {
  Vector    x = random_vector(da, 11), y = make_vector(da), z = make_vector(da);
  PetscReal off, size;
  OK(MatMult(A, x, y));
  OK(MatMult(B, x, z));
  CHECK(difference(y, z) <= exact);
  OK(MatMultTranspose(A, x, y));
  OK(MatMultTranspose(B, x, z));
  CHECK(difference(y, z) <= exact);
  OK(MatMultHermitianTranspose(A, x, y));
  OK(MatMultHermitianTranspose(B, x, z));
  CHECK(difference(y, z) <= exact);
  OK(MatResidual(A, x, x, y));
  OK(MatResidual(B, x, x, z));
  CHECK(difference(y, z) <= exact);
  OK(MatGetDiagonal(A, y));
  OK(MatGetDiagonal(B, z));
  // an inserted diagonal is kept as what it adds to the operator's own, which may be far larger
  OK(MatNorm(B, NORM_INFINITY, &size));
  OK(VecAXPY(y, -1, z));
  OK(VecNorm(y, NORM_INFINITY, &off));
  CHECK(off <= exact * size);
  OK(MatGetRowMaxAbs(A, y, NULL));
  OK(MatGetRowMaxAbs(B, z, NULL));
  CHECK(difference(y, z) <= exact);
  for (NormType type : {NORM_1, NORM_INFINITY, NORM_FROBENIUS}) {
    PetscReal ours, theirs;
    OK(MatNorm(A, type, &ours));
    OK(MatNorm(B, type, &theirs));
    CHECK(difference(ours, theirs) <= 10 * exact);
  }
  CHECK(difference(A, B) <= exact);
}

static const MatLaplaceBoundaryType forms[] = {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN};

static std::vector<Problem> problems(PetscScalar sigma) {
  std::vector<Problem> all;
  for (MatLaplaceBoundaryType form : forms)
    for (int dim = 1; dim <= 3; dim++) {
      Problem p = problem(dim, 7, dim > 1 ? 6 : 1, dim > 2 ? 5 : 1);
      p.boundary = form;
      p.sigma = sigma;
      p.lengths[0] = PetscReal(1.5);
      all.push_back(p);
      p.ends[0] = DM_BOUNDARY_PERIODIC;
      if (dim > 1) p.ends[1] = DM_BOUNDARY_MIRROR;
      all.push_back(p);
    }
  return all;
}

TEST_CASE("scale, shift and diagonals, one after the other", "[algebra]") {
  for (const Problem &p : problems(2)) {
    INFO(describe(p));
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da), B = make_reference(p, da);
    Vector d = random_vector(da, 4), e = random_vector(da, 5);
    OK(VecScale(d, 100));
    const std::function<PetscErrorCode(Mat)> steps[] = {
        [](Mat M) { return MatScale(M, 2.5); },
        [](Mat M) { return MatShift(M, -0.75); },
        [&](Mat M) { return MatDiagonalSet(M, d, ADD_VALUES); },
        [](Mat M) { return MatScale(M, -0.5); },
        [&](Mat M) { return MatDiagonalSet(M, e, ADD_VALUES); },
        [&](Mat M) { return MatDiagonalSet(M, d, INSERT_VALUES); },
        [](Mat M) { return MatShift(M, 30); },
        [&](Mat M) { return MatDiagonalSet(M, e, INSERT_VALUES); },
        [](Mat M) { return MatScale(M, 3); },
    };
    int number = 0;
    for (const auto &step : steps) {
      INFO("step " << number++);
      OK(step(A));
      OK(step(B));
      check_same(A, B, da);
    }
  }
}

TEST_CASE("real and imaginary parts are those of an AIJ", "[algebra]") {
#if defined(PETSC_USE_COMPLEX)
  const PetscScalar sigma = PetscCMPLX(3, 2);
#else
  const PetscScalar sigma = 3;
#endif
  int combination = 0;
  for (const auto part : {MatRealPart, MatImaginaryPart}) {
    for (const Problem &p : problems(sigma)) {
      INFO(describe(p));
      Grid da;
      if (!in_turn(combination++) || !try_make_grid(p, &da)) continue;
      Matrix A = make_operator(p, da), B = make_reference(p, da);
      for (Mat M : {(Mat)A, (Mat)B}) OK((*part)(M));
      check_same(A, B, da);
    }
    for (const Lattice &lattice : lattices()) {
      if (!in_turn(combination++)) continue;
      INFO(describe(lattice));
      Twins t(lattice);
      t.both([&](DM da, Mat M) {
        set_rows(da, M, random_fill(lattice, Form::arrays, 1), Way::stencil, INSERT_VALUES);
        assemble(M);
        OK((*part)(M));
      });
      check_same(t.A, t.aij, t.da);
    }
  }
}

TEST_CASE("sums of scaled laplace and helmholtz operators", "[algebra]") {
  for (Problem p : problems(2)) {
    INFO(describe(p));
    Grid   da = make_grid(p);
    Matrix Y = make_operator(p, da), Y_reference = make_reference(p, da);
    p.sigma = 0;
    Matrix X = make_operator(p, da), X_reference = make_reference(p, da);
    Vector d = random_vector(da, 4), e = random_vector(da, 5);
    OK(MatScale(X, -1.5));
    OK(MatScale(X_reference, -1.5));
    OK(MatShift(Y, 4));
    OK(MatShift(Y_reference, 4));
    const auto add = [&] {
      OK(MatAXPY(Y, 0.25, X, SAME_NONZERO_PATTERN));
      OK(MatAXPY(Y_reference, 0.25, X_reference, SAME_NONZERO_PATTERN));
      check_same(Y, Y_reference, da);
      OK(MatAXPY(X, 2, Y, SAME_NONZERO_PATTERN));
      OK(MatAXPY(X_reference, 2, Y_reference, SAME_NONZERO_PATTERN));
      check_same(X, X_reference, da);
    };
    add();
    OK(MatDiagonalSet(X, d, ADD_VALUES)); // of one only, then of both
    OK(MatDiagonalSet(X_reference, d, ADD_VALUES));
    add();
    OK(MatDiagonalSet(Y, e, ADD_VALUES));
    OK(MatDiagonalSet(Y_reference, e, ADD_VALUES));
    add();
    OK(MatAYPX(Y, 3, X, SAME_NONZERO_PATTERN));
    OK(MatAYPX(Y_reference, 3, X_reference, SAME_NONZERO_PATTERN));
    check_same(Y, Y_reference, da);
  }
}

TEST_CASE("a duplicate is a matrix of its own", "[algebra]") {
  for (const Problem &p : problems(2)) {
    INFO(describe(p));
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da), B = make_reference(p, da), copy, empty;
    Vector d = random_vector(da, 4);
    OK(MatScale(A, 2));
    OK(MatScale(B, 2));
    OK(MatDiagonalSet(A, d, ADD_VALUES));
    OK(MatDiagonalSet(B, d, ADD_VALUES));
    OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
    OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &empty));
    OK(MatScale(A, -7)); // changes neither
    check_same(copy, B, da);

    MatType     type;
    PetscScalar sigma;
    PetscReal   norm;
    OK(MatGetType(copy, &type));
    CHECK(std::string(type) == MATHELMHOLTZ);
    OK(MatHelmholtzGetShift(copy, &sigma));
    CHECK(sigma == p.sigma);
    OK(MatNorm(empty, NORM_INFINITY, &norm));
    CHECK(norm == 0);
    OK(MatAXPY(empty, 1, copy, SAME_NONZERO_PATTERN));
    check_same(empty, B, da);
    OK(MatHelmholtzSetShift(copy, 6)); // twice 6, of a matrix that was scaled by 2
    Problem q = p;
    q.sigma = 6;
    Matrix C = make_reference(q, da);
    OK(MatScale(C, 2));
    OK(MatDiagonalSet(C, d, ADD_VALUES));
    check_same(copy, C, da);
  }
}

TEST_CASE("a duplicate without values is zero until it is assembled or changed", "[algebra]") {
  for (const Problem &p : problems(2)) {
    INFO(describe(p));
    Grid      da = make_grid(p);
    Matrix    A = make_operator(p, da), B = make_reference(p, da), assembled, other, changed, again, zero;
    Vector    x = random_vector(da, 11), y = make_vector(da);
    PetscReal norm;
    OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &assembled));
    OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &other));
    OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &changed));
    OK(MatMult(assembled, x, y));
    OK(VecNorm(y, NORM_INFINITY, &norm));
    CHECK(norm == 0);
    OK(MatConvert(assembled, MATAIJ, MAT_INITIAL_MATRIX, &zero)); // leaves a copy, which must not stay
    OK(MatNorm(zero, NORM_INFINITY, &norm));
    CHECK(norm == 0);
    OK(MatDuplicate(assembled, MAT_COPY_VALUES, &again));
    for (Mat M : {(Mat)assembled, (Mat)again}) {
      assemble(p, da, M);
      check_same(M, B, da);
    }
    EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"the program assembles"}), [&] {
      PetscInt    first;
      PetscScalar far = 1e9;
      PetscFunctionBeginUser;
      PetscCall(MatGetOwnershipRange(other, &first, NULL));
      PetscCall(MatSetValues(other, 1, &first, 1, &first, &far, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(other, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(other, MAT_FINAL_ASSEMBLY));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
    OK(MatShift(changed, 2));
    OK(MatAXPY(changed, 3, A, SAME_NONZERO_PATTERN));
    OK(MatScale(B, 3));
    OK(MatShift(B, 2));
    check_same(changed, B, da);
    OK(MatZeroEntries(changed));
    OK(MatAXPY(changed, 3, A, SAME_NONZERO_PATTERN));
    OK(MatShift(B, -2));
    check_same(changed, B, da);
  }
}

TEST_CASE("a copy has the operator and the shift of its source", "[algebra]") {
  for (Problem p : problems(2)) {
    INFO(describe(p));
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da), A_reference = make_reference(p, da);
    p.sigma = 5;
    Matrix B = make_operator(p, da);
    Vector d = random_vector(da, 4);
    OK(MatDiagonalSet(B, d, ADD_VALUES)); // to be gone
    OK(MatCopy(A, B, SAME_NONZERO_PATTERN));
    check_same(B, A_reference, da);
    PetscScalar sigma;
    OK(MatHelmholtzGetShift(B, &sigma));
    CHECK(sigma == (PetscScalar)2);
    OK(MatHelmholtzSetShift(B, 9));
    p.sigma = 9;
    Matrix B_reference = make_reference(p, da);
    check_same(B, B_reference, da);

    Matrix aij;
    OK(MatDuplicate(A_reference, MAT_DO_NOT_COPY_VALUES, &aij));
    OK(MatCopy(A, aij, SAME_NONZERO_PATTERN));
    CHECK(difference(aij, A_reference) <= exact);
  }
}

TEST_CASE("the shift of a scaled operator is scaled", "[algebra]") {
  for (Problem p : problems(2)) {
    INFO(describe(p));
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da);
    Vector d = random_vector(da, 4);
    OK(MatScale(A, 3));
    OK(MatShift(A, 1));
    OK(MatDiagonalSet(A, d, ADD_VALUES));
    OK(MatHelmholtzSetShift(A, -4));
    p.sigma = -4;
    Matrix B = make_reference(p, da);
    OK(MatScale(B, 3));
    OK(MatShift(B, 1));
    OK(MatDiagonalSet(B, d, ADD_VALUES));
    check_same(A, B, da);
    PetscScalar sigma;
    OK(MatHelmholtzGetShift(A, &sigma));
    CHECK(sigma == (PetscScalar)-4);
  }
}

TEST_CASE("solvers see that an operator has changed", "[algebra]") {
  if (rank_count() > 1) return; // PETSc's own factorisation is of one rank
  Problem p = problem(2, 7, 6);
  p.sigma = 2;
  Grid   da = make_grid(p);
  Matrix A = make_operator(p, da);
  Vector d = random_vector(da, 4), b = random_vector(da, 1), x = make_vector(da), r = make_vector(da);
  Solver ksp;
  PC     pc;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCLU));
  OK(KSPSetType(ksp, KSPPREONLY));
  OK(KSPSetOperators(ksp, A, A));
  const auto check = [&] {
    PetscReal norm, norm_b;
    OK(KSPSolve(ksp, b, x));
    OK(MatResidual(A, b, x, r));
    OK(VecNorm(r, NORM_2, &norm));
    OK(VecNorm(b, NORM_2, &norm_b));
    CHECK(norm <= 100 * exact * norm_b);
  };
  check();
  OK(MatHelmholtzSetShift(A, 50));
  check();
  OK(MatScale(A, 2));
  check();
  OK(MatShift(A, 20));
  check();
  OK(MatDiagonalSet(A, d, ADD_VALUES));
  check();
}

// ---- null spaces

static void check_null_space(const Problem &p, Mat A, bool expected) {
  MatNullSpace null, left;
  PetscBool    is_null = PETSC_FALSE;
  OK(MatGetNullSpace(A, &null));
  OK(MatGetTransposeNullSpace(A, &left));
  CHECK(!!null == expected);
  CHECK(!!left == expected);
  if (!expected || !null || !left) return;
  OK(MatNullSpaceTest(null, A, &is_null));
  CHECK(is_null);

  // the left one: constants, or with mirrors a vector of half weights
  PetscBool  constant;
  PetscInt   n;
  const Vec *w;
  PetscReal  norm, norm_A;
  Vector     one, y;
  OK(MatNullSpaceGetVecs(left, &constant, &n, &w));
  CHECK((constant ? 1 : 0) + n == 1);
  OK(MatCreateVecs(A, &one, &y));
  OK(VecSet(one, 1));
  OK(MatMultTranspose(A, n ? w[0] : one, y));
  OK(VecNorm(y, NORM_INFINITY, &norm));
  OK(MatNorm(A, NORM_INFINITY, &norm_A));
  CHECK(norm <= exact * norm_A);
  CHECK(!!constant == p.symmetric());
}

TEST_CASE("operators that map constants to zero carry their null spaces", "[algebra]") {
  for (int dim = 1; dim <= 3; dim++) {
    const PetscInt N[3] = {6, 5, 4};
    for_each_problem(dim, N, [&](Problem p, DM da) {
      INFO(describe(p));
      Matrix A = make_operator(p, da), copy;
      check_null_space(p, A, p.singular());
      OK(MatScale(A, 3));
      check_null_space(p, A, p.singular());
      OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
      check_null_space(p, copy, p.singular());
      OK(MatShift(A, 1));
      check_null_space(p, A, false);
      check_null_space(p, copy, p.singular());
      p.sigma = 3;
      Matrix H = make_operator(p, da);
      check_null_space(p, H, false);
      OK(MatHelmholtzSetShift(H, 0));
      p.sigma = 0;
      check_null_space(p, H, p.singular());
      Vector d = random_vector(da, 1);
      OK(MatDiagonalSet(H, d, ADD_VALUES));
      check_null_space(p, H, false);
    });
  }
}

static bool has_null_space(Mat A, bool of_transpose = false) {
  MatNullSpace null;
  if (of_transpose)
    OK(MatGetTransposeNullSpace(A, &null));
  else
    OK(MatGetNullSpace(A, &null));
  return null != NULL;
}

TEST_CASE("the constants leave a transposed operator, and a converted one, that becomes regular", "[algebra]") {
  Problem p = problem(1, 8);
  p.ends[0] = DM_BOUNDARY_PERIODIC;
  Grid            da = make_grid(p);
  Matrix          A, B;
  const PetscReal velocity[] = {1};
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetType(A, MATADVECTIONDIFFUSION));
  OK(MatAdvectionDiffusionSetConstantVelocity(A, 1, velocity));
  OK(MatSetUp(A));
  OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  CHECK(has_null_space(A));
  CHECK(has_null_space(B));
  OK(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  CHECK(has_null_space(A, true));
  CHECK(!has_null_space(A));
  OK(MatShift(A, 1));
  CHECK(!has_null_space(A, true));
  OK(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &B));
  for (bool of_transpose : {false, true}) CHECK(!has_null_space(B, of_transpose));
}

TEST_CASE("the left null space of a symmetric operator leaves its sum with another", "[algebra]") {
  Options         o("-mat_laplace_boundary neumann -mat_advection_diffusion_boundary neumann");
  Grid            da = make_grid(problem(1, 8));
  Matrix          A, wind;
  const PetscReal velocity[] = {1};
  OK(MatCreateLaplace(da, &A));
  OK(MatCreate(PETSC_COMM_WORLD, &wind));
  OK(MatSetDM(wind, da));
  OK(MatSetType(wind, MATADVECTIONDIFFUSION));
  OK(MatSetFromOptions(wind));
  OK(MatAdvectionDiffusionSetConstantVelocity(wind, 1, velocity));
  OK(MatSetUp(wind));
  CHECK(has_null_space(A, true));
  OK(MatAXPY(A, 1, wind, SAME_NONZERO_PATTERN));
  CHECK(has_null_space(A));
  CHECK(!has_null_space(A, true));
}

TEST_CASE("a null space that the program has set or taken away stays so", "[algebra]") {
  Options      o("-mat_laplace_boundary neumann");
  Grid         da = make_grid(problem(1, 8));
  Matrix       A;
  MatNullSpace own, present;
  OK(MatCreateLaplace(da, &A));
  REQUIRE(has_null_space(A));
  OK(MatSetNullSpace(A, NULL));
  OK(MatScale(A, 2));
  CHECK(!has_null_space(A));
  for (int turn = 0; turn < 2; turn++) OK(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  CHECK(!has_null_space(A));
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &own));
  OK(MatSetNullSpace(A, own));
  OK(MatShift(A, 1));
  OK(MatGetNullSpace(A, &present));
  CHECK(present == own);
  OK(MatNullSpaceDestroy(&own));
}

TEST_CASE("entries go to an assembled matrix of another nonzero pattern", "[algebra]") {
  Grid           da = make_grid(problem(1, 8 * rank_count()));
  Matrix         A, B;
  Vector         x = random_vector(da, 1), y = make_vector(da), z = make_vector(da);
  const PetscInt row = 0;
  OK(DMSetMatType(da, MATAIJ));
  OK(DMCreateMatrix(da, &B)); // with couplings that A has not
  OK(MatShift(B, 5));
  OK(MatCreateLaplace(da, &A));
  OK(MatZeroRowsColumns(A, rank_count() > 1 ? 0 : 1, &row, 1, NULL, NULL));
  for (bool copied : {true, false}) {
    if (copied)
      OK(MatCopy(A, B, DIFFERENT_NONZERO_PATTERN));
    else {
      OK(MatScale(A, 3));
      OK(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &B));
    }
    OK(MatMult(A, x, y));
    OK(MatMult(B, x, z));
    CHECK(difference(y, z) <= exact);
  }
}

TEST_CASE("the view of a sum counts the rows that a rank has", "[algebra]") {
  if (rank_count() == 1) return; // of a line on more, no rank has both ends
  Grid da = make_grid(problem(1, 8 * rank_count()));
  OK(DMSetMatType(da, MATSTENCILSHELL));
  Matrix  A, B;
  Problem p = problem(1, 8 * rank_count());
  OK(DMCreateMatrix(da, &A));
  assemble(p, da, A);
  OK(MatDuplicate(A, MAT_COPY_VALUES, &B));
  OK(MatAXPY(A, 2, B, SAME_NONZERO_PATTERN));
  const auto classes = [](Mat M) {
    const std::string text = view(M, PETSC_VIEWER_ASCII_INFO);
    const size_t      end = text.find(" classes or fewer");
    return text.substr(end - 3, 3);
  };
  CHECK(classes(A) == classes(B));
}
