// What a change does to an operator of a formula: scale, symmetry, transposition; copies of its state.

#include "formulas/mat.hpp"

namespace shellac {

// A change of an operator without values, by MatDuplicate() or MatZeroEntries(), is a change of zero.
PetscErrorCode FormulaMat::begin_change() {
  PetscFunctionBegin;
  if (!awaited && !zeroed) PetscFunctionReturn(PETSC_SUCCESS);
  awaited.reset();
  zeroed = false;
  PetscCall(captured().Zero());
  captured().SetByPlace([](const PetscInt[3], const auto &) {});
  change = {0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFormulaTakeAwaited(FormulaMat *context) {
  PetscFunctionBegin;
  if (!context->awaited) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(context->invalidate());
  context->op = std::move(context->awaited);
  PetscCall(context->bind_operator());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::changed(Mat A) {
  PetscFunctionBegin;
  PetscCall(CapturedMat::changed(A));
  PetscCall(MatFormulaAttachNullSpace(A, this));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::copied(Mat A) {
  PetscFunctionBegin;
  PetscCall(changed(A));
  PetscCall(follow_pattern(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::follow_pattern(Mat A) {
  Mat copy;

  PetscFunctionBegin;
  if (aij && !zeroed && is_complete()) PetscCall(MatStencilGetAssembled(A, &copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::announce(Mat A) {
  PetscFunctionBegin;
  announces = true;
  const PetscErrorCode error = assemble(A);
  announces = false;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where single rows have changed, it is unknown whether A is symmetric; a copy of another operator has that one's again.
static PetscErrorCode set_symmetry(Mat A, FormulaMat *context, bool symmetric) {
  PetscBool known, is;

  PetscFunctionBegin;
  if (context->symmetric == symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  context->symmetric = symmetric;
  if (symmetric) {
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatIsSymmetricKnown(A, &known, &is));
  if (known) {
    PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_FALSE));
    // PETSc's orderings for LU write beyond their arrays where a pattern is not as symmetric as it is said to be
    PetscCall(MatSetOption(A, MAT_STRUCTURALLY_SYMMETRIC, PETSC_FALSE)); // no assembly forgets it
    PetscCall(MatSetOption(A, MAT_STRUCTURAL_SYMMETRY_ETERNAL, PETSC_FALSE));
  }
  for (int n = 0; n < 2 && known; n++) { // an assembly, but for the first, forgets what is not eternal
    PetscCall(context->announce(A));
    PetscCall(MatIsSymmetricKnown(A, &known, &is));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::altered(Mat A, Alteration kind, PetscScalar a, PetscScalar s) {
  PetscFunctionBegin;
  change.scale *= a;
  change.shift = change.shift * a + s;
  change.diagonal = change.diagonal || kind == Alteration::diagonal;
  change.rows = change.rows || kind == Alteration::rows;
  if (kind == Alteration::rows) PetscCall(set_symmetry(A, this, false));
  PetscCall(changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::added(Mat A, PetscScalar a, const CapturedMat &from) {
  const FormulaMat *x = dynamic_cast<const FormulaMat *>(&from);
  bool              same_ends = x && (is_transposed == x->is_transposed || (symmetric && x->symmetric));

  PetscFunctionBegin;
  for (int axis = 0; axis < grid.dim && same_ends; axis++)
    for (int side = 0; side < 2; side++)
      same_ends = same_ends && ends[axis].holds_constants((Side)side) == x->ends[axis].holds_constants((Side)side);
  if (!same_ends || !x->knows_constants()) change.other_sums = true;
  if (x && !x->awaited) change.shift += a * x->row_of_constant();
  change.others = true;
  if (!x || !x->symmetric) PetscCall(set_symmetry(A, this, false));
  PetscCall(changed(A));
  PetscCall(follow_pattern(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::transposed(Mat A) {
  PetscFunctionBegin;
  if (awaited && !symmetric) { // what a duplicate without values awaits is the transpose of its
    std::unique_ptr<StencilOperator> made;
    std::swap(op, awaited);
    PetscCall(make_transpose(&made));
    std::swap(op, awaited);
    awaited = std::move(made);
  }
  if (!symmetric) is_transposed = !is_transposed;
  PetscCall(changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::conjugated(Mat A) {
  PetscFunctionBegin;
  if (awaited) PetscCall(static_cast<CapturedStencil &>(*awaited).Conjugate());
  change.scale = PetscConj(change.scale);
  change.shift = PetscConj(change.shift);
  conjugate_settings();
  formula = make_formula();
  PetscCall(changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void FormulaMat::take_settings(const CapturedMat &other) {
  const auto &from = static_cast<const FormulaMat &>(other);
  CapturedMat::take_settings(other);
  static_cast<FormulaSettings &>(*this) = from;
}

PetscErrorCode FormulaMat::take_state(Mat A, const CapturedMat &other) {
  const auto &from = static_cast<const FormulaMat &>(other);

  PetscFunctionBegin;
  take_settings(other);
  for (int a = 0; a < 3; a++) {
    ends[a] = from.ends[a];
    origin[a] = from.origin[a];
  }
  formula = make_formula();
  change = from.change;
  relative_sum = from.relative_sum;
  PetscCall(set_symmetry(A, this, from.symmetric));
  is_transposed = from.is_transposed;
  zeroed = from.zeroed;
  awaited.reset();
  if (from.awaited) {
    auto values = captured().NewLike();
    PetscCall(static_cast<CapturedStencil &>(*from.awaited).CopyTo(values.get()));
    awaited = std::move(values);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::take_pattern(Mat A, const CapturedMat &other) {
  auto values = captured().NewLike();

  PetscFunctionBegin;
  PetscCall(take_state(A, other));
  if (!awaited) {
    PetscCall(other.captured().CopyTo(values.get()));
    awaited = std::move(values);
  }
  PetscCall(captured().Zero());
  zeroed = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
