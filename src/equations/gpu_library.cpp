#include "equations/gpu_library.hpp"

#include "equations/nvrtc.hpp"

namespace shellac {

#if SHELLAC_GPU_LIBRARY

PetscErrorCode GpuLibrary::Create(MPI_Comm comm, const std::vector<Source> &sources, const std::string &name,
                                  const char cache[], std::string *problem) {
  int                      device, major = 0, minor = 0, extremes[2];
  std::vector<std::string> texts, binaries;
  cudaError_t              error = cudaSuccess;

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
  for (const Source &source : sources) texts.push_back(source.text);
  PetscCall(CompileKernels(comm, texts, name, extremes[0], cache, &binaries, problem));
  for (size_t s = 0; s < binaries.size() && error == cudaSuccess; s++) {
    cudaLibrary_t library;
    error = cudaLibraryLoadData(&library, binaries[s].c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error == cudaSuccess) libraries_.push_back((void *)library);
    for (size_t k = 0; k < sources[s].kernels.size() && error == cudaSuccess; k++) {
      cudaKernel_t kernel;
      error = cudaLibraryGetKernel(&kernel, library, sources[s].kernels[k].c_str());
      kernels_.push_back((void *)kernel);
    }
  }
  if (error != cudaSuccess) { // by a driver that is older than NVRTC
    (void)cudaGetLastError();
    *problem = std::string("the driver does not load the kernels: ") + cudaGetErrorString(error);
    Unload();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void GpuLibrary::Unload() {
  for (void *library : libraries_) (void)cudaLibraryUnload((cudaLibrary_t)library);
  libraries_.clear();
  kernels_.clear();
}

GpuLibrary::~GpuLibrary() {
  if (!libraries_.empty()) (void)cudaDeviceSynchronize(); // a kernel may still run
  Unload();
}

#else

PetscErrorCode GpuLibrary::Create(MPI_Comm, const std::vector<Source> &, const std::string &, const char[],
                                  std::string *problem) {
  PetscFunctionBegin;
  *problem = "Shellac was built without CUDA 12.8 or later";
  PetscFunctionReturn(PETSC_SUCCESS);
}

void GpuLibrary::Unload() {}

GpuLibrary::~GpuLibrary() = default;

#endif

} // namespace shellac
