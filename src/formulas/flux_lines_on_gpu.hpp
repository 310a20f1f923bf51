#pragma once
// −∇·(k∇u) + σu with k at the points of a 3-D grid, for large grids. A plane is treated as one line of points, row after row. A
// block has a piece of the line, of any length, and goes through the planes. One of its threads copies the pieces of u and k,
// with a row on either side, to shared memory some planes ahead. Values of the previous plane are kept in registers.

#include <algorithm>

#include "capture/planes_on_gpu.hpp"
#include "device/bulk.hpp"
#include "formulas/fluxes.hpp"

#if SHELLAC_CUDA
namespace shellac {

// Blocks and pieces of work: `tiles` pieces of the line, each in `chunks` parts of the planes.
struct FluxLines {
  static constexpr int threads = 480, per = 4; // and a warp that fills the stages; points of a thread
  static constexpr int most = threads * per, least_stages = 3;

  int      nx, plane;     // points of a row, of a plane
  int      first, points; // of the line, in its plane
  int      lo, hi;        // computed, of each row
  int      from, planes;  // along the third axis
  int      length, tiles, chunks, stages;
  unsigned k_at, stage_bytes; // where k stands in a stage

  __host__ __device__ int items() const { return tiles * chunks; }
  static unsigned         bytes_of_array(int length, int nx) { // with the rows beside, and what is read beyond
    return ((unsigned)(length + 2 * nx + 2) * (unsigned)sizeof(double) + 16 + 63) / 64 * 64;
  }

  // The points of a box, by that many blocks with that much shared memory; tiles is 0 where there is no room.
  FluxLines(const Patch &patch, const Box &box, int blocks, size_t bytes)
      : nx((int)patch.size[0]), plane(nx * (int)patch.size[1]), first(nx * (int)box.lo[1]),
        points(nx * (int)box.size(1)), lo((int)box.lo[0]), hi((int)box.hi[0]), from((int)box.lo[2]),
        planes((int)box.size(2)), length(0), tiles(0), chunks(0), stages(0), k_at(0), stage_bytes(0) {
    const unsigned room = (unsigned)bytes - 128 - most * (unsigned)sizeof(double); // threads without points read there
    double         least = 0;
    for (int turns = 1; turns <= 20; turns++) // pieces that a block takes one after the other
      for (int parts = 1; parts <= planes; parts++) {
        const int most_tiles = turns * blocks / parts;
        if (most_tiles * most < points) break;
        const int piece = ((points + most_tiles - 1) / most_tiles + 31) / 32 * 32;
        if (piece > most || room / (2 * bytes_of_array(piece, nx)) < least_stages) continue;
        // the values that the block with the most work moves: rows beside the piece come from the second cache, and
        // planes before and after a part as well; some for the first stages of each
        const double longest = (planes + parts - 1) / parts;
        const double cost = turns * (longest * (2 * piece + 0.7 * nx + 128) + 0.7 * piece + 700);
        if (tiles && cost >= least) continue;
        least = cost;
        length = piece;
        tiles = (points + piece - 1) / piece;
        chunks = parts;
      }
    if (!tiles) return;
    k_at = bytes_of_array(length, nx);
    stage_bytes = 2 * k_at;
    stages = std::min((int)(room / stage_bytes), BulkRing::most);
  }
  size_t bytes() const { return 128 + (size_t)stages * stage_bytes + most * sizeof(double); }
};

namespace kernel {

// A part of a tile. Every other part goes downwards, so that planes that two parts read are read at the same time.
struct FluxItem {
  int p, points;          // the first in its plane
  int from, planes, step; // the first plane

