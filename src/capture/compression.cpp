// How closed rows are stored: the first of three forms that can hold them, or the one that is asked for. Functors look at
// the coefficients where these are, and what they find decides on the host.

#include <algorithm>

#include "capture/captured.hpp"
#include "capture/coo.hpp"

namespace shellac {

namespace {

// What functors find. Points by their numbers less that of all points, so that 0 is none.
struct Findings {
  int64_t place,
      kind;  // the first point whose row is not that of its place; or not that of its kind, or of one too many
  int kinds; // different rows
};

// Finds the first point whose row is not that of its class: all threads that write the same number write it in any order.
template <class T, class Read> struct CompareRows {
  Patch                   patch;
  Read                    read;
  int                     slots;
  PetscReal               tolerance;
  CapturedCoefficients<T> a; // its classes
  size_t                  count;
  const T                *rows; // [slots][count], of the classes
  int64_t                *other;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = patch.index(p[0], p[1], p[2]);
    if (beyond(at, 0) >= *other) return; // nobody needs a later one
    const bool indexed = a.storage == Storage::indexed;
    for (int from = 0, some; from < n; from += some) { // points of one class of places
      const PetscInt q[3] = {p[0] + from, p[1], p[2]};
      some = indexed ? n - from : a.run_of_class(patch, q, n - from);
      compare<most>(q, at + (size_t)from, some, indexed);
    }
  }
  template <int most> SHELLAC_RUN void compare(const PetscInt p[3], size_t at, int n, bool indexed) const {
    uint32_t of[most];
    of[0] = (uint32_t)a.class_at(patch, p, at);
    for (int i = 1; indexed && i < n && i < most; i++) of[i] = (uint32_t)a.class_at(patch, p, at + (size_t)i);
    for (int s = 0; s < slots; s++) {
      if (read.zero(s)) continue;
      T        room[most];
      const T *values = read.run(s, at, n, room), *of_class = rows + (size_t)s * count;
      if (indexed ? all_equal(values, n, of_class, of) : all_equal(values, n, of_class[of[0]])) continue;
      int i = 0;
      while (i < n && alike(values[i], of_class[of[indexed ? i : 0]], tolerance)) i++;
      if (i < n) lower_to(other, beyond(at, i));
    }
  }
  SHELLAC_RUN int64_t beyond(size_t at, int i) const { return (int64_t)at + i - patch.all().points(); }
  // Without a branch at each value.
  static SHELLAC_RUN bool all_equal(const T *values, int n, T value) {
    PetscInt64 differs = 0;
    for (int i = 0; i < n; i++) differs |= (PetscInt64)(values[i] != value);
    return !differs;
  }
  static SHELLAC_RUN bool all_equal(const T *values, int n, const T *of_class, const uint32_t *of) {
    PetscInt64 differs = 0;
    for (int i = 0; i < n; i++) differs |= (PetscInt64)(values[i] != of_class[of[i]]);
    return !differs;
  }
};

// Which slots are not zero. Those that are known to be so are left out.
template <class T> struct FindNonzero {
  ArrayValues<T> read;
  int            slots;
  int           *nonzero; // [slots], zero before

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    for (int s = 0; s < slots; s++) {
      if (read.zero(s) || nonzero[s]) continue;
      bool any = false;
      for (int i = 0; i < n; i++) any |= read(s, (size_t)(p[0] + i)) != T(0);
      if (any) nonzero[s] = 1;
    }
  }
};

// Coefficients of some points: (slot, n) gives those of the n-th.
template <class T, class Read> struct Gather {
  Read              read;
  const PetscInt64 *at; // [count]; negative for none
  size_t            count;
  T                *to; // [slots][count]

  SHELLAC_HD void operator()(PetscInt slot, PetscInt n, PetscInt) const {
    to[(size_t)slot * count + (size_t)n] = at[n] >= 0 ? read(slot, (size_t)at[n]) : T(0);
  }
};

// Counts the different rows among every stride-th point, up to one too many.
template <class T> struct CountKinds {
  ArrayValues<T> read;
  int            slots, most;
  size_t         stride;
  PetscReal      tolerance;
  HashSet        kinds;
  int           *found;

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const {
    bool is_new;
    if (*(volatile int *)found > most) return;
    (void)kinds.put(hash_of_rows<T>(read, slots, (size_t)n * stride, tolerance), &is_new);
    if (is_new) (void)count_up(found);
  }
};

