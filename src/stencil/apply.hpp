#pragma once
// y = A u, y = b + A u or y = b - A u, for A given by its Rows; one formula, two loops: rows of points on the host, and
// columns of points, a few steps along the slowest axis a thread, on a GPU.

#include <type_traits>
#include <vector>

#include "device/stream.hpp"
#include "stencil/operator.hpp"
#include "stencil/rows.hpp"

namespace shellac {

// Any point, transposed or not.
template <class T, int dim, template <class> class Formula> struct ApplyPoint {
  Rows<T, Formula> rows;
  Field<T>         field;
  bool             transposed;
  Form             form;
  const T         *b;
  T               *y;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const auto     star = field.template star<dim>(rows.patch, p);
    const size_t   at = rows.patch.index(i, j, k);
    y[at] =
        combine(form, b, at, transposed ? rows.template transposed_row<dim>(star, p) : rows.template row<dim>(star, p));
  }
};

// Points next to each other along the first axis, none of them special: out[i] = (formula + shift) u at i.
// side: the neighbouring rows along the other axes.
template <int dim, class T, template <class> class Formula>
SHELLAC_WIDE void compute_row(Formula<T> formula, T shift, const T *u, const T *const (*side)[2], PetscInt n, T *out) {
  const T *rows[3][2]; // on the stack: out cannot overlap them
  for (int a = 1; a < dim; a++) rows[a][0] = side[a][0], rows[a][1] = side[a][1];
#pragma GCC ivdep
  for (PetscInt i = 0; i < n; i++) {
    Star<T, dim> star;
    star.center = u[i];
    star.arm[0][0] = u[i - 1];
    star.arm[0][1] = u[i + 1];
    if constexpr (dim > 1) star.arm[1][0] = rows[1][0][i], star.arm[1][1] = rows[1][1][i];
    if constexpr (dim > 2) star.arm[2][0] = rows[2][0][i], star.arm[2][1] = rows[2][1][i];
    out[i] = shift * star.center + formula(star);
  }
}

// The points of a box that needs no halo, along whole rows so that the compiler vectorises them.
template <int dim, class T, template <class> class Formula>
void apply_rows_on_host(const Rows<T, Formula> &rows, const Field<T> &field, Form form, const T *b, const Box &box,
                        T *y) {
  const Patch       &patch = rows.patch;
  constexpr PetscInt chunk = 512; // points whose result stays in the first cache
  const bool         past = beyond_cache((size_t)box.points() * sizeof(T));
  std::vector<T>     zeros(dim > 1 ? patch.size[0] : 0);
  T                  buffer[chunk];
  if (!box.points()) return;
  const ApplyPoint<T, dim, Formula> point{rows, field, false, form, b, y};

  for (PetscInt k = box.lo[2]; k < box.hi[2]; k++) {
    for (PetscInt j = box.lo[1]; j < box.hi[1]; j++) {
      const PetscInt head[3] = {box.lo[0], j, k};
      const size_t   begin = patch.index(0, j, k);
      const T       *row = field.u + begin;
      bool           identity = false;
      const T       *side[3][2]; // [axis][end]: the neighbouring rows; an end of the domain turns into a choice of row
      for (int a = 1; a < dim; a++) {
        for (int e = 0; e < 2; e++) {
          const T   *next[2] = {row - patch.stride(a), row + patch.stride(a)};
          const bool leaves = patch.leaves_domain(head, a, (Side)e);
          side[a][e] = !leaves                             ? next[e]
                       : patch.beyond[a] == Beyond::copy   ? row
                       : patch.beyond[a] == Beyond::mirror ? next[1 - e]
                                                           : zeros.data();
          identity = identity || (patch.identity[a] && patch.at_domain_end(head, a, (Side)e));
        }
      }

      PetscInt lo = box.lo[0], hi = box.hi[0];
      if (lo == 0) point(lo++, j, k);
      if (hi == patch.size[0] && lo < hi) point(--hi, j, k);
      for (PetscInt from = lo; from < hi; from += chunk) {
        const PetscInt n = PetscMin(chunk, hi - from);
        const size_t   at = begin + from;
        const T       *u = field.u + at;
        T             *out = past || b == y ? buffer : y + at; // b may be y
        if (past) prefetch(dim > 1 ? side[dim - 1][UPPER] + from : u, n);
        if (identity) {
          const T entry = rows.identity + rows.shift;
          for (PetscInt i = 0; i < n; i++) out[i] = entry * u[i];
        } else {
          const T *ahead[3][2];
          for (int a = 1; a < dim; a++) ahead[a][0] = side[a][0] + from, ahead[a][1] = side[a][1] + from;
          compute_row<dim>(rows.formula, rows.shift, u, ahead, n, out);
        }
        if (rows.diagonal)
#pragma GCC ivdep
          for (PetscInt i = 0; i < n; i++) out[i] += rows.diagonal[at + i] * u[i];
        if (form != Form::product)
#pragma GCC ivdep
          for (PetscInt i = 0; i < n; i++) out[i] = combine(form, b + at, i, out[i]);
        if (past)
          stream_copy(y + at, buffer, n);
        else if (out == buffer)
          std::copy(buffer, buffer + n, y + at);
      }
    }
  }
  if (past) stream_fence();
}

