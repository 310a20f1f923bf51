// The helpers of a text: second-order differences. After prelude.hpp; for any compiler.

namespace shellac {
namespace equation {

// Along an axis of a function f(d) of steps to neighbours, at the neighbour `at`, of which p is the point: the difference to
// the neighbour on a side over their distance; the derivative; the second one. On a stretched axis the first derivative
// is the parabola's through the three points, the second one is the balance of a cell. Each value is taken once: a
// compiler takes long over those that it finds to be the same.
template <class Point, class F> auto slope(const Point &p, int axis, int side, const F &f) {
  return (side > 0 ? f(1) - f(0) : f(0) - f(-1)) * p.inverse_step(axis, side > 0 ? 0 : -1);
}
// Of a stretched axis' first derivative: what differences() takes behind and ahead.
template <class R> struct Weights { R behind, ahead; };
template <class Point> auto first_weights(const Point &p, int axis) {
  using R = typename Point::Real;
  const R half = p.inverse_h(axis) / 2;
  return Weights<R>{p.inverse_step(axis, -1) * p.step(axis, 0) * half,
                    p.inverse_step(axis, 0) * p.step(axis, -1) * half};
}
template <class Point, class F> auto first_difference(const Point &p, int axis, const F &f) {
  if constexpr (stretched) {
    const auto w = first_weights(p, axis);
    return differences(f(-1), f(0), f(1), w.behind, w.ahead);
  } else
    return (f(1) - f(-1)) * (p.inverse_h(axis) / 2);
}
template <class Point, class F> auto second_difference(const Point &p, int axis, const F &f, int at = 0) {
  const auto before = f(-1), here = f(0), after = f(1);
  if constexpr (stretched)
    return differences(before, here, after, -p.inverse_step(axis, at - 1) * p.inverse_h(axis, at),
                       p.inverse_step(axis, at) * p.inverse_h(axis, at));
  else
    return (after - 2 * here + before) * (p.inverse_h(axis) * p.inverse_h(axis));
}

// The second one of fourth order, on a uniform axis; of second order where it would read beyond an end. Of equal values
// it is zero to the last bit.
template <class Point, class F> auto second_of_fourth_order(const Point &p, int axis, const F &f) {
  if (p.leaves(axis, -2) || p.leaves(axis, 2)) return second_difference(p, axis, f);
  const auto here = f(0), near = (f(1) - here) - (here - f(-1)), far = (f(2) - here) - (here - f(-2));
  return (16 * near - far) * (p.inverse_h(axis) * p.inverse_h(axis) / 12);
}

template <class U> auto neighbour(const U &u, int axis, int d) {
  return u(axis == 0 ? d : 0, axis == 1 ? d : 0, axis == 2 ? d : 0);
}
// What is differentiated: a field as a formula, which continues smoothly beyond an end.
template <class Of, class Point> struct Formula;
template <int f> struct ValueOfField {
  template <class Point> static auto at(const Point &p) { return p.template field<f>(0, 0, 0); }
};
template <class U> const U &continued(const U &u) {
  return u;
}
template <class Point, int f> Formula<ValueOfField<f>, Point> continued(const Coefficient<Point, f> &k) {
  return {k.point};
}
// A helper of some arguments along an axis.
#define SHELLAC_ALONG(name, helper, axis)                                                                              \
  template <class... Of> auto name(const Of &...of) {                                                                  \
    return helper(of..., axis);                                                                                        \
  }

// first and second derivatives
template <class U> auto derivative(const U &u, int axis) {
  const auto &of = continued(u);
  return first_difference(u.point, axis, [&](int d) { return neighbour(of, axis, d); });
}
template <int order = 2, class U> auto second(const U &u, int axis) {
  const auto &of = continued(u);
  const auto  f = [&](int d) { return neighbour(of, axis, d); };
  if constexpr (order == 4)
    return second_of_fourth_order(u.point, axis, f);
  else
    return second_difference(u.point, axis, f);
}
SHELLAC_ALONG(dx, derivative, 0)
SHELLAC_ALONG(dy, derivative, 1)
SHELLAC_ALONG(dz, derivative, 2)
SHELLAC_ALONG(dxx, second, 0)
SHELLAC_ALONG(dyy, second, 1)
SHELLAC_ALONG(dzz, second, 2)
SHELLAC_ALONG(dxx_4, second<4>, 0)
SHELLAC_ALONG(dyy_4, second<4>, 1)
SHELLAC_ALONG(dzz_4, second<4>, 2)
template <class V> auto dxy(const V &v) { // needs a box
  const auto &u = continued(v);
  if constexpr (stretched) {
    const auto along_x = first_weights(u.point, 0);
    return first_difference(
        u.point, 1, [&](int j) { return differences(u(-1, j), u(0, j), u(1, j), along_x.behind, along_x.ahead); });
  } else
    return (u(1, 1) - u(-1, 1) - u(1, -1) + u(-1, -1)) * (u.point.inverse_h(0) * u.point.inverse_h(1) / 4);
}
template <int order = 2, class U> auto laplacian(const U &u) {
  auto sum = second<order>(u, 0);
  SHELLAC_EACH for (int a = 1; a < dim; a++) sum = sum + second<order>(u, a);
  return sum;
}
template <class U> auto laplacian_4(const U &u) {
  return laplacian<4>(u);
}
// A point so many steps away, for formulas that are evaluated there.
template <class Point> struct Shifted {
  using Real = typename Point::Real;
  using Scalar = typename Point::Scalar;
  using Number = typename Point::Number;

  const Point &from;
  const Place &place;
  int          d[axes];

  Real                    x(int axis, int by = 0) const { return from.x(axis, d[axis] + by); }
  Real                    h(int axis) const { return stretched ? inverse(inverse_h(axis)) : from.h(axis); }
  Real                    step(int axis, int by) const { return from.step(axis, d[axis] + by); }
  Real                    inverse_h(int axis, int by = 0) const { return from.inverse_h(axis, d[axis] + by); }
  Real                    inverse_step(int axis, int by) const { return from.inverse_step(axis, d[axis] + by); }
  Real                    t() const { return from.t(); }
  bool                    leaves(int axis, int side) const { return from.leaves(axis, d[axis] + side); }
  template <int c> Number unknown(int dx, int dy, int dz) const {
    return from.template unknown<c>(d[0] + dx, d[1] + dy, d[2] + dz);
  }
  template <int n> Number integral() const { return from.template integral<n>(); }
  // Beyond an end by the line through the last two points: formulas continue smoothly there.
  template <int f> auto field(int dx, int dy, int dz) const {
    return field_from<f, 0>(d[0] + dx, d[1] + dy, d[2] + dz);
  }

private:
  template <int f, int axis> auto field_from(int dx, int dy, int dz) const {
    if constexpr (axis == dim)
      return from.template field<f>(dx, dy, dz);
    else {
      int       s[axes] = {dx, dy, dz}, &here = s[axis];
      const int step = here, side = step < 0 ? -1 : 1;
      if (step == 0 || !from.leaves(axis, step)) return field_from<f, axis + 1>(dx, dy, dz);
      while (here != 0 && from.leaves(axis, here)) here -= side;
      const Real last = from.x(axis, here);
      const auto at_last = field_from<f, axis + 1>(s[0], s[1], s[2]);
      here -= side;
      if (here < -width || from.leaves(axis, here)) return at_last;
      const Real ratio = (from.x(axis, step) - last) * inverse(last - from.x(axis, here));
      return at_last + ratio * (at_last - field_from<f, axis + 1>(s[0], s[1], s[2]));
    }
  }
};
// A formula as a field: `Of` has it at a point.
template <class Of, class Point> struct Formula {
  const Point &point;

  auto operator()(Step dx = 0, Step dy = 0, Step dz = 0) const {
    return Of::at(Shifted<Point>{point, point.place, {dx.steps, dy.steps, dz.steps}});
  }
};
template <class Of, class Point> Formula<Of, Point> at_neighbours(const Point &point) {
  return {point};
}
// The value of a formula as a number that is no integer and no unknown.
template <class A, class R = typename Arithmetic<A>::type> R number_of(A a) {
  return a;
}
template <class S, int directions> Number<S, directions> number_of(const Number<S, directions> &a) {
  return a;
}
#if defined(PETSC_USE_COMPLEX)
template <class R> Complex<R> number_of(const Complex<R> &a) {
  return a;
}
#endif

// A coefficient at a neighbour: of an unknown, or a constant.
template <class Point, int c> auto coefficient_at(const Unknown<Point, c> &k, int axis, int d) {
  return neighbour(k, axis, d);
}
template <class K> auto coefficient_at(const K &k, int, int) {
  return number_of(k);
}

// The inverse of the sum of two values; of two zeros one, as it is multiplied by them.
template <class A> auto inverse_sum(const A &a, const A &b) {
  return inverse(a + b + ((a == 0) & (b == 0) ? 1 : 0));
}
template <class A> auto size_of(const A &a) {
  return abs(a);
}
template <class S, int directions> auto size_of(const Number<S, directions> &a) {
  return abs(a.v);
}

// Half of what a coefficient is on the face towards a neighbour: of the harmonic mean.
template <class K> auto half_on_face(const K &k, int axis, int side) {
  const auto here = coefficient_at(k, axis, 0), other = coefficient_at(k, axis, side);
  return here * other * inverse_sum(here, other);
}
// Beyond the last point a field is extrapolated, if it does not jump, as by the Mat type diffusion: of second order.
template <class K> auto half_of_field(const K &k, int axis, int side) {
  const bool leaves = k.point.leaves(axis, side);
  const auto here = neighbour(k, axis, 0), other = leaves ? neighbour(k, axis, -side) : neighbour(k, axis, side),
             half = here / 2, over_sum = inverse_sum(here, other);
  if (!leaves) return here * other * over_sum;
  const auto slope = (here - other) * over_sum;
  if (!(size_of(slope) < 1)) return half;
  auto change = slope * (1 - slope * slope);
  if constexpr (stretched)
    change = change * (k.point.inverse_step(axis, side > 0 ? -1 : 0) / k.point.inverse_step(axis, side > 0 ? 0 : -1));
  return half * (1 + change);
}
template <class Point, int f> auto half_on_face(const Coefficient<Point, f> &k, int axis, int side) {
  return half_of_field(k, axis, side);
}
template <class Of, class Point> auto half_on_face(const Formula<Of, Point> &k, int axis, int side) {
  return half_of_field(k, axis, side);
}

// The divergence of k grad u.
template <class K, class V> auto d(const K &k, const V &v) {
  const auto &u = continued(v);
  const auto  here = u(0, 0, 0);
  const auto  change = [&](int axis, int side) {
    return half_on_face(k, axis, side) * (neighbour(u, axis, side) - here);
  };
  const auto along = [&](int axis) {
    const auto before = change(axis, -1), after = change(axis, 1);
    const auto h = u.point.inverse_h(axis);
    if constexpr (stretched)
      return (before * u.point.inverse_step(axis, -1) + after * u.point.inverse_step(axis, 0)) * (2 * h);
    else
      return (before + after) * (2 * h * h);
  };
  auto sum = along(0);
  SHELLAC_EACH for (int a = 1; a < dim; a++) sum = sum + along(a);
  return sum;
}

// w du/dx along an axis, by the difference against the wind.
template <class W, class U> auto upwind(const W &w, const U &u, int axis) {
  const auto  positive = max(w, 0), negative = min(w, 0);
  const auto &of = continued(u);
  const auto  f = [&](int d) { return neighbour(of, axis, d); };
  if constexpr (stretched)
    return positive * slope(u.point, axis, -1, f) + negative * slope(u.point, axis, 1, f);
  else
    return (positive * (f(0) - f(-1)) + negative * (f(1) - f(0))) * u.point.inverse_h(axis);
}
SHELLAC_ALONG(upwind_x, upwind, 0)
SHELLAC_ALONG(upwind_y, upwind, 1)
SHELLAC_ALONG(upwind_z, upwind, 2)

// The same of arguments that are all read at neighbours, along each axis: fields continue smoothly beyond an end.
#define SHELLAC_FLUX(name, helper, axis)                                                                               \
  template <class... Of> auto name(const Of &...of) {                                                                  \
    return helper(continued(of)..., axis);                                                                             \
  }
#define SHELLAC_FLUXES(name, helper)                                                                                   \
  SHELLAC_FLUX(name##_x, helper, 0) SHELLAC_FLUX(name##_y, helper, 1) SHELLAC_FLUX(name##_z, helper, 2)

// The derivative along an axis of a flux f of u, by the fluxes on faces: the mean, less the largest speed times half the
// difference of u (V. V. Rusanov, 1961).
template <class F, class S, class U> auto rusanov(const F &f, const S &speed, const U &u, int axis) {
  const auto twice_on_face = [&](int d) { // to the point d
    const auto faster = max(abs(neighbour(speed, axis, d - 1)), abs(neighbour(speed, axis, d)));
    return neighbour(f, axis, d - 1) + neighbour(f, axis, d) -
           faster * (neighbour(u, axis, d) - neighbour(u, axis, d - 1));
  };
  return (twice_on_face(1) - twice_on_face(0)) * (u.point.inverse_h(axis) / 2);
}
SHELLAC_FLUXES(rusanov, rusanov)

// The speeds of the waves at a face: halves f - speed u come from either side, and make twice the flux. They are s and -s,
// or those of the slowest and the fastest wave of both sides, in any order (A. Harten, P. D. Lax and B. van Leer, 1983);
// where all go one way, the flux is that of the side that they come from.
template <class S> struct EqualSpeeds {
  S                                s;
  template <class F, class U> auto half(int sign, const F &f, const U &u) const { return f + sign * s * u; }
  template <class A> auto twice(const A &from_lower, const A &from_upper) const { return from_lower + from_upper; }
};
template <class S> struct TwoSpeeds {
  S slow, fast, part; // not above and not below zero; what the lower side's half is of the flux
  template <class F, class U> auto half(int sign, const F &f, const U &u) const {
    return f - (sign > 0 ? slow : fast) * u;
  }
  template <class A> auto twice(const A &from_lower, const A &from_upper) const {
    return 2 * part * from_lower + 2 * (1 - part) * from_upper;
  }
};
template <class S> EqualSpeeds<S> equal_speeds(const S &s) {
  return {s};
}
template <class A, class B> auto two_speeds(const A &a, const A &other_a, const B &b, const B &other_b) {
  const auto slow = min(min(min(a, other_a), min(b, other_b)), 0), fast = max(max(max(a, other_a), max(b, other_b)), 0);
  const bool rest = slow == fast;
  const auto part = (fast + (rest ? 0.5 : 0.)) / (fast - slow + (rest ? 1. : 0.));
  return TwoSpeeds<decltype(number_of(part))>{slow, fast, part};
}

template <class F, class A, class B, class U> auto hll(const F &f, const A &a, const B &b, const U &u, int axis) {
  const auto at = [&](const auto &v, int d) { return neighbour(v, axis, d); };
  const auto twice_on_face = [&](int d) { // to the point d
    const auto s = two_speeds(at(a, d - 1), at(a, d), at(b, d - 1), at(b, d));
    return s.twice(s.half(1, at(f, d - 1), at(u, d - 1)), s.half(-1, at(f, d), at(u, d)));
  };
  return (twice_on_face(1) - twice_on_face(0)) * (u.point.inverse_h(axis) / 2);
}
SHELLAC_FLUXES(hll, hll)

// Of two slopes of one sign the smaller one (P. L. Roe, 1986), or the harmonic mean (B. van Leer, 1974); otherwise zero.
struct Minmod {
  template <class A> static auto of(const A &a, const A &b) { return max(min(a, b), 0) + min(max(a, b), 0); }
};
struct VanLeer {
  template <class A> static auto of(const A &a, const A &b) { // of any sizes
    const bool agree = a * b > 0;
    return 2 * (agree ? 1 * a : 0 * a) * (b / (agree ? a + b : 1 + 0 * b));
  }
};

// How each half(i) reaches the face from the point i, on the side that it comes from, sign 1 from the lower one: along a
// limited slope (B. van Leer, 1979; C.-W. Shu and S. Osher, 1988), or by three parabolas, of which those that bend least
// weigh most (G.-S. Jiang and C.-W. Shu, 1996). A number of any size: weights are those of parts of the values' size.
template <class Limiter> struct Slope {
  static constexpr int                           reach = 2;
  template <class Half, class Point> static auto on_face(const Half &half, int sign, int i, const Point &p, int axis) {
    const auto here = half(i), before = here - half(i - 1), after = half(i + 1) - here;
    if constexpr (stretched)
      return here + Limiter::of(before * p.inverse_step(axis, i - 1), after * p.inverse_step(axis, i)) *
                        (p.step(axis, sign > 0 ? i : i - 1) * sign / 2);
    else
      return here + Limiter::of(before, after) * sign / 2;
  }
};
struct Weno5 {
  static constexpr int                           reach = 3;
  template <class Half, class Point> static auto on_face(const Half &half, int sign, int i, const Point &, int) {
    const auto at_0 = half(i - 2 * sign), at_1 = half(i - sign), at_2 = half(i), at_3 = half(i + sign),
               at_4 = half(i + 2 * sign);
    const auto d0 = at_1 - at_0, d1 = at_2 - at_1, d2 = at_3 - at_2, d3 = at_4 - at_3;
    const auto c0 = d1 - d0, c1 = d2 - d1, c2 = d3 - d2;
    const auto s0 = 2 * d1 + c0, s1 = d1 + d2, s2 = 2 * d2 - c2; // twice the slopes
    const auto over = inverse(at_0 * at_0 + at_1 * at_1 + at_2 * at_2 + at_3 * at_3 + at_4 * at_4 + 1e-100);
    const auto rough = [&](const auto &c, const auto &s) { return 1e-6 + (13. / 12 * c * c + 0.25 * s * s) * over; };
    const auto b0 = rough(c0, s0), b1 = rough(c1, s1), b2 = rough(c2, s2);
    const auto p0 = b1 * b2, p1 = b0 * b2, p2 = b0 * b1;
    const auto w0 = p0 * p0, w1 = 6 * (p1 * p1), w2 = 3 * (p2 * p2);
    return at_2 + (w0 * (3 * d1 + 2 * c0) + w1 * (d1 + 2 * d2) + w2 * (3 * d2 - c2)) / (6 * (w0 + w1 + w2));
  }
};
// speeds(d): at the face to the point d; n: each point once, from -reach on.
template <class Rule, class Speeds, class F, class U, int... n>
auto by_halves(Indices<n...>, const Speeds &speeds, const F &f, const U &u, int axis) {
  const auto at = [&](const auto &v, int d) { return neighbour(v, axis, d); };
  constexpr int            first = -Rule::reach;
  const decltype(at(f, 0)) fluxes[] = {at(f, first + n)...};
  const decltype(at(u, 0)) values[] = {at(u, first + n)...};
  const auto               twice_on_face = [&](int d) {
    const auto s = speeds(d);
    const auto from = [&](int sign, int point) {
      return Rule::on_face([&](int i) { return s.half(sign, fluxes[i - first], values[i - first]); }, sign, point,
                           u.point, axis);
    };
    return s.twice(from(1, d - 1), from(-1, d));
  };
  return (twice_on_face(1) - twice_on_face(0)) * (u.point.inverse_h(axis) / 2);
}
// Of values at the points -1, 0 and 1.
#define SHELLAC_BESIDE_FACES(v) neighbour(v, axis, -1), neighbour(v, axis, 0), neighbour(v, axis, 1)
template <class Rule> using PointsOf = typename IndicesTo<2 * Rule::reach + 1>::type;
template <class Rule, class F, class S, class U> auto limited(const F &f, const S &speed, const U &u, int axis) {
  const decltype(neighbour(speed, axis, 0)) s[] = {SHELLAC_BESIDE_FACES(speed)};
  const auto                                speeds = [&](int d) { return equal_speeds(max(abs(s[d]), abs(s[d + 1]))); };
  return by_halves<Rule>(PointsOf<Rule>(), speeds, f, u, axis);
}
template <class Rule, class F, class A, class B, class U>
auto limited(const F &f, const A &slowest, const B &fastest, const U &u, int axis) {
  const decltype(neighbour(slowest, axis, 0)) a[] = {SHELLAC_BESIDE_FACES(slowest)};
  const decltype(neighbour(fastest, axis, 0)) b[] = {SHELLAC_BESIDE_FACES(fastest)};
  const auto speeds = [&](int d) { return two_speeds(a[d], a[d + 1], b[d], b[d + 1]); };
  return by_halves<Rule>(PointsOf<Rule>(), speeds, f, u, axis);
}
SHELLAC_FLUXES(minmod, limited<Slope<Minmod>>)
SHELLAC_FLUXES(hll_minmod, limited<Slope<Minmod>>)
SHELLAC_FLUXES(vanleer, limited<Slope<VanLeer>>)
SHELLAC_FLUXES(hll_vanleer, limited<Slope<VanLeer>>)
SHELLAC_FLUXES(weno5, limited<Weno5>)
SHELLAC_FLUXES(hll_weno5, limited<Weno5>)

// The Laplacian of the Laplacian: 5, 13 or 25 points; needs a width of 2 and, beyond one dimension, a box.
template <class V> auto bilaplacian(const V &v) {
  const auto &u = continued(v);
  auto sum = 0 * u(0, 0, 0);
  if constexpr (stretched) {
    SHELLAC_EACH for (int a = 0; a < dim; a++) SHELLAC_EACH for (int b = 0; b < dim; b++) sum =
        sum + second_difference(u.point, a, [&](int da) {
          return second_difference(
              u.point, b,
              [&](int db) {
                int d[axes] = {0, 0, 0};
                d[a] += da, d[b] += db;
                return u(d[0], d[1], d[2]);
              },
              a == b ? da : 0);
        });
    return sum;
  }
  SHELLAC_EACH for (int a = 0; a < dim; a++) {
    const auto h = u.point.inverse_h(a);
    sum = sum + (neighbour(u, a, 2) - 4 * neighbour(u, a, 1) + 6 * u(0, 0, 0) - 4 * neighbour(u, a, -1) +
                 neighbour(u, a, -2)) *
                    (h * h * h * h);
    SHELLAC_EACH for (int b = 0; b < a; b++) {
      const auto at = [&](int da, int db) {
        return u(a == 0 ? da : b == 0 ? db : 0, a == 1 ? da : b == 1 ? db : 0, a == 2 ? da : b == 2 ? db : 0);
      };
      const auto g = u.point.inverse_h(b);
      sum = sum + 2 *
                      (at(1, 1) + at(1, -1) + at(-1, 1) + at(-1, -1) -
                       2 * (at(1, 0) + at(-1, 0) + at(0, 1) + at(0, -1)) + 4 * at(0, 0)) *
                      (h * h * g * g);
    }
  }
  return sum;
}

} // namespace equation
} // namespace shellac
