// Reads an operator's rows as couplings of neighbouring points.

#include "multigrid/couplings_of.hpp"

#include <cmath>

#include "multigrid/beyond.hpp"

namespace shellac {

namespace {

constexpr int most_ranks = 1 << 30;

// What rows are not, in the order of what is said first; with what serves such a matrix.
enum Problem { none, nonsymmetric, wide_range, no_diagonal, far, not_finite };
#define ILU_OR_AIJ                                                                                                     \
  "; use -pc_type bjacobi, which is an incomplete factorisation on each rank, or an assembled matrix "                 \
  "(-dm_mat_type aij)"
const char *const problems[] = {
    "",
    "is not symmetric, with any weights of its rows" ILU_OR_AIJ,
    "is not symmetric, or only with weights of its rows over too many orders of magnitude (as upwind differences of a "
    "strong constant wind)" ILU_OR_AIJ,
    "has zeros on its diagonal; use -pc_type jacobi, which leaves those rows as they are, or none",
    "couples points that are not neighbours" ILU_OR_AIJ,
    "has a coefficient that is infinite or not a number; look at the values that the program assembles"};
const char *const opposite_signs = "couples points with opposite signs" ILU_OR_AIJ;

// A neighbour: its direction, its place in an array counted from the point's, and which neighbour the point is to it.
struct Step {
  Direction  to;
  PetscInt64 step;
  int        back;
};

// On arrays over the rank's points and those next to them.
struct Reader {
  const Grid       &grid;
  Couplings        &to;
  Patch             patch; // the rank's points, with a halo of one
  Halo              halo;
  PetscReal         most_range;
  std::vector<Step> steps;
  int               problem = none, to_fixed = 0; // to_fixed: a row takes a fixed point's value

  size_t own(const PetscInt p[3]) const { return to.grown.index(p); }
  void   find(Problem found, bool is = true) {
      if (is) problem = PetscMax(problem, (int)found);
  }
  PetscScalar   *coupling(int n) { return to.slot(FIRST_COUPLING + n); }
  PetscErrorCode Fill(std::vector<PetscScalar> *values) { return fill_beyond(patch, &halo, to.grown, values->data()); }

