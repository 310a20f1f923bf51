// What sweeps on the host read: rows of points with margins, and rows of coefficients.

#include "capture/sweeps_on_host.hpp"

#include <algorithm>
#include <cstring>

namespace shellac {

// ---- rows with margins ---------------------------------------------------------------------------------------------

void PaddedField::shape(const Patch &patch, const PetscInt margin[3]) {
  bool same = dof_ == patch.dof;
  patch_ = &patch;
  for (int a = 0; a < 3; a++) {
    same = same && margin_[a] == margin[a] && size_[a] == patch.size[a];
    margin_[a] = margin[a];
    size_[a] = patch.size[a];
    closed_[a] = margin[a] > 0 && patch.periodic[a] && patch.size[a] == patch.N[a];
  }
  if (same) return;
  dof_ = patch.dof;
  component_ = size_[0] + 2 * margin_[0];
  stride_[1] = component_ * dof_;
  stride_[2] = stride_[1] * (size_[1] + 2 * margin_[1]);
  start_ = margin_[0] + margin_[1] * stride_[1] + margin_[2] * stride_[2];
  values_.assign((size_t)(stride_[2] * (size_[2] + 2 * margin_[2])), T(0));
  clear_ = true;
}

PetscInt64 PaddedField::offset(const Slot &slot) const {
  return slot.step[0] + slot.step[1] * stride_[1] + slot.step[2] * stride_[2] + slot.c * component_;
}

void PaddedField::clear() {
  std::fill(values_.begin(), values_.end(), T(0));
  clear_ = true;
}

void PaddedField::clear_margins() {
  if (!clear_) clear();
}

void PaddedField::load(const T *u) {
  for (PetscInt k = 0; k < size_[2]; k++)
    for (PetscInt j = 0; j < size_[1]; j++) {
      const T *from = u + patch_->index(0, j, k) * dof_;
      T       *to = row(j, k);
      if (dof_ == 1)
        std::copy(from, from + size_[0], to);
      else
        for (PetscInt c = 0; c < dof_; c++)
          for (PetscInt i = 0; i < size_[0]; i++) to[c * component_ + i] = from[i * dof_ + c];
    }
}

void PaddedField::load_halo(const Field<T> &field) {
  for (int d = 0; d < Direction::count; d++) {
    const Direction to = Direction::at(d);
    Box             box;
    bool            from_halo = field.halo[d] != nullptr;
    for (int a = 0; a < 3; a++) {
      box.lo[a] = to.d[a] < 0 ? -margin_[a] : to.d[a] > 0 ? size_[a] : 0;
      box.hi[a] = to.d[a] < 0 ? 0 : to.d[a] > 0 ? size_[a] + margin_[a] : size_[a];
      from_halo = from_halo && !(to.d[a] && closed_[a]);
    }
    if (!from_halo) continue;
    clear_ = false;
    PetscInt p[3];
    for (p[2] = box.lo[2]; p[2] < box.hi[2]; p[2]++)
      for (p[1] = box.lo[1]; p[1] < box.hi[1]; p[1]++)
        for (PetscInt c = 0; c < dof_; c++) {
          T *values = row(p[1], p[2]) + c * component_;
          for (p[0] = box.lo[0]; p[0] < box.hi[0]; p[0]++) values[p[0]] = field.value(*patch_, p, c);
        }
  }
}

void PaddedField::close_ends(T *row) const {
  if (!closed_[0]) return;
  for (PetscInt c = 0; c < dof_; c++, row += component_)
    for (PetscInt i = 1; i <= margin_[0]; i++) {
      row[-i] = row[size_[0] - i];
      row[size_[0] + i - 1] = row[i - 1];
    }
}

void PaddedField::close_row(PetscInt j, PetscInt k) {
  if (!closed_[1] && !closed_[2]) return;
  const T *from = row(j, k) - margin_[0];
  for (PetscInt z = -1; z <= 1; z++)
    for (PetscInt y = -1; y <= 1; y++) {
      const PetscInt to_j = j + y * size_[1], to_k = k + z * size_[2];
      if ((y && !closed_[1]) || (z && !closed_[2]) || (!y && !z)) continue;
      if (to_j < -margin_[1] || to_j >= size_[1] + margin_[1] || to_k < -margin_[2] || to_k >= size_[2] + margin_[2])
        continue;
      std::copy(from, from + stride_[1], row(to_j, to_k) - margin_[0]);
    }
}

void PaddedField::close() {
  if (!closed()) return;
  clear_ = false;
  for (PetscInt k = -margin_[2]; k < size_[2] + margin_[2]; k++)
    for (PetscInt j = -margin_[1]; j < size_[1] + margin_[1]; j++) close_ends(row(j, k));
  // a closed axis takes the other's halo along
  for (PetscInt k = closed_[2] ? 0 : -margin_[2]; k < size_[2] + (closed_[2] ? 0 : margin_[2]); k++)
    for (PetscInt j = closed_[1] ? 0 : -margin_[1]; j < size_[1] + (closed_[1] ? 0 : margin_[1]); j++) close_row(j, k);
}

// ---- coefficients --------------------------------------------------------------------------------------------------

void CoefficientLines::invalidate() {
  patch_ = nullptr;
}

void CoefficientLines::start(const Patch &patch, const CapturedCoefficients<T> &a, PetscInt most, T shift) {
  const bool   same = patch_ && most == most_ && shift == shift_;
  const size_t size = (size_t)patch.size[0];
  patch_ = &patch;
  a_ = &a;
  line_.resize((size_t)a.count);
  if (same) return;
  most_ = most;
  shift_ = shift;
  inverse_size_ = 0;
  for (PetscInt lo = 0; lo < patch.dof; lo += most)
    inverse_size_ += (size_t)(PetscMin(most, patch.dof - lo) * PetscMin(most, patch.dof - lo));
  inverse_.clear();
  known_.clear();
  if (a.storage == Storage::arrays) {
    const size_t points = (size_t)patch.all().points();
    inverse_.resize(points * inverse_size_);
    for (size_t at = 0; at < points; at++) invert(nullptr, at, &inverse_[at * inverse_size_]);
  } else {
    kind_.resize(size);
    if (a.storage == Storage::indexed) {
      const size_t points = (size_t)patch.all().points();
      known_.resize(a.index8 ? *std::max_element(a.index8, a.index8 + points)
                             : *std::max_element(a.index16, a.index16 + points));
      known_.push_back(0);
      for (size_t kind = 0; kind < known_.size(); kind++) know(kind);
    }
    gathered_.resize((size_t)a.count * size);
    gathered_inverse_.resize(size * inverse_size_);
    for (int s = 0; s < a.count; s++) line_[s] = gathered_.data() + s * size;
    line_inverse_ = gathered_inverse_.data();
  }
}

void CoefficientLines::invert(const T *rows, size_t at, T *inverse) const {
  const captured::Relax<T> relax{{*patch_, *a_}, {}, 1, shift_, nullptr, nullptr};
  for (PetscInt lo = 0; lo < patch_->dof; lo += most_) {
    const PetscInt size = PetscMin(most_, patch_->dof - lo);
    relax.invert(rows, at, lo, size, inverse);
    inverse += size * size;
  }
}

void CoefficientLines::know(size_t kind) {
  if (kind >= known_.size()) known_.resize(kind + 1, 0);
  if (inverse_.size() < known_.size() * inverse_size_) inverse_.resize(known_.size() * inverse_size_);
  if (!known_[kind]) invert(a_->of_class(kind), 0, &inverse_[kind * inverse_size_]);
  known_[kind] = 1;
}

void CoefficientLines::need(const std::vector<int> &slots) {
  needed_ = slots;
  last_[0] = last_[1] = -1;
}

template <class Index> void CoefficientLines::gather(const Index *kind) {
  const PetscInt size = patch_->size[0];
  const size_t   stride = (size_t)table_stride<T>(a_->count);
  for (int s : needed_) {
    T       *to = gathered_.data() + s * (size_t)size;
    const T *from = a_->table + s;
    for (PetscInt i = 0; i < size; i++) to[i] = from[kind[i] * stride];
  }
  T *to = gathered_inverse_.data();
  if (inverse_size_ == 1)
    for (PetscInt i = 0; i < size; i++) to[i] = inverse_[kind[i]];
  else
    for (PetscInt i = 0; i < size; i++, to += inverse_size_)
      std::copy_n(&inverse_[kind[i] * inverse_size_], inverse_size_, to);
}

// index: of the row's points. Often the row before has the same.
template <class Index> void CoefficientLines::gather_changed(const Index *index, PetscInt j, PetscInt k) {
  const bool first = last_[0] < 0;
  if (first || memcmp(index, index - patch_->index(0, j, k) + patch_->index(0, last_[0], last_[1]),
                      (size_t)patch_->size[0] * sizeof(Index)) != 0)
    gather(index);
}

void CoefficientLines::get(PetscInt j, PetscInt k) {
  const CapturedCoefficients<T> &a = *a_;
  const size_t                   at = patch_->index(0, j, k);
  if (a.storage == Storage::arrays) {
    for (int s : needed_) line_[s] = a.array[s] + at;
    line_inverse_ = inverse_.data() + at * inverse_size_;
    return;
  }
  if (a.storage == Storage::constant) {
    const PetscInt nx = a.places(*patch_, 0), ny = a.places(*patch_, 1);
    j = a.place(*patch_, 1, j);
    k = a.place(*patch_, 2, k);
    if (j == last_[0] && k == last_[1]) return;
    for (PetscInt i = 0; i < patch_->size[0]; i++) {
      kind_[i] = (size_t)nx * (j + (size_t)ny * k) + a.place(*patch_, 0, i);
      know(kind_[i]);
    }
    gather(kind_.data());
  } else if (a.index8)
    gather_changed(a.index8 + at, j, k);
  else
    gather_changed(a.index16 + at, j, k);
  last_[0] = j;
  last_[1] = k;
}

} // namespace shellac
