// Trees of points: halves along the longest side, on the host and on a GPU.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "catch.hpp"
#include "device/sort.hpp"
#include "gpu.hpp"
#include "sums.hpp"
#include "sums/cluster_interpolation.hpp"
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

// Weights of interpolation points have the points' sums of polynomials, and sums at them give polynomials at the
// points: of all products of Chebyshev polynomials that the interpolant has, on cubes, flat boxes, lines and at one
// place.
TEST_CASE("interpolation in a cluster is exact for its polynomials", "[sums][tree]") {
  constexpr PetscInt N = 40;
  for (const std::array<int, 3> &n :
       {std::array<int, 3>{5, 5, 5}, {7, 4, 6}, {3, 8, 3}, {6, 1, 5}, {1, 7, 1}, {1, 1, 1}}) {
    Cluster node = {0, N, -1, N, 0, {n[0], n[1], n[2]}, {1, -2, 3}, {2, 2, 3.5}};
    for (int a = 0; a < 3; a++)
      if (n[a] == 1) node.upper[a] = node.lower[a];
    const PetscInt         all = N + proxy_count(node), which = 0;
    std::vector<PetscReal> x(3 * (size_t)all), up(all), down(all);
    for (PetscInt i = 0; i < N; i++)
      for (int a = 0; a < 3; a++)
        x[a * all + i] = (PetscReal)(node.center(a) + 0.5 * (node.upper[a] - node.lower[a]) *
                                                          PetscRealPart(random_value((size_t)(3 * i + a), 1)));
    OK(for_each(PETSC_MEMTYPE_HOST, line_of(proxy_count(node)), SetProxies{&node, &which, x.data(), (size_t)all}));
    const auto at = [&](std::vector<PetscReal> *values) {
      return ClusterValues{&node, {x.data(), x.data() + all, x.data() + 2 * all}, values->data(), 1};
    };
    const InterpolationRoom room(8);
    std::vector<double>     work(room.bytes() / sizeof(double) + 1);
    const auto              run = [&](const ClusterValues &values, auto is_up) {
      Interpolant(values, node, {}, room, work.data()).run<is_up>();
    };
    for (PetscInt i = 0; i < N; i++) up[i] = PetscRealPart(random_value(i, 2));
    run(at(&up), std::true_type());
    double worst = 0;
    for (int i = 0; i < n[0]; i++)
      for (int j = 0; j <= most_beside(i, n[0] - 1, n[1] - 1); j++)
        for (int k = 0; k < mode_row(node.n, i, j).count; k++) {
          const int index[3] = {i, j, k};
          double    sums[2] = {0, 0}, product[3][16];
          bool      shared = false; // equal to another one at the interpolation points
          for (int a = 0; a < 3; a++) {
            const int m = n[a] - 1, b = (a + 1) % 3, of_b = n[b] - 1;
            shared = shared || (m && of_b && index[a] * of_b + index[b] * m == m * of_b);
          }
          if (shared) continue;
          std::vector<double> p(all, 1);
          for (PetscInt q = 0; q < all; q++)
            for (int a = 0; a < 3; a++) {
              at(&up).polynomials(node, a, q, n[a], product[a]);
              p[q] *= product[a][index[a]];
            }
          for (PetscInt q = 0; q < all; q++) sums[q >= N] += p[q] * (double)up[q];
          for (PetscInt q = 0; q < all; q++) down[q] = q < N ? 0 : (PetscReal)p[q];
          run(at(&down), std::false_type());
          worst = std::max(worst, std::fabs(sums[0] - sums[1]));
          for (PetscInt q = 0; q < N; q++) worst = std::max(worst, std::fabs((double)down[q] - p[q]));
        }
    INFO(n[0] << " x " << n[1] << " x " << n[2] << " points, difference " << worst / PETSC_MACHINE_EPSILON
              << " epsilon");
    CHECK(worst <= 1e3 * PETSC_MACHINE_EPSILON);
  }
}

// The ranges of each list.
static std::vector<std::vector<Range>> ranges_of(Lists *lists) {
  std::vector<std::vector<Range>> ranges;
  const PetscInt                 *first = NULL;
  const Range                    *list = NULL;
  OK(lists->first.Get(PETSC_MEMTYPE_HOST, &first));
  OK(lists->list.Get(PETSC_MEMTYPE_HOST, &list));
  for (size_t l = 0; l + 1 < lists->first.size(); l++) ranges.emplace_back(list + first[l], list + first[l + 1]);
  return ranges;
}

static bool same(const std::vector<std::vector<Range>> &a, const std::vector<std::vector<Range>> &b) {
  const auto equal = [](const Range &p, const Range &q) { return p.begin == q.begin && p.end == q.end; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto &p, const auto &q) {
    return std::equal(p.begin(), p.end(), q.begin(), q.end(), equal);
  });
}

