#pragma once
// Products on a GPU in 3-D, for large grids: a plane is treated as one line of points, row after row. A block has a piece of
// the line, of any length, and goes through the planes. One of its threads copies the pieces of what is read, with a row on
// either side, to shared memory some planes ahead, and the results from there. So rows need no alignment.
// What a point needs of the planes before is kept in registers.

#include <algorithm>
#include <array>
#include <cmath>

#include "capture/planes_on_gpu.hpp"
#include "device/bulk.hpp"

#if SHELLAC_CUDA
namespace shellac {

// The kernel computes by a Row, which has
//   T, arrays              the type of values, how many arrays are read
//   threads                of a block; with the warp that copies a multiple of 128, so that registers are divided evenly
//   per                    points of a thread
//   array(u, n)            the n-th array; the first is u
//   last(side)             the last point of the first axis, or -1 where it is not to be marked
//   begin(before, here)    what is kept of the plane before, from values there and in the first plane
//   (point, nx, &kept)     the product at a LinePoint, in rows of nx points; its plane is the next one's plane before
template <class T, int arrays> struct LinePoint {
  const T *at[arrays];                 // the point's places in shared memory: steps of 1 and nx lead to its neighbours
  T        here[arrays], next[arrays]; // in this plane and in the next one
  bool     at_end[2];                  // of the first axis: see Row::last()
};

// Pieces of work: `tiles` pieces of the line, each in `chunks` parts of the planes.
struct Lines {
  int nx, plane;     // points of a row, of a plane
  int first, points; // of the line, in its plane
  int lo, hi;        // computed, of each row
  int from, planes;  // along the third axis
  int length, tiles, chunks, stages;
  // of an array in a stage; of results, 0 where threads write them themselves, since rows have others between them
  unsigned array_bytes, result_bytes;

  static constexpr unsigned barriers = 256; // bytes, before the results and the stages

  // The points of a box, by blocks of so many threads with so much shared memory; tiles is 0 where there is no room.
  template <class Row> static Lines of(const Patch &patch, const Box &box) {
    using T = typename Row::T;
    constexpr int      most = Row::threads * Row::per, least_stages = 3;
    constexpr unsigned line = BulkLine<T>::cache_line, size = sizeof(T);
    const int          blocks = multiprocessors(), nx = (int)patch.size[0];
    const unsigned     shared = (unsigned)most_shared_memory();
    double             least = 0;
    Lines              lines = {};
    const auto         whole_lines = [](unsigned bytes) { return (bytes + line - 1) / line * line; };
    lines.nx = nx;
    lines.plane = nx * (int)patch.size[1];
    lines.first = nx * (int)box.lo[1];
    lines.points = nx * (int)box.size(1);
    lines.lo = (int)box.lo[0], lines.hi = (int)box.hi[0];
    lines.from = (int)box.lo[2];
    lines.planes = (int)box.size(2);
    const bool whole = lines.lo == 0 && lines.hi == nx;
    lines.result_bytes = whole ? whole_lines((unsigned)most * size + line) : 0; // also for threads without points
    for (int turns = 1; turns <= 8; turns++) // pieces that a block takes one after the other
      for (int parts = 1; parts <= lines.planes; parts++) {
        const int most_tiles = turns * blocks / parts;
        if (most_tiles * (PetscInt64)most < lines.points) break;
        const int      piece = ((lines.points + most_tiles - 1) / most_tiles + 31) / 32 * 32;
        const unsigned of_array = whole_lines((unsigned)(piece + 2 * nx + 2) * size + line),
                       used = barriers + 2 * lines.result_bytes + (unsigned)(most - PetscMin(piece, most)) * size;
        const unsigned stage = Row::arrays * of_array;
        if (piece > most || used + least_stages * stage > shared) continue;
        // Time in values that are moved, by measurements of stars on an H200, 257³ to 511³: a plane takes the root of the
        // squares of its values, of which rows beside the piece come from the second cache, and of what it takes with a
        // small piece; some planes' time for the first stages of each part.
        const double longest = (lines.planes + parts - 1) / parts;
        const double moved = (1 + Row::arrays) * piece + 0.5 * Row::arrays * nx, of_small = 4500;
        const double cost = turns * ((longest + 3) * std::sqrt(moved * moved + of_small * of_small) + 1500);
        if (lines.tiles && cost >= least) continue;
        least = cost;
        lines.length = piece;
        lines.tiles = (lines.points + piece - 1) / piece;
        lines.chunks = parts;
        lines.array_bytes = of_array;
        lines.stages = std::min((int)((shared - used) / stage), BulkRing::most);
      }
    return lines;
  }
  template <class Row> size_t bytes() const {
    return barriers + 2 * (size_t)result_bytes + (size_t)stages * Row::arrays * array_bytes +
           (size_t)(Row::threads * Row::per - length) * sizeof(typename Row::T);
  }
  __host__ __device__ int items() const { return tiles * chunks; }
};

namespace kernel {

// A part of a tile. Every other part goes downwards, so that planes that two parts read are read at the same time.
struct LineItem {
  int p, points;          // the first in its plane
  int from, planes, step; // the first plane

