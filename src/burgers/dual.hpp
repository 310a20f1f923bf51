#pragma once
// Dual numbers: a value and its derivative along one direction. A formula that is called with them also gives its
// derivative.

#include "device/launch.hpp"

namespace shellac {

template <class T> struct Dual {
  T v, d;

  Dual() = default;
  SHELLAC_HD Dual(T value, T derivative = 0) : v(value), d(derivative) {}
};

template <class T> SHELLAC_HD Dual<T> operator+(Dual<T> a, Dual<T> b) {
  return {a.v + b.v, a.d + b.d};
}
template <class T> SHELLAC_HD Dual<T> operator-(Dual<T> a, Dual<T> b) {
  return {a.v - b.v, a.d - b.d};
}
template <class T> SHELLAC_HD Dual<T> operator-(Dual<T> a) {
  return {-a.v, -a.d};
}
template <class T> SHELLAC_HD Dual<T> operator*(Dual<T> a, Dual<T> b) {
  return {a.v * b.v, a.d * b.v + a.v * b.d};
}
template <class T> SHELLAC_HD Dual<T> operator*(T a, Dual<T> b) {
  return {a * b.v, a * b.d};
}
template <class T> SHELLAC_HD Dual<T> operator+(T a, Dual<T> b) {
  return {a + b.v, b.d};
}
template <class T> SHELLAC_HD Dual<T> operator/(Dual<T> a, Dual<T> b) {
  const T q = a.v / b.v;
  return {q, (a.d - q * b.d) / b.v};
}
template <class T> SHELLAC_HD Dual<T> operator/(Dual<T> a, T b) {
  return {a.v / b, a.d / b};
}

// The functions of numbers that formulas use, for plain numbers and for Dual.
template <class T> SHELLAC_HD T value_of(T a) {
  return a;
}
template <class T> SHELLAC_HD T value_of(Dual<T> a) {
  return a.v;
}
template <class T> SHELLAC_HD T magnitude(T a) {
  return value_of(a) < 0 ? -a : a;
}
template <class T> SHELLAC_HD T larger(T a, T b) {
  return value_of(a) > value_of(b) ? a : b;
}
template <class T> SHELLAC_HD T smaller(T a, T b) {
  return value_of(a) < value_of(b) ? a : b;
}
// The sign of a number that is not zero. A GPU reads it off the bits, and leaves its arithmetic units to arithmetic.
SHELLAC_HD bool is_above_zero(double u) {
#ifdef __CUDA_ARCH__
  return __double2hiint(u) >= 0;
#else
  return u > 0;
#endif
}
SHELLAC_HD bool is_above_zero(float u) {
  return u > 0;
}
// a where u > 0, and zero elsewhere; and where u < 0. a is zero where u is.
template <class T> SHELLAC_HD T where_positive(T u, T a) {
  return is_above_zero(value_of(u)) ? a : T(0);
}
template <class T> SHELLAC_HD T where_negative(T u, T a) {
  return is_above_zero(value_of(u)) ? T(0) : a;
}
// a where u > 0, and b elsewhere.
template <class T> SHELLAC_HD T by_sign(T u, T a, T b) {
  return is_above_zero(value_of(u)) ? a : b;
}
// The one closer to zero where both have one sign, and zero elsewhere.
template <class T> SHELLAC_HD T minmod(T a, T b) {
  const T closer = magnitude(value_of(a)) < magnitude(value_of(b)) ? a : b;
  return is_above_zero(value_of(a)) == is_above_zero(value_of(b)) ? closer : T(0);
}

} // namespace shellac
