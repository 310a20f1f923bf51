#pragma once
// Loops over coarse points: long runs on the host, in loops that the compiler vectorises, and a point a thread on a
// GPU. One source serves both:
//   template <int stride, int most> SHELLAC_RUN
//   void run(const Around *const around[3], const PetscInt p[3], int n) const;   // n <= most points from p on
// The fine points that go with a run of coarse ones are `stride` apart.

#include <vector>

#include "device/runs.hpp"
#include "multigrid/couplings.hpp"

namespace shellac {

// The fine points around a coarse one along an axis, by their steps from the fine point that it is.
struct Around {
  static constexpr int reach = 3;
  PetscInt             kept;   // that point, on the patch
  int                  lo, hi; // the steps to points that give it something
  // of each step: the coarse point at or before, counted from this one; whether it lies between that and the next
  int below[2 * reach + 1] = {}, between[2 * reach + 1] = {};

  SHELLAC_HD Around(const GridCoarsening &of, int a, PetscInt I) {
    const CoarsePlaces &axis = of.axis[a];
    kept = (axis.coarsens ? 2 * I + axis.offset : I) - of.patch.start[a];
    lo = axis.coarsens ? axis.ties_ends && I == 0 ? -2 : -1 : 0;
    hi = axis.coarsens ? 1 : 0;
    for (int s = lo - 1; s <= hi + 1; s++) {
      below[reach + s] = (int)(of.below(a, kept + s) - I);
      between[reach + s] = of.between(a, kept + s);
    }
  }
  bool operator==(const Around &other) const { // but for their place
    bool same = lo == other.lo;
    for (int s = 0; s <= 2 * reach; s++) same = same && below[s] == other.below[s] && between[s] == other.between[s];
    return same;
  }
};

// The fine point p that is s steps from a coarse one, and the corner that the coarse one is among those around p. False
// where it is none of them.
SHELLAC_HD bool find_corner(const Around *const around[3], const int s[3], PetscInt p[3], PetscInt corner[3]) {
  bool near = true;
  for (int a = 0; a < 3; a++) {
    corner[a] = -around[a]->below[Around::reach + s[a]];
    near = near && corner[a] >= 0 && corner[a] <= around[a]->between[Around::reach + s[a]];
    p[a] = around[a]->kept + s[a];
  }
  return near;
}

namespace runs {

template <int stride, class Function>
SHELLAC_WIDE void over_coarse_points(const GridCoarsening &coarsening, const Patch &coarse, const Function &f) {
  std::vector<Around> along[3];
  PetscInt            p[3];

  for (int a = 0; a < 3; a++)
    for (PetscInt i = 0; i < coarse.size[a]; i++) along[a].emplace_back(coarsening, a, coarse.start[a] + i);
  for (p[2] = 0; p[2] < coarse.size[2]; p[2]++)
    for (p[1] = 0; p[1] < coarse.size[1]; p[1]++)
      for (PetscInt n = p[0] = 0; p[0] < coarse.size[0]; p[0] += n) {
        const Around *const around[3] = {&along[0][p[0]], &along[1][p[1]], &along[2][p[2]]};
        for (n = 1; n < most_run && p[0] + n < coarse.size[0] && along[0][p[0] + n] == *around[0];) n++;
        f.template run<stride, most_run>(around, p, (int)n);
      }
}

template <class Function> struct OneCoarsePoint {
  Function       f;
  GridCoarsening coarsening;
  Patch          coarse;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const Around   x(coarsening, 0, coarse.start[0] + i), y(coarsening, 1, coarse.start[1] + j),
        z(coarsening, 2, coarse.start[2] + k);
    const Around *const around[3] = {&x, &y, &z};
    f.template run<1, 1>(around, p, 1);
  }
};

} // namespace runs

// Calls f.run(around, p, n) for all points of a patch of the coarse grid, each once; on the host in the order
// of the points.
template <class Function>
PetscErrorCode for_each_coarse_run(PetscMemType memory, const GridCoarsening &coarsening, const Patch &coarse,
                                   const Function &f) {
  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  if constexpr (any_kernels)
    if (PetscMemTypeDevice(memory))
      PetscFunctionReturn(for_each_of_box(memory, coarse.all(), runs::OneCoarsePoint<Function>{f, coarsening, coarse}));
  if (coarsening.axis[0].coarsens)
    runs::over_coarse_points<2>(coarsening, coarse, f);
  else
    runs::over_coarse_points<1>(coarsening, coarse, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
