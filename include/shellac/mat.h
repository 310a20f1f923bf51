#ifndef SHELLAC_MAT_H
#define SHELLAC_MAT_H

/* Shell matrices on the grid of a DMDA: laplace, helmholtz, stencil. */

#include <petscdmda.h>
#include <petscmat.h>

/*MC
   MATLAPLACE - "laplace": the negative Laplace operator -Δu on the grid of a `DMDA`, never assembled.
   Second-order central differences: the star of 3, 5 or 7 points in 1-D, 2-D or 3-D.

   Options Database Keys:
+  -mat_laplace_boundary <eliminated|identity|neumann> - boundary form of the axes that are not periodic or mirrored;
                                                         default eliminated
.  -mat_laplace_lengths <one real for each axis, > 0>  - side lengths of the domain [length]; default from the DM's
                                                         coordinates, else 1
-  -mat_laplace_halo <automatic|ipc|host>              - how halos travel between GPUs; default automatic

   Boundary forms, for an axis of N points and a domain of length L [length]:
+  eliminated - the unknowns are the interior nodes, h = L/(N+1); zero Dirichlet values are dropped. Symmetric positive
                definite.
.  identity   - the grid carries its boundary nodes, h = L/(N-1); their rows are the identity. Not symmetric.
-  neumann    - the unknowns are cell averages, h = L/N; no flux through the ends. Symmetric, constants in the null space,
                which is attached to the matrix.
   An axis with `DM_BOUNDARY_PERIODIC` is periodic, h = L/N; one with `DM_BOUNDARY_MIRROR` has its symmetry planes on the
   end nodes, h = L/(N-1), and is not symmetric. `DM_BOUNDARY_TWIST` is an error.

   Notes:
   Where the `DMDA` has coordinates and no lengths are given, h is the distance between nodes. The boundary form then
   says where the boundary is relative to the end nodes.

   The spacing of an axis of one point follows from its length, 1 by default, because coordinates do not determine
   it.

   Vectors may be on the host or on a CUDA device. The product is computed where they are. Where some of the vectors
   of an operation are on the host, a rank computes on the host.

   Between GPUs, halos travel by CUDA IPC where two ranks of one host have a GPU each, and through pinned host
   buffers and MPI otherwise (automatic). `ipc` uses IPC for ranks that share a GPU, too, which is slow; `host` never
   uses it.

   `MatSOR()` sweeps in red-black order: forward is red, then black (red: the sum of a point's indices is even), backward is
   black, then red. The sweep is over the whole grid on any number of ranks, the LOCAL variants as well.

   `PCLU`, `PCCHOLESKY`, `PCILU`, `PCICC`, `PCBJACOBI`, `PCASM` and others that need entries work through a `MATAIJ` that is
   made when they ask for it, on the host. PETSc's default, without a -pc_type, is one of them: an incomplete factorisation
   on one rank (ICC where the operator is symmetric), block Jacobi on several. -pc_type jacobi, sor and none store nothing.

   `MatSetValues()` with `INSERT_VALUES` compares the values with the operator and stores nothing: a program that assembles
   the same operator runs unchanged, one that assembles another gets an error.

   `MatTranspose()` makes an operator of the same type. `MatZeroRows()`, `MatZeroRowsColumns()`, `MatDiagonalScale()` and
   `MatLoad()`, which would give each point a row of its own, are errors, and so is `PCGAMG`; assemble into a `MATSTENCILSHELL` or
   a `MATAIJ` for them.

   Level: beginner

   Source:
   L. Collatz, The Numerical Treatment of Differential Equations, 1960, table VI.

.seealso: `MATHELMHOLTZ`, `MatCreateLaplace()`, `MatLaplaceSetBoundary()`, `MatLaplaceSetLengths()`
M*/
#define MATLAPLACE "laplace"

