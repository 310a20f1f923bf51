#pragma once
// Interpolation that follows variable coefficients, and coarse rows from it, at runs of points: for host and device.
// Alcouffe, Brandt, Dendy and Painter, "The multi-grid method for the diffusion equation with strongly discontinuous
// coefficients" (1981), and Dendy, "Black box multigrid" (1982), written once for stars and boxes of any dimension.
//
// The points of a run lie alike between coarse ones: next to each other or, where the first axis is coarsened, `stride`
// apart.

#include "multigrid/setup/coarse_runs.hpp"

namespace shellac {

// ---- rows that are not symmetric -----------------------------------------------------------------------------------

// What transfers follow where rows are not symmetric: interpolation their symmetric part, and restriction, in its transpose,
// the transposed rows (Dendy, "Black box multigrid for nonsymmetric problems", 1983). Only couplings of the diagonal's sign
// count, so that no weight is beyond 0 to 1. The rows of transposed cycles are all of the transpose.
struct DeriveRows {
  CouplingArrays from, to;
  NeighbourList  neighbours; // of from
  DerivedRows    which;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t       at = from.grown.index(p);
    const bool         all = which == DerivedRows::all_of_transpose;
    const PetscReal    of_own = which == DerivedRows::symmetric_part ? 0.5 : 0, of_others = 1 - of_own;
    const PetscScalar *own_shift = from.slot(SHIFT) + at;
    PetscScalar        diagonal[most], shift[most]; // the latter: of the transposed row

    for (int i = 0; i < n; i++) diagonal[i] = own_shift[i];
    for (int arm = 0; arm < neighbours.count; arm++)
      for (int i = 0; i < n; i++) diagonal[i] += neighbours.at[arm].coupling[at + i];
    const auto keep = [&](int slot, int i, PetscScalar value) {
      const bool serves = all || PetscRealPart(value * PetscConj(diagonal[i])) > 0;
      to.slot(slot)[at + i] = serves ? value : (PetscScalar)0;
    };
    for (int i = 0; i < n; i++) shift[i] = diagonal[i];
    for (int arm = 0; arm < neighbours.count; arm++) {
      const Neighbour   &other = neighbours.at[arm];
      const PetscScalar *own = other.coupling + at, *back = neighbours.at[other.back].coupling + at + other.step;
      for (int i = 0; i < n; i++) {
        shift[i] -= back[i];
        keep(FIRST_COUPLING + arm, i, of_own * own[i] + of_others * back[i]);
      }
    }
    for (int i = 0; i < n; i++) {
      if (!all && PetscAbsScalar(shift[i]) <= cancellation * PetscAbsScalar(diagonal[i])) shift[i] = 0;
      keep(SHIFT, i, of_own * own_shift[i] + of_others * shift[i]);
      to.slot(INVERSE_DIAGONAL)[at + i] = from.slot(INVERSE_DIAGONAL)[at + i];
    }
  }
};

// ---- interpolation -------------------------------------------------------------------------------------------------

struct Weights {
  CouplingArrays fine;
  GridCoarsening coarsening;
  PetscScalar   *w; // [corners][points of grown]
};

// Of n points from p on, coarse ones themselves.
template <int stride> SHELLAC_RUN void set_kept_run(const Weights &of, const PetscInt p[3], int n) {
  const GridCoarsening &c = of.coarsening;
  const size_t          at = of.fine.grown.index(p);
  const PetscScalar    *inverse = of.fine.slot(INVERSE_DIAGONAL) + at;
  PetscInt              first[3];
  bool                  inside = true;
  for (int a = 0; a < 3; a++) {
    first[a] = c.below(a, p[a]);
    if (a > 0) inside = inside && (c.patch.periodic[a] || (first[a] >= 0 && first[a] < c.coarse_N[a]));
  }
  if (!inside) return;
  for (int i = 0; i < n; i++)
    if (inverse[i * stride] != (PetscScalar)0 &&
        (c.patch.periodic[0] || (first[0] + i >= 0 && first[0] + i < c.coarse_N[0])))
      of.w[at + i * stride] = 1;
}

