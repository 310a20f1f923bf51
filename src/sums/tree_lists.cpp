// The traversal of the trees of targets and sources.
//
// Two clusters are far from each other where the sum of their radii is at most theta times the distance of their
// centres. Then the interpolation points of one act on those of the other (L. Wilson, N. Vaughn, R. Krasny, A
// GPU-accelerated fast multipole method based on barycentric Lagrange interpolation and dual tree traversal, 2021).
// Where one has fewer points than interpolation points, its points take their place.

#include "sums/tree_lists.hpp"

namespace shellac {

static PetscInt groups_of(PetscInt points) {
  return (points + device_leaf - 1) / device_leaf;
}

static void add_groups(const Cluster &cluster, PetscInt begin, PetscInt end, TargetGroups *t) {
  for (PetscInt from = begin; from < end; from += device_leaf) {
    const PetscInt to = std::min(from + device_leaf, end);
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

// The ball around a cluster, which the traversal asks for again and again.
struct Ball {
  double center[3], radius; // [length]
  bool   smooth;            // polynomials follow the function in it
};

// When two clusters are far from each other, or too far to matter.
struct Distances {
  static constexpr double theta = 0.75;
  double                  length = INFINITY, reach = INFINITY; // [length]
  int                     order;

  Distances(const KernelSumMat &context, int order_, double epsilon) : order(order_) {
    const FunctionInfo &info = context.info();
    // polynomials follow a wave, or a Gaussian, over a third of a radian for each of their points
    if (info.uses_wavenumber && context.parameters.wavenumber != 0)
      length = 1 / std::fabs(context.parameters.wavenumber);
    if (is_gaussian(context) || (context.formula && info.uses_sigma))
      length = std::min(length, context.parameters.sigma);
    if (!is_gaussian(context)) return;
    reach = context.parameters.sigma * std::sqrt(2 * std::log(2e2 / epsilon));
  }
  // The balls of the sources, which have points in place of interpolation points where those are fewer, or of targets.
  std::vector<Ball> balls(const std::vector<Cluster> &clusters, bool targets) const {
    std::vector<Ball> balls;
    balls.reserve(clusters.size());
    for (const Cluster &c : clusters) {
      const double radius = c.radius();
      const bool   smooth = radius <= 0.35 * order * length || (targets && c.proxies < 0);
      balls.push_back({{c.center(0), c.center(1), c.center(2)}, radius, smooth});
    }
    return balls;
  }
  bool beyond_reach(const Cluster &s, const Cluster &t) const {
    if (reach == INFINITY) return false;
    double gap2 = 0;
    for (int a = 0; a < 3; a++) {
      const double gap = PetscMax(0., PetscMax(t.lower[a] - s.upper[a], s.lower[a] - t.upper[a]));
      gap2 += gap * gap;
    }
    return gap2 > reach * reach;
  }
  static bool far(const Ball &s, const Ball &t) {
    const double radii = t.radius + s.radius;
    double       d2 = 0;
    for (int a = 0; a < 3; a++) d2 += (t.center[a] - s.center[a]) * (t.center[a] - s.center[a]);
    return radii * radii <= theta * theta * d2 && s.smooth && t.smooth;
  }
};

// Where the interpolation points of a cluster are, or its points where it has none.
Range sources_of(const Cluster &s) {
  return s.proxies < 0 ? Range{s.begin, s.end} : Range{s.proxies, s.proxies + proxy_count(s)};
}

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

} // namespace

PetscErrorCode MakeLists(const KernelSumMat &context, int order, double epsilon, const TargetGroups &targets,
                         const std::vector<Cluster> &sources, Lists made[2], PetscLogDouble pairs[2]) {
  const Distances                    distances(context, order, epsilon);
  const std::vector<Cluster>        &clusters = targets.clusters;
  const std::vector<Ball>            of_s = distances.balls(sources, false), of_t = distances.balls(clusters, true);
  GrowingList                        lists[2];
  std::vector<std::vector<PetscInt>> open(clusters.size()); // clusters of sources that a parent leaves to its children
  std::vector<bool>                  is_child(clusters.size(), false);
  std::vector<PetscInt>              stack, rest;
  std::vector<Range>                 on_proxies, on_points[2];

  PetscFunctionBegin;
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
      const bool far = Distances::far(of_s[which], of_t[at]);
      if (far && t.proxies >= 0) {
        on_proxies.push_back(sources_of(s));
      } else if (t.child >= 0 && (far || s.child < 0 || of_s[which].radius < of_t[at].radius)) {
        rest.push_back(which);
      } else if (!far && s.child >= 0) {
        stack.push_back(s.child + 1);
        stack.push_back(s.child);
      } else {
        on_points[far].push_back(far ? sources_of(s) : Range{s.begin, s.end});
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
