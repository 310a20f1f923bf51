// Times -pc_type stencilmg beside a copy, and solves beside PETSc's own multigrid on the assembled matrix; with the error
// against the exact solution u = sin(pi x) sin(pi y), with variable coefficients that of the discrete equation.

#include "timing.hpp"

static const char help[] = "Times multigrid cycles and solves of -div(a grad u) = f on the unit square.\n"
                           "  -sizes 1023,4095    points a side\n"
                           "  -coefficients constant   a: constant (1, -Laplace(u) = f), smooth, or jumps (blocks of\n"
                           "                           1 and 1000); the last two in a matrix that is captured\n"
                           "  -aij_max 0          largest size that CG with GAMG on an assembled matrix solves too\n"
                           "  -seconds 0.5        time spent on each figure\n"
                           "  -dm_vec_type cuda   on the GPU\n\n";

enum class Coefficients { constant, smooth, jumps };
static const char *const coefficient_names[] = {"constant", "smooth", "jumps"};

struct Problem {
  DM        da;
  Mat       A;
  Vec       b, x, exact, r;
  PetscInt  n;
  PetscReal norm_A; // in the maximum norm
};

static PetscReal coefficient(Coefficients of, PetscReal x, PetscReal y) {
  if (of == Coefficients::smooth) return PetscExpReal(2 * PetscSinReal(2 * PETSC_PI * x) * PetscSinReal(3 * y));
  return ((PetscInt)(3.3 * x + 0.1) + (PetscInt)(2.7 * y + 0.2)) % 2 ? 1000 : 1; // aligned to no grid
}

