// Opening a captured operator for changes of its coefficients, on the host or on the GPU.

#include <algorithm>

#include "capture/captured.hpp"

namespace shellac {

// The rows of points, from their classes to the arrays.
template <class T> struct ExpandRows {
  CapturedCoefficients<T> from;
  OpenCoefficients<T>     to;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = to.patch.index(p[0], p[1], p[2]);
    const T     *rows[most];
    bool         same = true;
    for (int i = 0; i < n; i++) {
      const PetscInt q[3] = {p[0] + i, p[1], p[2]};
      rows[i] = from.rows(to.patch, q, at + i);
      same = same && rows[i] == rows[0];
    }
    for (int s = 0; s < to.count(); s++) {
      if (from.used[s] < 0 || !to.values[s]) continue;
      T *values = to.values[s] + at;
      if (same)
        fill_run(values, n, rows[0][from.used[s]]);
      else
        for (int i = 0; i < n; i++) values[i] = rows[i][from.used[s]];
    }
  }
};

bool CapturedStencil::made_for_device() const {
  return !bound_ && vec_type_.find("cuda") != std::string::npos;
}

PetscErrorCode CapturedStencil::BindToHost(bool bound) {
  PetscFunctionBegin;
  if (bound == bound_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckNoneLent(comm_));
  if (open_) PetscCall(MoveToHost());
  bound_ = bound;
  if (!open_ && storage_ != Storage::arrays) PetscCall(DropArrays()); // kept for later
  for (Vec array : arrays_)
    if (array) PetscCall(VecBindToCPU(array, bound ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::GetArray(int slot, bool is_written) {
  const Vec    array = arrays_[slot];
  PetscMemType memory = PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  if (PetscMemTypeHost(memory_))
    PetscCall((is_written ? VecGetArrayWrite : VecGetArray)(array, &values_[slot]));
  else
    PetscCall((is_written ? VecGetArrayWriteAndMemType : VecGetArrayAndMemType)(array, &values_[slot], &memory));
  PetscCheck(PetscMemTypeHost(memory) == PetscMemTypeHost(memory_), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "an array of coefficients is not on the GPU");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::RestoreArray(int slot) {
  PetscFunctionBegin;
  if (!values_[slot]) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscMemTypeHost(memory_))
    PetscCall(VecRestoreArray(arrays_[slot], &values_[slot]));
  else
    PetscCall(VecRestoreArrayAndMemType(arrays_[slot], &values_[slot]));
  values_[slot] = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::MoveToHost() {
  std::vector<int> present;

  PetscFunctionBegin;
  if (PetscMemTypeHost(memory_)) PetscFunctionReturn(PETSC_SUCCESS);
  for (int s = 0; s < slots(); s++)
    if (values_[s]) present.push_back(s);
  for (int s : present) PetscCall(RestoreArray(s));
  memory_ = PETSC_MEMTYPE_HOST;
  for (int s : present) PetscCall(GetArray(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Need(int slot, bool zero) {
  PetscFunctionBegin;
  if (values_[slot]) PetscFunctionReturn(PETSC_SUCCESS);
  if (lent(slot)) PetscCall(CheckNoneLent(PETSC_COMM_SELF)); // perhaps of one rank's MatSetValues()
  const bool present = arrays_[slot] != NULL;
  if (!present) PetscCall(MakeArray(&arrays_[slot])); // zero
  PetscCall(GetArray(slot, present));
  if (!present || !zero) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscMemTypeHost(memory_))
    std::fill_n(values_[slot], point_count(), T(0));
  else
    PetscCall(DeviceZero(values_[slot], point_count() * sizeof(T)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::NeedAll() {
  PetscFunctionBegin;
  for (int s = 0; s < slots(); s++) PetscCall(Need(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::NeedAllToSet(bool again) {
  PetscFunctionBegin;
  all_are_set_ = again;
  for (int s = 0; s < slots(); s++) PetscCall(Need(s, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// It may be in the table to complete a star.
bool CapturedStencil::zero_in_table(int slot) const {
  const std::vector<T> &table = table_.host();
  const size_t          stride = table_stride<T>((int)used_.size());
  for (size_t at = (size_t)place(slot); at < table.size(); at += stride)
    if (table[at] != T(0)) return false;
  return true;
}

PetscErrorCode CapturedStencil::Open(T *const **values, PetscMemType memory) {
  PetscFunctionBegin;
  by_place_ = false;
  if (!open_) {
    const bool compressed = storage_ != Storage::arrays;
    memory_ = made_for_device() ? memory : PETSC_MEMTYPE_HOST;
    for (int s : used_) {
      if (!compressed)
        PetscCall(GetArray(s));
      else if (!zero_in_table(s))
        PetscCall(Need(s, false));
    }
    if (compressed) PetscCall(Expand());
    open_ = true;
  }
  if (PetscMemTypeHost(memory)) PetscCall(MoveToHost());
  *values = values_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Expand() {
  ExpandRows<T> expand;

  PetscFunctionBegin;
  PetscCall(GetClosed(memory_, &expand.from));
  PetscCall(GetOpen(&expand.to));
  PetscCall(shellac::for_each_run(memory_, patch_.all(), expand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::GetOpen(OpenCoefficients<T> *open) {
  PetscFunctionBegin;
  if (values_ != open_values_.host()) open_values_.change() = values_;
  open->patch = patch_;
  open->arms = arms_->count();
  open->center = arms_->center();
  PetscCall(every_slot_.Get(memory_, &open->slots));
  PetscCall(open_values_.Get(memory_, &open->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Zero() {
  PetscFunctionBegin;
  PetscCall(CheckNoneLent(comm_));
  if (open_) { // taken again by those who need them
    for (int s = 0; s < slots(); s++) PetscCall(RestoreArray(s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ForgetRows();
  by_place_ = false;
  use_slots({});
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
