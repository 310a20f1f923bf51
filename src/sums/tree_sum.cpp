// Fast sums by interpolation in clusters of two trees, for any kernel function: far clusters of sources act through
// interpolation points with weights of their own, on interpolation points of clusters of targets (L. Wilson, N. Vaughn,
// R. Krasny, A GPU-accelerated fast multipole method based on barycentric Lagrange interpolation and dual tree traversal,
// 2021; with other points). Weights go up the tree from children to parents, sums go down. The same pair sum adds far
// interpolation points and near sources, over a list of ranges for each group of targets.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "sums/cluster_interpolation.hpp"
#include "sums/regions.hpp"
#include "sums/tree_lists.hpp"

namespace shellac {

namespace {

// Coordinates of `points` points, three arrays of which become parts of longer ones.
struct CopyCoordinates {
  const PetscReal *from;
  PetscReal       *to;
  size_t           points, all;

  SHELLAC_HD void operator()(PetscInt i, PetscInt axis, PetscInt) const {
    to[axis * all + i] = from[axis * points + i];
  }
};

// A tree's upper part with interpolation points where they are fewer than the points themselves: its clusters and, by
// levels, those that have them.
struct Expanded {
  Mirror<Cluster>       nodes;
  Mirror<PetscInt>      with_proxies;
  std::vector<PetscInt> level{0};            // those of level l are with_proxies[level[l]] to [level[l + 1] - 1]
  PetscInt              points = 0, all = 0; // without interpolation points, with them
  int                   order = 0;           // interpolation points along an axis, at most
  PointCloud           *cloud = NULL;        // all of them, the points first; coordinates: see Place()

  // x: of the points
  PetscErrorCode Create(MPI_Comm comm, std::shared_ptr<OrderedPoints> ordered);
  // Coordinates where products need them first.
  PetscErrorCode Place(PetscMemType memory);
  PetscErrorCode Destroy();

  PetscErrorCode GetOrder(PetscMemType memory, const PetscInt **order) { return ordered_->order.Get(memory, order); }

  // Weights go up the tree, or sums down; values: at all points.
  template <bool up> PetscErrorCode Interpolate(PetscMemType memory, int reals, PetscReal *values);

private:
  std::shared_ptr<OrderedPoints> ordered_; // several trees share them
};

using ExpandedTree = std::shared_ptr<Expanded>;

// The sums in one direction: from the sources' tree to groups of targets, or to a sample of them.
class Direction {
public:
  PetscErrorCode Create(MPI_Comm comm, const KernelSumMat &context, TreesOfPoints *trees, bool transposed,
                        const TreeSettings &settings, const PointSample *sample);
  PetscErrorCode Apply(MPI_Comm comm, const Layout &layout, int narrow);
  PetscErrorCode Destroy();

  PetscInt       nodes() const { return (PetscInt)sources_->nodes.size(); }
  PetscInt       groups() const { return (PetscInt)groups_.groups.size(); }
  PetscLogDouble pairs[2] = {0, 0}; // that are summed on this rank: near, far
  PetscLogDouble Bytes() const;

private:
  ExpandedTree       sources_, targets_; // one where they are equal
  PetscSF            sample_sf_ = NULL;  // of targets that are a sample
  TargetGroups       groups_;
  std::vector<Lists> lists_; // of each rank's sources: near, far, near, far, ...
  bool               rough_ = false;

  std::shared_ptr<PointExchange> source_exchange_, target_exchange_; // null: they are where vectors have them

