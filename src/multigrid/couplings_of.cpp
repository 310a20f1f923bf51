// Reads an operator's rows as couplings of neighbouring points.

#include "multigrid/couplings_of.hpp"

#include <cmath>

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

struct Reader {
  const Grid &grid;
  Couplings  &to;
  Patch       patch; // the rank's points, with a halo of one
  Halo        halo;
  PetscReal   most_range;
  int         problem = none, to_fixed = 0; // to_fixed: a row takes a fixed point's value

  struct Point {
    PetscInt at[3];
  };

  size_t own(const PetscInt p[3]) const { return to.grown.index(p); }
  bool   inside(const PetscInt p[3]) const {
      bool is = true;
      for (int a = 0; a < 3; a++) is = is && p[a] >= 0 && p[a] < grid.size[a];
    return is;
  }
  void find(Problem found) { problem = PetscMax(problem, (int)found); }

  void           read(const PreparedOperator &op, std::vector<PetscScalar> *fixed);
  void           share_pairs(const std::vector<Direction> &steps);
  void           keep_star(const std::vector<Direction> &steps);
  PetscErrorCode leave_fixed(const std::vector<Direction> &steps, const std::vector<PetscScalar> &fixed);
  PetscErrorCode get_back(const std::vector<Direction> &steps, std::vector<std::vector<PetscScalar>> *back);
  PetscErrorCode get_masses(const std::vector<Direction> &steps, const std::vector<std::vector<PetscScalar>> &back,
                            std::vector<PetscScalar> *mass);
  PetscErrorCode Exchange(const PetscScalar *values, Field<PetscScalar> *field);
  PetscScalar    value(const Field<PetscScalar> &field, const PetscInt p[3]) const;
};

std::vector<Direction> steps_of(const Neighbours &neighbours) {
  std::vector<Direction> steps;
  neighbours.each([&](const PetscInt *d) { steps.push_back({{(int)d[0], (int)d[1], (int)d[2]}}); });
  return steps;
}

int place_of(const std::vector<Direction> &steps, int index) {
  int n = 0;
  while (n < (int)steps.size() && steps[n].index() != index) n++;
  return n < (int)steps.size() ? n : -1;
}

bool outside(const Grid &grid, const PetscInt p[3]) {
  bool is = false;
  for (int a = 0; a < 3; a++) {
    const PetscInt g = grid.start[a] + p[a];
    is = is || (!grid.periodic(a) && (g < 0 || g >= grid.N[a]));
  }
  return is;
}

// The sum of a row goes to SHIFT, its diagonal entry to INVERSE_DIAGONAL for the time being.
void Reader::read(const PreparedOperator &op, std::vector<PetscScalar> *fixed) {
  std::vector<Entry> entries;
  PetscScalar       *slot[27] = {};
  const auto         steps = steps_of(to.neighbours);

  for (size_t n = 0; n < steps.size(); n++) slot[steps[n].index()] = to.slot(FIRST_COUPLING + (int)n);
  fixed->assign((size_t)patch.all().points(), 0);
  for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
    const size_t at = own(p);
    PetscScalar  diagonal = 0, sum = 0;
    bool         arms = false;
    op.row(p, 0, &entries);
    for (const Entry &entry : entries) {
      Direction d;
      bool      near = true;
      for (int a = 0; a < 3; a++) {
        const PetscInt step = grid.N[a] > 1 ? entry.point[a] - p[a] : 0;
        near = near && PetscAbsInt(step) <= 1;
        d.d[a] = (int)step;
      }
      if (entry.value == (PetscScalar)0) continue;
      if (PetscIsInfOrNanScalar(entry.value)) find(not_finite);
      sum += entry.value;
      if (near && d.index() == 13) {
        diagonal += entry.value;
        continue;
      }
      arms = true;
      if (near && slot[d.index()])
        slot[d.index()][at] -= entry.value;
      else
        find(far);
    }
    if (diagonal == (PetscScalar)0)
      find(no_diagonal);
    else if (!arms)
      (*fixed)[at] = (PetscScalar)1 / diagonal;
    to.slot(SHIFT)[at] = !arms || PetscAbsScalar(sum) <= cancellation * PetscAbsScalar(diagonal) ? 0 : sum;
    to.slot(INVERSE_DIAGONAL)[at] = diagonal;
  });
}

