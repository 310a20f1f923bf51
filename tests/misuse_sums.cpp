// Mistakes with sums over particles: options, points, settings, operations.

#include "catch.hpp"
#include "misuse.hpp"
#include "sums.hpp"

#include <cmath>

using namespace tests;
using namespace tests::sums;

static PetscErrorCode product_with(Mat A, Vec *y) {
  PetscFunctionBeginUser;
  Vector c;
  PetscCall(MatCreateVecs(A, &c, y));
  PetscCall(VecSet(c, 1));
  PetscCall(MatMult(A, c, *y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode product_of_options(Vec *y) {
  PetscFunctionBeginUser;
  Vector points = random_cloud(30, 3, 1).coordinates();
  Matrix A;
  PetscCall(MatCreateKernelSum(PETSC_COMM_WORLD, points, points, &A));
  PetscCall(product_with(A, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("options of kernelsum", "[misuse]") {
  check_mistakes(
      product_of_options,
      {
          {"-mat_kernelsum_kernel box", PETSC_ERR_USER, "box|mat_kernelsum_kernel"},
          {"-mat_kernelsum_kernel gauss", PETSC_ERR_USER, "gauss|mat_kernelsum_kernel"},
          {"-mat_kernelsum_kernel 17", PETSC_ERR_USER, "17|mat_kernelsum_kernel"},
          {"-mat_kernelsum_sigma 0", PETSC_ERR_ARG_OUTOFRANGE, "sigma is 0|positive|-mat_kernelsum_sigma"},
          {"-mat_kernelsum_sigma -1", PETSC_ERR_ARG_OUTOFRANGE, "sigma is -1|positive|-mat_kernelsum_sigma"},
          {"-mat_kernelsum_sigma nan", PETSC_ERR_ARG_OUTOFRANGE, "nan|finite"},
          {"-mat_kernelsum_sigma inf", PETSC_ERR_ARG_OUTOFRANGE, "inf|finite"},
          {"-mat_kernelsum_sigma wide", PETSC_ERR_ARG_OUTOFRANGE, "mat_kernelsum_sigma|wide|give: "},
          {"-mat_kernelsum_kernel laplace -mat_kernelsum_sigma 1", PETSC_ERR_ARG_INCOMP, "no effect|laplace|gaussian"},
          {"-mat_kernelsum_kernel yukawa -mat_kernelsum_wavenumber 1 -mat_kernelsum_sigma 1", PETSC_ERR_ARG_INCOMP,
           "no effect|yukawa|gaussian"},
          {"-mat_kernelsum_kernel helmholtz", PETSC_ERR_ARG_WRONGSTATE, "-mat_kernelsum_wavenumber"},
          {"-mat_kernelsum_kernel yukawa", PETSC_ERR_ARG_WRONGSTATE, "-mat_kernelsum_wavenumber"},
          {"-mat_kernelsum_wavenumber 1", PETSC_ERR_ARG_INCOMP, "no effect|gaussian|yukawa"},
          {"-mat_kernelsum_wavenumber 0", PETSC_ERR_ARG_INCOMP, "no effect|gaussian|yukawa"},
          {"-mat_kernelsum_kernel thin_plate -mat_kernelsum_wavenumber 1", PETSC_ERR_ARG_INCOMP, "no effect|yukawa"},
          {"-mat_kernelsum_kernel helmholtz -mat_kernelsum_wavenumber -1", PETSC_ERR_ARG_OUTOFRANGE, "-1|positive"},
          {"-mat_kernelsum_kernel helmholtz -mat_kernelsum_wavenumber nan", PETSC_ERR_ARG_OUTOFRANGE, "nan|finite"},
          {"-mat_kernelsum_kernel helmholtz -mat_kernelsum_wavenumber 0", PETSC_ERR_ARG_OUTOFRANGE,
           "-mat_kernelsum_wavenumber is 0|helmholtz|laplace"},
          {"-mat_kernelsum_kernel yukawa -mat_kernelsum_wavenumber 0", PETSC_ERR_ARG_OUTOFRANGE,
           "-mat_kernelsum_wavenumber is 0|yukawa|laplace"},
          {"-mat_kernelsum_kernel yukawa -mat_kernelsum_wavenumber inf", PETSC_ERR_ARG_OUTOFRANGE, "inf|finite"},
          {"-mat_kernelsum_kernel yukawa -mat_kernelsum_wavenumber long", PETSC_ERR_ARG_OUTOFRANGE,
           "mat_kernelsum_wavenumber|long|give: "},
          {"-mat_kernelsum_precision half", PETSC_ERR_USER, "half|mat_kernelsum_precision"},
          {"-mat_kernelsum_precision 8", PETSC_ERR_USER, "8|mat_kernelsum_precision"},
          {"-mat_kernelsum_self none", PETSC_ERR_USER, "none|mat_kernelsum_self"},
          {"-mat_kernelsum_self error", PETSC_ERR_ARG_WRONG, "target 0|source 0|-mat_kernelsum_self zero or limit"},
          {"-mat_kernelsum_kernel laplace -mat_kernelsum_self error", PETSC_ERR_ARG_WRONG, "-mat_kernelsum_self zero"},
          {"-mat_kernelsum_kernel laplace -mat_kernelsum_self limit", PETSC_ERR_ARG_INCOMP, "limit|zero or error"},
          {"-mat_kernelsum_kernel logarithm -mat_kernelsum_self limit", PETSC_ERR_ARG_INCOMP, "limit|zero or error"},
          {"-mat_kernelsum_kernel yukawa -mat_kernelsum_wavenumber 1 -mat_kernelsum_self limit", PETSC_ERR_ARG_INCOMP,
           "limit|zero or error"},
          {"-mat_kernelsum_type quick", PETSC_ERR_USER, "quick|mat_kernelsum_type"},
          {"-mat_kernelsum_rtol 1e-3", PETSC_ERR_ARG_INCOMP, "no effect|-mat_kernelsum_type fast or auto"},
          {"-mat_kernelsum_type direct -mat_kernelsum_rtol 1e-3", PETSC_ERR_ARG_INCOMP, "no effect|fast or auto"},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol 0", PETSC_ERR_ARG_OUTOFRANGE, "tolerance is 0|1e-12"},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol -1e-6", PETSC_ERR_ARG_OUTOFRANGE, "-1e-06|1e-12"},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol 1", PETSC_ERR_ARG_OUTOFRANGE, "tolerance is 1|1e-12"},
          {"-mat_kernelsum_type auto -mat_kernelsum_rtol 1e-13", PETSC_ERR_ARG_OUTOFRANGE, "1e-13|1e-12"},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol nan", PETSC_ERR_ARG_OUTOFRANGE, "nan|less than 1"},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol exact", PETSC_ERR_ARG_OUTOFRANGE,
           "mat_kernelsum_rtol|exact|give: "},
          {"-mat_kernelsum_monitor loudly", PETSC_ERR_ARG_WRONG, "mat_kernelsum_monitor|loudly|give: true"},
      });
}

TEST_CASE("points and settings of kernelsum", "[misuse]") {
  const MPI_Comm world = PETSC_COMM_WORLD;
  Cloud          nan_cloud = random_cloud(20, 3, 2), inf_cloud = nan_cloud;
  nan_cloud.x[5] = NAN;
  inf_cloud.x[58] = INFINITY;
  Vector x = random_cloud(30, 3, 1).coordinates(), y = random_cloud(20, 3, 2).coordinates(),
         plane = random_cloud(30, 2, 3).coordinates(), nan = nan_cloud.coordinates(), inf = inf_cloud.coordinates(),
         four = random_cloud(30, 3, 1).vector(4, [](PetscInt i) { return (PetscScalar)i; });
  Grid       da = make_grid(problem(2, 9, 8)), redundant;
  Matrix     A, G, fresh, aij = make_reference(problem(2, 9, 8), da);
  Mat        made = NULL;
  const auto precision = [](int value) { return (MatKernelSumPrecision)value; };
  const auto self = [](int value) { return (MatKernelSumSelf)value; };
  const auto method = [](int value) { return (MatKernelSumMethod)value; };
  const auto fast = MAT_KERNELSUM_FAST;
  OK(DMCreate(world, &redundant));
  OK(DMSetType(redundant, DMREDUNDANT));
  OK(MatCreateKernelSum(world, x, x, &A));
  OK(MatKernelSumCreateGradient(A, &G));
  OK(MatCreate(world, &fresh));
  OK(MatSetType(fresh, MATKERNELSUM));
  const auto use_options_without_points = [&] {
    Matrix B;
    OK(MatCreate(world, &B));
    OK(MatSetType(B, MATKERNELSUM));
    return MatSetUp(B);
  };
  const auto out = PETSC_ERR_ARG_OUTOFRANGE, null = PETSC_ERR_ARG_NULL;
  check_mistakes(
      [&](Vec *f) { return product_with(A, f); },
      {
          CALL(null, "null", MatCreateKernelSum(world, NULL, y, &made)),
          CALL(null, "null", MatCreateKernelSum(world, x, NULL, &made)),
          CALL(null, "MatCreateKernelSum|null", MatCreateKernelSum(world, x, y, NULL)),
          CALL(PETSC_ERR_ARG_INCOMP, "3|2|same space", MatCreateKernelSum(world, x, plane, &made)),
          CALL(PETSC_ERR_ARG_INCOMP, "2|3|same space", MatCreateKernelSum(world, plane, y, &made)),
          CALL(out, "targets|block size 4|VecSetBlockSize", MatCreateKernelSum(world, four, y, &made)),
          CALL(out, "sources|block size 4|VecSetBlockSize", MatCreateKernelSum(world, x, four, &made)),
          CALL(out, "coordinate z|target point 1|finite", MatCreateKernelSum(world, nan, y, &made)),
          CALL(out, "coordinate y|source point 19|finite", MatCreateKernelSum(world, x, inf, &made)),
          CALL(null, "null", MatCreateKernelSumDM(NULL, da, &made)),
          CALL(null, "null", MatCreateKernelSumDM(da, NULL, &made)),
          CALL(null, "MatCreateKernelSumDM|null", MatCreateKernelSumDM(da, da, NULL)),
          CALL(PETSC_ERR_ARG_WRONGSTATE, "coordinates|DMDASetUniformCoordinates", MatCreateKernelSumDM(da, da, &made)),
          CALL(PETSC_ERR_ARG_WRONGSTATE, "coordinates", MatCreateKernelSumDM(redundant, redundant, &made)),
          CALL(PETSC_ERR_ARG_WRONGSTATE, "points|MatKernelSumSetPoints", use_options_without_points()),
          CALL(PETSC_ERR_ARG_WRONGSTATE, "points|MatKernelSumSetPoints", MatKernelSumCreateGradient(fresh, &made)),
          CALL(null, "null", MatKernelSumSetPoints(A, NULL, y)),
          CALL(null, "null", MatKernelSumSetPoints(A, x, NULL)),
          CALL(null, "null", MatKernelSumSetPoints(NULL, x, y)),
          CALL(PETSC_ERR_ARG_INCOMP, "3|2|same space", MatKernelSumSetPoints(A, x, plane)),
          CALL(out, "block size 4", MatKernelSumSetPoints(A, four, four)),
          CALL(out, "source point 1|finite", MatKernelSumSetPoints(A, x, nan)),
          CALL(out, "target point 19|finite", MatKernelSumSetPoints(A, inf, x)),
          CALL(PETSC_ERR_ARG_UNKNOWN_TYPE, "box|gaussian|thin_plate", MatKernelSumSetKernel(A, "box")),
          CALL(PETSC_ERR_ARG_UNKNOWN_TYPE, "Gaussian|gaussian", MatKernelSumSetKernel(A, "Gaussian")),
          CALL(PETSC_ERR_ARG_UNKNOWN_TYPE, "gaussian", MatKernelSumSetKernel(A, "")),
          CALL(null, "null", MatKernelSumSetKernel(A, NULL)),
          CALL(null, "null", MatKernelSumSetKernel(NULL, "laplace")),
          CALL(PETSC_ERR_ARG_WRONGSTATE, "-mat_kernelsum_wavenumber", MatKernelSumSetKernel(A, "yukawa")),
          CALL(PETSC_ERR_ARG_WRONGSTATE, "-mat_kernelsum_wavenumber", MatKernelSumSetKernel(A, "helmholtz")),
          CALL(out, "sigma is 0|positive", MatKernelSumSetSigma(A, 0)),
          CALL(out, "sigma is -1|positive", MatKernelSumSetSigma(A, -1)),
          CALL(out, "sigma is nan|finite", MatKernelSumSetSigma(A, NAN)),
          CALL(out, "sigma is inf|finite", MatKernelSumSetSigma(A, INFINITY)),
          CALL(out, "sigma is 0|positive", MatKernelSumSetSigma(fresh, 0)),
          CALL(null, "null", MatKernelSumSetSigma(NULL, 1)),
          CALL(out, "wavenumber is -1|positive", MatKernelSumSetWavenumber(A, -1)),
          CALL(out, "wavenumber is nan|finite", MatKernelSumSetWavenumber(A, NAN)),
          CALL(out, "wavenumber is inf|finite", MatKernelSumSetWavenumber(A, INFINITY)),
          CALL(null, "null", MatKernelSumSetWavenumber(NULL, 1)),
          CALL(out, "9|double, single or mixed", MatKernelSumSetPrecision(A, precision(9))),
          CALL(out, "-1|double, single or mixed", MatKernelSumSetPrecision(A, precision(-1))),
          CALL(out, "3|double, single or mixed", MatKernelSumSetPrecision(fresh, precision(3))),
          CALL(null, "null", MatKernelSumSetPrecision(NULL, MAT_KERNELSUM_SINGLE)),
          CALL(out, "9|automatic, zero, limit or error", MatKernelSumSetSelf(A, self(9))),
          CALL(out, "-1|automatic, zero, limit or error", MatKernelSumSetSelf(A, self(-1))),
          CALL(PETSC_ERR_ARG_WRONG, "same point|zero or limit", MatKernelSumSetSelf(A, MAT_KERNELSUM_SELF_ERROR)),
          CALL(null, "null", MatKernelSumSetSelf(NULL, MAT_KERNELSUM_SELF_ZERO)),
          CALL(out, "9|direct, fast or auto", MatKernelSumSetMethod(A, method(9), 1e-6)),
          CALL(out, "-1|direct, fast or auto", MatKernelSumSetMethod(A, method(-1), 1e-6)),
          CALL(out, "tolerance is 0|1e-12", MatKernelSumSetMethod(A, fast, 0)),
          CALL(out, "tolerance is 2|1e-12", MatKernelSumSetMethod(A, fast, 2)),
          CALL(out, "tolerance is -1|1e-12", MatKernelSumSetMethod(A, fast, -1)),
          CALL(out, "tolerance is nan|1e-12", MatKernelSumSetMethod(A, fast, NAN)),
          CALL(out, "tolerance is 1e-14|1e-12", MatKernelSumSetMethod(A, MAT_KERNELSUM_DIRECT, 1e-14)),
          CALL(null, "null", MatKernelSumSetMethod(NULL, fast, 1e-6)),
          CALL(null, "null", MatKernelSumCreateGradient(NULL, &made)),
          CALL(null, "MatKernelSumCreateGradient|null", MatKernelSumCreateGradient(A, NULL)),
          CALL(PETSC_ERR_SUP, "not a kernelsum", MatKernelSumCreateGradient(aij, &made)),
          CALL(out, "sigma is -1|positive", MatKernelSumSetSigma(A, on_last<PetscReal>(-1, 0.5))),
          CALL(out, "wavenumber is nan", MatKernelSumSetWavenumber(A, on_last<PetscReal>(NAN, 1))),
          CALL(out, "9|double, single or mixed", MatKernelSumSetPrecision(A, precision(on_last(9, 0)))),
          CALL(out, "9|automatic, zero", MatKernelSumSetSelf(A, self(on_last(9, 0)))),
          CALL(out, "9|direct, fast or auto", MatKernelSumSetMethod(A, method(on_last(9, 0)), 1e-6)),
          CALL(out, "tolerance is 2", MatKernelSumSetMethod(A, MAT_KERNELSUM_DIRECT, on_last<PetscReal>(2, 1e-6))),
          CALL(PETSC_ERR_ARG_UNKNOWN_TYPE, "box|gaussian", MatKernelSumSetKernel(A, on_last("box", "gaussian"))),
          CALL(null, "null", MatKernelSumSetPoints(A, x, on_last<Vec>(NULL, y))),
          CALL(null, "null", MatCreateKernelSum(world, x, y, on_last<Mat *>(NULL, &made))),
          CALL(PETSC_ERR_SUP, "gradients already", MatKernelSumCreateGradient(G, &made)),
      });
}

#define OPERATION(code, words, ...)                                                                                    \
  tests::called(code, words, #__VA_ARGS__, [&] {                                                                       \
    Vector c = right_vector(A), f = left_vector(A), w = random_vector(da, 1);                                          \
    return __VA_ARGS__;                                                                                                \
  })

// A has 30 targets, 20 sources; c and f are its vectors, w is one of 72 values.
TEST_CASE("operations on kernelsum", "[misuse]") {
  const auto same = SAME_NONZERO_PATTERN;
  Grid       da = make_grid(problem(2, 9, 8));
  Matrix A = make_sum(random_cloud(30, 3, 1), random_cloud(20, 3, 2)), square = make_square_sum(random_cloud(9, 3, 1)),
         spoilt = make_square_sum(random_cloud(9, 3, 1)), aij = make_reference(problem(2, 9, 8), da);
  Mat         made = NULL;
  PetscReal   norm;
  PetscScalar sigma;
  Matrix      dense;
  OK(MatConvert(square, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  IS       first_rows;
  Mat     *many = NULL;
  PetscInt begin, end;
  OK(MatGetOwnershipRange(square, &begin, &end));
  OK(ISCreateStride(PETSC_COMM_WORLD, PetscMin(1, end - begin), begin, 1, &first_rows));
  check_mistakes(
      [&](Vec *f) { return product_with(A, f); },
      {
          OPERATION(PETSC_ERR_ARG_WRONGSTATE, "must be different vectors", MatMult(A, f, f)),
          OPERATION(PETSC_ERR_ARG_SIZ, "x: global dim 20 72", MatMult(A, w, f)),
          OPERATION(PETSC_ERR_ARG_SIZ, "y: global dim 30 72", MatMult(A, c, w)),
          OPERATION(PETSC_ERR_ARG_SIZ, "y: global dim 20 30", MatMultTranspose(A, c, f)),
          OPERATION(PETSC_ERR_ARG_SIZ, "y: global dim 20 72", MatMultTranspose(A, f, w)),
          OPERATION(PETSC_ERR_ARG_SIZ, "v2: local dim", MatMultAdd(A, c, w, f)),
          OPERATION(PETSC_ERR_ARG_SIZ, "v3: local dim", MatMultAdd(A, c, f, w)),
          OPERATION(PETSC_ERR_ARG_SIZ, "v2: global dim 20 72", MatMultTransposeAdd(A, f, w, c)),
          OPERATION(PETSC_ERR_ARG_SIZ, "72|30 rows|MatCreateVecs", MatDiagonalScale(A, w, NULL)),
          OPERATION(PETSC_ERR_ARG_SIZ, "72|20 columns|MatCreateVecs", MatDiagonalScale(A, NULL, w)),
          OPERATION(PETSC_ERR_SUP, "diagonal|as many targets as sources", MatGetDiagonal(A, f)),
          OPERATION(PETSC_ERR_SUP, "square|like its sources", MatShift(A, 1)),
          OPERATION(PETSC_ERR_SUP, "square|like its sources", MatDiagonalSet(A, f, ADD_VALUES)),
          OPERATION(PETSC_ERR_ARG_INCOMP, "rows of matrix|vector for diagonal", MatDiagonalSet(square, w, ADD_VALUES)),
          OPERATION(PETSC_ERR_ARG_INCOMP, "rows of matrix|vector for diagonal",
                    MatDiagonalSet(square, w, INSERT_VALUES)),
          OPERATION(PETSC_ERR_SUP, "NORM_1|NORM_INFINITY|NORM_FROBENIUS", MatNorm(A, NORM_2, &norm)),
          OPERATION(PETSC_ERR_ARG_SIZ, "72 x 72|30 x 20", MatAXPY(A, 1, aij, same)),
          OPERATION(PETSC_ERR_ARG_SIZ, "9 x 9|30 x 20", MatAXPY(A, 1, square, same)),
          OPERATION(PETSC_ERR_ARG_SIZ, "30 x 20|72 x 72", MatAXPY(aij, 1, A, same)),
          OPERATION(PETSC_ERR_ARG_SIZ, "global dim|72|30|20", MatCopy(aij, A, same)),
          OPERATION(PETSC_ERR_SUP, "kernelsum|MatSetValues()|MatConvert()",
                    MatSetValue(spoilt, 0, 0, 1, INSERT_VALUES)),
          OPERATION(PETSC_ERR_SUP, "kernelsum|MATCOMPOSITE|MatConvert()", MatAXPY(square, 1, dense, same)),
          OPERATION(PETSC_ERR_SUP, "kernelsum|MatZeroEntries()|MatConvert()", MatZeroEntries(square)),
          OPERATION(PETSC_ERR_SUP, "kernelsum|MatLUFactor()|MatConvert()", MatLUFactor(square, NULL, NULL, NULL)),
          OPERATION(PETSC_ERR_SUP, "kernelsum|lu|MatConvert()|-pc_type kernelsum",
                    MatGetFactor(square, "shellac", MAT_FACTOR_LU, &made)),
          OPERATION(PETSC_ERR_SUP, "kernelsum|submatrices|MatConvert()",
                    MatCreateSubMatrices(square, 1, &first_rows, &first_rows, MAT_INITIAL_MATRIX, &many)),
          OPERATION(PETSC_ERR_SUP, "kernelsum|MatCreateSubMatrix()|MatConvert()",
                    MatCreateSubMatrix(square, first_rows, first_rows, MAT_INITIAL_MATRIX, &made)),
          OPERATION(PETSC_ERR_ARG_SIZ, "x: global dim 9 30", MatSOR(square, c, 1, SOR_FORWARD_SWEEP, 0, 1, 1, f)),
          OPERATION(PETSC_ERR_ARG_UNKNOWN_TYPE, "no_such_type",
                    MatConvert(square, "no_such_type", MAT_INITIAL_MATRIX, &made)),
          OPERATION(PETSC_ERR_ARG_SIZ, "30x20|9x9", MatMatMult(A, square, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made)),
          OPERATION(PETSC_ERR_ARG_SIZ, "9x9|30x20", MatPtAP(square, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made)),
          OPERATION(PETSC_ERR_SUP, "helmholtz", MatHelmholtzGetShift(A, &sigma)),
      });
  OK(ISDestroy(&first_rows));
}
