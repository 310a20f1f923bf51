#pragma once
// A red-black sweep in three dimensions, both colours in one pass over the memory of a GPU, in place. Points of one colour
// are coupled to the other colour alone. So a small kernel first relaxes the first colour on the two layers beside each
// border between tiles. Then no tile reads what another one changes: of its neighbours' points it needs those of the first
// colour in the layer beside the border, and these are final; its neighbours write the same values there again.
//
// A thread has one column of a tile and pairs of rows, and walks along the third axis. In each plane one row of a pair
// has the first colour. The second colour follows one plane behind the first. Planes come into rings in shared memory by
// asynchronous copies, before their use. Tiles have any width: threads go along their rows, one row after the other.

#include <type_traits>

#include "capture/coefficients.hpp"
#include "device/chain.hpp"

#if SHELLAC_CUDA
#include <cuda_pipeline.h>

namespace shellac {

// Both half-sweeps. Points of `inner` have the rows of the star.
template <class T> struct PlaneSweep {
  int             n[3];              // points of the grid
  int             size[3], tiles[3]; // of a tile: columns, rows (both even), planes; and how many tiles
  int             rows;              // of a tile's threads, at least size[1]
  int             inner_lo[3], inner_hi[3];
  int             colour; // of the first half-sweep: its points have an even sum of this and their indices
  ConstantStar<T> star;
  T               factor[2]; // of the star, in each half-sweep: weight / diagonal
  T               weight[2];
  T              *x;

  SHELLAC_HD bool inner(int axis, int p) const { return p >= inner_lo[axis] && p < inner_hi[axis]; }
  // Rows depend on a point's place along each axis; all points in `inner` have the same.
  SHELLAC_HD int places(int axis) const { return n[axis] - (inner_hi[axis] - inner_lo[axis]) + 1; }
  SHELLAC_HD int place(int axis, int p) const {
    return p < inner_lo[axis] ? p : p < inner_hi[axis] ? inner_lo[axis] : p - inner_hi[axis] + inner_lo[axis] + 1;
  }
  SHELLAC_HD int point_at(int axis, int place) const {
    return place <= inner_lo[axis] ? place : place - inner_lo[axis] - 1 + inner_hi[axis];
  }
  SHELLAC_HD PetscInt64 places() const { return (PetscInt64)places(0) * places(1) * places(2); }
};

template <class T> struct RowOfPoint {
  ConstantStar<T> star;
  T               inverse; // of the diagonal; zero where the point stays as it is
};
constexpr int most_places = 125; // whose rows shared memory holds

namespace kernel {

template <class T> struct Surroundings { T v, lower_x, upper_x, lower_y, upper_y, lower_z, upper_z; };

template <class T>
__device__ __forceinline__ T relaxed(const ConstantStar<T> &star, T factor, const Surroundings<T> &p, T b) {
  const T beside[3][2] = {{p.lower_x, p.upper_x}, {p.lower_y, p.upper_y}, {p.lower_z, p.upper_z}};
  return star.template relax<3>(p.v, beside, b, factor);
}

// ---- the borders of tiles

struct BorderBlocks {
  static constexpr int threads = 128,
                       points = 8; // of a block; of a thread, along the third axis, across that the second
  int      along[3]; // blocks along the second axis for borders across the first; along the first for the others
  int      slabs[3]; // of `points` planes or rows
  unsigned end[3];   // blocks across the axes up to this one

