// Trees of points, level by level, in the memory that the points are in.
//
// Three lists contain the points of each cluster in the order of their coordinates along each axis. So the ends of a
// cluster's part of a list are the ends of its box, and the middle is the median. When clusters are halved, a stable
// partition of the lists keeps this order (R. Brown, Building a balanced k-d tree in O(kn log n) time, 2015).

#include "sums/cluster_tree.hpp"

#include "device/sort.hpp"

namespace shellac {

namespace {

// The arrays of a tree under construction; positions count from the tree's first one.
struct Construction {
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
};

struct Number : Construction {
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { numbers[i] = i; }
};
struct PlaceIn : Construction {
  PetscInt        node, begin;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { node_of[begin - first + i] = node; }
};
struct KeyAlong : Construction {
  int             axis;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { keys[i] = ordered_bits((double)x[axis][i]); }
};
struct KeyOfNode : Construction { // of points that are at the positions of their numbers
  int             axis;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    keys[i] = (uint64_t)nodes[node_of[list[axis][i]]].begin;
  }
};
struct SetBox : Construction {
  PetscInt        from;
  SHELLAC_HD void operator()(PetscInt which, PetscInt, PetscInt) const {
    Cluster &node = nodes[from + which];
    for (int a = 0; a < 3; a++) {
      node.lower[a] = (double)x[a][list[a][node.begin - first]];
      node.upper[a] = (double)x[a][list[a][node.end - 1 - first]];
    }
  }
};
struct ChooseSide : Construction {
  SHELLAC_HD void operator()(PetscInt at, PetscInt, PetscInt) const {
    const Cluster &node = nodes[node_of[at]];
    right[list[node.longest_side()][at]] = first + at >= ClusterTree::middle_of(node);
  }
};
struct SetFlag : Construction {
  SHELLAC_HD void operator()(PetscInt at, PetscInt axis, PetscInt) const {
    flags[(size_t)axis * n + at] = right[list[axis][at]];
  }
};
struct Partition : Construction {
  PetscInt       *to[3];
  SHELLAC_HD void operator()(PetscInt at, PetscInt axis, PetscInt) const {
    const Cluster  &node = nodes[node_of[at]];
    const uint32_t *sum = sums + (size_t)axis * n;
    const PetscInt  point = list[axis][at], before = (PetscInt)(sum[at] - sum[node.begin - first]);
    PetscInt        place = at;
    if (node.child >= 0) place = right[point] ? ClusterTree::middle_of(node) - first + before : at - before;
    to[axis][place] = point;
  }
};
struct Descend : Construction {
  SHELLAC_HD void operator()(PetscInt at, PetscInt, PetscInt) const {
    const Cluster &node = nodes[node_of[at]];
    if (node.child >= 0) node_of[at] = node.child + (first + at >= ClusterTree::middle_of(node));
  }
};

struct TakeOrder : Construction {
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { numbers[i] = list[0][i]; }
};

Cluster make_node(PetscInt begin, PetscInt end, PetscInt depth) {
  return {begin, end, -1, -1, depth, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
}

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
      nodes.push_back(make_node(node.begin, middle, node.depth + 1));
      nodes.push_back(make_node(middle, node.end, node.depth + 1));
    }
  }
  return levels;
}

// Halves clusters as ChooseSide to Descend do on a GPU, and replaces them by their halves. They are taken one after the
// other, so that no running sums are needed: points go to the ends of the two halves.
void halve_on_host(const Construction &t, std::vector<PetscInt> *level, PetscInt *const to[3]) {
  std::vector<PetscInt> halves;
  for (PetscInt which : *level) {
    const Cluster &node = t.nodes[which];
    const PetscInt begin = node.begin - t.first, end = node.end - t.first;
    if (node.child < 0) { // both lists have it from now on
      for (int a = 0; a < 3; a++) std::copy(t.list[a] + begin, t.list[a] + end, to[a] + begin);
      continue;
    }
    const PetscInt middle = ClusterTree::middle_of(node) - t.first;
    const int      longest = node.longest_side();
    for (PetscInt at = begin; at < end; at++) t.right[t.list[longest][at]] = at >= middle;
    std::copy(t.list[longest] + begin, t.list[longest] + end, to[longest] + begin);
    for (int a = 0; a < 3; a++) {
      if (a == longest) continue;
      PetscInt *half[2] = {to[a] + begin, to[a] + middle};
      for (PetscInt at = begin; at < end; at++) {
        const PetscInt point = t.list[a][at];
        *half[t.right[point]]++ = point;
      }
    }
    halves.insert(halves.end(), {node.child, node.child + 1});
  }
  level->swap(halves);
}

} // namespace

