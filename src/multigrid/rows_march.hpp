#pragma once
// The fused pass on a GPU over a level in 2-D with symmetric variable coefficients, where the rank has the whole level. A block
// of threads walks along the second axis over a strip of columns, one a thread. Rows of coefficients and of b are copied to
// shared memory a few rows ahead. Each thread keeps its own column's values in registers until all steps have used them: step s
// works s rows behind the first. Of two equal couplings only one is read, and diagonals are added up again.
//
// A point's data are b, 2 couplings of a star or 4 of a box, 2 weights of interpolation, and its shift where there is one.

#include "device/chain.hpp"
#include "multigrid/pass.hpp"

#if SHELLAC_CUDA
#include <cuda_pipeline.h>
#endif

namespace shellac {

// level.weights_along_x has two weights of interpolation of each point between coarse columns, at the place before it and at its
// own, without the gaps of level.weights. In a kept row they are those of the coarse points before and after it; in another row,
// those of the two coarse points after it, below and above. A row begins one place before the patch.
SHELLAC_HD size_t place_along_x(const Patch &patch, PetscInt i, PetscInt j) {
  return (size_t)(i + 1) + (size_t)(patch.size[0] + 1) * (size_t)j;
}
template <class T> struct SetWeightsAlongX {
  LevelPart<T> level;
  T           *weights_along_x;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt) const {
    const bool     between_x = level.between(0, i), between_y = level.between(1, j);
    const PetscInt p[3] = {between_x ? i : i + 1, j, 0},
                   c[3] = {between_x ? 1 : (PetscInt)between_y, between_x ? (PetscInt)between_y : 0, 0};
    weights_along_x[place_along_x(level.patch, i, j)] = level.weight(level.weights, p, c);
  }
};

// level.has_shift: whether a segment of a row has a shift that is not zero [rows][segments of a row].
constexpr PetscInt  shift_segment = 32; // points
SHELLAC_HD PetscInt shift_segments(const Patch &patch) {
  return (patch.size[0] + shift_segment - 1) / shift_segment;
}
template <class T> struct FindShifts {
  LevelPart<T> level;
  char        *has_shift;

  SHELLAC_HD void operator()(PetscInt segment, PetscInt j, PetscInt) const {
    const PetscInt begin = segment * shift_segment, end = PetscMin(begin + shift_segment, level.patch.size[0]),
                   p[3] = {begin, j, 0};
    const T *shift = level.rows + SHIFT * (size_t)level.grown.points() + level.grown.index(p);
    bool     any = false;
    for (PetscInt i = 0; i < end - begin; i++) any = any || shift[i] != T(0);
    has_shift[shift_segments(level.patch) * j + segment] = any;
  }
};

#if SHELLAC_CUDA
// Strips side by side, in tiles one below the other.
struct RowsPlan {
  PetscInt strips = 0, tiles = 0, rows = 0; // rows: of a tile

  SHELLAC_HD PetscInt64 blocks() const { return (PetscInt64)strips * tiles; }
};

// Kind: a PassKind; which axes are coarsened is read from the level.
template <class Kind, bool star, class T, class B> struct RowsShape {
  static constexpr int blocks = 2;                                             // of a multiprocessor
  static constexpr int columns = (star ? 256 : 192) / (sizeof(T) > 8 ? 2 : 1); // of a strip, with those that overlap
  static constexpr int width = columns + 2; // of rows that are read one column beyond their ends
  static constexpr int ahead = 2;           // rows that are being copied
  // Points around a part that its results depend on: from zero, the first step needs the couplings beside its points.
  static constexpr int reach = Kind::ghost + (Kind::starts && !Kind::corrected ? 0 : 1), written = columns - 2 * reach;
  static constexpr int behind = Kind::last + (Kind::restricts ? 1 : 0); // rows: the last use of b
  static constexpr int arms = star ? 2 : 4;                             // couplings of a point that are read
  static constexpr int lines = behind; // iterates whose neighbours are read, one a row behind
  // rows in shared memory
  static constexpr int depth = ahead + 1, e_depth = 4 /* a power of 2 */, u_depth = star ? 2 : 3;
  // values of T in shared memory
  static constexpr int of_rows = depth * (arms + 1) * width, of_guess = Kind::given ? depth * columns : 0,
                       of_prolong = Kind::corrected ? depth * 3 * width : 0,
                       of_e = Kind::corrected ? e_depth * width : 0,
                       of_restriction = Kind::restricts ? depth * 3 * width : 0, of_lines = lines * u_depth * width,
                       of_residuals = Kind::restricts ? u_depth * width : 0;
  static constexpr size_t bytes =
      (size_t)(of_rows + of_guess + of_prolong + of_e + of_restriction + of_lines + of_residuals) * sizeof(T) +
      (size_t)depth * columns * sizeof(B);
};

