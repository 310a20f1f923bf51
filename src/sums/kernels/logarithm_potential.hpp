#pragma once
#include "sums/kernels/scaled_logarithm.hpp"

namespace shellac {

// -log(r)/(2π): the potential of line charges, -Δg = δ in the plane.
template <class T> struct LogarithmPotential : ScaledLogarithm<T> {
  static const char    *name() { return "logarithm"; }
  static const char    *formula() { return "-log(r)/(2 pi)"; }
  static constexpr bool uses_sigma = false, uses_wavenumber = false, singular = true;
  static constexpr int  flops = 2;
  using Value = T;
  static double unit(const Parameters &p) { return free_unit<T>(p); }
  static double factor(const Parameters &) { return -ln_2 / (4 * pi); }
  explicit LogarithmPotential(const Parameters &p) : ScaledLogarithm<T>(unit(p)) {}

  SHELLAC_INLINE T value(T r2) const { return this->of(r2); }
  SHELLAC_INLINE T slope(T r2) const { return T(2 / ln_2) / r2; }
};

} // namespace shellac
