// Cycles in single precision, for corrections.

#include "multigrid/hierarchy/make.hpp"

namespace shellac {

PetscErrorCode CreateSingleMultigrid(const MultigridInput &of, std::unique_ptr<Multigrid> *multigrid, bool *failed) {
  return make_hierarchy<Single>(of, multigrid, failed);
}

} // namespace shellac
