// The type advection_diffusion: −∇·(k∇u) + w·∇u + σu.

#include "formulas/diffusion.hpp"
#include "formulas/options.hpp"
#include "stencil/types.hpp"

namespace shellac {

// Central differences of second order, or differences to the side that the velocity comes from, of first order (Courant,
// Isaacson and Rees 1952).
struct AdvectionDiffusion final : Diffusion {
  PetscReal                       constant_w[3] = {0, 0, 0};
  HeldField                       w; // null: constant_w
  MatAdvectionDiffusionSchemeType scheme = MAT_ADVECTION_DIFFUSION_CENTRAL;

  bool constant() const override { return !w && Diffusion::constant(); }
  bool symmetric() const override { return false; }
  void row(const Point &p, Row &u) const override {
    Diffusion::row(p, u);
    for (int a = 0; a < terms.dim; a++) {
      if (!terms.coupled(a)) continue;
      const PetscReal speed = w ? PetscRealPart(w->at(p.i, a)) : constant_w[a];
      const auto      add = [&](PetscInt s, PetscReal value) { along(u, a, s) += value / p.h[a]; };
      if (scheme == MAT_ADVECTION_DIFFUSION_CENTRAL) {
        add(-1, -speed / 2);
        add(1, speed / 2);
      } else {
        add(0, PetscAbsReal(speed));
        add(speed > 0 ? -1 : 1, -PetscAbsReal(speed));
      }
    }
  }
};

struct AdvectionDiffusionMat final : DiffusionMat {
  PetscReal                       constant_w[3] = {0, 0, 0};
  PetscInt                        velocity_given = 0; // how many components; 0: none
  HeldField                       w;                  // null: constant_w
  MatAdvectionDiffusionSchemeType scheme = MAT_ADVECTION_DIFFUSION_CENTRAL;

