#ifndef SHELLAC_MAT_H
#define SHELLAC_MAT_H

/* Shell matrices on the grid of a DMDA: laplace and helmholtz by laplace.h; stencil; and what all have. */

#include <shellac/diffusion.h>
#include <shellac/laplace.h>

/*MC
   MATSTENCILSHELL - "stencil": the operator that an application assembles on a `DMDA`, stored without a matrix. The
   application need not be changed: use -dm_mat_type stencil instead of aij.

   Options Database Keys:
+  -mat_stencil_compress <automatic|constant|indexed|arrays> - form in which rows are stored; automatic: the first one
                                                               that represents them exactly; default automatic
.  -mat_stencil_compress_tolerance <real, in [0, 1)>         - relative difference up to which coefficients count as
                                                               equal; an error with -mat_stencil_compress arrays;
                                                               default 0
.  -mat_stencil_keep_arrays <true|false>                     - keeps the arrays of compressed rows for the next
                                                               assembly; default true
.  -mat_stencil_verify <true|false>                          - also assembles an AIJ matrix, and compares the two at
                                                               each assembly; default false
.  -mat_stencil_fallback <error|aij>                         - effect of an entry outside the DMDA's stencil: an error,
                                                               or the Mat becomes an AIJ matrix; default error
-  -mat_stencil_halo <automatic|ipc|host>                    - how halos are exchanged between GPUs; default automatic

   What is captured:
   Entries within the DMDA's stencil, star or box, of its width, in 1-D to 3-D, with blocks of dof × dof values, on
   all but `DM_BOUNDARY_TWIST`. They may be set by `MatSetValuesStencil()`, `MatSetValuesLocal()`, `MatSetValues()`
   and their blocked variants, with `INSERT_VALUES` or `ADD_VALUES`, from any rank, as often as the application
   assembles; by `MatSetPreallocationCOO()` (or `MatSetPreallocationCOOLocal()`) and `MatSetValuesCOO()`, also from arrays on
   a GPU; by `MatStencilShellGetSlot()`; and by `MatZeroRows()`, `MatZeroRowsColumns()` and finite differences by colouring
   (`MatFDColoring`).

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

   `MatSetValuesCOO()` sums values on the GPU that are there, and compresses the coefficients there. An array on the host, or one
   on a GPU for a Mat whose vectors are on the host, is summed on the host, which copies the array or the coefficients. NULL
   stands for zeros.

   `MatSetValues()` and its variants, rows, single entries, sums and extrema of rows, conversion and sums with matrices of
   other types go through the host. So does `MatInvertBlockDiagonal()`, whose result PETSc takes there; the blocks are
   inverted on the GPU. Other operations stay where the vectors are. The transpose is made once, for the first transposed
   product.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` at `MatAssemblyEnd()` or `MatSetPreallocationCOO()` for an entry outside the stencil, with its row
   and column, on every rank; `PETSC_ERR_ORDER` for `MatSetValuesCOO()` before `MatSetPreallocationCOO()`;
   `PETSC_ERR_ARG_WRONGSTATE` for a form that cannot hold the rows, or a Mat without a `DMDA`; `PETSC_ERR_SUP` for a twisted
   boundary.

   Level: beginner

.seealso: `MatStencilShellSetCompression()`, `MatStencilShellSetTolerance()`, `MatStencilShellSetFallback()`,
          `MatStencilShellSetKeepArrays()`, `MatStencilShellSetVerify()`, `MatStencilShellGetSlot()`, `MATLAPLACE`, `DMSetMatType()`, `DMCreateMatrix()`, `MatSetValuesStencil()`
M*/
#define MATSTENCILSHELL "stencil"