// Whether a block can have the shared memory that such passes with arrays of T need.
template <class T> bool has_memory_for_rows() {
  size_t     most = 0;
  const auto add = [&](auto kind) {
    most = PetscMax(most, (RowsShape<decltype(kind), true, T, PetscScalar>::bytes));
    most = PetscMax(most, (RowsShape<decltype(kind), false, T, PetscScalar>::bytes));
  };
  add(PassKind<true, false, true, true, true, 3>());
  add(PassKind<false, true, true, true, true, 3>());
  add(PassKind<true, true, false, true, true, 3>());
  return most <= most_shared_memory();
}

// at_once: blocks that the GPU runs at the same time
template <class Shape> RowsPlan plan_rows(const Patch &patch, PetscInt64 at_once) {
  constexpr PetscInt latency = 2 * Shape::reach + Shape::ahead + 4; // in rows, of a tile
  const PetscInt     height = patch.size[1];
  RowsPlan           plan;
  PetscInt64         least = PETSC_MAX_INT;

  plan.strips = (patch.size[0] + Shape::written - 1) / Shape::written;
  for (PetscInt64 rounds = 1; rounds * (latency + 1) < least; rounds++) { // with as many tiles as they take
    const PetscInt64 tiles = PetscMin(rounds * at_once / plan.strips, height),
                     rows = tiles ? (height + tiles - 1) / tiles : 0, time = rounds * (rows + latency);
    if (tiles && time < least) least = time, plan.rows = (PetscInt)rows;
    if (tiles == height) break;
  }
  plan.tiles = (height + plan.rows - 1) / plan.rows;
  return plan;
}

// A point's index along an axis, all of which is in the patch; negative where there is no such point.
__device__ __forceinline__ PetscInt place_on_axis(const Patch &patch, int a, PetscInt p) {
  const PetscInt N = patch.size[a];
  if (p >= 0 && p < N) return p;
  if (!patch.periodic[a]) return -1;
  p %= N;
  return p < 0 ? p + N : p;
}

// The index at which a walk along an axis begins, and the next one: only a periodic axis begins again.
__device__ __forceinline__ PetscInt counted_from(const Patch &patch, int a, PetscInt p) {
  return patch.periodic[a] ? place_on_axis(patch, a, p) : p;
}
__device__ __forceinline__ PetscInt counted_up(const Patch &patch, int a, PetscInt p) {
  return patch.periodic[a] && p + 1 == patch.size[a] ? 0 : p + 1;
}
__device__ __forceinline__ bool is_on_axis(const Patch &patch, int a, PetscInt p) {
  return p >= 0 && p < patch.size[a];
}

// Copies a value to shared memory, or zero where there is none; it is there after the thread has waited. In contrast to
// __pipeline_memcpy_async(), this one has no branch.
template <class T> __device__ __forceinline__ void copy_async(T *to, const T *from, bool there) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  *to = there ? *from : T(0);
#else
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from),
               "n"((int)sizeof(T)), "r"(there ? (int)sizeof(T) : 0)
               : "memory");
#endif
}

// Places of rows in a ring. They are counted up: remainders take more instructions, and ptxas 13.0 computes wrong addresses from
// them.
template <int depth> struct Ring {
  int now = 0;

  __device__ __forceinline__ int  before(int rows) const { return now >= rows ? now - rows : now - rows + depth; }
  __device__ __forceinline__ int  after(int rows) const { return now + rows < depth ? now + rows : now + rows - depth; }
  __device__ __forceinline__ void next() { now = after(1); }
};

// A point's shift and couplings, as far as its row has them; and the couplings of the next row's point with this row.
template <class T> struct Coefficients { T shift, east, west, north, nw, ne, next_sw, next_se; };

