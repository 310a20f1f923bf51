#pragma once
// A small array that is made on the host and read where the kernels run; copied to the GPU when first asked for there.

#include <vector>

#include "device/memory.hpp"

namespace shellac {

template <class T> class Mirror {
public:
  Mirror() = default;
  Mirror(const Mirror &from) : host_(from.host_) {}
  Mirror &operator=(const Mirror &from) {
    change() = from.host_;
    return *this;
  }
  ~Mirror() { DeviceFree(device_); }

  const std::vector<T> &host() const { return host_; }
  std::vector<T>       &change() { // the GPU's copy is out of date from now on
    copied_ = false;
    return host_;
  }
  // On the host or, in PETSc's stream, on the GPU; null where it is empty.
  PetscErrorCode Get(PetscMemType memory, const T **array) {
    PetscFunctionBegin;
    *array = host_.empty() ? nullptr : host_.data();
    if (PetscMemTypeHost(memory) || host_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    if (size_ != host_.size()) { // memory of the right size is used again: to free it would wait for the GPU
      DeviceFree(device_);
      device_ = nullptr;
      size_ = 0;
      PetscCall(DeviceMalloc(bytes(), (void **)&device_));
      size_ = host_.size();
      copied_ = false;
    }
    if (!copied_) PetscCall(DeviceCopyFromHost(device_, host_.data(), bytes()));
    copied_ = true;
    *array = device_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  size_t bytes() const { return host_.size() * sizeof(T); }

private:
  std::vector<T> host_;
  T             *device_ = nullptr;
  size_t         size_ = 0; // of the GPU's copy
  bool           copied_ = false;
};

} // namespace shellac
