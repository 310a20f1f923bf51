// Wrong calls of sums over particles.

#include "catch.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

// n points of so many coordinates; coordinate `odd` is that value.
static Vector points_of(PetscInt n, PetscInt dim, PetscInt odd = -1, PetscReal value = 0) {
  Vector   points;
  PetscInt start, end;
  OK(VecCreate(PETSC_COMM_WORLD, &points));
  PetscInt local = PETSC_DECIDE, all = n;
  OK(PetscSplitOwnership(PETSC_COMM_WORLD, &local, &all));
  OK(VecSetSizes(points, dim * local, PETSC_DETERMINE));
  OK(VecSetBlockSize(points, dim));
  OK(VecSetType(points, VECSTANDARD));
  OK(VecGetOwnershipRange(points, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscScalar x = PetscRealPart(random_value((size_t)i, 1));
    if (i == odd) x = value;
    OK(VecSetValues(points, 1, &i, &x, INSERT_VALUES));
  }
  OK(VecAssemblyBegin(points));
  OK(VecAssemblyEnd(points));
  return points;
}

TEST_CASE("wrong calls of kernelsum", "[misuse]") {
  const MPI_Comm world = PETSC_COMM_WORLD;
  Vector         x = points_of(30, 3), y = points_of(21, 3), plane = points_of(30, 2), four = points_of(30, 4),
         nan = points_of(30, 3, 5, NAN), inf = points_of(30, 3, 88, INFINITY);
  Matrix A, rectangular, fresh, aij;
  Mat    made = NULL;
  Grid   da = make_grid(problem(2, 9, 8)), bare;
  OK(DMCreate(world, &bare));
  OK(DMSetType(bare, DMREDUNDANT));
  OK(MatCreateKernelSum(world, x, x, &A));
  OK(MatCreateKernelSum(world, x, y, &rectangular));
  OK(MatCreate(world, &fresh));
  OK(MatSetType(fresh, MATKERNELSUM));
  aij = make_reference(problem(2, 9, 8), da);
  PetscReal  norm;
  const Work product = [&](Vec *f) {
    PetscFunctionBeginUser;
    Vector c;
    PetscCall(MatCreateVecs(A, &c, f));
    PetscCall(VecSet(c, 1));
    PetscCall(MatMult(A, c, *f));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const auto vectors = [&](const std::function<PetscErrorCode(Vec c, Vec f, Vec wrong)> &call) {
    return [&rectangular, &da, call] {
      Vector c, f, wrong = random_vector(da, 1);
      OK(MatCreateVecs(rectangular, &c, &f));
      return call(c, f, wrong);
    };
  };
  check_calls(
      product,
      {
          {"MatCreateKernelSum() without targets",
           PETSC_ERR_ARG_NULL,
           {"the coordinates of targets or sources"},
           [&] { return MatCreateKernelSum(world, NULL, y, &made); }},
          {"MatCreateKernelSum() without sources",
           PETSC_ERR_ARG_NULL,
           {"the coordinates of targets or sources"},
           [&] { return MatCreateKernelSum(world, x, NULL, &made); }},
          {"MatCreateKernelSum(…, NULL)",
           PETSC_ERR_ARG_NULL,
           {"it is null"},
           [&] { return MatCreateKernelSum(world, x, y, NULL); }},
          {"targets in space, sources in a plane",
           PETSC_ERR_ARG_INCOMP,
           {"both must be points of the"},
           [&] { return MatCreateKernelSum(world, x, plane, &made); }},
          {"points of four coordinates",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be"},
           [&] { return MatCreateKernelSum(world, four, four, &made); }},
          {"a coordinate that is NaN",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"check the coordinates"},
           [&] { return MatCreateKernelSum(world, nan, y, &made); }},
          {"a coordinate that is infinite",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"check the coordinates"},
           [&] { return MatCreateKernelSum(world, x, inf, &made); }},
          {"MatCreateKernelSumDM() without targets",
           PETSC_ERR_ARG_NULL,
           {"is null"},
           [&] { return MatCreateKernelSumDM(NULL, da, &made); }},
          {"MatCreateKernelSumDM() without sources",
           PETSC_ERR_ARG_NULL,
           {"is null"},
           [&] { return MatCreateKernelSumDM(da, NULL, &made); }},
          {"MatCreateKernelSumDM() of a grid without coordinates",
           PETSC_ERR_ARG_WRONGSTATE,
           {"set them, for instance with DMDASetUniformCoordinates"},
           [&] { return MatCreateKernelSumDM(da, da, &made); }},
          {"MatCreateKernelSumDM() of a DMREDUNDANT",
           PETSC_ERR_ARG_WRONGSTATE,
           {"set them, for instance with DMDASetUniformCoordinates"},
           [&] { return MatCreateKernelSumDM(bare, bare, &made); }},
          {"MatSetUp() without points",
           PETSC_ERR_ARG_WRONGSTATE,
           {"make it with MatCreateKernelSum"},
           [&] { return MatSetUp(fresh); }},

          {"MatKernelSumSetPoints(fresh, NULL, y)",
           PETSC_ERR_ARG_NULL,
           {"the coordinates of targets or sources"},
           [&] { return MatKernelSumSetPoints(fresh, NULL, y); }},
          {"MatKernelSumSetPoints(NULL, x, y)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return MatKernelSumSetPoints(NULL, x, y); }},

          {"MatKernelSumSetKernel(A, box)",
           PETSC_ERR_ARG_UNKNOWN_TYPE,
           {"use one of gaussian, laplace, helmholtz"},
           [&] { return MatKernelSumSetKernel(A, "box"); }},
          {"MatKernelSumSetKernel(A, NULL)",
           PETSC_ERR_ARG_NULL,
           {"is null"},
           [&] { return MatKernelSumSetKernel(A, NULL); }},
          {"MatKernelSumSetKernel(NULL, laplace)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return MatKernelSumSetKernel(NULL, "laplace"); }},
          {"MatKernelSumSetSigma(A, 0)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"a length must be positive and"},
           [&] { return MatKernelSumSetSigma(A, 0); }},
          {"MatKernelSumSetSigma(A, -1)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"a length must be positive and"},
           [&] { return MatKernelSumSetSigma(A, -1); }},
          {"MatKernelSumSetSigma(A, NAN)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"a length must be positive and"},
           [&] { return MatKernelSumSetSigma(A, NAN); }},
          {"MatKernelSumSetSigma(NULL, 1)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return MatKernelSumSetSigma(NULL, 1); }},
          {"MatKernelSumSetWavenumber(A, -1)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be zero or positive"},
           [&] { return MatKernelSumSetWavenumber(A, -1); }},
          {"MatKernelSumSetWavenumber(A, INFINITY)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be zero or positive"},
           [&] { return MatKernelSumSetWavenumber(A, INFINITY); }},
          {"MatKernelSumSetPrecision(A, 9)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use double, single or mixed"},
           [&] { return MatKernelSumSetPrecision(A, (MatKernelSumPrecision)9); }},
          {"MatKernelSumSetPrecision(A, -1)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use double, single or mixed"},
           [&] { return MatKernelSumSetPrecision(A, (MatKernelSumPrecision)-1); }},
          {"MatKernelSumSetSelf(A, 9)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use automatic, zero, limit or error"},
           [&] { return MatKernelSumSetSelf(A, (MatKernelSumSelf)9); }},
          {"MatKernelSumSetMethod(A, 9, 1e-6)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use direct, fast or auto"},
           [&] { return MatKernelSumSetMethod(A, (MatKernelSumMethod)9, 1e-6); }},
          {"MatKernelSumSetMethod(A, FAST, 0)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be at least"},
           [&] { return MatKernelSumSetMethod(A, MAT_KERNELSUM_FAST, 0); }},
          {"MatKernelSumSetMethod(A, FAST, 2)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be at least"},
           [&] { return MatKernelSumSetMethod(A, MAT_KERNELSUM_FAST, 2); }},
          {"MatKernelSumSetMethod(A, FAST, NAN)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be at least"},
           [&] { return MatKernelSumSetMethod(A, MAT_KERNELSUM_FAST, NAN); }},
          {"MatKernelSumCreateGradient(NULL, &G)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return MatKernelSumCreateGradient(NULL, &made); }},
          {"MatKernelSumCreateGradient(A, NULL)",
           PETSC_ERR_ARG_NULL,
           {"it is null"},
           [&] { return MatKernelSumCreateGradient(A, NULL); }},
          {"MatKernelSumCreateGradient(aij, &G)",
           PETSC_ERR_SUP,
           {"the matrix is not a kernelsum"},
           [&] { return MatKernelSumCreateGradient(aij, &made); }},
          {"MatMult() of a vector of targets", 0, {}, vectors([&](Vec, Vec f, Vec) {
             return MatMult(rectangular, f, f);
           })},
          {"MatMult() of another vector", PETSC_ERR_ARG_SIZ, {"dim"}, vectors([&](Vec, Vec f, Vec wrong) {
             return MatMult(rectangular, wrong, f);
           })},
          {"MatMult() into another vector", PETSC_ERR_ARG_SIZ, {"dim"}, vectors([&](Vec c, Vec, Vec wrong) {
             return MatMult(rectangular, c, wrong);
           })},
          {"MatMultTranspose() of a vector of sources", PETSC_ERR_ARG_SIZ, {"dim"}, vectors([&](Vec c, Vec f, Vec) {
             return MatMultTranspose(rectangular, c, f);
           })},
          {"MatMultAdd() of another vector", PETSC_ERR_ARG_SIZ, {"dim"}, vectors([&](Vec c, Vec f, Vec wrong) {
             return MatMultAdd(rectangular, c, wrong, f);
           })},
          {"MatMult(A, c, c)",
           0,
           {},
           [&] {
             Vector c;
             OK(MatCreateVecs(A, &c, NULL));
             return MatMult(A, c, c);
           }},
          {"MatGetDiagonal() of a rectangle",
           PETSC_ERR_SUP,
           {"needs as many targets as sources"},
           vectors([&](Vec, Vec f, Vec) { return MatGetDiagonal(rectangular, f); })},
          {"MatShift() of a rectangle",
           PETSC_ERR_SUP,
           {"needs a square matrix whose targets"},
           [&] { return MatShift(rectangular, 1); }},
          {"MatNorm(A, NORM_2)", PETSC_ERR_SUP, {"NORM_INFINITY"}, [&] { return MatNorm(A, NORM_2, &norm); }},
          {"MatAXPY() of an AIJ", 0, {}, [&] { return MatAXPY(A, 1, aij, SAME_NONZERO_PATTERN); }},

          {"MatHelmholtzGetShift() of a sum",
           PETSC_ERR_SUP,
           {"only a Mat of type helmholtz"},
           [&] { return MatHelmholtzGetShift(A, NULL); }},

      });
}
