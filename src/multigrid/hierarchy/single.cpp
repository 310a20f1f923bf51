// Cycles in single precision, for corrections.

#include "multigrid/hierarchy/make.hpp"

namespace shellac {

PetscErrorCode CreateSingleMultigrid(const Grid &grid, const Axis axes[3], PetscScalar sigma, OperatorRows *rows,
                                     const MultigridOptions &options, PetscBool device, HaloWay way,
                                     std::unique_ptr<Multigrid> *multigrid, bool *failed) {
  PetscFunctionBegin;
  PetscCall(
      make_hierarchy<SingleOf<PetscScalar>::type>(grid, axes, sigma, rows, options, device, way, multigrid, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
