#ifndef SHELLAC_KERNELSUM_H
#define SHELLAC_KERNELSUM_H

/* Sums of radial kernels over particles as a shell matrix. */

#include <petscdm.h>
#include <petscmat.h>

/*MC
   MATKERNELSUM - "kernelsum": sums of a kernel function over particles, y = A c with
   y_i = Σ_j g(x_i, y_j) c_j for M target points x_i and N source points y_j in 1-D, 2-D or 3-D. Never assembled.

   Options Database Keys:
+  -mat_kernelsum_kernel <gaussian|laplace|helmholtz|yukawa|multiquadric|inverse_multiquadric|thin_plate|logarithm> -
      the kernel function g(x, y); default gaussian
.  -mat_kernelsum_formula <text> - a formula of r, sigma and k instead of a named function, such as "exp(-r/sigma)";
      default none
.  -mat_kernelsum_sigma <real, > 0> - length σ of the function [length]; an error for functions without σ; default 1
.  -mat_kernelsum_wavenumber <real, >= 0> - wavenumber or decay k of the function [1/length]; an error for functions
      without k; default none: helmholtz and yukawa need it, > 0
.  -mat_kernelsum_precision <double|single|mixed> - precision in which pairs are computed; default double
.  -mat_kernelsum_self <automatic|zero|limit|error> - the value of g(x, x); default automatic
.  -mat_kernelsum_type <direct|fast|auto> - all pairs, or a fast method with a tolerance; default direct
.  -mat_kernelsum_rtol <real, 1e-12 to 1> - relative tolerance of the fast method; an error for the type direct; default
      1e-6
-  -mat_kernelsum_monitor <true|false> - print the progress of each product; default false

   Kernel functions, r = |x - y|:
+  gaussian             - exp(-r²/(2σ²))
.  laplace              - 1/(4πr), the electrostatic potential
.  helmholtz            - exp(ikr)/(4πr), the acoustic Green's function; k > 0 must be set
.  yukawa               - exp(-kr)/(4πr), the screened potential; k > 0 must be set
.  multiquadric         - sqrt(r² + σ²)
.  inverse_multiquadric - 1/sqrt(r² + σ²)
.  thin_plate           - r² log r
-  logarithm            - -log(r)/(2π), the potential of line charges

   Precision:
+  double - relative errors of a few eps √N
.  single - coordinates (relative to the centre of all points, in units of their extent), distances and g are in single
            precision. 128 terms are added in single precision, these sums in double. Relative errors are 1e-7 to 1e-6 if c
            has one sign and points are spread out. For points of extent D, a distance d has the relative error 6e-8 D/d:
            sums within a tight cluster, and gradients of singular functions at close points, have that error. Points
            closer than 1e-7 D count as coincident. Beyond 1e6 wavelengths the phase is lost.
-  mixed  - like single, but 8 terms at a time

   Self:
+  automatic - the limit if it is finite, otherwise zero
.  zero      - coincident pairs contribute nothing
.  limit     - g(0); an error for functions without one
-  error     - the set-up fails if a source coincides with a target, and names the pair

   Types:
+  direct - all pairs
.  fast   - the Gaussian by its Fourier series where that is cheap; otherwise a tree of the points, with polynomial
            interpolation between clusters that are far from each other. One right-hand side at a time. Gradients are direct.
            With tolerances of 1e-6 and more it may use single precision, with coordinates relative to each group of
            targets, except for near pairs of singular functions. It is an error if no order meets the tolerance.
            Pairs that are so far from each other that the function has decayed, whatever function it is, are left out.
-  auto   - fast if it is estimated to be faster and meets the tolerance, otherwise direct

   Notes:
   Settings may be changed at any time, in any order. The set-up checks that they do not contradict each other, looks
   for coincident points and prepares a fast method. After `MatCreateKernelSum()` it runs at the first use: a product, a
   view, an entry. A Mat that is created by `MatCreate()` and `MatSetType()` is set up by `MatSetUp()`. A setting
   that is changed later takes effect at once; if it fails, nothing is changed. All ranks must give the same settings and
   options: values that differ are an error on all of them, `PETSC_ERR_ARG_INCOMP`, that names two of them.

   Targets and sources may be distributed over the ranks in any way, independently of each other; a rank may have no
   points. Blocks of sources are passed around the ranks in a ring while the present block is summed. They go through
   the memory of the host, also with CUDA vectors: two copies for each block and rank, which -log_view counts.

   In a real PETSc the kernel helmholtz takes vectors of block size 2, with the real and the imaginary part of each
   value. The matrix is then 2M x 2N, and its transpose is the Hermitian transpose of the complex matrix. PETSc's
   error "Mat mat,Vec x: global dim" with one number twice the other means that a vector lacks imaginary parts;
   `MatCreateVecs()` makes the right vectors.

   Vectors may be on the host or on a CUDA device. The sum is computed where they are.

   `MatMatMult()` and `MatTransposeMatMult()` with a `MATDENSE` or `MATDENSECUDA` compute distances and g once for up
   to 16 columns. `MatGetDiagonal()`, `MatNorm()` (row by row, nothing is stored) and `MatConvert()` to `MATDENSE`
   compute entries on the host, on one rank also `MatGetRow()` and `MatGetValues()`. Submatrices and factors of lu or
   cholesky are those of the dense matrix. `MatScale()`, `MatShift()`, `MatDiagonalScale()` and `MatDiagonalSet()` are
   stored and applied with the sum, also when settings change; a diagonal that was inserted then stays. `MatView()` prints
   entries, as for other matrices; -mat_view ::ascii_info shows the function, the error and the rate.

   PETSc uses no preconditioner by default. -pc_type kernelsum (`PCKERNELSUM`) is one for square sums.

   Level: beginner

   Sources:
   the problem and its kernels: T. Betcke, GPU accelerated evaluation of particle sums, 2020; interpolation between clusters:
   L. Wilson, N. Vaughn, R. Krasny, A GPU-accelerated fast multipole method based on barycentric Lagrange interpolation and
   dual tree traversal, 2021; the points: S. De Marchi, M. Vianello, Y. Xu, New cubature formulae and hyperinterpolation in
   three variables, 2009.

.seealso: `MatCreateKernelSum()`, `MatCreateKernelSumDM()`, `MatKernelSumCreateGradient()`, `PCKERNELSUM`
M*/
#define MATKERNELSUM "kernelsum"

