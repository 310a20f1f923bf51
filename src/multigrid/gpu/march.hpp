#pragma once
// The fused pass on a GPU over the inner points of a uniform level, where coefficients are constants and no value is
// beyond a patch. A warp walks down a strip of 64 columns, two a lane. Step s works s rows behind the row that has been
// read last, so that of each step only two rows are held, in registers; neighbours along a row come by shuffles.

#include "device/chain.hpp"
#include "device/warp.hpp"
#include "multigrid/pass.hpp"
#include "multigrid/step.hpp"

namespace shellac {

// The part of a level that this pass can do: strips side by side, in tiles one below the other.
struct MarchPlan {
  PetscInt x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // results are written from (x0, y0) to before (x1, y1)
  PetscInt strips = 0, tiles = 0, rows = 0; // rows: of a tile

  SHELLAC_HD PetscInt64 warps() const { return (PetscInt64)strips * tiles; }
};

// Both axes lose every second point, and all points in reach have the same weights.
template <class T> bool is_uniform(const SeparableLevel<T> &level) {
  for (int a = 0; a < 2; a++) {
    if (!level.coarsens[a]) return false;
    const auto &kept = level.typical[a][level.offset[a] & 1], &other = level.typical[a][1 - (level.offset[a] & 1)];
    for (const auto &point : {kept, other})
      if (point.lower != kept.lower || point.upper != kept.lower || point.in != 1) return false;
    if (kept.prolong[0] != 1 || kept.restriction[0] * 2 != 1) return false;
    for (int c = 0; c < 2; c++)
      if (other.prolong[c] * 2 != 1 || other.restriction[c] * 4 != 1) return false;
  }
  return true;
}

#if SHELLAC_CUDA
constexpr int    march_columns = 64, march_warps = 4, march_blocks = 4; // of a strip; of a block; of a multiprocessor
constexpr double march_points = 3e5;                                    // a part of fewer is left to tiles.hpp

template <class Kind> constexpr int march_batch = Kind::given ? 2 : 4; // rows that are read while others are worked on

// in: the points that it may read; at_once: warps that the GPU runs
template <class Kind, class T> MarchPlan plan_march(const SeparableLevel<T> &level, const Box &in, PetscInt64 at_once) {
  constexpr PetscInt columns = Kind::ghost_columns, ghost_rows = Kind::ghost, written = march_columns - 2 * columns;
  const Patch       &patch = level.patch;
  PetscInt           lo[2], hi[2];
  MarchPlan          plan;

  if (!is_uniform(level)) return plan;
  for (int a = 0; a < 2; a++) {
    lo[a] = PetscMax(level.regular_lo[a], in.lo[a]);
    hi[a] = PetscMin(level.regular_hi[a], in.hi[a]);
  }
  const auto is_kept = [&](int a, PetscInt i) { return (patch.start[a] + i - level.offset[a]) % 2 == 0; };
  PetscInt   i = lo[0], j = lo[1]; // the first point that is read: before a kept one, and in a kept row
  while (is_kept(0, i)) i++;
  while (!is_kept(1, j)) j++;
  plan.x0 = i + columns;
  plan.y0 = j + ghost_rows;
  plan.strips = (hi[0] - columns - plan.x0) / written;
  plan.x1 = plan.x0 + plan.strips * written;
  plan.y1 = hi[1] - ghost_rows - march_batch<Kind> - 2;
  if (plan.strips <= 0 || plan.y1 <= plan.y0 || (double)(plan.x1 - plan.x0) * (plan.y1 - plan.y0) < march_points)
    return MarchPlan();
  // As many rows that the GPU is full to the end; few where the level is small. Long tiles have less that overlaps, but
  // more than a hundred rows were slower: tiles beside and below each other share less of the second cache.
  const PetscInt height = plan.y1 - plan.y0;
  PetscInt64     least = PETSC_MAX_INT;
  for (PetscInt rows = 112; rows >= 8; rows -= 2) {
    const PetscInt64 warps = (PetscInt64)plan.strips * ((height + rows - 1) / rows),
                     rounds = (warps + at_once - 1) / at_once,
                     time = rounds * (rows + 2 * Kind::ghost + 8); // in rows, of which the first come late
    if (time < least) least = time, plan.rows = rows;
  }
  plan.tiles = (height + plan.rows - 1) / plan.rows;
  return plan;
}

template <class T> struct Pair { // a lane's part of a row
  T                                      v[2];
  __device__ __forceinline__ T          &operator[](int l) { return v[l]; }
  __device__ __forceinline__ T           operator[](int l) const { return v[l]; }
  __device__ __forceinline__ static Pair from(const T *values) { return Pair{{values[0], values[1]}}; }
};

template <class Kind, class T>
__global__ __launch_bounds__(32 * march_warps, march_blocks) void march(const __grid_constant__ SeparablePass<T> pass,
                                                                        const __grid_constant__ MarchPlan        plan) {
  using R = typename RealOf<T>::type;
  constexpr int            steps = Kind::steps, last = Kind::last, batch = march_batch<Kind>;
  constexpr PetscInt       ghost_columns = Kind::ghost_columns, written = march_columns - 2 * ghost_columns;
  const SeparableLevel<T> &level = pass.level;
  const Patch             &patch = level.patch;
  const PetscInt64         warp = (PetscInt64)blockIdx.x * march_warps + threadIdx.x / 32;
  const int                lane = threadIdx.x % 32;
  if (warp >= plan.warps()) return;
  // The kernel before is the pass over the rest of the level, which lets this one begin when all before it is there: this
  // one waits at its end, for those that follow.
  __threadfence();
  let_next_kernel_begin();
  const PetscInt i = plan.x0 - ghost_columns + (PetscInt)(warp % plan.strips) * written + 2 * lane,
                 j0 = plan.y0 + (PetscInt)(warp / plan.strips) * plan.rows, j1 = PetscMin(j0 + plan.rows, plan.y1),
                 first = j0 - Kind::ghost, end = j1 + Kind::ghost;
  const bool   writes = 2 * lane >= ghost_columns && 2 * lane < march_columns - ghost_columns;
  const R      kx = level.typical[0][0].lower, ky = level.typical[1][0].lower;
  const T      inverse = R(1) / (level.sigma + (2 * kx + 2 * ky));
  const size_t row_size = patch.size[0], own_size = pass.own.points.size(0), b_size = pass.own.b ? own_size : row_size,
               out_size = pass.own.out ? own_size : row_size;
  // of the row that is read next, and of the kept point in it
  const PetscInt I = level.below(0, i + 1), J = level.below(1, first);
  const T       *from_b = pass.own.b ? pass.own.b + pass.own.index(i, first) : pass.b.u + patch.index(i, first, 0);
  const T       *from_guess = Kind::given ? pass.guess.u + patch.index(i, first, 0) : nullptr;
  const size_t   e_size = Kind::corrected ? pass.coarse_e.size[0] : 0;
  const T       *from_e = Kind::corrected
                              ? pass.e.u + pass.coarse_e.index(I - pass.coarse_e.start[0], J - pass.coarse_e.start[1], 0)
                              : nullptr;
  // of the row that is written next
  T *to_out = pass.out ? pass.out + i + (PetscInt64)row_size * (first - last) : nullptr;
  if (pass.own.out)
    to_out = pass.own.out + (i - pass.own.points.lo[0]) + (PetscInt64)own_size * (first - last - pass.own.points.lo[1]);
  T *to_coarse = nullptr;
  if (Kind::restricts)
    to_coarse = pass.b_coarse +
                pass.coarse_b.index(I - pass.coarse_b.start[0], level.below(1, j0 + 1) - pass.coarse_b.start[1], 0);

  using Row = Pair<T>;
  LastValues<Row, 3>        u[steps + 1]; // of each step
  LastValues<Row, last + 2> b;
  LastValues<Row, 2>        e; // kept rows, interpolated along them
  Row                       next_b[batch], next_u[batch];
  T                         next_e[batch / 2], sum = 0; // sum: of the coarse value that is not yet complete
  double                    squares = 0;

  const auto read = [&](bool there) {
#pragma unroll
    for (int r = 0; r < batch; r++) {
      if (!there) break;
      next_b[r] = Row::from(from_b);
      from_b += b_size;
      if (Kind::given) {
        next_u[r] = Row::from(from_guess);
        from_guess += row_size;
      }
      if (Kind::corrected && r % 2) {
        from_e += e_size;
        next_e[r / 2] = *from_e;
      }
    }
  };
  const auto add_e = [&](T value) { e.add(Row{{R(0.5) * (shuffled(value, lane - 1) + value), value}}); };
  const auto residual = [&](const Row &f, const LastValues<Row, 3> &v) {
    const T west = shuffled(v[1][1], lane - 1), east = shuffled(v[1][0], lane + 1);
    return Row{{residual_of(f[0], level.sigma, v[1][0], ky, v[2][0], ky, v[0][0], kx, west, kx, v[1][1]),
                residual_of(f[1], level.sigma, v[1][1], ky, v[2][1], ky, v[0][1], kx, v[1][0], kx, east)}};
  };

  if (Kind::corrected) add_e(*from_e);
  read(true);
  for (PetscInt j = first; j < end; j += batch) {
    Row now_b[batch], now_u[batch];
    T   now_e[batch / 2];
#pragma unroll
    for (int r = 0; r < batch; r++) {
      now_b[r] = next_b[r];
      if (Kind::given) now_u[r] = next_u[r];
      if (Kind::corrected && r % 2) now_e[r / 2] = next_e[r / 2];
    }
    read(j + batch < end);
#pragma unroll
    for (int r = 0; r < batch; r++) { // the row j + r, which is a kept one where r is even
      b.add(now_b[r]);
      if (Kind::starts) {
        Row row = Kind::given ? now_u[r] : Row{{T(0), T(0)}};
        if (Kind::corrected) {
          if (r % 2) {
            add_e(now_e[r / 2]);
            for (int l = 0; l < 2; l++) row[l] += R(0.5) * (e[1][l] + e[0][l]);
          } else {
            for (int l = 0; l < 2; l++) row[l] += e[0][l];
          }
        }
        u[0].add(row);
      }
#pragma unroll
      for (int s = 1; s <= steps; s++) {
        const int lag = Kind::starts ? s : s - 1;
        const T   scale = level.omega[s - 1] * inverse;
        Row       row;
        if (!Kind::starts && s == 1) {
          for (int l = 0; l < 2; l++) row[l] = scale * b[0][l];
        } else {
          const Row r_of = residual(b[lag], u[s - 1]);
          for (int l = 0; l < 2; l++) row[l] = jacobi_step(u[s - 1][1][l], scale, r_of[l]);
          if (Kind::given && Kind::restricts && s == 1 && pass.norms && j + r - lag >= j0 && j + r - lag < j1 &&
              writes && level.counts(1, j + r - lag))
            for (int l = 0; l < 2; l++)
              if (level.counts(0, i + l)) squares += squared(r_of[l]);
        }
        u[s].add(row);
      }
      const PetscInt done = j + r - last;
      if (steps > 0 && writes && done >= j0 && done < j1)
        for (int l = 0; l < 2; l++) to_out[l] = u[steps][0][l];
      to_out += out_size;
      if (!Kind::restricts) continue;
      const int behind = steps > 0 ? last + 1 : 0; // rows; without steps, the residual is b itself
      const Row r_of = steps > 0 ? residual(b[behind], u[steps]) : b[0];
      const T   along = R(0.5) * r_of[1] + R(0.25) * (r_of[0] + shuffled(r_of[0], lane + 1));
      if ((r + behind) % 2 == 0) {
        sum += R(0.5) * along;
      } else {
        sum += R(0.25) * along;
        const PetscInt kept = j + r - behind - 1;
        if (kept >= j0 && kept < j1) {
          if (writes) *to_coarse = sum;
          to_coarse += pass.coarse_b.size[0];
        }
        sum = R(0.25) * along;
      }
    }
  }
  if (Kind::given && Kind::restricts && pass.norms) {
    squares = sum_of_warp(squares);
    if (lane == 0) pass.norms[warp] = squares;
  }
  wait_for_kernel_before();
}
#endif

} // namespace shellac
