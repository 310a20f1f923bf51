#include "sums/regions.hpp"

#include <algorithm>

#include "device/launch.hpp"
#include "sums/bisection.hpp"

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

PetscErrorCode Region::Create(MPI_Comm comm, PointCloud *points) {
  DealtPoints              dealt;
  std::vector<PetscScalar> coordinates;
  PetscMPIInt              ranks;
  const PetscInt           N = points->N;

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
  PetscCall(DealPoints(comm, *points, between_ranks, &dealt));
  coordinates.assign(dealt.x.begin(), dealt.x.end());
  PetscCall(PointCloudCreate(comm, "region's", 3, (PetscInt)dealt.numbers.size(), PETSC_MEMTYPE_HOST,
                             coordinates.data(), &cloud));
  PetscCall(PointSFCreate(comm, *points, dealt.numbers, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Region::Choose(MPI_Comm comm, const PointSample &sample, std::vector<PetscInt> *chosen,
                              PetscSF *of_chosen) const {
  std::vector<PetscSFNode> leaves;

  PetscFunctionBegin;
  *of_chosen = NULL;
  *chosen = sample.chosen;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscInt           roots, points;
  const PetscSFNode *where;
  PetscCall(PetscSFGetGraph(from, &roots, &points, NULL, &where));
  std::vector<PetscInt> place(roots, -1), here(points);
  for (size_t i = 0; i < sample.chosen.size(); i++) place[sample.chosen[i]] = (PetscInt)i;
  PetscCall(PetscSFBcastBegin(from, MPIU_INT, place.data(), here.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(from, MPIU_INT, place.data(), here.data(), MPI_REPLACE));
  chosen->clear();
  for (size_t i = 0; i < here.size(); i++) {
    if (here[i] < 0) continue;
    chosen->push_back((PetscInt)i);
    leaves.push_back({where[i].rank, here[i]});
  }
  PetscCall(create_sf(comm, (PetscInt)sample.chosen.size(), leaves, of_chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Region::Destroy() {
  PetscFunctionBegin;
  PetscCall(PointCloudDestroy(&cloud));
  PetscCall(PetscSFDestroy(&from));
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

PetscErrorCode SideOfSum::Build(MPI_Comm comm, PetscMemType memory, PointCloud *cloud) {
  ClusterTree     tree;
  Points          x;
  const PetscInt *order;
  PetscReal      *ordered;

  PetscFunctionBegin;
  PetscCall(region.Create(comm, cloud));
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

PetscErrorCode SideOfSum::Find(PetscMemType memory, const std::vector<PetscInt> &chosen, std::vector<PetscInt> *places) {
  const size_t     n = points->order.size();
  Mirror<PetscInt> some, found;
  const PetscInt  *which;
  PetscInt        *to;

  PetscFunctionBegin;
  if (place_of_.size() < n) {
    const PetscInt *order;
    PetscCall(points->order.Get(memory, &order));
    PetscCall(place_of_.Grow(n, memory));
    PetscCall(for_each(memory, line_of(n), SetPlace{order, place_of_.at(memory)}));
  }
  some.change() = chosen;
  PetscCall(some.Get(memory, &which));
  PetscCall(found.Make(memory, chosen.size(), &to));
  PetscCall(for_each(memory, line_of(chosen.size()), GetPlace{place_of_.at(memory), which, to}));
  PetscCall(found.Get(PETSC_MEMTYPE_HOST, &which));
  places->assign(which, which + chosen.size());
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
