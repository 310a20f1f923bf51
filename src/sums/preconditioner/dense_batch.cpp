// Cholesky factors of many matrices at a time. All of them take the same steps, one block of columns after another, so
// that nearly all work is batched products of cuBLAS. The diagonal blocks are inverted, which turns the triangular
// solves into products (N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 14.2).

#include "sums/preconditioner/dense_batch.hpp"

#include <algorithm>

#include "device/cublas.hpp"
#include "device/launch.hpp"

namespace shellac {

namespace {

constexpr PetscInt width = sizeof(PetscScalar) > 8 ? 32 : 64; // of a block of columns

#if SHELLAC_CUDA
// The factor of each matrix' block of the diagonal, in place, and its inverse, a block of threads each. Zeros above.
__global__ void __launch_bounds__(256)
    factor_blocks(PetscInt w, PetscScalar *matrices, size_t lead, size_t stride, PetscScalar *inverses, int *bad) {
  __shared__ PetscScalar a[width][width + 1]; // a[column][row]
  PetscScalar           *from = matrices + blockIdx.x * stride, *to = inverses + blockIdx.x * (size_t)(width * width);
  const int              t = (int)threadIdx.x, n = (int)w;

  for (int e = t; e < n * n; e += 256) a[e / n][e % n] = from[(e / n) * lead + e % n];
  __syncthreads();
  for (int j = 0; j < n; j++) {
    const PetscReal d = PetscRealPart(a[j][j]);
    if (!(d > 0)) { // the same for all threads
      if (t == 0) bad[blockIdx.x] = 1;
      return;
    }
    const PetscReal root = PetscSqrtReal(d);
    __syncthreads();
    for (int i = j + t; i < n; i += 256) a[j][i] = i == j ? (PetscScalar)root : a[j][i] / root;
    __syncthreads();
    const int rest = n - 1 - j;
    for (int e = t; e < rest * rest; e += 256) {
      const int k = j + 1 + e / rest, i = j + 1 + e % rest;
      if (i >= k) a[k][i] -= a[j][i] * PetscConj(a[j][k]);
    }
    __syncthreads();
  }
  for (int e = t; e < n * n; e += 256)
    if (e % n >= e / n) from[(e / n) * lead + e % n] = a[e / n][e % n];
  for (int j = n - 1; j >= 0; j--) { // column j of the inverse, of those after it
    const PetscScalar inverse = (PetscReal)1 / a[j][j];
    PetscScalar       sum = 0;
    for (int k = j + 1; k <= j + t && j + t < n; k++) sum += a[k][j + t] * a[j][k];
    __syncthreads();
    if (j + t < n) a[j][j + t] = t == 0 ? inverse : -sum * inverse;
    __syncthreads();
  }
  for (int e = t; e < (int)width * (int)width; e += 256) {
    const int j = e / (int)width, i = e % (int)width;
    to[e] = i < n && j < n && i >= j ? a[j][i] : (PetscScalar)0;
  }
}
#endif

PetscErrorCode factor_on_host(PetscBLASInt w, PetscScalar *a, PetscBLASInt lead, PetscScalar *inverse, int *bad) {
  const PetscScalar  one = 1;
  const PetscBLASInt ld = (PetscBLASInt)width;
  PetscBLASInt       info;

  PetscFunctionBegin;
  PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("L", &w, a, &lead, &info));
  if (info) *bad = 1;
  std::fill_n(inverse, (size_t)width * width, (PetscScalar)0);
  if (info) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscBLASInt j = 0; j < w; j++) inverse[j * (width + 1)] = 1;
  PetscCallBLAS("BLAStrsm", BLAStrsm_("L", "L", "N", "N", &w, &w, &one, a, &lead, inverse, &ld));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Copy { // of matrices
  Batch           from, to;
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt b) const {
    to.values[i + (size_t)j * to.lead + (size_t)b * to.stride] =
        from.values[i + (size_t)j * from.lead + (size_t)b * from.stride];
  }
};
struct SetUnit { // ones where row + first = column
  Batch           to;
  PetscInt        first;
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt b) const {
    to.values[i + (size_t)j * to.lead + (size_t)b * to.stride] = i + first == j ? 1 : 0;
  }
};
struct SetPointers {
  Batch           of[2];
  PetscScalar   **to[2];
  SHELLAC_HD void operator()(PetscInt b, PetscInt which, PetscInt) const {
    to[which][b] = of[which].values + (size_t)b * of[which].stride;
  }
};

} // namespace

size_t DenseBatch::bytes_of(PetscInt order) {
  const size_t whole = (size_t)(order + width - 1) / width * width;
  return whole * whole * sizeof(PetscScalar);
}

