#pragma once
// The fused pass on a GPU over any part of a level: a block of threads loads a tile with what is around it, takes all
// steps in shared memory, and writes the inner points. For levels that are not uniform, the ends of others, and small
// levels, where short ways count.

#include "device/chain.hpp"
#include "device/warp.hpp"
#include "multigrid/pass.hpp"
#include "multigrid/step.hpp"

namespace shellac {

#if SHELLAC_CUDA
constexpr int tile_columns = 32, tile_rows = 32, tile_threads = 512;

// Boxes of points that are written, each cut into tiles.
struct TilePlan {
  Boxes    parts;
  PetscInt across[6];    // tiles side by side in each
  PetscInt begin[7];     // the first tile of each, and how many there are
  bool     before_march; // march() comes next, and does not wait

  PetscInt64 tiles() const { return begin[parts.count]; }
};

template <class Kind> TilePlan plan_tiles(const Boxes &parts) {
  constexpr PetscInt columns = tile_columns - 2 * Kind::ghost, rows = tile_rows - 2 * Kind::ghost;
  TilePlan           plan = {};

  plan.parts = parts;
  for (int n = 0; n < parts.count; n++) {
    plan.across[n] = (parts.box[n].size(0) + columns - 1) / columns;
    plan.begin[n + 1] = plan.begin[n] + plan.across[n] * ((parts.box[n].size(1) + rows - 1) / rows);
  }
  return plan;
}

template <class Kind> struct TileShape {
  // coarse values that a tile's interpolation takes
  static constexpr int e_columns = Kind::coarsens_x ? tile_columns / 2 + 2 : tile_columns + 1,
                       e_rows = Kind::coarsens_y ? tile_rows / 2 + 2 : tile_rows;
  static constexpr int             values = (tile_rows + 2) * tile_columns; // of a tile, with a row more at both ends
  template <class T> static size_t bytes() {
    return (2 * values + (Kind::corrected ? e_columns * e_rows : 0)) * sizeof(T) +
           (2 * tile_columns + 4 * tile_rows) * sizeof(typename RealOf<T>::type);
  }
};

template <class Kind, class T>
__global__ __launch_bounds__(tile_threads, 2) void pass_tiles(const __grid_constant__ SeparablePass<T> pass,
                                                              const __grid_constant__ TilePlan         plan) {
  using R = typename RealOf<T>::type;
  using Shape = TileShape<Kind>;
  constexpr int             steps = Kind::steps, ghost = Kind::ghost;
  constexpr int             rows = tile_rows / (tile_threads / tile_columns); // of a thread
  const SeparableLevel<T>  &level = pass.level;
  const Patch              &patch = level.patch;
  extern __shared__ double2 shared_memory[];
  T *const tiles = reinterpret_cast<T *>(shared_memory), *const e = tiles + 2 * Shape::values;
  // of the tile's columns and rows: weights of the restriction in the coarse points below and above; edges
  R *const x_weights = reinterpret_cast<R *>(e + (Kind::corrected ? Shape::e_columns * Shape::e_rows : 0));
  R *const y_weights = x_weights + 2 * tile_columns, *const y_edges = y_weights + 2 * tile_rows;

  int part = 0;
  while (part + 1 < plan.parts.count && (PetscInt)blockIdx.x >= plan.begin[part + 1]) part++;
  const Box     &box = plan.parts.box[part];
  const PetscInt tile = (PetscInt)blockIdx.x - plan.begin[part];
  const PetscInt i_lo = box.lo[0] + tile % plan.across[part] * (tile_columns - 2 * ghost),
                 j_lo = box.lo[1] + tile / plan.across[part] * (tile_rows - 2 * ghost),
                 i_hi = PetscMin(i_lo + tile_columns - 2 * ghost, box.hi[0]),
                 j_hi = PetscMin(j_lo + tile_rows - 2 * ghost, box.hi[1]);
  // this thread's points: (i, j) and those after it in its column
  const int      column = threadIdx.x % tile_columns, row = threadIdx.x / tile_columns * rows;
  const PetscInt i = i_lo - ghost + column, j = j_lo - ghost + row;
  T *const       own = tiles + (row + 1) * tile_columns + column;         // its place in the first of two tiles
  const auto     point = [&](int a, PetscInt p) -> const AxisPoint<R>     &{ // a tile may go on beyond the patch
    return level.axis[a][PetscMin(p, patch.size[a] + axis_reach - 1)];
  };
  const AxisPoint<R> &x = point(0, i);
  const R             west = x.lower, east = x.upper;
  T                   b[rows], u[rows], inverse[rows];
  R                   y_prolong[rows][2];
  bool                writes[rows];

  // what does not depend on the kernel before
#pragma unroll
  for (int r = 0; r < rows; r++) {
    const AxisPoint<R> &y = point(1, j + r);
    inverse[r] = x.in * y.in == 0 ? T(0) : R(1) / (level.sigma + (x.lower + x.upper + (y.lower + y.upper)));
    writes[r] = i >= i_lo && i < i_hi && j + r >= j_lo && j + r < j_hi;
    if (Kind::corrected) y_prolong[r][0] = y.prolong[0], y_prolong[r][1] = y.prolong[1];
  }
  const R x_prolong[2] = {x.prolong[0], x.prolong[1]};
  if (threadIdx.x < tile_rows) {
    const AxisPoint<R> &y = point(1, j_lo - ghost + (PetscInt)threadIdx.x);
    y_edges[2 * threadIdx.x] = y.lower, y_edges[2 * threadIdx.x + 1] = y.upper;
    for (int c = 0; c < 2; c++) y_weights[2 * threadIdx.x + c] = y.restriction[c];
  } else if (threadIdx.x < tile_rows + tile_columns) {
    const int           n = threadIdx.x - tile_rows;
    const AxisPoint<R> &at = point(0, i_lo - ghost + n);
    for (int c = 0; c < 2; c++) x_weights[2 * n + c] = at.restriction[c];
  }
  const PetscInt I0 = level.below(0, i_lo - ghost), J0 = level.below(1, j_lo - ghost);
  wait_for_kernel_before();
  if (plan.before_march) __threadfence();
  let_next_kernel_begin();

  // b, the guess and the correction
  const auto own_b = [&](PetscInt p, PetscInt q) {
    const PetscInt on_x = periodic_index(patch, 0, p),
                   on_y = periodic_index(patch, 1, q); // of a window, which is alone
    return pass.own.has(on_x, on_y) ? pass.own.b[pass.own.index(on_x, on_y)] : value_near(patch, pass.b, p, q);
  };
  if (!pass.own.b) // one branch for all points: then their loads are under way together
#pragma unroll
    for (int r = 0; r < rows; r++) b[r] = value_near(patch, pass.b, i, j + r);
  else
#pragma unroll
    for (int r = 0; r < rows; r++) b[r] = own_b(i, j + r);
#pragma unroll
  for (int r = 0; r < rows; r++) u[r] = Kind::given ? value_near(patch, pass.guess, i, j + r) : T(0);
  if (Kind::corrected)
    for (int n = threadIdx.x; n < Shape::e_columns * Shape::e_rows; n += tile_threads)
      e[n] = value_near(pass.coarse_e, pass.e, I0 + n % Shape::e_columns - pass.coarse_e.start[0],
                        J0 + n / Shape::e_columns - pass.coarse_e.start[1]);
  __syncthreads();
  if (Kind::corrected) {
    const T *from = e + (level.below(0, i) - I0);
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const T *at = from + (level.below(1, j + r) - J0) * Shape::e_columns;
      u[r] += y_prolong[r][0] * (x_prolong[0] * at[0] + x_prolong[1] * at[1]);
      if (Kind::coarsens_y)
        u[r] += y_prolong[r][1] * (x_prolong[0] * at[Shape::e_columns] + x_prolong[1] * at[Shape::e_columns + 1]);
    }
  }

