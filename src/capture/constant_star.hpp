#pragma once
// A star of width 1 with the same coefficients at each point, as a formula.

#include "grid/patch.hpp"

namespace shellac {

template <class T> struct ConstantStar {
  T center, arm[3][2]; // [axis][end]

  template <int dim> SHELLAC_HD T operator()(const Star<T, dim> &u) const {
    T sum = center * u.center + along<0>(u);
    if constexpr (dim > 1) sum += along<1>(u);
    if constexpr (dim > 2) sum += along<2>(u);
    return sum;
  }
  template <int axis, int dim> SHELLAC_HD T along(const Star<T, dim> &u) const {
    return arm[axis][LOWER] * u.arm[axis][LOWER] + arm[axis][UPPER] * u.arm[axis][UPPER];
  }
};

} // namespace shellac
