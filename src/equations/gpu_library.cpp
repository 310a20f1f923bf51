#include "equations/gpu_library.hpp"

#include "equations/nvrtc.hpp"

namespace shellac {

#if SHELLAC_GPU_LIBRARY

PetscErrorCode GpuLibrary::Create(MPI_Comm comm, const std::string &source, const std::string &name, const char cache[],
                                  const std::vector<const char *> &names, std::string *problem) {
  int           device, major = 0, minor = 0, extremes[2];
  std::string   binary;
  cudaLibrary_t library;

  PetscFunctionBegin;
  if (cudaGetDevice(&device) == cudaSuccess) {
    (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  }
  extremes[0] = 10 * major + minor, extremes[1] = -extremes[0];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_INT, MPI_MIN, comm));
  if (extremes[0] != -extremes[1]) {
    *problem = "the ranks' GPUs are of different architectures";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CompileKernels(comm, source, name, extremes[0], cache, &binary, problem));
  if (binary.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  cudaError_t error = cudaLibraryLoadData(&library, binary.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error == cudaSuccess) library_ = library;
  for (size_t k = 0; k < names.size() && error == cudaSuccess; k++) {
    cudaKernel_t kernel;
    error = cudaLibraryGetKernel(&kernel, library, names[k]);
    kernels_.push_back((void *)kernel);
  }
  if (error != cudaSuccess) { // by a driver that is older than NVRTC
    (void)cudaGetLastError();
    *problem = std::string("the driver does not load the kernels: ") + cudaGetErrorString(error);
    if (library_) (void)cudaLibraryUnload(library);
    library_ = nullptr;
    kernels_.clear();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

GpuLibrary::~GpuLibrary() {
  if (!library_) return;
  (void)cudaDeviceSynchronize(); // a kernel may still run
  (void)cudaLibraryUnload((cudaLibrary_t)library_);
}

#else

PetscErrorCode GpuLibrary::Create(MPI_Comm, const std::string &, const std::string &, const char[],
                                  const std::vector<const char *> &, std::string *problem) {
  PetscFunctionBegin;
  *problem = "Shellac was built without CUDA 12.8 or later";
  PetscFunctionReturn(PETSC_SUCCESS);
}

GpuLibrary::~GpuLibrary() {
  (void)library_;
}

#endif

} // namespace shellac
