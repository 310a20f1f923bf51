#pragma once
// Interpolation in the clusters of trees: weights of points go up to the interpolation points, sums at these go down.
//
// With m + 1 Chebyshev points along an axis, of which a cluster has those whose indices are all even or all odd, a product
// T_i(x) T_j(y) T_k(z) of Chebyshev polynomials equals another one, with m - i for i and m - j for j, at all of them.
// So the interpolant has the products with i/m + j/m <= 1 for each pair of axes, and those on the boundary by halves. It
// follows functions that are alike in all directions with 0.7 times as many points as one on a tensor grid (in 3-D; the
// points: S. De Marchi, M. Vianello, Y. Xu, New cubature formulae and hyperinterpolation in three variables, 2009).

#include "sums/cluster_tree.hpp"
#include "sums/fast_sum.hpp"

namespace shellac {

// The products T_i T_j T_k with k < count; the first of their coefficients.
struct ModeRow {
  short i, j, first, count;
};

// The largest index beside i, of m + 1 along its axis, along an axis of n + 1.
SHELLAC_INLINE int most_beside(int i, int m, int n) {
  return m ? n * (m - i) / m : n;
}
SHELLAC_INLINE ModeRow mode_row(const int n[3], int i, int j) {
  const int most = PetscMin(most_beside(i, n[0] - 1, n[2] - 1), most_beside(j, n[1] - 1, n[2] - 1));
  return {(short)i, (short)j, 0, (short)(most + 1)};
}
// The factor of a coefficient: one over the sum of its product's squares over the points. Products that are equal at all
// points share it.
SHELLAC_INLINE double mode_scale(const int n[3], int i, int j, int k) {
  const int index[3] = {i, j, k};
  int       parities = 0, equal = 1; // products that are equal at all points
  double    scale = 1;
  for (int a = 0; a < 3; a++) {
    const int m = n[a] - 1, b = (a + 1) % 3, of_b = n[b] - 1;
    if (m == 0) continue;
    scale *= (index[a] == 0 || index[a] == m ? 1. : 2.) / m;
    parities = parities ? 2 * parities : 1;
    equal += of_b > 0 && index[a] * of_b + index[b] * m == m * of_b;
  }
  return scale * PetscMax(parities, 1) / equal;
}

// Values at points and at the interpolation points of clusters: weights of sources, or sums at targets.
struct ClusterValues {
  const Cluster   *nodes;
  const PetscReal *x[3];
  PetscReal       *values;
  int              reals;

  // What is in a cluster: its points, or the points or interpolation points of its two children. And its own.
  SHELLAC_INLINE void ranges(const Cluster &node, Range inside[2], Range own[2]) const {
    for (int r = 0; r < 2; r++) {
      inside[r] = {node.begin, r ? node.begin : node.end};
      if (node.child >= 0) {
        const Cluster &child = nodes[node.child + r];
        inside[r] = {child.begin, child.end};
        if (child.proxies >= 0) inside[r] = {child.proxies, child.proxies + proxy_count(child)};
      }
      own[r] = {node.proxies, node.proxies + (r ? 0 : proxy_count(node))};
    }
  }
  // T_0, T_1, ... at coordinate a of point i.
  SHELLAC_INLINE void polynomials(const Cluster &node, int a, PetscInt i, int count, double *t) const {
    const double half = 0.5 * (node.upper[a] - node.lower[a]);
    const double y = half > 0 ? ((double)x[a][i] - node.center(a)) / half : 0;
    t[0] = 1;
    if (count > 1) t[1] = y;
    for (int k = 2; k < count; k++) t[k] = 2 * y * t[k - 1] - t[k - 2];
  }
  // The weight of an interpolation point in sums over them.
  static SHELLAC_INLINE double end_weight(const Cluster &node, PetscInt i) {
    int    index[3];
    double weight = 1;
    proxy_indices(node, i - node.proxies, index);
    for (int a = 0; a < 3; a++)
      if (node.n[a] > 1 && (index[a] == 0 || index[a] == node.n[a] - 1)) weight *= 0.5;
    return weight;
  }
  // The sum of products at point i, and where it goes.
  template <bool up>
  SHELLAC_INLINE void set(const Cluster &node, PetscInt i, int p, int n_rows, const ModeRow *rows,
                          const double *coefficients) const {
    double t[3][max_tree_order], sum = 0;
    for (int a = 0; a < 3; a++) polynomials(node, a, i, node.n[a], t[a]);
    for (int r = 0; r < n_rows; r++) {
      const ModeRow row = rows[r];
      double        in_row = 0;
      for (int k = 0; k < row.count; k++) in_row += coefficients[row.first + k] * t[2][k];
      sum += t[0][row.i] * t[1][row.j] * in_row;
    }
    PetscReal *to = &values[(size_t)i * reals + p];
    *to = (PetscReal)(up ? end_weight(node, i) * sum : *to + sum);
  }
  // Up: the weights of a cluster's interpolation points from those of what is in it. Down: the sums at what is in it, plus
  // those at its interpolation points, interpolated.
  template <bool up> void on_host(const Cluster &node) const {
    Range                inside[2], own[2];
    std::vector<ModeRow> rows;
    std::vector<double>  coefficients;
    double               t[3][max_tree_order];
    ranges(node, inside, own);
    short first = 0;
    for (int i = 0; i < node.n[0]; i++)
      for (int j = 0; j <= most_beside(i, node.n[0] - 1, node.n[1] - 1); j++) {
        rows.push_back(mode_row(node.n, i, j));
        rows.back().first = first;
        first = (short)(first + rows.back().count);
      }
    for (int p = 0; p < reals; p++) {
      coefficients.assign(first, 0);
      for (const Range &range : up ? inside : own)
        for (PetscInt i = range.begin; i < range.end; i++) {
          const double value = values[(size_t)i * reals + p] * (up ? 1. : end_weight(node, i));
          for (int a = 0; a < 3; a++) polynomials(node, a, i, node.n[a], t[a]);
          for (const ModeRow &row : rows) {
            const double lw = value * t[0][row.i] * t[1][row.j];
            double      *sum = coefficients.data() + row.first;
            for (int k = 0; k < row.count; k++) sum[k] += lw * t[2][k];
          }
        }
      for (const ModeRow &row : rows)
        for (int k = 0; k < row.count; k++) coefficients[row.first + k] *= mode_scale(node.n, row.i, row.j, k);
      for (const Range &range : up ? own : inside)
        for (PetscInt i = range.begin; i < range.end; i++)
          set<up>(node, i, p, (int)rows.size(), rows.data(), coefficients.data());
    }
  }
};

// The coordinates of clusters' interpolation points, in three arrays of `all` points.
struct SetProxies {
  const Cluster  *nodes;
  const PetscInt *which;
  PetscReal      *x;
  size_t          all;