PetscErrorCode DenseBatch::Create(PetscMemType where, PetscInt order, PetscInt many) {
  PetscFunctionBegin;
  memory = where;
  n = order;
  count = many;
  PetscCall(matrices_.Grow((size_t)n * n * count, memory));
  PetscCall(failed_.Grow((size_t)count, memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// a = L Lᴴ, by blocks of columns, from the left
PetscErrorCode DenseBatch::Factor() {
  const Batch    a = matrices();
  const PetscInt blocks = (n + width - 1) / width;

  PetscFunctionBegin;
  PetscCall(diagonal_.Grow((size_t)blocks * width * width * count, memory));
  PetscCall(panel_.Grow((size_t)n * width * count, memory));
  for (PetscInt j = 0; j < n; j += width) {
    const PetscInt w = PetscMin(width, n - j), below = n - j - w;
    PetscScalar   *inverses = diagonal_.at(memory) + (size_t)(j / width) * width * width * count;
    const Batch    inverse = {inverses, (size_t)width, (size_t)width * width};
    if (j)
      PetscCall(MultiplyBatch(memory, 'N', 'C', n - j, w, j, -1, a.part(j, 0), a.part(j, 0), 1, a.part(j, j), count));
    const Batch block = a.part(j, j);
#if SHELLAC_CUDA
    if (PetscMemTypeDevice(memory)) {
      cudaStream_t stream;
      PetscCall(current_stream(&stream));
      factor_blocks<<<(unsigned)count, 256, 0, stream>>>(w, block.values, block.lead, block.stride, inverses,
                                                         failed_.at(memory));
      PetscCallCUDA(cudaGetLastError());
    }
#endif
    for (PetscInt b = 0; PetscMemTypeHost(memory) && b < count; b++)
      PetscCall(factor_on_host((PetscBLASInt)w, block.values + (size_t)b * block.stride, (PetscBLASInt)block.lead,
                               inverses + (size_t)b * width * width, failed_.at(memory) + b));
    if (!below) break;
    const Batch panel = {panel_.at(memory), (size_t)below, (size_t)below * width};
    PetscCall(MultiplyBatch(memory, 'N', 'C', below, w, w, 1, a.part(j + w, j), inverse, 0, panel, count));
    PetscCall(for_each_of_box(memory, {{0, 0, 0}, {below, w, count}}, Copy{panel, a.part(j + w, j)}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// By blocks of rows, from below: X_J = L_JJ⁻ᴴ (E_J - Σ_I L_IJᴴ X_I)
PetscErrorCode DenseBatch::OfCholesky(PetscInt k, Batch *columns) {
  const Batch a = matrices();

  PetscFunctionBegin;
  PetscCall(failed_.Zero(memory));
  PetscCall(Factor());
  PetscCall(columns_.Grow((size_t)n * k * count, memory));
  PetscCall(panel_.Grow((size_t)width * k * count, memory));
  const Batch x = {columns_.at(memory), (size_t)n, (size_t)n * k};
  for (PetscInt j = (n - 1) / width * width; j >= 0; j -= width) {
    const PetscInt w = PetscMin(width, n - j), below = n - j - w;
    const Batch    panel = {panel_.at(memory), (size_t)w, (size_t)w * k};
    const Batch    inverse = {diagonal_.at(memory) + (size_t)(j / width) * width * width * count, (size_t)width,
                              (size_t)width * width};
    PetscCall(for_each_of_box(memory, {{0, 0, 0}, {w, k, count}}, SetUnit{panel, j - (n - k)}));
    if (below)
      PetscCall(MultiplyBatch(memory, 'C', 'N', w, k, below, -1, a.part(j + w, j), x.part(j + w, 0), 1, panel, count));
    PetscCall(MultiplyBatch(memory, 'C', 'N', w, k, w, 1, inverse, panel, 0, x.part(j, 0), count));
  }
  *columns = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DenseBatch::OfInverse(PetscInt k, Batch *columns) {
  const Batch a = matrices();

  PetscFunctionBegin;
  PetscCall(failed_.Zero(memory));
  PetscCall(pivots_.Grow((size_t)n * count, memory));
  PetscCall(columns_.Grow((size_t)n * k * count, memory));
  const Batch x = {columns_.at(memory), (size_t)n, (size_t)n * k};
  *columns = x;
  PetscCall(for_each_of_box(memory, {{0, 0, 0}, {n, k, count}}, SetUnit{x, -(n - k)}));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    cublasHandle_t handle;
    int            wrong;
    PetscCall(pointers_.Grow(2 * (size_t)count, memory));
    PetscScalar **of_a = pointers_.at(memory), **of_x = of_a + count;
    PetscCall(for_each(memory, line_of(count, 2), SetPointers{{a, x}, {of_a, of_x}}));
    PetscCall(PetscCUBLASGetHandle(&handle));
    PetscCallCUBLAS(SHELLAC_CUBLAS(getrfBatched)(handle, (int)n, reinterpret_cast<CudaScalar **>(of_a), (int)n,
                                                 pivots_.at(memory), failed_.at(memory), (int)count));
    PetscCallCUBLAS(SHELLAC_CUBLAS(getrsBatched)(handle, CUBLAS_OP_T, (int)n, (int)k,
                                                 reinterpret_cast<CudaScalar **>(of_a), (int)n, pivots_.at(memory),
                                                 reinterpret_cast<CudaScalar **>(of_x), (int)n, &wrong, (int)count));
    PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_LIB, "getrsBatched of cuBLAS: argument %d is wrong", -wrong);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  std::vector<PetscBLASInt> pivots(n);
  PetscBLASInt              order, many, info;
  PetscCall(PetscBLASIntCast(n, &order));
  PetscCall(PetscBLASIntCast(k, &many));
  for (size_t b = 0; b < (size_t)count && n; b++) {
    PetscScalar *matrix = a.values + b * a.stride;
    PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&order, &order, matrix, &order, pivots.data(), &info));
    failed_.at(memory)[b] = info != 0;
    if (info) continue;
    PetscCallBLAS("LAPACKgetrs", LAPACKgetrs_("T", &order, &many, matrix, &order, pivots.data(),
                                              x.values + b * x.stride, &order, &info));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
