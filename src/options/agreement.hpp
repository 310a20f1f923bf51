#pragma once
// Arguments of collective calls, and options, that must be the same on all ranks.

#include <string>
#include <type_traits>
#include <vector>

#include "options/option.hpp"

namespace shellac {

struct Agreed {
  std::string name; // "the parameter k"
  PetscReal   value;
};

// Errors, on all ranks: a value that differs between them. All have as many values, with the same names.
PetscErrorCode CheckAgreement(MPI_Comm comm, const std::vector<Agreed> &values);
// The same for a text; name: "the equation's text". Every call is one reduction of the same size, so that ranks which make
// different calls meet here too, if their texts say what they call.
PetscErrorCode CheckAgreement(MPI_Comm comm, const std::string &name, const std::string &text,
                              const char *remedy = "give all ranks the same");

// A number as a text that no other number has.
std::string text_of(PetscReal value);

// The same for a call with these numbers; setter: "MatLaplaceSetRobin()".
template <class Number>
PetscErrorCode CheckCallAgrees(MPI_Comm comm, const std::string &setter, PetscInt n, const Number values[]) {
  std::string call = setter + " with";
  for (PetscInt i = 0; i < n; i++) {
    PetscScalar value;
    if constexpr (std::is_same<Number, PetscScalar>::value)
      value = values[i];
    else // of an enumeration its number
      value = (PetscReal)values[i];
    call += " " + text_of(PetscRealPart(value));
    if (PetscImaginaryPart(value) != 0) call += " + " + text_of(PetscImaginaryPart(value)) + "i";
  }
  return CheckAgreement(comm, "a setting", call);
}

// The same for the options whose keys begin so, before they are read: what only some ranks have would be collective calls
// of these alone, and one that is not possible is then an error on all.
PetscErrorCode CheckOptionsAgree(OptionItems items, const std::string &beginning); // "-pc_stencilmg_"

} // namespace shellac
