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

/*@C
   ShellacSetHaloTimeout - sets how long a GPU waits for the halo of another one before that is an error

   Logically Collective

   Input Parameter:
.  seconds - the time; 0: no limit

   Options Database Key:
.  -shellac_halo_timeout <seconds> - 300 by default

   Level: advanced

   Note:
   A rank that has ended a collective operation with an error, or is busy elsewhere, lets its neighbours wait. Where
   halos travel by CUDA IPC, a kernel waits for them; after this time it sets its halo to NaN and gives up, and the
   next operation of the matrix is an error on this rank. Halos that travel by MPI wait as MPI does.
@*/
PETSC_EXTERN PetscErrorCode ShellacSetHaloTimeout(PetscReal seconds);

#endif
