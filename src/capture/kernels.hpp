#pragma once
// Captured coefficients times a grid function on a GPU: on the points whose arms stay on the patch, by a kernel for
// the stencil's shape and the coefficients' form; on the others, in the same launch, point by point.

#include "capture/apply.hpp"
#include "capture/rows_on_gpu.hpp"

namespace shellac {

#if SHELLAC_CUDA

// Where the coefficients of a point come from: n arms, one value a point.
template <class T, int n> struct FromConstants { // the same at all inner points: in 1-D
  T c[n];
  struct Row {};
  __device__ Row row(size_t) const { return {}; }
  __device__ T   get(Row, int arm, size_t) const { return c[arm]; }
};
template <class T, int n, class Index> struct FromClasses {
  static constexpr int stride = table_stride<T>(n);
  const T *__restrict__ table;
  const Index *__restrict__ index;
  struct alignas(16) Row { // read by loads of 16 bytes
    T c[stride];
  };
  __device__ const Row &row(size_t at) const { return reinterpret_cast<const Row *>(table)[index[at]]; }
  __device__ T          get(const Row &row, int arm, size_t) const { return row.c[arm]; }
};
template <class T, int n> struct FromArrays {
  const T *c[n];
  struct Row {};
  __device__ Row row(size_t) const { return {}; }
  __device__ T   get(Row, int arm, size_t at) const { return __ldg(&c[arm][at]); }
};

namespace kernel {

template <int dim, bool box>
struct ArmsBlock { // threads of a block, and points that each computes along the slowest axis
  static constexpr int x = dim == 3 ? 32 : 128, y = dim == 3 ? 4 : 1,
                       steps = dim == 1 || (box && dim == 3) ? 1
                               : box                         ? 2
                                                             : 4;
};

template <int dim, bool box, class T, class Source, class Other>
__global__ void __launch_bounds__(128) apply_arms(const __grid_constant__ Columns parts, Patch patch, Source source,
                                                  Other other, Form form, const T *__restrict__ u, const T *b, T *y) {
  using Block = ArmsBlock<dim, box>;
  using Whole = WholeStencil<dim, box>;
  constexpr int slow = dim - 1, steps = Block::steps;
  PetscInt      p[3] = {0, 0, 0};

  if (blockIdx.x < parts.others.blocks) {
    parts.others.exchange_and_compute(u, other);
    return;
  }
  const Box     &inner = parts.inner;
  const unsigned block = blockIdx.x - parts.others.blocks, above = block / parts.blocks_x,
                 blocks_y = dim == 3 ? (unsigned)(inner.size(1) + Block::y - 1) / Block::y : 1;
  p[0] = inner.lo[0] + (PetscInt)(block % parts.blocks_x * Block::x + threadIdx.x);
  if (dim == 3) p[1] = inner.lo[1] + (PetscInt)(above % blocks_y * Block::y + threadIdx.y);
  if (dim > 1) p[slow] = inner.lo[slow] + (PetscInt)(dim == 3 ? above / blocks_y : above) * steps;
  if (p[0] >= inner.hi[0] || (dim == 3 && p[1] >= inner.hi[1])) return;

  const size_t    first = patch.index(p[0], p[1], p[2]), stride = patch.stride(slow);
  const ptrdiff_t row = patch.size[0], plane = row * patch.size[1];
  const int       left = dim == 1 ? 1 : (int)PetscMin((PetscInt)steps, inner.hi[slow] - p[slow]);
  T               sum[steps], add[steps];
#pragma unroll
  for (int s = 0; s < steps; s++) {
    const size_t               at = first + PetscMin(s, left - 1) * stride; // past the end: the last one again
    const typename Source::Row coefficients = source.row(at);
    add[s] = form == Form::product ? T(0) : b[at];
    sum[s] = 0;
#pragma unroll
    for (int arm = 0; arm < Whole::count; arm++)
      sum[s] += source.get(coefficients, arm, at) *
                u[(ptrdiff_t)at + Whole::step(arm, 0) + Whole::step(arm, 1) * row + Whole::step(arm, 2) * plane];
  }
#pragma unroll
  for (int s = 0; s < steps; s++)
    if (s < left) y[first + s * stride] = combine(form, &add[s], 0, sum[s]);
}

// Slots of any shape, a value a thread: r, the row at the point, is the block's second index.
template <class T, class Other>
__global__ void __launch_bounds__(128) apply_slots(const __grid_constant__ Columns parts, CapturedRow<T> row,
                                                   Other other, Form form, const T *__restrict__ u, const T *b, T *y) {
  PetscInt p[3];
  if (blockIdx.x < parts.others.blocks) {
    if (blockIdx.y == 0) parts.others.exchange_and_compute(u, other);
    return;
  }
  const PetscInt64 n = (PetscInt64)(blockIdx.x - parts.others.blocks) * 128 + threadIdx.x;
  if (n >= parts.inner.points()) return;
  parts.inner.point(n, p);
  const CapturedCoefficients<T> &a = row.a;
  const int                      r = (int)blockIdx.y;
  const size_t                   at = row.patch.index(p[0], p[1], p[2]), to = at * row.patch.dof + r;
  const T                       *rows = a.rows(row.patch, p, at);
  const T                       *here = u + at * row.patch.dof;
  T                              sum = 0;
#pragma unroll 4
  for (int s = a.first[r]; s < a.first[r + 1]; s++) sum += a.value(rows, s, at) * here[a.offset[s]];
  y[to] = combine(form, b, to, sum);
}

} // namespace kernel

template <int dim, bool box, class T, class Source>
PetscErrorCode launch_arms(const CapturedRow<T> &row, const Source &source, const Field<T> &field, Form form,
                           const T *b, const Box &all, const Box &inner, T *y) {
  using Block = kernel::ArmsBlock<dim, box>;
  kernel::Columns parts{inner, inner.lo[0], blocks_of(inner.size(0), Block::x),
                        OtherPoints(difference(all, inner), field.exchange, 128)};
  unsigned        inner_blocks = 0;
  cudaStream_t    stream;

  PetscFunctionBegin;
  if (inner.points()) inner_blocks = parts.blocks_x;
  if (dim == 3) inner_blocks *= blocks_of(inner.size(1), Block::y);
  if (dim > 1) inner_blocks *= blocks_of(inner.size(dim - 1), Block::steps);
  PetscCall(current_stream(&stream));
  const captured::Apply<T> point{row, field, form, b, y};
  kernel::apply_arms<dim, box><<<inner_blocks + parts.others.blocks, dim3(Block::x, Block::y), 0, stream>>>(
      parts, row.patch, source, point, form, field.u, b, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
PetscErrorCode launch_slots(const CapturedRow<T> &row, const Field<T> &field, Form form, const T *b, const Box &all,
                            const Box &inner, T *y) {
  kernel::Columns parts{inner, 0, 0, OtherPoints(difference(all, inner), field.exchange, 128)};
  cudaStream_t    stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  const captured::Apply<T> point{row, field, form, b, y};
  kernel::apply_slots<<<dim3(blocks_of(inner.points(), 128) + parts.others.blocks, (unsigned)row.patch.dof), 128, 0,
                        stream>>>(parts, row, point, form, field.u, b, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// inside: the coefficients of an inner point, on the host, where they are constant; arrays: of each slot, on the host.
template <int dim, bool box, class T>
PetscErrorCode launch_whole_stencil(const CapturedRow<T> &row, const T *inside, const T *const *arrays,
                                    const Field<T> &field, Form form, const T *b, const Box &all, const Box &inner,
                                    T *y) {
  constexpr int                  n = WholeStencil<dim, box>::count;
  const CapturedCoefficients<T> &a = row.a;

  PetscFunctionBegin;
  if (a.storage == Storage::arrays) {
    FromArrays<T, n> source;
    for (int arm = 0; arm < n; arm++) source.c[arm] = arrays[arm];
    PetscCall((launch_arms<dim, box>(row, source, field, form, b, all, inner, y)));
  }
  if constexpr (dim == 1)
    if (a.storage == Storage::constant) {
      FromConstants<T, n> source;
      for (int arm = 0; arm < n; arm++) source.c[arm] = inside[arm];
      PetscCall((launch_arms<dim, box>(row, source, field, form, b, all, inner, y)));
    }
  if constexpr (dim != 2) // there by rows_on_gpu.hpp
    if (a.storage == Storage::indexed) {
      if (a.index8)
        PetscCall((launch_arms<dim, box>(row, FromClasses<T, n, unsigned char>{a.table, a.index8}, field, form, b, all,
                                         inner, y)));
      else
        PetscCall((launch_arms<dim, box>(row, FromClasses<T, n, unsigned short>{a.table, a.index16}, field, form, b,
                                         all, inner, y)));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif

} // namespace shellac
