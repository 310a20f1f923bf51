// How coefficients on a GPU are compressed: kernels look at all of them, and what they find decides on the host.

#include <algorithm>

#include "capture/captured.hpp"

namespace shellac {

namespace {

// What kernels find.
struct Findings {
  int varies;  // a coefficient differs from that of the first point with its distances to the ends of the domain
  int kinds;   // different rows among some points
  int differs; // a row is not like the first of its kind
};

// Which slots are not zero, and whether coefficients vary among the points of a class of places. All threads write the
// same.
template <class T, class Read> struct Survey {
  Patch     patch;
  PetscInt  depth[3];
  PetscReal tolerance;
  int       slots;
  Read      read;
  int      *nonzero; // [slots], zero before
  Findings *found;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    PetscInt       f[3];
    for (int a = 0; a < 3; a++) {
      const PetscInt at = patch.start[a] + p[a], N = patch.N[a], D = depth[a];
      f[a] = N > 2 * D && at >= D && at < N - D ? PetscMax(D - patch.start[a], 0) : p[a];
    }
    const size_t at = patch.index(i, j, k), first = patch.index(f[0], f[1], f[2]);
    for (int s = 0; s < slots; s++) {
      if (read.zero(s)) continue;
      const T value = read(s, at);
      if (value != T(0) && !nonzero[s]) nonzero[s] = 1;
      if (!alike(value, read(s, first), tolerance) && !found->varies) found->varies = 1;
    }
  }
};

// Which slots are not zero, and nothing else, of every step-th point. A slot that is known to be not zero is left out.
template <class T> struct FindNonzero {
  ArrayValues<T> read;
  size_t         points, threads, step;
  int           *nonzero; // [slots]

  SHELLAC_HD void operator()(PetscInt n, PetscInt slot, PetscInt) const {
    if (read.zero(slot) || nonzero[slot]) return;
    for (size_t at = (size_t)n * step; at < points; at += threads * step)
      if (read(slot, at) != T(0) && !nonzero[slot]) nonzero[slot] = 1;
  }
};

// Coefficients of some points: (n, slot) gives those of the n-th.
template <class T, class Read> struct Gather {
  Read              read;
  const PetscInt64 *at; // [count]; negative for none
  size_t            count;
  T                *to; // [slots][count]

  SHELLAC_HD void operator()(PetscInt n, PetscInt slot, PetscInt) const {
    to[(size_t)slot * count + (size_t)n] = at[n] >= 0 ? read(slot, (size_t)at[n]) : T(0);
  }
};

// Counts the different rows among every stride-th point.
template <class T, class Read> struct CountKinds {
  Read      read;
  int       slots;
  size_t    stride;
  PetscReal tolerance;
  HashSet   kinds;
  Findings *found;

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const {
    bool is_new;
    (void)kinds.put(hash_of_rows<T>(read, slots, (size_t)n * stride, tolerance), &is_new);
    if (is_new) (void)count_up(&found->kinds);
  }
};

// Whether rows are as those of the first point of their kind, by an index.
template <class T, class Read> struct CompareKinds {
  Patch                 patch;
  Read                  read;
  int                   slots;
  const unsigned char  *index8; // null for
  const unsigned short *index16;
  const PetscInt64     *first;
  Findings             *found;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const size_t at = patch.index(i, j, k);
    if (!same_rows<T>(read, slots, at, (size_t)first[index8 ? index8[at] : index16[at]], 0) && !found->differs)
      found->differs = 1;
  }
};

// A kind of rows: the first point that has it, and its place in the set of hashes.
struct Kind {
  int64_t first, place;
};

// The first point of each kind. Stops where there are too many of them.
template <class T> struct FindKinds {
  Patch          patch;
  ArrayValues<T> read;
  int            slots, most;
  PetscReal      tolerance;
  HashSet        kinds;
  int64_t       *first; // [places], beyond all points before
  Findings      *found;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const size_t at = patch.index(i, j, k);
    bool         is_new;
    if (*(volatile int *)&found->kinds > most) return;
    const size_t place = kinds.put(hash_of_rows<T>(read, slots, at, tolerance), &is_new);
    if (is_new) (void)count_up(&found->kinds);
    if (place < kinds.places) lower_to(&first[place], (int64_t)at); // else there are too many
  }
};

template <class T> struct Fill {
  T *to, value;

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const { to[n] = value; }
};

// The kinds in a list, in any order.
struct ListKinds {
  HashSet        kinds;
  const int64_t *first;
  int           *count;
  Kind          *list;

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const {
    if (kinds.table[n]) list[count_up(count)] = {first[n], n};
  }
};

// The index of each point, from its kind's place in the set; and whether it has the rows of its kind: hashes may be equal by
// chance.
template <class T, class Index> struct MakeIndex {
  Patch                 patch;
  ArrayValues<T>        read;
  int                   slots;
  PetscReal             tolerance;
  HashSet               kinds;
  const int64_t        *first;
  const unsigned short *number; // [places]
  Index                *index;
  Findings             *found;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const size_t at = patch.index(i, j, k);
    bool         ignored;
    const size_t place = kinds.put(hash_of_rows<T>(read, slots, at, tolerance), &ignored);
    index[at] = (Index)number[place];
    if (!same_rows<T>(read, slots, at, (size_t)first[place], tolerance) && !found->differs) found->differs = 1;
  }
};

} // namespace

