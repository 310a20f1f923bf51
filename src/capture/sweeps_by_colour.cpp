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

#if SHELLAC_CUDA
// Whether rows near the ends are those of the star too, but for arms beyond the ends, where values are zero.
bool PreparedCapture::is_star_to_ends(const Box &inside) const {
  const Patch          &patch = op_.patch_;
  const ConstantStar<T> inner = star(row_on_host(inside.lo));

  return holds_around(inside, patch.all(), [&](const PetscInt *p) {
    const ConstantStar<T> here = star(row_on_host(p));
    bool                  alike = here.center == inner.center;
    for (int a = 0; a < 3; a++) {
      alike = alike && (p[a] == 0 || here.arm[a][LOWER] == inner.arm[a][LOWER]);
      alike = alike && (p[a] == patch.size[a] - 1 || here.arm[a][UPPER] == inner.arm[a][UPPER]);
    }
    return alike;
  });
}

// By twos in place; from a zero guess the first two or three.
PetscErrorCode PreparedCapture::relax_in_space(PetscMemType memory, StarEquation<T> equation, int colour,
                                               const std::vector<PetscReal> &turns, bool from_zero, bool *done) const {
  const bool in_place = can_relax_in_place(equation);
  size_t     n = 0;

  PetscFunctionBegin;
  if (!in_place && !from_zero) PetscFunctionReturn(PETSC_SUCCESS);
  if (from_zero) {
    n = turns.size() % 2 ? 3 : 2;
    PetscCall(relax_in_one_pass<3>(equation, colour, turns.data(), n, true, &op_.borders_));
  }
  if (in_place && is_star_to_ends(equation.inner)) equation.inner = op_.patch_.all();
  for (; in_place && n + 1 < turns.size(); n += 2)
    PetscCall(relax_in_place(equation, (colour + (int)n) % 2, &turns[n]));
  for (; n < turns.size(); n++)
    PetscCall(relax(memory, (colour + (int)n) % 2, {equation.x, {}}, turns[n], equation.shift, equation.b, equation.x));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
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
  const StarEquation<T>        equation{{patch, a_}, shifted_star(inside, shift), inside, shift, b, x};
  const std::vector<PetscReal> turns = take_turns(colours, omega);
  if (turns.size() < 2) PetscFunctionReturn(PETSC_SUCCESS);
  if (dim == 3) {
    PetscCall(relax_in_space(memory, equation, colours[0], turns, from_zero, done));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (size_t n = 0, count; n < turns.size(); n += count) { // by twos and threes
    const size_t left = turns.size() - n;
    const int    colour = (colours[0] + (int)n) % 2;
    count = left == 2 || left == 4 ? 2 : 3;
    PetscCall(relax_in_one_pass<2>(equation, colour, &turns[n], count, from_zero && n == 0, &op_.borders_));
  }
  *done = true;
#else
  (void)memory, (void)colours, (void)from_zero, (void)omega, (void)shift, (void)b, (void)x;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
