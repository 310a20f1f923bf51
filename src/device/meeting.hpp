#pragma once
// Sums over the ranks, by their GPUs and without their hosts.

#include "device/peers.hpp"

#if SHELLAC_CUDA
namespace shellac {

__device__ inline unsigned long long nanoseconds_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Where the ranks' GPUs add up values; each has the same sums, to the last bit. A kernel that has met the others reads what
// they wrote before; it may write what they read before.
template <int count> struct Meeting {
  struct Slot {
    double             value[count];
    unsigned long long turn; // the meeting of these values
  };
  // The memory of a rank: its number of meetings, and two slots for each rank, by turns.
  struct Memory {
    unsigned long long turns;
    Slot               slot[Peers::most][2];
  };
  int                rank = 0, ranks = 1;
  unsigned long long timeout = 0;    // [ns]; 0: none
  int               *late = nullptr; // on the host: a rank that did not come in time, plus one
  Memory            *of[Peers::most] = {};

  // sums: of this rank, and then of all; of the block's first thread. All threads call it, in one block at a time.
  __device__ __forceinline__ void add(double (&sums)[count]) const {
    __shared__ double values[Peers::most][count];
    const int         r = (int)threadIdx.x;

    if (r == 0)
      for (int n = 0; n < count; n++) values[rank][n] = sums[n];
    const unsigned long long turn = of[rank]->turns + 1;
    __syncthreads();
    if (r < ranks && r != rank) {
      volatile Slot *to = &of[r]->slot[rank][turn % 2], *from = &of[rank]->slot[r][turn % 2];
      for (int n = 0; n < count; n++) to->value[n] = values[rank][n];
      __threadfence_system(); // also what the other blocks wrote
      to->turn = turn;
      const unsigned long long begin = nanoseconds_now();
      bool                     in_vain = false;
      while (from->turn < turn && !in_vain) in_vain = timeout && nanoseconds_now() - begin > timeout;
      __threadfence_system();
      for (int n = 0; n < count; n++) values[r][n] = in_vain ? NAN : from->value[n]; // no sum is to look right
      if (in_vain) *(volatile int *)late = r + 1;
    }
    __syncthreads();
    if (r > 0) return;
    for (int n = 0; n < count; n++) {
      sums[n] = 0;
      for (int other = 0; other < ranks; other++) sums[n] += values[other][n];
    }
    of[rank]->turns = turn;
  }
};

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

} // namespace shellac
#endif
