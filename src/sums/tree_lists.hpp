#pragma once
// The sources that each group of targets sums: near points, or the interpolation points of far clusters.

#include "device/mirror.hpp"
#include "device/scratch.hpp"
#include "sums/cluster_tree.hpp"
#include "sums/kernel_sum.hpp"

namespace shellac {

// Ranges of sources for clusters of targets: those of list l are list[first[l]] to list[first[l + 1] - 1]. List 2 t is
// for the interpolation points of cluster t, list 2 t + 1 for its points.
struct Lists {
  Mirror<Range>    list;
  Mirror<PetscInt> first;
};

constexpr PetscInt whole_group = 256, half_group = 128; // targets of a GPU's block of threads

// The interpolation points of a tree's clusters and the points of its leaves, split into groups.
struct TargetGroups {
  Mirror<Group> groups;
  PetscInt      largest = 0; // targets of a group, at most

  void make(const std::vector<Cluster> &clusters, PetscInt most); // targets of a group
};

// Room for pairs of clusters, to be used again.
struct PairRoom {
  Scratch<uint64_t>      open[2], found[2], sorted, sort;
  Scratch<unsigned char> steps, flags;
  Scratch<uint32_t>      sums;
};

constexpr PetscInt64 most_cluster_pairs = sizeof(PetscInt) == 4 ? (PetscInt64)PETSC_MAX_INT : UINT32_MAX; // that are counted

// The lists of what is near (0) and what is far (1), from the tree of some rank's sources, made in `memory`. Adds the pairs
// of points of each kind to `pairs`. *most: the pairs of clusters that it looked at together; where they are more than are
// counted, there are no lists.
PetscErrorCode MakeLists(const KernelSumMat &context, int order, double epsilon, PetscMemType memory,
                         Mirror<Cluster> *targets, Mirror<Cluster> *sources, PairRoom *room, Lists lists[2],
                         PetscLogDouble pairs[2], PetscInt64 *most);

} // namespace shellac
