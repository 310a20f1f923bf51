#pragma once
// A stencil operator whose coefficients an application has set, point by point.
//
// Open for assembly, each slot (an arm, a row and a value at the point) has an array of coefficients on the host.
// Closed, rows that are equal are stored once: see Storage.

#include <memory>
#include <string>

#include "capture/arms.hpp"
#include "capture/coefficients.hpp"
#include "device/arrays.hpp"
#include "device/mirror.hpp"
#include "stencil/operator.hpp"

namespace shellac {

struct Compression {
  bool      automatic = true; // the first form that can hold the rows
  Storage   form = Storage::arrays;
  PetscReal tolerance = 0; // relative, by which coefficients of one class may differ
};

// Why a form cannot hold the rows.
struct Refusal {
  bool     refused = false;
  PetscInt point[3] = {0, 0, 0}; // on the patch: whose row is like none of its class, or of one class too many
};

class PreparedCapture;

class CapturedStencil final : public StencilOperator {
public:
  using T = PetscScalar;

  CapturedStencil(const Patch &patch, std::shared_ptr<const Arms> arms, VecType type);
  PetscErrorCode Destroy();

  // The slot of row r at the point and value c at the arm's end.
  int slot(int arm, PetscInt r, PetscInt c) const { return (int)((r * arms_->count() + arm) * patch_.dof + c); }
  // [slots][points], to be read and changed until Close(). Cheap where it is open already.
  PetscErrorCode Open(T *const **values);
  PetscErrorCode Close(const Compression &wish, Refusal *refusal);
  bool           open() const { return open_; }
  PetscErrorCode Zero();
  PetscErrorCode Scale(T a);
  PetscErrorCode Shift(T a);
  PetscErrorCode Conjugate();
  PetscErrorCode Axpy(T a, CapturedStencil &x, const Compression &wish); // both closed, of one grid
  PetscErrorCode CopyTo(CapturedStencil *to);                            // closed

  // The operator with its coefficients in the memory of the other arrays, until these are restored.
  PetscErrorCode Prepare(Arrays *arrays, std::unique_ptr<PreparedCapture> *prepared);

  const Arms    &arms() const { return *arms_; }
  const char    *vec_type() const { return vec_type_.c_str(); }
  Storage        storage() const { return storage_; }
  size_t         kinds() const { return kinds_; } // of rows, where they are classified
  size_t         used_slots() const { return used_.size(); }
  PetscLogDouble bytes() const;
  bool           in_domain(const PetscInt p[3], int arm) const;

  const Patch &patch() const override { return patch_; }
  int          colours() const override;

private:
  friend class PreparedCapture;
  int            slots() const { return (int)(arms_->count() * patch_.dof * patch_.dof); }
  size_t         point_count() const { return (size_t)patch_.all().points(); }
  PetscErrorCode MakeArray(Vec *array) const;
  void           use_slots(const std::vector<int> &used); // lists them
  // The used slots, filled up to a whole star or box where that has a kernel.
  std::vector<int> whole(std::vector<int> used, bool box_too) const;
  // An entry of the diagonal: always in use, because MatShift() adds to it.
  bool on_diagonal(int slot) const {
    return slot / patch_.dof % arms_->count() == arms_->center() &&
           slot % patch_.dof == slot / patch_.dof / arms_->count();
  }
  template <class Function> bool for_each_run(const Function &f) const;
  bool                           try_constant(const Compression &wish, Refusal *refusal);
  bool                           try_indexed(const Compression &wish, Refusal *refusal);
  PetscErrorCode                 DropArrays();

  Patch                       patch_;
  std::shared_ptr<const Arms> arms_;
  std::string                 vec_type_;
  bool                        open_ = false;
  std::vector<Vec>            arrays_; // [slots]; null for zero
  std::vector<T *>            values_; // open: [slots], the arrays' on the host

  Storage                storage_ = Storage::arrays;
  size_t                 kinds_ = 0;
  PetscInt               depth_[3], reach_[3]; // see CapturedCoefficients
  int                    shape_ = 0;           // the used slots are: 0 any, 1 a whole star, 2 a whole box of width 1
  std::vector<int>       used_;                // slots, row by row
  std::vector<int>       place_;               // [slots]: in used_; -1 for none
  Mirror<Slot>           slot_;
  Mirror<PetscInt64>     offset_;
  Mirror<int>            first_, diagonal_;
  Mirror<T>              table_; // [classes][used]
  Mirror<unsigned char>  index8_;
  Mirror<unsigned short> index16_;
  Mirror<const T *>      pointers_; // of the arrays in the memory that they were last prepared for
};

// Valid until the arrays that Prepare() was given are restored, or the operator changes.
class PreparedCapture final : public PreparedOperator {
public:
  using T = PetscScalar;

  explicit PreparedCapture(const CapturedStencil &op) : op_(op) {}

  PetscLogDouble flops() const override {
    return 2. * (PetscLogDouble)op_.used_.size() / (PetscLogDouble)op_.patch_.dof;
  }
  PetscErrorCode interior(PetscMemType memory, const Field<T> &u, Form form, const T *b, T *y) const override;
  PetscErrorCode points(PetscMemType memory, const Boxes &boxes, const Field<T> &u, Form form, const T *b,
                        T *y) const override;
  PetscErrorCode rows(PetscMemType memory, RowProperty property, T *out) const override;
  PetscErrorCode relax(PetscMemType memory, int colour, const Field<T> &field, PetscReal omega, T shift, const T *b,
                       T *x) const override;
  void           row(const PetscInt p[3], PetscInt c, std::vector<Entry> *entries) const override;
  // A sweep over the points in the order of the rows, on the host; a periodic axis of one rank is closed.
  void sweep_in_order(bool backward, const Field<T> &field, PetscReal omega, T shift, const T *b, T *x) const;
  // One slot's coefficients [points], on the host.
  void GetSlot(int slot, T *values) const;

private:
  friend class CapturedStencil;
  Box inner() const; // the points that a kernel for many points computes

  const CapturedStencil  &op_;
  CapturedCoefficients<T> a_ = {};
  std::vector<const T *>  arrays_; // of the used slots, where coefficients are in arrays
};

// Calls f(class, first point, its place in an array, points) for the points of a class that are next to each other
// along the first axis, as long as it returns true.
template <class Function> bool CapturedStencil::for_each_run(const Function &f) const {
  CapturedCoefficients<T> a = {};
  for (int axis = 0; axis < 3; axis++) a.depth[axis] = depth_[axis];
  const PetscInt nx = a.places(patch_, 0), ny = a.places(patch_, 1), size = patch_.size[0];
  const PetscInt far = patch_.N[0] - depth_[0] - patch_.start[0]; // where the points far from both ends end
  for (PetscInt k = 0; k < patch_.size[2]; k++)
    for (PetscInt j = 0; j < patch_.size[1]; j++) {
      const size_t line = (size_t)nx * (a.place(patch_, 1, j) + (size_t)ny * a.place(patch_, 2, k));
      for (PetscInt i = 0, points; i < size; i += points) {
        const PetscInt place = a.place(patch_, 0, i), p[3] = {i, j, k};
        points = place == depth_[0] && patch_.N[0] > 2 * depth_[0] ? PetscMin(size, far) - i : 1;
        if (!f(line + place, p, patch_.index(i, j, k), points)) return false;
      }
    }
  return true;
}

} // namespace shellac
