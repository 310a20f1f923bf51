// What the text of an equation is compiled with, after interface.hpp, numbers.hpp and the constants `dim`, `unknowns`,
// `width` and `box`: points and rows. Without includes: a compiler for a GPU takes it as the host's does.

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

// The steps of an arm: lexicographic, the first axis first.
constexpr int arm_code(int arm) { // (dx + width) + steps_along * ((dy + width) + steps_along * (dz + width))
  int count = 0;
  for (int code = 0; code < steps_along * steps_along * steps_along; code++)
    if (in_stencil(code % steps_along - width, code / steps_along % steps_along - width,
                   code / steps_along / steps_along - width) &&
        count++ == arm)
      return code;
  return -1;
}

// Whether the step leads to the arm with that code.
constexpr bool is_arm(int code, int dx, int dy, int dz) {
  return dx + width + steps_along * (dy + width + steps_along * (dz + width)) == code;
}

// The directions of derivatives: none; or slots of a row, which are an unknown c at an arm's end: some from the first on,
// known to the compiler, or to the program; or one along the vector place.direction.
struct SeedOfSlots {
  static constexpr bool along_vector = false;
};
struct NoSeed : SeedOfSlots {
  static constexpr int  directions = 0;
  template <int n> bool matches(int, int, int, int) const { return false; }
};
template <int first, int count> struct Seeds : SeedOfSlots {
  static constexpr int  directions = count;
  template <int n> bool matches(int unknown, int dx, int dy, int dz) const {
    constexpr int code = arm_code((first + n) / unknowns);
    return unknown == (first + n) % unknowns && is_arm(code, dx, dy, dz);
  }
};
template <int count> struct AnySeeds : SeedOfSlots {
  static constexpr int directions = count;
  int                  c[count], code[count];

  explicit AnySeeds(int first) {
    SHELLAC_EACH for (int n = 0; n < count; n++) {
      c[n] = (first + n) % unknowns;
      code[n] = arm_code((first + n) / unknowns);
    }
  }
  template <int n> bool matches(int unknown, int dx, int dy, int dz) const {
    return unknown == c[n] && is_arm(code[n], dx, dy, dz);
  }
};
// The unknown c of the point itself. at_ends: also by the arms around periodic axes of few points, which lead back to it.
template <int c, bool at_ends> struct OwnSeed : SeedOfSlots {
  static constexpr int directions = 1;
  const Place         &place;

  explicit OwnSeed(const Place &place) : place(place) {}
  template <int n> bool matches(int unknown, int dx, int dy, int dz) const {
    return unknown == c && leads_back(0, dx) && leads_back(1, dy) && leads_back(2, dz);
  }

private:
  bool leads_back(int axis, int d) const {
    return d == 0 || (at_ends && place.periodic[axis] && d % place.N[axis] == 0);
  }
};
struct AlongVector {
  static constexpr int  directions = 1;
  static constexpr bool along_vector = true;
};

// The boundary's datum for an unknown, at a place on an end; from the text.
template <class R> ScalarOf<R> boundary_datum(const Place &place, int c, int axis, int side, R x, R y, R z, R t);

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

// The steps to where a periodic axis' point is in the arrays: they may lack ghost points, on one rank.
inline int around(const Place &place, int axis, Index index, int d) {
  const Index first = place.read_start[axis], behind = first + place.read_size[axis];
  while (index + d < first) d += (int)place.N[axis];
  while (index + d >= behind) d -= (int)place.N[axis];
  return d;
}

