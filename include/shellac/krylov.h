#ifndef SHELLAC_KRYLOV_H
#define SHELLAC_KRYLOV_H

/* The Krylov methods fusedcg and fusedbcgs, and stencil, which chooses one. */

#include <petscksp.h>

/*MC
   KSPFUSEDCG - "fusedcg": the conjugate gradient method, `KSPCG`, with its vector operations in few passes over memory
   and, on a GPU, its scalars there

   Options Database Key:
.  -ksp_cg_type <hermitian|symmetric> - of complex matrices, as for `KSPCG`; default hermitian

   Level: beginner

   Notes:
   Iterates, norms, monitors, convergence tests and reasons are those of `KSPCG`, up to rounding. The method is for symmetric
   or Hermitian positive definite matrices and preconditioners of any type. The preconditioner is applied from the left.
   The norms are preconditioned (default), unpreconditioned, natural and none.

   With `PCNONE` and `PCJACOBI`, an iteration is a product and three passes over the vectors, in place of six. On GPUs the
   host does not wait for an iteration: it queues those that follow, and x and the number of iterations are those at which
   the test of `KSPConvergedDefault()` is met. Several ranks do so where each has a GPU of its own on one host; these add up
   the sums over the ranks. Grids of up to 2^22 unknowns take eight iterations at a time, as a CUDA graph, if the matrix is
   one of Shellac's, on one rank or with constant coefficients; `-log_view` does not count the products inside it. The host
   waits for each iteration where it has to decide: with monitors, with other tests of convergence, with other
   preconditioners, and with a null space.

   Set-up returns `PETSC_ERR_SUP` where singular values or eigenvalues are asked for: use `KSPCG` there.

   Reference:
   M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, J. Research NBS 49, 1952,
   algorithm (3:1).

.seealso: `KSPCG`, `KSPFUSEDBCGS`, `KSPCGSetType()`, `PCSTENCILMG`, `MATLAPLACE`, `MATSTENCILSHELL`
M*/
#define KSPFUSEDCG "fusedcg"

/*MC
   KSPFUSEDBCGS - "fusedbcgs": the method BiCGStab, `KSPBCGS`, with its vector operations in few passes over memory and, on a
   GPU, its scalars there

   Level: beginner

   Notes:
   Iterates, norms, monitors, convergence tests and reasons are those of `KSPBCGS`, up to rounding. The method is for any
   matrices, symmetric or not, and preconditioners of any type. These are applied from the left, with the preconditioned norm
   (default), or from the right, with the unpreconditioned norm; either has the norm none.

   An iteration is two products, each with the preconditioner, and five passes over the vectors with three sums over the
   ranks, in place of eight passes with four. With `PCNONE`, and with `PCJACOBI` from the left, which then needs no pass of
   its own, the host does not wait for iterations where it does not for those of `KSPFUSEDCG`. Otherwise it waits once for
   each iteration.

   `KSPBuildSolution()` without a vector, in a monitor too, works from the right, where `KSPBCGS` needs one.

   Set-up returns `PETSC_ERR_SUP` where singular values or eigenvalues are asked for: use `KSPGMRES` there.

   Reference:
   H. A. van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric linear
   systems, SIAM J. Sci. Stat. Comput. 13, 1992.

.seealso: `KSPBCGS`, `KSPFUSEDCG`, `PCSTENCILMG`, `MATADVECTIONDIFFUSION`, `MATSTENCILSHELL`
M*/
#define KSPFUSEDBCGS "fusedbcgs"

/*MC
   KSPSTENCIL - "stencil": the method that goes with `PCSTENCIL`, `PCSTENCILFFT` or `PCSTENCILMG`

   Level: beginner

   Notes:
   Each solve asks the preconditioner, which is set up then, and becomes `KSPFUSEDCG` where the matrix is symmetric or
   Hermitian and definite, and `KSPFGMRES` elsewhere. Where the preconditioner is the inverse, x gets its product with the
   residual, which is computed and tested, and again where rounding left too much: mostly one application and one product.
   `KSPView()` shows the method, and why; before the first solve none is chosen. After `KSPSetFromOptions()` the options
   of the method that is taken apply.

   All norms are those of the residual b - A x: what has converged is a solution to the tolerance. `KSPFGMRES`, whose norm is
   that of its space, goes on from x where b - A x is larger. With `KSP_NORM_NONE` an inverse is applied once; one in single
   precision is an error then.

   With another type of preconditioner, with a matrix that differs from the preconditioner's, and with
   `KSPSetReusePreconditioner()`, the method is `KSPFGMRES`.

   Where the residual shrinks no more before the tolerance is met, the solve ends with `KSP_DIVERGED_BREAKDOWN`: the
   tolerance is below rounding, or b is not in the range of a singular matrix.

.seealso: `PCSTENCIL`, `PCSTENCILFFT`, `PCSTENCILMG`, `KSPFUSEDCG`, `KSPFGMRES`
M*/
#define KSPSTENCIL "stencil"

#endif