// By five points, with a in the middle of the edges between them.
static PetscErrorCode make_variable(PetscInt n, Coefficients of, Problem *p) {
  const PetscReal h = 1. / (n + 1);
  PetscInt        lo[2], size[2];

  PetscFunctionBegin;
  PetscCall(DMSetMatType(p->da, MATSTENCILSHELL));
  PetscCall(DMCreateMatrix(p->da, &p->A));
  PetscCall(DMDAGetCorners(p->da, &lo[0], &lo[1], NULL, &size[0], &size[1], NULL));
  for (PetscInt j = lo[1]; j < lo[1] + size[1]; j++)
    for (PetscInt i = lo[0]; i < lo[0] + size[0]; i++) {
      MatStencil  row = {}, column[5] = {};
      PetscScalar value[5] = {};
      PetscInt    count = 1;
      row.i = i, row.j = j;
      column[0] = row;
      for (int n_arm = 0; n_arm < 4; n_arm++) {
        const PetscInt  di = n_arm == 0 ? -1 : n_arm == 1 ? 1 : 0, dj = n_arm == 2 ? -1 : n_arm == 3 ? 1 : 0;
        const PetscReal a = coefficient(of, (i + 1 + di / 2.) * h, (j + 1 + dj / 2.) * h) / (h * h);
        value[0] += a;
        if (i + di < 0 || i + di >= n || j + dj < 0 || j + dj >= n) continue;
        column[count].i = i + di, column[count].j = j + dj;
        value[count++] = -a;
      }
      PetscCall(MatSetValuesStencil(p->A, 1, &row, count, column, value, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make(PetscInt n, Coefficients coefficients, Problem *p) {
  PetscScalar   **b, **u;
  PetscInt        lo[2], size[2];
  const PetscReal h = 1. / (n + 1);

  PetscFunctionBegin;
  p->n = n;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, &p->da));
  PetscCall(DMSetFromOptions(p->da));
  PetscCall(DMSetUp(p->da));
  if (coefficients == Coefficients::constant)
    PetscCall(MatCreateLaplace(p->da, &p->A));
  else
    PetscCall(make_variable(n, coefficients, p));
  PetscCall(DMCreateGlobalVector(p->da, &p->b));
  PetscCall(VecDuplicate(p->b, &p->x));
  PetscCall(VecDuplicate(p->b, &p->exact));
  PetscCall(VecDuplicate(p->b, &p->r));
  PetscCall(DMDAGetCorners(p->da, &lo[0], &lo[1], NULL, &size[0], &size[1], NULL));
  PetscCall(DMDAVecGetArrayWrite(p->da, p->b, &b));
  PetscCall(DMDAVecGetArrayWrite(p->da, p->exact, &u));
  for (PetscInt j = lo[1]; j < lo[1] + size[1]; j++)
    for (PetscInt i = lo[0]; i < lo[0] + size[0]; i++) {
      u[j][i] = PetscSinReal(PETSC_PI * (i + 1) * h) * PetscSinReal(PETSC_PI * (j + 1) * h);
      b[j][i] = 2 * PETSC_PI * PETSC_PI * u[j][i];
    }
  PetscCall(DMDAVecRestoreArrayWrite(p->da, p->exact, &u));
  PetscCall(DMDAVecRestoreArrayWrite(p->da, p->b, &b));
  p->norm_A = 8. * (n + 1) * (n + 1);
  if (coefficients != Coefficients::constant) {
    PetscCall(MatMult(p->A, p->exact, p->b));
    PetscCall(MatNorm(p->A, NORM_INFINITY, &p->norm_A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy(Problem *p) {
  PetscFunctionBegin;
  for (Vec *v : {&p->b, &p->x, &p->exact, &p->r}) PetscCall(VecDestroy(v));
  PetscCall(MatDestroy(&p->A));
  PetscCall(DMDestroy(&p->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ‖x - u‖ / ‖u‖ in the maximum norm, and the backward error ‖b - A x‖ / (‖A‖ ‖x‖ + ‖b‖) in the same.
static PetscErrorCode errors(const Problem &p, PetscReal *error, PetscReal *backward) {
  PetscReal x, b, r;

  PetscFunctionBegin;
  PetscCall(MatResidual(p.A, p.b, p.x, p.r));
  PetscCall(VecNorm(p.r, NORM_INFINITY, &r));
  PetscCall(VecNorm(p.x, NORM_INFINITY, &x));
  PetscCall(VecNorm(p.b, NORM_INFINITY, &b));
  *backward = r / (p.norm_A * x + b);
  PetscCall(VecWAXPY(p.r, -1, p.exact, p.x));
  PetscCall(VecNorm(p.r, NORM_INFINITY, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode report(const char *what, PetscReal seconds, PetscReal copy_seconds, PetscInt iterations,
                             const Problem &p) {
  PetscReal error, backward;
  PetscFunctionBegin;
  PetscCall(errors(p, &error, &backward));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-34s %10.4f ms %8.2f copies %4d its  error %.2e  backward %.1e\n", what,
                        seconds * 1e3, seconds / copy_seconds, (int)iterations, (double)error, (double)backward));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A solve to 1e-8 with these options, and its set-up.
static PetscErrorCode solve(const Problem &p, Mat A, const char *what, const char *options, PetscReal seconds,
                            PetscReal copy_seconds) {
  KSP       ksp;
  PC        pc;
  PetscReal time, set_up;
  PetscInt  iterations;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "bench_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetUp(pc));
  PetscLogDouble begin, end; // once more: the first time includes what is done once
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(synchronize());
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetUp(ksp));
  PetscCall(synchronize());
  PetscCall(PetscTime(&end));
  set_up = end - begin;
  PetscCall(time_of(
      seconds, [&]() { return KSPSolve(ksp, p.b, p.x); }, &time));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(report(what, time, copy_seconds, iterations, p));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-34s %10.4f ms\n", "  set-up", set_up * 1e3));
  PetscCall(KSPDestroy(&ksp));
  for (const char *key : {"-bench_ksp_type", "-bench_pc_type", "-bench_pc_stencilmg_type",
                          "-bench_pc_stencilmg_smooths", "-bench_pc_stencilmg_precision", "-bench_ksp_norm_type"})
    PetscCall(PetscOptionsClearValue(NULL, key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode cycle(const Problem &p, const char *what, const char *options, PetscReal seconds,
                            PetscReal copy_seconds) {
  PC        pc;
  PetscReal time, before, after;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOptionsPrefix(pc, "bench_"));
  PetscCall(PCSetType(pc, PCSTENCILMG));
  PetscCall(PCSetOperators(pc, p.A, p.A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(time_of(
      seconds, [&]() { return PCApply(pc, p.b, p.x); }, &time));
  PetscCall(report(what, time, copy_seconds, 1, p));
  // the reduction of a rough residual
  PetscCall(VecSetRandom(p.x, NULL));
  PetscCall(VecNorm(p.x, NORM_2, &before));
  Vec y;
  PetscCall(VecDuplicate(p.x, &y));
  PetscReal worst = 0;
  for (int n = 0; n < 8; n++) {
    PetscCall(PCApply(pc, p.x, y));
    PetscCall(MatResidual(p.A, p.x, y, p.r));
    PetscCall(VecCopy(p.r, p.x));
    PetscCall(VecNorm(p.x, NORM_2, &after));
    worst = PetscMax(worst, after / before);
    before = after;
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-34s %10.4f\n", "  largest residual reduction of 8", worst));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  for (const char *key : {"-bench_pc_stencilmg_type", "-bench_pc_stencilmg_smooths", "-bench_pc_stencilmg_precision",
                          "-bench_pc_stencilmg_graph"})
    PetscCall(PetscOptionsClearValue(NULL, key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscInt    sizes[32] = {1023, 4095}, count = 32, aij_max = 0;
  PetscReal   seconds = 0.5;
  PetscInt    kind = 0;
  PetscBool   set;
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-coefficients", coefficient_names, 3, &kind, NULL));
  const auto coefficients = (Coefficients)kind;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &count, &set));
  if (!set) count = 2;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-aij_max", &aij_max, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  for (PetscInt s = 0; s < count; s++) {
    Problem   p;
    PetscReal copy_seconds;
    PetscCall(make(sizes[s], coefficients, &p));
    PetscCall(time_of(
        seconds, [&]() { return copy(p.b, p.x); }, &copy_seconds));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " x %" PetscInt_FMT ", %s coefficients, copy %.4f ms", p.n,
                          p.n, coefficient_names[kind], copy_seconds * 1e3));
    if (coefficients == Coefficients::constant)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", discretisation error %.2e",
                            PETSC_PI * PETSC_PI / 12. / ((double)(p.n + 1) * (p.n + 1))));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    PetscCall(cycle(p, "V(3,3)", "", seconds, copy_seconds));
    PetscCall(cycle(p, "V(3,3) without a graph", "-bench_pc_stencilmg_graph 0", seconds, copy_seconds));
    PetscCall(cycle(p, "V(2,2)", "-bench_pc_stencilmg_smooths 2", seconds, copy_seconds));
    if (ranks == 1) // see PCSTENCILMG
      PetscCall(cycle(p, "V(3,3) in single precision", "-bench_pc_stencilmg_precision single", seconds, copy_seconds));
    PetscCall(cycle(p, "full multigrid, V(2,2)", "-bench_pc_stencilmg_type full -bench_pc_stencilmg_smooths 2", seconds,
                    copy_seconds));
    PetscCall(cycle(p, "full multigrid, V(3,3)", "-bench_pc_stencilmg_type full", seconds, copy_seconds));
    PetscCall(solve(p, p.A, "Richardson, V(3,3)",
                    "-bench_ksp_type richardson -bench_ksp_norm_type unpreconditioned -bench_pc_type stencilmg",
                    seconds, copy_seconds));
    PetscCall(solve(p, p.A, "Richardson, full, V(3,3)",
                    "-bench_ksp_type richardson -bench_ksp_norm_type unpreconditioned -bench_pc_type stencilmg "
                    "-bench_pc_stencilmg_type full",
                    seconds, copy_seconds));
    PetscCall(solve(p, p.A, "CG, V(3,3)",
                    "-bench_ksp_type cg -bench_pc_type stencilmg -bench_ksp_norm_type unpreconditioned", seconds,
                    copy_seconds));
    if (ranks == 1)
      PetscCall(solve(p, p.A, "CG, V(3,3) in single precision",
                      "-bench_ksp_type cg -bench_pc_type stencilmg -bench_pc_stencilmg_precision single "
                      "-bench_ksp_norm_type unpreconditioned",
                      seconds, copy_seconds));
    if (p.n <= aij_max) {
      Mat aij;
      PetscCall(MatConvert(p.A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
      VecType   type;
      PetscBool cuda;
      PetscCall(VecGetType(p.b, &type));
      PetscCall(PetscStrendswith(type, VECCUDA, &cuda));
#if defined(PETSC_HAVE_CUDA)
      if (cuda) PetscCall(MatConvert(aij, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &aij));
#endif
      PetscCall(solve(p, aij, "CG, GAMG on the assembled matrix",
                      "-bench_ksp_type cg -bench_pc_type gamg -bench_ksp_norm_type unpreconditioned", seconds,
                      copy_seconds));
      PetscCall(MatDestroy(&aij));
    }
    PetscCall(destroy(&p));
  }
  PetscCall(PetscFinalize());
  return 0;
}
