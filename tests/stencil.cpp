// Every operation of the operators beside an AIJ matrix that is assembled without the library.

#include "catch.hpp"
#include "support.hpp"

#include <cmath>

using namespace tests;

static PetscReal frobenius_norm(Mat B) {
  PetscInt    first, end;
  long double sum = 0;
  OK(MatGetOwnershipRange(B, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    PetscInt           n;
    const PetscScalar *values;
    OK(MatGetRow(B, i, &n, NULL, &values));
    for (PetscInt e = 0; e < n; e++) sum += (long double)PetscSqr(PetscAbsScalar(values[e]));
    OK(MatRestoreRow(B, i, &n, NULL, &values));
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  return (PetscReal)std::sqrt(sum);
}

static void check_products(Mat A, Mat B, DM da) {
  Vector x = random_vector(da, 1), b = random_vector(da, 2), y = make_vector(da), z = make_vector(da);

  OK(MatMult(A, x, y));
  OK(MatMult(B, x, z));
  CHECK(difference(y, z) <= exact);

  OK(MatMultAdd(B, x, b, z));
  OK(MatMultAdd(A, x, b, y));
  CHECK(difference(y, z) <= exact);
  OK(VecCopy(b, y));
  OK(MatMultAdd(A, x, y, y));
  CHECK(difference(y, z) <= exact);

  OK(MatResidual(A, b, x, y));
  OK(MatResidual(B, b, x, z));
  CHECK(difference(y, z) <= exact);

  OK(MatMultTranspose(A, x, y));
  OK(MatMultTranspose(B, x, z));
  CHECK(difference(y, z) <= exact);

  OK(MatMultTransposeAdd(B, x, b, z));
  OK(MatMultTransposeAdd(A, x, b, y));
  CHECK(difference(y, z) <= exact);
  OK(VecCopy(b, y));
  OK(MatMultTransposeAdd(A, x, y, y));
  CHECK(difference(y, z) <= exact);

  OK(MatMultHermitianTranspose(A, x, y));
  OK(MatMultHermitianTranspose(B, x, z));
  CHECK(difference(y, z) <= exact);

  OK(MatMultHermitianTransposeAdd(A, x, b, y));
  OK(VecAXPY(z, 1, b));
  CHECK(difference(y, z) <= exact);
}

static void check_row_properties(Mat A, Mat B, DM da) {
  Vector y = make_vector(da), z = make_vector(da);

  OK(MatGetDiagonal(A, y));
  OK(MatGetDiagonal(B, z));
  CHECK(difference(y, z) <= exact);
  OK(MatGetRowMaxAbs(A, y, NULL));
  OK(MatGetRowMaxAbs(B, z, NULL));
  CHECK(difference(y, z) <= exact);
#if PETSC_VERSION_GE(3, 22, 0)
  OK(MatGetRowSumAbs(A, y));
  OK(MatGetRowSumAbs(B, z));
  CHECK(difference(y, z) <= exact);
#endif
  for (NormType type : {NORM_1, NORM_INFINITY, NORM_FROBENIUS}) {
    PetscReal ours, theirs;
    PetscInt  rows;
    OK(MatNorm(A, type, &ours));
    if (type == NORM_FROBENIUS)
      theirs = frobenius_norm(B); // the reference's own sum of many squares rounds at each entry, ours may at each row
    else
      OK(MatNorm(B, type, &theirs));
    INFO("norm " << type);
    OK(MatGetSize(A, &rows, NULL));
    CHECK(difference(ours, theirs) <=
          (type == NORM_FROBENIUS ? PetscMax(exact, rows * PETSC_MACHINE_EPSILON / 4) : exact));
  }
}

static void check_entries(Mat A, Mat B) {
  PetscInt first, last;
  bool     same = true;

  OK(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; row++) {
    PetscInt           count, reference_count;
    const PetscInt    *columns, *reference_columns;
    const PetscScalar *values, *reference_values;
    OK(MatGetRow(A, row, &count, &columns, &values));
    OK(MatGetRow(B, row, &reference_count, &reference_columns, &reference_values));
    same = same && count == reference_count;
    for (PetscInt e = 0; same && e < count; e++)
      same = columns[e] == reference_columns[e] && (e == 0 || columns[e] > columns[e - 1]) &&
             PetscAbsScalar(values[e] - reference_values[e]) <= exact * PetscAbsScalar(reference_values[e]);
    OK(MatRestoreRow(B, row, &reference_count, &reference_columns, &reference_values));
    OK(MatRestoreRow(A, row, &count, &columns, &values));
  }
  CHECK(everywhere(same));

  Matrix aij;
  OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  CHECK(nonzeros(aij) == nonzeros(B));
  CHECK(difference(A, B) <= exact);
}

static void check_all(const Problem &problem, DM da) {
  INFO(describe(problem));
  Matrix A = make_operator(problem, da), B = make_reference(problem, da);
  check_products(A, B, da);
  check_row_properties(A, B, da);
  check_entries(A, B);
}

static void check_sizes(int dim, const std::vector<std::vector<PetscInt>> &sizes) {
  for (const std::vector<PetscInt> &size : sizes) {
    const PetscInt N[3] = {size[0], dim > 1 ? size[1] : 1, dim > 2 ? size[2] : 1};
    for_each_problem(dim, N, [&](Problem problem, DM da) {
      check_all(problem, da);
      problem.sigma = PetscScalar(1.75);
      check_all(problem, da);
    });
  }
}

TEST_CASE("every operation equals the assembled matrix', in 1-D", "[stencil]") {
  check_sizes(1, {{1}, {2}, {3}, {4}, {7}, {16}, {31}});
}

TEST_CASE("every operation equals the assembled matrix', in 2-D", "[stencil]") {
  check_sizes(2, {{5, 4}, {1, 7}, {6, 1}, {2, 3}, {2, 2}, {13, 11}});
}

TEST_CASE("every operation equals the assembled matrix', in 3-D", "[stencil]") {
  check_sizes(3, {{4, 3, 5}, {2, 2, 3}, {1, 5, 4}});
}

// Long rows take another loop than short ones; so do ranks that are one point wide.
TEST_CASE("long rows, slabs and pencils", "[stencil]") {
  const PetscInt ranks = rank_count();
  Problem        p = problem(2, 4500, 9);
  p.sigma = 3;
  check_all(p, make_grid(p));
  for (DMBoundaryType type : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR}) {
    if (type == DM_BOUNDARY_MIRROR && ranks == 1) continue;
    for (int axis = 0; axis < 3; axis++) {
      p = problem(3, 6, 5, 7);
      p.N[axis] = ranks; // one point wide
      for (int a = 0; a < 3; a++) p.ranks[a] = a == axis ? ranks : 1, p.ends[a] = type;
      p.sigma = 3;
      check_all(p, make_grid(p));
    }
  }
}

TEST_CASE("Poisson's problem, 1000 x 1000", "[stencil]") {
  for (MatLaplaceBoundaryType boundary : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY}) {
    if (!in_turn(boundary == MAT_LAPLACE_IDENTITY)) continue;
    const PetscInt n = boundary == MAT_LAPLACE_IDENTITY ? 1000 : 998;
    Problem        p = problem(2, n, n);
    p.boundary = boundary;
    INFO(describe(p));
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da), B = make_reference(p, da);
    Vector x = random_vector(da, 3), y = make_vector(da), z = make_vector(da);
    OK(MatMult(A, x, y));
    OK(MatMult(B, x, z));
    CHECK(difference(y, z) <= exact);
    OK(MatMultTranspose(A, x, y));
    OK(MatMultTranspose(B, x, z));
    CHECK(difference(y, z) <= exact);
    CHECK(difference(A, B) <= exact);
  }
}

