#pragma once
// A star of width 1 with the same coefficients at each point, times a grid function on a GPU, at the limit of the memory:
// in 2-D a thread computes a few rows of one or two columns, in 3-D a column of planes.

#include "device/chain.hpp"
#include "stencil/operator.hpp"

namespace shellac {

template <class T> struct ConstantStar {
  T center, arm[3][2]; // [axis][end]

  // The row of a point, by the values at the point and its neighbours.
  template <int dim> SHELLAC_HD T operator()(T value, const T (&beside)[dim][2]) const {
    T sum = center * value;
    SHELLAC_UNROLL_ALL
    for (int a = 0; a < dim; a++) sum += arm[a][LOWER] * beside[a][LOWER] + arm[a][UPPER] * beside[a][UPPER];
    return sum;
  }
};

#if SHELLAC_CUDA
namespace kernel {

// As many values next to each other as one load of 16 bytes brings.
template <class T, int width> struct alignas(width * sizeof(T)) Pack { T lane[width]; };

struct Rows2D {
  static constexpr int threads = 128, steps = 4; // of a block; rows that a thread computes
};

// Part of a box: those of its inner points that fill packs and steps; and all others.
struct Tiles {
  Box      box;
  PetscInt first; // where the first thread along the first axis stands: so that a warp's loads start with a cache line
  unsigned blocks_x; // along the first axis
  Boxes    others;
  unsigned other_blocks;
};

// The first blocks compute the others, a point a thread. In the rest each thread computes packs next to each other along
// the second axis: stars share their values in registers, and all loads are under way before the first is used.
// Blocks are numbered in one dimension, along the first axis first: that has room for a grid of any shape.
template <Form form, int width, class T, class Other>
__global__ void __launch_bounds__(Rows2D::threads)
    star_rows(Tiles tiles, Patch patch, ConstantStar<T> star, Other other, const T *__restrict__ field, const T *b,
              T *y) {
  using Values = Pack<T, width>;
  constexpr int steps = Rows2D::steps;

  if (blockIdx.x < tiles.other_blocks) {
    PetscInt p[3];
    if (tiles.others.point((PetscInt64)blockIdx.x * Rows2D::threads + threadIdx.x, p)) other(p[0], p[1], p[2]);
    return;
  }
  const unsigned block = blockIdx.x - tiles.other_blocks;
  const Box     &box = tiles.box;
  const PetscInt i = tiles.first + (PetscInt)(block % tiles.blocks_x * Rows2D::threads + threadIdx.x) * width,
                 j = box.lo[1] + (PetscInt)(block / tiles.blocks_x) * steps;
  if (i < box.lo[0] || i >= box.hi[0]) return;

  const size_t stride = patch.size[0], first = patch.index(i, j, 0);
  const T *__restrict__ u = field + first;
  const auto load = [](const T *from) { return *reinterpret_cast<const Values *>(from); };
  Values     column[steps + 2], add[steps];
  T          west[steps], east[steps];
#pragma unroll
  for (int s = 0; s < steps + 2; s++) column[s] = load(u + s * stride - stride);
#pragma unroll
  for (int s = 0; s < steps; s++) {
    const T *at = u + s * stride;
    west[s] = at[-1];
    east[s] = at[width];
    if (form != Form::product) add[s] = load(b + first + s * stride);
  }
#pragma unroll
  for (int s = 0; s < steps; s++) {
    Values result;
#pragma unroll
    for (int l = 0; l < width; l++) {
      const T beside[2][2] = {{l > 0 ? column[s + 1].lane[(l + width - 1) % width] : west[s],
                               l + 1 < width ? column[s + 1].lane[(l + 1) % width] : east[s]},
                              {column[s].lane[l], column[s + 2].lane[l]}};
      result.lane[l] = combine(form, add[s].lane, l, star.template operator()<2>(column[s + 1].lane[l], beside));
    }
    *reinterpret_cast<Values *>(y + first + s * stride) = result;
  }
}

// The same where rows have an odd length: pairs of values that start at an even place of the array start at an even
// column in one row and at an odd one in the next. A thread's pairs are next to each other but for that shift.
// first: the shift in its first row.
template <int first, Form form, class T, class Other>
__global__ void __launch_bounds__(Rows2D::threads)
    star_rows_shifted(Tiles tiles, Patch patch, ConstantStar<T> star, Other other, const T *__restrict__ field,
                      const T *b, T *y) {
  using Values = Pack<T, 2>;
  constexpr int steps = Rows2D::steps;

  if (blockIdx.x < tiles.other_blocks) {
    PetscInt p[3];
    if (tiles.others.point((PetscInt64)blockIdx.x * Rows2D::threads + threadIdx.x, p)) other(p[0], p[1], p[2]);
    return;
  }
  const unsigned block = blockIdx.x - tiles.other_blocks;
  const Box     &box = tiles.box;
  const PetscInt i = tiles.first + (PetscInt)(block % tiles.blocks_x * Rows2D::threads + threadIdx.x) * 2,
                 j = box.lo[1] + (PetscInt)(block / tiles.blocks_x) * steps;
  if (i + 2 < box.lo[0] || i >= box.hi[0]) return;

  const size_t stride = patch.size[0], at = patch.index(i, j, 0);
  const T *__restrict__ u = field + at;
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
    const int shift = s % 2 ? 1 - first : first, next = shift ? 2 : 0; // the pair's columns in the rows beside
    Values    result;
#pragma unroll
    for (int l = 0; l < 2; l++) {
      const T beside[2][2] = {{window[s + 1][l], window[s + 1][2 + l]}, {window[s][next + l], window[s + 2][next + l]}};
      result.lane[l] = combine(form, add[s].lane, l, star.template operator()<2>(window[s + 1][1 + l], beside));
    }
    T *to = y + at + stride * s + shift;
    if (i + shift >= box.lo[0] && i + shift + 1 < box.hi[0])
      *reinterpret_cast<Values *>(to) = result;
    else
      for (int l = 0; l < 2; l++)
        if (i + shift + l >= box.lo[0] && i + shift + l < box.hi[0]) to[l] = result.lane[l];
  }
}

struct March {
  static constexpr int rows = 8; // of a block
  Box                  box;      // inner along the second and third axis
  PetscInt             first;    // where the first thread along the first axis stands
  unsigned             blocks_x, blocks_y;
};

// In 3-D a warp has a row of 32 packs and walks along the third axis: the values below, at and above a point are in
// registers, those beside it along the row in the next lane. The points at the ends of the first axis may have another
// diagonal, at_end more, and no arm beyond. The kernel before computes the points at the ends of the other axes; this one
// begins before it has ended.
// most: planes of a block; unroll: planes whose loads may be under way together.
template <Form form, int width, int most, int unroll, class T>
__global__ void __launch_bounds__(32 * March::rows)
    star_planes(March march, Patch patch, ConstantStar<T> star, T at_lower_end, T at_upper_end,
                const T *__restrict__ field, const T *b, T *y) {
  using Values = Pack<T, width>;
  constexpr unsigned all = 0xffffffffu;
  const Box         &box = march.box;
  const unsigned     above = blockIdx.x / march.blocks_x;
  const int          lane = threadIdx.x % 32;
  const PetscInt nx = patch.size[0], i = march.first + ((PetscInt)(blockIdx.x % march.blocks_x) * 32 + lane) * width,
                 j = box.lo[1] + (PetscInt)(above % march.blocks_y) * March::rows + (PetscInt)(threadIdx.x / 32),
                 k = box.lo[2] + (PetscInt)(above / march.blocks_y) * most;
  const int    planes = (int)PetscMin((PetscInt)most, box.hi[2] - k);
  const bool   in_row = j < box.hi[1], whole = in_row && i >= box.lo[0] && i + width <= box.hi[0];
  const bool   reads_west = i > 0 && lane == 0, reads_east = i + width < nx && lane == 31;
  const bool   no_west = i <= 0, no_east = i + width >= nx;
  const size_t at = patch.index(PetscMin(i, nx - width), PetscMin(j, box.hi[1] - 1), k), row = nx,
               plane = row * patch.size[1];
  const T   *u = field + at;
  T         *to = y + at;
  const auto load = [](const T *from) { return *reinterpret_cast<const Values *>(from); };
  const auto shuffle = [](T value, bool up) {
    constexpr int words = sizeof(T) / 4;
    int           word[words];
    memcpy(word, &value, sizeof(T));
#pragma unroll
    for (int w = 0; w < words; w++) word[w] = up ? __shfl_up_sync(all, word[w], 1) : __shfl_down_sync(all, word[w], 1);
    memcpy(&value, word, sizeof(T));
    return value;
  };

  Values below = load(u - plane), here = load(u);
#pragma unroll unroll
  for (int s = 0; s < planes; s++) {
    const Values over = load(u + plane), south = load(u - row), north = load(u + row);
    Values       add, result;
    if (form != Form::product) add = load(b + (u - field));
    T west = shuffle(here.lane[width - 1], true), east = shuffle(here.lane[0], false);
    if (reads_west) west = u[-1];
    if (reads_east) east = u[width];
    if (no_west) west = 0;
    if (no_east) east = 0;
#pragma unroll
    for (int l = 0; l < width; l++) {
      const T beside[3][2] = {
          {l > 0 ? here.lane[l > 0 ? l - 1 : 0] : west, l + 1 < width ? here.lane[(l + 1) % width] : east},
          {south.lane[l], north.lane[l]},
          {below.lane[l], over.lane[l]}};
      ConstantStar<T> its = star;
      if (l == 0) its.center += no_west ? at_lower_end : T(0);
      if (l + 1 == width) its.center += no_east ? at_upper_end : T(0);
      result.lane[l] = combine(form, add.lane, l, its.template operator()<3>(here.lane[l], beside));
    }
    if (whole)
      *reinterpret_cast<Values *>(to) = result;
    else if (in_row)
#pragma unroll
      for (int l = 0; l < width; l++)
        if (i + l >= box.lo[0] && i + l < box.hi[0]) to[l] = result.lane[l];
    below = here;
    here = over;
    u += plane;
    to += plane;
  }
  wait_for_kernel_before();
}

// The points that star_planes() leaves out, which may begin meanwhile.
template <class Other> __global__ void __launch_bounds__(256) beside_planes(Boxes boxes, Other other) {
  PetscInt p[3];
  let_next_kernel_begin();
  if (boxes.point((PetscInt64)blockIdx.x * 256 + threadIdx.x, p)) other(p[0], p[1], p[2]);
}

} // namespace kernel

