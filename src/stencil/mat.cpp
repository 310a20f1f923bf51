#include "stencil/mat.hpp"

#include <string>

namespace shellac {

PetscLogEvent halo_begin_event, halo_end_event;

PetscErrorCode MatGetStencil(Mat A, StencilMat **context) {
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The context of a matrix that has been set up.
static PetscErrorCode get_ready(Mat A, StencilMat **context) {
  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, context));
  if (!(*context)->op) PetscCall(MatSetUp(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy_context(void *argument) {
  StencilMat *context = context_to_destroy<StencilMat>(argument);

  PetscFunctionBegin;
  PetscCall(context->halo.Destroy());
  PetscCall(VecDestroy(&context->diagonal));
  PetscCall(MatDestroy(&context->aij));
  delete context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- set-up --------------------------------------------------------------------------------------------------------

static PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) {
  StencilMat            *context;
  MatLaplaceBoundaryType boundary;
  PetscReal              lengths[4]; // one more than there may be, to see that it is too many
  PetscInt               n = 4;
  PetscBool              set;
  MatType                type;
  char                   key[64], head[64];

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscSNPrintf(head, sizeof(head), "%s operator options", type));
  PetscOptionsHeadBegin(PetscOptionsObject, head);
  PetscCall(PetscSNPrintf(key, sizeof(key), "-mat_%s_boundary", type));
  PetscCall(PetscOptionsEnum(key, "What holds at the ends of the axes", "MatLaplaceSetBoundary",
                             MatLaplaceBoundaryTypes, (PetscEnum)context->boundary, (PetscEnum *)&boundary, &set));
  if (set && boundary != context->boundary) PetscCall(MatLaplaceSetBoundary(A, boundary));
  for (int a = 0; a < 3; a++) lengths[a] = context->lengths[a];
  PetscCall(PetscSNPrintf(key, sizeof(key), "-mat_%s_lengths", type));
  PetscCall(PetscOptionsRealArray(key, "Side lengths of the domain", "MatLaplaceSetLengths", lengths, &n, &set));
  if (set) PetscCall(MatLaplaceSetLengths(A, n, lengths));
  PetscInt way = (PetscInt)context->halo_way;
  PetscCall(PetscSNPrintf(key, sizeof(key), "-mat_%s_halo", type));
  PetscCall(PetscOptionsEList(key, "How halos travel between GPUs; before MatSetUp()", NULL, halo_ways, 3,
                              halo_ways[way], &way, NULL));
  context->halo_way = (HaloWay)way;
  PetscCall(context->set_from_options(A, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Spacing along each axis, from the lengths or the coordinates.
static PetscErrorCode get_spacing(const StencilMat &context, DM dm, PetscReal h[3]) {
  const Grid &grid = context.grid;

  PetscFunctionBegin;
  PetscCheck(!context.lengths_given || context.lengths_given == grid.dim, grid.comm, PETSC_ERR_ARG_SIZ,
             "%" PetscInt_FMT " side lengths are given for a grid of %d dimension%s; give %d", context.lengths_given,
             grid.dim, grid.dim > 1 ? "s" : "", grid.dim);
  for (int a = 0; a < 3; a++) {
    PetscInt intervals = context.boundary == MAT_LAPLACE_ELIMINATED ? grid.N[a] + 1
                         : context.boundary == MAT_LAPLACE_IDENTITY ? grid.N[a] - 1
                                                                    : grid.N[a];
    if (grid.boundary[a] == DM_BOUNDARY_PERIODIC) intervals = grid.N[a];
    if (grid.boundary[a] == DM_BOUNDARY_MIRROR) {
      PetscCheck(grid.N[a] > 1, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                 "a mirrored axis needs 2 points or more; axis %c of the DMDA has %" PetscInt_FMT
                 "; take more points, or "
                 "DM_BOUNDARY_NONE",
                 "xyz"[a], grid.N[a]);
      intervals = grid.N[a] - 1;
    }
    h[a] = context.lengths[a] / PetscMax(intervals, 1);
  }
  if (!context.lengths_given) PetscCall(GridGetSpacingFromCoordinates(grid, dm, h));
  for (int a = 0; a < grid.dim; a++)
    PetscCheck(
        h[a] > 0 && !PetscIsInfOrNanReal(1 / (h[a] * h[a])), grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
        "the spacing along axis %c is %g, of which 1/h² cannot be taken; check the DM's coordinates or set the side "
        "lengths",
        "xyz"[a], (double)h[a]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Patch make_patch(const Grid &grid, MatLaplaceBoundaryType boundary) {
  Patch patch;
  for (int a = 0; a < 3; a++) {
    const bool natural =
        grid.boundary[a] == DM_BOUNDARY_PERIODIC || grid.boundary[a] == DM_BOUNDARY_MIRROR || a >= grid.dim;
    patch.N[a] = grid.N[a];
    patch.start[a] = grid.start[a];
    patch.size[a] = grid.size[a];
    patch.identity[a] = !natural && boundary == MAT_LAPLACE_IDENTITY;
    patch.beyond[a] = grid.periodic(a)                             ? Beyond::around
                      : grid.boundary[a] == DM_BOUNDARY_MIRROR     ? Beyond::mirror
                      : natural || boundary == MAT_LAPLACE_NEUMANN ? Beyond::copy // a periodic axis of one point too
                                                                   : Beyond::zero;
    for (int e = 0; e < 2; e++) patch.neighbour[a][e] = a < grid.dim && grid.neighbour(a, (Side)e) >= 0;
  }
  return patch;
}

static PetscErrorCode set_up(Mat A) {
  StencilMat *context;
  DM          dm;
  VecType     vec_type;
  MatType     type;
  PetscInt    m, n, owned;
  PetscBool   bound = PETSC_FALSE, cuda = PETSC_FALSE;
  PetscMPIInt misfit;
  PetscReal   inv_h2[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  if (context->op) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatGetType(A, &type));
  PetscCheck(
      dm, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
      "a Mat of type %s needs the DMDA whose grid it acts on; make it with DMCreateMatrix() or MatCreateLaplace(), or "
      "call MatSetDM() before MatSetUp()",
      type);
  PetscCall(GridCreate(dm, &context->grid));
  const Grid &grid = context->grid;
  owned = grid.size[0] * grid.size[1] * grid.size[2];
  PetscCall(MatGetLocalSize(A, &m, &n));
  misfit = m >= 0 && (m != owned || n != owned);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &misfit, 1, MPI_INT, MPI_MAX, grid.comm));
  PetscCheck(!misfit, grid.comm, PETSC_ERR_ARG_SIZ,
             "the Mat is %" PetscInt_FMT " x %" PetscInt_FMT " on this rank, the DMDA owns %" PetscInt_FMT
             " points here; leave out MatSetSizes()",
             m, n, owned);
  if (m < 0) PetscCall(MatSetSizes(A, owned, owned, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(get_spacing(*context, dm, context->h));
  for (int a = 0; a < grid.dim; a++)
    inv_h2[a] = grid.boundary[a] == DM_BOUNDARY_PERIODIC && grid.N[a] == 1 ? 0 : 1 / (context->h[a] * context->h[a]);

  PetscCall(DMGetVecType(dm, &vec_type));
  PetscCall(MatSetVecType(A, vec_type));
  PetscCall(PetscStrendswith(vec_type, "cuda", &cuda));
  if (cuda) { // but few points may be bound to the host: -dm_bind_below
    Vec v;
    PetscCall(DMGetGlobalVector(dm, &v));
    PetscCall(VecBoundToCPU(v, &bound));
    PetscCall(DMRestoreGlobalVector(dm, &v));
    if (bound) {
      PetscCall(MatSetBindingPropagates(A, PETSC_TRUE));
      PetscCall(MatBindToCPU(A, PETSC_TRUE));
    }
  }
  const Patch patch = make_patch(grid, context->boundary);
  auto        op = context->make(grid.dim, patch, inv_h2);
  PetscCall(context->halo.Create(grid, patch, cuda && !bound ? PETSC_TRUE : PETSC_FALSE, context->halo_way));
  context->op = std::move(op);

  bool symmetric = true;
  for (int a = 0; a < grid.dim; a++) symmetric = symmetric && !patch.identity[a] && patch.beyond[a] != Beyond::mirror;
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, symmetric ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE)); // no change of the operator alters it
  context->symmetric = symmetric;
  PetscLayout layout[2];
  PetscCall(MatGetLayouts(A, &layout[0], &layout[1]));
  for (PetscLayout &l : layout) PetscCall(PetscLayoutSetUp(l));
  PetscCall(MatStencilChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Function> static void for_each_owned(const StencilMat &context, const Function &f) {
  const PetscInt *size = context.grid.size;
  PetscInt        p[3];
  for (p[2] = 0; p[2] < size[2]; p[2]++)
    for (p[1] = 0; p[1] < size[1]; p[1]++)
      for (p[0] = 0; p[0] < size[0]; p[0]++) f((const PetscInt *)p);
}

// The left null space of mirrored axes: end nodes stand for half a cell.
static PetscErrorCode make_left_null_vector(Mat A, const StencilMat &context, Vec *w) {
  const Patch &patch = context.op->patch();
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, w));
  PetscCall(VecGetArrayWrite(*w, &values));
  for_each_owned(context, [&](const PetscInt p[3]) {
    PetscReal weight = 1;
    for (int a = 0; a < 3; a++)
      if (patch.beyond[a] == Beyond::mirror && (patch.at_domain_end(p, a, LOWER) || patch.at_domain_end(p, a, UPPER)))
        weight /= 2;
    values[patch.index(p[0], p[1], p[2])] = weight;
  });
  PetscCall(VecRestoreArrayWrite(*w, &values));
  PetscCall(VecNormalize(*w, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode attach_nullspace(Mat A) {
  StencilMat  *context;
  MatNullSpace present;
  bool         singular, mirrored = false;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  const Patch &patch = context->op->patch();
  singular = !context->diagonal && context->op->row_of_constant() == (PetscScalar)0;
  for (int a = 0; a < context->grid.dim; a++) {
    singular = singular && patch.beyond[a] != Beyond::zero;
    mirrored = mirrored || patch.beyond[a] == Beyond::mirror;
  }
  PetscCall(MatGetNullSpace(A, &present));
  if (singular && !present) {
    MatNullSpace constants, left;
    Vec          w;
    MPI_Comm     comm = PetscObjectComm((PetscObject)A);
    PetscCall(MatNullSpaceCreate(comm, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(A, constants));
    if (mirrored) {
      PetscCall(make_left_null_vector(A, *context, &w));
      PetscCall(MatNullSpaceCreate(comm, PETSC_FALSE, 1, &w, &left));
      PetscCall(MatSetTransposeNullSpace(A, left));
      PetscCall(MatNullSpaceDestroy(&left));
      PetscCall(VecDestroy(&w));
    } else
      PetscCall(MatSetTransposeNullSpace(A, constants));
    context->nullspace = constants; // the matrix holds it
    PetscCall(MatNullSpaceDestroy(&constants));
  } else if (!singular && context->nullspace) {
    if (present == context->nullspace) { // not one that the user has set since
      PetscCall(MatSetNullSpace(A, NULL));
      PetscCall(MatSetTransposeNullSpace(A, NULL));
    }
    context->nullspace = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilChanged(Mat A) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(MatDestroy(&context->aij));
  context->divides = false;
  PetscCall(attach_nullspace(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- products ------------------------------------------------------------------------------------------------------

// The arrays of one operation, which must all be in one kind of memory.
class Arrays {
public:
  PetscErrorCode Read(Vec v, const PetscScalar **array) { return Get(v, READ, (PetscScalar **)array); }
  // A vector of ours: on the host if the others are, whatever its type.
  PetscErrorCode ReadBeside(Vec v, const PetscScalar **array) {
    return Get(v, PetscMemTypeHost(memory_) ? READ_HOST : READ, (PetscScalar **)array);
  }
  PetscErrorCode Write(Vec v, PetscScalar **array) { return Get(v, WRITE, array); }
  PetscErrorCode ReadWrite(Vec v, PetscScalar **array) { return Get(v, READ_WRITE, array); }
  PetscErrorCode Restore() { // in reverse order
    PetscFunctionBegin;
    while (count_) {
      Item &item = items_[--count_];
      if (item.access == READ)
        PetscCall(VecRestoreArrayReadAndMemType(item.vec, (const PetscScalar **)&item.array));
      else if (item.access == READ_HOST)
        PetscCall(VecRestoreArrayRead(item.vec, (const PetscScalar **)&item.array));
      else if (item.access == WRITE)
        PetscCall(VecRestoreArrayWriteAndMemType(item.vec, &item.array));
      else
        PetscCall(VecRestoreArrayAndMemType(item.vec, &item.array));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscMemType memory() const { return memory_; }

private:
  enum Access { READ, READ_HOST, WRITE, READ_WRITE };
  struct Item {
    Vec          vec;
    Access       access;
    PetscScalar *array;
  };

  PetscErrorCode Get(Vec v, Access access, PetscScalar **array) {
    PetscMemType memory = PETSC_MEMTYPE_HOST;
    PetscScalar *a;

    PetscFunctionBegin;
    if (access == READ)
      PetscCall(VecGetArrayReadAndMemType(v, (const PetscScalar **)&a, &memory));
    else if (access == READ_HOST)
      PetscCall(VecGetArrayRead(v, (const PetscScalar **)&a));
    else if (access == WRITE)
      PetscCall(VecGetArrayWriteAndMemType(v, &a, &memory));
    else
      PetscCall(VecGetArrayAndMemType(v, &a, &memory));
    items_[count_++] = {v, access, a};
    if (count_ == 1) memory_ = memory;
    if (PetscMemTypeHost(memory) != PetscMemTypeHost(memory_)) {
      VecType first, other;
      PetscCall(VecGetType(items_[0].vec, &first));
      PetscCall(VecGetType(v, &other));
      PetscCall(Restore());
      SETERRQ(PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_INCOMP,
              "one vector's array is on the %s (type %s), another's on the %s (type %s); make all of them with "
              "MatCreateVecs() or DMCreateGlobalVector(), and bind all or none with VecBindToCPU()",
              PetscMemTypeHost(memory_) ? "host" : "GPU", first, PetscMemTypeHost(memory) ? "host" : "GPU", other);
    }
    *array = a;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Item         items_[4];
  int          count_ = 0;
  PetscMemType memory_ = PETSC_MEMTYPE_HOST;
};

static PetscErrorCode log_flops(PetscMemType memory, PetscLogDouble flops) {
  PetscFunctionBegin;
  if (PetscMemTypeHost(memory))
    PetscCall(PetscLogFlops(flops));
  else
    PetscCall(PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// DMCreateMatrix() replaces a distributed matrix' view by one that shows nothing of it under ::ascii_info: put ours
// back.
static PetscErrorCode view(Mat, PetscViewer);
static PetscErrorCode restore_view(Mat A, StencilMat *context) {
  OperationFn *present;

  PetscFunctionBegin;
  PetscCall(MatGetOperation(A, MATOP_VIEW, (OperationFn **)&present));
  if (present != reinterpret_cast<OperationFn *>(view)) {
    context->dmda_view = reinterpret_cast<PetscErrorCode (*)(Mat, PetscViewer)>(present);
    PetscCall(set_operation(A, MATOP_VIEW, view));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

// y = A x, b + A x or b - A x, for A = op + diag(d), transposed or not. b may be y; d and, for a product, b may be
// null.
static PetscErrorCode apply(Mat A, StencilMat *context, const StencilOperator &op, Vec d, bool transposed, Form form,
                            Vec x, Vec b, Vec y) {
  Arrays             arrays;
  const PetscScalar *px = NULL, *pb = NULL, *pd = NULL;
  PetscScalar       *py = NULL;

  PetscFunctionBegin;
  PetscCheck(x != y, context->grid.comm, PETSC_ERR_ARG_IDN,
             "the operator cannot write its result over the vector that it acts on; give another vector");
  PetscCall(restore_view(A, context));
  PetscCall(arrays.Read(x, &px));
  if (d) PetscCall(arrays.ReadBeside(d, &pd));
  if (b && b == y) {
    PetscCall(arrays.ReadWrite(y, &py));
    pb = py;
  } else {
    if (b) PetscCall(arrays.Read(b, &pb));
    PetscCall(arrays.Write(y, &py));
  }
  const PetscMemType memory = arrays.memory();
  const Patch       &patch = op.patch();

  PetscCall(exchange_begin(context, px, memory));
  PetscCall(PetscLogGpuTimeBegin());
  if (transposed) {
    Boxes interior;
    interior.add(patch.interior());
    PetscCall(op.points(memory, interior, context->halo.field(), pd, true, form, pb, py));
  } else
    PetscCall(op.interior(memory, context->halo.field(), pd, form, pb, py));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(exchange_end(context));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(op.points(memory, patch.border(), context->halo.field(), pd, transposed, form, pb, py));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(log_flops(memory, (op.flops() + (d ? 2 : 0) + (form == Form::product ? 0 : 1)) * patch.all().points()));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode apply(Mat A, bool transposed, Form form, Vec x, Vec b, Vec y) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscCall(apply(A, context, *context->op, context->diagonal, transposed && !context->symmetric, form, x, b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode apply_hermitian_transpose(Mat A, Form form, Vec x, Vec b, Vec y) {
  StencilMat *context;
  Vec         d = NULL;

  PetscFunctionBegin;
  if (!PetscDefined(USE_COMPLEX)) {
    PetscCall(apply(A, true, form, x, b, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(get_ready(A, &context));
  auto conjugate = context->op->clone();
  conjugate->conjugate();
  if (context->diagonal) {
    PetscCall(VecDuplicate(context->diagonal, &d));
    PetscCall(VecCopy(context->diagonal, d));
    PetscCall(VecConjugate(d));
  }
  PetscCall(apply(A, context, *conjugate, d, !context->symmetric, form, x, b, y));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mult(Mat A, Vec x, Vec y) {
  return apply(A, false, Form::product, x, NULL, y);
}
static PetscErrorCode mult_add(Mat A, Vec x, Vec b, Vec y) {
  return apply(A, false, Form::sum, x, b, y);
}
static PetscErrorCode mult_transpose(Mat A, Vec x, Vec y) {
  return apply(A, true, Form::product, x, NULL, y);
}
static PetscErrorCode mult_transpose_add(Mat A, Vec x, Vec b, Vec y) {
  return apply(A, true, Form::sum, x, b, y);
}
static PetscErrorCode mult_hermitian(Mat A, Vec x, Vec y) {
  return apply_hermitian_transpose(A, Form::product, x, NULL, y);
}
static PetscErrorCode mult_hermitian_add(Mat A, Vec x, Vec b, Vec y) {
  return apply_hermitian_transpose(A, Form::sum, x, b, y);
}
static PetscErrorCode residual(Mat A, Vec b, Vec x, Vec r) {
  return apply(A, false, Form::residual, x, b, r);
}

// Calls f(p, multiplicity) for points of the whole grid that stand for all rows: those near an end of the domain, and
// one for all that are two steps away from both. p: indices on this rank's patch, which need not contain it.
template <class Function> static void for_each_kind_of_row(const StencilMat &context, const Function &f) {
  std::vector<std::pair<PetscInt, PetscReal>> kinds[3]; // index, how many
  for (int a = 0; a < 3; a++) {
    const PetscInt N = context.grid.N[a];
    for (PetscInt i = 0; i < N; i++) {
      kinds[a].push_back({i - context.grid.start[a], 1});
      if (i == 2 && N > 5) {
        kinds[a].back().second = (PetscReal)(N - 4);
        i = N - 3;
      }
    }
  }
  for (const auto &z : kinds[2])
    for (const auto &y : kinds[1])
      for (const auto &x : kinds[0]) {
        const PetscInt p[3] = {x.first, y.first, z.first};
        f(p, x.second * y.second * z.second);
      }
}

// A sweep divides by the diagonal plus the shift; looked at once after each change.
static PetscErrorCode check_division(Mat A, StencilMat *context, PetscReal shift) {
  PetscReal smallest = PETSC_MAX_REAL;

  PetscFunctionBegin;
  if (context->divides && context->divides_shift == shift) PetscFunctionReturn(PETSC_SUCCESS);
  if (context->diagonal) {
    Vec d;
    PetscCall(MatCreateVecs(A, NULL, &d));
    PetscCall(MatGetDiagonal(A, d));
    PetscCall(VecShift(d, shift));
    PetscCall(VecAbs(d));
    PetscCall(VecMin(d, NULL, &smallest));
    PetscCall(VecDestroy(&d));
  } else
    for_each_kind_of_row(*context, [&](const PetscInt p[3], PetscReal) {
      smallest = PetscMin(smallest, PetscAbsScalar(context->op->entries(p, false).value[0] + shift));
    });
  PetscCheck(
      smallest > 0, context->grid.comm, PETSC_ERR_ARG_WRONGSTATE,
      "a diagonal entry is zero, so that no sweep can divide by it; set -pc_sor_diagonal_shift or use another PC");
  context->divides = true;
  context->divides_shift = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode sor(Mat A, Vec b, PetscReal omega, MatSORType sweeps, PetscReal shift, PetscInt its,
                          PetscInt lits, Vec x) {
  constexpr int      unsupported = SOR_EISENSTAT | SOR_APPLY_UPPER | SOR_APPLY_LOWER;
  StencilMat        *context;
  Arrays             arrays;
  const PetscScalar *pb = NULL, *pd = NULL;
  PetscScalar       *px = NULL;
  int                colours[4], n = 0;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  const StencilOperator &op = *context->op;
  PetscCheck(!(sweeps & unsupported), context->grid.comm, PETSC_ERR_SUP,
             "the red-black sweep has no Eisenstat, upper or lower form; use -pc_sor_symmetric, or convert the "
             "operator to aij");
  PetscCall(check_division(A, context, shift));
  if (sweeps & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP)) colours[n++] = 0, colours[n++] = 1;
  if (sweeps & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP)) colours[n++] = 1, colours[n++] = 0;
  PetscCheck(x != b, context->grid.comm, PETSC_ERR_ARG_IDN,
             "a sweep cannot write its result over the right-hand side; give another vector");
  if (sweeps & SOR_ZERO_INITIAL_GUESS) PetscCall(VecSet(x, 0));

  PetscCall(restore_view(A, context));
  PetscCall(arrays.Read(b, &pb));
  if (context->diagonal) PetscCall(arrays.ReadBeside(context->diagonal, &pd));
  PetscCall(arrays.ReadWrite(x, &px));
  for (PetscInt sweep = 0; sweep < its * lits; sweep++) {
    for (int c = 0; c < n; c++) {
      PetscCall(exchange_begin(context, px, arrays.memory()));
      PetscCall(exchange_end(context));
      PetscCall(PetscLogGpuTimeBegin());
      PetscCall(op.relax(arrays.memory(), colours[c], context->halo.field(), pd, omega, shift, pb, px));
      PetscCall(PetscLogGpuTimeEnd());
    }
  }
  PetscCall(
      log_flops(arrays.memory(), (PetscLogDouble)its * lits * (n / 2) * (op.flops() + 4) * op.patch().all().points()));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the diagonal and other properties of rows ---------------------------------------------------------------------

static PetscErrorCode get_rows(Mat A, RowProperty property, Vec v) {
  StencilMat        *context;
  Arrays             arrays;
  const PetscScalar *pd = NULL;
  PetscScalar       *pv = NULL;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscCall(arrays.Write(v, &pv));
  if (context->diagonal) PetscCall(arrays.ReadBeside(context->diagonal, &pd));
  PetscCall(context->op->rows(arrays.memory(), pd, property, pv));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_diagonal(Mat A, Vec v) {
  return get_rows(A, RowProperty::diagonal, v);
}

// The array of the diagonal vector on the host, or null.
static PetscErrorCode get_host_diagonal(const StencilMat &context, const PetscScalar **d) {
  PetscFunctionBegin;
  *d = NULL;
  if (context.diagonal) PetscCall(VecGetArrayRead(context.diagonal, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode restore_host_diagonal(const StencilMat &context, const PetscScalar **d) {
  PetscFunctionBegin;
  if (context.diagonal) PetscCall(VecRestoreArrayRead(context.diagonal, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSC_VERSION_GE(3, 22, 0)
// On the host wherever the vector lives: PETSc's l1 Jacobi goes on to change the host's array without asking for its
// values.
static PetscErrorCode get_row_sum_abs(Mat A, Vec v) {
  StencilMat        *context;
  const PetscScalar *d;
  PetscScalar       *sums;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscCall(get_host_diagonal(*context, &d));
  PetscCall(VecGetArrayWrite(v, &sums));
  PetscCall(context->op->rows(PETSC_MEMTYPE_HOST, d, RowProperty::sum_abs, sums));
  PetscCall(VecRestoreArrayWrite(v, &sums));
  PetscCall(restore_host_diagonal(*context, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode get_row_max_abs(Mat A, Vec v, PetscInt columns[]) {
  StencilMat        *context;
  const PetscScalar *d;

  PetscFunctionBegin;
  PetscCall(get_rows(A, RowProperty::max_abs, v));
  if (!columns) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetStencil(A, &context));
  PetscCall(get_host_diagonal(*context, &d));
  size_t n = 0;
  for_each_owned(*context, [&](const PetscInt p[3]) {
    const Row row = stencil_row(*context, p, false, d);
    int       best = 0;
    for (int e = 1; e < row.count; e++)
      if (PetscAbsScalar(row.value[e]) > PetscAbsScalar(row.value[best])) best = e;
    columns[n++] = row.column[best];
  });
  PetscCall(restore_host_diagonal(*context, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode norm(Mat A, NormType type, PetscReal *norm) {
  StencilMat        *context;
  const PetscScalar *d;
  PetscReal          value = 0;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscCheck(type == NORM_1 || type == NORM_INFINITY || type == NORM_FROBENIUS, context->grid.comm, PETSC_ERR_SUP,
             "norms 1, frobenius and infinity are there; the 2-norm is not");
  const auto add = [&](const Row &row, PetscReal multiplicity) {
    PetscReal sum = 0;
    for (int e = 0; e < row.count; e++) {
      const PetscReal entry = PetscAbsScalar(row.value[e]);
      sum += type == NORM_FROBENIUS ? entry * entry : entry;
    }
    value = type == NORM_FROBENIUS ? value + multiplicity * sum : PetscMax(value, sum);
  };
  if (context->diagonal) { // all rows differ
    PetscCall(get_host_diagonal(*context, &d));
    for_each_owned(*context, [&](const PetscInt p[3]) { add(stencil_row(*context, p, type == NORM_1, d), 1); });
    PetscCall(restore_host_diagonal(*context, &d));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPIU_REAL, type == NORM_FROBENIUS ? MPIU_SUM : MPIU_MAX,
                               context->grid.comm));
  } else
    for_each_kind_of_row(*context, [&](const PetscInt p[3], PetscReal multiplicity) {
      add(stencil_row(*context, p, type == NORM_1, NULL), multiplicity);
    });
  *norm = type == NORM_FROBENIUS ? PetscSqrtReal(value) : value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- entries -------------------------------------------------------------------------------------------------------

Row stencil_row(const StencilMat &context, const PetscInt p[3], bool transposed, const PetscScalar *d) {
  const Grid &grid = context.grid;
  Entries     entries = context.op->entries(p, transposed);
  Row         row;
  if (d) entries.value[0] += d[context.op->patch().index(p[0], p[1], p[2])];
  for (int e = 0; e < entries.count; e++) {
    PetscInt at[3];
    for (int a = 0; a < 3; a++) {
      const PetscInt i = grid.start[a] + entries.point[e][a];
      at[a] = i < 0 ? i + grid.N[a] : i >= grid.N[a] ? i - grid.N[a] : i;
    }
    const PetscInt column = grid.global_row(at);
    int            place = 0;
    while (place < row.count && row.column[place] < column) place++;
    if (place < row.count && row.column[place] == column) { // a periodic axis of two points
      row.value[place] += entries.value[e];
      continue;
    }
    for (int i = row.count; i > place; i--) row.column[i] = row.column[i - 1], row.value[i] = row.value[i - 1];
    row.column[place] = column;
    row.value[place] = entries.value[e];
    row.count++;
  }
  return row;
}

// The row with that global number, which this rank owns.
static PetscErrorCode get_owned_row(Mat A, PetscInt global, Row *row) {
  StencilMat        *context;
  const PetscScalar *d;
  PetscInt           first;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscCall(MatGetOwnershipRange(A, &first, NULL));
  const PetscInt *size = context->grid.size, local = global - first;
  const PetscInt  p[3] = {local % size[0], local / size[0] % size[1], local / size[0] / size[1]};
  PetscCall(get_host_diagonal(*context, &d));
  *row = stencil_row(*context, p, false, d);
  PetscCall(restore_host_diagonal(*context, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_row(Mat A, PetscInt global, PetscInt *n, PetscInt **columns, PetscScalar **values) {
  Row row;

  PetscFunctionBegin;
  PetscCall(get_owned_row(A, global, &row));
  if (n) *n = row.count;
  if (columns) {
    PetscCall(PetscMalloc1(row.count, columns));
    PetscCall(PetscArraycpy(*columns, row.column, row.count));
  }
  if (values) {
    PetscCall(PetscMalloc1(row.count, values));
    PetscCall(PetscArraycpy(*values, row.value, row.count));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode restore_row(Mat, PetscInt, PetscInt *, PetscInt **columns, PetscScalar **values) {
  PetscFunctionBegin;
  if (columns) PetscCall(PetscFree(*columns));
  if (values) PetscCall(PetscFree(*values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A program that assembles the operator we are: check it, store nothing.
static PetscErrorCode set_values(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                 const PetscScalar values[], InsertMode mode) {
  StencilMat *context;
  PetscInt    first, last;
  MatType     type;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscCall(MatGetType(A, &type));
  PetscCheck(
      mode == INSERT_VALUES, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "a Mat of type %s has a fixed formula: it only compares inserted entries, and cannot with ADD_VALUES; assemble "
      "into -dm_mat_type aij",
      type);
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  context->zeroed = false;
  for (PetscInt r = 0; r < m; r++) {
    Row       row;
    PetscReal largest = 0;
    if (rows[r] < 0) continue;
    PetscCheck(rows[r] >= first && rows[r] < last, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "row %" PetscInt_FMT " is set by a rank that does not own it; a Mat of type %s compares only owned rows",
               rows[r], type);
    PetscCall(get_owned_row(A, rows[r], &row));
    for (int e = 0; e < row.count; e++) largest = PetscMax(largest, PetscAbsScalar(row.value[e]));
    for (PetscInt c = 0; c < n; c++) {
      PetscScalar ours = 0;
      if (columns[c] < 0) continue;
      for (int e = 0; e < row.count; e++)
        if (row.column[e] == columns[c]) ours = row.value[e];
      PetscCheck(PetscAbsScalar(ours - values[r * n + c]) <= 1e3 * PETSC_MACHINE_EPSILON * largest, PETSC_COMM_SELF,
                 PETSC_ERR_ARG_INCOMP,
                 "the program assembles %g at row %" PetscInt_FMT ", column %" PetscInt_FMT
                 ", where the operator %s has %g "
                 "(real parts); check its boundary form, lengths and shift, or assemble into -dm_mat_type aij",
                 (double)PetscRealPart(values[r * n + c]), rows[r], columns[c], type, (double)PetscRealPart(ours));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A program may zero the entries to assemble the same again; if it leaves them zero, that is another operator.
static PetscErrorCode zero_entries(Mat A) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  context->zeroed = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode assembly_end(Mat A, MatAssemblyType type) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscMPIInt zeroed = context->zeroed && type == MAT_FINAL_ASSEMBLY;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &zeroed, 1, MPI_INT, MPI_MAX, context->grid.comm));
  PetscCheck(
      !zeroed, context->grid.comm, PETSC_ERR_ARG_WRONGSTATE,
      "MatZeroEntries() was not followed by the assembly of the same operator, whose formula is fixed; for a zero "
      "operator use MatScale(), for another one -dm_mat_type aij");
  PetscCall(restore_view(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the vector space of operators ---------------------------------------------------------------------------------

static PetscErrorCode scale(Mat A, PetscScalar a) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  context->op->scale(a);
  context->scale *= a;
  if (context->diagonal) PetscCall(VecScale(context->diagonal, a));
  PetscCall(MatStencilChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode shift(Mat A, PetscScalar a) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  context->op->shift(a);
  PetscCall(MatStencilChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode diagonal_set(Mat A, Vec d, InsertMode mode) {
  StencilMat *context;
  Vec         present;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscCheck(mode == INSERT_VALUES || mode == ADD_VALUES, context->grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "MatDiagonalSet() takes INSERT_VALUES or ADD_VALUES");
  if (mode == INSERT_VALUES) { // the difference to the operator's own
    PetscCall(VecDestroy(&context->diagonal));
    PetscCall(MatCreateVecs(A, NULL, &present));
    PetscCall(get_diagonal(A, present));
    PetscCall(VecAYPX(present, -1, d));
    context->diagonal = present;
  } else if (context->diagonal) {
    PetscCall(VecAXPY(context->diagonal, 1, d));
  } else {
    PetscCall(MatCreateVecs(A, NULL, &context->diagonal));
    PetscCall(VecCopy(d, context->diagonal));
  }
  PetscCall(MatStencilChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether two operators have the same rows but for their coefficients.
static bool alike(const StencilMat &a, const StencilMat &b) {
  const Patch &p = a.op->patch(), &q = b.op->patch();
  bool         alike = a.grid.dim == b.grid.dim;
  for (int axis = 0; axis < 3; axis++)
    alike = alike && p.N[axis] == q.N[axis] && p.beyond[axis] == q.beyond[axis] &&
            p.identity[axis] == q.identity[axis] && a.grid.first[axis] == b.grid.first[axis];
  return alike;
}

static PetscErrorCode axpy(Mat Y, PetscScalar a, Mat X, MatStructure) {
  StencilMat *y, *x;

  PetscFunctionBegin;
  PetscCall(get_ready(Y, &y));
  PetscCall(get_ready(X, &x));
  PetscCheck(alike(*y, *x), y->grid.comm, PETSC_ERR_ARG_INCOMP,
             "the two operators have different grids or boundary forms; convert one to aij with MatConvert()");
  y->op->axpy(a, *x->op);
  if (x->diagonal && y->diagonal)
    PetscCall(VecAXPY(y->diagonal, a, x->diagonal));
  else if (x->diagonal) {
    PetscCall(VecDuplicate(x->diagonal, &y->diagonal));
    PetscCall(VecCopy(x->diagonal, y->diagonal));
    PetscCall(VecScale(y->diagonal, a));
  }
  PetscCall(MatStencilChanged(Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Everything of `from` but what depends on its Mat.
static PetscErrorCode copy_state(const StencilMat &from, StencilMat *to) {
  PetscFunctionBegin;
  to->take_settings(from);
  to->op = from.op->clone();
  to->scale = from.scale;
  for (int a = 0; a < 3; a++) to->h[a] = from.h[a];
  if (from.diagonal) {
    if (!to->diagonal) PetscCall(VecDuplicate(from.diagonal, &to->diagonal));
    PetscCall(VecCopy(from.diagonal, to->diagonal));
  } else
    PetscCall(VecDestroy(&to->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode duplicate(Mat A, MatDuplicateOption option, Mat *B) {
  StencilMat *from, *to;
  MatType     type;
  VecType     vec_type;
  PetscInt    m, n, M, N;
  PetscBool   bound;
  DM          dm;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &from));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetVecType(A, &vec_type));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, m, n, M, N));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatGetStencil(*B, &to));
  to->take_settings(*from);
  PetscCall(MatSetDM(*B, dm));
  if (bound) PetscCall(MatBindToCPU(*B, PETSC_TRUE));
  PetscCall(MatSetUp(*B));
  PetscCall(MatSetVecType(*B, vec_type));
  PetscCall(copy_state(*from, to));
  if (option != MAT_COPY_VALUES) PetscCall(MatScale(*B, 0)); // as an AIJ's duplicate is zero
  PetscCall(MatStencilChanged(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode copy(Mat A, Mat B, MatStructure) {
  StencilMat *from, *to;
  MatType     type, other;
  PetscBool   same;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &from));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetType(B, &other));
  PetscCall(PetscStrcmp(type, other, &same));
  if (!same) {
    PetscCall(MatConvert(A, other, MAT_REUSE_MATRIX, &B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(get_ready(B, &to));
  PetscCheck(
      alike(*from, *to), from->grid.comm, PETSC_ERR_ARG_INCOMP,
      "the two operators have different grids, distributions or boundary forms; make the target with MatDuplicate()");
  PetscCall(copy_state(*from, to));
  PetscCall(MatStencilChanged(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- view ----------------------------------------------------------------------------------------------------------

static std::string number(PetscScalar value) {
  char text[64];
  if (PetscImaginaryPart(value) == 0)
    snprintf(text, sizeof(text), "%g", (double)PetscRealPart(value));
  else
    snprintf(text, sizeof(text), "%g%+gi", (double)PetscRealPart(value), (double)PetscImaginaryPart(value));
  return text;
}

static PetscErrorCode view(Mat A, PetscViewer viewer) {
  static const char *const ends[] = {"periodic", "eliminated (zero Dirichlet values beyond the ends)", "neumann",
                                     "mirrored"};
  StencilMat              *context;
  PetscBool                ascii;
  PetscViewerFormat        format;
  VecType                  vec_type;
  PetscReal                nonzeros = 0;
  PetscMPIInt              ranks;
  Mat                      aij;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (!ascii || (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL)) {
    // the entries, in the order of the grid where DMCreateMatrix() arranged that
    if (context->dmda_view)
      PetscCall((*context->dmda_view)(A, viewer));
    else {
      PetscCall(MatStencilGetAssembled(A, &aij));
      PetscCall(MatView(aij, viewer));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Grid  &grid = context->grid;
  const Patch &patch = context->op->patch();
  PetscCallMPI(MPI_Comm_size(grid.comm, &ranks));
  PetscCall(MatGetVecType(A, &vec_type));
  // the row of a point inside the domain, with all that was added to the operator
  PetscReal most = 0;
  Entries   inside;
  for_each_kind_of_row(*context, [&](const PetscInt p[3], PetscReal multiplicity) {
    const Entries entries = context->op->entries(p, false);
    nonzeros += multiplicity * stencil_row(*context, p, false, NULL).count;
    if (multiplicity > most || (multiplicity == most && entries.count > inside.count))
      most = multiplicity, inside = entries;
  });
  PetscLogDouble rows = (PetscLogDouble)grid.N[0] * grid.N[1] * grid.N[2];
  PetscLogDouble stored = context->diagonal ? rows * sizeof(PetscScalar) : 0;
  PetscLogDouble needed = nonzeros * (sizeof(PetscScalar) + sizeof(PetscInt)) + rows * sizeof(PetscInt);
  PetscLogDouble halos = 0;
  for (int a = 0; a < grid.dim; a++)
    for (int e = 0; e < 2; e++)
      halos += patch.neighbour[a][e] ? (PetscLogDouble)patch.halo_size(a) * sizeof(PetscScalar) : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &halos, 1, MPI_DOUBLE, MPI_SUM, grid.comm));

  PetscCall(context->view_equation(viewer));
  for (int a = 0; a < grid.dim; a++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "axis %c: %" PetscInt_FMT " points, spacing %g, %s\n", "xyz"[a], grid.N[a],
                                     (double)context->h[a],
                                     patch.identity[a] ? "identity rows at the ends" : ends[(int)patch.beyond[a]]));
  std::string row_inside = number(inside.value[0]) + " at the point";
  for (int e = 1; e < inside.count; e++)
    for (int a = 0; a < grid.dim; a++)
      if (inside.point[e][a] > inside.point[0][a]) row_inside += ", " + number(inside.value[e]) + " along " + "xyz"[a];
  PetscCall(PetscViewerASCIIPrintf(viewer, "row of a point inside: %s%s\n", row_inside.c_str(),
                                   context->diagonal ? "; and a diagonal set by MatDiagonalSet()" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "computed where its vectors are; makes vectors of type %s\n", vec_type));
  if (ranks > 1 && context->halo.transport())
    PetscCall(PetscViewerASCIIPrintf(viewer, "halos between GPUs travel by %s\n", context->halo.transport()));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "bytes stored: %.0f, and %.0f of halos; an AIJ of its %.0f nonzeros takes %.0f\n",
                                   stored, halos, (double)nonzeros, needed));
  if (context->aij)
    PetscCall(PetscViewerASCIIPrintf(viewer, "an assembled copy (AIJ) is kept, for a solver that needs entries\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the type ------------------------------------------------------------------------------------------------------

static PetscErrorCode set_boundary(Mat A, MatLaplaceBoundaryType boundary) {
  StencilMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCheck(boundary >= MAT_LAPLACE_ELIMINATED && boundary <= MAT_LAPLACE_NEUMANN, PetscObjectComm((PetscObject)A),
             PETSC_ERR_ARG_OUTOFRANGE, "boundary form %d is unknown; use eliminated, identity or neumann",
             (int)boundary);
  PetscCheck(!context->op || boundary == context->boundary, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
             "the boundary form is %s since MatSetUp(), and %s comes too late; set it before",
             MatLaplaceBoundaryTypes[context->boundary], MatLaplaceBoundaryTypes[boundary]);
  context->boundary = boundary;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_lengths(Mat A, PetscInt n, const PetscReal lengths[]) {
  StencilMat *context;
  bool        same = true;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCheck(n >= 1 && n <= 3, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " side lengths are given; give one for each of the grid's dimensions", n);
  for (PetscInt a = 0; a < n; a++) {
    PetscCheck(lengths[a] > 0 && !PetscIsInfOrNanReal(lengths[a]), PetscObjectComm((PetscObject)A),
               PETSC_ERR_ARG_OUTOFRANGE, "side length %c is %g; it must be positive and finite", "xyz"[a],
               (double)lengths[a]);
    same = same && lengths[a] == context->lengths[a];
  }
  PetscCheck(!context->op || (same && n == context->lengths_given), PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
             "the side lengths are fixed since MatSetUp(); set them before");
  for (PetscInt a = 0; a < n; a++) context->lengths[a] = lengths[a];
  context->lengths_given = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateStencilShell(Mat A, MatType type, StencilMat *context) {
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSHELL));
  PetscCall(MatShellSetContext(A, context));
  PetscCall(MatShellSetContextDestroy(A, destructor(destroy_context)));
  PetscCall(MatShellSetManageScalingShifts(A)); // we fold them into the kernels
  // what the shell would keep for its own product, which is not ours
  for (MatOperation op : {MATOP_ZERO_ROWS, MATOP_ZERO_ROWS_COLUMNS}) PetscCall(MatShellSetOperation(A, op, NULL));
  PetscCall(MatBindToCPU(A, PETSC_FALSE)); // a new Mat is bound until its type says that it can leave the host
  PetscCall(set_operation(A, MATOP_SET_FROM_OPTIONS, set_from_options));
  PetscCall(set_operation(A, MATOP_SETUP, set_up));
  PetscCall(set_operation(A, MATOP_MULT, mult));
  PetscCall(set_operation(A, MATOP_MULT_ADD, mult_add));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE, mult_transpose));
  PetscCall(set_operation(A, MATOP_MULT_TRANSPOSE_ADD, mult_transpose_add));
  PetscCall(set_operation(A, MATOP_MULT_HERMITIAN_TRANSPOSE, mult_hermitian));
  PetscCall(set_operation(A, MATOP_MULT_HERMITIAN_TRANS_ADD, mult_hermitian_add));
  PetscCall(set_operation(A, MATOP_RESIDUAL, residual));
  PetscCall(set_operation(A, MATOP_SOR, sor));
  PetscCall(set_operation(A, MATOP_GET_DIAGONAL, get_diagonal));
#if PETSC_VERSION_GE(3, 22, 0)
  PetscCall(set_operation(A, MATOP_GET_ROW_SUM_ABS, get_row_sum_abs));
#endif
  PetscCall(set_operation(A, MATOP_GET_ROW_MAX_ABS, get_row_max_abs));
  PetscCall(set_operation(A, MATOP_NORM, norm));
  PetscCall(set_operation(A, MATOP_GET_ROW, get_row));
  PetscCall(set_operation(A, MATOP_RESTORE_ROW, restore_row));
  PetscCall(set_operation(A, MATOP_SET_VALUES, set_values));
  PetscCall(set_operation(A, MATOP_ZERO_ENTRIES, zero_entries));
  PetscCall(set_operation(A, MATOP_ASSEMBLY_END, assembly_end));
  PetscCall(set_operation(A, MATOP_SCALE, scale));
  PetscCall(set_operation(A, MATOP_SHIFT, shift));
  PetscCall(set_operation(A, MATOP_DIAGONAL_SET, diagonal_set));
  PetscCall(set_operation(A, MATOP_AXPY, axpy));
  PetscCall(set_operation(A, MATOP_DUPLICATE, duplicate));
  PetscCall(set_operation(A, MATOP_VIEW, view));
  PetscCall(
      MatSetOperation(A, MATOP_COPY, reinterpret_cast<OperationFn *>(copy))); // past the shell's, which copies its own
  PetscCall(MatStencilSetAssembledOperations(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetBoundary_C", set_boundary));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetLengths_C", set_lengths));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

const char *const MatLaplaceBoundaryTypes[] = {"eliminated",   "identity", "neumann", "MatLaplaceBoundaryType",
                                               "MAT_LAPLACE_", NULL};

PetscErrorCode MatLaplaceSetBoundary(Mat A, MatLaplaceBoundaryType boundary) {
  PetscFunctionBegin;
  PetscCall(shellac::try_method(A, "MatLaplaceSetBoundary_C", NULL, boundary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatLaplaceSetLengths(Mat A, PetscInt dim, const PetscReal lengths[]) {
  PetscFunctionBegin;
  PetscCall(shellac::try_method(A, "MatLaplaceSetLengths_C", NULL, dim, lengths));
  PetscFunctionReturn(PETSC_SUCCESS);
}
