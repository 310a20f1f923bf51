static const char help[] = "Solves -Δu + σu = f on the unit square with whatever matrix the options name.\n\
Knows PETSc only.\n\
  -sigma <4>   σ\n\
  -save <file> writes the iterations and the solution\n\
  -load <file> compares with what was saved, and fails if it differs\n\n";

#include <petscdmda.h>
#include <petscksp.h>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS 0
#endif

/* Interior nodes of the unit square, zero on its boundary. */
static PetscErrorCode assemble(DM da, PetscReal sigma, Mat A) {
  PetscInt xs, ys, xm, ym, Nx, Ny;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &xs, &ys, NULL, &xm, &ym, NULL));
  PetscCall(DMDAGetInfo(da, NULL, &Nx, &Ny, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  const PetscReal cx = (PetscReal)(Nx + 1) * (Nx + 1), cy = (PetscReal)(Ny + 1) * (Ny + 1);
  for (PetscInt j = ys; j < ys + ym; j++) {
    for (PetscInt i = xs; i < xs + xm; i++) {
      MatStencil  row = {.j = j, .i = i}, columns[5];
      PetscScalar values[5];
      PetscInt    n = 0;
      columns[n] = row, values[n++] = 2 * cx + 2 * cy + sigma;
      if (i > 0) columns[n] = row, columns[n].i--, values[n++] = -cx;
      if (i < Nx - 1) columns[n] = row, columns[n].i++, values[n++] = -cx;
      if (j > 0) columns[n] = row, columns[n].j--, values[n++] = -cy;
      if (j < Ny - 1) columns[n] = row, columns[n].j++, values[n++] = -cy;
      PetscCall(MatSetValuesStencil(A, 1, &row, n, columns, values, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u = sin(πx) sin(πy) and its f */
static PetscErrorCode exact_solution(DM da, PetscReal sigma, Vec u, Vec f) {
  PetscInt      xs, ys, xm, ym, Nx, Ny;
  PetscScalar **uu;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &xs, &ys, NULL, &xm, &ym, NULL));
  PetscCall(DMDAGetInfo(da, NULL, &Nx, &Ny, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAVecGetArray(da, u, &uu));
  for (PetscInt j = ys; j < ys + ym; j++)
    for (PetscInt i = xs; i < xs + xm; i++)
      uu[j][i] = PetscSinReal(PETSC_PI * (i + 1) / (Nx + 1)) * PetscSinReal(PETSC_PI * (j + 1) / (Ny + 1));
  PetscCall(DMDAVecRestoreArray(da, u, &uu));
  PetscCall(VecCopy(u, f));
  PetscCall(VecScale(f, 2 * PETSC_PI * PETSC_PI + sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iterations, then the solution. */
static PetscErrorCode save_or_compare(const char *file, PetscBool save, PetscInt iterations, Vec x) {
  PetscViewer viewer;
  Vec         saved;
  PetscInt    saved_iterations;
  PetscReal   off, size;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, save ? FILE_MODE_WRITE : FILE_MODE_READ, &viewer));
  if (save) {
    PetscCall(PetscViewerBinaryWrite(viewer, &iterations, 1, PETSC_INT));
    PetscCall(VecView(x, viewer));
  } else {
    PetscCall(VecDuplicate(x, &saved));
    PetscCall(PetscViewerBinaryRead(viewer, &saved_iterations, 1, NULL, PETSC_INT));
    PetscCall(VecLoad(saved, viewer));
    PetscCall(VecNorm(saved, NORM_INFINITY, &size));
    PetscCall(VecAXPY(saved, -1, x));
    PetscCall(VecNorm(saved, NORM_INFINITY, &off));
    PetscCall(VecDestroy(&saved));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "saved iterations %" PetscInt_FMT ", relative difference %g\n",
                          saved_iterations, (double)(off / size)));
    PetscCheck(iterations == saved_iterations && off <= 1e-10 * size, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "the two runs differ");
  }
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  DM        da;
  Mat       A;
  Vec       u, f, x;
  KSP       ksp;
  PetscInt  iterations;
  PetscReal sigma = 4, error;
  MatType   type;
  char      file[PETSC_MAX_PATH_LEN];
  PetscBool save, load;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-sigma", &sigma, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 63, 47, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(assemble(da, sigma, A));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecDuplicate(u, &f));
  PetscCall(VecDuplicate(u, &x));
  PetscCall(exact_solution(da, sigma, u, f));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, f, x));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(MatGetType(A, &type));
  PetscCall(VecAXPY(u, -1, x));
  PetscCall(VecNorm(u, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "type %s, iterations %" PetscInt_FMT ", error %g\n", type, iterations,
                        (double)error));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-save", file, sizeof(file), &save));
  if (save) PetscCall(save_or_compare(file, PETSC_TRUE, iterations, x));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-load", file, sizeof(file), &load));
  if (load) PetscCall(save_or_compare(file, PETSC_FALSE, iterations, x));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
