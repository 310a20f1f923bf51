// The schemes of this flux.

#include "burgers/scheme_operations.hpp"

namespace shellac {

std::unique_ptr<BurgersOperations> make_lax_friedrichs(Reconstruction reconstruction) {
  return make_schemes<LaxFriedrichs>(reconstruction);
}

} // namespace shellac
