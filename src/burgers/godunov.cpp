// The flux of the Riemann problem's exact solution (S. K. Godunov, 1959).

#include "burgers/scheme_operations.hpp"

namespace shellac {

template <class Real> struct Godunov : UpwindTransport<Real> {
  static constexpr const char    *name = "godunov";
  template <class T> SHELLAC_HD T square(T a) const { return a * a; }
  template <class T> SHELLAC_HD T operator()(T a, T b) const {
    // the speed at which a state reaches the face, a > 0 from below or b < 0 from above; no variable: see face_flux()
    return square(where_negative(smaller(-a, b), smaller(-a, b)));
  }
};

std::unique_ptr<BurgersOperations> make_godunov(Reconstruction reconstruction) {
  return make_schemes<Godunov>(reconstruction);
}

} // namespace shellac
