#include "device/batch.hpp"

#include "device/cublas.hpp"
#include "device/scalars.hpp"

// BLAS' product in single precision, of which PETSc declares none
#if defined(PETSC_BLASLAPACK_CAPS)
#define SHELLAC_BLAS(x, X) PETSC_PASTE2(X, PETSC_BLASLAPACK_SUFFIX_)
#else
#define SHELLAC_BLAS(x, X) PETSC_PASTE2(x, PETSC_BLASLAPACK_SUFFIX_)
#endif
#if defined(PETSC_USE_COMPLEX)
#define SHELLAC_GEMM SHELLAC_BLAS(cgemm, CGEMM)
#else
#define SHELLAC_GEMM SHELLAC_BLAS(sgemm, SGEMM)
#endif

#if !defined(PETSC_USE_REAL_SINGLE)
extern "C" void SHELLAC_GEMM(const char *, const char *, const PetscBLASInt *, const PetscBLASInt *,
                             const PetscBLASInt *, const shellac::Single *, const shellac::Single *,
                             const PetscBLASInt *, const shellac::Single *, const PetscBLASInt *,
                             const shellac::Single *, shellac::Single *, const PetscBLASInt *);
#endif

namespace shellac {

template <class T>
PetscErrorCode MultiplyBatch(PetscMemType memory, char op_a, char op_b, PetscInt m, PetscInt n, PetscInt k,
                             Plain<T> alpha, const BatchOf<T> &a, const BatchOf<T> &b, Plain<T> beta,
                             const BatchOf<T> &c, PetscInt count) {
  constexpr bool is_single = !std::is_same<T, PetscScalar>::value;

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  if (!m || !n || !count) PetscFunctionReturn(PETSC_SUCCESS);
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const auto     op = [](char c) { return c == 'N' ? CUBLAS_OP_N : CUBLAS_OP_C; };
    cublasHandle_t handle;
    PetscCall(PetscCUBLASGetHandle(&handle));
    const auto run = [&](auto multiply, auto *one) { // one: of cuBLAS' type
      using Of = decltype(one);
      return multiply(handle, op(op_a), op(op_b), (int)m, (int)n, (int)k, (Of)&alpha, (Of)a.values, (int)a.lead,
                      (long long)a.stride, (Of)b.values, (int)b.lead, (long long)b.stride, (Of)&beta, (Of)c.values,
                      (int)c.lead, (long long)c.stride, (int)count);
    };
    if constexpr (!is_single)
      PetscCallCUBLAS(run(SHELLAC_CUBLAS(gemmStridedBatched), (CudaScalar *)nullptr));
    else if constexpr (std::is_same<T, float>::value)
      PetscCallCUBLAS(run(cublasSgemmStridedBatched, (float *)nullptr));
    else
      PetscCallCUBLAS(run(cublasCgemmStridedBatched, (cuComplex *)nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscBLASInt sizes[3], leads[3];
  for (int which = 0; which < 3; which++) {
    const PetscInt size[] = {m, n, k}, lead[] = {(PetscInt)a.lead, (PetscInt)b.lead, (PetscInt)c.lead};
    PetscCall(PetscBLASIntCast(size[which], &sizes[which]));
    PetscCall(PetscBLASIntCast(lead[which], &leads[which]));
  }
  for (size_t i = 0; i < (size_t)count; i++) {
    const auto run = [&](auto multiply) {
      multiply(&op_a, &op_b, &sizes[0], &sizes[1], &sizes[2], &alpha, a.values + i * a.stride, &leads[0],
               b.values + i * b.stride, &leads[1], &beta, c.values + i * c.stride, &leads[2]);
    };
    if constexpr (is_single)
      PetscCallBLAS("gemm", run(SHELLAC_GEMM));
    else
      PetscCallBLAS("BLASgemm", run(BLASgemm_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SHELLAC_MULTIPLY(T)                                                                                            \
  template PetscErrorCode MultiplyBatch(PetscMemType, char, char, PetscInt, PetscInt, PetscInt, Plain<T>,              \
                                        const BatchOf<T> &, const BatchOf<T> &, Plain<T>, const BatchOf<T> &,          \
                                        PetscInt);
SHELLAC_MULTIPLY(PetscScalar)
#if !defined(PETSC_USE_REAL_SINGLE)
SHELLAC_MULTIPLY(Single)
#endif

} // namespace shellac
