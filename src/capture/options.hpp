#pragma once
// The options of the type stencil.

#include "options/option.hpp"

namespace shellac {

constexpr Option stencil_options[] = {
    {"-mat_stencil_compress", "automatic|constant|indexed|arrays", "automatic",
     "form in which rows are stored; automatic: the first one that represents them exactly",
     "MatStencilShellSetCompression"},
    {"-mat_stencil_compress_tolerance", "real, in [0, 1)", "0",
     "relative difference up to which coefficients count as equal; an error with -mat_stencil_compress arrays",
     "MatStencilShellSetTolerance"},
    {"-mat_stencil_keep_arrays", "true|false", "true", "keeps the arrays of compressed rows for the next assembly",
     "MatStencilShellSetKeepArrays"},
    {"-mat_stencil_verify", "true|false", "false",
     "also assembles an AIJ matrix, and compares the two at each assembly", "MatStencilShellSetVerify"},
    {"-mat_stencil_fallback", "error|aij", "error",
     "effect of an entry outside the DMDA's stencil: an error, or the Mat becomes an AIJ matrix",
     "MatStencilShellSetFallback"},
    {"-mat_stencil_halo", "automatic|ipc|nccl|mpi|host", "automatic", "How halos are exchanged between GPUs",
     "MatSetHaloType"}};

} // namespace shellac
