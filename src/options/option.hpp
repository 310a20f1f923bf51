#pragma once
// Options of the command line, described once: key, values, default, meaning and setter stand in one table for each type.
// PETSc's -help, the reference page and the lists in the public headers all follow from it.

#include <string>

#include "device/petsc.hpp"

namespace shellac {

struct Option {
  const char *key;      // "-pc_stencilmg_smooths"
  const char *values;   // what may be given: "integer, 1 to 4", "v|w|f", "true|false"
  const char *fallback; // the default
  const char *meaning;  // one line
  const char *setter;   // the function that sets the same, or the manual page where there is none
};

// The row of a table with this key. A key that the table lacks stops compilation where the result is constexpr.
template <size_t n> constexpr const Option &find_option(const Option (&table)[n], const char *key) {
  for (const Option &option : table) {
    const char *a = option.key, *b = key;
    while (*a && *a == *b) a++, b++;
    if (*a == *b) return option;
  }
  throw "no such option";
}

// PETSc's readers, between PetscOptionsHeadBegin() and PetscOptionsHeadEnd(), with the words of a table.
// `set` may be NULL. The value is changed only where the option is given.
inline PetscErrorCode read_option(OptionItems PetscOptionsObject, const Option &option, PetscBool *value,
                                  PetscBool *set = NULL) {
  PetscFunctionBegin;
  PetscCall(PetscOptionsBool(option.key, option.meaning, option.setter, *value, value, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode read_option(OptionItems PetscOptionsObject, const Option &option, PetscInt *value,
                                  PetscBool *set = NULL) {
  PetscFunctionBegin;
  PetscCall(PetscOptionsInt(option.key, option.meaning, option.setter, *value, value, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode read_option(OptionItems PetscOptionsObject, const Option &option, PetscReal *value,
                                  PetscBool *set = NULL) {
  PetscFunctionBegin;
  PetscCall(PetscOptionsReal(option.key, option.meaning, option.setter, *value, value, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A text of any length, of an object: PETSc's own reader cuts it to fit an array.
inline PetscErrorCode read_option(OptionItems PetscOptionsObject, PetscObject object, const Option &option,
                                  std::string *value, PetscBool *set) {
  char         unused[2];
  const char  *prefix, *given = NULL;
  PetscOptions options;

  PetscFunctionBegin;
  PetscCall(
      PetscOptionsString(option.key, option.meaning, option.setter, value->c_str(), unused, sizeof(unused), set));
  if (!*set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetOptions(object, &options));
  PetscCall(PetscObjectGetOptionsPrefix(object, &prefix));
  PetscCall(PetscOptionsFindPair(options, prefix, option.key, &given, set));
  PetscCheck(given && *given, PetscObjectComm(object), PETSC_ERR_USER,
             "%s has no text. PETSc takes one that begins with - and a letter for an option: put it into brackets, as "
             "\"(-log(r))\"",
             option.key);
  *value = given;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of a Mat or another object with this communicator.
inline PetscErrorCode read_scalar_option(OptionItems PetscOptionsObject, MPI_Comm comm, const Option &option,
                                         PetscScalar *value, PetscBool *set) {
  PetscFunctionBegin;
  PetscCall(PetscOptionsScalar(option.key, option.meaning, option.setter, *value, value, set));
#if defined(PETSC_USE_COMPLEX) // PetscOptionsScalar() shows no help for complex scalars
  PetscBool help;
  PetscCall(PetscOptionsHasHelp(NULL, &help));
  if (help)
    PetscCall(
        (*PetscHelpPrintf)(comm, "  %s <%s>: %s (%s)\n", option.key, option.fallback, option.meaning, option.setter));
#else
  (void)comm;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// names: as for PetscOptionsEnum(), the values, then the name of the type and the prefix of its constants, then NULL.
template <class Enum>
PetscErrorCode read_option(OptionItems PetscOptionsObject, const Option &option, const char *const names[], Enum *value,
                           PetscBool *set = NULL) {
  PetscEnum read = (PetscEnum)*value;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum(option.key, option.meaning, option.setter, names, read, &read, set));
  *value = (Enum)read;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
