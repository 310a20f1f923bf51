#include "formulas/formula.hpp"

#include <exception>

namespace shellac {

StencilRow::StencilRow(int dim, const Shape &shape, PetscInt dof) {
  const PetscInt w = shape.width, side = 2 * w + 1;
  PetscInt       d[3];
  step_at_.assign((size_t)(side * side * side), -1);
  for (d[2] = -w; d[2] <= w; d[2]++)
    for (d[1] = -w; d[1] <= w; d[1]++)
      for (d[0] = -w; d[0] <= w; d[0]++) {
        const int  axes = (d[0] != 0) + (d[1] != 0) + (d[2] != 0);
        const bool in_grid = (dim > 1 || d[1] == 0) && (dim > 2 || d[2] == 0);
        if (!in_grid || (!shape.box && axes > 1)) continue;
        step_at_[(size_t)(d[0] + w + side * (d[1] + w + side * (d[2] + w)))] = (int)steps_.size();
        steps_.push_back({{d[0], d[1], d[2]}});
      }
  values_.assign(steps_.size() * (size_t)(dof * dof), 0);
  row_.width_ = w;
  row_.dof_ = dof;
  row_.step_at_ = step_at_.data();
  row_.values_ = values_.data();
}

void StencilRow::Clear() {
  std::fill(values_.begin(), values_.end(), PetscScalar(0));
  row_.is_outside_ = false;
}

void StencilRow::Conjugate() {
  for (PetscScalar &value : values_) value = PetscConj(value);
}

std::string StencilRow::problem(PetscReal *relative_sum) const {
  std::string text;
  *relative_sum = 0;
  if (row_.is_outside_) {
    const PetscInt *at = row_.outside_;
    text = "adds an entry at the step " + text_of(at, 3);
    if (row_.dof_ > 1) text += ", of equation " + std::to_string(at[3]) + " and unknown " + std::to_string(at[4]);
    return text +
           ", which is outside its shape; shape() must have the width, box for steps along several axes at once" +
           (row_.dof_ > 1 ? ", and dof() the number of unknowns" : ", and the steps the dimension of the grid");
  }
  bool finite = true;
  for (PetscInt r = 0; r < row_.dof_; r++) {
    PetscScalar sum = 0;
    PetscReal   size = 0;
    for (size_t n = 0; n < steps_.size(); n++)
      for (PetscInt c = 0; c < row_.dof_; c++) {
        const PetscScalar value = values_[(n * (size_t)row_.dof_ + (size_t)r) * (size_t)row_.dof_ + (size_t)c];
        sum += value;
        size += PetscAbsScalar(value);
      }
    finite = finite && !PetscIsInfOrNanReal(size);
    if (size > 0) *relative_sum = PetscMax(*relative_sum, PetscAbsScalar(sum) / size);
  }
  if (finite) return text;
  for_each([&](int n, PetscInt, PetscInt, PetscScalar value) {
    if (text.empty() && PetscIsInfOrNanScalar(value))
      text = "gives the coefficient " + std::to_string((double)PetscRealPart(value)) + " at the step " +
             text_of(step(n), 3) + "; check its parameters, fields and spacings";
  });
  return text;
}

DomainRows::DomainRows(const Formula &formula, const Ends ends[3], const Point &at, bool conjugated)
    : formula_(formula), ends_{ends[0], ends[1], ends[2]}, point_(at), dof_(formula.dof()),
      width_(formula.shape().width), constant_(formula.constant()), conjugated_(conjugated),
      row_(at.dim, formula.shape(), dof_) {
  if (constant_) point_.reach_ = -1; // its only row is one of a place, which may be another rank's
}

bool DomainRows::identity(const PetscInt i[3]) const {
  return ends_[0].identity(i[0]) || ends_[1].identity(i[1]) || ends_[2].identity(i[2]);
}

void DomainRows::read(const PetscInt i[3]) {
  if (read_ && constant_) return;
  row_.Clear();
  for (int a = 0; a < 3; a++) {
    point_.i[a] = i[a];
    point_.x[a] = point_.origin_[a] + (PetscReal)i[a] * point_.h[a];
  }
  point_.at_ =
      i[0] - point_.first_[0] +
      (PetscInt64)point_.size_[0] * (i[1] - point_.first_[1] + (PetscInt64)point_.size_[1] * (i[2] - point_.first_[2]));
  std::string problem;
  PetscReal   sum = 0;
  try {
    formula_.row(point_, row_.row());
    problem = row_.problem(&sum);
    if (conjugated_) row_.Conjugate();
  } catch (const std::exception &thrown) {
    problem = std::string("throws an exception: ") + thrown.what();
  } catch (...) {
    problem = "throws an exception";
  }
  if (point_.outside_ && constant_)
    problem = std::string("is constant() and reads the field ") + point_.outside_->name_ + "; constant() must be false";
  else if (point_.outside_)
    problem = std::string("reads the field ") + point_.outside_->name_ + " at the step " +
              text_of(point_.outside_step_, 3) +
              ", which is outside its shape's width or the field's values at a point";
  point_.outside_ = nullptr;
  if (!problem.empty() && problem_.empty()) problem_ = "at the point " + text_of(i, 3) + " the formula " + problem;
  relative_sum_ = PetscMax(relative_sum_, sum);
  read_ = true;
}

} // namespace shellac
