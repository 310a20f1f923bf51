#pragma once
// Products on a GPU in 2-D, of stars and boxes of width 1: a thread computes some rows of one column, and has the values
// around its points in registers, each loaded once. All loads are under way before the first value is used.

#include "capture/arms.hpp"
#include "capture/coefficients.hpp"
#include "grid/halo_in_kernel.hpp"
#include "stencil/operator.hpp"

#if SHELLAC_CUDA
namespace shellac {

namespace kernel {

constexpr int threads_of_rows = 128; // of a block

// The inner points of a box, in columns of as many rows as a thread computes; and all others.
struct Columns {
  Box      inner;
  PetscInt first; // where the first thread along the first axis stands: so that a warp's loads start with a cache line
  unsigned blocks_x; // along the first axis
  OtherPoints others;
};

// The values of a grid function around some points of a column.
template <class T, int steps> struct Window {
  T value[steps + 2][3];

  // before, after: the steps to the points beside. box: the values at the corners as well.
  template <bool box>
  __device__ void load(const T *__restrict__ u, size_t stride, ptrdiff_t before = -1, ptrdiff_t after = 1) {
    const ptrdiff_t step[] = {before, 0, after};
#pragma unroll
    for (int s = 0; s < steps + 2; s++)
#pragma unroll
      for (int x = 0; x < 3; x++)
        if (box || x == 1 || (s > 0 && s <= steps)) value[s][x] = u[(ptrdiff_t)(s - 1) * (ptrdiff_t)stride + step[x]];
  }
  // At a step from the s-th point.
  __device__ T operator()(int s, int dx, int dy) const {
    return value[s + 1 + dy][1 + dx];
  }
};

// The points of a thread of a block, by a row, which has
//   steps                   points that a thread computes
//   box                     whether the product needs the values at the corners
//   at_once                 blocks of a multiprocessor, at least; 1 where no load shall be delayed to save registers
//   step(i, side)           the step from the i-th point of the first axis to the one that its row meets on that side
//   Values                  what a thread reads before it computes: read(i, its first place in the arrays, stride of a row)
//   complete(i, ...)        sets those values beyond the ends of the first axis that it can compute
//   (Values, Window, s)     the product at the s-th point
// Blocks are numbered in one dimension, along the first axis first: that has room for a grid of any shape.
template <Form form, class Row, class T>
__device__ __forceinline__ void rows_of_thread(const Columns &columns, unsigned block, const Patch &patch,
                                               const Row &row, const T *__restrict__ field, const T *b, T *y) {
  constexpr int  steps = Row::steps;
  const Box     &inner = columns.inner;
  const PetscInt i = columns.first + (PetscInt)(block % columns.blocks_x * threads_of_rows + threadIdx.x),
                 j = inner.lo[1] + (PetscInt)(block / columns.blocks_x) * steps;
  if (i < inner.lo[0] || i >= inner.hi[0]) return;

  const size_t     stride = patch.size[0], at = patch.index(i, j, 0);
  Window<T, steps> u;
  T                add[steps];
  u.template load<Row::box>(field + at, stride, row.step(i, LOWER), row.step(i, UPPER));
#pragma unroll
  for (int s = 0; s < steps; s++)
    if (form != Form::product) add[s] = b[at + s * stride];
  typename Row::Values values = row.read(i, at, stride);
  row.complete(i, &values, &u);
  if (Row::at_once) __syncwarp(); // the compiler does not delay loads beyond it
  T result[steps];
#pragma unroll
  for (int s = 0; s < steps; s++) {
    result[s] = combine(form, add, s, row(values, u, s));
    if (!Row::at_once) y[at + s * stride] = result[s];
  }
  if (Row::at_once) // such a row reads more between, which y is not known to be apart from
#pragma unroll
    for (int s = 0; s < steps; s++) y[at + s * stride] = result[s];
}

// The first blocks exchange the halo and compute the other points, the rest the inner ones.
template <Form form, class Row, class T, class Other>
__global__ void __launch_bounds__(threads_of_rows, Row::at_once)
    rows(const __grid_constant__ Columns columns, Patch patch, Row row, Other other, const T *__restrict__ field,
         const T *b, T *y) {
  if (blockIdx.x >= columns.others.blocks)
    rows_of_thread<form>(columns, blockIdx.x - columns.others.blocks, patch, row, field, b, y);
  else
    columns.others.exchange_and_compute(field, other);
}

} // namespace kernel

// What kernel::rows() computes at a point, by kind of coefficients.
template <class T> constexpr int many_rows = sizeof(T) <= 8 ? 8 : 4; // as registers allow

struct RowInside {                                                   // needs nothing beyond ends
  static constexpr int                                  at_once = 0; // as the compiler finds best
  static __device__ ptrdiff_t                           step(PetscInt, Side side) { return side == LOWER ? -1 : 1; }
  template <class Values, class Window> __device__ void complete(PetscInt, Values *, Window *) const {}
};

template <class T> struct StarRow : RowInside { // the same coefficients at each point
  static constexpr int  steps = many_rows<T>, at_once = 1;
  static constexpr bool box = false;
  ConstantStar<T>       star;
  StarEnds<T>           ends;
  using Values = ConstantStar<T>;
  __device__ ptrdiff_t step(PetscInt i, Side side) const { return i == ends.last[side] ? 0 : RowInside::step(i, side); }
  __device__ Values    read(PetscInt i, size_t, size_t) const {
       ConstantStar<T> its = star;
#pragma unroll
    for (int side = 0; side < 2; side++)
      if (i == ends.last[side]) its.arm[0][side] = ends.at_end[side]; // of the point itself
    return its;
  }
  __device__ T operator()(const Values &its, const kernel::Window<T, steps> &u, int s) const {
    const T             beside[2][2] = {{u(s, -1, 0), u(s, 1, 0)}, {u(s, 0, -1), u(s, 0, 1)}};
    return its.template operator()<2>(u(s, 0, 0), beside);
  }
};

template <class T> struct BoxRow : RowInside {
  static constexpr int  steps = many_rows<T>;
  static constexpr bool box = true;
  T                     c[3][3]; // [dy + 1][dx + 1]
  struct Values {};
  __device__ Values read(PetscInt, size_t, size_t) const { return {}; }
  __device__ T      operator()(Values, const kernel::Window<T, steps> &u, int s) const {
         T sum = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
      for (int dx = -1; dx <= 1; dx++) sum += c[dy + 1][dx + 1] * u(s, dx, dy);
    return sum;
  }
};

template <class T, bool is_box, class Index> struct RowOfClass : RowInside { // coefficients by the class of each point
  using Whole = WholeStencil<2, is_box>;
  static constexpr int  steps = is_box ? many_rows<T> : sizeof(T) > 8 ? 4 : 6;
  static constexpr bool box = is_box;
  static constexpr int  at_once = is_box ? 0 : 1;
  const T *__restrict__ table;
  const Index *__restrict__ index;
  struct alignas(16) Coefficients { // read by loads of 16 bytes
    T c[table_stride<T>(Whole::count)];
  };
  struct Values {
    Index        of[steps];
    Coefficients last; // of the step before
  };
  __device__ Values read(PetscInt, size_t at, size_t stride) const {
    Values values;
#pragma unroll
    for (int s = 0; s < steps; s++) values.of[s] = index[at + s * stride];
    return values;
  }
  __device__ T operator()(Values &values, const kernel::Window<T, steps> &u, int s) const {
    // points of a class are often next to each other; lanes of many classes make a load slow
    const bool    loads = is_box || s == 0 || values.of[s] != values.of[s > 0 ? s - 1 : 0];
    Coefficients &a = values.last;
    T             sum = 0;
    if (loads) a = reinterpret_cast<const Coefficients *>(table)[values.of[s]];
#pragma unroll
    for (int arm = 0; arm < Whole::count; arm++) sum += a.c[arm] * u(s, Whole::step(arm, 0), Whole::step(arm, 1));
    return sum;
  }
};

// y on the points of a box: by the row at the inner ones, and by `other` at the rest.
template <class Row, class T, class Other>
PetscErrorCode launch_rows(const Patch &patch, const Row &row, const Other &other, const T *u, Form form, const T *b,
                           const Box &box, const Box &inner, T *y) {
  constexpr int   threads = kernel::threads_of_rows, line = 128 / sizeof(T);
  kernel::Columns columns{inner, inner.lo[0] / line * line, 0, {}};
  unsigned        blocks = 0;
  cudaStream_t    stream;

  PetscFunctionBegin;
  if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
  columns.inner.hi[1] -= inner.size(1) % Row::steps;
  if (columns.inner.points()) {
    columns.blocks_x = blocks_of(inner.hi[0] - columns.first, threads);
    blocks = columns.blocks_x * blocks_of(columns.inner.size(1), Row::steps);
  }
  columns.others = OtherPoints(difference(box, columns.inner), other.field.exchange, threads);
  PetscCall(current_stream(&stream));
  with_form(form, [&](auto known) {
    kernel::rows<decltype(known)::value>
        <<<blocks + columns.others.blocks, threads, 0, stream>>>(columns, patch, row, other, u, b, y);
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, class Other>
PetscErrorCode launch_rows_of_classes(const CapturedRow<T> &row, const Other &other, const T *u, Form form, const T *b,
                                      const Box &box, const Box &inner, bool star, T *y) {
  const T    *table = row.a.table;
  const auto &i8 = row.a.index8;
  const auto &i16 = row.a.index16;

  PetscFunctionBegin;
  const auto launch = [&](const auto &of_class) {
    return launch_rows(row.patch, of_class, other, u, form, b, box, inner, y);
  };
  if (star && i8)
    PetscCall(launch(RowOfClass<T, false, unsigned char>{{}, table, i8}));
  else if (star)
    PetscCall(launch(RowOfClass<T, false, unsigned short>{{}, table, i16}));
  else if (i8)
    PetscCall(launch(RowOfClass<T, true, unsigned char>{{}, table, i8}));
  else
    PetscCall(launch(RowOfClass<T, true, unsigned short>{{}, table, i16}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
