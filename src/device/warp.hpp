#pragma once
// Values that the lanes of a warp give each other.

#include <cstring>

#include "device/petsc.hpp"

#if SHELLAC_CUDA
namespace shellac {

// The value of the lane `from`; all lanes of the warp call it.
template <class T> __device__ __forceinline__ T shuffled(T value, int from) {
  static_assert(sizeof(T) % 4 == 0, "values of 4 bytes or more");
  unsigned words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned &word : words) word = __shfl_sync(0xffffffffu, word, from);
  memcpy((void *)&value, words, sizeof(T));
  return value;
}

} // namespace shellac
#endif