  SHELLAC_HD void operator()(PetscInt t, PetscInt c, PetscInt) const {
    const Cluster &node = nodes[which[c]];
    int            index[3];
    if (t >= proxy_count(node)) return;
    proxy_indices(node, t, index);
    for (int a = 0; a < 3; a++) x[a * all + node.proxies + t] = (PetscReal)chebyshev_point(node, a, index[a]);
  }
};

#if SHELLAC_CUDA
constexpr int interpolation_tile = 32, interpolation_threads = 256, run_of_modes = 8;

// The shared memory of a block of threads for clusters of up to n points along each axis.
struct InterpolationRoom {
  int modes = 0, rows = 0, width; // odd: points begin at different banks

  explicit InterpolationRoom(int n) : width((n + run_of_modes - 1) / run_of_modes * run_of_modes + 1) {
    for (int i = 0; i < n; i++)
      for (int j = 0; i + j < n; j++, rows++) modes += n - std::max(i, j);
  }
  size_t bytes() const {
    return sizeof(double) * (modes + (3 * width + 1) * interpolation_tile) + sizeof(ModeRow) * rows;
  }
};

// A block of threads for each of the nodes listed; see on_host().
template <bool up>
__global__ void __launch_bounds__(interpolation_threads)
    interpolate(const ClusterValues v, const PetscInt *which, const InterpolationRoom room) {
  constexpr int            tile = interpolation_tile, threads = interpolation_threads, run = run_of_modes;
  extern __shared__ double coefficients[];
  double *const w = coefficients + room.modes, *const t = w + tile;
  ModeRow *const rows = reinterpret_cast<ModeRow *>(t + 3 * tile * room.width);
  const Cluster  node = v.nodes[which[blockIdx.x]];
  const int      n[3] = {node.n[0], node.n[1], node.n[2]}, runs = (n[2] + run - 1) / run;
  const int      axis = threadIdx.x / tile, lane = threadIdx.x % tile;
  Range          inside[2], own[2];
  int            n_rows = 0;
  v.ranges(node, inside, own);
  for (int i = 0; i < n[0]; i++) {
    const int of_i = most_beside(i, n[0] - 1, n[1] - 1) + 1;
    for (int j = threadIdx.x; j < of_i; j += threads) rows[n_rows + j] = mode_row(n, i, j);
    n_rows += of_i;
  }
  __syncthreads();
  for (int r = threadIdx.x; r < n_rows; r += threads) {
    int first = 0;
    for (int q = 0; q < r; q++) first += rows[q].count;
    rows[r].first = (short)first;
  }
  for (int p = 0; p < v.reals; p++) {
    for (int from_task = 0; from_task < n_rows * runs; from_task += threads) {
      const int task = from_task + threadIdx.x, k = task / n_rows * run;
      double    sum[run] = {};
      __syncthreads();
      const ModeRow row = rows[task % n_rows];
      const bool    active = task < n_rows * runs && k < row.count;
      for (int r = 0; r < 2; r++) {
        const Range range = up ? inside[r] : own[r];
        for (PetscInt from = range.begin; from < range.end; from += tile) {
          const int m = (int)min((PetscInt)tile, range.end - from);
          __syncthreads();
          if (lane < m && axis < 3)
            v.polynomials(node, axis, from + lane, axis < 2 ? n[axis] : runs * run, t + threadIdx.x * room.width);
          if (lane < m && axis == 3)
            w[lane] = v.values[(from + lane) * v.reals + p] * (up ? 1. : v.end_weight(node, from + lane));
          __syncthreads();
          if (active)
            for (int s = 0; s < m; s++) {
              const double *at = t + s * room.width; // of the s-th point along the first axis
              const double  lw = w[s] * at[row.i] * at[tile * room.width + row.j];
#pragma unroll
              for (int q = 0; q < run; q++) sum[q] += lw * at[2 * tile * room.width + k + q];
            }
        }
      }
#pragma unroll
      for (int q = 0; q < run; q++)
        if (active && k + q < row.count) coefficients[row.first + k + q] = sum[q] * mode_scale(n, row.i, row.j, k + q);
    }
    __syncthreads();
    for (int r = 0; r < 2; r++) {
      const Range range = up ? own[r] : inside[r];
      for (PetscInt i = range.begin + threadIdx.x; i < range.end; i += threads)
        v.set<up>(node, i, p, n_rows, rows, coefficients);
    }
  }
}
#endif

} // namespace shellac
