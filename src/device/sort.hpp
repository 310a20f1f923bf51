#pragma once
// Sorts and running sums of arrays, on the host or in PETSc's CUDA stream (by CUB).

#include <cstdint>
#include <cstring>

#include "device/launch.hpp"
#include "device/scratch.hpp"

namespace shellac {

// Numbers in the order of real ones.
SHELLAC_HD uint64_t ordered_bits(double x) {
  uint64_t bits;
  x += 0.; // -0 is 0
  memcpy(&bits, &x, sizeof(bits));
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

// sorted[0 .. n-1]: the values in the order of their keys; equal keys leave them in their order. work: room.
PetscErrorCode SortByKeys(PetscMemType memory, size_t n, const uint64_t *keys, const PetscInt *values, PetscInt *sorted,
                          Scratch<uint64_t> *work);
PetscErrorCode SortKeys(PetscMemType memory, size_t n, const uint64_t *keys, uint64_t *sorted, Scratch<uint64_t> *work);

// sums[i] = flags[0] + ... + flags[i-1], modulo 2^32.
PetscErrorCode AddUp(PetscMemType memory, size_t n, const unsigned char *flags, uint32_t *sums,
                     Scratch<uint64_t> *work);

} // namespace shellac
