#pragma once
// What levels that follow a change of the matrix compute with: the factor by which it has changed, by least squares; D P 1.

#include <petscsys.h>

#include "device/runs.hpp"

namespace shellac {

struct FactorSums {
  PetscReal re = 0, im = 0, size = 0;

  SHELLAC_HD void add(PetscScalar now, PetscScalar before) {
    const PetscScalar product = now * PetscConj(before);
    re += PetscRealPart(product), im += PetscImaginaryPart(product);
    size += PetscRealPart(before * PetscConj(before));
  }
  SHELLAC_HD void add(const FactorSums &other) { re += other.re, im += other.im, size += other.size; }
};

// *a: from the sums of all ranks; zero where there is no such factor.
inline PetscErrorCode find_factor(MPI_Comm comm, const FactorSums &sums, PetscScalar *a) {
  PetscReal all[3] = {sums.re, sums.im, sums.size};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 3, MPIU_REAL, MPIU_SUM, comm));
  *a = 0;
  if (!(all[2] > 0)) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(PETSC_USE_COMPLEX)
  *a = PetscScalar(all[0], all[1]) / all[2];
#else
  *a = all[0] / all[2];
#endif
  if (!(*a - *a == (PetscScalar)0)) *a = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Over arrays of values.
struct SetOnes {
  PetscScalar *values;

  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { values[i] = 1; }
};
struct Multiply {
  const PetscScalar *by;
  PetscScalar       *values;

  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { values[i] *= by[i]; }
};

} // namespace shellac
