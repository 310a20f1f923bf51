#include "sums/cluster_lists.hpp"

#include "device/sort.hpp"

namespace shellac {

namespace {

struct Number : ListArrays {
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { numbers[i] = i; }
};
struct PlaceIn : ListArrays {
  PetscInt        node, begin;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { node_of[begin - first + i] = node; }
};
struct KeyAlong : ListArrays {
  int             axis;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { keys[i] = ordered_bits((double)x[axis][i]); }
};
struct KeyOfNode : ListArrays { // of points that are at the positions of their numbers
  int             axis;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    keys[i] = (uint64_t)nodes[node_of[list[axis][i]]].begin;
  }
};
struct SetBox : ListArrays {
  PetscInt        from;
  SHELLAC_HD void operator()(PetscInt which, PetscInt, PetscInt) const {
    Cluster &node = nodes[from + which];
    for (int a = 0; a < 3; a++) {
      node.lower[a] = INFINITY;
      node.upper[a] = -INFINITY;
      if (node.begin == node.end) continue;
      node.lower[a] = (double)x[a][list[a][node.begin - first]];
      node.upper[a] = (double)x[a][list[a][node.end - 1 - first]];
    }
  }
};
struct ChooseSide : ListArrays {
  SHELLAC_HD void operator()(PetscInt at, PetscInt, PetscInt) const {
    const Cluster &node = nodes[node_of[at]];
    right[list[node.longest_side()][at]] = node.child >= 0 && at >= middle(node);
  }
};
struct SetFlag : ListArrays {
  SHELLAC_HD void operator()(PetscInt at, PetscInt axis, PetscInt) const {
    flags[(size_t)axis * n + at] = right[list[axis][at]];
  }
};
struct Partition : ListArrays {
  PetscInt       *to[3];
  SHELLAC_HD void operator()(PetscInt at, PetscInt axis, PetscInt) const {
    const Cluster  &node = nodes[node_of[at]];
    const uint32_t *sum = sums + (size_t)axis * n;
    const PetscInt  point = list[axis][at], before = (PetscInt)(sum[at] - sum[node.begin - first]);
    PetscInt        place = at;
    if (node.child >= 0) place = right[point] ? middle(node) + before : at - before;
    to[axis][place] = point;
  }
};
struct Descend : ListArrays {
  SHELLAC_HD void operator()(PetscInt at, PetscInt, PetscInt) const {
    const Cluster &node = nodes[node_of[at]];
    if (node.child >= 0) node_of[at] = node.child + (at >= middle(node));
  }
};

struct KeyOfPoint : ListArrays { // those of clusters, of points wherever they are
  SHELLAC_HD void operator()(PetscInt at, PetscInt, PetscInt) const {
    keys[list[0][at]] = (uint64_t)nodes[node_of[at]].begin;
  }
};
struct CopyList : ListArrays {
  PetscInt       *to;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { to[i] = list[0][i]; }
};

// Halves clusters as ChooseSide to Descend do on a GPU, and replaces them by their halves. They are taken one after the
// other, so that no running sums are needed: points go to the ends of the two halves.
void halve_on_host(const ListArrays &t, std::vector<PetscInt> *level, PetscInt *const to[3]) {
  std::vector<PetscInt> halves;
  for (PetscInt which : *level) {
    const Cluster &node = t.nodes[which];
    const PetscInt begin = node.begin - t.first, end = node.end - t.first;
    if (node.child < 0) { // both lists have it from now on
      for (int a = 0; a < 3; a++) std::copy(t.list[a] + begin, t.list[a] + end, to[a] + begin);
      continue;
    }
    const PetscInt middle = t.middle(node);
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

PetscErrorCode PointLists::Create(PetscMemType memory, const Points &points, PetscInt first,
                                  const std::vector<Cluster> &nodes, std::vector<PetscInt> parts) {
  const PetscInt n = points.n;
  const bool     on_host = PetscMemTypeHost(memory);

  PetscFunctionBegin;
  memory_ = memory;
  PetscCall(lists_.Grow((size_t)6 * n, memory));
  PetscCall(node_of_.Grow(n, memory));
  PetscCall(numbers_.Grow(n, memory));
  PetscCall(sides_.Grow((size_t)(on_host ? 1 : 4) * n, memory));
  if (!on_host) PetscCall(sums_.Grow((size_t)3 * n, memory));
  PetscCall(keys_.Grow(n, memory));
  t_.first = first;
  t_.n = n;
  t_.node_of = node_of_.at(memory);
  t_.right = sides_.at(memory);
  t_.flags = t_.right + n;
  t_.sums = sums_.at(memory);
  t_.keys = keys_.at(memory);
  t_.numbers = numbers_.at(memory);
  for (int a = 0; a < 3; a++) {
    t_.x[a] = points.x[a];
    t_.list[a] = lists_.at(memory) + (size_t)a * n;
    other_[a] = t_.list[a] + (size_t)3 * n;
  }
  PetscCall(SetNodes(nodes));
  PetscCall(for_each(memory, line_of(n), Number{t_}));
  PetscCall(PlaceParts(nodes, parts));
  for (int a = 0; a < 3; a++) {
    PetscCall(for_each(memory, line_of(n), KeyAlong{t_, a}));
    PetscCall(SortByKeys(memory, n, t_.keys, t_.numbers, t_.list[a], &work_));
    if (parts.size() == 1) continue;
    PetscCall(for_each(memory, line_of(n), KeyOfNode{t_, a}));
    PetscCall(SortByKeys(memory, n, t_.keys, t_.list[a], other_[a], &work_));
    std::swap(t_.list[a], other_[a]);
  }
  latest_ = std::move(parts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointLists::SetNodes(const std::vector<Cluster> &nodes) {
  PetscFunctionBegin;
  nodes_.change() = nodes;
  PetscCall(nodes_.Edit(memory_, &t_.nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointLists::SetBoxes(PetscInt from, PetscInt count) {
  return for_each(memory_, line_of(count), SetBox{t_, from});
}

PetscErrorCode PointLists::Halve() {
  const Boxes every = line_of(t_.n), on_each_list = line_of(t_.n, 3);

  PetscFunctionBegin;
  if (PetscMemTypeHost(memory_)) {
    halve_on_host(t_, &latest_, other_);
  } else {
    PetscCall(for_each(memory_, every, ChooseSide{t_}));
    PetscCall(for_each(memory_, on_each_list, SetFlag{t_}));
    PetscCall(AddUp(memory_, (size_t)3 * t_.n, t_.flags, t_.sums, &work_));
    PetscCall(for_each(memory_, on_each_list, Partition{t_, {other_[0], other_[1], other_[2]}}));
    PetscCall(for_each(memory_, every, Descend{t_}));
  }
  for (int a = 0; a < 3; a++) std::swap(t_.list[a], other_[a]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointLists::PlaceParts(const std::vector<Cluster> &nodes, const std::vector<PetscInt> &parts) {
  PetscFunctionBegin;
  for (PetscInt part : parts)
    PetscCall(for_each(memory_, line_of(nodes[part].end - nodes[part].begin), PlaceIn{t_, part, nodes[part].begin}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointLists::TakeOrder(PetscInt *order) {
  return for_each(memory_, line_of(t_.n), CopyList{t_, order});
}

PetscErrorCode PointLists::TakeOrderByNumbers(const std::vector<Cluster> &nodes, const std::vector<PetscInt> &parts,
                                              PetscInt *order) {
  PetscFunctionBegin;
  PetscCall(PlaceParts(nodes, parts));
  PetscCall(for_each(memory_, line_of(t_.n), KeyOfPoint{t_}));
  PetscCall(SortByKeys(memory_, t_.n, t_.keys, t_.numbers, order, &work_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
