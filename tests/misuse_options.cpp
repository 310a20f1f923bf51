// Wrong options of every type.

#include "catch.hpp"
#include "misuse.hpp"

using namespace tests;

// A product of an operator that reads its options.
static Work product_of(MatType type) {
  return [type](Vec *y) {
    PetscFunctionBeginUser;
    Problem p = problem(2, 9, 8);
    Grid    da = make_grid(p);
    Matrix  A;
    Vector  x = random_vector(da, 1);
    if (std::string(type) == MATSTENCILSHELL) {
      PetscCall(DMSetMatType(da, type));
      PetscCall(DMCreateMatrix(da, &A));
      assemble(p, da, A);
    } else {
      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      PetscCall(MatSetDM(A, da));
      PetscCall(MatSetType(A, type));
      PetscCall(MatSetFromOptions(A));
      PetscCall(MatSetUp(A));
    }
    PetscCall(MatCreateVecs(A, NULL, y));
    PetscCall(MatMult(A, x, *y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
}

TEST_CASE("wrong options of laplace", "[misuse]") {
  check_options(
      product_of(MATLAPLACE),
      {
          {"-mat_laplace_boundary dirichlet", PETSC_ERR_USER, {"dirichlet", "mat_laplace_boundary"}},
          {"-mat_laplace_boundary robin", PETSC_ERR_USER, {"robin", "mat_laplace_boundary"}},
          {"-mat_laplace_boundary 7", PETSC_ERR_USER, {"7", "mat_laplace_boundary"}},
          {"-mat_laplace_boundary eliminate", PETSC_ERR_USER, {"eliminate", "mat_laplace_boundary"}},
          {"-mat_laplace_lengths 0,1", PETSC_ERR_ARG_OUTOFRANGE, {"0", "it must be positive and finite"}},
          {"-mat_laplace_lengths 1,0", PETSC_ERR_ARG_OUTOFRANGE, {"0", "it must be positive and finite"}},
          {"-mat_laplace_lengths -1,1", PETSC_ERR_ARG_OUTOFRANGE, {"-1", "1", "it must be positive and finite"}},
          {"-mat_laplace_lengths 1,-1e9", PETSC_ERR_ARG_OUTOFRANGE, {"1", "it must be positive and finite"}},
          {"-mat_laplace_lengths nan,1", PETSC_ERR_ARG_OUTOFRANGE, {"nan", "it must be positive and finite"}},
          {"-mat_laplace_lengths 1,inf", PETSC_ERR_ARG_OUTOFRANGE, {"inf", "it must be positive and finite"}},
          {"-mat_laplace_lengths 1", PETSC_ERR_ARG_SIZ, {"1", "give"}},
          {"-mat_laplace_lengths 1,1,1", PETSC_ERR_ARG_SIZ, {"give"}},
          {"-mat_laplace_lengths 1,1,1,1", PETSC_ERR_ARG_OUTOFRANGE, {"give one for each of the"}},
          {"-mat_laplace_lengths one,two", 0, {"one"}},
          {"-mat_laplace_lengths 1e-300,1", PETSC_ERR_ARG_OUTOFRANGE, {"1", "check the DM's coordinates or set"}},
          {"-mat_laplace_lengths 1,1e300", PETSC_ERR_ARG_OUTOFRANGE, {"1", "check the DM's coordinates or set"}},
          {"-mat_laplace_halo nvlink", PETSC_ERR_USER, {"nvlink", "mat_laplace_halo"}},
          {"-mat_laplace_halo 5", PETSC_ERR_USER, {"5", "mat_laplace_halo"}},
          {"-shellac_halo_timeout -1", PETSC_ERR_ARG_OUTOFRANGE, {"-1", "give a number of seconds, or"}},
          {"-shellac_halo_timeout nan", PETSC_ERR_ARG_OUTOFRANGE, {"nan", "give a number of seconds, or"}},
          {"-shellac_halo_timeout soon", 0, {"soon"}},
      });
}

TEST_CASE("wrong options of helmholtz", "[misuse]") {
  check_options(product_of(MATHELMHOLTZ),
                {
                    {"-mat_helmholtz_boundary mixed", PETSC_ERR_USER, {"mixed", "mat_helmholtz_boundary"}},
                    {"-mat_helmholtz_boundary -1", PETSC_ERR_USER, {"-1", "mat_helmholtz_boundary"}},
                    {"-mat_helmholtz_lengths 0,0", PETSC_ERR_ARG_OUTOFRANGE, {"0", "it must be positive and finite"}},
                    {"-mat_helmholtz_lengths 2", PETSC_ERR_ARG_SIZ, {"2", "give"}},
                    {"-mat_helmholtz_lengths 2,-3", PETSC_ERR_ARG_OUTOFRANGE, {"-3", "it must be positive and finite"}},
                    {"-mat_helmholtz_lengths 2,3,4", PETSC_ERR_ARG_SIZ, {"2", "3", "give"}},
                    {"-mat_helmholtz_lengths x", 0, {"x"}},
                    {"-mat_helmholtz_shift nan", PETSC_ERR_ARG_OUTOFRANGE, {"nan", "it must be finite"}},
                    {"-mat_helmholtz_shift inf", PETSC_ERR_ARG_OUTOFRANGE, {"inf", "it must be finite"}},
                    {"-mat_helmholtz_shift much", 0, {"much"}},
                    {"-mat_helmholtz_omega nan", PETSC_ERR_ARG_OUTOFRANGE, {"nan", "it must be finite"}},
                    {"-mat_helmholtz_omega inf", PETSC_ERR_ARG_OUTOFRANGE, {"inf", "it must be finite"}},
                    {"-mat_helmholtz_omega 1e200", PETSC_ERR_ARG_OUTOFRANGE, {"it must be finite"}},
                    {"-mat_helmholtz_omega fast", 0, {"fast"}},
                    {"-mat_helmholtz_shift 1 -mat_helmholtz_omega 1", PETSC_ERR_ARG_INCOMP, {"give one of them"}},
                    {"-mat_helmholtz_shift 0 -mat_helmholtz_omega 0", PETSC_ERR_ARG_INCOMP, {"give one of them"}},
                    {"-mat_helmholtz_halo gpu", PETSC_ERR_USER, {"gpu", "mat_helmholtz_halo"}},
                });
}

TEST_CASE("wrong options of stencil", "[misuse]") {
  check_options(product_of(MATSTENCILSHELL),
                {
                    {"-mat_stencil_compress zip", PETSC_ERR_USER, {"zip", "mat_stencil_compress"}},
                    {"-mat_stencil_compress 9", PETSC_ERR_USER, {"9", "mat_stencil_compress"}},
                    {"-mat_stencil_compress_tolerance -1", PETSC_ERR_ARG_OUTOFRANGE, {"-1", "it must be in ["}},
                    {"-mat_stencil_compress_tolerance 1", PETSC_ERR_ARG_OUTOFRANGE, {"1", "it must be in ["}},
                    {"-mat_stencil_compress_tolerance 2", PETSC_ERR_ARG_OUTOFRANGE, {"2", "it must be in ["}},
                    {"-mat_stencil_compress_tolerance nan", PETSC_ERR_ARG_OUTOFRANGE, {"nan", "it must be in ["}},
                    {"-mat_stencil_compress_tolerance inf", PETSC_ERR_ARG_OUTOFRANGE, {"inf", "it must be in ["}},
                    {"-mat_stencil_compress_tolerance tight", 0, {"tight"}},
                    {"-mat_stencil_verify maybe", 0, {"maybe"}},
                    {"-mat_stencil_verify 2", 0, {"2"}},
                    {"-mat_stencil_fallback dense", PETSC_ERR_USER, {"dense", "mat_stencil_fallback"}},
                    {"-mat_stencil_fallback baij", PETSC_ERR_USER, {"baij", "mat_stencil_fallback"}},
                    {"-mat_stencil_halo usb", PETSC_ERR_USER, {"usb", "mat_stencil_halo"}},
                });
}

// A solve with the preconditioner over an operator of that type, or a variable one.
static Work solve_over(MatType type) {
  return [type](Vec *y) {
    PetscFunctionBeginUser;
    Problem p = problem(2, 17, 15);
    Grid    da = make_grid(p);
    Matrix  A;
    Solver  ksp;
    PC      pc;
    Vector  b = random_vector(da, 1);
    OK(DMSetMatType(da, type));
    OK(DMCreateMatrix(da, &A));
    if (std::string(type) == MATSTENCILSHELL) {
      set_rows(da, A, diffusion_fill(lattice_of(da), Form::arrays), Way::stencil, INSERT_VALUES);
      assemble(A);
    }
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, KSPRICHARDSON));
    PetscCall(KSPSetTolerances(ksp, 1e-30, 1e-30, 1e30, 2));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCSTENCILMG));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(MatCreateVecs(A, NULL, y));
    PetscCall(KSPSolve(ksp, b, *y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
}

TEST_CASE("wrong options of stencilmg", "[misuse]") {
  check_options(solve_over(MATLAPLACE),
                {
                    {"-pc_stencilmg_type additive", PETSC_ERR_USER, {"additive", "pc_stencilmg_type"}},
                    {"-pc_stencilmg_type 4", PETSC_ERR_USER, {"4", "pc_stencilmg_type"}},
                    {"-pc_stencilmg_cycle_type x", PETSC_ERR_USER, {"x", "pc_stencilmg_cycle_type"}},
                    {"-pc_stencilmg_cycle_type vv", PETSC_ERR_USER, {"vv", "pc_stencilmg_cycle_type"}},
                    {"-pc_stencilmg_multiplicative_cycles 0", PETSC_ERR_ARG_OUTOFRANGE, {"0", "give"}},
                    {"-pc_stencilmg_multiplicative_cycles -2", PETSC_ERR_ARG_OUTOFRANGE, {"-2", "give"}},
                    {"-pc_stencilmg_multiplicative_cycles two", 0, {"two"}},
                    {"-pc_stencilmg_multiplicative_cycles 1.5", 0, {"1.5"}},
                    {"-pc_stencilmg_smooths -1", PETSC_ERR_ARG_OUTOFRANGE, {"-1", "give"}},
                    {"-pc_stencilmg_smooths 5", PETSC_ERR_ARG_OUTOFRANGE, {"5", "give"}},
                    {"-pc_stencilmg_smooths 100", PETSC_ERR_ARG_OUTOFRANGE, {"100", "give"}},
                    {"-pc_stencilmg_smooths many", 0, {"many"}},
                    {"-pc_stencilmg_levels -1", PETSC_ERR_ARG_OUTOFRANGE, {"-1", "give"}},
                    {"-pc_stencilmg_levels few", 0, {"few"}},
                    {"-pc_stencilmg_precision half", PETSC_ERR_USER, {"half", "pc_stencilmg_precision"}},
                    {"-pc_stencilmg_precision 3", PETSC_ERR_USER, {"3", "pc_stencilmg_precision"}},
                    {"-pc_stencilmg_fused perhaps", 0, {"perhaps"}},
                    {"-pc_stencilmg_graph perhaps", 0, {"perhaps"}},
                    {"-pc_stencilmg_monitor perhaps", 0, {"perhaps"}},
                });
}

TEST_CASE("wrong options of stencilmg over variable coefficients", "[misuse]") {
  check_options(solve_over(MATSTENCILSHELL),
                {
                    {"-pc_stencilmg_type none", PETSC_ERR_USER, {"none", "pc_stencilmg_type"}},
                    {"-pc_stencilmg_cycle_type k", PETSC_ERR_USER, {"k", "pc_stencilmg_cycle_type"}},
                    {"-pc_stencilmg_multiplicative_cycles -1", PETSC_ERR_ARG_OUTOFRANGE, {"-1", "give"}},
                    {"-pc_stencilmg_smooths 6", PETSC_ERR_ARG_OUTOFRANGE, {"6", "give"}},
                    {"-pc_stencilmg_levels -3", PETSC_ERR_ARG_OUTOFRANGE, {"-3", "give"}},
                    {"-pc_stencilmg_precision quad", PETSC_ERR_USER, {"quad", "pc_stencilmg_precision"}},

                });
}

static Vector make_points(PetscInt n, int seed) {
  Vector   points;
  PetscInt start, end;
  OK(VecCreate(PETSC_COMM_WORLD, &points));
  OK(VecSetSizes(points, PETSC_DECIDE, 3 * n));
  OK(VecSetBlockSize(points, 3));
  OK(VecSetType(points, VECSTANDARD));
  OK(VecGetOwnershipRange(points, &start, &end));
  for (PetscInt i = start; i < end; i++)
    OK(VecSetValue(points, i, PetscRealPart(random_value((size_t)i, seed)), INSERT_VALUES));
  OK(VecAssemblyBegin(points));
  OK(VecAssemblyEnd(points));
  return points;
}

static PetscErrorCode sum(Vec *y) {
  PetscFunctionBeginUser;
  Vector points = make_points(30, 1), c;
  Matrix A;
  PetscCall(MatCreateKernelSum(PETSC_COMM_WORLD, points, points, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatCreateVecs(A, &c, y));
  PetscCall(VecSet(c, 1));
  PetscCall(MatMult(A, c, *y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("wrong options of kernelsum", "[misuse]") {
  check_options(
      sum,
      {
          {"-mat_kernelsum_kernel box", PETSC_ERR_USER, {"box", "mat_kernelsum_kernel"}},
          {"-mat_kernelsum_kernel gauss", PETSC_ERR_USER, {"gauss", "mat_kernelsum_kernel"}},
          {"-mat_kernelsum_kernel 17", PETSC_ERR_USER, {"17", "mat_kernelsum_kernel"}},
          {"-mat_kernelsum_sigma 0", PETSC_ERR_ARG_OUTOFRANGE, {"0", "a length must be positive and"}},
          {"-mat_kernelsum_sigma -1", PETSC_ERR_ARG_OUTOFRANGE, {"-1", "a length must be positive and"}},
          {"-mat_kernelsum_sigma nan", PETSC_ERR_ARG_OUTOFRANGE, {"nan", "a length must be positive and"}},
          {"-mat_kernelsum_sigma inf", PETSC_ERR_ARG_OUTOFRANGE, {"inf", "a length must be positive and"}},
          {"-mat_kernelsum_sigma wide", 0, {"wide"}},
          {"-mat_kernelsum_kernel helmholtz -mat_kernelsum_wavenumber -1",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"-1", "it must be zero or positive"}},
          {"-mat_kernelsum_kernel helmholtz -mat_kernelsum_wavenumber nan",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"nan", "it must be zero or positive"}},
          {"-mat_kernelsum_kernel yukawa -mat_kernelsum_wavenumber inf",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"inf", "it must be zero or positive"}},
          {"-mat_kernelsum_kernel yukawa -mat_kernelsum_wavenumber long", 0, {"long"}},
          {"-mat_kernelsum_precision half", PETSC_ERR_USER, {"half", "mat_kernelsum_precision"}},
          {"-mat_kernelsum_precision 8", PETSC_ERR_USER, {"8", "mat_kernelsum_precision"}},
          {"-mat_kernelsum_self none", PETSC_ERR_USER, {"none", "mat_kernelsum_self"}},
          {"-mat_kernelsum_self error", PETSC_ERR_ARG_WRONG, {"move one, or use -mat_kernelsum_self zero"}},
          {"-mat_kernelsum_kernel laplace -mat_kernelsum_self limit",
           PETSC_ERR_ARG_INCOMP,
           {"laplace", "limit", "use zero or error"}},
          {"-mat_kernelsum_kernel yukawa -mat_kernelsum_self limit",
           PETSC_ERR_ARG_INCOMP,
           {"yukawa", "limit", "use zero or error"}},
          {"-mat_kernelsum_kernel logarithm -mat_kernelsum_self limit",
           PETSC_ERR_ARG_INCOMP,
           {"logarithm", "limit", "use zero or error"}},
          {"-mat_kernelsum_type quick", PETSC_ERR_USER, {"quick", "mat_kernelsum_type"}},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol 0", PETSC_ERR_ARG_OUTOFRANGE, {"0", "it must be at least"}},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol -1e-6", PETSC_ERR_ARG_OUTOFRANGE, {"it must be at least"}},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol 1", PETSC_ERR_ARG_OUTOFRANGE, {"1", "it must be at least"}},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol 1e-13",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"1e-13", "it must be at least"}},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol nan",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"nan", "it must be at least"}},
          {"-mat_kernelsum_type fast -mat_kernelsum_rtol exact", 0, {"exact"}},
          {"-mat_kernelsum_monitor loudly", 0, {"loudly"}},
      });
}
