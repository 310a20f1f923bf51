#pragma once
// Hierarchy's passes over one level, fused or step by step.

#include "multigrid/hierarchy.hpp"
#include "multigrid/prolong.hpp"
#include "multigrid/residual.hpp"
#include "multigrid/restrict.hpp"

namespace shellac {

template <class Part> PetscErrorCode Hierarchy<Part>::PartAt(int l, Part *part) {
  Level &at = level(l);

  PetscFunctionBegin;
  *part = at.part;
  if constexpr (variable) {
    PetscCall(at.rows.Get(memory_, &part->rows));
    PetscCall(at.weights.Get(memory_, &part->weights));
    part->restriction = part->weights;
    if (at.restriction.size()) PetscCall(at.restriction.Get(memory_, &part->restriction));
    PetscCall(at.mass.Get(memory_, &part->mass));
    if (takes_rows(at)) PetscCall(at.weights_along_x.Get(memory_, &part->weights_along_x));
    if (transposed_ && nonsymmetric_) {
      std::swap(part->weights, part->restriction);
      if (at.transposed_rows.size()) PetscCall(at.transposed_rows.Get(memory_, &part->rows));
    }
  } else {
    if (transposed_ && !is_symmetric()) reverse_colours(part);
    const AxisPoint<R> *points;
    PetscCall(points_.Get(memory_, &points));
    for (int a = 0; a < 3; a++) part->axis[a] = points + at.points_at[a] + axis_reach;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What passes over rows read besides the coefficients; it stays where a level follows a change of the matrix.
template <class Part> PetscErrorCode Hierarchy<Part>::PrepareRows(int l) {
  Level       &at = level(l);
  const Patch &patch = at.patch;
  Part         part;
  T           *weights_along_x;

  PetscFunctionBegin;
  PetscCall(PartAt(l, &part));
  if (!part.coarsens[0] || at.weights_along_x.size()) PetscFunctionReturn(PETSC_SUCCESS);
  const Box all = {{-1, 0, 0}, {patch.size[0], patch.size[1], 1}};
  PetscCall(at.weights_along_x.Make(memory_, (size_t)all.points(), &weights_along_x));
  PetscCall(for_each_of_box(memory_, all, SetWeightsAlongX<T>{part, weights_along_x}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if SHELLAC_CUDA
template <class Part>
template <bool given, bool corrected, bool restricts, int steps>
PetscErrorCode Hierarchy<Part>::Fused(int l, const T *guess, T *out) {
  Level     &at = level(l), &next = level(l + 1);
  Pass<Part> pass = {};

  PetscFunctionBegin;
  PetscCall(PartAt(l, &pass.level));
  if (restricts || at.whole)
    PetscCall(Exchange(at, at.halo_b, b_at(l), &pass.b));
  else
    pass.b = at.halo_b.template field<T>(); // of the pass before
  if (given) PetscCall(Exchange(at, at.halo_u, guess, &pass.guess));
  if (corrected) {
    PetscCall(GetCorrection(l, &pass.e));
    pass.coarse_e = next.patch;
    if constexpr (std::is_same<T, S>::value)
      if (outside_.coarse_x) pass.e.u = outside_.coarse_x, pass.coarse_e = outside_.coarse;
  }
  pass.out = out;
  if (restricts) {
    pass.b_coarse = target(l);
    pass.coarse_b = target_patch(l);
  }
  if constexpr (std::is_same<T, S>::value)
    if (l == 0) pass.own = {outside_.b, restricts ? nullptr : outside_.x, at.part.counted};
  const bool norm = given && restricts && norm_ && l == 0;
  pass.norms = norm ? norms_.at(memory_) : nullptr;
  double *sum = norm ? norm_ : nullptr;
  if constexpr (variable) {
    if constexpr (steps > 0) PetscCall((run_rows<PassKind<given, corrected, restricts, true, true, steps>>(pass)));
    (void)sum;
  } else if (at.part.coarsens[0] && at.part.coarsens[1])
    PetscCall((run_pass<PassKind<given, corrected, restricts, true, true, steps>>(pass, sum)));
  else if (at.part.coarsens[0])
    PetscCall((run_pass<PassKind<given, corrected, restricts, true, false, steps>>(pass, sum)));
  else
    PetscCall((run_pass<PassKind<given, corrected, restricts, false, true, steps>>(pass, sum)));
  if (restricts) PetscCall(GatherB(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

// A pass by planes. set(pass): what it does.
template <class Part> template <class Function> PetscErrorCode Hierarchy<Part>::WalkPlanes(int l, const Function &set) {
  PlanePass<Part> pass = {};

  PetscFunctionBegin;
  PetscCall(PartAt(l, &pass.level));
  pass.own = level(l).patch;
  pass.halves = level(l).halves;
  pass.b.u = b_at(l);
  if (l < last()) {
    pass.coarse_e = level(l + 1).patch;
    pass.coarse_b = target_patch(l);
  }
  set(&pass);
  PlaneWalk<Part>(pass).run();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One walk: from a guess (null: zero), to which the next level's correction may be added, through so many steps. Down:
// to the next level's right-hand side; up: with the halo of b from the walk down.
template <class Part>
PetscErrorCode Hierarchy<Part>::Walk(int l, Way way, const T *guess, bool corrected, int steps, T *out) {
  Level   &at = level(l);
  Field<T> from, e = {}, b;

  PetscFunctionBegin;
  PetscCall(Exchange(at, at.halo_u, guess, &from));
  if (corrected) PetscCall(GetCorrection(l, &e));
  if (way == Way::up && !at.whole)
    b = at.halo_b.template field<T>();
  else
    PetscCall(Exchange(at, at.halo_b, b_at(l), &b));
  PetscCall(WalkPlanes(l, [&](auto *pass) {
    if (!at.whole) extend(points_beyond(at.part.steps), &pass->level);
    if (way == Way::up) begin_upward(&pass->level);
    pass->guess = from, pass->e = e, pass->b = b;
    pass->end = steps;
    pass->out = out;
    if (way == Way::down) pass->b_coarse = target(l);
  }));
  if (way == Way::down) PetscCall(GatherB(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// out = u (null: zero) + the next level's correction
template <class Part> PetscErrorCode Hierarchy<Part>::Correct(int l, const T *u, T *out) {
  Level   &at = level(l), &next = level(l + 1);
  Field<T> e;

  PetscFunctionBegin;
  PetscCall(GetCorrection(l, &e));
  if (walks() && !at.odd_ends) {
    PetscCall(WalkPlanes(l, [&](auto *pass) { pass->guess.u = u, pass->e = e, pass->out = out; }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Part part;
  PetscCall(PartAt(l, &part));
  if constexpr (variable) {
    if (takes_row_columns(at)) {
      PetscCall(run_over_columns(at.patch.all(), variable_column::Correct<T>(part, next.patch, e.u, u, out)));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  } else if (takes_columns(at)) {
    PetscCall(over_columns(at.patch, [&](auto points) {
      return column::Correct<decltype(points)::value, T>{part, next.patch, e.u, u, out};
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(over(at.patch, point::Correct<Part>{part, next.patch, e, u, out}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The next level's right-hand side from a residual.
template <class Part> PetscErrorCode Hierarchy<Part>::Restrict(int l, const T *r) {
  Level      &at = level(l);
  Part        part;
  Field<T>    field;
  const Patch coarse = target_patch(l);

  PetscFunctionBegin;
  PetscCall(PartAt(l, &part));
  if (takes_row_columns(at)) { // the next level is whole, too
    if constexpr (variable)
      PetscCall(part.mass
                    ? run_over_columns(coarse.all(), variable_column::Restrict<true, T>(part, coarse, r, target(l)))
                    : run_over_columns(coarse.all(), variable_column::Restrict<false, T>(part, coarse, r, target(l))));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (takes_columns(at)) { // likewise
    if constexpr (!variable)
      PetscCall(over_columns(coarse, [&](auto points) {
        return column::Restrict<decltype(points)::value, T>{part, coarse, r, target(l)};
      }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Exchange(at, at.halo_u, r, &field));
  if (walks() && !at.odd_ends)
    PetscCall(WalkPlanes(l, [&](auto *pass) { pass->r = field, pass->b_coarse = target(l); }));
  else
    PetscCall(over(coarse, point::Restrict<Part>{part, coarse, field, target(l)}));
  PetscCall(GatherB(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The residual of u in one pass on a GPU; column by column.
template <class Part> PetscErrorCode Hierarchy<Part>::ResidualOfColumns(int l, const Part &part, const T *u, T *r) {
  PetscFunctionBegin;
  if constexpr (variable)
    PetscCall((StepOverRows<variable_column::Does::residual>(l, part, 0, u, r)));
  else
    PetscCall(StepOverColumns<column::Does::residual>(part, 0, u, b_at(l), r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::RestrictResidual(int l, const T *u) {
  Level   &at = level(l);
  Part     part;
  Field<T> field;
  T       *r = (takes_fused(at) || !at.s.size() ? at.t : at.s).at(memory_);

  PetscFunctionBegin;
  PetscCall(PartAt(l, &part));
#if SHELLAC_CUDA
  if constexpr (!variable)
    if (restricts_residual_at_once(l)) {
      const bool norm = norm_ && l == 0;
      PetscCall(shellac::restrict_residual(part, target_patch(l), u, b_at(l), target(l),
                                           norm ? norms_.at(memory_) : nullptr, norm ? norm_ : nullptr));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
  PetscCall(Exchange(at, at.halo_u, u, &field));
  if (takes_columns(at) || takes_row_columns(at))
    PetscCall(ResidualOfColumns(l, part, u, r));
  else if (walks())
    PetscCall(WalkPlanes(l, [&](auto *pass) { pass->guess = field, pass->residual = r; }));
  else
    PetscCall(over(at.patch, point::Residual<Part>{part, field, b_at(l), r}));
  PetscCall(Restrict(l, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::Down(int l, Guess guess) {
  Level &at = level(l);

  PetscFunctionBegin;
  T *const x = x_at(l), *const t = at.t.at(memory_);
  if (l == 0 && begun_) { // Apply() has done this pass
    begun_ = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if SHELLAC_CUDA
  if (takes_fused(at) || takes_rows(at)) {
    PetscCall(with_steps(at, [&](auto steps_of) {
      constexpr int steps = decltype(steps_of)::value;
      return guess == Guess::zero    ? Fused<false, false, true, steps>(l, nullptr, t)
             : guess == Guess::given ? Fused<true, false, true, steps>(l, x, t)
                                     : Fused<false, true, true, steps>(l, nullptr, t);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (at.one_walk && walks()) {
    PetscCall(Walk(l, Way::down, guess == Guess::given ? x : nullptr, guess == Guess::interpolated, at.part.steps, t));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (l == 0) turned_ = (transposed_ ? !full_ : guess == Guess::given) && turns();
  if (l == 0 && turned_ && !transposed_) {
    PetscCall(RestrictResidual(l, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Smooth(l, guess == Guess::given ? x : nullptr, guess == Guess::interpolated, false, t, x));
  PetscCall(RestrictResidual(l, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::Up(int l) {
  Level   &at = level(l);
  T *const x = x_at(l), *const t = at.t.at(memory_);

  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (takes_fused(at) || takes_rows(at)) {
    PetscCall(with_steps(at, [&](auto steps) { return Fused<true, true, false, decltype(steps)::value>(l, t, x); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (at.one_walk && walks()) {
    PetscCall(Walk(l, Way::up, t, true, at.part.steps, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool turned = l == 0 && turned_;
  if (turned && transposed_)
    PetscCall(Correct(l, t, x));
  else
    PetscCall(Smooth(l, turned ? x : t, true, true, x, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The last level.
template <class Part> PetscErrorCode Hierarchy<Part>::Solve(Guess guess, Cycle, bool) {
  const int l = last();
  const T  *b = b_at(l);
  T *const  x = x_at(l);

  PetscFunctionBegin;
  if (relaxes()) {
    PetscCall(Relax(guess == Guess::given, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // others are symmetric between their masses, which a level that is solved directly does not keep
  const bool transposed = transposed_ && (nonsymmetric_ || (variable && l == 0));
  if (algebraic_.serves())
    PetscCall(algebraic_.Apply(memory_, b, guess == Guess::given, x));
  else if (has_line_)
    PetscCall(line_.Apply(memory_, b, x, transposed));
  else if constexpr (variable)
    PetscCall(solver_.Apply(memory_, b, x, transposed));
  else
    PetscCall(solver_.Apply(memory_, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::Relax(bool from_x, T *x) {
  const int l = last();
  Level    &at = level(l);

  PetscFunctionBegin;
  if (from_x) { // steps write other arrays than they read
    PetscCall(Smooth(l, x, false, false, at.t.at(memory_), nullptr));
    PetscCall(Copy(at.patch, at.t.at(memory_), at.patch, x, at.patch));
  } else if (at.one_walk && walks())
    PetscCall(Walk(l, Way::alone, nullptr, false, at.part.steps, x));
  else
    PetscCall(Smooth(l, nullptr, false, false, x, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The next level's right-hand side from b.
template <class Part> PetscErrorCode Hierarchy<Part>::RestrictB(int l) {
  Level &at = level(l);

  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (takes_fused(at)) {
    PetscCall((Fused<false, false, true, 0>(l, nullptr, nullptr)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (at.one_walk && walks())
    PetscCall(Walk(l, Way::down, nullptr, false, 0, nullptr));
  else
    PetscCall(Restrict(l, b_at(l)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
