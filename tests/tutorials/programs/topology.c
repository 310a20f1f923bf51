/* Topology optimisation as its programs begin: a clamped beam of bricks with three displacements a node, a load
   at the other end's lower edge, stiffness E = 1e-6 + density^3. Each design is solved for, then densities follow the energy
   of the elements. -designs */
#include <petscdmda.h>
#include <petscksp.h>

/* The stiffness [24][24] of a cube with unit edges and E = 1, by Gauss' 2 x 2 x 2 points. */
static void cube_stiffness(PetscScalar K[24][24])
{
  const PetscReal nu = 0.3, lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 0.5 / (1 + nu);

  for (int a = 0; a < 24; a++)
    for (int b = 0; b < 24; b++) K[a][b] = 0;
  for (int g = 0; g < 8; g++) {
    const PetscReal at[3] = {0.5 + (g & 1 ? 1 : -1) / PetscSqrtReal(12), 0.5 + (g & 2 ? 1 : -1) / PetscSqrtReal(12),
                             0.5 + (g & 4 ? 1 : -1) / PetscSqrtReal(12)};
    PetscReal       slope[8][3];

    for (int n = 0; n < 8; n++)
      for (int d = 0; d < 3; d++) {
        slope[n][d] = 1;
        for (int e = 0; e < 3; e++) {
          const int upper = n >> e & 1;
          slope[n][d] *= e == d ? (upper ? 1 : -1) : upper ? at[e] : 1 - at[e];
        }
      }
    for (int n = 0; n < 8; n++)
      for (int m = 0; m < 8; m++) {
        const PetscReal dot = slope[n][0] * slope[m][0] + slope[n][1] * slope[m][1] + slope[n][2] * slope[m][2];
        for (int d = 0; d < 3; d++)
          for (int e = 0; e < 3; e++)
            K[3 * n + d][3 * m + e] +=
                (lambda * slope[n][d] * slope[m][e] + mu * slope[n][e] * slope[m][d] + (d == e ? mu * dot : 0)) / 8;
      }
  }
}

/* The nodes of a brick in local numbers. Bricks belong to the rank that has their upper node. */
static void nodes_of(const DMDALocalInfo *info, PetscInt i, PetscInt j, PetscInt k, PetscInt node[8])
{
  for (int n = 0; n < 8; n++)
    node[n] = i + (n & 1) - info->gxs + info->gxm * (j + (n >> 1 & 1) - info->gys + info->gym * (k + (n >> 2) - info->gzs));
}
#define FOR_BRICKS \
  for (PetscInt k = PetscMax(info.zs - 1, 0), e = 0; k < info.zs + info.zm - 1; k++) \
    for (PetscInt j = PetscMax(info.ys - 1, 0); j < info.ys + info.ym - 1; j++) \
      for (PetscInt i = PetscMax(info.xs - 1, 0); i < info.xs + info.xm - 1; i++, e++)

int main(int argc, char **argv)
{
  DM            da;
  Mat           A;
  Vec           u, f, u_local, free_ones;
  KSP           ksp;
  DMDALocalInfo info;
  PetscInt      designs = 2, bricks;
  PetscScalar   K[24][24], Ke[24][24], ****load, ****is_free, work, *density;
  const PetscScalar *x;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-designs", &designs, NULL));
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 13,
                         7, 7, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 3, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  bricks = info.xm * info.ym * info.zm;
  PetscCall(PetscMalloc1(bricks, &density));
  for (PetscInt e = 0; e < bricks; e++) density[e] = 0.4;
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecDuplicate(u, &f));
  PetscCall(VecDuplicate(u, &free_ones));
  PetscCall(DMCreateLocalVector(da, &u_local));
  PetscCall(DMDAVecGetArrayDOF(da, f, &load));
  PetscCall(DMDAVecGetArrayDOF(da, free_ones, &is_free));
  for (PetscInt k = info.zs; k < info.zs + info.zm; k++)
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
      for (PetscInt i = info.xs; i < info.xs + info.xm; i++)
        for (int c = 0; c < 3; c++) {
          load[k][j][i][c] = i == info.mx - 1 && k == 0 && c == 2 ? -1e-3 : 0;
          is_free[k][j][i][c] = i > 0;
        }
  PetscCall(DMDAVecRestoreArrayDOF(da, free_ones, &is_free));
  PetscCall(DMDAVecRestoreArrayDOF(da, f, &load));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetDM(ksp, da)); /* the levels of -pc_type mg -pc_mg_galerkin */
#if PETSC_VERSION_LT(3, 25, 0)
  PetscCall(KSPSetDMActive(ksp, PETSC_FALSE));
#else
  PetscCall(KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
#endif
  PetscCall(KSPSetFromOptions(ksp));
  cube_stiffness(K);
  for (PetscInt design = 0; design < designs; design++) {
    PetscCall(MatZeroEntries(A));
    FOR_BRICKS {
      PetscInt node[8];
      nodes_of(&info, i, j, k, node);
      for (int n = 0; n < 24; n++)
        for (int m = 0; m < 24; m++) Ke[n][m] = K[n][m] * (1e-6 + density[e] * density[e] * density[e]);
      PetscCall(MatSetValuesBlockedLocal(A, 8, node, 8, node, &Ke[0][0], ADD_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatDiagonalScale(A, free_ones, free_ones)); /* clamped rows and columns become the identity's */
    PetscCall(VecScale(free_ones, -1));
    PetscCall(VecShift(free_ones, 1));
    PetscCall(MatDiagonalSet(A, free_ones, ADD_VALUES));
    PetscCall(VecScale(free_ones, -1));
    PetscCall(VecShift(free_ones, 1));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSolve(ksp, f, u));
    PetscCall(VecDot(f, u, &work));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "design %d: compliance %.8g\n", (int)design, (double)PetscRealPart(work)));
    PetscCall(DMGlobalToLocal(da, u, INSERT_VALUES, u_local));
    PetscCall(VecGetArrayRead(u_local, &x));
    FOR_BRICKS { /* towards more where the energy is above a threshold, within 10 % */
      PetscInt  node[8];
      PetscReal energy = 0;
      nodes_of(&info, i, j, k, node);
      for (int n = 0; n < 24; n++)
        for (int m = 0; m < 24; m++)
          energy += PetscRealPart(x[3 * node[n / 3] + n % 3] * K[n][m] * x[3 * node[m / 3] + m % 3]);
      const PetscReal factor = PetscSqrtReal(energy * info.mx * info.my * info.mz / (PetscRealPart(work) + PETSC_SMALL));
      density[e] = PetscMin(1, PetscMax(1e-2, PetscRealPart(density[e]) * PetscMin(1.1, PetscMax(0.9, factor))));
    }
    PetscCall(VecRestoreArrayRead(u_local, &x));
  }
  PetscCall(PetscFree(density));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&free_ones));
  PetscCall(VecDestroy(&u_local));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
