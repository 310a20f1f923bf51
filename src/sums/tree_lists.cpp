// The traversal of the trees of targets and sources.
//
// Two clusters are far from each other where the sum of their radii is at most theta times the distance of their
// centres. Then the interpolation points of one act on those of the other (L. Wilson, N. Vaughn, R. Krasny, A
// GPU-accelerated fast multipole method based on barycentric Lagrange interpolation and dual tree traversal, 2021).
// Where one has fewer points than interpolation points, its points take their place.

#include "sums/tree_lists.hpp"

#include "device/runs.hpp"
#include "device/sort.hpp"

namespace shellac {

static PetscInt groups_of(PetscInt points) {
  return (points + tree_leaf - 1) / tree_leaf;
}

static void add_groups(const Cluster &cluster, PetscInt begin, PetscInt end, TargetGroups *t) {
  for (PetscInt from = begin; from < end; from += tree_leaf) {
    const PetscInt to = std::min(from + tree_leaf, end);
    t->groups.push_back(
        {from, to, {(PetscReal)cluster.center(0), (PetscReal)cluster.center(1), (PetscReal)cluster.center(2)}});
    t->largest = std::max(t->largest, to - from);
  }
}

// Those of the interpolation points of a cluster, then those of its points where it has no children.
void TargetGroups::make() {
  for (const Cluster &c : clusters) {
    if (c.proxies >= 0) add_groups(c, c.proxies, c.proxies + proxy_count(c), this);
    if (c.child < 0) add_groups(c, c.begin, c.end, this);
  }
}

namespace {

// When two clusters are far from each other, or too far to matter.
struct Distances {
  double theta;
  double length = INFINITY, reach = INFINITY; // [length]
  int    order;

  Distances(const KernelSumMat &context, bool dual, int order_, double epsilon)
      : theta(dual ? 0.75 : 0.8), order(order_) {
    const FunctionInfo &info = context.info();
    // polynomials follow a wave, or a Gaussian, over half a radian for each of their points
    if (info.uses_wavenumber && context.parameters.wavenumber != 0)
      length = 1 / std::fabs(context.parameters.wavenumber);
    if (is_gaussian(context) || (context.formula && info.uses_sigma))
      length = std::min(length, context.parameters.sigma);
    if (!is_gaussian(context)) return;
    reach = context.parameters.sigma * std::sqrt(2 * std::log(2e2 / epsilon));
  }
  SHELLAC_INLINE bool smooth_in(const Cluster &c) const { return c.radius() <= 0.5 * order * length; }
  SHELLAC_INLINE bool beyond_reach(const Cluster &s, const Cluster &t) const {
    double gap2 = 0;
    for (int a = 0; a < 3; a++) {
      const double gap = PetscMax(0., PetscMax(t.lower[a] - s.upper[a], s.lower[a] - t.upper[a]));
      gap2 += gap * gap;
    }
    return gap2 > reach * reach;
  }
  SHELLAC_INLINE bool far(const Cluster &s, const Cluster &t) const {
    double d2 = 0;
    for (int a = 0; a < 3; a++) {
      const double d = t.center(a) - s.center(a);
      d2 += d * d;
    }
    return t.radius() + s.radius() <= theta * sqrt(d2) && smooth_in(s) && (t.proxies < 0 || smooth_in(t));
  }
};

// Where the interpolation points of a cluster are, or its points where it has none.
SHELLAC_INLINE Range sources_of(const Cluster &s) {
  return s.proxies < 0 ? Range{s.begin, s.end} : Range{s.proxies, s.proxies + proxy_count(s)};
}

// ---- a treecode ----------------------------------------------------------------------------------------------------------

// The ranges that a group sums, in two turns: they are counted, then set.
struct GroupLists {
  Range     *list[2] = {NULL, NULL}; // where those of the group begin; null: only counted
  PetscInt   count[2] = {0, 0}, end[2] = {-1, -1};
  PetscInt64 sources[2] = {0, 0};

