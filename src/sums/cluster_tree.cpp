// Trees of points, level by level, in the memory that the points are in.

#include "sums/cluster_tree.hpp"

#include "sums/cluster_lists.hpp"

namespace shellac {

namespace {

// The clusters, which depend on the numbers of points alone: nodes, without boxes. Gives where each level begins, the
// first of which is that of the nodes that are there.
std::vector<PetscInt> add_nodes(ClusterTree *tree, PetscInt leaf) {
  auto                 &nodes = tree->nodes;
  std::vector<PetscInt> levels{0};
  while (levels.back() < (PetscInt)nodes.size()) {
    const PetscInt from = levels.back(), end = (PetscInt)nodes.size();
    levels.push_back(end);
    for (PetscInt at = from; at < end; at++) {
      const Cluster  node = nodes[at];
      const PetscInt middle = ClusterTree::middle_of(node);
      if (node.child >= 0 || !tree->is_inside(node) || node.end - node.begin <= leaf) continue;
      nodes[at].child = (PetscInt)nodes.size();
      nodes.push_back(make_cluster(node.begin, middle, node.depth + 1));
      nodes.push_back(make_cluster(middle, node.end, node.depth + 1));
    }
  }
  return levels;
}

} // namespace

PetscErrorCode ClusterTree::Build(PetscMemType memory, const Points &points, PetscInt leaf) {
  PetscFunctionBegin;
  nodes.clear();
  if (points.n) nodes.push_back(make_cluster(0, points.n, 0));
  PetscCall(Halve(memory, points, leaf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ClusterTree::Halve(PetscMemType memory, const Points &points, PetscInt leaf) {
  const bool            whole = nodes.size() == 1; // its box is unknown
  std::vector<PetscInt> parts;
  PointLists            lists;
  const Cluster        *made;
  PetscInt             *to;

  PetscFunctionBegin;
  PetscCall(order.Make(memory, points.n, &to));
  if (!points.n) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt at = 0; at < (PetscInt)nodes.size(); at++)
    if (nodes[at].child < 0 && is_inside(nodes[at])) parts.push_back(at);
  const std::vector<PetscInt> levels = add_nodes(this, leaf);
  PetscCall(lists.Create(memory, points, first, nodes, parts));
  for (size_t l = 0; l + 1 < levels.size(); l++) {
    const PetscInt from = levels[l], count = levels[l + 1] - from;
    if (l || whole) PetscCall(lists.SetBoxes(from, count));
    if (l + 2 < levels.size()) PetscCall(lists.Halve());
  }
  PetscCall(lists.TakeOrder(to));
  PetscCall(lists.GetNodes(&made));
  nodes.assign(made, made + nodes.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<Cluster> down_to(const std::vector<Cluster> &nodes, PetscInt leaf) {
  std::vector<Cluster> top(nodes.begin(), nodes.begin() + !nodes.empty());
  for (size_t at = 0; at < top.size(); at++) {
    const PetscInt child = top[at].end - top[at].begin > leaf ? top[at].child : -1;
    top[at].child = child < 0 ? -1 : (PetscInt)top.size();
    if (child >= 0) top.insert(top.end(), {nodes[child], nodes[child + 1]});
  }
  return top;
}

} // namespace shellac
