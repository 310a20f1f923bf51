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
  // Its contents in this memory, on the host; they leave it, if they are there.
  PetscErrorCode GetHost(PetscMemType memory, std::vector<T> *values) {
    PetscFunctionBegin;
    if (PetscMemTypeHost(memory))
      *values = std::move(host_);
    else {
      values->resize(n_);
      PetscCall(DeviceCopyToHost(values->data(), device_, n_ * sizeof(T)));
    }
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
