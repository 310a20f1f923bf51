#pragma once
// The coefficients that the entries of a list belong to.

#include <algorithm>

#include "capture/mat.hpp"

namespace shellac {

// Finds the coefficient of an entry. Columns on this rank are told by their distance to the row in the rank's numbering.
class Places {
public:
  enum : int { ignored = -1, elsewhere = -2, outside = -3 };

  Places(const CapturedMat &context, PetscMPIInt rank)
      : grid_(context.grid), arms_(*context.arms), op_(context.captured()), begin_(grid_.offset[rank]),
        end_(grid_.offset[rank + 1]), by_distance_(arms_, grid_.size, grid_.dof) {}
  // Its slot; or one of the values above, for an entry that is ignored, of another rank's row or outside the stencil.
  int slot(PetscInt row, PetscInt column) {
    if (row != row_) start(row);
    const int arm_value = mine_ ? by_distance_.find(column - first_column_) : -1;
    if (arm_value >= 0 && (inner_ || leads_to_patch(arm_value / (int)grid_.dof))) return first_slot_ + arm_value;
    return search(column);
  }
  size_t at() const { return (size_t)point_; } // of the last slot: its point on the patch

private:
  void start(PetscInt row) { // most often of the row that follows
    const bool follows = mine_ && row == row_ + 1;
    row_ = row;
    mine_ = begin_ <= row && row < end_;
    if (!mine_) return;
    if (!follows) {
      point_ = (row - begin_) / grid_.dof;
      r_ = (row - begin_) - point_ * grid_.dof;
      op_.patch().all().point(point_, p_);
    } else if (++r_ == grid_.dof) {
      r_ = 0, point_++;
      for (int a = 0; a < 3 && ++p_[a] == grid_.size[a]; a++) p_[a] = 0;
    }
    first_slot_ = op_.slot(0, r_, 0);
    first_column_ = begin_ + point_ * grid_.dof;
    inner_ = true;
    for (int a = 0; a < grid_.dim; a++) inner_ = inner_ && p_[a] >= grid_.width && p_[a] < grid_.size[a] - grid_.width;
  }
  bool leads_to_patch(int arm) const {
    const PetscInt *d = arms_.step(arm), q[3] = {p_[0] + d[0], p_[1] + d[1], p_[2] + d[2]};
    return op_.patch().contains(q);
  }
  int search(PetscInt column) const {
    PetscInt q[3], c;
    if (row_ < 0 || column < 0) return ignored;
    if (!mine_) return elsewhere;
    (void)grid_.find_row(column, q, &c);
    for (int a = 0; a < 3; a++) q[a] -= grid_.start[a] + p_[a];
    const int arm = arms_.find(q);
    return arm < 0 ? (int)outside : op_.slot(arm, r_, c);
  }

  const Grid            &grid_;
  const Arms            &arms_;
  const CapturedStencil &op_;
  const PetscInt64       begin_, end_; // this rank's rows
  const ArmsByDistance   by_distance_;
  PetscInt               row_ = -1;      // the last one
  bool                   mine_ = false;  // this rank's; then
  bool                   inner_ = false; // all arms lead to points of the patch
  PetscInt64             point_ = 0, first_column_ = 0;
  PetscInt               p_[3] = {0, 0, 0}, r_ = 0;
  int                    first_slot_ = 0;
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

} // namespace shellac
