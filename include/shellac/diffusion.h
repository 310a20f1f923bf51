#ifndef SHELLAC_DIFFUSION_H
#define SHELLAC_DIFFUSION_H

/* The operators -∇·(k∇u) + σu and -∇·(k∇u) + w·∇u + σu on the grid of a DMDA: diffusion, advection_diffusion. */

#include <shellac/laplace.h>

/*MC
   MATDIFFUSION - "diffusion": -∇·(k∇u) + σu on the grid of a `DMDA`, with a coefficient k that is a field or a constant.
   Second-order central differences: the star of 3, 5 or 7 points in 1-D, 2-D or 3-D.

   Options Database Keys:
+  -mat_diffusion_coefficient <scalar, >= 0> - a constant k of -∇·(k∇u) + σu, in place of a field that was given before;
      a setter that is called later takes precedence; default 1
.  -mat_diffusion_mean <harmonic|arithmetic> - mean of the k of two points, for the face between them; without effect if
      k is given on faces; default harmonic
.  -mat_diffusion_shift <any scalar> - σ of -∇·(k∇u) + σu [k/length²]; default 0
.  -mat_diffusion_mask <a formula, as x^2+y^2<0.1> - points are solid where it is not zero; default none
.  -mat_diffusion_wall <noflux|value> - what holds at the faces of solid points: no flux through them, or given values
      of u; default noflux
.  -mat_diffusion_boundary <eliminated|identity|neumann|robin, or one for each side> - boundary form of the axes that
      are not periodic or mirrored; sides are x lower, x upper, y lower ...; default eliminated
.  -mat_diffusion_robin <one real, or one for each side> - α of the Robin condition ∂u/∂n + αu = g [1/length]; default
      none
.  -mat_diffusion_lengths <one real for each axis, > 0> - side lengths of the domain, one for each axis [length];
      default from the DM's coordinates, else 1
-  -mat_diffusion_halo <automatic|ipc|nccl|mpi|host> - how halos are exchanged between GPUs; default automatic

   Notes:
   k is a vector of the `DMDA`, one value at each point, or by `MatDiffusionSetFaceCoefficients()` one vector for each axis,
   with k on the faces. If k is given at points, the face between two points has the harmonic or the arithmetic
   mean of their k. The harmonic mean is right for layers of different k with interfaces at the faces. The face half a
   spacing beyond the last point of an axis has k = a(1 + s(1 - s²)), s = (a - b)/(a + b), where a and b are k at the
   last point and the point before it. This is linear extrapolation, to second order, if k is smooth, and about a if k
   jumps. At a mirrored end the face has the mean of k at the last point and its neighbour.

   Boundary forms, side lengths, their options and setters are those of `MATLAPLACE`: `MatLaplaceSetBoundaries()`,
   `MatLaplaceSetRobin()`, `MatLaplaceSetLengths()`. The Robin condition is ∂u/∂n + αu = g, without k, and the datum of
   neumann is ∂u/∂n = g. `MatLaplaceAddBoundary()` and `MatLaplaceSetRightHandSide()` apply the data. Solutions are of second
   order if k is smooth.

   `MatDiffusionSetMask()` makes points solid: obstacles, or the grains of a porous medium. The operator is symmetric if no side
   has identity rows or is mirrored.

   The rows are computed at `MatSetUp()`, on the GPU if k is there, and stored as in a `MATSTENCILSHELL`: without column
   indices, and equal rows once. The operator keeps a reference to k. If the values of k have changed on any rank, the next
   collective operation of the matrix, such as `MatMult()` or `MatGetDiagonalBlock()`, computes the rows again on all ranks.
   `PCSTENCILMG`, `PCLU` and `PCILU` follow in the next `KSPSolve()`. For other preconditioners, and for `KSPCHEBYSHEV`,
   which estimates eigenvalues, call `MatAssemblyBegin()` and `MatAssemblyEnd()`, or `MatDiffusionSetCoefficient()` with the
   same k, after the change. Otherwise these use the old operator: a Krylov method takes more iterations, and `KSPPREONLY`
   returns the solution of the old operator. New rows do not include an earlier `MatScale()`, `MatShift()` or
   `MatZeroRows()`: repeat it after a setter. Without a setter, a change of k after one of these is an error. Duplicates
   refer to the same k.

   `PCSTENCILMG` solves with jumps of k. `PCMG` with the program's `DMDA`s works if the program restricts k and sets it in
   `KSPSetComputeOperators()` for each level, and the mask likewise. Otherwise a coarse matrix has k = 1 and no solid points.

   Level: beginner

   Source:
   S. V. Patankar, Numerical Heat Transfer and Fluid Flow, 1980, chapter 4.

.seealso: `MatCreateDiffusion()`, `MatDiffusionSetCoefficient()`, `MATADVECTIONDIFFUSION`, `MATLAPLACE`
M*/
#define MATDIFFUSION "diffusion"

