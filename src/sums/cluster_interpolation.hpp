#pragma once
// Interpolation in the clusters of trees: weights of points go up to the interpolation points, sums at these go down.
//
// There are m + 1 Chebyshev points along an axis, and a cluster has those whose indices are all even or all odd. At all
// of these, a product T_i(x) T_j(y) T_k(z) of Chebyshev polynomials equals the product with m - i and m - j instead of
// i and j. So the interpolant consists of the products with i/m + j/m <= 1 for each pair of axes, those on the boundary
// by halves. For functions that are alike in all directions it needs 0.7 times as many points as one on a tensor grid
// (in 3-D; the points: S. De Marchi, M. Vianello, Y. Xu, New cubature formulae and hyperinterpolation in three
// variables, 2009).

#include "sums/cluster_tree.hpp"
#include "sums/fast_sum.hpp"

namespace shellac {

// The products T_i T_j T_k with k < count; the first of their coefficients, which are followed by zeros up to whole runs.
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

constexpr int interpolation_tile = 32, interpolation_threads = 256, run_of_modes = 8;

SHELLAC_INLINE int in_whole_runs(int count) {
  return (count + run_of_modes - 1) / run_of_modes * run_of_modes;
}

// The threads that work on one cluster: a block of them on a GPU, one on the host.
struct Team {
  int                 rank = 0, size = 1;
  SHELLAC_INLINE void sync() const {
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
  }
};

// The memory of a team, for clusters of up to n points along each axis.
struct InterpolationRoom {
  int n, grid, width, modes = 0, rows = 0; // width: odd, so that points begin at different banks

  explicit InterpolationRoom(int n_) : n(n_), grid((n_ + 1) / 2), width(in_whole_runs(n_) + 1) {
    for (int i = 0; i < n; i++)
      for (int j = 0; i + j < n; j++, rows++) modes += in_whole_runs(n - std::max(i, j));
  }
  SHELLAC_INLINE int buffer() const { // a tile of points, or of a grid what is between points and coefficients
    const int of_grid = grid * (4 * n + grid) + n * in_whole_runs(n), of_tile = (3 * width + 1) * interpolation_tile;
    return PetscMax(of_grid, of_tile);
  }
  size_t bytes() const {
    return sizeof(double) * (modes + buffer()) + sizeof(ModeRow) * rows +
           sizeof(short) * (n + 1 + modes / run_of_modes);
  }
};

// Values at points and at the interpolation points of clusters: weights of sources, or sums at targets.
struct ClusterValues {
  const Cluster   *nodes;
  const PetscReal *x[3];
  PetscReal       *values;
  int              reals;

  SHELLAC_INLINE double coordinate(const Cluster &node, int a, PetscInt i) const { // from -1 to 1 in the box
    const double half = 0.5 * (node.upper[a] - node.lower[a]);
    return half > 0 ? ((double)x[a][i] - node.center(a)) / half : 0;
  }
  // T_0, T_1, ... at coordinate a of point i.
  SHELLAC_INLINE void polynomials(const Cluster &node, int a, PetscInt i, int count, double *t) const {
    const double y = coordinate(node, a, i);
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
};

// The interpolation points of one parity of a cluster: a tensor grid, the last axis first.
struct ProxyGrid {
  PetscInt begin;
  int      size[3];

  SHELLAC_INLINE ProxyGrid(const Cluster &node, int odd)
      : begin(node.proxies + (odd ? proxies_of_parity(node, 0) : 0)) {
    const bool none = proxies_of_parity(node, odd) == 0;
    for (int a = 0; a < 3; a++) size[a] = none ? 0 : node.n[a] > 1 ? (node.n[a] + 1 - odd) / 2 : 1;
  }
  SHELLAC_INLINE PetscInt along(int a, int q) const { // the q-th point along an axis
    return begin + (PetscInt)q * (a == 0 ? size[1] * size[2] : a == 1 ? size[2] : 1);
  }
};

// The interpolant of one cluster, computed by a team. Upwards, it computes the weights of the cluster's interpolation
// points from those of its contents. Downwards, it interpolates the sums at the interpolation points and adds them to
// its contents.
struct Interpolant {
  const ClusterValues &v;
  const Cluster       &node;
  const Team           team;
  double              *coefficients, *buffer;
  ModeRow             *rows;
  short               *start, *row_of_run; // rows of index i begin at start[i]
  int                  n_rows = 0, width;

