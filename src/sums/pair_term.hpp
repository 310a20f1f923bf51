#pragma once
// What one pair of a target and a source adds to the sums, in registers: for the host's loops and for the GPU's.

#include "sums/plain.hpp"

namespace shellac {

template <class V> struct Scalar {
  using type = V;
  using Total = double; // a sum of many
  static constexpr int parts = 1;
};
template <class T> struct Scalar<Complex<T>> {
  using type = T;
  using Total = Complex<double>;
  static constexpr int parts = 2;
};

SHELLAC_INLINE bool is_finite(double x) {
  return x - x == 0;
}
SHELLAC_INLINE bool is_finite(float x) {
  return x - x == 0;
}
template <class T> SHELLAC_INLINE bool is_finite(Complex<T> x) {
  return is_finite(x.re) && is_finite(x.im);
}
template <class T> SHELLAC_INLINE T or_zero(bool condition, T x) {
  return condition ? x : 0;
}
template <class T> SHELLAC_INLINE Complex<T> or_zero(bool condition, Complex<T> x) {
  return {condition ? x.re : 0, condition ? x.im : 0};
}
template <class T> SHELLAC_INLINE void load(const PetscReal *from, T *to) {
  *to = (T)*from;
}
template <class T> SHELLAC_INLINE void load(const PetscReal *from, Complex<T> *to) {
  *to = {(T)from[0], (T)from[1]};
}
SHELLAC_INLINE void add(float x, double *sum) {
  *sum += x;
}
SHELLAC_INLINE void add(double x, double *sum) {
  *sum += x;
}
template <class T> SHELLAC_INLINE void add(Complex<T> x, Complex<double> *sum) {
  sum->re += x.re, sum->im += x.im;
}
SHELLAC_INLINE double part_of(double x, int) {
  return x;
}
SHELLAC_INLINE double part_of(Complex<double> x, int p) {
  return p ? x.im : x.re;
}
template <class T> SHELLAC_INLINE double unit_scale(double) {
  return 1;
}
template <> SHELLAC_INLINE double unit_scale<float>(double unit) {
  return 1 / unit;
}

// Squares of distances up to this one are those of coincident points.
template <class T> SHELLAC_INLINE constexpr T coincident() {
  return sizeof(T) == 4 ? T(1e-37) : T(1e-300);
}

// What one pair adds to the sums: K columns of values, or a gradient. Careful: nothing at x = y.
template <class Function, class T, SumForm form, int K, bool careful = false> struct PairTerm {
  using V = typename Function::Value;
  static constexpr int in = form == SumForm::gradient_transposed ? 3 : K;
  static constexpr int out = form == SumForm::gradient ? 3 : K;

  static SHELLAC_INLINE void add_value(V v, const V *w, V *sum) {
    SHELLAC_UNROLL_ALL
    for (int k = 0; k < K; k++) multiply_add(v, w[k], &sum[k]);
  }
  static SHELLAC_INLINE void add(const Function &f, T dx, T dy, T dz, T r2, const V *w, V *sum) {
    const bool apart = r2 > coincident<T>();
#ifdef __CUDA_ARCH__
    if (careful && K > 4 && !apart) return; // a choice of values would slow the other loop of so many columns
#endif
    V g = form == SumForm::value ? f.value(r2) : f.slope(r2);
    if constexpr (careful) g = or_zero(apart, g);
    if constexpr (form == SumForm::value) {
      add_value(g, w, sum);
    } else if constexpr (form == SumForm::gradient) {
      V s{};
      multiply_add(g, w[0], &s);
      add_times(dx, s, &sum[0]);
      add_times(dy, s, &sum[1]);
      add_times(dz, s, &sum[2]);
    } else { // the gradient is at the source, hence the sign
      V s{};
      add_times(-dx, w[0], &s);
      add_times(-dy, w[1], &s);
      add_times(-dz, w[2], &s);
      multiply_add(g, s, &sum[0]);
    }
  }

private:
  static SHELLAC_INLINE void add_times(T a, T b, T *sum) {
    *sum = a * b + *sum;
  }
  static SHELLAC_INLINE void add_times(T a, Complex<T> b, Complex<T> *sum) {
    sum->re = a * b.re + sum->re;
    sum->im = a * b.im + sum->im;
  }
};

} // namespace shellac
