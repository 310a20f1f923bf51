#pragma once
#include "sums/kernel.hpp"

namespace shellac {

// log2(r²) of distances in units: that of the unit is added where it is not 1.
template <class T> struct Logarithms {
  explicit Logarithms(double unit) : of_unit((T)(2 * std::log2(unit))) {}
  SHELLAC_INLINE T of(T r2) const {
    if constexpr (sizeof(T) == sizeof(float))
      return log2_nonnegative(r2) + of_unit;
    else
      return log2_nonnegative(r2);
  }
  T of_unit;
};

// r² log r, the bending energy's minimiser in the plane (J. Duchon, Splines minimizing rotation-invariant semi-norms,
// 1977).
template <class T> struct ThinPlate : Logarithms<T> {
  static const char    *name() { return "thin_plate"; }
  static const char    *formula() { return "r^2 log(r)"; }
  static constexpr bool uses_sigma = false, uses_wavenumber = false, singular = false;
  static constexpr int  flops = 4;
  using Value = T;
  static double unit(const Parameters &p) { return free_unit<T>(p); }
  static double factor(const Parameters &p) { return ln_2 / 2 * unit(p) * unit(p); }
  explicit ThinPlate(const Parameters &p) : Logarithms<T>(unit(p)) {}

  SHELLAC_INLINE T logarithm(T r2) const { return this->of(r2 > T(1e-37) ? r2 : T(1e-37)); } // finite at r = 0
  SHELLAC_INLINE T value(T r2) const { return r2 * logarithm(r2); }
  SHELLAC_INLINE T slope(T r2) const { return 2 * logarithm(r2) + T(2 / ln_2); }
};

// -log(r)/(2π): the potential of line charges, -Δg = δ in the plane.
template <class T> struct Logarithm : Logarithms<T> {
  static const char    *name() { return "logarithm"; }
  static const char    *formula() { return "-log(r)/(2 pi)"; }
  static constexpr bool uses_sigma = false, uses_wavenumber = false, singular = true;
  static constexpr int  flops = 2;
  using Value = T;
  static double unit(const Parameters &p) { return free_unit<T>(p); }
  static double factor(const Parameters &) { return -ln_2 / (4 * pi); }
  explicit Logarithm(const Parameters &p) : Logarithms<T>(unit(p)) {}

  SHELLAC_INLINE T value(T r2) const { return this->of(r2); }
  SHELLAC_INLINE T slope(T r2) const { return T(2 / ln_2) / r2; }
};

} // namespace shellac
