#ifndef SHELLAC_MULTIGRID_H
#define SHELLAC_MULTIGRID_H

/* The preconditioner stencilmg. */

#include <petscpc.h>

/*MC
   PCSTENCILMG - "stencilmg": matrix-free geometric multigrid for Mats with a formula (`MATLAPLACE`, `MATHELMHOLTZ`,
   `MATDIFFUSION`, `MATADVECTIONDIFFUSION`, registered ones) and `MATSTENCILSHELL`, on the CPU and on CUDA GPUs

   Options Database Keys:
+  -pc_stencilmg_type <multiplicative|full>                 - cycles from zero, or full multigrid: one cycle on each
                                                              level, from the coarsest on; default multiplicative
.  -pc_stencilmg_cycle_type <automatic|v|w|f>               - how a cycle visits the levels; automatic: v, or f for one
                                                              unknown a point and rows that no scaling makes symmetric;
                                                              default automatic
.  -pc_stencilmg_multiplicative_cycles <integer, 1 or more> - cycles in one application; default 1
.  -pc_stencilmg_smooths <integer, 0 to 4>                  - smoothing steps before the coarse grid, and after it; 0:
                                                              3; in 3-D 2 with red_black, and 4 with variable
                                                              coefficients or several unknowns; default 0
.  -pc_stencilmg_smoother <automatic|chebyshev|red_black>   - in 3-D with constant coefficients: Jacobi steps with
                                                              Chebyshev's weights, or red-black over-relaxation;
                                                              automatic: red_black in full multigrid and F-cycles, on a
                                                              GPU if no axis is periodic; otherwise chebyshev; default
                                                              automatic
.  -pc_stencilmg_levels <integer, 0 or more>                - largest number of levels; 0: until the last one can be
                                                              solved directly; default 0
.  -pc_stencilmg_precision <double|single>                  - precision of the arithmetic in a cycle; single is for one
                                                              unknown a point; default double
.  -pc_stencilmg_fused <true|false>                         - does smoothing, residual and transfer in one pass over the
                                                              grid, where possible; default true
.  -pc_stencilmg_graph <true|false>                         - runs a cycle on GPUs as one CUDA graph on each rank, for
                                                              one unknown a point; default true
.  -pc_stencilmg_whole_points <integer, 0 or more>          - on several GPUs: each has all of a level of so many points
                                                              at most; 0: 1048576 between GPUs that write into each
                                                              other's memory, otherwise 65536; default 0
-  -pc_stencilmg_monitor <true|false>                       - prints residuals after each cycle; default false

   Level: beginner

   Notes:
   If the operator is a sum over the axes, A u = sum_a (k_a (u_i - u_{i-1}) + k_a' (u_i - u_{i+1})) / m_a + sigma u, with
   coefficients k and m along each axis (constant or stretched), only these coefficients are stored. For other operators,
   (A u)_p = sum_q c_pq (u_p - u_q) + s_p u_p over the neighbours q in the star or the box of width 1, each level stores the
   coefficients c and s and the weights of interpolation at its points. Any boundary form, any number of points and any
   number of ranks work. Rows with only a diagonal entry may be anywhere.

   With up to 8 unknowns a point, a `MATSTENCILSHELL` need not be symmetric. It must couple neighbours in the star or the
   box of width 1, and the block of a point's own unknowns must be invertible. Each unknown is interpolated linearly by
   itself. Coarse rows are the Galerkin product, lumped for pairs of unknowns that are coupled only at the same point. The
   smoother is damped point-block Jacobi, whose weights follow from eigenvalues that Arnoldi's method approximates. The
   finest level uses the matrix itself. A singular last level is solved by its pseudo-inverse. Use `KSPGMRES`, `KSPFGMRES`
   or `KSPBCGS`, or `KSPCG` if the matrix is symmetric.

   Coarse levels have every second point of the axes along which the points are strongly coupled, on average
   (semi-coarsening). The smoother is weighted Jacobi. Its weights are the inverse roots of a Chebyshev polynomial
   and are the same before and after the coarse grid. V- and W-cycles are therefore symmetric if the operator is,
   as CG requires. Full multigrid and F-cycles in three dimensions with constant coefficients use red-black
   over-relaxation: see `PCStencilMGSetSmoother()`.

   With variable coefficients, interpolation follows the coefficients: a point between coarse points gets the value
   for which its row, summed across the line between them, is zero. The coarse operator is the Galerkin product, with
   a box of 3^d points on each coarse level. CG takes a few iterations more for coefficients that jump than for smooth
   ones, and the number of iterations hardly depends on the size of the grid. Coefficients that jump from point to point
   are an exception, because no coarse grid resolves them; W-cycles help there. Set-up takes the time of about 6 cycles
   on the host, and 0.6 to 1.9 times that of a solve on a GPU. It runs on the GPU if one rank has the grid, if rows are
   symmetric, or if the grid is small: see `PCStencilMGSetWholePoints()`. Otherwise several ranks set up on the host and
   copy the levels.

   If variable coefficients change only by a factor and on the diagonal, as by `MatShift()` or for another time step, the
   levels are updated in about the time of a cycle. They are built again if a shift requires other weights of
   interpolation, in single precision, and, with several unknowns a point, unless the diagonal keeps its sign and grows.

   A matrix may be symmetric up to a scaling of its rows (mirrored ends, stretched grids, equations that are multiplied
   by a coefficient). If no scaling makes it symmetric, or only one by more than 12 orders of magnitude, as with
   convection, interpolation follows the symmetric part of the rows and restriction the transposed rows, the smoother is
   Gauss-Seidel in alternating directions, and F-cycles are the default. Use `KSPGMRES` or `KSPBCGS`, not `KSPCG`. Central
   differences of convection should have cell Peclet numbers |w| h / nu of at most 2; above that solves may diverge.

   Levels of at most 16384 unknowns are on one rank of each host, or on each GPU. The last level is solved exactly: by its
   axes' eigenvectors, of at most 36 points each (more on some GPUs); with variable coefficients by its inverse, with at most
   144 points; with several unknowns a point by its inverse, with at most 256 unknowns.

   No coarser levels are built where rows are so dominated by their diagonals, as of short time steps, that up to 4 smoothing
   steps do what a cycle does; and on a line of points with one unknown each, which is solved by elimination if one rank's
   host has it and no number of levels is given. `PCView()` says so.

   `KSPRICHARDSON` runs whole cycles in the preconditioner and takes the norm of the true residual, as with `PCMG`, from the
   first pass of a cycle. It ends with `KSP_DIVERGED_ITS` if it has not come to its tolerance. If the `KSP` has a monitor or
   the matrix a null space, PETSc computes residuals itself. `KSPPREONLY` with -pc_stencilmg_type full solves to the
   discretisation error in one application.

   sigma is that of the modified Helmholtz equation: positive, or complex. A slightly negative one works with
   `KSPFGMRES` and V-cycles. The coarse levels of a strongly indefinite operator do not approximate it: if a cycle multiplies
   a residual by more than 1000, the set-up fails.

   The matrix may be singular, with any null space: insulated ends, closed pockets among identity rows, parts of the
   grid that are not coupled. A method then solves where there is a solution.

   `PCApplyTranspose()`, as of `KSPSolveTranspose()`, `TSAdjointSolve()`, `KSPBICG` or `KSPCGNE`, is the exact
   transpose, without conjugation, of any cycle and of full multigrid. Rows that no scaling makes symmetric, and levels
   with several unknowns a point, store a transposed copy of their rows from the first such call on.

   Single precision is for corrections, by methods that need no linear preconditioner: see `PCStencilMGSetPrecision()`. With
   several unknowns a point there is no single precision, passes are not fused, and there are no CUDA graphs.

   `PCReset()` keeps the levels, because PETSc does not notify a shell. `PCDestroy()` and a change of the type free them.

   Errors:
   `PETSC_ERR_ARG_WRONG` for a matrix of another type; `PETSC_ERR_ARG_WRONGSTATE` without a matrix; `PETSC_ERR_SUP` for one
   that couples points further apart, has zeros on its diagonal, more than 8 unknowns a point, or a singular block of a
   point's own unknowns. Messages name an alternative. The solver ends with `KSP_DIVERGED_PC_FAILED` if a coefficient is
   infinite or not a number, if the last level cannot be inverted, if a cycle amplifies residuals, or if the diagonal is
   refused after the preconditioner has served other values.

   References:
   U. Trottenberg, C. W. Oosterlee, A. Schueller, Multigrid, Academic Press 2001: sections 2.4 (cycles), 2.6 (full
   multigrid), 5.1 (anisotropy), 7.2 (convection); Y. Saad, Iterative Methods for Sparse Linear Systems, 2003: section
   12.3.2 (Chebyshev); R. E. Alcouffe, A. Brandt, J. E. Dendy, J. W. Painter, The multi-grid method for the diffusion
   equation with strongly discontinuous coefficients, 1981; J. E. Dendy, Black box multigrid, 1982 (variable
   coefficients), and Black box multigrid for nonsymmetric problems, 1983; R. E. Lynch, J. R. Rice, D. H. Thomas,
   Direct solution of partial difference equations by tensor product methods, 1964 (the last level); I. Yavneh, On
   red-black SOR smoothing in multigrid, 1996.

.seealso: `MATLAPLACE`, `MATHELMHOLTZ`, `MATSTENCILSHELL`, `PCStencilMGSetType()`, `PCStencilMGSetCycleType()`,
          `PCStencilMGSetCycles()`, `PCStencilMGSetSmooths()`, `PCStencilMGSetSmoother()`, `PCStencilMGSetLevels()`,
          `PCStencilMGSetPrecision()`, `PCStencilMGSetFused()`, `PCStencilMGSetGraph()`, `PCStencilMGSetWholePoints()`,
          `PCMG`, `KSPRICHARDSON`
M*/
#define PCSTENCILMG "stencilmg"