// Interpolation points for the clusters that have more points than those; gives which clusters have them.
static std::vector<const Cluster *> set_proxies(ClusterTree *tree, PetscInt n) {
  std::vector<const Cluster *> with_proxies;
  for (Cluster &node : tree->nodes) {
    for (int &m : node.n) m = 3;
    if (node.end - node.begin <= proxy_count(node)) continue;
    node.proxies = n + proxy_count(node) * (PetscInt)with_proxies.size();
    with_proxies.push_back(&node);
  }
  return with_proxies;
}

TEST_CASE("the lists of two trees have each source once for each target", "[sums][tree]") {
  constexpr PetscInt M = 3000, proxies = 9; // of three along each axis
  KernelSumMat       context;
  for (size_t f = 0; f < kernel_functions().size(); f++)
    if (std::string(kernel_functions()[f].name) == "laplace") context.function = (int)f;
  for (Shape shape : {in_a_cube, in_a_plane, at_few_places})
    for (PetscInt n : {0, 40, 6001}) {
      ThreeArrays    of_targets = some_points(M, in_a_cube), of_sources = some_points(n, shape);
      ClusterTree    targets, sources;
      TargetGroups   groups;
      Lists          lists[2], others[2];
      PairRoom       room, room_of_others;
      PetscLogDouble pairs[2] = {0, 0}, sums[2] = {0, 0};
      PetscInt64     most = 0;
      PetscInt       wrong = 0;
      INFO(n << " sources of shape " << shape);
      OK(targets.Build(PETSC_MEMTYPE_HOST, of_targets.in(PETSC_MEMTYPE_HOST), 64));
      OK(sources.Build(PETSC_MEMTYPE_HOST, of_sources.in(PETSC_MEMTYPE_HOST), 64));
      const auto of_t = set_proxies(&targets, M), of_s = set_proxies(&sources, n);
      groups.make(targets.nodes, half_group);
      Mirror<Cluster> nodes[2];
      nodes[0].change() = targets.nodes;
      nodes[1].change() = sources.nodes;
      OK(MakeLists(context, 3, 1e-6, PETSC_MEMTYPE_HOST, &nodes[0], &nodes[1], &room, lists, pairs, &most));
      const std::vector<std::vector<Range>> ranges[2] = {ranges_of(&lists[0]), ranges_of(&lists[1])};
      for (PetscMemType memory : memories()) {
        PetscLogDouble other_pairs[2] = {0, 0};
        INFO("in memory " << memory);
        OK(MakeLists(context, 3, 1e-6, memory, &nodes[0], &nodes[1], &room_of_others, others, other_pairs, &most));
        for (int kind = 0; kind < 2; kind++) {
          CHECK(same(ranges_of(&others[kind]), ranges[kind]));
          CHECK(other_pairs[kind] == pairs[kind]);
        }
      }
      // of the points of each leaf, with those of the clusters that it is in
      for (const Cluster &leaf : targets.nodes) {
        std::vector<PetscInt> times(n, 0);
        if (leaf.child >= 0) continue;
        for (size_t g = 0; g < groups.groups.size(); g++) {
          const Group   &group = groups.groups.host()[g];
          const Cluster &t = group.begin < M ? leaf : *of_t[(group.begin - M) / proxies];
          if (group.begin < M ? group.begin != leaf.begin : leaf.begin < t.begin || leaf.end > t.end) continue;
          for (int kind = 0; kind < 2; kind++)
            for (const Range &range : ranges[kind][group.list])
              for (PetscInt j = range.begin; j < range.end; j++) {
                if (j < n) times[j]++;
                if (j < n || (j - n) % proxies) continue;
                const Cluster &s = *of_s[(j - n) / proxies]; // all of which is there, and far enough
                double         d2 = 0;
                for (int a = 0; a < 3; a++) d2 += std::pow(s.center(a) - t.center(a), 2);
                wrong += s.radius() + t.radius() > 0.75 * std::sqrt(d2) || range.end - j < proxies || kind == 0;
                for (PetscInt i = s.begin; i < s.end; i++) times[i]++;
              }
        }
        wrong += n - (PetscInt)std::count(times.begin(), times.end(), (PetscInt)1);
      }
      CHECK(wrong == 0);
      for (int kind = 0; kind < 2; kind++) {
        for (const Group &group : groups.groups.host())
          for (const Range &range : ranges[kind][group.list])
            sums[kind] += (double)(group.end - group.begin) * (double)(range.end - range.begin);
        CHECK(pairs[kind] == sums[kind]);
      }
      if (n == 6001 && shape == in_a_cube) CHECK((pairs[0] > 0 && pairs[1] > 0));
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
