#pragma once
#include "sums/kernel.hpp"

namespace shellac {

// sqrt(|x-y|² + σ²) = σ sqrt(r² + 1) with r in units of σ (R. L. Hardy, Multiquadric equations of topography, 1971).
template <class T> struct Multiquadric : Units<T> {
  static const char    *name() { return "multiquadric"; }
  static const char    *formula() { return "sqrt(r^2 + sigma^2)"; }
  static constexpr bool uses_sigma = true, uses_wavenumber = false, singular = false;
  static constexpr int  flops = 3;
  using Value = T;
  static double unit(const Parameters &p) { return p.sigma; }
  static double factor(const Parameters &p) { return p.sigma; }
  explicit Multiquadric(const Parameters &p) : Units<T>(unit(p)) {}

  SHELLAC_INLINE T value(T r2) const {
    const T s = this->in_units(r2) + 1;
    return s * inverse_sqrt(s);
  }
  SHELLAC_INLINE T slope(T r2) const { return inverse_sqrt(this->in_units(r2) + 1); }
};

// 1/sqrt(|x-y|² + σ²), positive definite in every dimension.
template <class T> struct InverseMultiquadric : Units<T> {
  static const char    *name() { return "inverse_multiquadric"; }
  static const char    *formula() { return "1/sqrt(r^2 + sigma^2)"; }
  static constexpr bool uses_sigma = true, uses_wavenumber = false, singular = false;
  static constexpr int  flops = 3;
  using Value = T;
  static double unit(const Parameters &p) { return p.sigma; }
  static double factor(const Parameters &p) { return 1 / p.sigma; }
  explicit InverseMultiquadric(const Parameters &p) : Units<T>(unit(p)) {}

  SHELLAC_INLINE T value(T r2) const { return inverse_sqrt(this->in_units(r2) + 1); }
  SHELLAC_INLINE T slope(T r2) const {
    const T inverse = inverse_sqrt(this->in_units(r2) + 1);
    return -inverse * (inverse * inverse);
  }
};

} // namespace shellac
