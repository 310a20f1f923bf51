#pragma once
// Kernels compiled at run time by NVRTC, a library of the CUDA Toolkit that is loaded when it is first needed.

#include <string>
#include <vector>

#include "device/petsc.hpp"

namespace shellac {

bool nvrtc_present(); // loads it

// Compiles a source, named in messages, for GPUs of an architecture (90: compute capability 9.0): machine code, or PTX
// if NVRTC does not know the architecture. Returns the error, or an empty string.
std::string nvrtc_compile(const std::string &source, const std::string &name, int architecture, std::string *binary);

// The same for each of some sources, at the same time, through the cache folder (cache.hpp). *binaries: on all ranks; none
// where the first rank could not make them, and *problem then says why. Collective.
PetscErrorCode CompileKernels(MPI_Comm comm, const std::vector<std::string> &sources, const std::string &name,
                              int architecture, const char cache[], std::vector<std::string> *binaries,
                              std::string *problem);

} // namespace shellac
