#include "formulas/boundary.hpp"

namespace shellac {

void get_ends(const Grid &grid, const MatLaplaceBoundaryType forms[3][2], const PetscReal robin[3][2], Ends ends[3]) {
  for (int a = 0; a < 3; a++) {
    ends[a].N = grid.N[a];
    ends[a].periodic = a >= grid.dim || grid.boundary[a] == DM_BOUNDARY_PERIODIC;
    ends[a].mirror = a < grid.dim && grid.boundary[a] == DM_BOUNDARY_MIRROR;
    for (int side = 0; side < 2; side++) {
      ends[a].form[side] = forms[a][side];
      ends[a].robin[side] = forms[a][side] == MAT_LAPLACE_ROBIN ? robin[a][side] : 0;
    }
  }
}

} // namespace shellac
