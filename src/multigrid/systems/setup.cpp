// Levels with several unknowns a point: which there are, and what each needs.

#include "multigrid/setup/coarse_grids.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/values.hpp"
#include "multigrid/systems/hierarchy.hpp"

namespace shellac {

namespace {

constexpr PetscInt inverted_unknowns = 256; // the last level is as small, if it can

// The axes beside the rows, which tell how far apart points are on average.
void choose_axes(const Grid &grid, const SystemFindings &found, Axis axes[3]) {
  for (int a = 0; a < 3; a++) {
    const SystemSums &sums = found.sums;
    const auto      mean = [&](int e) { return sums.of_shift[a][e] > 0 ? sums.shift[a][e] / sums.of_shift[a][e] : 0; };
    const PetscReal coupling = sums.rows > 0 ? sums.coupling[a] / sums.rows : grid.N[a] > 1 ? 1 : 0;
    bool            free_end[2];
    for (int e = 0; e < 2; e++) free_end[e] = !(mean(e) - mean(2) > PetscReal(0.1) * coupling);
    const int *couples = found.flags.couples[a];
    axes[a] = axis_beside_rows(grid.N[a], grid.periodic(a), !couples[0] && !couples[1], coupling, free_end);
  }
}

// How far transfers reach beyond a rank's points.
PetscInt width_of(const Grid &grid) {
  PetscInt width = 2;
  for (int a = 0; a < 3; a++)
    if (grid.periodic(a) && grid.N[a] % 2) width = 3;
  return width;
}

// All points of the grid, on this rank; around periodic axes, too.
void take_whole(Grid *grid) {
  const Grid of = *grid;
  *grid = whole_grid(of);
  grid->comm = PETSC_COMM_SELF;
  std::copy_n(of.boundary, 3, grid->boundary);
}

// Rows without entries become rows of the identity: those of coarse points whose fine ones couple nothing.
struct FillEmptyRows {
  OpenCoefficients<PetscScalar> rows;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt dof = rows.patch.dof;
    const size_t   at = rows.patch.index(i, j, k);
    for (PetscInt r = 0; r < dof; r++) {
      bool empty = true;
      for (int arm = 0; arm < rows.arms; arm++)
        for (PetscInt c = 0; c < dof; c++) {
          const PetscScalar *values = rows.values[rows.slot(arm, r, c)];
          if (values) empty = empty && values[at] == (PetscScalar)0;
        }
      if (empty) rows.values[rows.slot(rows.center, r, r)][at] = 1;
    }
  }
};

} // namespace

