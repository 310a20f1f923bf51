#pragma once
// MatSOR() on the host: sweeps over the rank's points in the order of an AIJ's rows.
//
// In a row of points, the only value of the sweep itself that a point waits for is the one before it. All other products
// are computed for many points at once; a recurrence along the row then adds this one.

#include "capture/apply.hpp"
#include "grid/halo.hpp"

namespace shellac {

// A grid function in rows with margins on both sides: [size[2] + 2 margin[2]][size[1] + 2 margin[1]][dof][size[0] + 2
// margin[0]]. The margins have the halo, zeros beyond the domain and, where an axis is periodic on this rank alone, the
// values at its other end. So all points are computed alike.
class PaddedField {
public:
  using T = PetscScalar;

  // The patch must outlive its use.
  void       shape(const Patch &patch, const PetscInt margin[3]);
  T         *row(PetscInt j, PetscInt k) { return values_.data() + start_ + j * stride_[1] + k * stride_[2]; }
  PetscInt64 offset(const Slot &slot) const;
  PetscInt64 component() const { return component_; } // from one component of a row to the next
  bool       closed() const { return closed_[0] || closed_[1] || closed_[2]; } // some axis is periodic on this rank
  bool       closed(int axis) const { return closed_[axis]; }
  const PetscInt *margin() const { return margin_; }
  void            clear();
  void            clear_margins();
  void            load(const T *u);
  void            load_halo(const Field<T> &field);
  void            close();                           // updates all margins of closed axes
  void            close_ends(T *row) const;          // those along a row
  void            close_row(PetscInt j, PetscInt k); // those that a row is copied to

private:
  const Patch   *patch_ = nullptr;
  PetscInt       margin_[3] = {0, 0, 0}, size_[3] = {0, 0, 0}, dof_ = 0;
  bool           closed_[3] = {false, false, false}, clear_ = false; // margins are zero
  PetscInt64     component_ = 0, stride_[3] = {1, 0, 0}, start_ = 0;
  std::vector<T> values_;
};

// The coefficients of one row of points after the other as arrays, whatever form they are stored in; and the inverses of
// the diagonal's blocks.
class CoefficientLines {
public:
  using T = PetscScalar;

  // most: values of a block that is inverted as one. Both arguments must outlive get().
  void     start(const Patch &patch, const CapturedCoefficients<T> &a, PetscInt most, T shift);
  void     invalidate();                        // to be called after each change of the coefficients
  void     need(const std::vector<int> &slots); // before get(): these are made
  void     get(PetscInt j, PetscInt k);
  const T *coefficient(int s) const { return line_[s]; } // [size[0]]
  const T *inverse() const { return line_inverse_; }     // [size[0]][inverse_size()]: block by block, by columns
  size_t   inverse_size() const { return inverse_size_; }

private:
  void                        invert(const T *rows, size_t at, T *inverse) const;
  void                        know(size_t kind); // its inverse
  template <class Index> void gather(const Index *kind);
  template <class Index> void gather_changed(const Index *index, PetscInt j, PetscInt k);

  const Patch                   *patch_ = nullptr;
  const CapturedCoefficients<T> *a_ = nullptr;
  PetscInt                       most_ = 0;
  T                              shift_ = 0;
  size_t                         inverse_size_ = 0;
  std::vector<T>                 inverse_; // [points or classes][inverse_size_]
  std::vector<char>              known_;   // [classes]: has an inverse
  std::vector<int>               needed_;
  std::vector<const T *>         line_;
  const T                       *line_inverse_ = nullptr;
  // where coefficients are stored by classes
  std::vector<size_t> kind_;    // [size[0]]: work
  PetscInt            last_[2]; // the row that was gathered last or, for constant, its place; negative: none
  std::vector<T>      gathered_, gathered_inverse_;
};

// What MatSOR() is asked for.
struct SweepRequest {
  PetscReal   omega;
  PetscScalar shift;
  bool        forward, backward, from_zero;
  PetscInt    its, lits;
};

// A product that a point waits for: with a value of a point or a block before.
template <class T> struct Waiting {
  const T   *coefficient;
  PetscInt64 offset; // of the value from the point's first
};

// Keeps its work arrays from one call to the next, and inverses until the operator changes.
class HostSweeps {
public:
  using T = PetscScalar;

  PetscErrorCode Run(const Patch &patch, const CapturedCoefficients<T> &a, Halo *halo, const SweepRequest &request,
                     const T *b, T *x);
  void           invalidate() { lines_.invalidate(); } // to be called after each change of the operator

private:
  struct Pass {
    bool      backward;
    bool      half; // only the arms to the points before are applied
    const T  *b;    // null for zero
    PetscReal keep; // factor of the values before; 0: they are not read
    T        *x;    // where results are copied to; null
  };
  struct Terms { // slots of one row
    std::vector<int> ahead, side;
  };

  void                     sweep(const Pass &pass);
  void                     choose_terms(const Pass &pass);
  int                      find_terms(PetscInt r, const T *row, PetscInt from);
  void                     relax_scalars(const Pass &pass, T *row, size_t at, PetscInt from, PetscInt n);
  template <int size> void relax_blocks(const Pass &pass, T *row, size_t at, PetscInt from, PetscInt n);

  const Patch                   *patch_ = nullptr;
  const CapturedCoefficients<T> *a_ = nullptr;
  PetscReal                      omega_ = 1;
  PetscInt                       most_ = 1;
  PaddedField                    field_;
  CoefficientLines               lines_;
  std::vector<Terms>             terms_;  // [dof]
  std::vector<int>               needed_; // the slots in them
  std::vector<PetscInt64>        offset_; // [slots], in field_
  std::vector<const T *>         coefficient_, value_;
  std::vector<Waiting<T>>        waiting_; // row by row,
  std::vector<int>               first_;   // each from this one on
  std::vector<T>                 work_;
};

} // namespace shellac
