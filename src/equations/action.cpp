// The Mat type equation: the Jacobian's action on a vector, without entries; and preconditioners without entries.

#include "equations/equation.hpp"
#include "equations/scaling.hpp"
#include "equations/types.hpp"
#include "shellac.h"

namespace shellac {

// ---- on a grid -------------------------------------------------------------------------------------------------------

PetscErrorCode EquationOnGrid::CopyState(Vec u, Vec *state) {
  PetscFunctionBegin;
  PetscCall(CheckComplete());
  if (!*state) PetscCall(ghosts_ ? DMCreateLocalVector(da_, state) : VecDuplicate(u, state));
  if (ghosts_) {
    PetscCall(DMGlobalToLocal(da_, u, INSERT_VALUES, *state));
  } else
    PetscCall(VecCopy(u, *state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::AssembleAt(PetscReal time, Vec state, Mat A) {
  WorkVector global;
  VecScatter ghosts;

  PetscFunctionBegin;
  if (ghosts_) { // DMLocalToGlobal() cannot, of periodic axes: there are several copies of some points, which are equal here
    PetscCall(global.Get(da_));
    PetscCall(DMDAGetScatter(da_, &ghosts, NULL));
    PetscCall(VecScatterBegin(ghosts, state, global, INSERT_VALUES, SCATTER_REVERSE_LOCAL));
    PetscCall(VecScatterEnd(ghosts, state, global, INSERT_VALUES, SCATTER_REVERSE_LOCAL));
    state = global;
  }
  PetscCall(Assemble(time, state, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Act(PetscReal time, Vec state, Vec v, Vec y) {
  enum { products, diagonals };

  PetscFunctionBegin;
  PetscCall(Compute(time, state, v, y, equation_->action_kernels, v ? products : diagonals,
                    v ? equation_->action->product : equation_->action->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the Mat -----------------------------------------------------------------------------------------------------------

// Where the derivative is taken.
struct ActionMat {
  Vec        state = NULL; // with ghost points, where there are several ranks; null before the first
  PetscReal  time = 0;
  MatScaling scaling;
  bool       is_sum = false;      // with another Mat: the shell keeps it, and changes the sum
  Mat        entries = NULL;      // of type stencil, for products with the transpose; null until one is asked for
  PetscInt   entries_version = 0; // of the equation that they are of; 0: they are not those at the state
};

static PetscErrorCode destroy_context(void *argument) {
  ActionMat *context = context_to_destroy<ActionMat>(argument);

  PetscFunctionBegin;
  PetscCall(VecDestroy(&context->state));
  PetscCall(MatDestroy(&context->entries));
  delete context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_equation(Mat A, EquationOnGrid **equation) {
  DM da;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &da));
  PetscCheck(da, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "a Mat of type equation needs the DMDA of its equation; make it with DMCreateMatrix()");
  PetscCall(DMGetEquation(da, equation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A Mat of a type on the grid of A.
static PetscErrorCode create_like(Mat A, MatType type, Mat *B) {
  DM       da;
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &da));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatSetDM(*B, da));
  PetscCall(MatSetUp(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_state(Mat A, ActionMat **context, EquationOnGrid **equation) {
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)context));
  PetscCheck((*context)->state, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
             "the Mat of type equation has no state yet, at which it is the derivative; SNESComputeJacobian(), "
             "TSComputeRHSJacobian() or DMDACreateEquationMat() give it one");
  PetscCall(get_equation(A, equation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y = J v, or the diagonal where v is null.
static PetscErrorCode act(Mat A, Vec v, Vec y) {
  ActionMat      *context;
  EquationOnGrid *equation;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCall(context->scaling.Apply(v, false, y, [&](Vec w, Vec z) {
    PetscFunctionBegin;
    PetscCall(get_state(A, &context, &equation));
    if (w) PetscCall(GridCheckVector(equation->grid(), w, "operand"));
    PetscCall(GridCheckVector(equation->grid(), z, "result"));
    PetscCall(equation->Act(context->time, context->state, w, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y = Jᵀ v, by entries: without them, each element would need the rows of all neighbouring points.
static PetscErrorCode act_transposed(Mat A, Vec v, Vec y) {
  ActionMat      *context;
  EquationOnGrid *equation;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCall(context->scaling.Apply(v, true, y, [&](Vec w, Vec z) {
    PetscFunctionBegin;
    PetscCall(get_state(A, &context, &equation));
    const PetscInt version = equation->equation().version;
    if (!context->entries) PetscCall(create_like(A, MATSTENCILSHELL, &context->entries));
    if (context->entries_version != version)
      PetscCall(equation->AssembleAt(context->time, context->state, context->entries));
    context->entries_version = version;
    PetscCall(MatMultTranspose(context->entries, w, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode get_diagonal(Mat A, Vec d) {
  return act(A, NULL, d);
}

// ---- scaling and shifts ------------------------------------------------------------------------------------------------

// The shell's own operations.
template <MatOperation operation, class... Parameters> struct OfShell {
  using Function = PetscErrorCode(Mat, Parameters...);
  static inline Function *call = NULL;

  static PetscErrorCode Replace(Mat A, Function *ours) { // past the shell, which allows none
    OperationFn *present;

    PetscFunctionBegin;
    PetscCall(MatGetOperation(A, operation, &present));
    call = reinterpret_cast<Function *>(present);
    PetscCall(MatSetOperation(A, operation, reinterpret_cast<OperationFn *>(ours)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
using ShellScale = OfShell<MATOP_SCALE, PetscScalar>;
using ShellShift = OfShell<MATOP_SHIFT, PetscScalar>;
using ShellDiagonalScale = OfShell<MATOP_DIAGONAL_SCALE, Vec, Vec>;
using ShellDiagonalSet = OfShell<MATOP_DIAGONAL_SET, Vec, InsertMode>;
using ShellAxpy = OfShell<MATOP_AXPY, PetscScalar, Mat, MatStructure>;

template <class Shell, PetscErrorCode (MatScaling::*own)(PetscScalar)>
static PetscErrorCode change_by(Mat A, PetscScalar a) {
  ActionMat *context;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCall(context->is_sum ? Shell::call(A, a) : (context->scaling.*own)(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode refuse_zeros_of_sum(Mat A) {
  PetscFunctionBegin;
  SETERRQ(
      PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
      "after MatAXPY() no row and no column of a Mat of type equation can be zeroed, nor scaled by zero; change the "
      "rows before, or use -dm_mat_type stencil");
}

static PetscErrorCode diagonal_scale(Mat A, Vec left, Vec right) {
  ActionMat *context;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  if (!context->is_sum) {
    PetscCall(context->scaling.DiagonalScale(A, left, right));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const Vec scaling : {left, right}) {
    PetscReal least = 1;
    Vec       size;
    if (!scaling) continue;
    PetscCall(VecDuplicate(scaling, &size));
    PetscCall(VecCopy(scaling, size));
    PetscCall(VecAbs(size));
    PetscCall(VecMin(size, NULL, &least));
    PetscCall(VecDestroy(&size));
    if (least == 0) PetscCall(refuse_zeros_of_sum(A));
  }
  PetscCall(ShellDiagonalScale::call(A, left, right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode diagonal_set(Mat A, Vec diagonal, InsertMode mode) {
  ActionMat *context;
  Vec        present;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  if (context->is_sum) {
    PetscCall(ShellDiagonalSet::call(A, diagonal, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (mode == INSERT_VALUES) {
    PetscCall(MatCreateVecs(A, NULL, &present));
    PetscCall(MatGetDiagonal(A, present));
    PetscCall(context->scaling.Add(A, present, -1));
    PetscCall(VecDestroy(&present));
  }
  PetscCall(context->scaling.Add(A, diagonal, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool columns>
static PetscErrorCode zero_rows(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diagonal, Vec x, Vec b) {
  ActionMat *context;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCall(context->is_sum ? refuse_zeros_of_sum(A) : context->scaling.ZeroRows(A, n, rows, diagonal, columns, x, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode axpy(Mat A, PetscScalar a, Mat X, MatStructure structure) {
  ActionMat *context;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  context->is_sum = true;
  PetscCall(ShellAxpy::call(A, a, X, structure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode view(Mat A, PetscViewer viewer) {
  ActionMat      *context;
  EquationOnGrid *equation;
  PetscBool       ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCall(get_equation(A, &equation));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "the derivative of the %s of %s, applied by dual numbers%s; %s\n",
      equation->equation().text.has_rate ? "rate" : "residual", equation->equation().text.file.c_str(),
      equation->equation().text.integral_of_state ? ", of integrals too; the diagonal lacks their part" : "",
      context->entries ? "entries are stored for the transpose" : "no entries are stored"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The Mat becomes so many times the derivative, without shifts and other changes.
static PetscErrorCode begin_anew(Mat A, PetscScalar factor) {
  ActionMat *context;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCall(context->scaling.Reset(factor));
  context->is_sum = false;
  PetscCall(assemble(A)); // by which the shell drops its own
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_state(Mat A, PetscReal time, Vec u) {
  ActionMat      *context;
  EquationOnGrid *equation;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&context));
  PetscCall(get_equation(A, &equation));
  PetscCall(CompileFunctions(equation->grid().comm, equation->equation(), FunctionsOf::action));
  PetscCall(equation->CopyState(u, &context->state));
  context->time = time;
  context->entries_version = 0;
  PetscCall(begin_anew(A, 1));
  PetscCall(set_operation(A, MATOP_VIEW, view)); // on several ranks DMCreateMatrix() has put another one there
  PetscFunctionReturn(PETSC_SUCCESS);
}

// For a method that takes the whole rate explicitly, a TS zeroes and shifts the Mat.
static PetscErrorCode zero_entries(Mat A) {
  return begin_anew(A, 0);
}

static PetscErrorCode set_up(Mat A) {
  DM        da;
  PetscInt  m;
  VecType   type;
  PetscBool is_da;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &da));
  PetscCheck(da, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "a Mat of type equation needs the DMDA of its equation; make it with DMCreateMatrix(), or call MatSetDM() "
             "before MatSetUp()");
  PetscCall(PetscObjectTypeCompare((PetscObject)da, DMDA, &is_da));
  PetscCheck(is_da, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "a Mat of type equation needs a DMDA with an equation; the DM is another");
  PetscCall(MatGetLocalSize(A, &m, NULL));
  if (m < 0) {
    Vec      u;
    PetscInt n;
    PetscCall(DMGetGlobalVector(da, &u));
    PetscCall(VecGetLocalSize(u, &n));
    PetscCall(DMRestoreGlobalVector(da, &u));
    PetscCall(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  }
  PetscLayout layouts[2];
  PetscCall(MatGetLayouts(A, &layouts[0], &layouts[1]));
  for (PetscLayout &layout : layouts) PetscCall(PetscLayoutSetUp(layout));
  PetscCall(DMGetVecType(da, &type));
  PetscCall(MatSetVecType(A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode duplicate(Mat A, MatDuplicateOption option, Mat *B) {
  PetscFunctionBegin;
  PetscCheck(option != MAT_COPY_VALUES, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "a Mat of type equation has no values to copy; duplicate it with MAT_DO_NOT_COPY_VALUES");
  PetscCall(create_like(A, MATEQUATION, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- preconditioners -------------------------------------------------------------------------------------------------

static PetscErrorCode refuse(MPI_Comm comm, const char *what) {
  PetscFunctionBegin;
  SETERRQ(comm, PETSC_ERR_SUP,
          "a Mat of type equation has products and a diagonal, but no entries, which %s needs; use -pc_type jacobi; "
          "with -pc_type mg also -mg_levels_pc_type jacobi -mg_coarse_ksp_type gmres -mg_coarse_pc_type jacobi; or "
          "-dm_mat_type stencil or aij, which have entries",
          what);
}
static PetscErrorCode refuse_factor(Mat A, MatFactorType, Mat *) {
  return refuse(PetscObjectComm((PetscObject)A), "a factorisation");
}
static PetscErrorCode refuse_relaxation(Mat A, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec) {
  return refuse(PetscObjectComm((PetscObject)A), "relaxation (sor, a smoother of mg by default)");
}
static PetscErrorCode refuse_submatrices(Mat A, PetscInt, const IS[], const IS[], MatReuse, Mat *[]) {
  return refuse(PetscObjectComm((PetscObject)A), "a submatrix (redundant, the coarsest solver of mg by default)");
}

// In a package of its own: for its default preconditioner, PETSc looks for factors of its own package.
PetscErrorCode MatEquationRegisterSolvers() {
  PetscFunctionBegin;
  for (MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    PetscCall(MatSolverTypeRegister("shellac", MATEQUATION, kind, refuse_factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAvoidEntries(KSP ksp, Mat B) {
  PC           pc;
  PCType       type;
  PetscOptions options;
  const char  *prefix;
  PetscBool    without_entries, is_default, wants_entries, multigrid, given;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATEQUATION, &without_entries));
  if (!without_entries) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &type));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &is_default, PCILU, PCICC, PCBJACOBI, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &wants_entries, PCILU, PCICC, PCBJACOBI, PCLU, PCCHOLESKY, PCASM,
                                      PCGASM, PCSOR, PCEISENSTAT, PCREDUNDANT, PCGAMG, PCHYPRE, PCPBJACOBI, PCKACZMARZ,
                                      PCDEFLATION, PCTELESCOPE, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCMG, &multigrid));
  PetscCall(PetscObjectGetOptions((PetscObject)pc, &options));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsHasName(options, prefix, "-pc_type", &given));
  if (!given && (!type || is_default)) {
    PetscCall(PetscInfo(pc, "a Mat of type equation has no entries: the preconditioner %s becomes jacobi\n",
                        type ? type : "of PETSc's choice"));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(PCSetFromOptions(pc)); // if it was called before, the type was another, or none
  } else if (wants_entries)
    PetscCall(refuse(PetscObjectComm((PetscObject)ksp), (std::string("the preconditioner ") + type).c_str()));
  else if (multigrid) {
    PCMGGalerkinType galerkin;
    PetscCall(PCMGGetGalerkin(pc, &galerkin));
    if (galerkin == PC_MG_GALERKIN_BOTH || galerkin == PC_MG_GALERKIN_PMAT || galerkin == PC_MG_GALERKIN_MAT)
      PetscCall(refuse(PetscObjectComm((PetscObject)ksp), "-pc_mg_galerkin"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the type ----------------------------------------------------------------------------------------------------------

static const char method[] = "ShellacEquationSetState_C";

PetscErrorCode MatEquationTrySetState(Mat A, PetscReal time, Vec u, PetscBool *set) {
  PetscFunctionBegin;
  PetscCall(try_method(A, method, set, time, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_Equation(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSHELL));
  PetscCall(MatShellSetContext(A, new ActionMat));
  PetscCall(MatShellSetContextDestroy(A, destructor(destroy_context)));
  PetscCall(MatBindToCPU(A, PETSC_FALSE)); // a new Mat is bound until its type says that it can leave the host
  PetscCall(set_operation(A, MATOP_MULT, act));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE, act_transposed));
  PetscCall(set_operation(A, MATOP_GET_DIAGONAL, get_diagonal));
  PetscCall(set_operation(A, MATOP_ZERO_ENTRIES, zero_entries));
  PetscCall(ShellScale::Replace(A, change_by<ShellScale, &MatScaling::Scale>));
  PetscCall(ShellShift::Replace(A, change_by<ShellShift, &MatScaling::Shift>));
  PetscCall(ShellDiagonalScale::Replace(A, diagonal_scale));
  PetscCall(ShellDiagonalSet::Replace(A, diagonal_set));
  PetscCall(ShellAxpy::Replace(A, axpy));
  PetscCall(MatSetOperation(A, MATOP_ZERO_ROWS, reinterpret_cast<OperationFn *>(zero_rows<false>)));
  PetscCall(MatSetOperation(A, MATOP_ZERO_ROWS_COLUMNS, reinterpret_cast<OperationFn *>(zero_rows<true>)));
  PetscCall(set_operation(A, MATOP_SETUP, set_up));
  PetscCall(set_operation(A, MATOP_SOR, refuse_relaxation));
  PetscCall(set_operation(A, MATOP_CREATE_SUBMATRICES, refuse_submatrices));
  PetscCall(set_operation(A, MATOP_DUPLICATE, duplicate));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, method, set_state));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATEQUATION));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
