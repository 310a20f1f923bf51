#pragma once
// Boxes of neighbouring points and the points around them, by a tree over all points.

#include "sums/cluster_tree.hpp"

namespace shellac {

// The points nearest to a box, as many as are asked for, without those of the box: numbers of the cloud's points, the
// nearest first. With places of the tree's nodes, only the points of leaves whose place is before that of the box.
class Neighbours {
public:
  Neighbours(const PointCloud &cloud, const ClusterTree &tree) : cloud_(cloud), tree_(tree) {}
  void find(const Cluster &box, PetscInt count, std::vector<PetscInt> *found, const PetscInt *places = NULL);

private:
  using At = std::pair<double, PetscInt>; // the square of a distance; a node, or a point
  const PointCloud  &cloud_;
  const ClusterTree &tree_;
  std::vector<At>    nodes_, nearest_; // heaps: of nodes with the nearest on top, of points with the farthest
};

// Places of the leaves of a tree, by the numbers of its nodes: coarse before fine, so that those before a leaf surround
// it.
std::vector<PetscInt> coarse_to_fine(const ClusterTree &tree);

// One point of each of about `count` parts of the cloud: that nearest to the middle of the part.
std::vector<PetscInt> sample_evenly(const PointCloud &cloud, const ClusterTree &tree, PetscInt count);

} // namespace shellac
