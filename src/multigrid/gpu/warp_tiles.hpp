#pragma once
// The fused pass on a GPU over uniform levels of middle size, with values in registers: a warp holds rows of 64
// columns, two columns a lane, and a block as many warps, one below the other, as make a tile. Neighbours along a row
// come by shuffles, those along a column are the thread's own, but for the first and the last row of each warp, which
// go through shared memory. For levels that a rank has alone, with real numbers. The code is short, as each
// instruction that comes for the first time is waited for: steps are a loop, and ends of the level differ by masks
// alone.

#include "device/chain.hpp"
#include "device/warp.hpp"
#include "multigrid/pass.hpp"
#include "multigrid/step.hpp"

namespace shellac {

#if SHELLAC_CUDA
constexpr int        warp_columns = 64;
constexpr PetscInt64 small_warp_points = 130000, most_warp_points = 1500000; // of levels

// rows: of a warp, an even number, as kept rows shall lie at odd places. blocks: of a multiprocessor
template <class Kind_, int rows_, int warps_, int blocks_> struct WarpTile {
  using Kind = Kind_;
  static constexpr int rows = rows_, warps = warps_, blocks = blocks_, height = rows * warps, threads = 32 * warps;
  static constexpr int written_columns = warp_columns - 2 * Kind::ghost_columns,
                       written_rows = height - 2 * Kind::ghost;
  // first rows of warps, in two arrays by turns, and zeros beyond the last; likewise last rows
  static constexpr int                       lanes = 2 * (warps + 1) * 32;
  template <class T> static constexpr size_t bytes() { return 2 * lanes * 2 * sizeof(T); }
};

struct WarpTilePlan {
  int first[2], across, tiles; // of the first tile: its first point; tiles side by side, and in all
};

template <class Tile, class T> WarpTilePlan plan_warp_tiles(const SeparableLevel<T> &level) {
  const int    size[2] = {warp_columns, Tile::height}, step[2] = {Tile::written_columns, Tile::written_rows};
  WarpTilePlan plan;
  int          count[2];

  for (int a = 0; a < 2; a++) {
    plan.first[a] = level.offset[a] % 2 ? 0 : -1; // before a kept point
    const int rest = (int)level.patch.size[a] - plan.first[a] - size[a];
    count[a] = rest > 0 ? 1 + (rest + step[a] - 1) / step[a] : 1;
  }
  plan.across = count[0];
  plan.tiles = count[0] * count[1];
  return plan;
}

// Calls f with the tile that a pass of a level takes, if it takes any: of the shapes that were tried the fastest, on
// small levels and on others.
template <class Kind, class T, class Function> bool with_warp_tile(const SeparableLevel<T> &level, const Function &f) {
  if constexpr (std::is_floating_point<T>::value && Kind::coarsens_x && Kind::coarsens_y) {
    const PetscInt64 points = level.patch.all().points();
    if (!level.uniform || !is_alone(level.patch) || points > most_warp_points) return false;
    const bool counts_all = level.counted.points() == points && !level.frame[0] && !level.frame[1];
    if (Kind::given && Kind::restricts && !counts_all) return false; // the norm has all rows
    if (points <= small_warp_points)
      f(WarpTile<Kind, 4, 4, 4>());
    else if constexpr (Kind::given)
      f(WarpTile<Kind, 4, 8, 3>());
    else if constexpr (Kind::corrected)
      f(WarpTile<Kind, 8, 8, 2>());
    else
      f(WarpTile<Kind, 4, 12, 2>());
    return true;
  }
  return false;
}

template <class T> struct alignas(2 * sizeof(T)) TwoColumns { // a lane's part of a row
  T                             v[2];
  __device__ __forceinline__ T &operator[](int l) { return v[l]; }
  __device__ __forceinline__ T  operator[](int l) const { return v[l]; }
};

template <class Tile, class T>
__global__ __launch_bounds__(Tile::threads,
                             Tile::blocks) void pass_in_registers(const __grid_constant__ SeparablePass<T> pass,
                                                                  const __grid_constant__ WarpTilePlan     plan) {
  using Kind = typename Tile::Kind;
  using R = typename RealOf<T>::type;
  using Point = AxisPoint<R>;
  using Row = TwoColumns<T>;
  constexpr bool           sums = Kind::given && Kind::restricts;
  constexpr int            rows = Tile::rows, warps = Tile::warps, steps = Kind::steps;
  const SeparableLevel<T> &level = pass.level;
  const int                nx = (int)level.patch.size[0], ny = (int)level.patch.size[1];
  const int                lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, row = warp * rows;
  const int                tile_i = plan.first[0] + (int)blockIdx.x % plan.across * Tile::written_columns,
            tile_j = plan.first[1] + (int)blockIdx.x / plan.across * Tile::written_rows;
  const int                 i = tile_i + 2 * lane, j = tile_j + row; // this thread's first point
  extern __shared__ double2 shared_memory[];
  // [turn][warps + 1][32]: zeros are before the first warp's last row, and after the last warp's first
  Row *const firsts = reinterpret_cast<Row *>(shared_memory), *const lasts = firsts + Tile::lanes;
  // what is right, beside the tiles before and after
  const int i_lo = tile_i > 0 ? tile_i + Kind::ghost_columns : 0,
            i_hi = tile_i + warp_columns < nx ? tile_i + warp_columns - Kind::ghost_columns : nx,
            j_lo = tile_j > 0 ? tile_j + Kind::ghost : 0,
            j_hi = tile_j + Tile::height < ny ? tile_j + Tile::height - Kind::ghost : ny;
  // what the level has, and what of it changes
  const int  frame_x = level.frame[0], frame_y = level.frame[1];
  const bool in[2] = {i >= 0 && i < nx, i + 1 < nx},
             changes[2] = {i >= frame_x && i < nx - frame_x, i + 1 >= frame_x && i + 1 < nx - frame_x},
             writes[2] = {i >= i_lo && i < i_hi, i + 1 >= i_lo && i + 1 < i_hi};
  const auto has_row = [&](int r) { return j + r >= 0 && j + r < ny; };
  const auto changes_row = [&](int r) { return j + r >= frame_y && j + r < ny - frame_y; };
  const auto writes_row = [&](int r) { return j + r >= j_lo && j + r < j_hi; };
  // points that the next level keeps, and those between them
  const Point &x_kept = level.typical[0][level.offset[0] & 1], &x_between = level.typical[0][1 - (level.offset[0] & 1)],
              &y_kept = level.typical[1][level.offset[1] & 1], &y_between = level.typical[1][1 - (level.offset[1] & 1)];
  const R to_west = x_kept.lower, to_east = x_kept.upper, to_south = y_kept.lower, to_north = y_kept.upper;
  const T inverse_of_all = R(1) / (level.sigma + (to_west + to_east + (to_south + to_north))),
          inverse[2] = {changes[0] ? inverse_of_all : T(0), changes[1] ? inverse_of_all : T(0)};

  if (warp < 2) lasts[warp * (warps + 1) * 32 + lane] = firsts[(warp * (warps + 1) + warps) * 32 + lane] = Row{{0, 0}};
  wait_for_kernel_before();
  let_next_kernel_begin();

  // b, the guess and the correction
  Row        b[rows], u[rows];
  const auto index = [&](int r) { return (PetscInt64)(j + r) * nx + i; };
  const auto for_points = [&](const auto &f) {
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int l = 0; l < 2; l++) f(r, l);
  };
  const auto value = [&](const T *of, int r, int l) { return in[l] && has_row(r) ? of[index(r) + l] : T(0); };
  if (!pass.own.b) // one branch for all points: then their loads are under way together
    for_points([&](int r, int l) { b[r][l] = value(pass.b.u, r, l); });
  else
    for_points([&](int r, int l) {
      b[r][l] = pass.own.has(i + l, j + r) ? pass.own.b[pass.own.index(i + l, j + r)] : value(pass.b.u, r, l);
    });
  for_points([&](int r, int l) { u[r][l] = Kind::given ? value(pass.guess.u, r, l) : T(0); });
  if (Kind::corrected) {
    const int coarse_nx = (int)pass.coarse_e.size[0], coarse_ny = (int)pass.coarse_e.size[1],
              I = (int)(level.below(0, i + 1) - pass.coarse_e.start[0]),
              J = (int)(level.below(1, j + 1) - pass.coarse_e.start[1]);
    const T *from = pass.e.u + (PetscInt64)(J - 1) * coarse_nx + I;
    const R  before_x = changes[0] ? x_between.prolong[0] : R(0), after_x = changes[0] ? x_between.prolong[1] : R(0),
            own_x = changes[1] ? x_kept.prolong[0] : R(0);
    T   e[rows / 2 + 1];
    Row before;
#pragma unroll
    for (int n = 0; n <= rows / 2; n++)
      e[n] =
          I >= 0 && I < coarse_nx && J + n - 1 >= 0 && J + n - 1 < coarse_ny ? from[(PetscInt64)n * coarse_nx] : T(0);
#pragma unroll
    for (int n = 0; n <= rows / 2; n++) {
      T west = __shfl_up_sync(0xffffffffu, e[n], 1);
      if (lane == 0) west = 0;
      const Row along = {{before_x * west + after_x * e[n], own_x * e[n]}};
      if (n > 0) {
        const int r = 2 * n - 2;
#pragma unroll
        for (int l = 0; l < 2; l++) {
          if (changes_row(r)) u[r][l] += y_between.prolong[0] * before[l] + y_between.prolong[1] * along[l];
          if (changes_row(r + 1)) u[r + 1][l] += y_kept.prolong[0] * along[l];
        }
      }
      before = along;
    }
  }

