#pragma once
// Pair sums by the tensor cores in double precision that Hopper's GPUs and later ones have: the squares of distances of
// sums in single precision, and the products of values with 16 columns.

#include "sums/kernels/laplace_potential.hpp"
#include "sums/pairs_on_gpu.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace device {

// ---- products of a warp: lane 4 g + t has rows g and g + 8, columns 2 t and 2 t + 1 of d
// ----------------------------------

// d = a b + c, 16 × 4 by 4 × 8: column t of a in rows g and g + 8, row t of b in column g.
__device__ __forceinline__ void multiply_tiles(double a0, double a1, double b, const double (&c)[4], double (&d)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a0), "d"(a1), "d"(b), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
#endif
}
// d += a b, 16 × 8 by 8 × 8: column t of a in rows g and g + 8, then column t + 4; rows t and t + 4 of b in column g.
__device__ __forceinline__ void multiply_add_tiles(const double (&a)[4], double2 b, double (&d)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b.x), "d"(b.y));
#endif
}

// ---- one column in single precision, many sources
// ---------------------------------------------------------------------------
//
// r² = |x|² + |y|² - 2 x·y of 16 sources and 8 targets at a time, in double, so that cancellation does not matter in single
// precision. It is multiplied by 2^-896: its exponent then has the bits of a float's, and a shift makes the float. A
// conversion would occupy the unit of exponentials and roots.
//
// For coincident points, rounding leaves r² of up to 2^-47 extents². Singular functions have coordinates in units of
// 2^41 extents, where squares below 2^-44 extents² are no normal floats: they count as zero, so the sum is not finite
// and is computed again with tests for coincident points.

constexpr double                           tile_exponent = 0x1p-448;
template <class Function> constexpr double tile_unit = Function::singular ? 0x1p41 : 1;

// 1/r is taken in those units, which saves the multiplication of each r² and scales the sum.
template <class Function> constexpr bool   is_inverse = false;
template <> constexpr bool                 is_inverse<LaplacePotential<float>> = true;
template <class Function> constexpr double tile_factor = is_inverse<Function> ? 1 / tile_unit<Function> : 1;

template <class Function> __device__ __forceinline__ float value_in_tile(const Function &f, double d) {
  float r2 = __uint_as_float(__funnelshift_l((unsigned)__double2loint(d), (unsigned)__double2hiint(d), 3));
  if constexpr (Function::singular && !is_inverse<Function>)
    asm("mul.ftz.f32 %0, %0, %1;" : "+f"(r2) : "f"((float)(tile_unit<Function> * tile_unit<Function>)));
  return f.value(r2);
}

