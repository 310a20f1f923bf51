#pragma once
// The kernels for GPUs.

#include <type_traits>

#include "burgers/operations.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace kernel {

// The rates at one cell, from values that are looked up one by one: for the Jacobian, where they are dual numbers.
// load(c, axis, offset): component c at that many steps from the cell along that axis.
template <class Scheme, int dim, class T, class Load>
__device__ __forceinline__ void point_rates(const BurgersPatch &patch, const PetscInt p[2], const Load &load,
                                            T (&rate)[dim]) {
  constexpr int r = Scheme::radius, width = 2 * r + 1;
  for (int c = 0; c < dim; c++) rate[c] = T(0);
  if (is_frozen<dim>(patch, p)) return;
  for (int a = 0; a < dim; a++) {
    const Scheme scheme(patch.at[a]);
    if constexpr (!Scheme::has_faces) {
      T u[width], along[1] = {T(0)};
      for (int o = 0; o < width; o++) u[o] = load(a, a, o - r);
      strip_rates<1>(scheme, u, along);
      rate[a] = rate[a] + along[0];
    } else {
      const T q = load(a, a, 0);
      for (int c = 0; c < dim; c++) {
        T        u[width];
        Edges<T> e[3];
        for (int o = 0; o < width; o++) u[o] = load(c, a, o - r);
        for (int o = 0; o < 3; o++) e[o] = scheme.edges(u + o);
        const T near[3] = {u[r - 1], u[r], u[r + 1]};
        rate[c] = rate[c] + (c == a ? rate_along(scheme, e, near) : rate_across(scheme, q, e, near));
      }
    }
  }
}

template <class Scheme, int dim> struct PointJacobian {
  using Real = typename Scheme::Real;
  BurgersPatch patch;
  Field<Real>  u, v;
  Real         shift, scale;
  Real        *y;

  __device__ __forceinline__ void operator()(PetscInt i, PetscInt j, PetscInt) const {
    const PetscInt p[2] = {i, j}, here[3] = {i, j, 0};
    Dual<Real>     r[dim];
    point_rates<Scheme>(
        patch, p,
        [&](int c, int axis, PetscInt offset) {
          PetscInt q[3];
          if (!find_cell(patch, p, axis, offset, q)) return Dual<Real>(patch.beyond[c][axis][offset < 0 ? 0 : 1]);
          return Dual<Real>(u.value(patch.patch, q, c), v.value(patch.patch, q, c));
        },
        r);
    for (int c = 0; c < dim; c++)
      y[patch.patch.index(i, j, 0) * dim + c] = shift * v.value(patch.patch, here, c) + scale * r[c].d;
  }
};

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

// du/dt in 2-D: a lane has a column, and goes up through some rows with the last few of them and their edges in registers.
// Values and edges beside it come from the adjacent lanes, so that the `radius` outer lanes of a warp get no rate.
template <class Real> struct Pair { Real c[2]; };

// Of the cell (i, j), up to `radius` cells beyond an end along one axis; zero where no rate depends on it.
template <int radius, class Real>
__device__ __forceinline__ Pair<Real> cell_beyond(const BurgersPatch &patch, const Field<Real> &field, PetscInt i,
                                                  PetscInt j) {
  const PetscInt *const n = patch.patch.size;
  const bool            beside = i < 0 || i >= n[0], above = j < 0 || j >= n[1];
  const int             a = beside ? 0 : 1, e = (beside ? i : j) < 0 ? 0 : 1;
  const PetscInt end = e ? n[a] - 1 : 0, offset = (beside ? i : j) - end, p[2] = {beside ? end : i, beside ? j : end};
  PetscInt       q[3];
  if ((beside && above) || offset > radius || offset < -radius) return {{0, 0}};
  if (!find_cell(patch, p, a, offset, q)) return {{patch.beyond[0][a][e], patch.beyond[1][a][e]}};
  return {{field.value(patch.patch, q, 0), field.value(patch.patch, q, 1)}};
}

constexpr int columns_of_warp(int radius) {
  return 32 - 2 * radius;
} // that get rates

