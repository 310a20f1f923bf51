#pragma once
// The solution by modes (see direct.hpp) of a level of two axes on a GPU, where the modes of both are sines: of up to
// 128 x 128 points. Modes are even or odd functions about the middle of an axis, so that half of each axis is enough:
// the level falls into four quarters of 64 x 64, by parity along x and y. One cluster of 16 blocks solves them. Block
// n has columns 4n to 4n + 3 of each quarter, then as many rows, then columns again; eight warps multiply a matrix of
// 2 x 64 x 64 entries, both parities', by 2 x 8 of them, with tensor cores. Products from the left go with columns,
// those from the right with rows.

#include "device/chain.hpp"
#include "multigrid/axis.hpp"
#include "multigrid/coarse/mode_planes.hpp"

namespace shellac {

constexpr PetscInt quarter_axis = 64; // points along a quarter's axis, at most

// Plain data, to be given to a kernel.
struct QuarterFactors {
  int              n[2];        // points
  const double    *matrices[2]; // of each axis: see MakeQuarterMatrices
  const PetscReal *values[2];   // eigenvalues
  double           sigma;
};

// The halves of an axis' modes, as lanes need them: [into modes, back][warps][k][lanes][2]. A warp multiplies 16 rows
// of one parity's matrix; in step k a lane has the entries (row, column) and (row + 8, column), with row = lane / 4
// and column = 4 k + lane % 4.
struct MakeQuarterMatrices {
  static constexpr int  steps = quarter_axis / 4, warps = 2 * quarter_axis / 16, size = 2 * warps * steps * 64;
  int                   n;
  double               *matrices;
  SHELLAC_HD static Box all() { return {{0, 0, 0}, {64, steps, 2 * warps}}; }
  SHELLAC_HD void       operator()(PetscInt entry, PetscInt k, PetscInt warp) const {
          const PetscInt lane = entry / 2, row = 16 * (warp % (warps / 2)) + lane / 4 + 8 * (entry % 2),
                         column = 4 * k + lane % 4, parity = warp / (warps / 2) % 2;
          const bool     back = warp >= warps;
          const PetscInt mode = 2 * (back ? column : row) + parity, point = back ? row : column;
          // the middle of an odd number of points belongs to even modes alone
          const bool in = mode < n && 2 * point + 1 + parity <= n;
          matrices[(warp * steps + k) * 64 + entry] = in ? (double)SineModes::vector(n, mode, point) : 0.;
  }
};

#if SHELLAC_CUDA
namespace quarter {

constexpr int blocks = 16, threads = 32 * MakeQuarterMatrices::warps, near = quarter_axis / blocks;
constexpr int half = quarter_axis * 2 * near, values = 2 * half; // of an array: [parity][quarter_axis][2 near]

// c (16 x 8) += a (16 x 16) b (16 x 8). a[s]: of step s.
__device__ __forceinline__ void multiply_add(const double2 a[4], const double b[4], double c[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0].x), "d"(a[0].y), "d"(a[1].x), "d"(a[1].y), "d"(a[2].x), "d"(a[2].y), "d"(a[3].x), "d"(a[3].y),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#endif
}
// Until all blocks are here, and what they wrote to each other is there.
__device__ __forceinline__ void meet() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
// A place in shared memory, as asm takes it: this block's, and another's.
__device__ __forceinline__ unsigned place_of(const void *near) {
#if defined(__CUDA_ARCH__)
  return (unsigned)__cvta_generic_to_shared(near);
#else
  return 0;
#endif
}
__device__ __forceinline__ unsigned place_in(int block, unsigned place) {
  unsigned there = place;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place), "r"(block));
#endif
  return there;
}
// Counts the bytes that other blocks give to this one, by one thread.
__device__ __forceinline__ void expect(unsigned long long *count, int bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;\n\t"
               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place_of(count)),
               "r"(bytes)
               : "memory");
#endif
}
// *near = value in another block, which counts it.
__device__ __forceinline__ void give(int block, double *near, double value, unsigned long long *count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(
                   place_in(block, place_of(near))),
               "d"(value), "r"(place_in(block, place_of(count)))
               : "memory");
