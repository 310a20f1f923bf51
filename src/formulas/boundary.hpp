#pragma once
// The ends of a domain: they replace the entry of a neighbour beyond an end by entries at the points inside that its value
// depends on. This is independent of formula and storage.

#include "grid/grid.hpp"
#include "shellac.h"

namespace shellac {

struct Ends {                   // of one axis
  PetscInt               N = 1; // points
  bool                   periodic = false, mirror = false;
  MatLaplaceBoundaryType form[2] = {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_ELIMINATED}; // [side]; neither of the above
  PetscReal              robin[2] = {0, 0}; // [side]: α of ∂u/∂n + αu = g [1/length]; 0 but for that form
  PetscReal              h = 1;             // spacing [length]

  // The distance between an end and its last point is half, none or all of a spacing.
  static PetscReal distance(MatLaplaceBoundaryType form) {
    switch (form) { // each form, and no default: the compiler names what a new one lacks
    case MAT_LAPLACE_ELIMINATED: return 1;
    case MAT_LAPLACE_IDENTITY: return 0;
    case MAT_LAPLACE_NEUMANN:
    case MAT_LAPLACE_ROBIN: return 0.5;
    }
    return NAN;
  }
  // The length of the domain in spacings.
  PetscReal intervals() const {
    return periodic ? N : mirror ? N - 1 : N - 1 + distance(form[LOWER]) + distance(form[UPPER]);
  }
  SHELLAC_HD bool identity(PetscInt i) const { // a row at the point i is the identity's
    return !periodic && !mirror &&
           ((i == 0 && form[LOWER] == MAT_LAPLACE_IDENTITY) || (i == N - 1 && form[UPPER] == MAT_LAPLACE_IDENTITY));
  }
  bool gives_derivative(PetscInt i) const { // i is beyond an end whose condition contains ∂u/∂n
    if (periodic || mirror || (i >= 0 && i < N)) return false;
    return distance(form[i < 0 ? LOWER : UPPER]) == 0.5;
  }
  // Whether points along the axis are coupled: there are others than a single point that is its own neighbour.
  SHELLAC_HD bool couples() const { return !(periodic && N == 1); }
  // A constant function satisfies the condition with g = 0.
  bool holds_constants(Side side) const { return periodic || mirror || (form[side] == MAT_LAPLACE_NEUMANN); }

  // The cell of the point i, in spacings: a mirror cuts it in half.
  SHELLAC_HD PetscReal cell(PetscInt i) const { return mirror && (i == 0 || i == N - 1) ? 0.5 : 1; }

  // The point that corresponds to i by periodicity or reflection in a mirror; i itself beyond other ends.
  SHELLAC_HD PetscInt within(PetscInt i) const {
    if (periodic) return (i % N + N) % N;
    if (!mirror || (i >= 0 && i < N)) return i;
    const PetscInt period = PetscMax(2 * (N - 1), 1), p = (i % period + period) % period;
    return p < N ? p : period - p;
  }
  // The value at i, which may be beyond an end, is *factor times the value at *inside, plus *given times the boundary's
  // datum g. If the factor is zero, it depends on no point inside. Neumann and Robin conditions hold half a spacing beyond
  // the last point, for the mean and the difference of the two adjacent values; values farther away follow by odd
  // (Dirichlet) or even (Neumann) reflection.
  SHELLAC_HD void fold(PetscInt i, PetscInt *inside, PetscReal *factor, PetscReal *given) const;
};

SHELLAC_HD void Ends::fold(PetscInt i, PetscInt *inside, PetscReal *factor, PetscReal *given) const {
  *factor = 1;
  *given = 0;
  while (!periodic && (i < 0 || i >= N)) {
    const Side     side = i < 0 ? LOWER : UPPER;
    const PetscInt m = side == LOWER ? -i : i - N + 1; // steps beyond the last point
    PetscInt       depth = m;                          // of the reflected point, in steps from the last
    if (!mirror) switch (form[side]) {                 // no default, as above
      case MAT_LAPLACE_IDENTITY: // about the last point
        *given += 2 * *factor;
        *factor = -*factor;
        break;
      case MAT_LAPLACE_ELIMINATED: // about the first point beyond
        depth = m - 2;
        *given += (m == 1 ? 1 : 2) * *factor;
        *factor = m == 1 ? 0 : -*factor;
        break;
      case MAT_LAPLACE_NEUMANN:
      case MAT_LAPLACE_ROBIN: // ∂u/∂n + αu = g at the middle of the reflection
        const PetscReal length = (2 * m - 1) * h, mean = robin[side] * length / 2;
        depth = m - 1;
        *given += *factor * length / (1 + mean);
        *factor *= (1 - mean) / (1 + mean);
        break;
      }
    if (*factor == 0) {
      i = side == LOWER ? 0 : N - 1;
      break;
    }
    i = side == LOWER ? depth : N - 1 - depth;
  }
  *inside = i;
}

} // namespace shellac