  SHELLAC_INLINE Interpolant(const ClusterValues &values, const Cluster &cluster, const Team &its_team,
                             const InterpolationRoom &room, double *memory)
      : v(values), node(cluster), team(its_team), coefficients(memory), buffer(memory + room.modes),
        rows(reinterpret_cast<ModeRow *>(buffer + room.buffer())), start(reinterpret_cast<short *>(rows + room.rows)),
        row_of_run(start + room.n + 1), width(room.width) {
    for (int i = 0; i < node.n[0]; i++) {
      const int of_i = most_beside(i, node.n[0] - 1, node.n[1] - 1) + 1;
      if (team.rank == 0) start[i] = (short)n_rows;
      for (int j = team.rank; j < of_i; j += team.size) rows[n_rows + j] = mode_row(node.n, i, j);
      n_rows += of_i;
    }
    if (team.rank == 0) start[node.n[0]] = (short)n_rows;
    team.sync();
    for (int r = team.rank; r < n_rows; r += team.size) {
      int first = 0;
      for (int q = 0; q < r; q++) first += in_whole_runs(rows[q].count);
      rows[r].first = (short)first;
      for (int run = 0; run * run_of_modes < rows[r].count; run++) row_of_run[first / run_of_modes + run] = (short)r;
    }
    team.sync();
  }
  SHELLAC_INLINE int modes() const { return rows[n_rows - 1].first + in_whole_runs(rows[n_rows - 1].count); }

  // What is in the cluster: its points, or those of its children or their interpolation points, f(cluster, all its own
  // points).
  template <class Function> SHELLAC_INLINE void for_each_inside(const Function &f) const {
    if (node.child < 0)
      f(node, false);
    else
      for (int r = 0; r < 2; r++) f(v.nodes[node.child + r], v.nodes[node.child + r].proxies >= 0);
  }
  template <class Function> SHELLAC_INLINE void for_each_grid(const Cluster &of, const Function &f) const {
    for (int odd = 0; odd < 2; odd++) f(ProxyGrid(of, odd));
  }

  SHELLAC_INLINE void clear() const {
    const int n = modes();
    for (int c = team.rank; c < n; c += team.size) coefficients[c] = 0;
    team.sync();
  }
  SHELLAC_INLINE void scale() const {
    const int n = modes();
    team.sync();
    for (int c = team.rank; c < n; c += team.size) {
      const ModeRow row = rows[row_of_run[c / run_of_modes]];
      const int     k = c - row.first;
      coefficients[c] *= k < row.count ? mode_scale(node.n, row.i, row.j, k) : 0;
    }
    team.sync();
  }

  // ---- a tensor grid, axis by axis, of which the first is taken point by point

