// Wrong calls on the operators of grids.

#include "catch.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

static const auto same = SAME_NONZERO_PATTERN;

// An operator that mistakes are made with, and what they are made with. An error within a call leaves vectors locked, so
// that each call has its own.
struct Bench {
  Problem     p = problem(2, 9, 8), q = problem(2, 10, 7);
  Grid        da = make_grid(p), other = make_grid(q), line = make_grid(problem(1, 72));
  Matrix      A, aij = make_reference(p, da), dense, of_other;
  PetscReal   lengths[3] = {1, 1, 1}, bad_lengths[3] = {1, -2, 1}, nan_lengths[3] = {NAN, 1, 1};
  PetscScalar sigma = 0;

  explicit Bench(MatType type) {
    OK(DMSetMatType(da, type));
    OK(DMCreateMatrix(da, &A));
    if (std::string(type) == MATSTENCILSHELL) assemble(p, da, A);
    of_other = make_operator(q, other);
    OK(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 72, 72, NULL, &dense));
    OK(MatSetUp(dense));
    OK(MatAssemblyBegin(dense, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(dense, MAT_FINAL_ASSEMBLY));
  }
  Work product() {
    return [this](Vec *y) {
      PetscFunctionBeginUser;
      Vector x = random_vector(da, 1);
      PetscCall(MatCreateVecs(A, NULL, y));
      PetscCall(MatMult(A, x, *y));
      PetscFunctionReturn(PETSC_SUCCESS);
    };
  }
};

// Calls with vectors that do not fit: of another grid (70 unknowns), or one vector for two.
static std::vector<WrongCall> wrong_vectors(Bench &b) {
  const auto with = [&b](const std::function<PetscErrorCode(Vec x, Vec y, Vec wrong)> &call) {
    return [&b, call] {
      Vector x = random_vector(b.da, 1), y = random_vector(b.da, 2), wrong = random_vector(b.other, 3);
      return call(x, y, wrong);
    };
  };
  Mat A = b.A;
  return {
      {"MatMult(A, wrong, y)", PETSC_ERR_ARG_SIZ, {"dim"}, with([A](Vec, Vec y, Vec wrong) {
         return MatMult(A, wrong, y);
       })},
      {"MatMult(A, x, wrong)", PETSC_ERR_ARG_SIZ, {"dim"}, with([A](Vec x, Vec, Vec wrong) {
         return MatMult(A, x, wrong);
       })},
      {"MatMult(A, x, x)", 0, {}, with([A](Vec x, Vec, Vec) { return MatMult(A, x, x); })},
      {"MatMultTranspose(A, wrong, y)", PETSC_ERR_ARG_SIZ, {"dim"}, with([A](Vec, Vec y, Vec wrong) {
         return MatMultTranspose(A, wrong, y);
       })},
      {"MatMultTranspose(A, x, wrong)", PETSC_ERR_ARG_SIZ, {"dim"}, with([A](Vec x, Vec, Vec wrong) {
         return MatMultTranspose(A, x, wrong);
       })},
      {"MatMultTranspose(A, x, x)", 0, {}, with([A](Vec x, Vec, Vec) { return MatMultTranspose(A, x, x); })},
      {"MatMultHermitianTranspose(A, x, x)", 0, {}, with([A](Vec x, Vec, Vec) {
         return MatMultHermitianTranspose(A, x, x);
       })},
      {"MatMultAdd(A, wrong, y, y)", PETSC_ERR_ARG_SIZ, {"dim"}, with([A](Vec, Vec y, Vec wrong) {
         return MatMultAdd(A, wrong, y, y);
       })},
      {"MatMultAdd(A, x, wrong, y)", PETSC_ERR_ARG_SIZ, {"dim"}, with([A](Vec x, Vec y, Vec wrong) {
         return MatMultAdd(A, x, wrong, y);
       })},
      {"MatMultAdd(A, x, y, x)", 0, {}, with([A](Vec x, Vec y, Vec) { return MatMultAdd(A, x, y, x); })},
      {"MatMultTransposeAdd(A, x, y, x)", 0, {}, with([A](Vec x, Vec y, Vec) {
         return MatMultTransposeAdd(A, x, y, x);
       })},
      {"MatResidual(A, y, x, x)", PETSC_ERR_ARG_IDN, {"give another vector"}, with([A](Vec x, Vec y, Vec) {
         return MatResidual(A, y, x, x);
       })},
      {"MatResidual(A, wrong, x, y)",
       PETSC_ERR_ARG_SIZ,
       {"make vectors with MatCreateVecs"},
       with([A](Vec x, Vec y, Vec wrong) { return MatResidual(A, wrong, x, y); })},
      {"MatGetDiagonal(A, wrong)",
       PETSC_ERR_ARG_SIZ,
       {"make vectors with MatCreateVecs"},
       with([A](Vec, Vec, Vec wrong) { return MatGetDiagonal(A, wrong); })},
      {"MatDiagonalSet(A, wrong, ADD_VALUES)", 0, {}, with([A](Vec, Vec, Vec wrong) {
         return MatDiagonalSet(A, wrong, ADD_VALUES);
       })},
      {"MatDiagonalSet(A, x, MAX_VALUES)", PETSC_ERR_ARG_OUTOFRANGE, {"MatDiagonalSet"}, with([A](Vec x, Vec, Vec) {
         return MatDiagonalSet(A, x, MAX_VALUES);
       })},
      {"MatSOR(A, x, x)", 0, {}, with([A](Vec x, Vec, Vec) {
         return MatSOR(A, x, 1, SOR_LOCAL_FORWARD_SWEEP, 0, 1, 1, x);
       })},
      {"MatSOR(A, wrong, x)", PETSC_ERR_ARG_SIZ, {"dim"}, with([A](Vec x, Vec, Vec wrong) {
         return MatSOR(A, wrong, 1, SOR_LOCAL_FORWARD_SWEEP, 0, 1, 1, x);
       })},
      {"MatSOR(A, x, wrong)", PETSC_ERR_ARG_SIZ, {"dim"}, with([A](Vec x, Vec, Vec wrong) {
         return MatSOR(A, x, 1, SOR_LOCAL_FORWARD_SWEEP, 0, 1, 1, wrong);
       })},
      {"MatSOR() with one triangle", PETSC_ERR_SUP, {"use -pc_type sor"}, with([A](Vec x, Vec y, Vec) {
         return MatSOR(A, x, 1, SOR_APPLY_LOWER, 0, 1, 1, y);
       })},
      {"MatSOR() without sweeps", 0, {}, with([A](Vec x, Vec y, Vec) {
         return MatSOR(A, x, 1, SOR_LOCAL_FORWARD_SWEEP, 0, 0, 1, y);
       })},
  };
}

