#pragma once
// Boxes of neighbouring points and the points around them, by a tree over all ranks' points. A rank holds its equal share of
// the points, and the parts of the others without what is in them. Neither the tree nor what is found depends on the ranks.

#include "sums/cluster_tree.hpp"

namespace shellac {

class BoxTree {
public:
  PetscErrorCode Build(MPI_Comm comm, const PointCloud &points, PetscInt box); // box: points of one, at most

  PetscInt all_boxes = 0; // all ranks'
  // This rank's boxes, and the numbers of the points of one, ascending.
  std::vector<Cluster>  boxes;
  std::vector<PetscInt> points_of(const Cluster &box) const;

  // The points nearest to each box, counts[b] without those of the box, the nearest first. `before`: only points of boxes
  // before it in an order from coarse to fine, in which those before a box surround it.
  PetscErrorCode FindAround(const std::vector<PetscInt> &counts, bool before,
                            std::vector<std::vector<PetscInt>> *around) const;

  // About the distance between neighbouring points in the densest quarter of a box. [length]
  PetscErrorCode SpacingIn(const Cluster &box, double *spacing) const;

  // One point of each of about `count` parts: that nearest to the middle of the part.
  PetscErrorCode SampleEvenly(PetscInt count, std::vector<PetscInt> *chosen) const;

private:
  // Points around one of the asking rank's boxes: the nearest `count`, within a distance, and in boxes whose place in the
  // order is before.
  struct Query {
    PetscInt which, count;
    Cluster  box;
    double   reach2; // the distance's square
    uint64_t before;
  };
  struct Found {
    PetscInt which; // of the query
    double   r2;
    PetscInt number;
    bool     operator<(const Found &other) const { return r2 != other.r2 ? r2 < other.r2 : number < other.number; }
  };
  using Node = std::pair<double, PetscInt>; // the square of its distance, its number

  void find(const Query &query, std::vector<Found> *found, std::vector<Node> *elsewhere) const;

  MPI_Comm              comm_ = MPI_COMM_NULL;
  PetscInt              N_ = 0;
  PetscMPIInt           ranks_ = 1;
  ClusterTree           tree_;    // all ranks' parts, then what is in this rank's
  PointCloud            cloud_;   // this rank's points in the order of the tree
  std::vector<PetscInt> numbers_; // of them among all
  std::vector<uint64_t> places_;  // of the nodes that are this rank's boxes, in the order from coarse to fine
};

} // namespace shellac
