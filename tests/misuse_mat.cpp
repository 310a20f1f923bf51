// Mistakes with laplace and helmholtz: options, settings, grids, operations.

#include "catch.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

// A product of an operator that reads its options.
static Work product_of(MatType type) {
  return [type](Vec *y) {
    PetscFunctionBeginUser;
    Grid   da = make_grid(problem(2, 9, 8));
    Matrix A;
    Vector x = random_vector(da, 1);
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetDM(A, da));
    PetscCall(MatSetType(A, type));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSetUp(A));
    PetscCall(MatCreateVecs(A, NULL, y));
    PetscCall(MatMult(A, x, *y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
}

static Work product_with(Mat A, DM da) {
  return [A, da](Vec *y) {
    PetscFunctionBeginUser;
    Vector x = random_vector(da, 1);
    PetscCall(MatCreateVecs(A, NULL, y));
    PetscCall(MatMult(A, x, *y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
}

TEST_CASE("options of laplace", "[misuse]") {
  check_mistakes(
      product_of(MATLAPLACE),
      {
          {"-mat_laplace_boundary dirichlet", PETSC_ERR_USER, "dirichlet|mat_laplace_boundary"},
          {"-mat_laplace_boundary eliminate", PETSC_ERR_USER, "eliminate|mat_laplace_boundary"},
          {"-mat_laplace_boundary 7", PETSC_ERR_USER, "7|mat_laplace_boundary"},
          {"-mat_laplace_lengths 0,1", PETSC_ERR_ARG_OUTOFRANGE, "length x|0|positive"},
          {"-mat_laplace_lengths 1,0", PETSC_ERR_ARG_OUTOFRANGE, "length y|0|positive"},
          {"-mat_laplace_lengths -1,1", PETSC_ERR_ARG_OUTOFRANGE, "length x|-1|positive"},
          {"-mat_laplace_lengths 1,-1e9", PETSC_ERR_ARG_OUTOFRANGE, "length y|-1e+09|-mat_laplace_lengths|positive"},
          {"-mat_laplace_lengths nan,1", PETSC_ERR_ARG_OUTOFRANGE, "length x|nan|finite"},
          {"-mat_laplace_lengths 1,inf", PETSC_ERR_ARG_OUTOFRANGE, "length y|inf|finite"},
          {"-mat_laplace_lengths 1", PETSC_ERR_ARG_SIZ, "1 side length is|give 2|-mat_laplace_lengths"},
          {"-mat_laplace_lengths 1,1,1", PETSC_ERR_ARG_SIZ, "3 side lengths|give 2"},
          {"-mat_laplace_lengths 1,1,1,1", PETSC_ERR_ARG_OUTOFRANGE, "4 side lengths|-mat_laplace_lengths|give one"},
          {"-mat_laplace_lengths one,two", PETSC_ERR_ARG_OUTOFRANGE, "mat_laplace_lengths|one|give: "},
          {"-mat_laplace_lengths 1e-300,1", PETSC_ERR_ARG_OUTOFRANGE, "spacing|axis x"},
          {"-mat_laplace_lengths 1,1e300", PETSC_ERR_ARG_OUTOFRANGE, "spacing|axis y"},
          {"-mat_laplace_halo nvlink", PETSC_ERR_USER, "nvlink|mat_laplace_halo|give: automatic|host"},
          {"-mat_laplace_halo 5", PETSC_ERR_USER, "5|mat_laplace_halo"},
          {"-shellac_halo_timeout -1", PETSC_ERR_ARG_OUTOFRANGE, "-1|give a number of seconds, or 0"},
          {"-shellac_halo_timeout nan", PETSC_ERR_ARG_OUTOFRANGE, "nan|seconds, or 0"},
          {"-shellac_halo_timeout soon", PETSC_ERR_ARG_OUTOFRANGE, "shellac_halo_timeout|soon|give: "},
      });
}

TEST_CASE("options of helmholtz", "[misuse]") {
  check_mistakes(
      product_of(MATHELMHOLTZ),
      {
          {"-mat_helmholtz_boundary fixed", PETSC_ERR_USER, "fixed|mat_helmholtz_boundary"},
          {"-mat_helmholtz_boundary -1", PETSC_ERR_USER, "-1|mat_helmholtz_boundary"},
          {"-mat_helmholtz_lengths 0,0", PETSC_ERR_ARG_OUTOFRANGE, "length x|0|positive"},
          {"-mat_helmholtz_lengths 2", PETSC_ERR_ARG_SIZ, "1 side length|give 2"},
          {"-mat_helmholtz_lengths 2,-3", PETSC_ERR_ARG_OUTOFRANGE, "length y|-3|-mat_helmholtz_lengths|positive"},
          {"-mat_helmholtz_lengths 2,3,4", PETSC_ERR_ARG_SIZ, "3 side lengths|give 2"},
          {"-mat_helmholtz_lengths wide,1", PETSC_ERR_ARG_OUTOFRANGE, "mat_helmholtz_lengths|wide|give: "},
          {"-mat_helmholtz_shift nan", PETSC_ERR_ARG_OUTOFRANGE, "nan|finite"},
          {"-mat_helmholtz_shift inf", PETSC_ERR_ARG_OUTOFRANGE, "inf|finite"},
          {"-mat_helmholtz_shift -1e999", PETSC_ERR_ARG_OUTOFRANGE, "inf|finite"},
          {"-mat_helmholtz_shift much", PETSC_ERR_ARG_OUTOFRANGE, "mat_helmholtz_shift|much|give: "},
          {"-mat_helmholtz_shift 1,2", PETSC_ERR_ARG_OUTOFRANGE, "mat_helmholtz_shift|1,2|give: "},
          {"-mat_helmholtz_omega nan", PETSC_ERR_ARG_OUTOFRANGE, "nan|finite"},
          {"-mat_helmholtz_omega inf", PETSC_ERR_ARG_OUTOFRANGE, "inf|finite"},
          {"-mat_helmholtz_omega 1e200", PETSC_ERR_ARG_OUTOFRANGE, "shift|inf|finite"},
          {"-mat_helmholtz_omega fast", PETSC_ERR_ARG_OUTOFRANGE, "mat_helmholtz_omega|fast|give: "},
          {"-mat_helmholtz_shift 1 -mat_helmholtz_omega 1", PETSC_ERR_ARG_INCOMP, "one of them"},
          {"-mat_helmholtz_shift 0 -mat_helmholtz_omega 0", PETSC_ERR_ARG_INCOMP, "one of them"},
          {"-mat_helmholtz_halo gpu", PETSC_ERR_USER, "gpu|mat_helmholtz_halo|give: automatic|host"},
      });
  if (!PetscDefined(USE_COMPLEX))
    check_mistakes(product_of(MATHELMHOLTZ),
                   {{"-mat_helmholtz_shift 1+2i", PETSC_ERR_ARG_OUTOFRANGE, "1+2i|give: a real|complex scalars"}});
}

TEST_CASE("creation and settings of laplace and helmholtz", "[misuse]") {
  Grid            da = make_grid(problem(2, 9, 8));
  Matrix          A, laplace = make_operator(problem(2, 9, 8), da), aij = make_reference(problem(2, 9, 8), da);
  Mat             made = NULL;
  PetscScalar     sigma;
  const auto      boundary = [](int value) { return (MatLaplaceBoundaryType)value; };
  const PetscReal unit[3] = {1, 1, 1}, minus[3] = {1, -2, 1}, zero[3] = {0, 1, 1}, nan[3] = {NAN, 1, 1},
                  inf[3] = {1, INFINITY, 1}, twice[3] = {2, 1, 1};
  OK(MatCreateHelmholtz(da, 3, &A));
  check_mistakes(
      product_with(A, da),
      {
          CALL(PETSC_ERR_ARG_NULL, "null", MatCreateLaplace(NULL, &made)),
          CALL(PETSC_ERR_ARG_NULL, "null", MatCreateLaplace(da, NULL)),
          CALL(PETSC_ERR_ARG_NULL, "null", MatCreateHelmholtz(NULL, 1, &made)),
          CALL(PETSC_ERR_ARG_NULL, "null", MatCreateHelmholtz(da, 1, NULL)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "shift|nan|finite", MatCreateHelmholtz(da, NAN, &made)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "shift|inf|finite", MatCreateHelmholtz(da, INFINITY, &made)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "shift|inf|finite", MatCreateHelmholtz(da, -INFINITY, &made)),
          CALL(PETSC_ERR_ARG_NULL, "null", MatHelmholtzSetShift(NULL, 1)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "shift|nan|finite", MatHelmholtzSetShift(A, NAN)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "shift|inf|finite", MatHelmholtzSetShift(A, INFINITY)),
          CALL(PETSC_ERR_ARG_NULL, "null", MatHelmholtzGetShift(NULL, &sigma)),
          CALL(PETSC_ERR_ARG_NULL, "null", MatHelmholtzGetShift(A, NULL)),
          CALL(PETSC_ERR_SUP, "helmholtz", MatHelmholtzGetShift(aij, &sigma)),
          CALL(PETSC_ERR_SUP, "helmholtz", MatHelmholtzGetShift(laplace, &sigma)),
          CALL(PETSC_ERR_ARG_NULL, "null", MatLaplaceSetBoundary(NULL, MAT_LAPLACE_NEUMANN)),
          CALL(PETSC_ERR_ORDER, "neumann|MatSetUp", MatLaplaceSetBoundary(A, MAT_LAPLACE_NEUMANN)),
          CALL(PETSC_ERR_ORDER, "identity|MatSetUp", MatLaplaceSetBoundary(A, MAT_LAPLACE_IDENTITY)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "7|eliminated|identity|neumann", MatLaplaceSetBoundary(A, boundary(7))),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "-1|eliminated|identity|neumann", MatLaplaceSetBoundary(A, boundary(-1))),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "4|eliminated|identity|neumann|robin", MatLaplaceSetBoundary(A, boundary(4))),
          CALL(PETSC_ERR_ARG_NULL, "null", MatLaplaceSetLengths(NULL, 2, unit)),
          CALL(PETSC_ERR_ARG_NULL, "null", MatLaplaceSetLengths(A, 2, NULL)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "0 side lengths", MatLaplaceSetLengths(A, 0, unit)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "-1 side lengths", MatLaplaceSetLengths(A, -1, unit)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "4 side lengths", MatLaplaceSetLengths(A, 4, unit)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "length y|-2|positive", MatLaplaceSetLengths(A, 2, minus)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "length x|0|positive", MatLaplaceSetLengths(A, 2, zero)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "length x|nan|finite", MatLaplaceSetLengths(A, 2, nan)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "length y|inf|finite", MatLaplaceSetLengths(A, 2, inf)),
          CALL(PETSC_ERR_ORDER, "lengths|MatSetUp", MatLaplaceSetLengths(A, 2, twice)),
          CALL(PETSC_ERR_ORDER, "lengths|MatSetUp", MatLaplaceSetLengths(A, 3, unit)),
          CALL(PETSC_ERR_ARG_NULL, "null", MatCreateLaplace(da, on_last<Mat *>(NULL, &made))),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "shift|nan|finite", MatCreateHelmholtz(da, on_last<PetscReal>(NAN, 1), &made)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "shift|inf|finite", MatHelmholtzSetShift(A, on_last<PetscReal>(INFINITY, 3))),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "7|eliminated", MatLaplaceSetBoundary(A, boundary(on_last(7, 0)))),
          CALL(PETSC_ERR_ORDER, "neumann|MatSetUp", MatLaplaceSetBoundary(A, boundary(on_last(2, 0)))),
          CALL(PETSC_ERR_ARG_NULL, "null", MatLaplaceSetLengths(A, 2, on_last<const PetscReal *>(NULL, unit))),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "4 side lengths", MatLaplaceSetLengths(A, on_last(4, 2), unit)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "length y|-2", MatLaplaceSetLengths(A, 2, on_last(&minus[0], &unit[0]))),
      });
}

