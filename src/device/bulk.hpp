#pragma once
// Asynchronous copies into and from the shared memory of a block ("bulk copies", compute capability 9.0 and later), and a
// ring of stages that one thread fills or empties with them.

#include <cstdint>

#include "device/chain.hpp"

#if SHELLAC_CUDA
namespace shellac {

// Whether a kernel was compiled for GPUs with bulk copies; this GPU then has them.
template <class... Parameters> PetscErrorCode has_bulk_copies(void (*kernel)(Parameters...), bool *has) {
  cudaFuncAttributes attributes;

  PetscFunctionBegin;
  PetscCallCUDA(cudaFuncGetAttributes(&attributes, (const void *)kernel));
  *has = attributes.ptxVersion >= 90;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define SHELLAC_BULK(...) asm volatile(__VA_ARGS__)
#else
#define SHELLAC_BULK(...) // no such kernel is launched
#endif

// A barrier in shared memory: a phase ends when the given number of threads and the bytes that they announced have arrived.
class BulkBarrier {
public:
  __device__ void begin(int arrivals) {
    SHELLAC_BULK("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(this)), "r"(arrivals));
  }
  // Call it after this thread has initialised barriers, before other threads or copies use them.
  static __device__ void show_begun() {
    SHELLAC_BULK("fence.mbarrier_init.release.cluster;" ::: "memory");
    SHELLAC_BULK("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __device__ void arrive() {
    SHELLAC_BULK("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(this)) : "memory");
  }
  __device__ void arrive_and_expect(unsigned bytes) {
    SHELLAC_BULK("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(this)), "r"(bytes)
                 : "memory");
  }
  // Waits for the end of the phase of that parity. The first phase has parity 0; the one before, of parity 1, has ended.
  __device__ void wait(unsigned parity) {
    while (!has_ended(parity)) continue;
  }
  // Copies to shared memory; addresses and bytes are multiples of 16.
  __device__ void copy(void *to, const void *from, unsigned bytes) {
    SHELLAC_BULK(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address_of(to)),
        "l"(from), "r"(bytes), "r"(address_of(this))
        : "memory");
  }

private:
  static __device__ unsigned address_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
  __device__ bool            has_ended(unsigned parity) {
               unsigned ended = 1;
               SHELLAC_BULK("{\n.reg .pred p;\n"
                            "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                            : "=r"(ended)
                            : "r"(address_of(this)), "r"(parity)
                            : "memory");
               return ended;
  }

  unsigned long long state_;
};

// Values from any address, by a copy that begins and ends at multiples of 16 bytes. Their address in shared memory is that
// in global memory modulo the bytes of a cache line, so that none is read in two parts. Up to 15 bytes on either side are
// also read.
template <class T> struct BulkLine {
  static constexpr unsigned cache_line = 128;

  const char *first;
  unsigned    bytes;

  __device__ BulkLine(const T *from, const T *to)
      : first((const char *)((uintptr_t)from & ~(uintptr_t)15)),
        bytes((unsigned)((((uintptr_t)to + 15) & ~(uintptr_t)15) - (uintptr_t)first)) {}
  static __device__ unsigned phase(const T *from) { return (unsigned)((uintptr_t)from & (cache_line - 1)); }
  // Into a stage that begins with the value at `origin`, which is not behind the first one.
  __device__ void copy(unsigned char *stage, const T *origin, BulkBarrier *barrier) const {
    barrier->copy(stage + (first - ((const char *)origin - phase(origin))), first, bytes);
  }
};

// Values to any address, from shared memory, where they have the phase of BulkLine: by a copy of those that are in whole
// pieces of 16 bytes, and the others one by one. One thread calls its functions.
template <class T> struct BulkResults {
  T       *to;
  unsigned count, head, end; // the copy takes the values from head up to the end

  __device__ BulkResults(T *results, int values)
      : to(results), count((unsigned)values), head((unsigned)((16 - (uintptr_t)results % 16) % 16 / sizeof(T))),
        end(count - (unsigned)((uintptr_t)(results + count) % 16 / sizeof(T))) {}
  __device__ void copy(const unsigned char *stage) const {
    const T *const values = (const T *)(stage + BulkLine<T>::phase(to));
    if (end > head)
      SHELLAC_BULK("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + head),
                   "r"((unsigned)__cvta_generic_to_shared(values + head)), "r"((unsigned)((end - head) * sizeof(T)))
                   : "memory");
    SHELLAC_BULK("cp.async.bulk.commit_group;" ::: "memory");
    for (unsigned n = 0; n < head; n++) to[n] = values[n];
    for (unsigned n = end; n < count; n++) to[n] = values[n];
  }
  // Until the copies that have begun have read shared memory, or have ended.
  static __device__ void wait_until_read() { SHELLAC_BULK("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
  static __device__ void wait_for_all() { SHELLAC_BULK("cp.async.bulk.wait_group 0;" ::: "memory"); }
  // The threads that have written results to shared memory call it before one of them lets the copy begin.
  static __device__ void show() { SHELLAC_BULK("fence.proxy.async.shared::cta;" ::: "memory"); }
};

// A ring of stages, for one thread that fills or empties them and warps that read or write them; each counts its own stage.
struct BulkRing {
  static constexpr int most = 8;

  BulkBarrier full[most], empty[most];
};
struct BulkTurn {
  int      stage = 0;
  unsigned parity = 0;

  __device__ void next(int stages) {
    if (++stage == stages) stage = 0, parity ^= 1;
  }
};

#undef SHELLAC_BULK

} // namespace shellac
#endif
