#pragma once
#include <algorithm>

#include "sums/kernel.hpp"

namespace shellac {

// r² + σ² in units of σ², or of a small part of the points' extent where σ is so small that single precision would
// overflow.
template <class T> struct Quadric : Units<T> {
  static double unit(const Parameters &p) {
    return sizeof(T) == sizeof(float) ? std::max(p.sigma, 1e-12 * p.extent) : p.sigma;
  }
  explicit Quadric(const Parameters &p) : Units<T>(unit(p)), sigma2((T)(p.sigma / unit(p) * (p.sigma / unit(p)))) {}
  SHELLAC_INLINE T plus_sigma2(T r2) const { return this->in_units(r2) + sigma2; }
  T                sigma2;
};

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
