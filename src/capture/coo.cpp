// MatSetPreallocationCOO(), MatSetPreallocationCOOLocal() and MatSetValuesCOO().

#include "capture/coo.hpp"

#include <petscdevice.h>

#include "capture/mat.hpp"
#include "capture/owners.hpp"

#include <algorithm>

namespace shellac {

// ---- the map from entries to coefficients --------------------------------------------------------------------------

// An entry of another rank's row, and its number among the caller's.
struct RemoteEntry {
  PetscInt row, column, number;
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

// The numbering of rows and columns: how many there are, and the mappings to the global ones, unless it is that.
struct Numbering {
  const char            *call;
  PetscInt               count;
  ISLocalToGlobalMapping to_global[2] = {NULL, NULL};
};

// Errors of all ranks for arguments that are wrong on one.
static PetscErrorCode check_list(MPI_Comm comm, const char *call, PetscCount n, const PetscInt rows[],
                                 const PetscInt columns[]) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(n >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%s is given %" PetscCount_FMT " entries; give as many as the rank has, or 0", call, n);
  SHELLAC_CHECK_ALL(n <= PETSC_MAX_INT, comm, PETSC_ERR_SUP,
                    "%s is given %" PetscCount_FMT " entries on a rank; more than %" PetscInt_FMT
                    " need a PETSc with 64-bit indices, or more ranks",
                    call, n, PETSC_MAX_INT);
  SHELLAC_CHECK_ALL(!n || (rows && columns), comm, PETSC_ERR_ARG_NULL,
                    "%s is given NULL for the %s of %" PetscCount_FMT " entries", call, rows ? "columns" : "rows", n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A list that may be on a GPU, on the host.
static PetscErrorCode bring_to_host(PetscCount n, PetscInt **list, std::vector<PetscInt> *copy) {
  PetscMemType memory = PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  if (n) PetscCall(PetscGetMemType(*list, &memory));
  if (PetscMemTypeHost(memory)) PetscFunctionReturn(PETSC_SUCCESS);
  copy->resize((size_t)n);
  PetscCall(DeviceCopyToHost(copy->data(), *list, copy->size() * sizeof(PetscInt)));
  *list = copy->data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first of n entries whose row or column is beyond the last; n for none.
static PetscInt first_beyond(PetscInt n, const PetscInt rows[], const PetscInt columns[], PetscInt count) {
  PetscInt first = 0;
  bool     any = false;
  for (PetscInt e = 0; e < n; e++) any |= (rows[e] >= count) | (columns[e] >= count);
  if (!any) return n;
  while (rows[first] < count && columns[first] < count) first++;
  return first;
}

static PetscErrorCode preallocate(Mat A, PetscCount n, PetscInt rows[], PetscInt columns[], const Numbering &numbers) {
  CapturedMat             *context;
  std::vector<RemoteEntry> remote;
  std::vector<Sender>      senders;
  std::vector<PetscInt>    copies[2];
  PetscCount               wrong = n;
  GlobalEntry              first_outside = {};
  bool                     any_outside = false, mine_outside = false;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  const Grid            &grid = context->grid;
  const CapturedStencil &op = context->captured();
  PetscCall(check_list(grid.comm, numbers.call, n, rows, columns));
  PetscCall(bring_to_host(n, &rows, &copies[0]));
  PetscCall(bring_to_host(n, &columns, &copies[1]));
  auto       map = std::make_shared<CooMap>();
  Places    &places = context->places;
  MapMaker   maker(map.get(), op.slots(), (size_t)op.patch().all().points(), (size_t)n);
  const auto add = [&](PetscInt row, PetscInt column, PetscInt entry) {
    const int slot = places.slot(row, column);
    if (slot >= 0) {
      maker.add(slot, places.point());
      return;
    }
    maker.add_ignored();
    if (slot == Places::elsewhere && !context->ignore_off_process) remote.push_back({row, column, entry});
    if (slot == Places::outside && !context->drop_outside && !mine_outside)
      mine_outside = true, first_outside = {row, column, 0, ADD_VALUES};
  };
  constexpr PetscInt at_once = 2048; // entries stay in the cache while they are checked, renumbered and added
  for (PetscCount first = 0; first < n; first += at_once) {
    const PetscInt some = (PetscInt)PetscMin((PetscCount)at_once, n - first);
    PetscInt      *lists[] = {rows + first, columns + first};
    const PetscInt beyond = first_beyond(some, lists[0], lists[1], numbers.count);
    if (beyond < some) {
      wrong = first + beyond;
      break;
    }
    for (int i = 0; i < 2; i++)
      if (numbers.to_global[i]) PetscCall(ISLocalToGlobalMappingApply(numbers.to_global[i], some, lists[i], lists[i]));
    for (PetscInt i = 0; i < some; i++) add(lists[0][i], lists[1][i], (PetscInt)first + i);
  }
  SHELLAC_CHECK_ALL(wrong == n, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%s: the entry at row %" PetscInt_FMT ", column %" PetscInt_FMT
                    " is beyond the last row or column, %" PetscInt_FMT,
                    numbers.call, rows[wrong], columns[wrong], numbers.count - 1);
  PetscCall(SendToOwners(grid, &remote, &senders));
  SHELLAC_CHECK_ALL((PetscCount)remote.size() <= PETSC_MAX_INT - n, grid.comm, PETSC_ERR_SUP,
                    "%s: a rank has %" PetscCount_FMT " entries with those that others send; more than %" PetscInt_FMT
                    " need a PETSc with 64-bit indices, or more ranks",
                    numbers.call, n + (PetscCount)remote.size(), PETSC_MAX_INT);
  for (size_t e = 0; e < remote.size(); e++) add(remote[e].row, remote[e].column, (PetscInt)(n + e));
  PetscCall(MatCapturedCheckOutside(*context, mine_outside ? &first_outside : NULL, &any_outside));
  PetscCall(MatCapturedDiscardValues(context));
  PetscCall(MatCapturedZero(A));
  if (any_outside) {
    PetscCall(MatCapturedFallBack(A, context));
    PetscCall(MatSetPreallocationCOO(A, n, rows, columns));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCapturedForgetCoo(context));
  maker.finish();
  map->own = (PetscInt)n;
  map->sent = (PetscInt)remote.size();
  map->received.resize(remote.size());
  PetscCall(make_forest(grid, remote, senders, map.get()));
  map->verifiable = context->verify;
  if (map->verifiable) map->rows.assign(rows, rows + n), map->columns.assign(columns, columns + n);
  context->coo = std::move(map);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode preallocate_global(Mat A, PetscCount n, PetscInt rows[], PetscInt columns[]) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(preallocate(A, n, rows, columns, {"MatSetPreallocationCOO()", context->grid.offset.back()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode preallocate_local(Mat A, PetscCount n, PetscInt rows[], PetscInt columns[]) {
  Numbering numbers = {"MatSetPreallocationCOOLocal()", 0};
  PetscInt  count[2];

  PetscFunctionBegin;
  PetscCall(MatSetUp(A));
  PetscCall(MatGetLocalToGlobalMapping(A, &numbers.to_global[0], &numbers.to_global[1]));
  for (int i = 0; i < 2; i++) PetscCall(ISLocalToGlobalMappingGetSize(numbers.to_global[i], &count[i]));
  numbers.count = PetscMin(count[0], count[1]);
  PetscCall(preallocate(A, n, rows, columns, numbers));
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
  PetscCall(assemble(reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Brings the values that other ranks send.
static PetscErrorCode receive(CooMap *map, PetscMemType memory, const PetscScalar values[],
                              const PetscScalar **received) {
  PetscFunctionBegin;
  PetscCall(map->received.Prepare(memory));
  PetscScalar *to = map->sent ? map->received.at(memory) : NULL;
  if (map->sf) {
    PetscCall(PetscSFBcastWithMemTypeBegin(map->sf, MPIU_SCALAR, memory, values, memory, to, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(map->sf, MPIU_SCALAR, values, to, MPI_REPLACE));
  }
  *received = to;
  PetscCall(log_flops(memory, (PetscLogDouble)map->count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_sums(CooMap *map, PetscMemType memory, const PetscScalar values[],
                               const PetscScalar received[], Sums<PetscScalar> *sums) {
  PetscFunctionBegin;
  sums->points = map->points;
  sums->own = map->own;
  sums->values = values;
  sums->received = received;
  PetscCall(map->number.Get(memory, &sums->number));
  PetscCall(map->first.Get(memory, &sums->first));
  PetscCall(map->source.Get(memory, &sums->source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// They are summed on the GPU if they are there and the coefficients can be; on the host otherwise.
static PetscErrorCode set_values(Mat A, const PetscScalar values[], InsertMode mode) {
  CapturedMat             *context;
  PetscMemType             memory = PETSC_MEMTYPE_HOST, summed_in;
  std::vector<PetscScalar> copy;
  const PetscScalar       *received = NULL;
  PutSums<PetscScalar>     put;
  bool                     done = false;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCheck(context->coo, context->grid.comm, PETSC_ERR_ORDER,
             "MatSetValuesCOO() has no entries to set: call MatSetPreallocationCOO() or MatSetPreallocationCOOLocal() "
             "before");
  SHELLAC_CHECK_ALL(mode == INSERT_VALUES || mode == ADD_VALUES, context->grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
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
  const bool         add = mode == ADD_VALUES;
  if (PetscMemTypeHost(summed_in)) values = host_values;
  PetscCall(receive(&map, summed_in, values, &received));
  PetscCall(get_sums(&map, summed_in, values, received, &put.sums));
  if (!add) PetscCall(op.CloseAgain(put.sums, summed_in, context->compression, &done));
  if (done)
    PetscCall(MatCapturedForgetEntries(A, context));
  else {
    if (!add) PetscCall(MatCapturedZero(A));
    PetscCall(MatCapturedOpen(context, summed_in));
    context->set_once = !add; // CloseAgain() needs no arrays; where it fails the next time, rows change
    for (int slot : map.slots) PetscCall(op.Need(slot, add));
    PetscCall(op.GetOpen(&put.to));
    put.add = add;
    PetscCall(for_each_run(op.memory(), op.patch().all(), put));
  }
  if (context->reference) PetscCall(set_in_reference(context->reference, map, host_values, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetCooOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", preallocate_global));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOOLocal_C", preallocate_local));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", set_values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
