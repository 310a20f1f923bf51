#pragma once
// The options of stencilfft.

#include "options/option.hpp"

namespace shellac {

constexpr Option direct_options[] = {
    {"-pc_stencilfft_approximate", "true|false", "false",
     "inverts the sum over the axes with the mean coefficients, where the matrix is no such sum: a preconditioner",
     "PCStencilFFTSetApproximate"},
};

} // namespace shellac
