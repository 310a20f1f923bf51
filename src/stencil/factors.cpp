// Factorisation through an assembled copy.
// The factor is the AIJ's own, of the AIJ's solver package. Its symbolic and numeric steps are given our matrix: they are
// wrapped to be given the assembled copy instead. Its solves are wrapped, too: where a field has changed and the program has
// not assembled the matrix since, PCSetUp() cannot know that the factor is an old one, so that the solve repeats the
// numeric step.

#include "stencil/mat.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>

namespace shellac {

// Whether the nonzero pattern of one AIJ has all of another's.
static PetscErrorCode has_pattern(Mat aij, Mat other, bool *has) {
  PetscInt first, last, rows;

  PetscFunctionBegin;
  *has = aij == other;
  if (*has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(aij, &first, &last));
  PetscCall(MatGetLocalSize(other, &rows, NULL));
  *has = rows == last - first;
  for (PetscInt row = first; *has && row < last; row++) {
    const PetscInt *columns, *of_other;
    PetscInt        n, m;
    PetscCall(MatGetRow(aij, row, &n, &columns, NULL));
    PetscCall(MatGetRow(other, row, &m, &of_other, NULL));
    *has = std::includes(columns, columns + n, of_other, of_other + m);
    PetscCall(MatRestoreRow(other, row, &m, &of_other, NULL));
    PetscCall(MatRestoreRow(aij, row, &n, &columns, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static constexpr MatOperation symbolic_operations[] = {MATOP_LUFACTOR_SYMBOLIC, MATOP_CHOLESKY_FACTOR_SYMBOLIC,
                                                       MATOP_ILUFACTOR_SYMBOLIC, MATOP_ICCFACTOR_SYMBOLIC};
static constexpr MatOperation numeric_operations[] = {MATOP_LUFACTOR_NUMERIC, MATOP_CHOLESKY_FACTOR_NUMERIC};
static constexpr MatOperation solve_operations[] = {MATOP_SOLVE,         MATOP_SOLVE_TRANSPOSE,
                                                    MATOP_FORWARD_SOLVE, MATOP_BACKWARD_SOLVE,
                                                    MATOP_SOLVE_ADD,     MATOP_SOLVE_TRANSPOSE_ADD,  // of three vectors
                                                    MATOP_MAT_SOLVE,     MATOP_MAT_SOLVE_TRANSPOSE}; // of two matrices
constexpr int                 solve_count = sizeof(solve_operations) / sizeof(solve_operations[0]);

struct FactorSteps {
  OperationFn  *symbolic[4]; // the package's
  OperationFn  *numeric[2];
  OperationFn  *solves[solve_count];
  Mat           pattern = NULL;       // the copy that the symbolic step was given
  bool          of_symmetric = false; // what PETSc knew of A then, and chose ICC or Cholesky by
  bool          failed = false;       // the last numeric step has ended with an error
  Mat           A = NULL;             // that the numeric step was given,
  MatVersion    version;              // in this state
  MatFactorInfo info;

  ~FactorSteps() {
    (void)!MatDestroy(&pattern);
    (void)!MatDestroy(&A);
  }
};

// Puts operations in the place of those that F has, which are kept.
template <int count>
static PetscErrorCode wrap(Mat F, const MatOperation (&operations)[count], OperationFn *const (&wrapped)[count],
                           OperationFn *(&kept)[count]) {
  PetscFunctionBegin;
  for (int n = 0; n < count; n++) {
    OperationFn *present;
    PetscCall(MatGetOperation(F, operations[n], &present));
    if (!present || present == wrapped[n]) continue;
    kept[n] = present;
    PetscCall(MatSetOperation(F, operations[n], wrapped[n]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_steps(Mat F, FactorSteps **steps) {
  return query_context((PetscObject)F, "ShellacFactorSteps", steps);
}

// Repeats the numeric step where A has been refreshed since, and only that: a rise of its state is PCSetUp()'s to follow.
static PetscErrorCode follow_refreshes(Mat F, FactorSteps *steps) {
  MatChange     change; // other: also where A was converted in place
  MatFactorType type;
  MatFactorInfo info = steps->info;

  PetscFunctionBegin;
  PetscCall(steps->version.Compare(steps->A, &change));
  if (change != MatChange::refreshed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetFactorType(F, &type));
  if (type == MAT_FACTOR_LU || type == MAT_FACTOR_ILU)
    PetscCall(MatLUFactorNumeric(F, steps->A, &info));
  else
    PetscCall(MatCholeskyFactorNumeric(F, steps->A, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int n, class... Operands> static PetscErrorCode solve(Mat F, Operands... operands) {
  FactorSteps   *steps;
  MatFactorError error;

  PetscFunctionBegin;
  PetscCall(get_steps(F, &steps));
  PetscCall(follow_refreshes(F, steps));
  // PCSetUp() does not try again what has ended with an error
  PetscCheck(!steps->failed, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONGSTATE,
             "the matrix could not be factored, and these are factors of an earlier one; see the error before, and "
             "call KSPReset() or change the matrix before KSPSolve()");
  PetscCall(MatFactorGetError(F, &error));
  const auto result = std::get<sizeof...(Operands) - 1>(std::make_tuple(operands...));
  if constexpr (std::is_same_v<decltype(result), const Vec>)
    if (error) { // as MatSolve() does where the factor has failed before
      PetscCall(VecSet(result, std::numeric_limits<PetscReal>::infinity()));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  PetscCall((*reinterpret_cast<PetscErrorCode (*)(Mat, Operands...)>(steps->solves[n]))(F, operands...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A numeric step chooses the solves: take their place.
static PetscErrorCode wrap_solves(Mat F, FactorSteps *steps) {
  OperationFn *const wrapped[solve_count] = {reinterpret_cast<OperationFn *>(solve<0, Vec, Vec>),
                                             reinterpret_cast<OperationFn *>(solve<1, Vec, Vec>),
                                             reinterpret_cast<OperationFn *>(solve<2, Vec, Vec>),
                                             reinterpret_cast<OperationFn *>(solve<3, Vec, Vec>),
                                             reinterpret_cast<OperationFn *>(solve<4, Vec, Vec, Vec>),
                                             reinterpret_cast<OperationFn *>(solve<5, Vec, Vec, Vec>),
                                             reinterpret_cast<OperationFn *>(solve<6, Mat, Mat>),
                                             reinterpret_cast<OperationFn *>(solve<7, Mat, Mat>)};

  return wrap(F, solve_operations, wrapped, steps->solves);
}

static PetscErrorCode is_known_symmetric(Mat A, bool *symmetric) {
  PetscBool known, is;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(A, &known, &is));
  *symmetric = known && is;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc takes ICC for a symmetric matrix, and keeps it where changed rows have made the matrix another: ICC and Cholesky
// then factor what the upper triangle says, and ICC's search for a shift may never end.
static PetscErrorCode check_symmetry(Mat F, Mat A, Mat aij) {
  FactorSteps *steps;
  bool         known = false;
  PetscReal    largest;
  PetscBool    is = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(get_steps(F, &steps));
  PetscCall(is_known_symmetric(A, &known));
  if (!steps->of_symmetric || known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNorm(aij, NORM_INFINITY, &largest));
  PetscCall(MatIsSymmetric(A, 1e3 * PETSC_MACHINE_EPSILON * largest, &is));
  PetscCheck(is, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONGSTATE,
             "icc and cholesky, of which PETSc takes one by itself for a symmetric matrix, cannot factor this one any "
             "more: a change such as MatZeroRows() has made it nonsymmetric; use -pc_type ilu or lu, or "
             "MatZeroRowsColumns()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int kind> static PetscErrorCode numeric_step(Mat F, Mat A, const MatFactorInfo *info) {
  FactorSteps *steps;
  Mat          aij;
  bool         has;

  PetscFunctionBegin;
  PetscCall(get_steps(F, &steps));
  steps->failed = true; // until all is done
  PetscCall(MatStencilGetAssembled(A, &aij));
  if constexpr (kind == 1) PetscCall(check_symmetry(F, A, aij));
  // our matrix does not tell PETSc that its copy has entries in other places
  PetscCall(has_pattern(steps->pattern, aij, &has));
  SHELLAC_CHECK_ALL(has, PetscObjectComm((PetscObject)F), PETSC_ERR_ORDER,
                    "the matrix has entries where it had none when its factorization began (rows were zeroed then, or "
                    "coefficients zero); call KSPReset() before KSPSolve()");
  PetscCall(
      (*reinterpret_cast<PetscErrorCode (*)(Mat, Mat, const MatFactorInfo *)>(steps->numeric[kind]))(F, aij, info));
  PetscCall(wrap_solves(F, steps));
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatDestroy(&steps->A));
  steps->A = A;
  PetscCall(steps->version.Read(A));
  PetscCall(MatFactorInfoInitialize(&steps->info));
  if (info) steps->info = *info;
  steps->failed = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A symbolic step chooses the numeric ones: take their place.
static PetscErrorCode wrap_numeric_steps(Mat F, FactorSteps *steps) {
  OperationFn *const wrapped[2] = {reinterpret_cast<OperationFn *>(numeric_step<0>),
                                   reinterpret_cast<OperationFn *>(numeric_step<1>)};

  return wrap(F, numeric_operations, wrapped, steps->numeric);
}

template <int kind, class... Orderings> // of rows and columns, or of both
static PetscErrorCode symbolic_step(Mat F, Mat A, Orderings... orderings, const MatFactorInfo *info) {
  using Step = PetscErrorCode(Mat, Mat, Orderings..., const MatFactorInfo *);
  FactorSteps *steps;
  Mat          aij;

  PetscFunctionBegin;
  PetscCall(get_steps(F, &steps));
  PetscCall(MatStencilGetAssembled(A, &aij));
  PetscCall(PetscObjectReference((PetscObject)aij));
  PetscCall(MatDestroy(&steps->pattern));
  steps->pattern = aij;
  PetscCall(is_known_symmetric(A, &steps->of_symmetric));
  PetscCall((*reinterpret_cast<Step *>(steps->symbolic[kind]))(F, aij, orderings..., info));
  PetscCall(wrap_numeric_steps(F, steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode wrap_factor(Mat F) {
  OperationFn *const wrapped[4] = {
      reinterpret_cast<OperationFn *>(symbolic_step<0, IS, IS>), reinterpret_cast<OperationFn *>(symbolic_step<1, IS>),
      reinterpret_cast<OperationFn *>(symbolic_step<2, IS, IS>), reinterpret_cast<OperationFn *>(symbolic_step<3, IS>)};
  FactorSteps *steps = new FactorSteps{};

  PetscFunctionBegin;
  PetscCall(compose_context((PetscObject)F, "ShellacFactorSteps", steps));
  PetscCall(wrap(F, symbolic_operations, wrapped, steps->symbolic));
  PetscCall(wrap_numeric_steps(F, steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The packages that factor an AIJ; the first is what an unnamed choice finds.
static const char *const packages[] = {MATSOLVERPETSC,     MATSOLVERMUMPS,       MATSOLVERSUPERLU_DIST,
                                       MATSOLVERSUPERLU,   MATSOLVERUMFPACK,     MATSOLVERKLU,
                                       MATSOLVERCHOLMOD,   MATSOLVERMKL_PARDISO, MATSOLVERPASTIX,
                                       MATSOLVERSTRUMPACK, MATSOLVERMKL_CPARDISO};
constexpr int            package_count = sizeof(packages) / sizeof(packages[0]);

template <int package> static PetscErrorCode get_factor(Mat A, MatFactorType kind, Mat *F) {
  Mat       aij;
  PetscBool available;

  PetscFunctionBegin;
  PetscCall(MatStencilGetAssembled(A, &aij));
  PetscCall(MatGetFactorAvailable(aij, packages[package], kind, &available));
  // PETSc's own factors are of one rank: there, as for an AIJ, the first other package serves
  PetscCall(MatGetFactor(aij, package == 0 && !available ? NULL : packages[package], kind, F));
  if (*F) PetscCall(wrap_factor(*F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int package> static PetscErrorCode register_packages(MatType type) {
  PetscFunctionBegin;
  if constexpr (package < package_count) {
    for (MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC}) {
      bool any = false;
      for (MatType aij : {MATSEQAIJ, MATMPIAIJ}) {
        PetscBool found_package, found_type;
        PetscErrorCode (*create)(Mat, MatFactorType, Mat *);
        PetscCall(MatSolverTypeGet(packages[package], aij, kind, &found_package, &found_type, &create));
        any = any || create;
      }
      if (any) PetscCall(MatSolverTypeRegister(packages[package], type, kind, get_factor<package>));
    }
    PetscCall(register_packages<package + 1>(type));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilRegisterSolvers(MatType type) {
  return register_packages<0>(type);
}

} // namespace shellac
