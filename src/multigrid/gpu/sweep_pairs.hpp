#pragma once
// Red-black steps in three dimensions on a GPU, one or two in one pass, where the operator is a sum over the axes. Where
// each axis is coarsened, the pass can add the coarse grid's correction first. Rows are often all alike: so they are if
// the axes are uniform and values beyond their ends are zero. Others are put together from the axes' coefficients.
//
// A block has a tile of columns and rows, and walks along the third axis; each half-step follows one plane behind the one
// before. A thread has one column and pairs of rows. In each turn all half-steps change the same row of a pair, which is
// of the first colour in the first half-step's plane. Neighbours in a plane are in shared memory, a thread's own points in
// registers. Tiles overlap by the points that the half-steps use up; planes come by asynchronous copies, one ahead of use.

#include <type_traits>

#include "device/chain.hpp"
#include "multigrid/level.hpp"
#include "multigrid/step.hpp"

#if SHELLAC_CUDA
#include <cuda_pipeline.h>

namespace shellac {

struct PairPlan {
  int tiles[3], planes; // planes: that a tile writes

  PetscInt64 count() const { return (PetscInt64)tiles[0] * tiles[1] * tiles[2]; }
};

template <class T> struct PairSteps {
  using R = typename RealOf<T>::type;
  SeparableLevel<T> level;
  Patch             coarse;
  T                 center; // of rows that are alike, as the next two
  R                 arm[3][2];
  T                 factor[4]; // of the half-steps: weight / diagonal
  R                 omega[4];  // weight
};

// stages: half-steps; alike: all rows are the same star
template <class T_, int stages_, bool alike_> struct PairShape {
  using T = T_;
  static constexpr bool alike = alike_;
  static constexpr int  stages = stages_, reach = stages;
  static constexpr int  columns = sizeof(T) > 8 ? 32 : 64, rows = alike && stages == 2 && sizeof(T) <= 8 ? 48 : 32;
  static constexpr int  pairs = 2, threads = columns * rows / (2 * pairs);
  // in shared memory: the planes that half-steps change, the next one and the one that comes
  static constexpr int    ring = stages + 2, ring_b = stages + 1;
  static constexpr int    pitch = columns + 2, plane = pitch * (rows + 2), plane_b = columns * rows;
  static constexpr size_t b_at = ring * plane * sizeof(T), weights_at = b_at + ring_b * plane_b * sizeof(T);
  static constexpr size_t bytes = weights_at + 4 * rows * sizeof(typename RealOf<T>::type);
};

// out = the half-steps from u (null: zero) + the interpolation of e (null: none). out is another array than u.
template <class Shape, bool from_zero, bool corrected>
__global__ void __launch_bounds__(Shape::threads, 1)
    sweep_pairs(const __grid_constant__ PairSteps<typename Shape::T> a, const __grid_constant__ PairPlan plan,
                const typename Shape::T *u, const typename Shape::T *b, const typename Shape::T *e,
                typename Shape::T *out) {
  using T = typename Shape::T;
  using R = typename RealOf<T>::type;
  constexpr int             P = Shape::pairs, W = Shape::columns, H = Shape::rows, pitch = Shape::pitch;
  constexpr int             stages = Shape::stages, reach = Shape::reach;
  constexpr bool            alike = Shape::alike;
  extern __shared__ double2 memory[];
  char *const               shared = reinterpret_cast<char *>(memory);
  T *const                  X = reinterpret_cast<T *>(shared);
  T *const                  F = reinterpret_cast<T *>(shared + Shape::b_at);
  // [row][lower, upper]: weights of interpolation, and couplings
  R *const weights_y = reinterpret_cast<R *>(shared + Shape::weights_at), *const arms_y = weights_y + 2 * H;

  const int       thread = threadIdx.x, l = thread % W, r0 = thread / W * 2 * P;
  const Patch    &patch = a.level.patch, &coarse = a.coarse;
  const int       nx = (int)patch.size[0], ny = (int)patch.size[1], nz = (int)patch.size[2];
  const unsigned  above = blockIdx.x / (unsigned)plan.tiles[0];
  const int       tx = (int)(blockIdx.x % (unsigned)plan.tiles[0]), ty = (int)(above % (unsigned)plan.tiles[1]);
  const int       x0 = tx * (W - 2 * reach), y0 = ty * (H - 2 * reach), i = x0 + l, j = y0 + r0;
  const int       k0 = (int)(above / (unsigned)plan.tiles[1]) * plan.planes, k1 = min(k0 + plan.planes, nz);
  const ptrdiff_t plane = (ptrdiff_t)nx * ny;

  for (int n = thread; n < Shape::ring * Shape::plane; n += Shape::threads) X[n] = T(0);
  for (int n = thread; n < Shape::ring_b * Shape::plane_b; n += Shape::threads) F[n] = T(0);
  for (int n = thread; corrected && n < 2 * H; n += Shape::threads)
    weights_y[n] = y0 + n / 2 < ny ? a.level.axis[1][y0 + n / 2].prolong[n % 2] : R(0);
  // of this column, and the planes that change
  R   west = a.arm[0][LOWER], east = a.arm[0][UPPER];
  int lowest = 0, end = nz;
  if constexpr (!alike) {
    const AxisPoint<R> &x = a.level.axis[0][min(i, nx - 1)];
    west = -x.lower, east = -x.upper;
    if (a.level.axis[2][0].in == 0) lowest++;
    if (a.level.axis[2][nz - 1].in == 0) end--;
    for (int n = thread; n < H; n += Shape::threads) {
      const AxisPoint<R> &y = a.level.axis[1][min(y0 + n, ny - 1)];
      arms_y[2 * n + LOWER] = -y.lower, arms_y[2 * n + UPPER] = -y.upper;
    }
  }
  // a bit for each of the thread's rows: its points are on the grid; they change, where rows differ; they are this tile's
  unsigned mine = 0, changes = 0, writes = 0;
#pragma unroll
  for (int n = 0; n < 2 * P; n++) {
    const int r = r0 + n;
    if (i >= nx || j + n >= ny) continue;
    mine |= 1u << n;
    if (!alike && a.level.axis[0][i].in * a.level.axis[1][j + n].in != 0) changes |= 1u << n;
    if ((tx == 0 || l >= reach) && (tx + 1 == plan.tiles[0] || l < W - reach) && (ty == 0 || r >= reach) &&
        (ty + 1 == plan.tiles[1] || r < H - reach))
      writes |= 1u << n;
  }
  wait_for_kernel_before();

  const int  column = (r0 + 1) * pitch + l + 1, column_b = r0 * W + l;
  int        m = k0 - (stages - 1); // the plane of the first half-step
  ptrdiff_t  at = i + (ptrdiff_t)nx * j + plane * m;
  const auto load_x = [&](int q, T *to, ptrdiff_t at) {
    const bool there = !from_zero && q >= 0 && q < nz && q < k1 + reach;
#pragma unroll
    for (int n = 0; n < 2 * P; n++) {
      if (!(mine >> n & 1)) continue;
      if (there)
        __pipeline_memcpy_async(to + column + n * pitch, u + (at + (ptrdiff_t)n * nx), sizeof(T));
      else
        to[column + n * pitch] = T(0);
    }
  };
  const auto load_b = [&](int q, T *to, ptrdiff_t at) {
    if (q < 0 || q >= nz || q >= k1 + reach - 1) return;
#pragma unroll
    for (int n = 0; n < 2 * P; n++)
      if (mine >> n & 1) __pipeline_memcpy_async(to + column_b + n * W, b + (at + (ptrdiff_t)n * nx), sizeof(T));
  };

  // The correction: e in the coarse rows around the thread's, interpolated along the first axis, in the coarse plane at or
  // below a plane; and as it comes, of the next coarse plane. Planes are corrected one after the other.
  T          e_rows[P + 1], fetched[P + 1][2];
  R          wx[2] = {0, 0};
  const int  I = (int)(a.level.below(0, i) - coarse.start[0]), J = (int)(a.level.below(1, j) - coarse.start[1]);
  const bool starts_between = corrected && a.level.between(1, y0); // as all threads' first rows do
  if (corrected && i < nx)
    for (int c = 0; c < 2; c++)
      if (I + c >= 0 && I + c < (int)coarse.size[0]) wx[c] = a.level.axis[0][i].prolong[c];
  const auto fetch_plane = [&](int K) {
    const T *const from = e + (I + (ptrdiff_t)coarse.size[0] * (J + (ptrdiff_t)coarse.size[1] * K));
#pragma unroll
    for (int n = 0; n <= P; n++) {
      const bool there = K >= 0 && K < (int)coarse.size[2] && J + n >= 0 && J + n < (int)coarse.size[1];
#pragma unroll
      for (int c = 0; c < 2; c++) fetched[n][c] = there && wx[c] != 0 ? from[(ptrdiff_t)n * coarse.size[0] + c] : T(0);
    }
  };
  const auto fetch = [&](int q) {
    if (corrected && a.level.between(2, q)) fetch_plane((int)(a.level.below(2, q) + 1 - coarse.start[2]));
  };
  const auto take_fetched = [&](int n) { e_rows[n] = wx[0] * fetched[n][0] + wx[1] * fetched[n][1]; };
  const auto correct = [&](int q, T *to) {
    if (!corrected) return;
    const bool in = q >= 0 && q < nz, between = a.level.between(2, q);
    R          wz[2] = {0, 0};
    T          sum[P + 1];
    if (in) wz[0] = a.level.axis[2][q].prolong[0], wz[1] = a.level.axis[2][q].prolong[1];
#pragma unroll
    for (int n = 0; n <= P; n++) {
      sum[n] = wz[0] * e_rows[n];
      if (!between) continue;
      take_fetched(n);
      sum[n] += wz[1] * e_rows[n];
    }
#pragma unroll
    for (int n = 0; n < 2 * P; n++) {
      if (!in || !(mine >> n & 1)) continue;
      const R *const wy = weights_y + 2 * (r0 + n);
      to[column + n * pitch] += wy[0] * (starts_between ? sum[(n + 1) / 2] : sum[n / 2]) + wy[1] * sum[n / 2 + 1];
    }
  };
  __syncthreads();

  T *now[stages + 2];   // planes m + 2, m + 1, m, ..., m - stages + 1
  T *now_b[stages + 1]; // planes m + 1, m, ..., m - stages + 1
#pragma unroll
  for (int s = 0; s < stages + 2; s++) now[s] = X + s * Shape::plane;
#pragma unroll
  for (int s = 0; s < stages + 1; s++) now_b[s] = F + s * Shape::plane_b;
  load_x(m - 1, now[3], at - plane), load_x(m, now[2], at), load_x(m + 1, now[1], at + plane);
  load_b(m, now_b[1], at);
  __pipeline_commit();
  if (corrected) {
    fetch_plane((int)(a.level.below(2, m - 1) - coarse.start[2]));
#pragma unroll
    for (int n = 0; n <= P; n++) take_fetched(n);
  }
  fetch(m - 1);
  __pipeline_wait_prior(0);
  correct(m - 1, now[3]), fetch(m), correct(m, now[2]), fetch(m + 1);

  int first = (int)(patch.start[0] + i + patch.start[1] + j + patch.start[2] + m + a.level.first_colour) & 1;
  // Of each pair, the row that changes now in planes m - 1, ..., m - stages, the other one in planes m, ..., m - stages + 1
  T here[P][stages], other[P][stages];
#pragma unroll
  for (int p = 0; p < P; p++) {
#pragma unroll
    for (int s = 0; s < stages; s++) here[p][s] = other[p][s] = T(0);
    here[p][0] = now[3][column + (2 * p + first) * pitch];
    other[p][0] = now[2][column + (2 * p + 1 - first) * pitch];
  }
#pragma unroll 1
  for (; m < k1 + stages - 1; m++) {
    __pipeline_wait_prior(0);
    correct(m + 1, now[1]);
    __syncthreads();
    load_x(m + 2, now[0], at + 2 * plane);
    load_b(m + 1, now_b[0], at + plane);
    __pipeline_commit();
    fetch(m + 2);
    // from a row that changes to the one that is no part of the pair
    const int at_first = column + first * pitch, outer = first ? pitch : -pitch, at_b = column_b + first * W;
#pragma unroll
    for (int p = 0; p < P; p++) {
      const int n = at_first + 2 * p * pitch;
      const R  *arm_y = alike ? a.arm[1] : arms_y + 2 * (r0 + 2 * p + first);
      const R   to_outer = arm_y[first], to_partner = arm_y[1 - first];
      const T   next = now[1][n];
      T         upper = next, v = now[2][n], fresh[stages];
#pragma unroll
      for (int s = 0; s < stages; s++) {
        T *const row = now[2 + s] + n;
        R        below = a.arm[2][LOWER], above = a.arm[2][UPPER];
        T        center = a.center, factor = a.factor[s];
        if constexpr (!alike) {
          const AxisPoint<R> &z = a.level.axis[2][m - s];
          below = -unchanging(&z.lower), above = -unchanging(&z.upper);
          center = a.level.sigma - (west + east + (to_outer + to_partner) + (below + above));
          factor = a.omega[s] * inverse_of(center);
        }
        T sum = center * v;
        sum += west * row[-1] + east * row[1];
        sum += to_outer * row[outer] + to_partner * other[p][s];
        sum += below * here[p][s] + above * upper;
        const T    value = jacobi_step(v, factor, now_b[1 + s][at_b + 2 * p * W] - sum);
        const bool in = ((alike ? mine : changes) >> first >> 2 * p & 1) && m - s >= lowest && m - s < end;
        fresh[s] = in ? value : v;
        if (in && s + 1 < stages) row[0] = value;
        upper = fresh[s];
        v = here[p][s];
      }
      if (m - (stages - 1) >= k0) {
        T *const to = out + (at - (stages - 1) * plane + (ptrdiff_t)(2 * p) * nx);
        const T  last = fresh[stages - 1], beside = other[p][stages - 1];
        if (writes >> 2 * p & 1) to[0] = first ? beside : last;
        if (writes >> (2 * p + 1) & 1) to[nx] = first ? last : beside;
      }
#pragma unroll
      for (int s = 0; s < stages; s++) {
        here[p][s] = other[p][s];
        other[p][s] = s == 0 ? next : fresh[s - 1];
      }
    }
    first = 1 - first;
    at += plane;
    T *const free = now[stages + 1];
    T *const free_b = now_b[stages];
#pragma unroll
    for (int s = stages + 1; s > 0; s--) now[s] = now[s - 1];
#pragma unroll
    for (int s = stages; s > 0; s--) now_b[s] = now_b[s - 1];
    now[0] = free, now_b[0] = free_b;
  }
}

// As many planes as take the fewest turns of all multiprocessors.
template <class Shape> PairPlan plan_pairs(const Patch &patch) {
  const auto parts = [](int n, int of) { return (n + of - 1) / of; };
  const auto across = [&](int a, int held) {
    return PetscMax(1, parts((int)patch.size[a] - 2 * Shape::reach, held - 2 * Shape::reach));
  };
  const int nz = (int)patch.size[2], at_once = multiprocessors();
  PairPlan  plan = {{across(0, Shape::columns), across(1, Shape::rows), 1}, nz};
  PetscReal least = PETSC_MAX_REAL;
  for (int chunks = 1; chunks <= PetscMin(nz, 4 * at_once); chunks++) {
    const int       planes = parts(nz, chunks);
    const PetscReal turns = (PetscReal)parts(plan.tiles[0] * plan.tiles[1] * chunks, at_once) *
                            (planes + 2 * Shape::stages); // with those that write nothing, and the start
    if (turns < least) least = turns, plan.planes = planes, plan.tiles[2] = parts(nz, planes);
  }
  return plan;
}

// Whether the GPU has the shared memory for passes of two steps.
template <class T> bool can_sweep_pairs() {
  return most_shared_memory() >= PairShape<T, 4, true>::bytes;
}

template <class Shape, bool from_zero, bool corrected>
PetscErrorCode launch_sweep_pairs(const PairSteps<typename Shape::T> &steps, const typename Shape::T *u,
                                  const typename Shape::T *b, const typename Shape::T *e, typename Shape::T *out) {
  constexpr auto kernel = sweep_pairs<Shape, from_zero, corrected>;
  const PairPlan plan = plan_pairs<Shape>(steps.level.patch);

  PetscFunctionBegin;
  PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)Shape::bytes));
  PetscCall(launch_in_chain(kernel, plan.count(), Shape::threads, Shape::bytes, steps, plan, u, b, e, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// out = u (null: zero) + the interpolation of e (null: none) after the n-th red-black step, and with 4 stages the next one
template <int stages, class T>
PetscErrorCode run_sweep_pairs(const SeparableLevel<T> &level, const Patch &coarse, int n, const T *u, const T *b,
                               const T *e, T *out) {
  PairSteps<T> steps = {};
  const auto   run = [&](auto alike) {
    using Shape = PairShape<T, stages, decltype(alike)::value>;
    return u && e ? launch_sweep_pairs<Shape, false, true>(steps, u, b, e, out)
             : u    ? launch_sweep_pairs<Shape, false, false>(steps, u, b, e, out)
             : e    ? launch_sweep_pairs<Shape, true, true>(steps, u, b, e, out)
                    : launch_sweep_pairs<Shape, true, false>(steps, u, b, e, out);
  };

  PetscFunctionBegin;
  steps.level = level;
  steps.coarse = coarse;
  steps.center = level.sigma;
  for (int a = 0; a < 3; a++) {
    const auto &typical = level.typical[a][0];
    steps.center += typical.lower + typical.upper;
    steps.arm[a][LOWER] = -typical.lower, steps.arm[a][UPPER] = -typical.upper;
  }
  for (int s = 0; s < stages; s++) {
    steps.omega[s] = level.omega[(2 * n + s) % level.steps];
    steps.factor[s] = steps.omega[s] / steps.center;
  }
  PetscCall(level.alike[0] && level.alike[1] && level.alike[2] ? run(std::true_type()) : run(std::false_type()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
