// Mistakes with stencilmg: options, settings, matrices that it does not serve.

#include "catch.hpp"
#include "misuse.hpp"

using namespace tests;

// Two cycles over A, with the options; before them, what `set` does.
static PetscErrorCode cycles(Mat A, Vec *x, const std::function<PetscErrorCode(PC)> &set = nullptr) {
  PetscFunctionBeginUser;
  Solver ksp;
  PC     pc;
  Vector b;
  PetscCall(MatCreateVecs(A, x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPRICHARDSON));
  PetscCall(KSPSetTolerances(ksp, 1e-30, 1e-30, 1e30, 2));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSTENCILMG));
  PetscCall(KSPSetFromOptions(ksp));
  if (set) PetscCall(set(pc));
  PetscCall(KSPSolve(ksp, b, *x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode attempt(Mat A, const char *options = "") {
  Options set(options);
  Vector  x;
  return cycles(A, &x);
}

static Matrix captured(const Lattice &lattice, const Fill &fill) {
  Grid   da;
  Matrix A;
  REQUIRE(try_make_grid(lattice, &da));
  OK(DMSetMatType(da, MATSTENCILSHELL));
  OK(DMCreateMatrix(da, &A));
  set_rows(da, A, fill, Way::stencil, INSERT_VALUES);
  assemble(A);
  return A;
}

static Lattice lattice(DMDAStencilType shape = DMDA_STENCIL_STAR, PetscInt width = 1, PetscInt dof = 1,
                       PetscInt Nx = 17) {
  Lattice l;
  l.N[0] = Nx, l.N[1] = 15, l.shape = shape, l.width = width, l.dof = dof;
  return l;
}

TEST_CASE("options of stencilmg", "[misuse]") {
  Grid   da = make_grid(problem(2, 17, 15));
  Matrix A = make_operator(problem(2, 17, 15), da);
  check_mistakes(
      [&](Vec *x) { return cycles(A, x); },
      {
          {"-pc_stencilmg_type additive", PETSC_ERR_USER, "additive|pc_stencilmg_type"},
          {"-pc_stencilmg_type 4", PETSC_ERR_USER, "4|pc_stencilmg_type"},
          {"-pc_stencilmg_cycle_type x", PETSC_ERR_USER, "x|pc_stencilmg_cycle_type"},
          {"-pc_stencilmg_cycle_type vv", PETSC_ERR_USER, "vv|pc_stencilmg_cycle_type"},
          {"-pc_stencilmg_multiplicative_cycles 0", PETSC_ERR_ARG_OUTOFRANGE, "0|1 or more"},
          {"-pc_stencilmg_multiplicative_cycles -2", PETSC_ERR_ARG_OUTOFRANGE, "-2|1 or more"},
          {"-pc_stencilmg_multiplicative_cycles two", PETSC_ERR_ARG_OUTOFRANGE,
           "pc_stencilmg_multiplicative_cycles|two|give: integer"},
          {"-pc_stencilmg_multiplicative_cycles 1.5", PETSC_ERR_ARG_OUTOFRANGE,
           "pc_stencilmg_multiplicative_cycles|1.5|give: integer"},
          {"-pc_stencilmg_smooths -1", PETSC_ERR_ARG_OUTOFRANGE, "-1|0 to 4"},
          {"-pc_stencilmg_smooths 5", PETSC_ERR_ARG_OUTOFRANGE, "5|0 to 4"},
          {"-pc_stencilmg_smooths 100", PETSC_ERR_ARG_OUTOFRANGE, "100|0 to 4"},
          {"-pc_stencilmg_smooths many", PETSC_ERR_ARG_OUTOFRANGE, "pc_stencilmg_smooths|many|give: integer"},
          {"-pc_stencilmg_smoother sor", PETSC_ERR_USER, "sor|pc_stencilmg_smoother"},
          {"-pc_stencilmg_levels -1", PETSC_ERR_ARG_OUTOFRANGE, "-1|0 or more"},
          {"-pc_stencilmg_levels few", PETSC_ERR_ARG_OUTOFRANGE, "pc_stencilmg_levels|few|give: integer"},
          {"-pc_stencilmg_whole_points -1", PETSC_ERR_ARG_OUTOFRANGE, "-1|0 or more"},
          {"-pc_stencilmg_precision half", PETSC_ERR_USER, "half|pc_stencilmg_precision"},
          {"-pc_stencilmg_precision 3", PETSC_ERR_USER, "3|pc_stencilmg_precision"},
          {"-pc_stencilmg_fused perhaps", PETSC_ERR_ARG_WRONG, "pc_stencilmg_fused|perhaps|give: true"},
          {"-pc_stencilmg_graph perhaps", PETSC_ERR_ARG_WRONG, "pc_stencilmg_graph|perhaps|give: true"},
          {"-pc_stencilmg_monitor perhaps", PETSC_ERR_ARG_WRONG, "pc_stencilmg_monitor|perhaps|give: true"},
      });
}

TEST_CASE("options of stencilmg over variable coefficients", "[misuse]") {
  const Matrix A = captured(lattice(), diffusion_fill(lattice(), Form::arrays));
  check_mistakes([&](Vec *x) { return cycles(A, x); },
                 {
                     {"-pc_stencilmg_type none", PETSC_ERR_USER, "none|pc_stencilmg_type"},
                     {"-pc_stencilmg_cycle_type k", PETSC_ERR_USER, "k|pc_stencilmg_cycle_type"},
                     {"-pc_stencilmg_multiplicative_cycles -1", PETSC_ERR_ARG_OUTOFRANGE, "-1|1 or more"},
                     {"-pc_stencilmg_smooths 6", PETSC_ERR_ARG_OUTOFRANGE, "6|0 to 4"},
                     {"-pc_stencilmg_levels -3", PETSC_ERR_ARG_OUTOFRANGE, "-3|0 or more"},
                     {"-pc_stencilmg_precision quad", PETSC_ERR_USER, "quad|pc_stencilmg_precision"},
                 });
}

TEST_CASE("settings of stencilmg", "[misuse]") {
  Grid       da = make_grid(problem(2, 17, 15));
  Matrix     A = make_operator(problem(2, 17, 15), da);
  Solver     ksp;
  PC         pc;
  const auto out = PETSC_ERR_ARG_OUTOFRANGE, null = PETSC_ERR_ARG_NULL;
  const auto type = [](int value) { return (PCStencilMGType)value; };
  const auto cycle = [](int value) { return (PCStencilMGCycleType)value; };
  const auto smoother = [](int value) { return (PCStencilMGSmoother)value; };
  const auto precision = [](int value) { return (PCStencilMGPrecision)value; };
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCSTENCILMG));
  OK(PCSetUp(pc));
  const Work application = [&](Vec *x) {
    PetscFunctionBeginUser;
    Vector b;
    PetscCall(MatCreateVecs(A, x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(PCApply(pc, b, *x));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  check_mistakes(application, {
                                  CALL(out, "2|multiplicative|full", PCStencilMGSetType(pc, type(2))),
                                  CALL(out, "-1|multiplicative|full", PCStencilMGSetType(pc, type(-1))),
                                  CALL(null, "null", PCStencilMGSetType(NULL, PC_STENCILMG_FULL)),
                                  CALL(out, "4|automatic|v|w|f", PCStencilMGSetCycleType(pc, cycle(4))),
                                  CALL(out, "-1|automatic|v|w|f", PCStencilMGSetCycleType(pc, cycle(-1))),
                                  CALL(null, "null", PCStencilMGSetCycleType(NULL, PC_STENCILMG_CYCLE_W)),
                                  CALL(out, "0|1 or more", PCStencilMGSetCycles(pc, 0)),
                                  CALL(out, "-5|1 or more", PCStencilMGSetCycles(pc, -5)),
                                  CALL(null, "null", PCStencilMGSetCycles(NULL, 1)),
                                  CALL(out, "-1|0 to 4", PCStencilMGSetSmooths(pc, -1)),
                                  CALL(out, "5|0 to 4", PCStencilMGSetSmooths(pc, 5)),
                                  CALL(null, "null", PCStencilMGSetSmooths(NULL, 2)),
                                  CALL(out, "3|automatic|chebyshev|red_black", PCStencilMGSetSmoother(pc, smoother(3))),
                                  CALL(null, "null", PCStencilMGSetSmoother(NULL, smoother(0))),
                                  CALL(out, "-1|0 or more", PCStencilMGSetLevels(pc, -1)),
                                  CALL(null, "null", PCStencilMGSetLevels(NULL, 2)),
                                  CALL(out, "-1|0 or more", PCStencilMGSetWholePoints(pc, -1)),
                                  CALL(null, "null", PCStencilMGSetWholePoints(NULL, 2)),
                                  CALL(out, "2|double|single", PCStencilMGSetPrecision(pc, precision(2))),
                                  CALL(out, "-1|double|single", PCStencilMGSetPrecision(pc, precision(-1))),
                                  CALL(null, "null", PCStencilMGSetPrecision(NULL, PC_STENCILMG_SINGLE)),
                                  CALL(null, "null", PCStencilMGSetFused(NULL, PETSC_TRUE)),
                                  CALL(null, "null", PCStencilMGSetGraph(NULL, PETSC_TRUE)),
                                  CALL(out, "2|multiplicative|full", PCStencilMGSetType(pc, type(on_last(2, 0)))),
                                  CALL(out, "4|automatic|v|w|f", PCStencilMGSetCycleType(pc, cycle(on_last(4, 0)))),
                                  CALL(out, "0|1 or more", PCStencilMGSetCycles(pc, on_last(0, 1))),
                                  CALL(out, "5|0 to 4", PCStencilMGSetSmooths(pc, on_last(5, 0))),
                                  CALL(out, "-1|0 or more", PCStencilMGSetLevels(pc, on_last(-1, 0))),
                              });
}

TEST_CASE("matrices that stencilmg does not serve", "[misuse]") {
  Grid   da = make_grid(problem(2, 17, 15));
  Matrix A = make_operator(problem(2, 17, 15), da), aij = make_reference(problem(2, 17, 15), da), dense, sell, sum;
  Vector points = make_vector(da); // all of them at 0
  OK(MatConvert(aij, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  OK(MatConvert(aij, MATSELL, MAT_INITIAL_MATRIX, &sell));
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, points, points, &sum));
  const Lattice plain = lattice(), wide = lattice(DMDA_STENCIL_STAR, 2), two = lattice(DMDA_STENCIL_STAR, 1, 2),
                nine = lattice(DMDA_STENCIL_STAR, 1, 9), fine = lattice(DMDA_STENCIL_STAR, 1, 1, 70);
  const Fill of_zeros_at_one = [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *v) { // the diagonal block
    random_fill(two, Form::arrays, 1)(p, arm, v);
    if (p[0] == 3 && p[1] == 2 && !arm[0] && !arm[1]) v[0] = v[1] = v[2] = v[3] = 0;
  };
  const Fill fourth_differences = [](const PetscInt *, const PetscInt arm[3], PetscScalar *v) { // no second moment
    const PetscReal weights[] = {12, -4, 1};
    *v = weights[PetscMax(PetscAbs(arm[0]), PetscAbs(arm[1]))];
  };
  const Matrix of_two = captured(two, random_fill(two, Form::arrays, 1)), of_zeros = captured(two, of_zeros_at_one),
               of_nine = captured(nine, random_fill(nine, Form::arrays, 1)), far = captured(wide, fourth_differences),
               skew = captured(plain, random_fill(plain, Form::arrays, 4)),
               large = captured(fine, diffusion_fill(fine, Form::arrays));
  check_mistakes(
      [&](Vec *x) { return cycles(A, x); },
      {
          CALL(PETSC_ERR_ARG_WRONG, "coefficients on a DMDA|aij|-pc_type gamg", attempt(aij)),
          CALL(PETSC_ERR_ARG_WRONG, "coefficients on a DMDA|dense", attempt(dense)),
          CALL(PETSC_ERR_ARG_WRONG, "coefficients on a DMDA|sell", attempt(sell)),
          CALL(PETSC_ERR_ARG_WRONG, "coefficients on a DMDA|kernelsum: use -pc_type kernelsum", attempt(sum)),
          CALL(PETSC_ERR_SUP, "8 unknowns a point|stencil|has 9", attempt(of_nine)),
          CALL(PETSC_ERR_SUP, "double precision|2|-pc_stencilmg_precision double",
               attempt(of_two, "-pc_stencilmg_precision single")),
          CALL(PETSC_ERR_SUP, "diagonal block is singular|fieldsplit", attempt(of_zeros)),
          CALL(PETSC_ERR_SUP, "neighbouring points", attempt(far)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "1 levels|too many to solve directly|raise -pc_stencilmg_levels",
               attempt(large, "-pc_stencilmg_levels 1")),
          CALL(PETSC_ERR_SUP, "assembled matrix|-pc_type assembled -assembled_pc_type gamg|-dm_mat_type aij",
               attempt(skew, "-pc_type gamg -ksp_max_it 2")),
          CALL(PETSC_ERR_SUP, "assembled matrix|-pc_type assembled -assembled_pc_type gamg|-dm_mat_type aij",
               attempt(A, "-pc_type gamg -ksp_max_it 2")),
          CALL(PETSC_ERR_ARG_UNKNOWN_TYPE, "no_such_type", attempt(A, "-pc_type no_such_type")),
          CALL(PETSC_ERR_MISSING_FACTOR, "nobodys", attempt(A, "-pc_type lu -pc_factor_mat_solver_type nobodys")),
      });
}
