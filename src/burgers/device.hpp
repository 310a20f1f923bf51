#pragma once
// The kernels for GPUs.

#include <type_traits>

#include "burgers/operations.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace kernel {

template <class T, int n> struct alignas(n * sizeof(T)) Values { T lane[n]; };

__device__ inline void raise(unsigned long long *to, unsigned long long bits) {
#pragma unroll
  for (int step = 16; step; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffu, bits, step);
    bits = other > bits ? other : bits;
  }
  // most warps have nothing to raise, and need no atomic
  if (threadIdx.x % 32 == 0 && bits > *(volatile unsigned long long *)to) atomicMax(to, bits);
}

__device__ inline unsigned long long bits_of(double x) {
  return (unsigned long long)__double_as_longlong(x) & 0x7fffffffffffffffull;
}

// du/dt: a thread has `cells` cells next to each other; values of its neighbours come from the first cache.
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
      for (int c = 0; c < cells + 2 * r; c++) u[c] = line(i - r + c);
    }
    strip_rates<cells>(scheme, u, out);
    if (!inner) {
      if (line.frozen[0] && i == 0) out[0] = 0;
      for (int c = 0; c < cells; c++)
        if (line.frozen[1] && i + c == line.n - 1) out[c] = 0;
    }
    if (extremes) {
#pragma unroll
      for (int c = 0; c < cells; c++) {
        if (!inner && i + c >= line.n) continue;
        state = max(state, bits_of(u[r + c]));
        change = max(change, bits_of(out[c]));
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
  if (extremes) {
    raise(&extremes->state, state);
    raise(&extremes->rate, change);
  }
}

// The rates of a warp's cells, `cells` in the registers of each lane: what is beyond them comes from the lanes beside.
// Of the first and last lane, the `radius` outer cells get none.
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
      Real              face = scheme.face(previous, e.lower);
      if (viscous) face = face - scheme.diffusion(i ? u[i - 1] : beside, u[i]);
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

// Several steps in registers. A warp owns 32 * cells cells less a halo on both sides, which is as wide as the steps
// reach: what it computes there is lost from the ends inwards.
template <int cells, bool staged, class Scheme, class Real>
__global__ void __launch_bounds__(128)
    steps(Scheme scheme, Line<Real> line, Stages stages, Real dt, int count, int halo, Real *out) {
  constexpr int    all = 32 * cells, warps = 4;
  __shared__ Real  tiles[warps][32 * (cells + 1)];
  const int        lane = threadIdx.x % 32;
  Real            *tile = tiles[threadIdx.x / 32];
  const int        own = all - 2 * halo;
  const PetscInt64 start = ((PetscInt64)blockIdx.x * warps + threadIdx.x / 32) * own;
  if (start >= line.n) return;
  const PetscInt base = (PetscInt)(start - halo), n = line.n;
  const bool     inner = base >= 0 && (PetscInt64)base + all <= n;
  Real           u[cells], u0[staged ? cells : 1], rate[cells];

#pragma unroll
  for (int c = 0; c < cells; c++) {
    const int j = c * 32 + lane;
    tile[j + j / cells] = inner ? line.u[base + j] : line(PetscMin(base + j, n + halo));
  }
  __syncwarp();
#pragma unroll
  for (int c = 0; c < cells; c++) u[c] = tile[lane * (cells + 1) + c];

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
          for (int c = 0; c < cells; c++) {
            const Real euler = u[c] + dt * rate[c];
            u[c] = s == 0 ? euler : a * u0[c] + b * euler;
          }
        } else {
#pragma unroll
          for (int c = 0; c < cells; c++) u[c] = u[c] + dt * rate[c];
        }
        for (int e = 0; e < 2; e++) { // what is beyond an end of the domain follows it
          if (!at_end[e]) continue;
          const PetscInt end = e ? n - 1 : 0;
          Real           value = line.beyond[e];
          if (line.end[e] == End::copy) {
            const int at = (int)(end - base);
#pragma unroll
            for (int c = 0; c < cells; c++)
              if (at % cells == c) value = u[c];
            value = __shfl_sync(0xffffffffu, value, at >= 0 && at < all ? at / cells : 0);
          }
#pragma unroll
          for (int c = 0; c < cells; c++)
            if (e ? mine + c > end : mine + c < end) u[c] = value;
        }
      }
    }
  };
  if (scheme.at.nu2_h != 0)
    take_steps(std::true_type());
  else
    take_steps(std::false_type());

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

// All steps of a small grid in one launch of one block, in its shared memory.
constexpr int resident_threads = 1024, resident_cells = 2;

template <class Scheme, class Real>
__global__ void __launch_bounds__(resident_threads)
    resident(Scheme scheme, Line<Real> line, Stages stages, Real dt, PetscInt count, Real *out) {
  constexpr int     cells = resident_cells, r = Scheme::radius;
  extern __shared__ __align__(16) unsigned char shared[];
  const PetscInt                                n = line.n;
  Real *u0 = (Real *)shared, *next = u0 + n, *spare = next + n; // the step's first state; two to write in turns
  for (PetscInt i = threadIdx.x; i < n; i += resident_threads) u0[i] = line.u[i];
  __syncthreads();
  const auto swap = [](Real *&x, Real *&y) {
    Real *const z = x;
    x = y;
    y = z;
  };
  for (PetscInt step = 0; step < count; step++) {
    Line<Real> state = line;
    state.u = u0;
    for (int s = 0; s < stages.count; s++) {
      for (PetscInt i = threadIdx.x * cells; i < n; i += resident_threads * cells) {
        Real       u[cells + 2 * r], rate[cells];
        const bool inner = i >= r && i + cells + r <= n;
        if (inner) {
#pragma unroll
          for (int c = 0; c < cells + 2 * r; c++) u[c] = state.u[i - r + c];
        } else {
          for (int c = 0; c < cells + 2 * r; c++) u[c] = state(i - r + c);
        }
        strip_rates<cells>(scheme, u, rate);
#pragma unroll
        for (int c = 0; c < cells; c++) {
          if (!inner && i + c >= n) break;
          if ((line.frozen[0] && i + c == 0) || (line.frozen[1] && i + c == n - 1)) rate[c] = 0;
          next[i + c] = advance(stages, s, s ? u0[i + c] : Real(0), u[r + c], dt, rate[c]);
        }
      }
      __syncthreads();
      state.u = next;
      swap(next, spare);
    }
    swap(u0, spare); // the result is the next step's first state
  }
  for (PetscInt i = threadIdx.x; i < n; i += resident_threads) out[i] = u0[i];
}

} // namespace kernel
} // namespace shellac
#endif
