#pragma once
// Long loops on the host: wide vectors if the processor has them, and streaming stores.
//
// Writing long results past the caches. An ordinary store first reads the line that it is about to overwrite; a
// streaming store does not, which saves a third of a copy's traffic. C's memcpy does the same for long copies.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <unistd.h>

#if defined(__SSE2__) && !defined(__CUDA_ARCH__)
#include <emmintrin.h>
#define SHELLAC_STREAM 1
#else
#define SHELLAC_STREAM 0
#endif

// Before a function whose loops should use AVX2 and FMA if the processor has them; WIDEST: also AVX-512, whose masks and
// registers help formulas with many cases. All helpers must be inlined: a function of its own would have another ABI.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__) &&                      \
    !defined(__SANITIZE_ADDRESS__) && defined(__OPTIMIZE__)
#define SHELLAC_WIDE   __attribute__((target_clones("arch=x86-64-v3", "default")))
#define SHELLAC_WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SHELLAC_WIDE
#define SHELLAC_WIDEST
#endif

// Before a loop whose iterations are independent.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
#define SHELLAC_COLUMNS _Pragma("GCC ivdep")
#else
#define SHELLAC_COLUMNS
#endif

namespace shellac {

// Prefetches what a loop will read `ahead` values later: the hardware prefetches one stream well, but not a stencil's.
template <class T> inline void prefetch(const T *from, size_t n) {
  constexpr size_t ahead = 8192 / sizeof(T), line = 64 / sizeof(T);
  for (size_t i = 0; i < n; i += line) __builtin_prefetch(from + ahead + i, 0, 2);
}

// Bytes of the last cache. Linux' own word comes first: on some processors glibc takes the caches of all cores together.
inline long last_cache() {
  long kilobytes = 0;
  if (FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r")) {
    if (fscanf(file, "%ldK", &kilobytes) != 1) kilobytes = 0;
    fclose(file);
  }
  if (kilobytes > 0) return kilobytes << 10;
#ifdef _SC_LEVEL3_CACHE_SIZE
  return sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
  return 0;
#endif
}

// Results of this size do not stay in the cache until their next use.
inline bool beyond_cache(size_t bytes) {
  static const long cache = last_cache();
  return bytes > (size_t)std::max(cache / 2, 4l << 20);
}

// The largest number of values from `to` on, up to `most`, that ends at the end of a cache line: a streaming store of a line
// in two parts takes as long as several lines. most: a multiple of a line
template <class T> inline int ends_with_line(const T *to, int most) {
  constexpr size_t line = 64 / sizeof(T);
  return most - (int)((uintptr_t)to / sizeof(T) % line);
}

// to[0..n) = from[0..n), past the caches; call stream_fence() before anybody else reads `to`.
template <class T> inline void stream_copy(T *to, const T *from, size_t n) {
#if SHELLAC_STREAM
  static_assert(sizeof(T) % 4 == 0 && sizeof(T) <= 16, "scalars of 4 to 16 bytes");
  char       *t = (char *)to;
  const char *f = (const char *)from;
  size_t      bytes = n * sizeof(T), head = std::min(bytes, (size_t)(-(intptr_t)t & 15));
  memcpy(t, f, head);
  t += head, f += head, bytes -= head;
  for (; bytes >= 16; t += 16, f += 16, bytes -= 16)
    _mm_stream_si128((__m128i *)t, _mm_loadu_si128((const __m128i *)f));
  memcpy(t, f, bytes);
#else
  std::copy(from, from + n, to);
#endif
}

inline void stream_fence() {
#if SHELLAC_STREAM
  _mm_sfence();
#endif
}

} // namespace shellac
