// What the text of an equation is compiled with, after interface.hpp, numbers.hpp and the constants `dim`, `unknowns`,
// `width` and `box`: points, helpers, loops. Without includes: a compiler for a GPU takes it as the host's does.

namespace shellac {
namespace equation {

// ---- points of the grid --------------------------------------------------------------------------------------------

constexpr int steps_along = 2 * width + 1;
constexpr int arm_count = box ? (dim == 1   ? steps_along
                                 : dim == 2 ? steps_along * steps_along
                                            : steps_along * steps_along * steps_along)
                              : 2 * dim * width + 1;

// Whether a step stays within the stencil.
constexpr bool in_stencil(int dx, int dy, int dz) {
  const int d[axes] = {dx, dy, dz};
  int       moved = 0;
  for (int a = 0; a < axes; a++) {
    if (d[a] < -width || d[a] > width || (a >= dim && d[a] != 0)) return false;
    moved += d[a] != 0;
  }
  return box || moved <= 1;
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

// The direction of a derivative: none; the unknown c at an arm's end, known to the compiler; or to the program.
struct NoSeed {
  static constexpr bool dual = false;
  bool                  matches(int, int, int, int) const { return false; }
};
template <int c, int arm> struct Seed {
  static constexpr bool dual = true;
  static constexpr int  code = arm_code(arm);
  bool                  matches(int unknown, int dx, int dy, int dz) const {
                     return unknown == c && dx + width + steps_along * (dy + width + steps_along * (dz + width)) == code;
  }
};
struct AnySeed {
  static constexpr bool dual = true;
  int                   c, code;
  bool                  matches(int unknown, int dx, int dy, int dz) const {
                     return unknown == c && dx + width + steps_along * (dy + width + steps_along * (dz + width)) == code;
  }
};

// The boundary's datum for an unknown, at a place on an end; from the text.
template <class R> R boundary_datum(const Place &place, int c, int axis, int side, R x, R y, R z, R t);

// A point of the grid, with its neighbours. at_ends: these may be beyond an end of the domain.
template <class SeedType, bool at_ends> struct GridPoint {
  using Real = equation::Real;
  using Number = equation::Number<Real, SeedType::dual>;

  Place   &place;
  SeedType seed;
  Index    i, j, k;
  Index    at; // in the arrays with ghosts

  GridPoint(Place &place, SeedType seed, Index i, Index j, Index k, Index at)
      : place(place), seed(seed), i(i), j(j), k(k), at(at) {}

  Real  x(int axis) const { return place.origin[axis] + (Real)(axis == 0 ? i : axis == 1 ? j : k) * place.h[axis]; }
  Real  h(int axis) const { return place.h[axis]; }
  Real  t() const { return place.time; }
  Index distance(int dx, int dy, int dz) const {
    return dx + place.ghost_size[0] * (dy + place.ghost_size[1] * (Index)dz);
  }
  bool check(int c, int dx, int dy, int dz) const {
    if (in_stencil(dx, dy, dz)) return true;
    place.arm[0] = 1, place.arm[1] = dx, place.arm[2] = dy, place.arm[3] = dz, place.arm[4] = c;
    return false;
  }
  template <int c> Number unknown(int dx, int dy, int dz) const {
    if (!check(c, dx, dy, dz)) return Number();
    if constexpr (at_ends) return beyond(c, dx, dy, dz);
    return Number(place.u[(at + distance(dx, dy, dz)) * unknowns + c], seed.matches(c, dx, dy, dz) ? 1 : 0);
  }
  template <int f> Real field(int dx, int dy, int dz) const { // beyond an end: the value at the end
    if (!check(-1, dx, dy, dz)) return 0;
    if constexpr (at_ends) dx = inside(0, i, dx), dy = inside(1, j, dy), dz = inside(2, k, dz);
    return place.fields[f][at + distance(dx, dy, dz)];
  }

private:
  int inside(int axis, Index index, int d) const {
    if (place.periodic[axis]) return d;
    return (int)((index + d < 0 ? 0 : index + d >= place.N[axis] ? place.N[axis] - 1 : index + d) - index);
  }
  Number beyond(int c, int dx, int dy, int dz) const {
    const Index p[axes] = {i, j, k};
    int         d[axes] = {dx, dy, dz};
    Real        factor = 1, given = 0, where[axes];
    for (int a = 0; a < axes; a++) where[a] = place.origin[a] + (Real)(p[a] + d[a]) * place.h[a];
    for (int a = 0; a < dim; a++) {
      const Index q = p[a] + d[a];
      if (place.periodic[a] || (q >= 0 && q < place.N[a])) continue;
      const int   side = q < 0 ? 0 : 1;
      const Index steps = side ? q - place.N[a] + 1 : -q;
      const Fold &fold = place.folds[((c * axes + a) * sides + side) * width + steps - 1];
      where[a] = place.end[a][side];
      given += factor * fold.given * boundary_datum<Real>(place, c, a, side, where[0], where[1], where[2], place.time);
      factor *= fold.factor;
      d[a] = (int)(fold.inside - p[a]);
      if (factor == 0) return Number(given);
    }
    return Number(given + factor * place.u[(at + distance(d[0], d[1], d[2])) * unknowns + c],
                  seed.matches(c, d[0], d[1], d[2]) ? factor : 0);
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
  typename Point::Real operator()(int dx = 0, int dy = 0, int dz = 0) const { return point.template field<f>(dx, dy, dz); }
};

// ---- helpers: differences of second order --------------------------------------------------------------------------

template <class U> auto neighbour(const U &u, int axis, int d) {
  return u(axis == 0 ? d : 0, axis == 1 ? d : 0, axis == 2 ? d : 0);
}
// first and second derivatives along an axis
template <class U> auto derivative(const U &u, int axis) {
  return (neighbour(u, axis, 1) - neighbour(u, axis, -1)) * (1 / (2 * u.point.h(axis)));
}
template <class U> auto second(const U &u, int axis) {
  return (neighbour(u, axis, 1) - 2 * u(0, 0, 0) + neighbour(u, axis, -1)) * (1 / (u.point.h(axis) * u.point.h(axis)));
}
template <class U> auto dx(const U &u) {
  return derivative(u, 0);
}
template <class U> auto dy(const U &u) {
  return derivative(u, 1);
}
template <class U> auto dz(const U &u) {
  return derivative(u, 2);
}
template <class U> auto dxx(const U &u) {
  return second(u, 0);
}
template <class U> auto dyy(const U &u) {
  return second(u, 1);
}
template <class U> auto dzz(const U &u) {
  return second(u, 2);
}
template <class U> auto dxy(const U &u) { // needs a box
  return (u(1, 1) - u(-1, 1) - u(1, -1) + u(-1, -1)) * (1 / (4 * u.point.h(0) * u.point.h(1)));
}
template <class U> auto laplacian(const U &u) {
  auto sum = second(u, 0);
  for (int a = 1; a < dim; a++) sum = sum + second(u, a);
  return sum;
}

// A coefficient at a neighbour: of a field, or a constant.
template <class Point, int f> auto coefficient_at(const Coefficient<Point, f> &k, int axis, int d) {
  return neighbour(k, axis, d);
}
template <class Point, int c> auto coefficient_at(const Unknown<Point, c> &k, int axis, int d) {
  return neighbour(k, axis, d);
}
template <class A, class R = typename Arithmetic<A>::type> R coefficient_at(A k, int, int) {
  return k;
}

// The divergence of k grad u, with the harmonic mean of k on the faces between points.
template <class K, class U> auto d(const K &k, const U &u) {
  auto flux = [&](int axis, int side) {
    const auto k0 = coefficient_at(k, axis, 0), k1 = coefficient_at(k, axis, side);
    return 2 * k0 * k1 / (k0 + k1) * (neighbour(u, axis, side) - u(0, 0, 0)) *
           (1 / (u.point.h(axis) * u.point.h(axis)));
  };
  auto sum = flux(0, -1) + flux(0, 1);
  for (int a = 1; a < dim; a++) sum = sum + flux(a, -1) + flux(a, 1);
  return sum;
}

// w du/dx along an axis, by the difference against the wind.
template <class W, class U> auto upwind(const W &w, const U &u, int axis) {
  const auto positive = max(w, 0), negative = min(w, 0);
  return (positive * (u(0, 0, 0) - neighbour(u, axis, -1)) + negative * (neighbour(u, axis, 1) - u(0, 0, 0))) *
         (1 / u.point.h(axis));
}
template <class W, class U> auto upwind_x(const W &w, const U &u) {
  return upwind(w, u, 0);
}
template <class W, class U> auto upwind_y(const W &w, const U &u) {
  return upwind(w, u, 1);
}
template <class W, class U> auto upwind_z(const W &w, const U &u) {
  return upwind(w, u, 2);
}

// The Laplacian of the Laplacian: 5, 13 or 25 points; needs a width of 2 and, beyond one dimension, a box.
template <class U> auto bilaplacian(const U &u) {
  auto sum = 0 * u(0, 0, 0);
  for (int a = 0; a < dim; a++) {
    const auto h = u.point.h(a);
    sum = sum + (neighbour(u, a, 2) - 4 * neighbour(u, a, 1) + 6 * u(0, 0, 0) - 4 * neighbour(u, a, -1) +
                 neighbour(u, a, -2)) *
                    (1 / (h * h * h * h));
    for (int b = 0; b < a; b++) {
      const auto at = [&](int da, int db) {
        return u(a == 0 ? da : b == 0 ? db : 0, a == 1 ? da : b == 1 ? db : 0, a == 2 ? da : b == 2 ? db : 0);
      };
      const auto g = u.point.h(b);
      sum = sum + 2 *
                      (at(1, 1) + at(1, -1) + at(-1, 1) + at(-1, -1) -
                       2 * (at(1, 0) + at(-1, 0) + at(0, 1) + at(0, -1)) + 4 * at(0, 0)) *
                      (1 / (h * h * g * g));
    }
  }
  return sum;
}

// ---- loops ---------------------------------------------------------------------------------------------------------

// The place of a point in the arrays that are read, and in those that are written.
inline Index ghost_index(const Place &q, Index i, Index j, Index k) {
  return i - q.ghost_start[0] + q.ghost_size[0] * (j - q.ghost_start[1] + q.ghost_size[1] * (k - q.ghost_start[2]));
}
inline Index out_index(const Place &q, Index i, Index j, Index k) {
  return i - q.out_start[0] + q.out_size[0] * (j - q.out_start[1] + q.out_size[1] * (k - q.out_start[2]));
}

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

template <class Row, int r, bool ends> inline Real value_of(Place &q, Index i, Index j, Index k, Index from) {
  if constexpr (ends) {
    int axis, side;
    if (is_given(q, r, i, j, k, &axis, &side)) {
      const Real x = q.origin[0] + i * q.h[0], y = q.origin[1] + j * q.h[1], z = q.origin[2] + k * q.h[2];
      const auto g = [&](Real t) { return boundary_datum<Real>(q, r, axis, side, x, y, z, t); };
      if constexpr (Row::is_rate) {
        const Real dt = Real(1e-5) * (1 + fabs(q.time));
        return (g(q.time + dt) - g(q.time - dt)) / (2 * dt);
      } else
        return q.given_scale[r] * (q.u[from * unknowns + r] - g(q.time));
    }
  }
  const GridPoint<NoSeed, ends> point(q, NoSeed(), i, j, k, from);
  return Row::template at<r>(point).v;
}

template <class Row, int r, bool ends, class SeedType>
inline Real entry_of(Place &q, SeedType seed, Index i, Index j, Index k, Index from) {
  if constexpr (ends) {
    int axis, side;
    if (is_given(q, r, i, j, k, &axis, &side)) return !Row::is_rate && seed.matches(r, 0, 0, 0) ? q.given_scale[r] : 0;
  }
  const GridPoint<SeedType, ends> point(q, seed, i, j, k, from);
  return Row::template at<r>(point).derivative();
}

template <class Row, bool ends, int r = 0>
inline void values_of(Place &q, Index i, Index j, Index k, Index from, Real *out) {
  out[r] = value_of<Row, r, ends>(q, i, j, k, from);
  if constexpr (r + 1 < unknowns) values_of<Row, ends, r + 1>(q, i, j, k, from, out);
}

#if defined(__clang__)
#define SHELLAC_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__) && !defined(__CUDACC_RTC__)
#define SHELLAC_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SHELLAC_INDEPENDENT
#endif

// f(i, j, k, place read, place written) for all points of a region
template <class Function> inline void for_each_point(const Place &q, const Region &region, const Function &f) {
  for (Index k = region.start[2]; k < region.end[2]; k++)
    for (Index j = region.start[1]; j < region.end[1]; j++) {
      const Index from = ghost_index(q, 0, j, k), to = out_index(q, 0, j, k), last = region.end[0];
      SHELLAC_INDEPENDENT
      for (Index i = region.start[0]; i < last; i++) f(i, j, k, from + i, to + i);
    }
}

template <class Row> void all_values(Place *place, const Region *region, Real *out) {
  Place q = *place; // its own copy: what is written does not change it
  if (region->ends)
    for_each_point(q, *region, [&](Index i, Index j, Index k, Index from, Index to) {
      values_of<Row, true>(q, i, j, k, from, out + to * unknowns);
    });
  else
    for_each_point(q, *region, [&](Index i, Index j, Index k, Index from, Index to) {
      values_of<Row, false>(q, i, j, k, from, out + to * unknowns);
    });
  for (int n = 0; n < 5; n++) place->arm[n] = q.arm[n];
}

template <class Row, int r, int slot = 0> void entries_of_row(Place &q, const Region &region, Real *const *out) {
  Real *to_slot = out[r * arm_count * unknowns + slot];
  for_each_point(q, region, [&](Index i, Index j, Index k, Index from, Index to) {
    to_slot[to] = entry_of<Row, r, false>(q, Seed<slot % unknowns, slot / unknowns>(), i, j, k, from);
  });
  if constexpr (slot + 1 < arm_count * unknowns) entries_of_row<Row, r, slot + 1>(q, region, out);
}

// A compiler takes long over many slots: their seeds are then known to the program only.
constexpr bool few_slots = unknowns * unknowns * arm_count <= 32;

template <class Row, int r = 0> void all_entries_of(Place &q, const Region &region, Real *const *out) {
  if constexpr (few_slots) {
    if (!region.ends) entries_of_row<Row, r>(q, region, out);
  }
  if (region.ends || !few_slots)
    for (int slot = 0; slot < arm_count * unknowns; slot++) {
      const AnySeed seed{slot % unknowns, arm_code(slot / unknowns)};
      Real         *to_slot = out[r * arm_count * unknowns + slot];
      if (region.ends)
        for_each_point(q, region, [&](Index i, Index j, Index k, Index from, Index to) {
          to_slot[to] = entry_of<Row, r, true>(q, seed, i, j, k, from);
        });
      else if constexpr (!few_slots)
        for_each_point(q, region, [&](Index i, Index j, Index k, Index from, Index to) {
          to_slot[to] = entry_of<Row, r, false>(q, seed, i, j, k, from);
        });
    }
  if constexpr (r + 1 < unknowns) all_entries_of<Row, r + 1>(q, region, out);
}
template <class Row> void all_entries(Place *place, const Region *region, Real *const *out) {
  Place q = *place;
  all_entries_of<Row>(q, *region, out);
  for (int n = 0; n < 5; n++) place->arm[n] = q.arm[n];
}

// A function of the coordinates alone.
template <class Row, int r = 0> inline void values_at(const Place &q, Index i, Index j, Index k, Real *out) {
  out[r] = Row::template at<r, Real>(q, q.origin[0] + i * q.h[0], q.origin[1] + j * q.h[1], q.origin[2] + k * q.h[2],
                                     q.time);
  if constexpr (r + 1 < unknowns) values_at<Row, r + 1>(q, i, j, k, out);
}
template <class Row> void all_coordinates(Place *q, const Region *region, Real *out) {
  for_each_point(*q, *region,
                 [&](Index i, Index j, Index k, Index, Index to) { values_at<Row>(*q, i, j, k, out + to * unknowns); });
}

#if !defined(__CUDACC_RTC__)
// ---- manufactured solutions, on the host ---------------------------------------------------------------------------

// A point of a grid of any spacing, where the unknowns have the values of the exact solution.
template <class Exact, class Fields> struct ExactPoint {
  using Real = long double;
  using Number = equation::Number<Real, false>;

  const Place &place;
  Real         x_[axes], h_[axes];

  Real                    x(int axis) const { return x_[axis]; }
  Real                    h(int axis) const { return h_[axis]; }
  Real                    t() const { return place.time; }
  template <int c> Number unknown(int dx, int dy, int dz) const {
    return Number(Exact::template at<c, Real>(place, x_[0] + dx * h_[0], x_[1] + dy * h_[1], x_[2] + dz * h_[2],
                                              (Real)place.time));
  }
  template <int f> Real field(int dx, int dy, int dz) const {
    return Fields::template at<f, Real>(place, x_[0] + dx * h_[0], x_[1] + dy * h_[1], x_[2] + dz * h_[2],
                                        (Real)place.time);
  }
};

// What the equation makes of the exact solution in the limit of small spacings: by extrapolation (Richardson 1911) from
// three of them, of sixth order. A rate's source is the exact solution's derivative in time, less the rate.
template <class Row, class Exact, class Fields, int r>
inline Real source_of(const Place &q, Index i, Index j, Index k) {
  long double value[3];
  for (int n = 0; n < 3; n++) {
    ExactPoint<Exact, Fields> point{q, {}, {}};
    const Index               p[axes] = {i, j, k};
    for (int a = 0; a < axes; a++) {
      point.x_[a] = q.origin[a] + (long double)p[a] * q.h[a];
      point.h_[a] = (long double)q.step * (q.end[a][1] - q.end[a][0]) / (1 << n);
      if (a >= dim) point.h_[a] = 1;
    }
    value[n] = Row::template at<r>(point).v;
  }
  const long double a = (4 * value[1] - value[0]) / 3, b = (4 * value[2] - value[1]) / 3, limit = (16 * b - a) / 15;
  if constexpr (!Row::is_rate) return (Real)limit;
  const auto u = [&](long double t) {
    return Exact::template at<r, long double>(q, q.origin[0] + (long double)i * q.h[0],
                                              q.origin[1] + (long double)j * q.h[1],
                                              q.origin[2] + (long double)k * q.h[2], t);
  };
  const long double t = q.time, dt = 1e-4L;
  return (Real)((8 * (u(t + dt) - u(t - dt)) - (u(t + 2 * dt) - u(t - 2 * dt))) / (12 * dt) - limit);
}
template <class Row, class Exact, class Fields, int r = 0>
inline void sources_of(const Place &q, Index i, Index j, Index k, Real *out) {
  int axis, side;
  out[r] = is_given(q, r, i, j, k, &axis, &side) ? 0 : source_of<Row, Exact, Fields, r>(q, i, j, k);
  if constexpr (r + 1 < unknowns) sources_of<Row, Exact, Fields, r + 1>(q, i, j, k, out);
}
template <class Row, class Exact, class Fields> void all_sources(Place *q, const Region *region, Real *out) {
  for (Index k = region->start[2]; k < region->end[2]; k++)
    for (Index j = region->start[1]; j < region->end[1]; j++)
      for (Index i = region->start[0]; i < region->end[0]; i++)
        sources_of<Row, Exact, Fields>(*q, i, j, k, out + out_index(*q, i, j, k) * unknowns);
}
// The exact solution's datum on an end: its value, or du/dn + alpha u.
template <class Exact, int c, class R>
R exact_datum(const Place &q, int axis, int side, bool normal, R alpha, R x, R y, R z, R t) {
  const auto u = [&](long double step) {
    return Exact::template at<c, long double>(q, (long double)x + (axis == 0 ? step : 0),
                                              (long double)y + (axis == 1 ? step : 0),
                                              (long double)z + (axis == 2 ? step : 0), (long double)t);
  };
  if (!normal) return (R)u(0);
  const long double h = 1e-3L * (q.end[axis][1] - q.end[axis][0]);
  const long double slope = (45 * (u(h) - u(-h)) - 9 * (u(2 * h) - u(-2 * h)) + (u(3 * h) - u(-3 * h))) / (60 * h);
  return (R)((side ? slope : -slope) + alpha * u(0));
}
#endif

} // namespace equation
} // namespace shellac
