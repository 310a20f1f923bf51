#pragma once
// The solution by modes (see direct.hpp) on a GPU that multiplies small matrices in double precision, which those of compute
// capability 8.0 on do. A block has a plane of the level, of 32 x 32 points at most: an axis' modes are a product from the
// left or from the right. Each of its 16 warps computes 8 x 8 values of it. A level of two axes is one plane, and one
// kernel. One of three is as many planes as the third axis has points, then as the second has, and again as the third
// has.

#include <type_traits>

#include "device/chain.hpp"
#include "device/scalars.hpp"

namespace shellac {

// Plain data, to be given to a kernel.
template <class R> struct alignas(16) Quad { // values that are read at once
  R v[4];
};
template <class T> struct AxesFactors {
  using R = typename RealOf<T>::type;
  int            n[3];
  const Quad<R> *matrices; // those of inverse modes, then those of modes, each for the last axis first: [n][quads(n)]
  const T       *scale;    // of each mode [n[2]][n[1]][n[0]]
  int            matrix_quads;

  SHELLAC_HD static int quads(int n) { return (n + 3) / 4; }
  SHELLAC_HD int        points() const { return n[0] * n[1] * n[2]; }
  SHELLAC_HD const R   *matrix(int axis, bool back) const { // [n][4 quads(n)], padded by zeros
    const Quad<R> *at = matrices + (back ? matrix_quads / 2 : 0);
    for (int a = 2; a > axis; a--) at += n[a] * quads(n[a]);
    return at->v;
  }
};

constexpr PetscInt plane_axis = 32; // points along an axis, at most

#if SHELLAC_CUDA
namespace plane {

constexpr int tiles = plane_axis / 8, threads = 32 * tiles * tiles, steps = plane_axis / 4;
constexpr int pitch = plane_axis + 4; // [values]: no two lanes that read together meet in a bank

enum class Does {
  all,    // of two axes
  into,   // the modes of the first two axes
  across, // the modes of the third, and back
  back    // from the modes of the first two
};

// c += a b, of an 8 x 4 and a 4 x 8 matrix by a warp. A lane has a[lane / 4][lane % 4], b[lane % 4][lane / 4] and
// c[lane / 4][2 (lane % 4)], and the one beside it.
__device__ __forceinline__ void multiply_add(double a, double b, double c[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
#endif
}

// A lane's entries of 8 rows or columns.
struct Entries {
  double v[steps];
};
template <class T>
__device__ __forceinline__ Entries entries_of(const AxesFactors<T> &f, int axis, bool back, int tile) {
  const int   n = f.n[axis], width = 4 * f.quads(n), lane = (int)threadIdx.x % 32, i = 8 * tile + lane / 4;
  const auto *matrix = f.matrix(axis, back);
  Entries     of;
#pragma unroll
  for (int s = 0; s < steps; s++) {
    const int k = 4 * s + lane % 4;
    of.v[s] = i < n && k < n ? (double)matrix[k * width + i] : 0.;
  }
  return of;
}

// Two sums, so that products wait half as long for each other.
__device__ __forceinline__ double2 product(const Entries &a, const Entries &b) {
  double c[2][2] = {};
#pragma unroll
  for (int s = 0; s < steps; s++) multiply_add(a.v[s], b.v[s], c[s % 2]);
  return make_double2(c[0][0] + c[1][0], c[0][1] + c[1][1]);
}

// x and b may be the same: a block writes only what it has read before.
template <Does does, class T>
__global__ __launch_bounds__(threads) void solve(const __grid_constant__ AxesFactors<T> f, const T *b, T *x) {
  constexpr bool     into = does == Does::all || does == Does::into, back = does == Does::all || does == Does::back;
  constexpr bool     across = does == Does::across, scales = does == Does::all || across;
  constexpr int      second = across ? 2 : 1; // axis of the plane's rows
  __shared__ double2 planes[2][plane_axis * pitch / 2];
  const int          lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, of_rows = warp / tiles,
            of_columns = warp % tiles;
  const int columns = f.n[0], rows = f.n[second], row_size = across ? f.n[0] * f.n[1] : f.n[0],
            first = (int)blockIdx.x * (across ? f.n[0] : f.n[0] * f.n[1]);
  const int  row = 8 * of_rows + lane / 4, column = 8 * of_columns + 2 * (lane % 4); // of this lane's two values
  const int  at = first + row * row_size + column;
  const bool writes = row < rows && column < columns, writes_next = row < rows && column + 1 < columns;

  Entries left = {}, right = {}, left_back = {}, right_back = {};
  double2 scale = {};
  if (into || across) left = entries_of(f, second, false, of_rows);
  if (into) right = entries_of(f, 0, false, of_columns);
  if (back || across) left_back = entries_of(f, second, true, of_rows);
  if (back) right_back = entries_of(f, 0, true, of_columns);
  if (scales && writes) scale.x = f.scale[at];
  if (scales && writes_next) scale.y = f.scale[at + 1];
  wait_for_kernel_before();
  let_next_kernel_begin();

  Entries in;
#pragma unroll
  for (int s = 0; s < steps; s++) {
    const int k = 4 * s + lane % 4, q = 8 * of_columns + lane / 4;
    in.v[s] = k < rows && q < columns ? (double)b[first + k * row_size + q] : 0.;
  }
  int        turn = 0;
  const auto share = [&](const double2 &own) {
    planes[turn][(row * pitch + column) / 2] = own;
    __syncthreads();
  };
  const auto from_left = [&](const Entries &matrix) {
    const double *values =
        reinterpret_cast<const double *>(planes[turn]) + lane % 4 * pitch + 8 * of_columns + lane / 4;
#pragma unroll
    for (int s = 0; s < steps; s++) in.v[s] = values[4 * s * pitch];
    turn = 1 - turn;
    return product(matrix, in);
  };
  const auto from_right = [&](const Entries &matrix) {
    const double *values = reinterpret_cast<const double *>(planes[turn]) + row * pitch + lane % 4;
#pragma unroll
    for (int s = 0; s < steps; s++) in.v[s] = values[4 * s];
    turn = 1 - turn;
    return product(in, matrix);
  };
  double2 own = product(does == Does::back ? left_back : left, in);
  if (into) {
    share(own);
    own = from_right(right);
  }
  if (scales) {
    own.x *= scale.x, own.y *= scale.y;
    share(own);
    own = from_left(left_back);
  }
  if (back) {
    share(own);
    own = from_right(right_back);
  }
  if (writes) x[at] = (T)own.x;
  if (writes_next) x[at + 1] = (T)own.y;
}

} // namespace plane
#endif

// Whether a GPU solves a level of so many points along the axes in planes. Complex numbers would be two planes.
template <class T, class Int> bool is_solved_in_planes(const Int n[3]) {
#if SHELLAC_CUDA
  if constexpr (std::is_floating_point<T>::value) {
    static const bool can = []() {
      cudaFuncAttributes attributes;
      return attribute_of_gpu(cudaDevAttrComputeCapabilityMajor) >= 8 &&
             cudaFuncGetAttributes(&attributes, (const void *)plane::solve<plane::Does::all, T>) == cudaSuccess &&
             attributes.ptxVersion >= 80;
    }();
    return can && n[0] <= plane_axis && n[1] <= plane_axis && n[2] <= plane_axis;
  }
#endif
  (void)n;
  return false;
}

#if SHELLAC_CUDA
// The level's solution, where is_solved_in_planes().
template <class T> PetscErrorCode solve_in_planes(const AxesFactors<T> &f, const T *b, T *x) {
  using plane::Does;
  PetscFunctionBegin;
  if (f.n[2] == 1)
    PetscCall(launch_in_chain(plane::solve<Does::all, T>, 1, plane::threads, 0, f, b, x));
  else {
    PetscCall(launch_in_chain(plane::solve<Does::into, T>, f.n[2], plane::threads, 0, f, b, x));
    PetscCall(launch_in_chain(plane::solve<Does::across, T>, f.n[1], plane::threads, 0, f, (const T *)x, x));
    PetscCall(launch_in_chain(plane::solve<Does::back, T>, f.n[2], plane::threads, 0, f, (const T *)x, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

} // namespace shellac
