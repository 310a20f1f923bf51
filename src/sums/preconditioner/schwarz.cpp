// Application of the Schwarz method, where the vectors are.

#include "sums/preconditioner/schwarz.hpp"

#include <algorithm>

#include "device/arrays.hpp"
#include "device/chain.hpp"
#include "device/warp.hpp"
#include "sums/regions.hpp"

namespace shellac {

template <class T> static void free_memory(Mirror<T> *array) {
  Mirror<T> none;
  none.swap(array);
}

PetscErrorCode Schwarz::Reset() {
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&to_near_));
  PetscCall(PetscSFDestroy(&to_cores_));
  PetscCall(PetscLayoutDestroy(&layout_));
  PetscCall(MatDestroy(&A_));
  free_memory(&blocks_);
  free_memory(&inverse_);
  free_memory(&coarse_inverse_);
  for (Mirror<PetscInt> *list : {&where_, &first_, &columns_}) free_memory(list);
  coarse_count_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// What one block adds: y = rows · near, and Gᴴ y where it is symmetric.
struct BlockProducts {
  const Schwarz::Block *blocks;
  const PetscScalar    *inverse, *near;
  const PetscInt       *where;
  int                   scalars;
  bool                  symmetric;
  PetscScalar *to; // symmetric: a term for each column of each block; else the boxes' values, among those of `near`

  SHELLAC_HD size_t place(const Schwarz::Block &block, PetscInt j) const {
    return (size_t)where[block.at + (size_t)(j / scalars)] * scalars + j % scalars;
  }
};

#if SHELLAC_CUDA
constexpr int product_threads = 256;

// A block of threads each. The second product reads rows that the first one has left in the second cache.
__global__ void __launch_bounds__(product_threads) multiply_blocks(const __grid_constant__ BlockProducts p) {
  extern __shared__ __align__(16) unsigned char room[];
  const Schwarz::Block                         &block = p.blocks[blockIdx.x];
  const PetscInt                                rows = block.rows, columns = block.columns;
  const PetscScalar                            *values = p.inverse + block.values;
  PetscScalar                                  *in = reinterpret_cast<PetscScalar *>(room), *y = in + columns;
  const int                                     t = (int)threadIdx.x, lane = t % 32;

  for (PetscInt j = t; j < columns; j += product_threads) in[j] = p.near[p.place(block, j)];
  __syncthreads();
  for (PetscInt i = t / 32 * 4; i < rows; i += product_threads / 32 * 4) { // four rows of a warp
    PetscScalar sums[4] = {0, 0, 0, 0};
    const int   n = (int)PetscMin(4, rows - i);
    for (PetscInt j = lane; j < columns; j += 32) {
      const PetscScalar x = in[j];
#pragma unroll
      for (int q = 0; q < 4; q++)
        if (q < n) {
          const PetscScalar a = values[(size_t)(i + q) * columns + j];
          sums[q] += (p.symmetric ? PetscConj(a) : a) * x;
        }
    }
#pragma unroll
    for (int q = 0; q < 4; q++) {
      for (int half = 16; half; half /= 2) sums[q] += shuffled(sums[q], lane ^ half);
      if (lane == 0 && q < n) y[i + q] = sums[q];
    }
  }
  __syncthreads();
  if (p.symmetric)
    for (PetscInt j = t; j < columns; j += product_threads) {
      PetscScalar sum = 0;
#pragma unroll 8
      for (PetscInt i = 0; i < rows; i++) sum += values[(size_t)i * columns + j] * y[i];
      p.to[block.at * p.scalars + (size_t)j] = sum;
    }
  else
    for (PetscInt i = t; i < rows; i += product_threads) p.to[p.place(block, columns - rows + i)] = y[i];
}
#endif

