#pragma once
// Hierarchy's levels of variable coefficients: their rows, and the weights of interpolation between them.

#include <bitset>

#include "multigrid/setup/ghost_points.hpp"
#include "multigrid/hierarchy.hpp"

namespace shellac {

namespace point {
// An array in another precision. The box numbers its values.
template <class From, class To> struct Convert {
  Box         box;
  const From *from;
  To         *to;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = box.index(p);
    for (int i = 0; i < n; i++) to[at + i] = (To)from[at + i];
  }
};

// Points that couplings hold, and those of them that get nothing from coarse points.
struct LossSums {
  PetscReal all, lost;
};
using Losses = Findings<Nothing, LossSums>;
struct CountLost {
  CouplingArrays     rows;
  const PetscScalar *weights;
  int                corners;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, Losses *found) const {
    const size_t at = rows.grown.index(p), points = rows.points();
    for (int i = 0; i < n; i++) {
      PetscScalar sum = 0, couplings = 0;
      if (rows.slot(INVERSE_DIAGONAL)[at + i] == (PetscScalar)0) continue;
      for (int slot = FIRST_COUPLING; slot < rows.slots(); slot++) couplings += rows.slot(slot)[at + i];
      if (couplings == (PetscScalar)0) continue;
      for (int c = 0; c < corners; c++) sum += weights[c * points + at + i];
      found->sums.all += 1;
      if (sum == (PetscScalar)0) found->sums.lost += 1;
    }
  }
};

} // namespace point

template <class Part> Box Hierarchy<Part>::grown(const Level &at) const {
  Box box = at.patch.all();
  for (int a = 0; a < 3; a++) {
    const PetscInt reach = level_reach(at.patch, a),
                   shared = at.one_walk ? PetscMax(reach, points_beyond(at.part.steps) + 1) : reach;
    box.lo[a] -= at.patch.neighbour[a][LOWER] ? shared : reach;
    box.hi[a] += at.patch.neighbour[a][UPPER] ? shared : reach;
  }
  return box;
}

