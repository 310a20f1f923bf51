#include "grid/device_halo.hpp"

#include <cstring>

#include "device/memory.hpp"
#include "device/peers.hpp"
#include "grid/gpu_halo.hpp"

namespace shellac {

#if SHELLAC_CUDA

namespace {

// What a rank sends to a neighbour about the link between them.
struct Card {
  char               host[MPI_MAX_PROCESSOR_NAME];
  int                offers_ipc;
  cudaIpcMemHandle_t memory;
  size_t             inbox[2], flag; // offsets in it [bytes]
};

constexpr size_t aligned(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

} // namespace

// Sends one record over each link and gets the neighbour's.
template <class Record>
static PetscErrorCode exchange_records(const std::vector<HaloLink> &links, MPI_Comm comm, PetscMPIInt tag,
                                       const std::vector<Record> &ours, std::vector<Record> &theirs) {
  std::vector<MPI_Request> requests(2 * links.size());

  PetscFunctionBegin;
  const size_t n = links.size();
  theirs.resize(n);
  for (size_t l = 0; l < n; l++) {
    const size_t from = receive_order(links, l);
    PetscCallMPI(MPI_Irecv(&theirs[from], (PetscMPIInt)sizeof(Record), MPI_BYTE, links[from].neighbour, tag, comm,
                           &requests[l]));
  }
  for (size_t l = 0; l < n; l++)
    PetscCallMPI(
        MPI_Isend(&ours[l], (PetscMPIInt)sizeof(Record), MPI_BYTE, links[l].neighbour, tag, comm, &requests[n + l]));
  PetscCallMPI(MPI_Waitall((PetscMPIInt)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceHalo::Create(const std::vector<HaloLink> &links, const Patch &patch, MPI_Comm comm,
                                  PetscMPIInt tag, size_t value_bytes, PetscBool device, HaloWay way,
                                  DeviceHalo **halo) {
  GpuHalo *made = new GpuHalo;

  PetscFunctionBegin;
  *halo = made;
  PetscCall(made->SetUp(links, patch, comm, tag, value_bytes, device, way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::SetUp(const std::vector<HaloLink> &links, const Patch &patch, MPI_Comm comm, PetscMPIInt tag,
                              size_t value_bytes, PetscBool device, HaloWay way) {
  PetscFunctionBegin;
  links_ = &links;
  patch_ = patch;
  comm_ = comm;
  tag_ = tag;
  value_bytes_ = value_bytes;
  channels_.resize(links.size());
  PetscCall(Agree(device, way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Allocate() {
  const size_t head = aligned(sizeof(Counters));
  size_t       bytes = head;
  int          gpu;

  PetscFunctionBegin;
  for (const HaloLink &link : *links_)
    bytes += 2 * aligned(link.arriving * value_bytes_) + aligned(link.count * value_bytes_) + aligned(8);
  PetscCallCUDA(cudaGetDevice(&gpu));
  PetscCall(exports().Take(gpu, bytes, DeviceMallocForPeers, (void **)&memory_));
  PetscCallCUDA(cudaMemset(memory_, 0, bytes));
  PetscCallCUDA(cudaDeviceSynchronize()); // zero before a neighbour can write
  PetscCallCUDA(cudaEventCreateWithFlags(&packed_, cudaEventDisableTiming));
  PetscCall(PinnedMalloc(sizeof(int), (void **)&late_neighbour_));
  *late_neighbour_ = 0;
  counters_ = (Counters *)memory_;
  char *at = memory_ + head;
  for (size_t f = 0; f < channels_.size(); f++) {
    const size_t size = aligned((*links_)[f].arriving * value_bytes_);
    Channel     &c = channels_[f];
    c.inbox[0] = at;
    c.inbox[1] = at + size;
    c.outbox[0] = c.outbox[1] = at + 2 * size; // until a neighbour's inbox takes its place
    at += 2 * size + aligned((*links_)[f].count * value_bytes_);
    c.flag = (unsigned long long *)at;
    at += aligned(8);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Agree(PetscBool device, HaloWay wish) {
  const size_t        n = channels_.size();
  std::vector<Card>   ours(n), theirs;
  std::vector<char>   mapped(n), both;
  std::vector<void *> mapping(n);
  PetscMPIInt         rank, ranks, length;
  cudaIpcMemHandle_t  handle = {};
  int                 offers = 0, id = 0;
  enum { works, no_gpu, no_memory };
  struct {
    cudaUUID_t gpu;
    int        failed, device;
  } mine = {};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  mine.device = device;
  if (device) { // an error here is one of all ranks, below
    mine.failed = cudaGetDevice(&id) || name_of_gpu(id, &mine.gpu) ? no_gpu : works;
    if (!mine.failed) {
      PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
      if (Allocate()) mine.failed = no_memory;
      PetscCall(PetscPopErrorHandler());
    }
    if (mine.failed) (void)cudaGetLastError();
  }
  PetscCallMPI(MPI_Comm_size(comm_, &ranks));
  std::vector<decltype(mine)> all(ranks);
  PetscCallMPI(MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, comm_));
  PetscMPIInt sharing = 0;
  for (const auto &other : all) {
    sharing += memcmp(&mine.gpu, &other.gpu, sizeof(mine.gpu)) == 0;
    const int of = (int)(&other - all.data());
    PetscCheck(other.failed != no_gpu, comm_, PETSC_ERR_GPU,
               "rank %d has no GPU that works; look at its driver and CUDA_VISIBLE_DEVICES, or use vectors on the host",
               of);
    PetscCheck(!other.failed, comm_, PETSC_ERR_MEM,
               "rank %d cannot allocate the buffers of a halo on its GPU; use a smaller grid, or more GPUs", of);
  }
  if (device && n <= most_flags && (wish == HaloWay::ipc || (wish == HaloWay::automatic && sharing == 1))) {
    const cudaError_t error = cudaIpcGetMemHandle(&handle, memory_); // a failure only means another way
    offers = error == cudaSuccess;
    if (error) PetscCall(PetscInfo(NULL, "No CUDA IPC handle: %s\n", cudaGetErrorString(error)));
  }
  for (size_t f = 0; f < n; f++) {
    ours[f] = Card{{}, offers, handle, {0, 0}, 0};
    PetscCallMPI(MPI_Get_processor_name(ours[f].host, &length));
    if (!device) continue;
    ours[f].inbox[0] = (size_t)(channels_[f].inbox[0] - memory_);
    ours[f].inbox[1] = (size_t)(channels_[f].inbox[1] - memory_);
    ours[f].flag = (size_t)((char *)channels_[f].flag - memory_);
  }
  PetscCall(exchange_records(*links_, comm_, tag_, ours, theirs));
  for (size_t f = 0; f < n; f++) {
    const bool same_host = strcmp(ours[f].host, theirs[f].host) == 0;
    if ((*links_)[f].neighbour == rank || !offers || !theirs[f].offers_ipc || !same_host) continue;
    const cudaError_t error = map_memory(id, theirs[f].memory, &mapping[f]);
    mapped[f] = error == cudaSuccess;
    if (error)
      PetscCall(
          PetscInfo(NULL, "No CUDA IPC with rank %d: %s\n", (int)(*links_)[f].neighbour, cudaGetErrorString(error)));
  }
  if (device) (void)cudaGetLastError();
  PetscCall(exchange_records(*links_, comm_, tag_, mapped, both));
  for (size_t f = 0; f < n; f++) {
    Channel &c = channels_[f];
    PetscCall(PetscInfo(NULL, "Halo with rank %d: CUDA IPC offered %d and %d, mapped %d and %d\n",
                        (int)(*links_)[f].neighbour, offers, theirs[f].offers_ipc, mapped[f], both[f]));
    if ((*links_)[f].neighbour == rank)
      c.way = Way::local; // around a periodic axis
    else if (mapped[f] && both[f]) {
      c.way = Way::ipc;
      for (int turn = 0; turn < 2; turn++) c.outbox[turn] = (char *)mapping[f] + theirs[f].inbox[turn];
      c.neighbour_flag = (unsigned long long *)((char *)mapping[f] + theirs[f].flag);
      any_ipc_ = true;
    } else
      any_message_ = true;
  }
  bool all_on_gpu = true;
  for (const auto &other : all) all_on_gpu = all_on_gpu && other.device;
  if (ranks > 1) PetscCall(ChooseMessages(wish, all_on_gpu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::ChooseMessages(HaloWay wish, bool all_on_gpu) {
  PetscFunctionBegin;
  if (wish == HaloWay::mpi || (wish == HaloWay::automatic && use_gpu_aware_mpi)) {
    PetscCheck(use_gpu_aware_mpi, comm_, PETSC_ERR_ARG_INCOMP,
               "-mat_*_halo mpi needs a GPU-aware MPI, and PETSc's -use_gpu_aware_mpi is 0; use automatic or host");
    messages_ = Messages::by_mpi;
  } else if (all_on_gpu && (wish == HaloWay::nccl || wish == HaloWay::automatic)) {
    PetscCall(Nccl::Find(comm_, wish == HaloWay::nccl, &nccl_));
    PetscCheck(nccl_ || wish != HaloWay::nccl, comm_, PETSC_ERR_ARG_INCOMP,
               "-mat_*_halo nccl needs libnccl.so.2 on all ranks, and a GPU for each; use automatic or host");
    if (nccl_) messages_ = Messages::by_nccl;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Destroy(bool sound) {
  PetscFunctionBegin;
  if (memory_) {
    PetscCallCUDA(cudaDeviceSynchronize());
    // After the end of an exchange no neighbour writes here. After an error, an unfinished exchange may still write: its
    // memory is not used again.
    if (sound && !open_ && late_neighbour_ && !*late_neighbour_) exports().Return(memory_);
    PinnedFree(late_neighbour_);
  }
  for (Channel &c : channels_) {
    PinnedFree(c.send);
    PinnedFree(c.receive);
  }
  DeviceFree(tables_);
  if (packed_) PetscCallCUDA(cudaEventDestroy(packed_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *GpuHalo::transport() const {
  static const char *const with_ipc[] = {"CUDA IPC, and pinned host buffers with MPI", "CUDA IPC, and GPU-aware MPI",
                                         "CUDA IPC, and NCCL"};
  static const char *const alone[] = {"pinned host buffers with MPI", "GPU-aware MPI", "NCCL"};
  if (any_message_) return (any_ipc_ ? with_ipc : alone)[(int)messages_];
  return any_ipc_ ? "CUDA IPC" : "within the GPU";
}

#else

PetscErrorCode DeviceHalo::Create(const std::vector<HaloLink> &, const Patch &, MPI_Comm, PetscMPIInt, size_t,
                                  PetscBool, HaloWay, DeviceHalo **halo) {
  PetscFunctionBegin;
  *halo = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

} // namespace shellac
