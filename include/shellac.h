#ifndef SHELLAC_H
#define SHELLAC_H

/*
  Shellac: matrix-free operators for PETSc. The whole public interface.

  A program that links the library calls MatCreateLaplace() or MatCreateHelmholtz(), or ShellacInitializePackage() before
  it names a type. A program that does not know the library gets the same types by
  -dll_append /absolute/path/libshellac.so
*/

#include <petscdmda.h>
#include <petscmat.h>
#include <petscpc.h>
#include <petscts.h>

#define SHELLAC_VERSION "0.1.0"

/*MC
   MATLAPLACE - "laplace": the negative Laplace operator -Δu on the grid of a `DMDA`, never assembled.
   Second-order central differences: the star of 3, 5 or 7 points in 1-D, 2-D or 3-D.

   Options Database Keys:
+  -mat_laplace_boundary <eliminated,identity,neumann> - what holds at the ends of axes that are not periodic or mirrored
.  -mat_laplace_lengths <1,1,1>                        - side lengths of the domain [length]
-  -mat_laplace_halo <automatic,ipc,host>              - how halos travel between GPUs

   Boundary forms, for an axis of N points and a domain of length L [length]:
+  eliminated - the unknowns are the interior nodes, h = L/(N+1); zero Dirichlet values are dropped. Symmetric positive definite.
.  identity   - the grid carries its boundary nodes, h = L/(N-1); their rows are the identity. Not symmetric.
-  neumann    - the unknowns are cell averages, h = L/N; no flux through the ends. Symmetric, constants in the null space,
                which is attached to the matrix.
   An axis with `DM_BOUNDARY_PERIODIC` is periodic, h = L/N; one with `DM_BOUNDARY_MIRROR` has its symmetry planes on the
   end nodes, h = L/(N-1), and is not symmetric. `DM_BOUNDARY_TWIST` is an error.

   Notes:
   Where the `DMDA` has coordinates and no lengths are given, h is the distance of their nodes; the boundary form then
   says where the wall is.

   An axis of one point has the spacing that its length gives, 1 by default: coordinates cannot tell it.

   Vectors may be on the host or on a CUDA device; where they are is where the product is computed. All vectors of one
   operation must be in the same kind of memory, on every rank.

   Between GPUs, halos travel by CUDA IPC where two ranks of one host have a GPU each, and through pinned host buffers and
   MPI otherwise (automatic). `ipc` takes IPC also for ranks that share a GPU, which is slow; `host` takes it for none.

   `MatSOR()` sweeps in red-black order: forward is red, then black (red: the sum of a point's indices is even), backward is
   black, then red. The sweep is over the whole grid on any number of ranks, the LOCAL variants as well.

   `PCLU`, `PCCHOLESKY`, `PCILU`, `PCICC`, `PCBJACOBI`, `PCASM` and others that need entries work through a `MATAIJ` that is
   made when they ask for it, on the host. PETSc's default, without a -pc_type, is one of them: an incomplete factorisation
   on one rank (ICC where the operator is symmetric), block Jacobi on several. -pc_type jacobi, sor and none store nothing.

   `MatSetValues()` with `INSERT_VALUES` compares the values with the operator and stores nothing: a program that assembles
   the same operator runs unchanged, one that assembles another gets an error.

   Level: beginner

   Source:
   L. Collatz, The Numerical Treatment of Differential Equations, 1960, table VI.

.seealso: `MATHELMHOLTZ`, `MatCreateLaplace()`, `MatLaplaceSetBoundary()`, `MatLaplaceSetLengths()`
M*/
#define MATLAPLACE "laplace"

/*MC
   MATHELMHOLTZ - "helmholtz": the modified Helmholtz operator -Δu + σu on the grid of a `DMDA`, never assembled.
   Everything said of `MATLAPLACE` holds; identity rows have no σ.

   Options Database Keys:
+  -mat_helmholtz_shift <0>  - σ [1/length²], any scalar
.  -mat_helmholtz_omega <0>  - sets σ = ω²; not together with -mat_helmholtz_shift
.  -mat_helmholtz_boundary   - as -mat_laplace_boundary
.  -mat_helmholtz_lengths    - as -mat_laplace_lengths
-  -mat_helmholtz_halo       - as -mat_laplace_halo

   Level: beginner

.seealso: `MATLAPLACE`, `MatCreateHelmholtz()`, `MatHelmholtzSetShift()`
M*/
#define MATHELMHOLTZ "helmholtz"

