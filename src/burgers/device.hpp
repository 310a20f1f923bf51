#pragma once
// The kernels for GPUs.

#include <type_traits>

#include "burgers/operations.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace kernel {

template <class T, int n> struct alignas(n * sizeof(T)) Values { T lane[n]; };

// The largest of a warp's numbers, in every lane.
__device__ inline unsigned long long largest_of_warp(unsigned long long bits) {
  const unsigned high = (unsigned)(bits >> 32), most = __reduce_max_sync(0xffffffffu, high);
  const unsigned low = __reduce_max_sync(0xffffffffu, high == most ? (unsigned)bits : 0u);
  return (unsigned long long)most << 32 | low;
}

// Raises one of the places to the largest number of a block of 256 threads; all of them call it.
__device__ inline void raise(Extremes *places, unsigned long long state, unsigned long long rate) {
  __shared__ Extremes warps[8];
  state = largest_of_warp(state);
  rate = largest_of_warp(rate);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = {state, rate};
  __syncthreads();
  if (threadIdx.x >= 32) return;
  state = largest_of_warp(threadIdx.x < 8 ? warps[threadIdx.x].state : 0);
  rate = largest_of_warp(threadIdx.x < 8 ? warps[threadIdx.x].rate : 0);
  Extremes *const place = places + blockIdx.x % extremes_places;
  if (threadIdx.x == 0) atomicMax(&place->state, state);
  if (threadIdx.x == 1) atomicMax(&place->rate, rate);
}

// du/dt: a thread has `cells` adjacent cells; values of its neighbours come from the L1 cache.
template <int cells, bool paired, class Scheme, class Real>
__global__ void __launch_bounds__(256) rates(Scheme scheme, Line<Real> line, Extremes *extremes, Real *rate) {
  constexpr int      r = Scheme::radius;
  const size_t       first = ((size_t)blockIdx.x * 256 + threadIdx.x) * cells;
  unsigned long long state = 0, change = 0;
  if (first < (size_t)line.n) {
    const PetscInt i = (PetscInt)first;
    const bool     inner = i >= r && i + cells + r <= line.n;
    Real           u[cells + 2 * r], out[cells];
    if (inner) {
      if constexpr (paired) {
#pragma unroll
        for (int c = 0; c < cells; c += 2) {
          const auto both = *reinterpret_cast<const Values<Real, 2> *>(line.u + i + c);
          u[r + c] = both.lane[0], u[r + c + 1] = both.lane[1];
        }
#pragma unroll
        for (int g = 0; g < r; g++) u[g] = line.u[i - r + g], u[r + cells + g] = line.u[i + cells + g];
      } else {
#pragma unroll
        for (int c = 0; c < cells + 2 * r; c++) u[c] = line.u[i - r + c];
      }
    } else {
#pragma unroll
      for (int c = 0; c < cells + 2 * r; c++) u[c] = line(i - r + c);
    }
    strip_rates<cells>(scheme, u, out);
    if (!inner) {
      if (line.frozen[0] && i == 0) out[0] = 0;
#pragma unroll
      for (int c = 0; c < cells; c++)
        if (line.frozen[1] && i + c == line.n - 1) out[c] = 0;
    }
    if (extremes) {
#pragma unroll
      for (int c = 0; c < cells; c++) {
        if (!inner && i + c >= line.n) continue;
        state = max(state, magnitude_bits(u[r + c]));
        change = max(change, magnitude_bits(out[c]));
      }
    }
    if (paired && inner) {
#pragma unroll
      for (int c = 0; c < cells; c += 2)
        *reinterpret_cast<Values<Real, 2> *>(rate + i + c) = Values<Real, 2>{{out[c], out[c + 1]}};
    } else {
#pragma unroll
      for (int c = 0; c < cells; c++)
        if (i + c < line.n) rate[i + c] = out[c];
    }
  }
  if (extremes) raise(extremes, state, change);
}

