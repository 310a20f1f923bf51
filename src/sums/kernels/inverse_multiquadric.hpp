#pragma once
#include "sums/kernels/quadric.hpp"

namespace shellac {

// 1/sqrt(|x-y|² + σ²), positive definite in every dimension.
template <class T> struct InverseMultiquadric : Quadric<T> {
  static const char    *name() { return "inverse_multiquadric"; }
  static const char    *formula() { return "1/sqrt(r^2 + sigma^2)"; }
  static constexpr bool uses_sigma = true, uses_wavenumber = false, singular = false;
  static constexpr int  flops = 3;
  using Value = T;
  using Quadric<T>::unit;
  static double factor(const Parameters &p) { return 1 / unit(p); }
  using Quadric<T>::Quadric;

  SHELLAC_INLINE T value(T r2) const { return inverse_sqrt(this->plus_sigma2(r2)); }
  SHELLAC_INLINE T slope(T r2) const {
    const T inverse = inverse_sqrt(this->plus_sigma2(r2));
    return -inverse * (inverse * inverse);
  }
};

} // namespace shellac
