#pragma once
// Arguments of collective calls that must be the same on all ranks.

#include <string>
#include <vector>

#include "device/petsc.hpp"

namespace shellac {

struct Agreed {
  std::string name; // "the parameter k"
  PetscReal   value;
};

// Errors, on all ranks: a value that differs between them. All have as many values, with the same names.
PetscErrorCode CheckAgreement(MPI_Comm comm, const std::vector<Agreed> &values);
// The same for a text; name: "the equation's text"
PetscErrorCode CheckAgreement(MPI_Comm comm, const std::string &name, const std::string &text);

} // namespace shellac
