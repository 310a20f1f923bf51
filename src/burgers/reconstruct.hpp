#pragma once
// The values at a cell's two faces, from the averages of the cell and its neighbours.
//
// u[radius] is the cell, u[radius - 1] its lower neighbour.
//
// Sources: B. van Leer, 1974 and 1979; P. K. Sweby, 1984; G.-S. Jiang and C.-W. Shu, Efficient implementation of
// weighted ENO schemes, 1996, sec. 2.

#include "burgers/dual.hpp"

namespace shellac {

template <class T> struct Edges { T lower, upper; };

template <class Real> struct Constant {
  static constexpr const char *name = "constant";
  static constexpr int         radius = 0;
  static constexpr Real        cfl = 1; // largest u Δt/h of a forward Euler step that keeps the scheme's bounds
  template <class T> static SHELLAC_HD Edges<T> edges(const T *u) { return {u[0], u[0]}; }
};

template <class Real> struct Minmod {
  static constexpr const char         *name = "minmod";
  static constexpr int                 radius = 1;
  static constexpr Real                cfl = 0.5;
  template <class T> static SHELLAC_HD Edges<T> edges(const T *u) {
    const T half = Real(0.5) * minmod(u[1] - u[0], u[2] - u[1]);
    return {u[1] - half, u[1] + half};
  }
};

template <class Real> struct VanLeer {
  static constexpr const char         *name = "vanleer";
  static constexpr int                 radius = 1;
  static constexpr Real                cfl = 0.5;
  template <class T> static SHELLAC_HD Edges<T> edges(const T *u) {
    const T below = u[1] - u[0], above = u[2] - u[1], product = below * above;
    const T both = value_of(product) > 0 ? below + above : T(1);
    const T half = where_positive(product, product / both); // half the harmonic mean
    return {u[1] - half, u[1] + half};
  }
};

// The three candidates of both faces have the same smoothness indicators, which are computed once for the cell; the
// two quotients share one division.
template <class Real> struct Weno5 {
  static constexpr const char         *name = "weno5";
  static constexpr int                 radius = 2;
  static constexpr Real                cfl = 1;
  template <class T> static SHELLAC_HD Edges<T> edges(const T *u) {
    const T    d0 = u[1] - u[0], d1 = u[2] - u[1], d2 = u[3] - u[2], d3 = u[4] - u[3]; // first differences
    const T    c0 = d1 - d0, c1 = d2 - d1, c2 = d3 - d2;                               // second differences
    const Real curvature = Real(13) / 12, epsilon = Real(1e-6);
    const T    s0 = d1 + Real(0.5) * c0, s1 = Real(0.5) * (d1 + d2), s2 = d2 - Real(0.5) * c2; // slopes at the centre
    const T    b0 = epsilon + (curvature * (c0 * c0) + s0 * s0);
    const T    b1 = epsilon + (curvature * (c1 * c1) + s1 * s1);
    const T    b2 = epsilon + (curvature * (c2 * c2) + s2 * s2);
    // weights 1/b² over a common denominator
    const T p0 = b1 * b2, p1 = b0 * b2, p2 = b0 * b1;
    const T w0 = p0 * p0, w1 = Real(6) * (p1 * p1), w2 = p2 * p2;
    const T sum_up = (w0 + Real(3) * w2) + w1, sum_low = (Real(3) * w0 + w2) + w1;
    // six times what the candidates add to the cell's average at the upper face, and take off it at the lower one
    const T up = (w0 * (Real(3) * d1 + Real(2) * c0) + w1 * (d1 + Real(2) * d2)) + (Real(3) * w2) * (Real(3) * d2 - c2);
    const T low =
        (w2 * (Real(3) * d2 - Real(2) * c2) + w1 * (d2 + Real(2) * d1)) + (Real(3) * w0) * (Real(3) * d1 + c0);
    if constexpr (sizeof(Real) < 8) { // whose range the product of the sums may leave
      return {u[2] - low / (Real(6) * sum_low), u[2] + up / (Real(6) * sum_up)};
    } else {
      const T inverse = T(1) / (Real(6) * (sum_up * sum_low));
      return {u[2] - (low * sum_up) * inverse, u[2] + (up * sum_low) * inverse};
    }
  }
};

} // namespace shellac