// A rank's rows, of several ranks, become those of its patch of the level, and of points beyond it. Where another rank has
// the level, they go there.
template <class Part> PetscErrorCode Hierarchy<Part>::Grow(int l, Halo &halo, const Couplings &own, Couplings *rows) {
  Level         &at = level(l);
  std::vector<S> part, gathered;
  const bool     gather = gathers(l - 1);

  PetscFunctionBegin;
  rows->grown = grown(at);
  rows->neighbours = own.neighbours;
  if (works(l)) PetscCall(rows->MakeZero(PETSC_MEMTYPE_HOST));
  const auto copy = [&](const S *from, S *to) {
    PetscFunctionBegin;
    if (gather) {
      const Box all = part_patch(at).all();
      part.resize((size_t)all.points());
      gathered.resize((size_t)at.patch.all().points());
      copy_points(all, own.grown, from, all, part.data());
      PetscCall(at.shared.Gather(PETSC_MEMTYPE_HOST, 1, part.data(), gathered.data()));
      from = gathered.data();
    }
    if (!works(l)) PetscFunctionReturn(PETSC_SUCCESS);
    copy_points(at.patch.all(), gather ? at.patch.all() : own.grown, from, rows->grown, to);
    PetscCall(fill_ghosts(PETSC_MEMTYPE_HOST, at.patch, &halo, rows->grown, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (int n = 0; n < own.slots(); n++) PetscCall(copy(own.slot(n), works(l) ? rows->slot(n) : nullptr));
  int weighted = own.mass ? 1 : 0;
  if (gather || !at.whole) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &weighted, 1, MPI_INT, MPI_MAX, grid_.comm));
  if (weighted) {
    PetscCall(rows->MakeMass(PETSC_MEMTYPE_HOST));
    std::fill_n(rows->mass, rows->points(), S(1));
    PetscCall(copy(own.mass, rows->mass));
    if (l == 0 && gather) PetscCall(BringToOthers(rows->grown, &rows->memory_of_mass, 1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Arrays [points of grown] of the finest level, which is whole, to the points that the ranks without it have of it.
template <class Part>
template <class V>
PetscErrorCode Hierarchy<Part>::BringToOthers(const Box &grown, Mirror<V> *arrays, int count) {
  Level         &top = level(0);
  const Box      all = top.patch.all();
  const size_t   points = (size_t)grown.points();
  std::vector<V> room((size_t)all.points());
  V             *values = nullptr;

  PetscFunctionBegin;
  if (!shares_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(works_ ? arrays->Edit(PETSC_MEMTYPE_HOST, &values)
                   : arrays->MakeZero(PETSC_MEMTYPE_HOST, (size_t)count * points, &values));
  for (int n = 0; n < count; n++, values += points) {
    if (works_) copy_points(all, grown, values, all, room.data());
    PetscCall(top.shared.Scatter(PETSC_MEMTYPE_HOST, 1, room.data()));
    if (!works_) copy_points(all, all, room.data(), grown, values);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The smoother's weights: Chebyshev's, by a bound on all eigenvalues of D^-1 A. Directed sweeps have none.
template <class Part> void Hierarchy<Part>::set_omega(Level &at, PetscReal high) {
  if (nonsymmetric_) return;
  // far into what the coarse grid sees: where coefficients jump, it sees that less well
  const PetscReal low = PetscReal(0.3) * high * weakest_share(at.axes, at.to_next);
  set_chebyshev_weights(low, high, at.part.steps, at.part.omega);
}

// A level takes its rows over, and the weights.
template <class Part>
PetscErrorCode Hierarchy<Part>::Keep(PetscMemType memory, Level &at, Couplings *rows, Mirror<S> *weights,
                                     Mirror<S> *restriction) {
  PetscFunctionBegin;
  at.part.grown = rows->grown;
  at.part.neighbours = rows->neighbours;
  if constexpr (std::is_same<T, S>::value) {
    at.rows.swap(&rows->memory_of_values);
    at.weights.swap(weights);
    at.restriction.swap(restriction);
    at.mass.swap(&rows->memory_of_mass);
  } else {
    const auto convert = [&](Mirror<S> *from, Mirror<T> *to) {
      const S *values;
      T       *converted;
      PetscFunctionBegin;
      PetscCall(from->Get(memory, &values));
      PetscCall(to->Make(memory, from->size(), &converted));
      const Box &grown = rows->grown;
      const Box  all = {{0, 0, 0},
                        {grown.size(0), grown.size(1) * grown.size(2), (PetscInt)(from->size() / rows->points())}};
      PetscCall(for_each_run(memory, all, point::Convert<S, T>{all, values, converted}));
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    PetscCall(convert(&rows->memory_of_values, &at.rows));
    PetscCall(convert(weights, &at.weights));
    PetscCall(convert(restriction, &at.restriction));
    PetscCall(convert(&rows->memory_of_mass, &at.mass));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The weights of all points of a level, from these rows. gaps: null, or room for marks, among obstacles.
template <class Part>
PetscErrorCode Hierarchy<Part>::Interpolate(int l, Halo &halo, const CouplingArrays &rows, S *weights,
                                            Scratch<S> *gaps) {
  constexpr int        rounds = 2; // the second one serves nearly all that the first one leaves
  const GridCoarsening coarsening = coarsening_of(l);
  const int            corners = coarsening.corners();
  const Patch         &patch = level(l).patch;
  const auto           share = [&](int axes) {
    PetscFunctionBegin;
    // a corner has a bit for each axis along which it is the upper one: those with more bits have no weights yet
    for (int c = 0; c < corners; c++)
      if ((int)std::bitset<3>((unsigned)c).count() <= axes)
        PetscCall(fill_ghosts(memory_, patch, &halo, rows.grown, weights + c * rows.points()));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  if (gaps) {
    PetscCall(gaps->Grow(rows.points(), memory_));
    PetscCall(gaps->Zero(memory_));
  }
  for (int axes = 0; (1 << axes) <= corners; axes++) {
    PetscCall(interpolate(memory_, rows, coarsening, axes, weights));
    PetscCall(share(axes));
    for (int round = 0; gaps && axes > 0 && round < rounds; round++) {
      PetscCall(mark_gaps(memory_, rows, coarsening, axes, weights, gaps->at(memory_)));
      PetscCall(fill_ghosts(memory_, patch, &halo, rows.grown, gaps->at(memory_)));
      PetscCall(fill_gaps(memory_, rows, coarsening, gaps->at(memory_), weights));
      PetscCall(share(axes));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The last level's rows, for its solver.
template <class Part> PetscErrorCode Hierarchy<Part>::SetLastRows(Couplings *own, bool *failed) {
  Level   &bottom = level(last());
  const S *values;

  PetscFunctionBegin;
  if (parts_) {
    Couplings rows;
    Halo      none;
    PetscCall(Grow(last(), none, *own, &rows));
    if (!works(last())) PetscFunctionReturn(PETSC_SUCCESS);
    own->swap(&rows);
  }
  CouplingArrays on_host = *own;
  PetscCall(own->memory_of_values.Get(PETSC_MEMTYPE_HOST, &values));
  on_host.values = const_cast<S *>(values);
  PetscCall(solver_.Create(on_host, bottom.patch, failed));
  bottom.part.grown = own->grown;
  bottom.part.neighbours = own->neighbours;
  if constexpr (std::is_same<T, S>::value) last_values_.assign(values, values + own->slots() * own->points());
  last_rows_.swap(&own->memory_of_values);
  last_rows_.change().clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether so many points of the fluid have got no weights that coarser levels hardly serve the others.
template <class Part>
PetscErrorCode Hierarchy<Part>::Loses(const CouplingArrays &rows, const Patch &patch, const S *weights, int corners,
                                      MPI_Comm comm, bool *loses) {
  constexpr PetscReal most = 1e-4;
  point::Losses       found;

  PetscFunctionBegin;
  PetscCall(get_sum_of_runs(memory_, patch.all(), point::CountLost{rows, weights, corners}, &found));
  PetscCall(found.Share(comm));
  *loses = found.sums.lost > most * found.sums.all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::DropBelow(int l) {
  PetscFunctionBegin;
  for (; last() > l; levels_.pop_back()) {
    Level &at = level(last());
    PetscCall(at.shared.Destroy());
    if (at.whole) continue;
    PetscCall(at.halo_b.Destroy());
    PetscCall(at.halo_u.Destroy());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// From the finest level's rows, which go, to all levels; of a window, those of the next level take their place. All is
// where they are; the host waits once, for what it needs to know.
template <class Part> PetscErrorCode Hierarchy<Part>::SetRows(OperatorRows *of, bool *failed) {
  constexpr bool         same = std::is_same<T, S>::value;
  const PetscMemType     memory = of->memory;
  Couplings              own;
  std::vector<RowBound>  bounds;
  std::vector<PetscReal> high;

  PetscFunctionBegin;
  memory_ = memory;
  rows_comm_ = of->comm;
  own.swap(&of->couplings);
  PetscCall(of->bounds.Grow(max_levels, memory));
  PetscCall(of->bounds.Zero(memory));
  for (int l = 0; l < last() + relaxes(); l++) {
    Level    &at = level(l);
    Couplings rows;
    Mirror<S> of_weights, of_restriction;
    Halo      halo; // of the set-up's precision, on the host
    S        *weights, *restriction;
    if (!at.whole) PetscCall(halo.Create(at.grid, at.patch, true, PETSC_FALSE, HaloWay::automatic));
    if (parts_)
      PetscCall(Grow(l, halo, own, &rows));
    else
      rows.swap(&own);
    if (!works(l)) { // nor the next ones
      PetscCall(Keep(memory, at, &rows, &of_weights, &of_restriction));
      if (l == last()) PetscFunctionReturn(PETSC_SUCCESS);
      break;
    }
    if (!of->nonsymmetric)
      PetscCall(sum_runs(memory, at.patch.all(), BoundRows{rows}, &of->bound_parts, of->bounds.at(memory) + l));
    at.equal_pairs = !nonsymmetric_ && !rows.mass && (l > 0 || of->equal_pairs);
    at.halves = at.equal_pairs && PetscMemTypeHost(memory);
    if (l == last()) { // it is relaxed, and there are no transfers
      if (!at.whole) PetscCall(halo.Destroy());
      PetscCall(Keep(memory, at, &rows, &of_weights, &of_restriction));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    const GridCoarsening coarsening = coarsening_of(l);
    const int            corners = coarsening.corners();
    if constexpr (same) of_weights.take_memory(&at.weights), of_restriction.take_memory(&at.restriction);
    PetscCall(of_weights.MakeZero(memory, corners * rows.points(), &weights));
    if (of->nonsymmetric) {
      CouplingArrays derived = rows;
      PetscCall(of->derived.Grow(rows.slots() * rows.points(), memory));
      derived.values = of->derived.at(memory);
      PetscCall(derive_rows(memory, at.patch, rows, DerivedRows::symmetric_part, derived));
      PetscCall(Interpolate(l, halo, derived, weights, nullptr));
      PetscCall(derive_rows(memory, at.patch, rows, DerivedRows::transpose, derived));
      PetscCall(of_restriction.MakeZero(memory, corners * rows.points(), &restriction));
      PetscCall(Interpolate(l, halo, derived, restriction, nullptr));
    } else {
      // a window does not know what its neighbours' points take
      PetscCall(Interpolate(l, halo, rows, weights, of->has_obstacles && !window_ ? &of->coarsening.total : nullptr));
      restriction = weights;
    }
    if (of->nonsymmetric) PetscCall(for_each_run(memory, rows.grown, point::DampRows{rows}));
    bool loses = false; // levels that the user counts are all made, and so are those of which others are elsewhere
    if (of->has_obstacles && !(of->nonsymmetric || opposite_ || rows.mass || below_ || window_ || options_.levels))
      PetscCall(Loses(rows, at.patch, weights, corners, at.whole ? PETSC_COMM_SELF : of->comm, &loses));
    if (loses) {
      CouplingArrays on_host = rows;
      const S       *values;
      PetscCall(rows.memory_of_values.Get(PETSC_MEMTYPE_HOST, &values));
      on_host.values = const_cast<S *>(values);
      PetscCall(algebraic_.Create(at.whole ? PETSC_COMM_SELF : of->comm, on_host, at.patch, &halo, device_, l ? 1 : 2));
      if (!at.whole) PetscCall(halo.Destroy());
      PetscCall(DropBelow(l));
      *failed = false;
      break;
    }
    if (!at.whole) PetscCall(halo.Destroy());
    // the next level's rows; those of this rank, where it is put together from the ranks' parts
    const Patch coarse = target_patch(l);
    own.grown = parts_ ? coarse.all() : grown(level(l + 1));
    own.neighbours.star = false;
    for (int a = 0; a < 3; a++) own.neighbours.present[a] = coarse.N[a] > 1;
    if (l + 1 == last())
      own.memory_of_values.take_memory(&last_rows_);
    else if constexpr (same)
      own.memory_of_values.take_memory(&level(l + 1).rows);
    PetscCall(own.MakeZero(memory));
    PetscCall(coarsen(memory, rows, coarsening, weights, restriction, coarse, own, &of->coarsening));
    if (of->nonsymmetric) PetscCall(for_each_run(memory, coarse.all(), point::AddDiffusion{own, NeighbourList(own)}));
    if (!parts_) PetscCall(fill_ghosts(memory, coarse, nullptr, own.grown, own.values, own.slots()));
    PetscCall(Keep(memory, at, &rows, &of_weights, &of_restriction));
  }
  if (has_line_) PetscFunctionReturn(PETSC_SUCCESS);
  if (window_)
    of->couplings.swap(&own);
  else if (!algebraic_.serves() && (works(last()) || gathers(last() - 1)))
    PetscCall(SetLastRows(&own, failed));
  if (shares_) {
    int found[] = {-last(), *failed};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_MAX, of->comm));
    PetscCall(DropBelow(-found[0]));
    *failed = found[1];
  }
  PetscCall(of->bounds.GetHost(memory, &bounds));
  for (const RowBound &bound : bounds) high.push_back(bound.high);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, high.data(), max_levels, MPIU_REAL, MPIU_MAX, of->comm));
  for (int l = 0; l < last(); l++) set_omega(level(l), high[l]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The transposed rows of a level whose rows no masses make symmetric, with the steps' damping, from the present ones.
template <class Part> PetscErrorCode Hierarchy<Part>::SetTransposedRows(int l) {
  PetscFunctionBegin;
  if (!works(l)) PetscFunctionReturn(PETSC_SUCCESS);
  if constexpr (variable) {
    Level             &at = level(l);
    const PetscMemType memory = at.whole ? memory_ : PETSC_MEMTYPE_HOST;
    const Part        &part = at.part;
    if (!at.transposed_rows.size()) {
      Halo           halo; // of PETSc's numbers, on the host
      CouplingArrays rows, transposed;
      Scratch<S>     of_rows, of_transposed;
      const T       *values;
      T             *to;
      const size_t   n = at.rows.size();
      rows.grown = part.grown;
      rows.neighbours = part.neighbours;
      transposed = rows;
      const Box all = {{0, 0, 0}, {(PetscInt)rows.points(), rows.slots(), 1}};
      PetscCall(of_rows.Grow(n, memory));
      PetscCall(of_transposed.Grow(n, memory));
      PetscCall(of_transposed.Zero(memory));
      rows.values = of_rows.at(memory);
      transposed.values = of_transposed.at(memory);
      PetscCall(at.rows.Get(memory, &values));
      PetscCall(for_each_run(memory, all, point::Convert<T, S>{all, values, rows.values}));
      if (!at.whole) PetscCall(halo.Create(at.grid, at.patch, true, PETSC_FALSE, HaloWay::automatic));
      PetscCall(fill_ghosts(memory, at.patch, &halo, rows.grown, rows.values, rows.slots()));
      if (!at.whole) PetscCall(halo.Destroy());
      PetscCall(derive_rows(memory, at.patch, rows, DerivedRows::all_of_transpose, transposed));
      PetscCall(at.transposed_rows.MakeZero(memory, n, &to));
      PetscCall(for_each_run(memory, all, point::Convert<S, T>{all, transposed.values, to}));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> void Hierarchy<Part>::LendMemory(Couplings *to) {
  if constexpr (std::is_same<T, S>::value) {
    to->memory_of_values.take_memory(&level(0).rows);
    to->memory_of_mass.take_memory(&level(0).mass);
  }
}

} // namespace shellac
