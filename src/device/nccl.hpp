#pragma once
// Messages and sums between GPUs that do not reach each other's memory, as those of several hosts, by NCCL. It is looked for
// at run time, and nothing of it is needed to build.

#include <vector>

#include "device/petsc.hpp"

namespace shellac {

class Nccl;

#if SHELLAC_CUDA
class Nccl {
public:
  struct Message {
    void       *values; // on the GPU
    size_t      bytes;
    PetscMPIInt rank; // the other one
  };
  // Collective. That of a communicator's ranks, as long as it lives; null where they are on one host, unless on_one_host,
  // where a rank has no NCCL or no GPU, two share a GPU, or NCCL does not connect them.
  static PetscErrorCode Find(MPI_Comm comm, bool on_one_host, const Nccl **nccl);

  // In a stream of its own, after `event`, which tells their end afterwards. Those between two ranks are in the same order
  // on both.
  PetscErrorCode Exchange(const std::vector<Message> &sent, const std::vector<Message> &received,
                          cudaEvent_t event) const;
  PetscErrorCode AddUp(double *values, size_t count) const; // over the ranks, in PETSc's stream

private:
  static PetscErrorCode Create(MPI_Comm comm, Nccl **made);
  static int            Delete(MPI_Comm, int, void *made, void *); // with its communicator

  bool         possible_ = false, several_hosts_ = false;
  void        *ranks_ = nullptr; // NCCL's communicator; null before it is needed
  cudaStream_t stream_ = nullptr;
};
#endif

} // namespace shellac
