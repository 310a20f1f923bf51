// The transpose of a captured matrix, where its coefficients are.

#include "capture/mat.hpp"

namespace shellac {

// The coefficients of an arm's slots with one column of the block, as a grid function.
template <class T> struct GatherColumn {
  Patch                   patch;
  CapturedCoefficients<T> a;
  int                     arms, arm;
  PetscInt                c;
  T                      *to; // [points][dof]

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k}, dof = patch.dof;
    const size_t   at = patch.index(i, j, k);
    const T       *rows = a.rows(patch, p, at);
    for (PetscInt r = 0; r < dof; r++) to[at * dof + r] = a.entry(rows, slot_number(arms, dof, arm, r, c), at);
  }
};

// The entry that p's row has at q is the one that q's row of the transpose has at p: the slots of the arm back to it, with
// one row of the block, from a grid function.
template <class T> struct SetRow {
  OpenCoefficients<T> to;
  Field<T>            from;
  int                 back;
  PetscInt            r;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    PetscInt       q[3];
    (void)to.follow(back, p, q);
    for (PetscInt c = 0; c < to.patch.dof; c++)
      to.values[to.slot(back, r, c)][to.patch.index(i, j, k)] = from.value(to.patch, q, c);
  }
};

PetscErrorCode CapturedMat::make_transpose(std::unique_ptr<StencilOperator> *made) {
  std::unique_ptr<CapturedStencil> B;

  PetscFunctionBegin;
  PetscCall(transpose_captured(captured(), &halo, compression, &B));
  *made = std::move(B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode transpose_captured(CapturedStencil &A, Halo *halo, Compression wish,
                                  std::unique_ptr<CapturedStencil> *made) {
  const Arms                      &arms = A.arms();
  const PetscInt                   dof = A.patch().dof;
  const PetscMemType               memory = A.home();
  Arrays                           beside(memory);
  std::unique_ptr<PreparedCapture> present;
  Scratch<PetscScalar>             column;
  GatherColumn<PetscScalar>        gather;
  SetRow<PetscScalar>              set;
  PetscScalar *const              *ignored;
  Refusal                          refusal;

  PetscFunctionBegin;
  auto B = A.NewLike();
  if (A.known_by_place()) {
    PetscCall(A.CopyTo(B.get()));
    B->TransposeByPlace();
    *made = std::move(B);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  wish.automatic = true;
  PetscCall(B->Open(&ignored, memory));
  PetscCall(B->NeedAll());
  PetscCall(B->GetOpen(&set.to));
  PetscCall(A.Prepare(&beside, &present));
  PetscCall(column.Grow((size_t)(A.patch().all().points() * dof), memory));
  gather.patch = A.patch();
  gather.a = present->coefficients();
  gather.arms = arms.count();
  gather.to = column.at(memory);
  for (int arm = 0; arm < arms.count(); arm++)
    for (PetscInt c = 0; c < dof; c++) {
      gather.arm = arm;
      gather.c = c;
      PetscCall(A.ForAllPoints(memory, gather));
      PetscCall(halo->Begin(gather.to, memory));
      PetscCall(halo->End());
      set.from = halo->field();
      set.back = arms.opposite(arm);
      set.r = c;
      PetscCall(A.ForAllPoints(memory, set));
    }
  PetscCall(beside.Restore());
  PetscCall(B->Close(wish, &refusal));
  *made = std::move(B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode transpose(Mat A, MatReuse reuse, Mat *B) {
  CapturedMat                     *from, *to;
  std::unique_ptr<StencilOperator> op;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &from));
  PetscCall(from->check_readable());
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatCapturedCreateLike(A, B));
  PetscCall(MatGetReadyStencil(*B, &to)); // in place: A's own
  PetscCall(MatCapturedCheckAlike(*from, *to));
  PetscCall(from->make_transpose(&op));
  PetscCall(MatCapturedDiscardValues(to));
  if (to != from) PetscCall(to->take_state(*B, *from));
  to->op = std::move(op);
  PetscCall(to->bind_operator());
  PetscCall(to->transposed(*B));
  PetscCall(assemble(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetTransposeOperations(Mat A) {
  return set_operation(A, MATOP_TRANSPOSE, transpose);
}

} // namespace shellac
