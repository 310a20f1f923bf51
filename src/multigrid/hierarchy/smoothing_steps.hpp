#pragma once
// Hierarchy's smoothing steps on one level, where they are not fused with the residual and the transfer.

#include "multigrid/hierarchy.hpp"
#include "multigrid/smooth.hpp"

namespace shellac {

// A pass of variable_column::Step, where takes_row_columns(); step: the last one of it.
template <class T>
template <variable_column::Does does, class B>
PetscErrorCode Hierarchy<T>::StepOverRows(int l, const LevelPart<T> &part, int step, const T *u, const B *b, T *out) {
  constexpr std::true_type  yes;
  constexpr std::false_type no;
  const bool                symmetric = level(l).equal_pairs;
  const PetscInt            points = points_of_columns(part.patch);
  const auto                run = [&](auto star, auto symmetric) {
    using Step = variable_column::Step<does, decltype(star)::value, decltype(symmetric)::value, T, B>;
    const R before = step ? part.omega[step - 1] : R(0);
    return run_over_columns(column::threads(part.patch, points),
                                           Step(part, part.omega[step], before, points, u, b, out));
  };

  PetscFunctionBegin;
  if (part.neighbours.star)
    PetscCall(symmetric ? run(yes, yes) : run(yes, no));
  else
    PetscCall(symmetric ? run(no, yes) : run(no, no));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// So many red-black steps from `from` (null: zero), and from the next level's correction; the last of them writes `to`.
template <class T>
template <class B>
PetscErrorCode Hierarchy<T>::SmoothInPairs(int l, const LevelPart<T> &part, const B *b, T *from, bool corrected,
                                           int steps, T *to) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  int passes = (steps + 1) / 2;
  if (from == to && passes % 2) passes++; // a pass writes another array than it reads
  for (int p = 0, n = 0; p < passes; p++) {
    const bool two = p < steps - passes;
    T *const   out = (passes - p) % 2 ? to : level(l).s.at(memory_);
    const T   *e = corrected && p == 0 ? level(l + 1).x.at(memory_) : nullptr;
    if (two)
      PetscCall(run_sweep_pairs<4>(part, level(l + 1).patch, n, from, b, e, out));
    else
      PetscCall(run_sweep_pairs<2>(part, level(l + 1).patch, n, from, b, e, out));
    from = out;
    n += two ? 2 : 1;
  }
#else
  (void)l, (void)part, (void)b, (void)from, (void)corrected, (void)steps, (void)to;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Smoothing steps from `from` (null: zero), which they may change; the last of them writes `to`. corrected: with the next
// level's correction before them; room: for that, where `from` is null
template <class T>
template <class B>
PetscErrorCode Hierarchy<T>::Smooth(int l, const B *b, T *from, bool corrected, bool upward, T *to, T *room) {
  Level       &at = level(l);
  LevelPart<T> part;

  PetscFunctionBegin;
  PetscCall(PartAt(l, &part));
  if (upward) turn_colours(&part);
  const int times = upward && l == 0 && turned_ ? 2 : 1; // those of the way down too
  if (takes_pairs(at)) {
    PetscCall(SmoothInPairs(l, part, b, from, corrected, times * part.steps / 2, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (corrected) {
    T *const u = from ? from : room;
    PetscCall(Correct(l, from, u));
    from = u;
  }
  const int total = times * part.steps;
  int       passes = 0;
  for (int n = 0; n < total; passes++) n += steps_of_pass(at, !from && n == 0, total - n);
  for (int n = 0, steps = 0; n < total; n += steps, passes--) {
    T *out = passes % 2 ? to : at.s.at(memory_);
    steps = steps_of_pass(at, !from, total - n);
    Field<T> field;
    PetscCall(Exchange(at, at.halo_u, from, &field));
    if (walks(at)) {
      PlanePass<T> pass;
      PetscCall(PlanesAt(l, b, &pass));
      pass.level = part;
      pass.given = from;
      pass.guess = field;
      pass.begin = n, pass.end = n + 1;
      pass.out = out;
      PlaneWalk<T>(pass).run();
    } else if (takes_sweeps(at)) {
#if SHELLAC_CUDA
      PetscCall(run_sweep(part, n % part.steps / 2, from, b, out));
#endif
    } else if (takes_row_planes(at) && steps > (from ? 1 : 2)) {
#if SHELLAC_CUDA
      if constexpr (std::is_floating_point<T>::value) {
        if (from)
          PetscCall((run_step_over_planes<false, T, B>(part, n, from, b, out)));
        else
          PetscCall((run_step_over_planes<true, T, B>(part, n, nullptr, b, out)));
      }
#endif
    } else if (takes_row_columns(at) && from)
      PetscCall((StepOverRows<variable_column::Does::smooth>(l, part, n, from, b, out)));
    else if (takes_row_columns(at) && steps > 1)
      PetscCall((StepOverRows<variable_column::Does::smooth_zero_twice>(l, part, n + 1, nullptr, b, out)));
    else if (takes_columns(at) && !part.red_black && from)
      PetscCall(over_columns(at.patch, [&](auto points) {
        using Step = column::Step<column::Does::smooth, decltype(points)::value, T, B, T>;
        return Step{part, part.omega[n], from, b, out};
      }));
    else if (takes_columns(at) && !part.red_black)
      PetscCall(over_columns(at.patch, [&](auto points) {
        using Step = column::Step<column::Does::smooth_zero, decltype(points)::value, T, B, T>;
        return Step{part, part.omega[n], nullptr, b, out};
      }));
    else
      PetscCall(over(at.patch, point::Smooth<T, B, T>{part, n, field, b, out}));
    from = out;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
