#pragma once
#include "sums/kernels/quadric.hpp"

namespace shellac {

// sqrt(|x-y|² + σ²) (R. L. Hardy, Multiquadric equations of topography, 1971).
template <class T> struct Multiquadric : Quadric<T> {
  static const char    *name() { return "multiquadric"; }
  static const char    *formula() { return "sqrt(r^2 + sigma^2)"; }
  static constexpr bool uses_sigma = true, uses_wavenumber = false, singular = false;
  static constexpr int  flops = 3;
  using Value = T;
  using Quadric<T>::unit;
  static double factor(const Parameters &p) { return unit(p); }
  using Quadric<T>::Quadric;

  SHELLAC_INLINE T value(T r2) const {
    const T s = this->plus_sigma2(r2);
    return s * inverse_sqrt(s);
  }
  SHELLAC_INLINE T slope(T r2) const { return inverse_sqrt(this->plus_sigma2(r2)); }
};

} // namespace shellac
