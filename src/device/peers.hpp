#pragma once
// Memory on the GPUs of all ranks that each of them reads and writes.

#include "device/exports.hpp"

namespace shellac {

#if SHELLAC_CUDA
Exports &exports(); // of this process
// The same on all ranks for the same GPU.
cudaError_t name_of_gpu(int gpu, cudaUUID_t *name);
// The memory of another process, mapped once and never unmapped; null if it cannot be mapped.
cudaError_t map_memory(int gpu, const cudaIpcMemHandle_t &handle, void **memory);
#endif

class Peers {
public:
  static constexpr int most = 16; // ranks

  // Collective; on ranks with vectors on GPUs. Takes memory of so many bytes, zero, and maps that of the others. All ranks
  // are connected afterwards, or none: where they are on several hosts, are too many or, unless they may, share a GPU.
  PetscErrorCode Connect(MPI_Comm comm, size_t bytes, bool may_share);
  // Not collective. sound: no other rank reads or writes this one's memory any more, so it may be used again.
  void  Disconnect(bool sound);
  bool  connected() const { return !memory_.empty(); }
  int   rank() const { return rank_; }
  int   ranks() const { return (int)memory_.size(); }
  char *of(int rank) const { return memory_[(size_t)rank]; }

private:
  std::vector<char *> memory_; // of each rank; none: not connected
  int                 rank_ = 0;
};

} // namespace shellac
