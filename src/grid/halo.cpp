#include "grid/halo.hpp"

#include "grid/device_halo.hpp"

namespace shellac {

PetscErrorCode Halo::Create(const Grid &grid, const Patch &patch, bool box, PetscBool device, HaloWay way,
                            size_t value_bytes) {
  PetscFunctionBegin;
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
  requests_.resize(2 * links_.size());
  if (!links_.empty()) PetscCall(DeviceHalo::Create(links_, patch, comm_, tag_, value_bytes, device, way, &device_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::Destroy() {
  PetscFunctionBegin;
  if (device_) PetscCall(device_->Destroy());
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

PetscErrorCode Halo::Begin(const void *u, PetscMemType memory) {
  PetscFunctionBegin;
  memory_ = memory;
  field_ = {};
  field_.u = static_cast<const char *>(u);
  if (links_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_backend(memory));
  if (PetscMemTypeDevice(memory)) {
    PetscCall(device_->Begin(u));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const size_t n = links_.size();
  for (size_t l = 0; l < n; l++) {
    const HaloLink &link = links_[receive_order(links_, l)];
    PetscCallMPI(MPI_Irecv(link.buffer, link.count, value_, link.neighbour, tag_, comm_, &requests_[l]));
  }
  for (size_t l = 0; l < n; l++)
    PetscCallMPI(MPI_Isend(u, 1, links_[l].part, links_[l].neighbour, tag_, comm_, &requests_[n + l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::End() {
  PetscFunctionBegin;
  if (links_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscMemTypeDevice(memory_)) {
    PetscCall(device_->End(&field_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Waitall((PetscMPIInt)requests_.size(), requests_.data(), MPI_STATUSES_IGNORE));
  for (const HaloLink &link : links_) field_.halo[link.to.index()] = link.buffer;
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
