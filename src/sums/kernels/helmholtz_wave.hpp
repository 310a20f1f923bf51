#pragma once
#include "sums/kernels/kernel.hpp"

namespace shellac {

// e^{ik|x-y|}/(4π|x-y|): the acoustic Green's function, -Δg - k²g = δ in three dimensions, outgoing waves.
template <class T> struct HelmholtzWave {
  static const char    *name() { return "helmholtz"; }
  static const char    *formula() { return "exp(i k r)/(4 pi r)"; }
  static constexpr bool uses_sigma = false, uses_wavenumber = true, singular = true;
  static constexpr int  flops = 8;
  using Value = Complex<T>;
  static double unit(const Parameters &p) { return free_unit<T>(p); }
  static double factor(const Parameters &p) { return 1 / (4 * pi * unit(p)); }
  explicit HelmholtzWave(const Parameters &p) : turns((T)(p.wavenumber * unit(p) / (2 * pi))) {}

  SHELLAC_INLINE Complex<T> value(T r2) const {
    const T inv_r = inverse_sqrt(r2);
    return inv_r * wave(turns, r2 * inv_r);
  }
  SHELLAC_INLINE Complex<T> slope(T r2) const { // g (ik - 1/r)/r
    const T          inv_r = inverse_sqrt(r2);
    const Complex<T> of_r = {-inv_r * inv_r, T(2 * pi) * turns * inv_r};
    return of_r * (inv_r * wave(turns, r2 * inv_r));
  }

  T turns; // k/(2π): waves in a unit
};

} // namespace shellac
