// Cycles in the precision of PETSc's scalars.

#include "multigrid/hierarchy.hpp"

namespace shellac {

PetscErrorCode CreateMultigrid(const Grid &grid, const Axis axes[3], PetscScalar sigma, const MultigridOptions &options,
                               bool single, PetscBool device, HaloWay way, std::unique_ptr<Multigrid> *multigrid) {
  auto made = std::make_unique<Hierarchy<PetscScalar>>();

  PetscFunctionBegin;
  if (single) {
    PetscCall(CreateSingleMultigrid(grid, axes, sigma, options, device, way, multigrid));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(made->Create(grid, axes, sigma, options, device, way));
  *multigrid = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