/*MC
   MATSTENCILSHELL - "stencil": whatever an application assembles on a `DMDA`, kept without a matrix. The application need
   not know: -dm_mat_type stencil takes the place of aij.

   Options Database Keys:
+  -mat_stencil_compress <automatic,constant,indexed,arrays> - how rows are kept: by the first form that can hold them, or
                                                               by this one; an error at MatAssemblyEnd() where it cannot
.  -mat_stencil_compress_tolerance <0>                       - relative difference, in [0, 1), by which coefficients are taken for equal
.  -mat_stencil_verify <false>                               - assembles an AIJ beside, and compares product, transposed
                                                               product and diagonal at each assembly
.  -mat_stencil_fallback <error,aij>                         - what an entry outside the DMDA's stencil leads to
-  -mat_stencil_halo <automatic,ipc,host>                    - how halos travel between GPUs, see `MATLAPLACE`

   What is captured:
   Entries within the DMDA's stencil, star or box, of its width, in 1-D to 3-D, with blocks of dof × dof values, on all but
   `DM_BOUNDARY_TWIST`. They come by `MatSetValuesStencil()`, `MatSetValuesLocal()`, `MatSetValues()` and their blocked
   variants, with `INSERT_VALUES` or `ADD_VALUES`, from any rank, as often as the application likes; `MatZeroRows()`,
   `MatZeroRowsColumns()` and finite differences by colouring (`MatFDColoring`) as well.

   How rows are kept, decided by each rank at `MatAssemblyEnd()`:
+  constant - rows that are as far from the ends of the domain are equal: their coefficients only. Farther from an end than
              the stencil's width + 1, all are of one class.
.  indexed  - there are few kinds of rows: their coefficients, and 1 or 2 bytes a point.
-  arrays   - one array of coefficients for each slot (an arm, a row and a column of its block) that is not zero everywhere;
              no column indices.
   With a tolerance of 0 nothing is lost: products differ from an AIJ's by the rounding of a sum in another order.

   Notes:
   Solvers get what they get from an AIJ: `PCJACOBI`, `PCPBJACOBI`, `PCSOR`, `PCMG` with the program's hierarchy, Chebyshev
   and all KSPs work on the captured form. Factorisations (`PCLU`, `PCILU`, `PCICC`, `PCBJACOBI`, `PCASM`), `PCFIELDSPLIT`,
   `PCREDUNDANT` and Galerkin products take their entries from a `MATAIJ` that is made when they ask for it; the view says when
   there is one. PETSc's default, without a -pc_type, is one of those: ILU or ICC on one rank, block Jacobi on several, the
   same as for an AIJ. `PCGAMG` needs a matrix: -dm_mat_type aij.

   `MatSOR()` on host vectors sweeps in the order of an AIJ's rows, within a rank, and solves the blocks of points with up to
   5 values, as an AIJ's inodes; so iteration counts are an AIJ's. On a GPU it sweeps over the whole grid by colours: red and
   black for a star of width 1, (width + 1)^dim colours otherwise.

   On CUDA vectors, `DMCoarsen()` gives the coarse `DMDA` the Mat type aijcusparse until `DMRestrict()`, so that
   `DMCreateInterpolation()` makes a matrix for the GPU.

   `MatFDColoring` is served with its options; what a program sets by `MatFDColoringSetParameters()` or
   `MatFDColoringSetType()` is not seen.

   Assembly, differences by colouring, `MatDiagonalSet()`, `MatDiagonalScale()`, `MatZeroRows()`, sums of different forms,
   norms, `MatGetRow()`, point blocks (`PCPBJACOBI`) and the transpose, which is made once for the first transposed product,
   go through the host. Other operations stay where the vectors are.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` at `MatAssemblyEnd()` for an entry outside the stencil, with its row and column, on every rank;
   `PETSC_ERR_ARG_WRONGSTATE` for a form that cannot hold the rows, or a Mat without a `DMDA`; `PETSC_ERR_SUP` for a twisted
   boundary.

   Level: beginner

.seealso: `MATLAPLACE`, `DMSetMatType()`, `DMCreateMatrix()`, `MatSetValuesStencil()`
M*/
#define MATSTENCILSHELL "stencil"

/*E
   MatLaplaceBoundaryType - what holds at the ends of the axes of a `MATLAPLACE` or `MATHELMHOLTZ`

   Level: beginner

.seealso: `MATLAPLACE`, `MatLaplaceSetBoundary()`
E*/
typedef enum {
  MAT_LAPLACE_ELIMINATED,
  MAT_LAPLACE_IDENTITY,
  MAT_LAPLACE_NEUMANN
} MatLaplaceBoundaryType;
PETSC_EXTERN const char *const MatLaplaceBoundaryTypes[];

/*@C
   ShellacInitializePackage - registers Shellac's types with PETSc. Further calls do nothing.

   Not Collective

   Level: developer

   Note:
   Called by PETSc when the library is loaded by -dll_append, and by every function that creates an object of Shellac's.
@*/
PETSC_EXTERN PetscErrorCode ShellacInitializePackage(void);

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
   `PETSC_ERR_ARG_WRONG` for another DM or non-uniform coordinates, `PETSC_ERR_ARG_OUTOFRANGE` for dof != 1 or lengths <= 0,
   `PETSC_ERR_SUP` for a twisted boundary; on every rank.

.seealso: `MATLAPLACE`, `MatCreateHelmholtz()`, `DMCreateMatrix()`
@*/
PETSC_EXTERN PetscErrorCode MatCreateLaplace(DM da, Mat *A);

/*@
   MatCreateHelmholtz - creates a `MATHELMHOLTZ` on the grid of a `DMDA`, set up from the options database

   Collective

   Input Parameters:
+  da    - a 1-D, 2-D or 3-D `DMDA` with one degree of freedom
-  sigma - σ [1/length²]; the options go before it

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
.  -mat_helmholtz_shift <0>, -mat_helmholtz_omega <0>

   Level: beginner

   Note:
   After a `MatScale()` by a, the operator is a(-Δu + σu): the new σ is scaled like the old one was.
   Other types than `MATHELMHOLTZ` ignore the call, as with every such function of PETSc's.

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
   `PETSC_ERR_SUP` for other types.

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
.  -mat_laplace_boundary, -mat_helmholtz_boundary

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
-  lengths - side lengths [length], as many as the grid has dimensions; > 0

   Options Database Keys:
.  -mat_laplace_lengths, -mat_helmholtz_lengths

   Level: beginner

   Note:
   Without it, the spacing is that of the DM's coordinates, and without those the domain is the unit interval, square or
   cube.

   Errors:
   `PETSC_ERR_ORDER` after `MatSetUp()`, `PETSC_ERR_ARG_OUTOFRANGE` for a length that is not positive and finite. Other types
   ignore the call.

.seealso: `MATLAPLACE`, `MatLaplaceSetBoundary()`
@*/
PETSC_EXTERN PetscErrorCode MatLaplaceSetLengths(Mat A, PetscInt dim, const PetscReal lengths[]);

