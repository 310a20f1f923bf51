#ifndef SHELLAC_KERNELSUMPC_H
#define SHELLAC_KERNELSUMPC_H

/* The preconditioner of sums over particles. */

#include <petscpc.h>

/*MC
   PCKERNELSUM - "kernelsum": a preconditioner for square Mats of type `MATKERNELSUM`: interpolation, Gaussian processes,
   boundary charges

   Options Database Keys:
+  -pc_kernelsum_box <integer, 1 or more>            - largest number of points in a box; default 100
.  -pc_kernelsum_overlap <integer, 0 or more>        - points around a box that are solved with it; default 48, 240, 384
                                                       in 1-D, 2-D, 3-D; a Gaussian 64, 230, 600, a multiquadric in the
                                                       symmetric variant 96, 320, 512; more where the kernel is wide
.  -pc_kernelsum_coarse <integer, 0 or more>         - approximate number of coarse points; 0: no coarse space; the
                                                       symmetric variant takes only 0; default one for each 50 points,
                                                       at most 1000; none for a Gaussian
-  -pc_kernelsum_variant <auto|restricted|symmetric> - restricted additive Schwarz, or a symmetric preconditioner;
                                                       default auto: symmetric where the matrices of all boxes are
                                                       positive definite

   Level: beginner

   Notes:
   The symmetric variant is for positive definite matrices: those of Gaussians, inverse multiquadrics and many formulas, and
   of singular kernels with a diagonal that is large enough. It is a sparse Cholesky factor of the inverse: boxes are
   ordered from coarse to fine, each with the points nearest to it in the previous boxes. It has no coarse points. It works
   with `KSPCG`, `KSPMINRES` and the like, and with `KSPGMRES` as well. It is its own transpose.

   Matrices of multiquadrics and some other functions that grow are definite only for coefficients whose sum is zero. The
   factor is then that of a constant minus the function, which is definite, for `KSPMINRES` and `KSPGMRES`. The constant is
   a matrix of rank one and costs them an iteration or two. `KSPCG` gives an error, `PETSC_ERR_MAT_CH_ZRPVT`.

   The restricted variant is restricted additive Schwarz. The points are divided into boxes of neighbours. The matrix of a
   box and the points around it is factored, and the solution is kept at the box's own points. Then the equations of a
   sample of all points, the coarse points, are solved for the remaining residual. Any kernel function works, with
   `MatScale()`, `MatShift()` (a nugget), `MatDiagonalSet()` and `MatDiagonalScale()`. This variant is not symmetric, even
   if the matrix is: use `KSPGMRES`, for instance with -ksp_gmres_restart 100, `KSPFGMRES` or `KSPBCGS`. It has no
   transpose.

   With auto, the set-up tries the symmetric variant. It uses the restricted one if the kernel is complex, if coarse points
   are requested, or if a Cholesky factorisation fails on any rank. `KSPCG` and the like then give an error, as they do with
   the restricted variant.

   `KSPSetPCSide()` with `PC_RIGHT`, or -ksp_pc_side right, makes GMRES test the norm of b - A x. The norm of the
   preconditioned residual, its default, may be small long before. For CG use `KSPSetNormType()` with
   `KSP_NORM_UNPRECONDITIONED`.

   Iterations grow slowly with the number of points, most for kernels that decay slowly. More points around a box mean
   fewer iterations and a longer set-up. A kernel that is wide compared with the spacing of the points needs more points
   around a box, and gets them by default. A kernel that decays as fast as a Gaussian needs more than others. It has no
   coarse points by default, because it decays over less than their spacing.

   Singular kernels have a zero diagonal, unless `MatShift()` or `MatDiagonalSet()` adds the action of a point on itself.
   With a zero diagonal the matrix is indefinite, and no method converges well.

   Boxes, and thus iterations, do not depend on the ranks. Each rank gets boxes with an equal share of the points, which are
   neighbours. It stores the points in and around its boxes and the coarse points. A box of b points with p points around it
   stores b (b + p) numbers, and its set-up takes about (b + p)^3 operations.

   The restricted variant with coarse points keeps a reference to the matrix of its set-up.

   The preconditioner is set up where the points are and applied where the vectors are, on the host or on a GPU.

   Errors:
   `PETSC_ERR_ARG_WRONG` for a matrix of another type; `PETSC_ERR_SUP` for a matrix that is not square, for gradients,
   and for boxes, with the points around them, that are too large for the numbers of their entries or for a GPU;
   `PETSC_ERR_MAT_LU_ZRPVT` if the matrix of a box is singular to working precision: its condition number, of which
   the view shows an estimate, is larger than the inverse of the precision. The kernel is then too wide for its points, or
   points coincide; a smaller sigma or a nugget helps. Symmetric variant: `PETSC_ERR_MAT_CH_ZRPVT` for a matrix that is not
   symmetric and positive definite, `PETSC_ERR_SUP` for a complex kernel, `PETSC_ERR_ARG_INCOMP` for coarse points.
   Restricted variant: `PETSC_ERR_SUP` from `PCApplyTranspose()`. All on every rank.

   References:
   X.-C. Cai, M. Sarkis, A restricted additive Schwarz preconditioner for general sparse linear systems, 1999;
   R. Beatson, W. Light, S. Billings, Fast solution of the radial basis function interpolation equations: domain
   decomposition methods, 2000; R. Yokota, L. Barba, M. Knepley, PetRBF, 2010; symmetric: F. Schäfer, M. Katzfuss, H. Owhadi,
   Sparse Cholesky factorization by Kullback-Leibler minimization, 2021, eq. 2.

.seealso: `MATKERNELSUM`, `PCKernelSumSetVariant()`, `PCKernelSumSetBoxSize()`, `PCKernelSumSetOverlap()`,
          `PCKernelSumSetCoarsePoints()`, `PCASM`
M*/
#define PCKERNELSUM "kernelsum"

