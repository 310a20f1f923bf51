#include "grid/halo.hpp"

#include <algorithm>

#include "device/memory.hpp"
#include "grid/device_halo.hpp"
#include "grid/options.hpp"
#include "options/agreement.hpp"
#include "shellac.h"

namespace shellac {

PetscReal halo_timeout = 300;

static PetscErrorCode set_from_options(MPI_Comm comm) {
  PetscReal seconds = halo_timeout;
  PetscBool set = PETSC_FALSE;

  PetscFunctionBegin;
  PetscOptionsBegin(comm, NULL, "Halo options", "ShellacSetHaloTimeout");
  PetscCall(CheckOptionsAgree(PetscOptionsObject, "-shellac_"));
  PetscCall(read_option(PetscOptionsObject, find_option(halo_options, "-shellac_halo_timeout"), &seconds, &set));
  PetscOptionsEnd();
  if (set) PetscCall(ShellacSetHaloTimeout(seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::Create(const Grid &grid, const Patch &patch, bool box, PetscBool device, HaloWay way,
                            size_t value_bytes) {
  PetscFunctionBegin;
  PetscCall(set_from_options(grid.comm));
  PetscCall(PetscCommDuplicate(grid.comm, &comm_, &tag_));
  value_bytes_ = value_bytes;
  PetscCallMPI(MPI_Type_contiguous((int)value_bytes, MPI_BYTE, &value_));
  PetscCallMPI(MPI_Type_commit(&value_));
  for (int index = 0; index < Direction::count; index++) {
    HaloLink   link;
    int        whole[4], part[4], from[4], axes = 0;
    const auto to = Direction::at(index);
    const Box  shared = patch.shared_with(to);

    link.to = to;
    link.neighbour = grid.neighbour(to);
    for (int a = 0; a < 3; a++) axes += to.d[a] != 0;
    if (axes == 0 || (axes > 1 && !box) || link.neighbour < 0 || patch.width == 0) continue;
    PetscCall(PetscMPIIntCast((PetscInt)shared.points() * patch.dof, &link.count));
    link.arriving = link.count;
    link.ours = {shared};
    for (int a = 0; a < 3; a++) { // MPI orders the axes from the slowest
      PetscMPIInt value;
      PetscCall(PetscMPIIntCast(patch.size[a], &value));
      whole[2 - a] = value;
      part[2 - a] = (int)shared.size(a);
      from[2 - a] = (int)shared.lo[a];
    }
    whole[3] = part[3] = (int)patch.dof;
    from[3] = 0;
    PetscCallMPI(MPI_Type_create_subarray(4, whole, part, from, MPI_ORDER_C, value_, &link.part));
    PetscCallMPI(MPI_Type_commit(&link.part));
    PetscCall(PetscMalloc1(link.count * value_bytes, &link.buffer));
    links_.push_back(link);
  }
  requests_.assign(2 * links_.size(), MPI_REQUEST_NULL);
  if (!links_.empty()) PetscCall(DeviceHalo::Create(links_, patch, comm_, tag_, value_bytes, device, way, &device_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::Destroy() {
  PetscFunctionBegin;
  if (open_) { // by an error: no message may arrive in memory that is free
    for (MPI_Request &request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      if (&request < &requests_[links_.size()]) PetscCallMPI(MPI_Cancel(&request));
      PetscCallMPI(MPI_Request_free(&request));
    }
    open_ = false;
  }
  if (device_) PetscCall(device_->Destroy(true));
  delete device_;
  device_ = nullptr;
  for (HaloLink &link : links_) {
    PetscCallMPI(MPI_Type_free(&link.part));
    PetscCall(PetscFree(link.buffer));
  }
  links_.clear();
  requests_.clear();
  if (value_ != MPI_DATATYPE_NULL) PetscCallMPI(MPI_Type_free(&value_));
  if (comm_ != MPI_COMM_NULL) PetscCall(PetscCommDestroy(&comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Halo::can_begin_in_kernel(PetscMemType memory) const {
  return PetscMemTypeDevice(memory) && device_ && device_->between_gpus();
}

PetscErrorCode Halo::BeginInKernel(const void *u) {
  PetscFunctionBegin;
  if (open_) PetscCall(End()); // an error came between, on all ranks
  memory_ = PETSC_MEMTYPE_DEVICE;
  field_ = {};
  field_.u = static_cast<const char *>(u);
  PetscCall(device_->BeginInKernel(u, &field_));
  open_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Halo::exchanged() const {
  return !device_ || device_->exchanged();
}

PetscErrorCode Halo::Begin(const void *u, PetscMemType memory) {
  const size_t n = links_.size();

  PetscFunctionBegin;
  if (open_) PetscCall(End()); // likewise
  PetscCall(check_backend(memory));
  memory_ = memory;
  field_ = {};
  field_.u = static_cast<const char *>(u);
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  open_ = true;
  if (PetscMemTypeDevice(memory)) {
    PetscCall(device_->Begin(u));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool any_written = false;
  std::fill(requests_.begin(), requests_.end(), MPI_REQUEST_NULL);
  for (size_t l = 0; l < n; l++) {
    const size_t    from = receive_order(links_, l);
    const HaloLink &link = links_[from];
    if (device_ && device_->ends_on_gpu(from)) continue;
    PetscCallMPI(MPI_Irecv(link.buffer, link.count, value_, link.neighbour, tag_, comm_, &requests_[l]));
  }
  for (size_t l = 0; l < n; l++) {
    if (device_ && device_->ends_on_gpu(l))
      any_written = true;
    else
      PetscCallMPI(MPI_Isend(u, 1, links_[l].part, links_[l].neighbour, tag_, comm_, &requests_[n + l]));
  }
  if (any_written) PetscCall(device_->BeginOnHost(u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Halo::travels_by_message(PetscMemType memory) const {
  return PetscMemTypeHost(memory) || (device_ && device_->travels_by_message());
}

PetscErrorCode Halo::End() {
  bool any_written = false;

  PetscFunctionBegin;
  if (links_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscMemTypeDevice(memory_)) {
    PetscCall(device_->End(&field_));
  } else {
    PetscCallMPI(MPI_Waitall((PetscMPIInt)requests_.size(), requests_.data(), MPI_STATUSES_IGNORE));
    for (size_t l = 0; l < links_.size(); l++) {
      field_.halo[links_[l].to.index()] = links_[l].buffer;
      any_written = any_written || (device_ && device_->ends_on_gpu(l));
    }
    if (any_written) PetscCall(device_->EndOnHost(&field_));
  }
  open_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::FieldOnHost(Field<PetscScalar> *field) {
  PetscFunctionBegin;
  *field = this->field();
  if (PetscMemTypeHost(memory_)) PetscFunctionReturn(PETSC_SUCCESS);
  for (const HaloLink &link : links_) {
    const int d = link.to.index();
    PetscCall(DeviceCopyToHost(link.buffer, field_.halo[d], link.count * value_bytes_));
    field->halo[d] = reinterpret_cast<const PetscScalar *>(link.buffer);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble Halo::bytes() const {
  PetscLogDouble sum = 0;
  for (const HaloLink &link : links_) sum += (PetscLogDouble)link.count * value_bytes_;
  return sum;
}

const char *Halo::transport() const {
  return device_ ? device_->transport() : nullptr;
}

} // namespace shellac

PetscErrorCode ShellacSetHaloTimeout(PetscReal seconds) {
  PetscFunctionBegin;
  PetscCheck(seconds >= 0 && seconds <= 1e9, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-shellac_halo_timeout is %g; give a number of seconds, or 0 for no limit", (double)seconds);
  shellac::halo_timeout = seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}
