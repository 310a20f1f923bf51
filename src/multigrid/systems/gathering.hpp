#pragma once
// The rows and the vectors of several ranks' GPUs on each of them.

#include <memory>

#include "capture/captured.hpp"
#include "grid/filling.hpp"
#include "multigrid/multigrid.hpp"

namespace shellac {

class Gathering {
public:
  // Collective, as all but Destroy(). may: this rank's rows are on a GPU. *gathering: null where there are more unknowns
  // than each rank can have.
  static PetscErrorCode Create(const Grid &grid, HaloWay way, bool may, const MultigridOptions &options,
                               std::unique_ptr<Gathering> *gathering);
  PetscErrorCode        Destroy();

  // All values [points][dof], on this rank's GPU, from its own in that memory; and the inverse.
  PetscErrorCode GetAll(PetscMemType memory, const PetscScalar *own, PetscScalar *all);
  PetscErrorCode GetOwn(PetscMemType memory, const PetscScalar *all, PetscScalar *own);
  // All rows, with the same arms. room: for all values
  PetscErrorCode GetRows(CapturedStencil &own, CapturedStencil *all, PetscScalar *room);

private:
  MPI_Comm             comm_ = MPI_COMM_NULL;
  Box                  own_ = {}, all_ = {}; // of values: those of a point are next to each other along the first axis
  Filling              filling_;
  Scratch<PetscScalar> values_;       // own ones
  bool                 sound_ = true; // no exchange is under way, as after an error
};

} // namespace shellac
