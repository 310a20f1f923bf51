#pragma once
// −∇·(k∇u) + w·∇u + σu, and the Mats of it with and without w·∇u.

#include "formulas/diffusion_terms.hpp"
#include "formulas/field.hpp"
#include "formulas/mat.hpp"

namespace shellac {

// k: a constant, a field at the points, or one field for each axis, whose value at a point is that on the face between this
// point and the previous one.
struct Coefficient {
  PetscScalar constant = 1;
  HeldField   field[3]; // of the axes; at points the first alone; null: constant
  bool        on_faces = false, conjugated = false;
  bool        is_normal = false; // a field, on this rank: products may divide by sums of its values

  bool is_field() const { return field[0] != nullptr; }
};

struct Velocity {
  PetscReal                       constant[3] = {0, 0, 0};
  PetscInt                        given = 0; // how many components of the constant; 0: none
  HeldField                       field;     // null: constant
  MatAdvectionDiffusionSchemeType scheme = MAT_ADVECTION_DIFFUSION_CENTRAL;
};

// Properties of a field that has been read.
struct ReadValues {
  const LoadedField     *field;
  SHELLAC_HD PetscScalar at(const Ends *, const PetscInt i[3], PetscInt component = 0) const {
    return field->at(i, component);
  }
};

// Second-order central differences of fluxes through the faces between points (Patankar 1980, chapter 4). A face has the
// mean of k at its two points. The face beyond the last point has an extrapolated k; it is on the boundary for neumann and
// robin sides, and half a spacing inside it for eliminated sides.
struct Diffusion : Formula {
  DiffusionTerms<ReadValues> terms;
  HeldField                  k[3], w, mask; // the fields of the terms

  Shape shape() const override { return {1, false}; }
  bool  constant() const override { return !terms.is_field && !terms.w_is_field && !terms.masked; }
  bool  symmetric() const override { return !terms.flows; }
  void  row(const Point &p, Row &u) const override;
  void  set_mask(const FormulaSettings &settings);
};

struct DiffusionSettings {
  PetscScalar          sigma = 0;
  Coefficient          k; // not read before MatSetUp()
  MatDiffusionMeanType mean = MAT_DIFFUSION_HARMONIC;
  Velocity             w;
};

struct DiffusionMat final : FormulaMat, DiffusionSettings {
  explicit DiffusionMat(bool flows) : flows(flows) {}

  const bool flows; // with w·∇u: the type advection_diffusion

  std::unique_ptr<Formula> make_formula() const override;
  PetscErrorCode Prepare(StencilOperator *op, Arrays *arrays, std::unique_ptr<PreparedOperator> *prepared) override;
  PetscScalar    of_constant() const override { return sigma; }
  PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) override;
  PetscErrorCode view_equation(PetscViewer viewer) const override;
  PetscErrorCode load_fields() override;
  PetscErrorCode read_fields() override;
  PetscErrorCode fill_beside_fields(CapturedStencil *to, PetscReal *relative_sum, bool *done) override;
  PetscErrorCode destroy() override;
  void           take_settings(const CapturedMat &from) override;
  void           conjugate_settings() override;
  std::vector<HeldField *> fields() override { return {&k.field[0], &k.field[1], &k.field[2], &w.field, &mask}; }

private:
  template <class Values> void set_terms(DiffusionTerms<Values> *terms) const; // but the values of fields
  bool                         must_be_positive() const { return mean == MAT_DIFFUSION_HARMONIC && !k.on_faces; }
  PetscErrorCode               destroy_more_halos();

  Halo more_halos[3]; // of all fields but the first that rows read beside their points; they stay for the next change
  int  more_halos_made = 0;
};

PetscErrorCode MatDiffusionCompose(Mat A); // the setters
// The options of w, and what the view says of it.
PetscErrorCode MatAdvectionDiffusionSetFromOptions(Mat A, const Velocity &w, OptionItems PetscOptionsObject);
PetscErrorCode MatAdvectionDiffusionView(const Velocity &w, int dim, PetscViewer viewer);

} // namespace shellac