/*MC
   MATHELMHOLTZ - "helmholtz": the modified Helmholtz operator -Δu + σu on the grid of a `DMDA`, never assembled. All
   that `MATLAPLACE` says holds here, too. Identity rows do not contain σ.

   Options Database Keys:
+  -mat_helmholtz_shift <any scalar>                     - σ of -Δu + σu [1/length²]; default 0
.  -mat_helmholtz_omega <any scalar>                     - sets σ = ω²; not together with -mat_helmholtz_shift; default
                                                           0
.  -mat_helmholtz_boundary <eliminated|identity|neumann> - boundary form of the axes that are not periodic or mirrored;
                                                           default eliminated
.  -mat_helmholtz_lengths <one real for each axis, > 0>  - side lengths of the domain [length]; default from the DM's
                                                           coordinates, else 1
-  -mat_helmholtz_halo <automatic|ipc|host>              - how halos travel between GPUs; default automatic

   Level: beginner

.seealso: `MATLAPLACE`, `MatCreateHelmholtz()`, `MatHelmholtzSetShift()`
M*/
#define MATHELMHOLTZ "helmholtz"

/*MC
   MATSTENCILSHELL - "stencil": the operator that an application assembles on a `DMDA`, stored without a matrix. The
   application need not be changed: use -dm_mat_type stencil instead of aij.

   Options Database Keys:
+  -mat_stencil_compress <automatic|constant|indexed|arrays> - how rows are stored: in the first form that can hold
                                                               them, or in this one; default automatic
.  -mat_stencil_compress_tolerance <real, in [0, 1)>         - relative difference by which coefficients are taken for
                                                               equal; default 0
.  -mat_stencil_verify <true|false>                          - assembles an AIJ as well, and compares the two at each
                                                               assembly; default false
.  -mat_stencil_fallback <error|aij>                         - what an entry outside the DMDA's stencil leads to;
                                                               default error
-  -mat_stencil_halo <automatic|ipc|host>                    - how halos travel between GPUs; default automatic

   What is captured:
   Entries within the DMDA's stencil, star or box, of its width, in 1-D to 3-D, with blocks of dof × dof values, on
   all but `DM_BOUNDARY_TWIST`. They may be set by `MatSetValuesStencil()`, `MatSetValuesLocal()`, `MatSetValues()`
   and their blocked variants, with `INSERT_VALUES` or `ADD_VALUES`, from any rank, as often as the application
   assembles; and by `MatZeroRows()`, `MatZeroRowsColumns()` and finite differences by colouring (`MatFDColoring`).

   How rows are stored, decided by each rank at `MatAssemblyEnd()`:
+  constant - one row for each distance to the ends of the domain. All points that are farther from an end than the
              stencil's width + 1 have the same row.
.  indexed  - the different rows, of which there are few, and 1 or 2 bytes a point.
-  arrays   - one array of coefficients for each slot (an arm, a row and a column of its block) that is not zero everywhere;
              no column indices.
   With a tolerance of 0, entries are exact, and products differ from those of an AIJ by the rounding of a sum in
   another order.

   Notes:
   Solvers: `PCJACOBI`, `PCPBJACOBI`, `PCSOR`, `PCEISENSTAT`, `PCMG` with the program's hierarchy, Chebyshev and all
   KSPs work on the captured form. Factorisations (`PCLU`, `PCILU`, `PCICC`, `PCBJACOBI`, `PCASM`), `PCFIELDSPLIT`,
   `PCREDUNDANT` and Galerkin products take their entries from a `MATAIJ` that is made when they first ask for it;
   the view says when there is one. PETSc's default without a -pc_type is one of these, as for an AIJ: ILU or ICC on
   one rank, block Jacobi on several. `PCGAMG` needs a matrix: -dm_mat_type aij.

   `MatLoad()` reads a file that an AIJ wrote. Where `DMCreateMatrix()` has made the matrix on several ranks, call
   `MatZeroEntries()` first.

   `MatSOR()` on host vectors sweeps in the order of an AIJ's rows, within a rank, and solves the blocks of points
   with up to 5 values, as the inodes of an AIJ do. Iteration counts are therefore those of an AIJ, up to rounding.
   On a GPU it sweeps over the whole grid by colours: red and black for a star of width 1, (width + 1)^dim colours
   otherwise.

   On CUDA vectors, `DMCoarsen()` gives the coarse `DMDA` the Mat type aijcusparse until `DMRestrict()`, so that
   `DMCreateInterpolation()` makes a matrix for the GPU.

   `MatFDColoring` is served with its options; settings by `MatFDColoringSetParameters()` or `MatFDColoringSetType()`
   have no effect.

   Assembly, differences by colouring, `MatDiagonalSet()`, `MatDiagonalScale()`, `MatZeroRows()`, sums of different forms,
   norms, `MatGetRow()`, point blocks (`PCPBJACOBI`) and the transpose, which is made once for the first transposed product,
   go through the host. Other operations stay where the vectors are.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` at `MatAssemblyEnd()` for an entry outside the stencil, with its row and column, on every rank;
   `PETSC_ERR_ARG_WRONGSTATE` for a form that cannot hold the rows, or a Mat without a `DMDA`; `PETSC_ERR_SUP` for a twisted
   boundary.

   Level: beginner

.seealso: `MatStencilShellSetCompression()`, `MatStencilShellSetTolerance()`, `MatStencilShellSetFallback()`,
          `MatStencilShellSetVerify()`, `MATLAPLACE`, `DMSetMatType()`, `DMCreateMatrix()`, `MatSetValuesStencil()`
M*/
#define MATSTENCILSHELL "stencil"

