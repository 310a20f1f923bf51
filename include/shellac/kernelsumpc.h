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
                                                       in 1-D, 2-D, 3-D; a Gaussian 64, 230, 600, a multiquadric 96,
                                                       320, 512; more where the kernel is wide
.  -pc_kernelsum_coarse <integer, 0 or more>         - approximate number of coarse points; 0: no coarse space; the
                                                       symmetric variant takes only 0; default one for each 50 points,
                                                       at most 1000; none for a Gaussian
-  -pc_kernelsum_variant <auto|restricted|symmetric> - restricted additive Schwarz, or a symmetric preconditioner;
                                                       default auto: symmetric where the matrices of all boxes are
                                                       positive definite

   Level: beginner

   Notes:
   The symmetric variant is for positive definite matrices: those of Gaussians, inverse multiquadrics and many formulas, and
   of singular kernels with a diagonal that is large enough. It is a sparse Cholesky factor of the inverse: boxes in an
   order from coarse to fine, each with the points nearest to it among the boxes before. It has no coarse points. It works
   with `KSPCG`, `KSPMINRES` and the like, and with `KSPGMRES` as well. It is its own transpose.

   Multiquadrics and some other functions that grow are definite for coefficients whose sum is zero. The factor is then that
   of a constant minus the function, which is definite, for `KSPMINRES` and `KSPGMRES`; a constant is a matrix of rank one,
   and costs them an iteration or two. `KSPCG` gives an error, `PETSC_ERR_MAT_CH_ZRPVT`.

   Restricted additive Schwarz: the points are divided into boxes of neighbours; the matrix of a box and the points around
   it is factored, and the solution is kept at the box's own points. Then the equations of a sample of all points, the
   coarse ones, are solved for the residual that is left. Any kernel function works, with `MatScale()`, `MatShift()` (a
   nugget), `MatDiagonalSet()` and `MatDiagonalScale()`. This restricted variant is not symmetric, also where the matrix
   is: use `KSPGMRES`, with -ksp_gmres_restart 100 for instance, `KSPFGMRES` or `KSPBCGS`. It has no transpose.

   With auto, the set-up begins with the symmetric variant. The restricted one follows where the kernel is complex, where
   coarse points are asked for, or where a Cholesky factorisation fails on any rank. `KSPCG` and the like give an error then.

   `KSPSetPCSide()` with `PC_RIGHT`, or -ksp_pc_side right, makes GMRES test the norm of b - A x. That of the preconditioned
   residual, its default, may be small long before. `KSPSetNormType()` with `KSP_NORM_UNPRECONDITIONED` does so for CG.

   Iterations grow slowly with the number of points, most where the kernel decays slowly. More points around a box mean
   fewer iterations and a longer set-up.
   The wider a kernel that decays in units of the spacing of its points, the more of them it needs, and by default gets. One
   that decays as fast as a Gaussian needs more than others, and has no coarse points by default, because it decays before
   the next one.

   Singular kernels have zero on the diagonal, unless `MatShift()` or `MatDiagonalSet()` adds what a point does to itself.
   Without it, the matrix is indefinite, and no method converges well.

   Boxes, and thus iterations, do not depend on the ranks. Boxes are dealt out in equal shares of the points, neighbours to
   one rank, which has the points in and around its boxes and the coarse points. A box of b points with p around it stores
   b (b + p) numbers, and its set-up takes about (b + p)^3 operations.

   The restricted variant with coarse points refers to the matrix of its set-up as long as it is used.

   The preconditioner is set up where the points are and applied where the vectors are, on the host or on a GPU.

   Errors:
   `PETSC_ERR_ARG_WRONG` for a matrix of another type; `PETSC_ERR_SUP` for a matrix that is not square, for gradients,
   and for boxes, with the points around them, that are too large for the numbers of their entries or for a GPU;
   `PETSC_ERR_MAT_LU_ZRPVT` where the matrix of a box is singular to working precision: its condition number, of which
   the view shows an estimate, is larger than the inverse of the precision. The kernel is then too wide for its points, or
   points coincide. A smaller sigma or a nugget helps; `PETSC_ERR_MAT_CH_ZRPVT` where the symmetric variant meets a matrix
   that is not symmetric and positive definite, `PETSC_ERR_SUP` where it meets a complex kernel, `PETSC_ERR_ARG_INCOMP`
   where coarse points are set for it, which has none; `PETSC_ERR_SUP` from `PCApplyTranspose()` of the restricted variant.
   All on every rank.

   References:
   X.-C. Cai, M. Sarkis, A restricted additive Schwarz preconditioner for general sparse linear systems, 1999;
   R. Beatson, W. Light, S. Billings, Fast solution of the radial basis function interpolation equations: domain
   decomposition methods, 2000; R. Yokota, L. Barba, M. Knepley, PetRBF, 2010; symmetric: F. Schäfer, M. Katzfuss, H. Owhadi,
   Sparse Cholesky factorization by Kullback-Leibler minimization, 2021, eq. 2.

.seealso: `MATKERNELSUM`, `PCKernelSumSetVariant()`, `PCKernelSumSetBoxSize()`, `PCKernelSumSetOverlap()`, `PCKernelSumSetCoarsePoints()`, `PCASM`
M*/
#define PCKERNELSUM "kernelsum"

/*@
   PCKernelSumSetBoxSize - sets how many points a box of `PCKERNELSUM` has at most

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
                                                1-D, 2-D, 3-D; a Gaussian 64, 230, 600, a multiquadric 96, 320, 512;
                                                more where the kernel is wide

   Level: intermediate

   Note:
   Takes effect at the next application. Where the whole set is not larger, the box is solved with all points. By default a
   Gaussian whose σ is w > 1 spacings of the points in a box has about 230 w^1.25 points around it in 2-D and 600 w^1.75 in 3-D, 1500
   and 2000 at most: more where points are dense. Other functions count as the Gaussian, or as the inverse multiquadric, 240
   w^0.5 and 384 w^0.75, that falls to half of its value at r = 0 where they do so or grow to twice; in the symmetric
   variant those that grow have 320 and 512.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value. Other types ignore the call.

.seealso: `PCKERNELSUM`, `PCKernelSumSetBoxSize()`
@*/
PETSC_EXTERN PetscErrorCode PCKernelSumSetOverlap(PC pc, PetscInt points);

/*@
   PCKernelSumSetCoarsePoints - sets how many points the coarse space of `PCKERNELSUM` has

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  points - about as many, and not more than two in each box; 0: no coarse space; `PETSC_DECIDE` for the default

   Options Database Key:
.  -pc_kernelsum_coarse <integer, 0 or more> - approximate number of coarse points; 0: no coarse space; the symmetric
                                               variant takes only 0; default one for each 50 points, at most 1000; none
                                               for a Gaussian

   Level: intermediate

   Note:
   Takes effect at the next application. Each rank stores and solves the dense matrix of the coarse points; an
   application takes their sums over all points.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value; `PETSC_ERR_ARG_INCOMP` in the set-up of the symmetric variant, where there
   are to be coarse points. Other types ignore the call.

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
