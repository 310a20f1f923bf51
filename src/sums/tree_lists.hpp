#pragma once
// Which sources each group of targets sums: points near it, or the interpolation points of clusters far away.

#include "sums/cluster_tree.hpp"
#include "sums/kernel_sum.hpp"

namespace shellac {

// A list of ranges of sources for each group of targets.
struct Lists {
  std::vector<Range>    list;
  std::vector<PetscInt> first{0};

  void add(const Range &range) { // after the last one, if it is its neighbour in the same group
    if ((PetscInt)list.size() > first.back() && list.back().end == range.begin)
      list.back().end = range.end;
    else
      list.push_back(range);
  }
  void end_group() { first.push_back((PetscInt)list.size()); }
};

// Clusters of targets, parents first. Their interpolation points and their points are split into groups that fit a
// block of threads of a GPU; each group knows its sources by its lists.
//
// Where only the leaves are given, and without interpolation points, the lists are those of a treecode. With the whole
// tree they are those of the dual traversal of two trees.
struct TargetGroups {
  std::vector<Cluster> clusters;
  std::vector<Group>   groups;
  PetscInt             largest = 0;  // targets of a group, at most
  bool                 dual = false; // the whole tree

  void make(); // the groups of the clusters
};

// The lists of what is near (0) and what is far (1) for each group, from the tree of some rank's sources. Adds the pairs
// of each kind to `pairs`.
void make_lists(const KernelSumMat &context, int order, double epsilon, const TargetGroups &targets,
                const std::vector<Cluster> &sources, Lists lists[2], PetscLogDouble pairs[2]);

} // namespace shellac
