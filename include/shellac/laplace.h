#ifndef SHELLAC_LAPLACE_H
#define SHELLAC_LAPLACE_H

/* The operators -Δu and -Δu + σu on the grid of a DMDA: laplace, helmholtz. */

#include <petscdmda.h>
#include <petscmat.h>

/*MC
   MATLAPLACE - "laplace": the negative Laplace operator -Δu on the grid of a `DMDA`, never assembled.
   Second-order central differences: the star of 3, 5 or 7 points in 1-D, 2-D or 3-D; or a box of 9 or 27 points, of fourth
   order.

   Options Database Keys:
+  -mat_laplace_boundary <eliminated|identity|neumann|robin, or one for each side> - boundary form of the axes that are
      not periodic or mirrored; sides are x lower, x upper, y lower ...; default eliminated
.  -mat_laplace_robin <one real, or one for each side> - α of the Robin condition ∂u/∂n + αu = g [1/length]; default
      none
.  -mat_laplace_shape <star|box> - stencil: of second order, or a box of 9 or 27 points of fourth order; default star
.  -mat_laplace_mask <a formula, as x^2+y^2<0.1> - points are solid where it is not zero; default none
.  -mat_laplace_wall <noflux|value> - what holds at the faces of solid points: no flux through them, or given values of
      u; default noflux
.  -mat_laplace_lengths <one real for each axis, > 0> - side lengths of the domain, one for each axis [length]; default
      from the DM's coordinates, else 1
-  -mat_laplace_halo <automatic|ipc|nccl|mpi|host> - how halos are exchanged between GPUs; default automatic

   Boundary forms of a side. An axis of N points and length L [length] has h = L/(N - 1 + a + b), where a and b are the
   numbers of its two ends in this list:
+  eliminated - 1: the unknowns are the interior nodes; Dirichlet values are eliminated. Symmetric.
.  identity   - 0: the grid has nodes on the boundary; their rows are the identity. Not symmetric.
.  neumann    - 1/2: the unknowns are cell averages; the flux through the end is zero. Symmetric. If all sides are neumann,
                the matrix has the constants as attached null space.
-  robin      - 1/2: ∂u/∂n + αu = g at the end. Symmetric.
   The operator has homogeneous conditions; `MatLaplaceAddBoundary()` and `MatLaplaceSetRightHandSide()` apply the
   data. An axis with `DM_BOUNDARY_PERIODIC` is periodic, h = L/N; one with `DM_BOUNDARY_MIRROR` has its symmetry planes on
   the end nodes, h = L/(N-1), and is not symmetric. `DM_BOUNDARY_TWIST` is an error.

   Notes:
   If the `DMDA` has coordinates and no lengths are given, h is the distance between nodes, and the boundary form
   determines the position of the boundary relative to the end nodes. If lengths are given, the domain begins at 0, and
   the coordinates have no effect.

   The spacing of an axis of one point follows from its length, 1 by default, because coordinates do not determine
   it.

   `MatDiffusionSetMask()` makes points solid, with the shape star.

   Vectors may be on the host or on a CUDA device. The product is computed where they are. If some of the vectors of an
   operation are on the host, the rank computes on the host.

   Halos are exchanged between two GPUs of one host by CUDA IPC, otherwise through pinned host buffers and MPI
   (automatic). `ipc` also uses IPC for ranks that share a GPU, which is slow; `host` never uses it.

   `MatSOR()` sweeps in red-black order: forward is red, then black (red: the sum of a point's indices is even), backward is
   black, then red. A box of 9 or 27 points has 4 or 8 colours, by the parities of the indices along each axis. The sweep
   is over the whole grid on any number of ranks, also for the LOCAL variants.

   `PCLU`, `PCCHOLESKY`, `PCILU`, `PCICC`, `PCBJACOBI`, `PCASM` and others that need entries work on a `MATAIJ`, which is
   made on the host when they first ask for entries. PETSc's default preconditioner is one of them: an incomplete
   factorisation on one rank (ICC if the operator is symmetric), block Jacobi on several. -pc_type jacobi, sor and none
   store nothing.

   `MatSetValues()` with `INSERT_VALUES` compares the values with the operator and stores nothing. A program that assembles
   the same operator runs unchanged; a program that assembles another one gets an error in `MatAssemblyEnd()`, on all ranks.
   `MatSetPreallocationCOO()` is an error.

   `MatTranspose()` makes an operator of the same type. `MatZeroRows()`, `MatDiagonalScale()`, `MatDiagonalSet()` and
   sums with other operators of the same grid and stencil may give each point a row of its own, which is stored as in a
   `MATSTENCILSHELL`. `MatLoad()` and `PCGAMG` are errors; assemble into a `MATAIJ` for them.

   Level: beginner

   Source:
   L. Collatz, The Numerical Treatment of Differential Equations, 1960, table VI.

.seealso: `MATHELMHOLTZ`, `MatCreateLaplace()`, `MatLaplaceSetBoundaries()`, `MatLaplaceSetShape()`, `MatLaplaceSetLengths()`
M*/
#define MATLAPLACE "laplace"

