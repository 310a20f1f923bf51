// Upwind for each sign of the speed (B. Engquist and S. Osher, 1980, eq. 2.9).

#include "burgers/scheme_operations.hpp"

namespace shellac {

template <class Real> struct EngquistOsher : UpwindTransport<Real> {
  static constexpr const char    *name = "engquist_osher";
  template <class T> SHELLAC_HD T operator()(T a, T b) const {
    return where_positive(a, a * a) + where_negative(b, b * b);
  }
};

std::unique_ptr<BurgersOperations> make_engquist_osher(Reconstruction reconstruction) {
  return make_schemes<EngquistOsher>(reconstruction);
}

} // namespace shellac