TEST_CASE("vectors that do not fit laplace", "[misuse]") {
  Bench b(MATLAPLACE);
  check_calls(b.product(), wrong_vectors(b));
}

TEST_CASE("vectors that do not fit stencil", "[misuse]") {
  Bench b(MATSTENCILSHELL);
  check_calls(b.product(), wrong_vectors(b));
}

TEST_CASE("wrong calls of helmholtz and laplace", "[misuse]") {
  Bench    b(MATHELMHOLTZ);
  Mat      A = b.A, aij = b.aij, made = NULL;
  DM       da = b.da;
  Vector   v = random_vector(b.da, 1);
  PetscInt row; // the first of this rank
  OK(MatGetOwnershipRange(A, &row, NULL));
  const PetscInt    rows[2] = {0, 1};
  const PetscScalar one[4] = {1, 1, 1, 1};
  PetscReal         norm;
  check_calls(
      b.product(),
      {
          {"MatCreateLaplace(NULL, &A)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return MatCreateLaplace(NULL, &made); }},

          {"MatCreateHelmholtz(NULL, 1, &A)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return MatCreateHelmholtz(NULL, 1, &made); }},

          {"MatCreateHelmholtz(da, NAN, &A)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be finite"},
           [&] { return MatCreateHelmholtz(da, NAN, &made); }},
          {"MatCreateHelmholtz(da, INFINITY, &A)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be finite"},
           [&] { return MatCreateHelmholtz(da, INFINITY, &made); }},
          {"MatHelmholtzSetShift(NULL, 1)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return MatHelmholtzSetShift(NULL, 1); }},
          {"MatHelmholtzSetShift(A, NAN)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be finite"},
           [&] { return MatHelmholtzSetShift(A, NAN); }},
          {"MatHelmholtzSetShift(A, INFINITY)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be finite"},
           [&] { return MatHelmholtzSetShift(A, INFINITY); }},
          {"MatHelmholtzGetShift(NULL, &sigma)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return MatHelmholtzGetShift(NULL, &b.sigma); }},

          {"MatHelmholtzGetShift(aij, &sigma)",
           PETSC_ERR_SUP,
           {"only a Mat of type helmholtz"},
           [&] { return MatHelmholtzGetShift(aij, &b.sigma); }},
          {"MatHelmholtzGetShift(laplace, &sigma)",
           PETSC_ERR_SUP,
           {"only a Mat of type helmholtz"},
           [&] { return MatHelmholtzGetShift(b.of_other, &b.sigma); }},
          {"MatLaplaceSetBoundary(NULL, NEUMANN)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return MatLaplaceSetBoundary(NULL, MAT_LAPLACE_NEUMANN); }},
          {"MatLaplaceSetBoundary(A, NEUMANN) after MatSetUp()",
           PETSC_ERR_ORDER,
           {"set it before"},
           [&] { return MatLaplaceSetBoundary(A, MAT_LAPLACE_NEUMANN); }},
          {"MatLaplaceSetBoundary(A, IDENTITY) after MatSetUp()",
           PETSC_ERR_ORDER,
           {"set it before"},
           [&] { return MatLaplaceSetBoundary(A, MAT_LAPLACE_IDENTITY); }},
          {"MatLaplaceSetBoundary(A, 7)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use eliminated, identity or neumann"},
           [&] { return MatLaplaceSetBoundary(A, (MatLaplaceBoundaryType)7); }},
          {"MatLaplaceSetBoundary(A, -1)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use eliminated, identity or neumann"},
           [&] { return MatLaplaceSetBoundary(A, (MatLaplaceBoundaryType)-1); }},
          {"MatLaplaceSetLengths(NULL, 2, lengths)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return MatLaplaceSetLengths(NULL, 2, b.lengths); }},

          {"MatLaplaceSetLengths(A, 0, lengths)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"give one for each of the"},
           [&] { return MatLaplaceSetLengths(A, 0, b.lengths); }},
          {"MatLaplaceSetLengths(A, 4, lengths)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"give one for each of the"},
           [&] { return MatLaplaceSetLengths(A, 4, b.lengths); }},
          {"MatLaplaceSetLengths(A, -1, lengths)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"give one for each of the"},
           [&] { return MatLaplaceSetLengths(A, -1, b.lengths); }},
          {"MatLaplaceSetLengths() of a negative length",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be positive and finite"},
           [&] { return MatLaplaceSetLengths(A, 2, b.bad_lengths); }},
          {"MatLaplaceSetLengths() of a length that is NaN",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be positive and finite"},
           [&] { return MatLaplaceSetLengths(A, 2, b.nan_lengths); }},
          {"MatLaplaceSetLengths() after MatSetUp()",
           PETSC_ERR_ORDER,
           {"set them before"},
           [&] {
             const PetscReal longer[2] = {2, 1};
             return MatLaplaceSetLengths(A, 2, longer);
           }},
          {"MatAXPY() of another grid's", 0, {}, [&] { return MatAXPY(A, 1, b.of_other, same); }},
          {"MatAXPY() of an AIJ", 0, {}, [&] { return MatAXPY(A, 1, aij, same); }},
          {"MatAXPY() of a dense matrix", 0, {}, [&] { return MatAXPY(A, 1, b.dense, same); }},
          {"MatCopy() to another grid's",
           PETSC_ERR_ARG_SIZ,
           {"Mat A,Mat B"},
           [&] { return MatCopy(A, b.of_other, same); }},

          {"MatNorm(A, NORM_2)", PETSC_ERR_SUP, {"infinity", "2-norm"}, [&] { return MatNorm(A, NORM_2, &norm); }},

          {"MatSetValue() of a value that is not the row's",
           PETSC_ERR_ARG_INCOMP,
           {"check its boundary form, lengths and"},
           [&] {
             PetscFunctionBeginUser;
             Matrix B;
             PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
             PetscCall(MatSetValues(B, 1, &row, 1, &row, one, INSERT_VALUES));
             PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
             PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
             PetscFunctionReturn(PETSC_SUCCESS);
           }},
          {"MatSetValues() of rows out of range",
           PETSC_ERR_SUP,
           {"a Mat of type helmholtz compares"},
           [&] {
             const PetscInt far[2] = {1000, 1001};
             PetscFunctionBeginUser;
             Matrix B;
             PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
             PetscCall(MatSetValues(B, 2, far, 2, rows, one, INSERT_VALUES));
             PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
             PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
             PetscFunctionReturn(PETSC_SUCCESS);
           }},
          {"MatGetRow() beyond the last row",
           PETSC_ERR_ARG_WRONGSTATE,
           {"Only for local rows"},
           [&] { return MatGetRow(A, 1000, NULL, NULL, NULL); }},
          {"MatConvert() to a type that there is not",
           PETSC_ERR_ARG_UNKNOWN_TYPE,
           {"Unknown Mat type given"},
           [&] {
             Mat copy;
             PetscFunctionBeginUser;
             PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &copy));
             const PetscErrorCode code = MatConvert(copy, "no such type", MAT_INITIAL_MATRIX, &made);
             PetscCall(MatDestroy(&copy));
             PetscFunctionReturn(code);
           }},
          {"MatMatMult() of another grid's",
           PETSC_ERR_ARG_SIZ,
           {"Matrix dimensions of A and B"},
           [&] { return MatMatMult(A, b.of_other, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made); }},
          {"MatLUFactor() of itself", 0, {}, [&] { return MatLUFactor(A, NULL, NULL, NULL); }},
          {"MatDiagonalScale() by a wrong vector",
           0,
           {},
           [&] {
             Vector wrong = random_vector(b.other, 2);
             return MatDiagonalScale(A, wrong, NULL);
           }},
      });
}

