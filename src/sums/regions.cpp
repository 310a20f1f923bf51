#include "sums/regions.hpp"

#include <algorithm>

namespace shellac {

static PetscErrorCode create_sf(MPI_Comm comm, PetscInt roots, std::vector<PetscSFNode> leaves, PetscSF *sf) {
  PetscFunctionBegin;
  PetscCall(PetscSFCreate(comm, sf));
  PetscCall(
      PetscSFSetGraph(*sf, roots, (PetscInt)leaves.size(), NULL, PETSC_COPY_VALUES, leaves.data(), PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(*sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointSFCreate(MPI_Comm comm, const PointCloud &points, const std::vector<PetscInt> &numbers,
                             PetscSF *sf) {
  std::vector<PetscInt>    starts(1, 0); // of the ranks' points
  std::vector<PetscSFNode> leaves;

  PetscFunctionBegin;
  for (PetscInt n : points.counts) starts.push_back(starts.back() + n);
  for (PetscInt i : numbers) {
    const auto owner = std::upper_bound(starts.begin(), starts.end(), i) - starts.begin() - 1;
    leaves.push_back({(PetscMPIInt)owner, i - starts[owner]});
  }
  PetscCall(create_sf(comm, points.n, leaves, sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

struct SetPlace {
  const PetscInt *order;
  PetscInt       *place_of;

  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { place_of[order[i]] = i; }
};
struct GetPlace {
  const PetscInt *place_of, *chosen;
  PetscInt       *places;

  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { places[i] = place_of[chosen[i]]; }
};

} // namespace

PetscErrorCode PlacesInOrder::Find(PetscMemType memory, Mirror<PetscInt> *order, const std::vector<PetscInt> &chosen,
                                   std::vector<PetscInt> *places) {
  const size_t     n = order->size();
  Mirror<PetscInt> some, found;
  const PetscInt  *which;
  PetscInt        *to;

  PetscFunctionBegin;
  if (of_.size() < n) {
    const PetscInt *all;
    PetscCall(order->Get(memory, &all));
    PetscCall(of_.Grow(n, memory));
    PetscCall(for_each(memory, line_of(n), SetPlace{all, of_.at(memory)}));
  }
  some.change() = chosen;
  PetscCall(some.Get(memory, &which));
  PetscCall(found.Make(memory, chosen.size(), &to));
  PetscCall(for_each(memory, line_of(chosen.size()), GetPlace{of_.at(memory), which, to}));
  PetscCall(found.Get(PETSC_MEMTYPE_HOST, &which));
  places->assign(which, which + chosen.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointExchange::Create(MPI_Comm comm, DealtPoints *dealt) {
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  comm_ = comm;
  order_.swap(&dealt->order);
  counts_[0] = dealt->sent;
  counts_[1] = dealt->received;
  for (int side = 0; side < 2; side++) {
    starts_[side].assign(1, 0);
    for (PetscMPIInt n : counts_[side]) starts_[side].push_back(starts_[side].back() + n);
    there_[side].resize(ranks);
    PetscCallMPI(MPI_Alltoall(starts_[side].data(), 1, MPI_INT, there_[side].data(), 1, MPI_INT, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointExchange::Find(PetscMemType memory, const std::vector<PetscInt> &points,
                                   std::vector<PetscInt> *there, std::vector<PetscSFNode> *from) {
  struct Item {
    PetscInt place, which; // among those sent to a rank, among the points
  };
  std::vector<PetscInt>    places;
  std::vector<Item>        items;
  std::vector<PetscMPIInt> counts(counts_[0].size(), 0);

  PetscFunctionBegin;
  PetscCall(places_.Find(memory, &order_, points, &places));
  for (size_t r = 0; r < counts.size(); r++)
    for (size_t i = 0; i < places.size(); i++) {
      if (places[i] < starts_[0][r] || places[i] >= starts_[0][r + 1]) continue;
      items.push_back({places[i] - starts_[0][r], (PetscInt)i});
      counts[r]++;
    }
  PetscCall(SendItems(comm_, &items, &counts));
  there->clear();
  from->clear();
  const Item *item = items.data();
  for (size_t r = 0; r < counts.size(); r++)
    for (const Item *end = item + counts[r]; item < end; item++) {
      there->push_back(starts_[1][r] + item->place);
      from->push_back({(PetscMPIInt)r, item->which});
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// *are: all ranks' GPUs read each other's memory, with room for what each sends or receives.
PetscErrorCode PointExchange::ConnectGPUs(PetscMemType memory, int reals, bool *are) {
  const PetscInt64 points = PetscMax(starts_[0].back(), starts_[1].back());
  PetscInt64       most[2] = {PetscMemTypeHost(memory), points};

  PetscFunctionBegin;
  *are = false;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPIU_INT64, MPI_MAX, comm_));
  if (!any_kernels || most[0]) PetscFunctionReturn(PETSC_SUCCESS);
  const size_t bytes = (size_t)PetscMax(1, most[1]) * (size_t)reals * sizeof(PetscReal);
  if (peers_bytes_ < bytes) PetscCall(peers_.Connect(comm_, bytes, true));
  peers_bytes_ = PetscMax(peers_bytes_, bytes);
  *are = peers_.connected();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// From what each rank sends to what it receives, or back.
PetscErrorCode PointExchange::Travel(PetscMemType memory, bool back, int reals, const PetscReal *from, PetscReal *to) {
  const auto  &out = counts_[back], &in = counts_[!back], &out_starts = starts_[back], &in_starts = starts_[!back];
  const size_t n_out = (size_t)out_starts.back() * reals, n_in = (size_t)in_starts.back() * reals;
  MPI_Datatype a_point;
  bool         by_gpus;

  PetscFunctionBegin;
  PetscCall(ConnectGPUs(memory, reals, &by_gpus));
#if SHELLAC_CUDA
  if (by_gpus) {
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    const auto copy = [&](PetscReal *there, const PetscReal *here, size_t n) {
      return n ? cudaMemcpyAsync(there, here, n * sizeof(*there), cudaMemcpyDefault, stream) : cudaSuccess;
    };
    const auto all_have = [&] {
      PetscFunctionBegin;
      PetscCallCUDA(cudaStreamSynchronize(stream));
      PetscCallMPI(MPI_Barrier(comm_));
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    PetscCallCUDA(copy((PetscReal *)peers_.of(peers_.rank()), from, n_out));
    PetscCall(all_have());
    for (int r = 0; r < peers_.ranks(); r++)
      PetscCallCUDA(copy(to + (size_t)in_starts[r] * reals,
                         (const PetscReal *)peers_.of(r) + (size_t)there_[back][r] * reals, (size_t)in[r] * reals));
    PetscFunctionReturn(all_have()); // nobody changes what another one reads
  }
#endif
  const PetscReal *sent = from;
  PetscReal       *received = to;
  if (PetscMemTypeDevice(memory)) {
    for (auto &message : messages_) message.resize(PetscMax(n_in, n_out));
    if (n_out) PetscCall(DeviceCopyToHost(messages_[0].data(), from, n_out * sizeof(*from)));
    sent = messages_[0].data();
    received = messages_[1].data();
  }
  PetscCallMPI(MPI_Type_contiguous(reals, MPIU_REAL, &a_point));
  PetscCallMPI(MPI_Type_commit(&a_point));
  PetscCallMPI(MPI_Alltoallv(sent, out.data(), out_starts.data(), a_point, received, in.data(), in_starts.data(),
                             a_point, comm_));
  PetscCallMPI(MPI_Type_free(&a_point));
  if (received != to && n_in) PetscCall(DeviceCopyFromHost(to, received, n_in * sizeof(*to)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointExchange::ToRegion(PetscMemType memory, int reals, const PetscReal *points, PetscReal *region) {
  const size_t    n = (size_t)starts_[0].back();
  const PetscInt *order;

  PetscFunctionBegin;
  PetscCall(order_.Get(memory, &order));
  PetscCall(packed_.Grow(n * reals, memory));
  PetscCall(for_each(memory, line_of(n), Reorder<false>{reals, order, points, packed_.at(memory)}));
  PetscCall(Travel(memory, false, reals, packed_.at(memory), region));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointExchange::FromRegion(PetscMemType memory, int reals, const PetscReal *region, PetscReal *points) {
  const size_t    n = (size_t)starts_[0].back();
  const PetscInt *order;

  PetscFunctionBegin;
  PetscCall(order_.Get(memory, &order));
  PetscCall(packed_.Grow(n * reals, memory));
  PetscCall(Travel(memory, true, reals, region, packed_.at(memory)));
  PetscCall(for_each(memory, line_of(n), Reorder<true>{reals, order, packed_.at(memory), points}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Region::Create(MPI_Comm comm, PetscMemType memory, PointCloud *points) {
  DealtPoints    dealt;
  Points         given;
  PetscMPIInt    ranks;
  const PetscInt N = points->N;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) {
    cloud = points;
    cloud->references++;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const auto between_ranks = [&](const Cluster &part) { // where the shares of half of its ranks end
    const PetscMPIInt begin = rank_of(part.begin, ranks, N), end = rank_of(part.end - 1, ranks, N);
    return begin == end ? part.begin : share_of(begin + (end + 1 - begin) / 2, ranks, N);
  };
  PetscCall(DealOrder(comm, memory, *points, between_ranks, &dealt));
  from = std::make_shared<PointExchange>();
  PetscCall(from->Create(comm, &dealt));
  PetscCall(PointCloudGetPoints(points, memory, &given));
  const size_t n = (size_t)from->received();
  const auto   travel = [&](PetscReal *x) {
    PetscFunctionBegin;
    for (size_t a = 0; a < 3; a++) PetscCall(from->ToRegion(memory, 1, given.x[a], x + a * n));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(PointCloudCreateFilled(comm, 3, (PetscInt)n, memory, travel, &cloud));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Region::Choose(MPI_Comm comm, PetscMemType memory, const PointSample &sample,
                              std::vector<PetscInt> *chosen, PetscSF *of_chosen) const {
  std::vector<PetscSFNode> leaves;

  PetscFunctionBegin;
  *of_chosen = NULL;
  *chosen = sample.chosen;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(from->Find(memory, sample.chosen, chosen, &leaves));
  PetscCall(create_sf(comm, (PetscInt)sample.chosen.size(), leaves, of_chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Region::Destroy() {
  PetscFunctionBegin;
  PetscCall(PointCloudDestroy(&cloud));
  from.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Calls move(type) with the type of `reals` numbers.
template <class Move> static PetscErrorCode with_type(int reals, const Move &move) {
  MPI_Datatype a_point;

  PetscFunctionBegin;
  if (reals == 1) { // PETSc takes a type of one for the same, and keeps the first, which has no sums
    PetscCall(move(MPIU_REAL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Type_contiguous(reals, MPIU_REAL, &a_point));
  PetscCallMPI(MPI_Type_commit(&a_point));
  PetscCall(move(a_point));
  PetscCallMPI(MPI_Type_free(&a_point));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ToRegion(PetscSF sf, PetscMemType memory, int reals, const PetscReal *points, PetscReal *region) {
  return with_type(reals, [&](MPI_Datatype a_point) {
    PetscFunctionBegin;
    PetscCall(PetscSFBcastWithMemTypeBegin(sf, a_point, memory, points, memory, region, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(sf, a_point, points, region, MPI_REPLACE));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

PetscErrorCode FromRegion(PetscSF sf, PetscMemType memory, int reals, const PetscReal *region, PetscReal *points) {
  return with_type(reals, [&](MPI_Datatype a_point) {
    PetscFunctionBegin;
    PetscCall(PetscSFReduceWithMemTypeBegin(sf, a_point, memory, region, memory, points, MPI_REPLACE));
    PetscCall(PetscSFReduceEnd(sf, a_point, region, points, MPI_REPLACE));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

PetscErrorCode AddFromRegion(PetscSF sf, PetscMemType memory, const PetscScalar *region, PetscScalar *points) {
  PetscFunctionBegin;
  PetscCall(PetscSFReduceWithMemTypeBegin(sf, MPIU_SCALAR, memory, region, memory, points, MPIU_SUM));
  PetscCall(PetscSFReduceEnd(sf, MPIU_SCALAR, region, points, MPIU_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SideOfSum::Build(MPI_Comm comm, PetscMemType memory, PointCloud *cloud) {
  ClusterTree     tree;
  Points          x;
  const PetscInt *order;
  PetscReal      *ordered;

  PetscFunctionBegin;
  PetscCall(region.Create(comm, memory, cloud));
  PetscCall(PointCloudGetPoints(region.cloud, memory, &x));
  PetscCall(tree.Build(memory, x, PetscMemTypeHost(memory) ? host_leaf : device_leaf));
  nodes.swap(tree.nodes);
  points = std::make_shared<OrderedPoints>();
  points->order.swap(&tree.order);
  PetscCall(points->order.Get(memory, &order));
  PetscCall(points->x.Make(memory, (size_t)3 * x.n, &ordered));
  PetscCall(GatherPoints(memory, x, (size_t)x.n, order, ordered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TreesOfPoints::Build(MPI_Comm comm, const KernelSumMat &context) {
  PetscFunctionBegin;
  if (built) PetscFunctionReturn(PETSC_SUCCESS);
  memory = context.memory();
  PetscCall(targets.Build(comm, memory, context.targets));
  if (context.targets != context.sources) PetscCall(sources.Build(comm, memory, context.sources));
  built = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TreesOfPoints::Destroy() {
  PetscFunctionBegin;
  PetscCall(targets.region.Destroy());
  PetscCall(sources.region.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
