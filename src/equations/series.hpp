// Truncated power series, with which derivatives are exact to rounding. After interface.hpp and numbers.hpp; without
// includes.

namespace shellac {
namespace equation {

// The sum of c[n] e^(order + n) for a small e > 0. Of these terms the first `known` ones are known, and nothing of
// later powers: a quotient of differences has fewer terms than its values. Comparisons are those in the limit e -> 0.
template <int terms> struct Series {
  Real c[terms] = {};
  int  order = 0, known = terms;

  Series(Real value = 0) { c[0] = value; }
  Series(Real value, Real slope) : order(value == 0) { // all its terms are known, wherever it begins
    c[0] = order ? slope : value;
    c[1] = order ? 0 : slope;
  }

  Real at(int power) const { return power < order || power >= order + terms ? 0 : c[power - order]; }
  Real limit() const { return known > -order ? at(0) : Real(0) / Real(0); } // not a number where it is not known

  friend Series operator+(const Series &a) { return a; }
  friend Series operator-(Series a) {
    for (Real &x : a.c) x = -x;
    return a;
  }
  friend Series operator+(const Series &a, const Series &b) {
    const int    first = a.order < b.order ? a.order : b.order;
    Series       sum = a.from(first);
    const Series other = b.from(first);
    for (int n = 0; n < terms; n++) sum.c[n] = total(sum.c[n], other.c[n]);
    return sum.known_as(other);
  }
  friend Series operator-(const Series &a, const Series &b) { return a + -b; }
  friend Series operator*(const Series &all_of_a, const Series &all_of_b) {
    const Series a = all_of_a.without_zeros(), b = all_of_b.without_zeros();
    Series       product;
    for (int n = 0; n < terms; n++) {
      product.c[n] = a.c[0] * b.c[n];
      for (int m = 1; m <= n; m++) product.c[n] += a.c[m] * b.c[n - m];
    }
    product.order = a.order + b.order, product.known = a.known;
    return product.known_as(b);
  }
  friend Series operator/(const Series &a, const Series &b) { return a * inverse(b); }
  friend Series inverse(const Series &all) {
    const Series b = all.without_zeros();
    Series       over(1 / b.c[0]);
    for (int n = 1; n < terms; n++) {
      for (int m = 1; m <= n; m++) over.c[n] -= b.c[m] * over.c[n - m];
      over.c[n] *= over.c[0];
    }
    over.order = -b.order, over.known = b.known;
    return over;
  }
  friend bool operator<(const Series &a, const Series &b) { return (a - b).first() < 0; }
  friend bool operator>(const Series &a, const Series &b) { return (a - b).first() > 0; }
  friend bool operator<=(const Series &a, const Series &b) { return (a - b).first() <= 0; }
  friend bool operator>=(const Series &a, const Series &b) { return (a - b).first() >= 0; }
  friend bool operator==(const Series &a, const Series &b) { return (a - b).first() == 0; }
  friend bool operator!=(const Series &a, const Series &b) { return !(a == b); }
#ifdef SHELLAC_EQUATION_OF_DATA
  explicit operator bool() const { return first() != 0; }
#endif

  friend Series exp(const Series &a) {
    return integrated(a, equation::exp(a.at(0)), [](const Series &f) { return f; });
  }
  friend Series log(const Series &a) {
    return integrated(a, equation::log(a.at(0)), [&](const Series &) { return inverse(a); });
  }
  friend Series sin(const Series &a) {
    Series other;
    return pair(a, equation::sin(a.at(0)), equation::cos(a.at(0)), -1, &other);
  }
  friend Series cos(const Series &a) {
    Series cosine;
    pair(a, equation::sin(a.at(0)), equation::cos(a.at(0)), -1, &cosine);
    return cosine;
  }
  friend Series sinh(const Series &a) {
    Series other;
    return pair(a, equation::sinh(a.at(0)), equation::cosh(a.at(0)), 1, &other);
  }
  friend Series cosh(const Series &a) {
    Series cosine;
    pair(a, equation::sinh(a.at(0)), equation::cosh(a.at(0)), 1, &cosine);
    return cosine;
  }
  friend Series tan(const Series &a) {
    return integrated(a, equation::tan(a.at(0)), [](const Series &f) { return 1 + f * f; });
  }
  friend Series tanh(const Series &a) { // the slope without cancellation, where it is small
    const Real over_cosh = 1 / equation::cosh(a.at(0)), slope = over_cosh * over_cosh;
    return integrated(a, equation::tanh(a.at(0)), [=](const Series &f) {
      Series rest = 1 - f * f;
      rest.c[0] = slope;
      return rest;
    });
  }
  friend Series asin(const Series &a) {
    return integrated(a, equation::asin(a.at(0)), [&](const Series &) { return inverse(sqrt((1 - a) * (1 + a))); });
  }
  friend Series acos(const Series &a) {
    return integrated(a, equation::acos(a.at(0)), [&](const Series &) { return -inverse(sqrt((1 - a) * (1 + a))); });
  }
  friend Series atan(const Series &a) {
    return integrated(a, equation::atan(a.at(0)), [&](const Series &) { return inverse(1 + a * a); });
  }
  friend Series atan2(const Series &y, const Series &x) { // the angle of its limit, and the derivative of an arctangent
    const bool wide = equation::fabs(x.at(0)) >= equation::fabs(y.at(0));
    Series     angle = wide ? atan(y * inverse(x)) : -atan(x * inverse(y));
    angle.c[0] = equation::atan2(y.at(0), x.at(0));
    return angle;
  }
  friend Series erf(const Series &a) {
    return integrated(a, equation::erf(a.at(0)), [&](const Series &) { return 1.1283791670955126 * exp(-(a * a)); });
  }
  friend Series sign(const Series &a) { return Series(equation::sign(a.first())); }
  friend Series heaviside(const Series &a) { return Series(equation::heaviside(a.first())); }
  friend Series floor(const Series &a) { return Series(equation::floor(a.at(0))); }
  friend Series fabs(const Series &a) { return a.first() < 0 ? -a : a; }
  friend Series abs(const Series &a) { return fabs(a); }
  friend Series min(const Series &a, const Series &b) { return b < a ? b : a; }
  friend Series max(const Series &a, const Series &b) { return b > a ? b : a; }
  friend Series sqrt(const Series &a) {
    return power(a.without_zeros(), Real(0.5), [](Real x) { return equation::sqrt(x); });
  }
  friend Series pow(const Series &a, const Series &b) {
    if (!b.is_constant()) return a.first() == 0 && b.at(0) > 0 ? Series(Real(0)) : exp(b * log(a));
    const Real exponent = b.at(0);
    return power(a.without_zeros(), exponent, [=](Real x) { return equation::pow(x, exponent); });
  }

private:
  // The sum of two numbers. What is left of opposite ones may be their rounding errors, as of 3*u - 4*u(-1) + u(-2). As a
  // first term these would decide signs and comparisons.
  static Real total(Real a, Real b) {
    constexpr Real rounding = 256 * 2.2e-16;
    const Real     sum = a + b;
    return equation::fabs(sum) < rounding * equation::fabs(b) ? Real(0) : sum;
  }
  Real first() const { // of the coefficients that are not zero; zero if all are
    for (int n = 0; n < terms && n < known; n++)
      if (c[n] != 0) return c[n];
    return 0;
  }
  bool is_constant() const {
    for (int n = 0; n < terms; n++)
      if (n != -order && c[n] != 0) return false;
    return true;
  }
  // The same from another power on. Of a negative power a function sees nothing: it is the rounding error of a difference.
  Series from(int power) const {
    if (power == order) return *this;
    Series moved;
    for (int n = 0; n < terms; n++) moved.c[n] = at(power + n);
    moved.order = power, moved.known = order + known - power;
    if (moved.known > terms) moved.known = terms;
    if (moved.known < 0) moved.known = 0;
    return moved;
  }
  Series without_zeros() const { // before the first coefficient
    int n = 0;
    while (n + 1 < known && c[n] == 0) n++;
    return from(order + n);
  }
  Series known_as(const Series &other) {
    if (other.known < known) known = other.known;
    return *this;
  }

  // f(a) by its value and its derivative as a function of f itself: n f_n is a coefficient of the product of f'(a) and a'.
  template <class Derivative> static Series integrated(const Series &all, Real value, const Derivative &derivative) {
    const Series a = all.from(0);
    Series       f(value);
    f.known = a.known;
    for (int n = 1; n < terms; n++) {
      const Series slope = derivative(f).from(0);
      for (int m = 1; m <= n; m++) f.c[n] += m * a.c[m] * slope.c[n - m];
      f.c[n] /= n;
    }
    return f;
  }
  // The sine and the cosine, sign -1, or the hyperbolic ones: each is the other one's derivative, up to the sign.
  static Series pair(const Series &all, Real sine, Real cosine, int sign, Series *other) {
    const Series a = all.from(0);
    Series       s(sine), &d = *other;
    d = Series(cosine);
    s.known = d.known = a.known;
    for (int n = 1; n < terms; n++) {
      for (int m = 1; m <= n; m++) {
        s.c[n] += m * a.c[m] * d.c[n - m];
        d.c[n] += sign * m * a.c[m] * s.c[n - m];
      }
      s.c[n] /= n, d.c[n] /= n;
    }
    return s;
  }
  // a^p, of a without zeros before its first coefficient; value: this function of a number.
  template <class Value> static Series power(const Series &a, Real p, const Value &value) {
    const Real order = a.order * p, whole = equation::floor(order);
    Series     f(value(a.c[0]));
    f.known = a.known;
    if (a.c[0] == 0) return Series(f.c[0]);
    if (whole != order) { // a root of e
      f = Series();
      f.known = whole + 1 >= terms ? terms : whole + 1 > 0 ? (int)whole + 1 : 0;
      return f;
    }
    f.order = (int)whole;
    for (int n = 1; n < terms; n++) {
      for (int m = 1; m <= n; m++) f.c[n] += (p * m - (n - m)) * a.c[m] * f.c[n - m];
      f.c[n] /= n * a.c[0];
    }
    return f;
  }
};

template <int terms> struct Arithmetic<Series<terms>> { using type = Series<terms>; }; // also beside complex numbers
template <class R> constexpr bool   is_series = false;
template <int terms> constexpr bool is_series<Series<terms>> = true;
template <int terms> inline Real    coefficient(const Series<terms> &a, int power) {
     return a.at(power);
}
template <int terms> inline Real limit(const Series<terms> &a) {
  return a.limit();
}
#if defined(PETSC_USE_COMPLEX)
template <class R> inline Scalar coefficient(const Complex<R> &a, int power) {
  return {coefficient(a.re, power), coefficient(a.im, power)};
}
template <class R> inline Scalar limit(const Complex<R> &a) {
  return {limit(a.re), limit(a.im)};
}
#endif

} // namespace equation
} // namespace shellac
