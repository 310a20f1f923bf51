#include "stencil/formula_mat.hpp"

#include <cstring>

#include "stencil/options.hpp"

namespace shellac {

PetscErrorCode MatGetFormula(Mat A, FormulaMat **context) {
  StencilMat *base;

  PetscFunctionBegin;
  *context = NULL;
  PetscCall(MatGetStencil(A, &base));
  *context = static_cast<FormulaMat *>(base);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetReadyFormula(Mat A, FormulaMat **context) {
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

PetscErrorCode FormulaMat::Prepare(StencilOperator *which, Arrays *arrays,
                                   std::unique_ptr<PreparedOperator> *prepared) {
  const PetscScalar *d = NULL;

  PetscFunctionBegin;
  PetscCall(MatFormulaCheckZeroed(*this, zeroed));
  if (diagonal) PetscCall(arrays->ReadBeside(diagonal, &d));
  *prepared = static_cast<FormulaStencil *>(which)->prepare(d);
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
  char                   head[64];

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscSNPrintf(head, sizeof(head), "%s operator options", type));
  const bool laplace = !strcmp(type, MATLAPLACE);
  const auto option = [&](const char *of_laplace, const char *of_helmholtz) -> const Option & {
    return laplace ? find_option(laplace_options, of_laplace) : find_option(helmholtz_options, of_helmholtz);
  };
  PetscOptionsHeadBegin(PetscOptionsObject, head);
  boundary = context->boundary;
  PetscCall(read_option(PetscOptionsObject, option("-mat_laplace_boundary", "-mat_helmholtz_boundary"),
                        MatLaplaceBoundaryTypes, &boundary, &set));
  if (set && boundary != context->boundary) PetscCall(MatLaplaceSetBoundary(A, boundary));
  for (int a = 0; a < 3; a++) lengths[a] = context->lengths[a];
  const Option &sides = option("-mat_laplace_lengths", "-mat_helmholtz_lengths");
  PetscCall(PetscOptionsRealArray(sides.key, sides.meaning, sides.setter, lengths, &n, &set));
  if (set) PetscCall(MatLaplaceSetLengths(A, n, lengths));
  PetscCall(MatStencilSetHaloFromOptions(A, option("-mat_laplace_halo", "-mat_helmholtz_halo"), PetscOptionsObject));
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

// An identity row is not symmetric to the row of a neighbour inside, nor is that of a mirrored end, unless both ends
// are mirrored ends.
static bool has_symmetric_rows(const Patch &patch, int dim) {
  bool symmetric = true;
  for (int a = 0; a < dim; a++) {
    if (patch.identity[a] && patch.N[a] <= 2) return true; // all rows are the identity's
    if (patch.identity[a] || (patch.beyond[a] == Beyond::mirror && patch.N[a] > 2)) symmetric = false;
  }
  return symmetric;
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

  symmetric = has_symmetric_rows(patch, grid.dim);
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
  bool         singular;

  PetscFunctionBegin;
  PetscCall(MatGetFormula(A, &context));
  const Patch &patch = context->op->patch();
  singular = !context->diagonal && context->formula().row_of_constant() == (PetscScalar)0;
  for (int a = 0; a < context->grid.dim; a++) {
    singular = singular && patch.beyond[a] != Beyond::zero;
  }
  PetscCall(MatGetNullSpace(A, &present));
  if (context->nullspace && (!singular || context->nullspace_transposed != context->transposed)) {
    if (present == context->nullspace) { // not one that the user has set since
      PetscCall(MatSetNullSpace(A, NULL));
      PetscCall(MatSetTransposeNullSpace(A, NULL));
      present = NULL;
    }
    context->nullspace = NULL;
  }
  if (singular && !present) {
    MatNullSpace constants, left;
    Vec          w;
    MPI_Comm     comm = PetscObjectComm((PetscObject)A);
    PetscCall(MatNullSpaceCreate(comm, PETSC_TRUE, 0, NULL, &constants));
    if (context->symmetric) {
      PetscCall(PetscObjectReference((PetscObject)constants));
      left = constants;
    } else {
      PetscCall(make_left_null_vector(A, *context, &w));
      PetscCall(MatNullSpaceCreate(comm, PETSC_FALSE, 1, &w, &left));
      PetscCall(VecDestroy(&w));
    }
    context->nullspace_transposed = context->transposed;
    context->nullspace = context->transposed ? left : constants; // the matrix holds it
    PetscCall(MatSetNullSpace(A, context->nullspace));
    PetscCall(MatSetTransposeNullSpace(A, context->transposed ? constants : left));
    PetscCall(MatNullSpaceDestroy(&left));
    PetscCall(MatNullSpaceDestroy(&constants));
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
  PetscCheck(lengths, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL,
             "the array of side lengths is null; give %" PetscInt_FMT " lengths", n);
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
  PetscCall(MatFormulaSetAssemblyOperations(A));
  PetscCall(MatFormulaSetAlgebraOperations(A));
  PetscCall(set_operation(A, MATOP_NORM, MatFormulaNorm));
  PetscCall(set_operation(A, MATOP_GETINFO, MatFormulaGetInfo));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetBoundary_C", set_boundary));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetLengths_C", set_lengths));
  PetscCall(MatSetStencilType(A, type, MatFormulaView));
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