/*E
   MatKernelSumPrecision - the precision in which the pairs of a `MATKERNELSUM` are computed

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
   MatKernelSumSelf - the value of g(x, x) in a `MATKERNELSUM`

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
   MatCreateKernelSum - creates a `MATKERNELSUM` between points, with the settings of the options database

   Collective

   Input Parameters:
+  comm    - the communicator, that of the two vectors
.  targets - coordinates x_i [length], block size 1, 2 or 3: the dimension
-  sources - coordinates y_j [length], of the same block size; may be `targets`

   Output Parameter:
.  A - the operator, M x N, ready for setters and for `MatMult()`; its rows are distributed like the targets, its
       columns like the sources

   Options Database Keys:
.  see `MATKERNELSUM`

   Level: beginner

   Note:
   The coordinates are copied. Vectors that A makes have the type of `targets`. In a complex PETSc they have no
   imaginary parts. -mat_type is not read. A setter that is called later overrides an option; call
   `MatSetFromOptions()` after the setters to let the options override them.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another block size, a coordinate that is not finite and real, σ <= 0, k < 0;
   `PETSC_ERR_ARG_INCOMP` for different block sizes; `PETSC_ERR_ARG_NULL`. At the first use: `PETSC_ERR_ARG_INCOMP`
   for a limit that g does not have, or for an option that has no effect on g; `PETSC_ERR_ARG_WRONGSTATE` for a
   function that needs k without k; `PETSC_ERR_ARG_WRONG` for
   coincident points with -mat_kernelsum_self error; `PETSC_ERR_NOT_CONVERGED` for a fast sum that cannot meet its
   tolerance. On every rank.

.seealso: `MATKERNELSUM`, `MatCreateKernelSumDM()`, `MatKernelSumSetPoints()`
@*/
PETSC_EXTERN PetscErrorCode MatCreateKernelSum(MPI_Comm comm, Vec targets, Vec sources, Mat *A);

