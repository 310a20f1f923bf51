// The type advection_diffusion: −∇·(k∇u) + w·∇u + σu.

#include "formulas/diffusion.hpp"
#include "formulas/options.hpp"
#include "options/agreement.hpp"
#include "stencil/types.hpp"

namespace shellac {

PetscErrorCode MatAdvectionDiffusionView(const Velocity &w, int dim, PetscViewer viewer) {
  std::string of_w = "a field";

  PetscFunctionBegin;
  if (!w.field) {
    of_w = "= (" + number(w.constant[0]);
    for (int a = 1; a < dim; a++) of_w += ", " + number(w.constant[a]);
    of_w += ")";
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s differences of w.grad(u), w %s\n",
                                   MatAdvectionDiffusionSchemeTypes[w.scheme], of_w.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_velocity(Mat A, Vec w) {
  DiffusionMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(w, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL,
                    "the velocity w is null; give a vector with one value for each dimension at each point, or numbers "
                    "to MatAdvectionDiffusionSetConstantVelocity()");
  auto field = std::make_shared<LoadedField>();
  PetscCall(field->Hold(w));
  Velocity changed = context->w;
  changed.field = field;
  changed.given = 0;
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->w, changed));
}

static PetscErrorCode set_constant_velocity(Mat A, PetscInt n, const PetscReal w[]) {
  DiffusionMat *context;
  PetscInt      wrong = 0;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  SHELLAC_CHECK_ALL(w, comm, PETSC_ERR_ARG_NULL, "the array of the velocity's components is null");
  SHELLAC_CHECK_ALL(n >= 1 && n <= 3, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%" PetscInt_FMT " components of the velocity are given; give one for each axis", n);
  while (wrong < n && !PetscIsInfOrNanReal(w[wrong])) wrong++;
  SHELLAC_CHECK_ALL(wrong == n, comm, PETSC_ERR_ARG_OUTOFRANGE, "the velocity along %c is %g; it must be finite",
                    "xyz"[wrong], (double)w[wrong]);
  PetscCall(CheckCallAgrees(comm, "MatAdvectionDiffusionSetConstantVelocity()", n, w));
  Velocity changed = context->w;
  changed.field = nullptr;
  changed.given = n;
  for (int a = 0; a < 3; a++) changed.constant[a] = a < n ? w[a] : 0;
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->w, changed));
}

static PetscErrorCode set_scheme(Mat A, MatAdvectionDiffusionSchemeType scheme) {
  DiffusionMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(scheme == MAT_ADVECTION_DIFFUSION_CENTRAL || scheme == MAT_ADVECTION_DIFFUSION_UPWIND,
                    PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "scheme %d is unknown; use central or upwind", (int)scheme);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatAdvectionDiffusionSetScheme()", 1, &scheme));
  Velocity changed = context->w;
  changed.scheme = scheme;
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->w, changed));
}

PetscErrorCode MatAdvectionDiffusionSetFromOptions(Mat A, const Velocity &w, OptionItems PetscOptionsObject) {
  PetscReal                       numbers[4] = {w.constant[0], w.constant[1], w.constant[2], 0};
  PetscInt                        n = 4;
  PetscBool                       set;
  MatAdvectionDiffusionSchemeType present = w.scheme;

  PetscFunctionBegin;
  constexpr const Option &velocity = find_option(advection_diffusion_options, "-mat_advection_diffusion_velocity"),
                         &of_scheme = find_option(advection_diffusion_options, "-mat_advection_diffusion_scheme");
  PetscCall(read_option(PetscOptionsObject, velocity, numbers, &n, &set));
  if (set) PetscCall(MatAdvectionDiffusionSetConstantVelocity(A, n, numbers));
  PetscCall(read_option(PetscOptionsObject, of_scheme, MatAdvectionDiffusionSchemeTypes, &present, &set));
  if (set) PetscCall(MatAdvectionDiffusionSetScheme(A, present));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_AdvectionDiffusion(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatCreateFormulaShell(A, MATADVECTIONDIFFUSION, new DiffusionMat(true)));
  PetscCall(MatDiffusionCompose(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatAdvectionDiffusionSetVelocity_C", set_velocity));
  PetscCall(
      PetscObjectComposeFunction((PetscObject)A, "MatAdvectionDiffusionSetConstantVelocity_C", set_constant_velocity));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatAdvectionDiffusionSetScheme_C", set_scheme));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

const char *const MatAdvectionDiffusionSchemeTypes[] = {"central", "upwind", "MatAdvectionDiffusionSchemeType",
                                                        "MAT_ADVECTION_DIFFUSION_", NULL};

PetscErrorCode MatAdvectionDiffusionSetVelocity(Mat A, Vec w) {
  return try_method(A, "MatAdvectionDiffusionSetVelocity_C", NULL, w);
}

PetscErrorCode MatAdvectionDiffusionSetConstantVelocity(Mat A, PetscInt n, const PetscReal w[]) {
  return try_method(A, "MatAdvectionDiffusionSetConstantVelocity_C", NULL, n, w);
}

PetscErrorCode MatAdvectionDiffusionSetScheme(Mat A, MatAdvectionDiffusionSchemeType scheme) {
  return try_method(A, "MatAdvectionDiffusionSetScheme_C", NULL, scheme);
}

PetscErrorCode MatCreateAdvectionDiffusion(DM da, PetscScalar k, Vec w, Mat *A) {
  PetscFunctionBegin;
  PetscCall(MatCreateOfType(
      da, MATADVECTIONDIFFUSION,
      [&](Mat made) {
        PetscFunctionBegin;
        PetscCall(MatDiffusionSetConstant(made, k));
        PetscCall(MatAdvectionDiffusionSetVelocity(made, w));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
