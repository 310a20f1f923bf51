// Levels with several unknowns a point, for a matrix that has changed by a factor and on its diagonal: A' = aA + D. As
// with one unknown (see hierarchy/update.hpp) coarse matrices become a A_c + diag(R D P 1). Where D has the diagonal's
// sign, eigenvalues of the blocks' D⁻¹A come nearer to one, so that the bound on them holds; the smoother's weights are
// chosen anew.

#include "multigrid/setup/factor.hpp"
#include "multigrid/systems/hierarchy.hpp"

namespace shellac {

namespace {

constexpr PetscReal most_opposite = 0.01; // of a change of the diagonal, beside it

// A number for a place in a row, by which rows are told apart.
SHELLAC_HD PetscReal weight_of(const Slot &slot) {
  unsigned x = 2654435761u;
  for (int a = 0; a < 3; a++) x = (x + (unsigned)(slot.step[a] + 8)) * 2246822519u;
  x = (x + (unsigned)slot.c) * 3266489917u;
  x ^= x >> 15;
  return 1 + (PetscReal)(x & 0xffffu) / 65536;
}

// A row in short: its diagonal entry, the sum of the others with those weights, and of their absolute values.
struct ShortRow {
  PetscScalar diagonal = 0, mark = 0;
  PetscReal   size = 0;

  SHELLAC_HD ShortRow(const CapturedCoefficients<PetscScalar> &from, const PetscScalar *rows, int r, size_t at) {
    for (int s = from.first[r]; s < from.first[r + 1]; s++) {
      const Slot       &slot = from.slot[s];
      const PetscScalar value = from.value(rows, s, at);
      if (slot.c == r && !slot.step[0] && !slot.step[1] && !slot.step[2]) {
        diagonal += value;
        continue;
      }
      mark += weight_of(slot) * value;
      size += 2 * PetscAbsScalar(value);
    }
  }
};

struct MarkRows {
  Patch                             patch;
  CapturedCoefficients<PetscScalar> from;
  PetscScalar                       followed;                   // see Mark()
  PetscScalar                      *diagonal, *mark, *of_setup; // [points][dof]

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k}, dof = patch.dof;
    const size_t   at = patch.index(i, j, k);
    for (PetscInt r = 0; r < dof; r++) {
      const ShortRow row(from, from.rows(patch, p, at), (int)r, at);
      diagonal[at * dof + r] = row.diagonal;
      of_setup[at * dof + r] = followed == (PetscScalar)0 ? row.diagonal : followed * of_setup[at * dof + r];
      mark[at * dof + r] = row.mark;
    }
  }
};

struct CompareMarks {
  Patch                             patch;
  CapturedCoefficients<PetscScalar> from;
  const PetscScalar                *diagonal, *mark, *of_setup; // before; the latter: the diagonal of the last set-up
  bool                              compares;                   // or sums up for the factor
  PetscScalar                       a;
  PetscScalar                      *change; // D

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, Changes *found) const {
    const PetscInt dof = patch.dof;
    for (int i = 0; i < n; i++) {
      const PetscInt q[3] = {p[0] + i, p[1], p[2]};
      const size_t   at = patch.index(q[0], q[1], q[2]);
      for (PetscInt r = 0; r < dof; r++) {
        const size_t   place = at * dof + r;
        const ShortRow row(from, from.rows(patch, q, at), (int)r, at);
        if (!compares) {
          found->sums.add(row.mark, mark[place]);
          continue;
        }
        const PetscScalar whole = row.diagonal - a * of_setup[place], old = PetscConj(a * of_setup[place]);
        const PetscReal   most_off = most_opposite * PetscRealPart(old * PetscConj(old));
        if (!(PetscAbsScalar(row.mark - a * mark[place]) <= rounding * row.size) ||
            !(PetscRealPart(whole * old) >= -most_off) ||
            !(PetscAbsReal(PetscImaginaryPart(whole * old)) <= most_off) ||
            (old == (PetscScalar)0 && whole != (PetscScalar)0)) // there is no sign to compare with
          found->flags.differs = 1;                             // or on the diagonal against its sign
        change[place] = row.diagonal - a * diagonal[place];
      }
    }
  }
};

struct AddToDiagonal {
  OpenCoefficients<PetscScalar> rows;
  const PetscScalar            *diagonal;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt dof = rows.patch.dof;
    const size_t   at = rows.patch.index(i, j, k);
    for (PetscInt r = 0; r < dof; r++) rows.values[rows.slot(rows.center, r, r)][at] += diagonal[at * dof + r];
  }
};