// The rates of a warp's cells, `cells` in the registers of each lane. Neighbouring values come from the adjacent lanes. The
// `radius` outer cells of the first and the last lane get no rate.
template <bool viscous, int cells, class Scheme, class Real>
__device__ __forceinline__ void warp_rates(const Scheme &scheme, const Real (&u)[cells], Real (&rate)[cells]) {
  constexpr unsigned all = 0xffffffffu;
  const auto         below = [](Real x) { return __shfl_up_sync(all, x, 1); };
  const auto         above = [](Real x) { return __shfl_down_sync(all, x, 1); };
  if constexpr (!Scheme::has_faces) {
    const Real before = below(u[cells - 1]), after = above(u[0]);
#pragma unroll
    for (int i = 0; i < cells; i++) rate[i] = scheme.rate(i ? u[i - 1] : before, i + 1 < cells ? u[i + 1] : after);
  } else {
    constexpr int r = Scheme::edge_radius;
    Real          window[cells + 2 * r];
#pragma unroll
    for (int i = 0; i < cells; i++) window[r + i] = u[i];
#pragma unroll
    for (int g = 0; g < r; g++) window[g] = below(u[cells - r + g]), window[r + cells + g] = above(u[g]);
    const Edges<Real> last = scheme.edges(window + cells - 1);
    Real              previous = below(last.upper), first = 0, lower = 0;
    const Real        beside = viscous ? below(u[cells - 1]) : Real(0);
#pragma unroll
    for (int i = 0; i < cells; i++) { // the face below cell i
      const Edges<Real> e = i + 1 < cells ? scheme.edges(window + i) : last;
      const Real        face = face_flux(scheme, viscous, previous, e.lower, i ? u[i - 1] : beside, u[i]);
      if (i == 0)
        first = face;
      else
        rate[i - 1] = scheme.rate(lower, face);
      lower = face;
      previous = e.upper;
    }
    rate[cells - 1] = scheme.rate(lower, above(first));
  }
}

// Several steps of a warp's 32 * cells cells in registers, the first of which is the cell `base`. At both ends, as many
// cells as the steps reach are invalid afterwards. tile: shared memory of the warp, 32 * (cells + 1) values.
template <int cells, bool staged, class Scheme, class Real>
__device__ __forceinline__ void tile_steps(const Scheme &scheme, const Line<Real> &line, const Stages &stages, Real dt,
                                           int count, PetscInt base, bool inner, Real *tile, Real (&u)[cells]) {
  constexpr int  all = 32 * cells;
  const int      lane = threadIdx.x % 32;
  const PetscInt n = line.n;
  Real           u0[staged ? cells : 1], rate[cells];

  const PetscInt mine = base + lane * cells; // the lane's first cell
  const bool     at_end[2] = {!inner && (line.end[0] == End::copy || line.end[0] == End::value) && base < 0,
                              !inner && (line.end[1] == End::copy || line.end[1] == End::value) && base + all > n};
  const auto     take_steps = [&](auto is_viscous) {
    for (int step = 0; step < count; step++) {
      if constexpr (staged)
#pragma unroll
        for (int c = 0; c < cells; c++) u0[c] = u[c];
#pragma unroll 1
      for (int s = 0; s < (staged ? stages.count : 1); s++) {
        warp_rates<decltype(is_viscous)::value>(scheme, u, rate);
        if (at_end[0] || at_end[1]) {
#pragma unroll
          for (int c = 0; c < cells; c++)
            if ((line.frozen[0] && mine + c == 0) || (line.frozen[1] && mine + c == n - 1)) rate[c] = 0;
        }
        if constexpr (staged) {
          const Real a = (Real)stages.a[s], b = (Real)stages.b[s];
#pragma unroll
          for (int c = 0; c < cells; c++) u[c] = advance(s == 0, a, b, u0[c], u[c], dt, rate[c]);
        } else {
#pragma unroll
          for (int c = 0; c < cells; c++) u[c] = u[c] + dt * rate[c];
        }
        if (at_end[0] || at_end[1]) { // what is beyond an end of the domain follows it
                                      // by way of the tile: registers have no index that varies
#pragma unroll
          for (int c = 0; c < cells; c++) tile[lane * (cells + 1) + c] = u[c];
          __syncwarp();
#pragma unroll
          for (int e = 0; e < 2; e++) {
            const PetscInt end = e ? n - 1 : 0;
            const int      at = (int)(end - base);
            if (!at_end[e]) continue;
            const Real value = line.end[e] == End::copy ? tile[at + at / cells] : line.beyond[e];
#pragma unroll
            for (int c = 0; c < cells; c++)
              if (e ? mine + c > end : mine + c < end) u[c] = value;
          }
          __syncwarp();
        }
      }
    }
  };
  if (scheme.at.nu2_h != 0)
    take_steps(std::true_type());
  else
    take_steps(std::false_type());
}

constexpr int step_warps = 4; // of a block

