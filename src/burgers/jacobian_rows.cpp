// The rows of the Jacobian, on the host, and the AIJ that holds them.

#include "burgers/jacobian_rows.hpp"

#include <cstring>

#include "burgers/types.hpp"

namespace shellac {

PetscErrorCode BurgersForEachRow(Burgers *burgers, Vec state, const UseRow &f) {
  const PetscScalar         *array;
  Halo                      &halo = burgers->halo;
  std::vector<JacobianEntry> rows;
  PetscErrorCode             code = PETSC_SUCCESS;

  PetscFunctionBegin;
  const Patch &patch = burgers->patch.patch;
  PetscCall(VecGetArrayRead(state, &array));
  PetscCall(halo.Begin(array, PETSC_MEMTYPE_HOST));
  PetscCall(halo.End());
  const Field<PetscReal> u = real_field(halo.field());
  for (PetscInt j = 0; j < patch.size[1]; j++)
    for (PetscInt i = 0; i < patch.size[0]; i++) {
      const PetscInt p[3] = {i, j, 0};
      burgers->operations->jacobian_rows(burgers->patch, u, p, &rows);
      for (PetscInt c = 0; c < patch.dof; c++)
        if (!code) code = f(p, c, rows);
    }
  PetscCall(VecRestoreArrayRead(state, &array));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Room for all entries, also in a matrix of the program's, in one made for a shorter reconstruction, and in one that an
// explicit step has shifted before it had entries.
static PetscErrorCode make_room(const Burgers &burgers, Mat P) {
  const Patch   &patch = burgers.patch.patch;
  const PetscInt n = (PetscInt)patch.all().points() * patch.dof;
  const PetscInt entries = (2 * burgers.operations->radius * burgers.grid.dim + 1) * patch.dof;
  MatInfo        info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(P, MAT_LOCAL, &info));
  PetscMPIInt lacks = info.nz_allocated < (PetscLogDouble)n * PetscMin(entries, n);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, burgers.comm()));
  if (lacks) {
    PetscCall(MatSeqAIJSetPreallocation(P, PetscMin(entries, n), NULL));
    PetscCall(MatMPIAIJSetPreallocation(P, PetscMin(entries, n), NULL, entries, NULL));
  }
  PetscCall(MatSetOption(P, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(P, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE)); // fewer columns than entries on tiny grids
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersAssembleJacobian(Burgers *burgers, Vec state, PetscReal shift, PetscReal scale, Mat P) {
  const Grid              &grid = burgers->grid;
  std::vector<PetscInt>    columns;
  std::vector<PetscScalar> values;

  PetscFunctionBegin;
  PetscCall(make_room(*burgers, P));
  PetscCall(MatZeroEntries(P));
  PetscCall(BurgersForEachRow(
      burgers, state, [&](const PetscInt p[3], PetscInt c, const std::vector<JacobianEntry> &entries) {
        const PetscInt at[3] = {grid.start[0] + p[0], grid.start[1] + p[1], 0};
        const PetscInt row = grid.global_row(at) + c;
        columns.clear();
        values.clear();
        for (const JacobianEntry &entry : entries) {
          PetscInt q[3] = {grid.start[0] + entry.p[0], grid.start[1] + entry.p[1], 0};
          for (int a = 0; a < 2; a++) q[a] = (q[a] % grid.N[a] + grid.N[a]) % grid.N[a];
          columns.push_back(grid.global_row(q) + entry.c);
          values.push_back(scale * entry.value[c] + (columns.back() == row ? shift : 0));
        }
        // a column that two places of the stencil share gets their sum
        return MatSetValues(P, 1, &row, (PetscInt)columns.size(), columns.data(), values.data(), ADD_VALUES);
      }));
  PetscCall(assemble(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool BurgersIsAIJ(MatType type) {
  for (const char *name : {"aij", "seqaij", "mpiaij"}) // and kinds whose names go on, as aijcusparse
    if (!strncmp(type, name, strlen(name))) return true;
  return false;
}

PetscErrorCode BurgersChooseAIJ(DM dm, MatType *type) {
  VecType   vec_type;
  PetscBool plain;

  PetscFunctionBegin;
  PetscCall(DMGetMatType(dm, type));
  PetscCall(DMGetVecType(dm, &vec_type));
  PetscCall(PetscStrcmp(*type, MATAIJ, &plain));
  if (plain || !BurgersIsAIJ(*type)) *type = strstr(vec_type, "cuda") ? MATAIJCUSPARSE : MATAIJ;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersCreateAIJ(Burgers *burgers, MatType type, Mat *P) {
  const Patch   &patch = burgers->patch.patch;
  const PetscInt n = (PetscInt)patch.all().points() * patch.dof;

  PetscFunctionBegin;
  PetscCall(MatCreate(burgers->comm(), P));
  PetscCall(MatSetSizes(*P, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*P, type));
  PetscCall(MatSetBlockSize(*P, patch.dof));
  PetscCall(MatSetUp(*P));
  PetscCall(make_room(*burgers, *P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
