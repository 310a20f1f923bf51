// Values and entries of an equation on a grid.

#include "equations/equation.hpp"

#include "formulas/field.hpp" // PetscObjectStateGet()

#include <algorithm>
#include <cmath>

namespace shellac {

// The local arrays that the functions read, while it lives.
class LocalArrays {
public:
  PetscErrorCode Get(DM da, Vec u, const std::vector<Vec> &fields, std::vector<const double *> *field_arrays,
                     equation::Place *place) {
    const PetscScalar *array;
    PetscFunctionBegin;
    da_ = da;
    fields_ = &fields;
    PetscCall(DMGetLocalVector(da, &local_));
    PetscCall(DMGlobalToLocalBegin(da, u, INSERT_VALUES, local_));
    PetscCall(DMGlobalToLocalEnd(da, u, INSERT_VALUES, local_));
    PetscCall(VecGetArrayRead(local_, &u_));
    for (size_t f = 0; f < fields.size(); f++) {
      PetscCall(VecGetArrayRead(fields[f], &array));
      (*field_arrays)[f] = reinterpret_cast<const double *>(array);
    }
    place->u = reinterpret_cast<const double *>(u_);
    place->fields = field_arrays->data();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore(std::vector<const double *> *field_arrays) {
    PetscFunctionBegin;
    for (size_t f = 0; f < fields_->size(); f++) {
      const PetscScalar *array = reinterpret_cast<const PetscScalar *>((*field_arrays)[f]);
      PetscCall(VecRestoreArrayRead((*fields_)[f], &array));
    }
    PetscCall(VecRestoreArrayRead(local_, &u_));
    PetscCall(DMRestoreLocalVector(da_, &local_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  DM                      da_ = NULL;
  Vec                     local_ = NULL;
  const PetscScalar      *u_ = NULL;
  const std::vector<Vec> *fields_ = nullptr;
};

PetscReal EquationOnGrid::RowScale() const {
  return equation_->text.has_rate ? 1 : place_.h[0] * place_.h[1] * place_.h[2] / equation_->cell;
}

PetscErrorCode EquationOnGrid::UpdateSource() {
  const auto function = equation_->functions->source;

  PetscFunctionBegin;
  if (!function || (source_version_ == version_ && source_time_ == place_.time)) PetscFunctionReturn(PETSC_SUCCESS);
  source_.resize(owned() * equation_->unknowns());
  place_.step = 0.02;
  for (const equation::Region &region : regions_) function(&place_, &region, source_.data());
  source_version_ = version_, source_time_ = place_.time;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Evaluate(PetscReal time, Vec u, Vec f) {
  PetscScalar *out;
  LocalArrays  arrays;

  PetscFunctionBegin;
  if (checked_ != equation_->version) PetscCall(CheckComplete());
  place_.time = time;
  PetscCall(Update());
  PetscCall(UpdateSource());
  PetscCall(arrays.Get(da_, u, local_fields_, &field_arrays_, &place_));
  PetscCall(VecGetArrayWrite(f, &out));
  place_.arm[0] = 0;
  int arm[5] = {0, 0, 0, 0, 0};
  for (const equation::Region &region : regions_) {
    equation_->functions->values(&place_, &region, reinterpret_cast<double *>(out));
    if (place_.arm[0]) std::copy(place_.arm, place_.arm + 5, arm);
  }
  const PetscReal sign = equation_->text.has_rate ? 1 : -1, scale = RowScale();
  for (size_t i = 0; i < source_.size(); i++) out[i] += sign * source_[i];
  if (scale != 1)
    for (size_t i = 0; i < owned() * equation_->unknowns(); i++) out[i] *= scale;
  PetscCall(VecRestoreArrayWrite(f, &out));
  PetscCall(arrays.Restore(&field_arrays_));
  if (arm[0]) PetscCall(CheckArms(arm));
  if (checked_ != version_) PetscCall(CheckNumbers(u, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::CheckArms(const int arm[5]) const {
  const std::string name = arm[4] < 0 ? "a field" : equation_->text.unknowns[(size_t)arm[4]].name;

  PetscFunctionBegin;
  PetscCheck(!arm[0], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s reads %s(%d, %d, %d), beyond the DMDA's %s stencil of width %" PetscInt_FMT
             "; make the DMDA with a wider one, or state it, as grid(2, box, 2)",
             equation_->text.file.c_str(), name.c_str(), arm[1], arm[2], arm[3], grid_.box ? "box" : "star",
             grid_.width);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first values since a change must be numbers: a solver would only say that it diverges.
PetscErrorCode EquationOnGrid::CheckNumbers(Vec u, Vec f) {
  const PetscScalar *value, *state;
  const size_t       n = equation_->unknowns();
  char               text[512] = "";

  PetscFunctionBegin;
  checked_ = version_;
  PetscCall(VecGetArrayRead(f, &value));
  PetscCall(VecGetArrayRead(u, &state));
  for (size_t i = 0; i < owned() * n && !text[0]; i++)
    if (PetscIsInfOrNanScalar(value[i]) && !PetscIsInfOrNanScalar(state[i])) {
      const auto  &unknown = equation_->text.unknowns[i % n];
      const size_t point = i / n;
      const bool   rate = equation_->text.has_rate;
      char         where[256];
      PetscCall(PetscSNPrintf(where, sizeof(where),
                              "the %s of %s is %g at the point (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT
                              ") of the initial state, where %s = %g; change the formula or the initial state",
                              rate ? "rate" : "residual", unknown.name.c_str(), (double)PetscRealPart(value[i]),
                              grid_.start[0] + (PetscInt)(point % (size_t)grid_.size[0]),
                              grid_.start[1] + (PetscInt)(point / (size_t)grid_.size[0] % (size_t)grid_.size[1]),
                              grid_.start[2] + (PetscInt)(point / (size_t)grid_.size[0] / (size_t)grid_.size[1]),
                              unknown.name.c_str(), (double)PetscRealPart(state[i])));
      PetscCall(PetscStrncpy(text,
                             equation_->text.error_at(rate ? unknown.rate.line : unknown.residual.line, where).c_str(),
                             sizeof(text)));
    }
  PetscCall(VecRestoreArrayRead(u, &state));
  PetscCall(VecRestoreArrayRead(f, &value));
  PetscCall(share_error(grid_.comm, text));
  if (text[0]) checked_ = 0;
  PetscCheck(!text[0], grid_.comm, PETSC_ERR_FP, "%s", text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- entries -------------------------------------------------------------------------------------------------------

// What the entries in a Mat were made from: of a linear equation they are made once.
struct Made {
  PetscInt         version = 0;
  PetscReal        time = 0;
  PetscObjectState state = 0;
  const void      *by = nullptr;
};

static PetscErrorCode destroy_made(void *argument) {
  PetscFunctionBegin;
  delete context_to_destroy<Made>(argument);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_made(Mat A, Made **made) {
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, "ShellacEquationEntries", (PetscObject *)&container));
  if (!container) {
    PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)A), &container));
    PetscCall(PetscContainerSetPointer(container, new Made));
    PetscCall(PetscContainerSetCtxDestroy(container, destructor(destroy_made)));
    PetscCall(PetscObjectCompose((PetscObject)A, "ShellacEquationEntries", (PetscObject)container));
    PetscCall(PetscObjectDereference((PetscObject)container));
  }
  PetscCall(PetscContainerGetPointer(container, (void **)made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Assemble(PetscReal time, Vec u, Mat A) {
  Made            *made;
  PetscObjectState state;
  LocalArrays      arrays;

  PetscFunctionBegin;
  PetscCall(CheckComplete());
  place_.time = time;
  PetscCall(Update());
  PetscCall(get_made(A, &made));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (equation_->linear && made->by == this && made->version == version_ && made->time == time && made->state == state)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(arrays.Get(da_, u, local_fields_, &field_arrays_, &place_));
  const size_t          count = equation_->unknowns() * (size_t)slots();
  std::vector<double>   entries(count * owned());
  std::vector<double *> slot(count);
  for (size_t s = 0; s < count; s++) slot[s] = entries.data() + s * owned();
  for (const equation::Region &region : regions_) equation_->functions->entries(&place_, &region, slot.data());
  PetscCall(arrays.Restore(&field_arrays_));
  PetscCall(Add(entries, A));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *made = {version_, time, state, this};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// entries: [row][arm][unknown][points]
PetscErrorCode EquationOnGrid::Add(const std::vector<double> &entries, Mat A) const {
  const PetscInt           n = (PetscInt)equation_->unknowns(), columns = (PetscInt)slots();
  std::vector<PetscInt>    row((size_t)n), column((size_t)columns);
  std::vector<PetscScalar> value((size_t)(n * columns));
  const PetscReal          scale = RowScale();
  PetscInt                 ghost[3], size[3];

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) ghost[a] = (PetscInt)place_.ghost_start[a], size[a] = (PetscInt)place_.ghost_size[a];
  const auto local = [&](PetscInt i, PetscInt j, PetscInt k) {
    return i - ghost[0] + size[0] * (j - ghost[1] + size[1] * (k - ghost[2]));
  };
  PetscCall(MatZeroEntries(A));
  size_t point = 0;
  for (PetscInt k = grid_.start[2]; k < grid_.start[2] + grid_.size[2]; k++)
    for (PetscInt j = grid_.start[1]; j < grid_.start[1] + grid_.size[1]; j++)
      for (PetscInt i = grid_.start[0]; i < grid_.start[0] + grid_.size[0]; i++, point++) {
        const PetscInt p[3] = {i, j, k};
        for (PetscInt r = 0; r < n; r++) row[(size_t)r] = local(i, j, k) * n + r;
        for (size_t arm = 0; arm < arms_.size(); arm++) {
          bool inside = true;
          for (int a = 0; a < 3; a++) {
            const PetscInt q = p[a] + arms_[arm].d[a];
            inside = inside && (place_.periodic[a] || (q >= 0 && q < grid_.N[a]));
          }
          const PetscInt at = local(i + arms_[arm].d[0], j + arms_[arm].d[1], k + arms_[arm].d[2]);
          for (PetscInt c = 0; c < n; c++) column[arm * (size_t)n + (size_t)c] = inside ? at * n + c : -1;
        }
        for (size_t s = 0; s < value.size(); s++) value[s] = scale * entries[s * owned() + point];
        PetscCall(MatSetValuesLocal(A, n, row.data(), columns, column.data(), value.data(), ADD_VALUES));
      }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- trial ---------------------------------------------------------------------------------------------------------

// A number in [0.5, 1.5] that depends on the place and a seed alone.
static double any_number(size_t place, unsigned seed) {
  unsigned long long bits = (place + 1) * 6364136223846793005ull + seed * 1442695040888963407ull;
  bits ^= bits >> 31, bits *= 0x9e3779b97f4a7c15ull, bits ^= bits >> 29;
  return 0.5 + (double)(bits >> 11) / 9007199254740992.;
}

// A few points of a region.
static equation::Region sample_of(equation::Region region) {
  for (int a = 0; a < 3; a++) region.end[a] = std::min(region.end[a], region.start[a] + 4);
  return region;
}

std::unique_ptr<double[]> EquationOnGrid::NumbersNear(const equation::Region &region, int n, unsigned seed,
                                                      double size) const {
  const auto               *start = place_.ghost_start, *extent = place_.ghost_size;
  std::unique_ptr<double[]> numbers(new double[(size_t)(extent[0] * extent[1] * extent[2]) * (size_t)n]);
  long long                 first[3], last[3];
  for (int a = 0; a < 3; a++) {
    first[a] = std::max<long long>(region.start[a] - grid_.width - start[a], 0);
    last[a] = std::min<long long>(region.end[a] + grid_.width - start[a], extent[a]);
  }
  for (long long k = first[2]; k < last[2]; k++)
    for (long long j = first[1]; j < last[1]; j++) {
      const size_t row = (size_t)((k * extent[1] + j) * extent[0]);
      for (size_t i = (row + (size_t)first[0]) * (size_t)n; i < (row + (size_t)last[0]) * (size_t)n; i++)
        numbers[i] = size * any_number(i, seed);
    }
  return numbers;
}

int EquationOnGrid::Sample(equation::Region region, unsigned seed, double size, std::vector<double> *entries) {
  const equation::Place whole = place_;
  const size_t          count = equation_->unknowns() * (size_t)slots();
  std::vector<double *> slot(count);
  int                   points = 1;
  region = sample_of(region);
  for (int a = 0; a < 3; a++) {
    place_.out_start[a] = region.start[a], place_.out_size[a] = region.end[a] - region.start[a];
    points *= (int)place_.out_size[a];
  }
  const auto u = NumbersNear(region, (int)equation_->unknowns(), seed, size);
  entries->assign(count * (size_t)points, 0);
  for (size_t s = 0; s < count; s++) slot[s] = entries->data() + s * (size_t)points;
  place_.u = u.get();
  place_.arm[0] = 0;
  equation_->functions->values(&place_, &region, entries->data());
  if (!place_.arm[0]) equation_->functions->entries(&place_, &region, slot.data());
  std::copy(place_.arm, place_.arm + 5, sample_arm_);
  place_ = whole;
  return points;
}

PetscErrorCode EquationOnGrid::SetGivenScale() {
  const size_t           n = equation_->unknowns();
  std::vector<PetscReal> largest(2 * n, 0.); // of the positive and of the negative diagonal entries
  std::vector<double>    entries;

  PetscFunctionBegin;
  given_scale_.assign(n, 1);
  place_.given_scale = given_scale_.data();
  if (equation_->text.has_rate || !std::count(identity_.begin(), identity_.end(), 1))
    PetscFunctionReturn(PETSC_SUCCESS);
  size_t center = 0;
  while (arms_[center].d[0] || arms_[center].d[1] || arms_[center].d[2]) center++;
  for (size_t f = 0; f < fields_.size(); f++) {
    const PetscScalar *array;
    PetscCall(VecGetArrayRead(local_fields_[f], &array));
    field_arrays_[f] = reinterpret_cast<const double *>(array);
  }
  for (const equation::Region &region : regions_) {
    if (region.ends) continue;
    const size_t points = (size_t)Sample(region, 1, 1, &entries);
    for (size_t r = 0; r < n; r++)
      for (size_t p = 0; p < points; p++) {
        const double entry = entries[((r * arms_.size() + center) * n + r) * points + p];
        if (std::isfinite(entry))
          largest[2 * r + (entry < 0)] = std::max(largest[2 * r + (entry < 0)], std::fabs(entry));
      }
  }
  for (size_t f = 0; f < fields_.size(); f++) {
    const PetscScalar *array = reinterpret_cast<const PetscScalar *>(field_arrays_[f]);
    PetscCall(VecRestoreArrayRead(local_fields_[f], &array));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest.data(), (PetscMPIInt)(2 * n), MPIU_REAL, MPIU_MAX, grid_.comm));
  for (size_t r = 0; r < n; r++) {
    const PetscReal *l = &largest[2 * r];
    if (l[0] > 0 || l[1] > 0) given_scale_[r] = l[0] >= l[1] ? l[0] : -l[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Try(bool *linear) {
  const double        sizes[] = {0.1, 1, -1, 10};
  int                 arm[5] = {0, 0, 0, 0, 0};
  PetscInt            differs = 0;
  std::vector<double> first, entries;

  PetscFunctionBegin;
  PetscCall(Update());
  // at no special value of a field or of the time, where a term that is not linear could vanish
  std::vector<const double *> fields(fields_.size());
  const double                time = place_.time;
  place_.fields = fields.data();
  place_.time = 0.7182;
  for (const equation::Region &region : regions_) {
    const auto values = NumbersNear(sample_of(region), 1, 17, 1);
    std::fill(fields.begin(), fields.end(), values.get());
    for (unsigned state = 0; state < 4; state++) {
      Sample(region, state, sizes[state], &entries);
      if (sample_arm_[0]) std::copy(sample_arm_, sample_arm_ + 5, arm);
      if (state == 0) first = entries;
      double largest = 0;
      for (const double entry : first) largest = std::max(largest, std::fabs(entry));
      for (size_t i = 0; i < entries.size(); i++)
        if (!(std::fabs(entries[i] - first[i]) <= 1e-12 * largest)) differs = 1;
    }
  }
  place_.fields = field_arrays_.data();
  place_.time = time;
  char text[512] = "";
  if (arm[0]) {
    const std::string name = arm[4] < 0 ? "a field" : equation_->text.unknowns[(size_t)arm[4]].name;
    PetscCall(PetscSNPrintf(text, sizeof(text),
                            "%s reads %s(%d, %d, %d), beyond the DMDA's %s stencil of width %" PetscInt_FMT
                            "; make the DMDA with a wider one, and state it, as grid(%d, box, 2)",
                            equation_->text.file.c_str(), name.c_str(), arm[1], arm[2], arm[3],
                            grid_.box ? "box" : "star", grid_.width, grid_.dim));
  }
  PetscCall(share_error(grid_.comm, text));
  PetscCheck(!text[0], grid_.comm, PETSC_ERR_ARG_OUTOFRANGE, "%s", text);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPIU_INT, MPI_MAX, grid_.comm));
  *linear = !differs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
