// Cycles in the precision of PETSc's scalars.

#include "multigrid/hierarchy/make.hpp"

namespace shellac {

PetscErrorCode CreateMultigrid(const MultigridInput &of, bool single, std::unique_ptr<Multigrid> *multigrid,
                               bool *failed) {
  bool serves = false;

  PetscFunctionBegin;
  PetscCall(CreateSpreadMultigrid(of, single, multigrid, &serves, failed));
  if (serves) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(single ? CreateSingleMultigrid(of, multigrid, failed) : make_hierarchy<PetscScalar>(of, multigrid, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