/*MC
   PCSTENCILMG - "stencilmg": geometric multigrid without matrices, for Mats of type `MATLAPLACE`, `MATHELMHOLTZ` and
   `MATSTENCILSHELL`, on the CPU and on CUDA GPUs

   Options Database Keys:
+  -pc_stencilmg_type <multiplicative|full>     - cycles from zero, or full multigrid: one cycle on each level, from the
                                                  coarsest on
.  -pc_stencilmg_cycle_type <v|w|f>             - how a cycle visits the levels
.  -pc_stencilmg_multiplicative_cycles <1>      - cycles of an application
.  -pc_stencilmg_smooths <0>                    - smoothing steps before, and after, the visit of the coarse grid; 0: 3,
                                                  in three dimensions 4
.  -pc_stencilmg_levels <0>                     - levels at most; 0: until the last one can be solved directly
.  -pc_stencilmg_precision <double|single>      - of the arithmetic in a cycle
.  -pc_stencilmg_fused <true>                   - smoothing, residual and transfer in one pass over the grid, in one and
                                                  two dimensions
.  -pc_stencilmg_graph <true>                   - a cycle on the GPU of one rank is one CUDA graph
-  -pc_stencilmg_monitor                        - prints residuals after each cycle

   Level: beginner

   Notes:
   Where the operator is a sum over the axes, A u = sum_a (k_a (u_i - u_{i-1}) + k_a' (u_i - u_{i+1})) / m_a + sigma u, with
   coefficients k and m along each axis, constant or stretched, nothing is stored but these. Otherwise, in a `MATSTENCILSHELL`
   with variable coefficients, (A u)_p = sum_q c_pq (u_p - u_q) + s_p u_p over the neighbours q in the star or the box of
   width 1, each level has the coefficients c and s and weights of interpolation at its points. Both have any of the boundary
   forms, any number of points, any ranks. The matrix has one unknown a point and is symmetric, but for a weight of each row
   (mirrored ends, stretched grids, equations that are multiplied by a coefficient); rows of their diagonal entry alone
   may be anywhere.

   Coarse levels keep every second point of the axes along which the points are strongly coupled, on average
   (semi-coarsening). Smoothing is weighted Jacobi with the roots of a Chebyshev polynomial as weights, the same before
   and after, so that V- and W-cycles are symmetric where the operator is, and CG may use them.

   With variable coefficients, interpolation follows them: a point between coarse ones gets the value at which its row, summed
   up across, is zero; and the coarse operator is the Galerkin product, with a box of 3^d points on each coarse level. Jumps of
   coefficients, wherever they are, take CG some iterations more than smooth ones, and these are as many on fine grids as on
   coarse ones; unless coefficients jump from point to point, which no coarse grid resolves: W-cycles help there. Set-up is on the
   host and takes the time of about 10 cycles there; on a GPU the levels are then copied to it. Each level is smoothed point by
   point.

   Levels of 16384 points or fewer are gathered on every rank. The last level is solved exactly: of 36 points or fewer along each
   axis by the eigenvectors of its axes, with variable coefficients of 144 points or fewer by its inverse.

   `KSPRICHARDSON` runs whole cycles in the preconditioner, with the residual's norm from the cycle's first pass; as with
   `PCMG`, the norm is the true residual's there, and PETSc does it by itself where the `KSP` has a monitor or the matrix a
   null space. `KSPPREONLY` with -pc_stencilmg_type full is a direct solver to discretisation error.

   sigma is for the modified Helmholtz equation: positive, or complex. Slightly negative ones work with `KSPFGMRES`; the
   coarse levels of a strongly indefinite operator do not resemble it.

   Single precision is for corrections: `KSPRICHARDSON` then takes a `MatResidual()` a cycle. Passes are fused with 2 or 3 smoothing steps. There is no transpose of F-cycles and
   full multigrid.

   Errors:
   A matrix of another type, or one that is not symmetric, couples points further apart or has more unknowns a point; with what
   to use instead.

   References:
   U. Trottenberg, C. W. Oosterlee, A. Schueller, Multigrid, Academic Press 2001: sections 2.4 (cycles), 2.6 (full
   multigrid), 5.1 (anisotropy); Y. Saad, Iterative Methods for Sparse Linear Systems, 2003: section 12.3.2 (Chebyshev);
   R. E. Alcouffe, A. Brandt, J. E. Dendy, J. W. Painter, The multi-grid method for the diffusion equation with strongly
   discontinuous coefficients, 1981; J. E. Dendy, Black box multigrid, 1982 (variable coefficients);
   R. E. Lynch, J. R. Rice, D. H. Thomas, Direct solution of partial difference equations by tensor product methods, 1964
   (the last level).

.seealso: `MATLAPLACE`, `MATHELMHOLTZ`, `MATSTENCILSHELL`, `PCMG`, `KSPRICHARDSON`
M*/
#define PCSTENCILMG "stencilmg"

