#pragma once
// What set-up changes in the rows of convection.

#include "device/runs.hpp"
#include "multigrid/couplings.hpp"

namespace shellac {
namespace point {

// Of n rows from one on: the sum of the absolute entries, over the diagonal one.
template <int most> SHELLAC_RUN void bound_run(const CouplingArrays &rows, size_t at, int n, PetscReal bound[most]) {
  const PetscScalar *inverse = rows.slot(INVERSE_DIAGONAL) + at;
  const int          slots = rows.slots();
  fill_run(bound, n, PetscReal(0));
  SHELLAC_UNROLL
  for (int slot = FIRST_COUPLING; slot < slots; slot++)
    for (int i = 0; i < n; i++) bound[i] += PetscAbsScalar(rows.slot(slot)[at + i]);
  for (int i = 0; i < n; i++) bound[i] = 1 + bound[i] * PetscAbsScalar(inverse[i]);
}

// Makes coarse rows of convection stable. Galerkin products approach central differences from level to level: couplings of
// the wrong sign, and on coarse grids hardly an inverse. Where one of two opposite couplings has the wrong sign, `part` of
// it is added to both. That is diffusion: linear functions see none of it.
struct AddDiffusion {
  static constexpr double part = 0.1; // more takes more iterations, and 0.02 is too little for some winds

  CouplingArrays rows;
  NeighbourList  neighbours;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = rows.grown.index(p);
    PetscScalar *inverse = rows.slot(INVERSE_DIAGONAL) + at, sum[most]; // of what is added, over the diagonal
    fill_run(sum, n, PetscScalar(0));
    for (int arm = 0; arm < neighbours.count; arm++) {
      const Neighbour &to = neighbours.at[arm];
      PetscScalar     *c = to.coupling + at, *opposite = neighbours.at[to.back].coupling + at;
      if (arm > to.back) continue;
      for (int i = 0; i < n; i++) {
        const PetscReal least = PetscMin(PetscRealPart(c[i] * inverse[i]), PetscRealPart(opposite[i] * inverse[i]));
        if (!(least < 0) || c[i] == PetscScalar(0) || opposite[i] == PetscScalar(0)) continue;
        const PetscScalar added = -(PetscReal)part * least / inverse[i];
        c[i] += added, opposite[i] += added;
        sum[i] += 2 * added * inverse[i];
      }
    }
    for (int i = 0; i < n; i++) inverse[i] /= PetscReal(1) + sum[i];
  }
};

// Takes less of a step where a row is not diagonally dominant, as coarse rows of convection may be not.
struct DampRows {
  CouplingArrays rows;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = rows.grown.index(p);
    PetscReal    of_row[most];
    bound_run<most>(rows, at, n, of_row);
    for (int i = 0; i < n; i++) rows.slot(INVERSE_DIAGONAL)[at + i] *= 2 / PetscMax(2, of_row[i]);
  }
};

} // namespace point
} // namespace shellac
