#pragma once
// Hierarchy's levels: which there are, and what each needs.

#include "multigrid/hierarchy.hpp"

namespace shellac {

// The roots of the Chebyshev polynomial that is least on the eigenvalues of D^-1 A that the coarse grid does not see;
// those of a uniform grid, in closed form (Trottenberg, Oosterlee, Schüller 2001, section 2.1 and 5.1).
template <class Part>
void Hierarchy<Part>::choose_weights(const Axis axes[3], PetscScalar of_shift, const Coarsening to_next[3], int steps,
                                     R *omega) {
  const AxesCouplings of(axes, to_next);
  PetscReal           sum = of.sum, most = of.most, least = of.weakest, sigma = of.sign * PetscRealPart(of_shift);
  if (!(2 * sum + sigma > PetscReal(0.1) * sum)) sigma = 0; // not positive definite
  if (sum + sigma == 0 || least == PETSC_MAX_REAL) least = sum = 1;
  if (steps > 2) least *= PetscReal(0.7); // some way into what the coarse grid sees: 0.08 a cycle instead of 0.09
  if (most == 0) most = 2 * sum;
  const PetscReal high = (2 * most + sigma) / (most + sigma), low = (2 * least + sigma) / (2 * sum + sigma);
  set_chebyshev_weights(low, high, steps, omega);
}

// Whether the points are a line on this rank whose rows elimination solves: by their axes or, of the finest level, as
// couplings.
template <class Part> bool Hierarchy<Part>::HasLine(const Axis axes[3], PetscScalar sigma, OperatorRows *rows) {
  int a = -1;
  for (int other = 0; other < 3; other++)
    if (axes[other].N() > 1) a = a < 0 ? other : 3;
  if (a < 0 || a == 3 || axes[a].N() < 4) return false;
  const Axis  &axis = axes[a];
  const size_t N = (size_t)axis.N();
  LineRows     of(N);
  of.periodic = axis.periodic;
  of.singular = singular_ && !nonsymmetric_;
  const Couplings *const c = rows ? &rows->couplings : nullptr;
  const PetscInt         p[3] = {0, 0, 0};
  const size_t           first = c ? c->grown.index(p) : 0; // rows are next to each other, as other axes have one point
  if (!c)
    of.mass.assign(axis.mass.begin(), axis.mass.end());
  else if (c->mass)
    of.mass.assign(c->mass + first, c->mass + first + N);
  for (size_t i = 0; i < N; i++) {
    of.in[i] = c ? c->slot(INVERSE_DIAGONAL)[first + i] != (PetscScalar)0 : !axis.is_fixed((PetscInt)i);
    if (!of.in[i]) continue;
    of.shift[i] = c ? c->slot(SHIFT)[first + i] : sigma;
    of.lower[i] = c ? c->slot(FIRST_COUPLING)[first + i] : axis.edge[i] / axis.mass[i];
    of.upper[i] = c ? c->slot(FIRST_COUPLING + 1)[first + i] : axis.edge[i + 1] / axis.mass[i];
  }
  for (int e = 0; e < 2; e++) // values beyond the ends, and those of fixed points, are zero
    for (size_t i = 0; i < N; i++) {
      const bool leaves = !of.periodic && i == (e ? N - 1 : 0);
      if (!leaves && of.in[(i + (e ? 1 : N - 1)) % N]) continue;
      PetscScalar &coupling = (e ? of.upper : of.lower)[i];
      of.shift[i] += coupling;
      coupling = 0;
    }
  bool serves;
  line_.Create(of, &serves);
  return serves;
}

template <class Part> PetscErrorCode Hierarchy<Part>::Create(const MultigridInput &of, Hierarchy *from, bool *failed) {
  const Grid             &grid = of.grid;
  const Axis *const       axes = of.axes;
  OperatorRows *const     rows = of.rows;
  const MultigridOptions &options = of.options;
  const PetscBool         device = of.device;
  PetscScalar             sigma = of.sigma;
  PetscMPIInt             ranks;
  Grid                    parts = with_links(grid);
  Axis                    present[3] = {axes[0], axes[1], axes[2]};
  bool                    whole;

  PetscFunctionBegin;
  options_ = options;
  device_ = of.device;
  nonsymmetric_ = rows && rows->nonsymmetric;
  if (options_.cycle == Cycle::automatic) options_.cycle = nonsymmetric_ ? Cycle::F : Cycle::V;
  grid_ = grid;
  PetscCallMPI(MPI_Comm_size(grid.comm, &ranks));
  parts_ = ranks > 1;
  whole = ranks == 1;
  if (parts_ && from && from->device_ == device)
    workers_ = from->workers_;
  else if (parts_)
    PetscCall(SharedLevel::FindWorkers(grid.comm, device, &workers_));
  for (size_t r = 0; r < workers_.size(); r++) {
    const bool works = workers_[r] == (PetscMPIInt)r;
    shares_ = shares_ || !works;
    if ((PetscMPIInt)r == grid.rank_at(grid.place)) works_ = works;
  }
  below_ = of.below;
  window_ = of.window != nullptr;
  const int dim = of.dim ? of.dim : dimension_of(grid);
  singular_ = rows ? rows->singular : sigma == (PetscScalar)0;
  for (int a = 0; a < 3 && !rows; a++)
    singular_ =
        singular_ && !axes[a].fixed && (axes[a].periodic || (axes[a].edge.front() == 0 && axes[a].edge.back() == 0));
  opposite_ = rows && rows->opposite;
  for (int a = 0; a < 3 && !rows; a++) opposite_ = opposite_ || PetscRealPart(sigma) * axes[a].coupling() < 0;

  PetscReal  ratio = rows && !below_ ? rows->ratio : PETSC_MAX_REAL;
  const bool real = variable ? !nonsymmetric_ && std::is_floating_point<T>::value : PetscImaginaryPart(sigma) == 0;

  // Red-black relaxation is faster than Chebyshev's weights where cycles need not be symmetric; but a GPU has no pass of
  // both colours around a periodic axis.
  const auto wants_red_black = [&](bool periodic) {
    return options.smoother == Smoother::red_black ||
           (options.smoother == Smoother::automatic && !is_symmetric() && !(device && periodic));
  };

  while (true) {
    levels_.push_back(std::make_unique<Level>());
    Level     &at = *levels_.back();
    PetscInt64 points = 1;
    PetscInt   longest = 1;
    bool       periodic = false, odd_periodic = false, more = false;

    fold_single_points(present, &sigma);
    at.sigma = sigma;
    const PetscReal strongest = strongest_of(present);
    for (const Axis &axis : present)
      PetscCheck(std::isfinite(axis.strength()), grid.comm, PETSC_ERR_FP,
                 "the weights of level %d are beyond the range of numbers; change the unit of length",
                 (int)levels_.size() - 1);
    const Axis whole_axes[3] = {present[0], present[1], present[2]};
    for (int a = 0; a < 3; a++) {
      at.axes[a] = present[a];
      points *= present[a].N();
      longest = PetscMax(longest,
                         present[a].couples() ? present[a].N() : present[a].N() / 4); // the latter's modes cost little
      periodic = periodic || (present[a].periodic && present[a].N() > 1);
      odd_periodic = odd_periodic || (present[a].periodic && present[a].N() % 2 && present[a].N() > 1);
    }
    if (!variable)
      ratio = ratio_of(present, sigma);
    else if (levels_.size() > 1)
      ratio = PETSC_MAX_REAL; // of coarse rows, which are not made yet
    // a line on one rank, or on each, of more points than the solvers of small levels take
    has_line_ = !options.levels && (whole || (!variable && points <= gathered_points)) && !device &&
                (!variable || levels_.size() == 1) && points > (variable ? inverted_points : solved_axis) &&
                HasLine(present, sigma, rows);
    const int relaxed = has_line_ ? 0 : relaxations(ratio, real, options.full);
    // points of one colour are no neighbours; in fewer dimensions there are fused passes of other smoothers
    const bool red_black = wants_red_black(periodic) && !variable && dim == 3 && !odd_periodic && !relaxed;
    const int  steps = relaxed ? relaxed : smoothing_steps(options.smooths, dim, variable, red_black);
    at.fused =
        options.fused && device && !variable && dim <= 2 && (steps == 2 || steps == 3) && !odd_periodic && !relaxed;
    // on the host a rank walks over points of its neighbours, too, as far as it knows the axes beyond its own
    const bool knows_beyond = options.fused && !device && points_beyond(steps) < axis_reach - 1,
               walks_beyond = knows_beyond && work_beyond(parts, points_beyond(steps)) <= most_work_beyond;
    // what a pass needs, or one of the finer level
    const PetscInt width = at.fused ? steps + 2 : PetscMax(knows_beyond ? points_beyond(steps) : 0, 4);
    // once whole, always whole
    whole = whole || is_thin(parts, width) || (points <= gathered_points && !relaxed);
    at.whole = whole;
    at.parts = parts;
    at.grid = whole ? whole_grid(parts) : parts;
    if (window_) take_window(of.window->of[levels_.size() - 1], &at.grid);
    at.patch = patch_of(at.grid, present, width);
    for (int a = 0; a < 3; a++) at.patch.periodic[a] = at.patch.periodic[a] && at.patch.N[a] == present[a].N();
    more = variable ? points > inverted_points : points > solved_points || longest > solved_axis;
    // where a GPU solves more points at once than the host does, the number of levels can make it the host's
    const PetscInt N[3] = {present[0].N(), present[1].N(), present[2].N()};
    const bool     in_planes = !variable && device && !parts_ && dim == 3 && is_solved_in_planes<T>(N);
    const bool     in_quarters = !variable && device && !parts_ && dim == 2 && is_solved_in_quarters<T>(present);
    more = more && strongest > 0 && !((in_planes || in_quarters) && !options.levels);
    if (options.levels && (PetscInt)levels_.size() >= options.levels) more = false;
    more = more && !has_line_ && !relaxed;
    if (window_) more = levels_.size() == 1;
    if (relaxed) at.ratio = ratio;
    // a last level that is solved directly must be whole
    if (!more && !whole && !relaxed) {
      whole = at.whole = true;
      at.grid = whole_grid(parts);
      at.patch = patch_of(at.grid, present, width);
    }
    if (!works(last())) ReadOnly(last());

    std::vector<AxisPoint<R>> points_at_axis[3]; // of whole axes
    for (int a = 0; a < 3; a++) {
      const bool coarsens = more && is_coarsened(present[a], strongest);
      present[a] = coarsen(present[a], coarsens, &at.to_next[a]);
      if (window_ && more) {
        const Box &box = of.window->of[0], &next = of.window->of[1];
        cut(box.lo[a], box.hi[a], next.lo[a], next.hi[a], &at.axes[a], &at.to_next[a]);
      }
      const PetscInt start = at.grid.start[a];
      const auto    &all = points_at_axis[a] = axis_points<R>(at.axes[a], at.to_next[a]);
      if constexpr (!variable) {
        at.points_at[a] = points_.host().size();
        points_.change().insert(points_.change().end(), all.begin() + start,
                                all.begin() + start + at.grid.size[a] + 2 * axis_reach);
        find_typical(a, all, start, &at.part);
      }
      at.part.coarsens[a] = coarsens;
      at.part.offset[a] = at.to_next[a].offset;
      at.part.ties_ends[a] = at.to_next[a].ties_ends;
    }

    if (window_ && !more) break;
    const Layers layers(at.patch);
    for (int a = 0; a < 3; a++)
      at.odd_ends = at.odd_ends || (present[a].periodic && at.axes[a].N() % 2 && at.to_next[a].coarsens);
    const bool around = at.patch.periodic[layers.slow] && layers.planes == at.patch.N[layers.slow] && layers.planes > 1;
    at.one_walk = options.fused && (at.whole || walks_beyond) && !at.odd_ends && !around && !nonsymmetric_;
    at.part.patch = at.patch;
    at.part.counted = at.patch.all();
    for (int a = 0; a < 3 && window_; a++) {
      at.part.counted.lo[a] = of.window->own.lo[a] - of.window->of[0].lo[a];
      at.part.counted.hi[a] = of.window->own.hi[a] - of.window->of[0].lo[a];
    }
    at.part.steps = steps;
    if constexpr (!variable) {
      at.part.uniform = at.whole && dim == 2;
      for (int a = 0; a < 2; a++) {
        at.part.frame[a] = at.axes[a].fixed ? 1 : 0;
        at.part.uniform = at.part.uniform && is_alike(a, at.part.frame[a], points_at_axis[a], at.part);
      }
      at.part.sigma = (T)sigma;
      at.part.red_black = red_black;
    }
    if (relaxed)
      set_relaxation_weights(ratio, real, steps, at.part.omega);
    else if (red_black)
      set_red_black_weights(is_symmetric(), steps, at.part.omega);
    else
      choose_weights(whole_axes, sigma, at.to_next, steps, at.part.omega);
    if (!at.whole) {
      PetscCall(at.halo_b.Create(at.grid, at.patch, true, device, of.way, sizeof(T)));
      PetscCall(at.halo_u.Create(at.grid, at.patch, true, device, of.way, sizeof(T)));
    }
    if (!more) {
      const bool solvable = variable
                                ? points <= most_dense
                                : in_planes || in_quarters || (points <= most_solved && longest <= most_solved_axis);
      if (relaxed || has_line_) break;
      PetscCheck(solvable || strongest > 0, grid.comm, PETSC_ERR_ARG_WRONG,
                 "the matrix couples no points: there is nothing for multigrid to do; use -pc_type jacobi");
      PetscCheck(solvable, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                 "the last of %d levels has %" PetscInt64_FMT " points, too many to solve directly; raise "
                 "-pc_stencilmg_levels, or leave it out for as many levels as there are",
                 (int)levels_.size(), points);
      break;
    }
    PetscCheck((int)levels_.size() < max_levels, grid.comm, PETSC_ERR_PLIB, "more than %d levels", max_levels);
    parts = coarse_grid(parts, present, at.to_next);
  }

  // arrays
  for (int l = 0; l <= last(); l++) {
    Level       &at = level(l);
    const size_t n = (size_t)at.patch.all().points();
    const bool   in_place = std::is_same<T, S>::value && (last() > 0 || at.ratio >= 0 || has_line_);
    if (l || !in_place || (at.whole && parts_)) // the finest level copies the vectors then
      at.b.resize(n), at.x.resize(n);
    if (gathers(l - 1)) {
      at.b_part.resize((size_t)part_patch(at).all().points());
      PetscCall(at.shared.Create(at.parts, workers_, on_grid(at.patch)));
    }
    if (!works(l) || (l == last() && at.ratio < 0)) continue; // the latter: also of a window
    at.t.resize(n);
    if (!at.fused && (device || !at.holds_no_step())) at.s.resize(n);
  }
  PetscInt64 norms = 0;
  if constexpr (!variable) {
#if SHELLAC_CUDA
    if (device) norms = norm_count(level(0).part);
    if (device && last() > 0 && dim == 3) norms = PetscMax(norms, plan_residual<T>(level(1).patch).count());
#endif
  }
  norms_.resize((size_t)norms + 1);
  const bool has_solver = !relaxes() && !has_line_ && !window_;
  if (!has_solver) *failed = false;
  if constexpr (!variable)
    if (has_solver)
      PetscCall(solver_.Create(levels_.back()->axes, levels_.back()->sigma, from ? &from->solver_ : nullptr,
                               device && !parts_ && is_solved_in_quarters<T>(levels_.back()->axes), failed));
  if (from) TakeMemory(from);
  if constexpr (variable) PetscCall(SetRows(rows, failed));
  PetscCall(Prepare(device && SHELLAC_CUDA ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of a whole level that another rank has: what this one reads.
template <class Part> void Hierarchy<Part>::ReadOnly(int l) {
  Patch &patch = level(l).patch;
  if (l > 0 && gathers(l - 1)) {
    take_read_points(coarsening_of(l - 1), points_beyond(level(l - 1).part.steps), &patch);
  } else if (l == 0) { // its own points, and those that their rows couple
    const Coarsening none[3];
    take_read_points(coarsening_between(part_patch(level(0)), none, patch), 1, &patch);
  } else
    for (int a = 0; a < 3; a++) patch.size[a] = 0;
}

// Memory of arrays that are as large here as there, and graphs to be changed.
template <class Part> void Hierarchy<Part>::TakeMemory(Hierarchy *from) {
  for (int l = 0; l <= PetscMin(last(), from->last()); l++) {
    Level &at = level(l), &its = from->level(l);
    at.b.take(&its.b), at.x.take(&its.x), at.t.take(&its.t), at.s.take(&its.s), at.b_part.take(&its.b_part);
    at.rows.take_memory(&its.rows), at.weights.take_memory(&its.weights);
    at.restriction.take_memory(&its.restriction), at.mass.take_memory(&its.mass);
    at.weights_along_x.take_memory(&its.weights_along_x);
  }
  points_.take_memory(&from->points_);
  norms_.take(&from->norms_);
  solver_.TakeMemory(&from->solver_);
  last_rows_.take_memory(&from->last_rows_);
#if SHELLAC_CUDA
  graphs_.TakeFrom(&from->graphs_);
#endif
}

// All that is allocated for vectors in this memory.
template <class Part> PetscErrorCode Hierarchy<Part>::Prepare(PetscMemType memory) {
  PetscFunctionBegin;
  if (prepared_[PetscMemTypeDevice(memory) ? 1 : 0]) PetscFunctionReturn(PETSC_SUCCESS);
  memory_ = memory;
  for (int l = 0; l < (int)levels_.size(); l++) {
    Level &at = level(l);
    if (at.t.size() && !takes_fused(at)) { // as where a level that is fused on a GPU meets vectors on the host
      if (!(walks() && at.holds_no_step())) at.s.resize(at.t.size());
    }
    for (Scratch<T> *array : {&at.b, &at.x, &at.t, &at.s, &at.b_part}) PetscCall(array->Prepare(memory));
    for (Mirror<T> *array : {&at.rows, &at.weights, &at.restriction, &at.mass}) {
      const T *values;
      PetscCall(array->Get(memory, &values));
    }
    if constexpr (variable)
      if (l < last() + relaxes() && takes_rows(at)) PetscCall(PrepareRows(l));
  }
  PetscCall(norms_.Prepare(memory));
  const AxisPoint<R> *points;
  PetscCall(points_.Get(memory, &points));
  if (has_line_)
    PetscCall(line_.Prepare(memory));
  else if (!relaxes() && !window_ && !algebraic_.serves())
    PetscCall(solver_.Prepare(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) { // passes read what is prepared before they wait for the kernel before
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
  }
#endif
  prepared_[PetscMemTypeDevice(memory) ? 1 : 0] = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::Destroy() {
  PetscFunctionBegin;
  for (auto &at : levels_) {
    PetscCall(at->shared.Destroy());
    if (at->whole) continue;
    PetscCall(at->halo_b.Destroy());
    PetscCall(at->halo_u.Destroy());
  }
  levels_.clear();
  PetscCall(algebraic_.Destroy());
#if SHELLAC_CUDA
  PetscCall(graphs_.Destroy());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> std::vector<LevelFlops> Hierarchy<Part>::flops() const {
  std::vector<LevelFlops> all;
  for (int l = 0; l <= last(); l++) {
    const Level         &at = level(l);
    const PetscLogDouble n = works(l) ? (PetscLogDouble)at.patch.all().points() : 0;
    PetscLogDouble       couplings = 0, weights = 1, along = 0;
    LevelFlops           flops;
    for (int a = 0; a < 3; a++) {
      if (at.patch.N[a] == 1) continue;
      couplings += 2;
      weights *= at.to_next[a].coarsens ? 1.5 : 1;
      along += 4 * (PetscLogDouble)at.patch.N[a];
    }
    if constexpr (variable) couplings = at.part.neighbours.count();
    flops.residual = n * (2 + 3 * couplings);
    flops.step = flops.residual + n * (nonsymmetric_ ? 5 : 2);
    flops.from_zero = nonsymmetric_ ? flops.step : 2 * n;
    if constexpr (!variable)
      if (at.part.red_black) flops.step /= 2, flops.from_zero /= 2;
    flops.transfer = 2 * n * weights;
    if (l < last() || at.ratio >= 0)
      flops.steps = at.part.steps;
    else
      flops.solve = algebraic_.serves() ? algebraic_.flops()
                    : has_line_         ? n * line_.flops()
                    : variable          ? 2 * n * n
                                        : n * (along + 1);
    all.push_back(flops);
  }
  return all;
}

template <class Part> std::vector<LevelInfo> Hierarchy<Part>::levels() const {
  std::vector<LevelInfo> all;
  for (int l = 0; l < (int)levels_.size(); l++) {
    const Level &at = level(l);
    LevelInfo    info = {};
    for (int a = 0; a < 3; a++) info.N[a] = at.axes[a].N();
    info.steps = at.part.steps;
    if constexpr (!variable) info.red_black = at.part.red_black;
    for (int s = 0; s < info.steps && !nonsymmetric_; s++) info.weights[s] = at.part.omega[s];
    info.passes = nonsymmetric_                                                   ? "in tiles"
                  : takes_fused(at) || takes_rows(at) || (walks() && at.one_walk) ? "fused"
                  : walks()                                                       ? "plane by plane"
                  : takes_columns(at) || takes_row_columns(at)                    ? "column by column"
                                                                                  : "point by point";
    if (l == last() && variable) info.passes = algebraic_.serves() ? "PETSc's algebraic multigrid" : "its inverse";
    if constexpr (!variable)
      if (l == last() && !relaxes() && !has_line_)
        info.passes = solver_.in_quarters(memory_) ? "its axes' modes, in quarters"
                      : solver_.in_planes(memory_) ? "its axes' modes, plane by plane"
                                                   : "its axes' modes";
    if (l == last() && has_line_) info.passes = "its LU factors, from one end of the line to the other";
    info.ratio = at.ratio;
    info.place = place_of(at.whole, workers_);
    info.variable = variable;
    info.weighted = at.mass.size() > 0;
    info.nonsymmetric = nonsymmetric_;
    for (const Scratch<T> *array : {&at.b, &at.x, &at.t, &at.s, &at.b_part})
      info.bytes += (PetscLogDouble)array->size() * sizeof(T);
    for (int a = 0; a < 3 && !variable; a++)
      info.bytes += (PetscLogDouble)(at.grid.size[a] + 2 * axis_reach) * sizeof(AxisPoint<R>);
    for (const Mirror<T> *array :
         {&at.rows, &at.weights, &at.restriction, &at.mass, &at.weights_along_x, &at.transposed_rows})
      info.bytes += array->bytes();
    if (l == last()) info.bytes += solver_.bytes() + line_.bytes() + last_values_.size() * sizeof(S);
    all.push_back(info);
  }
  return all;
}

} // namespace shellac
