#pragma once
// The option of the PC type assembled: PETSc's own, of the inner preconditioner.

#include "options/option.hpp"

namespace shellac {

constexpr Option assembled_pc_options[] = {
    {"-assembled_pc_type", "a PC type of PETSc", "PETSc's for AIJ",
     "the preconditioner of the copy, as gamg, hypre or ml; its own options have the prefix assembled_ too",
     "PCAssembledGetPC"},
};

} // namespace shellac
