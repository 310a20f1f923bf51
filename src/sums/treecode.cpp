// A treecode: far clusters of sources act through interpolation points with weights of their own.
//
// Barycentric Lagrange interpolation at Chebyshev points of the second kind in each cluster's box (L. Wang, R. Krasny,
// S. Tlupova, A kernel-independent treecode based on barycentric Lagrange interpolation, 2020, eqs. 8-13), for any kernel
// function. Weights go up the tree from children to parents. Far points and near sources are summed by one and the same
// pair sum, over a list of ranges for each group of targets.

#include <algorithm>
#include <cmath>

#include "sums/cluster_weights.hpp"
#include "sums/fast_sum.hpp"

namespace shellac {

namespace {

// What one rank's sources are to this rank's groups of targets: points near them, or interpolation points far away.
struct Lists {
  std::vector<Range>    list;
  std::vector<PetscInt> first{0};

  void add(const Range &range) { // after the last one, if it is its neighbour in the same group
    if ((PetscInt)list.size() > first.back() && list.back().end == range.begin)
      list.back().end = range.end;
    else
      list.push_back(range);
  }
};
struct ListsOnDevice {
  Buffer<Range>    list;
  Buffer<PetscInt> first;
};

#if SHELLAC_CUDA
__global__ void gather_kernel(PetscInt n, int reals, const PetscInt *order, const PetscReal *from, PetscReal *to) {
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int p = 0; p < reals; p++) to[i * reals + p] = from[order[i] * reals + p];
}
__global__ void scatter_kernel(PetscInt n, int reals, const PetscInt *order, const PetscReal *from, PetscReal *to) {
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int p = 0; p < reals; p++) to[order[i] * reals + p] = from[i * reals + p];
}
#endif

// Points and their tree.
struct Side {
  const PointCloud  &points;
  const ClusterTree &tree;
};

// The sums in one direction: from the sources' tree to groups of targets, or to a sample of them.
class Direction {
public:
  PetscErrorCode Create(MPI_Comm comm, const KernelSumMat &context, const Side &targets, const Side &sources,
                        const TreeSettings &settings, const TargetSample *sample);
  PetscErrorCode Apply(MPI_Comm comm, const Layout &layout, int narrow);
  PetscErrorCode Destroy();

  PetscInt       nodes() const { return (PetscInt)nodes_.size(); }
  PetscInt       groups() const { return (PetscInt)group_.size(); }
  PetscLogDouble pairs[2] = {0, 0}; // that are summed on this rank: near, far
  PetscLogDouble Bytes() const;

private:
  int                                order_ = 0;
  std::vector<Cluster>               nodes_;                             // of sources
  PointCloud                        *targets_ = NULL, *expanded_ = NULL; // in the trees' orders; sources and proxies
  PetscInt                           source_count_ = 0, group_size_ = 0;
  std::vector<PetscInt>              source_order_, target_order_; // points of the trees in the order of the vectors
  std::vector<Group>                 group_;
  std::vector<Lists>                 lists_;  // of each rank's sources: near, far, near, far, ...
  std::vector<std::vector<PetscInt>> levels_; // nodes with interpolation points, the deepest last

  // on the GPU; null until asked for
  std::vector<ListsOnDevice> device_lists_;
  Buffer<Group>              device_group_;
  Buffer<PetscInt>           device_target_order_, device_source_order_, device_levels_;
  Buffer<Cluster>            device_nodes_;
  Buffer<PetscReal>          weights_, results_;

  void make_lists(const KernelSumMat &context, double epsilon, const std::vector<Cluster> &groups,
                  const std::vector<Cluster> &nodes, Lists *lists);
};

