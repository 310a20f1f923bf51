#include "formulas/field.hpp"

#include "grid/halo.hpp"
#include "stencil/mat.hpp"

namespace shellac {

PetscErrorCode LoadedField::Hold(Vec v) {
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)v));
  PetscCall(VecDestroy(&vec_));
  vec_ = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadedField::Check(const Grid &grid, PetscInt components, Vec v, const char *name) {
  PetscBool da = PETSC_FALSE;
  bool      same = true;
  Grid      other;
  DM        dm;

  PetscFunctionBegin;
  PetscCall(GridCheckVector(grid, v, name, components));
  PetscCall(VecGetDM(v, &dm));
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &da));
  if (da) { // as many values on each rank may be those of other points
    PetscCall(GridCreate(dm, &other));
    same = grid.is_distributed_as(other);
  }
  SHELLAC_CHECK_ALL(same, grid.comm, PETSC_ERR_ARG_SIZ,
                    "the %s is a vector of a DMDA whose points are distributed over the ranks in another way than the "
                    "operator's; make it with DMCreateGlobalVector() of the operator's DMDA, or of a compatible one",
                    name);
  PetscCall(Hold(v));
  PetscCall(PetscObjectStateGet((PetscObject)v, &state_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadedField::Read(const Grid &grid, const Ends ends[3], PetscInt width, bool box,
                                 PetscInt components) const {
  const Patch        patch = grid.owned_patch();
  Patch              points = patch;
  Halo               halo;
  const PetscScalar *values;

  PetscFunctionBegin;
  points.width = width;
  points.dof = components;
  PetscCall(halo.Create(grid, points, box, PETSC_FALSE, HaloWay::host));
  PetscCall(VecGetArrayRead(vec_, &values));
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
  PetscCall(VecRestoreArrayRead(vec_, &values));
  PetscCall(halo.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadedField::CheckValues(const Grid                                                  &grid,
                                        const std::function<bool(PetscScalar, const PetscInt i[3])> &good,
                                        const char *const names[], const char *remedy) const {
  std::string problem;

  PetscFunctionBegin;
  for_each_owned(grid, [&](const PetscInt i[3]) {
    for (PetscInt c = 0; c < components_ && problem.empty(); c++) {
      const PetscScalar value = at(i, c);
      if (good(value, i)) continue;
      problem = std::string(names[c]) + " is " + number(value) + " at the point " + text_of(i, grid.dim);
    }
  });
  SHELLAC_CHECK_ALL(problem.empty(), grid.comm, PETSC_ERR_ARG_OUTOFRANGE, "%s; %s", problem.c_str(), remedy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool LoadedField::stale() const {
  PetscObjectState state = state_;
  return vec_ && (PetscObjectStateGet((PetscObject)vec_, &state) || state != state_);
}

} // namespace shellac
