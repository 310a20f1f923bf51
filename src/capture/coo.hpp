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
  PetscErrorCode Destroy() { return PetscSFDestroy(&sf); }
};

// Makes a map of entries that are given one after the other.
class MapMaker {
public:
  // slots: of the stencil; entries: as a rule.
  MapMaker(CooMap *map, int slots, size_t points, size_t entries) : map_(map) {
    constexpr size_t cache = 256 << 10, most = 256; // the second cache; the lines that are written are in the first
    map->points = points;
    map->number.change().assign((size_t)slots, -1);
    while (map->block() < 8 || (map->block() < most && 2 * map->block() * (size_t)slots * sizeof(PetscScalar) <= cache))
      map->shift++;
    map->begin.assign((points + map->block() - 1) / map->block() + 1, 0);
    map->place.reserve(entries);
    block_of_.reserve(entries);
  }
  void add(int slot, size_t at) {
    int &number = map_->number.change()[(size_t)slot];
    if (number < 0) {
      number = (int)map_->slots.size();
      map_->slots.push_back(slot);
    }
    const PetscInt block = (PetscInt)(at >> map_->shift);
    in_order_ = in_order_ && block >= last_;
    last_ = block;
    map_->count++;
    push((uint32_t)((size_t)(number + 1) * map_->stride() + (at & (map_->block() - 1))));
  }
  void add_ignored() { push(0); }
  void finish() {
    auto &begin = map_->begin;
    for (PetscInt block : block_of_) begin[(size_t)block + 1]++;
    for (size_t b = 1; b < begin.size(); b++) begin[b] += begin[b - 1];
    if (!in_order_) order();
    find_empty();
  }

private:
  void order() { // by their blocks
    std::vector<PetscInt> next(map_->begin.begin(), map_->begin.end() - 1);
    std::vector<uint32_t> place(map_->place.size());
    map_->value.resize(place.size());
    for (size_t e = 0; e < place.size(); e++) {
      const size_t n = (size_t)next[(size_t)block_of_[e]]++;
      map_->value[n] = (PetscInt)e;
      place[n] = map_->place[e];
    }
    map_->place = std::move(place);
  }
  // Coefficients without a value; or that some have several.
  void find_empty() {
    std::vector<size_t> seen((1 + map_->slots.size()) * map_->stride(), SIZE_MAX);
    for (size_t b = 0; b + 1 < map_->begin.size(); b++) {
      map_->first_empty.push_back(map_->empty.size());
      for (size_t n = (size_t)map_->begin[b]; n < (size_t)map_->begin[b + 1]; n++) {
        const uint32_t place = map_->place[n];
        if (place && seen[place] == b) {
          map_->single = false;
          map_->first_empty.clear();
          map_->empty.clear();
          return;
        }
        seen[place] = b;
      }
      for (size_t p = map_->stride(); p < seen.size(); p++)
        if (seen[p] != b && p % map_->stride() < map_->block()) map_->empty.push_back((uint32_t)p);
    }
    map_->first_empty.push_back(map_->empty.size());
  }
  void push(uint32_t place) {
    map_->place.push_back(place);
    block_of_.push_back(last_);
  }

  CooMap               *map_;
  bool                  in_order_ = true;
  PetscInt              last_ = 0; // the block of the last entry
  std::vector<PetscInt> block_of_; // of all
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
  template <int most> SHELLAC_RUN const T *run(int slot, size_t at, int, T (&to)[most]) const {
    to[0] = (*this)(slot, at);
    return to;
  }
  SHELLAC_HD int length(size_t) const { return 1; }
  SHELLAC_HD T   value(PetscInt n) const { return n < own ? values[n] : received[n - own]; }
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
  // From a point on, where they are until the next call for another block.
  const T *run(int slot, size_t at) {
    if (at >> map_.shift != block_) load(at >> map_.shift);
    return &sums_[(size_t)(1 + map_.number.host()[(size_t)slot]) * map_.stride() + (at & (map_.block() - 1))];
  }

private:
  void load(size_t block);

  const CooMap  &map_;
  const T       *values_, *received_;
  std::vector<T> sums_;
  size_t         block_ = SIZE_MAX;
};

// As functors read them. These are compiled for GPUs, too, and called on the host alone.
struct SumsOnHost {
  using T = PetscScalar;

  SumsByBlocks *sums;
  const int    *number; // see CooMap
  size_t        block;

  SHELLAC_HD bool zero(int slot) const { return number[slot] < 0; }
  SHELLAC_HD T    operator()(int slot, size_t at) const {
       T room[1] = {};
       return zero(slot) ? T(0) : *run(slot, at, 1, room);
  }
  template <int most> SHELLAC_RUN const T *run(int slot, size_t at, int, T (&room)[most]) const {
#if defined(__CUDA_ARCH__)
    return room;
#else
    (void)room;
    return sums->run(slot, at);
#endif
  }
  SHELLAC_HD int length(size_t at) const {
    return (int)(block - (at & (block - 1)));
  }
};

} // namespace shellac
