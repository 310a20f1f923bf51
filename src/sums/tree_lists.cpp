// The traversal of the trees of targets and sources.
//
// Two clusters are far from each other if the sum of their radii is at most theta times the distance of their centres.
// Then the interpolation points of one act on those of the other (L. Wilson, N. Vaughn, R. Krasny, A
// GPU-accelerated fast multipole method based on barycentric Lagrange interpolation and dual tree traversal, 2021).
// If a cluster has fewer points than interpolation points, its points are used instead.
//
// It begins with the pair of the two roots. Each pass decides for all pairs that are open at once: it moves those that are
// near or far to the lists, and opens two pairs for each of the others, with the halves of one of the two clusters. At
// the end the lists are sorted by targets.

#include "sums/tree_lists.hpp"

#include <cmath>

#include "device/runs.hpp"
#include "device/sort.hpp"
#include "sums/fast_sum.hpp"

namespace shellac {

static void add_groups(const Cluster &cluster, PetscInt begin, PetscInt end, PetscInt list, PetscInt most,
                       TargetGroups *t) {
  for (PetscInt from = begin; from < end; from += most) {
    const PetscInt to = std::min(from + most, end);
    t->groups.change().push_back(
        {from, to, list, {(PetscReal)cluster.center(0), (PetscReal)cluster.center(1), (PetscReal)cluster.center(2)}});
    t->largest = std::max(t->largest, to - from);
  }
}

void TargetGroups::make(const std::vector<Cluster> &clusters, PetscInt most) {
  for (size_t at = 0; at < clusters.size(); at++) {
    const Cluster &c = clusters[at];
    if (c.proxies >= 0) add_groups(c, c.proxies, c.proxies + proxy_count(c), 2 * (PetscInt)at, most, this);
    if (c.child < 0) add_groups(c, c.begin, c.end, 2 * (PetscInt)at + 1, most, this);
  }
}

double KernelReach(const KernelSumMat &context, double epsilon) {
  if (!context.sources) return INFINITY; // lists of clusters alone, without the Mat's points
  const FunctionInfo &info = context.info();
  const int           dim = context.sources->dim;
  const double spacing = context.parameters.extent / std::pow(PetscMax(1., (double)context.sources->N), 1. / dim);
  const auto   size = [&](double r) {
    const Complex<double> g = info.value(context.parameters, r * r);
    return std::hypot(g.re, g.im);
  };
  const double enough = size(info.singular ? spacing : 0) * epsilon / 200, step = std::exp2(1. / 64);
  double       reach = INFINITY;
  if (!(enough > 0)) return reach; // nothing to compare with
  // from the points' diameter inwards, in steps of a percent, down to where it is no longer small
  for (double r = 2 * context.parameters.extent * std::sqrt((double)dim); r > 0.1 * spacing && size(r) <= enough;
       r /= step)
    reach = r;
  return reach;
}

namespace {

// Two numbers in one, which sorts by the first of them: a cluster of targets, or a list, and a cluster of sources.
SHELLAC_HD uint64_t joined(uint64_t first, uint64_t second) {
  return first << 32 | second;
}
SHELLAC_HD PetscInt first_of(uint64_t pair) {
  return (PetscInt)(pair >> 32);
}
SHELLAC_HD PetscInt second_of(uint64_t pair) {
  return (PetscInt)(pair & 0xffffffff);
}

// The decision about a pair of clusters; the first three are counted.
enum Step : unsigned char { near = 0, far = 1, open_source = 2, open_target = 3, nothing = 4 };
constexpr int kinds = 3;

// When two clusters are far from each other, or too far to matter.
struct Rule {
  static constexpr double theta = 0.75;
  double                  length = INFINITY, reach = INFINITY; // [length]
  int                     order;
  const Cluster          *targets = NULL, *sources = NULL;