void Direction::make_lists(const KernelSumMat &context, double epsilon, const std::vector<Cluster> &groups,
                           const std::vector<Cluster> &nodes, Lists *lists) {
  constexpr double      theta = 0.8;
  const FunctionInfo   &info = context.info();
  const bool            gaussian = info.uses_sigma && !info.singular && std::string(info.name) == "gaussian";
  std::vector<PetscInt> stack;
  // polynomials follow a wave, or a Gaussian, over half a radian for each of their points
  const double length = info.uses_wavenumber && context.parameters.wavenumber != 0
                            ? 1 / std::fabs(context.parameters.wavenumber)
                        : gaussian || (context.formula && info.uses_sigma) ? context.parameters.sigma
                                                                           : INFINITY;
  const double reach = gaussian ? context.parameters.sigma * std::sqrt(2 * std::log(2e2 / epsilon)) : INFINITY;
  for (const Cluster &group : groups) {
    if (!nodes.empty()) stack.assign(1, 0);
    while (!stack.empty()) {
      const Cluster &node = nodes[stack.back()];
      stack.pop_back();
      double d2 = 0, gap2 = 0;
      for (int a = 0; a < 3; a++) {
        const double d = group.center(a) - node.center(a);
        const double gap = std::max({0., group.lower[a] - node.upper[a], node.lower[a] - group.upper[a]});
        d2 += d * d;
        gap2 += gap * gap;
      }
      if (gap2 > reach * reach) continue;
      const bool far =
          group.radius() + node.radius() <= theta * std::sqrt(d2) && node.radius() <= 0.5 * order_ * length;
      Range range;
      if (far && node.proxies >= 0) {
        range = {node.proxies, node.proxies + proxy_count(node, order_)};
      } else if (far || node.child < 0) {
        range = {node.begin, node.end};
      } else {
        stack.push_back(node.child + 1);
        stack.push_back(node.child);
        continue;
      }
      lists[far].add(range);
      pairs[far] += (PetscLogDouble)(group.end - group.begin) * (range.end - range.begin);
    }
    for (int far = 0; far < 2; far++) lists[far].first.push_back((PetscInt)lists[far].list.size());
  }
}

