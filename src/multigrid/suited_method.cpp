// Which Krylov method goes with a cycle: see the KSP type stencil.

#include <shellac/krylov.h>

#include "device/pc_matrices.hpp"
#include "device/pc_method.hpp"

#include "multigrid/stencilmg.hpp"

namespace shellac {

// Whether all diagonal entries are positive, as conjugate gradients have it: PETSc's end at those of the opposite.
static PetscErrorCode has_positive_diagonal(Mat P, bool *is) {
  Vec       diagonal;
  PetscReal least;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(P, NULL, &diagonal));
  PetscCall(MatGetDiagonal(P, diagonal));
  PetscCall(VecRealPart(diagonal));
  PetscCall(VecMin(diagonal, NULL, &least));
  PetscCall(VecDestroy(&diagonal));
  *is = least > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode find_method(PC pc, StencilMG *mg, SuitedMethod *method) {
  Mat  A, P;
  bool positive = false;

  PetscFunctionBegin;
  if (!mg->failure.empty() || !mg->multigrid) {
    method->why = "the set-up has failed";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const LevelInfo finest = mg->multigrid->levels()[0];
  const bool      weighted = mg->sum ? range_of_weights(mg->sum->axes) > 1 + rounding : finest.weighted,
             real = !PetscDefined(USE_COMPLEX) || (mg->sum && PetscImaginaryPart(mg->sum->sigma) == 0);
  if (finest.unknowns > 1)
    method->why = "systems need not be symmetric";
  else if (mg->fixed)
    method->why = "the matrix has identity rows";
  else if (finest.nonsymmetric || weighted)
    method->why = "the matrix is not symmetric";
  else if (!real)
    method->why = "the matrix need not be Hermitian";
  else if (mg->growth > 0)
    method->why = "the matrix may be indefinite";
  else if (mg->options.full)
    method->why = "full multigrid is not symmetric";
  if (!method->why.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(has_positive_diagonal(P, &positive));
  if (positive) method->type = KSPFUSEDCG;
  method->why = positive ? "the matrix is symmetric and definite" : "the matrix is not positive";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode suit_stencilmg(PC pc, SuitedMethod *method) {
  StencilMG *mg;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &mg));
  if (!mg->method || mg->method_of != mg->number) {
    mg->method = std::make_unique<SuitedMethod>();
    PetscCall(find_method(pc, mg, mg->method.get()));
    mg->method_of = mg->number;
  }
  *method = *mg->method;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
