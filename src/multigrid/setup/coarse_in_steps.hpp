#pragma once
// Coarse rows of boxes in 3-D on a GPU, in two steps: fine rows times interpolation, and sums of these. A thread that did
// both would go over each fine row several times, and small levels have too few coarse points to hide its waiting.

#include "multigrid/setup/galerkin.hpp"

namespace shellac {

// The fine points that lie between coarse ones along the axes of `between`, by their bits, and no others.
template <int between> struct PointClass {
  SHELLAC_HD static constexpr bool is_between(int a) { return between >> a & 1; }
  SHELLAC_HD static constexpr int  sides(int a) { return is_between(a) ? 2 : 3; } // coarse points that rows meet
  SHELLAC_HD static constexpr int  entries() { return sides(0) * sides(1) * sides(2); }
  SHELLAC_HD static constexpr int  side(int entry, int a) {
     return a == 0 ? entry % sides(0) : a == 1 ? entry / sides(0) % sides(1) : entry / (sides(0) * sides(1));
  }
  // Of the neighbour d steps on along an axis: how many coarse points it lies between, and the place of one of them.
  SHELLAC_HD static constexpr int corners(int a, int d) { return is_between(a) == (d == 0) ? 2 : 1; }
  SHELLAC_HD static constexpr int side_of(int a, int d, int corner) {
    return is_between(a) ? (d == 0 ? corner : d > 0) : d == 0 ? 1 : (d > 0) + corner;
  }
};
constexpr int point_classes = 8;

// Some planes of coarse points, and the fine points that give them something.
struct FinePoints {
  PetscInt first[3], start[3], count[3]; // the fine point that the first coarse one is; coarse points
  // Of each class [entries and 2][its points]: entries of rows times interpolation, the same of what a row has besides
  // differences, and diagonals.
  PetscScalar *values;

  FinePoints(const GridCoarsening &coarsening, const Patch &coarse, const Box &of, PetscScalar *room) : values(room) {
    const RegularPoint<3, false> point(coarsening, coarse, of.lo);
    for (int a = 0; a < 3; a++) first[a] = point.kept(a), start[a] = of.lo[a], count[a] = of.size(a);
  }
  template <int between> SHELLAC_HD Box of() const { // they begin before the first coarse point
    Box box = {{0, 0, 0}, {count[0], count[1], count[2]}};
    for (int a = 0; a < 3; a++) box.hi[a] += PointClass<between>::is_between(a);
    return box;
  }
  template <int between> SHELLAC_HD size_t place() const { // of the first value
    if constexpr (between == 0)
      return 0;
    else
      return place<between - 1>() + (PointClass<between - 1>::entries() + 2) * (size_t)of<between - 1>().points();
  }
  size_t size() const { return place<point_classes>(); }
};

template <int between> struct TimesInterpolation {
  using Class = PointClass<between>;
  using Point = RegularPoint<3, false>;
  Product    of;
  FinePoints points;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    constexpr int  entries = Class::entries();
    const PetscInt n[3] = {i, j, k};
    PetscInt       p[3];
    for (int a = 0; a < 3; a++) p[a] = points.first[a] + 2 * n[a] - Class::is_between(a);
    const Box          box = points.of<between>();
    const size_t       at = of.fine.grown.index(p), size = (size_t)box.points();
    const PetscInt64   row = of.fine.grown.size(0), plane = row * of.fine.grown.size(1);
    const PetscScalar *total = of.total + at;
    PetscScalar        sum[entries] = {}, diagonal = of.fine.slot(SHIFT)[at], rest = diagonal * total[0];
    for_each_constant<0>(std::make_integer_sequence<int, Point::arms() + 1>(), [&](auto arm) {
      constexpr bool is_self = arm == Point::arms();
      constexpr int  x = is_self ? 0 : Point::step(arm, 0), y = is_self ? 0 : Point::step(arm, 1),
                    z = is_self ? 0 : Point::step(arm, 2);
      const PetscInt64  step = x + y * row + z * plane;
      const PetscScalar coupling = is_self ? -diagonal : of.fine.slot(FIRST_COUPLING + arm)[at];
      if (!is_self) {
        diagonal += coupling;
        rest += coupling * (total[0] - total[step]);
      }
      SHELLAC_UNROLL_ALL
      for (int m = 0; m < 8; m++) {
        const int c[3] = {m & 1, m >> 1 & 1, m >> 2};
        if (c[0] >= Class::corners(0, x) || c[1] >= Class::corners(1, y) || c[2] >= Class::corners(2, z)) continue;
        const int entry = Class::side_of(0, x, c[0]) +
                          Class::sides(0) * (Class::side_of(1, y, c[1]) + Class::sides(1) * Class::side_of(2, z, c[2]));
        sum[entry] += coupling * (of.w[m] + at)[step];
      }
    });
    const PetscScalar mass = of.fine.mass ? of.fine.mass[at] : PetscScalar(1);
    PetscScalar      *to = points.values + points.place<between>() + box.index(n);
    SHELLAC_UNROLL_ALL
    for (int e = 0; e < entries; e++) to[e * size] = mass * sum[e];
    to[entries * size] = mass * rest;
    to[(entries + 1) * size] = mass * diagonal;
  }
};

