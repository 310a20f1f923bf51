// y = A c. Blocks of sources are passed around the ranks in a ring while the present one is summed; GPUs of one host read
// those of the others.

#include "device/arrays.hpp"
#include "device/memory.hpp"
#include "sums/fast_sum.hpp"
#include "sums/kernel_sum.hpp"

namespace shellac {

Layout KernelSumLayout(const KernelSumMat &context, bool transposed, bool conjugate, PetscInt columns,
                       const PetscScalar *in, PetscInt64 lda_in, PetscScalar *out, PetscInt64 lda_out) {
  constexpr int       reals_a_scalar = sizeof(PetscScalar) / sizeof(PetscReal);
  const FunctionInfo &info = context.info();
  const int           reals_a_value = reals_a_scalar * context.scalars_a_value();
  const int           dim = context.targets->dim;
  // a real function acts on the real and on the imaginary parts: as on two columns
  const int split = !info.complex && reals_a_scalar == 2 ? 2 : 1;
  Layout    layout;
  PairSum  &s = layout.sum;

  s.function = context.function;
  s.formula = context.formula.get();
  s.parameters = context.parameters;
  if (conjugate) s.parameters.wavenumber *= -1;
  s.form = !context.gradient ? SumForm::value : transposed ? SumForm::gradient_transposed : SumForm::gradient;
  s.dim = dim;
  s.own_value_at_zero = context.limit_is_own() || context.gradient || info.singular;
  for (int a = 0; a < 3; a++) s.center[a] = context.center[a];
  s.block = context.precision == MAT_KERNELSUM_MIXED ? 8 : 128;
  s.in.data = (const PetscReal *)in;
  s.out.data = (PetscReal *)out;
  s.in.point = s.out.point = reals_a_value;
  layout.columns = (int)columns;
  layout.narrow = context.precision != MAT_KERNELSUM_DOUBLE;
  layout.lda = lda_in * reals_a_scalar;
  if (s.form == SumForm::value) {
    s.columns = (int)columns * split;
    s.in.inner = s.out.inner = split;
    s.in.column = lda_in * reals_a_scalar;
    s.out.column = lda_out * reals_a_scalar;
  } else { // one column at a time
    layout.passes = split;
    s.in.column = s.out.column = reals_a_value;
    (s.form == SumForm::gradient ? s.out.point : s.in.point) *= dim;
  }
  layout.reals = (int)s.in.point;
  return layout;
}

static PetscErrorCode sum_pairs(Layout layout) {
  PetscFunctionBegin;
  for (int pass = 0; pass < layout.passes; pass++) {
    if (layout.narrow)
      PetscCall(SumPairs<float>(layout.sum));
    else
      PetscCall(SumPairs<double>(layout.sum));
    layout.sum.in.data++;
    layout.sum.out.data++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode synchronize(PetscMemType memory) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
  }
#else
  (void)memory;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KernelSumPairs(const Layout &layout) {
  constexpr PetscInt parts = 10;
  const PairSum     &all = layout.sum;

  PetscFunctionBegin;
  if (!layout.monitor) {
    PetscCall(sum_pairs(layout));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscInt n = all.group ? all.groups : all.targets.n, part = (n + parts - 1) / parts;
  for (PetscInt p = 0; p < parts; p++) {
    const PetscInt from = PetscMin(n, p * part), to = PetscMin(n, from + part);
    Layout         some = layout;
    if (all.group) {
      some.sum.group += from;
      some.sum.groups = to - from;
    } else {
      for (int a = 0; a < 3; a++)
        if (all.targets.x[a]) some.sum.targets.x[a] += from;
      some.sum.targets.n = to - from;
      some.sum.out.data += from * all.out.point;
    }
    if (to > from) PetscCall(sum_pairs(some));
    PetscCall(MonitorAdvance(layout.monitor, all.memory, 1. / parts));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MonitorAdvance(Monitor *monitor, PetscMemType memory, double blocks) {
  PetscLogDouble now;

  PetscFunctionBegin;
  if (!monitor) PetscFunctionReturn(PETSC_SUCCESS);
  monitor->done += blocks;
  PetscCall(synchronize(memory));
  PetscCall(PetscTime(&now));
  PetscCall(PetscPrintf(monitor->comm, "kernelsum: %5.1f %% of this rank's sum, %.3g s\n",
                        100 * monitor->done / monitor->blocks, now - monitor->begun));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A block of sources on its way: three arrays of coordinates, then the columns of values.
struct SourceBlock {
  std::vector<PetscReal> data;
  PetscInt               n = 0;
};
static int reals_of_a_point(const Layout &layout) {
  return 3 + layout.columns * layout.reals;
}
static size_t block_size(const Layout &layout, PetscInt n) {
  return (size_t)n * reals_of_a_point(layout);
}

static PetscErrorCode copy_out(PetscReal *to, const PetscReal *from, size_t n, PetscMemType memory) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory) && n) {
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaMemcpyAsync(to, from, n * sizeof(*to), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCall(PetscLogGpuToCpu(n * sizeof(*to)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#else
  (void)memory;
#endif
  std::copy(from, from + n, to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The layout with the sources of a block whose data are at `data`.
static Layout of_block(Layout layout, PetscInt n, const PetscReal *data) {
  PairSum &s = layout.sum;
  for (int a = 0; a < 3; a++) s.sources.x[a] = data + (size_t)a * n;
  s.sources.n = n;
  s.in.data = data + (size_t)3 * n;
  if (s.form == SumForm::value) s.in.column = (PetscInt64)n * layout.reals;
  s.add = true;
  return layout;
}

#if SHELLAC_CUDA
// Each GPU copies the blocks of the others, which have placed them in memory that it reads.
static PetscErrorCode visit_peers(MPI_Comm comm, PointCloud *sources, const Layout &layout, const Visit &visit) {
  const Peers   &peers = sources->peers;
  const int      rank = peers.rank(), ranks = peers.ranks();
  const size_t   n = (size_t)sources->n;
  PetscReal     *own = (PetscReal *)peers.of(rank), *copy = own + sources->peers_bytes / 2 / sizeof(PetscReal);
  const PairSum &s = layout.sum;
  cudaStream_t   stream;
  const auto     place = [&](PetscReal *to, const PetscReal *from, size_t reals) {
    return reals ? cudaMemcpyAsync(to, from, reals * sizeof(*to), cudaMemcpyDeviceToDevice, stream) : cudaSuccess;
  };

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  for (size_t a = 0; a < 3; a++) PetscCallCUDA(place(own + a * n, s.sources.x[a], n));
  for (int c = 0; c < layout.columns; c++)
    PetscCallCUDA(
        place(own + n * (3 + (size_t)c * layout.reals), s.in.data + c * layout.lda, n * (size_t)layout.reals));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallMPI(MPI_Barrier(comm));
  PetscCall(visit(layout, rank, 0));
  for (int step = 1; step < ranks; step++) {
    const int      owner = (rank + step) % ranks;
    const PetscInt its = sources->counts[(size_t)owner];
    PetscCallCUDA(place(copy, (const PetscReal *)peers.of(owner), block_size(layout, its)));
    PetscCall(visit(of_block(layout, its, copy), owner, step));
  }
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallMPI(MPI_Barrier(comm)); // nobody changes what another one reads
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode VisitInRing(MPI_Comm comm, PointCloud *sources, Layout layout, const Visit &visit) {
  PetscMPIInt  rank, ranks, tag;
  MPI_Comm     ring;
  MPI_Datatype a_point; // so that counts are points, which fit where reals may not
  SourceBlock  present, next;
  PairSum     &s = layout.sum;
  Points       own;
#if SHELLAC_CUDA
  PetscReal *on_device = NULL;
#endif

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (s.formula) PetscCall(s.formula->NeedKernels(comm, s.memory, layout.narrow)); // before ranks wait for one another
  PetscCall(PointCloudGetPoints(sources, s.memory, &s.sources));
  if (ranks == 1) {
    PetscCall(visit(layout, rank, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if SHELLAC_CUDA
  PetscInt most = 0;
  int      by_gpu = PetscMemTypeDevice(s.memory); // on all ranks
  for (PetscInt n : sources->counts) most = PetscMax(most, n);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &by_gpu, 1, MPI_INT, MPI_MIN, comm));
  const size_t room = 2 * PetscMax(1, block_size(layout, most)) * sizeof(PetscReal); // its own block, another's
  if (by_gpu && sources->peers_bytes < room) {
    PetscCall(sources->peers.Connect(comm, room, true));
    sources->peers_bytes = room;
  }
  if (by_gpu && sources->peers.connected()) PetscFunctionReturn(visit_peers(comm, sources, layout, visit));
#endif
  PetscCall(PetscCommDuplicate(comm, &ring, &tag));
  PetscCallMPI(MPI_Type_contiguous(reals_of_a_point(layout), MPIU_REAL, &a_point));
  PetscCallMPI(MPI_Type_commit(&a_point));
  present.n = sources->n;
  present.data.resize(block_size(layout, present.n));
  PetscCall(PointCloudGetPoints(sources, PETSC_MEMTYPE_HOST, &own));
  for (int a = 0; a < 3; a++) std::copy_n(own.x[a], own.n, present.data.begin() + (ptrdiff_t)a * own.n);
  for (int c = 0; c < layout.columns; c++)
    PetscCall(copy_out(present.data.data() + (size_t)present.n * (3 + (size_t)c * layout.reals),
                       s.in.data + c * layout.lda, (size_t)present.n * layout.reals, s.memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(s.memory)) {
    PetscCall(DeviceMalloc(PetscMax(1, block_size(layout, most)) * sizeof(PetscReal), (void **)&on_device));
  }
#endif
  for (int step = 0; step < ranks; step++) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (step + 1 < ranks) { // the next block travels while the present one is summed
      PetscMPIInt counts[2];
      next.n = sources->counts[(rank + step + 1) % ranks];
      next.data.resize(block_size(layout, next.n));
      PetscCall(PetscMPIIntCast(present.n, &counts[0]));
      PetscCall(PetscMPIIntCast(next.n, &counts[1]));
      PetscCallMPI(MPI_Irecv(next.data.data(), counts[1], a_point, (rank + 1) % ranks, tag, ring, &requests[0]));
      PetscCallMPI(
          MPI_Isend(present.data.data(), counts[0], a_point, (rank + ranks - 1) % ranks, tag, ring, &requests[1]));
    }
    if (step == 0)
      PetscCall(visit(layout, rank, 0));
    else {
      const PetscReal *data = present.data.data();
#if SHELLAC_CUDA
      if (on_device) { // in the stream's order, after the sum that reads the block before
        cudaStream_t stream;
        PetscCall(current_stream(&stream));
        PetscCallCUDA(
            cudaMemcpyAsync(on_device, data, present.data.size() * sizeof(PetscReal), cudaMemcpyHostToDevice, stream));
        PetscCall(PetscLogCpuToGpu(present.data.size() * sizeof(PetscReal)));
        data = on_device;
      }
#endif
      PetscCall(visit(of_block(layout, present.n, data), (rank + step) % ranks, step));
    }
    PetscCallMPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    std::swap(present, next);
  }
#if SHELLAC_CUDA
  DeviceFree(on_device);
#endif
  PetscCallMPI(MPI_Type_free(&a_point));
  PetscCall(PetscCommDestroy(&ring));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Marks the beginning and the end of a product in PETSc's stream: its time is asked for later, by a view. A GPU's small
// sums are not timed, since the marks would take longer.
static PetscErrorCode mark(KernelSumMat *context, PetscMemType memory, bool end) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    if (context->terms < 1e9) {
      context->seconds = 0;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    cudaStream_t stream;
    void       **event = end ? &context->end_event : &context->begin_event;
    if (!*event) PetscCallCUDA(cudaEventCreate((cudaEvent_t *)event));
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaEventRecord((cudaEvent_t)*event, stream));
    context->seconds = -1; // ask the events
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#else
  (void)memory;
#endif
  PetscLogDouble now;
  PetscCall(PetscTime(&now));
  context->seconds = end ? now - context->seconds : now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KernelSumApply(MPI_Comm comm, KernelSumMat *context, bool transposed, bool conjugate,
                              PetscMemType memory, PetscInt columns, const PetscScalar *in, PetscInt64 lda_in,
                              PetscScalar *out, PetscInt64 lda_out) {
  PointCloud *targets = transposed ? context->sources : context->targets;
  PointCloud *sources = transposed ? context->targets : context->sources;
  Monitor     monitor = {comm, 0, (int)sources->counts.size(), 0};

  PetscFunctionBegin;
  PetscCall(PetscTime(&monitor.begun));
  PetscCall(check_backend(memory));
  context->terms =
      columns * (context->fast ? context->fast->Terms(transposed) : (PetscLogDouble)targets->n * sources->N);
  PetscCall(mark(context, memory, false));
  PetscCall(PetscLogGpuTimeBegin());
  const PetscInt together = context->gradient || context->fast ? 1 : columns;
  for (PetscInt c = 0; c < columns; c += together) {
    Layout layout =
        KernelSumLayout(*context, transposed, conjugate, together, in + c * lda_in, lda_in, out + c * lda_out, lda_out);
    layout.sum.memory = memory;
    if (context->monitor) {
      layout.monitor = &monitor;
      monitor.done = 0;
    }
    PetscCall(PointCloudGetPoints(targets, memory, &layout.sum.targets));
    if (context->fast)
      PetscCall(context->fast->Apply(comm, transposed, layout));
    else
      PetscCall(VisitInRing(comm, sources, layout,
                            [](const Layout &block, PetscMPIInt, int) { return KernelSumPairs(block); }));
  }
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(mark(context, memory, true));
  context->products++;
  PetscCall(log_flops(memory, context->terms * (8 + context->info().flops + 2)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