/*MC
   MATKERNELSUM - "kernelsum": sums of a kernel function over particles, y = A c with
   y_i = Σ_j g(x_i, y_j) c_j for M target points x_i and N source points y_j in 1-D, 2-D or 3-D. Never assembled.

   Options Database Keys:
+  -mat_kernelsum_kernel <gaussian>     - g, see below
.  -mat_kernelsum_sigma <1>             - σ [length], > 0
.  -mat_kernelsum_wavenumber <0>        - k [1/length], >= 0
.  -mat_kernelsum_precision <double,single,mixed> - what pairs are computed in
.  -mat_kernelsum_self <automatic,zero,limit,error> - what g(x, x) is
.  -mat_kernelsum_type <direct,fast,auto> - all pairs, or a method of almost linear cost with a tolerance
.  -mat_kernelsum_rtol <1e-6>           - tolerance of the fast type: the error in the 2-norm relative to that of y
-  -mat_kernelsum_monitor               - print the progress of each product

   Kernel functions, r = |x - y|:
+  gaussian             - exp(-r²/(2σ²))
.  laplace              - 1/(4πr), the electrostatic potential
.  helmholtz            - exp(ikr)/(4πr), the acoustic Green's function; k = 0 is laplace
.  yukawa               - exp(-kr)/(4πr), the screened potential
.  multiquadric         - sqrt(r² + σ²)
.  inverse_multiquadric - 1/sqrt(r² + σ²)
.  thin_plate           - r² log r
-  logarithm            - -log(r)/(2π), the potential of line charges

   Precision:
+  double - relative errors of a few eps √N
.  single - coordinates relative to the middle of all points and in units of their extent, distances and g in single
            precision; 128 terms are added in it, these sums in double. Relative errors of 1e-7 to 1e-6 where c has one sign
            and points are spread out. A distance d between points of extent D is known to 6e-8 D/d of itself: what points
            of a tight cluster do to each other, and gradients of singular functions at close points, have that error,
            and points closer than 1e-7 D count as the same. Beyond 1e6 waves the phase is lost.
-  mixed  - as single, but 8 terms at a time

   Self:
+  automatic - the limit where it is finite, zero where it is not
.  zero      - coincident pairs count for nothing
.  limit     - g(0); an error for functions without one
-  error     - `MatSetUp()` fails where a source lies on a target, and names the pair

   Types:
+  direct - all pairs
.  fast   - the Gaussian by its Fourier series where that is cheap; otherwise a tree of the points, with polynomial
            interpolation between clusters that are far from each other. One right-hand side at a time. Gradients are direct.
            Tolerances of 1e-6 and more let it use single precision, with coordinates relative to each group of targets.
            An error where no order keeps the tolerance.
-  auto   - fast where it is estimated to be faster and keeps the tolerance, direct otherwise

   Notes:
   Targets and sources are distributed independently, in any way, ranks without points included. Blocks of sources travel in a
   ring of the ranks while the present one is summed. They travel through the memory of the host, with CUDA vectors too: two
   copies for each block and rank, which -log_view counts.

   The acoustic function in a real PETSc takes vectors of block size 2, the real and the imaginary part of each value; the
   matrix is 2M x 2N, and its transpose is the Hermitian transpose of the complex one. PETSc's error "Mat mat,Vec x: global dim"
   with one number twice the other tells of a vector without imaginary parts; `MatCreateVecs()` makes the right ones.

   Vectors may be on the host or on a CUDA device; where they are is where the sum is computed.

   `MatMatMult()` and `MatTransposeMatMult()` with a `MATDENSE` or `MATDENSECUDA` compute distances and g once for up to 16 columns.
   `MatGetDiagonal()`, `MatNorm()` (row by row, nothing is stored) and `MatConvert()` to `MATDENSE` look at entries on the host.
   `MatScale()`, `MatShift()`, `MatDiagonalScale()` and `MatDiagonalSet()` are kept beside the sum. `MatView()` prints entries, as of
   other matrices; what the sum is, its error and its rate are told by -mat_view ::ascii_info.

   Without a -pc_type, PETSc uses no preconditioner. -pc_type jacobi works; examples/rbf.cpp has one for interpolation.

   Level: beginner

   Sources:
   the problem and its kernels: T. Betcke, GPU accelerated evaluation of particle sums, 2020; interpolation between clusters:
   L. Wang, R. Krasny, S. Tlupova, A kernel-independent treecode based on barycentric Lagrange interpolation, 2020, eq. 13.

.seealso: `MatCreateKernelSum()`, `MatCreateKernelSumDM()`, `MatKernelSumCreateGradient()`
M*/
#define MATKERNELSUM "kernelsum"

/*E
   MatKernelSumPrecision - what the pairs of a `MATKERNELSUM` are computed in

   Level: intermediate

.seealso: `MATKERNELSUM`, `MatKernelSumSetPrecision()`
E*/
typedef enum {
  MAT_KERNELSUM_DOUBLE,
  MAT_KERNELSUM_SINGLE,
  MAT_KERNELSUM_MIXED
} MatKernelSumPrecision;
PETSC_EXTERN const char *const MatKernelSumPrecisions[];

/*E
   MatKernelSumSelf - what g(x, x) of a `MATKERNELSUM` is

   Level: intermediate

.seealso: `MATKERNELSUM`, `MatKernelSumSetSelf()`
E*/
typedef enum {
  MAT_KERNELSUM_SELF_AUTO,
  MAT_KERNELSUM_SELF_ZERO,
  MAT_KERNELSUM_SELF_LIMIT,
  MAT_KERNELSUM_SELF_ERROR
} MatKernelSumSelf;
PETSC_EXTERN const char *const MatKernelSumSelves[];

/*E
   MatKernelSumMethod - how the sums of a `MATKERNELSUM` are computed

   Level: intermediate

.seealso: `MATKERNELSUM`, `MatKernelSumSetMethod()`
E*/
typedef enum {
  MAT_KERNELSUM_DIRECT,
  MAT_KERNELSUM_FAST,
  MAT_KERNELSUM_AUTO
} MatKernelSumMethod;
PETSC_EXTERN const char *const MatKernelSumMethods[];

