#pragma once
// The right-hand side of the next level, b - A u restricted, in one pass on a GPU in three dimensions, where the operator
// is a sum over the axes, and each axis is coarsened. A warp has a row of 64 columns, two a lane, and a block of warps
// walks along the third axis. A lane's second column is of coarse points. Each plane's residual is restricted along the
// first axis, one plane later along the second, and added up along the third.

#include "device/chain.hpp"
#include "device/warp.hpp"
#include "multigrid/gpu/plane_blocks.hpp"
#include "multigrid/gpu/sum_norms.hpp"
#include "multigrid/level.hpp"
#include "multigrid/step.hpp"

#if SHELLAC_CUDA
namespace shellac {

constexpr int residual_columns = 30; // of the coarse grid that a warp writes
constexpr int residual_rows(int rows) {
  return (rows - 3) / 2;
} // likewise, a block of so many warps
constexpr int residual_blocks(int rows) {
  return rows <= 8 ? 3 : rows <= 16 ? 2 : 1;
} // of a multiprocessor

// norms: the sum of the residual's squares in each block's own points that are not fixed
template <int rows, bool norm, class T>
__global__ void __launch_bounds__(32 * rows, sizeof(T) > 8 ? 1 : residual_blocks(rows))
    restrict_residual_planes(const __grid_constant__ SeparableLevel<T> level, const __grid_constant__ Patch coarse,
                             const __grid_constant__ PlaneBlocks plan, const T *__restrict__ u, const T *__restrict__ b,
                             T *__restrict__ out, double *__restrict__ norms) {
  using R = typename RealOf<T>::type;
  constexpr int      lanes = 32, plane_size = (rows + 2) * lanes; // with a row before the first, and one after the last
  __shared__ double2 memory[(6 * plane_size * sizeof(T) + sizeof(double2) - 1) / sizeof(double2)];
  T *const           mine = reinterpret_cast<T *>(memory) + lanes + threadIdx.x;
  // Planes of even and odd turns: values of the first columns, of the second, and residuals restricted along the first axis.
  const auto     values_of = [&](int second, int turn) { return mine + (second + 2 * (turn & 1)) * plane_size; };
  const auto     restricted = [&](int turn) { return mine + (4 + (turn & 1)) * plane_size; };
  const Patch   &patch = level.patch;
  const PetscInt nx = patch.size[0], ny = patch.size[1], nz = patch.size[2];
  const int      lane = (int)threadIdx.x % lanes, row = (int)threadIdx.x / lanes;
  const unsigned block = blockIdx.x, above = block / (unsigned)plan.blocks[0];
  const PetscInt I = (PetscInt)(block % (unsigned)plan.blocks[0]) * residual_columns + lane - 1;
  const PetscInt first_J = (PetscInt)(above % (unsigned)plan.blocks[1]) * residual_rows(rows),
                 J = first_J + row / 2 - 1;
  const PetscInt K0 = (PetscInt)(above / (unsigned)plan.blocks[1]) * plan.planes,
                 K1 = PetscMin(K0 + plan.planes, coarse.size[2]);
  const PetscInt i = level.coarse_point(0, coarse.start[0] + I) - 1; // of the first column
  const PetscInt j = level.coarse_point(1, coarse.start[1] + first_J) - 2 + row;
  const PetscInt first = level.coarse_point(2, coarse.start[2] + K0) - 1,
                 end = level.coarse_point(2, coarse.start[2] + K1 - 1) + 1;
  const bool in_row = j >= 0 && j < ny, in_first = in_row && i >= 0 && i < nx,
             in_second = in_row && i + 1 >= 0 && i + 1 < nx;
  const bool writes = lane > 0 && lane < lanes - 1 && I < coarse.size[0] && row % 2 == 0 && row >= 2 &&
                      row <= 2 * residual_rows(rows) && J < coarse.size[1];
  // of the points that coarse ones of this block come with, and at the ends of the level the last ones
  const bool last_columns = (block + 1) % (unsigned)plan.blocks[0] == 0,
             last_rows = (above + 1) % (unsigned)plan.blocks[1] == 0;
  const bool owns =
      lane > 0 && lane < (last_columns ? lanes : lanes - 1) && row > 0 && row <= 2 * residual_rows(rows) + last_rows;
  const PetscInt  end_owned = K1 == coarse.size[2] ? end + 1 : end;
  const ptrdiff_t plane = (ptrdiff_t)nx * ny;

  AxisPoint<R> x[2] = {}, y = {};
  R            x_after = 0, y_before = 0, y_after = 0; // weights of restriction
  if (in_first) x[0] = level.axis[0][i];
  if (in_second) x[1] = level.axis[0][i + 1];
  if (in_second && i + 2 < nx) x_after = level.axis[0][i + 2].restriction[0];
  if (in_row) y = level.axis[1][j];
  if (in_row && j > 0) y_before = level.axis[1][j - 1].restriction[1];
  if (in_row && j + 1 < ny) y_after = level.axis[1][j + 1].restriction[0];
  const bool counts = owns && y.in != 0 && level.counts(1, j);
  const bool counts_first = counts && x[0].in != 0 && level.counts(0, i),
             counts_second = counts && x[1].in != 0 && level.counts(0, i + 1);
  const R x_before = x[0].restriction[1], x_here = x[1].restriction[0], y_here = y.restriction[0];

  PetscInt  k = first;
  ptrdiff_t at = i + (ptrdiff_t)nx * j + plane * k; // the first column's point in plane k
  T         below[2], here[2], next[2], f[2], sum = 0,
                                      last = 0; // last: the residual restricted along the first axis, of plane k - 1
  double squares = 0;
  wait_for_kernel_before();
  const auto load = [&](const auto *from, int second, PetscInt n) {
    const bool there = (second ? in_second : in_first) && k + n >= 0 && k + n < nz;
    return there ? from[at + second + plane * n] : T(0);
  };
  for (int c = 0; c < 2; c++) {
    below[c] = load(u, c, -1), here[c] = load(u, c, 0), next[c] = load(u, c, 1), f[c] = load(b, c, 0);
    *values_of(c, 0) = here[c];
  }
  __syncthreads();
  // The residual of plane k; and that of plane k - 1 along the second axis, and added up.
  const auto step = [&](auto is_regular, auto parity) {
    constexpr bool regular = decltype(is_regular)::value;
    constexpr int  turn = decltype(parity)::value; // odd: plane k is a coarse one
    const auto     z_at = [&](PetscInt n, int odd) -> const AxisPoint<R>     &{
      if constexpr (regular)
        return level.typical[2][(level.offset[2] + odd + 1) & 1];
      else
        return level.axis[2][n];
    };
    const AxisPoint<R> &z = z_at(k, turn), &before = z_at(k - 1, 1 - turn);
    T                   above[2], next_f[2];
    SHELLAC_UNROLL_ALL
    for (int c = 0; c < 2; c++) {
      above[c] = next[c];
      if constexpr (regular) {
        const bool there = c ? in_second : in_first;
        next[c] = there ? u[at + c + 2 * plane] : T(0);
        next_f[c] = there ? b[at + c + plane] : T(0);
      } else {
        next[c] = load(u, c, 2);
        next_f[c] = load(b, c, 1);
      }
    }
    const T beside[2] = {shuffled(here[1], (lane + lanes - 1) % lanes), shuffled(here[0], (lane + 1) % lanes)};
    T       r[2];
    SHELLAC_UNROLL_ALL
    for (int c = 0; c < 2; c++) {
      const T west = c ? here[0] : beside[0], east = c ? beside[1] : here[1];
      r[c] = residual_of(f[c], level.sigma, here[c], x[c].lower, west, x[c].upper, east, y.lower,
                         values_of(c, turn)[-lanes], y.upper, values_of(c, turn)[lanes], z.lower, below[c], z.upper,
                         above[c]);
    }
    if (norm && k < end_owned && z.in != 0 && level.counts(2, k)) {
      if (counts_first) squares += squared(r[0]);
      if (counts_second) squares += squared(r[1]);
    }
    const T along_y = y_before * restricted(1 - turn)[-lanes] + y_here * last + y_after * restricted(1 - turn)[lanes];
    last = x_before * r[0] + x_here * r[1] + x_after * shuffled(r[0], (lane + 1) % lanes);
    *restricted(turn) = last;
    SHELLAC_UNROLL_ALL
    for (int c = 0; c < 2; c++) *values_of(c, 1 - turn) = above[c];
    if (k > first) {
      if (turn) { // plane k - 1 lies between two coarse ones
        if (writes && k - 1 > first)
          out[coarse.index(I, J, K0 + (k - first) / 2 - 1)] = sum + before.restriction[0] * along_y;
        sum = before.restriction[1] * along_y;
      } else
        sum += before.restriction[0] * along_y;
    }
    __syncthreads();
    SHELLAC_UNROLL_ALL
    for (int c = 0; c < 2; c++) below[c] = here[c], here[c] = above[c], f[c] = next_f[c];
    at += plane;
    k++;
  };
  constexpr std::true_type                 fast;
  constexpr std::false_type                slow;
  constexpr std::integral_constant<int, 0> even;
  constexpr std::integral_constant<int, 1> uneven;
  const PetscInt                           limit = PetscMin(PetscMin(end, level.regular_hi[2] - 1), nz - 3);
  do { // planes between coarse ones in even turns; one more than there are residuals
    step(slow, even);
    step(slow, uneven);
  } while (k <= PetscMin(end, level.regular_lo[2]));
  while (k < limit) {
    step(fast, even);
    step(fast, uneven);
  }
  while (k <= end + 1) {
    step(slow, even);
    step(slow, uneven);
  }
  if constexpr (norm) {
    double *const of_warps = reinterpret_cast<double *>(memory);
    for (int distance = lanes / 2; distance; distance /= 2) squares += shuffled(squares, lane ^ distance);
    if (lane == 0) of_warps[row] = squares;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < rows; w++) squares += of_warps[w];
    norms[block] = squares;
  }
}

