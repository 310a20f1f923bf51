// What a rank makes of the levels of several ranks' GPUs: hierarchies of windows, and of the levels that it has wholly.

#include "multigrid/setup/coarse_grids.hpp"
#include "multigrid/setup/ghost_points.hpp"
#include "multigrid/setup/read_couplings.hpp"
#include "multigrid/spread.hpp"

namespace shellac {

namespace {

constexpr PetscMemType on_gpu = PETSC_MEMTYPE_DEVICE;

Box without_place(const Box &box) {
  return {{0, 0, 0}, {box.size(0), box.size(1), box.size(2)}};
}

Grid of_one_rank(Grid grid) {
  grid = whole_grid(grid);
  grid.comm = PETSC_COMM_SELF;
  return grid;
}

Patch patch_of_window(Grid grid, const Axis axes[3], const Box &window) {
  take_window(window, &grid);
  Patch patch = patch_of(grid, axes, 1);
  for (int a = 0; a < 3; a++) patch.periodic[a] = patch.periodic[a] && patch.N[a] == axes[a].N();
  return patch;
}

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

// A level's rows at the points of a patch, from those of the ranks. there: this rank's in `from`, of which they go the way
// of a level's values. array: of the level, over the patch.
PetscErrorCode SpreadMultigrid::BringRows(const CouplingArrays &from, const Box &there, Filling *way,
                                          const Patch &patch, S *array, Couplings *to) {
  const Box  all = patch.all(), own = without_place(there);
  Box        inner = all;
  Scratch<S> packed;

  PetscFunctionBegin;
  to->neighbours = from.neighbours;
  to->grown = all;
  for (int a = 0; a < 3; a++) {
    to->grown.lo[a] -= level_reach(patch, a);
    to->grown.hi[a] += level_reach(patch, a);
    if (!patch.periodic[a]) inner.lo[a] = PetscMin(1, all.hi[a]), inner.hi[a] = PetscMax(all.hi[a] - 1, inner.lo[a]);
  }
  PetscCall(to->MakeZero(on_gpu));
  PetscCall(packed.Grow((size_t)own.points(), on_gpu));
  for (int n = 0; n < from.slots(); n++) {
    PetscCall(CopyBox(own, from.slot(n), from.grown, packed.at(on_gpu), own));
    PetscCall(way->Run(packed.at(on_gpu), array));
    PetscCall(CopyBox(all, array, all, to->slot(n), to->grown));
  }
  PetscCall(for_each(on_gpu, difference(all, inner), LeaveOutside{patch, *to, NeighbourList(*to)}));
  PetscCall(fill_ghosts(on_gpu, patch, nullptr, to->grown, to->values, to->slots()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// axes, sigma, parts: of the first level that each rank has wholly.
PetscErrorCode SpreadMultigrid::CreateLevels(const MultigridInput &of, bool single, const Axis axes[3],
                                             PetscScalar sigma, const Grid &parts, bool *failed) {
  MultigridOptions options = of.options;
  Couplings        made; // rows of the next level, of this rank's points `there`
  Box              there = own_;
  Filling         *way = enter_.get();

  PetscFunctionBegin;
  if (of.rows) made.swap(&of.rows->couplings);
  // rows for `to`, in its memory if there is one of before
  const auto bring = [&](const Grid &grid, const Axis axes_here[3], const Box &window, S *array, Multigrid *to) {
    const Patch patch = patch_of_window(grid, axes_here, window);
    PetscFunctionBegin;
    if (!of.rows) PetscFunctionReturn(PETSC_SUCCESS);
    if (to) to->LendMemory(&of.rows->couplings);
    PetscCall(BringRows(made, there, way, patch, array, &of.rows->couplings));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (auto &level : levels_) {
    Level             &at = *level;
    const Grid         grid = of_one_rank(at.parts);
    const LevelWindow &window = at.windows[rank_];
    const bool         below = level != levels_.front();
    at.b.resize((size_t)window.of[0].points()), at.x.resize((size_t)window.of[0].points());
    if (single) at.room.resize((size_t)window.of[1].points());
    for (Scratch<S> *array : {&at.b, &at.x, &at.room}) PetscCall(array->Prepare(on_gpu));
    PetscCall(bring(grid, at.axes, window.of[0], at.b.at(on_gpu), at.of.get()));
    PetscCall(CreateMultigrid({grid, at.axes, at.sigma, of.rows, options, of.device, of.way, below, &window, dim_},
                              single, &at.of, failed));
    if (of.rows) made.swap(&of.rows->couplings);
    there = window.of[1];
    way = &at.down;
  }
  const Grid grid = of_one_rank(parts);
  if (options.levels) options.levels -= last();
  for (Scratch<S> *array : {&whole_b_, &whole_x_}) {
    array->resize((size_t)box_of(grid).points());
    PetscCall(array->Prepare(on_gpu));
  }
  PetscCall(bring(grid, axes, box_of(grid), whole_b_.at(on_gpu), whole_.get()));
  PetscCall(CreateMultigrid({grid, axes, sigma, of.rows, options, of.device, of.way, last() > 0, nullptr, dim_}, single,
                            &whole_, failed));
  solves_ = whole_->levels().size() == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
