#pragma once
// What a preconditioner of the library tells the KSP type stencil: the method that goes with it.

#include <petscksp.h>

#include <string>

namespace shellac {

struct SuitedMethod {
  KSPType     type = KSPFGMRES; // KSPRICHARDSON: one application is the solution
  std::string why;              // as part of "method fgmres: the matrix is not symmetric"
};

// Composed with the PC; after its set-up.
constexpr const char *suited_method_name = "ShellacSuitedMethod_C";
using GetSuitedMethod = PetscErrorCode(PC, SuitedMethod *);

} // namespace shellac
