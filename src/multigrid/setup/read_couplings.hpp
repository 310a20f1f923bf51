#pragma once
// Reads an operator as couplings of neighbouring points, from its rows.

#include "capture/coefficients.hpp"
#include "multigrid/couplings.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/setup/findings.hpp"
#include "multigrid/setup/masses.hpp"
#include "multigrid/setup/row_changes.hpp"
#include "stencil/mat.hpp"

namespace shellac {

// What a set-up finds at the points of a rank.
struct RowFlags {
  // fixed points; such not at an end; shifts, and any of the sign opposite to the diagonal's; couplings that are symmetric
  // only with weights, if at all: not at all, of a wide range or beyond that of numbers; couplings of each sign; rows that
  // are near the operator's: see AddFar
  int problem, fixed, obstacles, shifted, opposite, weighted, unequal, nonsymmetric, wide, overflow, positive, negative,
      near;
  int other_ends[3][2]; // ends with points that are not fixed
};
// sums: of an axis: couplings and how many; shifts at its lower and upper end. most: the sum of a row's couplings over its
// diagonal entry
using RowFindings = Findings<RowFlags, PetscReal[3][4], PetscReal>;

// Captured rows of one unknown a point, beside a level's couplings.
struct RowsBeside {
  Patch                             patch; // this rank's points
  CapturedCoefficients<PetscScalar> from;
  CouplingArrays                    level;
  NeighbourList                     neighbours;
  PetscInt                          offset[3]; // from the patch to the level's

  // 2 axis + end of two steps along one axis, or less than zero.
  SHELLAC_RUN static int two_steps(const PetscInt d[3]) {
    int found = -1;
    for (int a = 0; a < 3; a++)
      if (d[a] * d[a] == 4 && !d[(a + 1) % 3] && !d[(a + 2) % 3]) found = 2 * a + (d[a] > 0);
    return found;
  }
  // The place of a point's row in the level's arrays.
  SHELLAC_RUN size_t place_of(const PetscInt p[3]) const {
    const PetscInt q[3] = {p[0] + offset[0], p[1] + offset[1], p[2] + offset[2]};
    return level.grown.index(q);
  }
  // The entries of n rows from p on: to(arm) is the array for those of an arm, or, after the last arm, of the point itself.
  // far(2 axis + end): to what those two steps along an axis are added, or null. others: the absolute values of all others.
  template <class To, class Far>
  SHELLAC_RUN void read(const PetscInt p[3], int n, const To &to, const Far &far, PetscReal *others) const {
    const size_t at = patch.index(p[0], p[1], p[2]);
    const int    center = neighbours.count;
    unsigned     met = 0; // arms, a bit each
    fill_run(others, n, PetscReal(0));
    for (int s = 0; s < from.count; s++) {
      PetscInt d[3]; // along an axis of one point all columns are the point itself
      for (int a = 0; a < 3; a++) d[a] = patch.N[a] > 1 ? from.slot[s].step[a] : 0;
      const bool near = d[0] * d[0] <= 1 && d[1] * d[1] <= 1 && d[2] * d[2] <= 1,
                 is_self = near && !d[0] && !d[1] && !d[2];
      const int    arm = is_self ? center : near ? neighbours.arm_at[step_place(d[0], d[1], d[2])] : -1;
      const bool   is_first = arm >= 0 && !(met >> arm & 1);
      PetscScalar *sum = arm >= 0 ? to(arm) : two_steps(d) >= 0 ? far(two_steps(d)) : nullptr;
      if (is_first) met |= 1u << arm;
      for (int i = 0; i < n; i++) {
        const PetscInt    q[3] = {p[0] + i, p[1], p[2]};
        const PetscScalar entry = from.value(from.rows(patch, q, at + i), s, at + i);
        if (is_first)
          sum[i] = entry;
        else if (sum)
          sum[i] += entry;
        else
          others[i] += PetscAbsScalar(entry);
      }
    }
    for (int arm = 0; arm <= center; arm++)
      if (!(met >> arm & 1)) fill_run(to(arm), n, PetscScalar(0));
    // around an axis of two points both neighbours are one, and share its coupling
    for (int a = 0; a < 3; a++)
      for (int arm = 0; patch.periodic[a] && patch.N[a] == 2 && arm < center; arm++) {
        PetscInt d[3] = {neighbours.at[arm].d[0], neighbours.at[arm].d[1], neighbours.at[arm].d[2]};
        if (d[a] != 1) continue;
        d[a] = -1;
        PetscScalar *up = to(arm), *down = to(neighbours.arm_at[step_place(d[0], d[1], d[2])]);
        for (int i = 0; i < n; i++) up[i] = down[i] = (up[i] + down[i]) / (PetscReal)2;
      }
  }
};

// Whether M A is symmetric in these rows, with masses M: but for so much, relative to couplings and diagonal entries.
// *equal: or but for rounding errors, relative to couplings alone.
SHELLAC_RUN bool are_symmetric(const CouplingArrays &rows, const NeighbourList &neighbours, size_t at, int n,
                               PetscReal most, const PetscScalar *diagonal, bool *equal) {
  const PetscScalar *m = rows.mass ? rows.mass + at : nullptr;
  bool               are = true;
  SHELLAC_UNROLL
  for (int arm = 0; arm < neighbours.count; arm++) {
    const Neighbour   &to = neighbours.at[arm];
    const PetscScalar *c = to.coupling + at, *back = neighbours.at[to.back].coupling + at + to.step;
    for (int i = 0; i < n; i++) {
      const PetscScalar one = m ? m[i] * c[i] : c[i], other = m ? m[i + to.step] * back[i] : back[i];
      const PetscReal   entry = PetscAbsScalar(m ? m[i] * diagonal[i] : diagonal[i]), off = PetscAbsScalar(one - other);
      are &= off <= most * PetscMax(entry, PetscAbsScalar(other));
      *equal &= off <= 4 * PETSC_MACHINE_EPSILON * PetscAbsScalar(other);
    }
  }
  return are;
}

// A bound on the eigenvalues of D^-1 A, by the sums of the rows' absolute entries.
struct RowBound {
  PetscReal high = 0;

