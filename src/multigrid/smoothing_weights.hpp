#pragma once
// Weights ω of smoothing steps.

#include <petscmath.h>

namespace shellac {

constexpr int max_smoothing_steps = 8;

// Weights of the steps: the inverse roots of the Chebyshev polynomial that is least on [low, high], eigenvalues of D^-1 A.
template <class R> void set_chebyshev_weights(PetscReal low, PetscReal high, int steps, R *omega) {
  for (int s = 0; s < steps; s++)
    omega[s] = (R)(1 / ((high + low) / 2 + (high - low) / 2 * PetscCosReal(PETSC_PI * (2 * s + 1) / (2 * steps))));
}

// Those of red-black half-steps in three dimensions, on the way down; symmetric: on the way up they come in the opposite
// order, as the colours do. By trials with all forms of ends, spacings and strengths of the axes; over-relaxation gains
// as much there as another step (I. Yavneh, On red-black SOR smoothing in multigrid, 1996).
template <class R> void set_red_black_weights(bool symmetric, int half_steps, R *omega) {
  const bool one = half_steps == 2;
  for (int s = 0; s < half_steps; s++) omega[s] = R(!symmetric ? (one ? 1.2 : 1.25) : one ? 1 : s % 2 ? 1.3 : 1.4);
  if (symmetric && !one) omega[0] = 1, omega[half_steps - 1] = R(0.8);
}

} // namespace shellac