PetscErrorCode Direction::Create(MPI_Comm comm, const KernelSumMat &context, const Side &targets, const Side &sources,
                                 const TreeSettings &settings, const TargetSample *sample) {
  std::vector<Cluster>  groups;
  std::vector<PetscInt> from_targets; // target i of the groups is that of the cloud
  std::vector<PetscInt> in_sample(sample ? targets.points.n : 0, -1);
  PetscMPIInt           ranks, rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  order_ = settings.order;
  if (sample)
    for (size_t i = 0; i < sample->chosen.size(); i++) in_sample[sample->chosen[i]] = (PetscInt)i;
  for (const Cluster &node : targets.tree.nodes) {
    if (node.child >= 0) continue;
    Cluster group = node;
    group.begin = (PetscInt)from_targets.size();
    for (PetscInt t = node.begin; t < node.end; t++) {
      const PetscInt i = targets.tree.order[t];
      if (sample && in_sample[i] < 0) continue;
      from_targets.push_back(i);
      target_order_.push_back(sample ? in_sample[i] : i);
    }
    group.end = (PetscInt)from_targets.size();
    if (group.begin == group.end) continue;
    groups.push_back(group);
    group_.push_back(
        {group.begin, group.end, {(PetscReal)node.center(0), (PetscReal)node.center(1), (PetscReal)node.center(2)}});
    group_size_ = std::max(group_size_, group.end - group.begin);
  }
  // near sums and far ones in balance; interpolation points where they are fewer than the points themselves
  nodes_ = sources.tree.down_to(std::max<PetscInt>(tree_leaf, std::min<PetscInt>(2 * order_ * order_ * order_, 1024)));
  source_order_ = sources.tree.order;
  source_count_ = sources.points.n;
  PetscInt count = source_count_;
  for (size_t at = 0; at < nodes_.size(); at++) {
    Cluster &node = nodes_[at];
    if (node.end - node.begin <= proxy_count(node, order_)) continue;
    node.proxies = count;
    count += proxy_count(node, order_);
    if ((size_t)node.depth >= levels_.size()) levels_.resize(node.depth + 1);
    levels_[node.depth].push_back((PetscInt)at);
  }
  // the points in the trees' orders
  for (int side = 0; side < 2; side++) {
    const PointCloud &from = side ? sources.points : targets.points;
    const auto       &permutation = side ? source_order_ : from_targets;
    PointCloud       *to = new PointCloud;
    (side ? expanded_ : targets_) = to;
    to->dim = 3;
    to->n = side ? count : (PetscInt)permutation.size();
    to->counts.resize(ranks);
    PetscCallMPI(MPI_Allgather(&to->n, 1, MPIU_INT, to->counts.data(), 1, MPIU_INT, comm));
    to->x.resize((size_t)3 * to->n);
    for (int a = 0; a < 3; a++)
      for (size_t i = 0; i < permutation.size(); i++)
        to->x[(size_t)a * to->n + i] = from.x[(size_t)a * from.n + permutation[i]];
  }
  for (const Cluster &node : nodes_) {
    if (node.proxies < 0) continue;
    const int n[3] = {points_along(node, 0, order_), points_along(node, 1, order_), points_along(node, 2, order_)};
    PetscInt  at = node.proxies;
    for (int i = 0; i < n[0]; i++)
      for (int j = 0; j < n[1]; j++)
        for (int k = 0; k < n[2]; k++, at++) {
          const int index[3] = {i, j, k};
          for (int a = 0; a < 3; a++)
            expanded_->x[(size_t)a * count + at] = (PetscReal)chebyshev_point(node, a, index[a], n[a]);
        }
  }
  // every rank's tree against this rank's groups
  lists_.resize(2 * ranks);
  for (PetscMPIInt owner = 0; owner < ranks; owner++) {
    std::vector<Cluster> nodes;
    PetscInt             n = (PetscInt)nodes_.size();
    PetscMPIInt          bytes;
    if (owner == rank) nodes = nodes_;
    PetscCallMPI(MPI_Bcast(&n, 1, MPIU_INT, owner, comm));
    nodes.resize(n);
    PetscCall(PetscMPIIntCast((PetscInt)(n * sizeof(Cluster)), &bytes));
    PetscCallMPI(MPI_Bcast(nodes.data(), bytes, MPI_BYTE, owner, comm));
    make_lists(context, settings.epsilon, groups, nodes, &lists_[2 * owner]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Direction::Apply(MPI_Comm comm, const Layout &given, int narrow) {
  Layout             layout = given;
  const PetscMemType memory = given.sum.memory;
  const int          reals = given.reals;
  Points             x;

  PetscFunctionBegin;
  PetscCall(weights_.Allocate(memory, (size_t)expanded_->n * reals));
  PetscCall(results_.Allocate(memory, (size_t)targets_->n * reals));
  PetscCall(PointCloudGetPoints(expanded_, memory, &x));
  ClusterWeights up = {nodes_.data(), {x.x[0], x.x[1], x.x[2]}, weights_.data, order_, reals};
  const bool     on_device = PetscMemTypeDevice(memory);
#if SHELLAC_CUDA
  cudaStream_t stream = NULL;
  if (on_device) {
    PetscCall(current_stream(&stream));
    if (!device_nodes_.data) {
      std::vector<PetscInt> levels;
      for (const auto &level : levels_) levels.insert(levels.end(), level.begin(), level.end());
      PetscCall(device_nodes_.Set(memory, nodes_));
      PetscCall(device_levels_.Set(memory, levels));
      PetscCall(device_group_.Set(memory, group_));
      PetscCall(device_target_order_.Set(memory, target_order_));
      PetscCall(device_source_order_.Set(memory, source_order_));
      device_lists_.resize(lists_.size());
      for (size_t owner = 0; owner < lists_.size(); owner++) {
        PetscCall(device_lists_[owner].list.Set(memory, lists_[owner].list));
        PetscCall(device_lists_[owner].first.Set(memory, lists_[owner].first));
      }
    }
    up.nodes = device_nodes_.data;
    if (source_count_)
      gather_kernel<<<(unsigned)((source_count_ + 255) / 256), 256, 0, stream>>>(
          source_count_, reals, device_source_order_.data, given.sum.in.data, weights_.data);
    size_t end = 0;
    for (const auto &level : levels_) end += level.size();
    for (size_t l = levels_.size(); l-- > 0;) {
      end -= levels_[l].size();
      const int  runs = (order_ + upward_run - 1) / upward_run, tasks = order_ * order_ * runs;
      const dim3 blocks((unsigned)levels_[l].size(), (tasks + upward_threads - 1) / upward_threads);
      const auto kernel = reals == 2 ? upward_kernel<2> : upward_kernel<1>;
      if (!levels_[l].empty()) kernel<<<blocks, upward_threads, 0, stream>>>(up, device_levels_.data + end);
      PetscCallCUDA(cudaGetLastError());
    }
  }
#endif
  if (!on_device) {
    for (PetscInt i = 0; i < source_count_; i++)
      for (int p = 0; p < reals; p++) weights_.data[i * reals + p] = given.sum.in.data[source_order_[i] * reals + p];
    for (size_t l = levels_.size(); l-- > 0;)
      for (PetscInt node : levels_[l]) up.on_host(nodes_[node]);
  }
  PairSum &s = layout.sum;
  if (layout.monitor) layout.monitor->blocks = (int)lists_.size();
  layout.columns = 1;
  layout.lda = 0;
  s.in.data = weights_.data;
  s.out.data = results_.data;
  PetscCall(PointCloudGetPoints(targets_, memory, &s.targets));
  s.groups = (PetscInt)group_.size();
  s.group_size = group_size_;
  PetscCall(VisitInRing(comm, expanded_, layout, [&](const Layout &block, PetscMPIInt owner, int) {
    Layout listed = block;
    PetscFunctionBegin;
    for (int far = 0; far < 2 && !group_.empty(); far++) {
      const size_t which = 2 * (size_t)owner + far;
      listed.narrow = given.narrow || narrow > 1 - far;
      listed.sum.group = on_device ? device_group_.data : group_.data();
      listed.sum.list = on_device ? device_lists_[which].list.data : lists_[which].list.data();
      listed.sum.first = on_device ? device_lists_[which].first.data : lists_[which].first.data();
      PetscCall(KernelSumPairs(listed));
      listed.sum.add = true;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
#if SHELLAC_CUDA
  if (on_device) {
    if (targets_->n)
      scatter_kernel<<<(unsigned)((targets_->n + 255) / 256), 256, 0, stream>>>(
          targets_->n, reals, device_target_order_.data, results_.data, given.sum.out.data);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscInt i = 0; i < targets_->n; i++)
    for (int p = 0; p < reals; p++) given.sum.out.data[target_order_[i] * reals + p] = results_.data[i * reals + p];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble Direction::Bytes() const {
  PetscLogDouble bytes =
      sizeof(PetscReal) * ((PetscLogDouble)targets_->x.size() + expanded_->x.size() + weights_.n + results_.n) +
      sizeof(Cluster) * nodes_.size() + sizeof(Group) * group_.size() +
      sizeof(PetscInt) * (target_order_.size() + source_order_.size());
  for (const Lists &lists : lists_) bytes += sizeof(Range) * lists.list.size() + sizeof(PetscInt) * lists.first.size();
  return bytes;
}

PetscErrorCode Direction::Destroy() {
  PetscFunctionBegin;
  PetscCall(PointCloudDestroy(&targets_));
  PetscCall(PointCloudDestroy(&expanded_));
  for (auto &lists : device_lists_) {
    PetscCall(lists.list.Free());
    PetscCall(lists.first.Free());
  }
  PetscCall(device_group_.Free());
  PetscCall(device_target_order_.Free());
  PetscCall(device_source_order_.Free());
  PetscCall(device_levels_.Free());
  PetscCall(device_nodes_.Free());
  PetscCall(weights_.Free());
  PetscCall(results_.Free());
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
        "treecode of order %d, error measured: %.2g; on this rank %" PetscInt_FMT " clusters of sources, %" PetscInt_FMT
        " groups of targets, %.4g near pairs in %s precision, %.4g far ones in %s precision\n",
        order, error, directions[0].nodes(), directions[0].groups(), directions[0].pairs[0],
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

void TreesOfPoints::build(const KernelSumMat &context) {
  if (built) return;
  targets.build(*context.targets);
  if (context.sources != context.targets) sources.build(*context.sources);
  built = true;
}

PetscErrorCode TreeSumCreate(MPI_Comm comm, const KernelSumMat &context, const TreesOfPoints &trees,
                             const TreeSettings &settings, const TargetSample *const samples[2], FastSum **fast) {
  TreeSum *tree = new TreeSum;

  PetscFunctionBegin;
  *fast = tree;
  tree->order = settings.order;
  tree->narrow = settings.narrow;
  tree->precision = MatKernelSumPrecisions[context.precision];
  tree->square = context.targets == context.sources;
  const Side targets = {*context.targets, trees.targets};
  const Side sources = {*context.sources, tree->square ? trees.targets : trees.sources};
  PetscCall(tree->directions[0].Create(comm, context, targets, sources, settings, samples[0]));
  if (!tree->square) PetscCall(tree->directions[1].Create(comm, context, sources, targets, settings, samples[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