  int        turn = 0;
  double     squares = 0;
  const auto share_ends = [&](const Row &first, const Row &last) {
    turn = 1 - turn;
    firsts[(turn * (warps + 1) + warp) * 32 + lane] = first;
    lasts[(turn * (warps + 1) + warp + 1) * 32 + lane] = last;
    __syncthreads();
  };
  // u += omega D^-1 (b - A u), or the residual in u's place
  const auto step = [&](auto smooths, R omega, bool adds) {
    share_ends(u[0], u[rows - 1]);
    const Row south = lasts[(turn * (warps + 1) + warp) * 32 + lane],
              north = firsts[(turn * (warps + 1) + warp + 1) * 32 + lane];
    const T scale[2] = {omega * inverse[0], omega * inverse[1]};
    Row     below = {{u[0][0] - south[0], u[0][1] - south[1]}}; // differences that two points share, computed once
#pragma unroll
    for (int r = 0; r < rows; r++) {
      T   west = __shfl_up_sync(0xffffffffu, u[r][1], 1), east = __shfl_down_sync(0xffffffffu, u[r][0], 1);
      Row above, r_of;
      if (lane == 0) west = 0;
      if (lane == 31) east = 0;
      const T middle = u[r][1] - u[r][0];
#pragma unroll
      for (int l = 0; l < 2; l++) {
        above[l] = (r + 1 < rows ? u[r + 1 < rows ? r + 1 : r][l] : north[l]) - u[r][l];
        r_of[l] = residual_of(b[r][l], level.sigma, u[r][l]);
        r_of[l] -= to_south * below[l];
        r_of[l] += to_north * above[l];
      }
      r_of[0] = add_fluxes(r_of[0], u[r][0], to_west, west);
      r_of[0] += to_east * middle;
      r_of[1] -= to_west * middle;
      r_of[1] = add_fluxes(r_of[1], u[r][1], to_east, east);
#pragma unroll
      for (int l = 0; l < 2; l++) {
        if (sums && adds && writes[l] && writes_row(r)) squares += squared(r_of[l]);
        if (!decltype(smooths)::value)
          u[r][l] = r_of[l];
        else if (changes_row(r))
          u[r][l] = jacobi_step(u[r][l], scale[l], r_of[l]);
      }
      below = above;
    }
  };
  if (!Kind::starts && steps > 0)
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int l = 0; l < 2; l++) u[r][l] = changes_row(r) ? level.omega[0] * inverse[l] * b[r][l] : T(0);
#pragma unroll 1
  for (int s = Kind::starts ? 0 : 1; s < steps; s++) step(std::true_type(), level.omega[s], s == 0);
  if (steps > 0 && !pass.own.out)
    for_points([&](int r, int l) {
      if (writes[l] && writes_row(r)) pass.out[index(r) + l] = u[r][l];
    });
  else if (steps > 0)
    for_points([&](int r, int l) {
      if (writes[l] && writes_row(r) && pass.own.has(i + l, j + r))
        pass.own.out[pass.own.index(i + l, j + r)] = u[r][l];
    });
  if (!Kind::restricts) return;
  if (steps > 0) step(std::false_type(), R(0), false);
  // along the rows, to the kept columns; then from three rows to each kept one
  const R before_x = changes[0] ? x_between.restriction[1] : R(0), own_x = x_kept.restriction[0],
          after_x = i + 2 >= frame_x && i + 2 < nx - frame_x ? x_between.restriction[0] : R(0);
  T along[rows];
