// Products, sweeps and rows of captured coefficients.

#include "capture/captured.hpp"

#include "capture/constant_star.hpp"
#include "capture/kernels.hpp"

namespace shellac {

// ---- products ------------------------------------------------------------------------------------------------------

PetscErrorCode CapturedStencil::Prepare(Arrays *arrays, std::unique_ptr<PreparedCapture> *prepared) {
  const PetscMemType memory = arrays->memory();

  PetscFunctionBegin;
  auto                     made = std::make_unique<PreparedCapture>(*this);
  CapturedCoefficients<T> &a = made->a_;
  a.storage = storage_;
  a.count = (int)used_.size();
  for (int axis = 0; axis < 3; axis++) a.depth[axis] = depth_[axis], a.reach[axis] = reach_[axis];
  PetscCall(slot_.Get(memory, &a.slot));
  PetscCall(offset_.Get(memory, &a.offset));
  PetscCall(first_.Get(memory, &a.first));
  PetscCall(diagonal_.Get(memory, &a.diagonal));
  PetscCall(table_.Get(memory, &a.table));
  PetscCall(index8_.Get(memory, &a.index8));
  PetscCall(index16_.Get(memory, &a.index16));
  if (storage_ == Storage::arrays && !open_) {
    made->arrays_.resize(used_.size());
    for (size_t n = 0; n < used_.size(); n++) PetscCall(arrays->ReadBeside(arrays_[used_[n]], &made->arrays_[n]));
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

PetscErrorCode PreparedCapture::interior(PetscMemType memory, const Field<T> &u, Form form, const T *b, T *y) const {
  const CapturedRow<T> row{op_.patch_, a_};

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const Box box = op_.patch_.interior(), inside = inner();
    if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
    const T *const *arrays = arrays_.data();
    const T        *constants = nullptr;
    if (op_.storage_ == Storage::constant && inside.points())
      constants = op_.table_.host().data() + (a_.rows(op_.patch_, inside.lo, 0) - a_.table);
    const int dim = op_.arms_->dim();
    if (op_.shape_ == 1 && op_.storage_ == Storage::constant && inside.points() && dim > 1) {
      ConstantStar<T> formula;
      formula.center = constants[dim];
      for (int n = 0; n < WholeStencil<3, false>::count && n <= 2 * dim; n++)
        for (int axis = 0; axis < dim; axis++) {
          const PetscInt step = op_.slot_.host()[n].step[axis];
          if (step) formula.arm[axis][step > 0 ? UPPER : LOWER] = constants[n];
        }
      const Rows<T, ConstantStar> rows{op_.patch_, formula, T(0), T(0), nullptr};
      const captured::Apply<T>    point{row, u, form, b, y};
      if (dim == 2)
        PetscCall((launch_apply<2>(rows, point, u, form, b, box, inside, y)));
      else
        PetscCall((launch_apply<3>(rows, point, u, form, b, box, inside, y)));
    } else if (op_.shape_ == 0 || (op_.storage_ == Storage::constant && !inside.points()))
      PetscCall(launch_slots(row, u, form, b, box, inside, y));
    else if (dim == 1)
      PetscCall((launch_whole_stencil<1, false>(row, constants, arrays, u, form, b, box, inside, y)));
    else if (dim == 2 && op_.shape_ == 1)
      PetscCall((launch_whole_stencil<2, false>(row, constants, arrays, u, form, b, box, inside, y)));
    else if (dim == 2)
      PetscCall((launch_whole_stencil<2, true>(row, constants, arrays, u, form, b, box, inside, y)));
    else if (op_.shape_ == 1)
      PetscCall((launch_whole_stencil<3, false>(row, constants, arrays, u, form, b, box, inside, y)));
    else
      PetscCall((launch_whole_stencil<3, true>(row, constants, arrays, u, form, b, box, inside, y)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  apply_captured_on_host(row, u, form, b, op_.patch_.interior(), y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PreparedCapture::points(PetscMemType memory, const Boxes &boxes, const Field<T> &u, Form form,
                                       const T *b, T *y) const {
  return for_each(memory, boxes, captured::Apply<T>{{op_.patch_, a_}, u, form, b, y});
}

PetscErrorCode PreparedCapture::rows(PetscMemType memory, RowProperty property, T *out) const {
  Boxes all;
  all.add(op_.patch_.all());
  return for_each(memory, all, captured::Property<T>{{op_.patch_, a_}, property, out});
}

// ---- sweeps --------------------------------------------------------------------------------------------------------

static bool by_parity(const Arms &arms) {
  return arms.width() == 1 && !arms.box();
}

int CapturedStencil::colours() const {
  int colours = by_parity(*arms_) ? 2 : 1;
  if (!by_parity(*arms_))
    for (int a = 0; a < arms_->dim(); a++) colours *= (int)arms_->width() + 1;
  return colours;
}

PetscErrorCode PreparedCapture::relax(PetscMemType memory, int colour, const Field<T> &field, PetscReal omega, T shift,
                                      const T *b, T *x) const {
  const PetscInt           period = op_.arms_->width() + 1;
  captured::RelaxColour<T> point{{{op_.patch_, a_}, field, omega, shift, b, x}, period, {colour, 0, 0}, true};
  Boxes                    boxes;
  if (!by_parity(*op_.arms_)) {
    point.parity = false;
    for (int a = 0; a < 3; a++) {
      point.colour[a] = a < op_.arms_->dim() ? colour % period : 0;
      colour /= (int)period;
    }
  }
  boxes.add(point.box());
  return for_each(memory, boxes, point);
}

void PreparedCapture::sweep_in_order(bool backward, const Field<T> &field, PetscReal omega, T shift, const T *b,
                                     T *x) const {
  const captured::Relax<T> relax{{op_.patch_, a_, true}, field, omega, shift, b, x};
  const PetscInt64         points = (PetscInt64)op_.point_count();
  for (PetscInt64 n = 0; n < points; n++) {
    PetscInt p[3];
    op_.patch_.all().point(backward ? points - 1 - n : n, p);
    relax.at_point(p, backward);
  }
}

void PreparedCapture::GetSlot(int slot, T *values) const {
  const int n = op_.place_[slot];
  for_each_on_host(op_.patch_.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = op_.patch_.index(i, j, k);
    values[at] = n < 0 ? T(0) : a_.value(a_.rows(op_.patch_, p, at), n, at);
  });
}

// ---- entries -------------------------------------------------------------------------------------------------------

void PreparedCapture::row(const PetscInt p[3], PetscInt r, std::vector<Entry> *entries) const {
  const size_t at = op_.patch_.index(p[0], p[1], p[2]);
  const T     *rows = a_.rows(op_.patch_, p, at);
  entries->clear();
  for (int arm = 0; arm < op_.arms_->count(); arm++) {
    if (!op_.in_domain(p, arm)) continue;
    const PetscInt *step = op_.arms_->step(arm);
    for (PetscInt c = 0; c < op_.patch_.dof; c++) {
      const int n = op_.place_[op_.slot(arm, r, c)];
      entries->push_back({{p[0] + step[0], p[1] + step[1], p[2] + step[2]}, c, n < 0 ? T(0) : a_.value(rows, n, at)});
    }
  }
}

} // namespace shellac
