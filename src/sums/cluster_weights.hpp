#pragma once
// Weights of the interpolation points, from the leaves of the tree up, and sums at them, from the root down.

#include "sums/cluster_tree.hpp"
#include "sums/fast_sum.hpp"

namespace shellac {

// The n interpolation points of a cluster along each axis.
SHELLAC_INLINE void set_points(const Cluster &node, int n[3], double points[3][max_tree_order]) {
  for (int a = 0; a < 3; a++) {
    n[a] = node.n[a];
    for (int k = 0; k < n[a]; k++) points[a][k] = chebyshev_point(node, a, k);
  }
}

// The coordinates of clusters' interpolation points, in three arrays of `all` points.
struct ClusterCoordinates {
  PetscReal *x;
  PetscInt   all;

  // Of the t-th one of a cluster; points: see set_points().
  SHELLAC_INLINE void set(const Cluster &node, const double points[3][max_tree_order], PetscInt t) const {
    const int      n1 = node.n[1], n2 = node.n[2];
    const PetscInt index[3] = {t / (n1 * n2), t / n2 % n1, t % n2};
    for (int a = 0; a < 3; a++) x[(size_t)a * all + node.proxies + t] = (PetscReal)points[a][index[a]];
  }
  void on_host(const Cluster &node) const {
    int    n[3];
    double points[3][max_tree_order];
    set_points(node, n, points);
    for (PetscInt t = 0; t < proxy_count(node); t++) set(node, points, t);
  }
};

// Values at the points [begin, end) and at the interpolation points of clusters: weights of sources, or sums at targets.
struct ClusterValues {
  const Cluster   *nodes;
  const PetscReal *x[3];
  PetscReal       *values;
  int              reals;

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
  // What is in a cluster: its points (r = 0), or the points or interpolation points of its two children.
  SHELLAC_INLINE void range(const Cluster &node, int r, PetscInt *begin, PetscInt *end) const {
    if (node.child < 0) {
      *begin = node.begin, *end = r ? node.begin : node.end;
      return;
    }
    const Cluster &child = nodes[node.child + r];
    if (child.proxies < 0)
      *begin = child.begin, *end = child.end;
    else
      *begin = child.proxies, *end = child.proxies + proxy_count(child);
  }
};

// The weights of the interpolation points of one cluster from those of what is in it: the sum of ℓ_a(y) ℓ_b(y) ℓ_c(y) w.
struct ClusterWeights : ClusterValues {
  void on_host(const Cluster &node) const {
    int    n[3];
    double points[3][max_tree_order], l[3][max_tree_order];
    set_points(node, n, points);
    std::vector<double> sums((size_t)n[0] * n[1] * n[2] * reals, 0);
    for (int r = 0; r < 2; r++) {
      PetscInt begin, end;
      range(node, r, &begin, &end);
      for (PetscInt j = begin; j < end; j++) {
        for (int a = 0; a < 3; a++) basis(points[a], n[a], x[a][j], l[a]);
        for (int p = 0; p < reals; p++) {
          const double w = values[j * reals + p];
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
        values[(node.proxies + k) * reals + p] = (PetscReal)sums[(size_t)p * n[0] * n[1] * n[2] + k];
  }
};

// The sums at what is in a cluster: plus those at its interpolation points, interpolated.
struct ClusterSums : ClusterValues {
  SHELLAC_INLINE void add(const Cluster &node, const int n[3], const double points[3][max_tree_order],
                          PetscInt i) const {
    double l[3][max_tree_order];
    for (int a = 0; a < 3; a++) basis(points[a], n[a], x[a][i], l[a]);
    for (int p = 0; p < reals; p++) {
      const PetscReal *from = values + (size_t)node.proxies * reals + p;
      double           sum = 0;
      for (int a = 0; a < n[0]; a++)
        for (int b = 0; b < n[1]; b++) {
          double row = 0;
          for (int c = 0; c < n[2]; c++, from += reals) row += l[2][c] * *from;
          sum += l[0][a] * l[1][b] * row;
        }
      values[(size_t)i * reals + p] += (PetscReal)sum;
    }
  }
  void on_host(const Cluster &node) const {
    int      n[3];
    double   points[3][max_tree_order];
    PetscInt begin, end;
    set_points(node, n, points);
    for (int r = 0; r < 2; r++) {
      range(node, r, &begin, &end);
      for (PetscInt i = begin; i < end; i++) add(node, n, points, i);
    }
  }
};

#if SHELLAC_CUDA
// A block of threads for each of the nodes listed.
__global__ void coordinates_kernel(const ClusterCoordinates to, const Cluster *nodes, const PetscInt *which) {
  __shared__ double points[3][max_tree_order];
  const Cluster     node = nodes[which[blockIdx.x]];
  for (int t = threadIdx.x; t < 3 * max_tree_order; t += blockDim.x) {
    const int axis = t / max_tree_order, k = t % max_tree_order;
    if (k < node.n[axis]) points[axis][k] = chebyshev_point(node, axis, k);
  }
  __syncthreads();
  for (PetscInt t = threadIdx.x; t < proxy_count(node); t += blockDim.x) to.set(node, points, t);
}

// The same.
__global__ void downward_kernel(const ClusterSums down, const PetscInt *which) {
  const Cluster node = down.nodes[which[blockIdx.x]];
  int           n[3];
  double        points[3][max_tree_order];
  PetscInt      begin, end;
  set_points(node, n, points);
  for (int r = 0; r < 2; r++) {
    down.range(node, r, &begin, &end);
    for (PetscInt i = begin + threadIdx.x; i < end; i += blockDim.x) down.add(node, n, points, i);
  }
}

constexpr int upward_tile = 32, upward_threads = 128;
constexpr int upward_run = 8; // interpolation points along z that a thread holds

// Threads that a cluster needs.
inline int upward_tasks(const Cluster &node) {
  return node.n[0] * node.n[1] * ((node.n[2] + upward_run - 1) / upward_run);
}

// Blocks of threads (x) for each of the nodes listed, each (y) for some of its interpolation points.
template <int reals>
__global__ void __launch_bounds__(upward_threads) upward_kernel(const ClusterWeights up, const PetscInt *which) {
  constexpr int row = max_tree_order + 3; // odd: rows begin at different banks of the memory; the last run ends in it
  __shared__ double points[3][max_tree_order], l[3][upward_tile][row], w[reals][upward_tile];
  const Cluster     node = up.nodes[which[blockIdx.x]];
  const int         n[3] = {node.n[0], node.n[1], node.n[2]};
  const int         task = blockIdx.y * upward_threads + threadIdx.x, pair = task % (n[0] * n[1]);
  const int         i = pair / n[1], j = pair % n[1], first = task / (n[0] * n[1]) * upward_run;
  const int         axis = threadIdx.x / upward_tile, lane = threadIdx.x % upward_tile;
  double            sum[reals][upward_run] = {};
  if (axis < 3 && lane < n[axis]) points[axis][lane] = chebyshev_point(node, axis, lane);
  for (int t = threadIdx.x; t < 3 * upward_tile * row; t += upward_threads) (&l[0][0][0])[t] = 0; // beyond the order
  for (int r = 0; r < 2; r++) {
    PetscInt begin, end;
    up.range(node, r, &begin, &end);
    for (PetscInt from = begin; from < end; from += upward_tile) {
      const int m = (int)min((PetscInt)upward_tile, end - from);
      __syncthreads();
      if (lane < m && axis < 3) ClusterValues::basis(points[axis], n[axis], up.x[axis][from + lane], l[axis][lane]);
      if (lane < m && axis == 3)
        for (int p = 0; p < reals; p++) w[p][lane] = up.values[(from + lane) * reals + p];
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
        up.values[(node.proxies + pair * n[2] + first + k) * reals + p] = (PetscReal)sum[p][k];
}
#endif

} // namespace shellac