  Scratch<PetscReal> weights_, results_, in_, out_; // the last two: in the order of the regions
};

// The points, then the interpolation points of those of the nodes that hold any.
PetscErrorCode Expanded::Create(MPI_Comm comm, std::shared_ptr<OrderedPoints> ordered) {
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  ordered_ = std::move(ordered);
  points = all = (PetscInt)ordered_->order.size();
  std::vector<Cluster> &clusters = nodes.change();
  for (size_t at = 0; at < clusters.size(); at++) {
    Cluster &node = clusters[at];
    if (node.proxies < 0) continue;
    node.proxies = all;
    all += proxy_count(node);
    for (int n : node.n) order = std::max(order, n);
    level.resize(node.depth + 2, level.back());
    level.back() = (PetscInt)with_proxies.size() + 1;
    with_proxies.change().push_back((PetscInt)at);
  }
  cloud = new PointCloud;
  cloud->dim = 3;
  cloud->n = all;
  cloud->counts.resize(ranks);
  PetscCallMPI(MPI_Allgather(&cloud->n, 1, MPIU_INT, cloud->counts.data(), 1, MPIU_INT, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Expanded::Place(PetscMemType memory) {
  const PetscReal  *x;
  PetscReal        *placed;
  const Cluster    *clusters;
  const PetscInt   *which;
  Mirror<PetscReal> unused;

  PetscFunctionBegin;
  if (!all || cloud->x.size()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ordered_->x.Get(memory, &x));
  PetscCall(cloud->x.Make(memory, (size_t)3 * all, &placed));
  PetscCall(for_each(memory, line_of(points, 3), CopyCoordinates{x, placed, (size_t)points, (size_t)all}));
  PetscInt most = 0;
  for (PetscInt at : with_proxies.host()) most = std::max(most, proxy_count(nodes.host()[at]));
  PetscCall(nodes.Get(memory, &clusters));
  PetscCall(with_proxies.Get(memory, &which));
  const SetProxies proxies = {clusters, which, placed, (size_t)all};
  PetscCall(for_each(memory, line_of(most, with_proxies.size()), proxies));
  if (ordered_.use_count() == 1) ordered_->x.swap(&unused); // nobody else needs them
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool up> PetscErrorCode Expanded::Interpolate(PetscMemType memory, int reals, PetscReal *values) {
  const int       levels = (int)level.size() - 1;
  const Cluster  *clusters;
  const PetscInt *which;
  Points          at;

  PetscFunctionBegin;
  PetscCall(PointCloudGetPoints(cloud, memory, &at));
  PetscCall(nodes.Get(memory, &clusters));
  PetscCall(with_proxies.Get(memory, &which));
  const ClusterValues     v = {clusters, {at.x[0], at.x[1], at.x[2]}, values, reals};
  const InterpolationRoom room(order);
  std::vector<double>     work(PetscMemTypeHost(memory) ? room.bytes() / sizeof(double) + 1 : 0);
#if SHELLAC_CUDA
  cudaStream_t stream = NULL;
  if (PetscMemTypeDevice(memory) && levels > 0) {
    PetscCall(current_stream(&stream));
    PetscCallCUDA(
        cudaFuncSetAttribute(interpolate<up>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)room.bytes()));
  }
#endif
  for (int l = 0; l < levels; l++) {
    const PetscInt begin = level[up ? levels - 1 - l : l], end = level[up ? levels - l : l + 1];
    if (begin == end) continue;
#if SHELLAC_CUDA
    if (PetscMemTypeDevice(memory)) {
      interpolate<up><<<(unsigned)(end - begin), interpolation_threads, room.bytes(), stream>>>(v, which + begin, room);
      PetscCallCUDA(cudaGetLastError());
      continue;
    }
#endif
    for (PetscInt c = begin; c < end; c++) Interpolant(v, clusters[which[c]], {}, room, work.data()).run<up>();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Expanded::Destroy() {
  PetscFunctionBegin;
  PetscCall(PointCloudDestroy(&cloud));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Interpolation points along each axis, and whether all of them are fewer than the points. A box that is not a cube has
// more along its longer sides and fewer along the others: where the nearest singularity is 1.5 radii from its middle, z half
// sides, each point divides the error by z + sqrt(z^2 - 1) (L. N. Trefethen, Approximation Theory and Approximation
// Practice, 2013, theorem 8.2).
void set_proxies(std::vector<Cluster> *nodes, int order) {
  const auto rate = [](double radius, double half) {
    const double z = 1.5 * radius / half;
    return std::log(z + std::sqrt(z * z - 1));
  };
  const double of_cube = rate(std::sqrt(3), 1);
  for (Cluster &node : *nodes) {
    for (int a = 0; a < 3; a++) {
      const double half = 0.5 * (node.upper[a] - node.lower[a]);
      const double n = half > 0 ? order * of_cube / rate(node.radius(), half) : 1;
      node.n[a] = half > 0 ? std::max(3, std::min(max_tree_order, (int)std::lround(n))) : 1;
    }
    if (node.end - node.begin > proxy_count(node)) node.proxies = 0;
  }
}

// Points of the smallest clusters: half as many as there are interpolation points. On a GPU, if these would not fill
// half a block of threads, the points fill a whole block: at low orders smaller clusters cost more than they save.
PetscInt leaf_for(const std::vector<Cluster> &nodes, int order, PetscMemType memory) {
  PetscInt points = 2;
  for (int a = 0; a < 3; a++)
    if (!nodes.empty() && nodes[0].upper[a] > nodes[0].lower[a]) points = points * order / 2;
  const PetscInt half = std::min<PetscInt>(points / 2, 512);
  if (PetscMemTypeHost(memory)) return std::max(host_leaf, half);
  return half < device_leaf ? whole_group : half;
}

// The clusters that sums of this order use; kept, since those of a sample are the next ones', too.
const std::vector<Cluster> &clusters_for(SideOfSum *side, int order, PetscMemType memory) {
  if (side->order != order) {
    side->used = down_to(side->nodes, leaf_for(side->nodes, order, memory));
    set_proxies(&side->used, order);
    side->order = order;
  }
  return side->used;
}

// The nodes of a tree restricted to the points at the given places, which are in ascending order.
void choose_places(const std::vector<PetscInt> &places, std::vector<Cluster> *nodes) {
  const auto before = [&](PetscInt place) {
    return (PetscInt)(std::lower_bound(places.begin(), places.end(), place) - places.begin());
  };
  for (Cluster &node : *nodes) {
    node.begin = before(node.begin);
    node.end = before(node.end);
    if (node.begin == node.end) node.proxies = -1;
  }
}

PetscErrorCode Direction::Create(MPI_Comm comm, const KernelSumMat &context, TreesOfPoints *trees, bool transposed,
                                 const TreeSettings &settings, const PointSample *sample) {
  const PetscMemType memory = trees->memory;
  SideOfSum  *sides[2] = {&trees->targets, context.targets == context.sources ? &trees->targets : &trees->sources};
  SideOfSum  *targets = sides[transposed], *sources = sides[!transposed];
  PetscMPIInt ranks, rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  rough_ = context.rtol >= 1e-10; // a pair is off by 2e-12 or less; set-up measures the error of sums
  sources_ = std::make_shared<Expanded>();
  sources_->nodes.change() = clusters_for(sources, settings.order, memory);
  PetscCall(sources_->Create(comm, sources->points));
  source_exchange_ = sources->region.from;

  // all targets, or those of the sample
  const PetscInt leaf = leaf_for(targets->nodes, settings.order, memory);
  const bool     equal = targets == sources && !sample;
  targets_ = equal ? sources_ : std::make_shared<Expanded>();
  if (!equal) targets_->nodes.change() = clusters_for(targets, settings.order, memory);
  if (sample) {
    auto                  some = std::make_shared<OrderedPoints>();
    std::vector<PetscInt> chosen, places;
    Mirror<PetscInt>      in_order;
    const PetscInt       *which;
    PetscReal            *x;
    Points                all;
    PetscCall(targets->region.Choose(comm, memory, *sample, &chosen, &sample_sf_));
    PetscCall(targets->places.Find(memory, &targets->points->order, chosen, &places));
    std::vector<PetscInt> &order = some->order.change(); // of the sample
    order.resize(chosen.size());
    std::iota(order.begin(), order.end(), (PetscInt)0);
    std::sort(order.begin(), order.end(), [&](PetscInt i, PetscInt j) { return places[i] < places[j]; });
    for (PetscInt i : order) in_order.change().push_back(chosen[i]);
    PetscCall(PointCloudGetPoints(targets->region.cloud, memory, &all));
    PetscCall(in_order.Get(memory, &which));
    PetscCall(some->x.Make(memory, 3 * chosen.size(), &x));
    PetscCall(GatherPoints(memory, all, chosen.size(), which, x));
    std::sort(places.begin(), places.end());
    choose_places(places, &targets_->nodes.change());
    PetscCall(targets_->Create(comm, some));
  } else {
    target_exchange_ = targets->region.from;
    if (!equal) PetscCall(targets_->Create(comm, targets->points));
  }
  groups_.make(targets_->nodes.host(), PetscMemTypeDevice(memory) && leaf < whole_group ? half_group : whole_group);

  // every rank's tree against this rank's groups
  PetscInt64 most = 0;
  lists_.resize(2 * ranks);
  for (PetscMPIInt owner = 0; owner < ranks; owner++) {
    Mirror<Cluster> of_others, *nodes = owner == rank ? &sources_->nodes : &of_others;
    PetscInt        n = (PetscInt)nodes->size();
    PetscMPIInt     bytes;
    PetscCallMPI(MPI_Bcast(&n, 1, MPIU_INT, owner, comm));
    if (owner != rank) of_others.change().resize(n);
    PetscCall(PetscMPIIntCast((PetscInt)(n * sizeof(Cluster)), &bytes));
    // the owner's are not changed
    PetscCallMPI(MPI_Bcast(const_cast<Cluster *>(nodes->host().data()), bytes, MPI_BYTE, owner, comm));
    PetscCall(MakeLists(context, settings.order, settings.epsilon, memory, &targets_->nodes, nodes, &trees->room,
                        &lists_[2 * owner], pairs, &most));
  }
  SHELLAC_CHECK_ALL(most <= most_cluster_pairs, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "a rank has %" PetscInt64_FMT " pairs of clusters, more than integers count; use more ranks", most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Direction::Apply(MPI_Comm comm, const Layout &given, int narrow) {
  Layout             layout = given;
  const PetscMemType memory = given.sum.memory;
  const int          reals = given.reals;
  Points             y, x;
  const PetscInt    *source_order, *target_order;

  PetscFunctionBegin;
  PetscCall(sources_->GetOrder(memory, &source_order));
  PetscCall(targets_->GetOrder(memory, &target_order));
  PetscCall(weights_.Grow((size_t)sources_->all * reals, memory));
  PetscCall(results_.Grow((size_t)targets_->all * reals, memory));
  PetscCall(sources_->Place(memory));
  PetscCall(targets_->Place(memory));
  PetscCall(PointCloudGetPoints(sources_->cloud, memory, &y));
  PetscCall(PointCloudGetPoints(targets_->cloud, memory, &x));
  const PetscReal *in = given.sum.in.data;
  PetscReal       *out = given.sum.out.data;
  if (source_exchange_) {
    PetscCall(in_.Grow((size_t)sources_->points * reals, memory));
    PetscCall(source_exchange_->ToRegion(memory, reals, in, in_.at(memory)));
    in = in_.at(memory);
  }
  if (target_exchange_ || sample_sf_) {
    PetscCall(out_.Grow((size_t)targets_->points * reals, memory));
    out = out_.at(memory);
  }
  PetscReal *const weights = weights_.at(memory), *const results = results_.at(memory);
  PetscCall(for_each(memory, line_of(sources_->points), Reorder<false>{reals, source_order, in, weights}));
  PairSum &s = layout.sum;
  PetscCall(groups_.groups.Get(memory, &s.group));
  PetscCall(sources_->Interpolate<true>(memory, reals, weights));
  if (layout.monitor) layout.monitor->blocks = (int)lists_.size();
  layout.columns = 1;
  layout.lda = 0;
  s.in.data = weights;
  s.out.data = results;
  s.targets = x;
  s.groups = groups();
  s.group_size = groups_.largest;
  layout.narrow = given.narrow || narrow > 1; // the near pairs; the far ones:
  if (s.formula && narrow > 0) PetscCall(s.formula->NeedKernels(comm, memory, true));
  PetscCall(VisitInRing(comm, sources_->cloud, layout, [&](const Layout &block, PetscMPIInt owner, int) {
    Layout listed = block;
    PetscFunctionBegin;
    for (int far = 0; far < 2 && groups(); far++) {
      const size_t which = 2 * (size_t)owner + far;
      if (far) listed.narrow = given.narrow || narrow > 0;
      listed.sum.rough = far && rough_;
      PetscCall(lists_[which].list.Get(memory, &listed.sum.list));
      PetscCall(lists_[which].first.Get(memory, &listed.sum.first));
      PetscCall(KernelSumPairs(listed));
      listed.sum.add = true;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(targets_->Interpolate<false>(memory, reals, results));
  PetscCall(for_each(memory, line_of(targets_->points), Reorder<true>{reals, target_order, results, out}));
  if (target_exchange_) PetscCall(target_exchange_->FromRegion(memory, reals, out, given.sum.out.data));
  if (sample_sf_) PetscCall(FromRegion(sample_sf_, memory, reals, out, given.sum.out.data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble Direction::Bytes() const {
  size_t reals = 0;
  for (const auto *array : {&weights_, &results_, &in_, &out_}) reals += array->size();
  PetscLogDouble bytes = (PetscLogDouble)(reals * sizeof(PetscReal)) + groups_.groups.bytes();
  for (const Expanded *side : {sources_.get(), targets_ == sources_ ? nullptr : targets_.get()})
    if (side)
      bytes += sizeof(PetscInt) * (PetscLogDouble)side->points + 3 * sizeof(PetscReal) * (PetscLogDouble)side->all +
               sizeof(Cluster) * side->nodes.size();
  for (const Lists &lists : lists_) bytes += (PetscLogDouble)lists.list.bytes() + lists.first.bytes();
  return bytes;
}

PetscErrorCode Direction::Destroy() {
  PetscFunctionBegin;
  for (const ExpandedTree &side : {sources_, targets_})
    if (side) PetscCall(side->Destroy());
  PetscCall(PetscSFDestroy(&sample_sf_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class TreeSum final : public FastSum {
public:
  PetscErrorCode Apply(MPI_Comm comm, bool transposed, const Layout &layout) override {
    PetscFunctionBegin;
    PetscCall(directions[transposed && !square].Apply(comm, layout, narrow));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscLogDouble Terms(bool transposed) const override {
    const Direction &direction = directions[transposed && !square];
    return direction.pairs[0] + direction.pairs[1];
  }
  PetscLogDouble Bytes() const override { return directions[0].Bytes() + (square ? 0 : directions[1].Bytes()); }
  PetscErrorCode View(PetscViewer viewer) const override {
    PetscFunctionBegin;
    PetscCall(PetscViewerASCIIPrintf(
        viewer,
        "trees of order %d, error measured: %.2g, orders tried: %d; on this rank %" PetscInt_FMT
        " clusters of sources, %" PetscInt_FMT
        " groups of targets, %.4g near pairs in %s precision, %.4g far ones in %s precision\n",
        order, error, tried, directions[0].nodes(), directions[0].groups(), directions[0].pairs[0],
        narrow > 1 ? "single" : precision, directions[0].pairs[1], narrow > 0 ? "single" : precision));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Destroy() override {
    PetscFunctionBegin;
    for (Direction &direction : directions) PetscCall(direction.Destroy());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Direction directions[2]; // of A, of its transpose
  bool      square = false;
  int       narrow = 0; // in single precision: nothing, what is far, all
  int       order = 0;

  const char *precision = ""; // of what is not narrow
};

} // namespace

PetscErrorCode TreeSumCreate(MPI_Comm comm, const KernelSumMat &context, TreesOfPoints *trees,
                             const TreeSettings &settings, const PointSample *const samples[2], FastSum **fast) {
  TreeSum *tree = new TreeSum;

  PetscFunctionBegin;
  *fast = tree;
  tree->order = settings.order;
  tree->narrow = settings.narrow;
  tree->precision = MatKernelSumPrecisions[context.precision];
  tree->square = context.targets == context.sources;
  for (int transposed = 0; transposed < (tree->square ? 1 : 2); transposed++)
    PetscCall(
        tree->directions[transposed].Create(comm, context, trees, transposed != 0, settings, samples[transposed]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