  T         *now = own; // this thread's values, for others to read
  const auto exchange = [&]() {
    now = now == own ? own + Shape::values : own;
#pragma unroll
    for (int r = 0; r < rows; r++) now[r * tile_columns] = u[r];
    __syncthreads();
  };
  const auto residual = [&](T *result) {
#pragma unroll
    for (int r = 0; r < rows; r++)
      result[r] = residual_of(b[r], level.sigma, u[r], y_edges[2 * (row + r)],
                              r > 0 ? u[r > 0 ? r - 1 : 0] : now[-tile_columns], y_edges[2 * (row + r) + 1],
                              r + 1 < rows ? u[r + 1 < rows ? r + 1 : 0] : now[rows * tile_columns], west,
                              now[r * tile_columns - 1], east, now[r * tile_columns + 1]);
  };
  double squares = 0;
#pragma unroll
  for (int s = 1; s <= steps; s++) {
    T r_of[rows];
    if (!Kind::starts && s == 1) {
#pragma unroll
      for (int r = 0; r < rows; r++) r_of[r] = b[r];
    } else {
      exchange();
      residual(r_of);
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {
      u[r] = jacobi_step(u[r], level.omega[s - 1] * inverse[r], r_of[r]);
      if (Kind::given && Kind::restricts && s == 1 && writes[r] && level.counts(0, i) && level.counts(1, j + r))
        squares += squared(r_of[r]);
    }
  }
  if (steps > 0 && !pass.own.out)
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (writes[r]) pass.out[patch.index(i, j + r, 0)] = u[r];
    }
  else if (steps > 0)
#pragma unroll
    for (int r = 0; r < rows; r++)
      if (writes[r] && pass.own.has(i, j + r)) pass.own.out[pass.own.index(i, j + r)] = u[r];
  if (!Kind::restricts) return;
  if (steps > 0) {
    exchange();
    T r_of[rows];
    residual(r_of);
#pragma unroll
    for (int r = 0; r < rows; r++) u[r] = r_of[r];
  } else {
#pragma unroll
    for (int r = 0; r < rows; r++) u[r] = b[r];
  }
  exchange();
  // the coarse points that are kept ones of the tile
  const auto first_kept = [&](int a, PetscInt p) {
    return level.coarsens[a] ? level.below(a, p + 1) : level.below(a, p);
  };
  const PetscInt c_lo[2] = {first_kept(0, i_lo), first_kept(1, j_lo)},
                 c_count[2] = {first_kept(0, i_hi) - c_lo[0], first_kept(1, j_hi) - c_lo[1]};
  const T *residuals = now - row * tile_columns - column; // of the tile's first point
  for (PetscInt n = threadIdx.x; n < c_count[0] * c_count[1]; n += tile_threads) {
    const PetscInt I = c_lo[0] + n % c_count[0], J = c_lo[1] + n / c_count[0];
    const PetscInt i_kept = level.coarse_point(0, I), j_kept = level.coarse_point(1, J);
    const PetscInt at[2] = {I - pass.coarse_b.start[0], J - pass.coarse_b.start[1]};
    if (at[0] < 0 || at[0] >= pass.coarse_b.size[0] || at[1] < 0 || at[1] >= pass.coarse_b.size[1]) continue;
    T sum = 0;
#pragma unroll
    for (int q = Kind::coarsens_y ? -1 : 0; q <= (Kind::coarsens_y ? 1 : 0); q++) {
      const int y = (int)(j_kept - (j_lo - ghost)) + q;
      T         along = 0;
#pragma unroll
      for (int p = Kind::coarsens_x ? -1 : 0; p <= (Kind::coarsens_x ? 1 : 0); p++) {
        const int x = (int)(i_kept - (i_lo - ghost)) + p;
        along += x_weights[2 * x + (p < 0 ? 1 : 0)] * residuals[y * tile_columns + x];
      }
      sum += y_weights[2 * y + (q < 0 ? 1 : 0)] * along;
    }
    pass.b_coarse[pass.coarse_b.index(at[0], at[1], 0)] = sum;
  }
  if (Kind::given && pass.norms) {
    __shared__ double of_warps[tile_threads / 32];
    squares = sum_of_block(squares, threadIdx.x / 32, threadIdx.x % 32, of_warps);
    if (threadIdx.x == 0) pass.norms[blockIdx.x] = squares;
  }
}
#endif

} // namespace shellac
