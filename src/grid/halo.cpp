#include "grid/halo.hpp"

#include "grid/device_halo.hpp"

namespace shellac {

PetscErrorCode Halo::Create(const Grid &grid, const Patch &patch, PetscBool device, HaloWay way) {
  PetscFunctionBegin;
  PetscCall(PetscCommDuplicate(grid.comm, &comm_, &tag_));
  for (int a = 0; a < grid.dim; a++) {
    for (int e = 0; e < 2; e++) {
      if (!patch.neighbour[a][e]) continue;
      HaloFace face;
      int      whole[3], part[3], from[3];

      face.axis = a;
      face.end = (Side)e;
      face.neighbour = grid.neighbour(a, (Side)e);
      PetscCall(PetscMPIIntCast((PetscInt)patch.halo_size(a), &face.count));
      for (int d = 0; d < 3; d++) { // MPI orders the axes from the slowest
        PetscMPIInt size;
        PetscCall(PetscMPIIntCast(patch.size[d], &size));
        whole[2 - d] = size;
        part[2 - d] = d == a ? 1 : size;
        from[2 - d] = d == a && e == UPPER ? size - 1 : 0;
      }
      PetscCallMPI(MPI_Type_create_subarray(3, whole, part, from, MPI_ORDER_C, MPIU_SCALAR, &face.strip));
      PetscCallMPI(MPI_Type_commit(&face.strip));
      PetscCall(PetscMalloc1(face.count, &face.buffer));
      faces_.push_back(face);
    }
  }
  requests_.resize(2 * faces_.size());
  if (!faces_.empty()) PetscCall(DeviceHalo::Create(faces_, patch, comm_, tag_, device, way, &device_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::Destroy() {
  PetscFunctionBegin;
  if (device_) PetscCall(device_->Destroy());
  delete device_;
  device_ = nullptr;
  for (HaloFace &face : faces_) {
    PetscCallMPI(MPI_Type_free(&face.strip));
    PetscCall(PetscFree(face.buffer));
  }
  faces_.clear();
  requests_.clear();
  if (comm_ != MPI_COMM_NULL) PetscCall(PetscCommDestroy(&comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::Begin(const PetscScalar *u, PetscMemType memory) {
  PetscFunctionBegin;
  memory_ = memory;
  field_ = {};
  field_.u = u;
  if (faces_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_backend(memory));
  if (PetscMemTypeDevice(memory)) {
    PetscCall(device_->Begin(u));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // What leaves a neighbour's lower end arrives at our upper one. Two ranks around a periodic axis are neighbours at
  // both ends: they match by order, so receives are posted upper end first.
  const size_t n = faces_.size();
  for (size_t f = 0; f < n; f++) {
    const HaloFace &face = faces_[opposite_face(faces_, f)];
    PetscCallMPI(MPI_Irecv(face.buffer, face.count, MPIU_SCALAR, face.neighbour, tag_, comm_, &requests_[f]));
  }
  for (size_t f = 0; f < n; f++)
    PetscCallMPI(MPI_Isend(u, 1, faces_[f].strip, faces_[f].neighbour, tag_, comm_, &requests_[n + f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::End() {
  PetscFunctionBegin;
  if (faces_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscMemTypeDevice(memory_)) {
    PetscCall(device_->End(&field_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Waitall((PetscMPIInt)requests_.size(), requests_.data(), MPI_STATUSES_IGNORE));
  for (const HaloFace &face : faces_) field_.halo[face.axis][face.end] = face.buffer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *Halo::transport() const {
  return device_ ? device_->transport() : nullptr;
}

} // namespace shellac
