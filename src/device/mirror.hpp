#pragma once
// An array that is made on the host and copied to the GPU at its first use there, or made on the GPU and copied to the
// host.

#include <utility>
#include <vector>

#include "device/memory.hpp"

namespace shellac {

template <class T> class Mirror {
public:
  Mirror() = default;
  Mirror(Mirror &&from) noexcept { swap(&from); }
  Mirror &operator=(Mirror &&from) noexcept {
    swap(&from);
    return *this;
  }
  ~Mirror() { DeviceFree(device_); }
  // A copy of another one's contents, wherever they are. (A copy constructor could not tell of an error.)
  PetscErrorCode CopyFrom(Mirror *from) {
    const T *ignored;
    PetscFunctionBegin;
    PetscCall(from->Get(PETSC_MEMTYPE_HOST, &ignored));
    change() = from->host_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const std::vector<T> &host() const { return host_; } // not after Make() on a GPU
  std::vector<T>       &change() {                     // the GPU's copy is out of date from now on
    copied_ = false;
    made_ = 0;
    return host_;
  }
  // For kernels that make it in this memory; the host's array is then a copy, made at its first use.
  PetscErrorCode Make(PetscMemType memory, size_t n, T **array) {
    PetscFunctionBegin;
    *array = nullptr;
    if (PetscMemTypeHost(memory)) {
      change().resize(n);
      *array = host_.data();
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    change() = std::vector<T>();
    PetscCall(Allocate(n));
    made_ = n;
    *array = device_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode MakeZero(PetscMemType memory, size_t n, T **array) {
    PetscFunctionBegin;
    change().clear();
    PetscCall(Make(memory, n, array));
    if (PetscMemTypeDevice(memory)) PetscCall(DeviceZero(*array, n * sizeof(T)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // On the host or, in PETSc's stream, on the GPU; null where it is empty.
  PetscErrorCode Get(PetscMemType memory, const T **array) {
    PetscFunctionBegin;
    *array = nullptr;
    if (!size()) PetscFunctionReturn(PETSC_SUCCESS);
    if (PetscMemTypeHost(memory)) {
      if (made_) {
        host_.resize(made_);
        PetscCall(DeviceCopyToHost(host_.data(), device_, bytes()));
        made_ = 0;
        copied_ = true;
      }
      *array = host_.data();
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (!made_) {
      PetscCall(Allocate(host_.size()));
      if (!copied_) PetscCall(DeviceCopyFromHost(device_, host_.data(), bytes()));
      copied_ = true;
    }
    *array = device_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Its contents, to be changed in this memory; the latest copy is then there.
  PetscErrorCode Edit(PetscMemType memory, T **array) {
    const T *values;
    PetscFunctionBegin;
    PetscCall(Get(memory, &values));
    if (PetscMemTypeDevice(memory) && values) {
      made_ = allocated_;
      host_ = std::vector<T>();
    }
    copied_ = false;
    *array = const_cast<T *>(values);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  size_t size() const { return made_ ? made_ : host_.size(); }
  size_t bytes() const { return size() * sizeof(T); }
  // Exchanges all contents with another one.
  void swap(Mirror *other) {
    std::swap(host_, other->host_);
    std::swap(device_, other->device_);
    std::swap(allocated_, other->allocated_);
    std::swap(made_, other->made_);
    std::swap(copied_, other->copied_);
  }
  // Takes the GPU memory of another one that is no longer read; it is used if it has the same number of values.
  void take_memory(Mirror *from) {
    if (device_) return;
    std::swap(device_, from->device_);
    std::swap(allocated_, from->allocated_);
    from->copied_ = false;
    if (from->made_) from->change() = std::vector<T>();
  }

private:
  PetscErrorCode Allocate(size_t n) {
    PetscFunctionBegin;
    if (allocated_ == n) PetscFunctionReturn(PETSC_SUCCESS);
    DeviceFree(device_);
    device_ = nullptr;
    allocated_ = 0;
    copied_ = false;
    if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(DeviceMalloc(n * sizeof(T), (void **)&device_));
    allocated_ = n;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::vector<T> host_;
  T             *device_ = nullptr;
  size_t         allocated_ = 0, made_ = 0; // values in the GPU's memory; those that are there and not on the host
  bool           copied_ = false;           // the GPU's copy is right
};

} // namespace shellac
