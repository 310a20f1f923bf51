// What a rank makes of the levels of several ranks' GPUs: hierarchies of windows, and of the levels that it has wholly.

#include "multigrid/setup/coarse_grids.hpp"
#include "multigrid/setup/ghost_points.hpp"
#include "multigrid/setup/read_couplings.hpp"
#include "multigrid/smoothing_weights.hpp"
#include "multigrid/spread.hpp"

namespace shellac {

namespace {

constexpr PetscMemType on_gpu = PETSC_MEMTYPE_DEVICE;

// A window's points couple nothing outside: its margin may hold any values.
struct LeaveOutside {
  Patch          patch;
  CouplingArrays rows;
  NeighbourList  neighbours;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = rows.grown.index(p);
    for (int arm = 0; arm < neighbours.count; arm++)
      for (int a = 0; a < 3; a++) {
        const PetscInt q = p[a] + neighbours.at[arm].d[a];
        if (!patch.periodic[a] && (q < 0 || q >= patch.N[a])) neighbours.at[arm].coupling[at] = 0;
      }
  }
};

} // namespace

Grid SpreadMultigrid::grid_at(int l) const {
  Grid grid = whole_grid(levels_[(size_t)l]->parts);
  grid.comm = PETSC_COMM_SELF;
  return grid;
}

Patch SpreadMultigrid::patch_at(int l) const {
  const Axis *axes = levels_[(size_t)l]->axes;
  Grid        grid = grid_at(l);

  take_window(box_at(l), &grid);
  Patch patch = patch_of(grid, axes, 1);
  for (int a = 0; a < 3; a++) patch.periodic[a] = patch.periodic[a] && patch.N[a] == axes[a].N();
  return patch;
}

// The passes of a level's window write the next level's b, and read its x, where these have all points of the window: not
// around a periodic axis.
void SpreadMultigrid::FindNext(int l) {
  Level    &at = *levels_[(size_t)l];
  const Box box = box_at(l + 1), window = at.windows[rank_].of[1];
  bool      has_all = true;

  at.next = {};
  for (int a = 0; a < 3; a++) has_all = has_all && window.lo[a] >= box.lo[a] && window.hi[a] <= box.hi[a];
  if (!has_all) return;
  at.next.coarse = patch_at(l + 1);
  at.next.coarse.width = max_smoothing_steps; // as far as passes read around a periodic axis
  for (int a = 0; a < 3; a++) at.next.coarse.start[a] = box.lo[a] - window.lo[a];
  at.next.coarse_b = b_at(l + 1).at(on_gpu);
  at.next.coarse_x = x_at(l + 1).at(on_gpu);
}

// A level's rows at the points of its patch, from those of the ranks. there: this rank's in `from`
PetscErrorCode SpreadMultigrid::BringRows(const CouplingArrays &from, const Box &there, int l, const Patch &patch,
                                          Couplings *to) {
  const Box all = patch.all();
  Filling  &way = l == 0 ? *enter_ : levels_[(size_t)l]->around;
  Box       inner = all;

  PetscFunctionBegin;
  to->neighbours = from.neighbours;
  to->grown = all;
  for (int a = 0; a < 3; a++) {
    to->grown.lo[a] -= level_reach(patch, a);
    to->grown.hi[a] += level_reach(patch, a);
    if (!patch.periodic[a]) inner.lo[a] = PetscMin(1, all.hi[a]), inner.hi[a] = PetscMax(all.hi[a] - 1, inner.lo[a]);
  }
  PetscCall(to->MakeZero(on_gpu));
  const Box from_box = moved(from.grown, there.lo), to_box = moved(to->grown, box_at(l).lo); // on the grid
  for (int n = 0; n < from.slots(); n++) PetscCall(way.RunOver(from.slot(n), from_box, to->slot(n), to_box));
  PetscCall(for_each(on_gpu, difference(all, inner), LeaveOutside{patch, *to, NeighbourList(*to)}));
  PetscCall(fill_ghosts(on_gpu, patch, nullptr, to->grown, to->values, to->slots()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadMultigrid::CreateLevels(const MultigridInput &of, bool single, bool *failed) {
  MultigridOptions options = of.options;
  Couplings        made; // rows of the next level, of this rank's points `there`
  Box              there = own_;

  PetscFunctionBegin;
  for (int l = 0; l <= last(); l++) {
    Level             &at = *levels_[(size_t)l];
    const LevelWindow *window = l < last() ? &at.windows[rank_] : nullptr;
    const Box          box = box_at(l);
    const Grid         grid = grid_at(l);
    if (!window && options.levels) options.levels -= last();
    at.b.resize((size_t)box.points()), at.x.resize((size_t)box.points());
    if (window && single) at.room.resize((size_t)window->of[1].points());
    for (Scratch<S> *array : {&at.b, &at.x, &at.room}) PetscCall(array->Prepare(on_gpu));
    if (of.rows) {
      made.swap(&of.rows->couplings);
      if (at.of) at.of->LendMemory(&of.rows->couplings);
      PetscCall(BringRows(made, there, l, patch_at(l), &of.rows->couplings));
      if (of.rows->weighted) PetscCall(CompleteRows(patch_at(l), nullptr, of.rows)); // of all points
    }
    PetscCall(CreateMultigrid({grid, at.axes, at.sigma, of.rows, options, of.device, of.way, l > 0, window, dim_},
                              single, &at.of, failed));
    if (window) there = window->of[1];
    if (l > 0) FindNext(l - 1);
  }
  last_is_one_ = levels_.back()->of->levels().size() == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
