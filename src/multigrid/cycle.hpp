#pragma once
// The order in which a cycle visits its levels. Multigrid cycles as in Trottenberg, Oosterlee and Schüller,
// "Multigrid" (2001), sections 2.4 and 2.6.

#include <petscsys.h>

namespace shellac {

enum class Cycle { automatic, V, W, F };
enum class Guess { zero, given, interpolated };
constexpr int max_levels = 64;

// A cycle from level l down to the last. Levels: down(level, guess) smooths and makes the next level's right-hand side;
// up(level) takes the next level's solution and smooths; solve(guess, cycle, full) solves the last level or, where
// last_is_one() is false, visits the levels that it stands for. transposed: the levels' verbs are those of the transposed
// cycle, which has all that a cycle does in the opposite order.
template <class Levels>
PetscErrorCode run_cycle(Levels &levels, int l, int last, Cycle cycle, Guess guess, bool transposed = false) {
  PetscFunctionBegin;
  if (l == last) {
    PetscCall(levels.solve(guess, cycle, false));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(levels.down(l, guess));
  if (cycle == Cycle::V || (l + 1 == last && levels.last_is_one())) {
    PetscCall(run_cycle(levels, l + 1, last, cycle, Guess::zero, transposed));
  } else { // twice, the second time from what there is
    const Cycle second = cycle == Cycle::F ? Cycle::V : cycle;
    PetscCall(run_cycle(levels, l + 1, last, transposed ? second : cycle, Guess::zero, transposed));
    PetscCall(run_cycle(levels, l + 1, last, transposed ? cycle : second, Guess::given, transposed));
  }
  PetscCall(levels.up(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Full multigrid: the right-hand side goes down to the last level; then each level starts from the next one's solution
// and is improved by a cycle.
template <class Levels> PetscErrorCode run_full(Levels &levels, int top, int last, Cycle cycle) {
  PetscFunctionBegin;
  for (int l = top; l < last; l++) PetscCall(levels.restrict_b(l));
  PetscCall(levels.solve(Guess::zero, cycle, true));
  for (int l = last - 1; l >= top; l--) PetscCall(run_cycle(levels, l, last, cycle, Guess::interpolated));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Its transpose: a cycle on each level, from the finest on, whose residual is the next level's right-hand side; then the
// corrections. Levels: restrict_residual(level) makes that right-hand side; correct(level) adds the next level's
// solution.
template <class Levels> PetscErrorCode run_full_transposed(Levels &levels, int top, int last, Cycle cycle) {
  PetscFunctionBegin;
  for (int l = top; l < last; l++) {
    PetscCall(run_cycle(levels, l, last, cycle, Guess::zero, true));
    PetscCall(levels.restrict_residual(l));
  }
  PetscCall(levels.solve(Guess::zero, cycle, true));
  for (int l = last - 1; l >= top; l--) PetscCall(levels.correct(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// f() between the begin and the end of an event; of none where that is negative.
template <class Function> PetscErrorCode logged(PetscLogEvent event, const Function &f) {
  PetscFunctionBegin;
  if (event >= 0) PetscCall(PetscLogEventBegin(event, 0, 0, 0, 0));
  PetscCall(f());
  if (event >= 0) PetscCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