template <bool paired, class Scheme, class Real>
__global__ void __launch_bounds__(256, 5 - Scheme::edge_radius)
    plane_rates(const __grid_constant__ BurgersPatch patch, const __grid_constant__ Field<Real> field, Stage stage,
                int rows, Extremes *extremes, Real *out) {
  constexpr unsigned           all = 0xffffffffu;
  constexpr int                r = Scheme::radius, er = Scheme::edge_radius, own = columns_of_warp(r), kept = er + 3;
  const typename Scheme::Faces along(patch.at[0]), across(patch.at[1]);
  const int                    lane = threadIdx.x % 32;
  const PetscInt               nx = patch.patch.size[0], ny = patch.patch.size[1];
  const PetscInt               i = ((PetscInt)blockIdx.x * 8 + (PetscInt)threadIdx.x / 32) * own + lane - r;
  const PetscInt               begin = (PetscInt)blockIdx.y * rows, end = PetscMin(begin + rows, ny);
  const bool                   mine = lane >= r && lane < 32 - r && i < nx;
  const bool                   viscous = across.at.nu2_h != 0;
  const Real *const            column = field.u + 2 * i;
  const auto                   cell = [&](PetscInt j) -> Pair<Real> {
    if (i < 0 || i >= nx || j < 0 || j >= ny) return cell_beyond<r>(patch, field, i, j);
    const Real *const at = column + 2 * (size_t)nx * (size_t)j;
    if constexpr (!paired) return {{at[0], at[1]}};
    const auto both = *reinterpret_cast<const Values<Real, 2> *>(at);
    return {{both.lane[0], both.lane[1]}};
  };
  Real               u[2][kept];   // of the rows m - 2 to m + er
  Edges<Real>        y[2][3] = {}; // across the rows m - 2 to m
  unsigned long long state = 0, change = 0;

#pragma unroll
  for (int k = 1; k < kept; k++) { // the first turn moves them down
    const Pair<Real> of = cell(begin - 4 + k);
    for (int c = 0; c < 2; c++) u[c][k] = of.c[c];
  }
  Pair<Real> next = cell(begin - 1 + er); // under way during a turn
  const auto go_up = [&](PetscInt m) {    // to row m
#pragma unroll
    for (int c = 0; c < 2; c++) {
#pragma unroll
      for (int k = 0; k + 1 < kept; k++) u[c][k] = u[c][k + 1];
      u[c][kept - 1] = next.c[c];
      if constexpr (er == 0) { // no registers of their own
#pragma unroll
        for (int k = 0; k < 3; k++) y[c][k] = Scheme::edges(u[c] + k);
      } else {
        y[c][0] = y[c][1], y[c][1] = y[c][2];
        y[c][2] = Scheme::edges(u[c] + 2 - er);
      }
    }
    if (m < end) next = cell(m + 1 + er);
  };
  const auto flux_of_v = [&] { // through the face below row m
    return face_flux(across, viscous, y[1][1].upper, y[1][2].lower, u[1][1], u[1][2]);
  };
  go_up(begin - 1);
  go_up(begin);
  Real below = flux_of_v();
  for (PetscInt m = begin + 1; m <= end; m++) { // the rates of the row before
    go_up(m);
    const Real  above = flux_of_v();
    Edges<Real> x[2][3];
    Real        ux[2][3], uy[3] = {u[0][0], u[0][1], u[0][2]};
#pragma unroll
    for (int c = 0; c < 2; c++) {
      Real beside[2 * er + 1];
#pragma unroll
      for (int k = -er; k <= er; k++)
        beside[er + k] = k < 0 ? __shfl_up_sync(all, u[c][1], -k) : k > 0 ? __shfl_down_sync(all, u[c][1], k) : u[c][1];
      x[c][1] = Scheme::edges(beside);
      x[c][0].lower = x[c][0].upper = __shfl_up_sync(all, x[c][1].upper, 1);
      x[c][2].lower = x[c][2].upper = __shfl_down_sync(all, x[c][1].lower, 1);
      for (int o = 0; o < 3; o++) ux[c][o] = er ? beside[er ? er + o - 1 : 0] : x[c][o].lower;
    }
    const Real     left = face_flux(along, viscous, x[0][0].upper, x[0][1].lower, ux[0][0], ux[0][1]);
    const Real     right = __shfl_down_sync(all, left, 1);
    Real           rates[2] = {along.rate(left, right) + rate_across(across, u[1][1], y[0], uy),
                               rate_across(along, u[0][1], x[1], ux[1]) + across.rate(below, above)};
    const PetscInt p[2] = {i, m - 1};
    const size_t   to = 2 * ((size_t)p[1] * (size_t)nx + (size_t)i);
    below = above;
    if (!mine) continue;
    if (is_frozen<2>(patch, p)) rates[0] = rates[1] = 0;
    if (extremes) {
      state = max(state, max(magnitude_bits(u[0][1]), magnitude_bits(u[1][1])));
      change = max(change, max(magnitude_bits(rates[0]), magnitude_bits(rates[1])));
    }
    if (stage.u0)
      for (int c = 0; c < 2; c++) rates[c] = advance(stage, to + c, u[c][1], rates[c]);
    if constexpr (paired)
      *reinterpret_cast<Values<Real, 2> *>(out + to) = Values<Real, 2>{{rates[0], rates[1]}};
    else
      out[to] = rates[0], out[to + 1] = rates[1];
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

template <class... Parameters, class... Arguments>
PetscErrorCode launch_kernel(void (*kernel)(Parameters...), dim3 blocks, int threads, size_t shared,
                             const Arguments &...arguments) {
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!blocks.x || !blocks.y) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(current_stream(&stream));
  kernel<<<blocks, threads, shared, stream>>>(arguments...);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