/*E
   MatLaplaceBoundaryType - the boundary form of a `MATLAPLACE` or `MATHELMHOLTZ`

   Level: beginner

.seealso: `MATLAPLACE`, `MatLaplaceSetBoundary()`
E*/
typedef enum {
  MAT_LAPLACE_ELIMINATED,
  MAT_LAPLACE_IDENTITY,
  MAT_LAPLACE_NEUMANN
} MatLaplaceBoundaryType;
PETSC_EXTERN const char *const MatLaplaceBoundaryTypes[];

/*E
   MatHaloType - how a `MATLAPLACE`, `MATHELMHOLTZ` or `MATSTENCILSHELL` exchanges halos between GPUs

   Values:
+  `MAT_HALO_AUTOMATIC` - CUDA IPC between ranks of one host that have a GPU each, pinned host buffers and MPI otherwise
.  `MAT_HALO_IPC`       - CUDA IPC between all ranks of one host, also those that share a GPU, which is slow
-  `MAT_HALO_HOST`      - pinned host buffers and MPI

   Level: advanced

.seealso: `MatSetHaloType()`
E*/
typedef enum {
  MAT_HALO_AUTOMATIC,
  MAT_HALO_IPC,
  MAT_HALO_HOST
} MatHaloType;
PETSC_EXTERN const char *const MatHaloTypes[];

/*E
   MatStencilShellCompressionType - how a `MATSTENCILSHELL` stores its rows

   Values:
+  `MAT_STENCILSHELL_AUTOMATIC` - the first of the following forms that can hold them
.  `MAT_STENCILSHELL_CONSTANT`  - the coefficients of each distance to the ends of the domain
.  `MAT_STENCILSHELL_INDEXED`   - the coefficients of each kind of row, and 1 or 2 bytes a point
-  `MAT_STENCILSHELL_ARRAYS`    - one array of coefficients for each slot of the stencil

   Level: intermediate

.seealso: `MATSTENCILSHELL`, `MatStencilShellSetCompression()`
E*/
typedef enum {
  MAT_STENCILSHELL_AUTOMATIC,
  MAT_STENCILSHELL_CONSTANT,
  MAT_STENCILSHELL_INDEXED,
  MAT_STENCILSHELL_ARRAYS
} MatStencilShellCompressionType;
PETSC_EXTERN const char *const MatStencilShellCompressionTypes[];

