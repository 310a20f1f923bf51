// The type diffusion.

#include "formulas/diffusion.hpp"

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

// k half a spacing beyond the last point, from the last two. Of a smooth k it is extrapolated: with s = (a - b)/(a + b), the
// factor 1 + s differs from that of linear extrapolation by O(h²). Where k jumps, s is near 1 or -1 and the last point's k
// remains. So the result is between 0.6 a and 1.4 a.
static PetscScalar beyond(PetscScalar a, PetscScalar b) {
  const PetscScalar s = (a - b) / (a + b);
  return PetscAbsScalar(s) < 1 ? a * (PetscReal(1) + s * (PetscReal(1) - s * s)) : a;
}

PetscScalar Diffusion::face(const PetscInt i[3], int axis, int step) const {
  if (!k) return constant_k;
  const PetscInt N = ends[axis].N;
  PetscInt       next[3] = {i[0], i[1], i[2]};
  next[axis] += step;
  const bool leaves = !ends[axis].periodic && !ends[axis].mirror && (next[axis] < 0 || next[axis] >= N);
  if (leaves) next[axis] = N > 1 ? i[axis] - step : i[axis];
  const PetscScalar here = k->at(i), other = k->at(next), value = leaves ? beyond(here, other) : mean(here, other);
  return k_conjugated ? PetscConj(value) : value;
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
  formula->constant_k = constant_k;
  formula->k = k;
  formula->k_conjugated = k_conjugated;
  formula->mean_type = mean;
}

std::unique_ptr<Formula> DiffusionMat::make_formula() const {
  auto formula = std::make_unique<Diffusion>();
  set_formula(formula.get());
  return formula;
}

// An error on all ranks that names the first value that the means do not allow.
static PetscErrorCode check_coefficient(const Grid &grid, const LoadedField &k, MatDiffusionMeanType mean) {
  PetscInt    bad[3] = {0, 0, 0};
  PetscScalar value = 0;
  bool        found = false;

  PetscFunctionBegin;
  for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
    const PetscInt    i[3] = {grid.start[0] + p[0], grid.start[1] + p[1], grid.start[2] + p[2]};
    const PetscScalar here = k.at(i);
    if (found || (!PetscIsInfOrNanScalar(here) && (mean != MAT_DIFFUSION_HARMONIC || PetscRealPart(here) > 0))) return;
    found = true;
    value = here;
    for (int a = 0; a < 3; a++) bad[a] = i[a];
  });
  SHELLAC_CHECK_ALL(!found, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "the coefficient k is %s at the point (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT
                    "); %s",
                    number(value).c_str(), bad[0], bad[1], bad[2],
                    mean == MAT_DIFFUSION_HARMONIC
                        ? "harmonic means need finite values > 0; MatDiffusionSetMean() selects arithmetic ones"
                        : "it must be finite");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiffusionMat::load_fields() {
  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  auto loaded = std::make_shared<LoadedField>();
  PetscCall(loaded->Load(grid, owned_patch(), ends, 1, false, 1, k->vec(), "coefficient k"));
  PetscCall(check_coefficient(grid, *loaded, mean));
  k = loaded;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DiffusionMat::conjugate_settings() {
  sigma = PetscConj(sigma);
  constant_k = PetscConj(constant_k);
  k_conjugated = !k_conjugated;
}

void DiffusionMat::take_settings(const CapturedMat &other) {
  const auto &from = static_cast<const DiffusionMat &>(other);
  FormulaMat::take_settings(other);
  sigma = from.sigma;
  constant_k = from.constant_k;
  k = from.k;
  k_conjugated = from.k_conjugated;
  mean = from.mean;
}

PetscErrorCode DiffusionMat::view_terms(PetscViewer viewer, bool velocity) const {
  const char *names[] = {"harmonic", "arithmetic"};

  PetscFunctionBegin;
  const std::string of_k = k ? std::string("k a field, ") + names[mean] + " means" : "k = " + number(constant_k);
  PetscCall(PetscViewerASCIIPrintf(viewer, "-div(k grad(u))%s + sigma u, %s, sigma = %s\n",
                                   velocity ? " + w.grad(u)" : "", of_k.c_str(), number(sigma).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiffusionMat::view_equation(PetscViewer viewer) const {
  return view_terms(viewer, false);
}

// ---- settings ------------------------------------------------------------------------------------------------------

static PetscErrorCode set_coefficient(Mat A, Vec k) {
  DiffusionMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  SHELLAC_CHECK_ALL(k, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL,
                    "the coefficient k is null; give a vector of the DMDA, or a number to MatDiffusionSetConstant()");
  auto field = std::make_shared<LoadedField>();
  PetscCall(field->Hold(k));
  const auto before = context->k;
  const bool conjugated = context->k_conjugated;
  PetscCall(MatFormulaChangeSettings(
      A, context, [&] { return context->k = field, context->k_conjugated = false, PETSC_SUCCESS; },
      [&] { context->k = before, context->k_conjugated = conjugated; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_constant(Mat A, PetscScalar k) {
  DiffusionMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  SHELLAC_CHECK_ALL(!PetscIsInfOrNanScalar(k) && PetscRealPart(k) >= 0, PetscObjectComm((PetscObject)A),
                    PETSC_ERR_ARG_OUTOFRANGE, "the coefficient k is %s; it must be finite and not negative",
                    number(k).c_str());
  const auto        before = context->k;
  const PetscScalar constant = context->constant_k;
  PetscCall(MatFormulaChangeSettings(
      A, context, [&] { return context->k = nullptr, context->constant_k = k, PETSC_SUCCESS; },
      [&] { context->k = before, context->constant_k = constant; }));
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
  PetscCall(read("coefficient", constant_k));
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
