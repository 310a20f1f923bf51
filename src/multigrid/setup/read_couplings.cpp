// Reads an operator's rows as couplings of neighbouring points.

#include "multigrid/setup/read_couplings.hpp"

#include <cmath>

#include "capture/mat.hpp"
#include "grid/filling.hpp"
#include "multigrid/setup/ghost_points.hpp"
#include "multigrid/setup/coarse_grids.hpp"
#include "multigrid/refusals.hpp"

namespace shellac {

namespace {

// What rows are not, in the order of what is said first; with what serves such a matrix.
enum Problem { none, no_diagonal, far_ones, not_finite };
const char *const problems[] = {
    "", "has zeros on its diagonal; use -pc_type jacobi, which leaves those rows as they are, or none", far_couplings,
    not_a_number};
const char *const opposite_signs = "couples points with opposite signs" SHELLAC_ILU_OR_AIJ;

// ---- the rows of runs of points

// The diagonal entries go to INVERSE_DIAGONAL for the time being.
struct ReadRows {
  RowsBeside   rows;
  PetscScalar *fixed, *far; // far: null, or entries two steps away [2 axes][points of grown], zero before

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, RowFindings *found) const {
    const size_t at = rows.place_of(p);
    PetscScalar *shift = rows.level.slot(SHIFT) + at, entry[27][most], sum[most];
    PetscReal    others[most];
    bool         alone[most], zeros = false, any_far = false, finite = true;
    rows.read(
        p, n, [&](int arm) { return entry[arm]; },
        [&](int way) { return far ? far + way * rows.level.points() + at : nullptr; }, others);

    const PetscScalar *diagonal = entry[rows.neighbours.count];
    for (int i = 0; i < n; i++) {
      sum[i] = diagonal[i];
      rows.level.slot(INVERSE_DIAGONAL)[at + i] = diagonal[i];
      finite &= diagonal[i] - diagonal[i] == (PetscScalar)0 && others[i] - others[i] == 0;
      zeros |= diagonal[i] == (PetscScalar)0;
      any_far |= others[i] != 0;
      alone[i] = others[i] == 0;
    }
    for (int arm = 0; arm < rows.neighbours.count; arm++) {
      const PetscScalar *e = entry[arm];
      PetscScalar       *c = rows.neighbours.at[arm].coupling + at;
      for (int i = 0; i < n; i++) {
        finite &= e[i] - e[i] == (PetscScalar)0;
        alone[i] &= e[i] == (PetscScalar)0;
        sum[i] += e[i];
        c[i] = PetscScalar(0) - e[i];
      }
    }
    for (int way = 0; far && way < 6; way++)
      for (int i = 0; i < n; i++) {
        const PetscScalar e = far[way * rows.level.points() + at + i];
        finite &= e - e == (PetscScalar)0;
        alone[i] &= e == (PetscScalar)0;
        sum[i] += e;
      }
    for (int i = 0; i < n; i++) {
      fixed[at + i] = alone[i] && diagonal[i] != (PetscScalar)0 ? (PetscScalar)1 / diagonal[i] : (PetscScalar)0;
      if (alone[i] || PetscAbsScalar(sum[i]) <= cancellation * PetscAbsScalar(diagonal[i])) sum[i] = 0;
      shift[i] = sum[i];
    }
    found->find(no_diagonal, zeros);
    found->find(far_ones, any_far);
    found->find(not_finite, !finite);
  }
};

// A coupling two steps away, as of differences of fourth order, becomes one twice as large of the point between with each of
// the two: the second moment and the symmetry of rows stay, and their sums. Cycles for these rows precondition the operator.
struct AddFar {
  CouplingArrays     rows;
  NeighbourList      neighbours;
  const PetscScalar *far, *fixed; // a fixed point between two others gets no coupling

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, RowFindings *found) const {
    const size_t at = rows.grown.index(p);
    PetscReal    size[most], added[most];
    fill_run(size, n, PetscReal(0));
    fill_run(added, n, PetscReal(0));
    for (int arm = 0; arm < neighbours.count; arm++) {
      const Neighbour &to = neighbours.at[arm];
      PetscScalar     *c = to.coupling + at;
      for (int a = 0; a < 3; a++) {
        if (!to.d[a] || to.d[(a + 1) % 3] || to.d[(a + 2) % 3]) continue;
        const PetscScalar *own = far + (2 * a + (to.d[a] > 0)) * rows.points() + at, *before = own - to.step;
        for (int i = 0; i < n; i++) {
          const PetscScalar more = fixed[at + i] == (PetscScalar)0 ? 2 * (own[i] + before[i]) : (PetscScalar)0;
          c[i] -= more;
          added[i] += PetscAbsScalar(more);
        }
      }
      for (int i = 0; i < n; i++) size[i] += PetscAbsScalar(c[i]);
    }
    for (int i = 0; i < n; i++) {
      if (added[i] != 0) found->flags.near = 1;
      found->find(far_ones, added[i] > size[i]); // as of the biharmonic operator, which has no second moment
    }
  }
};

