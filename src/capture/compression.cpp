// How closed rows are stored: the first of three forms that can hold them, or the one that is asked for.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "capture/captured.hpp"

namespace shellac {

// How many values from the first on are alike.
static PetscInt count_alike(const PetscScalar *v, PetscInt n, PetscScalar same, PetscReal tolerance) {
  constexpr PetscInt chunk = 64;
  PetscInt           i = 0;
  if (tolerance <= 0)
    for (bool all = true; i + chunk <= n; i += chunk) { // without a branch at each value
      for (PetscInt c = 0; c < chunk; c++) all &= v[i + c] == same;
      if (!all) break;
    }
  while (i < n && alike(v[i], same, tolerance)) i++;
  return i;
}

// Whether all rows of a place are alike: the table then has them. One slot after the other, along its array.
bool CapturedStencil::try_constant(const Compression &wish, Refusal *refusal) {
  const size_t      count = classes();
  std::vector<T>    all((size_t)slots() * count, T(0));
  std::vector<char> seen(count);

  for (int s = 0; s < slots(); s++) {
    T *coefficients = all.data() + (size_t)s * count;
    if (!values_[s]) continue;
    std::fill(seen.begin(), seen.end(), 0);
    const bool alike = for_each_run([&](size_t of_class, const PetscInt p[3], size_t at, PetscInt points) {
      const T *v = values_[s] + at;
      if (!seen[of_class]) {
        seen[of_class] = 1;
        coefficients[of_class] = v[0];
      }
      const PetscInt same = count_alike(v, points, coefficients[of_class], wish.tolerance);
      if (same < points) *refusal = {true, {p[0] + same, p[1], p[2]}};
      return same == points;
    });
    if (!alike) return false;
  }
  make_table(all);
  return true;
}

// A value's place in a lattice of relative steps, so that values of one place are alike.
static PetscReal rounded(PetscReal x, PetscReal tolerance) {
  int exponent;
  if (tolerance <= 0 || x == 0 || !std::isfinite(x)) return x + 0; // no negative zero
  const PetscReal fraction = std::frexp(x, &exponent), step = tolerance / 2;
  return std::ldexp(std::round(fraction / step) * step, exponent);
}

size_t CapturedStencil::most_kinds(const Compression &wish, size_t n) const {
  const size_t     points = point_count(), bytes = std::max(n, (size_t)1) * sizeof(T), most = 65536;
  constexpr size_t cache = 256 << 10; // of the table, so that kernels find it in their caches
  if (!wish.automatic) return std::min(most, points);
  // where nobody asked for this form, only as many as are worth it
  return std::min({most, std::max(points / 8, (size_t)16), std::max(cache / bytes, (size_t)16)});
}

uint64_t CapturedStencil::kind_of(const std::vector<T> &row, PetscReal tolerance, std::vector<T> *key) {
  uint64_t hash = 0;
  for (size_t s = 0; s < row.size(); s++) {
    PetscReal parts[2] = {rounded(PetscRealPart(row[s]), tolerance), rounded(PetscImaginaryPart(row[s]), tolerance)};
#if defined(PETSC_USE_COMPLEX)
    (*key)[s] = PetscCMPLX(parts[0], parts[1]);
#else
    (*key)[s] = parts[0];
#endif
    for (PetscReal part : parts) {
      uint64_t word = 0;
      memcpy(&word, &part, std::min(sizeof(word), sizeof(part)));
      hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
      hash ^= hash >> 29;
    }
  }
  return hash;
}

// Whether there are few kinds of rows: the table then has them, and each point an index.
bool CapturedStencil::try_indexed(const Compression &wish, Refusal *refusal) {
  const size_t        points = point_count(), n = used_.size(), stride = table_stride<T>((int)n), bytes = n * sizeof(T);
  const size_t        most = most_kinds(wish, n);
  std::vector<T>      keys, table, row(n), key(n);
  std::vector<size_t> buckets;
  std::vector<unsigned short> index(points);
  size_t                      places = 1;

  while (places < 4 * most) places *= 2;
  buckets.assign(places, SIZE_MAX);
  for (size_t at = 0; at < points; at++) {
    for (size_t s = 0; s < n; s++) row[s] = values_[used_[s]][at];
    size_t place = kind_of(row, wish.tolerance, &key) & (buckets.size() - 1);
    while (buckets[place] != SIZE_MAX && memcmp(&keys[buckets[place] * n], key.data(), bytes) != 0)
      place = (place + 1) & (buckets.size() - 1);
    if (buckets[place] == SIZE_MAX) {
      const size_t kinds = table.size() / stride;
      if (kinds == most) {
        PetscInt p[3];
        patch_.all().point((PetscInt64)at, p);
        *refusal = {true, {p[0], p[1], p[2]}};
        return false;
      }
      buckets[place] = kinds;
      keys.insert(keys.end(), key.begin(), key.end());
      table.insert(table.end(), row.begin(), row.end());
      table.resize((kinds + 1) * stride);
    }
    index[at] = (unsigned short)buckets[place];
  }
  kinds_ = table.size() / stride;
  table_.change() = std::move(table);
  if (kinds_ <= 256)
    index8_.change().assign(index.begin(), index.end());
  else
    index16_.change() = std::move(index);
  storage_ = Storage::indexed;
  return true;
}

PetscErrorCode CapturedStencil::Close(const Compression &wish, Refusal *refusal) {
  const auto tries = [&](Storage form) { return wish.automatic || wish.form == form; };
  bool       done;

  PetscFunctionBegin;
  *refusal = {};
  if (!open_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckNoneLent());
  ForgetRows();
  PetscCall(CloseOnDevice(wish, &done));
  if (!done) {
    PetscCall(MoveToHost());
    if (!tries(Storage::constant) || !try_constant(wish, refusal)) {
      std::vector<int> used;
      for (int s = 0; s < slots(); s++) {
        const T *v = values_[s];
        if (on_diagonal(s) || (v && std::any_of(v, v + point_count(), [](T value) { return value != T(0); })))
          used.push_back(s);
      }
      PetscCall(UseArrays(used));
      if (tries(Storage::indexed)) (void)try_indexed(wish, refusal);
    }
  }
  if (wish.automatic || wish.form == Storage::arrays) *refusal = {};
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::CloseAsArrays() {
  std::vector<int> used;

  PetscFunctionBegin;
  if (!open_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckNoneLent());
  ForgetRows();
  for (int s = 0; s < slots(); s++)
    if (values_[s] || on_diagonal(s)) used.push_back(s);
  PetscCall(UseArrays(used));
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The coefficients stay in arrays, of these slots and those that complete a star.
PetscErrorCode CapturedStencil::UseArrays(const std::vector<int> &used) {
  PetscFunctionBegin;
  use_slots(whole(used, false));
  for (int s : used_) PetscCall(Need(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CapturedStencil::ForgetRows() {
  index8_.change().clear();
  index16_.change().clear();
  table_.change().clear();
  storage_ = Storage::arrays;
}

PetscErrorCode CapturedStencil::End() {
  PetscFunctionBegin;
  for (int s = 0; s < slots(); s++) {
    PetscCall(RestoreArray(s));
    if (storage_ != Storage::arrays || place(s) < 0) PetscCall(VecDestroy(&arrays_[s]));
  }
  open_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