/*MC
   MATADVECTIONDIFFUSION - "advection_diffusion": -∇·(k∇u) + w·∇u + σu on the grid of a `DMDA`; k and the velocity
   w are fields or constants. Not symmetric. The notes of `MATDIFFUSION` about k, boundaries and changes hold here,
   too, and also for changes of w.

   Options Database Keys:
+  -mat_advection_diffusion_velocity <one real for each axis> - a constant velocity w, in place of a field that was
      given before; a setter that is called later takes precedence; default 0
.  -mat_advection_diffusion_scheme <central|upwind> - differences of w·∇u: of second or first order; default central
.  -mat_advection_diffusion_coefficient <scalar, >= 0> - a constant k of -∇·(k∇u) + w·∇u + σu, in place of a field that
      was given before; a setter that is called later takes precedence; default 1
.  -mat_advection_diffusion_mean <harmonic|arithmetic> - mean of the k of two points, for the face between them; without
      effect if k is given on faces; default harmonic
.  -mat_advection_diffusion_shift <any scalar> - σ of -∇·(k∇u) + w·∇u + σu [k/length²]; default 0
.  -mat_advection_diffusion_mask <a formula, as x^2+y^2<0.1> - points are solid where it is not zero; default none
.  -mat_advection_diffusion_wall <noflux|value> - what holds at the faces of solid points: no flux through them, or
      given values of u; default noflux
.  -mat_advection_diffusion_boundary <eliminated|identity|neumann|robin, or one for each side> - boundary form of the
      axes that are not periodic or mirrored; sides are x lower, x upper, y lower ...; default eliminated
.  -mat_advection_diffusion_robin <one real, or one for each side> - α of the Robin condition ∂u/∂n + αu = g [1/length];
      default none
.  -mat_advection_diffusion_lengths <one real for each axis, > 0> - side lengths of the domain, one for each axis
      [length]; default from the DM's coordinates, else 1
-  -mat_advection_diffusion_halo <automatic|ipc|nccl|mpi|host> - how halos are exchanged between GPUs; default automatic

   Notes:
   `central` differences are of second order. Their solutions oscillate if |w|h > 2k. `upwind` differences are of first
   order, and the operator is then an M-matrix.

   Level: beginner

   Source:
   R. Courant, E. Isaacson and M. Rees, On the solution of nonlinear hyperbolic differential equations by finite differences,
   Communications on Pure and Applied Mathematics 5, 1952.

.seealso: `MatCreateAdvectionDiffusion()`, `MatAdvectionDiffusionSetVelocity()`, `MatAdvectionDiffusionSetScheme()`,
          `MATDIFFUSION`
M*/
#define MATADVECTIONDIFFUSION "advection_diffusion"

/*E
   MatDiffusionMeanType - the mean of the k of two points, for the face between them

   Values:
+  `MAT_DIFFUSION_HARMONIC`   - 2/(1/a + 1/b); k must be positive
-  `MAT_DIFFUSION_ARITHMETIC` - (a + b)/2

   Level: beginner

.seealso: `MATDIFFUSION`, `MatDiffusionSetMean()`
E*/
typedef enum {
  MAT_DIFFUSION_HARMONIC,
  MAT_DIFFUSION_ARITHMETIC
} MatDiffusionMeanType;
PETSC_EXTERN const char *const MatDiffusionMeanTypes[];

