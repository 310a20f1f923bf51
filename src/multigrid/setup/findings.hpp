#pragma once
// What a set-up finds at points, summed up over those of a rank and over ranks.

#include "device/launch.hpp"

namespace shellac {

// Flags: ints, of which the largest counts, with a `problem`; Sums: PetscReals, which are added up.
template <class Flags, class Sums> struct Findings {
  Flags flags = {};
  Sums  sums = {};

  static constexpr int flag_count = sizeof(Flags) / sizeof(int), sum_count = sizeof(Sums) / sizeof(PetscReal);

  SHELLAC_HD void find(int problem, bool is = true) {
    if (is) flags.problem = PetscMax(flags.problem, problem);
  }
  SHELLAC_HD void add(const Findings &other) {
    int       *mine = reinterpret_cast<int *>(&flags);
    const int *its = reinterpret_cast<const int *>(&other.flags);
    for (int n = 0; n < flag_count; n++) mine[n] = PetscMax(mine[n], its[n]);
    for (int n = 0; n < sum_count; n++)
      reinterpret_cast<PetscReal *>(&sums)[n] += reinterpret_cast<const PetscReal *>(&other.sums)[n];
  }
  PetscErrorCode Share(MPI_Comm comm) { // over all ranks
    PetscFunctionBegin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &flags, flag_count, MPI_INT, MPI_MAX, comm));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sums, sum_count, MPIU_REAL, MPIU_SUM, comm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

} // namespace shellac
