// Sweeps of captured coefficients over the points of one colour after the other.

#include "capture/apply.hpp"
#include "capture/captured.hpp"
#include "capture/colours_on_host.hpp"
#include "capture/sweep_on_gpu.hpp"

namespace shellac {

namespace {
struct SetZero {
  PetscScalar    *x;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { x[i] = 0; }
};
} // namespace

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

// On a GPU, or on the host where ColourOnHost does not serve.
PetscErrorCode PreparedCapture::relax(PetscMemType memory, int colour, const captured::Relax<T> &relax) const {
  const Box                      inside = inner();
  const captured::RelaxColour<T> point = colour_points(colour, relax);
  Boxes                          boxes;

  PetscFunctionBegin;
  boxes.add(point.box());
  if (has_constant_star(inside)) {
    const ConstantStar<T> star = shifted_star(inside, relax.shift);
    const T               factor = relax.omega / star.center;
    const int             parity = (int)point.colour[0];
    Boxes                 pairs;
    Box                   box = inside;
    box.lo[0] /= 2;
    box.hi[0] = (box.hi[0] + 1) / 2;
    pairs.add(box);
    PetscCall(with_dim(op_.arms_->dim(), [&](auto d) {
      return for_each(memory, pairs, captured::RelaxStar<T, decltype(d)::value>{relax, parity, star, factor, inside});
    }));
    PetscCall(for_each(memory, difference(op_.patch_.all(), inside), captured::RelaxParity<T>{relax, parity}));
  } else
    PetscCall(for_each(memory, boxes, point));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PreparedCapture::sweep(PetscMemType memory, const std::vector<int> &colours, const Exchange &exchange,
                                      bool from_zero, PetscReal omega, T shift, const T *b, T *x) const {
  using Part = ColourOnHost<T>::Part;
  captured::Relax<T> relax{{op_.patch_, a_}, {x, {}}, omega, shift, b, x};
  const size_t       values = (size_t)(op_.patch_.all().points() * op_.patch_.dof);
  const bool         by_rows = PetscMemTypeHost(memory) && ColourOnHost<T>::serves(relax.row);
  bool               done;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(relax_together(memory, colours, from_zero, relax, &done));
  if (from_zero && !done) PetscCall(for_each(memory, line_of(values), SetZero{x}));
  PetscCall(PetscLogGpuTimeEnd());
  for (size_t n = 0; n < colours.size() && !done; n++) {
    PetscCall(exchange(&relax.field));
    if (!by_rows) {
      PetscCall(PetscLogGpuTimeBegin());
      PetscCall(this->relax(memory, colours[n], relax));
      PetscCall(PetscLogGpuTimeEnd());
      continue;
    }
    ColourOnHost<T> one(colour_points(colours[n], relax), inner());
    if (n + 1 == colours.size() || colours[n] == colours[n + 1]) {
      one.all(Part::all);
      continue;
    }
    // two colours in one pass over memory; of the second, the points that meet the halo follow after another exchange
    const int       next = colours[++n];
    ColourOnHost<T> two(colour_points(next, relax), inner());
    relax_two_on_host(one, two, op_.arms_->dim(), op_.patch_.size, op_.arms_->width());
    PetscCall(exchange(&relax.field));
    ColourOnHost<T>(colour_points(next, relax), inner()).all(Part::outer);
  }
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

PetscErrorCode PreparedCapture::relax_together([[maybe_unused]] PetscMemType              memory,
                                               [[maybe_unused]] const std::vector<int>   &colours,
                                               [[maybe_unused]] bool                      from_zero,
                                               [[maybe_unused]] const captured::Relax<T> &relax, bool *done) const {
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
  const StarEquation<T> equation{relax.row, shifted_star(inside, relax.shift), inside, relax.shift, relax.b, relax.x};
  const std::vector<PetscReal> turns = take_turns(colours, relax.omega);
  if (turns.size() < 2) PetscFunctionReturn(PETSC_SUCCESS);
  // By twos and threes; in 3-D those from a zero guess alone, and each half-sweep after them by itself.
  for (size_t n = 0, count; n < turns.size(); n += count) {
    const size_t left = turns.size() - n;
    const int    colour = (colours[0] + (int)n) % 2;
    const bool   zero = from_zero && n == 0;
    if (dim == 2)
      count = left == 2 || left == 4 ? 2 : 3;
    else
      count = !zero ? 1 : left % 2 ? 3 : 2;
    if (dim == 2)
      PetscCall(relax_in_one_pass<2>(equation, colour, &turns[n], count, zero, &op_.borders_));
    else if (zero)
      PetscCall(relax_in_one_pass<3>(equation, colour, &turns[n], count, true, &op_.borders_));
    else {
      captured::Relax<T> half = relax;
      half.omega = turns[n];
      PetscCall(this->relax(memory, colour, half));
    }
  }
  *done = true;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
