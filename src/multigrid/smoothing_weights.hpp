#pragma once
// Weights ω of smoothing steps.

#include <algorithm>
#include <cmath>

#include <petscmath.h>

namespace shellac {

constexpr int max_smoothing_steps = 8;

// Smoothing steps of a visit on the way down, and up; a red-black one is two half-steps. asked: 0 for as many as are best
inline int smoothing_steps(PetscInt asked, int dim, bool variable, bool red_black) {
  const int automatic = red_black ? 2 : dim == 3 && variable ? 4 : 3;
  return (asked ? (int)asked : automatic) * (red_black ? 2 : 1);
}

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

// A level whose rows are so dominated by their diagonals needs no coarser one: a few steps there do what the best cycle
// promises.
// ratio: of what a row has beside its diagonal to that, which bounds the error that a step of Jacobi's method leaves, in
// the maximum norm.
constexpr int       most_relaxations = 4;
constexpr PetscReal relaxed_to = 0.05, relaxed_to_full = 0.01; // by such steps, at worst; in place of full multigrid

// How many steps; zero: too many. real: the eigenvalues of D^-1 A are, so that Chebyshev's weights serve.
inline int relaxations(PetscReal ratio, bool real, bool full) {
  const PetscReal wanted = full ? relaxed_to_full : relaxed_to;
  for (int steps = 1; ratio < 1 && steps <= most_relaxations; steps++) {
    const PetscReal left = real && ratio > 0 ? 1 / std::cosh(steps * std::acosh(1 / ratio)) : std::pow(ratio, steps);
    if (left <= wanted) return steps;
  }
  return 0;
}
template <class R> void set_relaxation_weights(PetscReal ratio, bool real, int steps, R *omega) {
  if (real)
    set_chebyshev_weights(1 - ratio, 1 + ratio, steps, omega);
  else
    std::fill_n(omega, steps, R(1));
}

} // namespace shellac
