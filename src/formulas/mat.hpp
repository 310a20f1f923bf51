#pragma once
// The shell Mat whose coefficients are those of a formula on a domain: boundary forms, side lengths, null spaces. It is
// a captured Mat that fills itself at MatSetUp(), and only compares what a program assembles into it.
// A new type is a formula like laplace.hpp, a FormulaMat like the one in laplace.cpp and a line in register.cpp.

#include <functional>

#include "capture/mat.hpp"
#include "formulas/field.hpp"
#include "formulas/formula.hpp"
#include "options/expression.hpp"

namespace shellac {

struct FormulaSettings {
  PetscInt               forms_given = 1; // 1: for all sides; else one for each side: x lower, x upper, y lower ...
  MatLaplaceBoundaryType forms[6] = {MAT_LAPLACE_ELIMINATED};
  PetscInt               robin_given = 0;        // likewise; 0: none
  PetscReal              robin[6] = {0};         // α of ∂u/∂n + αu = g [1/length]
  PetscReal              lengths[3] = {1, 1, 1}; // of the domain [length]
  PetscInt               lengths_given = 0;      // how many of them were set; 0: from the coordinates, or 1
  PetscReal              time = 0;
  bool                   rows_conjugated = false; // see conjugate_settings()
  // Of types with obstacles: not zero at solid points, or null: there are none; by a formula of coordinates, or none.
  HeldField            mask;
  NumberFunction       mask_formula;
  MatDiffusionWallType wall = MAT_DIFFUSION_WALL_NOFLUX;
};

struct FormulaMat : CapturedMat, FormulaSettings {
  // What a type adds: its formula, of the present settings, spacings and fields; its own options and its equation.
  virtual std::unique_ptr<Formula> make_formula() const = 0;
  virtual PetscErrorCode           set_from_options(Mat A, OptionItems PetscOptionsObject) = 0;
  virtual PetscErrorCode           view_equation(PetscViewer viewer) const = 0;
  virtual PetscScalar              of_constant() const = 0; // the formula's row times the function 1
  // For formulas that depend on more than settings; here, on the mask.
  virtual PetscErrorCode           load_fields();               // that make_formula() takes; collective
  virtual std::vector<HeldField *> fields() { return {&mask}; } // what that replaces; one that is not set is null
  virtual PetscErrorCode           read_fields();               // brings what it has left out; collective
  // Sets a new operator's coefficients, and what fill() does beside, where the fields are: *done. Collective.
  virtual PetscErrorCode fill_beside_fields(CapturedStencil *, PetscReal *, bool *done) {
    return *done = false, PETSC_SUCCESS;
  }
  // Whether a row is the identity's without being at an end. data, if not null: of another one, what it has for the data of
  // walls [axis][end]; may be left as it is.
  bool                   is_fixed(const PetscInt i[3], PetscScalar (*data)[2]) const;
  virtual bool           has_known_sums() const { return !mask; } // all rows times the function 1 are of_constant()
  virtual PetscErrorCode check_complete() const { return PETSC_SUCCESS; } // an error where something is not set yet
  virtual bool           is_complete() const { return true; }
  virtual bool           is_of_program() const { return false; } // its promises are checked
  // of the right-hand side that MatLaplaceSetRightHandSide() makes
  virtual std::vector<SourceWeight> source_weights() const { return std::vector<SourceWeight>(1); }
  // The settings become those of the conjugate operator. Where they cannot say it, its rows are the formula's conjugates.
  virtual void conjugate_settings() { rows_conjugated = !rows_conjugated; }

  PetscErrorCode set_up(Mat A) override;
  PetscErrorCode Prepare(StencilOperator *op, Arrays *arrays, std::unique_ptr<PreparedOperator> *prepared) override;
  PetscErrorCode destroy() override;
  PetscErrorCode check_readable() const override;
  PetscErrorCode check_can_add(Mat A, Mat X) const override;
  PetscErrorCode count_entries(PetscLogDouble *count) override;
  PetscErrorCode check_copy(const CapturedMat &from) const override;
  PetscErrorCode begin_change() override;
  PetscErrorCode changed(Mat A) override;
  PetscErrorCode altered(Mat A, Alteration kind, PetscScalar a, PetscScalar s) override;
  PetscErrorCode added(Mat A, PetscScalar a, const CapturedMat &x) override;
  PetscErrorCode copied(Mat A) override;
  PetscErrorCode transposed(Mat A) override;
  PetscErrorCode conjugated(Mat A) override;
  PetscErrorCode refresh(Mat A, bool collective) override;
  void           take_settings(const CapturedMat &from) override;
  PetscErrorCode take_state(Mat A, const CapturedMat &from) override;
  PetscErrorCode take_pattern(Mat A, const CapturedMat &from) override;
  // Sets a new operator's coefficients: of the formula, with this on the diagonal of identity rows.
  // An error on all ranks where a row is wrong. relative_sum: the largest sum of a row's entries, relative to their sizes.
  PetscErrorCode fill(const Formula &formula, PetscScalar identity, CapturedStencil *coefficients,
                      PetscReal *relative_sum = NULL);
  // Reads the fields and computes the coefficients anew, of the present settings. Before MatSetUp(), does nothing. With an
  // error nothing is changed.
  PetscErrorCode refill(Mat A);
  // The rows of a formula on the domain, as they are before any change of the operator.
  DomainRows rows_of(const Formula &of) const { return DomainRows(of, ends, any_point(), rows_conjugated); }
  // What a row far from the ends makes of the function 1, if that is known: the same for all rows but those at the ends.
  PetscScalar row_of_constant() const { return change.scale * of_constant() + change.shift; }
  bool        knows_constants() const {
           const bool of_filled = has_known_sums() || change.scale == (PetscScalar)0;
           return of_filled && !change.diagonal && !change.rows && !change.other_sums;
  }
  // Where rows may have entries in new places: an assembled copy has no zeros, preconditioners keep what they have made of
  // its nonzero pattern, and ask PETSc before all else whether it is another. Not during a solve.
  PetscErrorCode follow_pattern(Mat A);
  PetscErrorCode announce(Mat A);   // by an assembly without values: solvers learn that the matrix is another
  bool           stale();           // a field has changed since the rows were filled, as this rank sees it
  Point          any_point() const; // of the grid: what the formula's points have in common
  PetscReal      coordinate(int axis, PetscInt i) const {
         return origin[axis] + (PetscReal)ends[axis].within(i) * ends[axis].h;
  }

