#ifndef SHELLAC_STENCIL_HPP
#define SHELLAC_STENCIL_HPP

/*
  An operator of your own on the grid of a DMDA, as a Mat type: in C++17, by any compiler.

  A formula is a class with two functions: its shape, and its row at a point. MatRegisterFormula() registers it as a Mat
  type with everything that laplace has: products on the CPU and on CUDA vectors, sweeps, boundary forms, views, options,
  solvers.
  src/formulas/README.md has a complete program.
*/

#include <shellac/formula.h>

namespace shellac {

class Formula;
class GridField;

// The neighbours that a row may couple a point to.
struct Shape {
  PetscInt width = 1;   // longest step along an axis [points]
  bool     box = false; // with steps along several axes at once; else a star
};

// Where a row is. In lower dimensions, axes beyond the dimension have one point.
class Point {
public:
  int       dim = 0;          // dimension of the grid
  PetscInt  i[3] = {0, 0, 0}; // indices on the whole grid
  PetscInt  N[3] = {1, 1, 1}; // points of the whole grid along each axis
  PetscReal x[3] = {0, 0, 0}; // coordinates [length]: the DMDA's or, with side lengths, from 0 on
  PetscReal h[3] = {1, 1, 1}; // spacing along each axis [length]
  PetscReal time = 0;         // set by MatFormulaSetTime()

private:
  friend class GridField;
  friend class DomainRows;
  friend struct FormulaMat;
  PetscReal                origin_[3] = {0, 0, 0}; // coordinates of the first point of the grid
  PetscInt                 first_[3] = {0, 0, 0};  // indices of the first point that fields have on this rank
  PetscInt                 size_[3] = {1, 1, 1};   // points that they have
  PetscInt                 reach_ = -1;            // how far from a point they may be read; -1: not at all
  PetscInt64               at_ = 0;                // the point's place in them
  mutable const GridField *outside_ = nullptr;     // the field that was read farther away, and where
  mutable PetscInt         outside_step_[3] = {0, 0, 0};
};

/*
  The row of a point: u(dx, dy, dz) += a adds a u(x + dx h, ...) to it. The row is written as if the grid had no ends:
  the boundary forms of the matrix replace neighbours beyond an end.
*/
class Row {
public:
  PetscScalar &operator()(PetscInt dx, PetscInt dy = 0, PetscInt dz = 0) { return entry(0, 0, dx, dy, dz); }
  // Several unknowns at a point: of the equation r, the coefficient of the unknown c.
  PetscScalar &entry(PetscInt r, PetscInt c, PetscInt dx, PetscInt dy = 0, PetscInt dz = 0) {
    const PetscInt x = reach_[0], y = reach_[1], z = reach_[2];
    if (r >= 0 && r < dof_ && c >= 0 && c < dof_ && dx >= -x && dx <= x && dy >= -y && dy <= y && dz >= -z && dz <= z) {
      const int step = step_at_[dx + x + (2 * x + 1) * (dy + y + (2 * y + 1) * (dz + z))];
      if (step >= 0) return values_[((PetscInt)step * dof_ + r) * dof_ + c];
    }
    if (!is_outside_) outside_[0] = dx, outside_[1] = dy, outside_[2] = dz, outside_[3] = r, outside_[4] = c;
    is_outside_ = true;
    return nowhere_;
  }

private:
  friend class StencilRow;
  PetscInt     reach_[3] = {0, 0, 0}; // longest step along each axis
  PetscInt     dof_ = 1;
  const int   *step_at_ = nullptr; // [2 reach + 1] of each axis: the number of a step; -1 outside the shape
  PetscScalar *values_ = nullptr;  // [steps][dof][dof]
  PetscScalar  nowhere_ = 0;
  bool         is_outside_ = false; // an entry outside the shape was asked for: the step, equation and unknown
  PetscInt     outside_[5] = {0, 0, 0, 0, 0};
};

// A number that an option or MatFormulaSetParameter() sets; a member of a formula. alpha() is its value.
class Parameter {
public:
  // name, meaning: literals
  Parameter(Formula *formula, const char *name, const char *meaning, PetscScalar value);
  Parameter(const Parameter &) = delete;
  PetscScalar operator()() const { return value_; }
  PetscReal   real() const { return PetscRealPart(value_); }

private:
  friend struct OwnFormulaMat;
  const char *name_, *meaning_;
  PetscScalar value_;
  Parameter  *next_ = nullptr;
};

// Values on the grid, which MatFormulaSetField() sets; a member of a formula. k(p) is the value at the row's point,
// k(p, dx, dy, dz) at a neighbour within the shape's width. Beyond the end of an axis the field has its value at the end;
// beyond a mirrored one, the mirrored value.
class GridField {
public:
  GridField(Formula *formula, const char *name, const char *meaning = "");
  GridField(const GridField &) = delete;
  PetscScalar operator()(const Point &p, PetscInt dx = 0, PetscInt dy = 0, PetscInt dz = 0) const {
    return component(p, 0, dx, dy, dz);
  }
  // Of a Vec with several values at a point, the c-th.
  PetscScalar component(const Point &p, PetscInt c, PetscInt dx = 0, PetscInt dy = 0, PetscInt dz = 0) const {
    const PetscInt w = p.reach_;
    if (c < 0 || c >= components_ || dx < -w || dx > w || dy < -w || dy > w || dz < -w || dz > w ||
        (p.dim < 2 && dy != 0) || (p.dim < 3 && dz != 0)) {
      if (!p.outside_) p.outside_step_[0] = dx, p.outside_step_[1] = dy, p.outside_step_[2] = dz;
      p.outside_ = this;
      return 1;
    }
    return values_[(p.at_ + dx + (PetscInt64)p.size_[0] * (dy + (PetscInt64)p.size_[1] * dz)) * components_ + c];
  }

private:
  friend struct OwnFormulaMat;
  friend class DomainRows;
  const char        *name_, *meaning_;
  const PetscScalar *values_ = nullptr;
  PetscInt           components_ = 0; // values at a point
  GridField         *next_ = nullptr;
};

// A formula: the entries of a row. It depends only on the point, its parameters and its fields. Each Mat, and each
// duplicate, has an object of its own, which may be created again at any time.
class Formula {
public:
  Formula() = default;
  Formula(const Formula &) = delete;
  Formula &operator=(const Formula &) = delete;
  virtual ~Formula() = default;

