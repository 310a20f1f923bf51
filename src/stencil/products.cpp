// Products with assembled matrices, PᵀAP of a Galerkin coarse operator among them.
//
// PETSc begins a product anew, with its symbolic step, where a factor is replaced by one of another type. So D keeps our
// matrices as its factors, which PETSc may replace by others of ours; their assembled copies take their place during each
// step.

#include "stencil/mat.hpp"

#include <string>

namespace shellac {

struct AssembledProduct {
  OperationFn     *symbolic = NULL, *numeric = NULL; // of the copies
  bool             on_gpu = false; // a factor is cuSPARSE's, or ours has its vectors there: each product begins anew
  MatType          type = MATAIJ;  // of the copies then
  Mat              ours[3] = {NULL, NULL, NULL}; // the factors that are
  Mat              aij[3] = {NULL, NULL, NULL};  // their copies; on the GPU the product's own
  PetscObjectId    id[3] = {0, 0, 0};            // of those that the symbolic step was given
  PetscObjectState pattern[3] = {0, 0, 0};

  ~AssembledProduct() { (void)!Forget(); }
  PetscErrorCode Forget() {
    PetscFunctionBegin;
    for (Mat &M : ours) PetscCall(MatDestroy(&M));
    for (Mat &M : aij) PetscCall(MatDestroy(&M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Finds D's factors of ours, and brings their copies up to date. *same: they are those that the symbolic step was given,
  // with the same pattern.
  PetscErrorCode Find(Mat D, bool *same) {
    Mat factor[3];

    PetscFunctionBegin;
    *same = true;
    PetscCall(MatProductGetMats(D, &factor[0], &factor[1], &factor[2]));
    for (int f = 0; f < 3; f++) {
      PetscErrorCode (*view)(Mat, PetscViewer) = NULL;
      PetscObjectId    id_now;
      PetscObjectState pattern_now;
      Mat              copy;
      if (factor[f]) PetscCall(PetscObjectQueryFunction((PetscObject)factor[f], "ShellacView_C", &view));
      PetscCall(MatDestroy(&ours[f]));
      if (!view) continue;
      PetscCall(PetscObjectReference((PetscObject)factor[f]));
      ours[f] = factor[f];
      if (on_gpu)
        PetscCall(MatStencilAssemble(ours[f], type, &aij[f]));
      else {
        PetscCall(MatStencilGetAssembled(ours[f], &copy));
        PetscCall(PetscObjectReference((PetscObject)copy));
        PetscCall(MatDestroy(&aij[f]));
        aij[f] = copy;
      }
      PetscCall(MatStencilTakeProperties(ours[f], aij[f]));
      PetscCall(PetscObjectGetId((PetscObject)aij[f], &id_now));
      PetscCall(MatGetNonzeroState(aij[f], &pattern_now));
      *same = *same && id[f] == id_now && pattern[f] == pattern_now;
      id[f] = id_now;
      pattern[f] = pattern_now;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Makes the copies D's factors, or ours again. as_same_type: our matrices have the type names of their copies for so long.
  PetscErrorCode Replace(Mat D, const Mat by[3], bool as_same_type) const {
    std::string name[3];

    PetscFunctionBegin;
    for (int f = 0; f < 3; f++) {
      MatType type;
      if (!as_same_type || !ours[f]) continue;
      PetscCall(MatGetType(ours[f], &type));
      name[f] = type;
      PetscCall(MatGetType(aij[f], &type));
      PetscCall(PetscObjectChangeTypeName((PetscObject)ours[f], type));
    }
    const auto           given = [&](int f) { return ours[f] ? by[f] : NULL; };
    const PetscErrorCode error = MatProductReplaceMats(given(0), given(1), given(2), D); // keeps them
    for (int f = 2; f >= 0; f--) // one matrix may be two factors
      if (!name[f].empty()) PetscCall(PetscObjectChangeTypeName((PetscObject)ours[f], name[f].c_str()));
    PetscCall(error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

static PetscErrorCode get_product(Mat D, AssembledProduct **product) {
  return query_context((PetscObject)D, "ShellacAssembledProduct", product);
}

// Puts ours in the place of D's step, which is kept.
static PetscErrorCode wrap_step(Mat D, MatOperation step, PetscErrorCode (*ours)(Mat), OperationFn **kept) {
  OperationFn *present;

  PetscFunctionBegin;
  PetscCall(MatGetOperation(D, step, &present));
  if (!present || present == reinterpret_cast<OperationFn *>(ours)) PetscFunctionReturn(PETSC_SUCCESS);
  *kept = present;
  PetscCall(MatSetOperation(D, step, reinterpret_cast<OperationFn *>(ours)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode numeric_product(Mat D) {
  AssembledProduct *product;
  bool              same;

  PetscFunctionBegin;
  PetscCall(get_product(D, &product));
  PetscCall(product->Find(D, &same));
  PetscCall(product->Replace(D, product->aij, same));
  PetscCall(wrap_step(D, MATOP_PRODUCTNUMERIC, numeric_product, &product->numeric)); // PETSc may have begun anew
  PetscCall((*reinterpret_cast<PetscErrorCode (*)(Mat)>(product->numeric))(D));
  PetscCall(product->Replace(D, product->ours, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode symbolic_product(Mat D) {
  AssembledProduct *product;

  PetscFunctionBegin;
  PetscCall(get_product(D, &product));
  PetscCall((*reinterpret_cast<PetscErrorCode (*)(Mat)>(product->symbolic))(D));
  PetscCall(wrap_step(D, MATOP_PRODUCTNUMERIC, numeric_product, &product->numeric));
  PetscCall(product->Replace(D, product->ours, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Called where PETSc finds no product of its own for D's factors.
PetscErrorCode MatStencilSetProduct(Mat D) {
  AssembledProduct *product = new AssembledProduct;
  Mat               factor[3];
  bool              same;

  PetscFunctionBegin;
  PetscCall(compose_context((PetscObject)D, "ShellacAssembledProduct", product));
  PetscCall(MatProductGetMats(D, &factor[0], &factor[1], &factor[2]));
  for (Mat M : factor) {
    MatType type;
    VecType of_vectors;
    char   *cusparse = NULL, *cuda = NULL;
    if (!M) continue;
    PetscCall(MatGetType(M, &type));
    PetscCall(PetscStrstr(type, "cusparse", &cusparse));
    PetscCall(MatGetVecType(M, &of_vectors));
    PetscCall(PetscStrstr(of_vectors, "cuda", &cuda));
    if (cusparse) product->type = MATAIJCUSPARSE;
    product->on_gpu = product->on_gpu || cusparse || cuda;
  }
  PetscCall(product->Find(D, &same));
  if (!product->ours[0] && !product->ours[1] && !product->ours[2]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(product->Replace(D, product->aij, false));
  PetscCall(MatProductSetFromOptions(D));
  if (!product->on_gpu) PetscCall(wrap_step(D, MATOP_PRODUCTSYMBOLIC, symbolic_product, &product->symbolic));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
