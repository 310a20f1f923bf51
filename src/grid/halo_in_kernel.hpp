#pragma once
// The exchange of a halo between GPUs, by blocks of a kernel: a kernel that only exchanges, or one that computes with the
// halo. The blocks write into the neighbours' memory, and the last one to finish raises the neighbours' flags. Who reads
// the halo waits for the flags of this GPU before.

#include "device/chain.hpp"
#include "device/meeting.hpp"
#include "grid/patch.hpp"

#if SHELLAC_CUDA
namespace shellac {

inline unsigned blocks_of(PetscInt64 points, int each) {
  return (unsigned)((points + each - 1) / each);
}

struct PackPart { // of what goes over links
  Box    from;    // of the array's points
  size_t count;   // values
  char  *to[2];   // by turns
};

struct Flag {                         // that a neighbour raises, and the halo that comes with it
  const unsigned long long *last;     // the exchange that it says
  unsigned                 *inbox[2]; // as words of 4 bytes
  size_t                    words;
  PetscMPIInt               neighbour;
};

// Of the exchanges of a halo, on the GPU.
struct Counters {
  unsigned long long exchanges; // that have been sent
  unsigned           packed;    // blocks that are done
  int                late;      // a neighbour did not raise its flag in time: later waits end at once
};

// How long a GPU waits, and whom it tells: late_neighbour, on the host, is the rank that did not answer, plus one.
struct Patience {
  unsigned long long timeout; // [ns]; 0: no limit
  int               *late_neighbour;
};

// Pointers are to the GPU's memory. A flag and a neighbour's flag are a thread's of the block's first.
struct HaloExchange {
  const PackPart            *packs = nullptr;
  const Flag                *flags = nullptr;
  unsigned long long *const *raised = nullptr; // the neighbours'
  Counters                  *counters = nullptr;
  unsigned long long         number = 0; // of the exchange, by the host's count; 0: the GPU counts, as in a CUDA graph
  Patience                   patience = {};
  Patch                      patch = {};
  int                        flag_count = 0, raised_count = 0;
  size_t                     values = 0; // of all parts

  SHELLAC_HD bool any() const { return counters != nullptr; }
  // The exchange that is to be sent, and the one that has been.
  __device__ unsigned long long next() const { return number ? number : counters->exchanges + 1; }
  __device__ unsigned long long present() const { return number ? number : counters->exchanges; }

  static __device__ unsigned thread() { return threadIdx.x + blockDim.x * threadIdx.y; }
  static __device__ unsigned threads() { return blockDim.x * blockDim.y; }

  __device__ unsigned long long *flag_to_raise() const {
    return (int)thread() < raised_count ? raised[thread()] : nullptr;
  }
  __device__ Flag flag_to_await() const { return (int)thread() < flag_count ? flags[thread()] : Flag{}; }

