// Times -pc_type stencilmg beside a copy, and solves beside PETSc's own multigrid on the assembled matrix; with the error
// against the exact solution, a product of sin(pi x) over the axes, with variable coefficients that of the discrete
// equation.

#include <string>

#include "timing.hpp"

static const char help[] =
    "Times multigrid cycles, set-up and solves of -div(a grad u) = f on the unit square or cube.\n"
    "  -dim 2              or 3\n"
    "  -sizes 1023,4095    points a side; in 3-D 127,255\n"
    "  -coefficients constant   a: constant (1, -Laplace(u) = f), smooth, or jumps (blocks of\n"
    "                           1 and 1000); wind: -div(grad u)/1000 + w.grad u = f against a\n"
    "                           meandering w; all but the first in a matrix that is captured\n"
    "  -cycles true        the figures of single cycles, too\n"
    "  -aij_max 0          largest size that CG with GAMG on an assembled matrix solves too, on the host with PFMG of "
    "hypre\n"
    "  -seconds 0.5        time spent on each figure\n"
    "  -dm_vec_type cuda   on the GPU\n\n";

enum class Coefficients { constant, smooth, jumps, wind };
static const char *const coefficient_names[] = {"constant", "smooth", "jumps", "wind"};

struct Problem {
  DM        da;
  Mat       A;
  Vec       b, x, exact, r;
  PetscInt  n, dim;
  PetscReal norm_A; // in the maximum norm
};

static PetscReal coefficient(Coefficients of, const PetscReal x[3]) {
  if (of == Coefficients::smooth)
    return PetscExpReal(2 * PetscSinReal(2 * PETSC_PI * x[0]) * PetscSinReal(3 * x[1]) * PetscCosReal(2 * x[2]));
  if (of == Coefficients::wind) return 1e-3;
  if (of == Coefficients::constant) return 1;
  // aligned to no grid
  return ((PetscInt)(3.3 * x[0] + 0.1) + (PetscInt)(2.7 * x[1] + 0.2) + (PetscInt)(3.1 * x[2] + 0.3)) % 2 ? 1000 : 1;
}

static PetscReal wind(const PetscReal x[3], int axis) {
  return axis == 0   ? 1 + PetscSinReal(7 * x[1]) / 2
         : axis == 1 ? PetscCosReal(5 * x[0])
                     : PetscSinReal(3 * x[0] + x[1]);
}