/*E
   MatHaloType - how a Mat of Shellac's on a `DMDA` exchanges halos between GPUs: a `MATLAPLACE`, `MATHELMHOLTZ`,
   `MATDIFFUSION`, `MATADVECTIONDIFFUSION`, `MATSTENCILSHELL` or one of a type by formula

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
   MatSetHaloType - sets how halos travel between the GPUs of a Mat of Shellac's on a `DMDA`, whose types `MatHaloType`
   lists; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A    - the operator
-  type - `MAT_HALO_AUTOMATIC` (default), `MAT_HALO_IPC` or `MAT_HALO_HOST`

   Options Database Keys:
+  -mat_laplace_halo <automatic|ipc|host>             - how halos are exchanged between GPUs; default automatic
.  -mat_helmholtz_halo <automatic|ipc|host>           - how halos are exchanged between GPUs; default automatic
.  -mat_diffusion_halo <automatic|ipc|host>           - how halos are exchanged between GPUs; default automatic
.  -mat_advection_diffusion_halo <automatic|ipc|host> - how halos are exchanged between GPUs; default automatic
-  -mat_stencil_halo <automatic|ipc|host>             - how halos are exchanged between GPUs; default automatic

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
.  -mat_stencil_compress <automatic|constant|indexed|arrays> - form in which rows are stored; automatic: the first one
                                                               that represents them exactly; default automatic

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another type, `PETSC_ERR_ARG_INCOMP` where ranks give different ones;
   `PETSC_ERR_ARG_WRONGSTATE` at `MatAssemblyEnd()` where the form cannot hold the rows. Other Mats ignore the call.

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
.  -mat_stencil_compress_tolerance <real, in [0, 1)> - relative difference up to which coefficients count as equal; an
                                                       error with -mat_stencil_compress arrays; default 0

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where the tolerance is not in [0, 1), `PETSC_ERR_ARG_INCOMP` where ranks give different ones.
   Other Mats ignore the call.

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
.  -mat_stencil_fallback <error|aij> - effect of an entry outside the DMDA's stencil: an error, or the Mat becomes an
                                       AIJ matrix; default error

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another type, `PETSC_ERR_ARG_INCOMP` where ranks give different ones. Other Mats ignore
   the call.

.seealso: `MATSTENCILSHELL`, `MatStencilShellFallbackType`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetFallback(Mat A, MatStencilShellFallbackType type);

/*@
   MatStencilShellSetKeepArrays - tells a `MATSTENCILSHELL` whether arrays that it has no use for stay after an assembly

   Collective

   Input Parameters:
+  A    - the matrix
-  keep - `PETSC_TRUE` to keep them

   Options Database Key:
.  -mat_stencil_keep_arrays <true|false> - keeps the arrays of compressed rows for the next assembly; default true

   Level: intermediate

   Notes:
   Assembly collects values in an array for each slot of the stencil. Rows that are compressed then do not need them. While they stay,
   another assembly allocates no memory. They take less than an AIJ matrix would; `MatView()` with
   `PETSC_VIEWER_ASCII_INFO` tells how many bytes. With `PETSC_FALSE` the matrix frees them, also those that it has at the time of the call:
   for a matrix that is assembled once.

   `MatSetValuesCOO()` with `INSERT_VALUES` frees the arrays of its first assembly, and all of them whenever it does without, whatever
   was set: it needs them where rows are no longer equal in the same places.

   Errors:
   `PETSC_ERR_ARG_INCOMP` where ranks give different values. Other Mats ignore the call.

.seealso: `MATSTENCILSHELL`, `MatStencilShellSetCompression()`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetKeepArrays(Mat A, PetscBool keep);

/*@
   MatStencilShellSetVerify - lets a `MATSTENCILSHELL` assemble a `MATAIJ` as well, and compare product, transposed product and
   diagonal at each `MatAssemblyEnd()`

   Collective

   Input Parameters:
+  A      - the matrix
-  verify - `PETSC_TRUE` to compare

   Options Database Key:
.  -mat_stencil_verify <true|false> - also assembles an AIJ matrix, and compares the two at each assembly; default false

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_INCOMP` where ranks give different values; `PETSC_ERR_ORDER` between `MatSetValues()` and
   `MatAssemblyEnd()`; `PETSC_ERR_PLIB` at `MatAssemblyEnd()` where the two differ.
   Other Mats ignore the call.

.seealso: `MATSTENCILSHELL`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetVerify(Mat A, PetscBool verify);

/*@
   MatStencilShellGetSlot - gives the coefficients of one slot of a `MATSTENCILSHELL`, for a program that has them on the grid
   already, or computes them in a kernel

   Collective

   Input Parameters:
+  A      - the matrix
.  offset - from the point of a row to the point of a column, along each axis of the `DMDA` [dim]
.  r      - which row of the block at the point, from 0 on
-  c      - which column of the block

   Output Parameter:
.  coefficients - of the entries of that slot: one value for each point that the rank owns, the first axis first, as in a
                  vector of a `DMDA` with one value a point

   Level: advanced

   Notes:
   The Vec is sequential, and has the present coefficients. It is on the GPU where the Mat's vectors are, on the host otherwise;
   `VecGetArrayAndMemType()` gives the array for a kernel. All operations of a Vec and `DMDAVecGetArray()` (with a `DMDA` of one
   value a point: `DMDACreateCompatibleDMDA()`) work.

   Call `MatStencilShellRestoreSlot()` when it is written, and `MatAssemblyBegin()` and `MatAssemblyEnd()` when all slots are.
   Slots that are not written keep their coefficients. If all are written anew, call `MatZeroEntries()` before: compressed rows
   are not expanded then.

   Coefficients of points from which the offset leaves the domain become zero.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an offset outside the stencil, or a row or column outside the block; `PETSC_ERR_ORDER` for a
   slot that has not been restored, also from `MatAssemblyEnd()`; `PETSC_ERR_ARG_NULL`; `PETSC_ERR_ARG_WRONG` for another Mat.

.seealso: `MATSTENCILSHELL`, `MatStencilShellRestoreSlot()`, `MatSetValuesCOO()`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellGetSlot(Mat A, const PetscInt offset[], PetscInt r, PetscInt c,
                                                   Vec *coefficients);

/*@
   MatStencilShellRestoreSlot - takes back the coefficients that `MatStencilShellGetSlot()` gave

   Collective

   Input Parameters:
+  A            - the matrix
.  offset       - as given to `MatStencilShellGetSlot()`
.  r            - as given to it
.  c            - as given to it
-  coefficients - what it gave; NULL afterwards

   Level: advanced

   Errors:
   `PETSC_ERR_ARG_WRONG` for a Vec that is not that slot's, or another Mat.

.seealso: `MATSTENCILSHELL`, `MatStencilShellGetSlot()`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellRestoreSlot(Mat A, const PetscInt offset[], PetscInt r, PetscInt c,
                                                       Vec *coefficients);

#endif
