#pragma once
// The modified Helmholtz operator -Δu + σu; with σ = 0, the Laplace operator. Second-order central differences:
// the star of three, five or seven points (Shortley and Weller 1938; Collatz 1960, table VI).

#include "grid/patch.hpp"

namespace shellac {

template <class T> struct Helmholtz {
  T inv_h2[3]; // 1/h² along each axis [1/length²]; zero along axes beyond the grid's dimension
  T sigma;     // σ [1/length²]

  // (-Δu + σu) at the center of a star that lies inside the domain
  template <int dim> SHELLAC_HD T operator()(const Star<T, dim> &u) const {
    T sum = sigma * u.center + minus_second_derivative<0>(u);
    if constexpr (dim > 1) sum += minus_second_derivative<1>(u);
    if constexpr (dim > 2) sum += minus_second_derivative<2>(u);
    return sum;
  }
  template <int axis, int dim> SHELLAC_HD T minus_second_derivative(const Star<T, dim> &u) const {
    return inv_h2[axis] * (u.center + u.center - u.arm[axis][LOWER] - u.arm[axis][UPPER]);
  }

  static PetscLogDouble flops(int dim) { return 1 + 5 * dim; }

  // The vector space of operators: this *= a, this += a x.
  void scale(T a) {
    for (T &c : inv_h2) c *= a;
    sigma *= a;
  }
  void axpy(T a, const Helmholtz &x) {
    for (int d = 0; d < 3; d++) inv_h2[d] += a * x.inv_h2[d];
    sigma += a * x.sigma;
  }
};

} // namespace shellac
