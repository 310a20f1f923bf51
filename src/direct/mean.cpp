#include "direct/mean.hpp"

#include "capture/mat.hpp"
#include "device/runs.hpp"

namespace shellac {

namespace {

// Sums over rows and the numbers of rows in them, by what the row is at.
struct RowSums {
  PetscScalar inner = 0, end[3][2] = {}; // sums of a row's entries
  PetscReal   coupling[3] = {}, diagonal = 0;
  PetscReal   inners = 0, ends[3][2] = {}, couplings[3] = {}, fixed[3][2] = {};

  SHELLAC_HD void add(const RowSums &other) {
    inner += other.inner;
    diagonal += other.diagonal;
    inners += other.inners;
    for (int a = 0; a < 3; a++) {
      coupling[a] += other.coupling[a];
      couplings[a] += other.couplings[a];
      for (int side = 0; side < 2; side++) {
        end[a][side] += other.end[a][side];
        ends[a][side] += other.ends[a][side];
        fixed[a][side] += other.fixed[a][side];
      }
    }
  }
};

struct AddRows {
  CapturedCoefficients<PetscScalar> of;
  Patch                             patch;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, RowSums *sums) const {
    for (int i = 0; i < n; i++) {
      const PetscInt     q[3] = {p[0] + i, p[1], p[2]};
      const size_t       at = patch.index(q[0], q[1], q[2]);
      const PetscScalar *rows = of.rows(patch, q, at);
      PetscScalar        sum = 0;
      PetscReal          coupling[3] = {0, 0, 0};
      bool               couples = false;
      int                ends = 0, axis = 0, side = 0; // the last of the ends that it is at
      for (int s = 0; s < of.count; s++) {
        const PetscInt   *step = of.slot[s].step;
        const PetscScalar value = of.value(rows, s, at);
        sum += value;
        const bool beside = step[0] || step[1] || step[2];
        couples = couples || (value != (PetscScalar)0 && beside);
        if (!beside) sums->diagonal += PetscAbsScalar(value);
        for (int a = 0; a < 3; a++) coupling[a] -= PetscRealPart(value) * (PetscReal)(step[a] * step[a]) / 2;
      }
      for (int a = 0; a < 3; a++)
        for (int e = 0; e < 2; e++)
          if (!patch.periodic[a] && patch.N[a] > 1 && patch.at_domain_end(q, a, (Side)e)) ends++, axis = a, side = e;
      if (!couples) {
        for (int a = 0; a < 3; a++)
          for (int e = 0; e < 2; e++)
            if (ends && patch.at_domain_end(q, a, (Side)e)) sums->fixed[a][e] += 1;
      } else if (ends == 0) {
        sums->inner += sum;
        sums->inners += 1;
        for (int a = 0; a < 3; a++) sums->coupling[a] += coupling[a], sums->couplings[a] += 1;
      } else if (ends == 1) {
        sums->end[axis][side] += sum;
        sums->ends[axis][side] += 1;
        for (int a = 0; a < 3; a++)
          if (a != axis) sums->coupling[a] += coupling[a], sums->couplings[a] += 1;
      }
    }
  }
};

} // namespace

PetscErrorCode MatStencilGetMeanAxes(StencilMat *context, Axis axes[3], PetscScalar *sigma, PetscReal *regular,
                                     std::string *why) {
  const Grid        &grid = context->grid;
  auto              &op = static_cast<CapturedStencil &>(*context->op);
  const PetscMemType memory = op.storage() == Storage::constant || !SHELLAC_CUDA ? PETSC_MEMTYPE_HOST : op.home();
  std::unique_ptr<PreparedOperator> prepared;
  Arrays                            arrays(memory);
  Scratch<RowSums>                  parts, total;
  std::vector<RowSums>              found;
  PetscReal                         points = 1;

  PetscFunctionBegin;
  if (grid.dof > 1) {
    *why = "has " + std::to_string(grid.dof) + " unknowns a point";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(context->Prepare(&op, &arrays, &prepared));
  const AddRows add = {static_cast<PreparedCapture &>(*prepared).coefficients(), op.patch()};
  PetscCall(total.Grow(1, memory));
  PetscCall(sum_runs(memory, op.patch().all(), add, &parts, total.at(memory)));
  PetscCall(total.GetHost(memory, &found));
  PetscCall(arrays.Restore());
  RowSums sums = found[0];
  static_assert(sizeof(RowSums) % sizeof(PetscReal) == 0, "numbers alone");
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sums, sizeof(RowSums) / sizeof(PetscReal), MPIU_REAL, MPIU_SUM, grid.comm));
  *sigma = sums.inners > 0 ? sums.inner / sums.inners : 0;
  PetscReal least = PETSC_MAX_REAL; // the size of the lowest eigenvalue that is not zero
  for (int a = 0; a < 3; a++) points *= (PetscReal)grid.N[a];
  int sign = 0;
  for (int a = 0; a < 3; a++) {
    Axis           &axis = axes[a];
    const PetscInt  N = grid.N[a];
    const PetscReal across = points / (PetscReal)N,
                    k = sums.couplings[a] > 0 ? sums.coupling[a] / sums.couplings[a] : 0;
    axis = Axis();
    axis.mass.assign(N, 1);
    axis.edge.assign(N + 1, N > 1 ? k : 0);
    axis.periodic = grid.boundary[a] == DM_BOUNDARY_PERIODIC && N > 1;
    axis.fixed = !axis.periodic && N > 1 && sums.fixed[a][0] == across && sums.fixed[a][1] == across;
    for (int side = 0; side < 2 && !axis.periodic && !axis.fixed && N > 1; side++) {
      PetscReal ratio = 1;
      if (sums.ends[a][side] > 0 && k != 0) ratio = PetscRealPart(sums.end[a][side] / sums.ends[a][side] - *sigma) / k;
      axis.edge[side ? N : 0] = k * (ratio < 0.5 ? 0 : ratio < 1.5 ? 1 : 2);
    }
    const int its_sign = k > 0 ? 1 : k < 0 ? -1 : 0;
    if (its_sign * sign < 0 || !(PetscAbsReal(k) <= PETSC_MAX_REAL))
      *why = "couples points with opposite signs on average";
    if (its_sign) sign = its_sign;
    const PetscReal sine = PetscSinReal(PETSC_PI / (2 * (PetscReal)N));
    if (its_sign && N > 1) least = PetscMin(least, 4 * PetscAbsReal(k) * sine * sine);
  }
  *regular = sign ? sign * least : sums.diagonal / points;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
