// Medians of distributed points by their digits: the ranks count their points below each sixteenth of an interval that
// contains a median, in lists that are in order, and go on with that sixteenth, until only the median is left.

#include "sums/bisection.hpp"

#include "device/sort.hpp"
#include "sums/cluster_lists.hpp"

namespace shellac {

namespace {

// A part to split: where, in this rank's list along the axis, the right half may begin.
struct Split {
  PetscInt part, lo, hi, rest; // the last: of all ranks' points from lo on, those that go to the left
  int      axis;
  uint64_t from; // the key of the first of them, at least
};

constexpr int bits = 4, digits = 1 << bits;

struct CountDigits {
  ListArrays   lists;
  const Split *splits;
  int          shift;
  PetscInt     first; // keys are coordinates, or, if this is not negative, numbers of points from it on
  PetscInt    *counts;

  SHELLAC_HD uint64_t key(int axis, PetscInt at) const {
    const PetscInt point = lists.list[axis][at];
    return first < 0 ? ordered_bits((double)lists.x[axis][point]) : (uint64_t)(first + point);
  }
  // How many may begin the right half and have this digit, or a lower one.
  SHELLAC_HD void operator()(PetscInt digit, PetscInt which, PetscInt) const {
    const Split   &split = splits[which];
    const uint64_t last = split.from + (((uint64_t)digit + 1) << shift) - 1;
    PetscInt       lo = split.lo, hi = split.hi;
    while (lo < hi) {
      const PetscInt at = lo + (hi - lo) / 2;
      if (key(split.axis, at) <= last)
        lo = at + 1;
      else
        hi = at;
    }
    counts[(size_t)which * digits + digit] = lo - split.lo;
  }
};

class Bisection {
public:
  Bisection(MPI_Comm comm, PetscMemType memory, const PointCloud &points)
      : comm_(comm), memory_(memory), points_(points) {}
  PetscErrorCode Run(const Middle &middle);
  PetscErrorCode TakeOrder(Mirror<PetscInt> *order);

  std::vector<Cluster>  parts;  // of all ranks' points
  std::vector<PetscInt> leaves; // those without children, in their order
  PetscInt              own(PetscInt part) const { return own_[part].end - own_[part].begin; } // this rank's points

private:
  MPI_Comm             comm_;
  PetscMemType         memory_;
  const PointCloud    &points_;
  PointLists           lists_;
  std::vector<Cluster> own_; // the same parts of this rank's points

