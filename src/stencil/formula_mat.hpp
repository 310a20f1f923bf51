#pragma once
// The shell Mat over a formula: boundary forms, side lengths, null spaces, MatScale() and its like in the coefficients.
// A new type is a formula like helmholtz.hpp, a FormulaMat like the one in helmholtz.cpp and a line in register.cpp.

#include "stencil/formula.hpp"
#include "stencil/mat.hpp"

namespace shellac {

struct FormulaMat : StencilMat {
  // What a type adds: its operator on a grid with these 1/h², its own options, its equation, and the settings that a
  // duplicate takes over.
  virtual std::unique_ptr<FormulaStencil> make(int dim, const Patch &patch, const PetscReal inv_h2[3]) const = 0;
  virtual PetscErrorCode                  set_from_options(Mat A, OptionItems PetscOptionsObject) = 0;
  virtual PetscErrorCode                  view_equation(PetscViewer viewer) const = 0;
  virtual void                            take_settings(const FormulaMat &from) {
                               boundary = from.boundary;
                               lengths_given = from.lengths_given;
                               halo_way = from.halo_way;
                               for (int a = 0; a < 3; a++) lengths[a] = from.lengths[a];
  }

  PetscErrorCode  set_up(Mat A) override;
  PetscErrorCode  make_transpose(std::unique_ptr<StencilOperator> *transpose) override;
  PetscErrorCode  Prepare(StencilOperator *op, Arrays *arrays, std::unique_ptr<PreparedOperator> *prepared) override;
  PetscErrorCode  destroy() override;
  FormulaStencil &formula() const { return static_cast<FormulaStencil &>(*op); }

  // settings
  MatLaplaceBoundaryType boundary = MAT_LAPLACE_ELIMINATED;
  PetscReal              lengths[3] = {1, 1, 1}; // of the domain [length]
  PetscInt               lengths_given = 0;      // how many of them were set; 0: from the coordinates, or 1

  // made by MatSetUp()
  PetscReal    h[3] = {0, 0, 0};             // spacing [length]
  PetscScalar  scale = 1;                    // all MatScale()s
  Vec          diagonal = NULL;              // what MatDiagonalSet() added to op's; null for nothing
  MatNullSpace nullspace = NULL;             // the one we attached, borrowed; null for none
  bool         nullspace_transposed = false; // it is that of the transposed operator
  bool         zeroed = false;               // MatZeroEntries() came, and neither MatSetValues() nor MatAssemblyEnd() since
  bool         transposed = false;           // by MatTranspose()
};

// Makes a Mat without a type a shell of type `type` over the context, which it owns from then on, also in case of
// error.
PetscErrorCode MatCreateFormulaShell(Mat A, MatType type, FormulaMat *context);
PetscErrorCode MatGetFormula(Mat A, FormulaMat **context);      // set up or not
PetscErrorCode MatGetReadyFormula(Mat A, FormulaMat **context); // sets it up
// An error where MatZeroEntries() came and no assembly since: the operator is not zero.
PetscErrorCode MatFormulaCheckZeroed(const FormulaMat &context, bool zeroed);
PetscErrorCode MatFormulaChanged(Mat A);                        // to be called after each change of the operator
// formula_view.cpp, formula_assembly.cpp, formula_algebra.cpp
PetscErrorCode MatFormulaNorm(Mat A, NormType type, PetscReal *norm);
PetscErrorCode MatFormulaGetInfo(Mat A, MatInfoType type, MatInfo *info);
PetscErrorCode MatFormulaView(Mat A, PetscViewer viewer);
PetscErrorCode MatFormulaSetAssemblyOperations(Mat A);
PetscErrorCode MatFormulaSetAlgebraOperations(Mat A);

} // namespace shellac
