#include "stencil/mat.hpp"

#include "options/agreement.hpp"

namespace shellac {

PetscLogEvent halo_begin_event, halo_end_event;

// The matrix that was asked for last: programs set the values of one matrix row by row, and the shell looks its context up
// by name. An identity is never used again, an address may be.
static struct {
  Mat           A;
  PetscObjectId id;
  StencilMat   *context; // null for none
} last_asked;

PetscErrorCode MatGetStencil(Mat A, StencilMat **context) {
  PetscObjectId id = 0;

  PetscFunctionBegin;
  if (A) PetscCall(PetscObjectGetId((PetscObject)A, &id));
  if (!last_asked.context || A != last_asked.A || id != last_asked.id) {
    PetscCall(MatShellGetContext(A, (void *)context));
    last_asked = {A, id, *context};
  }
  *context = last_asked.context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetReadyStencil(Mat A, StencilMat **context, bool collective) {
  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, context));
  if (!(*context)->op) PetscCall(MatSetUp(A));
  PetscCall((*context)->refresh(A, collective));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVersion::Read(Mat A) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  refreshes = context->refreshes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVersion::Compare(Mat A, MatChange *change) const {
  StencilMat *context;
  MatVersion  now;

  PetscFunctionBegin;
  *change = MatChange::other;
  PetscCall(PetscObjectGetId((PetscObject)A, &now.id));
  if (now.id != id) PetscFunctionReturn(PETSC_SUCCESS); // and maybe none of ours
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(now.Read(A));
  if (now.state == state) *change = now.refreshes == refreshes ? MatChange::none : MatChange::refreshed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilMat::invalidate() {
  PetscFunctionBegin;
  aij_is_old = true;
  for (auto &block : row_blocks) block->first = block->last = 0;
  transpose.reset();
  inverse_blocks.clear();
  divides = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy_context(void *argument) {
  StencilMat *context = context_to_destroy<StencilMat>(argument);

  PetscFunctionBegin;
  if (last_asked.context == context) last_asked = {};
  PetscCall(context->invalidate());
  PetscCall(MatDestroy(&context->aij));
  PetscCall(context->destroy());
  PetscCall(context->halo.Destroy());
  delete context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- set-up --------------------------------------------------------------------------------------------------------

static PetscErrorCode set_halo_type(Mat A, MatHaloType type) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(type >= MAT_HALO_AUTOMATIC && type <= MAT_HALO_HOST, PetscObjectComm((PetscObject)A),
                    PETSC_ERR_ARG_OUTOFRANGE, "halo type %d is unknown; use automatic, ipc, nccl, mpi or host",
                    (int)type);
  SHELLAC_CHECK_ALL(!context->op || (HaloWay)type == context->halo_way, PetscObjectComm((PetscObject)A),
                    PETSC_ERR_ORDER, "the halo type is %s since MatSetUp(); set %s before",
                    MatHaloTypes[(int)context->halo_way], MatHaloTypes[type]);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatSetHaloType()", 1, &type));
  context->halo_way = (HaloWay)type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilSetHaloFromOptions(Mat A, const Option &option, OptionItems PetscOptionsObject) {
  StencilMat *context;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  MatHaloType type = (MatHaloType)context->halo_way;
  PetscCall(read_option(PetscOptionsObject, option, MatHaloTypes, &type, &set));
  if (set) PetscCall(set_halo_type(A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local numbering and stencil as DMCreateMatrix() sets them, for Mats that it does not make.
static PetscErrorCode set_local_numbering(Mat A, const Grid &grid, DM dm) {
  ISLocalToGlobalMapping present, map;
  PetscInt               start[3], size[3];

  PetscFunctionBegin;
  PetscCall(MatGetLocalToGlobalMapping(A, &present, NULL));
  PetscCall(DMGetLocalToGlobalMapping(dm, &map));
  if (!present) PetscCall(MatSetLocalToGlobalMapping(A, map, map));
  PetscCall(DMDAGetGhostCorners(dm, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  PetscCall(MatSetStencil(A, grid.dim, size, start, grid.dof));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What to do where -dm_mat_type reaches all DMs of a program; with the type.
#define DMDA_ALONE                                                                                                     \
  "give the DMDA an options prefix by DMSetOptionsPrefix(), and use -<prefix>dm_mat_type %s; or take -dm_mat_type aij"

PetscErrorCode MatStencilSetUpLayout(Mat A, StencilMat *context, PetscBool *on_device) {
  DM          dm;
  DMType      dm_type;
  VecType     vec_type;
  MatType     type;
  PetscInt    m, n, M, N, owned;
  PetscBool   is_da, bound = PETSC_FALSE;
  PetscMPIInt misfit;
  PetscLayout layout[2];

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatGetType(A, &type));
  // a DMStag, DMPlex or DMComposite sets itself after MatSetUp()
  PetscCheck(
      dm, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
      "a Mat of type %s needs the DMDA whose grid it acts on, and has no DM; call MatSetDM() before MatSetUp(). If "
      "DMCreateMatrix() makes it for a DMStag, DMPlex or DMComposite, these cannot have this type: " DMDA_ALONE,
      type, type);
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
  PetscCall(DMGetType(dm, &dm_type));
  PetscCheck(
      is_da, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG,
      "a Mat of type %s needs the grid of a DMDA; its DM is of type %s, which cannot have this type: " DMDA_ALONE, type,
      dm_type ? dm_type : "(not set)", type);
  PetscCall(GridCreate(dm, &context->grid));
  const Grid &grid = context->grid;
  owned = grid.dof * grid.size[0] * grid.size[1] * grid.size[2];
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  misfit = (m >= 0 && m != owned) || (n >= 0 && n != owned) || (M >= 0 && M != grid.offset.back()) ||
           (N >= 0 && N != grid.offset.back());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &misfit, 1, MPI_INT, MPI_MAX, grid.comm));
  PetscCheck(!misfit, grid.comm, PETSC_ERR_ARG_SIZ,
             "the Mat is %" PetscInt_FMT " x %" PetscInt_FMT " (on this rank %" PetscInt_FMT " x %" PetscInt_FMT
             "), the DMDA has %" PetscInt_FMT " unknowns (here %" PetscInt_FMT "); leave out MatSetSizes()",
             M, N, m, n, grid.offset.back(), owned);
  if (m < 0) PetscCall(MatSetSizes(A, owned, owned, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(DMGetVecType(dm, &vec_type));
  PetscCall(MatSetVecType(A, vec_type));
  PetscCall(PetscStrendswith(vec_type, "cuda", on_device));
  if (*on_device) { // but few points may be bound to the host: -dm_bind_below
    Vec v;
    PetscCall(DMGetGlobalVector(dm, &v));
    PetscCall(VecBoundToCPU(v, &bound));
    PetscCall(DMRestoreGlobalVector(dm, &v));
    if (bound) {
      PetscCall(MatSetBindingPropagates(A, PETSC_TRUE));
      PetscCall(MatBindToCPU(A, PETSC_TRUE));
      *on_device = PETSC_FALSE;
    }
  }
  PetscCall(MatSetBlockSize(A, grid.dof)); // also where it is 1: PETSc's conversions take the number as it stands
  PetscCall(MatGetLayouts(A, &layout[0], &layout[1]));
  for (PetscLayout &l : layout) PetscCall(PetscLayoutSetUp(l));
  PetscCall(set_local_numbering(A, grid, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bind_to_cpu(Mat A, PetscBool bound) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  context->bound_to_host = bound;
  PetscCall(context->bind_operator());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_up(Mat A) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  if (!context->op) PetscCall(context->set_up(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- view ----------------------------------------------------------------------------------------------------------

PetscErrorCode MatStencilRestoreView(Mat A, StencilMat *context) {
  OperationFn *present;
  PetscErrorCode (*ours)(Mat, PetscViewer);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "ShellacView_C", &ours));
  PetscCall(MatGetOperation(A, MATOP_VIEW, (OperationFn **)&present));
  if (present != reinterpret_cast<OperationFn *>(ours)) {
    context->dmda_view = reinterpret_cast<PetscErrorCode (*)(Mat, PetscViewer)>(present);
    PetscCall(set_operation(A, MATOP_VIEW, ours));
    PetscCall(set_operation(A, MATOP_LOAD, context->load));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilViewBegin(Mat A, StencilMat *context, PetscViewer viewer, bool *info) {
  PetscBool         ascii;
  PetscViewerFormat format;
  Mat               aij;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  *info = ascii && (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL);
  if (*info) PetscFunctionReturn(PETSC_SUCCESS);
  if (context->dmda_view)
    PetscCall((*context->dmda_view)(A, viewer));
  else {
    PetscCall(MatStencilGetAssembled(A, &aij));
    PetscCall(MatView(aij, viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilViewEnd(Mat A, StencilMat *context, PetscLogDouble stored, PetscViewer viewer) {
  PetscLogDouble bytes[] = {stored, context->halo.bytes()};
  MatInfo        info;
  VecType        vec_type;
  PetscBool      cuda;
  PetscMPIInt    ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(context->grid.comm, &ranks));
  PetscCall(MatGetVecType(A, &vec_type));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_SUM, context->grid.comm));
  const PetscLogDouble rows = (PetscLogDouble)context->grid.offset.back();
  const PetscLogDouble of_aij = info.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt)) + rows * sizeof(PetscInt);
  PetscCall(PetscStrendswith(vec_type, "cuda", &cuda));
  if (cuda)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "products run where their vectors are; MatCreateVecs() makes vectors of type %s\n", vec_type));
  if (ranks > 1 && context->halo.transport())
    PetscCall(PetscViewerASCIIPrintf(viewer, "halos between GPUs travel by %s\n", context->halo.transport()));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "bytes stored: %.0f, and %.0f of halos; an AIJ of its %.0f nonzeros takes %.0f\n",
                                   bytes[0], bytes[1], info.nz_used, of_aij));
  if (context->aij)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "an assembled copy (AIJ) is stored, too, for a preconditioner that needs entries; "
                                     "none is for -pc_type stencilmg, jacobi, sor, mg\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- products ------------------------------------------------------------------------------------------------------

static PetscErrorCode exchange_begin(Halo *halo, const PetscScalar *u, PetscMemType memory, bool in_kernel) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(halo_begin_event, 0, 0, 0, 0));
  PetscCall(in_kernel ? halo->BeginInKernel(u) : halo->Begin(u, memory));
  PetscCall(PetscLogEventEnd(halo_begin_event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode exchange_end(Halo *halo) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(halo_end_event, 0, 0, 0, 0));
  PetscCall(halo->End());
  PetscCall(PetscLogEventEnd(halo_end_event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilExchange(StencilMat *context, const PetscScalar *u, PetscMemType memory,
                                  Field<PetscScalar> *field) {
  PetscFunctionBegin;
  PetscCall(exchange_begin(&context->halo, u, memory, false));
  PetscCall(exchange_end(&context->halo));
  *field = context->halo.field();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilApplyPrepared(const PreparedOperator &op, const Patch &patch, Halo *halo, PetscMemType memory,
                                       Form form, const PetscScalar *u, const PetscScalar *b, PetscScalar *y) {
  const bool in_kernel = halo->can_begin_in_kernel(memory),
             meanwhile = halo->travels_by_message(memory) && op.interior_first(memory); // the interior is computed

  PetscFunctionBegin;
  PetscCall(exchange_begin(halo, u, memory, in_kernel));
  if (!in_kernel && !meanwhile) PetscCall(exchange_end(halo));
  const PetscErrorCode code = op.apply(memory, meanwhile ? patch.interior() : patch.all(), halo->field(), form, b, y);
  const bool           exchanged = halo->exchanged();
  const PetscErrorCode end = in_kernel || meanwhile ? exchange_end(halo) : PETSC_SUCCESS; // as neighbours wait
  PetscCall(code);
  PetscCall(end);
  PetscCheck(exchanged, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no kernel has exchanged the halo that it was to read");
  if (meanwhile) PetscCall(op.points(memory, patch.border(), halo->field(), form, b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilGetOperator(StencilMat *context, bool transposed, StencilOperator **op) {
  PetscFunctionBegin;
  transposed = transposed && !context->symmetric;
  if (transposed && !context->transpose) PetscCall(context->make_transpose(&context->transpose));
  *op = transposed ? context->transpose.get() : context->op.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilCheckLayouts(Mat A, Vec x, Vec b, Vec y) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  if (!context->op) PetscCall(MatSetUp(A));
  PetscCall(GridCheckVector(context->grid, x, "operand"));
  if (b) PetscCall(GridCheckVector(context->grid, b, "added vector"));
  PetscCall(GridCheckVector(context->grid, y, "result"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilApply(Mat A, bool transposed, Form form, Vec x, Vec b, Vec y) {
  StencilMat                       *context;
  StencilOperator                  *which;
  std::unique_ptr<PreparedOperator> op;
  Arrays                            arrays;
  const PetscScalar                *px = NULL, *pb = NULL;
  PetscScalar                      *py = NULL;

  PetscFunctionBegin;
  PetscCheck(x != y, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_IDN,
             "the operator cannot write its result over the vector that it acts on; give another vector");
  PetscCall(MatStencilCheckLayouts(A, x, b, y));
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatStencilGetOperator(context, transposed, &which));
  PetscCall(MatStencilRestoreView(A, context));
  PetscCall(arrays.Read(x, &px));
  if (b && b != y) PetscCall(arrays.Read(b, &pb));
  if (b == y)
    PetscCall(arrays.ReadWrite(y, &py));
  else
    PetscCall(arrays.Write(y, &py));
  if (b == y) pb = py;
  PetscCall(context->Prepare(which, &arrays, &op));
  const PetscMemType memory = arrays.memory();
  const Patch       &patch = which->patch();

  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(MatStencilApplyPrepared(*op, patch, &context->halo, memory, form, px, pb, py));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(log_flops(memory, (op->flops() + (form == Form::product ? 0 : 1)) * patch.all().points() * patch.dof));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool transposed> static PetscErrorCode mult(Mat A, Vec x, Vec y) {
  return MatStencilApply(A, transposed, Form::product, x, NULL, y);
}
template <bool transposed> static PetscErrorCode mult_add(Mat A, Vec x, Vec b, Vec y) {
  return MatStencilApply(A, transposed, Form::sum, x, b, y);
}
static PetscErrorCode residual(Mat A, Vec b, Vec x, Vec r) {
  return MatStencilApply(A, false, Form::residual, x, b, r);
}

// ---- vectors -------------------------------------------------------------------------------------------------------

// As PETSc's own. But it would make, for each vector of several GPUs, an array on the host, which takes longer than a set-up
// of stencilmg; copies of a vector without arrays have none.
static PetscErrorCode create_vec(Mat A, PetscLayout layout, Vec *v) {
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  VecType     type;
  PetscBool   cuda, bound, propagates;
  PetscInt    n, N, bs;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscLayoutGetLocalSize(layout, &n));
  PetscCall(PetscLayoutGetSize(layout, &N));
  PetscCall(PetscLayoutGetBlockSize(layout, &bs));
  PetscCheck(n >= 0, comm, PETSC_ERR_ARG_WRONGSTATE, "the matrix has no sizes yet; call MatSetUp() before");
  PetscCall(MatGetVecType(A, &type));
  PetscCall(PetscStrendswith(type, VECCUDA, &cuda));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
#if PetscDefined(HAVE_CUDA)
  if (cuda && ranks > 1) {
    Vec none;
    PetscCall(VecCreateMPICUDAWithArray(comm, bs, n, N, NULL, &none));
    PetscCall(VecSetLayout(none, layout));
    PetscCall(VecDuplicate(none, v));
    PetscCall(VecDestroy(&none));
    PetscCall(VecSet(*v, 0));
  } else
#endif
  {
    PetscCall(VecCreate(comm, v));
    PetscCall(VecSetLayout(*v, layout));
    PetscCall(VecSetType(*v, type));
  }
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(MatGetBindingPropagates(A, &propagates));
  if (bound && propagates) {
    PetscCall(VecSetBindingPropagates(*v, PETSC_TRUE));
    PetscCall(VecBindToCPU(*v, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create_vecs(Mat A, Vec *right, Vec *left) {
  PetscLayout rows, columns;

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(A, &rows, &columns));
  if (right) PetscCall(create_vec(A, columns, right));
  if (left) PetscCall(create_vec(A, rows, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the type ------------------------------------------------------------------------------------------------------

PetscErrorCode MatCreateStencilShell(Mat A, StencilMat *context) {
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSHELL));
  PetscCall(MatShellSetContext(A, context));
  PetscCall(MatShellSetContextDestroy(A, destructor(destroy_context)));
  PetscCall(MatShellSetManageScalingShifts(A)); // we fold them into the kernels
  // what the shell would keep for its own product, which is not ours
  for (MatOperation op : {MATOP_ZERO_ROWS, MATOP_ZERO_ROWS_COLUMNS}) PetscCall(MatShellSetOperation(A, op, NULL));
  PetscCall(MatBindToCPU(A, PETSC_FALSE)); // a new Mat is bound until its type says that it can leave the host
  PetscCall(set_operation(A, MATOP_BIND_TO_CPU, bind_to_cpu));
  PetscCall(set_operation(A, MATOP_SETUP, set_up));
  PetscCall(set_operation(A, MATOP_CREATE_VECS, create_vecs));
  PetscCall(set_operation(A, MATOP_MULT, mult<false>));
  PetscCall(set_operation(A, MATOP_MULT_ADD, mult_add<false>));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE, mult<true>));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE_ADD, mult_add<true>));
  PetscCall(set_operation(A, MATOP_RESIDUAL, residual));
  PetscCall(set_operation(A, MATOP_SOR, MatStencilRelax));
  PetscCall(MatStencilSetBlockDiagonalOperation(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetHaloType_C", set_halo_type));
  PetscCall(MatStencilSetEntryOperations(A));
  PetscCall(MatStencilSetAssembledOperations(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetStencilType(Mat A, MatType type, PetscErrorCode (*view)(Mat, PetscViewer)) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(set_operation(A, MATOP_LOAD, context->load));
  PetscCall(set_operation(A, MATOP_VIEW, view));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "ShellacView_C", view));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

const char *const MatHaloTypes[] = {"automatic", "ipc", "nccl", "mpi", "host", "MatHaloType", "MAT_HALO_", NULL};

PetscErrorCode MatSetHaloType(Mat A, MatHaloType type) {
  return shellac::try_method(A, "MatSetHaloType_C", NULL, type);
}
