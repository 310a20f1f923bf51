#include "formulas/field.hpp"

#include "grid/halo.hpp"

namespace shellac {

PetscErrorCode GridValues::Read(const Grid &grid, const Patch &patch, const Ends ends[3], PetscInt width, bool box,
                                PetscInt components, Vec v) {
  Patch              points = patch;
  Halo               halo;
  const PetscScalar *values;

  PetscFunctionBegin;
  points.width = width;
  points.dof = components;
  PetscCall(halo.Create(grid, points, box, PETSC_FALSE, HaloWay::host));
  PetscCall(VecGetArrayRead(v, &values));
  PetscCall(halo.Begin(values, PETSC_MEMTYPE_HOST));
  PetscCall(halo.End());
  const Field<PetscScalar> field = halo.field();
  components_ = components;
  Box all = points.all();
  for (int a = 0; a < 3; a++) {
    if (a < grid.dim) all.lo[a] -= width, all.hi[a] += width;
    start_[a] = patch.start[a] + all.lo[a];
    size_[a] = all.hi[a] - all.lo[a];
  }
  values_.clear();
  values_.reserve((size_t)all.points() * (size_t)components);
  for_each_on_host(all, [&](PetscInt i, PetscInt j, PetscInt k) {
    PetscInt p[3] = {i, j, k};
    for (int a = 0; a < 3; a++)
      if (!grid.periodic(a)) {
        const PetscInt inside = ends[a].within(patch.start[a] + p[a]);
        p[a] = PetscMin(PetscMax(inside, 0), grid.N[a] - 1) - patch.start[a];
      }
    for (PetscInt c = 0; c < components; c++) values_.push_back(field.value(points, p, c));
  });
  array_ = values_.data();
  PetscCall(VecRestoreArrayRead(v, &values));
  PetscCall(halo.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadedField::Hold(Vec v) {
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)v));
  PetscCall(VecDestroy(&vec_));
  vec_ = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the points of a DMDA are distributed like those of the grid.
static PetscErrorCode is_distributed_as(const Grid &grid, DM dm, bool *is) {
  PetscBool da = PETSC_FALSE;
  Grid      other;

  PetscFunctionBegin;
  *is = true;
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &da));
  if (!da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GridCreate(dm, &other));
  *is = grid.is_distributed_as(other);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadedField::Check(const Grid &grid, PetscInt components, Vec v, const char *name) {
  Grid layout = grid;
  bool same;
  DM   dm;

  PetscFunctionBegin;
  for (PetscInt &offset : layout.offset) offset = offset / grid.dof * components;
  if (components != grid.dof) {
    PetscInt total;
    PetscCall(VecGetSize(v, &total));
    PetscCheck(total == layout.offset.back(), grid.comm, PETSC_ERR_ARG_SIZ,
               "the %s, of %" PetscInt_FMT " values, needs %" PetscInt_FMT " at each of the grid's %" PetscInt_FMT
               " points; make it with DMCreateGlobalVector() of a DMDA that DMDACreateCompatibleDMDA() makes with dof "
               "= %" PetscInt_FMT,
               name, total, components, layout.offset.back() / components, components);
  }
  PetscCall(GridCheckVector(layout, v, name));
  PetscCall(VecGetDM(v, &dm));
  PetscCall(is_distributed_as(grid, dm, &same)); // as many values on each rank may be those of other points
  SHELLAC_CHECK_ALL(same, grid.comm, PETSC_ERR_ARG_SIZ,
                    "the %s is a vector of a DMDA whose points are distributed over the ranks in another way than the "
                    "operator's; make it with DMCreateGlobalVector() of the operator's DMDA, or of a compatible one",
                    name);
  PetscCall(Hold(v));
  PetscCall(PetscObjectStateGet((PetscObject)v, &state_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadedField::Read(const Grid &grid, const Patch &patch, const Ends ends[3], PetscInt width, bool box,
                                 PetscInt components) const {
  PetscFunctionBegin;
  PetscCall(values_.Read(grid, patch, ends, width, box, components, vec_));
  is_read_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadedField::Load(const Grid &grid, const Patch &patch, const Ends ends[3], PetscInt width, bool box,
                                 PetscInt components, Vec v, const char *name) {
  PetscInt total;

  PetscFunctionBegin;
  PetscCall(VecGetSize(v, &total));
  if (!components) components = PetscMax(total / (grid.offset.back() / grid.dof), 1);
  PetscCall(Check(grid, components, v, name));
  PetscCall(Read(grid, patch, ends, width, box, components));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool LoadedField::stale() const {
  PetscObjectState state = state_;
  return vec_ && (PetscObjectStateGet((PetscObject)vec_, &state) || state != state_);
}

} // namespace shellac
