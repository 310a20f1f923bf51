#pragma once
// What a set-up finds at points, put together over those of a rank and over ranks.

#include "device/launch.hpp"

namespace shellac {

struct Nothing {};

// Flags: ints, of which the largest counts; Sums: PetscReals, which are added up; Most: PetscReals, of which the largest
// counts.
template <class Flags, class Sums = Nothing, class Most = Nothing> struct Findings {
  Flags flags = {};
  Sums  sums = {};
  Most  most = {};

  static constexpr int flag_count = sizeof(Flags) / sizeof(int), sum_count = sizeof(Sums) / sizeof(PetscReal),
                       most_count = sizeof(Most) / sizeof(PetscReal); // Nothing has none

  SHELLAC_HD void find(int problem, bool is = true) {
    if (is) flags.problem = PetscMax(flags.problem, problem);
  }
  SHELLAC_HD void add(const Findings &other) {
    int             *mine = reinterpret_cast<int *>(&flags);
    PetscReal       *sum = reinterpret_cast<PetscReal *>(&sums), *largest = reinterpret_cast<PetscReal *>(&most);
    const int       *its = reinterpret_cast<const int *>(&other.flags);
    const PetscReal *its_sum = reinterpret_cast<const PetscReal *>(&other.sums),
                    *its_largest = reinterpret_cast<const PetscReal *>(&other.most);
    for (int n = 0; n < flag_count; n++) mine[n] = PetscMax(mine[n], its[n]);
    for (int n = 0; n < sum_count; n++) sum[n] += its_sum[n];
    for (int n = 0; n < most_count; n++) largest[n] = PetscMax(largest[n], its_largest[n]);
  }
  PetscErrorCode Share(MPI_Comm comm) { // over all ranks
    PetscFunctionBegin;
    if (flag_count) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &flags, flag_count, MPI_INT, MPI_MAX, comm));
    if (sum_count) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sums, sum_count, MPIU_REAL, MPIU_SUM, comm));
    if (most_count) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, most_count, MPIU_REAL, MPIU_MAX, comm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

} // namespace shellac