TEST_CASE("a creation that fails leaves no operator", "[misuse]") {
  Grid          da = make_grid(problem(2, 9, 8));
  const Matrix  present = make_operator(problem(2, 9, 8), da);
  const Options set("-mat_laplace_lengths 1,2,3");
  for (bool laplace : {false, true}) {
    Mat made = present; // what stands there before
    EXPECT_ERROR((laplace ? PETSC_ERR_ARG_SIZ : PETSC_ERR_ARG_OUTOFRANGE), ({laplace ? "3" : "nan"}),
                 [&] { return laplace ? MatCreateLaplace(da, &made) : MatCreateHelmholtz(da, NAN, &made); });
    CHECK(made == NULL);
  }
}

static PetscErrorCode make(MatType type, DM dm, PetscInt size = PETSC_DECIDE) {
  PetscFunctionBeginUser;
  Matrix A;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  if (size >= 0) PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, size, size));
  if (dm) PetscCall(MatSetDM(A, dm));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSetUp(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Grid grid_of(DMType type) {
  Grid dm;
  OK(DMCreate(PETSC_COMM_WORLD, &dm));
  OK(DMSetType(dm, type));
  return dm;
}

TEST_CASE("grids that operators do not serve", "[misuse]") {
  Grid da = make_grid(problem(2, 9, 8)), redundant = grid_of(DMREDUNDANT), shell = grid_of(DMSHELL),
       empty = grid_of(DMDA), stretched = make_grid(problem(1, 12)), two, raw;
  Matrix A = make_operator(problem(2, 9, 8), da);
  Mat    made = NULL;
  Vec    coordinates;
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 9, 8, PETSC_DECIDE,
                  PETSC_DECIDE, 2, 1, NULL, NULL, &two));
  OK(DMSetUp(two));
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 1, 1, NULL, &raw));
  OK(DMDASetUniformCoordinates(stretched, 0, 1, 0, 1, 0, 1));
  OK(DMGetCoordinates(stretched, &coordinates));
  OK(VecSqrtAbs(coordinates));
  check_mistakes(product_with(A, da),
                 {
                     CALL(PETSC_ERR_ARG_WRONGSTATE, "laplace|DMDA|MatSetDM", make(MATLAPLACE, NULL)),
                     CALL(PETSC_ERR_ARG_WRONGSTATE, "helmholtz|DMDA|MatSetDM", make(MATHELMHOLTZ, NULL)),
                     CALL(PETSC_ERR_ARG_WRONGSTATE, "stencil|DMDA|DMCreateMatrix", make(MATSTENCILSHELL, NULL)),
                     CALL(PETSC_ERR_ARG_WRONG, "redundant|DMDA", make(MATLAPLACE, redundant)),
                     CALL(PETSC_ERR_ARG_WRONG, "redundant|DMDA", make(MATHELMHOLTZ, redundant)),
                     CALL(PETSC_ERR_ARG_WRONG, "redundant|DMDA", make(MATSTENCILSHELL, redundant)),
                     CALL(PETSC_ERR_ARG_WRONG, "shell|DMDA", MatCreateLaplace(shell, &made)),
                     CALL(PETSC_ERR_ARG_WRONG, "shell|DMDA", MatCreateHelmholtz(shell, 1, &made)),
                     CALL(PETSC_ERR_ARG_WRONGSTATE, "DMSetUp", MatCreateLaplace(empty, &made)),
                     CALL(PETSC_ERR_ARG_WRONGSTATE, "DMSetUp", MatCreateLaplace(raw, &made)),
                     CALL(PETSC_ERR_ARG_WRONGSTATE, "DMSetUp", make(MATLAPLACE, raw)),
                     CALL(PETSC_ERR_ARG_WRONGSTATE, "DMSetUp", make(MATSTENCILSHELL, raw)),
                     CALL(PETSC_ERR_ARG_OUTOFRANGE, "dof = 2|dof = 1", make(MATLAPLACE, two)),
                     CALL(PETSC_ERR_ARG_OUTOFRANGE, "dof = 2|dof = 1", make(MATHELMHOLTZ, two)),
                     CALL(PETSC_ERR_ARG_WRONG, "uniform|DMDASetUniformCoordinates", make(MATLAPLACE, stretched)),
                     CALL(PETSC_ERR_ARG_WRONG, "uniform|DMDASetUniformCoordinates", make(MATHELMHOLTZ, stretched)),
                     CALL(PETSC_ERR_ARG_SIZ, "100|72|MatSetSizes", make(MATLAPLACE, da, 100)),
                     CALL(PETSC_ERR_ARG_SIZ, "100|72|MatSetSizes", make(MATHELMHOLTZ, da, 100)),
                     CALL(PETSC_ERR_ARG_SIZ, "100|72|MatSetSizes", make(MATSTENCILSHELL, da, 100)),
                 });
}

