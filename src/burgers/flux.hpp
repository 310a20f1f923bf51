#pragma once
// Numerical fluxes of Burgers' equation, f(u) = u²/2, through the face between the states a (below) and b (above).
//
// All of them return 2f: the factor 1/2 is left to the difference over a cell, where it costs nothing and is exact.
// transport() is twice the flux q u of a quantity that is carried along with the speed q: what the components across
// an axis need in more than one dimension.
//
// Sources: R. J. LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002, ch. 12; S. K. Godunov, 1959; V. V.
// Rusanov, 1961; B. Engquist and S. Osher, 1980, eq. 2.9.

#include "burgers/dual.hpp"

// Host code calls them with Lanes, which a device does not have.
#if defined(__CUDACC__)
#pragma nv_diag_suppress 20014
#endif

namespace shellac {

template <class Real> struct Central {
  static constexpr const char    *name = "central";
  static constexpr bool           monotone = false;
  Real                            speed; // not used
  template <class T> SHELLAC_HD T operator()(T a, T b) const { return Real(0.5) * (a * a + b * b); }
  template <class T> SHELLAC_HD T transport(T q, T a, T b) const { return q * (a + b); }
};

// The dissipation of the fastest wave there is, everywhere.
template <class Real> struct LaxFriedrichs {
  static constexpr const char    *name = "lax_friedrichs";
  static constexpr bool           monotone = true;
  Real                            speed; // no wave is faster [length/time]
  template <class T> SHELLAC_HD T operator()(T a, T b) const { return Real(0.5) * (a * a + b * b) - speed * (b - a); }
  template <class T> SHELLAC_HD T transport(T q, T a, T b) const { return q * (a + b) - speed * (b - a); }
};

// That of the faster of the two states.
template <class Real> struct Rusanov {
  static constexpr const char    *name = "rusanov";
  static constexpr bool           monotone = true;
  Real                            speed; // not used
  template <class T> SHELLAC_HD T operator()(T a, T b) const {
    return Real(0.5) * (a * a + b * b) - larger(magnitude(a), magnitude(b)) * (b - a);
  }
  template <class T> SHELLAC_HD T transport(T q, T a, T b) const { return q * (a + b) - magnitude(q) * (b - a); }
};

// The flux of the Riemann problem's exact solution.
template <class Real> struct Godunov {
  static constexpr const char    *name = "godunov";
  static constexpr bool           monotone = true;
  Real                            speed; // not used
  template <class T> SHELLAC_HD T operator()(T a, T b) const {
    return larger(where_positive(a, a * a), where_negative(b, b * b));
  }
  template <class T> SHELLAC_HD T transport(T q, T a, T b) const {
    return Real(2) * (where_positive(q, q * a) + where_negative(q, q * b));
  }
};

template <class Real> struct EngquistOsher {
  static constexpr const char    *name = "engquist_osher";
  static constexpr bool           monotone = true;
  Real                            speed; // not used
  template <class T> SHELLAC_HD T operator()(T a, T b) const {
    return where_positive(a, a * a) + where_negative(b, b * b);
  }
  template <class T> SHELLAC_HD T transport(T q, T a, T b) const {
    return Real(2) * (where_positive(q, q * a) + where_negative(q, q * b));
  }
};

} // namespace shellac

#if defined(__CUDACC__)
#pragma nv_diag_default 20014
#endif
