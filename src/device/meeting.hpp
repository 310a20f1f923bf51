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

// What this thread wrote, or has waited for, comes before what it writes next, and what it has read before what it reads
// next. Cheaper than __threadfence(), which also orders writes before later reads.
enum class Scope { gpu, system };
template <Scope scope> __device__ __forceinline__ void fence() {
  if (scope == Scope::gpu)
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  else
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}
// A word; what this thread reads next comes after what its writer has seen.
template <Scope scope> __device__ __forceinline__ unsigned long long acquire(const unsigned long long *from) {
  unsigned long long word;
  if (scope == Scope::gpu)
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  else
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  return word;
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
  // sums, which all lanes of a warp have, of this rank, and then of all. One warp calls it at a time.
  __device__ __forceinline__ void add(double (&sums)[count]) const {
    const unsigned turn = of[rank]->turns + 1;
    send(turn, sums);
    (void)receive(turn, sums);
    if (threadIdx.x % 32 == 0) of[rank]->turns = turn;
  }
  // To the other ranks, which see what this warp has waited for. One warp calls it.
  __device__ __forceinline__ void send(unsigned turn, const double (&sums)[count]) const {
    const int lane = threadIdx.x % 32;
    unsigned  halves[words], mine = 0;

    memcpy(halves, sums, sizeof(sums));
#pragma unroll
    for (int w = 0; w < words; w++)
      if (lane == w) mine = halves[w];
    fence<Scope::system>();
    for (int r = 0; lane < words && r < ranks; r++)
      if (r != rank)
        *(volatile unsigned long long *)&of[r]->slot[rank][turn % 2].word[lane] = (unsigned long long)turn << 32 | mine;
  }
  // sums: as for add(). False if a rank's did not come. Several warps may call it.
  __device__ __forceinline__ bool receive(unsigned turn, double (&sums)[count]) const {
    const int lane = threadIdx.x % 32;
    double    mine[count];
    bool      in_vain = false;

    memcpy(mine, sums, sizeof(mine));
    for (int n = 0; n < count; n++) sums[n] = 0;
    for (int r = 0; r < ranks; r++) { // in the same order everywhere
      double its[count];
      if (r == rank)
        memcpy(its, mine, sizeof(its));
      else {
        const unsigned long long *from = &of[rank]->slot[r][turn % 2].word[lane < words ? lane : 0];
        const unsigned long long  begin = nanoseconds_now();
        unsigned long long        word = acquire<Scope::system>(from);
        bool                      is_late = false;
        for (; word >> 32 != turn && !is_late; word = acquire<Scope::system>(from))
          is_late = timeout && nanoseconds_now() - begin > timeout;
        if (is_late) *(volatile int *)late = r + 1;
        in_vain = __any_sync(0xffffffffu, is_late) || in_vain;
        unsigned halves[words];
#pragma unroll
        for (int w = 0; w < words; w++) halves[w] = __shfl_sync(0xffffffffu, (unsigned)word, w);
        memcpy(its, halves, sizeof(its));
      }
      for (int n = 0; n < count; n++) sums[n] += its[n];
    }
    for (int n = 0; n < count; n++)
      if (in_vain) sums[n] = NAN; // no sum is to look right
    return !in_vain;
  }
#endif
};

} // namespace shellac
