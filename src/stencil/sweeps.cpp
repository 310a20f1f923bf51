// MatSOR(): sweeps over the colours of an operator's points, and Eisenstat's form of them.

#include "stencil/mat.hpp"

namespace shellac {

PetscErrorCode MatStencilCheckSweep(Mat A, StencilMat *context, MatSORType sweeps, PetscReal shift, Vec b, Vec x) {
  PetscReal smallest;
  Vec       d;

  PetscFunctionBegin;
  PetscCheck(!(sweeps & (SOR_APPLY_UPPER | SOR_APPLY_LOWER)), context->grid.comm, PETSC_ERR_SUP,
             "a sweep applies no upper or lower part by itself; with PCEISENSTAT start from a zero guess, or use "
             "-pc_type sor");
  PetscCheck(x != b, context->grid.comm, PETSC_ERR_ARG_IDN,
             "a sweep cannot write its result over the right-hand side; give another vector");
  if (context->divides && context->divides_shift == shift) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, NULL, &d)); // looked at once after each change
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecShift(d, shift));
  PetscCall(VecAbs(d));
  PetscCall(VecMin(d, NULL, &smallest));
  PetscCall(VecDestroy(&d));
  PetscCheck(
      smallest > 0, context->grid.comm, PETSC_ERR_ARG_WRONGSTATE,
      "a diagonal entry is zero, so that no sweep can divide by it; set -pc_sor_diagonal_shift or use another PC");
  context->divides = true;
  context->divides_shift = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilRelax(Mat A, Vec b, PetscReal omega, MatSORType sweeps, PetscReal shift, PetscInt its,
                               PetscInt lits, Vec x) {
  StencilMat                       *context;
  std::unique_ptr<PreparedOperator> op;
  Arrays                            arrays;
  const PetscScalar                *pb = NULL;
  PetscScalar                      *px = NULL;
  std::vector<int>                  order;
  const bool                        from_zero = (sweeps & SOR_ZERO_INITIAL_GUESS) != 0;

  PetscFunctionBegin;
  PetscCall(MatStencilCheckLayouts(A, x, NULL, b));
  PetscCall(MatGetReadyStencil(A, &context));
  const int    colours = context->op->colours();
  const Patch &patch = context->op->patch();
  PetscCall(MatStencilCheckSweep(A, context, sweeps, shift, b, x));
  if (sweeps & SOR_EISENSTAT) {
    PetscCall(MatStencilEisenstat(A, b, omega, shift, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt sweep = 0; sweep < its * lits; sweep++) {
    if (sweeps & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP))
      for (int c = 0; c < colours; c++) order.push_back(c);
    if (sweeps & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP))
      for (int c = colours - 1; c >= 0; c--) order.push_back(c);
  }

  PetscCall(MatStencilRestoreView(A, context));
  PetscCall(arrays.Read(b, &pb));
  PetscCall(from_zero ? arrays.Write(x, &px) : arrays.ReadWrite(x, &px));
  PetscCall(context->Prepare(context->op.get(), &arrays, &op));
  const auto exchange = [&](Field<PetscScalar> *field) {
    return MatStencilExchange(context, px, arrays.memory(), field);
  };
  PetscCall(op->sweep(arrays.memory(), order, exchange, from_zero, omega, shift, pb, px));
  PetscCall(log_flops(arrays.memory(),
                      (PetscLogDouble)order.size() / colours * (op->flops() + 4) * patch.all().points() * patch.dof));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// S. C. Eisenstat, Efficient implementation of a class of preconditioned conjugate gradient methods, 1981. A sweep from
// a zero guess solves with a triangle; here the product between the two is taken as it is.
PetscErrorCode MatStencilEisenstat(Mat A, Vec b, PetscReal omega, PetscReal shift, Vec x) {
  Vec between, product;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &between));
  PetscCall(VecDuplicate(b, &product));
  PetscCall(MatSOR(A, b, omega, (MatSORType)(SOR_ZERO_INITIAL_GUESS | SOR_LOCAL_BACKWARD_SWEEP), shift, 1, 1, between));
  PetscCall(MatMult(A, between, product));
  if (shift != 0) PetscCall(VecAXPY(product, shift, between));
  PetscCall(MatSOR(A, product, omega, (MatSORType)(SOR_ZERO_INITIAL_GUESS | SOR_LOCAL_FORWARD_SWEEP), shift, 1, 1, x));
  PetscCall(VecDestroy(&product));
  PetscCall(VecDestroy(&between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
