#pragma once
// The loops on the host: chunks of cells that fit into the L1 cache; every loop is vectorised.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "burgers/lanes.hpp"
#include "burgers/rows.hpp"
#include "device/stream.hpp"

namespace shellac {

constexpr PetscInt host_chunk = 1024; // cells, of several steps with their halos
constexpr PetscInt rates_chunk = 256; // of one pass: loads, stores and arithmetic are all under way

// rate[0..n) from u[-radius .. n + radius), n <= host_chunk plus halos.
template <class Scheme, class Real>
SHELLAC_WIDEST __attribute__((flatten)) void chunk_rates(Scheme scheme, const Real *u, PetscInt n, Real *rate) {
  constexpr int most = 2 * host_chunk + 2 * 64 + 2;
  if constexpr (!Scheme::has_faces) {
#pragma GCC ivdep
    for (PetscInt i = 0; i < n; i++) rate[i] = scheme.rate(u[i - 1], u[i + 1]);
  } else {
    Real          lower[most], upper[most], face[most]; // of cell i - 1; of the face below cell i
    constexpr int r = Scheme::edge_radius;
    if constexpr (r > 0) {
#pragma GCC ivdep
      for (PetscInt i = 0; i < n + 2; i++) {
        const Edges<Real> e = scheme.edges(u + i - 1 - r);
        lower[i] = e.lower;
        upper[i] = e.upper;
      }
    }
    const Real *below = r > 0 ? upper : u - 1, *above = r > 0 ? lower + 1 : u;
    if (scheme.at.nu2_h != 0) {
#pragma GCC ivdep
      for (PetscInt i = 0; i <= n; i++) face[i] = face_flux(scheme, true, below[i], above[i], u[i - 1], u[i]);
    } else {
#pragma GCC ivdep
      for (PetscInt i = 0; i <= n; i++) face[i] = face_flux(scheme, false, below[i], above[i], u[i - 1], u[i]);
    }
#pragma GCC ivdep
    for (PetscInt i = 0; i < n; i++) rate[i] = scheme.rate(face[i], face[i + 1]);
  }
}

// Raises extremes to those of n cells. Rates of small states are finite: no product in a scheme leaves the range of a
// double.
template <class Real> void raise_extremes(const Real *u, const Real *rate, PetscInt n, Extremes *extremes) {
  const unsigned long long state = largest_bits(u, n);
  extremes->state = std::max(extremes->state, state);
  if (sizeof(Real) < 8 || state > magnitude_bits(1e15))
    extremes->rate = std::max(extremes->rate, largest_bits(rate, n));
}

template <class Scheme, class Real>
void rates_on_host(const Coefficients<PetscReal> &at, const Line<Real> &line, Extremes *extremes, Real *rate) {
  constexpr int r = Scheme::radius;
  const Scheme  scheme(at);
  const bool    past = beyond_cache((size_t)line.n * sizeof(Real));
  Real          buffer[rates_chunk], window[rates_chunk + 2 * r];
  for (PetscInt from = 0; from < line.n; from += rates_chunk) {
    const PetscInt n = PetscMin(rates_chunk, line.n - from);
    const Real    *u = line.u + from;
    Real          *out = past ? buffer : rate + from;
    if (from < r || from + n + r > line.n) {
      for (PetscInt i = 0; i < n + 2 * r; i++) window[i] = line(from + i - r);
      u = window + r;
    }
    if (past && from + n + 2048 < line.n) // nearer than prefetch() does: chunks are short
      for (PetscInt i = 0; i < n; i += 64 / sizeof(Real)) __builtin_prefetch(u + 4096 / sizeof(Real) + i, 0, 2);
    chunk_rates(scheme, u, n, out);
    if (from == 0 && line.frozen[0]) out[0] = 0;
    if (from + n == line.n && line.frozen[1]) out[n - 1] = 0;
    if (extremes) raise_extremes(u, (const Real *)out, n, extremes);
    if (past) stream_copy(rate + from, (const Real *)buffer, n);
  }
  if (past) stream_fence();
}

template <class Scheme, class Real>
void steps_on_host(const Coefficients<PetscReal> &at, const Line<Real> &line, const Stages &stages, Real dt, int steps,
                   Real *result) {
  constexpr bool     in_lanes = SHELLAC_LANES && Scheme::has_faces && Scheme::edge_radius == 0;
  constexpr PetscInt chunk = (in_lanes ? 2 : 1) * host_chunk;
  constexpr int      r = Scheme::radius, most = chunk + 2 * 64;
  const Scheme       scheme(at);
  const PetscInt     halo = (PetscInt)steps * stages.count * r;
  std::vector<Real>  memory(3 * (most + 2 * r));
  Real              *u = memory.data() + r, *u0 = u + most + 2 * r, *rate = u0 + most + 2 * r;
#if SHELLAC_LANES
  Real *lanes = (Real *)(((uintptr_t)memory.data() + 63) / 64 * 64);
#endif

  for (PetscInt from = 0; from < line.n; from += chunk) {
    const PetscInt n = PetscMin(chunk, line.n - from);
    PetscInt       lo = from - halo, hi = from + n + halo; // u[0] is the cell lo
    const bool     ends[2] = {line.at_domain_end(0) && lo <= 0, line.at_domain_end(1) && hi >= line.n};
    if (ends[0]) lo = 0;
    if (ends[1]) hi = line.n;
    const bool inner = lo >= 0 && hi <= line.n;
#if SHELLAC_LANES
    if constexpr (in_lanes)
      if (inner && !ends[0] && !ends[1] && hi - lo >= least_in_lanes) {
        steps_in_lanes(scheme, stages, dt, steps, hi - lo, halo, line.u + lo, lanes, result + lo);
        continue;
      }
#endif
    if (inner)
      memcpy(u, line.u + lo, (hi - lo) * sizeof(Real));
    else
      for (PetscInt i = lo; i < hi; i++) u[i - lo] = line(i);
    PetscInt begin = 0, end = hi - lo; // what is right of u
    for (int step = 0; step < steps; step++) {
      if (stages.count > 1) memcpy(u0 + begin, u + begin, (end - begin) * sizeof(Real));
      for (int s = 0; s < stages.count; s++) {
        for (int g = 0; g < r; g++) {
          if (ends[0]) u[-1 - g] = line.end[0] == End::copy ? u[0] : line.beyond[0];
          if (ends[1]) u[hi - lo + g] = line.end[1] == End::copy ? u[hi - lo - 1] : line.beyond[1];
        }
        if (!ends[0]) begin += r;
        if (!ends[1]) end -= r;
        chunk_rates(scheme, (const Real *)u + begin, end - begin, rate + begin);
        if (ends[0] && line.frozen[0]) rate[0] = 0;
        if (ends[1] && line.frozen[1]) rate[hi - lo - 1] = 0;
        advance_row(stages, s, end - begin, (const Real *)u0 + begin, dt, (const Real *)rate + begin, u + begin);
      }
    }
    memcpy(result + from, u + from - lo, n * sizeof(Real));
  }
}

} // namespace shellac
