#pragma once
#include "sums/kernels/scaled_logarithm.hpp"

namespace shellac {

// r² log r, the bending energy's minimiser in the plane (J. Duchon, Splines minimizing rotation-invariant semi-norms,
// 1977).
template <class T> struct ThinPlate : ScaledLogarithm<T> {
  static const char    *name() { return "thin_plate"; }
  static const char    *formula() { return "r^2 log(r)"; }
  static constexpr bool uses_sigma = false, uses_wavenumber = false, singular = false;
  static constexpr int  flops = 4;
  using Value = T;
  static double unit(const Parameters &p) { return free_unit<T>(p); }
  static double factor(const Parameters &p) { return ln_2 / 2 * unit(p) * unit(p); }
  explicit ThinPlate(const Parameters &p) : ScaledLogarithm<T>(unit(p)) {}

  SHELLAC_INLINE T logarithm(T r2) const { return this->of(r2 > T(1e-37) ? r2 : T(1e-37)); } // finite at r = 0
  SHELLAC_INLINE T value(T r2) const { return r2 * logarithm(r2); }
  SHELLAC_INLINE T slope(T r2) const { return 2 * logarithm(r2) + T(2 / ln_2); }
};

} // namespace shellac