/*@
   PCKernelSumSetBoxSize - sets the largest number of points in a box of `PCKERNELSUM`

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  points - 1 or more; boxes have between half of it and all of it

   Options Database Key:
.  -pc_kernelsum_box <integer, 1 or more> - largest number of points in a box; default 100

   Level: intermediate

   Note:
   Takes effect at the next application.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value. Other types ignore the call.

.seealso: `PCKERNELSUM`, `PCKernelSumSetOverlap()`
@*/
PETSC_EXTERN PetscErrorCode PCKernelSumSetBoxSize(PC pc, PetscInt points);

/*@
   PCKernelSumSetOverlap - sets how many points around a box `PCKERNELSUM` solves together with it

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  points - the points nearest to the box, 0 or more, or `PETSC_DECIDE` for the default

   Options Database Key:
.  -pc_kernelsum_overlap <integer, 0 or more> - points around a box that are solved with it; default 48, 240, 384 in
                                                1-D, 2-D, 3-D; a Gaussian 64, 230, 600, a multiquadric in the symmetric
                                                variant 96, 320, 512; more where the kernel is wide

   Level: intermediate

   Note:
   Takes effect at the next application. If there are not so many points, the box is solved with all points.

   By default, a Gaussian whose σ is w >= 1 spacings of the points in a box has about 230 w^1.25 points around it in 2-D and
   600 w^1.75 in 3-D, and at most 1500 and 2000. An inverse multiquadric has 240 w^0.5 and 384 w^0.75. Other functions are
   treated like the Gaussian if they decay fast, otherwise like the inverse multiquadric, with the σ for which that function
   falls to half of its value at r = 0 where they do so or grow to twice. In the symmetric variant, functions that grow have
   320 and 512.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value. Other types ignore the call.

.seealso: `PCKERNELSUM`, `PCKernelSumSetBoxSize()`
@*/
PETSC_EXTERN PetscErrorCode PCKernelSumSetOverlap(PC pc, PetscInt points);

/*@
   PCKernelSumSetCoarsePoints - sets the number of points in the coarse space of `PCKERNELSUM`

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  points - the approximate number, at most two in each box; 0: no coarse space; `PETSC_DECIDE` for the default

   Options Database Key:
.  -pc_kernelsum_coarse <integer, 0 or more> - approximate number of coarse points; 0: no coarse space; the symmetric
                                               variant takes only 0; default one for each 50 points, at most 1000; none
                                               for a Gaussian

   Level: intermediate

   Note:
   Takes effect at the next application. Each rank stores and solves the dense matrix of the coarse points; an
   application takes their sums over all points.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value; `PETSC_ERR_ARG_INCOMP` in the set-up of the symmetric variant for
   a number other than 0. Other types ignore the call.

.seealso: `PCKERNELSUM`, `PCKernelSumSetBoxSize()`
@*/
PETSC_EXTERN PetscErrorCode PCKernelSumSetCoarsePoints(PC pc, PetscInt points);

/*E
   PCKernelSumVariant - the variants of `PCKERNELSUM`

   Values:
+  PC_KERNELSUM_AUTO       - symmetric where the matrices of all boxes are positive definite, restricted otherwise
.  PC_KERNELSUM_RESTRICTED - restricted additive Schwarz
-  PC_KERNELSUM_SYMMETRIC  - a sparse Cholesky factor of the inverse

   Level: beginner

.seealso: `PCKERNELSUM`, `PCKernelSumSetVariant()`
E*/
typedef enum {
  PC_KERNELSUM_AUTO,
  PC_KERNELSUM_RESTRICTED,
  PC_KERNELSUM_SYMMETRIC
} PCKernelSumVariant;
PETSC_EXTERN const char *const PCKernelSumVariants[];

/*@
   PCKernelSumSetVariant - sets the variant of `PCKERNELSUM`

   Logically Collective

   Input Parameters:
+  pc      - the preconditioner
-  variant - `PC_KERNELSUM_AUTO`, `PC_KERNELSUM_RESTRICTED` or `PC_KERNELSUM_SYMMETRIC`

   Options Database Key:
.  -pc_kernelsum_variant <auto|restricted|symmetric> - restricted additive Schwarz, or a symmetric preconditioner;
                                                       default auto: symmetric where the matrices of all boxes are
                                                       positive definite

   Level: intermediate

   Note:
   Takes effect at the next application.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value. Other types ignore the call.

.seealso: `PCKERNELSUM`, `PCKernelSumVariant`
@*/
PETSC_EXTERN PetscErrorCode PCKernelSumSetVariant(PC pc, PCKernelSumVariant variant);

#endif
