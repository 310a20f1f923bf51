/* A libshellac.so whose PETSc is another one than petsc4py's: complex, and not initialised. */

#include <stddef.h>
#include <string.h>

enum { REAL_TYPE, COMPLEX_TYPE, INT_TYPE };

int PetscInitialized(int *initialized) {
  *initialized = 0;
  return 0;
}
int PetscOptionsSetValue(void *options, const char *name, const char *value) {
  (void)options, (void)name, (void)value;
  return 0;
}
int PetscDataTypeFromString(const char *name, int *type, int *found) {
  *type = strcmp(name, "int") == 0 ? INT_TYPE : COMPLEX_TYPE;
  *found = 1;
  return 0;
}
int PetscDataTypeGetSize(int type, size_t *size) {
  *size = type == INT_TYPE ? 8 : 16;
  return 0;
}
int ShellacInitializePackage(void) {
  return 1;
}
