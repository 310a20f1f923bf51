#pragma once
// Elementary functions for sums over pairs of points: branch-free, so that a loop over them is vectorised on the host,
// and with the special-function units on a GPU. Accurate to about two units in the last place of T.
//
// The polynomials interpolate at Chebyshev nodes on the interval that is named at each, computed with 40 digits.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "device/launch.hpp"
#include "sums/plain.hpp"

namespace shellac {

template <class To, class From> SHELLAC_INLINE To bits_as(From from) {
  To to;
  static_assert(sizeof(To) == sizeof(From), "the same number of bits");
  memcpy(&to, &from, sizeof(to));
  return to;
}

// The i-th coefficient belongs to x^i.
template <class T, int n> SHELLAC_INLINE T polynomial(const T (&c)[n], T x) {
  T sum = c[n - 1];
  SHELLAC_UNROLL_ALL
  for (int i = n - 2; i >= 0; i--) sum = sum * x + c[i];
  return sum;
}

// Adding and subtracting it rounds to the nearest integer, whose low bits then are the sum's.
template <class T> SHELLAC_INLINE T rounding_shift();
template <> SHELLAC_INLINE double   rounding_shift<double>() {
    return 6755399441055744.0;
} // 1.5 * 2^52
template <> SHELLAC_INLINE float rounding_shift<float>() {
  return 12582912.0f;
} // 1.5 * 2^23

// ---- 2^x for x <= 0; results below the smallest normal number are about that -----------------------------------------

SHELLAC_INLINE double exp2_nonpositive(double x) {
  const double c[] = {1, // on [-1/2, 1/2]; relative error 2e-16
                      0.69314718055994998286,
                      0.2402265069591009822,
                      0.055504108664447719166,
                      0.0096181291076068885273,
                      0.0013333558230164973899,
                      0.00015403530441736050155,
                      0.000015252657260200837064,
                      1.3215442587942689653e-6,
                      1.0208690299958305835e-7,
                      7.0725859492692236999e-9};
#ifdef __CUDA_ARCH__
  const double shifted = x + rounding_shift<double>();
  const double p = polynomial(c, x - (shifted - rounding_shift<double>()));
  const int    n = max(__double2loint(shifted), -1022);
  return __hiloint2double(__double2hiint(p) + (n << 20), __double2loint(p));
#else
  x = x > -1021 ? x : -1021;
  const double shifted = x + rounding_shift<double>();
  const double p = polynomial(c, x - (shifted - rounding_shift<double>()));
  return bits_as<double>(bits_as<int64_t>(p) + (int64_t)(bits_as<uint64_t>(shifted) << 52));
#endif
}

SHELLAC_INLINE float exp2_nonpositive(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  const float c[] = {1, // on [-1/2, 1/2]; relative error 2e-9
                     0.69314720670283259577f,
                     0.24022650922288758071f,
                     0.055503272266703020589f,
                     0.0096180566785246380754f,
                     0.001340042817761583794f,
                     0.00015461444698569129083f};
  x = x > -125 ? x : -125;
  const float shifted = x + rounding_shift<float>();
  const float p = polynomial(c, x - (shifted - rounding_shift<float>()));
  return bits_as<float>(bits_as<int32_t>(p) + (int32_t)(bits_as<uint32_t>(shifted) << 23));
#endif
}

// ---- 1/sqrt(x) for x >= 0; not finite for x = 0 ------------------------------------------------------------------------

// From an approximation y: with e = 1 - x y², 1/sqrt(x) = y (1 - e)^(-1/2) = y (1 + e/2 + 3/8 e² + 5/16 e³ + ...).
template <class T> SHELLAC_INLINE T refine(T x, T y) {
  const T e = 1 - (x * y) * y;
  return y + y * (e * (T(0.5) + T(0.375) * e));
}

SHELLAC_INLINE double inverse_sqrt(double x) {
#ifdef __CUDA_ARCH__
  double y; // to 22 bits
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return refine(x, y);
#else
  // The first guess halves and negates the exponent in the integer that x is stored as: 3.4 % off (C. Lomont, Fast
  // inverse square root, 2003).
  double       y = bits_as<double>(0x5fe6eb50c7b537a9ull - (bits_as<uint64_t>(x) >> 1));
  const double e = 1 - (x * y) * y;
  y = y + y * (e * (0.5 + e * (0.375 + e * (0.3125 + e * 0.2734375)))); // leaves 4e-7
  y = refine(x, y);
  return x > 0 ? y : INFINITY;
#endif
}

#if SHELLAC_CUDA
// Twice that to 11 digits at least, in two operations less: with a guess y off by 1.2e-6 or less, y (2 + e) leaves 3/8 e².
__device__ __forceinline__ double rough_inverse_sqrt_twice(double x) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y * (3 - (x * y) * y);
}
#endif

