#pragma once
// The axes of a grid, from its DM's coordinates.

#include "grid/grid.hpp"

namespace shellac {

struct GridAxis {
  std::vector<PetscReal> x;              // coordinates of the whole grid's points, ascending; empty without coordinates
  bool                   uniform = true; // the spacings are equal
};

// The axes whose product the DM's coordinates are. Collective. Errors: no coordinates, or coordinates that are not the
// product of ascending axes.
PetscErrorCode GridGetAxesFromCoordinates(const Grid &grid, DM dm, GridAxis axes[3]);

} // namespace shellac