#pragma unroll
  for (int r = 0; r < rows; r++) {
    const Row &of = steps > 0 ? u[r] : b[r];
    T          east = __shfl_down_sync(0xffffffffu, of[0], 1);
    if (lane == 31) east = 0;
    along[r] = changes_row(r) ? own_x * of[1] + (before_x * of[0] + after_x * east) : T(0);
  }
  share_ends(Row{{along[0], T(0)}}, Row{{T(0), T(0)}});
  const T   next = firsts[(turn * (warps + 1) + warp + 1) * 32 + lane][0];
  const int I = (int)level.below(0, i + 1) - (int)pass.coarse_b.start[0];
#pragma unroll
  for (int r = 1; r < rows; r += 2) {
    const int J = (int)level.below(1, j + r) - (int)pass.coarse_b.start[1];
    const T   sum = y_between.restriction[1] * along[r - 1] + y_kept.restriction[0] * along[r] +
                  y_between.restriction[0] * (r + 1 < rows ? along[r + 1 < rows ? r + 1 : r] : next);
    if (writes[1] && writes_row(r) && I >= 0 && I < (int)pass.coarse_b.size[0] && J >= 0 &&
        J < (int)pass.coarse_b.size[1])
      pass.b_coarse[(PetscInt64)J * pass.coarse_b.size[0] + I] = sum;
  }
  if (sums && pass.norms) {
    __shared__ double of_warps[warps];
    squares = sum_of_block(squares, warp, lane, of_warps);
    if (threadIdx.x == 0) pass.norms[blockIdx.x] = squares;
  }
}
#endif

} // namespace shellac
