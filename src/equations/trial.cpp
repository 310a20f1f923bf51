// Evaluates an equation at random states: which neighbours it reads, how large its rows are, and whether it is linear.

#include "equations/equation.hpp"
#include "equations/linearity.hpp"
#include "equations/random.hpp"

#include <algorithm>
#include <cmath>

namespace shellac {

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
  std::vector<PetscScalar>        integrals((size_t)equation_->functions->integral_numbers, 1.), integrands;
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
  place_.arm = own_arm_;
  place_.arm[0] = 0;
  place_.direction = nullptr;
  place_.integrals = compiled_array(integrals.data());
  integrands.resize(integrals.size() * (size_t)points);
  if (!integrals.empty()) equation_->functions->integrands(&place_, &region, compiled_array(integrands.data()));
  equation_->functions->values(&place_, &region, compiled_array(entries->data()));
  if (!place_.arm[0]) equation_->functions->entries(&place_, &region, slot.data());
  place_ = whole;
  return points;
}

PetscErrorCode EquationOnGrid::SetGivenScale() {
  const size_t             n = equation_->unknowns();
  std::vector<PetscReal>   largest(2 * n, 0.); // of the positive and of the negative diagonal entries
  std::vector<PetscScalar> entries;

  PetscFunctionBegin;
  if (!std::count(identity_.begin(), identity_.end(), 1)) PetscFunctionReturn(PETSC_SUCCESS);
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
  const auto              &parameters = equation_->parameters;
  const std::vector<double> values_of_parameters(parameters.begin(), parameters.end());
  const double             sizes[] = {0.1, 1, -1, 10};
  int                      arm[5] = {0, 0, 0, 0, 0};
  PetscInt                 differs = !is_linear(equation_->text, values_of_parameters, equation_->known);
  std::vector<PetscScalar> first, entries;

  PetscFunctionBegin;
  PetscCall(Update());
  // at no special value of a field or of the time, where a term that is not linear could vanish
  std::vector<const equation::Scalar *> fields(fields_.size());
  const double                          time = place_.time;
  place_.fields = fields.data();
  place_.time = 0.7182;
  std::vector<std::unique_ptr<PetscScalar[]>> values; // of each field
  const auto                                  set_fields = [&](const equation::Region &region) {
    values.clear();
    for (size_t f = 0; f < fields.size(); f++) {
      const bool is_solid = (int)f == equation_->text.solid(); // no cell is here: the rows are tried
      values.push_back(NumbersNear(region, 1, 17 + (unsigned)f, is_solid ? 0 : 1));
      fields[f] = compiled_array(values[f].get());
    }
  };
  for (const equation::Region &region : regions_) {
    set_fields(sample_of(region));
    for (unsigned state = 0; state < 4; state++) {
      Sample(region, state, sizes[state], &entries);
      if (place_.arm[0]) std::copy(place_.arm, place_.arm + 5, arm);
      if (state == 0) first = entries;
      double largest = 0;
      for (const PetscScalar entry : first) largest = std::max(largest, (double)PetscAbsScalar(entry));
      for (size_t i = 0; i < entries.size(); i++)
        if (!(PetscAbsScalar(entries[i] - first[i]) <= 1e-12 * largest)) differs = 1;
    }
  }
  place_.time = time;
  SHELLAC_CHECK_ALL(!arm[0], grid_.comm, PETSC_ERR_ARG_OUTOFRANGE, "%s", ArmProblem(arm).c_str());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPIU_INT, MPI_MAX, grid_.comm));
  *linear = !differs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
