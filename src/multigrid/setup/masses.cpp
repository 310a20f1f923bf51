#include "multigrid/setup/masses.hpp"

#include <algorithm>
#include <cmath>

#include "capture/kinds.hpp"
#include "multigrid/setup/ghost_points.hpp"

namespace shellac {

namespace {

constexpr int most_ranks = 1 << 30;

// Points and their neighbours, coupled both ways.
struct Pairs {
  Patch         patch;
  Box           grown;
  NeighbourList neighbours;

  // Whether a point, by its place, and its n-th neighbour are; *ratio: its mass over the neighbour's.
  SHELLAC_HD bool both(size_t at, int n, PetscScalar *ratio) const {
    const Neighbour  &neighbour = neighbours.at[n];
    const PetscScalar to = neighbour.coupling[at], back = neighbours.at[neighbour.back].coupling[at + neighbour.step];
    if (to == (PetscScalar)0 || back == (PetscScalar)0) return false;
    *ratio = back / to;
    return true;
  }
  // The same on the whole grid. *there: the neighbour's place on the patch.
  SHELLAC_HD bool get(const PetscInt p[3], int n, PetscInt64 *there, PetscScalar *ratio) const {
    PetscInt q[3];
    for (int a = 0; a < 3; a++) q[a] = p[a] + neighbours.at[n].d[a];
    if (!patch.in_domain(q) || !both(grown.index(p), n, ratio)) return false;
    for (int a = 0; a < 3; a++) q[a] = (q[a] + patch.N[a]) % patch.N[a];
    *there = (PetscInt64)patch.index(q[0], q[1], q[2]);
    return true;
  }
};

// ---- by trees ------------------------------------------------------------------------------------------------------

// A point's parent comes before it on the patch.
struct ChooseParents {
  Pairs     pairs;
  MassTrees to;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt   p[3] = {i, j, k};
    const PetscInt64 at = (PetscInt64)pairs.patch.index(i, j, k);
    PetscInt64       there;
    PetscScalar      ratio;
    to.parent[at] = at;
    to.ratio[at] = 1;
    for (int n = 0; n < pairs.neighbours.count; n++)
      if (pairs.get(p, n, &there, &ratio) && there < at) {
        to.parent[at] = there;
        to.ratio[at] = ratio;
        return;
      }
  }
};

// A point's parent becomes its parent's.
struct HalvePaths {
  Patch         patch;
  MassTrees     from, to;
  MassFindings *found;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt64 at = (PetscInt64)patch.index(i, j, k), parent = from.parent[at], next = from.parent[parent];
    to.parent[at] = next;
    to.ratio[at] = from.ratio[at] * from.ratio[parent];
    if (from.parent[next] != next && !found->deep) found->deep = 1;
  }
};

// The pair, if any, that links a tree to one whose root comes before its own: the first.
struct FindLinks {
  Pairs         pairs;
  MassTrees     trees;
  int64_t      *links; // [points], of the roots
  MassFindings *found;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt   p[3] = {i, j, k};
    const PetscInt64 at = (PetscInt64)pairs.patch.index(i, j, k), root = trees.parent[at];
    PetscInt64       there;
    PetscScalar      ratio;
    for (int n = 0; n < pairs.neighbours.count; n++)
      if (pairs.get(p, n, &there, &ratio) && trees.parent[there] < root) {
        lower_to(&links[root], (int64_t)at * 32 + n);
        if (!found->links) found->links = 1;
      }
  }
};

struct LinkTrees {
  Pairs          pairs;
  MassTrees      from, to;
  const int64_t *links;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt64 at = (PetscInt64)pairs.patch.index(i, j, k);
    PetscInt64       there;
    PetscScalar      ratio;
    PetscInt         p[3];
    to.parent[at] = from.parent[at];
    to.ratio[at] = from.ratio[at];
    if (links[at] == INT64_MAX) return;
    const int64_t one = links[at] / 32;
    pairs.patch.all().point(one, p);
    if (!pairs.get(p, (int)(links[at] % 32), &there, &ratio)) return;
    to.parent[at] = from.parent[there];
    to.ratio[at] = ratio * from.ratio[there] / from.ratio[one];
  }
};

struct Forget {
  int64_t *links;
  Patch    patch;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const { links[patch.index(i, j, k)] = INT64_MAX; }
};

struct SetMasses {
  Patch              patch;
  Box                grown;
  const PetscScalar *ratio;
  PetscScalar       *mass;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    mass[grown.index(p)] = patch.contains(p) ? ratio[patch.index(i, j, k)] : (PetscScalar)1;
  }
};

} // namespace