/*MC
   MATHELMHOLTZ - "helmholtz": the modified Helmholtz operator -Δu + σu on the grid of a `DMDA`, never assembled.
   The notes of `MATLAPLACE` hold here, too. Identity rows do not contain σ.

   Options Database Keys:
+  -mat_helmholtz_shift <any scalar> - σ of -Δu + σu [1/length²]; default 0
.  -mat_helmholtz_omega <any scalar> - sets σ = +ω²; waves have -mat_helmholtz_shift -k²; give one of the two; default 0
.  -mat_helmholtz_boundary <eliminated|identity|neumann|robin, or one for each side> - boundary form of the axes that
      are not periodic or mirrored; sides are x lower, x upper, y lower ...; default eliminated
.  -mat_helmholtz_robin <one real, or one for each side> - α of the Robin condition ∂u/∂n + αu = g [1/length]; default
      none
.  -mat_helmholtz_shape <star|box> - stencil: of second order, or a box of 9 or 27 points of fourth order; default star
.  -mat_helmholtz_mask <a formula, as x^2+y^2<0.1> - points are solid where it is not zero; default none
.  -mat_helmholtz_wall <noflux|value> - what holds at the faces of solid points: no flux through them, or given values
      of u; default noflux
.  -mat_helmholtz_lengths <one real for each axis, > 0> - side lengths of the domain, one for each axis [length];
      default from the DM's coordinates, else 1
-  -mat_helmholtz_halo <automatic|ipc|nccl|mpi|host> - how halos are exchanged between GPUs; default automatic

   Level: beginner

.seealso: `MATLAPLACE`, `MatCreateHelmholtz()`, `MatHelmholtzSetShift()`
M*/
#define MATHELMHOLTZ "helmholtz"

/*E
   MatLaplaceBoundaryType - the boundary form of a Mat with a formula (`MATLAPLACE`, `MATDIFFUSION`, registered ones)

   Values:
+  `MAT_LAPLACE_ELIMINATED` - Dirichlet values that are eliminated; the unknowns are the interior nodes
.  `MAT_LAPLACE_IDENTITY`   - Dirichlet values on nodes of the grid, whose rows are the identity
.  `MAT_LAPLACE_NEUMANN`    - no flux through the end, half a spacing beyond the last point
-  `MAT_LAPLACE_ROBIN`      - ∂u/∂n + αu = 0 there; `MatLaplaceSetRobin()` sets α

   Level: beginner

.seealso: `MATLAPLACE`, `MatLaplaceSetBoundary()`
E*/
typedef enum {
  MAT_LAPLACE_ELIMINATED,
  MAT_LAPLACE_IDENTITY,
  MAT_LAPLACE_NEUMANN,
  MAT_LAPLACE_ROBIN
} MatLaplaceBoundaryType;
PETSC_EXTERN const char *const MatLaplaceBoundaryTypes[];

