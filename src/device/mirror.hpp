#pragma once
// An array that is read where the kernels run: made on the host, and copied to the GPU when first asked for there; or the
// other way round.

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

  const std::vector<T> &host() const { return host_; } // not after Make()
  std::vector<T>       &change() { // the GPU's copy is out of date from now on
    copied_ = made_ = false;
    return host_;
  }
  // For kernels that make it in this memory; the host's is then a copy, made when first asked for there.
  PetscErrorCode Make(PetscMemType memory, size_t n, T **array) {
    PetscFunctionBegin;
    change().resize(n);
    *array = host_.data();
    if (PetscMemTypeHost(memory)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Allocate());
    copied_ = made_ = true;
    *array = device_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // On the host or, in PETSc's stream, on the GPU; null where it is empty.
  PetscErrorCode Get(PetscMemType memory, const T **array) {
    PetscFunctionBegin;
    *array = host_.empty() ? nullptr : host_.data();
    if (host_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    if (PetscMemTypeHost(memory)) {
      if (made_) PetscCall(DeviceCopyToHost(host_.data(), device_, bytes()));
      made_ = false;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(Allocate());
    if (!copied_) PetscCall(DeviceCopyFromHost(device_, host_.data(), bytes()));
    copied_ = true;
    *array = device_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  size_t bytes() const { return host_.size() * sizeof(T); }

private:
  PetscErrorCode Allocate() {
    PetscFunctionBegin;
    if (size_ == host_.size()) PetscFunctionReturn(PETSC_SUCCESS); // to free it would wait for the GPU
    DeviceFree(device_);
    device_ = nullptr;
    size_ = 0;
    copied_ = false;
    PetscCall(DeviceMalloc(bytes(), (void **)&device_));
    size_ = host_.size();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::vector<T> host_;
  T             *device_ = nullptr;
  size_t         size_ = 0; // of the GPU's copy
  bool           copied_ = false, made_ = false; // the GPU's copy is right; and the host's is not
};

} // namespace shellac
