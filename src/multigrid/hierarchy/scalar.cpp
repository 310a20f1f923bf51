// Cycles in the precision of PETSc's scalars.

#include "multigrid/hierarchy/make.hpp"

namespace shellac {

PetscErrorCode CreateMultigrid(const MultigridInput &of, bool single, std::unique_ptr<Multigrid> *multigrid,
                               bool *failed) {
  return single ? CreateSingleMultigrid(of, multigrid, failed) : make_hierarchy<PetscScalar>(of, multigrid, failed);
}

} // namespace shellac
