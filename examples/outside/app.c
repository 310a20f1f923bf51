/*
  An application outside Shellac's tree: solves -Δu + σu = f on the unit square, u = 0 on its boundary, for the f whose
  solution is u = x(1 - x) sin(πy).

      mpiexec -n 2 ./app -da_grid_x 255 -da_grid_y 255 -mat_helmholtz_shift 10 -ksp_monitor
*/

#include <petscdmda.h>
#include <petscksp.h>
#include <shellac.h>

static const char help[] = "Solves the modified Helmholtz equation with an operator that is never assembled.\n\n";

int main(int argc, char **argv) {
  DM            da;
  Mat           A;
  KSP           ksp;
  PC            pc;
  Vec           u, f, exact;
  PetscScalar   sigma, **exact_values, **f_values;
  PetscReal     error;
  PetscInt      iterations;
  DMDALocalInfo grid;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 127, 127,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(MatCreateHelmholtz(da, 10, &A));
  PetscCall(MatHelmholtzGetShift(A, &sigma)); /* the options may have set another */

  PetscCall(DMCreateGlobalVector(da, &exact));
  PetscCall(VecDuplicate(exact, &u));
  PetscCall(VecDuplicate(exact, &f));
  PetscCall(DMDAGetLocalInfo(da, &grid));
  PetscCall(DMDAVecGetArrayWrite(da, exact, &exact_values));
  PetscCall(DMDAVecGetArrayWrite(da, f, &f_values));
  for (PetscInt j = grid.ys; j < grid.ys + grid.ym; j++)
    for (PetscInt i = grid.xs; i < grid.xs + grid.xm; i++) {
      /* the unknowns are the nodes inside */
      const PetscReal x = (PetscReal)(i + 1) / (grid.mx + 1), y = (PetscReal)(j + 1) / (grid.my + 1);
      const PetscReal sine = PetscSinReal(PETSC_PI * y);
      exact_values[j][i] = x * (1 - x) * sine;
      f_values[j][i] = 2 * sine + (PETSC_PI * PETSC_PI + sigma) * exact_values[j][i];
    }
  PetscCall(DMDAVecRestoreArrayWrite(da, f, &f_values));
  PetscCall(DMDAVecRestoreArrayWrite(da, exact, &exact_values));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, f, u));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));

  PetscCall(VecAXPY(u, -1, exact));
  PetscCall(VecNorm(u, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " x %" PetscInt_FMT " points: %" PetscInt_FMT " iterations, error %.3g\n",
                        grid.mx, grid.my, iterations, (double)error));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&exact));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
