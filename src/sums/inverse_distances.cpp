#include "sums/inverse_distances.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace shellac {
namespace host {

#if defined(__x86_64__) && defined(__GNUC__)

// As sum_one(), of the values of LaplacePotential. The processor's y is within 2^-14 of 1/sqrt(x); with e = 1 - x y²,
// y (1 + e/2 + 3/8 e² + 5/16 e³) is within 1e-16.
template <bool careful>
__attribute__((target("avx512f"))) static void sum_inverse_distances(const void *, const double (*x)[lanes], int, bool,
                                                                     int begin, int end, Tile<double> &t) {
  constexpr int count = lanes / 8;
  const __m512d one = _mm512_set1_pd(1), half = _mm512_set1_pd(0.5), three_eighths = _mm512_set1_pd(0.375),
                five_sixteenths = _mm512_set1_pd(0.3125), least = _mm512_set1_pd(coincident<double>());
  __m512d targets[3][count], sum[count];
  for (int n = 0; n < count; n++) {
    for (int a = 0; a < 3; a++) targets[a][n] = _mm512_loadu_pd(x[a] + 8 * n);
    sum[n] = _mm512_loadu_pd(t.sum[0] + 8 * n);
  }
  for (int j = begin; j < end; j++) {
    const __m512d y0 = _mm512_set1_pd(t.y[0][j]), y1 = _mm512_set1_pd(t.y[1][j]), y2 = _mm512_set1_pd(t.y[2][j]),
                  weight = _mm512_set1_pd(t.w[0][j]);
    for (int n = 0; n < count; n++) {
      const __m512d dx = _mm512_sub_pd(targets[0][n], y0), dy = _mm512_sub_pd(targets[1][n], y1),
                    dz = _mm512_sub_pd(targets[2][n], y2),
                    r2 = _mm512_fmadd_pd(dz, dz, _mm512_fmadd_pd(dy, dy, _mm512_mul_pd(dx, dx))),
                    y = _mm512_maskz_rsqrt14_pd(careful ? _mm512_cmp_pd_mask(r2, least, _CMP_GT_OQ) : 0xff, r2),
                    e = _mm512_fnmadd_pd(_mm512_mul_pd(r2, y), y, one),
                    series = _mm512_fmadd_pd(e, _mm512_fmadd_pd(e, five_sixteenths, three_eighths), half);
      sum[n] = _mm512_fmadd_pd(_mm512_mul_pd(weight, y), _mm512_fmadd_pd(e, series, one), sum[n]);
    }
  }
  for (int n = 0; n < count; n++) _mm512_storeu_pd(t.sum[0] + 8 * n, sum[n]);
}

void use_approximations(FunctionLoops<double> *loops) {
  static const bool has = __builtin_cpu_supports("avx512f");
  if (!has) return;
  loops->value = sum_inverse_distances<false>;
  loops->careful = sum_inverse_distances<true>;
}

#else

void use_approximations(FunctionLoops<double> *) {}

#endif

} // namespace host
} // namespace shellac