TEST_CASE("an identity operator on N x N points has 5N² - 16N + 16 nonzeros", "[stencil]") {
  for (PetscInt n : {3, 4, 10, 33, 100}) {
    Problem p = problem(2, n, n);
    p.boundary = MAT_LAPLACE_IDENTITY;
    Grid da;
    if (!try_make_grid(p, &da)) continue;
    Matrix A = make_operator(p, da), aij;
    OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
    CHECK(nonzeros(aij) == (PetscReal)(5 * n * n - 16 * n + 16));
  }
}

TEST_CASE("conversion to dense and symmetric formats, and in place", "[stencil]") {
  Problem p = problem(2, 7, 6);
  p.sigma = 2;
  for (MatLaplaceBoundaryType boundary : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN}) {
    p.boundary = boundary;
    INFO(describe(p));
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da), B = make_reference(p, da);
    Vector x = random_vector(da, 1), y = make_vector(da), z = make_vector(da);
    OK(MatMult(B, x, z));
    for (MatType type : {MATDENSE, MATSBAIJ, MATBAIJ}) {
      if (std::string(type) == MATSBAIJ && !p.symmetric()) continue;
      INFO(type);
      Matrix converted;
      OK(MatConvert(A, type, MAT_INITIAL_MATRIX, &converted));
      OK(MatMult(converted, x, y));
      CHECK(difference(y, z) <= exact);
    }
    Matrix again;
    OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &again));
    OK(MatScale(again, 2));
    OK(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &again));
    CHECK(difference(again, B) <= exact);
    OK(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
    OK(MatMult(A, x, y));
    CHECK(difference(y, z) <= exact);
  }
}

