// Medians of distributed points by their digits: counts of each digit determine which of 16 intervals contains a
// median, then which sixteenth of that interval, until only the median is left.

#include "sums/bisection.hpp"

#include <numeric>

#include "device/sort.hpp"

namespace shellac {

namespace {

// A part to split: the number of its points that go to the left, of those that no digit has sent anywhere yet.
struct Split {
  PetscInt part, rest;
  int      axis, digit;
};

class Bisection {
public:
  Bisection(MPI_Comm comm, const PointCloud &points, const Points &x)
      : comm_(comm), points_(points), x_(x), part_of_(points.n, 0) {}
  PetscErrorCode Run(const std::function<PetscInt(const Cluster &)> &middle);

  std::vector<Cluster>         parts;
  const std::vector<PetscInt> &part_of() const { return part_of_; } // each of this rank's points

private:
  static constexpr int bits = 4, digits = 1 << bits, of_coordinate = 64 / bits;

  MPI_Comm              comm_;
  const PointCloud     &points_;
  Points                x_; // on the host
  std::vector<PetscInt> part_of_;

  // A digit of a point's coordinate, or of its number after those.
  int digit(PetscInt i, int axis, int which) const {
    const bool     coordinate = which < of_coordinate;
    const uint64_t key = coordinate ? ordered_bits((double)x_.x[axis][i]) : (uint64_t)(points_.first + i);
    return (int)(key >> (64 - bits * (which % of_coordinate + 1))) & (digits - 1);
  }
  PetscErrorCode SetBoxes(size_t from);
  PetscErrorCode Divide(std::vector<Split> *splits);
};

// The boxes of the parts from the given one on.
PetscErrorCode Bisection::SetBoxes(size_t from) {
  std::vector<double> ends(6 * (parts.size() - from), -INFINITY); // -lower, upper
  PetscMPIInt         count;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < points_.n; i++) {
    if (part_of_[i] < (PetscInt)from) continue;
    double *end = ends.data() + 6 * (part_of_[i] - from);
    for (int a = 0; a < 3; a++) {
      const double x = (double)x_.x[a][i];
      end[a] = std::max(end[a], -x);
      end[3 + a] = std::max(end[3 + a], x);
    }
  }
  PetscCall(PetscMPIIntCast((PetscInt)ends.size(), &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends.data(), count, MPI_DOUBLE, MPI_MAX, comm_));
  for (size_t at = from; at < parts.size(); at++)
    for (int a = 0; a < 3; a++) {
      parts[at].lower[a] = -ends[6 * (at - from) + a];
      parts[at].upper[a] = ends[6 * (at - from) + 3 + a];
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Sends the points of the splits' parts to the children.
PetscErrorCode Bisection::Divide(std::vector<Split> *splits) {
  std::vector<PetscInt> active, counts;
  std::vector<PetscInt> split_of(parts.size(), -1);
  PetscMPIInt           count;

  PetscFunctionBegin;
  for (size_t s = 0; s < splits->size(); s++) split_of[(*splits)[s].part] = (PetscInt)s;
  for (PetscInt i = 0; i < points_.n; i++)
    if (split_of[part_of_[i]] >= 0) active.push_back(i);
  PetscCall(PetscMPIIntCast((PetscInt)(splits->size() * digits), &count));
  bool open = !splits->empty();
  for (int which = 0; open; which++) {
    const auto split_at = [&](PetscInt i) -> Split & { return (*splits)[split_of[part_of_[i]]]; };
    counts.assign(count, 0);
    for (PetscInt i : active) counts[split_of[part_of_[i]] * digits + digit(i, split_at(i).axis, which)]++;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts.data(), count, MPIU_INT, MPI_SUM, comm_));
    open = false;
    for (size_t s = 0; s < splits->size(); s++) {
      Split          &split = (*splits)[s];
      const PetscInt *of_digit = counts.data() + s * digits;
      split.digit = 0; // of the first point that goes to the right
      while (split.digit < digits - 1 && split.rest >= of_digit[split.digit]) split.rest -= of_digit[split.digit++];
      open = open || split.rest > 0;
    }
    std::vector<PetscInt> still;
    for (PetscInt i : active) {
      const Split &split = split_at(i);
      const int    d = digit(i, split.axis, which);
      if (d == split.digit && split.rest > 0)
        still.push_back(i);
      else
        part_of_[i] = parts[split.part].child + (d >= split.digit);
    }
    active.swap(still);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bisection::Run(const std::function<PetscInt(const Cluster &)> &middle) {
  PetscFunctionBegin;
  if (!points_.N) PetscFunctionReturn(PETSC_SUCCESS);
  parts.push_back({0, points_.N, -1, -1, 0, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}});
  for (size_t from = 0; from < parts.size();) { // level by level
    std::vector<Split> splits;
    const size_t       level = parts.size();
    PetscCall(SetBoxes(from));
    for (size_t at = from; at < level; at++) {
      const Cluster  part = parts[at];
      const PetscInt half = middle(part);
      if (half <= part.begin || half >= part.end) continue;
      splits.push_back({(PetscInt)at, half - part.begin, part.longest_side(), 0});
      parts[at].child = (PetscInt)parts.size();
      parts.push_back({part.begin, half, -1, -1, part.depth + 1, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}});
      parts.push_back({half, part.end, -1, -1, part.depth + 1, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}});
    }
    PetscCall(Divide(&splits));
    from = level;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Item {
  PetscInt  part, number;
  PetscReal x[3];
};

} // namespace

PetscErrorCode DealPoints(MPI_Comm comm, const PointCloud &points,
                          const std::function<PetscInt(const Cluster &)> &middle, DealtPoints *dealt) {
  Points                x;
  PetscMPIInt           rank, ranks;
  std::vector<Item>     items;
  std::vector<PetscInt> order(points.n);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(PointCloudGetPoints(&points, PETSC_MEMTYPE_HOST, &x));
  Bisection bisection(comm, points, x);
  PetscCall(bisection.Run(middle));
  dealt->parts.swap(bisection.parts);
  const auto &parts = dealt->parts;
  const auto &part_of = bisection.part_of();
  const auto  owner = [&](const Cluster &part) { return rank_of(ClusterTree::middle_of(part), ranks, points.N); };
  const auto  in_order = [&](PetscInt p, PetscInt number, PetscInt q, PetscInt other) {
    return parts[p].begin != parts[q].begin ? parts[p].begin < parts[q].begin : number < other;
  };

  std::iota(order.begin(), order.end(), (PetscInt)0);
  std::sort(order.begin(), order.end(), [&](PetscInt i, PetscInt j) { return in_order(part_of[i], i, part_of[j], j); });
  std::vector<PetscMPIInt> counts(ranks, 0);
  for (PetscInt i : order) {
    items.push_back({part_of[i], points.first + i, {0, 0, 0}});
    for (int a = 0; a < 3; a++) items.back().x[a] = x.x[a][i];
    counts[owner(parts[part_of[i]])]++;
  }
  PetscCall(SendItems(comm, &items, &counts));
  std::sort(items.begin(), items.end(),
            [&](const Item &p, const Item &q) { return in_order(p.part, p.number, q.part, q.number); });
  dealt->leaves.clear();
  dealt->numbers.clear();
  dealt->x.clear();
  for (const Item &item : items) {
    if (dealt->leaves.empty() || dealt->leaves.back() != item.part) dealt->leaves.push_back(item.part);
    dealt->numbers.push_back(item.number);
    dealt->x.insert(dealt->x.end(), item.x, item.x + 3);
  }
  dealt->first = dealt->leaves.empty() ? 0 : parts[dealt->leaves[0]].begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
