#pragma once
// What the thin plate and the logarithm share.

#include "sums/kernels/kernel.hpp"

namespace shellac {

// log2(r²) of distances in units: that of the unit is added where it is not 1.
template <class T> struct ScaledLogarithm {
  explicit ScaledLogarithm(double unit) : of_unit((T)(2 * std::log2(unit))) {}
  SHELLAC_INLINE T of(T r2) const {
    if constexpr (sizeof(T) == sizeof(float))
      return log2_nonnegative(r2) + of_unit;
    else
      return log2_nonnegative(r2);
  }
  T of_unit;
};

} // namespace shellac
