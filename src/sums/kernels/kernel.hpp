#pragma once
// What a kernel function g(x, y) = g(|x - y|) of a sum provides. Each is a template on the scalar T that it computes with:
//
//   static const char *name();             as in -mat_kernelsum_kernel
//   static const char *formula();          for the view
//   static constexpr bool uses_sigma, uses_wavenumber;
//   static constexpr bool singular;        no finite g(x, x): value() and slope() are not finite at r2 = 0
//   static constexpr int flops;            of value(), for -log_view
//   using Value;                           T or Complex<T>
//   static double unit(Parameters);        the function's own length; free_unit<T>() where it has none [length]
//   static double factor(Parameters);      multiplies every sum
//   Function(Parameters);
//   Value value(T r2);                     g / factor
//   Value slope(T r2);                     unit² / factor of 2 dg/dr2: the gradient in x is factor slope (x - y) / unit²
//
// r2 is |x - y|²: in units² where T is single precision, whose coordinates are scaled before they are rounded; as given
// where T is double, since rounding scaled coordinates would spoil small distances. Units::in_units() hides that.
//
// A new one is a header beside this one and its line in list.hpp.

#include "sums/math.hpp"

namespace shellac {

// The square of a distance in the function's own length.
template <class T> struct Units {
  explicit Units(double unit) : inv_unit2((T)(1 / (unit * unit))) {}
  SHELLAC_INLINE T in_units(T r2) const {
    if constexpr (sizeof(T) == sizeof(float))
      return r2;
    else
      return inv_unit2 * r2;
  }
  T inv_unit2; // [1/length²]
};

// The function right to 11 digits only, for a GPU, where that is cheaper: far pairs of fast sums, whose error is measured.
template <class Function> struct RoughFunction : Function {
  using Function::Function;
  static constexpr bool differs = false;
};

constexpr double pi = 3.14159265358979323846, log2_e = 1.44269504088896340736, ln_2 = 0.69314718055994530942;

} // namespace shellac
