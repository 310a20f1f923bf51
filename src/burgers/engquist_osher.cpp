// The schemes of this flux.

#include "burgers/scheme_operations.hpp"

namespace shellac {

std::unique_ptr<BurgersOperations> make_engquist_osher(Reconstruction reconstruction) {
  return make_schemes<EngquistOsher>(reconstruction);
}

} // namespace shellac
