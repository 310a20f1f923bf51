#pragma once
#include "sums/kernels/kernel.hpp"

namespace shellac {

// e^{-|x-y|²/(2σ²)} = 2^{-r²} with r in units of σ sqrt(2 ln 2).
template <class T> struct Gaussian : Units<T> {
  static const char    *name() { return "gaussian"; }
  static const char    *formula() { return "exp(-r^2/(2 sigma^2))"; }
  static constexpr bool uses_sigma = true, uses_wavenumber = false, singular = false;
  static constexpr int  flops = 2;
  using Value = T;
  static double unit(const Parameters &p) { return p.sigma * std::sqrt(2 * ln_2); }
  static double factor(const Parameters &) { return 1; }
  explicit Gaussian(const Parameters &p) : Units<T>(unit(p)) {}

  SHELLAC_INLINE T value(T r2) const { return exp2_nonpositive(-this->in_units(r2)); }
  SHELLAC_INLINE T slope(T r2) const { return T(-2 * ln_2) * exp2_nonpositive(-this->in_units(r2)); }
};

} // namespace shellac