  SHELLAC_INLINE void add(int far, const Range &range) { // after the last one, if it is its neighbour
    sources[far] += range.end - range.begin;
    if (end[far] != range.begin) {
      if (list[far]) list[far][count[far]] = range;
      count[far]++;
    } else if (list[far]) {
      list[far][count[far] - 1].end = range.end;
    }
    end[far] = range.end;
  }
};

// Sums over all groups.
struct Sizes {
  PetscInt64 ranges[2] = {0, 0};
  double     pairs[2] = {0, 0};

  SHELLAC_HD void add(const Sizes &other) {
    for (int far = 0; far < 2; far++) {
      ranges[far] += other.ranges[far];
      pairs[far] += other.pairs[far];
    }
  }
};

struct Treecode {
  Distances       distances;
  const Cluster  *targets, *sources; // the groups'; a tree, or null
  PetscInt       *count[2];          // of a group's ranges
  const PetscInt *first[2];
  Range          *list[2];

  SHELLAC_INLINE void visit(const Cluster &t, GroupLists *lists) const {
    constexpr int most = 64; // more than the levels of a tree of halves
    PetscInt      stack[most];
    int           open = 0;
    if (sources) stack[open++] = 0;
    while (open > 0) {
      const Cluster &s = sources[stack[--open]];
      if (distances.beyond_reach(s, t)) continue;
      if (distances.far(s, t)) {
        lists->add(1, sources_of(s));
      } else if (s.child >= 0) {
        stack[open++] = s.child + 1;
        stack[open++] = s.child;
      } else {
        lists->add(0, {s.begin, s.end});
      }
    }
  }
};
// Counts the ranges of each group, and sets them where there is room: the same code, so that it comes to the same.
struct MakeRanges : Treecode {
  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, Sizes *sum) const {
    for (PetscInt g = p[0]; g < p[0] + n; g++) {
      GroupLists lists;
      for (int far = 0; far < 2; far++)
        if (list[far]) lists.list[far] = list[far] + first[far][g];
      visit(targets[g], &lists);
      for (int far = 0; far < 2; far++) {
        count[far][g] = lists.count[far];
        sum->ranges[far] += lists.count[far];
        sum->pairs[far] += (double)lists.sources[far] * (double)(targets[g].end - targets[g].begin);
      }
    }
  }
};

PetscErrorCode make_treecode_lists(MPI_Comm comm, const Distances &distances, PetscMemType memory,
                                   const std::vector<Cluster> &targets, const std::vector<Cluster> &sources,
                                   Lists lists[2], PetscLogDouble pairs[2]) {
  const size_t      n = targets.size();
  Mirror<Cluster>   clusters[2];
  Mirror<Sizes>     sum;
  Scratch<Sizes>    parts;
  Scratch<PetscInt> counts;
  Scratch<uint64_t> work;
  Sizes            *to;
  const Sizes      *sizes;
  PetscInt         *first[2];
  Treecode          tree = {distances, NULL, NULL, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}};

