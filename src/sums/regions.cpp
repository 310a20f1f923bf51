#include "sums/regions.hpp"

#include <algorithm>
#include <numeric>

namespace shellac {

// The numbers of the points of `rank` among `ranks`: halves along the longest side, again and again.
static std::vector<PetscInt> points_of(PetscMPIInt rank, PetscMPIInt ranks, PetscInt N,
                                       const std::vector<PetscReal> &x) {
  std::vector<PetscInt> order(N);
  auto                  begin = order.begin(), end = order.end();

  std::iota(begin, end, (PetscInt)0);
  for (PetscMPIInt first = 0, last = ranks; last - first > 1 && begin != end;) {
    const PetscReal *along = NULL;
    PetscReal        longest = -1;
    for (int a = 0; a < 3; a++) {
      const PetscReal *y = x.data() + (size_t)a * N;
      const auto       ends = std::minmax_element(begin, end, [y](PetscInt i, PetscInt j) { return y[i] < y[j]; });
      const PetscReal  side = y[*ends.second] - y[*ends.first];
      if (side > longest) longest = side, along = y;
    }
    const PetscMPIInt half = first + (last - first) / 2;
    const auto        middle = begin + (PetscInt)((PetscInt64)(end - begin) * (half - first) / (last - first));
    std::nth_element(begin, middle, end, [along](PetscInt i, PetscInt j) {
      return along[i] < along[j] || (along[i] == along[j] && i < j);
    });
    if (rank < half)
      end = middle, last = half;
    else
      begin = middle, first = half;
  }
  std::vector<PetscInt> own(begin, end);
  std::sort(own.begin(), own.end());
  return own;
}

static PetscErrorCode create_sf(MPI_Comm comm, PetscInt roots, std::vector<PetscSFNode> leaves, PetscSF *sf) {
  PetscFunctionBegin;
  PetscCall(PetscSFCreate(comm, sf));
  PetscCall(
      PetscSFSetGraph(*sf, roots, (PetscInt)leaves.size(), NULL, PETSC_COPY_VALUES, leaves.data(), PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(*sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Region::Create(MPI_Comm comm, PointCloud *points, bool deal) {
  std::vector<PetscReal>   x;
  std::vector<PetscScalar> coordinates;
  PetscMPIInt              rank, ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (!deal || ranks == 1) {
    cloud = points;
    cloud->references++;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PointCloudGather(comm, points, &x));
  PetscInt    before = 0; // points on the ranks before the owner
  PetscMPIInt owner = 0;
  for (PetscInt i : points_of(rank, ranks, points->N, x)) {
    while (i >= before + points->counts[owner]) before += points->counts[owner++];
    where_.push_back({owner, i - before});
    for (int a = 0; a < 3; a++) coordinates.push_back(x[(size_t)a * points->N + i]);
  }
  PetscCall(PointCloudCreate(comm, "region's", 3, (PetscInt)where_.size(), coordinates.data(), &cloud));
  PetscCall(create_sf(comm, points->n, where_, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Region::Choose(MPI_Comm comm, const TargetSample &sample, std::vector<PetscInt> *chosen,
                              PetscSF *of_chosen) const {
  std::vector<PetscSFNode> leaves;

  PetscFunctionBegin;
  *of_chosen = NULL;
  *chosen = sample.chosen;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscInt roots;
  PetscCall(PetscSFGetGraph(from, &roots, NULL, NULL, NULL));
  std::vector<PetscInt> place(roots, -1), here(where_.size());
  for (size_t i = 0; i < sample.chosen.size(); i++) place[sample.chosen[i]] = (PetscInt)i;
  PetscCall(PetscSFBcastBegin(from, MPIU_INT, place.data(), here.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(from, MPIU_INT, place.data(), here.data(), MPI_REPLACE));
  chosen->clear();
  for (size_t i = 0; i < here.size(); i++) {
    if (here[i] < 0) continue;
    chosen->push_back((PetscInt)i);
    leaves.push_back({where_[i].rank, here[i]});
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

static PetscErrorCode make_type(int reals, MPI_Datatype *type) {
  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_contiguous(reals, MPIU_REAL, type));
  PetscCallMPI(MPI_Type_commit(type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ToRegion(PetscSF sf, PetscMemType memory, int reals, const PetscReal *points, PetscReal *region) {
  MPI_Datatype a_point;

  PetscFunctionBegin;
  PetscCall(make_type(reals, &a_point));
  PetscCall(PetscSFBcastWithMemTypeBegin(sf, a_point, memory, points, memory, region, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, a_point, points, region, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&a_point));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FromRegion(PetscSF sf, PetscMemType memory, int reals, const PetscReal *region, PetscReal *points) {
  MPI_Datatype a_point;

  PetscFunctionBegin;
  PetscCall(make_type(reals, &a_point));
  PetscCall(PetscSFReduceWithMemTypeBegin(sf, a_point, memory, region, memory, points, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(sf, a_point, region, points, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&a_point));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TreesOfPoints::Build(MPI_Comm comm, const KernelSumMat &context, bool dual) {
  const bool square = context.targets == context.sources;

  PetscFunctionBegin;
  if (built) PetscFunctionReturn(PETSC_SUCCESS);
  for (Side *side : {&targets, &sources}) {
    if (square && side == &sources) continue;
    PetscCall(side->region.Create(comm, side == &targets ? context.targets : context.sources, dual));
    side->tree.build(*side->region.cloud, dual ? dual_leaf : tree_leaf);
  }
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
