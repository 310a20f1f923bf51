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
  PetscInt         own = 0;    // values that a call brings
  PetscInt         sent = 0;   // values that other ranks send to this one
  PetscSF          sf = NULL;  // brings them, in the order of their ranks; null where no rank sends any
  std::vector<int> slots;      // that get values on this rank
  Mirror<int>      number;     // [slots of the stencil]: in slots; -1 for none
  size_t           count = 0;  // of the values that are stored here
  size_t           points = 0; // of the patch
  // The host takes block after block of points, and the values of a block in the order of their numbers.
  int                   shift = 0;     // a block has 1 << shift points
  std::vector<PetscInt> begin;         // [blocks + 1]: of a block's values
  std::vector<PetscInt> value;         // their numbers; empty: the n-th value is number n
  std::vector<uint32_t> place;         // where each is added: see SumsByBlocks
  bool                  single = true; // no coefficient has more than one; then:
  std::vector<size_t>   first_empty;   // [blocks + 1]: of a block's coefficients without a value, in
  std::vector<uint32_t> empty;         // the places of these
  // A GPU takes each coefficient by itself.
  Mirror<PetscInt>      first;    // [slots][points] + 1: of a coefficient's values, in source; see Sums
  Mirror<PetscInt>      source;   // the numbers of the values
  Scratch<PetscScalar>  received; // [sent]
  bool                  made_sources = false;
  bool                  verifiable = false; // with the entries, for -mat_stencil_verify:
  std::vector<PetscInt> rows, columns;      // [own], global

  size_t         block() const { return (size_t)1 << shift; }
  size_t         stride() const { return block() + 8; } // of SumsByBlocks: not a power of two, for the cache's sake
  void           MakeSources();                         // first and source, unless they are there
  PetscErrorCode Destroy() {
    PetscFunctionBegin;
    PetscCall(PetscSFDestroy(&sf));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// The coefficients of a call on a GPU: each is the sum of its values, in their order.
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
  SHELLAC_HD T value(PetscInt n) const { return n < own ? values[n] : received[n - own]; }
};

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
};

// The same sums on the host. Those of a block of points are made together, [1 + slots][stride], in the first cache: values
// are then read in the order of their list. The first row takes what belongs nowhere.
class SumsByBlocks {
public:
  using T = PetscScalar;

  SumsByBlocks(const CooMap &map, const T *values, const T *received)
      : map_(map), values_(values), received_(received), sums_((1 + map.slots.size()) * map.stride()) {}
  bool zero(int slot) const { return map_.number.host()[(size_t)slot] < 0; }
  // From a point on, where they are until the next call for another block; and of how many points.
  const T *run(int slot, size_t at) {
    if (at >> map_.shift != block_) load(at >> map_.shift);
    return &sums_[(size_t)(1 + map_.number.host()[(size_t)slot]) * map_.stride() + (at & (map_.block() - 1))];
  }
  PetscInt length(size_t at) const { return (PetscInt)(map_.block() - (at & (map_.block() - 1))); }

private:
  void load(size_t block);

  const CooMap  &map_;
  const T       *values_, *received_;
  std::vector<T> sums_;
  size_t         block_ = SIZE_MAX;
};

} // namespace shellac
