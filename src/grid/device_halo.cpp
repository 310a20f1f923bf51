#include "grid/device_halo.hpp"

#include <cstring>

namespace shellac {

#if SHELLAC_CUDA

namespace {

struct PackFace {
  int                 axis;
  Side                end;
  PetscMPIInt         count;
  PetscScalar        *to;
  unsigned long long *flag; // null: nobody waits on one
};

struct PackFaces {
  PackFace face[6];
  int      count = 0;
  Patch    patch;
};

struct Flags {
  const unsigned long long *flag[6];
  int                       count = 0;
};

// Copies the points at each end to their places; the last block to finish raises the neighbours' flags.
__global__ void pack(PackFaces faces, const PetscScalar *u, unsigned long long exchange, unsigned *finished) {
  const Patch &patch = faces.patch;
  size_t       n = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (int f = 0; f < faces.count; f++) {
    const PackFace &face = faces.face[f];
    if (n < (size_t)face.count) {
      const PetscInt last = face.end == LOWER ? 0 : patch.size[face.axis] - 1;
      const size_t   row = (size_t)patch.size[face.axis == 0 ? 1 : 0]; // the faster of the other two axes
      const PetscInt fast = (PetscInt)(n % row), slow = (PetscInt)(n / row);
      const size_t   from = face.axis == 0   ? patch.index(last, fast, slow)
                            : face.axis == 1 ? patch.index(fast, last, slow)
                                             : patch.index(fast, slow, last);
      face.to[n] = u[from];
      break;
    }
    n -= face.count;
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(finished, 1) == gridDim.x - 1) {
    *finished = 0;
    __threadfence_system();
    for (int f = 0; f < faces.count; f++)
      if (faces.face[f].flag) *(volatile unsigned long long *)faces.face[f].flag = exchange;
  }
}

__global__ void wait_for_flags(Flags flags, unsigned long long exchange) {
  const volatile unsigned long long *flag = flags.flag[threadIdx.x];
  while (*flag < exchange) __nanosleep(20);
  __threadfence_system();
}

// What a rank tells a neighbour of the face between them.
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

// Sends one record to each neighbour and gets theirs, for the face that we share.
template <class Record>
static PetscErrorCode exchange_records(const std::vector<HaloFace> &faces, MPI_Comm comm, PetscMPIInt tag,
                                       const std::vector<Record> &ours, std::vector<Record> &theirs) {
  std::vector<MPI_Request> requests(2 * faces.size());

  PetscFunctionBegin;
  theirs.resize(faces.size());
  for (size_t f = 0; f < faces.size(); f++) {
    const size_t to = opposite_face(faces, f);
    PetscCallMPI(
        MPI_Irecv(&theirs[to], (PetscMPIInt)sizeof(Record), MPI_BYTE, faces[to].neighbour, tag, comm, &requests[f]));
  }
  for (size_t f = 0; f < faces.size(); f++)
    PetscCallMPI(MPI_Isend(&ours[f], (PetscMPIInt)sizeof(Record), MPI_BYTE, faces[f].neighbour, tag, comm,
                           &requests[faces.size() + f]));
  PetscCallMPI(MPI_Waitall((PetscMPIInt)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceHalo::Create(const std::vector<HaloFace> &faces, const Patch &patch, MPI_Comm comm,
                                  PetscMPIInt tag, PetscBool device, HaloWay way, DeviceHalo **halo) {
  PetscFunctionBegin;
  *halo = new DeviceHalo;
  (*halo)->faces_ = &faces;
  (*halo)->patch_ = patch;
  (*halo)->comm_ = comm;
  (*halo)->tag_ = tag;
  (*halo)->channels_.resize(faces.size());
  if (device) PetscCall((*halo)->Allocate());
  PetscCall((*halo)->Agree(device, way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceHalo::Allocate() {
  size_t bytes = aligned(sizeof(unsigned));

  PetscFunctionBegin;
  for (const HaloFace &face : *faces_) bytes += 3 * aligned(face.count * sizeof(PetscScalar)) + aligned(8);
  PetscCallCUDA(cudaMalloc((void **)&memory_, bytes));
  PetscCallCUDA(cudaMemset(memory_, 0, bytes));
  PetscCallCUDA(cudaDeviceSynchronize()); // zero before a neighbour can write
  PetscCallCUDA(cudaEventCreateWithFlags(&packed_, cudaEventDisableTiming));
  finished_ = (unsigned *)memory_;
  char *at = memory_ + aligned(sizeof(unsigned));
  for (size_t f = 0; f < channels_.size(); f++) {
    const size_t size = aligned((*faces_)[f].count * sizeof(PetscScalar));
    Channel     &c = channels_[f];
    c.inbox[0] = (PetscScalar *)at;
    c.inbox[1] = (PetscScalar *)(at + size);
    c.outbox[0] = c.outbox[1] = (PetscScalar *)(at + 2 * size); // until a neighbour's inbox takes its place
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
    ours[f].inbox[0] = (size_t)((char *)channels_[f].inbox[0] - memory_);
    ours[f].inbox[1] = (size_t)((char *)channels_[f].inbox[1] - memory_);
    ours[f].flag = (size_t)((char *)channels_[f].flag - memory_);
  }
  PetscCall(exchange_records(*faces_, comm_, tag_, ours, theirs));
  for (size_t f = 0; f < n; f++) {
    const bool same_host = strcmp(ours[f].host, theirs[f].host) == 0;
    if ((*faces_)[f].neighbour == rank || !offers || !theirs[f].offers_ipc || !same_host) continue;
    const cudaError_t error =
        cudaIpcOpenMemHandle(&channels_[f].mapping, theirs[f].memory, cudaIpcMemLazyEnablePeerAccess);
    mapped[f] = error == cudaSuccess;
    if (error)
      PetscCall(
          PetscInfo(NULL, "No CUDA IPC with rank %d: %s\n", (int)(*faces_)[f].neighbour, cudaGetErrorString(error)));
  }
  if (device) (void)cudaGetLastError();
  PetscCall(exchange_records(*faces_, comm_, tag_, mapped, both));
  for (size_t f = 0; f < n; f++) {
    Channel &c = channels_[f];
    PetscCall(PetscInfo(NULL, "Halo with rank %d: CUDA IPC offered %d and %d, mapped %d and %d\n",
                        (int)(*faces_)[f].neighbour, offers, theirs[f].offers_ipc, mapped[f], both[f]));
    if ((*faces_)[f].neighbour == rank)
      c.way = Way::local; // around a periodic axis
    else if (mapped[f] && both[f]) {
      c.way = Way::ipc;
      for (int turn = 0; turn < 2; turn++) c.outbox[turn] = (PetscScalar *)((char *)c.mapping + theirs[f].inbox[turn]);
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
    std::vector<HaloFace> shared;
    PetscCallCUDA(cudaDeviceSynchronize());
    for (size_t f = 0; f < channels_.size(); f++) {
      if (channels_[f].way != Way::ipc) continue;
      PetscCallCUDA(cudaIpcCloseMemHandle(channels_[f].mapping));
      shared.push_back((*faces_)[f]);
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

PetscErrorCode DeviceHalo::Begin(const PetscScalar *u) {
  cudaStream_t stream;
  PackFaces    to;
  size_t       points = 0;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (!memory_) PetscCall(Allocate()); // host vectors were expected: every face is staged
  exchange_++;
  const int turn = (int)(exchange_ % 2);
  to.patch = patch_;
  for (size_t f = 0; f < channels_.size(); f++) {
    const HaloFace &face = (*faces_)[f];
    const Channel  &c = channels_[f];
    PetscScalar    *box = c.way == Way::local ? channels_[opposite_face(*faces_, f)].inbox[turn] : c.outbox[turn];
    to.face[to.count++] = {face.axis, face.end, face.count, box, c.neighbour_flag};
    points += face.count;
  }
  const unsigned threads = 256, blocks = (unsigned)((points + threads - 1) / threads);
  pack<<<blocks, threads, 0, stream>>>(to, u, exchange_, finished_);
  PetscCallCUDA(cudaGetLastError());
  if (any_staged_) {
    for (size_t f = 0; f < channels_.size(); f++) {
      Channel     &c = channels_[f];
      const size_t bytes = (*faces_)[f].count * sizeof(PetscScalar);
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

PetscErrorCode DeviceHalo::End(Field<PetscScalar> *field) {
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
      const size_t at = opposite_face(*faces_, f);
      if (channels_[at].way != Way::staged) continue;
      requests.emplace_back();
      PetscCallMPI(MPI_Irecv(channels_[at].receive, (*faces_)[at].count, MPIU_SCALAR, (*faces_)[at].neighbour, tag_,
                             comm_, &requests.back()));
    }
    for (size_t f = 0; f < channels_.size(); f++) {
      if (channels_[f].way != Way::staged) continue;
      requests.emplace_back();
      PetscCallMPI(MPI_Isend(channels_[f].send, (*faces_)[f].count, MPIU_SCALAR, (*faces_)[f].neighbour, tag_, comm_,
                             &requests.back()));
    }
    PetscCallMPI(MPI_Waitall((PetscMPIInt)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
    for (size_t f = 0; f < channels_.size(); f++) {
      const size_t bytes = (*faces_)[f].count * sizeof(PetscScalar);
      if (channels_[f].way != Way::staged) continue;
      PetscCallCUDA(
          cudaMemcpyAsync(channels_[f].inbox[turn], channels_[f].receive, bytes, cudaMemcpyHostToDevice, stream));
      PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
    }
  }
  for (size_t f = 0; f < channels_.size(); f++)
    field->halo[(*faces_)[f].axis][(*faces_)[f].end] = channels_[f].inbox[turn];
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *DeviceHalo::transport() const {
  if (any_ipc_) return any_staged_ ? "CUDA IPC, and pinned host buffers with MPI" : "CUDA IPC";
  return any_staged_ ? "pinned host buffers with MPI" : "within the GPU";
}

#else

PetscErrorCode DeviceHalo::Create(const std::vector<HaloFace> &, const Patch &, MPI_Comm, PetscMPIInt, PetscBool,
                                  HaloWay, DeviceHalo **halo) {
  PetscFunctionBegin;
  *halo = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DeviceHalo::Destroy() {
  return PETSC_SUCCESS;
}
PetscErrorCode DeviceHalo::Begin(const PetscScalar *) {
  return check_backend(PETSC_MEMTYPE_CUDA);
}
PetscErrorCode DeviceHalo::End(Field<PetscScalar> *) {
  return check_backend(PETSC_MEMTYPE_CUDA);
}
const char *DeviceHalo::transport() const {
  return "none";
}

#endif

} // namespace shellac