// What a neighbour that may be beyond an end is: given plus factor times the value at a step, in the arrays and as an arm.
struct Neighbour {
  Scalar given;
  Real   factor;
  int    in_arrays[axes], arm[axes];
};
SHELLAC_OUT_OF_LINE inline Neighbour neighbour_at_end(const Place &place, int c, Index i, Index j, Index k, int dx,
                                                      int dy, int dz) {
  const Index p[axes] = {i, j, k};
  Real        where[axes];
  Neighbour   n = {0, 1, {dx, dy, dz}, {dx, dy, dz}};
  for (int a = 0; a < axes; a++) where[a] = coordinate<Real>(place, a, p[a] + n.arm[a]);
  for (int a = 0; a < dim; a++) {
    const Index q = p[a] + n.arm[a];
    if (place.periodic[a]) n.in_arrays[a] = around(place, a, p[a], n.arm[a]);
    if (place.periodic[a] || (q >= 0 && q < place.N[a])) continue;
    const int   side = q < 0 ? 0 : 1;
    const Index steps = side ? q - place.N[a] + 1 : -q;
    const Fold &fold = place.folds[((c * axes + a) * sides + side) * width + steps - 1];
    where[a] = place.end[a][side];
    n.given +=
        n.factor * fold.given * boundary_datum<Real>(place, c, a, side, where[0], where[1], where[2], place.time);
    n.factor *= fold.factor;
    n.in_arrays[a] = n.arm[a] = (int)(fold.inside - p[a]);
    if (n.factor == 0) break;
  }
  return n;
}

// Where the values at a point and around it are read: in the arrays, where it is the point `at`.
struct FromArrays {
  const Place &place;
  Index        at;

  Index index(int dx, int dy, int dz) const {
    return at + dx + place.read_size[0] * (dy + place.read_size[1] * (Index)dz);
  }
  Scalar unknown(int c, int dx, int dy, int dz) const { return place.u[index(dx, dy, dz) * unknowns + c]; }
  Scalar direction(int c, int dx, int dy, int dz) const { return place.direction[index(dx, dy, dz) * unknowns + c]; }
  Scalar field(int f, int dx, int dy, int dz) const { return place.fields[f][index(dx, dy, dz)]; }
};

// A point of the grid, with its neighbours. at_ends: these may be beyond an end of the domain.
template <class SeedType, bool at_ends, class From = FromArrays> struct GridPoint {
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
    const int  farther = d < 0 ? d : d + 1, n = -2 - axis; // of no unknown and no field
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
    return at_ends && axis < dim && !place.periodic[axis] &&
           (index(axis) + side < 0 || index(axis) + side >= place.N[axis]);
  }
  bool check(int c, int dx, int dy, int dz) const {
    if (in_stencil(dx, dy, dz)) return true;
#if !defined(__CUDACC_RTC__)
    place.arm[0] = 1, place.arm[1] = dx, place.arm[2] = dy, place.arm[3] = dz, place.arm[4] = c;
#endif
    return false;
  }
  template <int c> Number unknown(int dx, int dy, int dz) const {
#if !defined(__CUDACC_RTC__)
    if constexpr (at_ends) return unknown_at_ends(c, dx, dy, dz);
#endif
    if (!check(c, dx, dy, dz)) return Number();
    if (at_ends && !within(dx, dy, dz)) return beyond(c, dx, dy, dz);
    return seeded(from.unknown(c, dx, dy, dz), 1, along(c, dx, dy, dz), c, dx, dy, dz);
  }
  template <int f> Scalar field(int dx, int dy, int dz) const { // beyond an end: the value at the end
    if (!check(-1, dx, dy, dz)) return 0;
    if (at_ends && !within(dx, dy, dz)) dx = inside(0, i, dx), dy = inside(1, j, dy), dz = inside(2, k, dz);
    return from.field(f, dx, dy, dz);
  }

  // What an unknown has along the vector place.direction, if derivatives are.
  Scalar along(int c, int dx, int dy, int dz) const {
    return SeedType::along_vector ? from.direction(c, dx, dy, dz) : Scalar(0);
  }
  // A value with the derivative `factor` in the direction of the unknown c at that step; along: what that has along a vector.
  Number seeded(Number value, Real factor, Scalar along, int c, int dx, int dy, int dz) const {
    seed_from<0>(&value, factor, along, c, dx, dy, dz);
    return value;
  }

