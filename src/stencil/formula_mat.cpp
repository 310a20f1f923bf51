#include "stencil/formula_mat.hpp"

#include <string>

namespace shellac {

PetscErrorCode MatGetFormula(Mat A, FormulaMat **context) {
  StencilMat *base;

  PetscFunctionBegin;
  *context = NULL;
  PetscCall(MatGetStencil(A, &base));
  *context = static_cast<FormulaMat *>(base);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_ready(Mat A, FormulaMat **context) {
  StencilMat *base;

  PetscFunctionBegin;
  *context = NULL;
  PetscCall(MatGetReadyStencil(A, &base));
  *context = static_cast<FormulaMat *>(base);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::destroy() {
  PetscFunctionBegin;
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::make_transpose(std::unique_ptr<StencilOperator> *made) {
  auto copy = formula().clone();
  copy->transpose();
  *made = std::move(copy);
  return PETSC_SUCCESS;
}

PetscErrorCode FormulaMat::bring(StencilOperator *brought, Arrays *arrays) {
  const PetscScalar *d = NULL;

  PetscFunctionBegin;
  if (diagonal) PetscCall(arrays->ReadBeside(diagonal, &d));
  static_cast<FormulaStencil *>(brought)->set_diagonal(d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- set-up --------------------------------------------------------------------------------------------------------

static PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) {
  FormulaMat            *context;
  MatLaplaceBoundaryType boundary;
  PetscReal              lengths[4]; // one more than there may be, to see that it is too many
  PetscInt               n = 4;
  PetscBool              set;
  MatType                type;
  char                   key[64], head[64];

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
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
  PetscCall(MatStencilSetHaloFromOptions(A, context, PetscOptionsObject));
  PetscCall(context->set_from_options(A, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Spacing along each axis, from the lengths or the coordinates.
static PetscErrorCode get_spacing(const FormulaMat &context, DM dm, PetscReal h[3]) {
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
        h[a] > 0 && 1 / (h[a] * h[a]) > 0 && !PetscIsInfOrNanReal(1 / (h[a] * h[a])), grid.comm,
        PETSC_ERR_ARG_OUTOFRANGE,
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
    for (int e = 0; e < 2; e++)
      patch.neighbour[a][e] = a < grid.dim && grid.neighbour(Direction::at(Direction::face(a, e))) >= 0;
  }
  return patch;
}

PetscErrorCode FormulaMat::set_up(Mat A) {
  DM        dm;
  PetscBool on_device;
  PetscReal inv_h2[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(MatStencilSetUpLayout(A, this, &on_device));
  PetscCheck(grid.dof == 1, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "the operator acts on one unknown a point; the DMDA has dof = %" PetscInt_FMT
             "; make a DMDA with dof = 1 (DMDACreateCompatibleDMDA())",
             grid.dof);
  PetscCall(MatGetDM(A, &dm));
  PetscCall(get_spacing(*this, dm, h));
  for (int a = 0; a < grid.dim; a++)
    inv_h2[a] = grid.boundary[a] == DM_BOUNDARY_PERIODIC && grid.N[a] == 1 ? 0 : 1 / (h[a] * h[a]);
  const Patch patch = make_patch(grid, boundary);
  auto        made = make(grid.dim, patch, inv_h2);
  PetscCall(halo.Create(grid, patch, false, on_device, halo_way));
  op = std::move(made);

  symmetric = true;
  for (int a = 0; a < grid.dim; a++) symmetric = symmetric && !patch.identity[a] && patch.beyond[a] != Beyond::mirror;
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, symmetric ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE)); // no change of the operator alters it
  PetscCall(MatFormulaChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The left null space of mirrored axes: end nodes stand for half a cell.
static PetscErrorCode make_left_null_vector(Mat A, const FormulaMat &context, Vec *w) {
  const Patch &patch = context.op->patch();
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, w));
  PetscCall(VecGetArrayWrite(*w, &values));
  for_each_owned(context.grid, [&](const PetscInt p[3], PetscInt) {
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
  FormulaMat  *context;
  MatNullSpace present;
  bool         singular, mirrored = false;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  const Patch &patch = context->op->patch();
  singular = !context->diagonal && context->formula().row_of_constant() == (PetscScalar)0;
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

PetscErrorCode MatFormulaChanged(Mat A) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  PetscCall(context->forget());
  PetscCall(attach_nullspace(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Calls f(p, multiplicity) for points of the whole grid that stand for all rows: those near an end of the domain, and
// one for all that are two steps away from both. p: indices on this rank's patch, which need not contain it.
template <class Function> static void for_each_kind_of_row(const FormulaMat &context, const Function &f) {
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

// The rows of one kind are alike, unless each has a diagonal of its own.
static PetscErrorCode norm(Mat A, NormType type, PetscReal *norm) {
  FormulaMat      *context;
  StencilOperator *op;
  RowReader        rows;
  PetscReal        value = 0;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  if (context->diagonal || (type != NORM_1 && type != NORM_INFINITY && type != NORM_FROBENIUS)) {
    PetscCall(MatStencilNorm(A, type, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatStencilGetOperator(context, type == NORM_1, &op));
  PetscCall(rows.Begin(context, op));
  for_each_kind_of_row(*context, [&](const PetscInt p[3], PetscReal multiplicity) {
    PetscReal sum = 0;
    for (PetscScalar entry : rows.Get(p, 0).value)
      sum += type == NORM_FROBENIUS ? PetscAbsScalar(entry) * PetscAbsScalar(entry) : PetscAbsScalar(entry);
    value = type == NORM_FROBENIUS ? value + multiplicity * sum : PetscMax(value, sum);
  });
  PetscCall(rows.End());
  *norm = type == NORM_FROBENIUS ? PetscSqrtReal(value) : value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- entries -------------------------------------------------------------------------------------------------------

// A program that assembles the operator we are: check it, store nothing.
static PetscErrorCode set_values(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                 const PetscScalar values[], InsertMode mode) {
  FormulaMat *context;
  RowReader   reader;
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
  PetscCall(reader.Begin(context, context->op.get()));
  for (PetscInt r = 0; r < m; r++) {
    PetscReal largest = 0;
    PetscInt  p[3], c;
    if (rows[r] < 0) continue;
    PetscCheck(rows[r] >= first && rows[r] < last, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "row %" PetscInt_FMT " is set by a rank that does not own it; a Mat of type %s compares only owned rows",
               rows[r], type);
    (void)context->grid.find_row(rows[r], p, &c);
    for (int a = 0; a < 3; a++) p[a] -= context->grid.start[a];
    const Row &row = reader.Get(p, c);
    for (PetscScalar value : row.value) largest = PetscMax(largest, PetscAbsScalar(value));
    for (PetscInt k = 0; k < n; k++) {
      PetscScalar ours = 0;
      if (columns[k] < 0) continue;
      for (size_t e = 0; e < row.column.size(); e++)
        if (row.column[e] == columns[k]) ours = row.value[e];
      PetscCheck(PetscAbsScalar(ours - values[r * n + k]) <= 1e3 * PETSC_MACHINE_EPSILON * largest, PETSC_COMM_SELF,
                 PETSC_ERR_ARG_INCOMP,
                 "the program assembles %g at row %" PetscInt_FMT ", column %" PetscInt_FMT
                 ", where the operator %s has %g "
                 "(real parts); check its boundary form, lengths and shift, or assemble into -dm_mat_type aij",
                 (double)PetscRealPart(values[r * n + k]), rows[r], columns[k], type, (double)PetscRealPart(ours));
    }
  }
  PetscCall(reader.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A program may zero the entries to assemble the same again; if it leaves them zero, that is another operator.
static PetscErrorCode zero_entries(Mat A) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  context->zeroed = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode assembly_end(Mat A, MatAssemblyType type) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscMPIInt zeroed = context->zeroed && type == MAT_FINAL_ASSEMBLY;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &zeroed, 1, MPI_INT, MPI_MAX, context->grid.comm));
  PetscCheck(
      !zeroed, context->grid.comm, PETSC_ERR_ARG_WRONGSTATE,
      "MatZeroEntries() was not followed by the assembly of the same operator, whose formula is fixed; for a zero "
      "operator use MatScale(), for another one -dm_mat_type aij");
  PetscCall(MatStencilRestoreView(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the vector space of operators ---------------------------------------------------------------------------------

static PetscErrorCode scale(Mat A, PetscScalar a) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  context->formula().scale(a);
  context->scale *= a;
  if (context->diagonal) PetscCall(VecScale(context->diagonal, a));
  PetscCall(MatFormulaChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode shift(Mat A, PetscScalar a) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  context->formula().shift(a);
  PetscCall(MatFormulaChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode diagonal_set(Mat A, Vec d, InsertMode mode) {
  FormulaMat *context;
  Vec         present;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscCheck(mode == INSERT_VALUES || mode == ADD_VALUES, context->grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "MatDiagonalSet() takes INSERT_VALUES or ADD_VALUES");
  if (mode == INSERT_VALUES) { // the difference to the operator's own
    PetscCall(VecDestroy(&context->diagonal));
    PetscCall(MatCreateVecs(A, NULL, &present));
    PetscCall(MatGetDiagonal(A, present));
    PetscCall(VecAYPX(present, -1, d));
    context->diagonal = present;
  } else if (context->diagonal) {
    PetscCall(VecAXPY(context->diagonal, 1, d));
  } else {
    PetscCall(MatCreateVecs(A, NULL, &context->diagonal));
    PetscCall(VecCopy(d, context->diagonal));
  }
  PetscCall(MatFormulaChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether two operators have the same rows but for their coefficients.
static bool alike(const FormulaMat &a, const FormulaMat &b) {
  const Patch &p = a.op->patch(), &q = b.op->patch();
  bool         alike = a.grid.dim == b.grid.dim;
  for (int axis = 0; axis < 3; axis++)
    alike = alike && p.N[axis] == q.N[axis] && p.beyond[axis] == q.beyond[axis] &&
            p.identity[axis] == q.identity[axis] && a.grid.first[axis] == b.grid.first[axis];
  return alike;
}

static PetscErrorCode axpy(Mat Y, PetscScalar a, Mat X, MatStructure) {
  FormulaMat *y, *x;

  PetscFunctionBegin;
  PetscCall(get_ready(Y, &y));
  PetscCall(get_ready(X, &x));
  PetscCheck(alike(*y, *x), y->grid.comm, PETSC_ERR_ARG_INCOMP,
             "the two operators have different grids or boundary forms; convert one to aij with MatConvert()");
  y->formula().axpy(a, x->formula());
  if (x->diagonal && y->diagonal)
    PetscCall(VecAXPY(y->diagonal, a, x->diagonal));
  else if (x->diagonal) {
    PetscCall(VecDuplicate(x->diagonal, &y->diagonal));
    PetscCall(VecCopy(x->diagonal, y->diagonal));
    PetscCall(VecScale(y->diagonal, a));
  }
  PetscCall(MatFormulaChanged(Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Everything of `from` but what depends on its Mat.
static PetscErrorCode copy_state(const FormulaMat &from, FormulaMat *to) {
  PetscFunctionBegin;
  to->take_settings(from);
  to->op = from.formula().clone();
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
  FormulaMat *from, *to;
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
  PetscCall(MatGetFormula(*B, &to));
  to->take_settings(*from);
  PetscCall(MatSetDM(*B, dm));
  if (bound) PetscCall(MatBindToCPU(*B, PETSC_TRUE));
  PetscCall(MatSetUp(*B));
  PetscCall(MatSetVecType(*B, vec_type));
  PetscCall(copy_state(*from, to));
  if (option != MAT_COPY_VALUES) PetscCall(MatScale(*B, 0)); // as an AIJ's duplicate is zero
  PetscCall(MatFormulaChanged(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode copy(Mat A, Mat B, MatStructure) {
  FormulaMat *from, *to;
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
  PetscCall(MatFormulaChanged(B));
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
  FormulaMat              *context;
  PetscBool                ascii;
  PetscViewerFormat        format;
  VecType                  vec_type;
  PetscReal                nonzeros = 0;
  PetscMPIInt              ranks;

  PetscFunctionBegin;
  PetscCall(get_ready(A, &context));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (!ascii || (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL)) {
    PetscCall(MatStencilViewEntries(A, context, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Grid           &grid = context->grid;
  const FormulaStencil &op = context->formula();
  const Patch          &patch = op.patch();
  PetscCallMPI(MPI_Comm_size(grid.comm, &ranks));
  PetscCall(MatGetVecType(A, &vec_type));
  // the row of a point inside the domain, with all but a diagonal that was added to the operator
  PetscReal          most = 0;
  std::vector<Entry> entries, inside;
  for_each_kind_of_row(*context, [&](const PetscInt p[3], PetscReal multiplicity) {
    op.row(p, 0, &entries);
    PetscReal columns = (PetscReal)entries.size();
    for (int a = 0; a < grid.dim; a++) // one point at both ends
      if (patch.N[a] == 2 && patch.beyond[a] == Beyond::around && entries.size() > 1) columns--;
    nonzeros += multiplicity * columns;
    if (multiplicity > most || (multiplicity == most && entries.size() > inside.size()))
      most = multiplicity, inside = entries;
  });
  PetscLogDouble rows = (PetscLogDouble)grid.N[0] * grid.N[1] * grid.N[2];
  PetscLogDouble stored = context->diagonal ? rows * sizeof(PetscScalar) : 0;
  PetscLogDouble needed = nonzeros * (sizeof(PetscScalar) + sizeof(PetscInt)) + rows * sizeof(PetscInt);
  PetscLogDouble halos = context->halo.bytes();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &halos, 1, MPI_DOUBLE, MPI_SUM, grid.comm));

  PetscCall(context->view_equation(viewer));
  for (int a = 0; a < grid.dim; a++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "axis %c: %" PetscInt_FMT " points, spacing %g, %s\n", "xyz"[a], grid.N[a],
                                     (double)context->h[a],
                                     patch.identity[a] ? "identity rows at the ends" : ends[(int)patch.beyond[a]]));
  std::string row_inside = number(inside[0].value) + " at the point";
  for (size_t e = 1; e < inside.size(); e++)
    for (int a = 0; a < grid.dim; a++)
      if (inside[e].point[a] > inside[0].point[a]) row_inside += ", " + number(inside[e].value) + " along " + "xyz"[a];
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
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
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
  FormulaMat *context;
  bool        same = true;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
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

PetscErrorCode MatCreateFormulaShell(Mat A, MatType type, FormulaMat *context) {
  PetscFunctionBegin;
  PetscCall(MatCreateStencilShell(A, context));
  PetscCall(set_operation(A, MATOP_SET_FROM_OPTIONS, set_from_options));
  PetscCall(set_operation(A, MATOP_NORM, norm));
  PetscCall(set_operation(A, MATOP_SET_VALUES, set_values));
  PetscCall(set_operation(A, MATOP_ZERO_ENTRIES, zero_entries));
  PetscCall(set_operation(A, MATOP_ASSEMBLY_END, assembly_end));
  PetscCall(set_operation(A, MATOP_SCALE, shellac::scale));
  PetscCall(set_operation(A, MATOP_SHIFT, shift));
  PetscCall(set_operation(A, MATOP_DIAGONAL_SET, diagonal_set));
  PetscCall(set_operation(A, MATOP_AXPY, axpy));
  PetscCall(set_operation(A, MATOP_DUPLICATE, duplicate));
  PetscCall(
      MatSetOperation(A, MATOP_COPY, reinterpret_cast<OperationFn *>(copy))); // past the shell's, which copies its own
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetBoundary_C", set_boundary));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetLengths_C", set_lengths));
  PetscCall(MatSetStencilType(A, type, view));
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
