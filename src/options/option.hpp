#pragma once
// Options of the command line, described once: key, values, default, meaning and setter stand in one table for each type.
// PETSc's -help, the reference page and the lists in the public headers all follow from it.

#include <sstream>
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

// The text of an option must be of its kind, in a list each part: PETSc's own error names neither the option nor what it
// takes.
template <class Convert>
PetscErrorCode check_text(OptionItems items, const Option &option, PetscErrorCode error, const Convert &convert,
                          char separator = '\0') {
  const char *given = NULL;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsFindPair(items->options, items->prefix, option.key, &given, &set));
  if (!set || !given || !*given) PetscFunctionReturn(PETSC_SUCCESS);
  std::istringstream parts(given);
  for (std::string part; std::getline(parts, part, separator);) {
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    const bool valid = convert(part.c_str());
    PetscCall(PetscPopErrorHandler());
    PetscCheck(valid, items->comm, error, "-%s%s cannot be %s; give: %s", items->prefix ? items->prefix : "",
               option.key + 1, part.c_str(), option.values);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode check_numbers(OptionItems items, const Option &option, char separator = '\0') {
  const auto convert = [](const char *part) {
    PetscReal value;
    return PetscOptionsStringToReal(part, &value) == PETSC_SUCCESS;
  };
  return check_text(items, option, PETSC_ERR_ARG_OUTOFRANGE, convert, separator);
}

// PETSc's readers, between PetscOptionsHeadBegin() and PetscOptionsHeadEnd(), with the words of a table.
// `set` may be NULL. The value is changed only where the option is given.
inline PetscErrorCode read_option(OptionItems PetscOptionsObject, const Option &option, PetscBool *value,
                                  PetscBool *set = NULL) {
  PetscFunctionBegin;
  PetscCall(check_text(PetscOptionsObject, option, PETSC_ERR_ARG_WRONG, [](const char *part) {
    PetscBool is;
    return PetscOptionsStringToBool(part, &is) == PETSC_SUCCESS;
  }));
  PetscCall(PetscOptionsBool(option.key, option.meaning, option.setter, *value, value, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode read_option(OptionItems PetscOptionsObject, const Option &option, PetscInt *value,
                                  PetscBool *set = NULL) {
  PetscFunctionBegin;
  PetscCall(check_text(PetscOptionsObject, option, PETSC_ERR_ARG_OUTOFRANGE, [](const char *part) {
    PetscInt number;
    return PetscOptionsStringToInt(part, &number) == PETSC_SUCCESS;
  }));
  PetscCall(PetscOptionsInt(option.key, option.meaning, option.setter, *value, value, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode read_option(OptionItems PetscOptionsObject, const Option &option, PetscReal *value,
                                  PetscBool *set = NULL) {
  PetscFunctionBegin;
  PetscCall(check_numbers(PetscOptionsObject, option));
  PetscCall(PetscOptionsReal(option.key, option.meaning, option.setter, *value, value, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Up to *n numbers, as 1,0.5; *n becomes how many there are.
inline PetscErrorCode read_option(OptionItems PetscOptionsObject, const Option &option, PetscReal values[], PetscInt *n,
                                  PetscBool *set) {
  PetscFunctionBegin;
  PetscCall(check_numbers(PetscOptionsObject, option, ','));
  PetscCall(PetscOptionsRealArray(option.key, option.meaning, option.setter, values, n, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A text of any length, of an object: PETSc's own reader cuts it to fit an array.
inline PetscErrorCode read_option(OptionItems PetscOptionsObject, PetscObject object, const Option &option,
                                  std::string *value, PetscBool *set) {
  char         unused[2];
  const char  *prefix, *given = NULL;
  PetscOptions options;

  PetscFunctionBegin;
  PetscCall(PetscOptionsString(option.key, option.meaning, option.setter, value->c_str(), unused, sizeof(unused), set));
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
  Option allowed = option;

  PetscFunctionBegin;
  if (!PetscDefined(USE_COMPLEX)) allowed.values = "a real number; complex ones need a PETSc with complex scalars";
  PetscCall(check_text(PetscOptionsObject, allowed, PETSC_ERR_ARG_OUTOFRANGE, [](const char *part) {
    PetscScalar number;
    return PetscOptionsStringToScalar(part, &number) == PETSC_SUCCESS;
  }));
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
  PetscCall(check_text(PetscOptionsObject, option, PETSC_ERR_USER, [&](const char *part) {
    PetscEnum is;
    PetscBool found = PETSC_FALSE;
    return PetscEnumFind(names, part, &is, &found) == PETSC_SUCCESS && found;
  }));
  PetscCall(PetscOptionsEnum(option.key, option.meaning, option.setter, names, read, &read, set));
  *value = (Enum)read;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