#if SHELLAC_CUDA
namespace kernel {

template <int dim> struct Block { // threads of a block, and points that each computes along the slowest axis
  static constexpr int x = dim == 3 ? 32 : 128, y = dim == 3 ? 4 : 1, steps = 4;
};

// As many values next to each other as one load brings.
template <class T, int width> struct alignas(width * sizeof(T)) Pack { T lane[width]; };

// Part of a box: those of its inner points, whose rows are all the formula's, that fill packs and steps; and all others.
struct Tiles {
  Box      box;
  PetscInt first; // where the first thread along the first axis stands: so that a warp's loads start with a cache line
  unsigned blocks_x, blocks_y, blocks; // along the first and second axis, and in all
  Boxes    others;
  unsigned other_blocks;
};

// The first blocks compute the others, a point a thread. In the rest each thread computes packs next to each other along
// the slowest axis: stars share their values in registers, and all loads are under way before the first is used.
// Blocks are numbered in one dimension, along the first axis first: that has room for a grid of any shape.
template <int dim, Form form, int width, class T, template <class> class Formula, class Other>
__global__ void __launch_bounds__(Block<dim>::x *Block<dim>::y)
    apply(Tiles tiles, Rows<T, Formula> rows, Other other, Field<T> field, const T *b, T *y) {
  using Values = Pack<T, width>;
  constexpr int steps = Block<dim>::steps, slow = dim - 1;
  PetscInt      p[3];

  if (blockIdx.x < tiles.other_blocks) {
    const unsigned threads = Block<dim>::x * Block<dim>::y;
    if (tiles.others.point((PetscInt64)blockIdx.x * threads + threadIdx.y * Block<dim>::x + threadIdx.x, p))
      other(p[0], p[1], p[2]);
    return;
  }
  if constexpr (dim > 1) {
    const unsigned block = blockIdx.x - tiles.other_blocks, column_x = block % tiles.blocks_x,
                   above = block / tiles.blocks_x;
    const Box &box = tiles.box;
    p[0] = tiles.first + (PetscInt)(column_x * Block<dim>::x + threadIdx.x) * width;
    p[1] = dim == 3 ? box.lo[1] + (PetscInt)(above % tiles.blocks_y * Block<dim>::y + threadIdx.y) : 0;
    p[2] = 0;
    p[slow] = box.lo[slow] + (PetscInt)(dim == 3 ? above / tiles.blocks_y : above) * steps;
    if (p[0] < box.lo[0] || p[0] >= box.hi[0] || (dim == 3 && p[1] >= box.hi[1])) return;

    const size_t stride = rows.patch.stride(slow), first = rows.patch.index(p[0], p[1], p[2]);
    const T *__restrict__ u = field.u + first;
    const auto load = [](const T *from) { return *reinterpret_cast<const Values *>(from); };
    Values     column[steps + 2], side[dim == 3 ? 2 : 1][steps], add[steps];
    T          west[steps], east[steps];
#pragma unroll
    for (int s = 0; s < steps + 2; s++) column[s] = load(u + s * stride - stride);
#pragma unroll
    for (int s = 0; s < steps; s++) {
      const T *at = u + s * stride;
      west[s] = at[-1];
      east[s] = at[width];
      if constexpr (dim == 3) side[0][s] = load(at - rows.patch.size[0]), side[1][s] = load(at + rows.patch.size[0]);
      if (form != Form::product) add[s] = load(b + first + s * stride);
    }
#pragma unroll
    for (int s = 0; s < steps; s++) {
      Values result;
#pragma unroll
      for (int l = 0; l < width; l++) {
        Star<T, dim> star;
        star.center = column[s + 1].lane[l];
        star.arm[0][LOWER] = l > 0 ? column[s + 1].lane[(l + width - 1) % width] : west[s];
        star.arm[0][UPPER] = l + 1 < width ? column[s + 1].lane[(l + 1) % width] : east[s];
        star.arm[slow][LOWER] = column[s].lane[l];
        star.arm[slow][UPPER] = column[s + 2].lane[l];
        if constexpr (dim == 3) star.arm[1][LOWER] = side[0][s].lane[l], star.arm[1][UPPER] = side[1][s].lane[l];
        T value = rows.shift * star.center + rows.formula(star);
        if (rows.diagonal) value += rows.diagonal[first + s * stride + l] * star.center;
        result.lane[l] = combine(form, add[s].lane, l, value);
      }
      *reinterpret_cast<Values *>(y + first + s * stride) = result;
    }
  }
}

// The same in 2-D where rows have an odd length: pairs of values that start at an even place of the array start at an
// even column in one row and at an odd one in the next. A thread's pairs are next to each other but for that shift.
// first: the shift in its first row.
template <int first, Form form, class T, template <class> class Formula, class Other>
__global__ void __launch_bounds__(Block<2>::x)
    apply_shifted(Tiles tiles, Rows<T, Formula> rows, Other other, Field<T> field, const T *b, T *y) {
  using Values = Pack<T, 2>;
  constexpr int steps = Block<2>::steps;
  PetscInt      p[3];

  if (blockIdx.x < tiles.other_blocks) {
    if (tiles.others.point((PetscInt64)blockIdx.x * Block<2>::x + threadIdx.x, p)) other(p[0], p[1], p[2]);
    return;
  }
  const unsigned block = blockIdx.x - tiles.other_blocks;
  const Box     &box = tiles.box;
  const PetscInt i = tiles.first + (PetscInt)(block % tiles.blocks_x * Block<2>::x + threadIdx.x) * 2,
                 j = box.lo[1] + (PetscInt)(block / tiles.blocks_x) * steps;
  if (i + 2 < box.lo[0] || i >= box.hi[0]) return;

  const size_t stride = rows.patch.size[0], at = rows.patch.index(i, j, 0);
  const T *__restrict__ u = field.u + at;
  T      window[steps + 2][4]; // from the column before a row's pair to the one after it
  Values add[steps];
#pragma unroll
  for (int s = -1; s <= steps; s++) {
    constexpr int odd = first;
    const T      *pair = u + (ptrdiff_t)stride * s + ((s + 1) % 2 ? odd : 1 - odd);
    const Values  both = *reinterpret_cast<const Values *>(pair);
    window[s + 1][0] = pair[-1];
    window[s + 1][1] = both.lane[0];
    window[s + 1][2] = both.lane[1];
    window[s + 1][3] = pair[2];
  }
  if (form != Form::product)
#pragma unroll
    for (int s = 0; s < steps; s++)
      add[s] = *reinterpret_cast<const Values *>(b + at + stride * s + (s % 2 ? 1 - first : first));
#pragma unroll
  for (int s = 0; s < steps; s++) {
    const int shift = s % 2 ? 1 - first : first, beside = shift ? 2 : 0; // the pair's columns in the rows beside
    Values    result;
#pragma unroll
    for (int l = 0; l < 2; l++) {
      Star<T, 2> star;
      star.center = window[s + 1][1 + l];
      star.arm[0][LOWER] = window[s + 1][l];
      star.arm[0][UPPER] = window[s + 1][2 + l];
      star.arm[1][LOWER] = window[s][beside + l];
      star.arm[1][UPPER] = window[s + 2][beside + l];
      T value = rows.shift * star.center + rows.formula(star);
      if (rows.diagonal) value += rows.diagonal[at + stride * s + shift + l] * star.center;
      result.lane[l] = combine(form, add[s].lane, l, value);
    }
    T *to = y + at + stride * s + shift;
    if (i + shift >= box.lo[0] && i + shift + 1 < box.hi[0])
      *reinterpret_cast<Values *>(to) = result;
    else
      for (int l = 0; l < 2; l++)
        if (i + shift + l >= box.lo[0] && i + shift + l < box.hi[0]) to[l] = result.lane[l];
  }
}

} // namespace kernel

