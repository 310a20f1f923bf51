// Nearest points by a tree, the nearest clusters first: O(log N) a point. Each rank looks at its own points, then asks those
// ranks that may have nearer ones.

#include "sums/preconditioner/neighbours.hpp"

#include <functional>
#include <numeric>

#include "sums/bisection.hpp"
#include "sums/regions.hpp"

namespace shellac {

static double square_of_gap(const Cluster &box, const double lower[3], const double upper[3]) {
  double sum = 0;
  for (int a = 0; a < 3; a++) {
    const double gap = std::max({0., box.lower[a] - upper[a], lower[a] - box.upper[a]});
    sum += gap * gap;
  }
  return sum;
}

// The i-th box by the bits of i in reverse: 0, 1/2, 1/4, 3/4, 1/8, ... of the way (van der Corput, 1935).
static uint64_t coarse_to_fine(PetscInt i) {
  uint64_t place = 0;
  for (int bit = 0; bit < 48; bit++) place = place << 1 | ((uint64_t)i >> bit & 1);
  return place;
}

PetscErrorCode BoxTree::Build(MPI_Comm comm, const PointCloud &points, PetscInt box) {
  DealtPoints           dealt;
  std::vector<PetscInt> leaves;
  PetscInt              box_number = 0;

  PetscFunctionBegin;
  comm_ = comm;
  N_ = points.N;
  PetscCallMPI(MPI_Comm_size(comm, &ranks_));
  const PetscInt limit = ranks_ > 1 ? PetscMax(box, N_ / (8 * ranks_)) : N_; // points of a part that one rank has
  PetscCall(DealPoints(
      comm, points,
      [=](const Cluster &part) { return part.end - part.begin > limit ? ClusterTree::middle_of(part) : part.begin; },
      &dealt));
  const PetscInt n = (PetscInt)dealt.numbers.size();
  PointCloud     cloud;
  cloud.n = n;
  for (int a = 0; a < 3; a++)
    for (PetscInt i = 0; i < n; i++) cloud.x.change().push_back(dealt.x[3 * (size_t)i + a]);
  tree_.nodes.swap(dealt.parts);
  tree_.first = dealt.first;
  PetscCall(tree_.Halve(PETSC_MEMTYPE_HOST, cloud.on_host(), box));
  std::vector<PetscInt> &order = tree_.order.change();

  for (size_t at = 0; at < tree_.nodes.size(); at++)
    if (tree_.nodes[at].child < 0 && tree_.is_inside(tree_.nodes[at])) leaves.push_back((PetscInt)at);
  std::sort(leaves.begin(), leaves.end(),
            [&](PetscInt a, PetscInt b) { return tree_.nodes[a].begin < tree_.nodes[b].begin; });
  const PetscInt own = all_boxes = (PetscInt)leaves.size();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all_boxes, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPI_Scan(&own, &box_number, 1, MPIU_INT, MPI_SUM, comm));
  box_number -= own;
  places_.assign(tree_.nodes.size(), 0);
  boxes.clear();
  for (PetscInt leaf : leaves) {
    const Cluster &node = tree_.nodes[leaf];
    const auto     from = order.begin() - tree_.first;
    std::sort(from + node.begin, from + node.end);
    places_[leaf] = coarse_to_fine(box_number++);
    boxes.push_back(node);
    boxes.back().child = leaf;
  }
  cloud_.n = n;
  cloud_.x.change().resize((size_t)3 * n);
  PetscCall(GatherPoints(PETSC_MEMTYPE_HOST, cloud.on_host(), (size_t)n, order.data(), cloud_.x.change().data()));
  numbers_.clear();
  for (PetscInt i : order) numbers_.push_back(dealt.numbers[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<PetscInt> BoxTree::points_of(const Cluster &box) const {
  const auto from = numbers_.begin() - tree_.first;
  return {from + box.begin, from + box.end};
}

// Those of this rank's points; `elsewhere`, where it is not null: the parts of other ranks that may have nearer ones.
void BoxTree::find(const Query &query, std::vector<Found> *found, std::vector<Node> *elsewhere) const {
  const auto         nearer = std::greater<Node>();
  std::vector<Node>  nodes;   // a heap with the nearest on top
  std::vector<Found> nearest; // a heap with the farthest on top
  double             reach2 = query.reach2;
  const PetscInt     count = query.count;

  if (count > 0 && !tree_.nodes.empty()) nodes.push_back({0, 0});
  while (!nodes.empty()) {
    const Node top = nodes.front();
    std::pop_heap(nodes.begin(), nodes.end(), nearer);
    nodes.pop_back();
    if (top.first > reach2) break;
    const Cluster &node = tree_.nodes[top.second];
    if (node.child >= 0) {
      for (PetscInt child : {node.child, node.child + 1}) {
        const Cluster &c = tree_.nodes[child];
        nodes.push_back({square_of_gap(query.box, c.lower, c.upper), child});
        std::push_heap(nodes.begin(), nodes.end(), nearer);
      }
      continue;
    }
    if (!tree_.is_inside(node)) {
      if (elsewhere) elsewhere->push_back(top);
      continue;
    }
    if (node.begin == query.box.begin || places_[top.second] > query.before) continue;
    for (PetscInt i = node.begin - tree_.first; i < node.end - tree_.first; i++) {
      double at[3];
      for (int a = 0; a < 3; a++) at[a] = cloud_.on_host().x[a][i];
      const Found point = {query.which, square_of_gap(query.box, at, at), numbers_[i]};
      if (point.r2 > reach2) continue;
      if ((PetscInt)nearest.size() == count) {
        if (!(point < nearest.front())) continue;
        std::pop_heap(nearest.begin(), nearest.end());
        nearest.pop_back();
      }
      nearest.push_back(point);
      std::push_heap(nearest.begin(), nearest.end());
      if ((PetscInt)nearest.size() == count) reach2 = nearest.front().r2;
    }
  }
  found->insert(found->end(), nearest.begin(), nearest.end());
  while (elsewhere && !elsewhere->empty() && elsewhere->back().first > reach2) elsewhere->pop_back();
}

PetscErrorCode BoxTree::FindAround(const std::vector<PetscInt> &wanted, bool before,
                                   std::vector<std::vector<PetscInt>> *around) const {
  const PetscInt                  n = (PetscInt)boxes.size();
  std::vector<std::vector<Found>> found(n);
  std::vector<Query>              asked;
  std::vector<Found>              answers;
  std::vector<PetscMPIInt>        counts(ranks_, 0), whom;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < n; b++) {
    std::vector<Node>        elsewhere;
    std::vector<PetscMPIInt> ranks;
    Query query = {b, wanted[b], boxes[b], INFINITY, before ? places_[boxes[b].child] : ~(uint64_t)0};
    find(query, &found[b], &elsewhere);
    if ((PetscInt)found[b].size() == wanted[b] && wanted[b] > 0)
      query.reach2 = std::max_element(found[b].begin(), found[b].end())->r2;
    for (const Node &node : elsewhere)
      ranks.push_back(rank_of(ClusterTree::middle_of(tree_.nodes[node.second]), ranks_, N_));
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (PetscMPIInt rank : ranks) {
      counts[rank]++;
      whom.push_back(rank);
      asked.push_back(query);
    }
  }
  std::vector<size_t> order(asked.size());
  std::vector<Query>  queries;
  std::iota(order.begin(), order.end(), (size_t)0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return whom[a] < whom[b]; });
  for (size_t i : order) queries.push_back(asked[i]);
  PetscCall(SendItems(comm_, &queries, &counts));
  auto query = queries.begin();
  for (PetscMPIInt &of_rank : counts) {
    const size_t answered = answers.size();
    for (const auto end = query + of_rank; query != end; ++query) find(*query, &answers, NULL);
    of_rank = (PetscMPIInt)(answers.size() - answered);
  }
  PetscCall(SendItems(comm_, &answers, &counts));
  for (const Found &answer : answers) found[answer.which].push_back(answer);

  around->assign(n, {});
  for (PetscInt b = 0; b < n; b++) {
    std::sort(found[b].begin(), found[b].end());
    if ((PetscInt)found[b].size() > wanted[b]) found[b].resize(wanted[b]);
    for (const Found &point : found[b]) (*around)[b].push_back(point.number);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// That of a lattice of as many points, along those sides of a box that are longer than it.
static double lattice_spacing(const Cluster &box) {
  double sides[3], volume = 1, spacing = 0;
  for (int a = 0; a < 3; a++) sides[a] = box.upper[a] - box.lower[a];
  std::sort(sides, sides + 3);
  for (int a = 2; a >= 0 && sides[a] > spacing; a--) {
    volume *= sides[a];
    spacing = std::pow(volume / (double)(box.end - box.begin), 1. / (3 - a));
  }
  return spacing;
}

PetscErrorCode BoxTree::SpacingIn(const Cluster &box, double *spacing) const {
  constexpr double of_few = 1.2; // some 20 points reach less far than their share of space
  PointCloud       points;
  ClusterTree      quarters; // a box at the end of a cluster may be mostly empty

  PetscFunctionBegin;
  *spacing = INFINITY;
  points.n = box.end - box.begin;
  for (int a = 0; a < 3; a++) {
    const auto from = cloud_.on_host().x[a] - tree_.first;
    points.x.change().insert(points.x.host().end(), from + box.begin, from + box.end);
  }
  PetscCall(quarters.Build(PETSC_MEMTYPE_HOST, points.on_host(), (points.n + 3) / 4));
  for (const Cluster &part : quarters.nodes)
    if (part.child < 0) *spacing = std::min(*spacing, of_few * lattice_spacing(part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BoxTree::SampleEvenly(PetscInt count, std::vector<PetscInt> *chosen) const {
  std::vector<Found>       candidates, sent; // the nearest point to the middle of each part, on each rank that has some
  std::vector<PetscMPIInt> counts(ranks_);
  const PetscInt           end = tree_.first + cloud_.n;

  PetscFunctionBegin;
  chosen->clear();
  if (count < 1) PetscFunctionReturn(PETSC_SUCCESS);
  // parts of no more points than are to share one
  for (const Cluster &part : down_to(tree_.nodes, std::max<PetscInt>(1, N_ / count))) {
    Found best = {part.begin, INFINITY, -1};
    for (PetscInt t = std::max(part.begin, tree_.first); part.child < 0 && t < std::min(part.end, end); t++) {
      const PetscInt i = t - tree_.first;
      Found          point = {part.begin, 0, numbers_[i]};
      for (int a = 0; a < 3; a++) {
        const double d = cloud_.on_host().x[a][i] - part.center(a);
        point.r2 += d * d;
      }
      if (best.number < 0 || point < best) best = point;
    }
    if (best.number >= 0) candidates.push_back(best);
  }
  for (PetscMPIInt &of_rank : counts) { // all to all
    of_rank = (PetscMPIInt)candidates.size();
    sent.insert(sent.end(), candidates.begin(), candidates.end());
  }
  PetscCall(SendItems(comm_, &sent, &counts));
  std::sort(sent.begin(), sent.end(),
            [](const Found &a, const Found &b) { return a.which != b.which ? a.which < b.which : a < b; });
  for (size_t at = 0; at < sent.size(); at++)
    if (!at || sent[at].which != sent[at - 1].which) chosen->push_back(sent[at].number);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
