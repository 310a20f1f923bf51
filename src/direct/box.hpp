#pragma once
// Reads an operator with equal rows that is diagonal in sine, cosine or Fourier modes, though it is no sum over the axes:
// boxes of 9 and 27 points whose entries are the same on both sides of each axis.

#include <string>

#include "direct/axis_modes.hpp"
#include "multigrid/setup/read_axes.hpp"

namespace shellac {

// With L_a an axis' operator, whose edges are 1 inside: the sum over all sets S of axes of terms[S] times the product of
// their L_a. Bit a of S is the axis a.
struct ProductsOfAxes {
  Axis        axes[3];
  PetscScalar terms[8] = {};
  bool        halved = false; // rows are half of that in each last point about which the function continues evenly
};

inline ProductsOfAxes sum_as_products(const Axis axes[3], PetscScalar sigma) {
  return {{axes[0], axes[1], axes[2]}, {sigma, 1, 1, 0, 1, 0, 0, 0}, false};
}

// Collective. *is_box: rows couple points that differ along several axes. *why: what the operator has that prevents it;
// empty otherwise.
PetscErrorCode MatStencilGetProducts(Mat P, StencilMat *context, AxesMemory *room, ProductsOfAxes *found, bool *is_box,
                                     std::string *why);

} // namespace shellac