Box values_of(const Patch &patch) {
  return {{0, 0, 0}, {(PetscInt)patch.all().points() * patch.dof, 1, 1}};
}

} // namespace

PetscErrorCode SystemHierarchy::Mark(T followed) {
  Level                           &top = level(0);
  Arrays                           arrays(set_up_memory_);
  std::unique_ptr<PreparedCapture> op;
  MarkRows                         mark = {top.op->patch(), {}, followed, nullptr, nullptr, nullptr};
  const size_t                     n = (size_t)values_of(mark.patch).points();

  PetscFunctionBegin;
  PetscCall(diagonal_.Make(set_up_memory_, n, &mark.diagonal));
  PetscCall(marks_.Make(set_up_memory_, n, &mark.mark));
  PetscCall(followed == (T)0 ? diagonal_of_setup_.Make(set_up_memory_, n, &mark.of_setup)
                             : diagonal_of_setup_.Edit(set_up_memory_, &mark.of_setup));
  PetscCall(top.op->Prepare(&arrays, &op));
  mark.from = op->coefficients();
  PetscCall(for_each_of_box(set_up_memory_, mark.patch.all(), mark));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::Update(StencilMat *, PetscMemType, Vec, bool *done, bool *, bool *failed) {
  Arrays       arrays(set_up_memory_);
  Scratch<T>   room;
  Changes      found;
  CompareMarks compare = {};

  PetscFunctionBegin;
  *done = false;
  if (last() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  Level &top = level(0);
  bool   there = true;
  PetscCall(gathering_ ? GatherRows(&there) : FindFinest());
  if (!there || !top.op->made_for_device() != !device_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Prepare(set_up_memory_));
  compare.patch = top.op->patch();
  PetscCall(diagonal_.Get(memory_, &compare.diagonal));
  PetscCall(marks_.Get(memory_, &compare.mark));
  PetscCall(diagonal_of_setup_.Get(memory_, &compare.of_setup));
  compare.change = top.r.at(memory_);
  std::unique_ptr<PreparedCapture> op;
  PetscCall(top.op->Prepare(&arrays, &op));
  compare.from = op->coefficients();
  PetscCall(get_sum_of_runs(memory_, compare.patch.all(), compare, &found));
  PetscCall(found.Share(comm_));
  const T a = compare.a = found.sums.factor();
  if (a != (T)0) {
    compare.compares = true;
    PetscCall(get_sum_of_runs(memory_, compare.patch.all(), compare, &found));
    PetscCall(found.Share(comm_));
  }
  PetscCall(arrays.Restore());
  if (a == (T)0 || found.flags.differs) PetscFunctionReturn(PETSC_SUCCESS);

  bool     no_inverse = false; // of a block
  const T *D = compare.change;
  PetscCall(room.Grow((size_t)values_of(compare.patch).points(), memory_));
  x_ = room.at(memory_);
  for (int l = 0; l < last() && !no_inverse; l++) {
    Level        &at = level(l), &next = level(l + 1);
    T *const     *values;
    AddToDiagonal add;
    PetscCall(InvertBlocksOf(l, &no_inverse));
    PetscCall(for_each_of_box(memory_, values_of(next.patch), SetOnes{x(l + 1)}));
    PetscCall(ProlongFrom(l, false));
    PetscCall(for_each_of_box(memory_, values_of(at.patch), Multiply{D, x(l)}));
    PetscCall(RestrictTo(l, x(l)));
    D = next.b.at(memory_);
    if (!next.own) break; // another rank has it
    if (a != (T)1) PetscCall(next.own->Scale(a));
    PetscCall(next.own->Open(&values, memory_));
    PetscCall(next.own->GetOpen(&add.rows));
    add.diagonal = D;
    PetscCall(next.own->ForAllPoints(add));
    PetscCall(next.own->CloseAsArrays());
    PetscCall(next.drop_transposed());
  }
  if (level(last()).relaxed && !no_inverse) // whose rows are dominated by their diagonals as before, or more
    PetscCall(InvertBlocksOf(last(), &no_inverse));
  PetscCall(ShareWithOthers(&no_inverse));
  if (no_inverse) PetscFunctionReturn(PETSC_SUCCESS);
  if (!level(last()).relaxed && works(last())) PetscCall(SolveLast(failed));
  PetscCall(ShareWithOthers(failed));
  PetscCall(ChooseAllDamping());
  PetscCall(Mark(a));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