  __device__ FluxItem(const FluxLines &lines, int n) {
    const int tile = n % lines.tiles, chunk = n / lines.tiles;
    const int lower = (int)((PetscInt64)lines.planes * chunk / lines.chunks),
              upper = (int)((PetscInt64)lines.planes * (chunk + 1) / lines.chunks);
    p = lines.first + tile * lines.length;
    points = PetscMin(lines.length, lines.first + lines.points - p);
    planes = upper - lower;
    step = chunk % 2 ? -1 : 1;
    from = lines.from + (step > 0 ? lower : upper - 1);
  }
  // The s-th plane, from -1 to `planes`: its points, the places of a stage from the row before on, in an array.
  template <class T> __device__ const T *origin(const FluxLines &lines, const T *array, int s) const {
    return array + (ptrdiff_t)lines.plane * (from + s * step) + (p - lines.nx);
  }
};

template <class T>
__device__ __forceinline__ void fill_flux_stages(const FluxLines &lines, const T *u, const T *k, BulkRing *ring,
                                                 unsigned char *stages) {
  BulkTurn turn;
  for (int n = (int)blockIdx.x; n < lines.items(); n += (int)gridDim.x) {
    const FluxItem item(lines, n);
    for (int s = -1; s <= item.planes; s++, turn.next(lines.stages)) {
      const bool        inside = s >= 0 && s < item.planes; // the others need no rows beside
      const int         lo = inside ? 0 : lines.nx, hi = lines.nx + item.points + (inside ? lines.nx : 0);
      const T          *u_from = item.origin(lines, u, s), *k_from = item.origin(lines, k, s);
      const BulkLine<T> of_u(u_from + lo, u_from + hi), of_k(k_from + lo, k_from + hi);
      unsigned char    *to = stages + turn.stage * lines.stage_bytes;
      BulkBarrier      *full = &ring->full[turn.stage];
      ring->empty[turn.stage].wait(turn.parity ^ 1);
      full->arrive_and_expect(of_u.bytes + of_k.bytes);
      of_u.copy(to, u_from, full);
      of_k.copy(to + lines.k_at, k_from, full);
    }
  }
}

// Each face's flux along the third axis is computed once for both of its points.
template <Form form, class Face, class T>
__global__ void __launch_bounds__(FluxLines::threads + 32, 1)
    flux_lines(const __grid_constant__ FluxLines lines, const __grid_constant__ Flux<T> flux,
               const T *__restrict__ field, const T *b, T *y) {
  constexpr int     threads = FluxLines::threads, per = FluxLines::per;
  extern __shared__ __align__(128) unsigned char shared[];
  BulkRing                                      *ring = (BulkRing *)shared;
  unsigned char                                 *stages = shared + 128;
  const int                                      t = (int)threadIdx.x;
  const int                                      nx = lines.nx;
  static_assert(sizeof(BulkRing) <= 128, "the stages begin there");

  if (t == 0) {
    for (int s = 0; s < lines.stages; s++) {
      ring->full[s].begin(1);
      ring->empty[s].begin(threads / 32);
    }
    BulkBarrier::show_begun();
  }
  __syncthreads();
  if (t >= threads) {
    if (t == threads) fill_flux_stages(lines, field, flux.k[0], ring, stages);
    return;
  }

  BulkTurn   turn;
  T          here[per], k_here[per], behind[per]; // the flux through the face behind
  // compute-sanitizer's racecheck reports races here: it takes lane 0's arrival for lane 0's alone, and threads without
  // points read stages that are being filled. With an arrival of each thread, and reads within the piece, it reports none;
  // that takes 8 % longer.
  const auto release = [&](int stage) {
    __syncwarp();
    if (t % 32 == 0) ring->empty[stage].arrive();
  };
  for (int n = (int)blockIdx.x; n < lines.items(); n += (int)gridDim.x) {
    const FluxItem item(lines, n);
    unsigned       at_lower = 0, at_upper = 0, computed = 0; // bits of the thread's points
#pragma unroll
    for (int m = 0; m < per; m++) {
      const int i = (int)((unsigned)(item.p + t + m * threads) % (unsigned)nx);
      at_lower |= (unsigned)(i == flux.end[0][LOWER].at) << m;
      at_upper |= (unsigned)(i == flux.end[0][UPPER].at) << m;
      computed |= (unsigned)(t + m * threads < item.points && i >= lines.lo && i < lines.hi) << m;
    }
    const auto values = [&](const T *array, int s, unsigned at) { // of the turn's stage, at the thread's first point
      const unsigned phase = BulkLine<T>::phase(item.origin(lines, array, s));
      return (const T *)(stages + turn.stage * lines.stage_bytes + at + phase) + nx + t;
    };
    const T   *u, *k;
    T          add[per] = {}, next_add[per] = {};
    const auto read_b = [&](int s) {
#pragma unroll
      for (int m = 0; m < per; m++)
        if (form != Form::product && computed >> m & 1) next_add[m] = item.origin(lines, b, s)[nx + t + m * threads];
    };
    read_b(0);
    ring->full[turn.stage].wait(turn.parity);
    u = values(field, -1, 0), k = values(flux.k[0], -1, lines.k_at);
#pragma unroll
    for (int m = 0; m < per; m++) here[m] = u[m * threads], k_here[m] = k[m * threads];
    release(turn.stage);
    turn.next(lines.stages);
    ring->full[turn.stage].wait(turn.parity);
    u = values(field, 0, 0), k = values(flux.k[0], 0, lines.k_at);
#pragma unroll
    for (int m = 0; m < per; m++) {
      const T value = u[m * threads], its_k = k[m * threads];
      behind[m] = Face::of(k_here[m], its_k) * (value - here[m]);
      here[m] = value, k_here[m] = its_k;
    }
#pragma unroll 1
    for (int s = 0; s < item.planes; s++) {
      const int stage = turn.stage;
      T        *to = y + (item.origin(lines, field, s) - field) + nx + t;
#pragma unroll
      for (int m = 0; m < per; m++) add[m] = next_add[m];
      if (s + 1 < item.planes) read_b(s + 1);
      turn.next(lines.stages);
      ring->full[turn.stage].wait(turn.parity);
      const T *u_ahead = values(field, s + 1, 0), *k_ahead = values(flux.k[0], s + 1, lines.k_at);
      const T *u_south = u - nx, *u_north = u + nx, *k_south = k - nx, *k_north = k + nx;
#pragma unroll
      for (int m = 0; m < per; m++) {
        const int o = m * threads;
        const T   value = here[m], its_k = k_here[m], next = u_ahead[o], k_next = k_ahead[o];
        const T   k_west = k[o - 1], k_east = k[o + 1];
        T         west = u[o - 1], east = u[o + 1];
        T         west_face = Face::of(k_west, its_k), east_face = Face::of(its_k, k_east);
        // few warps come here, in each plane the same ones, and the others wait for them: so there is no division
        if ((at_lower | at_upper) >> m & 1) {
          if (at_lower >> m & 1) {
            west = flux.end[0][LOWER].u(value, east);
            west_face = flux.end[0][LOWER].face(its_k, k_east, east_face);
          } else {
            east = flux.end[0][UPPER].u(value, west);
            east_face = flux.end[0][UPPER].face(its_k, k_west, west_face);
          }
        }
        const T from_west = west_face * (value - west), to_east = east_face * (east - value),
                from_south = Face::of(k_south[o], its_k) * (value - u_south[o]),
                to_north = Face::of(its_k, k_north[o]) * (u_north[o] - value),
                ahead = Face::of(its_k, k_next) * (next - value);
        const T Au = flux.sigma * value + flux.c[0] * (from_west - to_east) + flux.c[1] * (from_south - to_north) +
                     flux.c[2] * (behind[m] - ahead);
        if (computed >> m & 1) to[o] = combine(form, add, m, Au);
        behind[m] = ahead;
        here[m] = next, k_here[m] = k_next;
      }
      release(stage);
      u = u_ahead, k = k_ahead;
    }
    release(turn.stage);
    turn.next(lines.stages);
  }
}

} // namespace kernel

// The same as launch_flux_rows(), except at the ends of the second and third axis; done: false if the grid or the GPU is too
// small for it.
template <class Face, class T, class Other>
PetscErrorCode launch_flux_lines(const Patch &patch, const Flux<T> &flux, const Other &other, const T *u, Form form,
                                 const T *b, const Box &box, const Box &inner, T *y, bool *done) {
  constexpr PetscInt64 least_points = 8 << 20, longest_row = 1024, least_in_plane = 1 << 15, most_in_plane = 1 << 30;
  constexpr int        threads = FluxLines::threads + 32;
  const Boxes          others = difference(box, inner);
  bool                 fits = inner.points() >= least_points && patch.size[0] <= longest_row;

  PetscFunctionBegin;
  *done = false;
  const PetscInt64 in_plane = (PetscInt64)patch.size[0] * patch.size[1];
  fits = fits && in_plane >= least_in_plane && in_plane <= most_in_plane && patch.size[2] <= most_in_plane;
  for (int a = 1; a < 3; a++) fits = fits && inner.lo[a] > 0 && inner.hi[a] < patch.size[a]; // rows and planes beside
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  const FluxLines lines(patch, inner, multiprocessors(), most_shared_memory());
  if (!lines.tiles) PetscFunctionReturn(PETSC_SUCCESS);
  const int blocks = std::min(multiprocessors(), lines.items());
  PetscCall(with_form(form, [&](auto known) -> PetscErrorCode {
    constexpr auto kernel = kernel::flux_lines<decltype(known)::value, Face, T>;
    static int     can = -1;
    cudaStream_t   stream;
    PetscFunctionBegin;
    if (can < 0) {
      bool has = false;
      PetscCall(has_bulk_copies(kernel, &has));
      can = has;
      if (can)
        PetscCallCUDA(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most_shared_memory()));
    }
    if (!can) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(current_stream(&stream));
    kernel<<<blocks, threads, lines.bytes(), stream>>>(lines, flux, u, b, y);
    PetscCallCUDA(cudaGetLastError());
    // After the lines: launched before them, these points would delay some blocks, which then read apart from the others.
    PetscCall(launch_other_points(others, other));
    *done = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
