#pragma once
// Reads an operator as a sum over its axes, from its rows.

#include <string>

#include "multigrid/axis.hpp"
#include "stencil/mat.hpp"

namespace shellac {

// Collective. *why: what the operator is not, where it is no such sum; empty otherwise.
PetscErrorCode MatStencilGetAxes(StencilMat *context, StencilOperator *of, Axis axes[3], PetscScalar *sigma,
                                 std::string *why);

} // namespace shellac
