#include "multigrid/systems/gathering.hpp"

namespace shellac {

namespace {

constexpr PetscMemType on_gpu = PETSC_MEMTYPE_DEVICE;

// The entries of a row that one arm leads to.
struct ReadEntries {
  Patch                             patch;
  CapturedCoefficients<PetscScalar> from;
  int                               first; // slot
  PetscScalar                      *to;    // [points][dof]

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt     p[3] = {i, j, k}, dof = patch.dof;
    const size_t       at = patch.index(i, j, k);
    const PetscScalar *rows = from.rows(patch, p, at);
    for (PetscInt c = 0; c < dof; c++) to[at * dof + c] = from.entry(rows, first + (int)c, at);
  }
};
struct WriteEntries {
  Patch              patch;
  const PetscScalar *from;
  PetscScalar       *to[most_unknowns]; // null: zeros

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt dof = patch.dof;
    const size_t   at = patch.index(i, j, k);
    for (PetscInt c = 0; c < dof; c++)
      if (to[c]) to[c][at] = from[at * dof + c];
  }
};

Box of_values(Box points, PetscInt dof) {
  points.lo[0] *= dof, points.hi[0] *= dof;
  return points;
}

} // namespace

PetscErrorCode Gathering::Create(const Grid &grid, HaloWay way, bool may, const MultigridOptions &options,
                                 std::unique_ptr<Gathering> *gathering) {
  const PetscInt64 unknowns = box_of(grid).points() * grid.dof;
  int              all_may = may;
  PetscMPIInt      rank;
  FillingBoxes     boxes;

  PetscFunctionBegin;
  gathering->reset();
  if (unknowns > options.most_whole(true)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all_may, 1, MPI_INT, MPI_MIN, grid.comm));
  if (!all_may) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(grid.comm, &rank));
  auto made = std::make_unique<Gathering>();
  made->comm_ = grid.comm;
  made->own_ = of_values(part_of(grid, rank), grid.dof);
  made->all_ = of_values(box_of(grid), grid.dof);
  for (const Box &own : boxes_of(grid)) {
    boxes.own.push_back(of_values(own, grid.dof));
    boxes.wanted.push_back(made->all_);
  }
  boxes.from = made->own_;
  boxes.to = made->all_;
  PetscCall(made->filling_.Create(grid.comm, boxes, way));
  PetscCall(made->values_.Grow((size_t)made->own_.points(), on_gpu));
  if (unknowns <= options.most_whole(made->filling_.direct()))
    *gathering = std::move(made);
  else
    PetscCall(made->Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Gathering::Destroy() {
  PetscFunctionBegin;
  PetscCall(filling_.Destroy(sound_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Gathering::GetAll(PetscMemType memory, const PetscScalar *own, PetscScalar *all) {
  PetscFunctionBegin;
  PetscCall(filling_.CheckLate());
  sound_ = false;
  if (PetscMemTypeHost(memory)) {
    PetscCall(DeviceCopyFromHost(values_.at(on_gpu), own, values_.size() * sizeof(PetscScalar)));
    own = values_.at(on_gpu);
  }
  PetscCall(filling_.Run(own, all));
  sound_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Gathering::GetOwn(PetscMemType memory, const PetscScalar *all, PetscScalar *own) {
  const bool on_host = PetscMemTypeHost(memory);

  PetscFunctionBegin;
  PetscCall(CopyBox(own_, all, all_, on_host ? values_.at(on_gpu) : own, own_));
  if (on_host) PetscCall(DeviceCopyToHost(own, values_.at(on_gpu), values_.size() * sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Gathering::GetRows(CapturedStencil &own, CapturedStencil *all, PetscScalar *room) {
  const PetscInt                   dof = own.patch().dof;
  std::vector<int>                 used((size_t)own.slots());
  PetscScalar *const              *values;
  Arrays                           arrays(on_gpu);
  std::unique_ptr<PreparedCapture> op;

  PetscFunctionBegin;
  for (int s = 0; s < own.slots(); s++) used[(size_t)s] = own.uses(s);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, used.data(), own.slots(), MPI_INT, MPI_MAX, comm_));
  PetscCall(all->Zero());
  PetscCall(all->Open(&values, on_gpu));
  PetscCall(own.Prepare(&arrays, &op));
  ReadEntries  read = {own.patch(), op->coefficients(), 0, values_.at(on_gpu)};
  WriteEntries write = {all->patch(), room, {}};
  for (; read.first < own.slots(); read.first += (int)dof) {
    bool any = false;
    for (PetscInt c = 0; c < dof; c++) {
      const int s = read.first + (int)c;
      if (used[(size_t)s]) PetscCall(all->Need(s, false));
      write.to[c] = values[s];
      any = any || used[(size_t)s];
    }
    if (!any) continue;
    PetscCall(for_each_of_box(on_gpu, read.patch.all(), read));
    PetscCall(GetAll(on_gpu, read.to, room));
    PetscCall(for_each_of_box(on_gpu, write.patch.all(), write));
  }
  PetscCall(arrays.Restore());
  PetscCall(all->CloseAsArrays());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
