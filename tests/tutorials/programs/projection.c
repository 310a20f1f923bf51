/* Flow around obstacles by a projection method: in each step velocities on the faces of cells move explicitly, then a
   pressure on the cells, with -div grad p = -div u / dt between those of fluid, takes their divergence away. Flow enters
   from the left;
   p = 0 in the last column. -steps, -nu, -dt */
#include <petscdmda.h>
#include <petscksp.h>

typedef struct {
  PetscInt  nx, ny;
  PetscReal h;
} Domain;

/* five pillars; what is above and below the channel is solid */
static PetscBool solid(const Domain *d, PetscInt i, PetscInt j)
{
  const PetscReal x = (i + 0.5) / d->nx, y = (j + 0.5) / d->ny;
  const PetscReal center[5][2] = {{0.25, 0.3}, {0.25, 0.7}, {0.45, 0.5}, {0.62, 0.25}, {0.62, 0.75}};

  if (j < 0 || j >= d->ny) return PETSC_TRUE;
  for (int p = 0; p < 5; p++)
    if (PetscSqr(x - center[p][0]) + PetscSqr(y - center[p][1]) < PetscSqr(0.08)) return PETSC_TRUE;
  return PETSC_FALSE;
}
/* whether fluid passes the left or the lower face of a cell */
static PetscBool open_x(const Domain *d, PetscInt i, PetscInt j)
{
  return (PetscBool)(i > 0 && i < d->nx && !solid(d, i, j) && !solid(d, i - 1, j));
}
static PetscBool open_y(const Domain *d, PetscInt i, PetscInt j) {
  return (PetscBool)(!solid(d, i, j) && !solid(d, i, j - 1));
}
static PetscBool has_pressure(const Domain *d, PetscInt i, PetscInt j) {
  return (PetscBool)(i >= 0 && i < d->nx - 1 && !solid(d, i, j));
}

static PetscErrorCode assemble(DM cells, const Domain *d, Mat A)
{
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(cells, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      const PetscInt  to[4][2] = {{i - 1, j}, {i + 1, j}, {i, j - 1}, {i, j + 1}};
      const PetscBool open[4] = {open_x(d, i, j), open_x(d, i + 1, j), open_y(d, i, j), open_y(d, i, j + 1)};
      MatStencil      row = {0}, column[5] = {{0}};
      PetscScalar     value[5] = {0};
      PetscInt        n = 1;

      row.i = i, row.j = j;
      column[0] = row;
      for (int f = 0; f < 4 && has_pressure(d, i, j); f++) {
        if (!open[f]) continue;
        value[0] += 1 / (d->h * d->h);
        if (!has_pressure(d, to[f][0], to[f][1])) continue;
        column[n].i = to[f][0], column[n].j = to[f][1];
        value[n++] = -1 / (d->h * d->h);
      }
      if (value[0] == (PetscScalar)0) value[0] = 1;
      PetscCall(MatSetValuesStencil(A, 1, &row, n, column, value, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  DM            faces, cells;
  Mat           A;
  Vec           u, u_local, b, p, p_local;
  KSP           ksp;
  Domain        d = {64, 32, 0};
  DMDALocalInfo info;
  PetscInt      steps = 5;
  PetscReal     nu = 0.002, dt, energy;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-nu", &nu, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_STAR, d.nx, d.ny,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &cells));
  PetscCall(DMSetFromOptions(cells));
  PetscCall(DMSetUp(cells));
  PetscCall(DMDAGetLocalInfo(cells, &info));
  PetscCall(DMDACreateCompatibleDMDA(cells, 2, &faces));
  d.nx = info.mx, d.ny = info.my, d.h = 1. / d.ny;
  dt = 0.2 * d.h;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dt", &dt, NULL));
  PetscCall(DMCreateMatrix(cells, &A));
  PetscCall(assemble(cells, &d, A));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(DMCreateGlobalVector(faces, &u));
  PetscCall(DMCreateLocalVector(faces, &u_local));
  PetscCall(DMCreateGlobalVector(cells, &p));
  PetscCall(VecDuplicate(p, &b));
  PetscCall(DMCreateLocalVector(cells, &p_local));
  for (PetscInt step = 0; step < steps; step++) {
    PetscScalar ***from, ***to, **div, **pressure;
    PetscCall(DMGlobalToLocal(faces, u, INSERT_VALUES, u_local));
    PetscCall(DMDAVecGetArrayDOF(faces, u_local, &from));
    PetscCall(DMDAVecGetArrayDOF(faces, u, &to));
#define U(c, i, j)                                                                                                     \
  ((j) < 0 || (j) >= d.ny || (i) < 0 || (i) >= d.nx ? ((c) == 0 && (i) < 0 ? 1. : 0.) : PetscRealPart(from[j][i][c]))
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
      for (PetscInt i = info.xs; i < info.xs + info.xm; i++)
        for (int c = 0; c < 2; c++) {
          const PetscReal here = U(c, i, j), west = U(c, i - 1, j), east = i + 1 < d.nx ? U(c, i + 1, j) : here;
          const PetscReal south = U(c, i, j - 1), north = U(c, i, j + 1), ux = U(0, i, j), uy = U(1, i, j);
          const PetscReal moved = ux * (ux > 0 ? here - west : east - here) + uy * (uy > 0 ? here - south : north - here);
          const PetscBool open = c ? open_y(&d, i, j) : open_x(&d, i, j);

          to[j][i][c] = open ? here + dt * (nu * (west + east + south + north - 4 * here) / (d.h * d.h) - moved / d.h) : 0;
          if (c == 0 && i == 0) to[j][i][c] = 1;
        }
    PetscCall(DMDAVecRestoreArrayDOF(faces, u, &to));
    PetscCall(DMDAVecRestoreArrayDOF(faces, u_local, &from));
    PetscCall(DMGlobalToLocal(faces, u, INSERT_VALUES, u_local));
    PetscCall(DMDAVecGetArrayDOF(faces, u_local, &from));
    PetscCall(DMDAVecGetArray(cells, b, &div));
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
      for (PetscInt i = info.xs; i < info.xs + info.xm; i++)
        div[j][i] = has_pressure(&d, i, j) ? -(U(0, i + 1, j) - U(0, i, j) + U(1, i, j + 1) - U(1, i, j)) / (d.h * dt) : 0;
    PetscCall(DMDAVecRestoreArray(cells, b, &div));
    PetscCall(DMDAVecRestoreArrayDOF(faces, u_local, &from));
    PetscCall(KSPSolve(ksp, b, p));
    PetscCall(DMGlobalToLocal(cells, p, INSERT_VALUES, p_local));
    PetscCall(DMDAVecGetArray(cells, p_local, &pressure));
    PetscCall(DMDAVecGetArrayDOF(faces, u, &to));
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
      for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
        if (open_x(&d, i, j)) to[j][i][0] -= dt * (pressure[j][i] - pressure[j][i - 1]) / d.h;
        if (open_y(&d, i, j)) to[j][i][1] -= dt * (pressure[j][i] - pressure[j - 1][i]) / d.h;
      }
    PetscCall(DMDAVecRestoreArrayDOF(faces, u, &to));
    PetscCall(DMDAVecRestoreArray(cells, p_local, &pressure));
  }
  PetscCall(VecNorm(u, NORM_2, &energy));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d steps of %g, root of the mean energy %g\n", (int)steps, (double)dt,
                        (double)(energy * d.h)));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&u_local));
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&p_local));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&faces));
  PetscCall(DMDestroy(&cells));
  PetscCall(PetscFinalize());
  return 0;
}
