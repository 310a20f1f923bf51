#include "grid/device_halo.hpp"

#include <cstring>

namespace shellac {

#if SHELLAC_CUDA

namespace {

struct PackPart {
  Box                 from; // of the owned points
  PetscMPIInt         count;
  void               *to;
  unsigned long long *flag; // null: nobody waits on one
};

struct PackParts {
  PackPart part[Direction::count - 1];
  int      count = 0;
  Patch    patch;
};

struct Flags {
  const unsigned long long *flag[Direction::count - 1];
  int                       count = 0;
};

// Copies each part to its place; the last block to finish raises the neighbours' flags.
template <class Value>
__global__ void pack(PackParts parts, const Value *u, unsigned long long exchange, unsigned *finished) {
  const Patch &patch = parts.patch;
  size_t       n = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (int f = 0; f < parts.count; f++) {
    const PackPart &part = parts.part[f];
    if (n < (size_t)part.count) {
      PetscInt p[3];
      part.from.point((PetscInt64)(n / patch.dof), p);
      static_cast<Value *>(part.to)[n] = u[patch.index(p[0], p[1], p[2]) * patch.dof + n % patch.dof];
      break;
    }
    n -= part.count;
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(finished, 1) == gridDim.x - 1) {
    *finished = 0;
    __threadfence_system();
    for (int f = 0; f < parts.count; f++)
      if (parts.part[f].flag) *(volatile unsigned long long *)parts.part[f].flag = exchange;
  }
}

__global__ void wait_for_flags(Flags flags, unsigned long long exchange) {
  const volatile unsigned long long *flag = flags.flag[threadIdx.x];
  while (*flag < exchange) __nanosleep(20);
  __threadfence_system();
}

// What a rank tells a neighbour of the link between them.
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
  PetscFunctionBegin;
  *halo = new DeviceHalo;
  (*halo)->links_ = &links;
  (*halo)->patch_ = patch;
  (*halo)->comm_ = comm;
  (*halo)->tag_ = tag;
  (*halo)->value_bytes_ = value_bytes;
  (*halo)->channels_.resize(links.size());
  if (device) PetscCall((*halo)->Allocate());
  PetscCall((*halo)->Agree(device, way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceHalo::Allocate() {
  size_t bytes = aligned(sizeof(unsigned));

  PetscFunctionBegin;
  for (const HaloLink &link : *links_) bytes += 3 * aligned(link.count * value_bytes_) + aligned(8);
  PetscCallCUDA(cudaMalloc((void **)&memory_, bytes));
  PetscCallCUDA(cudaMemset(memory_, 0, bytes));
  PetscCallCUDA(cudaDeviceSynchronize()); // zero before a neighbour can write
  PetscCallCUDA(cudaEventCreateWithFlags(&packed_, cudaEventDisableTiming));
  finished_ = (unsigned *)memory_;
  char *at = memory_ + aligned(sizeof(unsigned));
  for (size_t f = 0; f < channels_.size(); f++) {
    const size_t size = aligned((*links_)[f].count * value_bytes_);
    Channel     &c = channels_[f];
    c.inbox[0] = at;
    c.inbox[1] = at + size;
    c.outbox[0] = c.outbox[1] = at + 2 * size; // until a neighbour's inbox takes its place
    c.flag = (unsigned long long *)(at + 3 * size);
    at += 3 * size + aligned(8);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceHalo::Agree(PetscBool device, HaloWay wish) {
  const size_t       n = channels_.size();
  std::vector<Card>  ours(n), theirs;
  std::vector<char>  mapped(n), both;
  PetscMPIInt        rank, ranks, length;
  cudaIpcMemHandle_t handle = {};
  cudaUUID_t         gpu = {};
  int                offers = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  if (device) {
    int            id;
    cudaDeviceProp properties;
    PetscCallCUDA(cudaGetDevice(&id));
    PetscCallCUDA(cudaGetDeviceProperties(&properties, id));
    gpu = properties.uuid;
  }
  PetscCallMPI(MPI_Comm_size(comm_, &ranks));
  std::vector<cudaUUID_t> gpus(ranks);
  PetscCallMPI(MPI_Allgather(&gpu, sizeof(gpu), MPI_BYTE, gpus.data(), sizeof(gpu), MPI_BYTE, comm_));
  PetscMPIInt sharing = 0;
  for (const cudaUUID_t &other : gpus) sharing += memcmp(&gpu, &other, sizeof(gpu)) == 0;
  if (device && (wish == HaloWay::ipc || (wish == HaloWay::automatic && sharing == 1))) {
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
    const cudaError_t error =
        cudaIpcOpenMemHandle(&channels_[f].mapping, theirs[f].memory, cudaIpcMemLazyEnablePeerAccess);
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
      for (int turn = 0; turn < 2; turn++) c.outbox[turn] = (char *)c.mapping + theirs[f].inbox[turn];
      c.neighbour_flag = (unsigned long long *)((char *)c.mapping + theirs[f].flag);
      any_ipc_ = true;
    } else {
      any_staged_ = true;
      if (c.mapping) PetscCallCUDA(cudaIpcCloseMemHandle(c.mapping)); // the neighbour could not map ours
      c.mapping = nullptr;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceHalo::Destroy() {
  PetscFunctionBegin;
  if (any_ipc_) { // nobody may free what a neighbour still maps
    std::vector<HaloLink> shared;
    PetscCallCUDA(cudaDeviceSynchronize());
    for (size_t f = 0; f < channels_.size(); f++) {
      if (channels_[f].way != Way::ipc) continue;
      PetscCallCUDA(cudaIpcCloseMemHandle(channels_[f].mapping));
      shared.push_back((*links_)[f]);
    }
    std::vector<char> closed(shared.size()), theirs;
    PetscCall(exchange_records(shared, comm_, tag_, closed, theirs));
  }
  for (Channel &c : channels_) {
    if (c.send) PetscCallCUDA(cudaFreeHost(c.send));
    if (c.receive) PetscCallCUDA(cudaFreeHost(c.receive));
  }
  if (packed_) PetscCallCUDA(cudaEventDestroy(packed_));
  if (memory_) PetscCallCUDA(cudaFree(memory_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceHalo::Begin(const void *u) {
  cudaStream_t stream;
  PackParts    to;
  size_t       values = 0;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (!memory_) PetscCall(Allocate()); // host vectors were expected: every link is staged
  exchange_++;
  const int turn = (int)(exchange_ % 2);
  to.patch = patch_;
  for (size_t f = 0; f < channels_.size(); f++) {
    const HaloLink &link = (*links_)[f];
    const Channel  &c = channels_[f];
    char           *box = c.way == Way::local ? channels_[link_back(*links_, f)].inbox[turn] : c.outbox[turn];
    to.part[to.count++] = {patch_.shared_with(link.to), link.count, box, c.neighbour_flag};
    values += link.count;
  }
  const unsigned threads = 256, blocks = (unsigned)((values + threads - 1) / threads);
  if (value_bytes_ == sizeof(float))
    pack<<<blocks, threads, 0, stream>>>(to, (const float *)u, exchange_, finished_);
  else if (value_bytes_ == sizeof(double))
    pack<<<blocks, threads, 0, stream>>>(to, (const double *)u, exchange_, finished_);
  else
    pack<<<blocks, threads, 0, stream>>>(to, (const double2 *)u, exchange_, finished_);
  PetscCallCUDA(cudaGetLastError());
  if (any_staged_) {
    for (size_t f = 0; f < channels_.size(); f++) {
      Channel     &c = channels_[f];
      const size_t bytes = (*links_)[f].count * value_bytes_;
      if (c.way != Way::staged) continue;
      if (!c.send) {
        PetscCallCUDA(cudaMallocHost((void **)&c.send, bytes));
        PetscCallCUDA(cudaMallocHost((void **)&c.receive, bytes));
      }
      PetscCallCUDA(cudaMemcpyAsync(c.send, c.outbox[turn], bytes, cudaMemcpyDeviceToHost, stream));
      PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
    }
    PetscCallCUDA(cudaEventRecord(packed_, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceHalo::End(Field<char> *field) {
  cudaStream_t stream;
  const int    turn = (int)(exchange_ % 2);

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (any_ipc_) {
    Flags flags;
    for (const Channel &c : channels_)
      if (c.way == Way::ipc) flags.flag[flags.count++] = c.flag;
    wait_for_flags<<<1, flags.count, 0, stream>>>(flags, exchange_);
    PetscCallCUDA(cudaGetLastError());
  }
  if (any_staged_) {
    std::vector<MPI_Request> requests;
    PetscCallCUDA(cudaEventSynchronize(packed_));
    for (size_t f = 0; f < channels_.size(); f++) {
      const size_t at = receive_order(*links_, f);
      if (channels_[at].way != Way::staged) continue;
      requests.emplace_back();
      PetscCallMPI(MPI_Irecv(channels_[at].receive, (PetscMPIInt)((*links_)[at].count * value_bytes_), MPI_BYTE,
                             (*links_)[at].neighbour, tag_, comm_, &requests.back()));
    }
    for (size_t f = 0; f < channels_.size(); f++) {
      if (channels_[f].way != Way::staged) continue;
      requests.emplace_back();
      PetscCallMPI(MPI_Isend(channels_[f].send, (PetscMPIInt)((*links_)[f].count * value_bytes_), MPI_BYTE,
                             (*links_)[f].neighbour, tag_, comm_, &requests.back()));
    }
    PetscCallMPI(MPI_Waitall((PetscMPIInt)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
    for (size_t f = 0; f < channels_.size(); f++) {
      const size_t bytes = (*links_)[f].count * value_bytes_;
      if (channels_[f].way != Way::staged) continue;
      PetscCallCUDA(
          cudaMemcpyAsync(channels_[f].inbox[turn], channels_[f].receive, bytes, cudaMemcpyHostToDevice, stream));
      PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
    }
  }
  for (size_t f = 0; f < channels_.size(); f++) field->halo[(*links_)[f].to.index()] = channels_[f].inbox[turn];
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *DeviceHalo::transport() const {
  if (any_ipc_) return any_staged_ ? "CUDA IPC, and pinned host buffers with MPI" : "CUDA IPC";
  return any_staged_ ? "pinned host buffers with MPI" : "within the GPU";
}

#else

PetscErrorCode DeviceHalo::Create(const std::vector<HaloLink> &, const Patch &, MPI_Comm, PetscMPIInt, size_t,
                                  PetscBool, HaloWay, DeviceHalo **halo) {
  PetscFunctionBegin;
  *halo = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DeviceHalo::Destroy() {
  return PETSC_SUCCESS;
}
PetscErrorCode DeviceHalo::Begin(const void *) {
  return check_backend(PETSC_MEMTYPE_CUDA);
}
PetscErrorCode DeviceHalo::End(Field<char> *) {
  return check_backend(PETSC_MEMTYPE_CUDA);
}
const char *DeviceHalo::transport() const {
  return "none";
}

#endif

} // namespace shellac