/*@
   MatCreateKernelSum - creates a `MATKERNELSUM` between points, set up from the options database

   Collective

   Input Parameters:
+  comm    - the communicator, that of the two vectors
.  targets - coordinates x_i [length], block size 1, 2 or 3: the dimension
-  sources - coordinates y_j [length], of the same block size; may be `targets`

   Output Parameter:
.  A - the operator, M x N, ready for `MatMult()`; its rows are distributed like the targets, its columns like the sources

   Options Database Keys:
.  see `MATKERNELSUM`

   Level: beginner

   Note:
   The coordinates are copied. Vectors that A makes have the type of `targets`. In a complex PETSc the real parts count.
   -mat_type is not read.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another block size, a coordinate that is not finite, σ <= 0, k < 0; `PETSC_ERR_ARG_INCOMP` for
   different block sizes, or a limit that g does not have; `PETSC_ERR_ARG_WRONG` for coincident points with -mat_kernelsum_self
   error; `PETSC_ERR_NOT_CONVERGED` for a fast sum that cannot keep its tolerance; on every rank.

.seealso: `MATKERNELSUM`, `MatCreateKernelSumDM()`, `MatKernelSumSetPoints()`
@*/
PETSC_EXTERN PetscErrorCode MatCreateKernelSum(MPI_Comm comm, Vec targets, Vec sources, Mat *A);

/*@
   MatCreateKernelSumDM - creates a `MATKERNELSUM` between the particles of a `DMSWARM` or the nodes of a `DMDA` and others

   Collective

   Input Parameters:
+  targets - a `DMSWARM` of type PIC, or a `DMDA` (or another DM) with coordinates
-  sources - likewise, of the same dimension; may be `targets`

   Output Parameter:
.  A - the operator, as `MatCreateKernelSum()`; a swarm that migrates needs a new one

   Level: beginner

   Errors:
   as `MatCreateKernelSum()`; `PETSC_ERR_ARG_WRONGSTATE` for a DM without coordinates.

.seealso: `MATKERNELSUM`, `MatCreateKernelSum()`
@*/
PETSC_EXTERN PetscErrorCode MatCreateKernelSumDM(DM targets, DM sources, Mat *A);

/*@
   MatKernelSumSetPoints - sets the points of a `MATKERNELSUM`; before `MatSetUp()`

   Collective

   Input Parameters:
+  A       - the operator
.  targets - coordinates x_i [length], block size 1, 2 or 3: the dimension
-  sources - coordinates y_j [length], of the same block size

   Level: intermediate

   Errors:
   As `MatCreateKernelSum()`; `PETSC_ERR_ORDER` after `MatSetUp()`. Other types ignore the call.

.seealso: `MATKERNELSUM`, `MatCreateKernelSum()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetPoints(Mat A, Vec targets, Vec sources);

/*@C
   MatKernelSumSetKernel - sets the kernel function g of a `MATKERNELSUM`; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A    - the operator
-  name - a name in the list of `MATKERNELSUM`

   Options Database Keys:
.  -mat_kernelsum_kernel <gaussian>

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_UNKNOWN_TYPE` for another name, `PETSC_ERR_ORDER` after `MatSetUp()`. Other types ignore the call.

.seealso: `MATKERNELSUM`, `MatKernelSumSetSigma()`, `MatKernelSumSetWavenumber()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetKernel(Mat A, const char name[]);

/*@
   MatKernelSumSetSigma - sets the length σ of a `MATKERNELSUM`'s function, at any time

   Logically Collective

   Input Parameters:
+  A     - the operator
-  sigma - σ [length], > 0 and finite

   Options Database Keys:
.  -mat_kernelsum_sigma <1>

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE`, `PETSC_ERR_NOT_CONVERGED` where a fast sum cannot keep its tolerance; nothing is changed then. Other
   types ignore the call.

.seealso: `MATKERNELSUM`, `MatKernelSumSetWavenumber()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetSigma(Mat A, PetscReal sigma);

/*@
   MatKernelSumSetWavenumber - sets the wavenumber k of a `MATKERNELSUM`'s function, at any time

   Logically Collective

   Input Parameters:
+  A - the operator
-  k - k [1/length], >= 0 and finite

   Options Database Keys:
.  -mat_kernelsum_wavenumber <0>

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE`, `PETSC_ERR_NOT_CONVERGED` where a fast sum cannot keep its tolerance; nothing is changed then. Other
   types ignore the call.

.seealso: `MATKERNELSUM`, `MatKernelSumSetSigma()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetWavenumber(Mat A, PetscReal k);

/*@
   MatKernelSumSetPrecision - sets what the pairs of a `MATKERNELSUM` are computed in, at any time

   Logically Collective

   Input Parameters:
+  A         - the operator
-  precision - `MAT_KERNELSUM_DOUBLE` (default), `MAT_KERNELSUM_SINGLE` or `MAT_KERNELSUM_MIXED`

   Options Database Keys:
.  -mat_kernelsum_precision <double,single,mixed>

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_NOT_CONVERGED` for one in which a fast sum cannot keep its tolerance;
   nothing is changed then. Other types ignore the call.

.seealso: `MATKERNELSUM`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetPrecision(Mat A, MatKernelSumPrecision precision);

/*@
   MatKernelSumSetSelf - sets what g(x, x) of a `MATKERNELSUM` is; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A    - the operator
-  self - `MAT_KERNELSUM_SELF_AUTO` (default), `_ZERO`, `_LIMIT` or `_ERROR`

   Options Database Keys:
.  -mat_kernelsum_self <automatic,zero,limit,error>

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ORDER` after `MatSetUp()`. Other types ignore the call.

.seealso: `MATKERNELSUM`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetSelf(Mat A, MatKernelSumSelf self);

/*@
   MatKernelSumSetMethod - sets how the sums of a `MATKERNELSUM` are computed, and to what tolerance; before `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A      - the operator
.  method - `MAT_KERNELSUM_DIRECT` (default), `MAT_KERNELSUM_FAST` or `MAT_KERNELSUM_AUTO`
-  rtol   - tolerance of the fast method: ‖error‖₂/‖y‖₂ for random c, 1e-12 <= rtol < 1, or `PETSC_DEFAULT` to keep it

   Options Database Keys:
.  -mat_kernelsum_type <direct,fast,auto>, -mat_kernelsum_rtol <1e-6>

   Level: intermediate

   Note:
   `MatSetUp()` measures the error on a sample of targets against direct sums, with random c, of A and of its transpose, and
   raises the order of the method until it holds; the view prints it. It does so again when σ, k or the precision change.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ORDER` after `MatSetUp()`. Other types ignore the call.

.seealso: `MATKERNELSUM`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetMethod(Mat A, MatKernelSumMethod method, PetscReal rtol);

/*@
   MatKernelSumCreateGradient - creates the gradients of a `MATKERNELSUM`'s sums as another one

   Collective

   Input Parameter:
.  A - the operator y = A c, set up

   Output Parameter:
.  G - (G c)_i = ∇y(x_i) = Σ_j ∇ₓg(x_i, y_j) c_j [1/length]: M times the dimension rows, the components of a target next to each
       other; coincident pairs count for nothing

   Level: intermediate

   Note:
   G has A's points, function and settings at that time, without any `MatScale()` and the like, and sums directly.

.seealso: `MATKERNELSUM`, `MatCreateKernelSum()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumCreateGradient(Mat A, Mat *G);

/*E
   TSBurgersFlux - the numerical flux through the faces of cells, see `TSSetBurgers()`

   Values:
+  `TS_BURGERS_CENTRAL`        - the mean of both states' fluxes; unstable with explicit steps
.  `TS_BURGERS_LAX_FRIEDRICHS` - with the dissipation of the fastest wave of the whole state
.  `TS_BURGERS_RUSANOV`        - with that of the faster of both states
.  `TS_BURGERS_GODUNOV`        - that of the Riemann problem's exact solution
.  `TS_BURGERS_ENGQUIST_OSHER` - upwind for each sign of the speed
-  `TS_BURGERS_SEED`           - -(f(u_{i+1}) - f(u_{i-1}))/h, f = u²/2: twice the central differences, which -burgers_reproduce_seed
                                 of examples/burgers takes; no reconstruction, no viscosity, 1-D

   Level: beginner

.seealso: `TSSetBurgers()`, `TSBurgersSetFlux()`
E*/
typedef enum {
  TS_BURGERS_CENTRAL,
  TS_BURGERS_LAX_FRIEDRICHS,
  TS_BURGERS_RUSANOV,
  TS_BURGERS_GODUNOV,
  TS_BURGERS_ENGQUIST_OSHER,
  TS_BURGERS_SEED
} TSBurgersFlux;
PETSC_EXTERN const char *const TSBurgersFluxes[];

