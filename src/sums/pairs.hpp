#pragma once
// The tiled pair sum, for one kernel function at a time: on the host, vectorised over targets; on a GPU, targets in
// registers and sources in shared memory.
//
// A singular function is not finite where x = y. Sums do not look for that pair by pair: a block whose sum is not finite
// is summed again with care, which costs nothing where there is no such pair.

#include <algorithm>

#include "device/stream.hpp"
#include "sums/pair_sum.hpp"

namespace shellac {

template <class V> struct Scalar {
  using type = V;
  static constexpr int parts = 1;
};
template <class T> struct Scalar<Complex<T>> {
  using type = T;
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

// What one pair adds to the sums: K columns of values, or a gradient. Careful: nothing at x = y.
template <class Function, class T, SumForm form, int K, bool careful = false> struct Pair {
  using V = typename Function::Value;
  static constexpr int in = form == SumForm::gradient_transposed ? 3 : K;
  static constexpr int out = form == SumForm::gradient ? 3 : K;

  static SHELLAC_INLINE void add_value(V v, const V *w, V *sum) {
    SHELLAC_UNROLL_ALL
    for (int k = 0; k < K; k++) multiply_add(v, w[k], &sum[k]);
  }
  static SHELLAC_INLINE void add(const Function &f, T dx, T dy, T dz, T r2, const V *w, V *sum) {
    const bool apart = r2 > T(sizeof(T) == 4 ? 1e-37 : 1e-300);
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

// ---- host ------------------------------------------------------------------------------------------------------------

namespace host {

constexpr int lanes = 32;   // targets that are computed together
constexpr int tile = 128;   // sources in the first cache
constexpr int chunk = 2048; // targets in the second

// sum[out part][lane] += the terms of the sources [begin, end); w[in part][tile]
template <class Function, class T, SumForm form, int K, bool careful>
SHELLAC_WIDEST void sum_block(Function f, const T (*x)[lanes], const T (*y)[tile], const T (*w)[tile], int begin,
                              int end, T (*sum)[lanes]) {
  using P = Pair<Function, T, form, K, careful>;
  using V = typename P::V;
  constexpr int parts = Scalar<V>::parts;
  for (int j = begin; j < end; j++) {
    V weight[P::in];
    for (int c = 0; c < P::in; c++)
      if constexpr (parts == 2)
        weight[c] = {w[2 * c][j], w[2 * c + 1][j]};
      else
        weight[c] = w[c][j];
    const T y0 = y[0][j], y1 = y[1][j], y2 = y[2][j];
#pragma GCC ivdep
    for (int l = 0; l < lanes; l++) {
      const T dx = x[0][l] - y0, dy = x[1][l] - y1, dz = x[2][l] - y2;
      V       s[P::out];
      for (int c = 0; c < P::out; c++)
        if constexpr (parts == 2)
          s[c] = {sum[2 * c][l], sum[2 * c + 1][l]};
        else
          s[c] = sum[c][l];
      P::add(f, dx, dy, dz, dx * dx + dy * dy + dz * dz, weight, s);
      for (int c = 0; c < P::out; c++)
        if constexpr (parts == 2)
          sum[2 * c][l] = s[c].re, sum[2 * c + 1][l] = s[c].im;
        else
          sum[c][l] = s[c];
    }
  }
}

template <class Function, class T, SumForm form, int K>
void sum_group(const PairSum &s, const Function &f, double scale, double factor, int first_column, const Group &targets,
               const Range *list, PetscInt ranges) {
  using P = Pair<Function, T, form, K>;
  constexpr int       parts = Scalar<typename P::V>::parts;
  std::vector<double> totals((size_t)chunk * P::out * parts);
  std::vector<T>      coordinates((size_t)3 * chunk);
  T                   y[3][tile], w[P::in * parts][tile];
  const bool          narrow = sizeof(T) == sizeof(float);
  const auto          scaled = [&](PetscReal x, int a) { return (T)(narrow ? (x - targets.center[a]) * scale : x); };

  for (PetscInt from = targets.begin; from < targets.end; from += chunk) {
    const int n = (int)std::min<PetscInt>(chunk, targets.end - from), blocks = (n + lanes - 1) / lanes;
    T(*x)[3][lanes] = reinterpret_cast<T(*)[3][lanes]>(coordinates.data());
    double(*total)[P::out * parts][lanes] = reinterpret_cast<double(*)[P::out * parts][lanes]>(totals.data());
    std::fill(totals.begin(), totals.end(), 0);
    for (int i = 0; i < blocks * lanes; i++) // the last target again where there are no more
      for (int a = 0; a < 3; a++) x[i / lanes][a][i % lanes] = scaled(s.targets.x[a][from + std::min(i, n - 1)], a);
    for (PetscInt r = 0; r < ranges; r++) {
      for (PetscInt source = list[r].begin; source < list[r].end; source += tile) {
        const int m = (int)std::min<PetscInt>(tile, list[r].end - source);
        for (int j = 0; j < m; j++) {
          for (int a = 0; a < 3; a++) y[a][j] = scaled(s.sources.x[a][source + j], a);
          for (int c = 0; c < P::in; c++) {
            const PetscReal *value = &s.in.data[s.in.at(source + j, first_column + c)];
            const bool       beyond = form == SumForm::gradient_transposed && c >= s.dim;
            for (int p = 0; p < parts; p++) w[c * parts + p][j] = beyond ? 0 : (T)value[p];
          }
        }
        for (int b = 0; b < blocks; b++) {
          for (int begin = 0; begin < m; begin += s.block) {
            const int end = std::min(begin + s.block, m);
            T         sum[P::out * parts][lanes] = {};
            bool      care = !s.own_value_at_zero;
            if (!care) {
              sum_block<Function, T, form, K, false>(f, x[b], y, w, begin, end, sum);
              if constexpr (Function::singular) {
                T unsound = 0;
                for (int c = 0; c < P::out * parts; c++)
                  for (int l = 0; l < lanes; l++) unsound += sum[c][l] - sum[c][l];
                care = !(unsound == 0);
              }
            }
            if (care) {
              std::fill(&sum[0][0], &sum[0][0] + P::out * parts * lanes, T(0));
              sum_block<Function, T, form, K, true>(f, x[b], y, w, begin, end, sum);
            }
            for (int c = 0; c < P::out * parts; c++)
              for (int l = 0; l < lanes; l++) total[b][c][l] += sum[c][l];
          }
        }
      }
    }
    const int columns = form == SumForm::gradient ? s.dim : P::out;
    for (int i = 0; i < n; i++)
      for (int c = 0; c < columns; c++)
        for (int p = 0; p < parts; p++) {
          PetscReal   *to = &s.out.data[s.out.at(from + i, first_column + c) + p];
          const double value = factor * total[i / lanes][c * parts + p][i % lanes];
          *to = (PetscReal)(s.add ? *to + value : value);
        }
  }
}

} // namespace host

// ---- GPU -------------------------------------------------------------------------------------------------------------

#if SHELLAC_CUDA
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

template <class T, class V, int in> struct alignas(16) Source {
  T x, y, z;
  V w[in];
};

// `threads` of a block, as many sources in shared memory; R targets a thread.
template <class Function, class T, SumForm form, int K, int R, int threads>
__global__ void __launch_bounds__(threads) sum_kernel(const Arguments<Function> a) {
  using P = Pair<Function, T, form, K>;
  using V = typename P::V;
  using Careful = Pair<Function, T, form, K, true>;
  using Total = std::conditional_t<Scalar<V>::parts == 2, Complex<double>, double>;
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
    targets = {a.group[blockIdx.x].begin, a.group[blockIdx.x].end};
    list = a.list + a.first[blockIdx.x];
    ranges = a.first[blockIdx.x + 1] - a.first[blockIdx.x];
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
      for (int p = 0; p < parts; p++) {
        const double value = part_of(total[r][c], p);
        if (a.partial) {
          a.partial[((size_t)split * P::out * parts + c * parts + p) * a.targets.n + i] = value;
        } else if (form != SumForm::gradient || c < a.dim) {
          PetscReal *to = &a.out.data[a.out.at(i, a.first_column + c) + p];
          *to = (PetscReal)(a.add ? *to + a.factor * value : a.factor * value);
        }
      }
  }
}

// Adds the parts of the sources, a warp for each sum, always in the same order.
template <int unused>
__global__ void add_splits(PetscInt n, int splits, int columns, int parts, int stored, const double *partial,
                           Values<PetscReal> out, int first_column, double factor, bool add) {
  const PetscInt i = ((PetscInt)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int      lane = threadIdx.x % 32;
  if (i >= n) return;
  for (int c = 0; c < columns; c++)
    for (int p = 0; p < parts; p++) {
      double sum = 0;
      for (int s = lane; s < splits; s += 32) sum += partial[((size_t)s * stored + c * parts + p) * n + i];
      for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
      PetscReal *to = &out.data[out.at(i, first_column + c) + p];
      if (lane == 0) *to = (PetscReal)(add ? *to + factor * sum : factor * sum);
    }
}
// The same where there are targets enough for a thread each.
template <int unused>
__global__ void add_few_splits(PetscInt n, int splits, int columns, int parts, int stored, const double *partial,
                               Values<PetscReal> out, int first_column, double factor, bool add) {
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int c = 0; c < columns; c++)
    for (int p = 0; p < parts; p++) {
      double sum = 0;
      for (int s = 0; s < splits; s++) sum += partial[((size_t)s * stored + c * parts + p) * n + i];
      PetscReal *to = &out.data[out.at(i, first_column + c) + p];
      *to = (PetscReal)(add ? *to + factor * sum : factor * sum);
    }
}

PetscErrorCode GetWorkspace(size_t bytes, double **work); // one for all, in the order of PETSc's stream

template <class Function, class T, SumForm form, int K, int R, int threads = 128>
PetscErrorCode launch(const PairSum &s, Arguments<Function> a) {
  using P = Pair<Function, T, form, K>;
  constexpr int parts = Scalar<typename P::V>::parts;
  const auto    kernel = sum_kernel<Function, T, form, K, R, threads>;
  const int     columns = form == SumForm::gradient ? s.dim : P::out;
  cudaStream_t  stream;
  static int    resident = 0; // blocks that the GPU holds at a time

  PetscFunctionBegin;
  if (!s.targets.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(current_stream(&stream));
  if (s.group) {
    if (!s.groups) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(s.group_size <= threads * R, PETSC_COMM_SELF, PETSC_ERR_PLIB, "groups of targets are too large");
    a.group = s.group, a.list = s.list, a.first = s.first;
    kernel<<<(unsigned)s.groups, threads, 0, stream>>>(a);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!resident) {
    int device, processors, blocks;
    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
    resident = std::max(1, processors * blocks);
  }
  // The sources are split where the targets do not fill the GPU several times over, but not into parts so small that
  // adding them would cost more.
  const PetscInt64 blocks = (s.targets.n + threads * R - 1) / (threads * R);
  PetscInt64       splits = blocks >= 12 * (PetscInt64)resident ? 1 : (6 * (PetscInt64)resident + blocks - 1) / blocks;
  splits = std::max<PetscInt64>(1, std::min<PetscInt64>({splits, s.sources.n / (4 * threads), 65535}));
  const PetscInt64 tiles = (s.sources.n + threads - 1) / threads;
  a.sources_a_split = (PetscInt)((tiles + splits - 1) / splits * threads);
  splits = std::max<PetscInt64>(1, (s.sources.n + a.sources_a_split - 1) / std::max<PetscInt>(1, a.sources_a_split));
  if (splits > 1)
    PetscCall(GetWorkspace(sizeof(double) * (size_t)splits * P::out * parts * (size_t)s.targets.n, &a.partial));
  kernel<<<dim3((unsigned)blocks, (unsigned)splits), threads, 0, stream>>>(a);
  PetscCallCUDA(cudaGetLastError());
  if (splits > 1) {
    const bool few = s.targets.n < 4096;
    const auto reduce = few ? add_splits<0> : add_few_splits<0>;
    reduce<<<(unsigned)(((PetscInt64)s.targets.n * (few ? 32 : 1) + 255) / 256), 256, 0, stream>>>(
        s.targets.n, (int)splits, columns, parts, P::out * parts, a.partial, a.out, a.first_column, a.factor, a.add);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace device
#endif

// ---- either ------------------------------------------------------------------------------------------------------------

// few: targets a thread where they are few; many: where they fill the GPU.
template <class Function, class T, SumForm form, int K, int few, int many>
PetscErrorCode sum_columns(const PairSum &s, int first_column) {
  const double   unit = Function::unit(s.parameters), scale = unit_scale<T>(unit);
  double         factor = Function::factor(s.parameters);
  const Function f(s.parameters);

  PetscFunctionBegin;
  // a gradient is g'/r by a difference of coordinates, of which floats come in units already
  if (form != SumForm::value) factor *= 1 / unit * (sizeof(T) == sizeof(float) ? 1 : 1 / unit);
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(s.memory)) {
    device::Arguments<Function> a{f, s.targets, s.sources, s.in, s.out};
    a.partial = NULL;
    a.scale = scale, a.factor = factor;
    for (int d = 0; d < 3; d++) a.center[d] = s.center[d];
    a.group = NULL, a.list = NULL, a.first = NULL;
    a.first_column = first_column, a.dim = s.dim, a.block = s.block;
    a.add = s.add, a.own_value_at_zero = s.own_value_at_zero;
    // targets that fill the GPU, R of them a thread; the fewer they are, the fewer a thread and a block
    const bool full = s.group ? s.group_size > 128 * few : s.sources.n >= 512 && s.targets.n >= 32768;
    if (form == SumForm::value && K == 1 && !s.group && s.targets.n <= 512)
      PetscCall((device::launch<Function, T, form, K, 1, 64>(s, a)));
    else if (full)
      PetscCall((device::launch<Function, T, form, K, many>(s, a)));
    else
      PetscCall((device::launch<Function, T, form, K, few>(s, a)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (s.group) {
    for (PetscInt g = 0; g < s.groups; g++)
      host::sum_group<Function, T, form, K>(s, f, scale, factor, first_column, s.group[g], s.list + s.first[g],
                                            s.first[g + 1] - s.first[g]);
  } else {
    const Range all = {0, s.sources.n};
    host::sum_group<Function, T, form, K>(s, f, scale, factor, first_column,
                                          {0, s.targets.n, {s.center[0], s.center[1], s.center[2]}}, &all, 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Function, class T> PetscErrorCode sum_function(const PairSum &s) {
  constexpr bool narrow = sizeof(T) == sizeof(float), complex = Scalar<typename Function::Value>::parts == 2;

  PetscFunctionBegin;
  if (s.form == SumForm::gradient) {
    PetscCall((sum_columns<Function, T, SumForm::gradient, 1, 2, 2>(s, 0)));
  } else if (s.form == SumForm::gradient_transposed) {
    PetscCall((sum_columns<Function, T, SumForm::gradient_transposed, 1, 2, 2>(s, 0)));
  } else {
    int column = 0; // many right-hand sides at a time share the distances and the function
    if constexpr (complex) {
      for (; column + 16 <= s.columns; column += 16)
        PetscCall((sum_columns<Function, T, SumForm::value, 16, 1, 1>(s, column)));
      for (; column + 4 <= s.columns; column += 4)
        PetscCall((sum_columns<Function, T, SumForm::value, 4, 2, 2>(s, column)));
    } else {
      for (; column + 16 <= s.columns; column += 16)
        PetscCall((sum_columns < Function, T, SumForm::value, 16, narrow ? 2 : 1, narrow ? 2 : 1 > (s, column)));
      for (; column + 4 <= s.columns; column += 4)
        PetscCall((sum_columns<Function, T, SumForm::value, 4, 2, 2>(s, column)));
      for (; column + 2 <= s.columns; column += 2)
        PetscCall((sum_columns<Function, T, SumForm::value, 2, 2, 4>(s, column)));
    }
    for (; column < s.columns; column++)
      PetscCall((sum_columns < Function, T, SumForm::value, 1, 2, narrow && !complex ? 8 : 4 > (s, column)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, class... Functions> PetscErrorCode sum_listed(FunctionList<Functions...>, const PairSum &s) {
  static PetscErrorCode (*const of_function[])(const PairSum &) = {&sum_function<Functions, T>...};
  return of_function[s.function](s);
}

} // namespace shellac
