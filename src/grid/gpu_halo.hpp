#pragma once
// The halo exchange between GPUs, compiled for CUDA: device_halo.cpp sets it up, gpu_exchange.cpp runs it.

#include "grid/device_halo.hpp"

#if SHELLAC_CUDA
namespace shellac {

constexpr int most_flags = Direction::count - 1; // of an exchange between GPUs: each neighbour raises one

enum class Way { local, ipc, staged };

struct Channel { // beside each link
  Way                 way = Way::staged;
  char               *inbox[2];  // where the neighbour's values arrive, in turns [arriving]
  unsigned long long *flag;      // the last exchange that arrived
  char               *outbox[2]; // where ours go: the neighbour's inbox, or a staging buffer
  unsigned long long *neighbour_flag = nullptr;
  char               *send = nullptr, *receive = nullptr; // pinned, of a link that passes the host
};

class GpuHalo : public DeviceHalo {
public:
  PetscErrorCode SetUp(const std::vector<HaloLink> &links, const Patch &patch, MPI_Comm comm, PetscMPIInt tag,
                       size_t value_bytes, PetscBool device, HaloWay way);
  PetscErrorCode Destroy() override;
  PetscErrorCode Begin(const void *u) override;
  PetscErrorCode End(Field<char> *field) override;
  const char    *arrived(size_t link) const override { return channels_[link].inbox[exchange_ % 2]; }
  bool           writes_to_neighbour(size_t link) const override { return channels_[link].way == Way::ipc; }
  PetscErrorCode BeginOnHost(const void *u) override;
  PetscErrorCode EndOnHost(Field<char> *field) override;
  const char    *transport() const override;

private:
  PetscErrorCode Allocate();
  PetscErrorCode Agree(PetscBool device, HaloWay wish);
  PetscErrorCode AllocatePinned(size_t f);
  PetscErrorCode CheckLate();
  PetscErrorCode WaitForFlags(cudaStream_t stream);

  const std::vector<HaloLink> *links_ = nullptr;
  Patch                        patch_ = {};
  MPI_Comm                     comm_ = MPI_COMM_NULL;
  PetscMPIInt                  tag_ = 0;
  size_t                       value_bytes_ = 0;
  std::vector<Channel>         channels_;
  char                        *memory_ = nullptr;         // all of this rank's device buffers: one piece to share
  unsigned                    *finished_ = nullptr;       // blocks of the packing kernel that are done
  int                         *late_ = nullptr;           // see wait_for_flags(); on the GPU
  int                         *late_neighbour_ = nullptr; // on the host
  unsigned long long           exchange_ = 0;             // counts the exchanges
  bool                         open_ = false;             // between Begin() and End()
  cudaEvent_t                  packed_ = nullptr;         // a staged link's values are in pinned memory
  bool                         any_ipc_ = false, any_staged_ = false;
};

} // namespace shellac
#endif
