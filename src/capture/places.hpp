#pragma once
// The coefficients that entries belong to, by their rows and columns.

#include "capture/arms.hpp"
#include "capture/coefficients.hpp"

namespace shellac {

// Points that are numbered along the first axis first, among them a rank's patch. Finds the slots of a row's entries by
// the distances of their columns.
class NumberedRows {
public:
  struct Row {
    const NumberedRows *all;
    PetscInt            at[3], value; // which value at the point with these indices on the whole grid
    bool                mine, inner; // the point is on the patch; all its arms lead to points whose distance tells them
    size_t              point;       // its number on the patch
    int                 first_slot;
    PetscInt64          first_column; // that arms reach
    size_t              columns;
    const int          *arm_values;

    // Of the entry in a column; negative for other ranks' rows, and for columns whose distance tells nothing.
    int slot(PetscInt column) const {
      const size_t distance = (size_t)(column - first_column);
      const int    arm_value = distance < columns ? arm_values[distance] : -1;
      return arm_value >= 0 && (inner || all->has_arm(*this, arm_value)) ? first_slot + arm_value : -1;
    }
  };

  NumberedRows() = default;
  // The points of a box, which may go beyond the domain; the first value of the first one has the number `begin`.
  NumberedRows(const Grid &grid, const Arms &arms, const Box &points, PetscInt begin);
  // Most often a row follows the last one: divisions are saved then.
  Row start(PetscInt row) {
    Row r = {this, {0, 0, 0}, 0, false, false, 0, 0, 0, 0, nullptr};
    if (row == row_ + 1 && at_[0] + 1 < numbered_.hi[0]) {
      if (++r_ == dof_) r_ = 0, at_[0]++;
    } else if (!find_point(row))
      return r;
    row_ = row;
    for (int a = 0; a < 3; a++) r.at[a] = at_[a];
    r.value = r_;
    r.mine = own_.contains(at_);
    r.inner = r.mine && inside_.contains(at_);
    r.point = own_.index(at_);
    r.first_slot = slot_number(arms_->count(), dof_, 0, r_, 0);
    r.first_column = row - r_ - reach_;
    r.columns = arm_value_.size();
    r.arm_values = arm_value_.data();
    return r;
  }

private:
  bool find_point(PetscInt row);
  bool has_arm(const Row &row, int arm_value) const {
    const PetscInt *d = arms_->step(arm_value / (int)dof_),
                   to[3] = {row.at[0] + d[0], row.at[1] + d[1], row.at[2] + d[2]};
    return row.mine && plain_.contains(to);
  }

  const Arms      *arms_ = nullptr;
  PetscInt         begin_ = 0, dof_ = 1;
  Box              numbered_, own_, plain_; // the patch; numbered points in the domain, or around its periodic axes;
  Box              inside_;                 // those of them whose arms all lead to others
  PetscInt64       reach_ = 0;              // the longest distance
  std::vector<int> arm_value_;              // arm * dof + value at each distance; negative for none, or several
  PetscInt         row_ = -1, at_[3] = {0, 0, 0}, r_ = 0; // the last one that was found
};

// The rows and columns of the whole matrix.
class Places : public NumberedRows {
public:
  enum : int { ignored = -1, elsewhere = -2, outside = -3 };

  Places() = default;
  Places(const Grid &grid, const Arms &arms, PetscMPIInt rank);
  // The slot of an entry, for point(); or one of the values above, for one that is ignored, of another rank's row or
  // outside the stencil.
  int slot(PetscInt row, PetscInt column) {
    if (row != last_) of_last_ = start(last_ = row);
    const int slot = of_last_.slot(column);
    return slot >= 0 ? slot : search(column);
  }
  size_t point() const { return of_last_.point; }

private:
  int search(PetscInt column) const;

  const Grid *grid_ = nullptr;
  const Arms *arms_ = nullptr;
  PetscInt    last_ = -1;
  Row         of_last_ = {};
};

} // namespace shellac