template <class T> constexpr int residual_warps() {
  return sizeof(T) > 8 ? 12 : 16; // as 48 kB of shared memory allow
}
template <class T> PlaneBlocks plan_residual(const Patch &coarse) {
  constexpr int rows = residual_warps<T>();
  return plan_planes(coarse, residual_columns, residual_rows(rows), 2, 32, sizeof(T) > 8 ? 1 : residual_blocks(rows));
}

// norm: the sum of the residual's squares at points that are not fixed; norms: for the blocks' parts of it. null: not wanted
template <class T>
PetscErrorCode restrict_residual(const SeparableLevel<T> &level, const Patch &coarse, const T *u, const T *b, T *out,
                                 double *norms, double *norm) {
  constexpr int     rows = residual_warps<T>();
  const PlaneBlocks plan = plan_residual<T>(coarse);

  PetscFunctionBegin;
  if (!norm) {
    PetscCall(launch_in_chain(restrict_residual_planes<rows, false, T>, plan.count(), 32 * rows, 0, level, coarse, plan,
                              u, b, out, norms));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(launch_in_chain(restrict_residual_planes<rows, true, T>, plan.count(), 32 * rows, 0, level, coarse, plan, u,
                            b, out, norms));
  PetscCall(sum_norms(norms, plan.count(), norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
