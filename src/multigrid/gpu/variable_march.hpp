#pragma once
// The fused pass on a GPU over a level in 2-D with symmetric variable coefficients, where the rank has the whole level.
// A block of threads walks along the second axis over a strip of columns, one a thread. Rows of coefficients and of b
// are copied to shared memory a few rows ahead. Each thread keeps its own column's values in registers until all steps
// have used them: step s works s rows behind the first. Of two equal couplings only one is read, and diagonals are
// added up again.
//
// A point's data are b, 2 couplings of a star or 4 of a box, 2 weights of interpolation, and its shift.
//
// The loop over rows is unrolled by the depth of the rings of rows in shared memory, so that places in them are
// constants. From remainders, ptxas 13.0 computes wrong addresses.

#include "multigrid/gpu/variable_plan.hpp"

#if SHELLAC_CUDA
#include <cuda_pipeline.h>

namespace shellac {

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

// A point's shift and couplings, as far as its row has them; and the couplings of the next row's point with this row.
template <class T> struct Coefficients { T shift, east, west, north, nw, ne, next_sw, next_se; };

// Where arrays of a level begin, added up by the host. Threads add indices of type PetscInt to them, see
// has_indices_for_rows().
template <class T> struct RowsArrays {
  const T *shift, *arm[4]; // along the row and up; of a star in 3-D along the third axis, of a box the two oblique ones
  const T *along_x, *lower, *upper, *to_lower, *to_upper; // weights of interpolation, and of restriction
};

template <bool star, class T> RowsArrays<T> rows_arrays(const VariableLevel<T> &level) {
  const size_t  points = (size_t)level.grown.points(), upper = level.coarsens[0] ? 2 : 1;
  const int     arm[4] = {star ? 1 : 4, star ? 3 : 6, 5, 7}; // see Neighbours::each()
  RowsArrays<T> arrays = {};

  arrays.shift = level.rows + SHIFT * points;
  for (int a = 0; a < (star ? 3 : 4); a++) arrays.arm[a] = level.rows + (FIRST_COUPLING + arm[a]) * points;
  arrays.along_x = level.weights_along_x;
  arrays.lower = level.weights, arrays.upper = level.weights + upper * points;
  arrays.to_lower = level.restriction, arrays.to_upper = level.restriction + upper * points;
  return arrays;
}

template <class Kind, bool star, class T>
__global__ __launch_bounds__((RowsShape<Kind, star, T>::columns), (RowsShape<Kind, star, T>::blocks)) void march_rows(
    const __grid_constant__ VariablePass<T> pass, const __grid_constant__ RowsPlan plan,
    const __grid_constant__ RowsArrays<T> arrays) {
  using R = typename RealOf<T>::type;
  using Shape = RowsShape<Kind, star, T>;
  constexpr int           steps = Kind::steps, last = Kind::last, behind = Shape::behind, width = Shape::width;
  constexpr int           columns = Shape::columns, ahead = Shape::ahead, arms = Shape::arms, depth = Shape::depth;
  constexpr int           row_size = (arms + 1) * width;
  const VariableLevel<T> &level = pass.level;
  const Patch            &patch = level.patch;

  extern __shared__ double2 shared_memory[];
  T *const rows = reinterpret_cast<T *>(shared_memory), *const guess = rows + Shape::of_rows,
           *const prolong = guess + Shape::of_guess, *const e = prolong + Shape::of_prolong,
           *const restriction = e + Shape::of_e, *const lines = restriction + Shape::of_restriction,
           *const residuals = lines + Shape::of_lines, *const b = residuals + Shape::of_residuals;

  const int      c = threadIdx.x; // this thread's column, and its place
  const PetscInt i_first = (PetscInt)(blockIdx.x % plan.strips) * Shape::written - Shape::reach, i = i_first + c,
                 j0 = (PetscInt)(blockIdx.x / plan.strips) * plan.rows, j1 = PetscMin(j0 + plan.rows, patch.size[1]),
                 first = j0 - Shape::reach, end = j1 + Kind::ghost + (Kind::restricts ? 1 : 0);
  const bool     writes = c >= Shape::reach && c < columns - Shape::reach && i < patch.size[0];
  const PetscInt i_there = place_on_axis(patch, 0, i), i_read[3] = {i_there < 0 ? 0 : i_there, 0, 0};
  const PetscInt i_along_x = i == -1 && !patch.periodic[0] ? -1 : i_there < 0 ? -2 : i_there;
  const bool     coarsens_x = level.coarsens[0], coarsens_y = level.coarsens[1];
  const bool     between = level.between(0, i), in_x = i_there >= 0, in_along_x = i_along_x >= -1 && coarsens_x;
  const PetscInt I = level.below(0, i), I_first = level.below(0, i_first), Nx = patch.size[0];
  const PetscInt column = (PetscInt)level.grown.index(i_read), grown_size = level.grown.size(0),
                 column_along_x = PetscMax(i_along_x, -1) + 1;
  const int      e_columns = coarsens_x ? columns / 2 + 2 : columns;
  const PetscInt I_there = c < e_columns && Kind::corrected ? place_on_axis(pass.coarse_e, 0, I_first + c) : -1;
  const PetscInt I_read = PetscMax(I_there, 0), N_e = pass.coarse_e.size[0], N_coarse = pass.coarse_b.size[0];
  const bool     is_coarse_x = writes && !between && I >= 0 && I < N_coarse;

  // the next rows to be copied: of the level, of weights of restriction, and of the coarse correction
  PetscInt j_next = counted_from(patch, 1, first), k_next = j_next,
           J_next = Kind::corrected ? counted_from(pass.coarse_e, 1, level.below(1, first)) : 0;
  const auto copy_weights = [&](T *to, const T *lower, const T *upper, bool is_between, PetscInt row) {
    const bool     there = is_on_axis(patch, 1, row);
    const PetscInt read = there ? row : 0;
    if (coarsens_x) copy_async(to, arrays.along_x + (column_along_x + (Nx + 1) * read), in_along_x && there);
    if (!is_between) return;
    const PetscInt at = column + grown_size * read;
    copy_async(to + width, lower + at, in_x && there);
    copy_async(to + 2 * width, upper + at, in_x && there);
  };
  const auto e_row = [&](PetscInt J) { return e + ((int)J & (Shape::e_depth - 1)) * width; }; // J may be negative
  // Both begin to copy row n of this walk, which is j_next: the first what set-up has made, the second what the kernels
  // before have.
  const auto copy_fixed = [&](int n, int slot, PetscInt j_next) {
    const PetscInt j = first + n;
    const bool     row_there = is_on_axis(patch, 1, j_next), there = in_x && row_there;
    const PetscInt at = column + grown_size * (row_there ? j_next : 0);
    T *const       row = rows + slot * row_size + c + 1;
    copy_async(row, arrays.shift + at, there);
#pragma unroll
    for (int a = 0; a < arms; a++) copy_async(row + (a + 1) * width, arrays.arm[a] + at, there);
    if (Kind::corrected)
      copy_weights(prolong + slot * 3 * width + c + 1, arrays.lower, arrays.upper, level.between(1, j), j_next);
    if (Kind::restricts && n > behind) { // of the row whose residuals are restricted then
      copy_weights(restriction + slot * 3 * width + c + 1, arrays.to_lower, arrays.to_upper,
                   level.between(1, j - behind - 1), k_next);
      k_next = counted_up(patch, 1, k_next);
    }
  };
  const auto copy_values = [&](int n, int slot, PetscInt j_next) {
    const bool     row_there = is_on_axis(patch, 1, j_next), there = in_x && row_there;
    const PetscInt own = i_read[0] + Nx * (row_there ? j_next : 0);
    copy_async(b + slot * columns + c, pass.b.u + own, there);
    if (Kind::given) copy_async(guess + slot * columns + c, pass.guess.u + own, there);
    if (Kind::corrected) {
      const auto copy_e = [&](PetscInt J) {
        const bool in = is_on_axis(pass.coarse_e, 1, J_next);
        if (c < e_columns) copy_async(e_row(J) + c, pass.e.u + (I_read + N_e * (in ? J_next : 0)), in && I_there >= 0);
        J_next = counted_up(pass.coarse_e, 1, J_next);
      };
      const PetscInt J = level.below(1, first + n);
      if (n == 0 || !coarsens_y) copy_e(J);
      if (level.between(1, first + n)) copy_e(J + 1);
    }
  };

  // Rows times their masses are symmetric. Jacobi's method is the same for them, and restriction needs no masses then.
  T          next_mass = 0; // of any point where there is none: what it scales is zero there
  PetscInt   m_next = counted_from(patch, 1, first);
  const auto read_mass = [&]() {
    next_mass = level.mass[column + grown_size * (is_on_axis(patch, 1, m_next) ? m_next : 0)];
    m_next = counted_up(patch, 1, m_next);
  };
  const auto weigh = [&](int slot) { // what this thread has copied
    const T  mass = next_mass;
    T *const row = rows + slot * row_size + c + 1;
    read_mass();
#pragma unroll
    for (int a = 0; a <= arms; a++) row[a * width] *= mass;
    b[slot * columns + c] *= mass;
  };

  if (level.mass) read_mass();
  PetscInt at_row[ahead];
#pragma unroll
  for (int n = 0; n < ahead; n++) {
    at_row[n] = j_next;
    copy_fixed(n, n, j_next);
    j_next = counted_up(patch, 1, j_next);
  }
  wait_for_kernel_before();
  let_next_kernel_begin();
  LastValues<T, 3>                        u[steps + 1]; // of each step
  LastValues<T, behind + 1>               inverse;      // of the diagonal
  LastValues<Coefficients<T>, behind + 2> coefficients;
  LastValues<T, behind + 1>               right;   // values of b
  T                                       sum = 0; // of the coarse value that is not yet complete
#pragma unroll
  for (int n = 0; n < ahead; n++) {
    copy_values(n, n, at_row[n]);
    __pipeline_commit();
  }
  const int  count = (int)(end - first);
  const auto turn = [&](int n, auto place) {
    constexpr int  now = decltype(place)::value;
    const PetscInt j = first + n;
    const auto     line_before = [&](int s, int lag) {
      return lines + ((Kind::starts ? s : s - 1) * depth + (now + depth - lag) % depth) * width + c + 1;
    };
    __pipeline_wait_prior(ahead - 1);
    if (level.mass) weigh(now);
    __syncthreads();
    if (n + ahead < count) {
      copy_fixed(n + ahead, (now + ahead) % depth, j_next);
      copy_values(n + ahead, (now + ahead) % depth, j_next);
      j_next = counted_up(patch, 1, j_next);
    }
    __pipeline_commit();

    if (Kind::restricts && n > behind) { // the residuals of the turn before
      const PetscInt row = j - behind - 1, kept = level.between(1, row) ? row - 1 : row;
      const T *const r = residuals + (now + depth - 1) % depth * width + c + 1;
      const T *const w = restriction + now * 3 * width + c + 1;
      if (is_coarse_x) {
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
        if (complete && kept >= j0 && kept < j1 && J >= 0 && J < pass.coarse_b.size[1])
          pass.b_coarse[I + N_coarse * J] = sum;
        if (complete && coarsens_y) sum = upper;
      }
    }

    {
      const T *const  row = rows + now * row_size + c + 1;
      Coefficients<T> of = {row[0], row[width], row[width - 1], row[2 * width], 0, 0, 0, 0};
      if (!star)
        of.nw = row[3 * width], of.ne = row[4 * width], of.next_sw = row[4 * width - 1],
        of.next_se = row[3 * width + 1];
      coefficients.add(of);
      right.add(b[now * columns + c]);
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
      const T *const         line = line_before(s, 1);
      T                      r = residual_of(right[lag], here.shift, v[1], below.north, v[2], here.north, v[0]);
      T                      along = flux(here.west, line[-1], v[1]); // a sum of its own, which need not wait
      along = add_fluxes(along, v[1], here.east, line[1]);
      if (!star) {
        const T *const newer = line_before(s, 0), *const older = line_before(s, 2);
        along = add_fluxes(along, v[1], below.next_sw, older[-1], below.next_se, older[1]);
        r = add_fluxes(r, v[1], here.nw, newer[-1], here.ne, newer[1]);
      }
      return r + along;
    };
    if (Kind::starts) {
      T value = Kind::given ? guess[now * columns + c] : T(0);
      if (Kind::corrected) {
        const T *const w = prolong + now * 3 * width + c + 1;
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
        // Each step of a box waits for all threads. It leaves out rows that no result depends on.
        const int margin = steps - s + (Kind::restricts ? 2 : 0);
        if (star || (j - lag >= j0 - margin && j - lag < j1 + margin)) {
          if (!star) __syncthreads();
          value = jacobi_step(u[s - 1][1], level.omega[s - 1] * inverse[lag], residual(lag, u[s - 1], s - 1));
        } else
          value = 0;
      }
      u[s].add(value);
      if (s < steps || Kind::restricts) *line_before(s, 0) = value;
    }
    const PetscInt done = j - last;
    if (writes && done >= j0 && done < j1) pass.out[i + Nx * done] = u[steps][0];
    if (Kind::restricts && (star || (j - behind >= j0 - 1 && j - behind <= j1))) {
      if (!star) __syncthreads();
      const T r = residual(behind, u[steps], steps);
      residuals[now * width + c + 1] = inverse[behind] == T(0) ? T(0) : r; // to a point that stays as it is
    }
  };
  static_assert(depth == 4, "as many turns as places in a ring");
  for (int n = 0;;) {
    turn(n, std::integral_constant<int, 0>());
    if (++n == count) break;
    turn(n, std::integral_constant<int, 1>());
    if (++n == count) break;
    turn(n, std::integral_constant<int, 2>());
    if (++n == count) break;
    turn(n, std::integral_constant<int, 3>());
    if (++n == count) break;
  }
  __pipeline_wait_prior(0);
}

template <class Kind, bool star, class T> PetscErrorCode launch_rows(const VariablePass<T> &pass) {
  using Shape = RowsShape<Kind, star, T>;
  constexpr auto kernel = march_rows<Kind, star, T>;
  static int     blocks = 0; // of a multiprocessor

  PetscFunctionBegin;
  if (!blocks) {
    PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)Shape::bytes));
    PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, Shape::columns, Shape::bytes));
    PetscCheck(blocks, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a pass over rows needs %zu bytes of shared memory",
               Shape::bytes);
  }
  const RowsPlan plan = plan_rows<Shape>(pass.level.patch, (PetscInt64)multiprocessors() * blocks);
  PetscCall(
      launch_in_chain(kernel, plan.blocks(), Shape::columns, Shape::bytes, pass, plan, rows_arrays<star>(pass.level)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Kind, class T> PetscErrorCode run_rows(const VariablePass<T> &pass) {
  return pass.level.neighbours.star ? launch_rows<Kind, true>(pass) : launch_rows<Kind, false>(pass);
}

} // namespace shellac
#endif
