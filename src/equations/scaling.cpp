#include "equations/scaling.hpp"

#include <vector>

namespace shellac {

PetscErrorCode MatScaling::Reset(PetscScalar factor) {
  PetscFunctionBegin;
  factor_ = factor, shift_ = 0;
  for (Vec *v : {&left_, &right_, &added_, &product_}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatScaling::Scale(PetscScalar a) {
  PetscFunctionBegin;
  factor_ *= a, shift_ *= a;
  if (added_) PetscCall(VecScale(added_, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatScaling::Shift(PetscScalar a) {
  PetscFunctionBegin;
  shift_ += a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatScaling::DiagonalScale(Mat A, Vec left, Vec right) {
  PetscFunctionBegin;
  if (shift_ != PetscScalar(0)) {
    if (!added_) PetscCall(MatCreateVecs(A, NULL, &added_));
    PetscCall(VecShift(added_, shift_));
    shift_ = 0;
  }
  for (Vec *own : {&left_, &right_}) {
    const Vec by = own == &left_ ? left : right;
    if (!by) continue;
    if (added_) PetscCall(VecPointwiseMult(added_, added_, by));
    if (*own)
      PetscCall(VecPointwiseMult(*own, *own, by));
    else {
      PetscCall(MatCreateVecs(A, NULL, own));
      PetscCall(VecCopy(by, *own));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatScaling::Add(Mat A, Vec diagonal, PetscScalar a) {
  PetscFunctionBegin;
  if (!added_) PetscCall(MatCreateVecs(A, NULL, &added_));
  PetscCall(VecAXPY(added_, a, diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatScaling::ZeroRows(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diagonal, bool columns, Vec x,
                                    Vec b) {
  const std::vector<PetscScalar> ones((size_t)n, 1);
  Vec                            zeroed, kept, product;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &zeroed, &kept));
  PetscCall(VecSetValues(zeroed, n, rows, ones.data(), INSERT_VALUES)); // maybe of other ranks' rows
  PetscCall(VecAssemblyBegin(zeroed));
  PetscCall(VecAssemblyEnd(zeroed));
  PetscCall(VecSet(kept, 1));
  PetscCall(VecAXPY(kept, -1, zeroed));
  if (x && b) {
    PetscCall(VecDuplicate(b, &product));
    if (columns) {
      Vec given;
      PetscCall(VecDuplicate(x, &given));
      PetscCall(VecPointwiseMult(given, zeroed, x));
      PetscCall(MatMult(A, given, product));
      PetscCall(VecAXPY(b, -1, product));
      PetscCall(VecDestroy(&given));
    }
    PetscCall(VecPointwiseMult(b, b, kept));
    PetscCall(VecPointwiseMult(product, zeroed, x));
    PetscCall(VecAXPY(b, diagonal, product));
    PetscCall(VecDestroy(&product));
  }
  PetscCall(DiagonalScale(A, kept, columns ? kept : NULL));
  PetscCall(Add(A, zeroed, diagonal));
  PetscCall(VecDestroy(&zeroed));
  PetscCall(VecDestroy(&kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatScaling::Multiply(Vec v, Vec by, Vec *product) {
  PetscFunctionBegin;
  if (!product_) PetscCall(VecDuplicate(v, &product_));
  PetscCall(VecPointwiseMult(product_, v, by));
  *product = product_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
