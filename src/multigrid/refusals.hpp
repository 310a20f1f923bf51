#pragma once
// What matrices have that stencilmg cannot serve, and what to use for them; after "this matrix ...".

#define SHELLAC_ILU_OR_AIJ                                                                                             \
  "; use -pc_type bjacobi, which is an incomplete factorisation on each rank, or -dm_mat_type aij with another "       \
  "-pc_type"

namespace shellac {

constexpr const char *far_couplings = "couples points that are not neighbours" SHELLAC_ILU_OR_AIJ;
constexpr const char *not_a_number =
    "has a coefficient that is infinite or not a number; look at the values that the program assembles";

} // namespace shellac
