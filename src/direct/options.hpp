#pragma once
// The options of stencilfft.

#include "options/option.hpp"

namespace shellac {

constexpr Option direct_options[] = {
    {"-pc_stencilfft_approximate", "true|false", "false",
     "inverts the sum over the axes with the mean coefficients, where the matrix is no such sum: a preconditioner",
     "PCStencilFFTSetApproximate"},
    {"-pc_stencilfft_precision", "double|single", "double",
     "precision of transforms and of the arrays between them; single is for preconditioners",
     "PCStencilFFTSetPrecision"},
};

} // namespace shellac