/*E
   TSBurgersReconstruction - the values at the faces of a cell, see `TSSetBurgers()`

   Values:
+  `TS_BURGERS_CONSTANT` - the cell's average: order 1
.  `TS_BURGERS_MINMOD`   - a line with the smaller slope to both neighbours: order 2
.  `TS_BURGERS_VANLEER`  - with the harmonic mean of both: order 2
-  `TS_BURGERS_WENO5`    - weighted, essentially not oscillating: order 5; 2 with viscosity, whose differences have that order

   Level: beginner

.seealso: `TSSetBurgers()`, `TSBurgersSetReconstruction()`
E*/
typedef enum {
  TS_BURGERS_CONSTANT,
  TS_BURGERS_MINMOD,
  TS_BURGERS_VANLEER,
  TS_BURGERS_WENO5
} TSBurgersReconstruction;
PETSC_EXTERN const char *const TSBurgersReconstructions[];

/*E
   TSBurgersBoundary - what holds at the ends of the domain, see `TSSetBurgers()`

   Values:
+  `TS_BURGERS_PERIODIC` - the DMDA is periodic
.  `TS_BURGERS_OUTFLOW`  - beyond an end is the end's own value
.  `TS_BURGERS_INFLOW`   - beyond the ends are given values
-  `TS_BURGERS_FROZEN`   - "seed": the first and the last cell do not change

   Level: beginner

.seealso: `TSSetBurgers()`, `TSBurgersSetBoundary()`
E*/
typedef enum {
  TS_BURGERS_PERIODIC,
  TS_BURGERS_OUTFLOW,
  TS_BURGERS_INFLOW,
  TS_BURGERS_FROZEN
} TSBurgersBoundary;
PETSC_EXTERN const char *const TSBurgersBoundaries[];

/*E
   TSBurgersScheme - the time steps of `TSBURGERSFUSED`

   Values:
+  `TS_BURGERS_EULER`  - forward Euler
.  `TS_BURGERS_SSPRK2` - the strong-stability-preserving Runge-Kutta method of order 2 with 2 stages
-  `TS_BURGERS_SSPRK3` - that of order 3 with 3 stages

   Level: beginner

.seealso: `TSBURGERSFUSED`, `TSBurgersSetFused()`
E*/
typedef enum {
  TS_BURGERS_EULER,
  TS_BURGERS_SSPRK2,
  TS_BURGERS_SSPRK3
} TSBurgersScheme;
PETSC_EXTERN const char *const TSBurgersSchemes[];

