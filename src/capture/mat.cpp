#include "capture/mat.hpp"

#include "stencil/types.hpp"

namespace shellac {

PetscErrorCode CapturedMat::Prepare(StencilOperator *which, Arrays *arrays,
                                    std::unique_ptr<PreparedOperator> *prepared) {
  std::unique_ptr<PreparedCapture> made;

  PetscFunctionBegin;
  PetscCall(static_cast<CapturedStencil *>(which)->Prepare(arrays, &made));
  *prepared = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedMat::invalidate() {
  PetscFunctionBegin;
  sweeps.invalidate();
  PetscCall(StencilMat::invalidate());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedMat::destroy() {
  PetscFunctionBegin;
  PetscCall(MatDestroy(&reference));
  PetscCall(MatCapturedForgetCoo(this));
  if (local_map) {
    PetscCall(ISLocalToGlobalMappingRestoreBlockIndices(local_map, &local_points));
    PetscCall(ISLocalToGlobalMappingDestroy(&local_map));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedMat::bind_operator() {
  PetscFunctionBegin;
  for (StencilOperator *of : {op.get(), transpose.get()})
    if (of) PetscCall(static_cast<CapturedStencil *>(of)->BindToHost(bound_to_host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- set-up --------------------------------------------------------------------------------------------------------

// The type of vectors on one rank that are where those of `type` are.
static std::string type_on_one_rank(VecType type) {
  const std::string name = type;
  for (const std::string distribution : {"mpi", "seq"})
    if (name.rfind(distribution, 0) == 0) return "seq" + name.substr(3);
  return name;
}

PetscErrorCode CapturedMat::make_operator(Mat A, PetscBool on_device, PetscInt depth) {
  const Patch patch = grid.owned_patch();
  VecType     vec_type;

  PetscFunctionBegin;
  arms = std::make_shared<const Arms>(grid);
  PetscCall(MatGetVecType(A, &vec_type));
  PetscCall(halo.Create(grid, patch, grid.box, on_device, halo_way));
  op = std::make_unique<CapturedStencil>(grid.comm, patch, arms,
                                         type_on_one_rank(on_device ? vec_type : VECSTANDARD).c_str(), depth);
  PetscCall(bind_operator());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- changes -------------------------------------------------------------------------------------------------------

PetscErrorCode CapturedMat::changed(Mat A) {
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(invalidate());
  // PETSc gives a new state after most changes: not after MatAXPY()
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(PetscObjectStateSet((PetscObject)A, state + 1));
  PetscCall(MatCapturedMakeReference(A, this));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CapturedMat::take_settings(const CapturedMat &from) {
  static_cast<CapturedSettings &>(*this) = from;
  halo_way = from.halo_way;
}

PetscErrorCode MatIsCaptured(Mat A, bool *is) {
  PetscErrorCode (*setter)(Mat, MatHaloType) = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSetHaloType_C", &setter));
  *is = setter != NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// DMCreateInterpolation() makes the type of its matrix after the coarse DMDA's Mat type where that is an AIJ's, and a
// host's AIJ otherwise, which would take the vectors of each multigrid cycle to the host and back. So a coarse DMDA of
// ours has a GPU's AIJ type until its interpolation is there, and ours when its operator is made.
static PetscErrorCode coarsened(DM fine, DM coarse, void *);
static PetscErrorCode restricted(DM, Mat, Vec, Mat, DM coarse, void *) {
  PetscObject ours;
  MatType     type;
  PetscBool   changed;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)coarse, "ShellacCoarse", &ours));
  PetscCall(DMGetMatType(coarse, &type));
  PetscCall(PetscStrcmp(type, MATAIJCUSPARSE, &changed));
  if (ours && changed) PetscCall(DMSetMatType(coarse, MATSTENCILSHELL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode coarsened(DM fine, DM coarse, void *) {
  MatType        type;
  PetscBool      captured;
  PetscObject    ours;
  PetscContainer mark;

  PetscFunctionBegin;
  PetscCall(DMGetMatType(fine, &type));
  PetscCall(PetscStrcmp(type, MATSTENCILSHELL, &captured));
  PetscCall(PetscObjectQuery((PetscObject)fine, "ShellacCoarse", &ours));
  if (!captured && !ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)coarse), &mark));
  PetscCall(PetscObjectCompose((PetscObject)coarse, "ShellacCoarse", (PetscObject)mark));
  PetscCall(PetscContainerDestroy(&mark));
  PetscCall(DMSetMatType(coarse, MATAIJCUSPARSE));
  PetscCall(DMCoarsenHookAdd(coarse, coarsened, restricted, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedMat::set_up(Mat A) {
  PetscBool   on_device;
  PetscMPIInt rank;
  DM          dm;
  Box         locals;

  PetscFunctionBegin;
  PetscCall(MatStencilSetUpLayout(A, this, &on_device));
  // rows near an end differ from those inside by the ends of their arms, and by the ends of arms of those they meet
  PetscCall(make_operator(A, on_device, grid.width + 1));
  symmetric = false; // unless somebody knows

  PetscCall(MatGetDM(A, &dm));
  if (on_device) PetscCall(DMCoarsenHookAdd(dm, coarsened, restricted, NULL));
  PetscCall(DMDAGetGhostCorners(dm, &ghost_start[0], &ghost_start[1], &ghost_start[2], &ghost_size[0], &ghost_size[1],
                                &ghost_size[2]));
  PetscCall(DMGetLocalToGlobalMapping(dm, &local_map));
  PetscCall(PetscObjectReference((PetscObject)local_map));
  PetscCall(ISLocalToGlobalMappingGetBlockIndices(local_map, &local_points));
  for (int a = 0; a < 3; a++) {
    if (a >= grid.dim) ghost_start[a] = 0, ghost_size[a] = 1;
    locals.lo[a] = ghost_start[a];
    locals.hi[a] = ghost_start[a] + ghost_size[a];
  }
  PetscCallMPI(MPI_Comm_rank(grid.comm, &rank));
  local_rows = NumberedRows(grid, *arms, locals, 0);
  places = Places(grid, *arms, rank);
  PetscCall(MatCapturedMakeReference(A, this));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedCreateLike(Mat A, Mat *B) {
  CapturedMat           *from, *to;
  MatType                type;
  VecType                vec_type;
  ISLocalToGlobalMapping rows, columns;
  PetscBool              bound;
  DM                     dm;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &from));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetVecType(A, &vec_type));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(MatStencilCreateOfSizes(A, type, B));
  PetscCall(MatGetStencil(*B, &to));
  to->take_settings(*from);
  PetscCall(MatSetDM(*B, dm));
  if (bound) PetscCall(MatBindToCPU(*B, PETSC_TRUE));
  PetscCall(MatSetUp(*B));
  PetscCall(MatSetVecType(*B, vec_type));
  PetscCall(MatGetLocalToGlobalMapping(A, &rows, &columns));
  if (rows) PetscCall(MatSetLocalToGlobalMapping(*B, rows, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- view ----------------------------------------------------------------------------------------------------------

static PetscErrorCode view(Mat A, PetscViewer viewer) {
  CapturedMat *context;
  bool         info;
  PetscMPIInt  ranks;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatStencilViewBegin(A, context, viewer, &info));
  if (!info) PetscFunctionReturn(PETSC_SUCCESS);
  const Grid            &grid = context->grid;
  const CapturedStencil &op = context->captured();
  PetscCallMPI(MPI_Comm_size(grid.comm, &ranks));
  PetscLogDouble ranks_of_form[3] = {0, 0, 0};
  PetscLogDouble kinds = op.storage() == Storage::arrays ? 0 : (PetscLogDouble)op.kinds();
  ranks_of_form[(int)op.storage()] = 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ranks_of_form, 3, MPI_DOUBLE, MPI_SUM, grid.comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &kinds, 1, MPI_DOUBLE, MPI_MAX, grid.comm));

  PetscCall(PetscViewerASCIIPrintf(
      viewer, "captured %s stencil of %d points, width %" PetscInt_FMT ", %" PetscInt_FMT " value%s a point\n",
      grid.box ? "box" : "star", context->arms->count(), grid.width, grid.dof, grid.dof > 1 ? "s" : ""));
  const char *const forms[] = {"constant: rows by their distance to the ends of the domain",
                               "indexed: a class index a point", "arrays: a coefficient a point for each slot"};
  for (int form = 0; form < 3; form++) {
    char where[64] = "", detail[64];
    if (ranks_of_form[form] == 0) continue;
    if (ranks_of_form[form] != ranks)
      PetscCall(PetscSNPrintf(where, sizeof(where), "on %.0f ranks ", ranks_of_form[form]));
    if (form == (int)Storage::arrays)
      PetscCall(PetscSNPrintf(detail, sizeof(detail), " (%d slots in use)", (int)op.used_slots()));
    else
      PetscCall(
          PetscSNPrintf(detail, sizeof(detail), ", %.0f class%s or fewer on a rank", kinds, kinds == 1 ? "" : "es"));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%sform %s%s\n", where, forms[form], detail)); // one line, one print
  }
  PetscCall(MatStencilViewEnd(A, context, op.bytes(), viewer));
  PetscLogDouble idle = op.idle_bytes();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &idle, 1, MPI_DOUBLE, MPI_SUM, grid.comm));
  if (idle > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "%.0f bytes of arrays stay for the next assembly (-mat_stencil_keep_arrays)\n", idle));
  if (context->transpose) PetscCall(PetscViewerASCIIPrintf(viewer, "its transpose is stored as well\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the type ------------------------------------------------------------------------------------------------------

PetscErrorCode MatCreate_Stencil(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatCreateStencilShell(A, new CapturedMat));
  PetscCall(MatCapturedSetOptionOperations(A));
  PetscCall(MatCapturedSetAssemblyOperations(A));
  PetscCall(MatCapturedSetCooOperations(A));
  PetscCall(MatCapturedSetSlotOperations(A));
  PetscCall(MatCapturedSetZeroRowsOperations(A));
  PetscCall(MatCapturedSetLoadOperations(A));
  PetscCall(MatCapturedSetAlgebraOperations(A));
  PetscCall(MatCapturedSetDiagonalOperations(A));
  PetscCall(MatCapturedSetTransposeOperations(A));
  PetscCall(MatCapturedSetColoringOperations(A));
  PetscCall(MatSetStencilType(A, MATSTENCILSHELL, view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
