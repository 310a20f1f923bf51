// Times -ksp_type stencil with -pc_type stencil beside fixed solvers, from KSPCreate() to the solution, for many problems.

#include <cstring>
#include <ctime>
#include <string>

#include "timing.hpp"

static const char help[] =
    "Times -ksp_type stencil -pc_type stencil beside fixed solvers, from KSPCreate() to a relative residual of 1e-8.\n"
    "  -problem 3          this one alone, by its number\n"
    "  -seconds 2          time spent on each problem\n"
    "  -shrink 4           divides the numbers of points\n"
    "  -cpu_time           of one rank: the process' time, where others use the machine, in place of the clock's\n"
    "  -dm_vec_type cuda   on the GPU\n\n";

namespace {

enum Ends { zero, free_ends, periodic, robin };                       // of an axis; free: without flux
enum Kind { plain, variable, jumps, rough, wind, turning, nine, q1 }; // of coefficients

struct Problem {
  const char *name;
  int         dim;
  PetscInt    N;
  Ends        ends[3];
  Kind        kind = plain;
  PetscReal   amount = 0; // of the wind, the cell's Péclet number
  PetscReal   sigma = 0;  // times h²
  bool        stretched[3] = {};
  PetscReal   weight[3] = {1, 1, 1}; // of the axes
  PetscInt    dof = 1;
};

const Problem problems[] = {
    {"line", 1, 100000, {zero}},
    {"line, variable coefficients", 1, 100000, {zero}, variable},
    {"line, strong wind", 1, 100000, {zero}, wind, 4},
    {"small plane", 2, 31, {zero, zero}},
    {"plane", 2, 511, {zero, zero}},
    {"large plane", 2, 1023, {zero, zero}},
    {"plane, prime number of points", 2, 509, {zero, free_ends}},
    {"plane without flux", 2, 512, {free_ends, free_ends}},
    {"periodic plane", 2, 512, {periodic, periodic}},
    {"plane, Robin", 2, 400, {robin, robin}},
    {"plane, one stretched axis", 2, 500, {zero, zero}, plain, 0, 0, {true}},
    {"plane, stretched axes", 2, 200, {zero, zero}, plain, 0, 0, {true, true}},
    {"large plane, stretched axes", 2, 800, {zero, zero}, plain, 0, 0, {true, true}},
    {"plane, time step", 2, 512, {free_ends, zero}, plain, 0, 0.01},
    {"plane, short time step", 2, 512, {zero, zero}, plain, 0, 10},
    {"plane, indefinite", 2, 300, {zero, zero}, plain, 0, -0.05},
    {"plane, anisotropic", 2, 512, {zero, zero}, plain, 0, 0, {}, {1, 0.001, 1}},
    {"plane, variable coefficients", 2, 512, {zero, zero}, variable},
    {"plane, jumps by 1000", 2, 512, {zero, free_ends}, jumps},
    {"plane, rough coefficients", 2, 256, {zero, zero}, rough},
    {"plane, weak wind", 2, 300, {zero, zero}, wind, 0.02},
    {"plane, strong wind", 2, 300, {zero, zero}, wind, 4},
    {"plane, turning wind", 2, 300, {zero, zero}, turning, 10},
    {"plane, 2 unknowns", 2, 200, {zero, zero}, variable, 0, 0, {}, {1, 1, 1}, 2},
    {"plane, 9 points", 2, 512, {zero, zero}, nine},
    {"plane, bilinear elements", 2, 512, {free_ends, free_ends}, q1},
    {"space", 3, 63, {zero, zero, zero}},
    {"large space", 3, 127, {zero, zero, zero}},
    {"periodic space", 3, 64, {periodic, periodic, periodic}},
    {"space, stretched axes", 3, 64, {zero, free_ends, zero}, plain, 0, 0, {true, true, true}},
    {"space, variable coefficients", 3, 64, {zero, zero, zero}, variable},
    {"space, turning wind", 3, 48, {zero, zero, zero}, turning, 10},
    {"space, 3 unknowns", 3, 24, {zero, zero, zero}, variable, 0, 0, {}, {1, 1, 1}, 3},
    {"space, trilinear elements", 3, 64, {zero, zero, zero}, q1},
};

struct Solver {
  const char *name, *options;
};
const Solver solvers[] = {
    {"stencil", "-ksp_type stencil -pc_type stencil"},
    {"fft", "-ksp_type richardson -ksp_norm_type unpreconditioned -ksp_max_it 3 -pc_type stencilfft"},
    {"cg, fft approx.",
     "-ksp_type fusedcg -ksp_norm_type unpreconditioned -pc_type stencilfft -pc_stencilfft_approximate"},
    {"fgmres, fft approx.", "-ksp_type fgmres -pc_type stencilfft -pc_stencilfft_approximate"},
    {"cg, mg", "-ksp_type fusedcg -ksp_norm_type unpreconditioned -pc_type stencilmg"},
    {"fgmres, mg", "-ksp_type fgmres -ksp_pc_side right -pc_type stencilmg"},
    {"bcgs, mg", "-ksp_type bcgs -ksp_pc_side right -pc_type stencilmg"},
    {"mg", "-ksp_type richardson -ksp_norm_type unpreconditioned -pc_type stencilmg"},
    {"full mg", "-ksp_type richardson -ksp_norm_type unpreconditioned -pc_type stencilmg -pc_stencilmg_type full"},
};

PetscReal face(PetscInt i, PetscInt N) { // the spacing, relative to that in the middle
  return 1 + (PetscReal)0.8 * PetscSinReal(6 * (PetscReal)i / (PetscReal)N);
}

PetscReal random_of(PetscInt i) {
  const PetscReal s = PetscSinReal((PetscReal)i * (PetscReal)12.9898) * (PetscReal)43758.5453;
  return s - PetscFloorReal(s);
}

// At a point, which may be half a spacing beside one.
PetscReal coefficient(const Problem &p, PetscInt N, const PetscReal x[3]) {
  const PetscReal y[3] = {x[0] / (PetscReal)N, x[1] / (PetscReal)N, x[2] / (PetscReal)N};
  if (p.kind == variable)
    return PetscExpReal(2 * PetscSinReal(2 * PETSC_PI * y[0]) * PetscSinReal(3 * y[1] + 1) * PetscCosReal(2 * y[2]));
  if (p.kind == jumps) return ((int)(22 * y[0]) + (int)(22 * y[1]) + (int)(22 * y[2])) % 2 ? 1000 : 1;
  if (p.kind == rough) return PetscPowReal(10, 6 * random_of((PetscInt)(2 * x[0] + 4099 * x[1])) - 3);
  return 1;
}

// The row of a point: entry e of [27] couples it to the point at steps e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1.
void row_of(const Problem &p, PetscInt N, const PetscInt at[3], PetscScalar row[27]) {
  std::fill(row, row + 27, 0);
  if (p.kind == nine || p.kind == q1) { // of one axis: stiffness and mass, of an element half of both at free ends
    PetscReal K[3][3] = {{0, 1, 0}, {0, 1, 0}, {0, 1, 0}}, M[3][3] = {{0, 1, 0}, {0, 1, 0}, {0, 1, 0}};
    for (int a = 0; a < p.dim; a++) {
      const bool      ends[2] = {at[a] == 0, at[a] == N - 1}, free = p.ends[a] == free_ends;
      const PetscReal part = free ? (ends[0] ? 0 : 1) + (ends[1] ? 0 : 1) : 2, m = p.kind == nine ? 12 : 6;
      K[a][1] = part, M[a][1] = part * (m - 2) / (2 * m);
      for (int e : {0, 2}) K[a][e] = ends[e / 2] ? 0 : -1, M[a][e] = ends[e / 2] ? 0 : 1 / m;
    }
    for (int e = 0; e < 27; e++) {
      const int s[3] = {e % 3, e / 3 % 3, e / 9};
      bool      is = true;
      for (int a = p.dim; a < 3; a++) is = is && s[a] == 1;
      for (int a = 0; a < p.dim && is; a++) {
        PetscReal value = K[a][s[a]];
        for (int b = 0; b < p.dim; b++)
          if (b != a) value *= M[b][s[b]];
        row[e] += value;
      }
    }
    return;
  }
  const int step[3] = {1, 3, 9};
  row[13] = p.sigma;
  for (int a = 0; a < p.dim; a++)
    for (int side = 0; side < 2; side++) {
      const PetscInt beside = at[a] + (side ? 1 : -1);
      const bool     beyond = p.ends[a] != periodic && (beside < 0 || beside >= N);
      PetscReal      k = p.weight[a], x[3] = {(PetscReal)at[0], (PetscReal)at[1], (PetscReal)at[2]};
      x[a] += side ? 0.5 : -0.5;
      k *= coefficient(p, N, x);
      if (p.stretched[a]) k /= face(at[a] + side, N) * (face(at[a], N) + face(at[a] + 1, N)) / 2;
      if (p.kind == wind || p.kind == turning) { // upwind; along x, or around the middle
        const PetscReal y[3] = {2 * x[0] / (PetscReal)N - 1, 2 * x[1] / (PetscReal)N - 1, 0};
        PetscReal       w = a == 0 ? p.amount : 0;
        if (p.kind == turning) w = a == 0 ? p.amount * y[1] : a == 1 ? -p.amount * y[0] : p.amount / 4;
        k += PetscMax(side ? -w : w, 0);
      }
      if (beyond && p.ends[a] == free_ends) continue;
      if (beyond && p.ends[a] == robin) k *= (PetscReal)0.3;
      row[13] += k;
      if (!beyond) row[13 + (side ? step[a] : -step[a])] -= k;
    }
}

PetscErrorCode make(const Problem &p, PetscInt N, DM *da, Mat *A) {
  DMBoundaryType           ends[3] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE};
  PetscInt                 lo[3], n[3], at[3];
  std::vector<PetscScalar> block((size_t)(p.dof * p.dof));
  PetscScalar              row[27];
  const bool               box = p.kind == nine || p.kind == q1;

