#pragma once
// The grid of a DMDA as operators see it: sizes, spacings, who owns what.

#include <vector>

#include "grid/patch.hpp"

namespace shellac {

struct Grid {
  MPI_Comm              comm = MPI_COMM_NULL; // the DMDA's
  int                   dim = 0;
  PetscInt              N[3];        // points of the whole grid along each axis
  PetscInt              start[3];    // global index of this rank's first point
  PetscInt              size[3];     // points that this rank owns
  PetscMPIInt           ranks[3];    // the DMDA's rank grid
  PetscMPIInt           place[3];    // this rank's place in it
  DMBoundaryType        boundary[3]; // the DMDA's
  std::vector<PetscInt> first[3];    // first index of each place along an axis, and N at the end
  std::vector<PetscInt> offset;      // first global row of each rank

  PetscMPIInt rank_at(const PetscMPIInt at[3]) const { return at[0] + ranks[0] * (at[1] + ranks[1] * at[2]); }
  bool        periodic(int axis) const { return boundary[axis] == DM_BOUNDARY_PERIODIC && N[axis] > 1; }

  // Rank of the neighbour at that end, or -1 where the grid ends; this rank itself around a periodic axis it owns.
  PetscMPIInt neighbour(int axis, Side end) const;

  // The DMDA's global row of the point with these indices on the whole grid.
  PetscInt global_row(const PetscInt p[3]) const;
};

// Reads a DMDA (1-D to 3-D, one degree of freedom).
// Errors: a DM of another type, dof != 1, a twisted boundary; collectively, naming the value and the remedy.
PetscErrorCode GridCreate(DM dm, Grid *grid);

// Spacing along each axis from the DM's coordinates, for axes of two points or more; all others keep the h
// that they are given. Errors: coordinates that are not an ascending, uniform product grid.
PetscErrorCode GridGetSpacingFromCoordinates(const Grid &grid, DM dm, PetscReal h[3]);

} // namespace shellac
