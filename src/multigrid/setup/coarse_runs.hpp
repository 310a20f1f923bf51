#pragma once
// Loops over coarse points: long runs on the host, in loops that the compiler vectorises, and a point a thread on a
// GPU. One source serves both:
//   template <int stride, int most> SHELLAC_RUN
//   void run(const Around *const around[3], const PetscInt p[3], int n) const;   // n <= most points from p on
// The fine points that go with a run of coarse ones are `stride` apart.

#include <utility>
#include <vector>

#include "device/runs.hpp"
#include "multigrid/couplings.hpp"

// Before a loop whose number of iterations the compiler may know: on a GPU its values are then in registers.
#if defined(__CUDA_ARCH__)
#define SHELLAC_UNROLL_KNOWN _Pragma("unroll")
#else
#define SHELLAC_UNROLL_KNOWN
#endif

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

// The fine points around a coarse one and the arms of rows, as they are.
struct AnyPoint {
  const Around *const  *around;
  const NeighbourList  *fine, *coarse;
  static constexpr bool known = false; // to the compiler

  SHELLAC_HD PetscInt kept(int a) const { return around[a]->kept; }
  SHELLAC_HD int      lo(int a) const { return around[a]->lo; }
  SHELLAC_HD int      hi(int a) const { return around[a]->hi; }
  SHELLAC_HD int      below(int a, int s) const { return around[a]->below[Around::reach + s]; }
  SHELLAC_HD int      between(int a, int s) const { return around[a]->between[Around::reach + s]; }
  SHELLAC_HD int      arms() const { return fine->count; }
  SHELLAC_HD int      step(int arm, int a) const { return (int)fine->at[arm].d[a]; }
  SHELLAC_HD int      coarse_arms() const { return coarse->count; }
  SHELLAC_HD int      coarse_step(int arm, int a) const { return (int)coarse->at[arm].d[a]; }
};
// The same where `dim` axes lose every second point, around periodic ends too, and arms are those of a whole star, or of a
// box. Beyond ends the arrays of rows and weights have zeros.
template <int dim, bool star> struct RegularPoint {
  PetscInt              first[3];
  static constexpr bool known = true;

  RegularPoint() = default;
  SHELLAC_HD RegularPoint(const GridCoarsening &of, const Patch &coarse, const PetscInt p[3]) {
    for (int a = 0; a < 3; a++)
      first[a] = (a < dim ? 2 : 1) * (coarse.start[a] + p[a]) + (a < dim ? of.axis[a].offset : 0) - of.patch.start[a];
  }
  static bool has_arms_of(const Neighbours &fine) {
    return fine.star == star && fine.present[0] && fine.present[1] && fine.present[2] == (dim == 3);
  }
  static bool serves(const GridCoarsening &of, const Neighbours &fine, const Neighbours &coarse) {
    bool all = has_arms_of(fine) && !coarse.star;
    for (int a = 0; a < 3; a++) {
      const CoarsePlaces &axis = of.axis[a];
      all = all && coarse.present[a] == (a < dim) &&
            (a >= dim || (axis.coarsens && !(of.patch.periodic[a] && of.patch.N[a] % 2)));
    }
    return all;
  }
  SHELLAC_HD PetscInt             kept(int a) const { return first[a]; }
  SHELLAC_HD static constexpr int lo(int a) { return a < dim ? -1 : 0; }
  SHELLAC_HD static constexpr int hi(int a) { return a < dim ? 1 : 0; }
  SHELLAC_HD static constexpr int below(int, int s) { return (s - (s & 1)) / 2; }
  SHELLAC_HD static constexpr int between(int, int s) { return s & 1; }
  SHELLAC_HD static constexpr int arms() { return star ? 2 * dim : coarse_arms(); }
  SHELLAC_HD static constexpr int step(int arm, int a) { // see Neighbours::each()
    return !star ? coarse_step(arm, a) : arm / 2 != a ? 0 : arm % 2 ? 1 : -1;
  }
  SHELLAC_HD static constexpr int arm_at(PetscInt x, PetscInt y, PetscInt z) { // negative where there is none
    const int place = (int)(dim == 3 ? 13 + x + 3 * y + 9 * z : 4 + x + 3 * y);
    if (dim == 2 && z) return -1;
    if (!star) return place == coarse_arms() / 2 ? -1 : place - (place > coarse_arms() / 2);
    if ((x != 0) + (y != 0) + (z != 0) != 1) return -1;
    return x ? x > 0 : y ? 2 + (y > 0) : 4 + (z > 0);
  }
  SHELLAC_HD static constexpr int coarse_arms() { return dim == 3 ? 26 : 8; }
  SHELLAC_HD static constexpr int coarse_step(int arm, int a) {
    const int place = arm + (arm >= coarse_arms() / 2);
    return a == 0 ? place % 3 - 1 : a == 1 ? place / 3 % 3 - 1 : dim == 3 ? place / 9 - 1 : 0;
  }
};

template <int first, class Function, int... n>
SHELLAC_RUN void for_each_constant(std::integer_sequence<int, n...>, const Function &f) {
  (f(std::integral_constant<int, first + n>()), ...);
}
// Calls f(s) for the steps along an axis from a coarse point to the fine ones that give it something.
template <int axis, class Point, class Function> SHELLAC_RUN void for_each_step(const Point &point, const Function &f) {
  if constexpr (Point::known)
    for_each_constant<Point::lo(axis)>(std::make_integer_sequence<int, Point::hi(axis) - Point::lo(axis) + 1>(), f);
  else
    for (int s = point.lo(axis); s <= point.hi(axis); s++) f(s);
}
// Calls f(arm) for the arms of a row, and last for the point itself.
template <class Point, class Function> SHELLAC_RUN void for_each_arm(const Point &point, const Function &f) {
  if constexpr (Point::known)
    for_each_constant<0>(std::make_integer_sequence<int, Point::arms() + 1>(), f);
  else
    for (int arm = 0; arm <= point.arms(); arm++) f(arm);
}
template <class Point, class Function> SHELLAC_RUN void for_each_coarse_arm(const Point &point, const Function &f) {
  if constexpr (Point::known)
    for_each_constant<0>(std::make_integer_sequence<int, Point::coarse_arms()>(), f);
  else
    for (int arm = 0; arm < point.coarse_arms(); arm++) f(arm);
}

// The fine point p that is s steps from a coarse one, and the corner that the coarse one is among those around p. False
// where it is none of them.
template <class Point, class Corner>
SHELLAC_HD bool find_corner(const Point &point, const int s[3], PetscInt p[3], Corner corner[3]) {
  bool near = true;
  SHELLAC_UNROLL_ALL
  for (int a = 0; a < 3; a++) {
    corner[a] = -point.below(a, s[a]);
    near = near && corner[a] >= 0 && corner[a] <= point.between(a, s[a]);
    p[a] = point.kept(a) + s[a];
  }
  return near;
}

namespace runs {

template <int stride, class Function>
void over_coarse_points(const GridCoarsening &coarsening, const Patch &coarse, const Function &f) {
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