inline unsigned blocks_of(PetscInt64 points, int each) {
  return (unsigned)((points + each - 1) / each);
}

// Divides a box between blocks that compute packs of `width` columns and those for its other points; the number of blocks.
template <class T> unsigned tiles_of_rows(const Box &box, const Box &inner, int width, kernel::Tiles *tiles) {
  using kernel::Rows2D;
  constexpr int line = 128 / sizeof(T);
  unsigned      blocks = 0;

  *tiles = {inner, inner.lo[0] / line * line, 0, {}, 0};
  tiles->box.lo[0] = (inner.lo[0] + width - 1) / width * width;
  tiles->box.hi[0] = inner.hi[0] / width * width;
  tiles->box.hi[1] -= tiles->box.size(1) % Rows2D::steps;
  if (tiles->box.points()) {
    tiles->blocks_x = blocks_of(tiles->box.hi[0] - tiles->first, Rows2D::threads * width);
    blocks = tiles->blocks_x * blocks_of(tiles->box.size(1), Rows2D::steps);
  }
  tiles->others = difference(box, tiles->box);
  tiles->other_blocks = blocks_of(tiles->others.points(), Rows2D::threads);
  return blocks + tiles->other_blocks;
}

// The same for star_rows_shifted(): a pair and its window may pass the box by two columns, which the array must have.
template <class T>
unsigned tiles_of_shifted_rows(const Patch &patch, const Box &box, const Box &inner, kernel::Tiles *tiles) {
  using kernel::Rows2D;
  constexpr int line = 128 / sizeof(T);
  unsigned      blocks = 0;

  *tiles = {inner, 0, 0, {}, 0};
  tiles->box.lo[0] = PetscMax(inner.lo[0], 2);
  tiles->box.hi[0] = PetscMin(inner.hi[0], patch.size[0] - 3);
  tiles->first = PetscMax(tiles->box.lo[0] / line * line, 2);
  tiles->box.lo[0] = PetscMax(tiles->box.lo[0], tiles->first + 1);
  tiles->box.hi[1] -= tiles->box.size(1) % Rows2D::steps;
  if (tiles->box.points()) {
    tiles->blocks_x = blocks_of(tiles->box.hi[0] - tiles->first, Rows2D::threads * 2);
    blocks = tiles->blocks_x * blocks_of(tiles->box.size(1), Rows2D::steps);
  }
  tiles->others = difference(box, tiles->box);
  tiles->other_blocks = blocks_of(tiles->others.points(), Rows2D::threads);
  return blocks + tiles->other_blocks;
}

