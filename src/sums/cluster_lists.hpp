#pragma once
// Points in three lists, of all clusters one after the other, each in the order of its points' coordinates along an axis. So
// the ends of a cluster's part of a list are the ends of its box, and the middle is the median. When clusters are halved, a
// stable partition of the lists keeps this order (R. Brown, Building a balanced k-d tree in O(kn log n) time, 2015).

#include "device/mirror.hpp"
#include "device/scratch.hpp"
#include "sums/cluster_tree.hpp"

namespace shellac {

// Positions in the lists count from the clusters' `first`.
struct ListArrays {
  Cluster         *nodes;
  PetscInt         first, n;
  const PetscReal *x[3];
  PetscInt        *list[3]; // the points along each axis
  PetscInt        *node_of; // the smallest cluster that has a position
  unsigned char   *right;   // of each point: it goes to the second half
  unsigned char   *flags;   // the same along the lists, one after the other
  uint32_t        *sums;    // and how many of those before do
  uint64_t        *keys;
  PetscInt        *numbers;

  // The first position of the second half.
  SHELLAC_INLINE PetscInt middle(const Cluster &node) const { return nodes[node.child].end - first; }
};

class PointLists {
public:
  // Clusters `parts` of these have the points, in the parts' order, at positions that count from `first`.
  PetscErrorCode Create(PetscMemType memory, const Points &points, PetscInt first, const std::vector<Cluster> &nodes,
                        std::vector<PetscInt> parts);
  PetscErrorCode SetNodes(const std::vector<Cluster> &nodes); // the same and their halves, perhaps
  PetscErrorCode SetBoxes(PetscInt from, PetscInt count);     // of so many clusters; infinite where they have no points
  PetscErrorCode Halve();                                     // the latest clusters, where they have children
  PetscErrorCode TakeOrder(PetscInt *order);                  // the points, cluster by cluster
  // The same of these clusters, in each of them by their numbers.
  PetscErrorCode TakeOrderByNumbers(const std::vector<Cluster> &nodes, const std::vector<PetscInt> &parts,
                                    PetscInt *order);
  PetscErrorCode GetNodes(const Cluster **nodes) { return nodes_.Get(PETSC_MEMTYPE_HOST, nodes); }

  const ListArrays &arrays() const { return t_; }

private:
  PetscErrorCode PlaceParts(const std::vector<Cluster> &nodes, const std::vector<PetscInt> &parts);

  PetscMemType           memory_ = PETSC_MEMTYPE_HOST;
  std::vector<PetscInt>  latest_; // on the host
  Mirror<Cluster>        nodes_;
  Scratch<PetscInt>      lists_, node_of_, numbers_;
  Scratch<unsigned char> sides_;
  Scratch<uint32_t>      sums_;
  Scratch<uint64_t>      keys_, work_;
  ListArrays             t_ = {};
  PetscInt              *other_[3] = {};
};

} // namespace shellac