  __device__ LineItem(const Lines &lines, int n) {
    const int tile = n % lines.tiles, chunk = n / lines.tiles;
    const int lower = (int)((PetscInt64)lines.planes * chunk / lines.chunks),
              upper = (int)((PetscInt64)lines.planes * (chunk + 1) / lines.chunks);
    p = lines.first + tile * lines.length;
    points = PetscMin(lines.length, lines.first + lines.points - p);
    planes = upper - lower;
    step = chunk % 2 ? -1 : 1;
    from = lines.from + (step > 0 ? lower : upper - 1);
  }
  // Where its points of the s-th plane, from -1 to `planes`, stand in an array.
  template <class T> __device__ T *points_of(const Lines &lines, T *array, int s) const {
    return array + (ptrdiff_t)lines.plane * (from + s * step) + p;
  }
};

struct LineRings {
  BulkRing in, out;
};
static_assert(sizeof(LineRings) <= Lines::barriers, "results and stages begin there");

// A block's planes, one after the other: where a stage or its results stand in the grid.
struct LinePlanes {
  const Lines &lines;
  LineItem     item;
  int          n, s;

  __device__ explicit LinePlanes(const Lines &all)
      : lines(all), item(all, (int)blockIdx.x), n((int)blockIdx.x), s(-1) {}
  __device__ bool any() const { return n < lines.items(); }
  __device__ bool computed() const { return s >= 0 && s < item.planes; } // the first and the last are only read
  __device__ void next() {
    if (++s <= item.planes) return;
    n += (int)gridDim.x, s = -1;
    if (any()) item = LineItem(lines, n);
  }
};

template <class Row, class T>
__device__ __forceinline__ void fill_stage(const LinePlanes &at, const Row &row, const T *u, BulkBarrier *full,
                                           unsigned char *stage) {
  const Lines    &lines = at.lines;
  const int       rows = at.computed() ? lines.nx : 0;
  const ptrdiff_t first = at.item.points_of(lines, u, at.s) - u, lo = first - rows, hi = first + at.item.points + rows;
  unsigned        bytes = 0;
#pragma unroll
  for (int a = 0; a < Row::arrays; a++) bytes += BulkLine<T>(row.array(u, a) + lo, row.array(u, a) + hi).bytes;
  full->arrive_and_expect(bytes);
#pragma unroll
  for (int a = 0; a < Row::arrays; a++) {
    const T *array = row.array(u, a);
    BulkLine<T>(array + lo, array + hi).copy(stage + a * lines.array_bytes, array + first - lines.nx, full);
  }
}

// The work of one thread. A plane's results are complete when all warps have left its stage: the thread then copies them.
// Two places for results alternate.
template <class Row, class T>
__device__ __forceinline__ void copy_planes(const Lines &lines, const Row &row, const T *u, T *y, LineRings *rings,
                                            unsigned char *stages, const unsigned char *results) {
  const int  lag = lines.result_bytes > 0 ? lines.stages : 0; // of the results that are copied [steps]
  LinePlanes fill(lines), out(lines);
  BulkTurn   turn, turn_out;
  bool       copying = false;
  for (int step = 0, filled = -1; filled < 0 || step < filled + lag; step++, turn.next(lines.stages)) {
    if (filled < 0 && !fill.any()) {
      filled = step;
      if (!lag) break;
    }
    rings->in.empty[turn.stage].wait(turn.parity ^ 1);
    if (copying) {
      BulkResults<T>::wait_until_read();
      rings->out.empty[turn_out.stage ^ 1].arrive();
      copying = false;
    }
    if (fill.any()) {
      fill_stage(fill, row, u, &rings->in.full[turn.stage], stages + turn.stage * Row::arrays * lines.array_bytes);
      fill.next();
    }
    if (!lag || step < lag) continue;
    if (out.computed()) {
      rings->out.full[turn_out.stage].wait(turn_out.parity);
      BulkResults<T>(out.item.points_of(lines, y, out.s), out.item.points)
          .copy(results + turn_out.stage * lines.result_bytes);
      turn_out.next(2);
      copying = true;
    }
    out.next();
  }
  BulkResults<T>::wait_for_all();
}

// whole: all points of the rows are computed.
template <Form form, bool whole, class Row, class T>
__global__ void __launch_bounds__(Row::threads + 32, 1)
    lines(const __grid_constant__ Lines lines, const __grid_constant__ Row row, const T *__restrict__ field, const T *b,
          T *y) {
  constexpr int     threads = Row::threads, per = Row::per, arrays = Row::arrays;
  extern __shared__ __align__(128) unsigned char shared[];
  LineRings                                     *rings = (LineRings *)shared;
  unsigned char *const                           results = shared + Lines::barriers;
  unsigned char *const                           stages = results + 2 * lines.result_bytes;
  const int                                      t = (int)threadIdx.x, nx = lines.nx;

  if (t == 0) {
    for (int s = 0; s < lines.stages; s++) {
      rings->in.full[s].begin(1);
      rings->in.empty[s].begin(threads / 32);
    }
    for (int s = 0; s < 2; s++) {
      rings->out.full[s].begin(threads / 32);
      rings->out.empty[s].begin(1);
    }
    BulkBarrier::show_begun();
  }
  __syncthreads();
  if (t >= threads) {
    if (t == threads) copy_planes(lines, row, field, y, rings, stages, results);
    return;
  }

  BulkTurn           turn, turn_out;
  T                  here[arrays][per];
  typename Row::Kept kept[per];
  // compute-sanitizer's racecheck reports races here: it takes lane 0's arrival for lane 0's alone, and threads without
  // points read stages that are being filled. With an arrival of each thread, and reads within the piece, it reports none;
  // that takes 8 % longer.
  const auto arrive = [&](BulkBarrier *barrier) {
    __syncwarp();
    if (t % 32 == 0) barrier->arrive();
  };
  for (int n = (int)blockIdx.x; n < lines.items(); n += (int)gridDim.x) {
    const LineItem item(lines, n);
    unsigned       at_end[2] = {}, computed = 0; // bits of the thread's points
#pragma unroll
    for (int m = 0; m < per; m++) {
      const int i = (int)((unsigned)(item.p + t + m * threads) % (unsigned)nx);
#pragma unroll
      for (int side = 0; side < 2; side++) at_end[side] |= (unsigned)(i == row.last((Side)side)) << m;
      computed |= (unsigned)(t + m * threads < item.points && i >= lines.lo && i < lines.hi) << m;
    }
    const T   *at[arrays], *ahead[arrays];
    const auto read_stage = [&](int s, const T *(&to)[arrays]) { // waits for it
      rings->in.full[turn.stage].wait(turn.parity);
#pragma unroll
      for (int a = 0; a < arrays; a++) {
        const T *origin = item.points_of(lines, row.array(field, a), s) - nx;
        to[a] =
            (const T *)(stages + (turn.stage * arrays + a) * lines.array_bytes + BulkLine<T>::phase(origin)) + nx + t;
      }
    };
    read_stage(-1, at);
#pragma unroll
    for (int a = 0; a < arrays; a++)
#pragma unroll
      for (int m = 0; m < per; m++) here[a][m] = at[a][m * threads];
    arrive(&rings->in.empty[turn.stage]);
    turn.next(lines.stages);
    read_stage(0, at);
#pragma unroll
    for (int m = 0; m < per; m++) {
      T before[arrays], first[arrays];
#pragma unroll
      for (int a = 0; a < arrays; a++) before[a] = here[a][m], first[a] = here[a][m] = at[a][m * threads];
      kept[m] = row.begin(before, first);
    }
#pragma unroll 1
    for (int s = 0; s < item.planes; s++) {
      const int stage = turn.stage;
      T        *to = item.points_of(lines, y, s);
      T         add[per] = {};
#pragma unroll
      for (int m = 0; m < per; m++)
        if (form != Form::product && computed >> m & 1) add[m] = item.points_of(lines, b, s)[t + m * threads];
      turn.next(lines.stages);
      read_stage(s + 1, ahead);
      T *const result = (T *)(results + turn_out.stage * lines.result_bytes + BulkLine<T>::phase(to)) + t;
      if (whole) rings->out.empty[turn_out.stage].wait(turn_out.parity ^ 1);
#pragma unroll
      for (int m = 0; m < per; m++) {
        const int            o = m * threads;
        LinePoint<T, arrays> point;
#pragma unroll
        for (int a = 0; a < arrays; a++) {
          point.at[a] = at[a] + o;
          point.here[a] = here[a][m];
          point.next[a] = ahead[a][o];
        }
#pragma unroll
        for (int side = 0; side < 2; side++) point.at_end[side] = at_end[side] >> m & 1;
        const T Au = combine(form, add, m, row(point, nx, &kept[m]));
        if (whole)
          result[o] = Au;
        else if (computed >> m & 1)
          to[t + o] = Au;
#pragma unroll
        for (int a = 0; a < arrays; a++) here[a][m] = point.next[a];
      }
      if (whole) {
        BulkResults<T>::show();
        arrive(&rings->out.full[turn_out.stage]);
        turn_out.next(2);
      }
      arrive(&rings->in.empty[stage]);
#pragma unroll
      for (int a = 0; a < arrays; a++) at[a] = ahead[a];
    }
    arrive(&rings->in.empty[turn.stage]);
    turn.next(lines.stages);
  }
}

} // namespace kernel

// Launches the kernel; done: false if it was not compiled for this GPU.
template <Form form, bool whole, class Row, class T>
PetscErrorCode run_lines(const Lines &lines, const Row &row, const T *u, const T *b, T *y, bool *done) {
  constexpr auto kernel = kernel::lines<form, whole, Row, T>;
  static int     can = -1;
  const int      blocks = std::min(multiprocessors(), lines.items());
  cudaStream_t   stream;

  PetscFunctionBegin;
  if (can < 0) {
    PetscCall(has_bulk_copies(kernel, done));
    can = *done;
    if (can)
      PetscCallCUDA(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most_shared_memory()));
  }
  *done = can;
  if (!can) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(current_stream(&stream));
  kernel<<<blocks, Row::threads + 32, lines.bytes<Row>(), stream>>>(lines, row, u, b, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y on the points of a box: by lines at the inner ones, by `other` at the rest; done: false if the grid or the GPU is too
// small for it.
template <class Row, class T, class Other>
PetscErrorCode launch_lines(const Patch &patch, const Row &row, const Other &other, const T *u, Form form, const T *b,
                            const Box &box, const Box &inner, T *y, bool *done) {
  constexpr PetscInt64 least_points = 8 << 20, longest_row = 1024, least_in_plane = 1 << 15, most_in_plane = 1 << 30;
  const Boxes          others = difference(box, inner);
  bool                 fits = inner.points() >= least_points && patch.size[0] <= longest_row;
  // The last division of work, and what was divided: to make one takes a while.
  static Lines                   lines;
  static std::array<PetscInt, 9> divided = {};
  std::array<PetscInt, 9>        sizes;

  PetscFunctionBegin;
  *done = false;
  const PetscInt64 in_plane = (PetscInt64)patch.size[0] * patch.size[1];
  fits = fits && in_plane >= least_in_plane && in_plane <= most_in_plane && patch.size[2] <= most_in_plane;
  for (int a = 1; a < 3; a++) fits = fits && inner.lo[a] > 0 && inner.hi[a] < patch.size[a]; // rows and planes beside
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t a = 0; a < 3; a++)
    sizes[3 * a] = patch.size[a], sizes[3 * a + 1] = inner.lo[a], sizes[3 * a + 2] = inner.hi[a];
  if (sizes != divided) lines = Lines::of<Row>(patch, inner), divided = sizes;
  if (!lines.tiles) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(with_form(form, [&](auto known) -> PetscErrorCode {
    constexpr Form f = decltype(known)::value;
    return lines.result_bytes > 0 ? run_lines<f, true>(lines, row, u, b, y, done)
                                  : run_lines<f, false>(lines, row, u, b, y, done);
  }));
  // After the lines: launched before them, these points would delay some blocks, which then read apart from the others.
  if (*done) PetscCall(launch_other_points(others, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
