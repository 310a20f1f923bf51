#ifndef SHELLAC_DIFFUSION_H
#define SHELLAC_DIFFUSION_H

/* The operators -∇·(k∇u) + σu and -∇·(k∇u) + w·∇u + σu on the grid of a DMDA: diffusion, advection_diffusion. */

#include <shellac/laplace.h>

/*MC
   MATDIFFUSION - "diffusion": -∇·(k∇u) + σu on the grid of a `DMDA`, with a coefficient k that is a field or a constant,
   never assembled. Second-order central differences: the star of 3, 5 or 7 points in 1-D, 2-D or 3-D.

   Options Database Keys:
+  -mat_diffusion_coefficient <scalar, >= 0> - a constant k of -∇·(k∇u) + σu, instead of a field; a setter that is
      called later takes precedence; default 1
.  -mat_diffusion_mean <harmonic|arithmetic> - mean of the k of two points, for the face between them; without effect if
      k is given on faces; default harmonic
.  -mat_diffusion_shift <any scalar> - σ of -∇·(k∇u) + σu [k/length²]; default 0
.  -mat_diffusion_boundary <eliminated|identity|neumann|robin, or one for each side> - boundary form of the axes that
      are not periodic or mirrored; sides are x lower, x upper, y lower ...; default eliminated
.  -mat_diffusion_robin <one real, or one for each side> - α of the Robin condition ∂u/∂n + αu = g [1/length]; default
      none
.  -mat_diffusion_lengths <one real for each axis, > 0> - side lengths of the domain, one for each axis [length];
      default from the DM's coordinates, else 1
-  -mat_diffusion_halo <automatic|ipc|host> - how halos are exchanged between GPUs; default automatic

   Notes:
   k is a vector of the `DMDA`, one value at each point, or by `MatDiffusionSetFaceCoefficients()` one vector for each axis,
   with k on the faces. Of k at points, the face between two points has the harmonic or the arithmetic
   mean of their k. The harmonic mean is right for layers of different k with interfaces at the faces. The face half a spacing
   beyond the last point of an axis has k = a(1 + s(1 - s²)), s = (a - b)/(a + b), with a and b of the last two points: this
   is linear extrapolation, to second order, where k is smooth, and the last point's k where it jumps. At a mirrored end the
   face has the mean of the last point's k and its neighbour's.

   Boundary forms, side lengths, their options and setters are those of `MATLAPLACE`: `MatLaplaceSetBoundaries()`,
   `MatLaplaceSetRobin()`, `MatLaplaceSetLengths()`. The Robin condition is ∂u/∂n + αu = g, without k, and the datum of
   neumann is ∂u/∂n = g. `MatLaplaceAddBoundary()` and `MatLaplaceSetRightHandSide()` take the data. Solutions are of second
   order where k is smooth.

   The operator is symmetric where no side has identity rows or is mirrored.

   The rows are filled at `MatSetUp()`, on the GPU where k is there, and stored as those of a `MATSTENCILSHELL` are: without column indices,
   and equal rows once. The operator keeps a reference to k. After a change of k's values the next collective operation of
   the matrix, such as `MatMult()` or `MatGetDiagonalBlock()`, fills the rows anew, on all ranks where the values of one have changed. Solvers see the change when they are set up after it:
   `MatAssemblyBegin()` and `MatAssemblyEnd()`, or `MatDiffusionSetCoefficient()` with the same k, tell them before
   `KSPSolve()`. Rows are filled as an assembly would: a `MatScale()`, `MatShift()` or `MatZeroRows()` is to be repeated
   after a setter; without a setter, a change of k after one of these is an error. Duplicates refer to the same k.

   `PCSTENCILMG` solves with jumps of k. `PCMG` with the program's `DMDA`s works where `KSPSetComputeOperators()` gives each
   level's matrix a k on that level's grid; the program restricts k. Without it a coarse matrix has k = 1.

   Level: beginner

   Source:
   S. V. Patankar, Numerical Heat Transfer and Fluid Flow, 1980, chapter 4.

.seealso: `MatCreateDiffusion()`, `MatDiffusionSetCoefficient()`, `MATADVECTIONDIFFUSION`, `MATLAPLACE`
M*/
#define MATDIFFUSION "diffusion"

