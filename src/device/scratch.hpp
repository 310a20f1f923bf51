#pragma once
// An uninitialised array where the kernels run: on the host, on the GPU, or on both if they are asked for both.

#include <utility>
#include <vector>

#include "device/memory.hpp"

namespace shellac {

template <class T> class Scratch {
public:
  Scratch() = default;
  Scratch(const Scratch &) = delete;
  ~Scratch() { DeviceFree(device_); }

  void resize(size_t n) { n_ = n; }
  // Takes the memory of another array, where it is as large.
  void take(Scratch *from) {
    if (from->n_ != n_) return;
    std::swap(host_, from->host_);
    std::swap(device_, from->device_);
  }
  // Allocates it in this memory.
  PetscErrorCode Prepare(PetscMemType memory) {
    PetscFunctionBegin;
    if (PetscMemTypeHost(memory))
      host_.resize(n_);
    else if (!device_ && n_)
      PetscCall(DeviceMalloc(n_ * sizeof(T), (void **)&device_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  T     *at(PetscMemType memory) { return PetscMemTypeDevice(memory) ? device_ : host_.data(); }
  size_t size() const { return n_; }

private:
  size_t         n_ = 0;
  std::vector<T> host_;
  T             *device_ = nullptr;
};

} // namespace shellac