  struct Buffers {
    double *t[3], *plane, *line, *pairs; // T_i at the points along each axis; values; sums over one axis; over two
  };
  SHELLAC_INLINE Buffers prepare(const ProxyGrid &grid) const {
    Buffers b;
    double *at = buffer;
    for (int a = 0; a < 3; a++) {
      b.t[a] = at;
      at += grid.size[a] * node.n[a];
    }
    b.plane = at;
    b.line = b.plane + grid.size[1] * grid.size[2];
    b.pairs = b.line + grid.size[1] * node.n[2];
    team.sync();
    for (int e = team.rank; e < grid.size[0] + grid.size[1] + grid.size[2]; e += team.size) {
      int a = 0, q = e;
      while (q >= grid.size[a]) q -= grid.size[a++];
      v.polynomials(node, a, grid.along(a, q), node.n[a], b.t[a] + q * node.n[a]);
    }
    team.sync();
    return b;
  }
  // Adds the sums of products T_i T_j T_k over the grid. value(i): at point i.
  template <class Value> SHELLAC_INLINE void add_grid(const ProxyGrid &grid, const Value &value) const {
    const int n1 = node.n[1], n2 = node.n[2], g1 = grid.size[1], g2 = grid.size[2];
    if (!grid.size[0]) return;
    const Buffers b = prepare(grid);
    for (int q = 0; q < grid.size[0]; q++) {
      for (int e = team.rank; e < g1 * g2; e += team.size) b.plane[e] = value(grid.along(0, q) + e);
      team.sync();
      for (int e = team.rank; e < g1 * n2; e += team.size) {
        const int j = e / n2, k = e % n2;
        double    sum = 0;
        for (int p = 0; p < g2; p++) sum += b.plane[j * g2 + p] * b.t[2][p * n2 + k];
        b.line[e] = sum;
      }
      team.sync();
      for (int e = team.rank; e < n1 * n2; e += team.size) {
        const int j = e / n2, k = e % n2;
        double    sum = 0;
        if (k >= rows[j].count) continue;
        for (int p = 0; p < g1; p++) sum += b.t[1][p * n1 + j] * b.line[p * n2 + k];
        b.pairs[rows[j].first + k] = sum;
      }
      team.sync();
      for (int e = team.rank; e < n_rows * n2; e += team.size) {
        const ModeRow row = rows[e / n2];
        const int     k = e % n2;
        if (k < row.count)
          coefficients[row.first + k] += b.t[0][q * node.n[0] + row.i] * b.pairs[rows[row.j].first + k];
      }
    }
  }
  // Calls set(i, value) for each point of the grid.
  template <class Set> SHELLAC_INLINE void at_grid(const ProxyGrid &grid, const Set &set) const {
    const int n0 = node.n[0], n1 = node.n[1], n2 = node.n[2], g1 = grid.size[1], g2 = grid.size[2];
    if (!grid.size[0]) return;
    const Buffers b = prepare(grid);
    for (int q = 0; q < grid.size[0]; q++) {
      for (int e = team.rank; e < n1 * n2; e += team.size) {
        const int j = e / n2, k = e % n2;
        double    sum = 0;
        if (k >= rows[j].count) continue;
        for (int i = 0; i < n0 && j < start[i + 1] - start[i]; i++) {
          const ModeRow row = rows[start[i] + j];
          if (k >= row.count) break;
          sum += b.t[0][q * n0 + i] * coefficients[row.first + k];
        }
        b.pairs[rows[j].first + k] = sum;
      }
      team.sync();
      for (int e = team.rank; e < g1 * n2; e += team.size) {
        const int p = e / n2, k = e % n2;
        double    sum = 0;
        for (int j = 0; j < n1 && k < rows[j].count; j++) sum += b.t[1][p * n1 + j] * b.pairs[rows[j].first + k];
        b.line[e] = sum;
      }
      team.sync();
      for (int e = team.rank; e < g1 * g2; e += team.size) {
        const int p = e / g2, r = e % g2;
        double    sum = 0;
        for (int k = 0; k < n2; k++) sum += b.t[2][r * n2 + k] * b.line[p * n2 + k];
        set(grid.along(0, q) + e, sum);
      }
    }
  }

  // ---- points at any places

