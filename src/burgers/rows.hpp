#pragma once
// Loops over rows of cells on the host that do not depend on the flux: compiled once, for each kind of vector unit.

#include "burgers/operations.hpp"
#include "burgers/reconstruct.hpp"

namespace shellac {

// The values at both faces of cells.
template <class Reconstruction> struct RowEdges {
  // Of the cells -1 to n of a row: lower[-1 .. n] and upper[-1 .. n] from u[-1 - radius .. n + radius].
  static void along(const PetscReal *u, PetscInt n, PetscReal *lower, PetscReal *upper);
  // Across rows, of the n cells of rows[radius]: rows[0 .. 2 radius] lie one above the other.
  static void across(const PetscReal *const *rows, PetscInt n, PetscReal *lower, PetscReal *upper);
};
extern template struct RowEdges<Minmod<PetscReal>>;
extern template struct RowEdges<VanLeer<PetscReal>>;
extern template struct RowEdges<Weno5<PetscReal>>;

// Interleaved components: apart, and together again.
void take_apart(const PetscReal *both, PetscInt n, PetscReal *u, PetscReal *v);
void put_together(const PetscReal *u, const PetscReal *v, PetscInt n, PetscReal *both);

// Stage s of a step of Δt: u[0..n) from u, its rates, and the state u0 at the start of the step.
void advance_row(const Stages &stages, int s, PetscInt n, const PetscReal *u0, PetscReal dt, const PetscReal *rate,
                 PetscReal *u);

// The largest |x|, as its bits.
unsigned long long largest_bits(const PetscReal *x, PetscInt n);

// The n cells of a tile as `length` vectors of lane_count values, see lanes.hpp; past the end, the last cell's value.
constexpr int lane_count = 8;
void          into_lanes(const PetscReal *from, PetscInt n, PetscInt length, PetscReal *to);

} // namespace shellac
