#pragma once
// The pair sum of a block of threads on a GPU: targets in registers, sources in shared memory. Formulas are compiled
// with it at run time.

#include "sums/pair_term.hpp"

// A kernel; a function that kernels with names of their own call, at run time.
#if defined(__CUDACC_RTC__)
#define SHELLAC_SUM_KERNEL inline void
#else
#define SHELLAC_SUM_KERNEL __global__ void __launch_bounds__(threads)
#endif

namespace shellac {
namespace device {

template <class Function> struct Arguments {
  Function                f;
  Points                  targets, sources;
  Values<const PetscReal> in;
  Values<PetscReal>       out;
  double         *partial; // [split][column part][target]: sums of a part of the sources each; null for one part
  double          scale, factor, center[3];
  PetscInt        sources_a_split;
  const Group    *group;
  const Range    *list;
  const PetscInt *first;
  int             first_column, dim, block;
  bool            add, own_value_at_zero;
};

template <class T> __device__ __forceinline__ T scaled(PetscReal x, double center, double scale) {
  return (T)(sizeof(T) == sizeof(float) ? (x - center) * scale : x);
}

// Part p of column c of the result at target i; of one part of the sources, if they are split.
template <class Function>
__device__ __forceinline__ void store(const Arguments<Function> &a, int columns, int parts, PetscInt i, int c, int p,
                                      double value) {
  if (a.partial) {
    a.partial[(((size_t)blockIdx.y * columns + c) * parts + p) * a.targets.n + i] = value;
  } else {
    PetscReal *to = &a.out.data[a.out.at(i, a.first_column + c) + p];
    *to = (PetscReal)(a.add ? *to + a.factor * value : a.factor * value);
  }
}

template <class T, class V, int in> struct alignas(16) Source {
  T x, y, z;
  V w[in];
};

// `threads` of a block, as many sources in shared memory; R targets a thread.
template <class Function, class T, SumForm form, int K, int R, int threads>
SHELLAC_SUM_KERNEL sum_kernel(const Arguments<Function> a) {
  using P = PairTerm<Function, T, form, K>;
  using V = typename P::V;
  using Careful = PairTerm<Function, T, form, K, true>;
  using Total = typename Scalar<V>::Total;
  constexpr int parts = Scalar<V>::parts;
  __shared__ Source<T, V, P::in> source[threads];
  __shared__ double              center[3];

  Range          targets, sources;
  const Range   *list = &sources;
  PetscInt       ranges = 1;
  const PetscInt split = blockIdx.y;
  if (threadIdx.x == 0)
    for (int d = 0; d < 3; d++) center[d] = a.group ? a.group[blockIdx.x].center[d] : a.center[d];
  __syncthreads();
  if (a.group) {
    const PetscInt which = a.group[blockIdx.x].list;
    targets = {a.group[blockIdx.x].begin, a.group[blockIdx.x].end};
    list = a.list + a.first[which];
    ranges = a.first[which + 1] - a.first[which];
  } else {
    targets = {(PetscInt)blockIdx.x * (threads * R), a.targets.n};
    sources.begin = split * a.sources_a_split;
    sources.end = min(sources.begin + a.sources_a_split, a.sources.n);
  }

  T     x[R], y[R], z[R];
  Total total[R][P::out] = {};
#pragma unroll
  for (int r = 0; r < R; r++) {
    const PetscInt i = min(targets.begin + r * threads + (PetscInt)threadIdx.x, targets.end - 1);
    x[r] = scaled<T>(a.targets.x[0][i], center[0], a.scale);
    y[r] = scaled<T>(a.targets.x[1][i], center[1], a.scale);
    z[r] = scaled<T>(a.targets.x[2][i], center[2], a.scale);
  }
  for (PetscInt range = 0; range < ranges; range++) {
    const Range at = list[range];
    for (PetscInt from = at.begin; from < at.end; from += threads) {
      const int n = (int)min((PetscInt)threads, at.end - from);
      __syncthreads();
      if (threadIdx.x < n) {
        const PetscInt       j = from + threadIdx.x;
        Source<T, V, P::in> &s = source[threadIdx.x];
        s.x = scaled<T>(a.sources.x[0][j], center[0], a.scale);
        s.y = scaled<T>(a.sources.x[1][j], center[1], a.scale);
        s.z = scaled<T>(a.sources.x[2][j], center[2], a.scale);
#pragma unroll
        for (int c = 0; c < P::in; c++)
          if (form == SumForm::gradient_transposed && c >= a.dim)
            s.w[c] = V{};
          else
            load(&a.in.data[a.in.at(j, a.first_column + c)], &s.w[c]);
      }
      __syncthreads();
      for (int begin = 0; begin < n; begin += a.block) {
        const int end = min(begin + a.block, n);
        V         sum[R][P::out] = {};
        bool      care = !a.own_value_at_zero;
        if (!care) {
#pragma unroll(K > 4 ? 2 : sizeof(T) == 4 ? 8 : 4)
          for (int j = begin; j < end; j++) {
            const Source<T, V, P::in> s = source[j];
#pragma unroll
            for (int r = 0; r < R; r++) {
              const T dx = x[r] - s.x, dy = y[r] - s.y, dz = z[r] - s.z;
              P::add(a.f, dx, dy, dz, dx * dx + dy * dy + dz * dz, s.w, sum[r]);
            }
          }
          if (Function::singular) {
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
              for (int c = 0; c < P::out; c++) care = care || !is_finite(sum[r][c]);
          }
        }
        if (care) {
#pragma unroll
          for (int r = 0; r < R; r++)
#pragma unroll
            for (int c = 0; c < P::out; c++) sum[r][c] = V{};
#pragma unroll 1
          for (int j = begin; j < end; j++) {
            const Source<T, V, P::in> s = source[j];
#pragma unroll
            for (int r = 0; r < R; r++) {
              const T dx = x[r] - s.x, dy = y[r] - s.y, dz = z[r] - s.z;
              Careful::add(a.f, dx, dy, dz, dx * dx + dy * dy + dz * dz, s.w, sum[r]);
            }
          }
        }
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
          for (int c = 0; c < P::out; c++) add(sum[r][c], &total[r][c]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < R; r++) {
    const PetscInt i = targets.begin + r * threads + threadIdx.x;
    if (i >= targets.end) break;
#pragma unroll
    for (int c = 0; c < P::out; c++)
#pragma unroll
      for (int p = 0; p < parts; p++)
        if (a.partial || form != SumForm::gradient || c < a.dim)
          store(a, P::out, parts, i, c, p, part_of(total[r][c], p));
  }
}

} // namespace device
} // namespace shellac
