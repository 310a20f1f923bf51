// The schemes of this flux.

#include "burgers/scheme_operations.hpp"

namespace shellac {

std::unique_ptr<BurgersOperations> make_central(Reconstruction reconstruction) {
  return make_schemes<Central>(reconstruction);
}

} // namespace shellac
