#pragma once
// Assembly by MatSetPreallocationCOO() and MatSetValuesCOO(): which of a call's values are summed in which coefficient.

#include <petscsf.h>

#include "capture/coefficients.hpp"
#include "device/mirror.hpp"
#include "device/scratch.hpp"

namespace shellac {

// Made once, used by each MatSetValuesCOO(). The values of a call are numbered: the caller's first, then those that
// other ranks send.
struct CooMap {
  PetscInt              own = 0;            // values that a call brings
  PetscInt              sent = 0;           // values that other ranks send to this one
  PetscSF               sf = NULL;          // brings them, in the order of their ranks; null where no rank sends any
  std::vector<int>      slots;              // that get values on this rank
  Mirror<int>           number;             // [slots of the stencil]: in slots; -1 for none
  Mirror<PetscInt>      first;              // [slots][points] + 1: of a coefficient's values, in source; see Sums
  Mirror<PetscInt>      source;             // the numbers of the values
  size_t                count = 0;          // of the values that are stored here
  Scratch<PetscScalar>  received;           // [sent]
  bool                  verifiable = false; // with the entries, for -mat_stencil_verify:
  std::vector<PetscInt> rows, columns;      // [own], global

  PetscErrorCode Destroy() {
    PetscFunctionBegin;
    PetscCall(PetscSFDestroy(&sf));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// The coefficients of a call: each is the sum of its values, in their order.
template <class T> struct Sums {
  size_t          points;
  const int      *number; // see CooMap
  const PetscInt *first;  // null: no coefficient has more than one value
  const PetscInt *source; // then [slots][points], -1 for no value
  PetscInt        own;
  const T        *values, *received; // null: none are

  SHELLAC_HD bool zero(int slot) const { return number[slot] < 0; }
  SHELLAC_HD T    operator()(int slot, size_t at) const {
       if (number[slot] < 0) return 0;
    const size_t e = (size_t)number[slot] * points + at;
       if (!first) return source[e] < 0 ? T(0) : value(source[e]);
    T sum = 0;
       for (PetscInt n = first[e]; n < first[e + 1]; n++) sum += value(source[n]);
    return sum;
  }
  // Those of a slot at n points next to each other, on the host.
  void get(int slot, size_t at, PetscInt n, T *to) const {
    if (zero(slot) || first || received) {
      for (PetscInt i = 0; i < n; i++) to[i] = (*this)(slot, at + (size_t)i);
      return;
    }
    const PetscInt *from = source + (size_t)number[slot] * points + at;
    for (PetscInt i = 0; i < n; i++) to[i] = from[i] < 0 ? T(0) : values[from[i]];
  }
  SHELLAC_HD T value(PetscInt n) const { return n < own ? values[n] : received[n - own]; }
};

// Loops on the host that compare rows go over so many points, slot by slot: the values then stay in the cache.
constexpr PetscInt points_at_once = 64;

// Puts them into the coefficients of the operator, or adds them.
template <class T> struct PutSums {
  Sums<T>             sums;
  OpenCoefficients<T> to;
  bool                add;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const size_t at = to.patch.index(i, j, k);
    for (int s = 0; s < to.count(); s++) {
      if (sums.zero(s)) continue;
      T &entry = to.values[s][at];
      entry = add ? entry + sums(s, at) : sums(s, at);
    }
  }
  void on_host() const {
    // The values of few slots stay in the smallest cache; for many slots, long runs of each are faster.
    constexpr int long_run = 1024, few = 16, in_cache = 256;
    int           slots = 0;
    for (int s = 0; s < to.count(); s++) slots += !sums.zero(s);
    const size_t points = slots > few ? long_run : in_cache / PetscMax(slots, 1);
    T            some[long_run];
    for (size_t at = 0; at < sums.points; at += points) {
      const PetscInt n = (PetscInt)PetscMin(points, sums.points - at);
      for (int s = 0; s < to.count(); s++) {
        if (sums.zero(s)) continue;
        T *entries = to.values[s] + at;
        sums.get(s, at, n, add ? some : entries);
        for (PetscInt i = 0; i < n && add; i++) entries[i] += some[i];
      }
    }
  }
};

} // namespace shellac
