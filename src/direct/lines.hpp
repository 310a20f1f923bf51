#pragma once
// Lines of values along an axis.

#include "device/launch.hpp"

namespace shellac {

struct Complex { // as FFTW and cuFFT have it
  PetscReal re, im;

  SHELLAC_HD Complex times(Complex b) const { return {re * b.re - im * b.im, re * b.im + im * b.re}; }
  SHELLAC_HD Complex times_conjugate(Complex b) const { return {re * b.re + im * b.im, im * b.re - re * b.im}; }
  SHELLAC_HD Complex scaled(PetscReal s) const { return {s * re, s * im}; }
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

// A complex line in an array of scalars: two lines of real ones, of which the second may be missing.
struct LinePair {
  PetscReal *re, *im; // the first values; im: null for none
  size_t     stride;

  SHELLAC_HD Complex get(PetscInt j) const { return {re[(size_t)j * stride], im ? im[(size_t)j * stride] : 0}; }
  SHELLAC_HD void    set(PetscInt j, Complex z) const {
       re[(size_t)j * stride] = z.re;
       if (im) im[(size_t)j * stride] = z.im;
  }
};

constexpr int lines_in_pair = sizeof(PetscScalar) == sizeof(PetscReal) ? 2 : 1;

SHELLAC_HD LinePair line_pair(const Lines &lines, PetscScalar *array, size_t pair) {
  const size_t first = pair * lines_in_pair;
  PetscReal   *re = reinterpret_cast<PetscReal *>(array + lines.begin(first)), *im = re + 1;
  if (lines_in_pair == 2)
    im = first + 1 < lines.count() ? reinterpret_cast<PetscReal *>(array + lines.begin(first + 1)) : nullptr;
  return {re, im, (size_t)lines.inner * (3 - lines_in_pair)};
}

} // namespace shellac