// Fixed values are zero in corrections: what couples to them is a shift.
struct LeaveFixed {
  CouplingArrays     rows;
  NeighbourList      neighbours;
  const PetscScalar *fixed;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = rows.grown.index(p);
    PetscScalar *shift = rows.slot(SHIFT) + at;
    for (int arm = 0; arm < neighbours.count; arm++) {
      const PetscScalar *there = fixed + at + neighbours.at[arm].step;
      PetscScalar       *c = neighbours.at[arm].coupling + at;
      for (int i = 0; i < n; i++) {
        if (there[i] == (PetscScalar)0 || c[i] == (PetscScalar)0) continue;
        shift[i] += c[i], c[i] = 0;
      }
    }
  }
};

struct SurveyRows {
  Patch              patch;
  CouplingArrays     rows;
  NeighbourList      neighbours;
  const PetscScalar *fixed;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, RowFindings *found) const {
    const size_t       at = rows.grown.index(p);
    const PetscScalar *shift = rows.slot(SHIFT) + at;
    const PetscScalar *diagonal = rows.slot(INVERSE_DIAGONAL) + at;
    RowFlags          &flags = found->flags;
    PetscReal          size[most]; // of a row's couplings
    bool               equal = true;

    if (!are_symmetric(rows, neighbours, at, n, rounding, diagonal, &equal)) flags.weighted = 1;
    if (!equal) flags.unequal = 1;
    fill_run(size, n, PetscReal(0));
    SHELLAC_UNROLL
    for (int arm = 0; arm < neighbours.count; arm++) {
      const PetscInt    *d = neighbours.at[arm].d;
      const PetscScalar *c = neighbours.at[arm].coupling + at;
      const int          axes = (d[0] != 0) + (d[1] != 0) + (d[2] != 0);
      PetscReal          sum = 0;
      int                positive = 0, some = 0;
      for (int i = 0; i < n; i++) {
        sum += PetscAbsScalar(c[i]);
        size[i] += PetscAbsScalar(c[i]);
        positive += PetscRealPart(c[i]) > 0;
        some += c[i] != (PetscScalar)0;
      }
      if (positive) flags.positive = 1;
      if (positive < some) flags.negative = 1;
      SHELLAC_UNROLL_ALL
      for (int a = 0; a < 3; a++)
        if (axes == 1 && d[a]) found->sums[a][0] += sum, found->sums[a][1] += some;
    }
    for (int i = 0; i < n; i++) {
      if (fixed[at + i] != (PetscScalar)0) {
        const PetscInt q[3] = {p[0] + i, p[1], p[2]};
        bool           at_end = false;
        for (int a = 0; a < 3; a++)
          for (Side e : {LOWER, UPPER})
            at_end = at_end || (patch.N[a] > 1 && !patch.periodic[a] && patch.at_domain_end(q, a, e));
        flags.fixed = 1;
        if (!at_end) flags.obstacles = 1;
      }
      if (shift[i] != (PetscScalar)0) flags.shifted = 1;
      if (PetscRealPart(shift[i] * PetscConj(diagonal[i])) < 0) flags.opposite = 1;
      if (size[i] > 0) found->most = PetscMax(found->most, size[i] / PetscAbsScalar(diagonal[i]));
    }
    SHELLAC_UNROLL_ALL // the sums are then in registers
        for (int a = 0; a < 3; a++) SHELLAC_UNROLL_ALL for (int e = 0; e < 2; e++) {
      const int      last = a == 0 && e == UPPER ? n - 1 : 0; // of the run, along this axis
      const PetscInt end[3] = {p[0] + last, p[1], p[2]};
      if (!patch.at_domain_end(end, a, (Side)e)) continue;
      for (int i = last; i < (a ? n : last + 1); i++) {
        if (fixed[at + i] == (PetscScalar)0) flags.other_ends[a][e] = 1;
        found->sums[a][2 + e] += PetscAbsScalar(shift[i]);
      }
    }
  }
};

