#include "capture/captured.hpp"

#include <algorithm>

namespace shellac {

// ---- slots ---------------------------------------------------------------------------------------------------------

CapturedStencil::CapturedStencil(MPI_Comm comm, const Patch &patch, std::shared_ptr<const Arms> arms, VecType type,
                                 PetscInt depth)
    : comm_(comm), patch_(patch), arms_(std::move(arms)), vec_type_(type), arrays_(slots(), NULL),
      values_(slots(), nullptr) {
  for (int a = 0; a < 3; a++) depth_[a] = patch.periodic[a] || a >= arms_->dim() ? 0 : depth;
  use_slots({});
  auto &every = every_slot_.change();
  for (int s = 0; s < slots(); s++) {
    const PetscInt *step = arms_->step(s / (int)patch_.dof % arms_->count());
    every.push_back({{step[0], step[1], step[2]}, s % patch_.dof});
  }
}

std::unique_ptr<CapturedStencil> CapturedStencil::NewLike() const {
  const PetscInt depth = PetscMax(depth_[0], PetscMax(depth_[1], depth_[2]));
  auto           made = std::make_unique<CapturedStencil>(comm_, patch_, arms_, vec_type_.c_str(), depth);
  made->explicit_zeros_ = explicit_zeros_;
  made->bound_ = bound_;
  return made;
}

PetscErrorCode CapturedStencil::Destroy() {
  PetscFunctionBegin;
  for (int s = 0; s < slots(); s++) PetscCall(RestoreArray(s));
  lent_.clear();
  open_ = keep_arrays_ = false;
  PetscCall(DropArrays());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::DropArrays() {
  PetscFunctionBegin;
  for (Vec &array : arrays_) PetscCall(VecDestroy(&array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::DropIdleArrays() {
  PetscFunctionBegin;
  if (open_) PetscFunctionReturn(PETSC_SUCCESS); // all are in use
  for (int s = 0; s < slots(); s++)
    if (idle(s)) PetscCall(VecDestroy(&arrays_[s]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::MakeArray(Vec *array) const {
  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, array));
  PetscCall(VecSetSizes(*array, (PetscInt)point_count(), PETSC_DETERMINE));
  PetscCall(VecSetType(*array, vec_type_.c_str()));
  if (bound_) PetscCall(VecBindToCPU(*array, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CapturedStencil::use_slots(const std::vector<int> &used) {
  const PetscInt dof = patch_.dof;
  if (!place_.host().empty() && used == used_) return;
  used_ = used;
  auto &place = place_.change();
  auto &slot = slot_.change();
  auto &offset = offset_.change();
  auto &first = first_.change();
  auto &diagonal = diagonal_.change();
  place.assign(slots(), -1);
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
      place[used[n]] = (int)n;
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
  with_dim(arms_->dim(), [&](auto d) {
    constexpr int dim = decltype(d)::value;
    shape_ = is(WholeStencil<dim, false>{}) ? 1 : is(WholeStencil<dim, true>{}) ? 2 : 0;
  });
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
  const PetscInt *step = arms_->step(arm), q[3] = {p[0] + step[0], p[1] + step[1], p[2] + step[2]};
  return patch_.in_domain(q);
}

PetscLogDouble CapturedStencil::bytes() const {
  return (PetscLogDouble)(table_.bytes() + index8_.bytes() + index16_.bytes()) + array_bytes(false);
}

PetscLogDouble CapturedStencil::array_bytes(bool of_idle) const {
  size_t count = 0;
  for (int s = 0; s < slots(); s++) count += arrays_[s] && idle(s) == of_idle;
  return (PetscLogDouble)(count * point_count() * sizeof(T));
}

// ---- rows by their place -------------------------------------------------------------------------------------------

size_t CapturedStencil::classes() const {
  size_t     count = 1;
  const auto a = places();
  for (int axis = 0; axis < 3; axis++) count *= (size_t)a.places(patch_, axis);
  return count;
}

void CapturedStencil::point_of_class(size_t of_class, PetscInt i[3]) const {
  const auto a = this->places();
  for (int axis = 0; axis < 3; axis++) {
    const PetscInt places = a.places(patch_, axis), place = (PetscInt)(of_class % (size_t)places), D = depth_[axis];
    i[axis] = patch_.N[axis] <= 2 * D || place <= D ? place : patch_.N[axis] - places + place;
    of_class /= (size_t)places;
  }
}

bool CapturedStencil::has_class(size_t of_class) const {
  const auto a = this->places();
  bool       has = true;
  for (int axis = 0; axis < 3; axis++) {
    const PetscInt places = a.places(patch_, axis), place = (PetscInt)(of_class % (size_t)places);
    of_class /= (size_t)places;
    has = has && a.place(patch_, axis, 0) <= place && place <= a.place(patch_, axis, patch_.size[axis] - 1);
  }
  return has;
}

void CapturedStencil::fill_table(const std::vector<T> &all, size_t count, bool box_too) {
  std::vector<int> used;
  for (int s = 0; s < slots(); s++) {
    const auto first = all.begin() + (ptrdiff_t)((size_t)s * count);
    if (on_diagonal(s) || std::any_of(first, first + (ptrdiff_t)count, [](T value) { return value != T(0); }))
      used.push_back(s);
  }
  use_slots(whole(used, box_too));
  const size_t stride = table_stride<T>((int)used_.size());
  auto        &table = change_table();
  table.assign(count * stride, T(0));
  for (size_t n = 0; n < used_.size(); n++)
    for (size_t c = 0; c < count; c++) table[c * stride + n] = all[(size_t)used_[n] * count + c];
}

void CapturedStencil::make_table(const std::vector<T> &all) {
  const size_t           count = classes();
  std::vector<const T *> kinds;
  fill_table(all, count, true);
  const size_t stride = table_stride<T>((int)used_.size());
  for (size_t c = 0; c < count; c++) {
    const T   *row = &table_.host()[c * stride];
    const auto equal = [&](const T *other) { return std::equal(row, row + stride, other); };
    if (has_class(c) && std::none_of(kinds.begin(), kinds.end(), equal)) kinds.push_back(row);
  }
  kinds_ = kinds.size();
  storage_ = Storage::constant;
}

// The entry that p's row has at q is the one that q's row of the transpose has at p. The classes are deep enough that
// the rows of one have neighbours of one class each.
void CapturedStencil::TransposeByPlace() {
  const size_t   count = classes(), stride = table_stride<T>((int)used_.size()), dof = (size_t)patch_.dof;
  const auto     a = places();
  std::vector<T> all((size_t)slots() * count, T(0));
  for (size_t c = 0; c < count; c++) {
    PetscInt i[3];
    point_of_class(c, i);
    for (int arm = 0; arm < arms_->count(); arm++) {
      PetscInt q[3];
      bool     inside = true;
      for (int axis = 0; axis < 3; axis++) {
        const PetscInt N = patch_.N[axis];
        q[axis] = i[axis] + arms_->step(arm)[axis];
        if (patch_.periodic[axis]) q[axis] = (q[axis] % N + N) % N;
        inside = inside && q[axis] >= 0 && q[axis] < N;
        q[axis] -= patch_.start[axis];
      }
      if (!inside) continue;
      const size_t of_neighbour = a.class_of(patch_, q);
      const int    back = arms_->opposite(arm);
      for (size_t r = 0; r < dof; r++)
        for (size_t v = 0; v < dof; v++) {
          const int n = place(slot(back, (PetscInt)v, (PetscInt)r));
          if (n >= 0)
            all[(size_t)slot(arm, (PetscInt)r, (PetscInt)v) * count + c] = table_.host()[of_neighbour * stride + n];
        }
    }
  }
  make_table(all);
}

// ---- algebra -------------------------------------------------------------------------------------------------------

PetscErrorCode CapturedStencil::Scale(T a) {
  PetscFunctionBegin;
  for (T &value : change_table()) value *= a;
  if (storage_ == Storage::arrays)
    for (int s : used_) PetscCall(VecScale(arrays_[s], a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Conjugate() {
  PetscFunctionBegin;
  for (T &value : change_table()) value = PetscConj(value);
  if (storage_ == Storage::arrays)
    for (int s : used_) PetscCall(VecConjugate(arrays_[s]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Shift(T a) {
  PetscFunctionBegin;
  for (PetscInt r = 0; r < patch_.dof; r++) {
    const int s = slot(arms_->center(), r, r);
    if (storage_ != Storage::arrays) {
      auto &table = change_table();
      for (size_t at = place(s); at < table.size(); at += table_stride<T>((int)used_.size())) table[at] += a;
    } else {
      PetscCall(Use(s)); // of a zero operator
      PetscCall(VecShift(arrays_[s], a));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Use(int slot) {
  std::vector<int> used = used_;

  PetscFunctionBegin;
  if (place(slot) >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!arrays_[slot]) PetscCall(MakeArray(&arrays_[slot]));
  PetscCall(VecSet(arrays_[slot], 0));
  used.insert(std::upper_bound(used.begin(), used.end(), slot), slot);
  use_slots(used);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The rows of one operator, times a, onto the arrays of another.
template <class T> struct AddRows {
  OpenCoefficients<T>     to;
  CapturedCoefficients<T> x;
  T                       a;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = to.patch.index(i, j, k);
    const T       *rows = x.rows(to.patch, p, at);
    for (int s = 0; s < to.count(); s++)
      if (x.used[s] >= 0) to.values[s][at] += a * x.value(rows, x.used[s], at);
  }
};

PetscErrorCode CapturedStencil::Axpy(T a, CapturedStencil &x, const Compression &wish) {
  const bool                       was_in_arrays = in_arrays();
  std::unique_ptr<PreparedCapture> other;
  Refusal                          refusal;
  AddRows<T>                       add;
  T *const                        *values;

  PetscFunctionBegin;
  if (storage_ == Storage::constant && x.storage_ == Storage::constant &&
      std::equal(depth_, depth_ + 3, x.depth_)) { // wherever a class is, it is the same in both
    const size_t   count = classes();
    std::vector<T> all((size_t)slots() * count, T(0));
    const auto     add = [&](T factor, const CapturedStencil &from) {
      const size_t stride = table_stride<T>((int)from.used_.size());
      for (size_t n = 0; n < from.used_.size(); n++)
        for (size_t c = 0; c < count; c++)
          all[(size_t)from.used_[n] * count + c] += factor * from.table_.host()[c * stride + n];
    };
    add(1, *this);
    add(a, x);
    make_table(all);
    by_place_ = by_place_ && x.by_place_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (storage_ == Storage::arrays && x.storage_ == Storage::arrays) {
    for (int s : x.used_) {
      PetscCall(Use(s));
      PetscCall(VecAXPY(arrays_[s], a, x.arrays_[s]));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Open(&values, x.made_for_device() ? home() : PETSC_MEMTYPE_HOST));
  for (int s : x.used_) PetscCall(Need(s));
  Arrays beside(memory_);
  PetscCall(x.Prepare(&beside, &other));
  PetscCall(GetOpen(&add.to));
  add.x = other->a_;
  add.a = a;
  PetscCall(ForAllPoints(add));
  PetscCall(beside.Restore());
  if (was_in_arrays)
    PetscCall(CloseAsArrays());
  else
    PetscCall(Close(wish, &refusal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::CopyTo(CapturedStencil *to) {
  PetscFunctionBegin;
  PetscCall(to->Zero());
  to->use_slots(used_);
  to->storage_ = storage_;
  to->kinds_ = kinds_;
  to->by_place_ = by_place_;
  for (int a = 0; a < 3; a++) to->depth_[a] = depth_[a];
  to->look_.class_points.change().clear();
  to->change_table() = table_.host();
  PetscCall(to->index8_.CopyFrom(&index8_));
  PetscCall(to->index16_.CopyFrom(&index16_));
  PetscCall(to->kind_points_.CopyFrom(&kind_points_));
  for (int s = 0; s < slots(); s++) {
    const bool stored = storage_ == Storage::arrays && place(s) >= 0;
    if (!stored) PetscCall(VecDestroy(&to->arrays_[s]));
    if (stored && !to->arrays_[s]) PetscCall(VecDuplicate(arrays_[s], &to->arrays_[s]));
    if (stored) PetscCall(VecCopy(arrays_[s], to->arrays_[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
