#pragma once
// The halo exchange between GPUs, without GPU-aware MPI.
//
// Ranks of one host write straight into each other's halo buffers (CUDA IPC, over NVLink where there is one): a kernel
// packs into the neighbour's memory and then raises a flag there, and a second kernel waits for the flags; the host
// never waits. Other neighbours get pinned host buffers and MPI; so do ranks whose GPU other ranks use
// too, which would wait for their turn on it. Each pair agrees on its way once, at creation.

#include "grid/halo.hpp"

namespace shellac {

class DeviceHalo {
public:
  // Collective; device: see Halo::Create. Without CUDA in the build, *halo is null.
  static PetscErrorCode Create(const std::vector<HaloLink> &links, const Patch &patch, MPI_Comm comm, PetscMPIInt tag,
                               size_t value_bytes, PetscBool device, HaloWay way, DeviceHalo **halo);
  PetscErrorCode        Destroy();
  PetscErrorCode        Begin(const void *u);
  PetscErrorCode        End(Field<char> *field);
  const char           *transport() const;

private:
#if SHELLAC_CUDA
  enum class Way { local, ipc, staged };
  struct Channel { // beside each link
    Way                 way = Way::staged;
    char               *inbox[2];  // where the neighbour's values arrive, in turns [count]
    unsigned long long *flag;      // the last exchange that arrived
    char               *outbox[2]; // where ours go: the neighbour's inbox, or a staging buffer
    unsigned long long *neighbour_flag = nullptr;
    void               *mapping = nullptr;                  // the neighbour's memory
    char               *send = nullptr, *receive = nullptr; // pinned, of a staged link [count]
  };
  PetscErrorCode Allocate();
  PetscErrorCode Agree(PetscBool device, HaloWay wish);

  const std::vector<HaloLink> *links_ = nullptr;
  Patch                        patch_ = {};
  MPI_Comm                     comm_ = MPI_COMM_NULL;
  PetscMPIInt                  tag_ = 0;
  size_t                       value_bytes_ = 0;
  std::vector<Channel>         channels_;
  char                        *memory_ = nullptr;   // all of this rank's device buffers: one allocation to share
  unsigned                    *finished_ = nullptr; // blocks of the packing kernel that are done
  unsigned long long           exchange_ = 0;       // counts the exchanges
  cudaEvent_t                  packed_ = nullptr;   // a staged link's values are in pinned memory
  bool                         any_ipc_ = false, any_staged_ = false;
#endif
};

} // namespace shellac