  const Option &option(const char *name) const override {
    return find_option(advection_diffusion_options, (std::string("-mat_advection_diffusion_") + name).c_str());
  }
  std::unique_ptr<Formula> make_formula() const override {
    auto formula = std::make_unique<AdvectionDiffusion>();
    set_formula(formula.get());
    for (int a = 0; a < 3; a++) formula->constant_w[a] = constant_w[a];
    formula->w = w;
    formula->scheme = scheme;
    return formula;
  }
  bool                     is_flux_alone() const override { return false; }
  std::vector<HeldField *> fields() override { return {&k.field[0], &k.field[1], &k.field[2], &w}; }
  void                     take_settings(const CapturedMat &other) override {
    const auto &from = static_cast<const AdvectionDiffusionMat &>(other);
    DiffusionMat::take_settings(other);
    for (int a = 0; a < 3; a++) constant_w[a] = from.constant_w[a];
    velocity_given = from.velocity_given;
    w = from.w;
    scheme = from.scheme;
  }
  PetscErrorCode load_fields() override;
  PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) override;
  PetscErrorCode view_equation(PetscViewer viewer) const override {
    PetscFunctionBegin;
    std::string of_w = "a field";
    PetscCall(view_terms(viewer, true));
    if (!w) {
      of_w = "= (" + number(constant_w[0]);
      for (int a = 1; a < grid.dim; a++) of_w += ", " + number(constant_w[a]);
      of_w += ")";
    }
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s differences of w.grad(u), w %s\n",
                                     MatAdvectionDiffusionSchemeTypes[scheme], of_w.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode AdvectionDiffusionMat::load_fields() {
  PetscInt    bad[3] = {0, 0, 0}, component = 0;
  PetscScalar value = 0;
  bool        found = false;

  PetscFunctionBegin;
  PetscCheck(velocity_given == 0 || velocity_given == grid.dim, grid.comm, PETSC_ERR_ARG_SIZ,
             "the velocity has %" PetscInt_FMT " components and the grid %d dimension%s; give %d to "
             "-mat_advection_diffusion_velocity or MatAdvectionDiffusionSetConstantVelocity()",
             velocity_given, grid.dim, grid.dim > 1 ? "s" : "", grid.dim);
  auto loaded = std::make_shared<LoadedField>();
  if (w) {
    PetscCall(loaded->Load(grid, grid.owned_patch(), ends, 1, false, grid.dim, w->vec(), "velocity w"));
    for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
      const PetscInt i[3] = {grid.start[0] + p[0], grid.start[1] + p[1], grid.start[2] + p[2]};
      for (int a = 0; a < grid.dim && !found; a++) {
        value = loaded->at(i, a);
        found = PetscIsInfOrNanScalar(value) || PetscImaginaryPart(value) != 0;
        for (int b = 0; b < 3; b++) bad[b] = i[b];
        component = a;
      }
    });
    SHELLAC_CHECK_ALL(!found, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                      "the velocity along %c is %s at the point (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT
                      "); it must be finite and real",
                      "xyz"[component], number(value).c_str(), bad[0], bad[1], bad[2]);
  }
  PetscCall(DiffusionMat::load_fields());
  if (w) w = loaded;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_velocity(Mat A, Vec w) {
  AdvectionDiffusionMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  SHELLAC_CHECK_ALL(w, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL,
                    "the velocity w is null; give a vector with one value for each dimension at each point, or numbers "
                    "to MatAdvectionDiffusionSetConstantVelocity()");
  auto field = std::make_shared<LoadedField>();
  PetscCall(field->Hold(w));
  const auto     before = context->w;
  const PetscInt given = context->velocity_given;
  PetscCall(MatFormulaChangeSettings(
      A, context, [&] { return context->w = field, context->velocity_given = 0, PETSC_SUCCESS; },
      [&] { context->w = before, context->velocity_given = given; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_constant_velocity(Mat A, PetscInt n, const PetscReal w[]) {
  AdvectionDiffusionMat *context;
  PetscInt               wrong = 0;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  SHELLAC_CHECK_ALL(w, comm, PETSC_ERR_ARG_NULL, "the array of the velocity's components is null");
  SHELLAC_CHECK_ALL(n >= 1 && n <= 3, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%" PetscInt_FMT " components of the velocity are given; give one for each axis", n);
  while (wrong < n && !PetscIsInfOrNanReal(w[wrong])) wrong++;
  SHELLAC_CHECK_ALL(wrong == n, comm, PETSC_ERR_ARG_OUTOFRANGE, "the velocity along %c is %g; it must be finite",
                    "xyz"[wrong], (double)w[wrong]);
  const auto      before = context->w;
  const PetscInt  given = context->velocity_given;
  const PetscReal was[3] = {context->constant_w[0], context->constant_w[1], context->constant_w[2]};
  const auto      set = [&](const HeldField &field, PetscInt count, const PetscReal values[]) {
    context->w = field;
    context->velocity_given = count;
    for (int a = 0; a < 3; a++) context->constant_w[a] = a < n ? values[a] : 0;
    return PETSC_SUCCESS;
  };
  PetscCall(MatFormulaChangeSettings(
      A, context, [&] { return set(nullptr, n, w); }, [&] { set(before, given, was); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_scheme(Mat A, MatAdvectionDiffusionSchemeType scheme) {
  AdvectionDiffusionMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  SHELLAC_CHECK_ALL(scheme == MAT_ADVECTION_DIFFUSION_CENTRAL || scheme == MAT_ADVECTION_DIFFUSION_UPWIND,
                    PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "scheme %d is unknown; use central or upwind", (int)scheme);
  const auto before = context->scheme;
  PetscCall(MatFormulaChangeSettings(
      A, context, [&] { return context->scheme = scheme, PETSC_SUCCESS; }, [&] { context->scheme = before; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AdvectionDiffusionMat::set_from_options(Mat A, OptionItems PetscOptionsObject) {
  PetscReal                       numbers[4] = {constant_w[0], constant_w[1], constant_w[2], 0};
  PetscInt                        n = 4;
  PetscBool                       set;
  MatAdvectionDiffusionSchemeType present = scheme;

  PetscFunctionBegin;
  PetscCall(DiffusionMat::set_from_options(A, PetscOptionsObject));
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
  PetscCall(MatCreateFormulaShell(A, MATADVECTIONDIFFUSION, new AdvectionDiffusionMat));
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
  PetscFunctionBegin;
  PetscCall(try_method(A, "MatAdvectionDiffusionSetVelocity_C", NULL, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAdvectionDiffusionSetConstantVelocity(Mat A, PetscInt n, const PetscReal w[]) {
  PetscFunctionBegin;
  PetscCall(try_method(A, "MatAdvectionDiffusionSetConstantVelocity_C", NULL, n, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAdvectionDiffusionSetScheme(Mat A, MatAdvectionDiffusionSchemeType scheme) {
  PetscFunctionBegin;
  PetscCall(try_method(A, "MatAdvectionDiffusionSetScheme_C", NULL, scheme));
  PetscFunctionReturn(PETSC_SUCCESS);
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