// Of n points from p on, which lie between coarse ones along some axes: they take the value at which their row, summed
// up along the other axes, is zero. Couplings that lead to no value are left out, as those around the corner of an obstacle
// whose inside is between the coarse points: a constant would not stay one. Where the compiler knows the arms and axes, a
// GPU has all of it in registers.
template <int stride, int most, class Point, class Axes>
SHELLAC_RUN void set_run_between(const Weights &of, const PetscInt p[3], const Point &point, const Axes &between,
                                 int n) {
  const size_t       at = of.fine.grown.index(p), points = of.fine.points();
  const PetscScalar *shift = of.fine.slot(SHIFT) + at, *inverse = of.fine.slot(INVERSE_DIAGONAL) + at;
  PetscScalar        side[3][2][most], sum[most], coupling[most], w[most];
  PetscInt           to[3], from[3], d[3], s[3], back[3];

  for (int a = 0; a < 3; a++)
    for (int e = 0; e < 2; e++) fill_run(side[a][e], n, PetscScalar(0));
  fill_run(sum, n, PetscScalar(0));
  SHELLAC_UNROLL_KNOWN
  for (int arm = 0; arm < point.arms(); arm++) {
    const PetscScalar *c = of.fine.slot(FIRST_COUPLING + arm) + at;
    PetscInt           q[3];
    bool               leads_on = false;
    for (int a = 0; a < 3; a++) {
      d[a] = between[a] ? point.step(arm, a) : 0;
      q[a] = p[a] + d[a];
      leads_on = leads_on || d[a];
    }
    if (!leads_on) continue;
    fill_run(w, n, PetscScalar(0)); // all that q takes from coarse points
    SHELLAC_UNROLL_KNOWN
    for (to[2] = 0; to[2] <= (between[2] && !d[2]); to[2]++) SHELLAC_UNROLL_KNOWN
    for (to[1] = 0; to[1] <= (between[1] && !d[1]); to[1]++) SHELLAC_UNROLL_KNOWN
    for (to[0] = 0; to[0] <= (between[0] && !d[0]); to[0]++) {
      const PetscScalar *its = of.w + of.coarsening.corner(to) * points + of.fine.grown.index(q);
      SHELLAC_COLUMNS
      for (int i = 0; i < n; i++) w[i] += its[i * stride];
    }
    SHELLAC_COLUMNS
    for (int i = 0; i < n; i++) coupling[i] = w[i] == (PetscScalar)0 ? (PetscScalar)0 : c[i * stride];
    SHELLAC_UNROLL_ALL
    for (int m = 0; m < 6; m++) {
      const int a = m / 2, e = m % 2;
      if (d[a] != 2 * e - 1) continue;
      SHELLAC_COLUMNS
      for (int i = 0; i < n; i++) side[a][e][i] += coupling[i];
    }
    SHELLAC_COLUMNS
    for (int i = 0; i < n; i++) sum[i] += coupling[i];
  }
  // What the row has besides differences pulls the value to zero. Beside an end of the domain along another axis it
  // does that to the coarse points, too, and is left out; unless it is so much that the coarse points will differ.
  for (int i = 0; i < n; i++) {
    const PetscScalar s = shift[i * stride];
    bool              at_end = false;
    for (int a = 0; a < 3; a++)
      at_end = at_end || (between[a] && (side[a][0][i] == (PetscScalar)0 || side[a][1][i] == (PetscScalar)0));
    if (at_end || PetscAbsScalar(s) > 2 * PetscAbsScalar(sum[i])) sum[i] += s;
    if (inverse[i * stride] == (PetscScalar)0) sum[i] = 0;
  }
  // A coarse point's weight comes by the steps that lead to it, and by those that stay beside it along some axes.
  const PetscInt aside[3] = {!between[0], !between[1], !between[2]};
  SHELLAC_UNROLL_KNOWN
  for (to[2] = 0; to[2] <= between[2]; to[2]++) SHELLAC_UNROLL_KNOWN
  for (to[1] = 0; to[1] <= between[1]; to[1]++) SHELLAC_UNROLL_KNOWN
  for (to[0] = 0; to[0] <= between[0]; to[0]++) {
    fill_run(w, n, PetscScalar(0));
    SHELLAC_UNROLL_KNOWN
    for (back[2] = 0; back[2] <= between[2]; back[2]++) SHELLAC_UNROLL_KNOWN
    for (back[1] = 0; back[1] <= between[1]; back[1]++) SHELLAC_UNROLL_KNOWN
    for (back[0] = 0; back[0] <= between[0]; back[0]++) {
      PetscInt q[3];
      for (int a = 0; a < 3; a++) {
        d[a] = back[a] ? 2 * to[a] - 1 : 0;
        from[a] = back[a] ? 0 : to[a];
        q[a] = p[a] + d[a];
      }
      if (!d[0] && !d[1] && !d[2]) continue;
      bool met = false;
      fill_run(coupling, n, PetscScalar(0));
      SHELLAC_UNROLL_KNOWN
      for (s[2] = d[2] - aside[2]; s[2] <= d[2] + aside[2]; s[2]++) SHELLAC_UNROLL_KNOWN
      for (s[1] = d[1] - aside[1]; s[1] <= d[1] + aside[1]; s[1]++) SHELLAC_UNROLL_KNOWN
      for (s[0] = d[0] - aside[0]; s[0] <= d[0] + aside[0]; s[0]++) {
        const int arm = point.arm_at(s[0], s[1], s[2]);
        if (arm < 0) continue;
        met = true;
        const PetscScalar *c = of.fine.slot(FIRST_COUPLING + arm) + at;
        SHELLAC_COLUMNS
        for (int i = 0; i < n; i++) coupling[i] += c[i * stride];
      }
      if (!met) continue;
      const PetscScalar *its = of.w + of.coarsening.corner(from) * points + of.fine.grown.index(q);
      SHELLAC_COLUMNS
      for (int i = 0; i < n; i++) w[i] += coupling[i] * its[i * stride];
    }
    PetscScalar *out = of.w + of.coarsening.corner(to) * points + at;
    for (int i = 0; i < n; i++) out[i * stride] = sum[i] == (PetscScalar)0 ? PetscScalar(0) : w[i] / sum[i];
  }
}

