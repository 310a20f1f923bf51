#pragma once
// A smoothing step at one point of a level.

#include "multigrid/residual.hpp"

namespace shellac {
namespace point {

// A step of weighted Jacobi; from zero where the guess is null.
template <class Level> struct Smooth {
  using T = typename Level::Scalar;
  Level    level;
  int      step;
  Field<T> u;
  const T *b;
  T       *out;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = level.patch.index(i, j, k);
    const T        scale = level.scale(step, p), f = b[at];
    out[at] = u.u ? jacobi_step(u.u[at], scale, residual(level, u, f, p)) : scale * f;
  }
};

} // namespace point
} // namespace shellac
