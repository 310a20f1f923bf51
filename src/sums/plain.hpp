#pragma once
// The plain data of pair sums: values, points, parameters. Together with pair_term.hpp, loops_on_host.hpp and
// kernel_on_gpu.hpp it is also compiled at run time, for formulas: without includes then, which the build removes.

#include "device/launch.hpp"

#if defined(__CUDACC_RTC__)
#define SHELLAC_INLINE __device__ __forceinline__
#elif SHELLAC_CUDA
#define SHELLAC_INLINE __host__ __device__ __forceinline__
#else
#define SHELLAC_INLINE __attribute__((always_inline)) inline
#endif

namespace shellac {

// ---- values of a kernel function: T or Complex<T> ------------------------------------------------------------------------

template <class T> struct Complex { T re, im; };

template <class T> SHELLAC_INLINE Complex<T> operator*(T a, Complex<T> b) {
  return {a * b.re, a * b.im};
}
template <class T> SHELLAC_INLINE Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
SHELLAC_INLINE void multiply_add(double a, double b, double *sum) {
  *sum = a * b + *sum;
}
SHELLAC_INLINE void multiply_add(float a, float b, float *sum) {
  *sum = a * b + *sum;
}
template <class T> SHELLAC_INLINE void multiply_add(Complex<T> a, Complex<T> b, Complex<T> *sum) {
  sum->re = a.re * b.re + sum->re;
  sum->re = -(a.im * b.im) + sum->re;
  sum->im = a.re * b.im + sum->im;
  sum->im = a.im * b.re + sum->im;
}

// ---- what is summed ---------------------------------------------------------------------------------------------------

struct Parameters {
  double sigma;      // a length of the function [length], > 0
  double wavenumber; // [1/length], >= 0; negative for the complex conjugate function
  double extent = 1; // about that of all points, a power of two [length]
};

// The unit of a function without a length of its own: in single precision the extent of the points, so that no square
// of a distance overflows or vanishes.
template <class T> double free_unit(const Parameters &p) {
  return sizeof(T) == sizeof(float) ? p.extent : 1;
}

// Points as three arrays of coordinates [length]; those beyond the dimension are zero.
struct Points {
  const PetscReal *x[3] = {nullptr, nullptr, nullptr};
  PetscInt         n = 0;
};

// Values at points: column c of point j is data[j point + (c / inner) column + c % inner], c counting real numbers, or
// pairs (re, im) where the function is complex.
template <class Real> struct Values {
  Real      *data = nullptr;
  PetscInt64 point = 1, column = 1;
  int        inner = 1;

  SHELLAC_INLINE PetscInt64 at(PetscInt64 j, int c) const { return j * point + (c / inner) * column + c % inner; }
};

enum class SumForm {
  value,              // f_i = Σ_j g(x_i, y_j) c_j, any number of columns
  gradient,           // the gradient of f at x_i: as many columns of results as dimensions, from one
  gradient_transposed // Σ_j ∇g(y_j, x_i) · c_j: one column of results, from as many as dimensions
};

// A part of a sum for a group of targets: the sources [begin, end).
struct Range {
  PetscInt begin, end;
};
// The targets [begin, end), which list they have, and what single precision counts their coordinates from [length].
struct Group {
  PetscInt  begin, end, list;
  PetscReal center[3];
};

} // namespace shellac
