// Points, with which the text of an equation is compiled, after interface.hpp, numbers.hpp, series.hpp and the constants
// `dim`, `unknowns`, `width` and `box`. Without includes, for the compilers of the host and of a GPU.

namespace shellac {
namespace equation {

// ---- points of the grid --------------------------------------------------------------------------------------------

constexpr int steps_along = 2 * width + 1;
constexpr int arm_count = box ? (dim == 1   ? steps_along
                                 : dim == 2 ? steps_along * steps_along
                                            : steps_along * steps_along * steps_along)
                              : 2 * dim * width + 1;
constexpr int slots_of_row = arm_count * unknowns; // an unknown at an arm's end each

// Whether a step stays within the stencil. Without a loop, which a compiler would unroll at each use.
constexpr bool in_reach(int axis, int d) {
  return axis < dim ? d >= -width && d <= width : d == 0;
}
constexpr bool in_stencil(int dx, int dy, int dz) {
  return in_reach(0, dx) && in_reach(1, dy) && in_reach(2, dz) && (box || (dx != 0) + (dy != 0) + (dz != 0) <= 1);
}

// The number of the arm that a step within the stencil is: lexicographic, the first axis first.
constexpr int arm_of(int dx, int dy, int dz) {
  if (box)
    return dx + width + (dim > 1 ? steps_along * (dy + width) : 0) +
           (dim > 2 ? steps_along * steps_along * (dz + width) : 0);
  const int d = dx ? dx : dy ? dy : dz, axis = dx ? 0 : dy ? 1 : 2;
  return dim * width + d + (d > 0 ? axis : d < 0 ? -axis : 0) * width;
}
constexpr int own_arm = arm_of(0, 0, 0);

// The directions of derivatives: none; or slots of a row, which are an unknown c at an arm's end: some from the first on,
// known to the compiler, or to the program; or one along the vector place.direction.
struct SeedOfSlots {
  static constexpr bool along_vector = false, along_data = false, by_field = false;
};
struct NoSeed : SeedOfSlots {
  static constexpr int  directions = 0;
  template <int n> bool matches(int, int, bool) const { return false; }
};
template <int first, int count> struct Seeds : SeedOfSlots {
  static constexpr int  directions = count;
  template <int n> bool matches(int unknown, int arm, bool) const { return arm * unknowns + unknown == first + n; }
};
template <int count> struct AnySeeds : SeedOfSlots {
  static constexpr int directions = count;
  int                  first;

  explicit AnySeeds(int first) : first(first) {}
  template <int n> bool matches(int unknown, int arm, bool) const { return arm * unknowns + unknown == first + n; }
};
// The unknown c of the point itself, also by the arms around periodic axes of few points, which lead back to it.
template <int c> struct OwnSeed : SeedOfSlots {
  static constexpr int  directions = 1;
  template <int n> bool matches(int unknown, int, bool own) const { return unknown == c && own; }
};
struct AlongVector : SeedOfSlots {
  static constexpr int  directions = 1;
  static constexpr bool along_vector = true;
};
// Derivatives by data: along a parameter and directions of the fields; or by the values of a field, the unknown
// field_number, at arms' ends.
constexpr int field_number = -2;
struct AlongData : SeedOfSlots {
  static constexpr int  directions = 1;
  static constexpr bool along_data = true;
};
template <bool> struct Directed { using Along = AlongVector; };
template <> struct Directed<true> { using Along = AlongData; };
using Along = Directed<of_data>::Along;
template <int count> struct FieldSeeds : SeedOfSlots {
  static constexpr int  directions = count;
  static constexpr bool by_field = true;
  int                   first;

  explicit FieldSeeds(int first) : first(first) {}
  template <int n> bool matches(int unknown, int arm, bool) const {
    return unknown == field_number && arm == first + n;
  }
};
// What depends on parameters near ends, data and rules of the boundary: with a derivative, where it is by the data.
template <bool by_data, class Plain> struct Changing { using type = Plain; };
template <class Plain> struct Changing<true, Plain> { using type = Number<Scalar, 1>; };
using Datum = Changing<of_data, Scalar>::type;
using Factor = Changing<of_data, Real>::type;
// A value with its derivative, and without.
inline Number<Scalar, 1> with_change(Scalar value, Scalar change) {
  Number<Scalar, 1> with(value);
  with.depends = change != 0, with.d[0] = change;
  return with;
}
template <class A> inline A plain(const A &a) {
  return a;
}
template <int directions> inline Scalar plain(const Number<Scalar, directions> &a) {
  return a.v;
}
// Of parameters; floors of unknowns are refused when the values are compiled.
template <bool> struct OnlyIf {};
template <> struct OnlyIf<true> { using type = int; };
template <class S, int directions, class = typename OnlyIf<of_data && directions != 0>::type>
Number<S, directions> floor(const Number<S, directions> &a) {
  return floor(a.v);
}
// A parameter among numbers R, of whose derivatives, if there are any, the last one is by it; or among series, whose
// variable it is.
template <class R> R parameter_of(const Place &q, int p) {
  if constexpr (is_series<R>)
    return R(q.parameters[p], q.parameter == p);
  else if constexpr (sizeof(R) == sizeof(Scalar))
    return q.parameters[p];
  else {
    constexpr unsigned last = sizeof(R::d) / sizeof(Scalar) - 1;
    R                  value(q.parameters[p]);
    value.depends = (q.parameter == p) << last, value.d[last] = 1;
    return value;
  }
}

// The boundary's datum for an unknown, at a place on an end; from the text.
template <class R> ScalarOf<R> boundary_datum(const Place &place, int c, int axis, int side, R x, R y, R z, R t);
template <bool by_data = of_data>
inline Datum datum_at(const Place &q, int c, int axis, int side, Real x, Real y, Real z) {
  if constexpr (by_data) {
    const auto g = boundary_datum<Series<1 + by_data>>(q, c, axis, side, x, y, z, q.time);
    return with_change(coefficient(g, 0), coefficient(g, 1));
  } else
    return boundary_datum<Real>(q, c, axis, side, x, y, z, q.time);
}

// The unknown whose value at an end the boundary's datum depends on, the own one or its derivative in time; -1: on none. And
// such a datum, for that value; both from the text.
inline int unknown_of_datum(int c, int axis, int side);
template <class N>
N datum_of_state(const Place &place, int c, int axis, int side, Real x, Real y, Real z, Real t, const N &u);

// The place of a point in arrays of this start and size; in those that are read, and in those that are written.
inline Index place_in(const Index start[axes], const Index size[axes], Index i, Index j, Index k) {
  const Index row = dim < 2 ? 0 : j - start[1] + (dim < 3 ? 0 : size[1] * (k - start[2]));
  return i - start[0] + size[0] * row;
}
inline Index place_read(const Place &q, Index i, Index j, Index k) {
  return place_in(q.read_start, q.read_size, i, j, k);
}
inline Index place_written(const Place &q, Index i, Index j, Index k) {
  return place_in(q.write_start, q.write_size, i, j, k);
}

// The coordinate of a point, which may be beyond an end of the domain by the stencil's width.
template <class R> inline R coordinate(const Place &q, int axis, Index index) {
  if (stretched && axis < dim) return q.stretched[axis][index + width];
  return q.origin[axis] + (R)index * q.h[axis];
}

// Whether an unknown is given at a point of the grid, by a side of the form identity.
inline bool is_given(const Place &q, int c, Index i, Index j, Index k, int *axis, int *side) {
  const Index p[axes] = {i, j, k};
  for (int a = 0; a < dim; a++)
    for (int s = 0; s < sides; s++)
      if (q.identity[(c * axes + a) * sides + s] && p[a] == (s ? q.N[a] - 1 : 0)) {
        *axis = a, *side = s;
        return true;
      }
  return false;
}
// What it is there, at the time t, of Real or of a series.
template <class R>
inline ScalarOf<R> given_at(const Place &q, int c, int axis, int side, Index i, Index j, Index k, R t) {
  return boundary_datum<R>(q, c, axis, side, R(coordinate<Real>(q, 0, i)), R(coordinate<Real>(q, 1, j)),
                           R(coordinate<Real>(q, 2, k)), t);
}

inline Datum given_datum(const Place &q, int c, int axis, int side, Index i, Index j, Index k) {
  return datum_at(q, c, axis, side, coordinate<Real>(q, 0, i), coordinate<Real>(q, 1, j), coordinate<Real>(q, 2, k));
}

// The unknowns u of a point become what is given there.
template <int c = 0> inline void impose_at(const Place &q, Index i, Index j, Index k, Scalar *u) {
  int axis, side;
  if constexpr (!of_data)
    if (is_given(q, c, i, j, k, &axis, &side)) u[c] = given_datum(q, c, axis, side, i, j, k);
  if constexpr (c + 1 < unknowns) impose_at<c + 1>(q, i, j, k, u);
}

// The steps to where a periodic axis' point is in the arrays: they may lack ghost points, on one rank.
inline int around(const Place &place, int axis, Index index, int d) {
  const Index first = place.read_start[axis], behind = first + place.read_size[axis];
  while (index + d < first) d += (int)place.N[axis];
  while (index + d >= behind) d -= (int)place.N[axis];
  return d;
}

// Where the values at a point and around it are read: in the arrays, where it is the point `at`.
struct FromArrays {
  static constexpr bool at_ends = false, finds_neighbours = false;
  const Place          &place;
  Index                 at;

