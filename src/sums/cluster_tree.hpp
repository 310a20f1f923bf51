#pragma once
// A tree of clusters of points, each with interpolation points in its box.

#include <algorithm>
#include <cmath>
#include <numeric>

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

  double center(int a) const { return 0.5 * (lower[a] + upper[a]); }
  double radius() const {
    double r2 = 0;
    for (int a = 0; a < 3; a++) r2 += (upper[a] - lower[a]) * (upper[a] - lower[a]);
    return 0.5 * std::sqrt(r2);
  }
  int longest_side() const {
    int axis = 0;
    for (int a = 1; a < 3; a++)
      if (upper[a] - lower[a] > upper[axis] - lower[axis]) axis = a;
    return axis;
  }
};

// Interpolation points of a cluster, all axes'.
SHELLAC_INLINE PetscInt proxy_count(const Cluster &node) {
  return (PetscInt)node.n[0] * node.n[1] * node.n[2];
}
SHELLAC_INLINE double chebyshev(int k, int n) { // in [-1, 1]
  return n > 1 ? cos(pi * k / (n - 1)) : 0;
}
SHELLAC_INLINE double chebyshev_point(const Cluster &node, int axis, int k) {
  return 0.5 * (node.lower[axis] + node.upper[axis]) +
         0.5 * (node.upper[axis] - node.lower[axis]) * chebyshev(k, node.n[axis]);
}

constexpr PetscInt tree_leaf = 256; // points of the smallest clusters: what one block of threads sums for on a GPU
constexpr PetscInt dual_leaf = 64;  // and of dual traversals, at least

// Halves along the longest side until clusters have `leaf` points or fewer; points at one place by their numbers.
struct ClusterTree {
  std::vector<Cluster>  nodes;
  std::vector<PetscInt> order;     // order[i - first]: the i-th point of the tree
  PetscInt              first = 0; // not 0 where it is a part of a larger tree, whose nodes are there

  static PetscInt middle_of(const Cluster &node) { return node.begin + (node.end - node.begin) / 2; }
  bool            is_inside(const Cluster &node) const {
               return node.begin >= first && node.end <= first + (PetscInt)order.size();
  }
  void build(const PointCloud &cloud, PetscInt leaf = tree_leaf) {
    order.resize(cloud.n);
    std::iota(order.begin(), order.end(), (PetscInt)0);
    nodes.clear();
    if (!cloud.n) return;
    std::vector<Item> items = items_of(cloud);
    nodes.push_back(make_node(items.data(), 0, cloud.n, 0));
    halve(&items, leaf);
  }
  // From nodes that are there; those outside the order are left as they are.
  void halve(const PointCloud &cloud, PetscInt leaf) {
    std::vector<Item> items = items_of(cloud);
    halve(&items, leaf);
  }
  // The upper part of the tree, where clusters of `leaf` points or fewer have no children.
  std::vector<Cluster> down_to(PetscInt leaf) const {
    std::vector<Cluster> top(nodes.begin(), nodes.begin() + !nodes.empty());
    for (size_t at = 0; at < top.size(); at++) {
      const PetscInt child = top[at].end - top[at].begin > leaf ? top[at].child : -1;
      top[at].child = child < 0 ? -1 : (PetscInt)top.size();
      if (child >= 0) top.insert(top.end(), {nodes[child], nodes[child + 1]});
    }
    return top;
  }

private:
  struct Item { // a point moves as a whole: coordinates that were looked up by its number would come from anywhere
    double   x[3];
    PetscInt number;
  };

  std::vector<Item> items_of(const PointCloud &cloud) const { // in the order
    std::vector<Item> items(order.size());
    for (size_t i = 0; i < order.size(); i++) {
      for (int a = 0; a < 3; a++) items[i].x[a] = (double)cloud.x[(size_t)a * cloud.n + order[i]];
      items[i].number = order[i];
    }
    return items;
  }
  void halve(std::vector<Item> *items, PetscInt leaf) {
    const auto at_position = [&](PetscInt position) { return items->data() + (position - first); };
    for (size_t at = 0; at < nodes.size(); at++) {
      const Cluster node = nodes[at];
      if (node.child >= 0 || !is_inside(node) || node.end - node.begin <= leaf) continue;
      const PetscInt middle = middle_of(node);
      const int      axis = node.longest_side();
      std::nth_element(at_position(node.begin), at_position(middle), at_position(node.end),
                       [axis](const Item &p, const Item &q) {
                         return p.x[axis] < q.x[axis] || (p.x[axis] == q.x[axis] && p.number < q.number);
                       });
      nodes[at].child = (PetscInt)nodes.size();
      nodes.push_back(make_node(at_position(node.begin), node.begin, middle, node.depth + 1));
      nodes.push_back(make_node(at_position(middle), middle, node.end, node.depth + 1));
    }
    for (size_t i = 0; i < order.size(); i++) order[i] = (*items)[i].number;
  }
  static Cluster make_node(const Item *points, PetscInt begin, PetscInt end, PetscInt depth) {
    Cluster node = {begin, end, -1, -1, depth, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
    for (int a = 0; a < 3; a++) node.lower[a] = node.upper[a] = points[0].x[a];
    for (PetscInt i = 0; i < end - begin; i++)
      for (int a = 0; a < 3; a++) {
        node.lower[a] = std::min(node.lower[a], points[i].x[a]);
        node.upper[a] = std::max(node.upper[a], points[i].x[a]);
      }
    return node;
  }
};

} // namespace shellac
