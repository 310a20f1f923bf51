// The type diffusion.

#include "formulas/diffusion.hpp"

#include <cmath>
#include <limits>

#include "formulas/fill_inner.hpp"
#include "formulas/flux_on_gpu.hpp"
#include "stencil/types.hpp"

namespace shellac {

// ---- the formula ---------------------------------------------------------------------------------------------------

void Diffusion::row(const Point &p, Row &u) const {
  PetscScalar center = 1, beside[3][2] = {{0, 0}, {0, 0}, {0, 0}};
  if (!terms.fixed(p.i)) terms.row(p.i, &center, beside);
  u(0) += center;
  for (int a = 0; a < terms.dim; a++)
    for (int e = 0; e < 2; e++) along(u, a, e == LOWER ? -1 : 1) += beside[a][e];
}

// ---- the Mat -------------------------------------------------------------------------------------------------------

template <class Values> void DiffusionMat::set_terms(DiffusionTerms<Values> *terms) const {
  terms->dim = grid.dim;
  for (int a = 0; a < 3; a++) terms->ends[a] = ends[a];
  terms->sigma = sigma;
  terms->constant = k.constant;
  terms->is_field = k.is_field();
  terms->on_faces = k.on_faces;
  terms->conjugated = k.conjugated;
  terms->mean_type = mean;
  terms->flows = flows;
  terms->w_is_field = w.field != nullptr;
  terms->upwind = w.scheme == MAT_ADVECTION_DIFFUSION_UPWIND;
  for (int a = 0; a < 3; a++) terms->constant_w[a] = w.constant[a];
  terms->masked = mask != nullptr;
  terms->walls_have_values = wall == MAT_DIFFUSION_WALL_VALUE;
}

std::unique_ptr<Formula> DiffusionMat::make_formula() const {
  auto formula = std::make_unique<Diffusion>();
  set_terms(&formula->terms);
  for (int a = 0; a < 3; a++) {
    formula->k[a] = k.field[a];
    formula->terms.k[a].field = k.field[a].get();
  }
  formula->w = w.field;
  formula->terms.w.field = formula->w.get();
  formula->set_mask(*this);
  return formula;
}

// Whether work on a field is done on a GPU; which has its values, or gets them when they are read there.
static PetscErrorCode is_of_gpu(Vec v, bool *is) {
  PetscBool cuda, bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecBoundToCPU(v, &bound));
  *is = cuda && !bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On a GPU, where k is there, too, a product takes k in place of the coefficients.
PetscErrorCode DiffusionMat::Prepare(StencilOperator *of, Arrays *arrays, std::unique_ptr<PreparedOperator> *prepared) {
  PetscFunctionBegin;
  PetscCall(FormulaMat::Prepare(of, arrays, prepared));
#if SHELLAC_CUDA
  const int n = k.on_faces ? grid.dim : 1;
  if (PetscMemTypeHost(arrays->memory()) || !k.is_field() || grid.dim == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (of != op.get() || is_transposed || !change.none() || flows || mask) PetscFunctionReturn(PETSC_SUCCESS);
  if (k.conjugated || !k.is_normal) PetscFunctionReturn(PETSC_SUCCESS);
  if (!static_cast<const CapturedStencil &>(*of).has_whole_star_in_arrays()) PetscFunctionReturn(PETSC_SUCCESS);
  for (int a = 0; a < n; a++) {
    bool on_gpu = false;
    PetscCall(is_of_gpu(k.field[a]->vec(), &on_gpu));
    if (!on_gpu || arrays->Writes(k.field[a]->vec())) PetscFunctionReturn(PETSC_SUCCESS);
  }
  const auto make_product = [=](std::unique_ptr<const InteriorProduct> *product) {
    Flux<PetscScalar> flux = {{NULL, NULL, NULL}, {0, 0, 0}, sigma, {}};
    const Patch       patch = grid.owned_patch();

    PetscFunctionBegin;
    for (int a = 0; a < n; a++) PetscCall(arrays->ReadBeside(k.field[a]->vec(), &flux.k[a]));
    for (int a = 0; a < grid.dim; a++) flux.c[a] = 1 / (ends[a].h * ends[a].h);
    for (int a = 0; a < grid.dim; a++)
      for (Side side : {LOWER, UPPER}) flux.end[a][side] = FluxEnd<PetscScalar>(patch, ends[a], a, side, k.on_faces);
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

// Of values whose products of four sums have normal reciprocals.
static const PetscReal least_normal = 16 * std::pow(std::numeric_limits<PetscReal>::min(), PetscReal(0.25));

// The values are not read: products and rows are computed where they are.
PetscErrorCode DiffusionMat::load_fields() {
  Coefficient loaded = k;
  auto        loaded_w = std::make_shared<LoadedField>();

  PetscFunctionBegin;
  PetscCheck(w.given == 0 || w.given == grid.dim, grid.comm, PETSC_ERR_ARG_SIZ,
             "the velocity has %" PetscInt_FMT " components and the grid %d dimension%s; give %d to "
             "-mat_advection_diffusion_velocity or MatAdvectionDiffusionSetConstantVelocity()",
             w.given, grid.dim, grid.dim > 1 ? "s" : "", grid.dim);
  if (w.field) PetscCall(loaded_w->Check(grid, grid.dim, w.field->vec(), "velocity w"));
  for (HeldField &field : loaded.field) {
    if (!field) continue;
    auto checked = std::make_shared<LoadedField>();
    PetscCall(checked->Check(grid, 1, field->vec(), "coefficient k"));
    field = checked;
  }
  PetscCall(FormulaMat::load_fields());
  k = loaded;
  if (w.field) w.field = loaded_w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiffusionMat::read_fields() {
  const bool        positive = must_be_positive();
  const char *const names[] = {"the coefficient k"},
                    *remedy = positive
                                  ? "it must be finite and, for harmonic means, > 0; MatDiffusionSetMean() selects "
                                    "arithmetic ones"
                                  : "it must be finite";
  const auto is_solid = [&](const PetscInt i[3]) { return mask && mask->at(i) != PetscScalar(0); };
  const auto good = [&](PetscScalar value, const PetscInt i[3]) {
    return (is_solid(i) && !k.on_faces) || (!PetscIsInfOrNanScalar(value) && (!positive || PetscRealPart(value) > 0));
  };

  PetscFunctionBegin;
  PetscCall(FormulaMat::read_fields());
  for (const HeldField &field : k.field) {
    if (!field || field->is_read()) continue;
    PetscCall(field->Read(grid, ends, 1, false, 1));
    PetscCall(field->CheckValues(grid, good, names, remedy));
  }
  if (!w.field || w.field->is_read()) PetscFunctionReturn(PETSC_SUCCESS);
  const char *const of_w[] = {"the velocity along x", "the velocity along y", "the velocity along z"};
  const auto        real = [&](PetscScalar value, const PetscInt i[3]) {
    return is_solid(i) || (!PetscIsInfOrNanScalar(value) && PetscImaginaryPart(value) == 0);
  };
  PetscCall(w.field->Read(grid, ends, 1, false, grid.dim));
  PetscCall(w.field->CheckValues(grid, real, of_w, "it must be finite and real"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiffusionMat::fill_beside_fields(CapturedStencil *to, PetscReal *relative_sum, bool *done) {
  const int                  n = !k.is_field() ? 0 : k.on_faces ? grid.dim : 1; // fields of k
  FillDiffusion<PetscScalar> fill;
  PetscMemType               memory = to->home();
  PetscScalar *const        *ignored;
  Vec                        state, sum;
  PetscReal                  most[2];
  Refusal                    refusal;

  PetscFunctionBegin;
  *done = false;
  for (const HeldField *field : fields()) {
    bool             on_gpu = false;
    PetscOffloadMask newest;
    if (!*field) continue;
    PetscCall(is_of_gpu((*field)->vec(), &on_gpu));
    PetscCall(VecGetOffloadMask((*field)->vec(), &newest));
    if (!on_gpu || newest == PETSC_OFFLOAD_CPU) memory = PETSC_MEMTYPE_HOST;
  }
  PetscCall(to->Open(&ignored, memory));
  PetscCall(to->NeedAll());
  PetscCall(to->GetOpen(&fill.to));
  set_terms(&fill.terms);
  Arrays arrays(to->memory());
  for (int a = 0; a < n + (mask ? 1 : 0); a++) {
    const PetscScalar *values;
    PetscCall(arrays.Read((a < n ? k.field[a] : mask)->vec(), &values));
    if (a > more_halos_made) { // the first field has the operator's own
      const PetscBool on_device = PetscMemTypeDevice(to->home()) ? PETSC_TRUE : PETSC_FALSE;
      PetscCall(more_halos[a - 1].Create(grid, to->patch(), false, on_device, halo_way));
      more_halos_made = a;
    }
    Halo &of_field = a ? more_halos[a - 1] : halo;
    PetscCall(of_field.Begin(values, to->memory()));
    PetscCall(of_field.End());
    FieldBesideHalo &values_of_rows = a < n ? fill.terms.k[a] : fill.terms.mask;
    values_of_rows = {to->patch(), of_field.field()};
  }
  if (fill.terms.w_is_field) { // rows take only their own points' values
    fill.terms.w = {to->patch(), {}};
    fill.terms.w.patch.dof = grid.dim;
    PetscCall(arrays.Read(w.field->vec(), &fill.terms.w.values.u));
  }
  for (int a = 0; a < 3; a++)
    for (int e = 0; e < 2; e++) {
      PetscInt step[3] = {0, 0, 0};
      step[a] = e == LOWER ? -1 : 1;
      fill.arm[a][e] = a < grid.dim ? PetscMax(arms->find(step), 0) : 0;
    }
  fill.positive = must_be_positive();
  fill.least = least_normal;
  PetscCall(VecCreate(PETSC_COMM_SELF, &state));
  PetscCall(VecSetSizes(state, (PetscInt)to->patch().all().points(), PETSC_DETERMINE));
  PetscCall(VecSetType(state, to->vec_type()));
  PetscCall(VecDuplicate(state, &sum));
  PetscCall(arrays.Write(state, &fill.state));
  PetscCall(arrays.Write(sum, &fill.sum));
  PetscCall(fill_rows(to->memory(), fill));
  PetscCall(arrays.Restore());
  PetscCall(VecMax(state, NULL, &most[0]));
  PetscCall(VecMax(sum, NULL, &most[1]));
  PetscCall(VecDestroy(&state));
  PetscCall(VecDestroy(&sum));
  const bool is_normal = most[0] == ROW_NORMAL;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPIU_REAL, MPIU_MAX, grid.comm));
  *relative_sum = most[1];
  *done = most[0] != ROW_WRONG;
  if (*done) {
    k.is_normal = is_normal;
    PetscCall(to->Close(compression, &refusal));
  } else {
    PetscCall(to->Zero()); // there is an error that names the point, on the host
    PetscCall(destroy_more_halos());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiffusionMat::destroy_more_halos() {
  PetscFunctionBegin;
  for (Halo &of_field : more_halos) PetscCall(of_field.Destroy());
  more_halos_made = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiffusionMat::destroy() {
  PetscFunctionBegin;
  PetscCall(destroy_more_halos());
  PetscCall(FormulaMat::destroy());
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
  static_cast<DiffusionSettings &>(*this) = from;
}

PetscErrorCode DiffusionMat::view_equation(PetscViewer viewer) const {
  const char *names[] = {"harmonic", "arithmetic"};

  PetscFunctionBegin;
  const std::string of_k = !k.is_field() ? "k = " + number(k.constant)
                           : k.on_faces  ? std::string("k a field on faces")
                                         : std::string("k a field, ") + names[mean] + " means";
  PetscCall(PetscViewerASCIIPrintf(viewer, "-div(k grad(u))%s + sigma u, %s, sigma = %s\n", flows ? " + w.grad(u)" : "",
                                   of_k.c_str(), number(sigma).c_str()));
  if (flows) PetscCall(MatAdvectionDiffusionView(w, grid.dim, viewer));
  PetscCall(MatObstaclesView(*this, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_Diffusion(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatCreateFormulaShell(A, MATDIFFUSION, new DiffusionMat(false)));
  PetscCall(MatDiffusionCompose(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

PetscErrorCode MatCreateDiffusion(DM da, Vec k, Mat *A) {
  PetscFunctionBegin;
  PetscCall(MatCreateOfType(
      da, MATDIFFUSION, [&](Mat made) { return MatDiffusionSetCoefficient(made, k); }, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