  Index index(int dx, int dy, int dz) const {
    return at + dx + place.read_size[0] * (dy + place.read_size[1] * (Index)dz);
  }
  Index  field_at(int dx, int dy, int dz) const { return index(dx, dy, dz); }
  Scalar unknown(int c, int dx, int dy, int dz) const { return place.u[index(dx, dy, dz) * unknowns + c]; }
  Scalar direction(int c, int dx, int dy, int dz) const { return place.direction[index(dx, dy, dz) * unknowns + c]; }
  Scalar field(int f, int dx, int dy, int dz) const { return place.fields[f][index(dx, dy, dz)]; }
  Scalar field_direction(int f, int dx, int dy, int dz) const {
    return place.field_directions[f] ? place.field_directions[f][index(dx, dy, dz)] : Scalar(0);
  }
};

// Whether the point is in a solid cell: its rows do not hold then.
template <class From> inline bool in_solid(const From &from) {
  if constexpr (solid_field >= 0)
    return from.field(solid_field, 0, 0, 0) != Scalar(0);
  else
    return false;
}

// A point of the grid, with its neighbours.
template <class SeedType, class From> struct GridPoint {
  using Real = equation::Real;
  using Scalar = equation::Scalar;
  using Number = equation::Number<Scalar, SeedType::directions>;

  const Place &place;
  SeedType     seed;
  Index        i, j, k;
  const From  &from;

  GridPoint(const Place &place, SeedType seed, Index i, Index j, Index k, const From &from)
      : place(place), seed(seed), i(i), j(j), k(k), from(from) {}

  // Coordinates, and what helpers divide by; d: of the neighbour that many steps away.
  Real x(int axis, int d = 0) const { return coordinate<Real>(place, axis, index(axis) + d); }
  Real h(int axis) const { // width of the cell [length]
    return stretched && axis < dim ? (x(axis, 1) - x(axis, -1)) / 2 : place.h[axis];
  }
  Real step(int axis, int d) const {                       // to the next point [length]; both must be in reach
    const int  farther = d < 0 ? d : d + 1, n = -1 - axis; // of no unknown and no field
    const auto along = [&](int a) { return a == axis ? farther : 0; };
    const bool tabled = stretched && axis < dim && check(n, along(0), along(1), along(2));
    return tabled ? x(axis, d + 1) - x(axis, d) : place.h[axis];
  }
  Real inverse_h(int axis, int d = 0) const {
    return stretched ? table(axis, inverse_cells, d) : place.inverse_h[axis];
  }
  Real inverse_step(int axis, int d) const { return stretched ? table(axis, inverse_steps, d) : place.inverse_h[axis]; }
  Real t() const { return place.time; }
  bool leaves(int axis, int side) const { // whether a step to this side leads beyond an end of the domain
    return From::at_ends && axis < dim && !place.periodic[axis] &&
           (index(axis) + side < 0 || index(axis) + side >= place.N[axis]);
  }
  bool check(int c, int dx, int dy, int dz) const {
    // walls give values to the next points along the axes alone; c < 0: of a spacing
    const bool beside = solid_field < 0 || c < 0 || dx * dx + dy * dy + dz * dz <= 1;
    if (beside && in_stencil(dx, dy, dz)) return true;
#if defined(__CUDACC_RTC__)
    if (atomicCAS(place.arm, 0, 1)) return false; // another thread has found one
#endif
    place.arm[0] = 1, place.arm[1] = dx, place.arm[2] = dy, place.arm[3] = dz, place.arm[4] = c;
    return false;
  }
  // The step towards a solid neighbour, 1 or -1, and otherwise 0. Beyond a mirrored end the mirrored neighbour is meant, and
  // beyond others none.
  int wall(int dx, int dy, int dz) const {
    if constexpr (solid_field >= 0) {
      const int axis = dx ? 0 : dy ? 1 : 2, d = dx + dy + dz;
      if (d == 0) return 0;
      const Fold &rule = place.folds[(axis * sides + (d > 0)) * width];
      const bool  mirrored = leaves(axis, d) && rule.factor == 1 && rule.inside == index(axis) - d;
      const bool  before = from.field(solid_field, -dx, -dy, -dz) != Scalar(0),
                 behind = from.field(solid_field, dx, dy, dz) != Scalar(0);
      return mirrored ? (before ? -d : 0) : behind ? d : 0;
    } else
      return 0;
  }
  // An unknown's value, or what stands for it in a solid cell: the value at the wall between, half a spacing away, is given,
  // or the derivative there.
  template <int c> Number unknown(int dx, int dy, int dz) const {
    if (!check(c, dx, dy, dz)) return Number();
    const Number there = value_by_velocity<c>(dx, dy, dz);
    if constexpr (solid_field >= 0) {
      if (dx == 0 && dy == 0 && dz == 0) return there;
      const int    to = wall(dx, dy, dz), sign = walls_with_values >> c & 1 ? -1 : 1;
      const Number here = value<c>(0, 0, 0), given = to ? at_wall<c>(dx ? 0 : dy ? 1 : 2, to) : Number();
      return Number::chain(to ? sign * here.v + given.v : there.v, to ? sign : 0, here, to ? 0 : 1, there, 1, given);
    } else
      return there;
  }
  // The same where fluxes depend on the derivative in time v, which the line through its last two values gives at the end.
  template <int c> Number value_by_velocity(int dx, int dy, int dz) const {
    constexpr int v = velocity_of(c);
    if constexpr (ends_of_velocity && v >= 0 && From::at_ends) {
      int    d[axes] = {dx, dy, dz};
      Number sum = Number(), factor = Number(1);
      for (int a = 0; a < dim; a++) {
        const int side = d[a] > 0, to = side ? 1 : -1;
        if (d[a] == 0 || !leaves(a, d[a]) || unknown_of_datum(c, a, side) != v) continue;
        const Fold &rule = from.fold(c, a, d[a]);
        const auto  part = [&](const auto &with_change) -> Number {
          if constexpr (SeedType::along_data)
            return with_change;
          else
            return plain(with_change);
        };
        Real at[axes] = {x(0, d[0]), x(1, d[1]), x(2, d[2])};
        d[a] = (int)((side ? place.N[a] - 1 : 0) - index(a));
        const Number last = unknown<v>(d[0], d[1], d[2]);
        const Real   x_last = x(a, d[a]), weight = (place.end[a][side] - x_last) / (x_last - x(a, d[a] - to));
        at[a] = place.end[a][side], d[a] -= to;
        const Number at_end = last + weight * (last - unknown<v>(d[0], d[1], d[2]));
        d[a] = (int)(rule.inside - index(a));
        const Number given = part(from.template of<&Fold::given>(rule));
        sum = sum + factor * given * datum_of_state(place, c, a, side, at[0], at[1], at[2], place.time, at_end);
        factor = factor * part(from.template of<&Fold::factor>(rule));
      }
      return sum + factor * value<c>(d[0], d[1], d[2]);
    } else
      return value<c>(dx, dy, dz);
  }
  // What a wall's datum adds to the value beyond it.
  template <int c> Number at_wall(int axis, int to) const {
    if constexpr (walls_have_data) {
      Real at[axes] = {x(0), x(1), x(2)};
      at[axis] = (at[axis] + x(axis, to)) / 2;
      if (place.periodic[axis] && index(axis) + to < 0) // data are formulas, and repeat nothing themselves
        at[axis] += x(axis, (int)(place.N[axis] - index(axis))) - x(axis, (int)-index(axis));
      const Real factor = walls_with_values >> c & 1 ? Real(2) : step(axis, to > 0 ? 0 : -1);
      const auto given = factor * datum_at(place, c, axis, sides + (to > 0), at[0], at[1], at[2]);
      if constexpr (SeedType::along_data)
        return given;
      else
        return plain(given);
    } else
      return Number();
  }
  template <int c> Number value(int dx, int dy, int dz) const {
    if constexpr (of_data) { // near ends they depend on parameters
      Datum value;
      if constexpr (From::finds_neighbours)
        value = from.unknown(c, from.neighbour(c, dx, dy, dz));
      else
        value = from.unknown(c, dx, dy, dz);
      if constexpr (SeedType::along_data)
        return value;
      else
        return plain(value);
    } else if constexpr (From::finds_neighbours) {
      const auto &n = from.neighbour(c, dx, dy, dz);
      return seeded(from.unknown(c, n), n.factor, along(c, n), c, n.arm, n.own);
    } else
      return seeded(from.unknown(c, dx, dy, dz), 1, along(c, dx, dy, dz), c, arm_of(dx, dy, dz),
                    dx == 0 && dy == 0 && dz == 0);
  }
  // Of a solid neighbour that of the point itself.
  template <int f> auto field(int dx, int dy, int dz) const {
    const bool   reaches = check(unknowns + f, dx, dy, dz), here = reaches && f != solid_field && wall(dx, dy, dz);
    const Scalar value = here ? from.field(f, 0, 0, 0) : reaches ? from.field(f, dx, dy, dz) : Scalar(0);
    if constexpr (SeedType::along_data)
      return with_change(value, here      ? from.field_direction(f, 0, 0, 0)
                                : reaches ? from.field_direction(f, dx, dy, dz)
                                          : Scalar(0));
    else if constexpr (SeedType::by_field)
      return seeded(value, 1, 0, f == place.field ? field_number : -1, here ? own_arm : arm_of(dx, dy, dz), false);
    else
      return value;
  }

  // An integral over the domain. Entries have no derivative of it: each would depend on all points.
  template <int n> Number integral() const {
    if constexpr (SeedType::along_data)
      return with_change(place.integrals[n], place.integrals[integral_numbers / 2 + n]);
    else
      return seeded(place.integrals[n], 1,
                    SeedType::along_vector ? place.integrals[integral_numbers / 2 + n] : Scalar(0), -1, -1, false);
  }
  // What an unknown has along the vector place.direction, if derivatives are.
  template <class... Where> Scalar along(int c, const Where &...where) const {
    return SeedType::along_vector ? from.direction(c, where...) : Scalar(0);
  }
  // A value with the derivative `factor` in the direction of the unknown c at an arm's end; along: what that has along
  // a vector.
  template <class F> Number seeded(Number value, F factor, Scalar along, int c, int arm, bool own) const {
    if constexpr (SeedType::along_vector) {
      value.depends = 1;
      value.d[0] = factor == 0 ? 0 : factor * along;
    } else if constexpr (SeedType::directions > 0)
      seed_from(typename IndicesTo<SeedType::directions>::type(), &value, factor, c, arm, own);
    return value;
  }

private:
  template <int... n, class F> void seed_from(Indices<n...>, Number *value, F factor, int c, int arm, bool own) const {
    value->depends = ((seed.template matches<n>(c, arm, own) ? 1u << n : 0u) | ...);
    ((value->d[n] = factor), ...);
  }
  Index index(int axis) const {
    return axis == 0 ? i : axis == 1 ? j : k;
  }
  Real table(int axis, AxisTable which, int d) const { // what reads the point says where it is beyond the stencil
    if (axis >= dim || d < -width || d > width) return place.inverse_h[axis];
    return place.stretched[axis][which * (place.N[axis] + 2 * width) + index(axis) + d + width];
  }
};

// A number of steps to a neighbour, an integer: u(0.7) is an error.
struct Step {
  int steps;

  Step(int steps) : steps(steps) {}
  Step(long steps) : steps((int)steps) {}
  Step(long long steps) : steps((int)steps) {}
  Step(float) = delete;
  Step(double) = delete;
  Step(long double) = delete;
};

// The unknowns' values, as the text writes them: u, u(1, 0). A number itself, that of the point.
template <class Point, int c> struct Unknown : Point::Number {
  using Number = typename Point::Number;
  const Point &point;

  explicit Unknown(const Point &point) : Number(point.template unknown<c>(0, 0, 0)), point(point) {}
  Number operator()(Step dx = 0, Step dy = 0, Step dz = 0) const {
    return point.template unknown<c>(dx.steps, dy.steps, dz.steps);
  }
};
template <class Point, int f> struct Coefficient : Point::Number {
  using Number = typename Point::Number;
  const Point &point;

  explicit Coefficient(const Point &point) : Number(point.template field<f>(0, 0, 0)), point(point) {}
  auto operator()(Step dx = 0, Step dy = 0, Step dz = 0) const {
    return point.template field<f>(dx.steps, dy.steps, dz.steps);
  }
};

} // namespace equation
} // namespace shellac
