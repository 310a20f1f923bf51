// Finds options -equation_NAME that nothing reads, which PETSc reports only at the end of the program, on request; and
// options of two parameters.

#include "equations/equation.hpp"
#include "options/expression.hpp"
#include "equations/options.hpp"

#include <algorithm>
#include <sstream>

namespace shellac {

PetscErrorCode CheckOptionNames(DM da, const Equation &equation) {
  std::vector<std::string> known, near;
  const char              *prefix;
  char                    *given;
  std::string              parameters, wrong, twofold;

  PetscFunctionBegin;
  for (const Option &option : equation_options) known.push_back(option.key);
  for (const auto &parameter : equation.text.parameters) {
    known.push_back("-equation_" + parameter.name);
    parameters += (parameters.empty() ? "-equation_" : ", -equation_") + parameter.name;
  }
  for (const auto &field : equation.text.fields) known.push_back("-equation_" + field.name);
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)da, &prefix));
  const std::string before = std::string("-") + (prefix ? prefix : "");
  PetscCall(PetscOptionsGetAll(NULL, &given));
  std::istringstream words(given);
  for (std::string word; wrong.empty() && words >> word;) {
    if (lower_case(word).compare(0, before.size() + 9, lower_case(before + "equation_")) != 0) continue;
    const std::string key = "-" + word.substr(before.size());
    const auto        is_key = [&](const std::string &name) { return lower_case(name) == lower_case(key); };
    if (std::none_of(known.begin(), known.end(), is_key)) wrong = key;
    if (std::count_if(known.begin() + std::size(equation_options), known.end(), is_key) > 1) twofold = key;
  }
  PetscCall(PetscFree(given));
  SHELLAC_CHECK_ALL(
      wrong.empty(), PetscObjectComm((PetscObject)da), PETSC_ERR_USER,
      "%s has no parameter and no field for the option %s%s Its parameters are %s; other options are "
      "-equation, -equation_cache, -equation_domain, -equation_initial and -equation_stretch_x, _y and _z. "
      "Where the option is for the equation of another DMDA, give that one a prefix, DMSetOptionsPrefix()",
      equation.text.file.c_str(), wrong.c_str(),
      suggestion(wrong, known).empty() ? "." : suggestion(wrong, known).c_str(),
      parameters.empty() ? "none" : parameters.c_str());
  SHELLAC_CHECK_ALL(
      twofold.empty(), PetscObjectComm((PetscObject)da), PETSC_ERR_USER,
      "%s has two parameters or fields for the option %s, because PETSc's options do not distinguish small and capital "
      "letters; rename one of them, or set them by DMDAEquationSetParameter() and DMDAEquationSetField()",
      equation.text.file.c_str(), twofold.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
