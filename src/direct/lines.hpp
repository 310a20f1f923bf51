#pragma once
// Lines of values along an axis.

#include "device/scalars.hpp"

namespace shellac {

template <class R> struct ComplexOf { // as FFTW and cuFFT have it
  using Complex = ComplexOf;
  R re, im;

  ComplexOf() = default;
  SHELLAC_HD explicit ComplexOf(R real) : re(real), im(0) {}
  SHELLAC_HD                                ComplexOf(R real, R imaginary) : re(real), im(imaginary) {}
  template <class Real> SHELLAC_HD explicit operator Real() const { return (Real)re; }

  SHELLAC_HD Complex times(Complex b) const { return {re * b.re - im * b.im, re * b.im + im * b.re}; }
  SHELLAC_HD Complex times_conjugate(Complex b) const { return {re * b.re + im * b.im, im * b.re - re * b.im}; }
  SHELLAC_HD Complex scaled(R s) const { return {s * re, s * im}; }
  SHELLAC_HD Complex plus(Complex b) const { return {re + b.re, im + b.im}; }
  SHELLAC_HD Complex minus(Complex b) const { return {re - b.re, im - b.im}; }
};

// Lines of n values along an axis of an array [outer][n][inner].
struct Lines {
  PetscInt n;
  PetscInt inner, outer;

  SHELLAC_HD size_t count() const { return (size_t)inner * (size_t)outer; }
  SHELLAC_HD size_t begin(size_t line) const {
    return line / (size_t)inner * (size_t)inner * (size_t)n + line % (size_t)inner;
  }
};

// A complex line: one of complex scalars, or two of real ones, of which the second may be missing. R: of the arithmetic,
// Stored: of the array.
template <class R, class Stored> struct LinePair {
  Stored *re, *im; // the first values; im: null for none
  size_t  stride;

  SHELLAC_HD ComplexOf<R> get(PetscInt j) const {
    return {(R)re[(size_t)j * stride], im ? (R)im[(size_t)j * stride] : 0};
  }
  SHELLAC_HD void set(PetscInt j, ComplexOf<R> z) const {
    re[(size_t)j * stride] = (Stored)z.re;
    if (im) im[(size_t)j * stride] = (Stored)z.im;
  }
};

// Of the arithmetic in T.
template <class T> constexpr int lines_in_pair = sizeof(T) == sizeof(typename RealOf<T>::type) ? 2 : 1;

template <class T, class Scalar>
SHELLAC_HD LinePair<typename RealOf<T>::type, typename RealOf<Scalar>::type> line_pair(const Lines &lines,
                                                                                       Scalar *array, size_t pair) {
  using Stored = typename RealOf<Scalar>::type;
  constexpr int parts = sizeof(Scalar) / sizeof(Stored); // of a number
  const size_t  first = pair * lines_in_pair<T>;
  Stored       *re = reinterpret_cast<Stored *>(array + lines.begin(first)), *im = parts == 2 ? re + 1 : nullptr;
  if (lines_in_pair<T> == 2 && first + 1 < lines.count())
    im = reinterpret_cast<Stored *>(array + lines.begin(first + 1));
  return {re, im, (size_t)lines.inner * parts};
}

} // namespace shellac
