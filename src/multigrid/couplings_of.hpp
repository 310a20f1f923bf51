#pragma once
// Reads an operator as couplings of neighbouring points, from its rows.

#include <string>

#include "multigrid/couplings.hpp"
#include "stencil/mat.hpp"

namespace shellac {

// Collective. The rows of an operator on the rank's points and those next to them, with a grid of axes beside them that tells how far
// apart points are on average, and which ends are fixed nodes. fixed: 1/diagonal at identity rows, which couple
// nothing, and zero elsewhere [points], where any rank has such: has_fixed. singular: constants are the null space. symmetric:
// without weights of the rows, and no row takes a fixed point's value.
struct OperatorRows {
  Couplings                couplings;
  Axis                     axes[3];
  std::vector<PetscScalar> fixed;
  bool                     has_fixed = false, singular = false, symmetric = false;
};
// most_range: of the rows' weights, which make the operator symmetric, to the first one's.
// *why: what the operator is not, and what to use for it; empty otherwise. *not_finite: that is the reason.
PetscErrorCode MatStencilGetCouplings(StencilMat *context, PetscReal most_range, OperatorRows *rows, std::string *why,
                                      bool *not_finite);

} // namespace shellac
