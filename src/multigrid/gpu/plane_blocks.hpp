#pragma once
// How passes on a GPU in three dimensions divide a level: blocks of threads that walk along the third axis.

#include "device/chain.hpp"
#include "grid/patch.hpp"

#if SHELLAC_CUDA
namespace shellac {

struct PlaneBlocks {
  PetscInt planes;    // that a block writes
  PetscInt blocks[3]; // along the axes

  PetscInt64 count() const { return (PetscInt64)blocks[0] * blocks[1] * blocks[2]; }
};

// For blocks that write so many columns and rows, and at least and at most so many planes: enough for the whole GPU, whose
// multiprocessors run `at_once` of them each, if the level is large enough; with as many planes as that allows, since blocks
// overlap.
inline PlaneBlocks plan_planes(const Patch &patch, PetscInt columns, PetscInt rows, PetscInt least, PetscInt most,
                               int at_once) {
  PlaneBlocks plan = {};
  plan.blocks[0] = (patch.size[0] + columns - 1) / columns;
  plan.blocks[1] = (patch.size[1] + rows - 1) / rows;
  const PetscInt64 across = (PetscInt64)plan.blocks[0] * plan.blocks[1],
                   layers = PetscMax((PetscInt64)multiprocessors() * at_once / across, (PetscInt64)1);
  plan.planes = PetscMin(PetscMax((PetscInt)((patch.size[2] + layers - 1) / layers), least), most);
  plan.blocks[2] = (patch.size[2] + plan.planes - 1) / plan.planes;
  return plan;
}

} // namespace shellac
#endif
