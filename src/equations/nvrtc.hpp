#pragma once
// Kernels compiled at run time by NVRTC, a library of the CUDA Toolkit that is loaded when it is first needed.

#include <string>

#include "device/petsc.hpp"

namespace shellac {

bool nvrtc_present(); // loads it

// Compiles a source, named in messages, for GPUs of an architecture (90: compute capability 9.0): machine code, or PTX where
// NVRTC does not know the architecture. What is wrong, or empty.
std::string nvrtc_compile(const std::string &source, const std::string &name, int architecture, std::string *binary);

// The same through the cache folder (cache.hpp). *binary: on all ranks; empty where the first rank could not make it, and
// *problem then says why. Collective.
PetscErrorCode CompileKernels(MPI_Comm comm, const std::string &source, const std::string &name, int architecture,
                              const char cache[], std::string *binary, std::string *problem);

} // namespace shellac
