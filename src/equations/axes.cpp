#include "equations/axes.hpp"

#include <algorithm>
#include <cmath>

#include "equations/interface.hpp"

namespace shellac {

// The distance from the first point to one d spacings before it, where the first two spacings, h0 and h1, go on
// geometrically.
static PetscReal distance_beyond(PetscReal d, PetscReal h0, PetscReal h1) {
  const PetscReal growth = std::log(h1 / h0);
  return std::fabs(growth) < 1e-9 ? d * h0 : -h0 * std::expm1(-d * growth) / std::expm1(growth);
}

static void get_distances(const Ends &ends, PetscReal distance[2]) {
  for (int side = 0; side < 2; side++)
    distance[side] = ends.periodic || ends.mirror ? 0 : Ends::distance(ends.form[side]);
}

EquationAxis::EquationAxis(const Ends &ends, PetscReal lower, PetscReal upper, const Stretching &stretching)
    : N_(ends.N), periodic_(ends.periodic) {
  const PetscReal length = upper - lower, intervals = ends.intervals();
  get_distances(ends, distance_);
  h_ = intervals > 0 ? length / intervals : length;
  origin_ = lower + distance_[LOWER] * h_;
  end_[LOWER] = origin_ - distance_[LOWER] * h_;
  end_[UPPER] = end_[LOWER] + PetscMax(intervals, 1e-300) * h_;
  if (stretching.form == Stretching::uniform || N_ < 2) return;
  for (PetscInt i = 0; i < N_; i++)
    x_.push_back(lower + length * (PetscReal)stretching((distance_[LOWER] + (PetscReal)i) / intervals));
  origin_ = x_[0];
  end_[LOWER] = lower, end_[UPPER] = upper;
}

EquationAxis::EquationAxis(const Ends &ends, const std::vector<PetscReal> &x, bool uniform)
    : N_(ends.N), periodic_(ends.periodic), origin_(x[0]) {
  const size_t    last = x.size() - 1;
  const PetscReal intervals = ends.intervals();
  get_distances(ends, distance_);
  h_ = (x[last] - x[0]) / (PetscReal)last;
  end_[LOWER] = origin_ - distance_[LOWER] * h_;
  end_[UPPER] = end_[LOWER] + PetscMax(intervals, 1e-300) * h_;
  if (uniform) return;
  x_ = x;
  const PetscReal first_step = x[1] - x[0], last_step = x[last] - x[last - 1];
  if (periodic_) {
    end_[LOWER] = x[0];
    end_[UPPER] = x[last] + std::sqrt(first_step * last_step);
  } else {
    end_[LOWER] = x[0] - distance_beyond(distance_[LOWER], first_step, x[2] - x[1]);
    end_[UPPER] = x[last] + distance_beyond(distance_[UPPER], last_step, x[last - 1] - x[last - 2]);
  }
  h_ = (end_[UPPER] - end_[LOWER]) / intervals;
}

PetscReal EquationAxis::at(PetscInt i) const {
  if (i >= 0 && i < N_) return stretched() ? x_[(size_t)i] : origin_ + (PetscReal)i * h_;
  if (periodic_) {
    const PetscInt inside = (i % N_ + N_) % N_;
    return at(inside) + (PetscReal)((i - inside) / N_) * (end_[UPPER] - end_[LOWER]);
  }
  const int      side = i < 0 ? LOWER : UPPER;
  const PetscInt m = side == LOWER ? -i : i - N_ + 1, image = depth(side, m);
  if (image < 0) return end_[side];                                                       // on the end itself
  if (image >= N_) return at(side == LOWER ? i + 1 : i - 1) + (side == LOWER ? -h_ : h_); // of very few points
  return 2 * end_[side] - at(side == LOWER ? image : N_ - 1 - image);
}

PetscReal EquationAxis::image_spacing(int side, PetscInt m) const {
  if (!stretched()) return h_;
  const PetscInt image = std::min(std::max(depth(side, m), (PetscInt)0), N_ - 1);
  return PetscAbsReal(end_[side] - at(side == LOWER ? image : N_ - 1 - image)) * 2 / (PetscReal)(2 * m - 1);
}

std::vector<double> EquationAxis::cells() const {
  std::vector<double> lengths;
  const auto          half = [&](PetscInt i, int side) { // of a cell
    if (periodic_ || i != (side ? N_ - 1 : 0))
      return stretched() ? PetscAbsReal(at(side ? i + 1 : i - 1) - at(i)) / 2 : h_ / 2;
    return stretched() ? PetscAbsReal(end_[side] - at(i)) : distance_[side] * h_;
  };
  for (PetscInt i = 0; i < N_; i++) lengths.push_back((double)(half(i, LOWER) + half(i, UPPER)));
  return lengths;
}

std::vector<double> EquationAxis::tables(PetscInt width) const {
  const size_t        n = (size_t)(N_ + 2 * width);
  std::vector<double> tables(equation::axis_tables * n);
  for (size_t p = 0; p < n; p++) {
    const PetscInt  i = (PetscInt)p - width;
    const PetscReal before = at(i - 1), here = at(i), next = at(i + 1);
    tables[equation::coordinates * n + p] = (double)here;
    tables[equation::inverse_steps * n + p] = 1 / (double)(next - here);
    tables[equation::inverse_cells * n + p] = 2 / (double)(next - before);
  }
  return tables;
}

} // namespace shellac
