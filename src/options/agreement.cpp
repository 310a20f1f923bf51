#include "options/agreement.hpp"

#include <strings.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>

namespace shellac {

// least: the least of each value on all ranks; largest: the largest
static PetscErrorCode get_range(MPI_Comm comm, const std::vector<PetscReal> &values, std::vector<PetscReal> *least,
                                std::vector<PetscReal> *largest) {
  const size_t           n = values.size();
  std::vector<PetscReal> both(values);

  PetscFunctionBegin;
  for (const PetscReal value : values) both.push_back(-value);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, both.data(), (PetscMPIInt)(2 * n), MPIU_REAL, MPIU_MAX, comm));
  largest->assign(both.begin(), both.begin() + (long)n);
  least->clear();
  for (size_t i = 0; i < n; i++) least->push_back(-both[n + i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckAgreement(MPI_Comm comm, const std::vector<Agreed> &values) {
  std::vector<PetscReal> own, least, largest;

  PetscFunctionBegin;
  for (const Agreed &v : values) own.push_back(v.value);
  PetscCall(get_range(comm, own, &least, &largest));
  for (size_t i = 0; i < values.size(); i++)
    PetscCheck(least[i] == largest[i], comm, PETSC_ERR_ARG_INCOMP,
               "%s is %.10g on one rank and %.10g on another; give all ranks the same value", values[i].name.c_str(),
               (double)least[i], (double)largest[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string text_of(PetscReal value) {
  char text[32];
  for (const int digits : {6, 15, 17}) {
    snprintf(text, sizeof(text), "%.*g", digits, (double)value);
    if ((PetscReal)strtod(text, NULL) == value) break;
  }
  return text;
}

PetscErrorCode CheckAgreement(MPI_Comm comm, const std::string &name, const std::string &text, const char *remedy) {
  const size_t           hash = std::hash<std::string>()(text);
  std::vector<PetscReal> least, largest;
  char                   heads[2][160] = {"", ""}; // of the first rank's text, of one that differs
  PetscMPIInt            rank, differs = 0;

  PetscFunctionBegin; // in parts that single precision has exactly
  PetscCall(get_range(comm,
                      {(PetscReal)(hash & 0xfffff), (PetscReal)(hash >> 20 & 0xfffff),
                       (PetscReal)((unsigned long long)hash >> 40), (PetscReal)(text.size() & 0xfffff)},
                      &least, &largest));
  if (least == largest) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscStrncpy(heads[0], text.empty() ? "none" : text.c_str(), sizeof(heads[0])));
  PetscCall(PetscStrncpy(heads[1], heads[0], sizeof(heads[1])));
  PetscCallMPI(MPI_Bcast(heads[0], sizeof(heads[0]), MPI_CHAR, 0, comm));
  if (std::string(heads[0]) != heads[1]) differs = rank;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MAX, comm));
  PetscCallMPI(MPI_Bcast(heads[1], sizeof(heads[1]), MPI_CHAR, differs, comm));
  PetscCheck(!differs, comm, PETSC_ERR_ARG_INCOMP, "%s differs between the ranks: on rank 0 %s, on rank %d %s; %s",
             name.c_str(), heads[0], (int)differs, heads[1], remedy);
  SETERRQ(comm, PETSC_ERR_ARG_INCOMP, "%s differs between the ranks; %s", name.c_str(), remedy); // after the heads
}

PetscErrorCode CheckOptionsAgree(OptionItems items, const std::string &beginning) {
  const std::string prefix = items->prefix ? items->prefix : "", start = "-" + prefix + beginning.substr(1);
  std::string       given; // PETSc sorts them
  char             *all;
  bool              takes = false;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetAll(items->options, &all));
  std::istringstream words(all);
  PetscCall(PetscFree(all));
  for (std::string word; words >> word;) {
    PetscBool is_key;
    PetscCall(PetscOptionsValidKey(word.c_str(), &is_key));
    if (is_key) takes = strncasecmp(word.c_str(), start.c_str(), start.size()) == 0;
    if (takes) given += (given.empty() ? "" : " ") + word;
  }
  PetscCall(CheckAgreement(items->comm, "the list of options", given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
