#pragma once
// Exchange of values between the lanes of a warp, and their sums.

#include <cstring>

#include "device/petsc.hpp"

#if SHELLAC_CUDA
namespace shellac {

// The value of the lane `from`, modulo 32; all lanes of the warp call it.
template <class T> __device__ __forceinline__ T shuffled(T value, int from) {
  static_assert(sizeof(T) % 4 == 0, "values of 4 bytes or more");
  unsigned words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned &word : words) word = __shfl_sync(0xffffffffu, word, from);
  memcpy((void *)&value, words, sizeof(T));
  return value;
}

// For all lanes; all of them call it.
__device__ __forceinline__ double sum_of_warp(double value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

// For the first thread; all of a block's call it. of_warps: in shared memory, which no thread uses any more
template <int warps>
__device__ __forceinline__ double sum_of_block(double value, int warp, int lane, double (&of_warps)[warps]) {
  value = sum_of_warp(value);
  if (lane == 0) of_warps[warp] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = 0;
    for (double part : of_warps) value += part;
  }
  return value;
}

} // namespace shellac
#endif
