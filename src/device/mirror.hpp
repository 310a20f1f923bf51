#pragma once
// A small array that is made on the host and read where the kernels run; copied to the GPU when first asked for there.

#include <vector>

#include "device/petsc.hpp"

namespace shellac {

template <class T> class Mirror {
public:
  Mirror() = default;
  Mirror(const Mirror &from) : host_(from.host_) {}
  Mirror &operator=(const Mirror &from) {
    change() = from.host_;
    return *this;
  }
  ~Mirror() { release(); }

  const std::vector<T> &host() const { return host_; }
  std::vector<T>       &change() { // what is on the GPU is old from now on
    release();
    return host_;
  }
  // On the host or, in PETSc's stream, on the GPU; null where it is empty.
  PetscErrorCode Get(PetscMemType memory, const T **array) {
    PetscFunctionBegin;
    *array = host_.empty() ? nullptr : host_.data();
#if SHELLAC_CUDA
    if (PetscMemTypeDevice(memory) && !host_.empty()) {
      if (!device_) {
        cudaStream_t stream;
        PetscCall(current_stream(&stream));
        PetscCallCUDA(cudaMalloc((void **)&device_, bytes()));
        PetscCallCUDA(cudaMemcpyAsync(device_, host_.data(), bytes(), cudaMemcpyHostToDevice, stream));
        PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes()));
      }
      *array = device_;
    }
#else
    (void)memory;
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  size_t bytes() const {
    return host_.size() * sizeof(T);
  }

private:
  void release() {
#if SHELLAC_CUDA
    if (device_) (void)cudaFree(device_);
#endif
    device_ = nullptr;
  }

  std::vector<T> host_;
  T             *device_ = nullptr;
};

} // namespace shellac
