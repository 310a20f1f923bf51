#pragma once
// A sum over axes with constant coefficients that is near any operator: for preconditioners.

#include <string>

#include "multigrid/axis.hpp"
#include "stencil/mat.hpp"

namespace shellac {

// Collective. Acts on smooth functions as the rows do on average; the ends are those that the rows there are nearest to.
// *regular: a shift for sums that are singular, where the matrix need not be.
PetscErrorCode MatStencilGetMeanAxes(StencilMat *context, Axis axes[3], PetscScalar *sigma, PetscReal *regular,
                                     std::string *why);

} // namespace shellac
