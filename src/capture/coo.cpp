// MatSetPreallocationCOO(), MatSetPreallocationCOOLocal() and MatSetValuesCOO().

#include "capture/coo.hpp"

#include <petscdevice.h>

#include "capture/mat.hpp"
#include "capture/owners.hpp"

namespace shellac {

// ---- the map from entries to coefficients --------------------------------------------------------------------------

// An entry of another rank's row, and its number among the caller's.
struct RemoteEntry {
  PetscInt row, column, number;
};

// Where the entries go that a rank stores: those of its own call, then those that it is sent.
class Places {
public:
  explicit Places(const CapturedMat &context) : context_(context), op_(context.captured()) {}

  // The rank that owns the row; the entry, if that is this rank.
  PetscMPIInt find(PetscInt row, PetscInt column) {
    if (row != row_) owner_ = context_.grid.find_row(row, q_, &r_); // entries of a row come together, most often
    row_ = row;
    column_ = column;
    return owner_;
  }
  void skip() { slot_.push_back(-1), at_.push_back(0); }
  void store() { // the entry that find() has had last
    const Grid &grid = context_.grid;
    PetscInt    there[3], step[3], c;
    (void)grid.find_row(column_, there, &c);
    for (int a = 0; a < 3; a++) step[a] = there[a] - q_[a];
    const int arm = context_.arms->find(step);
    if (arm < 0) {
      if (!context_.drop_outside && !any_outside) any_outside = true, outside = {row_, column_, 0, ADD_VALUES};
      skip();
      return;
    }
    slot_.push_back(op_.slot(arm, r_, c));
    at_.push_back((PetscInt)op_.patch().index(q_[0] - grid.start[0], q_[1] - grid.start[1], q_[2] - grid.start[2]));
  }
  // The values of each coefficient: one or none; or, by a counting sort, any number in their order.
  void make(CooMap *map) const {
    const size_t points = (size_t)op_.patch().all().points(), entries = slot_.size();
    auto        &number = map->number.change();
    number.assign((size_t)op_.slots(), -1);
    for (int slot : slot_)
      if (slot >= 0) number[slot] = 0;
    for (size_t s = 0; s < number.size(); s++)
      if (number[s] == 0) number[s] = (int)map->slots.size(), map->slots.push_back((int)s);
    const auto place = [&](size_t e) { return (size_t)number[slot_[e]] * points + (size_t)at_[e]; };
    auto      &first = map->first.change();
    auto      &source = map->source.change();
    source.assign(map->slots.size() * points, -1);
    bool single = true;
    for (size_t e = 0; e < entries && single; e++) {
      if (slot_[e] < 0) continue;
      single = source[place(e)] < 0;
      source[place(e)] = (PetscInt)e;
      map->count++;
    }
    if (single) return;
    first.assign(map->slots.size() * points + 2, 0); // one more, for the sort
    for (size_t e = 0; e < entries; e++)
      if (slot_[e] >= 0) first[place(e) + 2]++;
    for (size_t n = 2; n < first.size(); n++) first[n] += first[n - 1];
    source.resize((size_t)first.back());
    for (size_t e = 0; e < entries; e++)
      if (slot_[e] >= 0) source[(size_t)first[place(e) + 1]++] = (PetscInt)e;
    first.pop_back();
    map->count = source.size();
  }

