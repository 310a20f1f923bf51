#pragma once
// States and fields that are no special ones, the same in every run.

#include "device/launch.hpp"

namespace shellac {

// A number in [0.5, 1.5] that depends on the place and a seed alone.
SHELLAC_HD double any_number(size_t place, unsigned seed) {
  unsigned long long bits = (place + 1) * 6364136223846793005ull + seed * 1442695040888963407ull;
  bits ^= bits >> 31, bits *= 0x9e3779b97f4a7c15ull, bits ^= bits >> 29;
  return 0.5 + (double)(bits >> 11) / 9007199254740992.;
}

SHELLAC_HD PetscScalar any_scalar(size_t place, unsigned seed) {
#if defined(PETSC_USE_COMPLEX)
  return PetscScalar(any_number(place, seed), any_number(place, seed + 100) - 1);
#else
  return any_number(place, seed);
#endif
}

} // namespace shellac
