#include <algorithm>
#include <cstring>

#include "grid/filling.hpp"
#include "grid/gpu_halo.hpp"

#if SHELLAC_CUDA
namespace shellac {

namespace {

__global__ void raise_flags(const __grid_constant__ HaloExchange halo) {
  const unsigned long long exchange = halo.next();
  __syncthreads();
  halo.raise(halo.flag_to_raise(), exchange);
}

__global__ void wait_for_flags(const __grid_constant__ HaloExchange halo) {
  halo.await(halo.flag_to_await(), halo.present());
}

template <class Value> __global__ void pack(const __grid_constant__ HaloExchange halo, const Value *u, bool waits) {
  const unsigned long long exchange = halo.next();
  if (halo.send(u, exchange, blockIdx.x, gridDim.x) && waits) halo.await(halo.flag_to_await(), exchange);
}

// Puts what comes over links into an array over the box to_box.
template <class T>
__global__ void fill(const FillPart *parts, int count, const __grid_constant__ HaloExchange halo,
                     const __grid_constant__ Box to_box, T *to) {
  const unsigned long long exchange = halo.present();
  size_t                   n = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  halo.await(halo.flag_to_await(), exchange);
  for (const FillPart *part = parts; part < parts + count; part++) {
    const size_t points = (size_t)part->there.points();
    for (; n < points; n += (size_t)gridDim.x * blockDim.x) {
      PetscInt p[3];
      part->there.point((PetscInt64)n, p);
      to[to_box.index(p)] = ((const T *)part->inbox[exchange % 2])[n];
    }
    n -= points;
  }
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
  PetscCall(PinnedMalloc(PetscMax(link.count, 1) * value_bytes_, (void **)&channels_[f].send));
  PetscCall(PinnedMalloc(PetscMax(link.arriving, 1) * value_bytes_, (void **)&channels_[f].receive));
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
  std::vector<PackPart>             packs;
  std::vector<Flag>                 flags;
  std::vector<FillPart>             fills;
  std::vector<unsigned long long *> raised;

  PetscFunctionBegin;
  parts_.values = fill_values_ = 0;
  for (Channel &c : channels_)
    if (c.way == Way::local)
      c.inbox[1] = c.inbox[0]; // the stream's order keeps its values, also where a graph runs again
  for (size_t f = 0; f < channels_.size(); f++) {
    Channel &c = channels_[f];
    size_t   at = 0;
    if (c.way == Way::local) { // the same at the other end of the axis
      const Channel &back = channels_[link_back(*links_, f)];
      std::copy_n(back.inbox, 2, c.outbox);
      c.neighbour_flag = back.flag;
    }
    for (const Box &box : (*links_)[f].ours) {
      const size_t count = (size_t)box.points() * patch_.dof;
      packs.push_back({box, count, {c.outbox[0] + at, c.outbox[1] + at}});
      at += count * value_bytes_;
      parts_.values += count;
    }
    if (c.way == Way::message) continue;
    raised.push_back(c.neighbour_flag);
    flags.push_back({c.flag,
                     {(unsigned *)c.inbox[0], (unsigned *)c.inbox[1]},
                     (*links_)[f].arriving * value_bytes_ / sizeof(unsigned),
                     (*links_)[f].neighbour});
  }
  for (const Filled &part : filled_) {
    if (part.link < 0) continue;
    FillPart fill = {part.there, {nullptr, nullptr}};
    for (int turn = 0; turn < 2; turn++)
      fill.inbox[turn] = channels_[(size_t)part.link].inbox[turn] + part.offset * value_bytes_;
    fills.push_back(fill);
    fill_values_ += (size_t)part.there.points();
  }
  const void  *from[] = {packs.data(), flags.data(), raised.data(), fills.data()};
  const size_t bytes[] = {packs.size() * sizeof(PackPart), flags.size() * sizeof(Flag),
                          raised.size() * sizeof(raised[0]), fills.size() * sizeof(FillPart)};
  char        *to[4];
  DeviceFree(tables_);
  tables_ = nullptr;
  PetscCall(DeviceMalloc(PetscMax(bytes[0] + bytes[1] + bytes[2] + bytes[3], (size_t)1), &tables_));
  to[0] = (char *)tables_;
  for (int n = 1; n < 4; n++) to[n] = to[n - 1] + bytes[n - 1];
  for (int n = 0; n < 4; n++)
    if (bytes[n]) PetscCall(DeviceCopyFromHost(to[n], from[n], bytes[n]));
  parts_.packs = (const PackPart *)to[0];
  parts_.flags = (const Flag *)to[1], parts_.flag_count = (int)flags.size();
  parts_.raised = (unsigned long long *const *)to[2], parts_.raised_count = (int)raised.size();
  fills_ = (const FillPart *)to[3], fill_count_ = (int)fills.size();
  parts_.counters = counters_;
  parts_.patch = patch_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

HaloExchange GpuHalo::exchange(unsigned long long number) const {
  HaloExchange exchange = parts_;
  exchange.number = number;
  exchange.patience = {(unsigned long long)(1e9 * halo_timeout), late_neighbour_};
  return exchange;
}

PetscErrorCode GpuHalo::WaitForFlags(cudaStream_t stream) {
  PetscFunctionBegin;
  if (!parts_.flag_count) PetscFunctionReturn(PETSC_SUCCESS);
  wait_for_flags<<<1, (unsigned)parts_.flag_count, 0, stream>>>(exchange(exchange_));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Pack(const void *u, unsigned long long number, bool waits, cudaStream_t stream) {
  const unsigned threads = 256, most = 2 * (unsigned)multiprocessors();
  const unsigned blocks = PetscMin(PetscMax(blocks_of((PetscInt64)parts_.values, threads), 1u), most);

  PetscFunctionBegin;
  with_type(value_bytes_, [&](auto value) {
    pack<<<blocks, threads, 0, stream>>>(exchange(number), (const decltype(value) *)u, waits);
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::PlanFilling(const std::vector<Filled> &parts, const Box &from) {
  PetscFunctionBegin;
  from_ = from;
  filled_ = parts;
  PetscCall(MakeParts());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Fill(const void *from, const Box &from_box, void *to, const Box &to_box, bool with_own) {
  const int      threads = 256;
  const unsigned blocks = blocks_of((PetscInt64)fill_values_, threads), most = 8 * (unsigned)multiprocessors();
  Field<char>    unused;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  for (int a = 0; a < 3; a++) parts_.patch.size[a] = from_box.size(a);
  const PetscInt begin[3] = {from_.lo[0] - from_box.lo[0], from_.lo[1] - from_box.lo[1], from_.lo[2] - from_box.lo[2]};
  const void    *patch = (const char *)from + parts_.patch.index(begin[0], begin[1], begin[2]) * value_bytes_;
  if (any_message_) {
    PetscCall(Begin(patch));
    PetscCall(End(&unused));
  } else {
    PetscCall(CheckLate());
    open_ = true;
    if (!channels_.empty()) PetscCall(Pack(patch, 0, false, stream));
  }
  for (const Filled &part : filled_) { // while the others' values are on their way
    const bool there = part.shift[0] == 0 && part.shift[1] == 0 && part.shift[2] == 0; // not around an axis
    if (part.link >= 0 || (there && (from == to || !with_own))) continue;
    PetscCall(with_type(value_bytes_, [&](auto value) {
      using T = decltype(value);
      const PetscInt *by = part.shift;
      return for_each_of_box(PETSC_MEMTYPE_DEVICE, part.there,
                             point::Paste<T, T>{from_box, to_box, {by[0], by[1], by[2]}, (const T *)from, (T *)to});
    }));
  }
  if (!channels_.empty()) {
    with_type(value_bytes_, [&](auto value) {
      fill<<<PetscMin(PetscMax(blocks, 1u), most), threads, 0, stream>>>(
          fills_, fill_count_, exchange(any_message_ ? exchange_ : 0), to_box, (decltype(value) *)to);
    });
    PetscCallCUDA(cudaGetLastError());
  }
  open_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Prepare() {
  PetscFunctionBegin;
  if (!memory_) PetscCall(Allocate()); // host vectors were expected: every link is staged
  if (!tables_) PetscCall(MakeParts());
  PetscCall(CheckLate());
  exchange_++;
  open_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void GpuHalo::GetHalo(Field<char> *field) const {
  for (size_t f = 0; f < channels_.size(); f++)
    field->halo[(*links_)[f].to.index()] = channels_[f].inbox[exchange_ % 2];
}

PetscErrorCode GpuHalo::BeginInKernel(const void *u, Field<char> *field) {
  PetscFunctionBegin;
  PetscCall(Prepare());
  in_kernel_ = {exchange(exchange_), false};
  in_kernel_u_ = u;
  GetHalo(field);
  field->exchange = &in_kernel_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What is packed, to where the neighbours read it, beside what the GPU does next.
PetscErrorCode GpuHalo::SendByNccl() {
  const int                  turn = (int)(exchange_ % 2);
  std::vector<Nccl::Message> sent, received;

  PetscFunctionBegin;
  for (size_t f = 0; f < channels_.size(); f++) {
    const size_t    from = receive_order(*links_, f);
    const HaloLink &link = (*links_)[f], &its = (*links_)[from];
    if (channels_[f].way == Way::message)
      sent.push_back({channels_[f].outbox[turn], link.count * value_bytes_, link.neighbour});
    if (channels_[from].way == Way::message)
      received.push_back({channels_[from].inbox[turn], its.arriving * value_bytes_, its.neighbour});
  }
  PetscCall(nccl_->Exchange(sent, received, packed_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::SendByMPI(cudaStream_t stream) {
  const bool               by_host = messages_ == Messages::by_host;
  const int                turn = (int)(exchange_ % 2);
  std::vector<MPI_Request> requests;

  PetscFunctionBegin;
  PetscCallCUDA(cudaEventSynchronize(packed_));
  for (size_t f = 0; f < channels_.size(); f++) {
    const size_t    at = receive_order(*links_, f);
    const HaloLink &link = (*links_)[at];
    if (channels_[at].way != Way::message) continue;
    requests.emplace_back();
    PetscCallMPI(MPI_Irecv(by_host ? channels_[at].receive : channels_[at].inbox[turn],
                           (PetscMPIInt)(link.arriving * value_bytes_), MPI_BYTE, link.neighbour, tag_, comm_,
                           &requests.back()));
  }
  for (size_t f = 0; f < channels_.size(); f++) {
    const HaloLink &link = (*links_)[f];
    if (channels_[f].way != Way::message) continue;
    requests.emplace_back();
    PetscCallMPI(MPI_Isend(by_host ? channels_[f].send : channels_[f].outbox[turn],
                           (PetscMPIInt)(link.count * value_bytes_), MPI_BYTE, link.neighbour, tag_, comm_,
                           &requests.back()));
  }
  PetscCallMPI(MPI_Waitall((PetscMPIInt)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
  for (size_t f = 0; f < channels_.size() && by_host; f++) {
    const size_t bytes = (*links_)[f].arriving * value_bytes_;
    if (channels_[f].way != Way::message) continue;
    PetscCallCUDA(
        cudaMemcpyAsync(channels_[f].inbox[turn], channels_[f].receive, bytes, cudaMemcpyHostToDevice, stream));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::Begin(const void *u) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCall(Prepare());
  PetscCall(Pack(u, exchange_, !any_message_, stream));
  if (!any_message_) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t f = 0; f < channels_.size() && messages_ == Messages::by_host; f++) {
    Channel     &c = channels_[f];
    const size_t bytes = (*links_)[f].count * value_bytes_;
    if (c.way != Way::message) continue;
    PetscCall(AllocatePinned(f));
    PetscCallCUDA(cudaMemcpyAsync(c.send, c.outbox[exchange_ % 2], bytes, cudaMemcpyDeviceToHost, stream));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  }
  PetscCallCUDA(cudaEventRecord(packed_, stream));
  if (by_nccl()) PetscCall(SendByNccl());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::End(Field<char> *field) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if (!in_kernel_.is_done) { // an error came before: the neighbours' exchange has to end, too
    in_kernel_.is_done = true;
    PetscCall(Pack(in_kernel_u_, exchange_, true, stream));
  }
  if (any_message_) {
    if (any_ipc_) PetscCall(WaitForFlags(stream));
    if (by_nccl())
      PetscCallCUDA(cudaStreamWaitEvent(stream, packed_, 0));
    else
      PetscCall(SendByMPI(stream));
  }
  GetHalo(field);
  field->exchange = nullptr;
  open_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::BeginOnHost(const void *u) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCall(Prepare());
  for (size_t f = 0; f < channels_.size(); f++) {
    const HaloLink &link = (*links_)[f];
    const Box      &from = link.ours[0];
    const size_t    point_bytes = patch_.dof * value_bytes_;
    if (!ends_on_gpu(f)) continue;
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
  }
  if (parts_.raised_count) {
    raise_flags<<<1, (unsigned)parts_.raised_count, 0, stream>>>(exchange(exchange_));
    PetscCallCUDA(cudaGetLastError());
  }
  if (by_nccl()) {
    PetscCallCUDA(cudaEventRecord(packed_, stream));
    PetscCall(SendByNccl());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpuHalo::EndOnHost(Field<char> *field) {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCall(WaitForFlags(stream));
  if (by_nccl()) PetscCallCUDA(cudaStreamWaitEvent(stream, packed_, 0));
  for (size_t f = 0; f < channels_.size(); f++) {
    const size_t bytes = (*links_)[f].count * value_bytes_;
    if (!ends_on_gpu(f)) continue;
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
