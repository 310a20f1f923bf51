#pragma once
// A sum over axes with constant coefficients that is near any operator: for preconditioners.

#include <string>

#include "multigrid/axis.hpp"
#include "stencil/mat.hpp"

namespace shellac {

// Collective. Acts on smooth functions as the rows do on average; the ends are those that the rows there are nearest to.
PetscErrorCode MatStencilGetMeanAxes(StencilMat *context, Axis axes[3], PetscScalar *sigma, std::string *why);

} // namespace shellac
