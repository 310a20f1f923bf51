#pragma once
// The operators that a formula like helmholtz.hpp makes: the vector space over it, with identity rows and shifts.

#include <memory>

#include "stencil/apply.hpp"
#include "stencil/operator.hpp"

namespace shellac {

class FormulaStencil : public StencilOperator {
public:
  virtual std::unique_ptr<FormulaStencil> clone() const = 0;

  // The vector space of operators on one grid.
  virtual void scale(PetscScalar a) = 0;
  virtual void shift(PetscScalar a) = 0;
  virtual bool axpy(PetscScalar a, const FormulaStencil &x) = 0; // false, and no change, where the formulas differ
  virtual void transpose() = 0;

  // diagonal: added to the operator's own, in the memory where the rows are computed [points of the patch]; null for
  // none.
  virtual std::unique_ptr<PreparedOperator> prepare(const PetscScalar *diagonal) const = 0;

  // What a row far from the ends of the domain makes of the constant function 1; exact where the formula cancels.
  virtual PetscScalar row_of_constant() const = 0;
};

namespace point { // what one point computes, for for_each()

template <class Rows, int dim, class T> struct Property {
  Rows        rows;
  bool        transposed;
  RowProperty property;
  T          *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = rows.patch.index(i, j, k);
    const T        center = rows.template entry<dim>(p);
    PetscReal      value = PetscAbsScalar(center);
    if (property == RowProperty::diagonal) {
      out[at] = center;
      return;
    }
    for (int a = 0; a < dim; a++) {
      for (int e = 0; e < 2; e++) {
        const PetscReal arm = PetscAbsScalar(transposed ? rows.template transposed_entry<dim>(p, a, (Side)e)
                                                        : rows.template entry<dim>(p, a, (Side)e));
        const bool      both = rows.patch.N[a] == 2 && rows.patch.beyond[a] == Beyond::around; // one point at both ends
        if (property == RowProperty::sum_abs)
          value += arm;
        else
          value = PetscMax(value, both ? 2 * arm : arm);
      }
    }
    out[at] = value;
  }
};

// transposed: known when it is compiled, as a transposed row takes many more registers.
template <bool transposed, class Rows, int dim, class T> struct Relax {
  Rows      rows;
  Field<T>  field; // of x
  int       colour;
  PetscReal omega;
  T         shift;
  const T  *b;
  T        *x;

  // half: index among the points of the colour in this row
  SHELLAC_HD void operator()(PetscInt half, PetscInt j, PetscInt k) const {
    const Patch   &patch = rows.patch;
    const PetscInt odd = (patch.start[0] + patch.start[1] + j + patch.start[2] + k + colour) & 1;
    const PetscInt p[3] = {2 * half + odd, j, k};
    if (p[0] >= patch.size[0]) return;
    const size_t at = patch.index(p[0], j, k);
    const auto   star = field.template star<dim>(patch, p);
    const T      Ax = (transposed ? rows.template transposed_row<dim>(star, p) : rows.template row<dim>(star, p)) +
                 shift * star.center;
    x[at] = star.center + omega * (b[at] - Ax) / (rows.template entry<dim>(p) + shift);
  }
};

} // namespace point

