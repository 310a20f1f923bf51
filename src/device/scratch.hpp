#pragma once
// An uninitialised array in the memory where it is requested: on the host, on the GPU, or both.

#include <algorithm>
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
  // Makes it at least n long, and allocates it in this memory; its contents are lost.
  PetscErrorCode Grow(size_t n, PetscMemType memory) {
    PetscFunctionBegin;
    n_ = std::max(n_, n);
    PetscCall(Prepare(memory));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void swap(Scratch *other) {
    std::swap(n_, other->n_);
    std::swap(host_, other->host_);
    std::swap(device_, other->device_);
    std::swap(capacity_, other->capacity_);
  }
  // Takes the memory of another array, if it is of the same size.
  void take(Scratch *from) {
    if (from->n_ == n_) swap(from);
  }
  // Allocates it in this memory.
  PetscErrorCode Prepare(PetscMemType memory) {
    PetscFunctionBegin;
    if (PetscMemTypeHost(memory))
      host_.resize(n_);
    else if (capacity_ < n_) { // its contents are lost
      DeviceFree(device_);
      device_ = nullptr;
      capacity_ = 0;
      PetscCall(DeviceMalloc(n_ * sizeof(T), (void **)&device_));
      capacity_ = n_;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // A copy of its contents in this memory, on the host.
  PetscErrorCode GetHost(PetscMemType memory, std::vector<T> *values) {
    PetscFunctionBegin;
    if (PetscMemTypeHost(memory))
      *values = host_;
    else {
      values->resize(n_);
      PetscCall(DeviceCopyToHost(values->data(), device_, n_ * sizeof(T)));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Zero(PetscMemType memory) {
    PetscFunctionBegin;
    PetscCall(Prepare(memory));
    if (PetscMemTypeHost(memory))
      std::fill(host_.begin(), host_.end(), T{});
    else if (n_)
      PetscCall(DeviceZero(device_, n_ * sizeof(T)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  T     *at(PetscMemType memory) { return PetscMemTypeDevice(memory) ? device_ : host_.data(); }
  size_t size() const { return n_; }

private:
  size_t         n_ = 0, capacity_ = 0; // of the GPU's memory
  std::vector<T> host_;
  T             *device_ = nullptr;
};

} // namespace shellac
