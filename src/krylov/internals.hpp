#pragma once
// What a KSP type needs and PETSc's public headers lack. No other file takes a private one.

#include <petsc/private/kspimpl.h>
