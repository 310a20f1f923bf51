// Nearest points by a tree, the nearest clusters first: O(log N) a point.

#include "sums/preconditioner/neighbours.hpp"

#include <algorithm>
#include <functional>

namespace shellac {

static double square_of_gap(const Cluster &box, const double lower[3], const double upper[3]) {
  double sum = 0;
  for (int a = 0; a < 3; a++) {
    const double gap = std::max({0., box.lower[a] - upper[a], lower[a] - box.upper[a]});
    sum += gap * gap;
  }
  return sum;
}

void Neighbours::find(const Cluster &box, PetscInt count, std::vector<PetscInt> *found, const PetscInt *places) {
  const auto nearer_node = std::greater<At>();
  nodes_.clear();
  nearest_.clear();
  if (count > 0 && !tree_.nodes.empty()) nodes_.push_back({0, 0});
  while (!nodes_.empty()) {
    const At top = nodes_.front();
    std::pop_heap(nodes_.begin(), nodes_.end(), nearer_node);
    nodes_.pop_back();
    if ((PetscInt)nearest_.size() == count && top.first > nearest_.front().first) break;
    const Cluster &node = tree_.nodes[top.second];
    if (node.child >= 0) {
      for (PetscInt child : {node.child, node.child + 1}) {
        const Cluster &c = tree_.nodes[child];
        nodes_.push_back({square_of_gap(box, c.lower, c.upper), child});
        std::push_heap(nodes_.begin(), nodes_.end(), nearer_node);
      }
      continue;
    }
    if (node.begin >= box.begin && node.end <= box.end) continue;
    if (places && places[top.second] > places[&box - tree_.nodes.data()]) continue;
    for (PetscInt t = node.begin; t < node.end; t++) {
      const PetscInt i = tree_.order[t];
      double         at[3];
      for (int a = 0; a < 3; a++) at[a] = cloud_.x[(size_t)a * cloud_.n + i];
      const At point = {square_of_gap(box, at, at), i};
      if ((PetscInt)nearest_.size() == count) {
        if (!(point < nearest_.front())) continue;
        std::pop_heap(nearest_.begin(), nearest_.end());
        nearest_.pop_back();
      }
      nearest_.push_back(point);
      std::push_heap(nearest_.begin(), nearest_.end());
    }
  }
  std::sort_heap(nearest_.begin(), nearest_.end());
  found->clear();
  for (const At &point : nearest_) found->push_back(point.second);
}

std::vector<PetscInt> coarse_to_fine(const ClusterTree &tree) {
  std::vector<PetscInt> leaves, places(tree.nodes.size(), 0);
  for (size_t at = 0; at < tree.nodes.size(); at++)
    if (tree.nodes[at].child < 0) leaves.push_back((PetscInt)at);
  std::sort(leaves.begin(), leaves.end(),
            [&](PetscInt a, PetscInt b) { return tree.nodes[a].begin < tree.nodes[b].begin; });
  // the i-th leaf by the bits of i in reverse: 0, 1/2, 1/4, 3/4, 1/8, ... of the way (van der Corput, 1935)
  const auto reversed = [](size_t i) {
    uint64_t r = 0;
    for (int bit = 0; bit < 48; bit++) r = r << 1 | (i >> bit & 1);
    return r;
  };
  std::vector<std::pair<uint64_t, PetscInt>> order;
  for (size_t i = 0; i < leaves.size(); i++) order.push_back({reversed(i), leaves[i]});
  std::sort(order.begin(), order.end());
  for (size_t place = 0; place < order.size(); place++) places[order[place].second] = (PetscInt)place;
  return places;
}

std::vector<PetscInt> sample_evenly(const PointCloud &cloud, const ClusterTree &tree, PetscInt count) {
  std::vector<PetscInt> chosen;
  if (count < 1) return chosen;
  // parts of no more points than are to share one
  for (const Cluster &part : tree.down_to(std::max<PetscInt>(1, cloud.n / count))) {
    if (part.child >= 0) continue;
    std::pair<double, PetscInt> best = {INFINITY, -1};
    for (PetscInt t = part.begin; t < part.end; t++) {
      const PetscInt i = tree.order[t];
      double         r2 = 0;
      for (int a = 0; a < 3; a++) {
        const double d = cloud.x[(size_t)a * cloud.n + i] - part.center(a);
        r2 += d * d;
      }
      best = std::min(best, {r2, i});
    }
    chosen.push_back(best.second);
  }
  return chosen;
}

} // namespace shellac
