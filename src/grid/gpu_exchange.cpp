#include <cstring>

#include "grid/gpu_halo.hpp"

#if SHELLAC_CUDA
namespace shellac {

namespace {

struct PackPart {
  Box    from; // of the array's points
  size_t count;
  void  *to;
};

struct PackParts { // of one kernel
  static constexpr int most = Direction::count - 1;
  PackPart             part[most];
  int                  count = 0;
  Patch                patch;
};

// The flags to wait for, and the halos that come with them.
struct Flags {
  const unsigned long long *flag[most_flags];
  unsigned                 *inbox[most_flags]; // as words of 4 bytes
  size_t                    words[most_flags];
  PetscMPIInt               neighbour[most_flags];
  int                       count = 0;
};

// The neighbours' flags to raise.
struct Signals {
  unsigned long long *flag[most_flags];
  int                 count = 0;
};

// Copies each part to its place; the last block to finish raises the neighbours' flags.
template <class Value>
__global__ void pack(PackParts parts, Signals signals, const Value *u, unsigned long long exchange,
                     unsigned *finished) {
  const Patch &patch = parts.patch;
  size_t       n = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (int f = 0; f < parts.count; f++) {
    const PackPart &part = parts.part[f];
    if (n < part.count) {
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
    for (int f = 0; f < signals.count; f++) *(volatile unsigned long long *)signals.flag[f] = exchange;
  }
}

__device__ unsigned long long nanoseconds_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// A halo that does not arrive becomes NaN, so that no result looks right. `late`, on the GPU, makes later waits end at
// once; late_neighbour, on the host, is the rank that did not answer, plus one.
__global__ void wait_for_flags(Flags flags, unsigned long long exchange, unsigned long long timeout, int *late,
                               int *late_neighbour) {
  const int                          f = threadIdx.x;
  const volatile unsigned long long *flag = flags.flag[f];
  if (*flag < exchange) {
    const unsigned long long begin = nanoseconds_now();
    bool                     in_vain = *(volatile int *)late != 0;
    while (*flag < exchange && !in_vain) {
      __nanosleep(20);
      in_vain = timeout && nanoseconds_now() - begin > timeout;
    }
    if (in_vain) {
      for (size_t n = 0; n < flags.words[f]; n++) flags.inbox[f][n] = 0xffffffffu;
      *(volatile int *)late = 1;
      *(volatile int *)late_neighbour = flags.neighbour[f] + 1;
    }
  }
  __threadfence_system();
}

__global__ void raise_flags(Signals signals, unsigned long long exchange) {
  __threadfence_system();
  *(volatile unsigned long long *)signals.flag[threadIdx.x] = exchange;
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

PetscErrorCode GpuHalo::CheckLate() {
  const int late = *(volatile int *)late_neighbour_;

  PetscFunctionBegin;
  PetscCheck(!late, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "no halo came from rank %d within %g s: it has ended an operation with an error, or does something else; "
             "look for its error, or allow more time with -shellac_halo_timeout (0: no limit)",
             late - 1, (double)halo_timeout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::WaitForFlags(cudaStream_t stream) {
  Flags flags;

  PetscFunctionBegin;
  for (size_t f = 0; f < channels_.size(); f++) {
    if (channels_[f].way != Way::ipc) continue;
    flags.flag[flags.count] = channels_[f].flag;
    flags.inbox[flags.count] = (unsigned *)channels_[f].inbox[exchange_ % 2];
    flags.words[flags.count] = (*links_)[f].arriving * value_bytes_ / sizeof(unsigned);
    flags.neighbour[flags.count++] = (*links_)[f].neighbour;
  }
  wait_for_flags<<<1, flags.count, 0, stream>>>(flags, exchange_, (unsigned long long)(1e9 * halo_timeout), late_,
                                                late_neighbour_);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Begin(const void *u) {
  cudaStream_t          stream;
  std::vector<PackPart> all;
  Signals               signals;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (!memory_) PetscCall(Allocate()); // host vectors were expected: every link is staged
  PetscCall(CheckLate());
  exchange_++;
  open_ = true;
  const int turn = (int)(exchange_ % 2);
  for (size_t f = 0; f < channels_.size(); f++) {
    const Channel &c = channels_[f];
    char          *to = c.way == Way::local ? channels_[link_back(*links_, f)].inbox[turn] : c.outbox[turn];
    for (const Box &box : (*links_)[f].ours) {
      const size_t count = (size_t)box.points() * patch_.dof;
      all.push_back({box, count, to});
      to += count * value_bytes_;
    }
    if (c.neighbour_flag) signals.flag[signals.count++] = c.neighbour_flag;
  }
  for (size_t n = 0; n < all.size() || n == 0; n += PackParts::most) { // the last kernel raises the flags
    const bool last = n + PackParts::most >= all.size();
    PackParts  parts;
    size_t     values = 0;
    parts.patch = patch_;
    for (size_t p = n; p < all.size() && parts.count < PackParts::most; p++) {
      parts.part[parts.count++] = all[p];
      values += all[p].count;
    }
    const unsigned threads = 256, blocks = (unsigned)PetscMax((values + threads - 1) / threads, (size_t)1);
    const auto     run = [&](auto value) {
      pack<<<blocks, threads, 0, stream>>>(parts, last ? signals : Signals(), (const decltype(value) *)u, exchange_,
                                           finished_);
    };
    if (value_bytes_ == sizeof(float))
      run(float());
    else if (value_bytes_ == sizeof(double))
      run(double());
    else
      run(double2());
    PetscCallCUDA(cudaGetLastError());
  }
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
  if (any_ipc_) PetscCall(WaitForFlags(stream));
  if (any_staged_) {
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
  raise_flags<<<1, signals.count, 0, stream>>>(signals, exchange_);
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
