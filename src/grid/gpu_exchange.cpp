#include <cstring>

#include "grid/gpu_halo.hpp"

#if SHELLAC_CUDA
namespace shellac {

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

// The flags to wait for, and the halos that come with them.
struct Flags {
  const unsigned long long *flag[Direction::count - 1];
  unsigned                 *inbox[Direction::count - 1]; // as words of 4 bytes
  size_t                    words[Direction::count - 1];
  PetscMPIInt               neighbour[Direction::count - 1];
  int                       count = 0;
};

// The neighbours' flags to raise.
struct Signals {
  unsigned long long *flag[Direction::count - 1];
  int                 count = 0;
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
  const size_t bytes = (*links_)[f].count * value_bytes_;

  PetscFunctionBegin;
  if (channels_[f].send) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMallocHost((void **)&channels_[f].send, bytes));
  PetscCallCUDA(cudaMallocHost((void **)&channels_[f].receive, bytes));
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
    flags.words[flags.count] = (*links_)[f].count * value_bytes_ / sizeof(unsigned);
    flags.neighbour[flags.count++] = (*links_)[f].neighbour;
  }
  wait_for_flags<<<1, flags.count, 0, stream>>>(flags, exchange_, (unsigned long long)(1e9 * halo_timeout), late_,
                                                late_neighbour_);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Begin(const void *u) {
  cudaStream_t stream;
  PackParts    to;
  size_t       values = 0;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (!memory_) PetscCall(Allocate()); // host vectors were expected: every link is staged
  PetscCall(CheckLate());
  exchange_++;
  open_ = true;
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
    const Box       from = patch_.shared_with(link.to);
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