/*MC
   TSBURGERSFUSED - "burgersfused": explicit steps of Burgers' equation, many between two steps of TS, several of them in one
   pass over memory. For a TS with `TSSetBurgers()`.

   Options Database Keys:
+  -burgers_fused_scheme <euler,ssprk2,ssprk3> - the steps; without it, ssprk3 for weno5 and euler for the rest
-  -burgers_fused_steps <256>                  - most steps from one step of TS to the next; 1: one step at a time

   Notes:
   Δt is that of the TS (-ts_dt), for each of the fused steps; `TSGetStepNumber()`, -ts_max_steps and the time count them all.
   Monitors, events and -ts_adapt_type cfl see the states at the ends of blocks; blocks end at the final time, at times of
   `TSSetTimeSpan()` and at the last step, and before them as TS would choose another Δt there.

   The answer is that of the same steps one by one, bit for bit, on any number of ranks: of -ts_type euler as well for the
   scheme euler, where PETSc's VecAYPX() rounds the product.

   Tiles of cells and a halo as wide as the steps reach are kept in registers (GPU) or in the first cache (CPU). A grid of up
   to 4000 cells on one GPU takes all steps of a block in one launch. In 2-D, and where a rank has fewer cells than one step
   reaches, stages are computed one by one.

   A block that has a step to be checked (see -burgers_check_interval in `TSSetBurgers()`) is checked at both ends, for the CFL
   bound and for values that are not finite. Where the end fails, the block's steps are repeated one by one to name the first that
   does, and the TS keeps the state before it.

   The type uses the TS' `TSSetPreStage()` and `TSSetPostStage()`. An event is located by shorter blocks, which needs a PETSc whose
   `TSEULER` can roll back (3.22 and newer). While an event is located, a step of TS that is longer than Δt is taken in equal
   parts of at most Δt; any other Δt that a program sets, between solves or in a monitor, is the Δt of the steps that follow.

   Errors:
   As `TSSetBurgers()`; `PETSC_ERR_SUP` for an adapter other than none and cfl; `PETSC_ERR_ORDER` without `TSSetBurgers()`.

   Level: intermediate

   Source:
   C.-W. Shu and S. Osher, Efficient implementation of essentially non-oscillatory shock-capturing schemes, 1988.

.seealso: `TSSetBurgers()`, `TSBurgersSetFused()`
M*/
#define TSBURGERSFUSED "burgersfused"

/*@
   TSSetBurgers - makes Burgers' equation u_t + (u²/2)_x = ν u_xx the equation of a TS, in 1-D or as a system in 2-D

   Collective

   Input Parameter:
.  ts - a TS with a `DMDA`: 1-D with dof = 1, or 2-D with dof = 2

   Options Database Keys:
+  -burgers_flux <godunov>           - central, lax_friedrichs, rusanov, godunov, engquist_osher or seed
.  -burgers_reconstruct <constant>   - constant, minmod, vanleer or weno5
.  -burgers_bc <outflow>             - periodic (the default of a periodic DMDA), outflow, inflow or seed (the end cells do not change)
.  -burgers_inflow <0,0>             - for inflow: u beyond the lower and the upper ends; in 2-D u,u,v,v
.  -burgers_viscosity <0>            - ν [length²/time], >= 0
.  -burgers_lengths <1>              - side lengths of the domain [length]; without them the DM's coordinates give h, else 1
.  -burgers_speed <0>                - for lax_friedrichs: a bound of |u| at all times; 0: that of the state a solve starts from
.  -burgers_check_interval <1>       - checks the steps whose number is a multiple of it; 0: none
.  -burgers_jacobian <shell>         - for implicit methods: shell (matrix-free), aij, or shell_aij: the operator matrix-free,
                                       the preconditioner's matrix assembled
-  -burgers_halo <automatic,ipc,host> - how halos travel between GPUs, see `MATLAPLACE`

   Level: beginner

   Notes:
   Finite volumes: unknowns are averages over N cells of width h = L/N on each axis. In 2-D,
   u_t + (u²/2)_x + v u_y = ν Δu and v_t + u v_x + (v²/2)_y = ν Δv; each component's own axis is conservative, and it is carried
   along the other by the same flux with the cell's speed.

   Sets the right-hand side, which any explicit `TSType` steps, and its Jacobian for the implicit ones (`TSBEULER`, `TSCN`,
   `TSBDF`, ...). The matrix-free Jacobian has products, a diagonal (-pc_type jacobi), scaling, shifts, and MatConvert() to
   `MATAIJ`; at kinks of limiters and fluxes it is the derivative of one side.

   Each step is checked, or those that -burgers_check_interval leaves. Values that are not finite are an error that names step and
   place: of an explicit type (`TSEULER`, `TSRK`, `TSSSP`, `TSBURGERSFUSED`) in any stage, of another one in the state that a step
   starts from. With lax_friedrichs a state that is faster than -burgers_speed is an error, or faster than the first state by a
   quarter. A Δt of an explicit type without error control (-ts_adapt_type none or cfl) beyond 1/Σ(|u|/(C h) + 2ν/h²) is another.
   C, the Courant number, is 1 for constant and weno5, 1/2 for minmod and vanleer, which then do not add variation; TSSSP may take
   as much longer steps as its coefficient tells. The bound goes to `TSSetCFLTimeLocal()`; with -ts_adapt_type cfl it is computed in
   each step, whatever the interval, and values that are not finite have none and stay an error. A check is one reduction over
   the ranks.

   The bound is necessary, not sufficient: forward Euler is unstable with central at any Δt, and with weno5 at any fixed
   Courant number; take -ts_type ssp, rk, or -burgers_fused_scheme ssprk3 for reconstructions of high order.

   Where the vectors are, the right-hand side is computed. Results do not depend on the ranks, in any bit.

   The options are read here and in `TSSetFromOptions()`, which so overrides what was set in between; an option that would have no
   effect (-burgers_inflow with other ends, -burgers_speed with another flux) is an error there. May be called again. The DM
   must not change afterwards. The TS gets a monitor, by which the beginning and the end of a solve are known; after
   `TSMonitorCancel()` call `TSSetFromOptions()` or this again.

   The matrix-free Jacobian has no entries: -pc_type lu, ilu, sor, mg, gamg and others that want them need -burgers_jacobian shell_aij
   or aij, and say so. It may be kept longer than the TS.

   Errors:
   `PETSC_ERR_ARG_WRONG` for another DM; `PETSC_ERR_ARG_OUTOFRANGE` for another dof or dimension, too few cells for the
   reconstruction, ν < 0; `PETSC_ERR_ARG_INCOMP` for a boundary condition that the DMDA has not; `PETSC_ERR_SUP` in a PETSc for complex
   scalars; at a step, `PETSC_ERR_FP` and `PETSC_ERR_ARG_OUTOFRANGE` of the checks; `PETSC_ERR_ARG_INCOMP` for an option without effect;
   on every rank.

   Source:
   R. J. LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002; G.-S. Jiang and C.-W. Shu, 1996 (weno5).

.seealso: `TSBURGERSFUSED`, `TSBurgersView()`, `TSBurgersSetFlux()`, `TSBurgersSetReconstruction()`, `TSBurgersGetTimeStepBound()`
@*/
PETSC_EXTERN PetscErrorCode TSSetBurgers(TS ts);

