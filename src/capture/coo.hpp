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
  size_t                count = 0;          // of the values that are stored here
  size_t                points = 0;         // of the patch
  Mirror<PetscInt>      first;              // [slots][points] + 1: of a coefficient's values, in source; see Sums
  Mirror<PetscInt>      source;             // the numbers of the values
  Scratch<PetscScalar>  received;           // [sent]
  bool                  verifiable = false; // with the entries, for -mat_stencil_verify:
  std::vector<PetscInt> rows, columns;      // [own], global

  PetscErrorCode Destroy() { return PetscSFDestroy(&sf); }
};

// Makes a map of entries that are given one after the other.
class MapMaker {
public:
  // slots: of the stencil; entries: as a rule.
  MapMaker(CooMap *map, int slots, size_t points, size_t entries) : map_(map) {
    map->points = points;
    map->number.change().assign((size_t)slots, -1);
    coefficient_.reserve(entries);
  }
  void add(int slot, size_t at) {
    int &number = map_->number.change()[(size_t)slot];
    if (number < 0) {
      number = (int)map_->slots.size();
      map_->slots.push_back(slot);
    }
    coefficient_.push_back((PetscInt64)((size_t)number * map_->points + at));
    map_->count++;
  }
  void add_ignored() { coefficient_.push_back(-1); }
  void finish() {
    const size_t          coefficients = map_->slots.size() * map_->points;
    std::vector<PetscInt> first(coefficients + 1, 0), &source = map_->source.change();
    const auto            for_each_value = [&](const auto &f) { // f(coefficient, number of the value)
      for (size_t e = 0; e < coefficient_.size(); e++)
        if (coefficient_[e] >= 0) f((size_t)coefficient_[e], (PetscInt)e);
    };
    bool single = true;
    for_each_value([&](size_t to, PetscInt) { single &= first[to + 1]++ == 0; });
    if (single) {
      source.assign(coefficients, -1);
      for_each_value([&](size_t to, PetscInt e) { source[to] = e; });
      return;
    }
    for (size_t c = 0; c < coefficients; c++) first[c + 1] += first[c];
    std::vector<PetscInt> next(first.begin(), first.end() - 1);
    source.resize(map_->count);
    for_each_value([&](size_t to, PetscInt e) { source[(size_t)next[to]++] = e; });
    map_->first.change() = std::move(first);
  }

private:
  CooMap                 *map_;
  std::vector<PetscInt64> coefficient_; // of each entry; -1 for none
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
  template <int most> SHELLAC_RUN const T *run(int slot, size_t at, int n, T (&to)[most]) const {
    for (int i = 0; i < n; i++) to[i] = (*this)(slot, at + (size_t)i);
    return to;
  }
  SHELLAC_HD T value(PetscInt n) const { return n < own ? values[n] : received[n - own]; }
};

// Puts them into the coefficients of the operator, or adds them.
template <class T> struct PutSums {
  Sums<T>             sums;
  OpenCoefficients<T> to;
  bool                add;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = to.patch.index(p[0], p[1], p[2]);
    for (int s = 0; s < to.count(); s++) {
      if (sums.zero(s)) continue;
      T        room[most], *entries = to.values[s] + at;
      const T *values = sums.run(s, at, n, room);
      for (int i = 0; i < n; i++) entries[i] = add ? entries[i] + values[i] : values[i];
    }
  }
};

} // namespace shellac
