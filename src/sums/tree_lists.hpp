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

// A tree of targets. Its interpolation points and the points of its leaves are split into groups that fit a block of
// threads of a GPU; each group knows its sources by its lists.
struct TargetGroups {
  std::vector<Cluster> clusters;
  std::vector<Group>   groups;
  PetscInt             largest = 0; // targets of a group, at most

  void make(); // the groups of the clusters
};

// The lists of what is near (0) and what is far (1) for each group, from the tree of some rank's sources. Adds the pairs
// of each kind to `pairs`.
PetscErrorCode MakeLists(const KernelSumMat &context, int order, double epsilon, const TargetGroups &targets,
                         const std::vector<Cluster> &sources, Lists lists[2], PetscLogDouble pairs[2]);

} // namespace shellac