// Of a row's weight to the first row's. Where weights differ by more, as against a strong wind, transfers of their own serve
// rows better.
constexpr PetscReal most_range = 1e12;

// Masses, and whether they make the rows symmetric.
struct CheckMasses {
  CouplingArrays rows;
  NeighbourList  neighbours;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, RowFindings *found) const {
    const size_t at = rows.grown.index(p);
    bool         within = true, numbers = true, equal = true;
    for (int i = 0; i < n; i++) {
      const PetscReal size = PetscAbsScalar(rows.mass[at + i]);
      within &= size * most_range >= 1 && size <= most_range;
      numbers &= size > 0 && size - size == 0;
    }
    if (!within) found->flags.wide = 1;
    if (!numbers) found->flags.overflow = 1;
    if (!are_symmetric(rows, neighbours, at, n, rounding, rows.slot(INVERSE_DIAGONAL) + at, &equal))
      found->flags.nonsymmetric = 1;
  }
};

// What some rank's rows have besides a star's couplings of neighbours: those across edges or corners, and two steps away.
struct Reach {
  int box = 0, far = 0;
};
PetscErrorCode get_reach(const Grid &grid, const CapturedStencil &op, Reach *reach) { // collective
  PetscFunctionBegin;
  for (int arm = 0; arm < op.arms().count(); arm++) {
    PetscInt d[3];
    for (int a = 0; a < 3; a++) d[a] = grid.N[a] > 1 ? op.arms().step(arm)[a] : 0;
    if (!op.uses(arm)) continue;
    if ((d[0] != 0) + (d[1] != 0) + (d[2] != 0) > 1) reach->box = 1;
    if (RowsBeside::two_steps(d) >= 0) reach->far = 1;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, reach, 2, MPI_INT, MPI_MAX, grid.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The axes beside the rows.
void set_axes(const Grid &grid, const RowFindings &found, Axis axes[3]) {
  for (int a = 0; a < 3; a++) {
    const PetscInt   N = grid.N[a];
    const PetscReal *sums = found.sums[a], mean = sums[1] > 0 ? sums[0] / sums[1] : 0;
    const PetscReal  end_points = (PetscReal)grid.N[0] * grid.N[1] * grid.N[2] / N;
    bool             free_end[2]; // nothing beyond
    for (int e = 0; e < 2; e++) free_end[e] = sums[2 + e] <= PetscReal(0.01) * mean * end_points;
    axes[a] = axis_beside_rows(N, grid.periodic(a), !found.flags.other_ends[a][0] && !found.flags.other_ends[a][1],
                               mean, free_end);
  }
}

// The ways of values of points beside a rank's, which others have or which are images, in an array over a box around it.
PetscErrorCode connect_ghosts(const Grid &links, const Patch &patch, const Box &grown, HaloWay way, Filling *ghosts) {
  FillingBoxes boxes;

  PetscFunctionBegin;
  boxes.own = boxes_of(links);
  for (int a = 0; a < 3; a++) boxes.period[a] = patch.periodic[a] ? patch.N[a] : 0;
  for (Box wanted : boxes.own) {
    for (int a = 0; a < 3; a++) {
      wanted.lo[a] += grown.lo[a], wanted.hi[a] -= grown.lo[a];
      if (!boxes.period[a]) wanted.lo[a] = PetscMax(wanted.lo[a], 0), wanted.hi[a] = PetscMin(wanted.hi[a], patch.N[a]);
    }
    boxes.wanted.push_back(wanted);
  }
  for (int a = 0; a < 3; a++) {
    boxes.from.lo[a] = grown.lo[a] + patch.start[a];
    boxes.from.hi[a] = grown.hi[a] + patch.start[a];
  }
  boxes.to = boxes.from;
  PetscCall(ghosts->Create(links.comm, boxes, way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatStencilGetCouplings(StencilMat *context, PetscMemType memory, OperatorRows *rows,
                                      SetupFindings *result) {
  enum { OF_ROWS, OF_FAR, OF_SURVEY, sums };
  const Grid                       &grid = context->grid;
  Couplings                        &couplings = rows->couplings;
  const Grid                        links = with_links(grid);
  Arrays                            arrays(memory);
  Halo                              halo;
  Filling                           ghosts; // of several ranks' GPUs
  PetscScalar                      *fixed = nullptr;
  PetscMPIInt                       ranks;
  Reach                             reach;
  Mirror<PetscScalar>               memory_of_far;
  PetscScalar                      *far = nullptr;
  RowFindings                       found;
  std::vector<RowFindings>          here;
  std::unique_ptr<PreparedOperator> op;

  PetscFunctionBegin;
  *result = {};
  rows->comm = grid.comm;
  rows->memory = memory;
  rows->nonsymmetric = false;
  PetscCallMPI(MPI_Comm_size(grid.comm, &ranks));
  Patch patch = links.owned_patch();
  patch.width = 1;
  for (int a = 0; a < 3; a++) {
    patch.periodic[a] = grid.periodic(a);
    couplings.neighbours.present[a] = grid.N[a] > 1;
  }
  PetscCall(get_reach(grid, static_cast<CapturedStencil &>(*context->op), &reach));
  couplings.neighbours.star = !reach.box;
  couplings.grown = patch.all();
  for (int a = 0; a < 3; a++) { // on one rank as many as the level needs
    const PetscInt reach = ranks == 1 ? level_reach(patch, a) : PetscMin(level_reach(patch, a), 1);
    couplings.grown.lo[a] -= reach;
    couplings.grown.hi[a] += reach;
  }
  rows->box = couplings.grown;
  PetscCall(couplings.MakeZero(memory));
  PetscCall(rows->fixed.MakeZero(memory, couplings.points(), &fixed));
  if (reach.far) PetscCall(memory_of_far.MakeZero(memory, 6 * couplings.points() + room_after_rows, &far));
  PetscCall(rows->findings.Grow(sums, memory));
  PetscCall(rows->findings.Zero(memory));
  const bool of_gpus = ranks > 1 && PetscMemTypeDevice(memory);
  if (of_gpus)
    PetscCall(connect_ghosts(links, patch, couplings.grown, context->halo_way, &ghosts));
  else
    PetscCall(halo.Create(links, patch, true, PETSC_FALSE, HaloWay::automatic));
  const auto fill = [&](PetscScalar *values, int count) {
    PetscFunctionBegin;
    if (!of_gpus) PetscCall(fill_ghosts(memory, patch, &halo, couplings.grown, values, count));
    for (int n = 0; of_gpus && n < count; n++, values += couplings.points()) PetscCall(ghosts.Run(values, values));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  NeighbourList neighbours(couplings);
  const auto    survey = [&](int n, const auto &f) {
    return sum_runs(memory, patch.all(), f, &rows->parts, rows->findings.at(memory) + n);
  };
  // What all ranks have found so far.
  const auto share = [&]() {
    PetscFunctionBegin;
    PetscCall(rows->findings.GetHost(memory, &here));
    found = RowFindings();
    for (const RowFindings &one : here) found.add(one);
    PetscCall(found.Share(grid.comm));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscCall(context->Prepare(context->op.get(), &arrays, &op));
  const auto &coefficients = static_cast<PreparedCapture &>(*op).coefficients();
  PetscCall(survey(OF_ROWS, ReadRows{{patch, coefficients, couplings, neighbours, {0, 0, 0}}, fixed, far}));
  PetscCall(arrays.Restore());
  if (far) {
    PetscCall(fill(far, 6));
    PetscCall(survey(OF_FAR, AddFar{couplings, neighbours, far, fixed}));
  }
  PetscCall(fill(fixed, 1));
  PetscCall(for_each_run(memory, patch.all(), LeaveFixed{couplings, neighbours, fixed}));
  PetscCall(fill(couplings.values, couplings.slots()));
  PetscCall(survey(OF_SURVEY, SurveyRows{patch, couplings, neighbours, fixed}));
  PetscCall(share());
  PetscCall(ghosts.Destroy(true));

  for (const auto &of_axis : found.sums)
    for (const PetscReal sum : of_axis)
      if (!std::isfinite(sum)) found.flags.problem = not_finite; // of finite entries, too
  result->refusal = problems[found.flags.problem];
  result->cause = found.flags.problem == not_finite               ? SetupFindings::not_finite
                  : found.flags.problem == far_ones && !reach.far ? SetupFindings::couplings
                                                                  : SetupFindings::values;
  // finite elements may do so with the neighbours in a box
  rows->mixed_signs = found.flags.positive && found.flags.negative && !reach.box;
  rows->weighted = found.flags.weighted;
  if (result->refusal.empty() && rows->mixed_signs && !rows->weighted) result->refusal = opposite_signs;
  rows->near = found.flags.near;
  rows->has_fixed = found.flags.fixed;
  rows->has_obstacles = found.flags.obstacles;
  rows->opposite = found.flags.opposite;
  rows->equal_pairs = !found.flags.unequal;
  rows->singular = !found.flags.fixed && !found.flags.shifted;
  set_axes(grid, found, rows->axes);
  rows->ratio = found.most;
  if (!(of_gpus && rows->weighted)) PetscCall(CompleteRows(patch, &halo, rows));
  if (!of_gpus) PetscCall(halo.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CompleteRows(const Patch &patch, Halo *halo, OperatorRows *rows) {
  const PetscMemType memory = rows->memory;
  Couplings         &couplings = rows->couplings;

  PetscFunctionBegin;
  if (rows->weighted) {
    RowFindings found;
    bool        overflow = false;
    PetscCall(couplings.MakeMass(memory));
    if (PetscMemTypeDevice(memory))
      PetscCall(get_masses(memory, patch, couplings, &rows->masses));
    else
      PetscCall(get_masses_on_host(rows->comm, patch, halo, couplings, &overflow));
    PetscCall(get_sum_of_runs(memory, patch.all(), CheckMasses{couplings, NeighbourList(couplings)}, &found));
    if (overflow) found.flags.overflow = 1;
    PetscCall(found.Share(rows->comm));
    rows->nonsymmetric = found.flags.nonsymmetric || found.flags.wide || found.flags.overflow || rows->mixed_signs;
    if (rows->nonsymmetric) couplings.DropMass();
  }
  PetscCall(invert_diagonals(memory, couplings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
