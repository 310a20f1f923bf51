#pragma once
// Several steps of a tile of cells on the host, in SIMD vectors. Each lane has a part of the tile, and the neighbours of a
// cell are in the previous and the next vector, in the same lane. So each value is loaded once in a stage, and each flux is
// computed once and remains in a register.

#include "burgers/scheme.hpp"
#include "device/stream.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#define SHELLAC_LANES 1
#else
#define SHELLAC_LANES 0
#endif

namespace shellac {

// The n cells of a tile as `length` vectors of lane_count values; past the end, the last cell's value.
constexpr int lane_count = 8;
void          into_lanes(const PetscReal *from, PetscInt n, PetscInt length, PetscReal *to);

// `steps` steps of the n >= least_in_lanes cells of a tile; `to` is written from `halo`, which they reach, to n - halo.
// memory: of two tiles, aligned to 64 bytes.
constexpr PetscInt least_in_lanes = lane_count * lane_count;
using StepsInLanes = void(const Coefficients<PetscReal> &at, const Stages &stages, PetscReal dt, int steps, PetscInt n,
                          PetscInt halo, const PetscReal *from, PetscReal *memory, PetscReal *to);

#if SHELLAC_LANES
#define SHELLAC_INLINE inline __attribute__((always_inline))

template <class Real> struct alignas(lane_count * sizeof(Real)) Lanes {
  typedef Real Vector __attribute__((vector_size(lane_count * sizeof(Real))));
  Vector       v;

  Lanes() = default;
  SHELLAC_INLINE Lanes(Real x) : v(x - Vector{}) {}
  SHELLAC_INLINE explicit Lanes(const Vector &x, int) : v(x) {}
};
template <class Real> SHELLAC_INLINE Lanes<Real> operator+(const Lanes<Real> &a, const Lanes<Real> &b) {
  return Lanes<Real>(a.v + b.v, 0);
}
template <class Real> SHELLAC_INLINE Lanes<Real> operator-(const Lanes<Real> &a, const Lanes<Real> &b) {
  return Lanes<Real>(a.v - b.v, 0);
}
template <class Real> SHELLAC_INLINE Lanes<Real> operator-(const Lanes<Real> &a) {
  return Lanes<Real>(-a.v, 0);
}
template <class Real> SHELLAC_INLINE Lanes<Real> operator*(const Lanes<Real> &a, const Lanes<Real> &b) {
  return Lanes<Real>(a.v * b.v, 0);
}
template <class Real> SHELLAC_INLINE Lanes<Real> operator+(Real a, const Lanes<Real> &b) {
  return Lanes<Real>(a + b.v, 0);
}
template <class Real> SHELLAC_INLINE Lanes<Real> operator*(Real a, const Lanes<Real> &b) {
  return Lanes<Real>(a * b.v, 0);
}
// The functions of numbers that formulas use, see dual.hpp, lane by lane.
template <class Real> SHELLAC_INLINE Lanes<Real> magnitude(const Lanes<Real> &a) {
  return Lanes<Real>(a.v < 0 ? -a.v : a.v, 0);
}
template <class Real> SHELLAC_INLINE Lanes<Real> larger(const Lanes<Real> &a, const Lanes<Real> &b) {
  return Lanes<Real>(a.v > b.v ? a.v : b.v, 0);
}
template <class Real> SHELLAC_INLINE Lanes<Real> smaller(const Lanes<Real> &a, const Lanes<Real> &b) {
  return Lanes<Real>(a.v < b.v ? a.v : b.v, 0);
}
template <class Real> SHELLAC_INLINE Lanes<Real> where_positive(const Lanes<Real> &u, const Lanes<Real> &a) {
  return Lanes<Real>(u.v > 0 ? a.v : typename Lanes<Real>::Vector{}, 0);
}
template <class Real> SHELLAC_INLINE Lanes<Real> where_negative(const Lanes<Real> &u, const Lanes<Real> &a) {
  return Lanes<Real>(u.v > 0 ? typename Lanes<Real>::Vector{} : a.v, 0);
}
// In each lane the value of the previous or the next lane; in the end lane its own.
template <class Real> SHELLAC_INLINE Lanes<Real> from_below(const Lanes<Real> &a) {
  return Lanes<Real>(typename Lanes<Real>::Vector{a.v[0], a.v[0], a.v[1], a.v[2], a.v[3], a.v[4], a.v[5], a.v[6]}, 0);
}
template <class Real> SHELLAC_INLINE Lanes<Real> from_above(const Lanes<Real> &a) {
  return Lanes<Real>(typename Lanes<Real>::Vector{a.v[1], a.v[2], a.v[3], a.v[4], a.v[5], a.v[6], a.v[7], a.v[7]}, 0);
}

// A stage of `length` vectors u. The cells at both ends of the tile become invalid. u0: the state at the start of the step,
// which the first stage sets. For schemes whose edges are the averages.
template <bool viscous, bool staged, class Scheme, class Real>
SHELLAC_WIDEST __attribute__((flatten)) void lanes_stage(Scheme scheme, const Stages &stages, int s, Real dt,
                                                         PetscInt length, Lanes<Real> *u, Lanes<Real> *u0) {
  const Real        a = staged ? (Real)stages.a[s] : Real(0), b = staged ? (Real)stages.b[s] : Real(1);
  const bool        first = !staged || s == 0;
  const Lanes<Real> last = from_above(u[0]), below = from_below(u[length - 1]);
  Lanes<Real>       here = u[0], lower = face_flux(scheme, viscous, below, here, below, here);
  for (PetscInt i = 0; i < length; i++) {
    const Lanes<Real> next = i + 1 < length ? u[i + 1] : last;
    const Lanes<Real> upper = face_flux(scheme, viscous, here, next, here, next), rate = scheme.rate(lower, upper);
    if (staged && first) u0[i] = here;
    u[i] = advance(first, a, b, first ? here : u0[i], here, dt, rate);
    lower = upper;
    here = next;
  }
}

template <class Scheme>
void steps_in_lanes(const Coefficients<PetscReal> &at, const Stages &stages, PetscReal dt, int steps, PetscInt n,
                    PetscInt halo, const PetscReal *from, PetscReal *memory, PetscReal *to) {
  using Real = PetscReal;
  const Scheme   scheme(at);
  const PetscInt length = (n + lane_count - 1) / lane_count;
  Lanes<Real>   *u = (Lanes<Real> *)memory, *u0 = u + length;
  const bool     viscous = scheme.at.nu2_h != 0, staged = stages.count > 1;
  const auto     stage = viscous
                             ? (staged ? lanes_stage<true, true, Scheme, Real> : lanes_stage<true, false, Scheme, Real>)
                             : (staged ? lanes_stage<false, true, Scheme, Real> : lanes_stage<false, false, Scheme, Real>);
  into_lanes(from, n, length, memory);
  for (int step = 0; step < steps; step++)
    for (int s = 0; s < stages.count; s++) stage(scheme, stages, s, dt, length, u, u0);
  for (int w = 0; w < lane_count; w++) {
    const PetscInt begin = PetscMax(halo, w * length), end = PetscMin(n - halo, (w + 1) * length);
    for (PetscInt i = begin; i < end; i++) to[i] = memory[(i - w * length) * lane_count + w];
  }
}

#endif

} // namespace shellac
