#pragma once
// Hierarchy's smoothing steps on one level, where they are not fused with the residual and the transfer.

#include "multigrid/directed_sweep.hpp"
#include "multigrid/hierarchy.hpp"
#include "multigrid/smooth.hpp"

namespace shellac {

// A pass of variable_column::Step, where takes_row_columns().
template <class Part>
template <variable_column::Does does>
PetscErrorCode Hierarchy<Part>::StepOverRows(int l, const Part &part, int step, const T *u, T *out) {
  constexpr std::true_type  yes;
  constexpr std::false_type no;
  const bool                symmetric = level(l).equal_pairs;
  const PetscInt            points = points_of_columns(part.patch);
  const auto                run = [&](auto star, auto symmetric) {
    using Step = variable_column::Step<does, decltype(star)::value, decltype(symmetric)::value, T>;
    return run_over_columns(column::threads(part.patch, points), Step(part, part.omega[step], points, u, b_at(l), out));
  };

  PetscFunctionBegin;
  if (part.neighbours.star)
    PetscCall(symmetric ? run(yes, yes) : run(yes, no));
  else
    PetscCall(symmetric ? run(no, yes) : run(no, no));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if SHELLAC_CUDA
// So many red-black steps from `from` (null: zero), and from the next level's correction; the last of them writes `to`.
template <class Part>
PetscErrorCode Hierarchy<Part>::SmoothInPairs(int l, const Part &part, T *from, bool corrected, int steps, T *to) {
  PetscFunctionBegin;
  int passes = (steps + 1) / 2;
  if (from == to && passes % 2) passes++; // a pass writes another array than it reads
  for (int p = 0, n = 0; p < passes; p++) {
    const bool two = p < steps - passes;
    T *const   out = (passes - p) % 2 ? to : level(l).s.at(memory_);
    const T   *e = corrected && p == 0 ? level(l + 1).x.at(memory_) : nullptr;
    if (two)
      PetscCall(run_sweep_pairs<4>(part, level(l + 1).patch, n, from, b_at(l), e, out));
    else
      PetscCall(run_sweep_pairs<2>(part, level(l + 1).patch, n, from, b_at(l), e, out));
    from = out;
    n += two ? 2 : 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

// One pass: so many steps, from the n-th on.
template <class Part>
PetscErrorCode Hierarchy<Part>::SmoothOnce(int l, const Part &part, int n, int steps, const Field<T> &from, T *out) {
  Level         &at = level(l);
  const T *const u = from.u, *const b = b_at(l);

  PetscFunctionBegin;
  if constexpr (variable)
    if (nonsymmetric_) {
      PetscInt extent[3];
      extent_of_tiles(memory_, at.patch, extent);
      const int step = part.steps_before + n, all = (at.ratio >= 0 ? 1 : 2) * part.steps;
      PetscCall(run_directed_sweep(
          memory_, directed_sweep(part, transposed_ ? all - 1 - step : step, transposed_, extent, from, b, out)));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  if (walks()) {
    PetscCall(WalkPlanes(l, [&](auto *pass) {
      pass->level = part, pass->guess = from;
      pass->begin = n, pass->end = n + 1;
      pass->out = out;
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if constexpr (variable) {
#if SHELLAC_CUDA
    if constexpr (std::is_floating_point<T>::value)
      if (takes_row_planes(at) && steps > (u ? 1 : 2)) {
        PetscCall(u ? run_step_over_planes<false>(part, n, u, b, out) : run_step_over_planes<true>(part, n, u, b, out));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
#endif
    if (takes_row_columns(at) && u) {
      PetscCall(StepOverRows<variable_column::Does::smooth>(l, part, n, u, out));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  } else {
    using column::Does;
    if (takes_columns(at) && !part.red_black) {
      PetscCall(u ? StepOverColumns<Does::smooth>(part, part.omega[n], u, b, out)
                  : StepOverColumns<Does::smooth_zero>(part, part.omega[n], u, b, out));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  (void)steps;
  PetscCall(over(at.patch, point::Smooth<Part>{part, n, from, b, out}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Smoothing steps from `from` (null: zero), which they may change; the last of them writes `to`. corrected: with the next
// level's correction before them; room: for that, where `from` is null
template <class Part>
PetscErrorCode Hierarchy<Part>::Smooth(int l, T *from, bool corrected, bool upward, T *to, T *room) {
  Level &at = level(l);
  Part   part;

  PetscFunctionBegin;
  PetscCall(PartAt(l, &part));
  if (upward) begin_upward(&part);
  const int times = upward != transposed_ && l == 0 && turned_ ? 2 : 1; // those of the other way, too
  if (corrected && !(takes_pairs(at) && coarsens_all(part))) {
    T *const u = from ? from : room;
    PetscCall(Correct(l, from, u));
    from = u;
    corrected = false;
  }
#if SHELLAC_CUDA
  if constexpr (!variable)
    if (takes_pairs(at)) {
      PetscCall(SmoothInPairs(l, part, from, corrected, times * part.steps / 2, to));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
  const int total = times * part.steps;
  int       passes = 0;
  for (int n = 0; n < total; passes++) n += steps_of_pass(at, !from && n == 0, total - n);
  for (int n = 0, steps = 0; n < total; n += steps, passes--) {
    T *out = passes % 2 ? to : at.s.at(memory_);
    steps = steps_of_pass(at, !from, total - n);
    Field<T> field;
    PetscCall(Exchange(at, at.halo_u, from, &field));
    PetscCall(SmoothOnce(l, part, n, steps, field, out));
    from = out;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
