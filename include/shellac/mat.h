#ifndef SHELLAC_MAT_H
#define SHELLAC_MAT_H

/* Shell matrices on the grid of a DMDA: the type stencil, and functions for all types. */

#include <petscpc.h>
#include <shellac/diffusion.h>
#include <shellac/laplace.h>

/*MC
   MATSTENCILSHELL - "stencil": the operator that an application assembles on a `DMDA`, stored without a matrix. The
   application does not change: use -dm_mat_type stencil instead of aij.

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
-  -mat_stencil_halo <automatic|ipc|nccl|mpi|host>           - how halos are exchanged between GPUs; default automatic

   What is captured:
   Entries within the stencil of the DMDA, star or box, in 1-D to 3-D, with blocks of dof × dof values, with any boundary
   except `DM_BOUNDARY_TWIST`. They may be set by `MatSetValuesStencil()`, `MatSetValuesLocal()`, `MatSetValues()`
   and their blocked variants, with `INSERT_VALUES` or `ADD_VALUES`, from any rank, as often as the application
   assembles; by `MatSetPreallocationCOO()` (or `MatSetPreallocationCOOLocal()`) and `MatSetValuesCOO()`, also from arrays on
   a GPU; by `MatStencilShellGetSlot()`; and by `MatZeroRows()`, `MatZeroRowsColumns()` and finite differences by colouring
   (`MatFDColoring`).

   Forms in which rows are stored; each rank chooses at `MatAssemblyEnd()`:
+  constant - one row for each distance to the ends of the domain. All points that are farther from an end than the
              stencil's width + 1 have the same row.
.  indexed  - the different rows, which must be few, and 1 or 2 bytes a point.
-  arrays   - one array of coefficients for each slot (an arm, a row and a column of its block) that is not zero everywhere;
              no column indices.
   With a tolerance of 0, entries are exact, and products differ from those of an AIJ by the rounding of a sum in
   another order.

   Notes:
   Solvers: `PCJACOBI`, `PCPBJACOBI`, `PCSOR`, `PCEISENSTAT`, `PCMG` with the program's hierarchy, Chebyshev and all
   KSPs work on the captured form. Factorisations (`PCLU`, `PCILU`, `PCICC`, `PCBJACOBI`, `PCASM`, `PCGASM`), `PCFIELDSPLIT`,
   `PCREDUNDANT` and Galerkin products take their entries from a `MATAIJ` that is made when they first ask for it, and
   is filled again in place after changes; the view shows whether there is one. PETSc's default preconditioner is one of
   these, as for AIJ: ILU or ICC on one rank, block Jacobi on several. `PCGAMG`, `PCML`, `PCHYPRE` and others that
   accept an AIJ only work with `PCASSEMBLED`: -pc_type assembled -assembled_pc_type gamg.

   `MatLoad()` reads a file that an AIJ matrix wrote. If `DMCreateMatrix()` created the matrix on several ranks, call
   `MatZeroEntries()` first.

   `MatSOR()` on host vectors sweeps in the order of AIJ's rows within a rank, and solves the blocks of points with up
   to 5 values exactly, like AIJ's inodes. Iteration counts are therefore those of AIJ, up to rounding.
   On a GPU it sweeps over the whole grid by colours: red and black for a star of width 1, (width + 1)^dim colours
   otherwise.

   On CUDA vectors, `DMCoarsen()` gives the coarse `DMDA` the Mat type aijcusparse until `DMRestrict()`, so that
   `DMCreateInterpolation()` makes a matrix for the GPU.

   `MatFDColoring` is supported with its options; settings by `MatFDColoringSetParameters()` or `MatFDColoringSetType()`
   have no effect.

   If the array of `MatSetValuesCOO()` and the Mat's vectors are on the GPU, values are summed and coefficients are
   compressed on the GPU. Otherwise values are summed on the host, which copies the array or the coefficients. NULL stands
   for zeros.

   `MatSetValues()` and its variants, rows, single entries, sums and extrema of rows, conversion, and sums with matrices of
   other types go through the host. So does `MatInvertBlockDiagonal()`, whose result PETSc expects on the host; the blocks
   are inverted on the GPU. Other operations run where the vectors are. The transpose is made once, for the first
   transposed product.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` at `MatAssemblyEnd()` or `MatSetPreallocationCOO()` for an entry outside the stencil, with
   its row and column, on every rank; `PETSC_ERR_ORDER` for `MatSetValuesCOO()` before `MatSetPreallocationCOO()`;
   `PETSC_ERR_ARG_WRONGSTATE` for a form that cannot represent the rows, or a Mat without a `DMDA`; `PETSC_ERR_SUP` for
   a twisted boundary.

   Level: beginner

.seealso: `MatStencilShellSetCompression()`, `MatStencilShellSetTolerance()`, `MatStencilShellSetFallback()`,
          `MatStencilShellSetKeepArrays()`, `MatStencilShellSetVerify()`, `MatStencilShellGetSlot()`, `MATLAPLACE`,
          `DMSetMatType()`, `DMCreateMatrix()`, `MatSetValuesStencil()`
M*/
#define MATSTENCILSHELL "stencil"

