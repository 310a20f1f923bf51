#pragma once
// The constructor of the PC type, for register.cpp.

#include <petscpc.h>

namespace shellac {

PetscErrorCode       PCCreate_StencilMG(PC pc);
extern PetscLogEvent multigrid_setup_event, multigrid_apply_event;

} // namespace shellac
