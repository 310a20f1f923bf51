#pragma once
// The constructors of the TS types, for register.cpp.

#include <petscts.h>

namespace shellac {

PetscErrorCode TSCreate_BurgersFused(TS ts);
PetscErrorCode BurgersRegisterSolvers();
PetscErrorCode BurgersRegisterEvents(PetscClassId classid);

} // namespace shellac
