#pragma once
// An operator on a patch of a grid: everything a matrix does with it, on raw arrays; no PETSc objects.

#include <memory>

#include "stencil/apply.hpp"

namespace shellac {

// The entries of one row at the star's points: p itself, then its neighbours. Neighbours beyond the domain are left
// out.
struct Entries {
  int         count = 0;
  PetscInt    point[7][3]; // indices on the patch; a periodic axis' may be one step off the grid
  PetscScalar value[7] = {};

  void add(const PetscInt p[3], int axis, Side end, PetscScalar v) {
    for (int a = 0; a < 3; a++) point[count][a] = p[a] + (a == axis ? (end == LOWER ? -1 : 1) : 0);
    value[count++] = v;
  }
};

enum class RowProperty { diagonal, sum_abs, max_abs };

class StencilOperator {
public:
  virtual ~StencilOperator() = default;
  virtual std::unique_ptr<StencilOperator> clone() const = 0;
  virtual const Patch                     &patch() const = 0;
  virtual PetscLogDouble                   flops() const = 0; // of one row

  // The vector space of operators on one grid. The other operator must have the same formula.
  virtual void scale(PetscScalar a) = 0;
  virtual void shift(PetscScalar a) = 0;
  virtual void axpy(PetscScalar a, const StencilOperator &x) = 0;
  virtual void conjugate() = 0;

  // All arrays are in `memory`, and on a device the work is queued on PETSc's stream. diagonal [points of the patch] is
  // added to the operator's; null for none.
  virtual PetscErrorCode interior(PetscMemType memory, const Field<PetscScalar> &u, const PetscScalar *diagonal,
                                  Form form, const PetscScalar *b, PetscScalar *y) const = 0;
  virtual PetscErrorCode points(PetscMemType memory, const Boxes &boxes, const Field<PetscScalar> &u,
                                const PetscScalar *diagonal, bool transposed, Form form, const PetscScalar *b,
                                PetscScalar *y) const = 0;
  virtual PetscErrorCode rows(PetscMemType memory, const PetscScalar *diagonal, RowProperty property,
                              PetscScalar *out) const = 0;
  // x += omega (b - (A + shift) x)/diag on the points of one colour: 0 where the sum of the indices is even
  virtual PetscErrorCode relax(PetscMemType memory, int colour, const Field<PetscScalar> &field,
                               const PetscScalar *diagonal, PetscReal omega, PetscScalar shift, const PetscScalar *b,
                               PetscScalar *x) const = 0;

  // What a row far from the ends of the domain makes of the constant function 1; exact where the formula cancels.
  virtual PetscScalar row_of_constant() const = 0;

  // Entries of a row at p, or of the transpose's; p may be any point of the whole grid.
  virtual Entries entries(const PetscInt p[3], bool transposed) const = 0;
};

namespace point { // what one point computes, for for_each()

template <class Rows, int dim, class T> struct Property {
  Rows        rows;
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
        const PetscReal arm = PetscAbsScalar(rows.template entry<dim>(p, a, (Side)e));
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

template <class Rows, int dim, class T> struct Relax {
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
    const T      Ax = rows.template row<dim>(star, p) + shift * star.center;
    x[at] = star.center + omega * (b[at] - Ax) / (rows.template entry<dim>(p) + shift);
  }
};

} // namespace point

template <template <class> class Formula, int dim> class FormulaOperator final : public StencilOperator {
public:
  using T = PetscScalar;
  using RowsType = Rows<T, Formula>;

  FormulaOperator(const Patch &patch, const Formula<T> &formula) : rows_{patch, formula, T(1), T(0), nullptr} {}

  std::unique_ptr<StencilOperator> clone() const override { return std::make_unique<FormulaOperator>(*this); }
  const Patch                     &patch() const override { return rows_.patch; }
  PetscLogDouble                   flops() const override { return Formula<T>::flops(dim) + 2; }

  void scale(T a) override {
    rows_.formula.scale(a);
    rows_.identity *= a;
    rows_.shift *= a;
  }
  void shift(T a) override { rows_.shift += a; }
  void axpy(T a, const StencilOperator &other) override {
    const RowsType &x = static_cast<const FormulaOperator &>(other).rows_;
    rows_.formula.axpy(a, x.formula);
    rows_.identity += a * x.identity;
    rows_.shift += a * x.shift;
  }
  void conjugate() override {
    rows_.formula.conjugate();
    rows_.identity = PetscConj(rows_.identity);
    rows_.shift = PetscConj(rows_.shift);
  }

  PetscErrorCode interior(PetscMemType memory, const Field<T> &u, const T *diagonal, Form form, const T *b,
                          T *y) const override {
    return apply_interior<dim>(memory, with(diagonal), u, form, b, y);
  }
  PetscErrorCode points(PetscMemType memory, const Boxes &boxes, const Field<T> &u, const T *diagonal, bool transposed,
                        Form form, const T *b, T *y) const override {
    return for_each(memory, boxes, ApplyPoint<T, dim, Formula>{with(diagonal), u, transposed, form, b, y});
  }
  PetscErrorCode rows(PetscMemType memory, const T *diagonal, RowProperty property, T *out) const override {
    Boxes all;
    all.add(patch().all());
    return for_each(memory, all, point::Property<RowsType, dim, T>{with(diagonal), property, out});
  }
  PetscErrorCode relax(PetscMemType memory, int colour, const Field<T> &field, const T *diagonal, PetscReal omega,
                       T shift, const T *b, T *x) const override {
    Boxes halves;
    Box   half = patch().all();
    half.hi[0] = (half.hi[0] + 1) / 2;
    halves.add(half);
    return for_each(memory, halves, point::Relax<RowsType, dim, T>{with(diagonal), field, colour, omega, shift, b, x});
  }
  T row_of_constant() const override {
    Star<T, dim> ones;
    ones.center = 1;
    for (int a = 0; a < dim; a++) ones.arm[a][LOWER] = ones.arm[a][UPPER] = 1;
    return rows_.formula(ones) + rows_.shift;
  }
  Entries entries(const PetscInt p[3], bool transposed) const override {
    Entries entries;
    entries.add(p, -1, LOWER, rows_.template entry<dim>(p));
    if (!transposed && patch().template is_identity_row<dim>(p)) return entries;
    for (int a = 0; a < dim; a++) {
      for (int e = 0; e < 2; e++) {
        if (patch().leaves_domain(p, a, (Side)e)) continue;
        const T value =
            transposed ? rows_.template transposed_entry<dim>(p, a, (Side)e) : rows_.template entry<dim>(p, a, (Side)e);
        entries.add(p, a, (Side)e, value);
      }
    }
    return entries;
  }

private:
  RowsType with(const T *diagonal) const {
    RowsType rows = rows_;
    rows.diagonal = diagonal;
    return rows;
  }
  RowsType rows_;
};

// The operator of a formula on a patch of a grid of 1 to 3 dimensions.
template <template <class> class Formula>
std::unique_ptr<StencilOperator> make_operator(int dim, const Patch &patch, const Formula<PetscScalar> &formula) {
  if (dim == 1) return std::make_unique<FormulaOperator<Formula, 1>>(patch, formula);
  if (dim == 2) return std::make_unique<FormulaOperator<Formula, 2>>(patch, formula);
  return std::make_unique<FormulaOperator<Formula, 3>>(patch, formula);
}

} // namespace shellac
