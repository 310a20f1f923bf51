// Trees of points: halves along the longest side, on the host and on a GPU.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catch.hpp"
#include "device/sort.hpp"
#include "gpu.hpp"
#include "sums.hpp"
#include "sums/tree_lists.hpp"
#include "support.hpp"

using namespace tests;
using namespace shellac;

namespace {

// Points as three arrays, the same on the GPU if there is one.
struct ThreeArrays {
  Mirror<PetscReal> x;
  PetscInt          n = 0;

  shellac::Points in(PetscMemType memory) {
    const PetscReal *base = NULL;
    shellac::Points  points;
    OK(x.Get(memory, &base));
    for (int a = 0; a < 3; a++) points.x[a] = base ? base + (size_t)a * n : NULL;
    points.n = n;
    return points;
  }
};

enum Shape { in_a_cube, in_a_plane, on_a_line, at_few_places, on_a_lattice };

ThreeArrays some_points(PetscInt n, Shape shape) {
  ThreeArrays             of;
  std::vector<PetscReal> &x = of.x.change();
  of.n = n;
  for (int a = 0; a < 3; a++)
    for (PetscInt i = 0; i < n; i++) {
      const PetscReal random = PetscRealPart(random_value((size_t)(3 * i + a), 7)) - PetscReal(0.5);
      if (shape == in_a_plane && a == 1)
        x.push_back(0.25);
      else if (shape == on_a_line && a < 2)
        x.push_back(-7);
      else if (shape == at_few_places)
        x.push_back((PetscReal)((i + a) % 3));
      else if (shape == on_a_lattice) // -0 and 0 are one place
        x.push_back(std::copysign(std::floor(5 * std::fabs(random)), random));
      else
        x.push_back(random);
    }
  return of;
}

// Checks that each cluster has a box that fits, and that its children have its points below and above their median.
void check_tree(const ClusterTree &tree, const std::vector<PetscInt> &order, const shellac::Points &points,
                PetscInt leaf) {
  std::vector<PetscInt> all = order, every(points.n);
  std::iota(every.begin(), every.end(), (PetscInt)0);
  std::sort(all.begin(), all.end());
  CHECK(all == every);
  PetscInt wrong = 0;
  for (const Cluster &node : tree.nodes) {
    const auto                  at = [&](PetscInt place) { return order.begin() + (place - tree.first); };
    const std::vector<PetscInt> inside(at(node.begin), at(node.end));
    for (int a = 0; a < 3; a++) {
      const auto ends = std::minmax_element(inside.begin(), inside.end(),
                                            [&](PetscInt i, PetscInt j) { return points.x[a][i] < points.x[a][j]; });
      wrong += node.lower[a] != points.x[a][*ends.first] || node.upper[a] != points.x[a][*ends.second];
    }
    if (node.child < 0) {
      wrong += node.end - node.begin > leaf;
      continue;
    }
    const Cluster   &left = tree.nodes[node.child], &right = tree.nodes[node.child + 1];
    const PetscReal *x = points.x[node.longest_side()];
    const auto       before = [x](PetscInt i, PetscInt j) { return x[i] < x[j] || (x[i] == x[j] && i < j); };
    wrong += left.begin != node.begin || left.end != right.begin || right.end != node.end ||
             left.end != ClusterTree::middle_of(node) || left.depth != node.depth + 1;
    const PetscInt last = *std::max_element(at(left.begin), at(left.end), before);
    wrong += !before(last, *std::min_element(at(right.begin), at(right.end), before));
  }
  CHECK(wrong == 0);
}

std::vector<PetscInt> order_of(ClusterTree *tree) {
  const PetscInt *order = NULL;
  OK(tree->order.Get(PETSC_MEMTYPE_HOST, &order));
  return {order, order + tree->order.size()};
}

void check_equal(const ClusterTree &a, const ClusterTree &b) {
  PetscInt different = a.nodes.size() != b.nodes.size();
  for (size_t at = 0; at < std::min(a.nodes.size(), b.nodes.size()); at++) {
    const Cluster &p = a.nodes[at], &q = b.nodes[at];
    different += p.begin != q.begin || p.end != q.end || p.child != q.child || p.depth != q.depth;
    for (int d = 0; d < 3; d++) different += p.lower[d] != q.lower[d] || p.upper[d] != q.upper[d];
  }
  CHECK(different == 0);
}

// Where trees are built: on the host, and on the GPU of a run on GPUs.
std::vector<PetscMemType> memories() {
  std::vector<PetscMemType> all{PETSC_MEMTYPE_HOST};
  if (!no_gpu(false) && tests::sums::vectors_are_on_a_gpu()) all.push_back(PETSC_MEMTYPE_CUDA);
  return all;
}

} // namespace

