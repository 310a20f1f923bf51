#pragma once
// The options of the type stencil.

#include "options/option.hpp"

namespace shellac {

constexpr Option stencil_options[] = {
    {"-mat_stencil_compress", "automatic|constant|indexed|arrays", "automatic",
     "How rows are stored: in the first form that can hold them, or in this one", "MatStencilShellSetCompression"},
    {"-mat_stencil_compress_tolerance", "real, in [0, 1)", "0",
     "Relative difference by which coefficients are taken for equal; with the option for the form arrays an error",
     "MatStencilShellSetTolerance"},
    {"-mat_stencil_keep_arrays", "true|false", "true",
     "Whether the arrays of rows that were compressed stay for the next assembly", "MatStencilShellSetKeepArrays"},
    {"-mat_stencil_verify", "true|false", "false", "Assembles an AIJ as well, and compares the two at each assembly",
     "MatStencilShellSetVerify"},
    {"-mat_stencil_fallback", "error|aij", "error", "What an entry outside the DMDA's stencil leads to",
     "MatStencilShellSetFallback"},
    {"-mat_stencil_halo", "automatic|ipc|host", "automatic", "How halos travel between GPUs", "MatSetHaloType"}};

} // namespace shellac