/*MC
   MATADVECTIONDIFFUSION - "advection_diffusion": -∇·(k∇u) + w·∇u + σu on the grid of a `DMDA`, never assembled; k and the
   velocity w are fields or constants. Not symmetric. All that `MATDIFFUSION` says of k, boundaries and changes holds here,
   too, and for changes of w.

   Options Database Keys:
+  -mat_advection_diffusion_velocity <one real for each axis> - a constant velocity w, instead of a field; a setter that
      is called later takes precedence; default 0
.  -mat_advection_diffusion_scheme <central|upwind> - differences of w·∇u: of second or first order; default central
.  -mat_advection_diffusion_coefficient <scalar, >= 0> - a constant k of -∇·(k∇u) + w·∇u + σu, instead of a field; a
      setter that is called later takes precedence; default 1
.  -mat_advection_diffusion_mean <harmonic|arithmetic> - mean of the k of two points, for the face between them; without
      effect if k is given on faces; default harmonic
.  -mat_advection_diffusion_shift <any scalar> - σ of -∇·(k∇u) + w·∇u + σu [k/length²]; default 0
.  -mat_advection_diffusion_boundary <eliminated|identity|neumann|robin, or one for each side> - boundary form of the
      axes that are not periodic or mirrored; sides are x lower, x upper, y lower ...; default eliminated
.  -mat_advection_diffusion_robin <one real, or one for each side> - α of the Robin condition ∂u/∂n + αu = g [1/length];
      default none
.  -mat_advection_diffusion_lengths <one real for each axis, > 0> - side lengths of the domain, one for each axis
      [length]; default from the DM's coordinates, else 1
-  -mat_advection_diffusion_halo <automatic|ipc|host> - how halos are exchanged between GPUs; default automatic

   Notes:
   `central` differences are of second order. Their solutions oscillate where |w|h > 2k. Differences to the side that the
   velocity comes from (`upwind`) are of first order, and the operator is then an M-matrix.

   Level: beginner

   Source:
   R. Courant, E. Isaacson and M. Rees, On the solution of nonlinear hyperbolic differential equations by finite differences,
   Communications on Pure and Applied Mathematics 5, 1952.

.seealso: `MatCreateAdvectionDiffusion()`, `MatAdvectionDiffusionSetVelocity()`, `MatAdvectionDiffusionSetScheme()`,
          `MATDIFFUSION`
M*/
#define MATADVECTIONDIFFUSION "advection_diffusion"

/*E
   MatDiffusionMeanType - the mean of the k of two points that the face between them has

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
   MatAdvectionDiffusionSchemeType - the differences of w·∇u in a `MATADVECTIONDIFFUSION`

   Values:
+  `MAT_ADVECTION_DIFFUSION_CENTRAL` - central, of second order
-  `MAT_ADVECTION_DIFFUSION_UPWIND`  - to the side that w comes from, of first order

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
   The operator keeps a reference to k. After `MatSetUp()` all rows are filled anew, and what `MatScale()`,
   `MatZeroRows()` and others changed is undone. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_NULL` for a null k, `PETSC_ERR_ARG_SIZ` for another layout or a vector of a `DMDA` with another distribution
   of its points, `PETSC_ERR_ARG_OUTOFRANGE` for a value that is not finite or, for harmonic means, not positive (of complex values, the real part); on all ranks, and nothing is changed.
   Before `MatSetUp()`, the values are read and checked there.

.seealso: `MATDIFFUSION`, `MatDiffusionSetConstant()`, `MatDiffusionSetMean()`
@*/
PETSC_EXTERN PetscErrorCode MatDiffusionSetCoefficient(Mat A, Vec k);

/*@
   MatDiffusionSetFaceCoefficients - sets k of a `MATDIFFUSION` or `MATADVECTIONDIFFUSION` on the faces between points, before
   or after `MatSetUp()`

   Collective

   Input Parameters:
+  A - the operator
.  n - the number of vectors: the dimension of the `DMDA`
-  k - for each axis a global vector of the operator's `DMDA`: its value at a point is k on the face between that point and
       the one before it along the axis; on the host or on a GPU

   Level: intermediate

   Notes:
   The value at the first point of an axis is that of the face before it. The face beyond the last point of an axis that is
   not periodic has k extrapolated from the last two faces, as far as k is smooth there. Faces beside a mirror have the k of
   their mirror images. `MatDiffusionSetMean()` has no effect. The rest is as for `MatDiffusionSetCoefficient()`.

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
+  -mat_diffusion_coefficient <scalar, >= 0>           - a constant k of -∇·(k∇u) + σu, instead of a field; a setter
                                                         that is called later takes precedence; default 1
-  -mat_advection_diffusion_coefficient <scalar, >= 0> - a constant k of -∇·(k∇u) + w·∇u + σu, instead of a field; a
                                                         setter that is called later takes precedence; default 1

   Level: beginner

   Note:
   See `MatDiffusionSetCoefficient()`. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where k is negative or not finite; nothing is changed then.

.seealso: `MATDIFFUSION`, `MatDiffusionSetCoefficient()`
@*/
PETSC_EXTERN PetscErrorCode MatDiffusionSetConstant(Mat A, PetscScalar k);

/*@
   MatDiffusionSetMean - sets which mean of the k of two points the face between them has, before or after `MatSetUp()`

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
   After `MatSetUp()` the rows are filled anew, as by `MatDiffusionSetCoefficient()`. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an unknown mean, or harmonic where k at points is not positive; nothing is changed then.

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
   After `MatSetUp()` the rows are filled anew, as by `MatDiffusionSetCoefficient()`. Identity rows do not contain σ. Mats
   of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where sigma is not finite; nothing is changed then.

.seealso: `MATDIFFUSION`
@*/
PETSC_EXTERN PetscErrorCode MatDiffusionSetShift(Mat A, PetscScalar sigma);

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
.  n - how many components are given: the dimension of the grid
-  w - the components [k/length]; array of size n

   Options Database Key:
.  -mat_advection_diffusion_velocity <one real for each axis> - a constant velocity w, instead of a field; a setter that
                                                                is called later takes precedence; default 0

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
