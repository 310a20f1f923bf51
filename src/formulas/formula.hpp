#pragma once
// A formula: the row of one point of a grid, as if there were no ends of the domain; and the rows with them.

#include <string>
#include <vector>

#include "capture/arms.hpp"
#include "formulas/boundary.hpp"
#include "shellac/stencil.hpp"

namespace shellac {

// The entry of a row at a point so many steps away along an axis.
inline PetscScalar &along(Row &u, int axis, PetscInt step) {
  return u(axis == 0 ? step : 0, axis == 1 ? step : 0, axis == 2 ? step : 0);
}

// The weight of the source at a neighbour in a row's right-hand side.
struct SourceWeight {
  PetscInt  step[3] = {0, 0, 0};
  PetscReal value = 1;
};

// The storage of a row that a formula writes.
class StencilRow {
public:
  StencilRow(int dim, const Shape &shape, PetscInt dof);
  StencilRow(const StencilRow &) = delete;
  Row &row() { return row_; }
  void Clear();
  void Conjugate();
  template <class Function>
  void for_each(const Function &f) const { // f(n, r, c, value), of values that are not zero, at step(n)
    const PetscScalar *value = values_.data();
    for (int n = 0; n < steps(); n++)
      for (PetscInt r = 0; r < row_.dof_; r++)
        for (PetscInt c = 0; c < row_.dof_; c++, value++)
          if (*value != PetscScalar(0)) f(n, r, c, *value);
  }
  const std::vector<PetscScalar> &values() const { return values_; }
  int                             steps() const { return (int)steps_.size(); }
  const PetscInt                 *step(int n) const { return steps_[(size_t)n].d; }
  // The error in the row; empty if there is none. *relative_sum: the largest sum of one equation's entries, relative to
  // the sum of their absolute values.
  std::string problem(PetscReal *relative_sum) const;

private:
  struct Step {
    PetscInt d[3];
  };
  Row                      row_;
  std::vector<Step>        steps_;
  std::vector<int>         step_at_;
  std::vector<PetscScalar> values_;
};

// A formula on a domain.
class DomainRows {
public:
  // at: any point of the grid, with the time and what finds its fields; conjugated: the rows are the formula's conjugates.
  DomainRows(const Formula &formula, const Ends ends[3], const Point &at, bool conjugated = false);

  bool identity(const PetscInt i[3]) const;
  // The entries of the rows of the point i, by the arms that they belong to: f(arm, r, c, value). An identity row has the
  // value `identity` on its diagonal.
  template <class Function> void get(const Arms &arms, const PetscInt i[3], PetscScalar identity, const Function &f) {
    if (this->identity(i)) {
      for (PetscInt r = 0; r < dof_; r++) f(arms.center(), r, r, identity);
      return;
    }
    read(i);
    if (is_far(i)) {
      if (arm_.empty())
        for (int n = 0; n < row_.steps(); n++) arm_.push_back(arms.find(row_.step(n)));
      row_.for_each([&](int n, PetscInt r, PetscInt c, PetscScalar value) { f(arm_[(size_t)n], r, c, value); });
      return;
    }
    row_.for_each([&](int n, PetscInt r, PetscInt c, PetscScalar value) {
      const PetscInt *step = row_.step(n);
      PetscInt        to[3];
      PetscReal       factor[3], given[3], product = 1;
      for (int a = 0; a < 3; a++) {
        ends_[a].fold(i[a] + step[a], &to[a], &factor[a], &given[a]);
        to[a] -= i[a];
        product *= factor[a];
      }
      if (product != 0) f(arms.find(to), r, c, product * value);
    });
  }
  // The contribution of the boundary's data to the product of row r: f(r, c, i, axis, side, coefficient). The value at the
  // neighbour i, beyond the end of the axis, depends on the datum of unknown c there.
  template <class Function> void get_data(const PetscInt i[3], const Function &f) {
    if (identity(i)) return;
    read(i);
    row_.for_each([&](int n, PetscInt r, PetscInt c, PetscScalar value) {
      const PetscInt *step = row_.step(n);
      PetscInt        at[3], inside[3];
      PetscReal       factor[3] = {1, 1, 1}, given[3] = {0, 0, 0};
      for (int a = 0; a < 3; a++) {
        at[a] = inside[a] = ends_[a].within(i[a] + step[a]);
        if (ends_[a].gives_derivative(at[a])) ends_[a].fold(at[a], &inside[a], &factor[a], &given[a]);
      }
      // Derivatives first, at the neighbour's place along the other axes: an edge of several such sides is in the middle
      // between the neighbour and the point inside. A weight is the mean over all orders in which the axes can be folded.
      for (int a = 0; a < 3; a++) {
        const PetscReal one = factor[(a + 1) % 3], other = factor[(a + 2) % 3];
        const PetscReal weight = given[a] * (2 + one + other + 2 * one * other) / 6;
        if (weight != 0) f(r, c, at, a, at[a] < 0 ? LOWER : UPPER, weight * value);
      }
      value *= factor[0] * factor[1] * factor[2];
      // Values come last, at places that are within the other sides.
      for (int a = 0; a < 3 && value != PetscScalar(0); a++) {
        PetscInt  to;
        PetscReal of_inside, of_datum;
        ends_[a].fold(inside[a], &to, &of_inside, &of_datum);
        if (of_datum != 0) f(r, c, inside, a, inside[a] < 0 ? LOWER : UPPER, of_datum * value);
        inside[a] = to;
        value *= of_inside;
      }
    });
  }

  // Of rows at some points, this rank's where rows may read fields: what constant() and, for a matrix that is to be
  // symmetric, symmetric() promise and they do not keep. Empty if they keep it, or if one of them has a problem().
  std::string broken_promise(const Arms &arms, const Patch &patch, bool symmetric);

  // Of the rows that have been read: what is wrong with the first that is not right; and the largest relative sum.
  const std::string &problem() const { return problem_; }
  PetscReal          relative_sum() const { return relative_sum_; }

private:
  void read(const PetscInt i[3]);
  void read_anew(const PetscInt i[3]);
  bool is_far(const PetscInt i[3]) const { // from all ends, so that no step leads beyond one
    bool far = true;
    for (int a = 0; a < 3; a++) far = far && (ends_[a].periodic || (i[a] >= width_ && i[a] < ends_[a].N - width_));
    return far;
  }

  const Formula   &formula_;
  Ends             ends_[3];
  Point            point_;
  PetscInt         dof_, width_;
  bool             constant_, conjugated_, read_ = false;
  StencilRow       row_;
  std::vector<int> arm_; // of each step, where no end is near
  std::string      problem_;
  PetscReal        relative_sum_ = 0;
};

} // namespace shellac