/*E
   PCStencilMGType - what an application of `PCSTENCILMG` does

   Values:
+  `PC_STENCILMG_MULTIPLICATIVE` - cycles from zero
-  `PC_STENCILMG_FULL`           - full multigrid: one cycle on each level, from the coarsest on

   Level: intermediate

.seealso: `PCStencilMGSetType()`
E*/
typedef enum { PC_STENCILMG_MULTIPLICATIVE, PC_STENCILMG_FULL } PCStencilMGType;
PETSC_EXTERN const char *const PCStencilMGTypes[];

/*E
   PCStencilMGCycleType - how a cycle of `PCSTENCILMG` visits the levels

   Values:
+  `PC_STENCILMG_CYCLE_AUTOMATIC` - V, or F for one unknown a point and rows that no scaling makes symmetric
.  `PC_STENCILMG_CYCLE_V` - each coarse level once
.  `PC_STENCILMG_CYCLE_W` - each coarse level twice for a visit of the finer one
-  `PC_STENCILMG_CYCLE_F` - an F-cycle, then a V-cycle, on each coarse level

   Level: intermediate

.seealso: `PCStencilMGSetCycleType()`
E*/
typedef enum {
  PC_STENCILMG_CYCLE_AUTOMATIC,
  PC_STENCILMG_CYCLE_V,
  PC_STENCILMG_CYCLE_W,
  PC_STENCILMG_CYCLE_F
} PCStencilMGCycleType;
PETSC_EXTERN const char *const PCStencilMGCycleTypes[];

