#pragma once
#include "sums/kernels/kernel.hpp"

namespace shellac {

// e^{-k|x-y|}/(4π|x-y|): the screened potential, -Δg + k²g = δ in three dimensions.
template <class T> struct YukawaPotential {
  static const char    *name() { return "yukawa"; }
  static const char    *formula() { return "exp(-k r)/(4 pi r)"; }
  static constexpr bool uses_sigma = false, uses_wavenumber = true, singular = true;
  static constexpr int  flops = 6;
  using Value = T;
  static double unit(const Parameters &p) { return free_unit<T>(p); }
  static double factor(const Parameters &p) { return 1 / (4 * pi * unit(p)); }
  explicit YukawaPotential(const Parameters &p) : decay((T)(std::fabs(p.wavenumber) * unit(p) * log2_e)) {}

  SHELLAC_INLINE T value(T r2) const {
    const T inv_r = inverse_sqrt(r2);
    return inv_r * exp2_nonpositive(-decay * (r2 * inv_r));
  }
  SHELLAC_INLINE T slope(T r2) const { // -g (k + 1/r)/r
    const T inv_r = inverse_sqrt(r2);
    return -inv_r * (T(ln_2) * decay + inv_r) * (inv_r * exp2_nonpositive(-decay * (r2 * inv_r)));
  }

  T decay; // k log2(e) in a unit
};

} // namespace shellac
