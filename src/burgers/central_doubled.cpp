// The doubled central difference, which has no reconstruction.

#include "burgers/scheme_operations.hpp"

namespace shellac {

std::unique_ptr<BurgersOperations> make_central_doubled(Reconstruction reconstruction) {
  if (reconstruction != Reconstruction::constant) return nullptr;
  return std::make_unique<SchemeOperations<CentralDoubled<PetscReal>>>(CentralDoubled<PetscReal>::name,
                                                                       Constant<PetscReal>::name, 0.5);
}

} // namespace shellac
