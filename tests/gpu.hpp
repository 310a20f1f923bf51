#pragma once
// Cases that need a GPU begin with: if (no_gpu()) return;
// A test of CTest whose cases all end so is skipped: such cases stand in files of their own.

#include <petscsys.h>

#include <unistd.h>

namespace tests {

inline int cases_skipped = 0;

inline bool no_gpu() {
#if defined(PETSC_HAVE_CUDA)
  if (access("/dev/nvidiactl", F_OK) == 0) return false;
#endif
  cases_skipped++;
  return true;
}

} // namespace tests
