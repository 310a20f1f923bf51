#include "capture/places.hpp"

namespace shellac {

static Box owned_box(const Grid &grid) {
  Box box;
  for (int a = 0; a < 3; a++) box.lo[a] = grid.start[a], box.hi[a] = grid.start[a] + grid.size[a];
  return box;
}

NumberedRows::NumberedRows(const Grid &grid, const Arms &arms, const Box &points, PetscInt begin)
    : arms_(&arms), begin_(begin), dof_(grid.dof), numbered_(points), own_(owned_box(grid)), plain_(points) {
  enum : int { none = -1, several = -2 };
  for (int a = 0; a < 3; a++) {
    const PetscInt width = a < grid.dim ? grid.width : 0;
    if (grid.boundary[a] != DM_BOUNDARY_PERIODIC) {
      plain_.lo[a] = PetscMax(points.lo[a], 0);
      plain_.hi[a] = PetscMin(points.hi[a], grid.N[a]);
    }
    inside_.lo[a] = plain_.lo[a] + width;
    inside_.hi[a] = plain_.hi[a] - width;
  }
  at_[0] = points.hi[0]; // no row follows
  const auto distance = [&](int arm) {
    const PetscInt *d = arms.step(arm);
    return dof_ * (d[0] + (PetscInt64)points.size(0) * (d[1] + (PetscInt64)points.size(1) * d[2]));
  };
  for (int arm = 0; arm < arms.count(); arm++) reach_ = PetscMax(reach_, distance(arm));
  arm_value_.assign((size_t)(2 * reach_ + dof_), none);
  for (int arm = 0; arm < arms.count(); arm++)
    for (PetscInt c = 0; c < dof_; c++) {
      int &there = arm_value_[(size_t)(distance(arm) + reach_ + c)];
      there = there == none ? (int)(arm * dof_ + c) : several;
    }
}

// False where the row is not numbered.
bool NumberedRows::find_point(PetscInt row) {
  const PetscInt64 n = (PetscInt64)row - begin_;
  if (n < 0 || n >= dof_ * numbered_.points()) return false;
  r_ = (PetscInt)(n % dof_);
  numbered_.point(n / dof_, at_);
  return true;
}

Places::Places(const Grid &grid, const Arms &arms, PetscMPIInt rank)
    : NumberedRows(grid, arms, owned_box(grid), grid.offset[rank]), grid_(&grid), arms_(&arms) {}

int Places::search(PetscInt column) const {
  PetscInt q[3], c;
  if (last_ < 0 || column < 0) return ignored;
  if (!of_last_.mine) return elsewhere;
  (void)grid_->find_row(column, q, &c);
  for (int a = 0; a < 3; a++) q[a] -= of_last_.at[a];
  const int arm = arms_->find(q);
  return arm < 0 ? (int)outside : slot_number(arms_->count(), grid_->dof, arm, of_last_.value, c);
}

} // namespace shellac
