#pragma once
// Kinds of rows: when rows are taken for equal, and how many different ones there are.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "device/runs.hpp"

namespace shellac {

// Whether a coefficient is taken for equal to another.
template <class T> SHELLAC_HD bool alike(T value, T other, PetscReal tolerance) {
  return value == other || (tolerance > 0 && PetscAbsScalar(value - other) <= tolerance * PetscAbsScalar(other));
}

// A value's place in a lattice of relative steps, so that values of one place are alike.
SHELLAC_HD PetscReal rounded(PetscReal x, PetscReal tolerance) {
  int exponent;
  if (tolerance <= 0 || x == 0 || x - x != 0) return x + 0; // no negative zero; or not finite
  const PetscReal fraction = std::frexp(x, &exponent), step = tolerance / 2;
  return std::ldexp(std::round(fraction / step) * step, exponent);
}

// What stands for a coefficient where rows are compared.
template <class T> SHELLAC_HD T key_of(T value, PetscReal tolerance) {
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(rounded(PetscRealPart(value), tolerance), rounded(PetscImaginaryPart(value), tolerance));
#else
  return rounded(value, tolerance);
#endif
}

template <class T> SHELLAC_HD uint64_t add_to_hash(uint64_t hash, T key) {
  constexpr int parts = sizeof(T) / sizeof(PetscReal);
  for (int part = 0; part < parts; part++) {
    const PetscReal value = part ? PetscImaginaryPart(key) : PetscRealPart(key);
    uint64_t        word = 0;
    memcpy(&word, &value, sizeof(value) < sizeof(word) ? sizeof(value) : sizeof(word));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
  return hash;
}

// Coefficients in arrays.
template <class T> struct ArrayValues {
  T *const *values; // [slots][points]; null for zero

  SHELLAC_HD bool zero(int slot) const { return !values[slot]; }
  SHELLAC_HD T    operator()(int slot, size_t at) const { return values[slot] ? values[slot][at] : T(0); }
  // From a point on, of a slot that is not zero; room: where they may be put.
  template <int most> SHELLAC_RUN const T *run(int slot, size_t at, int, T (&)[most]) const {
    return values[slot] + at;
  }
};

// Of the rows at a point; read(slot, at) gives the coefficients. Never 0.
template <class T, class Read>
SHELLAC_HD uint64_t hash_of_rows(const Read &read, int slots, size_t at, PetscReal tolerance) {
  uint64_t hash = 0;
  for (int s = 0; s < slots; s++) hash = add_to_hash(hash, key_of<T>(read(s, at), tolerance));
  return hash ? hash : 1;
}

// A set of hashes, for many threads: an open table, 0 where it is free. places: a power of two.
struct HashSet {
  uint64_t *table;
  size_t    places;

  // Puts one in, or finds it; *is_new: it has not been there. Its place; places where all are taken.
  SHELLAC_HD size_t put(uint64_t hash, bool *is_new) const {
    size_t place = (size_t)(hash >> 20) & (places - 1);
    for (size_t tries = 0; tries < places; tries++) {
      const uint64_t present = *(volatile uint64_t *)&table[place]; // no old one out of a cache
      *is_new = false;
      if (present == hash) return place;
      if (present == 0) {
#if defined(__CUDA_ARCH__)
        const unsigned long long before =
            atomicCAS((unsigned long long *)&table[place], 0ull, (unsigned long long)hash);
#else
        const uint64_t before = 0;
        table[place] = hash;
#endif
        *is_new = before == 0;
        if (before == 0 || before == hash) return place;
      }
      place = (place + 1) & (places - 1);
    }
    *is_new = true;
    return places;
  }
};

// Of a set of so many.
inline size_t places_for(size_t most) {
  size_t places = 1;
  while (places < 4 * most) places *= 2;
  return places;
}

SHELLAC_HD int count_up(int *counter) { // what it was
#if defined(__CUDA_ARCH__)
  return atomicAdd(counter, 1);
#else
  return (*counter)++;
#endif
}

SHELLAC_HD void lower_to(int64_t *least, int64_t value) {
#if defined(__CUDA_ARCH__)
  if (value < *(volatile int64_t *)least) atomicMin((long long *)least, (long long)value);
#else
  if (value < *least) *least = value;
#endif
}

} // namespace shellac
