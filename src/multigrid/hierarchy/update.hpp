#pragma once
// Hierarchy's levels for a matrix that has changed by a factor and on its diagonal, A' = aA + D, as by MatScale(),
// MatShift(), a time step, or Newton's method for a reaction. Couplings and weights of interpolation stay, and the
// coarse matrices become
//   A'_c = a A_c + D_c,  D_c = diag(R D P 1) ,
// with what the Galerkin product would have beside the diagonal lumped into it.

#include "capture/mat.hpp"
#include "multigrid/setup/factor.hpp"
#include "multigrid/hierarchy/variable_levels.hpp"

namespace shellac {

namespace update {

// Weights of interpolation depend on shifts that are large beside the couplings of their rows. They no longer serve
// where, since the levels were made,
// - a shift of more than `acting` times its row's couplings has got smaller by more than `most_shrunk`, or
// - one has grown by more than `most_grown` beyond `large` times them, on the finest level or on one where other shifts
// are less than
//   `tiny` times them, or
// where a change of the sign opposite to the diagonal's makes a shift of that sign, larger than `most_opposite` times
// the couplings.
constexpr PetscReal acting = 0.3, most_shrunk = 1.4, large = 1, most_grown = 2, tiny = 0.1, most_opposite = 0.1;

// x / y, or the largest ratio that is told from others.
constexpr PetscReal  most_ratio = 1000;
SHELLAC_HD PetscReal ratio(PetscReal x, PetscReal y) {
  return x < most_ratio * y ? x / y : most_ratio;
}

struct CompareRows {
  RowsBeside   rows;
  PetscScalar  a;        // zero: sums up towards it
  PetscScalar *diagonal; // D [points of the patch]
  PetscScalar *fixed;    // inverse diagonals of rows that couple nothing, and zero elsewhere; null where there are none

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, Changes *found) const {
    PetscScalar        entry[27][most], shift[most];
    PetscReal          others[most];
    bool               alike[most], is_fixed[most];
    const size_t       at = rows.place_of(p), own = rows.patch.index(p[0], p[1], p[2]);
    const PetscScalar *before = rows.level.slot(SHIFT) + at, *inverse = rows.level.slot(INVERSE_DIAGONAL) + at,
                      *here = entry[rows.neighbours.count];
    rows.read(
        p, n, [&](int arm) { return entry[arm]; }, [](int) -> PetscScalar * { return nullptr; }, others);
    for (int arm = 0; a == (PetscScalar)0 && arm < rows.neighbours.count; arm++) {
      const PetscScalar *c = rows.neighbours.at[arm].coupling + at, *e = entry[arm];
      for (int i = 0; i < n; i++)
        if (c[i] != (PetscScalar)0) found->sums.add(-e[i], c[i]);
    }
    if (a == (PetscScalar)0) return;
    for (int i = 0; i < n; i++) {
      is_fixed[i] = inverse[i] == (PetscScalar)0;
      alike[i] = others[i] == 0 && here[i] - here[i] == (PetscScalar)0 && here[i] != (PetscScalar)0;
      shift[i] = here[i];
    }
    for (int arm = 0; arm < rows.neighbours.count; arm++)
      for (int i = 0; i < n; i++) shift[i] += entry[arm][i];
    for (int i = 0; i < n; i++)
      if (PetscAbsScalar(shift[i]) <= cancellation * PetscAbsScalar(here[i])) shift[i] = 0;
    for (int arm = 0; arm < rows.neighbours.count; arm++) {
      const Neighbour   &to = rows.neighbours.at[arm];
      const PetscScalar *c = to.coupling + at, *e = entry[arm], *there = inverse + to.step;
      for (int i = 0; i < n; i++) {
        const PetscScalar expected = a * c[i];
        if (c[i] == (PetscScalar)0 && e[i] != (PetscScalar)0 && there[i] == (PetscScalar)0 && !is_fixed[i]) {
          shift[i] -= e[i]; // with a point whose value is given
          continue;
        }
        const PetscReal off = PetscAbsScalar(e[i] + expected);
        alike[i] &= off <= rounding * PetscAbsScalar(expected);
        if (!(off <= agreement * PetscAbsScalar(here[i]))) found->flags.is_near = 1;
      }
    }
    for (int i = 0; i < n; i++) {
      PetscScalar change = shift[i] - a * before[i];
      if (is_fixed[i] || PetscAbsScalar(change) <= agreement * PetscAbsScalar(here[i])) change = 0;
      diagonal[own + i] = change;
      if (fixed) fixed[own + i] = is_fixed[i] && alike[i] ? (PetscScalar)1 / here[i] : (PetscScalar)0;
      if (!alike[i]) found->flags.differs = 1;
    }
  }
};

// Of a level's rows: the bound of RowBound; the largest ratios by which acting shifts have shrunk, and large ones have
// grown; whether there are tiny shifts, any of the sign opposite to the diagonal's, any that a change has made such and
// large, and changes that the next level has no point for: where a closed domain had no shift, its only coarse point
// has no row.
struct UpdateRatios {
  PetscReal high = 0, shrunk = 1, grown = 1;
};
struct UpdateFlags {
  int has_tiny, is_opposite, has_opposite, has_lost;
};
using Updated = Findings<UpdateFlags, Nothing, UpdateRatios>;
struct UpdateRows {
  Patch              patch;
  CouplingArrays     rows;
  PetscScalar        a;
  const PetscScalar *diagonal; // D
  bool               damps;    // as DampRows do
  PetscScalar       *sums;     // of weights of interpolation, which become D P 1; null on the last level

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, Updated *found) const {
    const size_t  at = rows.grown.index(p), own = patch.index(p[0], p[1], p[2]);
    PetscScalar  *shift = rows.slot(SHIFT) + at, *inverse = rows.slot(INVERSE_DIAGONAL) + at, sum[most];
    PetscReal     size[most];
    UpdateFlags  &flags = found->flags;
    UpdateRatios &ratios = found->most;

    fill_run(sum, n, PetscScalar(0));
    fill_run(size, n, PetscReal(0));
    for (int slot = FIRST_COUPLING; slot < rows.slots(); slot++) {
      PetscScalar *c = rows.slot(slot) + at;
      if (a != (PetscScalar)1)
        for (int i = 0; i < n; i++) c[i] *= a;
      for (int i = 0; i < n; i++) sum[i] += c[i], size[i] += PetscAbsScalar(c[i]);
    }
    for (int i = 0; i < n; i++) {
      const PetscScalar change = diagonal[own + i], before = a * shift[i];
      PetscScalar       now = before + change;
      if (sums) {
        if (size[i] > 0 && change != (PetscScalar)0 && sums[own + i] == (PetscScalar)0) flags.has_lost = 1;
        sums[own + i] *= change;
      }
      if (inverse[i] == (PetscScalar)0 && change == (PetscScalar)0) continue; // a fixed point, or one with no row
      if (PetscAbsScalar(now) <= cancellation * PetscAbsScalar(before)) now = 0;
      const PetscScalar entry = now + sum[i];
      shift[i] = now;
      inverse[i] = entry == (PetscScalar)0 ? (PetscScalar)0 : (PetscScalar)1 / entry;
      const PetscReal bound = 1 + size[i] * PetscAbsScalar(inverse[i]);
      if (damps) inverse[i] *= 2 / PetscMax(2, bound);
      ratios.high = PetscMax(ratios.high, bound);
      const PetscScalar old = PetscConj(before + sum[i]);
      const PetscReal   was = PetscAbsScalar(before), is = PetscAbsScalar(now);
      if (was > acting * size[i]) ratios.shrunk = PetscMax(ratios.shrunk, ratio(was, is));
      if (is > large * size[i]) ratios.grown = PetscMax(ratios.grown, ratio(is, PetscMax(was, large * size[i])));
      if (is < tiny * size[i]) flags.has_tiny = 1;
      if (PetscRealPart(now * PetscConj(entry)) < 0) flags.is_opposite = 1;
      if (PetscRealPart(change * old) < 0 && PetscRealPart(now * old) < -most_opposite * PetscAbsScalar(old) * size[i])
        flags.has_opposite = 1;
    }
  }
};

