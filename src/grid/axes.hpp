#pragma once
// The axes of a grid, from its DM's coordinates.

#include "grid/grid.hpp"

namespace shellac {

struct GridAxis {
  std::vector<PetscReal> x;              // coordinates of the whole grid's points, ascending; empty without coordinates
  bool                   uniform = true; // the spacings are equal
};

// Tells whether a DM's coordinates have been set anew; zeros: it has none.
struct CoordinatesVersion {
  PetscObjectId    id = 0;
  PetscObjectState state = 0;

  PetscErrorCode Read(Vec coordinates) {
    PetscFunctionBegin;
    *this = CoordinatesVersion();
    if (!coordinates) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscObjectGetId((PetscObject)coordinates, &id));
    PetscCall(PetscObjectStateGet((PetscObject)coordinates, &state));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool operator==(const CoordinatesVersion &other) const { return id == other.id && state == other.state; }
};

// The axes whose product the DM's coordinates are. Collective. Errors: no coordinates, or coordinates that are not the
// product of ascending axes.
PetscErrorCode GridGetAxesFromCoordinates(const Grid &grid, DM dm, GridAxis axes[3]);

} // namespace shellac
