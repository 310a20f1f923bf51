// Values and entries of an equation on a grid.

#include "equations/equation.hpp"

#include "capture/slots.hpp"

#include <algorithm>
#include <cmath>

namespace shellac {

// ---- where functions are computed ----------------------------------------------------------------------------------

PetscErrorCode EquationOnGrid::NeedKernels(Vec u, LazyKernels &lazy) {
  Equation                       &equation = *equation_;
  VecType                         type;
  PetscMPIInt                     ranks;
  std::vector<GpuLibrary::Source> sources;

  PetscFunctionBegin;
  if (lazy.tried) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(grid_.comm, &ranks));
  if (ranks < equation.ranks) PetscFunctionReturn(PETSC_SUCCESS); // a coarse grid, which other ranks do not have
  PetscCall(VecGetType(u, &type));
  if (std::string(type).find("cuda") == std::string::npos) PetscFunctionReturn(PETSC_SUCCESS);
  lazy.tried = true;
  for (const std::string &name : lazy.names)
    sources.push_back({equation_kernel(equation.text, equation.shape, name), {"shellac_" + name}});
  PetscCall(lazy.kernels.Create(grid_.comm, sources, equation.text.file, equation.cache.c_str(), grid_.dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Read(Vec u, WorkVector *local, Arrays *arrays) {
  PetscFunctionBegin;
  PetscCall(NeedKernels(u, equation_->kernels));
  if (!equation_->kernels.kernels.present()) *arrays = Arrays(PETSC_MEMTYPE_HOST);
  if (ghosts_ && !*local) {
    PetscCall(local->Get(da_, true));
    PetscCall(DMGlobalToLocalBegin(da_, u, INSERT_VALUES, *local));
    PetscCall(DMGlobalToLocalEnd(da_, u, INSERT_VALUES, *local));
  }
  if (ghosts_) u = *local;
  PetscCall(arrays->Read(u, &u_));
  PetscCall(ReadFields(arrays));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::ReadFields(Arrays *arrays) {
  PetscFunctionBegin;
  for (size_t f = 0; f < local_fields_.size(); f++) PetscCall(arrays->Read(local_fields_[f], &field_arrays_[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::SetPlace(PetscMemType memory) {
  PetscFunctionBegin;
  const PetscScalar *source;
  place_.u = compiled_array(u_);
  place_.direction = nullptr; // unless a product sets it
  place_.fields = reinterpret_cast<const equation::Scalar *const *>(field_arrays_.data());
  place_.row_scale = RowScale();
  arm_[0] = 0;
  PetscCall(SetTables(memory));
  PetscCall(source_.Get(memory, &source));
  place_.source = compiled_array(source);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PlaceTables EquationOnGrid::Tables() const {
  const size_t n = equation_->unknowns();
  return {fields_.size(), equation_->parameters.size(), n, n * 6 * (size_t)grid_.width, n * 6};
}

PetscErrorCode EquationOnGrid::ComputeValues(PetscMemType memory, PetscScalar *out) {
  equation::Scalar *values = compiled_array(out);

  PetscFunctionBegin;
  PetscCall(SetPlace(memory));
  if (PetscMemTypeDevice(memory))
    PetscCall(equation_->kernels.kernels.Vectors(0, place_, Tables(), regions_, values));
  else
    for (const equation::Region &region : regions_) equation_->functions->values(&place_, &region, values);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// slots: [row][arm][unknown], in that memory, each [points]
PetscErrorCode EquationOnGrid::ComputeEntries(PetscMemType memory, PetscScalar *const *slots) {
  const auto   entries = reinterpret_cast<equation::Scalar *const *>(slots);
  const size_t count = equation_->unknowns() * (size_t)this->slots();

  PetscFunctionBegin;
  PetscCall(SetPlace(memory));
  if (PetscMemTypeDevice(memory))
    PetscCall(equation_->kernels.kernels.Entries(1, place_, Tables(), regions_, entries, count));
  else
    for (const equation::Region &region : regions_) equation_->functions->entries(&place_, &region, entries);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- values --------------------------------------------------------------------------------------------------------

PetscReal EquationOnGrid::RowScale() const {
  return equation_->text.has_rate ? 1 : place_.h[0] * place_.h[1] * place_.h[2] / equation_->cell;
}

PetscErrorCode EquationOnGrid::UpdateSource() {
  const auto function = equation_->functions->source;

  PetscFunctionBegin;
  if (!function || (source_version_ == version_ && source_time_ == place_.time)) PetscFunctionReturn(PETSC_SUCCESS);
  auto &source = source_.change();
  source.resize(owned() * equation_->unknowns());
  place_.step = 0.02;
  for (const equation::Region &region : regions_) function(&place_, &region, compiled_array(source.data()));
  if (!equation_->text.has_rate)
    for (PetscScalar &value : source) value = -value;
  source_version_ = version_, source_time_ = place_.time;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Evaluate(PetscReal time, Vec u, Vec f) {
  PetscScalar *out;
  WorkVector   local;
  Arrays       arrays;

  PetscFunctionBegin;
  if (checked_ != equation_->version) PetscCall(CheckComplete());
  place_.time = time;
  PetscCall(Update());
  PetscCall(UpdateSource());
  PetscCall(Read(u, &local, &arrays));
  PetscCall(arrays.Write(f, &out));
  PetscCall(ComputeValues(arrays.memory(), out));
  PetscCall(arrays.Restore());
  PetscCall(CheckArms());
  if (checked_ != version_) PetscCall(CheckNumbers(u, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What was read beyond the stencil: place_.arm.
std::string EquationOnGrid::ArmProblem(const int arm[5]) const {
  const std::string step[3] = {std::to_string(arm[1]), std::to_string(arm[2]), std::to_string(arm[3])};
  std::string       read = "(" + step[0] + ", " + step[1] + ", " + step[2] + ")";
  if (arm[4] >= 0)
    read = equation_->text.unknowns[(size_t)arm[4]].name + read;
  else if (arm[4] == -1)
    read = "a field" + read;
  else { // the farther one of two coordinates along an axis
    const int axis = -2 - arm[4], farther = arm[1 + axis];
    read = std::string("step_") + "xyz"[axis] + "(" + std::to_string(farther > 0 ? farther - 1 : farther) + ")";
  }
  for (int a = grid_.dim; a < 3; a++)
    if (arm[1 + a])
      return equation_->text.file + " reads " + read + ", but the grid has " + dimensions(grid_.dim) +
             "; a step along " + "xyz"[a] + " needs " + std::to_string(a + 1);
  return equation_->text.file + " reads " + read + ", beyond the DMDA's " + (grid_.box ? "box" : "star") +
         " stencil of width " + std::to_string(grid_.width) +
         "; make the DMDA with a wider one, and state it, as grid(" + std::to_string(grid_.dim) + ", box, 2)";
}

// Try() has found it already, unless a value decides what is read.
PetscErrorCode EquationOnGrid::CheckArms() const {
  PetscFunctionBegin;
  PetscCheck(!arm_[0], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s", ArmProblem(arm_).c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// 2, nan or 3-4*I. A NaN has no sign.
static std::string numeral(PetscScalar value) {
  const auto part = [](PetscReal number) {
    char text[32];
    snprintf(text, sizeof(text), "%g", number != number ? NAN : (double)number);
    return std::string(text);
  };
  const PetscReal im = PetscImaginaryPart(value);
  return part(PetscRealPart(value)) + (im == 0 ? "" : (im < 0 ? "-" : "+") + part(PetscAbsReal(im)) + "*I");
}
// The indices of an owned point.
std::string EquationOnGrid::PlaceOf(size_t point) const {
  const size_t nx = (size_t)grid_.size[0], ny = (size_t)grid_.size[1];
  return "(" + std::to_string(grid_.start[0] + (PetscInt)(point % nx)) + ", " +
         std::to_string(grid_.start[1] + (PetscInt)(point / nx % ny)) + ", " +
         std::to_string(grid_.start[2] + (PetscInt)(point / nx / ny)) + ")";
}
// The values of the fields there: ", k = 2".
PetscErrorCode EquationOnGrid::FieldsAt(size_t point, std::string *text) const {
  const PetscScalar *values;

  PetscFunctionBegin;
  for (size_t f = 0; f < fields_.size(); f++) {
    PetscCall(VecGetArrayRead(fields_[f], &values));
    *text += ", " + equation_->text.fields[f].name + " = " + numeral(values[point]);
    PetscCall(VecRestoreArrayRead(fields_[f], &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first values since a change must be numbers: a solver would only say that it diverges.
PetscErrorCode EquationOnGrid::CheckNumbers(Vec u, Vec f) {
  const PetscScalar *value, *state;
  const size_t       n = equation_->unknowns();
  char               text[512] = "";
  PetscReal          norm;

  PetscFunctionBegin;
  checked_ = version_;
  PetscCall(VecNorm(f, NORM_2, &norm));
  if (!PetscIsInfOrNanReal(norm)) PetscFunctionReturn(PETSC_SUCCESS); // and nothing was copied to the host
  PetscCall(VecGetArrayRead(f, &value));
  PetscCall(VecGetArrayRead(u, &state));
  // where the state is a number, if anywhere: elsewhere the formula is not to blame
  size_t at = owned() * n, of_state = at;
  for (size_t i = owned() * n; i-- > 0;) {
    if (PetscIsInfOrNanScalar(state[i])) of_state = i;
    if (PetscIsInfOrNanScalar(value[i]) && !PetscIsInfOrNanScalar(state[i])) at = i;
  }
  PetscInt by_state = of_state < owned() * n; // of any rank: a formula that reads its state is not to blame
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &by_state, 1, MPIU_INT, MPI_MAX, grid_.comm));
  if (by_state) at = of_state;
  if (at < owned() * n) {
    const auto       &unknown = equation_->text.unknowns[at % n];
    const bool        rate = equation_->text.has_rate;
    const std::string place = PlaceOf(at / n), number = numeral(state[at]);
    std::string       fields;
    PetscCall(FieldsAt(at / n, &fields));
    const std::string problem = by_state ? "the state of " + unknown.name + " is " + number + " at the point " + place +
                                               ", before anything is computed; change the initial state"
                                         : std::string("the ") + (rate ? "rate" : "residual") + " of " + unknown.name +
                                               " is " + numeral(value[at]) + " at the point " + place +
                                               " of the initial state, where " + unknown.name + " = " + number +
                                               fields + "; change the formula or the initial state";
    const int         line = by_state && unknown.initial ? unknown.initial.line
                             : rate                      ? unknown.rate.line
                                                         : unknown.residual.line;
    PetscCall(PetscStrncpy(text, equation_->text.error_at(line, problem).c_str(), sizeof(text)));
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
  PetscInt64       by = 0; // EquationOnGrid::id_: an address may be used again
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
  PetscBool        without_entries = PETSC_FALSE;
  WorkVector       local;
  Arrays           arrays;

  PetscFunctionBegin;
  PetscCall(MatEquationTrySetState(A, time, u, &without_entries));
  if (without_entries) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckComplete());
  place_.time = time;
  PetscCall(Update());
  PetscCall(get_made(A, &made));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (equation_->linear && made->by == id_ && made->version == version_ && made->time == time && made->state == state)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Read(u, &local, &arrays));
  PetscScalar *const *in_place;
  PetscMemType        memory = arrays.memory();
  PetscCall(MatCapturedOpenSlots(A, grid_, !equation_->linear, &memory, &in_place));
  if (!in_place) memory = PETSC_MEMTYPE_HOST;
  if (PetscMemTypeHost(memory) && !PetscMemTypeHost(arrays.memory())) { // the Mat's coefficients are there
    PetscCall(arrays.Restore());
    arrays = Arrays(PETSC_MEMTYPE_HOST);
    PetscCall(Read(u, &local, &arrays));
  }
  if (in_place) {
    PetscCall(ComputeEntries(memory, in_place));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  } else {
    const size_t               count = equation_->unknowns() * (size_t)slots();
    std::vector<PetscScalar>   entries(count * owned());
    std::vector<PetscScalar *> slot(count);
    for (size_t s = 0; s < count; s++) slot[s] = entries.data() + s * owned();
    PetscCall(ComputeEntries(memory, slot.data()));
    PetscCall(Add(entries, A));
  }
  PetscCall(arrays.Restore());
  PetscCall(CheckArms());
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *made = {version_, time, state, id_};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// entries: [row][arm][unknown][points]
PetscErrorCode EquationOnGrid::Add(const std::vector<PetscScalar> &entries, Mat A) const {
  const PetscInt           n = (PetscInt)equation_->unknowns(), columns = (PetscInt)slots();
  std::vector<PetscInt>    row((size_t)n), column((size_t)columns);
  std::vector<PetscScalar> value((size_t)(n * columns));
  PetscInt                 ghost[3], size[3];

  PetscFunctionBegin;
  PetscCall(DMDAGetGhostCorners(da_, &ghost[0], &ghost[1], &ghost[2], &size[0], &size[1], &size[2]));
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
        for (size_t s = 0; s < value.size(); s++) value[s] = entries[s * owned() + point];
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

static PetscScalar any_scalar(size_t place, unsigned seed) {
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(any_number(place, seed), any_number(place, seed + 100) - 1);
#else
  return any_number(place, seed);
#endif
}

// A few points of a region.
static equation::Region sample_of(equation::Region region) {
  for (int a = 0; a < 3; a++) region.end[a] = std::min(region.end[a], region.start[a] + 4);
  return region;
}

std::unique_ptr<PetscScalar[]> EquationOnGrid::NumbersNear(const equation::Region &region, int n, unsigned seed,
                                                           double size) const {
  const auto                    *start = place_.read_start, *extent = place_.read_size;
  const long long                w = grid_.width;
  std::unique_ptr<PetscScalar[]> numbers(new PetscScalar[(size_t)(extent[0] * extent[1] * extent[2]) * (size_t)n]);
  const auto                     index = [&](int axis, long long at) { // in the array; -1 where it ends
    const long long N = place_.N[axis], i = at - start[axis];
    if (i >= 0 && i < extent[axis]) return i;
    return !ghosts_ && place_.periodic[axis] && axis < grid_.dim ? (i % N + N) % N : -1;
  };
  for (long long k = region.start[2] - w; k < region.end[2] + w; k++)
    for (long long j = region.start[1] - w; j < region.end[1] + w; j++)
      for (long long i = region.start[0] - w; i < region.end[0] + w; i++) {
        const long long p[3] = {index(0, i), index(1, j), index(2, k)};
        if (p[0] < 0 || p[1] < 0 || p[2] < 0) continue;
        const size_t at = (size_t)(((p[2] * extent[1] + p[1]) * extent[0] + p[0]) * n);
        for (size_t m = at; m < at + (size_t)n; m++) numbers[m] = size * any_scalar(m, seed);
      }
  return numbers;
}

int EquationOnGrid::Sample(equation::Region region, unsigned seed, double size, std::vector<PetscScalar> *entries) {
  const equation::Place           whole = place_;
  const size_t                    count = equation_->unknowns() * (size_t)slots();
  std::vector<equation::Scalar *> slot(count);
  int                             points = 1;
  region = sample_of(region);
  for (int a = 0; a < 3; a++) {
    place_.write_start[a] = region.start[a], place_.write_size[a] = region.end[a] - region.start[a];
    points *= (int)place_.write_size[a];
  }
  const auto u = NumbersNear(region, (int)equation_->unknowns(), seed, size);
  entries->assign(count * (size_t)points, 0);
  for (size_t s = 0; s < count; s++) slot[s] = compiled_array(entries->data() + s * (size_t)points);
  place_.u = compiled_array(u.get());
  place_.source = nullptr;
  place_.row_scale = 1;
  arm_[0] = 0;
  equation_->functions->values(&place_, &region, compiled_array(entries->data()));
  if (!arm_[0]) equation_->functions->entries(&place_, &region, slot.data());
  place_ = whole;
  return points;
}

PetscErrorCode EquationOnGrid::SetGivenScale() {
  const size_t             n = equation_->unknowns();
  std::vector<PetscReal>   largest(2 * n, 0.); // of the positive and of the negative diagonal entries
  std::vector<PetscScalar> entries;

  PetscFunctionBegin;
  given_scale_.assign(n, 1);
  place_.given_scale = given_scale_.data();
  if (equation_->text.has_rate || !std::count(identity_.begin(), identity_.end(), 1))
    PetscFunctionReturn(PETSC_SUCCESS);
  size_t center = 0;
  while (arms_[center].d[0] || arms_[center].d[1] || arms_[center].d[2]) center++;
  for (size_t f = 0; f < fields_.size(); f++) PetscCall(VecGetArrayRead(local_fields_[f], &field_arrays_[f]));
  place_.fields = reinterpret_cast<const equation::Scalar *const *>(field_arrays_.data());
  for (const equation::Region &region : regions_) {
    if (region.ends) continue;
    const size_t points = (size_t)Sample(region, 1, 1, &entries);
    for (size_t r = 0; r < n; r++)
      for (size_t p = 0; p < points; p++) {
        const PetscReal entry = PetscRealPart(entries[((r * arms_.size() + center) * n + r) * points + p]);
        if (std::isfinite(entry))
          largest[2 * r + (entry < 0)] = std::max(largest[2 * r + (entry < 0)], std::fabs(entry));
      }
  }
  for (size_t f = 0; f < fields_.size(); f++) PetscCall(VecRestoreArrayRead(local_fields_[f], &field_arrays_[f]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest.data(), (PetscMPIInt)(2 * n), MPIU_REAL, MPIU_MAX, grid_.comm));
  for (size_t r = 0; r < n; r++) {
    const PetscReal *l = &largest[2 * r];
    if (l[0] > 0 || l[1] > 0) given_scale_[r] = l[0] >= l[1] ? l[0] : -l[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Try(bool *linear) {
  const double             sizes[] = {0.1, 1, -1, 10};
  int                      arm[5] = {0, 0, 0, 0, 0};
  PetscInt                 differs = 0;
  std::vector<PetscScalar> first, entries;

  PetscFunctionBegin;
  PetscCall(Update());
  // at no special value of a field or of the time, where a term that is not linear could vanish
  std::vector<const equation::Scalar *> fields(fields_.size());
  const double                          time = place_.time;
  place_.fields = fields.data();
  place_.time = 0.7182;
  for (const equation::Region &region : regions_) {
    const auto values = NumbersNear(sample_of(region), 1, 17, 1);
    std::fill(fields.begin(), fields.end(), compiled_array((const PetscScalar *)values.get()));
    for (unsigned state = 0; state < 4; state++) {
      Sample(region, state, sizes[state], &entries);
      if (arm_[0]) std::copy(arm_, arm_ + 5, arm);
      if (state == 0) first = entries;
      double largest = 0;
      for (const PetscScalar entry : first) largest = std::max(largest, (double)PetscAbsScalar(entry));
      for (size_t i = 0; i < entries.size(); i++)
        if (!(PetscAbsScalar(entries[i] - first[i]) <= 1e-12 * largest)) differs = 1;
    }
  }
  place_.time = time;
  char text[512] = "";
  if (arm[0]) PetscCall(PetscStrncpy(text, ArmProblem(arm).c_str(), sizeof(text)));
  PetscCall(share_error(grid_.comm, text));
  PetscCheck(!text[0], grid_.comm, PETSC_ERR_ARG_OUTOFRANGE, "%s", text);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPIU_INT, MPI_MAX, grid_.comm));
  *linear = !differs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