  SHELLAC_HD void add(const RowBound &other) { high = PetscMax(high, other.high); }
};
struct BoundRows {
  CouplingArrays rows;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, RowBound *bound) const {
    PetscReal of_row[most];
    point::bound_run<most>(rows, rows.grown.index(p), n, of_row);
    for (int i = 0; i < n; i++) bound->high = PetscMax(bound->high, of_row[i]);
  }
};

// The rows of an operator on the rank's points and those next to them, with a grid of axes beside them that tells how far
// apart points are on average, and which ends are fixed nodes. fixed: 1/diagonal at identity rows, which couple
// nothing, and zero elsewhere, on the points of box; has_fixed: any rank has such; has_obstacles: not at an end.
// singular: constants are the null space. weighted: symmetric with weights alone, if at all. nonsymmetric: with any weights
// of a fair range; the rows have none then.
// mixed_signs: couplings of a star have both signs. near: in place of couplings two steps away there are others, see
// AddFar. opposite: shifts have the sign opposite to the diagonal's. equal_pairs: without masses rows are symmetric, but
// for rounding errors. ratio: see relaxations().
struct OperatorRows {
  MPI_Comm            comm = MPI_COMM_NULL;        // of the ranks that have the level's rows together
  PetscMemType        memory = PETSC_MEMTYPE_HOST; // of the arrays
  Couplings           couplings;
  Axis                axes[3];
  Mirror<PetscScalar> fixed;
  Box                 box;
  bool has_fixed = false, has_obstacles = false, singular = false, weighted = false, nonsymmetric = false,
       mixed_signs = false, opposite = false, near = false;
  bool                equal_pairs = false;
  PetscReal           ratio = PETSC_MAX_REAL;

  // Room for a set-up, and for the next one.
  Scratch<RowFindings> findings, parts;
  MassMemory           masses;
  Scratch<RowBound>    bounds, bound_parts;
  CoarsenRoom          coarsening;
  Scratch<PetscScalar> derived;
};

// Collective. Into that memory: a GPU's only where coefficients can be there. On several ranks' GPUs, weighted rows have to
// be completed.
PetscErrorCode MatStencilGetCouplings(StencilMat *context, PetscMemType memory, OperatorRows *rows,
                                      SetupFindings *result);
// Collective. With the masses of weighted rows, and inverse diagonals. On a GPU the patch is the whole grid, on each rank.
PetscErrorCode CompleteRows(const Patch &patch, Halo *halo, OperatorRows *rows);

} // namespace shellac
