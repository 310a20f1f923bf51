#include "device/sort.hpp"

#include <array>
#include <numeric>

#if SHELLAC_CUDA
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#endif

namespace shellac {

// Radix sort by digits of eight bits, the last one first. Without values it sorts only the keys. Returns the sorted keys,
// which are in `buffer` (room for twice as many) or, if they were in order, `keys` themselves.
static const uint64_t *sort_on_host(size_t n, const uint64_t *keys, const PetscInt *values, PetscInt *sorted,
                                    uint64_t *buffer) {
  constexpr int                               digits = 8;
  std::array<std::array<size_t, 256>, digits> starts = {};
  std::vector<PetscInt>                       other(values ? n : 0);
  const PetscInt                             *from = values;
  uint64_t                                   *keys_to = buffer;
  PetscInt                                   *to = sorted;
  const auto digit_of = [](uint64_t key, int d) { return (size_t)(key >> (8 * d) & 255); };
  for (size_t i = 0; i < n; i++)
    for (int d = 0; d < digits; d++) starts[d][digit_of(keys[i], d)]++;
  for (int d = 0; d < digits; d++) {
    auto &start = starts[d];
    if (n && start[digit_of(keys[0], d)] == n) continue; // all have the same one
    size_t sum = 0;
    for (size_t &count : start) sum += std::exchange(count, sum);
    for (size_t i = 0; i < n; i++) {
      const size_t at = start[digit_of(keys[i], d)]++;
      keys_to[at] = keys[i];
      if (values) to[at] = from[i];
    }
    keys = keys_to;
    from = to;
    keys_to = keys_to == buffer ? buffer + n : buffer;
    to = to == sorted ? other.data() : sorted;
  }
  if (values && from != sorted) std::copy(from, from + n, sorted);
  return keys;
}

#if SHELLAC_CUDA
// Calls run(room, &bytes, stream), which returns the bytes that it needs if room is null; `before` numbers come before.
template <class Run> static PetscErrorCode on_device(size_t n, size_t before, Scratch<uint64_t> *work, const Run &run) {
  size_t       bytes = 0;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(current_stream(&stream));
  PetscCallCUDA(run((uint64_t *)nullptr, (void *)nullptr, &bytes, stream));
  PetscCall(work->Grow(before + bytes / sizeof(uint64_t) + 1, PETSC_MEMTYPE_CUDA));
  uint64_t *room = work->at(PETSC_MEMTYPE_CUDA);
  PetscCallCUDA(run(room, (void *)(room + before), &bytes, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode SortByKeys(PetscMemType memory, size_t n, const uint64_t *keys, const PetscInt *values, PetscInt *sorted,
                          Scratch<uint64_t> *work) {
  PetscFunctionBegin;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const auto sort = [&](uint64_t *sorted_keys, void *room, size_t *bytes, cudaStream_t stream) {
      return cub::DeviceRadixSort::SortPairs(room, *bytes, keys, sorted_keys, values, sorted, n, 0, 64, stream);
    };
    PetscCall(on_device(n, n, work, sort));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(work->Grow(2 * n, memory));
  (void)sort_on_host(n, keys, values, sorted, work->at(memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SortKeys(PetscMemType memory, size_t n, const uint64_t *keys, uint64_t *sorted,
                        Scratch<uint64_t> *work) {
  PetscFunctionBegin;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const auto sort = [&](uint64_t *, void *room, size_t *bytes, cudaStream_t stream) {
      return cub::DeviceRadixSort::SortKeys(room, *bytes, keys, sorted, n, 0, 64, stream);
    };
    PetscCall(on_device(n, 0, work, sort));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(work->Grow(2 * n, memory));
  const uint64_t *in_order = sort_on_host(n, keys, NULL, NULL, work->at(memory));
  std::copy(in_order, in_order + n, sorted);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddUp(PetscMemType memory, size_t n, const unsigned char *flags, uint32_t *sums,
                     Scratch<uint64_t> *work) {
  uint32_t sum = 0;

  PetscFunctionBegin;
  (void)work;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const auto scan = [&](uint64_t *, void *room, size_t *bytes, cudaStream_t stream) {
      return cub::DeviceScan::ExclusiveScan(room, *bytes, flags, sums, cuda::std::plus<>{}, (uint32_t)0, n, stream);
    };
    PetscCall(on_device(n, 0, work, scan));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (size_t i = 0; i < n; i++) {
    sums[i] = sum;
    sum += flags[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
