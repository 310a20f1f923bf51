#include "formulas/formula.hpp"

#include <exception>

#include "formulas/field.hpp"

namespace shellac {

StencilRow::StencilRow(int dim, const Shape &shape, PetscInt dof) {
  PetscInt *reach = row_.reach_, d[3];
  for (int a = 0; a < dim; a++) reach[a] = shape.width;
  for (d[2] = -reach[2]; d[2] <= reach[2]; d[2]++)
    for (d[1] = -reach[1]; d[1] <= reach[1]; d[1]++)
      for (d[0] = -reach[0]; d[0] <= reach[0]; d[0]++) {
        const int axes = (d[0] != 0) + (d[1] != 0) + (d[2] != 0);
        step_at_.push_back(shape.box || axes <= 1 ? (int)steps_.size() : -1);
        if (step_at_.back() >= 0) steps_.push_back({{d[0], d[1], d[2]}});
      }
  values_.assign(steps_.size() * (size_t)(dof * dof), 0);
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
  if (!read_ || !constant_) read_anew(i);
}

void DomainRows::read_anew(const PetscInt i[3]) {
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

// ---- what a formula promises ---------------------------------------------------------------------------------------

// Calls f(i), while it returns true, for some points of a box of the grid: its corners, the middles of its edges and sides,
// and others that are spread evenly (the sequence R_d of M. Roberts, 2018); or for all points, where these are no more.
template <class Function> static void for_each_sample(const Box &box, PetscInt64 spread, const Function &f) {
  constexpr double step[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  PetscInt         i[3];
  if (box.points() <= spread + 27) {
    for (PetscInt64 at = 0; at < (PetscInt64)box.points(); at++) {
      box.point(at, i);
      if (!f((const PetscInt *)i)) return;
    }
    return;
  }
  for (int n = 0; n < 27; n++) {
    bool is_new = true;
    for (int a = 0, rest = n; a < 3; a++, rest /= 3) {
      const int place = rest % 3; // first, last, middle
      i[a] = place == 0 ? box.lo[a] : place == 1 ? box.hi[a] - 1 : box.lo[a] + box.size(a) / 2;
      is_new = is_new && (place == 0 || box.size(a) > place);
    }
    if (is_new && !f((const PetscInt *)i)) return;
  }
  for (PetscInt64 n = 1; n <= spread; n++) {
    for (int a = 0; a < 3; a++) {
      const double at = (double)n * step[a];
      i[a] = box.lo[a] + PetscMin((PetscInt)((at - (double)(PetscInt64)at) * (double)box.size(a)), box.size(a) - 1);
    }
    if (!f((const PetscInt *)i)) return;
  }
}

std::string DomainRows::broken_promise(const Arms &arms, const Patch &patch, bool symmetric) {
  std::string broken;
  Box         box = patch.all();
  for (int a = 0; a < 3; a++) {
    box.lo[a] = constant_ ? 0 : patch.start[a];
    box.hi[a] = constant_ ? patch.N[a] : patch.start[a] + patch.size[a];
  }
  if (constant_) {
    std::vector<PetscScalar> first;
    for_each_sample(box, 256, [&](const PetscInt i[3]) {
      read_anew(i);
      if (first.empty()) first = row_.values();
      if (problem_.empty() && first != row_.values())
        broken = "the formula is constant(), but its row at the point " + text_of(i, point_.dim) +
                 " is not that at the first point; constant() must be false where row() reads coordinates or indices";
      return problem_.empty() && broken.empty();
    });
  }
  if (!symmetric || !problem_.empty() || !broken.empty()) return broken;
  // a fraction of the time that all rows take, but of a few points always
  const PetscInt64 spread =
      PetscMin(PetscMax((PetscInt64)patch.all().points() / (4 * (arms.count() + 1)), (PetscInt64)8), (PetscInt64)64);
  const size_t             dof = (size_t)dof_, block = dof * dof;
  std::vector<PetscScalar> here((size_t)arms.count() * block), there(here.size());
  const auto               get_row = [&](const PetscInt i[3], std::vector<PetscScalar> *row) {
    std::fill(row->begin(), row->end(), PetscScalar(0));
    get(arms, i, 1, [&](int arm, PetscInt r, PetscInt c, PetscScalar value) {
      (*row)[(size_t)arm * block + (size_t)r * dof + (size_t)c] += value;
    });
    PetscReal largest = 0;
    for (PetscScalar value : *row) largest = PetscMax(largest, PetscAbsScalar(value));
    return largest;
  };
  const auto compare = [&](const PetscInt i[3], const PetscInt q[3], int arm, PetscReal largest) {
    for (size_t r = 0; r < dof && broken.empty(); r++)
      for (size_t c = 0; c < dof && broken.empty(); c++) {
        const PetscScalar entry = here[(size_t)arm * block + r * dof + c],
                          back = there[(size_t)arms.opposite(arm) * block + c * dof + r];
        const PetscReal size = PetscMax(PetscAbsScalar(entry), PetscAbsScalar(back));
        if (PetscAbsScalar(entry - back) <= PETSC_SQRT_MACHINE_EPSILON * size + 1e3 * PETSC_MACHINE_EPSILON * largest)
          continue;
        broken = "the formula is symmetric(), but the row of the point " + text_of(i, point_.dim) + " has " +
                 number(entry) + " for " + text_of(q, point_.dim) + ", whose row has " + number(back) +
                 " in return; symmetric() must be false, or row() must take, as for k of a flux, a mean that is the "
                 "same from both points";
      }
  };
  for_each_sample(box, spread, [&](const PetscInt i[3]) {
    const PetscReal largest = get_row(i, &here);
    for (int arm = 0; arm < arms.count() && broken.empty() && problem_.empty(); arm++) {
      PetscInt q[3];
      bool     known = arm != arms.center() || dof > 1; // q's row is one of this rank's
      for (int a = 0; a < 3; a++) {
        q[a] = i[a] + arms.step(arm)[a];
        if (patch.periodic[a]) q[a] = (q[a] + patch.N[a]) % patch.N[a];
        known = known && q[a] >= box.lo[a] && q[a] < box.hi[a];
      }
      if (known) compare(i, q, arm, PetscMax(largest, get_row(q, &there)));
    }
    return broken.empty() && problem_.empty();
  });
  return broken;
}

} // namespace shellac