SHELLAC_INLINE float inverse_sqrt(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  float y = bits_as<float>(0x5f375a86u - (bits_as<uint32_t>(x) >> 1));
  y = refine(x, y);
  y = refine(x, y);
  return x > 0 ? y : INFINITY;
#endif
}

// ---- log2(x) for x >= 0; not finite for x = 0 ----------------------------------------------------------------------------

SHELLAC_INLINE double log2_nonnegative(double x) {
  const double c[] = {2.8853900817779268112,  0.96179669392599076388, 0.57707801634488964775, 0.41219858598314142006,
                      0.32059851979070931944, 0.26233517097515229851, 0.22089127416155055014, 0.21388590913269972823};
  // x = 2^n m, sqrt(1/2) <= m < sqrt(2), log2(m) = 2/log(2) atanh((m-1)/(m+1)) by a series in its square; error 4e-18
  const uint64_t root_half = 0x3fe6a09e667f3bcdull, one = 0x3ff0000000000000ull;
  const uint64_t up = bits_as<uint64_t>(x) + (one - root_half); // exponent of m's: that of one
  const double   n = bits_as<double>((up >> 52) | 0x4330000000000000ull) - (4503599627370496.0 + 1023);
  const double   m = bits_as<double>((up & 0x000fffffffffffffull) + root_half);
  const double   s = (m - 1) / (m + 1);
  const double   y = n + s * polynomial(c, s * s);
  return x > 0 ? y : -INFINITY;
}

SHELLAC_INLINE float log2_nonnegative(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  const float c[] = {2.8853900797221493054f, 0.96179890486431829908f, 0.57670772902321140851f, 0.43191959182083189394f};
  const uint32_t root_half = 0x3f3504f3u, one = 0x3f800000u;
  const uint32_t up = bits_as<uint32_t>(x) + (one - root_half);
  const float    n = bits_as<float>((up >> 23) | 0x4b000000u) - (8388608.0f + 127);
  const float    m = bits_as<float>((up & 0x007fffffu) + root_half);
  const float    s = (m - 1) / (m + 1);
  const float    y = n + s * polynomial(c, s * s);
  return x > 0 ? y : -INFINITY;
#endif
}

// ---- e^{2 pi i turns r}: cosine and sine of an angle in turns
// ------------------------------------------------------------------

SHELLAC_INLINE Complex<double> wave(double turns, double r) {
  const double t = turns * r;
  const double s[] = {6.2831853071795864572, -41.341702240399636207, 81.605249275948035209, -76.705859704274550647,
                      42.058685020160894047, -15.093804209987113512, 3.7808689593022955184}; // on [0, 1/8]²
  const double c[] = {0.99999999999999999997, -19.739208802178716989, 64.939394022667957529, -85.456817206522712487,
                      60.24464132886729332,   -26.426250908622135959, 7.9030916877516976361, -1.6968494702918826806};
  // quarter turns q, and the rest f, |f| <= 1/8
  const double   shifted = 4 * t + rounding_shift<double>();
  const double   f = t - 0.25 * (shifted - rounding_shift<double>());
  const uint64_t q = bits_as<uint64_t>(shifted);
  const double   sine = f * polynomial(s, f * f), cosine = polynomial(c, f * f);
  const double   re = q & 1 ? sine : cosine, im = q & 1 ? cosine : sine;
  return {bits_as<double>(bits_as<uint64_t>(re) ^ (((q + 1) & 2) << 62)),
          bits_as<double>(bits_as<uint64_t>(im) ^ ((q & 2) << 62))};
}

SHELLAC_INLINE Complex<float> wave(float turns, float r) {
#ifdef __CUDA_ARCH__
  float       re, im;
  const float angle = (turns * 6.28318530717958647692f) * r; // the unit takes whole turns off without an error
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(re) : "f"(angle));
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(im) : "f"(angle));
  return {re, im};
#else
  // beyond 2^20 turns single precision holds no phase: taken as whole turns, so that what it holds stays on the circle
  const float product = turns * r, t = std::fabs(product) < 1048576.0f ? product : 0;
  const float s[] = {6.2831852878129467414f, -41.341662570547954912f, 81.592542871301543294f, -75.401612702747458455f};
  const float c[] = {0.99999999995248941669f, -19.739208650130595513f, 64.939316135709049629f, -85.442844673081659515f,
                     59.220168958296096218f};
  const float shifted = 4 * t + rounding_shift<float>();
  const float f = t - 0.25f * (shifted - rounding_shift<float>());
  const uint32_t q = bits_as<uint32_t>(shifted);
  const float    sine = f * polynomial(s, f * f), cosine = polynomial(c, f * f);
  const float    re = q & 1 ? sine : cosine, im = q & 1 ? cosine : sine;
  return {bits_as<float>(bits_as<uint32_t>(re) ^ (((q + 1) & 2) << 30)),
          bits_as<float>(bits_as<uint32_t>(im) ^ ((q & 2) << 30))};
#endif
}

} // namespace shellac