TEST_CASE("operations on laplace and helmholtz", "[misuse]") {
  const auto  same = SAME_NONZERO_PATTERN;
  Problem     p = problem(2, 9, 8), q = problem(2, 10, 7);
  PetscInt    first, far = 1000;
  Grid        da = make_grid(p), other_da = make_grid(q);
  Matrix      A = make_operator(p, da), other = make_operator(q, other_da), aij = make_reference(p, da), dense;
  Mat         made = NULL;
  PetscReal   norm;
  PetscScalar one = 1;
  OK(MatGetOwnershipRange(A, &first, NULL));
  OK(MatConvert(aij, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  // an assembly that fails is never finished: on a copy
  const auto set = [&](PetscInt i, PetscInt j, InsertMode mode) {
    PetscFunctionBeginUser;
    Matrix B;
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(MatSetValues(B, 1, &i, 1, &j, &one, mode));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  check_mistakes(
      product_with(A, da),
      {
          CALL(PETSC_ERR_ARG_SIZ, "72 x 72|70 x 70", MatAXPY(A, 1, other, same)),
          CALL(PETSC_ERR_SUP, "laplace|aij|convert it first: MatConvert(", MatAXPY(A, 1, aij, same)),
          CALL(PETSC_ERR_SUP, "laplace|dense|convert it first: MatConvert(", MatAXPY(A, 1, dense, same)),
          CALL(PETSC_ERR_ARG_SIZ, "global dim|72|70", MatCopy(A, other, same)),
          CALL(PETSC_ERR_SUP, "2-norm|infinity", MatNorm(A, NORM_2, &norm)),
          CALL(PETSC_ERR_ARG_INCOMP, "laplace|boundary form, lengths and shift|-dm_mat_type stencil or aij",
               set(first, first, INSERT_VALUES)),
          CALL(PETSC_ERR_SUP, "ADD_VALUES|-dm_mat_type stencil or aij", set(first, first, ADD_VALUES)),
          CALL(PETSC_ERR_SUP, "row 1000|only owned rows", set(far, far, INSERT_VALUES)),
          CALL(PETSC_ERR_ARG_INCOMP, "column 1000|-dm_mat_type stencil or aij", set(first, far, INSERT_VALUES)),
          CALL(PETSC_ERR_ARG_WRONGSTATE, "local rows|1000", MatGetRow(A, far, NULL, NULL, NULL)),
          CALL(PETSC_ERR_ARG_UNKNOWN_TYPE, "no_such_type", MatConvert(A, "no_such_type", MAT_INITIAL_MATRIX, &made)),
          CALL(PETSC_ERR_ARG_SIZ, "72x72|70x70", MatMatMult(A, other, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made)),
          CALL(PETSC_ERR_SUP, "laplace|-pc_type lu|MatConvert(", MatLUFactor(A, NULL, NULL, NULL)),
          CALL(PETSC_ERR_SUP, "laplace|cholesky|MatConvert(", MatCholeskyFactor(A, NULL, NULL)),
      });
}