  SHELLAC_INLINE double at_point(PetscInt point) const {
    constexpr int run = run_of_modes;
    double        y[3], z[2] = {1, 0}, sum = 0;
    for (int a = 0; a < 3; a++) y[a] = v.coordinate(node, a, point);
    z[1] = y[2];
    for (int k = 0; k < node.n[2]; k += run) {
      double t[run], t0[2] = {1, y[0]}, t1[2] = {1, y[1]}, of_i = 0; // T_i and T_{i+1}
      int    i = 0;
      SHELLAC_UNROLL_ALL
      for (int q = 0; q < run; q++) {
        t[q] = z[0];
        advance(y[2], z);
      }
      for (int r = 0; r < n_rows; r++) {
        const ModeRow row = rows[r];
        if (row.j == 0 && row.count <= k) break; // and so do those that follow
        if (row.i != i) {
          sum += t0[0] * of_i;
          advance(y[0], t0);
          i = row.i;
          of_i = 0;
          t1[0] = 1;
          t1[1] = y[1];
        }
        if (row.count > k) {
          double in_run = 0;
          SHELLAC_UNROLL_ALL
          for (int q = 0; q < run; q++) in_run += coefficients[row.first + k + q] * t[q];
          of_i += t1[0] * in_run;
        }
        advance(y[1], t1);
      }
      sum += t0[0] * of_i;
    }
    return sum;
  }
  static SHELLAC_INLINE void advance(double y, double t[2]) {
    const double next = 2 * y * t[1] - t[0];
    t[0] = t[1];
    t[1] = next;
  }
  // Adds the sums over points; a thread has a run of modes, or each of several threads for a part of the points.
  template <class Value> SHELLAC_INLINE void add_points(Range range, const Value &value) const {
    constexpr int tile = interpolation_tile;
    double *const w = buffer, *const t = w + tile;
#ifndef __CUDA_ARCH__
    for (PetscInt i = range.begin; i < range.end; i++) {
      const double weight = value(i);
      for (int a = 0; a < 3; a++)
        v.polynomials(node, a, i, a < 2 ? node.n[a] : in_whole_runs(node.n[2]), t + a * width);
      for (int r = 0; r < n_rows; r++) {
        const ModeRow row = rows[r];
        const double  lw = weight * t[row.i] * t[width + row.j];
        double       *to = coefficients + row.first;
        for (int k = 0; k < row.count; k++) to[k] += lw * t[2 * width + k];
      }
    }
#else
    constexpr int run = run_of_modes;
    const int     runs = modes() / run, parts = PetscMax(1, PetscMin(team.size / runs, tile));
    const int     axis = team.rank / tile, lane = team.rank % tile, part = team.rank / runs;
    for (int from_run = 0; from_run < runs; from_run += team.size) {
      const int     mine = from_run + (parts > 1 ? team.rank % runs : team.rank);
      const bool    active = mine < runs && part < parts;
      const ModeRow row = rows[row_of_run[active ? mine : 0]];
      const int     k = active ? mine * run - row.first : 0;
      double        sum[run] = {};
      for (PetscInt from = range.begin; from < range.end; from += tile) {
        const int m = (int)min((PetscInt)tile, range.end - from);
        team.sync();
        if (lane < m && axis < 3)
          v.polynomials(node, axis, from + lane, axis < 2 ? node.n[axis] : in_whole_runs(node.n[2]),
                        t + team.rank * width);
        if (lane < m && axis == 3) w[lane] = value(from + lane);
        team.sync();
        if (active)
          for (int s = parts > 1 ? part : 0; s < m; s += parts) {
            const double *at = t + s * width; // of the s-th point along the first axis
            const double  lw = w[s] * at[row.i] * at[tile * width + row.j];
#pragma unroll
            for (int q = 0; q < run; q++) sum[q] += lw * at[2 * tile * width + k + q];
          }
      }
      for (int p = 0; p < parts; p++) {
        if (active && (parts == 1 || part == p))
#pragma unroll
          for (int q = 0; q < run; q++) coefficients[mine * run + q] += sum[q];
        team.sync();
      }
    }
#endif
  }

  // ---- both

  template <bool up> SHELLAC_INLINE void run() const {
    for (int p = 0; p < v.reals; p++) {
      const auto value = [&](PetscInt i) { return (double)v.values[(size_t)i * v.reals + p]; };
      const auto weighted = [&](PetscInt i) { return value(i) * ClusterValues::end_weight(node, i); };
      const auto set = [&](PetscInt i, double sum) {
        v.values[(size_t)i * v.reals + p] = (PetscReal)(ClusterValues::end_weight(node, i) * sum);
      };
      const auto add = [&](PetscInt i, double sum) { v.values[(size_t)i * v.reals + p] += (PetscReal)sum; };
      clear();
      if (up)
        for_each_inside([&](const Cluster &of, bool proxies) {
          if (proxies)
            for_each_grid(of, [&](const ProxyGrid &grid) { add_grid(grid, value); });
          else
            add_points({of.begin, of.end}, value);
        });
      else
        for_each_grid(node, [&](const ProxyGrid &grid) { add_grid(grid, weighted); });
      scale();
      if (up)
        for_each_grid(node, [&](const ProxyGrid &grid) { at_grid(grid, set); });
      else
        for_each_inside([&](const Cluster &of, bool proxies) {
          if (proxies)
            for_each_grid(of, [&](const ProxyGrid &grid) { at_grid(grid, add); });
          else
            for (PetscInt i = of.begin + team.rank; i < of.end; i += team.size) add(i, at_point(i));
        });
      team.sync();
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
// A block of threads for each of the nodes listed.
template <bool up>
__global__ void __launch_bounds__(interpolation_threads)
    interpolate(const ClusterValues v, const PetscInt *which, const InterpolationRoom room) {
  extern __shared__ double memory[];
  const Cluster            node = v.nodes[which[blockIdx.x]];
  const Interpolant        interpolant(v, node, {(int)threadIdx.x, interpolation_threads}, room, memory);
  interpolant.run<up>();
}
#endif

} // namespace shellac
