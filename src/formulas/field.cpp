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

PetscErrorCode LoadedField::Load(const Grid &grid, const Patch &patch, const Ends ends[3], PetscInt components, Vec v,
                                 const char *name) {
  Grid layout = grid;

  PetscFunctionBegin;
  for (PetscInt &offset : layout.offset) offset *= components;
  PetscCall(GridCheckVector(layout, v, name));
  PetscCall(Hold(v));
  PetscCall(values_.Read(grid, patch, ends, 1, false, components, v));
  PetscCall(PetscObjectStateGet((PetscObject)v, &state_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool LoadedField::stale() const {
  PetscObjectState state = state_;
  return vec_ && (PetscObjectStateGet((PetscObject)vec_, &state) || state != state_);
}

} // namespace shellac