// Calls launch(form, width) with both known when it is compiled; the width is `most` or 1.
template <int most, class Launch> auto with_form_and_width(Form form, bool wide, const Launch &launch) {
  return with_form(form, [&](auto known) {
    return wide ? launch(known, std::integral_constant<int, most>{}) : launch(known, std::integral_constant<int, 1>{});
  });
}

template <Form form, int width, class T, class Other>
PetscErrorCode launch_star_rows(const Patch &patch, const ConstantStar<T> &star, const Other &other, const T *u,
                                const T *b, const Box &box, const Box &inner, T *y) {
  constexpr int threads = kernel::Rows2D::threads;
  kernel::Tiles tiles;
  cudaStream_t  stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  if constexpr (width == 2)
    if (patch.size[0] % 2) {
      const unsigned blocks = tiles_of_shifted_rows<T>(patch, box, inner, &tiles);
      if (tiles.box.lo[1] % 2)
        kernel::star_rows_shifted<1, form><<<blocks, threads, 0, stream>>>(tiles, patch, star, other, u, b, y);
      else
        kernel::star_rows_shifted<0, form><<<blocks, threads, 0, stream>>>(tiles, patch, star, other, u, b, y);
      PetscCallCUDA(cudaGetLastError());
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  const unsigned blocks = tiles_of_rows<T>(box, inner, width, &tiles);
  kernel::star_rows<form, width><<<blocks, threads, 0, stream>>>(tiles, patch, star, other, u, b, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// at_end: what the points at the ends of the first axis have more on their diagonal, where they are in `inner`.
template <Form form, int width, class T, class Other>
PetscErrorCode launch_star_planes(const Patch &patch, const ConstantStar<T> &star, const T at_end[2],
                                  const Other &other, const T *u, const T *b, const Box &box, const Box &inner, T *y) {
  using kernel::March;
  constexpr int line = 128 / sizeof(T);
  March         march{inner, inner.lo[0] / line * line, 0, 0};
  cudaStream_t  stream;

  PetscFunctionBegin;
  const Boxes others = difference(box, inner);
  PetscCall(current_stream(&stream));
  if (others.points()) {
    kernel::beside_planes<<<blocks_of(others.points(), 256), 256, 0, stream>>>(others, other);
    PetscCallCUDA(cudaGetLastError());
  }
  if (!inner.points()) PetscFunctionReturn(PETSC_SUCCESS);
  march.blocks_x = blocks_of(inner.hi[0] - march.first, 32 * width);
  march.blocks_y = blocks_of(inner.size(1), March::rows);
  const auto launch = [&](auto most_of, auto unroll_of) -> PetscErrorCode {
    constexpr int  most = decltype(most_of)::value, unroll = decltype(unroll_of)::value;
    const unsigned blocks = march.blocks_x * march.blocks_y * blocks_of(inner.size(2), most);
    PetscFunctionBegin;
    if (others.points())
      PetscCall(launch_in_chain(kernel::star_planes<form, width, most, unroll, T>, blocks, 32 * March::rows, 0, march,
                                patch, star, at_end[LOWER], at_end[UPPER], u, b, y));
    else {
      kernel::star_planes<form, width, most, unroll>
          <<<blocks, 32 * March::rows, 0, stream>>>(march, patch, star, at_end[LOWER], at_end[UPPER], u, b, y);
      PetscCallCUDA(cudaGetLastError());
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  using std::integral_constant;
  const PetscInt64 warps = (PetscInt64)march.blocks_x * inner.size(1) * inner.size(2) / 32;
  if constexpr (width == 1)
    PetscCall(launch(integral_constant<int, 8>{}, integral_constant<int, 4>{}));
  else if (warps < 32 * multiprocessors()) // too few for columns of 32 planes to fill the GPU
    PetscCall(launch(integral_constant<int, 8>{}, integral_constant<int, 1>{}));
  else
    PetscCall(launch(integral_constant<int, 32>{}, integral_constant<int, 1>{}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y on the points of a box: by the star at the inner ones, of which no arm leaves the patch but those that at_end stands
// for in 3-D, and by `other` at the rest. With loads of 16 bytes where the rows are aligned to them.
template <int dim, class T, class Other>
PetscErrorCode launch_star(const Patch &patch, const ConstantStar<T> &star, const T at_end[2], const Other &other,
                           const T *u, Form form, const T *b, const Box &box, const Box &inner, T *y) {
  constexpr int   most = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  const uintptr_t arrays = (uintptr_t)u | (uintptr_t)y | (uintptr_t)b;
  const bool      wide = arrays % (most * sizeof(T)) == 0 && (patch.size[0] % most == 0 || (dim == 2 && most == 2));

  PetscFunctionBegin;
  if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
  const auto launch = [&](auto form_of, auto width_of) {
    constexpr Form f = decltype(form_of)::value;
    constexpr int  width = decltype(width_of)::value;
    if constexpr (dim == 2)
      return launch_star_rows<f, width>(patch, star, other, u, b, box, inner, y);
    else
      return launch_star_planes<f, width>(patch, star, at_end, other, u, b, box, inner, y);
  };
  PetscCall(with_form_and_width<most>(form, wide, launch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif

} // namespace shellac
