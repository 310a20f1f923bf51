// Sweeps of captured coefficients over the points of one colour after the other.

#include "capture/apply.hpp"
#include "capture/captured.hpp"
#include "capture/colours_on_host.hpp"
#include "capture/sweep_on_gpu.hpp"

namespace shellac {

static bool by_parity(const Arms &arms) {
  return arms.width() == 1 && !arms.box();
}

int CapturedStencil::colours() const {
  int colours = by_parity(*arms_) ? 2 : 1;
  if (!by_parity(*arms_))
    for (int a = 0; a < arms_->dim(); a++) colours *= (int)arms_->width() + 1;
  return colours;
}

captured::RelaxColour<PetscScalar> PreparedCapture::colour_points(int colour, const captured::Relax<T> &relax) const {
  const PetscInt           period = op_.arms_->width() + 1;
  captured::RelaxColour<T> points{relax, period, {colour, 0, 0}, true};
  if (by_parity(*op_.arms_)) return points;
  points.parity = false;
  for (int a = 0; a < 3; a++) {
    points.colour[a] = a < op_.arms_->dim() ? colour % period : 0;
    colour /= (int)period;
  }
  return points;
}

PetscErrorCode PreparedCapture::relax(PetscMemType memory, int colour, const Field<T> &field, PetscReal omega, T shift,
                                      const T *b, T *x) const {
  const int                      dim = op_.arms_->dim();
  const Box                      inside = inner();
  const captured::RelaxColour<T> point = colour_points(colour, {{op_.patch_, a_}, field, omega, shift, b, x});
  Boxes                          boxes;

  PetscFunctionBegin;
  if (PetscMemTypeHost(memory) && ColourOnHost<T>::serves(point.relax.row)) {
    ColourOnHost<T>(point, inside).all(ColourOnHost<T>::Part::all);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  boxes.add(point.box());
  if (has_constant_star(inside)) { // on a GPU: on the host it is done
    const ConstantStar<T> star = shifted_star(inside, shift);
    const T               factor = omega / star.center;
    const int             parity = (int)point.colour[0];
    Boxes                 pairs;
    Box                   box = inside;
    box.lo[0] /= 2;
    box.hi[0] = (box.hi[0] + 1) / 2;
    pairs.add(box);
    if (dim == 1)
      PetscCall(for_each(memory, pairs, captured::RelaxStar<T, 1>{point.relax, parity, star, factor, inside}));
    else if (dim == 2)
      PetscCall(for_each(memory, pairs, captured::RelaxStar<T, 2>{point.relax, parity, star, factor, inside}));
    else
      PetscCall(for_each(memory, pairs, captured::RelaxStar<T, 3>{point.relax, parity, star, factor, inside}));
    PetscCall(for_each(memory, difference(op_.patch_.all(), inside), captured::RelaxParity<T>{point.relax, parity}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(for_each(memory, boxes, point));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PreparedCapture::relax_two(PetscMemType memory, const int colours[2], const Field<T> &field,
                                          PetscReal omega, T shift, const T *b, T *x, bool *done) const {
  const captured::Relax<T> relax{{op_.patch_, a_}, field, omega, shift, b, x};

  PetscFunctionBegin;
  *done = PetscMemTypeHost(memory) && ColourOnHost<T>::serves(relax.row);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  ColourOnHost<T> one(colour_points(colours[0], relax), inner()), two(colour_points(colours[1], relax), inner());
  relax_two_on_host(one, two, op_.arms_->dim(), op_.patch_.size, op_.arms_->width());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PreparedCapture::relax_outer(int colour, const Field<T> &field, PetscReal omega, T shift, const T *b,
                                            T *x) const {
  PetscFunctionBegin;
  ColourOnHost<T>(colour_points(colour, {{op_.patch_, a_}, field, omega, shift, b, x}), inner())
      .all(ColourOnHost<T>::Part::outer);
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool PreparedCapture::has_constant_star(const Box &inside) const {
  return by_parity(*op_.arms_) && op_.shape_ == 1 && op_.storage_ == Storage::constant && inside.points() > 0;
}

ConstantStar<PetscScalar> PreparedCapture::shifted_star(const Box &inside, T shift) const {
  ConstantStar<T> star = this->star(row_on_host(inside.lo));
  star.center += shift;
  return star;
}

// ---- several half-sweeps in one pass over memory

#if SHELLAC_CUDA
// Half-sweeps of one colour and of the other in turn. As points of a colour are not coupled, a step of theirs with omega and
// the same again are one step with another omega.
static std::vector<PetscReal> take_turns(const std::vector<int> &colours, PetscReal omega) {
  std::vector<PetscReal> turns;
  for (size_t n = 0; n < colours.size(); n++)
    if (n > 0 && colours[n] == colours[n - 1])
      turns.back() += (1 - turns.back()) * omega;
    else
      turns.push_back(omega);
  return turns;
}
#endif

PetscErrorCode PreparedCapture::relax_together(PetscMemType memory, const std::vector<int> &colours, bool from_zero,
                                               PetscReal omega, T shift, const T *b, T *x, bool *done) const {
  PetscFunctionBegin;
  *done = false;
#if SHELLAC_CUDA
  const Patch &patch = op_.patch_;
  const int    dim = op_.arms_->dim();
  const Box    inside = inner();
  bool         alone = true;
  for (const auto &ends : patch.neighbour) alone = alone && !ends[LOWER] && !ends[UPPER];
  if (PetscMemTypeHost(memory) || dim == 1 || !alone || !has_constant_star(inside)) PetscFunctionReturn(PETSC_SUCCESS);
  if (dim == 3 && !from_zero) PetscFunctionReturn(PETSC_SUCCESS);
  const StarEquation<T>        equation{{patch, a_}, shifted_star(inside, shift), inside, shift, b, x};
  const std::vector<PetscReal> turns = take_turns(colours, omega);
  if (turns.size() < 2) PetscFunctionReturn(PETSC_SUCCESS);
  // By twos and threes; in 3-D those from a zero guess alone, and each half-sweep after them by itself.
  for (size_t n = 0, count; n < turns.size(); n += count) {
    const size_t left = turns.size() - n;
    const int    colour = (colours[0] + (int)n) % 2;
    const bool   zero = from_zero && n == 0;
    count = left == 2 || left == 4 ? 2 : 3;
    if (dim == 2)
      PetscCall(relax_in_one_pass<2>(equation, colour, &turns[n], count, zero, &op_.borders_));
    else if (zero)
      PetscCall(relax_in_one_pass<3>(equation, colour, &turns[n], count = turns.size() % 2 ? 3 : 2, true, &op_.borders_));
    else
      PetscCall(relax(memory, colour, {x, {}}, turns[n], shift, b, x)), count = 1;
  }
  *done = true;
#else
  (void)memory, (void)colours, (void)from_zero, (void)omega, (void)shift, (void)b, (void)x;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