// One copy to the host brings the rows that the table needs, if they can be constant or indexed as before, and what tells
// that.
template <class Read>
PetscErrorCode CapturedStencil::LookOnDevice(const Read &read, PetscMemType device, const Compression &wish, bool *done,
                                             std::vector<int> *used, bool *few) {
  const size_t points = point_count(), count = classes(), all = (size_t)slots();
  const size_t kinds = wish.tolerance > 0 ? 0 : kind_points_.host().size(), rows = all * (count + kinds);
  const size_t samples = std::min(points, 2 * most_kinds(wish, 1));
  const size_t flags = (all * sizeof(int) + sizeof(Findings) + sizeof(T) - 1) / sizeof(T); // as so many numbers

  PetscFunctionBegin;
  *done = false;
  auto &first = look_.class_points;
  if (first.host().empty()) {
    std::vector<char> seen(count);
    first.change().assign(count, -1);
    for_each_run([&](size_t of_class, const PetscInt[3], size_t at, PetscInt) {
      if (!seen[of_class]) first.change()[of_class] = (PetscInt64)at;
      return seen[of_class] = 1;
    });
  }
  look_.found.resize(rows + flags);
  PetscCall(look_.found.Zero(device));
  look_.hashes.resize(places_for(samples));
  PetscCall(look_.hashes.Zero(device));
  T        *of_classes = look_.found.at(device), *of_kinds = of_classes + all * count;
  Findings *found = (Findings *)(of_classes + rows);
  int      *nonzero = (int *)(found + 1);

  Survey<T, Read> survey = {patch_, {depth_[0], depth_[1], depth_[2]}, wish.tolerance, (int)all, read, nonzero, found};
  Gather<T, Read> gather = {read, NULL, count, of_classes};
  PetscCall(ForAllPoints(device, survey));
  PetscCall(first.Get(device, &gather.at));
  PetscCall(for_each(device, line_of(count, all), gather));
  if (wish.automatic) {
    const HashSet set = {look_.hashes.at(device), look_.hashes.size()};
    PetscCall(for_each(device, line_of(samples),
                       CountKinds<T, Read>{read, (int)all, points / samples, wish.tolerance, set, found}));
  }
  if (kinds) {
    CompareKinds<T, Read> compare = {patch_, read, (int)all, NULL, NULL, NULL, found};
    PetscCall(index8_.Get(device, &compare.index8));
    PetscCall(index16_.Get(device, &compare.index16));
    PetscCall(kind_points_.Get(device, &compare.first));
    PetscCall(ForAllPoints(device, compare));
    PetscCall(for_each(device, line_of(kinds, all), Gather<T, Read>{read, compare.first, kinds, of_kinds}));
  }
  std::vector<T> got;
  PetscCall(look_.found.GetHost(device, &got));
  const auto       here = got.begin();
  std::vector<T>   class_rows(here, here + (ptrdiff_t)(all * count));
  std::vector<T>   kind_rows(here + (ptrdiff_t)(all * count), here + (ptrdiff_t)rows);
  std::vector<int> numbers(all + sizeof(Findings) / sizeof(int));
  memcpy((void *)numbers.data(), got.data() + rows, numbers.size() * sizeof(int));
  Findings findings;
  memcpy((void *)&findings, numbers.data(), sizeof(findings));
  const int *is_nonzero = numbers.data() + sizeof(Findings) / sizeof(int);

  used->clear();
  for (int s = 0; s < slots(); s++)
    if (on_diagonal(s) || is_nonzero[s]) used->push_back(s);
  *few = !wish.automatic || worth_a_search((size_t)findings.kinds, most_kinds(wish, used->size()));
  if (wish.allows(Storage::constant) && !findings.varies) {
    make_table(class_rows);
    *done = true;
  } else if (wish.allows(Storage::indexed) && kinds && !findings.differs && kinds_differ(kind_rows)) {
    make_kinds(kind_rows);
    *done = true;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
template PetscErrorCode CapturedStencil::LookOnDevice(const Sums<PetscScalar> &, PetscMemType, const Compression &,
                                                      bool *, std::vector<int> *, bool *);

// First at few points, where most slots have a number. All threads would write it to the same place, and wait for each
// other.
PetscErrorCode CapturedStencil::FindUsedOnDevice(std::vector<int> *used) {
  const size_t        all = (size_t)slots(), points = point_count();
  OpenCoefficients<T> open;
  std::vector<int>    nonzero;

  PetscFunctionBegin;
  PetscCall(GetOpen(&open));
  look_.nonzero.resize(all);
  PetscCall(look_.nonzero.Zero(memory_));
  const auto look = [&](size_t most, size_t step) {
    const size_t threads = std::min((points + step - 1) / step, most);
    return for_each(memory_, line_of(threads, all),
                    FindNonzero<T>{{open.values}, points, threads, step, look_.nonzero.at(memory_)});
  };
  PetscCall(look(512, points / 512 + 1));
  PetscCall(look(65536, 1));
  PetscCall(look_.nonzero.GetHost(memory_, &nonzero));
  for (int s = 0; s < slots(); s++)
    if (on_diagonal(s) || nonzero[(size_t)s]) used->push_back(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The index is made on the GPU; the host numbers the kinds by their first points, as it does with an index of its own. *done
// is false where there are too many kinds, or hashes of different rows are equal.
PetscErrorCode CapturedStencil::IndexOnDevice(size_t most, PetscReal tolerance, bool *done) {
  const PetscMemType     device = memory_;
  const size_t           all = (size_t)slots(), places = places_for(most);
  OpenCoefficients<T>    open;
  Scratch<int64_t>       first;
  Scratch<Kind>          list;
  Scratch<Findings>      found;
  Scratch<int>           count;
  Mirror<unsigned short> number;
  Scratch<T>             rows;
  std::vector<Findings>  findings;
  std::vector<int>       listed;
  std::vector<Kind>      kinds;
  std::vector<T>         kind_rows;

  PetscFunctionBegin;
  *done = false;
  PetscCall(GetOpen(&open));
  const ArrayValues<T> read = {open.values};
  look_.hashes.resize(places);
  first.resize(places);
  list.resize(places);
  found.resize(1);
  count.resize(1);
  PetscCall(look_.hashes.Zero(device));
  PetscCall(first.Prepare(device));
  PetscCall(list.Prepare(device));
  PetscCall(found.Zero(device));
  PetscCall(count.Zero(device));
  const HashSet set = {look_.hashes.at(device), places};
  PetscCall(for_each(device, line_of(places), Fill<int64_t>{first.at(device), INT64_MAX}));
  PetscCall(ForAllPoints(
      device, FindKinds<T>{patch_, read, (int)all, (int)most, tolerance, set, first.at(device), found.at(device)}));
  PetscCall(found.GetHost(device, &findings));
  if ((size_t)findings[0].kinds > most) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(for_each(device, line_of(places), ListKinds{set, first.at(device), count.at(device), list.at(device)}));
  list.resize((size_t)findings[0].kinds);
  PetscCall(list.GetHost(device, &kinds));

  std::sort(kinds.begin(), kinds.end(), [](const Kind &a, const Kind &b) { return a.first < b.first; });
  drop_index();
  number.change().assign(places, 0);
  for (size_t n = 0; n < kinds.size(); n++) {
    number.change()[(size_t)kinds[n].place] = (unsigned short)n;
    kind_points_.change().push_back((PetscInt64)kinds[n].first);
  }
  const unsigned short *numbers;
  PetscCall(number.Get(device, &numbers));
  const auto make = [&](auto *index) {
    using Index = std::remove_pointer_t<decltype(index)>;
    return ForAllPoints(device, MakeIndex<T, Index>{patch_, read, (int)all, tolerance, set, first.at(device), numbers,
                                                    index, found.at(device)});
  };
  if (kinds.size() <= 256) {
    unsigned char *index;
    PetscCall(index8_.Make(device, point_count(), &index));
    PetscCall(make(index));
  } else {
    unsigned short *index;
    PetscCall(index16_.Make(device, point_count(), &index));
    PetscCall(make(index));
  }
  Gather<T, ArrayValues<T>> gather = {read, NULL, kinds.size(), NULL};
  rows.resize(all * kinds.size());
  PetscCall(rows.Prepare(device));
  gather.to = rows.at(device);
  PetscCall(kind_points_.Get(device, &gather.at));
  PetscCall(for_each(device, line_of(kinds.size(), all), gather));
  PetscCall(rows.GetHost(device, &kind_rows));
  PetscCall(found.GetHost(device, &findings));
  if (findings[0].differs) {
    drop_index();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  make_kinds(kind_rows);
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where a form cannot hold the rows that was asked for, the host finds out why.
PetscErrorCode CapturedStencil::CloseOnDevice(const Compression &wish, bool *done) {
  OpenCoefficients<T> open;
  std::vector<int>    used;
  bool                few;

  PetscFunctionBegin;
  *done = false;
  if (PetscMemTypeHost(memory_)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!wish.allows(Storage::constant) && !wish.allows(Storage::indexed)) {
    PetscCall(FindUsedOnDevice(&used));
    PetscCall(UseArrays(used));
    *done = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetOpen(&open));
  PetscCall(LookOnDevice(ArrayValues<T>{open.values}, memory_, wish, done, &used, &few));
  if (*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (wish.allows(Storage::constant) && !wish.automatic) PetscFunctionReturn(PETSC_SUCCESS);
  if (wish.allows(Storage::indexed) && few) {
    PetscCall(IndexOnDevice(most_kinds(wish, used.size()), wish.tolerance, done));
    if (*done || !wish.automatic) PetscFunctionReturn(PETSC_SUCCESS);
    sampled_in_vain_ = sampled_kinds_;
  }
  PetscCall(UseArrays(used));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
