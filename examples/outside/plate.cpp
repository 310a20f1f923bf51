/*
  A Mat type of one's own, outside Shellac's tree: the bending of a simply supported plate on an elastic foundation,

      D ΔΔu + k u = f  on the unit square,  u = Δu = 0 on its boundary,

  by the 13-point stencil; D is a parameter and k a field on the grid. Solved for the f whose solution is sin(πx) sin(πy).

      mpiexec -n 2 ./plate -da_grid_x 63 -da_grid_y 63 -mat_plate_stiffness 2 -ksp_converged_reason
*/

#include <petscksp.h>
#include <shellac.h>
#include <shellac/stencil.hpp>

static const char help[] = "The bending of a plate by a Mat type of the application's own.\n\n";

struct Plate final : shellac::Formula {
  shellac::Parameter stiffness{this, "stiffness", "bending stiffness D", 1};
  shellac::GridField foundation{this, "foundation", "stiffness k of the foundation"};

  shellac::Shape shape() const override { return {2, true}; }
  bool           symmetric() const override { return true; }
  void           row(const shellac::Point &p, shellac::Row &u) const override {
    const PetscReal   second[3] = {1, -2, 1}, h2[2] = {p.h[0] * p.h[0], p.h[1] * p.h[1]};
    const PetscScalar D = stiffness();
    for (int a = 0; a < 2; a++) // second differences of second differences
      for (int b = 0; b < 2; b++)
        for (int s = -1; s <= 1; s++)
          for (int t = -1; t <= 1; t++)
            u((a == 0) * s + (b == 0) * t, (a == 1) * s + (b == 1) * t) +=
                D * second[s + 1] * second[t + 1] / (h2[a] * h2[b]);
    u(0, 0) += foundation(p);
  }
};

int main(int argc, char **argv) {
  DM            da;
  Mat           A;
  KSP           ksp;
  PC            pc;
  Vec           u, f, exact, k;
  PetscScalar   D, **exact_values, **f_values, **k_values;
  PetscReal     error;
  PetscInt      iterations;
  DMDALocalInfo grid;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(shellac::MatRegisterFormula<Plate>("plate"));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 31, 31, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 2, NULL, NULL, &da));
  PetscCall(DMSetMatType(da, "plate"));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &exact));
  PetscCall(VecDuplicate(exact, &u));
  PetscCall(VecDuplicate(exact, &f));
  PetscCall(VecDuplicate(exact, &k));
  PetscCall(MatFormulaGetParameter(A, "stiffness", &D)); /* the options may have set another */

  PetscCall(DMDAGetLocalInfo(da, &grid));
  PetscCall(DMDAVecGetArrayWrite(da, exact, &exact_values));
  PetscCall(DMDAVecGetArrayWrite(da, f, &f_values));
  PetscCall(DMDAVecGetArrayWrite(da, k, &k_values));
  for (PetscInt j = grid.ys; j < grid.ys + grid.ym; j++)
    for (PetscInt i = grid.xs; i < grid.xs + grid.xm; i++) {
      /* the unknowns are the nodes inside */
      const PetscReal x = (PetscReal)(i + 1) / (grid.mx + 1), y = (PetscReal)(j + 1) / (grid.my + 1);
      k_values[j][i] = 100 * x;
      exact_values[j][i] = PetscSinReal(PETSC_PI * x) * PetscSinReal(PETSC_PI * y);
      f_values[j][i] = (4 * PetscPowRealInt(PETSC_PI, 4) * D + k_values[j][i]) * exact_values[j][i];
    }
  PetscCall(DMDAVecRestoreArrayWrite(da, k, &k_values));
  PetscCall(DMDAVecRestoreArrayWrite(da, f, &f_values));
  PetscCall(DMDAVecRestoreArrayWrite(da, exact, &exact_values));
  PetscCall(MatFormulaSetField(A, "foundation", k));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
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
  PetscCall(VecDestroy(&k));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
