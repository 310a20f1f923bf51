// Where interpolation and coarse rows are computed: in long runs on the host, a point a thread on a GPU.

#include <bitset>

#include "multigrid/setup/coarse_in_steps.hpp"

namespace shellac {

namespace {

struct InvertDiagonals {
  CouplingArrays rows;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = rows.grown.index(p);
    PetscScalar  sum[most];
    const int    slots = rows.slots();
    for (int i = 0; i < n; i++) sum[i] = rows.slot(SHIFT)[at + i];
    SHELLAC_UNROLL
    for (int slot = FIRST_COUPLING; slot < slots; slot++)
      for (int i = 0; i < n; i++) sum[i] += rows.slot(slot)[at + i];
    invert_run(sum, rows.slot(INVERSE_DIAGONAL) + at, n);
  }
};

// ---- interpolation

// Of a patch's points, those that lie between coarse ones along these axes and no others.
struct PointsBetween {
  bool     between[3];
  PetscInt first[3], apart[3], count[3];

  PointsBetween(const GridCoarsening &of, unsigned axes) {
    for (int a = 0; a < 3; a++) {
      const PetscInt size = of.patch.size[a];
      between[a] = axes >> a & 1;
      apart[a] = of.axis[a].coarsens ? 2 : 1;
      first[a] = of.between(a, 0) == between[a] ? 0 : 1;
      count[a] = between[a] && !of.axis[a].coarsens ? 0 : (size - first[a] + apart[a] - 1) / apart[a];
    }
  }
  Box all() const { return {{0, 0, 0}, {count[0], count[1], count[2]}}; }
};

struct ListedArms {
  NeighbourList list;

  SHELLAC_HD int arms() const { return list.count; }
  SHELLAC_HD int step(int arm, int a) const { return (int)list.at[arm].d[a]; }
  SHELLAC_HD int arm_at(PetscInt x, PetscInt y, PetscInt z) const { return list.arm_at[step_place(x, y, z)]; }
};
struct AnyAxes {
  bool is[3];

