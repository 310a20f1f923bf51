#pragma once
// What matrices have that stencilmg cannot serve, and what to use for them; after "this matrix ...".

#include <string>

#define SHELLAC_ILU_OR_AIJ                                                                                             \
  "; use -pc_type bjacobi, which is an incomplete factorisation on each rank, or -dm_mat_type aij with another "       \
  "-pc_type"

namespace shellac {

constexpr const char *far_couplings = "couples points that are not neighbours" SHELLAC_ILU_OR_AIJ;
constexpr const char *not_a_number =
    "has a coefficient that is infinite or not a number; look at the values that the program assembles";

// What a set-up finds.
struct SetupFindings {
  std::string refusal; // why the matrix cannot be served; empty where it can be
  // What that lies in. Values are a mistake where a program sets up for the first time, and later a step of a method to be
  // rejected. Numbers that are none are always such a step.
  enum { couplings, values, not_finite } cause = couplings;
};

} // namespace shellac