PetscErrorCode multiply_on_host(const BlockProducts &p, size_t count) {
  const PetscScalar        one = 1, zero = 0;
  const PetscBLASInt       step = 1;
  std::vector<PetscScalar> in, y;

  PetscFunctionBegin;
  for (const Schwarz::Block *block = p.blocks; block < p.blocks + count; block++) {
    const PetscScalar *values = p.inverse + block->values;
    PetscBLASInt       rows, columns;
    PetscCall(PetscBLASIntCast(block->rows, &rows));
    PetscCall(PetscBLASIntCast(block->columns, &columns));
    in.resize(block->columns);
    y.resize(block->rows);
    for (PetscInt j = 0; j < block->columns; j++) in[j] = p.near[p.place(*block, j)];
    PetscCallBLAS("BLASgemv", BLASgemv_(p.symmetric ? "C" : "T", &columns, &rows, &one, values, &columns, in.data(),
                                        &step, &zero, y.data(), &step));
    if (p.symmetric)
      PetscCallBLAS("BLASgemv", BLASgemv_("N", &columns, &rows, &one, values, &columns, y.data(), &step, &zero,
                                          p.to + block->at * p.scalars, &step));
    else
      for (PetscInt i = 0; i < block->rows; i++) p.to[p.place(*block, columns - rows + i)] = y[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct AddTerms { // of all blocks that have a point
  const PetscScalar *terms;
  const PetscInt    *first, *columns;
  int                scalars;
  PetscScalar       *to;

  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    const PetscInt point = i / scalars, part = i % scalars;
    PetscScalar    sum = 0;
    for (PetscInt c = first[point]; c < first[point + 1]; c++) sum += terms[(size_t)columns[c] * scalars + part];
    to[i] = sum;
  }
};

} // namespace

bool Schwarz::fits_in(PetscMemType memory) const {
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) return bytes_of_product() <= most_shared_memory();
#else
  (void)memory;
#endif
  return true;
}

