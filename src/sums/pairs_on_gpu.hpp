#pragma once
// The tiled pair sum on a GPU: targets in registers, sources in shared memory.

#include <algorithm>

#include "sums/pair_term.hpp"

#if SHELLAC_CUDA
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

template <class T, class V, int in> struct alignas(16) Source {
  T x, y, z;
  V w[in];
};

// `threads` of a block, as many sources in shared memory; R targets a thread.
template <class Function, class T, SumForm form, int K, int R, int threads>
__global__ void __launch_bounds__(threads) sum_kernel(const Arguments<Function> a) {
  using P = PairTerm<Function, T, form, K>;
  using V = typename P::V;
  using Careful = PairTerm<Function, T, form, K, true>;
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
  using P = PairTerm<Function, T, form, K>;
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
} // namespace shellac
#endif