struct RenewAlone {
  UpdateRows rows;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    Updated ignored;
    rows.run<most>(p, n, &ignored);
  }
};

} // namespace update

template <class Part>
PetscErrorCode Hierarchy<Part>::Update(StencilMat *context, PetscMemType memory, Vec fixed, bool *done, bool *equal,
                                       bool *failed) {
  PetscFunctionBegin;
  *done = false;
  if constexpr (variable && std::is_same<T, S>::value) {
    if (last() == 0) PetscFunctionReturn(PETSC_SUCCESS);
    Level      &top = level(0);
    const Patch own = context->op->patch();
    PetscInt    offset[3];
    S           a, *diagonal;
    if (parts_) memory = PETSC_MEMTYPE_HOST;
    PetscCall(Prepare(memory));
    memory_ = memory;
    for (int c = 0; c < 3; c++) offset[c] = own.start[c] - top.patch.start[c];
    if (gathers(-1)) PetscCall(BringToOthers(top.part.grown, &top.rows, FIRST_COUPLING + top.part.neighbours.count()));
    PetscCall(CompareWith(context, fixed, offset, &a, &diagonal, done, equal));
    if (*done && gathers(-1)) {
      PetscCall(top.shared.Gather(memory, 1, diagonal, top.b.at(memory)));
      diagonal = top.b.at(memory);
    }
    if (*done) PetscCall(FollowChange(a, diagonal, done, failed));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part>
PetscErrorCode Hierarchy<Part>::CompareWith(StencilMat *context, Vec fixed, const PetscInt offset[3], S *a,
                                            S **diagonal, bool *alike, bool *equal) {
  PetscFunctionBegin;
  *alike = false;
  if constexpr (variable && std::is_same<T, S>::value) {
    using namespace update;
    Level                            &top = level(0);
    Arrays                            arrays(memory_);
    Changes                           found;
    std::unique_ptr<PreparedOperator> op;
    CouplingArrays                    kept;
    S                                *inverse = nullptr;

    kept.grown = top.part.grown;
    kept.neighbours = top.part.neighbours;
    PetscCall(top.rows.Edit(memory_, &kept.values));
    if (fixed) PetscCall(arrays.Write(fixed, &inverse));
    PetscCall(context->Prepare(context->op.get(), &arrays, &op));
    RowsBeside rows = {context->op->patch(),
                       static_cast<PreparedCapture &>(*op).coefficients(),
                       kept,
                       NeighbourList(kept),
                       {offset[0], offset[1], offset[2]}};
    Box        middle = rows.patch.all();
    for (int c = 1; c < 3; c++)
      if (middle.size(c) > 0) middle.lo[c] = middle.hi[c] / 2, middle.hi[c] = middle.lo[c] + 1;
    *a = 0;
    for (const Box &box : {middle, rows.patch.all()}) {
      if (*a != (S)0) break; // all points are asked where the middle lines couple nothing
      PetscCall(get_sum_of_runs(memory_, box, CompareRows{rows, 0, nullptr, nullptr}, &found));
      PetscCall(found.Share(rows_comm_));
      *a = found.sums.factor();
    }
    *alike = *a != (S)0;
    if (*alike) {
      *diagonal = (top.b_part.size() ? top.b_part : top.s).at(memory_);
      PetscCall(get_sum_of_runs(memory_, rows.patch.all(), CompareRows{rows, *a, *diagonal, inverse}, &found));
      PetscCall(found.Share(rows_comm_));
      *alike = !found.flags.differs;
      *equal = !found.flags.is_near;
    }
    PetscCall(arrays.Restore());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// diagonal: D on the finest level. *serves: weights of interpolation are still right; the levels are of no use otherwise.
template <class Part> PetscErrorCode Hierarchy<Part>::FollowChange(S a, S *diagonal, bool *serves, bool *failed) {
  if constexpr (variable && std::is_same<T, S>::value) {
    using namespace update;
    Scratch<Updated>       sums, parts;
    std::vector<Updated>   found;
    std::vector<PetscReal> high;
    std::vector<S>         of_last;
    Level                 &bottom = level(last());

    PetscFunctionBegin;
    PetscCall(sums.Grow(last(), memory_));
    if (!works_) PetscCall(sums.Zero(memory_)); // of levels that this rank does not have
    for (int l = 0; l < last() && works(l); l++) {
      Level     &at = level(l), &next = level(l + 1);
      const Box  all = at.patch.all(), own = window_ ? at.part.counted : all;
      T         *sums_of_weights = at.t.at(memory_);
      UpdateRows renew = {at.patch, {}, a, diagonal, nonsymmetric_, sums_of_weights};
      PetscCall(for_each(memory_, line_of(next.x.size()), SetOnes{next.x.at(memory_)}));
      PetscCall(Correct(l, nullptr, sums_of_weights));
      renew.rows.grown = at.part.grown;
      renew.rows.neighbours = at.part.neighbours;
      PetscCall(at.rows.Edit(memory_, &renew.rows.values));
      PetscCall(sum_runs(memory_, own, renew, &parts, sums.at(memory_) + l));
      const Boxes others = difference(all, own); // which other ranks judge: here they lack neighbours
      for (int n = 0; n < others.count; n++) PetscCall(for_each_run(memory_, others.box[n], RenewAlone{renew}));
      if (walks()) { // passes read rows beyond the patch
        const int changed = a == (S)1 ? FIRST_COUPLING : renew.rows.slots();
        PetscCall(fill_ghosts(memory_, at.patch, &at.halo_u, at.part.grown, renew.rows.values, changed));
      } else
        at.halves = false; // where passes on the host come later
      PetscCall(Restrict(l, sums_of_weights));
      diagonal = next.b.at(memory_);
    }
    PetscCall(sums.GetHost(memory_, &found));
    for (int l = 0; l < last(); l++) {
      Level &at = level(l);
      PetscCall(found[l].Share(rows_comm_));
      const UpdateFlags  &is = found[l].flags;
      const UpdateRatios &by = found[l].most;
      if (l == 0) opposite_ = is.is_opposite;
      at.shrunk = PetscMin(most_ratio, at.shrunk * by.shrunk);
      at.grown = PetscMin(most_ratio, at.grown * by.grown);
      *serves = *serves && at.shrunk <= most_shrunk && !is.has_opposite && !is.has_lost &&
                !(at.grown > most_grown && (is.has_tiny || (l == 0 && !below_)));
      high.push_back(by.high);
    }
    if (algebraic_.serves()) PetscCall(algebraic_.Follow(a, memory_, bottom.b.at(memory_), serves));
    int lacks = !*serves;
    if (shares_) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, rows_comm_));
    *serves = !lacks;
    if (!*serves) PetscFunctionReturn(PETSC_SUCCESS);
    for (int l = 0; l < last(); l++) {
      set_omega(level(l), high[l]);
      level(l).transposed_rows.change().clear();
    }
    prepared_[0] = prepared_[1] = false;
#if SHELLAC_CUDA
    graphs_.Outdate(); // they have the smoothers' weights of before
#endif
    if (!(window_ || algebraic_.serves()) && works(last())) {
      CouplingArrays rows;
      rows.grown = bottom.part.grown;
      rows.neighbours = bottom.part.neighbours;
      rows.values = last_values_.data();
      PetscCall(bottom.b.GetHost(memory_, &of_last));
      UpdateRows renew = {bottom.patch, rows, a, of_last.data(), false, nullptr};
      Updated    ignored;
      runs::on_host(bottom.patch.all(), renew, &ignored);
      PetscCall(solver_.Create(rows, bottom.patch, failed));
    }
    int fails = *failed;
    if (shares_) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fails, 1, MPI_INT, MPI_MAX, rows_comm_));
    *failed = fails;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
