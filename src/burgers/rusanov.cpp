// The schemes of this flux.

#include "burgers/scheme_operations.hpp"

namespace shellac {

std::unique_ptr<BurgersOperations> make_rusanov(Reconstruction reconstruction) {
  return make_schemes<Rusanov>(reconstruction);
}

} // namespace shellac
