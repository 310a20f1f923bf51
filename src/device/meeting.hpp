#pragma once
// Sums over the ranks, by their GPUs and without their hosts.

#include <cstring>

#include "device/peers.hpp"

namespace shellac {

#if SHELLAC_CUDA
__device__ inline unsigned long long nanoseconds_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
#endif

// Where the ranks' GPUs add up values; each has the same sums, to the last bit. A kernel that has met the others reads what
// they wrote before; it may write what they read before.
template <int count> struct Meeting {
  static constexpr int words = 2 * count;
  struct Slot {
    unsigned long long word[words]; // half a value each, and the meeting that it is of: both arrive together
  };
  // The memory of a rank: its number of meetings, and two slots for each rank, by turns.
  struct Memory {
    unsigned turns;
    Slot     slot[Peers::most][2];
  };
  int                rank = 0, ranks = 1;
  unsigned long long timeout = 0;    // [ns]; 0: none
  int               *late = nullptr; // on the host: a rank that did not come in time, plus one
  Memory            *of[Peers::most] = {};

#if SHELLAC_CUDA
  // sums: of this rank, and then of all; of the block's first thread. All threads call it, in one block at a time.
  __device__ __forceinline__ void add(double (&sums)[count]) const {
    __shared__ __align__(8) unsigned halves[Peers::most][words];
    const int                        r = (int)threadIdx.x / words, w = (int)threadIdx.x % words;
    bool                             in_vain = false;

    if (threadIdx.x == 0) memcpy(halves[rank], sums, sizeof(sums));
    const unsigned turn = of[rank]->turns + 1;
    __syncthreads();
    if (r < ranks && r != rank) {
      const volatile unsigned long long *from = &of[rank]->slot[r][turn % 2].word[w];
      volatile unsigned long long       *to = &of[r]->slot[rank][turn % 2].word[w];
      __threadfence_system(); // what this GPU's blocks wrote comes before
      *to = (unsigned long long)turn << 32 | halves[rank][w];
      const unsigned long long begin = nanoseconds_now();
      unsigned long long       word = *from;
      for (; word >> 32 != turn && !in_vain; word = *from) in_vain = timeout && nanoseconds_now() - begin > timeout;
      __threadfence_system();
      halves[r][w] = (unsigned)word;
      if (in_vain) *(volatile int *)late = r + 1;
    }
    const bool all_came = !__syncthreads_or(in_vain);
    if (threadIdx.x > 0) return;
    for (int n = 0; n < count; n++) {
      sums[n] = all_came ? 0 : NAN; // no sum is to look right
      for (int other = 0; other < ranks; other++) {
        double value;
        memcpy(&value, &halves[other][2 * n], sizeof(value));
        sums[n] += value;
      }
    }
    of[rank]->turns = turn;
  }
#endif
};

#if SHELLAC_CUDA
// A value that another GPU may have written, or that is in its memory.
template <class T> __device__ __forceinline__ T value_of_other(const T *from) {
  constexpr int parts = (int)(sizeof(T) / sizeof(PetscReal));
  PetscReal     part[parts];
  T             value;
#pragma unroll
  for (int n = 0; n < parts; n++) part[n] = ((const volatile PetscReal *)from)[n];
  memcpy((void *)&value, part, sizeof(T));
  return value;
}
#endif

} // namespace shellac