/*E
   MatHaloType - how a Mat on a `DMDA` exchanges halos between GPUs: a `MATLAPLACE`, `MATHELMHOLTZ`, `MATDIFFUSION`,
   `MATADVECTIONDIFFUSION`, `MATSTENCILSHELL` or a registered formula

   Values:
+  `MAT_HALO_AUTOMATIC` - CUDA IPC between ranks of one host that have a GPU each; otherwise a GPU-aware MPI
                         (`-use_gpu_aware_mpi`); without it NCCL between hosts, and `MAT_HALO_HOST` if that is not found
.  `MAT_HALO_IPC`       - CUDA IPC between all ranks of one host, also those that share a GPU, which is slow
.  `MAT_HALO_NCCL`      - NCCL between all ranks, which need a GPU each; `libnccl.so.2` is looked for at run time
.  `MAT_HALO_MPI`       - buffers on the GPU and a GPU-aware MPI
-  `MAT_HALO_HOST`      - pinned host buffers and MPI

   Level: advanced

.seealso: `MatSetHaloType()`
E*/
typedef enum { MAT_HALO_AUTOMATIC, MAT_HALO_IPC, MAT_HALO_NCCL, MAT_HALO_MPI, MAT_HALO_HOST } MatHaloType;
PETSC_EXTERN const char *const MatHaloTypes[];

