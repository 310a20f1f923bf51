#ifndef SHELLAC_H
#define SHELLAC_H

/*
  Shellac: matrix-free operators for PETSc. This header includes the whole public interface, by topic.

  A program that links the library calls MatCreateLaplace() or MatCreateHelmholtz(), or ShellacInitializePackage() before
  it names a type. A program that does not know the library gets the same types by
  -dll_append /absolute/path/libshellac.so
*/

#include <shellac/mat.h>
#include <shellac/multigrid.h>
#include <shellac/kernelsum.h>
#include <shellac/burgers.h>

#define SHELLAC_VERSION "0.1.0"

/*@C
   ShellacInitializePackage - registers Shellac's types with PETSc. Further calls do nothing.

   Not Collective

   Level: developer

   Note:
   Called by PETSc when the library is loaded by -dll_append, and by every function that creates an object of Shellac's.
@*/
PETSC_EXTERN PetscErrorCode ShellacInitializePackage(void);

#endif