private:
  template <int n> void seed_from(Number *value, Real factor, Scalar along, int c, int dx, int dy, int dz) const {
    if constexpr (SeedType::along_vector) {
      value->depends = 1;
      value->d[0] = factor == 0 ? 0 : factor * along;
    } else if constexpr (n < SeedType::directions) {
      const bool matches = seed.template matches<n>(c, dx, dy, dz);
      value->depends |= matches ? 1u << n : 0;
      value->d[n] = matches ? factor : 0;
      seed_from<n + 1>(value, factor, along, c, dx, dy, dz);
    }
  }
  Index index(int axis) const {
    return axis == 0 ? i : axis == 1 ? j : k;
  }
  Real table(int axis, AxisTable which, int d) const { // what reads the point says where it is beyond the stencil
    if (axis >= dim || d < -width || d > width) return place.inverse_h[axis];
    return place.stretched[axis][which * (place.N[axis] + 2 * width) + index(axis) + d + width];
  }
#if !defined(__CUDACC_RTC__)
  // On the host not once more at each use, which would take long to compile.
  SHELLAC_OUT_OF_LINE Number unknown_at_ends(int c, int dx, int dy, int dz) const {
    if (!check(c, dx, dy, dz)) return Number();
    if (!within(dx, dy, dz)) return beyond(c, dx, dy, dz);
    return seeded(from.unknown(c, dx, dy, dz), 1, along(c, dx, dy, dz), c, dx, dy, dz);
  }
#endif
  bool within(int dx, int dy, int dz) const { // the domain
    const auto along = [this](int axis, Index index, int d) {
      return d == 0 || (index + d >= 0 && index + d < place.N[axis]);
    };
    return along(0, i, dx) && along(1, j, dy) && along(2, k, dz);
  }
  int inside(int axis, Index index, int d) const {
    if (place.periodic[axis]) return axis < dim ? around(place, axis, index, d) : d;
    return (int)((index + d < 0 ? 0 : index + d >= place.N[axis] ? place.N[axis] - 1 : index + d) - index);
  }
  Number beyond(int c, int dx, int dy, int dz) const {
    const Neighbour n = neighbour_at_end(place, c, i, j, k, dx, dy, dz);
    const int      *d = n.in_arrays, *arm = n.arm;
    if (n.factor == 0) return seeded(n.given, 0, 0, c, arm[0], arm[1], arm[2]); // d may lead nowhere
    return seeded(n.given + n.factor * from.unknown(c, d[0], d[1], d[2]), n.factor, along(c, d[0], d[1], d[2]), c,
                  arm[0], arm[1], arm[2]);
  }
};

// The unknowns' values, as the text writes them: u, u(1, 0). A number itself, that of the point.
template <class Point, int c> struct Unknown : Point::Number {
  using Number = typename Point::Number;
  const Point &point;

  explicit Unknown(const Point &point) : Number(point.template unknown<c>(0, 0, 0)), point(point) {}
  Number operator()(int dx = 0, int dy = 0, int dz = 0) const { return point.template unknown<c>(dx, dy, dz); }
};
template <class Point, int f> struct Coefficient : Point::Number {
  using Number = typename Point::Number;
  const Point &point;

  explicit Coefficient(const Point &point) : Number(point.template field<f>(0, 0, 0)), point(point) {}
  typename Point::Scalar operator()(int dx = 0, int dy = 0, int dz = 0) const {
    return point.template field<f>(dx, dy, dz);
  }
};

// ---- rows ----------------------------------------------------------------------------------------------------------

// The unknown is given at this point: its row says so.
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

template <class Row, int r, bool ends, class From>
inline Scalar value_of(const Place &q, Index i, Index j, Index k, const From &from) {
  if constexpr (ends) {
    int axis, side;
    if (is_given(q, r, i, j, k, &axis, &side)) {
      const Real x = coordinate<Real>(q, 0, i), y = coordinate<Real>(q, 1, j), z = coordinate<Real>(q, 2, k);
      const auto g = [&](Real t) { return boundary_datum<Real>(q, r, axis, side, x, y, z, t); };
      if constexpr (Row::is_rate) {
        const Real dt = Real(1e-5) * (1 + fabs(q.time));
        return (g(q.time + dt) - g(q.time - dt)) / (2 * dt);
      } else
        return q.given_scale[r] * (from.unknown(r, 0, 0, 0) - g(q.time));
    }
  }
  const GridPoint<NoSeed, ends, From> point(q, NoSeed(), i, j, k, from);
  return Row::template at<r>(point).v;
}