// Around an axis of two points both neighbours are one point: its coupling is shared by both.
void Reader::share_pairs(const std::vector<Direction> &steps) {
  for (int a = 0; a < 3; a++) {
    if (!grid.periodic(a) || grid.N[a] != 2) continue;
    for (size_t n = 0; n < steps.size(); n++) {
      Direction other = steps[n];
      if (steps[n].d[a] != 1) continue;
      other.d[a] = -1;
      PetscScalar *up = to.slot(FIRST_COUPLING + (int)n),
                  *down = to.slot(FIRST_COUPLING + place_of(steps, other.index()));
      for (size_t at = 0; at < to.points(); at++) up[at] = down[at] = (up[at] + down[at]) / (PetscReal)2;
    }
  }
}

// Fixed values are zero in corrections: what couples to them is a shift.
PetscErrorCode Reader::leave_fixed(const std::vector<Direction> &steps, const std::vector<PetscScalar> &fixed) {
  Field<PetscScalar> field;

  PetscFunctionBegin;
  PetscCall(Exchange(fixed.data(), &field));
  for (size_t n = 0; n < steps.size(); n++) {
    PetscScalar *coupling = to.slot(FIRST_COUPLING + (int)n), *shift = to.slot(SHIFT);
    for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
      const PetscInt q[3] = {p[0] + steps[n].d[0], p[1] + steps[n].d[1], p[2] + steps[n].d[2]};
      const size_t   at = own(p);
      if (value(field, q) == (PetscScalar)0 || coupling[at] == (PetscScalar)0) return;
      shift[at] += coupling[at], coupling[at] = 0;
      to_fixed = 1;
    });
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The arms of a box that has nothing else.
void Reader::keep_star(const std::vector<Direction> &steps) {
  Couplings star;
  int       n = FIRST_COUPLING;
  star.grown = to.grown;
  star.neighbours = to.neighbours;
  star.neighbours.star = true;
  star.resize();
  std::copy(to.slot(SHIFT), to.slot(SHIFT) + to.points(), star.slot(SHIFT));
  for (const Direction &step : steps_of(star.neighbours)) {
    const PetscScalar *from = to.slot(FIRST_COUPLING + place_of(steps, step.index()));
    std::copy(from, from + to.points(), star.slot(n++));
  }
  star.mass = std::move(to.mass);
  to = std::move(star);
}

