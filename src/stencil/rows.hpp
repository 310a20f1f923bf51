#pragma once
// The rows of an operator on a patch: a formula inside the domain, identity rows where the grid carries boundary
// nodes, and what MatShift() and MatDiagonalSet() add to the diagonal. Pure data, for host and device.

#include "grid/patch.hpp"

namespace shellac {

template <class T, template <class> class Formula> struct Rows {
  Patch      patch;
  Formula<T> formula;
  T          identity; // the diagonal entry of identity rows
  T          shift;    // added to every row's diagonal
  const T   *diagonal; // added likewise, point by point; null for none

  // p's row times the grid function whose star at p is given
  template <int dim> SHELLAC_HD T row(const Star<T, dim> &star, const PetscInt p[3]) const {
    T value = shift * star.center + (patch.template is_identity_row<dim>(p) ? identity * star.center : formula(star));
    if (diagonal) value += diagonal[patch.index(p[0], p[1], p[2])] * star.center;
    return value;
  }

  // The entry of p's row at p itself; p is on the patch.
  template <int dim> SHELLAC_HD T entry(const PetscInt p[3]) const {
    return row<dim>(Star<T, dim>::unit(patch, p, -1, LOWER), p);
  }

  // The entry of p's row at its neighbour; p may be one step off the patch.
  template <int dim> SHELLAC_HD T entry(const PetscInt p[3], int axis, Side end) const {
    if (patch.template is_identity_row<dim>(p) || patch.leaves_domain(p, axis, end)) return 0;
    return formula(Star<T, dim>::unit(patch, p, axis, end));
  }

  // The transpose's entry of p's row at its neighbour: what the neighbour's row has at p.
  template <int dim> SHELLAC_HD T transposed_entry(const PetscInt p[3], int axis, Side end) const {
    if (patch.leaves_domain(p, axis, end)) return 0;
    PetscInt q[3] = {p[0], p[1], p[2]};
    q[axis] += end == LOWER ? -1 : 1;
    return entry<dim>(q, axis, end == LOWER ? UPPER : LOWER);
  }
  template <int dim> SHELLAC_HD T transposed_row(const Star<T, dim> &star, const PetscInt p[3]) const {
    T value = entry<dim>(p) * star.center;
    for (int a = 0; a < dim; a++)
      for (int e = 0; e < 2; e++) value += transposed_entry<dim>(p, a, (Side)e) * star.arm[a][e];
    return value;
  }
};

} // namespace shellac
