#pragma once
// Reads an operator with equal rows that is diagonal in sine, cosine or Fourier modes, though it is no sum over the axes:
// boxes of 9 and 27 points whose entries are the same on both sides of each axis, or others on wholly periodic grids.

#include <string>

#include "direct/axis_modes.hpp"
#include "multigrid/setup/read_axes.hpp"

namespace shellac {

// With L_a an axis' operator, whose edges are 1 inside: the sum over all sets S of axes of terms[S] times the product of
// their L_a. Bit a of S is the axis a.
struct ProductsOfAxes {
  Axis        axes[3];
  PetscScalar terms[8] = {};
  bool        skew = false;   // not that, but rows with these entries, and all axes periodic
  PetscScalar entry[27] = {}; // of the points at the steps (e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1)
  bool        halved = false; // rows are half of that in each last point about which the function continues evenly
};

inline ProductsOfAxes sum_as_products(const Axis axes[3], PetscScalar sigma) {
  ProductsOfAxes of;
  for (int a = 0; a < 3; a++) of.axes[a] = axes[a];
  of.terms[0] = sigma;
  for (int a = 0; a < 3; a++) of.terms[1 << a] = 1;
  return of;
}

// Collective. *is_box: rows couple points that differ along several axes. *why: what the operator has that prevents it;
// empty otherwise.
PetscErrorCode MatStencilGetProducts(Mat P, StencilMat *context, AxesMemory *room, ProductsOfAxes *found, bool *is_box,
                                     std::string *why);

} // namespace shellac