  static constexpr int at_once(size_t bytes) { return bytes > 8 ? 4 : 6; } // of a multiprocessor
};

// Whether a point is in a layer beside a border of tiles.
__device__ __forceinline__ bool beside_border(int p, int n, int size) {
  const int r = p % size;
  return (r == 0 && p > 0) || (r == size - 1 && p + 1 < n);
}

template <class T> struct BorderPoint {
  int             p[3];
  bool            there;
  Surroundings<T> around;
  T               b;

  template <class B> __device__ __forceinline__ void load(const PlaneSweep<T> &s, const B *right) {
    if (!there) return;
    const ptrdiff_t row = s.n[0], plane = row * s.n[1], at = p[0] + row * p[1] + plane * p[2];
    const T *const  x = s.x + at;
    const T         zero(0);
    around = {x[0],
              p[0] > 0 ? x[-1] : zero,
              p[0] + 1 < s.n[0] ? x[1] : zero,
              p[1] > 0 ? x[-row] : zero,
              p[1] + 1 < s.n[1] ? x[row] : zero,
              p[2] > 0 ? x[-plane] : zero,
              p[2] + 1 < s.n[2] ? x[plane] : zero};
    b = T(right[at]);
  }
  template <class Rows> __device__ __forceinline__ void relax(const PlaneSweep<T> &s, const Rows &rows) const {
    if (!there) return;
    T value;
    if (s.inner(0, p[0]) && s.inner(1, p[1]) && s.inner(2, p[2]))
      value = relaxed(s.star, s.factor[0], around, b);
    else {
      const RowOfPoint<T> of = rows.row(p[0], p[1], p[2]);
      value = relaxed<T>(of.star, s.weight[0] * of.inverse, around, b);
    }
    s.x[p[0] + s.n[0] * (p[1] + (ptrdiff_t)s.n[1] * p[2])] = value;
  }
};

// Points that are beside two borders are of one of them alone.
template <class T, class B, class Rows>
__global__ void __launch_bounds__(BorderBlocks::threads, BorderBlocks::at_once(sizeof(T)))
    relax_borders(const __grid_constant__ PlaneSweep<T> s, const __grid_constant__ Rows rows,
                  const __grid_constant__ BorderBlocks blocks, const B *b) {
  unsigned  block = blockIdx.x;
  const int axis = block < blocks.end[0] ? 0 : block < blocks.end[1] ? 1 : 2;
  if (axis > 0) block -= blocks.end[axis - 1];
  const int along = (int)(block % (unsigned)blocks.along[axis]) * BorderBlocks::threads + (int)threadIdx.x;
  block /= (unsigned)blocks.along[axis];
  const int slabs = blocks.slabs[axis], start = (int)(block % (unsigned)slabs) * BorderBlocks::points,
            last = ((int)(block / (unsigned)slabs) + 1) * s.size[axis] - 1; // the layer before the border
  let_next_kernel_begin();
  wait_for_kernel_before();
  if (along >= s.n[axis == 0 ? 1 : 0] || (axis == 0 && beside_border(along, s.n[1], s.size[1]))) return;
  constexpr int together = 2; // are loaded
#pragma unroll 1
  for (int n = start; n < start + BorderBlocks::points; n += together) {
    BorderPoint<T> points[together];
#pragma unroll
    for (int c = 0; c < together; c++) {
      const int q = n + c; // along the third axis, or for its own borders the second
      points[c].there = axis == 2 ? q < s.n[1] : q < s.n[2] && !beside_border(q, s.n[2], s.size[2]);
      const int  step = (last + along + q + s.colour) & 1; // to the layer that has the colour here
      int *const p = points[c].p;
      p[0] = axis == 0 ? last + step : along;
      p[1] = axis == 0 ? along : axis == 1 ? last + step : q;
      p[2] = axis == 2 ? last + step : q;
      points[c].load(s, b);
    }
#pragma unroll
    for (int c = 0; c < together; c++) points[c].relax(s, rows);
  }
}

// ---- the sweep

// Threads; pairs of rows of each; planes that are on their way.
template <class T_, class B_, int threads_, int pairs_, int ahead_> struct PlaneShape {
  using T = T_;
  using B = B_;
  static constexpr int  threads = threads_, pairs = pairs_, ahead = ahead_;
  static constexpr int  ring = 3 + ahead, ring_b = 1 + ahead; // planes: the three around the one that is relaxed
  SHELLAC_HD static int threads_of(int columns, int rows) { return columns * (rows / (2 * pairs)); }
  // in shared memory, x with the points around the tile
  SHELLAC_HD static int    pitch(int columns) { return columns + 2; }
  SHELLAC_HD static int    plane(int columns, int rows) { return pitch(columns) * (rows + 2); }
  SHELLAC_HD static size_t rows_at(int columns, int rows) {
    return (ring * plane(columns, rows) * sizeof(T) + ring_b * (size_t)(columns * rows) * sizeof(B) + 15) / 16 * 16;
  }
  static size_t bytes(int columns, int rows) { return rows_at(columns, rows) + most_places * sizeof(RowOfPoint<T>); }
};

template <class Shape, class Rows>
__global__ void __launch_bounds__(Shape::threads, 1)
    sweep_planes_in_place(const __grid_constant__ PlaneSweep<typename Shape::T> s, const __grid_constant__ Rows rows,
                          const typename Shape::B *const right) {
  using T = typename Shape::T;
  using B = typename Shape::B;
  constexpr int             P = Shape::pairs, ahead = Shape::ahead;
  extern __shared__ double2 memory[];
  const int W = s.size[0], pitch = Shape::pitch(W), plane_x = Shape::plane(W, s.rows), plane_b = W * s.rows;
  T *const X = reinterpret_cast<T *>(memory), *const X_end = X + Shape::ring * plane_x;
  B *const F = reinterpret_cast<B *>(X_end), *const F_end = F + Shape::ring_b * plane_b;
  auto *const table = reinterpret_cast<RowOfPoint<T> *>(reinterpret_cast<char *>(memory) + Shape::rows_at(W, s.rows));
  const int   thread = threadIdx.x, group = thread / W;
  const int   l = thread - group * W, r0 = group * 2 * P; // its first row in the tile
  const int   nx = s.n[0], ny = s.n[1], nz = s.n[2];
  const unsigned above = blockIdx.x / (unsigned)s.tiles[0];
  const int x0 = (int)(blockIdx.x % (unsigned)s.tiles[0]) * W, y0 = (int)(above % (unsigned)s.tiles[1]) * s.size[1],
            k0 = (int)(above / (unsigned)s.tiles[1]) * s.size[2];
  const int       w = min(W, nx - x0), h = min(s.size[1], ny - y0), k1 = min(k0 + s.size[2], nz);
  const int       i = x0 + l, j = y0 + r0;
  const ptrdiff_t plane = (ptrdiff_t)nx * ny;

  if (r0 >= s.rows) return; // has no rows
  for (int n = thread; n < Shape::ring * plane_x; n += Shape::threads_of(W, s.rows)) X[n] = T(0);
  // a point beside the tile, for some threads
  int beside_at = -1, beside_from = 0; // in the tile; in the grid, from the thread's first point
  if (thread < 2 * (w + h)) {
    const int  t = thread - 2 * w;
    const bool along_x = t < 0;
    const int  c = along_x ? (thread < w ? thread : thread - w)
                   : t < h ? -1
                           : w,
              r = along_x ? (thread < w ? -1 : h)
                  : t < h ? t
                          : t - h;
    if (x0 + c >= 0 && x0 + c < nx && y0 + r >= 0 && y0 + r < ny)
      beside_at = (r + 1) * pitch + c + 1, beside_from = c - l + nx * (r - r0);
  }
  // a bit for each of the thread's rows: its points are on the tile; they are so and not relaxed yet
  unsigned mine = 0, open = 0;
#pragma unroll
  for (int n = 0; n < 2 * P; n++) {
    const int r = r0 + n;
    if (l >= w || r >= h) continue;
    mine |= 1u << n;
    if ((l > 0 || x0 == 0) && (l < w - 1 || x0 + w == nx) && (r > 0 || y0 == 0) && (r < h - 1 || y0 + h == ny))
      open |= 1u << n;
  }
  wait_for_kernel_before();

  const int  column = (r0 + 1) * pitch + l + 1, column_b = r0 * W + l;
  ptrdiff_t  at = i + (ptrdiff_t)nx * j + plane * (k0 - 1); // the thread's first point in a plane
  const auto load_x = [&](int m, T *to, ptrdiff_t at) {
    if (m <= k1 && m >= 0 && m < nz) {
#pragma unroll
      for (int n = 0; n < 2 * P; n++)
        if (mine >> n & 1) __pipeline_memcpy_async(to + column + n * pitch, s.x + (at + (ptrdiff_t)n * nx), sizeof(T));
      if (beside_at >= 0) __pipeline_memcpy_async(to + beside_at, s.x + (at + beside_from), sizeof(T));
    } else if (m == nz) {
#pragma unroll
      for (int n = 0; n < 2 * P; n++)
        if (mine >> n & 1) to[column + n * pitch] = T(0);
    }
  };
  const auto load_b = [&](int m, B *to, ptrdiff_t at) {
    if (m < k1) {
#pragma unroll
      for (int n = 0; n < 2 * P; n++)
        if (mine >> n & 1) __pipeline_memcpy_async(to + column_b + n * W, right + (at + (ptrdiff_t)n * nx), sizeof(B));
    }
  };
  __syncthreads();
#pragma unroll
  for (int n = 0; n < 3; n++) load_x(k0 - 1 + n, X + n * plane_x, at + n * plane);
  load_b(k0, F, at + plane);
  __pipeline_commit();
#pragma unroll
  for (int n = 1; n < ahead; n++) {
    load_x(k0 + 1 + n, X + (2 + n) * plane_x, at + (2 + n) * plane);
    load_b(k0 + n, F + n * plane_b, at + (1 + n) * plane);
    __pipeline_commit();
  }

  // Tiles whose points all have the rows of the star need no others.
  const auto walk = [&](auto is_inner) {
    constexpr bool inner = decltype(is_inner)::value;
    bool           has_ends = false; // of the warp
    if constexpr (!inner) {
      for (int n = thread; n < (int)s.places(); n += Shape::threads_of(W, s.rows)) {
        const int above_x = n / s.places(0);
        table[n] = rows.row(s.point_at(0, n % s.places(0)), s.point_at(1, above_x % s.places(1)),
                            s.point_at(2, above_x / s.places(1)));
      }
      for (int n = 0; n < 2 * P; n++)
        if (mine >> n & 1) has_ends = has_ends || !s.inner(0, i) || !s.inner(1, j + n);
      has_ends = __any_sync(0xffffffffu, has_ends);
    }
    // also for threads without points
    const auto place = [&](int a, int p) { return s.place(a, max(0, min(p, s.n[a] - 1))); };
    __pipeline_wait_prior(ahead - 1);
    __syncthreads();

    int first = (i + j + k0 + s.colour) & 1; // which row of each pair has the first colour
    T   before[P], last[P];                  // the first colour, relaxed, two planes and one plane before
    T   last_b[P];
#pragma unroll
    for (int p = 0; p < P; p++) {
      before[p] = last_b[p] = T(0);
      last[p] = X[column + (2 * p + 1 - first) * pitch];
    }
    T         *below = X, *now = X + plane_x, *next = X + 2 * plane_x, *coming = X + (2 + ahead) * plane_x;
    B         *now_b = F, *coming_b = F + ahead * plane_b;
    const auto go_on = [](auto **at, int step, auto *begin, auto *end) {
      *at += step;
      if (*at == end) *at = begin;
    };
#pragma unroll 1
    for (int m = k0; m <= k1; m++) {
      if (m > k0) {
        __pipeline_wait_prior(ahead - 1);
        __syncthreads();
      }
      load_x(m + 1 + ahead, coming, at + (2 + ahead) * plane);
      load_b(m + ahead, coming_b, at + (1 + ahead) * plane);
      __pipeline_commit();
      // from the first pair's point of the first colour; and from there to the row that is no part of the pair
      const int      at_first = column + first * pitch, outer = first ? pitch : -pitch;
      T *const       Xm = now + at_first;
      const T *const Xu = next + at_first, *const Xd = below + at_first;
      const B *const Fm = now_b + column_b;
      const bool     is_layer = (m == k0 && k0 > 0) || (m == k1 - 1 && k1 < nz) || m == k1;
      const unsigned open_first = is_layer ? 0 : open >> first, mine_first = mine >> first;
      const T        arm_outer = s.star.arm[1][first], arm_partner = s.star.arm[1][1 - first];
      T              second[P];
      const auto     step = [&](auto is_regular) {
        constexpr bool regular = decltype(is_regular)::value;
        const auto     relax = [&](int stage, int n, int k, T v, T lower_x, T upper_x, T out, T partner, T lower_z,
                               T upper_z, T b) {
          if constexpr (regular) {
            T sum = s.star.center * v;
            sum += s.star.arm[0][0] * lower_x + s.star.arm[0][1] * upper_x;
            sum += arm_outer * out + arm_partner * partner;
            sum += s.star.arm[2][0] * lower_z + s.star.arm[2][1] * upper_z;
            return v + s.factor[stage] * (b - sum);
          } else {
            const int            of_row = place(0, i) + s.places(0) * place(1, j + n + first);
            const RowOfPoint<T> &of = table[of_row + s.places(0) * s.places(1) * place(2, k)];
            return relaxed<T>(of.star, s.weight[stage] * of.inverse,
                              {v, lower_x, upper_x, first ? partner : out, first ? out : partner, lower_z, upper_z}, b);
          }
        };
#pragma unroll
        for (int p = 0; p < P; p++) {
          const int n = 2 * p * pitch;
          const T   down = Xd[n]; // of the second colour
          T         v = Xm[n];
          const T   fresh = relax(0, 2 * p, m, v, Xm[n - 1], Xm[n + 1], Xm[n + outer], Xm[n - outer], down, Xu[n],
                                  T(Fm[(2 * p + first) * W]));
          if (open_first >> 2 * p & 1) v = fresh;
          if (mine_first >> 2 * p & 1) Xm[n] = v;
          second[p] =
              relax(1, 2 * p, m - 1, down, Xd[n - 1], Xd[n + 1], Xd[n + outer], last[p], before[p], v, last_b[p]);
          before[p] = last[p], last[p] = v, last_b[p] = T(Fm[(2 * p + 1 - first) * W]);
        }
      };
      if (inner || (!has_ends && m - 1 >= s.inner_lo[2] && m < s.inner_hi[2]))
        step(std::true_type());
      else
        step(std::false_type());
      if (m > k0) {
#pragma unroll
        for (int p = 0; p < P; p++) {
          T *const there = s.x + (at + (ptrdiff_t)(2 * p) * nx);
          if (mine >> 2 * p & 1) there[0] = first ? before[p] : second[p];
          if (mine >> (2 * p + 1) & 1) there[nx] = first ? second[p] : before[p];
        }
      }
      first = 1 - first;
      at += plane;
      below = now, now = next;
      go_on(&next, plane_x, X, X_end), go_on(&coming, plane_x, X, X_end);
      go_on(&now_b, plane_b, F, F_end), go_on(&coming_b, plane_b, F, F_end);
    }
  };
  bool      all_inner = true;
  const int begin[3] = {x0, y0, k0}, end[3] = {x0 + w, y0 + h, k1};
#pragma unroll
  for (int a = 0; a < 3; a++) all_inner = all_inner && begin[a] >= s.inner_lo[a] && end[a] <= s.inner_hi[a];
  if (all_inner)
    walk(std::true_type());
  else
    walk(std::false_type());
}

} // namespace kernel

// Cuts the grid into the tiles that take the least time, as far as turns of all blocks and bytes tell; without any where
// shared memory is too small.
template <class Shape> void cut_into_tiles(size_t memory, PlaneSweep<typename Shape::T> *s) {
  constexpr int threads = Shape::threads, pairs = Shape::pairs, most_columns = 256, least_columns = 24;
  const auto    parts = [](int n, int of) { return (n + of - 1) / of; };
  const int     at_once = multiprocessors(), nx = s->n[0], ny = s->n[1], nz = s->n[2];
  constexpr int most_rounds = 12; // of all blocks
  const double  scale = sizeof(typename Shape::T) / 8.;
  double        least = PETSC_MAX_REAL;

  for (int along = 1; along == 1 || nx >= along * least_columns; along++) { // tiles of a row
    const int columns = 2 * parts(parts(nx, along), 2);
    const int most_rows = PetscMin(2 * pairs * (threads / columns), threads / 2 - columns);
    if (columns > most_columns || most_rows < 2) continue;
    int tiles_y = parts(ny, most_rows) - 1, size_y, rows;
    do { // as few as shared memory allows
      tiles_y++;
      size_y = 2 * parts(parts(ny, tiles_y), 2);
      // a thread with rows for each point beside the tile
      rows = 2 * pairs * PetscMax(parts(size_y, 2 * pairs), parts(2 * (columns + size_y), columns));
    } while (size_y > 2 && (Shape::bytes(columns, rows) > memory || Shape::threads_of(columns, rows) > threads));
    const int across = parts(nx, columns) * parts(ny, size_y);
    if (Shape::threads_of(columns, rows) > threads || Shape::bytes(columns, rows) > memory) continue;
    for (int layers = 1; layers == 1 || (across * layers <= most_rounds * at_once && 2 * layers <= nz); layers++) {
      const int planes = parts(nz, layers);
      // Bytes of a point, as measured with tiles of many forms: borders across rows take whole sectors. Bytes of a
      // multiprocessor in a cycle, and cycles of a turn without any.
      const double bytes =
          24 + (along > 1 ? 760. / columns : 0) + (tiles_y > 1 ? 80. / size_y : 0) + (layers > 1 ? 80. / planes : 0);
      const double turn = PetscMax(1.3 * threads * pairs, 500 + scale * columns * size_y * bytes / 16),
                   time = parts(across * layers, at_once) * (planes + 3) * turn;
      if (time >= least) continue;
      least = time;
      s->size[0] = columns, s->size[1] = size_y, s->size[2] = planes, s->rows = rows;
    }
  }
  for (int a = 0; a < 3; a++) s->tiles[a] = s->size[a] ? parts(s->n[a], s->size[a]) : 0;
}

template <class T> kernel::BorderBlocks plan_borders(const PlaneSweep<T> &s) {
  using kernel::BorderBlocks;
  const auto   parts = [](int n, int of) { return (n + of - 1) / of; };
  BorderBlocks blocks;
  blocks.along[0] = parts(s.n[1], BorderBlocks::threads);
  blocks.along[1] = blocks.along[2] = parts(s.n[0], BorderBlocks::threads);
  for (int a = 0; a < 3; a++) {
    blocks.slabs[a] = parts(s.n[a < 2 ? 2 : 1], BorderBlocks::points);
    blocks.end[a] = (a > 0 ? blocks.end[a - 1] : 0) + (unsigned)((s.tiles[a] - 1) * blocks.slabs[a] * blocks.along[a]);
  }
  return blocks;
}

// Of scalars of up to 8 bytes, on large grids, on others and on small ones; and of 16.
template <class T, class B> using LargeGrid = kernel::PlaneShape<T, B, 1024, 2, 1>;
template <class T, class B> using MiddleGrid = kernel::PlaneShape<T, B, 768, 2, 2>;
template <class T, class B> using SmallGrid = kernel::PlaneShape<T, B, 512, 1, 3>;
template <class T, class B> using LargeValues = kernel::PlaneShape<T, B, 512, 2, 1>;
constexpr PetscInt64 points_of_large_grid = 30000000, points_of_small_grid = 4000000;

template <class Shape, class Rows>
PetscErrorCode sweep_in_place(PlaneSweep<typename Shape::T> s, const Rows &rows, const typename Shape::B *b) {
  using T = typename Shape::T;
  using B = typename Shape::B;
  constexpr auto sweep = kernel::sweep_planes_in_place<Shape, Rows>;

  PetscFunctionBegin;
  cut_into_tiles<Shape>(most_shared_memory(), &s);
  const size_t               bytes = Shape::bytes(s.size[0], s.rows);
  const kernel::BorderBlocks borders = plan_borders(s);
  PetscCallCUDA(cudaFuncSetAttribute(sweep, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  if (borders.end[2])
    PetscCall(launch_in_chain(kernel::relax_borders<T, B, Rows>, borders.end[2], kernel::BorderBlocks::threads, 0, s,
                              rows, borders, b));
  PetscCall(
      launch_in_chain(sweep, (PetscInt64)s.tiles[0] * s.tiles[1] * s.tiles[2], Shape::threads, bytes, s, rows, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the places are few, and a GPU has the shared memory for it.
template <class T> bool can_sweep_in_place(const PlaneSweep<T> &s) {
  return s.places() <= most_places && most_shared_memory() >= 220 * 1024; // for rings of whole tiles
}

// Both half-sweeps of s, which has no tiles yet.
template <class T, class B, class Rows>
PetscErrorCode sweep_in_place(const PlaneSweep<T> &s, const Rows &rows, const B *b) {
  const PetscInt64 points = (PetscInt64)s.n[0] * s.n[1] * s.n[2];

  PetscFunctionBegin;
  if constexpr (sizeof(T) > 8)
    PetscCall((sweep_in_place<LargeValues<T, B>>(s, rows, b)));
  else if (points >= points_of_large_grid)
    PetscCall((sweep_in_place<LargeGrid<T, B>>(s, rows, b)));
  else if (points >= points_of_small_grid)
    PetscCall((sweep_in_place<MiddleGrid<T, B>>(s, rows, b)));
  else
    PetscCall((sweep_in_place<SmallGrid<T, B>>(s, rows, b)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
