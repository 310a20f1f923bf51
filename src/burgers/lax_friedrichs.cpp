// The dissipation of the fastest wave of the whole state (R. J. LeVeque, 2002, ch. 12).

#include "burgers/scheme_operations.hpp"

namespace shellac {

template <class Real> struct LaxFriedrichs {
  static constexpr const char    *name = "lax_friedrichs";
  Real                            speed; // no wave is faster [length/time]
  template <class T> SHELLAC_HD T operator()(T a, T b) const { return Real(0.5) * (a * a + b * b) - speed * (b - a); }
  template <class T> SHELLAC_HD T transport(T q, T a, T b) const { return q * (a + b) - speed * (b - a); }
};

std::unique_ptr<BurgersOperations> make_lax_friedrichs(Reconstruction reconstruction) {
  return make_schemes<LaxFriedrichs>(reconstruction);
}

} // namespace shellac
