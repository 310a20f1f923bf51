#include "release.hpp"

namespace shellac {

std::string Release::name() const {
  return std::to_string(major) + "." + std::to_string(minor) + ", " + (complex ? "complex" : "real") + " scalars of " +
         std::to_string(complex ? 2 * real : real) + " bytes, integers of " + std::to_string(integer) + " bytes";
}

// The size of a type that PETSc's library, not its header, knows by this name
static PetscErrorCode size_of(const char *name, PetscDataType *type, size_t *size) {
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeFromString(name, type, &found));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_LIB, "PETSc does not know its own type '%s'", name);
  PetscCall(PetscDataTypeGetSize(*type, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode running_release(Release *release) {
  PetscDataType type, real;
  size_t        scalar;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&release->major, &release->minor, NULL, NULL));
  PetscCall(size_of("int", &type, &release->integer));
  PetscCall(size_of("real", &real, &release->real));
  PetscCall(size_of("scalar", &type, &scalar));
  release->complex = type != real;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_release(const Release &running) {
  const Release &compiled = compiled_release;

  PetscFunctionBegin;
  PetscCheck(compiled.major == running.major && compiled.minor == running.minor &&
                 compiled.integer == running.integer && compiled.real == running.real &&
                 compiled.complex == running.complex,
             PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "this libshellac.so is compiled for PETSc %s; the program runs with PETSc %s. Build Shellac with the "
             "program's PETSc (cmake -DPETSC_DIR=... -DPETSC_ARCH=...) and load that library",
             compiled.name().c_str(), running.name().c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
