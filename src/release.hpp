#pragma once
// Which PETSc a library is compiled for, and which one a program runs with: their types and functions must agree.

#include "device/petsc.hpp"

#include <string>

namespace shellac {

struct Release {
  PetscInt major, minor;
  size_t   integer, real; // of PetscInt and PetscReal [bytes]
  bool     complex;       // whether PetscScalar is

  std::string name() const; // "3.18, real scalars of 8 bytes, integers of 4 bytes"
};

constexpr Release compiled_release = {PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, sizeof(PetscInt), sizeof(PetscReal),
                                      sizeof(PetscScalar) != sizeof(PetscReal)};

PetscErrorCode running_release(Release *release);

// An error unless the program's PETSc is one that this library is compiled for.
PetscErrorCode check_release(const Release &running);

} // namespace shellac