/*E
   MatStencilShellFallbackType - what an entry outside the `DMDA`'s stencil leads to in a `MATSTENCILSHELL`

   Values:
+  `MAT_STENCILSHELL_FALLBACK_ERROR` - an error at `MatAssemblyEnd()`
-  `MAT_STENCILSHELL_FALLBACK_AIJ`   - the matrix becomes a `MATAIJ` (on CUDA vectors a `MATAIJCUSPARSE`) with all entries

   Level: intermediate

.seealso: `MATSTENCILSHELL`, `MatStencilShellSetFallback()`
E*/
typedef enum {
  MAT_STENCILSHELL_FALLBACK_ERROR,
  MAT_STENCILSHELL_FALLBACK_AIJ
} MatStencilShellFallbackType;
PETSC_EXTERN const char *const MatStencilShellFallbackTypes[];

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
-  -mat_helmholtz_omega <any scalar> - sets σ = ω²; not together with -mat_helmholtz_shift; default 0

   Level: beginner

   Note:
   After a `MatScale()` by a, the operator is a(-Δu + σu): a new σ is scaled as the old one. Mats of other types
   ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where sigma is not finite; nothing is changed then.

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
   MatLaplaceSetBoundary - sets the boundary form of a `MATLAPLACE` or `MATHELMHOLTZ`; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A        - the operator
-  boundary - `MAT_LAPLACE_ELIMINATED` (default), `MAT_LAPLACE_IDENTITY` or `MAT_LAPLACE_NEUMANN`

   Options Database Keys:
+  -mat_laplace_boundary <eliminated|identity|neumann>   - boundary form of the axes that are not periodic or mirrored;
                                                           default eliminated
-  -mat_helmholtz_boundary <eliminated|identity|neumann> - boundary form of the axes that are not periodic or mirrored;
                                                           default eliminated

   Level: beginner

   Errors:
   `PETSC_ERR_ORDER` after `MatSetUp()`. Other types ignore the call.

.seealso: `MATLAPLACE`, `MatLaplaceSetLengths()`
@*/
PETSC_EXTERN PetscErrorCode MatLaplaceSetBoundary(Mat A, MatLaplaceBoundaryType boundary);

/*@
   MatLaplaceSetLengths - sets the side lengths of the domain of a `MATLAPLACE` or `MATHELMHOLTZ`; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A       - the operator
.  dim     - how many lengths are given: the dimension of the grid, 1 to 3
-  lengths - side lengths of the domain along x, y and z [length]; > 0 and finite; array of size dim

   Options Database Keys:
+  -mat_laplace_lengths <one real for each axis, > 0>   - side lengths of the domain [length]; default from the DM's
                                                          coordinates, else 1
-  -mat_helmholtz_lengths <one real for each axis, > 0> - side lengths of the domain [length]; default from the DM's
                                                          coordinates, else 1

   Level: beginner

   Note:
   Without it, the spacing is that of the DM's coordinates, and without those the domain is the unit interval, square or
   cube.

   Errors:
   `PETSC_ERR_ORDER` after `MatSetUp()`, `PETSC_ERR_ARG_OUTOFRANGE` for a length that is not positive and finite or a dim that
   is not 1, 2 or 3, `PETSC_ERR_ARG_NULL` where lengths is null; `PETSC_ERR_ARG_SIZ` at `MatSetUp()` where dim is not the
   grid's dimension. Other types ignore the call.

.seealso: `MATLAPLACE`, `MatLaplaceSetBoundary()`
@*/
PETSC_EXTERN PetscErrorCode MatLaplaceSetLengths(Mat A, PetscInt dim, const PetscReal lengths[]);

