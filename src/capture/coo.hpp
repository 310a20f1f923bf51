#pragma once
// Assembly by MatSetPreallocationCOO() and MatSetValuesCOO(): which of a call's values are summed in which coefficient.

#include <petscsf.h>

#include "device/mirror.hpp"
#include "device/scratch.hpp"
#include "grid/patch.hpp"

namespace shellac {

// Made once, used by each MatSetValuesCOO(). The values of a call are numbered: the caller's first, then those that
// other ranks send.
struct CooMap {
  PetscInt              own = 0;            // values that a call brings
  PetscInt              sent = 0;           // values that other ranks send to this one
  PetscSF               sf = NULL;          // brings them, in the order of their ranks; null where no rank sends any
  std::vector<int>      slots;              // that get values on this rank
  Mirror<PetscInt>      first;              // [slots][points] + 1: of a coefficient's values, in source
  Mirror<PetscInt>      source;             // the numbers of the values
  Scratch<PetscScalar>  received;           // [sent]
  Mirror<PetscScalar *> targets;            // [slots]: their coefficients
  bool                  verifiable = false; // with the entries, for -mat_stencil_verify:
  std::vector<PetscInt> rows, columns;      // [own], global

  PetscErrorCode Destroy() {
    PetscFunctionBegin;
    PetscCall(PetscSFDestroy(&sf));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// The coefficients of a point: each is the sum of its values, in their order; or is increased by it.
template <class T> struct SumValues {
  Patch           patch;
  int             slots;
  const PetscInt *first, *source;
  PetscInt        own;
  const T        *values, *received;
  T *const       *coefficients; // [slots][points]
  bool            add;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const size_t at = patch.index(i, j, k), points = (size_t)patch.all().points();
    for (int s = 0; s < slots; s++) {
      const PetscInt *range = first + (size_t)s * points + at;
      T               sum = 0;
      for (PetscInt e = range[0]; e < range[1]; e++) {
        const PetscInt n = source[e];
        sum += n < own ? values[n] : received[n - own];
      }
      coefficients[s][at] = add ? coefficients[s][at] + sum : sum;
    }
  }
};

} // namespace shellac