#endif
}
__device__ __forceinline__ void wait_for_all(unsigned long long *count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n\t.reg .pred done;\n\tagain:\n\t"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n\t@!done bra again;\n\t}" ::"r"(
          place_of(count))
      : "memory");
#endif
}

struct Rows { // of a matrix, a warp's
  double2 v[MakeQuarterMatrices::steps];
};
__device__ __forceinline__ Rows rows_of(const double *matrices, bool back) {
  const int   warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  const auto *from = reinterpret_cast<const double2 *>(matrices) +
                     ((back ? MakeQuarterMatrices::warps : 0) + warp) * MakeQuarterMatrices::steps * 32 + lane;
  Rows rows;
#pragma unroll
  for (int k = 0; k < MakeQuarterMatrices::steps; k++) rows.v[k] = from[32 * k];
  return rows;
}
// Of row k and column n in half an array: so that no two lanes that read together meet in a bank.
__device__ __forceinline__ int place(int k, int n) {
  return k * 2 * near + (n ^ (k / 2 % 2 * near));
}
// in: of the warp's parity. A lane gets c[0] at (lane / 4, 2 (lane % 4)), c[1] beside it, c[2] and c[3] eight rows
// below.
__device__ __forceinline__ void multiply(const Rows &rows, const double *in, double c[4]) {
  const int lane = (int)threadIdx.x % 32;
  double    sums[2][4] = {};
#pragma unroll
  for (int k = 0; k < MakeQuarterMatrices::steps; k += 4) {
    double b[4];
#pragma unroll
    for (int q = 0; q < 4; q++) b[q] = in[place(4 * (k + q) + lane % 4, lane / 4)];
    multiply_add(rows.v + k, b, sums[k / 4 % 2]);
  }
#pragma unroll
  for (int q = 0; q < 4; q++) c[q] = sums[0][q] + sums[1][q];
}

template <class T>
__global__ __launch_bounds__(threads) void solve(const __grid_constant__ QuarterFactors f, const T *b, T *x) {
  __shared__ double             folded[values], columns[values], modes[values], points[values], parts[values];
  __shared__ unsigned long long counts[2];
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, block = (int)blockIdx.x, parity = warp / 4;
  const int row = 16 * (warp % 4) + lane / 4, column = 2 * (lane % 4); // of this lane's values
  const int nx = f.n[0], ny = f.n[1];
  double    inverse[4], c[4];

  // what does not depend on the kernel before; matrices for y first
  Rows into = rows_of(f.matrices[1], false), back = rows_of(f.matrices[0], true);
#pragma unroll
  for (int q = 0; q < 4; q++) {
    const int n = column + q % 2, of_x = 2 * (row + q / 2 * 8) + parity,
              of_y = 2 * (near * block + n % near) + n / near;
    const double value = of_x < nx && of_y < ny ? f.values[0][of_x] + f.values[1][of_y] + f.sigma : 0;
    inverse[q] = value == 0 ? 0 : 1 / value;
  }
  if (threadIdx.x == 0)
    for (unsigned long long &count : counts) expect(&count, values * (int)sizeof(double));
  meet(); // before anyone writes to another's memory
  wait_for_kernel_before();
  let_next_kernel_begin();

  // sums and differences of the values at a point and at its mirror images
  const int here = (int)threadIdx.x % near, i = near * block + here, j = (int)threadIdx.x / near, other_i = nx - 1 - i,
            other_j = ny - 1 - j;
  const bool in = i <= other_i && j <= other_j, two_x = i < other_i, two_y = j < other_j;
  T          v[2][2] = {{0, 0}, {0, 0}};
  if (in) {
    v[0][0] = b[j * nx + i];
    if (two_x) v[0][1] = b[j * nx + other_i];
    if (two_y) v[1][0] = b[other_j * nx + i];
    if (two_x && two_y) v[1][1] = b[other_j * nx + other_i];
  }
  const double even = (double)v[0][0] + (double)v[0][1], odd = (double)v[0][0] - (double)v[0][1],
               other_even = (double)v[1][0] + (double)v[1][1], other_odd = (double)v[1][0] - (double)v[1][1];
  const int even_place = place(j, here), odd_place = place(j, near + here);
  folded[even_place] = even + other_even, folded[odd_place] = odd + other_odd;
  folded[half + even_place] = even - other_even, folded[half + odd_place] = odd - other_odd;
  __syncthreads();

  // columns become rows, or rows columns: those of both parities of the other axis are beside each other
  const auto exchange = [&](double *array, unsigned long long *count) {
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int k = row + q / 2 * 8, n = column + q % 2;
      give(k / near, array + n / near * half + place(near * block + n % near, parity * near + k % near), c[q], count);
    }
    wait_for_all(count);
  };
  const auto keep = [&](double *array) {
#pragma unroll
    for (int q = 0; q < 4; q++) array[parity * half + place(row + q / 2 * 8, column + q % 2)] = c[q];
    __syncthreads();
  };
  multiply(into, folded + parity * half, c); // modes of y
  if (f.matrices[0] != f.matrices[1]) into = rows_of(f.matrices[0], false);
  exchange(columns, &counts[0]);
  multiply(into, columns + parity * half, c); // modes of x
