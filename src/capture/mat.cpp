#include "capture/mat.hpp"

#include "stencil/types.hpp"

namespace shellac {

PetscErrorCode MatGetCaptured(Mat A, CapturedMat **context) {
  StencilMat *base;

  PetscFunctionBegin;
  *context = NULL;
  PetscCall(MatGetReadyStencil(A, &base));
  *context = static_cast<CapturedMat *>(base);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetCapturedSettings(Mat A, CapturedMat **context) {
  StencilMat *base;

  PetscFunctionBegin;
  *context = NULL;
  PetscCall(MatGetStencil(A, &base));
  *context = static_cast<CapturedMat *>(base);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedMat::Prepare(StencilOperator *which, Arrays *arrays,
                                    std::unique_ptr<PreparedOperator> *prepared) {
  std::unique_ptr<PreparedCapture> made;

  PetscFunctionBegin;
  PetscCall(static_cast<CapturedStencil *>(which)->Prepare(arrays, &made));
  *prepared = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedMat::forget() {
  PetscFunctionBegin;
  if (transpose) PetscCall(static_cast<CapturedStencil &>(*transpose).Destroy());
  PetscCall(StencilMat::forget());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedMat::destroy() {
  PetscFunctionBegin;
  if (op) PetscCall(captured().Destroy());
  PetscCall(MatDestroy(&reference));
  if (local_map) {
    PetscCall(ISLocalToGlobalMappingRestoreBlockIndices(local_map, &local_points));
    PetscCall(ISLocalToGlobalMappingDestroy(&local_map));
  }
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

static Patch make_patch(const Grid &grid) {
  Patch patch;
  for (int a = 0; a < 3; a++) {
    patch.N[a] = grid.N[a];
    patch.start[a] = grid.start[a];
    patch.size[a] = grid.size[a];
    patch.identity[a] = false;
    patch.beyond[a] = grid.boundary[a] == DM_BOUNDARY_PERIODIC ? Beyond::around : Beyond::zero;
    for (int e = 0; e < 2; e++)
      patch.neighbour[a][e] = a < grid.dim && grid.neighbour(Direction::at(Direction::face(a, e))) >= 0;
  }
  patch.width = grid.width;
  patch.dof = grid.dof;
  return patch;
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
  PetscBool on_device;
  DM        dm;
  VecType   vec_type;

  PetscFunctionBegin;
  PetscCall(MatStencilSetUpLayout(A, this, &on_device));
  arms = std::make_shared<const Arms>(grid);
  const Patch patch = make_patch(grid);
  PetscCall(MatGetVecType(A, &vec_type));
  PetscCall(halo.Create(grid, patch, grid.box, on_device, halo_way));
  op = std::make_unique<CapturedStencil>(patch, arms, type_on_one_rank(on_device ? vec_type : VECSTANDARD).c_str());
  symmetric = false; // unless somebody knows

  PetscCall(MatGetDM(A, &dm));
  if (on_device) PetscCall(DMCoarsenHookAdd(dm, coarsened, restricted, NULL));
  PetscCall(DMDAGetGhostCorners(dm, &ghost_start[0], &ghost_start[1], &ghost_start[2], &ghost_size[0], &ghost_size[1],
                                &ghost_size[2]));
  PetscCall(DMGetLocalToGlobalMapping(dm, &local_map));
  PetscCall(PetscObjectReference((PetscObject)local_map));
  PetscCall(ISLocalToGlobalMappingGetBlockIndices(local_map, &local_points));
  distances = arms->complete();
  for (int a = 0; a < 3; a++)
    if (a >= grid.dim) ghost_start[a] = 0, ghost_size[a] = 1;
  for (int a = 0; a < 3; a++) {
    const DMBoundaryType ends = grid.boundary[a];
    domain_index[a].clear();
    for (PetscInt g = 0; g < ghost_size[a]; g++) { // beside the first owned point: what a mirror shows, the DMDA tells
      PetscInt at[3], q[3], c;
      for (int b = 0; b < 3; b++) at[b] = b == a ? g : grid.start[b] - ghost_start[b];
      const PetscInt point = local_points[at[0] + ghost_size[0] * (at[1] + ghost_size[1] * at[2])];
      q[a] = ghost_start[a] + g;
      if (ends == DM_BOUNDARY_MIRROR && point >= 0) (void)grid.find_row(point * grid.dof, q, &c);
      domain_index[a].push_back(q[a]);
    }
    distances = distances && ends != DM_BOUNDARY_MIRROR && ends != DM_BOUNDARY_GHOSTED &&
                (a >= grid.dim || ghost_size[a] > 2 * grid.width);
  }
  arm_distance.clear();
  for (int arm = 0; arm < arms->count(); arm++) {
    const PetscInt *step = arms->step(arm);
    arm_distance.push_back(step[0] + ghost_size[0] * (step[1] + ghost_size[1] * step[2]));
  }
  PetscCall(MatCapturedMakeReference(A, this));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedCreateLike(Mat A, Mat *B) {
  CapturedMat           *from, *to;
  VecType                vec_type;
  ISLocalToGlobalMapping rows, columns;
  PetscInt               m, n, M, N, bs;
  PetscBool              bound;
  DM                     dm;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &from));
  PetscCall(MatGetVecType(A, &vec_type));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, m, n, M, N));
  PetscCall(MatSetBlockSize(*B, bs));
  PetscCall(MatSetType(*B, MATSTENCILSHELL));
  PetscCall(MatGetCapturedSettings(*B, &to));
  to->compression = from->compression;
  to->fallback = from->fallback;
  to->row_oriented = from->row_oriented;
  to->ignore_off_process = from->ignore_off_process;
  to->drop_outside = from->drop_outside;
  to->halo_way = from->halo_way;
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
  CapturedMat      *context;
  PetscBool         ascii;
  PetscViewerFormat format;
  VecType           vec_type;
  PetscMPIInt       ranks;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (!ascii || (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL)) {
    PetscCall(MatStencilViewEntries(A, context, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Grid            &grid = context->grid;
  const CapturedStencil &op = context->captured();
  PetscCallMPI(MPI_Comm_size(grid.comm, &ranks));
  PetscCall(MatGetVecType(A, &vec_type));
  MatInfo info;
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  const PetscLogDouble rows = (PetscLogDouble)grid.offset.back();
  const PetscLogDouble needed = info.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt)) + rows * sizeof(PetscInt);
  PetscLogDouble       sums[5] = {op.bytes(), context->halo.bytes(), 0, 0, 0}; // and the ranks of each form
  PetscLogDouble       kinds = op.storage() == Storage::arrays ? 0 : (PetscLogDouble)op.kinds();
  sums[2 + (int)op.storage()] = 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 5, MPI_DOUBLE, MPI_SUM, grid.comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &kinds, 1, MPI_DOUBLE, MPI_MAX, grid.comm));

  PetscCall(PetscViewerASCIIPrintf(
      viewer, "captured %s stencil of %d points, width %" PetscInt_FMT ", %" PetscInt_FMT " value%s a point\n",
      grid.box ? "box" : "star", context->arms->count(), grid.width, grid.dof, grid.dof > 1 ? "s" : ""));
  const char *const forms[] = {"constant: rows by their distance to the ends of the domain",
                               "indexed: a class index a point", "arrays: a coefficient a point for each slot"};
  for (int form = 0; form < 3; form++) {
    char where[64] = "", detail[64];
    if (sums[2 + form] == 0) continue;
    if (sums[2 + form] != ranks) PetscCall(PetscSNPrintf(where, sizeof(where), "on %.0f ranks ", sums[2 + form]));
    if (form == (int)Storage::arrays)
      PetscCall(PetscSNPrintf(detail, sizeof(detail), " (%d slots in use)", (int)op.used_slots()));
    else
      PetscCall(
          PetscSNPrintf(detail, sizeof(detail), ", %.0f class%s or fewer on a rank", kinds, kinds == 1 ? "" : "es"));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%sform %s%s\n", where, forms[form], detail)); // one line, one print
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "computed where its vectors are; makes vectors of type %s\n", vec_type));
  if (ranks > 1 && context->halo.transport())
    PetscCall(PetscViewerASCIIPrintf(viewer, "halos between GPUs travel by %s\n", context->halo.transport()));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "bytes stored: %.0f, and %.0f of halos; an AIJ of its %.0f nonzeros takes %.0f\n",
                                   sums[0], sums[1], info.nz_used, needed));
  if (context->transpose) PetscCall(PetscViewerASCIIPrintf(viewer, "its transpose is stored as well\n"));
  if (context->aij)
    PetscCall(PetscViewerASCIIPrintf(viewer, "an assembled copy (AIJ) is stored, for a solver that needs entries\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the type ------------------------------------------------------------------------------------------------------

PetscErrorCode MatCreate_Stencil(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatCreateStencilShell(A, new CapturedMat));
  PetscCall(MatCapturedSetOptionOperations(A));
  PetscCall(MatCapturedSetAssemblyOperations(A));
  PetscCall(MatCapturedSetZeroRowsOperations(A));
  PetscCall(MatCapturedSetLoadOperations(A));
  PetscCall(MatCapturedSetAlgebraOperations(A));
  PetscCall(MatCapturedSetColoringOperations(A));
  PetscCall(MatSetStencilType(A, MATSTENCILSHELL, view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
