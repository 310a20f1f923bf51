static const char help[] = "Compares two vectors in PETSc's binary format; fails where they differ.\n\
usage: compare_solutions FILE REFERENCE TOLERANCE      (of the difference, relative, in the infinity norm)\n\n";

#include <petscvec.h>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS 0
#endif

static PetscErrorCode load(const char *file, Vec *x) {
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, file, FILE_MODE_READ, &viewer));
  PetscCall(VecCreate(PETSC_COMM_SELF, x));
  PetscCall(VecLoad(*x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  Vec       x, reference;
  PetscInt  n, n_reference;
  PetscReal tolerance, size, difference;
  PetscBool same;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCheck(argc >= 4, PETSC_COMM_SELF, PETSC_ERR_USER, "%s", help);
  PetscCall(PetscOptionsStringToReal(argv[3], &tolerance));
  PetscCall(load(argv[1], &x));
  PetscCall(load(argv[2], &reference));
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecGetSize(reference, &n_reference));
  PetscCheck(n == n_reference, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "%" PetscInt_FMT " unknowns, %" PetscInt_FMT " in the reference", n, n_reference);
  PetscCall(VecNorm(reference, NORM_INFINITY, &size));
  PetscCheck(size > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "the reference is zero: nothing to compare with");
  PetscCall(VecAXPY(x, -1, reference));
  PetscCall(VecNorm(x, NORM_INFINITY, &difference));
  same = (PetscBool)(difference <= tolerance * size); /* false for NaN */
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%.1e\n", (double)(difference / size)));
  PetscCall(VecDestroy(&reference));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscFinalize());
  return same ? 0 : 1;
}