PetscErrorCode Schwarz::ApplyBoxes(Vec r, Vec z) {
  constexpr int      reals = sizeof(PetscScalar) / sizeof(PetscReal);
  const size_t       held = (size_t)held_ * scalars_;
  Arrays             arrays;
  const PetscScalar *in;
  PetscScalar       *out;
  BlockProducts      products;

  PetscFunctionBegin;
  if (symmetric_) PetscCall(VecSet(z, 0));
  PetscCall(arrays.Read(r, &in));
  PetscCall(symmetric_ ? arrays.ReadWrite(z, &out) : arrays.Write(z, &out));
  const PetscMemType memory = arrays.memory();
  PetscCall(near_.Grow(held, memory));
  PetscCall(ToRegion(to_near_, memory, reals * scalars_, (const PetscReal *)in, (PetscReal *)near_.at(memory)));
  PetscCall(terms_.Grow(symmetric_ ? where_.size() * scalars_ : held, memory));
  PetscCall(blocks_.Get(memory, &products.blocks));
  PetscCall(inverse_.Get(memory, &products.inverse));
  PetscCall(where_.Get(memory, &products.where));
  products.near = near_.at(memory);
  products.scalars = scalars_;
  products.symmetric = symmetric_;
  products.to = terms_.at(memory);
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory) && blocks_.size()) {
    const size_t bytes = bytes_of_product();
    cudaStream_t stream;
    PetscCheck(fits_in(memory), PETSC_COMM_SELF, PETSC_ERR_SUP, too_large, most_columns_ / scalars_);
    if (bytes > 48 * 1024)
      PetscCallCUDA(cudaFuncSetAttribute(multiply_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    PetscCall(current_stream(&stream));
    multiply_blocks<<<(unsigned)blocks_.size(), product_threads, bytes, stream>>>(products);
    PetscCallCUDA(cudaGetLastError());
  }
#endif
  if (PetscMemTypeHost(memory)) PetscCall(multiply_on_host(products, blocks_.size()));
  if (symmetric_) {
    AddTerms add = {terms_.at(memory), nullptr, nullptr, scalars_, near_.at(memory)};
    PetscCall(first_.Get(memory, &add.first));
    PetscCall(columns_.Get(memory, &add.columns));
    PetscCall(for_each(memory, line_of(held), add));
    PetscCall(AddFromRegion(to_near_, memory, near_.at(memory), out)); // of real kernels: a scalar for each point
  } else                                                               // every point is in one box
    PetscCall(FromRegion(to_cores_, memory, reals * scalars_, (const PetscReal *)terms_.at(memory), (PetscReal *)out));
  PetscCall(log_flops(memory, (symmetric_ ? 4. : 2.) * (PetscLogDouble)inverse_.size()));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Schwarz::CheckLayout(Vec r) const {
  PetscLayout layout;
  PetscBool   same;

  PetscFunctionBegin;
  PetscCall(VecGetLayout(r, &layout));
  PetscCall(PetscLayoutCompare(layout, layout_, &same));
  PetscCheck(same, comm_, PETSC_ERR_ARG_SIZ,
             "-pc_type kernelsum was set up for %" PetscInt_FMT " values, and is given %" PetscInt_FMT
             ", or as many that are distributed otherwise: the matrix has other points; call "
             "PCSetReusePreconditioner(pc, PETSC_FALSE)",
             layout_->N, layout->N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Schwarz::Apply(Vec r, Vec z) {
  PetscFunctionBegin;
  PetscCall(CheckLayout(r));
  PetscCall(ApplyBoxes(r, z));
  if (coarse_count_) PetscCall(ApplyCoarse(r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Schwarz::ApplyTranspose(Vec r, Vec z) {
  Vec conjugate = r;

  PetscFunctionBegin;
  PetscCheck(symmetric_, comm_, PETSC_ERR_SUP,
             "-pc_type kernelsum: the restricted variant has no transpose; use a method that needs none, as -ksp_type "
             "gmres, or, where the matrix is positive definite, -pc_kernelsum_variant symmetric");
  PetscCall(CheckLayout(r));
  if (PetscDefined(USE_COMPLEX)) { // Hermitian: the transpose is the complex conjugate
    PetscCall(VecDuplicate(r, &conjugate));
    PetscCall(VecCopy(r, conjugate));
    PetscCall(VecConjugate(conjugate));
  }
  PetscCall(ApplyBoxes(conjugate, z));
  PetscCall(VecConjugate(z));
  if (conjugate != r) PetscCall(VecDestroy(&conjugate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Schwarz::View(PetscViewer viewer) const {
  PetscLogDouble bytes = sizeof(PetscScalar) * (PetscLogDouble)(inverse_.size() + coarse_inverse_.size());

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm_));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "%s\n",
      raised_ ? "symmetric variant: a sparse Cholesky factor of the inverse, a constant added, for MINRES and GMRES"
      : symmetric_ ? "symmetric variant: a sparse Cholesky factor of the inverse, for CG and every other method"
                   : "restricted variant: restricted additive Schwarz, not symmetric, for GMRES and BiCGStab"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " boxes, each solved with the %" PetscInt_FMT, boxes_,
                                   overlap_[0]));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE)); // the line goes on
  if (overlap_[1] > overlap_[0]) PetscCall(PetscViewerASCIIPrintf(viewer, " to %" PetscInt_FMT, overlap_[1]));
  PetscCall(PetscViewerASCIIPrintf(viewer, " points around it%s; condition number of a box: %.2g or more\n",
                                   symmetric_ ? " among the boxes before" : "", (double)condition_));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscCall(PetscViewerASCIIPrintf(viewer, "rounding may leave a relative residual |b - A x|/|b| of up to about %.1g, most "
                                           "of it for b that are not smooth, also where the method reports less\n",
                                   (double)rounding()));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "a rank has %" PetscInt_FMT " of the %" PetscInt_FMT " points in and around its boxes, at most\n",
      most_held_, points_));
  if (!symmetric_)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " coarse points%s\n", coarse_count_,
                                     coarse_count_ ? ", solved after the boxes" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "computed where the vectors are; bytes stored: %.0f\n", bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
