// Products, sweeps and rows of captured coefficients.

#include "capture/captured.hpp"

#include <limits>

#include "capture/box_on_gpu.hpp"
#include "capture/kernels.hpp"
#include "capture/kinds_on_gpu.hpp"
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

void PreparedCapture::extend_to_ends(Box *inside, T at_end[2]) const {
  const Patch &patch = op_.patch_;
  const Box    inner = *inside;
  const T     *row = row_on_host(inner.lo);
  const int    count = a_.count, center = count / 2;

  for (int e = 0; e < 2; e++) {
    const PetscInt end = e == LOWER ? 0 : patch.size[0] - 1, step = e == LOWER ? 1 : -1;
    const PetscInt inner_end = e == LOWER ? inner.lo[0] : inner.hi[0] - 1;
    bool           alike = !patch.neighbour[0][e] && patch.size[0] > 1;
    at_end[e] = 0;
    for (PetscInt i = end; alike && i != inner_end; i += step) {
      const PetscInt p[3] = {i, inner.lo[1], inner.lo[2]};
      const T       *other = row_on_host(p);
      if (i == end) at_end[e] = other[center] - row[center];
      for (int n = 0; n < count; n++) {
        const bool outward = op_.slot_.host()[n].step[0] == -step && i == end;
        if (n != center || i != end) alike = alike && other[n] == (outward ? T(0) : row[n]);
      }
    }
    if (op_.shape_ == 2) alike = alike && at_end[e] == T(0);
    if (!alike) at_end[e] = 0;
    if (alike && e == LOWER) inside->lo[0] = 0;
    if (alike && e == UPPER) inside->hi[0] = patch.size[0];
  }
}

EndDiagonal<PetscScalar> PreparedCapture::diagonal_at_ends(const Box &inner) const {
  const int      center = a_.count / 2;
  const T        at_inner = row_on_host(inner.lo)[center];
  EndDiagonal<T> diagonal;

  for (int n = 0; n < 27; n++) {
    const int place[3] = {n % 3, n / 3 % 3, n / 9};
    PetscInt  p[3] = {inner.lo[0], inner.lo[1], inner.lo[2]};
    for (int a = 0; a < 3; a++) {
      if (place[a] == 0 && !op_.patch_.neighbour[a][LOWER]) p[a] = 0;
      if (place[a] == 2 && !op_.patch_.neighbour[a][UPPER]) p[a] = op_.patch_.size[a] - 1;
    }
    diagonal.added[place[2]][place[1]][place[0]] = row_on_host(p)[center] - at_inner;
  }
  return diagonal;
}

