#include "device/batch.hpp"

#include "device/cublas.hpp"

namespace shellac {

PetscErrorCode MultiplyBatch(PetscMemType memory, char op_a, char op_b, PetscInt m, PetscInt n, PetscInt k,
                             PetscScalar alpha, const Batch &a, const Batch &b, PetscScalar beta, const Batch &c,
                             PetscInt count) {
  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  if (!m || !n || !count) PetscFunctionReturn(PETSC_SUCCESS);
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const auto     op = [](char c) { return c == 'N' ? CUBLAS_OP_N : CUBLAS_OP_C; };
    cublasHandle_t handle;
    PetscCall(PetscCUBLASGetHandle(&handle));
    PetscCallCUBLAS(SHELLAC_CUBLAS(gemmStridedBatched)(
        handle, op(op_a), op(op_b), (int)m, (int)n, (int)k, cuda_scalars(&alpha), cuda_scalars(a.values), (int)a.lead,
        (long long)a.stride, cuda_scalars(b.values), (int)b.lead, (long long)b.stride, cuda_scalars(&beta),
        cuda_scalars(c.values), (int)c.lead, (long long)c.stride, (int)count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscBLASInt sizes[3], leads[3];
  for (int which = 0; which < 3; which++) {
    const PetscInt size[] = {m, n, k}, lead[] = {(PetscInt)a.lead, (PetscInt)b.lead, (PetscInt)c.lead};
    PetscCall(PetscBLASIntCast(size[which], &sizes[which]));
    PetscCall(PetscBLASIntCast(lead[which], &leads[which]));
  }
  for (size_t i = 0; i < (size_t)count; i++)
    PetscCallBLAS("BLASgemm",
                  BLASgemm_(&op_a, &op_b, &sizes[0], &sizes[1], &sizes[2], &alpha, a.values + i * a.stride, &leads[0],
                            b.values + i * b.stride, &leads[1], &beta, c.values + i * c.stride, &leads[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
