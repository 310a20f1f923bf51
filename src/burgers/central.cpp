// The mean of the fluxes of both states.

#include "burgers/scheme_operations.hpp"

namespace shellac {

template <class Real> struct Central {
  static constexpr const char    *name = "central";
  template <class T> SHELLAC_HD T operator()(T a, T b) const { return Real(0.5) * (a * a + b * b); }
  template <class T> SHELLAC_HD T transport(T q, T a, T b) const { return q * (a + b); }
};

std::unique_ptr<BurgersOperations> make_central(Reconstruction reconstruction) {
  return make_schemes<Central>(reconstruction);
}

} // namespace shellac
