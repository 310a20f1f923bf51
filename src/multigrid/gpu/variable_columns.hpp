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
// Of the points from p on; those from `from` to before `to` of them are wanted.
template <int count> SHELLAC_HD Taken<count> taken(const Patch &patch, int a, PetscInt p, int from, int to) {
  Taken<count> points;
  SHELLAC_UNROLL_ALL
  for (int n = 0; n < count; n++) {
    const PetscInt q = p + n, N = patch.size[a];
    const bool     around = patch.periodic[a] && (q < 0 || q >= N);
    points.is[n] = n >= from && n < to && (around || (q >= 0 && q < N));
    points.at[n] = around ? q < 0 ? q + N : q - N : PetscMin(PetscMax(q, 0), N - 1);
  }
  return points;
}

// Of a transfer's weights, the first of the upper one of two coarse points along an axis, if there are two.
template <class T> SHELLAC_HD size_t upper_corner(const VariableLevel<T> &level, int a) {
  size_t corner = level.coarsens[a] ? (size_t)level.grown.points() : 0;
  for (int of = 0; of < a; of++) corner *= level.coarsens[of] ? 2 : 1;
  return corner;
}

// The coarse right-hand side. A thread computes one point: that takes few registers, and a multiprocessor has many threads.
// weighted: rows have masses.
template <bool weighted, class T> struct Restrict {
  static constexpr int blocks = sizeof(T) > 8 ? 4 : 8;
  VariableLevel<T>     level; // the fine one
  Patch                coarse;
  const T             *r;
  T                   *out;

  SHELLAC_HD void operator()(PetscInt I, PetscInt J, PetscInt K) const {
    const Taken<3> x = around_kept(0, I), y = around_kept(1, J), z = around_kept(2, K);
    const size_t   corner[3] = {upper_corner(level, 0), upper_corner(level, 1), upper_corner(level, 2)};
    T              sum = 0;
    SHELLAC_UNROLL_ALL
    for (int n = 0; n < 27; n++) { // without branches
      const int      a = n % 3, b = n / 3 % 3, c = n / 9;
      const bool     is = x.is[a] && y.is[b] && z.is[c];
      const PetscInt p[3] = {x.at[a], y.at[b], z.at[c]};
      const size_t   there = level.grown.index(p);
      const T *w = level.restriction + ((a == 0 ? corner[0] : 0) + (b == 0 ? corner[1] : 0) + (c == 0 ? corner[2] : 0));
      T        weight = unchanging(w + there);
      if (weighted) weight *= unchanging(level.mass + there);
      sum += (is ? weight : T(0)) * unchanging(r + level.patch.index(p[0], p[1], p[2]));
    }
    out[coarse.index(I, J, K)] = sum;
  }

private:
  // The fine points before, at and after a coarse one.
  SHELLAC_HD Taken<3> around_kept(int a, PetscInt J) const {
    const bool coarsens = level.coarsens[a];
    return taken<3>(level.patch, a, level.coarse_point(a, coarse.start[a] + J) - 1, coarsens ? 0 : 1, coarsens ? 3 : 2);
  }
};

// out = u (null: zero) + the interpolation of e
template <class T> struct Correct {
  static constexpr int blocks = sizeof(T) > 8 ? 3 : 6;
  VariableLevel<T>     level;
  Patch                coarse;
  PetscInt             points; // of a thread
  const T             *e, *u;
  T                   *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt part) const {
    const Patch   &patch = level.patch;
    const PetscInt first = part * points, end = PetscMin(first + points, patch.size[2]), p[3] = {i, j, first};
    const Taken<2> x = around_point(0, i), y = around_point(1, j);
    const bool     is[4] = {x.is[0] && y.is[0], x.is[1] && y.is[0], x.is[0] && y.is[1], x.is[1] && y.is[1]};
    const size_t   corner[3] = {upper_corner(level, 0), upper_corner(level, 1), upper_corner(level, 2)};
    const size_t   plane = patch.stride(2), layer = (size_t)level.grown.size(0) * (size_t)level.grown.size(1);
    size_t         at = patch.index(i, j, first);
    const T *__restrict__ w = level.weights + level.grown.index(p);
    T          weights[8], values[2][4];
    PetscInt   of[2] = {-1, -1}; // the planes that they are of
    Taken<2>   z;
    const auto load_weights = [&](PetscInt k) {
      z = around_point(2, k);
      SHELLAC_UNROLL_ALL
      for (int c = 0; c < 8; c++)
        weights[c] = is[c % 4] && z.is[c / 4]
                         ? unchanging(w + ((c & 1 ? corner[0] : 0) + (c & 2 ? corner[1] : 0) + (c & 4 ? corner[2] : 0)))
                         : T(0);
    };
    const auto load = [&](int side) {
      of[side] = z.at[side];
      SHELLAC_UNROLL_ALL
      for (int c = 0; c < 4; c++)
        values[side][c] = is[c] ? unchanging(e + coarse.index(x.at[c % 2], y.at[c / 2], z.at[side])) : T(0);
    };
    load_weights(first);
    SHELLAC_UNROLL
    for (PetscInt k = first; k < end; k++) {
      T sum = u ? u[at] : T(0);
      if (z.is[0] && z.at[0] != of[0]) {
        if (z.at[0] == of[1]) {
          of[0] = of[1];
          SHELLAC_UNROLL_ALL
          for (int c = 0; c < 4; c++) values[0][c] = values[1][c];
        } else
          load(0);
      }
      if (z.is[1]) load(1);
      SHELLAC_UNROLL_ALL
      for (int c = 0; c < 8; c++)
        if (z.is[c / 4]) sum += weights[c] * values[c / 4][c % 4];
      out[at] = sum;
      at += plane, w += layer;
      if (k + 1 < end) load_weights(k + 1);
    }
  }

private:
  // The coarse points at or before a fine one, and after one between two.
  SHELLAC_HD Taken<2> around_point(int a, PetscInt i) const {
    return taken<2>(coarse, a, level.below(a, i) - coarse.start[a], 0, level.between(a, i) ? 2 : 1);
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
