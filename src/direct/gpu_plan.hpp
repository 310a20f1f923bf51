#pragma once
// Plans of cuFFT. To make one takes longer than many small transforms, so those that are given back wait for the next
// one who wants such a plan.

#include "device/launch.hpp"
#include "direct/types.hpp"

#if SHELLAC_CUDA
#include <array>
#include <vector>

#include <cufft.h>

#define SHELLAC_CUFFT(...)                                                                                             \
  do {                                                                                                                 \
    const cufftResult shellac_result = __VA_ARGS__;                                                                    \
    PetscCheck(shellac_result == CUFFT_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "cuFFT's error %d in %s",              \
               (int)shellac_result, #__VA_ARGS__);                                                                     \
  } while (0)

namespace shellac {

class GPUPlan {
public:
  GPUPlan() = default;
  GPUPlan(const GPUPlan &) = delete;
  ~GPUPlan() { GiveBack(); }

  // Of `count` arrays of so many dimensions and of n numbers, the slowest first; along: the stride of the last dimension,
  // across: from one array to the next; along = 0: one after the other.
  PetscErrorCode Make(int dimensions, const int n[3], int along, int across, cufftType type, int count);
  PetscErrorCode Get(cufftHandle *handle); // in PETSc's stream
  void           GiveBack();
  bool           made() const { return made_; }

private:
  using Kind = std::array<int, 9>; // the GPU, and what Make() is told, n last
  struct Free {
    Kind         kind;
    cufftHandle  handle;
    cudaStream_t stream; // that used it last
    size_t       bytes;
  };
  friend PetscErrorCode    FFTPlansFinalize();
  static std::vector<Free> free_; // the oldest first

  bool         made_ = false;
  Kind         kind_ = {};
  cufftHandle  handle_ = 0;
  cudaStream_t stream_ = nullptr;
};

} // namespace shellac
#endif
