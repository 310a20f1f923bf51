#pragma once
// What scales and shifts a Mat without entries: y = L (factor J) R x + (D + shift) x, with diagonal matrices L, R and D.
// MATSHELL's own divides D by L and R, which may be zero.

#include "device/petsc.hpp"

namespace shellac {

class MatScaling {
public:
  MatScaling() = default;
  MatScaling(const MatScaling &) = delete;
  ~MatScaling() { (void)!Reset(1); }

  PetscErrorCode Reset(PetscScalar factor); // y = factor J x
  PetscErrorCode Scale(PetscScalar a);
  PetscErrorCode Shift(PetscScalar a);
  PetscErrorCode DiagonalScale(Mat A, Vec left, Vec right); // null: ones
  PetscErrorCode Add(Mat A, Vec diagonal, PetscScalar a);
  // As MatZeroRows(), or MatZeroRowsColumns(); x and b may be null.
  PetscErrorCode ZeroRows(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diagonal, bool columns, Vec x, Vec b);

  // y = that of v, where apply(v, y) is y = J v or its transpose, or of the diagonal where v is null.
  template <class Operator> PetscErrorCode Apply(Vec v, bool transposed, Vec y, const Operator &apply) {
    const Vec first = transposed ? left_ : right_, last = transposed ? right_ : left_;

    PetscFunctionBegin;
    if (factor_ == PetscScalar(0))
      PetscCall(VecSet(y, 0));
    else {
      Vec scaled = v;
      if (v && first) PetscCall(Multiply(v, first, &scaled));
      PetscCall(apply(scaled, y));
      if (factor_ != PetscScalar(1)) PetscCall(VecScale(y, factor_));
      if (!v && first) PetscCall(VecPointwiseMult(y, y, first));
      if (last) PetscCall(VecPointwiseMult(y, y, last));
    }
    if (shift_ != PetscScalar(0)) PetscCall(v ? VecAXPY(y, shift_, v) : VecShift(y, shift_));
    if (!added_) PetscFunctionReturn(PETSC_SUCCESS);
    Vec product = added_;
    if (v) PetscCall(Multiply(v, added_, &product));
    PetscCall(VecAXPY(y, 1, product));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode Multiply(Vec v, Vec by, Vec *product); // borrowed

  PetscScalar factor_ = 1, shift_ = 0;
  Vec         left_ = NULL, right_ = NULL, added_ = NULL; // null: ones, ones, zeros
  Vec         product_ = NULL;
};

} // namespace shellac
