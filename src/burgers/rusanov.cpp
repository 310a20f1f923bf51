// The dissipation of the faster of the two states (V. V. Rusanov, 1961).

#include "burgers/scheme_operations.hpp"

namespace shellac {

template <class Real> struct Rusanov {
  static constexpr const char    *name = "rusanov";
  template <class T> SHELLAC_HD T operator()(T a, T b) const {
    return Real(0.5) * (a * a + b * b) - larger(magnitude(a), magnitude(b)) * (b - a);
  }
  template <class T> SHELLAC_HD T transport(T q, T a, T b) const { return q * (a + b) - magnitude(q) * (b - a); }
};

std::unique_ptr<BurgersOperations> make_rusanov(Reconstruction reconstruction) {
  return make_schemes<Rusanov>(reconstruction);
}

} // namespace shellac