/*E
   MatLaplaceShapeType - the stencil of a `MATLAPLACE` or `MATHELMHOLTZ`

   Values:
+  `MAT_LAPLACE_STAR` - 3, 5 or 7 points, of second order
-  `MAT_LAPLACE_BOX`  - 9 or 27 points, of fourth order with the right-hand side of `MatLaplaceSetRightHandSide()`

   Level: intermediate

.seealso: `MATLAPLACE`, `MatLaplaceSetShape()`
E*/
typedef enum {
  MAT_LAPLACE_STAR,
  MAT_LAPLACE_BOX
} MatLaplaceShapeType;
PETSC_EXTERN const char *const MatLaplaceShapeTypes[];

/*@
   MatCreateLaplace - creates a `MATLAPLACE` on the grid of a `DMDA`, set up from the options database

   Collective

   Input Parameter:
.  da - a 1-D, 2-D or 3-D `DMDA` with one degree of freedom

   Output Parameter:
.  A - the operator, N × N for the N points of the grid, ready for `MatMult()`

   Options Database Keys:
.  see `MATLAPLACE`; -mat_type is not read

   Level: beginner

   Note:
   The options are read here, and fix the boundary forms, Robin coefficients, lengths, shape and halo type. A program that
   sets these itself creates the Mat in steps:
.vb
   MatCreate(PetscObjectComm((PetscObject)da), &A);
   MatSetDM(A, da);
   MatSetType(A, MATLAPLACE);        // after ShellacInitializePackage()
   MatLaplaceSetBoundaries(A, 4, forms);
   MatLaplaceSetRobin(A, 1, &alpha);
   MatSetFromOptions(A);             // options override what was set before
   MatSetUp(A);
.ve

   Errors:
   `PETSC_ERR_ARG_NULL` where da or A is null, `PETSC_ERR_ARG_WRONG` for another DM or non-uniform coordinates,
   `PETSC_ERR_ARG_OUTOFRANGE` for dof != 1 or lengths <= 0, `PETSC_ERR_SUP` for a twisted boundary; on every rank.

.seealso: `MATLAPLACE`, `MatCreateHelmholtz()`, `DMCreateMatrix()`
@*/
PETSC_EXTERN PetscErrorCode MatCreateLaplace(DM da, Mat *A);

/*@
   MatCreateHelmholtz - creates a `MATHELMHOLTZ` on the grid of a `DMDA`, set up from the options database

   Collective

   Input Parameters:
+  da    - a 1-D, 2-D or 3-D `DMDA` with one degree of freedom
-  sigma - σ [1/length²]; options override it

   Output Parameter:
.  A - the operator, N × N for the N points of the grid, ready for `MatMult()`

   Options Database Keys:
.  see `MATHELMHOLTZ`

   Level: beginner

   Errors:
   As `MatCreateLaplace()`; `PETSC_ERR_ARG_OUTOFRANGE` where sigma is not finite.

.seealso: `MATHELMHOLTZ`, `MatHelmholtzSetShift()`
@*/
PETSC_EXTERN PetscErrorCode MatCreateHelmholtz(DM da, PetscScalar sigma, Mat *A);

/*@
   MatHelmholtzSetShift - sets σ of a `MATHELMHOLTZ`, before or after `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A     - the operator
-  sigma - σ [1/length²]

   Options Database Keys:
+  -mat_helmholtz_shift <any scalar> - σ of -Δu + σu [1/length²]; default 0
-  -mat_helmholtz_omega <any scalar> - sets σ = +ω²; waves have -mat_helmholtz_shift -k²; give one of the two; default 0

   Level: beginner

   Note:
   After a `MatScale()` by a, the operator is a(-Δu + σu), also with a new σ. Mats of other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where sigma is not finite, `PETSC_ERR_ORDER` after `MatZeroRows()` or `MatDiagonalScale()`;
   nothing is changed then.

.seealso: `MATHELMHOLTZ`, `MatHelmholtzGetShift()`
@*/
PETSC_EXTERN PetscErrorCode MatHelmholtzSetShift(Mat A, PetscScalar sigma);