  __device__ void raise(unsigned long long *flag, unsigned long long exchange) const {
    __threadfence_system();
    if (flag) *(volatile unsigned long long *)flag = exchange;
    if (thread() == 0) counters->exchanges = exchange;
  }
  // Copies this block's share to its place; the last of so many blocks raises the flags. Whether this is that block. All
  // threads call it.
  template <class Value>
  __device__ bool send(const Value *u, unsigned long long exchange, unsigned block, unsigned blocks) const {
    constexpr int   together = 4; // loads under way
    const int       turn = (int)(exchange % 2);
    const size_t    step = (size_t)blocks * threads();
    const auto      flag = flag_to_raise(); // is read while the values are
    __shared__ bool is_last;
    for (size_t first = (size_t)block * threads() + thread(); first < values; first += together * step) {
      Value  value[together];
      Value *to[together] = {};
#pragma unroll
      for (int i = 0; i < together; i++) {
        size_t n = first + i * step;
        int    f = 0;
        if (n >= values) continue;
        while (n >= packs[f].count) n -= packs[f++].count;
        PetscInt p[3];
        packs[f].from.point((PetscInt64)(n / patch.dof), p);
        value[i] = u[patch.index(p[0], p[1], p[2]) * patch.dof + n % patch.dof];
        to[i] = reinterpret_cast<Value *>(packs[f].to[turn]) + n;
      }
#pragma unroll
      for (int i = 0; i < together; i++)
        if (to[i]) *to[i] = value[i];
    }
    __syncthreads();
    if (thread() == 0) {
      __threadfence_system(); // the block's values are there before
      is_last = atomicAdd(&counters->packed, 1) == blocks - 1;
      if (is_last) counters->packed = 0;
      if (is_last) __threadfence_system(); // and so are the other blocks'
    }
    __syncthreads();
    if (is_last) raise(flag, exchange);
    return is_last;
  }
  // Waits for a flag; false: it was not raised in time.
  __device__ bool comes(const Flag &flag, unsigned long long exchange) const {
    const volatile unsigned long long *last = flag.last;
    bool                               in_vain = false;
    if (*last < exchange) {
      const unsigned long long begin = nanoseconds_now();
      in_vain = *(volatile int *)&counters->late != 0;
      while (*last < exchange && !in_vain) {
        __nanosleep(20);
        in_vain = patience.timeout && nanoseconds_now() - begin > patience.timeout;
      }
      if (in_vain) {
        *(volatile int *)&counters->late = 1;
        *(volatile int *)patience.late_neighbour = flag.neighbour + 1;
      }
    }
    __threadfence_system();
    return !in_vain;
  }
  // A halo that does not arrive becomes NaN, so that no result looks right. All threads call it.
  __device__ void await(const Flag &flag, unsigned long long exchange) const {
    if (flag.last && !comes(flag, exchange))
      for (size_t n = 0; n < flag.words; n++) flag.inbox[exchange % 2][n] = 0xffffffffu;
    __syncthreads();
  }
};

// A whole exchange, by some blocks of a kernel that can all run at once, before they read the halo. Apart from the kernel's
// own code, whose registers it is not to take.
template <class Value>
__device__ __noinline__ void exchange_in_kernel(const HaloExchange &halo, const Value *u, unsigned block,
                                                unsigned blocks) {
  const Flag               flag = halo.flag_to_await();
  const unsigned long long exchange = halo.next();
  (void)halo.send(u, exchange, block, blocks);
  halo.await(flag, exchange);
}

// An exchange that the first kernel does which is launched with the field: see Halo::BeginInKernel().
struct HaloInKernel {
  HaloExchange exchange;
  bool         is_done = true;

  static HaloExchange take(HaloInKernel *from) { // empty where another has it, or there is none
    if (!from || from->is_done) return {};
    from->is_done = true;
    return from->exchange;
  }
};

// The points that some blocks compute, and the exchange that comes before.
struct OtherPoints {
  Boxes        boxes;
  unsigned     blocks = 0;
  HaloExchange halo;

  OtherPoints() = default;
  OtherPoints(const Boxes &points, HaloInKernel *exchange, int threads)
      : boxes(points), blocks(blocks_of(points.points(), threads)), halo(HaloInKernel::take(exchange)) {
    if (!halo.any()) return;
    const unsigned most = 2 * (unsigned)multiprocessors(); // all of them can wait at once
    blocks = PetscMin(PetscMax(PetscMax(blocks, blocks_of((PetscInt64)halo.values, threads)), 1u), most);
  }
  // By the first blocks of a kernel.
  template <class T, class Other>
  __device__ __forceinline__ void exchange_and_compute(const T *u, const Other &other) const {
    if (halo.any()) exchange_in_kernel(halo, u, blockIdx.x, blocks);
    compute(other);
  }
  template <class Other> __device__ __forceinline__ void compute(const Other &other) const {
    const unsigned threads = HaloExchange::threads();
    PetscInt       p[3];
    for (PetscInt64 n = (PetscInt64)blockIdx.x * threads + HaloExchange::thread(); boxes.point(n, p);
         n += (PetscInt64)blocks * threads)
      other(p[0], p[1], p[2]);
  }
};

} // namespace shellac
#endif
