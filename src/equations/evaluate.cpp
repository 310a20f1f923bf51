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
  LazyKernels::Made &made = lazy.made[columns_ - 1];
  if (made.tried) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(grid_.comm, &ranks));
  if (ranks < equation.ranks) PetscFunctionReturn(PETSC_SUCCESS); // a coarse grid, which other ranks do not have
  PetscCall(VecGetType(u, &type));
  if (std::string(type).find("cuda") == std::string::npos) PetscFunctionReturn(PETSC_SUCCESS);
  made.tried = true;
  EquationShape shape = equation.shape;
  if (!lazy.of_data) shape = shape_on_gpu(shape, equation.text, lazy.along_vector, columns_);
  shape.of_data = lazy.of_data;
  for (const std::string &name : lazy.names)
    sources.push_back({equation_kernel(equation.text, shape, name), {"shellac_" + name}});
  PetscCall(made.kernels.Create(grid_.comm, sources, equation.text.file, equation.cache.c_str(), shape));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::GetGhosts(WorkVector *local, Vec *u) {
  PetscFunctionBegin;
  if (!ghosts_) PetscFunctionReturn(PETSC_SUCCESS);
  if (!*local) {
    PetscCall(local->Get(da_, true));
    PetscCall(DMGlobalToLocal(da_, *u, INSERT_VALUES, *local));
  }
  *u = *local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Read(Vec u, LazyKernels &lazy, WorkVector *local, Arrays *arrays) {
  PetscFunctionBegin;
  PetscCall(NeedKernels(u, lazy));
  if (!KernelsOf(lazy).present()) *arrays = Arrays(PETSC_MEMTYPE_HOST);
  PetscCall(GetGhosts(local, &u));
  PetscCall(arrays->Read(u, &u_));
  PetscCall(ReadFields(arrays));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::ReadFields(Arrays *arrays) {
  PetscFunctionBegin;
  for (size_t f = 0; f < local_fields_.size(); f++) PetscCall(arrays->Read(local_fields_[f], &field_arrays_[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::SetPlace(PetscMemType memory, LazyKernels &lazy, const PetscScalar *direction) {
  PetscFunctionBegin;
  const PetscScalar *source, *const *directions;
  place_.u = compiled_array(u_);
  place_.direction = compiled_array(direction);
  place_.fields = reinterpret_cast<const equation::Scalar *const *>(field_arrays_.data());
  place_.row_scale = RowScale();
  if (PetscMemTypeDevice(memory) && !pinned_arm_) {
    void *pinned = nullptr;
    PetscCall(PinnedMalloc(sizeof(own_arm_), &pinned));
    pinned_arm_.reset(static_cast<int *>(pinned));
  }
  place_.arm = PetscMemTypeDevice(memory) ? pinned_arm_.get() : own_arm_;
  place_.arm[0] = 0;
  PetscCall(SetTables(memory));
  PetscCall(source_.Get(memory, &source));
  place_.source = compiled_array(source);
  PetscCall(fold_changes_.Get(memory, &place_.fold_changes));
  PetscCall(field_directions_.Get(memory, &directions));
  place_.field_directions = reinterpret_cast<const equation::Scalar *const *>(directions);
  PetscCall(Integrate(memory, lazy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PlaceTables EquationOnGrid::Tables() const {
  const size_t n = equation_->unknowns();
  return {fields_.size(), equation_->parameters.size(), integrals_.size(), n, n * 6 * (size_t)grid_.width, n * 6};
}

PetscErrorCode EquationOnGrid::Compute(PetscReal time, Vec state, Vec v, Vec out, LazyKernels &lazy, size_t kernel,
                                       equation::VectorFunction on_host, const std::vector<Vec> &fields) {
  const auto        &regions = state ? regions_ : given_regions_;
  const PetscScalar *direction = nullptr;
  PetscScalar       *to;
  WorkVector         local;
  Arrays             arrays;

  PetscFunctionBegin;
  place_.time = time;
  PetscCall(Update());
  PetscCall(NeedKernels(out, lazy));
  if (!KernelsOf(lazy).present()) arrays = Arrays(PETSC_MEMTYPE_HOST);
  u_ = nullptr;
  if (state) PetscCall(arrays.Read(state, &u_));
  if (v) PetscCall(GetGhosts(&local, &v));
  if (v) PetscCall(arrays.Read(v, &direction));
  PetscCall(ReadFields(&arrays));
  auto &directions = field_directions_.change();
  directions.assign(fields.size(), nullptr);
  for (size_t f = 0; f < fields.size(); f++)
    if (fields[f]) PetscCall(arrays.Read(fields[f], &directions[f]));
  PetscCall(state ? arrays.Write(out, &to) : arrays.ReadWrite(out, &to));
  PetscCall(SetPlace(arrays.memory(), lazy, direction));
  if (PetscMemTypeDevice(arrays.memory()))
    PetscCall(KernelsOf(lazy).Vectors(kernel, place_, Tables(), regions, compiled_array(to)));
  else
    for (const equation::Region &region : regions) on_host(&place_, &region, compiled_array(to));
  PetscCall(arrays.Restore());
  if (state) PetscCall(CheckArms());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// slots: [row][arm][unknown], in that memory, each [points]
PetscErrorCode EquationOnGrid::ComputeEntries(PetscMemType memory, PetscScalar *const *slots) {
  const auto   entries = reinterpret_cast<equation::Scalar *const *>(slots);
  const size_t count = equation_->unknowns() * (size_t)this->slots();

  PetscFunctionBegin;
  PetscCall(SetPlace(memory, equation_->kernels));
  if (PetscMemTypeDevice(memory))
    PetscCall(KernelsOf(equation_->kernels).Entries(entries_kernel, place_, Tables(), regions_, entries, count));
  else
    for (const equation::Region &region : regions_) equation_->functions->entries(&place_, &region, entries);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- values --------------------------------------------------------------------------------------------------------

PetscReal EquationOnGrid::RowScale() const {
  return equation_->text.has_rate ? 1 : cell() / equation_->cell;
}

PetscErrorCode EquationOnGrid::GetStepScale(Vec *scale) {
  const size_t n = equation_->unknowns();
  PetscScalar *factors;

  PetscFunctionBegin;
  PetscCall(Update());
  Step step = step_;
  step.version = version_, step.time = fields_time_;
  const bool made = step_scale_;
  if (!made) PetscCall(DMCreateGlobalVector(da_, &step_scale_));
  *scale = step_scale_;
  if (made && step == scaled_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SetGivenScale());
  PetscCall(VecGetArrayWrite(step_scale_, &factors));
  for (size_t i = 0; i < owned() * n; i++)
    factors[i] = step.row_scale * (IsGiven(i) ? 1 + step.time_step * PetscAbsReal(given_scale_[i % n]) : 1);
  PetscCall(VecRestoreArrayWrite(step_scale_, &factors));
  scaled_ = step;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::GetRates(Vec *rates) {
  const auto  &unknowns = equation_->text.unknowns;
  PetscScalar *has;

  PetscFunctionBegin;
  if (equation_->text.is_mixed() && !rates_) {
    PetscCall(DMCreateGlobalVector(da_, &rates_));
    PetscCall(VecGetArrayWrite(rates_, &has));
    for (size_t i = 0; i < owned() * unknowns.size(); i++) has[i] = unknowns[i % unknowns.size()].rate ? 1 : 0;
    PetscCall(VecRestoreArrayWrite(rates_, &has));
  }
  *rates = rates_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::UpdateSource() {
  const auto function = equation_->functions->source;
  WorkVector exact, local;
  Vec        state;

  PetscFunctionBegin;
  if (!function || (source_version_ == version_ && source_time_ == place_.time)) PetscFunctionReturn(PETSC_SUCCESS);
  auto &source = source_.change();
  source.resize(owned() * equation_->unknowns());
  const equation::Region all = AllPoints();
  if (equation_->text.has_integrals) { // they are those of the exact solution at the grid's points
    Arrays arrays(PETSC_MEMTYPE_HOST);
    PetscCall(exact.Get(da_));
    PetscCall(GetExact(place_.time, exact));
    PetscCall(GetGhosts(&local, &(state = exact)));
    PetscCall(arrays.Read(state, &u_));
    PetscCall(ReadFields(&arrays));
    PetscCall(SetPlace(arrays.memory(), equation_->kernels));
    PetscCall(arrays.Restore());
  }
  function(&place_, &all, compiled_array(source.data()));
  PetscCall(ZeroInSolid(source.data()));
  if (source_version_ != version_) { // not at each time: they wait for other ranks
    PetscCall(CheckSource(source));
    PetscCall(CheckKinks());
  }
  source_version_ = version_, source_time_ = place_.time;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Evaluate(PetscReal time, Vec u, Vec f, bool alone) {
  const bool   made = KernelsOf(equation_->kernels).present(); // with entries, by another solver
  LazyKernels &lazy = alone && !made ? equation_->value_kernels : equation_->kernels;
  Vec          state = u;
  WorkVector   local;

  PetscFunctionBegin;
  if (checked_ != equation_->version) PetscCall(CheckComplete());
  place_.time = time;
  PetscCall(Update());
  PetscCall(UpdateSource());
  PetscCall(GetGhosts(&local, &state));
  PetscCall(Compute(time, state, NULL, f, lazy, values_kernel, equation_->functions->values));
  if (checked_ != version_) {
    checked_ = version_;
    const PetscErrorCode error = CheckFinite(time, u, f, PETSC_MAX_REAL, "the initial state", true);
    if (error) checked_ = 0;
    PetscCall(error);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Impose(PetscReal time, Vec u, bool again) {
  PetscFunctionBegin;
  if (!Imposes() || (!again && !given_of_time_ && imposed_ == equation_->version)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Compute(time, NULL, NULL, u, equation_->impose_kernels, 0, equation_->functions->impose));
  imposed_ = equation_->version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Try() has found it already, unless a value or the place decides what is read, on some ranks alone perhaps.
PetscErrorCode EquationOnGrid::CheckArms() const {
  PetscFunctionBegin;
  if (!equation_->shape.may_leave) PetscFunctionReturn(PETSC_SUCCESS);
  if (place_.arm == pinned_arm_.get()) PetscCall(DeviceWait());
  SHELLAC_CHECK_ALL(!place_.arm[0], grid_.comm, PETSC_ERR_ARG_OUTOFRANGE, "%s", ArmProblem(place_.arm).c_str());
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
  const size_t   nx = (size_t)grid_.size[0], ny = (size_t)grid_.size[1];
  const PetscInt i[3] = {grid_.start[0] + (PetscInt)(point % nx), grid_.start[1] + (PetscInt)(point / nx % ny),
                         grid_.start[2] + (PetscInt)(point / nx / ny)};
  return text_of(i, 3);
}
// The values of the fields there, ", k = 2", or what is not finite of one, wherever it is.
PetscErrorCode EquationOnGrid::FieldsAt(size_t point, std::string *text) const {
  const PetscScalar *values;

  PetscFunctionBegin;
  for (size_t f = 0; f < fields_.size(); f++) {
    PetscCall(VecGetArrayRead(fields_[f], &values));
    size_t at = 0;
    while (at < owned() && !PetscIsInfOrNanScalar(values[at])) at++;
    *text += ", " + equation_->text.fields[f].name + " = " + numeral(values[at < owned() ? at : point]) +
             (at < owned() && at != point ? " at the point " + PlaceOf(at) : "");
    PetscCall(VecRestoreArrayRead(fields_[f], &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The exact solution, and the source that belongs to it.
PetscErrorCode EquationOnGrid::CheckSource(const std::vector<PetscScalar> &source) const {
  const size_t             n = equation_->unknowns();
  const equation::Region   all = AllPoints();
  std::vector<PetscScalar> exact(source.size());
  std::string              wrong;

  PetscFunctionBegin;
  equation_->functions->exact(&place_, &all, compiled_array(exact.data()));
  PetscCall(ZeroInSolid(exact.data()));
  for (size_t i = 0; i < source.size() && wrong.empty(); i++) {
    const bool has_value = !PetscIsInfOrNanScalar(exact[i]);
    if (has_value && !PetscIsInfOrNanScalar(source[i])) continue;
    const auto &unknown = equation_->text.unknowns[i % n];
    wrong = equation_->text.error_at(unknown.exact.line,
                                     "the exact solution " + std::string(has_value ? "has a source " : "") + "of " +
                                         unknown.name + (has_value ? " that" : "") + " is " +
                                         numeral(has_value ? source[i] : exact[i]) + " at the point " + PlaceOf(i / n) +
                                         "; state one that is finite, with the equation's derivatives, everywhere");
  }
  SHELLAC_CHECK_ALL(wrong.empty(), grid_.comm, PETSC_ERR_FP, "%s", wrong.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first values of a solve, and those after a change, must be finite: a solver would only report divergence. So must
// be those of later steps.
PetscErrorCode EquationOnGrid::CheckFinite(PetscReal time, Vec u, Vec f, PetscReal bound, const std::string &remedy,
                                           bool first) {
  const PetscScalar *value, *state;
  const size_t       n = equation_->unknowns();
  const std::string  when = first ? "" : "at t = " + numeral(time);
  std::string        wrong;
  PetscReal          norm;

  PetscFunctionBegin;
  const auto exceeds = [=](PetscScalar number) { return !(PetscAbsScalar(number) <= bound); };
  PetscCall(add_sizes(f, &norm));
  if (norm <= bound) PetscFunctionReturn(PETSC_SUCCESS); // and nothing was copied to the host
  PetscCall(VecGetArrayRead(f, &value));
  PetscCall(VecGetArrayRead(u, &state));
  // where the state is a number, if anywhere: elsewhere the formula is not to blame
  size_t at = owned() * n, of_state = at;
  for (size_t i = owned() * n; i-- > 0;) {
    if (exceeds(state[i])) of_state = i;
    if (exceeds(value[i]) && !exceeds(state[i])) at = i;
  }
  PetscInt by_state = of_state < owned() * n; // of any rank: a formula that reads its state is not to blame
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &by_state, 1, MPIU_INT, MPI_MAX, grid_.comm));
  if (by_state) at = of_state;
  if (at < owned() * n) {
    const auto       &unknown = equation_->text.unknowns[at % n];
    const bool        rate = (bool)unknown.rate;
    const std::string place = PlaceOf(at / n), number = numeral(state[at]);
    std::string       fields;
    PetscCall(FieldsAt(at / n, &fields));
    const int line = (by_state && first && unknown.initial ? unknown.initial : unknown.row()).line;
    wrong = equation_->text.error_at(
        line, by_state ? "the state of " + unknown.name + " is " + number + " at the point " + place +
                             (first ? ", before anything is computed; change " : " " + when + "; ") + remedy
                       : std::string("the ") + (rate ? "rate" : "residual") + " of " + unknown.name + " is " +
                             numeral(value[at]) + " at the point " + place +
                             (first ? " of the initial state" : " " + when) + ", where " + unknown.name + " = " +
                             number + fields + "; " + (first ? "change the formula or " : "") + remedy);
  }
  PetscCall(VecRestoreArrayRead(u, &state));
  PetscCall(VecRestoreArrayRead(f, &value));
  SHELLAC_CHECK_ALL(wrong.empty(), grid_.comm, PETSC_ERR_FP, "%s", wrong.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Entries of the first Jacobian, likewise: a root has no finite slope at zero. slots: of the host, each [points] or null.
PetscErrorCode EquationOnGrid::CheckEntries(Vec u, const PetscScalar *const *slots) {
  const size_t       n = equation_->unknowns(), count = n * (size_t)this->slots();
  const PetscScalar *state;
  size_t             at = owned() * n, slot = 0;
  std::string        wrong;

  PetscFunctionBegin;
  entries_checked_ = 0;
  for (size_t s = 0; s < count; s++)
    for (size_t p = 0; slots[s] && p < owned(); p++)
      if (PetscIsInfOrNanScalar(slots[s][p]) && p * n + s / (count / n) < at) at = p * n + s / (count / n), slot = s;
  if (at < owned() * n) {
    const auto &unknown = equation_->text.unknowns[at % n];
    const bool  rate = (bool)unknown.rate;
    std::string fields;
    PetscCall(FieldsAt(at / n, &fields));
    PetscCall(VecGetArrayRead(u, &state));
    wrong = equation_->text.error_at(unknown.row().line,
                                     std::string("the derivative of the ") + (rate ? "rate" : "residual") + " of " +
                                         unknown.name + " is " + numeral(slots[slot][at / n]) + " at the point " +
                                         PlaceOf(at / n) + ", where " + unknown.name + " = " + numeral(state[at]) +
                                         fields + "; change the formula or the initial state");
    PetscCall(VecRestoreArrayRead(u, &state));
  }
  SHELLAC_CHECK_ALL(wrong.empty(), grid_.comm, PETSC_ERR_FP, "%s", wrong.c_str());
  entries_checked_ = version_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- entries -------------------------------------------------------------------------------------------------------

// The data from which a Mat's entries were computed: for a linear equation they are computed once.
struct Made {
  PetscInt         version = 0;
  PetscReal        time = 0;
  PetscObjectState state = 0;
  PetscInt64       by = 0; // EquationOnGrid::id_: an address may be used again
};

static PetscErrorCode get_made(Mat A, Made **made) {
  PetscFunctionBegin;
  PetscCall(query_context((PetscObject)A, "ShellacEquationEntries", made));
  if (*made) PetscFunctionReturn(PETSC_SUCCESS);
  *made = new Made;
  PetscCall(compose_context((PetscObject)A, "ShellacEquationEntries", *made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Assemble(PetscReal time, Vec u, Mat A, bool preconditions) {
  Made            *made;
  PetscObjectState state;
  PetscBool        without_entries = PETSC_FALSE;
  WorkVector       local;
  Arrays           arrays;

  PetscFunctionBegin;
  PetscCall(MatEquationTrySetState(A, time, u, &without_entries));
  if (without_entries) PetscFunctionReturn(PETSC_SUCCESS);
  SHELLAC_CHECK_LINE(preconditions || !equation_->text.integral_of_state, PETSC_ERR_SUP,
                     equation_->text.integral_of_state,
                     "the Jacobian of an integral of unknowns has entries at all points, which a Mat with those "
                     "of the stencil lacks; use -dm_mat_type equation, which has products alone (and none with the "
                     "transpose), or -snes_mf_operator, for which such a Mat is the preconditioner's");
  PetscCall(CheckComplete());
  place_.time = time;
  PetscCall(Update());
  PetscCall(get_made(A, &made));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (equation_->linear && made->by == id_ && made->version == version_ && made->time == time && made->state == state)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Read(u, equation_->kernels, &local, &arrays));
  const bool          check = entries_checked_ != version_;
  PetscScalar *const *in_place;
  PetscMemType        memory = arrays.memory();
  PetscCall(MatCapturedOpenSlots(A, grid_, !equation_->linear, &memory, &in_place));
  if (!in_place) memory = PETSC_MEMTYPE_HOST;
  if (PetscMemTypeHost(memory) && !PetscMemTypeHost(arrays.memory())) { // the Mat's coefficients are there
    PetscCall(arrays.Restore());
    arrays = Arrays(PETSC_MEMTYPE_HOST);
    PetscCall(Read(u, equation_->kernels, &local, &arrays));
  }
  if (in_place) {
    PetscCall(ComputeEntries(memory, in_place));
    if (check && PetscMemTypeHost(memory)) PetscCall(CheckEntries(u, in_place));
    PetscCall(assemble(A));
  } else {
    const size_t               count = equation_->unknowns() * (size_t)slots();
    std::vector<PetscScalar>   entries(count * owned());
    std::vector<PetscScalar *> slot(count);
    for (size_t s = 0; s < count; s++) slot[s] = entries.data() + s * owned();
    PetscCall(ComputeEntries(memory, slot.data()));
    if (check) PetscCall(CheckEntries(u, slot.data()));
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
  PetscCall(assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
