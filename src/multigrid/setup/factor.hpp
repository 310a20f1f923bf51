#pragma once
// What levels that follow a change of the matrix compute with: the factor by which it has changed, by least squares; D P 1.

#include <petscsys.h>

#include "device/runs.hpp"
#include "multigrid/setup/findings.hpp"

namespace shellac {

struct FactorSums {
  PetscReal re, im, size;

  SHELLAC_HD void add(PetscScalar now, PetscScalar before) {
    const PetscScalar product = now * PetscConj(before);
    re += PetscRealPart(product), im += PetscImaginaryPart(product);
    size += PetscRealPart(before * PetscConj(before));
  }

  PetscScalar factor() const { // zero where there is none
    if (!(size > 0)) return 0;
#if defined(PETSC_USE_COMPLEX)
    const PetscScalar a = PetscScalar(re, im) / size;
#else
    const PetscScalar a = re / size;
#endif
    return a - a == (PetscScalar)0 ? a : (PetscScalar)0;
  }
};
struct ChangeFlags {
  int differs, is_near; // in more than the factor and the diagonal; in more of these than rounding
};
using Changes = Findings<ChangeFlags, FactorSums>;

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
