#pragma once
// Items that go to the ranks that own their rows.

#include <algorithm>
#include <type_traits>

#include "grid/grid.hpp"

namespace shellac {

// How many items a rank has sent.
struct Sender {
  PetscMPIInt rank;
  PetscInt    count;
};

// The ranks' items, each with a global row, go to the ranks that own these rows. *items are then this rank's, in the
// order of the senders; *senders, unless null: who they are. Collective.
template <class Item>
PetscErrorCode SendToOwners(const Grid &grid, std::vector<Item> *items, std::vector<Sender> *senders = nullptr) {
  static_assert(std::is_trivially_copyable<Item>::value, "items travel as bytes");
  std::vector<PetscMPIInt> to;
  std::vector<PetscInt>    counts;
  PetscMPIInt              from_count, *from = NULL, tag;
  PetscInt                *from_counts = NULL, p[3], c;
  MPI_Comm                 comm;

  PetscFunctionBegin;
  const auto owner = [&](const Item &item) { return grid.find_row(item.row, p, &c); };
  std::stable_sort(items->begin(), items->end(), [&](const Item &a, const Item &b) { return owner(a) < owner(b); });
  for (const Item &item : *items) {
    const PetscMPIInt rank = owner(item);
    if (to.empty() || to.back() != rank) to.push_back(rank), counts.push_back(0);
    counts.back()++;
  }
  PetscCall(PetscCommDuplicate(grid.comm, &comm, &tag));
  PetscCall(PetscCommBuildTwoSided(comm, 1, MPIU_INT, (PetscMPIInt)to.size(), to.data(), counts.data(), &from_count,
                                   &from, &from_counts));
  PetscCall(PetscSortMPIIntWithIntArray(from_count, from, from_counts));
  std::vector<Item>        received;
  std::vector<MPI_Request> requests(to.size() + from_count);
  size_t                   total = 0, at = 0;
  MPI_Datatype             type;
  PetscMPIInt              count;
  PetscCallMPI(MPI_Type_contiguous(sizeof(Item), MPI_BYTE, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  for (PetscMPIInt i = 0; i < from_count; i++) total += from_counts[i];
  received.resize(total);
  for (PetscMPIInt i = 0; i < from_count; i++) {
    PetscCall(PetscMPIIntCast(from_counts[i], &count));
    PetscCallMPI(MPI_Irecv(&received[at], count, type, from[i], tag, comm, &requests[i]));
    at += from_counts[i];
    if (senders) senders->push_back({from[i], from_counts[i]});
  }
  at = 0;
  for (size_t i = 0; i < to.size(); i++) {
    PetscCall(PetscMPIIntCast(counts[i], &count));
    PetscCallMPI(MPI_Isend(&(*items)[at], count, type, to[i], tag, comm, &requests[from_count + i]));
    at += counts[i];
  }
  PetscCallMPI(MPI_Waitall((PetscMPIInt)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
  PetscCallMPI(MPI_Type_free(&type));
  PetscCall(PetscFree(from));
  PetscCall(PetscFree(from_counts));
  PetscCall(PetscCommDestroy(&comm));
  *items = std::move(received);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