  void           list_steps();
  void           read(const PreparedOperator &op, std::vector<PetscScalar> *fixed);
  void           share_pairs();
  void           keep_star();
  void           leave_fixed(const std::vector<PetscScalar> &fixed);
  bool           is_symmetric(const std::vector<PetscScalar> &mass);
  PetscErrorCode GetMasses(std::vector<PetscScalar> *mass);
};

void Reader::list_steps() {
  const PetscInt64 row = to.grown.size(0), plane = row * to.grown.size(1);
  steps.clear();
  to.neighbours.each([&](const PetscInt *d) {
    steps.push_back({{{(int)d[0], (int)d[1], (int)d[2]}}, d[0] + d[1] * row + d[2] * plane, 0});
  });
  for (Step &step : steps)
    while (steps[step.back].to.index() != 26 - step.to.index()) step.back++;
}

// The diagonal entries go to INVERSE_DIAGONAL for the time being.
void Reader::read(const PreparedOperator &op, std::vector<PetscScalar> *fixed) {
  std::vector<PetscReal> others((size_t)grid.size[0]);
  std::vector<char>      alone((size_t)grid.size[0]);

  fixed->assign(to.points(), 0);
  for_each_row(patch.all(), [&](const PetscInt p[3], PetscInt nx) {
    const size_t at = own(p);
    PetscScalar *values[27] = {}, *diagonal = to.slot(INVERSE_DIAGONAL) + at, *sum = to.slot(SHIFT) + at;
    bool         zeros = false, far_ones = false, finite = true;
    values[13] = diagonal;
    for (size_t n = 0; n < steps.size(); n++) values[steps[n].to.index()] = coupling((int)n) + at;
    std::fill(others.begin(), others.end(), PetscReal(0));
    std::fill(alone.begin(), alone.end(), 1);
    op.neighbours(patch, p, nx, values, others.data());
    for (PetscInt i = 0; i < nx; i++) {
      sum[i] = diagonal[i];
      finite &= diagonal[i] - diagonal[i] == (PetscScalar)0 && others[i] - others[i] == 0;
      zeros |= diagonal[i] == (PetscScalar)0;
      far_ones |= others[i] != 0;
    }
    for (size_t n = 0; n < steps.size(); n++) {
      PetscScalar *c = coupling((int)n) + at;
      for (PetscInt i = 0; i < nx; i++) {
        finite &= c[i] - c[i] == (PetscScalar)0;
        alone[i] &= c[i] == (PetscScalar)0;
        sum[i] += c[i];
        c[i] = PetscScalar(0) - c[i];
      }
    }
    for (PetscInt i = 0; i < nx; i++) {
      alone[i] &= others[i] == 0;
      if (alone[i] && diagonal[i] != (PetscScalar)0) (*fixed)[at + i] = (PetscScalar)1 / diagonal[i];
      if (alone[i] || PetscAbsScalar(sum[i]) <= cancellation * PetscAbsScalar(diagonal[i])) sum[i] = 0;
    }
    find(no_diagonal, zeros);
    find(far, far_ones);
    find(not_finite, !finite);
  });
}

// Around an axis of two points both neighbours are one point: its coupling is shared by both.
void Reader::share_pairs() {
  for (int a = 0; a < 3; a++) {
    if (!grid.periodic(a) || grid.N[a] != 2) continue;
    for (size_t n = 0; n < steps.size(); n++) {
      Direction other = steps[n].to;
      size_t    m = 0;
      if (other.d[a] != 1) continue;
      other.d[a] = -1;
      while (steps[m].to.index() != other.index()) m++;
      PetscScalar *up = coupling((int)n), *down = coupling((int)m);
      for (size_t at = 0; at < to.points(); at++) up[at] = down[at] = (up[at] + down[at]) / (PetscReal)2;
    }
  }
}

// Fixed values are zero in corrections: what couples to them is a shift.
void Reader::leave_fixed(const std::vector<PetscScalar> &fixed) {
  for (size_t n = 0; n < steps.size(); n++)
    for_each_row(patch.all(), [&](const PetscInt p[3], PetscInt nx) {
      const size_t       at = own(p);
      const PetscScalar *there = fixed.data() + at + steps[n].step;
      PetscScalar       *c = coupling((int)n) + at, *shift = to.slot(SHIFT) + at;
      for (PetscInt i = 0; i < nx; i++) {
        if (there[i] == (PetscScalar)0 || c[i] == (PetscScalar)0) continue;
        shift[i] += c[i], c[i] = 0;
        to_fixed = 1;
      }
    });
}

// The arms of a box that has nothing else.
void Reader::keep_star() {
  const Couplings         box = std::move(to);
  const std::vector<Step> all = steps;
  to.grown = box.grown;
  to.mass = box.mass;
  to.neighbours = box.neighbours;
  to.neighbours.star = true;
  to.resize();
  list_steps();
  std::copy_n(box.slot(SHIFT), box.points(), to.slot(SHIFT));
  for (size_t n = 0, m = 0; n < steps.size(); n++, m = 0) {
    while (all[m].to.index() != steps[n].to.index()) m++;
    std::copy_n(box.slot(FIRST_COUPLING + (int)m), box.points(), coupling((int)n));
  }
}

// Whether M A is, with masses M.
bool Reader::is_symmetric(const std::vector<PetscScalar> &mass) {
  bool is = true;
  for_each_row(patch.all(), [&](const PetscInt p[3], PetscInt nx) {
    const size_t       at = own(p);
    const PetscScalar *m = mass.data() + at, *diagonal = to.slot(INVERSE_DIAGONAL) + at;
    for (size_t n = 0; n < steps.size(); n++) {
      const PetscScalar *c = coupling((int)n) + at, *other_m = m + steps[n].step,
                        *back = coupling(steps[n].back) + at + steps[n].step;
      for (PetscInt i = 0; i < nx; i++) {
        const PetscScalar one = m[i] * c[i], other = other_m[i] * back[i];
        const PetscReal   size = PetscMax(PetscAbsScalar(m[i] * diagonal[i]), PetscAbsScalar(other));
        is &= PetscAbsScalar(one - other) <= rounding * size;
      }
    }
  });
  return is;
}

// The two couplings of a pair of points differ by the ratio of their masses: from a point with mass one to all that it
// is coupled with, and so on, over ranks; once more from another point, where some are not coupled with the first.
PetscErrorCode Reader::GetMasses(std::vector<PetscScalar> *mass) {
  struct Point {
    PetscInt p[3];
    size_t   at;
  };
  std::vector<Point> reached; // and coupled with some that come before them and were not
  PetscScalar       *m;
  PetscMPIInt        rank;
  int                seed = -1; // the rank that takes another point
  bool               begun;     // a point was reached here

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(grid.comm, &rank));
  mass->assign(to.points(), 0);
  m = mass->data();
  const auto both = [&](const Step &step, size_t at) { // couplings of a pair; false: one is zero
    return coupling((int)(&step - steps.data()))[at] != (PetscScalar)0 &&
           coupling(step.back)[at + step.step] != (PetscScalar)0;
  };
  const auto inside = [&](const Point &point, const Step &step) {
    const PetscInt q[3] = {point.p[0] + step.to.d[0], point.p[1] + step.to.d[1], point.p[2] + step.to.d[2]};
    return patch.contains(q);
  };
  // the mass of a point by that of one that it is coupled with
  const auto by_other = [&](const Step &step, size_t at) {
    return m[at + step.step] * coupling(step.back)[at + step.step] / coupling((int)(&step - steps.data()))[at];
  };
  const auto take = [&](const Point &point, PetscScalar value) {
    const PetscReal size = PetscAbsScalar(value);
    // zero is for points not reached
    if (!(size > 0 && std::isfinite(size))) find(wide_range), value = 1;
    m[point.at] = value;
    begun = true;
  };
  while (true) {
    int first = -1; // a rank where a point was not reached, counted from the last
    begun = false;
    PetscCall(Fill(mass));
    for_each_row(patch.all(), [&](const PetscInt p[3], PetscInt nx) {
      const size_t row = own(p);
      for (PetscInt i = 0; i < nx; i++) {
        const size_t at = row + i;
        const Point  point = {{i, p[1], p[2]}, at};
        bool         alone = true;
        if (m[at] != (PetscScalar)0) continue;
        for (size_t n = 0; n < steps.size() && m[at] == (PetscScalar)0; n++) {
          if (!both(steps[n], at)) continue;
          alone = false;
          if (m[at + steps[n].step] != (PetscScalar)0) take(point, by_other(steps[n], at));
        }
        if (alone) m[at] = 1;
        if (m[at] == (PetscScalar)0 && seed == rank) seed = -1, take(point, 1);
        bool leaves = false;
        for (const Step &step : steps)
          leaves = leaves || (step.step < 0 && m[at + step.step] == (PetscScalar)0 && both(step, at));
        if (leaves && m[at] != (PetscScalar)0) reached.push_back(point);
      }
    });
    for (size_t r = 0; r < reached.size(); r++) {
      const Point from = reached[r];
      for (const Step &step : steps) {
        const Point q = {{from.p[0] + step.to.d[0], from.p[1] + step.to.d[1], from.p[2] + step.to.d[2]},
                         from.at + step.step};
        if (both(step, from.at) && inside(from, step) && m[q.at] == (PetscScalar)0)
          take(q, by_other(steps[step.back], q.at)), reached.push_back(q);
      }
    }
    reached.clear();
    for_each_row(patch.all(), [&](const PetscInt p[3], PetscInt nx) {
      const PetscScalar *row = m + own(p);
      for (PetscInt i = 0; i < nx; i++)
        if (row[i] == (PetscScalar)0) first = most_ranks - rank;
    });
    int both_of[2] = {begun, first};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, both_of, 2, MPI_INT, MPI_MAX, grid.comm));
    if (both_of[1] < 0) break;
    seed = both_of[0] ? -1 : most_ranks - both_of[1];
  }
  PetscCall(Fill(mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatStencilGetCouplings(StencilMat *context, PetscReal most_range, OperatorRows *rows, std::string *why,
                                      bool *is_not_finite) {
  const Grid              &grid = context->grid;
  Couplings               &couplings = rows->couplings;
  Arrays                   arrays;
  std::vector<PetscScalar> fixed;           // see OperatorRows, on the points of couplings
  PetscReal                sums[3][4] = {}; // of an axis: couplings and how many; shifts at its lower and upper end
  struct {
    int problem, box, fixed, to_fixed, shifted, weighted, positive, negative,
        other_ends[3][2]; // ends with points that are not fixed
  } found = {};
  Grid links = grid;

  PetscFunctionBegin;
  why->clear();
  *is_not_finite = false;
  if (grid.dof > 1) {
    *why = "has " + std::to_string(grid.dof) + " unknowns a point" ILU_OR_AIJ;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Reader reader = {grid, couplings, {}, {}, most_range, {}};
  Patch &patch = reader.patch;
  for (int a = 0; a < 3; a++) {
    patch.N[a] = grid.N[a];
    patch.start[a] = grid.start[a];
    patch.size[a] = grid.size[a];
    patch.periodic[a] = grid.periodic(a);
    couplings.neighbours.present[a] = grid.N[a] > 1;
    if (grid.ranks[a] == 1) links.boundary[a] = DM_BOUNDARY_NONE; // what is beyond is on this rank
    for (int e = 0; e < 2; e++) patch.neighbour[a][e] = links.neighbour(Direction::at(Direction::face(a, e))) >= 0;
  }
  couplings.grown = patch.all();
  for (int a = 0; a < 3; a++)
    if (grid.N[a] > 1) couplings.grown.lo[a]--, couplings.grown.hi[a]++;
  couplings.neighbours.star = !grid.box;
  couplings.resize();
  reader.list_steps();
  std::unique_ptr<PreparedOperator> op;
  PetscCall(context->Prepare(context->op.get(), &arrays, &op));
  reader.read(*op, &fixed);
  PetscCall(arrays.Restore());
  reader.share_pairs();
  PetscCall(reader.halo.Create(links, patch, true, PETSC_FALSE, HaloWay::automatic));
  PetscCall(reader.Fill(&fixed));
  reader.leave_fixed(fixed);
  const int count = (int)reader.steps.size();
  for (int n = 0; n < count; n++) PetscCall(fill_beyond(patch, &reader.halo, couplings.grown, reader.coupling(n)));

  couplings.mass.assign(couplings.points(), 1);
  found.weighted = !reader.is_symmetric(couplings.mass);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found.weighted, 1, MPI_INT, MPI_MAX, grid.comm));
  if (found.weighted) {
    PetscCall(reader.GetMasses(&couplings.mass));
    const bool symmetric = reader.is_symmetric(couplings.mass);
    reader.find(nonsymmetric, !symmetric);
    for_each_row(patch.all(), [&](const PetscInt p[3], PetscInt nx) {
      const PetscScalar *mass = couplings.mass.data() + reader.own(p);
      for (PetscInt i = 0; i < nx; i++)
        reader.find(wide_range,
                    symmetric && !(PetscAbsScalar(mass[i]) * most_range >= 1 && PetscAbsScalar(mass[i]) <= most_range));
    });
  } else {
    couplings.mass.clear();
  }
  PetscCall(reader.halo.Destroy());
  for_each_row(patch.all(), [&](const PetscInt p[3], PetscInt nx) {
    const size_t       at = reader.own(p);
    const PetscScalar *shift = couplings.slot(SHIFT) + at;
    for (int n = 0; n < count; n++) {
      const PetscScalar *coupling = reader.coupling(n) + at;
      const Direction   &to = reader.steps[n].to;
      const int          axes = (to.d[0] != 0) + (to.d[1] != 0) + (to.d[2] != 0);
      PetscReal         *of_axis = sums[to.d[0] ? 0 : to.d[1] ? 1 : 2];
      PetscReal          sum = 0;
      PetscInt           positive = 0, some = 0;
      for (PetscInt i = 0; i < nx; i++) {
        sum += PetscAbsScalar(coupling[i]);
        positive += PetscRealPart(coupling[i]) > 0;
        some += coupling[i] != (PetscScalar)0;
      }
      if (positive) found.positive = 1;
      if (positive < some) found.negative = 1;
      if (axes == 1) of_axis[0] += sum, of_axis[1] += some;
      if (axes > 1 && some) found.box = 1;
    }
    for (PetscInt i = 0; i < nx; i++) {
      if (fixed[at + i] != (PetscScalar)0) found.fixed = 1;
      if (shift[i] != (PetscScalar)0) found.shifted = 1;
    }
    for (int a = 0; a < 3; a++)
      for (int e = 0; e < 2; e++) {
        const PetscInt last[3] = {nx - 1, p[1], p[2]}, *end = e ? last : p; // of the row
        if (!patch.at_domain_end(end, a, (Side)e)) continue;
        for (PetscInt i = a ? 0 : end[0]; i <= (a ? nx - 1 : end[0]); i++) {
          if (fixed[at + i] == (PetscScalar)0) found.other_ends[a][e] = 1;
          sums[a][2 + e] += PetscAbsScalar(shift[i]);
        }
      }
  });
  found.problem = reader.problem;
  found.to_fixed = reader.to_fixed;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, sizeof(found) / sizeof(int), MPI_INT, MPI_MAX, grid.comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 12, MPIU_REAL, MPIU_SUM, grid.comm));
  *why = problems[found.problem];
  *is_not_finite = found.problem == not_finite;
  rows->symmetric = !found.weighted && !found.to_fixed;
  // finite elements may do so with the neighbours in a box
  if (why->empty() && !found.box && found.positive && found.negative) *why = opposite_signs;
  rows->has_fixed = found.fixed;
  if (found.fixed) {
    rows->fixed.resize((size_t)patch.all().points());
    copy_points(patch.all(), couplings.grown, fixed.data(), patch.all(), rows->fixed.data());
  }
  rows->singular = !found.fixed && !found.shifted;
  for (int a = 0; a < 3; a++) {
    const PetscInt  N = grid.N[a];
    const PetscReal mean = sums[a][1] > 0 ? sums[a][0] / sums[a][1] : 0;
    const PetscReal end_points = (PetscReal)grid.N[0] * grid.N[1] * grid.N[2] / N;
    Axis           &axis = rows->axes[a];
    axis = Axis();
    axis.periodic = grid.periodic(a);
    axis.fixed = !axis.periodic && N > 2 && !found.other_ends[a][0] && !found.other_ends[a][1];
    axis.balanced = true;
    axis.mass.assign(N, 1);
    axis.edge.assign(N + 1, N > 1 ? mean : 0);
    for (int e = 0; e < 2 && !axis.periodic; e++) // nothing beyond
      if (sums[a][2 + e] <= PetscReal(0.01) * mean * end_points) axis.edge[e ? N : 0] = 0;
  }
  if (!couplings.neighbours.star && !found.box) reader.keep_star();
  couplings.invert_diagonals();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
