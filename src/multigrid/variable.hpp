#pragma once
// Hierarchy's levels of variable coefficients: their rows, and the weights of interpolation between them.

#include <bitset>

#include "multigrid/beyond.hpp"
#include "multigrid/hierarchy.hpp"

namespace shellac {

// An array that is no longer needed, in the level's precision.
template <class T> std::vector<T> converted(std::vector<PetscScalar> *from) {
  if constexpr (std::is_same<T, PetscScalar>::value)
    return std::move(*from);
  else
    return std::vector<T>(from->begin(), from->end());
}

template <class T> GridCoarsening Hierarchy<T>::coarsening_of(int l) const {
  GridCoarsening coarsening;
  coarsening.patch = level(l).patch;
  for (int a = 0; a < 3; a++) {
    coarsening.axis[a].coarsens = level(l).to_next[a].coarsens;
    coarsening.axis[a].offset = level(l).to_next[a].offset;
    coarsening.axis[a].ties_ends = level(l).to_next[a].ties_ends;
    coarsening.coarse_N[a] = level(l + 1).patch.N[a];
  }
  return coarsening;
}

// A rank's rows become those of its patch of the level, and of points beyond it.
template <class T> PetscErrorCode Hierarchy<T>::Grow(int l, Halo &halo, const Couplings &own, Couplings *rows) {
  Level         &at = level(l);
  std::vector<S> part, gathered;
  const bool     gather = parts_ && at.whole && (l == 0 || !level(l - 1).whole);

  PetscFunctionBegin;
  rows->grown = at.patch.all();
  for (int a = 0; a < 3; a++) {
    const PetscInt reach = at.patch.N[a] == 1 ? 0 : at.to_next[a].ties_ends ? 3 : 2;
    rows->grown.lo[a] -= reach;
    rows->grown.hi[a] += reach;
  }
  rows->neighbours = own.neighbours;
  rows->resize();
  const auto copy = [&](const S *from, S *to) {
    PetscFunctionBegin;
    if (gather) {
      const Box all = part_patch(at).all();
      part.resize((size_t)all.points());
      gathered.resize((size_t)at.patch.all().points());
      copy_points(all, own.grown, from, all, part.data());
      PetscCall(Gather(at, part.data(), gathered.data()));
      copy_points(at.patch.all(), at.patch.all(), gathered.data(), rows->grown, to);
    } else
      copy_points(at.patch.all(), own.grown, from, rows->grown, to);
    PetscCall(fill_beyond(at.patch, &halo, rows->grown, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (int n = 0; n < own.slots(); n++) PetscCall(copy(own.slot(n), rows->slot(n)));
  int weighted = own.mass.empty() ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &weighted, 1, MPI_INT, MPI_MAX, grid_.comm));
  if (weighted) {
    rows->mass.assign(rows->points(), 1);
    PetscCall(copy(own.mass.data(), rows->mass.data()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The interval of the smoother: to a bound on all eigenvalues of D^-1 A, by the sums of the rows' absolute entries.
template <class T> PetscErrorCode Hierarchy<T>::SetBounds(Level &at, const Couplings &rows) {
  PetscReal high = 0;

  PetscFunctionBegin;
  std::vector<PetscReal> sum((size_t)at.patch.size[0]);
  for_each_row(at.patch.all(), [&](const PetscInt p[3], PetscInt n) {
    const size_t here = rows.grown.index(p);
    const S     *inverse = rows.slot(INVERSE_DIAGONAL) + here;
    std::fill(sum.begin(), sum.end(), PetscReal(0));
    for (int slot = FIRST_COUPLING; slot < rows.slots(); slot++) {
      const S *coupling = rows.slot(slot) + here;
      for (PetscInt i = 0; i < n; i++) sum[i] += PetscAbsScalar(coupling[i]);
    }
    for (PetscInt i = 0; i < n; i++) high = PetscMax(high, 1 + sum[i] * PetscAbsScalar(inverse[i]));
  });
  if (!at.whole) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &high, 1, MPIU_REAL, MPIU_MAX, grid_.comm));
  PetscReal strength = 0, least = PETSC_MAX_REAL;
  for (int a = 0; a < 3; a++) {
    if (at.patch.N[a] == 1) continue;
    strength += at.axes[a].strength();
    if (at.to_next[a].coarsens) least = PetscMin(least, at.axes[a].strength());
  }
  // far into what the coarse grid sees: where coefficients jump, it sees that less well
  const PetscReal low = PetscReal(0.3) * high * (least == PETSC_MAX_REAL ? 1 : least / strength);
  set_chebyshev_weights(low, high, at.part.steps, at.part.omega);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// From the finest level's rows, which go, to all levels.
template <class T> PetscErrorCode Hierarchy<T>::SetRows(Couplings *own) {
  PetscFunctionBegin;
  memory_ = PETSC_MEMTYPE_HOST;
  for (int l = 0; l <= last(); l++) {
    Level         &at = level(l);
    Couplings      rows;
    std::vector<S> weights;
    Halo           halo; // of the set-up's precision, on the host
    if (!at.whole) PetscCall(halo.Create(at.grid, at.patch, true, PETSC_FALSE, HaloWay::automatic));
    PetscCall(Grow(l, halo, *own, &rows));
    if (l == last()) {
      PetscCall(dense_.Create(rows, at.patch, singular_));
      break;
    }
    PetscCall(SetBounds(at, rows));
    const GridCoarsening coarsening = coarsening_of(l);
    weights.assign(coarsening.corners() * rows.points(), 0);
    for (int axes = 0; (1 << axes) <= coarsening.corners(); axes++) {
      interpolate(rows, coarsening, axes, &weights);
      // a corner has a bit for each axis along which it is the upper one: those with more bits have no weights yet
      for (int c = 0; c < coarsening.corners(); c++)
        if ((int)std::bitset<3>((unsigned)c).count() <= axes)
          PetscCall(fill_beyond(at.patch, &halo, rows.grown, weights.data() + c * rows.points()));
    }
    if (!at.whole) PetscCall(halo.Destroy());
    coarsen(rows, coarsening, weights, target_patch(l), own);
    at.part.grown = rows.grown;
    at.part.neighbours = rows.neighbours;
    at.rows.change() = converted<T>(&rows.values);
    at.weights.change() = converted<T>(&weights);
    at.mass.change() = converted<T>(&rows.mass);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
