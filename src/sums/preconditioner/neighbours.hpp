#pragma once
// Boxes of neighbouring points and the points around them, by a tree over all ranks' points, where the points are. A rank
// holds its equal share of the points, and the parts of the others without what is in them. Neither the tree nor what is
// found depends on the ranks.

#include <functional>

#include "device/scratch.hpp"
#include "sums/cluster_tree.hpp"

namespace shellac {

// The points around this rank's boxes, those of box b from starts[b] to starts[b+1], the nearest first.
struct PointsAround {
  std::vector<size_t>   starts;
  Mirror<PetscInt>      places; // of this rank's points in the order of the tree, then of the others
  std::vector<PetscInt> others; // numbers of those that other ranks have, ascending
};

class BoxTree {
public:
  // box: largest number of points in a box. With points in this memory
  PetscErrorCode Build(MPI_Comm comm, PetscMemType memory, const PointCloud &points, PetscInt box);

  PetscInt all_boxes = 0; // all ranks'
  // This rank's boxes, and the numbers of its points, box by box.
  std::vector<Cluster>  boxes;
  std::vector<PetscInt> numbers;
  PetscInt              first() const { return tree_.first; } // where they begin in the order of all ranks' points
  // About the distance between neighbouring points in the densest quarter of each box. [length]
  std::vector<double> spacings;

  // The points nearest to each box, counts[b] without those of the box. `before`: only points of boxes before it in an
  // order from coarse to fine, in which those before a box surround it.
  PetscErrorCode FindAround(const std::vector<PetscInt> &counts, bool before, PointsAround *around);

  // One point of each of about `count` parts: that nearest to the middle of the part, of those that are not too close to
  // another one: too_close(nearest distance, about that of as many points of a lattice). It may be that a part has none.
  PetscErrorCode SampleEvenly(PetscInt count, const std::function<bool(double nearest, double spacing)> &too_close,
                              std::vector<PetscInt> *chosen) const;

  // Points around one of the asking rank's boxes: the nearest `count`, within a distance, and in boxes whose place in the
  // order is before.
  struct Query {
    PetscInt which, count;
    size_t   room; // where what is found is to be
    Cluster  box;
    double   reach2; // the distance's square
    uint64_t before;
  };
  struct Found {
    double          r2;
    PetscInt        number, place; // among all points; in the tree
    SHELLAC_HD bool operator<(const Found &other) const {
      return r2 != other.r2 ? r2 < other.r2 : number < other.number;
    }
  };

private:
  struct Answer {
    PetscInt which;
    Found    found;
  };

  // Those of this rank's points, by distance: found[query.room + t] for t < counts[query].
  PetscErrorCode Search(Mirror<Query> *queries, size_t room, Scratch<Found> *found, Mirror<PetscInt> *counts);
  PetscErrorCode AskOthers(std::vector<Query> queries, const std::vector<PetscInt> &counts,
                           std::vector<std::vector<Found>> *found);
  // The ranks that have parts within a distance of a box.
  std::vector<PetscMPIInt> others_within(const Cluster &box, double reach2) const;

  MPI_Comm              comm_ = MPI_COMM_NULL;
  PetscMemType          memory_ = PETSC_MEMTYPE_HOST;
  PetscInt              N_ = 0;
  PetscMPIInt           ranks_ = 1;
  ClusterTree           tree_;   // all ranks' parts, then what is in this rank's, down to its boxes
  PointCloud            cloud_;  // this rank's points in the order of the tree
  std::vector<uint64_t> places_; // of the nodes that are this rank's boxes, in the order from coarse to fine
};

} // namespace shellac
