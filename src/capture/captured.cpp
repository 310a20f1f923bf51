#include "capture/captured.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "capture/constant_star.hpp"
#include "capture/kernels.hpp"

namespace shellac {

// ---- slots ---------------------------------------------------------------------------------------------------------

CapturedStencil::CapturedStencil(const Patch &patch, std::shared_ptr<const Arms> arms, VecType type)
    : patch_(patch), arms_(std::move(arms)), vec_type_(type), arrays_(slots(), NULL), values_(slots(), nullptr) {
  // rows near an end differ from those inside by the ends of their arms, and by the ends of arms of those they meet
  for (int a = 0; a < 3; a++) depth_[a] = patch.beyond[a] == Beyond::around ? 0 : patch.width + 1;
  use_slots({});
}

PetscErrorCode CapturedStencil::Destroy() {
  PetscFunctionBegin;
  if (open_)
    for (size_t s = 0; s < arrays_.size(); s++) PetscCall(VecRestoreArray(arrays_[s], &values_[s]));
  open_ = false;
  PetscCall(DropArrays());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::DropArrays() {
  PetscFunctionBegin;
  for (Vec &array : arrays_) PetscCall(VecDestroy(&array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::MakeArray(Vec *array) const {
  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, array));
  PetscCall(VecSetSizes(*array, (PetscInt)point_count(), PETSC_DETERMINE));
  PetscCall(VecSetType(*array, vec_type_.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CapturedStencil::use_slots(const std::vector<int> &used) {
  const PetscInt dof = patch_.dof;
  used_ = used;
  place_.assign(slots(), -1);
  auto &slot = slot_.change();
  auto &offset = offset_.change();
  auto &first = first_.change();
  auto &diagonal = diagonal_.change();
  slot.clear();
  for (PetscInt &reach : reach_) reach = 0;
  offset.clear();
  first.assign(1, 0);
  diagonal.assign((size_t)(dof * dof), -1);
  for (PetscInt r = 0; r < dof; r++) {
    for (size_t n = first.back(); n < used.size(); n++) {
      const int      arm = used[n] / (int)dof % arms_->count();
      const PetscInt c = used[n] % dof, *step = arms_->step(arm);
      if (used[n] / (int)dof / arms_->count() != r) break;
      place_[used[n]] = (int)n;
      for (int a = 0; a < 3; a++) reach_[a] = PetscMax(reach_[a], PetscAbs(step[a]));
      slot.push_back({{step[0], step[1], step[2]}, c});
      offset.push_back(
          ((PetscInt64)step[0] + (PetscInt64)patch_.size[0] * (step[1] + (PetscInt64)patch_.size[1] * step[2])) * dof +
          c);
      if (arm == arms_->center()) diagonal[r * dof + c] = (int)n;
    }
    first.push_back((int)slot.size());
  }
  shape_ = 0;
  if (dof > 1) return;
  const auto is = [&](auto shape) {
    using Shape = decltype(shape);
    bool same = (int)slot.size() == Shape::count;
    for (int n = 0; same && n < Shape::count; n++)
      for (int a = 0; a < 3; a++) same = same && slot[n].step[a] == Shape::step(n, a);
    return same;
  };
  const int dim = arms_->dim();
  if (dim == 1 ? is(WholeStencil<1, false>{}) : dim == 2 ? is(WholeStencil<2, false>{}) : is(WholeStencil<3, false>{}))
    shape_ = 1;
  else if (dim == 2 ? is(WholeStencil<2, true>{}) : dim == 3 && is(WholeStencil<3, true>{}))
    shape_ = 2;
}

std::vector<int> CapturedStencil::whole(std::vector<int> used, bool box_too) const {
  if (patch_.dof > 1) return used;
  const auto reach = [&](int slot) {
    const PetscInt *d = arms_->step(slot);
    PetscInt        most = 0;
    for (int a = 0; a < 3; a++) most = PetscMax(most, PetscAbs(d[a]));
    return most;
  };
  const auto on_star = [&](int slot) {
    const PetscInt *d = arms_->step(slot);
    return reach(slot) <= 1 && (d[0] != 0) + (d[1] != 0) + (d[2] != 0) <= 1;
  };
  const auto on_box = [&](int slot) { return reach(slot) <= 1; };
  const bool star = std::all_of(used.begin(), used.end(), on_star),
             box = box_too && std::all_of(used.begin(), used.end(), on_box);
  if (!star && !box) return used;
  used.clear();
  for (int slot = 0; slot < slots(); slot++)
    if (star ? on_star(slot) : on_box(slot)) used.push_back(slot);
  return used;
}

bool CapturedStencil::in_domain(const PetscInt p[3], int arm) const {
  for (int a = 0; a < 3; a++) {
    const PetscInt i = patch_.start[a] + p[a] + arms_->step(arm)[a];
    if ((i < 0 || i >= patch_.N[a]) && patch_.beyond[a] != Beyond::around) return false;
  }
  return true;
}

PetscLogDouble CapturedStencil::bytes() const {
  PetscLogDouble sum = (PetscLogDouble)(table_.bytes() + index8_.bytes() + index16_.bytes());
  for (Vec array : arrays_) sum += array ? (PetscLogDouble)(point_count() * sizeof(T)) : 0;
  return sum;
}

// ---- assembly ------------------------------------------------------------------------------------------------------

PetscErrorCode CapturedStencil::Open(T *const **values) {
  PetscFunctionBegin;
  if (!open_) {
    Arrays none;
    PetscCall(Bring(&none));
    for (int s = 0; s < slots(); s++) {
      if (!arrays_[s]) PetscCall(MakeArray(&arrays_[s]));
      PetscCall(VecGetArray(arrays_[s], &values_[s]));
    }
    if (storage_ == Storage::constant)
      for_each_run([&](size_t of_class, const PetscInt[3], size_t at, PetscInt points) {
        const T *rows = table_.host().data() + of_class * table_stride<T>((int)used_.size());
        for (size_t n = 0; n < used_.size(); n++)
          std::fill(values_[used_[n]] + at, values_[used_[n]] + at + points, rows[n]);
        return true;
      });
    else if (storage_ == Storage::indexed)
      for (size_t at = 0; at < point_count(); at++) {
        const T *rows = brought_.rows(patch_, patch_.start, at); // wherever the point is
        for (size_t n = 0; n < used_.size(); n++) values_[used_[n]][at] = rows[n];
      }
    PetscCall(none.Restore());
    open_ = true;
  }
  *values = values_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// How many values from the first on are alike.
static PetscInt count_alike(const PetscScalar *v, PetscInt n, PetscScalar same, PetscReal tolerance) {
  constexpr PetscInt chunk = 64;
  PetscInt           i = 0;
  if (tolerance <= 0)
    for (bool all = true; i + chunk <= n; i += chunk) { // without a branch at each value
      for (PetscInt c = 0; c < chunk; c++) all &= v[i + c] == same;
      if (!all) break;
    }
  while (i < n && (tolerance > 0 ? PetscAbsScalar(v[i] - same) <= tolerance * PetscAbsScalar(same) : v[i] == same)) i++;
  return i;
}

// Calls f(class, first point, its place in an array, points) for the points of a class that are next to each other
// along the first axis, as long as it returns true.
template <class Function> bool CapturedStencil::for_each_run(const Function &f) const {
  Coefficients<T> a = {};
  for (int axis = 0; axis < 3; axis++) a.depth[axis] = depth_[axis];
  const PetscInt nx = a.places(patch_, 0), ny = a.places(patch_, 1), size = patch_.size[0];
  const PetscInt far = patch_.N[0] - depth_[0] - patch_.start[0]; // where the points far from both ends end
  for (PetscInt k = 0; k < patch_.size[2]; k++)
    for (PetscInt j = 0; j < patch_.size[1]; j++) {
      const size_t line = (size_t)nx * (a.place(patch_, 1, j) + (size_t)ny * a.place(patch_, 2, k));
      for (PetscInt i = 0, points; i < size; i += points) {
        const PetscInt place = a.place(patch_, 0, i), p[3] = {i, j, k};
        points = place == depth_[0] && patch_.N[0] > 2 * depth_[0] ? PetscMin(size, far) - i : 1;
        if (!f(line + place, p, patch_.index(i, j, k), points)) return false;
      }
    }
  return true;
}

// Whether all rows of a place are alike: the table then has them. One slot after the other, along its array.
bool CapturedStencil::try_constant(const Compression &wish, Refusal *refusal) {
  Coefficients<T> a = {};
  for (int axis = 0; axis < 3; axis++) a.depth[axis] = depth_[axis];
  const size_t      classes = (size_t)a.places(patch_, 0) * a.places(patch_, 1) * a.places(patch_, 2);
  std::vector<T>    all((size_t)slots() * classes, T(0));
  std::vector<int>  used;
  std::vector<char> seen(classes);

  for (int s = 0; s < slots(); s++) {
    T   *coefficients = all.data() + (size_t)s * classes;
    bool zero = true;
    std::fill(seen.begin(), seen.end(), 0);
    const bool alike = for_each_run([&](size_t of_class, const PetscInt p[3], size_t at, PetscInt points) {
      const T *v = values_[s] + at;
      if (!seen[of_class]) {
        seen[of_class] = 1;
        coefficients[of_class] = v[0];
        zero = zero && v[0] == T(0);
      }
      const PetscInt same = count_alike(v, points, coefficients[of_class], wish.tolerance);
      if (same < points) *refusal = {true, {p[0] + same, p[1], p[2]}};
      return same == points;
    });
    if (!alike) return false;
    if (!zero || on_diagonal(s)) used.push_back(s);
  }
  use_slots(whole(used, true));
  const size_t           stride = table_stride<T>((int)used_.size());
  auto                  &table = table_.change();
  std::vector<const T *> kinds;
  table.resize(classes * stride);
  for (size_t c = 0; c < classes; c++) {
    T *row = &table[c * stride];
    for (size_t n = 0; n < used_.size(); n++) row[n] = all[(size_t)used_[n] * classes + c];
    const auto equal = [&](const T *other) { return std::equal(row, row + stride, other); };
    if (seen[c] && std::none_of(kinds.begin(), kinds.end(), equal)) kinds.push_back(row);
  }
  kinds_ = kinds.size();
  storage_ = Storage::constant;
  return true;
}

// A value's place in a lattice of relative steps, so that values of one place are alike.
static PetscReal rounded(PetscReal x, PetscReal tolerance) {
  int exponent;
  if (tolerance <= 0 || x == 0 || !std::isfinite(x)) return x + 0; // no negative zero
  const PetscReal fraction = std::frexp(x, &exponent), step = tolerance / 2;
  return std::ldexp(std::round(fraction / step) * step, exponent);
}

// Whether there are few kinds of rows: the table then has them, and each point an index.
bool CapturedStencil::try_indexed(const Compression &wish, Refusal *refusal) {
  const size_t     points = point_count(), n = used_.size(), stride = table_stride<T>((int)n), bytes = n * sizeof(T);
  constexpr size_t cache = 256 << 10; // of the table, so that kernels find it in their caches
  // kinds of rows: where nobody asked for this form, only as many as are worth it
  const size_t most =
      !wish.automatic
          ? 65536
          : std::min({(size_t)65536, std::max(points / 8, (size_t)16), std::max(cache / bytes, (size_t)16)});
  std::vector<T>              keys, table, row(n), key(n);
  std::vector<size_t>         buckets(1, SIZE_MAX);
  std::vector<unsigned short> index(points);

  while (buckets.size() < 4 * most) buckets.resize(2 * buckets.size(), SIZE_MAX);
  for (size_t at = 0; at < points; at++) {
    uint64_t hash = 0;
    for (size_t s = 0; s < n; s++) {
      row[s] = values_[used_[s]][at];
      PetscReal parts[2] = {rounded(PetscRealPart(row[s]), wish.tolerance),
                            rounded(PetscImaginaryPart(row[s]), wish.tolerance)};
#if defined(PETSC_USE_COMPLEX)
      key[s] = PetscCMPLX(parts[0], parts[1]);
#else
      key[s] = parts[0];
#endif
      for (PetscReal part : parts) {
        uint64_t word = 0;
        memcpy(&word, &part, std::min(sizeof(word), sizeof(part)));
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
      }
    }
    size_t place = hash & (buckets.size() - 1);
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
  index8_.change().clear();
  index16_.change().clear();
  table_.change().clear();
  storage_ = Storage::arrays;
  done = tries(Storage::constant) && try_constant(wish, refusal);
  if (!done) {
    std::vector<int> used;
    for (int s = 0; s < slots(); s++) {
      const T *v = values_[s];
      if (on_diagonal(s) || std::any_of(v, v + point_count(), [](T value) { return value != T(0); })) used.push_back(s);
    }
    use_slots(whole(used, false));
    done = tries(Storage::indexed) && try_indexed(wish, refusal);
  }
  if (wish.automatic || wish.form == Storage::arrays) *refusal = {};
  for (int s = 0; s < slots(); s++) {
    PetscCall(VecRestoreArray(arrays_[s], &values_[s]));
    if (done || place_[s] < 0) PetscCall(VecDestroy(&arrays_[s]));
  }
  open_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- algebra -------------------------------------------------------------------------------------------------------

PetscErrorCode CapturedStencil::Zero() {
  PetscFunctionBegin;
  if (open_) {
    for (T *values : values_) std::fill(values, values + point_count(), T(0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DropArrays());
  index8_.change().clear();
  index16_.change().clear();
  table_.change().clear();
  storage_ = Storage::arrays;
  use_slots({});
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Scale(T a) {
  PetscFunctionBegin;
  for (T &value : table_.change()) value *= a;
  for (Vec array : arrays_)
    if (array) PetscCall(VecScale(array, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Conjugate() {
  PetscFunctionBegin;
  for (T &value : table_.change()) value = PetscConj(value);
  for (Vec array : arrays_)
    if (array) PetscCall(VecConjugate(array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Shift(T a) {
  PetscFunctionBegin;
  for (PetscInt r = 0; r < patch_.dof; r++) {
    const int s = slot(arms_->center(), r, r);
    if (storage_ != Storage::arrays) {
      auto &table = table_.change();
      for (size_t at = place_[s]; at < table.size(); at += table_stride<T>((int)used_.size())) table[at] += a;
    } else {
      if (!arrays_[s]) { // of a zero operator
        std::vector<int> used = used_;
        used.insert(std::upper_bound(used.begin(), used.end(), s), s);
        PetscCall(MakeArray(&arrays_[s]));
        use_slots(used);
      }
      PetscCall(VecShift(arrays_[s], a));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Axpy(T a, CapturedStencil &x, const Compression &wish) {
  Arrays    none;
  Refusal   refusal;
  T *const *values;

  PetscFunctionBegin;
  if (storage_ == Storage::constant && x.storage_ == Storage::constant && used_ == x.used_) {
    auto &table = table_.change();
    for (size_t n = 0; n < table.size(); n++) table[n] += a * x.table_.host()[n];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (storage_ == Storage::arrays && x.storage_ == Storage::arrays) {
    std::vector<int> used = used_;
    for (int s : x.used_) {
      if (!arrays_[s]) {
        used.insert(std::upper_bound(used.begin(), used.end(), s), s);
        PetscCall(MakeArray(&arrays_[s]));
      }
      PetscCall(VecAXPY(arrays_[s], a, x.arrays_[s]));
    }
    use_slots(used);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Open(&values));
  PetscCall(x.Bring(&none));
  for_each_on_host(patch_.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = patch_.index(i, j, k);
    const T       *rows = x.brought_.rows(patch_, p, at);
    for (size_t n = 0; n < x.used_.size(); n++) values[x.used_[n]][at] += a * x.brought_.value(rows, (int)n, at);
  });
  PetscCall(none.Restore());
  PetscCall(Close(wish, &refusal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::CopyTo(CapturedStencil *to) {
  PetscFunctionBegin;
  PetscCall(to->Zero());
  to->use_slots(used_);
  to->storage_ = storage_;
  to->kinds_ = kinds_;
  to->table_ = table_;
  to->index8_ = index8_;
  to->index16_ = index16_;
  for (size_t s = 0; s < arrays_.size(); s++) {
    if (!arrays_[s]) continue;
    PetscCall(VecDuplicate(arrays_[s], &to->arrays_[s]));
    PetscCall(VecCopy(arrays_[s], to->arrays_[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- products ------------------------------------------------------------------------------------------------------

PetscErrorCode CapturedStencil::Bring(Arrays *arrays) {
  Coefficients<T> &a = brought_;

  PetscFunctionBegin;
  a.storage = storage_;
  a.count = (int)used_.size();
  for (int axis = 0; axis < 3; axis++) a.depth[axis] = depth_[axis], a.reach[axis] = reach_[axis];
  const PetscMemType memory = arrays->memory();
  PetscCall(slot_.Get(memory, &a.slot));
  PetscCall(offset_.Get(memory, &a.offset));
  PetscCall(first_.Get(memory, &a.first));
  PetscCall(diagonal_.Get(memory, &a.diagonal));
  PetscCall(table_.Get(memory, &a.table));
  PetscCall(index8_.Get(memory, &a.index8));
  PetscCall(index16_.Get(memory, &a.index16));
  a.array = nullptr;
  if (storage_ == Storage::arrays && !open_) {
    std::vector<const T *> pointers(used_.size());
    for (size_t n = 0; n < used_.size(); n++) PetscCall(arrays->ReadBeside(arrays_[used_[n]], &pointers[n]));
    if (pointers != pointers_.host()) pointers_.change() = pointers;
    PetscCall(pointers_.Get(memory, &a.array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

Box CapturedStencil::inner() const {
  Box box = patch_.interior();
  for (int a = 0; a < arms_->dim(); a++) {
    box.lo[a] = PetscMax(box.lo[a], reach_[a]);
    box.hi[a] = PetscMin(box.hi[a], patch_.size[a] - reach_[a]);
    if (storage_ != Storage::constant) continue; // of the class that is far from all ends
    const PetscInt D = depth_[a], lo = patch_.N[a] <= 2 * D ? patch_.N[a] : D;
    box.lo[a] = PetscMax(box.lo[a], lo - patch_.start[a]);
    box.hi[a] = PetscMin(box.hi[a], patch_.N[a] - D - patch_.start[a]);
  }
  return box;
}

PetscErrorCode CapturedStencil::interior(PetscMemType memory, const Field<T> &u, Form form, const T *b, T *y) const {
  const CapturedRow<T> row{patch_, brought_};

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const Box box = patch_.interior(), inside = inner();
    if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
    const T *const *arrays = pointers_.host().data();
    const T        *constants = nullptr;
    if (storage_ == Storage::constant && inside.points())
      constants = table_.host().data() + (brought_.rows(patch_, inside.lo, 0) - brought_.table);
    const int dim = arms_->dim();
    if (shape_ == 1 && storage_ == Storage::constant && inside.points() && dim > 1) {
      ConstantStar<T> formula;
      formula.center = constants[dim];
      for (int n = 0; n < WholeStencil<3, false>::count && n <= 2 * dim; n++)
        for (int axis = 0; axis < dim; axis++) {
          const PetscInt step = slot_.host()[n].step[axis];
          if (step) formula.arm[axis][step > 0 ? UPPER : LOWER] = constants[n];
        }
      const Rows<T, ConstantStar> rows{patch_, formula, T(0), T(0), nullptr};
      const captured::Apply<T>    point{row, u, form, b, y};
      if (dim == 2)
        PetscCall((launch_apply<2>(rows, point, u, form, b, box, inside, y)));
      else
        PetscCall((launch_apply<3>(rows, point, u, form, b, box, inside, y)));
    } else if (shape_ == 0 || (storage_ == Storage::constant && !inside.points()))
      PetscCall(launch_slots(row, u, form, b, box, inside, y));
    else if (dim == 1)
      PetscCall((launch_whole_stencil<1, false>(row, constants, arrays, u, form, b, box, inside, y)));
    else if (dim == 2 && shape_ == 1)
      PetscCall((launch_whole_stencil<2, false>(row, constants, arrays, u, form, b, box, inside, y)));
    else if (dim == 2)
      PetscCall((launch_whole_stencil<2, true>(row, constants, arrays, u, form, b, box, inside, y)));
    else if (shape_ == 1)
      PetscCall((launch_whole_stencil<3, false>(row, constants, arrays, u, form, b, box, inside, y)));
    else
      PetscCall((launch_whole_stencil<3, true>(row, constants, arrays, u, form, b, box, inside, y)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  apply_captured_on_host(row, u, form, b, patch_.interior(), y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::points(PetscMemType memory, const Boxes &boxes, const Field<T> &u, Form form,
                                       const T *b, T *y) const {
  return for_each(memory, boxes, captured::Apply<T>{{patch_, brought_}, u, form, b, y});
}

PetscErrorCode CapturedStencil::rows(PetscMemType memory, RowProperty property, T *out) const {
  Boxes all;
  all.add(patch_.all());
  return for_each(memory, all, captured::Property<T>{{patch_, brought_}, property, out});
}

// ---- sweeps --------------------------------------------------------------------------------------------------------

static bool by_parity(const Arms &arms) {
  return arms.width() == 1 && !arms.box();
}

int CapturedStencil::colours() const {
  int colours = by_parity(*arms_) ? 2 : 1;
  if (!by_parity(*arms_))
    for (int a = 0; a < arms_->dim(); a++) colours *= (int)arms_->width() + 1;
  return colours;
}

PetscErrorCode CapturedStencil::relax(PetscMemType memory, int colour, const Field<T> &field, PetscReal omega, T shift,
                                      const T *b, T *x) const {
  const PetscInt           period = arms_->width() + 1;
  captured::RelaxColour<T> point{{{patch_, brought_}, field, omega, shift, b, x}, period, {colour, 0, 0}, true};
  Boxes                    boxes;
  if (!by_parity(*arms_)) {
    point.parity = false;
    for (int a = 0; a < 3; a++) {
      point.colour[a] = a < arms_->dim() ? colour % period : 0;
      colour /= (int)period;
    }
  }
  boxes.add(point.box());
  return for_each(memory, boxes, point);
}

void CapturedStencil::sweep_in_order(bool backward, const Field<T> &field, PetscReal omega, T shift, const T *b,
                                     T *x) const {
  const captured::Relax<T> relax{{patch_, brought_, true}, field, omega, shift, b, x};
  const PetscInt64         points = (PetscInt64)point_count();
  for (PetscInt64 n = 0; n < points; n++) {
    PetscInt p[3];
    patch_.all().point(backward ? points - 1 - n : n, p);
    relax.at_point(p, backward);
  }
}

void CapturedStencil::GetSlot(int slot, T *values) const {
  const int n = place_[slot];
  for_each_on_host(patch_.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = patch_.index(i, j, k);
    values[at] = n < 0 ? T(0) : brought_.value(brought_.rows(patch_, p, at), n, at);
  });
}

// ---- entries -------------------------------------------------------------------------------------------------------

void CapturedStencil::row(const PetscInt p[3], PetscInt r, std::vector<Entry> *entries) const {
  const size_t at = patch_.index(p[0], p[1], p[2]);
  const T     *rows = brought_.rows(patch_, p, at);
  entries->clear();
  for (int arm = 0; arm < arms_->count(); arm++) {
    if (!in_domain(p, arm)) continue;
    const PetscInt *step = arms_->step(arm);
    for (PetscInt c = 0; c < patch_.dof; c++) {
      const int n = place_[slot(arm, r, c)];
      entries->push_back(
          {{p[0] + step[0], p[1] + step[1], p[2] + step[2]}, c, n < 0 ? T(0) : brought_.value(rows, n, at)});
    }
  }
}

} // namespace shellac
