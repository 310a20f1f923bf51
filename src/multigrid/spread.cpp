#include "multigrid/spread.hpp"

#include <algorithm>
#include <cstring>

#include "device/memory.hpp"
#include "multigrid/setup/coarse_grids.hpp"
#include "multigrid/setup/ghost_points.hpp"
#include "multigrid/setup/read_couplings.hpp"
#include "multigrid/smoothing_weights.hpp"

namespace shellac {

namespace {

constexpr PetscMemType on_gpu = PETSC_MEMTYPE_DEVICE;
constexpr PetscReal    largest_window = 0.8; // of a level

// So many points beside a rank's own, and an even number before them: colours, and which points are coarse ones, are in the
// window as they are on the level.
LevelWindow window_of(const Grid &parts, const Axis axes[3], const Coarsening to_next[3], const Axis coarse[3],
                      const Box &own, PetscInt reach) {
  LevelWindow window;
  window.own = own;
  for (int a = 0; a < 3; a++) {
    const PetscInt N = axes[a].N();
    PetscInt      &lo = window.of[0].lo[a], &hi = window.of[0].hi[a];
    lo = 0, hi = N;
    if (parts.ranks[a] > 1) {
      lo = own.lo[a] - reach, hi = own.hi[a] + reach;
      lo -= lo & 1;
      if (!axes[a].periodic) lo = PetscMax(lo, 0), hi = PetscMin(hi, N);
      PetscInt most = 0; // of a rank's points: all ranks take the whole of a periodic axis, or none does
      for (PetscMPIInt r = 0; r < parts.ranks[a]; r++)
        most = PetscMax(most, parts.first[a][(size_t)r + 1] - parts.first[a][(size_t)r]);
      if (axes[a].periodic && most + 2 * reach + 1 >= N) lo = 0, hi = N;
    }
    PetscInt &coarse_lo = window.of[1].lo[a], &coarse_hi = window.of[1].hi[a];
    coarse_lo = lo, coarse_hi = hi;
    if (!to_next[a].coarsens) continue;
    coarse_lo = lo / 2;
    const bool     to_end = lo == 0 && hi == N;
    const PetscInt last = hi - lo - (axes[a].fixed ? 2 : 1) - to_next[a].offset; // from the first coarse point on
    coarse_hi = to_end ? coarse[a].N() : coarse_lo + (last >= 0 ? last / 2 + 1 : 0);
  }
  return window;
}

} // namespace

// The levels that are spread, and the first that is not.
PetscErrorCode SpreadMultigrid::Plan(const MultigridInput &of, bool *serves) {
  const MultigridOptions &options = of.options;
  const bool              variable = of.rows != nullptr, weighted = variable && of.rows->weighted;
  const bool              real = variable ? !PetscDefined(USE_COMPLEX) : PetscImaginaryPart(of.sigma) == 0;
  auto                    level = std::make_unique<Level>();

  PetscFunctionBegin;
  dim_ = dimension_of(grid_);
  level->parts = with_links(grid_);
  level->sigma = of.sigma;
  std::copy_n(of.axes, 3, level->axes);
  if (box_of(grid_).points() > options.most_whole(false)) { // how values travel decides
    FillingBoxes boxes;
    Filling      probe;
    for (const Box &own : boxes_of(level->parts)) {
      boxes.own.push_back({{own.lo[0], own.lo[1], own.lo[2]}, {own.lo[0] + 1, own.lo[1] + 1, own.lo[2] + 1}});
      boxes.wanted.push_back(box_of(grid_));
    }
    boxes.from = boxes.own[rank_], boxes.to = box_of(grid_);
    PetscCall(probe.Create(grid_.comm, boxes, of.way));
    direct_ = probe.direct();
    PetscCall(probe.Destroy(true));
  }
  const PetscInt64 whole = options.most_whole(direct_);
  const int        steps = PetscMax(smoothing_steps(options.smooths, dim_, variable, !variable && dim_ == 3),
                                    smoothing_steps(options.smooths, dim_, variable, false));
  const PetscInt   reach = 2 * steps + 6; // of the steps of a visit and of two transfers
  *serves = true;
  while (true) {
    Axis *const axes = level->axes;
    Coarsening  to_next[3];
    auto        next = std::make_unique<Level>();
    PetscInt64  most = 0;
    fold_single_points(axes, &level->sigma);
    const PetscInt64 points = box_of(level->parts).points();
    if (points <= whole) break;
    const bool      first = levels_.empty();
    const PetscReal strongest = strongest_of(axes), ratio = !variable ? ratio_of(axes, level->sigma)
                                                            : first   ? of.rows->ratio
                                                                      : PETSC_MAX_REAL;
    *serves = !weighted && strongest > 0 && !relaxations(ratio, real, options.full) &&
              (!options.levels || options.levels > (PetscInt)levels_.size() + 1);
    for (int a = 0; a < 3; a++) *serves = *serves && !(axes[a].periodic && axes[a].N() > 1 && axes[a].N() % 2);
    if (!*serves) break;
    for (int a = 0; a < 3; a++) next->axes[a] = coarsen(axes[a], is_coarsened(axes[a], strongest), &to_next[a]);
    for (const Box &box : boxes_of(level->parts)) {
      level->windows.push_back(window_of(level->parts, axes, to_next, next->axes, box, reach));
      most = PetscMax(most, level->windows.back().of[0].points());
    }
    if ((PetscReal)most > largest_window * (PetscReal)points) {
      *serves = !first || points <= 8 * whole; // each rank could hold all of it
      level->windows.clear();
      break;
    }
    next->parts = coarse_grid(level->parts, next->axes, to_next);
    next->sigma = level->sigma;
    levels_.push_back(std::move(level));
    level = std::move(next);
  }
  levels_.push_back(std::move(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Levels of one with the same windows, whose arrays and ways serve again.
void SpreadMultigrid::TakeFrom(SpreadMultigrid *from) {
  const auto same = [](const LevelWindow &one, const LevelWindow &other) { return !memcmp(&one, &other, sizeof(one)); };
  bool       all = last() == from->last() && way_ == from->way_ && grid_.is_distributed_as(from->grid_);
  for (int l = 0; all && l <= last(); l++) {
    const auto &here = levels_[(size_t)l]->windows, &there = from->levels_[(size_t)l]->windows;
    all = all && std::equal(here.begin(), here.end(), there.begin(), there.end(), same);
  }
  if (!all) return;
  for (int l = 0; l <= last(); l++) {
    Level &at = *levels_[(size_t)l], &its = *from->levels_[(size_t)l];
    std::copy_n(at.axes, 3, its.axes);
    its.parts = at.parts;
    its.sigma = at.sigma;
  }
  levels_.swap(from->levels_);
  enter_.swap(from->enter_);
#if SHELLAC_CUDA
  graphs_.TakeFrom(&from->graphs_);
#endif
}

// The ways of values between the levels' arrays.
PetscErrorCode SpreadMultigrid::Connect() {
  PetscFunctionBegin;
  const auto windows_of = [](const Level &level) {
    std::vector<Box> windows;
    for (const LevelWindow &window : level.windows) windows.push_back(window.of[0]);
    return windows;
  };
  for (int l = 0; l <= last(); l++) {
    const bool   spread = l < last();
    const Grid  &here = levels_[(size_t)l]->parts;
    const auto   own = boxes_of(here);
    const Box    all = box_of(here);
    FillingBoxes to_here;
    for (int a = 0; a < 3; a++) to_here.period[a] = here.ranks[a] > 1 && axes_[a].periodic ? here.N[a] : 0;
    to_here.own = own;
    to_here.wanted = spread ? windows_of(*levels_[(size_t)l]) : std::vector<Box>(own.size(), all);
    to_here.to = to_here.wanted[rank_];
    if (l == 0) {
      to_here.from = own[rank_];
      PetscCall(enter_->Create(grid_.comm, to_here, way_));
      if (!spread) break;
    }
    to_here.from = to_here.to;
    PetscCall(levels_[(size_t)l]->around.Create(grid_.comm, to_here, way_));
    if (spread) continue;
    to_here.own = {all};
    to_here.to = levels_[(size_t)l - 1]->windows[rank_].of[1];
    to_here.wanted = {to_here.to};
    PetscCall(levels_[(size_t)l]->leave.Create(PETSC_COMM_SELF, to_here, way_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

Box SpreadMultigrid::own_at(int l) const {
  return part_of(levels_[(size_t)l]->parts, (PetscMPIInt)rank_);
}

Box SpreadMultigrid::box_at(int l) const {
  const Level &at = *levels_[(size_t)l];
  return l < last() ? at.windows[rank_].of[0] : box_of(at.parts);
}

PetscErrorCode SpreadMultigrid::Create(const MultigridInput &of, bool single, SpreadMultigrid *from, bool *serves,
                                       bool *failed) {
  PetscMPIInt rank;

  PetscFunctionBegin;
  options_ = of.options;
  way_ = of.way;
  grid_ = of.grid;
  PetscCallMPI(MPI_Comm_rank(grid_.comm, &rank));
  rank_ = (size_t)rank;
  own_ = part_of(grid_, rank);
  std::copy_n(of.axes, 3, axes_);
  PetscCall(Plan(of, serves));
  if (!*serves) PetscFunctionReturn(PETSC_SUCCESS);
  int sound = from && from->sound_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sound, 1, MPI_INT, MPI_MIN, grid_.comm));
  if (sound) TakeFrom(from);
  if (!enter_) {
    enter_ = std::make_unique<Filling>();
    PetscCall(Connect());
  }
  if (!last()) direct_ = enter_->direct(); // it goes from all to all
  sound_ = false;
  const PetscErrorCode code = CreateLevels(of, single, failed);
  int                  found[] = {code ? rank + 1 : 0, *failed}; // what one rank finds is so on all
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_MAX, grid_.comm));
  PetscCall(code);
  PetscCheck(!found[0], PETSC_COMM_SELF, PETSC_ERR_LIB,
             "rank %d cannot make the levels of stencilmg on its GPU; its own error says why", found[0] - 1);
  *failed = found[1];
  sound_ = true;
  options_.cycle = levels_.back()->of->cycle(); // as these rows take it
  int gives = levels_[0]->of->gives_norm(on_gpu);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &gives, 1, MPI_INT, MPI_MIN, grid_.comm));
  gives_norm_ = gives;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadMultigrid::Destroy() {
  PetscFunctionBegin;
  for (auto &level : levels_) {
    if (level->of) PetscCall(level->of->Destroy());
    for (Filling *way : {&level->around, &level->leave}) PetscCall(way->Destroy(sound_));
  }
  levels_.clear();
  if (enter_) PetscCall(enter_->Destroy(sound_));
#if SHELLAC_CUDA
  PetscCall(graphs_.Destroy());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a level's window makes becomes the next level's right-hand side.
PetscErrorCode SpreadMultigrid::Lower(int l, bool from_x, const Verb &make) {
  Level   &at = *levels_[(size_t)l];
  S *const next = b_at(l + 1).at(on_gpu);
  const S *b;

  PetscFunctionBegin;
  PetscCall(at.of->CopyIn(from_x));
  PetscCall(make(*at.of));
  if (!at.outside.coarse_b) {
    PetscCall(at.of->GetCoarse(at.room.at(on_gpu), &b));
    PetscCall(CopyBox(own_at(l + 1), b, at.windows[rank_].of[1], next, box_at(l + 1)));
  }
  PetscCall(levels_[(size_t)l + 1]->around.Run(next, next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The window gets the next level's solution, and uses it.
PetscErrorCode SpreadMultigrid::Raise(int l, const Verb &use) {
  Level    &at = *levels_[(size_t)l];
  const Box wanted = at.windows[rank_].of[1];
  S *const  next = x_at(l + 1).at(on_gpu);

  PetscFunctionBegin;
  if (l + 1 < last()) PetscCall(levels_[(size_t)l + 1]->around.Run(next, next));
  if (!at.outside.coarse_b)
    PetscCall(at.of->SetCoarse(at.room.at(on_gpu), [&](S *x) {
      return l + 1 < last() ? CopyBox(wanted, next, box_at(l + 1), x, wanted) : levels_.back()->leave.Run(next, x);
    }));
  PetscCall(use(*at.of));
  PetscCall(at.of->CopyOut());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadMultigrid::Down(int l, Guess guess) {
  Level     &at = *levels_[(size_t)l];
  const bool begun = l == 0 && begun_; // with its norm
  const auto down = [&](Multigrid &of) { return begun ? PETSC_SUCCESS : of.down(0, guess); };

  PetscFunctionBegin;
  if (l == 0) begun_ = false;
  if (guess == Guess::given && l > 0) PetscCall(at.around.Run(at.x.at(on_gpu), at.x.at(on_gpu)));
  if (guess == Guess::interpolated) PetscCall(Raise(l, [](Multigrid &) { return PETSC_SUCCESS; }));
  PetscCall(Lower(l, guess == Guess::given, down));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The levels that each rank has wholly.
PetscErrorCode SpreadMultigrid::Solve(Guess guess, Cycle cycle, bool full) {
  Level &at = *levels_.back();
  return at.of->Visit(at.b.at(on_gpu), at.x.at(on_gpu), guess == Guess::given, full, transposed_, cycle);
}

// To the finest level's arrays. with_b: also this rank's own points of b
PetscErrorCode SpreadMultigrid::Enter(const S *b, S *x, bool from_x, bool again, bool with_b) {
  PetscFunctionBegin;
  if (!again) PetscCall(enter_->Run(b, b_at(0).at(on_gpu), with_b));
  if (from_x && !again) PetscCall(enter_->Run(x, x_at(0).at(on_gpu)));
  if (from_x && again && last()) PetscCall(levels_[0]->around.Run(x_at(0).at(on_gpu), x_at(0).at(on_gpu)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The change of the diagonal goes from level to level as a cycle's right-hand sides do.
PetscErrorCode SpreadMultigrid::Update(StencilMat *context, PetscMemType memory, Vec fixed, bool *done, bool *equal,
                                       bool *failed) {
  PetscInt offset[3];
  S        a, *diagonal;

  PetscFunctionBegin;
  *done = false;
  if (PetscMemTypeHost(memory) || last_is_one_) PetscFunctionReturn(PETSC_SUCCESS);
  for (auto &level : levels_) PetscCall(level->of->Open(level->b.at(on_gpu), level->x.at(on_gpu), false, false));
  for (int c = 0; c < 3; c++) offset[c] = own_.lo[c] - box_at(0).lo[c];
  PetscCall(levels_[0]->of->CompareWith(context, fixed, offset, &a, &diagonal, done, equal));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckLate());
  sound_ = false;
  PetscCall(enter_->Run(diagonal, b_at(0).at(on_gpu)));
  for (int l = 0; l <= last() && *done; l++) {
    const auto update = [&](Multigrid &of) { return of.FollowChange(a, b_at(l).at(on_gpu), done, failed); };
    PetscCall(l < last() ? Lower(l, false, update) : update(*levels_.back()->of));
  }
  sound_ = true;
#if SHELLAC_CUDA
  graphs_.Outdate();
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadMultigrid::CheckLate() const {
  PetscFunctionBegin;
  PetscCall(enter_->CheckLate());
  for (const auto &level : levels_) PetscCall(level->around.CheckLate());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadMultigrid::RunOn(const S *b, S *x, bool from_x, bool full, PetscReal stop, PetscReal limit,
                                      PetscReal *norm, InRow row) {
  bool goes_on = true, done = false;

  PetscFunctionBegin;
  PetscCall(CheckLate());
  begun_ = sound_ = false;
  for (auto &level : levels_) PetscCall(level->of->Open(level->b.at(on_gpu), level->x.at(on_gpu), full, transposed_));
  const bool own = levels_[0]->of->takes_outside(), writes_x = own && !row.more;
  for (int l = 0; l < last(); l++) {
    Level &at = *levels_[(size_t)l];
    at.outside = at.of->takes_outside() ? at.next : OutsideArrays();
    if (l == 0 && own) at.outside.b = b, at.outside.x = writes_x ? x : nullptr;
    at.of->SetOutside(at.outside);
  }
  if (norm) { // of a level that each rank has wholly, the first rank's decides
    PetscCall(Enter(b, x, from_x, row.again, !own));
    PetscCall(levels_[0]->of->BeginCycle(norm));
    double squares = last() || rank_ == 0 ? (double)(*norm * *norm) : 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &squares, 1, MPI_DOUBLE, MPI_SUM, grid_.comm));
    *norm = PetscSqrtReal((PetscReal)squares);
    goes_on = *norm > stop && *norm <= limit;
    begun_ = goes_on && last() > 0;
  }
  const auto run = [&]() {
    PetscFunctionBegin;
    if (!norm) PetscCall(Enter(b, x, from_x, row.again, !own));
    if (goes_on) PetscCall(Run(from_x, full));
    if (!goes_on || (!row.more && !writes_x)) PetscCall(CopyBox(own_, x_at(0).at(on_gpu), box_at(0), x, own_));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
#if SHELLAC_CUDA
  if (options_.graph && goes_on && direct_) {
    const bool begun = begun_;
    PetscCall(
        graphs_.Run({b, x, from_x, full, norm != nullptr, transposed_, cycle(), row.again, row.more}, run, &done));
    begun_ = begun && !done;
    options_.graph = done;
  }
#endif
  if (!done) PetscCall(run());
  sound_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadMultigrid::Apply(PetscMemType memory, const S *b, S *x, bool from_x, bool full, PetscReal stop,
                                      PetscReal limit, PetscReal *norm, InRow row) {
  const size_t n = (size_t)own_.points();

  PetscFunctionBegin;
  if (PetscMemTypeDevice(memory)) {
    PetscCall(RunOn(b, x, from_x, full, stop, limit, norm, row));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(own_b_.Grow(n, on_gpu));
  PetscCall(own_x_.Grow(n, on_gpu));
  PetscCall(DeviceCopyFromHost(own_b_.at(on_gpu), b, n * sizeof(S)));
  if (from_x) PetscCall(DeviceCopyFromHost(own_x_.at(on_gpu), x, n * sizeof(S)));
  PetscCall(RunOn(own_b_.at(on_gpu), own_x_.at(on_gpu), from_x, full, stop, limit, norm, {row.again, false}));
  PetscCall(DeviceCopyToHost(x, own_x_.at(on_gpu), n * sizeof(S)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadMultigrid::GetMasses(S *m, int *any) {
  const Box      all = box_at(0);
  std::vector<S> of_all((size_t)all.points());

  PetscFunctionBegin;
  *any = 0;
  if (last()) PetscFunctionReturn(PETSC_SUCCESS); // windows have none
  PetscCall(levels_[0]->of->GetMasses(of_all.data(), any));
  copy_points(own_, all, of_all.data(), own_, m);
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<LevelInfo> SpreadMultigrid::levels() const {
  std::vector<LevelInfo> all;
  for (const auto &level : levels_) {
    auto       its = level->of->levels();
    LevelInfo &info = its[0];
    for (const Scratch<S> *array : {&level->b, &level->x, &level->room})
      info.bytes += (PetscLogDouble)array->size() * sizeof(S);
    if (level == levels_.back()) {
      all.insert(all.end(), its.begin(), its.end());
      break;
    }
    for (int a = 0; a < 3; a++) info.N[a] = level->parts.N[a];
    info.place = ", distributed";
    info.bytes += its[1].bytes;
    all.push_back(info);
  }
  return all;
}

std::vector<LevelFlops> SpreadMultigrid::flops() const {
  std::vector<LevelFlops> all;
  for (const auto &level : levels_) {
    const auto its = level->of->flops();
    all.insert(all.end(), its.begin(), level == levels_.back() ? its.end() : its.begin() + 1);
  }
  return all;
}

PetscErrorCode CreateSpreadMultigrid(const MultigridInput &of, bool single, std::unique_ptr<Multigrid> *multigrid,
                                     bool *serves, bool *failed) {
  PetscMPIInt ranks;

  PetscFunctionBegin;
  *serves = false;
  PetscCallMPI(MPI_Comm_size(of.grid.comm, &ranks));
  if (!SHELLAC_CUDA || !of.device || ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (of.rows && PetscMemTypeHost(of.rows->memory)) PetscFunctionReturn(PETSC_SUCCESS);
  if (of.rows && of.rows->weighted && box_of(of.grid).points() > of.options.most_whole(true))
    PetscFunctionReturn(PETSC_SUCCESS); // too many for each rank
  auto                 made = std::make_unique<SpreadMultigrid>();
  auto                *from = dynamic_cast<SpreadMultigrid *>(multigrid->get());
  const PetscErrorCode code = made->Create(of, single, from, serves, failed);
  if (code || !*serves) PetscCall(made->Destroy());
  if (!code && !*serves) PetscFunctionReturn(PETSC_SUCCESS);
  if (*multigrid) PetscCall((*multigrid)->Destroy());
  multigrid->reset();
  PetscCall(code);
  *multigrid = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
