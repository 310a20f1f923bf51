#pragma once
// Hierarchy's levels of variable coefficients: their rows, and the weights of interpolation between them.

#include "multigrid/hierarchy.hpp"

namespace shellac {

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

// The values beyond the patch, from the other end of an axis or from neighbouring ranks; zero beyond the domain.
template <class T> PetscErrorCode Hierarchy<T>::FillBeyond(Level &at, Halo &halo, const Box &grown, S *values) {
  const Box      all = at.patch.all();
  std::vector<S> own((size_t)all.points());
  Field<S>       field = {};

  PetscFunctionBegin;
  bool any = !at.whole;
  for (int a = 0; a < 3; a++) any = any || at.patch.periodic[a];
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  const auto place = [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    return grown.index(p);
  };
  for_each_on_host(all,
                   [&](PetscInt i, PetscInt j, PetscInt k) { own[at.patch.index(i, j, k)] = values[place(i, j, k)]; });
  field.u = own.data();
  if (!at.whole) {
    PetscCall(halo.Begin(own.data(), PETSC_MEMTYPE_HOST));
    PetscCall(halo.End());
    field = halo.field();
  }
  const Boxes beyond = difference(grown, all);
  for (int b = 0; b < beyond.count; b++)
    for_each_on_host(beyond.box[b], [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt p[3] = {i, j, k};
      values[place(i, j, k)] = value_at(at.patch, field, p);
    });
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A rank's rows become those of its patch of the level, and of points beyond it.
template <class T> PetscErrorCode Hierarchy<T>::Grow(int l, Halo &halo, const Couplings &own, Couplings *rows) {
  Level         &at = level(l);
  const size_t   points = (size_t)at.patch.all().points();
  std::vector<S> gathered;
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
      gathered.resize(points);
      PetscCall(Gather(at, from, gathered.data()));
      from = gathered.data();
    }
    for_each_on_host(at.patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt p[3] = {i, j, k};
      to[rows->grown.index(p)] = from[at.patch.index(i, j, k)];
    });
    PetscCall(FillBeyond(at, halo, rows->grown, to));
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
  for_each_on_host(at.patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   n = rows.grown.index(p);
    PetscReal      sum = 0;
    for (int slot = FIRST_COUPLING; slot < rows.slots(); slot++) sum += PetscAbsScalar(rows.slot(slot)[n]);
    high = PetscMax(high, 1 + sum * PetscAbsScalar(rows.slot(INVERSE_DIAGONAL)[n]));
  });
  if (!at.whole) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &high, 1, MPIU_REAL, MPIU_MAX, grid_.comm));
  PetscReal sum = 0, least = PETSC_MAX_REAL;
  for (int a = 0; a < 3; a++) {
    if (at.patch.N[a] == 1) continue;
    sum += at.axes[a].strength();
    if (at.to_next[a].coarsens) least = PetscMin(least, at.axes[a].strength());
  }
  // far into what the coarse grid sees: where coefficients jump, it sees that less well
  const PetscReal low = PetscReal(0.3) * high * (least == PETSC_MAX_REAL ? 1 : least / sum);
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
    for (int axes = 0; axes <= 3; axes++) {
      interpolate(rows, coarsening, axes, &weights);
      for (int c = 0; c < coarsening.corners(); c++)
        PetscCall(FillBeyond(at, halo, rows.grown, weights.data() + c * rows.points()));
    }
    if (!at.whole) PetscCall(halo.Destroy());
    coarsen(rows, coarsening, weights, target_patch(l), own);
    at.part.grown = rows.grown;
    at.part.neighbours = rows.neighbours;
    at.rows.change().assign(rows.values.begin(), rows.values.end());
    at.weights.change().assign(weights.begin(), weights.end());
    at.mass.change().assign(rows.mass.begin(), rows.mass.end());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