/*E
   MatDiffusionWallType - what holds at the faces between solid points and others, see `MatDiffusionSetMask()`

   Values:
+  `MAT_DIFFUSION_WALL_NOFLUX` - ∂u/∂n = g, by default no flux
-  `MAT_DIFFUSION_WALL_VALUE`  - u = g, by default zero

   Level: beginner

.seealso: `MATDIFFUSION`, `MatDiffusionSetMask()`, `MatDiffusionSetWall()`
E*/
typedef enum {
  MAT_DIFFUSION_WALL_NOFLUX,
  MAT_DIFFUSION_WALL_VALUE
} MatDiffusionWallType;
PETSC_EXTERN const char *const MatDiffusionWallTypes[];

/*E
   MatAdvectionDiffusionSchemeType - the differences of w·∇u in a `MATADVECTIONDIFFUSION`

   Values:
+  `MAT_ADVECTION_DIFFUSION_CENTRAL` - central, of second order
-  `MAT_ADVECTION_DIFFUSION_UPWIND`  - upwind, of first order

   Level: beginner

.seealso: `MATADVECTIONDIFFUSION`, `MatAdvectionDiffusionSetScheme()`
E*/
typedef enum {
  MAT_ADVECTION_DIFFUSION_CENTRAL,
  MAT_ADVECTION_DIFFUSION_UPWIND
} MatAdvectionDiffusionSchemeType;
PETSC_EXTERN const char *const MatAdvectionDiffusionSchemeTypes[];

/*@
   MatCreateDiffusion - creates a `MATDIFFUSION` on the grid of a `DMDA`, set up from the options database

   Collective

   Input Parameters:
+  da - a 1-D, 2-D or 3-D `DMDA` with one degree of freedom
-  k  - the coefficient at the points, a global vector of da; the operator keeps a reference

   Output Parameter:
.  A - the operator, N × N for the N points of the grid, ready for `MatMult()`

   Options Database Keys:
.  see `MATDIFFUSION`

   Level: beginner

   Note:
   The options are read here. Setters of k, w, σ, the mean and the scheme may follow, and take precedence. Boundary forms and
   lengths are fixed: see `MatCreateLaplace()` for the order of calls.

   Errors:
   As `MatCreateLaplace()` and `MatDiffusionSetCoefficient()`.

.seealso: `MATDIFFUSION`, `MatDiffusionSetCoefficient()`
@*/
PETSC_EXTERN PetscErrorCode MatCreateDiffusion(DM da, Vec k, Mat *A);

/*@
   MatDiffusionSetCoefficient - sets k of a `MATDIFFUSION` or `MATADVECTIONDIFFUSION` as a field, before or after
   `MatSetUp()`

   Collective

   Input Parameters:
+  A - the operator
-  k - the coefficient at the points, a global vector of the operator's `DMDA`; on the host or on a GPU

   Level: beginner

   Notes:
   The operator keeps a reference to k. After `MatSetUp()` all rows are computed again, without earlier changes by
   `MatScale()`, `MatZeroRows()` and others. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_NULL` for a null k, `PETSC_ERR_ARG_SIZ` for another layout or a vector of a `DMDA` with another
   distribution of its points, `PETSC_ERR_ARG_OUTOFRANGE` for a value that is not finite or, for harmonic means, whose
   real part is not positive; on all ranks, and nothing is changed. If it is called before `MatSetUp()`, the values are
   read and checked in `MatSetUp()`.

.seealso: `MATDIFFUSION`, `MatDiffusionSetConstant()`, `MatDiffusionSetMean()`
@*/
PETSC_EXTERN PetscErrorCode MatDiffusionSetCoefficient(Mat A, Vec k);