TEST_CASE("symmetric forms are symmetric and positive", "[stencil]") {
  for (int dim = 1; dim <= 3; dim++) {
    const PetscInt N[3] = {7, 5, 4};
    for_each_problem(dim, N, [&](const Problem &p, DM da) {
      INFO(describe(p));
      Matrix      A = make_operator(p, da);
      PetscBool   known, symmetric;
      PetscScalar Axy, xAy, xAx;
      OK(MatIsSymmetricKnown(A, &known, &symmetric));
      CHECK((known && symmetric) == p.symmetric());
      if (!p.symmetric()) return;
      Vector x = random_vector(da, 1), y = random_vector(da, 2), w = make_vector(da);
      OK(MatMult(A, x, w));
      OK(VecDot(w, y, &Axy));
      OK(VecDot(w, x, &xAx));
      OK(MatMult(A, y, w));
      OK(VecDot(x, w, &xAy));
      CHECK(PetscAbsScalar(Axy - xAy) <= 10 * exact * PetscAbsScalar(xAx));
      CHECK(PetscRealPart(xAx) > 0);
    });
  }
}

#if defined(PETSC_USE_COMPLEX)
TEST_CASE("a complex shift: every operation equals the assembled matrix'", "[stencil]") {
  for (int dim = 1; dim <= 3; dim++) {
    const PetscInt N[3] = {6, 5, 4};
    for_each_problem(dim, N, [&](Problem p, DM da) {
      p.sigma = PetscCMPLX(-2, 0.75);
      check_all(p, da);
    });
  }
}
#endif

// Products of so many points are written past the caches of most processors, line by line.
TEST_CASE("products with many points are those of the rows", "[stencil]") {
  if (rank_count() > 1) return;
  for (int dim : {2, 3})
    for (const char *shape : {"star", "box"}) {
      INFO(dim << "-D " << shape);
      const Options  options(std::string("-mat_laplace_shape ") + shape);
      const PetscInt n = dim == 2 ? 1531 : 133;
      Grid           da = make_grid(problem(dim, n, n, dim == 3 ? n : 1));
      Matrix         A;
      OK(DMSetMatType(da, MATLAPLACE));
      OK(DMCreateMatrix(da, &A));
      Vector x = random_vector(da, 1), b = random_vector(da, 2), product = make_vector(da), residual = make_vector(da);
      OK(MatMult(A, x, product));
      OK(MatResidual(A, b, x, residual));
      const PetscScalar *px, *pb, *pp, *pr;
      PetscInt           rows;
      PetscReal          off = 0, size = 0;
      OK(VecGetLocalSize(x, &rows));
      OK(VecGetArrayRead(x, &px));
      OK(VecGetArrayRead(b, &pb));
      OK(VecGetArrayRead(product, &pp));
      OK(VecGetArrayRead(residual, &pr));
      for (PetscInt row = 0; row < rows; row += 7) {
        PetscInt           count;
        const PetscInt    *columns;
        const PetscScalar *values;
        PetscScalar        sum = 0;
        OK(MatGetRow(A, row, &count, &columns, &values));
        for (PetscInt e = 0; e < count; e++) sum += values[e] * px[columns[e]];
        OK(MatRestoreRow(A, row, &count, &columns, &values));
        size = PetscMax(size, PetscAbsScalar(sum));
        off = PetscMax(off, PetscMax(PetscAbsScalar(pp[row] - sum), PetscAbsScalar(pr[row] - (pb[row] - sum))));
      }
      OK(VecRestoreArrayRead(x, &px));
      OK(VecRestoreArrayRead(b, &pb));
      OK(VecRestoreArrayRead(product, &pp));
      OK(VecRestoreArrayRead(residual, &pr));
      CHECK(off <= exact * size);
    }
}
