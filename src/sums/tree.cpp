// A treecode: far clusters of sources act through interpolation points with weights of their own.
//
// Barycentric Lagrange interpolation at Chebyshev points of the second kind in each cluster's box (L. Wang, R. Krasny,
// S. Tlupova, A kernel-independent treecode based on barycentric Lagrange interpolation, 2020, eqs. 8-13), for any kernel
// function. Weights go up the tree from children to parents. Far points and near sources are summed by one and the same
// pair sum, over a list of ranges for each group of targets.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sums/fast_sum.hpp"

namespace shellac {

namespace {

constexpr PetscInt target_leaf = 256; // what one block of threads sums for on a GPU

// A cluster of the points [begin, end) in the tree's order.
struct Node {
  PetscInt begin, end;
  PetscInt child;   // the first of two, or -1
  PetscInt proxies; // where its interpolation points begin, or -1 for none
  PetscInt depth;
  double   lower[3], upper[3];

  double center(int a) const { return 0.5 * (lower[a] + upper[a]); }
  double radius() const {
    double r2 = 0;
    for (int a = 0; a < 3; a++) r2 += (upper[a] - lower[a]) * (upper[a] - lower[a]);
    return 0.5 * std::sqrt(r2);
  }
};

// Interpolation points of a box along each axis: one where it is flat.
SHELLAC_INLINE int points_along(const Node &node, int axis, int order) {
  return node.upper[axis] > node.lower[axis] ? order : 1;
}
inline PetscInt proxy_count(const Node &node, int order) {
  return points_along(node, 0, order) * points_along(node, 1, order) * points_along(node, 2, order);
}
SHELLAC_INLINE double chebyshev(int k, int n) { // in [-1, 1]
  return n > 1 ? cos(pi * k / (n - 1)) : 0;
}
SHELLAC_INLINE double chebyshev_point(const Node &node, int axis, int k, int n) {
  return 0.5 * (node.lower[axis] + node.upper[axis]) + 0.5 * (node.upper[axis] - node.lower[axis]) * chebyshev(k, n);
}

// Halves along the longest side until clusters have `leaf` points or fewer; points at one place by their numbers.
struct Tree {
  std::vector<Node>     nodes;
  std::vector<PetscInt> order; // order[i]: the i-th point of the tree

  void build(const PointCloud &cloud, PetscInt leaf) {
    order.resize(cloud.n);
    std::iota(order.begin(), order.end(), (PetscInt)0);
    nodes.clear();
    if (!cloud.n) return;
    nodes.push_back(make_node(cloud, 0, cloud.n, 0));
    for (size_t at = 0; at < nodes.size(); at++) {
      const Node node = nodes[at];
      int        axis = 0;
      for (int a = 1; a < 3; a++)
        if (node.upper[a] - node.lower[a] > node.upper[axis] - node.lower[axis]) axis = a;
      if (node.end - node.begin <= leaf) continue;
      const PetscInt   middle = node.begin + (node.end - node.begin) / 2;
      const PetscReal *x = cloud.x.data() + (size_t)axis * cloud.n;
      std::nth_element(order.begin() + node.begin, order.begin() + middle, order.begin() + node.end,
                       [&](PetscInt i, PetscInt j) { return x[i] < x[j] || (x[i] == x[j] && i < j); });
      nodes[at].child = (PetscInt)nodes.size();
      nodes.push_back(make_node(cloud, node.begin, middle, node.depth + 1));
      nodes.push_back(make_node(cloud, middle, node.end, node.depth + 1));
    }
  }

private:
  Node make_node(const PointCloud &cloud, PetscInt begin, PetscInt end, PetscInt depth) const {
    Node node = {begin, end, -1, -1, depth, {0, 0, 0}, {0, 0, 0}};
    for (int a = 0; a < 3; a++) {
      const PetscReal *x = cloud.x.data() + (size_t)a * cloud.n;
      node.lower[a] = node.upper[a] = x[order[begin]];
      for (PetscInt i = begin; i < end; i++) {
        node.lower[a] = std::min(node.lower[a], (double)x[order[i]]);
        node.upper[a] = std::max(node.upper[a], (double)x[order[i]]);
      }
    }
    return node;
  }
};

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

// The weights of the interpolation points of one cluster from those of what is in it: ℓ_a(y) ℓ_b(y) ℓ_c(y) w summed
// over its points, or over its children's interpolation points.
struct Upward {
  const Node      *nodes;
  const PetscReal *x[3];
  PetscReal       *weights;
  int              order, reals;

