// What smoothing needs on a level with several unknowns a point.

#include "capture/block_inverses.hpp"
#include "multigrid/setup/coarse_grids.hpp"
#include "multigrid/systems/hierarchy.hpp"

namespace shellac {

namespace {

constexpr int ritz_values = 10;

struct BlockFlags {
  int singular;
};

// Blocks without an inverse become zero.
struct CheckBlocks {
  int          dof;
  PetscScalar *blocks;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, Findings<BlockFlags> *found) const {
    for (int i = 0; i < n; i++) {
      PetscScalar *block = blocks + (size_t)(p[0] + i) * dof * dof;
      bool         finite = true;
      for (int e = 0; e < dof * dof; e++) // PETSc's infinity may be a large number
        finite = finite && PetscAbsScalar(block[e]) < PETSC_INFINITY / 2;
      for (int e = 0; e < dof * dof && !finite; e++) block[e] = 0;
      if (!finite) found->flags.singular = 1;
    }
  }
};

struct RowsFlags {
  int odd; // a coefficient is no number, or couples points that are not neighbours
};
using BoundOfRows = Findings<RowsFlags, Nothing, PetscReal[most_unknowns]>; // most: of each unknown's equation

// The largest sums of what a point's equations of D⁻¹A have for unknown c of other points.
struct BoundColumn {
  Patch                             patch;
  CapturedCoefficients<PetscScalar> from;
  int                               dof, arms, center, c;
  const PetscScalar                *blocks; // D⁻¹

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, BoundOfRows *bound) const {
    const size_t at = patch.index(p[0], p[1], p[2]);
    const int    size = dof * dof;
    PetscReal    sum[most_unknowns][most];
    PetscScalar  inverse[most_unknowns * most_unknowns][most]; // entry by entry, for loops over the points

    for (int e = 0; e < size; e++)
      for (int i = 0; i < n; i++) inverse[e][i] = blocks[(at + i) * size + e];
    for (int r = 0; r < dof; r++) fill_run(sum[r], n, PetscReal(0));
    for (int arm = 0; arm < arms; arm++) {
      PetscScalar entry[most_unknowns][most];
      bool        any = false;
      for (int k = 0; k < dof && arm != center; k++) {
        const int s = from.used[slot_number(arms, dof, arm, k, c)];
        if (s < 0) continue;
        if (!any)
          for (int r = 0; r < dof; r++) fill_run(entry[r], n, PetscScalar(0));
        any = true;
        PetscScalar values[most];
        PetscReal   odd = 0;
        if (from.storage == Storage::arrays)
          for (int i = 0; i < n; i++) values[i] = from.array[s][at + i];
        else
          for (int i = 0; i < n; i++) {
            const PetscInt q[3] = {p[0] + i, p[1], p[2]};
            values[i] = from.value(from.rows(patch, q, at + i), s, at + i);
          }
        const PetscInt *step = from.slot[s].step;
        const bool      near = PetscMax(PetscAbs(step[0]), PetscMax(PetscAbs(step[1]), PetscAbs(step[2]))) <= 1;
        for (int i = 0; i < n; i++) odd += PetscAbsScalar(near ? values[i] - values[i] : values[i]);
        if (odd != 0) bound->flags.odd = 1; // a number that is none, too
        for (int r = 0; r < dof; r++)
          for (int i = 0; i < n; i++) entry[r][i] += inverse[k * dof + r][i] * values[i];
      }
      for (int r = 0; r < dof && any; r++)
        for (int i = 0; i < n; i++) sum[r][i] += PetscAbsScalar(entry[r][i]);
    }
    for (int r = 0; r < dof; r++)
      for (int i = 0; i < n; i++) bound->most[r] = PetscMax(bound->most[r], sum[r][i]);
  }
};