/*E
   MatStencilShellCompressionType - how a `MATSTENCILSHELL` stores its rows

   Values:
+  `MAT_STENCILSHELL_AUTOMATIC` - the first of the following forms that represents them exactly
.  `MAT_STENCILSHELL_CONSTANT`  - one row for each distance to the ends of the domain
.  `MAT_STENCILSHELL_INDEXED`   - the different rows, and 1 or 2 bytes a point
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
   MatStencilShellFallbackType - the effect of an entry outside the `DMDA`'s stencil in a `MATSTENCILSHELL`

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
   MatSetHaloType - sets how halos are exchanged between the GPUs of a Mat on a `DMDA`, for the types that `MatHaloType`
   lists; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A    - the operator
-  type - a `MatHaloType`; default `MAT_HALO_AUTOMATIC`

   Options Database Keys:
+  -mat_laplace_halo <automatic|ipc|nccl|mpi|host>             - how halos are exchanged between GPUs; default automatic
.  -mat_helmholtz_halo <automatic|ipc|nccl|mpi|host>           - how halos are exchanged between GPUs; default automatic
.  -mat_diffusion_halo <automatic|ipc|nccl|mpi|host>           - how halos are exchanged between GPUs; default automatic
.  -mat_advection_diffusion_halo <automatic|ipc|nccl|mpi|host> - how halos are exchanged between GPUs; default automatic
-  -mat_stencil_halo <automatic|ipc|nccl|mpi|host>             - how halos are exchanged between GPUs; default automatic

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
   `PETSC_ERR_ARG_OUTOFRANGE` for another type, `PETSC_ERR_ARG_INCOMP` if ranks give different ones;
   `PETSC_ERR_ARG_WRONGSTATE` at `MatAssemblyEnd()` if the form cannot represent the rows. Other Mats ignore the call.

.seealso: `MATSTENCILSHELL`, `MatStencilShellCompressionType`, `MatStencilShellSetTolerance()`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetCompression(Mat A, MatStencilShellCompressionType type);

/*@
   MatStencilShellSetTolerance - sets the relative difference up to which coefficients of a `MATSTENCILSHELL` count as equal,
   from the next `MatAssemblyEnd()` on

   Logically Collective

   Input Parameters:
+  A         - the matrix
-  tolerance - relative to the coefficient, in [0, 1); 0 (default) changes no entry

   Options Database Key:
.  -mat_stencil_compress_tolerance <real, in [0, 1)> - relative difference up to which coefficients count as equal; an
                                                       error with -mat_stencil_compress arrays; default 0

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where the tolerance is not in [0, 1), `PETSC_ERR_ARG_INCOMP` if ranks give different ones.
   Other Mats ignore the call.

.seealso: `MATSTENCILSHELL`, `MatStencilShellSetCompression()`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetTolerance(Mat A, PetscReal tolerance);

/*@
   MatStencilShellSetFallback - sets the effect of an entry outside the `DMDA`'s stencil in a `MATSTENCILSHELL`

   Logically Collective

   Input Parameters:
+  A    - the matrix
-  type - `MAT_STENCILSHELL_FALLBACK_ERROR` (default) or `MAT_STENCILSHELL_FALLBACK_AIJ`

   Options Database Key:
.  -mat_stencil_fallback <error|aij> - effect of an entry outside the DMDA's stencil: an error, or the Mat becomes an
                                       AIJ matrix; default error

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another type, `PETSC_ERR_ARG_INCOMP` if ranks give different ones. Other Mats ignore
   the call.

.seealso: `MATSTENCILSHELL`, `MatStencilShellFallbackType`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetFallback(Mat A, MatStencilShellFallbackType type);

/*@
   MatStencilShellSetKeepArrays - sets whether a `MATSTENCILSHELL` keeps the arrays of compressed rows for the next assembly

   Collective

   Input Parameters:
+  A    - the matrix
-  keep - `PETSC_TRUE` to keep them

   Options Database Key:
.  -mat_stencil_keep_arrays <true|false> - keeps the arrays of compressed rows for the next assembly; default true

   Level: intermediate

   Notes:
   Assembly collects values in an array for each slot of the stencil. Compressed rows do not need these arrays, but if they
   are kept, another assembly allocates no memory. They take less memory than an AIJ matrix; `MatView()` with
   `PETSC_VIEWER_ASCII_INFO` shows their bytes. With `PETSC_FALSE` the matrix frees them, including those that it has at the
   time of the call. Use it for a matrix that is assembled once.

   `MatSetValuesCOO()` with `INSERT_VALUES` frees the arrays after its first assembly, and whenever it does not need them,
   independently of this setting. It needs them if equal rows are no longer in the same places.

   Errors:
   `PETSC_ERR_ARG_INCOMP` if ranks give different values. Other Mats ignore the call.

.seealso: `MATSTENCILSHELL`, `MatStencilShellSetCompression()`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetKeepArrays(Mat A, PetscBool keep);

/*@
   MatStencilShellSetVerify - makes a `MATSTENCILSHELL` also assemble a `MATAIJ`, and compare product, transposed product and
   diagonal at each `MatAssemblyEnd()`

   Collective

   Input Parameters:
+  A      - the matrix
-  verify - `PETSC_TRUE` to compare

   Options Database Key:
.  -mat_stencil_verify <true|false> - also assembles an AIJ matrix, and compares the two at each assembly; default false

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_INCOMP` if ranks give different values; `PETSC_ERR_ORDER` between `MatSetValues()` and
   `MatAssemblyEnd()`; `PETSC_ERR_PLIB` at `MatAssemblyEnd()` if the two differ.
   Other Mats ignore the call.

.seealso: `MATSTENCILSHELL`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellSetVerify(Mat A, PetscBool verify);

/*@
   MatStencilShellGetSlot - gets the coefficients of one slot of a `MATSTENCILSHELL` as a Vec, to be written by the program,
   for example by a kernel

   Collective

   Input Parameters:
+  A      - the matrix
.  offset - offset of the column's point from the row's point, along each axis of the `DMDA` [dim]
.  r      - row of the block, from 0 on
-  c      - column of the block, from 0 on

   Output Parameter:
.  coefficients - one value for each point that the rank owns, in the order of a vector of a `DMDA` with one value a point

   Level: advanced

   Notes:
   The Vec is sequential and contains the present coefficients. It is on the GPU if the Mat's vectors are;
   `VecGetArrayAndMemType()` gives the array for a kernel. All operations of a Vec and `DMDAVecGetArray()` (with a
   `DMDA` of one value a point: `DMDACreateCompatibleDMDA()`) work.

   Call `MatStencilShellRestoreSlot()` after writing the Vec, and `MatAssemblyBegin()` and `MatAssemblyEnd()` after the last
   slot. Slots that are not written keep their coefficients. If all slots will be written, call `MatZeroEntries()` first:
   compressed rows are then not expanded.

   Coefficients at points where the offset leads out of the domain become zero.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an offset outside the stencil, or a row or column outside the block; `PETSC_ERR_ORDER`
   for a slot that has not been restored, also from `MatAssemblyEnd()`; `PETSC_ERR_ARG_NULL`; `PETSC_ERR_ARG_WRONG` for
   another Mat.

.seealso: `MATSTENCILSHELL`, `MatStencilShellRestoreSlot()`, `MatSetValuesCOO()`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellGetSlot(Mat A, const PetscInt offset[], PetscInt r, PetscInt c,
                                                   Vec *coefficients);

/*@
   MatStencilShellRestoreSlot - restores the coefficients that `MatStencilShellGetSlot()` gave

   Collective

   Input Parameters:
+  A            - the matrix
.  offset       - as given to `MatStencilShellGetSlot()`
.  r            - as given to it
.  c            - as given to it
-  coefficients - the Vec; NULL afterwards

   Level: advanced

   Errors:
   `PETSC_ERR_ARG_WRONG` for a Vec that is not that slot's, or another Mat.

.seealso: `MATSTENCILSHELL`, `MatStencilShellGetSlot()`
@*/
PETSC_EXTERN PetscErrorCode MatStencilShellRestoreSlot(Mat A, const PetscInt offset[], PetscInt r, PetscInt c,
                                                       Vec *coefficients);

