#pragma once
// A tree of clusters of points, each with interpolation points in its box.

#include <algorithm>
#include <cmath>

#include "device/mirror.hpp"
#include "sums/cloud.hpp"

namespace shellac {

// A cluster of the points [begin, end) in the tree's order.
struct Cluster {
  PetscInt begin, end;
  PetscInt child;   // the first of two, or -1
  PetscInt proxies; // where its interpolation points begin, or -1 for none
  PetscInt depth;
  int      n[3]; // interpolation points along each axis
  double   lower[3], upper[3];

  SHELLAC_INLINE double center(int a) const { return 0.5 * (lower[a] + upper[a]); }
  SHELLAC_INLINE double radius() const {
    double r2 = 0;
    for (int a = 0; a < 3; a++) r2 += (upper[a] - lower[a]) * (upper[a] - lower[a]);
    return 0.5 * sqrt(r2);
  }
  SHELLAC_INLINE int longest_side() const {
    int axis = 0;
    for (int a = 1; a < 3; a++)
      if (upper[a] - lower[a] > upper[axis] - lower[axis]) axis = a;
    return axis;
  }
};

inline Cluster make_cluster(PetscInt begin, PetscInt end, PetscInt depth) {
  return {begin, end, -1, -1, depth, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
}

// Interpolation points of a cluster: of a tensor grid of Chebyshev points those whose indices are all even, then those
// whose indices are all odd. An axis without length has one index.
SHELLAC_INLINE PetscInt proxies_of_parity(const Cluster &node, int odd) {
  PetscInt count = 1;
  bool     flat = true;
  for (int n : node.n) {
    if (n > 1) count *= (n + 1 - odd) / 2;
    flat = flat && n == 1;
  }
  return odd && flat ? 0 : count;
}
SHELLAC_INLINE PetscInt proxy_count(const Cluster &node) {
  return proxies_of_parity(node, 0) + proxies_of_parity(node, 1);
}
// The indices of the t-th one along the axes.
SHELLAC_INLINE void proxy_indices(const Cluster &node, PetscInt t, int index[3]) {
  const PetscInt even = proxies_of_parity(node, 0);
  const int      odd = t >= even;
  if (odd) t -= even;
  for (int a = 2; a >= 0; a--) {
    const int n = node.n[a] > 1 ? (node.n[a] + 1 - odd) / 2 : 1;
    index[a] = node.n[a] > 1 ? 2 * (int)(t % n) + odd : 0;
    t /= n;
  }
}

SHELLAC_INLINE double chebyshev_point(const Cluster &node, int axis, int k) {
  const double in_box = node.n[axis] > 1 ? cos(pi * k / (node.n[axis] - 1)) : 0;
  return node.center(axis) + 0.5 * (node.upper[axis] - node.lower[axis]) * in_box;
}

constexpr PetscInt host_leaf = 64, device_leaf = 128; // points of the smallest clusters that sums may want

// Halves along the longest side until clusters have `leaf` points or fewer; points at one place by their numbers.
struct ClusterTree {
  std::vector<Cluster> nodes;
  Mirror<PetscInt>     order;     // order[i - first]: the i-th point of the tree; where the points are
  PetscInt             first = 0; // not 0 where it is a part of a larger tree, whose nodes are there

  static SHELLAC_INLINE PetscInt middle_of(const Cluster &node) { return node.begin + (node.end - node.begin) / 2; }
  SHELLAC_INLINE static bool     is_inside(const Cluster &node, PetscInt first, PetscInt n) {
        return node.begin >= first && node.end <= first + n;
  }
  bool           is_inside(const Cluster &node) const { return is_inside(node, first, (PetscInt)order.size()); }
  PetscErrorCode Build(PetscMemType memory, const Points &points, PetscInt leaf);
  // From nodes that are there, in whose order the points are; those outside are left as they are.
  PetscErrorCode Halve(PetscMemType memory, const Points &points, PetscInt leaf);
};

// The upper part of a tree, where clusters of `leaf` points or fewer have no children.
std::vector<Cluster> down_to(const std::vector<Cluster> &nodes, PetscInt leaf);

} // namespace shellac
