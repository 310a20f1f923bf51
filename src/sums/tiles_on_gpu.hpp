#pragma once
// Pair sums by the tensor cores in double precision that Hopper's GPUs and later ones have: the squares of distances of sums in
// single precision, and the products of values with 16 columns.

#include "device/chain.hpp"
#include "sums/kernels/laplace_potential.hpp"
#include "sums/pairs_on_gpu.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace device {

// ---- products of a warp: lane 4 g + t has rows g and g + 8, columns 2 t and 2 t + 1 of d ----------------------------------

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

// ---- one column in single precision ----------------------------------------------------------------------------------------
//
// r² = |x|² + |y|² - 2 x·y of 16 sources and 8 targets at a time, in double, whose cancellation single precision does not see. It
// comes times 2^-896: then the exponent has the bits of a float's and a shift makes the float, while a conversion would take the
// unit of exponentials and roots.
//
// Of coincident points rounding leaves up to 2^-47 extents². Singular functions have coordinates in units of 2^41 extents, where
// squares below 2^-44 extents² are no normal floats: they count as zero, the sum is not finite, and is taken again with care.

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

// ---- 16 columns ----------------------------------------------------------------------------------------------------------------

// sum[r][h]: those of 16 targets x[r] in columns 8 h to 8 h + 7, over n sources. w[j / 8]: weights as multiply_add_tiles() takes
// them, with a gap that spreads them over the banks.
template <bool careful, class Function, class T, int R>
__device__ __forceinline__ void add_columns(const Function &f, const T (&x)[R][2][3], const Source<T, T, 1> *source,
                                            const double2 (*w)[2 * 32 + 4], int n, double (&sum)[R][2][4]) {
  const int lane = threadIdx.x % 32, t = lane % 4;
#pragma unroll 1
  for (int k = 0; k < n; k += 8) {
    double v[R][4];
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const Source<T, T, 1> s = source[k + 4 * (e / 2) + t];
#pragma unroll
      for (int r = 0; r < R; r++) {
        const T dx = x[r][e % 2][0] - s.x, dy = x[r][e % 2][1] - s.y, dz = x[r][e % 2][2] - s.z;
        const T r2 = dx * dx + dy * dy + dz * dz, g = f.value(r2);
        v[r][e] = careful ? or_zero(r2 > coincident<T>(), g) : g;
      }
    }
    const double2 w0 = w[k / 8][lane], w1 = w[k / 8][32 + lane];
#pragma unroll
    for (int r = 0; r < R; r++) {
      multiply_add_tiles(v[r], w0, sum[r][0]);
      multiply_add_tiles(v[r], w1, sum[r][1]);
    }
  }
}

// A warp has R tiles of 16 targets.
template <class Function, class T, int R>
__global__ void __launch_bounds__(128, sizeof(T) == sizeof(float) ? 4 : 3)
    column_tiles(const __grid_constant__ Arguments<Function> a) {
  constexpr int most = 128;
  __shared__ Source<T, T, 1> source[most];
  __shared__ __align__(16) double2 w[most / 8][2 * 32 + 4];
  const int                        warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const PetscInt                   base = ((PetscInt)blockIdx.x * 4 + warp) * (16 * R);
  const auto                       at = [&](const Points &points, int d, PetscInt i) {
    return scaled<T>(points.x[d][i], a.center[d], a.scale);
  };

  T      x[R][2][3];
  double total[R][2][4] = {};
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
      for (int d = 0; d < 3; d++) x[r][h][d] = at(a.targets, d, min(base + 16 * r + 8 * h + g, a.targets.n - 1));
  const PetscInt begin = blockIdx.y * a.sources_a_split, end = min(begin + a.sources_a_split, a.sources.n);
  for (PetscInt from = begin; from < end; from += most) {
    const int      n = (int)min((PetscInt)most, end - from);
    const PetscInt own = min(from + (PetscInt)threadIdx.x, end - 1);
    __syncthreads();
    source[threadIdx.x] = {at(a.sources, 0, own), at(a.sources, 1, own), at(a.sources, 2, own), {}};
    double of_source[4][4]; // all loads before the stores
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const PetscReal *weights = &a.in.data[a.in.at(from, a.first_column + 4 * warp + c)];
#pragma unroll
      for (int q = 0; q < 4; q++) of_source[c][q] = weights[min(32 * q + lane, n - 1) * a.in.point];
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
#pragma unroll
      for (int q = 0; q < 4; q++) {
        const int k = 32 * q + lane;
        double2  *to = &w[k / 8][4 * (4 * warp + c) + k % 4]; // column c of eight has four lanes
        (k % 8 < 4 ? to->x : to->y) = k < n ? of_source[c][q] : 0;
      }
    __syncthreads();
    double sum[R][2][4] = {};
    bool   care = !a.own_value_at_zero;
    if (!care) {
      add_columns<false>(a.f, x, source, w, n, sum);
      if constexpr (Function::singular) {
#pragma unroll
        for (int e = 0; e < 8 * R; e++) care = care || !is_finite(sum[e / 8][e / 4 % 2][e % 4]);
        care = __any_sync(0xffffffff, care);
      }
    }
    if (care) {
#pragma unroll
      for (int e = 0; e < 8 * R; e++) sum[e / 8][e / 4 % 2][e % 4] = 0;
      add_columns<true>(a.f, x, source, w, n, sum);
    }
#pragma unroll
    for (int e = 0; e < 8 * R; e++) total[e / 8][e / 4 % 2][e % 4] += sum[e / 8][e / 4 % 2][e % 4];
  }
#pragma unroll
  for (int e = 0; e < 8 * R; e++) {
    const PetscInt i = base + 16 * (e / 8) + 8 * (e / 2 % 2) + g;
    if (i < a.targets.n) store(a, 16, 1, i, 8 * (e / 4 % 2) + 2 * t + e % 2, 0, total[e / 8][e / 4 % 2][e % 4]);
  }
}

// ---- launches ------------------------------------------------------------------------------------------------------------------

// Whether there are tiles for K columns of such sums: of real functions.
template <class Function, class T, SumForm form, int K>
constexpr bool has_tiles = form == SumForm::value &&Scalar<typename Function::Value>::parts == 1 &&
                           (K == 16 || (K == 1 && sizeof(T) == sizeof(float)));

// Launches them where this GPU has such tensor cores, in double precision not much slower than single, and they serve the sum. One
// column wants targets that fill the GPU, and a length of the function beside which what rounding leaves of r² is little.
template <class Function, class T, int K>
PetscErrorCode launch_tiles(const PairSum &s, const Arguments<Function> &a, bool *launched) {
  constexpr bool one = K == 1;
  static int     can = -1, resident = 0;
  const void    *kernel;

  PetscFunctionBegin;
  if constexpr (one)
    kernel = (const void *)distance_tiles<Function, 8, 512>;
  else
    kernel = (const void *)column_tiles<Function, T, 2>;
  if (can < 0) {
    cudaFuncAttributes attributes;
    PetscCallCUDA(cudaFuncGetAttributes(&attributes, kernel));
    can = attributes.ptxVersion >= 90 && attribute_of_gpu(cudaDevAttrSingleToDoublePrecisionPerfRatio) <= 2;
  }
  *launched = can && !s.group;
  if (one && (!fills(s, 0) || s.block < 128 || !s.own_value_at_zero ||
              s.parameters.extent > (Function::singular ? 1 : 0x1p12) * Function::unit(s.parameters)))
    *launched = false;
  if (*launched) PetscCall(launch_kernel(s, a, {kernel, K, 1, one ? 2 : 1, 128, &resident}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace device
} // namespace shellac
#endif