struct SumOfRows {
  Product    of;
  FinePoints points;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k}, n[3] = {i - points.start[0], j - points.start[1], k - points.start[2]};
    PetscScalar    to[27][1] = {}, shift[1] = {};
    PetscReal      size[1] = {};
    for_each_constant<0>(std::make_integer_sequence<int, 27>(), [&](auto place) {
      constexpr int x = place % 3 - 1, y = place / 3 % 3 - 1, z = place / 9 - 1, s[3] = {x, y, z};
      constexpr int between = (x & 1) + 2 * (y & 1) + 4 * (z & 1), corner = (x < 0) + 2 * (y < 0) + 4 * (z < 0);
      using Class = PointClass<between>;
      constexpr int entries = Class::entries();
      PetscInt      fine[3], m[3];
      for (int a = 0; a < 3; a++) {
        m[a] = n[a] + (s[a] > 0);
        fine[a] = points.first[a] + 2 * n[a] + s[a];
      }
      const Box          box = points.of<between>();
      const size_t       count = (size_t)box.points();
      const PetscScalar *from = points.values + points.place<between>() + box.index(m),
                        weight = of.restriction[corner][of.fine.grown.index(fine)];
      SHELLAC_UNROLL_ALL
      for (int e = 0; e < entries; e++) // counted from this coarse point
        to[step_place(Class::side(e, 0) - (x <= 0), Class::side(e, 1) - (y <= 0), Class::side(e, 2) - (z <= 0))][0] +=
            weight * from[e * count];
      shift[0] += weight * from[entries * count];
      size[0] += PetscAbsScalar(weight * from[(entries + 1) * count]);
    });
    finish_coarse_run<1>(of, RegularPoint<3, false>(), of.coarse.grown.index(p), 1, to, shift, size);
  }
};

template <int... between>
PetscErrorCode times_interpolation(PetscMemType memory, std::integer_sequence<int, between...>, const Product &of,
                                   const FinePoints &points) {
  PetscErrorCode code = PETSC_SUCCESS;
  ((code = code ? code : for_each_of_box(memory, points.of<between>(), TimesInterpolation<between>{of, points})), ...);
  return code;
}

// All rows, in so many planes at a time that the first step has no more than `most` values, or plane by plane.
inline PetscErrorCode coarsen_in_steps(PetscMemType memory, const Product &of, const GridCoarsening &coarsening,
                                       const Patch &coarse, Scratch<PetscScalar> *room, size_t most = (size_t)1 << 26) {
  Box            planes = coarse.all();
  const PetscInt end = planes.hi[2];
  const auto     needed = [&] { return FinePoints(coarsening, coarse, planes, nullptr).size(); };

  PetscFunctionBegin;
  while (planes.size(2) > 1 && needed() > most) planes.hi[2] = planes.lo[2] + (planes.size(2) + 1) / 2;
  PetscCall(room->Grow(needed(), memory));
  for (const PetscInt n = planes.size(2); planes.lo[2] < end; planes.lo[2] = planes.hi[2]) {
    planes.hi[2] = PetscMin(planes.lo[2] + n, end);
    const FinePoints points(coarsening, coarse, planes, room->at(memory));
    PetscCall(times_interpolation(memory, std::make_integer_sequence<int, point_classes>(), of, points));
    PetscCall(for_each_of_box(memory, planes, SumOfRows{of, points}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