/*@
   MatSetHaloType - sets how halos travel between the GPUs of a `MATLAPLACE`, `MATHELMHOLTZ` or `MATSTENCILSHELL`; before
   `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A    - the operator
-  type - `MAT_HALO_AUTOMATIC` (default), `MAT_HALO_IPC` or `MAT_HALO_HOST`

   Options Database Keys:
+  -mat_laplace_halo <automatic|ipc|host>   - how halos travel between GPUs; default automatic
.  -mat_helmholtz_halo <automatic|ipc|host> - how halos travel between GPUs; default automatic
-  -mat_stencil_halo <automatic|ipc|host>   - how halos travel between GPUs; default automatic

   Level: advanced

   Errors:
   `PETSC_ERR_ORDER` after `MatSetUp()`, `PETSC_ERR_ARG_OUTOFRANGE` for another type. Other Mats ignore the call.

.seealso: `MATLAPLACE`, `MATSTENCILSHELL`, `MatHaloType`
@*/
PETSC_EXTERN PetscErrorCode MatSetHaloType(Mat A, MatHaloType type);

/*@
   MatStencilShellSetCompression - sets how a `MATSTENCILSHELL` stores its rows, from the next `MatAssemblyEnd()` on

   Logically Collective

   Input Parameters:
+  A    - the matrix
-  type - `MAT_STENCILSHELL_AUTOMATIC` (default), `MAT_STENCILSHELL_CONSTANT`, `MAT_STENCILSHELL_INDEXED` or
          `MAT_STENCILSHELL_ARRAYS`

   Options Database Key:
.  -mat_stencil_compress <automatic|constant|indexed|arrays> - how rows are stored: in the first form that can hold
                                                               them, or in this one; default automatic

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another type; `PETSC_ERR_ARG_WRONGSTATE` at `MatAssemblyEnd()` where the form cannot hold the
   rows. Other Mats ignore the call.

.seealso: `MATSTENCILSHELL`, `MatStencilShellCompressionType`, `MatStencilShellSetTolerance()`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetCompression(Mat A, MatStencilShellCompressionType type);

/*@
   MatStencilShellSetTolerance - sets the relative difference by which a `MATSTENCILSHELL` takes coefficients for equal, from
   the next `MatAssemblyEnd()` on

   Logically Collective

   Input Parameters:
+  A         - the matrix
-  tolerance - relative to the coefficient, in [0, 1); 0 (default) changes no entry

   Options Database Key:
.  -mat_stencil_compress_tolerance <real, in [0, 1)> - relative difference by which coefficients are taken for equal;
                                                       default 0

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where the tolerance is not in [0, 1). Other Mats ignore the call.

.seealso: `MATSTENCILSHELL`, `MatStencilShellSetCompression()`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetTolerance(Mat A, PetscReal tolerance);

/*@
   MatStencilShellSetFallback - sets what an entry outside the `DMDA`'s stencil leads to in a `MATSTENCILSHELL`

   Logically Collective

   Input Parameters:
+  A    - the matrix
-  type - `MAT_STENCILSHELL_FALLBACK_ERROR` (default) or `MAT_STENCILSHELL_FALLBACK_AIJ`

   Options Database Key:
.  -mat_stencil_fallback <error|aij> - what an entry outside the DMDA's stencil leads to; default error

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another type. Other Mats ignore the call.

.seealso: `MATSTENCILSHELL`, `MatStencilShellFallbackType`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetFallback(Mat A, MatStencilShellFallbackType type);

/*@
   MatStencilShellSetVerify - lets a `MATSTENCILSHELL` assemble a `MATAIJ` as well, and compare product, transposed product and
   diagonal at each `MatAssemblyEnd()`

   Collective

   Input Parameters:
+  A      - the matrix
-  verify - `PETSC_TRUE` to compare

   Options Database Key:
.  -mat_stencil_verify <true|false> - assembles an AIJ as well, and compares the two at each assembly; default false

   Level: intermediate

   Errors:
   `PETSC_ERR_ORDER` between `MatSetValues()` and `MatAssemblyEnd()`; `PETSC_ERR_PLIB` at `MatAssemblyEnd()` where the two differ.
   Other Mats ignore the call.

.seealso: `MATSTENCILSHELL`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetVerify(Mat A, PetscBool verify);

#endif
