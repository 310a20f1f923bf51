#pragma once
// The axes of a grid, from its DM's coordinates.

#include "grid/grid.hpp"

namespace shellac {

struct GridAxis {
  std::vector<PetscReal> x; // coordinates of the whole grid's points, ascending; empty of an axis of one point
  bool                   uniform = true; // the spacings are equal
};

// The axes that the DM's coordinates are the product of. Collective. Errors: no coordinates; others than a product of ascending
// axes.
PetscErrorCode GridGetAxesFromCoordinates(const Grid &grid, DM dm, GridAxis axes[3]);

} // namespace shellac