/*E
   PCStencilMGPrecision - the arithmetic of a cycle of `PCSTENCILMG`

   Values:
+  `PC_STENCILMG_DOUBLE` - that of `PetscScalar`
-  `PC_STENCILMG_SINGLE` - single precision, for corrections

   Level: intermediate

.seealso: `PCStencilMGSetPrecision()`
E*/
typedef enum { PC_STENCILMG_DOUBLE, PC_STENCILMG_SINGLE } PCStencilMGPrecision;
PETSC_EXTERN const char *const PCStencilMGPrecisions[];

/*E
   PCStencilMGSmoother - the smoother of `PCSTENCILMG` in three dimensions with constant coefficients

   Values:
+  `PC_STENCILMG_SMOOTHER_AUTOMATIC` - red-black in full multigrid and F-cycles, otherwise Chebyshev
.  `PC_STENCILMG_SMOOTHER_CHEBYSHEV` - weighted Jacobi steps; weights are the inverse roots of a Chebyshev polynomial
-  `PC_STENCILMG_SMOOTHER_RED_BLACK` - red-black over-relaxation

   Level: intermediate

.seealso: `PCStencilMGSetSmoother()`
E*/
typedef enum {
  PC_STENCILMG_SMOOTHER_AUTOMATIC,
  PC_STENCILMG_SMOOTHER_CHEBYSHEV,
  PC_STENCILMG_SMOOTHER_RED_BLACK
} PCStencilMGSmoother;
PETSC_EXTERN const char *const PCStencilMGSmoothers[];