#pragma unroll
  for (int q = 0; q < 4; q++) c[q] *= inverse[q];
  keep(modes);
  multiply(back, modes + parity * half, c); // points of x
  if (f.matrices[0] != f.matrices[1]) back = rows_of(f.matrices[1], true);
  exchange(points, &counts[1]);
  multiply(back, points + parity * half, c); // points of y
  keep(parts);
  if (!in) return;
  const double ee = parts[even_place], eo = parts[odd_place], oe = parts[half + even_place],
               oo = parts[half + odd_place];
  x[j * nx + i] = (T)((ee + eo) + (oe + oo));
  if (two_x) x[j * nx + other_i] = (T)((ee - eo) + (oe - oo));
  if (two_y) x[other_j * nx + i] = (T)((ee + eo) - (oe + oo));
  if (two_x && two_y) x[other_j * nx + other_i] = (T)((ee - eo) - (oe - oo));
}

} // namespace quarter
#endif

// Whether a GPU solves a level of these axes in quarters: real ones that are too long for one plane.
template <class T> bool is_solved_in_quarters(const Axis axes[3]) {
#if SHELLAC_CUDA
  if constexpr (std::is_floating_point<T>::value) {
    static const bool can = []() {
      cudaFuncAttributes  attributes;
      cudaLaunchConfig_t  config = {};
      cudaLaunchAttribute together = {};
      const auto          kernel = quarter::solve<T>;
      int                 clusters = 0;
      if (attribute_of_gpu(cudaDevAttrComputeCapabilityMajor) < 9 ||
          cudaFuncGetAttributes(&attributes, (const void *)kernel) != cudaSuccess || attributes.ptxVersion < 90)
        return false;
      together.id = cudaLaunchAttributeClusterDimension;
      together.val.clusterDim.x = quarter::blocks, together.val.clusterDim.y = together.val.clusterDim.z = 1;
      config.gridDim = dim3(quarter::blocks);
      config.blockDim = dim3(quarter::threads);
      config.attrs = &together;
      config.numAttrs = 1;
      const bool fits =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess &&
          cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess && clusters > 0;
      (void)cudaGetLastError();
      return fits;
    }();
    const PetscInt nx = axes[0].N(), ny = axes[1].N();
    return can && axes[2].N() == 1 && nx <= 2 * quarter_axis && ny <= 2 * quarter_axis &&
           (nx > plane_axis || ny > plane_axis) && sine_modes(axes[0]).N && sine_modes(axes[1]).N;
  }
#endif
  (void)axes;
  return false;
}

#if SHELLAC_CUDA
// The level's solution, where is_solved_in_quarters().
template <class T> PetscErrorCode solve_in_quarters(const QuarterFactors &f, const T *b, T *x) {
  return launch_clusters_in_chain(quarter::solve<T>, quarter::blocks, quarter::blocks, quarter::threads, 0, f, b, x);
}
#endif

} // namespace shellac
