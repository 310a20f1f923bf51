#pragma once
// A stencil operator whose coefficients an application has set, point by point.
//
// Open for assembly, each slot (an arm, a row and a value at the point) has an array of coefficients, on the host or the
// GPU. Closed, rows that are equal are stored once: see Storage.

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "capture/arms.hpp"
#include "capture/coefficients.hpp"
#include "capture/kinds.hpp"
#include "device/arrays.hpp"
#include "device/mirror.hpp"
#include "device/scratch.hpp"
#include "stencil/operator.hpp"

namespace shellac {

struct Compression {
  bool      automatic = true; // the first form that can hold the rows
  Storage   form = Storage::arrays;
  PetscReal tolerance = 0; // relative, by which coefficients of one class may differ

  bool allows(Storage which) const { return automatic || form == which; }
};

// Why a form cannot hold the rows.
struct Refusal {
  bool     refused = false;
  PetscInt point[3] = {0, 0, 0}; // on the patch: whose row is like none of its class, or of one class too many
};

class PreparedCapture;

namespace captured {
template <class T> struct Apply;
template <class T> struct Relax;
template <class T> struct RelaxColour;
} // namespace captured

// A product at inner points on a GPU that does not read the coefficients, but what they were made of.
class InteriorProduct {
public:
  virtual ~InteriorProduct() = default;
  virtual PetscLogDouble flops() const = 0; // of a row
  // At the points of a box: at the inner ones, no arm of which leaves the patch, in its way, elsewhere by the
  // coefficients of a whole star. arrays: these, of each arm, as addresses on the host.
  virtual PetscErrorCode apply(const captured::Apply<PetscScalar> &point, const PetscScalar *const *arrays,
                               const Box &box, const Box &inner) const = 0;
};

class CapturedStencil final : public StencilOperator {
public:
  using T = PetscScalar;

  // depth: rows so many points from an end of the domain, or less, may be of another kind than those inside.
  // comm: of the Mat, for errors that all ranks get.
  CapturedStencil(MPI_Comm comm, const Patch &patch, std::shared_ptr<const Arms> arms, VecType type, PetscInt depth);
  ~CapturedStencil() override { (void)!Destroy(); }
  PetscErrorCode Destroy(); // all that it holds
  // A zero operator on the same patch, with the same arms.
  std::unique_ptr<CapturedStencil> NewLike() const;

  // The slot of row r at the point and value c at the arm's end.
  int slot(int arm, PetscInt r, PetscInt c) const { return slot_number(arms_->count(), patch_.dof, arm, r, c); }
  // [slots][points], to be read and changed until Close(); null for a slot that is zero: see Need(). Cheap where it is
  // open already. memory: where they are wanted; they are on the host where it cannot be, or where it is open there.
  PetscErrorCode Open(T *const **values, PetscMemType memory = PETSC_MEMTYPE_HOST);
  PetscMemType   memory() const { return memory_; } // of the open coefficients
  // What kernels in that memory need to change them, until the next Need() or Close().
  PetscErrorCode                           GetOpen(OpenCoefficients<T> *open);
  template <class Function> PetscErrorCode ForAllPoints(PetscMemType memory, const Function &f) const {
    Boxes points;
    points.add(patch_.all());
    return for_each(memory, points, f);
  }
  template <class Function> PetscErrorCode ForAllPoints(const Function &f) const { // in that memory
    return ForAllPoints(memory_, f);
  }
  Box line() const { return {{0, 0, 0}, {(PetscInt)point_count(), 1, 1}}; } // all points by their numbers
  // Makes zero coefficients for a slot that has none; or any, where the caller sets all.
  PetscErrorCode Need(int slot, bool zero = true);
  PetscErrorCode NeedAll();
  // Any coefficients for all slots, for a caller that sets all; again and again: their arrays stay.
  PetscErrorCode NeedAllToSet(bool again);
  // Gives an open slot's coefficients [points] to the program, and takes them back; zero then where the arm leaves the
  // domain.
  PetscErrorCode Lend(int slot, Vec *coefficients);
  PetscErrorCode TakeBack(int slot);
  bool           lent(int slot) const { return lent_.count(slot) > 0; }
  Vec            array(int slot) const { return arrays_[slot]; }
  PetscErrorCode Close(const Compression &wish, Refusal *refusal);
  PetscErrorCode CloseAsArrays(); // nothing is sought
  // Whether arrays that Close() has no use for stay for the next assembly.
  void           set_keep_arrays(bool keep) { keep_arrays_ = keep; }
  PetscErrorCode DropIdleArrays(); // those that stayed
  // Closes it with these coefficients in place of all that it has, if it was compressed and they are equal in the same
  // rows, or in a simpler way: without arrays. Else nothing is done. memory: where they are read.
  template <class Read>
  PetscErrorCode CloseAgain(const Read &sums, PetscMemType memory, const Compression &wish, bool *done);
  bool           open() const { return open_; }
  // Open or closed. Memory is kept for the next assembly.
  PetscErrorCode Zero();
  // Rows that depend on the distance to the ends of the domain alone: read(i, put) calls put(slot, value) for the entries
  // of the rows of the point i of the whole grid.
  template <class Function> void SetByPlace(const Function &read);
  // The coefficients are known on all ranks, for all places, since SetByPlace(); and such a one's transpose.
  bool           known_by_place() const { return by_place_; }
  PetscInt       depth(int axis) const { return depth_[axis]; } // 0 of an axis without ends
  void           TransposeByPlace();
  PetscErrorCode Scale(T a);
  PetscErrorCode Shift(T a);
  PetscErrorCode Conjugate();
  PetscErrorCode Axpy(T a, CapturedStencil &x, const Compression &wish); // both closed, of one grid
  PetscErrorCode CopyTo(CapturedStencil *to);                            // closed

