// Assembly: MatSetValues() and its variants, entries for other ranks, and MatAssemblyEnd().

#include "capture/mat.hpp"
#include "capture/owners.hpp"

#include <limits>

namespace shellac {

constexpr PetscInt none = std::numeric_limits<PetscInt>::max(); // a row, or a column

// ---- places --------------------------------------------------------------------------------------------------------

// A value's place on the whole grid; a periodic axis' may be one of its images.
struct Place {
  PetscInt q[3], c;
};

static bool wrap(const Grid &grid, PetscInt q[3]) {
  bool moved = false;
  for (int a = 0; a < grid.dim; a++) {
    if (q[a] >= 0 && q[a] < grid.N[a]) continue;
    q[a] = (q[a] % grid.N[a] + grid.N[a]) % grid.N[a];
    moved = true;
  }
  return moved;
}

// Of a point of the DMDA's local vectors; false where there is no unknown.
static bool domain_place(const CapturedMat &m, PetscInt point, const PetscInt at[3], PetscInt q[3]) {
  if (m.local_points[point] < 0) return false;
  for (int a = 0; a < 3; a++) q[a] = m.domain_index[a][at[a]];
  return true;
}

// Whether this rank owns the point; p: its indices on the patch.
static bool owned(const Grid &grid, const PetscInt q[3], PetscInt p[3]) {
  bool is = true;
  for (int a = 0; a < 3; a++) {
    p[a] = q[a] - grid.start[a];
    is = is && p[a] >= 0 && p[a] < grid.size[a];
  }
  return is;
}

static PetscInt global_number(const Grid &grid, const Place &place) {
  PetscInt q[3] = {place.q[0], place.q[1], place.q[2]};
  wrap(grid, q);
  return grid.global_row(q) + place.c;
}

// An entry of an owned row.
static PetscErrorCode put_entry(CapturedMat *m, const Place &row, const PetscInt p[3], const Place &column,
                                PetscScalar value, InsertMode mode) {
  const PetscInt step[3] = {column.q[0] - row.q[0], column.q[1] - row.q[1], column.q[2] - row.q[2]};
  const int      arm = m->arms->find(step);

  PetscFunctionBeginHot;
  if (arm >= 0) {
    const CapturedStencil &op = m->captured();
    PetscCall(m->put(op.slot(arm, row.c, column.c), op.patch().index(p[0], p[1], p[2]), value, mode));
  } else if (!m->drop_outside)
    m->outside.push_back({global_number(m->grid, row), global_number(m->grid, column), value, mode});
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

static PetscErrorCode set_values_local(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                       const PetscScalar values[], InsertMode mode) {
  CapturedMat           *context;
  ISLocalToGlobalMapping row_map, column_map;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  PetscCall(MatGetLocalToGlobalMapping(A, &row_map, &column_map));
  if ((row_map && row_map != context->local_map) || (column_map && column_map != context->local_map)) {
    PetscCall(set_values_mapped(A, row_map, column_map, m, rows, n, columns, values, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCapturedOpen(context));
  if (context->reference) PetscCall(MatSetValuesLocal(context->reference, m, rows, n, columns, values, mode));
  const Grid            &grid = context->grid;
  const PetscInt        *ghosts = context->ghost_size, dof = grid.dof;
  const CapturedStencil &op = context->captured();
  const Patch           &patch = op.patch();
  const PetscInt         locals = dof * ghosts[0] * ghosts[1] * ghosts[2];
  const bool             add = mode == ADD_VALUES;
  const PetscInt         row_stride = context->row_oriented ? n : 1, column_stride = context->row_oriented ? 1 : m;
  for (PetscInt i = 0; i < m; i++) {
    Place    row;
    PetscInt p[3] = {0, 0, 0}, at[3], j = 0;
    if (rows[i] < 0) continue;
    PetscCheck(rows[i] < locals, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "local row %" PetscInt_FMT " is set; the DMDA has %" PetscInt_FMT " local rows here", rows[i], locals);
    const PetscInt     row_point = dof == 1 ? rows[i] : rows[i] / dof;
    const PetscScalar *of_row = values ? values + i * row_stride : nullptr;
    context->local_indices(row_point, at);
    row.c = rows[i] - row_point * dof;
    const auto value_of = [&](PetscInt column) { return of_row ? of_row[column * column_stride] : PetscScalar(0); };
    const int  first_slot = op.slot(0, row.c, 0);
    const auto arm_value = [&](PetscInt column) { // without a division
      return context->by_distance.find((PetscInt64)column - row_point * dof);
    };
    bool inner = context->distances; // an owned row, whose arms all lead to local points: distances tell all
    for (int a = 0; a < grid.dim; a++) {
      p[a] = at[a] + context->ghost_start[a] - grid.start[a];
      inner = inner && p[a] >= 0 && p[a] < grid.size[a] && at[a] >= grid.width && at[a] < ghosts[a] - grid.width;
    }
    if (inner) {
      const size_t to = patch.index(p[0], p[1], p[2]);
      for (; j < n; j++) {
        const int which = arm_value(columns[j]);
        if (which < 0 && columns[j] >= 0) break;
        if (which < 0) continue;
        if (!context->values[first_slot + which]) {
          PetscCall(context->put(first_slot + which, to, value_of(j), mode));
          continue;
        }
        PetscScalar &entry = context->values[first_slot + which][to];
        entry = add ? entry + value_of(j) : value_of(j);
      }
      if (j == n) continue;
    }
    if (!domain_place(*context, row_point, at, row.q)) continue;
    bool mine = owned(grid, row.q, p);
    if (!mine && wrap(grid, row.q)) mine = owned(grid, row.q, p);
    if (mine && context->distances && !inner) {
      const size_t to = patch.index(p[0], p[1], p[2]);
      for (; j < n; j++) {
        if (columns[j] < 0) continue;
        const int which = columns[j] < locals ? arm_value(columns[j]) : -1;
        if (which < 0) break;
        const PetscInt *step = context->arms->step(which / (int)dof);
        bool            within = true; // not in the next line of local points
        for (int a = 0; a < 3; a++) within = within && at[a] + step[a] >= 0 && at[a] + step[a] < ghosts[a];
        if (!within) break;
        PetscCall(context->put(first_slot + which, to, value_of(j), mode));
      }
    }
    for (; j < n; j++) { // any others
      Place column;
      if (columns[j] < 0) continue;
      PetscCheck(columns[j] < locals, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "local column %" PetscInt_FMT " is set; the DMDA has %" PetscInt_FMT " local columns here", columns[j],
                 locals);
      const PetscInt point = columns[j] / dof;
      PetscInt       there[3];
      context->local_indices(point, there);
      column.c = columns[j] - point * dof;
      if (!domain_place(*context, point, there, column.q)) continue;
      if (mine)
        PetscCall(put_entry(context, row, p, column, value_of(j), mode));
      else
        context->off_process.push_back({global_number(grid, row), global_number(grid, column), value_of(j), mode});
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_values(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                 const PetscScalar values[], InsertMode mode) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  PetscCall(MatCapturedOpen(context));
  if (context->reference) PetscCall(MatSetValues(context->reference, m, rows, n, columns, values, mode));
  const Grid    &grid = context->grid;
  const PetscInt all = grid.offset.back();
  for (PetscInt i = 0; i < m; i++) {
    Place    row;
    PetscInt p[3];
    if (rows[i] < 0) continue;
    PetscCheck(rows[i] < all, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "row %" PetscInt_FMT " is set in a matrix of %" PetscInt_FMT " rows", rows[i], all);
    (void)grid.find_row(rows[i], row.q, &row.c);
    const bool mine = owned(grid, row.q, p);
    for (PetscInt j = 0; j < n; j++) {
      const PetscScalar value = values ? values[context->row_oriented ? i * n + j : j * m + i] : 0;
      Place             column;
      if (columns[j] < 0) continue;
      PetscCheck(columns[j] < all, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "column %" PetscInt_FMT " is set in a matrix of %" PetscInt_FMT " columns", columns[j], all);
      if (!mine) {
        context->off_process.push_back({rows[i], columns[j], value, mode});
        continue;
      }
      (void)grid.find_row(columns[j], column.q, &column.c);
      PetscCall(put_entry(context, row, p, column, value, mode));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

using SetValuesFn = PetscErrorCode(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[], const PetscScalar[],
                                   InsertMode);

template <SetValuesFn set>
static PetscErrorCode set_values_blocked(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[],
                                         const PetscScalar values[], InsertMode mode) {
  std::vector<PetscInt> each[2];
  PetscInt              bs;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  for (PetscInt i = 0; i < m; i++)
    for (PetscInt r = 0; r < bs; r++) each[0].push_back(rows[i] < 0 ? -1 : rows[i] * bs + r);
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt c = 0; c < bs; c++) each[1].push_back(columns[j] < 0 ? -1 : columns[j] * bs + c);
  PetscCall(set(A, m * bs, each[0].data(), n * bs, each[1].data(), values, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedZero(Mat A) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedDiscardValues(CapturedMat *context) {
  PetscFunctionBegin;
  PetscCall(context->captured().Destroy());
  context->values = nullptr;
  context->off_process.clear();
  context->outside.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_option(Mat A, MatOption option, PetscBool flag) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetCapturedSettings(A, &context));
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
  context->rows_vary = false;
  CapturedStencil &op = context->captured();
  if (op.open() && context->assembled) op.KeepArrays();
  context->assembled = context->assembled || op.open();
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
          " is outside the DMDA's %s stencil of width %" PetscInt_FMT
          "; make the DMDA with the stencil that is assembled, or give -mat_stencil_fallback aij",
          row, column, context.arms->box() ? "box" : "star", context.arms->width());
}

static PetscErrorCode assembly_end(Mat A, MatAssemblyType type) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
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
  PetscCall(set_operation(A, MATOP_SET_OPTION, set_option));
  PetscCall(set_operation(A, MATOP_ASSEMBLY_END, assembly_end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
