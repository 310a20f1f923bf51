#pragma once
// Products of stars on a GPU in 3-D, by the walk of planes_on_gpu.hpp: of constant ones, and of those whose rows are of up
// to 256 kinds. Each block copies the kinds' coefficients to shared memory. Loads from the caches took most of the time: a
// point's kind often has its row in another sector than the kinds of the points beside.

#include "capture/planes_on_gpu.hpp"

#if SHELLAC_CUDA
namespace shellac {

// The product by a State, which has the coefficients of a walk's points: load() is called at each plane, star() at each
// point.
template <class State, class Walk, class T>
__device__ __forceinline__ void walk_stars(State state, const Walk &walk, const T *__restrict__ field, const T *b,
                                           T *y) {
  constexpr int           rows = Walk::rows, columns = Walk::columns, width = Walk::width;
  const T                *from = field + walk.at;
  T                      *to = y + walk.at;
  kernel::Around<Walk, T> u(walk, from);
  using Values = typename Walk::Values;

#pragma unroll 1
  for (int s = 0; s < walk.planes; s++) {
    Values add[rows][columns];
    u.load(walk, from, walk.plane, walk.has_plane(s + 1));
    state.load(walk, s);
    if (Walk::form != Form::product) walk.load_rows(b + (from - field), true, add);
#pragma unroll
    for (int r = 0; r < rows; r++) {
      T west[columns], east[columns];
      walk.beside(u.here[r], u.west[r], u.east[r], west, east);
#pragma unroll
      for (int c = 0; c < columns; c++) {
        Values result;
#pragma unroll
        for (int l = 0; l < width; l++) {
          const T beside[3][2] = {
              {l > 0 ? u(r, c, l > 0 ? l - 1 : 0) : west[c], l + 1 < width ? u(r, c, (l + 1) % width) : east[c]},
              {u(r - 1, c, l), u(r + 1, c, l)},
              {u.below[r][c].lane[l], u.over[r][c].lane[l]}};
          result.lane[l] =
              combine(Walk::form, add[r][c].lane, l, state.star(r, c, l).template operator()<3>(u(r, c, l), beside));
        }
        walk.store(to, r, c, result);
      }
    }
    u.go_on();
    from += walk.plane, to += walk.plane;
  }
}

template <class T> struct ConstantStars : RowsInPlanes {
  static constexpr bool in_packs = true;
  static constexpr int  planes = 5;
  static constexpr int  most_planes(Form form) { return form == Form::product ? 48 : 16; }
  template <Form form, int width> struct Block {
    static constexpr bool is_large = sizeof(T) > 8;
    static constexpr int  warps = 4, rows = is_large ? 1 : 2, columns = is_large || width > 1 ? 1 : 2;
    static constexpr int  at_once = is_large ? 4 : (width > 1 ? 6 : 5) + (form == Form::product);
  };

  ConstantStar<T> inside;
  StarDiagonal<T> more;

  ConstantStars(const ConstantStar<T> &star, const StarDiagonal<T> &at_ends) : inside(star), more(at_ends) {}

  template <class Walk> struct State {
    const ConstantStars &stars;
    T                    center[Walk::columns][Walk::width], at_end[Walk::rows] = {};

    __device__ State(const ConstantStars &all, const Walk &walk) : stars(all) {
#pragma unroll
      for (int c = 0; c < Walk::columns; c++)
#pragma unroll
        for (int l = 0; l < Walk::width; l++) {
          const PetscInt i = walk.i + c * Walk::apart + l;
          center[c][l] = stars.inside.center + (i == 0 ? stars.more.at_end[0][LOWER] : T(0)) +
                         (i == walk.nx - 1 ? stars.more.at_end[0][UPPER] : T(0));
        }
    }
    __device__ void load(const Walk &walk, int s) {
#pragma unroll
      for (int r = 0; r < Walk::rows && Walk::at_ends; r++) {
        at_end[r] = 0;
        if (walk.j + r == 0) at_end[r] += stars.more.at_end[1][LOWER];
        if (walk.j + r == walk.ny - 1) at_end[r] += stars.more.at_end[1][UPPER];
        if (walk.k + s == 0) at_end[r] += stars.more.at_end[2][LOWER];
        if (walk.k + s == walk.nz - 1) at_end[r] += stars.more.at_end[2][UPPER];
      }
    }
    __device__ ConstantStar<T> star(int r, int c, int l) const {
      ConstantStar<T> its = stars.inside;
      its.center = Walk::at_ends ? center[c][l] + at_end[r] : center[c][l];
      return its;
    }
  };
  template <class Walk> __device__ void walk(const Walk &walk, const T *__restrict__ field, const T *b, T *y) const {
    walk_stars(State<Walk>(*this, walk), walk, field, b, y);
  }
};

template <class T> struct StarsOfKinds : RowsInPlanes {
  static constexpr bool in_packs = false;                                        // kinds are bytes
  static constexpr int  planes = 16, count = 7, stride = table_stride<T>(count); // coefficients of a kind
  static constexpr int  most_planes(Form) { return 32; }
  template <Form, int> struct Block {
    static constexpr int warps = 4, rows = sizeof(T) > 8 ? 2 : 4, columns = 1, at_once = 4;
  };

  const T *__restrict__ table;
  const unsigned char *__restrict__ index; // the kind of each point
  int number;

  StarsOfKinds(const CapturedCoefficients<T> &a, size_t kinds) : table(a.table), index(a.index8), number((int)kinds) {}

  size_t               shared() const { return (size_t)number * count * sizeof(T); } // [count][number]
  static __device__ T *coefficients() {
    extern __shared__ __align__(16) unsigned char bytes[];
    return reinterpret_cast<T *>(bytes);
  }
  __device__ void begin() const {
    for (int n = (int)threadIdx.x; n < count * number; n += (int)blockDim.x) {
      const int arm = n / number, kind = n - arm * number;
      coefficients()[n] = table[kind * stride + arm];
    }
    __syncthreads();
  }
  template <class Walk> struct State {
    const unsigned char *next; // the kinds in the plane that comes next
    int                  number, kind[Walk::rows];
    T                    a[Walk::rows][count];

    __device__ State(const StarsOfKinds &stars, const Walk &walk) : next(stars.index + walk.at), number(stars.number) {
      load_kinds(walk);
    }
    __device__ void load_kinds(const Walk &walk) {
#pragma unroll
      for (int r = 0; r < Walk::rows; r++) kind[r] = walk.has_row(r) ? next[r * walk.row] : 0;
      next += walk.plane;
    }
    __device__ void load(const Walk &walk, int s) {
#pragma unroll
      for (int r = 0; r < Walk::rows; r++)
#pragma unroll
        for (int arm = 0; arm < count; arm++) a[r][arm] = coefficients()[arm * number + kind[r]];
      if (s + 1 < walk.planes) load_kinds(walk);
    }
    __device__ ConstantStar<T> star(int r, int, int) const {
      return ConstantStar<T>::of_row(a[r], 3);
    }
  };
  template <class Walk> __device__ void walk(const Walk &walk, const T *__restrict__ field, const T *b, T *y) const {
    walk_stars(State<Walk>(*this, walk), walk, field, b, y);
  }
};

} // namespace shellac
#endif