PetscErrorCode Reader::Exchange(const PetscScalar *values, Field<PetscScalar> *field) {
  PetscFunctionBegin;
  PetscCall(halo.Begin(values, PETSC_MEMTYPE_HOST));
  PetscCall(halo.End());
  *field = halo.field();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// back[n]: what the point at the end of each step couples to this one.
PetscErrorCode Reader::get_back(const std::vector<Direction> &steps, std::vector<std::vector<PetscScalar>> *back) {
  Field<PetscScalar> field;

  PetscFunctionBegin;
  back->assign(steps.size(), std::vector<PetscScalar>(to.points()));
  for (size_t n = 0; n < steps.size(); n++) {
    PetscCall(Exchange(to.slot(FIRST_COUPLING + place_of(steps, 26 - steps[n].index())), &field));
    for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
      const PetscInt q[3] = {p[0] + steps[n].d[0], p[1] + steps[n].d[1], p[2] + steps[n].d[2]};
      (*back)[n][own(p)] = value(field, q);
    });
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The two couplings of a pair of points differ by the ratio of their masses: from a point with mass one to all that it
// is coupled with, and so on, over ranks; once more from another point, where some are not coupled with the first.
PetscErrorCode Reader::get_masses(const std::vector<Direction>                &steps,
                                  const std::vector<std::vector<PetscScalar>> &back, std::vector<PetscScalar> *mass) {
  std::vector<Point> reached;
  Field<PetscScalar> field;
  PetscMPIInt        rank;
  int                seed = -1; // the rank that takes another point

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(grid.comm, &rank));
  mass->assign(to.points(), 0);
  const auto coupling = [&](size_t n, size_t at) { return to.slot(FIRST_COUPLING + (int)n)[at]; };
  const auto both = [&](size_t n, size_t at) {
    return coupling(n, at) != (PetscScalar)0 && back[n][at] != (PetscScalar)0;
  };
  const auto take = [&](const PetscInt p[3], PetscScalar value) {
    const PetscReal size = PetscAbsScalar(value);
    // zero is for points not reached
    if (!(size > 0 && std::isfinite(size))) find(wide_range), value = 1;
    (*mass)[own(p)] = value;
    reached.push_back({{p[0], p[1], p[2]}});
  };
  while (true) {
    int first = -1; // a rank where a point was not reached, counted from the last
    PetscCall(Exchange(mass->data(), &field));
    for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
      const size_t at = own(p);
      bool         alone = true;
      for (size_t n = 0; n < steps.size(); n++) {
        const PetscInt q[3] = {p[0] + steps[n].d[0], p[1] + steps[n].d[1], p[2] + steps[n].d[2]};
        if (!both(n, at)) continue;
        alone = false;
        if ((*mass)[at] != (PetscScalar)0 || inside(q)) continue;
        const PetscScalar its = value(field, q);
        if (its != (PetscScalar)0) take(p, its * back[n][at] / coupling(n, at));
      }
      if (alone) (*mass)[at] = 1;
      if ((*mass)[at] == (PetscScalar)0 && seed == rank) seed = -1, take(p, 1);
    });
    for (size_t r = 0; r < reached.size(); r++) {
      const Point  p = reached[r];
      const size_t at = own(p.at);
      for (size_t n = 0; n < steps.size(); n++) {
        const PetscInt q[3] = {p.at[0] + steps[n].d[0], p.at[1] + steps[n].d[1], p.at[2] + steps[n].d[2]};
        if (both(n, at) && inside(q) && (*mass)[own(q)] == (PetscScalar)0)
          take(q, (*mass)[at] * coupling(n, at) / back[n][at]);
      }
    }
    const int begun = !reached.empty(); // a point was reached here
    reached.clear();
    for (const PetscScalar &value : *mass)
      if (value == (PetscScalar)0) first = most_ranks - rank;
    int both_of[2] = {begun, first};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, both_of, 2, MPI_INT, MPI_MAX, grid.comm));
    if (both_of[1] < 0) break;
    seed = both_of[0] ? -1 : most_ranks - both_of[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The values of one point and its neighbours, zero beyond the domain.
PetscScalar Reader::value(const Field<PetscScalar> &field, const PetscInt p[3]) const {
  PetscInt q[3] = {p[0], p[1], p[2]};
  for (int a = 0; a < 3; a++)
    if (grid.periodic(a) && grid.ranks[a] == 1) q[a] = (q[a] % grid.N[a] + grid.N[a]) % grid.N[a];
  return outside(grid, p) ? PetscScalar(0) : field.value(patch, q, 0);
}

} // namespace