struct TileSource { // (x, y, z, 1), in units
  double x[4];
};
// A warp's sum over every eighth of n sources, nothing at x = y: by differences.
template <class Function>
__device__ __noinline__ double careful_sum(const Function f, double x, double y, double z, const TileSource *source,
                                           const float *w, int first, int n) {
  constexpr double unit = tile_unit<Function> / tile_exponent;
  double           sum = 0;
  for (int j = first + 8 * (threadIdx.x % 32); j < n; j += 8 * 32) {
    const double dx = (x - source[j].x[0]) * unit, dy = (y - source[j].x[1]) * unit, dz = (z - source[j].x[2]) * unit;
    const float  r2 = (float)(dx * dx + dy * dy + dz * dz);
    if (r2 > coincident<float>()) sum += f.value(r2) * w[j];
  }
  for (int step = 1; step < 32; step *= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  return sum;
}

// A warp has `tiles` of 8 targets.
template <class Function, int tiles, int most>
__global__ void __launch_bounds__(128, 4) distance_tiles(const __grid_constant__ Arguments<Function> a) {
  __shared__ __align__(16) TileSource source[most];
  __shared__ __align__(16) double2 square[most];
  __shared__ float                 w[most];
  const int                        lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const double     scale = a.scale * ((1 + 0x1p-25) * tile_exponent / tile_unit<Function>); // a shift rounds down
  const PetscInt   base = ((PetscInt)blockIdx.x * 4 + threadIdx.x / 32) * (8 * tiles);
  const auto       at = [&](const Points &points, int d, PetscInt i) { return (points.x[d][i] - a.center[d]) * scale; };
  const PetscReal *weights = &a.in.data[a.in.at(0, a.first_column)];

  double b[tiles], total[tiles][2] = {};
#pragma unroll
  for (int m = 0; m < tiles; m++) {
    const PetscInt i = min(base + 8 * m + g, a.targets.n - 1);
    const double   x = at(a.targets, 0, i), y = at(a.targets, 1, i), z = at(a.targets, 2, i);
    b[m] = t == 0 ? -2 * x : t == 1 ? -2 * y : t == 2 ? -2 * z : (x * x + y * y + z * z) * (1 / tile_exponent);
  }
  const PetscInt begin = blockIdx.y * a.sources_a_split, end = min(begin + a.sources_a_split, a.sources.n);
  for (PetscInt from = begin; from < end; from += most) {
    const int n = (int)min((PetscInt)most, end - from), whole = (n + 15) / 16 * 16;
    __syncthreads();
    for (int k = threadIdx.x; k < whole; k += 128) {
      const PetscInt j = min(from + k, end - 1);
      const double   x = at(a.sources, 0, j), y = at(a.sources, 1, j), z = at(a.sources, 2, j);
      const double   r2 = x * x + y * y + z * z;
      source[k] = {{x, y, z, tile_exponent}};
      square[k] = make_double2(r2, r2);
      w[k] = k < n ? (float)weights[j * a.in.point] : 0;
    }
    __syncthreads();
    float sum[tiles][2] = {};
#pragma unroll 1
    for (int k = 0; k < whole; k += 16) {
      const double  a0 = source[k + g].x[t], a1 = source[k + 8 + g].x[t];
      const double2 c0 = square[k + g], c1 = square[k + 8 + g];
      const double  c[4] = {c0.x, c0.y, c1.x, c1.y};
      const float   w0 = w[k + g], w1 = w[k + 8 + g];
#pragma unroll
      for (int m = 0; m < tiles; m++) {
        double d[4];
        multiply_tiles(a0, a1, b[m], c, d);
#pragma unroll
        for (int e = 0; e < 4; e++) sum[m][e % 2] += (e < 2 ? w0 : w1) * value_in_tile(a.f, d[e]);
      }
    }
    if constexpr (Function::singular) {
      bool care = false;
#pragma unroll
      for (int m = 0; m < tiles; m++) care = care || !is_finite(sum[m][0]) || !is_finite(sum[m][1]);
      if (__any_sync(0xffffffff, care)) {
#pragma unroll
        for (int m = 0; m < tiles; m++)
#pragma unroll
          for (int e = 0; e < 2; e++)
            for (unsigned lanes = __ballot_sync(0xffffffff, !is_finite(sum[m][e])); lanes; lanes &= lanes - 1) {
              const int      whose = __ffs(lanes) - 1;
              const PetscInt i = min(base + 8 * m + 2 * (whose % 4) + e, a.targets.n - 1);
              const double   x = at(a.targets, 0, i), y = at(a.targets, 1, i), z = at(a.targets, 2, i);
              const double   again = careful_sum(a.f, x, y, z, source, w, whose / 4, n);
              if (lane == whose) sum[m][e] = 0, total[m][e] += again;
            }
      }
    }
#pragma unroll
    for (int m = 0; m < tiles; m++)
#pragma unroll
      for (int e = 0; e < 2; e++) total[m][e] += tile_factor<Function> * sum[m][e];
  }
#pragma unroll
  for (int m = 0; m < tiles; m++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const PetscInt i = base + 8 * m + 2 * t + e;
      for (int step = 4; step < 32; step *= 2) total[m][e] += __shfl_xor_sync(0xffffffff, total[m][e], step);
      if (g == 0 && i < a.targets.n) store(a, 1, 1, i, 0, 0, total[m][e]);
    }
}

// ---- one column in single precision, few sources
// ---------------------------------------------------------------------------
//
// As above with the roles exchanged: the sources stay in shared memory, and targets stream past them, 32 at a time of a
// warp, the next ones on their way. The kernel is short, so it begins beside the one before, in a chain: with
// coordinates, which are there since PointCloudCreate() has read their ends.

constexpr int few_sources = 512; // fewer than these

// The sums of four rows, of which the lanes of a quad have parts: that of row t in lane t.
__device__ __forceinline__ float sum_of_quad(float s0, float s1, float s2, float s3, int t) {
  const float a = (t & 1 ? s1 : s0) + __shfl_xor_sync(0xffffffff, t & 1 ? s0 : s1, 1);
  const float b = (t & 1 ? s3 : s2) + __shfl_xor_sync(0xffffffff, t & 1 ? s2 : s3, 1);
  return (t & 2 ? b : a) + __shfl_xor_sync(0xffffffff, t & 2 ? a : b, 2);
}

template <class Function>
__global__ void __launch_bounds__(128, 5) target_tiles(const __grid_constant__ Arguments<Function> a) {
  __shared__ __align__(16) double source[few_sources * 4]; // (-2 x, -2 y, -2 z, |y|²), in units
  __shared__ __align__(16) float w[few_sources];
  const int      lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, axis = min(t, 2), n = (int)a.sources.n;
  const PetscInt last = a.targets.n - 1, step = (PetscInt)gridDim.x * 128, own = threadIdx.x / 32 * 32 + g;
  const double   scale = a.scale * ((1 + 0x1p-25) * tile_exponent / tile_unit<Function>); // a shift rounds down
  const auto     shift = [&](int d) { return -a.center[d] * scale; };
  const auto at = [&](const Points &points, int d, PetscInt i) { return fma((double)points.x[d][i], scale, shift(d)); };
  // lane t has coordinate t of its rows, or 1 in units
  const double     own_scale = t < 3 ? scale : 0, own_shift = t < 3 ? shift(axis) : tile_exponent, coordinate = t < 3;
  const PetscReal *own_axis = a.targets.x[axis], *weights = &a.in.data[a.in.at(0, a.first_column)];
  PetscReal       *out = &a.out.data[a.out.at(0, a.first_column)], next[4];
  PetscInt         from = (PetscInt)blockIdx.x * 128;
#pragma unroll
  for (int r = 0; r < 4; r++) next[r] = own_axis[min(from + own + 8 * r, last)];
  const int padded = (n + 7) / 8 * 8, whole = (n + 3) / 8; // a rest of up to four sources takes half a tile
  for (int k = threadIdx.x; k < padded; k += 128) {
    const PetscInt j = min(k, n - 1);
    const double   x = at(a.sources, 0, j), y = at(a.sources, 1, j), z = at(a.sources, 2, j);
    double2       *to = (double2 *)&source[4 * k];
    to[0] = make_double2(-2 * x, -2 * y);
    to[1] = make_double2(-2 * z, (x * x + y * y + z * z) * (1 / tile_exponent));
  }
  wait_for_kernel_before();
  let_next_kernel_begin();
  for (int k = threadIdx.x; k < padded; k += 128) w[k] = k < n ? (float)weights[k * a.in.point] : 0;
  __syncthreads();
#pragma unroll 1
  for (; from <= last; from += step) {
    __syncwarp(); // some lanes may have summed with care
    double x[2][2], square[2][4];
    float  sum[2][2] = {};
#pragma unroll
    for (int r = 0; r < 2; r++) {
      constexpr double none[4] = {0, 0, 0, 0};
#pragma unroll
      for (int h = 0; h < 2; h++) x[r][h] = fma((double)next[2 * r + h], own_scale, own_shift);
      multiply_tiles(x[r][0] * x[r][0], x[r][1] * x[r][1], coordinate, none, square[r]);
    }
#pragma unroll
    for (int r = 0; r < 4; r++) next[r] = own_axis[min(from + step + own + 8 * r, last)];
#pragma unroll 2
    for (int m = 0; m < whole; m++) {
      const double b = source[32 * m + lane];
      const float2 v = *(const float2 *)&w[8 * m + 2 * t];
#pragma unroll
      for (int r = 0; r < 2; r++) {
        double d[4];
        multiply_tiles(x[r][0], x[r][1], b, square[r], d);
#pragma unroll
        for (int e = 0; e < 4; e++) sum[r][e / 2] += (e % 2 ? v.y : v.x) * value_in_tile(a.f, d[e]);
      }
    }
    if (8 * whole < n) { // in even columns
      const double b = source[32 * whole + g / 2 * 4 + t];
      const float  v = w[8 * whole + t];
#pragma unroll
      for (int r = 0; r < 2; r++) {
        double d[4];
        multiply_tiles(x[r][0], x[r][1], b, square[r], d);
        sum[r][0] += v * value_in_tile(a.f, d[0]);
        sum[r][1] += v * value_in_tile(a.f, d[2]);
      }
    }
    const float    s = sum_of_quad(sum[0][0], sum[0][1], sum[1][0], sum[1][1], t);
    const PetscInt i = from + own + 8 * t;
    if (i > last) continue;
    double value = tile_factor<Function> * s;
    if constexpr (Function::singular)
      if (!is_finite(s)) { // by differences, nothing at x = y
        constexpr double unit = tile_unit<Function> / tile_exponent;
        const double     p[3] = {at(a.targets, 0, i), at(a.targets, 1, i), at(a.targets, 2, i)};
        value = 0;
#pragma unroll 1
        for (int j = 0; j < n; j++) {
          const double *y = &source[4 * j];
          const double  dx = (p[0] + y[0] / 2) * unit, dy = (p[1] + y[1] / 2) * unit, dz = (p[2] + y[2] / 2) * unit;
          const float   r2 = (float)(dx * dx + dy * dy + dz * dz);
          if (r2 > coincident<float>()) value += a.f.value(r2) * w[j];
        }
      }
    PetscReal *to = &out[i * a.out.point];
    *to = (PetscReal)(a.add ? *to + a.factor * value : a.factor * value);
  }
}

// ---- 16 columns
// ----------------------------------------------------------------------------------------------------------------
//
// Complex functions by three real products: (re + im) Re w, re (Im w - Re w), im (Re w + Im w).

template <class Function> constexpr int products = Scalar<typename Function::Value>::parts == 1 ? 1 : 3;

// Of 16 R targets and 8 sources, of which a lane has every fourth: values as multiply_add_tiles() takes them.
template <bool careful, class Function, class T, int R>
__device__ __forceinline__ void values_of_tiles(const Function &f, const T (&x)[R][2][3], const Source<T, T, 1> *source,
                                                double (&v)[R][products<Function>][4]) {
#pragma unroll
  for (int e = 0; e < 4; e++) {
    const Source<T, T, 1> s = source[e / 2 * 4];
#pragma unroll
    for (int r = 0; r < R; r++) {
      const T dx = x[r][e % 2][0] - s.x, dy = x[r][e % 2][1] - s.y, dz = x[r][e % 2][2] - s.z;
      const T r2 = dx * dx + dy * dy + dz * dz;
      auto    g = f.value(r2);
      if constexpr (careful && sizeof(T) == sizeof(double)) // not by the units that are busy with doubles
        g = or_zero(__double2hiint(r2) > __double2hiint(coincident<double>()), g);
      else if constexpr (careful)
        g = or_zero(r2 > coincident<T>(), g);
      if constexpr (products<Function> == 1)
        v[r][0][e] = g;
      else
        v[r][0][e] = g.re + g.im, v[r][1][e] = g.re, v[r][2][e] = g.im;
    }
  }
}
// sum[r][m][h]: of 16 targets r, product m, columns 8 h to 8 h + 7.
template <int R, int M>
__device__ __forceinline__ void add_products(const double (&v)[R][M][4], const double2 (*w)[2 * 32 + 4],
                                             double (&sum)[R][M][2][4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < M; m++) {
    const double2 w0 = w[m][lane], w1 = w[m][32 + lane];
#pragma unroll
    for (int r = 0; r < R; r++) {
      multiply_add_tiles(v[r][m], w0, sum[r][m][0]);
      multiply_add_tiles(v[r][m], w1, sum[r][m][1]);
    }
  }
}
// Over n of `most` sources; the others have no weights. w[j / 8]: weights as multiply_add_tiles() takes them, with a
// gap that spreads them over the banks.
template <bool careful, int most, class Function, class T, int R, int M>
__device__ __forceinline__ void add_columns(const Function &f, const T (&x)[R][2][3], const Source<T, T, 1> *source,
                                            const double2 (*w)[M][2 * 32 + 4], int n, double (&sum)[R][M][2][4]) {
  const Source<T, T, 1> *own = source + threadIdx.x % 4;
  double                 v[R][M][4];
  if constexpr (sizeof(T) == sizeof(float)) { // the next values before the products of these, which other units compute
    double next[R][M][4];
    values_of_tiles<careful>(f, x, own, v);
#pragma unroll 1
    for (int k = 0; k < n; k += 16) {
      values_of_tiles<careful>(f, x, own + k + 8, next);
      add_products(v, w[k / 8], sum);
      values_of_tiles<careful>(f, x, own + (k + 16) % most, v);
      add_products(next, w[k / 8 + 1], sum);
    }
  } else {
#pragma unroll 1
    for (int k = 0; k < n; k += 8) {
      values_of_tiles<careful>(f, x, own + k, v);
      add_products(v, w[k / 8], sum);
    }
  }
}

// A warp has R tiles of 16 targets.
template <class Function, class T, int R>
__global__ void __launch_bounds__(128, sizeof(T) == sizeof(float) ? 4 : 3)
    column_tiles(const __grid_constant__ Arguments<Function> a) {
  constexpr int M = products<Function>, parts = M == 1 ? 1 : 2, most = 128 / parts;
  __shared__ Source<T, T, 1> source[most];
  __shared__ __align__(16) double2 w[most / 8][M][2 * 32 + 4];
  const int                        warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const PetscInt                   base = ((PetscInt)blockIdx.x * 4 + warp) * (16 * R);
  const auto                       at = [&](const Points &points, int d, PetscInt i) {
    return scaled<T>(points.x[d][i], a.center[d], a.scale);
  };

  T      x[R][2][3];
  double total[R][M][2][4] = {};
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
      for (int d = 0; d < 3; d++) x[r][h][d] = at(a.targets, d, min(base + 16 * r + 8 * h + g, a.targets.n - 1));
  const PetscInt begin = blockIdx.y * a.sources_a_split, end = min(begin + a.sources_a_split, a.sources.n);
  for (PetscInt from = begin; from < end; from += most) {
    const int n = (int)min((PetscInt)most, end - from);
    __syncthreads();
    // The branch keeps these loads from overlapping with those of the weights: complex functions in double have too few
    // registers.
    if (most == 128 || sizeof(T) == sizeof(float) || threadIdx.x < most) {
      const unsigned own = most == 128 ? threadIdx.x : threadIdx.x % most; // two threads may store the same
      const PetscInt j = min(from + (PetscInt)own, end - 1);
      source[own] = {at(a.sources, 0, j), at(a.sources, 1, j), at(a.sources, 2, j), {}};
    }
    double of_source[4][most / 32][parts]; // all loads before the stores
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const PetscReal *weights = &a.in.data[a.in.at(from, a.first_column + 4 * warp + c)];
#pragma unroll
      for (int e = 0; e < most / 32 * parts; e++)
        of_source[c][e / parts][e % parts] = weights[min(32 * (e / parts) + lane, n - 1) * a.in.point + e % parts];
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
#pragma unroll
      for (int q = 0; q < most / 32; q++) {
        const int    k = 32 * q + lane;
        const double re = k < n ? of_source[c][q][0] : 0, im = k < n ? of_source[c][q][parts - 1] : 0;
        const double of[3] = {re, im - re, re + im};
#pragma unroll
        for (int m = 0; m < M; m++) {
          double2 *to = &w[k / 8][m][4 * (4 * warp + c) + k % 4]; // column c of eight has four lanes
          (k % 8 < 4 ? to->x : to->y) = of[m];
        }
      }
    __syncthreads();
    constexpr bool narrow = sizeof(T) == sizeof(float); // whose values are rougher than one sum of all in double
    double         sum_of_these[R][M][2][4] = {};
    auto          &sum = narrow ? total : sum_of_these;
    if (Function::singular || !a.own_value_at_zero)
      add_columns<true, most>(a.f, x, source, w, n, sum);
    else
      add_columns<false, most>(a.f, x, source, w, n, sum);
    if constexpr (!narrow)
#pragma unroll
      for (int e = 0; e < 8 * R * M; e++)
        total[e / (8 * M)][e / 8 % M][e / 4 % 2][e % 4] += sum[e / (8 * M)][e / 8 % M][e / 4 % 2][e % 4];
  }
#pragma unroll
  for (int e = 0; e < 8 * R; e++) {
    const PetscInt i = base + 16 * (e / 8) + 8 * (e / 2 % 2) + g;
    const int      c = 8 * (e / 4 % 2) + 2 * t + e % 2;
    if (i >= a.targets.n) continue;
    const auto value = [&](int m) { return total[e / 8][m][e / 4 % 2][e % 4]; };
    store(a, 16, parts, i, c, 0, M == 1 ? value(0) : value(0) - value(M - 1));
    if constexpr (parts == 2) store(a, 16, parts, i, c, 1, value(0) + value(1));
  }
}

// ---- launches
// ------------------------------------------------------------------------------------------------------------------

// Whether there are tiles for K columns of such sums; for one, of a real function.
template <class Function, class T, SumForm form, int K>
constexpr bool has_tiles = form == SumForm::value &&
                           (K == 16 || (K == 1 && sizeof(T) == sizeof(float) && products<Function> == 1));

// Whether this GPU has such tensor cores, in double precision not much slower than single, and the kernel was compiled
// for them.
inline PetscErrorCode has_fast_tiles(const void *kernel, int *can) {
  cudaFuncAttributes attributes;

  PetscFunctionBegin;
  if (*can >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaFuncGetAttributes(&attributes, kernel));
  *can = attributes.ptxVersion >= 90 && attribute_of_gpu(cudaDevAttrSingleToDoublePrecisionPerfRatio) <= 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Launches them where they serve the sum. One column wants many targets, and a length of the function beside which what
// rounding leaves of r² is little.
template <class Function, class T, int K>
PetscErrorCode launch_tiles(const PairSum &s, const Arguments<Function> &a, bool *launched) {
  static int can = -1, resident = 0;

  PetscFunctionBegin;
  *launched = false;
  if constexpr (K == 16) {
    constexpr int R = products<Function> == 1 ? 2 : 1;
    const void   *kernel = (const void *)column_tiles<Function, T, R>;
    PetscCall(has_fast_tiles(kernel, &can));
    if (!can || s.group) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(launch_kernel(s, a, {kernel, K, Scalar<typename Function::Value>::parts, 64 * R, 128, &resident}));
  } else {
    const double lengths = s.parameters.extent / Function::unit(s.parameters);
    const bool   few = s.sources.n < few_sources;
    const void  *kernel = (const void *)distance_tiles<Function, 8, 512>;
    PetscCall(has_fast_tiles(kernel, &can));
    if (!can || s.group || !are_many(s.targets.n) || (few && (s.add || s.targets.n > PETSC_MAX_INT / 2)) ||
        s.block < 128 || !s.own_value_at_zero || lengths > (Function::singular ? 1 : 0x1p12))
      PetscFunctionReturn(PETSC_SUCCESS);
    if (few) {
      static int at_a_time = 0;
      PetscCall(count_resident((const void *)target_tiles<Function>, 128, &at_a_time));
      const PetscInt64 blocks = PetscMin((PetscInt64)at_a_time, ((PetscInt64)s.targets.n + 127) / 128);
      PetscCall(launch_in_chain(target_tiles<Function>, blocks, 128, 0, a));
    } else
      PetscCall(launch_kernel(s, a, {kernel, K, 1, 256, 128, &resident}));
  }
  *launched = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace device
} // namespace shellac
#endif