  bool        any_outside = false; // of the stencil
  GlobalEntry outside = {};        // the first

private:
  const CapturedMat     &context_;
  const CapturedStencil &op_;
  PetscInt               row_ = -1, column_ = -1, q_[3] = {0, 0, 0}, r_ = 0;
  PetscMPIInt            owner_ = -1;
  std::vector<int>       slot_; // -1: nowhere
  std::vector<PetscInt>  at_;
};

// The values that others send: leaves are in the order of the senders, roots are the callers' arrays of values.
static PetscErrorCode make_forest(const Grid &grid, const std::vector<RemoteEntry> &entries,
                                  const std::vector<Sender> &senders, CooMap *map) {
  PetscSFNode *remote;
  PetscMPIInt  any = !entries.empty();
  size_t       e = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, grid.comm));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(entries.size(), &remote));
  for (const Sender &sender : senders)
    for (PetscInt n = 0; n < sender.count; n++, e++) {
      remote[e].rank = sender.rank;
      remote[e].index = entries[e].number;
    }
  PetscCall(PetscSFCreate(grid.comm, &map->sf));
  PetscCall(PetscSFSetFromOptions(map->sf));
  PetscCall(PetscSFSetGraph(map->sf, map->own, map->sent, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(map->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Errors of all ranks for arguments that are wrong on one.
static PetscErrorCode check_entries(const Grid &grid, const char *call, PetscCount n, const PetscInt rows[],
                                    const PetscInt columns[], PetscInt count) {
  PetscCount wrong = 0;

  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(n >= 0, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%s is given %" PetscCount_FMT " entries; give as many as the rank has, or 0", call, n);
  SHELLAC_CHECK_ALL(n <= PETSC_MAX_INT, grid.comm, PETSC_ERR_SUP,
                    "%s is given %" PetscCount_FMT " entries on a rank; more than %" PetscInt_FMT
                    " need a PETSc with 64-bit indices, or more ranks",
                    call, n, PETSC_MAX_INT);
  SHELLAC_CHECK_ALL(!n || (rows && columns), grid.comm, PETSC_ERR_ARG_NULL,
                    "%s is given NULL for the %s of %" PetscCount_FMT " entries", call, rows ? "columns" : "rows", n);
  while (wrong < n && rows[wrong] < count && columns[wrong] < count) wrong++;
  SHELLAC_CHECK_ALL(wrong == n, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%s: the entry at row %" PetscInt_FMT ", column %" PetscInt_FMT
                    " is beyond the last row or column, %" PetscInt_FMT,
                    call, rows[wrong], columns[wrong], count - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode preallocate(Mat A, PetscCount n, PetscInt rows[], PetscInt columns[]) {
  CapturedMat             *context;
  std::vector<RemoteEntry> remote;
  std::vector<Sender>      senders;
  PetscMPIInt              me;
  bool                     any_outside;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  const Grid &grid = context->grid;
  PetscCall(check_entries(grid, "MatSetPreallocationCOO()", n, rows, columns, grid.offset.back()));
  PetscCallMPI(MPI_Comm_rank(grid.comm, &me));
  Places places(*context);
  for (PetscCount e = 0; e < n; e++) {
    const bool        skipped = rows[e] < 0 || columns[e] < 0;
    const PetscMPIInt owner = skipped ? -1 : places.find(rows[e], columns[e]);
    if (owner == me)
      places.store();
    else
      places.skip();
    if (owner != me && !skipped && !context->ignore_off_process) remote.push_back({rows[e], columns[e], (PetscInt)e});
  }
  PetscCall(SendToOwners(grid, &remote, &senders));
  for (const RemoteEntry &entry : remote) {
    (void)places.find(entry.row, entry.column);
    places.store();
  }
  PetscCall(MatCapturedCheckOutside(*context, places.any_outside ? &places.outside : NULL, &any_outside));
  PetscCall(MatCapturedDiscardValues(context));
  PetscCall(MatCapturedZero(A));
  if (any_outside) {
    PetscCall(MatCapturedFallBack(A, context));
    PetscCall(MatSetPreallocationCOO(A, n, rows, columns));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SHELLAC_CHECK_ALL((PetscCount)remote.size() <= PETSC_MAX_INT - n, grid.comm, PETSC_ERR_SUP,
                    "MatSetPreallocationCOO(): a rank has %" PetscCount_FMT
                    " entries with those that others send; more than %" PetscInt_FMT
                    " need a PETSc with 64-bit indices, or more ranks",
                    n + (PetscCount)remote.size(), PETSC_MAX_INT);
  PetscCall(MatCapturedForgetCoo(context));
  auto map = std::make_shared<CooMap>();
  map->own = (PetscInt)n;
  map->sent = (PetscInt)remote.size();
  places.make(map.get());
  map->received.resize(remote.size());
  PetscCall(make_forest(grid, remote, senders, map.get()));
  map->verifiable = context->verify;
  if (map->verifiable) map->rows.assign(rows, rows + n), map->columns.assign(columns, columns + n);
  context->coo = std::move(map);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode preallocate_local(Mat A, PetscCount n, PetscInt rows[], PetscInt columns[]) {
  CapturedMat           *context;
  ISLocalToGlobalMapping maps[2];
  PetscInt               count[2];

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  PetscCall(MatGetLocalToGlobalMapping(A, &maps[0], &maps[1]));
  for (int i = 0; i < 2; i++) PetscCall(ISLocalToGlobalMappingGetSize(maps[i], &count[i]));
  PetscCall(
      check_entries(context->grid, "MatSetPreallocationCOOLocal()", n, rows, columns, PetscMin(count[0], count[1])));
  PetscCall(ISLocalToGlobalMappingApply(maps[0], (PetscInt)n, rows, rows));
  PetscCall(ISLocalToGlobalMappingApply(maps[1], (PetscInt)n, columns, columns));
  PetscCall(preallocate(A, n, rows, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedForgetCoo(CapturedMat *context) {
  PetscFunctionBegin;
  if (context->coo.use_count() == 1) PetscCall(context->coo->Destroy()); // duplicates share it
  context->coo.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- values --------------------------------------------------------------------------------------------------------

// -mat_stencil_verify: the same entries, one by one.
static PetscErrorCode set_in_reference(Mat reference, const CooMap &map, const PetscScalar values[], InsertMode mode) {
  PetscFunctionBegin;
  if (mode == INSERT_VALUES) PetscCall(MatZeroEntries(reference));
  for (PetscInt e = 0; e < map.own; e++)
    PetscCall(MatSetValue(reference, map.rows[e], map.columns[e], values[e], ADD_VALUES));
  PetscCall(MatAssemblyBegin(reference, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(reference, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Brings the values that other ranks send, and gets what sums them in that memory.
static PetscErrorCode get_sums(const Patch &patch, CooMap *map, PetscMemType memory, const PetscScalar values[],
                               Sums<PetscScalar> *sums) {
  PetscFunctionBegin;
  PetscCall(map->received.Prepare(memory));
  PetscScalar *received = map->sent ? map->received.at(memory) : NULL;
  if (map->sf) {
    PetscCall(PetscSFBcastWithMemTypeBegin(map->sf, MPIU_SCALAR, memory, values, memory, received, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(map->sf, MPIU_SCALAR, values, received, MPI_REPLACE));
  }
  sums->points = (size_t)patch.all().points();
  sums->own = map->own;
  sums->values = values;
  sums->received = received;
  PetscCall(map->number.Get(memory, &sums->number));
  PetscCall(map->first.Get(memory, &sums->first));
  PetscCall(map->source.Get(memory, &sums->source));
  PetscCall(log_flops(memory, (PetscLogDouble)map->count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode put_sums(CapturedMat *context, const CooMap &map, const Sums<PetscScalar> &sums,
                               InsertMode mode) {
  CapturedStencil     &op = context->captured();
  PutSums<PetscScalar> put;

  PetscFunctionBegin;
  for (int slot : map.slots) PetscCall(op.Need(slot, mode == ADD_VALUES));
  PetscCall(op.GetOpen(&put.to));
  put.sums = sums;
  put.add = mode == ADD_VALUES;
  if (PetscMemTypeHost(op.memory()))
    put.on_host();
  else
    PetscCall(op.ForAllPoints(put));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// They are summed on the GPU if they are there and the coefficients can be; on the host otherwise.
static PetscErrorCode set_values(Mat A, const PetscScalar values[], InsertMode mode) {
  CapturedMat             *context;
  PetscMemType             memory = PETSC_MEMTYPE_HOST, summed_in;
  std::vector<PetscScalar> copy;
  Sums<PetscScalar>        sums;
  bool                     done = false;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  PetscCheck(context->coo, context->grid.comm, PETSC_ERR_ORDER,
             "MatSetValuesCOO() has no entries to set: call MatSetPreallocationCOO() or MatSetPreallocationCOOLocal() "
             "before");
  PetscCheck(mode == INSERT_VALUES || mode == ADD_VALUES, context->grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "MatSetValuesCOO() takes INSERT_VALUES or ADD_VALUES");
  CooMap &map = *context->coo;
  PetscCheck(
      !context->reference || map.verifiable, context->grid.comm, PETSC_ERR_ORDER,
      "-mat_stencil_verify needs the entries of MatSetPreallocationCOO(), and was set after it; preallocate again");
  CapturedStencil &op = context->captured();
  if (values) PetscCall(PetscGetMemType(values, &memory));
  if (PetscMemTypeHost(op.open() ? op.memory() : op.home()))
    summed_in = PETSC_MEMTYPE_HOST;
  else
    summed_in = memory;
  if (!values)
    copy.assign((size_t)map.own, 0); // as MatSetValues() takes it
  else if (PetscMemTypeDevice(memory) && (PetscMemTypeHost(summed_in) || context->reference)) {
    copy.resize((size_t)map.own);
    PetscCall(DeviceCopyToHost(copy.data(), values, copy.size() * sizeof(PetscScalar)));
  }
  const PetscScalar *host_values = copy.empty() ? values : copy.data();
  PetscCall(get_sums(op.patch(), &map, summed_in, PetscMemTypeHost(summed_in) ? host_values : values, &sums));
  if (mode == INSERT_VALUES) PetscCall(op.CloseAgain(sums, summed_in, context->compression, &done));
  if (done)
    PetscCall(MatCapturedForgetEntries(A, context));
  else {
    if (mode == INSERT_VALUES) PetscCall(MatCapturedZero(A));
    PetscCall(MatCapturedOpen(context, summed_in));
    PetscCall(put_sums(context, map, sums, mode));
  }
  if (context->reference) PetscCall(set_in_reference(context->reference, map, host_values, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetCooOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", preallocate));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOOLocal_C", preallocate_local));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", set_values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