  // made by MatSetUp()
  std::unique_ptr<Formula> formula;
  Ends                     ends[3];
  PetscReal                origin[3] = {0, 0, 0}; // of the point 0 [length]
  // What the operator is since the last fill, but for transposition: scale times the filled rows, and shift on the diagonal.
  struct Change {
    PetscScalar scale = 1, shift = 0;
    bool        diagonal = false;   // another one, by MatDiagonalSet()
    bool        rows = false;       // altered by MatZeroRows() or MatDiagonalScale()
    bool        others = false;     // added by MatAXPY(); shift has the sums of their rows, but for
    bool        other_sums = false; // those that are not known, or other ones at the ends
    bool        only_scaled() const { return shift == (PetscScalar)0 && !diagonal && !rows && !others; }
    bool        none() const { return scale == (PetscScalar)1 && only_scaled(); }
  } change;
  // When null spaces were attached last: the operator had none, or one that was known, or its transpose's too.
  enum class NullState { none, right_alone, both } null_state = NullState::none;
  MatNullSpace                     null_spaces[2] = {NULL, NULL};  // we attached: the operator's and its transpose's
  bool                             null_spaces_transposed = false; // they were made when the operator was transposed
  bool                             null_spaces_are_theirs = false; // the program has set or taken away one since
  std::unique_ptr<StencilOperator> awaited; // of a duplicate without values, which is zero: what it is once assembled
  std::string                      mistake; // of MatSetValues(), and its code; see note_mistake()
  PetscErrorCode                   mistake_code = PETSC_SUCCESS;
  bool                             announces = false; // in announce()
  bool      zeroed = false;        // MatZeroEntries() came, and neither MatSetValues() nor MatAssemblyEnd() since
  bool      is_transposed = false; // by MatTranspose()
  PetscReal relative_sum = 0;      // of the rows; see fill()

private:
  PetscErrorCode take_coefficients(Mat A); // after a fill: what is known of the whole operator
  PetscErrorCode replace_rows(Mat A);      // by those of the present settings and fields
};

// Of values that are given for all sides, n = 1, or one for each: that of a side, x lower, x upper, y lower ...
template <class T> const T &of_side(PetscInt n, const T values[], PetscInt side) {
  return values[n > 1 ? PetscMin(side, n - 1) : 0];
}

// Changes a setting, before or after MatSetUp(). After MatSetUp() the rows are filled anew; in case of an error, the setting
// is changed back.
template <class Setting>
PetscErrorCode MatFormulaChangeSetting(Mat A, FormulaMat *context, Setting *setting, const Setting &value) {
  const Setting before = *setting;

  PetscFunctionBegin;
  *setting = value;
  const PetscErrorCode error = context->refill(A);
  if (error) *setting = before;
  PetscCall(error);
  if (context->op && context->is_complete()) PetscCall(context->announce(A));
  PetscCall(context->follow_pattern(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A Mat of the type on the DMDA's grid, with what set() sets and its options, set up.
PetscErrorCode MatCreateOfType(DM da, MatType type, const std::function<PetscErrorCode(Mat)> &set, Mat *A);
// Makes a Mat without a type a shell of type `type` over the context, which it owns from then on, also in case of
// error.
PetscErrorCode MatCreateFormulaShell(Mat A, MatType type, FormulaMat *context);
PetscErrorCode MatIsFormula(Mat A, bool *is);
// Gives a duplicate without values the values that it waits for.
PetscErrorCode MatFormulaTakeAwaited(FormulaMat *context);
// An error after MatZeroEntries() without a later assembly: the operator is not zero.
PetscErrorCode MatFormulaCheckZeroed(const FormulaMat &context, bool zeroed);
// nullspace.cpp: attaches the constants if they are a null space, and removes them if they no longer are.
PetscErrorCode MatFormulaAttachNullSpace(Mat A, FormulaMat *context);
// settings.cpp: those of all formulas; the options' names begin with -mat_<type>_
PetscErrorCode MatFormulaSetSettingOperations(Mat A);
// obstacles.cpp: the setters of solid points and of their walls, for types whose formula with a mask is Diffusion; the mask
// of a formula
PetscErrorCode MatObstaclesCompose(Mat A);
PetscErrorCode MatObstaclesSetFormula(Mat A, const char option[], const char text[]);
PetscErrorCode MatObstaclesMakeMask(Mat A, const FormulaMat &context, HeldField *mask);
PetscErrorCode MatObstaclesView(const FormulaMat &context, PetscViewer viewer);
// view.cpp, assembly.cpp
PetscErrorCode MatFormulaView(Mat A, PetscViewer viewer);
PetscErrorCode MatFormulaSetAssemblyOperations(Mat A);

} // namespace shellac