/*@
   TSBurgersView - prints the equation of a TS: its flux, reconstruction, ends, viscosity, checks and fused steps

   Collective

   Input Parameters:
+  ts     - a TS with `TSSetBurgers()`
-  viewer - of type ascii, others print nothing; NULL: the standard output

   Level: intermediate

   Note:
   Where -ts_view prints on the standard output, this comes before it.

   Errors:
   `PETSC_ERR_ORDER` before `TSSetBurgers()`; those of settings that do not go together, see there.

.seealso: `TSSetBurgers()`, `TSView()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersView(TS ts, PetscViewer viewer);

/*@
   TSBurgersSetFlux - sets the numerical flux

   Logically Collective

   Input Parameters:
+  ts   - a TS with `TSSetBurgers()`
-  flux - one of `TSBurgersFlux`

   Options Database Keys:
.  -burgers_flux <godunov>

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ORDER` before `TSSetBurgers()`.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetFlux(TS ts, TSBurgersFlux flux);

/*@
   TSBurgersSetReconstruction - sets how the values at the faces come from the cells' averages

   Logically Collective

   Input Parameters:
+  ts             - a TS with `TSSetBurgers()`
-  reconstruction - one of `TSBurgersReconstruction`

   Options Database Keys:
.  -burgers_reconstruct <constant>

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ORDER` before `TSSetBurgers()`; at the next step for too few cells.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetReconstruction(TS ts, TSBurgersReconstruction reconstruction);

/*@
   TSBurgersSetBoundary - sets what holds at the ends of the domain

   Logically Collective

   Input Parameters:
+  ts       - a TS with `TSSetBurgers()`
-  boundary - one of `TSBurgersBoundary`; periodic for a periodic `DMDA`, and for no other

   Options Database Keys:
.  -burgers_bc <outflow>

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ORDER` before `TSSetBurgers()`; at the next step where the DMDA differs.

.seealso: `TSSetBurgers()`, `TSBurgersSetInflow()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetBoundary(TS ts, TSBurgersBoundary boundary);

/*@
   TSBurgersSetInflow - sets the states beyond the ends of the domain, for `TS_BURGERS_INFLOW`

   Logically Collective

   Input Parameters:
+  ts     - a TS with `TSSetBurgers()`
.  n      - 2 in 1-D, 4 in 2-D
-  values - u at the lower and the upper ends, then v [length/time]

   Options Database Keys:
.  -burgers_inflow <0,0>

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_SIZ` for another n, `PETSC_ERR_ARG_OUTOFRANGE` for values that are not finite; nothing is changed then.

.seealso: `TSSetBurgers()`, `TSBurgersSetBoundary()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetInflow(TS ts, PetscInt n, const PetscReal values[]);

/*@
   TSBurgersSetViscosity - sets ν

   Logically Collective

   Input Parameters:
+  ts - a TS with `TSSetBurgers()`
-  nu - ν [length²/time], >= 0 and finite

   Options Database Keys:
.  -burgers_viscosity <0>

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE`; nothing is changed then.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetViscosity(TS ts, PetscReal nu);

/*@
   TSBurgersSetLengths - sets the side lengths of the domain

   Logically Collective

   Input Parameters:
+  ts      - a TS with `TSSetBurgers()`
.  n       - the dimension
-  lengths - L for each axis [length], > 0 and finite; h = L/N

   Options Database Keys:
.  -burgers_lengths <1>

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_SIZ` for another n, `PETSC_ERR_ARG_OUTOFRANGE` for other lengths; nothing is changed then.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetLengths(TS ts, PetscInt n, const PetscReal lengths[]);

/*@
   TSBurgersSetFused - sets the steps of `TSBURGERSFUSED`

   Logically Collective

   Input Parameters:
+  ts     - a TS with `TSSetBurgers()`
.  scheme - one of `TSBurgersScheme`
-  steps  - most steps from one step of TS to the next, >= 1

   Options Database Keys:
.  -burgers_fused_scheme <euler; for weno5 ssprk3>, -burgers_fused_steps <256>

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE`; nothing is changed then.

.seealso: `TSBURGERSFUSED`, `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetFused(TS ts, TSBurgersScheme scheme, PetscInt steps);

/*@
   TSBurgersGetTimeStepBound - gets the largest Δt of a forward Euler step from a state

   Collective

   Input Parameters:
+  ts - a TS with `TSSetBurgers()`
-  u  - the state

   Output Parameter:
.  bound - Δt [time], see `TSSetBurgers()`; `PETSC_MAX_REAL` where nothing moves. It holds for all later times where the scheme
           does not raise the largest |u|

   Level: intermediate

   Errors:
   `PETSC_ERR_FP` for a state that is not finite.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersGetTimeStepBound(TS ts, Vec u, PetscReal *bound);

#endif
