// Where interpolation and coarse rows are computed: in long runs on the host, a point a thread on a GPU.

#include "multigrid/setup/galerkin.hpp"

namespace shellac {

namespace {

struct InvertDiagonals {
  CouplingArrays rows;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = rows.grown.index(p);
    PetscScalar  sum[most];
    for (int i = 0; i < n; i++) sum[i] = rows.slot(SHIFT)[at + i];
    for (int slot = FIRST_COUPLING; slot < rows.slots(); slot++)
      for (int i = 0; i < n; i++) sum[i] += rows.slot(slot)[at + i];
    invert_run(sum, rows.slot(INVERSE_DIAGONAL) + at, n);
  }
};

// ---- interpolation

SHELLAC_HD void lies_between(const GridCoarsening &coarsening, const PetscInt p[3], bool between[3]) {
  for (int a = 0; a < 3; a++) between[a] = coarsening.between(a, p[a]);
}

struct InterpolateAt {
  Weights of;
  int     axes_between;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    bool           between[3];
    lies_between(of.coarsening, p, between);
    if (between[0] + between[1] + between[2] != axes_between) return;
    if (!axes_between)
      set_kept_run<1>(of, p, 1);
    else
      set_run_between<1, 1>(of, p, between, 1);
  }
};

template <int stride> SHELLAC_WIDE void interpolate_on_host(const Weights &of, int axes_between) {
  const PetscInt *size = of.coarsening.patch.size;
  PetscInt        p[3];

  for (p[2] = 0; p[2] < size[2]; p[2]++)
    for (p[1] = 0; p[1] < size[1]; p[1]++)
      for (PetscInt first = 0; first < PetscMin(stride, size[0]); first++) {
        bool between[3];
        p[0] = first;
        lies_between(of.coarsening, p, between);
        if (between[0] + between[1] + between[2] != axes_between) continue;
        for (; p[0] < size[0]; p[0] += most_run * stride) {
          const int n = (int)PetscMin((size[0] - p[0] + stride - 1) / stride, most_run);
          if (!axes_between)
            set_kept_run<stride>(of, p, n);
          else
            set_run_between<stride, most_run>(of, p, between, n);
        }
      }
}

// ---- the coarse operator

struct AddWeights {
  Box                box;
  const PetscScalar *weights; // [corners][points of the box]
  int                corners;
  PetscScalar       *total;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = box.index(p), points = (size_t)box.points();
    for (int i = 0; i < n; i++) total[at + i] = weights[at + i];
    for (int c = 1; c < corners; c++)
      for (int i = 0; i < n; i++) total[at + i] += weights[c * points + at + i];
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
  const Weights of = {fine, coarsening, NeighbourList(fine), weights};

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  if constexpr (any_kernels)
    if (PetscMemTypeDevice(memory))
      PetscFunctionReturn(for_each_of_box(memory, coarsening.patch.all(), InterpolateAt{of, axes_between}));
  if (coarsening.axis[0].coarsens)
    interpolate_on_host<2>(of, axes_between);
  else
    interpolate_on_host<1>(of, axes_between);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode coarsen(PetscMemType memory, const CouplingArrays &fine, const GridCoarsening &coarsening,
                       const PetscScalar *weights, const PetscScalar *restriction, const Patch &coarse_patch,
                       const CouplingArrays &coarse, PetscScalar *total) {
  Product of = {fine, coarse, NeighbourList(fine), NeighbourList(coarse), {}, {}, total, {}, {}};

  PetscFunctionBegin;
  for (int c = 0; c < coarsening.corners(); c++) {
    of.w[c] = weights + c * fine.points();
    of.restriction[c] = restriction + c * fine.points();
  }
  for (int a = 0; a < 3; a++) {
    const PetscInt unit[3] = {a == 0, a == 1, a == 2};
    of.corner_step[a] = coarsening.corner(unit);
    of.one[a] = coarse_patch.N[a] == 1;
  }
  PetscCall(for_each_run(memory, fine.grown, AddWeights{fine.grown, weights, coarsening.corners(), total}));
  bool done = false;
  if constexpr (any_kernels)
    if (PetscMemTypeDevice(memory)) {
      PetscCall((coarsen_regular<2, true>(memory, of, coarsening, coarse_patch, &done)));
      PetscCall((coarsen_regular<2, false>(memory, of, coarsening, coarse_patch, &done)));
      PetscCall((coarsen_regular<3, true>(memory, of, coarsening, coarse_patch, &done)));
    }
  if (!done) PetscCall(for_each_coarse_run(memory, coarsening, coarse_patch, CoarsenRuns{of, coarse_patch}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
