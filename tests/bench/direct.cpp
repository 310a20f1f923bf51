// Times exact solves by -pc_type stencilfft beside -pc_type stencilmg: set-ups, and a solve with its residual.

#include <string>

#include "timing.hpp"

static const char help[] =
    "Times -pc_type stencilfft and stencilmg (full multigrid and V-cycles to 1e-8) for -Laplace(u) = f.\n"
    "  -dim 2              or 3\n"
    "  -sizes 1023,2047    points a side\n"
    "  -seconds 0.5        time spent on each figure\n"
    "  -dm_vec_type cuda   on the GPU\n"
    "  -periodic           in place of u = 0 at the ends; other ends by -mat_laplace_boundary\n\n";

// direct: an application of the preconditioner, too
static PetscErrorCode run(Mat A, Vec b, const char *options, PetscReal seconds, bool direct = false) {
  KSP            ksp = NULL;
  PC             pc;
  Vec            x, r;
  PetscReal      set_up[2], solve, norm_b, norm_r; // [first, again]
  PetscInt       iterations;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(PetscOptionsInsertString(NULL, options));
  for (PetscReal &time : set_up) {
    PetscCall(KSPDestroy(&ksp));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(synchronize());
    PetscCall(PetscTime(&begin));
    PetscCall(KSPSetUp(ksp));
    PetscCall(synchronize());
    PetscCall(PetscTime(&end));
    time = end - begin;
    PetscCall(KSPSolve(ksp, b, x));
  }
  PetscCall(time_of(
      seconds, [&]() { return KSPSolve(ksp, b, x); }, &solve));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(VecNorm(b, NORM_2, &norm_b));
  PetscCall(VecNorm(r, NORM_2, &norm_r));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %.3g, %.3g, %.3g; %d, %.1e", 1e3 * (double)set_up[0],
                        1e3 * (double)set_up[1], 1e3 * (double)solve, (int)iterations, (double)(norm_r / norm_b)));
  if (direct) {
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(time_of(
        seconds, [&]() { return PCApply(pc, b, x); }, &solve));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "; %.3g", 1e3 * (double)solve));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " |"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscInt  dim = 2, sizes[8] = {1023, 2047}, count = 8;
  PetscReal seconds = 0.5;
  PetscBool periodic = PETSC_FALSE, given;

  PetscFunctionBegin;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &count, &given));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-periodic", &periodic, NULL));
  if (!given) count = 2;
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "first set-up, set-up, solve [ms]; iterations, relative residual; of stencilfft, an application [ms]\n\n"
      "| points | stencilfft | stencilmg, full | stencilmg, V-cycles with CG |\n| --- | --- | --- | --- |\n"));
  for (PetscInt s = 0; s < count; s++) {
    const PetscInt       n = sizes[s];
    const DMBoundaryType ends = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    DM                   da;
    Mat                  A;
    Vec                  u, b;

    PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
    PetscCall(DMSetDimension(da, dim));
    PetscCall(DMDASetBoundaryType(da, ends, ends, ends));
    PetscCall(DMDASetSizes(da, n, n, dim > 2 ? n : 1));
    PetscCall(DMDASetDof(da, 1));
    PetscCall(DMDASetStencilWidth(da, 1));
    PetscCall(DMDASetStencilType(da, DMDA_STENCIL_STAR));
    PetscCall(DMSetFromOptions(da));
    PetscCall(DMSetUp(da));
    PetscCall(DMSetMatType(da, MATLAPLACE));
    PetscCall(DMCreateMatrix(da, &A));
    PetscCall(DMCreateGlobalVector(da, &u));
    PetscCall(VecDuplicate(u, &b));
    PetscCall(VecSetRandom(u, NULL));
    PetscCall(MatMult(A, u, b)); // in the range of a singular matrix, too
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %d^%d |", (int)n, (int)dim));
    PetscCall(run(A, b, "-ksp_type preonly -pc_type stencilfft", seconds, true));
    PetscCall(run(A, b,
                  "-ksp_type richardson -ksp_norm_type unpreconditioned -ksp_rtol 1e-8 -pc_type stencilmg "
                  "-pc_stencilmg_type full",
                  seconds));
    PetscCall(run(A, b,
                  "-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-8 -pc_type stencilmg "
                  "-pc_stencilmg_type multiplicative",
                  seconds));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    PetscCall(VecDestroy(&u));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(PetscFinalize());
  return 0;
}