// The sources at a point, and then the values of all rows. to: its place in the arrays written
template <int r = 0> inline void sources_at(const Place &q, Index to, Scalar *sources) {
  sources[r] = has_exact && q.source ? q.source[to * unknowns + r] : 0;
  if constexpr (r + 1 < unknowns) sources_at<r + 1>(q, to, sources);
}
template <class Row, bool ends, int r = 0, class From>
inline void values_of(const Place &q, Index i, Index j, Index k, const From &from, const Scalar *sources,
                      Scalar *values) {
  const Scalar value = value_of<Row, r, ends>(q, i, j, k, from);
  values[r] = q.row_scale * (has_exact ? value + sources[r] : value);
  if constexpr (r + 1 < unknowns) values_of<Row, ends, r + 1>(q, i, j, k, from, sources, values);
}
template <class Row, bool ends>
inline void values_at(const Place &q, Index i, Index j, Index k, const FromArrays &from, Index to, Scalar *values) {
  Scalar sources[unknowns];
  sources_at(q, to, sources);
  values_of<Row, ends>(q, i, j, k, from, sources, values);
}

// Entries of a row, in the seeds' directions.
template <class Row, int r, bool ends, class SeedType, class From>
inline void entries_of(const Place &q, const SeedType &seed, Index i, Index j, Index k, const From &from,
                       Scalar *entries) {
  using Point = GridPoint<SeedType, ends, From>;
  const Point            point(q, seed, i, j, k, from);
  typename Point::Number row;
  int                    axis, side;
  if (ends && is_given(q, r, i, j, k, &axis, &side))
    row = point.seeded(Real(0), Row::is_rate ? 0 : q.given_scale[r], point.along(r, 0, 0, 0), r, 0, 0, 0);
  else
    row = Row::template at<r>(point);
  SHELLAC_EACH for (int n = 0; n < SeedType::directions; n++) entries[n] = q.row_scale * row.d[n];
}

// The Jacobian's rows at a point times the vector place.direction; the diagonal.
template <class Row, bool ends, int r = 0, class From>
inline void products_at(const Place &q, Index i, Index j, Index k, const From &from, Scalar *out) {
  entries_of<Row, r, ends>(q, AlongVector(), i, j, k, from, out + r);
  if constexpr (r + 1 < unknowns) products_at<Row, ends, r + 1>(q, i, j, k, from, out);
}
template <class Row, bool ends, int r = 0, class From>
inline void diagonal_at(const Place &q, Index i, Index j, Index k, const From &from, Scalar *out) {
  entries_of<Row, r, ends>(q, OwnSeed<r, ends>(q), i, j, k, from, out + r);
  if constexpr (r + 1 < unknowns) diagonal_at<Row, ends, r + 1>(q, i, j, k, from, out);
}

// The exact solution's datum on an end: its value, or du/dn + alpha u.
template <class Exact, int c, class R>
ScalarOf<R> exact_datum(const Place &q, int axis, int side, bool normal, R alpha, R x, R y, R z, R t) {
  const auto u = [&](Wide step) {
    return Exact::template at<c, Wide>(q, (Wide)x + (axis == 0 ? step : 0), (Wide)y + (axis == 1 ? step : 0),
                                       (Wide)z + (axis == 2 ? step : 0), (Wide)t);
  };
  if (!normal) return ScalarOf<R>(u(0));
  const Wide h = Wide(1e-3) * (q.end[axis][1] - q.end[axis][0]);
  const auto slope = (45 * (u(h) - u(-h)) - 9 * (u(2 * h) - u(-2 * h)) + (u(3 * h) - u(-3 * h))) / (60 * h);
  return ScalarOf<R>((side ? slope : -slope) + alpha * u(0));
}

} // namespace equation
} // namespace shellac
