#include "formulas/boundary.hpp"

namespace shellac {

void Ends::fold(PetscInt i, PetscInt *inside, PetscReal *factor, PetscReal *given) const {
  *factor = 1;
  *given = 0;
  while (!periodic && (i < 0 || i >= N)) {
    const Side     side = i < 0 ? LOWER : UPPER;
    const PetscInt m = side == LOWER ? -i : i - N + 1; // steps beyond the last point
    PetscInt       depth;                              // of the reflected point, in steps from the last
    if (mirror)
      depth = m;
    else if (form[side] == MAT_LAPLACE_IDENTITY) { // about the last point
      depth = m;
      *given += 2 * *factor;
      *factor = -*factor;
    } else if (form[side] == MAT_LAPLACE_ELIMINATED) { // about the first point beyond
      depth = m - 2;
      *given += (m == 1 ? 1 : 2) * *factor;
      *factor = m == 1 ? 0 : -*factor;
    } else { // ∂u/∂n + αu = g at the middle of the reflection
      const PetscReal distance = (2 * m - 1) * h, mean = robin[side] * distance / 2;
      depth = m - 1;
      *given += *factor * distance / (1 + mean);
      *factor *= (1 - mean) / (1 + mean);
    }
    if (*factor == 0) {
      i = side == LOWER ? 0 : N - 1;
      break;
    }
    i = side == LOWER ? depth : N - 1 - depth;
  }
  *inside = i;
}

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