/*@
   PCStencilMGSetType - chooses between cycles from zero and full multigrid for `PCSTENCILMG`

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  type - `PC_STENCILMG_MULTIPLICATIVE` (default) or `PC_STENCILMG_FULL`

   Options Database Key:
.  -pc_stencilmg_type <multiplicative|full> - cycles from zero, or full multigrid: one cycle on each level, from the
                                              coarsest on; default multiplicative

   Level: intermediate

   Note:
   It may also be called after set-up: the levels are then created again at the next application.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode PCStencilMGSetType(PC pc, PCStencilMGType type);

/*@
   PCStencilMGSetCycleType - sets how a cycle of `PCSTENCILMG` visits the levels

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  type - `PC_STENCILMG_CYCLE_AUTOMATIC` (default), `PC_STENCILMG_CYCLE_V`, `PC_STENCILMG_CYCLE_W` or
          `PC_STENCILMG_CYCLE_F`

   Options Database Key:
.  -pc_stencilmg_cycle_type <automatic|v|w|f> - how a cycle visits the levels; automatic: v, or f for one unknown a
                                                point and rows that no scaling makes symmetric; default automatic

   Level: intermediate

   Note:
   It may also be called after set-up: the levels are then created again at the next application.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode PCStencilMGSetCycleType(PC pc, PCStencilMGCycleType type);

/*@
   PCStencilMGSetCycles - sets the number of cycles in one application of `PCSTENCILMG`

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  cycles - 1 (default) or more

   Options Database Key:
.  -pc_stencilmg_multiplicative_cycles <integer, 1 or more> - cycles in one application; default 1

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode PCStencilMGSetCycles(PC pc, PetscInt cycles);

/*@
   PCStencilMGSetSmooths - sets the number of smoothing steps of `PCSTENCILMG` before the coarse grid, and after it

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  steps - 1 to 4, or 0 (default): 3; in 3-D 2 with red-black over-relaxation, and 4 with variable coefficients or
           several unknowns

   Options Database Key:
.  -pc_stencilmg_smooths <integer, 0 to 4> - smoothing steps before the coarse grid, and after it; 0: 3; in 3-D 2 with
                                             red_black, and 4 with variable coefficients or several unknowns; default 0

   Level: intermediate

   Note:
   It may also be called after set-up: the levels are then created again at the next application.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode PCStencilMGSetSmooths(PC pc, PetscInt steps);

/*@
   PCStencilMGSetSmoother - chooses the smoother of `PCSTENCILMG` in three dimensions with constant coefficients

   Logically Collective

   Input Parameters:
+  pc       - the preconditioner
-  smoother - `PC_STENCILMG_SMOOTHER_AUTOMATIC` (default), `PC_STENCILMG_SMOOTHER_CHEBYSHEV` or
              `PC_STENCILMG_SMOOTHER_RED_BLACK`

   Options Database Key:
.  -pc_stencilmg_smoother <automatic|chebyshev|red_black> - in 3-D with constant coefficients: Jacobi steps with
                                                            Chebyshev's weights, or red-black over-relaxation;
                                                            automatic: red_black in full multigrid and F-cycles, on a
                                                            GPU if no axis is periodic; otherwise chebyshev; default
                                                            automatic

   Level: intermediate

   Notes:
   It has no effect in one and two dimensions, with variable coefficients, with several unknowns a point, and on levels where
   a periodic axis has an odd number of points. `PCView()` shows each level's smoother.

   A step of red-black over-relaxation changes the points whose indices add up to an even number, then the others. In full
   multigrid and F-cycles the order of colours is the same before and after the coarse grid, which reduces errors most. In
   V- and W-cycles it is reversed after the coarse grid. These cycles are then symmetric if the operator is, as `KSPCG`
   requires; Chebyshev's weights are mostly faster for them.

   It may also be called after set-up: the levels are then created again at the next application.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode PCStencilMGSetSmoother(PC pc, PCStencilMGSmoother smoother);

/*@
   PCStencilMGSetLevels - sets the largest number of levels of `PCSTENCILMG`

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  levels - 1 or more, or 0 (default): until the last one can be solved directly

   Options Database Key:
.  -pc_stencilmg_levels <integer, 0 or more> - largest number of levels; 0: until the last one can be solved directly;
                                               default 0

   Level: intermediate

   Note:
   It may also be called after set-up: the levels are then created again at the next application.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode PCStencilMGSetLevels(PC pc, PetscInt levels);

/*@
   PCStencilMGSetPrecision - sets the precision of the arithmetic in a cycle of `PCSTENCILMG`

   Logically Collective

   Input Parameters:
+  pc        - the preconditioner
-  precision - `PC_STENCILMG_DOUBLE` (default) or `PC_STENCILMG_SINGLE`

   Options Database Key:
.  -pc_stencilmg_precision <double|single> - precision of the arithmetic in a cycle; single is for one unknown a point;
                                             default double

   Level: intermediate

   Note:
   Also after set-up. Single precision is an error for `KSPGMRES` and others, unless rtol >= 1e-6 in the preconditioned norm.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode PCStencilMGSetPrecision(PC pc, PCStencilMGPrecision precision);

/*@
   PCStencilMGSetFused - makes `PCSTENCILMG` do smoothing, residual and transfer in one pass over the grid where possible

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  fused - `PETSC_TRUE` (default), or `PETSC_FALSE` for one pass each

   Options Database Key:
.  -pc_stencilmg_fused <true|false> - does smoothing, residual and transfer in one pass over the grid, where possible;
                                      default true

   Level: developer

   Notes:
   There is such a pass for one unknown a point: in 1-D and 2-D with constant coefficients and 2 or 3 smoothing steps, on the
   CPU in the other cases, and on a GPU in 2-D with symmetric variable coefficients if one rank has the level.

   It may also be called after set-up: the levels are then created again at the next application.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode PCStencilMGSetFused(PC pc, PetscBool fused);

/*@
   PCStencilMGSetGraph - makes `PCSTENCILMG` run a cycle on GPUs as one CUDA graph on each rank

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  graph - `PETSC_TRUE` (default), or `PETSC_FALSE` for separate launches

   Options Database Key:
.  -pc_stencilmg_graph <true|false> - runs a cycle on GPUs as one CUDA graph on each rank, for one unknown a point;
                                      default true

   Level: developer

   Note:
   It may also be called after set-up: the levels are then created again at the next application.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode PCStencilMGSetGraph(PC pc, PetscBool graph);

/*@
   PCStencilMGSetWholePoints - sets up to which size each of several GPUs has all of a level of `PCSTENCILMG`

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  points - number of points; 0 (default): 1048576 between GPUs that write into each other's memory, otherwise 65536

   Options Database Key:
.  -pc_stencilmg_whole_points <integer, 0 or more> - on several GPUs: each has all of a level of so many points at most;
                                                     0: 1048576 between GPUs that write into each other's memory,
                                                     otherwise 65536; default 0

   Level: developer

   Notes:
   On larger levels a rank computes its own points and those beside them on which a visit of the level depends. GPUs exchange
   values once before each visit. A smaller level takes one GPU less time than such an exchange. With rows that are not
   symmetric, or with several unknowns a point, of which each counts as a point, each GPU has a smaller grid wholly, and of a
   larger one its own points.

   It may also be called after set-up: the levels are then created again at the next application.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ARG_NULL` for a null preconditioner. Other types ignore the call.

.seealso: `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode PCStencilMGSetWholePoints(PC pc, PetscInt points);

#endif
