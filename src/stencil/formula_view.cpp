// What a formula's rows, alike for the most part, tell without reading all of them: norms, numbers of entries and the view.

#include <string>

#include "stencil/formula_mat.hpp"

namespace shellac {

// Calls f(p, multiplicity) for points that stand for all rows of the grid, or of this rank: those near an end of the
// domain, and one for all that are two steps away from both. p: indices on this rank's patch, which need not contain it.
template <class Function>
static void for_each_kind_of_row(const FormulaMat &context, bool of_this_rank, const Function &f) {
  std::vector<std::pair<PetscInt, PetscReal>> kinds[3]; // index, how many
  for (int a = 0; a < 3; a++) {
    const PetscInt N = context.grid.N[a], start = context.grid.start[a], lo = of_this_rank ? start : 0,
                   hi = of_this_rank ? start + context.grid.size[a] : N;
    for (PetscInt i = lo, alike; i < hi; i += alike) {
      alike = i >= 2 && i < N - 2 ? PetscMin(hi, N - 2) - i : 1;
      kinds[a].push_back({i - start, (PetscReal)alike});
    }
  }
  for (const auto &z : kinds[2])
    for (const auto &y : kinds[1])
      for (const auto &x : kinds[0]) {
        const PetscInt p[3] = {x.first, y.first, z.first};
        f(p, x.second * y.second * z.second);
      }
}

// Of an AIJ with these rows.
static PetscReal count_nonzeros(const FormulaMat &context, bool of_this_rank) {
  const std::unique_ptr<PreparedOperator> formula = context.formula().prepare(NULL);
  const Patch                            &patch = context.op->patch();
  std::vector<Entry>                      entries;
  PetscReal                               count = 0;
  for_each_kind_of_row(context, of_this_rank, [&](const PetscInt p[3], PetscReal multiplicity) {
    formula->row(p, 0, &entries);
    PetscReal columns = (PetscReal)entries.size();
    for (int a = 0; a < context.grid.dim; a++) // one point at both ends
      if (patch.N[a] == 2 && patch.beyond[a] == Beyond::around && entries.size() > 1) columns--;
    count += multiplicity * columns;
  });
  return count;
}

static PetscLogDouble stored_bytes(const FormulaMat &context, bool of_this_rank) {
  PetscLogDouble points = 1;
  for (int a = 0; a < 3; a++) points *= (PetscLogDouble)(of_this_rank ? context.grid.size[a] : context.grid.N[a]);
  return context.diagonal ? points * sizeof(PetscScalar) : 0;
}

PetscErrorCode MatFormulaGetInfo(Mat A, MatInfoType type, MatInfo *info) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &context));
  const bool     of_this_rank = type != MAT_GLOBAL_SUM;
  PetscLogDouble values[2] = {count_nonzeros(*context, of_this_rank), stored_bytes(*context, of_this_rank)};
  if (type == MAT_GLOBAL_MAX)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_DOUBLE, MPI_MAX, context->grid.comm));
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size = 1;
  info->nz_allocated = info->nz_used = values[0];
  info->memory = values[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The rows of one kind are alike, unless each has a diagonal of its own.
PetscErrorCode MatFormulaNorm(Mat A, NormType type, PetscReal *norm) {
  FormulaMat      *context;
  StencilOperator *op;
  RowReader        rows;
  PetscReal        value = 0;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &context));
  if (context->diagonal || (type != NORM_1 && type != NORM_INFINITY && type != NORM_FROBENIUS)) {
    PetscCall(MatStencilNorm(A, type, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatStencilGetOperator(context, type == NORM_1, &op));
  PetscCall(rows.Begin(context, op));
  for_each_kind_of_row(*context, false, [&](const PetscInt p[3], PetscReal multiplicity) {
    PetscReal sum = 0;
    for (PetscScalar entry : rows.Get(p, 0).value)
      sum += type == NORM_FROBENIUS ? PetscAbsScalar(entry) * PetscAbsScalar(entry) : PetscAbsScalar(entry);
    value = type == NORM_FROBENIUS ? value + multiplicity * sum : PetscMax(value, sum);
  });
  PetscCall(rows.End());
  *norm = type == NORM_FROBENIUS ? PetscSqrtReal(value) : value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static std::string number(PetscScalar value) {
  char text[64];
  if (PetscImaginaryPart(value) == 0)
    snprintf(text, sizeof(text), "%g", (double)PetscRealPart(value));
  else
    snprintf(text, sizeof(text), "%g%+gi", (double)PetscRealPart(value), (double)PetscImaginaryPart(value));
  return text;
}

// The range of a diagonal that MatDiagonalSet() has changed.
static PetscErrorCode describe_diagonal(Mat A, std::string *text) {
  Vec       d;
  PetscReal least, most;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, &d));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecRealPart(d));
  PetscCall(VecMin(d, NULL, &least));
  PetscCall(VecMax(d, NULL, &most));
  PetscCall(VecDestroy(&d));
  *text = number(least) + " to " + number(most) + " at the point (MatDiagonalSet())";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFormulaView(Mat A, PetscViewer viewer) {
  static const char *const ends[] = {"periodic", "eliminated (zero Dirichlet values beyond the ends)", "neumann",
                                     "mirrored"};
  FormulaMat              *context;
  PetscBool                ascii;
  PetscViewerFormat        format;
  VecType                  vec_type;
  PetscMPIInt              ranks;

  PetscFunctionBegin;
  PetscCall(MatGetReadyFormula(A, &context));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (!ascii || (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL)) {
    PetscCall(MatStencilViewEntries(A, context, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Grid  &grid = context->grid;
  const Patch &patch = context->op->patch();
  PetscCallMPI(MPI_Comm_size(grid.comm, &ranks));
  PetscCall(MatGetVecType(A, &vec_type));
  // the row of a point inside the domain, of the formula alone: what MatDiagonalSet() added is another at each point
  const std::unique_ptr<PreparedOperator> formula = context->formula().prepare(NULL);
  PetscReal                               most = 0;
  std::vector<Entry>                      entries, inside;
  for_each_kind_of_row(*context, false, [&](const PetscInt p[3], PetscReal multiplicity) {
    formula->row(p, 0, &entries);
    if (multiplicity > most || (multiplicity == most && entries.size() > inside.size()))
      most = multiplicity, inside = entries;
  });
  PetscLogDouble  rows = (PetscLogDouble)grid.N[0] * grid.N[1] * grid.N[2];
  const PetscReal nonzeros = count_nonzeros(*context, false);
  PetscLogDouble  stored = stored_bytes(*context, false);
  PetscLogDouble  needed = nonzeros * (sizeof(PetscScalar) + sizeof(PetscInt)) + rows * sizeof(PetscInt);
  PetscLogDouble  halos = context->halo.bytes();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &halos, 1, MPI_DOUBLE, MPI_SUM, grid.comm));

  PetscCall(context->view_equation(viewer));
  if (context->transposed) PetscCall(PetscViewerASCIIPrintf(viewer, "transposed\n"));
  for (int a = 0; a < grid.dim; a++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "axis %c: %" PetscInt_FMT " points, spacing %g, %s\n", "xyz"[a], grid.N[a],
                                     (double)context->h[a],
                                     patch.identity[a] ? "identity rows at the ends" : ends[(int)patch.beyond[a]]));
  std::string row_inside;
  if (context->diagonal)
    PetscCall(describe_diagonal(A, &row_inside));
  else
    row_inside = number(inside[0].value) + " at the point";
  for (size_t e = 1; e < inside.size(); e++)
    for (int a = 0; a < grid.dim; a++)
      if (inside[e].point[a] > inside[0].point[a]) row_inside += ", " + number(inside[e].value) + " along " + "xyz"[a];
  PetscCall(PetscViewerASCIIPrintf(viewer, "row of a point inside: %s\n", row_inside.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "computed where its vectors are; makes vectors of type %s\n", vec_type));
  if (ranks > 1 && context->halo.transport())
    PetscCall(PetscViewerASCIIPrintf(viewer, "halos between GPUs travel by %s\n", context->halo.transport()));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "bytes stored: %.0f, and %.0f of halos; an AIJ of its %.0f nonzeros takes %.0f\n",
                                   stored, halos, (double)nonzeros, needed));
  if (context->aij)
    PetscCall(PetscViewerASCIIPrintf(viewer, "an assembled copy (AIJ) is stored, for a solver that needs entries\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
