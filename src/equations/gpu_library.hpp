#pragma once
// Kernels that are compiled at run time and loaded.

#include <string>
#include <vector>

#include "device/memory.hpp"

namespace shellac {

// CUDA 12.8 and later load what NVRTC compiles.
#if SHELLAC_CUDA && CUDART_VERSION >= 12080
#define SHELLAC_GPU_LIBRARY 1
#else
#define SHELLAC_GPU_LIBRARY 0
#endif

class GpuLibrary {
public:
  GpuLibrary() = default;
  GpuLibrary(const GpuLibrary &) = delete;
  ~GpuLibrary();

  struct Source {
    std::string              text;
    std::vector<std::string> kernels; // their names
  };

  // Compiles sources for the ranks' GPUs and loads their kernels; name: of the sources, in messages. If that is not
  // possible,
  // *problem is the reason, and the library is not present. Collective.
  PetscErrorCode Create(MPI_Comm comm, const std::vector<Source> &sources, const std::string &name, const char cache[],
                        std::string *problem);
  bool           present() const { return !kernels_.empty(); }
  void          *kernel(size_t k) const { return kernels_[k]; } // the k-th of all sources, for cudaLaunchKernel()

private:
  void Unload();

  std::vector<void *> libraries_, kernels_;
};

} // namespace shellac