template <class Kind, bool star, class T, class B, class Out>
__global__
__launch_bounds__((RowsShape<Kind, star, T, B>::columns),
                  (RowsShape<Kind, star, T, B>::blocks)) void march_rows(const __grid_constant__ Pass<T, B, Out> pass,
                                                                         const __grid_constant__ RowsPlan        plan) {
  using R = typename RealOf<T>::type;
  using Shape = RowsShape<Kind, star, T, B>;
  constexpr int       steps = Kind::steps, last = Kind::last, behind = Shape::behind, width = Shape::width;
  constexpr int       columns = Shape::columns, ahead = Shape::ahead, arms = Shape::arms;
  constexpr int       row_size = (arms + 1) * width, u_depth = Shape::u_depth;
  const LevelPart<T> &level = pass.level;
  const Patch        &patch = level.patch;

  extern __shared__ double2 shared_memory[];
  T *const rows = reinterpret_cast<T *>(shared_memory), *const guess = rows + Shape::of_rows,
           *const prolong = guess + Shape::of_guess, *const e = prolong + Shape::of_prolong,
           *const restriction = e + Shape::of_e, *const lines = restriction + Shape::of_restriction,
           *const residuals = lines + Shape::of_lines;
  B *const        b = reinterpret_cast<B *>(residuals + Shape::of_residuals);

  const int      c = threadIdx.x; // this thread's column, and its place
  const PetscInt i_first = (PetscInt)(blockIdx.x % plan.strips) * Shape::written - Shape::reach, i = i_first + c,
                 j0 = (PetscInt)(blockIdx.x / plan.strips) * plan.rows, j1 = PetscMin(j0 + plan.rows, patch.size[1]),
                 first = j0 - Shape::reach, end = j1 + Kind::ghost + (Kind::restricts ? 1 : 0);
  const bool     writes = c >= Shape::reach && c < columns - Shape::reach && i < patch.size[0];
  const PetscInt i_there = place_on_axis(patch, 0, i), i_read[3] = {i_there < 0 ? 0 : i_there, 0, 0};
  const PetscInt i_along_x = i == -1 && !patch.periodic[0] ? -1 : i_there < 0 ? -2 : i_there;
  const bool     between = level.between(0, i), coarsens_x = level.coarsens[0], coarsens_y = level.coarsens[1];
  const PetscInt I = level.below(0, i), I_first = level.below(0, i_first);
  const size_t   points = (size_t)level.grown.points(), column = level.grown.index(i_read),
               column_along_x = place_along_x(patch, PetscMax(i_along_x, -1), 0);
  const PetscInt I_there = c < (coarsens_x ? columns / 2 + 2 : columns) && Kind::corrected
                               ? place_on_axis(pass.coarse_e, 0, I_first + c)
                               : -1;

  // the next rows to be copied: of the level, of weights of restriction, and of the coarse correction
  PetscInt j_next = counted_from(patch, 1, first), k_next = j_next,
           J_next = Kind::corrected ? counted_from(pass.coarse_e, 1, level.below(1, first)) : 0;
  bool       has_shift = false; // near this point of the next row
  const auto read_has_shift = [&]() {
    has_shift = i_there >= 0 && is_on_axis(patch, 1, j_next) &&
                level.has_shift[shift_segments(patch) * j_next + i_there / shift_segment];
  };
  Ring<Shape::depth> copied;
  Ring<u_depth>      iterates; // and residuals
  // of a row of points between coarse ones the weights of the coarse points below and above; of any row those along it
  const auto copy_weights = [&](T *to, const T *weights, bool is_between, PetscInt row) {
    const bool     there = is_on_axis(patch, 1, row);
    const PetscInt read = there ? row : 0;
    if (coarsens_x)
      copy_async(to, level.weights_along_x + column_along_x + (PetscInt64)(patch.size[0] + 1) * read,
                 i_along_x >= -1 && there);
    if (!is_between) return;
    const T *const from = weights + column + (PetscInt64)level.grown.size(0) * read;
    copy_async(to + width, from, i_there >= 0 && there);
    copy_async(to + 2 * width, from + (coarsens_x ? 2 : 1) * points, i_there >= 0 && there);
  };
  const auto e_row = [&](PetscInt J) { return e + (J & (Shape::e_depth - 1)) * width; }; // J may be negative
  // begins to copy row n of this walk, and what goes with it, which is so many rows ahead
  const auto copy_row = [&](int n, int rows_ahead) {
    const PetscInt j = first + n, j_read = is_on_axis(patch, 1, j_next) ? j_next : 0;
    const bool     there = i_there >= 0 && is_on_axis(patch, 1, j_next);
    const int      slot = copied.after(rows_ahead);
    T *const       row = rows + slot * row_size + c + 1;
    const T *const from = level.rows + column + (PetscInt64)level.grown.size(0) * j_read;
    const size_t   own = (size_t)i_read[0] + patch.stride(1) * (size_t)j_read;
    copy_async(row, from + SHIFT * points, there && has_shift);
    // along the row and up, of a box also the two oblique ones up; see Neighbours::each()
    copy_async(row + width, from + (FIRST_COUPLING + (star ? 1 : 4)) * points, there);
    copy_async(row + 2 * width, from + (FIRST_COUPLING + (star ? 3 : 6)) * points, there);
    if (!star) {
      copy_async(row + 3 * width, from + (FIRST_COUPLING + 5) * points, there);
      copy_async(row + 4 * width, from + (FIRST_COUPLING + 7) * points, there);
    }
    copy_async(b + slot * columns + c, pass.b.u + own, there);
    if (Kind::given) copy_async(guess + slot * columns + c, pass.guess.u + own, there);
    if (Kind::corrected) {
      const bool is_between = level.between(1, j);
      copy_weights(prolong + slot * 3 * width + c + 1, level.weights, is_between, j_next);
      const auto copy_e = [&](PetscInt J) {
        const bool in = I_there >= 0 && is_on_axis(pass.coarse_e, 1, J_next);
        if (c < (coarsens_x ? columns / 2 + 2 : columns))
          copy_async(e_row(J) + c, pass.e.u + (in ? pass.coarse_e.index(I_there, J_next, 0) : 0), in);
        J_next = counted_up(pass.coarse_e, 1, J_next);
      };
      const PetscInt J = level.below(1, j);
      if (n == 0 || !coarsens_y) copy_e(J);
      if (is_between) copy_e(J + 1);
    }
    if (Kind::restricts && n > behind) { // of the row whose residuals are restricted then
      copy_weights(restriction + slot * 3 * width + c + 1, level.restriction, level.between(1, j - behind - 1), k_next);
      k_next = counted_up(patch, 1, k_next);
    }
    j_next = counted_up(patch, 1, j_next);
    read_has_shift();
  };

  // Rows times their masses are symmetric. Jacobi's method is the same for them, and restriction needs no masses then.
  T          next_mass = 0;
  const auto read_mass = [&](int n) {
    const PetscInt j_there = place_on_axis(patch, 1, first + n), p[3] = {i_read[0], j_there, 0};
    next_mass = i_there < 0 || j_there < 0 ? T(0) : level.mass[level.grown.index(p)];
  };
  const auto weigh = [&](int n) { // of row n, what this thread has copied
    const T  mass = next_mass;
    T *const row = rows + copied.now * row_size + c + 1;
    read_mass(n + 1);
#pragma unroll
    for (int a = 0; a <= arms; a++) row[a * width] *= mass;
    b[copied.now * columns + c] = (B)(mass * (T)b[copied.now * columns + c]);
  };

  wait_for_kernel_before();
  let_next_kernel_begin();
  if (level.mass) read_mass(0);
  read_has_shift();
  LastValues<T, 3>                        u[steps + 1]; // of each step
  LastValues<T, behind + 1>               inverse;      // of the diagonal
  LastValues<Coefficients<T>, behind + 2> coefficients;
  LastValues<T, behind + 1>               right;   // values of b
  T                                       sum = 0; // of the coarse value that is not yet complete
  const auto                              line_before = [&](int s, int lag) {
    return lines + ((Kind::starts ? s : s - 1) * u_depth + iterates.before(lag)) * width + c + 1;
  };
#pragma unroll
  for (int n = 0; n < ahead; n++) {
    copy_row(n, n);
    __pipeline_commit();
  }
  const int count = (int)(end - first);
  for (int n = 0; n < count; n++) {
    const PetscInt j = first + n;
    __pipeline_wait_prior(ahead - 1);
    if (level.mass) weigh(n);
    __syncthreads();
    if (n + ahead < count) copy_row(n + ahead, ahead);
    __pipeline_commit();

    if (Kind::restricts && n > behind) { // the residuals of the turn before
      const PetscInt row = j - behind - 1, kept = level.between(1, row) ? row - 1 : row;
      const T *const r = residuals + iterates.before(1) * width + c + 1;
      const T *const w = restriction + copied.now * 3 * width + c + 1;
      if (writes && !between) {
        T lower, upper = 0; // towards the coarse rows below and above
        if (kept == row) {
          lower = r[0];
          if (coarsens_x) lower += w[0] * r[1] + w[-1] * r[-1];
        } else {
          lower = w[width] * r[0], upper = w[2 * width] * r[0];
          if (coarsens_x) {
            lower += w[width + 1] * r[1] + w[-2] * r[-1];
            upper += w[2 * width + 1] * r[1] + w[-1] * r[-1];
          }
        }
        const bool complete = !coarsens_y || kept != row;
        sum = (coarsens_y ? sum : T(0)) + lower;
        const PetscInt J = level.below(1, kept);
        const bool     is_coarse = I >= 0 && I < pass.coarse_b.size[0] && J >= 0 && J < pass.coarse_b.size[1];
        if (complete && kept >= j0 && kept < j1 && is_coarse) pass.b_coarse[pass.coarse_b.index(I, J, 0)] = sum;
        if (complete && coarsens_y) sum = upper;
      }
    }

    {
      const T *const  row = rows + copied.now * row_size + c + 1;
      Coefficients<T> of = {row[0], row[width], row[width - 1], row[2 * width], 0, 0, 0, 0};
      if (!star)
        of.nw = row[3 * width], of.ne = row[4 * width], of.next_sw = row[4 * width - 1],
        of.next_se = row[3 * width + 1];
      coefficients.add(of);
      right.add((T)b[copied.now * columns + c]);
    }
    {
      const Coefficients<T> &here = coefficients[0], &below = coefficients[1];
      T                      diagonal = here.shift + (here.east + here.west + (here.north + below.north));
      if (!star) diagonal += here.nw + here.ne + (below.next_sw + below.next_se);
      inverse.add(diagonal == T(0) ? T(0) : R(1) / diagonal);
    }
    // b - A u of `lag` rows ago
    const auto residual = [&](int lag, const LastValues<T, 3> &v, int s) {
      const Coefficients<T> &here = coefficients[lag], &below = coefficients[lag + 1];
      const T *const         now = line_before(s, 1);
      T                      r = right[lag] - here.shift * v[1];
      r += below.north * (v[2] - v[1]);
      r += here.north * (v[0] - v[1]);
      T along = here.west * (now[-1] - v[1]); // a sum of its own, which need not wait
      along += here.east * (now[1] - v[1]);
      if (!star) {
        const T *const newer = line_before(s, 0), *const older = line_before(s, 2);
        r += here.nw * (newer[-1] - v[1]);
        r += here.ne * (newer[1] - v[1]);
        along += below.next_sw * (older[-1] - v[1]);
        along += below.next_se * (older[1] - v[1]);
      }
      r += along;
      return r;
    };
    if (Kind::starts) {
      T value = Kind::given ? guess[copied.now * columns + c] : T(0);
      if (Kind::corrected) {
        const T *const w = prolong + copied.now * 3 * width + c + 1;
        const PetscInt J = level.below(1, j);
        const T *const lower = e_row(J) + (I - I_first), *const upper = e_row(J + 1) + (I - I_first);
        T correction;
        if (!level.between(1, j)) {
          correction = between ? w[-1] * lower[0] + w[0] * lower[1] : inverse[0] == T(0) ? T(0) : lower[0];
        } else {
          correction = w[width] * lower[0] + w[2 * width] * upper[0];
          if (between) correction += w[-1] * lower[1] + w[0] * upper[1];
        }
        value += correction;
      }
      u[0].add(value);
      *line_before(0, 0) = value;
    }
#pragma unroll
    for (int s = 1; s <= steps; s++) {
      const int lag = Kind::starts ? s : s - 1;
      T         value;
      if (!Kind::starts && s == 1) {
        value = level.omega[0] * inverse[0] * right[0];
      } else {
        if (!star) __syncthreads();
        value = u[s - 1][1] + level.omega[s - 1] * inverse[lag] * residual(lag, u[s - 1], s - 1);
      }
      u[s].add(value);
      if (s < steps || Kind::restricts) *line_before(s, 0) = value;
    }
    const PetscInt done = j - last;
    if (writes && done >= j0 && done < j1) pass.out[patch.index(i, done, 0)] = (Out)u[steps][0];
    if (Kind::restricts) {
      if (!star) __syncthreads();
      const T r = residual(behind, u[steps], steps);
      residuals[iterates.now * width + c + 1] = inverse[behind] == T(0) ? T(0) : r; // to a point that stays as it is
    }
    copied.next(), iterates.next();
  }
  __pipeline_wait_prior(0);
}

template <class Kind, bool star, class T, class B, class Out> PetscErrorCode run_rows(const Pass<T, B, Out> &pass) {
  using Shape = RowsShape<Kind, star, T, B>;
  constexpr auto kernel = march_rows<Kind, star, T, B, Out>;
  static int     blocks = 0; // of a multiprocessor

  PetscFunctionBegin;
  if (!blocks) {
    PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)Shape::bytes));
    PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, Shape::columns, Shape::bytes));
    PetscCheck(blocks, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a pass over rows needs %zu bytes of shared memory",
               Shape::bytes);
  }
  const RowsPlan plan = plan_rows<Shape>(pass.level.patch, (PetscInt64)multiprocessors() * blocks);
  PetscCall(launch_in_chain(kernel, plan.blocks(), Shape::columns, Shape::bytes, pass, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
template <class T> bool has_memory_for_rows() {
  return false;
}
#endif

} // namespace shellac
