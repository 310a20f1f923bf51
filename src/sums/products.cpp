// Products with vectors: the sum, then the effect of MatScale(), MatShift() and the like.

#include "device/arrays.hpp"
#include "sums/kernel_sum.hpp"

namespace shellac {

PetscErrorCode VecMatchKind(Vec like, Vec *v) {
  VecType   types[2];
  PetscBool bound[2], same = PETSC_FALSE;
  Vec       made;

  PetscFunctionBegin;
  if (*v) {
    PetscCall(VecGetType(like, &types[0]));
    PetscCall(VecGetType(*v, &types[1]));
    PetscCall(VecBoundToCPU(like, &bound[0]));
    PetscCall(VecBoundToCPU(*v, &bound[1]));
    PetscCall(PetscStrcmp(types[0], types[1], &same));
    if (same && bound[0] == bound[1]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(like, &made));
  if (*v) PetscCall(VecCopy(*v, made));
  PetscCall(VecDestroy(v));
  *v = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {
enum class Form { plain, transposed, hermitian };
}

// y = A x, or b + A x where b is given (it may be y).
static PetscErrorCode apply(Mat A, Form form, Vec x, Vec b, Vec y) {
  KernelSumMat      *context;
  Arrays             arrays;
  const PetscScalar *px = NULL;
  PetscScalar       *py = NULL;
  MPI_Comm           comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCheck(x != y, comm, PETSC_ERR_ARG_IDN,
             "the operator cannot write its result over the vector that it acts on; give another vector");
  const bool transposed = form != Form::plain;
  PetscCall(MatKernelSumCheckLayout(A, x, !transposed));
  PetscCall(MatKernelSumCheckLayout(A, b, transposed));
  PetscCall(MatKernelSumCheckLayout(A, y, transposed));
  PetscCall(MatGetKernelSum(A, &context));
  const bool complex = PetscDefined(USE_COMPLEX) && form == Form::hermitian;
  const bool conjugate = complex || (transposed && context->interleaved()); // a real matrix of complex values
  const Vec  before = transposed ? context->left : context->right;
  Vec       *after = transposed ? &context->right : &context->left;
  Vec        from = x, to = y;
  if (before) {
    PetscCall(VecMatchKind(x, &context->work[transposed]));
    from = context->work[transposed];
    PetscCall(VecCopy(before, from));
    if (complex) PetscCall(VecConjugate(from));
    PetscCall(VecPointwiseMult(from, from, x));
  }
  if (b) {
    PetscCall(VecMatchKind(y, &context->work[!transposed]));
    to = context->work[!transposed];
  }
  PetscCall(arrays.Read(from, &px));
  PetscCall(arrays.Write(to, &py));
  PetscCall(KernelSumApply(comm, context, transposed, conjugate, arrays.memory(), 1, px, 0, py, 0));
  PetscCall(arrays.Restore());
  const auto of = [&](PetscScalar a) { return complex ? PetscConj(a) : a; };
  if (context->scale != (PetscScalar)1) PetscCall(VecScale(to, of(context->scale)));
  if (*after) {
    PetscCall(VecMatchKind(to, after));
    if (complex) PetscCall(VecConjugate(to)); // conj(after) to = conj(after conj(to))
    PetscCall(VecPointwiseMult(to, to, *after));
    if (complex) PetscCall(VecConjugate(to));
  }
  if (context->shift != (PetscScalar)0) PetscCall(VecAXPY(to, of(context->shift), x));
  if (context->diagonal) {
    Vec &d = context->work[transposed];
    PetscCall(VecMatchKind(x, &d));
    PetscCall(VecCopy(context->diagonal, d));
    if (complex) PetscCall(VecConjugate(d));
    PetscCall(VecPointwiseMult(d, d, x));
    PetscCall(VecAXPY(to, 1, d));
  }
  if (b == y)
    PetscCall(VecAXPY(y, 1, to));
  else if (b)
    PetscCall(VecWAXPY(y, 1, to, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mult(Mat A, Vec x, Vec y) {
  return apply(A, Form::plain, x, NULL, y);
}
static PetscErrorCode mult_add(Mat A, Vec x, Vec b, Vec y) {
  return apply(A, Form::plain, x, b, y);
}
static PetscErrorCode mult_transpose(Mat A, Vec x, Vec y) {
  return apply(A, Form::transposed, x, NULL, y);
}
static PetscErrorCode mult_transpose_add(Mat A, Vec x, Vec b, Vec y) {
  return apply(A, Form::transposed, x, b, y);
}
static PetscErrorCode mult_hermitian(Mat A, Vec x, Vec y) {
  return apply(A, Form::hermitian, x, NULL, y);
}
static PetscErrorCode mult_hermitian_add(Mat A, Vec x, Vec b, Vec y) {
  return apply(A, Form::hermitian, x, b, y);
}

PetscErrorCode MatKernelSumSetProducts(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_MULT, mult));
  PetscCall(set_operation(A, MATOP_MULT_ADD, mult_add));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE, mult_transpose));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE_ADD, mult_transpose_add));
  PetscCall(set_operation(A, MATOP_MULT_HERMITIAN_TRANSPOSE, mult_hermitian));
  PetscCall(set_operation(A, MATOP_MULT_HERMITIAN_TRANS_ADD, mult_hermitian_add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