// ---- the coarse operator -------------------------------------------------------------------------------------------

struct Product {
  CouplingArrays     fine, coarse;
  NeighbourList      neighbours, coarse_neighbours;
  const PetscScalar *w[8], *restriction[8]; // [corners], of a point
  const PetscScalar *total;                 // of a point's w
  int                corner_step[3];
  bool               one[3]; // the coarse axis has one point: neighbours along it are the point itself

  Product(const CouplingArrays &of, const GridCoarsening &coarsening, const PetscScalar *weights,
          const PetscScalar *transposed, const Patch &coarse_patch, const CouplingArrays &to, const PetscScalar *sums)
      : fine(of), coarse(to), neighbours(of), coarse_neighbours(to), total(sums) {
    for (int c = 0; c < coarsening.corners(); c++) {
      w[c] = weights + c * of.points();
      restriction[c] = transposed + c * of.points();
    }
    for (int a = 0; a < 3; a++) {
      const PetscInt unit[3] = {a == 0, a == 1, a == 2};
      corner_step[a] = coarsening.corner(unit);
      one[a] = coarse_patch.N[a] == 1;
    }
  }
};

template <class Point, class Arm> SHELLAC_RUN int coarse_place(const Point &point, Arm arm) {
  return step_place(point.coarse_step(arm, 0), point.coarse_step(arm, 1), point.coarse_step(arm, 2));
}

// What is left of rows once their couplings, shifts, and the size of what cancels in these are summed up.
template <int most, class Point>
SHELLAC_RUN void finish_coarse_run(const Product &of, const Point &point, size_t here, int n,
                                   const PetscScalar to[27][most], PetscScalar *shift, const PetscReal *size) {
  PetscScalar diagonal[most];
  // The row's own entry is no measure: of a coarse point alone in a closed domain it is rounding, too.
  for (int i = 0; i < n; i++)
    if (PetscAbsScalar(shift[i]) <= cancellation * size[i]) shift[i] = 0;
  for (int i = 0; i < n; i++) of.coarse.slot(SHIFT)[here + i] = diagonal[i] = shift[i];
  for_each_coarse_arm(point, [&](auto arm) {
    const PetscScalar *sum = to[coarse_place(point, arm)];
    PetscScalar       *coupling = of.coarse_neighbours.at[arm].coupling + here;
    SHELLAC_COLUMNS
    for (int i = 0; i < n; i++) coupling[i] = sum[i], diagonal[i] += sum[i];
  });
  invert_run(diagonal, of.coarse.slot(INVERSE_DIAGONAL) + here, n);
}

