// The type diffusion.

#include "formulas/diffusion.hpp"

#include <limits>

#include "formulas/flux_on_gpu.hpp"
#include "formulas/options.hpp"
#include "stencil/types.hpp"

namespace shellac {

// ---- the formula ---------------------------------------------------------------------------------------------------

// The same number, bit by bit, for (a, b) and (b, a): the operator is symmetric.
PetscScalar Diffusion::mean(PetscScalar a, PetscScalar b) const {
  if (mean_type == MAT_DIFFUSION_ARITHMETIC) return a / PetscReal(2) + b / PetscReal(2);
  if (PetscAbsScalar(a) > PetscAbsScalar(b)) std::swap(a, b);
  return PetscReal(2) * a * (b / (a + b)); // no product of both, which might overflow
}

// k half a spacing (halves = 1) or a spacing (2) beyond the last of two places where it is known. Of a smooth k it is
// extrapolated: with s = (a - b)/(a + b), the factor differs from that of linear extrapolation by O(h²). Where k jumps, s is
// near 1 or -1 and the last k remains. So the result is between 0.6 a and 1.4 a, or 0.2 a and 1.8 a.
static PetscScalar extrapolate(PetscScalar a, PetscScalar b, PetscReal halves) {
  const PetscScalar s = (a - b) / (a + b);
  return PetscAbsScalar(s) < 1 ? a * (PetscReal(1) + halves * s * (PetscReal(1) - s * s)) : a;
}

PetscScalar Diffusion::on_face(const PetscInt i[3], int axis, int step) const {
  const LoadedField &face = *k.field[axis];
  const PetscInt     N = ends[axis].N;
  PetscInt           at[3] = {i[0], i[1], i[2]};
  if (step > 0) at[axis]++;
  if (ends[axis].mirror && at[axis] == 0) at[axis] = 1; // the faces beside the mirror are alike
  if (ends[axis].mirror && at[axis] == N) at[axis] = N - 1;
  if (!beyond(at, axis)) return face.at(at);
  PetscInt last[3] = {at[0], at[1], at[2]}, before[3] = {at[0], at[1], at[2]};
  last[axis] = N - 1;
  before[axis] = PetscMax(N - 2, 0);
  return extrapolate(face.at(last), face.at(before), 2);
}

PetscScalar Diffusion::face(const PetscInt i[3], int axis, int step) const {
  if (!k.is_field()) return k.constant;
  PetscScalar value;
  if (k.on_faces)
    value = on_face(i, axis, step);
  else {
    PetscInt next[3] = {i[0], i[1], i[2]};
    next[axis] += step;
    const bool leaves = beyond(next, axis);
    if (leaves) next[axis] = ends[axis].N > 1 ? i[axis] - step : i[axis];
    const PetscScalar here = k.field[0]->at(i), other = k.field[0]->at(next);
    value = leaves ? extrapolate(here, other, 1) : mean(here, other);
  }
  return k.conjugated ? PetscConj(value) : value;
}

void Diffusion::row(const Point &p, Row &u) const {
  u(0) += sigma;
  for (int a = 0; a < dim; a++)
    for (int s = -1; s <= 1 && coupled(a); s += 2) {
      const PetscScalar flux = face(p.i, a, s) / (p.h[a] * p.h[a]);
      u(0) += flux;
      along(u, a, s) -= flux;
    }
}

// ---- the Mat -------------------------------------------------------------------------------------------------------

const Option &DiffusionMat::option(const char *name) const {
  return find_option(diffusion_options, (std::string("-mat_diffusion_") + name).c_str());
}

void DiffusionMat::set_formula(Diffusion *formula) const {
  formula->dim = grid.dim;
  for (int a = 0; a < 3; a++) formula->ends[a] = ends[a];
  formula->sigma = sigma;
  formula->k = k;
  formula->mean_type = mean;
}

std::unique_ptr<Formula> DiffusionMat::make_formula() const {
  auto formula = std::make_unique<Diffusion>();
  set_formula(formula.get());
  return formula;
}

// On a GPU, where k is there, products take it in place of the coefficients.
PetscErrorCode DiffusionMat::Prepare(StencilOperator *of, Arrays *arrays, std::unique_ptr<PreparedOperator> *prepared) {
  PetscFunctionBegin;
  PetscCall(FormulaMat::Prepare(of, arrays, prepared));
#if SHELLAC_CUDA
  const int n = k.on_faces ? grid.dim : 1;
  if (!PetscMemTypeDevice(arrays->memory()) || !k.is_field() || grid.dim == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (of != op.get() || is_transposed || !as_filled || !is_flux_alone()) PetscFunctionReturn(PETSC_SUCCESS);
  if (k.conjugated || !k_is_normal) PetscFunctionReturn(PETSC_SUCCESS);
  if (!static_cast<const CapturedStencil &>(*of).has_whole_star_in_arrays()) PetscFunctionReturn(PETSC_SUCCESS);
  for (int a = 0; a < n; a++) {
    PetscBool on_gpu, bound;
    PetscCall(PetscObjectTypeCompareAny((PetscObject)k.field[a]->vec(), &on_gpu, VECSEQCUDA, VECMPICUDA, ""));
    PetscCall(VecBoundToCPU(k.field[a]->vec(), &bound));
    if (!on_gpu || bound || arrays->Writes(k.field[a]->vec())) PetscFunctionReturn(PETSC_SUCCESS);
  }
  const auto make_product = [=](std::unique_ptr<const InteriorProduct> *product) {
    Flux<PetscScalar> flux = {{NULL, NULL, NULL}, {0, 0, 0}, sigma};

    PetscFunctionBegin;
    for (int a = 0; a < n; a++) PetscCall(arrays->ReadBeside(k.field[a]->vec(), &flux.k[a]));
    for (int a = 0; a < grid.dim; a++) flux.c[a] = 1 / (ends[a].h * ends[a].h);
    if (k.on_faces)
      *product = std::make_unique<FluxProduct<OnFaces, PetscScalar>>(grid.dim, flux);
    else if (mean == MAT_DIFFUSION_HARMONIC)
      *product = std::make_unique<FluxProduct<HarmonicMean, PetscScalar>>(grid.dim, flux);
    else
      *product = std::make_unique<FluxProduct<ArithmeticMean, PetscScalar>>(grid.dim, flux);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  static_cast<PreparedCapture &>(**prepared).SetInteriorProduct(make_product);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An error on all ranks that names the first value that the means do not allow.
static PetscErrorCode check_coefficient(const Grid &grid, const LoadedField &k, bool positive, const char *remedy) {
  PetscInt    bad[3] = {0, 0, 0};
  PetscScalar value = 0;
  bool        found = false;

  PetscFunctionBegin;
  for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
    const PetscInt    i[3] = {grid.start[0] + p[0], grid.start[1] + p[1], grid.start[2] + p[2]};
    const PetscScalar here = k.at(i);
    if (found || (!PetscIsInfOrNanScalar(here) && (!positive || PetscRealPart(here) > 0))) return;
    found = true;
    value = here;
    for (int a = 0; a < 3; a++) bad[a] = i[a];
  });
  SHELLAC_CHECK_ALL(!found, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "the coefficient k is %s at the point (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT
                    "); %s",
                    number(value).c_str(), bad[0], bad[1], bad[2], remedy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiffusionMat::load_fields() {
  const bool  positive = mean == MAT_DIFFUSION_HARMONIC && !k.on_faces;
  const char *remedy = positive ? "harmonic means need finite values > 0; MatDiffusionSetMean() selects arithmetic ones"
                                : "it must be finite";

  PetscFunctionBegin;
  auto loaded = k;
  bool normal = true;
  for (HeldField &field : loaded.field) {
    if (!field) continue;
    auto read = std::make_shared<LoadedField>();
    PetscCall(read->Load(grid, owned_patch(), ends, 1, false, 1, field->vec(), "coefficient k"));
    PetscCall(check_coefficient(grid, *read, positive, remedy));
    for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
      constexpr PetscReal least = 16 * std::numeric_limits<PetscReal>::min(), most = 1 / least;
      const PetscInt      i[3] = {grid.start[0] + p[0], grid.start[1] + p[1], grid.start[2] + p[2]};
      const PetscReal     size = PetscAbsScalar(read->at(i));
      normal = normal && (k.on_faces || (least < size && size < most));
    });
    field = read;
  }
  k = loaded;
  k_is_normal = normal;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DiffusionMat::conjugate_settings() {
  sigma = PetscConj(sigma);
  k.constant = PetscConj(k.constant);
  k.conjugated = !k.conjugated;
}

void DiffusionMat::take_settings(const CapturedMat &other) {
  const auto &from = static_cast<const DiffusionMat &>(other);
  FormulaMat::take_settings(other);
  sigma = from.sigma;
  k = from.k;
  k_is_normal = from.k_is_normal;
  mean = from.mean;
}

PetscErrorCode DiffusionMat::view_terms(PetscViewer viewer, bool velocity) const {
  const char *names[] = {"harmonic", "arithmetic"};

  PetscFunctionBegin;
  const std::string of_k = !k.is_field() ? "k = " + number(k.constant)
                           : k.on_faces  ? std::string("k a field on faces")
                                         : std::string("k a field, ") + names[mean] + " means";
  PetscCall(PetscViewerASCIIPrintf(viewer, "-div(k grad(u))%s + sigma u, %s, sigma = %s\n",
                                   velocity ? " + w.grad(u)" : "", of_k.c_str(), number(sigma).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiffusionMat::view_equation(PetscViewer viewer) const {
  return view_terms(viewer, false);
}

// ---- settings ------------------------------------------------------------------------------------------------------

static PetscErrorCode change_coefficient(Mat A, DiffusionMat *context, const Coefficient &k) {
  const Coefficient before = context->k;

  PetscFunctionBegin;
  PetscCall(MatFormulaChangeSettings(
      A, context, [&] { return context->k = k, PETSC_SUCCESS; }, [&] { context->k = before; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_fields(Mat A, PetscInt n, const Vec values[], bool on_faces) {
  DiffusionMat *context;
  Coefficient   k;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  k.constant = context->k.constant;
  k.on_faces = on_faces;
  for (PetscInt a = 0; a < n; a++) {
    SHELLAC_CHECK_ALL(values[a], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL,
                      "the coefficient k is null; give a vector of the DMDA, or a number to MatDiffusionSetConstant()");
    auto field = std::make_shared<LoadedField>();
    PetscCall(field->Hold(values[a]));
    k.field[a] = field;
  }
  PetscCall(change_coefficient(A, context, k));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  PetscCall(MatGetFormula(A, &context));
  SHELLAC_CHECK_ALL(!PetscIsInfOrNanScalar(constant) && PetscRealPart(constant) >= 0, PetscObjectComm((PetscObject)A),
                    PETSC_ERR_ARG_OUTOFRANGE, "the coefficient k is %s; it must be finite and not negative",
                    number(constant).c_str());
  k.constant = constant;
  PetscCall(change_coefficient(A, context, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_mean(Mat A, MatDiffusionMeanType mean) {
  DiffusionMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  SHELLAC_CHECK_ALL(mean == MAT_DIFFUSION_HARMONIC || mean == MAT_DIFFUSION_ARITHMETIC, PetscObjectComm((PetscObject)A),
                    PETSC_ERR_ARG_OUTOFRANGE, "mean %d is unknown; use harmonic or arithmetic", (int)mean);
  const auto before = context->mean;
  PetscCall(MatFormulaChangeSettings(
      A, context, [&] { return context->mean = mean, PETSC_SUCCESS; }, [&] { context->mean = before; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_shift(Mat A, PetscScalar sigma) {
  DiffusionMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  SHELLAC_CHECK_ALL(!PetscIsInfOrNanScalar(sigma), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "the shift σ is %s; it must be finite", number(sigma).c_str());
  const auto before = context->sigma;
  PetscCall(MatFormulaChangeSettings(
      A, context, [&] { return context->sigma = sigma, PETSC_SUCCESS; }, [&] { context->sigma = before; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiffusionMat::set_from_options(Mat A, OptionItems PetscOptionsObject) {
  PetscScalar          number;
  PetscBool            set;
  MatDiffusionMeanType present = mean;

  PetscFunctionBegin;
  const auto read = [&](const char *name, PetscScalar fallback) -> PetscErrorCode {
    const Option &option = this->option(name);
    PetscFunctionBegin;
    number = fallback;
    PetscCall(read_scalar_option(PetscOptionsObject, PetscObjectComm((PetscObject)A), option, &number, &set));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(read("coefficient", k.constant));
  if (set) PetscCall(MatDiffusionSetConstant(A, number));
  PetscCall(read("shift", sigma));
  if (set) PetscCall(MatDiffusionSetShift(A, number));
  PetscCall(read_option(PetscOptionsObject, option("mean"), MatDiffusionMeanTypes, &present, &set));
  if (set) PetscCall(MatDiffusionSetMean(A, present));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDiffusionCompose(Mat A) {
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetCoefficient_C", set_coefficient));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetFaceCoefficients_C", set_face_coefficients));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetConstant_C", set_constant));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetMean_C", set_mean));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetShift_C", set_shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_Diffusion(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatCreateFormulaShell(A, MATDIFFUSION, new DiffusionMat));
  PetscCall(MatDiffusionCompose(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

const char *const MatDiffusionMeanTypes[] = {"harmonic", "arithmetic", "MatDiffusionMeanType", "MAT_DIFFUSION_", NULL};

PetscErrorCode MatDiffusionSetCoefficient(Mat A, Vec k) {
  PetscFunctionBegin;
  PetscCall(try_method(A, "MatDiffusionSetCoefficient_C", NULL, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDiffusionSetFaceCoefficients(Mat A, PetscInt n, const Vec k[]) {
  PetscFunctionBegin;
  PetscCall(try_method(A, "MatDiffusionSetFaceCoefficients_C", NULL, n, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDiffusionSetConstant(Mat A, PetscScalar k) {
  PetscFunctionBegin;
  PetscCall(try_method(A, "MatDiffusionSetConstant_C", NULL, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDiffusionSetMean(Mat A, MatDiffusionMeanType mean) {
  PetscFunctionBegin;
  PetscCall(try_method(A, "MatDiffusionSetMean_C", NULL, mean));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDiffusionSetShift(Mat A, PetscScalar sigma) {
  PetscFunctionBegin;
  PetscCall(try_method(A, "MatDiffusionSetShift_C", NULL, sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateDiffusion(DM da, Vec k, Mat *A) {
  PetscFunctionBegin;
  PetscCall(MatCreateOfType(
      da, MATDIFFUSION, [&](Mat made) { return MatDiffusionSetCoefficient(made, k); }, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
