#pragma once
// Weights of the interpolation points, from the leaves of the tree up.

#include "sums/cluster_tree.hpp"
#include "sums/fast_sum.hpp"

namespace shellac {

// The weights of the interpolation points of one cluster from those of what is in it: ℓ_a(y) ℓ_b(y) ℓ_c(y) w summed
// over its points, or over its children's interpolation points.
struct ClusterWeights {
  const Cluster   *nodes;
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
  SHELLAC_INLINE void range(const Cluster &node, int r, PetscInt *begin, PetscInt *end) const {
    if (node.child < 0) {
      *begin = node.begin, *end = r ? node.begin : node.end;
      return;
    }
    const Cluster &child = nodes[node.child + r];
    if (child.proxies < 0)
      *begin = child.begin, *end = child.end;
    else {
      *begin = child.proxies;
      *end =
          child.proxies + points_along(child, 0, order) * points_along(child, 1, order) * points_along(child, 2, order);
    }
  }
  void on_host(const Cluster &node) const {
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
__global__ void __launch_bounds__(upward_threads) upward_kernel(const ClusterWeights up, const PetscInt *which) {
  constexpr int row = max_tree_order + 3; // odd: rows begin at different banks of the memory; the last run ends in it
  __shared__ double points[3][max_tree_order], l[3][upward_tile][row], w[reals][upward_tile];
  const Cluster     node = up.nodes[which[blockIdx.x]];
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
      if (lane < m && axis < 3) ClusterWeights::basis(points[axis], n[axis], up.x[axis][from + lane], l[axis][lane]);
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
#endif

} // namespace shellac
