// Twice the central difference, which has no reconstruction.

#include "burgers/scheme_operations.hpp"

namespace shellac {

// -(f(u_{i+1}) - f(u_{i-1}))/h, f = u²/2: twice the central difference, which divides by 2h.
template <class Real_> struct CentralDoubled {
  using Real = Real_;
  static constexpr const char *name = "central_doubled";
  static constexpr bool        has_faces = false;
  static constexpr int         edge_radius = 0, radius = 1;
  Coefficients<Real>           at;

  SHELLAC_HD                             CentralDoubled(const Coefficients<Real> &c) : at(c) {}
  template <class T> static SHELLAC_HD T flux(T u) { return u * u / Real(2); }
  template <class T> SHELLAC_HD T        rate(T below, T above) const {
           const T difference = -(flux(above) - flux(below));
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<T,
                                 double>) { // the quotient, correctly rounded, in a sixth of a division's instructions:
      const double inverse = 2 * at.inv_2h; // P. W. Markstein, 1990
      double       q = difference * inverse;
      q = __fma_rn(__fma_rn(-at.h, q, difference), inverse, q);
      return __fma_rn(__fma_rn(-at.h, q, difference), inverse, q);
    }
#endif
    return difference / at.h;
  }
};

std::unique_ptr<BurgersOperations> make_central_doubled(Reconstruction reconstruction) {
  if (reconstruction != Reconstruction::constant) return nullptr;
  return std::make_unique<SchemeOperations<CentralDoubled<PetscReal>>>(
      CentralDoubled<PetscReal>::name, Constant<PetscReal>::name, 0.5,
      make_host_scheme<CentralDoubled<PetscReal>>(reconstruction));
}

} // namespace shellac