/*@
   MatDiffusionSetFaceCoefficients - sets k of a `MATDIFFUSION` or `MATADVECTIONDIFFUSION` on the faces between points,
   before or after `MatSetUp()`

   Collective

   Input Parameters:
+  A - the operator
.  n - the number of vectors: the dimension of the `DMDA`
-  k - for each axis a global vector of the operator's `DMDA`, on the host or on a GPU: its value at a point is k on the
       face between that point and the previous point along the axis

   Level: intermediate

   Notes:
   The value at the first point of an axis is that of the face before it. If the axis is not periodic, k on the face beyond
   the last point is extrapolated from the last two faces, as far as k is smooth there. Faces at a mirror have the k of their
   mirror images. `MatDiffusionSetMean()` has no effect. Otherwise see `MatDiffusionSetCoefficient()`.

   Errors:
   `PETSC_ERR_ARG_SIZ` for another number of vectors, and those of `MatDiffusionSetCoefficient()`; k may be of any sign.

.seealso: `MATDIFFUSION`, `MatDiffusionSetCoefficient()`, `MatDiffusionSetConstant()`
@*/
PETSC_EXTERN PetscErrorCode MatDiffusionSetFaceCoefficients(Mat A, PetscInt n, const Vec k[]);

/*@
   MatDiffusionSetConstant - sets k of a `MATDIFFUSION` or `MATADVECTIONDIFFUSION` as a constant, before or after
   `MatSetUp()`

   Collective

   Input Parameters:
+  A - the operator
-  k - the coefficient; its real part is >= 0

   Options Database Keys:
+  -mat_diffusion_coefficient <scalar, >= 0>           - a constant k of -∇·(k∇u) + σu, in place of a field that was
                                                         given before; a setter that is called later takes precedence;
                                                         default 1
-  -mat_advection_diffusion_coefficient <scalar, >= 0> - a constant k of -∇·(k∇u) + w·∇u + σu, in place of a field that
                                                         was given before; a setter that is called later takes
                                                         precedence; default 1

   Level: beginner

   Note:
   See `MatDiffusionSetCoefficient()`. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where k is negative or not finite; nothing is changed then.

.seealso: `MATDIFFUSION`, `MatDiffusionSetCoefficient()`
@*/
PETSC_EXTERN PetscErrorCode MatDiffusionSetConstant(Mat A, PetscScalar k);

/*@
   MatDiffusionSetMean - sets the mean of the k of two points, for the face between them, before or after `MatSetUp()`

   Collective

   Input Parameters:
+  A    - the operator
-  mean - `MAT_DIFFUSION_HARMONIC` (default) or `MAT_DIFFUSION_ARITHMETIC`

   Options Database Keys:
+  -mat_diffusion_mean <harmonic|arithmetic>           - mean of the k of two points, for the face between them; without
                                                         effect if k is given on faces; default harmonic
-  -mat_advection_diffusion_mean <harmonic|arithmetic> - mean of the k of two points, for the face between them; without
                                                         effect if k is given on faces; default harmonic

   Level: beginner

   Note:
   After `MatSetUp()` the rows are computed again, as by `MatDiffusionSetCoefficient()`. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an unknown mean, or for harmonic if k at a point is not positive; nothing is changed then.

.seealso: `MATDIFFUSION`, `MatDiffusionSetCoefficient()`
@*/
PETSC_EXTERN PetscErrorCode MatDiffusionSetMean(Mat A, MatDiffusionMeanType mean);

/*@
   MatDiffusionSetShift - sets σ of a `MATDIFFUSION` or `MATADVECTIONDIFFUSION`, before or after `MatSetUp()`

   Collective

   Input Parameters:
+  A     - the operator
-  sigma - σ [k/length²]

   Options Database Keys:
+  -mat_diffusion_shift <any scalar>           - σ of -∇·(k∇u) + σu [k/length²]; default 0
-  -mat_advection_diffusion_shift <any scalar> - σ of -∇·(k∇u) + w·∇u + σu [k/length²]; default 0

   Level: beginner

   Note:
   After `MatSetUp()` the rows are computed again, as by `MatDiffusionSetCoefficient()`. Identity rows do not contain σ. Mats
   of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where sigma is not finite; nothing is changed then.

.seealso: `MATDIFFUSION`
@*/
PETSC_EXTERN PetscErrorCode MatDiffusionSetShift(Mat A, PetscScalar sigma);

