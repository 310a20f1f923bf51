#include "equations/agreement.hpp"

#include <functional>

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

PetscErrorCode CheckAgreement(MPI_Comm comm, const std::string &name, const std::string &text) {
  const size_t           hash = std::hash<std::string>()(text);
  std::vector<PetscReal> least, largest;

  PetscFunctionBegin; // in parts that single precision has exactly
  PetscCall(get_range(comm,
                      {(PetscReal)(hash & 0xfffff), (PetscReal)(hash >> 20 & 0xfffff),
                       (PetscReal)((unsigned long long)hash >> 40), (PetscReal)(text.size() & 0xfffff)},
                      &least, &largest));
  PetscCheck(least == largest, comm, PETSC_ERR_ARG_INCOMP,
             "%s differs between the ranks; give all ranks the same one, or call DMDASetEquationFromFile(), which "
             "reads the first rank's file",
             name.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
