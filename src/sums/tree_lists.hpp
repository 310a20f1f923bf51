#pragma once
// Which sources each group of targets sums: points near it, or the interpolation points of clusters far away.

#include "device/mirror.hpp"
#include "sums/cluster_tree.hpp"
#include "sums/kernel_sum.hpp"

namespace shellac {

// Ranges of sources for each group of targets: those of group g are list[first[g]] to list[first[g + 1] - 1].
struct Lists {
  Mirror<Range>    list;
  Mirror<PetscInt> first;
};

// Clusters of targets, parents first. Their interpolation points and their points are split into groups that fit a
// block of threads of a GPU; each group knows its sources by its lists.
//
// Where only the leaves are given that have points, and without interpolation points, the lists are those of a treecode, a
// group for each leaf. With the whole tree they are those of the dual traversal of two trees.
struct TargetGroups {
  std::vector<Cluster> clusters;
  std::vector<Group>   groups;
  PetscInt             largest = 0;  // targets of a group, at most
  bool                 dual = false; // the whole tree

  void make(); // the groups of the clusters
};

// The lists of what is near (0) and what is far (1) for each group, from the tree of some rank's sources. Adds the pairs
// of each kind to `pairs`. Those of a treecode are made in `memory`, the others on the host. Collective.
PetscErrorCode MakeLists(MPI_Comm comm, const KernelSumMat &context, int order, double epsilon, PetscMemType memory,
                         const TargetGroups &targets, const std::vector<Cluster> &sources, Lists lists[2],
                         PetscLogDouble pairs[2]);

} // namespace shellac
