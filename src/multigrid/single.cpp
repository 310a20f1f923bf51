// Cycles in single precision, for corrections.

#include "multigrid/hierarchy.hpp"

namespace shellac {

PetscErrorCode CreateSingleMultigrid(const Grid &grid, const Axis axes[3], PetscScalar sigma, OperatorRows *rows,
                                     const MultigridOptions &options, PetscBool device, HaloWay way,
                                     std::unique_ptr<Multigrid> *multigrid) {
  auto made = std::make_unique<Hierarchy<SingleOf<PetscScalar>::type>>();

  PetscFunctionBegin;
  const PetscErrorCode code = made->Create(grid, axes, sigma, rows, options, device, way, multigrid->get());
  if (code) PetscCall(made->Destroy());
  PetscCall(code);
  if (*multigrid) PetscCall((*multigrid)->Destroy());
  *multigrid = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
