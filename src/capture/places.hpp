#pragma once
// Entries of a list by the coefficients that they belong to.

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

// Sorts entries by their coefficients: in one pass where each has one entry or none, else by counting them in the first.
class Sorter {
public:
  static constexpr size_t none = SIZE_MAX; // a cell

  Sorter(CooMap *map, int slots, size_t points, PetscCount entries) : map_(map), points_(points) {
    map->number.change().assign((size_t)slots, -1);
    cells_.reserve(points * std::min((size_t)slots, ((size_t)entries + points - 1) / points)); // as a rule
  }
  // The cell of a coefficient.
  size_t cell(int slot, size_t at) {
    int &number = map_->number.change()[(size_t)slot];
    if (number < 0) {
      number = (int)map_->slots.size();
      map_->slots.push_back(slot);
      cells_.resize(cells_.size() + points_, single_ ? -1 : 0);
    }
    return (size_t)number * points_ + at;
  }
  // The cells of n entries, numbered from the first one.
  void count(PetscInt n, const size_t cells[], PetscInt first) {
    for (PetscInt i = 0; i < n; i++) {
      if (cells[i] == none) continue;
      PetscInt &cell = cells_[cells[i]];
      map_->count++;
      if (single_ && cell >= 0) {
        for (PetscInt &each : cells_) each = each >= 0;
        single_ = false;
      }
      cell = single_ ? first + i : cell + 1;
    }
  }
  // each_entry(put) calls put(cell, entry) for the same entries once more, if that is needed.
  template <class Function> void finish(const Function &each_entry) {
    auto &source = map_->source.change();
    if (single_) {
      source = std::move(cells_);
      return;
    }
    PetscInt sum = 0;
    for (PetscInt &cell : cells_) {
      sum += cell;
      cell = sum - cell;
    }
    source.resize((size_t)sum);
    each_entry([&](size_t cell, PetscInt entry) { source[(size_t)cells_[cell]++] = entry; });
    cells_.insert(cells_.begin(), 0); // each is now where the next one begins
    map_->first.change() = std::move(cells_);
  }

private:
  CooMap               *map_;
  size_t                points_;
  bool                  single_ = true;
  std::vector<PetscInt> cells_; // [slots][points]: the one entry, or -1; else how many there are, then where they begin
};

} // namespace shellac
