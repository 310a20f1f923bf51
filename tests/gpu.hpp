#pragma once
// Cases that need a GPU begin with: if (no_gpu()) return; those that need more: if (skips(no_gpu(false) || ...)) return;
// A test of CTest whose cases all end so is skipped: such cases stand in files of their own.

#include "support.hpp"

#include <unistd.h>

namespace tests {

inline int cases_skipped = 0;

inline bool skips(bool missing) {
  cases_skipped += missing;
  return missing;
}

inline bool no_gpu(bool ends_case = true) {
#if defined(PETSC_HAVE_CUDA)
  if (access("/dev/nvidiactl", F_OK) == 0) return false;
#endif
  return ends_case ? skips(true) : true;
}

// The largest difference from a reference, beside the largest value of that.
inline PetscReal difference_beside_largest(const std::vector<PetscScalar> &values,
                                           const std::vector<PetscScalar> &reference) {
  PetscReal difference = 0, largest = 0;
  for (size_t i = 0; i < reference.size(); i++) {
    difference = PetscMax(difference, PetscAbsScalar(values[i] - reference[i]));
    largest = PetscMax(largest, PetscAbsScalar(reference[i]));
  }
  return difference / largest;
}

#if defined(PETSC_HAVE_CUDA)
// What `work` copies between the host and the GPU, single numbers aside; after PetscLogDefaultBegin().
struct Copied {
  PetscReal bytes;
  int       times_to_host; // the host waits for each
};
template <class Function> Copied copied(const Function &work) {
  static PetscLogEvent event = -1;
  PetscEventPerfInfo   before, after;
  if (event < 0) OK(PetscLogEventRegister("TestCopies", PETSC_VIEWER_CLASSID, &event));
  OK(PetscLogEventGetPerfInfo(0, event, &before));
  OK(PetscLogEventBegin(event, 0, 0, 0, 0));
  work();
  OK(PetscLogEventEnd(event, 0, 0, 0, 0));
  OK(PetscLogEventGetPerfInfo(0, event, &after));
  return {(PetscReal)(after.CpuToGpuSize - before.CpuToGpuSize + after.GpuToCpuSize - before.GpuToCpuSize),
          (int)(after.GpuToCpuCount - before.GpuToCpuCount)};
}
template <class Function> PetscReal bytes_copied(const Function &work) {
  return copied(work).bytes;
}

// Calls work(x) with a copy x of v, on one rank, whose array begins `offset` values after a 16-byte boundary; v is then
// what x is.
template <class Function> void at_offset(Vec v, PetscInt offset, const Function &work) {
  Vec          room, x;
  PetscInt     n;
  PetscScalar *array;
  OK(VecGetLocalSize(v, &n));
  OK(VecCreateSeqCUDA(PETSC_COMM_SELF, n + offset, &room));
  OK(VecSet(room, 0));
  OK(VecCUDAGetArray(room, &array));
  OK(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, n, array + offset, &x));
  OK(VecCopy(v, x));
  work(x);
  OK(VecCopy(x, v));
  OK(VecDestroy(&x));
  OK(VecCUDARestoreArray(room, &array));
  OK(VecDestroy(&room));
}
#endif

} // namespace tests