/*@
   MatHelmholtzGetShift - gets σ of a `MATHELMHOLTZ`, without any `MatScale()`

   Not Collective

   Input Parameter:
.  A - the operator

   Output Parameter:
.  sigma - σ [1/length²]

   Level: beginner

   Errors:
   `PETSC_ERR_SUP` for other types, `PETSC_ERR_ARG_NULL` where A or sigma is null.

.seealso: `MATHELMHOLTZ`, `MatHelmholtzSetShift()`
@*/
PETSC_EXTERN PetscErrorCode MatHelmholtzGetShift(Mat A, PetscScalar *sigma);

/*@
   MatLaplaceSetBoundary - sets the boundary form of a Mat with a formula; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A        - the operator
-  boundary - `MAT_LAPLACE_ELIMINATED` (default), `MAT_LAPLACE_IDENTITY`, `MAT_LAPLACE_NEUMANN` or `MAT_LAPLACE_ROBIN`

   Options Database Keys:
+  -mat_laplace_boundary <eliminated|identity|neumann|robin>   - boundary form of the axes that are not periodic or mirrored;
                                                           default eliminated
-  -mat_helmholtz_boundary <eliminated|identity|neumann|robin> - boundary form of the axes that are not periodic or mirrored;
                                                           default eliminated

   Level: beginner

   Errors:
   `PETSC_ERR_ORDER` after `MatSetUp()` or `MatCreateLaplace()`, which shows the order of calls. Other types ignore the call.

.seealso: `MATLAPLACE`, `MatLaplaceSetLengths()`
@*/
PETSC_EXTERN PetscErrorCode MatLaplaceSetBoundary(Mat A, MatLaplaceBoundaryType boundary);

/*@
   MatLaplaceSetBoundaries - sets the boundary form of each side of a Mat with a formula; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A     - the operator
.  n     - the number of forms: 1, for all sides, or twice the dimension of the grid
-  forms - x lower, x upper, y lower, y upper, z lower, z upper; array of size n

   Options Database Keys:
+  -mat_laplace_boundary <eliminated|identity|neumann|robin, or one for each side> - boundary form of the axes that are
      not periodic or mirrored; sides are x lower, x upper, y lower ...; default eliminated
.  -mat_helmholtz_boundary <eliminated|identity|neumann|robin, or one for each side> - boundary form of the axes that
      are not periodic or mirrored; sides are x lower, x upper, y lower ...; default eliminated
.  -mat_diffusion_boundary <eliminated|identity|neumann|robin, or one for each side> - boundary form of the axes that
      are not periodic or mirrored; sides are x lower, x upper, y lower ...; default eliminated
-  -mat_advection_diffusion_boundary <eliminated|identity|neumann|robin, or one for each side> - boundary form of the
      axes that are not periodic or mirrored; sides are x lower, x upper, y lower ...; default eliminated

   Level: intermediate

   Errors:
   `PETSC_ERR_ORDER` after `MatSetUp()`, `PETSC_ERR_ARG_OUTOFRANGE` for an unknown form or another n; `PETSC_ERR_ARG_SIZ` at
   `MatSetUp()` if n does not match the grid. Other types ignore the call.

.seealso: `MATLAPLACE`, `MatLaplaceSetBoundary()`, `MatLaplaceSetRobin()`, `MatLaplaceAddBoundary()`
@*/
PETSC_EXTERN PetscErrorCode MatLaplaceSetBoundaries(Mat A, PetscInt n, const MatLaplaceBoundaryType forms[]);

