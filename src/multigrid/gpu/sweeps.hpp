#pragma once
// A red-black step in three dimensions on a GPU, both colours in one pass, where the operator is a sum over the axes. A warp
// has a row of 64 columns, two a lane: in each plane one point of the first colour and one of the second. A block of warps
// has as many rows, and walks along the third axis. The second colour follows one plane behind the first. What points need
// along the third axis is in registers, along the first in the next lane, along the second in shared memory. Blocks overlap
// by the points that the two half-steps use up: two on each side, or from a zero guess one.

#include "device/chain.hpp"
#include "device/warp.hpp"
#include "multigrid/gpu/plane_blocks.hpp"
#include "multigrid/level.hpp"
#include "multigrid/step.hpp"

#if SHELLAC_CUDA
namespace shellac {

struct SweepShape {
  static constexpr int lanes = 32, columns = 2 * lanes;
  static constexpr int written_columns = columns - 4; // the first and the last lane's are others'
};

// Blocks of a multiprocessor, as registers allow.
constexpr int sweep_blocks(int rows) {
  return rows <= 8 ? 3 : 1;
}

// Rows of a block, on each side, that are others'.
constexpr int sweep_halo(bool from_zero) {
  return from_zero ? 1 : 2;
}

// The inverse diagonal entry of a point in a plane of its own kind, from that in regular planes.
template <class T, class R>
__device__ __noinline__ T inverse_in_plane(const SeparableLevel<T> &level, T regular, const AxisPoint<R> &z) {
  return R(1) / (R(1) / regular + ((z.lower + z.upper) - (level.typical[2][0].lower + level.typical[2][0].upper)));
}

// out = u (null: zero) after a step. The pass reads all of u, and out is another array.
template <bool from_zero, int rows, class T>
__global__ void __launch_bounds__(32 * rows, sizeof(T) > 8 ? 1 : sweep_blocks(rows))
    sweep_planes(const __grid_constant__ SeparableLevel<T> level, const __grid_constant__ PlaneBlocks plan,
                 const T *__restrict__ u, const T *__restrict__ b, T *__restrict__ out) {
  using R = typename RealOf<T>::type;
  constexpr int halo = sweep_halo(from_zero), lanes = SweepShape::lanes;
  constexpr int plane_size =
      (rows + 2) * lanes; // with a row before the first, and one after the last, that nobody writes
  __shared__ double2 memory[(4 * plane_size * sizeof(T) + sizeof(double2) - 1) / sizeof(double2)];
  T *const           mine = reinterpret_cast<T *>(memory) + lanes + threadIdx.x;
  // Planes of even and odd turns: the second colour before the step, and the first after it.
  const auto     before_step = [&](int turn) { return mine + (turn & 1) * plane_size; };
  const auto     after_step = [&](int turn) { return mine + (2 + (turn & 1)) * plane_size; };
  const Patch   &patch = level.patch;
  const PetscInt nx = patch.size[0], ny = patch.size[1], nz = patch.size[2];
  const int      lane = (int)threadIdx.x % lanes, row = (int)threadIdx.x / lanes;
  const unsigned block = blockIdx.x, above = block / (unsigned)plan.blocks[0];
  const PetscInt i = (PetscInt)(block % (unsigned)plan.blocks[0]) * SweepShape::written_columns + 2 * (lane - 1);
  const PetscInt j = (PetscInt)(above % (unsigned)plan.blocks[1]) * (rows - 2 * halo) + row - halo;
  const PetscInt first = (PetscInt)(above / (unsigned)plan.blocks[1]) * plan.planes,
                 end = PetscMin(first + plan.planes, nz);
  const bool in_row = j >= 0 && j < ny, in_first = in_row && i >= 0 && i < nx,
             in_second = in_row && i >= 0 && i + 1 < nx;
  const bool      writes = in_first && lane > 0 && lane < lanes - 1 && row >= halo && row < rows - halo;
  const ptrdiff_t plane = (ptrdiff_t)nx * ny;

  // Of one of the two columns. The one with the first colour's point in plane k, and with the second's in plane k - 1,
  // is `here`.
  struct Column {
    R    own, beside; // coefficients of the neighbours along the row: the lane's, and that of the lane `side`
    T    inverse;     // diagonal entry of points in regular planes
    int  second, side;
    bool there, in; // it is on the grid; and its points are not fixed
  };
  R y_lower = 0, y_upper = 0;
  if (in_row) y_lower = level.axis[1][j].lower, y_upper = level.axis[1][j].upper;
  const auto column = [&](bool is_second) {
    Column of = {
        0, 0, T(0), is_second, (lane + (is_second ? 1 : lanes - 1)) % lanes, is_second ? in_second : in_first, false};
    if (!of.there) return of;
    const AxisPoint<R> &x = level.axis[0][i + is_second], &z = level.typical[2][0];
    of.own = is_second ? x.lower : x.upper, of.beside = is_second ? x.upper : x.lower;
    of.in = x.in * level.axis[1][j].in != 0;
    if (of.in) of.inverse = R(1) / (level.sigma + (x.lower + x.upper + y_lower + y_upper + (z.lower + z.upper)));
    return of;
  };
  PetscInt     k = first - 1;
  const bool   odd = (patch.start[0] + i + patch.start[1] + j + patch.start[2] + k + level.first_colour) & 1;
  const Column columns[2] = {column(odd), column(!odd)}; // `here` in even turns, and in odd ones
  ptrdiff_t    at = i + (ptrdiff_t)nx * j + plane * k;   // the first column's point in plane k

  T d_below = 0, d = 0, d_above = 0; // second colour before the step: planes k - 1, k, k + 1
  T a = 0;                           // first colour before it: plane k
  T v_before = 0, v_below = 0;       // first colour after it: planes k - 2, k - 1
  T b_here = 0, b_below = 0;         // right-hand side of `here`: planes k, k - 1
  wait_for_kernel_before();
  {
    const auto load = [&](const auto *from, const Column &of, PetscInt above) {
      const bool there = of.there && k + above >= 0 && k + above < nz;
      return there ? from[at + of.second + plane * above] : T(0);
    };
    if constexpr (!from_zero) {
      d_below = load(u, columns[0], -1);
      d = load(u, columns[1], 0);
      a = load(u, columns[0], 0);
      d_above = load(u, columns[0], 1);
      *before_step(0) = d;
      __syncthreads();
    }
    b_here = load(b, columns[0], 0);
  }
  const auto step = [&](auto is_regular, auto parity) {
    constexpr bool regular = decltype(is_regular)::value;
    constexpr int  turn = decltype(parity)::value;
    const Column  &here = columns[turn], &other = columns[1 - turn];
    const auto     z_at = [&](PetscInt n) -> const AxisPoint<R>     &{
      if constexpr (regular)
        return level.typical[2][0];
      else
        return level.axis[2][n];
    };
    const AxisPoint<R> &now = z_at(k), &before = z_at(k - 1);
    // the next values of the column that is `here` then
    T next_d = 0, next_a = 0, next_b = 0, next_b_below = 0;
    if (other.there) {
      const ptrdiff_t there = at + other.second;
      if (regular || k + 1 < nz) {
        next_b = b[there + plane];
        if constexpr (!from_zero) next_a = u[there + plane];
      }
      if constexpr (!from_zero)
        if (regular || k + 2 < nz) next_d = u[there + 2 * plane];
      if (regular || (k >= 0 && k < nz)) next_b_below = b[there];
    }
    const R *const omega = level.omega;
    T              inverse = here.inverse, inverse_before = here.inverse;
    bool           in = here.in, in_before = here.in;
    if constexpr (!regular) {
      in = in && now.in != 0, in_before = in_before && before.in != 0;
      inverse = in ? inverse_in_plane(level, here.inverse, now) : T(0);
      inverse_before = in_before ? inverse_in_plane(level, here.inverse, before) : T(0);
    }
    // the first colour in plane k
    T v = 0;
    if constexpr (from_zero) {
      v = omega[0] * inverse * b_here;
    } else {
      const T sum =
          add_products(b_here, here.beside, shuffled(d, here.side), here.own, d, y_lower, before_step(turn)[-lanes],
                       y_upper, before_step(turn)[lanes], now.lower, d_below, now.upper, d_above);
      v = sor_step(a, omega[0], inverse, in, sum);
    }
    *after_step(turn) = v;
    if constexpr (!from_zero) *before_step(1 - turn) = d_above;
    // the second colour in plane k - 1
    const T sum = add_products(b_below, here.beside, shuffled(v_below, here.side), here.own, v_below, y_lower,
                               after_step(1 - turn)[-lanes], y_upper, after_step(1 - turn)[lanes], before.lower,
                               v_before, before.upper, v);
    const T w = sor_step(d_below, omega[1], inverse_before, in_before, sum);
    if (writes && (regular || k > first)) {
      T *to = out + (at - plane);
      if (here.there) to[here.second] = w;
      if (other.there) to[other.second] = v_below;
    }
    __syncthreads();
    v_before = v_below, v_below = v;
    d_below = d, d = d_above, d_above = next_d, a = next_a;
    b_below = next_b_below, b_here = next_b;
    at += plane;
    k++;
  };
  constexpr std::true_type                 fast;
  constexpr std::false_type                slow;
  constexpr std::integral_constant<int, 0> even;
  constexpr std::integral_constant<int, 1> uneven;
  const PetscInt last = PetscMin(PetscMin(end, level.regular_hi[2] - 1), nz - 3); // of regular planes
  do { // at least those two turns that write nothing
    step(slow, even);
    if (k <= end) step(slow, uneven);
  } while (k <= PetscMin(end, level.regular_lo[2]));
  while (k < last) {
    step(fast, even);
    step(fast, uneven);
  }
  while (k <= end) {
    step(slow, even);
    if (k <= end) step(slow, uneven);
  }
}

template <int rows, class T> PlaneBlocks plan_sweep(const Patch &patch, bool from_zero) {
  return plan_planes(patch, SweepShape::written_columns, rows - 2 * sweep_halo(from_zero), 4, 64,
                     sizeof(T) > 8 ? 1 : sweep_blocks(rows));
}

// out = u (null: zero) after the n-th red-black step; out is another array
template <class T> PetscErrorCode run_sweep(const SeparableLevel<T> &of, int n, const T *u, const T *b, T *out) {
  SeparableLevel<T> level = of;

  PetscFunctionBegin;
  level.omega[0] = of.omega[2 * n], level.omega[1] = of.omega[2 * n + 1];
  const auto run = [&](auto rows_of) {
    constexpr int     rows = decltype(rows_of)::value;
    const PlaneBlocks plan = plan_sweep<rows, T>(of.patch, !u);
    PetscFunctionBegin;
    if (u)
      PetscCall(launch_in_chain(sweep_planes<false, rows, T>, plan.count(), 32 * rows, 0, level, plan, u, b, out));
    else
      PetscCall(launch_in_chain(sweep_planes<true, rows, T>, plan.count(), 32 * rows, 0, level, plan, u, b, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  // blocks of many rows compute fewer points twice; of few rows there are more blocks
  if (2 * plan_sweep<20, T>(of.patch, !u).count() >= multiprocessors())
    PetscCall(run(std::integral_constant<int, 20>()));
  else
    PetscCall(run(std::integral_constant<int, 8>()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
