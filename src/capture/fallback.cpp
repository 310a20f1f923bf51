// How a captured matrix becomes an AIJ (-mat_stencil_fallback), and takes the entries of one (MatLoad()).

#include <map>

#include "capture/mat.hpp"

namespace shellac {

PetscErrorCode MatCapturedFallBack(Mat A, CapturedMat *context) {
  std::vector<GlobalEntry> outside = std::move(context->outside);
  Mat                      aij;
  MatType                  type = MATAIJ;
  VecType                  vec_type;
  DM                       dm;
  ISLocalToGlobalMapping   rows, columns;
  const char              *name, *prefix;
  PetscInt                 starts[3], sizes[3];
  PetscBool                cuda;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(A, &vec_type));
  PetscCall(PetscStrendswith(vec_type, "cuda", &cuda));
  if (cuda) type = "aijcusparse";
  PetscCall(MatStencilAssemble(A, type, &aij));
  PetscCall(MatSetOption(aij, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  // entries may have been inserted and then added to, or the other way round
  std::map<std::pair<PetscInt, PetscInt>, PetscScalar> entries;
  for (const GlobalEntry &e : outside) {
    PetscScalar &entry = entries[{e.row, e.column}];
    entry = e.mode == ADD_VALUES ? entry + e.value : e.value;
  }
  for (const auto &e : entries) PetscCall(MatSetValue(aij, e.first.first, e.first.second, e.second, INSERT_VALUES));
  PetscCall(assemble(aij));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatSetDM(aij, dm));
  PetscCall(MatGetLocalToGlobalMapping(A, &rows, &columns));
  if (rows) PetscCall(MatSetLocalToGlobalMapping(aij, rows, columns));
  PetscCall(DMDAGetGhostCorners(dm, &starts[0], &starts[1], &starts[2], &sizes[0], &sizes[1], &sizes[2]));
  PetscCall(MatSetStencil(aij, context->grid.dim, sizes, starts, context->grid.dof));
  PetscCall(MatSetOption(aij, MAT_ROW_ORIENTED, context->row_oriented));
  PetscCall(MatSetOption(aij, MAT_IGNORE_OFF_PROC_ENTRIES, context->ignore_off_process));
  PetscCall(PetscObjectGetName((PetscObject)A, &name));
  PetscCall(PetscObjectSetName((PetscObject)aij, name));
  PetscCall(MatGetOptionsPrefix(A, &prefix));
  PetscCall(MatSetOptionsPrefix(aij, prefix));
  PetscCall(PetscPrintf(context->grid.comm,
                        "Mat of type stencil: entries outside the DMDA's stencil; it is of type %s from now on "
                        "(-mat_stencil_fallback aij)\n",
                        type));
  PetscCall(MatHeaderReplace(A, &aij)); // the context is gone
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- from a file ---------------------------------------------------------------------------------------------------

// Into an AIJ on the same grid first. As an AIJ's, files have the order of the whole grid where DMCreateMatrix() made the
// matrix, that of the rows otherwise.
static PetscErrorCode load(Mat A, PetscViewer viewer) {
  CapturedMat *context;
  Mat          aij;
  DM           dm, grid = NULL;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &dm));
  PetscCheck(
      dm, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
      "MatLoad() into a Mat of type stencil needs its DMDA; where DMCreateMatrix() has made it on several ranks, call "
      "MatZeroEntries() before MatLoad()");
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatStencilRestoreView(A, context));
  if (context->dmda_view) {
    PetscCall(DMDACreateCompatibleDMDA(dm, context->grid.dof, &grid));
    PetscCall(DMSetMatType(grid, MATAIJ));
    PetscCall(DMCreateMatrix(grid, &aij));
  } else
    PetscCall(MatStencilCreateOfSizes(A, MATAIJ, &aij));
  PetscCall(MatLoad(aij, viewer));
  PetscCall(MatZeroEntries(A));
  PetscCall(for_each_row(aij, [&](PetscInt row, PetscInt n, const PetscInt *columns, const PetscScalar *values) {
    return MatSetValues(A, 1, &row, n, columns, values, INSERT_VALUES);
  }));
  PetscCall(MatDestroy(&aij));
  PetscCall(DMDestroy(&grid));
  PetscCall(assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetLoadOperations(Mat A) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  context->load = load;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
