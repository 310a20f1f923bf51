#pragma once
// Orders all ranks' points by compact parts, independently of the ranks, and distributes them to the ranks in that order.

#include <functional>

#include "sums/cluster_tree.hpp"

namespace shellac {

// What a rank gives, and what it gets: the points from the position `first` of the order on.
struct DealtPoints {
  Mirror<PetscInt>         order;          // its own points as they are sent, rank by rank
  std::vector<PetscMPIInt> sent, received; // points, to and from each rank

  std::vector<Cluster>  parts;  // a tree of all ranks' parts; begin and end are positions
  std::vector<PetscInt> leaves; // those of the parts without children that are this rank's, in the order
  std::vector<PetscInt> in_leaves; // [rank][leaf]: points that come from a rank, in the order of the leaves
  PetscInt              first = 0;

  // by DealPoints()
  std::vector<PetscInt>  numbers; // of the points among all, ascending in each part
  std::vector<PetscReal> x;       // coordinate a of point i is x[3 i + a]
};

// Splits the points of each part along the longest side of its box, at the position middle(part), unless that is an end
// of the part; points with equal coordinates by their numbers. A part goes to the rank whose equal share contains its
// middle.
using Middle = std::function<PetscInt(const Cluster &)>;
PetscErrorCode DealOrder(MPI_Comm comm, PetscMemType memory, const PointCloud &points, const Middle &middle,
                         DealtPoints *dealt);
// The same, and sends the points.
PetscErrorCode DealPoints(MPI_Comm comm, PetscMemType memory, const PointCloud &points, const Middle &middle,
                          DealtPoints *dealt);

// The first position of a rank's equal share of N points; the rank of a position.
inline PetscInt share_of(PetscMPIInt rank, PetscMPIInt ranks, PetscInt N) {
  return (PetscInt)((PetscInt64)N * rank / ranks);
}
inline PetscMPIInt rank_of(PetscInt position, PetscMPIInt ranks, PetscInt N) {
  return (PetscMPIInt)((((PetscInt64)position + 1) * ranks - 1) / N);
}

// Sends items, sorted by destination, counts[rank] to each rank. Returns those received, and their counts.
template <class T> PetscErrorCode SendItems(MPI_Comm comm, std::vector<T> *items, std::vector<PetscMPIInt> *counts) {
  const size_t             ranks = counts->size();
  std::vector<PetscMPIInt> in(ranks), starts(ranks), in_starts(ranks);
  PetscInt64               out_sum = 0, in_sum = 0;
  MPI_Datatype             item;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Alltoall(counts->data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm));
  for (size_t r = 0; r < ranks; r++) {
    starts[r] = (PetscMPIInt)out_sum;
    in_starts[r] = (PetscMPIInt)in_sum;
    out_sum += (*counts)[r];
    in_sum += in[r];
  }
  SHELLAC_CHECK_ALL(PetscMax(out_sum, in_sum) <= PETSC_MPI_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "one rank sends or receives %" PetscInt64_FMT " items, more than MPI counts; use more ranks",
                    PetscMax(out_sum, in_sum));
  std::vector<T> received((size_t)in_sum);
  PetscCallMPI(MPI_Type_contiguous(sizeof(T), MPI_BYTE, &item));
  PetscCallMPI(MPI_Type_commit(&item));
  PetscCallMPI(MPI_Alltoallv(items->data(), counts->data(), starts.data(), item, received.data(), in.data(),
                             in_starts.data(), item, comm));
  PetscCallMPI(MPI_Type_free(&item));
  items->swap(received);
  counts->swap(in);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