// The place of each point's kind in a set of hashes, and the first point of each kind. Stops where there are too many.
template <class T> struct FindKinds {
  ArrayValues<T> read;
  int            slots, most;
  int64_t        points;
  PetscReal      tolerance;
  HashSet        kinds;
  int64_t       *first;    // [places], less the number of all points; zero before
  uint32_t      *place_of; // [points]
  Findings      *found;

  template <int length> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    if (*(volatile int *)&found->kinds > most) return;
    uint64_t hash[length];
    for (int i = 0; i < n; i++) hash[i] = 0;
    for (int s = 0; s < slots; s++) {
      if (read.zero(s)) continue;
      const T *values = read.values[s] + p[0];
      if (tolerance > 0)
        for (int i = 0; i < n; i++) hash[i] = add_to_hash(hash[i], key_of(values[i], tolerance));
      else
        for (int i = 0; i < n; i++) hash[i] = add_to_hash(hash[i], values[i] + T(0)); // no negative zero
    }
    for (int i = 0; i < n; i++) {
      bool          is_new;
      const int64_t at = (int64_t)p[0] + i;
      const size_t  place = kinds.put(hash[i] ? hash[i] : 1, &is_new);
      if (is_new && count_up(&found->kinds) >= most) lower_to(&found->kind, at - points);
      if (place == kinds.places) return; // there are too many
      lower_to(&first[place], at - points);
      place_of[at] = (uint32_t)place;
    }
  }
};

// A kind of rows: the first point that has it, and its place in the set of hashes.
struct Kind {
  int64_t first, place;
};

// The kinds in a list, in any order.
struct ListKinds {
  HashSet        kinds;
  const int64_t *first;
  int64_t        points;
  int           *count;
  Kind          *list;

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const {
    if (kinds.table[n]) list[count_up(count)] = {first[n] + points, n};
  }
};

template <class Index> struct MakeIndex {
  const uint32_t       *place_of; // [points]
  const unsigned short *number;   // [places]
  Index                *index;

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const { index[n] = (Index)number[place_of[n]]; }
};

} // namespace

// ---- constant rows, or rows of the kinds that there are -------------------------------------------------------------

