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
    if (takes_rows(at) || takes_row_columns(at)) PetscCall(at.has_shift.Get(memory_, &part->has_shift));
    if (transposed_ && nonsymmetric_) {
      std::swap(part->weights, part->restriction);
      if (at.transposed_rows.size()) PetscCall(at.transposed_rows.Get(memory_, &part->rows));
      if (part->has_shift) PetscCall(at.transposed_has_shift.Get(memory_, &part->has_shift));
    }
  } else {
    if (transposed_ && !is_symmetric()) reverse_colours(part);
    const AxisPoint<R> *points;
    PetscCall(points_.Get(memory_, &points));
    for (int a = 0; a < 3; a++) part->axis[a] = points + at.points_at[a] + axis_reach;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What passes over rows read besides the coefficients. Where a level follows a change of the matrix, weights stay as they are and
// shifts may change.
template <class Part> PetscErrorCode Hierarchy<Part>::PrepareRows(int l) {
  Level       &at = level(l);
  const Patch &patch = at.patch;
  Part         part;
  char        *has_shift;
  T           *weights_along_x;

  PetscFunctionBegin;
  PetscCall(PartAt(l, &part));
  const Box places = shift_places(patch);
  PetscCall(at.has_shift.Make(memory_, (size_t)places.points(), &has_shift));
  PetscCall(for_each_of_box(memory_, places, FindShifts<T>{part, has_shift}));
  if (!takes_rows(at) || !part.coarsens[0] || at.weights_along_x.size()) PetscFunctionReturn(PETSC_SUCCESS);
  const Box all = {{-1, 0, 0}, {patch.size[0], patch.size[1], 1}};
  PetscCall(at.weights_along_x.Make(memory_, (size_t)all.points(), &weights_along_x));
  PetscCall(for_each_of_box(memory_, all, SetWeightsAlongX<T>{part, weights_along_x}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part>
template <class V>
PetscErrorCode Hierarchy<Part>::Exchange(Level &at, Halo &halo, const V *u, Field<V> *field) {
  PetscFunctionBegin;
  *field = {};
  field->u = u;
  if (!at.whole && u) {
    PetscCall(halo.Begin(u, memory_));
    PetscCall(halo.End());
    *field = halo.field<V>();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A whole grid function on each rank, from the ranks' parts of it.
template <class Part> template <class V> PetscErrorCode Hierarchy<Part>::Gather(Level &at, const V *part, V *whole) {
  return gather_parts(memory_, at.parts, 1, part, whole);
}

template <class Part> PetscErrorCode Hierarchy<Part>::AfterRestriction(int l) {
  PetscFunctionBegin;
  if (gathers(l)) PetscCall(Gather(level(l + 1), level(l + 1).b_part.at(memory_), level(l + 1).b.at(memory_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part>
template <bool given, bool corrected, bool restricts, int steps, class B, class Out>
PetscErrorCode Hierarchy<Part>::Fused(int l, const B *b, const T *guess, Out *out) {
  Level             &at = level(l), &next = level(l + 1);
  Pass<Part, B, Out> pass = {};

  PetscFunctionBegin;
  PetscCall(PartAt(l, &pass.level));
  if (restricts || at.whole)
    PetscCall(Exchange(at, at.halo_b, b, &pass.b));
  else
    pass.b = at.halo_b.template field<B>(); // of the pass before
  if (given) PetscCall(Exchange(at, at.halo_u, guess, &pass.guess));
  if (corrected) {
    PetscCall(Exchange(next, next.halo_u, next.x.at(memory_), &pass.e));
    pass.coarse_e = next.patch;
  }
  pass.out = out;
  if (restricts) {
    pass.b_coarse = target(l);
    pass.coarse_b = target_patch(l);
  }
  const bool norm = given && restricts && norm_ && l == 0;
  pass.norms = norm ? norms_.at(memory_) : nullptr;
  double *sum = norm ? norm_ : nullptr;
  if constexpr (variable) {
#if SHELLAC_CUDA
    if constexpr (steps > 0) PetscCall((run_rows<PassKind<given, corrected, restricts, true, true, steps>>(pass)));
#endif
    (void)sum;
  } else if (at.part.coarsens[0] && at.part.coarsens[1])
    PetscCall((run_pass<PassKind<given, corrected, restricts, true, true, steps>>(memory_, pass, sum)));
  else if (at.part.coarsens[0])
    PetscCall((run_pass<PassKind<given, corrected, restricts, true, false, steps>>(memory_, pass, sum)));
  else
    PetscCall((run_pass<PassKind<given, corrected, restricts, false, true, steps>>(memory_, pass, sum)));
  if (restricts) PetscCall(AfterRestriction(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A pass by planes that does nothing yet.
template <class Part>
template <class B>
PetscErrorCode Hierarchy<Part>::PlanesAt(int l, const B *b, PlanePass<Part> *pass) {
  PetscFunctionBegin;
  *pass = {};
  PetscCall(PartAt(l, &pass->level));
  pass->own = level(l).patch;
  pass->halves = level(l).halves;
  pass->template right<B>().u = b;
  if (l < last()) {
    pass->coarse_e = level(l + 1).patch;
    pass->coarse_b = target_patch(l);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One walk: from a guess (null: zero), to which the next level's correction may be added.
template <class Part>
template <class B>
PetscErrorCode Hierarchy<Part>::WalkFrom(int l, const B *b, const T *guess, bool corrected, int steps,
                                         PlanePass<Part> *pass) {
  Level &at = level(l);

  PetscFunctionBegin;
  PetscCall(PlanesAt(l, b, pass));
  if (!at.whole) extend(points_beyond(at.part.steps), &pass->level);
  pass->given = guess;
  PetscCall(Exchange(at, at.halo_u, guess, &pass->guess));
  pass->corrected = corrected;
  if (corrected) {
    Level &next = level(l + 1);
    PetscCall(Exchange(next, next.halo_u, next.x.at(memory_), &pass->e));
  }
  pass->end = steps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// To the next level's right-hand side, in one walk.
template <class Part>
template <class B>
PetscErrorCode Hierarchy<Part>::WalkDown(int l, const B *b, const T *guess, bool corrected, int steps, T *out) {
  Level          &at = level(l);
  PlanePass<Part> pass;

  PetscFunctionBegin;
  PetscCall(WalkFrom(l, b, guess, corrected, steps, &pass));
  PetscCall(Exchange(at, at.halo_b, b, &pass.template right<B>()));
  pass.out = out;
  pass.b_coarse = target(l);
  PlaneWalk<Part>(pass).run();
  PetscCall(AfterRestriction(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// From the next level's correction, in one walk; with the halo of b from the walk down.
template <class Part>
template <class B, class Out>
PetscErrorCode Hierarchy<Part>::WalkUp(int l, const B *b, const T *guess, Out *out) {
  Level          &at = level(l);
  PlanePass<Part> pass;

  PetscFunctionBegin;
  PetscCall(WalkFrom(l, b, guess, true, at.part.steps, &pass));
  if (!at.whole) pass.template right<B>() = at.halo_b.template field<B>();
  begin_upward(&pass.level);
  pass.set_out(out);
  PlaneWalk<Part>(pass).run();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// out = u (null: zero) + the next level's correction
template <class Part> PetscErrorCode Hierarchy<Part>::Correct(int l, const T *u, T *out) {
  Level   &at = level(l), &next = level(l + 1);
  Field<T> e;

  PetscFunctionBegin;
  PetscCall(Exchange(next, next.halo_u, next.x.at(memory_), &e));
  if (walks(at) && !at.odd_ends) {
    PlanePass<Part> pass;
    PetscCall(PlanesAt(l, (const T *)nullptr, &pass));
    pass.given = u;
    pass.guess.u = u;
    pass.corrected = true;
    pass.e = e;
    pass.out = out;
    PlaneWalk<Part>(pass).run();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Part part;
  PetscCall(PartAt(l, &part));
  if constexpr (variable) {
    if (takes_row_columns(at)) {
      const PetscInt points = points_of_columns(at.patch);
      PetscCall(run_over_columns(column::threads(at.patch, points),
                                 variable_column::Correct<T>{part, next.patch, points, e.u, u, out}));
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

// The next level's right-hand side from a residual, where takes_columns() or takes_row_columns().
template <class Part> template <class B> PetscErrorCode Hierarchy<Part>::RestrictColumns(int l, const B *r) {
  Part        part;
  const Patch coarse = target_patch(l);

  PetscFunctionBegin;
  PetscCall(PartAt(l, &part));
  if constexpr (!variable)
    PetscCall(over_columns(coarse, [&](auto points) {
      return column::Restrict<decltype(points)::value, T, B>{part, coarse, r, target(l)};
    }));
  else if (part.mass)
    PetscCall(run_over_columns(coarse.all(), variable_column::Restrict<true, T, B>{part, coarse, r, target(l)}));
  else
    PetscCall(run_over_columns(coarse.all(), variable_column::Restrict<false, T, B>{part, coarse, r, target(l)}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The residual of u in one pass on a GPU; column by column.
template <class Part>
template <class B>
PetscErrorCode Hierarchy<Part>::ResidualOfColumns(int l, const Part &part, const B *b, const T *u, T *r) {
  PetscFunctionBegin;
  if constexpr (variable)
    PetscCall((StepOverRows<variable_column::Does::residual>(l, part, 0, u, b, r)));
  else
    PetscCall(over_columns(part.patch, [&](auto points) {
      return column::Step<column::Does::residual, decltype(points)::value, T, B, T>{part, 0, u, b, r};
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of u, or of b alone where u is null.
template <class Part>
template <class B>
PetscErrorCode Hierarchy<Part>::RestrictResidual(int l, const B *b, const T *u) {
  Level          &at = level(l);
  Part            part;
  PlanePass<Part> pass;
  Field<T>        field;
  T              *r = (at.fused ? at.t : at.s).at(memory_);

  PetscFunctionBegin;
  PetscCall(PartAt(l, &part));
#if SHELLAC_CUDA
  if constexpr (!variable)
    if (u && restricts_residual_at_once(l)) {
      const bool norm = norm_ && l == 0;
      PetscCall(shellac::restrict_residual(part, target_patch(l), u, b, target(l), norm ? norms_.at(memory_) : nullptr,
                                  norm ? norm_ : nullptr));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
  if (takes_columns(at) || takes_row_columns(at)) { // the next level is whole, too
    if (u) PetscCall(ResidualOfColumns(l, part, b, u, r));
    PetscCall(u ? RestrictColumns(l, (const T *)r) : RestrictColumns(l, b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PlanesAt(l, b, &pass));
  PetscCall(Exchange(at, at.halo_u, u, &field));
  if (walks(at)) {
    pass.given = u;
    pass.guess = field;
    pass.residual = r;
    PlaneWalk<Part>(pass).run();
  } else
    PetscCall(over(at.patch, point::Residual<Part, B>{part, field, b, r}));
  PetscCall(Exchange(at, at.halo_u, r, &field));
  if (walks(at) && !at.odd_ends) {
    pass.b_coarse = target(l);
    PlaneWalk<Part>(pass).restrict_field(field);
  } else
    PetscCall(over(target_patch(l), point::Restrict<Part>{part, target_patch(l), field, target(l)}));
  PetscCall(AfterRestriction(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::Down(int l, Guess guess) {
  Level &at = level(l);

  PetscFunctionBegin;
  const auto with = [&](auto *b, T *x) {
    PetscFunctionBegin;
    T *t = at.t.at(memory_);
    if (at.fused || takes_rows(at)) {
      PetscCall(with_steps(at, [&](auto steps_of) {
        constexpr int steps = decltype(steps_of)::value;
        return guess == Guess::zero    ? Fused<false, false, true, steps>(l, b, nullptr, t)
               : guess == Guess::given ? Fused<true, false, true, steps>(l, b, x, t)
                                       : Fused<false, true, true, steps>(l, b, nullptr, t);
      }));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (at.one_walk && walks(at)) {
      PetscCall(WalkDown(l, b, guess == Guess::given ? x : nullptr, guess == Guess::interpolated, at.part.steps, t));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (l == 0) turned_ = (transposed_ ? !full_ : guess == Guess::given) && turns();
    if (l == 0 && turned_ && !transposed_) {
      PetscCall(RestrictResidual(l, b, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(Smooth(l, b, guess == Guess::given ? x : nullptr, guess == Guess::interpolated, false, t, x));
    PetscCall(RestrictResidual(l, b, t));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (l > 0 || at.b.size())
    PetscCall(with((const T *)at.b.at(memory_), at.x.at(memory_)));
  else if constexpr (std::is_same<T, S>::value)
    PetscCall(with(b_, x_));
  else
    PetscCall(with(b_, at.x.at(memory_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::Up(int l) {
  Level &at = level(l);

  PetscFunctionBegin;
  const auto with = [&](auto *b, auto *x) {
    PetscFunctionBegin;
    T *t = at.t.at(memory_);
    if (at.fused || takes_rows(at)) {
      PetscCall(
          with_steps(at, [&](auto steps) { return Fused<true, true, false, decltype(steps)::value>(l, b, t, x); }));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (at.one_walk && walks(at)) {
      PetscCall(WalkUp(l, b, t, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if constexpr (std::is_same<typename std::remove_pointer<decltype(x)>::type, T>::value) {
      if (l == 0 && turned_ && transposed_)
        PetscCall(Correct(l, t, x));
      else
        PetscCall(Smooth(l, b, l == 0 && turned_ ? x : t, true, true, x, (T *)nullptr));
    } else {
      PetscCall(Smooth(l, b, t, true, true, at.x.at(memory_), (T *)nullptr));
      PetscCall(over(at.patch, point::CopyPart<T, S>{at.patch, at.patch, at.x.at(memory_), x, true}));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (l > 0 || at.b.size())
    PetscCall(with((const T *)at.b.at(memory_), at.x.at(memory_)));
  else
    PetscCall(with(b_, x_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The last level.
template <class Part> PetscErrorCode Hierarchy<Part>::Solve(Guess guess) {
  Level   &at = level(last());
  const T *b = at.b.at(memory_);
  T       *x = at.x.at(memory_);

  PetscFunctionBegin;
  if (!at.b.size()) { // the only level, which has the vectors' arrays
    if constexpr (std::is_same<T, S>::value)
      b = b_, x = x_;
    else {
      PetscCall(Relax(b_, guess == Guess::given, x));
      PetscCall(over(at.patch, point::CopyPart<T, S>{at.patch, at.patch, x, x_, true}));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  // others are symmetric between their masses, which a level that is solved directly does not keep
  const bool transposed = transposed_ && (nonsymmetric_ || (variable && last() == 0));
  if (relaxes())
    PetscCall(Relax(b, guess == Guess::given, x));
  else if (has_line_)
    PetscCall(line_.Apply(memory_, b, x, transposed));
  else if constexpr (variable)
    PetscCall(solver_.Apply(memory_, b, x, transposed));
  else
    PetscCall(solver_.Apply(memory_, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> template <class B> PetscErrorCode Hierarchy<Part>::Relax(const B *b, bool from_x, T *x) {
  const int l = last();
  Level    &at = level(l);

  PetscFunctionBegin;
  if (from_x) { // steps write other arrays than they read
    PetscCall(Smooth(l, b, x, false, false, at.t.at(memory_), (T *)nullptr));
    PetscCall(over(at.patch, point::CopyPart<T, T>{at.patch, at.patch, at.t.at(memory_), x, true}));
  } else if (at.one_walk && walks(at)) {
    PlanePass<Part> pass;
    PetscCall(WalkFrom(l, b, nullptr, false, at.part.steps, &pass));
    PetscCall(Exchange(at, at.halo_b, b, &pass.template right<B>()));
    pass.out = x;
    PlaneWalk<Part>(pass).run();
  } else
    PetscCall(Smooth(l, b, nullptr, false, false, x, (T *)nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of run_full_transposed(), which no pass does at once.
template <class Part> PetscErrorCode Hierarchy<Part>::RestrictResidualOf(int l) {
  Level &at = level(l);
  T     *x = at.x.at(memory_);

  PetscFunctionBegin;
  if (l > 0 || at.b.size()) {
    PetscCall(RestrictResidual(l, (const T *)at.b.at(memory_), x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if constexpr (std::is_same<T, S>::value)
    x = x_;
  else {
    PetscCall(at.x.Grow((size_t)at.patch.all().points(), memory_));
    x = at.x.at(memory_);
    PetscCall(over(at.patch, point::CopyPart<S, T>{at.patch, at.patch, x_, x, true}));
  }
  PetscCall(RestrictResidual(l, b_, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Part> PetscErrorCode Hierarchy<Part>::AddCorrection(int l) {
  Level &at = level(l);
  T     *x = at.x.at(memory_);

  PetscFunctionBegin;
  if constexpr (std::is_same<T, S>::value)
    if (l == 0 && !at.b.size()) x = x_;
  PetscCall(Correct(l, x, x));
  if constexpr (!std::is_same<T, S>::value)
    if (l == 0 && !at.b.size())
      PetscCall(over(at.patch, point::CopyPart<T, S>{at.patch, at.patch, x, x_, true}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::RestrictB(int l) {
  PetscFunctionBegin;
  if (l > 0 || level(l).b.size())
    PetscCall(RestrictFrom(l, (const T *)level(l).b.at(memory_)));
  else
    PetscCall(RestrictFrom(l, b_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The next level's right-hand side from b.
template <class Part> template <class B> PetscErrorCode Hierarchy<Part>::RestrictFrom(int l, const B *b) {
  Level &at = level(l);

  PetscFunctionBegin;
  if (at.fused)
    PetscCall((Fused<false, false, true, 0>(l, b, nullptr, (T *)nullptr)));
  else if (at.one_walk && walks(at))
    PetscCall(WalkDown(l, b, nullptr, false, 0, (T *)nullptr));
  else
    PetscCall(RestrictResidual(l, b, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
