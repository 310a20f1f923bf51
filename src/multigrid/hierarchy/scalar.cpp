// Cycles in the precision of PETSc's scalars.

#include "multigrid/hierarchy/make.hpp"

namespace shellac {

PetscErrorCode CreateMultigrid(const Grid &grid, const Axis axes[3], PetscScalar sigma, OperatorRows *rows,
                               const MultigridOptions &options, bool single, PetscBool device, HaloWay way,
                               std::unique_ptr<Multigrid> *multigrid, bool *failed) {
  PetscFunctionBegin;
  if (single) {
    PetscCall(CreateSingleMultigrid(grid, axes, sigma, rows, options, device, way, multigrid, failed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(make_hierarchy<PetscScalar>(grid, axes, sigma, rows, options, device, way, multigrid, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
