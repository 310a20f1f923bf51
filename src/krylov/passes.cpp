#include "krylov/passes.hpp"

namespace shellac {
namespace cg {

Runner::~Runner() {
  DeviceFree(on_device_);
  DeviceFree(partial_);
  DeviceFree(arrived_);
}

PetscErrorCode Runner::Prepare(MPI_Comm comm, PetscMemType memory, bool on_gpu) {
  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  comm_ = comm;
  memory_ = memory;
  on_gpu_ = on_gpu;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory) && !on_device_) {
    PetscCall(DeviceMalloc(sizeof(Record), (void **)&on_device_));
    PetscCall(DeviceMalloc((size_t)most_blocks() * Sums::count * sizeof(double), (void **)&partial_));
    PetscCall(DeviceMalloc(sizeof(unsigned), (void **)&arrived_));
    PetscCall(DeviceZero(arrived_, sizeof(unsigned)));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Runner::Send() {
  PetscFunctionBegin;
  if (PetscMemTypeDevice(memory_)) PetscCall(DeviceCopyFromHost(&on_device_->scalars, &scalars, sizeof(scalars)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Runner::Fetch() {
  PetscFunctionBegin;
  if (on_gpu_) PetscCall(DeviceCopyToHost(&scalars, &on_device_->scalars, sizeof(scalars)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Runner::AddRanks() {
  PetscFunctionBegin;
  if (PetscMemTypeDevice(memory_)) PetscCall(DeviceCopyToHost(&sums_, &on_device_->sums, sizeof(sums_)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums_.of, Sums::count, MPI_DOUBLE, MPI_SUM, comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace cg
} // namespace shellac
