// The setters and the options of diffusion, most of them of advection_diffusion, too.

#include "formulas/diffusion.hpp"
#include "formulas/options.hpp"
#include "options/agreement.hpp"
#include "stencil/types.hpp"

namespace shellac {

static PetscErrorCode set_fields(Mat A, PetscInt n, const Vec values[], bool on_faces) {
  DiffusionMat *context;
  Coefficient   k;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  k.constant = context->k.constant;
  k.on_faces = on_faces;
  for (PetscInt a = 0; a < n; a++) {
    SHELLAC_CHECK_ALL(values[a], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL,
                      "the coefficient k is null; give a vector of the DMDA, or a number to MatDiffusionSetConstant()");
    auto field = std::make_shared<LoadedField>();
    PetscCall(field->Hold(values[a]));
    k.field[a] = field;
  }
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->k, k));
}

static PetscErrorCode set_coefficient(Mat A, Vec k) {
  return set_fields(A, 1, &k, false);
}

static PetscErrorCode set_face_coefficients(Mat A, PetscInt n, const Vec k[]) {
  DM       dm;
  PetscInt dim = 0;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMGetDimension(dm, &dim));
  SHELLAC_CHECK_ALL(dm && n == dim && k, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
                    "coefficients on faces are given for %" PetscInt_FMT " axes; give an array with one vector of the "
                    "DMDA for each of its %" PetscInt_FMT " dimensions, after MatSetDM()",
                    n, dim);
  PetscCall(set_fields(A, n, k, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_constant(Mat A, PetscScalar constant) {
  DiffusionMat *context;
  Coefficient   k;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(!PetscIsInfOrNanScalar(constant) && PetscRealPart(constant) >= 0, PetscObjectComm((PetscObject)A),
                    PETSC_ERR_ARG_OUTOFRANGE, "the coefficient k is %s; it must be finite and not negative",
                    number(constant).c_str());
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatDiffusionSetConstant()", 1, &constant));
  k.constant = constant;
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->k, k));
}

static PetscErrorCode set_mean(Mat A, MatDiffusionMeanType mean) {
  DiffusionMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(mean == MAT_DIFFUSION_HARMONIC || mean == MAT_DIFFUSION_ARITHMETIC, PetscObjectComm((PetscObject)A),
                    PETSC_ERR_ARG_OUTOFRANGE, "mean %d is unknown; use harmonic or arithmetic", (int)mean);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatDiffusionSetMean()", 1, &mean));
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->mean, mean));
}

static PetscErrorCode set_shift(Mat A, PetscScalar sigma) {
  DiffusionMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(!PetscIsInfOrNanScalar(sigma), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "the shift σ is %s; it must be finite", number(sigma).c_str());
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatDiffusionSetShift()", 1, &sigma));
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->sigma, sigma));
}

PetscErrorCode DiffusionMat::set_from_options(Mat A, OptionItems PetscOptionsObject) {
  PetscScalar          number;
  PetscBool            set;
  MatDiffusionMeanType present = mean;

  PetscFunctionBegin;
  const auto own_option = [&](const std::string &name) -> const Option & {
    return flows ? find_option(advection_diffusion_options, ("-mat_advection_diffusion_" + name).c_str())
                 : find_option(diffusion_options, ("-mat_diffusion_" + name).c_str());
  };
  const auto read = [&](const char *name, PetscScalar fallback) -> PetscErrorCode {
    const Option &option = own_option(name);
    PetscFunctionBegin;
    number = fallback;
    PetscCall(read_scalar_option(PetscOptionsObject, PetscObjectComm((PetscObject)A), option, &number, &set));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(read("coefficient", k.constant));
  if (set) PetscCall(MatDiffusionSetConstant(A, number));
  PetscCall(read("shift", sigma));
  if (set) PetscCall(MatDiffusionSetShift(A, number));
  PetscCall(read_option(PetscOptionsObject, own_option("mean"), MatDiffusionMeanTypes, &present, &set));
  if (set) PetscCall(MatDiffusionSetMean(A, present));
  if (flows) PetscCall(MatAdvectionDiffusionSetFromOptions(A, w, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDiffusionCompose(Mat A) {
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetCoefficient_C", set_coefficient));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetFaceCoefficients_C", set_face_coefficients));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetConstant_C", set_constant));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetMean_C", set_mean));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetShift_C", set_shift));
  PetscCall(MatObstaclesCompose(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

const char *const MatDiffusionMeanTypes[] = {"harmonic", "arithmetic", "MatDiffusionMeanType", "MAT_DIFFUSION_", NULL};

PetscErrorCode MatDiffusionSetCoefficient(Mat A, Vec k) {
  return try_method(A, "MatDiffusionSetCoefficient_C", NULL, k);
}

PetscErrorCode MatDiffusionSetFaceCoefficients(Mat A, PetscInt n, const Vec k[]) {
  return try_method(A, "MatDiffusionSetFaceCoefficients_C", NULL, n, k);
}

PetscErrorCode MatDiffusionSetConstant(Mat A, PetscScalar k) {
  return try_method(A, "MatDiffusionSetConstant_C", NULL, k);
}

PetscErrorCode MatDiffusionSetMean(Mat A, MatDiffusionMeanType mean) {
  return try_method(A, "MatDiffusionSetMean_C", NULL, mean);
}

PetscErrorCode MatDiffusionSetShift(Mat A, PetscScalar sigma) {
  return try_method(A, "MatDiffusionSetShift_C", NULL, sigma);
}
