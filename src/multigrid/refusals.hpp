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
  std::string refusal;            // why the matrix cannot be served; empty where it can be
  bool        not_finite = false; // that is the reason
  bool        singular = false;   // the last level is, beyond the operator's null space: there is nothing to apply
};

} // namespace shellac
