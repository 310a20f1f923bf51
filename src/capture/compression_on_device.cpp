// How coefficients on a GPU are compressed: kernels look at all of them, and what they find decides on the host.

#include <algorithm>
#include <set>
#include <string>

#include "capture/captured.hpp"

namespace shellac {

namespace {

// Which slots are not zero, and whether a coefficient differs from that of the first point with its distances to the ends
// of the domain.
template <class T> struct Survey {
  Patch           patch;
  PetscInt        depth[3];
  PetscReal       tolerance;
  int             slots;
  const T *const *values;  // [slots][points]; null for zero
  int            *nonzero; // [slots], zero before; all threads write the same
  int            *varies;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    PetscInt       f[3];
    for (int a = 0; a < 3; a++) {
      const PetscInt at = patch.start[a] + p[a], N = patch.N[a], D = depth[a];
      f[a] = N > 2 * D && at >= D && at < N - D ? PetscMax(D - patch.start[a], 0) : p[a];
    }
    const size_t at = patch.index(i, j, k), first = patch.index(f[0], f[1], f[2]);
    for (int s = 0; s < slots; s++) {
      if (!values[s]) continue;
      const T value = values[s][at];
      if (value != T(0) && !nonzero[s]) nonzero[s] = 1;
      if (!alike(value, values[s][first], tolerance) && !*varies) *varies = 1;
    }
  }
};

// Coefficients of some points: (n, slot) gives those of the n-th.
template <class T> struct Gather {
  const T *const   *values; // [slots][points]; null for zero
  const PetscInt64 *at;     // [count]; negative for none
  size_t            count;
  T                *to; // [slots][count]

  SHELLAC_HD void operator()(PetscInt n, PetscInt slot, PetscInt) const {
    to[(size_t)slot * count + (size_t)n] = values[slot] && at[n] >= 0 ? values[slot][at[n]] : T(0);
  }
};

} // namespace

// Constant rows are found on the device. Few kinds of rows are looked for on the host, unless some rows already show that
// there are too many. Where a form cannot hold the rows that was asked for, the host finds out why.
PetscErrorCode CapturedStencil::CloseOnDevice(const Compression &wish, bool *done) {
  const PetscMemType device = memory_;
  const size_t       points = point_count(), count = classes(), all = (size_t)slots();
  const auto         tries = [&](Storage form) { return wish.automatic || wish.form == form; };
  size_t             present = 0;
  Survey<T>          survey;
  Gather<T>          gather;

  PetscFunctionBegin;
  *done = false;
  if (PetscMemTypeHost(device)) PetscFunctionReturn(PETSC_SUCCESS);
  for (const T *values : values_) present += values != nullptr;
  const size_t      samples = std::min(points, 2 * most_kinds(wish, present));
  std::vector<char> seen(count);
  auto             &at = look_.at.change();
  auto             &pointers = look_.pointers.change();
  auto             &found = look_.found.change();
  at.assign(count, -1);
  for_each_run([&](size_t of_class, const PetscInt[3], size_t first, PetscInt) {
    if (!seen[of_class]) at[of_class] = (PetscInt64)first;
    return seen[of_class] = 1;
  });
  for (size_t n = 0; n < samples; n++) at.push_back((PetscInt64)(n * points / samples));
  pointers.assign(values_.begin(), values_.end());
  found.assign(all + 1, 0);
  look_.rows.resize(all * at.size());

  const int *flags;
  PetscCall(look_.rows.Prepare(device));
  PetscCall(look_.pointers.Get(device, &survey.values));
  PetscCall(look_.at.Get(device, &gather.at));
  PetscCall(look_.found.Get(device, &flags));
  survey.patch = patch_;
  for (int a = 0; a < 3; a++) survey.depth[a] = depth_[a];
  survey.tolerance = wish.tolerance;
  survey.slots = (int)all;
  survey.nonzero = const_cast<int *>(flags);
  survey.varies = survey.nonzero + all;
  gather.values = survey.values;
  gather.count = at.size();
  gather.to = look_.rows.at(device);
  Boxes every, some;
  every.add(patch_.all());
  some.add({{0, 0, 0}, {(PetscInt)gather.count, (PetscInt)all, 1}});
  PetscCall(for_each(device, every, survey));
  PetscCall(for_each(device, some, gather));
  std::vector<T> rows(look_.rows.size());
  PetscCall(DeviceCopyToHost(found.data(), flags, found.size() * sizeof(int)));
  PetscCall(DeviceCopyToHost(rows.data(), gather.to, rows.size() * sizeof(T)));

  if (tries(Storage::constant) && !found[all]) {
    std::vector<T> table(all * count);
    for (size_t s = 0; s < all; s++)
      std::copy_n(rows.begin() + (ptrdiff_t)(s * gather.count), count, &table[s * count]);
    make_table(table);
    *done = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<int> used;
  for (int s = 0; s < slots(); s++)
    if (on_diagonal(s) || found[(size_t)s]) used.push_back(s);
  if (tries(Storage::constant) && !wish.automatic) PetscFunctionReturn(PETSC_SUCCESS);
  if (tries(Storage::indexed)) {
    std::set<std::string> kinds;
    std::vector<T>        row(used.size());
    for (size_t n = 0; n < samples; n++) {
      for (size_t s = 0; s < used.size(); s++) row[s] = rows[(size_t)used[s] * gather.count + count + n];
      (void)kind_of(row, wish.tolerance, &row);
      kinds.emplace((const char *)row.data(), row.size() * sizeof(T));
    }
    if (!wish.automatic || kinds.size() <= most_kinds(wish, used.size())) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(UseArrays(used));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
