// The types laplace and helmholtz.

#include "stencil/helmholtz.hpp"

#include "stencil/formula_mat.hpp"
#include "stencil/options.hpp"
#include "stencil/types.hpp"

namespace shellac {

struct LaplaceMat : FormulaMat {
  PetscScalar sigma = 0; // [1/length²]; stays zero but in a HelmholtzMat

  std::unique_ptr<FormulaStencil> make(int dim, const Patch &patch, const PetscReal inv_h2[3]) const override {
    const Helmholtz<PetscScalar> formula{{inv_h2[0], inv_h2[1], inv_h2[2]}, sigma};
    return make_operator<Helmholtz>(dim, patch, formula);
  }
  PetscErrorCode set_from_options(Mat, OptionItems) override { return PETSC_SUCCESS; }
  PetscErrorCode view_equation(PetscViewer viewer) const override {
    PetscFunctionBegin;
    PetscCall(PetscViewerASCIIPrintf(viewer, "-Laplace(u), star of %d points\n", 2 * grid.dim + 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void take_settings(const FormulaMat &from) override {
    FormulaMat::take_settings(from);
    sigma = static_cast<const LaplaceMat &>(from).sigma;
  }
};

struct HelmholtzMat final : LaplaceMat {
  PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) override {
    PetscScalar shift = sigma, omega = 0;
    PetscBool   has_shift, has_omega;

    PetscFunctionBegin;
    constexpr const Option &shift_option = find_option(helmholtz_options, "-mat_helmholtz_shift"),
                           &omega_option = find_option(helmholtz_options, "-mat_helmholtz_omega");
    PetscCall(
        PetscOptionsScalar(shift_option.key, shift_option.meaning, shift_option.setter, shift, &shift, &has_shift));
    PetscCall(
        PetscOptionsScalar(omega_option.key, omega_option.meaning, omega_option.setter, omega, &omega, &has_omega));
#if defined(PETSC_USE_COMPLEX) // PetscOptionsScalar() shows no help for complex scalars
    PetscBool help;
    PetscCall(PetscOptionsHasHelp(NULL, &help));
    for (const Option *option : {&shift_option, &omega_option})
      if (help)
        PetscCall((*PetscHelpPrintf)(PetscObjectComm((PetscObject)A), "  %s <%s>: %s (%s)\n", option->key,
                                     option->fallback, option->meaning, option->setter));
#endif
    PetscCheck(!has_shift || !has_omega, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
               "-mat_helmholtz_shift and -mat_helmholtz_omega both set σ; give one of them");
    if (has_shift) PetscCall(MatHelmholtzSetShift(A, shift));
    if (has_omega) PetscCall(MatHelmholtzSetShift(A, omega * omega));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode view_equation(PetscViewer viewer) const override {
    PetscFunctionBegin;
    char imaginary[32] = "";
    if (PetscImaginaryPart(sigma) != 0)
      PetscCall(PetscSNPrintf(imaginary, sizeof(imaginary), " + %gi", (double)PetscImaginaryPart(sigma)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "-Laplace(u) + sigma u, sigma = %g%s, star of %d points\n",
                                     (double)PetscRealPart(sigma), imaginary, 2 * grid.dim + 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

static PetscErrorCode set_shift(Mat A, PetscScalar sigma) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCheck(!PetscIsInfOrNanScalar(sigma), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "the shift σ of the Helmholtz operator is %g + %gi; it must be finite", (double)PetscRealPart(sigma),
             (double)PetscImaginaryPart(sigma));
  PetscCall(MatGetFormula(A, &context));
  PetscScalar &present = static_cast<HelmholtzMat *>(context)->sigma;
  if (context->op) { // add the change, scaled as the operator was
    const PetscReal none[3] = {0, 0, 0};
    const int       dim = context->grid.dim;
    auto            before = context->make(dim, context->op->patch(), none);
    present = sigma;
    auto change = context->make(dim, context->op->patch(), none);
    (void)change->axpy(-1, *before);
    if (context->transposed) change->transpose();
    PetscCheck(context->formula().axpy(context->scale, *change), context->grid.comm, PETSC_ERR_PLIB,
               "the formulas differ");
    PetscCall(MatFormulaChanged(A));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY)); // tells solvers that the matrix is another
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  present = sigma;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_shift(Mat A, PetscScalar *sigma) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  *sigma = static_cast<HelmholtzMat *>(context)->sigma;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_Laplace(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatCreateFormulaShell(A, MATLAPLACE, new LaplaceMat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_Helmholtz(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatCreateFormulaShell(A, MATHELMHOLTZ, new HelmholtzMat));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatHelmholtzSetShift_C", set_shift));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatHelmholtzGetShift_C", get_shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

PetscErrorCode MatHelmholtzSetShift(Mat A, PetscScalar sigma) {
  PetscFunctionBegin;
  PetscCall(shellac::try_method(A, "MatHelmholtzSetShift_C", NULL, sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHelmholtzGetShift(Mat A, PetscScalar *sigma) {
  PetscBool found = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCheck(sigma, A ? PetscObjectComm((PetscObject)A) : PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "the place for the shift is null; give the address of a PetscScalar");
  PetscCall(shellac::try_method(A, "MatHelmholtzGetShift_C", &found, sigma));
  PetscCheck(found, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "only a Mat of type helmholtz has a shift σ");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An operator on the DM's grid, of a type with its options.
static PetscErrorCode create(DM da, MatType type, const PetscScalar *sigma, Mat *A) {
  PetscFunctionBegin;
  PetscCheck(da, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the DMDA is null; create it first");
  PetscCheck(A, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_NULL,
             "the place for the new operator is null; give the address of a Mat");
  PetscCall(ShellacInitializePackage());
  PetscCall(MatCreate(PetscObjectComm((PetscObject)da), A));
  PetscCall(MatSetDM(*A, da));
  PetscCall(MatSetType(*A, type));
  if (sigma) PetscCall(MatHelmholtzSetShift(*A, *sigma));
  PetscCall(shellac::set_from_options_of_type(*A));
  PetscCall(MatSetUp(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateLaplace(DM da, Mat *A) {
  PetscFunctionBegin;
  PetscCall(create(da, MATLAPLACE, NULL, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateHelmholtz(DM da, PetscScalar sigma, Mat *A) {
  PetscFunctionBegin;
  PetscCall(create(da, MATHELMHOLTZ, &sigma, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