/*@
   MatDiffusionSetMask - sets which points of an operator by formula are solid, before or after `MatSetUp()`

   Collective

   Input Parameters:
+  A    - the operator
-  mask - zero at the points of the fluid, any other number at solid points; a global vector of the operator's `DMDA`, on the
          host or on a GPU. Or `NULL`: no point is solid

   Options Database Keys:
+  -mat_laplace_mask <a formula, as x^2+y^2<0.1>             - points are solid where it is not zero; default none
.  -mat_helmholtz_mask <a formula, as x^2+y^2<0.1>           - points are solid where it is not zero; default none
.  -mat_diffusion_mask <a formula, as x^2+y^2<0.1>           - points are solid where it is not zero; default none
-  -mat_advection_diffusion_mask <a formula, as x^2+y^2<0.1> - points are solid where it is not zero; default none

   Level: beginner

   Notes:
   A point stands for the cell of a spacing's width around it. The faces between the cells of solid points and of the
   fluid are walls, half a spacing away from the point. `MatDiffusionSetWall()` selects what holds there. Nothing
   flows through the cell of a solid point: its row is that of the identity, and k and w there are not used, unless k
   is given on faces. Then a wall has the k of its face, otherwise that of the fluid's point beside it.
   `MatLaplaceSetRightHandSide()` makes b zero at solid points, so that u is zero there. A point that no face lets
   anything through, without a shift, has a row of the identity, too, because its row would be zero.

   The data of walls are those of `MatLaplaceAddBoundary()`: their function g is called for each wall with a place inside the
   domain, half a spacing from the fluid's point. `upper` says that the solid is above the fluid.
   `MATLAPLACE` and `MATHELMHOLTZ` take a mask with the shape star, and then have the rows of `MATDIFFUSION` with k = 1.
   The operator keeps a reference to the mask and follows its changes, as it follows k: see `MATDIFFUSION`. With a
   constant k equal rows are stored once, so that a product reads one or two bytes a point besides the vectors.
   With `noflux`, parts of the fluid that are closed are singular. `PCSTENCILMG` finds and solves them if there is a
   solution. No null space is attached: see `MatSetNullSpace()`. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_SIZ` for another layout or a vector of a `DMDA` with another distribution of its points,
   `PETSC_ERR_ARG_OUTOFRANGE` for a value that is not finite; on all ranks, and nothing is changed. If it is called before
   `MatSetUp()`, the values are read and checked in `MatSetUp()`.

.seealso: `MATDIFFUSION`, `MatDiffusionSetWall()`, `MatDiffusionSetCoefficient()`, `PCSTENCILMG`
@*/
PETSC_EXTERN PetscErrorCode MatDiffusionSetMask(Mat A, Vec mask);

/*@
   MatDiffusionSetWall - sets what holds at the faces between solid points and others, before or after `MatSetUp()`

   Collective

   Input Parameters:
+  A    - the operator
-  wall - `MAT_DIFFUSION_WALL_NOFLUX` (default) or `MAT_DIFFUSION_WALL_VALUE`

   Options Database Keys:
+  -mat_laplace_wall <noflux|value>             - what holds at the faces of solid points: no flux through them, or
                                                  given values of u; default noflux
.  -mat_helmholtz_wall <noflux|value>           - what holds at the faces of solid points: no flux through them, or
                                                  given values of u; default noflux
.  -mat_diffusion_wall <noflux|value>           - what holds at the faces of solid points: no flux through them, or
                                                  given values of u; default noflux
-  -mat_advection_diffusion_wall <noflux|value> - what holds at the faces of solid points: no flux through them, or
                                                  given values of u; default noflux

   Level: beginner

   Note:
   Without effect where no point is solid, see `MatDiffusionSetMask()`. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an unknown wall; nothing is changed then.

.seealso: `MATDIFFUSION`, `MatDiffusionSetMask()`
@*/
PETSC_EXTERN PetscErrorCode MatDiffusionSetWall(Mat A, MatDiffusionWallType wall);

