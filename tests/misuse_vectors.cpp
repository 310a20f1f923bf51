// Vectors that do not fit an operator, and sweeps that cannot be done.

#include "catch.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

// The operation has vectors of its own, since an error within one of PETSc's leaves them locked: x and y of the operator's
// grid, w of one that has two points less. On 1 to 4 ranks each has another local size, which is what PETSc compares.
#define OPERATION(code, words, ...)                                                                                    \
  tests::called(code, words, #__VA_ARGS__, [&] {                                                                       \
    Vector x = random_vector(da, 1), y = random_vector(da, 2), w = random_vector(other, 3);                            \
    return __VA_ARGS__;                                                                                                \
  })

static void check_operations(MatType type) {
  Problem          p = problem(2, 9, 8);
  Grid             da = make_grid(p), other = make_grid(problem(2, 14, 5));
  Matrix           A;
  const MatSORType forward = SOR_LOCAL_FORWARD_SWEEP, eisenstat = (MatSORType)(SOR_EISENSTAT | SOR_SYMMETRIC_SWEEP);
  INFO(type);
  OK(DMSetMatType(da, type));
  OK(DMCreateMatrix(da, &A));
  const bool captures = std::string(type) == MATSTENCILSHELL;
  if (captures) assemble(p, da, A);
  const Work product = [&](Vec *y) {
    PetscFunctionBeginUser;
    Vector x = random_vector(da, 1);
    PetscCall(MatCreateVecs(A, NULL, y));
    PetscCall(MatMult(A, x, *y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  check_mistakes(
      product,
      {
          OPERATION(PETSC_ERR_ARG_SIZ, "x: global dim 72 70", MatMult(A, w, y)),
          OPERATION(PETSC_ERR_ARG_SIZ, "y: global dim 72 70", MatMult(A, x, w)),
          OPERATION(PETSC_ERR_ARG_WRONGSTATE, "must be different vectors", MatMult(A, x, x)),
          OPERATION(PETSC_ERR_ARG_SIZ, "x: global dim 72 70", MatMultTranspose(A, w, y)),
          OPERATION(PETSC_ERR_ARG_SIZ, "y: global dim 72 70", MatMultTranspose(A, x, w)),
          OPERATION(PETSC_ERR_ARG_WRONGSTATE, "must be different vectors", MatMultTranspose(A, x, x)),
          OPERATION(PETSC_ERR_ARG_WRONGSTATE, "must be different vectors", MatMultHermitianTranspose(A, x, x)),
          OPERATION(PETSC_ERR_ARG_SIZ, "v1: global dim 72 70", MatMultAdd(A, w, y, y)),
          OPERATION(PETSC_ERR_ARG_SIZ, "v2: local dim", MatMultAdd(A, x, w, y)),
          OPERATION(PETSC_ERR_ARG_SIZ, "v3: local dim", MatMultAdd(A, x, y, w)),
          OPERATION(PETSC_ERR_ARG_IDN, "must be different vectors", MatMultAdd(A, x, y, x)),
          OPERATION(PETSC_ERR_ARG_IDN, "must be different vectors", MatMultTransposeAdd(A, x, y, x)),
          OPERATION(PETSC_ERR_ARG_SIZ, "global dim 72 70", MatMultTransposeAdd(A, w, y, y)),
          OPERATION(PETSC_ERR_ARG_IDN, "another vector", MatResidual(A, y, x, x)),
          OPERATION(PETSC_ERR_ARG_SIZ, "added vector|70|72|MatCreateVecs", MatResidual(A, w, x, y)),
          OPERATION(PETSC_ERR_ARG_SIZ, "result|70|72|MatCreateVecs", MatResidual(A, x, y, w)),
          OPERATION(PETSC_ERR_ARG_SIZ, "MatCreateVecs", MatGetDiagonal(A, w)),
          OPERATION(PETSC_ERR_ARG_INCOMP, "rows of matrix|vector for diagonal", MatDiagonalSet(A, w, ADD_VALUES)),
          OPERATION(PETSC_ERR_ARG_INCOMP, "rows of matrix|vector for diagonal", MatDiagonalSet(A, w, INSERT_VALUES)),
          OPERATION(PETSC_ERR_ARG_OUTOFRANGE, "INSERT_VALUES or ADD_VALUES", MatDiagonalSet(A, x, MAX_VALUES)),
          OPERATION(PETSC_ERR_ARG_SIZ, "70|72|MatCreateVecs", MatDiagonalScale(A, w, NULL)),
          OPERATION(PETSC_ERR_ARG_SIZ, "70|72|MatCreateVecs", MatDiagonalScale(A, NULL, w)),
          OPERATION(PETSC_ERR_ARG_IDN, "cannot be the same", MatSOR(A, x, 1, forward, 0, 1, 1, x)),
          OPERATION(PETSC_ERR_ARG_SIZ, "b: global dim 72 70", MatSOR(A, w, 1, forward, 0, 1, 1, x)),
          OPERATION(PETSC_ERR_ARG_SIZ, "x: global dim 72 70", MatSOR(A, x, 1, forward, 0, 1, 1, w)),
          OPERATION(PETSC_ERR_ARG_WRONG, "global its 0 positive", MatSOR(A, x, 1, forward, 0, 0, 1, y)),
          OPERATION(PETSC_ERR_ARG_WRONG, "local its 0 positive", MatSOR(A, x, 1, forward, 0, 1, 0, y)),
          OPERATION(PETSC_ERR_ARG_WRONG, "global its -1 positive", MatSOR(A, x, 1, forward, 0, -1, 1, y)),
          OPERATION(PETSC_ERR_ARG_IDN, "cannot be the same", MatSOR(A, x, 1, eisenstat, 0, 1, 1, x)),
          OPERATION(PETSC_ERR_SUP, "use -pc_type sor", MatSOR(A, x, 1, SOR_APPLY_LOWER, 0, 1, 1, y)),
      });
}

// The last rank has one value less than the matrix' rows there, and the first one more; where ranks are between them, PETSc
// sees nothing wrong there.
static void check_other_distribution(Mat A) {
  const MatSORType forward = SOR_LOCAL_FORWARD_SWEEP;
  const PetscInt   none = 0;
  PetscInt         n;
  PetscMPIInt      rank;
  MatType          type;
  PetscBool        sums;
  OK(MatGetType(A, &type));
  INFO(type);
  OK(PetscObjectTypeCompare((PetscObject)A, MATKERNELSUM, &sums));
  OK(MatGetLocalSize(A, &n, NULL));
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const auto check = [&](const char *what, const std::function<PetscErrorCode(Vec w, Vec x, Vec y)> &call,
                         PetscErrorCode code = PETSC_ERR_ARG_SIZ) { // PETSC_SUCCESS: any; PETSc's own check has another
    INFO(what);
    Vector w, x, y; // new ones: see OPERATION
    OK(MatCreateVecs(A, &x, &y));
    OK(VecSet(x, 1));
    OK(VecSet(y, 1));
    OK(VecCreateMPI(PETSC_COMM_WORLD, n + (rank == 0) - on_last(1, 0), PETSC_DETERMINE, &w));
    OK(VecSet(w, 1));
    CHECK(error_problem(code, {}, [&] { return call(w, x, y); }) == "");
  };
  check("MatMult, x", [&](Vec w, Vec, Vec y) { return MatMult(A, w, y); });
  check("MatMult, y", [&](Vec w, Vec x, Vec) { return MatMult(A, x, w); });
  check("MatMultTranspose", [&](Vec w, Vec, Vec y) { return MatMultTranspose(A, w, y); });
#if !defined(PETSC_USE_COMPLEX) // where PETSc makes a vector on those ranks alone, whose tags differ from then on
  check("MatMultHermitianTranspose", [&](Vec w, Vec, Vec y) { return MatMultHermitianTranspose(A, w, y); });
#endif
  check("MatMultAdd, x", [&](Vec w, Vec x, Vec y) { return MatMultAdd(A, w, x, y); });
  check("MatMultAdd, b", [&](Vec w, Vec x, Vec y) { return MatMultAdd(A, x, w, y); });
  check("MatMultAdd, y", [&](Vec w, Vec x, Vec y) { return MatMultAdd(A, x, y, w); });
  check("MatMultTransposeAdd", [&](Vec w, Vec x, Vec y) { return MatMultTransposeAdd(A, w, x, y); });
  check(
      "MatDiagonalSet", [&](Vec w, Vec, Vec) { return MatDiagonalSet(A, w, ADD_VALUES); }, PETSC_SUCCESS);
  check("MatDiagonalScale, left", [&](Vec w, Vec, Vec) { return MatDiagonalScale(A, w, NULL); });
  check("MatDiagonalScale, right", [&](Vec w, Vec, Vec) { return MatDiagonalScale(A, NULL, w); });
  if (sums) return;
  check("MatResidual, x", [&](Vec w, Vec x, Vec y) { return MatResidual(A, x, w, y); });
  check("MatResidual, b", [&](Vec w, Vec x, Vec y) { return MatResidual(A, w, x, y); });
  check("MatGetDiagonal", [&](Vec w, Vec, Vec) { return MatGetDiagonal(A, w); });
  check("MatGetRowMax", [&](Vec w, Vec, Vec) { return MatGetRowMax(A, w, NULL); });
  check("MatGetRowMin", [&](Vec w, Vec, Vec) { return MatGetRowMin(A, w, NULL); });
  check("MatGetRowMinAbs", [&](Vec w, Vec, Vec) { return MatGetRowMinAbs(A, w, NULL); });
  check("MatGetRowMaxAbs", [&](Vec w, Vec, Vec) { return MatGetRowMaxAbs(A, w, NULL); });
  check("MatSOR, b", [&](Vec w, Vec, Vec y) { return MatSOR(A, w, 1, forward, 0, 1, 1, y); });
  check("MatSOR, x", [&](Vec w, Vec x, Vec) { return MatSOR(A, x, 1, forward, 0, 1, 1, w); });
  check("MatZeroRows, x", [&](Vec w, Vec, Vec y) { return MatZeroRows(A, 0, &none, 1, w, y); });
  check("MatZeroRows, b", [&](Vec w, Vec x, Vec) { return MatZeroRows(A, 0, &none, 1, x, w); });
  check("MatZeroRowsColumns", [&](Vec w, Vec, Vec y) { return MatZeroRowsColumns(A, 0, &none, 1, w, y); });
}

TEST_CASE("vectors that are distributed in another way on the last rank", "[misuse]") {
  if (rank_count() == 1) return;
  Problem p = problem(2, 9, 8);
  Grid    da = make_grid(p);
  Vector  k = make_vector(da);
  OK(VecSet(k, 2));
  for (MatType type : {MATLAPLACE, MATDIFFUSION, MATSTENCILSHELL}) {
    Matrix A;
    OK(DMSetMatType(da, type));
    OK(DMCreateMatrix(da, &A));
    if (std::string(type) == MATSTENCILSHELL) assemble(p, da, A);
    if (std::string(type) == MATDIFFUSION) OK(MatDiffusionSetCoefficient(A, k));
    check_other_distribution(A);
  }
  Matrix S;
  OK(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 1));
  Vec points;
  OK(DMGetCoordinates(da, &points));
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, points, points, &S));
  check_other_distribution(S);
}

TEST_CASE("vectors that do not fit laplace", "[misuse]") {
  check_operations(MATLAPLACE);
}

TEST_CASE("vectors that do not fit helmholtz", "[misuse]") {
  check_operations(MATHELMHOLTZ);
}

TEST_CASE("vectors that do not fit stencil", "[misuse]") {
  check_operations(MATSTENCILSHELL);
}
