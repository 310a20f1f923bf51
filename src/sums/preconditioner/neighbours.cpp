// Nearest points by a tree, the nearer half of each cluster first: O(log N) a point. Each rank searches its own points,
// then asks the ranks that may have nearer ones.

#include "sums/preconditioner/neighbours.hpp"

#include <numeric>

#include "device/launch.hpp"
#include "sums/bisection.hpp"
#include "sums/regions.hpp"

namespace shellac {

namespace {

SHELLAC_HD double square_of_gap(const Cluster &box, const double lower[3], const double upper[3]) {
  double sum = 0;
  for (int a = 0; a < 3; a++) {
    const double below = box.lower[a] - upper[a], above = lower[a] - box.upper[a], gap = below > above ? below : above;
    if (gap > 0) sum += gap * gap;
  }
  return sum;
}

// The i-th box by the bits of i in reverse: 0, 1/2, 1/4, 3/4, 1/8, ... of the way (van der Corput, 1935).
uint64_t coarse_to_fine(PetscInt i) {
  uint64_t place = 0;
  for (int bit = 0; bit < 48; bit++) place = place << 1 | ((uint64_t)i >> bit & 1);
  return place;
}

// That of a lattice of as many points, along those sides of a box that are longer than it.
double lattice_spacing(const Cluster &box) {
  double sides[3], volume = 1, spacing = 0;
  for (int a = 0; a < 3; a++) sides[a] = box.upper[a] - box.lower[a];
  std::sort(sides, sides + 3);
  for (int a = 2; a >= 0 && sides[a] > spacing; a--) {
    volume *= sides[a];
    spacing = std::pow(volume / (double)(box.end - box.begin), 1. / (3 - a));
  }
  return spacing;
}

// In the densest quarter of a cluster; it may be mostly empty.
double spacing_in(const std::vector<Cluster> &nodes, const Cluster &box, int halvings = 2) {
  constexpr double of_few = 1.2; // some 20 points reach less far than their share of space
  if (!halvings || box.child < 0) return of_few * lattice_spacing(box);
  return std::min(spacing_in(nodes, nodes[box.child], halvings - 1),
                  spacing_in(nodes, nodes[box.child + 1], halvings - 1));
}

// One query goes down the tree. The points found are a heap with the farthest on top, which is sorted at the end.
struct FindNearest {
  const BoxTree::Query *queries;
  const Cluster        *nodes;
  const uint64_t       *places; // the first in the order of the boxes in a cluster
  PetscInt              first, n;
  Points                points;
  const PetscInt       *numbers;
  BoxTree::Found       *found;
  PetscInt             *counts;

  static constexpr int deepest = 64; // levels of a tree that halves

  static SHELLAC_HD void sift_down(BoxTree::Found *heap, PetscInt size, PetscInt at, const BoxTree::Found &item) {
    for (PetscInt child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && heap[child] < heap[child + 1]) child++;
      if (!(item < heap[child])) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = item;
  }
  static SHELLAC_HD void sift_up(BoxTree::Found *heap, PetscInt at, const BoxTree::Found &item) {
    while (at > 0 && heap[(at - 1) / 2] < item) {
      heap[at] = heap[(at - 1) / 2];
      at = (at - 1) / 2;
    }
    heap[at] = item;
  }

  SHELLAC_HD void operator()(PetscInt, PetscInt q, PetscInt) const {
    const BoxTree::Query &query = queries[q];
    BoxTree::Found       *heap = found + query.room;
    PetscInt              size = 0, stack[deepest + 1];
    int                   open = 0;
    double                reach2 = query.reach2;
    if (query.count > 0 && n > 0) stack[open++] = 0;
    while (open) {
      const PetscInt at = stack[--open];
      const Cluster &node = nodes[at];
      if (places[at] > query.before || square_of_gap(query.box, node.lower, node.upper) > reach2) continue;
      if (node.child >= 0) {
        const Cluster &left = nodes[node.child], &right = nodes[node.child + 1];
        const bool     left_first =
            square_of_gap(query.box, left.lower, left.upper) <= square_of_gap(query.box, right.lower, right.upper);
        stack[open++] = node.child + left_first;
        stack[open++] = node.child + !left_first;
        continue;
      }
      if (!ClusterTree::is_inside(node, first, n) || node.begin == query.box.begin) continue;
      for (PetscInt i = node.begin - first; i < node.end - first; i++) {
        double at_point[3];
        for (int a = 0; a < 3; a++) at_point[a] = (double)points.x[a][i];
        const BoxTree::Found point = {square_of_gap(query.box, at_point, at_point), numbers[i], i};
        if (point.r2 > reach2) continue;
        if (size < query.count) {
          sift_up(heap, size, point);
          size++;
        } else if (point < heap[0]) {
          sift_down(heap, size, 0, point);
        }
        if (size == query.count) reach2 = heap[0].r2;
      }
    }
    counts[q] = size;
    for (PetscInt last = size - 1; last > 0; last--) {
      const BoxTree::Found farthest = heap[0];
      sift_down(heap, last, 0, BoxTree::Found(heap[last]));
      heap[last] = farthest;
    }
  }
};

struct TakePlaces {
  const BoxTree::Query *queries;
  const BoxTree::Found *found;
  const size_t         *starts;
  PetscInt             *places;

