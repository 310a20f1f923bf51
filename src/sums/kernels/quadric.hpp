#pragma once
// What the two multiquadrics share.

#include <algorithm>

#include "sums/kernels/kernel.hpp"

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

} // namespace shellac