  SHELLAC_HD bool operator[](int a) const { return is[a]; }
};
template <unsigned axes> struct TheseAxes { // which the compiler knows
  SHELLAC_HD constexpr bool operator[](int a) const { return axes >> a & 1; }
};

// Weights in runs of those points.
template <int stride, class Arms, class Axes> struct InterpolateBetween {
  Weights       of;
  PointsBetween points;
  Arms          arms;
  Axes          between;

  template <int most> SHELLAC_RUN void run(const PetscInt n[3], int length) const {
    PetscInt p[3];
    for (int a = 0; a < 3; a++) p[a] = points.first[a] + points.apart[a] * n[a];
    set_run_between<stride, most>(of, p, arms, between, length);
  }
};
template <int stride> struct KeepRuns {
  Weights       of;
  PointsBetween points;

  template <int most> SHELLAC_RUN void run(const PetscInt n[3], int length) const {
    PetscInt p[3];
    for (int a = 0; a < 3; a++) p[a] = points.first[a] + points.apart[a] * n[a];
    set_kept_run<stride>(of, p, length);
  }
};

template <int dim, bool star, unsigned axes>
PetscErrorCode interpolate_known(PetscMemType memory, const Weights &of, const PointsBetween &points) {
  using Run = InterpolateBetween<1, RegularPoint<dim, star>, TheseAxes<axes>>;
  return for_each_of_box(memory, points.all(), runs::OnePoint<Run>{{of, points, {}, {}}});
}
template <int dim, bool star>
PetscErrorCode interpolate_known(PetscMemType memory, const Weights &of, const PointsBetween &points, unsigned axes,
                                 bool *done) {
  PetscFunctionBegin;
  if (*done || !RegularPoint<dim, star>::has_arms_of(of.fine.neighbours)) PetscFunctionReturn(PETSC_SUCCESS);
  *done = true;
  if (axes == 1) PetscCall((interpolate_known<dim, star, 1>(memory, of, points)));
  if (axes == 2) PetscCall((interpolate_known<dim, star, 2>(memory, of, points)));
  if (axes == 3) PetscCall((interpolate_known<dim, star, 3>(memory, of, points)));
  if constexpr (dim == 3) {
    if (axes == 4) PetscCall((interpolate_known<dim, star, 4>(memory, of, points)));
    if (axes == 5) PetscCall((interpolate_known<dim, star, 5>(memory, of, points)));
    if (axes == 6) PetscCall((interpolate_known<dim, star, 6>(memory, of, points)));
    if (axes == 7) PetscCall((interpolate_known<dim, star, 7>(memory, of, points)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int stride>
PetscErrorCode interpolate_between(PetscMemType memory, const Weights &of, const PointsBetween &points, unsigned axes) {
  bool done = false;

  PetscFunctionBegin;
  if (!axes) {
    PetscCall(for_each_run(memory, points.all(), KeepRuns<stride>{of, points}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if constexpr (any_kernels)
    if (PetscMemTypeDevice(memory)) {
      PetscCall((interpolate_known<2, true>(memory, of, points, axes, &done)));
      PetscCall((interpolate_known<2, false>(memory, of, points, axes, &done)));
      PetscCall((interpolate_known<3, true>(memory, of, points, axes, &done)));
      PetscCall((interpolate_known<3, false>(memory, of, points, axes, &done)));
    }
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  using Run = InterpolateBetween<stride, ListedArms, AnyAxes>;
  const AnyAxes between = {{points.between[0], points.between[1], points.between[2]}};
  PetscCall(for_each_run(memory, points.all(), Run{of, points, {NeighbourList(of.fine)}, between}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Beside obstacles coarse points may be solid while points of the fluid between them, as of a narrow gap, get no weight. A
// solid coarse point then stands for one of them. Marks: what those points want, and which coarse points are free.
constexpr int wants_one = 1, is_free = 2;

// Calls f(d) for the steps from a coarse point to the fine ones around it, until one is true.
template <class Function> SHELLAC_RUN bool any_around(const GridCoarsening &c, const Function &f) {
  const PetscInt reach[3] = {c.axis[0].coarsens, c.axis[1].coarsens, c.axis[2].coarsens};
  PetscInt       d[3];
  for (d[2] = reach[2]; d[2] >= -reach[2]; d[2]--)
    for (d[1] = reach[1]; d[1] >= -reach[1]; d[1]--)
      for (d[0] = reach[0]; d[0] >= -reach[0]; d[0]--)
        if ((d[0] || d[1] || d[2]) && f(d)) return true;
  return false;
}

// Of points that lie between coarse ones along so many axes, which have got what weights they get.
struct MarkGaps {
  Weights      of;
  int          axes_between;
  PetscScalar *mark;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const Box   &box = of.fine.grown;
    const size_t at = box.index(p), points = of.fine.points();
    for (int i = 0; i < n; i++) {
      const PetscInt q[3] = {p[0] + i, p[1], p[2]};
      int            between = 0;
      PetscScalar    sum = 0;
      mark[at + i] = 0;
      for (int a = 0; a < 3; a++) between += of.coarsening.between(a, q[a]);
      if (of.fine.slot(INVERSE_DIAGONAL)[at + i] != (PetscScalar)0) {
        if (between != axes_between) continue;
        for (int c = 0; c < of.coarsening.corners(); c++) sum += of.w[c * points + at + i];
        if (sum == (PetscScalar)0) mark[at + i] = wants_one;
      } else if (!between) {
        const bool taken = any_around(of.coarsening, [&](const PetscInt d[3]) {
          const PetscInt its[3] = {q[0] + d[0], q[1] + d[1], q[2] + d[2]}, corner[3] = {d[0] < 0, d[1] < 0, d[2] < 0};
          return of.w[of.coarsening.corner(corner) * points + box.index(its)] != (PetscScalar)0;
        });
        if (!taken) mark[at + i] = is_free;
      }
    }
  }
};

// A free coarse point prefers the first point around it that wants one, and such a point takes the first that prefers it.
struct FillGaps {
  Weights            of;
  const PetscScalar *mark;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const Box   &box = of.fine.grown;
    const size_t at = box.index(p);
    for (int i = 0; i < n; i++) {
      if (mark[at + i] != (PetscScalar)wants_one) continue;
      const PetscInt q[3] = {p[0] + i, p[1], p[2]};
      any_around(of.coarsening, [&](const PetscInt d[3]) {
        const PetscInt J[3] = {q[0] - d[0], q[1] - d[1], q[2] - d[2]}, corner[3] = {d[0] < 0, d[1] < 0, d[2] < 0};
        for (int a = 0; a < 3; a++)
          if (of.coarsening.between(a, q[a]) != (d[a] != 0)) return false;
        if (mark[box.index(J)] != (PetscScalar)is_free) return false;
        PetscInt preferred[3] = {0, 0, 0};
        any_around(of.coarsening, [&](const PetscInt e[3]) {
          const PetscInt its[3] = {J[0] + e[0], J[1] + e[1], J[2] + e[2]};
          for (int a = 0; a < 3; a++) preferred[a] = its[a];
          return mark[box.index(its)] == (PetscScalar)wants_one;
        });
        if (preferred[0] != q[0] || preferred[1] != q[1] || preferred[2] != q[2]) return false;
        of.w[of.coarsening.corner(corner) * of.fine.points() + at + i] = 1;
        return true;
      });
    }
  }
};

// ---- the coarse operator

struct AddWeights {
  Box                box;
  const PetscScalar *weights; // [corners][points of the box]
  int                corners;
  PetscScalar       *total;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = box.index(p), points = (size_t)box.points();
    PetscScalar  sum[most];
    fill_run(sum, n, PetscScalar(0));
    SHELLAC_UNROLL
    for (int c = 0; c < corners; c++)
      for (int i = 0; i < n; i++) sum[i] += weights[c * points + at + i];
    for (int i = 0; i < n; i++) total[at + i] = sum[i];
  }
};

struct CoarsenRuns {
  Product of;
  Patch   coarse;

  template <int stride, int most>
  SHELLAC_RUN void run(const Around *const around[3], const PetscInt p[3], int n) const {
    const AnyPoint point = {around, &of.neighbours, &of.coarse_neighbours};
    set_coarse_run<stride, most>(of, point, of.coarse.grown.index(p), n);
  }
};

// A GPU has the sums of a row in registers where the compiler knows its points.
template <int dim, bool star> struct CoarsenRegular {
  using Point = RegularPoint<dim, star>;
  Product        of;
  GridCoarsening coarsening;
  Patch          coarse;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    set_coarse_run<1, 1>(of, Point(coarsening, coarse, p), of.coarse.grown.index(p), 1);
  }
};
template <int dim, bool star>
PetscErrorCode coarsen_regular(PetscMemType memory, const Product &of, const GridCoarsening &coarsening,
                               const Patch &coarse, bool *done) {
  PetscFunctionBegin;
  if (*done || !RegularPoint<dim, star>::serves(coarsening, of.fine.neighbours, of.coarse.neighbours))
    PetscFunctionReturn(PETSC_SUCCESS);
  *done = true;
  Boxes all;
  all.add(coarse.all());
  PetscCall(for_each(memory, all, CoarsenRegular<dim, star>{of, coarsening, coarse}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode invert_diagonals(PetscMemType memory, const CouplingArrays &rows) {
  return for_each_run(memory, rows.grown, InvertDiagonals{rows});
}

PetscErrorCode derive_rows(PetscMemType memory, const Patch &patch, const CouplingArrays &rows, DerivedRows which,
                           const CouplingArrays &derived) {
  return for_each_run(memory, patch.all(), DeriveRows{rows, derived, NeighbourList(rows), which});
}

PetscErrorCode interpolate(PetscMemType memory, const CouplingArrays &fine, const GridCoarsening &coarsening,
                           int axes_between, PetscScalar *weights) {
  const Weights of = {fine, coarsening, weights};

  PetscFunctionBegin;
  for (unsigned axes = 0; axes < 8; axes++) {
    if ((int)std::bitset<3>(axes).count() != axes_between) continue;
    const PointsBetween points(coarsening, axes);
    PetscCall(coarsening.axis[0].coarsens ? interpolate_between<2>(memory, of, points, axes)
                                          : interpolate_between<1>(memory, of, points, axes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mark_gaps(PetscMemType memory, const CouplingArrays &fine, const GridCoarsening &coarsening,
                         int axes_between, PetscScalar *weights, PetscScalar *marks) {
  return for_each_run(memory, coarsening.patch.all(), MarkGaps{{fine, coarsening, weights}, axes_between, marks});
}

PetscErrorCode fill_gaps(PetscMemType memory, const CouplingArrays &fine, const GridCoarsening &coarsening,
                         const PetscScalar *marks, PetscScalar *weights) {
  return for_each_run(memory, coarsening.patch.all(), FillGaps{{fine, coarsening, weights}, marks});
}

PetscErrorCode coarsen(PetscMemType memory, const CouplingArrays &fine, const GridCoarsening &coarsening,
                       const PetscScalar *weights, const PetscScalar *restriction, const Patch &coarse_patch,
                       const CouplingArrays &coarse, CoarsenRoom *room) {
  PetscFunctionBegin;
  PetscCall(room->total.Grow(fine.points(), memory));
  PetscScalar *const total = room->total.at(memory);
  const Product      of(fine, coarsening, weights, restriction, coarse_patch, coarse, total);
  PetscCall(for_each_run(memory, fine.grown, AddWeights{fine.grown, weights, coarsening.corners(), total}));
  bool done = false;
  if constexpr (any_kernels)
    if (PetscMemTypeDevice(memory)) {
      PetscCall((coarsen_regular<2, true>(memory, of, coarsening, coarse_patch, &done)));
      PetscCall((coarsen_regular<2, false>(memory, of, coarsening, coarse_patch, &done)));
      PetscCall((coarsen_regular<3, true>(memory, of, coarsening, coarse_patch, &done)));
      if (!done && RegularPoint<3, false>::serves(coarsening, fine.neighbours, coarse.neighbours)) {
        PetscCall(coarsen_in_steps(memory, of, coarsening, coarse_patch, &room->of_rows));
        done = true;
      }
    }
  if (!done) PetscCall(for_each_coarse_run(memory, coarsening, coarse_patch, CoarsenRuns{of, coarse_patch}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