  // The operator with its coefficients in the memory of the other arrays, until these are restored.
  PetscErrorCode Prepare(Arrays *arrays, std::unique_ptr<PreparedCapture> *prepared);

  // Whether a row has entries for all arms within the domain, or only for those that are not zero, and the diagonal.
  void set_explicit_zeros(bool are) { explicit_zeros_ = are; }

  const Arms    &arms() const { return *arms_; }
  const char    *vec_type() const { return vec_type_.c_str(); }
  bool           made_for_device() const; // its arrays can be on a GPU, and are not bound to the host
  PetscMemType   home() const { return made_for_device() ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST; }
  PetscErrorCode BindToHost(bool bound);
  Storage        storage() const { return storage_; }
  size_t         kinds() const { return kinds_; } // of rows, where they are classified
  bool           in_arrays() const { return storage_ == Storage::arrays && !used_.empty(); } // not zero, nor compressed
  bool           has_whole_star_in_arrays() const { return storage_ == Storage::arrays && shape_ == 1; }
  size_t         used_slots() const { return used_.size(); }
  bool           uses(int slot) const { return place(slot) >= 0; } // closed: else it is zero
  PetscLogDouble bytes() const;                                    // of the coefficients
  PetscLogDouble idle_bytes() const { return array_bytes(true); }  // of arrays that stay for the next assembly
  bool           in_domain(const PetscInt p[3], int arm) const;