/*MC
   PCASSEMBLED - "assembled": a preconditioner that needs an assembled matrix, on a copy (`MATAIJ`) of one of Shellac's
   on a `DMDA`

   Options Database Key:
.  -assembled_pc_type <a PC type of PETSc> - the preconditioner of the copy, as gamg, hypre or ml; its own options have
                                             the prefix assembled_ too; default PETSc's for AIJ

   Notes:
   It is for `PCGAMG`, `PCHYPRE`, `PCML`, `PCCP`, `PCTFS` and others that accept certain types of matrix only.
   Factorisations, block Jacobi, Schwarz methods and Galerkin products find the copy themselves, and need no such type.

   The copy has the null spaces, the near null space and the block size of the matrix, and follows its changes. Its memory is
   that of the matrix with -dm_mat_type aij, and is shared with all others who need entries.

   Errors:
   `PETSC_ERR_SUP` at set-up for other matrices.

   Level: intermediate

.seealso: `PCAssembledGetPC()`, `MATSTENCILSHELL`
M*/
#define PCASSEMBLED "assembled"

/*@
   PCAssembledGetPC - gets the preconditioner of the assembled copy from a `PCASSEMBLED`

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  inner - that of the copy; borrowed. It gets its operators when `pc` is set up.

   Options Database Key:
.  -assembled_pc_type <a PC type of PETSc> - the preconditioner of the copy, as gamg, hypre or ml; its own options have
                                             the prefix assembled_ too; default PETSc's for AIJ

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_WRONG` for a preconditioner of another type, `PETSC_ERR_ARG_NULL` for null pointers.

.seealso: `PCASSEMBLED`
@*/
PETSC_EXTERN PetscErrorCode PCAssembledGetPC(PC pc, PC *inner);

#endif