// Whether the diagonal at edges and corners has the sum of what it has more at faces.
bool PreparedCapture::find_sums(const Box &inner, const EndDiagonal<T> &diagonal, StarDiagonal<T> *sums) const {
  const T at_inner = row_on_host(inner.lo)[a_.count / 2];
  bool    are_sums = true;

  for (int a = 0; a < 3; a++)
    for (Side e : {LOWER, UPPER}) {
      int place[3] = {1, 1, 1};
      place[a] = e == LOWER ? 0 : 2;
      sums->at_end[a][e] = diagonal.added[place[2]][place[1]][place[0]];
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

// Compares the row of an inner point with those of one point of each other class of places.
bool PreparedCapture::rows_are_alike(const Box &inner, const EndDiagonal<T> &diagonal) const {
  constexpr PetscInt deepest = 3;
  const Patch       &patch = op_.patch_;
  const T           *row = row_on_host(inner.lo);
  const int          count = a_.count, center = count / 2;
  Box                all; // points that are to be inner ones

  for (int a = 0; a < 3; a++) {
    all.lo[a] = patch.neighbour[a][LOWER] ? inner.lo[a] : 0;
    all.hi[a] = patch.neighbour[a][UPPER] ? inner.hi[a] : patch.size[a];
    if (a < op_.arms_->dim() && patch.size[a] < 2) return false;
    if (inner.lo[a] - all.lo[a] > deepest || all.hi[a] - inner.hi[a] > deepest) return false;
  }
  return holds_around(inner, all, [&](const PetscInt *p) {
    const T *other = row_on_host(p);
    const T  entry = row[center] + diagonal.at(p, patch.size);
    bool     alike = true;
    for (int n = 0; n < count; n++) {
      bool outward = false;
      for (int a = 0; a < 3; a++) {
        const PetscInt q = p[a] + op_.slot_.host()[n].step[a];
        outward = outward || q < 0 || q >= patch.size[a];
      }
      alike = alike && (n == center ? PetscAbsScalar(other[n] - entry) <= rounding * PetscAbsScalar(entry)
                                    : other[n] == (outward ? T(0) : row[n]));
    }
    return alike;
  });
}

bool PreparedCapture::extend_to_all_ends(Box *inside) const {
  auto &ends = op_.ends_;

  if (!ends.looked) {
    ends.looked = true;
    ends.diagonal = diagonal_at_ends(*inside);
    ends.alike =
        rows_are_alike(*inside, ends.diagonal) && (op_.shape_ == 2 || find_sums(*inside, ends.diagonal, &ends.sums));
  }
  if (!ends.alike) return false;
  for (int a = 0; a < 3; a++) {
    if (!op_.patch_.neighbour[a][LOWER]) inside->lo[a] = 0;
    if (!op_.patch_.neighbour[a][UPPER]) inside->hi[a] = op_.patch_.size[a];
  }
  return true;
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
    const bool               few = few_points(box);
    if (make_product_ && !product_) PetscCall(make_product_(&product_));
    if (product_)
      PetscCall(product_->apply(point, arrays, box, inside));
    else if (op_.shape_ == 0 || (op_.storage_ == Storage::constant && !constants))
      PetscCall(launch_slots(row, u, form, b, box, inside, y));
    else if (dim == 2 && is_star && constants) {
      StarEnds<T> ends;
      extend_to_ends(&inside, ends.at_end);
      if (inside.lo[0] == 0) ends.last[LOWER] = 0;
      if (inside.hi[0] == op_.patch_.size[0]) ends.last[UPPER] = op_.patch_.size[0] - 1;
      if (few) // the ends take longer than the rest: more threads
        PetscCall(launch_rows(op_.patch_, StarRow<T, 4>{{}, star(constants), ends},
                              captured::ApplyWhole<T, 2, false, false>(point, arrays), u.u, form, b, box, inside, y));
      else // the functor for all points leaves the compiler more registers
        PetscCall(launch_rows(op_.patch_, StarRow<T>{{}, star(constants), ends}, point, u.u, form, b, box, inside, y));
    } else if (dim == 2 && constants) {
      BoxRow<T> stencil;
      for (int n = 0; n < 9; n++) stencil.c[n / 3][n % 3] = constants[n]; // in the order of WholeStencil
      if (few)
        PetscCall(launch_rows(op_.patch_, stencil, captured::ApplyWhole<T, 2, true, false>(point, arrays), u.u, form, b,
                              box, inside, y));
      else
        PetscCall(launch_rows(op_.patch_, stencil, point, u.u, form, b, box, inside, y));
    } else if (dim == 2 && op_.storage_ == Storage::indexed)
      PetscCall(launch_rows_of_classes(row, point, u.u, form, b, box, inside, is_star, y));
    else if (dim == 3 && constants) {
      const bool      to_all_ends = extend_to_all_ends(&inside);
      StarDiagonal<T> sums;
      if (!to_all_ends) extend_to_ends(&inside, sums.at_end[0]);
      if (is_star)
        PetscCall(launch_star_planes(op_.patch_, star(constants), to_all_ends ? op_.ends_.sums : sums,
                                     captured::ApplyWhole<T, 3, false, false>(point, arrays), u.u, form, b, box, inside,
                                     y));
      else {
        kernel::ConstantBox<T> stencil;
        for (int n = 0; n < 27; n++) stencil.c[n / 9][n / 3 % 3][n % 3] = constants[n];
        if (to_all_ends) stencil.diagonal = op_.ends_.diagonal;
        PetscCall(launch_box_planes(op_.patch_, stencil, captured::ApplyWhole<T, 3, true, false>(point, arrays), u.u,
                                    form, b, box, inside, y));
      }
    } else if (dim == 3 && is_star && op_.storage_ == Storage::indexed && a_.index8) {
      const Box      interior = op_.patch_.interior();
      const Kinds<T> kinds = {a_.table, a_.index8, (int)op_.kinds()};
      if (interior.points()) PetscCall(launch_kinds(op_.patch_, kinds, u.u, form, b, interior, y));
      PetscCall(points(memory, difference(box, interior), u, form, b, y));
    } else if (dim == 1)
      PetscCall((launch_whole_stencil<1, false>(row, constants, arrays, u, form, b, box, inside, y)));
    else if (dim == 2 && is_star)
      PetscCall((launch_whole_stencil<2, false>(row, constants, arrays, u, form, b, box, inside, y)));
    else if (dim == 2)
      PetscCall((launch_whole_stencil<2, true>(row, constants, arrays, u, form, b, box, inside, y)));
    else if (is_star)
      PetscCall((launch_whole_stencil<3, false>(row, constants, arrays, u, form, b, box, inside, y)));
    else
      PetscCall((launch_whole_stencil<3, true>(row, constants, arrays, u, form, b, box, inside, y)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (make_product_ && !product_) PetscCall(make_product_(&product_));
  if (product_)
    PetscCall(product_->apply({row, u, form, b, y}, arrays_.data(), box, inner()));
  else if (op_.shape_ == 1 && op_.storage_ == Storage::constant)
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
  const auto apply_star = [&](auto dim_of) {
    constexpr int dim = decltype(dim_of)::value;
    if (in_arrays) return for_each(memory, boxes, captured::ApplyWhole<T, dim, false, true>(point, arrays_.data()));
    return for_each(memory, boxes, captured::ApplyWhole<T, dim, false, false>(point, nullptr));
  };
  if (star && op_.arms_->dim() == 1)
    PetscCall(apply_star(std::integral_constant<int, 1>{}));
  else if (star && op_.arms_->dim() == 2)
    PetscCall(apply_star(std::integral_constant<int, 2>{}));
  else if (star)
    PetscCall(apply_star(std::integral_constant<int, 3>{}));
  else
    PetscCall(for_each(memory, boxes, point));
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