  Rule(const KernelSumMat &context, int order_, double epsilon) : order(order_) {
    const FunctionInfo &info = context.info();
    // polynomials follow a wave, or a Gaussian, over a third of a radian for each of their points
    if (info.uses_wavenumber && context.parameters.wavenumber != 0)
      length = 1 / std::fabs(context.parameters.wavenumber);
    if (is_gaussian(context) || (context.formula && info.uses_sigma))
      length = std::min(length, context.parameters.sigma);
    reach = KernelReach(context, epsilon);
  }
  SHELLAC_HD bool beyond_reach(const Cluster &s, const Cluster &t) const {
    double gap2 = 0;
    for (int a = 0; a < 3; a++) {
      const double gap = PetscMax(0., PetscMax(t.lower[a] - s.upper[a], s.lower[a] - t.upper[a]));
      gap2 += gap * gap;
    }
    return gap2 > reach * reach;
  }
  SHELLAC_HD Step step(uint64_t pair) const {
    const Cluster &t = targets[first_of(pair)], &s = sources[second_of(pair)];
    if (t.begin == t.end || beyond_reach(s, t)) return nothing;
    const double of_s = s.radius(), of_t = t.radius(), radii = of_s + of_t, smooth = 0.35 * order * length;
    double       d2 = 0;
    for (int a = 0; a < 3; a++) d2 += (t.center(a) - s.center(a)) * (t.center(a) - s.center(a));
    // sources have points in place of interpolation points where those are fewer, and so do targets, without polynomials
    const bool apart = radii * radii <= theta * theta * d2 && of_s <= smooth && (of_t <= smooth || t.proxies < 0);
    if (apart && t.proxies >= 0) return far;
    if (t.child >= 0 && (apart || s.child < 0 || of_s < of_t)) return open_target;
    if (apart) return far;
    return s.child >= 0 ? open_source : near;
  }
  // To the list of what, or two pairs of halves.
  SHELLAC_HD void place(uint64_t pair, Step step, uint64_t *to) const {
    const uint64_t t = (uint64_t)first_of(pair), s = (uint64_t)second_of(pair);
    if (step == open_source) {
      for (int r = 0; r < 2; r++) to[r] = joined(t, (uint64_t)sources[s].child + r);
    } else if (step == open_target) {
      for (int r = 0; r < 2; r++) to[r] = joined((uint64_t)targets[t].child + r, s);
    } else {
      to[0] = joined(2 * t + (step == near || targets[t].proxies < 0), s);
    }
  }
};

// ---- a pass ----------------------------------------------------------------------------------------------------------

struct OpenRoots {
  uint64_t       *pairs;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { pairs[i] = joined(0, 0); }
};
struct CopyPairs {
  const uint64_t *from;
  uint64_t       *to;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { to[i] = from[i]; }
};

struct Pass : Rule {
  const uint64_t *pairs;
  size_t          n;
  unsigned char  *steps;
  unsigned char  *flags; // of each kind, one kind after the other, and one that is no pair's
  const uint32_t *sums;
  uint64_t       *to[kinds];

  SHELLAC_HD static int kind_of(Step step) { return step == open_target ? open_source : step; }
  // Of the pairs of this kind, the place of the i-th pair, or of one after all.
  SHELLAC_HD uint32_t place_of(int kind, size_t i) const { return sums[kind * n + i] - sums[kind * n]; }
};
struct Decide : Pass {
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    const Step decided = step(pairs[i]);
    steps[i] = decided;
    for (int kind = 0; kind < kinds; kind++) flags[kind * n + i] = kind_of(decided) == kind;
    if (i == 0) flags[kinds * n] = 0;
  }
};
struct GetTotals : Pass {
  uint32_t       *totals;
  SHELLAC_HD void operator()(PetscInt kind, PetscInt, PetscInt) const { totals[kind] = place_of((int)kind, n); }
};
struct PlaceAll : Pass {
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    const Step decided = (Step)steps[i];
    const int  kind = kind_of(decided);
    if (kind < kinds) place(pairs[i], decided, to[kind] + (kind == open_source ? 2 : 1) * (size_t)place_of(kind, i));
  }
};

