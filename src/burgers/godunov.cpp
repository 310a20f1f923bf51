// The flux of the Riemann problem's exact solution (S. K. Godunov, 1959).

#include "burgers/scheme_operations.hpp"

namespace shellac {

template <class Real> struct Godunov : UpwindTransport<Real> {
  static constexpr const char    *name = "godunov";
  template <class T> SHELLAC_HD T operator()(T a, T b) const {
    return larger(where_positive(a, a * a), where_negative(b, b * b));
  }
};

std::unique_ptr<BurgersOperations> make_godunov(Reconstruction reconstruction) {
  return make_schemes<Godunov>(reconstruction);
}

} // namespace shellac
