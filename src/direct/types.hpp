#pragma once
// The constructors of the PC types, for register.cpp.

#include <shellac/direct.h>

namespace shellac {

PetscErrorCode PCCreate_StencilFFT(PC pc);
PetscErrorCode PCCreate_Stencil(PC pc);
// Set-up, application; and of an application: moves between ranks, transforms, and what is solved in modes.
extern PetscLogEvent direct_setup_event, direct_apply_event, direct_move_event, direct_transform_event,
    direct_modes_event;
PetscErrorCode FFTPlansFinalize(); // frees cuFFT's plans that no transform has

} // namespace shellac
