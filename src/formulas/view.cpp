// Norms, numbers of entries and the view of a formula's matrix. Most rows are equal, so that not all of them are read.

#include <algorithm>
#include <string>

#include "formulas/mat.hpp"
#include "stencil/rows.hpp"

namespace shellac {

// Where rows have been changed one by one, all rows are read.
static bool few_kinds(const FormulaMat &context) {
  return context.captured().known_by_place();
}

// Calls f(p, multiplicity) for points that represent all rows of the grid, or of this rank: the points near an end of the
// domain, and one for all points that are far from both. p: indices on this rank's patch; it may be outside.
template <class Function>
static void for_each_kind_of_row(const FormulaMat &context, bool of_this_rank, const Function &f) {
  std::vector<std::pair<PetscInt, PetscReal>> kinds[3]; // index, how many
  for (int a = 0; a < 3; a++) {
    const PetscInt near = context.captured().depth(a), N = context.grid.N[a], start = context.grid.start[a],
                   lo = of_this_rank ? start : 0, hi = of_this_rank ? start + context.grid.size[a] : N;
    for (PetscInt i = lo, alike; i < hi; i += alike) {
      alike = few_kinds(context) && i >= near && i < N - near ? PetscMin(hi, N - near) - i : 1;
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

// The entries of this rank's rows: of the kinds of rows where these are few.
static PetscErrorCode count_in_kinds(FormulaMat *context, PetscLogDouble *count) {
  Arrays                            arrays;
  std::unique_ptr<PreparedOperator> op;
  std::vector<Entry>                entries;

  PetscFunctionBegin;
  PetscCall(context->Prepare(context->op.get(), &arrays, &op));
  *count = 0;
  for_each_kind_of_row(*context, true, [&](const PetscInt p[3], PetscReal multiplicity) {
    for (PetscInt c = 0; c < context->grid.dof; c++) {
      op->row(p, c, &entries);
      *count += multiplicity * (PetscReal)entries.size();
    }
  });
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Or of all rows, in the memory that they are in.
static PetscErrorCode count_in_rows(FormulaMat *context, PetscLogDouble *count) {
  const CapturedStencil            &rows = context->captured();
  Arrays                            arrays;
  std::unique_ptr<PreparedOperator> op;
  Vec                               counts;
  PetscScalar                      *of_rows, sum;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, &counts));
  PetscCall(VecSetSizes(counts, (PetscInt)rows.patch().all().points() * rows.patch().dof, PETSC_DETERMINE));
  PetscCall(VecSetType(counts, PetscMemTypeDevice(rows.home()) ? rows.vec_type() : VECSEQ));
  PetscCall(arrays.Write(counts, &of_rows));
  PetscCall(context->Prepare(context->op.get(), &arrays, &op));
  PetscCall(op->rows(arrays.memory(), RowProperty::entries, of_rows));
  PetscCall(arrays.Restore());
  PetscCall(VecSum(counts, &sum));
  PetscCall(VecDestroy(&counts));
  *count = (PetscLogDouble)PetscRealPart(sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFormulaGetInfo(Mat A, MatInfoType type, MatInfo *info) {
  FormulaMat    *context;
  PetscLogDouble nonzeros = 0;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context, type != MAT_LOCAL));
  if (context->is_complete() && !context->zeroed)
    PetscCall(few_kinds(*context) ? count_in_kinds(context, &nonzeros) : count_in_rows(context, &nonzeros));
  PetscLogDouble values[2] = {nonzeros, context->captured().bytes()};
  if (type != MAT_LOCAL)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_DOUBLE, type == MAT_GLOBAL_SUM ? MPI_SUM : MPI_MAX,
                               context->grid.comm));
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size = (PetscLogDouble)context->grid.dof;
  info->nz_allocated = info->nz_used = values[0];
  info->memory = values[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The rows of one kind are alike.
PetscErrorCode MatFormulaNorm(Mat A, NormType type, PetscReal *norm) {
  FormulaMat      *context;
  StencilOperator *op;
  RowReader        rows;
  PetscReal        value = 0;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscMPIInt few = few_kinds(*context);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &few, 1, MPI_INT, MPI_MIN, context->grid.comm));
  if (!few || (type != NORM_1 && type != NORM_INFINITY && type != NORM_FROBENIUS)) {
    PetscCall(MatStencilNorm(A, type, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatStencilGetOperator(context, type == NORM_1, &op));
  PetscCall(rows.Begin(context, op));
  for_each_kind_of_row(*context, true, [&](const PetscInt p[3], PetscReal multiplicity) {
    for (PetscInt c = 0; c < context->grid.dof; c++) {
      const GlobalRow row = rows.Get(p, c);
      PetscReal       sum = 0;
      for (PetscInt e = 0; e < row.n; e++) {
        const PetscReal entry = PetscAbsScalar(row.value[e]);
        sum += type == NORM_FROBENIUS ? entry * entry : entry;
      }
      value = type == NORM_FROBENIUS ? value + multiplicity * sum : PetscMax(value, sum);
    }
  });
  PetscCall(rows.End());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPIU_REAL, type == NORM_FROBENIUS ? MPIU_SUM : MPIU_MAX,
                             context->grid.comm));
  *norm = type == NORM_FROBENIUS ? PetscSqrtReal(value) : value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string number(PetscScalar value) {
  char text[64];
  if (PetscImaginaryPart(value) == 0)
    snprintf(text, sizeof(text), "%g", (double)PetscRealPart(value));
  else
    snprintf(text, sizeof(text), "%g%+gi", (double)PetscRealPart(value), (double)PetscImaginaryPart(value));
  return text;
}

// The row of a point inside the domain; or, where points have rows of their own, the range of the diagonal.
static PetscErrorCode describe_rows(Mat A, const FormulaMat &context, std::string *text) {
  Vec         d;
  PetscReal   least, most, points = 0;
  PetscMPIInt few = few_kinds(context);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &few, 1, MPI_INT, MPI_MIN, context.grid.comm));
  if (!few) {
    PetscCall(MatCreateVecs(A, NULL, &d));
    PetscCall(MatGetDiagonal(A, d));
    PetscCall(VecRealPart(d));
    PetscCall(VecMin(d, NULL, &least));
    PetscCall(VecMax(d, NULL, &most));
    PetscCall(VecDestroy(&d));
    *text = "rows differ between points, " +
            (least < most ? "with " + number(least) + " to " + number(most) : "all with " + number(least)) +
            " at the point";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Arrays                            none;
  std::unique_ptr<PreparedOperator> op;
  std::vector<Entry>                entries, inside;
  PetscCall(const_cast<FormulaMat &>(context).Prepare(context.op.get(), &none, &op));
  for_each_kind_of_row(context, false, [&](const PetscInt p[3], PetscReal multiplicity) {
    op->row(p, 0, &entries);
    std::stable_partition(entries.begin(), entries.end(), [&](const Entry &entry) {
      return entry.c == 0 && entry.point[0] == p[0] && entry.point[1] == p[1] && entry.point[2] == p[2];
    });
    if (multiplicity > points || (multiplicity == points && entries.size() > inside.size()))
      points = multiplicity, inside = entries;
  });
  PetscCall(none.Restore());
  *text = "row of a point inside: " + number(inside[0].value) + " at the point";
  if (context.grid.width > 1 || context.grid.dof > 1) {
    *text += " and " + std::to_string(inside.size() - 1) + " others";
    if (context.grid.dof > 1) *text = "first " + *text;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (size_t e = 1; e < inside.size(); e++) {
    std::string axes;
    PetscInt    upper[3] = {0, 0, 0}; // the neighbour as far above the point, along all axes
    for (int a = 0; a < context.grid.dim; a++) {
      const PetscInt d = inside[e].point[a] - inside[0].point[a];
      upper[a] = inside[0].point[a] + PetscAbs(d);
      if (d) axes += std::string(d < 0 ? "-" : "") + "xyz"[a];
    }
    const bool said =
        axes.find('-') < axes.size() && // with that one, which has the same value
        std::any_of(inside.begin(), inside.end(), [&](const Entry &other) {
          return std::equal(upper, upper + context.grid.dim, other.point) && other.value == inside[e].value;
        });
    if (!said) *text += ", " + number(inside[e].value) + " along " + axes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static std::string describe(const Ends &ends, Side side) {
  switch (ends.form[side]) {
  case MAT_LAPLACE_ELIMINATED: return "eliminated (zero Dirichlet values beyond the ends)";
  case MAT_LAPLACE_IDENTITY: return "identity rows at the ends";
  case MAT_LAPLACE_NEUMANN: return "neumann";
  case MAT_LAPLACE_ROBIN: return "robin, alpha = " + number(ends.robin[side]);
  }
  return "";
}

// The changes of the equation's operator; "" if there are none. The shift comes after the scaling.
static std::string describe_changes(const FormulaMat &context) {
  std::string       text;
  const PetscScalar shift = context.row_of_constant - context.scale * context.of_constant();
  const auto        add = [&](const std::string &what) { text += (text.empty() ? "" : ", ") + what; };
  if (context.is_transposed) add("transposed");
  if (context.scale != (PetscScalar)1) add("scaled by " + number(context.scale));
  if (!context.is_scaled_formula && context.constants_known && !context.others_added && shift != (PetscScalar)0)
    add("shifted by " + number(shift));
  if (context.others_added) add("others added by MatAXPY()");
  if (context.rows_altered)
    add("rows by MatZeroRows() or MatDiagonalScale()");
  else if (!context.others_added && !context.constants_known && context.has_known_sums())
    add("the diagonal by MatDiagonalSet()");
  return text;
}

PetscErrorCode MatFormulaView(Mat A, PetscViewer viewer) {
  FormulaMat *context;
  bool        info;
  std::string rows, changes;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatStencilViewBegin(A, context, viewer, &info));
  if (!info) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(context->view_equation(viewer));
  changes = describe_changes(*context);
  if (!changes.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "changed: %s\n", changes.c_str()));
  PetscMPIInt zeroed = context->zeroed; // MatSetValues() ends it, on its rank
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &zeroed, 1, MPI_INT, MPI_MAX, context->grid.comm));
  if (zeroed) PetscCall(PetscViewerASCIIPrintf(viewer, "zero until it is assembled again (MatZeroEntries())\n"));
  if (context->awaited)
    PetscCall(PetscViewerASCIIPrintf(viewer, "zero until its values are assembled (MAT_DO_NOT_COPY_VALUES)\n"));
  for (int a = 0; a < context->grid.dim; a++) {
    const Ends       &ends = context->ends[a];
    const std::string lower = describe(ends, LOWER), upper = describe(ends, UPPER);
    const std::string form = ends.periodic    ? "periodic"
                             : ends.mirror    ? "mirrored"
                             : lower == upper ? lower
                                              : "lower " + lower + ", upper " + upper;
    PetscCall(PetscViewerASCIIPrintf(viewer, "axis %c: %" PetscInt_FMT " points, spacing %s, %s\n", "xyz"[a], ends.N,
                                     number(ends.h).c_str(), form.c_str()));
  }
  if (context->is_complete() && !zeroed) {
    PetscCall(describe_rows(A, *context, &rows));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", rows.c_str()));
  }
  PetscCall(MatStencilViewEnd(A, context, context->captured().bytes(), viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
