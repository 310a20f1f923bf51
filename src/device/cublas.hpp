#pragma once
// cuBLAS' functions for PetscScalar.

#include "device/petsc.hpp"

#if SHELLAC_CUDA
#undef PetscCallCUDA // the same
#include <petscdevice_cuda.h>

namespace shellac {

#if defined(PETSC_USE_COMPLEX)
#if defined(PETSC_USE_REAL_SINGLE)
using CudaScalar = cuComplex;
#define SHELLAC_CUBLAS(name) cublasC##name
#else
using CudaScalar = cuDoubleComplex;
#define SHELLAC_CUBLAS(name) cublasZ##name
#endif
#else
using CudaScalar = PetscScalar;
#if defined(PETSC_USE_REAL_SINGLE)
#define SHELLAC_CUBLAS(name) cublasS##name
#else
#define SHELLAC_CUBLAS(name) cublasD##name
#endif
#endif

} // namespace shellac
#endif