TEST_CASE("trees halve clusters at the median of their longest side, the same on a GPU", "[sums][tree]") {
  for (Shape shape : {in_a_cube, in_a_plane, on_a_line, at_few_places, on_a_lattice})
    for (PetscInt n : {0, 1, 2, 64, 65, 1000, 20001}) {
      ThreeArrays points = some_points(n, shape);
      ClusterTree host;
      for (PetscMemType memory : memories()) {
        ClusterTree tree;
        INFO(n << " points of shape " << shape << " in memory " << memory);
        OK(tree.Build(memory, points.in(memory), 64));
        const std::vector<PetscInt> order = order_of(&tree);
        check_tree(tree, order, points.in(PETSC_MEMTYPE_HOST), 64);
        if (PetscMemTypeHost(memory)) OK(host.Build(memory, points.in(memory), 64));
        check_equal(tree, host);
        CHECK(order == order_of(&host));
      }
    }
}

TEST_CASE("a tree goes on from the parts of a larger one", "[sums][tree]") {
  const PetscInt n = 3000, first = 500, ends[] = {500, 1400, 1500, 3500};
  ThreeArrays    points = some_points(n, in_a_cube);
  for (PetscMemType memory : memories()) {
    ClusterTree tree;
    Cluster     part = {0, 4000, 1, -1, 0, {1, 1, 1}, {-9, -9, -9}, {9, 9, 9}}; // with points of others at both ends
    tree.first = first;
    tree.nodes = {part};
    for (PetscInt begin : {0, 500, 1400, 1500, 3500}) {
      part.begin = begin;
      part.end = begin == 0 ? 500 : begin == 3500 ? 4000 : *std::upper_bound(ends, ends + 4, begin);
      part.child = -1;
      tree.nodes.push_back(part);
    }
    OK(tree.Halve(memory, points.in(memory), 64));
    const std::vector<PetscInt> order = order_of(&tree);
    for (size_t at = 0; at < 6; at++) { // parts have boxes, and those of others no children
      CHECK(tree.nodes[at].lower[0] == -9);
      CHECK((tree.nodes[at].child >= 0) == (at == 0 || (at > 1 && at < 5)));
    }
    for (size_t at = 2; at < 5; at++) // a point stays in its part
      for (PetscInt place = tree.nodes[at].begin; place < tree.nodes[at].end; place++) {
        const PetscInt point = order[place - first] + first;
        CHECK((point >= tree.nodes[at].begin && point < tree.nodes[at].end));
      }
    ClusterTree below; // with boxes of their own
    below.first = first;
    below.nodes.assign(tree.nodes.begin() + 6, tree.nodes.end());
    for (Cluster &node : below.nodes) node.child = node.child < 0 ? -1 : node.child - 6;
    check_tree(below, order, points.in(PETSC_MEMTYPE_HOST), 64);
  }
}

// The ranges of each group.
static std::vector<std::vector<Range>> ranges_of(Lists *lists, size_t groups) {
  std::vector<std::vector<Range>> ranges;
  const PetscInt                 *first = NULL;
  const Range                    *list = NULL;
  OK(lists->first.Get(PETSC_MEMTYPE_HOST, &first));
  OK(lists->list.Get(PETSC_MEMTYPE_HOST, &list));
  for (size_t g = 0; g < groups; g++) ranges.emplace_back(list + first[g], list + first[g + 1]);
  return ranges;
}

