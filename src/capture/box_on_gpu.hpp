#pragma once
// Products of constant boxes of 27 points on a GPU in 3-D, by the walk of planes_on_gpu.hpp. Rows at the ends of the domain
// are among them if they are the box without the arms beyond, with any diagonal.

#include "capture/planes_on_gpu.hpp"

#if SHELLAC_CUDA
namespace shellac {

template <class T> struct ConstantBoxes : RowsInPlanes {
  static constexpr bool in_packs = true;
  static constexpr int  planes = 16;
  static constexpr int  most_planes(Form) { return 64; }
  template <Form form, int width> struct Block {
    static constexpr bool is_large = sizeof(T) > 8;
    static constexpr int  warps = 4, rows = 2, columns = is_large || width > 1 ? 1 : 2;
    static constexpr int  at_once = is_large ? 1 : form != Form::product || width == 1 ? 5 : 6;
  };

  T              coefficient[3][3][3]; // [dz + 1][dy + 1][dx + 1]
  EndDiagonal<T> diagonal;

  ConstantBoxes(const T *row, const EndDiagonal<T> &more) : diagonal(more) {
    for (int n = 0; n < 27; n++) coefficient[n / 9][n / 3 % 3][n % 3] = row[n]; // in the order of WholeStencil
  }

  // blocks that are not at ends have no points at ends of the second and third axis
  template <class Block> __device__ bool tests_ends(const Block &block, const Patch &patch) const {
    return (block.i == 0 && diagonal.added[1][1][0] != T(0)) ||
           (block.end_i >= patch.size[0] && diagonal.added[1][1][2] != T(0));
  }
  // A plane adds to the sums of three: of the plane below, which are complete then, of its own and of the one above.
  template <class Walk> __device__ void walk(const Walk &walk, const T *__restrict__ field, const T *b, T *y) const {
    constexpr int rows = Walk::rows, columns = Walk::columns, width = Walk::width;
    using Values = typename Walk::Values;
    const T *u = field + walk.at - walk.plane;
    T       *to = y + walk.at - 2 * walk.plane; // two planes behind what is read
    T        sum_below[rows][columns][width] = {}, sum_here[rows][columns][width] = {};

#pragma unroll 1
    for (int s = 0; s < walk.planes + 2; s++) {
      Values packs[rows + 2][columns], add[rows][columns] = {};
      T      window[rows + 2][columns][width + 2], west_of_warp[rows + 2] = {}, east_of_warp[rows + 2] = {};
#pragma unroll
      for (int r = 0; r < rows + 2; r++) {
        const bool exists = walk.has_plane(s - 1) && walk.has_row(r - 1);
#pragma unroll
        for (int c = 0; c < columns; c++) packs[r][c] = walk.load(u + (r - 1) * walk.row, c, exists);
        walk.load_sides(u + (r - 1) * walk.row, exists, &west_of_warp[r], &east_of_warp[r]);
      }
      if (Walk::form != Form::product && s > 1) walk.load_rows(b + (to - y), true, add);
#pragma unroll
      for (int r = 0; r < rows + 2; r++) {
        T west[columns], east[columns];
        walk.beside(packs[r], west_of_warp[r], east_of_warp[r], west, east);
#pragma unroll
        for (int c = 0; c < columns; c++) {
          window[r][c][0] = west[c], window[r][c][width + 1] = east[c];
#pragma unroll
          for (int l = 0; l < width; l++) window[r][c][l + 1] = packs[r][c].lane[l];
        }
      }
#pragma unroll
      for (int r = 0; r < rows; r++)
#pragma unroll
        for (int c = 0; c < columns; c++) {
          Values result;
#pragma unroll
          for (int l = 0; l < width; l++) {
            T below = sum_below[r][c][l], here = sum_here[r][c][l], above = 0, center = coefficient[1][1][1];
            if (Walk::at_ends) {
              const PetscInt p[3] = {walk.i + c * Walk::apart + l, walk.j + r, walk.k + s - 1},
                             size[3] = {walk.nx, walk.ny, walk.nz};
              center += diagonal.at(p, size);
            }
#pragma unroll
            for (int dy = 0; dy < 3; dy++) {
              const T *values = &window[r + dy][c][l];
#pragma unroll
              for (int dx = 0; dx < 3; dx++) {
                below += coefficient[2][dy][dx] * values[dx];
                here += (dy == 1 && dx == 1 ? center : coefficient[1][dy][dx]) * values[dx];
                above += coefficient[0][dy][dx] * values[dx];
              }
            }
            result.lane[l] = combine(Walk::form, add[r][c].lane, l, below);
            sum_below[r][c][l] = here;
            sum_here[r][c][l] = above;
          }
          if (s > 1) walk.store(to, r, c, result);
        }
      u += walk.plane, to += walk.plane;
    }
  }
};

} // namespace shellac
#endif