  PetscErrorCode SetBoxes(size_t from);
  PetscErrorCode FindMiddles(std::vector<Split> *splits);
  PetscErrorCode GoOn(std::vector<Split> *splits, int shift, PetscInt first, bool *open);
};

// The boxes of the parts from the given one on.
PetscErrorCode Bisection::SetBoxes(size_t from) {
  std::vector<double> ends; // -lower, upper
  const Cluster      *boxes;
  PetscMPIInt         count;

  PetscFunctionBegin;
  PetscCall(lists_.SetNodes(own_));
  PetscCall(lists_.SetBoxes((PetscInt)from, (PetscInt)(own_.size() - from)));
  PetscCall(lists_.GetNodes(&boxes));
  for (size_t at = from; at < parts.size(); at++)
    for (int e = 0; e < 6; e++) ends.push_back(e < 3 ? -boxes[at].lower[e] : boxes[at].upper[e - 3]);
  PetscCall(PetscMPIIntCast((PetscInt)ends.size(), &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends.data(), count, MPI_DOUBLE, MPI_MAX, comm_));
  for (size_t at = from; at < parts.size(); at++)
    for (int a = 0; a < 3; a++) {
      parts[at].lower[a] = own_[at].lower[a] = -ends[6 * (at - from) + a];
      parts[at].upper[a] = own_[at].upper[a] = ends[6 * (at - from) + 3 + a];
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One digit. *open: some middles are not found yet.
PetscErrorCode Bisection::GoOn(std::vector<Split> *splits, int shift, PetscInt first, bool *open) {
  Mirror<Split>         on_device;
  Mirror<PetscInt>      counts;
  const Split          *in;
  PetscInt             *made;
  const PetscInt       *own;
  std::vector<PetscInt> all(splits->size() * digits);
  PetscMPIInt           count;

  PetscFunctionBegin;
  on_device.change() = *splits;
  PetscCall(on_device.Get(memory_, &in));
  PetscCall(counts.Make(memory_, all.size(), &made));
  PetscCall(for_each(memory_, line_of(digits, splits->size()), CountDigits{lists_.arrays(), in, shift, first, made}));
  PetscCall(counts.Get(PETSC_MEMTYPE_HOST, &own));
  PetscCall(PetscMPIIntCast((PetscInt)all.size(), &count));
  PetscCallMPI(MPI_Allreduce(own, all.data(), count, MPIU_INT, MPI_SUM, comm_));
  *open = false;
  for (size_t s = 0; s < splits->size(); s++) {
    Split          &split = (*splits)[s];
    const PetscInt *of_all = &all[s * digits], *of_own = &own[s * digits];
    int             digit = 0; // of the median
    if (!split.rest) continue;
    while (digit < digits - 1 && split.rest >= of_all[digit]) digit++;
    split.hi = split.lo + of_own[digit];
    if (digit) {
      split.rest -= of_all[digit - 1];
      split.lo += of_own[digit - 1];
    }
    split.from += (uint64_t)digit << shift;
    *open = *open || split.rest;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bisection::FindMiddles(std::vector<Split> *splits) {
  bool open = !splits->empty();

  PetscFunctionBegin;
  for (int shift = 64 - bits; open && shift >= 0; shift -= bits) PetscCall(GoOn(splits, shift, -1, &open));
  for (Split &split : *splits) split.from = 0; // equal coordinates: by numbers
  for (int shift = 64 - bits; open && shift >= 0; shift -= bits) PetscCall(GoOn(splits, shift, points_.first, &open));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bisection::Run(const Middle &middle) {
  Points x;

  PetscFunctionBegin;
  if (!points_.N) PetscFunctionReturn(PETSC_SUCCESS);
  parts.push_back(make_cluster(0, points_.N, 0));
  own_.push_back(make_cluster(0, points_.n, 0));
  PetscCall(PointCloudGetPoints(&points_, memory_, &x));
  PetscCall(lists_.Create(memory_, x, 0, own_, {0}));
  for (size_t from = 0; from < parts.size();) { // level by level
    std::vector<Split> splits;
    const size_t       level = parts.size();
    PetscCall(SetBoxes(from));
    for (size_t at = from; at < level; at++) {
      const Cluster &part = parts[at];
      const PetscInt half = middle(part);
      if (half <= part.begin || half >= part.end) continue;
      splits.push_back({(PetscInt)at, own_[at].begin, own_[at].end, half - part.begin, part.longest_side(), 0});
    }
    PetscCall(FindMiddles(&splits));
    for (const Split &split : splits) {
      const PetscInt half = middle(parts[split.part]);
      for (auto *clusters : {&parts, &own_}) {
        const Cluster  part = (*clusters)[split.part];
        const PetscInt end = clusters == &parts ? half : split.lo;
        (*clusters)[split.part].child = (PetscInt)clusters->size();
        clusters->push_back(make_cluster(part.begin, end, part.depth + 1));
        clusters->push_back(make_cluster(end, part.end, part.depth + 1));
      }
    }
    PetscCall(lists_.SetNodes(own_));
    if (!splits.empty()) PetscCall(lists_.Halve());
    from = level;
  }
  for (size_t at = 0; at < parts.size(); at++)
    if (parts[at].child < 0) leaves.push_back((PetscInt)at);
  std::sort(leaves.begin(), leaves.end(), [&](PetscInt p, PetscInt q) { return parts[p].begin < parts[q].begin; });
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bisection::TakeOrder(Mirror<PetscInt> *order) {
  PetscInt *to;

  PetscFunctionBegin;
  PetscCall(order->Make(memory_, points_.n, &to));
  if (points_.n) PetscCall(lists_.TakeOrderByNumbers(own_, leaves, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Item {
  PetscInt  number;
  PetscReal x[3];
};

} // namespace

PetscErrorCode DealOrder(MPI_Comm comm, PetscMemType memory, const PointCloud &points, const Middle &middle,
                         DealtPoints *dealt) {
  Bisection   bisection(comm, memory, points);
  PetscMPIInt rank, ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  SHELLAC_CHECK_ALL(PetscMax(points.n, points.N / ranks) < PETSC_MPI_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "a rank has %" PetscInt_FMT " points, or would get %" PetscInt_FMT
                    ", more than MPI counts; use more ranks",
                    points.n, points.N / ranks);
  PetscCall(bisection.Run(middle));
  PetscCall(bisection.TakeOrder(&dealt->order));
  dealt->parts.swap(bisection.parts);
  dealt->leaves.clear();
  dealt->in_leaves.clear();
  dealt->sent.assign(ranks, 0);
  dealt->received.resize(ranks);
  std::vector<PetscMPIInt> of_leaves(ranks, 0);
  for (PetscInt leaf : bisection.leaves) {
    const PetscMPIInt owner = rank_of(ClusterTree::middle_of(dealt->parts[leaf]), ranks, points.N);
    if (owner == rank) dealt->leaves.push_back(leaf);
    dealt->in_leaves.push_back(bisection.own(leaf));
    of_leaves[owner]++;
    dealt->sent[owner] += (PetscMPIInt)bisection.own(leaf);
  }
  dealt->first = dealt->leaves.empty() ? 0 : dealt->parts[dealt->leaves[0]].begin;
  PetscCall(SendItems(comm, &dealt->in_leaves, &of_leaves));
  PetscCallMPI(MPI_Alltoall(dealt->sent.data(), 1, MPI_INT, dealt->received.data(), 1, MPI_INT, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DealPoints(MPI_Comm comm, PetscMemType memory, const PointCloud &points, const Middle &middle,
                          DealtPoints *dealt) {
  Points                   all;
  Mirror<PetscReal>        x;
  PetscReal               *ordered;
  const PetscReal         *values;
  const PetscInt          *order;
  std::vector<Item>        items;
  std::vector<PetscMPIInt> counts;

  PetscFunctionBegin;
  PetscCall(DealOrder(comm, memory, points, middle, dealt));
  PetscCall(PointCloudGetPoints(&points, memory, &all));
  PetscCall(dealt->order.Get(memory, &order));
  PetscCall(x.Make(memory, (size_t)3 * points.n, &ordered));
  PetscCall(GatherPoints(memory, all, (size_t)points.n, order, ordered));
  PetscCall(x.Get(PETSC_MEMTYPE_HOST, &values));
  PetscCall(dealt->order.Get(PETSC_MEMTYPE_HOST, &order));
  for (PetscInt i = 0; i < points.n; i++) {
    items.push_back({points.first + order[i], {0, 0, 0}});
    for (int a = 0; a < 3; a++) items.back().x[a] = values[(size_t)a * points.n + i];
  }
  counts = dealt->sent;
  PetscCall(SendItems(comm, &items, &counts));
  // each rank's points of a leaf are together, and their numbers ascend: leaf by leaf, they ascend in all
  const size_t          leaves = dealt->leaves.size(), n = items.size(), ranks = counts.size();
  std::vector<PetscInt> place(leaves + 1, 0);
  for (size_t l = 0; l < leaves; l++) {
    place[l + 1] = place[l];
    for (size_t r = 0; r < ranks; r++) place[l + 1] += dealt->in_leaves[r * leaves + l];
  }
  dealt->numbers.resize(n);
  dealt->x.resize(3 * n);
  const Item *item = items.data();
  for (size_t r = 0; r < ranks; r++)
    for (size_t l = 0; l < leaves; l++)
      for (const Item *end = item + dealt->in_leaves[r * leaves + l]; item < end; item++, place[l]++) {
        dealt->numbers[place[l]] = item->number;
        std::copy_n(item->x, 3, &dealt->x[3 * (size_t)place[l]]);
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
