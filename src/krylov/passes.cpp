#include "krylov/passes.hpp"

namespace shellac {
namespace cg {

Runner::~Runner() {
  PinnedFree(meeting_.late);
  DeviceFree(on_device_);
  DeviceFree(partial_);
  DeviceFree(arrived_);
#if SHELLAC_CUDA
  DeviceFree(crossing_);
#endif
}

void Runner::Disconnect(bool sound) {
  peers_.Disconnect(sound);
  asked_peers_ = false;
#if SHELLAC_CUDA
  if (crossing_) (void)DeviceZero(crossing_, sizeof(*crossing_)); // whose blocks may have ended apart
#endif
}

PetscErrorCode Runner::Prepare(MPI_Comm comm, PetscMemType memory, bool all_on_gpu, HaloWay way) {
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  comm_ = comm;
  memory_ = memory;
  const bool may_reach = way == HaloWay::automatic || way == HaloWay::ipc;
  if (all_on_gpu && ranks > 1 && !asked_peers_ && may_reach) {
    using Memory = Meeting<Sums::count>::Memory;
    PetscCall(peers_.Connect(comm, sizeof(Memory), way == HaloWay::ipc));
    asked_peers_ = true;
    if (peers_.connected()) {
      if (!meeting_.late) PetscCall(PinnedMalloc(sizeof(int), (void **)&meeting_.late));
      *meeting_.late = 0;
      meeting_.rank = peers_.rank(), meeting_.ranks = peers_.ranks();
      for (int r = 0; r < meeting_.ranks; r++) meeting_.of[r] = (Memory *)peers_.of(r);
    }
  }
  meeting_.timeout = (unsigned long long)(1e9 * halo_timeout);
  on_gpu_ = all_on_gpu && (ranks == 1 || peers_.connected());
#if SHELLAC_CUDA
  nccl_ = nullptr;
  if (all_on_gpu && !on_gpu_ && (way == HaloWay::automatic || way == HaloWay::nccl))
    PetscCall(Nccl::Find(comm, way == HaloWay::nccl, &nccl_));
  on_gpu_ = on_gpu_ || nccl_;
#endif
  PetscCall(CheckLate());
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory) && !on_device_) {
    PetscCall(DeviceMalloc(sizeof(Record), (void **)&on_device_));
    PetscCall(DeviceMalloc((size_t)most_blocks() * Sums::count * sizeof(double), (void **)&partial_));
    PetscCall(DeviceMalloc(sizeof(unsigned), (void **)&arrived_));
    PetscCall(DeviceZero(arrived_, sizeof(unsigned)));
    PetscCall(DeviceMalloc(sizeof(*crossing_), (void **)&crossing_));
    PetscCall(DeviceZero(crossing_, sizeof(*crossing_)));
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
  PetscCall(CheckLate());
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Runner::is_late() const {
  return meeting_.late && *(volatile int *)meeting_.late;
}

PetscErrorCode Runner::CheckLate() const {
  PetscFunctionBegin;
  PetscCheck(
      !is_late(), PETSC_COMM_SELF, PETSC_ERR_LIB,
      "no sums came from rank %d within %g s: it has ended the solve with an error, or does something else; look "
      "for its error, or allow more time with -shellac_halo_timeout (0: no limit)",
      *meeting_.late - 1, (double)halo_timeout);
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
