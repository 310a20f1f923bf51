#pragma once
// −Δu + σu; with σ = 0, the Laplace operator.

#include "formulas/formula.hpp"

namespace shellac {

// The star of 3, 5 or 7 points: second-order central differences (Shortley and Weller 1938; Collatz 1960, table VI).
// The box of 9 or 27 points: with δ² the second difference along an axis,
//   −Σ δ²_a − Σ_{a<b} (h_a² + h_b²)/12 δ²_a δ²_b − (h_x²h_y² + h_y²h_z² + h_z²h_x²)/90 δ²_x δ²_y δ²_z + σM,
//   M = 1 + Σ h_a²/12 δ²_a,
// which is of fourth order with the right-hand side Mf (Collatz 1960, chapter V; Spotz and Carey 1996 in 3-D).
struct Laplace final : Formula {
  int         dim = 1;
  PetscReal   h[3];
  bool        coupled[3]; // along an axis; not where a periodic one has a single point
  PetscScalar sigma = 0;  // [1/length²]
  bool        box = false;
  PetscReal   minus_laplace = 1; // 0: the rest of σ alone

  Shape shape() const override { return {1, box}; }
  void  row(const Point &p, Row &u) const override;
  bool  constant() const override { return true; }
  bool  symmetric() const override { return true; }
  // M of the right-hand side Mf.
  std::vector<SourceWeight> source_weights() const {
    std::vector<SourceWeight> weights(1);
    for (int a = 0; box && a < dim; a++)
      for (PetscInt s = -1; s <= 1 && coupled[a]; s += 2) {
        weights[0].value -= PetscReal(1) / 12;
        weights.push_back({{a == 0 ? s : 0, a == 1 ? s : 0, a == 2 ? s : 0}, PetscReal(1) / 12});
      }
    return weights;
  }
};

} // namespace shellac