PetscErrorCode MatStencilGetCouplings(StencilMat *context, PetscReal most_range, OperatorRows *rows, std::string *why,
                                      bool *is_not_finite) {
  const Grid                           &grid = context->grid;
  Couplings                            &couplings = rows->couplings;
  Arrays                                arrays;
  std::vector<std::vector<PetscScalar>> back;
  PetscReal sums[3][4] = {}; // of an axis: couplings and how many; shifts at its lower and upper end
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
  Reader reader = {grid, couplings, {}, {}, most_range};
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
  couplings.neighbours.star = !grid.box;
  couplings.resize();
  std::unique_ptr<PreparedOperator> op;
  PetscCall(context->Prepare(context->op.get(), &arrays, &op));
  reader.read(*op, &rows->fixed);
  PetscCall(arrays.Restore());
  const std::vector<Direction> steps = steps_of(couplings.neighbours);
  reader.share_pairs(steps);
  PetscCall(reader.halo.Create(links, patch, true, PETSC_FALSE, HaloWay::automatic));
  PetscCall(reader.leave_fixed(steps, rows->fixed));

  PetscCall(reader.get_back(steps, &back));
  // M A is symmetric, with masses where A is not
  const auto asymmetric = [&](const std::vector<PetscScalar> &mass, const Field<PetscScalar> &masses, bool *is) {
    *is = false;
    for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
      const size_t at = couplings.grown.index(p);
      for (size_t n = 0; n < steps.size(); n++) {
        const PetscInt    q[3] = {p[0] + steps[n].d[0], p[1] + steps[n].d[1], p[2] + steps[n].d[2]};
        const PetscScalar m = mass.empty() ? 1 : mass[at], other_m = mass.empty() ? 1 : reader.value(masses, q);
        const PetscScalar one = m * couplings.slot(FIRST_COUPLING + (int)n)[at], other = other_m * back[n][at];
        const PetscReal   diagonal = PetscAbsScalar(m * couplings.slot(INVERSE_DIAGONAL)[at]);
        if (!(PetscAbsScalar(one - other) <= rounding * PetscMax(diagonal, PetscAbsScalar(other)))) *is = true;
      }
    });
  };
  bool               weighted;
  Field<PetscScalar> masses = {};
  asymmetric({}, masses, &weighted);
  found.weighted = weighted;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found.weighted, 1, MPI_INT, MPI_MAX, grid.comm));
  if (found.weighted) {
    PetscCall(reader.get_masses(steps, back, &couplings.mass));
    PetscCall(reader.Exchange(couplings.mass.data(), &masses));
    asymmetric(couplings.mass, masses, &weighted);
    if (weighted) reader.find(nonsymmetric);
    for (const PetscScalar &mass : couplings.mass)
      if (!weighted && !(PetscAbsScalar(mass) * most_range >= 1 && PetscAbsScalar(mass) <= most_range))
        reader.find(wide_range);
  }
  PetscCall(reader.halo.Destroy());
  for (size_t n = 0; n < steps.size(); n++) {
    const PetscScalar *coupling = couplings.slot(FIRST_COUPLING + (int)n);
    const int          axes = (steps[n].d[0] != 0) + (steps[n].d[1] != 0) + (steps[n].d[2] != 0);
    for (size_t at = 0; at < couplings.points(); at++) {
      if (coupling[at] == (PetscScalar)0) continue;
      (PetscRealPart(coupling[at]) > 0 ? found.positive : found.negative) = 1;
      if (axes > 1) found.box = 1;
      for (int a = 0; a < 3 && axes == 1; a++)
        if (steps[n].d[a]) sums[a][0] += PetscAbsScalar(coupling[at]), sums[a][1]++;
    }
  }
  for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
    const size_t      at = couplings.grown.index(p);
    const PetscScalar shift = couplings.slot(SHIFT)[at];
    const bool        fixed = rows->fixed[at] != (PetscScalar)0;
    if (fixed) found.fixed = 1;
    if (shift != (PetscScalar)0) found.shifted = 1;
    for (int a = 0; a < 3; a++) {
      for (int e = 0; e < 2; e++) {
        if (!patch.at_domain_end(p, a, (Side)e)) continue;
        if (!fixed) found.other_ends[a][e] = 1;
        sums[a][2 + e] += PetscAbsScalar(shift);
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
  if (!couplings.neighbours.star && !found.box) reader.keep_star(steps);
  couplings.invert_diagonals();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
