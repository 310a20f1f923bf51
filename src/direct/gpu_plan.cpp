#include "direct/gpu_plan.hpp"

#include <algorithm>

namespace shellac {

#if SHELLAC_CUDA

constexpr size_t most_free = 16, most_free_bytes = (size_t)512 << 20;

std::vector<GPUPlan::Free> GPUPlan::free_;

PetscErrorCode GPUPlan::Make(int dimensions, const int n[3], int along, int across, cufftType type, int count) {
  Kind       kind = {0, dimensions, along, across, (int)type, count};
  int *const sizes = &kind[6], *const embed = along ? sizes : NULL;
  const int stride = PetscMax(along, 1);

  PetscFunctionBegin;
  GiveBack();
  PetscCallCUDA(cudaGetDevice(&kind[0]));
  std::copy_n(n, dimensions, sizes);
  const auto same = std::find_if(free_.begin(), free_.end(), [&](const Free &one) { return one.kind == kind; });
  PetscCall(current_stream(&stream_));
  if (same != free_.end()) {
    if (same->stream != stream_) PetscCallCUDA(cudaDeviceSynchronize()); // it may be at work there
    handle_ = same->handle;
    free_.erase(same);
  } else
    SHELLAC_CUFFT(
        cufftPlanMany(&handle_, dimensions, sizes, embed, stride, across, embed, stride, across, type, count));
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