TEST_CASE("the lists of a treecode have each source once for each group of targets, the same on a GPU",
          "[sums][tree]") {
  constexpr PetscInt proxies = 27;
  KernelSumMat       context;
  for (size_t f = 0; f < kernel_functions().size(); f++)
    if (std::string(kernel_functions()[f].name) == "laplace") context.function = (int)f;
  for (Shape shape : {in_a_cube, in_a_plane, at_few_places})
    for (PetscInt n : {0, 40, 6001}) {
      ThreeArrays                  of_targets = some_points(900, in_a_cube), of_sources = some_points(n, shape);
      ClusterTree                  targets, sources;
      TargetGroups                 groups;
      std::vector<const Cluster *> with_proxies;
      PetscLogDouble               on_host[2] = {0, 0};
      OK(targets.Build(PETSC_MEMTYPE_HOST, of_targets.in(PETSC_MEMTYPE_HOST), 64));
      OK(sources.Build(PETSC_MEMTYPE_HOST, of_sources.in(PETSC_MEMTYPE_HOST), 64));
      for (Cluster &node : sources.nodes) {
        for (int &m : node.n) m = 3;
        if (node.end - node.begin <= proxies) continue;
        node.proxies = n + proxies * (PetscInt)with_proxies.size();
        with_proxies.push_back(&node);
      }
      for (const Cluster &node : targets.nodes)
        if (node.child < 0) groups.clusters.push_back(node);
      groups.make();
      for (PetscMemType memory : memories()) {
        Lists          lists[2];
        PetscLogDouble pairs[2] = {0, 0}, sums[2] = {0, 0};
        PetscInt       wrong = 0;
        INFO(n << " sources of shape " << shape << " in memory " << memory);
        OK(MakeLists(PETSC_COMM_SELF, context, 3, 1e-6, memory, groups, sources.nodes, lists, pairs));
        const auto near = ranges_of(&lists[0], groups.groups.size()), far = ranges_of(&lists[1], groups.groups.size());
        for (size_t g = 0; g < groups.groups.size(); g++) {
          std::vector<PetscInt> times(n, 0);
          const Cluster        &t = groups.clusters[g];
          for (const Range &range : near[g]) {
            sums[0] += (double)(t.end - t.begin) * (double)(range.end - range.begin);
            for (PetscInt j = range.begin; j < range.end; j++) times[j]++;
          }
          for (const Range &range : far[g]) {
            sums[1] += (double)(t.end - t.begin) * (double)(range.end - range.begin);
            for (PetscInt j = range.begin; j < range.end; j++) {
              if (j < n) {
                times[j]++;
              } else if ((j - n) % proxies == 0) { // the first of a cluster, all of which is there, and far enough
                const Cluster &s = *with_proxies[(j - n) / proxies];
                double         d2 = 0;
                for (int a = 0; a < 3; a++) d2 += std::pow(s.center(a) - t.center(a), 2);
                wrong += s.radius() + t.radius() > 0.8 * std::sqrt(d2) || range.end - j < proxies;
                for (PetscInt i = s.begin; i < s.end; i++) times[i]++;
              }
            }
          }
          wrong += n - (PetscInt)std::count(times.begin(), times.end(), (PetscInt)1);
        }
        CHECK(wrong == 0);
        for (int kind = 0; kind < 2; kind++) {
          CHECK(pairs[kind] == sums[kind]);
          if (PetscMemTypeHost(memory)) on_host[kind] = pairs[kind];
          CHECK(pairs[kind] == on_host[kind]);
        }
        if (n == 6001 && shape == in_a_cube) CHECK((pairs[0] > 0 && pairs[1] > 0));
      }
    }
}

TEST_CASE("keys sort values stably, and flags add up", "[sums][tree]") {
  for (PetscMemType memory : memories())
    for (size_t n : {(size_t)0, (size_t)1, (size_t)300, (size_t)70000}) {
      Mirror<uint64_t>      keys;
      Mirror<PetscInt>      values, sorted;
      Mirror<unsigned char> flags;
      Mirror<uint32_t>      sums;
      Scratch<uint64_t>     work;
      for (size_t i = 0; i < n; i++) {
        const double x = PetscRealPart(random_value(i, 3));
        keys.change().push_back(ordered_bits(std::floor(1000 * x) * (i % 5 ? 1 : -1e-300)));
        values.change().push_back((PetscInt)(n - i));
        flags.change().push_back(i % 3 == 1);
      }
      std::vector<size_t> order(n);
      std::iota(order.begin(), order.end(), (size_t)0);
      std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return keys.host()[i] < keys.host()[j]; });
      const uint64_t      *k;
      const PetscInt      *v, *s;
      const unsigned char *f;
      const uint32_t      *u;
      PetscInt            *to;
      uint32_t            *to_sums;
      OK(keys.Get(memory, &k));
      OK(values.Get(memory, &v));
      OK(flags.Get(memory, &f));
      OK(sorted.Make(memory, n, &to));
      OK(sums.Make(memory, n, &to_sums));
      OK(SortByKeys(memory, n, k, v, to, &work));
      OK(AddUp(memory, n, f, to_sums, &work));
      OK(sorted.Get(PETSC_MEMTYPE_HOST, &s));
      OK(sums.Get(PETSC_MEMTYPE_HOST, &u));
      uint32_t sum = 0, wrong = 0;
      for (size_t i = 0; i < n; i++) {
        wrong += s[i] != (PetscInt)(n - order[i]) || u[i] != sum;
        sum += i % 3 == 1;
      }
      INFO(n << " values in memory " << memory);
      CHECK(wrong == 0);
    }
  CHECK(ordered_bits(-0.) == ordered_bits(0.));
  CHECK(ordered_bits(-2.) < ordered_bits(-1.));
}