template <template <class> class Formula, int dim> class PreparedFormula final : public PreparedOperator {
public:
  using T = PetscScalar;
  using RowsType = Rows<T, Formula>;

  PreparedFormula(const RowsType &rows, bool transposed) : rows_(rows), transposed_(transposed) {}

  PetscLogDouble flops() const override { return Formula<T>::flops(dim) + (rows_.diagonal ? 4 : 2); }
  PetscErrorCode interior(PetscMemType memory, const Field<T> &u, Form form, const T *b, T *y) const override {
    if (!transposed_) return apply_interior<dim>(memory, rows_, u, form, b, y);
    Boxes box;
    box.add(rows_.patch.interior());
    return points(memory, box, u, form, b, y);
  }
  PetscErrorCode points(PetscMemType memory, const Boxes &boxes, const Field<T> &u, Form form, const T *b,
                        T *y) const override {
    return for_each(memory, boxes, ApplyPoint<T, dim, Formula>{rows_, u, transposed_, form, b, y});
  }
  PetscErrorCode rows(PetscMemType memory, RowProperty property, T *out) const override {
    Boxes all;
    all.add(rows_.patch.all());
    return for_each(memory, all, point::Property<RowsType, dim, T>{rows_, transposed_, property, out});
  }
  PetscErrorCode relax(PetscMemType memory, int colour, const Field<T> &field, PetscReal omega, T shift, const T *b,
                       T *x) const override {
    Boxes halves;
    Box   half = rows_.patch.all();
    half.hi[0] = (half.hi[0] + 1) / 2;
    halves.add(half);
    if (transposed_)
      return for_each(memory, halves, point::Relax<true, RowsType, dim, T>{rows_, field, colour, omega, shift, b, x});
    return for_each(memory, halves, point::Relax<false, RowsType, dim, T>{rows_, field, colour, omega, shift, b, x});
  }
  void row(const PetscInt p[3], PetscInt, std::vector<Entry> *entries) const override {
    entries->assign(1, Entry{{p[0], p[1], p[2]}, 0, rows_.template entry<dim>(p)});
    if (!transposed_ && rows_.patch.template is_identity_row<dim>(p)) return;
    for (int a = 0; a < dim; a++) {
      for (int e = 0; e < 2; e++) {
        if (rows_.patch.leaves_domain(p, a, (Side)e)) continue;
        Entry entry{{p[0], p[1], p[2]}, 0, 0};
        entry.point[a] += e == LOWER ? -1 : 1;
        entry.value = transposed_ ? rows_.template transposed_entry<dim>(p, a, (Side)e)
                                  : rows_.template entry<dim>(p, a, (Side)e);
        entries->push_back(entry);
      }
    }
  }

private:
  const RowsType rows_;
  const bool     transposed_;
};

template <template <class> class Formula, int dim> class FormulaOperator final : public FormulaStencil {
public:
  using T = PetscScalar;
  using RowsType = Rows<T, Formula>;

  FormulaOperator(const Patch &patch, const Formula<T> &formula) : rows_{patch, formula, T(1), T(0), nullptr} {}

  std::unique_ptr<FormulaStencil>   clone() const override { return std::make_unique<FormulaOperator>(*this); }
  std::unique_ptr<PreparedOperator> prepare(const T *diagonal) const override {
    RowsType rows = rows_;
    rows.diagonal = diagonal;
    return std::make_unique<PreparedFormula<Formula, dim>>(rows, transposed_);
  }
  const Patch &patch() const override { return rows_.patch; }
  int          colours() const override { return 2; } // 0 where the sum of the indices is even

  void scale(T a) override {
    rows_.formula.scale(a);
    rows_.identity *= a;
    rows_.shift *= a;
  }
  void shift(T a) override { rows_.shift += a; }
  bool axpy(T a, const FormulaStencil &other) override {
    const auto *x = dynamic_cast<const FormulaOperator *>(&other);
    if (!x || x->transposed_ != transposed_) return false;
    rows_.formula.axpy(a, x->rows_.formula);
    rows_.identity += a * x->rows_.identity;
    rows_.shift += a * x->rows_.shift;
    return true;
  }
  void transpose() override { transposed_ = !transposed_; }
  T    row_of_constant() const override {
    Star<T, dim> ones;
    ones.center = 1;
    for (int a = 0; a < dim; a++) ones.arm[a][LOWER] = ones.arm[a][UPPER] = 1;
    return rows_.formula(ones) + rows_.shift;
  }

private:
  RowsType rows_; // without a diagonal
  bool     transposed_ = false;
};

// The operator of a formula on a patch of a grid of 1 to 3 dimensions.
template <template <class> class Formula>
std::unique_ptr<FormulaStencil> make_operator(int dim, const Patch &patch, const Formula<PetscScalar> &formula) {
  if (dim == 1) return std::make_unique<FormulaOperator<Formula, 1>>(patch, formula);
  if (dim == 2) return std::make_unique<FormulaOperator<Formula, 2>>(patch, formula);
  return std::make_unique<FormulaOperator<Formula, 3>>(patch, formula);
}

} // namespace shellac