TEST_CASE("grids that operators do not serve", "[misuse]") {
  Bench      b(MATLAPLACE);
  const auto make = [](MatType type, DM dm) {
    PetscFunctionBeginUser;
    Matrix A;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    if (dm) PetscCall(MatSetDM(A, dm));
    PetscCall(MatSetType(A, type));
    PetscCall(MatSetUp(A));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  Grid shell, two, raw, stretched, single;
  OK(DMCreate(PETSC_COMM_WORLD, &shell));
  OK(DMSetType(shell, DMREDUNDANT));
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 9, 8, PETSC_DECIDE,
                  PETSC_DECIDE, 2, 1, NULL, NULL, &two));
  OK(DMSetUp(two));
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 1, 1, NULL, &raw));
  stretched = make_grid(problem(1, 12));
  OK(DMDASetUniformCoordinates(stretched, 0, 1, 0, 1, 0, 1));
  Vec coordinates;
  OK(DMGetCoordinates(stretched, &coordinates));
  OK(VecSqrtAbs(coordinates));
  check_calls(b.product(), {
                               {"laplace without a DM",
                                PETSC_ERR_ARG_WRONGSTATE,
                                {"make it with DMCreateMatrix"},
                                [&] { return make(MATLAPLACE, NULL); }},
                               {"helmholtz without a DM",
                                PETSC_ERR_ARG_WRONGSTATE,
                                {"make it with DMCreateMatrix"},
                                [&] { return make(MATHELMHOLTZ, NULL); }},
                               {"stencil without a DM",
                                PETSC_ERR_ARG_WRONGSTATE,
                                {"make it with DMCreateMatrix"},
                                [&] { return make(MATSTENCILSHELL, NULL); }},
                               {"laplace on a DMREDUNDANT",
                                PETSC_ERR_ARG_WRONG,
                                {"set a DMDA with MatSetDM"},
                                [&] { return make(MATLAPLACE, shell); }},
                               {"helmholtz on a DMREDUNDANT",
                                PETSC_ERR_ARG_WRONG,
                                {"set a DMDA with MatSetDM"},
                                [&] { return make(MATHELMHOLTZ, shell); }},
                               {"stencil on a DMREDUNDANT",
                                PETSC_ERR_ARG_WRONG,
                                {"set a DMDA with MatSetDM"},
                                [&] { return make(MATSTENCILSHELL, shell); }},
                               {"laplace of two unknowns a point",
                                PETSC_ERR_ARG_OUTOFRANGE,
                                {"make a DMDA with dof ="},
                                [&] { return make(MATLAPLACE, two); }},
                               {"helmholtz of two unknowns a point",
                                PETSC_ERR_ARG_OUTOFRANGE,
                                {"make a DMDA with dof ="},
                                [&] { return make(MATHELMHOLTZ, two); }},
                               {"laplace on a DMDA that is not set up",
                                PETSC_ERR_ARG_WRONGSTATE,
                                {"call DMSetUp"},
                                [&] { return make(MATLAPLACE, raw); }},
                               {"stencil on a DMDA that is not set up",
                                PETSC_ERR_ARG_WRONGSTATE,
                                {"call DMSetUp"},
                                [&] { return make(MATSTENCILSHELL, raw); }},
                               {"laplace on a stretched grid",
                                PETSC_ERR_ARG_WRONG,
                                {"use DMDASetUniformCoordinates"},
                                [&] { return make(MATLAPLACE, stretched); }},
                               {"helmholtz on a stretched grid",
                                PETSC_ERR_ARG_WRONG,
                                {"use DMDASetUniformCoordinates"},
                                [&] { return make(MATHELMHOLTZ, stretched); }},
                               {"sizes that are not the DMDA's",
                                PETSC_ERR_ARG_SIZ,
                                {"leave out MatSetSizes"},
                                [&] {
                                  PetscFunctionBeginUser;
                                  Matrix A;
                                  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
                                  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 100, 100));
                                  PetscCall(MatSetDM(A, b.da));
                                  PetscCall(MatSetType(A, MATLAPLACE));
                                  PetscCall(MatSetUp(A));
                                  PetscFunctionReturn(PETSC_SUCCESS);
                                }},
                           });
}

