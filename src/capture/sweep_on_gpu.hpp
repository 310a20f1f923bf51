#pragma once
// A few half-sweeps of a star, over the points of one colour and of the other in turn, in one pass over the memory of a
// GPU. A warp has 64 columns, two a lane, and walks along the slowest axis: each half-sweep works one row (in 3-D: plane)
// behind the one before it, so that the last rows are all that is held, in registers. Tiles overlap by what the half-sweeps
// use up. From a zero guess no tile reads x. Otherwise, in 2-D, each tile reads what it writes itself out of x; what its
// neighbours write, out of copies made before.

#include <type_traits>

#include "capture/coefficients.hpp"
#include "capture/planes_on_gpu.hpp"
#include "device/chain.hpp"
#include "device/scratch.hpp"
#include "device/warp.hpp"

namespace shellac {

// An axis cut into tiles of which each holds the points that it writes and those next to them that it reads.
struct TiledAxis {
  PetscInt n, held, reach, tiles; // points of the axis; held by a tile; read at each side; tiles

  static TiledAxis cut(PetscInt n, PetscInt held, PetscInt reach) {
    const PetscInt step = held - 2 * reach;
    return {n, held, reach, PetscMax(1, (n - 2 * reach + step - 1) / step)};
  }
  SHELLAC_HD PetscInt step() const { return held - 2 * reach; }
  SHELLAC_HD PetscInt begin(PetscInt tile) const { return tile * step(); }
  // The points that a tile writes.
  SHELLAC_HD PetscInt lo(PetscInt tile) const { return tile == 0 ? 0 : begin(tile) + reach; }
  SHELLAC_HD PetscInt hi(PetscInt tile) const { return tile + 1 == tiles ? n : begin(tile) + held - reach; }
  // The points that two tiles hold are copied. The place, among the copies, of a point that a tile's neighbour writes; and
  // the point at a place.
  SHELLAC_HD PetscInt copied() const { return (tiles - 1) * 2 * reach; }
  SHELLAC_HD PetscInt place(PetscInt tile, PetscInt p) const {
    const PetscInt border = p < lo(tile) ? tile - 1 : tile;
    return border * 2 * reach + p - begin(border + 1);
  }
  SHELLAC_HD PetscInt point(PetscInt place) const { return begin(place / (2 * reach) + 1) + place % (2 * reach); }
};

// What is relaxed.
template <class T> struct StarEquation {
  CapturedRow<T>  row;   // of the points near the ends
  ConstantStar<T> star;  // of the others, with the shift on the diagonal
  Box             inner; // the others
  T               shift;
  const T        *b;
  T              *x;
};

template <class T, int stages> struct Sweep : StarEquation<T> {
  int       colour; // of the first half-sweep
  PetscReal omega[stages];
  T         factor[stages]; // of the inner points: omega / diagonal
  TiledAxis axis[3];
  // in 2-D, of x on the borders across each axis: an array of all points, but of the axis those alone
  const T *copies[2];
};

#if SHELLAC_CUDA
constexpr int sweep_columns = 64; // of a warp

namespace kernel {

template <class T, int dim> struct Beside { T at[dim][2]; }; // the values next to a point

// Copies x on the borders of tiles in 2-D. A warp copies a part of a row.
struct Borders {
  static constexpr int warps = 4, loads = 8, values = 32 * loads; // of a block; of a lane; of a part
  TiledAxis            axis[2];
  PetscInt             size[2][2];  // of the array of copies across each axis
  PetscInt64           end_part[2]; // of all parts, those up to this axis
};

template <class T>
__global__ void __launch_bounds__(32 * Borders::warps)
    copy_borders(Borders borders, Patch patch, const T *__restrict__ x, T *copies_0, T *copies_1) {
  const int  lane = threadIdx.x % 32;
  PetscInt64 part = (PetscInt64)blockIdx.x * Borders::warps + threadIdx.x / 32;
  if (part >= borders.end_part[1]) return;
  const int a = part < borders.end_part[0] ? 0 : 1;
  if (a > 0) part -= borders.end_part[0];
  const PetscInt  *size = borders.size[a], parts = (size[0] + Borders::values - 1) / Borders::values;
  const PetscInt   first = (PetscInt)(part % parts) * Borders::values + lane, row = (PetscInt)(part / parts);
  const TiledAxis &axis = borders.axis[a];
  const T         *from = x + patch.index(0, a == 1 ? axis.point(row) : row, 0);
  T               *to = (a == 0 ? copies_0 : copies_1) + (size_t)row * size[0];
#pragma unroll
  for (int n = 0; n < Borders::loads; n++) {
    const PetscInt i = first + 32 * n;
    if (i < size[0]) to[i] = from[a == 0 ? axis.point(i) : i];
  }
}

// By one instruction, which the compiler would make two.
template <class T> __device__ __forceinline__ void store_pair(const Pack<T, 2> &pair, T *to) {
  static_assert(sizeof(pair) == 16 || sizeof(pair) == 8, "two values of 4 or 8 bytes");
  std::conditional_t<sizeof(pair) == 16, uint4, uint2> words;
  memcpy(&words, &pair, sizeof(pair));
  __stwb(reinterpret_cast<decltype(words) *>(to), words);
}

// A point near the ends.
template <int dim, class T, int stages>
__device__ __forceinline__ T relax_near_end(const Sweep<T, stages> &sweep, PetscInt i, PetscInt j, PetscInt k, int s,
                                            T value, Beside<T, dim> beside, T b) {
  const Patch   &patch = sweep.row.patch;
  const PetscInt p[3] = {i, j, k};
  if (i >= patch.size[0] || j < 0 || j >= patch.size[1] || k < 0 || k >= patch.size[2]) return value;
  ConstantStar<T> star = ConstantStar<T>::of_row(sweep.row.a.by_place(patch, p), dim);
  star.center += sweep.shift;
  return star.template relax<dim>(value, beside.at, b, sweep.omega[s] / star.center);
}

// warps: of a block, in 3-D those of as many rows; blocks: of a multiprocessor, at least; ahead: rows that are loaded
// before they are needed
template <int dim_, int warps_, int blocks_, int ahead_> struct SweepShape {
  static constexpr int dim = dim_, warps = warps_, blocks = blocks_, ahead = ahead_;
};

template <class Shape, int stages, bool from_zero, bool wide, class T>
__global__ void __launch_bounds__(32 * Shape::warps, Shape::blocks)
    sweep_colours(const __grid_constant__ Sweep<T, stages> sweep) {
  constexpr int    dim = Shape::dim, slow = dim - 1, warps = Shape::warps, ahead = Shape::ahead;
  const Patch     &patch = sweep.row.patch;
  const TiledAxis &columns = sweep.axis[0], &rows = sweep.axis[1], &along = sweep.axis[slow];
  const int        lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  using Both = Pack<T, 2>; // a lane's part of a row: the point of the first half-sweep's colour, and the other

  // the tile
  const unsigned number = dim == 3 ? blockIdx.x : blockIdx.x * warps + warp;
  const PetscInt tile_x = number % (unsigned)columns.tiles, above = number / (unsigned)columns.tiles,
                 tile_y = dim == 3 ? above % rows.tiles : 0, tile = dim == 3 ? above / rows.tiles : above;
  if (tile >= along.tiles) return; // in 3-D none
  const PetscInt i = columns.begin(tile_x) + 2 * lane, j = dim == 3 ? rows.begin(tile_y) + warp : 0,
                 lo = along.lo(tile), hi = along.hi(tile);
  const bool in_rows = dim == 2 || j < rows.n, there = in_rows && i < columns.n,
             there_too = in_rows && i + 1 < columns.n;
  const bool own_x = i >= columns.lo(tile_x) && i < columns.hi(tile_x),
             own_y = dim == 2 || (j >= rows.lo(tile_y) && j < rows.hi(tile_y)), writes = there && own_x && own_y;
  const bool inside = columns.begin(tile_x) >= sweep.inner.lo[0] &&
                      columns.begin(tile_x) + sweep_columns <= sweep.inner.hi[0] &&
                      (dim == 2 || (j >= sweep.inner.lo[1] && j < sweep.inner.hi[1]));
  const size_t step = patch.stride(slow); // from a row (plane) to the next
  PetscInt     m = PetscMax(lo - (stages - 1), 0);
  size_t       at = patch.index(i, j, 0) + m * step;

  const auto load = [&](const T *from, bool in_domain) {
    Both both = {};
    if (wide) {
      if (in_domain && there) both = *reinterpret_cast<const Both *>(from);
    } else {
      if (in_domain && there) both.lane[0] = from[0];
      if (in_domain && there_too) both.lane[1] = from[1];
    }
    return both;
  };
  // The next plane of x before: where this tile writes, out of x; elsewhere out of the copies.
  const T   *old = nullptr;
  size_t     old_step = 0;
  PetscInt   next = m - 1;
  const auto go_to_copies_or_x = [&] {
    if (next < lo || next >= hi) {
      old = sweep.copies[1] + i + step * along.place(tile, next);
      old_step = step;
    } else if (!own_x) {
      old_step = (size_t)columns.copied();
      old = sweep.copies[0] + columns.place(tile_x, i) + next * old_step;
    } else {
      old_step = step;
      old = sweep.x + patch.index(i, j, 0) + next * step;
    }
  };
  const auto load_old = [&] {
    if (next == lo || next == hi) go_to_copies_or_x();
    const Both both = load(old, next >= 0 && next < along.n);
    old += old_step;
    next++;
    return both;
  };
  // Whether the second of a lane's two points in a plane is of the first colour. The two in the other order, if so:
  const auto second_first = [&](PetscInt m) { return ((j + m + sweep.colour) & 1) != 0; };
  const auto sorted = [&](const Both &both, PetscInt m) {
    const bool swap = second_first(m);
    return Both{{swap ? both.lane[1] : both.lane[0], swap ? both.lane[0] : both.lane[1]}};
  };

  // In 3-D warps show each other their rows; the places for one plane and for the next alternate.
  constexpr int first_shown = from_zero ? 1 : 0, row_bytes = 32 * sizeof(T),
                plane_bytes = dim == 3 ? (stages - first_shown) * warps * row_bytes : 16;
  alignas(16) __shared__ char shown_bytes[2 * plane_bytes];
  const auto                  shown = [&](PetscInt m, int s, int by) -> T                  &{
    char *plane = shown_bytes + (m & 1) * plane_bytes;
    return reinterpret_cast<T *>(plane + ((s - first_shown) * warps + by) * row_bytes)[lane];
  };

  // v[n]: the plane m + 1 - n, as the half-sweeps so far have left it; f[n]: b in the plane m - n
  Both v[stages + 2] = {}, f[stages] = {}, next_v = {}, next_f = {};
  if (!from_zero) {
    go_to_copies_or_x();
    v[2] = sorted(load_old(), m - 1);
    v[1] = sorted(load_old(), m);
    if (ahead) next_v = load_old();
  }
  if (ahead) next_f = load(sweep.b + at, true);
#pragma unroll 1 // for fewer registers
  for (; m < hi + stages - 1; m++, at += step) {
    // all loads before the first use
    const Both loaded_v = from_zero ? Both{}
                          : ahead   ? next_v
                                    : load_old(),
               loaded_f = ahead ? next_f : load(sweep.b + at, m < along.n);
    if (ahead && !from_zero) next_v = load_old();
    if (ahead) next_f = load(sweep.b + (at + step), m + 1 < along.n);
    if (dim == 3) {
#pragma unroll
      for (int s = first_shown; s < stages; s++) shown(m, s, warp) = v[s + 1].lane[1 - s % 2];
      __syncthreads();
    }
    v[0] = sorted(loaded_v, m + 1);
    f[0] = sorted(loaded_f, m);
    const int l = second_first(m); // All half-sweeps now relax the same of the two columns.
#pragma unroll
    for (int s = 0; s < stages; s++) {
      const int      c = s % 2; // the colour that is relaxed
      const PetscInt q = m - s;
      Beside<T, dim> beside = {};
      T             &value = v[s + 1].lane[c];
      if (!from_zero || s > 0) { // else all are zero
        const T other = v[s + 1].lane[1 - c], beyond = shuffled(other, l ? lane + 1 : lane - 1);
        beside.at[0][LOWER] = l ? other : beyond;
        beside.at[0][UPPER] = l ? beyond : other;
        if (dim == 3) beside.at[1][LOWER] = warp > 0 ? shown(m, s, warp - 1) : T(0);
        if (dim == 3) beside.at[1][UPPER] = warp + 1 < warps ? shown(m, s, warp + 1) : T(0);
        beside.at[slow][LOWER] = v[s + 2].lane[1 - c];
        beside.at[slow][UPPER] = v[s].lane[1 - c];
      }
      if (inside && q >= sweep.inner.lo[slow] && q < sweep.inner.hi[slow])
        value = sweep.star.template relax<dim>(value, beside.at, f[s].lane[c], sweep.factor[s]);
      else
        value = relax_near_end<dim>(sweep, i + l, dim == 3 ? j : q, dim == 3 ? q : 0, s, value, beside, f[s].lane[c]);
    }
    const PetscInt q = m - (stages - 1);
    if (writes && q >= lo) {
      const Both both = sorted(v[stages], q);
      T         *to = sweep.x + (at - (stages - 1) * step);
      if constexpr (wide)
        store_pair(both, to);
      else {
        to[0] = both.lane[0];
        if (there_too) to[1] = both.lane[1];
      }
    }
#pragma unroll
    for (int n = stages + 1; n > 0; n--) v[n] = v[n - 1];
#pragma unroll
    for (int n = stages - 1; n > 0; n--) f[n] = f[n - 1];
  }
}

} // namespace kernel

// Of scalars of up to 8 bytes, and of 16.
template <int dim, class T>
using SweepShapeOf = std::conditional_t<sizeof(T) <= 8, kernel::SweepShape<dim, dim == 2 ? 4 : 16, dim == 2 ? 8 : 2, 0>,
                                        kernel::SweepShape<dim, dim == 2 ? 4 : 12, dim == 2 ? 4 : 1, 0>>;

// Cuts the points into tiles. Along the slowest axis a tile writes as many points as end soonest: tiles run in waves, as
// many at once as the GPU has room for, and each takes the time of the points that it reads and of its beginning.
template <class Shape, int stages, bool from_zero, class T> void cut_into_tiles(Sweep<T, stages> *sweep) {
  constexpr PetscInt reach = from_zero ? stages - 1 : stages, least = 8, most = 96, beginning = 4;
  constexpr int      slow = Shape::dim - 1;
  const PetscInt    *size = sweep->row.patch.size;
  const PetscInt64   at_once = (PetscInt64)multiprocessors() * Shape::blocks * (Shape::dim == 3 ? 1 : Shape::warps);
  PetscInt64         best = PETSC_INT_MAX;

  sweep->axis[0] = TiledAxis::cut(size[0], sweep_columns, (reach + 1) / 2 * 2);
  if (Shape::dim == 3) sweep->axis[1] = TiledAxis::cut(size[1], Shape::warps, reach);
  sweep->axis[2] = TiledAxis::cut(1, 1, 0);
  const PetscInt64 across = (PetscInt64)sweep->axis[0].tiles * (Shape::dim == 3 ? sweep->axis[1].tiles : 1);
  for (PetscInt length = least; length <= most; length++) {
    const TiledAxis  along = TiledAxis::cut(size[slow], length + 2 * reach, reach);
    const PetscInt64 waves = (across * along.tiles + at_once - 1) / at_once,
                     time = waves * (PetscMin(length, size[slow]) + 2 * reach + beginning);
    if (time < best) best = time, sweep->axis[slow] = along;
  }
}

// Copies x on the borders of the tiles.
template <int stages, class T> PetscErrorCode copy_borders(Sweep<T, stages> *sweep, Scratch<T> *copies) {
  using kernel::Borders;
  const Patch &patch = sweep->row.patch;
  Borders      borders;
  PetscInt64   values = 0, parts = 0;
  T           *to[2];
  cudaStream_t stream;

  PetscFunctionBegin;
  for (int a = 0; a < 2; a++) {
    const TiledAxis &axis = borders.axis[a] = sweep->axis[a];
    PetscInt        *size = borders.size[a];
    for (int other = 0; other < 2; other++) size[other] = other == a ? axis.copied() : patch.size[other];
    if (size[a]) parts += (size[0] + Borders::values - 1) / Borders::values * (PetscInt64)size[1];
    borders.end_part[a] = parts;
    values += (PetscInt64)size[0] * size[1];
  }
  PetscCall(copies->Grow((size_t)values, PETSC_MEMTYPE_DEVICE));
  sweep->copies[0] = to[0] = copies->at(PETSC_MEMTYPE_DEVICE);
  sweep->copies[1] = to[1] = to[0] + (size_t)borders.size[0][0] * borders.size[0][1];
  if (!parts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(current_stream(&stream));
  kernel::copy_borders<<<blocks_of(parts, Borders::warps), 32 * Borders::warps, 0, stream>>>(borders, patch, sweep->x,
                                                                                             to[0], to[1]);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Shape, int stages, bool from_zero, bool wide, class T>
PetscErrorCode launch_sweep(const Sweep<T, stages> &sweep) {
  const PetscInt64 tiles = (PetscInt64)sweep.axis[0].tiles * sweep.axis[1].tiles * sweep.axis[2].tiles;
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  kernel::sweep_colours<Shape, stages, from_zero, wide>
      <<<blocks_of(tiles, Shape::dim == 3 ? 1 : Shape::warps), 32 * Shape::warps, 0, stream>>>(sweep);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int dim, int stages, bool from_zero, class T>
PetscErrorCode relax_in_one_pass(const StarEquation<T> &equation, int colour, const PetscReal *omega,
                                 Scratch<T> *copies) {
  using Shape = SweepShapeOf<dim, T>;
  constexpr bool   pairs = sizeof(T) <= 8; // are read by one load
  Sweep<T, stages> sweep;

  PetscFunctionBegin;
  static_cast<StarEquation<T> &>(sweep) = equation;
  sweep.colour = colour;
  for (int s = 0; s < stages; s++) sweep.omega[s] = omega[s], sweep.factor[s] = omega[s] / sweep.star.center;
  cut_into_tiles<Shape, stages, from_zero>(&sweep);
  if (!from_zero) PetscCall(copy_borders(&sweep, copies));
  if (pairs && equation.row.patch.size[0] % 2 == 0 &&
      ((uintptr_t)equation.x | (uintptr_t)equation.b) % (2 * sizeof(T)) == 0)
    PetscCall((launch_sweep<Shape, stages, from_zero, pairs>(sweep)));
  else
    PetscCall((launch_sweep<Shape, stages, from_zero, false>(sweep)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// `count` half-sweeps, two or three, of `colour` and of the other in turn, each with its omega. from_zero: x stands for
// zero.
template <int dim, class T>
PetscErrorCode relax_in_one_pass(const StarEquation<T> &equation, int colour, const PetscReal *omega, size_t count,
                                 bool from_zero, Scratch<T> *copies) {
  if constexpr (dim == 2)
    if (!from_zero)
      return count == 2 ? relax_in_one_pass<dim, 2, false>(equation, colour, omega, copies)
                        : relax_in_one_pass<dim, 3, false>(equation, colour, omega, copies);
  return count == 2 ? relax_in_one_pass<dim, 2, true>(equation, colour, omega, copies)
                    : relax_in_one_pass<dim, 3, true>(equation, colour, omega, copies);
}

#endif

} // namespace shellac