  PetscFunctionBegin;
  for (int a = 0; a < p.dim; a++)
    if (p.ends[a] == periodic) ends[a] = DM_BOUNDARY_PERIODIC;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, p.dim));
  PetscCall(DMDASetBoundaryType(*da, ends[0], ends[1], ends[2]));
  PetscCall(DMDASetSizes(*da, N, p.dim > 1 ? N : 1, p.dim > 2 ? N : 1));
  PetscCall(DMDASetDof(*da, p.dof));
  PetscCall(DMDASetStencilWidth(*da, 1));
  PetscCall(DMDASetStencilType(*da, box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMSetMatType(*da, MATSTENCILSHELL));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(DMDAGetCorners(*da, &lo[0], &lo[1], &lo[2], &n[0], &n[1], &n[2]));
  for (at[2] = lo[2]; at[2] < lo[2] + n[2]; at[2]++)
    for (at[1] = lo[1]; at[1] < lo[1] + n[1]; at[1]++)
      for (at[0] = lo[0]; at[0] < lo[0] + n[0]; at[0]++) {
        const MatStencil to = {at[2], at[1], at[0], 0};
        row_of(p, N, at, row);
        for (int e = 0; e < 27; e++) {
          const PetscInt   s[3] = {e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1};
          const MatStencil from = {at[2] + s[2], at[1] + s[1], at[0] + s[0], 0};
          if (row[e] == (PetscScalar)0) continue;
          std::fill(block.begin(), block.end(), 0);
          for (PetscInt c = 0; c < p.dof; c++) block[(size_t)(c * p.dof + c)] = row[e] * (PetscReal)(1 + c);
          if (p.dof > 1 && e == 13) {
            const PetscReal k = 20 / (PetscReal)(N * N);
            block[1] = block[(size_t)p.dof] = -k;
            block[0] += k, block[(size_t)p.dof + 1] += k;
          }
          PetscCall(MatSetValuesBlockedStencil(*A, 1, &to, 1, &from, block.data(), INSERT_VALUES));
        }
      }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_b(const Problem &p, PetscInt N, Mat A, Vec u, Vec b) {
  PetscInt     first, last;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(u, &first, &last));
  PetscCall(VecGetArrayWrite(u, &values));
  for (PetscInt i = first; i < last; i++) {
    const PetscReal x = (PetscReal)i / (PetscReal)(last - first), y = (PetscReal)(i % N) / (PetscReal)N;
    values[i - first] = 1 + PetscSinReal(5 * x + 1) * PetscCosReal(7 * y) + (PetscReal)0.01 * random_of(i);
  }
  PetscCall(VecRestoreArrayWrite(u, &values));
  PetscCall(MatMult(A, u, b)); // in the range of a singular matrix, too
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ignore(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType, const char *s,
                      void *) {
  return code;
}

struct Result {
  PetscReal   time = PETSC_MAX_REAL; // the least [seconds]
  bool        solves = true;
  PetscInt    iterations = 0;
  std::string taken; // by PC stencil
};

PetscErrorCode now(PetscBool of_process, PetscLogDouble *time) {
  timespec spent; // PetscGetCPUTime() counts in hundredths of a second

  if (!of_process) return PetscTime(time);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  *time = (PetscLogDouble)spent.tv_sec + 1e-9 * (PetscLogDouble)spent.tv_nsec;
  return PETSC_SUCCESS;
}

PetscErrorCode run(Mat A, Vec b, const Solver &solver, PetscBool cpu_time, Result *result) {
  PetscOptions       options;
  KSP                ksp;
  Vec                x, r;
  PetscReal          norm[2], time;
  PetscLogDouble     begin, end;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecZeroEntries(x));
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, solver.options));
  PetscCall(PetscOptionsInsertString(options, "-ksp_rtol 1e-8 -ksp_max_it 400"));
  PetscCall(synchronize());
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(now(cpu_time, &begin));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(PetscOptionsPush(options));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscPushErrorHandler(ignore, NULL));
  const PetscErrorCode code = KSPSolve(ksp, b, x);
  PetscCall(PetscPopErrorHandler());
  PetscCall(synchronize());
  PetscCall(now(cpu_time, &end));
  time = end - begin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &result->iterations));
  result->solves = !code && reason > 0;
  result->time = PetscMin(result->time, time);
  if (result->solves && &solver == solvers && result->taken.empty()) {
    PC          pc;
    const char *text = NULL;
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCShellGetName(pc, &text));
    result->taken = std::string(text).substr(0, std::string(text).find(','));
  }
  if (result->solves) {
    PetscCall(MatResidual(A, b, x, r));
    PetscCall(VecNorm(b, NORM_2, &norm[0]));
    PetscCall(VecNorm(r, NORM_2, &norm[1]));
    result->solves = norm[1] <= 1.001e-8 * norm[0];
    if (!result->solves)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s says that it has converged, with a relative residual of %.2e\n",
                            solver.name, (double)(norm[1] / norm[0])));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsDestroy(&options));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv) {
  PetscInt  only = 0, shrink = 1;
  PetscReal seconds = 2, worst = 0;
  PetscBool cpu_time = PETSC_FALSE;
  int       number = 0;

  PetscFunctionBegin;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-problem", &only, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-shrink", &shrink, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cpu_time", &cpu_time, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "milliseconds, iterations; -: no solution\n\n"
                                          "| | problem | points | taken | ratio |"));
  for (const Solver &solver : solvers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %s |", solver.name));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n| --- | --- | --- | --- | --- |"));
  for (const Solver &solver : solvers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, solver.name ? " --- |" : ""));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  for (const Problem &p : problems) {
    DM             da;
    Mat            A;
    Vec            u, b;
    PetscReal      best = PETSC_MAX_REAL;
    PetscLogDouble begin, end;
    std::string    row;
    Result         results[sizeof(solvers) / sizeof(solvers[0])];
    int            more = 1;
    const PetscInt N = PetscMax(p.N / shrink, 5);

    number++;
    if (only && only != number) continue;
    PetscCall(make(p, N, &da, &A));
    PetscCall(MatCreateVecs(A, &u, &b));
    PetscCall(make_b(p, N, A, u, b));
    PetscCall(PetscTime(&begin));
    for (int n = 0; more; n++) { // by turns, so that what else the machine does slows down all of them
      for (const Solver &solver : solvers) {
        Result &of = results[&solver - solvers];
        if (of.solves) PetscCall(run(A, b, solver, cpu_time, &of));
      }
      PetscCall(PetscTime(&end));
      more = n < 2 || end - begin < seconds;
      PetscCallMPI(MPI_Bcast(&more, 1, MPI_INT, 0, PETSC_COMM_WORLD));
    }
    for (const Result &of : results) {
      char text[64] = " - |";
      if (of.solves)
        PetscCall(PetscSNPrintf(text, sizeof(text), " %.3g, %d |", 1e3 * (double)of.time, (int)of.iterations));
      if (of.solves) best = PetscMin(best, of.time);
      row += text;
    }
    const PetscReal ratio = results[0].solves ? results[0].time / best : 999; // none
    worst = PetscMax(worst, ratio);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %d | %s | %d^%d | %s | %.2f |%s\n", number, p.name, (int)N, p.dim,
                          results[0].taken.c_str(), (double)ratio, row.c_str()));
    PetscCall(VecDestroy(&u));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\nthe largest ratio to the best: %.2f\n", (double)worst));
  PetscCall(PetscFinalize());
  return 0;
}
