#include "direct/gpu_plan.hpp"

#include <algorithm>

namespace shellac {

#if SHELLAC_CUDA

constexpr size_t most_free = 16, most_free_bytes = (size_t)512 << 20;

std::vector<GPUPlan::Free> GPUPlan::free_;

PetscErrorCode GPUPlan::Make(int dimensions, const int n[3], int along, int across, cufftType type, int count) {
  Kind kind = {0, dimensions, 1, 1, along, across, (int)type, count, 0};
  int  sizes[3];

  PetscFunctionBegin;
  GiveBack();
  PetscCallCUDA(cudaGetDevice(&kind[0]));
  for (int d = 0; d < dimensions; d++) kind[d == 2 ? 8 : 2 + d] = sizes[d] = n[d];
  const auto same = std::find_if(free_.begin(), free_.end(), [&](const Free &one) { return one.kind == kind; });
  PetscCall(current_stream(&stream_));
  if (same != free_.end()) {
    if (same->stream != stream_) PetscCallCUDA(cudaDeviceSynchronize()); // it may be at work there
    handle_ = same->handle;
    free_.erase(same);
  } else {
    int *const embed = along ? sizes : NULL;
    SHELLAC_CUFFT(cufftPlanMany(&handle_, dimensions, sizes, embed, along ? along : 1, across, embed, along ? along : 1,
                                across, type, count));
  }
  kind_ = kind;
  made_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GPUPlan::Get(cufftHandle *handle) {
  PetscFunctionBegin;
  PetscCall(current_stream(&stream_));
  SHELLAC_CUFFT(cufftSetStream(handle_, stream_));
  *handle = handle_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void GPUPlan::GiveBack() {
  size_t bytes = 0, all = 0;

  if (!made_) return;
  made_ = false;
  if (!PetscInitializeCalled || PetscFinalizeCalled || cufftGetSize(handle_, &bytes) != CUFFT_SUCCESS) {
    (void)cufftDestroy(handle_);
    return;
  }
  free_.push_back({kind_, handle_, stream_, bytes});
  for (const Free &one : free_) all += one.bytes;
  while (free_.size() > most_free || (all > most_free_bytes && !free_.empty())) {
    all -= free_.front().bytes;
    (void)cufftDestroy(free_.front().handle);
    free_.erase(free_.begin());
  }
}
#endif

PetscErrorCode FFTPlansFinalize() {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  for (const auto &one : GPUPlan::free_) SHELLAC_CUFFT(cufftDestroy(one.handle));
  GPUPlan::free_.clear();
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
