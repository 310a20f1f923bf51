// How closed rows are stored: the first of three forms that can hold them, or the one that is asked for.

#include <algorithm>

#include "capture/captured.hpp"

namespace shellac {

// Without a branch at each value. A lambda would not be inlined into the versions for other processors.
template <class T> SHELLAC_WIDE bool all_equal(const T *v, PetscInt n, T value) {
  PetscInt64 differs = 0;
  for (PetscInt i = 0; i < n; i++) differs |= (PetscInt64)(v[i] != value);
  return !differs;
}
template <class T, class Index>
SHELLAC_WIDE bool all_of_kinds(const T *v, PetscInt n, const T *of_kind, const Index *kind) {
  PetscInt64 differs = 0;
  for (PetscInt i = 0; i < n; i++) differs |= (PetscInt64)(v[i] != of_kind[kind[i]]);
  return !differs;
}

// How many values from the first on are alike.
static PetscInt count_alike(const PetscScalar *v, PetscInt n, PetscScalar same, PetscReal tolerance) {
  constexpr PetscInt few = 4; // are compared one by one: a call takes longer
  PetscInt           i = 0;
  if (tolerance <= 0 && n > few && all_equal(v, n, same)) return n;
  while (i < n && alike(v[i], same, tolerance)) i++;
  return i;
}

// Whether all rows of a place are alike: the table then has them.
template <class Read> bool CapturedStencil::try_constant(Read *read, const Compression &wish, Refusal *refusal) {
  const size_t      count = classes();
  std::vector<T>    all((size_t)slots() * count, T(0));
  std::vector<char> seen(count);

  const auto check = [&](size_t of_class, const PetscInt p[3], size_t at, PetscInt points) {
    for (int s = 0; s < slots(); s++) {
      T *first = &all[(size_t)s * count + of_class];
      if (read->zero(s)) continue;
      const T *v = read->run(s, at);
      if (!seen[of_class]) *first = v[0];
      const PetscInt same = count_alike(v, points, *first, wish.tolerance);
      if (same < points) *refusal = {true, {p[0] + same, p[1], p[2]}};
      if (same < points) return false;
    }
    seen[of_class] = 1;
    return true;
  };
  const bool constant = for_each_run([&](size_t of_class, const PetscInt p[3], size_t at, PetscInt points) {
    for (PetscInt i = 0, n; i < points; i += n) {
      const PetscInt q[3] = {p[0] + i, p[1], p[2]};
      n = PetscMin(read->length(at + (size_t)i), points - i);
      if (!check(of_class, q, at + (size_t)i, n)) return false;
    }
    return true;
  });
  if (constant) make_table(all);
  return constant;
}

size_t CapturedStencil::most_kinds(const Compression &wish, size_t n) const {
  const size_t     points = point_count(), bytes = std::max(n, (size_t)1) * sizeof(T), most = 65536;
  constexpr size_t cache = 256 << 10; // of the table, so that kernels find it in their caches
  if (!wish.automatic) return std::min(most, points);
  // where nobody asked for this form, only as many as are worth it
  return std::min({most, std::max(points / 8, (size_t)16), std::max(cache / bytes, (size_t)16)});
}

// Whether a sample of the points has few kinds of rows: in one slot, and in all of them.
bool CapturedStencil::few_kinds(const Compression &wish) {
  const size_t          points = point_count(), most = most_kinds(wish, used_.size()), samples = 2 * most;
  const ArrayValues<T>  all = {values_.data()};
  const int             center = slot(arms_->center(), 0, 0);
  const auto            one = [&](int, size_t at) { return all(center, at); };
  std::vector<uint64_t> table(places_for(samples));
  const HashSet         kinds = {table.data(), table.size()};
  const auto            count = [&](const auto &read, int count_of_slots) {
    size_t found = 0;
    for (size_t n = 0; n < samples && found <= most; n++) {
      bool is_new;
      (void)kinds.put(hash_of_rows<T>(read, count_of_slots, n * (points / samples), wish.tolerance), &is_new);
      found += is_new;
    }
    return found;
  };
  sampled_kinds_ = 0; // which no sample has
  if (samples > points) return true;
  if (count(one, 1) > most) return false;
  std::fill(table.begin(), table.end(), 0);
  return worth_a_search(count(all, slots()), most);
}

// A search that found too many kinds is not repeated while the sample has as many of them.
bool CapturedStencil::worth_a_search(size_t in_sample, size_t most) {
  sampled_kinds_ = in_sample;
  return in_sample <= most && in_sample != sampled_in_vain_;
}

// Whether there are few kinds of rows: the table then has them, and each point an index.
bool CapturedStencil::try_indexed(const Compression &wish, Refusal *refusal) {
  const size_t                points = point_count(), n = used_.size(), most = most_kinds(wish, n);
  std::vector<T>              keys, key(n);
  std::vector<PetscInt64>     first; // points of the kinds
  std::vector<size_t>         buckets(places_for(most), SIZE_MAX);
  std::vector<unsigned short> index;

  if (wish.automatic && !few_kinds(wish)) return false;
  index.resize(points);
  for (size_t at = 0; at < points; at++) {
    uint64_t hash = 0;
    for (size_t s = 0; s < n; s++) {
      key[s] = key_of<T>(values_[used_[s]][at], wish.tolerance);
      hash = add_to_hash(hash, key[s]);
    }
    size_t place = hash & (buckets.size() - 1);
    while (buckets[place] != SIZE_MAX && memcmp(&keys[buckets[place] * n], key.data(), n * sizeof(T)) != 0)
      place = (place + 1) & (buckets.size() - 1);
    if (buckets[place] == SIZE_MAX) {
      if (first.size() == most) {
        PetscInt p[3];
        patch_.all().point((PetscInt64)at, p);
        if (wish.automatic) sampled_in_vain_ = sampled_kinds_;
        *refusal = {true, {p[0], p[1], p[2]}};
        return false;
      }
      buckets[place] = first.size();
      keys.insert(keys.end(), key.begin(), key.end());
      first.push_back((PetscInt64)at);
    }
    index[at] = (unsigned short)buckets[place];
  }
  const ArrayValues<T> read = {values_.data()};
  std::vector<T>       rows((size_t)slots() * first.size());
  for (size_t s = 0; s < (size_t)slots(); s++)
    for (size_t kind = 0; kind < first.size(); kind++)
      rows[s * first.size() + kind] = read((int)s, (size_t)first[kind]);
  drop_index();
  if (first.size() <= 256)
    index8_.change().assign(index.begin(), index.end());
  else
    index16_.change() = std::move(index);
  kind_points_.change() = std::move(first);
  make_kinds(rows);
  return true;
}

void CapturedStencil::drop_index() {
  index8_.change().clear();
  index16_.change().clear();
  kind_points_.change().clear();
}

void CapturedStencil::make_kinds(const std::vector<T> &rows) {
  kinds_ = kind_points_.host().size();
  fill_table(rows, kinds_, false);
  storage_ = Storage::indexed;
}

bool CapturedStencil::kinds_differ(const std::vector<T> &rows) const {
  const size_t          count = kind_points_.host().size();
  std::vector<uint64_t> table(places_for(count));
  const HashSet         kinds = {table.data(), table.size()};
  for (size_t kind = 0; kind < count; kind++) {
    const auto read = [&](int slot, size_t) { return rows[(size_t)slot * count + kind]; };
    bool       is_new;
    (void)kinds.put(hash_of_rows<T>(read, slots(), 0, 0), &is_new);
    if (!is_new) return false;
  }
  return true;
}

// Whether rows are equal where they have been: then they have new coefficients, and the index is as it was.
template <class Read> PetscErrorCode CapturedStencil::TryKindsAgain(Read *read, const Compression &wish, bool *done) {
  const size_t          count = kind_points_.host().size();
  const unsigned char  *small;
  const unsigned short *large;

  PetscFunctionBegin;
  *done = false;
  if (!count || wish.tolerance > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(index8_.Get(PETSC_MEMTYPE_HOST, &small));
  PetscCall(index16_.Get(PETSC_MEMTYPE_HOST, &large));
  std::vector<T> rows((size_t)slots() * count, T(0));
  for (size_t kind = 0; kind < count; kind++)
    for (int s = 0; s < slots(); s++)
      if (!read->zero(s)) rows[(size_t)s * count + kind] = *read->run(s, (size_t)kind_points_.host()[kind]);
  const auto check = [&](const auto *index) {
    for (size_t at = 0, n; at < point_count(); at += n) {
      n = std::min((size_t)read->length(at), point_count() - at);
      for (int s = 0; s < slots(); s++)
        if (!read->zero(s) && !all_of_kinds(read->run(s, at), (PetscInt)n, &rows[(size_t)s * count], index + at))
          return false;
    }
    return true;
  };
  const bool same = small ? check(small) : check(large);
  *done = same && kinds_differ(rows);
  if (*done) make_kinds(rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the end of changes --------------------------------------------------------------------------------------------

PetscErrorCode CapturedStencil::Close(const Compression &wish, Refusal *refusal) {
  ArrayValues<T> read = {values_.data()};
  bool           done;

  PetscFunctionBegin;
  *refusal = {};
  if (!open_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckNoneLent(comm_));
  ForgetRows();
  PetscCall(CloseOnDevice(wish, &done));
  if (!done) {
    PetscCall(MoveToHost());
    done = wish.allows(Storage::constant) && try_constant(&read, wish, refusal);
    if (!done && wish.allows(Storage::indexed)) PetscCall(TryKindsAgain(&read, wish, &done));
  }
  if (!done) {
    std::vector<int> used;
    for (int s = 0; s < slots(); s++) {
      const T *v = values_[s];
      if (on_diagonal(s) || (v && std::any_of(v, v + point_count(), [](T value) { return value != T(0); })))
        used.push_back(s);
    }
    PetscCall(UseArrays(used));
    if (wish.allows(Storage::indexed)) (void)try_indexed(wish, refusal);
  }
  if (wish.automatic || wish.form == Storage::arrays) *refusal = {};
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::CloseAgain(SumsByBlocks *sums, const Compression &wish, bool *done) {
  Refusal refused;

  PetscFunctionBegin;
  *done = false;
  if (!compressed()) PetscFunctionReturn(PETSC_SUCCESS);
  *done = wish.allows(Storage::constant) && try_constant(sums, wish, &refused);
  if (!*done && wish.allows(Storage::indexed)) PetscCall(TryKindsAgain(sums, wish, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  keep_arrays_ = false; // nobody needed them
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::CloseAgain(const Sums<T> &sums, PetscMemType memory, const Compression &wish,
                                           bool *done) {
  std::vector<int> ignored;
  bool             few;

  PetscFunctionBegin;
  *done = false;
  if (!compressed()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LookOnDevice(sums, memory, wish, done, &ignored, &few));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  keep_arrays_ = false; // nobody needed them
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::CloseAsArrays() {
  std::vector<int> used;

  PetscFunctionBegin;
  if (!open_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckNoneLent(comm_));
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

// The index is kept for TryKindsAgain().
void CapturedStencil::ForgetRows() {
  change_table().clear();
  storage_ = Storage::arrays;
}

PetscErrorCode CapturedStencil::End() {
  PetscFunctionBegin;
  if (storage_ != Storage::indexed) drop_index();
  closed_as_ = storage_;
  by_place_ = open_ = false;
  for (int s = 0; s < slots(); s++) PetscCall(RestoreArray(s));
  if (!keep_arrays_ && (compressed() || !all_are_set_)) PetscCall(DropIdleArrays());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
