#ifndef SHELLAC_H
#define SHELLAC_H

/*
  Shellac: matrix-free operators for PETSc. This header includes the whole public interface, by topic.

  A program that links the library creates objects by its functions, or calls ShellacInitializePackage() before it names
  a type. A program that does not know the library gets the same types by
  -dll_append /absolute/path/libshellac.so
*/

#include <shellac/mat.h>
#include <shellac/formula.h>
#include <shellac/multigrid.h>
#include <shellac/direct.h>
#include <shellac/krylov.h>
#include <shellac/kernelsum.h>
#include <shellac/kernelsumpc.h>
#include <shellac/burgers.h>
#include <shellac/equation.h>
#include <shellac/sensitivity.h>

/* The version is at the end: SHELLAC_VERSION, SHELLAC_VERSION_MAJOR, ..., SHELLAC_VERSION_GE() */

/*@C
   ShellacInitializePackage - registers Shellac's types with PETSc. Further calls do nothing.

   Not Collective

   Level: developer

   Note:
   PETSc calls it when -dll_append loads the library. Every function that creates an object of Shellac calls it, too.

   Errors:
   `PETSC_ERR_SUP` if the library is compiled for another PETSc than the program.

.seealso: `MatCreateLaplace()`, `MATLAPLACE`, `MATSTENCILSHELL`, `PCSTENCILMG`, `MATKERNELSUM`, `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode ShellacInitializePackage(void);

/*@C
   ShellacSetHaloTimeout - sets how long a GPU waits for the halo of another GPU before it gives up with an error

   Logically Collective

   Input Parameter:
.  seconds - the time; 0: no limit

   Options Database Key:
.  -shellac_halo_timeout <seconds, 0 for no limit> - how long a GPU waits for the halo of another GPU before it gives an
                                                     error; default 300

   Level: advanced

   Note:
   A rank that has left a collective operation with an error, or is busy with other work, keeps its neighbours waiting.
   With CUDA IPC, a kernel waits for the halo. After this time the kernel sets its halo to NaN and ends, and the next
   operation of the matrix gives an error on this rank. With MPI, MPI waits.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` below 0 or above 1e9; nothing is changed then.

.seealso: `MATLAPLACE`, `MATSTENCILSHELL`, `MatSetHaloType()`
@*/
PETSC_EXTERN PetscErrorCode ShellacSetHaloTimeout(PetscReal seconds);

/* This version of Shellac. CMake and the Python package read the numbers here. */
#define SHELLAC_VERSION_MAJOR    1
#define SHELLAC_VERSION_MINOR    0
#define SHELLAC_VERSION_SUBMINOR 0
#define SHELLAC_VERSION                                                                                                \
  PetscStringize(SHELLAC_VERSION_MAJOR) "." PetscStringize(SHELLAC_VERSION_MINOR) "." PetscStringize(                  \
      SHELLAC_VERSION_SUBMINOR)

/* Is this version the one given, or newer? For the preprocessor and for code: #if SHELLAC_VERSION_GE(1, 0, 0) */
#define SHELLAC_VERSION_GE(major, minor, subminor)                                                                     \
  (SHELLAC_VERSION_MAJOR > (major) || (SHELLAC_VERSION_MAJOR == (major) &&                                             \
                                       (SHELLAC_VERSION_MINOR > (minor) || (SHELLAC_VERSION_MINOR == (minor) &&        \
                                                                            SHELLAC_VERSION_SUBMINOR >= (subminor)))))

#endif