  SHELLAC_HD void operator()(PetscInt t, PetscInt q, PetscInt) const {
    if (starts[q] + (size_t)t < starts[q + 1]) places[starts[q] + (size_t)t] = found[queries[q].room + (size_t)t].place;
  }
};

} // namespace

PetscErrorCode BoxTree::Build(MPI_Comm comm, PetscMemType memory, const PointCloud &points, PetscInt box) {
  const PetscInt        below = std::max<PetscInt>(1, (box + 3) / 4 - 1); // so that boxes have quarters
  const PetscInt       *order;
  DealtPoints           dealt;
  Points                x;
  PointCloud            cloud;
  PetscReal            *ordered;
  std::vector<PetscInt> leaves;
  PetscInt              box_number = 0;

  PetscFunctionBegin;
  comm_ = comm;
  memory_ = memory;
  N_ = points.N;
  PetscCallMPI(MPI_Comm_size(comm, &ranks_));
  if (ranks_ == 1) {
    PetscCall(PointCloudGetPoints(&points, memory, &x));
    PetscCall(tree_.Build(memory, x, below));
  } else {
    const PetscInt limit = PetscMax(box, N_ / (8 * ranks_)); // points of a part that one rank has
    PetscCall(DealPoints(
        comm, memory, points,
        [=](const Cluster &part) { return part.end - part.begin > limit ? ClusterTree::middle_of(part) : part.begin; },
        &dealt));
    cloud.n = (PetscInt)dealt.numbers.size();
    cloud.x.change().resize((size_t)3 * cloud.n);
    for (int a = 0; a < 3; a++)
      for (PetscInt i = 0; i < cloud.n; i++) cloud.x.change()[(size_t)a * cloud.n + i] = dealt.x[3 * (size_t)i + a];
    tree_.nodes.swap(dealt.parts);
    tree_.first = dealt.first;
    PetscCall(PointCloudGetPoints(&cloud, memory, &x));
    PetscCall(tree_.Halve(memory, x, below));
  }
  cloud_.n = x.n;
  PetscCall(tree_.order.Get(memory, &order));
  PetscCall(cloud_.x.Make(memory, (size_t)3 * x.n, &ordered));
  PetscCall(GatherPoints(memory, x, (size_t)x.n, order, ordered));
  PetscCall(tree_.order.Get(PETSC_MEMTYPE_HOST, &order));
  numbers.assign(order, order + x.n);
  if (ranks_ > 1)
    for (PetscInt &i : numbers) i = dealt.numbers[i];

  std::vector<std::pair<PetscInt, double>> of_boxes; // where each begins, its spacing
  const auto                               is_box = [&](const Cluster &node) { return node.end - node.begin <= box; };
  const auto                               note = [&](const Cluster &node) {
    if (is_box(node) && tree_.is_inside(node)) of_boxes.push_back({node.begin, spacing_in(tree_.nodes, node)});
  };
  if (!tree_.nodes.empty()) note(tree_.nodes[0]);
  for (const Cluster &node : tree_.nodes)
    if (!is_box(node) && node.child >= 0)
      for (PetscInt child : {node.child, node.child + 1}) note(tree_.nodes[child]);
  std::sort(of_boxes.begin(), of_boxes.end());
  spacings.clear();
  for (const auto &of : of_boxes) spacings.push_back(of.second);

  tree_.nodes = down_to(tree_.nodes, box);
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
    places_[leaf] = coarse_to_fine(box_number++);
    boxes.push_back(tree_.nodes[leaf]);
    boxes.back().child = leaf;
  }
  for (size_t at = places_.size(); at-- > 0;) { // halves come after what they are of
    const PetscInt child = tree_.nodes[at].child;
    if (child >= 0) places_[at] = std::min(places_[child], places_[child + 1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BoxTree::Search(Mirror<Query> *queries, size_t room, Scratch<Found> *found, Mirror<PetscInt> *counts) {
  const size_t     asked = queries->host().size();
  Mirror<Cluster>  nodes;
  Mirror<uint64_t> places;
  Mirror<PetscInt> own;
  FindNearest      find;

  PetscFunctionBegin;
  nodes.change() = tree_.nodes;
  places.change() = places_;
  own.change() = numbers;
  PetscCall(queries->Get(memory_, &find.queries));
  PetscCall(nodes.Get(memory_, &find.nodes));
  PetscCall(places.Get(memory_, &find.places));
  PetscCall(own.Get(memory_, &find.numbers));
  PetscCall(PointCloudGetPoints(&cloud_, memory_, &find.points));
  PetscCall(found->Grow(room, memory_));
  PetscCall(counts->Make(memory_, asked, &find.counts));
  find.found = found->at(memory_);
  find.first = tree_.first;
  find.n = cloud_.n;
  // on a GPU a warp for each query: threads of one would wait for each other
  PetscCall(for_each_of_box(memory_, {{0, 0, 0}, {1, (PetscInt)asked, 1}}, find));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<PetscMPIInt> BoxTree::others_within(const Cluster &box, double reach2) const {
  std::vector<PetscInt>    open(tree_.nodes.empty() ? 0 : 1, 0);
  std::vector<PetscMPIInt> ranks;
  while (!open.empty()) {
    const Cluster &node = tree_.nodes[open.back()];
    open.pop_back();
    if (tree_.is_inside(node) || square_of_gap(box, node.lower, node.upper) > reach2) continue;
    if (node.child >= 0)
      open.insert(open.end(), {node.child, node.child + 1});
    else
      ranks.push_back(rank_of(ClusterTree::middle_of(node), ranks_, N_));
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// Of all ranks' points, from those of this rank.
PetscErrorCode BoxTree::AskOthers(std::vector<Query> queries, const std::vector<PetscInt> &wanted,
                                  std::vector<std::vector<Found>> *found) {
  std::vector<Query>       asked;
  std::vector<PetscMPIInt> counts(ranks_, 0), whom;
  std::vector<size_t>      order;
  std::vector<Answer>      answers;
  Mirror<Query>            received;
  Scratch<Found>           here;
  Mirror<PetscInt>         sizes;
  std::vector<Found>       all;
  const PetscInt          *size;

  PetscFunctionBegin;
  for (Query &query : queries) {
    const auto &own = (*found)[query.which];
    if ((PetscInt)own.size() == wanted[query.which] && !own.empty()) query.reach2 = own.back().r2;
    for (PetscMPIInt rank : others_within(query.box, query.reach2)) {
      if (!query.count) continue;
      counts[rank]++;
      whom.push_back(rank);
      asked.push_back(query);
    }
  }
  order.resize(asked.size());
  std::iota(order.begin(), order.end(), (size_t)0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return whom[a] < whom[b]; });
  queries.clear();
  for (size_t i : order) queries.push_back(asked[i]);
  PetscCall(SendItems(comm_, &queries, &counts));
  size_t room = 0;
  for (Query &query : queries) {
    query.room = room;
    room += (size_t)query.count;
  }
  received.change().swap(queries);
  PetscCall(Search(&received, room, &here, &sizes));
  PetscCall(sizes.Get(PETSC_MEMTYPE_HOST, &size));
  PetscCall(here.GetHost(memory_, &all));
  size_t query = 0;
  for (PetscMPIInt &of_rank : counts) {
    const size_t answered = answers.size();
    for (const size_t end = query + (size_t)of_rank; query < end; query++) {
      const Query &of = received.host()[query];
      for (PetscInt t = 0; t < size[query]; t++) answers.push_back({of.which, all[of.room + (size_t)t]});
    }
    of_rank = (PetscMPIInt)(answers.size() - answered);
  }
  PetscCall(SendItems(comm_, &answers, &counts));
  for (Answer &answer : answers) {
    answer.found.place = -1;
    (*found)[answer.which].push_back(answer.found);
  }
  for (size_t b = 0; b < found->size(); b++) {
    std::sort((*found)[b].begin(), (*found)[b].end());
    if ((PetscInt)(*found)[b].size() > wanted[b]) (*found)[b].resize(wanted[b]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BoxTree::FindAround(const std::vector<PetscInt> &wanted, bool before, PointsAround *around) {
  const PetscInt   n = (PetscInt)boxes.size();
  Mirror<Query>    queries;
  Scratch<Found>   found;
  Mirror<PetscInt> counts;
  const PetscInt  *count;
  size_t           room = 0;
  PetscInt         most = 0;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < n; b++) {
    const PetscInt most_found = PetscMin(wanted[b], N_);
    queries.change().push_back(
        {b, most_found, room, boxes[b], INFINITY, before ? places_[boxes[b].child] : ~(uint64_t)0});
    room += (size_t)most_found;
  }
  PetscCall(Search(&queries, room, &found, &counts));
  PetscCall(counts.Get(PETSC_MEMTYPE_HOST, &count));
  around->starts.assign(1, 0);
  around->others.clear();
  if (ranks_ == 1) {
    Mirror<size_t> starts;
    TakePlaces     take;
    for (PetscInt b = 0; b < n; b++) {
      around->starts.push_back(around->starts.back() + (size_t)count[b]);
      most = PetscMax(most, count[b]);
    }
    starts.change() = around->starts;
    take.found = found.at(memory_);
    PetscCall(queries.Get(memory_, &take.queries));
    PetscCall(starts.Get(memory_, &take.starts));
    PetscCall(around->places.Make(memory_, around->starts.back(), &take.places));
    PetscCall(for_each_of_box(memory_, {{0, 0, 0}, {most, n, 1}}, take));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<Found>              all;
  std::vector<std::vector<Found>> of_box(n);
  PetscCall(found.GetHost(memory_, &all));
  for (PetscInt b = 0; b < n; b++)
    of_box[b].assign(all.begin() + (ptrdiff_t)queries.host()[b].room,
                     all.begin() + (ptrdiff_t)queries.host()[b].room + count[b]);
  PetscCall(AskOthers(queries.host(), wanted, &of_box));
  for (const auto &of : of_box)
    for (const Found &point : of)
      if (point.place < 0) around->others.push_back(point.number);
  std::vector<PetscInt> &others = around->others;
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  std::vector<PetscInt> &places = around->places.change();
  places.clear();
  for (const auto &of : of_box) {
    for (const Found &point : of)
      places.push_back(
          point.place >= 0
              ? point.place
              : cloud_.n + (PetscInt)(std::lower_bound(others.begin(), others.end(), point.number) - others.begin()));
    around->starts.push_back(places.size());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BoxTree::SampleEvenly(PetscInt count, const std::function<bool(double, double)> &too_close,
                                     std::vector<PetscInt> *chosen) const {
  constexpr size_t most_tried = 64; // in a part, where all may be too close
  struct Candidate {
    PetscInt part;
    double   r2;
    PetscInt number, place;
    bool     operator<(const Candidate &other) const { return r2 != other.r2 ? r2 < other.r2 : number < other.number; }
  };
  std::vector<Candidate>   candidates, sent; // the nearest point to the middle of each part, on each rank that has some
  Points                   x;
  std::vector<PetscMPIInt> counts(ranks_);
  const PetscInt           end = tree_.first + cloud_.n;

  PetscFunctionBegin;
  chosen->clear();
  if (count < 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PointCloudGetPoints(&cloud_, PETSC_MEMTYPE_HOST, &x));
  // parts of no more points than are to share one
  for (const Cluster &part : down_to(tree_.nodes, std::max<PetscInt>(1, N_ / count))) {
    std::vector<Candidate> points;
    for (PetscInt t = std::max(part.begin, tree_.first); part.child < 0 && t < std::min(part.end, end); t++) {
      const PetscInt i = t - tree_.first;
      Candidate      point = {part.begin, 0, numbers[i], i};
      for (int a = 0; a < 3; a++) {
        const double d = (double)x.x[a][i] - part.center(a);
        point.r2 += d * d;
      }
      points.push_back(point);
    }
    const size_t tried = std::min(points.size(), most_tried);
    std::partial_sort(points.begin(), points.begin() + (ptrdiff_t)tried, points.end());
    for (size_t c = 0; c < tried; c++) {
      double nearest2 = INFINITY;
      for (const Candidate &other : points) {
        double r2 = 0;
        for (int a = 0; a < 3; a++) {
          const double d = (double)x.x[a][points[c].place] - (double)x.x[a][other.place];
          r2 += d * d;
        }
        if (r2 > 0) nearest2 = std::min(nearest2, r2);
      }
      if (too_close(std::sqrt(nearest2), lattice_spacing(part))) continue;
      candidates.push_back(points[c]);
      break;
    }
  }
  for (PetscMPIInt &of_rank : counts) { // all to all
    of_rank = (PetscMPIInt)candidates.size();
    sent.insert(sent.end(), candidates.begin(), candidates.end());
  }
  PetscCall(SendItems(comm_, &sent, &counts));
  std::sort(sent.begin(), sent.end(),
            [](const Candidate &a, const Candidate &b) { return a.part != b.part ? a.part < b.part : a < b; });
  for (size_t at = 0; at < sent.size(); at++)
    if (!at || sent[at].part != sent[at - 1].part) chosen->push_back(sent[at].number);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
