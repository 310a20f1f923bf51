#pragma once
// Passes over a level of three dimensions with variable coefficients on a GPU: a thread computes some points of a
// column along the third axis, and keeps what the next one needs. The level is one rank's. Each does what the functor
// of the same name in the file of its verb does; pure functors, for host and device, so that tests compare the two.

#include "multigrid/gpu/columns.hpp"
#include "multigrid/gpu/variable_plan.hpp"

namespace shellac {

namespace variable_column {

constexpr PetscInt most_points = 8; // of a column that a thread computes

// Steps from a point to the one before, itself and the next one along an axis: in vectors, none where there is no such
// point; and in arrays of `grown`, which have zeros beyond ends.
struct Steps {
  PetscInt value[3], row[3];
};

template <class T> SHELLAC_HD Steps steps_along(const VariableLevel<T> &level, int a, PetscInt p) {
  const PetscInt last = level.patch.size[a] - 1, value = (PetscInt)level.patch.stride(a),
                 row = a == 0   ? 1
                       : a == 1 ? level.grown.size(0)
                                : level.grown.size(0) * level.grown.size(1);
  const bool around = level.patch.periodic[a], first = p == 0, ends = p == last;
  return {{!first   ? -value
           : around ? last * value
                    : 0,
           0,
           !ends    ? value
           : around ? -last * value
                    : 0},
          {first && around ? last * row : -row, 0, ends && around ? -last * row : row}};
}

enum class Does { smooth, residual }; // from a guess; b - A u

// symmetric: of the couplings of two points only one is read, that of the point before. With a star, diagonals are
// added up again. Arrays begin where the host has added up, and places in them are of type PetscInt, see
// has_indices_for_rows().
template <Does does, bool star, bool symmetric, class T> struct Step {
  using R = typename RealOf<T>::type;
  static constexpr int blocks = sizeof(T) > 8 ? 2 : 4; // of a multiprocessor, as registers allow
  // Neighbours come in opposite pairs. Of each, the upper one's number among 3 x 3 x 3 points; the lower one's is 26
  // less that.
  static constexpr int            pairs = star ? 3 : 13;
  SHELLAC_HD static constexpr int upper(int pair) { return !star ? 14 + pair : pair == 0 ? 14 : pair == 1 ? 16 : 22; }

  VariableLevel<T> level;
  R                omega;
  PetscInt         points; // of a thread
  const T         *u;
  const T         *b;
  T               *out;
  const T         *to_upper[pairs], *to_lower[pairs];

  Step(const VariableLevel<T> &of, R weight, PetscInt many, const T *from, const T *right, T *to)
      : level(of), omega(weight), points(many), u(from), b(right), out(to) {
    const T *couplings = of.rows + FIRST_COUPLING * (size_t)of.grown.points();
    for (int n = 0; n < pairs; n++) {
      to_upper[n] = couplings + (size_t)(star ? 2 * n + 1 : 13 + n) * (size_t)of.grown.points();
      to_lower[n] = symmetric ? to_upper[n] : couplings + (size_t)(star ? 2 * n : 12 - n) * (size_t)of.grown.points();
    }
  }

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt part) const {
    constexpr bool adds_up = symmetric && star && does == Does::smooth;
    const Patch   &patch = level.patch;
    const PetscInt first = part * points, nz = patch.size[2], end = PetscMin(first + points, nz), p[3] = {i, j, first};
    const PetscInt plane = (PetscInt)patch.stride(2), layer = level.grown.size(0) * level.grown.size(1);
    const Steps    x = steps_along(level, 0, i), y = steps_along(level, 1, j);
    const T *const shift = level.rows + SHIFT * (size_t)level.grown.points();
    const T *const inverse = level.rows + INVERSE_DIAGONAL * (size_t)level.grown.points();
    PetscInt       row = (PetscInt)level.grown.index(p), at = (PetscInt)patch.index(i, j, first);
    T              values[3][9]; // of the planes before, at and after the point
    const auto     is_read = [](int m) { return !star || m == 4 || m % 2; };
    const auto     load = [&](int to, PetscInt step) {
      SHELLAC_UNROLL_ALL
      for (int m = 0; m < 9; m++)
        if (is_read(m)) values[to][m] = unchanging(u + (at + step + x.value[m % 3] + y.value[m / 3]));
    };
    load(0, steps_along(level, 2, first).value[0]);
    load(1, 0);
#if defined(__CUDA_ARCH__)
#pragma unroll(star ? 4 : 1)
#endif
    for (PetscInt k = first; k < end; k++) {
      const Steps z = steps_along(level, 2, k);
      load(2, z.value[2]);
      const T own_shift = unchanging(shift + row), center = values[1][4];
      T       r = residual_of(unchanging(b + at), own_shift, center), diagonal = own_shift;
      SHELLAC_UNROLL_ALL
      for (int n = 0; n < pairs; n++) {
        const int      up = upper(n), low = 26 - up;
        const PetscInt back = symmetric ? x.row[low % 3] + y.row[low / 3 % 3] + z.row[low / 9] : 0;
        const T        above = unchanging(to_upper[n] + row), below = unchanging(to_lower[n] + (row + back));
        r = add_fluxes(r, center, above, values[up / 9][up % 9], below, values[low / 9][low % 9]);
        diagonal += above + below;
      }
      if constexpr (does == Does::residual)
        out[at] = r;
      else
        out[at] = jacobi_step(center, omega * (adds_up ? inverse_of(diagonal) : unchanging(inverse + row)), r);
      SHELLAC_UNROLL_ALL
      for (int m = 0; m < 9; m++)
        if (is_read(m)) values[0][m] = values[1][m], values[1][m] = values[2][m];
      row += layer, at += plane;
    }
  }
};

// Points along an axis that a transfer takes: whether they are there, and their indices, or those of other points.
template <int count> struct Taken {
  bool     is[count];
  PetscInt at[count];
};

// A transfer's weights, by corner: a bit for each axis along which it is the upper one of two coarse points.
template <class T> struct Corners {
  const T *at[8];

  template <class Level> Corners(const Level &level, const T *weights) {
    for (int n = 0; n < 8; n++) {
      at[n] = weights;
      for (int a = 0, step = 1; a < 3; step *= level.coarsens[a++] ? 2 : 1)
        if (level.coarsens[a] && n >> a & 1) at[n] += step * (size_t)level.grown.points();
    }
  }
};

// The coarse right-hand side. A thread computes one point: a multiprocessor has many threads, and each has many loads
// under way. weighted: rows have masses.
template <bool weighted, class T> struct Restrict {
  static constexpr int blocks = sizeof(T) > 8 ? 4 : 6;
  VariableLevel<T>     level; // the fine one
  Patch                coarse;
  const T             *r;
  T                   *out;
  Corners<T>           weights;

  Restrict(const VariableLevel<T> &of, const Patch &of_out, const T *from, T *to)
      : level(of), coarse(of_out), r(from), out(to), weights(of, of.restriction) {}

  SHELLAC_HD void operator()(PetscInt I, PetscInt J, PetscInt K) const {
    const Taken<3> x = around_kept(0, I), y = around_kept(1, J), z = around_kept(2, K);
    T              sum = 0;
    SHELLAC_UNROLL_ALL
    for (int n = 0; n < 27; n++) { // without branches
      const int      a = n % 3, b = n / 3 % 3, c = n / 9;
      const PetscInt p[3] = {x.at[a], y.at[b], z.at[c]}, there = (PetscInt)level.grown.index(p);
      T              weight = unchanging(weights.at[(a ? 0 : 1) + (b ? 0 : 2) + (c ? 0 : 4)] + there);
      if (weighted) weight *= unchanging(level.mass + there);
      const T value = unchanging(r + (PetscInt)level.patch.index(p[0], p[1], p[2]));
      sum += (x.is[a] && y.is[b] && z.is[c] ? weight : T(0)) * value;
    }
    out[coarse.index(I, J, K)] = sum;
  }

private:
  // The fine points before, at and after a coarse one.
  SHELLAC_HD Taken<3> around_kept(int a, PetscInt J) const {
    const PetscInt p = level.coarse_point(a, coarse.start[a] + J), last = level.patch.size[a] - 1;
    const bool     around = level.patch.periodic[a], coarsens = level.coarsens[a];
    return {{coarsens && (p > 0 || around), true, coarsens && (p < last || around)},
            {p > 0    ? p - 1
             : around ? last
                      : 0,
             p,
             p < last ? p + 1
             : around ? 0
                      : last}};
  }
};

// out = u (null: zero) + the interpolation of e; one point a thread. All loads begin before any is waited for, without
// branches, and few instructions compute their places.
template <class T> struct Correct {
  static constexpr int blocks = sizeof(T) > 8 ? 4 : 8;
  VariableLevel<T>     level;
  Patch                coarse;
  const T             *e, *u;
  T                   *out;
  Corners<T>           weights;

  Correct(const VariableLevel<T> &of, const Patch &of_e, const T *from, const T *to_correct, T *to)
      : level(of), coarse(of_e), e(from), u(to_correct), out(to), weights(of, of.weights) {}

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const Taken<2> x = around_point(0, i, 1), y = around_point(1, j, coarse.size[0]),
                   z = around_point(2, k, coarse.size[0] * coarse.size[1]);
    const PetscInt p[3] = {i, j, k}, at = (PetscInt)level.patch.index(i, j, k), row = (PetscInt)level.grown.index(p);
    T              sum = u ? u[at] : T(0), weight[8], value[8];
    SHELLAC_UNROLL_ALL
    for (int n = 0; n < 8; n++) {
      const int a = n % 2, b = n / 2 % 2, c = n / 4;
      weight[n] = y.is[b] && z.is[c] ? unchanging(weights.at[n] + row) : T(0); // all threads of a warp read it, or none
      value[n] = x.is[a] ? unchanging(e + (x.at[a] + y.at[b] + z.at[c])) : T(0);
    }
    SHELLAC_UNROLL_ALL
    for (int n = 0; n < 8; n++) sum += (x.is[n % 2] ? weight[n] : T(0)) * value[n];
    out[at] = sum;
  }

private:
  // The coarse points at or before a fine one, and after one between two; indices times a stride.
  SHELLAC_HD Taken<2> around_point(int a, PetscInt i, PetscInt stride) const {
    const PetscInt J = level.below(a, i) - coarse.start[a], N = coarse.size[a], before = J < 0 ? N - 1 : 0;
    const bool     around = coarse.periodic[a], inside = J >= 0 && J < N;
    return {{inside || around, level.between(a, i) && (J + 1 < N || around)},
            {(inside ? J : before) * stride, (J + 1 < N ? J + 1 : 0) * stride}};
  }
};

} // namespace variable_column

