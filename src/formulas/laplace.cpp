// The types laplace and helmholtz.

#include "formulas/laplace.hpp"

#include "formulas/diffusion.hpp"
#include "formulas/options.hpp"
#include "options/agreement.hpp"
#include "stencil/types.hpp"

namespace shellac {

void Laplace::row(const Point &, Row &u) const {
  constexpr PetscReal second[3] = {1, -2, 1}; // h² δ²
  PetscReal           inv_h2[3];
  for (int a = 0; a < 3; a++) inv_h2[a] = a < dim && coupled[a] ? 1 / (h[a] * h[a]) : 0;
  u(0) += sigma;
  for (int a = 0; a < dim; a++) {
    if (inv_h2[a] == 0) continue;
    const PetscScalar each = -minus_laplace * inv_h2[a] + (box ? sigma / PetscReal(12) : PetscScalar(0));
    for (int s = -1; s <= 1; s++) along(u, a, s) += second[s + 1] * each;
  }
  if (!box || minus_laplace == 0) return;
  // axis by axis, so that opposite entries are sums in the same order, and equal
  for (int a = 0; a < dim; a++)
    for (int b = a + 1; b < dim; b++) {
      if (inv_h2[a] == 0 || inv_h2[b] == 0) continue;
      for (int s = -1; s <= 1; s++)
        for (int t = -1; t <= 1; t++) {
          PetscInt to[3] = {0, 0, 0};
          to[a] = s, to[b] = t;
          u(to[0], to[1], to[2]) += -second[s + 1] * second[t + 1] / 12 * (inv_h2[a] + inv_h2[b]);
        }
    }
  if (inv_h2[0] == 0 || inv_h2[1] == 0 || inv_h2[2] == 0) return;
  for (int s = -1; s <= 1; s++)
    for (int t = -1; t <= 1; t++)
      for (int r = -1; r <= 1; r++)
        u(s, t, r) += -second[s + 1] * second[t + 1] * second[r + 1] * (inv_h2[0] + inv_h2[1] + inv_h2[2]) / 90;
}

struct LaplaceMat : FormulaMat {
  PetscScalar         sigma = 0; // [1/length²]; stays zero but in a HelmholtzMat
  MatLaplaceShapeType stencil = MAT_LAPLACE_STAR;