PetscErrorCode ClusterTree::Build(PetscMemType memory, const Points &points, PetscInt leaf) {
  PetscFunctionBegin;
  nodes.clear();
  if (points.n) nodes.push_back(make_node(0, points.n, 0));
  PetscCall(Halve(memory, points, leaf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ClusterTree::Halve(PetscMemType memory, const Points &points, PetscInt leaf) {
  const PetscInt         n = points.n;
  const bool             whole = nodes.size() == 1; // its box is unknown
  const bool             on_host = PetscMemTypeHost(memory);
  std::vector<PetscInt>  parts;
  Mirror<Cluster>        clusters;
  Scratch<PetscInt>      lists, node_of;
  Scratch<unsigned char> sides;
  Scratch<uint32_t>      sums;
  Scratch<uint64_t>      keys, work;
  const Cluster         *made;
  Construction           t;
  PetscInt              *other[3];

  PetscFunctionBegin;
  PetscCall(order.Make(memory, n, &t.numbers));
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt at = 0; at < (PetscInt)nodes.size(); at++)
    if (nodes[at].child < 0 && is_inside(nodes[at])) parts.push_back(at);
  const std::vector<PetscInt> levels = add_nodes(this, leaf);
  PetscCall(lists.Grow((size_t)6 * n, memory));
  PetscCall(node_of.Grow(n, memory));
  PetscCall(sides.Grow((size_t)(on_host ? 1 : 4) * n, memory));
  if (!on_host) PetscCall(sums.Grow((size_t)3 * n, memory));
  PetscCall(keys.Grow(n, memory));
  clusters.change() = nodes;
  PetscCall(clusters.Edit(memory, &t.nodes));
  t.first = first;
  t.n = n;
  t.node_of = node_of.at(memory);
  t.right = sides.at(memory);
  t.flags = t.right + n;
  t.sums = sums.at(memory);
  t.keys = keys.at(memory);
  for (int a = 0; a < 3; a++) {
    t.x[a] = points.x[a];
    t.list[a] = lists.at(memory) + (size_t)a * n;
    other[a] = t.list[a] + (size_t)3 * n;
  }
  const Boxes every = line_of(n), on_each_list = line_of(n, 3);
  PetscCall(for_each(memory, every, Number{t}));
  for (PetscInt part : parts)
    PetscCall(for_each(memory, line_of(nodes[part].end - nodes[part].begin), PlaceIn{t, part, nodes[part].begin}));
  for (int a = 0; a < 3; a++) {
    PetscCall(for_each(memory, every, KeyAlong{t, a}));
    PetscCall(SortByKeys(memory, n, t.keys, t.numbers, t.list[a], &work));
    if (parts.size() == 1) continue;
    PetscCall(for_each(memory, every, KeyOfNode{t, a}));
    PetscCall(SortByKeys(memory, n, t.keys, t.list[a], other[a], &work));
    std::swap(t.list[a], other[a]);
  }
  for (size_t l = 0; l + 1 < levels.size(); l++) {
    const PetscInt from = levels[l], count = levels[l + 1] - from;
    if (l || whole) PetscCall(for_each(memory, line_of(count), SetBox{t, from}));
    if (l + 2 == levels.size()) break; // nothing is halved
    if (on_host) {
      halve_on_host(t, &parts, other);
    } else {
      PetscCall(for_each(memory, every, ChooseSide{t}));
      PetscCall(for_each(memory, on_each_list, SetFlag{t}));
      PetscCall(AddUp(memory, (size_t)3 * n, t.flags, t.sums, &work));
      PetscCall(for_each(memory, on_each_list, Partition{t, {other[0], other[1], other[2]}}));
      PetscCall(for_each(memory, every, Descend{t}));
    }
    for (int a = 0; a < 3; a++) std::swap(t.list[a], other[a]);
  }
  PetscCall(for_each(memory, every, TakeOrder{t}));
  PetscCall(clusters.Get(PETSC_MEMTYPE_HOST, &made));
  nodes.assign(made, made + clusters.size());
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