template <Form form, class T, template <class> class Formula, class Other>
PetscErrorCode launch_shifted(const Rows<T, Formula> &rows, const Other &other, const Field<T> &field, const T *b,
                              const Box &box, const Box &inner, T *y, cudaStream_t stream) {
  using Block = kernel::Block<2>;
  const auto    blocks = [](PetscInt64 points, int each) { return (unsigned)((points + each - 1) / each); };
  kernel::Tiles tiles{inner, 0, 0, 1, 0, {}, 0};

  PetscFunctionBegin;
  // a pair and its window may pass the box by two columns, which the array must have
  tiles.box.lo[0] = PetscMax(inner.lo[0], 2);
  tiles.box.hi[0] = PetscMin(inner.hi[0], rows.patch.size[0] - 3);
  tiles.box.hi[1] -= tiles.box.size(1) % Block::steps;
  tiles.first = tiles.box.lo[0] / 16 * 16;
  if (tiles.first < 2) tiles.first = 2;
  if (tiles.box.points()) {
    tiles.box.lo[0] = PetscMax(tiles.box.lo[0], tiles.first + 1);
    tiles.blocks_x = blocks(tiles.box.hi[0] - tiles.first, Block::x * 2);
    tiles.blocks = tiles.blocks_x * blocks(tiles.box.size(1), Block::steps);
  }
  tiles.others = difference(box, tiles.box);
  tiles.other_blocks = blocks(tiles.others.points(), Block::x);
  const unsigned all = tiles.blocks + tiles.other_blocks;
  if (tiles.box.lo[1] % 2)
    kernel::apply_shifted<1, form><<<all, Block::x, 0, stream>>>(tiles, rows, other, field, b, y);
  else
    kernel::apply_shifted<0, form><<<all, Block::x, 0, stream>>>(tiles, rows, other, field, b, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int dim, Form form, int width, class T, template <class> class Formula, class Other>
PetscErrorCode launch_tiles(const Rows<T, Formula> &rows, const Other &other, const Field<T> &field, const T *b,
                            const Box &box, const Box &inner, T *y, cudaStream_t stream) {
  using Block = kernel::Block<dim>;
  constexpr int threads = Block::x * Block::y, line = 128 / sizeof(T);
  const auto    blocks = [](PetscInt64 points, int each) { return (unsigned)((points + each - 1) / each); };
  kernel::Tiles tiles{inner, 0, 0, 0, 0, {}, 0};

  PetscFunctionBegin;
  tiles.first = tiles.box.lo[0] / line * line;
  tiles.box.lo[0] = (tiles.box.lo[0] + width - 1) / width * width;
  tiles.box.hi[0] = tiles.box.hi[0] / width * width;
  tiles.box.hi[dim - 1] -= tiles.box.size(dim - 1) % Block::steps;
  if (dim == 1) tiles.box.hi[0] = tiles.box.lo[0]; // no other axis to share values along
  if (tiles.box.points()) {
    tiles.blocks_x = blocks(tiles.box.hi[0] - tiles.first, Block::x * width);
    tiles.blocks_y = dim == 3 ? blocks(tiles.box.size(1), Block::y) : 1;
    tiles.blocks = tiles.blocks_x * tiles.blocks_y * blocks(tiles.box.size(dim - 1), Block::steps);
  }
  tiles.others = difference(box, tiles.box);
  tiles.other_blocks = blocks(tiles.others.points(), threads);
  kernel::apply<dim, form, width>
      <<<tiles.blocks + tiles.other_blocks, dim3(Block::x, Block::y), 0, stream>>>(tiles, rows, other, field, b, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y on the points of a box: by the formula at the inner ones, of which no star leaves the patch, and by `other` at
// the rest. With loads of 16 bytes where the rows are aligned to them.
template <int dim, class T, template <class> class Formula, class Other>
PetscErrorCode launch_apply(const Rows<T, Formula> &rows, const Other &other, const Field<T> &field, Form form,
                            const T *b, const Box &box, const Box &inner, T *y) {
  constexpr int   width = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  const uintptr_t arrays = (uintptr_t)field.u | (uintptr_t)y | (uintptr_t)b;
  const bool      even = rows.patch.size[0] % width == 0, aligned = arrays % (width * sizeof(T)) == 0;
  cudaStream_t    stream;

  PetscFunctionBegin;
  if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(current_stream(&stream));
  const auto launch = [&](auto form_of, auto width_of) {
    if constexpr (dim == 2 && width == 2)
      if (aligned && !even)
        return launch_shifted<decltype(form_of)::value>(rows, other, field, b, box, inner, y, stream);
    return launch_tiles<dim, decltype(form_of)::value, decltype(width_of)::value>(rows, other, field, b, box, inner, y,
                                                                                  stream);
  };
  const auto with_form = [&](auto width_of) {
    if (form == Form::product) return launch(std::integral_constant<Form, Form::product>{}, width_of);
    if (form == Form::sum) return launch(std::integral_constant<Form, Form::sum>{}, width_of);
    return launch(std::integral_constant<Form, Form::residual>{}, width_of);
  };
  if (aligned && even)
    PetscCall(with_form(std::integral_constant<int, width>{}));
  else
    PetscCall(with_form(std::integral_constant<int, 1>{}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

// On the points that need no halo.
template <int dim, class T, template <class> class Formula>
PetscErrorCode apply_interior(PetscMemType memory, const Rows<T, Formula> &rows, const Field<T> &field, Form form,
                              const T *b, T *y) {
  const Box box = rows.patch.interior();

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    Box inner = box;
    for (int a = 0; a < dim; a++) {
      inner.lo[a] = PetscMax(box.lo[a], 1);
      inner.hi[a] = PetscMin(box.hi[a], rows.patch.size[a] - 1);
    }
    const ApplyPoint<T, dim, Formula> point{rows, field, false, form, b, y};
    PetscCall((launch_apply<dim>(rows, point, field, form, b, box, inner, y)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  apply_rows_on_host<dim>(rows, field, form, b, box, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
