#pragma once
// The halo exchange between GPUs, compiled for CUDA: device_halo.cpp sets it up, gpu_exchange.cpp runs it.

#include "device/nccl.hpp"
#include "grid/device_halo.hpp"
#include "grid/halo_in_kernel.hpp"

#if SHELLAC_CUDA
namespace shellac {

constexpr int most_flags = Direction::count - 1; // of an exchange between GPUs: each neighbour raises one

enum class Way { local, ipc, message };
enum class Messages { by_host, by_mpi, by_nccl }; // through pinned buffers, or from GPU to GPU

struct Channel { // beside each link
  Way                 way = Way::message;
  char               *inbox[2];  // where the neighbour's values arrive, in turns [arriving]
  unsigned long long *flag;      // the last exchange that arrived
  char               *outbox[2]; // where ours go: the neighbour's inbox, or a message's buffer
  unsigned long long *neighbour_flag = nullptr;
  char               *send = nullptr, *receive = nullptr; // pinned, of a link that passes the host
};

struct FillPart { // of what comes over links, and fills an array
  Box         there;
  const char *inbox[2]; // by turns
};

class GpuHalo : public DeviceHalo {
public:
  PetscErrorCode SetUp(const std::vector<HaloLink> &links, const Patch &patch, MPI_Comm comm, PetscMPIInt tag,
                       size_t value_bytes, PetscBool device, HaloWay way);
  PetscErrorCode Destroy(bool sound) override;
  PetscErrorCode Begin(const void *u) override;
  PetscErrorCode End(Field<char> *field) override;
  bool           travels_by_message() const override { return any_message_; }
  bool           ends_on_gpu(size_t link) const override {
    const Way way = channels_[link].way;
    return way == Way::ipc || (way == Way::message && by_nccl());
  }
  bool           between_gpus() const override { return any_ipc_ && !any_message_; }
  PetscErrorCode BeginInKernel(const void *u, Field<char> *field) override;
  bool           exchanged() const override { return in_kernel_.is_done; }
  PetscErrorCode BeginOnHost(const void *u) override;
  PetscErrorCode EndOnHost(Field<char> *field) override;
  PetscErrorCode PlanFilling(const std::vector<Filled> &parts, const Box &from) override;
  PetscErrorCode Fill(const void *from, const Box &from_box, void *to, const Box &to_box, bool with_own) override;
  PetscErrorCode CheckLate() const override;
  const char    *transport() const override;

private:
  PetscErrorCode Allocate();
  PetscErrorCode MakeParts();
  PetscErrorCode Pack(const void *u, unsigned long long number, bool waits, cudaStream_t stream);
  PetscErrorCode Agree(PetscBool device, HaloWay wish);
  PetscErrorCode AllocatePinned(size_t f);
  PetscErrorCode WaitForFlags(cudaStream_t stream);
  PetscErrorCode ChooseMessages(HaloWay wish, bool all_on_gpu);
  bool           by_nccl() const { return any_message_ && messages_ == Messages::by_nccl; }
  PetscErrorCode SendByNccl();
  PetscErrorCode SendByMPI(cudaStream_t stream);
  PetscErrorCode Prepare(); // for an exchange on the GPU
  void           GetHalo(Field<char> *field) const;
  HaloExchange   exchange(unsigned long long number) const; // as kernels get it

  const std::vector<HaloLink> *links_ = nullptr;
  Patch                        patch_ = {};
  MPI_Comm                     comm_ = MPI_COMM_NULL;
  PetscMPIInt                  tag_ = 0;
  size_t                       value_bytes_ = 0;
  std::vector<Channel>         channels_;
  char                        *memory_ = nullptr;         // all of this rank's device buffers: one piece to share
  Counters                    *counters_ = nullptr;       // in it
  int                         *late_neighbour_ = nullptr; // on the host
  unsigned long long           exchange_ = 0;             // counts the exchanges of Begin() as the GPU does
  void                        *tables_ = nullptr;         // on the GPU: what follows
  const FillPart              *fills_ = nullptr;
  HaloExchange                 parts_;
  HaloInKernel                 in_kernel_;
  const void                  *in_kernel_u_ = nullptr;
  int                          fill_count_ = 0;
  size_t                       fill_values_ = 0; // of all parts
  std::vector<Filled>          filled_;
  Box                          from_ = {};           // of a filling's patch
  bool                         open_ = false;        // between Begin() and End()
  cudaEvent_t                  packed_ = nullptr;    // messages can be sent; by NCCL: have arrived
  bool                         any_ipc_ = false, any_message_ = false;
  Messages                     messages_ = Messages::by_host;
  const Nccl                  *nccl_ = nullptr;
};

} // namespace shellac
#endif
