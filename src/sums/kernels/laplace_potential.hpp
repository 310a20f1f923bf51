#pragma once
#include "sums/kernels/kernel.hpp"

namespace shellac {

// 1/(4π|x-y|): the potential of point charges, -Δg = δ in three dimensions.
template <class T> struct LaplacePotential {
  static const char    *name() { return "laplace"; }
  static const char    *formula() { return "1/(4 pi r)"; }
  static constexpr bool uses_sigma = false, uses_wavenumber = false, singular = true;
  static constexpr int  flops = 2;
  using Value = T;
  static double unit(const Parameters &p) { return free_unit<T>(p); }
  static double factor(const Parameters &p) { return 1 / (4 * pi * unit(p)); }
  explicit LaplacePotential(const Parameters &) {}

  SHELLAC_INLINE T value(T r2) const { return inverse_sqrt(r2); }
  SHELLAC_INLINE T slope(T r2) const {
    const T inv_r = inverse_sqrt(r2);
    return -inv_r * (inv_r * inv_r);
  }
};

#if SHELLAC_CUDA
template <> struct RoughFunction<LaplacePotential<double>> : LaplacePotential<double> {
  using LaplacePotential<double>::LaplacePotential;
  static constexpr bool             differs = true;
  static double                     factor(const Parameters &p) { return LaplacePotential<double>::factor(p) / 2; }
  __device__ __forceinline__ double value(double r2) const { return rough_inverse_sqrt_twice(r2); }
};
#endif

} // namespace shellac