PetscErrorCode get_masses(PetscMemType memory, const Patch &patch, const CouplingArrays &rows, MassMemory *work) {
  const Pairs  pairs = {patch, rows.grown, NeighbourList(rows)};
  const Box    all = patch.all();
  const size_t points = (size_t)all.points();
  MassTrees    trees, next;
  PetscInt     longest = 1; // path of a convex domain
  int          rounds = 1;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) {
    PetscCall(work->parents[b].Grow(points, memory));
    PetscCall(work->ratios[b].Grow(points, memory));
  }
  PetscCall(work->links.Grow(points, memory));
  PetscCall(work->findings.Grow(1, memory));
  trees = {work->parents[0].at(memory), work->ratios[0].at(memory)};
  next = {work->parents[1].at(memory), work->ratios[1].at(memory)};
  for (int a = 0; a < 3; a++) longest += patch.N[a];
  while (((PetscInt)1 << rounds) < longest) rounds++;
  PetscCall(for_each_of_box(memory, all, ChooseParents{pairs, trees}));
  while (true) {
    std::vector<MassFindings> found;
    MassFindings             *findings = work->findings.at(memory);
    for (int n = 0; n < rounds; n++) {
      if (n == rounds - 1) PetscCall(work->findings.Zero(memory)); // the last round's count
      PetscCall(for_each_of_box(memory, all, HalvePaths{patch, trees, next, findings}));
      std::swap(trees, next);
    }
    PetscCall(for_each_of_box(memory, all, Forget{work->links.at(memory), patch}));
    PetscCall(for_each_of_box(memory, all, FindLinks{pairs, trees, work->links.at(memory), findings}));
    PetscCall(work->findings.GetHost(memory, &found));
    if (found[0].deep) continue; // what was found to link ends at points that are no roots
    if (!found[0].links) break;
    PetscCall(for_each_of_box(memory, all, LinkTrees{pairs, trees, next, work->links.at(memory)}));
    std::swap(trees, next);
  }
  PetscCall(for_each_of_box(memory, rows.grown, SetMasses{patch, rows.grown, trees.ratio, rows.mass}));
  PetscCall(fill_ghosts(memory, patch, nullptr, rows.grown, rows.mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- on the host ----------------------------------------------------------------------------------------------------

// From a point with mass one to all that it is coupled with, and so on; once more from another point, where some are not
// coupled with the first.
PetscErrorCode get_masses_on_host(MPI_Comm comm, const Patch &patch, Halo *halo, const CouplingArrays &rows,
                                  bool *overflow) {
  struct Point {
    PetscInt p[3];
    size_t   at;
  };
  const Pairs        pairs = {patch, rows.grown, NeighbourList(rows)};
  const int          count = pairs.neighbours.count;
  std::vector<Point> reached; // and coupled with some that come before them and were not
  PetscScalar       *m = rows.mass, ratio;
  PetscMPIInt        rank;
  int                seed = -1; // the rank that takes another point
  bool               begun;     // a point was reached here

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  *overflow = false;
  std::fill_n(m, rows.points(), PetscScalar(0));
  const auto take = [&](const Point &point, PetscScalar value) {
    const PetscReal size = PetscAbsScalar(value);
    // zero is for points not reached
    if (!(size > 0 && std::isfinite(size))) *overflow = true, value = 1;
    m[point.at] = value;
    begun = true;
  };
  while (true) {
    int first = -1; // a rank where a point was not reached, counted from the last
    begun = false;
    PetscCall(fill_ghosts(PETSC_MEMTYPE_HOST, patch, halo, rows.grown, m));
    for_each_row(patch.all(), [&](const PetscInt p[3], PetscInt nx) {
      const size_t row = rows.grown.index(p);
      for (PetscInt i = 0; i < nx; i++) {
        const size_t at = row + i;
        const Point  point = {{i, p[1], p[2]}, at};
        bool         alone = true, leaves = false;
        if (m[at] != (PetscScalar)0) continue;
        for (int n = 0; n < count && m[at] == (PetscScalar)0; n++) {
          const size_t there = at + pairs.neighbours.at[n].step;
          if (!pairs.both(at, n, &ratio)) continue;
          alone = false;
          if (m[there] != (PetscScalar)0) take(point, m[there] * ratio);
        }
        if (alone) m[at] = 1;
        if (m[at] == (PetscScalar)0 && seed == rank) seed = -1, take(point, 1);
        for (int n = 0; n < count; n++) {
          const Neighbour &to = pairs.neighbours.at[n];
          leaves = leaves || (to.step < 0 && m[at + to.step] == (PetscScalar)0 && pairs.both(at, n, &ratio));
        }
        if (leaves && m[at] != (PetscScalar)0) reached.push_back(point);
      }
    });
    for (size_t r = 0; r < reached.size(); r++) {
      const Point from = reached[r];
      for (int n = 0; n < count; n++) {
        const Neighbour &to = pairs.neighbours.at[n];
        const Point      q = {{from.p[0] + to.d[0], from.p[1] + to.d[1], from.p[2] + to.d[2]}, from.at + to.step};
        if (!patch.contains(q.p) || m[q.at] != (PetscScalar)0 || !pairs.both(q.at, to.back, &ratio)) continue;
        take(q, m[from.at] * ratio);
        reached.push_back(q);
      }
    }
    reached.clear();
    for_each_row(patch.all(), [&](const PetscInt p[3], PetscInt nx) {
      const PetscScalar *row = m + rows.grown.index(p);
      for (PetscInt i = 0; i < nx; i++)
        if (row[i] == (PetscScalar)0) first = most_ranks - rank;
    });
    int both_of[2] = {begun, first};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, both_of, 2, MPI_INT, MPI_MAX, comm));
    if (both_of[1] < 0) break;
    seed = both_of[0] ? -1 : most_ranks - both_of[1];
  }
  PetscCall(fill_ghosts(PETSC_MEMTYPE_HOST, patch, halo, rows.grown, m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