/*@
   MatCreateAdvectionDiffusion - creates a `MATADVECTIONDIFFUSION` on the grid of a `DMDA`, set up from the options database

   Collective

   Input Parameters:
+  da - a 1-D, 2-D or 3-D `DMDA` with one degree of freedom
.  k  - a constant coefficient; `MatDiffusionSetCoefficient()` sets a field
-  w  - the velocity: one value for each dimension at each point; the operator keeps a reference

   Output Parameter:
.  A - the operator, N × N for the N points of the grid, ready for `MatMult()`

   Options Database Keys:
.  see `MATADVECTIONDIFFUSION`

   Level: beginner

   Note:
   The options are read here. Setters of k, w, σ, the mean and the scheme may follow, and take precedence. Boundary forms and
   lengths are fixed: see `MatCreateLaplace()` for the order of calls.

   Errors:
   As `MatCreateLaplace()` and `MatAdvectionDiffusionSetVelocity()`.

.seealso: `MATADVECTIONDIFFUSION`, `MatAdvectionDiffusionSetVelocity()`
@*/
PETSC_EXTERN PetscErrorCode MatCreateAdvectionDiffusion(DM da, PetscScalar k, Vec w, Mat *A);

/*@
   MatAdvectionDiffusionSetVelocity - sets w of a `MATADVECTIONDIFFUSION` as a field, before or after `MatSetUp()`

   Collective

   Input Parameters:
+  A - the operator
-  w - the velocity at the points [k/length]: a global vector of a `DMDA` of the same grid and distribution with as many
       degrees of freedom as dimensions (`DMDACreateCompatibleDMDA()`)

   Level: beginner

   Note:
   As for k, see `MatDiffusionSetCoefficient()`. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_NULL` for a null w, `PETSC_ERR_ARG_SIZ` for another layout, `PETSC_ERR_ARG_OUTOFRANGE` for a value that is
   not finite or not real; on all ranks, and nothing is changed.

.seealso: `MATADVECTIONDIFFUSION`, `MatAdvectionDiffusionSetConstantVelocity()`, `MatAdvectionDiffusionSetScheme()`
@*/
PETSC_EXTERN PetscErrorCode MatAdvectionDiffusionSetVelocity(Mat A, Vec w);

/*@
   MatAdvectionDiffusionSetConstantVelocity - sets w of a `MATADVECTIONDIFFUSION` as a constant vector, before or after
   `MatSetUp()`

   Collective

   Input Parameters:
+  A - the operator
.  n - the number of components: the dimension of the grid
-  w - the components [k/length]; array of size n

   Options Database Key:
.  -mat_advection_diffusion_velocity <one real for each axis> - a constant velocity w, in place of a field that was
                                                                given before; a setter that is called later takes
                                                                precedence; default 0

   Level: beginner

   Note:
   As for k, see `MatDiffusionSetCoefficient()`. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_NULL` for a null array, `PETSC_ERR_ARG_OUTOFRANGE` for a component that is not finite or another n,
   `PETSC_ERR_ARG_SIZ` where n is not the dimension of the grid; nothing is changed then.

.seealso: `MATADVECTIONDIFFUSION`, `MatAdvectionDiffusionSetVelocity()`
@*/
PETSC_EXTERN PetscErrorCode MatAdvectionDiffusionSetConstantVelocity(Mat A, PetscInt n, const PetscReal w[]);

/*@
   MatAdvectionDiffusionSetScheme - sets the differences of w·∇u in a `MATADVECTIONDIFFUSION`, before or after `MatSetUp()`

   Collective

   Input Parameters:
+  A      - the operator
-  scheme - `MAT_ADVECTION_DIFFUSION_CENTRAL` (default) or `MAT_ADVECTION_DIFFUSION_UPWIND`

   Options Database Key:
.  -mat_advection_diffusion_scheme <central|upwind> - differences of w·∇u: of second or first order; default central

   Level: beginner

   Note:
   As for k, see `MatDiffusionSetCoefficient()`. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an unknown scheme; nothing is changed then.

.seealso: `MATADVECTIONDIFFUSION`
@*/
PETSC_EXTERN PetscErrorCode MatAdvectionDiffusionSetScheme(Mat A, MatAdvectionDiffusionSchemeType scheme);

#endif