/*@
   MatCreateKernelSumDM - creates a `MATKERNELSUM` between the points of two DMs: particles of a `DMSWARM`, nodes of
   a `DMDA`

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
   MatKernelSumSetPoints - sets the points of a `MATKERNELSUM`, at any time

   Collective

   Input Parameters:
+  A       - the operator
.  targets - coordinates x_i [length], block size 1, 2 or 3: the dimension
-  sources - coordinates y_j [length], of the same block size

   Level: intermediate

   Errors:
   As `MatCreateKernelSum()`; `PETSC_ERR_ARG_INCOMP` for points of another dimension than those before;
   `PETSC_ERR_ARG_SIZ` for other numbers of points where A has been scaled by vectors. Other types
   ignore the call.

.seealso: `MATKERNELSUM`, `MatCreateKernelSum()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetPoints(Mat A, Vec targets, Vec sources);

/*@C
   MatKernelSumSetKernel - sets the kernel function g of a `MATKERNELSUM`, at any time

   Logically Collective

   Input Parameters:
+  A    - the operator
-  name - a name in the list of `MATKERNELSUM`

   Options Database Key:
.  -mat_kernelsum_kernel <gaussian|laplace|helmholtz|yukawa|multiquadric|inverse_multiquadric|thin_plate|logarithm> -
      the kernel function g(x, y); default gaussian

   Level: beginner

   Note:
   In a real PETSc, the vectors of helmholtz are twice as long as those of the other functions; `MatCreateVecs()`
   makes the right ones.

   Errors:
   `PETSC_ERR_ARG_UNKNOWN_TYPE` for another name, `PETSC_ERR_ARG_NULL`. Other types ignore the call.

.seealso: `MATKERNELSUM`, `MatKernelSumSetSigma()`, `MatKernelSumSetWavenumber()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetKernel(Mat A, const char name[]);

/*@C
   MatKernelSumGetKernels - gets the kernel functions that this library has

   Not Collective

   Output Parameters:
+  names    - their names for `MatKernelSumSetKernel()`, ended by a null pointer; or NULL
-  formulas - in the same order what they compute, of r, sigma and k, ended by a null pointer; or NULL

   Level: intermediate

   Note:
   A function has the parameters whose names are in its formula.

   Errors:
   None.

.seealso: `MATKERNELSUM`, `MatKernelSumSetKernel()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumGetKernels(const char *const **names, const char *const **formulas);

/*@C
   MatKernelSumSetFormula - sets the kernel function of a `MATKERNELSUM` as text, which is compiled at run time

   Collective

   Input Parameters:
+  A    - the operator
-  text - an expression of r = |x - y|, sigma, k and pi, such as "exp(-r/sigma)"; the same on all ranks

   Options Database Key:
.  -mat_kernelsum_formula <text> - a formula of r, sigma and k instead of a named function, such as "exp(-r/sigma)";
                                   default none

   Level: intermediate

   Notes:
   Functions are those of `DMDASetEquation()`: exp, log, sqrt, pow, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, abs,
   floor, min, max; and a < b ? c : d. sigma is that of `MatKernelSumSetSigma()`, k that of `MatKernelSumSetWavenumber()`.
   Gradients come from the same text. For fast sums, which use trees, the function must be smooth for r > 0.

   If the value at r = 0 is not finite, coincident pairs contribute nothing, as with the library's own singular functions.
   For example, r*log(r) is NaN there. `MatKernelSumSetSelf()` changes this.

   The text is compiled by the C++ compiler that built Shellac, or by the one that the environment variable SHELLAC_CXX
   names; for vectors on a GPU, by NVRTC at the first product. Results are cached in the folder SHELLAC_CACHE.
   `MatKernelSumSetKernel()` removes the formula.

   Errors:
   `PETSC_ERR_USER` for an unknown name or a text that does not compile, which it quotes, and without a compiler;
   `PETSC_ERR_ARG_WRONGSTATE` if k is not set. Nothing is changed then. `PETSC_ERR_SUP` at a product on a GPU without NVRTC.
   Other types ignore the call.

.seealso: `MATKERNELSUM`, `MatKernelSumSetKernel()`, `MatKernelSumSetSigma()`, `MatKernelSumSetWavenumber()`,
          `DMDASetEquation()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetFormula(Mat A, const char text[]);

/*@
   MatKernelSumSetSigma - sets the length σ of a `MATKERNELSUM`'s function, at any time

   Logically Collective

   Input Parameters:
+  A     - the operator
-  sigma - σ [length], > 0 and finite

   Options Database Key:
.  -mat_kernelsum_sigma <real, > 0> - length σ of the function [length]; an error for functions without σ; default 1

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE`, `PETSC_ERR_NOT_CONVERGED` if a fast sum cannot meet its tolerance; nothing is changed then.
   Other types ignore the call. A function without σ ignores the value, which is kept for a function that is set later;
   the option is an error with such a function.

.seealso: `MATKERNELSUM`, `MatKernelSumSetWavenumber()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetSigma(Mat A, PetscReal sigma);

/*@
   MatKernelSumSetWavenumber - sets the wavenumber k of a `MATKERNELSUM`'s function, at any time

   Logically Collective

   Input Parameters:
+  A - the operator
-  k - k [1/length], finite, > 0 for helmholtz and yukawa, >= 0 for a formula

   Options Database Key:
.  -mat_kernelsum_wavenumber <real, >= 0> - wavenumber or decay k of the function [1/length]; an error for functions
                                            without k; default none: helmholtz and yukawa need it, > 0

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE`, `PETSC_ERR_NOT_CONVERGED` if a fast sum cannot meet its tolerance; nothing is changed then.
   Other types ignore the call. A function without k ignores the value, which is kept for a function that is set later;
   the option is an error with such a function.

.seealso: `MATKERNELSUM`, `MatKernelSumSetSigma()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetWavenumber(Mat A, PetscReal k);

/*@
   MatKernelSumSetPrecision - sets the precision in which the pairs of a `MATKERNELSUM` are computed, at any time

   Logically Collective

   Input Parameters:
+  A         - the operator
-  precision - `MAT_KERNELSUM_DOUBLE` (default), `MAT_KERNELSUM_SINGLE` or `MAT_KERNELSUM_MIXED`

   Options Database Key:
.  -mat_kernelsum_precision <double|single|mixed> - precision in which pairs are computed; default double

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_NOT_CONVERGED` if a fast sum cannot meet its tolerance in it;
   nothing is changed then. Other types ignore the call.

.seealso: `MATKERNELSUM`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetPrecision(Mat A, MatKernelSumPrecision precision);

/*@
   MatKernelSumSetSelf - sets the value of g(x, x) in a `MATKERNELSUM`, at any time

   Logically Collective

   Input Parameters:
+  A    - the operator
-  self - `MAT_KERNELSUM_SELF_AUTO` (default), `_ZERO`, `_LIMIT` or `_ERROR`

   Options Database Key:
.  -mat_kernelsum_self <automatic|zero|limit|error> - the value of g(x, x); default automatic

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value. Other types ignore the call.

.seealso: `MATKERNELSUM`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetSelf(Mat A, MatKernelSumSelf self);

/*@
   MatKernelSumSetMethod - sets how the sums of a `MATKERNELSUM` are computed, and to what tolerance, at any time

   Logically Collective

   Input Parameters:
+  A      - the operator
.  method - `MAT_KERNELSUM_DIRECT` (default), `MAT_KERNELSUM_FAST` or `MAT_KERNELSUM_AUTO`
-  rtol   - tolerance of the fast method: ‖error‖₂/‖y‖₂ in the root mean square over random c, 1e-12 <= rtol < 1, or
            `PETSC_DEFAULT` to keep it

   Options Database Keys:
+  -mat_kernelsum_type <direct|fast|auto> - all pairs, or a fast method with a tolerance; default direct
-  -mat_kernelsum_rtol <real, 1e-12 to 1> - relative tolerance of the fast method; an error for the type direct; default
                                            1e-6

   Level: intermediate

   Note:
   The set-up compares with direct sums on a sample of targets, with random c, for A and for its transpose, and
   raises the order of the method until the tolerance holds. The view prints the measured error. The measurement is
   repeated when σ, k or the precision change. If the sums for a given c nearly cancel, their relative error may be
   larger.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value. Other types ignore the call.

.seealso: `MATKERNELSUM`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumSetMethod(Mat A, MatKernelSumMethod method, PetscReal rtol);

/*@
   MatKernelSumCreateGradient - creates a `MATKERNELSUM` for the gradients of the sums of another one

   Collective

   Input Parameter:
.  A - the operator y = A c

   Output Parameter:
.  G - (G c)_i = ∇y(x_i) = Σ_j ∇ₓg(x_i, y_j) c_j [1/length]. It has dim M rows; the components of a target are next to
       each other. Coincident pairs contribute nothing

   Level: intermediate

   Note:
   G has the points, function and settings that A has at the time of the call, without any `MatScale()` or other
   change of the operator. It computes direct sums, also if those of A are fast. `MAT_KERNELSUM_FAST` for G is an error,
   `PETSC_ERR_ARG_INCOMP`, in its set-up.

   Errors:
   `PETSC_ERR_SUP` for other types and for gradients, `PETSC_ERR_ARG_NULL`, `PETSC_ERR_ARG_WRONGSTATE` where A has no points.

.seealso: `MATKERNELSUM`, `MatCreateKernelSum()`
@*/
PETSC_EXTERN PetscErrorCode MatKernelSumCreateGradient(Mat A, Mat *G);

#endif
