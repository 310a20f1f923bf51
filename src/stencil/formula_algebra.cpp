// Operators of a formula as a vector space; their copies and transposes.

#include "stencil/formula_mat.hpp"

namespace shellac {

static PetscErrorCode scale(Mat A, PetscScalar a) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &context));
  context->formula().scale(a);
  context->scale *= a;
  if (context->diagonal) PetscCall(VecScale(context->diagonal, a));
  PetscCall(MatFormulaChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode shift(Mat A, PetscScalar a) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &context));
  context->formula().shift(a);
  PetscCall(MatFormulaChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode diagonal_set(Mat A, Vec d, InsertMode mode) {
  FormulaMat *context;
  Vec         present;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &context));
  PetscCheck(mode == INSERT_VALUES || mode == ADD_VALUES, context->grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "MatDiagonalSet() takes INSERT_VALUES or ADD_VALUES");
  PetscCall(MatStencilCheckLayouts(A, false, d, NULL, d));
  if (mode == INSERT_VALUES) { // the difference to the operator's own
    PetscCall(VecDestroy(&context->diagonal));
    PetscCall(MatCreateVecs(A, NULL, &present));
    PetscCall(MatGetDiagonal(A, present));
    PetscCall(VecAYPX(present, -1, d));
    context->diagonal = present;
  } else if (context->diagonal) {
    PetscCall(VecAXPY(context->diagonal, 1, d));
  } else {
    PetscCall(MatCreateVecs(A, NULL, &context->diagonal));
    PetscCall(VecCopy(d, context->diagonal));
  }
  PetscCall(MatFormulaChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether two operators have the same rows but for their coefficients.
static bool alike(const FormulaMat &a, const FormulaMat &b) {
  const Patch &p = a.op->patch(), &q = b.op->patch();
  bool         alike = a.grid.dim == b.grid.dim;
  for (int axis = 0; axis < 3; axis++)
    alike = alike && p.N[axis] == q.N[axis] && p.beyond[axis] == q.beyond[axis] &&
            p.identity[axis] == q.identity[axis] && a.grid.first[axis] == b.grid.first[axis];
  return alike;
}

static PetscErrorCode axpy(Mat Y, PetscScalar a, Mat X, MatStructure) {
  FormulaMat *y, *x;
  MatType     y_type, x_type;
  PetscErrorCode (*formula)(Mat, MatLaplaceBoundaryType) = NULL;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(Y, &y));
  PetscCall(MatGetType(Y, &y_type));
  PetscCall(MatGetType(X, &x_type));
  PetscCall(PetscObjectQueryFunction((PetscObject)X, "MatLaplaceSetBoundary_C", &formula));
  PetscCheck(formula, y->grid.comm, PETSC_ERR_SUP,
             "a Mat of type %s cannot take up one of type %s: its rows have one formula; convert it first: "
             "MatConvert(Y, MATAIJ, MAT_INPLACE_MATRIX, &Y), or assemble it into -dm_mat_type stencil",
             y_type, x_type);
  PetscCall(MatGetReadyFormula(X, &x));
  PetscCheck(alike(*y, *x) && x->transposed == y->transposed, y->grid.comm, PETSC_ERR_ARG_INCOMP,
             "the two operators have different grids or boundary forms, or one is transposed; convert one to aij with "
             "MatConvert()");
  PetscCheck(y->formula().axpy(a, x->formula()), y->grid.comm, PETSC_ERR_ARG_INCOMP,
             "Mats of types %s and %s have different formulas; convert the first with MatConvert(Y, MATAIJ, "
             "MAT_INPLACE_MATRIX, &Y)",
             y_type, x_type);
  if (x->diagonal && y->diagonal)
    PetscCall(VecAXPY(y->diagonal, a, x->diagonal));
  else if (x->diagonal) {
    PetscCall(VecDuplicate(x->diagonal, &y->diagonal));
    PetscCall(VecCopy(x->diagonal, y->diagonal));
    PetscCall(VecScale(y->diagonal, a));
  }
  PetscCall(MatFormulaChanged(Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Everything of `from` but what depends on its Mat.
static PetscErrorCode copy_state(const FormulaMat &from, FormulaMat *to) {
  PetscFunctionBegin;
  to->take_settings(from);
  to->op = from.formula().clone();
  to->scale = from.scale;
  to->transposed = from.transposed;
  for (int a = 0; a < 3; a++) to->h[a] = from.h[a];
  if (from.diagonal) {
    if (!to->diagonal) PetscCall(VecDuplicate(from.diagonal, &to->diagonal));
    PetscCall(VecCopy(from.diagonal, to->diagonal));
  } else
    PetscCall(VecDestroy(&to->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode duplicate(Mat A, MatDuplicateOption option, Mat *B) {
  FormulaMat *from, *to;
  MatType     type;
  VecType     vec_type;
  PetscInt    m, n, M, N;
  PetscBool   bound;
  DM          dm;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &from));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetVecType(A, &vec_type));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, m, n, M, N));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatGetFormula(*B, &to));
  to->take_settings(*from);
  PetscCall(MatSetDM(*B, dm));
  if (bound) PetscCall(MatBindToCPU(*B, PETSC_TRUE));
  PetscCall(MatSetUp(*B));
  PetscCall(MatSetVecType(*B, vec_type));
  PetscCall(copy_state(*from, to));
  if (option != MAT_COPY_VALUES) PetscCall(MatScale(*B, 0)); // as an AIJ's duplicate is zero
  PetscCall(MatFormulaChanged(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode copy(Mat A, Mat B, MatStructure) {
  FormulaMat *from, *to;
  MatType     type, other;
  PetscBool   same;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &from));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetType(B, &other));
  PetscCall(PetscStrcmp(type, other, &same));
  if (!same) {
    PetscCall(MatConvert(A, other, MAT_REUSE_MATRIX, &B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetReadyFormula(B, &to));
  PetscCheck(
      alike(*from, *to), from->grid.comm, PETSC_ERR_ARG_INCOMP,
      "the two operators have different grids, distributions or boundary forms; make the target with MatDuplicate()");
  PetscCall(copy_state(*from, to));
  PetscCall(MatFormulaChanged(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the transpose -------------------------------------------------------------------------------------------------

static PetscErrorCode transpose(Mat A, MatReuse reuse, Mat *B) {
  FormulaMat *from, *to;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &from));
  if (reuse == MAT_INITIAL_MATRIX)
    PetscCall(duplicate(A, MAT_COPY_VALUES, B));
  else if (reuse == MAT_REUSE_MATRIX)
    PetscCall(copy(A, *B, SAME_NONZERO_PATTERN));
  PetscCall(MatGetReadyFormula(*B, &to)); // in place: A's own
  if (!to->symmetric) {
    to->formula().transpose();
    to->transposed = !to->transposed;
  }
  PetscCall(MatFormulaChanged(*B));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- point blocks, of one value ------------------------------------------------------------------------------------

static PetscErrorCode invert_block_diagonal(Mat A, const PetscScalar **inverse) {
  FormulaMat                       *context;
  std::unique_ptr<PreparedOperator> op;
  Arrays                            arrays;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &context));
  std::vector<PetscScalar> &blocks = context->inverse_blocks;
  if (blocks.empty()) {
    blocks.resize((size_t)context->op->patch().all().points());
    PetscCall(context->Prepare(context->op.get(), &arrays, &op));
    PetscCall(op->rows(PETSC_MEMTYPE_HOST, RowProperty::diagonal, blocks.data()));
    PetscCall(arrays.Restore());
    // where it is zero: infinite, so that the solver diverges, on all ranks
    for (PetscScalar &d : blocks) d = d == PetscScalar(0) ? PetscScalar(PETSC_INFINITY) : PetscScalar(1) / d;
  }
  *inverse = blocks.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFormulaSetAlgebraOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_SCALE, shellac::scale));
  PetscCall(set_operation(A, MATOP_SHIFT, shift));
  PetscCall(set_operation(A, MATOP_DIAGONAL_SET, diagonal_set));
  PetscCall(set_operation(A, MATOP_AXPY, axpy));
  PetscCall(set_operation(A, MATOP_DUPLICATE, duplicate));
  PetscCall(
      MatSetOperation(A, MATOP_COPY, reinterpret_cast<OperationFn *>(copy))); // past the shell's, which copies its own
  PetscCall(set_operation(A, MATOP_TRANSPOSE, shellac::transpose));
  PetscCall(set_operation(A, MATOP_INVERT_BLOCK_DIAGONAL, invert_block_diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
