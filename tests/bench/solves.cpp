// Prints the table of solves of src/sums/README.md: iterations and time with the preconditioner kernelsum.

#include <algorithm>
#include <string>
#include <vector>

#include <petscksp.h>

#include "timing.hpp"

static const char help[] =
    "Solves with kernel sums and their preconditioner, to a relative residual of 1e-8, random data.\n"
    "Prints the time from points to coefficients: of the matrix with its first product, the preconditioner, the "
    "solve.\n"
    "  -points 10000       numbers of points, as 10000,100000, the latter for some rows\n"
    "  -all                all numbers of points for all rows\n"
    "  -rows <0,7>         these rows, from 0\n"
    "  -vec_type <cuda>    on a GPU\n\n";

// Of N random points in the unit box; clustered: half of them in four boxes that are 9 times as dense as the rest.
static PetscErrorCode create_points(PetscInt N, int dim, bool clustered, Vec *x) {
  PetscRandom  random;
  PetscScalar *values;
  PetscInt     first, end;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_WORLD, x));
  PetscCall(VecSetBlockSize(*x, dim));
  PetscCall(VecSetSizes(*x, PETSC_DECIDE, dim * N));
  PetscCall(VecSetFromOptions(*x));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetType(random, PETSCRAND48));
  PetscCall(VecSetRandom(*x, random));
  PetscCall(PetscRandomDestroy(&random));
  if (!clustered) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscReal side = PetscPowReal(1. / 36, 1. / dim); // N/8 points in each box
  PetscCall(VecGetOwnershipRange(*x, &first, &end));
  PetscCall(VecGetArray(*x, &values));
  for (PetscInt i = first; i < end; i++) {
    const PetscInt point = i / dim, axis = i % dim, box = point % 8;
    const bool     upper = axis == 0 ? box % 2 : axis == 1 ? box / 2 : box == 0 || box == 3;
    if (box < 4) values[i - first] = side * values[i - first] + (upper ? 0.6 : 0.1);
  }
  PetscCall(VecRestoreArray(*x, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Row {
  const char *name, *kernel;
  int         dim;
  bool        clustered;
  PetscReal   width, nugget; // width: sigma in spacings N^(-1/dim)
  const char *method, *options;
  PetscInt    most = 10000; // points
};

// Of a row of the table; silent: to load what a GPU needs.
static PetscErrorCode solve(const Row &row, PetscInt N, bool silent = false) {
  Vec                x, b, u, r;
  Mat                A;
  KSP                ksp;
  PetscOptions       options;
  char              *given;
  PetscInt           iterations;
  PetscReal          off, size;
  PetscLogDouble     begin, matrix, set_up, end;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(create_points(N, row.dim, row.clustered, &x));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &b));
  PetscCall(VecSetSizes(b, PETSC_DECIDE, N));
  PetscCall(VecSetFromOptions(b));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(VecNorm(x, NORM_2, &size)); // to where their type says
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(PetscTime(&begin));
  PetscCall(MatCreateKernelSum(PETSC_COMM_WORLD, x, x, &A));
  PetscCall(MatKernelSumSetKernel(A, row.kernel));
  PetscCall(MatKernelSumSetSigma(A, row.width * PetscPowReal((PetscReal)N, -1. / row.dim)));
  PetscCall(MatKernelSumSetMethod(A, MAT_KERNELSUM_AUTO, 1e-9));
  PetscCall(MatShift(A, row.nugget));
  PetscCall(VecDuplicate(b, &u));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, b, r)); // sets it up
  PetscCall(VecNorm(r, NORM_2, &size));
  PetscCall(PetscTime(&matrix));
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, row.options));
  PetscCall(PetscOptionsGetAll(NULL, &given));
  PetscCall(PetscOptionsInsertString(options, given)); // those of the command line come last
  PetscCall(PetscFree(given));
  PetscCall(PetscOptionsPush(options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 300));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(VecNorm(r, NORM_2, &size)); // waits for a GPU
  PetscCall(PetscTime(&set_up));
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(VecNorm(u, NORM_2, &size));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(MatMult(A, u, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &off));
  PetscCall(VecNorm(b, NORM_2, &size));
  if (!silent) {
    if (reason > 0)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %d, %.0e |", (int)iterations, (double)(off / size)));
    else
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " none in %d |", (int)iterations));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %.3g, %.3g, %.3g; %.3g |", matrix - begin, set_up - matrix, end - set_up,
                          end - begin));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&options));
  for (Vec *v : {&x, &b, &u, &r}) PetscCall(VecDestroy(v));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  static const char cg[] = "-ksp_type cg -ksp_norm_type unpreconditioned -pc_type kernelsum",
                    gmres_auto[] = "-ksp_type gmres -ksp_pc_side right -pc_type kernelsum",
                    gmres[] = "-ksp_type gmres -ksp_pc_side right -pc_type kernelsum -pc_kernelsum_variant restricted";
  static const Row rows[] = {
      {"Gaussian, 2-D, random, nugget 1e-6", "gaussian", 2, false, 1, 1e-6, "CG", cg, 100000},
      {"the same", "gaussian", 2, false, 2, 1e-6, "CG", cg, 100000},
      {"the same, clustered", "gaussian", 2, true, 1, 1e-6, "CG", cg, 100000},
      {"Gaussian, 3-D, random, nugget 1e-6", "gaussian", 3, false, 1, 1e-6, "CG", cg},
      {"the same, clustered", "gaussian", 3, true, 1, 1e-6, "CG", cg},
      {"Gaussian, 2-D, random, nugget 1e-6", "gaussian", 2, false, 1, 1e-6, "GMRES, restricted", gmres},
      {"the same", "gaussian", 2, false, 2, 1e-6, "GMRES, restricted", gmres},
      {"inverse multiquadric, 2-D, random", "inverse_multiquadric", 2, false, 1, 0, "CG", cg},
      {"the same, clustered", "inverse_multiquadric", 2, true, 1, 0, "CG", cg},
      {"inverse multiquadric, 2-D, random", "inverse_multiquadric", 2, false, 4, 0, "CG", cg},
      {"inverse multiquadric, 3-D, random", "inverse_multiquadric", 3, false, 1, 0, "CG", cg},
      {"the same, clustered", "inverse_multiquadric", 3, true, 1, 0, "CG", cg},
      {"multiquadric, 2-D, random", "multiquadric", 2, false, 1, 0, "GMRES, restricted", gmres},
      {"multiquadric, 3-D, random", "multiquadric", 3, false, 1, 0, "GMRES, restricted", gmres},
      {"multiquadric, 2-D, random", "multiquadric", 2, false, 1, 0, "GMRES", gmres_auto, 100000},
      {"the same", "multiquadric", 2, false, 2, 0, "GMRES", gmres_auto},
      {"multiquadric, 3-D, random", "multiquadric", 3, false, 1, 0, "GMRES", gmres_auto},
      {"the same", "multiquadric", 3, false, 2, 0, "GMRES", gmres_auto},
  };
  PetscInt  points[8] = {10000}, count = 8, chosen[32], choices = 32;
  PetscBool all = PETSC_FALSE, choose;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-points", points, &count, NULL));
  count = PetscMax(count, 1);
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-all", &all, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-rows", chosen, &choices, &choose));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| kernel function, points | sigma [spacings] | method |"));
  for (PetscInt n = 0; n < count; n++)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          " %" PetscInt_FMT ": iterations, true residual | matrix, preconditioner, solve; all [s] |",
                          points[n]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n| --- | --- | --- |"));
  for (PetscInt n = 0; n < 2 * count; n++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " --- |"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(solve(rows[0], 1000, true));
  for (const Row &row : rows) {
    if (choose && std::find(chosen, chosen + choices, (PetscInt)(&row - rows)) == chosen + choices) continue;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s | %.0f | %s |", row.name, (double)row.width, row.method));
    for (PetscInt n = 0; n < count; n++)
      PetscCall(points[n] > row.most && !all ? PetscPrintf(PETSC_COMM_WORLD, " | |") : solve(row, points[n]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscCall(PetscFinalize());
  return 0;
}