/*@
   MatLaplaceSetRobin - sets the α of the Robin condition ∂u/∂n + αu = g, n pointing outward; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A     - the operator
.  n     - the number of values: 1, for all sides, or twice the dimension of the grid
-  alpha - α of each side [1/length], in the order of `MatLaplaceSetBoundaries()`; only those of sides with
           `MAT_LAPLACE_ROBIN` have an effect; array of size n

   Options Database Keys:
+  -mat_laplace_robin <one real, or one for each side> - α of the Robin condition ∂u/∂n + αu = g [1/length]; default
      none
.  -mat_helmholtz_robin <one real, or one for each side> - α of the Robin condition ∂u/∂n + αu = g [1/length]; default
      none
.  -mat_diffusion_robin <one real, or one for each side> - α of the Robin condition ∂u/∂n + αu = g [1/length]; default
      none
-  -mat_advection_diffusion_robin <one real, or one for each side> - α of the Robin condition ∂u/∂n + αu = g [1/length];
      default none

   Level: intermediate

   Errors:
   `PETSC_ERR_ORDER` after `MatSetUp()`, `PETSC_ERR_ARG_OUTOFRANGE` for an α that is not finite. At `MatSetUp()`:
   `PETSC_ERR_ARG_INCOMP` if no side has the form robin, or if a side has it and no α is set. Other types ignore the call.

.seealso: `MATLAPLACE`, `MatLaplaceSetBoundaries()`
@*/
PETSC_EXTERN PetscErrorCode MatLaplaceSetRobin(Mat A, PetscInt n, const PetscReal alpha[]);

/*@
   MatLaplaceSetShape - sets the stencil of a `MATLAPLACE` or `MATHELMHOLTZ`; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A     - the operator
-  shape - `MAT_LAPLACE_STAR` (default) or `MAT_LAPLACE_BOX`

   Options Database Keys:
+  -mat_laplace_shape <star|box>   - stencil: of second order, or a box of 9 or 27 points of fourth order; default star
-  -mat_helmholtz_shape <star|box> - stencil: of second order, or a box of 9 or 27 points of fourth order; default star

   Level: intermediate

   Errors:
   `PETSC_ERR_ORDER` after `MatSetUp()`. Other types ignore the call.

   Source:
   L. Collatz, The Numerical Treatment of Differential Equations, 1960, chapter V; W. F. Spotz and G. F. Carey, A
   high-order compact formulation for the 3D Poisson equation, Numerical Methods for Partial Differential Equations 12,
   1996.

.seealso: `MATLAPLACE`, `MatLaplaceSetRightHandSide()`
@*/
PETSC_EXTERN PetscErrorCode MatLaplaceSetShape(Mat A, MatLaplaceShapeType shape);

/*S
   MatLaplaceSource - a function f on the domain

   Calling Sequence:
+  dim   - dimension of the grid
.  x     - a point [length]; array of size dim
.  value - f at the point (output); with several unknowns, an array of one value each
-  ctx   - the context that was given with the function

   Level: intermediate

.seealso: `MatLaplaceSetRightHandSide()`
S*/
typedef PetscErrorCode (*MatLaplaceSource)(PetscInt dim, const PetscReal x[], PetscScalar *value, void *ctx);

/*S
   MatLaplaceBoundaryData - a function g on the boundary: u itself for the forms eliminated and identity, ∂u/∂n for
   neumann, ∂u/∂n + αu for robin, n pointing outward

   Calling Sequence:
+  dim   - dimension of the grid
.  x     - a point of the boundary [length]; array of size dim
.  axis  - the axis of the side: 0, 1 or 2
.  upper - whether it is the upper side of that axis
.  value - g at the point (output); with several unknowns, an array of one value each
-  ctx   - the context that was given with the function

   Level: intermediate

.seealso: `MatLaplaceAddBoundary()`, `MatLaplaceSetRightHandSide()`
S*/
typedef PetscErrorCode (*MatLaplaceBoundaryData)(PetscInt dim, const PetscReal x[], PetscInt axis, PetscBool upper,
                                                 PetscScalar *value, void *ctx);

