// Products, sweeps and rows of captured coefficients.

#include "capture/captured.hpp"

#include <limits>

#include "capture/box_on_gpu.hpp"
#include "capture/kernels.hpp"
#include "capture/rows_on_host.hpp"
#include "capture/star_on_gpu.hpp"
#include "capture/star_on_host.hpp"

namespace shellac {

// Relative differences of sums of coefficients up to this are due to rounding.
constexpr auto rounding = 4 * std::numeric_limits<PetscReal>::epsilon();

// ---- products ------------------------------------------------------------------------------------------------------

PetscErrorCode CapturedStencil::GetClosed(PetscMemType memory, CapturedCoefficients<T> *a) {
  PetscFunctionBegin;
  a->storage = storage_;
  a->count = (int)used_.size();
  for (int axis = 0; axis < 3; axis++) a->depth[axis] = depth_[axis], a->reach[axis] = reach_[axis];
  PetscCall(slot_.Get(memory, &a->slot));
  PetscCall(offset_.Get(memory, &a->offset));
  PetscCall(first_.Get(memory, &a->first));
  PetscCall(place_.Get(memory, &a->used));
  PetscCall(diagonal_.Get(memory, &a->diagonal));
  PetscCall(table_.Get(memory, &a->table));
  a->index8 = NULL;
  a->index16 = NULL;
  if (storage_ == Storage::indexed) {
    PetscCall(index8_.Get(memory, &a->index8));
    PetscCall(index16_.Get(memory, &a->index16));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Prepare(Arrays *arrays, std::unique_ptr<PreparedCapture> *prepared) {
  const PetscMemType memory = arrays->memory();

  PetscFunctionBegin;
  PetscCheck(!open_, comm_, PETSC_ERR_ARG_WRONGSTATE,
             "coefficients are set and not assembled; call MatAssemblyBegin() and MatAssemblyEnd()");
  auto                     made = std::make_unique<PreparedCapture>(*this);
  CapturedCoefficients<T> &a = made->a_;
  PetscCall(GetClosed(memory, &a));
  if (storage_ == Storage::arrays) {
    made->arrays_.resize(used_.size());
    for (size_t n = 0; n < used_.size(); n++) {
      const Vec array = arrays_[used_[n]];
      if (bound_) PetscCall(VecBindToCPU(array, PetscMemTypeHost(memory) ? PETSC_TRUE : PETSC_FALSE)); // vectors choose
      PetscCall(arrays->ReadBeside(array, &made->arrays_[n]));
    }
    if (PetscMemTypeHost(memory))
      a.array = made->arrays_.data();
    else {
      if (made->arrays_ != pointers_.host()) pointers_.change() = made->arrays_;
      PetscCall(pointers_.Get(memory, &a.array));
    }
  }
  *prepared = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

Box PreparedCapture::inner() const {
  Box box = op_.patch_.interior();
  for (int a = 0; a < op_.arms_->dim(); a++) {
    box.lo[a] = PetscMax(box.lo[a], op_.reach_[a]);
    box.hi[a] = PetscMin(box.hi[a], op_.patch_.size[a] - op_.reach_[a]);
    if (op_.storage_ != Storage::constant) continue; // of the class that is far from all ends
    const PetscInt D = op_.depth_[a], lo = op_.patch_.N[a] <= 2 * D ? op_.patch_.N[a] : D;
    box.lo[a] = PetscMax(box.lo[a], lo - op_.patch_.start[a]);
    box.hi[a] = PetscMin(box.hi[a], op_.patch_.N[a] - D - op_.patch_.start[a]);
  }
  return box;
}

ConstantStar<PetscScalar> PreparedCapture::star(const PetscScalar *row) const {
  return ConstantStar<T>::of_row(row, op_.arms_->dim());
}

const PetscScalar *PreparedCapture::row_on_host(const PetscInt p[3]) const {
  return op_.table_.host().data() + (a_.rows(op_.patch_, p, 0) - a_.table);
}

bool PreparedCapture::extend_to_ends(int axes, Box *inside, EndDiagonal<T> *diagonal) const {
  constexpr PetscInt deepest = 3;
  const Patch       &patch = op_.patch_;
  const Box          inner = *inside;
  const T           *row = row_on_host(inner.lo);
  const int          count = a_.count, center = count / 2;
  Box                all = inner; // points that are to be inner ones
  EndDiagonal<T>     more;

  for (int a = 0; a < axes; a++) {
    if (!patch.neighbour[a][LOWER]) all.lo[a] = 0;
    if (!patch.neighbour[a][UPPER]) all.hi[a] = patch.size[a];
    if (a < op_.arms_->dim() && patch.size[a] < 2) return false;
    if (inner.lo[a] - all.lo[a] > deepest || all.hi[a] - inner.hi[a] > deepest) return false;
  }
  for (int n = 0; n < 27; n++) {
    const int place[3] = {n % 3, n / 3 % 3, n / 9};
    PetscInt  p[3];
    for (int a = 0; a < 3; a++) p[a] = place[a] == 0 ? all.lo[a] : place[a] == 1 ? inner.lo[a] : all.hi[a] - 1;
    more.added[place[2]][place[1]][place[0]] = row_on_host(p)[center] - row[center];
  }
  // one point of the inner ones and all of each axis' ends around them, each with each
  const auto next = [&](int a, PetscInt i) { return i == inner.lo[a] ? inner.hi[a] : i + 1; };
  PetscInt   p[3];
  for (p[2] = all.lo[2]; p[2] < all.hi[2]; p[2] = next(2, p[2]))
    for (p[1] = all.lo[1]; p[1] < all.hi[1]; p[1] = next(1, p[1]))
      for (p[0] = all.lo[0]; p[0] < all.hi[0]; p[0] = next(0, p[0])) {
        const T *other = row_on_host(p), entry = row[center] + more.at(p, patch.size);
        for (int n = 0; n < count; n++) {
          bool outward = false;
          for (int a = 0; a < 3; a++) {
            const PetscInt q = p[a] + op_.slot_.host()[n].step[a];
            outward = outward || q < 0 || q >= patch.size[a];
          }
          if (n == center ? PetscAbsScalar(other[n] - entry) > rounding * PetscAbsScalar(entry)
                          : other[n] != (outward ? T(0) : row[n]))
            return false;
        }
      }
  *inside = all;
  *diagonal = more;
  return true;
}

// Whether the diagonal at edges and corners has the sum of what it has more at faces.
bool PreparedCapture::find_sums(const Box &inner, const EndDiagonal<T> &diagonal, StarDiagonal<T> *sums) const {
  const T at_inner = row_on_host(inner.lo)[a_.count / 2];
  bool    are_sums = true;

  for (int e = 0; e < 2; e++) {
    sums->at_end[0][e] = diagonal.added[1][1][2 * e];
    sums->at_end[1][e] = diagonal.added[1][2 * e][1];
    sums->at_end[2][e] = diagonal.added[2 * e][1][1];
  }
  for (int n = 0; n < 27; n++) {
    const int place[3] = {n % 3, n / 3 % 3, n / 9};
    T         sum = at_inner;
    for (int a = 0; a < 3; a++)
      if (place[a] != 1) sum += sums->at_end[a][place[a] == 0 ? LOWER : UPPER];
    const T entry = at_inner + diagonal.added[place[2]][place[1]][place[0]];
    are_sums = are_sums && PetscAbsScalar(entry - sum) <= rounding * PetscAbsScalar(entry);
  }
  return are_sums;
}

bool PreparedCapture::extend_to_all_ends(Box *inside) const {
  auto     &ends = op_.ends_;
  const Box inner = *inside;

  if (!ends.looked) {
    ends.looked = true;
    ends.alike =
        extend_to_ends(3, inside, &ends.diagonal) && (op_.shape_ == 2 || find_sums(inner, ends.diagonal, &ends.sums));
    ends.all = *inside;
  }
  *inside = ends.alike ? ends.all : inner;
  return ends.alike;
}

bool PreparedCapture::is_whole_star(ConstantStar<T> *star, StarDiagonal<T> *at_ends) const {
  Box inside = inner();
  if (op_.shape_ != 1 || op_.storage_ != Storage::constant || make_product_ || !inside.points()) return false;
  const Patch &patch = op_.patch_;
  for (int a = 0; a < 3; a++) { // rows beside a neighbour are those of inner points, too
    const PetscInt D = op_.depth_[a], lo = patch.N[a] <= 2 * D ? patch.N[a] : D, last = patch.start[a] + patch.size[a];
    if (patch.neighbour[a][LOWER] && patch.start[a] < lo) return false;
    if (patch.neighbour[a][UPPER] && last > patch.N[a] - D) return false;
  }
  *star = this->star(row_on_host(inside.lo));
  if (!extend_to_all_ends(&inside)) return false;
  *at_ends = op_.ends_.sums;
  return true;
}

PetscErrorCode PreparedCapture::apply(PetscMemType memory, const Box &box, const Field<T> &u, Form form, const T *b,
                                      T *y) const {
  const CapturedRow<T> row{op_.patch_, a_};

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    Box inside = inner();
    if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
    const T *const *arrays = arrays_.data();
    const T        *constants = op_.storage_ == Storage::constant && inside.points() ? row_on_host(inside.lo) : nullptr;
    const int       dim = op_.arms_->dim();
    const bool      is_star = op_.shape_ == 1;
    const captured::Apply<T> point{row, u, form, b, y};
    if (make_product_ && !product_) PetscCall(make_product_(&product_));
    if (product_)
      PetscCall(product_->apply(point, arrays, box, inside));
    else if (op_.shape_ == 0 || (op_.storage_ == Storage::constant && !constants))
      PetscCall(launch_slots(row, u, form, b, box, inside, y));
    else if (dim == 2 && is_star && constants) {
      StarEnds<T>    ends;
      EndDiagonal<T> diagonal;
      if (extend_to_ends(1, &inside, &diagonal))
        for (int e = 0; e < 2; e++) ends.at_end[e] = diagonal.added[1][1][2 * e];
      if (inside.lo[0] == 0) ends.last[LOWER] = 0;
      if (inside.hi[0] == op_.patch_.size[0]) ends.last[UPPER] = op_.patch_.size[0] - 1;
      PetscCall(launch_rows(op_.patch_, StarRow<T>{{}, star(constants), ends},
                            captured::ApplyWhole<T, 2, false, false>(point, arrays), u.u, form, b, box, inside, y));
    } else if (dim == 2 && constants) {
      BoxRow<T> stencil;
      for (int n = 0; n < 9; n++) stencil.c[n / 3][n % 3] = constants[n]; // in the order of WholeStencil
      PetscCall(launch_rows(op_.patch_, stencil, captured::ApplyWhole<T, 2, true, false>(point, arrays), u.u, form, b,
                            box, inside, y));
    } else if (dim == 2 && op_.storage_ == Storage::indexed)
      PetscCall(launch_rows_of_classes(row, point, u.u, form, b, box, inside, is_star, y));
    else if (dim == 3 && constants) {
      EndDiagonal<T>  diagonal;
      StarDiagonal<T> sums;
      if (extend_to_all_ends(&inside))
        sums = op_.ends_.sums, diagonal = op_.ends_.diagonal;
      else if (extend_to_ends(1, &inside, &diagonal))
        for (int e = 0; e < 2; e++) sums.at_end[0][e] = diagonal.added[1][1][2 * e];
      if (is_star)
        PetscCall(launch_planes(op_.patch_, ConstantStars<T>(star(constants), sums),
                                captured::ApplyWhole<T, 3, false, false>(point, arrays), u.u, form, b, box, inside, y));
      else
        PetscCall(launch_planes(op_.patch_, ConstantBoxes<T>(constants, diagonal),
                                captured::ApplyWhole<T, 3, true, false>(point, arrays), u.u, form, b, box, inside, y));
    } else if (dim == 3 && is_star && op_.storage_ == Storage::indexed && a_.index8)
      PetscCall(launch_planes(op_.patch_, StarsOfKinds<T>(a_, op_.kinds()),
                              captured::ApplyWhole<T, 3, false, false>(point, arrays), u.u, form, b, box,
                              op_.patch_.interior(), y));
    else
      PetscCall(with_dim(dim, [&](auto d) {
        constexpr int n = decltype(d)::value;
        if (is_star) return launch_whole_stencil<n, false>(row, constants, arrays, u, form, b, box, inside, y);
        return launch_whole_stencil<n, (n > 1)>(row, constants, arrays, u, form, b, box, inside, y);
      }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (op_.shape_ == 1 && op_.storage_ == Storage::constant)
    apply_star_on_host(op_.arms_->dim(), row, u, form, b, box, y);
  else
    apply_captured_on_host(row, u, form, b, box, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PreparedCapture::points(PetscMemType memory, const Boxes &boxes, const Field<T> &u, Form form,
                                       const T *b, T *y) const {
  const captured::Apply<T> point{{op_.patch_, a_}, u, form, b, y};
  const bool               star = op_.shape_ == 1 && op_.patch_.width == 1, in_arrays = op_.storage_ == Storage::arrays;

  PetscFunctionBegin;
  if (!star) PetscFunctionReturn(for_each(memory, boxes, point));
  PetscCall(with_dim(op_.arms_->dim(), [&](auto d) {
    constexpr int dim = decltype(d)::value;
    if (in_arrays) return for_each(memory, boxes, captured::ApplyWhole<T, dim, false, true>(point, arrays_.data()));
    return for_each(memory, boxes, captured::ApplyWhole<T, dim, false, false>(point, nullptr));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PreparedCapture::rows(PetscMemType memory, RowProperty property, T *out) const {
  return op_.ForAllPoints(memory, captured::Property<T>{{op_.patch_, a_}, property, out});
}

// ---- entries -------------------------------------------------------------------------------------------------------

void PreparedCapture::values(const PetscInt p[3], PetscInt points, T *values) const {
  const std::vector<int> &place = op_.place_.host();
  const size_t            at = op_.patch_.index(p[0], p[1], p[2]), slots = place.size();
  if (op_.storage_ == Storage::arrays) {
    for (size_t s = 0; s < slots; s++) {
      const T *array = place[s] < 0 ? nullptr : a_.array[place[s]] + at;
      for (PetscInt i = 0; i < points; i++) values[(size_t)i * slots + s] = array ? array[i] : T(0);
    }
    return;
  }
  PetscInt q[3] = {p[0], p[1], p[2]};
  for (PetscInt i = 0; i < points; i++, values += slots) {
    const T *rows = a_.rows(op_.patch_, q, at + i);
    for (size_t s = 0; s < slots; s++) values[s] = place[s] < 0 ? T(0) : rows[place[s]];
    for (int a = 0; a < 3 && ++q[a] == op_.patch_.size[a]; a++) q[a] = 0; // the next point
  }
}

} // namespace shellac