  // Lagrange's polynomials at y of the n interpolation points along an axis.
  static SHELLAC_INLINE void basis(const double *points, int n, double y, double *l) {
    double sum = 0;
    int    hit = -1;
    for (int k = 0; k < n; k++) {
      const double d = y - points[k];
      if (d == 0) hit = k;
      const double w = (k & 1 ? -1. : 1.) * (k == 0 || k == n - 1 ? 0.5 : 1.) / (d == 0 ? 1 : d);
      l[k] = w;
      sum += w;
    }
    const double scale = 1 / sum;
    for (int k = 0; k < n; k++) l[k] = hit >= 0 ? (k == hit ? 1. : 0.) : l[k] * scale;
  }
  SHELLAC_INLINE void range(const Node &node, int r, PetscInt *begin, PetscInt *end) const {
    if (node.child < 0) {
      *begin = node.begin, *end = r ? node.begin : node.end;
      return;
    }
    const Node &child = nodes[node.child + r];
    if (child.proxies < 0)
      *begin = child.begin, *end = child.end;
    else {
      *begin = child.proxies;
      *end =
          child.proxies + points_along(child, 0, order) * points_along(child, 1, order) * points_along(child, 2, order);
    }
  }
  void on_host(const Node &node) const {
    const int n[3] = {points_along(node, 0, order), points_along(node, 1, order), points_along(node, 2, order)};
    double    points[3][max_tree_order], l[3][max_tree_order];
    for (int a = 0; a < 3; a++)
      for (int k = 0; k < n[a]; k++) points[a][k] = chebyshev_point(node, a, k, n[a]);
    std::vector<double> sums((size_t)n[0] * n[1] * n[2] * reals, 0);
    for (int r = 0; r < 2; r++) {
      PetscInt begin, end;
      range(node, r, &begin, &end);
      for (PetscInt j = begin; j < end; j++) {
        for (int a = 0; a < 3; a++) basis(points[a], n[a], x[a][j], l[a]);
        for (int p = 0; p < reals; p++) {
          const double w = weights[j * reals + p];
          double      *sum = sums.data() + (size_t)p * n[0] * n[1] * n[2];
          for (int i = 0; i < n[0]; i++)
            for (int k = 0; k < n[1]; k++) {
              const double lw = w * l[0][i] * l[1][k];
              for (int m = 0; m < n[2]; m++) *sum++ += lw * l[2][m];
            }
        }
      }
    }
    for (int k = 0; k < n[0] * n[1] * n[2]; k++)
      for (int p = 0; p < reals; p++)
        weights[(node.proxies + k) * reals + p] = (PetscReal)sums[(size_t)p * n[0] * n[1] * n[2] + k];
  }
};

#if SHELLAC_CUDA
constexpr int upward_tile = 32, upward_threads = 128;
constexpr int upward_run = 8; // interpolation points along z that a thread holds

// Blocks of threads (x) for each of the nodes listed, each (y) for some of its interpolation points.
template <int reals>
__global__ void __launch_bounds__(upward_threads) upward_kernel(const Upward up, const PetscInt *which) {
  constexpr int row = max_tree_order + 3; // odd: rows begin at different banks of the memory; the last run ends in it
  __shared__ double points[3][max_tree_order], l[3][upward_tile][row], w[reals][upward_tile];
  const Node        node = up.nodes[which[blockIdx.x]];
  const int n[3] = {points_along(node, 0, up.order), points_along(node, 1, up.order), points_along(node, 2, up.order)};
  const int task = blockIdx.y * upward_threads + threadIdx.x, pair = task % (n[0] * n[1]);
  const int i = pair / n[1], j = pair % n[1], first = task / (n[0] * n[1]) * upward_run;
  const int axis = threadIdx.x / upward_tile, lane = threadIdx.x % upward_tile;
  double    sum[reals][upward_run] = {};
  if (axis < 3 && lane < n[axis]) points[axis][lane] = chebyshev_point(node, axis, lane, n[axis]);
  for (int t = threadIdx.x; t < 3 * upward_tile * row; t += upward_threads) (&l[0][0][0])[t] = 0; // beyond the order
  for (int r = 0; r < 2; r++) {
    PetscInt begin, end;
    up.range(node, r, &begin, &end);
    for (PetscInt from = begin; from < end; from += upward_tile) {
      const int m = (int)min((PetscInt)upward_tile, end - from);
      __syncthreads();
      if (lane < m && axis < 3) Upward::basis(points[axis], n[axis], up.x[axis][from + lane], l[axis][lane]);
      if (lane < m && axis == 3)
        for (int p = 0; p < reals; p++) w[p][lane] = up.weights[(from + lane) * reals + p];
      __syncthreads();
      if (first < n[2])
        for (int s = 0; s < m; s++) {
          const double l01 = l[0][s][i] * l[1][s][j];
#pragma unroll
          for (int p = 0; p < reals; p++) {
            const double lw = l01 * w[p][s];
#pragma unroll
            for (int k = 0; k < upward_run; k++) sum[p][k] += lw * l[2][s][first + k];
          }
        }
    }
  }
#pragma unroll
  for (int k = 0; k < upward_run; k++)
    if (first + k < n[2])
      for (int p = 0; p < reals; p++)
        up.weights[(node.proxies + pair * n[2] + first + k) * reals + p] = (PetscReal)sum[p][k];
}

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

// The sums in one direction: from the sources' tree to groups of targets.
class Direction {
public:
  PetscErrorCode Create(MPI_Comm comm, const KernelSumMat &context, const PointCloud &targets,
                        const PointCloud &sources, int order, double epsilon, PetscInt leaf);
  PetscErrorCode Apply(MPI_Comm comm, const Layout &layout, int narrow);
  PetscErrorCode Destroy();