  int          slots() const { return (int)(arms_->count() * patch_.dof * patch_.dof); }
  const Patch &patch() const override { return patch_; }
  int          colours() const override;

private:
  friend class PreparedCapture;
  PetscLogDouble array_bytes(bool of_idle) const;
  size_t         point_count() const { return (size_t)patch_.all().points(); }
  PetscErrorCode MakeArray(Vec *array) const;
  void           use_slots(const std::vector<int> &used); // lists them
  int            place(int slot) const { return place_.host()[(size_t)slot]; }
  // All of the coefficients, as kernels see them, but arrays.
  PetscErrorCode GetClosed(PetscMemType memory, CapturedCoefficients<T> *a);
  void           ForgetRows(); // compressed ones
  PetscErrorCode UseArrays(const std::vector<int> &used);
  bool idle(int slot) const { return !open_ && (storage_ != Storage::arrays || place(slot) < 0); } // its array
  PetscErrorCode End(); // of Close(): destroys idle arrays
  // The used slots, filled up to a whole star or box where that has a kernel.
  std::vector<int> whole(std::vector<int> used, bool box_too) const;
  // An entry of the diagonal: always in use, because MatShift() adds to it.
  bool on_diagonal(int slot) const {
    return slot / patch_.dof % arms_->count() == arms_->center() &&
           slot % patch_.dof == slot / patch_.dof / arms_->count();
  }
  PetscErrorCode DropArrays();
  PetscErrorCode Use(int slot);                               // an array, closed: zero where it is not in use
  PetscErrorCode GetArray(int slot, bool is_written = false); // all of it: nothing is copied
  PetscErrorCode RestoreArray(int slot);
  bool           zero_in_table(int slot) const;
  PetscErrorCode MoveToHost();
  PetscErrorCode Expand();                           // closed and compressed: open arrays get the rows
  PetscErrorCode CheckNoneLent(MPI_Comm comm) const; // which calls this
  // Compresses what read() gives in a memory, if it is constant, or indexed as before.
  template <class Read>
  PetscErrorCode      TryClasses(const Read &read, PetscMemType memory, const Compression &wish, Refusal *refusal,
                                 bool *done);
  PetscErrorCode      FindUsed(const ArrayValues<T> &read, std::vector<int> *used); // the slots that are not zero
  PetscErrorCode      FewKinds(const ArrayValues<T> &read, size_t most, PetscReal tolerance, bool *few);
  PetscErrorCode      TryIndexed(const ArrayValues<T> &read, const Compression &wish, size_t used, Refusal *refusal,
                                 bool *done);
  Mirror<PetscInt64> *first_of_classes(); // points
  void                refuse(int64_t point, Refusal *refusal) const;
  // The form indexed, by the index that there is: rows has the kinds' coefficients [slots][kinds]. And whether no two
  // kinds are the same.
  void make_kinds(const std::vector<T> &rows);
  bool kinds_differ(const std::vector<T> &rows) const;
  void drop_index();
  // As many kinds of rows of n values as the form indexed may have.
  size_t                  most_kinds(const Compression &wish, size_t n) const;
  CapturedCoefficients<T> places() const { // that tell classes of places apart, without coefficients
    CapturedCoefficients<T> a = {};
    for (int axis = 0; axis < 3; axis++) a.depth[axis] = depth_[axis];
    return a;
  }
  // The table of so many kinds of rows or classes of places: all has the coefficients [slots][count].
  void fill_table(const std::vector<T> &all, size_t count, bool box_too);
  // The table of the classes of places: all has the coefficients [slots][classes].
  void   make_table(const std::vector<T> &all);
  size_t classes() const;
  bool   has_class(size_t of_class) const; // a point of this rank is of that class
  // What was found out about the table's rows is forgotten.
  std::vector<T> &change_table() {
    ends_ = {};
    return table_.change();
  }
  // A point of the whole grid of that class.
  void point_of_class(size_t of_class, PetscInt i[3]) const;

  // Of a constant star or box in 3-D: whether rows at the ends are those inside without the arms beyond, with another
  // diagonal; of a star, one of sums.
  struct AllEnds {
    bool            looked = false, alike = false;
    Box             all; // the points whose rows they are
    EndDiagonal<T>  diagonal;
    StarDiagonal<T> sums;
  };

  MPI_Comm                    comm_;
  Patch                       patch_;
  std::shared_ptr<const Arms> arms_;
  std::string                 vec_type_;
  bool                        open_ = false, explicit_zeros_ = true, by_place_ = false, bound_ = false;
  bool                        all_are_set_ = false;         // at each assembly: see NeedAllToSet()
  bool                        keep_arrays_ = false;         // see set_keep_arrays()
  PetscMemType                memory_ = PETSC_MEMTYPE_HOST; // see memory()
  std::vector<Vec>            arrays_; // [slots]; those of slots that are not in use are memory for the next assembly
  std::vector<T *>            values_; // open: [slots], the arrays'; null for zero
  std::set<int>               lent_;   // slots whose arrays the program has
  Mirror<Slot>                every_slot_;
  Mirror<T *>                 open_values_; // values_, in the memory where kernels read them

  Storage                storage_ = Storage::arrays;
  size_t                 kinds_ = 0;
  PetscInt               depth_[3], reach_[3]; // see CapturedCoefficients; axes beyond the dimension have one class
  int                    shape_ = 0;           // the used slots are: 0 any, 1 a whole star, 2 a whole box of width 1
  std::vector<int>       used_;                // slots, row by row
  Mirror<int>            place_;               // [slots]: in used_; -1 for none
  Mirror<Slot>           slot_;
  Mirror<PetscInt64>     offset_;
  Mirror<int>            first_, diagonal_;
  Mirror<T>              table_; // [classes][used]
  mutable AllEnds        ends_;  // of the table's rows
  Mirror<unsigned char>  index8_;
  Mirror<unsigned short> index16_;
  Mirror<PetscInt64> kind_points_; // [kinds]: the first point of each; with the index, also while the operator is open
  Storage            closed_as_ = Storage::arrays;             // when it was closed last
  size_t             sampled_kinds_ = 0, sampled_in_vain_ = 0; // see FewKinds()
  Mirror<const T *>  pointers_; // of the arrays in the memory that they were last prepared for
  mutable Scratch<T> borders_;  // of the tiles of a sweep on a GPU: see sweep_on_gpu.hpp