  PetscFunctionBegin;
  clusters[0].change() = targets;
  clusters[1].change() = sources;
  PetscCall(clusters[0].Get(memory, &tree.targets));
  PetscCall(clusters[1].Get(memory, &tree.sources));
  PetscCall(counts.Grow(2 * (n + 1), memory));
  PetscCall(counts.Zero(memory)); // the last of each kind is none
  for (int far = 0; far < 2; far++) {
    tree.count[far] = counts.at(memory) + far * (n + 1);
    PetscCall(lists[far].first.Make(memory, n + 1, &first[far]));
  }
  const Box groups = {{0, 0, 0}, {(PetscInt)n, 1, 1}};
  PetscCall(sum.Make(memory, 1, &to));
  PetscCall(sum_runs(memory, groups, MakeRanges{tree}, &parts, to));
  PetscCall(sum.Get(PETSC_MEMTYPE_HOST, &sizes));
  for (int far = 0; far < 2; far++) {
    SHELLAC_CHECK_ALL(sizes->ranges[far] < PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE,
                      "a rank's lists of %s clusters have %" PetscInt64_FMT
                      " ranges, more than this PETSc's integers count; use more ranks, or a PETSc with 64-bit integers",
                      far ? "far" : "near", sizes->ranges[far]);
    PetscCall(AddUp(memory, n + 1, tree.count[far], first[far], &work));
    PetscCall(lists[far].list.Make(memory, (size_t)sizes->ranges[far], &tree.list[far]));
    tree.first[far] = first[far];
    pairs[far] += sizes->pairs[far];
  }
  PetscCall(sum.Make(memory, 1, &to));
  PetscCall(sum_runs(memory, groups, MakeRanges{tree}, &parts, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- a dual traversal ----------------------------------------------------------------------------------------------------

struct GrowingList {
  std::vector<Range>    list;
  std::vector<PetscInt> first{0};

  void add(const Range &range) { // after the last one, if it is its neighbour in the same group
    if ((PetscInt)list.size() > first.back() && list.back().end == range.begin)
      list.back().end = range.end;
    else
      list.push_back(range);
  }
  void end_group() { first.push_back((PetscInt)list.size()); }
};

void make_dual_lists(const Distances &distances, const std::vector<Cluster> &clusters,
                     const std::vector<Cluster> &sources, Lists made[2], PetscLogDouble pairs[2]) {
  GrowingList                        lists[2];
  std::vector<std::vector<PetscInt>> open(clusters.size()); // clusters of sources that a parent leaves to its children
  std::vector<bool>                  is_child(clusters.size(), false);
  std::vector<PetscInt>              stack, rest;
  std::vector<Range>                 on_proxies, on_points[2];

  const auto end_groups = [&](PetscInt size, const std::vector<Range> &near, const std::vector<Range> &far) {
    const std::vector<Range> *ranges[2] = {&near, &far};
    for (int kind = 0; kind < 2; kind++) {
      for (PetscInt g = 0; g < groups_of(size); g++) {
        for (const Range &range : *ranges[kind]) lists[kind].add(range);
        lists[kind].end_group();
      }
      for (const Range &range : *ranges[kind]) pairs[kind] += (PetscLogDouble)size * (range.end - range.begin);
    }
  };
  for (size_t at = 0; at < clusters.size(); at++) {
    const Cluster &t = clusters[at];
    if (t.begin == t.end) continue;
    if (is_child[at])
      stack.swap(open[at]);
    else if (!sources.empty())
      stack.assign(1, 0);
    rest.clear();
    on_proxies.clear();
    for (auto &ranges : on_points) ranges.clear();
    while (!stack.empty()) {
      const PetscInt which = stack.back();
      const Cluster &s = sources[which];
      stack.pop_back();
      if (distances.beyond_reach(s, t)) continue;
      const bool  far = distances.far(s, t);
      const Range points = {s.begin, s.end};
      const Range range = sources_of(s);
      if (far && t.proxies >= 0) {
        on_proxies.push_back(range);
      } else if (t.child >= 0 && (far || s.child < 0 || s.radius() < t.radius())) {
        rest.push_back(which);
      } else if (!far && s.child >= 0) {
        stack.push_back(s.child + 1);
        stack.push_back(s.child);
      } else {
        on_points[far].push_back(far ? range : points);
      }
    }
    if (t.proxies >= 0) end_groups(proxy_count(t), {}, on_proxies);
    if (t.child < 0) {
      end_groups(t.end - t.begin, on_points[0], on_points[1]);
      continue;
    }
    for (int r = 0; r < 2; r++) {
      is_child[t.child + r] = true;
      open[t.child + r].assign(rest.rbegin(), rest.rend());
    }
  }
  for (int far = 0; far < 2; far++) {
    made[far].list.change().swap(lists[far].list);
    made[far].first.change().swap(lists[far].first);
  }
}

} // namespace

PetscErrorCode MakeLists(MPI_Comm comm, const KernelSumMat &context, int order, double epsilon, PetscMemType memory,
                         const TargetGroups &targets, const std::vector<Cluster> &sources, Lists lists[2],
                         PetscLogDouble pairs[2]) {
  const Distances distances(context, targets.dual, order, epsilon);

  PetscFunctionBegin;
  if (targets.dual)
    make_dual_lists(distances, targets.clusters, sources, lists, pairs);
  else
    PetscCall(make_treecode_lists(comm, distances, memory, targets.clusters, sources, lists, pairs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