// Numbers between -1 and 1 that depend on the place in the grid alone.
struct SetArbitrary {
  Patch        patch;
  int          dof;
  PetscScalar *v;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt64 row = patch.start[1] + j + (PetscInt64)patch.N[1] * (patch.start[2] + k),
                     at = patch.start[0] + i + (PetscInt64)patch.N[0] * row;
    for (int c = 0; c < dof; c++) {
      unsigned x = (unsigned)(at * dof + c) * 2654435761u + 12345u;
      x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
      v[patch.index(i, j, k) * dof + c] = (PetscReal)(x & 0xffffu) / 32768 - 1;
    }
  }
};

struct ScaleUnknowns {
  int                dof;
  PetscReal          by[most_unknowns];
  const PetscScalar *from;
  PetscScalar       *to;

  SHELLAC_HD void operator()(PetscInt c, PetscInt point, PetscInt) const {
    const size_t at = (size_t)point * dof + c;
    to[at] = by[c] * from[at];
  }
};

} // namespace

PetscErrorCode SystemHierarchy::SetSmoothing(int l, bool *singular) {
  Level         &at = level(l);
  unsigned char *bits; // read_rows() sets those of levels that have coarser ones
  bool           odd;

  PetscFunctionBegin;
  at.smoothing.dof = (int)at.grid.dof;
  at.smoothing.steps = steps_;
  PetscCall(at.smoothing.alone.MakeZero(set_up_memory_, (size_t)at.patch.all().points(), &bits));
  PetscCall(InvertBlocksOf(l, singular));
  PetscCall(BoundEigenvalues(l, &odd));
  const PetscReal ratio = PetscMax(at.smoothing.bound - 1, 0);
  const int       steps = *singular || odd ? 0 : relaxations(ratio, false, options_.full);
  at.relaxed = steps > 0;
  if (!at.relaxed) PetscFunctionReturn(PETSC_SUCCESS);
  at.smoothing.steps = steps; // all have the weight of rows that couple nothing
  set_relaxation_weights(ratio, false, steps, at.smoothing.omega);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::InvertBlocksOf(int l, bool *singular) {
  Level               &at = level(l);
  const PetscInt       dof = at.grid.dof;
  const size_t         points = (size_t)at.patch.all().points();
  CheckBlocks          check = {(int)dof, nullptr};
  Findings<BlockFlags> found;

  PetscFunctionBegin;
  PetscCall(at.smoothing.blocks.Make(set_up_memory_, points * dof * dof, &check.blocks));
  PetscCall(invert_diagonal_blocks(*at.op, set_up_memory_, check.blocks));
  PetscCall(get_sum_of_runs(set_up_memory_, Box{{0, 0, 0}, {(PetscInt)points, 1, 1}}, check, &found));
  if (!at.whole) PetscCall(found.Share(comm_));
  *singular = found.flags.singular;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The spectral radius of D⁻¹A is at most that of the matrix of the norms of its parts, one for each pair of unknowns.
// The scales that make the sums of that matrix' rows equal are good ones for the unknowns, too. *odd: see BoundOfRows.
PetscErrorCode SystemHierarchy::BoundEigenvalues(int l, bool *odd) {
  Level                           &at = level(l);
  const int                        dof = (int)at.grid.dof;
  const Arms                      &arms = at.op->arms();
  BoundColumn                      bound = {at.op->patch(), {}, dof, arms.count(), arms.center(), 0, nullptr};
  Arrays                           arrays(set_up_memory_);
  std::unique_ptr<PreparedCapture> op;
  Scratch<BoundOfRows>             parts, bounds;
  std::vector<BoundOfRows>         found;
  std::vector<PetscReal>           norms((size_t)(dof * dof + 1), 0);

  PetscFunctionBegin;
  PetscCall(at.smoothing.blocks.Get(set_up_memory_, &bound.blocks));
  PetscCall(bounds.Grow((size_t)dof, set_up_memory_));
  PetscCall(at.op->Prepare(&arrays, &op));
  bound.from = op->coefficients();
  for (bound.c = 0; bound.c < dof; bound.c++)
    PetscCall(sum_runs(set_up_memory_, at.patch.all(), bound, &parts, bounds.at(set_up_memory_) + bound.c));
  PetscCall(arrays.Restore());
  PetscCall(bounds.GetHost(set_up_memory_, &found));
  for (int c = 0; c < dof; c++) {
    for (int r = 0; r < dof; r++) norms[r * dof + c] = found[c].most[r] + (r == c); // D⁻¹D is the identity
    norms[dof * dof] = PetscMax(norms[dof * dof], found[c].flags.odd);
  }
  if (!at.whole) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, norms.data(), dof * dof + 1, MPIU_REAL, MPIU_MAX, comm_));
  *odd = norms[dof * dof] != 0;
  at.smoothing.bound = perron_root(dof, norms.data(), at.smoothing.scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The eigenvalues that smoothing shall damp, along the axes that are coarsened.
PetscErrorCode SystemHierarchy::ChooseDamping(int l) {
  Level                 &at = level(l);
  const size_t           points = (size_t)at.patch.all().points();
  std::vector<Vec>       v(ritz_values + 1, NULL);
  std::vector<PetscReal> re, im;
  SetArbitrary           set = {at.patch, (int)at.grid.dof, NULL};
  Arrays                 arrays;

  PetscFunctionBegin;
  PetscCall(VecCreate(at.whole ? PETSC_COMM_SELF : comm_, &v[0]));
  PetscCall(VecSetSizes(v[0], (PetscInt)points * at.grid.dof, PETSC_DETERMINE));
  PetscCall(VecSetType(v[0], device_ ? VECCUDA : VECSTANDARD));
  for (size_t n = 1; n < v.size(); n++) PetscCall(VecDuplicate(v[0], &v[n]));
  PetscCall(arrays.Write(v[0], &set.v));
  PetscCall(for_each_of_box(arrays.memory(), at.patch.all(), set));
  PetscCall(arrays.Restore());
  const auto scale = [&](bool back, const T *from, T *to) {
    ScaleUnknowns f = {(int)at.grid.dof, {}, from, to};
    for (int c = 0; c < f.dof; c++) f.by[c] = back ? 1 / at.smoothing.scale[c] : at.smoothing.scale[c];
    return for_each(memory_, line_of((size_t)f.dof, points), f);
  };
  const auto product = [&](Vec from, Vec to) {
    const T *x;
    T       *y;
    Arrays   of;
    PetscFunctionBegin;
    PetscCall(of.Read(from, &x));
    PetscCall(of.Write(to, &y));
    memory_ = of.memory();
    PetscCall(at.r.Prepare(memory_));
    PetscCall(scale(false, x, y));
    PetscCall(Apply(l, Form::product, NULL, y, at.r.at(memory_)));
    PetscCall(at.smoothing.Step(memory_, points, -1, false, true, at.r.at(memory_), y));
    PetscCall(scale(true, y, y));
    PetscCall(of.Restore());
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(get_ritz_values(v, product, &re, &im));
  for (Vec &one : v) PetscCall(VecDestroy(&one));
  choose_damping(re, im, at.smoothing.bound, PetscReal(0.35) * weakest_share(at.axes, at.to_next), steps_,
                 at.smoothing.omega);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemHierarchy::ChooseAllDamping() {
  PetscReal ignored[max_smoothing_steps];

  PetscFunctionBegin;
  for (int l = 0; l + 1 < levels_made_; l++) {
    if (l < last()) PetscCall(ChooseDamping(l));
    // Several ranks may have a whole level. Rounding on one, which eigenvalues that nearly coincide enlarge to its square
    // root, must not give it other weights: the cycle would be no operator with a transpose.
    PetscCallMPI(MPI_Bcast(l < last() ? level(l).smoothing.omega : ignored, steps_, MPIU_REAL, 0, comm_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