#if SHELLAC_CUDA
constexpr int column_rows = 4; // of columns of a block of threads

namespace kernel {
template <class Pass>
__global__ void __launch_bounds__(32 * column_rows, Pass::blocks)
    over_columns(const __grid_constant__ Box threads, const __grid_constant__ Pass pass) {
  wait_for_kernel_before();
  let_next_kernel_begin();
  call_at_thread(threads, pass);
}
} // namespace kernel
#endif

// A pass over a level of a GPU, by so many threads.
template <class Pass> PetscErrorCode run_over_columns(const Box &threads, const Pass &pass) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  const dim3 block(32, column_rows),
      blocks((unsigned)((threads.size(0) + 31) / 32), (unsigned)((threads.size(1) + column_rows - 1) / column_rows),
             (unsigned)threads.size(2));
  PetscCall(launch_grid_in_chain(kernel::over_columns<Pass>, blocks, block, 0, threads, pass));
#else
  (void)threads, (void)pass;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Points of a column for a thread: as many as leave threads for the whole GPU.
inline PetscInt points_of_columns(const Patch &patch) {
  PetscInt points = variable_column::most_points;
#if SHELLAC_CUDA
  constexpr PetscInt64 least = 400; // threads of a multiprocessor
  while (points > 1 && column::threads(patch, points).points() < multiprocessors() * least) points /= 2;
#else
  (void)patch;
#endif
  return points;
}
} // namespace shellac