/*@C
   MatLaplaceAddBoundary - adds the contribution of the boundary data to a right-hand side

   Collective

   Input Parameters:
+  A   - a Mat with a formula (`MATLAPLACE`, `MATDIFFUSION`, registered ones), set up
.  g   - the data on the boundary
.  ctx - for g; may be NULL
-  b   - the right-hand side, of A's layout; without boundary data it is the f of -Δu + σu = f

   Level: intermediate

   Notes:
   Dirichlet (eliminated), Neumann and Robin data are added to the rows of the points near the boundary. In the rows of
   boundary nodes (identity), g times the row's entry replaces b. The data are those of the operator after set-up,
   multiplied by all later `MatScale()`s.

   The domain begins at the origin if side lengths are set, otherwise at the first of the DM's coordinates.

   Errors:
   `PETSC_ERR_ARG_NULL` for a null g, `PETSC_ERR_SUP` for a Mat without a formula or after `MatTranspose()`,
   `PETSC_ERR_ORDER` after `MatAXPY()`, `MatDiagonalScale()` or `MatZeroRows()`, and the error that g returns, on all
   ranks.

.seealso: `MATLAPLACE`, `MatLaplaceSetBoundaries()`, `MatLaplaceSetRightHandSide()`
@*/
PETSC_EXTERN PetscErrorCode MatLaplaceAddBoundary(Mat A, MatLaplaceBoundaryData g, void *ctx, Vec b);

/*@C
   MatLaplaceSetRightHandSide - sets the right-hand side of -Δu + σu = f with its boundary data

   Collective

   Input Parameters:
+  A   - a Mat with a formula (`MATLAPLACE`, `MATDIFFUSION`, registered ones), set up
.  f   - the source; called at the grid's points and, for the shape box, at their neighbours beyond the ends of axes
         that are not periodic or mirrored
.  g   - the data on the boundary; NULL for zero
.  ctx - for f and g; may be NULL
-  b   - the right-hand side, of A's layout; overwritten

   Level: intermediate

   Note:
   For the shape box it is f + Σ h_a²/12 δ²_a f, with δ² the second difference along an axis. The solution is then of
   fourth order if all sides are eliminated, identity or periodic, and of second order otherwise.

   Errors:
   As for `MatLaplaceAddBoundary()`; `PETSC_ERR_ARG_NULL` for a g that is NULL on some ranks only.

.seealso: `MATLAPLACE`, `MatLaplaceAddBoundary()`, `MatLaplaceSetShape()`
@*/
PETSC_EXTERN PetscErrorCode MatLaplaceSetRightHandSide(Mat A, MatLaplaceSource f, MatLaplaceBoundaryData g, void *ctx,
                                                       Vec b);

/*@
   MatLaplaceSetLengths - sets the side lengths of the domain of a Mat with a formula; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A       - the operator
.  dim     - the number of lengths: the dimension of the grid, 1 to 3
-  lengths - side lengths of the domain along x, y and z [length]; > 0 and finite; array of size dim

   Options Database Keys:
+  -mat_laplace_lengths <one real for each axis, > 0> - side lengths of the domain, one for each axis [length]; default
      from the DM's coordinates, else 1
.  -mat_helmholtz_lengths <one real for each axis, > 0> - side lengths of the domain, one for each axis [length];
      default from the DM's coordinates, else 1
.  -mat_diffusion_lengths <one real for each axis, > 0> - side lengths of the domain, one for each axis [length];
      default from the DM's coordinates, else 1
-  -mat_advection_diffusion_lengths <one real for each axis, > 0> - side lengths of the domain, one for each axis
      [length]; default from the DM's coordinates, else 1

   Level: beginner

   Note:
   The domain is then [0, Lx] x [0, Ly] x [0, Lz], and the DM's coordinates have no effect. Without lengths, the points are
   those of the DM's coordinates; without coordinates, the domain is the unit interval, square or cube.

   Errors:
   `PETSC_ERR_ORDER` after `MatSetUp()`, `PETSC_ERR_ARG_OUTOFRANGE` for a length that is not positive and finite or a
   dim that is not 1, 2 or 3, `PETSC_ERR_ARG_NULL` where lengths is null; `PETSC_ERR_ARG_SIZ` at `MatSetUp()` where dim
   is not the grid's dimension. Other types ignore the call.

.seealso: `MATLAPLACE`, `MatLaplaceSetBoundary()`
@*/
PETSC_EXTERN PetscErrorCode MatLaplaceSetLengths(Mat A, PetscInt dim, const PetscReal lengths[]);

#endif
