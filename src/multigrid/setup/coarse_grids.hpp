#pragma once
// Which points the ranks have of coarser grids; levels that each rank has wholly.

#include <algorithm>
#include <vector>

#include "device/memory.hpp"
#include "device/scalars.hpp"
#include "grid/grid.hpp"
#include "multigrid/axis.hpp"

namespace shellac {

constexpr PetscInt64 gathered_points = 16384; // levels of so many points are not distributed: see SharedLevel
constexpr PetscReal  most_work_beyond = 1.6;  // see work_beyond(): with more, passes exchange values before each step
constexpr PetscReal  weak_coupling = 0.6;     // an axis with less of the strongest's 1/h² is not coarsened

// Axes of one point become shifts.
inline void fold_single_points(Axis axes[3], PetscScalar *sigma) {
  for (int a = 0; a < 3; a++) {
    if (axes[a].N() > 1) continue;
    if (!axes[a].periodic) *sigma += (axes[a].edge[0] + axes[a].edge[1]) / axes[a].mass[0];
    axes[a].edge.assign(2, 0);
  }
}

// Of the axes that can be coarsened; those of strong couplings are.
inline PetscReal strongest_of(const Axis axes[3]) {
  PetscReal strongest = 0;
  for (int a = 0; a < 3; a++)
    if (can_coarsen(axes[a])) strongest = PetscMax(strongest, axes[a].strength());
  return strongest;
}
inline bool is_coarsened(const Axis &axis, PetscReal strongest) {
  return can_coarsen(axis) && axis.strength() >= weak_coupling * strongest;
}

// What couples points along axes, where any do.
struct AxesCouplings {
  PetscReal sum = 0, weakest = PETSC_MAX_REAL, most = 0; // weakest: of axes that are coarsened; most: at any point
  int       sign = 0;
  bool      mixed = false; // signs

  AxesCouplings(const Axis axes[3], const Coarsening to_next[3] = nullptr) {
    for (int a = 0; a < 3; a++) {
      const Axis &axis = axes[a];
      PetscReal   here = 0;
      if (axis.N() - (axis.fixed ? 2 : 0) <= 1) continue;
      for (PetscInt i = 0; i < axis.N(); i++) {
        if (axis.is_fixed(i)) continue;
        for (const PetscReal edge : {axis.edge[i], axis.edge[i + 1]}) {
          mixed = mixed || edge * sign < 0;
          if (edge != 0) sign = edge < 0 ? -1 : 1;
        }
        here = PetscMax(here, PetscAbsReal((axis.edge[i] + axis.edge[i + 1]) / axis.mass[i]));
      }
      sum += axis.strength();
      most += here;
      if (to_next && to_next[a].coarsens) weakest = PetscMin(weakest, axis.strength());
    }
  }
};

// The weakest coupling along an axis that is coarsened, over that along all axes; one where none is.
inline PetscReal weakest_share(const Axis axes[3], const Coarsening to_next[3]) {
  const AxesCouplings of(axes, to_next);
  return of.weakest == PETSC_MAX_REAL ? 1 : of.weakest / of.sum;
}

// The ratio of relaxations() for a sum over axes.
inline PetscReal ratio_of(const Axis axes[3], PetscScalar sigma) {
  const AxesCouplings of(axes);
  return !of.mixed && of.sign * PetscRealPart(sigma) >= 0 ? of.most / PetscAbsScalar(of.sign * of.most + sigma)
                                                          : PETSC_MAX_REAL;
}

// For halos: what is beyond the ends of an axis that one rank has is on this rank.
inline Grid with_links(Grid grid) {
  for (int a = 0; a < 3; a++)
    if (grid.ranks[a] == 1) grid.boundary[a] = DM_BOUNDARY_NONE;
  return grid;
}

// A rank's points of a grid, with values of one unknown, and a halo along the axes that ranks share.
inline Patch patch_of(const Grid &grid, const Axis axes[3], PetscInt width) {
  Patch patch = with_links(grid).owned_patch();
  for (int a = 0; a < 3; a++) patch.periodic[a] = axes[a].periodic;
  patch.width = width;
  patch.dof = 1;
  return patch;
}

// Whether a rank has fewer points along an axis than its neighbours need of them.
inline bool is_thin(const Grid &grid, PetscInt width) {
  bool thin = false;
  for (int a = 0; a < 3; a++)
    for (PetscMPIInt r = 0; grid.ranks[a] > 1 && r < grid.ranks[a]; r++)
      thin = thin || grid.first[a][r + 1] - grid.first[a][r] < width;
  return thin;
}

// The points that the smallest rank's passes compute where they go beyond its own, at first so many along an axis and
// at last none, over its own.
inline PetscReal work_beyond(const Grid &grid, PetscInt beyond) {
  PetscReal work = 1;
  for (int a = 0; a < 3; a++) {
    if (grid.ranks[a] == 1) continue;
    PetscInt   least = grid.N[a];
    const bool between = grid.ranks[a] > 2 || grid.periodic(a); // two other ranks
    for (PetscMPIInt r = 0; r < grid.ranks[a]; r++) least = PetscMin(least, grid.first[a][r + 1] - grid.first[a][r]);
    work *= 1 + (between ? 1 : PetscReal(0.5)) * beyond / PetscMax(least, (PetscInt)1);
  }
  return work;
}

// The axes up to the last one of several points.
inline int dimension_of(const Grid &grid) {
  int dim = 0;
  for (int a = 0; a < 3; a++)
    if (grid.N[a] > 1) dim = a + 1;
  return dim;
}

// The grid with these axes on one rank.
inline Grid whole_grid(Grid grid) {
  for (int a = 0; a < 3; a++) {
    grid.ranks[a] = 1;
    grid.place[a] = 0;
    grid.start[a] = 0;
    grid.size[a] = grid.N[a];
    grid.first[a] = {0, grid.N[a]};
    grid.boundary[a] = DM_BOUNDARY_NONE;
  }
  return grid;
}

// A grid on one rank becomes these points alone.
inline void take_window(const Box &box, Grid *grid) {
  for (int a = 0; a < 3; a++) {
    grid->N[a] = grid->size[a] = box.size(a);
    grid->first[a] = {0, grid->N[a]};
  }
}

// The coarse points go with the fine ones that they are.
inline Grid coarse_grid(Grid grid, const Axis coarse[3], const Coarsening coarsening[3]) {
  for (int a = 0; a < 3; a++) {
    grid.N[a] = coarse[a].N();
    for (PetscInt &first : grid.first[a])
      if (coarsening[a].coarsens) first = PetscMin(PetscMax((first - coarsening[a].offset + 1) / 2, 0), grid.N[a]);
    grid.first[a].back() = grid.N[a];
    grid.first[a].front() = 0;
    grid.start[a] = grid.first[a][grid.place[a]];
    grid.size[a] = grid.first[a][grid.place[a] + 1] - grid.start[a];
  }
  return grid;
}

} // namespace shellac