PetscErrorCode SystemHierarchy::GetMatrix(CapturedMat **context) {
  bool captured;

  PetscFunctionBegin;
  PetscCall(MatIsCaptured(matrix_, &captured));
  PetscCheck(captured, comm_, PETSC_ERR_ORDER,
             "the matrix that stencilmg was set up for has become one of another type; set it up again");
  PetscCall(MatGetReadyStencil(matrix_, context));
  PetscCall((*context)->check_readable());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::FindFinest() {
  CapturedMat *context;

  PetscFunctionBegin;
  if (gathering_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetMatrix(&context));
  level(0).op = &context->captured();
  level(0).halo = &context->halo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Those that the matrix has now. *done: unless it has gone to the host
PetscErrorCode SystemHierarchy::GatherRows(bool *done) {
  Level       &top = level(0);
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(GetMatrix(&context));
  CapturedStencil &rows = context->captured();
  *done = PetscMemTypeDevice(rows.home());
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  top.b.resize((size_t)(box_of(top.grid).points() * top.grid.dof));
  PetscCall(top.b.Prepare(rows.home()));
  PetscCall(gathering_->GetRows(rows, top.own.get(), top.b.at(rows.home())));
  PetscCall(top.drop_transposed());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::Create(Mat matrix, const MultigridOptions &options, PetscBool device,
                                       SetupFindings *found, bool *failed) {
  CapturedMat *context;
  PetscMPIInt  ranks;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(matrix, &context));
  const Grid      &grid = context->grid;
  CapturedStencil &finest = context->captured();
  PetscCall(PetscObjectReference((PetscObject)matrix));
  matrix_ = matrix;
  PetscCallMPI(MPI_Comm_size(grid.comm, &ranks));
  comm_ = grid.comm;
  options_ = options;
  if (options_.cycle == Cycle::automatic) options_.cycle = Cycle::V;
  way_ = context->halo_way;
  vec_type_ = finest.vec_type();
  device_ = device && !context->bound_to_host ? PETSC_TRUE : PETSC_FALSE;
  if (SHELLAC_CUDA && device && ranks > 1)
    PetscCall(Gathering::Create(grid, way_, device_ && finest.made_for_device(), options, &gathering_));
  const bool whole = ranks == 1 || gathering_;
  if (!whole) {
    PetscCall(SharedLevel::FindWorkers(comm_, device_, &workers_));
    works_ = workers_[(size_t)grid.rank_at(grid.place)] == grid.rank_at(grid.place);
  }
  if (whole && SHELLAC_CUDA) set_up_memory_ = finest.home();
  levels_.push_back(std::make_unique<Level>());
  level(0).grid = grid;
  level(0).whole = whole;
  if (gathering_) {
    bool done;
    take_whole(&level(0).grid);
    PetscCall(MakeRows(&level(0)));
    PetscCall(GatherRows(&done));
  }
  PetscCall(FindFinest());
  steps_ = smoothing_steps(options.smooths, dimension_of(grid), true, false);
  PetscCall(get_pairs(finest, comm_, &pairs_));
  PetscCall(MakeLevels(finest, found, failed));
  if (!found->refusal.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ShareWithOthers(failed));
  for (int l = 0; l <= last(); l++) {
    Level       &at = level(l);
    const size_t n = (size_t)at.patch.all().points() * at.patch.dof;
    if (l > 0 || at.own) at.b.resize(n), at.x.resize(n);
    if (l < last() || at.relaxed) at.r.resize(n);
    if (l == last()) break;
    if (level(l + 1).whole && !at.whole) at.part.resize((size_t)at.target.all().points() * at.patch.dof);
  }
  PetscCall(ChooseAllDamping());
  if (last() > 0) PetscCall(Mark(0)); // else there is nothing to be updated
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::MakeLevels(CapturedStencil &finest, SetupFindings *result, bool *failed) {
  std::string   &why = result->refusal;
  const PetscInt dof = finest.patch().dof;
  int            copies = 0; // of a level's points on each rank, without coarsening

  PetscFunctionBegin;
  *result = {};
  while (true) {
    const int      l = last();
    Level         &at = level(l);
    SystemRows     rows;
    SystemFindings found;
    Halo           halo; // of one value a point, on the host
    Patch          patch;
    Axis           present[3];
    bool           singular = false;

    for (int a = 0; a < 3 && !l; a++) at.axes[a].periodic = at.grid.periodic(a);
    const bool thin = is_thin(at.grid, width_of(at.grid));
    at.patch = patch = patch_of(at.grid, at.axes, thin ? 1 : width_of(at.grid));
    at.patch.dof = dof;
    if (!at.whole) PetscCall(at.transfer_halo.Create(with_links(at.grid), at.patch, true, device_, way_));
    PetscCall(SetSmoothing(l, &singular));
    if (at.relaxed) PetscFunctionReturn(PETSC_SUCCESS);
    Box grown = patch.all();
    for (int a = 0; a < 3; a++) {
      const PetscInt reach = PetscMin(level_reach(patch, a), at.whole ? 3 : patch.width);
      grown.lo[a] -= reach;
      grown.hi[a] += reach;
    }
    if (!at.whole) PetscCall(halo.Create(with_links(at.grid), patch, true, PETSC_FALSE, HaloWay::automatic));
    PetscCall(read_rows(*at.op, set_up_memory_, patch, &halo, grown, pairs_, &rows, &at.smoothing.alone,
                        l ? nullptr : &found));
    if (!l) {
      PetscCall(found.Share(comm_));
      if (found.flags.problem == SystemFindings::not_finite)
        result->cause = SetupFindings::not_finite, why = not_a_number;
      if (found.flags.problem == SystemFindings::far) why = far_couplings;
      choose_axes(at.grid, found, at.axes);
    }
    const PetscReal strongest = strongest_of(at.axes);
    const bool      more = box_of(at.grid).points() * dof > inverted_unknowns && strongest > 0 && l < max_levels - 2 &&
                      (!options_.levels || l + 1 - copies < options_.levels);
    if (why.empty() && singular && !l) result->cause = SetupFindings::values;
    if (why.empty() && singular && !l)
      why = "has a point whose diagonal block is singular or zero; for a saddle point use -pc_type fieldsplit "
            "-pc_fieldsplit_detect_saddle_point -pc_fieldsplit_type schur";
    if (!why.empty() || (!more && at.whole)) {
      PetscCall(halo.Destroy());
      break;
    }
    for (int a = 0; a < 3; a++)
      present[a] = coarsen(at.axes[a], more && !thin && is_coarsened(at.axes[a], strongest), &at.to_next[a]);
    at.target_grid = coarse_grid(at.grid, present, at.to_next);
    at.target = patch_of(at.target_grid, present, 0);
    const bool copied = !more || thin;
    const bool whole = at.whole || copied || box_of(at.target_grid).points() * dof <= gathered_points ||
                       is_thin(at.target_grid, width_of(at.target_grid));
    copies += copied;
    PetscCall(AddLevel(l, whole, present));
    PetscCall(SetWeights(l, &halo, rows));
    PetscCall(CoarsenRows(l, rows));
    PetscCall(halo.Destroy());
    if (!works(last())) break;
  }
  if (why.empty() && works(last())) PetscCall(SolveLast(failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::ShareWithOthers(bool *problem) {
  int found[] = {(int)levels_.size(), *problem};

  PetscFunctionBegin;
  if (!workers_.empty()) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_MAX, comm_));
  levels_made_ = found[0];
  *problem = found[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// After level l.
PetscErrorCode SystemHierarchy::AddLevel(int l, bool whole, const Axis axes[3]) {
  PetscFunctionBegin;
  levels_.push_back(std::make_unique<Level>());
  Level &at = level(l), &next = level(l + 1);
  next.grid = at.target_grid;
  if (whole) take_whole(&next.grid);
  next.whole = whole;
  next.grid.width = 1;
  next.grid.box = true;
  for (int a = 0; a < 3; a++) {
    next.axes[a] = axes[a];
    next.grid.boundary[a] = axes[a].periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  }
  if (!works(l + 1)) {
    next.patch = patch_of(next.grid, axes, 1);
    next.patch.dof = next.grid.dof;
    take_read_points(coarsening_between(at.patch, at.to_next, at.target), 0, &next.patch);
  } else
    PetscCall(MakeRows(&next));
  if (whole && !at.whole) PetscCall(next.shared.Create(at.target_grid, workers_, works_ ? Box{} : on_grid(next.patch)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::MakeRows(Level *at) {
  const Patch patch = at->grid.owned_patch();

  PetscFunctionBegin;
  at->own =
      std::make_unique<CapturedStencil>(comm_, patch, std::make_shared<const Arms>(at->grid), vec_type_.c_str(), 2);
  if (!device_) PetscCall(at->own->BindToHost(true));
  at->op = at->own.get();
  PetscCall(at->own_halo.Create(at->grid, patch, true, device_, way_));
  at->halo = &at->own_halo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::SetWeights(int l, Halo *halo, const SystemRows &rows) {
  Level                 &at = level(l);
  const int              dof = (int)at.grid.dof;
  SetLinearWeights       set = {};
  Mirror<PetscReal>      along;
  std::vector<PetscReal> all;
  const PetscReal       *values;

  PetscFunctionBegin;
  set.coarsening = coarsening_between(at.patch, at.to_next, at.target);
  set.coarsening.patch.dof = 1;
  for (const Coarsening &axis : at.to_next)
    for (const auto &weights : axis.prolong) all.insert(all.end(), weights.begin(), weights.end());
  along.change() = all;
  PetscCall(along.Get(set_up_memory_, &values));
  for (int a = 0; a < 3; a++) set.along[a] = values, values += 2 * at.grid.N[a];
  set.grown = rows.grown;
  set.dof = dof;
  set.alone = rows.alone;
  const int arrays = set.coarsening.corners() * dof;
  PetscCall(at.prolongation.MakeZero(set_up_memory_, (size_t)arrays * rows.points(), &set.weights));
  PetscCall(for_each_run(set_up_memory_, at.patch.all(), set));
  PetscCall(fill_ghosts(set_up_memory_, set.coarsening.patch, halo, rows.grown, set.weights, arrays));
  at.transfers = {set.coarsening, rows.grown, dof, set.weights};
  at.transfers.coarsening.patch.dof = at.grid.dof;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::CoarsenRows(int l, const SystemRows &rows) {
  Level              &at = level(l), &next = level(l + 1);
  const bool          gathers = next.whole && !at.whole;
  CapturedStencil    *coarse = next.own.get(); // null where another rank has it
  const Arms          arms(next.grid);
  FillEmptyRows       fill;
  Couplings           of_pair; // the coarse ones
  CoarsenRoom         room;
  std::vector<T>      parts;
  PetscScalar *const *values = nullptr;

  PetscFunctionBegin;
  of_pair.grown = at.target.all();
  for (int a = 0; a < 3; a++) of_pair.neighbours.present[a] = at.target.N[a] > 1;
  if (coarse) PetscCall(coarse->Open(&values, set_up_memory_));
  const auto   slot = [&](int arm, int r, int c) { return coarse->slot(arm, r, c); };
  const size_t points = of_pair.points();
  for (int r = 0; r < pairs_.dof; r++)
    for (int c = 0; c < pairs_.dof; c++) {
      if (r == c && coarse) PetscCall(coarse->Need(slot(arms.center(), r, c)));
      if (!pairs_.pair(r, c)) continue;
      const bool local = pairs_.local(r, c);
      const auto has = [&](int arm) { return !local || arm == arms.center(); };
      for (int arm = 0; coarse && arm < arms.count(); arm++)
        if (has(arm)) PetscCall(coarse->Need(slot(arm, r, c)));
      if (gathers) parts.assign(points * arms.count(), 0);
      PetscCall(of_pair.MakeZero(set_up_memory_));
      const SystemTransfers &of = at.transfers;
      PetscCall(coarsen(set_up_memory_, rows.of_pair(r, c), of.coarsening, of.weights + of.place(0, c),
                        of.weights + of.place(0, r), at.target, of_pair, &room));
      AddPair    add = {of_pair, local, {}, nullptr};
      const auto to = [&](int arm) { return gathers ? parts.data() + (size_t)arm * points : values[slot(arm, r, c)]; };
      int n = 0;
      add.here = to(arms.center());
      of_pair.neighbours.each([&](const PetscInt *d) { add.to[n++] = to(arms.find(d)); });
      PetscCall(for_each_run(set_up_memory_, of_pair.grown, add));
      for (int arm = 0; arm < arms.count() && gathers; arm++)
        if (has(arm))
          PetscCall(next.shared.Gather(PETSC_MEMTYPE_HOST, 1, parts.data() + (size_t)arm * points,
                                       coarse ? values[slot(arm, r, c)] : nullptr));
    }
  if (!coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(coarse->GetOpen(&fill.rows));
  PetscCall(coarse->ForAllPoints(fill));
  PetscCall(coarse->CloseAsArrays());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::SolveLast(bool *failed) {
  Level                           &at = level(last());
  const PetscInt                   dof = at.grid.dof;
  const PetscInt64                 n = at.patch.all().points() * dof;
  Arrays                           arrays(PETSC_MEMTYPE_HOST);
  std::unique_ptr<PreparedCapture> op;
  std::vector<T>                   A;
  std::vector<T>                   values;

  PetscFunctionBegin;
  PetscCheck(n <= most_dense, comm_, PETSC_ERR_ARG_OUTOFRANGE,
             "the last of %d levels has %" PetscInt64_FMT " unknowns, too many to solve directly; raise "
             "-pc_stencilmg_levels, or leave it out for as many levels as there are",
             (int)levels_.size(), n);
  A.assign((size_t)(n * n), 0);
  PetscCall(at.op->Prepare(&arrays, &op));
  values.resize((size_t)(op->arms() * dof * dof));
  for_each_on_host(at.patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const T       *value = values.data();
    op->values(p, 1, values.data());
    for (PetscInt r = 0; r < dof; r++)
      for (int arm = 0; arm < op->arms(); arm++) {
        PetscInt q[3]; // zeros have none beyond the domain
        for (int a = 0; a < 3; a++) q[a] = (p[a] + op->step(arm)[a] + at.grid.N[a]) % at.grid.N[a];
        for (PetscInt c = 0; c < dof; c++, value++)
          A[at.patch.index(i, j, k) * dof + r + (size_t)n * (at.patch.index(q[0], q[1], q[2]) * dof + c)] += *value;
      }
  });
  PetscCall(arrays.Restore());
  PetscCall(dense_.Create((int)n, std::move(A), failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
