#include "multigrid/setup/ghost_points.hpp"

#include "multigrid/values.hpp"

namespace shellac {

// On a patch that has the whole of each axis.
struct FillImages {
  Patch        patch;
  Box          box;
  PetscScalar *values;
  int          arrays;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    PetscInt       q[3];
    for (int a = 0; a < 3; a++) q[a] = patch.periodic[a] ? (p[a] % patch.N[a] + patch.N[a]) % patch.N[a] : p[a];
    const size_t to = box.index(p), from = box.index(q), points = (size_t)box.points();
    for (int n = 0; n < arrays; n++) values[n * points + to] = values[n * points + from];
  }
};

PetscErrorCode fill_ghosts(PetscMemType memory, const Patch &patch, Halo *halo, const Box &box, PetscScalar *values,
                           int arrays) {
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
  if (is_alone(patch)) {
    PetscCall(for_each(memory, beyond, FillImages{patch, box, values, arrays}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<PetscScalar> own((size_t)all.points()); // of which there is what the neighbours or images need
  const Box                interior = patch.interior();
  Box                      inner = all; // away from the ends of periodic axes that this rank has wholly
  for (int a = 0; a < 3; a++) {
    const PetscInt reach = patch.periodic[a] && patch.size[a] == patch.N[a] ? PetscMin(patch.width, patch.size[a]) : 0;
    inner.lo[a] = PetscMax(interior.lo[a], reach);
    inner.hi[a] = PetscMax(PetscMin(interior.hi[a], patch.size[a] - reach), inner.lo[a]);
  }
  const Boxes border = difference(all, inner);
  for (int n = 0; n < arrays; n++, values += box.points()) {
    for (int b = 0; b < border.count; b++) copy_points(border.box[b], box, values, all, own.data());
    PetscCall(halo->Begin(own.data(), PETSC_MEMTYPE_HOST));
    PetscCall(halo->End());
    field = halo->field();
    field.u = own.data();
    for (int b = 0; b < beyond.count; b++)
      for_each_row(beyond.box[b], [&](const PetscInt p[3], PetscInt count) {
        copy_row(patch, field, p, count, values + box.index(p));
      });
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
