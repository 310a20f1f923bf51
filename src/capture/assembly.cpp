// Assembly: MatSetValues() and its variants, entries for other ranks, and MatAssemblyEnd().

#include "capture/mat.hpp"
#include "capture/owners.hpp"

#include <limits>
#include <string>

namespace shellac {

constexpr PetscInt none = std::numeric_limits<PetscInt>::max(); // a row, or a column

// ---- setting values ------------------------------------------------------------------------------------------------

PetscErrorCode MatCapturedOpen(CapturedMat *context, PetscMemType memory) {
  const bool was_open = context->captured().open();

  PetscFunctionBegin;
  if (context->values && PetscMemTypeHost(context->captured().memory()) && PetscMemTypeHost(memory))
    PetscFunctionReturn(PETSC_SUCCESS); // at each row
  PetscCall(context->captured().Open(&context->values, memory));
  if (!was_open) PetscCall(context->invalidate());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedOpenBeside(CapturedMat *context, std::initializer_list<Vec> vectors) {
  Arrays             arrays;
  const PetscScalar *ignored;

  PetscFunctionBegin;
  for (Vec v : vectors)
    if (v) PetscCall(arrays.Read(v, &ignored));
  const PetscMemType memory = arrays.memory();
  PetscCall(arrays.Restore());
  PetscCall(MatCapturedOpen(context, memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_values(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                 const PetscScalar values[], InsertMode mode);

// By a numbering that the program has set in place of the DMDA's.
static PetscErrorCode set_values_mapped(Mat A, ISLocalToGlobalMapping row_map, ISLocalToGlobalMapping column_map,
                                        PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                        const PetscScalar values[], InsertMode mode) {
  std::vector<PetscInt> global_rows(m), global_columns(n);

  PetscFunctionBegin;
  PetscCall(ISLocalToGlobalMappingApply(row_map, m, rows, global_rows.data()));
  PetscCall(ISLocalToGlobalMappingApply(column_map, n, columns, global_columns.data()));
  PetscCall(set_values(A, m, global_rows.data(), n, global_columns.data(), values, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The values of a call; zeros if there are none.
struct Values {
  const PetscScalar *v;
  PetscInt           by_row, by_column; // from one to the next

  Values(const CapturedMat &m, PetscInt rows, PetscInt columns, const PetscScalar values[])
      : v(values), by_row(m.row_oriented ? columns : 1), by_column(m.row_oriented ? 1 : rows) {
    static const PetscScalar zero = 0;
    if (!v) v = &zero, by_row = by_column = 0;
  }
};

// An entry by its global row and column.
static PetscErrorCode put_entry(CapturedMat *m, PetscInt row, PetscInt column, PetscScalar value, InsertMode mode) {
  const int slot = m->places.slot(row, column);

  PetscFunctionBeginHot;
  if (slot >= 0)
    PetscCall(m->put(slot, m->places.point(), value, mode));
  else if (slot == Places::elsewhere)
    m->off_process.push_back({row, column, value, mode});
  else if (slot == Places::outside && !m->drop_outside)
    m->outside.push_back({row, column, value, mode});
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Sets values of a row up to the first one whose column does not tell its slot, or whose slot has been zero. How many.
static PetscInt set_some(const NumberedRows::Row &row, PetscScalar *const slots[], PetscInt n, const PetscInt columns[],
                         const PetscScalar values[], PetscInt stride, bool add) {
  for (PetscInt j = 0; j < n; j++) {
    const int slot = row.slot(columns[j]);
    if (slot < 0 || !slots[slot]) return j;
    PetscScalar &entry = slots[slot][row.point];
    entry = add ? entry + values[j * stride] : values[j * stride];
  }
  return n;
}

// put_other(column, value) sets those that no slot is told for.
template <class PutOther>
static PetscErrorCode set_row(CapturedMat *m, const NumberedRows::Row &row, PetscInt n, const PetscInt columns[],
                              const PetscScalar values[], PetscInt stride, InsertMode mode, const PutOther &put_other) {
  PetscFunctionBeginHot;
  for (PetscInt j = 0;; j++) {
    j += set_some(row, m->values, n - j, columns + j, values + j * stride, stride, mode == ADD_VALUES);
    if (j == n) PetscFunctionReturn(PETSC_SUCCESS);
    const int slot = row.slot(columns[j]);
    if (slot >= 0)
      PetscCall(m->put(slot, row.point, values[j * stride], mode));
    else
      PetscCall(put_other(columns[j], values[j * stride]));
  }
}

// The global number of one of the DMDA's local ones; negative where there is no unknown.
static PetscErrorCode get_global(const CapturedMat &m, const char *what, PetscInt local, PetscInt *global) {
  const PetscInt *size = m.ghost_size, dof = m.grid.dof, count = dof * size[0] * size[1] * size[2];

  PetscFunctionBegin;
  PetscCheck(local < count, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "local %s %" PetscInt_FMT " is set; the DMDA has %" PetscInt_FMT " local %ss here", what, local, count,
             what);
  const PetscInt point = local < 0 ? -1 : m.local_points[local / dof];
  *global = point < 0 ? -1 : point * dof + local % dof;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_values_local(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                       const PetscScalar values[], InsertMode mode) {
  CapturedMat           *context;
  ISLocalToGlobalMapping row_map, column_map;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatGetLocalToGlobalMapping(A, &row_map, &column_map));
  if ((row_map && row_map != context->local_map) || (column_map && column_map != context->local_map)) {
    PetscCall(set_values_mapped(A, row_map, column_map, m, rows, n, columns, values, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCapturedOpen(context));
  if (context->reference) PetscCall(MatSetValuesLocal(context->reference, m, rows, n, columns, values, mode));
  const Values of(*context, m, n, values);
  for (PetscInt i = 0; i < m; i++) {
    if (rows[i] < 0) continue;
    PetscCall(set_row(context, context->local_rows.start(rows[i]), n, columns, of.v + i * of.by_row, of.by_column, mode,
                      [&](PetscInt local, PetscScalar value) {
                        PetscInt row, column;
                        PetscFunctionBegin;
                        PetscCall(get_global(*context, "row", rows[i], &row));
                        PetscCall(get_global(*context, "column", local, &column));
                        PetscCall(put_entry(context, row, column, value, mode));
                        PetscFunctionReturn(PETSC_SUCCESS);
                      }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_values(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                 const PetscScalar values[], InsertMode mode) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatCapturedOpen(context));
  if (context->reference) PetscCall(MatSetValues(context->reference, m, rows, n, columns, values, mode));
  const PetscInt all = context->grid.offset.back();
  const Values   of(*context, m, n, values);
  for (PetscInt i = 0; i < m; i++) {
    if (rows[i] < 0) continue;
    PetscCheck(rows[i] < all, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "row %" PetscInt_FMT " is set in a matrix of %" PetscInt_FMT " rows", rows[i], all);
    PetscCall(set_row(context, context->places.start(rows[i]), n, columns, of.v + i * of.by_row, of.by_column, mode,
                      [&](PetscInt column, PetscScalar value) {
                        PetscFunctionBegin;
                        PetscCheck(column < all, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                                   "column %" PetscInt_FMT " is set in a matrix of %" PetscInt_FMT " columns", column,
                                   all);
                        PetscCall(put_entry(context, rows[i], column, value, mode));
                        PetscFunctionReturn(PETSC_SUCCESS);
                      }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

using SetValuesFn = PetscErrorCode(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[], const PetscScalar[],
                                   InsertMode);

template <SetValuesFn set>
static PetscErrorCode set_values_blocked(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                         const PetscScalar values[], InsertMode mode) {
  const PetscInt *const blocks[] = {rows, columns}, counts[] = {m, n};
  CapturedMat          *context;
  PetscInt              bs;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatGetBlockSize(A, &bs));
  for (int i = 0; i < 2; i++) {
    std::vector<PetscInt> &each = context->of_blocks[i];
    each.resize((size_t)(counts[i] * bs));
    for (PetscInt b = 0, e = 0; b < counts[i]; b++)
      for (PetscInt r = 0; r < bs; r++) each[e++] = blocks[i][b] < 0 ? -1 : blocks[i][b] * bs + r;
  }
  PetscCall(set(A, m * bs, context->of_blocks[0].data(), n * bs, context->of_blocks[1].data(), values, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedZero(Mat A) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(context->captured().Zero());
  PetscCall(MatCapturedForgetEntries(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedForgetEntries(Mat A, CapturedMat *context) {
  PetscFunctionBegin;
  PetscCall(MatStencilRestoreView(A, context));
  context->off_process.clear();
  context->outside.clear();
  PetscCall(context->invalidate());
  if (context->reference) PetscCall(MatZeroEntries(context->reference));
  context->reference_error = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedDiscardValues(CapturedMat *context) {
  PetscFunctionBegin;
  PetscCall(context->captured().Destroy());
  context->values = nullptr;
  context->assembled = false;
  context->off_process.clear();
  context->outside.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetOption(Mat A, MatOption option, PetscBool flag) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  if (option == MAT_ROW_ORIENTED) context->row_oriented = flag;
  if (option == MAT_IGNORE_OFF_PROC_ENTRIES) context->ignore_off_process = flag;
  if (option == MAT_NEW_NONZERO_LOCATIONS) context->drop_outside = flag ? PETSC_FALSE : PETSC_TRUE;
  if (context->reference) PetscCall(MatSetOption(context->reference, option, flag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- other ranks' entries ------------------------------------------------------------------------------------------

static PetscErrorCode take_off_process_entries(Mat A, CapturedMat *context) {
  Mat reference = context->reference;

  PetscFunctionBegin;
  if (context->ignore_off_process) context->off_process.clear();
  PetscMPIInt any = !context->off_process.empty();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, context->grid.comm));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SendToOwners(context->grid, &context->off_process));
  context->reference = NULL; // has sent its own
  for (const GlobalEntry &entry : context->off_process)
    PetscCall(set_values(A, 1, &entry.row, 1, &entry.column, &entry.value, entry.mode));
  context->reference = reference;
  context->off_process.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the end of assembly -------------------------------------------------------------------------------------------

static const char *const form_names[] = {"constant", "indexed", "arrays"};

// Collective where a form is asked for.
static PetscErrorCode close_as_asked(CapturedMat *context) {
  Compression wish = context->compression;
  Refusal     refusal;

  PetscFunctionBegin;
  if (context->rows_vary && wish.automatic) wish.automatic = false, wish.form = Storage::arrays;
  CapturedStencil &op = context->captured();
  if (op.open()) {
    op.set_keep_arrays(context->keep_arrays && (context->assembled || !context->set_once));
    context->assembled = true;
  }
  context->rows_vary = context->set_once = false;
  PetscCall(op.Close(wish, &refusal));
  context->values = nullptr;
  if (context->compression.automatic || context->compression.form == Storage::arrays)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscInt row = none;
  if (refusal.refused) {
    for (int a = 0; a < 3; a++) refusal.point[a] += context->grid.start[a];
    row = context->grid.global_row(refusal.point);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &row, 1, MPIU_INT, MPI_MIN, context->grid.comm));
  const bool constant = context->compression.form == Storage::constant;
  PetscCheck(row == none, context->grid.comm, PETSC_ERR_ARG_WRONGSTATE,
             "-mat_stencil_compress %s cannot hold the matrix: row %" PetscInt_FMT " %s; its rows are kept in arrays. "
             "Use -mat_stencil_compress automatic, or a larger -mat_stencil_compress_tolerance",
             form_names[(int)context->compression.form], row,
             constant ? "differs from another at the same distance to the ends of the domain"
                      : "is one kind of row too many");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedClose(CapturedMat *context, bool as_arrays) {
  Refusal ignored;

  PetscFunctionBegin;
  if (as_arrays)
    PetscCall(context->captured().CloseAsArrays());
  else
    PetscCall(context->captured().Close(context->compression, &ignored));
  context->values = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The point and the value of a row or column.
static std::string place_of(const Grid &grid, PetscInt row) {
  PetscInt p[3], c;
  (void)grid.find_row(row, p, &c);
  return text_of(p, grid.dim) + (grid.dof > 1 ? " value " + std::to_string(c) : "");
}

PetscErrorCode MatCapturedCheckOutside(const CapturedMat &context, const GlobalEntry *first, bool *any) {
  PetscInt row = first ? first->row : none;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &row, 1, MPIU_INT, MPI_MIN, context.grid.comm));
  *any = row != none;
  if (!*any || context.fallback == MAT_STENCILSHELL_FALLBACK_AIJ) PetscFunctionReturn(PETSC_SUCCESS);
  PetscInt column = first && first->row == row ? first->column : none;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &column, 1, MPIU_INT, MPI_MIN, context.grid.comm));
  SETERRQ(context.grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
          "the entry at row %" PetscInt_FMT ", column %" PetscInt_FMT
          ", of the points %s and %s, is outside the DMDA's %s stencil of width %" PetscInt_FMT
          "; make the DMDA with the stencil that is assembled, or give -mat_stencil_fallback aij",
          row, column, place_of(context.grid, row).c_str(), place_of(context.grid, column).c_str(),
          context.arms->box() ? "box" : "star", context.arms->width());
}

static PetscErrorCode assembly_end(Mat A, MatAssemblyType type) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(MatStencilRestoreView(A, context));
  PetscCall(take_off_process_entries(A, context));
  if (context->reference) {
    PetscCall(MatAssemblyBegin(context->reference, type));
    PetscCall(MatAssemblyEnd(context->reference, type));
  }
  if (type == MAT_FLUSH_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);

  bool        any_outside, mine = !context->outside.empty();
  GlobalEntry first = mine ? context->outside[0] : GlobalEntry{};
  if (context->fallback != MAT_STENCILSHELL_FALLBACK_AIJ) context->outside.clear();
  PetscCall(MatCapturedCheckOutside(*context, mine ? &first : NULL, &any_outside));
  PetscCall(close_as_asked(context));
  PetscCall(context->invalidate());
  if (any_outside)
    PetscCall(MatCapturedFallBack(A, context));
  else if (context->reference)
    PetscCall(MatCapturedVerify(A, context));
  else
    PetscCall(MatCapturedMakeReference(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetAssemblyOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_SET_VALUES, set_values));
  PetscCall(set_operation(A, MATOP_SET_VALUES_LOCAL, set_values_local));
  PetscCall(set_operation(A, MATOP_SET_VALUES_BLOCKED, set_values_blocked<set_values>));
  PetscCall(set_operation(A, MATOP_SET_VALUES_BLOCKEDLOCAL, set_values_blocked<set_values_local>));
  PetscCall(set_operation(A, MATOP_ZERO_ENTRIES, MatCapturedZero));
  PetscCall(set_operation(A, MATOP_SET_OPTION, MatCapturedSetOption));
  PetscCall(set_operation(A, MATOP_ASSEMBLY_END, assembly_end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
