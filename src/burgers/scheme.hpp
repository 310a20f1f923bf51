#pragma once
// A scheme computes du/dt of a cell: from a flux and a reconstruction, or as in central_doubled.cpp.
//
// Nothing here is contracted to fused multiply-adds (see CMakeLists.txt), so that the same formula gives the same
// bits in every loop and on every machine.

#include <type_traits>

#include "burgers/reconstruct.hpp"

// Host code calls the formulas with Lanes, which a device does not have.
#if defined(__CUDACC__)
#pragma nv_diag_suppress 20011, 20014
#endif

namespace shellac {

// What the formulas of an axis need besides the values.
template <class Real> struct Coefficients {
  Real h;      // width of a cell [length]
  Real inv_2h; // 1/(2h): the fluxes are doubled
  Real nu2_h;  // 2ν/h, ν the viscosity [length²/time]
  Real speed;  // no wave is faster, for the Lax-Friedrichs flux [length/time]
};

// A numerical flux f(a, b) of Burgers' equation, f(u, u) = u²/2, through the face between the states a (below) and b
// (above) is a functor as in godunov.cpp:
//
//   name         as in TSBurgersFluxes
//   speed        only for the Lax-Friedrichs flux: a bound of all wave speeds [length/time]
//   operator()   2f: the factor 1/2 is left to the difference over a cell, where it costs nothing and is exact
//   transport()  twice the flux q u of a quantity that is carried along with the speed q: for the components across an
//                axis in more than one dimension
//
// Source: R. J. LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002, ch. 12.

// The transport of upwind fluxes.
template <class Real> struct UpwindTransport {
  template <class T> SHELLAC_HD T transport(T q, T a, T b) const { return Real(2) * (q * by_sign(q, a, b)); }
};

template <class Flux, class Real> SHELLAC_HD Flux make_flux(const Coefficients<Real> &c) {
  if constexpr (std::is_empty_v<Flux>)
    return Flux{};
  else
    return Flux{c.speed};
}

// u_t = -(f(a, b) at the upper face - f(a, b) at the lower face) / h, f with -ν u_x.
template <class Real_, class Flux, class Reconstruction> struct Conservative {
  using Real = Real_;
  using Edge = Reconstruction;
  using Faces = Conservative<Real, Flux, Constant<Real>>; // the same between known values at faces
  static constexpr bool has_faces = true;
  static constexpr int  edge_radius = Reconstruction::radius; // cells on each side that a cell's edges depend on
  static constexpr int  radius = edge_radius + 1;             // and that its rate depends on
  Flux                  flux;
  Coefficients<Real>    at;

  SHELLAC_HD                           Conservative(const Coefficients<Real> &c) : flux(make_flux<Flux>(c)), at(c) {}
  template <class T> static SHELLAC_HD Edges<T> edges(const T *u) { return Reconstruction::edges(u); }
  template <class T> SHELLAC_HD T               face(T below, T above) const { return flux(below, above); }
  template <class T> SHELLAC_HD T               rate(T lower, T upper) const { return at.inv_2h * (lower - upper); }
  // The viscous part, to be subtracted from the doubled flux between cells with these averages.
  template <class T> SHELLAC_HD T diffusion(T below, T above) const { return at.nu2_h * (above - below); }
  // The rate of a quantity that is transported along the axis with the speed q of this cell, from the edges of the cell
  // and its neighbours.
  template <class T> SHELLAC_HD T transport(T q, const Edges<T> e[3]) const {
    return at.inv_2h * (flux.transport(q, e[0].upper, e[1].lower) - flux.transport(q, e[1].upper, e[2].lower));
  }
};

// The doubled flux through a face: `below` and `above` are the values at the face, u_below and u_above the averages of
// the cells beside it, for the viscous part. No variable here and in advance(): device code may not have one of type Lanes.
template <class Scheme, class T>
SHELLAC_HD T face_flux(const Scheme &scheme, bool viscous, const T &below, const T &above, const T &u_below,
                       const T &u_above) {
  if (!viscous) return scheme.face(below, above);
  return scheme.face(below, above) - scheme.diffusion(u_below, u_above);
}

// The rates of cells next to each other, from the values of them and `radius` cells on both sides: each face's flux is
// computed once.
template <int cells, class Scheme, class T>
SHELLAC_HD void strip_rates(const Scheme &scheme, const T (&u)[cells + 2 * Scheme::radius], T (&rate)[cells]) {
  constexpr int r = Scheme::radius;
  if constexpr (!Scheme::has_faces) {
    SHELLAC_UNROLL_ALL
    for (int i = 0; i < cells; i++) rate[i] = scheme.rate(u[i], u[i + 2]);
  } else {
    Edges<T> below = scheme.edges(u);
    T        lower(0);
    SHELLAC_UNROLL_ALL
    for (int i = 0; i <= cells; i++) { // the face below cell i
      const Edges<T> above = scheme.edges(u + i + 1);
      const T        face = face_flux(scheme, scheme.at.nu2_h != 0, below.upper, above.lower, u[i + r - 1], u[i + r]);
      if (i > 0) rate[i - 1] = scheme.rate(lower, face);
      lower = face;
      below = above;
    }
  }
}

// The rate along an axis of the component that is the speed along it, from the edges and the averages of a cell and its two
// neighbours; and the rate of the other component, which is transported with the speed q.
template <class Scheme, class T>
SHELLAC_HD T rate_along(const Scheme &scheme, const Edges<T> (&e)[3], const T (&u)[3]) {
  const bool viscous = scheme.at.nu2_h != 0;
  return scheme.rate(face_flux(scheme, viscous, e[0].upper, e[1].lower, u[0], u[1]),
                     face_flux(scheme, viscous, e[1].upper, e[2].lower, u[1], u[2]));
}
template <class Scheme, class T>
SHELLAC_HD T rate_across(const Scheme &scheme, T q, const Edges<T> (&e)[3], const T (&u)[3]) {
  const T carried = scheme.transport(q, e);
  if (scheme.at.nu2_h == 0) return carried;
  return carried + scheme.at.inv_2h * (scheme.diffusion(u[1], u[2]) - scheme.diffusion(u[0], u[1]));
}

// The values beyond an end of a rank's cells.
enum class End : unsigned char {
  halo,  // a neighbour's cells
  wrap,  // the cells of the other end: one rank has the whole periodic axis
  copy,  // the end's own value: outflow
  value, // a given value: inflow
};

// A rank's cells along one axis, and the values beyond them, for loops.
template <class T> struct Line {
  const T *u;       // [n]
  PetscInt n;       // cells
  const T *halo[2]; // [end]: width cells, the lowest first
  PetscInt width;   // of the halos
  End      end[2];
  bool     frozen[2]; // the last cell there does not change
  T        beyond[2]; // of an End::value

  bool at_domain_end(int e) const { return end[e] == End::copy || end[e] == End::value; }
  // The value at i, which may be beyond the ends.
  SHELLAC_HD T operator()(PetscInt i) const {
    if (i >= 0 && i < n) return u[i];
    return i < 0 ? beyond_end<0>(i) : beyond_end<1>(i);
  }

private:
  template <int e> SHELLAC_HD T beyond_end(PetscInt i) const { // no index that varies: the members stay in registers
    if (end[e] == End::halo) {
      const PetscInt at = e ? i - n : i + width;
      return at >= 0 && at < width ? halo[e][at] : T(0);
    }
    if (end[e] == End::wrap) return u[(i % n + n) % n];
    return end[e] == End::copy ? u[e ? n - 1 : 0] : beyond[e];
  }
};

// u ← a u0 + b (u + Δt du/dt): the stage of a strong-stability-preserving Runge-Kutta method (C.-W. Shu and S.
// Osher, 1988).
struct Stages {
  int       count;
  PetscReal a[3], b[3]; // the first stage has a = 0, b = 1
};
// One of them, in the pass that computes the rates; u0: the state at the start of the step.
struct Stage {
  bool             first;
  PetscReal        a, b, dt;
  const PetscReal *u0; // null: the rates themselves are wanted
};

template <class Real, class T>
SHELLAC_HD T advance(bool first, Real a, Real b, const T &u0, const T &u, Real dt, const T &rate) {
  if (first) return u + dt * rate;
  return a * u0 + b * (u + dt * rate);
}
// Of the n-th value.
SHELLAC_HD PetscReal advance(const Stage &stage, size_t n, PetscReal u, PetscReal rate) {
  return advance(stage.first, stage.a, stage.b, stage.first ? u : stage.u0[n], u, stage.dt, rate);
}

} // namespace shellac
