#pragma once
// Two smoothing steps in one pass over a large level of three dimensions on a GPU, where variable coefficients are a
// symmetric star. A block of threads has a tile of columns, one a thread, and walks along the third axis. The second
// step follows one plane behind the first. What points need from other columns is in shared memory. Blocks overlap by
// the points that two steps use up. Loads are begun two planes ahead. From the guess zero there is a step more, which
// takes no neighbours: it is done as values are loaded.

#include "multigrid/gpu/plane_blocks.hpp"
#include "multigrid/gpu/variable_columns.hpp"
#include "multigrid/gpu/variable_march.hpp"

namespace shellac {

template <bool from_zero> struct RowPlanes {
  static constexpr int columns = 32, rows = from_zero ? 20 : 24, threads = columns * rows; // as registers allow
  static constexpr int written_columns = columns - 4, written_rows = rows - 4;
  static constexpr int steps = from_zero ? 3 : 2;
  static constexpr int width = columns + 2,
                       plane = width * (rows + 2); // values in shared memory, with those beside the tile
  static constexpr int    arrays = 8;              // of a plane
  static constexpr size_t bytes = (size_t)arrays * plane * sizeof(double); // of shared memory, at most
};
constexpr PetscInt   least_planes = 4;
constexpr PetscInt64 points_in_planes = 4000000; // of a level, at least; smaller ones are as fast column by column

#if SHELLAC_CUDA
// The index of a point along an axis; of one far beyond an end that of the last, `beyond` that end.
__device__ __forceinline__ PetscInt place_near(const Patch &patch, int a, PetscInt p, PetscInt beyond) {
  const PetscInt N = patch.size[a];
  return patch.periodic[a] ? place_on_axis(patch, a, p) : PetscMin(PetscMax(p, -beyond), N - 1 + beyond);
}

template <bool from_zero, class T>
__global__ void __launch_bounds__(RowPlanes<from_zero>::threads, 1)
    step_over_planes(const __grid_constant__ VariableLevel<T> level, const __grid_constant__ RowsArrays<T> arrays,
                     const __grid_constant__ PlaneBlocks plan, int step, const T *u, const T *b, T *out) {
  using R = typename RealOf<T>::type;
  using Shape = RowPlanes<from_zero>;
  constexpr int             width = Shape::width;
  extern __shared__ double2 shared_memory[];
  // of even and odd turns: values before the first step, after it; couplings along the first axis and the second
  T *const all_u = reinterpret_cast<T *>(shared_memory), *const all_v = all_u + 2 * Shape::plane;
  T *const all_east = all_v + 2 * Shape::plane, *const all_north = all_east + 2 * Shape::plane;
  const Patch   &patch = level.patch;
  const PetscInt nz = patch.size[2];
  const unsigned block = blockIdx.x, above = block / (unsigned)plan.blocks[0];
  const int      tx = (int)threadIdx.x % Shape::columns, ty = (int)threadIdx.x / Shape::columns,
            mine = (ty + 1) * width + tx + 1;
  const PetscInt i = (PetscInt)(block % (unsigned)plan.blocks[0]) * Shape::written_columns - 2 + tx,
                 j = (PetscInt)(above % (unsigned)plan.blocks[1]) * Shape::written_rows - 2 + ty;
  const PetscInt k0 = (PetscInt)(above / (unsigned)plan.blocks[1]) * plan.planes, k1 = PetscMin(k0 + plan.planes, nz);
  const bool     writes =
      tx >= 2 && tx < Shape::columns - 2 && ty >= 2 && ty < Shape::rows - 2 && i < patch.size[0] && j < patch.size[1];
  // Beyond ends arrays of `grown` have zeros: no value there matters, and those of the last point inside are read.
  const PetscInt p[3] = {place_near(patch, 0, i, 0), place_near(patch, 1, j, 0), 0};
  const PetscInt p_row[3] = {place_near(patch, 0, i, 2), place_near(patch, 1, j, 2), 0};
  const PetscInt row = (PetscInt)level.grown.index(p_row), layer = level.grown.size(0) * level.grown.size(1);
  const PetscInt own = (PetscInt)patch.index(p[0], p[1], 0), plane = (PetscInt)patch.stride(2);
  const T *const inverse = level.rows + INVERSE_DIAGONAL * (size_t)level.grown.points();

  wait_for_kernel_before();
  let_next_kernel_begin();
  const PetscInt turn_of_planes = patch.periodic[2] ? nz : 0;
  const auto     place = [&](PetscInt k,
                         PetscInt beyond) { // as place_near(), for the next planes beyond an end, without branches
    const PetscInt q = k + (k < 0 ? turn_of_planes : 0) - (k >= nz ? turn_of_planes : 0);
    return PetscMin(PetscMax(q, -beyond), nz - 1 + beyond);
  };
  // of this column in plane k: its places in rows, and in vectors
  const auto row_at = [&](PetscInt k) { return row + layer * place(k, 2); };
  const auto own_at = [&](PetscInt k) { return own + plane * place(k, 0); };
  // What values before the first step come from, and such a value: no load shall wait for another.
  const auto of_u = [&](PetscInt k) { return unchanging(from_zero ? inverse + row_at(k) : u + own_at(k)); };
  const auto value = [&](T loaded, T right) { return from_zero ? level.omega[step] * loaded * right : loaded; };
  const auto of_b = [&](PetscInt k) { return unchanging(b + own_at(k)); };
  const auto of_shift = [&](PetscInt k) { return unchanging(arrays.shift + row_at(k)); };
  const auto of_east = [&](PetscInt k) { return unchanging(arrays.arm[0] + row_at(k)); };
  const auto of_north = [&](PetscInt k) { return unchanging(arrays.arm[1] + row_at(k)); };
  const auto of_top = [&](PetscInt k) { return unchanging(arrays.arm[2] + row_at(k)); };
  const R first_omega = level.omega[step + (from_zero ? 1 : 0)], second_omega = level.omega[step + (from_zero ? 2 : 1)];

  // In turn k the first step is done in plane k, and the second in plane k - 1. Names say how many planes on a value is.
  PetscInt k = k0 - 1;
  T        b_here = of_b(k), b_1 = of_b(k + 1), b_2 = from_zero ? of_b(k + 2) : T(0);
  T        u_before = value(of_u(k - 1), from_zero ? of_b(k - 1) : T(0)), u_here = value(of_u(k), b_here),
    u_1 = value(of_u(k + 1), b_1), of_u_2 = of_u(k + 2);
  T top_before = of_top(k - 1), top_here = of_top(k), top_1 = of_top(k + 1), top_second = 0;
  T east_1 = of_east(k + 1), north_1 = of_north(k + 1), shift_here = of_shift(k), shift_1 = of_shift(k + 1);
  // of the second step: values after the first, b less the shift's part, couplings to the four neighbours in the plane,
  // weight
  T v_before = 0, v_here = 0, rest = 0, to_east = 0, to_west = 0, to_north = 0, to_south = 0, weight = 0;
  for (int n = (int)threadIdx.x; n < Shape::arrays * Shape::plane; n += Shape::threads) all_u[n] = 0;
  __syncthreads();
  all_u[mine] = u_here, all_east[mine] = of_east(k), all_north[mine] = of_north(k);
  __syncthreads();
  const auto turn = [&](auto parity) {
    constexpr int  now = decltype(parity)::value * Shape::plane, next = Shape::plane - now;
    const T        b_new = of_b(k + (from_zero ? 3 : 2)), east_new = of_east(k + 2), north_new = of_north(k + 2),
            top_new = of_top(k + 2), of_u_new = of_u(k + 3), shift_new = of_shift(k + 2);
    const T *const at = all_u + now + mine, *const e = all_east + now + mine, *const n = all_north + now + mine;
    const T        diagonal = shift_here + (e[0] + e[-1] + (n[0] + n[-width]) + (top_here + top_before));
    const T        own_inverse = inverse_of(diagonal);
    const T        r = residual_of(b_here, shift_here, u_here, e[0], at[1], e[-1], at[-1], n[0], at[width], n[-width],
                                   at[-width], top_here, u_1, top_before, u_before);
    const T        v = jacobi_step(u_here, first_omega * own_inverse, r);
    const T *const after = all_v + next + mine;
    const T        s = add_fluxes(rest, v_here, to_east, after[1], to_west, after[-1], to_north, after[width], to_south,
                                  after[-width], top_before, v, top_second, v_before);
    if (writes && k > k0) out[own + plane * (k - 1)] = jacobi_step(v_here, weight, s);
    rest = residual_of(b_here, shift_here, v), weight = second_omega * own_inverse;
    to_east = e[0], to_west = e[-1], to_north = n[0], to_south = n[-width];
    all_v[now + mine] = v, all_u[next + mine] = u_1, all_east[next + mine] = east_1, all_north[next + mine] = north_1;
    v_before = v_here, v_here = v;
    u_before = u_here, u_here = u_1, u_1 = value(of_u_2, b_2), of_u_2 = of_u_new;
    top_second = top_before, top_before = top_here, top_here = top_1, top_1 = top_new;
    east_1 = east_new, north_1 = north_new, shift_here = shift_1, shift_1 = shift_new;
    b_here = b_1, b_1 = from_zero ? b_2 : b_new, b_2 = b_new;
    k++;
    __syncthreads();
  };
  while (true) { // four turns, after which all values are in the registers where they were
    turn(std::integral_constant<int, 0>());
    if (k > k1) break;
    turn(std::integral_constant<int, 1>());
    if (k > k1) break;
    turn(std::integral_constant<int, 0>());
    if (k > k1) break;
    turn(std::integral_constant<int, 1>());
    if (k > k1) break;
  }
}

// out = u after RowPlanes::steps steps, from `step` on
template <bool from_zero, class T>
PetscErrorCode run_step_over_planes(const VariableLevel<T> &level, int step, const T *u, const T *b, T *out) {
  using Shape = RowPlanes<from_zero>;
  constexpr auto    kernel = step_over_planes<from_zero, T>;
  constexpr size_t  bytes = (size_t)Shape::arrays * Shape::plane * sizeof(T);
  const PlaneBlocks plan = plan_planes(level.patch, Shape::written_columns, Shape::written_rows, 4, 64, 1);

  PetscFunctionBegin;
  PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  PetscCall(launch_in_chain(kernel, plan.count(), Shape::threads, bytes, level, rows_arrays<true>(level), plan, step, u,
                            b, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

// Whether a block can have the shared memory.
inline bool has_memory_for_row_planes() {
#if SHELLAC_CUDA
  return most_shared_memory() >= RowPlanes<false>::bytes;
#else
  return false;
#endif
}

} // namespace shellac