  PetscInt       nodes() const { return (PetscInt)tree_.nodes.size(); }
  PetscInt       groups() const { return (PetscInt)group_.size(); }
  PetscLogDouble pairs[2] = {0, 0}; // that are summed on this rank: near, far
  PetscLogDouble Bytes() const;

private:
  int                                order_ = 0;
  Tree                               tree_;
  PointCloud                        *targets_ = NULL, *expanded_ = NULL; // in the trees' orders; sources and proxies
  PetscInt                           source_count_ = 0, group_size_ = 0;
  std::vector<PetscInt>              target_order_;
  std::vector<Group>                 group_;
  std::vector<Lists>                 lists_;  // of each rank's sources: near, far, near, far, ...
  std::vector<std::vector<PetscInt>> levels_; // nodes with interpolation points, the deepest last

  // on the GPU; null until asked for
  std::vector<ListsOnDevice> device_lists_;
  Buffer<Group>              device_group_;
  Buffer<PetscInt>           device_target_order_, device_source_order_, device_levels_;
  Buffer<Node>               device_nodes_;
  Buffer<PetscReal>          weights_, results_;

  void make_lists(const KernelSumMat &context, double epsilon, const std::vector<Node> &groups,
                  const std::vector<Node> &nodes, Lists *lists);
};

void Direction::make_lists(const KernelSumMat &context, double epsilon, const std::vector<Node> &groups,
                           const std::vector<Node> &nodes, Lists *lists) {
  constexpr double      theta = 0.8;
  const FunctionInfo   &info = context.info();
  const bool            gaussian = info.uses_sigma && !info.singular && std::string(info.name) == "gaussian";
  std::vector<PetscInt> stack;
  // polynomials follow a wave, or a Gaussian, over half a radian for each of their points
  const double length = info.uses_wavenumber && context.parameters.wavenumber != 0
                            ? 1 / std::fabs(context.parameters.wavenumber)
                        : gaussian ? context.parameters.sigma
                                   : INFINITY;
  const double reach = gaussian ? context.parameters.sigma * std::sqrt(2 * std::log(2e3 / epsilon)) : INFINITY;
  for (const Node &group : groups) {
    if (!nodes.empty()) stack.assign(1, 0);
    while (!stack.empty()) {
      const Node &node = nodes[stack.back()];
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

PetscErrorCode Direction::Create(MPI_Comm comm, const KernelSumMat &context, const PointCloud &targets,
                                 const PointCloud &sources, int order, double epsilon, PetscInt leaf) {
  Tree              target_tree;
  std::vector<Node> groups;
  PetscMPIInt       ranks, rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  order_ = order;
  target_tree.build(targets, target_leaf);
  target_order_ = target_tree.order;
  for (const Node &node : target_tree.nodes)
    if (node.child < 0) {
      groups.push_back(node);
      group_.push_back(
          {node.begin, node.end, {(PetscReal)node.center(0), (PetscReal)node.center(1), (PetscReal)node.center(2)}});
      group_size_ = std::max(group_size_, node.end - node.begin);
    }
  // interpolation points where they are fewer than the points themselves
  tree_.build(sources, leaf);
  source_count_ = sources.n;
  PetscInt count = sources.n;
  for (size_t at = 0; at < tree_.nodes.size(); at++) {
    Node &node = tree_.nodes[at];
    if (node.end - node.begin <= proxy_count(node, order_)) continue;
    node.proxies = count;
    count += proxy_count(node, order_);
    if ((size_t)node.depth >= levels_.size()) levels_.resize(node.depth + 1);
    levels_[node.depth].push_back((PetscInt)at);
  }
  // the points in the trees' orders
  for (int side = 0; side < 2; side++) {
    const PointCloud &from = side ? sources : targets;
    const auto       &permutation = side ? tree_.order : target_order_;
    PointCloud       *to = new PointCloud;
    to->dim = 3;
    to->n = side ? count : targets.n;
    to->counts.resize(ranks);
    PetscCallMPI(MPI_Allgather(&to->n, 1, MPIU_INT, to->counts.data(), 1, MPIU_INT, comm));
    to->x.resize((size_t)3 * to->n);
    for (int a = 0; a < 3; a++)
      for (PetscInt i = 0; i < from.n; i++) to->x[(size_t)a * to->n + i] = from.x[(size_t)a * from.n + permutation[i]];
    (side ? expanded_ : targets_) = to;
  }
  for (const Node &node : tree_.nodes) {
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
    std::vector<Node> nodes;
    PetscInt          n = (PetscInt)tree_.nodes.size();
    PetscMPIInt       bytes;
    if (owner == rank) nodes = tree_.nodes;
    PetscCallMPI(MPI_Bcast(&n, 1, MPIU_INT, owner, comm));
    nodes.resize(n);
    PetscCall(PetscMPIIntCast((PetscInt)(n * sizeof(Node)), &bytes));
    PetscCallMPI(MPI_Bcast(nodes.data(), bytes, MPI_BYTE, owner, comm));
    make_lists(context, epsilon, groups, nodes, &lists_[2 * owner]);
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
  Upward     up = {tree_.nodes.data(), {x.x[0], x.x[1], x.x[2]}, weights_.data, order_, reals};
  const bool on_device = PetscMemTypeDevice(memory);
#if SHELLAC_CUDA
  cudaStream_t stream = NULL;
  if (on_device) {
    PetscCall(current_stream(&stream));
    if (!device_nodes_.data) {
      std::vector<PetscInt> levels;
      for (const auto &level : levels_) levels.insert(levels.end(), level.begin(), level.end());
      PetscCall(device_nodes_.Set(memory, tree_.nodes));
      PetscCall(device_levels_.Set(memory, levels));
      PetscCall(device_group_.Set(memory, group_));
      PetscCall(device_target_order_.Set(memory, target_order_));
      PetscCall(device_source_order_.Set(memory, tree_.order));
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
      for (int p = 0; p < reals; p++) weights_.data[i * reals + p] = given.sum.in.data[tree_.order[i] * reals + p];
    for (size_t l = levels_.size(); l-- > 0;)
      for (PetscInt node : levels_[l]) up.on_host(tree_.nodes[node]);
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
      sizeof(Node) * tree_.nodes.size() + sizeof(Group) * group_.size() +
      sizeof(PetscInt) * (target_order_.size() + tree_.order.size());
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
        " groups of targets, %.4g near pairs%s, %.4g far ones%s\n",
        order, error, directions[0].nodes(), directions[0].groups(), directions[0].pairs[0],
        narrow > 1 ? " in single precision" : "", directions[0].pairs[1], narrow > 0 ? " in single precision" : ""));
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
};

} // namespace

PetscErrorCode TreeSumCreate(MPI_Comm comm, const KernelSumMat &context, int order, double epsilon, int narrow,
                             FastSum **fast) {
  TreeSum *tree = new TreeSum;

  PetscFunctionBegin;
  *fast = tree;
  tree->order = order;
  tree->narrow = narrow;
  tree->square = context.targets == context.sources;
  // near sums and far ones in balance
  const PetscInt leaf = std::max<PetscInt>(256, std::min<PetscInt>(2 * order * order * order, 1024));
  PetscCall(tree->directions[0].Create(comm, context, *context.targets, *context.sources, order, epsilon, leaf));
  if (!tree->square)
    PetscCall(tree->directions[1].Create(comm, context, *context.sources, *context.targets, order, epsilon, leaf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
