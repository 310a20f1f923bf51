/* Gray and Scott's equations of two reacting species on a periodic square, by implicit steps:
     u' = Du lap u - u v^2 + F (1 - u),   v' = Dv lap v + u v^2 - (F + k) v.   Options of TS, SNES and KSP. */
#include <petscdmda.h>
#include <petscts.h>

typedef struct {
  PetscScalar u, v;
} Species;
typedef struct {
  PetscReal Du, Dv, F, k, length;
} Reaction;

static PetscErrorCode rate(DMDALocalInfo *info, PetscReal t, void *from, void *to, void *context)
{
  Species       **c = (Species **)from, **f = (Species **)to;
  const Reaction *r = (Reaction *)context;
  const PetscReal h = r->length / info->mx, to_u = r->Du / (h * h), to_v = r->Dv / (h * h);

  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      const PetscScalar u = c[j][i].u, v = c[j][i].v;

      f[j][i].u =
          to_u * (c[j][i - 1].u + c[j][i + 1].u + c[j - 1][i].u + c[j + 1][i].u - 4. * u) - u * v * v + r->F * (1. - u);
      f[j][i].v = to_v * (c[j][i - 1].v + c[j][i + 1].v + c[j - 1][i].v + c[j + 1][i].v - 4. * v) + u * v * v -
                  (r->F + r->k) * v;
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode jacobian(DMDALocalInfo *info, PetscReal t, void *from, Mat J, Mat P, void *context)
{
  Species       **c = (Species **)from;
  const Reaction *r = (Reaction *)context;
  const PetscReal h = r->length / info->mx, to_u = r->Du / (h * h), to_v = r->Dv / (h * h);

  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      const PetscScalar u = c[j][i].u, v = c[j][i].v;
      const PetscInt    to[5][2] = {{i, j}, {i - 1, j}, {i + 1, j}, {i, j - 1}, {i, j + 1}};
      MatStencil        row = {0}, column[5] = {{0}};
      PetscScalar       block[2][5][2] = {{{0}}};

      row.i = i, row.j = j;
      for (int arm = 0; arm < 5; arm++) {
        column[arm].i = to[arm][0], column[arm].j = to[arm][1];
        block[0][arm][0] = arm ? to_u : -4 * to_u - v * v - r->F;
        block[1][arm][1] = arm ? to_v : -4 * to_v + 2. * u * v - (r->F + r->k);
      }
      block[0][0][1] = -2. * u * v;
      block[1][0][0] = v * v;
      PetscCall(MatSetValuesBlockedStencil(P, 1, &row, 5, column, &block[0][0][0], INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  if (J != P) {
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  DM            da;
  TS            ts;
  Vec           x;
  Species     **c;
  DMDALocalInfo info;
  Reaction      r = {8e-5, 4e-5, 0.024, 0.06, 2.5};
  PetscInt      steps, its;
  PetscReal     norms[2];

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-feed", &r.F, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-kill", &r.k, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, 32, 32,
                         PETSC_DECIDE, PETSC_DECIDE, 2, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(DMDAVecGetArray(da, x, &c));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      const PetscReal X = (i + 0.5) / info.mx - 0.5, Y = (j + 0.5) / info.my - 0.5;
      const PetscBool inside = (PetscBool)(PetscAbsReal(X) < 0.2 && PetscAbsReal(Y) < 0.2);

      c[j][i].v = inside ? 0.25 * PetscSqr(PetscSinReal(8 * PETSC_PI * X) * PetscSinReal(8 * PETSC_PI * Y)) : 0;
      c[j][i].u = 1. - 2. * c[j][i].v;
    }
  PetscCall(DMDAVecRestoreArray(da, x, &c));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(DMDATSSetRHSFunctionLocal(da, INSERT_VALUES, rate, &r));
  PetscCall(DMDATSSetRHSJacobianLocal(da, jacobian, &r));
  PetscCall(TSSetType(ts, TSCN));
  PetscCall(TSSetTimeStep(ts, 5));
  PetscCall(TSSetMaxTime(ts, 10));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, x));
  PetscCall(TSGetStepNumber(ts, &steps));
  PetscCall(TSGetKSPIterations(ts, &its));
  PetscCall(VecStrideNormAll(x, NORM_INFINITY, norms));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d steps, %d iterations, largest u %.6f, v %.6f\n", (int)steps, (int)its,
                        (double)norms[0], (double)norms[1]));
  PetscCall(VecDestroy(&x));
  PetscCall(TSDestroy(&ts));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
