#pragma once
// −∇·(k∇u) + σu, and the Mat of it and of operators with more terms.

#include "formulas/field.hpp"
#include "formulas/mat.hpp"

namespace shellac {

// Second-order central differences of fluxes through the faces between points (Patankar 1980, chapter 4). A face has the
// mean of the k at the two points beside it. The face beyond the last point, which is on the boundary of neumann and robin
// sides and half a spacing within that of eliminated ones, has an extrapolated k.
struct Diffusion : Formula {
  int                  dim = 1;
  Ends                 ends[3];
  PetscScalar          sigma = 0; // [1/length² of k]
  PetscScalar          constant_k = 1;
  HeldField            k; // null: constant_k
  bool                 k_conjugated = false;
  MatDiffusionMeanType mean_type = MAT_DIFFUSION_HARMONIC;

  Shape shape() const override { return {1, false}; }
  bool  constant() const override { return !k; }
  bool  symmetric() const override { return true; }
  void  row(const Point &p, Row &u) const override;
  bool  coupled(int axis) const { return axis < dim && ends[axis].couples(); }

private:
  PetscScalar mean(PetscScalar a, PetscScalar b) const;
  PetscScalar face(const PetscInt i[3], int axis, int step) const;
};

struct DiffusionMat : FormulaMat {
  // settings
  PetscScalar          sigma = 0, constant_k = 1;
  HeldField            k;                    // null: constant_k. Not read before MatSetUp()
  bool                 k_conjugated = false; // by MatConjugate()
  MatDiffusionMeanType mean = MAT_DIFFUSION_HARMONIC;

  std::unique_ptr<Formula> make_formula() const override;
  PetscScalar              of_constant() const override { return sigma; }
  PetscErrorCode           set_from_options(Mat A, OptionItems PetscOptionsObject) override;
  PetscErrorCode           view_equation(PetscViewer viewer) const override;
  PetscErrorCode           load_fields() override;
  void                     take_settings(const CapturedMat &from) override;
  void                     conjugate_settings() override;
  std::vector<HeldField *> fields() override { return {&k}; }
  virtual const Option    &option(const char *name) const; // its own

protected:
  void           set_formula(Diffusion *formula) const;
  PetscErrorCode view_terms(PetscViewer viewer, bool velocity) const;
};

PetscErrorCode MatDiffusionCompose(Mat A); // the setters

} // namespace shellac
