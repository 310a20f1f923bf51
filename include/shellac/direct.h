#ifndef SHELLAC_DIRECT_H
#define SHELLAC_DIRECT_H

/* The preconditioners stencilfft, and stencil, which takes it where it pays. */

#include <petscpc.h>

/*MC
   PCSTENCILFFT - "stencilfft": the exact inverse of separable operators by fast transforms, for Mats with a formula
   (`MATLAPLACE`, `MATHELMHOLTZ`, `MATDIFFUSION`, ...) and `MATSTENCILSHELL`, on the CPU and on CUDA GPUs

   Options Database Keys:
+  -pc_stencilfft_approximate <true|false>  - inverts the sum over the axes with the mean coefficients, where the matrix
                                              is no such sum: a preconditioner; default false
-  -pc_stencilfft_precision <double|single> - precision of transforms and of the arrays between them; single is for
                                              preconditioners; default double

   Level: beginner

   Notes:
   The operator must be a box with equal rows, see below, or a sum over the axes, A u = sum_a (k_a (u_i - u_{i-1}) + k_a'
   (u_i - u_{i+1})) / m_a + sigma u, with coefficients k and m along each axis, constant or stretched, and one sigma of
   either sign or complex. One application is the exact inverse to rounding: use `KSPSTENCIL`, which tests the residual,
   or `KSPPREONLY`. Ends may be periodic, Dirichlet, Neumann, Robin, mirrored, each side of an axis by itself; identity
   rows must be at both ends of an axis, and are solved first. Any number of points and ranks works.

   A box of 9 or 27 points is inverted where all rows are equal, their entries are the same on both sides of each axis, and
   its ends have transforms: the compact Laplacian of fourth order, bilinear and trilinear elements. Elements' rows at ends
   without flux may be half of the others. Where all axes are periodic, equal rows of neighbours may have any entries.

   An axis with constant coefficients has a Fourier, sine or cosine transform, by FFTW on the host and by cuFFT on GPUs. Of
   the others one is solved by elimination in each mode of the rest, if the operator is definite; the rest by products with
   its eigenvectors. One axis with constant coefficients is eliminated, too, where that is faster. `PCView()` shows each
   axis' way.

   Several ranks exchange all values twice, so that each has whole lines along an axis.

   A singular operator without a shift, as with Neumann or periodic ends, has its null space projected out of b and x. A
   shift that cancels an eigenvalue is an error, unless `MatSetNullSpace()` tells of the null space.

   With -pc_stencilfft_precision single, an application is right to about 1e-7, and takes half the memory: see
   `PCStencilFFTSetPrecision()`.

   With -pc_stencilfft_approximate, a matrix that is refused gets the inverse of one with its mean coefficients: a
   preconditioner for `KSPCG` or `KSPGMRES`, whose number of iterations depends on the range of coefficients and not on the
   size of the grid. Where that sum is singular, a small shift makes it regular.

   `PCReset()` keeps its memory, because PETSc does not notify a shell. `PCDestroy()` and a change of the type free it.

   Errors:
   `PETSC_ERR_ARG_WRONG` for a matrix of another type; `PETSC_ERR_ARG_WRONGSTATE` without a matrix; `PETSC_ERR_SUP` for one
   that is no such sum, with an alternative; `PETSC_ERR_MAT_LU_ZRPVT` if a shift cancels an eigenvalue.

   References:
   R. E. Lynch, J. R. Rice, D. H. Thomas, Direct solution of partial difference equations by tensor product methods, 1964;
   R. W. Hockney, A fast direct solution of Poisson's equation using Fourier analysis, 1965; G. Strang, The discrete cosine
   transform, 1999.

.seealso: `PCSTENCILMG`, `PCStencilFFTSetApproximate()`, `PCStencilFFTSetPrecision()`, `MATLAPLACE`, `MATSTENCILSHELL`
M*/
#define PCSTENCILFFT "stencilfft"

/*MC
   PCSTENCIL - "stencil": `PCSTENCILFFT` where the operator is separable and that takes less time, otherwise
   `PCSTENCILMG`

   Level: beginner

   Notes:
   Each set-up looks at the operator anew. Transforms are taken wherever they serve on the host and in three dimensions,
   and on GPUs in two dimensions up to 4096^2 points on each, or more if axes are periodic, have ends half a spacing beyond
   the last points that are alike, or have n points between zeros with n + 1 a multiple of 4. Axes that need products with
   their eigenvectors have 512 points at most on a GPU, and on the host as many as take less time than multigrid. An
   indefinite operator takes transforms at any size. `PCView()` shows the choice, and why it is not the other.

   `KSPSTENCIL` takes the Krylov method that goes with the choice.

   The options and setters of both types apply, `-pc_stencilmg_...` and `-pc_stencilfft_...`. Those of the type that is
   not taken have no effect. With -pc_stencilfft_approximate, transforms serve operators that are no sum over the axes, too.

   Errors:
   Those of the type that is taken.

.seealso: `PCSTENCILFFT`, `PCSTENCILMG`, `KSPSTENCIL`
M*/
#define PCSTENCIL "stencil"

/*@
   PCStencilFFTSetApproximate - lets `PCSTENCILFFT` invert an operator with mean coefficients, where the matrix is not a sum
   over the axes

   Logically Collective

   Input Parameters:
+  pc          - the preconditioner
-  approximate - `PETSC_FALSE` (default): such a matrix is an error

   Options Database Key:
.  -pc_stencilfft_approximate <true|false> - inverts the sum over the axes with the mean coefficients, where the matrix
                                             is no such sum: a preconditioner; default false

   Level: intermediate

   Note:
   It may also be called after set-up: the next application sets up again. The means are taken of the matrix' rows. The
   ends of the domain become those with transforms that are nearest.

   Errors:
   `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILFFT`
@*/
PETSC_EXTERN PetscErrorCode PCStencilFFTSetApproximate(PC pc, PetscBool approximate);

/*E
   PCStencilFFTPrecision - the arithmetic of an application of `PCSTENCILFFT`

   Values:
+  `PC_STENCILFFT_DOUBLE` - that of `PetscScalar`
-  `PC_STENCILFFT_SINGLE` - transforms and the arrays between them are of single precision

   Level: intermediate

.seealso: `PCStencilFFTSetPrecision()`
E*/
typedef enum { PC_STENCILFFT_DOUBLE, PC_STENCILFFT_SINGLE } PCStencilFFTPrecision;
PETSC_EXTERN const char *const PCStencilFFTPrecisions[];

/*@
   PCStencilFFTSetPrecision - sets the precision of the arithmetic in an application of `PCSTENCILFFT`

   Logically Collective

   Input Parameters:
+  pc        - the preconditioner
-  precision - `PC_STENCILFFT_DOUBLE` (default) or `PC_STENCILFFT_SINGLE`

   Options Database Key:
.  -pc_stencilfft_precision <double|single> - precision of transforms and of the arrays between them; single is for
                                              preconditioners; default double

   Level: intermediate

   Notes:
   Also after set-up. Vectors stay those of PETSc. An application in single precision leaves an error of about 1e-7 of x,
   which the KSP refines.

   Single precision is an error for `KSPPREONLY`, unless `PCStencilFFTSetApproximate()` says that a preconditioner is meant;
   and for `KSPGMRES` and others, unless rtol >= 1e-6 in the preconditioned norm, as that of `PCSTENCILMG`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILFFT`, `PCStencilMGSetPrecision()`
@*/
PETSC_EXTERN PetscErrorCode PCStencilFFTSetPrecision(PC pc, PCStencilFFTPrecision precision);

#endif