// The rows of n coarse points, from one on that has the place `here`.
template <int stride, int most, class Point>
SHELLAC_RUN void set_coarse_run(const Product &of, const Point &point, size_t here, int n) {
  constexpr int center = 13;
  PetscScalar   weight[most], diagonal[most], value[most], shift[most],
      to[27][most];     // of the center: its entry, negative
  PetscReal size[most]; // of what cancels in a shift

  fill_run(shift, n, PetscScalar(0));
  fill_run(size, n, PetscReal(0));
  fill_run(to[center], n, PetscScalar(0));
  const auto corner_at = [&](const int c[3]) { // among a point's
    if (Point::known) return c[0] + 2 * c[1] + 4 * c[2];
    return c[0] * of.corner_step[0] + c[1] * of.corner_step[1] + c[2] * of.corner_step[2];
  };
  for_each_coarse_arm(point, [&](auto arm) { fill_run(to[coarse_place(point, arm)], n, PetscScalar(0)); });
  const auto add_fine_point = [&](auto x, auto y, auto z) {
    const int s[3] = {x, y, z};
    PetscInt  p[3];
    int       corner[3];
    if (!find_corner(point, s, p, corner)) return;
    const size_t       at = of.fine.grown.index(p);
    const PetscScalar *w = of.restriction[corner_at(corner)] + at, *mass = of.fine.mass ? of.fine.mass + at : nullptr,
                      *total = of.total + at, *own = of.fine.slot(SHIFT) + at;
    SHELLAC_COLUMNS
    for (int i = 0; i < n; i++) weight[i] = w[i * stride];
    if (mass) {
      SHELLAC_COLUMNS
      for (int i = 0; i < n; i++) weight[i] *= mass[i * stride];
    }
    SHELLAC_COLUMNS
    for (int i = 0; i < n; i++) {
      diagonal[i] = own[i * stride];
      shift[i] += weight[i] * own[i * stride] * total[i * stride];
    }
    for_each_arm(point, [&](auto arm) {
      const bool         is_self = arm == point.arms();
      const PetscInt64   step = is_self ? 0 : of.neighbours.at[arm].step;
      const PetscScalar *coupling = is_self ? nullptr : of.neighbours.at[arm].coupling + at, *other = total + step;
      int                first[3], last[3];
      if (!is_self) {
        SHELLAC_COLUMNS
        for (int i = 0; i < n; i++) {
          diagonal[i] += coupling[i * stride];
          value[i] = weight[i] * coupling[i * stride];
          shift[i] += value[i] * (total[i * stride] - other[i * stride]);
        }
      } else {
        SHELLAC_COLUMNS
        for (int i = 0; i < n; i++) {
          value[i] = -weight[i] * diagonal[i];
          size[i] += PetscAbsScalar(value[i]);
        }
      }
      SHELLAC_UNROLL_ALL
      for (int a = 0; a < 3; a++) {
        const int to_a = s[a] + (is_self ? 0 : point.step(arm, a));
        first[a] = point.below(a, to_a);
        last[a] = point.between(a, to_a);
      }
      SHELLAC_UNROLL_ALL
      for (int m = 0; m < 8; m++) {
        const int c[3] = {m & 1, m >> 1 & 1, m >> 2};
        int       J[3];
        if (c[0] > last[0] || c[1] > last[1] || c[2] > last[2]) continue;
        SHELLAC_UNROLL_ALL
        for (int a = 0; a < 3; a++) J[a] = of.one[a] && !Point::known ? 0 : first[a] + c[a];
        const PetscScalar *its = of.w[corner_at(c)] + at + step;
        PetscScalar       *sum = to[step_place(J[0], J[1], J[2])];
        SHELLAC_COLUMNS
        for (int i = 0; i < n; i++) sum[i] += value[i] * its[i * stride];
      }
    });
  };
  for_each_step<2>(point, [&](auto z) {
    for_each_step<1>(point, [&](auto y) { for_each_step<0>(point, [&](auto x) { add_fine_point(x, y, z); }); });
  });
  finish_coarse_run<most>(of, point, here, n, to, shift, size);
}

} // namespace shellac