// Calls f(i) for the rank's points.
static PetscErrorCode for_points(DM da, const std::function<PetscErrorCode(const PetscInt i[3])> &f) {
  PetscInt lo[3], size[3], i[3];

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(da, &lo[0], &lo[1], &lo[2], &size[0], &size[1], &size[2]));
  for (i[2] = lo[2]; i[2] < lo[2] + size[2]; i[2]++)
    for (i[1] = lo[1]; i[1] < lo[1] + size[1]; i[1]++)
      for (i[0] = lo[0]; i[0] < lo[0] + size[0]; i[0]++) PetscCall(f(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// By a star, with a in the middle of the edges between points.
static PetscErrorCode assemble_star(Coefficients of, const Problem *p, MatType type, Mat *A) {
  const PetscReal h = 1. / (p->n + 1);

  PetscFunctionBegin;
  PetscCall(DMSetMatType(p->da, type));
  PetscCall(DMCreateMatrix(p->da, A));
  PetscCall(for_points(p->da, [&](const PetscInt i[3]) {
    MatStencil  row = {}, column[7] = {};
    PetscScalar value[7] = {};
    PetscInt    count = 1;
    PetscFunctionBegin;
    row.i = i[0], row.j = i[1], row.k = i[2];
    column[0] = row;
    for (int arm = 0; arm < 2 * p->dim; arm++) {
      const int      axis = arm / 2;
      const PetscInt step = arm % 2 ? 1 : -1, d[3] = {axis == 0 ? step : 0, axis == 1 ? step : 0, axis == 2 ? step : 0};
      PetscReal      middle[3] = {0, 0, 0}, here[3] = {0, 0, 0};
      for (int c = 0; c < p->dim; c++) here[c] = (i[c] + 1) * h, middle[c] = here[c] + d[c] * h / 2;
      PetscReal a = coefficient(of, middle) / (h * h);
      if (of == Coefficients::wind) a += PetscMax(-step * wind(here, axis), 0) / h; // upwind
      value[0] += a;
      if (i[axis] + step < 0 || i[axis] + step >= p->n) continue;
      column[count].i = i[0] + d[0], column[count].j = i[1] + d[1], column[count].k = i[2] + d[2];
      value[count++] = -a;
    }
    PetscCall(MatSetValuesStencil(*A, 1, &row, count, column, value, INSERT_VALUES));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make(PetscInt dim, PetscInt n, Coefficients coefficients, Problem *p) {
  PetscScalar    *b, *u;
  PetscInt        at = 0;
  const PetscReal h = 1. / (n + 1);

  PetscFunctionBegin;
  p->n = n;
  p->dim = dim;
  if (dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, NULL, NULL, &p->da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n,
                           n, n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &p->da));
  PetscCall(DMSetFromOptions(p->da));
  PetscCall(DMSetUp(p->da));
  if (coefficients == Coefficients::constant)
    PetscCall(MatCreateLaplace(p->da, &p->A));
  else
    PetscCall(assemble_star(coefficients, p, MATSTENCILSHELL, &p->A));
  PetscCall(DMCreateGlobalVector(p->da, &p->b));
  PetscCall(VecDuplicate(p->b, &p->x));
  PetscCall(VecDuplicate(p->b, &p->exact));
  PetscCall(VecDuplicate(p->b, &p->r));
  PetscCall(VecGetArrayWrite(p->b, &b));
  PetscCall(VecGetArrayWrite(p->exact, &u));
  PetscCall(for_points(p->da, [&](const PetscInt i[3]) {
    PetscFunctionBegin;
    u[at] = 1;
    for (int a = 0; a < dim; a++) u[at] *= PetscSinReal(PETSC_PI * (i[a] + 1) * h);
    b[at] = dim * PETSC_PI * PETSC_PI * u[at];
    at++;
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(VecRestoreArrayWrite(p->exact, &u));
  PetscCall(VecRestoreArrayWrite(p->b, &b));
  p->norm_A = 4. * dim * (n + 1) * (n + 1);
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

// A set-up; and a set-up with the first cycle after it, which a GPU records anew.
static PetscErrorCode time_of_set_up(KSP ksp, const Problem &p, PetscReal *seconds, PetscReal *with_cycle) {
  PetscLogDouble begin, end;
  PC             pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(synchronize());
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSetUp(ksp));
  PetscCall(synchronize());
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscCall(PCApply(pc, p.b, p.x));
  PetscCall(synchronize());
  PetscCall(PetscTime(&end));
  *with_cycle = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A solve to 1e-8 with these options, and its set-up.
static PetscErrorCode solve(const Problem &p, Mat A, const char *what, const char *options, PetscReal seconds,
                            PetscReal copy_seconds) {
  KSP       ksp;
  PC        pc;
  PetscBool ours;
  PetscReal time, first, first_cycle, set_up[2][3], with_cycle[2][3];
  PetscInt  iterations;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "bench_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(time_of_set_up(ksp, p, &first, &first_cycle));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSTENCILMG, &ours));
  for (int change = 0; change < 2; change++) // where memory is there: for new levels, and for a matrix that is shifted
    for (int n = 0; n < 3; n++) {
      PetscCall(MatShift(A, n % 2 ? -1e-3 : 1e-3));
      PetscCall(KSPSetOperators(ksp, A, A));
      if (!change) { // a setting that asks for them
        PetscCall(PCStencilMGSetGraph(pc, PETSC_FALSE));
        PetscCall(PCStencilMGSetGraph(pc, PETSC_TRUE));
      }
      PetscCall(time_of_set_up(ksp, p, &set_up[change][n], &with_cycle[change][n]));
    }
  PetscCall(MatShift(A, -2e-3));
  for (int change = 0; change < 2; change++) {
    std::sort(set_up[change], set_up[change] + 3);
    std::sort(with_cycle[change], with_cycle[change] + 3);
  }
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(time_of(
      seconds, [&]() { return KSPSolve(ksp, p.b, p.x); }, &time));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(report(what, time, copy_seconds, iterations, p));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-34s %10.4f ms, with a cycle %.4f ms; the first time %.4f and %.4f ms\n",
                        "  set-up", set_up[0][1] * 1e3, with_cycle[0][1] * 1e3, first * 1e3, first_cycle * 1e3));
  if (ours)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-34s %10.4f ms, with a cycle %.4f ms\n", "  set-up after a shift",
                          set_up[1][1] * 1e3, with_cycle[1][1] * 1e3));
  PetscCall(KSPDestroy(&ksp));
  for (const char *key : {"-bench_ksp_type", "-bench_pc_type", "-bench_pc_stencilmg_type",
                          "-bench_pc_stencilmg_smooths", "-bench_pc_stencilmg_precision", "-bench_ksp_norm_type"})
    PetscCall(PetscOptionsClearValue(NULL, key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// CG with PFMG of hypre, on the host.
static PetscErrorCode solve_by_hypre(const Problem &p, PetscReal seconds, PetscReal copy_seconds) {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_HYPRE) && !defined(PETSC_USE_COMPLEX)
  Mat            A;
  KSP            ksp;
  PC             pc;
  PetscReal      time;
  PetscInt       iterations;
  PetscLogDouble begin, end;
  PetscCall(assemble_star(Coefficients::constant, &p, MATHYPRESTRUCT, &A));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCPFMG));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscTime(&end));
  PetscCall(time_of(
      seconds, [&]() { return KSPSolve(ksp, p.b, p.x); }, &time));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(report("CG, PFMG of hypre", time, copy_seconds, iterations, p));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-34s %10.4f ms\n", "  set-up", (end - begin) * 1e3));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
#else
  (void)p, (void)seconds, (void)copy_seconds;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  CG, PFMG of hypre: this PETSc has no hypre for these numbers\n"));
#endif
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

// The default cycles, by their smoothing steps.
struct Cycles {
  std::string plain, full; // from zero; of full multigrid
};

static PetscErrorCode all_cycles(const Problem &p, const Cycles &of, PetscMPIInt ranks, PetscReal seconds,
                                 PetscReal copy_seconds) {
  PetscFunctionBegin;
  PetscCall(cycle(p, of.plain.c_str(), "", seconds, copy_seconds));
  PetscCall(cycle(p, (of.plain + " without a graph").c_str(), "-bench_pc_stencilmg_graph 0", seconds, copy_seconds));
  PetscCall(cycle(p, "V(2,2)", "-bench_pc_stencilmg_smooths 2", seconds, copy_seconds));
  if (ranks == 1) // see PCSTENCILMG
    PetscCall(cycle(p, (of.plain + " in single precision").c_str(), "-bench_pc_stencilmg_precision single", seconds,
                    copy_seconds));
  if (of.full == of.plain)
    PetscCall(cycle(p, "full multigrid, V(2,2)", "-bench_pc_stencilmg_type full -bench_pc_stencilmg_smooths 2", seconds,
                    copy_seconds));
  PetscCall(cycle(p, ("full multigrid, " + of.full).c_str(), "-bench_pc_stencilmg_type full", seconds, copy_seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solve_symmetric(const Problem &p, const Cycles &of, PetscMPIInt ranks, PetscReal seconds,
                                      PetscReal copy_seconds) {
  PetscFunctionBegin;
  PetscCall(solve(p, p.A, ("Richardson, " + of.plain).c_str(),
                  "-bench_ksp_type richardson -bench_ksp_norm_type unpreconditioned -bench_pc_type stencilmg", seconds,
                  copy_seconds));
  PetscCall(solve(p, p.A, ("Richardson, full, " + of.full).c_str(),
                  "-bench_ksp_type richardson -bench_ksp_norm_type unpreconditioned -bench_pc_type stencilmg "
                  "-bench_pc_stencilmg_type full",
                  seconds, copy_seconds));
  PetscCall(solve(p, p.A, ("CG, " + of.plain).c_str(),
                  "-bench_ksp_type cg -bench_pc_type stencilmg -bench_ksp_norm_type unpreconditioned", seconds,
                  copy_seconds));
  PetscCall(solve(p, p.A, ("CG, " + of.plain + ", natural norm").c_str(),
                  "-bench_ksp_type cg -bench_pc_type stencilmg -bench_ksp_norm_type natural", seconds, copy_seconds));
  if (ranks == 1) {
    PetscCall(solve(p, p.A, ("Richardson, full, " + of.full + " in single precision").c_str(),
                    "-bench_ksp_type richardson -bench_ksp_norm_type unpreconditioned -bench_pc_type stencilmg "
                    "-bench_pc_stencilmg_type full -bench_pc_stencilmg_precision single",
                    seconds, copy_seconds));
    PetscCall(solve(p, p.A, ("CG, " + of.plain + " in single precision").c_str(),
                    "-bench_ksp_type cg -bench_pc_type stencilmg -bench_pc_stencilmg_precision single "
                    "-bench_ksp_norm_type unpreconditioned",
                    seconds, copy_seconds));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscInt    sizes[32], count = 32, dim = 2, aij_max = 0;
  PetscReal   seconds = 0.5;
  PetscInt    kind = 0;
  PetscBool   set, cycles = PETSC_TRUE;
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCheck(dim == 2 || dim == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-dim is 2 or 3");
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-coefficients", coefficient_names, 4, &kind, NULL));
  const auto coefficients = (Coefficients)kind;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &count, &set));
  if (!set) count = 2, sizes[0] = dim == 2 ? 1023 : 127, sizes[1] = dim == 2 ? 4095 : 255;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cycles", &cycles, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-aij_max", &aij_max, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  const bool        flows = coefficients == Coefficients::wind;
  const bool        constant = coefficients == Coefficients::constant;
  const std::string V = std::string(flows ? "F" : "V") + (dim == 3 && !constant && !flows ? "(4,4)" : "(3,3)");
  const Cycles      of = {V, dim == 3 && constant ? "V(2,2), red-black" : V};
  for (PetscInt s = 0; s < count; s++) {
    Problem   p;
    PetscReal copy_seconds;
    PetscCall(make(dim, sizes[s], coefficients, &p));
    PetscCall(time_of(
        seconds, [&]() { return copy(p.b, p.x); }, &copy_seconds));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " x %" PetscInt_FMT "%s, %s coefficients, copy %.4f ms",
                          p.n, p.n, dim == 3 ? (" x " + std::to_string(p.n)).c_str() : "", coefficient_names[kind],
                          copy_seconds * 1e3));
    if (coefficients == Coefficients::constant)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", discretisation error %.2e",
                            PETSC_PI * PETSC_PI / 12. / ((double)(p.n + 1) * (p.n + 1))));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    if (cycles) PetscCall(all_cycles(p, of, ranks, seconds, copy_seconds));
    if (flows)
      PetscCall(solve(p, p.A, ("GMRES, " + V).c_str(),
                      "-bench_ksp_type gmres -bench_pc_type stencilmg -bench_ksp_norm_type unpreconditioned", seconds,
                      copy_seconds));
    if (!flows) PetscCall(solve_symmetric(p, of, ranks, seconds, copy_seconds));
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
      PetscCall(solve(p, aij, flows ? "GMRES, GAMG on the assembled matrix" : "CG, GAMG on the assembled matrix",
                      (std::string("-bench_pc_type gamg -bench_ksp_norm_type unpreconditioned -bench_ksp_type ") +
                       (flows ? "gmres" : "cg"))
                          .c_str(),
                      seconds, copy_seconds));
      PetscCall(MatDestroy(&aij));
      if (coefficients == Coefficients::constant && !cuda) PetscCall(solve_by_hypre(p, seconds, copy_seconds));
    }
    PetscCall(destroy(&p));
  }
  PetscCall(PetscFinalize());
  return 0;
}