// A warp owns the cells of its tile less a halo on both sides, which is as wide as the steps reach.
template <int cells, bool staged, class Scheme, class Real>
__global__ void __launch_bounds__(32 * step_warps, !staged && Scheme::radius == 1 ? 6 : 1)
    steps(Scheme scheme, Line<Real> line, Stages stages, Real dt, int count, int halo, Real *out) {
  constexpr int    all = 32 * cells, warps = step_warps;
  __shared__ Real  tiles[warps][32 * (cells + 1)];
  const int        lane = threadIdx.x % 32;
  Real            *tile = tiles[threadIdx.x / 32];
  const int        own = all - 2 * halo;
  const PetscInt64 start = ((PetscInt64)blockIdx.x * warps + threadIdx.x / 32) * own;
  if (start >= line.n) return;
  const PetscInt base = (PetscInt)(start - halo), n = line.n;
  const bool     inner = base >= 0 && (PetscInt64)base + all <= n;
  Real           u[cells];

#pragma unroll
  for (int c = 0; c < cells; c++) {
    const int j = c * 32 + lane;
    tile[j + j / cells] = inner ? line.u[base + j] : line(PetscMin(base + j, n + halo));
  }
  __syncwarp();
#pragma unroll
  for (int c = 0; c < cells; c++) u[c] = tile[lane * (cells + 1) + c];

  tile_steps<cells, staged>(scheme, line, stages, dt, count, base, inner, tile, u);

  __syncwarp();
#pragma unroll
  for (int c = 0; c < cells; c++) tile[lane * (cells + 1) + c] = u[c];
  __syncwarp();
#pragma unroll
  for (int c = 0; c < cells; c++) {
    const int j = c * 32 + lane;
    if (j >= halo && j < halo + own && (inner || base + j < n)) out[base + j] = tile[j + j / cells];
  }
}

// All steps of a small grid in one launch of one block. The state is in shared memory. Between two barriers, each warp takes
// a few steps of its tile in registers.
constexpr int resident_warps = 20, resident_cells = 8;

constexpr int resident_steps(int stages, int radius) { // between barriers
  return 12 / (stages * radius) < 1 ? 1 : 12 / (stages * radius);
}
constexpr int resident_own(int stages, int radius) { // cells of a warp
  return 32 * resident_cells - 2 * resident_steps(stages, radius) * stages * radius;
}
template <class Real> constexpr size_t resident_bytes(PetscInt n) {
  return (2 * (size_t)n + resident_warps * 32 * (resident_cells + 1)) * sizeof(Real);
}

template <bool staged, class Scheme, class Real>
__global__ void __launch_bounds__(32 * resident_warps)
    resident(Scheme scheme, Line<Real> line, Stages stages, Real dt, PetscInt count, Real *out) {
  constexpr int     cells = resident_cells;
  extern __shared__ __align__(16) unsigned char shared[];
  const PetscInt                                n = line.n;
  const int      most = resident_steps(stages.count, Scheme::radius), halo = most * stages.count * Scheme::radius;
  const int      lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = 32 * cells - 2 * halo;
  Real          *state = (Real *)shared, *next = state + n, *tile = next + n + warp * 32 * (cells + 1);
  const PetscInt base = warp * own - halo;
  const bool     inner = base >= 0 && base + 32 * cells <= n;
  for (PetscInt i = threadIdx.x; i < n; i += 32 * resident_warps) state[i] = line.u[i];
  __syncthreads();
  for (PetscInt done = 0; done < count; done += most) {
    if (warp * own < n) {
      Real u[cells];
      line.u = state;
#pragma unroll
      for (int c = 0; c < cells; c++) {
        const PetscInt i = base + lane * cells + c;
        u[c] = inner ? state[i] : line(PetscMin(i, n + halo));
      }
      tile_steps<cells, staged>(scheme, line, stages, dt, (int)PetscMin((PetscInt)most, count - done), base, inner,
                                tile, u);
#pragma unroll
      for (int c = 0; c < cells; c++) {
        const int j = lane * cells + c;
        if (j >= halo && j < halo + own && base + j < n) next[base + j] = u[c];
      }
    }
    __syncthreads();
    Real *const written = next;
    next = state;
    state = written;
  }
  for (PetscInt i = threadIdx.x; i < n; i += 32 * resident_warps) out[i] = state[i];
}

} // namespace kernel
} // namespace shellac
#endif