// Room for n values of which the first `used` are kept.
PetscErrorCode extend(PetscMemType memory, size_t used, size_t n, Scratch<uint64_t> *array) {
  Scratch<uint64_t> larger;

  PetscFunctionBegin;
  if (n <= array->size()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(larger.Grow(std::max(n, 2 * array->size()), memory));
  PetscCall(for_each(memory, line_of(used), CopyPairs{array->at(memory), larger.at(memory)}));
  array->swap(&larger);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Room for n values, none of which is kept.
template <class T> PetscErrorCode reserve(PetscMemType memory, size_t n, Scratch<T> *array) {
  PetscFunctionBegin;
  PetscCall(array->Grow(n <= array->size() ? n : std::max(n, 2 * array->size()), memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// All pairs that are near or far, joined(list, source): room->found.
PetscErrorCode find_pairs(const Rule &rule, PetscMemType memory, PairRoom *room, size_t found[2], PetscInt64 *most) {
  size_t           n = 1;
  Mirror<uint32_t> totals;
  Pass             pass = {rule, NULL, 0, NULL, NULL, NULL, {NULL, NULL, NULL}};

  PetscFunctionBegin;
  PetscCall(for_each(memory, line_of(1), OpenRoots{room->open[0].at(memory)}));
  while (n) {
    uint32_t       *to_totals;
    const uint32_t *count;
    PetscCall(reserve(memory, n, &room->steps));
    PetscCall(reserve(memory, kinds * n + 1, &room->flags));
    PetscCall(reserve(memory, kinds * n + 1, &room->sums));
    pass.pairs = room->open[0].at(memory);
    pass.n = n;
    pass.steps = room->steps.at(memory);
    pass.flags = room->flags.at(memory);
    pass.sums = room->sums.at(memory);
    PetscCall(totals.Make(memory, kinds, &to_totals));
    PetscCall(for_each(memory, line_of(n), Decide{pass}));
    PetscCall(AddUp(memory, kinds * n + 1, pass.flags, room->sums.at(memory), &room->sort));
    PetscCall(for_each(memory, line_of(kinds), GetTotals{pass, to_totals}));
    PetscCall(totals.Get(PETSC_MEMTYPE_HOST, &count));
    *most = std::max(
        {*most, 2 * (PetscInt64)count[2], (PetscInt64)(found[0] + count[0]), (PetscInt64)(found[1] + count[1])});
    if (*most > most_cluster_pairs) PetscFunctionReturn(PETSC_SUCCESS);
    for (int kind = 0; kind < 2; kind++) {
      PetscCall(extend(memory, found[kind], found[kind] + count[kind], &room->found[kind]));
      pass.to[kind] = room->found[kind].at(memory) + found[kind];
    }
    PetscCall(reserve(memory, 2 * (size_t)count[2], &room->open[1]));
    pass.to[2] = room->open[1].at(memory);
    PetscCall(for_each(memory, line_of(n), PlaceAll{pass}));
    for (int kind = 0; kind < 2; kind++) found[kind] += count[kind];
    n = 2 * (size_t)count[2];
    room->open[0].swap(&room->open[1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- ranges ----------------------------------------------------------------------------------------------------------

struct Counted {
  double     pairs = 0; // of points
  PetscInt64 ranges = 0;

  SHELLAC_HD void add(const Counted &other) {
    pairs += other.pairs;
    ranges += other.ranges;
  }
};

// Ranges of sources from sorted pairs; those that are neighbours in one list become one.
struct Ranges {
  const Cluster  *targets, *sources;
  bool            far;
  const uint64_t *pairs;
  PetscInt        n;
  unsigned char  *flags; // a range begins
  const uint32_t *sums;

  // Where the interpolation points of far clusters are, or the points where they have none.
  SHELLAC_HD Range range_of(uint64_t pair) const {
    const Cluster &s = sources[second_of(pair)];
    return far && s.proxies >= 0 ? Range{s.proxies, s.proxies + proxy_count(s)} : Range{s.begin, s.end};
  }
  SHELLAC_HD PetscInt targets_of(uint64_t pair) const {
    const Cluster &t = targets[first_of(pair) / 2];
    return first_of(pair) % 2 ? t.end - t.begin : proxy_count(t);
  }
};
struct FindBeginnings : Ranges {
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    flags[i] = i < n && (i == 0 || first_of(pairs[i - 1]) != first_of(pairs[i]) ||
                         range_of(pairs[i - 1]).end != range_of(pairs[i]).begin);
  }
};
struct SetRanges : Ranges {
  Range          *list;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    const Range range = range_of(pairs[i]);
    Range      &to = list[sums[i] + flags[i] - 1];
    if (flags[i]) to.begin = range.begin;
    if (i + 1 == n || flags[i + 1]) to.end = range.end;
  }
};
struct SetFirst : Ranges {
  PetscInt       *first;
  SHELLAC_HD void operator()(PetscInt l, PetscInt, PetscInt) const {
    PetscInt begin = 0, end = n; // of the pairs that may be the first of list l
    while (begin < end) {
      const PetscInt middle = begin + (end - begin) / 2;
      if (first_of(pairs[middle]) < l)
        begin = middle + 1;
      else
        end = middle;
    }
    first[l] = (PetscInt)sums[begin];
  }
};
struct Count : Ranges {
  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int count, Counted *sum) const {
    for (PetscInt i = p[0]; i < p[0] + count; i++) {
      const Range range = range_of(pairs[i]);
      sum->pairs += (double)targets_of(pairs[i]) * (double)(range.end - range.begin);
      sum->ranges += flags[i];
    }
  }
};

PetscErrorCode make_ranges(Ranges ranges, size_t clusters, PetscMemType memory, PairRoom *room, Lists *lists,
                           PetscLogDouble *pairs) {
  const size_t     n = (size_t)ranges.n;
  Mirror<Counted>  sum;
  Scratch<Counted> parts;
  const Counted   *counted;
  Counted         *to;
  Range           *list;
  PetscInt        *first;

  PetscFunctionBegin;
  PetscCall(reserve(memory, n, &room->sorted));
  PetscCall(reserve(memory, n + 1, &room->flags));
  PetscCall(reserve(memory, n + 1, &room->sums));
  PetscCall(SortKeys(memory, n, ranges.pairs, room->sorted.at(memory), &room->sort));
  ranges.pairs = room->sorted.at(memory);
  ranges.flags = room->flags.at(memory);
  ranges.sums = room->sums.at(memory);
  PetscCall(for_each(memory, line_of(n + 1), FindBeginnings{ranges}));
  PetscCall(AddUp(memory, n + 1, ranges.flags, room->sums.at(memory), &room->sort));
  PetscCall(lists->first.Make(memory, 2 * clusters + 1, &first));
  PetscCall(for_each(memory, line_of(2 * clusters + 1), SetFirst{ranges, first}));
  PetscCall(sum.Make(memory, 1, &to));
  PetscCall(sum_runs(memory, Box{{0, 0, 0}, {ranges.n, 1, 1}}, Count{ranges}, &parts, to));
  PetscCall(sum.Get(PETSC_MEMTYPE_HOST, &counted));
  *pairs += counted->pairs;
  PetscCall(lists->list.Make(memory, (size_t)counted->ranges, &list));
  PetscCall(for_each(memory, line_of(n), SetRanges{ranges, list}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MakeLists(const KernelSumMat &context, int order, double epsilon, PetscMemType memory,
                         Mirror<Cluster> *targets, Mirror<Cluster> *sources, PairRoom *room, Lists lists[2],
                         PetscLogDouble pairs[2], PetscInt64 *most) {
  const size_t clusters = targets->size(), expected = 64 * std::max(clusters, sources->size()) + 64;
  size_t       found[2] = {0, 0};
  Rule         rule(context, order, epsilon);

  PetscFunctionBegin;
  PetscCall(targets->Get(memory, &rule.targets));
  PetscCall(sources->Get(memory, &rule.sources));
  if (clusters && sources->size()) {
    for (auto *arrays : {room->open, room->found})
      for (int r = 0; r < 2; r++) PetscCall(arrays[r].Grow(expected, memory));
    PetscCall(room->steps.Grow(expected, memory));
    PetscCall(room->flags.Grow(kinds * expected, memory));
    PetscCall(room->sums.Grow(kinds * expected, memory));
    PetscCall(find_pairs(rule, memory, room, found, most));
  }
  for (int kind = 0; kind < 2 && *most <= most_cluster_pairs; kind++) {
    const Ranges ranges = {rule.targets,          rule.sources, kind == far, room->found[kind].at(memory),
                           (PetscInt)found[kind], NULL,         NULL};
    PetscCall(make_ranges(ranges, clusters, memory, room, &lists[kind], &pairs[kind]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
