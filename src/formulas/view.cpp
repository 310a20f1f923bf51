// Norms, numbers of entries and the view of a formula's matrix. Most rows are equal, so that not all of them are read.

#include <algorithm>
#include <string>

#include "formulas/mat.hpp"
#include "stencil/rows.hpp"

namespace shellac {

// They are counted in the memory that they are in.
PetscErrorCode FormulaMat::count_entries(PetscLogDouble *count) {
  const CapturedStencil            &rows = captured();
  Arrays                            arrays;
  std::unique_ptr<PreparedOperator> prepared;
  Vec                               counts;
  PetscScalar                      *of_rows, sum;

  PetscFunctionBegin;
  *count = 0;
  if (!is_complete() || zeroed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreate(PETSC_COMM_SELF, &counts));
  PetscCall(VecSetSizes(counts, (PetscInt)rows.patch().all().points() * rows.patch().dof, PETSC_DETERMINE));
  PetscCall(VecSetType(counts, PetscMemTypeDevice(rows.home()) ? rows.vec_type() : VECSEQ));
  PetscCall(arrays.Write(counts, &of_rows));
  PetscCall(Prepare(op.get(), &arrays, &prepared));
  PetscCall(prepared->rows(arrays.memory(), RowProperty::entries, of_rows));
  PetscCall(arrays.Restore());
  PetscCall(VecSum(counts, &sum));
  PetscCall(VecDestroy(&counts));
  *count = (PetscLogDouble)PetscRealPart(sum);
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
  PetscReal   least, most;
  PetscMPIInt few = context.captured().known_by_place(); // else rows have been changed one by one

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
  const CapturedStencil            &rows = context.captured();
  const Arms                       &arms = rows.arms();
  Arrays                            none;
  std::unique_ptr<PreparedOperator> op;
  std::vector<PetscScalar>          values((size_t)rows.slots());
  PetscInt                          p[3], others = 0; // p: in the middle of the grid, maybe on another rank
  for (int a = 0; a < 3; a++) p[a] = (context.grid.N[a] - 1) / 2 - context.grid.start[a];
  PetscCall(const_cast<FormulaMat &>(context).Prepare(context.op.get(), &none, &op));
  op->values(p, 1, values.data());
  PetscCall(none.Restore());
  const auto entry = [&](int arm, PetscInt c) {
    return arm >= 0 && rows.in_domain(p, arm) ? values[(size_t)rows.slot(arm, 0, c)] : PetscScalar(0);
  };
  *text = "row of a point inside: " + number(entry(arms.center(), 0)) + " at the point";
  if (context.grid.width > 1 || context.grid.dof > 1) {
    for (int arm = 0; arm < arms.count(); arm++)
      for (PetscInt c = 0; c < context.grid.dof; c++)
        others += (arm != arms.center() || c > 0) && entry(arm, c) != PetscScalar(0);
    *text = (context.grid.dof > 1 ? "first " : "") + *text + " and " + std::to_string(others) + " others";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int arm = 0; arm < arms.count(); arm++) {
    const PetscScalar value = entry(arm, 0);
    std::string       axes;
    PetscInt          upper[3]; // to the neighbour as far above the point, along all axes
    for (int a = 0; a < 3; a++) {
      const PetscInt step = arms.step(arm)[a];
      upper[a] = PetscAbs(step);
      if (step) axes += std::string(step < 0 ? "-" : "") + "xyz"[a];
    }
    const bool said = axes.find('-') < axes.size() && entry(arms.find(upper), 0) == value; // with that one
    if (!axes.empty() && value != PetscScalar(0) && !said) *text += ", " + number(value) + " along " + axes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static std::string describe(const Ends &ends, Side side) {
  switch (ends.form[side]) {
  case MAT_LAPLACE_ELIMINATED:
    return "eliminated (zero Dirichlet values beyond the ends)";
  case MAT_LAPLACE_IDENTITY:
    return "identity rows at the ends";
  case MAT_LAPLACE_NEUMANN:
    return "neumann";
  case MAT_LAPLACE_ROBIN:
    return "robin, alpha = " + number(ends.robin[side]);
  }
  return "";
}

// The changes of the equation's operator; "" if there are none. The shift comes after the scaling.
static std::string describe_changes(const FormulaMat &context) {
  std::string               text;
  const FormulaMat::Change &change = context.change;
  const auto                add = [&](const std::string &what) { text += (text.empty() ? "" : ", ") + what; };
  if (context.is_transposed) add("transposed");
  if (change.scale != (PetscScalar)1) add("scaled by " + number(change.scale));
  if (change.shift != (PetscScalar)0 && context.knows_constants() && !change.others)
    add("shifted by " + number(change.shift));
  if (change.others) add("others added by MatAXPY()");
  if (change.rows)
    add("rows by MatZeroRows() or MatDiagonalScale()");
  else if (change.diagonal && !change.others)
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
