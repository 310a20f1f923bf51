#pragma once
// The constructor of the PC type, for register.cpp.

#include <petscpc.h>

namespace shellac {

PetscErrorCode       PCCreate_StencilMG(PC pc);
extern PetscLogEvent multigrid_setup_event, multigrid_apply_event;
// Of an application: smoothing and restriction, smoothing and interpolation, the last level. Not inside CUDA graphs.
extern PetscLogEvent multigrid_down_event, multigrid_up_event, multigrid_coarse_event;

} // namespace shellac
