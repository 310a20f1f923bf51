#include "multigrid/beyond.hpp"

#include "multigrid/points.hpp"

namespace shellac {

PetscErrorCode fill_beyond(const Patch &patch, Halo *halo, const Box &box, PetscScalar *values) {
  Box                in_domain = box;
  const Box          all = patch.all();
  Field<PetscScalar> field = {};

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) {
    if (patch.periodic[a]) continue;
    in_domain.lo[a] = PetscMax(box.lo[a], -patch.start[a]);
    in_domain.hi[a] = PetscMin(box.hi[a], patch.N[a] - patch.start[a]);
  }
  const Boxes beyond = difference(in_domain, all);
  if (!beyond.points()) PetscFunctionReturn(PETSC_SUCCESS);
  std::vector<PetscScalar> own((size_t)all.points());
  copy_points(all, box, values, all, own.data());
  field.u = own.data();
  if (!is_alone(patch)) {
    PetscCall(halo->Begin(own.data(), PETSC_MEMTYPE_HOST));
    PetscCall(halo->End());
    field = halo->field();
  }
  for (int b = 0; b < beyond.count; b++)
    for_each_on_host(beyond.box[b], [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt p[3] = {i, j, k};
      values[box.index(p)] = value_at(patch, field, p);
    });
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
