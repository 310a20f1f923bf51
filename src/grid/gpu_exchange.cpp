#include <cstring>

#include "device/chain.hpp"
#include "device/meeting.hpp"
#include "grid/filling.hpp"
#include "grid/gpu_halo.hpp"

#if SHELLAC_CUDA
namespace shellac {

namespace {

// The neighbours' flags to raise.
struct Signals {
  unsigned long long *flag[most_flags];
  int                 count = 0;
};

// Whether this is a kernel's last block, and all others are done.
__device__ bool is_last_block(unsigned *done) {
  __shared__ bool is;
  __syncthreads();
  if (threadIdx.x == 0) {
    is = atomicAdd(done, 1) == gridDim.x - 1;
    if (is) *done = 0;
  }
  __syncthreads();
  return is;
}

__device__ void raise(const Signals &signals, Counters *counters) {
  const unsigned long long exchange = counters->sent + 1;
  __threadfence_system();
  for (int f = (int)threadIdx.x; f < signals.count; f += (int)blockDim.x)
    *(volatile unsigned long long *)signals.flag[f] = exchange;
  __syncthreads();
  if (threadIdx.x == 0) counters->sent = exchange;
}

// Waits for a neighbour's flag; false: it was not raised in time.
__device__ bool arrives(const Flag &flag, unsigned long long exchange, Counters *counters, const Patience &patience) {
  const volatile unsigned long long *last = flag.last;
  bool                               in_vain = false;
  if (*last < exchange) {
    const unsigned long long begin = nanoseconds_now();
    in_vain = *(volatile int *)&counters->late != 0;
    while (*last < exchange && !in_vain) {
      __nanosleep(20);
      in_vain = patience.timeout && nanoseconds_now() - begin > patience.timeout;
    }
    if (in_vain) {
      *(volatile int *)&counters->late = 1;
      *(volatile int *)patience.late_neighbour = flag.neighbour + 1;
    }
  }
  __threadfence_system();
  return !in_vain;
}

// A halo that does not arrive becomes NaN, so that no result looks right. A thread for each flag.
__device__ void await(const Flag *flags, int count, Counters *counters, const Patience &patience) {
  const unsigned long long exchange = counters->received + 1;
  if ((int)threadIdx.x < count) {
    const Flag &flag = flags[threadIdx.x];
    if (!arrives(flag, exchange, counters, patience))
      for (size_t n = 0; n < flag.words; n++) flag.inbox[exchange % 2][n] = 0xffffffffu;
  }
  __syncthreads();
  if (threadIdx.x == 0) counters->received = exchange;
}

__global__ void raise_flags(const __grid_constant__ Signals signals, Counters *counters) {
  raise(signals, counters);
}

__global__ void wait_for_flags(const Flag *flags, int count, Counters *counters, Patience patience) {
  await(flags, count, counters, patience);
}

// Copies each part to its place; the last block to finish raises the neighbours' flags, and waits for so many of theirs.
template <class Value>
__global__ void pack(const PackPart *parts, int count, const __grid_constant__ Patch patch,
                     const __grid_constant__ Signals signals, const Value *u, Counters *counters, const Flag *flags,
                     int waited_for, Patience patience) {
  const int turn = (int)((counters->sent + 1) % 2);
  size_t    n = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (int f = 0; f < count; f++) {
    const PackPart &part = parts[f];
    if (n < part.count) {
      PetscInt p[3];
      part.from.point((PetscInt64)(n / patch.dof), p);
      reinterpret_cast<Value *>(part.to[turn])[n] = u[patch.index(p[0], p[1], p[2]) * patch.dof + n % patch.dof];
      break;
    }
    n -= part.count;
  }
  __threadfence_system(); // the values are there before the flags
  if (!is_last_block(&counters->packed)) return;
  raise(signals, counters);
  if (waited_for) await(flags, waited_for, counters, patience);
}

// Puts what comes over links into an array over the box to_box. ended: the exchange, if it has ended already; otherwise 0.
template <class T>
__global__ void fill(const FillPart *parts, size_t values, const Flag *flags, int flag_count, Counters *counters,
                     unsigned long long ended, Patience patience, const __grid_constant__ Box to_box, T *to) {
  const unsigned long long exchange = ended ? ended : counters->received + 1;
  unsigned                 came = 0, is_late = 0; // a bit for each flag
  int                      f = 0;
  size_t                   first = 0; // of the part f
  for (size_t n = (size_t)blockIdx.x * blockDim.x + threadIdx.x; n < values; n += (size_t)gridDim.x * blockDim.x) {
    while (n - first >= (size_t)parts[f].there.points()) first += (size_t)parts[f++].there.points();
    const FillPart &part = parts[f];
    PetscInt        p[3];
    part.there.point((PetscInt64)(n - first), p);
    const unsigned bit = part.flag < 0 ? 0 : 1u << part.flag;
    if (bit && !(came & bit) && !arrives(flags[part.flag], exchange, counters, patience)) is_late |= bit;
    came |= bit;
    T &value = to[to_box.index(p)];
    value = ((const T *)part.inbox[exchange % 2])[n - first];
    if (is_late & bit) memset(&value, 0xff, sizeof(T)); // not a number
  }
  if (ended) return;
  // those that send nothing here, too: they may still read what came the last time
  if (blockIdx.x == 0 && (int)threadIdx.x < flag_count) (void)arrives(flags[threadIdx.x], exchange, counters, patience);
  if (is_last_block(&counters->filled) && threadIdx.x == 0) counters->received = exchange;
}

// Calls run with a number of so many bytes.
template <class Run> auto with_type(size_t bytes, const Run &run) {
  return bytes == sizeof(float) ? run(float()) : bytes == sizeof(double) ? run(double()) : run(double2());
}

} // namespace

PetscErrorCode GpuHalo::AllocatePinned(size_t f) {
  const HaloLink &link = (*links_)[f];

  PetscFunctionBegin;
  if (channels_[f].send) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMallocHost((void **)&channels_[f].send, PetscMax(link.count, 1) * value_bytes_));
  PetscCallCUDA(cudaMallocHost((void **)&channels_[f].receive, PetscMax(link.arriving, 1) * value_bytes_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::CheckLate() const {
  const int late = late_neighbour_ ? *(volatile int *)late_neighbour_ : 0;

  PetscFunctionBegin;
  PetscCheck(!late, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "no halo came from rank %d within %g s: it has ended an operation with an error, or does something else; "
             "look for its error, or allow more time with -shellac_halo_timeout (0: no limit)",
             late - 1, (double)halo_timeout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the kernels need to know, in one piece of the GPU's memory.
PetscErrorCode GpuHalo::MakeParts() {
  std::vector<PackPart> packs;
  std::vector<Flag>     flags;
  std::vector<FillPart> fills;
  std::vector<int>      flag_of(channels_.size(), -1);

  PetscFunctionBegin;
  pack_values_ = fill_values_ = 0;
  for (Channel &c : channels_)
    if (c.way == Way::local) c.inbox[1] = c.inbox[0]; // the stream's order keeps its values
  for (size_t f = 0; f < channels_.size(); f++) {
    const Channel &c = channels_[f];
    char *const   *to = c.way == Way::local ? channels_[link_back(*links_, f)].inbox : c.outbox;
    size_t         at = 0;
    for (const Box &box : (*links_)[f].ours) {
      const size_t count = (size_t)box.points() * patch_.dof;
      packs.push_back({box, count, {to[0] + at, to[1] + at}});
      at += count * value_bytes_;
      pack_values_ += count;
    }
    if (c.way != Way::ipc) continue;
    flag_of[f] = (int)flags.size();
    flags.push_back({c.flag,
                     {(unsigned *)c.inbox[0], (unsigned *)c.inbox[1]},
                     (*links_)[f].arriving * value_bytes_ / sizeof(unsigned),
                     (*links_)[f].neighbour});
  }
  for (const Filled &part : filled_) {
    if (part.link < 0) continue;
    FillPart fill = {part.there, {nullptr, nullptr}, any_staged_ ? -1 : flag_of[(size_t)part.link]};
    for (int turn = 0; turn < 2; turn++)
      fill.inbox[turn] = channels_[(size_t)part.link].inbox[turn] + part.offset * value_bytes_;
    fills.push_back(fill);
    fill_values_ += (size_t)part.there.points();
  }
  pack_count_ = (int)packs.size(), flag_count_ = (int)flags.size();
  const size_t bytes[] = {packs.size() * sizeof(PackPart), flags.size() * sizeof(Flag),
                          fills.size() * sizeof(FillPart)};
  DeviceFree(tables_);
  tables_ = nullptr;
  PetscCall(DeviceMalloc(PetscMax(bytes[0] + bytes[1] + bytes[2], (size_t)1), &tables_));
  char       *to = (char *)tables_;
  const void *from[] = {packs.data(), flags.data(), fills.data()};
  packs_ = (const PackPart *)to;
  flags_ = (const Flag *)(to + bytes[0]);
  fills_ = (const FillPart *)(to + bytes[0] + bytes[1]);
  for (int n = 0; n < 3; to += bytes[n++])
    if (bytes[n]) PetscCall(DeviceCopyFromHost(to, from[n], bytes[n]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::WaitForFlags(cudaStream_t stream) {
  PetscFunctionBegin;
  wait_for_flags<<<1, (unsigned)flag_count_, 0, stream>>>(flags_, flag_count_, counters_, patience());
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Pack(const void *u, bool waits, cudaStream_t stream) {
  const unsigned threads = 256, blocks = (unsigned)PetscMax((pack_values_ + threads - 1) / threads, (size_t)1);
  Signals        signals;

  PetscFunctionBegin;
  for (const Channel &c : channels_)
    if (c.neighbour_flag) signals.flag[signals.count++] = c.neighbour_flag;
  with_type(value_bytes_, [&](auto value) {
    pack<<<blocks, threads, 0, stream>>>(packs_, pack_count_, patch_, signals, (const decltype(value) *)u, counters_,
                                         flags_, waits ? flag_count_ : 0, patience());
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::PlanFilling(const std::vector<Filled> &parts, const Box &from, const Box &to) {
  PetscFunctionBegin;
  from_ = from;
  to_ = to;
  filled_ = parts;
  PetscCall(MakeParts());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Fill(const void *from, void *to, bool with_own) {
  const size_t threads = 256,
               blocks = PetscMin((fill_values_ + threads - 1) / threads, (size_t)(8 * multiprocessors()));
  Field<char>  unused;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (any_staged_) {
    PetscCall(Begin(from));
    PetscCall(End(&unused));
  } else {
    PetscCall(CheckLate());
    open_ = true;
    if (!channels_.empty()) PetscCall(Pack(from, false, stream));
  }
  for (const Filled &part : filled_) { // while the others' values are on their way
    const bool there = part.shift[0] == 0 && part.shift[1] == 0 && part.shift[2] == 0; // not around an axis
    if (part.link >= 0 || (there && (from == to || !with_own))) continue;
    PetscCall(with_type(value_bytes_, [&](auto value) {
      using T = decltype(value);
      const PetscInt *by = part.shift;
      return for_each_of_box(PETSC_MEMTYPE_DEVICE, part.there,
                             point::Paste<T, T>{from_, to_, {by[0], by[1], by[2]}, (const T *)from, (T *)to});
    }));
  }
  if (!channels_.empty()) {
    with_type(value_bytes_, [&](auto value) {
      fill<<<(unsigned)PetscMax(blocks, (size_t)1), (unsigned)threads, 0, stream>>>(
          fills_, fill_values_, flags_, flag_count_, counters_, any_staged_ ? exchange_ : 0, patience(), to_,
          (decltype(value) *)to);
    });
    PetscCallCUDA(cudaGetLastError());
  }
  open_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Begin(const void *u) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (!memory_) PetscCall(Allocate()); // host vectors were expected: every link is staged
  if (!tables_) PetscCall(MakeParts());
  PetscCall(CheckLate());
  exchange_++;
  open_ = true;
  const int turn = (int)(exchange_ % 2);
  PetscCall(Pack(u, !any_staged_, stream));
  if (any_staged_) {
    for (size_t f = 0; f < channels_.size(); f++) {
      Channel     &c = channels_[f];
      const size_t bytes = (*links_)[f].count * value_bytes_;
      if (c.way != Way::staged) continue;
      PetscCall(AllocatePinned(f));
      PetscCallCUDA(cudaMemcpyAsync(c.send, c.outbox[turn], bytes, cudaMemcpyDeviceToHost, stream));
      PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
    }
    PetscCallCUDA(cudaEventRecord(packed_, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::End(Field<char> *field) {
  cudaStream_t stream;
  const int    turn = (int)(exchange_ % 2);

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (any_staged_) {
    if (any_ipc_) PetscCall(WaitForFlags(stream));
    std::vector<MPI_Request> requests;
    PetscCallCUDA(cudaEventSynchronize(packed_));
    for (size_t f = 0; f < channels_.size(); f++) {
      const size_t at = receive_order(*links_, f);
      if (channels_[at].way != Way::staged) continue;
      requests.emplace_back();
      PetscCallMPI(MPI_Irecv(channels_[at].receive, (PetscMPIInt)((*links_)[at].arriving * value_bytes_), MPI_BYTE,
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
      const size_t bytes = (*links_)[f].arriving * value_bytes_;
      if (channels_[f].way != Way::staged) continue;
      PetscCallCUDA(
          cudaMemcpyAsync(channels_[f].inbox[turn], channels_[f].receive, bytes, cudaMemcpyHostToDevice, stream));
      PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
    }
  }
  for (size_t f = 0; f < channels_.size(); f++) field->halo[(*links_)[f].to.index()] = channels_[f].inbox[turn];
  open_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::BeginOnHost(const void *u) {
  cudaStream_t stream;
  Signals      signals;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (!tables_) PetscCall(MakeParts());
  PetscCall(CheckLate());
  exchange_++;
  open_ = true;
  for (size_t f = 0; f < channels_.size(); f++) {
    const HaloLink &link = (*links_)[f];
    const Box      &from = link.ours[0];
    const size_t    point_bytes = patch_.dof * value_bytes_;
    if (channels_[f].way != Way::ipc) continue;
    PetscCall(AllocatePinned(f));
    char *to = channels_[f].send;
    for_each_on_host(from, [&](PetscInt i, PetscInt j, PetscInt k) {
      memcpy(to, static_cast<const char *>(u) + patch_.index(i, j, k) * point_bytes, point_bytes);
      to += point_bytes;
    });
    const size_t bytes = link.count * value_bytes_;
    PetscCallCUDA(
        cudaMemcpyAsync(channels_[f].outbox[exchange_ % 2], channels_[f].send, bytes, cudaMemcpyDefault, stream));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
    signals.flag[signals.count++] = channels_[f].neighbour_flag;
  }
  raise_flags<<<1, (unsigned)signals.count, 0, stream>>>(signals, counters_);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::EndOnHost(Field<char> *field) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCall(WaitForFlags(stream));
  for (size_t f = 0; f < channels_.size(); f++) {
    const size_t bytes = (*links_)[f].count * value_bytes_;
    if (channels_[f].way != Way::ipc) continue;
    PetscCallCUDA(cudaMemcpyAsync(channels_[f].receive, channels_[f].inbox[exchange_ % 2], bytes,
                                  cudaMemcpyDeviceToHost, stream));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
    field->halo[(*links_)[f].to.index()] = channels_[f].receive;
  }
  PetscCallCUDA(cudaStreamSynchronize(stream));
  open_ = false;
  PetscCall(CheckLate());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
