// Cycles over levels with several unknowns a point.

#include "multigrid/setup/coarse_grids.hpp"
#include "multigrid/systems/hierarchy.hpp"

namespace shellac {

PetscErrorCode SystemHierarchy::RowsToApply(int l, CapturedStencil **op) {
  Level           &at = level(l);
  StencilMat      *context;
  StencilOperator *transposed;

  PetscFunctionBegin;
  *op = at.op;
  if (!transposed_) PetscFunctionReturn(PETSC_SUCCESS);
  if (at.own) {
    if (!at.transposed) PetscCall(transpose_captured(*at.own, at.halo, {}, &at.transposed));
    *op = at.transposed.get();
  } else {
    PetscCall(MatGetStencil(matrix_, &context));
    PetscCall(MatStencilGetOperator(context, true, &transposed));
    *op = static_cast<CapturedStencil *>(transposed);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y = A x, or b - A x
PetscErrorCode SystemHierarchy::Apply(int l, Form form, const T *b, const T *x, T *y) {
  Level                           &at = level(l);
  Arrays                           arrays(memory_);
  CapturedStencil                 *rows;
  std::unique_ptr<PreparedCapture> op;

  PetscFunctionBegin;
  PetscCall(RowsToApply(l, &rows));
  PetscCall(rows->Prepare(&arrays, &op));
  PetscCall(MatStencilApplyPrepared(*op, at.op->patch(), at.halo, memory_, form, x, b, y));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::Smooth(int l, int from_step) {
  Level &at = level(l);
  T     *r = at.r.at(memory_);

  PetscFunctionBegin;
  for (int step = from_step; step < at.smoothing.steps; step++) {
    PetscCall(Apply(l, Form::residual, b(l), x(l), r));
    PetscCall(at.smoothing.Step(memory_, (size_t)at.patch.all().points(), step, transposed_, false, r, x(l)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::ProlongFrom(int l, bool add) {
  Level  &at = level(l), &next = level(l + 1);
  Prolong prolong = {at.transfers, next.patch, {}, add, x(l)};

  PetscFunctionBegin;
  if (next.whole && !at.whole) PetscCall(next.shared.Scatter(memory_, at.patch.dof, x(l + 1)));
  PetscCall(Exchange(next, next.transfer_halo, x(l + 1), &prolong.e));
  PetscCall(at.prolongation.Get(memory_, &prolong.of.weights));
  PetscCall(for_each_run(memory_, at.patch.all(), prolong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The next level's right-hand side.
PetscErrorCode SystemHierarchy::RestrictTo(int l, const T *r) {
  Level     &at = level(l), &next = level(l + 1);
  const bool gathers = next.whole && !at.whole;
  T         *whole = next.b.at(memory_);
  Restrict   restriction = {at.transfers, at.target, {}, gathers ? at.part.at(memory_) : whole};

  PetscFunctionBegin;
  PetscCall(Exchange(at, at.transfer_halo, r, &restriction.r));
  PetscCall(at.prolongation.Get(memory_, &restriction.of.weights));
  PetscCall(for_each_coarse_run(memory_, at.transfers.coarsening, at.target, restriction));
  if (gathers) PetscCall(next.shared.Gather(memory_, at.patch.dof, restriction.b, whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::SmoothFrom(int l, Guess guess) {
  Level       &at = level(l);
  const size_t n = (size_t)at.patch.all().points();

  PetscFunctionBegin;
  if (guess == Guess::zero)
    PetscCall(at.smoothing.Step(memory_, n, 0, transposed_, true, b(l), x(l)));
  else if (guess == Guess::interpolated)
    PetscCall(ProlongFrom(l, false));
  PetscCall(Smooth(l, guess == Guess::zero ? 1 : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::Down(int l, Guess guess) {
  PetscFunctionBegin;
  PetscCall(SmoothFrom(l, guess));
  PetscCall(RestrictResidualOf(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::RestrictResidualOf(int l) {
  T *r = level(l).r.at(memory_);
  PetscFunctionBegin;
  PetscCall(Apply(l, Form::residual, b(l), x(l), r));
  PetscCall(RestrictTo(l, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::Up(int l) {
  PetscFunctionBegin;
  PetscCall(ProlongFrom(l, true));
  PetscCall(Smooth(l, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::Prepare(PetscMemType memory) {
  PetscFunctionBegin;
  for (auto &at : levels_)
    for (Scratch<T> *array : {&at->b, &at->x, &at->r, &at->part}) PetscCall(array->Prepare(memory));
  memory_ = memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::Apply(PetscMemType memory, const T *b, T *x, bool from_x, bool full, PetscReal,
                                      PetscReal, PetscReal *, InRow) {
  const PetscMemType of_vectors = memory;
  Level             &top = level(0);

  PetscFunctionBegin;
  if (gathering_) memory = PETSC_MEMTYPE_DEVICE;
  PetscCall(check_backend(memory));
  PetscCall(FindFinest());
  PetscCall(Prepare(memory));
  PetscCall(dense_.Prepare(memory));
  b_ = gathering_ ? top.b.at(memory) : b;
  x_ = gathering_ ? top.x.at(memory) : x;
  if (gathering_) {
    PetscCall(gathering_->GetAll(of_vectors, b, top.b.at(memory)));
    if (from_x) PetscCall(gathering_->GetAll(of_vectors, x, x_));
  }
  PetscCall(Run(from_x, full));
  if (gathering_) PetscCall(gathering_->GetOwn(of_vectors, x_, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateSystemMultigrid(Mat matrix, const MultigridOptions &options, PetscBool device,
                                     std::unique_ptr<Multigrid> *multigrid, SetupFindings *found, bool *failed) {
  auto made = std::make_unique<SystemHierarchy>();

  PetscFunctionBegin;
  if (*multigrid) PetscCall((*multigrid)->Destroy());
  multigrid->reset();
  const PetscErrorCode code = made->Create(matrix, options, device, found, failed);
  if (code || !found->refusal.empty()) PetscCall(made->Destroy());
  PetscCall(code);
  if (found->refusal.empty()) *multigrid = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::Destroy() {
  PetscFunctionBegin;
  for (auto &at : levels_) {
    if (at->own) {
      PetscCall(at->own->Destroy());
      PetscCall(at->own_halo.Destroy());
      PetscCall(at->drop_transposed());
    }
    PetscCall(at->transfer_halo.Destroy());
    PetscCall(at->shared.Destroy());
  }
  levels_.clear();
  if (gathering_) PetscCall(gathering_->Destroy());
  PetscCall(MatDestroy(&matrix_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<LevelFlops> SystemHierarchy::flops() const {
  std::vector<LevelFlops> all;
  for (const auto &of : levels_) {
    const Level &at = *of;
    all.emplace_back();
    if (!at.op) break; // another rank has it
    const PetscLogDouble n = (PetscLogDouble)at.patch.all().points(), dof = (PetscLogDouble)at.patch.dof;
    LevelFlops          &flops = all.back();
    flops.residual = n * (2. * (PetscLogDouble)at.op->used_slots() + dof);
    flops.from_zero = n * (2 * dof * dof);
    flops.step = flops.residual + n * (2 * dof * dof + 2 * dof);
    flops.transfer = n * dof * 2 * at.transfers.coarsening.weights_of_a_point();
    if (&of == &levels_.back() && !at.relaxed)
      flops.solve = 2 * n * n * dof * dof;
    else
      flops.steps = at.smoothing.steps;
  }
  return all;
}

std::vector<LevelInfo> SystemHierarchy::levels() const {
  std::vector<LevelInfo> all;
  for (const auto &of : levels_) {
    const Level &at = *of;
    LevelInfo    info = {};
    if (!at.op) break; // another rank has it
    for (int a = 0; a < 3; a++) info.N[a] = at.grid.N[a];
    info.steps = at.smoothing.steps;
    std::copy_n(at.smoothing.omega, at.smoothing.steps, info.weights);
    info.place = place_of(at.whole, workers_);
    info.variable = true;
    info.unknowns = (int)at.grid.dof;
    info.passes = "pass by pass";
    if (at.relaxed) info.ratio = PetscMax(at.smoothing.bound - 1, 0);
    for (const Scratch<T> *array : {&at.b, &at.x, &at.r, &at.part})
      info.bytes += (PetscLogDouble)(array->size() * sizeof(T));
    info.bytes += (PetscLogDouble)(at.prolongation.bytes() + at.smoothing.blocks.bytes() + at.smoothing.alone.bytes());
    if (at.own) info.bytes += at.own->bytes();
    if (at.transposed) info.bytes += at.transposed->bytes();
    all.push_back(info);
  }
  all.front().bytes += (PetscLogDouble)(diagonal_.bytes() + marks_.bytes() + diagonal_of_setup_.bytes());
  all.back().bytes += (PetscLogDouble)dense_.bytes();
  return all;
}

} // namespace shellac
