// The schemes of this flux.

#include "burgers/scheme_operations.hpp"

namespace shellac {

std::unique_ptr<BurgersOperations> make_godunov(Reconstruction reconstruction) {
  return make_schemes<Godunov>(reconstruction);
}

} // namespace shellac