  std::unique_ptr<Laplace> make_laplace() const {
    auto     made = std::make_unique<Laplace>();
    Laplace &laplace = *made;
    laplace.dim = grid.dim;
    for (int a = 0; a < 3; a++) {
      laplace.h[a] = ends[a].h;
      laplace.coupled[a] = a < grid.dim && ends[a].couples();
    }
    laplace.sigma = sigma;
    laplace.box = stencil == MAT_LAPLACE_BOX;
    return made;
  }
  std::unique_ptr<Formula> make_formula() const override {
    if (!mask) return make_laplace();
    auto made = std::make_unique<Diffusion>(); // around obstacles, with k = 1
    made->terms.dim = grid.dim;
    for (int a = 0; a < 3; a++) made->terms.ends[a] = ends[a];
    made->terms.sigma = sigma;
    made->set_mask(*this);
    return made;
  }
  PetscErrorCode load_fields() override {
    PetscFunctionBegin;
    PetscCheck(
        !mask || stencil == MAT_LAPLACE_STAR, grid.comm, PETSC_ERR_SUP,
        "a mask says which points are solid, and the shape is box, which has no rows beside them; use the shape star");
    PetscCall(FormulaMat::load_fields());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscScalar               of_constant() const override { return sigma; }
  std::vector<SourceWeight> source_weights() const override {
    return mask ? FormulaMat::source_weights() : static_cast<const Laplace &>(*formula).source_weights();
  }
  void           conjugate_settings() override { sigma = PetscConj(sigma); }
  PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) override {
    PetscBool set;

    PetscFunctionBegin;
    MatLaplaceShapeType present = stencil;
    PetscCall(read_option(PetscOptionsObject, shape_option(), MatLaplaceShapeTypes, &present, &set));
    if (set) PetscCall(MatLaplaceSetShape(A, present));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  virtual const Option &shape_option() const { return find_option(laplace_options, "-mat_laplace_shape"); }
  const char           *shape_name() const { return stencil == MAT_LAPLACE_BOX ? "box" : "star"; }
  int                   shape_points() const {
                      return stencil == MAT_LAPLACE_STAR ? 2 * grid.dim + 1 : grid.dim == 1 ? 3 : grid.dim == 2 ? 9 : 27;
  }
  PetscErrorCode view_equation(PetscViewer viewer) const override {
    PetscFunctionBegin;
    PetscCall(PetscViewerASCIIPrintf(viewer, "-Laplace(u), %s of %d points\n", shape_name(), shape_points()));
    PetscFunctionReturn(MatObstaclesView(*this, viewer));
  }
  void take_settings(const CapturedMat &from) override {
    FormulaMat::take_settings(from);
    sigma = static_cast<const LaplaceMat &>(from).sigma;
    stencil = static_cast<const LaplaceMat &>(from).stencil;
  }
};

struct HelmholtzMat final : LaplaceMat {
  PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) override {
    PetscScalar shift = sigma, omega = 0;
    PetscBool   has_shift, has_omega;

    PetscFunctionBegin;
    PetscCall(LaplaceMat::set_from_options(A, PetscOptionsObject));
    constexpr const Option &shift_option = find_option(helmholtz_options, "-mat_helmholtz_shift"),
                           &omega_option = find_option(helmholtz_options, "-mat_helmholtz_omega");
    const MPI_Comm comm = PetscObjectComm((PetscObject)A);
    PetscCall(read_scalar_option(PetscOptionsObject, comm, shift_option, &shift, &has_shift));
    PetscCall(read_scalar_option(PetscOptionsObject, comm, omega_option, &omega, &has_omega));
    PetscCheck(!has_shift || !has_omega, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
               "-mat_helmholtz_shift and -mat_helmholtz_omega both set σ; give one of them");
    if (has_shift) PetscCall(MatHelmholtzSetShift(A, shift));
    if (has_omega) PetscCall(MatHelmholtzSetShift(A, omega * omega));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Option  &shape_option() const override { return find_option(helmholtz_options, "-mat_helmholtz_shape"); }
  PetscErrorCode view_equation(PetscViewer viewer) const override {
    PetscFunctionBegin;
    PetscCall(PetscViewerASCIIPrintf(viewer, "-Laplace(u) + sigma u, sigma = %s, %s of %d points\n",
                                     number(sigma).c_str(), shape_name(), shape_points()));
    PetscFunctionReturn(MatObstaclesView(*this, viewer));
  }
};

static PetscErrorCode set_shift(Mat A, PetscScalar sigma) {
  HelmholtzMat *context;

  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(!PetscIsInfOrNanScalar(sigma), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "the shift σ of the Helmholtz operator is %s; it must be finite", number(sigma).c_str());
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatHelmholtzSetShift()", 1, &sigma));
  PetscCall(MatGetStencil(A, &context));
  PetscScalar &present = context->sigma;
  if (context->mask) PetscFunctionReturn(MatFormulaChangeSetting(A, context, &present, sigma));
  if (context->op) {
    SHELLAC_CHECK_ALL(!context->change.rows, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
                      "MatZeroRows() or MatDiagonalScale() has changed single rows, of which σ is no longer known; set "
                      "the shift before, or make the operator anew");
    const PetscScalar                change = sigma - present;
    std::unique_ptr<CapturedStencil> other = context->captured().NewLike();
    // a duplicate without values stays zero, and awaits others
    CapturedStencil &target =
        context->awaited ? static_cast<CapturedStencil &>(*context->awaited) : context->captured();
    // all anew, so that no rounding of former shifts stays; or the change, which is added, scaled and transposed as the
    // operator was
    const bool                     anew = context->change.only_scaled();
    const std::unique_ptr<Laplace> part = context->make_laplace();
    part->sigma = anew ? sigma : change;
    part->minus_laplace = anew;
    PetscCall(context->fill(*part, anew, other.get())); // with an error nothing is changed
    present = sigma;
    context->formula = context->make_formula();
    if (context->is_transposed) other->TransposeByPlace();
    if (anew) {
      PetscCall(other->Scale(context->change.scale));
      PetscCall(other->CopyTo(&target));
    } else
      PetscCall(target.Axpy(context->change.scale, *other, context->compression));
    PetscCall(context->changed(A));
    PetscCall(context->announce(A)); // zeroed, it is about to be assembled with the new shift
  }
  present = sigma;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_shift(Mat A, PetscScalar *sigma) {
  HelmholtzMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  *sigma = context->sigma;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_shape(Mat A, MatLaplaceShapeType shape) {
  LaplaceMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  MatLaplaceShapeType &present = context->stencil;
  SHELLAC_CHECK_ALL(shape == MAT_LAPLACE_STAR || shape == MAT_LAPLACE_BOX, PetscObjectComm((PetscObject)A),
                    PETSC_ERR_ARG_OUTOFRANGE, "shape %d is unknown; use star or box", (int)shape);
  SHELLAC_CHECK_ALL(!context->op || shape == present, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
                    "the shape is %s since MatSetUp(), and %s comes too late; set it before",
                    MatLaplaceShapeTypes[present], MatLaplaceShapeTypes[shape]);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatLaplaceSetShape()", 1, &shape));
  present = shape;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A star for stencilmg to precondition a box with, where cells are longer than √5 times their width: there the box's weights
// along an axis change sign. The symbols of box and star differ by factors from 2/3 to 1.
static PetscErrorCode make_equivalent_star(Mat A, std::unique_ptr<StencilOperator> *star) {
  LaplaceMat *context;
  PetscReal   least = PETSC_MAX_REAL, most = 0;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  LaplaceMat &laplace = *context;
  for (int a = 0; a < laplace.grid.dim; a++)
    if (laplace.ends[a].couples()) least = PetscMin(least, laplace.ends[a].h), most = PetscMax(most, laplace.ends[a].h);
  if (laplace.stencil != MAT_LAPLACE_BOX || most * most <= 5 * least * least || !laplace.change.only_scaled() ||
      laplace.awaited)
    PetscFunctionReturn(PETSC_SUCCESS);
  const std::unique_ptr<Laplace>   formula = laplace.make_laplace();
  std::unique_ptr<CapturedStencil> made = laplace.captured().NewLike();
  formula->box = false;
  PetscCall(laplace.fill(*formula, 1, made.get()));
  if (laplace.is_transposed) made->TransposeByPlace();
  PetscCall(made->Scale(laplace.change.scale));
  *star = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_Laplace(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatCreateFormulaShell(A, MATLAPLACE, new LaplaceMat));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "ShellacEquivalentStar_C", make_equivalent_star));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetShape_C", set_shape));
  PetscCall(MatObstaclesCompose(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_Helmholtz(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatCreateFormulaShell(A, MATHELMHOLTZ, new HelmholtzMat));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "ShellacEquivalentStar_C", make_equivalent_star));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetShape_C", set_shape));
  PetscCall(MatObstaclesCompose(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatHelmholtzSetShift_C", set_shift));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatHelmholtzGetShift_C", get_shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

const char *const MatLaplaceShapeTypes[] = {"star", "box", "MatLaplaceShapeType", "MAT_LAPLACE_", NULL};

PetscErrorCode MatLaplaceSetShape(Mat A, MatLaplaceShapeType shape) {
  return shellac::try_method(A, "MatLaplaceSetShape_C", NULL, shape);
}

PetscErrorCode MatHelmholtzSetShift(Mat A, PetscScalar sigma) {
  return shellac::try_method(A, "MatHelmholtzSetShift_C", NULL, sigma);
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

PetscErrorCode MatCreateLaplace(DM da, Mat *A) {
  return shellac::MatCreateOfType(da, MATLAPLACE, nullptr, A);
}

PetscErrorCode MatCreateHelmholtz(DM da, PetscScalar sigma, Mat *A) {
  PetscFunctionBegin;
  PetscCall(shellac::MatCreateOfType(
      da, MATHELMHOLTZ, [&](Mat made) { return MatHelmholtzSetShift(made, sigma); }, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
