#pragma once
// Asynchronous copies into the shared memory of a block ("bulk copies", compute capability 9.0 and later), and a ring of
// stages that one thread fills with them.

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
               SHELLAC_BULK("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                            : "=r"(ended)
                            : "r"(address_of(this)), "r"(parity)
                            : "memory");
               return ended;
  }

  unsigned long long state_;
};

#undef SHELLAC_BULK

// Values from any address, by a copy that begins and ends at multiples of 16 bytes. Modulo 16 bytes, their address in shared
// memory is that in global memory. Up to 15 bytes on either side are also read.
template <class T> struct BulkLine {
  const char *first;
  unsigned    bytes;

  __device__ BulkLine(const T *from, const T *to)
      : first((const char *)((uintptr_t)from & ~(uintptr_t)15)),
        bytes((unsigned)((((uintptr_t)to + 15) & ~(uintptr_t)15) - (uintptr_t)first)) {}
  static __device__ unsigned phase(const T *from) { return (unsigned)((uintptr_t)from & 15); }
  // Into a stage that begins with the value at `origin`, which is not behind the first one.
  __device__ void copy(unsigned char *stage, const T *origin, BulkBarrier *barrier) const {
    barrier->copy(stage + (first - ((const char *)origin - phase(origin))), first, bytes);
  }
};

// A ring of stages, for one thread that fills them and warps that read them; each counts its own stage.
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

} // namespace shellac
#endif
