// The third seed's differences; without a reconstruction.

#include "burgers/scheme_operations.hpp"

namespace shellac {

std::unique_ptr<BurgersOperations> make_seed(Reconstruction reconstruction) {
  if (reconstruction != Reconstruction::constant) return nullptr;
  return std::make_unique<SchemeOperations<SeedDifference<PetscReal>>>(SeedDifference<PetscReal>::name,
                                                                       Constant<PetscReal>::name, 0.5);
}

} // namespace shellac