TEST_CASE("wrong assembly of stencil", "[misuse]") {
  Bench    b(MATSTENCILSHELL);
  Mat      A = b.A;
  PetscInt start, end;
  OK(MatGetOwnershipRange(A, &start, &end));
  // the end of an assembly that fails is never reached: each has a matrix of its own
  const auto assembled = [&](const std::function<PetscErrorCode(Mat B)> &set) {
    PetscFunctionBeginUser;
    Matrix B;
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(set(B));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const PetscScalar v[4] = {1, 1, 1, 1};
  const auto        global = [&](PetscInt row, PetscInt column, InsertMode mode) {
    return assembled([&](Mat B) { return MatSetValues(B, 1, &row, 1, &column, v, mode); });
  };
  check_calls(
      b.product(),
      {
          {"an entry beyond the stencil",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"make the DMDA with the stencil"},
           [&] { return global(start, (start + 36) % 72, INSERT_VALUES); }},
          {"a column out of range",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"column"},
           [&] { return global(start, 5000, INSERT_VALUES); }},
          {"a row out of range", PETSC_ERR_ARG_OUTOFRANGE, {"row"}, [&] { return global(5000, start, INSERT_VALUES); }},

          {"a corner, which a star has not",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"make the DMDA with the stencil"},
           [&] {
             MatStencil row = {}, column = {};
             PetscInt   x, y;
             DMDAGetCorners(b.da, &x, &y, NULL, NULL, NULL, NULL);
             row.i = x, row.j = y, column.i = x + 1, column.j = y + 1;
             return assembled([&](Mat B) { return MatSetValuesStencil(B, 1, &row, 1, &column, v, INSERT_VALUES); });
           }},
          {"two steps away",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"make the DMDA with the stencil"},
           [&] {
             MatStencil row = {}, column = {};
             PetscInt   x, y;
             DMDAGetCorners(b.da, &x, &y, NULL, NULL, NULL, NULL);
             row.i = x, row.j = y, column.i = x + 2, column.j = y;
             return assembled([&](Mat B) { return MatSetValuesStencil(B, 1, &row, 1, &column, v, INSERT_VALUES); });
           }},
          {"MatAXPY() of another grid's", 0, {}, [&] { return MatAXPY(A, 1, b.of_other, same); }},
          {"MatAXPY() of a dense matrix",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"outside", "-mat_stencil_fallback"},
           [&] { return assembled([&](Mat B) { return MatAXPY(B, 1, b.dense, same); }); }},

          {"MatNorm(A, NORM_2)",
           PETSC_ERR_SUP,
           {"infinity", "2-norm"},
           [&] {
             PetscReal norm;
             return MatNorm(A, NORM_2, &norm);
           }},

          {"MatHelmholtzGetShift() of stencil",
           PETSC_ERR_SUP,
           {"only a Mat of type helmholtz"},
           [&] { return MatHelmholtzGetShift(A, &b.sigma); }},

          {"MatGetRow() beyond the last row",
           PETSC_ERR_ARG_WRONGSTATE,
           {"Only for local rows"},
           [&] { return MatGetRow(A, 1000, NULL, NULL, NULL); }},

      });
}