  virtual Shape shape() const = 0;
  // Adds the entries of the row of the point p (with several unknowns: of its rows) to u, which is zero.
  virtual void row(const Point &p, Row &u) const = 0;

  // The DMDA's dof: unknowns at a point.
  virtual PetscInt dof() const { return 1; }
  // Whether all rows are equal: no field, coordinate or index is read. Rows are then computed once for each distance to
  // the ends, not for each point. MatSetUp() compares the rows of some points: an error where they differ.
  virtual bool constant() const { return false; }
  // Whether the entry of p in the row of q equals that of q in the row of p, also for points beyond an end. The matrix is
  // then symmetric if its boundary forms are. MatSetUp() compares entries of some points: an error where they differ.
  virtual bool symmetric() const { return false; }

private:
  friend class Parameter;
  friend class GridField;
  friend struct OwnFormulaMat;
  Parameter *parameters_ = nullptr;
  GridField *fields_ = nullptr;
};

inline Parameter::Parameter(Formula *formula, const char *name, const char *meaning, PetscScalar value)
    : name_(name), meaning_(meaning), value_(value) {
  Parameter **last = &formula->parameters_;
  while (*last) last = &(*last)->next_;
  *last = this;
}

inline GridField::GridField(Formula *formula, const char *name, const char *meaning) : name_(name), meaning_(meaning) {
  GridField **last = &formula->fields_;
  while (*last) last = &(*last)->next_;
  *last = this;
}

} // namespace shellac

/*@C
   ShellacRegisterFormula - registers a formula as a Mat type; called by `MatRegisterFormula()`

   Not Collective

   Input Parameters:
+  type       - the name
.  make       - makes an object of the class
.  create     - sets this type on a Mat without a type
-  registered - the name that the class already has, or an empty string; overwritten

   Level: developer

   Errors:
   As `MatRegisterFormula()`.

.seealso: `MatRegisterFormula()`
@*/
PETSC_EXTERN PetscErrorCode ShellacRegisterFormula(const char type[], shellac::Formula *(*make)(),
                                                   PetscErrorCode (*create)(Mat), char registered[]);

/*@C
   ShellacCreateFormula - sets the type of a registered formula on a Mat without a type; called by `MatSetType()`

   Collective

   Input Parameters:
+  A    - the Mat
.  type - the name
-  make - makes an object of the class

   Level: developer

   Errors:
   None of its own.

.seealso: `MatRegisterFormula()`
@*/
PETSC_EXTERN PetscErrorCode ShellacCreateFormula(Mat A, const char type[], shellac::Formula *(*make)());

namespace shellac {

// The functions of a class for MatRegister().
template <class Own> struct RegisteredFormula {
  static char *type() {
    static char name[64] = "";
    return name;
  }
  static Formula       *make() { return new Own; }
  static PetscErrorCode create(Mat A) { return ShellacCreateFormula(A, type(), make); }
};

/*@C
   MatRegisterFormula - registers a formula as a Mat type: MatRegisterFormula<Biharmonic>("biharmonic")

   Not Collective

   Input Parameter:
.  type - the name, of letters, digits and underscores; -dm_mat_type, `DMSetMatType()`, `MatSetType()` and
          `MatCreateFormula()` take it

   Options Database Keys:
+  -mat_<type>_<parameter> <any scalar> - each of the formula's parameters
-  -mat_<type>_boundary, -mat_<type>_robin, -mat_<type>_lengths, -mat_<type>_halo - as for `MATLAPLACE`

   Level: intermediate

   Notes:
   Call it after `PetscInitialize()`. The class needs a constructor without arguments. Two types need two classes. The
   functions MatLaplaceSet...() set the boundary of these types, too, and `MatLaplaceAddBoundary()` adds its data.

   Errors:
   `PETSC_ERR_ARG_WRONG` for the name of another type, for a class that is registered under another name, or for a
   parameter with the name of another option.

.seealso: `MatFormulaSetParameter()`, `MatFormulaSetField()`, `MatFormulaSetTime()`, `MatCreateFormula()`
@*/
template <class Own> PetscErrorCode MatRegisterFormula(const char type[]);

template <class Own> PetscErrorCode MatRegisterFormula(const char type[]) {
  using Registered = RegisteredFormula<Own>;
  return ShellacRegisterFormula(type, Registered::make, Registered::create, Registered::type());
}

} // namespace shellac

#endif
