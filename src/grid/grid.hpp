#pragma once
// The grid of a DMDA: sizes, spacings, ownership.

#include <string>
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
  PetscInt              dof = 1;     // values at a point
  PetscInt              width = 0;   // of the DMDA's stencil [points]
  bool                  box = false; // its stencil is a box, not a star
  std::vector<PetscInt> first[3];    // first index of each place along an axis, and N at the end
  std::vector<PetscInt> offset;      // first global row of each rank, and the number of rows

  PetscMPIInt rank_at(const PetscMPIInt at[3]) const { return at[0] + ranks[0] * (at[1] + ranks[1] * at[2]); }
  bool        periodic(int axis) const { return boundary[axis] == DM_BOUNDARY_PERIODIC && N[axis] > 1; }

  // Rank of the neighbour in that direction, or -1 where the grid ends; this rank itself around a periodic axis it owns.
  PetscMPIInt neighbour(const Direction &to) const;
  bool        is_distributed_as(const Grid &other) const; // each rank has the same points
  Patch       owned_patch() const;                        // this rank's points, with a halo as wide as the stencil

  // The DMDA's global row of the first value at the point with these indices on the whole grid. And the inverse: the
  // point of a row, the component c; the result is the rank that owns the row.
  PetscInt    global_row(const PetscInt p[3]) const;
  PetscMPIInt find_row(PetscInt row, PetscInt p[3], PetscInt *c) const;
};

// Reads a DMDA (1-D to 3-D).
// Errors: a DM of another type, a twisted boundary; collectively, naming the value and the remedy.
PetscErrorCode GridCreate(DM dm, Grid *grid);

// An error for a vector with another distribution than the grid's, with so many values a point, 0: as the DMDA; name: the
// vector in the message. Every rank knows the whole layout, so ranks agree without communication.
PetscErrorCode GridCheckVector(const Grid &grid, Vec v, const char *name, PetscInt values = 0);

std::string text_of(const PetscInt i[], int n); // of indices or steps: "(2, 3)"

// Spacing along each axis and coordinates of the grid's first point, from the DM's coordinates. Without coordinates both are
// as given, and so is the h of an axis of one point. (DMGetBoundingBox() takes in ghost points that have no coordinates.)
// Errors: coordinates that are not an ascending, uniform product grid.
PetscErrorCode GridGetSpacingFromCoordinates(const Grid &grid, DM dm, PetscReal h[3], PetscReal origin[3]);

inline Box box_of(const Grid &grid) {
  return {{0, 0, 0}, {grid.N[0], grid.N[1], grid.N[2]}};
}

// The points of a rank, on the whole grid.
inline Box part_of(const Grid &grid, PetscMPIInt rank) {
  const PetscMPIInt place[3] = {rank % grid.ranks[0], rank / grid.ranks[0] % grid.ranks[1],
                                rank / grid.ranks[0] / grid.ranks[1]};
  Box               part;
  for (int a = 0; a < 3; a++) part.lo[a] = grid.first[a][place[a]], part.hi[a] = grid.first[a][place[a] + 1];
  return part;
}

inline std::vector<Box> boxes_of(const Grid &parts) { // of all ranks
  std::vector<Box>  boxes;
  const PetscMPIInt ranks = parts.ranks[0] * parts.ranks[1] * parts.ranks[2];
  for (PetscMPIInt rank = 0; rank < ranks; rank++) boxes.push_back(part_of(parts, rank));
  return boxes;
}

} // namespace shellac
