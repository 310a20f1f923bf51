#pragma once
// A box of width 1 in 2-D with the same coefficients at each point, times a grid function on a GPU: a thread computes a few
// rows of one or two columns, and reads each value that it needs once.

#include "capture/star_on_gpu.hpp"

namespace shellac {

template <class T> struct ConstantBox {
  T c[3][3]; // [dy + 1][dx + 1]
};

#if SHELLAC_CUDA
namespace kernel {

// Blocks as those of star_rows().
template <Form form, int width, class T, class Other>
__global__ void __launch_bounds__(Rows2D::threads)
    box_rows(Tiles tiles, Patch patch, ConstantBox<T> stencil, Other other, const T *__restrict__ field, const T *b,
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
  T      window[steps + 2][width + 2]; // from the column before the pack to the one after it
  Values add[steps];
#pragma unroll
  for (int s = 0; s < steps + 2; s++) {
    const T     *at = u + s * stride - stride;
    const Values pack = *reinterpret_cast<const Values *>(at);
    window[s][0] = at[-1];
#pragma unroll
    for (int l = 0; l < width; l++) window[s][1 + l] = pack.lane[l];
    window[s][width + 1] = at[width];
  }
  if (form != Form::product)
#pragma unroll
    for (int s = 0; s < steps; s++) add[s] = *reinterpret_cast<const Values *>(b + first + s * stride);
#pragma unroll
  for (int s = 0; s < steps; s++) {
    Values result;
#pragma unroll
    for (int l = 0; l < width; l++) {
      T sum = 0;
#pragma unroll
      for (int dy = 0; dy < 3; dy++)
#pragma unroll
        for (int dx = 0; dx < 3; dx++) sum += stencil.c[dy][dx] * window[s + dy][l + dx];
      result.lane[l] = combine(form, add[s].lane, l, sum);
    }
    *reinterpret_cast<Values *>(y + first + s * stride) = result;
  }
}

} // namespace kernel

// y on the points of a box: by the stencil at the inner ones, and by `other` at the rest.
template <class T, class Other>
PetscErrorCode launch_box(const Patch &patch, const ConstantBox<T> &stencil, const Other &other, const T *u, Form form,
                          const T *b, const Box &box, const Box &inner, T *y) {
  constexpr int   most = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  const uintptr_t arrays = (uintptr_t)u | (uintptr_t)y | (uintptr_t)b;
  cudaStream_t    stream;

  PetscFunctionBegin;
  if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(current_stream(&stream));
  const auto launch = [&](auto form_of, auto width_of) {
    constexpr int  width = decltype(width_of)::value;
    kernel::Tiles  tiles;
    const unsigned blocks = tiles_of_rows<T>(box, inner, width, &tiles);
    kernel::box_rows<decltype(form_of)::value, width>
        <<<blocks, kernel::Rows2D::threads, 0, stream>>>(tiles, patch, stencil, other, u, b, y);
  };
  with_form_and_width<most>(form, arrays % (most * sizeof(T)) == 0 && patch.size[0] % most == 0, launch);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif

} // namespace shellac