// One copy to the host brings the rows that the table needs, and what tells whether it can hold all.
template <class Read>
PetscErrorCode CapturedStencil::TryClasses(const Read &read, PetscMemType memory, const Compression &wish,
                                           Refusal *refusal, bool *done) {
  constexpr size_t head = (sizeof(Findings) + sizeof(T) - 1) / sizeof(T); // as so many numbers
  const size_t     all = (size_t)slots(), places = wish.allows(Storage::constant) ? classes() : 0,
               kinds = wish.allows(Storage::indexed) ? kind_points_.size() : 0;
  std::vector<T> found;
  Findings       had = {};

  PetscFunctionBegin;
  *done = false;
  look_.found.resize(head + all * (places + kinds));
  PetscCall(look_.found.Zero(memory));
  T *const        begin = look_.found.at(memory);
  Findings *const findings = PetscMemTypeDevice(memory) ? (Findings *)begin : &had;
  const auto      compare = [&](Storage form, Mirror<PetscInt64> *points, size_t count, T *rows, int64_t *other) {
    CompareRows<T, Read> rows_of = {patch_, read, (int)all, wish.tolerance, this->places(), count, rows, other};
    Gather<T, Read>      gather = {read, NULL, count, rows};
    PetscFunctionBegin;
    if (!count) PetscFunctionReturn(PETSC_SUCCESS);
    rows_of.a.storage = form;
    PetscCall(index8_.Get(memory, &rows_of.a.index8));
    PetscCall(index16_.Get(memory, &rows_of.a.index16));
    PetscCall(points->Get(memory, &gather.at));
    PetscCall(for_each(memory, line_of(all, count), gather));
    PetscCall(for_each_run(memory, patch_.all(), rows_of));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(compare(Storage::constant, first_of_classes(), places, begin + head, &findings->place));
  PetscCall(compare(Storage::indexed, &kind_points_, kinds, begin + head + all * places, &findings->kind));
  PetscCall(look_.found.GetHost(memory, &found));

  if (PetscMemTypeDevice(memory)) memcpy((void *)&had, found.data(), sizeof(had));
  const auto           rows = found.begin() + (ptrdiff_t)head, of_kinds = rows + (ptrdiff_t)(all * places);
  const std::vector<T> kind_rows(of_kinds, found.end());
  if (places && !had.place) {
    make_table(std::vector<T>(rows, of_kinds));
    *done = true;
  } else if (kinds && !had.kind && kinds_differ(kind_rows)) {
    make_kinds(kind_rows);
    *done = true;
  } else
    refuse(places ? had.place : had.kind, refusal);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// point: less the number of all points
void CapturedStencil::refuse(int64_t point, Refusal *refusal) const {
  refusal->refused = true;
  patch_.all().point(point + patch_.all().points(), refusal->point);
}

Mirror<PetscInt64> *CapturedStencil::first_of_classes() {
  for (size_t c = look_.class_points.size(); c < classes(); c++) {
    PetscInt i[3];
    point_of_class(c, i);
    for (int a = 0; a < 3; a++) i[a] = PetscMax(i[a] - patch_.start[a], 0);
    look_.class_points.change().push_back(has_class(c) ? (PetscInt64)patch_.index(i[0], i[1], i[2]) : -1);
  }
  return &look_.class_points;
}

void CapturedStencil::make_kinds(const std::vector<T> &rows) {
  kinds_ = kind_points_.size();
  fill_table(rows, kinds_, false);
  storage_ = Storage::indexed;
}

bool CapturedStencil::kinds_differ(const std::vector<T> &rows) const {
  const size_t          count = kind_points_.size();
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

// ---- new kinds of rows ---------------------------------------------------------------------------------------------

size_t CapturedStencil::most_kinds(const Compression &wish, size_t n) const {
  const size_t     points = point_count(), bytes = std::max(n, (size_t)1) * sizeof(T), most = 65536;
  constexpr size_t cache = 256 << 10; // of the table, so that kernels find it in their caches
  if (!wish.automatic) return std::min(most, points);
  // where nobody asked for this form, only as many as are worth it
  return std::min({most, std::max(points / 8, (size_t)16), std::max(cache / bytes, (size_t)16)});
}

// Whether a sample of the points has few kinds of rows. A search that found too many is not repeated while the sample has as
// many of them.
PetscErrorCode CapturedStencil::FewKinds(const ArrayValues<T> &read, size_t most, PetscReal tolerance, bool *few) {
  const size_t     points = point_count(), samples = std::min(points, 2 * most);
  Scratch<int>     found;
  std::vector<int> had;

  PetscFunctionBegin;
  look_.hashes.resize(places_for(samples));
  found.resize(1);
  PetscCall(look_.hashes.Zero(memory_));
  PetscCall(found.Zero(memory_));
  const HashSet set = {look_.hashes.at(memory_), look_.hashes.size()};
  PetscCall(for_each(memory_, line_of(samples),
                     CountKinds<T>{read, slots(), (int)most, points / samples, tolerance, set, found.at(memory_)}));
  PetscCall(found.GetHost(memory_, &had));
  sampled_kinds_ = (size_t)had[0];
  *few = sampled_kinds_ <= most && sampled_kinds_ != sampled_in_vain_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The index is made where the coefficients are; the host numbers the kinds by their first points.
PetscErrorCode CapturedStencil::TryIndexed(const ArrayValues<T> &read, const Compression &wish, size_t used,
                                           Refusal *refusal, bool *done) {
  const size_t           most = most_kinds(wish, used), points = point_count(), places = places_for(most);
  Scratch<int64_t>       first;
  Scratch<uint32_t>      place_of;
  Scratch<Kind>          list;
  Scratch<Findings>      found;
  Scratch<int>           count;
  Mirror<unsigned short> number;
  std::vector<Findings>  had;
  std::vector<Kind>      kinds;
  bool                   few = true;

  PetscFunctionBegin;
  if (wish.automatic) PetscCall(FewKinds(read, most, wish.tolerance, &few));
  if (!few) PetscFunctionReturn(PETSC_SUCCESS);
  look_.hashes.resize(places);
  first.resize(places);
  found.resize(1);
  count.resize(1);
  PetscCall(look_.hashes.Zero(memory_));
  PetscCall(first.Zero(memory_));
  PetscCall(place_of.Grow(points, memory_));
  PetscCall(found.Zero(memory_));
  PetscCall(count.Zero(memory_));
  const HashSet set = {look_.hashes.at(memory_), places};
  PetscCall(for_each_run(memory_, line(),
                         FindKinds<T>{read, slots(), (int)most, (int64_t)points, wish.tolerance, set, first.at(memory_),
                                      place_of.at(memory_), found.at(memory_)}));
  PetscCall(found.GetHost(memory_, &had));
  if ((size_t)had[0].kinds > most) {
    if (wish.automatic) sampled_in_vain_ = sampled_kinds_;
    refuse(had[0].kind, refusal);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(list.Grow((size_t)had[0].kinds, memory_));
  PetscCall(for_each(memory_, line_of(places),
                     ListKinds{set, first.at(memory_), (int64_t)points, count.at(memory_), list.at(memory_)}));
  PetscCall(list.GetHost(memory_, &kinds));

  std::sort(kinds.begin(), kinds.end(), [](const Kind &a, const Kind &b) { return a.first < b.first; });
  drop_index();
  number.change().assign(places, 0);
  for (size_t n = 0; n < kinds.size(); n++) {
    number.change()[(size_t)kinds[n].place] = (unsigned short)n;
    kind_points_.change().push_back((PetscInt64)kinds[n].first);
  }
  const unsigned short *numbers;
  PetscCall(number.Get(memory_, &numbers));
  const auto make = [&](auto *mirror, auto *index) {
    using Index = std::remove_pointer_t<decltype(index)>;
    PetscFunctionBegin;
    PetscCall(mirror->Make(memory_, points, &index));
    PetscCall(for_each(memory_, line_of(points), MakeIndex<Index>{place_of.at(memory_), numbers, index}));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (kinds.size() <= 256)
    PetscCall(make(&index8_, (unsigned char *)nullptr));
  else
    PetscCall(make(&index16_, (unsigned short *)nullptr));
  // hashes of different rows may be equal by chance
  PetscCall(TryClasses(read, memory_, {false, Storage::indexed, wish.tolerance}, refusal, done));
  if (!*done) drop_index();
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CapturedStencil::drop_index() {
  index8_.change().clear();
  index16_.change().clear();
  kind_points_.change().clear();
}

// ---- the end of changes --------------------------------------------------------------------------------------------

// First along a line where most slots have a number. Threads of all points would write it to the same place, and wait for
// each other.
PetscErrorCode CapturedStencil::FindUsed(const ArrayValues<T> &read, std::vector<int> *used) {
  const size_t     points = point_count();
  std::vector<int> nonzero;

  PetscFunctionBegin;
  look_.nonzero.resize((size_t)slots());
  PetscCall(look_.nonzero.Zero(memory_));
  const FindNonzero<T> find = {read, slots(), look_.nonzero.at(memory_)};
  Box                  some = line();
  some.lo[0] = (PetscInt)(points / 2);
  some.hi[0] = (PetscInt)std::min(points, points / 2 + 512);
  PetscCall(for_each_run(memory_, some, find));
  PetscCall(for_each_run(memory_, line(), find));
  PetscCall(look_.nonzero.GetHost(memory_, &nonzero));
  for (int s = 0; s < slots(); s++)
    if (on_diagonal(s) || nonzero[(size_t)s]) used->push_back(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Close(const Compression &wish, Refusal *refusal) {
  OpenCoefficients<T> open;
  std::vector<int>    used;
  bool                done = false;

  PetscFunctionBegin;
  *refusal = {};
  if (!open_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckNoneLent(comm_));
  ForgetRows();
  PetscCall(GetOpen(&open));
  const ArrayValues<T> read = {open.values};
  if (wish.automatic || wish.form != Storage::arrays) PetscCall(TryClasses(read, memory_, wish, refusal, &done));
  if (!done) PetscCall(FindUsed(read, &used));
  if (!done && wish.allows(Storage::indexed)) PetscCall(TryIndexed(read, wish, used.size(), refusal, &done));
  if (!done) PetscCall(UseArrays(used));
  if (done || wish.automatic) *refusal = {};
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Read>
PetscErrorCode CapturedStencil::CloseAgain(const Read &sums, PetscMemType memory, const Compression &wish, bool *done) {
  Refusal ignored;

  PetscFunctionBegin;
  *done = false;
  if (open_ || closed_as_ == Storage::arrays) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TryClasses(sums, memory, wish, &ignored, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  keep_arrays_ = false; // nobody needed them
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode CapturedStencil::CloseAgain(const Sums<T> &, PetscMemType, const Compression &, bool *);

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

// The index is kept for TryClasses().
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
  if (!keep_arrays_ && (storage_ != Storage::arrays || !all_are_set_)) PetscCall(DropIdleArrays());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
