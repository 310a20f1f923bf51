// Right-hand sides: the boundary's data, and sources for the shape box.

#include <algorithm>

#include "formulas/mat.hpp"

namespace shellac {

// The position on a side that belongs to a point with these indices; on an edge if they are beyond other sides, too.
static void locate(const FormulaMat &context, const PetscInt i[3], int axis, Side side, PetscReal x[3]) {
  for (int a = 0; a < 3; a++) {
    const Ends &ends = context.ends[a];
    const auto  end = [&](Side of) {
      const PetscReal distance = Ends::distance(ends.form[of]) * ends.h;
      return context.coordinate(a, of == LOWER ? 0 : ends.N - 1) + (of == LOWER ? -distance : distance);
    };
    x[a] = a == axis ? end(side) : context.coordinate(a, i[a]);
    if (!ends.periodic && !ends.mirror) x[a] = PetscMin(PetscMax(x[a], end(LOWER)), end(UPPER));
  }
}

// An error that a function returned on one rank is an error on all.
static PetscErrorCode agree(MPI_Comm comm, PetscErrorCode mine, const char *name) {
  PetscMPIInt error = mine != PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(!error, comm, PETSC_ERR_USER, "the function %s returned an error", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_context(Mat A, Vec b, FormulaMat **context) {
  bool     is;
  MPI_Comm comm = A ? PetscObjectComm((PetscObject)A) : PETSC_COMM_SELF;
  MatType  type = "null";

  PetscFunctionBegin;
  PetscCheck(A && b, comm, PETSC_ERR_ARG_NULL, "the %s is null", A ? "right-hand side" : "operator");
  PetscCall(MatIsFormula(A, &is));
  PetscCall(MatGetType(A, &type));
  PetscCheck(is, comm, PETSC_ERR_SUP,
             "boundary data are those of a Mat with a formula, such as laplace or helmholtz; this one is of type %s",
             type);
  PetscCall(MatGetReadyStencil(A, context));
  PetscCall((*context)->check_complete());
  PetscCall((*context)->read_fields());
  PetscCheck(!(*context)->is_transposed, comm, PETSC_ERR_SUP,
             "a transposed operator has no boundary data; call this with the operator before MatTranspose()");
  PetscCheck(!(*context)->change.rows && !(*context)->change.others, comm, PETSC_ERR_ORDER,
             "the boundary's data belong to the operator before %s; call this before, and change the right-hand side "
             "in the same way",
             (*context)->change.rows ? "MatZeroRows() or MatDiagonalScale()" : "MatAXPY()");
  PetscCall(MatStencilCheckLayouts(A, b, NULL, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode add_boundary(FormulaMat *context, MatLaplaceBoundaryData g, void *ctx, PetscScalar *b) {
  const Grid    &grid = context->grid;
  DomainRows     rows = context->rows_of(*context->formula);
  PetscErrorCode error = PETSC_SUCCESS;
  size_t         row = 0;
  const PetscInt width = context->formula->shape().width;

  std::vector<PetscScalar> values((size_t)grid.dof);
  const auto               values_at = [&](const PetscInt i[3], int axis, Side side, bool wall = false) {
    PetscReal x[3];
    std::fill(values.begin(), values.end(), PetscScalar(0));
    locate(*context, i, axis, side, x);
    if (wall) x[axis] = context->coordinate(axis, i[axis]) + (side == LOWER ? -0.5 : 0.5) * context->ends[axis].h;
    if (!error) error = (*g)(grid.dim, x, axis, side == UPPER ? PETSC_TRUE : PETSC_FALSE, values.data(), ctx);
    return values.data();
  };
  for_each_owned(grid, [&](const PetscInt i[3]) {
    bool        near = false;
    PetscScalar of_wall[3][2] = {{0, 0}, {0, 0}, {0, 0}};
    if (context->is_fixed(i, of_wall)) {
      row += (size_t)grid.dof;
      return;
    }
    for (int a = 0; a < grid.dim && !rows.identity(i); a++)
      for (Side side : {LOWER, UPPER})
        if (of_wall[a][side] != PetscScalar(0))
          b[row] -= context->change.scale * of_wall[a][side] * values_at(i, a, side, true)[0];
    for (int a = 0; a < 3; a++)
      near = near || (!context->ends[a].periodic && (i[a] < width || i[a] >= grid.N[a] - width));
    for (int a = 0; a < grid.dim && rows.identity(i); a++)
      if (context->ends[a].identity(i[a])) {
        const Side         side = i[a] == 0 && context->ends[a].form[LOWER] == MAT_LAPLACE_IDENTITY ? LOWER : UPPER;
        const PetscScalar *given = values_at(i, a, side);
        for (PetscInt c = 0; c < grid.dof; c++) b[row + c] = context->change.scale * given[c];
        break;
      }
    if (near)
      rows.get_data(i, [&](PetscInt r, PetscInt c, const PetscInt at[3], int axis, Side side, PetscScalar coefficient) {
        b[row + r] -= context->change.scale * coefficient * values_at(at, axis, side)[c];
      });
    row += (size_t)grid.dof;
  });
  return error;
}

} // namespace shellac

using namespace shellac;

PetscErrorCode MatLaplaceAddBoundary(Mat A, MatLaplaceBoundaryData g, void *ctx, Vec b) {
  FormulaMat  *context;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(get_context(A, b, &context));
  SHELLAC_CHECK_ALL(g, context->grid.comm, PETSC_ERR_ARG_NULL, "the function g of the boundary's data is null");
  PetscCall(VecGetArray(b, &values));
  const PetscErrorCode error = add_boundary(context, g, ctx, values);
  PetscCall(VecRestoreArray(b, &values));
  PetscCall(agree(context->grid.comm, error, "g of the boundary's data"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatLaplaceSetRightHandSide(Mat A, MatLaplaceSource f, MatLaplaceBoundaryData g, void *ctx, Vec b) {
  FormulaMat    *context;
  PetscScalar   *values;
  PetscErrorCode error = PETSC_SUCCESS;
  size_t         row = 0;

  PetscFunctionBegin;
  PetscCall(get_context(A, b, &context));
  SHELLAC_CHECK_ALL(f, context->grid.comm, PETSC_ERR_ARG_NULL, "the source f is null");
  PetscMPIInt any_data = g != NULL;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any_data, 1, MPI_INT, MPI_MAX, context->grid.comm));
  const std::vector<SourceWeight> weights = context->source_weights();
  DomainRows                      rows = context->rows_of(*context->formula);
  std::vector<PetscScalar>        sources((size_t)context->grid.dof);
  PetscCall(VecGetArrayWrite(b, &values));
  for_each_owned(context->grid, [&](const PetscInt i[3]) {
    const size_t dof = sources.size();
    std::fill(values + row, values + row + dof, PetscScalar(0));
    for (const SourceWeight &weight : weights) {
      PetscReal x[3];
      if (rows.identity(i) || context->is_fixed(i, nullptr)) break;
      std::fill(sources.begin(), sources.end(), PetscScalar(0));
      for (int a = 0; a < 3; a++) x[a] = context->coordinate(a, i[a] + weight.step[a]);
      if (!error) error = (*f)(context->grid.dim, x, sources.data(), ctx);
      for (size_t c = 0; c < dof; c++) values[row + c] += context->change.scale * weight.value * sources[c];
    }
    row += dof;
  });
  PetscCall(VecRestoreArrayWrite(b, &values));
  PetscCall(agree(context->grid.comm, error, "f of the source"));
  if (any_data) PetscCall(MatLaplaceAddBoundary(A, g, ctx, b)); // an error where it is null on some ranks
  PetscFunctionReturn(PETSC_SUCCESS);
}
