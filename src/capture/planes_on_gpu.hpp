#pragma once
// Products on a GPU in 3-D, of stars and boxes of width 1: a warp has one or two rows of 32 packs of points and walks along
// the third axis. What it needs of the planes before is in registers; the values beside a point along the row are in the
// next lane. Here with the same coefficients at each point.

#include "capture/rows_on_gpu.hpp"
#include "device/warp.hpp"

#if SHELLAC_CUDA
namespace shellac {
namespace kernel {

// As many values next to each other as one load of 16 bytes brings, or one.
template <class T, int width> struct alignas(width * sizeof(T)) Pack { T lane[width]; };

struct StarBlock {
  static constexpr int warps = 8, rows = 1; // of a block; of a warp
};
struct PairBlock {
  static constexpr int warps = 4, rows = 2;
};

struct March {
  Box      inner;
  PetscInt first;  // where the first thread along the first axis stands
  int      planes; // that a warp walks through
  unsigned blocks_x, blocks_y;
};

template <class T> __device__ __forceinline__ T from_lane(T value, bool before) { // the next one otherwise
  constexpr unsigned all = 0xffffffffu;
  constexpr int      words = sizeof(T) / 4;
  int                word[words];
  memcpy(word, &value, sizeof(T));
#pragma unroll
  for (int w = 0; w < words; w++)
    word[w] = before ? __shfl_up_sync(all, word[w], 1) : __shfl_down_sync(all, word[w], 1);
  memcpy(&value, word, sizeof(T));
  return value;
}

// Where a thread of a PairBlock stands. Those beyond the points read at the last ones, and write nothing.
template <class T, int width> struct Place {
  static constexpr int rows = PairBlock::rows;
  using Values = Pack<T, width>;

  PetscInt i, nx, lo, hi;
  int      planes, last; // its last row
  bool     in_row;
  size_t   at, row, plane; // the first point in the arrays, and the strides

  __device__ Place(const March &march, const Patch &patch) {
    const Box     &box = march.inner;
    const unsigned above = blockIdx.x / march.blocks_x;
    const int      lane = threadIdx.x % 32;
    const PetscInt j = box.lo[1] + (PetscInt)(above % march.blocks_y * PairBlock::warps + threadIdx.x / 32) * rows,
                   k = box.lo[2] + (PetscInt)(above / march.blocks_y) * march.planes;
    nx = patch.size[0], lo = box.lo[0], hi = box.hi[0];
    i = march.first + ((PetscInt)(blockIdx.x % march.blocks_x) * 32 + lane) * width;
    planes = (int)PetscMin((PetscInt)march.planes, box.hi[2] - k);
    last = (int)PetscMax(PetscMin((PetscInt)rows, box.hi[1] - j) - 1, (PetscInt)0);
    in_row = j < box.hi[1];
    row = nx, plane = row * patch.size[1];
    at = patch.index(PetscMin(i, nx - width), PetscMin(j, box.hi[1] - 1), k);
  }
  __device__ bool   no_west() const { return i <= 0; }
  __device__ bool   no_east() const { return i + width >= nx; }
  __device__ size_t offset(int r) const { return (size_t)(r < last ? r : last) * row; }
  // From the row before the warp's, 0, to the one after its last.
  __device__ const T *beside_rows(const T *u, int r) const {
    return u + (ptrdiff_t)((r < last + 2 ? r : last + 2) - 1) * (ptrdiff_t)row;
  }
  // The values before and after a pack at u; zero beyond the grid.
  __device__ void beside(const T *__restrict__ u, const Values &here, T *west, T *east) const {
    *west = from_lane(here.lane[width - 1], true);
    *east = from_lane(here.lane[0], false);
    if (threadIdx.x % 32 == 0 && !no_west() && i < nx) *west = u[-1];
    if (threadIdx.x % 32 == 31 && !no_east()) *east = u[width];
    if (no_west()) *west = 0;
    if (no_east()) *east = 0;
  }
  __device__ void store(T *to, int r, const Values &values) const {
    if (!in_row || r > last) return;
    if (i >= lo && i + width <= hi)
      *reinterpret_cast<Values *>(to + r * row) = values;
    else
#pragma unroll
      for (int l = 0; l < width; l++)
        if (i + l >= lo && i + l < hi) to[r * row + l] = values.lane[l];
  }
  static __device__ Values load(const T *__restrict__ from) {
    return *reinterpret_cast<const Values *>(from);
  }
};

// The star: a warp has a row of 32 packs. The points at the ends of the first axis may have another diagonal, at_end more,
// and no arm beyond.
// most: planes of a block; unroll: planes whose loads may be under way together. By Place it would be a tenth slower.
template <Form form, int width, int most, int unroll, class T>
__global__ void __launch_bounds__(32 * StarBlock::warps)
    star_planes(March march, Patch patch, ConstantStar<T> star, T at_lower_end, T at_upper_end,
                const T *__restrict__ field, const T *b, T *y) {
  using Values = Pack<T, width>;
  const Box         &box = march.inner;
  const unsigned     above = blockIdx.x / march.blocks_x;
  const int          lane = threadIdx.x % 32;
  const PetscInt nx = patch.size[0], i = march.first + ((PetscInt)(blockIdx.x % march.blocks_x) * 32 + lane) * width,
                 j = box.lo[1] + (PetscInt)(above % march.blocks_y) * StarBlock::warps + (PetscInt)(threadIdx.x / 32),
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

  Values below = load(u - plane), here = load(u);
#pragma unroll unroll
  for (int s = 0; s < planes; s++) {
    const Values over = load(u + plane), south = load(u - row), north = load(u + row);
    Values       add, result;
    if (form != Form::product) add = load(b + (u - field));
    T west = from_lane(here.lane[width - 1], true), east = from_lane(here.lane[0], false);
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

// The same for rows that loads of one value read: a thread has two columns, 32 points apart, so that twice the loads are under
// way.
template <Form form, class T>
__global__ void __launch_bounds__(32 * StarBlock::warps)
    star_columns(March march, Patch patch, ConstantStar<T> star, T at_lower_end, T at_upper_end,
                 const T *__restrict__ field, const T *b, T *y) {
  constexpr int  columns = 2;
  const Box     &box = march.inner;
  const unsigned above = blockIdx.x / march.blocks_x;
  const int      lane = threadIdx.x % 32;
  const PetscInt nx = patch.size[0], i = march.first + (PetscInt)(blockIdx.x % march.blocks_x) * 32 * columns + lane,
                 j = box.lo[1] + (PetscInt)(above % march.blocks_y) * StarBlock::warps + (PetscInt)(threadIdx.x / 32),
                 k = box.lo[2] + (PetscInt)(above / march.blocks_y) * march.planes;
  const int      planes = (int)PetscMin((PetscInt)march.planes, box.hi[2] - k);
  const bool     reads_west = lane == 0 && i > 0, reads_east = lane == 31 && i + 32 * (columns - 1) + 1 < nx;
  const size_t   at = patch.index(i, PetscMin(j, box.hi[1] - 1), k), row = nx, plane = row * patch.size[1];
  const T       *u = field + at;
  T             *to = y + at, below[columns], here[columns];
  bool           in_row[columns], computed[columns];
  T              center[columns];

#pragma unroll
  for (int c = 0; c < columns; c++) {
    const PetscInt at_c = i + 32 * c;
    in_row[c] = at_c < nx;
    computed[c] = j < box.hi[1] && at_c >= box.lo[0] && at_c < box.hi[0];
    center[c] = star.center + (at_c == 0 ? at_lower_end : T(0)) + (at_c == nx - 1 ? at_upper_end : T(0));
    below[c] = in_row[c] ? u[32 * c - (ptrdiff_t)plane] : T(0);
    here[c] = in_row[c] ? u[32 * c] : T(0);
  }
#pragma unroll 1
  for (int s = 0; s < planes; s++) {
    T over[columns], south[columns], north[columns], add[columns] = {}, before[columns], after[columns];
    T before_first = 0, after_last = 0;
#pragma unroll
    for (int c = 0; c < columns; c++) over[c] = in_row[c] ? u[plane + 32 * c] : T(0);
#pragma unroll
    for (int c = 0; c < columns; c++) {
      south[c] = in_row[c] ? u[32 * c - (ptrdiff_t)row] : T(0);
      north[c] = in_row[c] ? u[32 * c + row] : T(0);
      if (form != Form::product && computed[c]) add[c] = b[(to - y) + 32 * c];
    }
    if (reads_west) before_first = u[-1];
    if (reads_east) after_last = u[32 * (columns - 1) + 1];
#pragma unroll
    for (int c = 0; c < columns; c++) before[c] = shuffled(here[c], lane + 31), after[c] = shuffled(here[c], lane + 1);
#pragma unroll
    for (int c = 0; c < columns; c++) {
      const bool last = c + 1 == columns;
      const T    beside[3][2] = {{lane > 0 ? before[c]
                                  : c > 0  ? before[c > 0 ? c - 1 : 0]
                                           : before_first,
                                  lane < 31 ? after[c]
                                  : last    ? after_last
                                            : after[last ? c : c + 1]},
                                 {south[c], north[c]},
                                 {below[c], over[c]}};
      ConstantStar<T> its = star;
      its.center = center[c];
      const T result = combine(form, add, c, its.template operator()<3>(here[c], beside));
      if (computed[c]) to[32 * c] = result;
      below[c] = here[c];
      here[c] = over[c];
    }
    u += plane;
    to += plane;
  }
  wait_for_kernel_before();
}

template <class T> struct ConstantBox {
  T c[3][3][3]; // [dz + 1][dy + 1][dx + 1]
};

// A plane adds to the sums of three: of the plane below, which are complete then, of its own and of the one above.
template <Form form, int width, class T>
__global__ void __launch_bounds__(32 * PairBlock::warps, sizeof(T) > 8           ? 1
                                                         : width > 1             ? 5
                                                         : form == Form::product ? 8
                                                                                 : 6)
    box_planes(March march, Patch patch, ConstantBox<T> box, const T *__restrict__ field, const T *b, T *y) {
  using Values = Pack<T, width>;
  constexpr int         rows = PairBlock::rows;
  const Place<T, width> place(march, patch);
  const T              *u = field + place.at - place.plane;
  T                    *to = y + place.at - 2 * place.plane; // two planes behind what is read next
  T                     sum_below[rows][width] = {}, sum_here[rows][width] = {};

#pragma unroll 1
  for (int s = 0; s < place.planes + 2; s++) {
    T window[rows + 2][width + 2];
#pragma unroll
    for (int r = 0; r < rows + 2; r++) {
      const Values here = place.load(place.beside_rows(u, r));
#pragma unroll
      for (int l = 0; l < width; l++) window[r][l + 1] = here.lane[l];
    }
#pragma unroll
    for (int r = 0; r < rows + 2; r++) {
      Values here;
#pragma unroll
      for (int l = 0; l < width; l++) here.lane[l] = window[r][l + 1];
      place.beside(place.beside_rows(u, r), here, &window[r][0], &window[r][width + 1]);
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {
      Values add = {}, result;
      if (form != Form::product && s > 1) add = place.load(b + (to - y) + place.offset(r));
#pragma unroll
      for (int l = 0; l < width; l++) {
        T below = sum_below[r][l], here = sum_here[r][l], above = 0;
#pragma unroll
        for (int dy = 0; dy < 3; dy++)
#pragma unroll
          for (int dx = 0; dx < 3; dx++) {
            const T value = window[r + dy][l + dx];
            below += box.c[2][dy][dx] * value;
            here += box.c[1][dy][dx] * value;
            above += box.c[0][dy][dx] * value;
          }
        result.lane[l] = combine(form, add.lane, l, below);
        sum_below[r][l] = here;
        sum_here[r][l] = above;
      }
      if (s > 1) place.store(to, r, result);
    }
    u += place.plane;
    to += place.plane;
  }
  wait_for_kernel_before();
}

} // namespace kernel

// Whether rows may be read by loads of 16 bytes; arrays: their addresses, combined.
template <class T> bool reads_packs(const Patch &patch, uintptr_t arrays) {
  constexpr int most = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  return arrays % (most * sizeof(T)) == 0 && patch.size[0] % most == 0;
}

// Launches a walk, which in a chain begins while the kernel before it runs.
template <class Block, class... Parameters, class... Arguments>
PetscErrorCode launch_walk(bool in_chain, void (*walk)(Parameters...), PetscInt64 blocks,
                           const Arguments &...arguments) {
  constexpr int threads = 32 * Block::warps;
  cudaStream_t  stream;

  PetscFunctionBegin;
  if (in_chain) {
    PetscCall(launch_in_chain(walk, blocks, threads, 0, arguments...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(current_stream(&stream));
  walk<<<(unsigned)blocks, threads, 0, stream>>>(arguments...);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y on the points of a box: by `other` at those that are not inner, and by walk(form, width, in_chain, blocks, march) at
// the rest. Loads are of 16 bytes where the rows of all arrays are aligned to them; others_read: the addresses
// of more arrays that are read so, combined; columns: of a thread, where they are not.
template <class Block, class T, class Other, class Walk>
PetscErrorCode launch_planes(const Patch &patch, const Other &other, const T *u, Form form, const T *b, const Box &box,
                             const Box &inner, int planes, T *y, uintptr_t others_read, const Walk &walk,
                             int columns = 1) {
  constexpr int   most = sizeof(T) < 16 ? 16 / sizeof(T) : 1, line = 128 / sizeof(T);
  const uintptr_t arrays = (uintptr_t)u | (uintptr_t)y | (uintptr_t)b | others_read;
  const bool      wide = reads_packs<T>(patch, arrays);
  const Boxes     others = difference(box, inner);

  PetscFunctionBegin;
  PetscCall(launch_other_points(others, other));
  if (!inner.points()) PetscFunctionReturn(PETSC_SUCCESS);
  const auto launch = [&](auto form_of, auto width_of) -> PetscErrorCode {
    constexpr int width = decltype(width_of)::value;
    kernel::March march{inner, inner.lo[0] / line * line, planes, 0, 0};
    PetscFunctionBegin;
    march.blocks_x = blocks_of(inner.hi[0] - march.first, 32 * (width > 1 ? width : columns));
    march.blocks_y = blocks_of(inner.size(1), Block::warps * Block::rows);
    const PetscInt64 blocks = (PetscInt64)march.blocks_x * march.blocks_y * blocks_of(inner.size(2), planes);
    PetscCall(walk(form_of, width_of, others.points() > 0, blocks, march));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(with_form(form, [&](auto known) {
    return wide ? launch(known, std::integral_constant<int, most>{}) : launch(known, std::integral_constant<int, 1>{});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// inner: points no arm of which leaves the patch, but those that at_end stands for.
template <class T, class Other>
PetscErrorCode launch_star_planes(const Patch &patch, const ConstantStar<T> &star, const T at_end[2],
                                  const Other &other, const T *u, Form form, const T *b, const Box &box,
                                  const Box &inner, T *y) {
  using Block = kernel::StarBlock;
  const PetscInt64 warps = (PetscInt64)blocks_of(inner.size(0), 64) * inner.size(1) * inner.size(2) / 32;
  const PetscInt64 blocks_of_columns = warps / 2, at_once = 6 * multiprocessors();
  const bool       packs = reads_packs<T>(patch, (uintptr_t)u | (uintptr_t)y | (uintptr_t)b);
  const bool       few = !packs || sizeof(T) > 8 || warps < 32 * multiprocessors(); // to fill the GPU
  // two where their blocks all run at once, or are so many that those which begin last take little of the time
  const bool in_columns =
      !packs && sizeof(T) <= 8 && (blocks_of_columns <= at_once || blocks_of_columns >= 16 * at_once);

  return launch_planes<Block>(
      patch, other, u, form, b, box, inner, few ? 8 : 16, y, 0,
      [&](auto form_of, auto width_of, bool in_chain, PetscInt64 blocks, const kernel::March &march) {
        constexpr Form f = decltype(form_of)::value;
        constexpr int  width = decltype(width_of)::value, unroll = width == 1 ? 4 : 1, most = width == 1 ? 8 : 16;
        const auto     walk = width == 1 && in_columns ? kernel::star_columns<f, T>
                              : few                    ? kernel::star_planes<f, width, 8, unroll, T>
                                                       : kernel::star_planes<f, width, most, unroll, T>;
        return launch_walk<Block>(in_chain, walk, blocks, march, patch, star, at_end[LOWER], at_end[UPPER], u, b, y);
      },
      in_columns ? 2 : 1);
}

template <class T, class Other>
PetscErrorCode launch_box_planes(const Patch &patch, const kernel::ConstantBox<T> &stencil, const Other &other,
                                 const T *u, Form form, const T *b, const Box &box, const Box &inner, T *y) {
  using Block = kernel::PairBlock;

  return launch_planes<Block>(
      patch, other, u, form, b, box, inner, 16, y, 0,
      [&](auto form_of, auto width_of, bool in_chain, PetscInt64 blocks, const kernel::March &march) {
        constexpr Form f = decltype(form_of)::value;
        constexpr int  width = decltype(width_of)::value;
        return launch_walk<Block>(in_chain, kernel::box_planes<f, width, T>, blocks, march, patch, stencil, u, b, y);
      });
}

} // namespace shellac
#endif