  struct Look {                      // at all coefficients
    Mirror<PetscInt64> class_points; // the first point of each class of places; -1 where there is none
    Scratch<T>         found;        // coefficients of some points, and what was found; see TryClasses()
    Scratch<uint64_t>  hashes;       // a HashSet's
    Scratch<int>       nonzero;      // [slots], of FindUsed()
  } look_;
};

// Valid until the arrays that Prepare() was given are restored, or the operator changes.
class PreparedCapture final : public PreparedOperator {
public:
  using T = PetscScalar;

  explicit PreparedCapture(const CapturedStencil &op) : op_(op) {}

  PetscLogDouble flops() const override {
    if (product_) return product_->flops(); // there was a product
    return 2. * (PetscLogDouble)op_.used_.size() / (PetscLogDouble)op_.patch_.dof;
  }
  bool interior_first(PetscMemType memory) const override { return PetscMemTypeDevice(memory) || op_.patch_.dof == 1; }
  PetscErrorCode  apply(PetscMemType memory, const Box &box, const Field<T> &u, Form form, const T *b,
                        T *y) const override;
  PetscErrorCode  points(PetscMemType memory, const Boxes &boxes, const Field<T> &u, Form form, const T *b,
                         T *y) const override;
  PetscErrorCode  rows(PetscMemType memory, RowProperty property, T *out) const override;
  PetscErrorCode  sweep(PetscMemType memory, const std::vector<int> &colours, const Exchange &exchange, bool from_zero,
                        PetscReal omega, T shift, const T *b, T *x) const override;
  int             arms() const override { return op_.arms_->count(); }
  const PetscInt *step(int arm) const override { return op_.arms_->step(arm); }
  bool            stores_zeros() const override { return op_.explicit_zeros_; }
  void            values(const PetscInt p[3], PetscInt points, T *values) const override;
  const CapturedCoefficients<T> &coefficients() const { return a_; }
  // Whether all rows of this rank are those of one star, but for what those at ends have more on their diagonal and no arm
  // beyond.
  bool is_whole_star(ConstantStar<T> *star, StarDiagonal<T> *at_ends) const;
  // It is made by the first product, and brings what it reads to that product's memory.
  using MakeProduct = std::function<PetscErrorCode(std::unique_ptr<const InteriorProduct> *)>;
  void SetInteriorProduct(MakeProduct make) { make_product_ = std::move(make); }

private:
  captured::RelaxColour<T> colour_points(int colour, const captured::Relax<T> &relax) const;
  // One colour, and some together in one pass over memory where that is possible: *done.
  PetscErrorCode relax(PetscMemType memory, int colour, const captured::Relax<T> &relax) const;
  PetscErrorCode relax_together(PetscMemType memory, const std::vector<int> &colours, bool from_zero,
                                const captured::Relax<T> &relax, bool *done) const;
  friend class CapturedStencil;
  Box inner() const; // the points that a kernel for many points computes
  // Where coefficients are constant: those of a point's rows, and such a row as a star.
  const T        *row_on_host(const PetscInt p[3]) const;
  ConstantStar<T> star(const T *row) const;
  // For sweeps: whether there is such a star, of two colours; and the star with the shift on its diagonal.
  bool            has_constant_star(const Box &inside) const;
  ConstantStar<T> shifted_star(const Box &inside, T shift) const;
  // Adds the points up to the ends of so many axes to inner ones, if their rows are those inside without the arms beyond the
  // ends, and with so much more on the diagonal.
  bool extend_to_ends(int axes, Box *inside, EndDiagonal<T> *diagonal) const;
  bool extend_to_all_ends(Box *inside) const; // see AllEnds
  bool find_sums(const Box &inner, const EndDiagonal<T> &diagonal, StarDiagonal<T> *sums) const;

  const CapturedStencil                         &op_;
  CapturedCoefficients<T>                        a_ = {};
  std::vector<const T *>                         arrays_;       // of the used slots, where coefficients are in arrays
  MakeProduct                                    make_product_; // empty: by the coefficients
  mutable std::unique_ptr<const InteriorProduct> product_;
};

template <class Function> void CapturedStencil::SetByPlace(const Function &read) {
  const size_t   count = classes();
  std::vector<T> all((size_t)slots() * count, T(0));
  for (size_t c = 0; c < count; c++) {
    PetscInt i[3];
    point_of_class(c, i);
    read((const PetscInt *)i, [&](int slot, T value) { all[(size_t)slot * count + c] += value; });
  }
  make_table(all);
  by_place_ = true;
}

} // namespace shellac
