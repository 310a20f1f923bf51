#include "stencil/mat.hpp"

namespace shellac {

PetscLogEvent halo_begin_event, halo_end_event;

PetscErrorCode MatGetStencil(Mat A, StencilMat **context) {
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetReadyStencil(Mat A, StencilMat **context) {
  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, context));
  if (!(*context)->op) PetscCall(MatSetUp(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilMat::forget() {
  PetscFunctionBegin;
  PetscCall(MatDestroy(&aij));
  transpose.reset();
  divides = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy_context(void *argument) {
  StencilMat *context = context_to_destroy<StencilMat>(argument);

  PetscFunctionBegin;
  PetscCall(context->forget());
  PetscCall(context->destroy());
  PetscCall(context->halo.Destroy());
  delete context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- set-up --------------------------------------------------------------------------------------------------------

PetscErrorCode MatStencilSetHaloFromOptions(Mat A, StencilMat *context, OptionItems PetscOptionsObject) {
  PetscInt way = (PetscInt)context->halo_way;
  MatType  type;
  char     key[64];

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscSNPrintf(key, sizeof(key), "-mat_%s_halo", type));
  PetscCall(PetscOptionsEList(key, "How halos travel between GPUs; before MatSetUp()", NULL, halo_ways, 3,
                              halo_ways[way], &way, NULL));
  context->halo_way = (HaloWay)way;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilSetUpLayout(Mat A, StencilMat *context, PetscBool *on_device) {
  DM          dm;
  VecType     vec_type;
  MatType     type;
  PetscInt    m, n, M, N, owned;
  PetscBool   bound = PETSC_FALSE;
  PetscMPIInt misfit;
  PetscLayout layout[2];

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatGetType(A, &type));
  PetscCheck(
      dm, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
      "a Mat of type %s needs the DMDA whose grid it acts on; make it with DMCreateMatrix(), or call MatSetDM() before "
      "MatSetUp()",
      type);
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
  PetscCall(MatGetLayouts(A, &layout[0], &layout[1]));
  for (PetscLayout &l : layout) PetscCall(PetscLayoutSetUp(l));
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
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilViewEntries(Mat A, StencilMat *context, PetscViewer viewer) {
  Mat aij;

  PetscFunctionBegin;
  if (context->dmda_view)
    PetscCall((*context->dmda_view)(A, viewer));
  else {
    PetscCall(MatStencilGetAssembled(A, &aij));
    PetscCall(MatView(aij, viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- products ------------------------------------------------------------------------------------------------------

static PetscErrorCode exchange_begin(StencilMat *context, const PetscScalar *u, PetscMemType memory) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(halo_begin_event, 0, 0, 0, 0));
  PetscCall(context->halo.Begin(u, memory));
  PetscCall(PetscLogEventEnd(halo_begin_event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode exchange_end(StencilMat *context) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(halo_end_event, 0, 0, 0, 0));
  PetscCall(context->halo.End());
  PetscCall(PetscLogEventEnd(halo_end_event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilGetOperator(StencilMat *context, bool transposed, StencilOperator **op) {
  PetscFunctionBegin;
  transposed = transposed && !context->symmetric;
  if (transposed && !context->transpose) PetscCall(context->make_transpose(&context->transpose));
  *op = transposed ? context->transpose.get() : context->op.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilCheckLayouts(Mat A, bool transposed, Vec x, Vec b, Vec y) {
  PetscLayout rows, columns;

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(A, &rows, &columns));
  const struct {
    Vec         v;
    PetscLayout expected;
    const char *name;
  } vectors[] = {{x, transposed ? rows : columns, "operand"},
                 {b, transposed ? columns : rows, "added vector"},
                 {y, transposed ? columns : rows, "result"}};
  for (const auto &vector : vectors) {
    PetscLayout layout;
    PetscBool   same;
    if (!vector.v) continue;
    PetscCall(VecGetLayout(vector.v, &layout));
    PetscCall(PetscLayoutCompare(layout, vector.expected, &same));
    PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
               "the %s is distributed over the ranks in another way than the operator; make vectors with "
               "MatCreateVecs() or DMCreateGlobalVector()",
               vector.name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilApply(Mat A, bool transposed, Form form, Vec x, Vec b, Vec y) {
  StencilMat        *context;
  StencilOperator   *op;
  Arrays             arrays;
  const PetscScalar *px = NULL, *pb = NULL;
  PetscScalar       *py = NULL;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCheck(x != y, context->grid.comm, PETSC_ERR_ARG_IDN,
             "the operator cannot write its result over the vector that it acts on; give another vector");
  PetscCall(MatStencilCheckLayouts(A, transposed, x, b, y));
  PetscCall(MatStencilGetOperator(context, transposed, &op));
  PetscCall(MatStencilRestoreView(A, context));
  PetscCall(arrays.Read(x, &px));
  if (b && b != y) PetscCall(arrays.Read(b, &pb));
  if (b == y)
    PetscCall(arrays.ReadWrite(y, &py));
  else
    PetscCall(arrays.Write(y, &py));
  if (b == y) pb = py;
  PetscCall(context->bring(op, &arrays));
  const PetscMemType memory = arrays.memory();
  const Patch       &patch = op->patch();

  PetscCall(exchange_begin(context, px, memory));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(op->interior(memory, context->halo.field(), form, pb, py));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(exchange_end(context));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(op->points(memory, patch.border(), context->halo.field(), form, pb, py));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(log_flops(memory, (op->flops() + (form == Form::product ? 0 : 1)) * patch.all().points() * patch.dof));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Aᴴ x is the conjugate of Aᵀ times the conjugate of x.
static PetscErrorCode apply_hermitian_transpose(Mat A, Form form, Vec x, Vec b, Vec y) {
  Vec conjugate, product;

  PetscFunctionBegin;
  if (!PetscDefined(USE_COMPLEX)) {
    PetscCall(MatStencilApply(A, true, form, x, b, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(x != y, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_IDN,
             "the operator cannot write its result over the vector that it acts on; give another vector");
  PetscCall(VecDuplicate(x, &conjugate));
  PetscCall(VecCopy(x, conjugate));
  PetscCall(VecConjugate(conjugate));
  PetscCall(VecDuplicate(y, &product));
  PetscCall(MatStencilApply(A, true, Form::product, conjugate, NULL, product));
  PetscCall(VecConjugate(product));
  if (form == Form::sum) PetscCall(VecWAXPY(conjugate, 1, product, b));
  PetscCall(VecCopy(form == Form::sum ? conjugate : product, y));
  PetscCall(VecDestroy(&product));
  PetscCall(VecDestroy(&conjugate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mult(Mat A, Vec x, Vec y) {
  return MatStencilApply(A, false, Form::product, x, NULL, y);
}
static PetscErrorCode mult_add(Mat A, Vec x, Vec b, Vec y) {
  return MatStencilApply(A, false, Form::sum, x, b, y);
}
static PetscErrorCode mult_transpose(Mat A, Vec x, Vec y) {
  return MatStencilApply(A, true, Form::product, x, NULL, y);
}
static PetscErrorCode mult_transpose_add(Mat A, Vec x, Vec b, Vec y) {
  return MatStencilApply(A, true, Form::sum, x, b, y);
}
static PetscErrorCode mult_hermitian(Mat A, Vec x, Vec y) {
  return apply_hermitian_transpose(A, Form::product, x, NULL, y);
}
static PetscErrorCode mult_hermitian_add(Mat A, Vec x, Vec b, Vec y) {
  return apply_hermitian_transpose(A, Form::sum, x, b, y);
}
static PetscErrorCode residual(Mat A, Vec b, Vec x, Vec r) {
  return MatStencilApply(A, false, Form::residual, x, b, r);
}

// ---- sweeps --------------------------------------------------------------------------------------------------------

PetscErrorCode MatStencilCheckSweep(Mat A, StencilMat *context, MatSORType sweeps, PetscReal shift, Vec b, Vec x) {
  constexpr int unsupported = SOR_EISENSTAT | SOR_APPLY_UPPER | SOR_APPLY_LOWER;
  PetscReal     smallest;
  Vec           d;

  PetscFunctionBegin;
  PetscCheck(!(sweeps & unsupported), context->grid.comm, PETSC_ERR_SUP,
             "the sweep has no Eisenstat, upper or lower form; use -pc_sor_symmetric, or convert the operator to aij");
  PetscCheck(x != b, context->grid.comm, PETSC_ERR_ARG_IDN,
             "a sweep cannot write its result over the right-hand side; give another vector");
  if (context->divides && context->divides_shift == shift) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, NULL, &d)); // looked at once after each change
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecShift(d, shift));
  PetscCall(VecAbs(d));
  PetscCall(VecMin(d, NULL, &smallest));
  PetscCall(VecDestroy(&d));
  PetscCheck(
      smallest > 0, context->grid.comm, PETSC_ERR_ARG_WRONGSTATE,
      "a diagonal entry is zero, so that no sweep can divide by it; set -pc_sor_diagonal_shift or use another PC");
  context->divides = true;
  context->divides_shift = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilRelax(Mat A, Vec b, PetscReal omega, MatSORType sweeps, PetscReal shift, PetscInt its,
                               PetscInt lits, Vec x) {
  StencilMat        *context;
  Arrays             arrays;
  const PetscScalar *pb = NULL;
  PetscScalar       *px = NULL;
  std::vector<int>   order;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  StencilOperator &op = *context->op;
  PetscCall(MatStencilCheckLayouts(A, false, x, NULL, b));
  PetscCall(MatStencilCheckSweep(A, context, sweeps, shift, b, x));
  if (sweeps & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP))
    for (int c = 0; c < op.colours(); c++) order.push_back(c);
  if (sweeps & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP))
    for (int c = op.colours() - 1; c >= 0; c--) order.push_back(c);
  if (sweeps & SOR_ZERO_INITIAL_GUESS) PetscCall(VecSet(x, 0));

  PetscCall(MatStencilRestoreView(A, context));
  PetscCall(arrays.Read(b, &pb));
  PetscCall(arrays.ReadWrite(x, &px));
  PetscCall(context->bring(&op, &arrays));
  for (PetscInt sweep = 0; sweep < its * lits; sweep++) {
    for (int colour : order) {
      PetscCall(exchange_begin(context, px, arrays.memory()));
      PetscCall(exchange_end(context));
      PetscCall(PetscLogGpuTimeBegin());
      PetscCall(op.relax(arrays.memory(), colour, context->halo.field(), omega, shift, pb, px));
      PetscCall(PetscLogGpuTimeEnd());
    }
  }
  PetscCall(log_flops(arrays.memory(), (PetscLogDouble)its * lits * order.size() / op.colours() * (op.flops() + 4) *
                                           op.patch().all().points() * op.patch().dof));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the diagonal and other properties of rows ---------------------------------------------------------------------

PetscErrorCode MatStencilGetRows(Mat A, RowProperty property, Vec v) {
  StencilMat  *context;
  Arrays       arrays;
  PetscScalar *pv = NULL;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatStencilCheckLayouts(A, false, v, NULL, v));
  PetscCall(arrays.Write(v, &pv));
  PetscCall(context->bring(context->op.get(), &arrays));
  PetscCall(context->op->rows(arrays.memory(), property, pv));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_diagonal(Mat A, Vec v) {
  return MatStencilGetRows(A, RowProperty::diagonal, v);
}

#if PETSC_VERSION_GE(3, 22, 0)
// On the host wherever the vector lives: PETSc's l1 Jacobi goes on to change the host's array without asking for its
// values.
static PetscErrorCode get_row_sum_abs(Mat A, Vec v) {
  StencilMat  *context;
  Arrays       arrays;
  PetscScalar *sums;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatStencilCheckLayouts(A, false, v, NULL, v));
  PetscCall(context->bring(context->op.get(), &arrays));
  PetscCall(VecGetArrayWrite(v, &sums));
  PetscCall(context->op->rows(PETSC_MEMTYPE_HOST, RowProperty::sum_abs, sums));
  PetscCall(VecRestoreArrayWrite(v, &sums));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode get_row_max_abs(Mat A, Vec v, PetscInt columns[]) {
  StencilMat *context;
  RowReader   rows;
  size_t      n = 0;

  PetscFunctionBegin;
  PetscCall(MatStencilGetRows(A, RowProperty::max_abs, v));
  if (!columns) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetStencil(A, &context));
  PetscCall(rows.Begin(context, context->op.get()));
  for_each_owned(context->grid, [&](const PetscInt p[3], PetscInt c) {
    const Row &row = rows.Get(p, c);
    size_t     best = 0;
    for (size_t e = 1; e < row.value.size(); e++)
      if (PetscAbsScalar(row.value[e]) > PetscAbsScalar(row.value[best])) best = e;
    columns[n++] = row.column[best];
  });
  PetscCall(rows.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilNorm(Mat A, NormType type, PetscReal *norm) {
  StencilMat      *context;
  StencilOperator *op;
  RowReader        rows;
  PetscReal        value = 0;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCheck(type == NORM_1 || type == NORM_INFINITY || type == NORM_FROBENIUS, context->grid.comm, PETSC_ERR_SUP,
             "norms 1, frobenius and infinity are there; the 2-norm is not");
  PetscCall(MatStencilGetOperator(context, type == NORM_1, &op));
  PetscCall(rows.Begin(context, op));
  for_each_owned(context->grid, [&](const PetscInt p[3], PetscInt c) {
    PetscReal sum = 0;
    for (PetscScalar entry : rows.Get(p, c).value)
      sum += type == NORM_FROBENIUS ? PetscAbsScalar(entry) * PetscAbsScalar(entry) : PetscAbsScalar(entry);
    value = type == NORM_FROBENIUS ? value + sum : PetscMax(value, sum);
  });
  PetscCall(rows.End());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPIU_REAL, type == NORM_FROBENIUS ? MPIU_SUM : MPIU_MAX,
                             context->grid.comm));
  *norm = type == NORM_FROBENIUS ? PetscSqrtReal(value) : value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- entries -------------------------------------------------------------------------------------------------------

PetscErrorCode RowReader::Begin(StencilMat *context, StencilOperator *op) {
  PetscFunctionBegin;
  context_ = context;
  op_ = op;
  PetscCall(context->bring(op, &arrays_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Row &RowReader::Get(const PetscInt p[3], PetscInt c) {
  const Grid &grid = context_->grid;
  op_->row(p, c, &entries_);
  row_.column.clear();
  row_.value.clear();
  for (const Entry &entry : entries_) {
    PetscInt at[3];
    for (int a = 0; a < 3; a++) {
      at[a] = grid.start[a] + entry.point[a];
      if (at[a] < 0 || at[a] >= grid.N[a]) at[a] = (at[a] % grid.N[a] + grid.N[a]) % grid.N[a];
    }
    const PetscInt column = grid.global_row(at) + entry.c;
    size_t         place = row_.column.size();
    while (place > 0 && row_.column[place - 1] >= column) place--;
    if (place < row_.column.size() && row_.column[place] == column) { // a periodic axis of two points
      row_.value[place] += entry.value;
      continue;
    }
    row_.column.insert(row_.column.begin() + place, column);
    row_.value.insert(row_.value.begin() + place, entry.value);
  }
  return row_;
}

PetscErrorCode RowReader::End() {
  PetscFunctionBegin;
  PetscCall(arrays_.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_row(Mat A, PetscInt global, PetscInt *n, PetscInt **columns, PetscScalar **values) {
  StencilMat *context;
  RowReader   rows;
  PetscInt    p[3], c;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  const Grid &grid = context->grid;
  (void)grid.find_row(global, p, &c);
  for (int a = 0; a < 3; a++) p[a] -= grid.start[a];
  PetscCall(rows.Begin(context, context->op.get()));
  const Row     &row = rows.Get(p, c);
  const PetscInt count = (PetscInt)row.column.size();
  if (n) *n = count;
  if (columns) {
    PetscCall(PetscMalloc1(count, columns));
    PetscCall(PetscArraycpy(*columns, row.column.data(), count));
  }
  if (values) {
    PetscCall(PetscMalloc1(count, values));
    PetscCall(PetscArraycpy(*values, row.value.data(), count));
  }
  PetscCall(rows.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode restore_row(Mat, PetscInt, PetscInt *, PetscInt **columns, PetscScalar **values) {
  PetscFunctionBegin;
  if (columns) PetscCall(PetscFree(*columns));
  if (values) PetscCall(PetscFree(*values));
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
  PetscCall(set_operation(A, MATOP_SETUP, set_up));
  PetscCall(set_operation(A, MATOP_MULT, mult));
  PetscCall(set_operation(A, MATOP_MULT_ADD, mult_add));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE, mult_transpose));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE_ADD, mult_transpose_add));
  PetscCall(set_operation(A, MATOP_MULT_HERMITIAN_TRANSPOSE, mult_hermitian));
  PetscCall(set_operation(A, MATOP_MULT_HERMITIAN_TRANS_ADD, mult_hermitian_add));
  PetscCall(set_operation(A, MATOP_RESIDUAL, residual));
  PetscCall(set_operation(A, MATOP_SOR, MatStencilRelax));
  PetscCall(MatStencilSetBlockDiagonalOperation(A));
  PetscCall(set_operation(A, MATOP_GET_DIAGONAL, get_diagonal));
#if PETSC_VERSION_GE(3, 22, 0)
  PetscCall(set_operation(A, MATOP_GET_ROW_SUM_ABS, get_row_sum_abs));
#endif
  PetscCall(set_operation(A, MATOP_GET_ROW_MAX_ABS, get_row_max_abs));
  PetscCall(set_operation(A, MATOP_NORM, MatStencilNorm));
  PetscCall(set_operation(A, MATOP_GET_ROW, get_row));
  PetscCall(set_operation(A, MATOP_RESTORE_ROW, restore_row));
  PetscCall(MatStencilSetAssembledOperations(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetStencilType(Mat A, MatType type, PetscErrorCode (*view)(Mat, PetscViewer)) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_VIEW, view));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "ShellacView_C", view));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
